/* copy_gpu.c: a copy on the card: its memory, its check, its time beside the driver's memcpy of the same bytes. Timed is
 * only what was checked. */
#include "card.h"

#ifdef GPU_HAVE_CUDA

#include <math.h>

/* A copy is timed no longer than this, so that an interactive user waits for half a second at most. */
#define MEASURE_MS 400.0
/* Part of the run's budget that timing may take. */
#define MEASURE_PART 0.25
/* What a number may lie above its ceiling, besides the noise of both, before it is called implausible. */
#define CEILING_MARGIN 0.02
/* Below so many times the L2 cache what is written need not have reached memory yet: no ceiling of memory holds. */
#define CEILING_L2_TIMES 4

/* ---- memory ---- */

/* Bytes of the memcpy that moves as much as the copy: it reads as much as it writes. */
static int64_t memcpy_bytes(const struct gpu_plan *plan)
{
    const int64_t half = (plan->bytes_read + plan->bytes_written) / 2;
    return half < 16 ? 16 : half / 16 * 16;
}

/* Whether the card has the instructions that the plan needs, before anything is compiled. */
static bool plan_instructions(const struct gpu_card *card, struct gpu_job *job)
{
    const char *who, *field;
    const int needs = gpu_copy_arch(&job->plan->copy, &who, &field);
    if (card->major * 10 + card->minor >= needs)
        return true;
    job->failure.field = field;
    return gpu_job_fail(job, GPU_USER_ERROR, "%s needs sm_%d; %s is sm_%d%d", who, needs, card->name,
                        card->major, card->minor);
}

/* Whether the card has the memory that the plan needs, before anything else is done. */
static bool plan_memory(struct gpu_card *card, struct gpu_job *job, struct gpu_arrays *a)
{
    const struct gpu_copy *c = &job->plan->copy;
    size_t free_bytes = 0, total = 0;
    a->src = gpu_region_of(&c->src, c->type->bits, memcpy_bytes(job->plan));
    a->dst = gpu_region_of(&c->dst, c->type->bits, memcpy_bytes(job->plan));
    const int64_t bytes = a->src.bytes + a->dst.bytes;
    if (!gpu_card_ok(card, card->cu->cuMemGetInfo(&free_bytes, &total), "asking for free memory"))
        return gpu_card_failed(card, job);
    if ((uint64_t)bytes > total) {
        job->failure.field = a->src.bytes > a->dst.bytes ? "src" : "dst";
        return gpu_job_fail(job, GPU_USER_ERROR, "the copy needs %lld bytes of device memory; %s has %zu",
                            (long long)bytes, card->name, total);
    }
    return (uint64_t)bytes <= free_bytes ||
           gpu_job_fail(
               job, GPU_INFRA,
               "the copy needs %lld bytes of device memory; %zu of %zu are free: other processes hold the "
               "rest",
               (long long)bytes, free_bytes, total);
}

static bool take_memory(struct gpu_card *card, struct gpu_job *job, struct gpu_arrays *a)
{
    return (gpu_card_take(card, a->src.bytes, &a->src_memory) &&
            gpu_card_take(card, a->dst.bytes, &a->dst_memory)) ||
           gpu_card_failed(card, job);
}

/* ---- timing: the copy, again with what that left in L2, the driver's memcpy and a plain vector copy of the same bytes */

enum { COPY, WARM, MEMCPY, VECTOR, CONTENDERS };

struct timing {
    const struct gpu_plan *plan;
    const struct gpu_arrays *arrays;
};

static bool launch_copy(struct gpu_card *on, const void *arg)
{
    const struct timing *t = arg;
    return gpu_copy_launch(on, t->plan, t->arrays);
}

static bool launch_memcpy(struct gpu_card *on, const void *arg)
{
    const struct timing *t = arg;
    return gpu_card_ok(on,
                       on->cu->cuMemcpyDtoDAsync(t->arrays->dst_memory, t->arrays->src_memory,
                                                 (size_t)memcpy_bytes(t->plan), on->stream),
                       "memcpy");
}

static bool launch_vector_copy(struct gpu_card *on, const void *arg)
{
    enum { THREADS = 256, PER_BLOCK = 1024 }; /* as vector_copy in kernels.c has them */
    const struct timing *t = arg;
    CUdeviceptr src = t->arrays->src_memory, dst = t->arrays->dst_memory;
    uint64_t n = (uint64_t)memcpy_bytes(t->plan) / 16;
    void *args[] = {&src, &dst, &n};
    return gpu_card_launch(on, on->vector_copy, (int64_t)((n + PER_BLOCK - 1) / PER_BLOCK), THREADS, 0, args);
}

static double gbps(double bytes, const struct gpu_samples *s)
{
    return s->median > 0 ? bytes / s->median * 1e-3 : 0;
}

