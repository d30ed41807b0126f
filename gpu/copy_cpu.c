/* copy_cpu.c: a copy run by its CPU twin: every move of the plan, every element looked at afterwards.
 *
 * What a GPU cannot tell is told here: how often each element was written. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

enum {
    POISON = 0xa5,    /* the destination's bytes before the run */
    MANY_WRITES = 255 /* counters stop here */
};
#define MAX_BYTES \
    (INT64_C(1) << 30) /* of a job's memory: a few seconds of work, and no strain on a small machine */

/* The memory of the job that runs; one at a time. */
static struct memory {
    unsigned char *src, *dst, *writes; /* writes: a counter an element, from the least offset */
} memory;

void gpu_copy_release_cpu(void)
{
    free(memory.src);
    free(memory.dst);
    free(memory.writes);
    memory = (struct memory){0};
}

static bool reserve(struct gpu_job *job, struct gpu_region src, struct gpu_region dst, int64_t span)
{
    const int64_t bytes = src.bytes + dst.bytes + span;
    if (bytes > MAX_BYTES) {
        job->failure.field = src.bytes > dst.bytes ? "src" : "dst";
        return gpu_job_fail(job, GPU_USER_ERROR,
                            "the copy needs %lld bytes of memory; the CPU executor has %lld for a job",
                            (long long)bytes, (long long)MAX_BYTES);
    }
    memory.src = malloc((size_t)src.bytes);
    memory.dst = malloc((size_t)dst.bytes);
    memory.writes = calloc((size_t)span, 1);
    if (!memory.src || !memory.dst || !memory.writes)
        return gpu_job_fail(job, GPU_INFRA, "no memory for %lld bytes", (long long)bytes);
    gpu_random_bytes((uint64_t)job->seed, 0, memory.src, (size_t)src.bytes);
    memset(memory.dst, POISON, (size_t)dst.bytes);
    return true;
}

/* All moves. False at a move that leaves the tensors: a plan that is wrong must not take this process with
 * it. */
static bool run_tiles(struct gpu_job *job, struct gpu_region src, struct gpu_region dst)
{
    const struct gpu_copy *c = &job->plan->copy;
    const struct gpu_twin *twin = gpu_twin_make(job->cx, job->plan);
    struct gpu_move *moves = la_alloc(job->cx,
                                      (size_t)(c->in.part.threads * c->in.part.values) * sizeof *moves);
    const int64_t bytes = c->type->bits / 8;
    for (int64_t tile = 0; tile < c->tiles; tile++) {
        const int64_t n = gpu_twin_tile(twin, tile, moves);
        for (int64_t i = 0; i < n; i++) {
            const struct gpu_move m = moves[i];
            if (m.from < c->src.min || m.from > c->src.max || m.to < c->dst.min || m.to > c->dst.max) {
                gpu_stray_add(job->result, job->plan, dst, dst.origin + m.to * bytes);
                return false;
            }
            memcpy(memory.dst + dst.origin + m.to * bytes, memory.src + src.origin + m.from * bytes,
                   (size_t)bytes);
            unsigned char *writes = memory.writes + (m.to - c->dst.min);
            *writes = (unsigned char)(*writes + (*writes < MANY_WRITES));
        }
    }
    if (job->plan->plant == GPU_PLANT_WRONG_VALUE)
        memory.dst[dst.origin] ^= 1;
    return true;
}

/* A tensor's offsets with its modes in the order of the tiles: neighbours in memory follow each other. */
static struct gpu_walk walk_of(const struct gpu_job *job, const struct gpu_tensor *t)
{
    struct gpu_map modes[GPU_MAX_RANK];
    for (uint32_t i = 0; i < t->rank; i++)
        modes[i] = t->mode[job->plan->copy.order[i]];
    return gpu_walk_start(gpu_map_join(job->cx, t->rank, modes));
}

/* The index, leftmost mode first, of the i-th element of that walk. */
static int64_t index_of(const struct gpu_copy *c, int64_t i)
{
    int64_t weight[GPU_MAX_RANK], size = 1, index = 0;
    for (uint32_t k = 0; k < c->src.rank; k++) {
        weight[k] = size;
        size *= c->src.extent[k];
    }
    for (uint32_t k = 0; k < c->src.rank; k++) {
        index += i % c->src.extent[c->order[k]] * weight[c->order[k]];
        i /= c->src.extent[c->order[k]];
    }
    return index;
}

/* Compare every element, by the layouts alone; put poison back where elements lie. Gives the first that is
 * wrong. */
static struct gpu_mismatch check_elements(const struct gpu_job *job, struct gpu_region src,
                                          struct gpu_region dst)
{
    const struct gpu_copy *c = &job->plan->copy;
    const size_t bytes = c->type->bits / 8;
    struct gpu_mismatch m = {.counted = true};
    struct gpu_walk from = walk_of(job, &c->src), to = walk_of(job, &c->dst);
    for (int64_t i = 0; i < c->src.elements; i++, gpu_walk_next(&from), gpu_walk_next(&to)) {
        const unsigned char *expected = memory.src + src.origin + from.offset * (int64_t)bytes;
        unsigned char *got = memory.dst + dst.origin + to.offset * (int64_t)bytes;
        const unsigned writes = memory.writes[to.offset - c->dst.min];
        if (writes != 1 || memcmp(expected, got, bytes) != 0) {
            const int64_t index = index_of(c, i);
            if (m.found && m.index < index)
                continue;
            m.found = true;
            m.index = index;
            m.writes = writes;
            memcpy(m.expected, expected, bytes);
            memcpy(m.got, got, bytes);
        } else {
            memset(got, POISON, bytes);
        }
    }
    return m;
}

/* After check_elements all of the destination's memory is poison, or something strayed. */
static bool check_rest(struct gpu_job *job, struct gpu_region dst)
{
    for (int64_t i = 0; i < dst.bytes; i++)
        if (memory.dst[i] != POISON) {
            gpu_stray_add(job->result, job->plan, dst, i);
            return false;
        }
    return true;
}

bool gpu_copy_run_cpu(struct gpu_job *job)
{
    const struct gpu_copy *c = &job->plan->copy;
    const struct gpu_region src = gpu_region_of(&c->src, c->type->bits, 0);
    const struct gpu_region dst = gpu_region_of(&c->dst, c->type->bits, 0);
    double since = gpu_now_ms();
    if (!reserve(job, src, dst, c->dst.max - c->dst.min + 1))
        return false;
    gpu_job_lap(job, "fill", &since);
    const bool inside = run_tiles(job, src, dst);
    gpu_job_lap(job, "run", &since);
    struct gpu_mismatch mismatch = {0};
    if (inside)
        mismatch = check_elements(job, src, dst);
    if (mismatch.found)
        gpu_mismatch_add(job->cx, job->result, job->plan, &mismatch);
    const bool verified = inside && !mismatch.found && check_rest(job, dst);
    cJSON_AddBoolToObject(job->result, "verified", verified);
    cJSON *checked = cJSON_AddObjectToObject(job->result, "checked");
    cJSON_AddNumberToObject(checked, "elements", (double)c->dst.elements);
    cJSON_AddNumberToObject(checked, "other_bytes",
                            (double)(dst.bytes - c->dst.elements * (c->type->bits / 8)));
    cJSON_AddTrueToObject(checked, "writes_counted");
    gpu_job_lap(job, "check", &since);
    return true;
}
