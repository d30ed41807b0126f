/* gemm_plan.c: a GEMM's spec resolved into a plan, or refused.
 *
 *   {"atom":"SM80_16x8x16_F32F16F16F32_TN", "problem":{"m":4096,"n":4096,"k":4096}}
 *   -> atoms (2,4,1), tile (128,256,64), A and B by cp.async of 16 bytes into Swizzle<3,3,3>, ldmatrix.x4, 3 stages
 *
 * Everything that can be refused is refused here, before anything is compiled. What is chosen is given back as a spec
 * by gemm_json.c, and that spec resolves to itself. */
#include "gemm_planning.h"

#include <math.h>
#include <string.h>

enum {
    BASE_BYTES = 128, /* buffers begin there: costs of shared memory are those that were foreseen */
    LEAST_STAGES = 2
};

/* Leave with the error that a function of another convention has filled in. */
_Noreturn static void fail_again(struct la_ctx *cx)
{
    la_fail(cx, cx->error.code, "%s", la_format(cx, "%s", cx->error.message));
}

/* The value of a field's text. */
static struct la_value read_value(struct la_ctx *cx, const struct gpu_gemm_planning *p, const char *field,
                                  const char *text)
{
    struct la_program program;
    *p->field = field;
    if (!la_eval(cx, text, p->spec->integers, &program))
        fail_again(cx);
    return program.value;
}

/* ---- the TiledMMA ---- */

static void set_instruction(struct la_ctx *cx, struct gpu_gemm_planning *p)
{
    struct gpu_instruction *in = &p->g->instruction;
    *p->field = "atom";
    const struct la_atom *atom;
    if (!gpu_mma_read_atom(cx, p->spec->mma.atom, &atom) || !gpu_instruction_find(cx, atom, in))
        fail_again(cx);
    if (in->form == GPU_FORM_WGMMA)
        la_fail(cx, LA_E_other,
                "%s: a GEMM through wgmma is not here yet; without 'problem' the atom's partition is checked",
                atom->name);
    for (enum la_matrix x = LA_A; x <= LA_D; x++) {
        const struct gpu_number *number = in->of[x].number;
        if (number->kind == GPU_COMPLEX || number->kind == GPU_GAUSS || number->bits < 8)
            la_fail(cx, LA_E_other,
                    "%s: a GEMM of %s is not here yet: elements are real and whole bytes; without 'problem' "
                    "the atom's "
                    "partition is checked",
                    atom->name, number->name);
    }
    static const char *const sums[] = {"half_t",  "bfloat16_t", "float",    "double",
                                       "int32_t", "int",        "uint32_t", "unsigned"};
    const char *sum = in->of[LA_C].number->name;
    size_t i = 0;
    while (i < sizeof sums / sizeof sums[0] && strcmp(sum, sums[i]) != 0)
        i++;
    if (i == sizeof sums / sizeof sums[0] || in->of[LA_D].number != in->of[LA_C].number)
        la_fail(cx, LA_E_other,
                "%s adds %s to %s: a GEMM's sums are half_t, bfloat16_t, float, double or integers of 32 "
                "bits, and C and D are alike",
                atom->name, sum, in->of[LA_D].number->name);
}

static void set_atom_layout(struct la_ctx *cx, struct gpu_gemm_planning *p)
{
    const char *text = p->spec->mma.atom_layout;
    *p->field = "atom_layout";
    if (!text && !p->atoms[0])
        gpu_gemm_choose_atoms(p);
    if (!text)
        text = la_format(cx, "(_%lld,_%lld,_1)", (long long)p->atoms[0], (long long)p->atoms[1]);
    if (!gpu_mma_read_atoms(cx, text, p->spec->integers, &p->g->atom_layout))
        fail_again(cx);
}

