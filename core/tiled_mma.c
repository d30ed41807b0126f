/* tiled_mma.c: TiledMMA: MMA atoms over threads and a tile, written with the algebra.
 *
 * The atoms of a layout (m,n,k) -> atom get a thread group each: tiled_product(ThrID, atoms) maps (V,M,N,K)
 * to a thread. A matrix is cut in three steps: its modes are permuted, then tiled by the atom's shape, then
 * by the groups of threads.
 *
 *     thrfrg_C:  logical_divide by the permutations of M and N
 *                zipped_divide  by (AtomM, AtomN)           ((AtomM,AtomN),(M,N))
 *                composition    with the atom's C layout    ((ThrV,FrgV),(M,N))
 *                zipped_divide  by the threads of M and N   ((ThrV,(ThrM,ThrN)),(FrgV,(RestM,RestN))) */
#include "internal.h"

/* The modes of MNK that a matrix has: A (M,K), B (N,K), C (M,N). */
static const uint32_t modes_of[3][2] = {{0, 2}, {1, 2}, {0, 1}};

static struct la_value pair(struct la_ctx *cx, struct la_value a, struct la_value b)
{
    const struct la_node *modes[2] = {la_value_node(cx, a), la_value_node(cx, b)};
    return la_value_tuple(la_tuple(cx, 2, modes));
}

static struct la_value any(void)
{
    return la_value_tuple(la_any);
}

/* The layout n:1, which tiles a mode as a whole. */
static struct la_value run_of(struct la_ctx *cx, const struct la_node *n)
{
    return la_value_layout(la_layout_of(cx, n));
}

static const struct la_node *atom_extent(struct la_ctx *cx, const struct la_tiled_mma *m, uint32_t mode)
{
    return la_product(cx, la_mode(cx, m->atom->mma.shape_mnk, mode));
}

/* Threads, or groups of them, along M, N or K. */
static const struct la_node *threads_along(struct la_ctx *cx, const struct la_tiled_mma *m, uint32_t mode)
{
    return la_product(cx, la_mode(cx, m->thr_vmnk.shape, mode + 1));
}

/* ---- making one ---- */

const struct la_tiled_mma *la_make_tiled_mma(struct la_ctx *cx, const struct la_atom *atom,
                                             struct la_layout atoms, const struct la_node *permutation)
{
    if (atom->kind != LA_ATOM_MMA)
        la_fail(cx, LA_E_kind, "a tiled MMA is made of an MMA atom, not of the copy %s", atom->name);
    if (permutation->kind != LA_TUPLE)
        la_fail(cx, LA_E_other,
                "M, N and K are permuted independently: a tuple such as Tile<_32,_32,_16>, not %s",
                la_show(cx, permutation));
    if (!permutation->is_static)
        la_fail(cx, LA_E_other, "the permutations of a tiled MMA are part of its type, so %s must be static",
                la_show(cx, permutation));
    if (la_rank(atoms.shape) > 3 || la_rank(permutation) > 3)
        la_fail(cx, LA_E_other, "an MMA has the modes M, N and K; %s has %u",
                la_rank(permutation) > 3 ? la_show(cx, permutation) : la_show_layout(cx, atoms),
                la_rank(permutation) > 3 ? la_rank(permutation) : la_rank(atoms.shape));
    atoms = la_plain(la_append_to(cx, atoms.shape, 3, la_one), la_append_to(cx, atoms.stride, 3, la_zero));
    struct la_tiled_mma *m = la_alloc(cx, sizeof *m);
    *m = (struct la_tiled_mma){.atom = atom,
                               .atoms = atoms,
                               .thr_vmnk = la_tiled_product(cx, atom->thr_id, la_value_layout(atoms)),
                               .permutation = la_append_to(cx, permutation, 3, la_any)};
    return m;
}

const struct la_node *la_permutation_mnk(struct la_ctx *cx, const struct la_tiled_mma *m, uint32_t mode)
{
    const struct la_node *p = la_mode(cx, m->permutation, mode);
    if (p->kind != LA_ANY)
        return p;
    return la_mul(cx, atom_extent(cx, m, mode), threads_along(cx, m, mode));
}

const struct la_node *la_tiled_mma_size(struct la_ctx *cx, const struct la_tiled_mma *m, uint32_t mode)
{
    const struct la_value p = la_node_value(la_permutation_mnk(cx, m, mode));
    return la_product(cx, p.kind == LA_K_LAYOUT ? p.layout.shape : p.tuple);
}

/* ---- what threads have ---- */

static struct la_layout tell(struct la_ctx *cx, const char *rule, struct la_layout result,
                             const char *sentence)
{
    if (cx->trace)
        la_step(cx, rule, la_value_layout(result), 0, NULL, "%s", sentence);
    return result;
}

struct la_layout la_thrfrg(struct la_ctx *cx, const struct la_tiled_mma *m, enum la_matrix x,
                           struct la_layout tensor)
{
    const uint32_t i = modes_of[x][0], j = modes_of[x][1];
    const struct la_value permuted = pair(cx, la_node_value(la_permutation_mnk(cx, m, i)),
                                          la_node_value(la_permutation_mnk(cx, m, j)));
    const struct la_value atom = pair(cx, run_of(cx, atom_extent(cx, m, i)),
                                      run_of(cx, atom_extent(cx, m, j)));
    const struct la_value threads = pair(cx, run_of(cx, threads_along(cx, m, i)),
                                         run_of(cx, threads_along(cx, m, j)));
    const struct la_layout whole = tell(cx, "permuted", la_logical_divide(cx, tensor, permuted),
                                        "the modes of the tensor, divided by the permutations");
    const struct la_layout atoms = tell(cx, "atoms", la_zipped_divide(cx, whole, atom),
                                        "tiled by the atom: ((atom), (rest))");
    const struct la_layout tv = tell(
        cx, "values", la_composition(cx, atoms, pair(cx, la_value_layout(m->atom->mma.tv[x]), any())),
        "the atom's tile by its threads and values: ((ThrV,FrgV), (rest))");
    return la_zipped_divide(cx, tv, pair(cx, any(), threads));
}

