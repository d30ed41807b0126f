/* predict.c: what the hardware will count when a plan's kernel runs, by core's rules of one warp's access (access.c).
 *
 *   2 GiB of half_t in rows, 128 bits a thread: src {requests 4194304, sectors 67108864}: 16 a request, the ideal
 *
 * Global memory: the partition laid over the tensor, all kinds of tiles. Shared memory: the same buffer in every tile,
 * so that only the edges of the shape make a difference. An access that an edge cuts is made value by value, of its lanes
 * one instruction for each value. What no counter shows, or shows as something else, is named under "not_compared". */
#include "internal.h"

struct predicting {
    const struct gpu_plan *plan;
    cJSON *json, *apart; /* apart: "not_compared" */
};

/* ---- TMA ---- */

/* Rows of boxes that are looked at: a tenth of a second. */
#define MOST_BOX_ROWS (INT64_C(1) << 22)

/* What it is asked for, and the sectors of the tensor that the boxes' rows lie in: each row is read or written alone. */
static void add_boxes(struct predicting *p, const char *name, const struct gpu_tma *tma)
{
    const struct gpu_copy *c = &p->plan->copy;
    const int64_t bytes = c->type->bits / 8, boxes = c->tiles * tma->map.instructions;
    const int64_t rows = tma->map.box_bytes / bytes / tma->map.dim[0].box;
    cJSON *json = cJSON_AddObjectToObject(p->json, name);
    cJSON_AddNumberToObject(json, "boxes", (double)boxes);
    if (rows > MOST_BOX_ROWS / boxes)
        return;
    int64_t sectors = 0, at[GPU_MAX_RANK];
    for (int64_t tile = 0; tile < c->tiles; tile++) {
        for (uint32_t k = 0; k < c->src.rank; k++)
            at[k] = gpu_map_at(c->tile_at[k], tile);
        sectors += gpu_tma_sectors(tma, at, bytes);
    }
    cJSON_AddNumberToObject(json, "box_sectors", (double)sectors);
}

/* ---- global memory ---- */

enum { WHOLE = -1 };

/* Of instruction `step` of a warp the lanes whose access lies in the shape as a whole; or, for a value, that value of the
 * lanes whose access an edge cuts. */
static struct la_access piece_of(const struct la_traffic *t, const struct la_tiles *kind, int64_t warp,
                                 int64_t step, int64_t value)
{
    const struct la_reach *r = t->reach;
    const int64_t threads = r->part.threads, first = warp * LA_LANES + step * t->vector * threads;
    const uint32_t edges = (kind->edges | LA_NEVER) & r->edges;
    const int32_t bytes = value == WHOLE ? t->bytes : (int32_t)((r->bits + 7) / 8);
    struct la_access a = {.space = t->space, .op = t->op, .bytes = bytes, .lanes = t->lanes};
    for (int32_t lane = 0; lane < t->lanes && warp * LA_LANES + lane < threads; lane++) {
        int64_t inside = 0;
        for (int64_t v = 0; v < t->vector; v++)
            inside += !(r->outside[first + lane + v * threads] & edges);
        const int64_t place = first + lane + (value == WHOLE ? 0 : value) * threads;
        const bool is_cut = inside < t->vector;
        if (value == WHOLE ? is_cut : !is_cut || r->outside[place] & edges)
            continue;
        a.active |= UINT32_C(1) << lane;
        a.at[lane] = (la_reach_at(r, kind, place) * r->bits >> 3) & -(int64_t)bytes;
    }
    return a;
}

/* The totals with accesses that an edge cuts made value by value. */
static struct la_totals by_value(const struct la_traffic *t)
{
    struct la_totals sum = {0};
    for (uint32_t k = 0; k < t->reach->kinds; k++)
        for (int64_t warp = 0; warp < t->warps; warp++)
            for (int64_t step = 0; step < t->steps; step++)
                for (int64_t value = WHOLE; value < (t->reach->kind[k].edges ? t->vector : 0); value++) {
                    const struct la_access a = piece_of(t, &t->reach->kind[k], warp, step, value);
                    const struct la_cost cost = la_access_cost(&a);
                    sum.instructions += t->reach->kind[k].count * cost.requests;
                    sum.sectors += t->reach->kind[k].count * cost.sectors;
                    sum.sectors_ideal += t->reach->kind[k].count * cost.sectors_ideal;
                }
    return sum;
}

