/* test_traffic.c: laws of the analyses, on partitions drawn from a seed, against the plainest way to compute
 * the same.
 *
 * The twin here walks over all tiles, threads and values one by one, evaluates each offset from the
 * coordinate with nothing but strides and one xor, and counts words and sectors in sorted lists. What reach.c
 * adds up from a few kinds of tiles, and access.c from chains and masks, must be the same numbers. Each case
 * is a test that names its layouts. */
#include "la.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASES = 1500, ARENA_LIMIT = 256 << 20, RANK = 2, MEMORY = 512 };

static uint64_t seed = 1;

static int64_t draw(int64_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((seed >> 33) % (uint64_t)n);
}

static int64_t pick(const int64_t *from, size_t n)
{
    return from[draw((int64_t)n)];
}
#define PICK(...) pick((const int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

/* ---- a case -------------------------------------------------------------------------------------------- */

/* A memory of two modes, each of two leaves: ((a,b),(c,d)):((A,B),(C,D)), behind a swizzle or not. */
struct drawn {
    char name[288];
    int64_t thr[RANK], val[RANK], tile[RANK], extent[RANK];
    bool thr_by_row;
    int64_t leaf[RANK][2], stride[RANK][2];
    int bits_s, base_s, shift_s; /* of the swizzle */
    uint32_t bits;               /* of an element */
    enum la_space space;
    enum la_access_op op;
};

static void draw_partition(struct drawn *d)
{
    d->thr_by_row = draw(2);
    for (int k = 0; k < RANK; k++) {
        d->thr[k] = PICK(1, 2, 4, 8, 16, 3);
        d->val[k] = PICK(1, 1, 2, 4, 8);
        d->tile[k] = d->thr[k] * d->val[k];
    }
}

/* Extents that the tile divides or not; strides compact in either order, padded, or anything. */
static void draw_memory(struct drawn *d)
{
    const bool by_row = draw(2);
    for (int k = 0; k < RANK; k++) {
        const int64_t times = 1 + draw(4);
        d->leaf[k][0] = d->tile[k] * times;
        d->leaf[k][1] = draw(3) ? 1 : 2;
        if (draw(4) == 0) { /* only one leaf may be cut short */
            d->leaf[k][0] = d->tile[k] * times + draw(d->tile[k] * 2) - d->tile[k] / 2;
            d->leaf[k][0] = d->leaf[k][0] < 1 ? 1 : d->leaf[k][0];
            d->leaf[k][1] = 1;
        }
        d->extent[k] = d->leaf[k][0] * d->leaf[k][1];
    }
    const int64_t inner = by_row ? 1 : 0, outer = 1 - inner, padding = draw(2) ? 0 : PICK(1, 4, 8, 3);
    const int64_t row = d->extent[inner] + padding;
    d->stride[inner][0] = draw(8) ? 1 : PICK(0, 2, -1);
    d->stride[inner][1] = d->leaf[inner][0];
    d->stride[outer][0] = row;
    d->stride[outer][1] = row * d->leaf[outer][0] + (draw(2) ? 0 : PICK(8, 64, 5));
}

static void draw_access(struct drawn *d)
{
    d->bits = (uint32_t)PICK(4, 8, 16, 16, 32, 32, 64, 128);
    d->space = draw(2) ? LA_SHARED : LA_GLOBAL;
    d->op = draw(2) ? LA_LOAD : LA_STORE;
    d->bits_s = draw(2) ? 0 : (int)PICK(1, 2, 3);
    d->base_s = (int)draw(5);
    d->shift_s = (int)PICK(3, 3, 4, -3);
}

/* One mode: (a,b) and (A,B), or a and A when b is 1. */
static const char *pair_text(char out[64], int64_t a, int64_t b, bool both)
{
    if (both)
        snprintf(out, 64, "(%lld,%lld)", (long long)a, (long long)b);
    else
        snprintf(out, 64, "%lld", (long long)a);
    return out;
}

static void name_case(struct drawn *d, char thr[128], char val[128], char memory[MEMORY])
{
    char text[4][64];
    const bool both[RANK] = {d->leaf[0][1] > 1, d->leaf[1][1] > 1};
    snprintf(thr, 128, "(%lld,%lld):(%lld,%lld)", (long long)d->thr[0], (long long)d->thr[1],
             (long long)(d->thr_by_row ? d->thr[1] : 1), (long long)(d->thr_by_row ? 1 : d->thr[0]));
    snprintf(val, 128, "(%lld,%lld):(%lld,1)", (long long)d->val[0], (long long)d->val[1],
             (long long)d->val[1]);
    int n = 0;
    if (d->bits_s)
        n = snprintf(memory, MEMORY, "composition(Swizzle<%d,%d,%d>{},", d->bits_s, d->base_s, d->shift_s);
    snprintf(memory + n, MEMORY - (size_t)n, "(%s,%s):(%s,%s)%s",
             pair_text(text[0], d->leaf[0][0], d->leaf[0][1], both[0]),
             pair_text(text[1], d->leaf[1][0], d->leaf[1][1], both[1]),
             pair_text(text[2], d->stride[0][0], d->stride[0][1], both[0]),
             pair_text(text[3], d->stride[1][0], d->stride[1][1], both[1]), d->bits_s ? ")" : "");
    snprintf(d->name, sizeof d->name, "%.60s %.60s %.120s %u", thr, val, memory, d->bits);
}

