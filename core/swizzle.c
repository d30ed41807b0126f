/* swizzle.c: Swizzle<B,M,S>, which xors B bits of an offset into B others, and layouts composed with it.
 *
 *     0bxxxxYYYxxxZZZxxxx     ZZZ ^= YYY: M low bits stay, B bits, S apart (S < 0: YYY is the lower one)
 *
 * Slicing a swizzled layout gives a plain layout again where the sliced modes touch only one of each pair of bits; the
 * strides of those bits then depend on the coordinate, and are static only as far as CuTe can know it. For that the
 * offset is kept as CuTe's MixedBits: which bits are known statically, which at run time. */
#include "internal.h"

/* ---- the function ---- */

int64_t la_swizzle_y(struct la_swizzle s)
{
    return (((int64_t)1 << s.bits) - 1) << (s.base + (s.shift > 0 ? s.shift : 0));
}

int64_t la_swizzle_z(struct la_swizzle s)
{
    return (((int64_t)1 << s.bits) - 1) << (s.base - (s.shift < 0 ? s.shift : 0));
}

static int64_t shift_right(int64_t x, int32_t by)
{
    return by >= 0 ? x >> by : x << -by;
}

int64_t la_swizzle_apply(struct la_swizzle s, int64_t x)
{
    return x ^ shift_right(x & la_swizzle_y(s), s.shift);
}

struct la_swizzle la_make_swizzle(struct la_ctx *cx, int64_t bits, int64_t base, int64_t shift)
{
    const int64_t distance = shift < 0 ? -shift : shift;
    if (bits < 0 || base < 0 || bits > 31 || base > 31 || distance > 31 || base + distance + bits > 31)
        la_fail(cx, LA_E_domain, "Swizzle<%lld,%lld,%lld> does not lie in the 31 bits of an offset",
                (long long)bits, (long long)base, (long long)shift);
    if (distance < bits)
        la_fail(cx, LA_E_domain,
                "Swizzle<%lld,%lld,%lld>: the shift must be at least as large as the number of bits",
                (long long)bits, (long long)base, (long long)shift);
    return (struct la_swizzle){(int32_t)bits, (int32_t)base, (int32_t)shift};
}

/* The swizzle that xors the bits y into the bits z: make_swizzle<0b11000000, 0b110>() is Swizzle<2,1,5>. */
struct la_swizzle la_swizzle_of_masks(struct la_ctx *cx, int64_t y, int64_t z)
{
    if (y < 0 || z < 0 || y > INT32_MAX || z > INT32_MAX)
        la_fail(cx, LA_E_domain, "the masks %lld and %lld do not lie in the 31 bits of an offset",
                (long long)y, (long long)z);
    const int bits = __builtin_popcountll((uint64_t)y);
    if (bits != __builtin_popcountll((uint64_t)z))
        la_fail(cx, LA_E_other,
                "no swizzle has the masks %#llx and %#llx: they have different numbers of bits", (long long)y,
                (long long)z);
    if (bits == 0)
        return (struct la_swizzle){0, 0, 0};
    const int low_y = __builtin_ctzll((uint64_t)y), low_z = __builtin_ctzll((uint64_t)z);
    const int shift = low_y - low_z;
    if ((shift < 0 ? -shift : shift) >= bits) {
        const struct la_swizzle s = la_make_swizzle(cx, bits, low_y < low_z ? low_y : low_z, shift);
        if (la_swizzle_y(s) == y && la_swizzle_z(s) == z)
            return s;
    }
    la_fail(cx, LA_E_other, "no swizzle has the masks %#llx and %#llx: their bits are not two separate runs",
            (long long)y, (long long)z);
}

/* Law: compose_swizzle(s, o, L)(c) = s(o + L(c)); a swizzle of no bits and no offset is L itself. */
struct la_layout la_compose_swizzle(struct la_ctx *cx, struct la_swizzle s, const struct la_node *offset,
                                    struct la_layout a)
{
    if (a.outer)
        la_fail(cx, LA_E_kind, "a swizzle of a layout that is already composed");
    if (s.bits == 0 && la_is(offset, 0))
        return a;
    struct la_value *outer = la_alloc(cx, sizeof *outer);
    *outer = (struct la_value){.kind = LA_K_SWIZZLE, .swizzle = s};
    a.outer = outer;
    a.offset = offset;
    return a;
}

