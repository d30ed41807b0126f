/* layout_ops.c: the operations that make layouts, look at them and evaluate them. */
#include "internal.h"

uint32_t la_call_path(struct la_ctx *cx, const struct la_call *call, uint32_t path[LA_MAX_ARGS])
{
    for (uint32_t i = 0; i < call->targc; i++) {
        const int64_t v = call->targs[i].kind == LA_K_INT ? call->targs[i].tuple->value : -1;
        if (v < 0 || v > UINT32_MAX)
            la_fail(cx, LA_E_kind, "the modes in <...> must be integers from 0 on");
        path[i] = (uint32_t)v;
    }
    return call->targc;
}

/* The part of the first argument that the template arguments name. */
static struct la_value part(struct la_ctx *cx, const struct la_call *call)
{
    uint32_t path[LA_MAX_ARGS];
    const uint32_t n = la_call_path(cx, call, path);
    struct la_value v = call->args[0];
    for (uint32_t i = 0; i < n; i++) {
        if (v.kind & LA_K_ANYLAYOUT)
            v.layout = la_layout_mode(cx, v.layout, path[i]);
        else if (v.kind & (LA_K_INTTUPLE | LA_K_TILE))
            v = la_node_value(la_mode(cx, v.tuple, path[i]));
        else
            la_fail(cx, LA_E_kind, "there is no mode %u in it", path[i]);
    }
    return v;
}

const struct la_node *la_shape_of(struct la_ctx *cx, struct la_value v)
{
    if (v.kind & LA_K_ANYLAYOUT)
        return v.layout.shape;
    if (v.kind & LA_K_INTTUPLE)
        return v.tuple;
    if (v.kind != LA_K_TILE)
        la_fail(cx, LA_E_kind, "it has no shape");
    struct la_builder b; /* of a tiler: each layout's shape in its place */
    la_build(&b, cx);
    const uint32_t h = la_build_open(&b);
    for (uint32_t i = 0; i < la_rank(v.tuple); i++)
        la_build_add(&b, la_shape_of(cx, la_node_value(la_mode(cx, v.tuple, i))));
    la_build_close(&b, h);
    return la_build_done(&b);
}

/* ---- queries ---- */

static struct la_value op_get(struct la_ctx *cx, const struct la_call *call)
{
    return part(cx, call);
}

static struct la_value op_rank(struct la_ctx *cx, const struct la_call *call)
{
    const struct la_value v = part(cx, call);
    return la_value_tuple(la_int(cx, la_rank(v.kind & LA_K_ANYLAYOUT ? v.layout.shape : v.tuple), true));
}

static struct la_value op_depth(struct la_ctx *cx, const struct la_call *call)
{
    return la_value_tuple(la_depth(cx, la_shape_of(cx, part(cx, call))));
}

static struct la_value op_size(struct la_ctx *cx, const struct la_call *call)
{
    if (call->args[0].kind & (LA_K_TILED_COPY | LA_K_TILED_MMA))
        return la_tiled_threads(cx, call);
    return la_value_tuple(la_product(cx, la_shape_of(cx, part(cx, call))));
}

static struct la_value op_shape(struct la_ctx *cx, const struct la_call *call)
{
    return la_value_tuple(la_shape_of(cx, part(cx, call)));
}

static struct la_value op_stride(struct la_ctx *cx, const struct la_call *call)
{
    if (call->args[0].kind == LA_K_COMPOSED)
        la_fail_arg(cx, 0, LA_E_kind, "a composed layout has no strides; layout_b(x) has");
    return la_value_tuple(part(cx, call).layout.stride);
}

static struct la_value op_cosize(struct la_ctx *cx, const struct la_call *call)
{
    return la_value_tuple(la_cosize(cx, la_inner(part(cx, call).layout)));
}

static struct la_value op_coshape(struct la_ctx *cx, const struct la_call *call)
{
    return la_value_tuple(la_coshape(cx, la_inner(part(cx, call).layout)));
}

static struct la_value op_coprofile(struct la_ctx *cx, const struct la_call *call)
{
    return la_value_tuple(la_coprofile(cx, la_inner(part(cx, call).layout)));
}

static struct la_value op_layout_a(struct la_ctx *cx, const struct la_call *call)
{
    (void)cx;
    return *call->args[0].layout.outer;
}

static struct la_value op_layout_b(struct la_ctx *cx, const struct la_call *call)
{
    (void)cx;
    return la_value_layout(la_inner(call->args[0].layout));
}

