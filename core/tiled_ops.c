/* tiled_ops.c: the operations on tiled copies and tiled MMAs, by CuTe's names; most are written as methods.
 *
 *     C = make_tiled_copy(Copy_Atom<UniversalCopy<uint128_t>,half_t>{}, (_32,_8):(_8,_1), (_1,_8):(_0,_1));
 *     C.get_slice(5).partition_S((_64,_64):(_64,_1))
 *
 * A tensor is shown by its layout; where a part of it begins tells thrfrg(identity tensor) at its thread. */
#include "internal.h"

static const struct la_tiled_copy *copy_of(struct la_value v)
{
    return v.object;
}

static const struct la_tiled_mma *mma_of(struct la_value v)
{
    return v.object;
}

static struct la_value copy_value(const struct la_tiled_copy *copy)
{
    return (struct la_value){.kind = LA_K_TILED_COPY, .object = copy};
}

static struct la_value two_layouts(struct la_ctx *cx, struct la_layout a, struct la_layout b)
{
    const struct la_node *both[2] = {la_value_node(cx, la_value_layout(a)),
                                     la_value_node(cx, la_value_layout(b))};
    return la_value_tuple(la_tuple(cx, 2, both));
}

/* ---- making them ---- */

static struct la_value op_make_tiled_copy(struct la_ctx *cx, const struct la_call *call)
{
    const struct la_layout val = call->argc > 2 ? call->args[2].layout : la_plain(la_one, la_zero);
    return copy_value(la_make_tiled_copy(cx, call->args[0].object, call->args[1].layout, val));
}

static struct la_value op_make_cotiled_copy(struct la_ctx *cx, const struct la_call *call)
{
    return copy_value(
        la_make_cotiled_copy(cx, call->args[0].object, call->args[1].layout, call->args[2].layout));
}

static struct la_value op_make_tiled_copy_c_atom(struct la_ctx *cx, const struct la_call *call)
{
    return copy_value(la_tiled_copy_c_atom(cx, call->args[0].object, mma_of(call->args[1])));
}

/* A tiled copy with another atom, over what the threads of one end of this one have. */
static struct la_value copy_like(struct la_ctx *cx, const struct la_call *call, enum la_end end)
{
    const struct la_tiled_copy *like = copy_of(call->args[1]);
    return copy_value(la_tiled_copy(cx, call->args[0].object, la_tiled_copy_tv(cx, like, end), like->tiler));
}

static struct la_value op_make_tiled_mma(struct la_ctx *cx, const struct la_call *call)
{
    const struct la_node *ones = la_repeat(cx, 3, la_one), *permutation = la_repeat(cx, 3, la_any);
    const struct la_layout atoms = call->argc > 1 ? call->args[1].layout : la_layout_of(cx, ones);
    if (call->argc > 2)
        permutation = la_value_node(cx, call->args[2]);
    return (struct la_value){.kind = LA_K_TILED_MMA,
                             .object = la_make_tiled_mma(cx, call->args[0].object, atoms, permutation)};
}

/* ---- threads: slices and sizes ---- */

static struct la_value op_get_slice(struct la_ctx *cx, const struct la_call *call)
{
    const struct la_node *thread = call->args[1].tuple;
    if (call->args[0].kind == LA_K_TILED_COPY) {
        struct la_tiled_copy *slice = la_alloc(cx, sizeof *slice);
        *slice = *copy_of(call->args[0]);
        slice->thread = thread;
        return copy_value(slice);
    }
    struct la_tiled_mma *slice = la_alloc(cx, sizeof *slice);
    *slice = *mma_of(call->args[0]);
    slice->thread = la_thread_vmnk(cx, slice, thread);
    return (struct la_value){.kind = LA_K_TILED_MMA, .object = slice};
}

struct la_value la_tiled_threads(struct la_ctx *cx, const struct la_call *call)
{
    uint32_t path[LA_MAX_ARGS];
    const uint32_t n = la_call_path(cx, call, path);
    if (call->args[0].kind == LA_K_TILED_MMA)
        return la_value_tuple(la_product(cx, la_get(cx, mma_of(call->args[0])->thr_vmnk.shape, n, path)));
    if (n)
        la_fail(cx, LA_E_arity, "the threads of a tiled copy have no modes");
    return la_value_tuple(la_product(cx, la_mode(cx, copy_of(call->args[0])->layout_tv.shape, 0)));
}

