/* bench_access.c: how fast a partition is analysed, each figure beside a ceiling that is measured in the same
 * run.
 *
 * An analysis is all that /copy says of one side: the partition made from thr and val, coverage, reach,
 * vectors, the cost of every instruction in all tiles, the facts of the layout. No analysis can be faster
 * than writing down where each thread's values lie: that enumeration (la_offsets of the TV layout composed
 * with the memory) is the ceiling. The goal is "well under a millisecond" for 256 threads and a tile of
 * 128x64. Searches for a swizzle stand beside the cost of their instructions one by one, unswizzled, as often
 * as there are candidates. */
#include "la.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    RUNS = 21, /* the median is shown */
    ARENA_LIMIT = 64 << 20
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct side {
    const char *name, *val, *memory;
    uint32_t bits;
    enum la_space space;
    enum la_access_op op;
    int64_t vector;
    struct la_layout thr_layout, val_layout, memory_layout; /* parsed before the clock starts */
};

static struct la_layout layout_of(struct la_ctx *cx, const char *text)
{
    struct la_program program;
    if (!la_eval(cx, text, LA_INTEGERS_STATIC, &program)) {
        fprintf(stderr, "bench_access: %s: %s\n", text, cx->error.message);
        exit(1);
    }
    return program.value.layout;
}

/* ---- analyses ------------------------------------------------------------------------------------------ */

static int64_t instructions, excess; /* of the last analysis, so that none of it is left out */

static void analyse(struct la_ctx *cx, void *arg)
{
    const struct side *s = arg;
    const struct la_partition p = la_partition_make(cx, s->thr_layout, s->val_layout);
    const struct la_coverage coverage = la_coverage_of(cx, &p);
    const struct la_reach reach = la_reach_make(cx, &p, s->memory_layout, s->bits, 0);
    const struct la_vectors vectors = la_vectors_of(cx, &reach);
    const struct la_traffic t = la_traffic_of(cx, &reach, s->space, s->op, LA_LANES,
                                              vectors.widest < s->vector ? vectors.widest : s->vector);
    const struct la_facts facts = la_facts_of(cx, s->memory_layout);
    instructions = t.warps * t.steps;
    excess = t.all.wavefronts - t.all.wavefronts_ideal + t.all.sectors - t.all.sectors_ideal +
             coverage.missed + (facts.size < 0);
}

/* The same places of the same memory, written down and nothing else. */
static void enumerate(struct la_ctx *cx, void *arg)
{
    const struct side *s = arg;
    const struct la_partition p = la_partition_make(cx, s->thr_layout, s->val_layout);
    const struct la_layout tile = la_layout_mode(
        cx, la_zipped_divide(cx, s->memory_layout, la_value_tuple(p.tiler)), 0);
    const struct la_layout places = la_composition(cx, tile, la_value_layout(p.tv));
    int64_t *offsets = la_alloc(cx, (size_t)(p.threads * p.values) * sizeof *offsets);
    la_offsets(cx, places, p.threads * p.values, offsets);
    __asm__ volatile("" : : "r"(offsets) : "memory");
}

static double seconds_of(void (*f)(struct la_ctx *cx, void *arg), void *arg)
{
    struct la_arena *arena = la_arena_new(ARENA_LIMIT);
    double v[RUNS];
    for (int i = 0; i < RUNS; i++) {
        la_arena_reset(arena);
        struct la_ctx cx = {.arena = arena};
        const double start = now();
        if (!la_try(&cx, f, arg)) {
            fprintf(stderr, "bench_access: %s\n", cx.error.message);
            exit(1);
        }
        v[i] = now() - start;
    }
    la_arena_free(arena);
    qsort(v, RUNS, sizeof *v, ascending);
    return v[RUNS / 2];
}

