/* plan.c: a spec resolved into a plan: all that a kernel, its CPU twin, its check and its timing need to
 * know.
 *
 *   thr (32,8):(8,1), val (1,8):(0,1), 128-bit atom, half_t (4096,4096):(4096,1) to the same
 *   -> tile (32,64), 128 x 64 tiles, one access of 8 half_t a thread and tile, 4 tiles in flight, 2048 blocks
 *
 * Everything that can be refused is refused here, before anything is compiled. What the spec left open (grid,
 * unroll, cache) is chosen here, and gpu_plan_spec gives it back as a spec. */
#include "internal.h"

#include <math.h>

enum {
    FLIGHT_BYTES =
        64, /* that a thread loads before it stores: 2048 threads of a multiprocessor then have 128 KB in
                            flight, more than the product of bandwidth and latency needs */
    FLIGHT_ACCESSES = 16, /* likewise for narrow accesses, which the load queue limits before bytes do */
    FEWEST_BLOCKS = 1024, /* several a multiprocessor on every card: below it tiles are not unrolled */
    MOST_BLOCKS = 1 << 20 /* beyond it blocks walk over tiles: starting one costs more than a loop's turn */
};

struct planning {
    struct gpu_spec spec;
    struct la_layout thr, val, src, dst;
    struct gpu_plan *plan;
    const char **field;
    const char *doing; /* what core's algebra is used for at the moment, for its messages */
};

/* ---- the shape of the work ---- */

static void check_shapes(struct la_ctx *cx, struct planning *p)
{
    const struct gpu_copy *c = &p->plan->copy;
    const struct gpu_tensor *src = &c->src, *dst = &c->dst;
    *p->field = "dst";
    if (src->rank != dst->rank)
        la_fail(cx, LA_E_rank_mismatch, "src has %u modes and dst %u: a copy needs one logical shape",
                src->rank, dst->rank);
    for (uint32_t k = 0; k < src->rank; k++)
        if (src->extent[k] != dst->extent[k])
            la_fail(cx, LA_E_rank_mismatch,
                    "mode %u of src has %lld elements and of dst %lld: a copy needs one logical "
                    "shape",
                    k, (long long)src->extent[k], (long long)dst->extent[k]);
    *p->field = "thr";
    if (c->part.rank > src->rank)
        la_fail(cx, LA_E_too_many_modes, "the tile %s of thr and val has %u modes, but src has %u",
                la_print_tuple(cx, c->part.tiler, LA_SPELL_TEXT), c->part.rank, src->rank);
}

static void set_tensors(struct la_ctx *cx, struct planning *p)
{
    struct gpu_copy *c = &p->plan->copy;
    *p->field = "src";
    c->src = gpu_tensor_make(cx, "src", p->src, c->type->bits);
    *p->field = "dst";
    c->dst = gpu_tensor_make(cx, "dst", p->dst, c->type->bits);
    check_shapes(cx, p);
    *p->field = "src";
    p->doing = "src divided by the tile";
    c->load = gpu_access_make(cx, &c->part, &c->src);
    *p->field = "dst";
    p->doing = "dst divided by the tile";
    c->store = gpu_access_make(cx, &c->part, &c->dst);
    p->doing = NULL;
    gpu_tensor_injective(cx, &c->dst);
}

static void set_atom(struct la_ctx *cx, struct planning *p)
{
    struct gpu_copy *c = &p->plan->copy;
    const unsigned atom = c->atom.bits, element = c->type->bits;
    *p->field = "atom";
    if (atom % element != 0)
        la_fail(cx, LA_E_copy_too_few_values, "%s moves %u bits at a time, less than one %s of %u bits",
                c->atom.name, atom, c->type->name, element);
    c->vector = atom / element;
    *p->field = "val";
    if (c->part.values % c->vector != 0)
        la_fail(cx, LA_E_copy_too_few_values,
                "val %s has %lld values a thread, but %s moves %lld %s at a time: TiledCopy uses too few "
                "values for "
                "the selected atom",
                gpu_layout_text(cx, c->part.val), (long long)c->part.values, c->atom.name,
                (long long)c->vector, c->type->name);
    gpu_access_consecutive(cx, c, &c->src, &c->load);
    gpu_access_consecutive(cx, c, &c->dst, &c->store);
    *p->field = "src";
    gpu_access_aligned(cx, c, &c->src, &c->load);
    *p->field = "dst";
    gpu_access_aligned(cx, c, &c->dst, &c->store);
}

