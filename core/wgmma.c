/* wgmma.c: is a layout of shared memory one that wgmma can read through a descriptor, and what does that say?
 *
 *     tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, (128,64)), K-major:
 *     an instruction's 64x16 is ((8,8),2):((8,64),1) in units of 16 bytes; LBO is 16 and SBO 1024 bytes
 *
 * The canonical forms, in units of 16 bytes, W being 2, 4 or 8 by the swizzle of 32, 64 or 128 bytes:
 *                 swizzled                              without a swizzle (W = 1)
 *     K-major     ((8,n),2):((W,SBO),1)                 ((8,n),2):((1,SBO),LBO)
 *     MN-major    ((W,n),(8,k)):((1,LBO),(W,SBO))       ((1,n),(8,k)):((X,SBO),(1,LBO))
 * As make_gmma_desc does it: the operand of one instruction is recast to 16 bytes and divided by the form;
 * what does not come out as the form has it is the reason of a refusal. */
#include "internal.h"

enum {
    UNIT_BYTES = 16,
    UNIT_BITS = 8 * UNIT_BYTES,
    K_BITS = 256, /* of an instruction along k */
    CORE_ROWS = 8,
    FIELD_MAX = (1 << 14) - 1, /* LBO and SBO have 14 bits, in units */
    LEADING_AT = 16,           /* bits of the descriptor */
    STRIDE_AT = 32,
    LAYOUT_TYPE_AT = 62
};

struct question {
    struct la_layout smem; /* position independent */
    uint32_t bits;
    enum la_major major;
    int64_t mn, k; /* elements of an instruction */
    int64_t width; /* W */
    struct la_wgmma *out;
};

/* ---- the swizzle --------------------------------------------------------------------------------------- */

static void read_swizzle(struct la_ctx *cx, struct question *q)
{
    static const char *const k_forms[] = {"((8,n),2):((1,SBO),LBO)", "((8,n),2):((W,SBO),1)"};
    static const char *const mn_forms[] = {"((1,n),(8,k)):((X,SBO),(1,LBO))",
                                           "((W,n),(8,k)):((1,LBO),(W,SBO))"};
    const struct la_swizzle s = q->smem.outer ? q->smem.outer->swizzle : (struct la_swizzle){0, 0, 0};
    q->out->swizzle = s.bits ? la_swizzle_hardware(s, q->bits) : 0;
    q->width = s.bits ? (int64_t)1 << s.bits : 1;
    q->out->canonical = (q->major == LA_MAJOR_K ? k_forms : mn_forms)[s.bits > 0];
    q->out->alignment = s.bits ? CORE_ROWS * (int64_t)q->out->swizzle : UNIT_BYTES;
    if (s.bits && !q->out->swizzle)
        la_fail(cx, LA_E_other,
                "wgmma swizzles 16-byte units, as Swizzle<1..3,4,3> of bytes; Swizzle<%d,%d,%d> of %u bits "
                "is none",
                s.bits, s.base, s.shift, q->bits);
    if (q->smem.outer && !la_is(q->smem.offset, 0))
        la_fail(cx, LA_E_other, "the swizzle begins at the offset %s, but a descriptor has none",
                la_show(cx, q->smem.offset));
}

/* ---- one instruction's operand ------------------------------------------------------------------------- */

static void check_extents(struct la_ctx *cx, struct question *q)
{
    const int64_t wanted[2] = {q->mn, q->k};
    static const char *const names[2] = {"mn", "k"};
    if (la_rank(q->smem.shape) != 2)
        la_fail(cx, LA_E_rank_mismatch, "a descriptor is made of two modes, (mn,k), not of %s",
                la_show_layout(cx, q->smem));
    for (uint32_t i = 0; i < 2; i++) {
        const int64_t has = la_product(cx, la_mode(cx, q->smem.shape, i))->value;
        if (has % wanted[i] != 0)
            la_fail(cx, LA_E_other,
                    "the mode %s has %lld elements, no multiple of the %lld of an instruction", names[i],
                    (long long)has, (long long)wanted[i]);
        q->out->instructions[i] = has / wanted[i];
    }
    if (q->major == LA_MAJOR_MN && q->bits != 16)
        la_fail(cx, LA_E_other, "wgmma reads elements of %u bits K-major only; MN-major needs 16 bits",
                q->bits);
}