/* ---- offsets of which some bits are static ---- */

/* A static number is {known, 0, 0}. */
static struct la_bits bits_make(uint32_t known, uint32_t run, uint32_t free)
{
    free &= ~known;
    return (struct la_bits){known, free, run & free};
}

static struct la_bits bits_xor(struct la_bits a, struct la_bits b)
{
    const uint32_t known = (a.known ^ b.known) & ~(a.free | b.free);
    return bits_make(known, (a.known | a.run) ^ (b.known | b.run), a.free | b.free);
}

static struct la_bits bits_and(struct la_bits a, uint32_t mask)
{
    return bits_make(a.known & mask, a.run, a.free & mask);
}

static struct la_bits bits_of(struct la_ctx *cx, const struct la_node *n)
{
    if (n->kind == LA_BITS)
        return *n->bits;
    if (n->kind != LA_INT || n->path || n->value < 0 || n->value > UINT32_MAX)
        la_fail(cx, LA_E_domain, "%s is not an offset of 32 bits", la_show(cx, n));
    const uint32_t v = (uint32_t)n->value;
    return n->is_static ? bits_make(v, 0, 0) : bits_make(0, v, UINT32_MAX);
}

static const struct la_node *bits_node(struct la_ctx *cx, struct la_bits b)
{
    if (b.free == 0)
        return la_int(cx, b.known, true);
    struct la_bits *bits = la_alloc(cx, sizeof *bits);
    *bits = b;
    struct la_node *n = la_alloc(cx, sizeof *n);
    *n = (struct la_node){.value = b.known | b.run, .bits = bits, .span = 1, .kind = LA_BITS};
    return n;
}

/* The bits that coord * stride may have: static where the coordinate is, or where the mode has none. */
static struct la_bits bits_of_coord(struct la_ctx *cx, const struct la_node *shape,
                                    const struct la_node *stride, const struct la_node *coord)
{
    if (shape->kind == LA_TUPLE) {
        if (coord->kind != LA_TUPLE || la_rank(coord) != la_rank(shape))
            la_fail(cx, LA_E_rank_mismatch, "the coordinate %s does not fit the shape %s", la_show(cx, coord),
                    la_show(cx, shape));
        struct la_bits sum = {0};
        const struct la_node *d = stride + 1, *c = coord + 1;
        for (const struct la_node *s = shape + 1; s < shape + shape->span;
             s = la_next(s), d = la_next(d), c = la_next(c))
            sum = bits_xor(sum, bits_of_coord(cx, s, d, c));
        return sum;
    }
    const struct la_node *extent = la_mul(cx, shape, stride);
    const int64_t e = extent->value;
    if (!extent->is_static || e < 0 || e > UINT32_MAX || (e & (e - 1)) != 0)
        la_fail(cx, LA_E_other, "slicing a swizzle needs static powers of two, not the mode %s:%s",
                la_show(cx, shape), la_show(cx, stride));
    const struct la_node *offset = la_mul(cx, coord, stride);
    const uint32_t free = (uint32_t)((shape->value - 1) * stride->value);
    const uint32_t v = (uint32_t)offset->value;
    return offset->is_static ? bits_make(v & free, 0, 0) : bits_make(0, v, free);
}

/* ---- slicing ---- */

/* The swizzle's domain as (low, lower bits, between, upper bits, rest), each with the given stride or _0. */
static struct la_layout projection(struct la_ctx *cx, struct la_swizzle s, bool swizzled_bits)
{
    const int32_t distance = s.shift < 0 ? -s.shift : s.shift;
    const int32_t width[4] = {s.base, s.bits, distance - s.bits, s.bits};
    const struct la_node *shape[5], *stride[5];
    int32_t at = 0;
    for (int i = 0; i < 4; i++) {
        const bool kept = (i % 2 == 1) == swizzled_bits;
        shape[i] = la_int(cx, (int64_t)1 << width[i], true);
        stride[i] = kept ? la_int(cx, width[i] == 0 ? 0 : (int64_t)1 << at, true) : la_zero;
        at += width[i];
    }
    shape[4] = la_one;
    stride[4] = swizzled_bits ? la_zero : la_int(cx, (int64_t)1 << at, true);
    return la_plain(la_tuple(cx, 5, shape), la_tuple(cx, 5, stride));
}

