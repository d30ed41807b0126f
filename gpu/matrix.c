/* matrix.c: ldmatrix and stmatrix: which rows of shared memory a warp's lanes point at, and what their registers hold.
 *
 *   SM75_U32x4_LDSM_N of half_t: lane l says where row l % 8 of matrix l / 8 begins, and gets values 2(l % 4) and
 *   2(l % 4) + 1 of row l / 4 of each matrix; transposed, of column l / 4, rows 2(l % 4) and 2(l % 4) + 1
 *
 * Who points where comes from the atom's layout of memory over the tile, who holds what from that of registers, which
 * is the partition itself. What the instruction does is written down once more, as PTX has it (piece_of): a plan holds
 * only if both say the same of every value. Functions here leave by la_fail, as core's do. */
#include "internal.h"

#include <string.h>

enum {
    ROWS = 8, /* of a matrix */
    ROW_BYTES = 16,
    REGISTER_BYTES = 4 /* that a lane holds of a matrix */
};

/* The lane that points at the row which a byte of a lane's registers is in, and where in the row. */
struct piece {
    int64_t lane, byte;
};

static struct piece piece_of(const struct gpu_matrix *m, int64_t lane, int64_t byte)
{
    const int64_t matrix = byte / REGISTER_BYTES, in = byte % REGISTER_BYTES;
    const int64_t row = m->trans ? lane % 4 * 2 + in / 2 : lane / 4;
    return (struct piece){ROWS * matrix + row, m->trans ? lane / 4 * 2 + in % 2 : lane % 4 * 4 + in};
}

int64_t gpu_matrix_place(const struct gpu_leg *leg, const struct gpu_smem *smem, int64_t thread, int64_t v)
{
    const struct gpu_matrix *m = leg->matrix;
    const int64_t bytes = ROW_BYTES / leg->smem_vector, lane = thread % LA_LANES;
    const struct piece p = piece_of(m, lane, v % m->values * bytes);
    const int64_t row = gpu_map_at(leg->smem.thread, thread - lane + p.lane) +
                        gpu_map_at(leg->smem.value, v / m->values * leg->smem_vector);
    return gpu_smem_place(smem, row) + p.byte / bytes;
}

/* What a plan needs of one leg. */
struct proof {
    struct la_ctx *cx;
    const struct gpu_leg *leg;
    const struct gpu_smem *smem;
    const int64_t *index;      /* [thread + threads * value of a row]: the element of the tile */
    int64_t threads, elements; /* of the rows: threads, and elements of a thread */
    int64_t bytes;             /* of an element */
};

_Noreturn static void bad_row(const struct proof *p, int64_t t, int64_t v, int64_t e, int64_t first)
{
    struct la_ctx *cx = p->cx;
    const char *at = gpu_tile_place(cx, &p->leg->part, p->index[t + p->threads * v]);
    if (e == 0)
        la_fail(
            cx, LA_E_divisibility,
            "%s: lane %lld of warp %lld points at the row that begins with the element %s of the tile, which "
            "lies at byte %lld in smem %s; a row begins at a multiple of %d",
            p->leg->matrix->name, (long long)(t % LA_LANES), (long long)(t / LA_LANES), at,
            (long long)(first * p->bytes), gpu_layout_text(cx, p->smem->layout), ROW_BYTES);
    const int64_t next = p->index[t + p->threads * (v + e)];
    la_fail(
        cx, LA_E_not_contiguous,
        "%s: lane %lld of warp %lld points at %lld elements side by side, but in smem %s the element %s of "
        "the tile lies at %lld and %s at %lld, not at %lld",
        p->leg->matrix->name, (long long)(t % LA_LANES), (long long)(t / LA_LANES),
        (long long)p->leg->smem_vector, gpu_layout_text(cx, p->smem->layout), at, (long long)first,
        gpu_tile_place(cx, &p->leg->part, next), (long long)p->smem->at[next], (long long)(first + e));
}

