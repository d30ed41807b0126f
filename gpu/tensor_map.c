/* tensor_map.c: the tensor maps that a copy's TMA goes by, encoded by the driver: what tma.c planned, as the hardware
 * reads it. They are parameters of the kernel. */
#include "card.h"

#ifdef GPU_HAVE_CUDA

/* TMA moves bits: unsigned integers of the element's width. */
static CUtensorMapDataType data_type(unsigned bits)
{
    return bits == 8    ? CU_TENSOR_MAP_DATA_TYPE_UINT8
           : bits == 16 ? CU_TENSOR_MAP_DATA_TYPE_UINT16
           : bits == 32 ? CU_TENSOR_MAP_DATA_TYPE_UINT32
                        : CU_TENSOR_MAP_DATA_TYPE_UINT64;
}

static CUtensorMapSwizzle swizzle_mode(int32_t bytes)
{
    return bytes == 32    ? CU_TENSOR_MAP_SWIZZLE_32B
           : bytes == 64  ? CU_TENSOR_MAP_SWIZZLE_64B
           : bytes == 128 ? CU_TENSOR_MAP_SWIZZLE_128B
                          : CU_TENSOR_MAP_SWIZZLE_NONE;
}

static CUresult encode(const struct gpu_card *card, const struct la_tma *map, unsigned bits,
                       CUdeviceptr origin, CUtensorMap *out)
{
    cuuint64_t extent[LA_TMA_RANK], stride[LA_TMA_RANK] = {0};
    cuuint32_t box[LA_TMA_RANK], step[LA_TMA_RANK];
    for (uint32_t d = 0; d < map->rank; d++) {
        extent[d] = (cuuint64_t)map->dim[d].extent;
        box[d] = (cuuint32_t)map->dim[d].box;
        step[d] = (cuuint32_t)map->dim[d].element_stride;
        if (d > 0) /* that of the first dimension is one element */
            stride[d - 1] = (cuuint64_t)map->dim[d].stride;
    }
    return card->cu->cuTensorMapEncodeTiled(out, data_type(bits), map->rank, (void *)(uintptr_t)origin,
                                            extent, stride, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                            swizzle_mode(map->swizzle), CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                                            CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

/* One leg; what the driver refuses is the spec's fault, since all that is documented was looked at. */
static bool encode_leg(struct gpu_card *card, struct gpu_job *job, const struct gpu_leg *leg,
                       const char *field, CUdeviceptr origin, CUtensorMap *out)
{
    const char *name = NULL;
    if (!leg->tma)
        return true;
    const CUresult result = encode(card, &leg->tma->map, job->plan->copy.type->bits, origin, out);
    if (result == CUDA_SUCCESS)
        return true;
    card->cu->cuGetErrorName(result, &name);
    job->failure.field = field;
    return gpu_job_fail(job, GPU_USER_ERROR, "%s: the driver makes no tensor map of %s: %s", leg->atom.name,
                        field[0] == 'd' ? "dst" : "src", name ? name : "error");
}

bool gpu_tensor_maps(struct gpu_card *card, struct gpu_job *job, struct gpu_arrays *a)
{
    const struct gpu_copy *c = &job->plan->copy;
    return encode_leg(card, job, &c->in, "atom", a->src_memory + (CUdeviceptr)a->src.origin, &a->src_map) &&
           encode_leg(card, job, &c->out, "dst_atom", a->dst_memory + (CUdeviceptr)a->dst.origin,
                      &a->dst_map);
}

#endif
