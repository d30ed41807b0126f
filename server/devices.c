/* devices.c: who runs jobs, and GET /devices.
 *
 * A worker is known by its name, since that outlives its process; its id is new with every registration,
 * so what an old process still asks is refused. Local workers are in the list before their process is
 * ready, and stay when it cannot be: "unavailable", with the reason. All of this lives in memory: after a
 * restart of the daemon, workers register again.
 *
 * Invariant: only the queue's thread touches the list. */
#include "jobs.h"
#include "routes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SILENT_MS = 15 * 1000,      /* an idle worker asks every few seconds, a busy one reports twice a second */
    FORGET_MS = 10 * 60 * 1000, /* a remote worker that is gone for good */
    MAX_WORKERS = 256           /* far above any cluster's cards; each costs a few kilobytes */
};

/* The last one is the daemon's own word for a remote worker that is silent. */
static const char *const worker_states[WORKER_STATES] = {"starting",    "ready",       "restarting",
                                                         "quarantined", "unavailable", "lost"};
enum { WORKER_LOST = WORKER_STATES - 1 };

const char *worker_state_name(int state)
{
    return worker_states[state];
}

const char *worker_state_find(const char *name)
{
    for (int i = 0; i < WORKER_LOST; i++)
        if (strcmp(name, worker_states[i]) == 0)
            return worker_states[i];
    return NULL;
}

struct worker *worker_find(struct queue *q, const char *id)
{
    for (struct worker *w = q->workers; w; w = w->next)
        if (strcmp(w->id, id) == 0)
            return w;
    return NULL;
}

static bool is_silent(const struct queue *q, const struct worker *w)
{
    return q->now - w->heard > SILENT_MS;
}

static void forget(struct queue *q)
{
    for (struct worker **at = &q->workers; *at;) {
        struct worker *w = *at;
        if (w->local || q->now - w->heard < FORGET_MS) {
            at = &w->next;
            continue;
        }
        *at = w->next;
        free(w->device);
        free(w);
    }
}

struct worker *worker_named(struct queue *q, const char *name, bool local)
{
    forget(q);
    int count = 0;
    struct worker **at = &q->workers;
    for (; *at; at = &(*at)->next, count++)
        if ((*at)->local == local && strcmp((*at)->name, name) == 0)
            return *at;
    struct worker *w = count < MAX_WORKERS ? calloc(1, sizeof *w) : NULL;
    if (!w)
        return NULL;
    snprintf(w->name, sizeof w->name, "%s", name);
    w->local = local;
    w->state = worker_states[0];
    *at = w;
    return w;
}

bool worker_set(struct queue *q, struct worker *w, const char *executor, const char *device,
                const char *state, const char *reason)
{
    char *copy = device ? strdup(device) : NULL;
    if (device && !copy)
        return false;
    if (executor)
        snprintf(w->executor, sizeof w->executor, "%s", executor);
    if (device) {
        free(w->device);
        w->device = copy;
    }
    w->state = state;
    if (reason || strcmp(state, "ready") == 0)
        snprintf(w->reason, sizeof w->reason, "%s", reason ? reason : "");
    w->heard = q->now;
    queue_changed(q, WATCH_WORK); /* whether jobs wait for a GPU may have changed */
    return true;
}

static const char *worker_said(const struct queue *q, const struct worker *w)
{
    return !w->local && is_silent(q, w) ? worker_states[WORKER_LOST] : w->state;
}

void workers_count(const struct queue *q, const char *executor, int64_t counts[WORKER_STATES])
{
    for (const struct worker *w = q->workers; w; w = w->next)
        for (int i = 0; i < WORKER_STATES; i++)
            counts[i] += strcmp(w->executor, executor) == 0 && worker_said(q, w) == worker_states[i];
}

bool gpu_expected(const struct queue *q)
{
    for (const struct worker *w = q->workers; w; w = w->next)
        if (strcmp(w->executor, "gpu") == 0 && strcmp(w->state, "quarantined") != 0 &&
            strcmp(w->state, "unavailable") != 0 && (w->local || !is_silent(q, w)))
            return true;
    return false;
}

