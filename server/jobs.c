/* jobs.c: /jobs and what lies below it, as seen by a client.
 *
 * An operation has two halves that stand together: run_... in the queue's thread, which reads and changes
 * jobs, and the handler, which runs once to ask and once more to answer:
 *
 *     struct fetch *f = rq->state ? rq->state : begin_fetch(rq);
 *     if (!jobs_ask(rq, &f->call)) return;         // parked
 *     answer from f
 *
 * Not here: POST /jobs (submit.c), the workers' side (lease.c, devices.c). */
#include "jobs.h"
#include "routes.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    MAX_WAIT_S = 60,      /* of "Prefer: wait": longer ones lose to proxies */
    PARK_SPARE_MS = 2000, /* the queue answers in time; this is for a disk that takes its own */
    MAX_LIST = 500,       /* jobs of one page */
    USUAL_LIST = 50,
    DRAIN_MS = 60 * 1000 /* what local workers run when the daemon is told to end may take this long */
};

/* Handlers look at server->jobs under it; jobs_close frees what it points to. */
static pthread_rwlock_t gate = PTHREAD_RWLOCK_INITIALIZER;

/* ---- asking ------------------------------------------------------------------------------------------------- */

void *jobs_call(struct request *rq, size_t size, bool (*run)(struct queue *q, struct call *call))
{
    struct call *call = memset(la_alloc(&rq->cx, size), 0, size);
    call->run = run;
    call->arena = rq->cx.arena;
    call->until = INT64_MAX;
    call->wakes = true;
    rq->state = call;
    return call;
}

/* An expired request is not parked again: its call must come back now. */
static bool ask_open(struct request *rq, struct queue *q, struct call *call)
{
    if (!call->sent) {
        call->sent = true; /* before it belongs to the queue's thread */
        if (!queue_send(q, call)) {
            call->answer = ANSWER_CLOSED;
            return true;
        }
    }
    const uint64_t epoch = http_epoch(rq->server);
    if (atomic_load(&call->done))
        return true;
    if (rq->expired) {
        queue_hurry(q, call);
        return true;
    }
    const int64_t left = call->until == INT64_MAX ? 0 : call->until - queue_clock();
    request_park(rq, queue_topic(call), epoch, (int)(left > 0 ? left : 0) + PARK_SPARE_MS);
    return false;
}

bool jobs_ask(struct request *rq, struct call *call)
{
    pthread_rwlock_rdlock(&gate);
    struct jobs *jobs = rq->server->jobs;
    bool answered = true;
    if (jobs)
        answered = ask_open(rq, jobs->queue, call);
    else if (!call->sent)
        call->answer = ANSWER_CLOSED;
    pthread_rwlock_unlock(&gate);
    return answered;
}

void respond_refusal(struct request *rq, const struct call *call)
{
    switch (call->answer) {
    case ANSWER_NONE:
        respond_problem(rq, 404, "not_found", "there is nothing called '%.80s' here", rq->tail);
        break;
    case ANSWER_GONE:
        respond_problem(rq, 409, "conflict", "the lease is no longer valid");
        break;
    case ANSWER_CONFLICT:
        respond_problem(rq, 409, "conflict", "the job has ended; there is nothing to cancel");
        break;
    case ANSWER_MEMORY:
        respond_problem(rq, 422, "limit", "the answer needs more memory than one request may use");
        break;
    case ANSWER_STORE:
        respond_header(rq, "Retry-After", "5");
        respond_problem(rq, 503, "unavailable", "the store of jobs cannot be written; nothing was changed");
        break;
    case ANSWER_OK:
    case ANSWER_CLOSED:
        respond_header(rq, "Retry-After", "5");
        respond_problem(rq, 503, "unavailable", "the daemon is starting or ending");
        break;
    }
}

struct writing {
    struct json json;
    void (*body)(struct json *j, void *arg);
    void *arg;
};

static void write_in_try(struct la_ctx *cx, void *arg)
{
    struct writing *w = arg;
    w->json = json_new(cx, 1024);
    w->body(&w->json, w->arg);
}

void respond_written(struct request *rq, int status, const char *type,
                     void (*body)(struct json *j, void *arg), void *arg)
{
    struct writing w = {.body = body, .arg = arg};
    respond_header(rq, "Cache-Control", "no-store"); /* the queue has moved on by the next request */
    if (la_try(&rq->cx, write_in_try, &w))
        respond(rq, status, type, w.json.data, w.json.len);
    else
        respond_error(rq, NULL);
}

/* ---- GET and DELETE /jobs/ID -------------------------------------------------------------------------------- */

struct fetch {
    struct call call;
    const char *id;
    const char *part; /* what is asked of it: NULL, "events", or an artifact */
    int64_t after;    /* events that the client has */
    int64_t seq;      /* of the job, once it is found */
    struct job job;
    int64_t position; /* queued jobs before it */
    const char *text; /* the artifact */
    struct event_list {
        struct event event;
        struct event_list *next;
    } * events;
};

