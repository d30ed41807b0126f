/* test_access.c: what instructions and partitions cost, line by line of tests/golden/access.
 *
 *     h200.jsonl    one instruction of one warp, its lanes, and what the hardware counted
 *     facts.jsonl   known facts of whole partitions, each with its source: "traffic" of a memory layout, its
 *                   widest "vectors", and a "swizzle" that is published for the accesses to it
 *     legality.jsonl    descriptors of "wgmma" and tensor maps of "tma", or their refusals
 *
 * Each line is a test of its own, named after its id. */
#include "la.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_LIMIT = 256 << 20 };

/* ---- members of a line --------------------------------------------------------------------------------- */

static const char *text_of(const cJSON *line, const char *name)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(line, name));
}

static int64_t int_of(const cJSON *line, const char *name, int64_t otherwise)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(line, name);
    return item ? (int64_t)item->valuedouble : otherwise;
}

static void expect_int(const cJSON *line, const char *name, int64_t got)
{
    const int64_t wanted = int_of(line, name, got);
    if (wanted != got)
        fail_msg("%s is %lld, not %lld", name, (long long)got, (long long)wanted);
}

static struct la_value value_of(struct la_ctx *cx, const char *text)
{
    struct la_program program;
    if (!la_eval(cx, text, LA_INTEGERS_AUTO, &program))
        fail_msg("%s: %s", text, cx->error.message);
    return program.value;
}

static struct la_layout layout_of(struct la_ctx *cx, const cJSON *line, const char *name)
{
    return value_of(cx, text_of(line, name)).layout;
}

static uint32_t bits_of(struct la_ctx *cx, const cJSON *line)
{
    return la_type_bits(value_of(cx, text_of(line, "type")).type);
}

static enum la_access_op op_of(const cJSON *line)
{
    enum la_access_op op = LA_LOAD;
    assert_true(la_access_op_find(text_of(line, "op"), &op));
    return op;
}

static int32_t lanes_of(const cJSON *line)
{
    return (int32_t)int_of(line, "matrices", 4) * 8;
}

/* ---- one instruction ----------------------------------------------------------------------------------- */

static struct la_access access_of(const cJSON *line)
{
    struct la_access a = {.space = strcmp(text_of(line, "space"), "shared") == 0 ? LA_SHARED : LA_GLOBAL,
                          .op = op_of(line),
                          .bytes = (int32_t)int_of(line, "bytes", 16)};
    const cJSON *lane;
    cJSON_ArrayForEach (lane, cJSON_GetObjectItemCaseSensitive(line, "lanes")) {
        if (cJSON_IsNumber(lane)) {
            a.active |= UINT32_C(1) << a.lanes;
            a.at[a.lanes] = (int64_t)lane->valuedouble;
        }
        a.lanes++;
    }
    return a;
}

/* Hits and costs are two ways to the same number: a phase takes as many wavefronts as its fullest bank has
 * hits. */
static int32_t wavefronts_of_hits(const struct la_access *a)
{
    struct la_hit hits[LA_ACCESS_HITS];
    const size_t n = la_access_hits(a, hits);
    int32_t sum = 0, most = 0, run = 0;
    for (size_t i = 0; i < n; i++) {
        const bool same_phase = i > 0 && hits[i - 1].phase == hits[i].phase;
        run = same_phase && hits[i - 1].bank == hits[i].bank ? run + 1 : 1;
        sum += same_phase ? 0 : most;
        most = same_phase && most > run ? most : run;
    }
    return sum + most;
}

static void test_measured(struct la_ctx *cx, const cJSON *line)
{
    const struct la_access a = access_of(line);
    la_access_check(cx, &a);
    const struct la_cost cost = la_access_cost(&a);
    if (a.space == LA_SHARED) {
        assert_non_null(cJSON_GetObjectItemCaseSensitive(line, "wavefronts"));
        expect_int(line, "wavefronts", cost.wavefronts);
        assert_int_equal(wavefronts_of_hits(&a), cost.wavefronts);
        assert_true(cost.wavefronts_ideal <= cost.wavefronts);
    } else {
        assert_non_null(cJSON_GetObjectItemCaseSensitive(line, "sectors"));
        expect_int(line, "sectors", cost.sectors);
        expect_int(line, "requests", cost.requests);
        assert_true(cost.sectors_ideal <= cost.sectors && cost.lines_ideal <= cost.lines);
    }
    struct la_access moved = a; /* only where in 128 bytes addresses lie is of consequence */
    for (int32_t i = 0; i < a.lanes; i++)
        moved.at[i] += 7 * LA_BASE_BYTES;
    const struct la_cost again = la_access_cost(&moved);
    assert_memory_equal(&again, &cost, sizeof cost);
}

/* ---- partitions ---------------------------------------------------------------------------------------- */

static struct la_partition partition_of(struct la_ctx *cx, const cJSON *line)
{
    if (!text_of(line, "tv"))
        return la_partition_make(cx, layout_of(cx, line, "thr"), layout_of(cx, line, "val"));
    return la_partition_of_tv(cx, layout_of(cx, line, "tv"), value_of(cx, text_of(line, "tile")).tuple);
}