/* <0>, <1> or <2>: M, N or K */
static uint32_t mode_of_mnk(struct la_ctx *cx, const struct la_call *call)
{
    uint32_t path[LA_MAX_ARGS];
    if (la_call_path(cx, call, path) != 1 || path[0] > 2)
        la_fail(cx, LA_E_arity, "it takes <0> for M, <1> for N or <2> for K");
    return path[0];
}

static struct la_value op_tile_size_mnk(struct la_ctx *cx, const struct la_call *call)
{
    return la_value_tuple(la_tiled_mma_size(cx, mma_of(call->args[0]), mode_of_mnk(cx, call)));
}

static struct la_value op_permutation_mnk(struct la_ctx *cx, const struct la_call *call)
{
    return la_node_value(la_permutation_mnk(cx, mma_of(call->args[0]), mode_of_mnk(cx, call)));
}

static struct la_value op_tile_size(struct la_ctx *cx, const struct la_call *call)
{
    if (call->args[0].kind == LA_K_TILED_MMA)
        return op_tile_size_mnk(cx, call);
    uint32_t path[LA_MAX_ARGS];
    const uint32_t n = la_call_path(cx, call, path);
    const struct la_node *shape = la_shape_of(cx, la_value_tuple(copy_of(call->args[0])->tiler));
    return la_value_tuple(la_product(cx, la_get(cx, shape, n, path)));
}

static struct la_value op_tile_shape(struct la_ctx *cx, const struct la_call *call)
{
    const struct la_node *sizes[3];
    for (uint32_t i = 0; i < 3; i++)
        sizes[i] = la_tiled_mma_size(cx, mma_of(call->args[0]), i);
    return la_value_tuple(la_tuple(cx, 3, sizes));
}

static struct la_value op_get_thr_layout_vmnk(struct la_ctx *cx, const struct la_call *call)
{
    (void)cx;
    return la_value_layout(mma_of(call->args[0])->thr_vmnk);
}

static struct la_value op_tiler_mn(struct la_ctx *cx, const struct la_call *call)
{
    (void)cx;
    return la_value_tuple(copy_of(call->args[0])->tiler);
}

static struct la_value op_tiled_layout_tv(struct la_ctx *cx, const struct la_call *call)
{
    (void)cx;
    return la_value_layout(copy_of(call->args[0])->layout_tv);
}

/* ---- retile and fragments ---- */

static struct la_value op_retile(struct la_ctx *cx, const struct la_call *call)
{
    return la_value_layout(la_retile(cx, copy_of(call->args[0]), call->args[1].layout));
}

static const struct la_node *thread_of(struct la_ctx *cx, const struct la_node *thread)
{
    if (!thread)
        la_fail_arg(cx, 0, LA_E_kind, "it is a method of one thread's slice: get_slice(thread) gives it");
    return thread;
}

static struct la_value copy_part(struct la_ctx *cx, const struct la_call *call, enum la_end end)
{
    const struct la_tiled_copy *copy = copy_of(call->args[0]);
    return la_value_layout(
        la_copy_partition(cx, copy, end, call->args[1].layout, thread_of(cx, copy->thread)).layout);
}

static struct la_layout mma_part(struct la_ctx *cx, const struct la_call *call, enum la_matrix x)
{
    const struct la_tiled_mma *mma = mma_of(call->args[0]);
    return la_mma_partition(cx, mma, x, call->args[1].layout, thread_of(cx, mma->thread)).layout;
}

