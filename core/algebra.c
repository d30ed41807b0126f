/* algebra.c: coalesce and composition: all else is written with them.
 *
 *     coalesce((_2,(_1,_6)):(_1,(_6,_2)))            _12:_1
 *     composition((_6,_2):(_8,_2), (_4,_3):(_3,_1))  ((_2,_2),_3):((_24,_2),_8)
 *
 * Where CuTe decides by what it can prove from static integers, so does this: a run-time 1 is not a static 1.
 * Each refusal of CuTe's is an error that shows the numbers. */
#include "internal.h"

/* ---- coalesce ---- */

/* A flat layout that grows at the front: modes are stored from the last to the first. */
struct reversed {
    uint32_t n;
    const struct la_node **shape, **stride;
};

static struct la_layout reversed_done(struct la_ctx *cx, const struct reversed *r)
{
    if (r->n == 1)
        return la_is(r->shape[0], 1) ? la_plain(la_one, la_zero) : la_plain(r->shape[0], r->stride[0]);
    struct la_node *shape = la_alloc(cx, (r->n + 1) * sizeof *shape),
                   *stride = la_alloc(cx, (r->n + 1) * sizeof *stride);
    shape[0] = stride[0] = (struct la_node){
        .value = r->n, .span = r->n + 1, .kind = LA_TUPLE, .is_static = true};
    for (uint32_t i = 0; i < r->n; i++) {
        shape[1 + i] = *r->shape[r->n - 1 - i];
        stride[1 + i] = *r->stride[r->n - 1 - i];
        shape[0].is_static = shape[0].is_static && shape[1 + i].is_static;
        stride[0].is_static = stride[0].is_static && stride[1 + i].is_static;
    }
    return la_plain(shape, stride);
}

/* From the last mode to the first: drop static 1s; merge s:d into (s':d') in front of it when both are static and
 * s*d == d' can be proved; else keep. The last mode may be given another extent (see la_coalesce_x). */
static struct la_layout coalesce_from(struct la_ctx *cx, struct la_layout a, const struct la_node *last_shape)
{
    const struct la_node *shape = la_flatten(cx, a.shape), *stride = la_flatten(cx, a.stride);
    const uint32_t rank = la_rank(shape);
    if (rank == 0)
        la_fail(cx, LA_E_domain, "a layout of no modes cannot be coalesced");
    if (shape->kind == LA_TUPLE)
        shape++, stride++;
    struct reversed r = {.n = 1};
    r.shape = la_alloc(cx, rank * sizeof *r.shape);
    r.stride = la_alloc(cx, rank * sizeof *r.stride);
    r.shape[0] = last_shape ? last_shape : shape + rank - 1;
    r.stride[0] = stride + rank - 1;
    for (uint32_t i = rank - 1; i-- > 0;) {
        const struct la_node *s = shape + i, *d = stride + i;
        const struct la_node **front_s = &r.shape[r.n - 1], **front_d = &r.stride[r.n - 1];
        if (la_is(s, 1))
            continue;
        if (r.n == 1 && la_is(*front_s, 1)) {
            *front_s = s;
            *front_d = d;
        } else if ((*front_s)->is_static && (*front_d)->is_static && (d->is_static || la_is(d, 0)) &&
                   la_proven_equal(la_mul(cx, s, d), *front_d)) {
            *front_s = la_mul(cx, s, *front_s);
            *front_d = d;
        } else {
            r.shape[r.n] = s;
            r.stride[r.n++] = d;
        }
    }
    return reversed_done(cx, &r);
}

/* Law: for all i < size(A): coalesce(A)(i) = A(i); the depth is at most 1. */
struct la_layout la_coalesce(struct la_ctx *cx, struct la_layout a)
{
    return coalesce_from(cx, a, NULL);
}

/* Law: coalesce_x(A)(i) = A(i) for all i, beyond the size too: a last mode of static extent 1 is kept as 2. */
struct la_layout la_coalesce_x(struct la_ctx *cx, struct la_layout a)
{
    const struct la_node *last = a.shape + a.shape->span - 1;
    return coalesce_from(cx, a, la_is(last, 1) ? la_int(cx, 2, true) : NULL);
}

