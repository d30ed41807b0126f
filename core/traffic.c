/* traffic.c: what a partition costs, instruction by instruction and in all tiles.
 *
 *     256 threads, 8 values of half_t each, 128-bit loads of rows: 8 instructions a tile, 16 sectors each
 *
 * An instruction of a warp is its 32 threads with `vector` of their values; access.c says what it costs.
 * Totals are exact over all tiles: each kind of tile (reach.c) is costed once and counts as often as there
 * are tiles of it. */
#include "internal.h"

/* ---- one instruction ---- */

/* Is the lane's access active in tiles at these edges, and does an edge cut it? */
static bool lane_active(const struct la_traffic *t, uint32_t edges, int64_t place, int64_t *straddling)
{
    const struct la_reach *r = t->reach;
    int64_t inside = 0;
    for (int64_t v = 0; v < t->vector; v++)
        inside += !(r->outside[place + v * r->part.threads] & edges);
    *straddling += inside > 0 && inside < t->vector;
    return inside > 0;
}

static struct la_access access_of(const struct la_traffic *t, const struct la_tiles *kind, int64_t warp,
                                  int64_t step, int64_t *straddling)
{
    const struct la_reach *r = t->reach;
    struct la_access a = {.space = t->space, .op = t->op, .bytes = t->bytes, .lanes = t->lanes};
    const int64_t first = warp * LA_LANES + step * t->vector * r->part.threads;
    const uint32_t edges = (kind->edges | LA_NEVER) & r->edges;
    for (int32_t lane = 0; lane < t->lanes && warp * LA_LANES + lane < r->part.threads; lane++) {
        if (edges && !lane_active(t, edges, first + lane, straddling))
            continue;
        a.active |= UINT32_C(1) << lane;
        a.at[lane] = (la_reach_at(r, kind, first + lane) * r->bits >> 3) & -(int64_t)t->bytes;
    }
    return a;
}

struct la_access la_traffic_access(const struct la_traffic *t, const struct la_tiles *kind, int64_t warp,
                                   int64_t step)
{
    int64_t straddling = 0;
    return access_of(t, kind, warp, step, &straddling);
}

/* ---- totals ---- */

static void add_times(struct la_ctx *cx, int64_t *sum, int64_t x, int64_t times)
{
    int64_t product;
    if (__builtin_mul_overflow(x, times, &product) || __builtin_add_overflow(*sum, product, sum))
        la_fail(cx, LA_E_overflow, "a total passes 64 bits");
}

static void add_totals(struct la_ctx *cx, struct la_totals *sum, const struct la_totals *x, int64_t times)
{
    add_times(cx, &sum->instructions, x->instructions, times);
    add_times(cx, &sum->wavefronts, x->wavefronts, times);
    add_times(cx, &sum->wavefronts_ideal, x->wavefronts_ideal, times);
    add_times(cx, &sum->sectors, x->sectors, times);
    add_times(cx, &sum->sectors_ideal, x->sectors_ideal, times);
    add_times(cx, &sum->lines, x->lines, times);
    add_times(cx, &sum->lines_ideal, x->lines_ideal, times);
    add_times(cx, &sum->straddling, x->straddling, times);
}

static void add_cost(struct la_totals *sum, const struct la_cost *x)
{
    sum->instructions += x->requests;
    sum->wavefronts += x->wavefronts;
    sum->wavefronts_ideal += x->wavefronts_ideal;
    sum->sectors += x->sectors;
    sum->sectors_ideal += x->sectors_ideal;
    sum->lines += x->lines;
    sum->lines_ideal += x->lines_ideal;
}

/* How far from its ideal: wavefronts or sectors beyond it. */
static int32_t excess(const struct la_cost *c)
{
    return c->wavefronts - c->wavefronts_ideal + c->sectors - c->sectors_ideal;
}

/* The costs of a tile of one kind; `cost` may be NULL. */
static struct la_totals tile_totals(struct la_traffic *t, const struct la_tiles *kind, struct la_cost *cost,
                                    int32_t *worst)
{
    struct la_totals sum = {0};
    for (int64_t warp = 0; warp < t->warps; warp++)
        for (int64_t step = 0; step < t->steps; step++) {
            const struct la_access a = access_of(t, kind, warp, step, &sum.straddling);
            const struct la_cost c = la_access_cost(&a);
            add_cost(&sum, &c);
            if (cost)
                cost[warp * t->steps + step] = c;
            if (excess(&c) > *worst) {
                *worst = excess(&c);
                t->worst_warp = warp;
                t->worst_step = step;
                t->worst_kind = kind;
            }
        }
    return sum;
}

static void check_traffic(struct la_ctx *cx, const struct la_traffic *t)
{
    const struct la_reach *r = t->reach;
    const int64_t bits = t->vector * r->bits;
    if (bits > LA_VECTOR_BITS || r->part.values % t->vector != 0)
        la_fail(cx, LA_E_domain, "%lld values a thread cannot be moved %lld at a time",
                (long long)r->part.values, (long long)t->vector);
    if (la_access_is_matrix(t->op) && bits != LA_VECTOR_BITS)
        la_fail(cx, LA_E_domain, "a row of %s has %d bits: %lld elements of %u bits, not %lld",
                la_access_op_name(t->op), LA_VECTOR_BITS, (long long)LA_VECTOR_BITS / r->bits, r->bits,
                (long long)t->vector);
    if (t->warps * t->steps > LA_TRAFFIC_INSTRUCTIONS / (int64_t)r->kinds)
        la_fail(cx, LA_E_limit, "%lld instructions a tile and %u kinds of tiles; %d instructions is the most",
                (long long)(t->warps * t->steps), r->kinds, LA_TRAFFIC_INSTRUCTIONS);
    la_access_check(
        cx, &(struct la_access){.space = t->space,
                                .op = t->op,
                                .bytes = t->bytes,
                                .lanes = t->lanes,
                                .active = t->lanes < LA_LANES ? (UINT32_C(1) << t->lanes) - 1 : UINT32_MAX});
}

struct la_traffic la_traffic_of(struct la_ctx *cx, const struct la_reach *r, enum la_space space,
                                enum la_access_op op, int32_t lanes, int64_t vector)
{
    struct la_traffic t = {.reach = r, .space = space, .op = op, .lanes = lanes, .vector = vector};
    if (vector < 1 || vector > LA_VECTOR_BITS)
        la_fail(cx, LA_E_domain, "an access of %lld elements", (long long)vector);
    const int64_t bits = vector * r->bits;
    t.bytes = bits < 8 ? 1 : (int32_t)(bits / 8);
    t.warps = (r->part.threads + LA_LANES - 1) / LA_LANES;
    t.steps = r->part.values / vector;
    check_traffic(cx, &t);
    struct la_cost *cost = la_alloc(cx, (size_t)(t.warps * t.steps) * sizeof *cost);
    int32_t worst = -1;
    for (uint32_t i = 0; i < r->kinds; i++) {
        const struct la_totals tile = tile_totals(&t, &r->kind[i], i == 0 ? cost : NULL, &worst);
        if (i == 0)
            t.tile = tile;
        add_totals(cx, &t.all, &tile, r->kind[i].count);
    }
    t.cost = cost;
    return t;
}
