/* swizzle_search.c: all swizzles that a shared-memory layout allows, tried on the accesses to it, and padding
 * likewise.
 *
 *     half_t (64,64):(64,1), rows written 128 bits a lane, ldmatrix.x4 of 16x16 blocks: Swizzle<3,3,3>
 *
 * A swizzle is legal when it keeps the elements of every access together (its base is no less than their
 * logarithm), looks at bits that the layout has, and maps the layout's range of offsets onto itself. There
 * are some hundred; each is costed by the rules of access.c. Padding is tried the same way: both are maps of
 * offsets. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- units ---- */

struct la_swizzle la_swizzle_in_units(struct la_ctx *cx, struct la_swizzle s, uint32_t from, uint32_t to)
{
    if (from == 0 || to == 0 || (from & (from - 1)) != 0 || (to & (to - 1)) != 0)
        la_fail(cx, LA_E_domain,
                "a swizzle is converted between units of 1, 2, 4, 8, ... bits, not %u and %u", from, to);
    const int32_t base = s.base + __builtin_ctz(from) - __builtin_ctz(to);
    if (s.bits > 0 && base < 0)
        la_fail(cx, LA_E_domain, "Swizzle<%d,%d,%d> of %u bits swizzles within units of %u bits", s.bits,
                s.base, s.shift, from, to);
    return la_make_swizzle(cx, s.bits, base < 0 ? 0 : base, s.shift);
}

int32_t la_swizzle_hardware(struct la_swizzle s, uint32_t bits)
{
    const int32_t base = s.base + __builtin_ctz(bits) - __builtin_ctz(8);
    return base == 4 && s.shift == 3 && s.bits >= 1 && s.bits <= 3 ? 16 << s.bits : 0;
}

/* ---- the accesses, as instructions ---- */

/* One instruction before any swizzle, and how many there are of it. */
struct instruction {
    int64_t times;
    uint32_t active;
    int64_t at[LA_LANES]; /* elements */
};

struct program {
    struct la_access like; /* op, bytes and lanes of each */
    uint32_t n;
    struct instruction *list;
};

struct search {
    struct la_ctx *cx;
    struct la_layout memory;
    uint32_t bits;
    int64_t cosize, vector; /* the widest access, in elements */
    struct program program[LA_SEARCH_ACCESSES];
    struct la_search *out;
};

static int by_lanes(const void *a, const void *b)
{
    const struct instruction *x = a, *y = b;
    const int lanes = memcmp(x->at, y->at, sizeof x->at);
    return lanes ? lanes : (x->active > y->active) - (x->active < y->active);
}

/* Warps that share an operand make the same instruction: it is kept once. */
static void merge_same(struct program *p)
{
    uint32_t kept = 0;
    qsort(p->list, p->n, sizeof *p->list, by_lanes);
    for (uint32_t i = 0; i < p->n; i++)
        if (kept > 0 && by_lanes(&p->list[kept - 1], &p->list[i]) == 0)
            p->list[kept - 1].times += p->list[i].times;
        else
            p->list[kept++] = p->list[i];
    p->n = kept;
}

static void add_instruction(struct program *p, const struct la_traffic *t, const struct la_tiles *kind,
                            int64_t warp, int64_t step)
{
    const struct la_access a = la_traffic_access(t, kind, warp, step);
    const int64_t first = warp * LA_LANES + step * t->vector * t->reach->part.threads;
    struct instruction *new = &p->list[p->n];
    if (a.active == 0)
        return;
    p->n++;
    *new = (struct instruction){.times = kind->count, .active = a.active};
    for (int32_t i = 0; i < a.lanes; i++)
        if (a.active >> i & 1)
            new->at[i] = la_reach_at(t->reach, kind, first + i);
}

static void read_access(struct search *s, const struct la_search_access *access, struct program *p)
{
    struct la_ctx *cx = s->cx;
    const struct la_reach r = la_reach_make(cx, &access->part, s->memory, s->bits, s->cosize);
    const struct la_vectors v = la_vectors_of(cx, &r);
    if (access->vector > v.widest)
        la_fail(cx, LA_E_not_contiguous, "access %lld: %lld elements at a time are not possible: %s",
                (long long)(p - s->program), (long long)access->vector, v.text);
    const struct la_traffic t = la_traffic_of(cx, &r, LA_SHARED, access->op, access->lanes, access->vector);
    p->like = (struct la_access){.space = LA_SHARED, .op = access->op, .bytes = t.bytes, .lanes = t.lanes};
    p->list = la_alloc(cx, (size_t)(t.warps * t.steps * r.kinds + 1) * sizeof *p->list);
    for (uint32_t k = 0; k < r.kinds; k++)
        for (int64_t warp = 0; warp < t.warps; warp++)
            for (int64_t step = 0; step < t.steps; step++)
                add_instruction(p, &t, &r.kind[k], warp, step);
    merge_same(p);
    s->out->ideal += t.all.wavefronts_ideal;
    s->vector = access->vector > s->vector ? access->vector : s->vector;
}