static struct la_layout over_profile(struct la_ctx *cx, struct la_layout a, const struct la_node *profile,
                                     struct la_layout (*self)(struct la_ctx *cx, struct la_layout a,
                                                              const struct la_node *tiler),
                                     struct la_layout (*f)(struct la_ctx *cx, struct la_layout a))
{
    return profile->kind == LA_TUPLE ? la_map_modes(cx, a, profile, true, self) : f(cx, a);
}

struct la_layout la_coalesce_profile(struct la_ctx *cx, struct la_layout a, const struct la_node *profile)
{
    return over_profile(cx, a, profile, la_coalesce_profile, la_coalesce);
}

static struct la_layout coalesce_x_profile(struct la_ctx *cx, struct la_layout a,
                                           const struct la_node *profile)
{
    return over_profile(cx, a, profile, coalesce_x_profile, la_coalesce_x);
}

/* Law: the values of filter(A) are those of A; no mode has extent 1 or stride 0, unless it is _1:_0. */
struct la_layout la_filter(struct la_ctx *cx, struct la_layout a)
{
    return la_coalesce(cx, la_plain(la_filter_zeros(cx, a.stride, a.shape), a.stride));
}

static struct la_layout filter_profile(struct la_ctx *cx, struct la_layout a, const struct la_node *profile)
{
    return over_profile(cx, a, profile, filter_profile, la_filter);
}

/* ---- composition ---- */

struct remaining {
    const struct la_node *shape,
        *stride; /* of the right layout's mode, not yet spent on modes of the left one */
};

static void check_stride(struct la_ctx *cx, const struct la_node *extent, const struct remaining *rest,
                         uint32_t mode)
{
    if (extent->is_static && rest->stride->is_static && la_mod(cx, rest->stride, extent)->value != 0 &&
        rest->stride->value >= extent->value)
        la_fail(cx, LA_E_stride_divisibility,
                "the stride %s does not fit mode %u of the left layout: its extent %s does not divide the "
                "stride, and "
                "the stride is not below the extent",
                la_show(cx, rest->stride), mode, la_show(cx, extent));
}

static void check_shape(struct la_ctx *cx, const struct la_node *taken, const struct remaining *rest,
                        uint32_t mode)
{
    if (taken->is_static && rest->shape->is_static && la_mod(cx, rest->shape, taken)->value != 0)
        la_fail(cx, LA_E_shape_divisibility,
                "the extent %s does not fit mode %u of the left layout, which has %s elements for it: %s "
                "does not "
                "divide %s",
                la_show(cx, rest->shape), mode, la_show(cx, taken), la_show(cx, taken),
                la_show(cx, rest->shape));
}

static void trace_mode(struct la_ctx *cx, struct la_layout mode, struct la_layout taken,
                       const struct la_node *rest, uint32_t i)
{
    const struct la_operand operands[] = {{"mode", la_value_layout(mode)}, {"rest", la_value_tuple(rest)}};
    la_step(cx, "mode", la_value_layout(taken), 2, operands,
            "mode %u of the left layout gives %s elements; %s times that is sought behind it", i,
            la_show(cx, taken.shape), la_show(cx, rest));
}