static struct la_traffic traffic_of(struct la_ctx *cx, const cJSON *line, struct la_layout memory,
                                    uint32_t bits, struct la_reach *reach)
{
    const char *space = text_of(line, "space");
    const struct la_partition p = partition_of(cx, line);
    const enum la_access_op op = op_of(line);
    *reach = la_reach_make(cx, &p, memory, bits, 0);
    return la_traffic_of(cx, reach, space && *space == 'g' ? LA_GLOBAL : LA_SHARED, op,
                         la_access_is_matrix(op) ? lanes_of(line) : LA_LANES, int_of(line, "vector", 1));
}

static int32_t ways_of(const struct la_traffic *t)
{
    int32_t ways = 0;
    for (int64_t i = 0; i < t->warps * t->steps; i++)
        ways = t->cost[i].ways > ways ? t->cost[i].ways : ways;
    return ways;
}

static void test_traffic(struct la_ctx *cx, const cJSON *line)
{
    struct la_reach reach;
    const struct la_traffic t = traffic_of(cx, line, layout_of(cx, line, "layout"), bits_of(cx, line),
                                           &reach);
    expect_int(line, "ways", ways_of(&t));
    expect_int(line, "wavefronts", t.all.wavefronts);
    expect_int(line, "ideal", t.all.wavefronts_ideal);
    expect_int(line, "sectors", t.all.sectors);
    expect_int(line, "sectors_ideal", t.all.sectors_ideal);
    expect_int(line, "lines", t.all.lines);
    expect_int(line, "instructions", t.all.instructions);
}

static void test_vectors(struct la_ctx *cx, const cJSON *line)
{
    const struct la_partition p = partition_of(cx, line);
    const uint32_t bits = bits_of(cx, line);
    const struct la_reach reach = la_reach_make(cx, &p, layout_of(cx, line, "layout"), bits, 0);
    const struct la_vectors v = la_vectors_of(cx, &reach);
    expect_int(line, "bits", v.widest * bits);
    expect_int(line, "mode", v.mode);
    if (int_of(line, "stride", 0))
        expect_int(line, "stride", v.stride);
    assert_string_equal(la_stop_name(v.stop), text_of(line, "stop"));
    assert_non_null(v.text);
}

/* ---- the search ---------------------------------------------------------------------------------------- */

/* The published swizzle, costed by itself: the search must find it or a better one. */
static int64_t conflicts_of(struct la_ctx *cx, const cJSON *line, const char *swizzle)
{
    int64_t conflicts = 0;
    const cJSON *access;
    const char *composed = la_format(cx, "composition(%s{},%s)", swizzle, text_of(line, "layout"));
    cJSON_ArrayForEach (access, cJSON_GetObjectItemCaseSensitive(line, "accesses")) {
        struct la_reach reach;
        const struct la_traffic t = traffic_of(cx, access, value_of(cx, composed).layout, bits_of(cx, line),
                                               &reach);
        conflicts += t.all.wavefronts - t.all.wavefronts_ideal;
    }
    return conflicts;
}

static void test_swizzle(struct la_ctx *cx, const cJSON *line)
{
    struct la_search_access accesses[LA_SEARCH_ACCESSES];
    uint32_t n = 0;
    const uint32_t bits = bits_of(cx, line);
    const cJSON *access;
    cJSON_ArrayForEach (access, cJSON_GetObjectItemCaseSensitive(line, "accesses")) {
        const enum la_access_op op = op_of(access);
        accesses[n++] = (struct la_search_access){.part = partition_of(cx, access),
                                                  .op = op,
                                                  .lanes = la_access_is_matrix(op) ? lanes_of(access)
                                                                                   : LA_LANES,
                                                  .vector = int_of(access, "vector", 1)};
    }
    const struct la_search found = la_swizzle_search(cx, layout_of(cx, line, "layout"), bits, n, accesses);
    const int64_t published = conflicts_of(cx, line, text_of(line, "published"));
    assert_true(found.n > 0);
    expect_int(line, "none_conflicts", found.none.wavefronts - found.ideal);
    expect_int(line, "published_conflicts", published);
    expect_int(line, "conflicts", found.best[0].wavefronts - found.ideal);
    assert_true(found.best[0].wavefronts - found.ideal <= published);
    if (int_of(line, "hardware", -1) >= 0)
        expect_int(line, "hardware", la_swizzle_hardware(found.best[0].swizzle, bits));
    if (int_of(line, "padding", 0))
        expect_int(line, "padding", found.padded.padding);
}

/* ---- legality ------------------------------------------------------------------------------------------ */

/* Refused with the sentence that the line holds a piece of, or legal. */
static bool expect_legal(const cJSON *line, bool legal, const char *why)
{
    const char *wanted = text_of(line, "why");
    if (wanted && (legal || !strstr(why, wanted)))
        fail_msg("it must be refused with '%s', not '%s'", wanted, legal ? "nothing" : why);
    if (!wanted && !legal)
        fail_msg("refused: %s", why);
    return legal;
}

