/* tuple.c: IntTuples: an integer, or a tuple of IntTuples; in tilers and slices also _ and layouts as elements.
 *
 * A tuple is one pre-order array: (2,(3,4)) is [tuple 2][2][tuple 2][3][4]. A new one is built from left to right with
 * a builder; nothing is changed once it is done. */
#include "internal.h"

#include <string.h>

enum {
    FIRST_NODES = 8 /* a small tuple needs no second piece of memory */
};

void la_build(struct la_builder *b, struct la_ctx *cx)
{
    *b = (struct la_builder){
        .cx = cx, .nodes = la_alloc(cx, FIRST_NODES * sizeof(struct la_node)), .cap = FIRST_NODES};
}

static struct la_node *build_room(struct la_builder *b, uint32_t n)
{
    if (n > UINT32_MAX / 4 - b->len)
        la_fail(b->cx, LA_E_limit, "a tuple of more than %u elements", UINT32_MAX / 4);
    if (b->len + n > b->cap) {
        uint32_t cap = b->cap;
        while (cap < b->len + n)
            cap *= 2;
        struct la_node *nodes = la_alloc(b->cx, cap * sizeof *nodes);
        memcpy(nodes, b->nodes, b->len * sizeof *nodes);
        b->nodes = nodes;
        b->cap = cap;
    }
    struct la_node *room = b->nodes + b->len;
    b->len += n;
    return room;
}

uint32_t la_build_open(struct la_builder *b)
{
    *build_room(b, 1) = (struct la_node){.kind = LA_TUPLE};
    return b->len - 1;
}

void la_build_close(struct la_builder *b, uint32_t handle)
{
    struct la_node *t = b->nodes + handle;
    t->span = b->len - handle;
    t->is_static = true;
    t->value = 0;
    for (const struct la_node *m = t + 1; m < t + t->span; m = la_next(m)) {
        t->value++;
        t->is_static = t->is_static && m->is_static;
    }
}

void la_build_add(struct la_builder *b, const struct la_node *n)
{
    const uint32_t span = n->span;
    memcpy(build_room(b, span), n, span * sizeof *n);
}

const struct la_node *la_build_done(struct la_builder *b)
{
    return b->nodes;
}

const struct la_node *la_tuple(struct la_ctx *cx, uint32_t rank, const struct la_node *const *modes)
{
    struct la_builder b;
    la_build(&b, cx);
    const uint32_t h = la_build_open(&b);
    for (uint32_t i = 0; i < rank; i++)
        la_build_add(&b, modes[i]);
    la_build_close(&b, h);
    return la_build_done(&b);
}

static const struct la_node *pair(struct la_ctx *cx, const struct la_node *a, const struct la_node *b)
{
    return la_tuple(cx, 2, (const struct la_node *[]){a, b});
}

/* for (m = first_mode(a); m < end_mode(a); m = la_next(m)): an integer is its own mode 0. */
static const struct la_node *first_mode(const struct la_node *a)
{
    return a->kind == LA_TUPLE ? a + 1 : a;
}
static const struct la_node *end_mode(const struct la_node *a)
{
    return a + a->span;
}

const struct la_node *la_mode(struct la_ctx *cx, const struct la_node *n, uint32_t i)
{
    if (i >= la_rank(n))
        la_fail(cx, LA_E_rank_mismatch, "there is no mode %u in %s, whose rank is %u", i, la_show(cx, n),
                la_rank(n));
    if (n->kind != LA_TUPLE)
        return n;
    const struct la_node *m = n + 1;
    while (i-- > 0)
        m = la_next(m);
    return m;
}

const struct la_node *la_get(struct la_ctx *cx, const struct la_node *a, uint32_t n, const uint32_t *path)
{
    for (uint32_t i = 0; i < n; i++)
        a = la_mode(cx, a, path[i]);
    return a;
}

bool la_all_static(const struct la_node *n)
{
    return n->is_static;
}

