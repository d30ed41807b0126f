/* metrics_jobs.c: the part of /metrics that is about jobs: what waits and runs, who runs it, what the store does.
 *
 *     layoutd_jobs{state="queued",class="interactive"} 3
 *     layoutd_store_batch_calls_bucket{le="8"} 120
 * Gauges are read from the store when somebody asks; counters are the queue's own tally since the daemon's start.
 * docs/metrics.md lists all of them, and a test holds it to that. */
#include "metrics.h"

#include "jobs.h"

#include <string.h>

static const char *const classes[CLASS_COUNT] = {
    [CLASS_INTERACTIVE] = "interactive", [CLASS_SWEEP] = "sweep"};
static const char *const executors[] = {"gpu", "cpu"};

struct counted {
    struct call call;
    struct tally tally;
    int64_t jobs[JOB_DONE][CLASS_COUNT];
    int64_t oldest_ms[CLASS_COUNT];
    int64_t workers[2][WORKER_STATES];
    int64_t bytes, hooks;
};

/* ---- in the queue's thread ---------------------------------------------------------------------------------- */

static bool run_count(struct queue *q, struct call *call)
{
    struct counted *c = (struct counted *)call;
    c->tally = q->tally;
    for (int i = 0; i < CLASS_COUNT; i++) {
        int64_t since = 0;
        c->jobs[JOB_QUEUED][i] = store_queued_in(q->store, i, &since);
        c->oldest_ms[i] = since && since < q->today ? q->today - since : 0;
        for (int state = JOB_COMPILING; state < JOB_DONE; state++)
            c->jobs[state][i] = store_count(q->store, (enum job_state)state, i);
    }
    for (int i = 0; i < 2; i++)
        workers_count(q, executors[i], c->workers[i]);
    c->bytes = store_bytes(q->store);
    c->hooks = store_hooks(q->store);
    return true;
}

struct call *metrics_jobs_begin(struct request *rq)
{
    struct counted *c = jobs_call(rq, sizeof *c, run_count);
    return &c->call;
}

/* ---- writing ------------------------------------------------------------------------------------------------ */

static void put_counter(struct json *out, const char *name, const char *help, uint64_t value)
{
    metrics_head(out, name, "counter", help);
    metrics_put(out, "%s %llu\n", name, (unsigned long long)value);
}

static void put_gauge(struct json *out, const char *name, const char *help, double value)
{
    metrics_head(out, name, "gauge", help);
    metrics_put(out, "%s %.10g\n", name, value);
}

static void put_queue(struct json *out, const struct counted *c)
{
    metrics_head(out, "layoutd_jobs", "gauge", "Jobs that have not ended.");
    for (int state = 0; state < JOB_DONE; state++)
        for (int i = 0; i < CLASS_COUNT; i++)
            metrics_put(out, "layoutd_jobs{state=\"%s\",class=\"%s\"} %lld\n",
                        job_state_name((enum job_state)state), classes[i], (long long)c->jobs[state][i]);
    metrics_head(out, "layoutd_queue_oldest_seconds", "gauge",
                 "For how long the oldest queued job has waited.");
    for (int i = 0; i < CLASS_COUNT; i++)
        metrics_put(out, "layoutd_queue_oldest_seconds{class=\"%s\"} %.3f\n", classes[i],
                    (double)c->oldest_ms[i] / 1e3);
}

static void put_ends(struct json *out, const struct tally *t)
{
    metrics_head(out, "layoutd_jobs_ended_total", "counter", "Jobs by how they ended.");
    metrics_put(out, "layoutd_jobs_ended_total{state=\"done\",kind=\"\"} %llu\n",
                (unsigned long long)t->done);
    metrics_put(out, "layoutd_jobs_ended_total{state=\"cancelled\",kind=\"\"} %llu\n",
                (unsigned long long)t->cancelled);
    for (int i = 0; i < FAILURE_KINDS; i++)
        metrics_put(out, "layoutd_jobs_ended_total{state=\"failed\",kind=\"%s\"} %llu\n", failure_kinds[i],
                    (unsigned long long)t->failed[i]);
}

static void put_workers(struct json *out, const struct counted *c)
{
    metrics_head(out, "layoutd_workers", "gauge",
                 "Workers by what they can do and what they say of themselves.");
    for (int i = 0; i < 2; i++)
        for (int state = 0; state < WORKER_STATES; state++)
            metrics_put(out, "layoutd_workers{executor=\"%s\",state=\"%s\"} %lld\n", executors[i],
                        worker_state_name(state), (long long)c->workers[i][state]);
}

static void put_batches(struct json *out, const struct tally *t)
{
    static const char name[] = "layoutd_store_batch_calls";
    unsigned long long below = 0;
    metrics_head(out, name, "histogram", "Requests that shared one commit to the disk.");
    for (int i = 0; i < BATCH_SIZES; i++) {
        below += t->batches[i];
        if (i + 1 < BATCH_SIZES)
            metrics_put(out, "%s_bucket{le=\"%d\"} %llu\n", name, 1 << i, below);
        else
            metrics_put(out, "%s_bucket{le=\"+Inf\"} %llu\n", name, below);
    }
    metrics_put(out, "%s_sum %llu\n%s_count %llu\n", name, (unsigned long long)t->batch_calls, name, below);
}

static void put_store(struct json *out, const struct counted *c)
{
    const struct tally *t = &c->tally;
    put_batches(out, t);
    put_counter(out, "layoutd_store_commits_total", "Commits, those included that wait for no disk.",
                t->commits);
    put_counter(out, "layoutd_store_commit_failures_total", "Commits that failed: a full disk, say.",
                t->uncommitted);
    metrics_head(out, "layoutd_store_commit_seconds_total", "counter", "Time that commits to the disk took.");
    metrics_put(out, "layoutd_store_commit_seconds_total %.6f\n", (double)t->commit_us / 1e6);
    put_gauge(out, "layoutd_store_bytes", "What is kept takes so much of the store's file.",
              (double)c->bytes);
}

void metrics_jobs_write(struct json *out, const struct call *call)
{
    const struct counted *c = (const struct counted *)call;
    const struct tally *t = &c->tally;
    put_gauge(out, "layoutd_queue_up", "Whether the queue of jobs answers.", call->answer == ANSWER_OK);
    if (call->answer != ANSWER_OK)
        return;
    put_queue(out, c);
    put_counter(out, "layoutd_jobs_submitted_total", "Jobs that were queued, children of sweeps included.",
                t->submitted);
    put_ends(out, t);
    put_counter(out, "layoutd_leases_total", "Jobs given to workers.", t->leases);
    put_counter(out, "layoutd_leases_lost_total", "Leases that ended with their worker.", t->lost);
    put_counter(out, "layoutd_answers_reused_total", "Specs that were answered from the store.", t->reused);
    put_workers(out, c);
    put_store(out, c);
    put_gauge(out, "layoutd_webhooks_due", "Webhooks that are not delivered yet.", (double)c->hooks);
    metrics_head(out, "layoutd_webhook_calls_total", "counter", "Webhook calls by whether they were taken.");
    for (int i = 0; i < 2; i++)
        metrics_put(out, "layoutd_webhook_calls_total{delivered=\"%s\"} %llu\n", i ? "true" : "false",
                    (unsigned long long)t->hooks[i]);
}
