/* worker_run.c: one job, from its lease to what the daemon is told of its end.
 *
 *     daemon -> worker      the lease: spec and budget
 *     worker -> executor    the job                         compile budget begins
 *     executor -> worker    compile                         a compiler is started, and its end told
 *     executor -> worker    compiling, running, partial...  passed on; at "running" the run budget begins
 *     executor -> worker    result | failed                 -> {"state":"done"} | {"state":"failed"}
 *     ... dies              -> kernel_fault    ... takes too long -> killed, timeout_compile or timeout_run
 *     ... was dead already  -> {"state":"released"}: back to the queue, and not counted as an attempt
 *
 * What happens within a few milliseconds is told together, and with the end if that comes so soon: a short job
 * costs one round trip. While a job runs, the daemon hears a heartbeat twice a second; its answer may say that
 * the job is cancelled, or that the lease is lost: then the run is killed; and which job is likely to be next,
 * which is then compiled. A daemon that is away is no reason to stop: the budget is kept here, and so is what it
 * was not told. */
#include "worker.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEARTBEAT_MS = 500, /* so a cancelled job is off the card within a second; a twentieth of a lease */
    GATHER_MS = 5,    /* from an event to its telling: nobody sees that, and a short job has ended by then */
    MAX_UNTOLD = 256, /* events that are kept for a daemon that is away; of an executor that babbles */
    LET_GO_MS = 1000, /* for an executor to hear that there will be no kernel */
    USUAL_MS = 60 * 1000 /* a budget that the lease does not name */
};

struct run {
    struct gpu_client *client;
    struct gpu_child *child;
    struct gpu_compiler *compiler;
    const char *id, *lease;
    char path[128];
    char last[40]; /* the last event of the executor */
    int64_t begun, deadline, beat;
    int64_t compile_ms, run_ms;
    bool compiling; /* the executor waits for the compiler */
    bool running;   /* the run budget counts */
    bool lost;      /* the lease is */
    bool source_told;
    cJSON *untold; /* events that the daemon has not heard */
    cJSON *partial;
    cJSON *end; /* what the daemon shall be told */
};

static const char *text_of(const cJSON *object, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    return text ? text : "";
}

static int64_t budget_of(const cJSON *leased, const char *name)
{
    const cJSON *budget = cJSON_GetObjectItemCaseSensitive(leased, "budget");
    const cJSON *ms = cJSON_GetObjectItemCaseSensitive(budget, name);
    return cJSON_IsNumber(ms) && ms->valuedouble >= 1 && ms->valuedouble < 1e12 ? (int64_t)ms->valuedouble
                                                                                : USUAL_MS;
}

/* ---- what is told once --------------------------------------------------------------------------------------- */

/* Remove what the executor had so far from what is told: more of it follows. */
static void drop_partials(cJSON *events)
{
    for (cJSON *event = events->child, *next; event; event = next) {
        next = event->next;
        if (strcmp(text_of(event, "type"), "partial") == 0)
            cJSON_Delete(cJSON_DetachItemViaPointer(events, event));
    }
}

/* The daemon keeps the kernel's text beside the result, once it has it. */
static void drop_source(const struct run *r, cJSON *result)
{
    if (r->source_told)
        cJSON_DeleteItemFromObjectCaseSensitive(result, "source");
}

static bool holds_source(const cJSON *events)
{
    const cJSON *event;
    cJSON_ArrayForEach (event, events) {
        if (cJSON_HasObjectItem(event, "source"))
            return true;
    }
    return false;
}

/* ---- how it ends -------------------------------------------------------------------------------------------- */

static void end_with(struct run *r, const char *state)
{
    r->end = cJSON_CreateObject();
    cJSON_AddStringToObject(r->end, "lease", r->lease);
    cJSON_AddStringToObject(r->end, "state", state);
    drop_partials(r->untold);
    cJSON_AddItemToObject(r->end, "events", r->untold);
    r->untold = NULL;
    drop_source(r, r->partial);
    if (r->partial)
        cJSON_AddItemToObject(r->end, "partial", r->partial);
    r->partial = NULL;
}

/* A failure with what is known; the caller may add to it. */
static cJSON *fail(struct run *r, const char *kind, const char *message)
{
    end_with(r, "failed");
    cJSON *failure = cJSON_AddObjectToObject(r->end, "failure");
    cJSON_AddStringToObject(failure, "kind", kind);
    cJSON_AddStringToObject(failure, "message", message);
    cJSON_AddStringToObject(failure, "last_event", r->last);
    cJSON_AddNumberToObject(failure, "after_ms", (double)(gpu_clock_ms() - r->begun));
    if (r->child->last_len)
        cJSON_AddStringToObject(failure, "stderr", r->child->last_words);
    return failure;
}

static void fail_crashed(struct run *r)
{
    char how[128], message[256];
    gpu_child_describe(r->child, how, sizeof how);
    snprintf(message, sizeof message, "the executor %s; its last event was '%s'", how, r->last);
    fail(r, "kernel_fault", message);
}

