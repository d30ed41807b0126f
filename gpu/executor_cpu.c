/* executor_cpu.c: jobs run by their CPU twins. Times would say nothing about a GPU and are left out. */
#include "internal.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static cJSON *cpu_open(struct la_ctx *cx, int index, const char **why)
{
    (void)cx, (void)index, (void)why;
    cJSON *device = cJSON_CreateObject();
    cJSON_AddStringToObject(device, "executor", "cpu");
    cJSON_AddStringToObject(device, "name", "CPU");
    cJSON_AddNumberToObject(device, "cores", (double)sysconf(_SC_NPROCESSORS_ONLN));
    return device;
}

/* Faults for tests; those of a kernel end this process as a signal. */
static void plant_fault(enum gpu_plant plant)
{
    if (plant == GPU_PLANT_HANG)
        for (;;)
            pause();
    if (plant == GPU_PLANT_TRAP)
        abort();
    if (plant == GPU_PLANT_SEGFAULT || plant == GPU_PLANT_ILLEGAL_ADDRESS)
        raise(SIGSEGV);
}

static bool cpu_run(struct gpu_job *job)
{
    gpu_job_partial(job);
    gpu_job_event(job, "running");
    plant_fault(job->plan->plant);
    if (!gpu_kind_of(job->plan)->run_cpu(job))
        return false;
    cJSON *counters = cJSON_GetObjectItemCaseSensitive(job->result, "counters");
    cJSON_AddNullToObject(counters, "measured");
    cJSON_AddStringToObject(counters, "why", "the CPU executor has no hardware to count with");
    return true;
}

static void cpu_release(void)
{
    gpu_copy_release_cpu();
}

const struct gpu_backend gpu_backend_cpu = {"cpu", cpu_open, cpu_run, cpu_release};
