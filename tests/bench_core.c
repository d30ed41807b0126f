/* bench_core.c: how fast core is, each figure as a fraction of a ceiling that is measured in the same run.
 *
 * Tables: la_table of 16 M cells against memset of the same bytes, both from the same arena, fresh pages included.
 * Evaluations: parse, evaluate and print in one warm arena, against copying the same text and answer with memcpy (what
 * no evaluator can beat), with the calls of malloc that one evaluation makes. */
#include "la.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    SIDE = 4096,
    RUNS = 7 /* the median is shown */
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

static double median(double *v)
{
    qsort(v, RUNS, sizeof *v, ascending);
    return v[RUNS / 2];
}

static void check(bool ok, struct la_ctx *cx)
{
    if (ok)
        return;
    fprintf(stderr, "bench_core: %s\n", cx->error.message);
    exit(1);
}

/* ---- tables ---- */

/* The same bytes from the same arena, written by memset: what a table costs at least, fresh pages included. */
static double memset_seconds(struct la_arena *arena, size_t bytes)
{
    double v[RUNS];
    for (int i = 0; i < RUNS; i++) {
        la_arena_reset(arena);
        const double start = now();
        void *memory = la_arena_alloc(arena, bytes);
        memset(memory, i + 1, bytes);
        __asm__ volatile("" : : "r"(memory) : "memory");
        v[i] = now() - start;
    }
    return median(v);
}

static double table_seconds(struct la_arena *arena, const char *text)
{
    double v[RUNS];
    for (int i = 0; i < RUNS; i++) {
        la_arena_reset(arena);
        struct la_ctx cx = {.arena = arena};
        struct la_program program;
        struct la_table table;
        check(la_eval(&cx, text, LA_INTEGERS_AUTO, &program), &cx);
        const double start = now();
        check(la_table(&cx, program.value.layout, (int64_t)SIDE * SIDE, &table), &cx);
        v[i] = now() - start;
    }
    return median(v);
}

static void tables(void)
{
    static const struct {
        const char *name, *text;
        double goal;
    } cases[] = {
        {"row-major", "(4096,4096):(4096,1)", 0.5},
        {"nested", "((64,64),((8,8),64)):((64,262144),((1,512),4096))", 0.3},
        {"swizzled", "composition(Swizzle<3,3,3>{}, (4096,4096):(4096,1))", 0.3},
    };
    const size_t bytes = (size_t)SIDE * SIDE * sizeof(int64_t);
    struct la_arena *arena = la_arena_new(4 * bytes);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double ceiling = memset_seconds(arena, bytes), seconds = table_seconds(arena, cases[i].text);
        printf("table of 4096x4096 offsets, %-10s %7.2f GB/s   memset of the same bytes %7.2f GB/s   ratio "
               "%.2f (goal %.1f)\n",
               cases[i].name, (double)bytes / seconds * 1e-9, (double)bytes / ceiling * 1e-9,
               ceiling / seconds, cases[i].goal);
    }
    la_arena_free(arena);
}

/* ---- evaluations ---- */

static size_t evaluate(struct la_arena *arena, const char *text, char *answer)
{
    la_arena_reset(arena);
    struct la_ctx cx = {.arena = arena};
    struct la_program program;
    check(la_eval(&cx, text, LA_INTEGERS_CUTE, &program), &cx);
    const char *printed = la_print(&cx, &program.value, LA_SPELL_CUTE);
    const size_t n = strlen(printed);
    memcpy(answer, printed, n + 1);
    return n;
}

static void evaluations(const char *name, const char *text)
{
    enum { N = 20000 };
    static char answer[4096], copy[4096];
    struct la_arena *arena = la_arena_new(16 << 20);
    double v[RUNS], c[RUNS];
    size_t n = 0;
    evaluate(arena, text, answer);
    const size_t used = la_arena_used(arena);
    const struct mallinfo2 before = mallinfo2();
    for (int i = 0; i < RUNS; i++) {
        double start = now();
        for (int k = 0; k < N; k++)
            n = evaluate(arena, text, answer);
        v[i] = (now() - start) / N;
        start = now();
        for (int k = 0; k < N; k++) {
            memcpy(copy, text, strlen(text) + 1);
            __asm__ volatile("" : : "r"(copy) : "memory");
            memcpy(copy, answer, n + 1);
            __asm__ volatile("" : : "r"(copy) : "memory");
        }
        c[i] = (now() - start) / N;
    }
    const struct mallinfo2 after = mallinfo2();
    const double seconds = median(v), ceiling = median(c);
    printf("%-24s %6.2f us   %9.0f /s on one core   copying text and answer %.3f us, ratio %.3f   %zu bytes "
           "of arena, "
           "heap grew by %zu bytes in %d\n",
           name, seconds * 1e6, 1 / seconds, ceiling * 1e6, ceiling / seconds, used,
           (size_t)(after.uordblks - before.uordblks), N * RUNS);
    la_arena_free(arena);
}

int main(void)
{
    tables();
    evaluations("literal layout", "(_2,_3):(_3,_1)");
    evaluations("blocked_product", "blocked_product((_2,_3):(_3,_1), (_2,_2):(_1,_2))");
    evaluations("composition", "composition((_6,_2):(_8,_2), (_4,_3):(_3,_1))");
    evaluations("zipped_divide, 2 modes", "zipped_divide((_128,_64):(_64,_1), (_32,_16))");
    return 0;
}
