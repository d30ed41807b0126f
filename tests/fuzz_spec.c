/* fuzz_spec.c: any job spec is refused with a sentence, or it is a plan that holds: what it resolves to is a spec that
 * resolves to itself, it has facts, predictions and CUDA, and where it is small its CPU twin verifies it.
 *
 *   {"kind":"copy",...,"val":"(1,8):(0,1)"} -> a field changed, dropped, doubled or taken from another spec -> the same
 *
 * Bytes hardly get past the JSON, so inputs change as specs: a field at a time, its text by libFuzzer and its
 * dictionary. What runs is bounded here; what planning may cost is not: a slow one is a finding. */
#include "gemm.h"
#include "mma.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TEXT = 4096, PRODUCTS = 1 << 17, ELEMENTS = 1 << 16, BYTES = 1 << 20 };
#define PLAN_SECONDS 20.0               /* of this process, under sanitizers: 0.4 s otherwise */
#define ARENA_LIMIT ((size_t)256 << 20) /* as a request's and an executor's */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                                 uint8_t *out, size_t max_out_size, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

static void check(bool holds, const char *what, const char *text)
{
    if (holds)
        return;
    fprintf(stderr, "fuzz_spec: %s: %s\n", what, text);
    abort();
}

/* ---- a spec is refused well, or holds ---- */

static void check_refusal(const struct la_ctx *cx, const cJSON *spec, const char *field)
{
    const struct la_error *e = &cx->error;
    const char *text = field ? cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(spec, field)) : NULL;
    check(e->message[0], "refused without a sentence", field ? field : "");
    check(!e->has_position || !text || e->at + e->len <= strlen(text), "a position outside of the text",
          e->message);
}

/* Few moves, products and bytes: those that the twin makes, and the memory that its matrices take. */
static bool is_small(const struct gpu_plan *plan)
{
    const struct gpu_copy *c = &plan->copy;
    const struct gpu_gemm *g = plan->gemm;
    double work = 1, span = 0;
    if (plan->kind == GPU_MMA)
        return plan->mma->tile[0] * plan->mma->tile[1] * plan->mma->tile[2] <= PRODUCTS;
    if (plan->kind == GPU_COPY)
        return c->tiles <= ELEMENTS / (c->in.part.threads * c->in.part.values) &&
               c->src.max - c->src.min < ELEMENTS && c->dst.max - c->dst.min < ELEMENTS;
    for (int i = 0; i < 3; i++)
        work *= (double)g->tiles[i] * (double)g->tile[i];
    for (enum la_matrix x = LA_A; x <= LA_D; x++)
        span += (double)(gpu_gemm_tensor(g, x)->max - gpu_gemm_tensor(g, x)->min);
    return work <= PRODUCTS && span < BYTES / 8;
}

/* In a la_try, as the executor does it. */
static void run_body(struct la_ctx *cx, void *arg)
{
    struct gpu_job *job = arg;
    (void)cx;
    const bool ran = gpu_kind_of(job->plan)->run_cpu(job);
    check(ran, "the twin fails", job->failure.message);
    const bool verified = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(job->result, "verified"));
    char *result = cJSON_PrintUnformatted(job->result);
    check(verified == (job->plan->plant != GPU_PLANT_WRONG_VALUE), "the twin does not verify it", result);
    cJSON_free(result);
}

static void check_twin(struct la_ctx *cx, const struct gpu_plan *plan)
{
    struct gpu_job job = {.cx = cx,
                          .id = "1",
                          .plan = plan,
                          .seed = plan->seed ? plan->seed : 1,
                          .result = cJSON_CreateObject(),
                          .timings = cJSON_CreateObject()};
    check(la_try(cx, run_body, &job), "the twin leaves", cx->error.message);
    gpu_copy_release_cpu();
    cJSON_Delete(job.result);
    cJSON_Delete(job.timings);
}

