/* tiling.c: divides and products: an algebra of tiles, written with composition and complement.
 *
 *     logical_divide(A, B)  = A o (B, complement(B, shape(A)))        the tile, and its repetitions over A
 *     logical_product(A, B) = (A, complement(A, size(A)*cosize(B)) o B)   A, and its repetitions in B's order
 *
 * The others only arrange the modes: zipped ((tile),(rest)), tiled ((tile),rest...), flat (tile...,rest...), and the
 * two that work axis by axis: blocked ((a,b),...) and raked ((b,a),...). A layout as second argument works as a whole;
 * a tuple works mode by mode: (2,2) is not (2,2):(1,2). */
#include "internal.h"

/* ---- logical ---- */

static struct la_layout divide_by_layout(struct la_ctx *cx, struct la_layout a, struct la_layout tiler)
{
    const struct la_layout parts[2] = {tiler, la_complement(cx, tiler, la_coalesce(cx, a).shape)};
    return la_composition(cx, a, la_value_layout(la_layout_concat(cx, 2, parts)));
}

static struct la_layout multiply_by_layout(struct la_ctx *cx, struct la_layout a, struct la_layout tiler)
{
    const struct la_layout free = la_complement(cx, a, la_mul(cx, la_size(cx, a), la_cosize(cx, tiler)));
    const struct la_layout parts[2] = {a, la_composition(cx, free, la_value_layout(tiler))};
    return la_layout_concat(cx, 2, parts);
}

/* How a tiler is applied to a mode: by the layout that it is, or that its extent stands for. */
static struct la_layout
by_tiler(struct la_ctx *cx, struct la_layout a, const struct la_node *tiler,
         struct la_layout (*self)(struct la_ctx *cx, struct la_layout a, const struct la_node *tiler),
         struct la_layout (*f)(struct la_ctx *cx, struct la_layout a, struct la_layout tiler))
{
    switch (tiler->kind) {
    case LA_TUPLE:
        return la_map_modes(cx, a, tiler, true, self);
    case LA_ANY:
        return a;
    case LA_INT:
        return f(cx, a, la_layout_of(cx, tiler));
    default:
        return f(cx, a, la_leaf_layout(cx, tiler));
    }
}

static struct la_layout divide(struct la_ctx *cx, struct la_layout a, const struct la_node *tiler)
{
    return by_tiler(cx, a, tiler, divide, divide_by_layout);
}

static struct la_layout multiply(struct la_ctx *cx, struct la_layout a, const struct la_node *tiler)
{
    return by_tiler(cx, a, tiler, multiply, multiply_by_layout);
}

/* Law: logical_divide(A, B) = composition(A, (B, complement(B, shape(A)))). */
struct la_layout la_logical_divide(struct la_ctx *cx, struct la_layout a, struct la_value tiler)
{
    return la_rewrap(a, divide(cx, la_inner(a), la_value_node(cx, tiler)));
}

/* Law: logical_product(A, B) = (A, composition(complement(A, size(A)*cosize(B)), B)); mode 0 is A. */
struct la_layout la_logical_product(struct la_ctx *cx, struct la_layout a, struct la_value tiler)
{
    return la_rewrap(a, multiply(cx, la_inner(a), la_value_node(cx, tiler)));
}

/* ---- zipped, tiled, flat: the same values, other parentheses ---- */

struct la_layout la_tile_unzip(struct la_ctx *cx, struct la_layout a, const struct la_node *tiler)
{
    return la_rewrap(a, la_plain(la_zip2_by(cx, a.shape, tiler), la_zip2_by(cx, a.stride, tiler)));
}

/* ((tile),(rest)) with the modes of the rest, and of the tile when `both`, taken out of their parentheses. */
static struct la_layout unpacked(struct la_ctx *cx, struct la_layout zipped, bool both)
{
    const struct la_node *tile = la_any, *rest = la_repeat(cx, la_rank(la_mode(cx, zipped.shape, 1)), la_any);
    if (both)
        tile = la_repeat(cx, la_rank(la_mode(cx, zipped.shape, 0)), la_any);
    const struct la_node *coord = la_tuple(cx, 2, (const struct la_node *[]){tile, rest});
    return la_rewrap(zipped, la_plain(la_slice(cx, coord, zipped.shape), la_slice(cx, coord, zipped.stride)));
}