static void set_permutation(struct la_ctx *cx, struct gpu_gemm_planning *p)
{
    const char *text = p->spec->mma.permutation ? p->spec->mma.permutation : "(_,_,_)";
    *p->field = "permutation";
    if (!gpu_mma_read_permutation(cx, text, p->spec->integers, &p->g->permutation))
        fail_again(cx);
}

/* Threads 0..n-1 have an atom each, and none two. */
static void check_threads(struct la_ctx *cx, struct gpu_gemm_planning *p)
{
    const struct la_tiled_mma *mma = p->g->mma;
    const int64_t size = la_size(cx, mma->thr_vmnk)->value, cosize = la_cosize(cx, mma->thr_vmnk)->value;
    const int64_t groups = la_product(cx, la_mode(cx, mma->thr_vmnk.shape, 3))->value;
    const char *layout = gpu_layout_text(cx, p->g->atom_layout), *atom = p->g->instruction.atom->name;
    *p->field = "atom_layout";
    if (size > GPU_MAX_THREADS)
        la_fail(cx, LA_E_limit, "atom_layout %s of %s has %lld threads; a block has %d at most", layout, atom,
                (long long)size, GPU_MAX_THREADS);
    if (groups != 1)
        la_fail(cx, LA_E_other,
                "atom_layout %s has %lld atoms along K, so that as many threads hold parts of one sum: a "
                "GEMM adds them "
                "up in one thread, with 1",
                layout, (long long)groups);
    if (size != cosize)
        la_fail(cx, LA_E_non_injective,
                "atom_layout %s of %s numbers %lld threads 0 to %lld: each must be there once", layout, atom,
                (long long)size, (long long)cosize - 1);
    if (p->g->instruction.threads > 1 && size % LA_LANES != 0)
        la_fail(cx, LA_E_divisibility, "atom_layout %s of %s has %lld threads: warps of 32 run it", layout,
                atom, (long long)size);
    p->g->threads = size;
    for (uint32_t i = 0; i < 2; i++)
        p->along[i] = la_product(cx, la_mode(cx, mma->thr_vmnk.shape, i + 1))->value;
}

/* Along each mode the TiledMMA has whole atoms. */
static void set_layer(struct la_ctx *cx, struct gpu_gemm_planning *p)
{
    const struct gpu_instruction *in = &p->g->instruction;
    const int64_t atoms[3] = {in->m * p->along[0], in->n * p->along[1], in->k};
    *p->field = "permutation";
    for (uint32_t i = 0; i < 3; i++) {
        p->layer[i] = la_tiled_mma_size(cx, p->g->mma, i)->value;
        if (p->layer[i] > GPU_GEMM_MAX_EXTENT)
            la_fail(cx, LA_E_limit, "the permutation makes the TiledMMA %lld along %c; %d is the most",
                    (long long)p->layer[i], "MNK"[i], GPU_GEMM_MAX_EXTENT);
        if (p->layer[i] < 1 || p->layer[i] % atoms[i] != 0)
            la_fail(cx, LA_E_tile_does_not_divide,
                    "the permutation %s makes the TiledMMA %lld along %c, no multiple of the %lld of its "
                    "atoms",
                    la_print_tuple(cx, p->g->permutation, LA_SPELL_TEXT), (long long)p->layer[i], "MNK"[i],
                    (long long)atoms[i]);
    }
}

static void set_mma(struct la_ctx *cx, struct gpu_gemm_planning *p)
{
    set_atom_layout(cx, p);
    set_permutation(cx, p);
    p->g->mma = gpu_mma_tile(cx, p->g->instruction.atom, p->g->atom_layout, p->g->permutation, p->field);
    check_threads(cx, p);
    set_layer(cx, p);
}

/* ---- the tile ---- */

