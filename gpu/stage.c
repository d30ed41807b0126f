/* stage.c: a tile on its way through shared memory. Two partitions of one tile meet in a layout over it: the threads
 * write by the first, wait for each other, and read by the second.
 *
 *   smem (32,32):(33,1) over the tile (32,32): rows are written, columns read, and no two lanes meet in a bank
 *
 * An offset is swizzle(shift + thread(t) + value(v)). What must hold is looked at element by element, which is exact
 * and cheap since a tile has at most 2^18 elements: no two share an offset, and the values of an access lie side by
 * side. An access of global memory is held in registers and is made in as many accesses of shared memory as its
 * layout needs. Functions here leave by la_fail, as core's do. */
#include "internal.h"

#include <string.h>

enum { BUFFER_BYTES = 16 }; /* buffers begin at multiples of the widest access at least */

int64_t gpu_smem_place(const struct gpu_smem *smem, int64_t offset)
{
    const struct la_swizzle s = smem->swizzle;
    const int64_t x = offset + smem->shift, to = s.base + (s.shift < 0 ? -s.shift : 0);
    const int64_t bits = x >> (s.base + (s.shift > 0 ? s.shift : 0)) & ((INT64_C(1) << s.bits) - 1);
    return x ^ bits << to;
}

/* ---- the layout ---- */

static void check_extents(struct la_ctx *cx, const struct gpu_partition *p, struct la_layout layout)
{
    const uint32_t rank = la_rank(layout.shape);
    if (rank != p->rank)
        la_fail(cx, LA_E_rank_mismatch, "smem %s has %u modes, but the tile %s has %u",
                gpu_layout_text(cx, layout), rank, la_print_tuple(cx, p->tiler, LA_SPELL_TEXT), p->rank);
    for (uint32_t k = 0; k < rank; k++) {
        const int64_t extent = la_product(cx, rank == 1 ? layout.shape : la_mode(cx, layout.shape, k))->value;
        if (extent != p->tile[k])
            la_fail(cx, LA_E_rank_mismatch, "mode %u of smem %s has %lld elements, but of the tile %s %lld",
                    k, gpu_layout_text(cx, layout), (long long)extent,
                    la_print_tuple(cx, p->tiler, LA_SPELL_TEXT), (long long)p->tile[k]);
    }
}

const char *gpu_tile_place(struct la_ctx *cx, const struct gpu_partition *p, int64_t index)
{
    int64_t coordinate[GPU_MAX_RANK];
    for (uint32_t k = 0; k < p->rank; k++) {
        coordinate[k] = index % p->tile[k];
        index /= p->tile[k];
    }
    return gpu_coordinate_text(cx, p->rank, coordinate);
}

/* One element a place, within what a block can have. */
static void check_places(struct la_ctx *cx, const struct gpu_partition *p, struct gpu_smem *smem,
                         int64_t bytes)
{
    const int64_t n = p->threads * p->values;
    int64_t last = 0;
    for (int64_t i = 0; i < n; i++) {
        if (smem->at[i] < 0)
            la_fail(cx, LA_E_domain, "smem %s: the element %s lies at %lld, before the buffer",
                    gpu_layout_text(cx, smem->layout), gpu_tile_place(cx, p, i), (long long)smem->at[i]);
        last = smem->at[i] > last ? smem->at[i] : last;
    }
    if (last >= GPU_MAX_SMEM / bytes)
        la_fail(cx, LA_E_limit, "smem %s takes %lld bytes; a block has %d at most",
                gpu_layout_text(cx, smem->layout), (long long)((last + 1) * bytes), GPU_MAX_SMEM);
    const int64_t unit = BUFFER_BYTES / bytes;
    smem->span = (last + unit) / unit * unit;
    int64_t *owner = la_alloc(cx, (size_t)smem->span * sizeof *owner);
    memset(owner, 0xff, (size_t)smem->span * sizeof *owner);
    for (int64_t i = 0; i < n; i++) {
        int64_t *first = &owner[smem->at[i]];
        if (*first >= 0)
            la_fail(cx, LA_E_non_injective,
                    "smem %s: the elements %s and %s of the tile share the offset %lld",
                    gpu_layout_text(cx, smem->layout), gpu_tile_place(cx, p, *first),
                    gpu_tile_place(cx, p, i), (long long)smem->at[i]);
        *first = i;
    }
}

/* The layout as it is for a pointer: swizzles of bytes become swizzles of elements. */
struct la_layout gpu_smem_elements(struct la_ctx *cx, struct la_layout layout)
{
    static const char name[] = "as_position_independent_swizzle_layout";
    struct la_call call = {.op = la_op_find(name, sizeof name - 1), .argc = 1};
    call.args[0] = (struct la_value){.kind = layout.outer ? LA_K_COMPOSED : LA_K_LAYOUT, .layout = layout};
    return call.op->run(cx, &call).layout;
}