/* What a plan resolves to, as text. */
static char *resolved(struct la_ctx *cx, const struct gpu_plan *plan)
{
    cJSON *json = gpu_plan_spec(cx, plan);
    char *text = cJSON_PrintUnformatted(json);
    cJSON_Delete(json);
    return text;
}

static void check_resolved(const struct gpu_plan *plan, char *text)
{
    struct la_ctx cx = {.arena = la_arena_new(ARENA_LIMIT)};
    const char *field = NULL;
    struct gpu_plan *again;
    cJSON *spec = cJSON_Parse(text);
    check(gpu_plan_make(&cx, spec, &again, &field), cx.error.message, text);
    char *twice = resolved(&cx, again);
    check(!strcmp(text, twice), twice, text);
    check(plan->kind == again->kind && plan->grid == again->grid && plan->block == again->block &&
              plan->bytes_read == again->bytes_read && plan->bytes_written == again->bytes_written,
          "another plan", text);
    cJSON_free(twice);
    cJSON_Delete(spec);
    la_arena_free(cx.arena);
}

static double cpu_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static void check_time(double since, const char *what, const cJSON *spec)
{
    const double took = cpu_seconds() - since;
    if (took < PLAN_SECONDS)
        return;
    char *text = cJSON_PrintUnformatted(spec);
    fprintf(stderr, "%s took %.1f s\n", what, took);
    check(false, "too slow", text);
}

static void check_plan(struct la_ctx *cx, void *arg)
{
    const struct gpu_plan *plan = arg;
    char *text = resolved(cx, plan);
    check_resolved(plan, text);
    cJSON *facts = gpu_plan_facts(cx, plan);
    check(facts && facts->child, "no facts", text);
    cJSON_Delete(facts);
    if (gpu_kind_of(plan)->predict)
        cJSON_Delete(gpu_kind_of(plan)->predict(cx, plan));
    const char *source = gpu_emit(cx, plan);
    check(source && strstr(source, gpu_kind_of(plan)->kernel), "no CUDA", cx->error.message);
    check(plan->grid >= 1 && plan->grid <= GPU_MAX_GRID && plan->block >= 1 &&
              plan->block <= GPU_MAX_THREADS && plan->shared_bytes >= 0 && plan->shared_bytes <= GPU_MAX_SMEM,
          "a launch that no card makes", text);
    cJSON_free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cJSON *spec = cJSON_ParseWithLength((const char *)data, size);
    if (!spec)
        return 0;
    struct la_ctx cx = {.arena = la_arena_new(ARENA_LIMIT)};
    const char *field = NULL;
    struct gpu_plan *plan;
    double since = cpu_seconds();
    const bool planned = gpu_plan_make(&cx, spec, &plan, &field);
    check_time(since, "planning", spec);
    if (!planned)
        check_refusal(&cx, spec, field);
    since = cpu_seconds();
    if (planned)
        check(la_try(&cx, check_plan, plan), "a plan of which something fails", cx.error.message);
    check_time(since, "what follows from a plan", spec);
    if (planned && is_small(plan))
        check_twin(&cx, plan);
    cJSON_Delete(spec);
    la_arena_free(cx.arena);
    return 0;
}

/* ---- inputs change as specs ---- */

static const char *const names[] = {
    "kind",        "type",       "atom",     "thr",         "val",         "src",      "dst",
    "smem",        "smem_store", "grid",     "stages",      "unroll",      "cache",    "dst_atom",
    "dst_thr",     "dst_val",    "group",    "smem_load",   "alpha",       "beta",     "problem",
    "a",           "b",          "c",        "d",           "tile",        "smem_a",   "smem_b",
    "copy_a",      "copy_b",     "seed",     "smem_copy_a", "smem_copy_b", "ldmatrix", "plant",
    "atom_layout", "fresh",      "counters", "integers",    "permutation", "executor"};
enum { NAMES = sizeof names / sizeof names[0] };
static const double numbers[] = {0,    1,          2,          3,   4,    5,    7,     8,
                                 16,   17,         32,         64,  -1,   65,   1000,  4097,
                                 1e-3, 2147483647, 2147483648, 9e9, 1e30, 1e18, 1e300, 0.5};
