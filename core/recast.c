/* recast.c: layouts of one element type seen as layouts of another, and how many elements go together.
 *
 * upcast<N> counts in units of N elements: strides are divided, and a stride below N divides the extent instead.
 * max_common_vector(a, b) is how many elements follow one another in both a and b: the width of a vector copy. */
#include "internal.h"

/* ---- upcast and downcast ---- */

static struct la_layout upcast_leaf(struct la_ctx *cx, const struct la_node *s, const struct la_node *d,
                                    const struct la_node *n)
{
    if (la_is(d, 0))
        return la_plain(s, d);
    if (la_is_basis(d))
        la_fail(cx, LA_E_kind, "the stride %s is not an integer", la_show(cx, d));
    if (!d->is_static) /* CuTe takes a run-time stride for a multiple of n */
        return la_plain(s, la_div(cx, d, n));
    if (d->value % n->value != 0 && n->value % d->value != 0)
        la_fail(cx, LA_E_divisibility, "neither the stride %s nor %s divides the other", la_show(cx, d),
                la_show(cx, n));
    const struct la_node *size = la_abs(cx, d);
    return la_plain(la_ceil_div(cx, s, la_ceil_div(cx, n, size)),
                    la_mul(cx, la_signum(cx, d), la_ceil_div(cx, size, n)));
}

static struct la_layout downcast_leaf(struct la_ctx *cx, const struct la_node *s, const struct la_node *d,
                                      const struct la_node *n)
{
    if (la_is(d, 1) || la_is(d, -1))
        return la_plain(la_mul(cx, s, n), d);
    return la_plain(s, la_mul(cx, d, n));
}

static struct la_layout cast(struct la_ctx *cx, struct la_layout a, const struct la_node *n,
                             struct la_layout (*leaf)(struct la_ctx *cx, const struct la_node *s,
                                                      const struct la_node *d, const struct la_node *n))
{
    if (a.shape->kind != LA_TUPLE)
        return leaf(cx, a.shape, a.stride, n);
    const uint32_t rank = la_rank(a.shape);
    struct la_layout *parts = la_alloc(cx, (rank + 1) * sizeof *parts);
    const struct la_node *s = a.shape + 1, *d = a.stride + 1;
    for (uint32_t i = 0; i < rank; i++, s = la_next(s), d = la_next(d))
        parts[i] = cast(cx, la_plain(s, d), n, leaf);
    return la_layout_concat(cx, rank, parts);
}

static int log2_of(struct la_ctx *cx, int64_t n)
{
    if (n <= 0 || (n & (n - 1)) != 0)
        la_fail(cx, LA_E_domain, "a swizzle is recast by powers of two, not by %lld", (long long)n);
    return __builtin_ctzll((uint64_t)n);
}

static struct la_swizzle upcast_swizzle(struct la_ctx *cx, struct la_swizzle s, int64_t n)
{
    s.base -= log2_of(cx, n);
    if (s.base < 0) {
        s.bits = s.bits + s.base > 0 ? s.bits + s.base : 0;
        s.base = 0;
    }
    return s;
}

static struct la_swizzle downcast_swizzle(struct la_ctx *cx, struct la_swizzle s, int64_t n)
{
    return la_make_swizzle(cx, s.bits, s.base + log2_of(cx, n), s.shift);
}

static const struct la_node *upcast_offset(struct la_ctx *cx, const struct la_node *offset,
                                           const struct la_node *n)
{
    if (offset->kind != LA_INT || offset->path || offset->value % n->value != 0)
        la_fail(cx, LA_E_divisibility, "the offset %s is not a multiple of %s", la_show(cx, offset),
                la_show(cx, n));
    return la_div(cx, offset, n);
}

/* A swizzle of bytes stays what it is: only the bits of an element change. */
static struct la_value reflagged(struct la_ctx *cx, struct la_layout a, struct la_layout inner, int64_t bits)
{
    a.offset = la_smem_flag(cx, bits);
    return la_value_layout(la_rewrap(a, inner));
}