static void fail_late(struct run *r)
{
    char message[256];
    const int64_t budget = r->running ? r->run_ms : r->compile_ms;
    snprintf(message, sizeof message, "the job %s for longer than its %lld ms and was killed",
             r->running ? "ran" : "was being compiled", (long long)budget);
    cJSON *failure = fail(r, r->running ? "timeout_run" : "timeout_compile", message);
    cJSON_AddNumberToObject(failure, "budget_ms", (double)budget);
}

/* End what runs. An executor that waits for its compiler lets go by itself, and lives. */
static void stop_run(struct run *r)
{
    bool let_go = false;
    if (r->compiling) {
        cJSON *line = cJSON_CreateObject(), *event = NULL;
        gpu_compiler_end(r->compiler);
        cJSON_AddStringToObject(line, "event", "failed");
        cJSON_AddStringToObject(line, "message", "given up");
        const int64_t until = gpu_clock_ms() + LET_GO_MS;
        let_go = gpu_child_send(r->child, line) &&
                 gpu_child_hear(r->child, until, -1, -1, &event) == GPU_HEARD_EVENT &&
                 strcmp(text_of(event, "event"), "failed") == 0;
        cJSON_Delete(event);
        cJSON_Delete(line);
    }
    r->compiling = false;
    if (!let_go)
        gpu_child_end(r->child);
}

/* ---- telling the daemon ------------------------------------------------------------------------------------- */

/* What there is to tell, or nothing but that the worker lives. A daemon that does not answer is told again with
 * the next heartbeat. */
static void tell(struct run *r)
{
    cJSON *body = cJSON_CreateObject(), *answer = NULL;
    cJSON_AddStringToObject(body, "lease", r->lease);
    cJSON_AddItemReferenceToObject(body, "events", r->untold);
    if (*r->compiler->arch)
        cJSON_AddStringToObject(body, "next", r->compiler->job);
    const int status = gpu_client_post(r->client, r->path, body, 0, -1, &answer);
    cJSON_Delete(body);
    r->beat = gpu_clock_ms() + HEARTBEAT_MS;
    if (status && status < 500) {
        r->source_told |= status == 200 && holds_source(r->untold);
        cJSON_Delete(r->untold);
        r->untold = cJSON_CreateArray();
    }
    r->lost = status == 409 || status == 404;
    if (r->lost || cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(answer, "cancel"))) {
        stop_run(r);
        end_with(r, "cancelled");
    } else {
        gpu_compiler_ahead(r->compiler, cJSON_GetObjectItemCaseSensitive(answer, "next"));
    }
    cJSON_Delete(answer);
}

/* Takes an event, to be told soon. */
static void note(struct run *r, cJSON *event)
{
    const int64_t soon = gpu_clock_ms() + GATHER_MS;
    if (cJSON_GetArraySize(r->untold) == MAX_UNTOLD) {
        cJSON_Delete(event);
        return;
    }
    cJSON_AddItemToArray(r->untold, event);
    if (soon < r->beat)
        r->beat = soon;
}

/* {"event":"running","job":"17",...} -> {"type":"running",...} */
static void pass_on(struct run *r, const cJSON *heard)
{
    cJSON *event = cJSON_Duplicate(heard, true);
    cJSON_DeleteItemFromObjectCaseSensitive(event, "event");
    cJSON_DeleteItemFromObjectCaseSensitive(event, "job");
    cJSON_AddStringToObject(event, "type", r->last);
    note(r, event);
}

/* ---- watching ----------------------------------------------------------------------------------------------- */

static void on_failed(struct run *r, cJSON *event)
{
    cJSON *failure = cJSON_DetachItemFromObjectCaseSensitive(event, "failure");
    end_with(r, "failed");
    if (!cJSON_IsObject(failure)) {
        cJSON_Delete(failure);
        failure = cJSON_CreateObject();
    }
    if (!*text_of(failure, "kind"))
        cJSON_AddStringToObject(failure, "kind", "infra");
    cJSON_AddItemToObject(r->end, "failure", failure);
    if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(event, "fatal")))
        gpu_child_end(r->child); /* it cannot go on, and is about to end by itself */
}

static void on_result(struct run *r, cJSON *event)
{
    cJSON *result = cJSON_DetachItemFromObjectCaseSensitive(event, "result");
    if (cJSON_IsObject(result)) {
        cJSON_Delete(r->partial); /* all of it is here */
        r->partial = NULL;
        end_with(r, "done");
        drop_source(r, result);
        cJSON_AddItemToObject(r->end, "result", result);
        return;
    }
    cJSON_Delete(result);
    fail(r, "infra", "the executor's result is not an object");
}