/* One leaf s:d of the right layout over the flat left one: skip d elements, mode by mode, then keep s of them. */
static struct la_layout compose_leaf(struct la_ctx *cx, struct la_layout a, const struct la_node *s,
                                     const struct la_node *d)
{
    if (la_is(d, 0))
        return la_plain(s, d);
    if (a.shape->kind != LA_TUPLE)
        return la_plain(s, la_mul(cx, d, a.stride));
    const uint32_t rank = la_rank(a.shape);
    if (rank == 0)
        la_fail(cx, LA_E_domain, "the left layout has no modes");
    const struct la_node **shape = la_alloc(cx, rank * sizeof *shape),
                         **stride = la_alloc(cx, rank * sizeof *stride);
    uint32_t n = 0;
    struct remaining rest = {s, d};
    const struct la_node *extent = a.shape + 1, *step = a.stride + 1;
    for (uint32_t i = 0; i + 1 < rank; i++, extent = la_next(extent), step = la_next(step)) {
        check_stride(cx, extent, &rest, i);
        const struct la_node *distance = la_abs(cx, rest.stride);
        const struct la_node *reachable = la_ceil_div(cx, extent, distance);
        const struct la_node *next = la_mul(cx, la_ceil_div(cx, distance, extent),
                                            la_signum(cx, rest.stride));
        if (!la_is(reachable, 1) && !la_is(rest.shape, 1)) {
            const struct la_node *taken = la_min(cx, reachable, rest.shape);
            check_shape(cx, taken, &rest, i);
            shape[n] = taken;
            stride[n++] = la_mul(cx, rest.stride, step);
            rest.shape = la_div(cx, rest.shape, taken);
            if (cx->trace)
                trace_mode(cx, la_plain(extent, step), la_plain(taken, stride[n - 1]), rest.shape, i);
        }
        rest.stride = next;
    }
    if (n == 0 || !la_is(rest.shape, 1)) {
        shape[n] = rest.shape;
        stride[n++] = la_mul(cx, rest.stride, step);
    }
    const struct la_layout result = n == 1 ? la_plain(shape[0], stride[0])
                                           : la_plain(la_tuple(cx, n, shape), la_tuple(cx, n, stride));
    if (cx->trace) {
        const struct la_operand operands[] = {{"left", la_value_layout(a)},
                                              {"leaf", la_value_layout(la_plain(s, d))}};
        la_step(cx, "leaf", la_value_layout(result), 2, operands, "the left layout over the leaf %s:%s",
                la_show(cx, s), la_show(cx, d));
    }
    return result;
}

/* Composition distributes over the modes of the right layout; a basis stride picks a mode of the left one. */
static struct la_layout compose_flat(struct la_ctx *cx, struct la_layout a, const struct la_node *s,
                                     const struct la_node *d)
{
    if (s->kind == LA_TUPLE) {
        const uint32_t n = la_rank(s);
        struct la_layout *parts = la_alloc(cx, (n + 1) * sizeof *parts);
        const struct la_node *m = s + 1, *md = d + 1;
        for (uint32_t i = 0; i < n; i++, m = la_next(m), md = la_next(md))
            parts[i] = compose_flat(cx, a, m, md);
        return la_layout_concat(cx, n, parts);
    }
    if (la_is_basis(d)) {
        const struct la_layout mode = la_plain(la_get(cx, a.shape, d->path->len, d->path->at),
                                               la_get(cx, a.stride, d->path->len, d->path->at));
        return compose_flat(cx, mode, s, la_basis_value(cx, d));
    }
    return compose_leaf(cx, a, s, d);
}

static struct la_layout compose_layouts(struct la_ctx *cx, struct la_layout a, struct la_layout b)
{
    const struct la_layout flat = coalesce_x_profile(cx, a, la_coprofile(cx, b));
    if (!cx->trace)
        return compose_flat(cx, flat, b.shape, b.stride);
    la_trace_indent(cx, 1);
    la_step(cx, "coalesce", la_value_layout(flat), 1, &(struct la_operand){"left", la_value_layout(a)},
            "the left layout, simplified; a last mode of static extent 1 counts as 2, for it goes on");
    const struct la_layout result = compose_flat(cx, flat, b.shape, b.stride);
    la_trace_indent(cx, -1);
    const struct la_operand operands[] = {{"a", la_value_layout(a)}, {"b", la_value_layout(b)}};
    la_step(cx, "composition", la_value_layout(result), 2, operands, "A over each leaf of B, in B's shape");
    return result;
}

/* A tiler works by mode when it is a tuple, as a whole when it is a layout or an integer; _ keeps the mode. */
static struct la_layout compose_tiler(struct la_ctx *cx, struct la_layout a, const struct la_node *tiler)
{
    switch (tiler->kind) {
    case LA_TUPLE:
        return la_map_modes(cx, a, tiler, false, compose_tiler);
    case LA_ANY:
        return a;
    case LA_INT:
        return compose_flat(cx, la_coalesce_x(cx, a), tiler, la_one);
    default:
        return compose_layouts(cx, a, la_leaf_layout(cx, tiler));
    }
}

