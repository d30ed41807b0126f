/* tuple_ops.c: the operations on IntTuples: how they are written, compared, divided and multiplied. */
#include "internal.h"

/* ---- comparisons ---- */

static bool weakly_congruent(const struct la_node *a, const struct la_node *b)
{
    if (a->kind != LA_TUPLE)
        return true;
    if (b->kind != LA_TUPLE || la_rank(a) != la_rank(b))
        return false;
    const struct la_node *y = b + 1;
    for (const struct la_node *x = a + 1; x < a + a->span; x = la_next(x), y = la_next(y))
        if (!weakly_congruent(x, y))
            return false;
    return true;
}

/* The size of b is that of a at each terminal of a. */
static bool compatible(struct la_ctx *cx, const struct la_node *a, const struct la_node *b)
{
    if (a->kind != LA_TUPLE)
        return a->value == la_product(cx, b)->value;
    if (b->kind != LA_TUPLE || la_rank(a) != la_rank(b))
        return false;
    const struct la_node *y = b + 1;
    for (const struct la_node *x = a + 1; x < a + a->span; x = la_next(x), y = la_next(y))
        if (!compatible(cx, x, y))
            return false;
    return true;
}

static bool evenly_divides(struct la_ctx *cx, const struct la_node *a, const struct la_node *tiler)
{
    if (tiler->kind == LA_TUPLE) {
        if (la_rank(tiler) > la_rank(a))
            return false;
        const struct la_node *x = a->kind == LA_TUPLE ? a + 1 : a;
        for (const struct la_node *t = tiler + 1; t < tiler + tiler->span; t = la_next(t), x = la_next(x))
            if (!evenly_divides(cx, x, t))
                return false;
        return true;
    }
    const struct la_node *tile, *rest;
    if (tiler->kind == LA_LEAF) {
        const struct la_layout layout = la_leaf_layout(cx, tiler);
        tile = la_size(cx, layout);
        rest = la_size(cx, la_complement(cx, layout, a));
    } else {
        tile = tiler;
        rest = la_product(cx, la_ceil_div(cx, a, tiler));
    }
    return la_product(cx, a)->value == la_mul(cx, tile, rest)->value;
}

enum order { ELEMENTWISE, LEXICOGRAPHIC, COLEXICOGRAPHIC };

static bool less(struct la_ctx *cx, const struct la_node *a, const struct la_node *b, enum order order)
{
    if (a->kind != LA_TUPLE && b->kind != LA_TUPLE)
        return la_to_i64(cx, a, "what is compared") < la_to_i64(cx, b, "what is compared");
    if (a->kind != LA_TUPLE || b->kind != LA_TUPLE)
        la_fail(cx, LA_E_kind, "%s and %s cannot be compared", la_show(cx, a), la_show(cx, b));
    const uint32_t ra = la_rank(a), rb = la_rank(b), r = ra < rb ? ra : rb;
    if (order == ELEMENTWISE) {
        for (uint32_t i = 0; i < r; i++)
            if (!less(cx, la_mode(cx, a, i), la_mode(cx, b, i), order))
                return false;
        return ra <= rb;
    }
    for (uint32_t i = 0; i < r; i++) {
        const struct la_node *x = la_mode(cx, a, order == LEXICOGRAPHIC ? i : ra - 1 - i);
        const struct la_node *y = la_mode(cx, b, order == LEXICOGRAPHIC ? i : rb - 1 - i);
        if (less(cx, x, y, order))
            return true;
        if (less(cx, y, x, order))
            return false;
    }
    return ra < rb;
}

/* ---- arithmetic on leaves ---- */

static const struct la_node *fold(struct la_ctx *cx, const struct la_node *n,
                                  const struct la_node *(*f)(struct la_ctx *cx, const struct la_node *a,
                                                             const struct la_node *b))
{
    const struct la_node *sum = NULL;
    for (uint32_t i = 0; i < n->span; i++)
        if (n[i].kind != LA_TUPLE)
            sum = sum ? f(cx, sum, n + i) : n + i;
    if (!sum)
        la_fail(cx, LA_E_domain, "there is nothing in %s", la_show(cx, n));
    return sum;
}