struct la_layout la_zipped_divide(struct la_ctx *cx, struct la_layout a, struct la_value tiler)
{
    return la_tile_unzip(cx, la_logical_divide(cx, a, tiler), la_value_node(cx, tiler));
}

struct la_layout la_tiled_divide(struct la_ctx *cx, struct la_layout a, struct la_value tiler)
{
    return unpacked(cx, la_zipped_divide(cx, a, tiler), false);
}

struct la_layout la_flat_divide(struct la_ctx *cx, struct la_layout a, struct la_value tiler)
{
    return unpacked(cx, la_zipped_divide(cx, a, tiler), true);
}

static struct la_layout zipped_product(struct la_ctx *cx, struct la_layout a, struct la_value tiler)
{
    return la_tile_unzip(cx, la_logical_product(cx, a, tiler), la_value_node(cx, tiler));
}

struct la_layout la_tiled_product(struct la_ctx *cx, struct la_layout a, struct la_value tiler)
{
    return unpacked(cx, zipped_product(cx, a, tiler), false);
}

static struct la_layout flat_product(struct la_ctx *cx, struct la_layout a, struct la_value tiler)
{
    return unpacked(cx, zipped_product(cx, a, tiler), true);
}

/* Compact, in the order of a's strides, but mode 0, the values of an atom, always comes first and contiguous. */
struct la_layout la_fragment_like(struct la_ctx *cx, struct la_layout a)
{
    a = la_inner(a);
    const uint32_t rank = la_rank(a.shape);
    if (rank <= 1 || !a.shape->is_static)
        return la_layout_of(cx, a.shape);
    const struct la_node *s0 = la_mode(cx, a.shape, 0), *d0 = la_mode(cx, a.stride, 0);
    const struct la_layout values = la_plain(s0, la_compact_left(cx, la_filter_zeros(cx, d0, s0)));
    const struct la_node *rest = la_take(cx, a.shape, 1, rank);
    const struct la_layout others = la_plain(rest,
                                             la_compact_order(cx, rest, la_take(cx, a.stride, 1, rank)));
    return la_tiled_product(cx, values, la_value_layout(others));
}

/* ---- blocked and raked: axis by axis ---- */

static struct la_layout padded(struct la_ctx *cx, struct la_layout a, uint32_t rank)
{
    if (la_rank(a.shape) == rank)
        return a;
    return la_rewrap(
        a, la_plain(la_append_to(cx, a.shape, rank, la_one), la_append_to(cx, a.stride, rank, la_zero)));
}

/* Axis by axis; an integer has one axis, itself. */
static const struct la_node *paired(struct la_ctx *cx, const struct la_node *a, const struct la_node *b)
{
    if (a->kind == LA_TUPLE && b->kind == LA_TUPLE)
        return la_zip(cx, a, b);
    const struct la_node *pair = la_tuple(cx, 2, (const struct la_node *[]){a, b});
    return la_tuple(cx, 1, &pair);
}

/* Both layouts brought to one rank, multiplied, and paired axis by axis, the block first or second. */
static struct la_layout ranked_product(struct la_ctx *cx, struct la_layout a, struct la_layout b,
                                       bool block_first)
{
    const uint32_t ra = la_rank(a.shape), rb = la_rank(b.shape), rank = ra > rb ? ra : rb;
    const struct la_layout p = multiply_by_layout(cx, padded(cx, la_inner(a), rank), padded(cx, b, rank));
    const uint32_t first = block_first ? 0 : 1;
    const struct la_node *shape = paired(cx, la_mode(cx, p.shape, first), la_mode(cx, p.shape, 1 - first));
    const struct la_node *stride = paired(cx, la_mode(cx, p.stride, first), la_mode(cx, p.stride, 1 - first));
    return la_rewrap(a, la_plain(shape, stride));
}

/* Law: blocked_product(A, B) has the values of logical_product(A, B), mode i being (A_i, B_i). */
struct la_layout la_blocked_product(struct la_ctx *cx, struct la_layout a, struct la_layout b)
{
    return ranked_product(cx, a, b, true);
}

/* Law: raked_product(A, B) has the values of logical_product(A, B), mode i being (B_i, A_i). */
struct la_layout la_raked_product(struct la_ctx *cx, struct la_layout a, struct la_layout b)
{
    return ranked_product(cx, a, b, false);
}

/* ---- tile_to_shape ---- */

