/* tensor.c: tensors, as their layouts.
 *
 *     make_tensor(make_gmem_ptr(p), make_shape(8, _4{}))        (8,_4):(_1,8)
 *
 * A tensor is a pointer and a layout, and what the pointer points at is data of the program that runs.
 * Here a tensor is its layout: t(i,j) is the offset of an element, and a slice has the layout that CuTe
 * prints behind the pointer. */
#include "internal.h"

#include <string.h>

/* Another operation with the same arguments, the first few left out. */
static struct la_value forward(struct la_ctx *cx, const char *name, const struct la_call *call, uint32_t skip)
{
    struct la_call *other = la_alloc(cx, sizeof *other);
    other->op = la_op_find(name, strlen(name));
    other->argc = call->argc - skip;
    other->targc = 0;
    memcpy(other->args, call->args + skip, other->argc * sizeof *other->args);
    return la_run(cx, other);
}

static struct la_value op_make_tensor(struct la_ctx *cx, const struct la_call *call)
{
    const uint32_t skip = call->args[0].kind == LA_K_TEXT;
    if (call->argc == skip)
        la_fail(cx, LA_E_arity, "a tensor needs a layout or a shape behind its pointer");
    if (call->argc == skip + 1 && call->args[skip].kind & LA_K_ANYLAYOUT)
        return call->args[skip];
    return forward(cx, "make_layout", call, skip);
}

static struct la_value op_make_tensor_like(struct la_ctx *cx, const struct la_call *call)
{
    return forward(cx, "make_layout_like", call, 0);
}

static struct la_value op_make_counting_tensor(struct la_ctx *cx, const struct la_call *call)
{
    (void)cx;
    return call->args[0];
}

const struct la_op la_ops_tensor[] = {
    {.name = "make_tensor",
     .doc = "A tensor as its layout: the pointer is passed over, its elements are data. make_tensor<T> has "
            "no pointer.",
     .params = {{"pointer", LA_K_TEXT | LA_K_ANYLAYOUT | LA_K_INTTUPLE},
                {"layout", LA_K_ANYLAYOUT | LA_K_INTTUPLE | LA_K_TYPE | LA_OPTIONAL},
                {"stride", LA_K_INTTUPLE | LA_K_TYPE | LA_OPTIONAL}},
     .template_params = "<T>",
     .gives = LA_K_ANYLAYOUT,
     .run = op_make_tensor,
     .example = "make_tensor(make_gmem_ptr(p), (8,_4), LayoutRight{})",
     .result = "(8,_4):(_4,_1)"},
    {.name = "make_tensor_like",
     .doc = "The layout of a tensor in registers with the shape and the order of strides of another.",
     .params = {{"tensor", LA_K_ANYLAYOUT}},
     .template_params = "<T>",
     .gives = LA_K_LAYOUT,
     .run = op_make_tensor_like,
     .example = "make_tensor_like((_4,_8):(_32,_2))",
     .result = "(_4,_8):(_8,_1)"},
    {.name = "make_counting_tensor",
     .doc = "The tensor whose elements are the offsets of a layout: that layout.",
     .params = {{"layout", LA_K_ANYLAYOUT}},
     .gives = LA_K_ANYLAYOUT,
     .run = op_make_counting_tensor,
     .example = "make_counting_tensor((_4,_8):(_8,_1))",
     .result = "(_4,_8):(_8,_1)"},
    {0}};