static const struct la_node *inner_product(struct la_ctx *cx, const struct la_node *a,
                                           const struct la_node *b)
{
    if (a->kind != LA_TUPLE && b->kind != LA_TUPLE)
        return la_mul(cx, a, b);
    if (a->kind != LA_TUPLE || b->kind != LA_TUPLE || la_rank(a) != la_rank(b))
        la_fail(cx, LA_E_rank_mismatch, "%s and %s do not have the same modes", la_show(cx, a),
                la_show(cx, b));
    const struct la_node *sum = la_zero, *y = b + 1;
    for (const struct la_node *x = a + 1; x < a + a->span; x = la_next(x), y = la_next(y))
        sum = la_add(cx, sum, inner_product(cx, x, y));
    return sum;
}

static const struct la_node *product_like(struct la_ctx *cx, const struct la_node *guide,
                                          const struct la_node *a)
{
    if (guide->kind != LA_TUPLE)
        return la_product(cx, a);
    return la_map2(cx, guide, a, product_like);
}

static const struct la_node *elem_scale(struct la_ctx *cx, const struct la_node *a, const struct la_node *b)
{
    if (a->kind != LA_TUPLE)
        return la_mul(cx, a, la_product(cx, b));
    return la_map2(cx, a, b, elem_scale);
}

static const struct la_node *round_up(struct la_ctx *cx, const struct la_node *a, const struct la_node *b)
{
    if (a->kind == LA_TUPLE && b->kind == LA_TUPLE)
        return la_map2(cx, a, la_append_to(cx, b, la_rank(a), la_one), round_up);
    return la_mul(cx, la_ceil_div(cx, a, b), b);
}

/* The integers of a shape, whatever carries it. */
static const struct la_node *shape_of(struct la_value v)
{
    return v.kind & LA_K_ANYLAYOUT ? v.layout.shape : v.tuple;
}

/* ---- the operations ---- */

static struct la_value op_make_tuple(struct la_ctx *cx, const struct la_call *call)
{
    const struct la_node *modes[LA_MAX_ARGS];
    for (uint32_t i = 0; i < call->argc; i++)
        modes[i] = la_value_node(cx, call->args[i]);
    return la_value_tuple(la_tuple(cx, call->argc, modes));
}

static struct la_value op_congruent(struct la_ctx *cx, const struct la_call *call)
{
    (void)cx;
    return la_truth(la_congruent(shape_of(call->args[0]), shape_of(call->args[1])));
}

static struct la_value op_weakly_congruent(struct la_ctx *cx, const struct la_call *call)
{
    (void)cx;
    return la_truth(weakly_congruent(shape_of(call->args[0]), shape_of(call->args[1])));
}

static struct la_value op_compatible(struct la_ctx *cx, const struct la_call *call)
{
    return la_truth(compatible(cx, shape_of(call->args[0]), shape_of(call->args[1])));
}

static struct la_value op_evenly_divides(struct la_ctx *cx, const struct la_call *call)
{
    return la_truth(evenly_divides(cx, shape_of(call->args[0]), la_value_node(cx, call->args[1])));
}

static struct la_value op_elem_less(struct la_ctx *cx, const struct la_call *call)
{
    return la_truth(less(cx, call->args[0].tuple, call->args[1].tuple, ELEMENTWISE));
}

static struct la_value op_lex_less(struct la_ctx *cx, const struct la_call *call)
{
    return la_truth(less(cx, call->args[0].tuple, call->args[1].tuple, LEXICOGRAPHIC));
}

static struct la_value op_colex_less(struct la_ctx *cx, const struct la_call *call)
{
    return la_truth(less(cx, call->args[0].tuple, call->args[1].tuple, COLEXICOGRAPHIC));
}

static struct la_value op_ceil_div(struct la_ctx *cx, const struct la_call *call)
{
    const struct la_value a = call->args[0], b = call->args[1];
    if (b.kind == LA_K_LAYOUT) /* the rest of a divide by b */
        return la_value_tuple(la_complement(cx, b.layout, shape_of(a)).shape);
    return la_value_tuple(la_ceil_div(cx, shape_of(a), b.tuple));
}

