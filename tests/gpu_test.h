/* gpu_test.h: what the tests of gpu share: the list of specs, plans made from text, and a growing list of
 * cmocka tests.
 *
 * A test program of gpu takes a seed, for other random specs than the usual ones. */
#ifndef GPU_TEST_H
#define GPU_TEST_H

#include "gpu.h"
#include "gpu_specs.h"
#include "gpu_specs_smem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* The hand-picked specs, then the random ones: of accesses of threads, of matrices, of TMA. */
enum {
    PICKED_SPECS = GOOD_SPECS + SMEM_SPECS,
    RANDOM_PLAIN = 100,
    RANDOM_MATRIX = 30,
    RANDOM_TMA = 30,
    RANDOM_SPECS = RANDOM_PLAIN + RANDOM_MATRIX + RANDOM_TMA,
    SPECS = PICKED_SPECS + RANDOM_SPECS,
    ARENA = 64 << 20,
    MAX_TESTS = 500
};
static const char *specs[SPECS];

static inline void draw_specs(int argc, char **argv)
{
    static char random_text[RANDOM_SPECS][1400];
    uint64_t state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    for (int i = 0; i < RANDOM_SPECS; i++)
        (i < RANDOM_PLAIN                   ? draw_spec
         : i < RANDOM_PLAIN + RANDOM_MATRIX ? draw_matrix_spec
                                            : draw_tma_spec)(&state, random_text[i], sizeof random_text[i]);
    for (int i = 0; i < SPECS; i++)
        specs[i] = i < GOOD_SPECS     ? good_specs[i]
                   : i < PICKED_SPECS ? smem_specs[i - GOOD_SPECS]
                                      : random_text[i - PICKED_SPECS];
}

struct planned {
    struct la_ctx cx;
    struct gpu_plan *plan;
    const char *field;
    cJSON *json;
};

static inline bool plan_open(struct planned *p, const char *text)
{
    *p = (struct planned){.cx = {.arena = la_arena_new(ARENA)}, .json = cJSON_Parse(text)};
    if (!p->json)
        fail_msg("not JSON: %s", text);
    return gpu_plan_make(&p->cx, p->json, &p->plan, &p->field);
}

static inline void plan_close(struct planned *p)
{
    cJSON_Delete(p->json);
    la_arena_free(p->cx.arena);
}

/* A spec that is refused: the field at fault, and pieces of the message. */
struct refusal {
    const char *spec, *field, *code, *says[3];
};

static inline void check_refusal(void **state)
{
    const struct refusal *r = *state;
    struct planned p;
    if (plan_open(&p, r->spec))
        fail_msg("must be refused: %s", r->spec);
    const struct la_error *e = &p.cx.error;
    if (strcmp(la_error_name(e->code), r->code) != 0)
        fail_msg("%s\n  refused as %s: %s", r->spec, la_error_name(e->code), e->message);
    if (r->field ? !p.field || strcmp(p.field, r->field) != 0 : p.field != NULL)
        fail_msg("%s\n  refused for '%s': %s", r->spec, p.field ? p.field : "(none)", e->message);
    for (int i = 0; i < 3 && r->says[i]; i++)
        if (!strstr(e->message, r->says[i]))
            fail_msg("%s\n  '%s' is not in: %s", r->spec, r->says[i], e->message);
    plan_close(&p);
}

/* A number of the prediction of what the hardware counts. */
struct prediction {
    const char *spec, *side, *key;
    double value;
};

static inline void check_prediction(void **state)
{
    const struct prediction *want = *state;
    struct planned p;
    assert_true(plan_open(&p, want->spec));
    cJSON *json = gpu_predict(&p.cx, p.plan);
    const cJSON *side = cJSON_GetObjectItemCaseSensitive(json, want->side);
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(side, want->key);
    char *text = cJSON_PrintUnformatted(json);
    if (!number || number->valuedouble != want->value)
        fail_msg("%s\n  %s %s: not %.0f: %s", want->spec, want->side, want->key, want->value, text);
    free(text);
    cJSON_Delete(json);
    plan_close(&p);
}

static size_t skipped; /* tests */

/* Leave a test that this machine cannot run, and say why; it counts as neither passed nor failed. */
#define skip_because(...) \
    do { \
        print_message("skipped: " __VA_ARGS__); \
        skipped++; \
        skip(); \
    } while (0)

/* ---- tests, each named after its spec ---- */

struct list {
    struct CMUnitTest tests[MAX_TESTS];
    size_t count, total;
    int failed;
};

static inline void add(struct list *list, const char *name, CMUnitTestFunction run, const void *state)
{
    assert_true(list->count < MAX_TESTS);
    list->tests[list->count++] = (struct CMUnitTest){
        .name = name, .test_func = run, .initial_state = (void *)(uintptr_t)state};
}

static inline void run_group(const char *name, struct list *list, CMFixtureFunction start,
                             CMFixtureFunction end)
{
    list->total += list->count;
    list->failed += _cmocka_run_group_tests(name, list->tests, list->count, start, end);
    list->count = 0;
}

/* The last line, and the exit status. */
static inline int report(const struct list *list)
{
    if (skipped)
        printf("%zu skipped\n", skipped);
    printf("%zu passed, %d failed\n", list->total - skipped - (size_t)list->failed, list->failed);
    return list->failed != 0;
}

/* A folder of files alone. */
static inline void folder_remove(const char *folder)
{
    DIR *dir = opendir(folder);
    for (struct dirent *d; dir && (d = readdir(dir));)
        unlinkat(dirfd(dir), d->d_name, 0);
    if (dir)
        closedir(dir);
    rmdir(folder);
}

#endif