bool la_has_any(const struct la_node *a)
{
    for (uint32_t i = 0; i < a->span; i++)
        if (a[i].kind == LA_ANY)
            return true;
    return false;
}

bool la_all_any(const struct la_node *a)
{
    for (uint32_t i = 0; i < a->span; i++)
        if (a[i].kind == LA_INT || a[i].kind == LA_LEAF)
            return false;
    return true;
}

bool la_all_integers(const struct la_node *a)
{
    for (uint32_t i = 0; i < a->span; i++)
        if (a[i].kind > LA_TUPLE || (a[i].kind == LA_INT && a[i].path))
            return false;
    return true;
}

bool la_congruent(const struct la_node *a, const struct la_node *b)
{
    if (a->span != b->span)
        return false;
    for (uint32_t i = 0; i < a->span; i++)
        if (a[i].span != b[i].span || (a[i].kind == LA_TUPLE) != (b[i].kind == LA_TUPLE))
            return false;
    return true;
}

bool la_same(const struct la_node *a, const struct la_node *b)
{
    if (!la_congruent(a, b))
        return false;
    for (uint32_t i = 0; i < a->span; i++) {
        if (a[i].kind != b[i].kind || a[i].is_static != b[i].is_static || a[i].value != b[i].value)
            return false;
        if (a[i].kind == LA_LEAF && a[i].leaf != b[i].leaf)
            return false;
        if (a[i].kind == LA_INT && (a[i].path || b[i].path) &&
            (!a[i].path || !b[i].path || a[i].path->len != b[i].path->len ||
             memcmp(a[i].path->at, b[i].path->at, a[i].path->len * sizeof a[i].path->at[0]) != 0))
            return false;
    }
    return true;
}

const struct la_node *la_product(struct la_ctx *cx, const struct la_node *n)
{
    if (n->kind != LA_TUPLE)
        return n;
    const struct la_node *p = la_one;
    bool first = true; /* the product of one element is that element, static or not */
    for (const struct la_node *m = n + 1; m < n + n->span; m = la_next(m)) {
        const struct la_node *q = la_product(cx, m);
        p = first ? q : la_mul(cx, p, q);
        first = false;
    }
    return p;
}

const struct la_node *la_product_each(struct la_ctx *cx, const struct la_node *a)
{
    struct la_builder b;
    la_build(&b, cx);
    const uint32_t h = la_build_open(&b);
    for (const struct la_node *m = first_mode(a); m < end_mode(a); m = la_next(m))
        la_build_add(&b, la_product(cx, m));
    la_build_close(&b, h);
    return la_build_done(&b);
}

/* An integer stays one; of a tuple all leaves, in order. */
const struct la_node *la_flatten(struct la_ctx *cx, const struct la_node *n)
{
    if (n->kind != LA_TUPLE)
        return n;
    struct la_builder b;
    la_build(&b, cx);
    const uint32_t h = la_build_open(&b);
    for (uint32_t i = 1; i < n->span; i++)
        if (n[i].kind != LA_TUPLE)
            la_build_add(&b, n + i);
    la_build_close(&b, h);
    return la_build_done(&b);
}

const struct la_node *la_map_leaves(struct la_ctx *cx, const struct la_node *a,
                                    const struct la_node *(*f)(struct la_ctx *cx, const struct la_node *leaf))
{
    if (a->kind != LA_TUPLE)
        return f(cx, a);
    struct la_node *out = la_alloc(cx, a->span * sizeof *out);
    for (uint32_t i = 0; i < a->span; i++)
        out[i] = a[i].kind == LA_TUPLE ? a[i] : *f(cx, a + i);
    for (uint32_t i = a->span; i-- > 0;) { /* staticness of tuples, from the inside out */
        if (out[i].kind != LA_TUPLE)
            continue;
        out[i].is_static = true;
        for (const struct la_node *m = out + i + 1; m < out + i + out[i].span; m = la_next(m))
            out[i].is_static = out[i].is_static && m->is_static;
    }
    return out;
}

