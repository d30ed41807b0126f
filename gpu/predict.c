/* predict.c: what the hardware will count when a plan's kernel runs, by core's rules of one warp's access (access.c).
 *
 *   2 GiB of half_t in rows, 128 bits a thread: src {requests 4194304, sectors 67108864}: 16 a request, the ideal
 *
 * Global memory: the partition laid over the tensor, all kinds of tiles. Shared memory: the same buffer in every tile,
 * so that only the edges of the shape make a difference. Exact unless an access straddles an edge: then the kernel
 * goes value by value, which is not counted here, and `exact` is false. */
#include "internal.h"

struct predicting {
    const struct gpu_plan *plan;
    cJSON *json;
    int64_t straddling; /* accesses that an edge cuts */
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
    cJSON *json = cJSON_AddObjectToObject(p->json, tensor->name);
    cJSON_AddNumberToObject(json, "requests", (double)t.all.instructions);
    cJSON_AddNumberToObject(json, "sectors", (double)t.all.sectors);
    cJSON_AddNumberToObject(json, "sectors_ideal", (double)t.all.sectors_ideal);
    p->straddling += t.all.straddling;
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

/* Whether all values of an access lie in the shape. */
static bool is_inside(const struct gpu_copy *c, const struct gpu_leg *leg, uint32_t edges, int64_t thread,
                      int64_t value)
{
    for (int64_t v = value; edges && v < value + leg->vector; v++)
        for (uint32_t k = 0; k < c->src.rank; k++)
            if ((edges >> k & 1) &&
                gpu_map_at(leg->part.thread_at[k], thread) + gpu_map_at(leg->part.value_at[k], v) >=
                    c->src.extent[k] % leg->part.tile[k])
                return false;
    return true;
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

/* Instruction `step` of a warp, in a tile at these edges. Matrices are moved whole: shared memory has all of the tile. */
static struct la_access smem_access(const struct gpu_copy *c, const struct gpu_leg *leg, enum la_access_op op,
                                    uint32_t edges, int64_t warp, int64_t step)
{
    const int64_t bytes = c->type->bits / 8, value = step * leg->smem_vector,
                  first = value - value % leg->vector;
    struct la_access a = {
        .space = LA_SHARED, .op = op, .bytes = (int32_t)(leg->smem_vector * bytes), .lanes = lanes_of(leg)};
    for (int32_t lane = 0; lane < a.lanes && warp * LA_LANES + lane < leg->part.threads; lane++) {
        const int64_t thread = warp * LA_LANES + lane;
        if (!leg->matrix && !is_inside(c, leg, edges, thread, first))
            continue;
        a.active |= UINT32_C(1) << lane;
        a.at[lane] = bytes * gpu_smem_place(c->smem, gpu_map_at(leg->smem.thread, thread) +
                                                         gpu_map_at(leg->smem.value, value));
    }
    return a;
}

/* The most instructions that may issue with no lane on, and count as requests: where the compiler makes an access
 * conditional rather than jump over it, a tile at an edge goes by the accesses of a whole one before its own, and a
 * step that reaches beyond the last tile goes by those of the missing ones. */
static int64_t requests_off(const struct gpu_copy *c, int64_t per_tile, int64_t requests)
{
    const int64_t whole = tiles_at(c, 0), cut = c->tiles - whole;
    const int64_t missing = (c->unroll - c->tiles % c->unroll) % c->unroll;
    return (2 * cut + missing) * per_tile - (requests - whole * per_tile);
}

static void add_smem(struct predicting *p, const char *name, const struct gpu_leg *leg, enum la_access_op op)
{
    const struct gpu_copy *c = &p->plan->copy;
    const int64_t warps = (leg->part.threads + LA_LANES - 1) / LA_LANES;
    int64_t requests = 0, wavefronts = 0, ideal = 0;
    uint32_t partial = 0;
    for (uint32_t k = 0; k < c->src.rank; k++)
        partial |= (uint32_t)c->partial[k] << k;
    for (uint32_t edges = 0; edges <= partial; edges++) {
        const int64_t tiles = (edges & ~partial) ? 0 : tiles_at(c, edges);
        for (int64_t warp = 0; tiles > 0 && warp < warps; warp++)
            for (int64_t step = 0; step < steps_of(leg); step++) {
                const struct la_access a = smem_access(c, leg, op, edges, warp, step);
                const struct la_cost cost = la_access_cost(&a);
                requests += tiles * cost.requests;
                wavefronts += tiles * cost.wavefronts;
                ideal += tiles * cost.wavefronts_ideal;
            }
    }
    cJSON *json = cJSON_AddObjectToObject(p->json, name);
    cJSON_AddNumberToObject(json, leg->matrix ? "matrix_requests" : "requests", (double)requests);
    cJSON_AddNumberToObject(json, "wavefronts", (double)wavefronts);
    cJSON_AddNumberToObject(json, "conflicts", (double)(wavefronts - ideal));
    const int64_t off = requests_off(c, warps * steps_of(leg), requests);
    if (off > 0 && !leg->matrix)
        cJSON_AddNumberToObject(json, "requests_off", (double)off);
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
    cJSON *json = cJSON_AddObjectToObject(p->json, "not_compared");
    cJSON_AddStringToObject(
        json, "smem_store",
        "cp.async writes shared memory without a store instruction: the counters of stores stay "
        "at 0, and those of its writes are no counter of this set");
    if (!p->plan->copy.out.tma)
        cJSON_AddStringToObject(
            json, "smem_load",
            "the counters of shared loads hold the writes of cp.async too, and how many it makes of "
            "an access is not documented");
}

/* ---- */

static void predict_body(struct la_ctx *cx, void *arg)
{
    struct predicting *p = arg;
    const struct gpu_copy *c = &p->plan->copy;
    add_global(cx, p, &c->in, &c->src, gpu_is_cp_async(&c->in) ? LA_CP_ASYNC : LA_LOAD);
    add_global(cx, p, &c->out, &c->dst, LA_STORE);
    if (c->smem && !c->in.tma)
        add_smem(p, "smem_store", &c->in, store_op(&c->in));
    if (c->smem && !c->out.tma)
        add_smem(p, "smem_load", &c->out, load_op(&c->out));
    if (gpu_is_cp_async(&c->in))
        add_not_compared(p);
    cJSON_AddBoolToObject(p->json, "exact", p->straddling == 0);
    if (p->straddling)
        cJSON_AddStringToObject(
            p->json, "why",
            la_format(cx,
                      "%lld accesses are cut by the edge of the shape and are made value by "
                      "value, but counted as one",
                      (long long)p->straddling));
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
