/* facts.c: what a layout is as a map of numbers: where it reaches, what it leaves out, whether it is a
 * permutation, and its matrix over bits.
 *
 *     (4,2):(1,5)     0..8, the offset 4 unused, injective
 *     (4,4):(4,1)     a permutation of 0..15: 4 fixed, 6 cycles of 2; linear: columns 4 8 1 2
 *
 * Small layouts are counted element by element. Of large ones the strides say what they can prove; linearity
 * is exact for all, since sums are xors exactly when no two columns share a bit. */
#include "internal.h"

#include <string.h>

#define OFFSET_MAX (INT64_C(1) << 60) /* sums and differences of offsets stay within 64 bits */

/* ---- from the strides ---- */

static void set_range(struct la_ctx *cx, struct la_facts *f, struct la_layout a)
{
    for (uint32_t i = 0; i < a.shape->span; i++) {
        int64_t reach;
        if (a.shape[i].kind == LA_TUPLE)
            continue;
        if (a.stride[i].kind != LA_INT || a.stride[i].path)
            la_fail(cx, LA_E_kind, "the layout %s gives coordinates, not offsets",
                    la_show_layout(cx, la_inner(a)));
        if (a.shape[i].value < 1)
            la_fail(cx, LA_E_domain, "%s has no elements", la_show_layout(cx, a));
        if (__builtin_mul_overflow(a.shape[i].value - 1, a.stride[i].value, &reach) ||
            __builtin_add_overflow(reach < 0 ? f->low : f->high, reach, reach < 0 ? &f->low : &f->high))
            la_fail(cx, LA_E_overflow, "the offsets of %s do not fit in 64 bits", la_show_layout(cx, a));
    }
    if (f->low < -OFFSET_MAX || f->high > OFFSET_MAX)
        la_fail(cx, LA_E_overflow, "the offsets of %s reach from %lld to %lld, beyond any memory",
                la_show_layout(cx, a), (long long)f->low, (long long)f->high);
}

static int64_t magnitude(int64_t x)
{
    return x < 0 ? -x : x;
}

/* Strides that step over all that the smaller ones reach meet no offset twice. */
static bool strides_prove_injective(struct la_layout a)
{
    int64_t reached = -1; /* the last stride that was looked at */
    int64_t room = 0;     /* what the modes up to it can add up to */
    for (;;) {
        int64_t least = INT64_MAX, extent = 1;
        uint32_t met = 0;
        for (uint32_t i = 0; i < a.shape->span; i++) {
            if (a.shape[i].kind == LA_TUPLE || a.shape[i].value == 1)
                continue;
            const int64_t d = magnitude(a.stride[i].value);
            if (d <= reached || d > least)
                continue;
            met = d == least ? met + 1 : 1;
            least = d;
            extent = a.shape[i].value;
        }
        if (met == 0)
            return true;
        if (met > 1 || least <= room)
            return false;
        room += (extent - 1) * least; /* at most high - low, which fits */
        reached = least;
    }
}

static void prove(struct la_facts *f, struct la_layout a)
{
    f->known = f->injective = !a.outer && strides_prove_injective(a);
    if (!f->known)
        return;
    f->distinct = f->size;
    f->unused = f->high - f->low + 1 - f->size;
}

/* ---- over bits ---- */

/* The columns of the modes, leftmost first; false when an extent is no power of two or columns share bits. */
static bool set_columns(struct la_facts *f, struct la_layout a)
{
    int64_t seen = 0;
    for (uint32_t i = 0; i < a.shape->span; i++) {
        if (a.shape[i].kind == LA_TUPLE)
            continue;
        if ((a.shape[i].value & (a.shape[i].value - 1)) != 0 ||
            (a.shape[i].value > 1 && a.stride[i].value < 0))
            return false;
        for (int64_t step = 1; step < a.shape[i].value; step *= 2) {
            const int64_t column = a.stride[i].value * step; /* at most high */
            if (seen & column)
                return false;
            seen |= column;
            f->column[f->bits++] = column;
        }
    }
    return true;
}

static uint32_t rank_of(uint32_t n, const int64_t *columns)
{
    int64_t left[64];
    uint32_t rank = 0;
    memcpy(left, columns, n * sizeof *left);
    for (uint32_t i = 0; i < n; i++) {
        if (left[i] == 0)
            continue;
        rank++;
        const int64_t pivot = left[i] & -left[i];
        for (uint32_t k = i + 1; k < n; k++)
            left[k] ^= (left[k] & pivot) != 0 ? left[i] : 0;
    }
    return rank;
}

