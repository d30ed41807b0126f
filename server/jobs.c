/* jobs.c: how a handler asks the queue; and the queue's beginning and end.
 *
 * An operation has two halves that stand together: run_... in the queue's thread, which reads and changes
 * jobs, and the handler, which runs once to ask and once more to answer:
 *
 *     struct fetch *f = rq->state ? rq->state : begin_fetch(rq);
 *     if (!jobs_ask(rq, &f->call)) return;         // parked
 *     answer from f
 *
 * Not here: the handlers of clients (submit.c, sweep.c, job.c, job_events.c, job_list.c) and of workers (lease.c,
 * devices.c). */
#include "jobs.h"
#include "routes.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    PARK_SPARE_MS = 2000, /* the queue answers in time; this is for a disk that takes its own */
    DRAIN_MS = 60 * 1000  /* what local workers run when the daemon is told to end may take this long */
};

/* Handlers look at server->jobs under it; jobs_close frees what it points to. */
static pthread_rwlock_t gate = PTHREAD_RWLOCK_INITIALIZER;

struct jobs *jobs_enter(struct server *server)
{
    pthread_rwlock_rdlock(&gate);
    return server->jobs;
}

void jobs_leave(void)
{
    pthread_rwlock_unlock(&gate);
}

/* ---- asking ------------------------------------------------------------------------------------------------- */

/* The request is over before its answer: the call must come back before its memory goes. */
static void abandon(struct request *rq)
{
    struct call *call = rq->state;
    struct jobs *jobs = jobs_enter(rq->server);
    if (jobs && call->sent && !atomic_load(&call->done))
        queue_hurry(jobs->queue, call);
    jobs_leave();
}

void *jobs_call(struct request *rq, size_t size, bool (*run)(struct queue *q, struct call *call))
{
    struct call *call = memset(la_alloc(&rq->cx, size), 0, size);
    call->run = run;
    call->arena = rq->cx.arena;
    call->until = INT64_MAX;
    call->wakes = true;
    rq->state = call;
    rq->abandon = abandon;
    return call;
}

/* An expired request is not parked again: its call must come back now. */
static bool ask_open(struct request *rq, struct queue *q, struct call *call)
{
    if (!call->sent) {
        call->sent = true; /* before it belongs to the queue's thread */
        if (!queue_send(q, call)) {
            call->answer = ANSWER_CLOSED;
            atomic_store(&call->done, true);
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
    struct jobs *jobs = jobs_enter(rq->server);
    bool answered = true;
    if (jobs)
        answered = ask_open(rq, jobs->queue, call);
    else if (!call->sent)
        call->answer = ANSWER_CLOSED;
    jobs_leave();
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

/* ---- what handlers share ------------------------------------------------------------------------------------ */

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

bool query_integer(struct request *rq, const char *name, int64_t min, int64_t max, int64_t *out)
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

/* ---- the beginning and the end ------------------------------------------------------------------------------ */

static void stop_queue(struct jobs *jobs)
{
    webhooks_end(jobs->webhooks);
    queue_stop(jobs->queue);
    webhooks_free(jobs->webhooks);
}

bool jobs_open(struct server *server)
{
    struct jobs *jobs = calloc(1, sizeof *jobs);
    if (!jobs)
        return false;
    if (!queue_open(server, &jobs->queue)) {
        free(jobs);
        return false;
    }
    if (!webhooks_start(server, jobs->queue, &jobs->webhooks) || !artifacts_start(server, &jobs->artifacts) ||
        !engine_start(server, jobs->queue, &jobs->engine)) {
        artifacts_stop(jobs->artifacts);
        stop_queue(jobs);
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
    stop_queue(jobs);
    pthread_rwlock_wrlock(&gate);
    artifacts_stop(jobs->artifacts);
    server->jobs = NULL;
    pthread_rwlock_unlock(&gate);
    queue_free(jobs->queue);
    free(jobs);
}