struct gpu_smem *gpu_smem_make(struct la_ctx *cx, const struct gpu_partition *p, struct la_layout layout,
                               int64_t bytes)
{
    struct gpu_smem *smem = la_alloc(cx, sizeof *smem);
    int64_t *at = la_alloc(cx, (size_t)(p->threads * p->values) * sizeof *at);
    layout = gpu_smem_elements(cx, layout);
    check_extents(cx, p, layout);
    if (layout.outer && layout.outer->kind != LA_K_SWIZZLE)
        la_fail(cx, LA_E_kind, "smem %s: shared memory may be swizzled, but not composed with a layout",
                gpu_layout_text(cx, layout));
    *smem = (struct gpu_smem){.layout = layout, .alignment = BUFFER_BYTES, .at = at};
    if (layout.outer) {
        smem->swizzle = layout.outer->swizzle;
        smem->shift = layout.offset->value;
    }
    la_offsets(cx, layout, p->threads * p->values, at);
    check_places(cx, p, smem, bytes);
    return smem;
}

/* ---- accesses ---- */

/* Whether accesses of n values begin at multiples of n and have their values side by side; else *why. */
static bool fits(struct la_ctx *cx, const struct gpu_leg *leg, const struct gpu_smem *smem, int64_t n,
                 const char **why)
{
    for (int64_t t = 0; t < leg->part.threads; t++)
        for (int64_t v = 0; v < leg->part.values; v += n) {
            const int64_t thread = gpu_map_at(leg->smem.thread, t);
            const int64_t first = gpu_smem_place(smem, thread + gpu_map_at(leg->smem.value, v));
            if (first % n != 0) {
                *why = la_format(cx, "value %lld of thread %lld lies at %lld, no multiple of %lld",
                                 (long long)v, (long long)t, (long long)first, (long long)n);
                return false;
            }
            for (int64_t e = 1; e < n; e++) {
                const int64_t next = gpu_smem_place(smem, thread + gpu_map_at(leg->smem.value, v + e));
                if (next == first + e)
                    continue;
                *why = la_format(cx, "value %lld of thread %lld lies at %lld, and value %lld at %lld",
                                 (long long)v, (long long)t, (long long)first, (long long)(v + e),
                                 (long long)next);
                return false;
            }
        }
    return true;
}

static void set_smem_access(struct la_ctx *cx, struct gpu_leg *leg, const struct gpu_smem *smem)
{
    struct la_layout plain = {.shape = smem->layout.shape, .stride = smem->layout.stride};
    const struct la_layout tv = la_composition(cx, plain, la_value_layout(leg->part.tv));
    leg->smem.thread = gpu_map_of(cx, la_layout_mode(cx, tv, 0));
    leg->smem.value = gpu_map_of(cx, la_layout_mode(cx, tv, 1));
    leg->smem_vector = leg->vector;
    leg->smem_vector_why = "as wide as the access to global memory";
    while (leg->smem_vector > 1 && !fits(cx, leg, smem, leg->smem_vector, &leg->smem_vector_why))
        leg->smem_vector /= 2;
}

static void check_same_tile(struct la_ctx *cx, const struct gpu_partition *a, const struct gpu_partition *b)
{
    bool same = a->rank == b->rank;
    for (uint32_t k = 0; k < a->rank; k++)
        same = same && a->tile[k] == b->tile[k];
    if (!same)
        la_fail(cx, LA_E_rank_mismatch,
                "dst_thr and dst_val make the tile %s, but thr and val %s: both go through one tile",
                la_print_tuple(cx, b->tiler, LA_SPELL_TEXT), la_print_tuple(cx, a->tiler, LA_SPELL_TEXT));
    if (a->threads != b->threads)
        la_fail(cx, LA_E_rank_mismatch, "dst_thr has %lld threads, but thr %lld: a block has one number",
                (long long)b->threads, (long long)a->threads);
}

/* TMA's boxes begin where its swizzle does. */
static void align(struct gpu_smem *smem, const struct gpu_leg *leg, int64_t bytes)
{
    if (!leg->tma || leg->tma->map.alignment <= smem->alignment)
        return;
    smem->alignment = leg->tma->map.alignment;
    const int64_t unit = smem->alignment / bytes;
    smem->span = (smem->span + unit - 1) / unit * unit;
}

void gpu_stage_make(struct la_ctx *cx, struct gpu_copy *c, const struct gpu_spec *spec,
                    struct la_layout layout, const char **field)
{
    *field = "dst_thr";
    check_same_tile(cx, &c->in.part, &c->out.part);
    *field = "atom";
    if (c->in.atom.op == GPU_TMA_LOAD)
        gpu_tma_make(cx, c->type, &c->src, layout, &c->in);
    *field = "dst_atom";
    if (c->out.atom.op == GPU_TMA_STORE)
        gpu_tma_make(cx, c->type, &c->dst, layout, &c->out);
    *field = "smem";
    struct gpu_smem *smem = gpu_smem_make(cx, &c->in.part, layout, c->type->bits / 8);
    align(smem, &c->in, c->type->bits / 8);
    align(smem, &c->out, c->type->bits / 8);
    if (!c->in.tma && !spec->smem_store)
        set_smem_access(cx, &c->in, smem);
    if (!c->out.tma && !spec->smem_load)
        set_smem_access(cx, &c->out, smem);
    *field = "smem_store";
    if (spec->smem_store)
        gpu_matrix_make(cx, c->type, smem, spec->smem_store, LA_SRC, &c->in);
    *field = "smem_load";
    if (spec->smem_load)
        gpu_matrix_make(cx, c->type, smem, spec->smem_load, LA_DST, &c->out);
    c->smem = smem;
}
