/* job.c: GET and DELETE /jobs/ID.
 *
 *     GET /jobs/ID                                          what it is now, with an ETag
 *     ... Prefer: wait=30                                   when it has ended, or then
 *     ... Prefer: wait=30, If-None-Match: W/"7"             when it has changed, or 304 then
 *
 * The ETag is the row's version. It is weak, since the place in the queue moves without the job. */
#include "jobs.h"
#include "routes.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_WAIT_S = 60 /* of "Prefer: wait": longer ones lose to proxies */ };

/* ---- in the queue's thread ---------------------------------------------------------------------------------- */

bool fetch_find(struct queue *q, struct fetch *f, struct job *job)
{
    if (f->seq ? !store_get(q->store, q->scratch, f->seq, job)
               : !store_find(q->store, q->scratch, f->id, job)) {
        f->call.answer = ANSWER_NONE;
        return false;
    }
    f->seq = job->seq;
    return true;
}

static bool run_fetch(struct queue *q, struct call *call)
{
    struct fetch *f = (struct fetch *)call;
    struct job job;
    if (!fetch_find(q, f, &job))
        return true;
    call->watch = f->seq;
    const bool changed = f->known >= 0 && job.version != f->known;
    if (!job_state_ended(job.state) && !changed && !call->late)
        return false;
    store_get(q->store, call->arena, f->seq, &f->job);
    if (job.state == JOB_QUEUED)
        fair_position(q, &job, &f->position, &f->ms);
    if (strcmp(job.wants, "sweep") == 0)
        f->children = store_children(q->store, call->arena, f->seq);
    return true;
}

/* The row is read again: the job may have ended by it. */
static void cancel(struct queue *q, struct fetch *f)
{
    job_cancel(q, &f->job);
    store_get(q->store, f->call.arena, f->job.seq, &f->job);
}

static bool run_cancel(struct queue *q, struct call *call)
{
    struct fetch *f = (struct fetch *)call;
    if (!store_find(q->store, call->arena, f->id, &f->job))
        call->answer = ANSWER_NONE;
    else if (f->owner && strcmp(f->owner, f->job.user) != 0)
        f->forbidden = true;
    else if (!job_state_ended(f->job.state))
        cancel(q, f);
    else if (f->job.state != JOB_CANCELLED)
        call->answer = ANSWER_CONFLICT;
    return true;
}

/* ---- reading ------------------------------------------------------------------------------------------------ */

/* The version of If-None-Match: W/"7"; -1 when it names none. */
static int64_t known_version(struct request *rq)
{
    const char *tag = request_header(rq, "If-None-Match");
    const char *digits = tag ? strchr(tag, '"') : NULL;
    char *end = NULL;
    const long long version = digits ? strtoll(digits + 1, &end, 10) : -1;
    return digits && end > digits + 1 && *end == '"' && version >= 0 ? version : -1;
}

/* tail = ID ["/" part] */
static struct fetch *begin_fetch(struct request *rq)
{
    const size_t len = strcspn(rq->tail, "/");
    const char *part = rq->tail[len] ? rq->tail + len + 1 : NULL;
    const bool is_artifact = part && strcmp(part, "events") != 0;
    struct fetch *f = is_artifact ? artifact_begin(rq) : jobs_call(rq, sizeof *f, run_fetch);
    if (!f)
        return NULL;
    f->id = la_format(&rq->cx, "%.*s", (int)len, rq->tail);
    f->part = part;
    f->known = known_version(rq);
    f->call.until = queue_clock() + INT64_C(1000) * request_wait_seconds(rq, MAX_WAIT_S);
    if (strcmp(rq->method, "DELETE") == 0) {
        f->call.run = run_cancel;
        f->call.durable = true;
        f->owner = rq->admin ? NULL : rq->user;
    } else if (part && !is_artifact) {
        return events_begin(rq, f) ? f : NULL;
    }
    return f;
}

/* ---- the answer --------------------------------------------------------------------------------------------- */

static void write_job(struct json *j, void *arg)
{
    const struct fetch *f = arg;
    json_open(j, '{');
    job_write(j, &f->job, false);
    if (f->job.state == JOB_QUEUED)
        job_write_place(j, f->position, f->ms);
    if (f->children)
        sweep_write(j, f->children);
    json_close(j, '}');
}

static void respond_job(struct request *rq, struct fetch *f)
{
    const bool is_cancel = f->call.run == run_cancel;
    if (!is_cancel)
        respond_header(rq, "ETag", la_format(&rq->cx, "W/\"%lld\"", (long long)f->job.version));
    if (!is_cancel && f->known == f->job.version)
        respond(rq, 304, NULL, "", 0);
    else /* a running job is cancelled by its worker, soon */
        respond_written(rq, is_cancel && !job_state_ended(f->job.state) ? 202 : 200, "application/json",
                        write_job, f);
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
    if (f->part && strcmp(f->part, "events") == 0) {
        handle_events(rq);
        return;
    }
    if (f->part) {
        handle_artifact(rq, f);
        return;
    }
    if (!jobs_ask(rq, &f->call))
        return;
    if (f->forbidden)
        respond_problem(rq, 403, "forbidden", "the job belongs to %s", f->job.user);
    else if (f->call.answer != ANSWER_OK)
        respond_refusal(rq, &f->call);
    else
        respond_job(rq, f);
}