static void add_times(struct gpu_job *job, const struct gpu_measurement *m)
{
    const struct gpu_samples *copy = &m->of[COPY];
    cJSON_AddStringToObject(job->result, "unit", "us");
    cJSON_AddItemToObject(job->result, "samples", cJSON_CreateDoubleArray(copy->us, m->samples));
    cJSON_AddNumberToObject(job->result, "min", copy->min);
    cJSON_AddNumberToObject(job->result, "median", copy->median);
    cJSON_AddNumberToObject(job->result, "p95", copy->p95);
    cJSON_AddNumberToObject(job->result, "noise", copy->noise);
    cJSON_AddBoolToObject(job->result, "stable", m->stable);
}

static void add_speed(const struct gpu_card *card, struct gpu_job *job, const struct gpu_measurement *m)
{
    const double bytes = (double)(job->plan->bytes_read + job->plan->bytes_written);
    const double ceiling_bytes = 2.0 * (double)memcpy_bytes(job->plan);
    const double speed = gbps(bytes, &m->of[COPY]), memcpy_speed = gbps(ceiling_bytes, &m->of[MEMCPY]);
    const double vector_speed = gbps(ceiling_bytes, &m->of[VECTOR]);
    const int best = memcpy_speed > vector_speed ? MEMCPY : VECTOR;
    const double margin = CEILING_MARGIN + m->of[COPY].noise + m->of[best].noise;
    cJSON_AddNumberToObject(job->result, "gbps", speed);
    cJSON *warm = cJSON_AddObjectToObject(job->result, "warm");
    cJSON_AddNumberToObject(warm, "median", m->of[WARM].median);
    cJSON_AddNumberToObject(warm, "gbps", gbps(bytes, &m->of[WARM]));
    cJSON *ceiling = cJSON_AddObjectToObject(job->result, "ceiling");
    cJSON_AddNumberToObject(ceiling, "memcpy_gbps", memcpy_speed);
    cJSON_AddNumberToObject(ceiling, "vector_copy_gbps", vector_speed);
    cJSON_AddNumberToObject(ceiling, "bytes", ceiling_bytes);
    cJSON_AddNumberToObject(job->result, "fraction", memcpy_speed > 0 ? speed / memcpy_speed : 0);
    cJSON_AddNumberToObject(ceiling, "memory_peak_gbps", card->peak_gbps);
    /* A copy that reads less than it writes may well be faster than memcpy, but nothing is faster than the memory. */
    const bool even = job->plan->bytes_read == job->plan->bytes_written;
    const double most = even || card->peak_gbps <= 0 ? fmax(memcpy_speed, vector_speed) : card->peak_gbps;
    cJSON_AddBoolToObject(job->result, "implausible",
                          bytes > CEILING_L2_TIMES * (double)card->l2_bytes && speed > most * (1 + margin));
}

static bool time_copy(struct gpu_card *card, struct gpu_job *job, const struct gpu_arrays *arrays)
{
    static struct gpu_measurement m;
    const struct timing t = {job->plan, arrays};
    const struct gpu_contender contenders[CONTENDERS] = {
        [COPY] = {.launch = launch_copy, .arg = &t},
        [WARM] = {.launch = launch_copy, .arg = &t, .warm = true},
        [MEMCPY] = {.launch = launch_memcpy, .arg = &t},
        [VECTOR] = {.launch = launch_vector_copy, .arg = &t}};
    const double part = job->run_ms * MEASURE_PART;
    if (!gpu_measure(card, CONTENDERS, contenders, job->run_ms > 0 && part < MEASURE_MS ? part : MEASURE_MS,
                     &m))
        return gpu_card_failed(card, job);
    add_times(job, &m);
    add_speed(card, job, &m);
    gpu_readings_add(job->result, &m);
    return true;
}

bool gpu_copy_run_gpu(struct gpu_card *card, struct gpu_job *job)
{
    struct gpu_arrays arrays = {0};
    bool verified = false;
    if (!plan_instructions(card, job) || !plan_memory(card, job, &arrays) ||
        !gpu_job_load(card, job, &arrays.copy))
        return false;
    double since = gpu_now_ms();
    if (!take_memory(card, job, &arrays) || !gpu_tensor_maps(card, job, &arrays))
        return false;
    gpu_job_lap(job, "reserve", &since);
    if (!gpu_check_copy(card, job, &arrays, &verified))
        return gpu_card_failed(card, job);
    gpu_job_lap(job, "check", &since);
    if (!verified)
        return true;
    gpu_job_partial(job);
    const bool timed = time_copy(card, job, &arrays);
    gpu_job_lap(job, "time", &since);
    const struct timing t = {job->plan, &arrays};
    if (!timed || !gpu_counters_add(card, job, (struct gpu_contender){.launch = launch_copy, .arg = &t}))
        return false;
    gpu_job_lap(job, "count", &since);
    return true;
}

#else

bool gpu_copy_run_gpu(struct gpu_card *card, struct gpu_job *job)
{
    (void)card;
    return gpu_job_fail(job, GPU_INFRA, "built without CUDA headers");
}

#endif