/* ---- candidates ---- */

static int64_t place(const struct search *s, const struct la_candidate *c, int64_t x)
{
    x = la_swizzle_apply(c->swizzle, x);
    return c->padding ? x + x / s->out->leading * c->padding : x;
}

/* Fills the candidate's wavefronts; stops as soon as they pass `most`. */
static bool attempt(const struct search *s, struct la_candidate *c, int64_t most)
{
    c->wavefronts = 0;
    for (uint32_t i = 0; i < s->out->accesses; i++) {
        const struct program *p = &s->program[i];
        struct la_access a = p->like;
        c->each[i] = 0;
        for (uint32_t k = 0; k < p->n; k++) {
            a.active = p->list[k].active;
            for (int32_t lane = 0; lane < a.lanes; lane++)
                a.at[lane] = (place(s, c, p->list[k].at[lane]) * s->bits >> 3) & -(int64_t)a.bytes;
            c->each[i] += la_access_cost(&a).wavefronts * p->list[k].times;
            if (c->wavefronts + c->each[i] > most)
                return false;
        }
        c->wavefronts += c->each[i];
    }
    return true;
}

/* Fewer wavefronts; then what TMA and wgmma know; then fewer bits; then the usual direction, and close
 * together. */
static bool better(const struct search *s, const struct la_candidate *a, const struct la_candidate *b)
{
    const bool known_a = la_swizzle_hardware(a->swizzle, s->bits),
               known_b = la_swizzle_hardware(b->swizzle, s->bits);
    if (a->wavefronts != b->wavefronts)
        return a->wavefronts < b->wavefronts;
    if (known_a != known_b)
        return known_a;
    if (a->swizzle.bits != b->swizzle.bits)
        return a->swizzle.bits < b->swizzle.bits;
    if ((a->swizzle.shift > 0) != (b->swizzle.shift > 0))
        return a->swizzle.shift > 0;
    const int32_t distance_a = a->swizzle.shift > 0 ? a->swizzle.shift : -a->swizzle.shift,
                  distance_b = b->swizzle.shift > 0 ? b->swizzle.shift : -b->swizzle.shift;
    return distance_a != distance_b ? distance_a < distance_b : a->swizzle.base < b->swizzle.base;
}

static void keep(const struct search *s, const struct la_candidate *c)
{
    struct la_search *out = s->out;
    if (out->n == LA_SEARCH_TOLD && !better(s, c, &out->best[LA_SEARCH_TOLD - 1]))
        return;
    uint32_t at = out->n < LA_SEARCH_TOLD ? out->n++ : LA_SEARCH_TOLD - 1;
    for (; at > 0 && better(s, c, &out->best[at - 1]); at--)
        out->best[at] = out->best[at - 1];
    out->best[at] = *c;
}

/* Does it look at bits that offsets have, and keep [0, cosize) within itself? */
static bool legal(const struct search *s, struct la_swizzle w)
{
    const int64_t y = la_swizzle_y(w), z = la_swizzle_z(w);
    const int64_t block = INT64_C(1) << (64 - __builtin_clzll(
                                                  (uint64_t)z)); /* what is moved stays within blocks */
    int64_t bits = 1;
    while (bits < s->cosize)
        bits *= 2;
    return (y | z) < bits && s->cosize % block == 0;
}

/* f for every legal swizzle. */
static void each_swizzle(struct search *s, void (*f)(struct search *s, struct la_swizzle w))
{
    const int32_t least = 63 - __builtin_clzll((uint64_t)s->vector);
    int32_t bits = 0;
    while (INT64_C(1) << bits < s->cosize)
        bits++;
    for (int32_t base = least; base < bits; base++)
        for (int32_t count = 1; base + 2 * count <= bits; count++)
            for (int32_t distance = count; base + distance + count <= bits; distance++) {
                const struct la_swizzle up = {count, base, distance}, down = {count, base, -distance};
                if (legal(s, up))
                    f(s, up);
                if (legal(s, down))
                    f(s, down);
            }
}

static void count_swizzle(struct search *s, struct la_swizzle w)
{
    (void)w;
    s->out->legal++;
}

static void try_swizzle(struct search *s, struct la_swizzle w)
{
    struct la_search *out = s->out;
    struct la_candidate c = {.swizzle = w};
    if (attempt(s, &c, out->n < LA_SEARCH_TOLD ? INT64_MAX : out->best[LA_SEARCH_TOLD - 1].wavefronts))
        keep(s, &c);
}

/* ---- padding ---- */

