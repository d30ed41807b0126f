/* partition.c: who has which elements of a tile, and whether each element has one owner.
 *
 *     thr (32,8):(8,1), val (1,8):(0,1)  ->  tile (32,64), tv ((8,32),8):((256,1),32):
 *     value v of thread t is the element (t / 8, t % 8 * 8 + v)
 *
 * A partition is a layout (thread, value) -> index in the tile, evaluated once. Nothing here needs it to be a
 * bijection: what is missed, doubled or outside the tile is found by counting. Atoms are not known here. */
#include "internal.h"

#include <string.h>

/* ---- making one ---- */

static int64_t size_of(struct la_ctx *cx, struct la_layout a)
{
    return la_to_i64(cx, la_size(cx, a), "a size");
}

static void check_sizes(struct la_ctx *cx, const struct la_partition *p)
{
    if (p->threads < 1 || p->threads > LA_PARTITION_THREADS)
        la_fail(cx, LA_E_limit, "a partition over %lld threads; a block has 1 to %d", (long long)p->threads,
                LA_PARTITION_THREADS);
    if (p->values < 1 || p->values > LA_PARTITION_ELEMENTS / p->threads)
        la_fail(cx, LA_E_limit, "%lld threads of %lld values; 1 to %d values in all can be",
                (long long)p->threads, (long long)p->values, LA_PARTITION_ELEMENTS);
    if (p->elements < 1 || p->elements > LA_PARTITION_ELEMENTS)
        la_fail(cx, LA_E_limit, "a tile %s of %lld elements; it can have 1 to %d", la_show(cx, p->tiler),
                (long long)p->elements, LA_PARTITION_ELEMENTS);
    if (la_rank(p->tiler) > LA_PARTITION_RANK)
        la_fail(cx, LA_E_limit, "a tile of %u modes; %d is the most", la_rank(p->tiler), LA_PARTITION_RANK);
}

struct la_partition la_partition_of_tv(struct la_ctx *cx, struct la_layout tv, const struct la_node *tiler)
{
    if (tv.outer || la_rank(tv.shape) != 2)
        la_fail(cx, LA_E_rank_mismatch, "a TV layout has two modes, (thread, value), unlike %s",
                la_show_layout(cx, tv));
    if (!la_all_integers(tiler))
        la_fail(cx, LA_E_kind, "the tile %s is not made of integers", la_show(cx, tiler));
    struct la_partition p = {.tv = tv, .tiler = la_wrap(cx, la_product_each(cx, tiler))};
    p.threads = size_of(cx, la_layout_mode(cx, tv, 0));
    p.values = size_of(cx, la_layout_mode(cx, tv, 1));
    p.elements = la_to_i64(cx, la_product(cx, p.tiler), "the size of a tile");
    check_sizes(cx, &p);
    const int64_t places = p.threads * p.values;
    int64_t *index = la_alloc(cx, (size_t)places * sizeof *index);
    la_offsets(cx, tv, places, index);
    p.index = index;
    return p;
}

/* Law: tv(t, v) is where thr and val put value v of thread t: layout_tv = right_inverse(raked_product(thr,
 * val)). */
struct la_partition la_partition_make(struct la_ctx *cx, struct la_layout thr, struct la_layout val)
{
    const struct la_layout mn = la_raked_product(cx, thr, val);
    const struct la_node *sizes[] = {la_size(cx, thr), la_size(cx, val)};
    const struct la_layout by_size = la_layout_of(cx, la_tuple(cx, 2, sizes));
    const struct la_layout tv = la_composition(cx, la_right_inverse(cx, mn), la_value_layout(by_size));
    return la_partition_of_tv(cx, tv, la_product_each(cx, mn.shape));
}

const struct la_node *la_partition_coord(struct la_ctx *cx, const struct la_partition *p, int64_t index)
{
    return la_idx2crd(cx, la_int(cx, index, true), p->tiler, NULL);
}

/* ---- coverage ---- */

/* The first two owners of each element that is told of. */
static void find_owners(const struct la_partition *p, struct la_coverage *c)
{
    for (uint32_t i = 0; i < c->doubled_told; i++) {
        int64_t found = 0;
        for (int64_t place = 0; place < p->threads * p->values && found < 2; place++)
            if (p->index[place] == c->doubled_at[i][0])
                c->doubled_at[i][++found] = place;
    }
}

/* How many owners each element has; what lies outside is told at once. */
static uint32_t *count_owners(struct la_ctx *cx, const struct la_partition *p, struct la_coverage *c)
{
    uint32_t *times = la_alloc(cx, (size_t)p->elements * sizeof *times);
    memset(times, 0, (size_t)p->elements * sizeof *times);
    for (int64_t place = 0; place < p->threads * p->values; place++) {
        const int64_t i = p->index[place];
        if (i >= 0 && i < p->elements)
            times[i]++;
        else if (c->outside++ < LA_EXAMPLES)
            c->outside_at[c->outside_told++] = place;
    }
    return times;
}

struct la_coverage la_coverage_of(struct la_ctx *cx, const struct la_partition *p)
{
    struct la_coverage c = {.least = INT64_MAX};
    const uint32_t *times = count_owners(cx, p, &c);
    for (int64_t i = 0; i < p->elements; i++) {
        c.least = times[i] < c.least ? times[i] : c.least;
        c.most = times[i] > c.most ? times[i] : c.most;
        if (times[i] == 0 && c.missed++ < LA_EXAMPLES)
            c.missed_at[c.missed_told++] = i;
        if (times[i] > 1 && c.doubled++ < LA_EXAMPLES)
            c.doubled_at[c.doubled_told++][0] = i;
    }
    find_owners(p, &c);
    return c;
}