static struct la_layout compose_composed(struct la_ctx *cx, struct la_layout a, struct la_value b);

/* Law: for all c in the domain of B: composition(A, B)(c) = A(B(c)); compatible(B, result). */
struct la_layout la_composition(struct la_ctx *cx, struct la_layout a, struct la_value b)
{
    if (a.outer)
        return la_rewrap(a, la_composition(cx, la_inner(a), b));
    if (b.kind == LA_K_COMPOSED)
        b = la_value_layout(la_position_independent(cx, b.layout));
    if (b.kind == LA_K_LAYOUT)
        return compose_layouts(cx, a, b.layout);
    if (b.kind & (LA_K_COMPOSED | LA_K_SWIZZLE))
        return compose_composed(cx, a, b);
    return compose_tiler(cx, a, la_value_node(cx, b));
}

/* A plain layout before a swizzle: the swizzle passes to the left, with its bits where the layout puts them. */
static struct la_layout compose_composed(struct la_ctx *cx, struct la_layout a, struct la_value b)
{
    if (b.kind == LA_K_SWIZZLE) {
        const struct la_swizzle s = b.swizzle;
        const struct la_node *y = la_layout_at(cx, a, la_int(cx, la_swizzle_y(s), true));
        const struct la_node *z = la_layout_at(cx, a, la_int(cx, la_swizzle_z(s), true));
        if (!y->is_static || !z->is_static)
            la_fail(cx, LA_E_dynamic_stride, "a swizzle passes through static layouts only, not %s",
                    la_show_layout(cx, a));
        const struct la_swizzle moved = la_swizzle_of_masks(
            cx, la_to_i64(cx, y, "the image of a swizzle's bits"),
            la_to_i64(cx, z, "the image of a swizzle's bits"));
        return la_compose_swizzle(cx, moved, la_zero, a);
    }
    if (!la_is(b.layout.offset, 0))
        la_fail(cx, LA_E_kind, "the offset %s of the right layout must be _0", la_show(cx, b.layout.offset));
    const struct la_layout left = la_composition(cx, a, *b.layout.outer);
    return la_composition(cx, left, la_value_layout(la_inner(b.layout)));
}

/* ---- the operations ---- */

static struct la_value op_coalesce(struct la_ctx *cx, const struct la_call *call)
{
    const struct la_value a = call->args[0];
    if (a.kind & LA_K_INTTUPLE)
        return la_value_tuple(la_coalesce_shape(cx, a.tuple));
    const struct la_layout inner = la_inner(a.layout);
    return la_value_layout(la_rewrap(a.layout, call->argc > 1
                                                   ? la_coalesce_profile(cx, inner, call->args[1].tuple)
                                                   : la_coalesce(cx, inner)));
}

static struct la_value op_filter(struct la_ctx *cx, const struct la_call *call)
{
    const struct la_layout a = call->args[0].layout, inner = la_inner(a);
    return la_value_layout(
        la_rewrap(a, call->argc > 1 ? filter_profile(cx, inner, call->args[1].tuple) : la_filter(cx, inner)));
}

static struct la_value op_filter_zeros(struct la_ctx *cx, const struct la_call *call)
{
    const struct la_value a = call->args[0];
    if (a.kind & LA_K_INTTUPLE)
        return la_value_tuple(la_filter_zeros(cx, a.tuple, call->argc > 1 ? call->args[1].tuple : a.tuple));
    const struct la_node *guide = call->argc > 1 ? call->args[1].tuple : a.layout.stride;
    struct la_layout result = a.layout;
    result.shape = la_filter_zeros(cx, guide, a.layout.shape);
    return la_value_layout(result);
}

static struct la_value compose_swizzles(struct la_ctx *cx, struct la_swizzle a, struct la_swizzle b)
{
    if (a.shift != b.shift)
        la_fail(cx, LA_E_other,
                "Sw<%d,%d,%d> and Sw<%d,%d,%d> cannot be merged: their shifts %d and %d differ", a.bits,
                a.base, a.shift, b.bits, b.base, b.shift, a.shift, b.shift);
    const int64_t y = la_swizzle_y(a) ^ la_swizzle_y(b), z = la_swizzle_z(a) ^ la_swizzle_z(b);
    return (struct la_value){.kind = LA_K_SWIZZLE, .swizzle = la_swizzle_of_masks(cx, y, z)};
}