bool job_await(struct queue *q, struct call *call, int64_t seq, struct job *out)
{
    struct job now;
    if (!store_get(q->store, q->scratch, seq, &now)) {
        call->answer = ANSWER_NONE;
        return true;
    }
    call->watch = seq;
    if (!job_state_ended(now.state) && !call->late)
        return false;
    store_get(q->store, call->arena, seq, out);
    return true;
}

static bool run_fetch(struct queue *q, struct call *call)
{
    struct fetch *f = (struct fetch *)call;
    struct job job;
    if (!f->seq && !store_find(q->store, q->scratch, f->id, &job)) {
        call->answer = ANSWER_NONE;
        return true;
    }
    f->seq = f->seq ? f->seq : job.seq;
    if (!job_await(q, call, f->seq, &f->job))
        return false;
    if (f->job.state == JOB_QUEUED)
        f->position = store_position(q->store, f->job.seq);
    return true;
}

static bool run_cancel(struct queue *q, struct call *call)
{
    struct fetch *f = (struct fetch *)call;
    if (!store_find(q->store, call->arena, f->id, &f->job))
        call->answer = ANSWER_NONE;
    else if (!job_state_ended(f->job.state))
        job_cancel(q, &f->job);
    else if (f->job.state != JOB_CANCELLED)
        call->answer = ANSWER_CONFLICT;
    return true;
}

static bool run_artifact(struct queue *q, struct call *call)
{
    struct fetch *f = (struct fetch *)call;
    struct job job;
    if (!store_find(q->store, q->scratch, f->id, &job) ||
        !(f->text = store_artifact(q->store, call->arena, job.seq, f->part)))
        call->answer = ANSWER_NONE;
    return true;
}

static bool run_events(struct queue *q, struct call *call)
{
    struct fetch *f = (struct fetch *)call;
    struct job job;
    if (!store_find(q->store, q->scratch, f->id, &job)) {
        call->answer = ANSWER_NONE;
        return true;
    }
    struct event event = {.seq = f->after};
    struct event_list **end = &f->events;
    while (store_next_event(q->store, call->arena, job.seq, event.seq, &event)) {
        *end = la_arena_alloc(call->arena, sizeof **end);
        if (!*end) {
            call->answer = ANSWER_MEMORY;
            return true;
        }
        **end = (struct event_list){.event = event};
        end = &(*end)->next;
    }
    return true;
}

static void write_job(struct json *j, void *arg)
{
    const struct fetch *f = arg;
    json_open(j, '{');
    job_write(j, &f->job, false);
    if (f->job.state == JOB_QUEUED) {
        json_key(j, "position");
        json_int(j, f->position + 1);
    }
    json_close(j, '}');
}

