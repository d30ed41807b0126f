/* tma.c: can a tile go between a global tensor and shared memory by TMA, in how many boxes, and by which
 * tensor map?
 *
 *     (4096,4096):(4096,1) of half_t, tile tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, (128,128)):
 *     box 64 along mode 1, 128 along mode 0, swizzle 128 bytes, 2 instructions
 *
 * Shared memory is walked in the order of its offsets, as CuTe's construct_tma_gbasis does with a right
 * inverse: as long as that walks the tile's modes one after the other, each from its beginning in steps of 1,
 * it is one box. What is left over is done by more boxes. Then the rules of cuTensorMapEncodeTiled apply;
 * each is a refusal with its numbers. */
#include "internal.h"

enum {
    BOX_MAX = 256,         /* elements of a box along a dimension */
    GRANULE_BYTES = 16,    /* strides and the inner box are multiples */
    SMEM_ALIGN_BYTES = 128 /* of every box in shared memory */
};
#define EXTENT_MAX (INT64_C(1) << 32)
#define STRIDE_MAX (INT64_C(1) << 40) /* bytes */

/* A leaf of the shared layout: the coordinate of its mode goes up by `step` where the offset goes up by
 * `stride`. */
struct leaf {
    int64_t extent, stride, step;
    uint32_t mode;
};

struct run {
    int64_t extent;
    uint32_t mode;
};

struct tile {
    struct la_ctx *cx;
    struct la_layout tensor, smem;
    uint32_t bits, leaves, runs;
    struct leaf *leaf;
    struct run run[LA_TMA_RANK]; /* the box, innermost first */
    struct la_tma *out;
};

static const struct la_node *mode_of(struct tile *t, const struct la_node *n, uint32_t k)
{
    return la_mode(t->cx, n, k);
}

/* ---- the order of shared memory ------------------------------------------------------------------------ */

/* Leaves of shared memory by stride, those of extent 1 left out. */
static void sort_leaves(struct tile *t)
{
    t->leaf = la_alloc(t->cx, t->smem.shape->span * sizeof *t->leaf);
    for (uint32_t k = 0; k < la_rank(t->smem.shape); k++) {
        const struct la_node *s = mode_of(t, t->smem.shape, k), *d = mode_of(t, t->smem.stride, k);
        int64_t step = 1;
        for (uint32_t i = 0; i < s->span; i++) {
            if (s[i].kind == LA_TUPLE || s[i].value == 1)
                continue;
            uint32_t at = t->leaves++;
            for (; at > 0 && t->leaf[at - 1].stride > d[i].value; at--)
                t->leaf[at] = t->leaf[at - 1];
            t->leaf[at] = (struct leaf){s[i].value, d[i].value, step, k};
            step *= s[i].value;
        }
    }
}

static bool seen(const struct tile *t, uint32_t mode)
{
    for (uint32_t i = 0; i < t->runs; i++)
        if (t->run[i].mode == mode)
            return true;
    return false;
}

/* Take leaves into the box as long as offsets have no gap and every mode is walked from its beginning; gives
 * how many. */
static uint32_t take_box(struct tile *t)
{
    int64_t next = 1;
    uint32_t i = 0;
    for (; i < t->leaves; i++) {
        const struct leaf *l = &t->leaf[i];
        struct run *last = t->runs ? &t->run[t->runs - 1] : NULL;
        if (l->stride != next)
            break;
        if (last && last->mode == l->mode && l->step == last->extent)
            last->extent *= l->extent;
        else if (l->step == 1 && !seen(t, l->mode) && t->runs < LA_TMA_RANK)
            t->run[t->runs++] = (struct run){l->extent, l->mode};
        else
            break;
        next *= l->extent;
    }
    t->out->box_bytes = next * t->bits / 8;
    t->out->instructions = 1;
    return i;
}