static void test_wgmma(struct la_ctx *cx, const cJSON *line)
{
    const bool is_k = strcmp(text_of(line, "major"), "K") == 0;
    const struct la_wgmma w = la_wgmma_of(cx, layout_of(cx, line, "layout"), bits_of(cx, line),
                                          is_k ? LA_MAJOR_K : LA_MAJOR_MN, int_of(line, "mn", 64));
    if (!expect_legal(line, w.legal, w.why))
        return;
    expect_int(line, "swizzle", w.swizzle);
    expect_int(line, "lbo", w.leading);
    expect_int(line, "sbo", w.stride);
    expect_int(line, "alignment", w.alignment);
    assert_int_equal(w.descriptor >> 16 & 0x3fff, (uint64_t)w.leading / 16);
    assert_int_equal(w.descriptor >> 32 & 0x3fff, (uint64_t)w.stride / 16);
    assert_int_equal(w.descriptor >> 62, w.swizzle == 0 ? 0 : w.swizzle == 128 ? 1 : w.swizzle == 64 ? 2 : 3);
}

static int64_t element_of(const cJSON *line, const char *name, uint32_t i)
{
    return (int64_t)cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(line, name), (int)i)->valuedouble;
}

static void test_tma(struct la_ctx *cx, const cJSON *line)
{
    const struct la_tma t = la_tma_of(cx, layout_of(cx, line, "tensor"), layout_of(cx, line, "layout"),
                                      bits_of(cx, line));
    if (!expect_legal(line, t.legal, t.why))
        return;
    expect_int(line, "swizzle", t.swizzle);
    expect_int(line, "instructions", t.instructions);
    expect_int(line, "alignment", t.alignment);
    assert_int_equal(t.rank, cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(line, "box")));
    for (uint32_t i = 0; i < t.rank; i++) {
        assert_int_equal(t.dim[i].box, element_of(line, "box", i));
        assert_int_equal(t.dim[i].mode, element_of(line, "modes", i));
        assert_int_equal(t.dim[i].stride, element_of(line, "strides", i));
        assert_int_equal(t.dim[i].element_stride, 1);
    }
}

/* ---- the lines ----------------------------------------------------------------------------------------- */

struct run {
    const cJSON *line;
    void (*test)(struct la_ctx *cx, const cJSON *line);
};

static void run_line(struct la_ctx *cx, void *arg)
{
    const struct run *run = arg;
    run->test(cx, run->line);
}

static void test_line(void **state)
{
    static const struct {
        const char *kind;
        void (*test)(struct la_ctx *cx, const cJSON *line);
    } kinds[] = {{"traffic", test_traffic},
                 {"vectors", test_vectors},
                 {"swizzle", test_swizzle},
                 {"wgmma", test_wgmma},
                 {"tma", test_tma}};
    const cJSON *line = *state;
    const char *kind = text_of(line, "kind");
    struct la_ctx cx = {.arena = la_arena_new(ARENA_LIMIT)};
    struct run run = {line, kind ? NULL : test_measured};
    for (size_t i = 0; kind && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kind, kinds[i].kind) == 0)
            run.test = kinds[i].test;
    assert_non_null(run.test);
    if (!la_try(&cx, run_line, &run))
        fail_msg("%s: %s", la_error_name(cx.error.code), cx.error.message);
    la_arena_free(cx.arena);
}

struct lines {
    struct CMUnitTest *tests;
    size_t n, capacity;
};

static void add_test(struct lines *lines, struct CMUnitTest test)
{
    if (lines->n == lines->capacity) {
        lines->capacity = 2 * lines->capacity + 256;
        lines->tests = realloc(lines->tests, lines->capacity * sizeof *lines->tests);
        if (!lines->tests)
            abort();
    }
    lines->tests[lines->n++] = test;
}

static void read_lines(struct lines *lines, const char *path)
{
    FILE *f = fopen(path, "r");
    char *text = NULL;
    size_t capacity = 0;
    if (!f) {
        perror(path);
        exit(1);
    }
    while (getline(&text, &capacity, f) > 0) {
        cJSON *line = cJSON_Parse(text);
        if (!text_of(line, "id")) {
            fprintf(stderr, "%s: not a line of a test: %s", path, text);
            exit(1);
        }
        add_test(lines, (struct CMUnitTest){
                            .name = text_of(line, "id"), .test_func = test_line, .initial_state = line});
    }
    free(text);
    fclose(f);
}

int main(void)
{
    struct lines lines = {0};
    read_lines(&lines, "tests/golden/access/h200.jsonl");
    read_lines(&lines, "tests/golden/access/facts.jsonl");
    read_lines(&lines, "tests/golden/access/legality.jsonl");
    const int failed = _cmocka_run_group_tests("access", lines.tests, lines.n, NULL, NULL);
    for (size_t i = 0; i < lines.n; i++)
        cJSON_Delete(lines.tests[i].initial_state);
    free(lines.tests);
    printf("%zu passed, %d failed\n", lines.n - (size_t)failed, failed);
    return failed != 0;
}