#define OP2(NAME, FUNCTION) \
    static struct la_value NAME(struct la_ctx *cx, const struct la_call *call) { \
        return la_value_tuple(FUNCTION(cx, call->args[0].tuple, call->args[1].tuple)); \
    }
OP2(op_shape_div, la_shape_div)
OP2(op_round_up, round_up)
OP2(op_inner_product, inner_product)
OP2(op_elem_scale, elem_scale)

static struct la_value op_product_like(struct la_ctx *cx, const struct la_call *call)
{
    return la_value_tuple(product_like(cx, call->args[1].tuple, call->args[0].tuple));
}

static struct la_value op_product(struct la_ctx *cx, const struct la_call *call)
{
    return la_value_tuple(la_product(cx, call->args[0].tuple));
}

static struct la_value op_product_each(struct la_ctx *cx, const struct la_call *call)
{
    return la_value_tuple(la_product_each(cx, call->args[0].tuple));
}

static struct la_value op_sum(struct la_ctx *cx, const struct la_call *call)
{
    return la_value_tuple(fold(cx, call->args[0].tuple, la_add));
}

static struct la_value op_max(struct la_ctx *cx, const struct la_call *call)
{
    return la_value_tuple(fold(cx, op_make_tuple(cx, call).tuple, la_max));
}

static struct la_value op_min(struct la_ctx *cx, const struct la_call *call)
{
    return la_value_tuple(fold(cx, op_make_tuple(cx, call).tuple, la_min));
}

static struct la_value op_gcd(struct la_ctx *cx, const struct la_call *call)
{
    return la_value_tuple(fold(cx, op_make_tuple(cx, call).tuple, la_gcd));
}

static struct la_value op_abs(struct la_ctx *cx, const struct la_call *call)
{
    return la_value_tuple(la_abs(cx, call->args[0].tuple));
}

#define MAKER(NAME, DOC, EXAMPLE) \
    { \
        .name = NAME, .doc = DOC, \
        .params = {{"mode", LA_K_INTTUPLE | LA_K_TILE | LA_K_ANY | LA_K_ANYLAYOUT | LA_VARIADIC}}, \
        .gives = LA_K_TUPLE | LA_K_TILE, .run = op_make_tuple, .example = EXAMPLE "(_2, 3)", \
        .result = "(_2,3)" \
    }
#define PREDICATE(NAME, RUN, DOC, KINDS, EXAMPLE, RESULT) \
    { \
        .name = NAME, .doc = DOC, .params = {{"a", KINDS}, {"b", KINDS}}, .gives = LA_K_BOOL, .run = RUN, \
        .example = EXAMPLE, .result = RESULT \
    }
#define BINARY(NAME, RUN, DOC, EXAMPLE, RESULT) \
    { \
        .name = NAME, .doc = DOC, .params = {{"a", LA_K_INTTUPLE}, {"b", LA_K_INTTUPLE}}, \
        .gives = LA_K_INTTUPLE, .run = RUN, .example = EXAMPLE, .result = RESULT \
    }
#define UNARY(NAME, RUN, DOC, EXAMPLE, RESULT) \
    { \
        .name = NAME, .doc = DOC, .params = {{"tuple", LA_K_INTTUPLE}}, .gives = LA_K_INTTUPLE, .run = RUN, \
        .example = EXAMPLE, .result = RESULT \
    }
#define OVER_LEAVES(NAME, RUN, DOC, EXAMPLE, RESULT) \
    { \
        .name = NAME, .doc = DOC, .params = {{"tuple", LA_K_INTTUPLE | LA_VARIADIC}}, .gives = LA_K_INT, \
        .run = RUN, .example = EXAMPLE, .result = RESULT \
    }
#define SHAPED (LA_K_INTTUPLE | LA_K_ANYLAYOUT)

