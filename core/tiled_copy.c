/* tiled_copy.c: TiledCopy: a copy atom over a tile, written with the algebra.
 *
 * It is a TV layout, (thread, value) -> index in the tile, in the order of the atom's Ref, and the tiler that
 * cuts tiles from a tensor. make_tiled_copy finds both from where threads and values lie:
 *
 *     layout_mn = raked_product(thr, val)              (m,n) -> (thread, value)
 *     layout_tv = right_inverse(layout_mn)             with the shape (threads, values)
 *     tiler     = product_each(shape(layout_mn))
 *
 *     thr (_32,_8):(_8,_1), val (_1,_8):(_0,_1)        tiler (_32,_64)
 *
 * The order of Src or Dst comes from Ref by right_inverse(Ref) o Src, over an atom's threads and values. */
#include "internal.h"

static struct la_value tile2(struct la_ctx *cx, struct la_value a, struct la_value b)
{
    const struct la_node *modes[2] = {la_value_node(cx, a), la_value_node(cx, b)};
    return la_value_tuple(la_tuple(cx, 2, modes));
}

/* f(a's mode 0), the other mode as it is: a.compose(f, _) */
static struct la_layout compose_first(struct la_ctx *cx, struct la_layout a, struct la_layout f)
{
    return la_composition(cx, a, tile2(cx, la_value_layout(f), la_value_tuple(la_any)));
}

static struct la_layout with_shape(struct la_ctx *cx, struct la_layout a, const struct la_node *shape)
{
    return la_composition(cx, a, la_value_layout(la_layout_of(cx, shape)));
}

static const struct la_node *extent(struct la_ctx *cx, struct la_layout a, uint32_t mode)
{
    return la_product(cx, la_mode(cx, a.shape, mode));
}

static const struct la_node *tile_shape(struct la_ctx *cx, const struct la_tiled_copy *c)
{
    return la_shape_of(cx, la_value_tuple(c->tiler));
}

/* ---- making one ---- */

static void need_multiple(struct la_ctx *cx, enum la_error_code code, const char *what,
                          const struct la_node *has, const struct la_node *wants, const struct la_atom *atom)
{
    if (la_mod(cx, has, wants)->value != 0)
        la_fail(cx, code,
                "the tiled copy has %s %s, which is no multiple of the %s that %s on values of %u bits takes",
                la_show(cx, has), what, la_show(cx, wants), atom->name, atom->copy.type->bits);
}

/* Law: threads and values are multiples of those of the atom. */
const struct la_tiled_copy *la_tiled_copy(struct la_ctx *cx, const struct la_atom *atom,
                                          struct la_layout layout_tv, const struct la_node *tiler)
{
    if (atom->kind != LA_ATOM_COPY || !atom->copy.type)
        la_fail(cx, LA_E_kind, "a tiled copy is made of a Copy_Atom<%s, type of the values>, not of %s",
                atom->kind == LA_ATOM_COPY ? atom->name : "copy", atom->name);
    if (!layout_tv.shape->is_static || !layout_tv.stride->is_static || !tiler->is_static)
        la_fail(cx, LA_E_other,
                "the threads and values of a tiled copy are part of its type, so %s must be static",
                la_show_layout(cx, layout_tv));
    const struct la_layout ref = atom->copy.values[LA_REF];
    need_multiple(cx, LA_E_copy_too_few_threads, "threads", extent(cx, layout_tv, 0), extent(cx, ref, 0),
                  atom);
    need_multiple(cx, LA_E_copy_too_few_values, "values a thread", extent(cx, layout_tv, 1),
                  extent(cx, ref, 1), atom);
    struct la_tiled_copy *c = la_alloc(cx, sizeof *c);
    *c = (struct la_tiled_copy){.atom = atom, .layout_tv = layout_tv, .tiler = tiler};
    return c;
}

static void tell(struct la_ctx *cx, const char *rule, struct la_layout result, const char *sentence)
{
    if (cx->trace)
        la_step(cx, rule, la_value_layout(result), 0, NULL, "%s", sentence);
}

const struct la_tiled_copy *la_make_tiled_copy(struct la_ctx *cx, const struct la_atom *atom,
                                               struct la_layout thr, struct la_layout val)
{
    const struct la_layout mn = la_raked_product(cx, thr, val);
    tell(cx, "layout_mn", mn, "raked_product(thr, val): a place (m,n) of the tile to (thread, value)");
    const struct la_node *sizes[2] = {la_size(cx, thr), la_size(cx, val)};
    const struct la_layout tv = with_shape(cx, la_right_inverse(cx, mn), la_tuple(cx, 2, sizes));
    tell(cx, "layout_tv", tv, "its right inverse, with the shape (threads, values)");
    struct la_tiled_copy *c = la_alloc(cx, sizeof *c);
    *c = *la_tiled_copy(cx, atom, tv, la_product_each(cx, mn.shape));
    c->thr = thr;
    c->val = val;
    return c;
}