/* (V,M,N) of each thread: the values of an atom, and how often the tiling repeats it over a shape. */
static const struct la_node *partition_shape(struct la_ctx *cx, const struct la_call *call, enum la_matrix x)
{
    const struct la_tiled_mma *mma = mma_of(call->args[0]);
    const struct la_node *shape = la_shape_of(cx, call->args[1]);
    const uint32_t modes[2] = {x == LA_B ? 1 : 0, x == LA_C ? 1 : 2}, rank = la_rank(shape);
    if (rank < 2)
        la_fail_arg(cx, 1, LA_E_rank_mismatch, "a matrix has at least two modes, unlike %s",
                    la_show(cx, shape));
    const struct la_node *parts[3] = {la_mode(cx, mma->atom->mma.tv[x].shape, 1)};
    for (uint32_t i = 0; i < 2; i++) {
        const struct la_node *atom = la_mul(cx, la_mode(cx, mma->atom->mma.shape_mnk, modes[i]),
                                            la_product(cx, la_mode(cx, mma->thr_vmnk.shape, modes[i] + 1)));
        parts[1 + i] = la_shape_div(cx, la_product(cx, la_mode(cx, shape, i)), atom);
    }
    const struct la_node *vmn = la_tuple(cx, 3, parts);
    for (uint32_t i = 2; i < rank; i++)
        vmn = la_append(cx, vmn, la_mode(cx, shape, i));
    return vmn;
}

/* Registers: of C compact, of A and B in the order of what is loaded into them. */
static struct la_value fragment(struct la_ctx *cx, const struct la_call *call, enum la_matrix x)
{
    const struct la_tiled_mma *mma = mma_of(call->args[0]);
    if (x != LA_C && mma->atom->mma.descriptor[x])
        la_fail_arg(cx, 0, LA_E_kind,
                    "%s reads %c from shared memory through a descriptor: no thread holds it",
                    mma->atom->name, x == LA_A ? 'A' : 'B');
    if (call->args[1].kind & LA_K_INTTUPLE)
        return la_value_layout(la_layout_of(cx, partition_shape(cx, call, x)));
    const struct la_layout part = mma_part(cx, call, x);
    return la_value_layout(x == LA_C ? la_layout_of(cx, part.shape) : la_fragment_like(cx, part));
}

/* ---- one function for each end and each matrix ---- */

#define FOR_END(S, END) \
    static struct la_value op_make_tiled_copy_##S(struct la_ctx *cx, const struct la_call *call) { \
        return copy_like(cx, call, END); \
    } static struct la_value op_get_layout_##S##_tv(struct la_ctx *cx, const struct la_call *call) \
    { \
        return la_value_layout(la_tiled_copy_tv(cx, copy_of(call->args[0]), END)); \
    } \
    static struct la_value op_get_layout_##S##_mn(struct la_ctx *cx, const struct la_call *call) \
    { \
        const struct la_tiled_copy *copy = copy_of(call->args[0]); \
        const struct la_node *threads = la_product(cx, la_mode(cx, copy->layout_tv.shape, 0)); \
        return two_layouts(cx, la_tiled_copy_mn(cx, copy, END), la_layout_of(cx, threads)); \
    } \
    static struct la_value op_tidfrg_##S(struct la_ctx *cx, const struct la_call *call) { \
        return la_value_layout(la_tidfrg(cx, copy_of(call->args[0]), END, call->args[1].layout)); \
    } static struct la_value op_partition_##S(struct la_ctx *cx, const struct la_call *call) { \
        return copy_part(cx, call, END); \
    }
FOR_END(s, LA_SRC)
FOR_END(d, LA_DST)

#define FOR_MATRIX(A, X) \
    static struct la_value op_make_tiled_copy_##A(struct la_ctx *cx, const struct la_call *call) { \
        return copy_value(la_tiled_copy_for(cx, call->args[0].object, mma_of(call->args[1]), X)); \
    } static struct la_value op_get_layout_##A##_tv(struct la_ctx *cx, const struct la_call *call) \
    { \
        return la_value_layout(la_tiled_mma_tv(cx, mma_of(call->args[0]), X)); \
    } \
    static struct la_value op_get_layout_##A##_mn(struct la_ctx *cx, const struct la_call *call) \
    { \
        const struct la_tiled_mma *mma = mma_of(call->args[0]); \
        return two_layouts(cx, la_tiled_mma_mn(cx, mma, X), la_tiled_mma_threads(cx, mma, X)); \
    } \
    static struct la_value op_thrfrg_##A(struct la_ctx *cx, const struct la_call *call) { \
        return la_value_layout(la_thrfrg(cx, mma_of(call->args[0]), X, call->args[1].layout)); \
    } static struct la_value op_partition_##A(struct la_ctx *cx, const struct la_call *call) { \
        return la_value_layout(mma_part(cx, call, X)); \
    } static struct la_value op_partition_shape_##A(struct la_ctx *cx, const struct la_call *call) { \
        return la_value_tuple(partition_shape(cx, call, X)); \
    } static struct la_value op_partition_fragment_##A(struct la_ctx *cx, const struct la_call *call) { \
        return fragment(cx, call, X); \
    }