struct la_value la_upcast(struct la_ctx *cx, struct la_value v, const struct la_node *n)
{
    if (v.kind == LA_K_SWIZZLE)
        return (struct la_value){.kind = LA_K_SWIZZLE, .swizzle = upcast_swizzle(cx, v.swizzle, n->value)};
    const struct la_layout inner = cast(cx, la_inner(v.layout), n, upcast_leaf);
    if (!v.layout.outer)
        return la_value_layout(inner);
    if (v.layout.offset->kind == LA_SMEM) {
        const struct la_node *bits = la_mul(cx, la_int(cx, v.layout.offset->value, true), n);
        return reflagged(cx, v.layout, inner, bits->value);
    }
    const struct la_value outer = la_upcast(cx, *v.layout.outer, n);
    const struct la_node *offset = upcast_offset(cx, v.layout.offset, n);
    if (outer.kind == LA_K_SWIZZLE)
        return la_value_layout(la_compose_swizzle(cx, outer.swizzle, offset, inner));
    return la_value_layout(la_rewrap((struct la_layout){.outer = v.layout.outer, .offset = offset}, inner));
}

static bool has_static_one(const struct la_node *stride)
{
    for (uint32_t i = 0; i < stride->span; i++)
        if (la_is(stride + i, 1))
            return true;
    return false;
}

static struct la_value downcast(struct la_ctx *cx, struct la_value v, const struct la_node *n)
{
    if (v.kind == LA_K_SWIZZLE)
        return (struct la_value){.kind = LA_K_SWIZZLE, .swizzle = downcast_swizzle(cx, v.swizzle, n->value)};
    if (!has_static_one(v.layout.stride))
        la_fail(cx, LA_E_not_contiguous, "%s has no mode of static stride 1, so its elements cannot be split",
                la_show_layout(cx, la_inner(v.layout)));
    const struct la_layout inner = cast(cx, la_inner(v.layout), n, downcast_leaf);
    if (!v.layout.outer)
        return la_value_layout(inner);
    if (v.layout.outer->kind != LA_K_SWIZZLE)
        la_fail(cx, LA_E_kind, "only swizzled layouts are recast, not layouts of layouts");
    if (v.layout.offset->kind == LA_SMEM) {
        const int64_t bits = v.layout.offset->value;
        if (bits % n->value != 0)
            la_fail(cx, LA_E_divisibility, "an element of %lld bits cannot be split into %s", (long long)bits,
                    la_show(cx, n));
        return reflagged(cx, v.layout, inner, bits / n->value);
    }
    return la_value_layout(la_compose_swizzle(cx, downcast_swizzle(cx, v.layout.outer->swizzle, n->value),
                                              la_mul(cx, v.layout.offset, n), inner));
}

static const struct la_node *factor(struct la_ctx *cx, const struct la_call *call)
{
    if (call->targc != 1 || call->targs[0].kind != LA_K_INT || call->targs[0].tuple->value < 1)
        la_fail(cx, LA_E_arity, "it takes one positive integer in <...>");
    return la_int(cx, call->targs[0].tuple->value, true);
}

static struct la_value op_upcast(struct la_ctx *cx, const struct la_call *call)
{
    return la_upcast(cx, call->args[0], factor(cx, call));
}

static struct la_value op_downcast(struct la_ctx *cx, const struct la_call *call)
{
    return downcast(cx, call->args[0], factor(cx, call));
}

static const struct la_node *bits_of(struct la_ctx *cx, const struct la_call *call, uint32_t i)
{
    if (call->targs[i].kind != LA_K_TYPE || call->targs[i].type->bits == 0)
        la_fail(cx, LA_E_kind, "<...> names the old and the new element type, for example <half_t,float>");
    return la_int(cx, call->targs[i].type->bits, true);
}