static struct la_value op_composition(struct la_ctx *cx, const struct la_call *call)
{
    const struct la_value a = call->args[0], last = call->args[call->argc - 1];
    if (call->argc == 3) { /* composition(A, offset, B): make_composed_layout */
        if (!(a.kind & (LA_K_SWIZZLE | LA_K_LAYOUT)) || !(call->args[1].kind & LA_K_INTTUPLE) ||
            last.kind != LA_K_LAYOUT)
            la_fail(cx, LA_E_kind,
                    "with three arguments it takes a swizzle or a layout, an offset and a layout");
        if (a.kind == LA_K_SWIZZLE)
            return la_value_layout(la_compose_swizzle(cx, a.swizzle, call->args[1].tuple, last.layout));
        struct la_value *outer = la_alloc(cx, sizeof *outer);
        *outer = a;
        struct la_layout result = last.layout;
        result.outer = outer;
        result.offset = call->args[1].tuple;
        return la_value_layout(result);
    }
    if (a.kind == LA_K_SWIZZLE) {
        if (last.kind == LA_K_SWIZZLE)
            return compose_swizzles(cx, a.swizzle, last.swizzle);
        if (last.kind != LA_K_LAYOUT)
            la_fail_arg(cx, 1, LA_E_kind, "a swizzle is composed with a layout or a swizzle");
        return la_value_layout(la_compose_swizzle(cx, a.swizzle, la_zero, last.layout));
    }
    return la_value_layout(la_composition(cx, a.layout, last));
}

const struct la_op la_ops_algebra[] = {
    {.name = "coalesce",
     .doc = "The simplest layout with the same values; with a profile, of each mode of the profile.",
     .law = "for all i < size(A): coalesce(A)(i) = A(i)",
     .params = {{"layout", LA_K_ANYLAYOUT | LA_K_INTTUPLE}, {"profile", LA_K_INTTUPLE | LA_OPTIONAL}},
     .gives = LA_K_ANYLAYOUT | LA_K_INTTUPLE,
     .run = op_coalesce,
     .example = "coalesce((_2,(_1,_6)):(_1,(_6,_2)))",
     .result = "_12:_1"},
    {.name = "filter",
     .doc = "The layout without its modes of extent 1 and of stride 0.",
     .law = "the values of filter(A) are those of A",
     .params = {{"layout", LA_K_ANYLAYOUT}, {"profile", LA_K_INTTUPLE | LA_OPTIONAL}},
     .gives = LA_K_ANYLAYOUT,
     .run = op_filter,
     .example = "filter((_2,(_3,_4)):(_0,(_0,_1)))",
     .result = "_4:_1"},
    {.name = "filter_zeros",
     .doc = "The layout with an extent of 1 where the stride, or the given guide, is 0.",
     .params = {{"layout", LA_K_ANYLAYOUT | LA_K_INTTUPLE}, {"guide", LA_K_INTTUPLE | LA_OPTIONAL}},
     .gives = LA_K_ANYLAYOUT | LA_K_INTTUPLE,
     .run = op_filter_zeros,
     .example = "filter_zeros((_2,_3):(_0,_1))",
     .result = "(_1,_3):(_0,_1)"},
    {.name = "composition",
     .doc = "The layout A o B. A tuple as B works mode by mode, a layout or an integer as a whole.",
     .law = "for all c in the domain of B: composition(A, B)(c) = A(B(c))",
     .params = {{"a", LA_K_ANYLAYOUT | LA_K_SWIZZLE},
                {"b", LA_K_TILER | LA_K_COMPOSED | LA_K_SWIZZLE},
                {"c", LA_K_LAYOUT | LA_OPTIONAL}},
     .gives = LA_K_ANYLAYOUT | LA_K_SWIZZLE,
     .run = op_composition,
     .example = "composition((_6,_2):(_8,_2), (_4,_3):(_3,_1))",
     .result = "((_2,_2),_3):((_24,_2),_8)"},
    {0}};