static struct la_value op_offset(struct la_ctx *cx, const struct la_call *call)
{
    (void)cx;
    return la_value_tuple(call->args[0].layout.offset);
}

/* ---- making layouts ---- */

static struct la_value op_make_layout(struct la_ctx *cx, const struct la_call *call)
{
    const struct la_value a = call->args[0];
    if (a.kind == LA_K_LAYOUT) {
        struct la_layout *parts = la_alloc(cx, call->argc * sizeof *parts);
        for (uint32_t i = 0; i < call->argc; i++) {
            if (call->args[i].kind != LA_K_LAYOUT)
                la_fail_arg(cx, i, LA_E_kind, "layouts are concatenated with layouts only");
            parts[i] = call->args[i].layout;
        }
        return la_value_layout(la_layout_concat(cx, call->argc, parts));
    }
    if (a.kind == LA_K_SWIZZLE) {
        const struct la_swizzle s = a.swizzle;
        const struct la_node *size = la_int(cx, s.base + s.bits + (s.shift < 0 ? -s.shift : s.shift), true);
        return la_value_layout(la_compose_swizzle(cx, s, la_zero, la_plain(size, la_one)));
    }
    if (!(a.kind & LA_K_INTTUPLE) || call->argc > 2)
        la_fail(cx, LA_E_kind, "it takes a shape, a shape and a stride, or layouts");
    if (call->argc == 1)
        return la_value_layout(la_layout_of(cx, a.tuple));
    const struct la_value b = call->args[1];
    if (b.kind == LA_K_TYPE)
        return la_value_layout(la_ordered_layout(cx, a.tuple, &b));
    if (!(b.kind & LA_K_INTTUPLE))
        la_fail_arg(cx, 1, LA_E_kind, "the stride must be a tuple of integers, LayoutLeft or LayoutRight");
    return la_value_layout(la_make_layout(cx, a.tuple, b.tuple));
}

static struct la_value op_make_ordered_layout(struct la_ctx *cx, const struct la_call *call)
{
    return la_value_layout(la_ordered_layout(cx, call->args[0].tuple, &call->args[1]));
}

/* Compact, in the order of the given strides; modes of static stride 0 keep it. */
static struct la_layout layout_like(struct la_ctx *cx, struct la_layout a)
{
    return la_plain(a.shape, la_compact_order(cx, la_filter_zeros(cx, a.stride, a.shape), a.stride));
}

static struct la_value op_make_layout_like(struct la_ctx *cx, const struct la_call *call)
{
    return la_value_layout(layout_like(cx, la_inner(call->args[0].layout)));
}

static struct la_value op_make_fragment_like(struct la_ctx *cx, const struct la_call *call)
{
    const struct la_value v = call->args[0];
    return la_value_layout((v.kind & LA_K_INTTUPLE) ? la_layout_of(cx, v.tuple)
                                                    : la_fragment_like(cx, v.layout));
}

static const struct la_node *basis_like(struct la_ctx *cx, const struct la_node *shape, uint32_t *path,
                                        uint32_t depth)
{
    if (shape->kind != LA_TUPLE)
        return la_basis(cx, la_one, depth, path);
    if (depth == LA_MAX_DEPTH)
        la_fail(cx, LA_E_limit, "deeper than %d levels", LA_MAX_DEPTH);
    struct la_builder b;
    la_build(&b, cx);
    const uint32_t h = la_build_open(&b);
    path[depth] = 0;
    for (const struct la_node *m = shape + 1; m < shape + shape->span; m = la_next(m), path[depth]++)
        la_build_add(&b, basis_like(cx, m, path, depth + 1));
    la_build_close(&b, h);
    return la_build_done(&b);
}

static struct la_value op_make_identity_layout(struct la_ctx *cx, const struct la_call *call)
{
    uint32_t path[LA_MAX_DEPTH];
    const struct la_node *shape = la_shape_of(cx, call->args[0]);
    return la_value_layout(la_plain(shape, basis_like(cx, shape, path, 0)));
}

static struct la_value op_with_shape(struct la_ctx *cx, const struct la_call *call)
{
    const struct la_node *modes[LA_MAX_ARGS];
    for (uint32_t i = 1; i < call->argc; i++)
        modes[i - 1] = call->args[i].tuple;
    const struct la_node *shape = call->argc == 2 ? modes[0] : la_tuple(cx, call->argc - 1, modes);
    return la_value_layout(
        la_composition(cx, call->args[0].layout, la_value_layout(la_layout_of(cx, shape))));
}

