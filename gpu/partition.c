/* partition.c: who moves what. make_tiled_copy's meaning, with core's algebra, flattened into sums of
 * strides.
 *
 * thr (32,8):(8,1) and val (1,8):(0,1) make the tile (32,64); thread t and value v meet the tile's element
 * tv(t,v). A tensor is divided by the tile, so that an element's offset is a sum of three parts,
 *     offset(t, v, tile) = thread(t) + value(v) + rest(tile),
 * and what must hold for every access can be read off the parts: values of an access are consecutive if
 * value(v) is, and an access is aligned if each part is. So legality is exact and costs no walk over the
 * tensor.
 *
 * Functions here leave by la_fail, as core's do. */
#include "internal.h"

#include <string.h>

/* ---- partitions ---- */

void gpu_bijection_check(struct la_ctx *cx, const char *name, struct la_layout layout, int64_t limit)
{
    const int64_t size = la_size(cx, layout)->value;
    if (size < 1 || size > limit)
        la_fail(cx, LA_E_limit, "%s %s has %lld elements; 1 to %lld can be", name,
                gpu_layout_text(cx, layout), (long long)size, (long long)limit);
    const struct gpu_map map = gpu_map_of(cx, layout);
    int64_t *index = la_alloc(cx, (size_t)size * sizeof *index);
    memset(index, 0xff, (size_t)size * sizeof *index);
    for (int64_t i = 0; i < size; i++) {
        const int64_t x = gpu_map_at(map, i);
        if (x < 0 || x >= size)
            la_fail(cx, LA_E_non_injective,
                    "%s %s takes the index %lld to %lld, but it must number its %lld places 0 to %lld", name,
                    gpu_layout_text(cx, layout), (long long)i, (long long)x, (long long)size,
                    (long long)size - 1);
        if (index[x] >= 0)
            la_fail(cx, LA_E_non_injective,
                    "%s %s takes both %lld and %lld to %lld: it must number its places once", name,
                    gpu_layout_text(cx, layout), (long long)index[x], (long long)i, (long long)x);
        index[x] = i;
    }
}

/* The layout that gives mode k of a coordinate in the tile: (32,64):(0,1) for k = 1. */
static struct la_layout coordinate_layout(struct la_ctx *cx, const struct gpu_partition *p, uint32_t k)
{
    const struct la_node *shape[GPU_MAX_RANK], *stride[GPU_MAX_RANK];
    for (uint32_t i = 0; i < p->rank; i++) {
        shape[i] = la_int(cx, p->tile[i], true);
        stride[i] = la_int(cx, i == k, true);
    }
    return la_make_layout(cx, la_tuple(cx, p->rank, shape), la_tuple(cx, p->rank, stride));
}

/* product_each(shape(layout_mn)) */
static void set_tiler(struct la_ctx *cx, struct gpu_partition *p, struct la_layout mn)
{
    const uint32_t thr = la_rank(p->thr.shape), val = la_rank(p->val.shape);
    const struct la_node *modes[GPU_MAX_RANK];
    p->rank = thr > val ? thr : val;
    if (p->rank > GPU_MAX_RANK)
        la_fail(cx, LA_E_limit, "a tile of %u modes; %d is the most", p->rank, GPU_MAX_RANK);
    for (uint32_t k = 0; k < GPU_MAX_RANK; k++)
        p->tile[k] = 1;
    for (uint32_t k = 0; k < p->rank; k++) {
        const struct la_node *extent = la_product(cx, p->rank == 1 ? mn.shape : la_mode(cx, mn.shape, k));
        p->tile[k] = extent->value;
        modes[k] = la_int(cx, extent->value, true);
    }
    p->tiler = la_tuple(cx, p->rank, modes);
}

static void check_static(struct la_ctx *cx, const char *name, struct la_layout layout)
{
    if (!la_all_static(layout.shape) || !la_all_static(layout.stride))
        la_fail(cx, LA_E_dynamic_stride, "%s %s must be static: it is part of a TiledCopy's type", name,
                la_print_layout(cx, layout, LA_SPELL_CUTE));
}

