/* laws.c: laws of answers, looked at point by point.
 *
 *     composition((6,2):(8,2), 4:4) = (2,2):(32,2)     at 2 it gives 2, and should give A(B(2)) = 18
 *
 * Both sides are computed with divisions of its own and not with the algebra that gave the answer. All points are looked
 * at where there are few, else a sample. A counterexample knows which element of the answer it is, if it is one. */
#include "laws.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_POINTS = 1 << 16, /* of one law: a millisecond or so */
    MAX_MODES = 4096      /* flat modes of a layout whose points are looked at */
};

const struct la_place la_nowhere = {.prefix = ""};

/* ---- a layout as plain numbers ---- */

struct function {
    uint32_t n;
    int64_t *extent, *stride;
    int64_t size;
    const struct la_value *outer;
    int64_t offset;
};

/* False when it has other than integers, or too many modes. */
static bool function_of(struct la_ctx *cx, struct la_layout a, struct function *f)
{
    a = la_position_independent(cx, a);
    *f = (struct function){.size = 1, .outer = a.outer, .offset = a.outer ? a.offset->value : 0};
    if (a.shape->span > MAX_MODES)
        return false;
    f->extent = la_alloc(cx, a.shape->span * sizeof *f->extent);
    f->stride = la_alloc(cx, a.shape->span * sizeof *f->stride);
    for (uint32_t i = 0; i < a.shape->span; i++) {
        if (a.shape[i].kind == LA_TUPLE)
            continue;
        if (a.shape[i].kind != LA_INT || a.stride[i].kind != LA_INT || a.stride[i].path ||
            a.shape[i].value < 1)
            return false;
        f->extent[f->n] = a.shape[i].value;
        f->stride[f->n++] = a.stride[i].value;
        if (__builtin_mul_overflow(f->size, a.shape[i].value, &f->size))
            return false;
    }
    return f->n > 0 && (!a.outer || a.outer->kind == LA_K_SWIZZLE);
}

/* f(i), also beyond its size, where the last mode goes on; false when that passes 64 bits. */
static bool at(const struct function *f, int64_t i, int64_t *out)
{
    int64_t sum = f->offset;
    for (uint32_t k = 0; k < f->n; k++) {
        const int64_t c = k + 1 < f->n ? i % f->extent[k] : i;
        int64_t term;
        if (__builtin_mul_overflow(c, f->stride[k], &term) || __builtin_add_overflow(sum, term, &sum))
            return false;
        i /= f->extent[k];
    }
    *out = f->outer ? la_swizzle_apply(f->outer->swizzle, sum) : sum;
    return true;
}

/* Which of `total` points are looked at: all, or the first half of MAX_POINTS and as many spread over the rest. */
struct sample {
    int64_t total, count, head, step;
};

static struct sample sample_of(int64_t total)
{
    if (total <= MAX_POINTS)
        return (struct sample){total, total, total, 1};
    return (struct sample){total, MAX_POINTS, MAX_POINTS / 2, (total - MAX_POINTS / 2) / (MAX_POINTS / 2)};
}

static int64_t point(const struct sample *s, int64_t k)
{
    return k < s->head ? k : s->head + (k - s->head) * s->step;
}

/* ---- writing checks ---- */

static struct la_check *add(struct la_checking *c, const char *law, const struct sample *s)
{
    struct la_check *check = &c->out->at[c->out->n]; /* one more place than is shown */
    if (c->out->n < LA_MAX_CHECKS)
        c->out->n++;
    *check = (struct la_check){
        .law = law, .holds = true, .looked_at = s->count, .total = s->total, .index = -1};
    return check;
}

static void fails(struct la_check *check, int64_t looked_at, const char *where, const char *gives,
                  const char *should)
{
    check->holds = false;
    check->looked_at = looked_at;
    check->at = where;
    check->gives = gives;
    check->should = should;
}