static bool divides_evenly(const struct la_node *target, const struct la_node *block)
{
    for (uint32_t i = 1; i < target->span; i++)
        if (block[i].value == 0 || target[i].value % block[i].value != 0)
            return false;
    return true;
}

/* The strides of the repetitions: by LayoutLeft, LayoutRight or an order of the modes. */
struct la_layout la_ordered_layout(struct la_ctx *cx, const struct la_node *shape,
                                   const struct la_value *order)
{
    if (!order)
        return la_layout_of(cx, shape);
    if (order->kind == LA_K_TYPE) {
        if (order->type != la_layout_left && order->type != la_layout_right)
            la_fail(cx, LA_E_kind, "%s is no order of modes", order->type->name);
        return la_plain(shape, order->type == la_layout_left ? la_compact_left(cx, shape)
                                                             : la_compact_right(cx, shape));
    }
    return la_plain(shape, la_compact_order(cx, shape, order->tuple));
}

/* Law: compatible(target, shape(result)): the block repeated until each axis has the target's extent. */
static struct la_layout tile_to_shape(struct la_ctx *cx, struct la_layout block, const struct la_node *target,
                                      const struct la_value *order)
{
    const uint32_t rank = la_rank(target);
    if (la_rank(block.shape) > rank)
        la_fail(cx, LA_E_rank_mismatch, "the rank of %s (%u) is above the rank of the target %s (%u)",
                la_show_layout(cx, block), la_rank(block.shape), la_show(cx, target), rank);
    block = padded(cx, block, rank);
    const struct la_node *extents = la_product_each(cx, block.shape), *targets = la_product_each(cx, target);
    if (targets->is_static && extents->is_static && !divides_evenly(targets, extents))
        la_fail(cx, LA_E_tile_does_not_divide, "the block %s does not divide the target %s",
                la_show(cx, extents), la_show(cx, targets));
    const struct la_node *times = la_ceil_div(cx, targets, extents);
    return la_blocked_product(cx, block, la_ordered_layout(cx, times, order));
}

/* ---- local_tile, local_partition: the layouts of a tensor's tile and of a thread's part ---- */

/* A coordinate of one mode, completed with _ up to `rank` modes. */
static const struct la_node *completed(struct la_ctx *cx, const struct la_node *coord, uint32_t rank)
{
    return coord->kind == LA_TUPLE ? la_append_to(cx, coord, rank, la_any) : coord;
}

static struct la_layout sliced(struct la_ctx *cx, struct la_layout zipped, const struct la_node *tile,
                               const struct la_node *rest)
{
    return la_slice_value(cx, la_tuple(cx, 2, (const struct la_node *[]){tile, rest}), zipped).layout;
}

static struct la_value op_local_tile(struct la_ctx *cx, const struct la_call *call)
{
    const struct la_node *tiler = la_value_node(cx, call->args[1]), *coord = call->args[2].tuple;
    if (call->argc > 3) {
        tiler = la_dice(cx, call->args[3].tuple, tiler);
        coord = la_dice(cx, call->args[3].tuple, coord);
    }
    const struct la_layout zipped = la_zipped_divide(cx, call->args[0].layout, la_node_value(tiler));
    const uint32_t r0 = la_rank(la_mode(cx, zipped.shape, 0)), r1 = la_rank(la_mode(cx, zipped.shape, 1));
    return la_value_layout(sliced(cx, zipped, la_repeat(cx, r0, la_any), completed(cx, coord, r1)));
}

static struct la_value op_local_partition(struct la_ctx *cx, const struct la_call *call)
{
    struct la_layout threads = call->args[1].layout;
    if (call->argc > 3) {
        const struct la_node *projection = call->args[3].tuple;
        threads = la_plain(la_dice(cx, projection, threads.shape), la_dice(cx, projection, threads.stride));
    }
    const struct la_node *at = la_idx2crd(cx, call->args[2].tuple, threads.shape, threads.stride);
    struct la_builder flat;
    la_build(&flat, cx);
    const uint32_t h = la_build_open(&flat);
    for (uint32_t i = 0; i < la_rank(threads.shape); i++) {
        const struct la_node *s = la_mode(cx, threads.shape, i);
        la_build_add(&flat, la_crd2idx(cx, la_mode(cx, at, i), s, la_compact_left(cx, s)));
    }
    la_build_close(&flat, h);
    const struct la_layout zipped = la_zipped_divide(cx, call->args[0].layout,
                                                     la_value_tuple(la_product_each(cx, threads.shape)));
    const uint32_t r0 = la_rank(la_mode(cx, zipped.shape, 0)), r1 = la_rank(la_mode(cx, zipped.shape, 1));
    return la_value_layout(
        sliced(cx, zipped, completed(cx, la_build_done(&flat), r0), la_repeat(cx, r1, la_any)));
}