/* ---- GET /devices ------------------------------------------------------------------------------------------- */

struct device {
    struct worker worker; /* a copy, with its texts in the request's arena */
    bool silent;
    int64_t heard_ms; /* ago */
    const char *job;  /* that it runs */
    struct device *next;
};

struct devices {
    struct call call;
    struct device *first;
    int64_t counts[JOB_STATE_COUNT];
};

static const char *copy_text(struct la_arena *arena, const char *text)
{
    const size_t size = text ? strlen(text) + 1 : 0;
    char *copy = text ? la_arena_alloc(arena, size) : NULL;
    return copy ? memcpy(copy, text, size) : NULL;
}

/* The jobs that run, each with its worker. */
static void find_jobs(struct queue *q, struct devices *d)
{
    struct job job = {0};
    while (la_arena_reset(q->scratch), store_find_leased(q->store, q->scratch, job.seq, &job))
        for (struct device *at = d->first; at; at = at->next)
            if (at->worker.local == job.local && strcmp(at->worker.name, job.worker) == 0)
                at->job = copy_text(d->call.arena, job.id);
}

static bool run_devices(struct queue *q, struct call *call)
{
    struct devices *d = (struct devices *)call;
    struct device **end = &d->first;
    forget(q);
    for (const struct worker *w = q->workers; w; w = w->next) {
        struct device *device = la_arena_alloc(call->arena, sizeof *device);
        if (!device) {
            call->answer = ANSWER_MEMORY;
            return true;
        }
        *device = (struct device){.worker = *w, .silent = is_silent(q, w), .heard_ms = q->now - w->heard};
        device->worker.device = (char *)copy_text(call->arena, w->device);
        *end = device;
        end = &device->next;
    }
    find_jobs(q, d);
    for (int state = 0; state < JOB_DONE; state++)
        for (int class = 0; class < CLASS_COUNT; class ++)
            d->counts[state] += store_count(q->store, (enum job_state)state, class);
    return true;
}

/* What a person wants to know: is it there, and does it work? */
static const char *shown_state(const struct device *d)
{
    if (d->silent && !d->worker.local)
        return "lost";
    if (d->job && strcmp(d->worker.state, "ready") == 0)
        return "busy";
    return d->worker.state;
}

static void write_device(struct json *j, const struct device *d)
{
    json_open(j, '{');
    json_key(j, "worker");
    json_text(j, d->worker.name);
    json_key(j, "executor");
    json_text(j, d->worker.executor);
    json_key(j, "local");
    json_bool(j, d->worker.local);
    json_key(j, "state");
    json_text(j, shown_state(d));
    if (*d->worker.reason) {
        json_key(j, "reason");
        json_text(j, d->worker.reason);
    }
    json_key(j, "job");
    if (d->job)
        json_text(j, d->job);
    else
        json_null(j);
    json_key(j, "heard_ms_ago");
    json_int(j, d->heard_ms);
    if (d->worker.device) {
        json_key(j, "device");
        json_raw(j, d->worker.device, strlen(d->worker.device));
    }
    json_close(j, '}');
}

static void write_devices(struct json *j, void *arg)
{
    const struct devices *d = arg;
    json_open(j, '{');
    json_key(j, "devices");
    json_open(j, '[');
    for (const struct device *at = d->first; at; at = at->next)
        write_device(j, at);
    json_close(j, ']');
    json_key(j, "queue");
    json_open(j, '{');
    for (int state = 0; state < JOB_DONE; state++) {
        json_key(j, job_state_name((enum job_state)state));
        json_int(j, d->counts[state]);
    }
    json_close(j, '}');
    json_close(j, '}');
}

void handle_devices(struct request *rq)
{
    struct devices *d = rq->state ? rq->state : jobs_call(rq, sizeof *d, run_devices);
    if (!jobs_ask(rq, &d->call))
        return;
    if (d->call.answer != ANSWER_OK)
        respond_refusal(rq, &d->call);
    else
        respond_written(rq, 200, "application/json", write_devices, d);
}
