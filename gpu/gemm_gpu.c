/* gemm_gpu.c: a GEMM on the card: its memory, its check, its time beside cuBLAS. Timed is only what was checked. */
#include "gemm_card.h"

#ifdef GPU_HAVE_CUDA

#include <math.h>
#include <string.h>

/* A GEMM is timed no longer than this, and no longer than a part of the run's budget. */
#define MEASURE_MS 600.0
#define MEASURE_PART 0.25
/* What a number may lie above a limit of the hardware, besides its noise, before it is called implausible. */
#define PEAK_MARGIN 0.02

/* ---- memory ---- */

/* Whether the card has the memory, for cuBLAS's product too, before anything else is done. */
static bool plan_memory(struct gpu_card *card, struct gpu_job *job, struct gpu_gemm_arrays *a)
{
    const struct gpu_gemm *g = job->plan->gemm;
    size_t free_bytes = 0, total = 0;
    int64_t bytes = g->k * 8;
    for (int i = 0; i < 4; i++) {
        a->region[i] = gpu_region_of(gpu_gemm_tensor(g, (enum la_matrix)i), g->instruction.of[i].number->bits,
                                     0);
        bytes += (i == 3 ? 2 : 1) * a->region[i].bytes;
    }
    if (!gpu_card_ok(card, card->cu->cuMemGetInfo(&free_bytes, &total), "asking for free memory"))
        return gpu_card_failed(card, job);
    if ((uint64_t)bytes > total) {
        job->failure.field = "problem";
        return gpu_job_fail(job, GPU_USER_ERROR,
                            "the GEMM and its check need %lld bytes of device memory; %s has %zu",
                            (long long)bytes, card->name, total);
    }
    return (uint64_t)bytes <= free_bytes || gpu_job_fail(job, GPU_INFRA,
                                                         "the GEMM and its check need %lld bytes of device "
                                                         "memory; %zu of %zu are free: other processes "
                                                         "hold the rest",
                                                         (long long)bytes, free_bytes, total);
}

static bool take_memory(struct gpu_card *card, struct gpu_job *job, struct gpu_gemm_arrays *a)
{
    for (int i = 0; i < 4; i++)
        if (!gpu_card_take(card, a->region[i].bytes, &a->memory[i]))
            return gpu_card_failed(card, job);
    return true;
}

/* ---- what the hardware can do ---- */

/* Floating-point or integer operations that a multiprocessor makes in a clock at most, 0 where that is not known. */
static double peak_of_clock(const struct gpu_instruction *in, int capability)
{
    const unsigned bits = in->of[LA_A].number->bits;
    if (in->form == GPU_FORM_FMA)
        return bits == 64 ? 128 : bits == 32 ? 256 : 1024;
    if (in->form == GPU_FORM_DP4A)
        return 1024;
    const struct {
        int capability;
        double of_16_bits, of_64_bits; /* twice as many of 8 bits, half as many of tfloat32_t */
    } known[] = {{80, 2048, 128}, {90, 4096, 256}, {100, 8192, 256}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].capability == capability)
            return bits == 64 ? known[i].of_64_bits : known[i].of_16_bits * 16 / bits;
    return 0;
}

static double peak_tflops(const struct gpu_card *card, const struct gpu_instruction *in)
{
    int khz = 0;
    card->cu->cuDeviceGetAttribute(&khz, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, card->device);
    return peak_of_clock(in, 10 * card->major + card->minor) * card->multiprocessors * khz * 1e-9;
}

/* ---- timing ---- */

struct timing {
    const struct gpu_plan *plan;
    const struct gpu_gemm_arrays *arrays;
};

static bool launch(struct gpu_card *card, const void *arg)
{
    const struct timing *t = arg;
    return gpu_gemm_launch(card, t->plan, t->arrays);
}

static void add_times(struct gpu_job *job, const struct gpu_measurement *m)
{
    const struct gpu_samples *s = &m->of[0];
    cJSON_AddStringToObject(job->result, "unit", "us");
    cJSON_AddItemToObject(job->result, "samples", cJSON_CreateDoubleArray(s->us, m->samples));
    cJSON_AddNumberToObject(job->result, "min", s->min);
    cJSON_AddNumberToObject(job->result, "median", s->median);
    cJSON_AddNumberToObject(job->result, "p95", s->p95);
    cJSON_AddNumberToObject(job->result, "noise", s->noise);
    cJSON_AddBoolToObject(job->result, "stable", m->stable);
}

