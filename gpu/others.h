/* others.h: whether other processes use the card, by NVML. */
#ifndef GPU_OTHERS_H
#define GPU_OTHERS_H

#include "cuda_api.h"

#include <stdbool.h>

enum { GPU_MAX_PROCESSES = 256 /* of a card: contexts take memory, so there are no more */ };

struct gpu_others {
    const struct gpu_nvml *nvml; /* NULL: not here */
    struct nvmlDevice *device;
    unsigned before[GPU_MAX_PROCESSES]; /* processes on the card before this one was */
    unsigned before_count;
    unsigned self; /* what NVML calls this process; 0: it does not show it */
    char why[160]; /* the count is not known */
};

/* Before this process has a context on the card, and when it has. */
void gpu_others_begin(struct gpu_others *others, const struct gpu_nvml *nvml, struct nvmlDevice *device);
void gpu_others_find_self(struct gpu_others *others, unsigned pid);
/* How many others there are now; -1 with others->why. */
int gpu_others_count(struct gpu_others *others);

#endif
