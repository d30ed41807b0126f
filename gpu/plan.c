/* plan.c: a spec resolved into a plan: all that a kernel, its CPU twin, its check and its timing need to
 * know.
 *
 *   thr (32,8):(8,1), val (1,8):(0,1), 128-bit atom, half_t (4096,4096):(4096,1) to the same
 *   -> tile (32,64), 128 x 64 tiles, one access of 8 half_t a thread and tile, 4 tiles in flight, 2048 blocks
 *
 * Everything that can be refused is refused here, before anything is compiled. What the spec left open (grid,
 * unroll, cache, stages) is chosen here; plan_json.c gives it back as a spec. */
#include "internal.h"

#include <math.h>

enum {
    FLIGHT_BYTES =
        32, /* that a thread loads before it stores: 2048 threads of a multiprocessor then have 64 KB in
                        * flight. On an H200 2 GiB ran at 0.99 of memcpy so, at 0.95 with twice as much */
    FLIGHT_ACCESSES = 16, /* likewise for narrow accesses, which the load queue limits before bytes do */
    MOST_STAGES = 8,      /* that are chosen: beyond, shared memory holds fewer threads, not more bytes */
    FEWEST_BLOCKS = 1024, /* several a multiprocessor on every card: below it tiles are not unrolled */
    MOST_BLOCKS = 1 << 20 /* beyond it blocks walk over tiles: starting one costs more than a loop's turn */
};

struct planning {
    struct gpu_spec spec;
    struct la_layout thr, val, dst_thr, dst_val, src, dst, smem;
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
    if (c->in.part.rank > src->rank)
        la_fail(cx, LA_E_too_many_modes, "the tile %s of thr and val has %u modes, but src has %u",
                la_print_tuple(cx, c->in.part.tiler, LA_SPELL_TEXT), c->in.part.rank, src->rank);
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
    c->load = gpu_access_make(cx, &c->in.part, &c->src);
    *p->field = "dst";
    p->doing = "dst divided by the tile";
    c->store = gpu_access_make(cx, &c->out.part, &c->dst);
    p->doing = NULL;
    gpu_tensor_injective(cx, &c->dst);
}

/* A leg with what it accesses in global memory: on the way from src to dst both, through shared memory one of them. */
struct legality {
    struct planning *p;
    struct gpu_leg *leg;
    const char *atom, *val; /* names of its fields */
    bool loads, stores;
};

static void check_leg(struct la_ctx *cx, void *arg)
{
    const struct legality *l = arg;
    struct gpu_copy *c = &l->p->plan->copy;
    struct gpu_leg *leg = l->leg;
    const unsigned element = c->type->bits;
    *l->p->field = l->atom;
    if (leg->atom.bits % element != 0)
        la_fail(cx, LA_E_copy_too_few_values, "%s moves %u bits at a time, less than one %s of %u bits",
                leg->atom.name, leg->atom.bits, c->type->name, element);
    leg->vector = leg->atom.bits / element;
    *l->p->field = l->val;
    if (leg->part.values % leg->vector != 0)
        la_fail(cx, LA_E_copy_too_few_values,
                "val %s has %lld values a thread, but %s moves %lld %s at a time: TiledCopy uses too few "
                "values for the selected atom",
                gpu_layout_text(cx, leg->part.val), (long long)leg->part.values, leg->atom.name,
                (long long)leg->vector, c->type->name);
    if (l->loads)
        gpu_access_consecutive(cx, c->type, leg, &c->src, &c->load);
    if (l->stores)
        gpu_access_consecutive(cx, c->type, leg, &c->dst, &c->store);
    *l->p->field = "src";
    if (l->loads)
        gpu_access_aligned(cx, c->type, leg, &c->src, &c->load);
    *l->p->field = "dst";
    if (l->stores)
        gpu_access_aligned(cx, c->type, leg, &c->dst, &c->store);
}

