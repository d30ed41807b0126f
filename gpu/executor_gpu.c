/* executor_gpu.c: a copy job on the card: compile, load, check, time. Timed is only what was checked. */
#include "card.h"

#ifdef GPU_HAVE_CUDA

#include <math.h>
#include <signal.h>

/* A copy is timed no longer than this, so that an interactive user waits for half a second at most. */
#define MEASURE_MS 400.0
/* Part of the run's budget that timing may take. */
#define MEASURE_PART 0.25
/* What a number may lie above its ceiling, besides the noise of both, before it is called implausible. */
#define CEILING_MARGIN 0.02
/* Below so many times the L2 cache what is written need not have reached memory yet: no ceiling of memory holds. */
#define CEILING_L2_TIMES 4

static struct gpu_card card;

static cJSON *gpu_open(struct la_ctx *cx, int index, const char **why)
{
    *why = card.why;
    return gpu_card_open(cx, &card, index) ? gpu_card_json(&card) : NULL;
}

static void gpu_release(void)
{
    gpu_card_release(&card);
}

/* The card's failure is the job's. */
static bool card_failed(struct gpu_job *job)
{
    job->failure = card.failure;
    return false;
}

static void add_resources(struct gpu_job *job, CUfunction copy)
{
    const int block = (int)job->plan->block;
    int registers = 0, local = 0, blocks = 0;
    card.cu->cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, copy);
    card.cu->cuFuncGetAttribute(&local, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, copy);
    card.cu->cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, copy, block,
                                                         (size_t)job->plan->shared_bytes);
    cJSON_AddNumberToObject(job->result, "registers", registers);
    cJSON_AddNumberToObject(job->result, "local_bytes", local);
    cJSON_AddNumberToObject(job->result, "shared_bytes", (double)job->plan->shared_bytes);
    cJSON *occupancy = cJSON_AddObjectToObject(job->result, "occupancy");
    cJSON_AddNumberToObject(occupancy, "blocks_per_sm", blocks);
    cJSON_AddNumberToObject(occupancy, "fraction", (double)blocks * block / card.threads_per_multiprocessor);
}

static bool compile_and_load(struct gpu_job *job, CUfunction *copy)
{
    struct gpu_cubin cubin;
    double since = gpu_now_ms();
    gpu_job_event(job, "compiling");
    if (!gpu_compile(job->cx, job->source, card.arch, &cubin))
        return gpu_job_fail(job, GPU_INFRA, "%s", job->cx->error.message);
    if (*cubin.log)
        cJSON_AddStringToObject(job->result, "log", cubin.log);
    cJSON_AddBoolToObject(job->result, "cubin_cached", cubin.cached);
    gpu_job_lap(job, "compile", &since);
    if (!gpu_card_load(&card, cubin.image, "copy", copy) ||
        !gpu_card_ok(&card,
                     card.cu->cuFuncSetAttribute(*copy, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                                 (int)job->plan->shared_bytes),
                     "asking for shared memory"))
        return card_failed(job);
    add_resources(job, *copy);
    gpu_job_lap(job, "load", &since);
    return true;
}

/* ---- memory ---- */

/* Bytes of the memcpy that moves as much as the copy: it reads as much as it writes. */
static int64_t memcpy_bytes(const struct gpu_plan *plan)
{
    const int64_t half = (plan->bytes_read + plan->bytes_written) / 2;
    return half < 16 ? 16 : half / 16 * 16;
}

static bool plan_shared(struct gpu_job *job)
{
    if (job->plan->shared_bytes <= card.shared_per_block)
        return true;
    job->failure.field = "smem";
    return gpu_job_fail(job, GPU_USER_ERROR, "the copy needs %lld bytes of shared memory a block; %s has %d",
                        (long long)job->plan->shared_bytes, card.name, card.shared_per_block);
}

/* Whether the card has the memory that the plan needs, before anything else is done. */
static bool plan_memory(struct gpu_job *job, struct gpu_arrays *a)
{
    const struct gpu_copy *c = &job->plan->copy;
    size_t free_bytes = 0, total = 0;
    a->src = gpu_region_of(&c->src, c->type->bits, memcpy_bytes(job->plan));
    a->dst = gpu_region_of(&c->dst, c->type->bits, memcpy_bytes(job->plan));
    const int64_t bytes = a->src.bytes + a->dst.bytes;
    if (!gpu_card_ok(&card, card.cu->cuMemGetInfo(&free_bytes, &total), "asking for free memory"))
        return card_failed(job);
    if ((uint64_t)bytes > total) {
        job->failure.field = a->src.bytes > a->dst.bytes ? "src" : "dst";
        return gpu_job_fail(job, GPU_USER_ERROR, "the copy needs %lld bytes of device memory; %s has %zu",
                            (long long)bytes, card.name, total);
    }
    return (uint64_t)bytes <= free_bytes ||
           gpu_job_fail(
               job, GPU_INFRA,
               "the copy needs %lld bytes of device memory; %zu of %zu are free: other processes hold the "
               "rest",
               (long long)bytes, free_bytes, total);
}

static bool take_memory(struct gpu_job *job, struct gpu_arrays *a)
{
    return (gpu_card_take(&card, a->src.bytes, &a->src_memory) &&
            gpu_card_take(&card, a->dst.bytes, &a->dst_memory)) ||
           card_failed(job);
}