enum { NUMBERS = sizeof numbers / sizeof numbers[0] };

static unsigned draw(unsigned *state, unsigned n)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % n;
}

static cJSON *parsed(const uint8_t *data, size_t size)
{
    cJSON *json = cJSON_ParseWithLength((const char *)data, size);
    if (cJSON_IsObject(json))
        return json;
    cJSON_Delete(json);
    return cJSON_CreateObject();
}

/* Print over the input, or leave it as it is. Gives the size; takes the object. */
static size_t put(cJSON *json, uint8_t *data, size_t size, size_t max_size)
{
    char *text = cJSON_PrintUnformatted(json);
    const size_t len = text ? strlen(text) : 0;
    if (len && len <= max_size)
        memcpy(data, text, size = len);
    cJSON_free(text);
    cJSON_Delete(json);
    return size;
}

static cJSON *field_at(cJSON *json, unsigned *state)
{
    const int count = cJSON_GetArraySize(json);
    return count ? cJSON_GetArrayItem(json, (int)draw(state, (unsigned)count)) : NULL;
}

static cJSON *changed(const cJSON *item, unsigned *state)
{
    char text[TEXT] = "";
    if (cJSON_IsNumber(item))
        return cJSON_CreateNumber(draw(state, 4) ? numbers[draw(state, NUMBERS)] : item->valuedouble * 2 - 1);
    if (!draw(state, 20))
        return draw(state, 2) ? cJSON_CreateBool(draw(state, 2) != 0) : cJSON_CreateNull();
    if (cJSON_IsString(item))
        snprintf(text, sizeof text, "%s", item->valuestring);
    text[LLVMFuzzerMutate((uint8_t *)text, strlen(text), sizeof text - 1)] = '\0';
    return cJSON_CreateString(text);
}

static void change(cJSON *object, cJSON *item, unsigned *state)
{
    cJSON *new = changed(item, state);
    new->string = strdup(item->string);
    cJSON_ReplaceItemViaPointer(object, item, new);
}

/* The same text in another field: a tile's layout as a tensor. */
static void rename_field(cJSON *json, cJSON *item, unsigned *state)
{
    cJSON_DetachItemViaPointer(json, item);
    cJSON_AddItemToObject(json, names[draw(state, NAMES)], item);
}

static void add_field(cJSON *json, unsigned *state)
{
    cJSON *some = draw(state, 2) ? cJSON_CreateNumber(1) : cJSON_CreateString("auto");
    cJSON_AddItemToObject(json, names[draw(state, NAMES)], changed(some, state));
    cJSON_Delete(some);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    unsigned state = seed;
    if (!draw(&state, 50))
        return LLVMFuzzerMutate(data, size, max_size);
    cJSON *json = parsed(data, size);
    cJSON *item = field_at(json, &state), *problem = cJSON_GetObjectItemCaseSensitive(json, "problem");
    const unsigned what = item ? draw(&state, 12) : 0;
    if (cJSON_IsObject(problem) && problem->child && !draw(&state, 6))
        change(problem, field_at(problem, &state), &state);
    else if (what == 0)
        add_field(json, &state);
    else if (what == 1)
        rename_field(json, item, &state);
    else if (what == 2)
        cJSON_Delete(cJSON_DetachItemViaPointer(json, item));
    else
        change(json, item, &state);
    return put(json, data, size, max_size);
}

/* A spec with a field of another. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                                 uint8_t *out, size_t max_out_size, unsigned seed)
{
    unsigned state = seed;
    cJSON *json = parsed(a, a_size), *other = parsed(b, b_size), *item = field_at(other, &state);
    if (item) {
        cJSON_DetachItemViaPointer(other, item);
        cJSON_DeleteItemFromObjectCaseSensitive(json, item->string);
        cJSON_AddItemToObject(json, item->string, item);
    }
    cJSON_Delete(other);
    return put(json, out, 0, max_out_size);
}
