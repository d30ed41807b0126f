/* test_laws.c: the laws of the operations, over all layouts up to a small size and a seeded sample of large ones.
 *
 * CuTe's own unit tests check laws (R(c) == A(B(c)) for all c), not prints; so does this. An answer is taken from la_eval
 * like any other; its points are compared with points computed here, by division and without the algebra. Where CuTe
 * accepts a composition that is not A o B, the law is tested under the strict divisibility that makes it one. */
#include "la.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    ARENA_LIMIT = 16 << 20,
    MAX_MODES = 6,
    SAMPLES = 1500, /* random layouts a law */
    MAX_SIZE = 600  /* of a random layout: some laws compare each pair of points */
};

/* A flat layout of plain numbers, the oracle's own. */
struct flat {
    int n;
    int64_t shape[MAX_MODES], stride[MAX_MODES];
};

static struct la_arena *arena;

static int64_t flat_size(const struct flat *a)
{
    int64_t size = 1;
    for (int i = 0; i < a->n; i++)
        size *= a->shape[i];
    return size;
}

static int64_t flat_at(const struct flat *a, int64_t i)
{
    int64_t offset = 0;
    for (int k = 0; k < a->n; k++) {
        offset += i % a->shape[k] * a->stride[k];
        i /= a->shape[k];
    }
    return offset;
}

/* (_2,_3):(_3,_1), with parentheses drawn around the modes from `group` on when it is not 0. */
static const char *text_of(struct la_ctx *cx, const struct flat *a, int group)
{
    const char *both[2] = {"", ""};
    for (int part = 0; part < 2; part++) {
        for (int i = 0; i < a->n; i++)
            both[part] = la_format(cx, "%s%s%s_%lld", both[part], i ? "," : "",
                                   group && i == group ? "(" : "",
                                   (long long)(part ? a->stride[i] : a->shape[i]));
        both[part] = la_format(cx, "(%s%s)", both[part], group && group < a->n ? ")" : "");
    }
    return la_format(cx, "%s:%s", both[0], both[1]);
}

static struct la_ctx fresh(void)
{
    la_arena_reset(arena);
    return (struct la_ctx){.arena = arena};
}

static bool eval(struct la_ctx *cx, const char *text, struct la_value *out)
{
    struct la_program program;
    if (!la_eval(cx, text, LA_INTEGERS_CUTE, &program))
        return false;
    *out = program.value;
    return true;
}

static struct la_value must(struct la_ctx *cx, const char *text)
{
    struct la_value v = {0};
    if (!eval(cx, text, &v))
        fail_msg("%s is refused: %s", text, cx->error.message);
    return v;
}

/* All offsets of a layout, in order. */
static int64_t *points(struct la_ctx *cx, struct la_value v, int64_t *n)
{
    struct la_table t;
    assert_true(v.kind & (LA_K_LAYOUT | LA_K_COMPOSED));
    if (!la_table(cx, v.layout, 1 << 20, &t))
        fail_msg("no table: %s", cx->error.message);
    *n = t.rows * t.cols;
    int64_t *p = la_alloc(cx, (size_t)(*n + 1) * sizeof *p);
    for (int64_t r = 0; r < t.rows; r++)
        for (int64_t c = 0; c < t.cols; c++)
            p[c * t.rows + r] = t.offsets[r * t.cols + c];
    return p;
}

/* ---- which layouts ---- */

static uint64_t seed = 20261129;

static int64_t random_below(int64_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (int64_t)(seed % (uint64_t)n);
}