FOR_MATRIX(a, LA_A)
FOR_MATRIX(b, LA_B)
FOR_MATRIX(c, LA_C)

/* ---- the rows ---- */

#define COPY_ATOM "Copy_Atom<UniversalCopy<uint64_t>,half_t>{}"
#define COPY "make_tiled_copy(" COPY_ATOM ", (_4,_8):(_8,_1), _4:_1)"
#define MMA "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (_2,_2):(_1,_2))"
#define MAKES_COPY(NAME, RUN, DOC, FROM, KIND, EXAMPLE, RESULT) \
    { \
        .name = NAME, .doc = DOC, .params = {{"atom", LA_K_ATOM}, {FROM, KIND}}, .gives = LA_K_TILED_COPY, \
        .run = RUN, .example = EXAMPLE, .result = RESULT \
    }
#define OF_COPY(NAME, RUN, DOC, GIVES, RESULT) \
    { \
        .name = NAME, .doc = DOC, .params = {{"copy", LA_K_TILED_COPY}}, .gives = GIVES, .run = RUN, \
        .example = COPY "." NAME "()", .result = RESULT \
    }
#define OF_MMA(NAME, RUN, DOC, GIVES, RESULT) \
    { \
        .name = NAME, .doc = DOC, .params = {{"mma", LA_K_TILED_MMA}}, .gives = GIVES, .run = RUN, \
        .example = MMA "." NAME "()", .result = RESULT \
    }
#define OF_COPY_AND(NAME, RUN, DOC, SELF, TENSOR, RESULT) \
    { \
        .name = NAME, .doc = DOC, .params = {{"copy", LA_K_TILED_COPY}, {"tensor", LA_K_ANYLAYOUT}}, \
        .gives = LA_K_ANYLAYOUT, .run = RUN, .example = SELF "." NAME "(" TENSOR ")", .result = RESULT \
    }
#define OF_MMA_AND(NAME, RUN, DOC, SELF, KIND, GIVES, TENSOR, RESULT) \
    { \
        .name = NAME, .doc = DOC, .params = {{"mma", LA_K_TILED_MMA}, {"tensor", KIND}}, .gives = GIVES, \
        .run = RUN, .example = SELF "." NAME "(" TENSOR ")", .result = RESULT \
    }
#define TILED (LA_K_TILED_COPY | LA_K_TILED_MMA)
#define SHAPED (LA_K_INTTUPLE | LA_K_ANYLAYOUT)