static void read_tile(struct la_ctx *cx, struct gpu_gemm_planning *p)
{
    const struct la_value v = read_value(cx, p, "tile", p->spec->gemm.tile);
    bool fine = v.kind == LA_K_TUPLE && la_rank(v.tuple) == 3;
    for (uint32_t i = 0; fine && i < 3; i++) {
        const struct la_node *n = la_mode(cx, v.tuple, i);
        fine = n->kind == LA_INT && !n->path && n->value >= 1 && n->value <= GPU_GEMM_MAX_EXTENT;
        p->g->tile[i] = n->value;
    }
    if (!fine)
        la_fail(cx, LA_E_kind, "'tile' takes three positive integers, (tile_m,tile_n,tile_k); this is %s",
                la_print(cx, &v, LA_SPELL_TEXT));
}

static void check_tile(struct la_ctx *cx, struct gpu_gemm_planning *p)
{
    struct gpu_gemm *g = p->g;
    static const char names[] = "MNK";
    *p->field = "tile";
    for (uint32_t i = 0; i < 3; i++) {
        const int64_t atom = i == 0 ? g->instruction.m : i == 1 ? g->instruction.n : g->instruction.k;
        if (g->tile[i] % p->layer[i] != 0)
            la_fail(cx, LA_E_tile_does_not_divide,
                    "the tile (%lld,%lld,%lld) has %lld along %c, which is no multiple of %lld: the atom has "
                    "%lld of it, "
                    "and with the atom layout %s and the permutation %s the TiledMMA has %lld",
                    (long long)g->tile[0], (long long)g->tile[1], (long long)g->tile[2],
                    (long long)g->tile[i], names[i], (long long)p->layer[i], (long long)atom,
                    gpu_layout_text(cx, g->atom_layout), la_print_tuple(cx, g->permutation, LA_SPELL_TEXT),
                    (long long)p->layer[i]);
        const int64_t extent = i == 0 ? g->m : i == 1 ? g->n : g->k;
        g->tiles[i] = (extent + g->tile[i] - 1) / g->tile[i];
    }
    g->blocks_k = g->tile[2] / g->instruction.k;
}

static void check_registers(struct la_ctx *cx, struct gpu_gemm_planning *p)
{
    struct gpu_gemm *g = p->g;
    *p->field = "tile";
    if (g->tile[0] * g->tile[1] > (int64_t)GPU_MAX_THREADS * GPU_MAX_VALUES)
        la_fail(cx, LA_E_limit, "a tile of %lld x %lld accumulators is more than a block's registers",
                (long long)g->tile[0], (long long)g->tile[1]);
    const struct gpu_gemm_words words = gpu_gemm_words_of(&g->instruction, g->tile, p->along[0], p->along[1]);
    g->accumulator_words = words.accumulators;
    g->fragment_words = words.fragments;
    if (g->accumulator_words + g->fragment_words > GPU_GEMM_REGISTERS)
        la_fail(cx, LA_E_limit,
                "a tile (%lld,%lld,%lld) with %lld threads takes %lld registers of a thread for accumulators "
                "and %lld for "
                "fragments; of 255 a GEMM leaves %d to them",
                (long long)g->tile[0], (long long)g->tile[1], (long long)g->tile[2], (long long)g->threads,
                (long long)g->accumulator_words, (long long)g->fragment_words, GPU_GEMM_REGISTERS);
}

/* So many stages of both operands fit into shared memory. */
static void check_shared(struct la_ctx *cx, struct gpu_gemm_planning *p, int64_t stages,
                         const int64_t bytes[2])
{
    *p->field = p->spec->stages ? "stages" : "tile";
    if (bytes[0] + bytes[1] > GPU_MAX_SMEM / stages)
        la_fail(cx, LA_E_limit,
                "%lld stages of %lld bytes of A and %lld of B are %lld bytes of shared memory; a block has "
                "%d at most",
                (long long)stages, (long long)bytes[0], (long long)bytes[1],
                (long long)(stages * (bytes[0] + bytes[1])), GPU_MAX_SMEM);
}

