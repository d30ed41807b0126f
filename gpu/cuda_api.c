/* cuda_api.c: finds NVIDIA's libraries and the functions in them. One list of names a library, in
 * cuda_api.h. */
#include "cuda_api.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where libraries lie that the loader does not find by itself. */
static const char *const folders[] = {"",
                                      "/usr/local/cuda/lib64/",
                                      "/usr/local/cuda/extras/CUPTI/lib64/",
                                      "/usr/local/nvidia/lib64/",
                                      "/usr/lib/x86_64-linux-gnu/",
                                      "/usr/lib/aarch64-linux-gnu/",
                                      "/usr/lib/wsl/lib/"};

struct symbol {
    const char *name;
    void **slot;
};

/* Open the first of the names in the first of the folders that has it. */
static void *open_library(const char *const *names)
{
    for (size_t f = 0; f < sizeof folders / sizeof folders[0]; f++)
        for (size_t n = 0; names[n]; n++) {
            char path[256];
            snprintf(path, sizeof path, "%s%s", folders[f], names[n]);
            void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
            if (library)
                return library;
        }
    return NULL;
}

/* Fill all slots; false with *why, which stays valid. */
static bool open_symbols(const char *const *names, const struct symbol *symbols, size_t count,
                         const char **why)
{
    static char reason[256];
    *why = reason;
    void *library = open_library(names);
    if (!library) {
        snprintf(reason, sizeof reason, "%s is not on this machine", names[0]);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        *symbols[i].slot = dlsym(library, symbols[i].name);
        if (!*symbols[i].slot) {
            snprintf(reason, sizeof reason, "%s is too old: it lacks %s", names[0], symbols[i].name);
            *symbols[0].slot = NULL; /* the sign of an open library */
            return false;
        }
    }
    return true;
}

#define NAME_OF(name) #name

#ifdef GPU_HAVE_CUDA
#define SYMBOL(name) {NAME_OF(name), (void **)&api.name},

const struct gpu_driver *gpu_driver_open(const char **why)
{
    static struct gpu_driver api;
    static const char *const names[] = {"libcuda.so.1", NULL};
    const struct symbol symbols[] = {GPU_DRIVER_CALLS(SYMBOL)};
    return api.cuInit || open_symbols(names, symbols, sizeof symbols / sizeof symbols[0], why) ? &api : NULL;
}

const struct gpu_nvrtc *gpu_nvrtc_open(const char **why)
{
    static struct gpu_nvrtc api;
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", NULL};
    const struct symbol symbols[] = {GPU_NVRTC_CALLS(SYMBOL)};
    return api.nvrtcVersion || open_symbols(names, symbols, sizeof symbols / sizeof symbols[0], why) ? &api
                                                                                                     : NULL;
}
#endif

/* Of lists whose rows are (name, arguments). */
#define TYPED_SYMBOL(name, args) {NAME_OF(name), (void **)&api.name},

#ifdef GPU_HAVE_CUPTI
const struct gpu_cupti *gpu_cupti_open(const char **why)
{
    static struct gpu_cupti api;
    static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so", NULL};
    const struct symbol symbols[] = {GPU_CUPTI_CALLS(TYPED_SYMBOL)};
    return api.cuptiGetResultString || open_symbols(names, symbols, sizeof symbols / sizeof symbols[0], why)
               ? &api
               : NULL;
}
#endif

const struct gpu_nvml *gpu_nvml_open(const char **why)
{
    static struct gpu_nvml api;
    static const char *const names[] = {"libnvidia-ml.so.1", NULL};
    const struct symbol symbols[] = {GPU_NVML_CALLS(TYPED_SYMBOL)};
    if (api.nvmlInit_v2)
        return &api;
    if (!open_symbols(names, symbols, sizeof symbols / sizeof symbols[0], why))
        return NULL;
    void *library = open_library(names);
    *(void **)&api.processes = library ? dlsym(library, GPU_NVML_PROCESSES) : NULL;
    return &api;
}

/* They open each other by name, so those of one version come together. */
const struct gpu_cublaslt_calls *gpu_cublaslt_open(const char **why)
{
    static struct gpu_cublaslt_calls api;
    static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so", NULL};
    const struct symbol symbols[] = {GPU_CUBLASLT_CALLS(TYPED_SYMBOL)};
    return api.cublasLtCreate || open_symbols(names, symbols, sizeof symbols / sizeof symbols[0], why) ? &api
                                                                                                       : NULL;
}

const struct gpu_cublas_calls *gpu_cublas_open(const char **why)
{
    static struct gpu_cublas_calls api;
    static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so", NULL};
    const struct symbol symbols[] = {GPU_CUBLAS_CALLS(TYPED_SYMBOL)};
    return api.cublasCreate_v2 || open_symbols(names, symbols, sizeof symbols / sizeof symbols[0], why)
               ? &api
               : NULL;
}
