/* flight.c: how many bytes of a copy are on their way at a time: tiles and accesses before the first store, buffers of
 * shared memory, blocks.
 *
 *   half_t tiles of 256 threads x 8 values, 128 bits: 2 accesses of 16 bytes a thread in flight, so unroll 2
 *
 * The spec's own choice holds where it has made one and can be met. */
#include "internal.h"

enum {
    FLIGHT_BYTES =
        32, /* that a thread loads before it stores: 2048 threads of a multiprocessor then have 64 KB in
                        * flight. On an H200 2 GiB ran at 0.99 of memcpy so, at 0.95 with twice as much */
    FLIGHT_ACCESSES = 16, /* likewise for narrow accesses, which the load queue limits before bytes do */
    BARRIER_BYTES = 8,    /* of shared memory */
    MOST_STAGES = 8,      /* that are chosen: beyond, shared memory holds fewer threads, not more bytes */
    FEWEST_BLOCKS = 1024, /* several a multiprocessor on every card: below it tiles are not unrolled */
    MOST_BLOCKS = 1 << 20 /* beyond it blocks walk over tiles: starting one costs more than a loop's turn */
};

struct choosing {
    const struct gpu_spec *spec;
    struct gpu_plan *plan;
    const char **field;
};

/* The largest divisor of n that is at most `most`: batches of equal length, unless they would be much
 * shorter. */
static int64_t batch_of(int64_t n, int64_t most)
{
    if (n <= most)
        return n;
    for (int64_t d = most; d > most / 2; d--)
        if (n % d == 0)
            return d;
    return most;
}

/* To global memory, of a thread in a tile. */
static int64_t accesses_of(const struct gpu_leg *leg)
{
    return gpu_is_tma(leg) ? 0 : leg->part.values / leg->vector;
}

static int64_t flight_of(const struct gpu_leg *leg)
{
    const int64_t flight = FLIGHT_BYTES / (leg->atom.bits / 8);
    return flight < 1 ? 1 : flight > FLIGHT_ACCESSES ? FLIGHT_ACCESSES : flight;
}

int64_t gpu_unit_of(const struct gpu_leg *leg)
{
    return leg->matrix && leg->matrix->values > leg->vector ? leg->matrix->values / leg->vector : 1;
}

/* Accesses that a thread holds at a time: all of a tile, or an even part of them of at most `most`, in whole units. */
static int64_t set_batch(const struct gpu_leg *leg, bool all)
{
    const int64_t unit = gpu_unit_of(leg), accesses = accesses_of(leg);
    if (all || !accesses)
        return accesses;
    const int64_t most = flight_of(leg) / unit;
    return unit * batch_of(accesses / unit, most > 1 ? most : 1);
}

/* Bytes that a thread holds between loads and stores with so many tiles in flight. */
static int64_t held_by(const struct gpu_leg *leg, int64_t tiles)
{
    return tiles * accesses_of(leg) * (leg->atom.bits / 8);
}

static int64_t buffer_bytes(const struct gpu_copy *c)
{
    return c->smem ? c->smem->span * (c->type->bits / 8) : 0;
}

static int64_t choose_unroll(const struct gpu_copy *c)
{
    int64_t unroll = flight_of(&c->in) / accesses_of(&c->in);
    while (unroll > 1 && (c->tiles / unroll < FEWEST_BLOCKS || held_by(&c->out, unroll) > GPU_MAX_HELD ||
                          unroll * buffer_bytes(c) > GPU_MAX_SMEM))
        unroll /= 2;
    return unroll < 1 ? 1 : unroll;
}

/* As many bytes on their way as registers would hold, and room for two blocks in a multiprocessor. */
static int64_t choose_stages(const struct gpu_copy *c)
{
    const int64_t bytes = c->in.part.values * (c->type->bits / 8); /* of a thread in a tile */
    int64_t stages = 1 + (FLIGHT_BYTES + bytes - 1) / bytes;
    stages = stages > MOST_STAGES ? MOST_STAGES : stages;
    while (stages > 1 && stages * buffer_bytes(c) > GPU_MAX_SMEM / 2)
        stages--;
    return stages;
}