/* Before layouts are looked for: each has one place an element at the least. */
static void check_stages(struct la_ctx *cx, struct gpu_gemm_planning *p)
{
    const struct gpu_gemm *g = p->g;
    int64_t bytes[2];
    for (int i = 0; i < 2; i++)
        bytes[i] = g->tile[i] * g->tile[2] * g->instruction.of[i].number->bits / 8;
    check_shared(cx, p, p->spec->stages > LEAST_STAGES ? p->spec->stages : LEAST_STAGES, bytes);
}

/* In the order of the permutation the tile has each of its elements once, along each mode. */
static void check_permutation(struct la_ctx *cx, struct gpu_gemm_planning *p)
{
    const struct gpu_gemm *g = p->g;
    const struct la_node *extent[3], *one[3];
    *p->field = "permutation";
    for (uint32_t i = 0; i < 3; i++) {
        extent[i] = la_int(cx, g->tile[i], true);
        one[i] = la_int(cx, 1, true);
    }
    const struct la_layout each = la_make_layout(cx, la_tuple(cx, 3, extent), la_tuple(cx, 3, one));
    const struct la_layout permuted = la_logical_divide(cx, each, la_value_tuple(g->mma->permutation));
    for (uint32_t i = 0; i < 3; i++)
        gpu_bijection_check(cx,
                            la_format(cx, "permutation %s: the tile along %c,",
                                      la_print_tuple(cx, g->permutation, LA_SPELL_TEXT), "MNK"[i]),
                            la_layout_mode(cx, permuted, i), g->tile[i]);
}

static void set_tile(struct la_ctx *cx, struct gpu_gemm_planning *p)
{
    const bool given = p->spec->gemm.tile != NULL, atoms_given = p->spec->mma.atom_layout != NULL;
    if (given)
        read_tile(cx, p);
    if (atoms_given)
        set_mma(cx, p);
    if (!given)
        gpu_gemm_choose_tile(p);
    if (!atoms_given)
        set_mma(cx, p);
    if (!given && p->g->tile[2] % p->layer[2] != 0) /* a permutation of K makes it deeper */
        p->g->tile[2] = p->layer[2];
    check_tile(cx, p);
    check_registers(cx, p);
    check_stages(cx, p);
    check_permutation(cx, p);
}

/* ---- tensors ---- */

static struct la_layout tensor_layout(struct la_ctx *cx, struct gpu_gemm_planning *p, int i, int64_t rows,
                                      int64_t cols)
{
    static const char *const names[4] = {"a", "b", "c", "d"}, *const modes[4] = {"(M,K)", "(N,K)", "(M,N)",
                                                                                 "(M,N)"};
    const char *text = p->spec->gemm.layout[i];
    if (!text)
        text = la_format(cx, "(%lld,%lld):(%lld,_1)", (long long)rows, (long long)cols, (long long)cols);
    const struct la_value v = read_value(cx, p, names[i], text);
    if (v.kind != LA_K_LAYOUT)
        la_fail(cx, LA_E_kind, "'%s' takes a layout over %s; this is %s", names[i], modes[i],
                la_kinds_text(cx, v.kind));
    const uint32_t rank = la_rank(v.layout.shape);
    const int64_t have[2] = {rank == 2 ? la_size(cx, la_layout_mode(cx, v.layout, 0))->value : 0,
                             rank == 2 ? la_size(cx, la_layout_mode(cx, v.layout, 1))->value : 0};
    if (have[0] != rows || have[1] != cols)
        la_fail(cx, LA_E_rank_mismatch, "%s %s is no layout over %s = (%lld,%lld): %s", names[i],
                gpu_layout_text(cx, v.layout), modes[i], (long long)rows, (long long)cols,
                rank == 2 ? la_format(cx, "it has (%lld,%lld)", (long long)have[0], (long long)have[1])
                          : la_format(cx, "it has %u modes", rank));
    return v.layout;
}