static _Noreturn void ranks_differ(struct la_ctx *cx, const struct la_node *a, const struct la_node *b)
{
    la_fail(cx, LA_E_rank_mismatch, "the ranks of %s (%u) and %s (%u) differ", la_show(cx, a), la_rank(a),
            la_show(cx, b), la_rank(b));
}

const struct la_node *la_map2(struct la_ctx *cx, const struct la_node *a, const struct la_node *b,
                              const struct la_node *(*f)(struct la_ctx *cx, const struct la_node *x,
                                                         const struct la_node *y))
{
    if (b->kind != LA_TUPLE || la_rank(a) != la_rank(b))
        ranks_differ(cx, a, b);
    struct la_builder out;
    la_build(&out, cx);
    const uint32_t h = la_build_open(&out);
    const struct la_node *y = b + 1;
    for (const struct la_node *x = a + 1; x < a + a->span; x = la_next(x), y = la_next(y))
        la_build_add(&out, f(cx, x, y));
    la_build_close(&out, h);
    return la_build_done(&out);
}

const struct la_node *la_wrap(struct la_ctx *cx, const struct la_node *a)
{
    return a->kind == LA_TUPLE ? a : la_tuple(cx, 1, &a);
}

/* The modes of a, then those of b, as one tuple. */
static const struct la_node *concat(struct la_ctx *cx, const struct la_node *a, const struct la_node *b)
{
    struct la_builder out;
    la_build(&out, cx);
    const uint32_t h = la_build_open(&out);
    for (const struct la_node *m = first_mode(a); m < end_mode(a); m = la_next(m))
        la_build_add(&out, m);
    for (const struct la_node *m = first_mode(b); m < end_mode(b); m = la_next(m))
        la_build_add(&out, m);
    la_build_close(&out, h);
    return la_build_done(&out);
}

const struct la_node *la_append(struct la_ctx *cx, const struct la_node *a, const struct la_node *x)
{
    return concat(cx, a, la_tuple(cx, 1, &x));
}

const struct la_node *la_prepend(struct la_ctx *cx, const struct la_node *a, const struct la_node *x)
{
    return concat(cx, la_tuple(cx, 1, &x), a);
}

static const struct la_node *filled(struct la_ctx *cx, const struct la_node *a, uint32_t rank,
                                    const struct la_node *x)
{
    if (rank < la_rank(a))
        la_fail(cx, LA_E_rank_mismatch, "%s already has more than %u modes", la_show(cx, a), rank);
    struct la_builder b;
    la_build(&b, cx);
    const uint32_t h = la_build_open(&b);
    for (uint32_t i = la_rank(a); i < rank; i++)
        la_build_add(&b, x);
    la_build_close(&b, h);
    return la_build_done(&b);
}

const struct la_node *la_append_to(struct la_ctx *cx, const struct la_node *a, uint32_t rank,
                                   const struct la_node *x)
{
    return concat(cx, a, filled(cx, a, rank, x));
}

const struct la_node *la_prepend_to(struct la_ctx *cx, const struct la_node *a, uint32_t rank,
                                    const struct la_node *x)
{
    return concat(cx, filled(cx, a, rank, x), a);
}

const struct la_node *la_replace(struct la_ctx *cx, const struct la_node *a, uint32_t i,
                                 const struct la_node *x)
{
    la_mode(cx, a, i);
    if (a->kind != LA_TUPLE)
        return x;
    struct la_builder b;
    la_build(&b, cx);
    const uint32_t h = la_build_open(&b);
    uint32_t k = 0;
    for (const struct la_node *m = a + 1; m < a + a->span; m = la_next(m), k++)
        la_build_add(&b, k == i ? x : m);
    la_build_close(&b, h);
    return la_build_done(&b);
}