/* Bytes between instructions along mode i: one stride, when its modes are one. */
static int64_t step_of(struct la_ctx *cx, struct question *q, struct la_layout rest, uint32_t i)
{
    const struct la_layout mode = la_coalesce(cx, la_layout_mode(cx, rest, i));
    if (mode.shape->kind == LA_TUPLE)
        return -1;
    return mode.stride->value * q->bits / 8;
}

/* Mode 0 of the layout divided by an instruction, in units of 16 bytes. */
static struct la_layout operand_of(struct la_ctx *cx, struct question *q)
{
    const struct la_node *extents[2] = {la_int(cx, q->mn, true), la_int(cx, q->k, true)};
    const struct la_layout zipped = la_zipped_divide(cx, la_inner(q->smem),
                                                     la_value_tuple(la_tuple(cx, 2, extents)));
    const struct la_layout operand = la_layout_mode(cx, zipped, 0), rest = la_layout_mode(cx, zipped, 1);
    q->out->step[0] = step_of(cx, q, rest, 0);
    q->out->step[1] = step_of(cx, q, rest, 1);
    const uint32_t contiguous = q->major == LA_MAJOR_K;
    const struct la_layout mode = la_coalesce(cx, la_layout_mode(cx, operand, contiguous));
    const bool nested = mode.shape->kind == LA_TUPLE;
    const int64_t run = mode.shape[nested].value, stride = mode.stride[nested].value;
    const int64_t unit = UNIT_BITS / q->bits;
    if (stride != 1 || run % unit != 0)
        la_fail(cx, LA_E_other,
                "%s-major: 16 bytes along %s must be contiguous, but that mode is %s in elements of %u bits",
                contiguous ? "K" : "MN", contiguous ? "k" : "mn", la_show_layout(cx, mode), q->bits);
    return la_upcast(cx, la_value_layout(operand), la_int(cx, unit, true)).layout;
}

/* ---- the form ------------------------------------------------------------------------------------------ */

/* Stride (i,j) of the divided operand; fails when it is no single number. */
static int64_t stride_at(struct la_ctx *cx, struct question *q, struct la_layout divided, uint32_t i,
                         uint32_t j)
{
    const struct la_node *d = la_mode(cx, la_mode(cx, divided.stride, i), j);
    if (d->kind != LA_INT)
        la_fail(cx, LA_E_other, "%s has the strides %s where %s has one", q->out->found, la_show(cx, d),
                q->out->canonical);
    return d->value;
}

static void expect_stride(struct la_ctx *cx, const struct question *q, const char *what, int64_t has,
                          int64_t wants)
{
    if (has != wants)
        la_fail(cx, LA_E_other, "%s: %s is %lld units of 16 bytes apart, but %s has %lld (W is %lld)",
                q->out->found, what, (long long)has, q->out->canonical, (long long)wants,
                (long long)q->width);
}

static struct la_layout divided_by(struct la_ctx *cx, struct la_layout operand, int64_t a, int64_t b)
{
    const struct la_node *tiles[2] = {
        la_value_node(cx, la_value_layout(la_plain(la_int(cx, a, true), la_one))),
        la_value_node(cx, la_value_layout(la_plain(la_int(cx, b, true), la_one)))};
    return la_logical_divide(cx, operand, la_value_tuple(la_tuple(cx, 2, tiles)));
}

static void match_k_major(struct la_ctx *cx, struct question *q, struct la_layout operand)
{
    const struct la_layout divided = divided_by(cx, operand, CORE_ROWS, 2);
    const int64_t unit = stride_at(cx, q, divided, 1, 0);
    expect_stride(cx, q, "the next row", stride_at(cx, q, divided, 0, 0), q->width);
    if (q->width > 1)
        expect_stride(cx, q, "the next piece along k", unit, 1);
    q->out->stride = stride_at(cx, q, divided, 0, 1) * UNIT_BYTES;
    q->out->leading = unit * UNIT_BYTES;
}

