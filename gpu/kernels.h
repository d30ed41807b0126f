/* kernels.h: the kernels that every job needs besides its own. */
#ifndef GPU_KERNELS_H
#define GPU_KERNELS_H

#include "gpu.h"

/* What other sources of kernels begin with: integer types, first() and step() of a loop, report(), random_word(). */
const char *gpu_support_common(void);
/* Their source; leaves by la_fail when it does not fit in the arena. */
const char *gpu_support_source(struct la_ctx *cx);

/* The logical shape of a copy and both layouts, as the kernel `check` takes them: its `struct shape`. Modes
 * stand in walking order, the fastest first; weight is what a step along one adds to the element's index. */
struct gpu_check_shape {
    uint64_t elements;
    uint32_t rank, src_modes[GPU_MAX_RANK], dst_modes[GPU_MAX_RANK];
    uint64_t extent[GPU_MAX_RANK], weight[GPU_MAX_RANK];
    struct gpu_mode src[GPU_MAX_MODES], dst[GPU_MAX_MODES];
};
_Static_assert(GPU_MAX_RANK == 8 && GPU_MAX_MODES == 32, "the sizes in the kernel's struct shape");

struct gpu_check_shape gpu_check_shape_of(const struct gpu_copy *copy);

#endif