const struct la_op la_ops_tuple[] = {
    MAKER("make_tuple", "The tuple of its arguments.", "make_tuple"),
    MAKER("make_shape", "The tuple of its arguments, as a shape.", "make_shape"),
    MAKER("make_stride", "The tuple of its arguments, as a stride.", "make_stride"),
    MAKER("make_coord", "The tuple of its arguments, as a coordinate.", "make_coord"),
    MAKER("make_step", "The tuple of its arguments, as an order or a projection.", "make_step"),
    MAKER("make_tile", "The tuple of its arguments, as a tiler that works mode by mode.", "make_tile"),
    PREDICATE("congruent", op_congruent, "Whether two tuples have the same tree of modes.", SHAPED,
              "congruent((_2,(_3,_4)), (1,(1,1)))", "true"),
    PREDICATE("weakly_congruent", op_weakly_congruent, "Whether b has at least the tree of modes of a.",
              SHAPED, "weakly_congruent(_4, (_1,_2))", "true"),
    PREDICATE("compatible", op_compatible, "Whether coordinates of a are coordinates of b, too.", SHAPED,
              "compatible((_4,_6), ((_2,_2),_6))", "true"),
    {.name = "evenly_divides",
     .doc = "Whether the tiler b divides the shape a without a rest.",
     .params = {{"a", SHAPED}, {"b", LA_K_TILER}},
     .gives = LA_K_BOOL,
     .run = op_evenly_divides,
     .example = "evenly_divides((_8,_6), (_4,_3))",
     .result = "true"},
    PREDICATE("elem_less", op_elem_less, "Whether each element of a is less than that of b.", LA_K_INTTUPLE,
              "elem_less((1,2), (2,3))", "true"),
    PREDICATE("lex_less", op_lex_less, "Whether a comes before b, the first difference deciding.",
              LA_K_INTTUPLE, "lex_less((1,2), (1,3))", "true"),
    PREDICATE("colex_less", op_colex_less, "Whether a comes before b, the last difference deciding.",
              LA_K_INTTUPLE, "colex_less((5,2), (1,3))", "true"),
    {.name = "ceil_div",
     .doc = "The quotient, rounded up: mode by mode, or an integer used up from left to right, or by a "
            "tiler's layout.",
     .params = {{"a", SHAPED}, {"b", LA_K_INTTUPLE | LA_K_LAYOUT}},
     .gives = LA_K_INTTUPLE,
     .run = op_ceil_div,
     .example = "ceil_div((_10,_8), (_4,_3))",
     .result = "(_3,_3)"},
    BINARY("round_up", op_round_up, "The next multiple of b.", "round_up((_10,_8), (_4,_3))", "(_12,_9)"),
    BINARY("shape_div", op_shape_div, "The quotient of shapes, where one divides the other.",
           "shape_div((_4,_5,_6), _40)", "(_1,_1,_3)"),
    UNARY("product", op_product, "The product of all integers.", "product((_2,(_3,_4)))", "_24"),
    UNARY("product_each", op_product_each, "The product of each mode.", "product_each(((_2,_3),_4))",
          "(_6,_4)"),
    {.name = "product_like",
     .doc = "The product of the tuple at each terminal of the guide.",
     .params = {{"tuple", LA_K_INTTUPLE}, {"guide", LA_K_INTTUPLE}},
     .gives = LA_K_INTTUPLE,
     .run = op_product_like,
     .example = "product_like(((_2,_2),(_10,_16)), (_1,_1))",
     .result = "(_4,_160)"},
    BINARY("inner_product", op_inner_product, "The sum of the products of corresponding integers.",
           "inner_product((2,(1,2)), (_1,(_4,_8)))", "22"),
    BINARY("elem_scale", op_elem_scale, "Each integer of a times the product of what stands there in b.",
           "elem_scale((_2,_3), (_4,(_5,_2)))", "(_8,_30)"),
    UNARY("sum", op_sum, "The sum of all integers.", "sum((_2,(_3,_4)))", "_9"),
    UNARY("abs", op_abs, "The absolute value.", "abs(_-3)", "_3"),
    OVER_LEAVES("max", op_max, "The largest integer.", "max((_2,(_7,_3)))", "_7"),
    OVER_LEAVES("min", op_min, "The smallest integer.", "min((_2,(_7,_3)))", "_2"),
    OVER_LEAVES("gcd", op_gcd, "The greatest common divisor.", "gcd((_12,(_8,_20)))", "_4"),
    {0}};