/* layout.compose(a, b, ...): composition with a tuple of tilers. */
static struct la_value op_compose(struct la_ctx *cx, const struct la_call *call)
{
    const struct la_node *modes[LA_MAX_ARGS];
    for (uint32_t i = 1; i < call->argc; i++)
        modes[i - 1] = la_value_node(cx, call->args[i]);
    const struct la_value b = call->argc == 2 ? call->args[1]
                                              : la_value_tuple(la_tuple(cx, call->argc - 1, modes));
    return la_value_layout(la_composition(cx, call->args[0].layout, b));
}

/* ---- coordinates and strides ---- */

/* The integer index of a coordinate, by Horner's rule: c0 + s0 * (c1 + s1 * (...)). */
static const struct la_node *index_of(struct la_ctx *cx, const struct la_node *coord,
                                      const struct la_node *shape)
{
    if (coord->kind != LA_TUPLE)
        return coord;
    const uint32_t rank = la_rank(coord);
    if (shape->kind != LA_TUPLE || la_rank(shape) != rank || rank == 0)
        la_fail(cx, LA_E_rank_mismatch, "the coordinate %s does not fit the shape %s", la_show(cx, coord),
                la_show(cx, shape));
    const struct la_node **index = la_alloc(cx, rank * sizeof *index),
                         **extent = la_alloc(cx, rank * sizeof *extent);
    const struct la_node *c = coord + 1, *s = shape + 1;
    for (uint32_t i = 0; i < rank; i++, c = la_next(c), s = la_next(s)) {
        index[i] = index_of(cx, c, s);
        extent[i] = la_product(cx, s);
    }
    const struct la_node *sum = index[rank - 1];
    for (uint32_t i = rank - 1; i-- > 0;)
        sum = la_add(cx, index[i], la_mul(cx, extent[i], sum));
    return sum;
}

static struct la_value op_crd2idx(struct la_ctx *cx, const struct la_call *call)
{
    const struct la_node *coord = call->args[0].tuple;
    const struct la_value a = call->args[1];
    if (a.kind & LA_K_ANYLAYOUT)
        return la_value_tuple(la_layout_at(cx, a.layout, coord));
    if (call->argc > 2) {
        const struct la_layout l = la_make_layout(cx, a.tuple, call->args[2].tuple);
        return la_value_tuple(la_crd2idx(cx, coord, l.shape, l.stride));
    }
    return la_value_tuple(index_of(cx, coord, a.tuple));
}

static struct la_value op_idx2crd(struct la_ctx *cx, const struct la_call *call)
{
    const struct la_value a = call->args[1];
    if (a.kind & LA_K_LAYOUT)
        return la_value_tuple(la_idx2crd(cx, call->args[0].tuple, a.layout.shape, a.layout.stride));
    return la_value_tuple(
        la_idx2crd(cx, call->args[0].tuple, a.tuple, call->argc > 2 ? call->args[2].tuple : NULL));
}

static const struct la_node *crd2crd(struct la_ctx *cx, const struct la_node *coord,
                                     const struct la_node *from, const struct la_node *to)
{
    if (coord->kind == LA_TUPLE && from->kind == LA_TUPLE && to->kind == LA_TUPLE) {
        if (la_rank(coord) != la_rank(from) || la_rank(from) != la_rank(to))
            la_fail(cx, LA_E_rank_mismatch, "the ranks of %s, %s and %s differ", la_show(cx, coord),
                    la_show(cx, from), la_show(cx, to));
        struct la_builder b;
        la_build(&b, cx);
        const uint32_t h = la_build_open(&b);
        for (uint32_t i = 0; i < la_rank(coord); i++)
            la_build_add(&b, crd2crd(cx, la_mode(cx, coord, i), la_mode(cx, from, i), la_mode(cx, to, i)));
        la_build_close(&b, h);
        return la_build_done(&b);
    }
    return la_idx2crd(cx, la_crd2idx(cx, coord, from, la_compact_left(cx, from)), to, NULL);
}

static struct la_value op_crd2crd(struct la_ctx *cx, const struct la_call *call)
{
    return la_value_tuple(crd2crd(cx, call->args[0].tuple, call->args[1].tuple, call->args[2].tuple));
}