/* ---- the operations ---- */

#define OP_TILER(NAME, FUNCTION) \
    static struct la_value NAME(struct la_ctx *cx, const struct la_call *call) { \
        return la_value_layout(FUNCTION(cx, call->args[0].layout, call->args[1])); \
    }
OP_TILER(op_logical_divide, la_logical_divide)
OP_TILER(op_zipped_divide, la_zipped_divide)
OP_TILER(op_tiled_divide, la_tiled_divide)
OP_TILER(op_flat_divide, la_flat_divide)
OP_TILER(op_logical_product, la_logical_product)
OP_TILER(op_zipped_product, zipped_product)
OP_TILER(op_tiled_product, la_tiled_product)
OP_TILER(op_flat_product, flat_product)

static struct la_value op_blocked_product(struct la_ctx *cx, const struct la_call *call)
{
    return la_value_layout(la_blocked_product(cx, call->args[0].layout, call->args[1].layout));
}

static struct la_value op_raked_product(struct la_ctx *cx, const struct la_call *call)
{
    return la_value_layout(la_raked_product(cx, call->args[0].layout, call->args[1].layout));
}

static struct la_value op_tile_to_shape(struct la_ctx *cx, const struct la_call *call)
{
    return la_value_layout(
        tile_to_shape(cx, call->args[0].layout, call->args[1].tuple, call->argc > 2 ? &call->args[2] : NULL));
}

static struct la_value op_tile_unzip(struct la_ctx *cx, const struct la_call *call)
{
    return la_value_layout(la_tile_unzip(cx, call->args[0].layout, la_value_node(cx, call->args[1])));
}

#define TILED_BY(NAME, RUN, DOC, LAW, EXAMPLE, RESULT) \
    { \
        .name = NAME, .doc = DOC, .law = LAW, .params = {{"a", LA_K_ANYLAYOUT}, {"b", LA_K_TILER}}, \
        .gives = LA_K_ANYLAYOUT, .run = RUN, .example = EXAMPLE, .result = RESULT \
    }
#define AXIS_PRODUCT(NAME, RUN, DOC, LAW, EXAMPLE, RESULT) \
    { \
        .name = NAME, .doc = DOC, .law = LAW, .params = {{"a", LA_K_ANYLAYOUT}, {"b", LA_K_LAYOUT}}, \
        .gives = LA_K_ANYLAYOUT, .run = RUN, .example = EXAMPLE, .result = RESULT \
    }
#define DIVIDE_LAW "divide(A, B)(t, r) = A(B(t) + complement(B, shape(A))(r))"
#define PRODUCT_LAW "product(A, B)(i, j) = A(i) + complement(A)(B(j))"