/* Compact in a random order of modes, then a stride changed now and then: gaps, overlaps, broadcasts. */
static struct flat random_layout(void)
{
    static const int64_t extents[] = {1, 2, 2, 3, 4, 4, 5, 6, 7, 8, 9, 12, 16};
    struct flat a = {.n = 1 + (int)random_below(4)};
    int order[MAX_MODES] = {0};
    for (int i = 0; i < a.n; i++) {
        a.shape[i] = extents[random_below((int64_t)(sizeof extents / sizeof *extents))];
        order[i] = i;
    }
    for (int i = a.n - 1; i > 0; i--) {
        const int j = (int)random_below(i + 1), t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
    while (flat_size(&a) > MAX_SIZE)
        a.shape[random_below(a.n)] = 2;
    int64_t stride = 1;
    for (int i = 0; i < a.n; i++) {
        a.stride[order[i]] = stride;
        stride *= a.shape[order[i]] * (random_below(5) == 0 ? 2 : 1);
    }
    if (random_below(4) == 0)
        a.stride[random_below(a.n)] = random_below(9);
    return a;
}

/* Calls f with every layout of up to two modes with small extents and strides, then with random ones. */
static void each_layout(void (*f)(const struct flat *a))
{
    static const int64_t strides[] = {0, 1, 2, 3, 4, 6, 8};
    enum { N = sizeof strides / sizeof *strides };
    for (int64_t s0 = 1; s0 <= 6; s0++)
        for (int d0 = 0; d0 < N; d0++) {
            f(&(struct flat){1, {s0}, {strides[d0]}});
            for (int64_t s1 = 1; s1 <= 4; s1++)
                for (int d1 = 0; d1 < N; d1++)
                    f(&(struct flat){2, {s0, s1}, {strides[d0], strides[d1]}});
        }
    for (int i = 0; i < SAMPLES; i++) {
        const struct flat a = random_layout();
        f(&a);
    }
}

/* ---- one argument ---- */

static void check_same_points(const struct flat *a, const char *format)
{
    for (int group = 0; group < a->n; group++) {
        struct la_ctx cx = fresh();
        const char *text = la_format(&cx, format, text_of(&cx, a, group));
        int64_t n;
        const int64_t *p = points(&cx, must(&cx, text), &n);
        assert_int_equal(n, flat_size(a));
        for (int64_t i = 0; i < n; i++)
            if (p[i] != flat_at(a, i))
                fail_msg("%s: at %lld it is %lld, not %lld", text, (long long)i, (long long)p[i],
                         (long long)flat_at(a, i));
    }
}

static void keeps_points(const struct flat *a)
{
    check_same_points(a, "%s");
    check_same_points(a, "flatten(%s)");
    check_same_points(a, "coalesce(%s)");
}

static void law_coalesce(void **state)
{
    (void)state;
    each_layout(keeps_points);
}

/* The run-time reading of the same numbers gives the same function, and what is printed parses to the same. */
static void reads_alike(const struct flat *a)
{
    struct la_ctx cx = fresh();
    const char *text = text_of(&cx, a, a->n - 1);
    struct la_program program;
    const struct la_value v = must(&cx, text);
    const char *bare = la_print(&cx, &v, LA_SPELL_TEXT);
    assert_true(la_eval(&cx, bare, LA_INTEGERS_CUTE, &program));
    int64_t n, m;
    const int64_t *p = points(&cx, v, &n), *q = points(&cx, program.value, &m);
    assert_int_equal(n, m);
    assert_memory_equal(p, q, (size_t)n * sizeof *p);
    const struct la_value again = must(&cx, la_print(&cx, &v, LA_SPELL_CUTE));
    assert_string_equal(la_print(&cx, &again, LA_SPELL_CUTE), la_print(&cx, &v, LA_SPELL_CUTE));
    for (int64_t i = 0; i < n && i < 50; i++) {
        const struct la_value at = must(&cx, la_format(&cx, "L=%s; L(%lld)", bare, (long long)i));
        assert_int_equal(at.tuple->value, flat_at(a, i));
    }
}

static void law_readings(void **state)
{
    (void)state;
    each_layout(reads_alike);
}

/* Each stride is a multiple of the span of the smaller ones: only then the complement is as large as it must be. */
static bool nested(const struct flat *a)
{
    struct flat b = *a;
    int64_t reached = 1;
    for (int k = 0; k < b.n; k++) {
        int least = -1;
        for (int i = 0; i < b.n; i++)
            if (b.shape[i] > 1 && b.stride[i] > 0 && (least < 0 || b.stride[i] < b.stride[least]))
                least = i;
        if (least < 0)
            return true;
        if (b.stride[least] % reached != 0)
            return false;
        reached = b.stride[least] * b.shape[least];
        b.shape[least] = 1;
    }
    return true;
}

static void complement_is_disjoint(const struct flat *a)
{
    struct la_ctx cx = fresh();
    const int64_t target = flat_size(a) * (1 + random_below(4)) + random_below(3);
    const char *text = la_format(&cx, "complement(%s, _%lld)", text_of(&cx, a, 0), (long long)target);
    struct la_value v;
    if (!eval(&cx, text, &v)) {
        assert_int_equal(cx.error.code, LA_E_non_injective);
        return;
    }
    int64_t n, distinct = 0;
    const int64_t *c = points(&cx, v, &n), size = flat_size(a);
    for (int64_t i = 1; i < n; i++)
        if (c[i] <= c[i - 1])
            fail_msg("%s = %s is not ordered", text, la_print(&cx, &v, LA_SPELL_CUTE));
    for (int64_t i = 0; i < size; i++) {
        bool seen = false;
        for (int64_t k = 0; k < i && !seen; k++)
            seen = flat_at(a, k) == flat_at(a, i);
        distinct += !seen;
        for (int64_t k = 1; k < n; k++)
            if (c[k] == flat_at(a, i) && a->n == 1) /* overlapping modes of a are not injective as a whole */
                fail_msg("%s = %s meets A in %lld", text, la_print(&cx, &v, LA_SPELL_CUTE), (long long)c[k]);
    }
    if (nested(a) && distinct * n < target)
        fail_msg("%s = %s: %lld * %lld < %lld", text, la_print(&cx, &v, LA_SPELL_CUTE), (long long)distinct,
                 (long long)n, (long long)target);
}

static void law_complement(void **state)
{
    (void)state;
    each_layout(complement_is_disjoint);
}

static void right_inverse_inverts(const struct flat *a)
{
    struct la_ctx cx = fresh();
    const char *text = la_format(&cx, "right_inverse(%s)", text_of(&cx, a, 0));
    int64_t n;
    const int64_t *r = points(&cx, must(&cx, text), &n);
    for (int64_t i = 0; i < n; i++)
        if (flat_at(a, r[i]) != i)
            fail_msg("%s: A(R(%lld)) is %lld", text, (long long)i, (long long)flat_at(a, r[i]));
}

static void left_inverse_inverts(const struct flat *a)
{
    struct la_ctx cx = fresh();
    const char *layout = text_of(&cx, a, 0), *text = la_format(&cx, "left_inverse(%s)", layout);
    struct la_value v;
    if (!eval(&cx, text, &v)) {
        assert_int_equal(cx.error.code, LA_E_divisibility);
        return;
    }
    bool injective = true;
    const int64_t size = flat_size(a);
    for (int64_t i = 0; i < size && injective; i++)
        for (int64_t k = 0; k < i && injective; k++)
            injective = flat_at(a, k) != flat_at(a, i);
    if (!injective)
        return;
    int64_t n;
    const int64_t *l = points(&cx, v, &n);
    for (int64_t i = 0; i < size; i++)
        if (flat_at(a, i) >= n || l[flat_at(a, i)] != i)
            fail_msg("%s: L(A(%lld)) is not %lld", text, (long long)i, (long long)i);
}

static void law_inverses(void **state)
{
    (void)state;
    each_layout(right_inverse_inverts);
    for (int i = 0; i < SAMPLES / 4; i++) {
        const struct flat a = random_layout();
        left_inverse_inverts(&a);
    }
}

/* ---- two arguments ---- */

/* The strict conditions under which a leaf s:d of B composes with A: d walks whole modes or divides one, and s ends
 * with a mode or divides it. */
static bool leaf_fits(const struct flat *a, int64_t s, int64_t d)
{
    for (int i = 0; i + 1 < a->n; i++) {
        const int64_t extent = a->shape[i];
        if (d % extent == 0 && d > 0) {
            d /= extent;
            continue;
        }
        if (d == 0 || extent % d != 0)
            return d == 0;
        const int64_t reachable = extent / d;
        if (s <= reachable)
            return reachable % s == 0;
        if (s % reachable != 0)
            return false;
        s /= reachable;
        d = 1;
    }
    return true;
}

static bool composes(const struct flat *a, const struct flat *b)
{
    int64_t largest = 0;
    for (int i = 0; i < b->n; i++) {
        if (!leaf_fits(a, b->shape[i], b->stride[i]))
            return false;
        largest += (b->shape[i] - 1) * b->stride[i];
    }
    /* the sum of two leaves must not carry from one mode of A into the next: one leaf a mode, or A as one mode */
    return largest < flat_size(a) && (b->n == 1 || a->n == 1);
}

static void composition_composes(const struct flat *a, const struct flat *b)
{
    if (!composes(a, b))
        return;
    struct la_ctx cx = fresh();
    const char *text = la_format(&cx, "composition(%s, %s)", text_of(&cx, a, 0), text_of(&cx, b, 0));
    struct la_value v;
    if (!eval(&cx, text, &v)) { /* refused although it fits: only where A's own coalescing hides the fit */
        assert_true(cx.error.code == LA_E_stride_divisibility || cx.error.code == LA_E_shape_divisibility);
        fail_msg("%s is refused: %s", text, cx.error.message);
    }
    int64_t n;
    const int64_t *r = points(&cx, v, &n);
    assert_int_equal(n, flat_size(b));
    for (int64_t i = 0; i < n; i++)
        if (r[i] != flat_at(a, flat_at(b, i)))
            fail_msg("%s = %s: at %lld it is %lld, not %lld", text, la_print(&cx, &v, LA_SPELL_CUTE),
                     (long long)i, (long long)r[i], (long long)flat_at(a, flat_at(b, i)));
}

static void composition_with_all(const struct flat *a)
{
    static const int64_t divisors[] = {1, 2, 3, 4, 6, 8, 12};
    enum { N = sizeof divisors / sizeof *divisors };
    for (int s = 0; s < N; s++)
        for (int d = 0; d < N; d++)
            composition_composes(a, &(struct flat){1, {divisors[s]}, {divisors[d]}});
}

static void law_composition(void **state)
{
    (void)state;
    each_layout(composition_with_all);
}

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Two layouts with the same values, whatever their coordinates. */
static void check_same_values(struct la_ctx *cx, const char *one, const char *other)
{
    int64_t n, m;
    int64_t *p = points(cx, must(cx, one), &n), *q = points(cx, must(cx, other), &m);
    if (n != m)
        fail_msg("%s has %lld elements, %s has %lld", one, (long long)n, other, (long long)m);
    qsort(p, (size_t)n, sizeof *p, by_value);
    qsort(q, (size_t)m, sizeof *q, by_value);
    if (memcmp(p, q, (size_t)n * sizeof *p) != 0)
        fail_msg("%s and %s have different values", one, other);
}

static void divide_is_composition(const struct flat *a)
{
    struct la_ctx cx = fresh();
    const int64_t tile = 1 + random_below(8), step = 1 + random_below(3);
    const char *layout = text_of(&cx, a, 0),
               *tiler = la_format(&cx, "_%lld:_%lld", (long long)tile, (long long)step);
    const char *divide = la_format(&cx, "logical_divide(%s, %s)", layout, tiler);
    struct la_value v;
    if (!eval(&cx, divide, &v))
        return;
    const struct la_value w = must(
        &cx, la_format(&cx, "A=%s; B=%s; composition(A, make_layout(B, complement(B, shape(coalesce(A)))))",
                       layout, tiler));
    assert_string_equal(la_print(&cx, &v, LA_SPELL_CUTE), la_print(&cx, &w, LA_SPELL_CUTE));
    static const char *const others[] = {"zipped", "tiled", "flat"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        check_same_values(&cx, divide, la_format(&cx, "%s_divide(%s, %s)", others[i], layout, tiler));
}

static void product_repeats(const struct flat *a)
{
    struct la_ctx cx = fresh();
    const struct flat b = {2, {1 + random_below(3), 1 + random_below(4)}, {1, 0}};
    struct flat tiler = b;
    tiler.stride[1] = tiler.shape[0];
    const char *args = la_format(&cx, "(%s, %s)", text_of(&cx, a, 0), text_of(&cx, &tiler, 0));
    const char *product = la_format(&cx, "logical_product%s", args);
    struct la_value v;
    if (!eval(&cx, product, &v))
        return;
    const struct la_value block = must(&cx, la_format(&cx, "get<0>(%s)", product));
    assert_string_equal(la_print(&cx, &block, LA_SPELL_CUTE), text_of(&cx, a, 0));
    static const char *const others[] = {"zipped", "tiled", "flat", "blocked", "raked"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        check_same_values(&cx, product, la_format(&cx, "%s_product%s", others[i], args));
}

static void law_tiling(void **state)
{
    (void)state;
    each_layout(divide_is_composition);
    each_layout(product_repeats);
}

/* Law: each axis of tile_to_shape has the target's extent. */
static void law_tile_to_shape(void **state)
{
    (void)state;
    for (int i = 0; i < SAMPLES; i++) {
        struct la_ctx cx = fresh();
        const int64_t s0 = 1 + random_below(6), s1 = 1 + random_below(6), t0 = 1 + random_below(4),
                      t1 = 1 + random_below(4);
        const char *text = la_format(
            &cx, "L=tile_to_shape((_%lld,_%lld):(_%lld,_1), (_%lld,_%lld)); product_each(shape(L))",
            (long long)s0, (long long)s1, (long long)s1, (long long)(s0 * t0), (long long)(s1 * t1));
        const struct la_value v = must(&cx, text);
        assert_string_equal(la_print(&cx, &v, LA_SPELL_TEXT),
                            la_format(&cx, "(%lld,%lld)", (long long)(s0 * t0), (long long)(s1 * t1)));
    }
}

/* A swizzle is its own inverse, and a bijection of each aligned block that holds its bits. */
static void law_swizzle(void **state)
{
    (void)state;
    for (int b = 0; b <= 4; b++)
        for (int m = 0; m <= 4; m++)
            for (int s = -5; s <= 5; s++) {
                if (abs(s) < b)
                    continue;
                struct la_ctx cx = fresh();
                for (int64_t x = 0; x < 1 << 14; x += 1 + random_below(97)) {
                    const char *sw = la_format(&cx, "S=Swizzle<%d,%d,%d>{};", b, m, s);
                    const struct la_value v = must(&cx, la_format(&cx, "%s S(S(%lld))", sw, (long long)x));
                    assert_int_equal(v.tuple->value, x);
                }
            }
}

/* Huge and deep: an answer or an error, never a wrong number, at once. */
static void law_limits(void **state)
{
    (void)state;
    struct la_ctx cx = fresh();
    struct la_value v = must(&cx, "size((_2147483648,_2147483648):(_1,_2147483648))");
    assert_string_equal(la_print(&cx, &v, LA_SPELL_CUTE), "_4611686018427387904");
    assert_false(eval(&cx, "size((_4294967296,_4294967296):(_1,_1))", &v));
    assert_int_equal(cx.error.code, LA_E_overflow);
    const char *deep = "_2";
    for (int i = 0; i < 64; i++)
        deep = la_format(&cx, "(%s,_2)", deep);
    v = must(&cx, la_format(&cx, "depth(%s)", deep));
    assert_string_equal(la_print(&cx, &v, LA_SPELL_CUTE), "_64");
    char *wide = la_alloc(&cx, 40004);
    wide[0] = '(';
    for (int i = 0; i < 10000; i++)
        memcpy(wide + 1 + 3 * i, "_1,", 3);
    memcpy(wide + 30000, ")", 2);
    v = must(&cx, la_format(&cx, "rank(coalesce(make_layout(%s)))", wide));
    assert_string_equal(la_print(&cx, &v, LA_SPELL_CUTE), "_1");
    v = must(&cx, la_format(&cx, "rank(%s)", wide));
    assert_string_equal(la_print(&cx, &v, LA_SPELL_CUTE), "_10000");
}

int main(void)
{
    arena = la_arena_new(ARENA_LIMIT);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(law_coalesce),      cmocka_unit_test(law_readings),
        cmocka_unit_test(law_complement),    cmocka_unit_test(law_inverses),
        cmocka_unit_test(law_composition),   cmocka_unit_test(law_tiling),
        cmocka_unit_test(law_tile_to_shape), cmocka_unit_test(law_swizzle),
        cmocka_unit_test(law_limits),
    };
    const int failed = cmocka_run_group_tests_name("laws", tests, NULL, NULL);
    printf("%zu passed, %d failed\n", sizeof tests / sizeof *tests - (size_t)failed, failed);
    la_arena_free(arena);
    return failed != 0;
}