static double tflops(const struct gpu_gemm *g, const struct gpu_samples *s)
{
    return s->median > 0 ? 2.0 * (double)g->m * (double)g->n * (double)g->k / s->median * 1e-6 : 0;
}

static void add_speed(struct gpu_card *card, struct gpu_job *job, const struct gpu_measurement *m,
                      const char *why)
{
    const struct gpu_gemm *g = job->plan->gemm;
    const double speed = tflops(g, &m->of[0]), peak = peak_tflops(card, &g->instruction);
    cJSON_AddNumberToObject(job->result, "tflops", speed);
    cJSON *ceiling = cJSON_AddObjectToObject(job->result, "ceiling");
    if (why) {
        cJSON_AddNullToObject(ceiling, "cublas_tflops");
        cJSON_AddStringToObject(ceiling, "why", why);
    } else {
        cJSON_AddNumberToObject(ceiling, "cublas_tflops", tflops(g, &m->of[1]));
        cJSON_AddNumberToObject(job->result, "fraction", speed / tflops(g, &m->of[1]));
    }
    /* cuBLAS may be beaten, but not the multipliers of the card at their highest clock. */
    if (peak > 0)
        cJSON_AddNumberToObject(ceiling, "peak_tflops", peak);
    cJSON_AddBoolToObject(job->result, "implausible",
                          peak > 0 && speed > peak * (1 + PEAK_MARGIN + m->of[0].noise));
}

static bool time_gemm(struct gpu_card *card, struct gpu_job *job, const struct gpu_gemm_arrays *arrays)
{
    static struct gpu_measurement m;
    const struct timing t = {job->plan, arrays};
    struct gpu_cublas cublas;
    const char *why = NULL;
    double since = gpu_now_ms();
    if (!gpu_cublas_make(card, job, arrays, &cublas, &why) && !why)
        return false;
    gpu_job_lap(job, "cublas", &since);
    const struct gpu_contender contenders[] = {{.launch = launch, .arg = &t},
                                               {.launch = gpu_cublas_launch, .arg = &cublas}};
    const double part = job->run_ms * MEASURE_PART;
    const bool ok = gpu_measure(card, why ? 1 : 2, contenders,
                                job->run_ms > 0 && part < MEASURE_MS ? part : MEASURE_MS, &m);
    gpu_cublas_release(&cublas);
    if (!ok)
        return gpu_card_failed(card, job);
    add_times(job, &m);
    add_speed(card, job, &m, why);
    gpu_readings_add(job->result, &m);
    gpu_job_lap(job, "time", &since);
    return true;
}

bool gpu_gemm_run_gpu(struct gpu_card *card, struct gpu_job *job)
{
    struct gpu_gemm_arrays arrays = {0};
    bool verified = false;
    job->failure.field = "atom";
    if (!gpu_instruction_on(job->cx, &job->plan->gemm->instruction, card->major, card->minor))
        return gpu_job_fail(job, GPU_USER_ERROR, "%s: %s", card->name, job->cx->error.message);
    job->failure.field = NULL;
    if (!plan_memory(card, job, &arrays) || !gpu_job_load(card, job, &arrays.kernel) ||
        !take_memory(card, job, &arrays))
        return false;
    double since = gpu_now_ms();
    if (!gpu_gemm_check(card, job, &arrays, &verified))
        return false;
    gpu_job_lap(job, "check", &since);
    if (!verified)
        return true;
    gpu_job_partial(job);
    const struct timing t = {job->plan, &arrays};
    return time_gemm(card, job, &arrays) &&
           gpu_counters_add(card, job, (struct gpu_contender){.launch = launch, .arg = &t});
}

#else

bool gpu_gemm_run_gpu(struct gpu_card *card, struct gpu_job *job)
{
    (void)card;
    return gpu_job_fail(job, GPU_INFRA, "built without CUDA headers");
}

#endif