/* ---- the twin ------------------------------------------------------------------------------------------ */

static int64_t offset_of(const struct drawn *d, const int64_t coord[RANK])
{
    int64_t x = 0;
    for (int k = 0; k < RANK; k++)
        x += coord[k] % d->leaf[k][0] * d->stride[k][0] + coord[k] / d->leaf[k][0] * d->stride[k][1];
    if (!d->bits_s)
        return x;
    const int low = d->base_s, high = d->base_s + (d->shift_s < 0 ? -d->shift_s : d->shift_s);
    for (int i = 0; i < d->bits_s; i++) {
        const int from = d->shift_s > 0 ? high : low, to = d->shift_s > 0 ? low : high;
        x ^= (x >> (from + i) & 1) << (to + i);
    }
    return x;
}

/* The coordinate of value v of thread t: where thr and val put them in the tile at `tile`. */
static void coord_of(const struct drawn *d, int64_t t, int64_t v, const int64_t tile[RANK],
                     int64_t coord[RANK])
{
    const int64_t tc[RANK] = {d->thr_by_row ? t / d->thr[1] : t % d->thr[0],
                              d->thr_by_row ? t % d->thr[1] : t / d->thr[0]};
    const int64_t vc[RANK] = {v / d->val[1], v % d->val[1]};
    for (int k = 0; k < RANK; k++)
        coord[k] = tile[k] * d->tile[k] + tc[k] * d->val[k] + vc[k];
}

static bool inside(const struct drawn *d, const int64_t coord[RANK])
{
    return coord[0] < d->extent[0] && coord[1] < d->extent[1];
}

static int ascending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int64_t distinct(int64_t *list, size_t n)
{
    int64_t count = 0;
    qsort(list, n, sizeof *list, ascending);
    for (size_t i = 0; i < n; i++)
        count += i == 0 || list[i] != list[i - 1];
    return count;
}

/* Lanes of one instruction: byte addresses, or none. */
struct lanes {
    bool on[LA_LANES];
    int64_t at[LA_LANES];
};

static int64_t sectors_of(const struct lanes *l)
{
    int64_t list[LA_LANES] = {0};
    size_t n = 0;
    for (int i = 0; i < LA_LANES; i++)
        if (l->on[i])
            list[n++] = l->at[i] >> 5;
    return distinct(list, n);
}

static int64_t wavefronts_of_group(const struct lanes *l, int begin, int end, int bytes)
{
    int64_t most = 0;
    for (int bank = 0; bank < LA_BANKS; bank++) {
        int64_t list[4 * LA_LANES] = {0};
        size_t n = 0;
        for (int i = begin; i < end; i++)
            for (int64_t word = l->at[i] >> 2; l->on[i] && word <= (l->at[i] + bytes - 1) >> 2; word++)
                if ((word & (LA_BANKS - 1)) == bank)
                    list[n++] = word;
        const int64_t words = distinct(list, n);
        most = words > most ? words : most;
    }
    return most;
}

static bool shared_by_pairs(const struct lanes *l, int x)
{
    for (int i = 0; i < LA_LANES; i++)
        if (l->on[i] && l->on[i ^ x] && l->at[i] != l->at[i ^ x])
            return false;
    return true;
}

static int64_t wavefronts_of(const struct lanes *l, int bytes, enum la_access_op op)
{
    int group = bytes <= 4 ? 32 : 128 / bytes;
    int64_t sum = 0;
    if (bytes > 4 && op == LA_LOAD && (shared_by_pairs(l, 1) || shared_by_pairs(l, 2)))
        group *= 2;
    for (int i = 0; i < LA_LANES; i += group)
        sum += wavefronts_of_group(l, i, i + group, bytes);
    return sum;
}

struct twin {
    int64_t instructions, wavefronts, sectors;
};

