/* layout.c: a layout as a function from coordinates to offsets.
 *
 * (2,(2,3)):(3,(6,1)) takes (m,(a,b)) to 3m + 6a + b. An integer for a nested mode is split by the shape, leftmost
 * first: 9 -> (1,4) -> (1,(0,2)) -> 5. A composed layout is outer o offset o shape:stride, evaluated from the right.
 * Shape and stride are always congruent; la_make_layout is where that is checked. */
#include "internal.h"

struct la_layout la_plain(const struct la_node *shape, const struct la_node *stride)
{
    return (struct la_layout){.shape = shape, .stride = stride};
}

static void need_extents(struct la_ctx *cx, const struct la_node *shape)
{
    if (!la_all_integers(shape))
        la_fail(cx, LA_E_kind, "a shape is made of integers, unlike %s", la_show(cx, shape));
}

struct la_layout la_make_layout(struct la_ctx *cx, const struct la_node *shape, const struct la_node *stride)
{
    need_extents(cx, shape);
    if (!la_congruent(shape, stride))
        la_fail(cx, LA_E_rank_mismatch, "the shape %s and the stride %s do not have the same tree of modes",
                la_show(cx, shape), la_show(cx, stride));
    return la_plain(shape, stride);
}

struct la_layout la_layout_of(struct la_ctx *cx, const struct la_node *shape)
{
    need_extents(cx, shape);
    return la_plain(shape, la_compact_left(cx, shape));
}

struct la_layout la_inner(struct la_layout a)
{
    return la_plain(a.shape, a.stride);
}

struct la_layout la_rewrap(struct la_layout like, struct la_layout inner)
{
    inner.outer = like.outer;
    inner.offset = like.offset;
    return inner;
}

struct la_layout la_layout_mode(struct la_ctx *cx, struct la_layout a, uint32_t i)
{
    return la_rewrap(a, la_plain(la_mode(cx, a.shape, i), la_mode(cx, a.stride, i)));
}

struct la_layout la_layout_concat(struct la_ctx *cx, uint32_t n, const struct la_layout *parts)
{
    struct la_builder shape, stride;
    la_build(&shape, cx);
    la_build(&stride, cx);
    const uint32_t hs = la_build_open(&shape), hd = la_build_open(&stride);
    for (uint32_t i = 0; i < n; i++) {
        la_build_add(&shape, parts[i].shape);
        la_build_add(&stride, parts[i].stride);
    }
    la_build_close(&shape, hs);
    la_build_close(&stride, hd);
    return la_plain(la_build_done(&shape), la_build_done(&stride));
}

struct la_layout
la_map_modes(struct la_ctx *cx, struct la_layout a, const struct la_node *tiler, bool keep_rest,
             struct la_layout (*f)(struct la_ctx *cx, struct la_layout a, const struct la_node *tiler))
{
    const uint32_t ra = la_rank(a.shape), rt = la_rank(tiler);
    if (rt > ra)
        la_fail(cx, LA_E_too_many_modes, "the tiler %s has %u modes and the layout %s only %u",
                la_show(cx, tiler), rt, la_show_layout(cx, a), ra);
    const uint32_t n = keep_rest ? ra : rt;
    struct la_layout *parts = la_alloc(cx, (n + 1) * sizeof *parts);
    const struct la_node *s = a.shape->kind == LA_TUPLE ? a.shape + 1 : a.shape;
    const struct la_node *d = a.stride->kind == LA_TUPLE ? a.stride + 1 : a.stride;
    const struct la_node *t = tiler + 1;
    for (uint32_t i = 0; i < n; i++, s = la_next(s), d = la_next(d)) {
        parts[i] = la_plain(s, d);
        if (i >= rt)
            continue;
        parts[i] = f(cx, parts[i], t);
        t = la_next(t);
    }
    return la_layout_concat(cx, n, parts);
}

/* ---- values and nodes ---- */

struct la_value la_value_tuple(const struct la_node *n)
{
    unsigned seen = 0;
    for (uint32_t i = 0; i < n->span; i++)
        seen |= 1u << n[i].kind;
    const bool tile = seen & (1u << LA_ANY | 1u << LA_LEAF);
    enum la_kind kind = tile ? LA_K_TILE : LA_K_TUPLE;
    if (n->kind != LA_TUPLE)
        kind = n->kind == LA_ANY ? LA_K_ANY : LA_K_INT;
    return (struct la_value){.kind = kind, .tuple = n};
}

struct la_value la_value_layout(struct la_layout a)
{
    return (struct la_value){.kind = a.outer ? LA_K_COMPOSED : LA_K_LAYOUT, .layout = a};
}

struct la_value la_truth(bool truth)
{
    return (struct la_value){.kind = LA_K_BOOL, .truth = truth};
}

