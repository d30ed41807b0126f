/* packed.c: elements of 4 bits, two in a byte. No access splits a byte, so a copy of them is planned as one of bytes: all
 * layouts count pairs of elements instead.
 *
 *   int4b_t (64,256):(256,1) -> bytes (64,128):(128,1), and val (1,32):(0,1) -> (1,16):(0,1)
 *
 * That needs the two elements of each byte side by side along one and the same mode everywhere, or some access would hold
 * half a byte. Functions here leave by la_fail, as core's do. */
#include "internal.h"

enum { PAIR = 2 };

/* A leaf of mode k: two neighbours along it share a byte, or it goes in whole bytes. True for the former. */
static bool is_paired(struct la_ctx *cx, const char *name, struct la_layout layout, uint32_t k,
                      const struct la_node *extent, const struct la_node *stride)
{
    if (extent->value == 1)
        return false;
    if (stride->value != 1 && stride->value % PAIR != 0)
        la_fail(cx, LA_E_divisibility,
                "%s %s: the stride %lld of mode %u is no multiple of %d elements of 4 bits, so that some "
                "would begin "
                "in the middle of a byte",
                name, gpu_layout_text(cx, layout), (long long)stride->value, k, PAIR);
    if (stride->value != 1)
        return false;
    if (!stride->is_static)
        la_fail(cx, LA_E_dynamic_stride,
                "%s %s: which elements of 4 bits share a byte must be static: _1, not 1", name,
                gpu_layout_text(cx, layout));
    if (extent->value % PAIR != 0)
        la_fail(cx, LA_E_divisibility,
                "%s %s: mode %u has %lld elements of 4 bits side by side, and the last would be half a byte",
                name, gpu_layout_text(cx, layout), k, (long long)extent->value);
    return true;
}

/* Whether neighbours along mode k share bytes: then they are so from its first coordinate on. */
static bool pairs_mode(struct la_ctx *cx, const char *name, struct la_layout layout, uint32_t k,
                       const struct la_node *s, const struct la_node *d)
{
    int64_t apart = 1; /* coordinates along the mode, from one element of the leaf to the next */
    bool found = false;
    for (uint32_t i = 0; i < s->span; i++) {
        if (s[i].kind != LA_INT)
            continue;
        const bool paired = is_paired(cx, name, layout, k, &s[i], &d[i]);
        if (paired && apart > 1)
            la_fail(cx, LA_E_not_contiguous,
                    "%s %s: the two elements of a byte are %lld apart along mode %u, so that an access would "
                    "hold half "
                    "a byte",
                    name, gpu_layout_text(cx, layout), (long long)apart, k);
        found = found || paired;
        apart *= s[i].value;
    }
    return found;
}

/* The mode along which two neighbours share a byte. */
static uint32_t paired_mode(struct la_ctx *cx, const char *name, struct la_layout layout)
{
    const uint32_t rank = la_rank(layout.shape);
    const bool nested = layout.shape->kind == LA_TUPLE;
    const struct la_node *s = layout.shape + nested, *d = layout.stride + nested;
    uint32_t found = rank;
    for (uint32_t k = 0; k < rank; k++, s = la_next(s), d = la_next(d))
        if (pairs_mode(cx, name, layout, k, s, d))
            found = k;
    if (found == rank)
        la_fail(cx, LA_E_not_contiguous,
                "%s %s: no two elements of 4 bits lie side by side, so that each would be half a byte", name,
                gpu_layout_text(cx, layout));
    return found;
}

static void check_swizzle(struct la_ctx *cx, const char *name, struct la_layout layout)
{
    if (layout.outer && layout.outer->kind == LA_K_SWIZZLE && layout.outer->swizzle.bits &&
        layout.outer->swizzle.base < 1)
        la_fail(cx, LA_E_divisibility, "%s %s: the swizzle moves single elements of 4 bits: half bytes", name,
                gpu_layout_text(cx, layout));
}

struct la_layout gpu_pack(struct la_ctx *cx, const char *name, struct la_layout layout, int32_t *mode)
{
    static const char upcast[] = "upcast";
    const int32_t found = (int32_t)paired_mode(cx, name, layout);
    if (*mode >= 0 && *mode != found)
        la_fail(cx, LA_E_not_contiguous,
                "%s %s has the two elements of a byte along mode %d, but val along mode %d: an access would "
                "hold half "
                "a byte",
                name, gpu_layout_text(cx, layout), found, *mode);
    *mode = found;
    check_swizzle(cx, name, layout);
    struct la_call call = {.op = la_op_find(upcast, sizeof upcast - 1), .argc = 1, .targc = 1};
    call.args[0] = (struct la_value){.kind = layout.outer ? LA_K_COMPOSED : LA_K_LAYOUT, .layout = layout};
    call.targs[0] = la_value_tuple(la_int(cx, PAIR, true));
    return call.op->run(cx, &call).layout;
}