/* The coordinates of mode i that tv reaches in a tile of a shape. */
static const struct la_node *reached(struct la_ctx *cx, const struct la_node *shape, uint32_t i,
                                     struct la_layout tv)
{
    const struct la_node *one = la_replace(cx, la_repeat_like(cx, shape, la_zero), i, la_one);
    const struct la_layout mode = la_composition(cx, la_plain(shape, one), la_value_layout(tv));
    return la_value_node(cx, la_value_layout(la_filter(cx, mode)));
}

/* A tiled copy whose tiler picks, mode by mode, what tv reaches of a tile; tv maps into that tile. */
static const struct la_tiled_copy *trimmed(struct la_ctx *cx, const struct la_atom *atom,
                                           const struct la_node *shape, struct la_layout tv)
{
    const struct la_node **modes = la_alloc(cx, (la_rank(shape) + 1) * sizeof *modes);
    for (uint32_t i = 0; i < la_rank(shape); i++)
        modes[i] = reached(cx, shape, i, tv);
    const struct la_node *tiler = la_tuple(cx, la_rank(shape), modes);
    const struct la_layout tile = la_composition(cx, la_layout_of(cx, shape), la_value_tuple(tiler));
    return la_tiled_copy(cx, atom, la_composition(cx, la_left_inverse(cx, tile), la_value_layout(tv)), tiler);
}

/* From offsets: tv maps (thread, value) to an offset in memory, and data says which coordinate that is. */
const struct la_tiled_copy *la_make_cotiled_copy(struct la_ctx *cx, const struct la_atom *atom,
                                                 struct la_layout tv, struct la_layout data)
{
    if (!tv.shape->is_static || !tv.stride->is_static || !data.shape->is_static || !data.stride->is_static)
        la_fail(cx, LA_E_other, "%s and %s must be static", la_show_layout(cx, tv), la_show_layout(cx, data));
    /* what lies beyond the data gets the stride 0 */
    const struct la_layout inverse[2] = {la_left_inverse(cx, data), la_plain(la_one, la_zero)};
    const struct la_layout coords = la_composition(cx, la_layout_concat(cx, 2, inverse), la_value_layout(tv));
    const struct la_layout values = la_coalesce(cx, la_layout_mode(cx, tv, 1));
    const struct la_layout found = la_coalesce(
        cx, la_composition(cx, data, la_value_layout(la_layout_mode(cx, coords, 1))));
    if (!la_same(found.shape, values.shape) || !la_same(found.stride, values.stride))
        la_fail(cx, LA_E_other, "the memory that the values %s point to does not exist in the data %s",
                la_show_layout(cx, values), la_show_layout(cx, data));
    return trimmed(cx, atom, la_product_each(cx, data.shape), coords);
}

static const struct la_node *tile_of(struct la_ctx *cx, const struct la_tiled_mma *mma, enum la_matrix x)
{
    const uint32_t m = x == LA_B ? 1 : 0, n = x == LA_C ? 1 : 2;
    const struct la_node *sizes[2] = {la_tiled_mma_size(cx, mma, m), la_tiled_mma_size(cx, mma, n)};
    return la_tuple(cx, 2, sizes);
}

const struct la_tiled_copy *la_tiled_copy_for(struct la_ctx *cx, const struct la_atom *atom,
                                              const struct la_tiled_mma *mma, enum la_matrix x)
{
    return la_tiled_copy(cx, atom, la_tiled_mma_tv(cx, mma, x), tile_of(cx, mma, x));
}

/* The smallest one that can hold parts of C: as many values as one atom stores. */
const struct la_tiled_copy *la_tiled_copy_c_atom(struct la_ctx *cx, const struct la_atom *atom,
                                                 const struct la_tiled_mma *mma)
{
    const struct la_layout tv = la_tiled_mma_tv(cx, mma, LA_C);
    const struct la_node *values = extent(cx, atom->copy.values[LA_SRC], 1);
    if (values->value > extent(cx, tv, 1)->value)
        la_fail(cx, LA_E_other, "%s stores %s values, and a thread has only %s of C", atom->name,
                la_show(cx, values), la_show(cx, extent(cx, tv, 1)));
    const struct la_node *sizes[2] = {extent(cx, tv, 0), values};
    return trimmed(cx, atom, tile_of(cx, mma, LA_C), with_shape(cx, tv, la_tuple(cx, 2, sizes)));
}

/* ---- what threads have ---- */

