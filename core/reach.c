/* reach.c: where in memory a partition reaches, in every tile that a layout is cut into.
 *
 *     tile (32,64) over (4096,4096):(4096,1): 128 x 64 tiles, all of one kind, at multiples of 64 elements
 *
 * zipped_divide makes an offset the sum of a part within the tile and of the tile's origin. What an
 * instruction costs depends on its origin modulo 128 bytes (and modulo what a swizzle looks at), so that a
 * few kinds of tiles stand for millions: the residues of the modes of the rest are added up like the faces of
 * dice. A mode that the tile does not divide has a last tile of its own kind, in which some threads lie
 * beyond the shape. */
#include "internal.h"

#include <string.h>

enum {
    PERIOD_MAX = LA_REACH_PERIOD,
    SUM_STEPS = 1 << 24 /* of one sum of residues: tens of milliseconds */
};
#define OFFSET_MAX (INT64_C(1) << 55) /* of an element from its tile's origin: in bits it still fits in 64 */

/* ---- sums of residues ---- */

/* How many tiles begin at each residue modulo the period. */
struct dice {
    uint32_t n;
    int64_t *residue, *count;
};

static struct dice dice_new(struct la_ctx *cx, int64_t most)
{
    return (struct dice){.residue = la_alloc(cx, (size_t)most * sizeof(int64_t)),
                         .count = la_alloc(cx, (size_t)most * sizeof(int64_t))};
}

static void dice_add(struct dice *d, int64_t residue, int64_t count)
{
    d->residue[d->n] = residue;
    d->count[d->n++] = count;
}

static int64_t residue_of(int64_t x, int64_t period)
{
    return x & (period - 1);
}

/* All sums of one residue of each; counts multiply. */
static struct dice dice_sum(struct la_ctx *cx, int64_t period, struct dice a, struct dice b)
{
    if (b.n == 1 && b.residue[0] == 0 && b.count[0] == 1)
        return a;
    if (b.n > 0 && a.n > SUM_STEPS / b.n)
        la_fail(cx, LA_E_limit, "tiles begin at %u times %u different places: too many to tell apart", a.n,
                b.n);
    int64_t *count = la_alloc(cx, (size_t)period * sizeof *count);
    memset(count, 0, (size_t)period * sizeof *count);
    uint32_t distinct = 0;
    for (uint32_t i = 0; i < a.n; i++)
        for (uint32_t k = 0; k < b.n; k++) {
            int64_t *at = &count[residue_of(a.residue[i] + b.residue[k], period)];
            distinct += *at == 0;
            *at += a.count[i] * b.count[k]; /* at most the number of tiles, which fits */
        }
    struct dice sum = dice_new(cx, distinct);
    for (int64_t r = 0; r < period; r++)
        if (count[r])
            dice_add(&sum, r, count[r]);
    return sum;
}

/* The residues of i * stride for i < extent: they repeat after period / gcd(stride, period) steps. */
static struct dice dice_of_mode(struct la_ctx *cx, int64_t period, int64_t extent, int64_t stride)
{
    const int64_t step = residue_of(stride, period);
    const int64_t cycle = step == 0 ? 1 : period >> __builtin_ctzll((uint64_t)step);
    const int64_t n = extent < cycle ? extent : cycle;
    struct dice d = dice_new(cx, n);
    for (int64_t i = 0; i < n; i++)
        dice_add(&d, residue_of(i * step, period), extent / cycle + (i < extent % cycle));
    return d;
}

static struct dice dice_of_layout(struct la_ctx *cx, int64_t period, struct la_layout a)
{
    struct dice sum = dice_of_mode(cx, period, 1, 0);
    for (uint32_t i = 0; i < a.shape->span; i++)
        if (a.shape[i].kind == LA_INT)
            sum = dice_sum(cx, period, sum, dice_of_mode(cx, period, a.shape[i].value, a.stride[i].value));
    return sum;
}

/* ---- the modes that tiles are counted along ---- */

struct axis {
    int64_t tile, extent, tiles; /* elements of a tile and of the shape along it */
    struct dice whole, last;     /* the tiles that fill the shape; the one that does not */
};

static bool cut_short(const struct axis *x)
{
    return x->extent % x->tile != 0;
}

