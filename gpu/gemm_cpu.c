/* gemm_cpu.c: a GEMM run by its CPU twin: every tile, every element of D held against the plain product, every byte
 * that is none against its poison. Small problems only: the twin goes lane by lane. */
#include "gemm.h"

#include <math.h>
#include <string.h>

enum { POISON = 0xff /* a NaN of every floating-point type */ };
#define MAX_WORK (INT64_C(1) << 27)   /* multiply-adds, those of padded tiles with them: a few seconds */
#define MAX_BYTES (INT64_C(96) << 20) /* of the matrices: the job's arena has more */

struct running {
    struct gpu_job *job;
    const struct gpu_gemm *g;
    struct gpu_gemm_data data;
    struct gpu_region region[4];
    unsigned char *memory[4], *writes;
    struct gpu_gemm_bound bound;
    double greatest, worst, allowed; /* error; of the bound; bound */
    int64_t wrong;
};

static bool reserve(struct running *r)
{
    const struct gpu_gemm *g = r->g;
    int64_t bytes = g->d.max - g->d.min + 1;
    for (int i = 0; i < 4; i++) {
        r->region[i] = gpu_region_of(gpu_gemm_tensor(g, (enum la_matrix)i), g->instruction.of[i].number->bits,
                                     0);
        bytes += r->region[i].bytes;
    }
    if (bytes > MAX_BYTES) {
        r->job->failure.field = "problem";
        return gpu_job_fail(
            r->job, GPU_USER_ERROR,
            "the matrices take %lld bytes of memory; the CPU executor has %lld for those of a GEMM",
            (long long)bytes, (long long)MAX_BYTES);
    }
    for (int i = 0; i < 4; i++) {
        r->memory[i] = la_alloc(r->job->cx, (size_t)r->region[i].bytes);
        memset(r->memory[i], POISON, (size_t)r->region[i].bytes);
        if (i < 3)
            r->data.of[i] = r->memory[i] + r->region[i].origin;
    }
    r->data.d = r->memory[3] + r->region[3].origin;
    r->writes = la_alloc(r->job->cx, (size_t)(g->d.max - g->d.min + 1));
    memset(r->writes, 0, (size_t)(g->d.max - g->d.min + 1));
    return true;
}

/* The words that the card makes of the same seed. */
static void fill(const struct running *r)
{
    for (int i = 0; i < 3; i++) {
        const struct gpu_gemm_bits bits = gpu_gemm_bits_of(r->g->instruction.of[i].number);
        uint64_t *words = (uint64_t *)(void *)r->memory[i];
        for (int64_t w = 0; w < r->region[i].bytes / 8; w++)
            words[w] = (gpu_random_word((uint64_t)r->job->seed + (uint64_t)i, (uint64_t)w) & bits.keep) |
                       bits.set;
    }
}

/* ---- every element ---- */

static double element_of(const void *arg, enum la_matrix x, int64_t i, int64_t j)
{
    return gpu_gemm_element(arg, x, i, j);
}

/* Hold an element against the product; put poison back where it lies. */
static void check_element(struct running *r, int64_t i, int64_t j)
{
    const struct gpu_gemm *g = r->g;
    const struct gpu_number *number = g->instruction.of[LA_D].number;
    const int64_t offset = gpu_map_at(g->d.mode[0], i) + gpu_map_at(g->d.mode[1], j);
    unsigned char *at = r->data.d + offset * (number->bits / 8);
    const struct gpu_gemm_source source = {element_of, &r->data};
    const struct gpu_gemm_exact exact = gpu_gemm_exact_of(g, &r->bound, source, i, j);
    const double got = gpu_number_at(number, at, 0).re, error = fabs(got - exact.value);
    const unsigned writes = r->writes[offset - g->d.min];
    if (!(error <= exact.bound) || writes != 1) {
        if (r->wrong++ == 0) {
            gpu_gemm_mismatch_add(r->job->cx, r->job->result, g, i, j, exact, got);
            cJSON_AddNumberToObject(r->job->result, "writes", writes);
        }
    } else if (exact.bound > 0) {
        r->greatest = fmax(r->greatest, error);
        r->worst = fmax(r->worst, error / exact.bound);
        r->allowed = fmax(r->allowed, exact.bound);
    }
    memset(at, POISON, number->bits / 8);
}

