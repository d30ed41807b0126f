/* cuda_api.h: NVIDIA's libraries, opened at run time: one binary with or without a GPU.
 *
 * CUDA's headers are needed at build time for types alone. A call reads  cu->cuMemAlloc(&p, n):  cuda.h
 * renames many functions by macro (cuMemAlloc is cuMemAlloc_v2), and the lists below go through the same
 * macros, so that field, type and symbol agree. NVML's header is in no minimal toolkit; its few functions are
 * declared here. */
#ifndef GPU_CUDA_API_H
#define GPU_CUDA_API_H

#include <stddef.h>
#include <stdint.h>

#if defined(__has_include)
#if __has_include(<cuda.h>) && __has_include(<nvrtc.h>)
#define GPU_HAVE_CUDA 1
#endif
#endif

#ifdef GPU_HAVE_CUDA
#include <cuda.h>
#include <nvrtc.h>

/* clang-format off */
#define GPU_DRIVER_CALLS(X) \
    X(cuInit) X(cuDriverGetVersion) X(cuGetErrorName) X(cuGetErrorString) \
    X(cuDeviceGetCount) X(cuDeviceGet) X(cuDeviceGetName) X(cuDeviceGetAttribute) X(cuDeviceTotalMem) \
    X(cuDeviceGetUuid) X(cuDevicePrimaryCtxRetain) X(cuCtxSetCurrent) \
    X(cuMemGetInfo) X(cuMemAlloc) X(cuMemFree) X(cuMemHostAlloc) X(cuMemHostGetDevicePointer) \
    X(cuMemsetD32Async) X(cuMemcpyHtoDAsync) X(cuMemcpyDtoHAsync) X(cuMemcpyDtoDAsync) \
    X(cuModuleLoadData) X(cuModuleUnload) X(cuModuleGetFunction) X(cuFuncGetAttribute) X(cuFuncSetAttribute) \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor) X(cuLaunchKernel) \
    X(cuStreamCreate) X(cuStreamSynchronize) X(cuEventCreate) X(cuEventRecord) X(cuEventElapsedTime) \
    X(cuTensorMapEncodeTiled)

#define GPU_NVRTC_CALLS(X) \
    X(nvrtcVersion) X(nvrtcGetErrorString) X(nvrtcCreateProgram) X(nvrtcDestroyProgram) \
    X(nvrtcCompileProgram) X(nvrtcGetProgramLogSize) X(nvrtcGetProgramLog) \
    X(nvrtcGetCUBINSize) X(nvrtcGetCUBIN) X(nvrtcGetPTXSize) X(nvrtcGetPTX)
/* clang-format on */

#define GPU_CALL_FIELD(name) __typeof__(&name) name;
struct gpu_driver {
    GPU_DRIVER_CALLS(GPU_CALL_FIELD)
};
struct gpu_nvrtc {
    GPU_NVRTC_CALLS(GPU_CALL_FIELD)
};

/* Opened once a process; NULL with *why. Not for several threads at a time. */
const struct gpu_driver *gpu_driver_open(const char **why);
const struct gpu_nvrtc *gpu_nvrtc_open(const char **why);
#endif

/* CUPTI's range profiler: hardware counters. The header of its host part is C++ only (it includes <string>), so its
 * structs stand here as CUDA 12.6 and later have them; CUPTI looks at structSize. */
#if defined(GPU_HAVE_CUDA) && __has_include(<cupti_range_profiler.h>) && __has_include(<cupti_target.h>)
#define GPU_HAVE_CUPTI 1
#include <cupti_range_profiler.h>
#include <cupti_target.h>

struct cupti_host; /* CUpti_Profiler_Host_Object */
enum { CUPTI_HOST_RANGE_PROFILER = 0 };
struct cupti_host_initialize {
    size_t structSize;
    void *pPriv;
    int profilerType;
    const char *pChipName;
    const uint8_t *pCounterAvailabilityImage;
    struct cupti_host *pHostObject;
};
struct cupti_host_metrics {
    size_t structSize;
    void *pPriv;
    struct cupti_host *pHostObject;
    const char **ppMetricNames;
    size_t numMetrics;
};
struct cupti_host_image {
    size_t structSize;
    void *pPriv;
    struct cupti_host *pHostObject;
    size_t configImageSize;
    uint8_t *pConfigImage; /* not part of the params of GetConfigImageSize */
};
struct cupti_host_evaluate {
    size_t structSize;
    void *pPriv;
    struct cupti_host *pHostObject;
    const uint8_t *pCounterDataImage;
    size_t counterDataImageSize, rangeIndex;
    const char **ppMetricNames;
    size_t numMetrics;
    double *pMetricValues;
};