static struct la_value op_get_hier_coord(struct la_ctx *cx, const struct la_call *call)
{
    const struct la_layout a = call->args[0].layout;
    return la_value_tuple(la_idx2crd(cx, call->args[1].tuple, a.shape, a.stride));
}

static const struct la_node *one_of(struct la_ctx *cx, const struct la_node *coord,
                                    const struct la_node *shape)
{
    return la_crd2idx(cx, coord, shape, la_compact_left(cx, shape));
}

const struct la_node *la_flat_coord(struct la_ctx *cx, struct la_layout a, const struct la_node *index)
{
    const struct la_node *hier = la_idx2crd(cx, index, a.shape, a.stride);
    return a.shape->kind == LA_TUPLE ? la_map2(cx, hier, a.shape, one_of) : hier;
}

static struct la_value op_get_flat_coord(struct la_ctx *cx, const struct la_call *call)
{
    return la_value_tuple(la_flat_coord(cx, call->args[0].layout, call->args[1].tuple));
}

static struct la_value op_get_1d_coord(struct la_ctx *cx, const struct la_call *call)
{
    const struct la_layout a = call->args[0].layout;
    return la_value_tuple(one_of(cx, la_idx2crd(cx, call->args[1].tuple, a.shape, a.stride), a.shape));
}

static struct la_value op_compact_col_major(struct la_ctx *cx, const struct la_call *call)
{
    return la_value_tuple(
        la_compact_left_from(cx, call->args[0].tuple, call->argc > 1 ? call->args[1].tuple : la_one));
}

static struct la_value op_compact_row_major(struct la_ctx *cx, const struct la_call *call)
{
    return la_value_tuple(
        la_compact_right_from(cx, call->args[0].tuple, call->argc > 1 ? call->args[1].tuple : la_one));
}

static struct la_value op_compact_order(struct la_ctx *cx, const struct la_call *call)
{
    return la_value_tuple(la_compact_order(cx, call->args[0].tuple, call->args[1].tuple));
}

/* ---- the rows ---- */

#define ANYTHING (LA_K_INTTUPLE | LA_K_TILE | LA_K_ANYLAYOUT)
#define OF_PART(NAME, RUN, DOC, KINDS, GIVES, EXAMPLE, RESULT) \
    { \
        .name = NAME, .doc = DOC, .params = {{"of", KINDS}}, .template_params = "<mode...>", .gives = GIVES, \
        .run = RUN, .example = EXAMPLE, .result = RESULT \
    }
#define OF_COMPOSED(NAME, RUN, DOC, GIVES, EXAMPLE, RESULT) \
    { \
        .name = NAME, .doc = DOC, .params = {{"layout", LA_K_COMPOSED}}, .gives = GIVES, .run = RUN, \
        .example = EXAMPLE, .result = RESULT \
    }
#define COORD_OF(NAME, RUN, DOC, EXAMPLE, RESULT) \
    { \
        .name = NAME, .doc = DOC, .params = {{"layout", LA_K_LAYOUT}, {"index", LA_K_INT}}, \
        .gives = LA_K_INTTUPLE, .run = RUN, .example = EXAMPLE, .result = RESULT \
    }
#define SWIZZLED "composition(Swizzle<1,0,1>{}, (_2,_2):(_2,_1))"

