/* reference.c: the CPU twin of a copy kernel. It makes the same moves from the same plan, thread by thread,
 * access by access, value by value, so a partition that is wrong is wrong in the same way on both.
 *
 * Moves of a tile come as a list of (from, to): running them is a loop of element copies, and a kernel's work
 * is compared by looking at what lies at `to`. */
#include "internal.h"

/* A plan's functions as tables: of the thread, and of the value. Coordinates only of modes that need a
 * predicate. */
struct gpu_twin {
    const struct gpu_copy *copy;
    int64_t *from_thread, *from_value, *to_thread, *to_value;
    int64_t *at_thread[GPU_MAX_RANK], *at_value[GPU_MAX_RANK];
};

static int64_t *table(struct la_ctx *cx, struct gpu_map map, int64_t n)
{
    int64_t *values = la_alloc(cx, (size_t)n * sizeof *values);
    for (int64_t i = 0; i < n; i++)
        values[i] = gpu_map_at(map, i);
    return values;
}

struct gpu_twin *gpu_twin_make(struct la_ctx *cx, const struct gpu_plan *plan)
{
    const struct gpu_copy *c = &plan->copy;
    const struct gpu_partition *p = &c->part;
    struct gpu_twin *twin = la_alloc(cx, sizeof *twin);
    *twin = (struct gpu_twin){.copy = c,
                              .from_thread = table(cx, c->load.thread, p->threads),
                              .from_value = table(cx, c->load.value, p->values),
                              .to_thread = table(cx, c->store.thread, p->threads),
                              .to_value = table(cx, c->store.value, p->values)};
    for (uint32_t k = 0; k < c->src.rank; k++)
        if (c->partial[k]) {
            twin->at_thread[k] = table(cx, p->thread_at[k], p->threads);
            twin->at_value[k] = table(cx, p->value_at[k], p->values);
        }
    return twin;
}

/* Whether value v of thread t lies in the shape; tile_at is the tile's first coordinate. */
static bool within(const struct gpu_twin *twin, int64_t t, int64_t v, const int64_t *tile_at)
{
    for (uint32_t k = 0; k < twin->copy->src.rank; k++)
        if (twin->copy->partial[k] &&
            tile_at[k] + twin->at_thread[k][t] + twin->at_value[k][v] >= twin->copy->src.extent[k])
            return false;
    return true;
}

int64_t gpu_twin_tile(const struct gpu_twin *twin, int64_t tile, struct gpu_move *out)
{
    const struct gpu_copy *c = twin->copy;
    const int64_t from_tile = gpu_map_at(c->load.tile, tile), to_tile = gpu_map_at(c->store.tile, tile);
    int64_t tile_at[GPU_MAX_RANK], n = 0;
    for (uint32_t k = 0; k < c->src.rank; k++)
        tile_at[k] = gpu_map_at(c->tile_at[k], tile);
    for (int64_t t = 0; t < c->part.threads; t++)
        for (int64_t access = 0; access < c->part.values; access += c->vector) {
            /* An access moves consecutive elements from where its first value lies. */
            const int64_t from = from_tile + twin->from_thread[t] + twin->from_value[access];
            const int64_t to = to_tile + twin->to_thread[t] + twin->to_value[access];
            for (int64_t e = 0; e < c->vector; e++)
                if (!c->predicated || within(twin, t, access + e, tile_at))
                    out[n++] = (struct gpu_move){from + e, to + e};
        }
    return n;
}

struct gpu_walk gpu_walk_start(struct gpu_map map)
{
    return (struct gpu_walk){.map = map};
}

void gpu_walk_next(struct gpu_walk *w)
{
    for (uint32_t i = 0; i < w->map.count; i++) {
        const struct gpu_mode *m = &w->map.modes[i];
        if (++w->at[i] < m->extent) {
            w->offset += m->stride;
            return;
        }
        w->offset -= (m->extent - 1) * m->stride;
        w->at[i] = 0;
    }
}