struct la_value la_recast(struct la_ctx *cx, struct la_value v, const struct la_node *old,
                          const struct la_node *new)
{
    const struct la_node *common = la_gcd(cx, old, new);
    const struct la_node *up = la_div(cx, new, common), *down = la_div(cx, old, common);
    if (up->value != 1)
        v = la_upcast(cx, v, up);
    return down->value != 1 ? downcast(cx, v, down) : v;
}

static struct la_value op_recast_layout(struct la_ctx *cx, const struct la_call *call)
{
    if (call->targc != 2)
        la_fail(cx, LA_E_arity, "it takes two types in <...>, the old and the new one");
    return la_recast(cx, call->args[0], bits_of(cx, call, 0), bits_of(cx, call, 1));
}

/* ---- alignment and common vectors ---- */

static struct la_layout static_part(struct la_ctx *cx, struct la_layout a)
{
    struct la_node *s = la_alloc(cx, a.shape->span * sizeof *s), *d = la_alloc(cx, a.shape->span * sizeof *d);
    for (uint32_t i = 0; i < a.shape->span; i++) {
        const bool tuple = a.shape[i].kind == LA_TUPLE;
        s[i] = tuple || a.shape[i].is_static ? a.shape[i] : *la_one;
        d[i] = tuple || a.stride[i].is_static ? a.stride[i] : *la_zero;
        s[i].is_static = d[i].is_static = true;
    }
    return la_plain(s, d);
}

/* Law: the largest N for which upcast<N>(A) exists; run-time strides are taken as multiples of everything. */
static const struct la_node *max_alignment(struct la_ctx *cx, struct la_layout a)
{
    const struct la_layout known = static_part(cx, la_coalesce(cx, a));
    const struct la_layout permuted = la_logical_divide(cx, known,
                                                        la_value_layout(la_right_inverse(cx, known)));
    const struct la_node *alignment = la_product(cx, la_mode(cx, permuted.shape, 0));
    const struct la_node *strides = la_mode(cx, permuted.stride, 1);
    for (uint32_t i = 0; i < strides->span; i++)
        if (strides[i].kind == LA_INT)
            alignment = la_gcd(cx, alignment, strides + i);
    return alignment;
}

static struct la_value op_max_alignment(struct la_ctx *cx, const struct la_call *call)
{
    struct la_value v = call->args[0];
    if (v.kind == LA_K_SWIZZLE)
        return la_value_tuple(la_int(cx, (int64_t)1 << v.swizzle.base, true));
    v.layout = la_position_independent(cx, v.layout);
    const struct la_node *inner = max_alignment(cx, la_inner(v.layout));
    if (!v.layout.outer)
        return la_value_tuple(inner);
    if (v.layout.outer->kind != LA_K_SWIZZLE)
        la_fail(cx, LA_E_kind, "only layouts and swizzled layouts have an alignment");
    const struct la_node *base = la_int(cx, (int64_t)1 << v.layout.outer->swizzle.base, true),
                         *offset = v.layout.offset;
    if (offset->kind == LA_BITS) { /* the lowest bit that may be set */
        const uint32_t any = offset->bits->known | offset->bits->free;
        offset = la_int(cx, (int64_t)(any & -any), true);
    }
    return la_value_tuple(la_gcd(cx, la_gcd(cx, base, offset), inner));
}

/* The part of a o right_inverse(b) that is the identity: its extent, and the inverse of b. */
struct common {
    const struct la_node *vector;
    struct la_layout inverse;
};

static struct common common_vector(struct la_ctx *cx, struct la_layout a, struct la_layout b)
{
    const struct la_layout inverse = la_right_inverse(cx, b);
    const struct la_layout both = la_coalesce(cx, la_composition(cx, a, la_value_layout(inverse)));
    const struct la_node *s = la_mode(cx, both.shape, 0), *d = la_mode(cx, both.stride, 0);
    return (struct common){s->is_static && la_is(d, 1) ? s : NULL, inverse};
}

