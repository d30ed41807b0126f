/* others.c: whether other processes use the card: a time that was taken beside them says little.
 *
 *     before the context   {900}            NVML's list of processes on the card
 *     with it              {900, 4711}      so this process is 4711 there, and one other uses the card
 *
 * In a container NVML may name processes by numbers that mean nothing there, this one too: so who came with our
 * context is us. Where it does not show even us, it need not show others, and nothing is claimed. */
#include "others.h"

#include <stdio.h>

enum { NVML_SUCCESS = 0, NVML_INSUFFICIENT_SIZE = 7 };

/* The processes on the card; -1 with why. */
static int list(struct gpu_others *o, struct gpu_nvml_process *out)
{
    unsigned count = GPU_MAX_PROCESSES;
    if (!o->nvml) {
        snprintf(o->why, sizeof o->why, "NVML is not on this machine");
        return -1;
    }
    if (!o->nvml->processes) {
        snprintf(o->why, sizeof o->why, "this driver's NVML is too old: it has no %s", GPU_NVML_PROCESSES);
        return -1;
    }
    const int rc = o->nvml->processes(o->device, &count, out);
    if (rc == NVML_SUCCESS ||
        rc == NVML_INSUFFICIENT_SIZE) /* then count is all there are, and out is not filled */
        return (int)count;
    snprintf(o->why, sizeof o->why, "NVML does not list the processes of this card: error %d", rc);
    return -1;
}

void gpu_others_begin(struct gpu_others *o, const struct gpu_nvml *nvml, struct nvmlDevice *device)
{
    struct gpu_nvml_process processes[GPU_MAX_PROCESSES];
    *o = (struct gpu_others){.nvml = nvml, .device = device};
    const int count = list(o, processes);
    for (int i = 0; i < count && i < GPU_MAX_PROCESSES; i++)
        o->before[o->before_count++] = processes[i].pid;
}

static bool was_before(const struct gpu_others *o, unsigned pid)
{
    for (unsigned i = 0; i < o->before_count; i++)
        if (o->before[i] == pid)
            return true;
    return false;
}

void gpu_others_find_self(struct gpu_others *o, unsigned pid)
{
    struct gpu_nvml_process processes[GPU_MAX_PROCESSES];
    const int count = list(o, processes);
    unsigned fresh = 0, fresh_count = 0;
    for (int i = 0; i < count && i < GPU_MAX_PROCESSES; i++) {
        if (was_before(o, processes[i].pid))
            continue;
        if (processes[i].pid == pid)
            o->self = pid;
        fresh = processes[i].pid;
        fresh_count++;
    }
    if (!o->self && fresh_count == 1)
        o->self = fresh;
}

int gpu_others_count(struct gpu_others *o)
{
    struct gpu_nvml_process processes[GPU_MAX_PROCESSES];
    const int count = list(o, processes);
    bool shown = o->self && count > GPU_MAX_PROCESSES; /* not listed then */
    for (int i = 0; i < count && i < GPU_MAX_PROCESSES; i++)
        shown |= o->self && processes[i].pid == o->self;
    if (count >= 0 && !shown)
        snprintf(o->why, sizeof o->why, "NVML does not show this process here, so it need not show others");
    return shown ? count - 1 : -1;
}
