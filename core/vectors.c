/* vectors.c: the widest access that a partition of a memory layout allows, and what stops a wider one.
 *
 *     thr (32,8):(8,1), val (1,8):(0,1), half_t (64,64):(72,1)    8 elements: stopped by 128 bits
 *     ...                                (64,64):(68,1)           4 elements: the stride 68 of mode 0 is odd
 *
 * An access of w elements needs w neighbouring values to be neighbours in memory, and its first one at a
 * multiple of w, in every tile and for every thread. Exact: all places of a tile are looked at, not the
 * strides; the strides are only asked who is to blame. */
#include "internal.h"

static const char *const stop_names[] = {"width", "values", "order", "swizzle", "alignment"};

const char *la_stop_name(enum la_stop stop)
{
    return stop_names[stop];
}

/* What all threads say of one value in all tiles. */
struct value_facts {
    int64_t strayed;   /* a place whose next value is no neighbour, or -1 */
    int64_t misplaced; /* the place whose offset has the lowest bit of all, or -1 when all are 0 */
    int64_t low_bit;   /* that bit; 0: none */
};

static bool taken(const struct la_reach *r, int64_t place)
{
    return !(r->outside[place] & LA_NEVER);
}

static void look_at(const struct la_reach *r, const struct la_tiles *kind, int64_t value,
                    struct value_facts *f)
{
    const int64_t threads = r->part.threads;
    const bool has_next = value + 1 < r->part.values;
    for (int64_t place = value * threads; place < (value + 1) * threads; place++) {
        if (!taken(r, place))
            continue;
        const int64_t at = la_reach_at(r, kind, place), low = at & -at;
        if (low && (f->low_bit == 0 || low < f->low_bit)) {
            f->low_bit = low;
            f->misplaced = place;
        }
        if (has_next && f->strayed < 0 && taken(r, place + threads) &&
            la_reach_at(r, kind, place + threads) != at + 1)
            f->strayed = place;
    }
}

/* Tiles of a plain layout differ by their origins only, which are looked at on their own. */
static struct value_facts *look_at_all(struct la_ctx *cx, const struct la_reach *r)
{
    struct value_facts *facts = la_alloc(cx, (size_t)r->part.values * sizeof *facts);
    const uint32_t kinds = r->memory.outer ? r->kinds : 1;
    for (int64_t v = 0; v < r->part.values; v++) {
        facts[v] = (struct value_facts){-1, -1, 0};
        for (uint32_t i = 0; i < kinds; i++)
            look_at(r, &r->kind[i], v, &facts[v]);
    }
    return facts;
}

/* ---- who is to blame ---- */

struct blame {
    struct la_ctx *cx;
    const struct la_reach *r;
    struct la_vectors *out;
};

/* A leaf of a mode whose stride is no multiple of w: the mode, or -1. Strides of 1 step within an access. */
static int32_t odd_mode(const struct la_reach *r, int64_t w, int64_t *stride)
{
    const struct la_node *s = r->memory.shape, *d = r->memory.stride;
    const bool nested = s->kind == LA_TUPLE;
    const uint32_t rank = la_rank(s);
    s += nested;
    d += nested;
    for (uint32_t k = 0; k < rank; k++, d += s->span, s += s->span)
        for (uint32_t i = 0; i < s->span; i++)
            if (s[i].kind == LA_INT && s[i].value > 1 && d[i].value % w != 0 && d[i].value != 1) {
                *stride = d[i].value;
                return (int32_t)k;
            }
    return -1;
}

static void blame_alignment(struct blame *b, int64_t w, int64_t place)
{
    struct la_ctx *cx = b->cx;
    struct la_vectors *out = b->out;
    const int64_t threads = b->r->part.threads;
    out->stop = LA_STOP_ALIGNMENT;
    out->mode = odd_mode(b->r, w, &out->stride);
    if (out->mode >= 0)
        out->text = la_format(cx, "the stride %lld of mode %d is not a multiple of %lld elements",
                              (long long)out->stride, out->mode, (long long)w);
    else if (place < 0)
        out->text = la_format(cx, "some tile does not begin at a multiple of %lld elements", (long long)w);
    else
        out->text = la_format(cx,
                              "value %lld of thread %lld is at the offset %lld, no multiple of %lld elements",
                              (long long)(place / threads), (long long)(place % threads),
                              (long long)la_reach_at(b->r, &b->r->kind[0], place), (long long)w);
}

/* The only mode of the tile along which two indices differ, with the difference; -1 when there are several.
 * */
