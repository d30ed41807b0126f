/* compile_main.c: the process that compiles: one request, one answer, with limits.
 *
 *     <- {"arch":"sm_90a","spec":{...},"limit_ms":60000,"ahead":true}    or "source" instead of "spec"
 *     -> {"event":"compiled","cached":false}                             it is in the cache
 *     or {"event":"failed","message":"..."}
 *     with "want":"ptx" or "sass": {"event":"compiled","text":"..."}
 *
 * Its parent has the deadline; what this process asks of the kernel for itself is to be stopped when it uses more
 * processor time than that, or more memory than any kernel needs, and to be last in the line for the processor when it
 * works ahead. It never touches a card. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define ARENA_BYTES ((size_t)256 << 20) /* as an executor's: the same plans */
#define MEMORY_BYTES ((rlim_t)4 << 30)  /* beyond what the process has at its start; NVRTC takes 0.2 GiB */
enum { AHEAD_NICE = 10, USUAL_MS = 60 * 1000 };

/* Bytes of address space so far: a sanitizer's are most of it. */
static rlim_t own_bytes(void)
{
    unsigned long long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (!f || fscanf(f, "%llu", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

static void limit_self(const cJSON *request)
{
    const cJSON *ms = cJSON_GetObjectItemCaseSensitive(request, "limit_ms");
    const double limit = cJSON_IsNumber(ms) && ms->valuedouble >= 1 && ms->valuedouble < 1e9 ? ms->valuedouble
                                                                                             : USUAL_MS;
    const rlim_t seconds = (rlim_t)(limit / 1000) + 1, bytes = own_bytes() + MEMORY_BYTES;
    setrlimit(RLIMIT_CPU, &(struct rlimit){seconds, seconds + 1});
    setrlimit(RLIMIT_AS, &(struct rlimit){bytes, bytes});
    if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(request, "ahead")) && nice(AHEAD_NICE) == -1)
        return; /* it is only polite */
}

static const char *text_of(const cJSON *request, const char *name)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(request, name));
}

/* The kernel: as it was given, or of a spec; NULL with cx->error. */
static const char *read_source(struct la_ctx *cx, const cJSON *request)
{
    const cJSON *spec = cJSON_GetObjectItemCaseSensitive(request, "spec");
    const char *source = text_of(request, "source"), *field = NULL;
    struct gpu_plan *plan;
    if (source || !spec) {
        if (!source)
            gpu_refuse(cx, LA_E_arity, "a request has a 'spec' or a 'source'");
        return source;
    }
    return gpu_plan_make(cx, spec, &plan, &field) ? gpu_emit(cx, plan) : NULL;
}

/* Fill the answer; false with cx->error. */
static bool answer(struct la_ctx *cx, const cJSON *request, cJSON *out)
{
    const char *arch = text_of(request, "arch"), *want = text_of(request, "want"), *text = NULL;
    const char *source = arch ? read_source(cx, request) : NULL;
    struct gpu_cubin cubin;
    if (!arch)
        return gpu_refuse(cx, LA_E_arity, "a request is a line of JSON with an 'arch'");
    if (!source)
        return false;
    if (!want) {
        const bool ok = gpu_compile(cx, source, arch, &cubin);
        cJSON_AddBoolToObject(out, "cached", cubin.cached);
        return ok;
    }
    if (strcmp(want, "ptx") != 0 && strcmp(want, "sass") != 0)
        return gpu_refuse(cx, LA_E_unknown_name, "there is PTX and SASS, and no '%.20s'", want);
    const bool ok = strcmp(want, "ptx") == 0 ? gpu_compile_ptx(cx, source, arch, &text)
                                             : gpu_disassemble(cx, source, arch, &text);
    return ok && cJSON_AddStringToObject(out, "text", text);
}

int gpu_compile_main(void)
{
    struct la_ctx cx = {.arena = la_arena_new(ARENA_BYTES)};
    char *line = NULL;
    size_t cap = 0;
    if (!cx.arena || getline(&line, &cap, stdin) <= 0)
        return EXIT_FAILURE;
    cJSON *request = cJSON_Parse(line), *out = cJSON_CreateObject();
    limit_self(request);
    const bool ok = answer(&cx, request, out);
    cJSON_AddStringToObject(out, "event", ok ? "compiled" : "failed");
    if (!ok)
        cJSON_AddStringToObject(out, "message", cx.error.message);
    gpu_send_line(stdout, out);
    cJSON_Delete(request);
    free(line);
    la_arena_free(cx.arena);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
