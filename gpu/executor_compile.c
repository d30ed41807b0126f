/* executor_compile.c: where a job's machine code comes from.
 *
 *     -> {"event":"compile","job":"17","source":"..."}
 *     <- {"event":"compiled"}                               the cache has it now
 *     or {"event":"failed","message":"..."}
 *
 * A repeat finds it in the cache and asks nobody. What is not there is compiled by a process that the parent starts
 * and may kill, so that a compiler that hangs or dies takes no card with it. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

/* Have it compiled; false with job->failure. */
static bool ask(struct gpu_job *job)
{
    char *text = NULL;
    size_t cap = 0;
    cJSON *line = cJSON_CreateObject();
    cJSON_AddStringToObject(line, "event", "compile");
    cJSON_AddStringToObject(line, "job", job->id);
    cJSON_AddStringToObject(line, "source", job->source);
    gpu_send_line(job->out, line);
    cJSON *answer = getline(&text, &cap, job->compiler) > 0 ? cJSON_Parse(text) : NULL;
    const char *event = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(answer, "event"));
    const char *message = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(answer, "message"));
    const bool ok = (event && strcmp(event, "compiled") == 0) ||
                    gpu_job_fail(job, GPU_INFRA, "%s", message ? message : "nobody compiles the kernel");
    cJSON_Delete(answer);
    free(text);
    return ok;
}

bool gpu_job_compile(struct gpu_job *job, const char *arch, struct gpu_cubin *out)
{
    if (gpu_compile_cached(job->cx, job->source, arch, out))
        return true;
    if (job->compiler && !ask(job))
        return false;
    if (!gpu_compile(job->cx, job->source, arch, out)) /* finds it in the cache, or has none to find it in */
        return gpu_job_fail(job, GPU_INFRA, "%s", job->cx->error.message);
    out->cached = false; /* not for this job */
    return true;
}