#define GPU_CUPTI_CALLS(X) \
    X(cuptiGetResultString, (CUptiResult result, const char **text)) \
    X(cuptiProfilerInitialize, (CUpti_Profiler_Initialize_Params *)) \
    X(cuptiProfilerGetCounterAvailability, (CUpti_Profiler_GetCounterAvailability_Params *)) \
    X(cuptiDeviceGetChipName, (CUpti_Device_GetChipName_Params *)) \
    X(cuptiProfilerHostInitialize, (struct cupti_host_initialize *)) \
    X(cuptiProfilerHostConfigAddMetrics, (struct cupti_host_metrics *)) \
    X(cuptiProfilerHostGetConfigImageSize, (struct cupti_host_image *)) \
    X(cuptiProfilerHostGetConfigImage, (struct cupti_host_image *)) \
    X(cuptiProfilerHostEvaluateToGpuValues, (struct cupti_host_evaluate *)) \
    X(cuptiRangeProfilerEnable, (CUpti_RangeProfiler_Enable_Params *)) \
    X(cuptiRangeProfilerDisable, (CUpti_RangeProfiler_Disable_Params *)) \
    X(cuptiRangeProfilerGetCounterDataSize, (CUpti_RangeProfiler_GetCounterDataSize_Params *)) \
    X(cuptiRangeProfilerCounterDataImageInitialize, \
      (CUpti_RangeProfiler_CounterDataImage_Initialize_Params *)) \
    X(cuptiRangeProfilerSetConfig, (CUpti_RangeProfiler_SetConfig_Params *)) \
    X(cuptiRangeProfilerStart, (CUpti_RangeProfiler_Start_Params *)) \
    X(cuptiRangeProfilerStop, (CUpti_RangeProfiler_Stop_Params *)) \
    X(cuptiRangeProfilerDecodeData, (CUpti_RangeProfiler_DecodeData_Params *))
#define GPU_CUPTI_FIELD(name, args) CUptiResult(*name) args;
struct gpu_cupti {
    GPU_CUPTI_CALLS(GPU_CUPTI_FIELD)
};
const struct gpu_cupti *gpu_cupti_open(const char **why);
#endif

/* NVML: readings beside a measurement. Its types, as nvml.h has them: int results (0 is success), opaque
 * devices. */
struct nvmlDevice;
#define GPU_NVML_CALLS(X) \
    X(nvmlInit_v2, (void)) \
    X(nvmlDeviceGetHandleByUUID, (const char *uuid, struct nvmlDevice **device)) \
    X(nvmlDeviceGetClockInfo, (struct nvmlDevice * device, int type, unsigned *mhz)) \
    X(nvmlDeviceGetTemperature, (struct nvmlDevice * device, int sensor, unsigned *celsius)) \
    X(nvmlDeviceGetPowerUsage, (struct nvmlDevice * device, unsigned *milliwatts)) \
    X(nvmlDeviceGetCurrentClocksThrottleReasons, (struct nvmlDevice * device, unsigned long long *reasons))
enum { GPU_NVML_CLOCK_SM = 1, GPU_NVML_CLOCK_MEMORY = 2, GPU_NVML_SENSOR_GPU = 0 };

/* nvmlProcessInfo_t of the function below; other versions have other structs. */
struct gpu_nvml_process {
    unsigned pid;
    unsigned long long bytes;
    unsigned gpu_instance, compute_instance;
};
#define GPU_NVML_PROCESSES "nvmlDeviceGetComputeRunningProcesses_v3"

#define GPU_NVML_FIELD(name, args) int(*name) args;
struct gpu_nvml {
    GPU_NVML_CALLS(GPU_NVML_FIELD)
    int (*processes)(struct nvmlDevice *device, unsigned *count, struct gpu_nvml_process *out); /* or NULL */
};
const struct gpu_nvml *gpu_nvml_open(const char **why);

/* cuBLAS: the ceiling of a GEMM. Its enums are ints here; the values stand in cublas.c. */
struct CUstream_st;
#define GPU_CUBLAS_CALLS(X) \
    X(cublasCreate_v2, (void **handle)) \
    X(cublasSetStream_v2, (void *handle, struct CUstream_st *stream)) \
    X(cublasGetVersion_v2, (void *handle, int *version)) \
    X(cublasGemmEx, (void *handle, int op_a, int op_b, int m, int n, int k, const void *alpha, \
                     const void *a, int a_type, int lda, const void *b, int b_type, int ldb, \
                     const void *beta, void *c, int c_type, int ldc, int compute, int algorithm))
#define GPU_CUBLASLT_CALLS(X) \
    X(cublasLtCreate, (void **handle)) \
    X(cublasLtMatmulDescCreate, (void **matmul, int compute, int scale)) \
    X(cublasLtMatmulDescDestroy, (void *matmul)) \
    X(cublasLtMatmulDescSetAttribute, (void *matmul, int attribute, const void *value, size_t size)) \
    X(cublasLtMatrixLayoutCreate, (void **layout, int type, uint64_t rows, uint64_t cols, int64_t leading)) \
    X(cublasLtMatrixLayoutDestroy, (void *layout)) \
    X(cublasLtMatmul, \
      (void *handle, void *matmul, const void *alpha, const void *a, void *a_layout, const void *b, \
       void *b_layout, const void *beta, const void *c, void *c_layout, void *d, void *d_layout, \
       const void *algorithm, void *workspace, size_t bytes, struct CUstream_st *stream))

#define GPU_CUBLAS_FIELD(name, args) int(*name) args;
struct gpu_cublas_calls {
    GPU_CUBLAS_CALLS(GPU_CUBLAS_FIELD)
};
struct gpu_cublaslt_calls {
    GPU_CUBLASLT_CALLS(GPU_CUBLAS_FIELD)
};
const struct gpu_cublas_calls *gpu_cublas_open(const char **why);
const struct gpu_cublaslt_calls *gpu_cublaslt_open(const char **why);

#endif