/* All tiles of an axis are whole but for the last one, when the shape cuts it short. */
static void roll(struct la_ctx *cx, struct axis *x, int64_t period, struct la_layout rest)
{
    x->whole = dice_of_layout(cx, period, rest);
    if (!cut_short(x))
        return;
    const struct la_node *final = la_layout_at(cx, rest, la_int(cx, x->tiles - 1, true));
    const int64_t r = residue_of(la_to_i64(cx, final, "the origin of a tile"), period);
    x->last = dice_of_mode(cx, period, 1, 0);
    x->last.residue[0] = r;
    struct dice others = dice_new(cx, x->whole.n);
    for (uint32_t i = 0; i < x->whole.n; i++) {
        const int64_t count = x->whole.count[i] - (x->whole.residue[i] == r);
        if (count > 0)
            dice_add(&others, x->whole.residue[i], count);
    }
    x->whole = others;
}

static uint32_t measure_axes(struct la_ctx *cx, struct la_reach *r, struct la_layout rest, struct axis *axes)
{
    const uint32_t rank = la_rank(r->memory.shape), tile_rank = la_rank(r->part.tiler);
    r->tiles = 1;
    for (uint32_t k = 0; k < rank; k++) {
        struct axis *x = &axes[k];
        const struct la_layout mode = la_layout_mode(cx, rest, k);
        x->tile = k < tile_rank ? la_mode(cx, r->part.tiler, k)->value : 1;
        x->extent = la_to_i64(cx, la_product(cx, la_mode(cx, r->memory.shape, k)), "an extent");
        x->tiles = (x->extent - 1) / x->tile + 1;
        const int64_t divided = la_to_i64(cx, la_size(cx, mode), "a number of tiles");
        if (divided != x->tiles)
            la_fail(cx, LA_E_other, "mode %u has %lld tiles, but dividing it gives %lld", k,
                    (long long)x->tiles, (long long)divided);
        if (__builtin_mul_overflow(r->tiles, x->tiles, &r->tiles))
            la_fail(cx, LA_E_limit, "more than 2^63 tiles");
        roll(cx, x, r->period, mode);
    }
    return rank;
}

/* ---- kinds of tiles ---- */

/* The residues of the tiles that are the last ones along exactly the modes in `edges`; none when there is no
 * such. */
static struct dice tiles_at(struct la_ctx *cx, int64_t period, uint32_t rank, const struct axis *axes,
                            uint32_t edges)
{
    struct dice sum = dice_of_mode(cx, period, 1, 0);
    for (uint32_t k = 0; k < rank; k++)
        sum = dice_sum(cx, period, sum, edges >> k & 1 ? axes[k].last : axes[k].whole);
    return sum;
}

static void set_kinds(struct la_ctx *cx, struct la_reach *r, uint32_t rank, const struct axis *axes)
{
    uint32_t cut = 0, most = 0;
    struct dice of[1 << LA_PARTITION_RANK];
    for (uint32_t k = 0; k < rank; k++)
        cut |= (uint32_t)cut_short(&axes[k]) << k;
    for (uint32_t edges = 0; edges <= cut; edges++) {
        of[edges] = (struct dice){0};
        if ((edges & ~cut) == 0)
            of[edges] = tiles_at(cx, r->period, rank, axes, edges);
        most += of[edges].n;
    }
    struct la_tiles *kind = la_alloc(cx, most * sizeof *kind);
    for (uint32_t edges = 0; edges <= cut; edges++)
        for (uint32_t i = 0; i < of[edges].n; i++)
            kind[r->kinds++] = (struct la_tiles){of[edges].residue[i], of[edges].count[i], edges};
    r->kind = kind;
}

/* ---- within a tile ---- */

/* Which edges put each element of the tile outside, the leftmost mode counting fastest. */
static uint16_t *edges_of_tile(struct la_ctx *cx, const struct la_partition *p, const struct axis *axes)
{
    uint16_t *outside = la_alloc(cx, (size_t)p->elements * sizeof *outside);
    int64_t known = 1;
    outside[0] = 0;
    for (uint32_t k = 0; k < la_rank(p->tiler); k++) {
        const int64_t left = cut_short(&axes[k]) ? axes[k].extent % axes[k].tile : axes[k].tile;
        const unsigned beyond = axes[k].tiles == 1 ? LA_NEVER : 1u << k;
        for (int64_t c = 1; c < axes[k].tile; c++)
            for (int64_t i = 0; i < known; i++)
                outside[c * known + i] = (uint16_t)(outside[i] | (c >= left ? beyond : 0));
        known *= axes[k].tile;
    }
    return outside;
}