/* Offsets that the kernel computes, also of coordinates in tiles that the shape cuts. */
static double greatest_offset(const struct gpu_tensor *t, int64_t rows, int64_t cols)
{
    const int64_t padded[2] = {rows, cols};
    double sum = 0;
    for (uint32_t k = 0; k < 2; k++) {
        double left = (double)padded[k];
        for (uint32_t i = 0; i < t->mode[k].count; i++) {
            const double extent = (double)t->mode[k].modes[i].extent;
            sum += fabs((double)t->mode[k].modes[i].stride) * (i + 1 < t->mode[k].count ? extent : left);
            left /= extent;
        }
    }
    return sum;
}

static void set_tensors(struct la_ctx *cx, struct gpu_gemm_planning *p)
{
    struct gpu_gemm *g = p->g;
    const struct gpu_instruction *in = &g->instruction;
    const int64_t rows[4] = {g->m, g->n, g->m, g->m}, cols[4] = {g->k, g->k, g->n, g->n};
    /* Steps beyond the last are asked for, though not made. */
    const int64_t padded[3] = {g->tiles[0] * g->tile[0], g->tiles[1] * g->tile[1],
                               (g->tiles[2] + GPU_MAX_STAGES) * g->tile[2]};
    const int64_t last_row[4] = {padded[0], padded[1], padded[0], padded[0]};
    const int64_t last_col[4] = {padded[2], padded[2], padded[1], padded[1]};
    static const char *const names[4] = {"a", "b", "c", "d"};
    const enum la_matrix of[4] = {LA_A, LA_B, LA_C, LA_D};
    for (int i = 0; i < 4; i++) {
        const struct la_layout layout = tensor_layout(cx, p, i, rows[i], cols[i]);
        const struct gpu_tensor t = gpu_tensor_make(cx, names[i], layout, in->of[of[i]].number->bits);
        g->wide = g->wide || greatest_offset(&t, last_row[i], last_col[i]) > INT32_MAX / 2;
        *(i < 2 ? &g->of[i].tensor : i == 2 ? &g->c : &g->d) = t;
    }
    *p->field = "d";
    gpu_tensor_injective(cx, &g->d);
}

static void set_operands(struct la_ctx *cx, struct gpu_gemm_planning *p)
{
    static const char *const fields[2][3] = {{"smem_a", "copy_a", "smem_copy_a"},
                                             {"smem_b", "copy_b", "smem_copy_b"}};
    struct gpu_gemm *g = p->g;
    for (int i = 0; i < 2; i++) {
        struct gpu_gemm_operand *o = &g->of[i];
        const struct gpu_fragment *f = &g->instruction.of[i];
        const struct gpu_gemm_spec *s = &p->spec->gemm;
        const struct gpu_gemm_wish wish = {s->smem[i],
                                           s->copy[i],
                                           s->smem_copy[i],
                                           {fields[i][0], fields[i][1], fields[i][2]},
                                           s->ldmatrix != GPU_WISH_NO};
        o->name = i ? "b" : "a";
        o->x = i ? LA_B : LA_A;
        o->bits = f->number->bits;
        o->per = (unsigned)f->per;
        o->values = f->values;
        o->tile[0] = g->tile[i];
        o->tile[1] = g->tile[2];
        o->rest = g->tile[i] / (i ? g->instruction.n : g->instruction.m) / p->along[i];
        gpu_gemm_operand_make(cx, g, o, &wish, p->spec->integers, p->field);
        *p->field = "ldmatrix";
        if (s->ldmatrix == GPU_WISH_YES && !o->read.matrices)
            la_fail(cx, LA_E_not_contiguous, "ldmatrix does not read %s: %s", o->name, o->read.why);
    }
}

/* ---- the accumulators ---- */

