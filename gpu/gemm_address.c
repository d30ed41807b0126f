/* gemm_address.c: where the accesses of a GEMM lie in shared memory, as the kernel computes it, and what they cost.
 *
 *   ldmatrix.x4 of A: lane l names row l%8 of matrix l/8, which register l/8 of the lanes 4*(l%8).. holds:
 *   row(t) = thread(t - l + 4*(l%8)) + value(register l/8), first(g) = value(4g registers)
 *
 * place(row + first) is a swizzle at each access. Where row and first never have a bit in common, the swizzle of their
 * sum is the xor of their swizzles, and that of `first` is a constant. */
#include "gemm.h"

/* ---- addressing ---- */

static struct gpu_gemm_addressing addressing_of(const struct gpu_smem *smem, int64_t threads,
                                                const int64_t *thread, int64_t constants,
                                                const int64_t *constant)
{
    struct gpu_gemm_addressing a = {.how = GPU_ADDRESS_SUM};
    int64_t low = 0, common = 0;
    if (!smem->swizzle.bits && !smem->shift)
        return a;
    for (int64_t t = 0; t < threads; t++) {
        a.mask |= gpu_smem_place(smem, thread[t]);
        common |= thread[t];
        low = thread[t] < low ? thread[t] : low;
    }
    a.how = GPU_ADDRESS_XOR;
    for (int64_t c = 0; c < constants; c++)
        if (low < 0 || constant[c] < 0 || smem->shift || (constant[c] & common))
            a.how = GPU_ADDRESS_FULL;
    return a;
}

int64_t gpu_gemm_row(const struct gpu_gemm_operand *o, int64_t thread)
{
    const struct gpu_gemm_read *r = &o->read;
    if (!r->matrices)
        return gpu_map_at(o->thread, thread);
    const int64_t lane = thread % LA_LANES, row = lane % 8, matrix = lane / 8 % r->matrices;
    if (r->trans)
        return gpu_map_at(o->thread, thread - lane + row / 2) +
               gpu_map_at(o->value, matrix * o->per + row % 2);
    return gpu_map_at(o->thread, thread - lane + row * 4) + gpu_map_at(o->value, matrix * o->per);
}

int64_t gpu_gemm_access_values(const struct gpu_gemm_operand *o)
{
    return o->read.matrices ? o->read.matrices * o->per : o->read.whole ? o->per : 1;
}

int64_t gpu_gemm_first(const struct gpu_gemm_operand *o, int64_t access)
{
    return gpu_map_at(o->value, access * gpu_gemm_access_values(o));
}

void gpu_gemm_set_addressing(struct la_ctx *cx, const struct gpu_gemm *g, struct gpu_gemm_operand *o)
{
    struct gpu_gemm_fill *f = &o->fill;
    const int64_t passes = f->passes[0] * f->passes[1], reads = o->read.accesses * g->blocks_k;
    const int64_t most = passes > reads ? passes : reads;
    int64_t *thread = la_alloc(cx, (size_t)g->threads * sizeof *thread);
    int64_t *constant = la_alloc(cx, (size_t)most * sizeof *constant);
    for (int64_t t = 0; t < f->part.threads; t++)
        thread[t] = gpu_map_at(f->smem.thread, t);
    for (int64_t p = 0; p < passes; p++)
        constant[p] = gpu_gemm_pass(f, p);
    f->addressing = addressing_of(o->smem, f->part.threads, thread, passes, constant);
    for (int64_t t = 0; t < g->threads; t++)
        thread[t] = gpu_gemm_row(o, t);
    for (int64_t a = 0; a < reads; a++)
        constant[a] = gpu_gemm_first(o, a);
    o->read.addressing = addressing_of(o->smem, g->threads, thread, reads, constant);
}

/* ---- costs ---- */

static void add_cost(const struct la_access *a, int64_t times, int64_t *wavefronts, int64_t *ideal)
{
    const struct la_cost cost = la_access_cost(a);
    *wavefronts += times * cost.wavefronts;
    *ideal += times * cost.wavefronts_ideal;
}

static void cost_of_fill(const struct gpu_gemm_operand *o, int64_t *wavefronts, int64_t *ideal)
{
    const struct gpu_gemm_fill *f = &o->fill;
    const int64_t warps = (f->part.threads + LA_LANES - 1) / LA_LANES;
    struct la_access a = {.space = LA_SHARED,
                          .op = f->atom.op == GPU_UNIVERSAL ? LA_STORE : LA_CP_ASYNC,
                          .bytes = (int32_t)(f->vector * o->bits / 8),
                          .lanes = LA_LANES};
    for (int32_t lane = 0; lane < LA_LANES && lane < f->part.threads; lane++) {
        a.active |= UINT32_C(1) << lane;
        a.at[lane] = gpu_smem_place(o->smem, gpu_map_at(f->smem.thread, lane)) * o->bits / 8;
    }
    add_cost(&a, warps * f->passes[0] * f->passes[1], wavefronts, ideal);
}

static void cost_of_read(const struct gpu_gemm *g, const struct gpu_gemm_operand *o, int64_t *wavefronts,
                         int64_t *ideal)
{
    const struct gpu_gemm_read *r = &o->read;
    const int32_t lanes = r->matrices ? (int32_t)(8 * r->matrices) : LA_LANES;
    struct la_access a = {.space = LA_SHARED,
                          .op = !r->matrices ? LA_LOAD
                                : r->trans   ? LA_LDMATRIX_TRANS
                                             : LA_LDMATRIX,
                          .bytes = r->matrices ? 16 : (int32_t)(o->bits * (r->whole ? o->per : 1) / 8),
                          .lanes = lanes};
    const int64_t warps = (g->threads + LA_LANES - 1) / LA_LANES;
    for (int64_t access = 0; access < r->accesses * g->blocks_k; access++) {
        a.active = 0;
        for (int32_t lane = 0; lane < lanes && lane < g->threads; lane++) {
            a.active |= UINT32_C(1) << lane;
            a.at[lane] = gpu_smem_place(o->smem, gpu_gemm_row(o, lane) + gpu_gemm_first(o, access)) *
                         o->bits / 8;
        }
        add_cost(&a, warps, wavefronts, ideal);
    }
}

int64_t gpu_gemm_wavefronts(const struct gpu_gemm *g, const struct gpu_gemm_operand *o, int64_t *ideal)
{
    int64_t wavefronts = 0;
    *ideal = 0;
    cost_of_fill(o, &wavefronts, ideal);
    cost_of_read(g, o, &wavefronts, ideal);
    return wavefronts;
}