static void add_instruction(const struct drawn *d, const int64_t tile[RANK], int64_t warp, int64_t step,
                            int64_t vector, struct twin *sum)
{
    struct lanes l = {0};
    bool any = false;
    const int64_t threads = d->thr[0] * d->thr[1], bits = vector * d->bits;
    const int bytes = bits < 8 ? 1 : (int)(bits / 8);
    for (int i = 0; i < LA_LANES && warp * LA_LANES + i < threads; i++) {
        int64_t coord[RANK];
        for (int64_t v = 0; v < vector; v++) {
            coord_of(d, warp * LA_LANES + i, step * vector + v, tile, coord);
            l.on[i] = l.on[i] || inside(d, coord);
        }
        coord_of(d, warp * LA_LANES + i, step * vector, tile, coord);
        l.at[i] = offset_of(d, coord) * d->bits >> 3;
        any = any || l.on[i];
    }
    sum->instructions += any;
    if (d->space == LA_SHARED)
        sum->wavefronts += wavefronts_of(&l, bytes, d->op);
    else
        sum->sectors += sectors_of(&l);
}

static struct twin twin_of(const struct drawn *d, int64_t vector)
{
    struct twin sum = {0};
    const int64_t warps = (d->thr[0] * d->thr[1] + LA_LANES - 1) / LA_LANES,
                  steps = d->val[0] * d->val[1] / vector;
    int64_t tile[RANK];
    for (tile[0] = 0; tile[0] * d->tile[0] < d->extent[0]; tile[0]++)
        for (tile[1] = 0; tile[1] * d->tile[1] < d->extent[1]; tile[1]++)
            for (int64_t warp = 0; warp < warps; warp++)
                for (int64_t step = 0; step < steps; step++)
                    add_instruction(d, tile, warp, step, vector, &sum);
    return sum;
}

/* Is each value aligned that begins an access, and each other one behind its neighbour? What lies outside is
 * free. */
static bool value_fits(const struct drawn *d, const int64_t tile[RANK], int64_t t, int64_t v, int64_t w)
{
    int64_t coord[RANK], next[RANK];
    coord_of(d, t, v, tile, coord);
    if (!inside(d, coord))
        return true;
    const int64_t at = offset_of(d, coord);
    if (v % w == 0 && (at & (w - 1)) != 0)
        return false;
    if ((v + 1) % w == 0)
        return true;
    coord_of(d, t, v + 1, tile, next);
    return !inside(d, next) || offset_of(d, next) == at + 1;
}

static bool vector_fits(const struct drawn *d, int64_t w)
{
    const int64_t values = d->val[0] * d->val[1];
    int64_t tile[RANK];
    if (values % w != 0 || w * d->bits > LA_VECTOR_BITS)
        return false;
    for (tile[0] = 0; tile[0] * d->tile[0] < d->extent[0]; tile[0]++)
        for (tile[1] = 0; tile[1] * d->tile[1] < d->extent[1]; tile[1]++)
            for (int64_t t = 0; t < d->thr[0] * d->thr[1]; t++)
                for (int64_t v = 0; v < values; v++)
                    if (!value_fits(d, tile, t, v, w))
                        return false;
    return true;
}

/* ---- the tests ----------------------------------------------------------------------------------------- */

static struct la_layout layout_of(struct la_ctx *cx, const char *text)
{
    struct la_program program;
    if (!la_eval(cx, text, LA_INTEGERS_STATIC, &program))
        fail_msg("%s: %s", text, cx->error.message);
    return program.value.layout;
}

static void check_facts(struct la_ctx *cx, struct la_layout memory)
{
    const struct la_facts f = la_facts_of(cx, memory);
    int64_t *offsets = la_alloc(cx, (size_t)f.size * sizeof *offsets);
    la_offsets(cx, memory, f.size, offsets);
    if (f.linear)
        for (int64_t i = 0; i < f.size; i++) {
            int64_t x = 0;
            for (uint32_t j = 0; j < f.bits; j++)
                x ^= i >> j & 1 ? f.column[j] : 0;
            assert_int_equal(x, offsets[i]);
        }
    assert_true(f.counted);
    assert_int_equal(distinct(offsets, (size_t)f.size), f.distinct);
    assert_int_equal(offsets[0], f.low);
    assert_int_equal(offsets[f.size - 1], f.high);
    assert_int_equal(f.injective, f.distinct == f.size);
    assert_int_equal(f.unused, f.high - f.low + 1 - f.distinct);
    if (f.linear)
        assert_int_equal(f.injective, f.rank == f.bits);
}

