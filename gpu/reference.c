/* reference.c: the CPU twin of a copy kernel. It makes the same moves from the same plan, thread by thread,
 * access by access, value by value, so a partition that is wrong is wrong in the same way on both. Through shared memory
 * all threads of a tile write before any of them reads, as the barrier has it; ldmatrix and stmatrix move what PTX says
 * of the rows that the plan points at, and TMA its boxes.
 *
 * Moves of a tile come as a list of (from, to): running them is a loop of element copies, and a kernel's work
 * is compared by looking at what lies at `to`. */
#include "internal.h"

/* A leg's functions as tables: of the thread, and of the value. Coordinates only of modes that need a predicate. */
struct leg_tables {
    const struct gpu_leg *leg;
    int64_t *thread, *value; /* offsets in global memory */
    int64_t *at_thread[GPU_MAX_RANK], *at_value[GPU_MAX_RANK];
};

struct gpu_twin {
    const struct gpu_copy *copy;
    struct leg_tables in, out;
    int64_t *smem; /* what lies in shared memory: an element's offset in src */
};

enum { NOTHING = -1 }; /* below the least offset of src: what lies in shared memory before it is written */

static int64_t *table(struct la_ctx *cx, struct gpu_map map, int64_t n)
{
    int64_t *values = la_alloc(cx, (size_t)n * sizeof *values);
    for (int64_t i = 0; i < n; i++)
        values[i] = gpu_map_at(map, i);
    return values;
}

static struct leg_tables leg_tables_of(struct la_ctx *cx, const struct gpu_copy *c, const struct gpu_leg *leg,
                                       const struct gpu_access *access)
{
    const struct gpu_partition *p = &leg->part;
    struct leg_tables t = {.leg = leg,
                           .thread = table(cx, access->thread, p->threads),
                           .value = table(cx, access->value, p->values)};
    for (uint32_t k = 0; k < c->src.rank; k++)
        if (c->partial[k]) {
            t.at_thread[k] = table(cx, p->thread_at[k], p->threads);
            t.at_value[k] = table(cx, p->value_at[k], p->values);
        }
    return t;
}

struct gpu_twin *gpu_twin_make(struct la_ctx *cx, const struct gpu_plan *plan)
{
    const struct gpu_copy *c = &plan->copy;
    struct gpu_twin *twin = la_alloc(cx, sizeof *twin);
    *twin = (struct gpu_twin){.copy = c,
                              .in = leg_tables_of(cx, c, &c->in, &c->load),
                              .out = leg_tables_of(cx, c, &c->out, &c->store)};
    if (c->smem)
        twin->smem = la_alloc(cx, (size_t)c->smem->span * sizeof *twin->smem);
    return twin;
}

/* Where the twin is: a tile, and its first coordinate in each mode. */
struct place {
    const struct gpu_twin *twin;
    int64_t from, to, at[GPU_MAX_RANK];
};

/* Whether value v of thread t lies in the shape. */
static bool within(const struct place *p, const struct leg_tables *l, int64_t t, int64_t v)
{
    const struct gpu_copy *c = p->twin->copy;
    for (uint32_t k = 0; c->predicated && k < c->src.rank; k++)
        if (c->partial[k] && p->at[k] + l->at_thread[k][t] + l->at_value[k][v] >= c->src.extent[k])
            return false;
    return true;
}

/* Straight: an access moves consecutive elements from where its first value lies. */
static int64_t move_straight(const struct place *p, struct gpu_move *out)
{
    const struct leg_tables *in = &p->twin->in, *to = &p->twin->out;
    int64_t n = 0;
    for (int64_t t = 0; t < in->leg->part.threads; t++)
        for (int64_t v = 0; v < in->leg->part.values; v += in->leg->vector)
            for (int64_t e = 0; e < in->leg->vector; e++)
                if (within(p, in, t, v + e))
                    out[n++] = (struct gpu_move){p->from + in->thread[t] + in->value[v] + e,
                                                 p->to + to->thread[t] + to->value[v] + e};
    return n;
}

/* The offset in shared memory of value v of thread t: an access is consecutive as far as its width. */
static int64_t smem_place(const struct gpu_copy *c, const struct gpu_leg *leg, int64_t t, int64_t v)
{
    if (leg->matrix)
        return gpu_matrix_place(leg, c->smem, t, v);
    const int64_t e = v % leg->smem_vector;
    return gpu_smem_place(c->smem, gpu_map_at(leg->smem.thread, t) + gpu_map_at(leg->smem.value, v - e)) + e;
}

/* By TMA, box by box: `moves` is room for a tile. */
static void fill_by_boxes(const struct place *p, struct gpu_move *moves)
{
    const struct gpu_copy *c = p->twin->copy;
    const int64_t n = gpu_tma_moves(c->in.tma, p->at, c->type->bits / 8, moves);
    for (int64_t i = 0; i < n; i++)
        p->twin->smem[moves[i].to] = moves[i].from;
}

static int64_t empty_by_boxes(const struct place *p, struct gpu_move *out)
{
    const struct gpu_copy *c = p->twin->copy;
    const int64_t n = gpu_tma_moves(c->out.tma, p->at, c->type->bits / 8, out);
    for (int64_t i = 0; i < n; i++)
        out[i] = (struct gpu_move){p->twin->smem[out[i].to], out[i].from};
    return n;
}

static void fill_by_threads(const struct place *p)
{
    const struct gpu_copy *c = p->twin->copy;
    const struct leg_tables *in = &p->twin->in;
    for (int64_t t = 0; t < in->leg->part.threads; t++)
        for (int64_t v = 0; v < in->leg->part.values; v++)
            if (within(p, in, t, v))
                p->twin->smem[smem_place(c, in->leg, t, v)] = p->from + in->thread[t] +
                                                              in->value[v - v % in->leg->vector] +
                                                              v % in->leg->vector;
}

static int64_t empty_by_threads(const struct place *p, struct gpu_move *out)
{
    const struct gpu_copy *c = p->twin->copy;
    const struct leg_tables *to = &p->twin->out;
    int64_t n = 0;
    for (int64_t t = 0; t < to->leg->part.threads; t++)
        for (int64_t v = 0; v < to->leg->part.values; v++)
            if (within(p, to, t, v))
                out[n++] = (struct gpu_move){p->twin->smem[smem_place(c, to->leg, t, v)],
                                             p->to + to->thread[t] + to->value[v - v % to->leg->vector] +
                                                 v % to->leg->vector};
    return n;
}

/* All of a tile comes into shared memory before any of it leaves. */
static int64_t move_staged(const struct place *p, struct gpu_move *out)
{
    const struct gpu_copy *c = p->twin->copy;
    for (int64_t i = 0; i < c->smem->span; i++)
        p->twin->smem[i] = c->src.min + NOTHING;
    if (c->in.tma)
        fill_by_boxes(p, out);
    else
        fill_by_threads(p);
    return c->out.tma ? empty_by_boxes(p, out) : empty_by_threads(p, out);
}

int64_t gpu_twin_tile(const struct gpu_twin *twin, int64_t tile, struct gpu_move *out)
{
    const struct gpu_copy *c = twin->copy;
    struct place p = {twin, gpu_map_at(c->load.tile, tile), gpu_map_at(c->store.tile, tile), {0}};
    for (uint32_t k = 0; k < c->src.rank; k++)
        p.at[k] = gpu_map_at(c->tile_at[k], tile);
    return c->smem ? move_staged(&p, out) : move_straight(&p, out);
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