/* ---- timing: the copy, the driver's memcpy and a plain vector copy of the same bytes ---- */

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
    const struct gpu_samples *copy = &m->of[0];
    cJSON_AddStringToObject(job->result, "unit", "us");
    cJSON_AddItemToObject(job->result, "samples", cJSON_CreateDoubleArray(copy->us, m->samples));
    cJSON_AddNumberToObject(job->result, "min", copy->min);
    cJSON_AddNumberToObject(job->result, "median", copy->median);
    cJSON_AddNumberToObject(job->result, "p95", copy->p95);
    cJSON_AddNumberToObject(job->result, "noise", copy->noise);
    cJSON_AddBoolToObject(job->result, "stable", m->stable);
}

static void add_speed(struct gpu_job *job, const struct gpu_measurement *m)
{
    const double bytes = (double)(job->plan->bytes_read + job->plan->bytes_written);
    const double ceiling_bytes = 2.0 * (double)memcpy_bytes(job->plan);
    const double speed = gbps(bytes, &m->of[0]), memcpy_speed = gbps(ceiling_bytes, &m->of[1]);
    const double vector_speed = gbps(ceiling_bytes, &m->of[2]);
    const int best = memcpy_speed > vector_speed ? 1 : 2;
    const double margin = CEILING_MARGIN + m->of[0].noise + m->of[best].noise;
    cJSON_AddNumberToObject(job->result, "gbps", speed);
    cJSON *ceiling = cJSON_AddObjectToObject(job->result, "ceiling");
    cJSON_AddNumberToObject(ceiling, "memcpy_gbps", memcpy_speed);
    cJSON_AddNumberToObject(ceiling, "vector_copy_gbps", vector_speed);
    cJSON_AddNumberToObject(ceiling, "bytes", ceiling_bytes);
    cJSON_AddNumberToObject(job->result, "fraction", memcpy_speed > 0 ? speed / memcpy_speed : 0);
    cJSON_AddNumberToObject(ceiling, "memory_peak_gbps", card.peak_gbps);
    /* A copy that reads less than it writes may well be faster than memcpy, but nothing is faster than the memory. */
    const bool even = job->plan->bytes_read == job->plan->bytes_written;
    const double most = even || card.peak_gbps <= 0 ? fmax(memcpy_speed, vector_speed) : card.peak_gbps;
    cJSON_AddBoolToObject(job->result, "implausible",
                          bytes > CEILING_L2_TIMES * (double)card.l2_bytes && speed > most * (1 + margin));
}

static bool time_copy(struct gpu_job *job, const struct gpu_arrays *arrays)
{
    static struct gpu_measurement m;
    const struct timing t = {job->plan, arrays};
    const struct gpu_contender contenders[] = {
        {launch_copy, &t}, {launch_memcpy, &t}, {launch_vector_copy, &t}};
    const double part = job->run_ms * MEASURE_PART;
    if (!gpu_measure(&card, 3, contenders, job->run_ms > 0 && part < MEASURE_MS ? part : MEASURE_MS, &m))
        return card_failed(job);
    add_times(job, &m);
    add_speed(job, &m);
    gpu_readings_add(job->result, &m);
    return true;
}

/* After the timing: a profiler may slow down what follows. */
static bool count_copy(struct gpu_job *job, const struct gpu_arrays *arrays)
{
    cJSON *counters = cJSON_GetObjectItemCaseSensitive(job->result, "counters");
    if (job->plan->counters)
        return gpu_counters_add(&card, job, arrays, counters) || card_failed(job);
    cJSON_AddNullToObject(counters, "measured");
    cJSON_AddStringToObject(counters, "why",
                            "not asked for: \"counters\": true reads them, which takes a second");
    return true;
}

static bool gpu_run(struct gpu_job *job)
{
    struct gpu_arrays arrays = {0};
    bool verified = false;
    if (!plan_shared(job) || !plan_memory(job, &arrays) || !compile_and_load(job, &arrays.copy))
        return false;
    gpu_job_partial(job);
    gpu_job_event(job, "running");
    double since = gpu_now_ms();
    if (job->plan->plant == GPU_PLANT_SEGFAULT)
        raise(SIGSEGV);
    if (!take_memory(job, &arrays))
        return false;
    gpu_job_lap(job, "reserve", &since);
    if (!gpu_check_copy(&card, job, &arrays, &verified))
        return card_failed(job);
    gpu_job_lap(job, "check", &since);
    if (!verified)
        return true;
    gpu_job_partial(job);
    const bool timed = time_copy(job, &arrays);
    gpu_job_lap(job, "time", &since);
    if (!timed || !count_copy(job, &arrays))
        return false;
    gpu_job_lap(job, "count", &since);
    return true;
}

#else

static cJSON *gpu_open(struct la_ctx *cx, int index, const char **why)
{
    (void)cx, (void)index;
    *why = "built without CUDA headers";
    return NULL;
}

static bool gpu_run(struct gpu_job *job)
{
    return gpu_job_fail(job, GPU_INFRA, "built without CUDA headers");
}

static void gpu_release(void)
{
}

#endif

const struct gpu_backend gpu_backend_gpu = {"gpu", gpu_open, gpu_run, gpu_release};