const struct la_node *la_value_node(struct la_ctx *cx, struct la_value v)
{
    if (v.kind & (LA_K_INTTUPLE | LA_K_TILE | LA_K_ANY))
        return v.tuple;
    struct la_value *leaf = la_alloc(cx, sizeof *leaf);
    *leaf = v;
    struct la_node *n = la_alloc(cx, sizeof *n);
    *n = (struct la_node){.leaf = leaf, .span = 1, .kind = LA_LEAF};
    if (v.kind == LA_K_LAYOUT)
        n->is_static = v.layout.shape->is_static && v.layout.stride->is_static;
    return n;
}

struct la_value la_node_value(const struct la_node *n)
{
    return n->kind == LA_LEAF ? *n->leaf : la_value_tuple(n);
}

struct la_layout la_leaf_layout(struct la_ctx *cx, const struct la_node *leaf)
{
    if (leaf->kind != LA_LEAF || leaf->leaf->kind != LA_K_LAYOUT)
        la_fail(cx, LA_E_kind, "a tiler is made of layouts, integers and _, not of %s", la_show(cx, leaf));
    return leaf->leaf->layout;
}

/* ---- coordinates ---- */

/* An integer coordinate for a tuple of modes: c mod s here, c / s for the next ones; the last is not reduced. */
static const struct la_node *split_and_add(struct la_ctx *cx, const struct la_node *coord,
                                           const struct la_node *shape, const struct la_node *stride)
{
    if (la_rank(shape) == 0)
        la_fail(cx, LA_E_domain, "an empty shape has no coordinates");
    const struct la_node *sum = NULL, *end = shape + shape->span, *d = stride + 1;
    for (const struct la_node *s = shape + 1; s < end; s = la_next(s), d = la_next(d)) {
        const bool last = la_next(s) == end;
        const struct la_node *extent = last ? NULL : la_product(cx, s);
        const struct la_node *term = la_crd2idx(cx, last ? coord : la_mod(cx, coord, extent), s, d);
        sum = sum ? la_add(cx, sum, term) : term;
        if (!last)
            coord = la_div(cx, coord, extent);
    }
    return sum;
}

static void need_same_rank(struct la_ctx *cx, const struct la_node *coord, const struct la_node *shape)
{
    if (shape->kind != LA_TUPLE || la_rank(coord) != la_rank(shape))
        la_fail(cx, LA_E_rank_mismatch, "the coordinate %s does not fit the shape %s", la_show(cx, coord),
                la_show(cx, shape));
}

/* Law: crd2idx((c,C), (s,S), (d,D)) = crd2idx(c,s,d) + crd2idx(C,S,D), and c * d at a leaf. */
const struct la_node *la_crd2idx(struct la_ctx *cx, const struct la_node *coord, const struct la_node *shape,
                                 const struct la_node *stride)
{
    if (coord->kind != LA_TUPLE)
        return shape->kind == LA_TUPLE ? split_and_add(cx, coord, shape, stride) : la_mul(cx, coord, stride);
    need_same_rank(cx, coord, shape);
    if (la_rank(coord) == 0)
        la_fail(cx, LA_E_domain, "an empty shape has no coordinates");
    const struct la_node *sum = NULL, *s = shape + 1, *d = stride + 1;
    for (const struct la_node *c = coord + 1; c < coord + coord->span;
         c = la_next(c), s = la_next(s), d = la_next(d)) {
        const struct la_node *term = la_crd2idx(cx, c, s, d);
        sum = sum ? la_add(cx, sum, term) : term;
    }
    return sum;
}

static const struct la_node *apply_outer(struct la_ctx *cx, const struct la_value *outer,
                                         const struct la_node *x)
{
    if (outer->kind == LA_K_SWIZZLE) {
        if (x->kind != LA_INT || x->path)
            la_fail(cx, LA_E_kind, "a swizzle takes an integer, not %s", la_show(cx, x));
        return la_int(cx, la_swizzle_apply(outer->swizzle, x->value), x->is_static);
    }
    return la_layout_at(cx, outer->layout, x);
}

const struct la_node *la_layout_at(struct la_ctx *cx, struct la_layout a, const struct la_node *coord)
{
    const struct la_node *x = la_crd2idx(cx, coord, a.shape, a.stride);
    a = la_position_independent(cx, a);
    if (!a.outer)
        return x;
    const struct la_node *offset = a.offset->kind == LA_BITS ? la_int(cx, a.offset->value, false) : a.offset;
    return apply_outer(cx, a.outer, la_add(cx, offset, x));
}

