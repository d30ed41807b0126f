/* mma_gpu.c: the check of an MMA partition on the card: the host's matrices there, one launch of one block, and back. */
#include "card.h"
#include "mma.h"

#ifdef GPU_HAVE_CUDA

struct launching {
    const struct gpu_plan *plan;
    const struct gpu_mma_memory *memory;
    CUdeviceptr image;
    CUfunction kernel;
};

static bool launch(struct gpu_card *card, const void *arg)
{
    const struct launching *l = arg;
    CUdeviceptr at[4];
    for (enum la_matrix x = LA_A; x <= LA_D; x++)
        at[x] = l->image + (CUdeviceptr)l->memory->at[x];
    void *args[] = {&at[LA_A], &at[LA_B], &at[LA_C], &at[LA_D]};
    return gpu_card_launch(card, l->kernel, l->plan->grid, l->plan->block, l->plan->shared_bytes, args);
}

static bool run(struct gpu_card *card, const struct launching *l)
{
    const size_t bytes = (size_t)l->memory->bytes;
    return gpu_card_ok(card, card->cu->cuMemcpyHtoDAsync(l->image, l->memory->image, bytes, card->stream),
                       "sending the matrices") &&
           launch(card, l) &&
           gpu_card_ok(card, card->cu->cuMemcpyDtoHAsync(l->memory->image, l->image, bytes, card->stream),
                       "fetching the matrices") &&
           gpu_card_wait(card);
}

bool gpu_mma_run_gpu(struct gpu_card *card, struct gpu_job *job)
{
    const struct gpu_mma *m = job->plan->mma;
    struct launching l = {.plan = job->plan};
    job->failure.field = "atom";
    if (!gpu_instruction_on(job->cx, &m->in, card->major, card->minor))
        return gpu_job_fail(job, GPU_USER_ERROR, "%s: %s", card->name, job->cx->error.message);
    job->failure.field = NULL;
    if (!gpu_job_load(card, job, &l.kernel))
        return false;
    double since = gpu_now_ms();
    struct gpu_mma_memory memory = gpu_mma_memory_make(job->cx, m, job->seed);
    l.memory = &memory;
    gpu_job_lap(job, "fill", &since);
    if (!gpu_card_take(card, memory.bytes, &l.image) || !run(card, &l))
        return gpu_card_failed(card, job);
    gpu_job_lap(job, "run", &since);
    gpu_mma_verify(job, &memory);
    gpu_job_lap(job, "check", &since);
    return gpu_counters_add(card, job, (struct gpu_contender){.launch = launch, .arg = &l});
}

#else

bool gpu_mma_run_gpu(struct gpu_card *card, struct gpu_job *job)
{
    (void)card;
    return gpu_job_fail(job, GPU_INFRA, "built without CUDA headers");
}

#endif