static struct la_layout max_common_layout(struct la_ctx *cx, struct la_layout a, struct la_layout b)
{
    const struct common c = common_vector(cx, la_inner(a), la_inner(b));
    if (!c.vector)
        return la_plain(la_one, la_zero);
    return la_composition(cx, c.inverse, la_value_layout(la_plain(c.vector, la_one)));
}

static const struct la_node *swizzle_vector(struct la_ctx *cx, struct la_layout a)
{
    if (a.outer->kind != LA_K_SWIZZLE)
        la_fail(cx, LA_E_kind, "only layouts and swizzled layouts have common vectors");
    return la_int(cx, (int64_t)1 << a.outer->swizzle.base, true);
}

static struct la_value op_max_common_layout(struct la_ctx *cx, const struct la_call *call)
{
    const struct la_layout a = la_position_independent(cx, call->args[0].layout),
                           b = la_position_independent(cx, call->args[1].layout);
    struct la_layout common = max_common_layout(cx, a, b);
    if (a.outer || b.outer) { /* a swizzle keeps runs of 2^M elements together */
        const struct la_node *base = swizzle_vector(cx, a.outer ? a : b);
        if (base->value < la_size(cx, common)->value)
            common = la_composition(cx, common, la_value_tuple(base));
    }
    return la_value_layout(common);
}

static struct la_value op_max_common_vector(struct la_ctx *cx, const struct la_call *call)
{
    const struct la_layout a = la_position_independent(cx, call->args[0].layout),
                           b = la_position_independent(cx, call->args[1].layout);
    const struct common c = common_vector(cx, la_inner(a), la_inner(b));
    const struct la_node *vector = c.vector ? c.vector : la_one;
    const bool same = a.outer && b.outer && a.outer->kind == LA_K_SWIZZLE && b.outer->kind == LA_K_SWIZZLE &&
                      a.outer->swizzle.bits == b.outer->swizzle.bits &&
                      a.outer->swizzle.base == b.outer->swizzle.base &&
                      a.outer->swizzle.shift == b.outer->swizzle.shift;
    if (a.outer && !same)
        vector = la_min(cx, vector, swizzle_vector(cx, a));
    if (b.outer && !same)
        vector = la_min(cx, vector, swizzle_vector(cx, b));
    return la_value_tuple(vector);
}

/* ---- domains ---- */

/* Law: layout(nullspace(layout)(i)) = 0 for all i: the modes of static stride 0. */
static struct la_value op_nullspace(struct la_ctx *cx, const struct la_call *call)
{
    const struct la_layout a = la_inner(call->args[0].layout);
    const struct la_node *shape = la_wrap(cx, la_flatten(cx, a.shape)),
                         *stride = la_wrap(cx, la_flatten(cx, a.stride));
    const struct la_node *compact = la_compact_left(cx, shape);
    const struct la_node **s = la_alloc(cx, shape->span * sizeof *s),
                         **d = la_alloc(cx, shape->span * sizeof *d);
    uint32_t n = 0;
    for (uint32_t i = 1; i < shape->span; i++) {
        if (!la_is(stride + i, 0))
            continue;
        s[n] = shape + i;
        d[n++] = compact + i;
    }
    if (n == 0)
        return la_value_layout(la_plain(la_one, la_zero));
    if (n == 1)
        return la_value_layout(la_plain(s[0], d[0]));
    return la_value_layout(la_plain(la_tuple(cx, n, s), la_tuple(cx, n, d)));
}