static void add_global(struct la_ctx *cx, struct predicting *p, const struct gpu_leg *leg,
                       const struct gpu_tensor *tensor, enum la_access_op op)
{
    if (leg->tma) {
        add_boxes(p, tensor->name, leg->tma);
        return;
    }
    const struct la_partition part = la_partition_of_tv(cx, leg->part.tv, leg->part.tiler);
    const struct la_reach reach = la_reach_make(cx, &part, tensor->layout, p->plan->copy.type->bits, 0);
    const struct la_traffic t = la_traffic_of(cx, &reach, LA_GLOBAL, op, LA_LANES, leg->vector);
    const struct la_totals all = t.all.straddling ? by_value(&t) : t.all;
    cJSON *json = cJSON_AddObjectToObject(p->json, tensor->name);
    cJSON_AddNumberToObject(json, "requests", (double)all.instructions);
    cJSON_AddNumberToObject(json, "sectors", (double)all.sectors);
    cJSON_AddNumberToObject(json, "sectors_ideal", (double)all.sectors_ideal);
    if (tensor->distinct < tensor->elements)
        cJSON_AddStringToObject(
            p->apart, tensor->name,
            "several coordinates have one address, and the compiler loads what it knows to be "
            "the same but once");
}

/* ---- shared memory ---- */

/* The tiles that lie at the same edges: bit k of `edges` is set for the last tile along mode k. */
static int64_t tiles_at(const struct gpu_copy *c, uint32_t edges)
{
    int64_t n = 1;
    for (uint32_t k = 0; k < c->src.rank; k++)
        n *= !c->partial[k] ? c->rest[k] : edges >> k & 1 ? 1 : c->rest[k] - 1;
    return n;
}

static bool is_inside(const struct gpu_copy *c, const struct gpu_leg *leg, uint32_t edges, int64_t thread,
                      int64_t value)
{
    for (uint32_t k = 0; k < c->src.rank; k++)
        if ((edges >> k & 1) &&
            gpu_map_at(leg->part.thread_at[k], thread) + gpu_map_at(leg->part.value_at[k], value) >=
                c->src.extent[k] % leg->part.tile[k])
            return false;
    return true;
}

/* Whether all values of the access to global memory that begins with `first` lie in the shape. */
static bool is_whole(const struct gpu_copy *c, const struct gpu_leg *leg, uint32_t edges, int64_t thread,
                     int64_t first)
{
    bool whole = true;
    for (int64_t v = first; edges && v < first + leg->vector; v++)
        whole = whole && is_inside(c, leg, edges, thread, v);
    return whole;
}

/* Lanes that give an address: all, or one a row of the matrices. */
static int32_t lanes_of(const struct gpu_leg *leg)
{
    return leg->matrix ? (int32_t)(8 * leg->matrix->count) : LA_LANES;
}

/* Instructions of a warp for a tile. */
static int64_t steps_of(const struct gpu_leg *leg)
{
    return leg->part.values / (leg->matrix ? leg->matrix->values : leg->smem_vector);
}

/* The instruction of a warp that moves so many values from `value` on, in a tile at these edges: of the lanes whose
 * access to global memory is whole; or one value, of those whose access is cut. Matrices are moved whole: shared memory
 * has all of the tile. */
static struct la_access smem_access(const struct gpu_copy *c, const struct gpu_leg *leg, enum la_access_op op,
                                    uint32_t edges, int64_t warp, int64_t value, bool cut)
{
    const int64_t bytes = c->type->bits / 8, first = value - value % leg->vector;
    struct la_access a = {.space = LA_SHARED,
                          .op = op,
                          .bytes = (int32_t)((cut ? 1 : leg->smem_vector) * bytes),
                          .lanes = lanes_of(leg)};
    for (int32_t lane = 0; lane < a.lanes && warp * LA_LANES + lane < leg->part.threads; lane++) {
        const int64_t thread = warp * LA_LANES + lane;
        if (!leg->matrix && (is_whole(c, leg, edges, thread, first) == cut ||
                             (cut && !is_inside(c, leg, edges, thread, value))))
            continue;
        a.active |= UINT32_C(1) << lane;
        a.at[lane] = bytes * gpu_smem_place(c->smem, gpu_map_at(leg->smem.thread, thread) +
                                                         gpu_map_at(leg->smem.value, value));
    }
    return a;
}

static void add_times(struct la_totals *sum, const struct la_access *a, int64_t times)
{
    const struct la_cost cost = la_access_cost(a);
    sum->instructions += times * cost.requests;
    sum->wavefronts += times * cost.wavefronts;
    sum->wavefronts_ideal += times * cost.wavefronts_ideal;
}

/* What the tiles at these edges cost. */
static void add_tiles(struct la_totals *sum, const struct gpu_copy *c, const struct gpu_leg *leg,
                      enum la_access_op op, uint32_t edges)
{
    const int64_t tiles = tiles_at(c, edges), warps = (leg->part.threads + LA_LANES - 1) / LA_LANES;
    for (int64_t warp = 0; tiles > 0 && warp < warps; warp++) {
        for (int64_t step = 0; step < steps_of(leg); step++) {
            const struct la_access a = smem_access(c, leg, op, edges, warp, step * leg->smem_vector, false);
            add_times(sum, &a, tiles);
        }
        for (int64_t value = 0; edges && !leg->matrix && leg->vector > 1 && value < leg->part.values;
             value++) {
            const struct la_access a = smem_access(c, leg, op, edges, warp, value, true);
            add_times(sum, &a, tiles);
        }
    }
}