struct gpu_partition gpu_partition_make(struct la_ctx *cx, struct la_layout thr, struct la_layout val,
                                        const char *const names[2], const char **field)
{
    struct gpu_partition p = {.thr = thr, .val = val};
    *field = names[0];
    check_static(cx, names[0], thr);
    gpu_bijection_check(cx, names[0], thr, GPU_MAX_THREADS);
    *field = names[1];
    check_static(cx, names[1], val);
    gpu_bijection_check(cx, names[1], val, GPU_MAX_VALUES);
    p.threads = la_size(cx, thr)->value;
    p.values = la_size(cx, val)->value;
    *field = names[0];
    const struct la_layout mn = la_raked_product(cx, thr, val);
    const struct la_node *sizes[] = {la_int(cx, p.threads, true), la_int(cx, p.values, true)};
    const struct la_node *shape = la_tuple(cx, 2, sizes);
    const struct la_layout by_size = la_make_layout(cx, shape, la_compact_left(cx, shape));
    p.tv = la_composition(cx, la_right_inverse(cx, mn), la_value_layout(by_size));
    set_tiler(cx, &p, mn);
    p.owner = gpu_map_of(cx, mn);
    for (uint32_t k = 0; k < p.rank; k++) {
        const struct la_layout at = la_composition(cx, coordinate_layout(cx, &p, k), la_value_layout(p.tv));
        p.thread_at[k] = gpu_map_of(cx, la_layout_mode(cx, at, 0));
        p.value_at[k] = gpu_map_of(cx, la_layout_mode(cx, at, 1));
    }
    return p;
}

/* A tile along a mode is a part of it only if its extent and the extents of the mode's inner parts divide
 * each other: 8 meets (4,6) in whole parts but not (10,10), where the second tile would begin inside a part
 * and end in the next. Only the mode as a whole may end within a tile. */
static void check_tile_fits(struct la_ctx *cx, const struct gpu_partition *p, const struct gpu_tensor *t)
{
    for (uint32_t k = 0; k < p->rank; k++) {
        int64_t inner = 1;
        for (uint32_t i = 0; i + 1 < t->mode[k].count; i++) {
            inner *= t->mode[k].modes[i].extent;
            if (inner % p->tile[k] != 0 && p->tile[k] % inner != 0)
                la_fail(cx, LA_E_tile_does_not_divide,
                        "the tile %s of thr and val does not fit mode %u of %s %s: of %lld and %lld neither "
                        "divides "
                        "the other",
                        la_print_tuple(cx, p->tiler, LA_SPELL_TEXT), k, t->name,
                        gpu_layout_text(cx, t->layout), (long long)p->tile[k], (long long)inner);
        }
    }
}

struct gpu_access gpu_access_make(struct la_ctx *cx, const struct gpu_partition *p,
                                  const struct gpu_tensor *t)
{
    check_tile_fits(cx, p, t);
    const struct la_layout zipped = la_zipped_divide(cx, t->layout, la_value_tuple(p->tiler));
    const struct la_layout tile = la_layout_mode(cx, zipped, 0), rest = la_layout_mode(cx, zipped, 1);
    const struct la_layout tv = la_composition(cx, tile, la_value_layout(p->tv));
    struct gpu_access a = {.thread = gpu_map_of(cx, la_layout_mode(cx, tv, 0)),
                           .value = gpu_map_of(cx, la_layout_mode(cx, tv, 1))};
    for (uint32_t k = 0; k < t->rank; k++)
        a.rest[k] = gpu_map_of(cx, la_layout_mode(cx, rest, k));
    return a;
}

/* ---- what an access of several elements needs ---- */

/* The only mode along which two values of a thread differ, or the rank when there are several. */
static uint32_t only_mode(const struct gpu_partition *p, int64_t v, int64_t w)
{
    uint32_t mode = p->rank, differing = 0;
    for (uint32_t k = 0; k < p->rank; k++)
        if (gpu_map_at(p->value_at[k], v) != gpu_map_at(p->value_at[k], w)) {
            mode = k;
            differing++;
        }
    return differing == 1 ? mode : p->rank;
}