static void write_events(struct json *j, void *arg)
{
    const struct fetch *f = arg;
    json_open(j, '{');
    json_key(j, "events");
    json_open(j, '[');
    for (const struct event_list *e = f->events; e; e = e->next) {
        json_open(j, '{');
        json_key(j, "seq");
        json_int(j, e->event.seq);
        json_key(j, "at");
        json_time(j, e->event.at);
        json_key(j, "type");
        json_text(j, e->event.type);
        if (e->event.data) {
            json_key(j, "data");
            json_raw(j, e->event.data, strlen(e->event.data));
        }
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
}

/* A whole number of a query parameter; false, with the answer given, when it is none. */
static bool query_integer(struct request *rq, const char *name, int64_t min, int64_t max, int64_t *out)
{
    const char *text = request_query(rq, name);
    if (!text)
        return true;
    char *end;
    errno = 0;
    const long long n = strtoll(text, &end, 10);
    if (!*text || *end || errno || n < min || n > max) {
        respond_problem(rq, 400, "bad_field", "'%s' takes an integer from %lld to %lld, not '%.40s'", name,
                        (long long)min, (long long)max, text);
        return false;
    }
    *out = n;
    return true;
}

/* tail = ID ["/" part] */
static struct fetch *begin_fetch(struct request *rq)
{
    struct fetch *f = jobs_call(rq, sizeof *f, run_fetch);
    const size_t len = strcspn(rq->tail, "/");
    f->id = la_format(&rq->cx, "%.*s", (int)len, rq->tail);
    f->part = rq->tail[len] ? rq->tail + len + 1 : NULL;
    f->call.until = queue_clock() + INT64_C(1000) * request_wait_seconds(rq, MAX_WAIT_S);
    if (strcmp(rq->method, "DELETE") == 0) {
        f->call.run = run_cancel;
        f->call.durable = true;
    } else if (f->part && strcmp(f->part, "events") == 0) {
        f->call.run = run_events;
        if (!query_integer(rq, "after", 0, INT64_MAX, &f->after))
            return NULL;
    } else if (f->part) {
        f->call.run = run_artifact;
    }
    return f;
}

void handle_job(struct request *rq)
{
    struct fetch *f = rq->state ? rq->state : begin_fetch(rq);
    if (!f)
        return;
    if (f->part && f->call.run == run_cancel) {
        respond_problem(rq, 405, "method_not_allowed", "only a job itself can be cancelled: DELETE /jobs/%s",
                        f->id);
        return;
    }
    if (!jobs_ask(rq, &f->call))
        return;
    if (f->call.answer != ANSWER_OK)
        respond_refusal(rq, &f->call);
    else if (f->call.run == run_events)
        respond_written(rq, 200, "application/json", write_events, f);
    else if (f->call.run == run_artifact)
        respond(rq, 200, "text/plain; charset=utf-8", f->text, strlen(f->text));
    else /* a running job is cancelled by its worker, soon */
        respond_written(rq, f->call.run == run_cancel && !job_state_ended(f->job.state) ? 202 : 200,
                        "application/json", write_job, f);
}

/* ---- GET /jobs ---------------------------------------------------------------------------------------------- */

struct list {
    struct call call;
    enum job_state state;
    int64_t limit, before;
    int64_t count;
    struct job *jobs; /* one more than the limit, when there are more */
};

static bool run_list(struct queue *q, struct call *call)
{
    struct list *l = (struct list *)call;
    int64_t before = l->before;
    while (l->count <= l->limit &&
           store_find_before(q->store, call->arena, before, l->state, &l->jobs[l->count]))
        before = l->jobs[l->count++].seq;
    return true;
}

static void write_list(struct json *j, void *arg)
{
    const struct list *l = arg;
    json_open(j, '{');
    json_key(j, "jobs");
    json_open(j, '[');
    for (int64_t i = 0; i < l->count && i < l->limit; i++) {
        json_open(j, '{');
        job_write(j, &l->jobs[i], true);
        json_close(j, '}');
    }
    json_close(j, ']');
    if (l->count > l->limit) {
        const long long cursor = l->jobs[l->limit - 1].seq;
        const bool all = l->state == JOB_STATE_COUNT;
        json_key(j, "next");
        json_text(j, la_format(j->cx, "/jobs?cursor=%lld&limit=%lld%s%s", cursor, (long long)l->limit,
                               all ? "" : "&state=", all ? "" : job_state_name(l->state)));
    }
    json_close(j, '}');
}

static struct list *begin_list(struct request *rq)
{
    struct list *l = jobs_call(rq, sizeof *l, run_list);
    l->limit = USUAL_LIST;
    l->before = INT64_MAX;
    if (!query_integer(rq, "limit", 1, MAX_LIST, &l->limit) ||
        !query_integer(rq, "cursor", 1, INT64_MAX, &l->before))
        return NULL;
    const char *state = request_query(rq, "state");
    l->state = state ? job_state_find(state) : JOB_STATE_COUNT;
    if (state && l->state == JOB_STATE_COUNT) {
        respond_problem(
            rq, 400, "bad_field",
            "no job is ever '%.40s'; the states are queued, compiling, running, done, failed, cancelled",
            state);
        return NULL;
    }
    l->jobs = la_alloc(&rq->cx, (size_t)(l->limit + 1) * sizeof *l->jobs);
    return l;
}

void handle_jobs(struct request *rq)
{
    if (strcmp(rq->method, "POST") == 0) {
        handle_submit(rq);
        return;
    }
    struct list *l = rq->state ? rq->state : begin_list(rq);
    if (!l || !jobs_ask(rq, &l->call))
        return;
    if (l->call.answer != ANSWER_OK)
        respond_refusal(rq, &l->call);
    else
        respond_written(rq, 200, "application/json", write_list, l);
}

/* ---- the beginning and the end ------------------------------------------------------------------------------ */

bool jobs_open(struct server *server)
{
    struct jobs *jobs = calloc(1, sizeof *jobs);
    if (!jobs)
        return false;
    if (!queue_open(server, &jobs->queue)) {
        free(jobs);
        return false;
    }
    if (!engine_start(server, jobs->queue, &jobs->engine)) {
        queue_stop(jobs->queue);
        queue_free(jobs->queue);
        free(jobs);
        return false;
    }
    pthread_rwlock_wrlock(&gate);
    server->jobs = jobs;
    pthread_rwlock_unlock(&gate);
    return true;
}

/* Call it before http_stop: until local workers have ended, their results come over HTTP. */
void jobs_close(struct server *server)
{
    struct jobs *jobs = server->jobs;
    if (!jobs)
        return;
    server->draining = true;
    const int64_t until = queue_clock() + DRAIN_MS;
    while (local_jobs(jobs->queue) > 0 && queue_clock() < until)
        nanosleep(&(struct timespec){.tv_nsec = 20 * 1000000}, NULL);
    engine_stop(jobs->engine);
    queue_stop(jobs->queue);
    pthread_rwlock_wrlock(&gate);
    server->jobs = NULL;
    pthread_rwlock_unlock(&gate);
    queue_free(jobs->queue);
    free(jobs);
}