/* AutoVectorizingCopy is the widest atom that is provably right; one element at a time always is. */
static void set_leg(struct la_ctx *cx, struct legality *l)
{
    const unsigned element = l->p->plan->copy.type->bits;
    if (l->leg->atom.bits) {
        check_leg(cx, l);
        return;
    }
    const struct la_error none = cx->error;
    for (unsigned bits = LA_VECTOR_BITS; bits >= element; bits /= 2) {
        l->leg->atom = (struct gpu_atom){la_format(cx, "UniversalCopy<uint%u_t>", bits), bits, GPU_UNIVERSAL};
        if (la_try(cx, check_leg, l))
            break;
        cx->error = none;
    }
}

static void set_legs(struct la_ctx *cx, struct planning *p)
{
    struct gpu_copy *c = &p->plan->copy;
    const bool staged = p->spec.smem != NULL;
    struct legality in = {p, &c->in, "atom", "val", true, !staged};
    struct legality out = {p, &c->out, "dst_atom", "dst_val", false, true};
    set_leg(cx, &in);
    if (!staged) {
        c->out = c->in;
        return;
    }
    set_leg(cx, &out);
    gpu_stage_make(cx, c, p->smem, p->field);
    *p->field = "atom";
    if (c->in.atom.op != GPU_UNIVERSAL && c->in.smem_vector != c->in.vector)
        la_fail(cx, LA_E_not_contiguous, "%s puts %lld consecutive %s into shared memory, but in smem %s %s",
                c->in.atom.name, (long long)c->in.vector, c->type->name, gpu_layout_text(cx, c->smem->layout),
                c->in.smem_vector_why);
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
        c->rest[k] = (c->src.extent[k] + c->in.part.tile[k] - 1) / c->in.part.tile[k];
        c->partial[k] = c->src.extent[k] % c->in.part.tile[k] != 0;
        c->predicated = c->predicated || c->partial[k];
        c->tiles *= c->rest[k];
        /* Tiles that follow each other should lie next to each other in memory. */
        uint32_t at = k;
        for (; at > 0 && tile_stride(c, c->order[at - 1]) > tile_stride(c, k); at--)
            c->order[at] = c->order[at - 1];
        c->order[at] = k;
    }
    *p->field = "thr";
    if (c->tiles > GPU_MAX_TENSOR_BYTES / c->in.part.threads)
        la_fail(cx, LA_E_limit, "%lld tiles of %lld threads are too many", (long long)c->tiles,
                (long long)c->in.part.threads);
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
            mode[i] = (struct gpu_mode){c->rest[m], m == k ? c->in.part.tile[k] : 0};
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
    c->wide = max[0] > most || max[1] > most || min[0] < -most || min[1] < -most ||
              c->tiles > most / GPU_MAX_STAGES;
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

