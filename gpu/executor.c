/* executor.c: the process that runs jobs: a line of JSON in, lines of JSON out. It holds the device and no
 * lease.
 *
 *   -> {"event":"ready","device":{...}}            or {"event":"unavailable","reason":"..."} and exit
 *   <- {"job":"17","spec":{...},"budget":{"run_ms":10000}}
 *   -> {"event":"compiling","job":"17"}
 *   -> {"event":"compile","job":"17","source":"..."}     only after "compiler":true in the job: when the kernel is
 *   <- {"event":"compiled"} or "failed"                  not in the cache
 *   -> {"event":"partial","job":"17","partial":{...}}    what the result holds so far
 *   -> {"event":"running","job":"17"}
 *   -> {"event":"result","job":"17","result":{...}}
 *   or {"event":"failed","job":"17","failure":{"kind":"user_error","message":"..."},"fatal":false}
 *
 * After "fatal":true the process ends: CUDA cannot go on in it. Everything else (deadlines, restarts) is the
 * parent's. */
#include "internal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_UNAVAILABLE = 3, EXIT_FATAL = 4, EXIT_USAGE = 2 };
#define ARENA_BYTES ((size_t)256 << 20) /* of one job: the moves of the largest tile take 64 MiB */

double gpu_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

void gpu_job_lap(struct gpu_job *job, const char *what, double *since)
{
    const double now = gpu_now_ms();
    cJSON_AddNumberToObject(job->timings, what, now - *since);
    *since = now;
}

void gpu_send_line(FILE *out, cJSON *line)
{
    char *text = cJSON_PrintUnformatted(line);
    if (text)
        fprintf(out, "%s\n", text);
    fflush(out);
    cJSON_free(text);
    cJSON_Delete(line);
}

static cJSON *new_event(const char *event, const char *job)
{
    cJSON *line = cJSON_CreateObject();
    cJSON_AddStringToObject(line, "event", event);
    if (job)
        cJSON_AddStringToObject(line, "job", job);
    return line;
}

void gpu_job_event(const struct gpu_job *job, const char *event)
{
    gpu_send_line(job->out, new_event(event, job->id));
}

void gpu_job_partial(const struct gpu_job *job)
{
    cJSON *line = new_event("partial", job->id);
    cJSON_AddItemReferenceToObject(line, "partial", job->result);
    gpu_send_line(job->out, line);
}

bool gpu_job_fail(struct gpu_job *job, enum gpu_failure_kind kind, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    job->failure.kind = kind;
    vsnprintf(job->failure.message, sizeof job->failure.message, format, args);
    va_end(args);
    return false;
}

static void send_failure(const struct gpu_job *job)
{
    static const char *const kinds[] = {"user_error", "kernel_fault", "infra"};
    const struct gpu_failure *f = &job->failure;
    cJSON *line = new_event("failed", job->id);
    cJSON *failure = cJSON_AddObjectToObject(line, "failure");
    cJSON_AddStringToObject(failure, "kind", kinds[f->kind]);
    cJSON_AddStringToObject(failure, "message", f->message);
    if (f->field)
        cJSON_AddStringToObject(failure, "field", f->field);
    cJSON_AddBoolToObject(line, "fatal", f->fatal);
    gpu_send_line(job->out, line);
}

/* ---- one job ---- */

struct running {
    struct gpu_job *job;
    const struct gpu_backend *backend;
    bool ok;
};

/* In a la_try: what the backend builds in the arena may not fit. */
static void run_body(struct la_ctx *cx, void *arg)
{
    struct running *r = arg;
    struct gpu_job *job = r->job;
    cJSON_AddStringToObject(job->result, "executor", r->backend->name);
    cJSON_AddNumberToObject(job->result, "seed", (double)job->seed);
    cJSON_AddItemToObject(job->result, "spec", gpu_plan_spec(cx, job->plan));
    cJSON_AddItemToObject(job->result, "plan", gpu_plan_facts(cx, job->plan));
    cJSON *counters = cJSON_AddObjectToObject(job->result, "counters");
    if (gpu_kind_of(job->plan)->predict)
        cJSON_AddItemToObject(counters, "predicted", gpu_kind_of(job->plan)->predict(cx, job->plan));
    cJSON_AddStringToObject(job->result, "source", job->source);
    r->ok = r->backend->run(job);
}

/* The plan and its kernel; a refusal is the user's to mend. */
static bool prepare(struct gpu_job *job, const struct gpu_backend *backend, const cJSON *spec)
{
    struct gpu_plan *plan = NULL;
    double since = gpu_now_ms();
    if (!gpu_plan_make(job->cx, spec, &plan, &job->failure.field))
        return gpu_job_fail(job, GPU_USER_ERROR, "%s", job->cx->error.message);
    job->plan = plan;
    job->seed = plan->seed ? plan->seed : gpu_random_seed();
    if (plan->where != GPU_ANYWHERE && strcmp(gpu_where_name(plan->where), backend->name) != 0)
        return gpu_job_fail(job, GPU_INFRA, "the job asks for the executor '%s'; this one is '%s'",
                            gpu_where_name(plan->where), backend->name);
    job->source = gpu_emit(job->cx, plan);
    if (!job->source)
        return gpu_job_fail(job, GPU_INFRA, "%s", job->cx->error.message);
    gpu_job_lap(job, "plan", &since);
    return true;
}