/* What the box leaves over is done by more of them, each at an aligned place. */
static void add_repeats(struct tile *t, uint32_t taken)
{
    struct la_tma_repeat *repeat = la_alloc(t->cx, (t->leaves - taken + 1) * sizeof *repeat);
    for (uint32_t i = taken; i < t->leaves; i++) {
        const struct leaf *l = &t->leaf[i];
        const int64_t bytes = l->stride * t->bits / 8;
        t->out->instructions *= l->extent;
        if (bytes % SMEM_ALIGN_BYTES != 0)
            la_fail(t->cx, LA_E_other,
                    "a box has %lld bytes, and the next one would begin %lld bytes on in shared memory, no "
                    "multiple of %d",
                    (long long)t->out->box_bytes, (long long)bytes, SMEM_ALIGN_BYTES);
        repeat[i - taken] = (struct la_tma_repeat){l->mode, l->extent, l->step, l->stride};
    }
    t->out->repeats = t->leaves - taken;
    t->out->repeat = repeat;
}

/* ---- the dimensions of the tensor map ------------------------------------------------------------------ */

static void add_dim(struct tile *t, uint32_t mode, int64_t extent, int64_t stride, int64_t box)
{
    if (t->out->rank == LA_TMA_RANK)
        la_fail(t->cx, LA_E_other, "the tensor has more than %d dimensions: %s", LA_TMA_RANK,
                la_show_layout(t->cx, t->tensor));
    t->out->dim[t->out->rank++] = (struct la_tma_dim){mode, extent, stride * t->bits / 8, box, 1};
}

/* The leaves of a mode of the tensor as dimensions; `box` elements of the mode are in the box. */
static void add_mode(struct tile *t, uint32_t mode, int64_t box)
{
    const struct la_layout a = la_coalesce(t->cx, la_layout_mode(t->cx, t->tensor, mode));
    const bool nested = a.shape->kind == LA_TUPLE;
    const uint32_t n = la_rank(a.shape);
    for (uint32_t i = 0; i < n; i++) {
        const int64_t extent = a.shape[nested + i].value;
        const bool is_last = i + 1 == n;
        const int64_t part = box <= extent || is_last ? box : extent;
        if (box % part != 0 || (!is_last && extent % part != 0))
            la_fail(t->cx, LA_E_other, "a box of %lld elements along mode %u does not fit its extents %s",
                    (long long)box, mode, la_show(t->cx, a.shape));
        add_dim(t, mode, extent, a.stride[nested + i].value, part);
        box /= part;
    }
}

static void add_dims(struct tile *t)
{
    for (uint32_t i = 0; i < t->runs; i++)
        add_mode(t, t->run[i].mode, t->run[i].extent);
    for (uint32_t k = 0; k < la_rank(t->tensor.shape); k++)
        if (!seen(t, k))
            add_mode(t, k, 1);
}

/* ---- the rules of a tensor map ------------------------------------------------------------------------- */

static void check_dim(struct tile *t, uint32_t i)
{
    const struct la_tma_dim *d = &t->out->dim[i];
    if (d->box > BOX_MAX)
        la_fail(t->cx, LA_E_other, "the box has %lld elements along mode %u; %d is the most",
                (long long)d->box, d->mode, BOX_MAX);
    if (d->extent > EXTENT_MAX)
        la_fail(t->cx, LA_E_other, "mode %u has %lld elements; 2^32 is the most", d->mode,
                (long long)d->extent);
    if (i == 0)
        return;
    if (d->stride % GRANULE_BYTES != 0 || d->stride < 0 || d->stride >= STRIDE_MAX)
        la_fail(
            t->cx, LA_E_other,
            "the stride of mode %u is %lld bytes; it must be a multiple of %d, not negative and below 2^40",
            d->mode, (long long)d->stride, GRANULE_BYTES);
}

