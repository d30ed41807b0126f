/* check.c: is the answer right? Its law, looked at point by point.
 *
 * CuTe accepts compositions whose result is not A o B: composition((6,2):(8,2), 4:4) prints (2,2):(32,2), though
 * A(B(2)) is 18 and not 2. No rule finds all of them, and strict rules refuse good ones: only looking at points does.
 * So each operation with a law has a check here, which computes both sides with divisions of its own and not with the
 * algebra that gave the answer; what fails is shown as a counterexample, with the true function where it is a layout. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_POINTS = 1 << 16, /* of one law: a millisecond or so */
    MAX_MODES = 4096      /* flat modes of a layout whose points are looked at */
};

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

struct checking {
    struct la_ctx *cx;
    struct la_checks *out;
    const struct la_call *call;
    struct la_value answer;
    bool broken; /* the answer is not the function that its law asks for */
};

static struct la_check *add(struct checking *c, const char *law, const struct sample *s)
{
    struct la_check *check = &c->out->at[c->out->n]; /* one more place than is shown */
    if (c->out->n < LA_MAX_CHECKS)
        c->out->n++;
    *check = (struct la_check){.law = law, .holds = true, .looked_at = s->count, .total = s->total};
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

static const char *number(struct checking *c, int64_t v)
{
    return la_format(c->cx, "%lld", (long long)v);
}

/* "2 = (0,1)": an integer coordinate and what it is in the shape. */
static const char *coordinate(struct checking *c, int64_t i, const struct la_node *shape)
{
    const struct la_node index = {.value = i, .span = 1, .kind = LA_INT};
    if (shape->kind != LA_TUPLE)
        return number(c, i);
    return la_format(c->cx, "%lld = %s", (long long)i,
                     la_print_tuple(c->cx, la_idx2crd(c->cx, &index, shape, NULL), LA_SPELL_TEXT));
}

/* ---- the laws ---- */

/* result(i) = a(b(i)); NULL stands for the identity. */
static bool check_composed(struct checking *c, const char *law, const char *prefix, struct la_layout result,
                           const struct la_layout *a, const struct la_layout *b)
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
        fails(check, k + 1, la_format(c->cx, "%s%s", prefix, coordinate(c, i, b ? b->shape : result.shape)),
              number(c, gives), number(c, should));
        c->broken = true;
        return false;
    }
    if (!b || r.size == fb.size)
        return true;
    fails(check, s.count, la_format(c->cx, "%sthe size", prefix), number(c, r.size), number(c, fb.size));
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

static struct valued *sorted_values(struct checking *c, const struct function *f, const struct sample *s)
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

static bool check_injective(struct checking *c, const char *law, struct la_layout a)
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
    return false;
}

/* Each value from 0 to size-1 is there: with injectivity, a bijection. */
static void check_surjective(struct checking *c, const char *law, struct la_layout a)
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
static void check_complement(struct checking *c, struct la_layout a, struct la_layout r)
{
    struct function fa, fr;
    if (!function_of(c->cx, la_inner(a), &fa) || !function_of(c->cx, r, &fr))
        return;
    const struct sample s = sample_of(fr.size), sa = sample_of(fa.size);
    struct la_check *ordered = add(c, "complement(A)(i) < complement(A)(i+1)", &s);
    struct la_check *disjoint = add(c, "complement(A) and A have only 0 in common", &s);
    const struct valued *v = sorted_values(c, &fa, &sa);
    int64_t last = -1;
    for (int64_t k = 0; k < s.count; k++) {
        struct valued key = {0};
        if (!at(&fr, point(&s, k), &key.value))
            continue;
        if (key.value <= last && ordered->holds)
            fails(ordered, k + 1, coordinate(c, point(&s, k), r.shape), number(c, key.value),
                  la_format(c->cx, "more than %lld", (long long)last));
        last = key.value;
        int64_t low = 0, high = sa.count;
        while (low < high) {
            const int64_t middle = (low + high) / 2;
            if (v[middle].value < key.value)
                low = middle + 1;
            else
                high = middle;
        }
        if (key.value != 0 && disjoint->holds && low < sa.count && v[low].value == key.value)
            fails(disjoint, k + 1, coordinate(c, point(&s, k), r.shape), number(c, key.value),
                  "a value that A does not have");
    }
}