const struct la_op la_ops_tiled_copy[] = {
    {.name = "make_tiled_copy",
     .doc = "A copy atom over a tile: thr and val map the coordinates (m,n) to a thread and to a value.",
     .law = "for all m, n, i, j: TiledLayout_TV(thr(m,n), val(i,j)) is (i + I*m, j + J*n) of the tile, where "
            "(I,J) is val's shape",
     .params = {{"atom", LA_K_ATOM}, {"thr", LA_K_LAYOUT}, {"val", LA_K_LAYOUT | LA_OPTIONAL}},
     .gives = LA_K_TILED_COPY,
     .run = op_make_tiled_copy,
     .example = "make_tiled_copy(" COPY_ATOM ", (_4,_8):(_8,_1), _4:_1)::Tiler_MN",
     .result = "(_16,_8)"},
    {.name = "make_cotiled_copy",
     .doc = "A copy atom over a tile: tv maps (thread, value) to an offset, data a coordinate to an offset.",
     .params = {{"atom", LA_K_ATOM}, {"tv", LA_K_LAYOUT}, {"data", LA_K_LAYOUT}},
     .gives = LA_K_TILED_COPY,
     .run = op_make_cotiled_copy,
     .example = "make_cotiled_copy(" COPY_ATOM ", (_32,_4):(_4,_1), (_16,_8):(_8,_1))::Tiler_MN",
     .result = "(_16:_1,(_2,_4):(_4,_1))"},
    MAKES_COPY("make_tiled_copy_A", op_make_tiled_copy_a,
               "The copy whose threads hold what an MMA wants of A.", "mma", LA_K_TILED_MMA,
               "make_tiled_copy_A(Copy_Atom<SM75_U32x4_LDSM_N,half_t>{}, " MMA ").get_layoutS_TV()",
               "((_16,_2,_2,_2),(_8,_1)):((_1,_256,_16,_0),(_32,_0))"),
    MAKES_COPY("make_tiled_copy_B", op_make_tiled_copy_b,
               "The copy whose threads hold what an MMA wants of B.", "mma", LA_K_TILED_MMA,
               "make_tiled_copy_B(Copy_Atom<SM75_U32x2_LDSM_N,half_t>{}, " MMA ").get_layoutS_TV()",
               "((_8,_2,_4,_2),(_8,_1)):((_1,_128,_0,_8),(_16,_0))"),
    MAKES_COPY("make_tiled_copy_C", op_make_tiled_copy_c,
               "The copy whose threads hold what an MMA gives of C.", "mma", LA_K_TILED_MMA,
               "make_tiled_copy_C(Copy_Atom<UniversalCopy<uint64_t>,float>{}, " MMA ").get_layoutS_TV()",
               "((_4,_8,_2,_2),(_2,_2)):((_64,_1,_16,_256),(_32,_8))"),
    MAKES_COPY("make_tiled_copy_C_atom", op_make_tiled_copy_c_atom,
               "The smallest copy that can store parts of C: as many values as its atom has.", "mma",
               LA_K_TILED_MMA,
               "make_tiled_copy_C_atom(Copy_Atom<UniversalCopy<uint64_t>,float>{}, " MMA ")::Tiler_MN",
               "((_8,_2):(_1,_16),(_8,_2):(_2,_1))"),
    MAKES_COPY("make_tiled_copy_S", op_make_tiled_copy_s,
               "A copy over the source's threads and values of another.", "like", LA_K_TILED_COPY,
               "make_tiled_copy_S(Copy_Atom<UniversalCopy<half_t>,half_t>{}, " COPY ").get_layoutS_TV()",
               "((_8,_4),(_1,_4)):((_16,_4),(_0,_1))"),
    MAKES_COPY("make_tiled_copy_D", op_make_tiled_copy_d,
               "A copy over the destination's threads and values of another.", "like", LA_K_TILED_COPY,
               "make_tiled_copy_D(Copy_Atom<UniversalCopy<half_t>,half_t>{}, " COPY ").get_layoutD_TV()",
               "((_8,_4),(_1,_4)):((_16,_4),(_0,_1))"),
    OF_COPY("get_layoutS_TV", op_get_layout_s_tv, "(thread, value) of the source to the index in the tile.",
            LA_K_LAYOUT, "((_8,_4),(_4,_1)):((_16,_4),(_1,_0))"),
    OF_COPY("get_layoutD_TV", op_get_layout_d_tv,
            "(thread, value) of the destination to the index in the tile.", LA_K_LAYOUT,
            "((_8,_4),(_4,_1)):((_16,_4),(_1,_0))"),
    OF_COPY("get_layoutS_MN", op_get_layout_s_mn,
            "The coordinate in the tile to the source's (thread, value), and the threads.", LA_K_TILE,
            "(((_4,_4),_8):((_32,_8),_1),_32:_1)"),
    OF_COPY("get_layoutD_MN", op_get_layout_d_mn,
            "The coordinate in the tile to the destination's (thread, value), and the threads.", LA_K_TILE,
            "(((_4,_4),_8):((_32,_8),_1),_32:_1)"),
    OF_COPY_AND("tidfrg_S", op_tidfrg_s, "A source tensor as ((thread), value, (rest)).", COPY,
                "(_32,_16):(_16,_1)", "((_8,_4),(_4,_1),(_2,_2)):((_1,_64),(_16,_0),(_256,_8))"),
    OF_COPY_AND("tidfrg_D", op_tidfrg_d, "A destination tensor as ((thread), value, (rest)).", COPY,
                "(_32,_16):(_16,_1)", "((_8,_4),(_4,_1),(_2,_2)):((_1,_64),(_16,_0),(_256,_8))"),
    OF_COPY_AND("partition_S", op_partition_s, "What one thread has of a source tensor: (value, rest...).",
                COPY ".get_slice(5)", "(_32,_16):(_16,_1)", "((_4,_1),_2,_2):((_16,_0),_256,_8)"),
    OF_COPY_AND("partition_D", op_partition_d,
                "What one thread has of a destination tensor: (value, rest...).", COPY ".get_slice(5)",
                "(_32,_16):(_16,_1)", "((_4,_1),_2,_2):((_16,_0),_256,_8)"),
    OF_COPY_AND("retile", op_retile,
                "A thread's fragment (V,M,N), arranged in the values of the copy's atom.", COPY,
                "(_4,_1,_1):(_1,_4,_4)", "((_4,_1),_1,_1):((_1,_0),_0,_0)"),
    OF_COPY_AND("retile_S", op_retile,
                "A thread's fragment (V,M,N), arranged in the values of the copy's atom.",
                COPY ".get_slice(5)", "(_4,_1,_1):(_1,_4,_4)", "((_4,_1),_1,_1):((_1,_0),_0,_0)"),
    OF_COPY_AND("retile_D", op_retile,
                "A thread's fragment (V,M,N), arranged in the values of the copy's atom.",
                COPY ".get_slice(5)", "(_4,_1,_1):(_1,_4,_4)", "((_4,_1),_1,_1):((_1,_0),_0,_0)"),
    {.name = "Tiler_MN",
     .doc = "What cuts a tensor into the tiles of a tiled copy.",
     .params = {{"copy", LA_K_TILED_COPY}},
     .gives = LA_K_TILER,
     .run = op_tiler_mn,
     .example = "decltype(" COPY ")::Tiler_MN",
     .result = "(_16,_8)"},
    {.name = "TiledLayout_TV",
     .doc = "(thread, value) to the index in the tile, in the order of the atom's Ref.",
     .params = {{"copy", LA_K_TILED_COPY}},
     .gives = LA_K_LAYOUT,
     .run = op_tiled_layout_tv,
     .example = "decltype(" COPY ")::TiledLayout_TV",
     .result = "((_8,_4),_4):((_16,_4),_1)"},
    {.name = "get_slice",
     .doc = "One thread of a tiled copy or of a tiled MMA.",
     .params = {{"tiled", TILED}, {"thread", LA_K_INT}},
     .gives = TILED,
     .run = op_get_slice,
     .example = MMA ".get_slice(37).partition_C((_32,_16):(_16,_1))",
     .result = "((_2,_2),_1,_1):((_1,_128),_0,_0)"},
    {.name = "get_thread_slice",
     .doc = "One thread of a tiled copy or of a tiled MMA: the same as get_slice.",
     .params = {{"tiled", TILED}, {"thread", LA_K_INT}},
     .gives = TILED,
     .run = op_get_slice,
     .example = COPY ".get_thread_slice(5).partition_S((_16,_8):(_8,_1))",
     .result = "((_4,_1),_1,_1):((_8,_0),_0,_0)"},
    {.name = "tile_size",
     .doc = "The size of the tile of a tiled copy or MMA, or of one mode of it.",
     .params = {{"tiled", TILED}},
     .template_params = "<mode>",
     .gives = LA_K_INT,
     .run = op_tile_size,
     .example = "tile_size<0>(" MMA ")",
     .result = "_32"},
    {0}};