static struct la_layout tile_of(struct la_ctx *cx, const struct la_tiled_mma *m, enum la_matrix x)
{
    const struct la_node *sizes[2] = {la_tiled_mma_size(cx, m, modes_of[x][0]),
                                      la_tiled_mma_size(cx, m, modes_of[x][1])};
    return la_layout_of(cx, la_tuple(cx, 2, sizes));
}

/* (ThrV,(ThrM,ThrN,ThrK)) -> (ThrV,(ThrM,ThrK)) of A, (ThrV,(ThrN,ThrK)) of B: the other mode shares. */
static struct la_value sharing(struct la_ctx *cx, const struct la_tiled_mma *m, enum la_matrix x)
{
    const struct la_node *threads[2] = {threads_along(cx, m, 0), threads_along(cx, m, 1)};
    const struct la_node *stride[2] = {x == LA_A ? la_one : la_zero, x == LA_A ? la_zero : la_one};
    const struct la_layout shared = la_plain(la_tuple(cx, 2, threads), la_tuple(cx, 2, stride));
    return pair(cx, any(), pair(cx, la_value_layout(shared), any()));
}

/* thread -> (V,M,N,K). Threads between those of the MMA, as in a quad pair, take the place of one of them. */
static struct la_layout vmnk_of_thread(struct la_ctx *cx, const struct la_tiled_mma *m)
{
    const struct la_layout all[2] = {m->thr_vmnk, la_complement(cx, m->thr_vmnk, la_one)};
    const struct la_layout inverse = la_right_inverse(cx, la_layout_concat(cx, 2, all));
    const struct la_node *shape[2] = {la_size(cx, m->thr_vmnk), la_one}, *stride[2] = {la_one, la_zero};
    const struct la_layout used = la_plain(la_tuple(cx, 2, shape), la_tuple(cx, 2, stride));
    return la_composition(cx, used, la_value_layout(inverse));
}

struct la_layout la_tiled_mma_tv(struct la_ctx *cx, const struct la_tiled_mma *m, enum la_matrix x)
{
    struct la_layout tv = la_thrfrg(cx, m, x, tile_of(cx, m, x));
    if (x != LA_C)
        tv = la_composition(cx, tv, pair(cx, sharing(cx, m, x), any()));
    return la_composition(cx, tv, pair(cx, la_value_layout(vmnk_of_thread(cx, m)), any()));
}

/* (m,n) -> (ThrV, ThrM, ThrN; value) */
struct la_layout la_tiled_mma_mn(struct la_ctx *cx, const struct la_tiled_mma *m, enum la_matrix x)
{
    const struct la_layout tile = tile_of(cx, m, x),
                           inverse = la_right_inverse(cx, la_thrfrg(cx, m, x, tile));
    return la_composition(cx, inverse, la_value_layout(la_layout_of(cx, tile.shape)));
}

/* The threads of a matrix, with the mode that it does not have at 0. */
struct la_layout la_tiled_mma_threads(struct la_ctx *cx, const struct la_tiled_mma *m, enum la_matrix x)
{
    const uint32_t without[3] = {2, 1, 3}; /* of (V,M,N,K) */
    const struct la_node *coord[4] = {la_any, la_any, la_any, la_any};
    coord[without[x]] = la_zero;
    return la_slice_value(cx, la_tuple(cx, 4, coord), m->thr_vmnk).layout;
}

struct la_part la_part_at(struct la_ctx *cx, const struct la_node *coord, struct la_layout a)
{
    const struct la_node *both = la_slice_and_offset(cx, coord, a).tuple;
    return (struct la_part){la_node_value(both + 1).layout, la_next(both + 1)};
}

/* (v,m,n,k) of a thread */
const struct la_node *la_thread_vmnk(struct la_ctx *cx, const struct la_tiled_mma *m,
                                     const struct la_node *thread)
{
    return la_flat_coord(cx, m->thr_vmnk, thread);
}

struct la_part la_mma_partition(struct la_ctx *cx, const struct la_tiled_mma *m, enum la_matrix x,
                                struct la_layout tensor, const struct la_node *thread)
{
    const struct la_layout all = la_thrfrg(cx, m, x, tensor);
    const struct la_node *vmnk = la_thread_vmnk(cx, m, thread);
    const struct la_node *along[2] = {la_mode(cx, vmnk, modes_of[x][0] + 1),
                                      la_mode(cx, vmnk, modes_of[x][1] + 1)};
    const struct la_node *who[2] = {la_mode(cx, vmnk, 0), la_tuple(cx, 2, along)};
    const uint32_t rest = la_rank(la_mode(cx, la_mode(cx, all.shape, 1), 1));
    const struct la_node *what[2] = {la_any, la_repeat(cx, rest, la_any)};
    const struct la_node *coord[2] = {la_tuple(cx, 2, who), la_tuple(cx, 2, what)};
    return la_part_at(cx, la_tuple(cx, 2, coord), all);
}
