/* worker_compile.c: kernels compiled in a process of their own, for the job that runs or ahead for the next.
 *
 *     daemon -> worker      {"next":{"job":"18","spec":{...}}}, while job 17 runs     -> compiled ahead
 *     executor -> worker    {"event":"compile","job":"18","source":"..."}             -> the one that waits
 *     worker -> executor    {"event":"compiled"} | {"event":"failed","message":"..."}
 *
 * What comes of it is a file in the cache of kernels, where the executor looks first: so a repeat starts no
 * process, and what was compiled ahead is simply there. A compiler that hangs is killed, and the executor lives.
 *
 * Invariant: one compiler at a time; what an executor waits for goes before what is ahead. */
#include "worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { AHEAD_MS = 60 * 1000 /* a hint must not hold a core for ever; NVRTC takes 0.1 s */ };

static bool begin(struct gpu_compiler *c, const char *job, const char *what, const cJSON *value,
                  int64_t deadline)
{
    const int64_t left = deadline - gpu_clock_ms();
    cJSON *line = cJSON_CreateObject();
    cJSON_AddStringToObject(line, "arch", c->arch);
    cJSON_AddItemToObject(line, what, cJSON_Duplicate(value, true));
    cJSON_AddNumberToObject(line, "limit_ms", left > 1 ? (double)left : 1);
    cJSON_AddBoolToObject(line, "ahead", strcmp(what, "spec") == 0);
    snprintf(c->job, sizeof c->job, "%s", job);
    c->done = false;
    c->deadline = deadline;
    const bool ok = gpu_child_start(&c->child, NULL, "compile", NULL);
    if (ok && !gpu_child_send(&c->child, line))
        gpu_child_end(&c->child);
    cJSON_Delete(line);
    return ok;
}

void gpu_compiler_ahead(struct gpu_compiler *c, const cJSON *next)
{
    const char *job = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(next, "job"));
    const cJSON *spec = cJSON_GetObjectItemCaseSensitive(next, "spec");
    char why[256];
    if (!*c->arch || !job || !cJSON_IsObject(spec))
        return;
    if (strcmp(job, c->job) != 0 && gpu_compiler_hear(c, why, sizeof why) != GPU_COMPILING)
        begin(c, job, "spec", spec, gpu_clock_ms() + AHEAD_MS);
}

bool gpu_compiler_begin(struct gpu_compiler *c, const char *job, const cJSON *asked, int64_t deadline)
{
    char why[256];
    const bool same = strcmp(c->job, job) == 0;
    const enum gpu_compiling state = same ? gpu_compiler_hear(c, why, sizeof why) : GPU_NOT_COMPILED;
    c->deadline = deadline;
    if (state != GPU_NOT_COMPILED)
        return true;
    gpu_compiler_end(c);
    return begin(c, job, "source", cJSON_GetObjectItemCaseSensitive(asked, "source"), deadline);
}

/* What it says, while it has something to say. */
static enum gpu_heard hear(struct gpu_compiler *c, char *why, size_t size)
{
    cJSON *event = NULL;
    const enum gpu_heard heard = gpu_child_hear(&c->child, gpu_clock_ms(), -1, -1, &event);
    const char *what = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(event, "event"));
    const char *message = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(event, "message"));
    c->done |= what && strcmp(what, "compiled") == 0;
    if (message)
        snprintf(why, size, "%s", message);
    cJSON_Delete(event);
    return heard;
}

enum gpu_compiling gpu_compiler_hear(struct gpu_compiler *c, char *why, size_t size)
{
    enum gpu_heard heard = GPU_HEARD_EVENT;
    *why = '\0';
    while (c->child.pid && heard == GPU_HEARD_EVENT && !c->done)
        heard = hear(c, why, size);
    if (c->child.pid && heard == GPU_HEARD_NOTHING && gpu_clock_ms() < c->deadline)
        return GPU_COMPILING;
    const bool late = heard == GPU_HEARD_NOTHING;
    gpu_compiler_end(c);
    if (!c->done && late)
        snprintf(why, size, "the compiler did not end in time and was killed");
    else if (!c->done && !*why) {
        char how[128];
        gpu_child_describe(&c->child, how, sizeof how);
        snprintf(why, size, "the compiler %s", how);
    }
    return c->done ? GPU_COMPILED : GPU_NOT_COMPILED;
}

int gpu_compiler_descriptor(const struct gpu_compiler *c)
{
    return c->child.pid ? c->child.out : -1;
}

void gpu_compiler_end(struct gpu_compiler *c)
{
    gpu_child_end(&c->child);
}