static int64_t accesses_of(const struct gpu_leg *leg)
{
    return leg->part.values / leg->vector;
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

static int64_t flight_of(const struct gpu_leg *leg)
{
    const int64_t flight = FLIGHT_BYTES / (leg->atom.bits / 8);
    return flight < 1 ? 1 : flight > FLIGHT_ACCESSES ? FLIGHT_ACCESSES : flight;
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
    int64_t stages = 1 + (FLIGHT_BYTES + held_by(&c->in, 1) - 1) / held_by(&c->in, 1);
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

/* Tiles in flight: in registers, or with cp.async in the buffers that wait behind the one that is read. */
static void set_unroll(struct la_ctx *cx, struct planning *p)
{
    struct gpu_copy *c = &p->plan->copy;
    const bool async = c->in.atom.op != GPU_UNIVERSAL;
    *p->field = "unroll";
    if (async && p->spec.unroll > 1)
        la_fail(cx, LA_E_domain,
                "unroll %lld: with cp.async it is 'stages' that says how many tiles are in flight",
                (long long)p->spec.unroll);
    c->unroll = async ? 1 : p->spec.unroll ? p->spec.unroll : choose_unroll(c);
    c->stages = !async ? 0 : p->spec.stages ? p->spec.stages : choose_stages(c);
    check_held(cx, c, &c->in);
    check_held(cx, c, &c->out);
    c->in.batch = c->unroll > 1 || async ? accesses_of(&c->in)
                                         : batch_of(accesses_of(&c->in), flight_of(&c->in));
    c->out.batch = c->unroll > 1 ? accesses_of(&c->out) : batch_of(accesses_of(&c->out), flight_of(&c->out));
    const int64_t buffers = async ? c->stages : c->unroll;
    p->plan->shared_bytes = buffers * buffer_bytes(c);
    *p->field = async ? "stages" : "unroll";
    if (p->plan->shared_bytes > GPU_MAX_SMEM)
        la_fail(cx, LA_E_limit,
                "%lld tiles of %lld bytes in shared memory are %lld bytes; a block has %d at most",
                (long long)buffers, (long long)buffer_bytes(c), (long long)p->plan->shared_bytes,
                GPU_MAX_SMEM);
}

/* With cp.async a block has the tiles that its stages let it ask for before it reads the first; then it makes
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

static void set_grid(struct la_ctx *cx, struct planning *p)
{
    struct gpu_copy *c = &p->plan->copy;
    const int64_t steps = (c->tiles + c->unroll - 1) / c->unroll;
    *p->field = "grid";
    if (p->spec.grid > steps)
        la_fail(cx, LA_E_domain, "grid %lld: there are %lld tiles, %lld at a time, so work for %lld blocks",
                (long long)p->spec.grid, (long long)c->tiles, (long long)c->unroll, (long long)steps);
    p->plan->block = c->in.part.threads;
    p->plan->grid = p->spec.grid ? p->spec.grid : choose_grid(c, steps);
    /* Evict-first did not pay on an H200, not even where nothing is used twice: 0.967 of memcpy against 0.987. */
    c->cache = p->spec.cache != GPU_CACHE_AUTO ? p->spec.cache : GPU_CACHE_DEFAULT;
}

static void set_partitions(struct la_ctx *cx, struct planning *p)
{
    static const char *const in[2] = {"thr", "val"}, *const out[2] = {"dst_thr", "dst_val"};
    struct gpu_copy *c = &p->plan->copy;
    c->in.atom = p->spec.atom;
    c->out.atom = p->spec.dst_atom;
    p->doing = "make_tiled_copy";
    c->in.part = c->out.part = gpu_partition_make(cx, p->thr, p->val, in, p->field);
    if (p->spec.smem)
        c->out.part = gpu_partition_make(cx, p->dst_thr, p->dst_val, out, p->field);
    p->doing = NULL;
}

static void plan_body(struct la_ctx *cx, void *arg)
{
    struct planning *p = arg;
    struct gpu_plan *plan = p->plan = la_alloc(cx, sizeof *plan);
    *plan = (struct gpu_plan){.kind = p->spec.kind,
                              .integers = p->spec.integers,
                              .where = p->spec.where,
                              .plant = p->spec.plant,
                              .counters = p->spec.counters,
                              .seed = p->spec.seed};
    plan->copy.type = p->spec.type;
    set_partitions(cx, p);
    set_tensors(cx, p);
    set_legs(cx, p);
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
    if (program.value.kind != LA_K_LAYOUT && !(program.value.kind == LA_K_COMPOSED && text == p->spec.smem))
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
        !read_layout(cx, &p, "dst", p.spec.dst, &p.dst) ||
        (p.spec.smem && (!read_layout(cx, &p, "smem", p.spec.smem, &p.smem) ||
                         !read_layout(cx, &p, "dst_thr", p.spec.dst_thr, &p.dst_thr) ||
                         !read_layout(cx, &p, "dst_val", p.spec.dst_val, &p.dst_val))))
        return false;
    if (!la_try(cx, plan_body, &p))
        return explain(cx, p.doing);
    *out = p.plan;
    return true;
}
