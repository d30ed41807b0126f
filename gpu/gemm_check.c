/* gemm_check.c: whether a GEMM kernel gave the product, seen on the card.
 *
 *   1. A, B and C are filled with random values, fences included; D with ones, which are NaN in every float.
 *   2. The kernel runs. Eight rows and eight columns of D, those at edges among them, are held against the product.
 *   3. Freivalds: D r against alpha*A*(B^T r) + beta*C*r for a random vector r of signs, each row: one wrong element
 *      anywhere shows unless it is smaller than what roundings of a whole row add up to.
 *   4. Where elements of D lie ones are put back: all of its memory must be ones, or something strayed.
 *   5. A, B and C must be as they were.
 *
 * The kernels (gemm_kernels.c) know nothing of the plan. */
#include "gemm_card.h"

#ifdef GPU_HAVE_CUDA

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POISON UINT64_MAX

struct checking {
    struct gpu_card *card;
    struct gpu_job *job;
    const struct gpu_gemm *g;
    const struct gpu_gemm_arrays *arrays;
    struct gpu_gemm_bound bound;
    CUmodule module;
    CUfunction input, kept, sample, project, rows, restore;
    CUdeviceptr found, y;
    struct gpu_gemm_problem problem;
    struct gpu_gemm_found of_samples, of_rows;
    bool verified;
};

bool gpu_gemm_launch(struct gpu_card *card, const struct gpu_plan *plan, const struct gpu_gemm_arrays *arrays)
{
    CUdeviceptr at[4];
    for (int i = 0; i < 4; i++)
        at[i] = gpu_gemm_origin(arrays, i);
    void *args[] = {&at[0], &at[1], &at[2], &at[3]};
    return gpu_card_launch(card, arrays->kernel, plan->grid, plan->block, plan->shared_bytes, args);
}

static bool load_kernels(struct checking *c)
{
    const struct {
        const char *name;
        CUfunction *slot;
    } kernels[] = {{"input", &c->input},     {"kept", &c->kept}, {"sample", &c->sample},
                   {"project", &c->project}, {"rows", &c->rows}, {"restore", &c->restore}};
    struct gpu_cubin cubin;
    if (!gpu_compile(c->job->cx, gpu_gemm_support(c->job->cx, c->g), c->card->arch, &cubin))
        return gpu_job_fail(c->job, GPU_INFRA, "the checking kernels: %s", c->job->cx->error.message);
    if (!gpu_card_ok(c->card, c->card->cu->cuModuleLoadData(&c->module, cubin.image),
                     "loading the checking kernels"))
        return gpu_card_failed(c->card, c->job);
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        if (!gpu_card_ok(c->card,
                         c->card->cu->cuModuleGetFunction(kernels[i].slot, c->module, kernels[i].name),
                         kernels[i].name))
            return gpu_card_failed(c->card, c->job);
    return true;
}

/* ---- steps: false when the card failed ---- */

static bool find(struct checking *c, CUfunction kernel, uint64_t n, void **args, struct gpu_gemm_found *out)
{
    static const struct gpu_gemm_found none = {0, UINT64_MAX, 0, 0, 0};
    struct gpu_card *card = c->card;
    return gpu_card_ok(card, card->cu->cuMemcpyHtoDAsync(c->found, &none, sizeof none, card->stream),
                       "clearing") &&
           gpu_card_for_each(card, kernel, n, args) &&
           gpu_card_ok(card, card->cu->cuMemcpyDtoHAsync(out, c->found, sizeof *out, card->stream),
                       "reading") &&
           gpu_card_wait(card);
}

static bool fill(struct checking *c)
{
    const struct gpu_gemm_arrays *a = c->arrays;
    for (int i = 0; i < 3; i++) {
        struct gpu_gemm_bits bits = gpu_gemm_bits_of(c->g->instruction.of[i].number);
        CUdeviceptr memory = a->memory[i];
        uint64_t words = (uint64_t)a->region[i].bytes / 8, seed = (uint64_t)c->job->seed + (uint64_t)i;
        void *args[] = {&memory, &words, &seed, &bits.keep, &bits.set};
        if (!gpu_card_for_each(c->card, c->input, words, args))
            return false;
    }
    return gpu_card_ok(c->card,
                       c->card->cu->cuMemsetD32Async(a->memory[3], (uint32_t)POISON,
                                                     (size_t)a->region[3].bytes / 4, c->card->stream),
                       "poisoning");
}