/* Leaf modes, neighbours of one mode that continue each other as one. */
static uint32_t plain_modes(struct la_layout a, int64_t *extent, int64_t *stride)
{
    const bool nested = a.shape->kind == LA_TUPLE;
    const struct la_node *n = a.shape + nested, *d = a.stride + nested;
    uint32_t count = 0;
    for (uint32_t k = 0; k < la_rank(a.shape); k++, d += n->span, n += n->span) {
        const uint32_t first = count;
        for (uint32_t i = 0; i < n->span; i++) {
            if (n[i].kind == LA_TUPLE || n[i].value == 1 || d[i].value == 0)
                continue;
            if (count > first && stride[count - 1] * extent[count - 1] == d[i].value) {
                extent[count - 1] *= n[i].value;
                continue;
            }
            extent[count] = n[i].value;
            stride[count++] = d[i].value;
        }
    }
    return count;
}

/* Rows are the innermost mode; the leading stride is the next larger one. It can grow where rows end before
 * it and all larger strides are multiples of it: then offsets x become x + x / leading * padding. */
static bool find_leading(struct search *s)
{
    const size_t room = s->memory.shape->span * sizeof(int64_t);
    int64_t *extent = la_alloc(s->cx, room), *stride = la_alloc(s->cx, room);
    const uint32_t n = plain_modes(s->memory, extent, stride);
    uint32_t inner = 0;
    int64_t leading = INT64_MAX;
    for (uint32_t i = 1; i < n; i++)
        inner = stride[i] < stride[inner] ? i : inner;
    for (uint32_t i = 0; i < n; i++)
        leading = i != inner && stride[i] < leading ? stride[i] : leading;
    if (n < 2 || (extent[inner] - 1) * stride[inner] >= leading)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (i != inner && stride[i] % leading != 0)
            return false;
    s->out->leading = leading;
    return true;
}

/* The layout with the padding in its strides. */
static struct la_layout padded_layout(const struct search *s)
{
    const struct la_search *out = s->out;
    struct la_node *stride = la_alloc(s->cx, s->memory.stride->span * sizeof *stride);
    for (uint32_t i = 0; i < s->memory.stride->span; i++) {
        stride[i] = s->memory.stride[i];
        if (stride[i].kind != LA_TUPLE)
            stride[i].value += stride[i].value / out->leading * out->padded.padding;
    }
    return la_plain(s->memory.shape, stride);
}

/* The most padding that makes sense: one turn through all banks. */
static int64_t padding_max(const struct search *s)
{
    return LA_BASE_BYTES * 8 / s->bits;
}

static void try_paddings(struct search *s)
{
    struct la_search *out = s->out;
    int64_t enough = out->n > 0 ? out->best[0].wavefronts : out->ideal;
    if (out->none.wavefronts < enough)
        enough = out->none.wavefronts;
    out->padded = out->none;
    for (int64_t p = s->vector; p <= padding_max(s) && out->padded.wavefronts > enough; p += s->vector) {
        struct la_candidate c = {.padding = p};
        if (attempt(s, &c, out->padded.wavefronts - 1))
            out->padded = c;
    }
    out->padded_layout = padded_layout(s);
}

/* ---- all of it ---- */

static void check_layout(struct search *s)
{
    struct la_ctx *cx = s->cx;
    const struct la_facts f = la_facts_of(cx, s->memory);
    if (s->memory.outer)
        la_fail(cx, LA_E_kind, "%s is swizzled already: give the layout without",
                la_show_layout(cx, s->memory));
    if (f.low < 0 || f.high >= LA_REACH_PERIOD)
        la_fail(cx, LA_E_limit, "%s reaches from %lld to %lld; shared memory has offsets 0 to %d",
                la_show_layout(cx, s->memory), (long long)f.low, (long long)f.high, LA_REACH_PERIOD - 1);
    s->cosize = f.high + 1;
}

static void check_work(struct search *s)
{
    int64_t instructions = 0;
    for (uint32_t i = 0; i < s->out->accesses; i++)
        instructions += s->program[i].n;
    const int64_t candidates = s->out->legal + padding_max(s) / s->vector;
    if (instructions > LA_SEARCH_COSTS / candidates)
        la_fail(s->cx, LA_E_limit,
                "%lld instructions and %lld candidates; %d costs of an instruction is the most",
                (long long)instructions, (long long)candidates, LA_SEARCH_COSTS);
}

struct la_search la_swizzle_search(struct la_ctx *cx, struct la_layout memory, uint32_t bits, uint32_t n,
                                   const struct la_search_access *accesses)
{
    struct la_search out = {.accesses = n};
    struct search s = {.cx = cx, .memory = memory, .bits = bits, .vector = 1, .out = &out};
    if (n < 1 || n > LA_SEARCH_ACCESSES)
        la_fail(cx, LA_E_limit, "%u accesses; 1 to %d can be", n, LA_SEARCH_ACCESSES);
    check_layout(&s);
    for (uint32_t i = 0; i < n; i++)
        read_access(&s, &accesses[i], &s.program[i]);
    each_swizzle(&s, count_swizzle);
    check_work(&s);
    attempt(&s, &out.none, INT64_MAX);
    each_swizzle(&s, try_swizzle);
    out.paddable = find_leading(&s);
    if (out.paddable)
        try_paddings(&s);
    return out;
}