/* The place of everything in a layout, in order; nowhere when its elements cannot be counted. */
struct la_layout la_in_order(struct la_checking *c, struct la_layout a)
{
    struct function f;
    return function_of(c->cx, la_inner(a), &f) ? la_layout_of(c->cx, a.shape) : (struct la_layout){0};
}

/* Which index a compact layout maps to v; a mode of extent 1 has the stride 0. */
static int64_t index_of(const struct function *compact, int64_t v)
{
    int64_t index = 0, size = 1;
    for (uint32_t k = 0; k < compact->n; k++) {
        if (compact->extent[k] > 1)
            index += v / compact->stride[k] % compact->extent[k] * size;
        size *= compact->extent[k];
    }
    return index;
}

/* The 1-D index in the answer of point i of a law, -1 when it is none of its elements. */
static int64_t element(struct la_checking *c, const struct la_place *place, int64_t i)
{
    struct function f, arranged, answer;
    int64_t index;
    if (!place->index.shape || !function_of(c->cx, place->index, &f) || i >= f.size || !at(&f, i, &index))
        return -1;
    if (c->arranged.shape && function_of(c->cx, c->arranged, &arranged))
        index = index_of(&arranged, index);
    if (!function_of(c->cx, la_inner(c->answer.layout), &answer))
        return -1;
    return index >= 0 && index < answer.size ? index : -1;
}

static const char *number(struct la_checking *c, int64_t v)
{
    return la_format(c->cx, "%lld", (long long)v);
}

/* "2 = (0,1)": an integer coordinate and what it is in the shape. */
static const char *coordinate(struct la_checking *c, int64_t i, const struct la_node *shape)
{
    const struct la_node index = {.value = i, .span = 1, .kind = LA_INT};
    if (shape->kind != LA_TUPLE)
        return number(c, i);
    return la_format(c->cx, "%lld = %s", (long long)i,
                     la_print_tuple(c->cx, la_idx2crd(c->cx, &index, shape, NULL), LA_SPELL_TEXT));
}

/* ---- the laws ---- */

/* result(i) = a(b(i)); NULL stands for the identity. */
bool la_law_composed(struct la_checking *c, const char *law, const struct la_place *place,
                     struct la_layout result, const struct la_layout *a, const struct la_layout *b)
{
    struct function r, fa, fb;
    if (!function_of(c->cx, result, &r) || (a && !function_of(c->cx, *a, &fa)) ||
        (b && !function_of(c->cx, *b, &fb)))
        return true;
    const struct sample s = sample_of(b ? fb.size : r.size);
    struct la_check *check = add(c, law, &s);
    for (int64_t k = 0; k < s.count; k++) {
        const int64_t i = point(&s, k);
        int64_t inner = i, should, gives;
        if ((b && !at(&fb, i, &inner)) || !at(&r, i, &gives))
            continue;
        should = inner;
        if (a && (inner < 0 || !at(&fa, inner, &should)))
            continue;
        if (gives == should)
            continue;
        fails(check, k + 1,
              la_format(c->cx, "%s%s", place->prefix, coordinate(c, i, b ? b->shape : result.shape)),
              number(c, gives), number(c, should));
        check->index = element(c, place, i);
        c->broken = true;
        return false;
    }
    if (!b || r.size == fb.size)
        return true;
    fails(check, s.count, la_format(c->cx, "%sthe size", place->prefix), number(c, r.size),
          number(c, fb.size));
    c->broken = true;
    return false;
}

/* No two coordinates with one value. */
struct valued {
    int64_t value, index;
};