static bool check_samples(struct checking *c)
{
    CUdeviceptr at[4];
    for (int i = 0; i < 4; i++)
        at[i] = gpu_gemm_origin(c->arrays, i);
    void *args[] = {&c->problem, &at[0], &at[1], &at[2], &at[3], &c->found};
    const uint64_t n = (uint64_t)(c->problem.row_count * c->g->n + c->problem.col_count * c->g->m);
    return find(c, c->sample, n, args, &c->of_samples);
}

static bool check_rows(struct checking *c)
{
    CUdeviceptr at[4];
    for (int i = 0; i < 4; i++)
        at[i] = gpu_gemm_origin(c->arrays, i);
    void *project[] = {&c->problem, &at[1], &c->y};
    void *rows[] = {&c->problem, &at[0], &at[2], &at[3], &c->y, &c->found};
    return gpu_card_for_each(c->card, c->project, (uint64_t)c->g->k, project) &&
           find(c, c->rows, (uint64_t)c->g->m * LA_LANES, rows, &c->of_rows);
}

/* ---- what is wrong ---- */

/* An element of the input, made again. */
static double element_of(const void *arg, enum la_matrix x, int64_t i, int64_t j)
{
    const struct checking *c = arg;
    const struct gpu_tensor *t = gpu_gemm_tensor(c->g, x);
    const struct gpu_number *number = c->g->instruction.of[x].number;
    const struct gpu_gemm_bits bits = gpu_gemm_bits_of(number);
    const int64_t offset = gpu_map_at(t->mode[0], i) + gpu_map_at(t->mode[1], j);
    const int64_t byte = c->arrays->region[x].origin + offset * (number->bits / 8);
    const uint64_t word = (gpu_random_word((uint64_t)c->job->seed + x, (uint64_t)byte / 8) & bits.keep) |
                          bits.set;
    unsigned char bytes[8];
    memcpy(bytes, &word, sizeof word);
    return gpu_number_at(number, bytes + byte % 8, 0).re;
}

static bool describe(struct checking *c, int64_t i, int64_t j)
{
    const struct gpu_number *number = c->g->instruction.of[LA_D].number;
    const int64_t offset = gpu_map_at(c->g->d.mode[0], i) + gpu_map_at(c->g->d.mode[1], j);
    const CUdeviceptr from = gpu_gemm_origin(c->arrays, 3) + (CUdeviceptr)(offset * (number->bits / 8));
    unsigned char bytes[8] = {0};
    if (!gpu_card_ok(c->card, c->card->cu->cuMemcpyDtoHAsync(bytes, from, number->bits / 8, c->card->stream),
                     "reading") ||
        !gpu_card_wait(c->card))
        return false;
    const struct gpu_gemm_source source = {element_of, c};
    gpu_gemm_mismatch_add(c->job->cx, c->job->result, c->g, i, j,
                          gpu_gemm_exact_of(c->g, &c->bound, source, i, j),
                          gpu_number_at(number, bytes, 0).re);
    return true;
}

/* The wrong elements of a row that does not add up; there may be none beyond its own bound. */
static bool look_into_row(struct checking *c, int64_t row)
{
    const struct gpu_gemm_found of_samples = c->of_samples;
    c->problem.row_count = 1;
    c->problem.col_count = 0;
    c->problem.rows[0] = row;
    const bool ok = check_samples(c);
    const struct gpu_gemm_found here = c->of_samples;
    c->of_samples = of_samples;
    cJSON_AddNumberToObject(c->job->result, "wrong_row", (double)row);
    return ok && (!here.count || describe(c, (int64_t)here.least % c->g->m, (int64_t)here.least / c->g->m));
}

static bool judge(struct checking *c)
{
    if (c->of_samples.count) {
        c->verified = false;
        cJSON_AddNumberToObject(c->job->result, "mismatches", (double)c->of_samples.count);
        return describe(c, (int64_t)c->of_samples.least % c->g->m, (int64_t)c->of_samples.least / c->g->m);
    }
    if (c->of_rows.count) {
        c->verified = false;
        cJSON_AddNumberToObject(c->job->result, "wrong_rows", (double)c->of_rows.count);
        return look_into_row(c, (int64_t)c->of_rows.least);
    }
    return true;
}

/* ---- everything besides D ---- */

