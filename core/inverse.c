/* inverse.c: complement, which finds what a layout leaves out, and the right and left inverses.
 *
 *     complement((_2,_2):(_1,_6), _24)        (_3,_2):(_2,_12)
 *     right_inverse((_2,_4,_6):(_4,_1,_8))    (_4,_2,_6):(_2,_1,_8)
 *
 * All three sort the coalesced modes by stride and walk up from stride 1: complement fills the gaps, the inverses follow
 * the strides that meet without one. */
#include "internal.h"

/* ---- complement ---- */

struct mode {
    const struct la_node *shape, *stride;
};

/* Modes of a flat layout, by stride; equal strides stay in order. Modes are few: insertion sort. */
static uint32_t sorted_modes(struct la_ctx *cx, struct la_layout a, struct mode **out)
{
    const uint32_t n = la_rank(a.shape);
    struct mode *modes = la_alloc(cx, (n + 1) * sizeof *modes);
    const struct la_node *s = a.shape->kind == LA_TUPLE ? a.shape + 1 : a.shape,
                         *d = a.stride->kind == LA_TUPLE ? a.stride + 1 : a.stride;
    for (uint32_t i = 0; i < n; i++, s++, d++) {
        uint32_t k = i;
        for (; k > 0 && modes[k - 1].stride->value > d->value; k--)
            modes[k] = modes[k - 1];
        modes[k] = (struct mode){s, d};
    }
    *out = modes;
    return n;
}

static void need_plain_strides(struct la_ctx *cx, struct la_layout a)
{
    if (!la_all_integers(a.stride))
        la_fail(cx, LA_E_kind, "the strides of %s are not integers", la_show_layout(cx, a));
}

static void trace_gap(struct la_ctx *cx, const struct mode *mode, struct la_layout gap,
                      const struct la_node *reached)
{
    la_trace_indent(cx, 1);
    la_step(cx, "gap", la_value_layout(gap), 1,
            &(struct la_operand){"mode", la_value_layout(la_plain(mode->shape, mode->stride))},
            "before the stride %s there is room for %s; then %s is reached", la_show(cx, mode->stride),
            la_show(cx, gap.shape), la_show(cx, reached));
    la_trace_indent(cx, -1);
}

/* Law: complement(A, M) is ordered, disjoint from A but for 0, and, where each stride of A is a multiple of the span of
 * the smaller ones, size(A)*size(result) >= M.
 * Between each two strides of A lies a mode that fills the gap; behind the last one follows what M needs.
 * Without M: one more element, whose stride tells how the layout goes on: complement(3:2) = (2,1):(1,6). */
struct la_layout la_complement(struct la_ctx *cx, struct la_layout a, const struct la_node *cotarget)
{
    need_plain_strides(cx, a);
    a = la_filter(cx, la_inner(a));
    if (la_is(a.stride, 0))
        return cotarget ? la_layout_of(cx, la_coalesce_shape(cx, cotarget)) : la_plain(la_one, la_one);
    struct mode *modes;
    const uint32_t n = sorted_modes(cx, a, &modes);
    if (n > 1 && !a.stride->is_static)
        la_fail(cx, LA_E_dynamic_stride, "the strides %s must be static, unless there is only one",
                la_show(cx, a.stride));
    const struct la_node **shape = la_alloc(cx, (n + 1) * sizeof *shape),
                         **stride = la_alloc(cx, (n + 1) * sizeof *stride);
    const struct la_node *reached = la_one;
    for (uint32_t i = 0; i < n; i++) {
        shape[i] = la_div(cx, modes[i].stride, reached);
        stride[i] = reached;
        if (la_is(shape[i], 0))
            la_fail(cx, LA_E_non_injective,
                    "%s is not injective: the stride %s lies below %s, which is reached by then",
                    la_show_layout(cx, a), la_show(cx, modes[i].stride), la_show(cx, reached));
        reached = la_mul(cx, modes[i].stride, modes[i].shape);
        if (cx->trace)
            trace_gap(cx, &modes[i], la_plain(shape[i], stride[i]), reached);
    }
    const struct la_node *rest = cotarget ? la_coalesce_shape(cx, la_ceil_div(cx, cotarget, reached))
                                          : la_int(cx, 2, true);
    shape[n] = rest;
    stride[n] = la_compact_left_from(cx, rest, reached);
    const struct la_layout all = la_plain(la_tuple(cx, n + 1, shape), la_tuple(cx, n + 1, stride));
    struct la_layout result = la_coalesce(cx, all);
    if (!cotarget) { /* the last mode was 2 only so that coalesce kept it */
        struct la_node *s = la_alloc(cx, result.shape->span * sizeof *s);
        for (uint32_t i = 0; i < result.shape->span; i++)
            s[i] = result.shape[i];
        s[result.shape->span - 1] = *la_one;
        result.shape = s;
    }
    if (cx->trace) {
        const struct la_operand operands[] = {{"layout", la_value_layout(a)},
                                              {"cotarget", la_value_tuple(cotarget ? cotarget : reached)}};
        la_step(cx, "complement", la_value_layout(result), cotarget ? 2 : 1, operands,
                "the gaps, and what follows from %s on", la_show(cx, reached));
    }
    return result;
}

