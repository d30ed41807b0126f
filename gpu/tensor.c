/* tensor.c: layouts as functions of an index, flattened: a list of (extent, stride), and what a tensor's is
 * like.
 *
 *     ((8,4),64):((64,1024),1)  ->  8:64, 4:1024, 64:1; offsets 0..3583, all different
 *
 * Whether two elements share an offset is decided exactly and without a walk over them: see collide.
 * Functions here leave by la_fail, as core's do. */
#include "internal.h"

static int64_t checked_mul(struct la_ctx *cx, int64_t a, int64_t b, const char *what)
{
    int64_t c;
    if (__builtin_mul_overflow(a, b, &c))
        la_fail(cx, LA_E_overflow, "%s: %lld * %lld passes 64 bits", what, (long long)a, (long long)b);
    return c;
}

static int64_t checked_add(struct la_ctx *cx, int64_t a, int64_t b, const char *what)
{
    int64_t c;
    if (__builtin_add_overflow(a, b, &c))
        la_fail(cx, LA_E_overflow, "%s: %lld + %lld passes 64 bits", what, (long long)a, (long long)b);
    return c;
}

/* ---- maps ---- */

/* Append a mode, or lengthen the last one where the new one continues it. */
static void map_add(struct la_ctx *cx, struct gpu_mode *modes, uint32_t *n, struct gpu_mode mode)
{
    struct gpu_mode *last = *n > 0 ? &modes[*n - 1] : NULL;
    int64_t next;
    if (mode.extent == 1)
        return;
    if (last && !__builtin_mul_overflow(last->extent, last->stride, &next) && next == mode.stride)
        last->extent = checked_mul(cx, last->extent, mode.extent, "size of a layout");
    else
        modes[(*n)++] = mode;
}

static struct gpu_map map_done(struct la_ctx *cx, struct gpu_mode *modes, uint32_t n)
{
    if (n > GPU_MAX_MODES)
        la_fail(cx, LA_E_limit, "a layout of %u modes; %d is the most", n, GPU_MAX_MODES);
    return (struct gpu_map){n, modes};
}

struct gpu_map gpu_map_of(struct la_ctx *cx, struct la_layout layout)
{
    struct gpu_mode *modes = la_alloc(cx, layout.shape->span * sizeof *modes);
    uint32_t n = 0;
    for (uint32_t i = 0; i < layout.shape->span; i++) {
        const struct la_node *s = layout.shape + i, *d = layout.stride + i;
        if (la_is_tuple(s))
            continue;
        if (d->path)
            la_fail(cx, LA_E_kind, "%s: strides must be integers here", gpu_layout_text(cx, layout));
        map_add(cx, modes, &n, (struct gpu_mode){s->value, d->value});
    }
    return map_done(cx, modes, n);
}

struct gpu_map gpu_map_join(struct la_ctx *cx, uint32_t n, const struct gpu_map *parts)
{
    uint32_t total = 0, count = 0;
    for (uint32_t i = 0; i < n; i++)
        total += parts[i].count;
    struct gpu_mode *modes = la_alloc(cx, (total + 1) * sizeof *modes);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < parts[i].count; j++)
            map_add(cx, modes, &count, parts[i].modes[j]);
    return map_done(cx, modes, count);
}

int64_t gpu_map_at(struct gpu_map map, int64_t index)
{
    int64_t offset = 0;
    for (uint32_t i = 0; i < map.count; i++) {
        const struct gpu_mode *m = &map.modes[i];
        offset += (i + 1 < map.count ? index % m->extent : index) * m->stride;
        index /= m->extent;
    }
    return offset;
}

void gpu_map_range(struct la_ctx *cx, struct gpu_map map, int64_t *min, int64_t *max)
{
    *min = *max = 0;
    for (uint32_t i = 0; i < map.count; i++) {
        const struct gpu_mode *m = &map.modes[i];
        const int64_t span = checked_mul(cx, m->extent - 1, m->stride, "offsets of a layout");
        int64_t *side = span < 0 ? min : max;
        *side = checked_add(cx, *side, span, "offsets of a layout");
    }
}

const char *gpu_coordinate_text(struct la_ctx *cx, uint32_t rank, const int64_t *coordinate)
{
    const char *text = la_format(cx, "(%lld", (long long)coordinate[0]);
    for (uint32_t k = 1; k < rank; k++)
        text = la_format(cx, "%s,%lld", text, (long long)coordinate[k]);
    return la_format(cx, "%s)", text);
}

/* ---- tensors ---- */

/* An upper bound of how many offsets there are: broadcast modes count once, and no more than lie in the
 * range. */
static int64_t distinct_offsets(const struct gpu_tensor *t)
{
    int64_t n = 1;
    for (uint32_t k = 0; k < t->rank; k++)
        for (uint32_t i = 0; i < t->mode[k].count; i++)
            n *= t->mode[k].modes[i].stride ? t->mode[k].modes[i].extent : 1;
    return n < t->max - t->min + 1 ? n : t->max - t->min + 1;
}