/* ---- the walk over the tiles ---- */

/* How far apart in both tensors neighbouring tiles along a mode lie. */
static double tile_stride(const struct gpu_copy *c, uint32_t k)
{
    const struct gpu_map *load = &c->load.rest[k], *store = &c->store.rest[k];
    double sum = 0;
    sum += load->count ? fabs((double)load->modes[0].stride) : 0;
    sum += store->count ? fabs((double)store->modes[0].stride) : 0;
    return sum;
}

static void set_tiles(struct la_ctx *cx, struct planning *p)
{
    struct gpu_copy *c = &p->plan->copy;
    c->tiles = 1;
    for (uint32_t k = 0; k < c->src.rank; k++) {
        c->rest[k] = (c->src.extent[k] + c->part.tile[k] - 1) / c->part.tile[k];
        c->partial[k] = c->src.extent[k] % c->part.tile[k] != 0;
        c->predicated = c->predicated || c->partial[k];
        c->tiles *= c->rest[k];
        /* Tiles that follow each other should lie next to each other in memory. */
        uint32_t at = k;
        for (; at > 0 && tile_stride(c, c->order[at - 1]) > tile_stride(c, k); at--)
            c->order[at] = c->order[at - 1];
        c->order[at] = k;
    }
    *p->field = "thr";
    if (c->tiles > GPU_MAX_TENSOR_BYTES / c->part.threads)
        la_fail(cx, LA_E_limit, "%lld tiles of %lld threads are too many", (long long)c->tiles,
                (long long)c->part.threads);
}

/* The modes of an access's tiles in the order that tiles are numbered. */
static struct gpu_map number_tiles(struct la_ctx *cx, const struct gpu_copy *c,
                                   const struct gpu_access *access)
{
    struct gpu_map parts[GPU_MAX_RANK];
    for (uint32_t i = 0; i < c->src.rank; i++) {
        parts[i] = access->rest[c->order[i]];
        int64_t size = 1;
        for (uint32_t m = 0; m < parts[i].count; m++)
            size *= parts[i].modes[m].extent;
        if (size != c->rest[c->order[i]])
            la_fail(cx, LA_E_other, "mode %u has %lld tiles, but dividing it gave %lld", c->order[i],
                    (long long)c->rest[c->order[i]], (long long)size);
    }
    return gpu_map_join(cx, c->src.rank, parts);
}

static void set_walk(struct la_ctx *cx, struct gpu_copy *c)
{
    c->load.tile = number_tiles(cx, c, &c->load);
    c->store.tile = number_tiles(cx, c, &c->store);
    for (uint32_t k = 0; k < c->src.rank; k++) {
        struct gpu_mode mode[GPU_MAX_RANK];
        struct gpu_map parts[GPU_MAX_RANK];
        for (uint32_t i = 0; i < c->src.rank; i++) {
            const uint32_t m = c->order[i];
            mode[i] = (struct gpu_mode){c->rest[m], m == k ? c->part.tile[k] : 0};
            parts[i] = (struct gpu_map){1, &mode[i]};
        }
        c->tile_at[k] = gpu_map_join(cx, c->src.rank, parts);
    }
}

/* The range of the offsets that threads compute, also those of elements outside the shape, which are not
 * touched. */
static void access_range(struct la_ctx *cx, const struct gpu_access *a, int64_t *min, int64_t *max)
{
    const struct gpu_map parts[] = {a->thread, a->value, a->tile};
    *min = *max = 0;
    for (uint32_t i = 0; i < 3; i++) {
        int64_t low, high;
        gpu_map_range(cx, parts[i], &low, &high);
        *min += low;
        *max += high;
    }
}

static void set_offsets(struct la_ctx *cx, struct gpu_copy *c)
{
    int64_t min[2], max[2];
    access_range(cx, &c->load, &min[0], &max[0]);
    access_range(cx, &c->store, &min[1], &max[1]);
    c->negative = min[0] < 0 || min[1] < 0;
    const int64_t most = INT32_MAX / 2 -
                         GPU_MAX_HELD; /* a tile's number and a grid's stride add up below 2^31 */
    c->wide = max[0] > most || max[1] > most || min[0] < -most || min[1] < -most || c->tiles > most;
}

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