static void check_inner(struct tile *t)
{
    const struct la_tma_dim *d = &t->out->dim[0];
    const int64_t bytes = d->box * t->bits / 8;
    if (t->runs == 0 || d->stride * 8 != t->bits)
        la_fail(t->cx, LA_E_other,
                "shared memory is contiguous along mode %u, whose stride in the tensor is %lld bytes: it "
                "must be one "
                "element",
                d->mode, (long long)d->stride);
    if (bytes % GRANULE_BYTES != 0)
        la_fail(t->cx, LA_E_other, "the box has %lld bytes along mode %u, no multiple of %d",
                (long long)bytes, d->mode, GRANULE_BYTES);
    if (t->out->swizzle && bytes > t->out->swizzle)
        la_fail(t->cx, LA_E_other, "the box has %lld bytes along mode %u, more than the %d of the swizzle",
                (long long)bytes, d->mode, t->out->swizzle);
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

static void read_swizzle(struct tile *t)
{
    if (!t->smem.outer)
        return;
    if (t->smem.outer->kind != LA_K_SWIZZLE || !la_is(t->smem.offset, 0))
        la_fail(t->cx, LA_E_kind, "%s is more than a swizzled layout", la_show_layout(t->cx, t->smem));
    const struct la_swizzle s = t->smem.outer->swizzle;
    t->out->swizzle = la_swizzle_hardware(s, t->bits);
    if (s.bits && !t->out->swizzle)
        la_fail(
            t->cx, LA_E_other,
            "TMA swizzles 16-byte units, as Swizzle<1..3,4,3> of bytes; Swizzle<%d,%d,%d> of %u bits is none",
            s.bits, s.base, s.shift, t->bits);
}

static void check_shapes(struct tile *t)
{
    const uint32_t rank = la_rank(t->smem.shape);
    if (t->tensor.outer)
        la_fail(t->cx, LA_E_kind, "a global tensor is not swizzled: %s", la_show_layout(t->cx, t->tensor));
    if (rank > la_rank(t->tensor.shape))
        la_fail(t->cx, LA_E_rank_mismatch, "the tile in shared memory has %u modes, but %s only %u", rank,
                la_show_layout(t->cx, t->tensor), la_rank(t->tensor.shape));
    const struct la_facts smem = la_facts_of(t->cx, t->smem), tensor = la_facts_of(t->cx, t->tensor);
    if (smem.low < 0 || smem.high >= LA_REACH_PERIOD)
        la_fail(t->cx, LA_E_limit, "%s reaches from %lld to %lld, beyond shared memory",
                la_show_layout(t->cx, t->smem), (long long)smem.low, (long long)smem.high);
    if (tensor.low < 0 || tensor.high >= STRIDE_MAX)
        la_fail(t->cx, LA_E_limit, "%s reaches from %lld to %lld, beyond a tensor map",
                la_show_layout(t->cx, t->tensor), (long long)tensor.low, (long long)tensor.high);
}

static void build(struct la_ctx *cx, void *arg)
{
    struct tile *t = arg;
    t->smem = la_position_independent(cx, t->smem);
    check_shapes(t);
    read_swizzle(t);
    t->out->alignment = t->out->swizzle ? 8 * (int64_t)t->out->swizzle : SMEM_ALIGN_BYTES;
    sort_leaves(t);
    const uint32_t taken = take_box(t);
    add_dims(t);
    check_inner(t);
    for (uint32_t i = 0; i < t->out->rank; i++)
        check_dim(t, i);
    add_repeats(t, taken);
}

struct la_tma la_tma_of(struct la_ctx *cx, struct la_layout tensor, struct la_layout smem, uint32_t bits)
{
    struct la_tma out = {0};
    if (bits != 8 && bits != 16 && bits != 32 && bits != 64)
        la_fail(cx, LA_E_domain, "a tensor map has elements of 8, 16, 32 or 64 bits, not of %u", bits);
    struct tile t = {.cx = cx, .tensor = tensor, .smem = smem, .bits = bits, .out = &out};
    out.legal = la_try(cx, build, &t);
    if (!out.legal)
        out.why = la_format(cx, "%s", cx->error.message);
    return out;
}
