/* modes.c: the operations that treat a layout as a tuple of modes: take, group, append, slice, zip, ...
 *
 * Each does the same to shape and stride. On a tuple of integers they do it to the tuple. */
#include "internal.h"

/* f of a tuple, or of the shape and the stride of a layout. */
#define ON_BOTH(v, EXPRESSION) \
    do { \
        struct la_value v_ = (v); \
        if (v_.kind & LA_K_ANYLAYOUT) { \
            const struct la_node *t = v_.layout.shape; \
            const struct la_node *shape_ = (EXPRESSION); \
            t = v_.layout.stride; \
            const struct la_node *stride_ = (EXPRESSION); \
            return la_value_layout(la_rewrap(v_.layout, la_plain(shape_, stride_))); \
        } \
        const struct la_node *t = v_.tuple; \
        return la_value_tuple(EXPRESSION); \
    } while (0)

static uint32_t need_template(struct la_ctx *cx, const struct la_call *call, uint32_t n,
                              uint32_t path[LA_MAX_ARGS])
{
    const uint32_t count = la_call_path(cx, call, path);
    if (n != UINT32_MAX && count != n)
        la_fail(cx, LA_E_arity, "it takes %u integers in <...>, not %u", n, count);
    return count;
}

static struct la_value op_take(struct la_ctx *cx, const struct la_call *call)
{
    uint32_t p[LA_MAX_ARGS];
    need_template(cx, call, 2, p);
    ON_BOTH(call->args[0], la_take(cx, t, p[0], p[1]));
}

static struct la_value op_group(struct la_ctx *cx, const struct la_call *call)
{
    uint32_t p[LA_MAX_ARGS];
    need_template(cx, call, 2, p);
    ON_BOTH(call->args[0], la_group(cx, t, p[0], p[1]));
}

static struct la_value op_select(struct la_ctx *cx, const struct la_call *call)
{
    uint32_t p[LA_MAX_ARGS];
    const uint32_t n = need_template(cx, call, UINT32_MAX, p);
    ON_BOTH(call->args[0], la_select(cx, t, n, p));
}

static struct la_value op_flatten(struct la_ctx *cx, const struct la_call *call)
{
    ON_BOTH(call->args[0], la_flatten(cx, t));
}

/* What append and its kin add: shape and stride of a layout, an element of a tuple; _1:_0 when nothing is given. */
struct added {
    const struct la_node *shape, *stride;
};

static struct added added(struct la_ctx *cx, const struct la_call *call)
{
    const bool to_layout = call->args[0].kind & LA_K_ANYLAYOUT;
    if (call->argc < 2) {
        if (!to_layout)
            la_fail(cx, LA_E_arity, "to a tuple it adds an element: the second argument");
        return (struct added){la_one, la_zero};
    }
    const struct la_value x = call->args[1];
    if (to_layout != (x.kind == LA_K_LAYOUT))
        la_fail_arg(cx, 1, LA_E_kind, "a layout is joined with a layout, a tuple with integers");
    if (to_layout)
        return (struct added){x.layout.shape, x.layout.stride};
    return (struct added){x.tuple, x.tuple};
}

static struct la_value joined(struct la_ctx *cx, const struct la_call *call,
                              const struct la_node *(*one)(struct la_ctx *cx, const struct la_node *a,
                                                           const struct la_node *x),
                              const struct la_node *(*many)(struct la_ctx *cx, const struct la_node *a,
                                                            uint32_t rank, const struct la_node *x))
{
    const struct la_value v = call->args[0];
    const struct added x = added(cx, call);
    uint32_t p[LA_MAX_ARGS];
    const uint32_t n = la_call_path(cx, call, p);
    if (n > 1)
        la_fail(cx, LA_E_arity, "it takes one integer in <...>, the rank, not %u", n);
    if (n == 1 && p[0] > LA_MAX_ARGS)
        la_fail(cx, LA_E_limit, "a rank above %d", LA_MAX_ARGS);
    if (!(v.kind & LA_K_ANYLAYOUT))
        return la_value_tuple(n ? many(cx, v.tuple, p[0], x.shape) : one(cx, v.tuple, x.shape));
    const struct la_layout a = v.layout;
    if (n)
        return la_value_layout(
            la_rewrap(a, la_plain(many(cx, a.shape, p[0], x.shape), many(cx, a.stride, p[0], x.stride))));
    return la_value_layout(la_rewrap(a, la_plain(one(cx, a.shape, x.shape), one(cx, a.stride, x.stride))));
}