_Noreturn static void not_consecutive(struct la_ctx *cx, const struct gpu_type *type,
                                      const struct gpu_leg *leg, const struct gpu_tensor *t,
                                      const struct gpu_access *access, int64_t v)
{
    const struct gpu_partition *p = &leg->part;
    const int64_t from = gpu_map_at(access->value, v), to = gpu_map_at(access->value, v + 1);
    const uint32_t k = only_mode(p, v, v + 1);
    const char *val = gpu_layout_text(cx, p->val);
    const char *need = la_format(cx, "a %u-bit access needs %lld consecutive %s", leg->atom.bits,
                                 (long long)leg->vector, type->name);
    if (k == p->rank)
        la_fail(cx, LA_E_not_contiguous, "the values %lld and %lld of val %s lie %lld apart in %s: %s",
                (long long)v, (long long)v + 1, val, (long long)(to - from), t->name, need);
    const int64_t step = gpu_map_at(p->value_at[k], v + 1) - gpu_map_at(p->value_at[k], v);
    if (step == 1)
        la_fail(cx, LA_E_not_contiguous, "val %s walks mode %u of %s, whose stride there is %lld: %s", val, k,
                t->name, (long long)(to - from), need);
    la_fail(cx, LA_E_not_contiguous,
            "val %s walks mode %u of %s in steps of %lld, %lld elements apart there: %s", val, k, t->name,
            (long long)step, (long long)(to - from), need);
}

/* Whether any value of an access lies in the shape, in the tile at the origin: there coordinates are least,
 * so an access that touches nothing there touches nothing anywhere. */
static bool access_active(const struct gpu_leg *leg, const struct gpu_tensor *t, int64_t thread,
                          int64_t value)
{
    const struct gpu_partition *p = &leg->part;
    for (int64_t v = value; v < value + leg->vector; v++) {
        bool inside = true;
        for (uint32_t k = 0; k < p->rank; k++)
            inside = inside &&
                     gpu_map_at(p->thread_at[k], thread) + gpu_map_at(p->value_at[k], v) < t->extent[k];
        if (inside)
            return true;
    }
    return false;
}

/* "; the stride 5 of mode 0 is not", when a stride of the tensor explains it. */
static const char *odd_stride(struct la_ctx *cx, const struct gpu_tensor *t, int64_t vector)
{
    for (uint32_t k = 0; k < t->rank; k++)
        for (uint32_t i = 0; i < t->mode[k].count; i++) {
            const int64_t stride = t->mode[k].modes[i].stride;
            if (stride % vector != 0 && stride != 1 && stride != -1)
                return la_format(cx, "; the stride %lld of mode %u is not one", (long long)stride, k);
        }
    return "";
}

_Noreturn static void not_aligned(struct la_ctx *cx, const struct gpu_type *type, const struct gpu_leg *leg,
                                  const struct gpu_tensor *t, const char *who, int64_t offset)
{
    la_fail(cx, LA_E_divisibility,
            "%s %s: %s starts at the offset %lld, but a %u-bit access needs a multiple of %lld %s%s", t->name,
            gpu_layout_text(cx, t->layout), who, (long long)offset, leg->atom.bits, (long long)leg->vector,
            type->name, odd_stride(cx, t, leg->vector));
}

void gpu_access_consecutive(struct la_ctx *cx, const struct gpu_type *type, const struct gpu_leg *leg,
                            const struct gpu_tensor *t, const struct gpu_access *access)
{
    for (int64_t v = 0; v + 1 < leg->part.values; v++)
        if ((v + 1) % leg->vector != 0 &&
            gpu_map_at(access->value, v + 1) - gpu_map_at(access->value, v) != 1)
            not_consecutive(cx, type, leg, t, access, v);
}

void gpu_access_aligned(struct la_ctx *cx, const struct gpu_type *type, const struct gpu_leg *leg,
                        const struct gpu_tensor *t, const struct gpu_access *access)
{
    const int64_t n = leg->vector;
    for (uint32_t k = 0; k < t->rank; k++)
        for (uint32_t i = 0; i < access->rest[k].count; i++)
            if (access->rest[k].modes[i].stride % n != 0)
                not_aligned(cx, type, leg, t, la_format(cx, "the second tile along mode %u", k),
                            access->rest[k].modes[i].stride);
    for (int64_t thread = 0; n > 1 && thread < leg->part.threads; thread++) {
        const int64_t base = gpu_map_at(access->thread, thread);
        for (int64_t v = 0; v < leg->part.values; v += n) {
            const int64_t offset = base + gpu_map_at(access->value, v);
            if (offset % n != 0 && access_active(leg, t, thread, v))
                not_aligned(cx, type, leg, t,
                            la_format(cx, "value %lld of thread %lld", (long long)v, (long long)thread),
                            offset);
        }
    }
}