const struct la_node *la_take(struct la_ctx *cx, const struct la_node *a, uint32_t begin, uint32_t end)
{
    if (begin >= end || end > la_rank(a))
        la_fail(cx, LA_E_rank_mismatch, "the modes [%u,%u) are not in %s, whose rank is %u", begin, end,
                la_show(cx, a), la_rank(a));
    struct la_builder b;
    la_build(&b, cx);
    const uint32_t h = la_build_open(&b);
    const struct la_node *m = la_mode(cx, a, begin);
    for (uint32_t i = begin; i < end; i++, m = la_next(m))
        la_build_add(&b, m);
    la_build_close(&b, h);
    return la_build_done(&b);
}

const struct la_node *la_select(struct la_ctx *cx, const struct la_node *a, uint32_t n, const uint32_t *modes)
{
    struct la_builder b;
    la_build(&b, cx);
    const uint32_t h = la_build_open(&b);
    for (uint32_t i = 0; i < n; i++)
        la_build_add(&b, la_mode(cx, a, modes[i]));
    la_build_close(&b, h);
    return la_build_done(&b);
}

const struct la_node *la_group(struct la_ctx *cx, const struct la_node *a, uint32_t begin, uint32_t end)
{
    const struct la_node *grouped = la_take(cx, a, begin, end);
    struct la_builder b;
    la_build(&b, cx);
    const uint32_t h = la_build_open(&b);
    uint32_t i = 0;
    for (const struct la_node *m = first_mode(a); m < end_mode(a); m = la_next(m), i++) {
        if (i == begin)
            la_build_add(&b, grouped);
        if (i < begin || i >= end)
            la_build_add(&b, m);
    }
    la_build_close(&b, h);
    return la_build_done(&b);
}

const struct la_node *la_zip(struct la_ctx *cx, const struct la_node *a, const struct la_node *b)
{
    return la_map2(cx, a, b, pair);
}

const struct la_node *la_zip_modes(struct la_ctx *cx, const struct la_node *a)
{
    if (a->kind != LA_TUPLE || la_rank(a) == 0)
        la_fail(cx, LA_E_kind, "%s is not a tuple of tuples", la_show(cx, a));
    struct la_builder b;
    la_build(&b, cx);
    const uint32_t h = la_build_open(&b);
    for (uint32_t j = 0; j < la_rank(a + 1); j++) {
        const uint32_t hj = la_build_open(&b);
        for (const struct la_node *m = a + 1; m < a + a->span; m = la_next(m)) {
            if (m->kind != LA_TUPLE || la_rank(m) != la_rank(a + 1))
                ranks_differ(cx, a + 1, m);
            la_build_add(&b, la_mode(cx, m, j));
        }
        la_build_close(&b, hj);
    }
    la_build_close(&b, h);
    return la_build_done(&b);
}

/* Law: zip2_by(((A,a),(B,b),x), (_,_)) = ((A,B),(a,b,x)): split at the terminals of the guide, gather both sides. */
const struct la_node *la_zip2_by(struct la_ctx *cx, const struct la_node *a, const struct la_node *guide)
{
    if (guide->kind != LA_TUPLE) {
        if (a->kind != LA_TUPLE || la_rank(a) != 2)
            la_fail(cx, LA_E_rank_mismatch, "%s cannot be split into a tile and its rest: its rank is not 2",
                    la_show(cx, a));
        return a;
    }
    const uint32_t r = la_rank(a), g = la_rank(guide);
    if (a->kind != LA_TUPLE || r < g)
        ranks_differ(cx, a, guide);
    struct la_builder tile, rest;
    la_build(&tile, cx);
    la_build(&rest, cx);
    const uint32_t ht = la_build_open(&tile), hr = la_build_open(&rest);
    const struct la_node *m = a + 1, *gm = guide + 1;
    for (uint32_t i = 0; i < r; i++, m = la_next(m)) {
        if (i < g) {
            const struct la_node *split = la_zip2_by(cx, m, gm);
            la_build_add(&tile, split + 1);
            la_build_add(&rest, la_next(split + 1));
            gm = la_next(gm);
        } else {
            la_build_add(&rest, m);
        }
    }
    la_build_close(&tile, ht);
    la_build_close(&rest, hr);
    return pair(cx, la_build_done(&tile), la_build_done(&rest));
}

