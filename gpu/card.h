/* card.h: one GPU of this process: its context, its stream, the support kernels, and what a job has taken
 * from it. */
#ifndef GPU_CARD_H
#define GPU_CARD_H

#include "cuda_api.h"
#include "internal.h"
#include "kernels.h"
#include "others.h"

#ifdef GPU_HAVE_CUDA

enum {
    GPU_MAX_TAKEN = 8 /* pieces of device memory of one job */
};

/* What a kernel that looks for errors gives back. */
struct gpu_found {
    uint64_t count, least;
};

struct gpu_card {
    const struct gpu_driver *cu;
    const struct gpu_nvml *nvml; /* NULL: no readings */
    struct nvmlDevice *nvml_device;
    struct gpu_others others;
    int index;
    CUdevice device;
    CUcontext context;
    CUstream stream;
    char name[64], arch[16], uuid[48], why[512];
    int major, minor, multiprocessors, threads_per_multiprocessor, shared_per_block, l2_bytes, driver;
    size_t memory;
    double peak_gbps; /* of memory, by its clock and width; 0 where the driver does not tell */

    CUmodule support;
    CUfunction fill, intact, strays, check[5], gather, hold, flush,
        vector_copy;        /* check: of 1, 2, 4, 8, 16 bytes */
    CUdeviceptr found;      /* struct gpu_found */
    CUdeviceptr flush_from; /* flush_bytes of it */
    size_t flush_bytes;
    volatile uint32_t *go; /* the host's side of what `hold` waits for */
    CUdeviceptr go_device;

    struct gpu_failure failure; /* of the last call that failed */
    CUmodule module;            /* the job's */
    CUdeviceptr taken[GPU_MAX_TAKEN];
    int taken_count;
};

/* Get a card ready and see it give a known answer. False with card->why. */
bool gpu_card_open(struct la_ctx *cx, struct gpu_card *card, int index);
cJSON *gpu_card_json(const struct gpu_card *card);

/* True for success; else fills card->failure: what failed, whose fault it is, whether the process can go
 * on. */
bool gpu_card_ok(struct gpu_card *card, CUresult result, const char *what);
/* Device memory and a module that last until gpu_card_release. */
bool gpu_card_take(struct gpu_card *card, int64_t bytes, CUdeviceptr *out);
bool gpu_card_load(struct gpu_card *card, const void *image, const char *name, CUfunction *out);
void gpu_card_release(struct gpu_card *card);
/* Queue a kernel; enough blocks of 256 threads for n items, unless the kernel loops. */
bool gpu_card_launch(struct gpu_card *card, CUfunction kernel, int64_t grid, int64_t block,
                     int64_t shared_bytes, void **args);
bool gpu_card_for_each(struct gpu_card *card, CUfunction kernel, uint64_t n, void **args);
bool gpu_card_wait(struct gpu_card *card);
/* Clear card->found; wait for what was queued and read it. */
bool gpu_card_found_clear(struct gpu_card *card);
bool gpu_card_found_read(struct gpu_card *card, struct gpu_found *out);

/* ---- executor_gpu.c ---- */

/* Compile the job's source, load its kernel and tell what it takes; then the job is running. False with job->failure. */
bool gpu_job_load(struct gpu_card *card, struct gpu_job *job, CUfunction *kernel);
/* The card's failure is the job's; gives false. */
bool gpu_card_failed(const struct gpu_card *card, struct gpu_job *job);

/* ---- check.c ---- */

/* A copy on the card: the tensors' memory, the kernel, and the tensor maps of TMA. */
struct gpu_arrays {
    struct gpu_region src, dst;
    CUdeviceptr src_memory, dst_memory;
    CUfunction copy;
    CUtensorMap src_map, dst_map;
};
bool gpu_copy_launch(struct gpu_card *card, const struct gpu_plan *plan, const struct gpu_arrays *arrays);
/* Run the copy on fresh input and look at every byte; adds "verified" and what was checked to the result.
 * False only when the card failed. */
bool gpu_check_copy(struct gpu_card *card, struct gpu_job *job, const struct gpu_arrays *arrays,
                    bool *verified);

/* ---- tensor_map.c ---- */

/* Encode the maps that the plan's legs go by; false with job->failure. */
bool gpu_tensor_maps(struct gpu_card *card, struct gpu_job *job, struct gpu_arrays *arrays);

/* ---- measure.c ---- */

enum { GPU_MAX_CONTENDERS = 4, GPU_MAX_SAMPLES = 500 };

/* Something to time, beside others in the same run. */
struct gpu_contender {
    bool (*launch)(struct gpu_card *card, const void *arg);
    const void *arg;
    bool warm; /* L2 keeps what the contender before it has left there */
};
struct gpu_samples {
    double us[GPU_MAX_SAMPLES];
    double min, median, p95;
    double noise; /* standard deviation over mean */
};
/* The card's own readings; 0 where it gives none. */
struct gpu_reading {
    unsigned sm_mhz, memory_mhz, celsius, milliwatts;
    unsigned long long throttle;
    int others;      /* processes on the card; -1: not known, because */
    const char *why; /* of that */
};
struct gpu_measurement {
    int samples; /* of each contender */
    bool stable; /* every mean is known to half a percent */
    struct gpu_samples of[GPU_MAX_CONTENDERS];
    struct gpu_reading before, after;
};
/* Time all contenders in turn until their means are known or limit_ms is over. */
bool gpu_measure(struct gpu_card *card, int count, const struct gpu_contender *contenders, double limit_ms,
                 struct gpu_measurement *out);
void gpu_readings_add(cJSON *result, const struct gpu_measurement *m);

/* ---- counters.c ---- */

/* Launch a kernel once more under the hardware's counters, if the job asks for them, and after the timing: a profiler may
 * slow down what follows. The result's "counters" get "measured", or "measured": null and "why", and where there is a
 * prediction "equal". False only when the card failed. */
bool gpu_counters_add(struct gpu_card *card, struct gpu_job *job, struct gpu_contender kernel);

#endif
#endif