static struct la_value op_append(struct la_ctx *cx, const struct la_call *call)
{
    return joined(cx, call, la_append, la_append_to);
}

static struct la_value op_prepend(struct la_ctx *cx, const struct la_call *call)
{
    return joined(cx, call, la_prepend, la_prepend_to);
}

static struct la_value op_replace(struct la_ctx *cx, const struct la_call *call)
{
    uint32_t p[LA_MAX_ARGS];
    need_template(cx, call, 1, p);
    const struct la_value v = call->args[0];
    const struct added x = added(cx, call);
    if (!(v.kind & LA_K_ANYLAYOUT))
        return la_value_tuple(la_replace(cx, v.tuple, p[0], x.shape));
    return la_value_layout(la_rewrap(v.layout, la_plain(la_replace(cx, v.layout.shape, p[0], x.shape),
                                                        la_replace(cx, v.layout.stride, p[0], x.stride))));
}

static struct la_value op_zip(struct la_ctx *cx, const struct la_call *call)
{
    if (call->argc == 1)
        ON_BOTH(call->args[0], la_zip_modes(cx, t));
    const struct la_value a = call->args[0], b = call->args[1];
    if ((a.kind == LA_K_LAYOUT) != (b.kind == LA_K_LAYOUT) || a.kind == LA_K_COMPOSED)
        la_fail_arg(cx, 1, LA_E_kind, "a layout is zipped with a layout, a tuple with a tuple");
    if (a.kind != LA_K_LAYOUT)
        return la_value_tuple(la_zip(cx, a.tuple, b.tuple));
    return la_value_layout(
        la_plain(la_zip(cx, a.layout.shape, b.layout.shape), la_zip(cx, a.layout.stride, b.layout.stride)));
}

static struct la_value op_slice(struct la_ctx *cx, const struct la_call *call)
{
    const struct la_node *coord = call->args[0].tuple;
    const struct la_value v = call->args[1];
    if (v.kind & LA_K_ANYLAYOUT)
        return la_slice_value(cx, coord, v.layout);
    return la_value_tuple(la_slice(cx, coord, v.tuple));
}

static struct la_value op_dice(struct la_ctx *cx, const struct la_call *call)
{
    const struct la_node *coord = call->args[0].tuple;
    ON_BOTH(call->args[1], la_dice(cx, coord, t));
}

static struct la_value op_slice_and_offset(struct la_ctx *cx, const struct la_call *call)
{
    return la_slice_and_offset(cx, call->args[0].tuple, call->args[1].layout);
}

static struct la_value op_repeat_like(struct la_ctx *cx, const struct la_call *call)
{
    return la_value_tuple(la_repeat_like(cx, call->args[0].tuple, call->args[1].tuple));
}

#define MODAL (LA_K_INTTUPLE | LA_K_TILE | LA_K_ANYLAYOUT)