/* ((thread of Src, atom), (value of Src, atom)) -> index in the tile */
static struct la_layout thrval_to_tile(struct la_ctx *cx, const struct la_tiled_copy *c, enum la_end end)
{
    const struct la_layout ref = c->atom->copy.values[LA_REF];
    const struct la_layout from_ref = la_composition(cx, la_right_inverse(cx, ref),
                                                     la_value_layout(c->atom->copy.values[end]));
    const struct la_node *atom[2] = {extent(cx, ref, 0), extent(cx, ref, 1)};
    const struct la_layout atoms = compose_first(
        cx, la_zipped_divide(cx, c->layout_tv, la_value_tuple(la_tuple(cx, 2, atom))), from_ref);
    const struct la_layout zipped = la_plain(la_zip_modes(cx, atoms.shape), la_zip_modes(cx, atoms.stride));
    const struct la_node *ones[2] = {la_one, la_one};
    const struct la_node *profile[2] = {la_one, la_tuple(cx, 2, ones)};
    return la_coalesce_profile(cx, zipped, la_tuple(cx, 2, profile));
}

static const struct la_node *any2(struct la_ctx *cx)
{
    return la_repeat(cx, 2, la_any);
}

/* (tile, rest) -> ((thread), value, rest) */
static struct la_layout tile_to_thrfrg(struct la_ctx *cx, const struct la_tiled_copy *c, enum la_end end,
                                       struct la_layout tiled)
{
    const struct la_layout thrval = thrval_to_tile(cx, c, end);
    tell(cx, "thrval", thrval,
         end == LA_SRC ? "((thread), (value)) of the source to the index in the tile"
                       : "((thread), (value)) of the destination to the index in the tile");
    const struct la_layout tv = compose_first(cx, tiled, thrval);
    const struct la_node *unfold[2] = {any2(cx), la_any};
    return la_slice_value(cx, la_tuple(cx, 2, unfold), tv).layout;
}

struct la_layout la_tidfrg(struct la_ctx *cx, const struct la_tiled_copy *c, enum la_end end,
                           struct la_layout tensor)
{
    return tile_to_thrfrg(cx, c, end, la_zipped_divide(cx, tensor, la_value_tuple(c->tiler)));
}

struct la_layout la_tiled_copy_tv(struct la_ctx *cx, const struct la_tiled_copy *c, enum la_end end)
{
    const struct la_node *tile[2] = {tile_shape(cx, c), la_one}, *first[3] = {la_any, la_any, la_zero};
    const struct la_layout all = tile_to_thrfrg(cx, c, end, la_layout_of(cx, la_tuple(cx, 2, tile)));
    return la_slice_value(cx, la_tuple(cx, 3, first), all).layout;
}

/* (m,n) -> (thread, value) */
struct la_layout la_tiled_copy_mn(struct la_ctx *cx, const struct la_tiled_copy *c, enum la_end end)
{
    return with_shape(cx, la_right_inverse(cx, la_tiled_copy_tv(cx, c, end)), tile_shape(cx, c));
}

struct la_part la_copy_partition(struct la_ctx *cx, const struct la_tiled_copy *c, enum la_end end,
                                 struct la_layout tensor, const struct la_node *thread)
{
    const struct la_node *coord[3] = {thread, la_any, la_repeat(cx, la_rank(tensor.shape), la_any)};
    return la_part_at(cx, la_tuple(cx, 3, coord), la_tidfrg(cx, c, end, tensor));
}

/* ---- retile: a fragment of another tiled copy or MMA, in the values of this one's atom ---- */

struct la_layout la_retile(struct la_ctx *cx, const struct la_tiled_copy *c, struct la_layout fragment)
{
    const struct la_node *v = extent(cx, fragment, 0);
    const struct la_node *skip = la_mul(cx, extent(cx, c->layout_tv, 0), v);
    if (!skip->is_static || skip->value < 1)
        la_fail(cx, LA_E_other, "the values of the fragment %s must be static", la_show_layout(cx, fragment));
    /* (m,n) -> which of the fragment's tiles; the values of a tile come first in a thread's values */
    const struct la_layout inverse = with_shape(cx, la_right_inverse(cx, c->layout_tv), tile_shape(cx, c));
    const struct la_layout mn = la_upcast(cx, la_value_layout(inverse), skip).layout;
    /* (values of the atom, rest) -> (v,m,n) */
    const struct la_layout all = la_logical_product(cx, la_layout_of(cx, v),
                                                    la_value_layout(la_right_inverse(cx, mn)));
    const struct la_layout one = la_layout_of(cx, extent(cx, c->atom->copy.values[LA_REF], 1));
    const struct la_layout by_atom = la_zipped_divide(cx, all, la_value_layout(one));
    const struct la_node *tiler = la_prepend(cx, la_product_each(cx, mn.shape), v);
    const struct la_layout tiled = compose_first(cx, la_zipped_divide(cx, fragment, la_value_tuple(tiler)),
                                                 by_atom);
    const struct la_node *coord[2] = {la_any, la_append_to(cx, la_zero, la_rank(fragment.shape), la_any)};
    return la_slice_value(cx, la_tuple(cx, 2, coord), tiled).layout;
}