static void set_places(struct la_ctx *cx, struct la_reach *r, struct la_layout tile, const struct axis *axes)
{
    const struct la_partition *p = &r->part;
    const size_t places = (size_t)(p->threads * p->values);
    int64_t *in_tile = la_alloc(cx, (size_t)p->elements * sizeof *in_tile);
    int64_t *offset = la_alloc(cx, places * sizeof *offset);
    uint16_t *outside = la_alloc(cx, places * sizeof *outside);
    const uint16_t *edges = edges_of_tile(cx, p, axes);
    la_offsets(cx, tile, p->elements, in_tile);
    for (size_t i = 0; i < places; i++) {
        const int64_t index = p->index[i];
        const bool inside = index >= 0 && index < p->elements;
        offset[i] = inside ? in_tile[index] : 0;
        if (offset[i] > OFFSET_MAX || offset[i] < -OFFSET_MAX)
            la_fail(cx, LA_E_limit, "the offset %lld within a tile is beyond any memory",
                    (long long)offset[i]);
        outside[i] = inside ? edges[index] : LA_NEVER;
        r->edges |= outside[i];
    }
    r->offset = offset;
    r->outside = outside;
}

/* ---- all of it ---- */

/* What repeats the costs: 128 bytes, or as far as the swizzle looks. Both are powers of two. */
static int64_t period_of(struct la_ctx *cx, struct la_layout memory, uint32_t bits, int64_t least)
{
    int64_t period = LA_BASE_BYTES * 8 / bits;
    while (period < least && period < PERIOD_MAX)
        period *= 2;
    if (memory.outer && memory.outer->kind != LA_K_SWIZZLE)
        la_fail(cx, LA_E_kind, "%s: a memory layout may be swizzled, but not composed with a layout",
                la_show_layout(cx, memory));
    if (!memory.outer)
        return period;
    const struct la_swizzle s = memory.outer->swizzle;
    const int64_t reach = la_swizzle_y(s) | la_swizzle_z(s);
    while (period <= reach)
        period *= 2;
    if (period > PERIOD_MAX)
        la_fail(cx, LA_E_limit, "Swizzle<%d,%d,%d> reaches over more than %d elements", s.bits, s.base,
                s.shift, PERIOD_MAX);
    return period;
}

static void check_reach(struct la_ctx *cx, const struct la_partition *p, struct la_layout memory,
                        uint32_t bits)
{
    const uint32_t rank = la_rank(memory.shape), tile_rank = la_rank(p->tiler);
    if (bits == 0 || bits > LA_VECTOR_BITS || (bits & (bits - 1)) != 0)
        la_fail(cx, LA_E_domain, "elements of %u bits are not addressed one by one", bits);
    if (rank > LA_PARTITION_RANK)
        la_fail(cx, LA_E_limit, "%s has %u modes; %d is the most", la_show_layout(cx, memory), rank,
                LA_PARTITION_RANK);
    if (tile_rank > rank)
        la_fail(cx, LA_E_too_many_modes, "the tile %s has %u modes, but %s has only %u",
                la_show(cx, p->tiler), tile_rank, la_show_layout(cx, memory), rank);
    for (uint32_t i = 0; i < memory.shape->span; i++)
        if (memory.shape[i].kind != LA_TUPLE && memory.shape[i].value < 1)
            la_fail(cx, LA_E_domain, "%s has no elements", la_show_layout(cx, memory));
}

struct la_reach la_reach_make(struct la_ctx *cx, const struct la_partition *p, struct la_layout memory,
                              uint32_t bits, int64_t period)
{
    memory = la_position_independent(cx, memory);
    struct la_reach r = {.part = *p, .memory = memory, .bits = bits};
    check_reach(cx, p, memory, bits);
    r.period = period_of(cx, memory, bits, period);
    const struct la_layout plain = memory.shape->kind == LA_TUPLE
                                       ? la_inner(memory)
                                       : la_plain(la_wrap(cx, memory.shape), la_wrap(cx, memory.stride));
    const struct la_layout zipped = la_zipped_divide(cx, plain, la_value_tuple(p->tiler));
    struct axis axes[LA_PARTITION_RANK];
    const uint32_t rank = measure_axes(cx, &r, la_layout_mode(cx, zipped, 1), axes);
    set_kinds(cx, &r, rank, axes);
    set_places(cx, &r, la_layout_mode(cx, zipped, 0), axes);
    return r;
}

int64_t la_reach_at(const struct la_reach *r, const struct la_tiles *kind, int64_t place)
{
    const int64_t x = r->offset[place] + kind->base;
    if (!r->memory.outer)
        return x;
    return la_swizzle_apply(r->memory.outer->swizzle, x + r->memory.offset->value);
}
