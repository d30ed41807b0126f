/* states.c: the life of a job.
 *
 *     queued -> compiling -> running -> done | failed | cancelled
 *        ^----------------------'  (its worker was lost, once; or its daemon)
 *
 * A sweep goes the same way without a lease: it runs from its first child's lease to its last child's end (sweep.c).
 *
 * Every change goes through here: it writes the row, appends the event and wakes who waits for the job,
 * all in the transaction of the batch. A lease is a random token in the row with a deadline on the
 * monotonic clock, so a step of the wall clock ends nothing. The lease of an ended job stays in its row,
 * so that a result that is sent twice is known. */
#include "queue.h"

#include <cjson/cJSON.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    LEASE_MS = 10 * 1000, /* twenty heartbeats of a worker: a longer silence is no hiccup */
    MAX_LOSSES = 2,       /* a job that took two workers with it is not given a third */
    MAX_ATTEMPTS =
        10, /* leases, whoever's fault it was that they were lost: it may be the job that kills daemons */
    MAX_NOTES = 1000, /* events of an executor: one that babbles must not fill the disk */
    MAX_TEXT = 400    /* of the sentences below, with all that they name */
};

const char *queue_text(struct queue *q, const char *format, ...)
{
    char *to = la_arena_alloc(q->scratch, MAX_TEXT);
    if (!to)
        return NULL;
    va_list args;
    va_start(args, format);
    vsnprintf(to, MAX_TEXT, format, args);
    va_end(args);
    return to;
}

const char *const failure_kinds[FAILURE_KINDS] = {"user_error",      "kernel_fault", "timeout_queue",
                                                  "timeout_compile", "timeout_run",  "infra"};

static void count_end(struct tally *t, const struct job *job)
{
    t->done += job->state == JOB_DONE;
    t->cancelled += job->state == JOB_CANCELLED;
    if (job->state != JOB_FAILED)
        return;
    cJSON *failure = cJSON_Parse(job->failure ? job->failure : "{}");
    const char *kind = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(failure, "kind"));
    for (int i = 0; kind && i < FAILURE_KINDS; i++)
        t->failed[i] += strcmp(kind, failure_kinds[i]) == 0;
    cJSON_Delete(failure);
}

static void save(struct queue *q, const struct job *job, const char *event, const char *data)
{
    store_save(q->store, job);
    store_add_event(q->store, job->seq, q->today, event, data, INT64_MAX);
    queue_changed(q, job->seq);
}

void job_charge(struct queue *q, struct job *job)
{
    const int64_t most = job->budget.compile_ms + job->budget.run_ms + LEASE_MS, ms = q->now - job->leased;
    job->cost = ms < 1 ? 1 : ms < most ? ms : most;
    fair_charge(q, job->user, job->cost);
}

void job_submit(struct queue *q, struct job *job)
{
    job->state = JOB_QUEUED;
    job->created = q->today;
    job->deadline = job->open ? 0 : q->now + job->budget.queue_ms; /* a sweep's children have theirs */
    store_add(q->store, job);
    q->tally.submitted += !job->open;
    store_add_event(q->store, job->seq, q->today, "queued", NULL, INT64_MAX);
    queue_changed(q, WATCH_WORK);
}

void job_refuse(struct queue *q, struct job *job, const char *failure)
{
    job->state = JOB_FAILED;
    job->created = job->finished = q->today;
    job->failure = failure;
    store_add(q->store, job);
    count_end(&q->tally, job);
    save(q, job, "failed", failure);
}

void job_answer(struct queue *q, struct job *job, const struct job *earlier)
{
    job->state = JOB_DONE;
    job->created = job->finished = q->today;
    job->executor = earlier->executor;
    job->result = earlier->result;
    job->reused = earlier->id;
    store_add(q->store, job);
    store_copy_artifacts(q->store, earlier->seq, job->seq);
    q->tally.reused++;
    save(q, job, "done", queue_text(q, "{\"reused\":\"%s\"}", earlier->id));
}

void job_lease(struct queue *q, struct job *job, const struct worker *worker, const char *token)
{
    job->state = JOB_COMPILING;
    job->lease = token;
    job->worker = worker->name;
    job->local = worker->local;
    job->executor = worker->executor;
    job->attempts++;
    q->tally.leases++;
    job->leased = q->now;
    job->deadline = q->now + LEASE_MS;
    fair_leased(q, job->user);
    if (!job->started)
        job->started = q->today;
    if (job->parent)
        sweep_child_begins(q, job->parent);
    save(q, job, "leased",
         queue_text(q, "{\"worker\":\"%s\",\"executor\":\"%s\",\"attempt\":%lld}", worker->name,
                    worker->executor, (long long)job->attempts));
}

