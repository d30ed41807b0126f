/* gemm_twin.c: a GEMM's plan run on the CPU: the twin of its kernel. Threads fill a stage by the plan's vectors, read it
 * by the plan's accesses, lane by lane as ldmatrix does it, and multiply what they hold by the atom's TV layouts.
 *
 * So a partition, a shared layout or an access that is wrong is wrong here too. What is not modelled: time (one stage is
 * enough) and roundings within the sum, which is kept in double. */
#include "gemm.h"

#include <math.h>
#include <string.h>

/* One atom's layouts as tables: [thread of the atom + threads * value] -> index in its tile. */
struct atom_tables {
    int64_t threads;
    int64_t *of[3];
};

struct gpu_gemm_twin {
    const struct gpu_plan *plan;
    struct atom_tables atom;
    int64_t *thread;       /* [v + V * (m + groups_m * n)] -> thread of the block */
    int64_t groups[2];     /* atoms along m and n side by side */
    double *stage[2];      /* what lies in shared memory; NAN before it is written */
    double *fragment[2];   /* [thread][value], of a whole step */
    double *accumulator;   /* [thread][value] */
    double *tile[2], *sum; /* of one atom */
};

static double *numbers(struct la_ctx *cx, int64_t n)
{
    return la_alloc(cx, (size_t)n * sizeof(double));
}

static int64_t step_values(const struct gpu_gemm *g, int i)
{
    return g->of[i].values * g->of[i].rest * g->blocks_k;
}

static int64_t accumulator_values(const struct gpu_gemm *g)
{
    return g->c_values * g->of[0].rest * g->of[1].rest;
}

static void set_atom(struct la_ctx *cx, struct gpu_gemm_twin *w)
{
    const struct gpu_instruction *in = &w->plan->gemm->instruction;
    w->atom.threads = la_size(cx, la_layout_mode(cx, w->plan->gemm->mma->thr_vmnk, 0))->value;
    for (enum la_matrix x = LA_A; x <= LA_C; x++) {
        const int64_t n = w->atom.threads * in->of[x].values;
        const struct gpu_map map = gpu_map_of(cx, in->atom->mma.tv[x]);
        w->atom.of[x] = la_alloc(cx, (size_t)n * sizeof *w->atom.of[x]);
        for (int64_t i = 0; i < n; i++)
            w->atom.of[x][i] = gpu_map_at(map, i);
    }
}

struct gpu_gemm_twin *gpu_gemm_twin_make(struct la_ctx *cx, const struct gpu_plan *plan)
{
    const struct gpu_gemm *g = plan->gemm;
    struct gpu_gemm_twin *w = la_alloc(cx, sizeof *w);
    *w = (struct gpu_gemm_twin){.plan = plan};
    set_atom(cx, w);
    const struct gpu_map threads = gpu_map_of(cx, g->mma->thr_vmnk);
    w->thread = la_alloc(cx, (size_t)g->threads * sizeof *w->thread);
    for (int64_t i = 0; i < g->threads; i++)
        w->thread[i] = gpu_map_at(threads, i);
    for (int i = 0; i < 2; i++) {
        w->groups[i] = la_size(cx, la_layout_mode(cx, g->mma->thr_vmnk, (uint32_t)i + 1))->value;
        w->stage[i] = numbers(cx, g->of[i].smem->span);
        w->fragment[i] = numbers(cx, g->threads * step_values(g, i));
        w->tile[i] = numbers(cx, (i ? g->instruction.n : g->instruction.m) * g->instruction.k);
    }
    w->sum = numbers(cx, g->instruction.m * g->instruction.n);
    w->accumulator = numbers(cx, g->threads * accumulator_values(g));
    return w;
}

/* ---- numbers ---- */

double gpu_gemm_element(const struct gpu_gemm_data *data, enum la_matrix x, int64_t i, int64_t j)
{
    const struct gpu_tensor *t = gpu_gemm_tensor(data->g, x);
    const struct gpu_number *n = data->g->instruction.of[x].number;
    const int64_t offset = gpu_map_at(t->mode[0], i) + gpu_map_at(t->mode[1], j);
    return gpu_number_at(n, data->of[x] + offset * (n->bits / 8), 0).re;
}