static bool check_strays(struct checking *c)
{
    const struct gpu_gemm_arrays *a = c->arrays;
    CUdeviceptr d = gpu_gemm_origin(a, 3), memory = a->memory[3];
    uint64_t words = (uint64_t)a->region[3].bytes / 8, poison = POISON;
    void *restore[] = {&c->problem, &d}, *strays[] = {&memory, &words, &poison, &c->found};
    struct gpu_gemm_found found;
    if (!gpu_card_for_each(c->card, c->restore, (uint64_t)(c->g->m * c->g->n), restore) ||
        !find(c, c->card->strays, words, strays, &found))
        return false;
    if (found.count) {
        const int64_t byte = (int64_t)found.least * 8;
        cJSON *json = cJSON_AddObjectToObject(c->job->result, "stray_write");
        c->verified = false;
        cJSON_AddStringToObject(json, "where",
                                byte < a->region[3].first  ? "before d"
                                : byte >= a->region[3].end ? "after d"
                                                           : "a gap of d");
        cJSON_AddNumberToObject(json, "byte", (double)(byte - a->region[3].origin));
    }
    return true;
}

static bool check_inputs(struct checking *c)
{
    const struct gpu_gemm_arrays *a = c->arrays;
    for (int i = 0; i < 3; i++) {
        struct gpu_gemm_bits bits = gpu_gemm_bits_of(c->g->instruction.of[i].number);
        CUdeviceptr memory = a->memory[i];
        uint64_t words = (uint64_t)a->region[i].bytes / 8, seed = (uint64_t)c->job->seed + (uint64_t)i;
        void *args[] = {&memory, &words, &seed, &bits.keep, &bits.set, &c->found};
        struct gpu_gemm_found found;
        if (!find(c, c->kept, words, args, &found))
            return false;
        if (found.count) {
            c->verified = false;
            cJSON_AddStringToObject(c->job->result, "input_changed", i == 0 ? "a" : i == 1 ? "b" : "c");
        }
    }
    return true;
}

/* ---- */

static void add_checked(const struct checking *c)
{
    cJSON *checked = cJSON_AddObjectToObject(c->job->result, "checked");
    cJSON_AddNumberToObject(checked, "rows", c->problem.row_count);
    cJSON_AddNumberToObject(checked, "columns", c->problem.col_count);
    cJSON_AddNumberToObject(checked, "greatest_error", c->of_samples.error);
    cJSON_AddNumberToObject(checked, "bound", c->of_samples.bound);
    cJSON_AddNumberToObject(checked, "of_bound", c->of_samples.of_bound);
    cJSON *freivalds = cJSON_AddObjectToObject(checked, "freivalds");
    cJSON_AddNumberToObject(freivalds, "rows", (double)c->g->m);
    cJSON_AddNumberToObject(freivalds, "greatest_error", c->of_rows.error);
    cJSON_AddNumberToObject(freivalds, "bound", c->bound.row);
    gpu_gemm_bound_add(c->g, &c->bound, checked);
}

static bool run(struct checking *c)
{
    c->problem = gpu_gemm_problem_of(c->g, &c->bound, (uint64_t)c->job->seed);
    const int64_t y_bytes = c->g->k * 8;
    const bool ok = gpu_card_take(c->card, sizeof(struct gpu_gemm_found), &c->found) &&
                    gpu_card_take(c->card, y_bytes, &c->y) && fill(c) &&
                    gpu_gemm_launch(c->card, c->job->plan, c->arrays) && gpu_card_wait(c->card) &&
                    check_samples(c) && check_rows(c);
    if (!ok)
        return gpu_card_failed(c->card, c->job);
    add_checked(c);
    return (judge(c) && check_strays(c) && check_inputs(c)) || gpu_card_failed(c->card, c->job);
}

bool gpu_gemm_check(struct gpu_card *card, struct gpu_job *job, const struct gpu_gemm_arrays *arrays,
                    bool *verified)
{
    struct checking c = {.card = card,
                         .job = job,
                         .g = job->plan->gemm,
                         .arrays = arrays,
                         .bound = gpu_gemm_bound_of(job->plan->gemm),
                         .verified = true};
    const bool ok = load_kernels(&c) && run(&c);
    if (c.module && !job->failure.fatal)
        card->cu->cuModuleUnload(c.module);
    cJSON_AddBoolToObject(job->result, "verified", ok && c.verified);
    *verified = ok && c.verified;
    return ok;
}

#endif