const struct la_op la_ops_layout[] = {
    OF_PART("rank", op_rank, "The number of modes; 1 for an integer.", ANYTHING, LA_K_INT,
            "rank((_2,(_3,_4)))", "_2"),
    OF_PART("depth", op_depth, "How deep the modes are nested; 0 for an integer.", ANYTHING, LA_K_INT,
            "depth((_2,(_3,_4)))", "_2"),
    OF_PART("size", op_size, "The number of coordinates, or of a tiled copy's or MMA's threads.",
            ANYTHING | LA_K_TILED_COPY | LA_K_TILED_MMA, LA_K_INT, "size<1>((_2,(_2,_3)):(_3,(_6,_1)))",
            "_6"),
    OF_PART("cosize", op_cosize, "One more than the largest offset.", LA_K_ANYLAYOUT, LA_K_INT,
            "cosize((_2,_3):(_5,_1))", "_8"),
    OF_PART("coshape", op_coshape, "The smallest bound of all values, element by element.", LA_K_ANYLAYOUT,
            LA_K_INTTUPLE, "coshape((_2,_3):(_5,_1))", "_8"),
    OF_PART("coprofile", op_coprofile, "The tree of modes of the values, with _0 in each place.",
            LA_K_ANYLAYOUT, LA_K_INTTUPLE, "coprofile((_4,_5):(_1@0,_1@1))", "(_0,_0)"),
    OF_PART("shape", op_shape, "The extents, of all or of one mode.", ANYTHING, LA_K_INTTUPLE,
            "shape<1>((_2,(_2,_3)):(_3,(_6,_1)))", "(_2,_3)"),
    OF_PART("stride", op_stride, "The strides, of all or of one mode.", LA_K_ANYLAYOUT, LA_K_INTTUPLE,
            "stride<1>((_2,(_2,_3)):(_3,(_6,_1)))", "(_6,_1)"),
    OF_PART("layout", op_get, "The layout, or one mode of it as a layout.", LA_K_ANYLAYOUT, LA_K_ANYLAYOUT,
            "layout<1>((_2,(_2,_3)):(_3,(_6,_1)))", "(_2,_3):(_6,_1)"),
    OF_PART("get", op_get, "One mode of a tuple, or of a layout as a layout.", ANYTHING, ANYTHING,
            "get<1,0>((_2,(_3,_4)))", "_3"),
    OF_COMPOSED("layout_a", op_layout_a, "The outer function of a composed layout.",
                LA_K_SWIZZLE | LA_K_LAYOUT, "layout_a(" SWIZZLED ")", "Sw<1,0,1>"),
    OF_COMPOSED("offset", op_offset, "The offset between the two parts of a composed layout.", LA_K_INTTUPLE,
                "offset(" SWIZZLED ")", "_0"),
    OF_COMPOSED("layout_b", op_layout_b, "The inner layout of a composed layout.", LA_K_LAYOUT,
                "layout_b(" SWIZZLED ")", "(_2,_2):(_2,_1)"),
    {.name = "make_layout",
     .doc = "A layout of a shape and a stride (LayoutLeft when there is none), or of several layouts as its "
            "modes.",
     .params = {{"shape", LA_K_INTTUPLE | LA_K_LAYOUT | LA_K_SWIZZLE},
                {"stride", LA_K_INTTUPLE | LA_K_LAYOUT | LA_K_TYPE | LA_OPTIONAL | LA_VARIADIC}},
     .gives = LA_K_ANYLAYOUT,
     .run = op_make_layout,
     .example = "make_layout((_2,(_2,_3)), LayoutRight{})",
     .result = "(_2,(_2,_3)):(_6,(_3,_1))"},
    {.name = "make_ordered_layout",
     .doc = "The compact layout whose strides grow in the given order of the modes.",
     .params = {{"shape", LA_K_INTTUPLE}, {"order", LA_K_INTTUPLE | LA_K_TYPE}},
     .gives = LA_K_LAYOUT,
     .run = op_make_ordered_layout,
     .example = "make_ordered_layout((2,3,4,5), (_2,67,42,_50))",
     .result = "(2,3,4,5):(_1,10,30,2)"},
    {.name = "make_layout_like",
     .doc = "The compact layout with the shape and the order of strides of another.",
     .params = {{"layout", LA_K_ANYLAYOUT}},
     .gives = LA_K_LAYOUT,
     .run = op_make_layout_like,
     .example = "make_layout_like((_4,_8):(_100,_1))",
     .result = "(_4,_8):(_8,_1)"},
    {.name = "make_fragment_like",
     .doc = "As make_layout_like, but with mode 0 contiguous, as registers want it.",
     .params = {{"layout", LA_K_ANYLAYOUT | LA_K_INTTUPLE}},
     .template_params = "<T>",
     .gives = LA_K_LAYOUT,
     .run = op_make_fragment_like,
     .example = "make_fragment_like((_2,_4,_8):(_64,_8,_1))",
     .result = "(_2,_4,_8):(_1,_16,_2)"},
    {.name = "make_identity_layout",
     .doc = "The layout that maps each coordinate to itself.",
     .law = "make_identity_layout(S)(c) = c",
     .params = {{"shape", ANYTHING}},
     .gives = LA_K_LAYOUT,
     .run = op_make_identity_layout,
     .example = "make_identity_layout((_4,(_2,_3)))",
     .result = "(_4,(_2,_3)):(_1@0,(_1@0@1,_1@1@1))"},
    {.name = "make_identity_tensor",
     .doc = "The layout that maps each coordinate to itself; a tensor of coordinates is shown by its layout.",
     .params = {{"shape", ANYTHING}},
     .gives = LA_K_LAYOUT,
     .run = op_make_identity_layout,
     .example = "make_identity_tensor((_4,_2))",
     .result = "(_4,_2):(_1@0,_1@1)"},
    {.name = "with_shape",
     .doc = "The same function with another shape of coordinates.",
     .law = "for all i: with_shape(A, S)(i) = A(i)",
     .params = {{"layout", LA_K_ANYLAYOUT}, {"shape", LA_K_INTTUPLE | LA_VARIADIC}},
     .gives = LA_K_ANYLAYOUT,
     .run = op_with_shape,
     .example = "with_shape(_16:_1, (_4,_4,_1))",
     .result = "(_4,_4,_1):(_1,_4,_0)"},
    {.name = "compose",
     .doc = "composition(A, B), as a method; several arguments are a tuple of tilers.",
     .params = {{"layout", LA_K_ANYLAYOUT}, {"with", LA_K_TILER | LA_VARIADIC}},
     .gives = LA_K_ANYLAYOUT,
     .run = op_compose,
     .example = "compose((_8,_8):(_8,_1), _4, _2)",
     .result = "(_4,_2):(_8,_1)"},
    {.name = "crd2idx",
     .doc = "The offset of a coordinate; without a stride, its integer index.",
     .params = {{"coord", LA_K_INTTUPLE},
                {"shape", LA_K_INTTUPLE | LA_K_ANYLAYOUT},
                {"stride", LA_K_INTTUPLE | LA_OPTIONAL}},
     .gives = LA_K_INTTUPLE,
     .run = op_crd2idx,
     .example = "crd2idx((2,5), (_3,_8))",
     .result = "17"},
    {.name = "idx2crd",
     .doc = "The coordinate of an integer index, split leftmost first.",
     .params = {{"index", LA_K_INTTUPLE},
                {"shape", LA_K_INTTUPLE | LA_K_LAYOUT},
                {"stride", LA_K_INTTUPLE | LA_OPTIONAL}},
     .gives = LA_K_INTTUPLE,
     .run = op_idx2crd,
     .example = "idx2crd(9, (_2,(_2,_3)))",
     .result = "(1,(0,2))"},
    {.name = "crd2crd",
     .doc = "A coordinate of one shape as the coordinate of another.",
     .params = {{"coord", LA_K_INTTUPLE}, {"from", LA_K_INTTUPLE}, {"to", LA_K_INTTUPLE}},
     .gives = LA_K_INTTUPLE,
     .run = op_crd2crd,
     .example = "crd2crd(9, _12, (_3,_4))",
     .result = "(0,3)"},
    COORD_OF("get_hier_coord", op_get_hier_coord,
             "The nested coordinate at which a compact layout has an offset.",
             "get_hier_coord((_4,(_2,_4)):(_8,(_1,_2)), 14)", "(1,(0,3))"),
    COORD_OF("get_flat_coord", op_get_flat_coord, "The same, with one integer a mode.",
             "get_flat_coord((_4,(_2,_4)):(_8,(_1,_2)), 14)", "(1,6)"),
    COORD_OF("get_1d_coord", op_get_1d_coord, "The same, as one integer.",
             "get_1d_coord((_4,(_2,_4)):(_8,(_1,_2)), 14)", "25"),
    {.name = "compact_col_major",
     .doc = "Compact strides, leftmost mode first.",
     .params = {{"shape", LA_K_INTTUPLE}, {"from", LA_K_INTTUPLE | LA_OPTIONAL}},
     .gives = LA_K_INTTUPLE,
     .run = op_compact_col_major,
     .example = "compact_col_major((_2,(_2,_3)))",
     .result = "(_1,(_2,_4))"},
    {.name = "compact_row_major",
     .doc = "Compact strides, rightmost mode first.",
     .params = {{"shape", LA_K_INTTUPLE}, {"from", LA_K_INTTUPLE | LA_OPTIONAL}},
     .gives = LA_K_INTTUPLE,
     .run = op_compact_row_major,
     .example = "compact_row_major((_2,(_2,_3)))",
     .result = "(_6,(_3,_1))"},
    {.name = "compact_order",
     .doc = "Compact strides in the given order of the modes.",
     .params = {{"shape", LA_K_INTTUPLE}, {"order", LA_K_INTTUPLE}},
     .gives = LA_K_INTTUPLE,
     .run = op_compact_order,
     .example = "compact_order((_2,_3,_4), (_2,_0,_1))",
     .result = "(_12,_1,_3)"},
    {0}};