static void match_mn_major(struct la_ctx *cx, struct question *q, struct la_layout operand)
{
    if (la_product(cx, la_mode(cx, operand.shape, 0))->value % q->width != 0)
        la_fail(cx, LA_E_other, "an instruction has %lld pieces of 16 bytes along mn, no multiple of %lld",
                (long long)la_product(cx, la_mode(cx, operand.shape, 0))->value, (long long)q->width);
    const struct la_layout divided = divided_by(cx, operand, q->width, CORE_ROWS);
    if (q->width > 1)
        expect_stride(cx, q, "the next piece along mn", stride_at(cx, q, divided, 0, 0), 1);
    expect_stride(cx, q, "the next row along k", stride_at(cx, q, divided, 1, 0), q->width);
    const int64_t along_mn = stride_at(cx, q, divided, 0, 1) * UNIT_BYTES;
    const int64_t along_k = stride_at(cx, q, divided, 1, 1) * UNIT_BYTES;
    q->out->stride = q->width > 1 ? along_k : along_mn;
    q->out->leading = q->width > 1 ? along_mn : along_k;
}

/* Layout types: 0 without a swizzle, 1, 2, 3 for 128, 64, 32 bytes. */
static void encode(struct la_ctx *cx, struct question *q)
{
    const int64_t leading = q->out->leading / UNIT_BYTES, stride = q->out->stride / UNIT_BYTES;
    uint64_t type = 0;
    if (leading < 0 || leading > FIELD_MAX || stride < 0 || stride > FIELD_MAX)
        la_fail(cx, LA_E_other, "LBO %lld and SBO %lld bytes do not fit the descriptor's 14 bits of 16 bytes",
                (long long)q->out->leading, (long long)q->out->stride);
    for (int32_t s = q->out->swizzle; s && s <= 128; s *= 2)
        type++;
    q->out->descriptor = (uint64_t)leading << LEADING_AT | (uint64_t)stride << STRIDE_AT |
                         type << LAYOUT_TYPE_AT;
}

static void match(struct la_ctx *cx, void *arg)
{
    struct question *q = arg;
    q->smem = la_position_independent(cx, q->smem);
    const struct la_facts f = la_facts_of(cx, q->smem);
    if (f.low < 0 || f.high >= LA_REACH_PERIOD)
        la_fail(cx, LA_E_limit, "%s reaches from %lld to %lld, beyond shared memory",
                la_show_layout(cx, q->smem), (long long)f.low, (long long)f.high);
    if (!la_all_static(q->smem.shape) || !la_all_static(q->smem.stride))
        la_fail(cx, LA_E_dynamic_stride, "a descriptor's layout must be static, unlike %s",
                la_show_layout(cx, q->smem));
    read_swizzle(cx, q);
    check_extents(cx, q);
    const struct la_layout operand = operand_of(cx, q);
    q->out->found = la_print_layout(cx, operand, LA_SPELL_TEXT);
    if (q->major == LA_MAJOR_K)
        match_k_major(cx, q, operand);
    else
        match_mn_major(cx, q, operand);
    encode(cx, q);
}

struct la_wgmma la_wgmma_of(struct la_ctx *cx, struct la_layout smem, uint32_t bits, enum la_major major,
                            int64_t mn)
{
    struct la_wgmma out = {.step = {-1, -1}};
    if (bits != 8 && bits != 16 && bits != 32)
        la_fail(cx, LA_E_domain, "wgmma has no operands of %u bits", bits);
    struct question q = {
        .smem = smem, .bits = bits, .major = major, .mn = mn, .k = K_BITS / bits, .out = &out};
    out.legal = la_try(cx, match, &q);
    if (!out.legal)
        out.why = la_format(cx, "%s", cx->error.message);
    return out;
}
