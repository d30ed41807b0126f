/* cuda_api.h: NVIDIA's libraries, opened at run time: one binary with or without a GPU.
 *
 * CUDA's headers are needed at build time for types alone. A call reads  cu->cuMemAlloc(&p, n):  cuda.h
 * renames many functions by macro (cuMemAlloc is cuMemAlloc_v2), and the lists below go through the same
 * macros, so that field, type and symbol agree. NVML's header is in no minimal toolkit; its few functions are
 * declared here. */
#ifndef GPU_CUDA_API_H
#define GPU_CUDA_API_H

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
    X(cuModuleLoadData) X(cuModuleUnload) X(cuModuleGetFunction) X(cuFuncGetAttribute) \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor) X(cuLaunchKernel) \
    X(cuStreamCreate) X(cuStreamSynchronize) X(cuEventCreate) X(cuEventRecord) X(cuEventElapsedTime)

#define GPU_NVRTC_CALLS(X) \
    X(nvrtcVersion) X(nvrtcGetErrorString) X(nvrtcCreateProgram) X(nvrtcDestroyProgram) \
    X(nvrtcCompileProgram) X(nvrtcGetProgramLogSize) X(nvrtcGetProgramLog) \
    X(nvrtcGetCUBINSize) X(nvrtcGetCUBIN)
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

#define GPU_NVML_FIELD(name, args) int(*name) args;
struct gpu_nvml {
    GPU_NVML_CALLS(GPU_NVML_FIELD)
};
const struct gpu_nvml *gpu_nvml_open(const char **why);

#endif