/* ---- inverses ---- */

struct keyed {
    const struct la_node *shape, *stride, *before; /* a mode and the product of the extents before it */
};

/* The coalesced modes of a, sorted by stride; run-time strides are left out. */
static uint32_t keyed_modes(struct la_ctx *cx, struct la_layout a, struct keyed **out)
{
    a = la_coalesce(cx, a);
    const uint32_t n = la_rank(a.shape);
    struct keyed *modes = la_alloc(cx, (n + 1) * sizeof *modes);
    const struct la_node *s = a.shape->kind == LA_TUPLE ? a.shape + 1 : a.shape,
                         *d = a.stride->kind == LA_TUPLE ? a.stride + 1 : a.stride;
    const struct la_node *before = la_one;
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++, s++, d++) {
        if (d->is_static) {
            uint32_t k = count++;
            for (; k > 0 && modes[k - 1].stride->value > d->value; k--)
                modes[k] = modes[k - 1];
            modes[k] = (struct keyed){s, d, before};
        }
        if (i + 1 < n)
            before = la_mul(cx, before, s);
    }
    *out = modes;
    return count;
}

static const struct la_node *negated(struct la_ctx *cx, const struct la_node *offset)
{
    return la_neg(cx, offset);
}

/* Of a composed layout A o O o B the inverse is B' o -O o A'; a swizzle is its own inverse. */
static struct la_layout inverse_composed(struct la_ctx *cx, struct la_layout a,
                                         struct la_layout (*inverse)(struct la_ctx *cx, struct la_layout a))
{
    a = la_position_independent(cx, a);
    if (!a.outer)
        return inverse(cx, a);
    const struct la_layout inner = inverse(cx, la_inner(a));
    if (a.outer->kind == LA_K_SWIZZLE && la_is(a.offset, 0))
        return la_composition(cx, inner, *a.outer);
    if (a.outer->kind != LA_K_LAYOUT)
        la_fail(cx, LA_E_kind, "a swizzled layout with the offset %s has no inverse that is a layout",
                la_show(cx, a.offset));
    struct la_layout result = inverse(cx, a.outer->layout);
    struct la_value *outer = la_alloc(cx, sizeof *outer);
    *outer = la_value_layout(inner);
    result.outer = outer;
    result.offset = negated(cx, a.offset);
    return result;
}

static void trace_follow(struct la_ctx *cx, const struct keyed *mode, const struct la_node *reached)
{
    la_step(cx, "follow", la_value_layout(la_plain(mode->shape, mode->before)), 1,
            &(struct la_operand){"mode", la_value_layout(la_plain(mode->shape, mode->stride))},
            "the stride %s comes next, and %s elements lie before this mode; then %s is reached",
            la_show(cx, mode->stride), la_show(cx, mode->before), la_show(cx, reached));
}

/* Law: for all i < size(result): A(result(i)) = i. Follow the strides from _1 on, as far as they go without a gap. */
struct la_layout la_right_inverse(struct la_ctx *cx, struct la_layout a)
{
    if (a.outer)
        return inverse_composed(cx, a, la_right_inverse);
    need_plain_strides(cx, a);
    struct keyed *modes;
    const uint32_t n = keyed_modes(cx, a, &modes);
    const struct la_node **shape = la_alloc(cx, (n + 1) * sizeof *shape),
                         **stride = la_alloc(cx, (n + 1) * sizeof *stride);
    uint32_t count = 0;
    shape[count] = la_one;
    stride[count++] = la_zero;
    const struct la_node *next = la_one;
    for (uint32_t i = 0; i < n; i++) {
        if (!la_proven_equal(modes[i].stride, next))
            continue;
        shape[count] = modes[i].shape;
        stride[count++] = modes[i].before;
        next = la_mul(cx, modes[i].shape, modes[i].stride);
        if (cx->trace)
            trace_follow(cx, &modes[i], next);
    }
    return la_coalesce(cx, la_plain(la_tuple(cx, count, shape), la_tuple(cx, count, stride)));
}