static bool run_job(struct gpu_job *job, const struct gpu_backend *backend, const cJSON *spec)
{
    if (!prepare(job, backend, spec))
        return false;
    struct running r = {job, backend, false};
    if (!la_try(job->cx, run_body, &r))
        r.ok = gpu_job_fail(job, GPU_INFRA, "%s", job->cx->error.message);
    backend->release();
    return r.ok;
}

static double budget_ms(const cJSON *line, const char *name)
{
    const cJSON *budget = cJSON_GetObjectItemCaseSensitive(line, "budget");
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(budget, name);
    return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

/* Answer one line. False when the process must end. */
static bool serve(struct la_ctx *cx, const struct gpu_backend *backend, const cJSON *device,
                  const cJSON *line, FILE *out)
{
    struct gpu_job job = {.cx = cx,
                          .out = out,
                          .run_ms = budget_ms(line, "run_ms"),
                          .compiler = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(line, "compiler")) ? stdin
                                                                                                       : NULL,
                          .result = cJSON_CreateObject(),
                          .timings = cJSON_CreateObject()};
    cJSON_AddItemToObject(job.result, "device", cJSON_Duplicate(device, true));
    job.id = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(line, "job"));
    const cJSON *spec = cJSON_GetObjectItemCaseSensitive(line, "spec");
    const bool ok = job.id && spec
                        ? run_job(&job, backend, spec)
                        : gpu_job_fail(&job, GPU_INFRA, "not a job: a line is {\"job\":...,\"spec\":...}");
    if (ok) {
        cJSON_AddItemToObject(job.result, "timings_ms", job.timings);
        cJSON *event = new_event("result", job.id);
        cJSON_AddItemToObject(event, "result", job.result);
        gpu_send_line(out, event);
    } else {
        send_failure(&job);
        cJSON_Delete(job.result);
        cJSON_Delete(job.timings);
    }
    return !job.failure.fatal;
}

static int serve_all(struct la_ctx *cx, const struct gpu_backend *backend, const cJSON *device, FILE *out)
{
    char *text = NULL;
    size_t cap = 0;
    bool alive = true;
    while (alive && getline(&text, &cap, stdin) > 0) {
        la_arena_reset(cx->arena);
        cJSON *line = cJSON_Parse(text);
        alive = serve(cx, backend, device, line, out);
        cJSON_Delete(line);
    }
    free(text);
    return alive ? EXIT_SUCCESS : EXIT_FATAL;
}

/* The stream for events; whatever else is printed to standard output (by a library, say) goes to standard
 * error. */
static FILE *claim_output(void)
{
    const int fd = dup(STDOUT_FILENO);
    if (fd < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return NULL;
    return fdopen(fd, "w");
}

/* "cpu", "gpu", "gpu:1" */
static const struct gpu_backend *choose_backend(const char *which, int *index)
{
    char *end;
    *index = 0;
    if (!strcmp(which, "cpu"))
        return &gpu_backend_cpu;
    if (!strcmp(which, "gpu"))
        return &gpu_backend_gpu;
    if (strncmp(which, "gpu:", 4) != 0)
        return NULL;
    const long n = strtol(which + 4, &end, 10);
    *index = (int)n;
    return end != which + 4 && !*end && n >= 0 && n < 1024 ? &gpu_backend_gpu : NULL;
}

int gpu_executor_main(const char *which)
{
    int index;
    const struct gpu_backend *backend = choose_backend(which, &index);
    if (!backend) {
        fprintf(stderr, "executor: '%s' is no executor; cpu, gpu and gpu:N are\n", which);
        return EXIT_USAGE;
    }
    struct la_ctx cx = {.arena = la_arena_new(ARENA_BYTES)};
    FILE *out = claim_output();
    if (!cx.arena || !out) {
        fprintf(stderr, "executor: no memory or no standard output\n");
        return EXIT_FAILURE;
    }
    const char *why = NULL;
    cJSON *device = backend->open(&cx, index, &why);
    int status = EXIT_UNAVAILABLE;
    cJSON *line = new_event(device ? "ready" : "unavailable", NULL);
    if (device)
        cJSON_AddItemToObject(line, "device", cJSON_Duplicate(device, true));
    else
        cJSON_AddStringToObject(line, "reason", why ? why : "unknown");
    gpu_send_line(out, line);
    if (device)
        status = serve_all(&cx, backend, device, out);
    cJSON_Delete(device);
    fclose(out);
    la_arena_free(cx.arena);
    return status;
}