/* ---- global -> shared ---- */

static void fill(struct gpu_gemm_twin *w, const struct gpu_gemm_data *data, int i, int64_t first_mn,
                 int64_t first_k)
{
    const struct gpu_gemm_operand *o = &w->plan->gemm->of[i];
    const struct gpu_gemm_fill *f = &o->fill;
    for (int64_t t = 0; t < f->part.threads; t++)
        for (int64_t p = 0; p < f->passes[0] * f->passes[1]; p++) {
            int64_t at[2] = {
                first_mn + gpu_map_at(f->part.thread_at[0], t) + p % f->passes[0] * f->part.tile[0],
                first_k + gpu_map_at(f->part.thread_at[1], t) + p / f->passes[0] * f->part.tile[1]};
            const int64_t to = gpu_smem_place(o->smem, gpu_map_at(f->smem.thread, t) + gpu_gemm_pass(f, p));
            for (int64_t e = 0; e < f->vector; e++, at[o->major]++) {
                const bool inside = at[0] < o->tensor.extent[0] && at[1] < o->tensor.extent[1];
                w->stage[i][to + e] = inside ? gpu_gemm_element(data, o->x, at[0], at[1]) : 0;
            }
        }
}

/* ---- shared -> registers ---- */

/* Lane l gets of matrix j, whose row r begins at row[8 * j + r], 32 bits. */
static void read_matrices(struct gpu_gemm_twin *w, int i, int64_t warp, int64_t access)
{
    const struct gpu_gemm *g = w->plan->gemm;
    const struct gpu_gemm_operand *o = &g->of[i];
    int64_t row[LA_LANES];
    for (int64_t l = 0; l < LA_LANES; l++)
        row[l] = gpu_smem_place(o->smem, gpu_gemm_row(o, warp * LA_LANES + l) + gpu_gemm_first(o, access));
    for (int64_t l = 0; l < LA_LANES; l++)
        for (int64_t v = 0; v < o->read.matrices * o->per; v++) {
            const int64_t j = v / o->per, e = v % o->per;
            const int64_t at = o->read.trans ? row[8 * j + l % 4 * 2 + e] + l / 4
                                             : row[8 * j + l / 4] + l % 4 * o->per + e;
            w->fragment[i][(warp * LA_LANES + l) * step_values(g, i) + access * o->read.matrices * o->per +
                           v] = w->stage[i][at];
        }
}

static void read_fragments(struct gpu_gemm_twin *w, int i)
{
    const struct gpu_gemm *g = w->plan->gemm;
    const struct gpu_gemm_operand *o = &g->of[i];
    const int64_t accesses = o->read.accesses * g->blocks_k, values = gpu_gemm_access_values(o);
    if (o->read.matrices) {
        for (int64_t warp = 0; warp < g->threads / LA_LANES; warp++)
            for (int64_t a = 0; a < accesses; a++)
                read_matrices(w, i, warp, a);
        return;
    }
    for (int64_t t = 0; t < g->threads; t++)
        for (int64_t a = 0; a < accesses; a++) {
            const int64_t from = gpu_smem_place(o->smem, gpu_gemm_row(o, t) + gpu_gemm_first(o, a));
            for (int64_t e = 0; e < values; e++)
                w->fragment[i][t * step_values(g, i) + a * values + e] = w->stage[i][from + e];
        }
}

/* ---- products ---- */

/* d = a * b + c of one atom: fragments to tiles, the product, and back. */
static void multiply(struct gpu_gemm_twin *w, const int64_t *threads, int64_t kb, int64_t i, int64_t j)
{
    const struct gpu_gemm *g = w->plan->gemm;
    const struct gpu_instruction *in = &g->instruction;
    const int64_t at[2] = {i, j}, n_threads = w->atom.threads, c0 = g->c_values * (i + g->of[0].rest * j);
    for (int x = 0; x < 2; x++)
        for (int64_t v = 0; v < n_threads * in->of[x].values; v++) {
            const struct gpu_gemm_operand *o = &g->of[x];
            const int64_t first = (kb * o->rest + at[x]) * o->values;
            w->tile[x][w->atom.of[x][v]] =
                w->fragment[x][threads[v % n_threads] * step_values(g, x) + first + v / n_threads];
        }
    for (int64_t m = 0; m < in->m; m++)
        for (int64_t n = 0; n < in->n; n++) {
            double sum = 0;
            for (int64_t k = 0; k < in->k; k++)
                sum = gpu_gemm_add(g, sum, w->tile[0][m + in->m * k], w->tile[1][n + in->n * k]);
            w->sum[m + in->m * n] = sum;
        }
    for (int64_t v = 0; v < n_threads * in->of[LA_C].values; v++) {
        double *x = &w->accumulator[threads[v % n_threads] * accumulator_values(g) + c0 + v / n_threads];
        *x = gpu_gemm_add(g, *x, w->sum[w->atom.of[LA_C][v]], 1);
    }
}