/* Law: crd2idx(idx2crd(i)) = i for compact strides, leftmost first; the last mode of each tuple is not reduced. */
static const struct la_node *split_index(struct la_ctx *cx, const struct la_node *index,
                                         const struct la_node *shape)
{
    if (shape->kind != LA_TUPLE)
        return index;
    struct la_builder b;
    la_build(&b, cx);
    const uint32_t h = la_build_open(&b);
    const struct la_node *end = shape + shape->span;
    for (const struct la_node *s = shape + 1; s < end; s = la_next(s)) {
        const bool last = la_next(s) == end;
        const struct la_node *extent = la_product(cx, s);
        la_build_add(&b, split_index(cx, last ? index : la_mod(cx, index, extent), s));
        if (!last)
            index = la_div(cx, index, extent);
    }
    la_build_close(&b, h);
    return la_build_done(&b);
}

/* (index / stride) mod extent at each leaf; a static extent of 1 has no coordinate but 0. */
static const struct la_node *index_by_stride(struct la_ctx *cx, const struct la_node *index,
                                             const struct la_node *shape, const struct la_node *stride)
{
    if (shape->kind != LA_TUPLE)
        return la_is(shape, 1) ? la_zero : la_mod(cx, la_div(cx, index, stride), shape);
    if (stride->kind != LA_TUPLE)
        stride = la_compact_left_from(cx, shape, stride);
    if (la_rank(stride) != la_rank(shape))
        la_fail(cx, LA_E_rank_mismatch, "the stride %s does not fit the shape %s", la_show(cx, stride),
                la_show(cx, shape));
    struct la_builder b;
    la_build(&b, cx);
    const uint32_t h = la_build_open(&b);
    const struct la_node *d = stride + 1;
    for (const struct la_node *s = shape + 1; s < shape + shape->span; s = la_next(s), d = la_next(d))
        la_build_add(&b, index_by_stride(cx, index, s, d));
    la_build_close(&b, h);
    return la_build_done(&b);
}

const struct la_node *la_idx2crd(struct la_ctx *cx, const struct la_node *index, const struct la_node *shape,
                                 const struct la_node *stride)
{
    if (index->kind != LA_TUPLE)
        return stride ? index_by_stride(cx, index, shape, stride) : split_index(cx, index, shape);
    need_same_rank(cx, index, shape);
    if (stride && (stride->kind != LA_TUPLE || la_rank(stride) != la_rank(shape)))
        la_fail(cx, LA_E_rank_mismatch, "the stride %s does not fit the shape %s", la_show(cx, stride),
                la_show(cx, shape));
    struct la_builder b;
    la_build(&b, cx);
    const uint32_t h = la_build_open(&b);
    const struct la_node *s = shape + 1, *d = stride ? stride + 1 : NULL;
    for (const struct la_node *i = index + 1; i < index + index->span; i = la_next(i), s = la_next(s)) {
        la_build_add(&b, la_idx2crd(cx, i, s, d));
        d = d ? la_next(d) : NULL;
    }
    la_build_close(&b, h);
    return la_build_done(&b);
}

/* ---- compact strides ---- */

/* Strides for the leaves of shape from `*current` on, leftmost or rightmost first; *current goes on. */
static const struct la_node *compact(struct la_ctx *cx, const struct la_node *shape,
                                     const struct la_node **current, bool from_left)
{
    if (shape->kind != LA_TUPLE) {
        if (la_is(shape, 1))
            return la_zero;
        const struct la_node *stride = *current;
        *current = la_mul(cx, stride, shape);
        return stride;
    }
    struct la_node *out = la_alloc(cx, shape->span * sizeof *out);
    for (uint32_t k = 0; k < shape->span; k++) {
        const uint32_t i = from_left ? k : shape->span - 1 - k;
        out[i] = shape[i].kind == LA_TUPLE ? shape[i] : *compact(cx, shape + i, current, from_left);
    }
    for (uint32_t i = shape->span; i-- > 0;) {
        if (out[i].kind != LA_TUPLE)
            continue;
        out[i].is_static = true;
        for (const struct la_node *m = out + i + 1; m < out + i + out[i].span; m = la_next(m))
            out[i].is_static = out[i].is_static && m->is_static;
    }
    return out;
}

const struct la_node *la_compact_left_from(struct la_ctx *cx, const struct la_node *shape,
                                           const struct la_node *current)
{
    if (current->kind == LA_TUPLE)
        return la_map2(cx, shape, current, la_compact_left_from);
    return compact(cx, shape, &current, true);
}

const struct la_node *la_compact_right_from(struct la_ctx *cx, const struct la_node *shape,
                                            const struct la_node *current)
{
    if (current->kind == LA_TUPLE)
        return la_map2(cx, shape, current, la_compact_right_from);
    return compact(cx, shape, &current, false);
}

const struct la_node *la_compact_left(struct la_ctx *cx, const struct la_node *shape)
{
    return la_compact_left_from(cx, shape, la_one);
}