/* All of D's memory is poison again, or something strayed; nothing else may have changed. */
static bool check_rest(const struct running *r)
{
    for (int64_t i = 0; i < r->region[3].bytes; i++)
        if (r->memory[3][i] != POISON) {
            cJSON *json = cJSON_AddObjectToObject(r->job->result, "stray_write");
            cJSON_AddStringToObject(json, "where",
                                    i < r->region[3].first  ? "before d"
                                    : i >= r->region[3].end ? "after d"
                                                            : "a gap of d");
            cJSON_AddNumberToObject(json, "byte", (double)(i - r->region[3].origin));
            return false;
        }
    return true;
}

static void check(struct running *r)
{
    const struct gpu_gemm *g = r->g;
    for (int64_t j = 0; j < g->n; j++)
        for (int64_t i = 0; i < g->m; i++)
            check_element(r, i, j);
    const bool rest = check_rest(r);
    cJSON *result = r->job->result, *checked = cJSON_AddObjectToObject(result, "checked");
    cJSON_AddBoolToObject(result, "verified", !r->wrong && rest);
    if (r->wrong)
        cJSON_AddNumberToObject(result, "mismatches", (double)r->wrong);
    cJSON_AddNumberToObject(checked, "elements", (double)g->d.elements);
    cJSON_AddTrueToObject(checked, "writes_counted");
    cJSON_AddNumberToObject(checked, "greatest_error", r->greatest);
    cJSON_AddNumberToObject(checked, "bound", r->allowed);
    cJSON_AddNumberToObject(checked, "of_bound", r->worst);
    gpu_gemm_bound_add(g, &r->bound, checked);
}

/* ---- */

static bool fits(struct gpu_job *job)
{
    const struct gpu_gemm *g = job->plan->gemm;
    double work = 1;
    for (int i = 0; i < 3; i++)
        work *= (double)g->tiles[i] * (double)g->tile[i];
    if (work <= (double)MAX_WORK)
        return true;
    job->failure.field = "problem";
    return gpu_job_fail(
        job, GPU_USER_ERROR,
        "%lld x %lld x %lld in tiles of (%lld,%lld,%lld) are %.0f multiply-adds; the CPU executor makes %lld "
        "at most",
        (long long)g->m, (long long)g->n, (long long)g->k, (long long)g->tile[0], (long long)g->tile[1],
        (long long)g->tile[2], work, (long long)MAX_WORK);
}

static void plant(const struct running *r)
{
    const struct gpu_gemm *g = r->g;
    const struct gpu_number *number = g->instruction.of[LA_D].number;
    const int64_t offset = gpu_map_at(g->d.mode[0], g->m / 2) + gpu_map_at(g->d.mode[1], g->n / 2);
    unsigned char *at = r->data.d + offset * (number->bits / 8);
    at[number->bits / 8 - 1] ^= 0x40; /* an exponent's highest bit, or a large power of two */
}

bool gpu_gemm_run_cpu(struct gpu_job *job)
{
    const struct gpu_gemm *g = job->plan->gemm;
    struct running r = {.job = job, .g = g, .data = {.g = g}, .bound = gpu_gemm_bound_of(g)};
    double since = gpu_now_ms();
    if (!fits(job) || !reserve(&r))
        return false;
    fill(&r);
    gpu_job_lap(job, "fill", &since);
    struct gpu_gemm_twin *twin = gpu_gemm_twin_make(job->cx, job->plan);
    for (int64_t tile = 0; tile < g->tiles[0] * g->tiles[1]; tile++)
        gpu_gemm_twin_tile(twin, &r.data, tile, r.writes);
    if (job->plan->plant == GPU_PLANT_WRONG_VALUE)
        plant(&r);
    gpu_job_lap(job, "run", &since);
    check(&r);
    gpu_job_lap(job, "check", &since);
    return true;
}
