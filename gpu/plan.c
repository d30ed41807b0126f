/* plan.c: a copy's spec resolved into a plan: all that a kernel, its CPU twin, its check and its timing need to
 * know.
 *
 *   thr (32,8):(8,1), val (1,8):(0,1), 128-bit atom, half_t (4096,4096):(4096,1) to the same
 *   -> tile (32,64), 128 x 64 tiles, one access of 8 half_t a thread and tile, 4 tiles in flight, 2048 blocks
 *
 * Everything that can be refused is refused here, before anything is compiled. What the spec left open (grid,
 * unroll, cache, stages) is chosen in flight.c; plan_json.c gives it back as a spec. */
#include "internal.h"

#include <math.h>

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
    l->leg->vector = l->leg->smem_vector = 1;
    if (gpu_is_tma(l->leg)) /* which has no accesses: stage.c looks at its boxes */
        return;
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
    gpu_stage_make(cx, c, &p->spec, p->smem, p->field);
    *p->field = "atom";
    if (gpu_is_cp_async(&c->in) && c->in.smem_vector != c->in.vector)
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

/* Elements of 4 bits: all that follows is about pairs of them. */
static void pack(struct la_ctx *cx, struct planning *p)
{
    struct gpu_packed *packed = la_alloc(cx, sizeof *packed);
    struct gpu_type *pair = la_alloc(cx, sizeof *pair);
    const struct {
        const char *name;
        struct la_layout *layout;
        bool absent;
    } all[] = {{"val", &p->val, false},
               {"src", &p->src, false},
               {"dst", &p->dst, false},
               {"smem", &p->smem, !p->spec.smem},
               {"dst_val", &p->dst_val, !p->spec.smem}};
    int32_t mode = -1;
    *p->field = "smem";
    if (p->spec.smem)
        p->smem = gpu_smem_elements(cx, p->smem);
    *packed = (struct gpu_packed){p->spec.type, p->val, p->dst_val, p->src, p->dst, p->smem};
    *pair = (struct gpu_type){la_format(cx, "pair of %s", p->spec.type->name), 2 * p->spec.type->bits};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        *p->field = all[i].name;
        if (!all[i].absent)
            *all[i].layout = gpu_pack(cx, all[i].name, *all[i].layout, &mode);
    }
    p->plan->copy.type = pair;
    p->plan->copy.packed = packed;
}

static void plan_body(struct la_ctx *cx, void *arg)
{
    struct planning *p = arg;
    struct gpu_plan *plan = p->plan;
    plan->copy.type = p->spec.type;
    if (p->spec.type->bits < 8)
        pack(cx, p);
    set_partitions(cx, p);
    set_tensors(cx, p);
    set_legs(cx, p);
    set_tiles(cx, p);
    set_walk(cx, &plan->copy);
    set_offsets(cx, &plan->copy);
    gpu_flight_set(cx, &p->spec, plan, p->field);
    const int64_t bytes = plan->copy.type->bits / 8;
    plan->bytes_read = plan->copy.src.distinct * bytes;
    plan->bytes_written = plan->copy.dst.elements * bytes;
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

bool gpu_copy_make(struct la_ctx *cx, const struct gpu_spec *spec, struct gpu_plan *plan, const char **field)
{
    struct planning p = {.spec = *spec, .plan = plan, .field = field};
    if (!read_layout(cx, &p, "thr", p.spec.thr, &p.thr) || !read_layout(cx, &p, "val", p.spec.val, &p.val) ||
        !read_layout(cx, &p, "src", p.spec.src, &p.src) || !read_layout(cx, &p, "dst", p.spec.dst, &p.dst) ||
        (p.spec.smem && (!read_layout(cx, &p, "smem", p.spec.smem, &p.smem) ||
                         !read_layout(cx, &p, "dst_thr", p.spec.dst_thr, &p.dst_thr) ||
                         !read_layout(cx, &p, "dst_val", p.spec.dst_val, &p.dst_val))))
        return false;
    return la_try(cx, plan_body, &p) || explain(cx, p.doing);
}

int gpu_copy_arch(const struct gpu_copy *c, const char **who, const char **field)
{
    const bool store = c->out.tma ||
                       (c->out.matrix && !c->in.tma && !c->in.matrix && !gpu_is_cp_async(&c->in));
    const struct gpu_leg *leg = store ? &c->out : &c->in;
    *who = leg->matrix ? leg->matrix->name : leg->atom.name;
    *field = leg->matrix ? (store ? "smem_load" : "smem_store") : store ? "dst_atom" : "atom";
    return c->in.tma || c->out.tma || c->in.matrix ? 90
           : gpu_is_cp_async(&c->in)               ? 80
           : c->out.matrix                         ? 75
                                                   : 0;
}
