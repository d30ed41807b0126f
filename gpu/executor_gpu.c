/* executor_gpu.c: jobs on the card: what all kinds have, from the source to a kernel that can be launched. */
#include "card.h"

#ifdef GPU_HAVE_CUDA

#include <signal.h>

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

bool gpu_card_failed(const struct gpu_card *on, struct gpu_job *job)
{
    job->failure = on->failure;
    return false;
}

static void add_resources(struct gpu_job *job, CUfunction kernel)
{
    const int block = (int)job->plan->block;
    int registers = 0, local = 0, blocks = 0;
    card.cu->cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel);
    card.cu->cuFuncGetAttribute(&local, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, kernel);
    card.cu->cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, block,
                                                         (size_t)job->plan->shared_bytes);
    cJSON_AddNumberToObject(job->result, "registers", registers);
    cJSON_AddNumberToObject(job->result, "local_bytes", local);
    cJSON_AddNumberToObject(job->result, "shared_bytes", (double)job->plan->shared_bytes);
    cJSON *occupancy = cJSON_AddObjectToObject(job->result, "occupancy");
    cJSON_AddNumberToObject(occupancy, "blocks_per_sm", blocks);
    cJSON_AddNumberToObject(occupancy, "fraction", (double)blocks * block / card.threads_per_multiprocessor);
}

static bool fits_shared(struct gpu_job *job)
{
    if (job->plan->shared_bytes <= card.shared_per_block)
        return true;
    job->failure.field = gpu_kind_of(job->plan)->shared_field;
    return gpu_job_fail(job, GPU_USER_ERROR, "the %s needs %lld bytes of shared memory a block; %s has %d",
                        gpu_kind_of(job->plan)->name, (long long)job->plan->shared_bytes, card.name,
                        card.shared_per_block);
}

static bool load(struct gpu_job *job, const struct gpu_cubin *cubin, CUfunction *kernel)
{
    if (!gpu_card_load(&card, cubin->image, gpu_kind_of(job->plan)->kernel, kernel) ||
        !gpu_card_ok(&card,
                     card.cu->cuFuncSetAttribute(*kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                                 (int)job->plan->shared_bytes),
                     "asking for shared memory"))
        return gpu_card_failed(&card, job);
    add_resources(job, *kernel);
    return true;
}

bool gpu_job_load(struct gpu_card *on, struct gpu_job *job, CUfunction *kernel)
{
    struct gpu_cubin cubin;
    double since = gpu_now_ms();
    gpu_job_event(job, "compiling");
    if (!gpu_job_compile(job, on->arch, &cubin))
        return false;
    if (*cubin.log)
        cJSON_AddStringToObject(job->result, "log", cubin.log);
    cJSON_AddBoolToObject(job->result, "cubin_cached", cubin.cached);
    gpu_job_lap(job, "compile", &since);
    if (!load(job, &cubin, kernel))
        return false;
    gpu_job_lap(job, "load", &since);
    gpu_job_partial(job);
    gpu_job_event(job, "running");
    if (job->plan->plant == GPU_PLANT_SEGFAULT)
        raise(SIGSEGV);
    return true;
}

static bool gpu_run(struct gpu_job *job)
{
    return fits_shared(job) && gpu_kind_of(job->plan)->run_gpu(&card, job);
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