static struct side sides[] = {
    {.name = "global half_t, 128 bits",
     .val = "(4,8):(8,1)",
     .memory = "(4096,4096):(4096,1)",
     .bits = 16,
     .space = LA_GLOBAL,
     .op = LA_LOAD,
     .vector = 8},
    {.name = "global half_t, 16 bits",
     .val = "(4,8):(8,1)",
     .memory = "(4096,4096):(1,4096)",
     .bits = 16,
     .space = LA_GLOBAL,
     .op = LA_STORE,
     .vector = 1},
    {.name = "shared half_t, swizzled",
     .val = "(4,8):(8,1)",
     .memory = "composition(Swizzle<3,3,3>{}, (128,64):(64,1))",
     .bits = 16,
     .space = LA_SHARED,
     .op = LA_STORE,
     .vector = 8},
    {.name = "shared float, 32 bits",
     .val = "(4,8):(1,4)",
     .memory = "(128,64):(64,1)",
     .bits = 32,
     .space = LA_SHARED,
     .op = LA_LOAD,
     .vector = 1},
};

static void analyses(struct la_ctx *cx)
{
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        struct side *s = &sides[i];
        s->thr_layout = layout_of(cx, "(32,8):(8,1)");
        s->val_layout = layout_of(cx, s->val);
        s->memory_layout = layout_of(cx, s->memory);
        const double seconds = seconds_of(analyse, s), ceiling = seconds_of(enumerate, s);
        printf("256 threads, 128x64, %-24s %6.1f us, %.3f of a millisecond   %3lld instructions   writing "
               "the places "
               "down %5.1f us, ratio %.2f\n",
               s->name, seconds * 1e6, seconds * 1e3, (long long)instructions, ceiling * 1e6,
               ceiling / seconds);
    }
}

/* ---- searches ------------------------------------------------------------------------------------------ */

struct search {
    struct la_layout memory;
    struct la_search_access accesses[2];
    uint32_t legal;
    double each; /* seconds for the instructions of one candidate */
};

static void search(struct la_ctx *cx, void *arg)
{
    struct search *s = arg;
    s->legal = la_swizzle_search(cx, s->memory, 16, 2, s->accesses).legal;
}

/* The instructions of both accesses once. */
static void cost_once(struct la_ctx *cx, void *arg)
{
    const struct search *s = arg;
    for (int i = 0; i < 2; i++) {
        const struct la_reach reach = la_reach_make(cx, &s->accesses[i].part, s->memory, 16, 1 << 13);
        la_traffic_of(cx, &reach, LA_SHARED, s->accesses[i].op, LA_LANES, s->accesses[i].vector);
    }
}

static void searches(struct la_ctx *cx)
{
    struct search s = {.memory = layout_of(cx, "(128,64):(64,1)")};
    s.accesses[0] = (struct la_search_access){
        la_partition_make(cx, layout_of(cx, "(32,8):(8,1)"), layout_of(cx, "(4,8):(8,1)")), LA_STORE,
        LA_LANES, 8};
    s.accesses[1] = (struct la_search_access){
        la_partition_make(cx, layout_of(cx, "(16,2):(1,16)"), layout_of(cx, "(1,8):(0,1)")), LA_LDMATRIX,
        LA_LANES, 8};
    const double seconds = seconds_of(search, &s), once = seconds_of(cost_once, &s);
    printf("swizzles of 128x64 half_t, 2 accesses     %6.2f ms for %u candidates, %.1f us each   costing the "
           "accesses "
           "once %.1f us, ratio %.2f\n",
           seconds * 1e3, s.legal, seconds * 1e6 / s.legal, once * 1e6, once * s.legal / seconds);
}

static void run(struct la_ctx *cx, void *arg)
{
    (void)arg;
    analyses(cx);
    searches(cx);
}

int main(void)
{
    struct la_ctx cx = {.arena = la_arena_new(ARENA_LIMIT)};
    const bool ok = la_try(&cx, run, NULL);
    if (!ok)
        fprintf(stderr, "bench_access: %s\n", cx.error.message);
    la_arena_free(cx.arena);
    return ok ? 0 : 1;
}