const struct la_op la_ops_tiling[] = {
    TILED_BY("logical_divide", op_logical_divide,
             "Split A into tiles B: (tile, rest), in each mode that B has.", DIVIDE_LAW,
             "logical_divide((_4,_6):(_1,_4), (_2,_3))", "((_2,_2),(_3,_2)):((_1,_2),(_4,_12))"),
    TILED_BY("zipped_divide", op_zipped_divide, "Split A into tiles B: ((tile), (rest)).", DIVIDE_LAW,
             "zipped_divide((_4,_6):(_1,_4), (_2,_3))", "((_2,_3),(_2,_2)):((_1,_4),(_2,_12))"),
    TILED_BY("tiled_divide", op_tiled_divide, "Split A into tiles B: ((tile), rest...).", DIVIDE_LAW,
             "tiled_divide((_4,_6):(_1,_4), (_2,_3))", "((_2,_3),_2,_2):((_1,_4),_2,_12)"),
    TILED_BY("flat_divide", op_flat_divide, "Split A into tiles B: (tile..., rest...).", DIVIDE_LAW,
             "flat_divide((_4,_6):(_1,_4), (_2,_3))", "(_2,_3,_2,_2):(_1,_4,_2,_12)"),
    TILED_BY("logical_product", op_logical_product, "Repeat A in the order of B: (A, repetitions).",
             PRODUCT_LAW, "logical_product(_3:_2, _4:_1)", "(_3,(_2,_2)):(_2,(_1,_6))"),
    TILED_BY("zipped_product", op_zipped_product, "Repeat A in the order of B: ((A), (repetitions)).",
             PRODUCT_LAW, "zipped_product((_2,_3):(_3,_1), (_2:_3,_2:_4))",
             "((_2,_3),(_2,_2)):((_3,_1),(_6,_12))"),
    TILED_BY("tiled_product", op_tiled_product, "Repeat A in the order of B: ((A), repetitions...).",
             PRODUCT_LAW, "tiled_product(_32:_1, (_2,_2,_1):(_1,_2,_0))", "(_32,_2,_2,_1):(_1,_32,_64,_0)"),
    TILED_BY("flat_product", op_flat_product, "Repeat A in the order of B: (A..., repetitions...).",
             PRODUCT_LAW, "flat_product((_2,_3):(_3,_1), (_2,_2):(_1,_2))", "(_2,_3,_2,_2):(_3,_1,_6,_12)"),
    AXIS_PRODUCT("blocked_product", op_blocked_product,
                 "Repeat A axis by axis, each A in one block: ((a0,b0),(a1,b1)).", PRODUCT_LAW,
                 "blocked_product((_2,_3):(_3,_1), (_2,_2):(_1,_2))", "((_2,_2),(_3,_2)):((_3,_6),(_1,_12))"),
    AXIS_PRODUCT("raked_product", op_raked_product, "Repeat A axis by axis, interleaved: ((b0,a0),(b1,a1)).",
                 PRODUCT_LAW, "raked_product((_2,_3):(_3,_1), (_2,_2):(_1,_2))",
                 "((_2,_2),(_2,_3)):((_6,_3),(_12,_1))"),
    {.name = "tile_to_shape",
     .doc = "Repeat a block until each axis has the target's extent; a third argument orders the axes.",
     .law = "each axis of the result has the target's extent",
     .params = {{"block", LA_K_ANYLAYOUT},
                {"target", LA_K_INTTUPLE},
                {"order", LA_K_INTTUPLE | LA_K_TYPE | LA_OPTIONAL}},
     .gives = LA_K_ANYLAYOUT,
     .run = op_tile_to_shape,
     .example = "tile_to_shape((_2,_3):(_3,_1), (_4,_6))",
     .result = "((_2,_2),(_3,_2)):((_3,_6),(_1,_12))"},
    {.name = "tile_unzip",
     .doc = "Gather the two halves of each mode that the tiler names: ((a,A),(b,B)) becomes ((a,b),(A,B)).",
     .params = {{"layout", LA_K_ANYLAYOUT}, {"tiler", LA_K_TILER}},
     .gives = LA_K_ANYLAYOUT,
     .run = op_tile_unzip,
     .example = "tile_unzip(((_2,_2),(_3,_2)):((_1,_2),(_4,_12)), (_2,_3))",
     .result = "((_2,_3),(_2,_2)):((_1,_4),(_2,_12))"},
    {.name = "local_tile",
     .doc = "The layout of one tile of a tensor, or of the tiles along the modes at _; a Step with X skips "
            "modes.",
     .params = {{"layout", LA_K_ANYLAYOUT},
                {"tiler", LA_K_TILER},
                {"coord", LA_K_COORD},
                {"step", LA_K_COORD | LA_OPTIONAL}},
     .gives = LA_K_ANYLAYOUT,
     .run = op_local_tile,
     .example = "local_tile((_8,_8):(_8,_1), (_4,_2), (_,0))",
     .result = "(_4,_2,_2):(_8,_1,_32)"},
    {.name = "local_partition",
     .doc = "The layout of what one thread has of a tensor when the threads are laid out over its tiles.",
     .params = {{"layout", LA_K_ANYLAYOUT},
                {"threads", LA_K_LAYOUT},
                {"index", LA_K_INT},
                {"step", LA_K_COORD | LA_OPTIONAL}},
     .gives = LA_K_ANYLAYOUT,
     .run = op_local_partition,
     .example = "local_partition((_8,_8):(_8,_1), (_4,_2):(_2,_1), 3)",
     .result = "(_2,_4):(_32,_2)"},
    {0}};