/* The longest access along n of a thread's neighbouring values that is legal in a tensor everywhere. */
static int64_t epilogue_vector(const struct gpu_gemm *g, const struct gpu_tensor *t, unsigned bits)
{
    const struct gpu_map along = t->mode[1];
    int64_t n = LA_VECTOR_BITS / bits < g->c_values ? LA_VECTOR_BITS / bits : g->c_values;
    for (; n > 1; n /= 2) {
        bool fits = g->c_values % n == 0 && g->tile[1] % n == 0 && along.count &&
                    along.modes[0].stride == 1 && (along.count == 1 || along.modes[0].extent % n == 0);
        for (uint32_t k = 0; k < 2; k++)
            for (uint32_t i = k; i < t->mode[k].count; i++)
                fits = fits && t->mode[k].modes[i].stride % n == 0;
        for (int64_t thread = 0; fits && thread < g->threads; thread++)
            fits = gpu_map_at(g->c_thread[1], thread) % n == 0;
        for (int64_t v = 0; fits && v < g->c_values * g->of[0].rest * g->of[1].rest; v++) {
            const int64_t first = v - v % n;
            fits = gpu_map_at(g->c_value[0], v) == gpu_map_at(g->c_value[0], first) &&
                   gpu_map_at(g->c_value[1], v) == gpu_map_at(g->c_value[1], first) + v - first &&
                   gpu_map_at(g->c_value[1], first) % n == 0;
        }
        if (fits)
            return n;
    }
    return 1;
}

static void set_accumulators(struct la_ctx *cx, struct gpu_gemm_planning *p)
{
    struct gpu_gemm *g = p->g;
    *p->field = "tile";
    for (uint32_t k = 0; k < 2; k++) {
        const struct la_node *shape[2], *stride[2];
        for (uint32_t i = 0; i < 2; i++) {
            shape[i] = la_int(cx, g->tile[i], true);
            stride[i] = la_int(cx, i == k, true);
        }
        const struct la_layout coordinate = la_make_layout(cx, la_tuple(cx, 2, shape),
                                                           la_tuple(cx, 2, stride));
        gpu_gemm_partition(cx, g->mma, LA_C, coordinate, &g->c_thread[k], &g->c_value[k]);
    }
    g->c_values = g->instruction.of[LA_C].values;
    g->d_bits = g->instruction.of[LA_D].number->bits;
    const int64_t d = epilogue_vector(g, &g->d, g->d_bits), c = epilogue_vector(g, &g->c, g->d_bits);
    g->vector = g->beta != 0 && c < d ? c : d;
}

/* ---- stages and blocks ---- */

static void set_stages(struct la_ctx *cx, struct gpu_gemm_planning *p)
{
    struct gpu_gemm *g = p->g;
    int64_t bytes[2];
    for (int i = 0; i < 2; i++)
        bytes[i] = (g->of[i].smem->span * g->of[i].bits / 8 + BASE_BYTES - 1) / BASE_BYTES * BASE_BYTES;
    g->b_offset = bytes[0];
    g->stage_bytes = bytes[0] + bytes[1];
    *p->field = "stages";
    if (p->spec->stages && p->spec->stages < LEAST_STAGES)
        la_fail(cx, LA_E_domain, "stages %lld: one stage is read while another is on its way, so %d at least",
                (long long)p->spec->stages, LEAST_STAGES);
    g->stages = p->spec->stages ? p->spec->stages : gpu_gemm_choose_stages(g);
    check_shared(cx, p, g->stages, bytes);
    p->plan->shared_bytes = g->stages * g->stage_bytes;
}

