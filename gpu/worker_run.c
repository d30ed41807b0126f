/* worker_run.c: one job, from its lease to what the daemon is told of its end.
 *
 *     daemon -> worker      the lease: spec and budget
 *     worker -> executor    the job                         compile budget begins
 *     executor -> worker    compiling, running, partial...  passed on; at "running" the run budget begins
 *     executor -> worker    result | failed                 -> {"state":"done"} | {"state":"failed"}
 *     ... dies              -> kernel_fault    ... takes too long -> killed, timeout_compile or timeout_run
 *     ... was dead already  -> {"state":"released"}: back to the queue, and not counted as an attempt
 *
 * While it runs, the daemon hears a heartbeat twice a second; its answer may say that the job is
 * cancelled, or that the lease is lost: then the run is killed. A daemon that is away is no reason to
 * stop: the budget is kept here. */
#include "worker.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEARTBEAT_MS = 500,  /* so a cancelled job is off the card within a second; a twentieth of a lease */
    USUAL_MS = 60 * 1000 /* a budget that the lease does not name */
};

struct run {
    struct gpu_client *client;
    struct gpu_child *child;
    const char *id, *lease;
    char path[128];
    char last[40]; /* the last event of the executor */
    int64_t begun, deadline, beat;
    int64_t compile_ms, run_ms;
    bool running; /* the run budget counts */
    bool lost;    /* the lease is */
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

/* ---- how it ends -------------------------------------------------------------------------------------------- */

static void end_with(struct run *r, const char *state)
{
    r->end = cJSON_CreateObject();
    cJSON_AddStringToObject(r->end, "lease", r->lease);
    cJSON_AddStringToObject(r->end, "state", state);
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

/* ---- telling the daemon ------------------------------------------------------------------------------------- */

/* Takes the event. A daemon that does not answer is asked again with the next heartbeat. */
static void tell(struct run *r, cJSON *event)
{
    cJSON *body = cJSON_CreateObject(), *answer = NULL;
    cJSON_AddStringToObject(body, "lease", r->lease);
    cJSON_AddItemToObject(body, "event", event);
    const int status = gpu_client_post(r->client, r->path, body, 0, -1, &answer);
    cJSON_Delete(body);
    r->beat = gpu_clock_ms() + HEARTBEAT_MS;
    r->lost = status == 409 || status == 404;
    const bool cancel = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(answer, "cancel"));
    cJSON_Delete(answer);
    if (r->end || !(r->lost || cancel))
        return;
    gpu_child_end(r->child);
    end_with(r, "cancelled");
}

static void tell_alive(struct run *r)
{
    cJSON *event = cJSON_CreateObject();
    cJSON_AddStringToObject(event, "type", "heartbeat");
    tell(r, event);
}

/* {"event":"running","job":"17",...} -> {"type":"running",...} */
static void pass_on(struct run *r, const cJSON *heard)
{
    cJSON *event = cJSON_Duplicate(heard, true);
    cJSON_DeleteItemFromObjectCaseSensitive(event, "event");
    cJSON_DeleteItemFromObjectCaseSensitive(event, "job");
    cJSON_AddStringToObject(event, "type", r->last);
    tell(r, event);
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
    tell(r, copy);
}

static void on_event(struct run *r, cJSON *event)
{
    const char *what = text_of(event, "event");
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
    switch (gpu_child_hear(r->child, until, stop, &event)) {
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
            gpu_child_end(r->child);
            end_with(r, "released");
        }
        break;
    }
    if (!r->end && gpu_clock_ms() >= r->deadline) {
        gpu_child_end(r->child);
        fail_late(r);
    }
    if (!r->end && gpu_clock_ms() >= r->beat)
        tell_alive(r);
}

static cJSON *job_line(const cJSON *leased)
{
    cJSON *line = cJSON_CreateObject();
    static const char *const members[] = {"job", "spec", "budget"};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        cJSON_AddItemToObject(line, members[i],
                              cJSON_Duplicate(cJSON_GetObjectItemCaseSensitive(leased, members[i]), true));
    return line;
}

cJSON *gpu_run_job(struct gpu_client *client, struct gpu_child *child, const cJSON *leased, int stop)
{
    struct run r = {.client = client,
                    .child = child,
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
    cJSON *line = job_line(leased);
    if (gpu_child_gone(child) || !gpu_child_send(child, line)) { /* it died idle: no fault of this job */
        gpu_child_end(child);
        end_with(&r, "released");
    }
    cJSON_Delete(line);
    while (!r.end)
        watch_once(&r, stop);
    cJSON_Delete(r.partial);
    if (!r.lost)
        return r.end;
    cJSON_Delete(r.end);
    return NULL;
}