static void check_case(struct la_ctx *cx, void *arg)
{
    struct drawn *d = arg;
    char thr[128], val[128], memory[MEMORY];
    name_case(d, thr, val, memory);
    const struct la_partition p = la_partition_make(cx, layout_of(cx, thr), layout_of(cx, val));
    const struct la_reach r = la_reach_make(cx, &p, layout_of(cx, memory), d->bits, 0);
    const struct la_vectors v = la_vectors_of(cx, &r);
    assert_true(v.widest == 1 || vector_fits(d, v.widest));
    assert_false(vector_fits(d, 2 * v.widest));
    const struct la_coverage c = la_coverage_of(cx, &p);
    assert_int_equal(c.missed + c.doubled + c.outside, 0);
    for (int64_t vector = 1; vector <= v.widest; vector *= 2) {
        const struct la_traffic t = la_traffic_of(cx, &r, d->space, d->op, LA_LANES, vector);
        const struct twin twin = twin_of(d, vector);
        assert_int_equal(t.all.instructions, twin.instructions);
        assert_int_equal(t.all.wavefronts, twin.wavefronts);
        assert_int_equal(t.all.sectors, twin.sectors);
        assert_true(t.all.wavefronts >= t.all.wavefronts_ideal && t.all.sectors >= t.all.sectors_ideal);
    }
    check_facts(cx, r.memory);
}

/* What the search says of a swizzle is what traffic says of the swizzled layout. */
static void check_search(struct la_ctx *cx, void *arg)
{
    struct drawn *d = arg;
    char thr[128], val[128], memory[MEMORY];
    d->bits_s = 0;
    name_case(d, thr, val, memory);
    const struct la_layout plain = layout_of(cx, memory);
    const struct la_partition p = la_partition_make(cx, layout_of(cx, thr), layout_of(cx, val));
    const struct la_reach r = la_reach_make(cx, &p, plain, d->bits, 0);
    const struct la_search_access access = {p, d->op, LA_LANES, la_vectors_of(cx, &r).widest};
    const struct la_search s = la_swizzle_search(cx, plain, d->bits, 1, &access);
    for (uint32_t i = 0; i < s.n; i++) {
        const struct la_swizzle w = s.best[i].swizzle;
        const struct la_layout swizzled = layout_of(
            cx, la_format(cx, "composition(Swizzle<%d,%d,%d>{},%s)", w.bits, w.base, w.shift, memory));
        const struct la_reach again = la_reach_make(cx, &p, swizzled, d->bits, 0);
        const struct la_traffic t = la_traffic_of(cx, &again, LA_SHARED, d->op, LA_LANES, access.vector);
        assert_int_equal(t.all.wavefronts, s.best[i].wavefronts);
        assert_int_equal(t.all.wavefronts_ideal, s.ideal);
        assert_true(i == 0 || s.best[i - 1].wavefronts <= s.best[i].wavefronts);
        assert_true(la_facts_of(cx, swizzled).high <= la_facts_of(cx, plain).high);
    }
    if (s.paddable) {
        const struct la_reach again = la_reach_make(cx, &p, s.padded_layout, d->bits, 0);
        const struct la_traffic t = la_traffic_of(cx, &again, LA_SHARED, d->op, LA_LANES, access.vector);
        assert_int_equal(t.all.wavefronts, s.padded.wavefronts);
    }
}

static void run(struct drawn *d, void (*body)(struct la_ctx *cx, void *arg))
{
    struct la_ctx cx = {.arena = la_arena_new(ARENA_LIMIT)};
    if (!la_try(&cx, body, d))
        fail_msg("%s: %s: %s", d->name, la_error_name(cx.error.code), cx.error.message);
    la_arena_free(cx.arena);
}

static void test_case(void **state)
{
    run(*state, check_case);
}

static void test_search(void **state)
{
    run(*state, check_search);
}

/* A broadcast or a reversed mode has no swizzle to be searched. */
static bool searchable(const struct drawn *d)
{
    bool ascends = true;
    for (int k = 0; k < RANK; k++)
        ascends = ascends && d->stride[k][0] > 0 && d->stride[k][1] > 0;
    return ascends;
}

int main(void)
{
    static struct drawn drawn[CASES];
    static struct CMUnitTest tests[2 * CASES];
    size_t n = 0;
    for (int i = 0; i < CASES; i++) {
        struct drawn *d = &drawn[i];
        char thr[128], val[128], memory[MEMORY];
        draw_partition(d);
        draw_memory(d);
        draw_access(d);
        name_case(d, thr, val, memory);
        tests[n++] = (struct CMUnitTest){.name = d->name, .test_func = test_case, .initial_state = d};
        if (i % 4 == 0 && searchable(d) && !d->bits_s)
            tests[n++] = (struct CMUnitTest){.name = d->name, .test_func = test_search, .initial_state = d};
    }
    const int failed = _cmocka_run_group_tests("traffic", tests, n, NULL, NULL);
    printf("%zu passed, %d failed\n", n - (size_t)failed, failed);
    return failed != 0;
}