static void check_held(struct la_ctx *cx, const struct gpu_copy *c, const struct gpu_leg *leg)
{
    if (c->unroll > 1 && held_by(leg, c->unroll) > GPU_MAX_HELD)
        la_fail(cx, LA_E_limit,
                "%lld tiles of %lld accesses of %u bytes are %lld bytes in a thread's registers; %d is "
                "the most",
                (long long)c->unroll, (long long)accesses_of(leg), leg->atom.bits / 8,
                (long long)held_by(leg, c->unroll), GPU_MAX_HELD);
}

/* Tiles in flight: in registers, or with cp.async and TMA in the buffers that wait behind the one that is read. */
static void set_unroll(struct la_ctx *cx, struct choosing *p)
{
    struct gpu_copy *c = &p->plan->copy;
    const bool ring = c->in.atom.op != GPU_UNIVERSAL;
    *p->field = "unroll";
    if (ring && p->spec->unroll > 1)
        la_fail(cx, LA_E_domain, "unroll %lld: with %s it is 'stages' that says how many tiles are in flight",
                (long long)p->spec->unroll, gpu_is_tma(&c->in) ? "TMA" : "cp.async");
    c->unroll = ring ? 1 : p->spec->unroll ? p->spec->unroll : choose_unroll(c);
    c->stages = !ring ? 0 : p->spec->stages ? p->spec->stages : choose_stages(c);
    check_held(cx, c, &c->in);
    check_held(cx, c, &c->out);
    c->in.batch = set_batch(&c->in, c->unroll > 1 || ring);
    c->out.batch = set_batch(&c->out, c->unroll > 1);
}

/* A buffer for each tile in flight, and behind them a barrier for each that TMA fills. */
static void set_shared(struct la_ctx *cx, struct choosing *p)
{
    const struct gpu_copy *c = &p->plan->copy;
    const int64_t buffers = c->stages ? c->stages : c->unroll;
    const int64_t barriers = gpu_is_tma(&c->in) ? (c->stages * BARRIER_BYTES + 15) / 16 * 16 : 0;
    p->plan->shared_bytes = buffers * buffer_bytes(c) + barriers;
    *p->field = c->stages ? "stages" : "unroll";
    if (p->plan->shared_bytes > GPU_MAX_SMEM)
        la_fail(cx, LA_E_limit,
                "%lld tiles of %lld bytes in shared memory are %lld bytes; a block has %d at most",
                (long long)buffers, (long long)buffer_bytes(c), (long long)p->plan->shared_bytes,
                GPU_MAX_SMEM);
}

/* With cp.async or TMA a block has the tiles that its stages let it ask for before it reads the first; then it makes
 * room for another, whose loads overlap with its stores. 2 GiB on an H200, 3 stages: 0.985 of memcpy so, 0.94
 * with 6 tiles a block, 0.80 with as many blocks as fit at once, which wait for each tile at a barrier. */
static int64_t choose_grid(const struct gpu_copy *c, int64_t steps)
{
    int64_t grid = steps;
    if (c->stages > 1)
        grid = (steps + c->stages - 2) / (c->stages - 1);
    if (grid < FEWEST_BLOCKS)
        grid = steps < FEWEST_BLOCKS ? steps : FEWEST_BLOCKS;
    return grid < MOST_BLOCKS ? grid : MOST_BLOCKS;
}

static void set_grid(struct la_ctx *cx, struct choosing *p)
{
    struct gpu_copy *c = &p->plan->copy;
    const int64_t steps = (c->tiles + c->unroll - 1) / c->unroll;
    *p->field = "grid";
    if (p->spec->grid > steps)
        la_fail(cx, LA_E_domain, "grid %lld: there are %lld tiles, %lld at a time, so work for %lld blocks",
                (long long)p->spec->grid, (long long)c->tiles, (long long)c->unroll, (long long)steps);
    p->plan->block = c->in.part.threads;
    p->plan->grid = p->spec->grid ? p->spec->grid : choose_grid(c, steps);
    /* Evict-first did not pay on an H200, not even where nothing is used twice: 0.967 of memcpy against 0.987. */
    c->cache = p->spec->cache != GPU_CACHE_AUTO ? p->spec->cache : GPU_CACHE_DEFAULT;
}

void gpu_flight_set(struct la_ctx *cx, const struct gpu_spec *spec, struct gpu_plan *plan, const char **field)
{
    struct choosing p = {spec, plan, field};
    set_unroll(cx, &p);
    set_shared(cx, &p);
    set_grid(cx, &p);
}