static void multiply_step(struct gpu_gemm_twin *w)
{
    const struct gpu_gemm *g = w->plan->gemm;
    for (int64_t group = 0; group < w->groups[0] * w->groups[1]; group++)
        for (int64_t kb = 0; kb < g->blocks_k; kb++)
            for (int64_t i = 0; i < g->of[0].rest; i++)
                for (int64_t j = 0; j < g->of[1].rest; j++)
                    multiply(w, w->thread + group * w->atom.threads, kb, i, j);
}

/* ---- registers -> global ---- */

static void store(const struct gpu_gemm *g, const struct gpu_gemm_data *data, double x, int64_t m, int64_t n,
                  unsigned char *writes)
{
    const struct gpu_number *number = g->instruction.of[LA_D].number;
    const int64_t offset = gpu_map_at(g->d.mode[0], m) + gpu_map_at(g->d.mode[1], n);
    double y;
    if (number->kind == GPU_FLOAT) {
        y = g->alpha * x + (g->beta != 0 ? g->beta * gpu_gemm_element(data, LA_C, m, n) : 0);
    } else {
        y = gpu_gemm_add(g, 0, x, g->alpha);
        y = g->beta != 0 ? gpu_gemm_add(g, y, gpu_gemm_element(data, LA_C, m, n), g->beta) : y;
    }
    gpu_number_put(number, data->d + offset * (number->bits / 8), 0, (struct gpu_complex){y, 0});
    if (writes && writes[offset - g->d.min] < UINT8_MAX)
        writes[offset - g->d.min]++;
}

static void store_tile(const struct gpu_gemm_twin *w, const struct gpu_gemm_data *data, int64_t first_m,
                       int64_t first_n, unsigned char *writes)
{
    const struct gpu_gemm *g = w->plan->gemm;
    for (int64_t t = 0; t < g->threads; t++)
        for (int64_t v = 0; v < accumulator_values(g); v++) {
            const int64_t m = first_m + gpu_map_at(g->c_thread[0], t) + gpu_map_at(g->c_value[0], v);
            const int64_t n = first_n + gpu_map_at(g->c_thread[1], t) + gpu_map_at(g->c_value[1], v);
            if (m < g->m && n < g->n)
                store(g, data, w->accumulator[t * accumulator_values(g) + v], m, n, writes);
        }
}

/* ---- */

void gpu_gemm_twin_tile(struct gpu_gemm_twin *w, const struct gpu_gemm_data *data, int64_t tile,
                        unsigned char *writes)
{
    const struct gpu_gemm *g = w->plan->gemm;
    const int64_t band = g->group * g->tiles[1], top = tile / band * g->group;
    const int64_t height = top + g->group <= g->tiles[0] ? g->group : g->tiles[0] - top;
    const int64_t first[2] = {(top + tile % band % height) * g->tile[0], tile % band / height * g->tile[1]};
    for (int64_t i = 0; i < g->threads * accumulator_values(g); i++)
        w->accumulator[i] = 0;
    for (int i = 0; i < 2; i++)
        for (int64_t e = 0; e < g->of[i].smem->span; e++)
            w->stage[i][e] = NAN;
    for (int64_t step = 0; step < g->tiles[2]; step++) {
        for (int i = 0; i < 2; i++) {
            fill(w, data, i, first[i], step * g->tile[2]);
            read_fragments(w, i);
        }
        multiply_step(w);
    }
    store_tile(w, data, first[0], first[1], writes);
}