const struct la_node *la_compact_right(struct la_ctx *cx, const struct la_node *shape)
{
    return la_compact_right_from(cx, shape, la_one);
}

/* The terminals of an order and the extent that each of them orders. */
struct ordered {
    struct la_ctx *cx;
    uint32_t n;
    int64_t *rank; /* of a terminal: run-time ones come after all static ones, from left to right */
    const struct la_node **extent;
};

static void collect_order(struct ordered *o, const struct la_node *shape, const struct la_node *order)
{
    if (order->kind == LA_TUPLE) {
        if (shape->kind != LA_TUPLE || la_rank(shape) != la_rank(order))
            la_fail(o->cx, LA_E_rank_mismatch, "the order %s does not fit the shape %s",
                    la_show(o->cx, order), la_show(o->cx, shape));
        const struct la_node *s = shape + 1;
        for (const struct la_node *m = order + 1; m < order + order->span; m = la_next(m), s = la_next(s))
            collect_order(o, s, m);
        return;
    }
    o->rank[o->n] = la_to_i64(o->cx, order, "an order");
    o->extent[o->n++] = la_product(o->cx, shape);
}

/* Strides of the i-th terminal on: the product of the extents that come before it in the order. */
static const struct la_node *ordered_strides(struct ordered *o, uint32_t *i, const struct la_node *shape,
                                             const struct la_node *order)
{
    if (order->kind == LA_TUPLE) {
        struct la_builder b;
        la_build(&b, o->cx);
        const uint32_t h = la_build_open(&b);
        const struct la_node *s = shape + 1;
        for (const struct la_node *m = order + 1; m < order + order->span; m = la_next(m), s = la_next(s))
            la_build_add(&b, ordered_strides(o, i, s, m));
        la_build_close(&b, h);
        return la_build_done(&b);
    }
    const struct la_node *before = la_one;
    for (uint32_t k = 0; k < o->n; k++)
        if (o->rank[k] < o->rank[*i])
            before = la_mul(o->cx, before, o->extent[k]);
    (*i)++;
    return la_compact_left_from(o->cx, shape, before);
}

const struct la_node *la_compact_order(struct la_ctx *cx, const struct la_node *shape,
                                       const struct la_node *order)
{
    struct ordered o = {.cx = cx};
    o.rank = la_alloc(cx, order->span * sizeof *o.rank);
    o.extent = la_alloc(cx, order->span * sizeof *o.extent);
    collect_order(&o, shape, order);
    int64_t largest = 0;
    uint32_t k = 0;
    for (uint32_t i = 0; i < order->span; i++)
        if (order[i].kind == LA_INT && order[i].is_static && order[i].value > largest)
            largest = order[i].value;
    for (uint32_t i = 0; i < order->span; i++) {
        if (order[i].kind != LA_INT)
            continue;
        if (!order[i].is_static)
            o.rank[k] = la_add(cx, la_int(cx, largest, true), la_int(cx, (int64_t)k + 1, true))->value;
        k++;
    }
    uint32_t i = 0;
    return ordered_strides(&o, &i, shape, order);
}

/* ---- size of domain and codomain ---- */

const struct la_node *la_size(struct la_ctx *cx, struct la_layout a)
{
    return la_product(cx, a.shape);
}

static const struct la_node *plus_one(struct la_ctx *cx, const struct la_node *leaf)
{
    return la_add(cx, leaf, la_one);
}

/* The smallest coordinate C with layout(c) < C, element by element, for all c; of integers: the cosize. */
const struct la_node *la_coshape(struct la_ctx *cx, struct la_layout a)
{
    const struct la_layout forward = la_plain(a.shape, la_map_leaves(cx, a.stride, la_abs));
    const struct la_node *last = la_layout_at(cx, forward, la_sub(cx, la_size(cx, forward), la_one));
    return la_map_leaves(cx, la_as_tuple(cx, last), plus_one);
}

const struct la_node *la_cosize(struct la_ctx *cx, struct la_layout a)
{
    return la_product(cx, la_coshape(cx, a));
}

/* The profile of the values: _0 for integers, (_0,_0) for the values of bases over two modes. */
const struct la_node *la_coprofile(struct la_ctx *cx, struct la_layout a)
{
    const struct la_node *sum = la_zero;
    for (uint32_t i = 0; i < a.stride->span; i++) {
        const struct la_node *d = a.stride + i;
        if (d->kind != LA_INT || !d->path)
            continue;
        struct la_node unit = *d;
        unit.value = 1;
        unit.is_static = true;
        sum = la_add(cx, sum, la_as_tuple(cx, &unit));
    }
    return la_repeat_like(cx, sum, la_zero);
}