/* Every row that a lane points at lies side by side and at a multiple of 16 bytes. */
static void prove_rows(const struct proof *p)
{
    const int64_t row = p->leg->smem_vector, lanes = ROWS * p->leg->matrix->count;
    for (int64_t t = 0; t < p->threads; t++)
        for (int64_t v = 0; t % LA_LANES < lanes && v < p->elements; v += row) {
            const int64_t first = p->smem->at[p->index[t + p->threads * v]];
            if (first % row != 0)
                bad_row(p, t, v, 0, first);
            for (int64_t e = 1; e < row; e++)
                if (p->smem->at[p->index[t + p->threads * (v + e)]] != first + e)
                    bad_row(p, t, v, e, first);
        }
}

/* Every value that a thread holds by the partition is the one that the instruction moves. */
static void prove_values(const struct proof *p)
{
    const struct gpu_partition *part = &p->leg->part;
    const int64_t n = part->threads * part->values;
    int64_t *index = la_alloc(p->cx, (size_t)n * sizeof *index);
    la_offsets(p->cx, part->tv, n, index);
    for (int64_t t = 0; t < part->threads; t++)
        for (int64_t v = 0; v < part->values; v++)
            if (gpu_matrix_place(p->leg, p->smem, t, v) != p->smem->at[index[t + part->threads * v]])
                la_fail(p->cx, LA_E_other,
                        "%s: value %lld of thread %lld is another than the partition says: layoutd's fault",
                        p->leg->matrix->name, (long long)v, (long long)t);
}

static struct gpu_matrix *read_atom(struct la_ctx *cx, const struct la_atom *atom, const char *name,
                                    enum la_end end)
{
    struct gpu_matrix *m = la_alloc(cx, sizeof *m);
    const int64_t bits = la_size(cx, la_layout_mode(cx, atom->copy.bits[end], 1))->value;
    *m = (struct gpu_matrix){.name = name,
                             .trans = name[strlen(name) - 1] == 'T',
                             .count = bits / 8 / REGISTER_BYTES,
                             .values = la_size(cx, la_layout_mode(cx, atom->copy.values[end], 1))->value};
    return m;
}

void gpu_matrix_make(struct la_ctx *cx, const struct gpu_type *type, const struct gpu_smem *smem,
                     const char *name, enum la_end registers, struct gpu_leg *leg)
{
    const struct la_atom *atom = la_atom_named(cx,
                                               la_format(cx, "Copy_Atom<%s,uint%u_t>{}", name, type->bits));
    const struct la_tiled_copy *tiled = la_make_tiled_copy(cx, atom, leg->part.thr, leg->part.val);
    const struct la_layout rows = la_tiled_copy_tv(cx, tiled, registers == LA_SRC ? LA_DST : LA_SRC);
    const struct la_layout plain = {.shape = smem->layout.shape, .stride = smem->layout.stride};
    const struct la_layout at = la_composition(cx, plain, la_value_layout(rows));
    leg->matrix = read_atom(cx, atom, name, registers);
    leg->smem.thread = gpu_map_of(cx, la_layout_mode(cx, at, 0));
    leg->smem.value = gpu_map_of(cx, la_layout_mode(cx, at, 1));
    leg->smem_vector = ROW_BYTES * 8 / type->bits;
    leg->smem_vector_why = "a row of a matrix has 16 bytes";
    struct proof p = {cx,
                      leg,
                      smem,
                      NULL,
                      la_size(cx, la_layout_mode(cx, rows, 0))->value,
                      la_size(cx, la_layout_mode(cx, rows, 1))->value,
                      type->bits / 8};
    int64_t *index = la_alloc(cx, (size_t)(p.threads * p.elements) * sizeof *index);
    la_offsets(cx, rows, p.threads * p.elements, index);
    p.index = index;
    prove_rows(&p);
    prove_values(&p);
}