static void add_smem(struct predicting *p, const char *name, const struct gpu_leg *leg, enum la_access_op op)
{
    const struct gpu_copy *c = &p->plan->copy;
    struct la_totals sum = {0};
    uint32_t partial = 0;
    for (uint32_t k = 0; k < c->src.rank; k++)
        partial |= (uint32_t)c->partial[k] << k;
    for (uint32_t edges = 0; edges <= partial; edges++)
        if (!(edges & ~partial))
            add_tiles(&sum, c, leg, op, edges);
    cJSON *json = cJSON_AddObjectToObject(p->json, name);
    cJSON_AddNumberToObject(json, leg->matrix ? "matrix_requests" : "requests", (double)sum.instructions);
    cJSON_AddNumberToObject(json, "wavefronts", (double)sum.wavefronts);
    cJSON_AddNumberToObject(json, "conflicts", (double)(sum.wavefronts - sum.wavefronts_ideal));
}

/* The operations of both ways through shared memory. */
static enum la_access_op store_op(const struct gpu_leg *in)
{
    return gpu_is_cp_async(in) ? LA_CP_ASYNC
           : !in->matrix       ? LA_STORE
           : in->matrix->trans ? LA_STMATRIX_TRANS
                               : LA_STMATRIX;
}

static enum la_access_op load_op(const struct gpu_leg *out)
{
    return !out->matrix ? LA_LOAD : out->matrix->trans ? LA_LDMATRIX_TRANS : LA_LDMATRIX;
}

/* The groups whose counters hold something else, each with the reason. */
static void add_not_compared(struct predicting *p)
{
    const struct gpu_copy *c = &p->plan->copy;
    if (c->in.atom.op == GPU_CP_ASYNC_GLOBAL && !cJSON_GetObjectItemCaseSensitive(p->apart, c->src.name))
        cJSON_AddStringToObject(
            p->apart, c->src.name,
            "cp.async past L1 counts some sectors twice where rows do not begin with whole ones");
    if (!gpu_is_cp_async(&c->in))
        return;
    cJSON_AddStringToObject(
        p->apart, "smem_store",
        "cp.async writes shared memory without a store instruction: the counters of stores stay "
        "at 0, and those of its writes are no counter of this set");
    if (!c->out.tma)
        cJSON_AddStringToObject(
            p->apart, "smem_load",
            "the counters of shared loads hold the writes of cp.async too, and how many it makes of "
            "an access is not documented");
}

/* ---- */

/* Half a second: a tile as large as shared memory at the edges of three modes takes less. */
#define MOST_LOOKS (INT64_C(1) << 26)

/* Every value of a tile is looked at once for each combination of edges, and for every value of its access whether that
 * is inside. */
static void check_looks(struct la_ctx *cx, const struct gpu_copy *c, const struct gpu_leg *leg)
{
    int64_t kinds = 1;
    for (uint32_t k = 0; k < c->src.rank; k++)
        kinds *= c->partial[k] ? 2 : 1;
    const int64_t looks = kinds * leg->part.threads * leg->part.values * (leg->vector + 4);
    if (!leg->tma && looks > MOST_LOOKS)
        la_fail(cx, LA_E_limit,
                "%lld kinds of tiles, of %lld threads with %lld values in accesses of %lld, are %lld things "
                "to look "
                "at; %lld is the most",
                (long long)kinds, (long long)leg->part.threads, (long long)leg->part.values,
                (long long)leg->vector, (long long)looks, (long long)MOST_LOOKS);
}

static void predict_body(struct la_ctx *cx, void *arg)
{
    struct predicting *p = arg;
    const struct gpu_copy *c = &p->plan->copy;
    check_looks(cx, c, &c->in);
    check_looks(cx, c, &c->out);
    p->apart = cJSON_CreateObject();
    cJSON_AddItemToObject(p->json, "not_compared", p->apart);
    add_global(cx, p, &c->in, &c->src, gpu_is_cp_async(&c->in) ? LA_CP_ASYNC : LA_LOAD);
    add_global(cx, p, &c->out, &c->dst, LA_STORE);
    if (c->smem && !c->in.tma)
        add_smem(p, "smem_store", &c->in, store_op(&c->in));
    if (c->smem && !c->out.tma)
        add_smem(p, "smem_load", &c->out, load_op(&c->out));
    add_not_compared(p);
}

cJSON *gpu_predict(struct la_ctx *cx, const struct gpu_plan *plan)
{
    struct predicting p = {.plan = plan, .json = cJSON_CreateObject()};
    if (la_try(cx, predict_body, &p))
        return p.json;
    cJSON_Delete(p.json); /* half of it would mislead */
    p.json = cJSON_CreateObject();
    cJSON_AddStringToObject(p.json, "why", cx->error.message);
    return p.json;
}