const struct la_op la_ops_tiled_mma[] = {
    {.name = "make_tiled_mma",
     .doc = "An MMA atom over threads and a tile: a layout (m,n,k) of atoms, and permutations of M, N and K.",
     .params = {{"atom", LA_K_ATOM},
                {"atoms", LA_K_LAYOUT | LA_OPTIONAL},
                {"permutation", LA_K_TUPLE | LA_K_TILE | LA_OPTIONAL}},
     .gives = LA_K_TILED_MMA,
     .run = op_make_tiled_mma,
     .example =
         "tile_shape(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (_2,_2):(_1,_2), Tile<_32,_32,_16>{}))",
     .result = "(_32,_32,_16)"},
    OF_MMA("get_layoutA_TV", op_get_layout_a_tv, "(thread, value) of A to the index in the tile (M,K).",
           LA_K_LAYOUT, "((_4,_8,_2,_2),((_2,_2,_2),(_1,_1))):((_64,_1,_16,_0),((_32,_8,_256),(_0,_0)))"),
    OF_MMA("get_layoutB_TV", op_get_layout_b_tv, "(thread, value) of B to the index in the tile (N,K).",
           LA_K_LAYOUT, "((_4,_8,_2,_2),((_2,_2),(_1,_1))):((_32,_1,_0,_8),((_16,_128),(_0,_0)))"),
    OF_MMA("get_layoutC_TV", op_get_layout_c_tv, "(thread, value) of C to the index in the tile (M,N).",
           LA_K_LAYOUT, "((_4,_8,_2,_2),((_2,_2),(_1,_1))):((_64,_1,_16,_256),((_32,_8),(_0,_0)))"),
    OF_MMA("get_layoutA_MK", op_get_layout_a_mn, "(m,k) to ((v,m,k), value) of A, and these threads.",
           LA_K_TILE, "(((_8,_2,_2),(_2,_4,_2)):((_4,_128,_32),(_64,_1,_256)),(_32,_2,_1):(_1,_32,_0))"),
    OF_MMA("get_layoutB_NK", op_get_layout_b_mn, "(n,k) to ((v,n,k), value) of B, and these threads.",
           LA_K_TILE, "((_16,(_2,_4,_2)):(_4,(_64,_1,_128)),(_32,_2,_1):(_1,_64,_0))"),
    OF_MMA("get_layoutC_MN", op_get_layout_c_mn, "(m,n) to ((v,m,n), value) of C, and these threads.",
           LA_K_TILE, "(((_8,_2,_2),(_2,_4,_2)):((_4,_256,_32),(_128,_1,_64)),(_32,_2,_2):(_1,_32,_64))"),
    OF_MMA_AND("thrfrg_A", op_thrfrg_a, "A tensor (M,K) as ((ThrV,(ThrM,ThrK)),(FrgV,(RestM,RestK))).", MMA,
               LA_K_ANYLAYOUT, LA_K_ANYLAYOUT, "(_64,_32):(_32,_1)",
               "(((_4,_8),(_2,_1)),((_2,_2,_2),(_2,_2))):(((_2,_32),(_512,_0)),((_1,_256,_8),(_1024,_16)))"),
    OF_MMA_AND("thrfrg_B", op_thrfrg_b, "A tensor (N,K) as ((ThrV,(ThrN,ThrK)),(FrgV,(RestN,RestK))).", MMA,
               LA_K_ANYLAYOUT, LA_K_ANYLAYOUT, "(_64,_32):(_32,_1)",
               "(((_4,_8),(_2,_1)),((_2,_2),(_4,_2))):(((_2,_32),(_256,_0)),((_1,_8),(_512,_16)))"),
    OF_MMA_AND("thrfrg_C", op_thrfrg_c, "A tensor (M,N) as ((ThrV,(ThrM,ThrN)),(FrgV,(RestM,RestN))).", MMA,
               LA_K_ANYLAYOUT, LA_K_ANYLAYOUT, "(_64,_32):(_32,_1)",
               "(((_4,_8),(_2,_2)),((_2,_2),(_2,_2))):(((_2,_32),(_512,_8)),((_1,_256),(_1024,_16)))"),
    OF_MMA_AND("partition_A", op_partition_a, "What one thread has of a tensor (M,K): (V,M,K).",
               MMA ".get_slice(37)", LA_K_ANYLAYOUT, LA_K_ANYLAYOUT, "(_64,_32):(_32,_1)",
               "((_2,_2,_2),_2,_2):((_1,_256,_8),_1024,_16)"),
    OF_MMA_AND("partition_B", op_partition_b, "What one thread has of a tensor (N,K): (V,N,K).",
               MMA ".get_slice(37)", LA_K_ANYLAYOUT, LA_K_ANYLAYOUT, "(_64,_32):(_32,_1)",
               "((_2,_2),_4,_2):((_1,_8),_512,_16)"),
    OF_MMA_AND("partition_C", op_partition_c, "What one thread has of a tensor (M,N): (V,M,N).",
               MMA ".get_slice(37)", LA_K_ANYLAYOUT, LA_K_ANYLAYOUT, "(_64,_32):(_32,_1)",
               "((_2,_2),_2,_2):((_1,_256),_1024,_16)"),
    OF_MMA_AND("partition_shape_A", op_partition_shape_a,
               "The shape (V,M,K) of what each thread has of a tensor.", MMA, SHAPED, LA_K_TUPLE, "(_64,_32)",
               "((_2,_2,_2),_2,_2)"),
    OF_MMA_AND("partition_shape_B", op_partition_shape_b,
               "The shape (V,N,K) of what each thread has of a tensor.", MMA, SHAPED, LA_K_TUPLE, "(_64,_32)",
               "((_2,_2),_4,_2)"),
    OF_MMA_AND("partition_shape_C", op_partition_shape_c,
               "The shape (V,M,N) of what each thread has of a tensor.", MMA, SHAPED, LA_K_TUPLE, "(_64,_32)",
               "((_2,_2),_2,_2)"),
    OF_MMA_AND("partition_fragment_A", op_partition_fragment_a, "The registers that one thread needs for A.",
               MMA ".get_slice(0)", SHAPED, LA_K_LAYOUT, "(_64,_32):(_32,_1)",
               "((_2,_2,_2),_2,_2):((_1,_2,_4),_16,_8)"),
    OF_MMA_AND("partition_fragment_B", op_partition_fragment_b, "The registers that one thread needs for B.",
               MMA ".get_slice(0)", SHAPED, LA_K_LAYOUT, "(_64,_32):(_32,_1)",
               "((_2,_2),_4,_2):((_1,_2),_8,_4)"),
    OF_MMA_AND("partition_fragment_C", op_partition_fragment_c, "The registers that each thread needs for C.",
               MMA, SHAPED, LA_K_LAYOUT, "(_64,_32)", "((_2,_2),_2,_2):((_1,_2),_4,_8)"),
    OF_MMA("get_thr_layout_vmnk", op_get_thr_layout_vmnk, "(thread of the atom, M, N, K) to the thread.",
           LA_K_LAYOUT, "(_32,_2,_2,_1):(_1,_32,_64,_0)"),
    OF_MMA("tile_shape", op_tile_shape, "The tile (M,N,K) of a tiled MMA.", LA_K_TUPLE, "(_32,_16,_16)"),
    {.name = "tile_size_mnk",
     .doc = "The size of the tile along M, N or K.",
     .params = {{"mma", LA_K_TILED_MMA}},
     .template_params = "<mode>",
     .gives = LA_K_INT,
     .run = op_tile_size_mnk,
     .example = MMA ".tile_size_mnk<1>()",
     .result = "_16"},
    {.name = "permutation_mnk",
     .doc = "What M, N or K is divided by before it is tiled by atoms.",
     .params = {{"mma", LA_K_TILED_MMA}},
     .template_params = "<mode>",
     .gives = LA_K_TILER,
     .run = op_permutation_mnk,
     .example = MMA ".permutation_mnk<0>()",
     .result = "_32"},
    {.name = "thr_size",
     .doc = "The number of threads of a tiled MMA, or along a mode of its (V,M,N,K).",
     .params = {{"mma", LA_K_TILED_MMA}},
     .template_params = "<mode...>",
     .gives = LA_K_INT,
     .run = la_tiled_threads,
     .example = "thr_size<1>(" MMA ")",
     .result = "_2"},
    {0}};