struct gpu_tensor gpu_tensor_make(struct la_ctx *cx, const char *name, struct la_layout layout, unsigned bits)
{
    struct gpu_tensor t = {.name = name, .layout = layout, .rank = la_rank(layout.shape), .elements = 1};
    if (t.rank > GPU_MAX_RANK)
        la_fail(cx, LA_E_limit, "%s has %u modes; %d is the most", name, t.rank, GPU_MAX_RANK);
    for (uint32_t i = 0; i < layout.shape->span; i++)
        if (!la_is_tuple(layout.shape + i) && layout.shape[i].value < 1)
            la_fail(cx, LA_E_domain, "%s %s holds nothing: every extent must be at least 1", name,
                    gpu_layout_text(cx, layout));
    uint32_t modes = 0;
    for (uint32_t k = 0; k < t.rank; k++) {
        const struct la_layout mode = la_layout_mode(cx, layout, k);
        t.extent[k] = la_size(cx, mode)->value;
        t.mode[k] = gpu_map_of(cx, mode);
        t.elements = checked_mul(cx, t.elements, t.extent[k], name);
        modes += t.mode[k].count;
    }
    if (modes > GPU_MAX_MODES)
        la_fail(cx, LA_E_limit, "%s has %u flat modes; %d is the most", name, modes, GPU_MAX_MODES);
    t.all = gpu_map_of(cx, layout);
    gpu_map_range(cx, t.all, &t.min, &t.max);
    const int64_t span = checked_add(cx, checked_add(cx, t.max, -t.min, name), 1, name);
    if (span > GPU_MAX_TENSOR_BYTES / (bits / 8) || t.elements > GPU_MAX_TENSOR_BYTES / (bits / 8))
        la_fail(cx, LA_E_limit, "%s %s spans %lld elements of %u bits; %lld bytes is the most", name,
                gpu_layout_text(cx, layout), (long long)span, bits, (long long)GPU_MAX_TENSOR_BYTES);
    t.distinct = distinct_offsets(&t);
    return t;
}

/* The search for two coordinates with one offset: a difference of coordinates d, not all zero, |d_i| <
 * extent_i, with the sum of d_i * stride_i zero. Modes go from the widest stride down; `room` is what the
 * narrower ones can make up for, so a mode that is wider than all narrower ones together leaves only d =
 * 0. */
struct collision {
    struct gpu_mode mode[GPU_MAX_MODES];
    uint32_t place[GPU_MAX_MODES]; /* which flat mode of the tensor it was */
    int64_t room[GPU_MAX_MODES];
    int64_t d[GPU_MAX_MODES];
    uint32_t count;
    int steps; /* left before the search gives up */
};

enum { COLLISION_STEPS = 1000000 }; /* milliseconds; layouts that people write need a few steps a mode */

static int64_t magnitude(int64_t x)
{
    return x < 0 ? -x : x;
}

static bool collide(struct collision *c, uint32_t i, int64_t sum, bool moved)
{
    if (i == c->count)
        return moved && sum == 0;
    const int64_t stride = magnitude(c->mode[i].stride), most = c->mode[i].extent - 1, room = c->room[i];
    /* |sum + d * stride| <= room; the first d that is not zero may be taken as positive. */
    int64_t low = moved ? -most : 0, high = most;
    if (!stride) { /* a broadcast: one step along it is a collision already */
        low = 0;
        high = moved ? 0 : 1;
    } else {
        const int64_t down = (room + sum) / stride, up = (room - sum) / stride;
        low = -down > low ? -down : low;
        high = up < high ? up : high;
    }
    for (int64_t d = low; d <= high && c->steps-- > 0; d++) {
        c->d[i] = d;
        if (collide(c, i + 1, sum + d * stride, moved || d != 0))
            return true;
    }
    return false;
}

static void collision_setup(struct collision *c, const struct gpu_tensor *t)
{
    *c = (struct collision){.steps = COLLISION_STEPS};
    uint32_t place = 0;
    for (uint32_t k = 0; k < t->rank; k++)
        for (uint32_t i = 0; i < t->mode[k].count; i++, place++) {
            const struct gpu_mode m = t->mode[k].modes[i];
            uint32_t at = c->count++;
            for (; at > 0 && magnitude(c->mode[at - 1].stride) < magnitude(m.stride); at--) {
                c->mode[at] = c->mode[at - 1];
                c->place[at] = c->place[at - 1];
            }
            c->mode[at] = m;
            c->place[at] = place;
        }
    int64_t room = 0;
    for (uint32_t i = c->count; i-- > 0;) {
        c->room[i] = room;
        room += (c->mode[i].extent - 1) * magnitude(c->mode[i].stride);
    }
}

/* The two coordinates whose difference was found, one integer a mode of the tensor. */
static void collision_pair(const struct collision *c, const struct gpu_tensor *t, int64_t *a, int64_t *b)
{
    uint32_t place = 0;
    for (uint32_t k = 0; k < t->rank; k++) {
        int64_t weight = 1;
        a[k] = b[k] = 0;
        for (uint32_t i = 0; i < t->mode[k].count; i++, place++) {
            uint32_t at = 0;
            while (c->place[at] != place)
                at++;
            const int64_t d = c->mode[at].stride < 0 ? -c->d[at] : c->d[at];
            a[k] += d < 0 ? -d * weight : 0;
            b[k] += d > 0 ? d * weight : 0;
            weight *= c->mode[at].extent;
        }
    }
}

void gpu_tensor_injective(struct la_ctx *cx, const struct gpu_tensor *t)
{
    struct collision c;
    collision_setup(&c, t);
    if (!collide(&c, 0, 0, false)) {
        if (c.steps <= 0)
            la_fail(cx, LA_E_limit, "%s %s: whether two elements share an offset took too long to find out",
                    t->name, gpu_layout_text(cx, t->layout));
        return;
    }
    int64_t a[GPU_MAX_RANK], b[GPU_MAX_RANK], offset = 0;
    collision_pair(&c, t, a, b);
    for (uint32_t k = 0; k < t->rank; k++)
        offset += gpu_map_at(t->mode[k], a[k]);
    la_fail(cx, LA_E_non_injective,
            "%s %s: the elements %s and %s share the offset %lld, so both cannot be written", t->name,
            gpu_layout_text(cx, t->layout), gpu_coordinate_text(cx, t->rank, a),
            gpu_coordinate_text(cx, t->rank, b), (long long)offset);
}