/* The stride of bit i of the lower or the upper run, after the swizzle, when the sliced-off coordinate gives offset. */
static const struct la_node *bit_stride(struct la_ctx *cx, struct la_swizzle s, bool is_z, int i,
                                        struct la_bits offset)
{
    const int64_t z = (la_swizzle_z(s) & -la_swizzle_z(s)) << i, y = (la_swizzle_y(s) & -la_swizzle_y(s))
                                                                     << i;
    const struct la_bits partner = bits_and(offset, (uint32_t)(is_z ? y : z));
    const int64_t when_clear = is_z ? z : y + z, when_set = is_z ? -z : y - z;
    return la_int(cx, (partner.known | partner.run) ? when_set : when_clear, partner.free == 0);
}

/* The layout that equals the swizzle where only one bit of each pair moves. */
static struct la_layout unswizzled(struct la_ctx *cx, struct la_swizzle s, struct la_bits offset)
{
    const int32_t distance = s.shift < 0 ? -s.shift : s.shift;
    const struct la_node *twos[32], *lower[32], *upper[32];
    for (int i = 0; i < s.bits; i++) {
        twos[i] = la_int(cx, 2, true);
        lower[i] = bit_stride(cx, s, la_swizzle_z(s) < la_swizzle_y(s), i, offset);
        upper[i] = bit_stride(cx, s, la_swizzle_z(s) > la_swizzle_y(s), i, offset);
    }
    const uint32_t b = (uint32_t)s.bits;
    const struct la_node *pairs = la_repeat_like(cx, la_tuple(cx, b, twos), la_int(cx, 2, true));
    const struct la_node *shape[5] = {la_int(cx, (int64_t)1 << s.base, true), pairs,
                                      la_int(cx, (int64_t)1 << (distance - s.bits), true), pairs, la_one};
    const struct la_node *stride[5] = {
        la_one, la_tuple(cx, b, lower), la_int(cx, (int64_t)1 << (s.base + s.bits), true),
        la_tuple(cx, b, upper), la_int(cx, (int64_t)1 << (s.base + s.bits + distance), true)};
    return la_plain(la_tuple(cx, 5, shape), la_tuple(cx, 5, stride));
}

struct sliced {
    struct la_layout layout;
    const struct la_node *offset;
};

static struct sliced slice_swizzled(struct la_ctx *cx, const struct la_node *coord, struct la_layout a)
{
    const struct la_layout rest = la_plain(la_slice(cx, coord, a.shape), la_slice(cx, coord, a.stride));
    if (la_all_any(coord))
        return (struct sliced){la_rewrap(a, rest), la_zero};
    const struct la_swizzle s = a.outer->swizzle;
    const struct la_layout only_zy = projection(cx, s, true), anti_zy = projection(cx, s, false);
    const struct la_layout diced = la_plain(la_dice(cx, coord, a.shape), la_dice(cx, coord, a.stride));
    const struct la_node *at = la_dice(cx, coord, coord);
    const struct la_layout diced_zy = la_composition(cx, only_zy, la_value_layout(diced));
    const struct la_layout diced_other = la_composition(cx, anti_zy, la_value_layout(diced));
    const struct la_node *at_zy = la_idx2crd(cx, at, diced_zy.shape, NULL);
    const struct la_bits offset = bits_xor(bits_of(cx, a.offset),
                                           bits_of_coord(cx, diced_zy.shape, diced_zy.stride, at_zy));
    const struct la_node *other = la_layout_at(cx, diced_other, at);

    const struct la_layout rest_zy = la_composition(cx, only_zy, la_value_layout(rest));
    const struct la_node *active = la_layout_at(cx, rest_zy, la_sub(cx, la_size(cx, rest_zy), la_one));
    const int64_t bits = la_to_i64(cx, active, "the last offset of a slice");
    if (active->is_static &&
        (bits & ~la_swizzle_apply(s, bits)) != 0) /* both bits of a pair move: no plain layout */
        return (struct sliced){la_compose_swizzle(cx, s, bits_node(cx, offset), rest), other};
    const struct la_node *base = la_int(cx, la_swizzle_apply(s, offset.known | offset.run), offset.free == 0);
    return (struct sliced){la_composition(cx, unswizzled(cx, s, offset), la_value_layout(rest)),
                           la_add(cx, base, other)};
}