/* Law: for all i < size(A): A(result(A(i))) = A(i); of an injective A: result(A(i)) = i. */
struct la_layout la_left_inverse(struct la_ctx *cx, struct la_layout a)
{
    if (a.outer)
        return inverse_composed(cx, a, la_left_inverse);
    need_plain_strides(cx, a);
    if (!la_coalesce(cx, a).stride->is_static)
        la_fail(cx, LA_E_dynamic_stride, "the strides %s must be static", la_show(cx, a.stride));
    struct keyed *modes;
    const uint32_t n = keyed_modes(cx, a, &modes);
    const struct la_node **shape = la_alloc(cx, (n + 1) * sizeof *shape),
                         **stride = la_alloc(cx, (n + 1) * sizeof *stride);
    uint32_t count = 0;
    const struct la_node *reached = la_one;
    stride[0] = la_zero;
    for (uint32_t i = 0; i < n; i++) {
        if (la_is(modes[i].stride, 0))
            continue;
        if (la_mod(cx, modes[i].stride, reached)->value != 0)
            la_fail(cx, LA_E_divisibility,
                    "the stride %s is not a multiple of %s, the span of the smaller strides",
                    la_show(cx, modes[i].stride), la_show(cx, reached));
        shape[count] = la_div(cx, modes[i].stride, reached);
        reached = la_mul(cx, reached, shape[count]);
        stride[++count] = modes[i].before;
        if (cx->trace)
            trace_follow(cx, &modes[i], reached);
    }
    shape[count++] = n > 0 ? modes[n - 1].shape : la_one;
    return la_coalesce(cx, la_plain(la_tuple(cx, count, shape), la_tuple(cx, count, stride)));
}

/* ---- the operations ---- */

static struct la_value op_complement(struct la_ctx *cx, const struct la_call *call)
{
    const struct la_node *cotarget = NULL;
    if (call->argc > 1)
        cotarget = call->args[1].kind & LA_K_LAYOUT ? call->args[1].layout.shape : call->args[1].tuple;
    return la_value_layout(la_complement(cx, call->args[0].layout, cotarget));
}

static struct la_value op_right_inverse(struct la_ctx *cx, const struct la_call *call)
{
    const struct la_value a = call->args[0];
    if (a.kind == LA_K_INT)
        return la_value_tuple(negated(cx, a.tuple));
    return (a.kind & LA_K_ANYLAYOUT) ? la_value_layout(la_right_inverse(cx, a.layout)) : a;
}

static struct la_value op_left_inverse(struct la_ctx *cx, const struct la_call *call)
{
    const struct la_value a = call->args[0];
    if (a.kind == LA_K_INT)
        return la_value_tuple(negated(cx, a.tuple));
    return (a.kind & LA_K_ANYLAYOUT) ? la_value_layout(la_left_inverse(cx, a.layout)) : a;
}

#define INVERTIBLE (LA_K_ANYLAYOUT | LA_K_SWIZZLE | LA_K_ANY | LA_K_INT)

const struct la_op la_ops_inverse[] = {
    {.name = "complement",
     .doc = "What the layout leaves out below a codomain size; without one, how it goes on.",
     .law = "complement(A, M) is ordered and meets A only in 0",
     .params = {{"layout", LA_K_ANYLAYOUT}, {"cotarget", LA_K_INTTUPLE | LA_K_LAYOUT | LA_OPTIONAL}},
     .gives = LA_K_LAYOUT,
     .run = op_complement,
     .example = "complement((_2,_2):(_1,_6), _24)",
     .result = "(_3,_2):(_2,_12)"},
    {.name = "right_inverse",
     .doc = "The largest layout R of which A undoes the effect.",
     .law = "for all i < size(R): A(R(i)) = i",
     .params = {{"layout", INVERTIBLE}},
     .gives = INVERTIBLE,
     .run = op_right_inverse,
     .example = "right_inverse((_2,_4,_6):(_4,_1,_8))",
     .result = "(_4,_2,_6):(_2,_1,_8)"},
    {.name = "left_inverse",
     .doc = "The layout L that undoes the effect of A, where A is injective.",
     .law = "for all i < size(A): A(L(A(i))) = A(i)",
     .params = {{"layout", INVERTIBLE}},
     .gives = INVERTIBLE,
     .run = op_left_inverse,
     .example = "left_inverse((_4,_2):(_1,_16))",
     .result = "(_16,_2):(_1,_4)"},
    {0}};