static struct la_layout identity_of(struct la_ctx *cx, struct la_layout a)
{
    return la_plain(la_size(cx, a), la_one);
}

/* ---- tilers: a tuple mode by mode ---- */

/* The compositions inside an operation with a tiler, one a mode that is tiled. */
struct tiled_law {
    const char *law;
    struct la_layout (*right)(struct la_ctx *cx, struct la_layout a, struct la_layout tiler);
    bool covers; /* the tiles must hold every element of A */
};

static struct la_layout tiler_itself(struct la_ctx *cx, struct la_layout a, struct la_layout tiler)
{
    (void)cx;
    (void)a;
    return tiler;
}

static struct la_layout tiler_and_rest(struct la_ctx *cx, struct la_layout a, struct la_layout tiler)
{
    const struct la_layout parts[2] = {tiler, la_complement(cx, tiler, la_coalesce(cx, a).shape)};
    return la_layout_concat(cx, 2, parts);
}

/* Does b reach every i < size(a), and nothing beyond? */
static void check_cover(struct checking *c, const char *prefix, struct la_layout a, struct la_layout b)
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
            fails(all, i + 1, la_format(c->cx, "%s%s", prefix, coordinate(c, i, a.shape)), "in no tile",
                  "in a tile");
    struct la_check *inside = add(c, "no tile reaches beyond A", &s);
    if (beyond >= 0)
        fails(inside, beyond + 1, la_format(c->cx, "%s%s", prefix, coordinate(c, beyond, b.shape)),
              "an element beyond A: predicate it", "an element of A");
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

static void check_tiled(struct checking *c, const struct tiled_law *law, const char *prefix,
                        struct la_layout a, const struct la_node *tiler, struct la_layout result)
{
    if (tiler->kind == LA_ANY)
        return;
    if (tiler->kind == LA_TUPLE) {
        for (uint32_t i = 0; i < la_rank(tiler); i++)
            check_tiled(c, law, la_format(c->cx, "%smode %u: ", prefix, i), la_layout_mode(c->cx, a, i),
                        la_mode(c->cx, tiler, i), la_layout_mode(c->cx, result, i));
        return;
    }
    const struct la_layout t = tiler->kind == LA_INT ? la_layout_of(c->cx, tiler)
                                                     : la_leaf_layout(c->cx, tiler);
    const struct la_layout b = law->right(c->cx, a, t);
    if (!check_composed(c, law->law, prefix, result, &a, &b) && !c->out->true_function)
        c->out->true_function = true_function(c->cx, prefix, a, b);
    if (law->covers)
        check_cover(c, prefix, a, b);
}

static void say_path(struct checking *c, const struct la_node *tiler)
{
    c->out->tiler = tiler->kind == LA_TUPLE ? "a tuple: mode by mode"
                    : tiler->kind == LA_INT ? "an integer: as the layout N:1, over the whole"
                    : tiler->kind == LA_ANY ? "_: nothing is tiled"
                                            : "a layout: over the whole";
}

/* ---- which check for which operation ---- */

static void check_same(struct checking *c)
{
    if (c->call->args[0].kind & LA_K_ANYLAYOUT)
        check_composed(c, c->call->op->law, "", c->answer.layout, &c->call->args[0].layout, NULL);
}

static void check_composition(struct checking *c)
{
    const struct la_value a = c->call->args[0], b = c->call->args[c->call->argc - 1];
    if (!(a.kind & LA_K_ANYLAYOUT) || c->call->argc != 2 || b.kind & (LA_K_COMPOSED | LA_K_SWIZZLE))
        return;
    const struct la_node *tiler = la_value_node(c->cx, b);
    say_path(c, tiler);
    const struct tiled_law law = {"composition(A, B)(c) = A(B(c))", tiler_itself, false};
    check_tiled(c, &law, "", la_inner(a.layout), tiler, la_inner(c->answer.layout));
}