void job_heard(struct queue *q, struct job *job)
{
    if (job->deadline - q->now > LEASE_MS / 2) /* most heartbeats write nothing */
        return;
    store_heard(q->store, job->seq, q->now + LEASE_MS);
}

void job_note(struct queue *q, struct job *job, const char *type, const char *data)
{
    job->deadline = q->now + LEASE_MS;
    if (strcmp(type, "partial") == 0) {
        job->partial = data;
    } else {
        store_add_event(q->store, job->seq, q->today, type, data, MAX_NOTES);
    }
    store_save(q->store, job);
    queue_changed(q, job->seq);
}

void job_enter(struct queue *q, struct job *job, enum job_state state, const char *data)
{
    job->state = state;
    job->deadline = q->now + LEASE_MS;
    save(q, job, job_state_name(state), data);
}

void job_end(struct queue *q, struct job *job, enum job_state state, const char *data)
{
    job->state = state;
    job->finished = q->today;
    job->deadline = 0;
    if (state == JOB_FAILED)
        job->failure = data;
    if (strcmp(job->wants, "sweep") != 0)
        count_end(&q->tally, job);
    save(q, job, job_state_name(state), data);
    if (job->webhook) {
        store_add_hook(q->store, job->seq, q->today);
        queue_changed(q, WATCH_HOOKS);
    }
    if (job->parent)
        sweep_child_ended(q, job);
}

void job_cancel(struct queue *q, struct job *job)
{
    if (job->open)
        sweep_cancel(q, job);
    else if (job->state == JOB_QUEUED) {
        job_end(q, job, JOB_CANCELLED, NULL);
    } else if (!job->cancel) {
        job->cancel = true;
        save(q, job, "cancelling", NULL);
    }
}

static void requeue(struct queue *q, struct job *job, const char *why)
{
    fair_submitted(q, job->user); /* who may have been forgotten meanwhile */
    job->state = JOB_QUEUED;
    job->lease = NULL;
    job->deadline = q->now + job->budget.queue_ms;
    save(q, job, "queued", queue_text(q, "{\"reason\":\"%s\"}", why));
    queue_changed(q, WATCH_WORK);
}

void job_release(struct queue *q, struct job *job)
{
    if (job->cancel) {
        job_end(q, job, JOB_CANCELLED, NULL);
        return;
    }
    job->attempts--;
    requeue(q, job, "its worker ends");
}

static void fail_lost(struct queue *q, struct job *job, const char *why)
{
    static const char format[] =
        "{\"kind\":\"infra\",\"message\":\"%s; the job was started %lld times and lost %lld workers, and "
        "never came to an end\"}";
    job_end(q, job, JOB_FAILED, queue_text(q, format, why, (long long)job->attempts, (long long)job->losses));
}

/* Back to the queue, if that is not once too often. */
static void take_back(struct queue *q, struct job *job, const char *why)
{
    job->lease = NULL; /* what that worker may still send is refused */
    if (job->cancel)
        job_end(q, job, JOB_CANCELLED, NULL);
    else if (job->losses < MAX_LOSSES && job->attempts < MAX_ATTEMPTS)
        requeue(q, job, why);
    else
        fail_lost(q, job, why);
}

void job_lose(struct queue *q, struct job *job, const char *why)
{
    job->losses++;
    q->tally.lost++;
    take_back(q, job, why);
}

static void fail_waiting(struct queue *q, struct job *job)
{
    static const char format[] =
        "{\"kind\":\"timeout_queue\",\"message\":\"no worker%s%s was free within the %lld ms "
        "that the job may wait\"}";
    const bool any = strcmp(job->wants, "any") == 0;
    job_end(q, job, JOB_FAILED,
            queue_text(q, format, any ? "" : " with the executor ", any ? "" : job->wants,
                       (long long)job->budget.queue_ms));
}

static void overdue(struct queue *q, struct job *job)
{
    const int seconds = LEASE_MS / 1000;
    if (job_state_leased(job->state))
        job_lose(q, job, queue_text(q, "nothing was heard of the worker %s for %d s", job->worker, seconds));
    else
        fail_waiting(q, job);
}

void jobs_sweep(struct queue *q)
{
    struct job job = {0};
    while (la_arena_reset(q->scratch), store_find_overdue(q->store, q->scratch, q->now, &job))
        overdue(q, &job);
}

void jobs_recover(struct queue *q)
{
    struct job job = {0};
    while (la_arena_reset(q->scratch), store_find_leased(q->store, q->scratch, job.seq, &job)) {
        if (job.local) /* its worker died with the daemon: that is not counted against it */
            take_back(q, &job, "the daemon ended while it ran");
        else
            job_enter(q, &job, job.state, "{\"reason\":\"the daemon was restarted\"}");
    }
    store_restart_waiting(q->store, q->now);
}