/* Law: the result is ordered, and its size divides b: b elements spread over a's shape, as far as they divide it. */
static struct la_value op_domain_distribute(struct la_ctx *cx, const struct la_call *call)
{
    const struct la_value v = call->args[0];
    const struct la_node *shape = la_wrap(cx,
                                          la_flatten(cx, v.kind & LA_K_ANYLAYOUT ? v.layout.shape : v.tuple));
    const struct la_node *rest = call->args[1].tuple;
    if (!shape->is_static || !rest->is_static)
        la_fail(cx, LA_E_dynamic_stride, "the shape %s and the size %s must be static", la_show(cx, shape),
                la_show(cx, rest));
    const struct la_node **parts = la_alloc(cx, shape->span * sizeof *parts);
    for (uint32_t i = 1; i < shape->span; i++) {
        parts[i - 1] = la_gcd(cx, shape + i, rest);
        rest = la_div(cx, rest, parts[i - 1]);
    }
    const struct la_layout all = la_plain(la_tuple(cx, la_rank(shape), parts), la_compact_left(cx, shape));
    return la_value_layout(la_coalesce(cx, all));
}

#define CASTABLE (LA_K_ANYLAYOUT | LA_K_SWIZZLE)

const struct la_op la_ops_recast[] = {
    {.name = "upcast",
     .doc = "The layout in units of N elements.",
     .params = {{"layout", CASTABLE}},
     .template_params = "<N>",
     .gives = CASTABLE,
     .run = op_upcast,
     .example = "upcast<4>((_8,_4):(_1,_8))",
     .result = "(_2,_4):(_1,_2)"},
    {.name = "downcast",
     .doc = "The layout in units of 1/N element.",
     .params = {{"layout", CASTABLE}},
     .template_params = "<N>",
     .gives = CASTABLE,
     .run = op_downcast,
     .example = "downcast<4>((_2,_4):(_1,_2))",
     .result = "(_8,_4):(_1,_8)"},
    {.name = "recast_layout",
     .doc = "The layout of the same memory for another element type.",
     .params = {{"layout", CASTABLE}},
     .template_params = "<Old,New>",
     .gives = CASTABLE,
     .run = op_recast_layout,
     .example = "recast_layout<float,half_t>((_4,_8):(_8,_1))",
     .result = "(_4,_16):(_16,_1)"},
    {.name = "max_alignment",
     .doc = "The largest N for which upcast<N> exists.",
     .params = {{"layout", CASTABLE}},
     .gives = LA_K_INT,
     .run = op_max_alignment,
     .example = "max_alignment((_6,_4):(_1,_6))",
     .result = "_24"},
    {.name = "max_common_layout",
     .doc = "The elements that follow one another both in a and in b, as a layout.",
     .params = {{"a", LA_K_ANYLAYOUT}, {"b", LA_K_ANYLAYOUT}},
     .gives = LA_K_LAYOUT,
     .run = op_max_common_layout,
     .example = "max_common_layout((_4,_4):(_1,_4), (_4,_4):(_1,_8))",
     .result = "_4:_1"},
    {.name = "max_common_vector",
     .doc = "How many elements follow one another both in a and in b.",
     .params = {{"a", LA_K_ANYLAYOUT}, {"b", LA_K_ANYLAYOUT}},
     .gives = LA_K_INT,
     .run = op_max_common_vector,
     .example = "max_common_vector((_4,_4):(_1,_4), (_4,_4):(_1,_8))",
     .result = "_4"},
    {.name = "nullspace",
     .doc = "The coordinates that the layout maps to 0 because their stride is 0.",
     .law = "for all i: layout(nullspace(layout)(i)) = 0",
     .params = {{"layout", LA_K_ANYLAYOUT}},
     .gives = LA_K_LAYOUT,
     .run = op_nullspace,
     .example = "nullspace((_2,_3,_4):(_0,_1,_0))",
     .result = "(_2,_4):(_1,_6)"},
    {.name = "domain_distribute",
     .doc = "As many of b elements as divide the shape, spread over it.",
     .params = {{"a", LA_K_INTTUPLE | LA_K_ANYLAYOUT}, {"b", LA_K_INT}},
     .gives = LA_K_LAYOUT,
     .run = op_domain_distribute,
     .example = "domain_distribute((_15,_14), _6)",
     .result = "(_3,_2):(_1,_15)"},
    {0}};