static void check_divide(struct checking *c)
{
    const struct la_value a = c->call->args[0], b = c->call->args[1];
    const struct la_node *tiler = la_value_node(c->cx, b);
    say_path(c, tiler);
    const struct tiled_law law = {"divide(A, B) = composition(A, (B, complement(B, shape(A))))",
                                  tiler_and_rest, true};
    const struct la_layout divided = la_logical_divide(c->cx, la_inner(a.layout), b);
    check_tiled(c, &law, "", la_inner(a.layout), tiler, divided);
}

static void check_product(struct checking *c)
{
    const struct la_value a = c->call->args[0], b = c->call->args[1];
    say_path(c, la_value_node(c->cx, b));
    const uint32_t before = c->out->n;
    if (!check_injective(c, "A maps no two coordinates to one offset", a.layout)) {
        c->out->n = before; /* a broadcast block repeats its own overlaps */
        return;
    }
    c->out->n = before;
    if (!check_injective(c, "the repetitions do not overlap", c->answer.layout) &&
        b.kind & (LA_K_TUPLE | LA_K_TILE))
        c->out->advice =
            "a tuple repeats each mode by itself, whatever the others occupy; a layout as second argument, "
            "or blocked_product, repeats A as a whole";
}

static void check_complement_call(struct checking *c)
{
    check_complement(c, c->call->args[0].layout, c->answer.layout);
}

static void check_right_inverse(struct checking *c)
{
    if (!(c->call->args[0].kind & LA_K_LAYOUT) || !(c->answer.kind & LA_K_LAYOUT))
        return;
    /* A(R(i)) = i: the identity is A over R */
    const struct la_layout identity = identity_of(c->cx, c->answer.layout);
    check_composed(c, "A(R(i)) = i", "", identity, &c->call->args[0].layout, &c->answer.layout);
}

static void check_left_inverse(struct checking *c)
{
    if (!(c->call->args[0].kind & LA_K_LAYOUT) || !(c->answer.kind & LA_K_LAYOUT))
        return;
    const struct la_layout a = c->call->args[0].layout;
    const uint32_t before = c->out->n;
    const bool injective = check_injective(c, "A is injective", a);
    c->out->n = before;
    if (injective)
        check_composed(c, "L(A(i)) = i", "", identity_of(c->cx, a), &c->answer.layout, &a);
}

static void check_equal(struct checking *c)
{
    const struct la_layout a = c->call->args[0].layout, b = c->call->args[1].layout;
    const struct la_layout identity = identity_of(c->cx, b);
    check_composed(c, "a(i) = b(i), and the sizes are equal", "", b, &a, &identity);
    struct function fa, fb;
    if (c->out->n && function_of(c->cx, a, &fa) && function_of(c->cx, b, &fb) && fa.size != fb.size)
        fails(&c->out->at[0], 0, "the sizes", number(c, fa.size), number(c, fb.size));
}

static void check_injective_call(struct checking *c)
{
    check_injective(c, "a(i) != a(k) for i != k", c->call->args[0].layout);
}

static void check_bijective_call(struct checking *c)
{
    check_injective(c, "a(i) != a(k) for i != k", c->call->args[0].layout);
    check_surjective(c, "each of 0 .. size-1 is a value", c->call->args[0].layout);
}

static const struct {
    const char *op;
    void (*check)(struct checking *c);
} laws[] = {
    {"coalesce", check_same},
    {"flatten", check_same},
    {"with_shape", check_same},
    {"composition", check_composition},
    {"compose", check_composition},
    {"logical_divide", check_divide},
    {"zipped_divide", check_divide},
    {"tiled_divide", check_divide},
    {"flat_divide", check_divide},
    {"logical_product", check_product},
    {"zipped_product", check_product},
    {"tiled_product", check_product},
    {"flat_product", check_product},
    {"blocked_product", check_product},
    {"raked_product", check_product},
    {"tile_to_shape", check_product},
    {"complement", check_complement_call},
    {"right_inverse", check_right_inverse},
    {"left_inverse", check_left_inverse},
    {"equal", check_equal},
    {"injective", check_injective_call},
    {"bijective", check_bijective_call},
};