static void set_linear(struct la_facts *f, struct la_layout a)
{
    if (a.outer && (a.outer->kind != LA_K_SWIZZLE || a.offset->value != 0))
        return;
    f->linear = set_columns(f, a);
    if (!f->linear)
        return;
    for (uint32_t i = 0; a.outer && i < f->bits; i++)
        f->column[i] = la_swizzle_apply(a.outer->swizzle, f->column[i]);
    f->rank = rank_of(f->bits, f->column);
}

/* ---- by counting ---- */

/* Which index takes each offset first, + 1; 0: none. */
static int32_t *take_offsets(struct la_ctx *cx, struct la_facts *f, const int64_t *offsets)
{
    const size_t span = (size_t)(f->high - f->low + 1);
    int32_t *taker = la_alloc(cx, span * sizeof *taker);
    memset(taker, 0, span * sizeof *taker);
    f->injective = true;
    for (int64_t i = 0; i < f->size; i++) {
        int32_t *t = &taker[offsets[i] - f->low];
        if (*t == 0) {
            *t = (int32_t)i + 1;
            f->distinct++;
        } else if (f->injective) {
            f->injective = false;
            f->same[0] = *t - 1;
            f->same[1] = i;
        }
    }
    return taker;
}

static void find_gaps(struct la_facts *f, const int32_t *taker)
{
    f->unused = f->high - f->low + 1 - f->distinct;
    for (int64_t x = f->low; x <= f->high && f->gaps_told < LA_EXAMPLES && f->unused > 0; x++) {
        if (taker[x - f->low])
            continue;
        int64_t *gap = f->gap[f->gaps_told++];
        gap[0] = x;
        while (!taker[x - f->low]) /* the last offset is taken */
            x++;
        gap[1] = x;
    }
}

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        const int64_t c = a % b;
        a = b;
        b = c;
    }
    return a;
}

/* How often the permutation must be applied to give every index back: the least common multiple of its
 * cycles. */
static void find_cycles(struct la_ctx *cx, struct la_facts *f, const int64_t *offsets)
{
    bool *seen = la_alloc(cx, (size_t)f->size), fits = true;
    memset(seen, 0, (size_t)f->size);
    f->order = 1;
    for (int64_t i = 0; i < f->size; i++) {
        int64_t length = 0;
        for (int64_t x = i; !seen[x]; x = offsets[x], length++)
            seen[x] = true;
        if (length == 0)
            continue;
        f->cycles += length > 1;
        f->fixed += length == 1;
        f->longest = length > f->longest ? length : f->longest;
        fits = fits && !__builtin_mul_overflow(f->order / gcd(f->order, length), length, &f->order);
    }
    f->order = fits ? f->order : 0;
}

static void count(struct la_ctx *cx, struct la_facts *f, struct la_layout a)
{
    int64_t *offsets = la_alloc(cx, (size_t)f->size * sizeof *offsets);
    la_offsets(cx, a, f->size, offsets);
    f->low = f->high = offsets[0];
    for (int64_t i = 1; i < f->size; i++) {
        f->low = offsets[i] < f->low ? offsets[i] : f->low;
        f->high = offsets[i] > f->high ? offsets[i] : f->high;
    }
    if (f->high - f->low >= LA_FACTS_SPAN)
        return;
    f->counted = f->known = true;
    f->distinct = 0;
    find_gaps(f, take_offsets(cx, f, offsets));
    f->permutation = f->injective && f->low == 0 && f->high == f->size - 1;
    if (f->permutation)
        find_cycles(cx, f, offsets);
}

struct la_facts la_facts_of(struct la_ctx *cx, struct la_layout a)
{
    a = la_position_independent(cx, a);
    struct la_facts f = {.size = la_to_i64(cx, la_size(cx, a), "the size")};
    if (a.outer && a.outer->kind != LA_K_SWIZZLE)
        la_fail(cx, LA_E_kind, "%s: a memory layout may be swizzled, but not composed with a layout",
                la_show_layout(cx, a));
    set_range(cx, &f, a);
    prove(&f, a);
    set_linear(&f, a);
    if (f.size <= LA_FACTS_CELLS && f.high - f.low < LA_FACTS_SPAN)
        count(cx, &f, a);
    return f;
}