static void set_unroll(struct la_ctx *cx, struct planning *p)
{
    struct gpu_copy *c = &p->plan->copy;
    const int64_t bytes = c->atom.bits / 8, accesses = c->part.values / c->vector;
    int64_t flight = FLIGHT_BYTES / bytes;
    flight = flight < 1 ? 1 : flight > FLIGHT_ACCESSES ? FLIGHT_ACCESSES : flight;
    c->batch = batch_of(accesses, flight);
    c->unroll = p->spec.unroll;
    if (!c->unroll)
        for (c->unroll = flight / accesses; c->unroll > 1 && c->tiles / c->unroll < FEWEST_BLOCKS;)
            c->unroll /= 2;
    c->unroll = c->unroll < 1 ? 1 : c->unroll;
    if (c->unroll > 1)
        c->batch = accesses;
    *p->field = "unroll";
    if (c->unroll > 1 && c->unroll * accesses * bytes > GPU_MAX_HELD)
        la_fail(cx, LA_E_limit,
                "%lld tiles of %lld accesses of %lld bytes are %lld bytes in a thread's registers; %d is "
                "the most",
                (long long)c->unroll, (long long)accesses, (long long)bytes,
                (long long)(c->unroll * accesses * bytes), GPU_MAX_HELD);
}

static void set_grid(struct la_ctx *cx, struct planning *p)
{
    struct gpu_copy *c = &p->plan->copy;
    const int64_t steps = (c->tiles + c->unroll - 1) / c->unroll;
    *p->field = "grid";
    if (p->spec.grid > steps)
        la_fail(cx, LA_E_domain, "grid %lld: there are %lld tiles, %lld at a time, so work for %lld blocks",
                (long long)p->spec.grid, (long long)c->tiles, (long long)c->unroll, (long long)steps);
    p->plan->block = c->part.threads;
    p->plan->grid = p->spec.grid ? p->spec.grid : steps < MOST_BLOCKS ? steps : MOST_BLOCKS;
    /* Evict-first pays when nothing is used twice: every sector whole in one access, no broadcast. */
    const bool once = c->src.distinct >= c->src.elements && gpu_access_coalesced(c, &c->load) &&
                      gpu_access_coalesced(c, &c->store);
    c->streaming = p->spec.cache == GPU_CACHE_STREAMING || (p->spec.cache == GPU_CACHE_AUTO && once);
}

static void plan_body(struct la_ctx *cx, void *arg)
{
    struct planning *p = arg;
    struct gpu_plan *plan = p->plan = la_alloc(cx, sizeof *plan);
    *plan = (struct gpu_plan){.kind = p->spec.kind,
                              .integers = p->spec.integers,
                              .where = p->spec.where,
                              .plant = p->spec.plant,
                              .seed = p->spec.seed};
    plan->copy.type = p->spec.type;
    plan->copy.atom = p->spec.atom;
    p->doing = "make_tiled_copy";
    plan->copy.part = gpu_partition_make(cx, p->thr, p->val, p->field);
    p->doing = NULL;
    set_tensors(cx, p);
    set_atom(cx, p);
    set_tiles(cx, p);
    set_walk(cx, &plan->copy);
    set_offsets(cx, &plan->copy);
    set_unroll(cx, p);
    set_grid(cx, p);
    const int64_t bytes = plan->copy.type->bits / 8;
    plan->bytes_read = plan->copy.src.distinct * bytes;
    plan->bytes_written = plan->copy.dst.elements * bytes;
    *p->field = NULL;
}

/* The layout that the text of a field names. */
static bool read_layout(struct la_ctx *cx, struct planning *p, const char *name, const char *text,
                        struct la_layout *out)
{
    struct la_program program;
    *p->field = name;
    if (!la_eval(cx, text, p->spec.integers, &program))
        return false;
    if (program.value.kind != LA_K_LAYOUT)
        return gpu_refuse(cx, LA_E_kind, "'%s' takes a layout, shape:stride; this is of kind %s", name,
                          la_kind_name(program.value.kind));
    *out = program.value.layout;
    return true;
}

/* Put before a message what was going on. */
static bool explain(struct la_ctx *cx, const char *doing)
{
    char text[sizeof cx->error.message];
    if (doing) {
        snprintf(text, sizeof text, "%s", cx->error.message);
        snprintf(cx->error.message, sizeof cx->error.message, "%s: %.*s", doing, (int)sizeof text - 64, text);
    }
    return false;
}