/* ---- other readings, advice ---- */

static void static_reading(struct checking *c, const char *text, const struct la_program *program)
{
    if (!text || program->integers != LA_INTEGERS_CUTE)
        return;
    struct la_program again;
    struct la_ctx cx = {.arena = c->cx->arena};
    if (!la_eval(&cx, text, LA_INTEGERS_STATIC, &again)) {
        if (cx.error.code != LA_E_limit)
            c->out->static_reading = la_format(c->cx, "refused (%s): %s", la_error_name(cx.error.code),
                                               cx.error.message);
        return;
    }
    const char *here = la_print(c->cx, &c->answer, LA_SPELL_TEXT);
    if (strcmp(here, la_print(c->cx, &again.value, LA_SPELL_TEXT)) != 0)
        c->out->static_reading = la_print(c->cx, &again.value, LA_SPELL_CUTE);
}

/* composition(coalesce(A), B), where that is right. */
static bool coalescing_helps(struct checking *c)
{
    const struct la_value a = c->call->args[0];
    if (c->call->argc != 2 || !(a.kind & LA_K_LAYOUT) || c->call->args[1].kind != LA_K_LAYOUT)
        return false;
    struct la_checks scratch = {0};
    struct checking trial = {c->cx, &scratch, c->call, c->answer, false};
    struct la_layout flat = la_coalesce(c->cx, a.layout);
    struct la_layout result = la_composition(c->cx, flat, c->call->args[1]);
    return check_composed(&trial, "", "", result, &a.layout, &c->call->args[1].layout);
}

struct advice {
    struct checking *c;
    bool helps;
};

static void try_coalescing(struct la_ctx *cx, void *arg)
{
    (void)cx;
    struct advice *a = arg;
    a->helps = coalescing_helps(a->c);
}

static void advise(struct checking *c)
{
    struct la_checks *out = c->out;
    if (!c->broken)
        return;
    struct advice a = {.c = c};
    struct la_ctx *cx = c->cx;
    if (out->static_reading && strncmp(out->static_reading, "refused", 7) != 0)
        out->advice = la_format(cx, "make the integers static: then it is %s", out->static_reading);
    else if (la_try(cx, try_coalescing, &a) && a.helps)
        out->advice = "coalesce A first";
    else if (out->true_function && strcmp(out->true_function, "none") != 0)
        out->advice = la_format(cx, "the function that the law asks for is %s", out->true_function);
    else if (out->true_function)
        out->advice = "no layout is A o B here: keep the two apart, as composition(A, _0, B)";
    else if (out->static_reading)
        out->advice = "with static integers CuTe would have refused this";
}

struct request {
    const char *text;
    const struct la_program *program;
    struct la_checks *out;
};

static void check(struct la_ctx *cx, void *arg)
{
    const struct request *r = arg;
    const struct la_call *call = r->program->call;
    struct checking c = {cx, r->out, call, r->program->value, false};
    struct la_trace *const trace = cx->trace; /* looking must not add steps to the derivation */
    cx->trace = NULL;
    static_reading(&c, r->text, r->program);
    for (size_t i = 0; call && i < sizeof laws / sizeof *laws; i++)
        if (strcmp(laws[i].op, call->op->name) == 0)
            laws[i].check(&c);
    if (call)
        advise(&c);
    cx->trace = trace;
}

bool la_check(struct la_ctx *cx, const char *text, const struct la_program *program, struct la_checks *out)
{
    *out = (struct la_checks){0};
    struct request r = {text, program, out};
    struct la_trace *const trace = cx->trace;
    const bool ok = la_try(cx, check, &r);
    cx->trace = trace;
    return ok;
}