/* What it has so far is kept here, and there: a worker may die. */
static void on_partial(struct run *r, cJSON *event)
{
    cJSON_Delete(r->partial);
    r->partial = cJSON_DetachItemFromObjectCaseSensitive(event, "partial");
    cJSON *copy = cJSON_Duplicate(r->partial, true);
    cJSON_AddStringToObject(copy, "type", "partial");
    drop_source(r, copy);
    drop_partials(r->untold);
    note(r, copy);
}

/* The executor has no kernel yet, and waits for one. */
static void on_compile(struct run *r, const cJSON *event)
{
    r->compiling = true;
    if (gpu_compiler_begin(r->compiler, r->id, event, r->deadline))
        return;
    stop_run(r);
    fail(r, "infra", "no process could be started to compile the kernel");
}

/* Whether the compiler has ended: then the executor is told, and goes on or fails the job. */
static void watch_compiler(struct run *r)
{
    char why[1024];
    const enum gpu_compiling state = gpu_compiler_hear(r->compiler, why, sizeof why);
    if (!r->compiling || state == GPU_COMPILING || gpu_clock_ms() >= r->deadline)
        return;
    cJSON *line = cJSON_CreateObject();
    cJSON_AddStringToObject(line, "event", state == GPU_COMPILED ? "compiled" : "failed");
    cJSON_AddStringToObject(line, "message", why);
    r->compiling = false;
    gpu_child_send(r->child, line); /* one that does not read it is seen to be late, or dead */
    cJSON_Delete(line);
}

static void on_event(struct run *r, cJSON *event)
{
    const char *what = text_of(event, "event");
    if (strcmp(what, "compile") == 0) {
        on_compile(r, event);
        return;
    }
    if (strcmp(what, "result") == 0) {
        on_result(r, event);
        return;
    }
    if (strcmp(what, "failed") == 0) {
        on_failed(r, event);
        return;
    }
    snprintf(r->last, sizeof r->last, "%s", what);
    if (strcmp(what, "running") == 0 && !r->running) {
        r->running = true;
        r->deadline = gpu_clock_ms() + r->run_ms;
    }
    if (strcmp(what, "partial") == 0 && cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(event, "partial")))
        on_partial(r, event);
    else
        pass_on(r, event);
}

static void watch_once(struct run *r, int stop)
{
    cJSON *event = NULL;
    const int64_t until = r->beat < r->deadline ? r->beat : r->deadline;
    struct pollfd stopped = {.fd = stop, .events = POLLIN};
    switch (gpu_child_hear(r->child, until, stop, gpu_compiler_descriptor(r->compiler), &event)) {
    case GPU_HEARD_EVENT:
        on_event(r, event);
        cJSON_Delete(event);
        break;
    case GPU_HEARD_NOISE:
        gpu_child_end(r->child);
        fail(r, "infra", "the executor wrote a line that is no event");
        break;
    case GPU_HEARD_END:
        fail_crashed(r);
        break;
    case GPU_HEARD_NOTHING:
        if (poll(&stopped, 1, 0) > 0) {
            stop_run(r);
            end_with(r, "released");
        }
        break;
    }
    if (!r->end)
        watch_compiler(r);
    if (!r->end && gpu_clock_ms() >= r->deadline) {
        stop_run(r);
        fail_late(r);
    }
    if (!r->end && gpu_clock_ms() >= r->beat)
        tell(r);
}

static cJSON *job_line(const cJSON *leased, bool compiler)
{
    cJSON *line = cJSON_CreateObject();
    static const char *const members[] = {"job", "spec", "budget"};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        cJSON_AddItemToObject(line, members[i],
                              cJSON_Duplicate(cJSON_GetObjectItemCaseSensitive(leased, members[i]), true));
    cJSON_AddBoolToObject(line, "compiler", compiler);
    return line;
}

cJSON *gpu_run_job(struct gpu_client *client, struct gpu_child *child, struct gpu_compiler *compiler,
                   const cJSON *leased, int stop)
{
    struct run r = {.client = client,
                    .child = child,
                    .compiler = compiler,
                    .untold = cJSON_CreateArray(),
                    .id = text_of(leased, "job"),
                    .lease = text_of(leased, "lease"),
                    .last = "leased",
                    .begun = gpu_clock_ms(),
                    .compile_ms = budget_of(leased, "compile_ms"),
                    .run_ms = budget_of(leased, "run_ms")};
    snprintf(r.path, sizeof r.path, "/worker/jobs/%.64s/event", r.id);
    r.deadline = r.begun + r.compile_ms;
    r.beat = r.begun + HEARTBEAT_MS;
    child->last_len = 0;
    cJSON *line = job_line(leased, *compiler->arch);
    if (gpu_child_gone(child) || !gpu_child_send(child, line)) { /* it died idle: no fault of this job */
        gpu_child_end(child);
        end_with(&r, "released");
    }
    cJSON_Delete(line);
    while (!r.end)
        watch_once(&r, stop);
    cJSON_Delete(r.partial);
    cJSON_Delete(r.untold);
    if (!r.lost)
        return r.end;
    cJSON_Delete(r.end);
    return NULL;
}