bool gpu_plan_make(struct la_ctx *cx, const cJSON *spec, struct gpu_plan **out, const char **field)
{
    struct planning p = {.field = field};
    *out = NULL;
    if (!gpu_spec_read(cx, spec, &p.spec, field) || !read_layout(cx, &p, "thr", p.spec.thr, &p.thr) ||
        !read_layout(cx, &p, "val", p.spec.val, &p.val) || !read_layout(cx, &p, "src", p.spec.src, &p.src) ||
        !read_layout(cx, &p, "dst", p.spec.dst, &p.dst))
        return false;
    if (!la_try(cx, plan_body, &p))
        return explain(cx, p.doing);
    *out = p.plan;
    return true;
}

/* ---- plans as JSON ---- */

cJSON *gpu_plan_spec(struct la_ctx *cx, const struct gpu_plan *plan)
{
    const struct gpu_copy *c = &plan->copy;
    const bool is_static = plan->integers == LA_INTEGERS_STATIC;
    const enum la_spelling spelling = is_static ? LA_SPELL_TEXT : LA_SPELL_CUTE;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "kind", "copy");
    cJSON_AddStringToObject(json, "type", c->type->name);
    cJSON_AddStringToObject(json, "atom", c->atom.name);
    cJSON_AddStringToObject(json, "thr", la_print_layout(cx, c->part.thr, spelling));
    cJSON_AddStringToObject(json, "val", la_print_layout(cx, c->part.val, spelling));
    cJSON_AddStringToObject(json, "src", la_print_layout(cx, c->src.layout, spelling));
    cJSON_AddStringToObject(json, "dst", la_print_layout(cx, c->dst.layout, spelling));
    cJSON_AddNullToObject(json, "smem");
    cJSON_AddStringToObject(json, "integers", is_static ? "static" : "cute");
    cJSON_AddNumberToObject(json, "grid", (double)plan->grid);
    cJSON_AddNumberToObject(json, "unroll", (double)c->unroll);
    cJSON_AddStringToObject(json, "cache", c->streaming ? "streaming" : "default");
    if (plan->where != GPU_ANYWHERE)
        cJSON_AddStringToObject(json, "executor", gpu_where_name(plan->where));
    if (plan->seed)
        cJSON_AddNumberToObject(json, "seed", (double)plan->seed);
    if (plan->plant != GPU_PLANT_NONE)
        cJSON_AddStringToObject(json, "plant", gpu_plant_name(plan->plant));
    return json;
}

cJSON *gpu_plan_facts(struct la_ctx *cx, const struct gpu_plan *plan)
{
    const struct gpu_copy *c = &plan->copy;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "tiler", la_print_tuple(cx, c->part.tiler, LA_SPELL_TEXT));
    cJSON_AddStringToObject(json, "tv", gpu_layout_text(cx, c->part.tv));
    cJSON_AddNumberToObject(json, "threads", (double)c->part.threads);
    cJSON_AddNumberToObject(json, "values", (double)c->part.values);
    cJSON_AddNumberToObject(json, "values_per_access", (double)c->vector);
    cJSON_AddNumberToObject(json, "accesses_in_flight", (double)(c->batch * c->unroll));
    cJSON_AddNumberToObject(json, "elements", (double)c->src.elements);
    cJSON_AddNumberToObject(json, "tiles", (double)c->tiles);
    cJSON *order = cJSON_AddArrayToObject(json, "tile_order"),
          *partial = cJSON_AddArrayToObject(json, "partial_modes");
    for (uint32_t k = 0; k < c->src.rank; k++) {
        cJSON_AddItemToArray(order, cJSON_CreateNumber(c->order[k]));
        if (c->partial[k])
            cJSON_AddItemToArray(partial, cJSON_CreateNumber(k));
    }
    cJSON_AddBoolToObject(json, "predicated", c->predicated);
    if (c->predicated)
        cJSON_AddStringToObject(json, "edge", "value by value where an access straddles it");
    cJSON_AddNumberToObject(json, "offset_bits", c->wide ? 64 : 32);
    cJSON_AddNumberToObject(json, "block", (double)plan->block);
    cJSON_AddNumberToObject(json, "bytes_read", (double)plan->bytes_read);
    cJSON_AddNumberToObject(json, "bytes_written", (double)plan->bytes_written);
    return json;
}