/* Append the modes of a at which coord is _ (want_any) or is not; a tuple in coord goes a level down. */
static void lift(struct la_builder *out, const struct la_node *coord, const struct la_node *a, bool want_any)
{
    if (coord->kind == LA_TUPLE) {
        if (a->kind != LA_TUPLE || la_rank(a) != la_rank(coord))
            ranks_differ(out->cx, coord, a);
        const struct la_node *x = a + 1;
        for (const struct la_node *c = coord + 1; c < coord + coord->span; c = la_next(c), x = la_next(x))
            lift(out, c, x, want_any);
    } else if ((coord->kind == LA_ANY) == want_any) {
        la_build_add(out, a);
    }
}

static const struct la_node *lifted(struct la_ctx *cx, const struct la_node *coord, const struct la_node *a,
                                    bool want_any)
{
    struct la_builder b;
    la_build(&b, cx);
    if (coord->kind != LA_TUPLE && (coord->kind == LA_ANY) == want_any)
        return a;
    const uint32_t h = la_build_open(&b);
    lift(&b, coord, a, want_any);
    la_build_close(&b, h);
    return la_build_done(&b);
}

const struct la_node *la_slice(struct la_ctx *cx, const struct la_node *coord, const struct la_node *a)
{
    return lifted(cx, coord, a, true);
}

const struct la_node *la_dice(struct la_ctx *cx, const struct la_node *coord, const struct la_node *a)
{
    return lifted(cx, coord, a, false);
}

const struct la_node *la_repeat_like(struct la_ctx *cx, const struct la_node *a, const struct la_node *x)
{
    struct la_node *out = la_alloc(cx, a->span * sizeof *out);
    for (uint32_t i = 0; i < a->span; i++) {
        out[i] = a[i].kind == LA_TUPLE ? a[i] : *x;
        out[i].is_static = a[i].kind == LA_TUPLE ? x->is_static : out[i].is_static;
    }
    return out;
}

const struct la_node *la_repeat(struct la_ctx *cx, uint32_t n, const struct la_node *x)
{
    return n == 1 ? x : filled(cx, la_tuple(cx, 0, NULL), n, x);
}

const struct la_node *la_depth(struct la_ctx *cx, const struct la_node *a)
{
    if (a->kind != LA_TUPLE)
        return la_zero;
    const struct la_node *deepest = la_zero;
    for (const struct la_node *m = a + 1; m < a + a->span; m = la_next(m))
        deepest = la_max(cx, deepest, la_depth(cx, m));
    return la_add(cx, la_one, deepest);
}

/* Combine neighbours that are both static or both run-time; law: the product stays. */
const struct la_node *la_coalesce_shape(struct la_ctx *cx, const struct la_node *shape)
{
    const struct la_node *flat = la_flatten(cx, shape);
    if (flat->kind != LA_TUPLE)
        return flat;
    const struct la_node **modes = la_alloc(cx, (la_rank(flat) + 1) * sizeof *modes);
    uint32_t n = 0;
    for (const struct la_node *m = flat + 1; m < flat + flat->span; m++) {
        if (n > 0 && modes[n - 1]->is_static == m->is_static)
            modes[n - 1] = la_mul(cx, modes[n - 1], m);
        else
            modes[n++] = m;
    }
    return n == 1 ? modes[0] : la_tuple(cx, n, modes);
}

const struct la_node *la_filter_zeros(struct la_ctx *cx, const struct la_node *guide, const struct la_node *a)
{
    if (guide->kind == LA_TUPLE)
        return la_map2(cx, guide, a, la_filter_zeros);
    return la_is(guide, 0) ? la_repeat_like(cx, a, la_one) : a;
}