static int by_value(const void *a, const void *b)
{
    const struct valued *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static struct valued *sorted_values(struct la_checking *c, const struct function *f, const struct sample *s)
{
    struct valued *v = la_alloc(c->cx, (size_t)(s->count + 1) * sizeof *v);
    for (int64_t k = 0; k < s->count; k++) {
        v[k].index = point(s, k);
        if (!at(f, v[k].index, &v[k].value))
            v[k].value = INT64_MIN + k; /* beyond 64 bits: equal to nothing */
    }
    qsort(v, (size_t)s->count, sizeof *v, by_value);
    return v;
}

/* The second of them is the place where it fails. */
bool la_law_injective(struct la_checking *c, const char *law, const struct la_place *place,
                      struct la_layout a)
{
    struct function f;
    if (!function_of(c->cx, a, &f))
        return true;
    const struct sample s = sample_of(f.size);
    struct la_check *check = add(c, law, &s);
    const struct valued *v = sorted_values(c, &f, &s);
    const struct valued *first = NULL;
    for (int64_t k = 1; k < s.count; k++)
        if (v[k].value == v[k - 1].value && (!first || v[k].index < first[1].index))
            first = &v[k - 1];
    if (!first)
        return true;
    fails(check, s.count,
          la_format(c->cx, "%s and %s", coordinate(c, first->index, a.shape),
                    coordinate(c, first[1].index, a.shape)),
          number(c, first->value), "different values");
    check->index = element(c, place, first[1].index);
    return false;
}

/* Each value from 0 to size-1 is there: with injectivity, a bijection. */
void la_law_surjective(struct la_checking *c, const char *law, struct la_layout a)
{
    struct function f;
    if (!function_of(c->cx, a, &f))
        return;
    const struct sample s = sample_of(f.size);
    struct la_check *check = add(c, law, &s);
    if (s.count < s.total)
        return;
    const struct valued *v = sorted_values(c, &f, &s);
    int64_t want = 0;
    for (int64_t k = 0; k < s.count; k++) {
        if (v[k].value == want)
            want++;
        else if (v[k].value > want)
            break;
    }
    if (want < f.size)
        fails(check, s.count, la_format(c->cx, "the value %lld", (long long)want), "no coordinate",
              "one coordinate");
}

/* Complement: ordered, and apart from A but for 0. */
void la_law_complement(struct la_checking *c, struct la_layout a, struct la_layout r)
{
    struct function fa, fr;
    if (!function_of(c->cx, la_inner(a), &fa) || !function_of(c->cx, r, &fr))
        return;
    const struct la_place place = {"", la_in_order(c, r)};
    const struct sample s = sample_of(fr.size), sa = sample_of(fa.size);
    struct la_check *ordered = add(c, "complement(A)(i) < complement(A)(i+1)", &s);
    struct la_check *disjoint = add(c, "complement(A) and A have only 0 in common", &s);
    const struct valued *v = sorted_values(c, &fa, &sa);
    int64_t last = -1;
    for (int64_t k = 0; k < s.count; k++) {
        struct valued key = {0};
        if (!at(&fr, point(&s, k), &key.value))
            continue;
        if (key.value <= last && ordered->holds) {
            fails(ordered, k + 1, coordinate(c, point(&s, k), r.shape), number(c, key.value),
                  la_format(c->cx, "more than %lld", (long long)last));
            ordered->index = element(c, &place, point(&s, k));
        }
        last = key.value;
        int64_t low = 0, high = sa.count;
        while (low < high) {
            const int64_t middle = (low + high) / 2;
            if (v[middle].value < key.value)
                low = middle + 1;
            else
                high = middle;
        }
        if (key.value != 0 && disjoint->holds && low < sa.count && v[low].value == key.value) {
            fails(disjoint, k + 1, coordinate(c, point(&s, k), r.shape), number(c, key.value),
                  "a value that A does not have");
            disjoint->index = element(c, &place, point(&s, k));
        }
    }
}

/* ---- tilers: a tuple mode by mode ---- */

/* Does b reach every i < size(a), and nothing beyond? */
static void check_cover(struct la_checking *c, const struct la_place *place, struct la_layout a,
                        struct la_layout b)
{
    struct function fa, fb;
    if (!function_of(c->cx, a, &fa) || !function_of(c->cx, b, &fb) || fa.size > MAX_POINTS ||
        fb.size > 4 * MAX_POINTS)
        return;
    const struct sample s = sample_of(fa.size);
    unsigned char *seen = la_alloc(c->cx, (size_t)fa.size);
    memset(seen, 0, (size_t)fa.size);
    int64_t beyond = -1;
    for (int64_t i = 0; i < fb.size; i++) {
        int64_t v;
        if (at(&fb, i, &v) && v >= 0 && v < fa.size)
            seen[v] = 1;
        else if (beyond < 0)
            beyond = i;
    }
    struct la_check *all = add(c, "every element of A lies in a tile", &s);
    for (int64_t i = 0; i < fa.size && all->holds; i++)
        if (!seen[i])
            fails(all, i + 1, la_format(c->cx, "%s%s", place->prefix, coordinate(c, i, a.shape)),
                  "in no tile", "in a tile");
    struct la_check *inside = add(c, "no tile reaches beyond A", &s);
    if (beyond < 0)
        return;
    fails(inside, beyond + 1, la_format(c->cx, "%s%s", place->prefix, coordinate(c, beyond, b.shape)),
          "an element beyond A: predicate it", "an element of A");
    inside->index = element(c, place, beyond);
}

/* The layout that is a o b, "none", or NULL when that is not known. */
static const char *true_function(struct la_ctx *cx, const char *prefix, struct la_layout a,
                                 struct la_layout b)
{
    struct function fa, fb;
    struct la_fit fit = {0};
    if (!function_of(cx, a, &fa) || !function_of(cx, b, &fb) || fb.size > MAX_POINTS)
        return NULL;
    int64_t *v = la_alloc(cx, (size_t)(fb.size + 1) * sizeof *v);
    for (int64_t i = 0; i < fb.size; i++) {
        int64_t x;
        if (!at(&fb, i, &x) || x < 0 || !at(&fa, x, &v[i]))
            return NULL;
    }
    if (!la_fit_table(cx, 1, fb.size, v, false, &fit))
        return NULL;
    return fit.found ? la_format(cx, "%s%s", prefix, la_print_layout(cx, fit.layout, LA_SPELL_CUTE)) : "none";
}

static struct la_place mode_of(struct la_checking *c, const struct la_place *place, uint32_t i)
{
    struct la_place mode = {.prefix = la_format(c->cx, "%smode %u: ", place->prefix, i)};
    if (place->index.shape)
        mode.index = la_layout_mode(c->cx, place->index, i);
    return mode;
}

void la_law_tiled(struct la_checking *c, const struct la_tiled_law *law, const struct la_place *place,
                  struct la_layout a, const struct la_node *tiler, struct la_layout result)
{
    if (tiler->kind == LA_ANY)
        return;
    if (tiler->kind == LA_TUPLE) {
        for (uint32_t i = 0; i < la_rank(tiler); i++) {
            const struct la_place mode = mode_of(c, place, i);
            la_law_tiled(c, law, &mode, la_layout_mode(c->cx, a, i), la_mode(c->cx, tiler, i),
                         la_layout_mode(c->cx, result, i));
        }
        return;
    }
    const struct la_layout t = tiler->kind == LA_INT ? la_layout_of(c->cx, tiler)
                                                     : la_leaf_layout(c->cx, tiler);
    const struct la_layout b = law->right(c->cx, a, t);
    if (!la_law_composed(c, law->law, place, result, &a, &b) && !c->out->true_function)
        c->out->true_function = true_function(c->cx, place->prefix, a, b);
    if (law->covers)
        check_cover(c, place, a, b);
}

/* ---- two layouts ---- */

void la_law_equal(struct la_checking *c, struct la_layout a, struct la_layout b)
{
    const struct la_layout identity = la_plain(la_size(c->cx, b), la_one);
    la_law_composed(c, "a(i) = b(i), and the sizes are equal", &la_nowhere, b, &a, &identity);
    struct function fa, fb;
    if (c->out->n && function_of(c->cx, a, &fa) && function_of(c->cx, b, &fb) && fa.size != fb.size)
        fails(&c->out->at[0], 0, "the sizes", number(c, fa.size), number(c, fb.size));
}