static int32_t only_mode(struct la_ctx *cx, const struct la_partition *p, int64_t from, int64_t to,
                         int64_t *step)
{
    const struct la_node *a = la_partition_coord(cx, p, from), *b = la_partition_coord(cx, p, to);
    int32_t mode = -1;
    for (uint32_t k = 0; k < la_rank(p->tiler); k++) {
        const int64_t difference = la_mode(cx, b, k)->value - la_mode(cx, a, k)->value;
        if (difference == 0)
            continue;
        if (mode >= 0)
            return -1;
        mode = (int32_t)k;
        *step = difference;
    }
    return mode;
}

static void blame_order(struct blame *b, int64_t place)
{
    struct la_ctx *cx = b->cx;
    const struct la_reach *r = b->r;
    const struct la_partition *p = &r->part;
    const int64_t next = place + p->threads, distance = r->offset[next] - r->offset[place];
    const long long value = place / p->threads, thread = place % p->threads;
    int64_t step = 0;
    b->out->stop = LA_STOP_ORDER;
    b->out->mode = only_mode(cx, p, p->index[place], p->index[next], &step);
    if (b->out->mode < 0) {
        b->out->text = la_format(cx, "values %lld and %lld of thread %lld are %lld elements apart", value,
                                 value + 1, thread, (long long)distance);
        return;
    }
    b->out->stride = step == 0 ? 0 : distance / step;
    b->out->text = la_format(
        cx, "values %lld and %lld of thread %lld walk mode %d in steps of %lld, whose stride is %lld", value,
        value + 1, thread, b->out->mode, (long long)step, (long long)b->out->stride);
}

static void blame_neighbours(struct blame *b, int64_t w, int64_t place)
{
    const struct la_reach *r = b->r;
    if (r->memory.outer && r->offset[place + r->part.threads] - r->offset[place] == 1) {
        const struct la_swizzle s = r->memory.outer->swizzle;
        b->out->stop = LA_STOP_SWIZZLE;
        b->out->text = la_format(b->cx, "Swizzle<%d,%d,%d> keeps %lld elements together, not %lld", s.bits,
                                 s.base, s.shift, (long long)1 << s.base, (long long)w);
    } else {
        blame_order(b, place);
    }
}

/* Can every access have w elements? If not, fills the reason. */
static bool allows(struct blame *b, const struct value_facts *facts, int64_t w)
{
    const struct la_reach *r = b->r;
    if (w * r->bits > LA_VECTOR_BITS) {
        b->out->stop = LA_STOP_WIDTH;
        b->out->text = la_format(b->cx, "an access has %d bits at most", LA_VECTOR_BITS);
        return false;
    }
    if (r->part.values % w != 0) {
        b->out->stop = LA_STOP_VALUES;
        b->out->text = la_format(b->cx, "a thread has %lld values, no multiple of %lld",
                                 (long long)r->part.values, (long long)w);
        return false;
    }
    for (int64_t v = 0; v < r->part.values; v++)
        if ((v + 1) % w != 0 && facts[v].strayed >= 0) {
            blame_neighbours(b, w, facts[v].strayed);
            return false;
        }
    for (int64_t v = 0; v < r->part.values; v += w)
        if (facts[v].low_bit && facts[v].low_bit < w) {
            blame_alignment(b, w, facts[v].misplaced);
            return false;
        }
    for (uint32_t i = 0; i < r->kinds; i++)
        if (!r->memory.outer && r->kind[i].base % w != 0) {
            blame_alignment(b, w, -1);
            return false;
        }
    return true;
}

/* Is there a static stride of 1? Without, CuTe takes no two elements for neighbours. */
static bool has_static_unit(struct la_layout a)
{
    for (uint32_t i = 0; i < a.shape->span; i++)
        if (a.stride[i].kind == LA_INT && a.stride[i].value == 1 && a.stride[i].is_static)
            return true;
    return false;
}

/* Law: every access of `widest` values begins at a multiple of it and holds neighbours; twice as many would
 * not. */
struct la_vectors la_vectors_of(struct la_ctx *cx, const struct la_reach *r)
{
    struct la_vectors out = {.widest = 1, .mode = -1};
    struct blame b = {cx, r, &out};
    const struct value_facts *facts = look_at_all(cx, r);
    while (allows(&b, facts, 2 * out.widest))
        out.widest *= 2;
    out.is_static = out.widest == 1 || has_static_unit(r->memory);
    return out;
}
