/* compile.c: CUDA C to machine code or PTX with NVRTC, which needs no GPU, and a cache on disk in front of it.
 *
 * What the machine code depends on is the key of the cache: the compiler (its version, and its file's size
 * and time, since versions repeat), the options, the architecture, the source. */
#include "internal.h"
#include "cuda_api.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/stat.h>

#ifdef GPU_HAVE_CUDA

static const char *const options[] = {"--std=c++17", "--minimal"};

bool gpu_compiler(const char **version, const char **why)
{
    static char text[128];
    const struct gpu_nvrtc *rtc = gpu_nvrtc_open(why);
    int major = 0, minor = 0;
    Dl_info info;
    struct stat st;
    if (!rtc)
        return false;
    rtc->nvrtcVersion(&major, &minor);
    int n = snprintf(text, sizeof text, "%d.%d", major, minor);
    if (dladdr(*(void *const *)&rtc->nvrtcVersion, &info) && stat(info.dli_fname, &st) == 0)
        snprintf(text + n, sizeof text - (size_t)n, " (%lld bytes of %lld)", (long long)st.st_size,
                 (long long)st.st_mtime);
    *version = text;
    return true;
}

/* The first line of a log that says "error", or the first. */
static const char *first_error(struct la_ctx *cx, const char *log)
{
    const char *line = log, *found = strstr(log, "error");
    for (const char *p = log; found && p < found; p++)
        if (*p == '\n')
            line = p + 1;
    char *text = la_arena_alloc(cx->arena, 256);
    if (!text)
        return "";
    snprintf(text, 256, "%.*s", (int)strcspn(line, "\n"), line);
    return text;
}

static const char *program_log(struct la_ctx *cx, const struct gpu_nvrtc *rtc, nvrtcProgram program)
{
    size_t size = 0;
    if (rtc->nvrtcGetProgramLogSize(program, &size) != NVRTC_SUCCESS || size < 2)
        return "";
    char *log = la_arena_alloc(cx->arena, size);
    return log && rtc->nvrtcGetProgramLog(program, log) == NVRTC_SUCCESS ? log : "";
}

static bool compile(struct la_ctx *cx, const struct gpu_nvrtc *rtc, nvrtcProgram program, const char *arch,
                    struct gpu_cubin *out)
{
    char target[64];
    const char *given[] = {options[0], options[1], target};
    snprintf(target, sizeof target, "--gpu-architecture=%s", arch);
    const nvrtcResult result = rtc->nvrtcCompileProgram(program, 3, given);
    out->log = program_log(cx, rtc, program);
    return result == NVRTC_SUCCESS || gpu_refuse(cx, LA_E_other, "NVRTC for %s: %s: %s", arch,
                                                 rtc->nvrtcGetErrorString(result), first_error(cx, out->log));
}

/* What a compilation gives: its size, and itself. */
struct product {
    const char *name;
    nvrtcResult (*size)(nvrtcProgram program, size_t *size);
    nvrtcResult (*get)(nvrtcProgram program, char *to);
};

static bool take(struct la_ctx *cx, const struct product *product, nvrtcProgram program, const char *arch,
                 struct gpu_cubin *out)
{
    if (product->size(program, &out->size) != NVRTC_SUCCESS || !out->size)
        return gpu_refuse(cx, LA_E_other, "NVRTC for %s gave no %s", arch, product->name);
    void *image = la_arena_alloc(cx->arena, out->size);
    if (!image)
        return gpu_refuse(cx, LA_E_limit, "no memory for %zu bytes of %s", out->size, product->name);
    out->image = image;
    return product->get(program, image) == NVRTC_SUCCESS ||
           gpu_refuse(cx, LA_E_other, "NVRTC for %s gave no %s", arch, product->name);
}

const char *gpu_compile_key(struct la_ctx *cx, const char *what, const char *source, const char *arch)
{
    const char *version, *why;
    if (!gpu_compiler(&version, &why))
        return NULL;
    const size_t size = strlen(what) + strlen(version) + strlen(source) + strlen(arch) + 128;
    char *key = la_arena_alloc(cx->arena, size);
    if (key)
        snprintf(key, size, "%snvrtc %s\n%s %s\n%s\n%s", what, version, options[0], options[1], arch, source);
    return key;
}

bool gpu_compile_cached(struct la_ctx *cx, const char *source, const char *arch, struct gpu_cubin *out)
{
    const char *key = gpu_compile_key(cx, "", source, arch);
    return key && gpu_cache_read(cx, key, out);
}

static bool make(struct la_ctx *cx, const char *what, const char *source, const char *arch,
                 struct gpu_cubin *out)
{
    const char *why, *version, *key;
    nvrtcProgram program;
    *out = (struct gpu_cubin){.log = ""};
    if (!gpu_compiler(&version, &why))
        return gpu_refuse(cx, LA_E_other, "no compiler: %s", why);
    if ((key = gpu_compile_key(cx, what, source, arch)) && gpu_cache_read(cx, key, out))
        return true;
    const struct gpu_nvrtc *rtc = gpu_nvrtc_open(&why);
    const struct product code = {"machine code", rtc->nvrtcGetCUBINSize, rtc->nvrtcGetCUBIN},
                         ptx = {"PTX", rtc->nvrtcGetPTXSize, rtc->nvrtcGetPTX};
    if (rtc->nvrtcCreateProgram(&program, source, "kernel.cu", 0, NULL, NULL) != NVRTC_SUCCESS)
        return gpu_refuse(cx, LA_E_other, "NVRTC could not start");
    const bool ok = compile(cx, rtc, program, arch, out) &&
                    take(cx, *what ? &ptx : &code, program, arch, out);
    rtc->nvrtcDestroyProgram(&program);
    if (ok && key)
        gpu_cache_write(cx, key, out);
    return ok;
}

bool gpu_compile(struct la_ctx *cx, const char *source, const char *arch, struct gpu_cubin *out)
{
    return make(cx, "", source, arch, out);
}

bool gpu_compile_ptx(struct la_ctx *cx, const char *source, const char *arch, const char **text)
{
    struct gpu_cubin out;
    const bool ok = make(cx, "ptx ", source, arch, &out);
    *text = out.image; /* NVRTC ends it with a NUL */
    return ok;
}

#else

bool gpu_compiler(const char **version, const char **why)
{
    (void)version;
    *why = "built without CUDA headers";
    return false;
}

bool gpu_compile(struct la_ctx *cx, const char *source, const char *arch, struct gpu_cubin *out)
{
    (void)source, (void)arch;
    *out = (struct gpu_cubin){.log = ""};
    return gpu_refuse(cx, LA_E_other, "no compiler: built without CUDA headers");
}

const char *gpu_compile_key(struct la_ctx *cx, const char *what, const char *source, const char *arch)
{
    (void)cx, (void)what, (void)source, (void)arch;
    return NULL;
}

bool gpu_compile_cached(struct la_ctx *cx, const char *source, const char *arch, struct gpu_cubin *out)
{
    (void)cx, (void)source, (void)arch, (void)out;
    return false;
}

bool gpu_compile_ptx(struct la_ctx *cx, const char *source, const char *arch, const char **text)
{
    struct gpu_cubin none;
    *text = NULL;
    return gpu_compile(cx, source, arch, &none);
}

#endif