static void set_grid(struct la_ctx *cx, struct gpu_gemm_planning *p)
{
    struct gpu_gemm *g = p->g;
    struct gpu_plan *plan = p->plan;
    const int64_t tiles = g->tiles[0] * g->tiles[1];
    *p->field = "problem";
    if (tiles > GPU_MAX_GRID)
        la_fail(cx, LA_E_limit, "%lld x %lld tiles of D are more than the %d blocks of a grid",
                (long long)g->tiles[0], (long long)g->tiles[1], GPU_MAX_GRID);
    *p->field = "grid";
    if (p->spec->grid > tiles)
        la_fail(cx, LA_E_domain, "grid %lld: D has %lld tiles, so work for %lld blocks",
                (long long)p->spec->grid, (long long)tiles, (long long)tiles);
    plan->grid = p->spec->grid ? p->spec->grid : tiles;
    plan->block = g->threads;
    g->group = p->spec->gemm.group ? p->spec->gemm.group : GPU_GEMM_GROUP;
    g->group = g->group > g->tiles[0] ? g->tiles[0] : g->group;
    const struct gpu_instruction *in = &g->instruction;
    plan->bytes_read = g->of[0].tensor.distinct * g->of[0].bits / 8 +
                       g->of[1].tensor.distinct * g->of[1].bits / 8 +
                       (g->beta != 0 ? g->c.distinct * in->of[LA_C].number->bits / 8 : 0);
    plan->bytes_written = g->d.elements * g->d_bits / 8;
}

/* ---- */

static void check_problem(struct la_ctx *cx, struct gpu_gemm_planning *p)
{
    struct gpu_gemm *g = p->g;
    const bool integer = g->instruction.of[LA_C].number->kind != GPU_FLOAT;
    *p->field = "problem";
    if ((double)g->m * (double)g->n * (double)g->k > (double)GPU_GEMM_MAX_WORK)
        la_fail(cx, LA_E_limit, "%lld x %lld x %lld are %.3g products; %lld is the most", (long long)g->m,
                (long long)g->n, (long long)g->k, (double)g->m * (double)g->n * (double)g->k,
                (long long)GPU_GEMM_MAX_WORK);
    if (g->instruction.saturates && g->k > INT32_MAX / (255 * 255))
        la_fail(cx, LA_E_limit, "%s stops at 2^31, which %lld products of bytes may reach; %d cannot",
                g->instruction.atom->name, (long long)g->k, INT32_MAX / (255 * 255));
    double *factor[2] = {&g->alpha, &g->beta};
    for (int i = 0; i < 2; i++) {
        const double x = *factor[i];
        *p->field = i ? "beta" : "alpha";
        if (integer && (floor(x) != x || fabs(x) > INT32_MAX))
            la_fail(cx, LA_E_domain, "%s %.17g: D is of %s, so it is an integer of 32 bits", *p->field, x,
                    g->instruction.of[LA_D].number->name);
        if (!integer && fabs(x) > (double)1e30f) /* what 1e30 may be rounded to */
            la_fail(cx, LA_E_domain, "%s %.17g: 1e30 is the most", *p->field, x);
        if (!integer && g->instruction.of[LA_D].number->bits < 64)
            *factor[i] = (double)(float)x; /* as the kernel has it */
    }
}

static void make_body(struct la_ctx *cx, void *arg)
{
    struct gpu_gemm_planning *p = arg;
    const struct gpu_gemm_spec *s = &p->spec->gemm;
    struct gpu_gemm *g = p->g = p->plan->gemm = la_alloc(cx, sizeof *g);
    *g = (struct gpu_gemm){
        .m = s->problem[0], .n = s->problem[1], .k = s->problem[2], .alpha = s->alpha, .beta = s->beta};
    set_instruction(cx, p);
    check_problem(cx, p);
    set_tile(cx, p);
    set_tensors(cx, p);
    gpu_gemm_range_check(cx, g, p->field);
    set_operands(cx, p);
    set_accumulators(cx, p);
    set_stages(cx, p);
    set_grid(cx, p);
}

bool gpu_gemm_make(struct la_ctx *cx, const struct gpu_spec *spec, struct gpu_plan *plan, const char **field)
{
    struct gpu_gemm_planning p = {.spec = spec, .plan = plan, .field = field};
    return la_try(cx, make_body, &p);
}