/* The offset at which the slice of a plain layout begins; the modes at _ count as coordinate 0. */
static const struct la_node *slice_offset(struct la_ctx *cx, const struct la_node *coord, struct la_layout a)
{
    if (la_all_any(coord))
        return la_zero;
    return la_crd2idx(cx, la_dice(cx, coord, coord), la_dice(cx, coord, a.shape),
                      la_dice(cx, coord, a.stride));
}

static struct sliced slice_any(struct la_ctx *cx, const struct la_node *coord, struct la_layout a)
{
    struct la_layout rest = la_plain(la_slice(cx, coord, a.shape), la_slice(cx, coord, a.stride));
    if (a.outer && a.offset->kind == LA_SMEM) { /* a slice that begins elsewhere has no room for the flag */
        if (la_is(slice_offset(cx, coord, a), 0))
            return (struct sliced){la_rewrap(a, rest), la_zero};
        a = la_position_independent(cx, a);
    }
    if (a.outer && a.outer->kind == LA_K_SWIZZLE)
        return slice_swizzled(cx, coord, a);
    const struct la_node *offset = slice_offset(cx, coord, a);
    if (!a.outer)
        return (struct sliced){rest, offset};
    rest.outer = a.outer;
    rest.offset = la_add(cx, a.offset, offset);
    return (struct sliced){rest, la_zero};
}

/* layout(coord) with _ in coord: the sublayout of the modes at _. */
struct la_value la_slice_value(struct la_ctx *cx, const struct la_node *coord, struct la_layout a)
{
    return la_value_layout(slice_any(cx, coord, a).layout);
}

struct la_value la_slice_and_offset(struct la_ctx *cx, const struct la_node *coord, struct la_layout a)
{
    const struct sliced s = slice_any(cx, coord, a);
    const struct la_node *both[2] = {la_value_node(cx, la_value_layout(s.layout)), s.offset};
    return la_value_tuple(la_tuple(cx, 2, both));
}

/* ---- the operations ---- */

static struct la_value op_make_swizzle(struct la_ctx *cx, const struct la_call *call)
{
    if (call->targc != 2 || call->targs[0].kind != LA_K_INT || call->targs[1].kind != LA_K_INT)
        la_fail(cx, LA_E_arity, "it takes two masks in <...>: the bits that are xored, and into which");
    return (struct la_value){
        .kind = LA_K_SWIZZLE,
        .swizzle = la_swizzle_of_masks(cx, call->targs[0].tuple->value, call->targs[1].tuple->value)};
}

static struct la_value op_get_swizzle_portion(struct la_ctx *cx, const struct la_call *call)
{
    const struct la_value *outer = call->args[0].layout.outer;
    if (outer && outer->kind != LA_K_SWIZZLE)
        la_fail_arg(cx, 0, LA_E_kind, "its outer function is a layout, not a swizzle");
    return (struct la_value){.kind = LA_K_SWIZZLE,
                             .swizzle = outer ? outer->swizzle : (struct la_swizzle){0, 4, 3}};
}

static struct la_value op_get_nonswizzle_portion(struct la_ctx *cx, const struct la_call *call)
{
    (void)cx;
    return la_value_layout(la_inner(call->args[0].layout));
}

const struct la_op la_ops_swizzle[] = {
    {.name = "make_swizzle",
     .doc = "The swizzle that xors the bits of one mask into those of another.",
     .params = {{0}},
     .template_params = "<Y,Z>",
     .gives = LA_K_SWIZZLE,
     .run = op_make_swizzle,
     .example = "make_swizzle<192,6>()",
     .result = "Sw<2,1,5>"},
    {.name = "get_swizzle_portion",
     .doc = "The swizzle of a swizzled layout; of a plain one the swizzle of no bits.",
     .params = {{"layout", LA_K_ANYLAYOUT}},
     .gives = LA_K_SWIZZLE,
     .run = op_get_swizzle_portion,
     .example = "get_swizzle_portion(composition(Swizzle<3,3,3>{}, (_8,_64):(_64,_1)))",
     .result = "Sw<3,3,3>"},
    {.name = "get_nonswizzle_portion",
     .doc = "The layout that is swizzled.",
     .params = {{"layout", LA_K_ANYLAYOUT}},
     .gives = LA_K_LAYOUT,
     .run = op_get_nonswizzle_portion,
     .example = "get_nonswizzle_portion(composition(Swizzle<3,3,3>{}, (_8,_64):(_64,_1)))",
     .result = "(_8,_64):(_64,_1)"},
    {0}};