const struct la_op la_ops_modes[] = {
    {.name = "flatten",
     .doc = "The same without nested parentheses: depth 1 at most.",
     .law = "for all i: flatten(A)(i) = A(i)",
     .params = {{"of", MODAL}},
     .gives = MODAL,
     .run = op_flatten,
     .example = "flatten((_2,(_2,_3)):(_3,(_6,_1)))",
     .result = "(_2,_2,_3):(_3,_6,_1)"},
    {.name = "take",
     .doc = "The modes from B up to, but not including, E.",
     .params = {{"of", MODAL}},
     .template_params = "<B,E>",
     .gives = MODAL,
     .run = op_take,
     .example = "take<1,3>((_2,_3,_4):(_1,_2,_6))",
     .result = "(_3,_4):(_2,_6)"},
    {.name = "select",
     .doc = "The named modes, in the named order.",
     .params = {{"of", MODAL}},
     .template_params = "<mode...>",
     .gives = MODAL,
     .run = op_select,
     .example = "select<2,0>((_2,_3,_4):(_1,_2,_6))",
     .result = "(_4,_2):(_6,_1)"},
    {.name = "group",
     .doc = "The modes from B up to, but not including, E put into one mode.",
     .params = {{"of", MODAL}},
     .template_params = "<B,E>",
     .gives = MODAL,
     .run = op_group,
     .example = "group<0,2>((_2,_3,_4):(_1,_2,_6))",
     .result = "((_2,_3),_4):((_1,_2),_6)"},
    {.name = "append",
     .doc = "One more mode at the end; append<N> adds it until there are N modes.",
     .params = {{"to", MODAL}, {"mode", MODAL | LA_OPTIONAL}},
     .template_params = "<N>",
     .gives = MODAL,
     .run = op_append,
     .example = "append<4>((_2,_3):(_1,_2))",
     .result = "(_2,_3,_1,_1):(_1,_2,_0,_0)"},
    {.name = "prepend",
     .doc = "One more mode at the front; prepend<N> adds it until there are N modes.",
     .params = {{"to", MODAL}, {"mode", MODAL | LA_OPTIONAL}},
     .template_params = "<N>",
     .gives = MODAL,
     .run = op_prepend,
     .example = "prepend((_2,_3):(_1,_2), _4:_6)",
     .result = "(_4,_2,_3):(_6,_1,_2)"},
    {.name = "replace",
     .doc = "The same with mode N replaced.",
     .params = {{"in", MODAL}, {"mode", MODAL}},
     .template_params = "<N>",
     .gives = MODAL,
     .run = op_replace,
     .example = "replace<1>((_2,_3,_4):(_1,_2,_6), _5:_7)",
     .result = "(_2,_5,_4):(_1,_7,_6)"},
    {.name = "zip",
     .doc = "Pair the modes of two layouts or tuples.",
     .params = {{"a", MODAL}, {"b", MODAL | LA_OPTIONAL}},
     .gives = MODAL,
     .run = op_zip,
     .example = "zip((_2,_3):(_1,_2), (_4,_5):(_6,_24))",
     .result = "((_2,_4),(_3,_5)):((_1,_6),(_2,_24))"},
    {.name = "slice",
     .doc = "The modes at which the coordinate has _; layout(coord) does the same.",
     .params = {{"coord", LA_K_COORD}, {"of", MODAL}},
     .gives = MODAL,
     .run = op_slice,
     .example = "slice((_,3), (_4,_8):(_1,_4))",
     .result = "(_4):(_1)"},
    {.name = "dice",
     .doc = "The modes at which the coordinate does not have _.",
     .params = {{"coord", LA_K_COORD}, {"of", MODAL}},
     .gives = MODAL,
     .run = op_dice,
     .example = "dice((_,3), (_4,_8):(_1,_4))",
     .result = "(_8):(_4)"},
    {.name = "slice_and_offset",
     .doc = "The slice and the offset at which it begins.",
     .params = {{"coord", LA_K_COORD}, {"of", LA_K_ANYLAYOUT}},
     .gives = LA_K_TILE,
     .run = op_slice_and_offset,
     .example = "slice_and_offset((_,3), (_4,_8):(_1,_4))",
     .result = "((_4):(_1),12)"},
    {.name = "repeat_like",
     .doc = "The tree of modes of a tuple, with the same integer everywhere.",
     .params = {{"profile", LA_K_INTTUPLE}, {"value", LA_K_INT}},
     .gives = LA_K_INTTUPLE,
     .run = op_repeat_like,
     .example = "repeat_like((2,(3,4)), _1)",
     .result = "(_1,(_1,_1))"},
    {0}};
