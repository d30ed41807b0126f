/* lease.c: /worker/..., the workers' half of the queue.
 *
 *     POST /worker/register          a worker and its device            -> {"worker":"ID"}
 *     POST /worker/lease             waits for a job                    -> a job with its lease, or 204
 *     POST /worker/jobs/ID/event     compiling, running, a heartbeat... -> {"cancel":false}, and what is next
 *     POST /worker/jobs/ID/result    the end of it, and what led to it
 *     POST /worker/device            its executor was replaced
 *
 * A lease is a token: who shows it may speak for the job, until the job ends or the lease is lost. A worker
 * with a card names the job that it was last told of in "next", and is told of the one whose turn comes after
 * the one that it runs, when that is another: it may compile it, and has no right to it. One
 * endpoint is a row of the table below: what to read (lease_read.c), what to do in the queue's thread, what to
 * answer. */
#include "lease.h"

#include "auth.h"
#include "routes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MIN_TOKEN = 16 /* bytes of a token from the environment: a shorter one is guessed */ };

const char *const artifact_names[ARTIFACTS] = {"source", "ptx", "sass", "log"};

/* One endpoint: read the body (false: refused, and answered), run, answer. */
struct endpoint {
    const char *name;
    bool (*read)(struct request *rq, struct report *r);
    bool (*run)(struct queue *q, struct call *call);
    void (*answer)(struct request *rq, struct report *r);
    bool durable;
};

/* ---- in the queue's thread ---------------------------------------------------------------------------------- */

/* The worker begins anew: what its former process held is lost, and that process is a stranger now. */
static void begin_anew(struct queue *q, struct worker *w, const char *why)
{
    struct job job = {0};
    random_hex(w->id, (sizeof w->id - 1) / 2);
    while (la_arena_reset(q->scratch), store_find_leased(q->store, q->scratch, job.seq, &job))
        if (job.local == w->local && strcmp(job.worker, w->name) == 0)
            job_lose(q, &job, why);
    queue_changed(q, WATCH_WORK);
}

static bool run_register(struct queue *q, struct call *call)
{
    struct report *r = (struct report *)call;
    struct worker *w = worker_named(q, r->worker, r->local);
    if (!w || !worker_set(q, w, r->executor, r->device, r->state, r->reason)) {
        call->answer = ANSWER_MEMORY;
        return true;
    }
    begin_anew(q, w, "its worker was started anew while it ran");
    memcpy(r->new_id, w->id, sizeof r->new_id);
    return true;
}

static bool run_device(struct queue *q, struct call *call)
{
    struct report *r = (struct report *)call;
    struct worker *w = worker_find(q, r->worker);
    if (!w)
        call->answer = ANSWER_NONE;
    else if (!worker_set(q, w, NULL, r->device, r->state, r->reason))
        call->answer = ANSWER_MEMORY;
    return true;
}

/* The next job for a worker. Queued ones of a spec that was stopped meanwhile end here. */
static bool next_job(struct queue *q, const struct worker *w, struct la_arena *arena, struct job *out)
{
    while (fair_next(q, w, arena, out)) {
        if (!spec_is_stopped(q, out->spec))
            return true;
        job_end(q, out, JOB_FAILED, spec_stopped_failure);
        out->seq = 0;
    }
    return false;
}

static bool run_lease(struct queue *q, struct call *call)
{
    struct report *r = (struct report *)call;
    struct worker *w = worker_find(q, r->worker);
    if (!w) {
        call->answer = ANSWER_NONE;
        return true;
    }
    w->heard = q->now;
    call->watch = WATCH_WORK;
    if (q->server->draining || !next_job(q, w, call->arena, &r->job))
        return false;
    random_hex(r->token, (sizeof r->token - 1) / 2);
    job_lease(q, &r->job, w, r->token);
    return true;
}

/* The job that a lease speaks for, and its worker, if that is known. */
static bool find_leased(struct queue *q, struct report *r, struct job *job, struct worker **worker)
{
    *worker = NULL;
    if (!store_find(q->store, q->scratch, r->id, job)) {
        r->call.answer = ANSWER_NONE;
        return false;
    }
    if (!job->lease || strcmp(job->lease, r->lease) != 0) {
        r->call.answer = ANSWER_GONE;
        return false;
    }
    for (struct worker *w = q->workers; w; w = w->next)
        if (w->local == job->local && strcmp(w->name, job->worker) == 0)
            *worker = w;
    if (*worker)
        (*worker)->heard = q->now;
    return true;
}

static void put_artifacts(struct queue *q, const struct job *job, const struct report *r)
{
    for (int i = 0; i < ARTIFACTS; i++)
        if (r->artifacts[i])
            store_put_artifact(q->store, job->seq, artifact_names[i], r->artifacts[i]);
}

/* What has happened since the worker was last heard; nothing: it lives. */
static void enter_events(struct queue *q, struct job *job, const struct report *r)
{
    for (const struct line_of_history *e = r->events; e; e = e->following) {
        const enum job_state state = job_state_find(e->type);
        if (state < JOB_STATE_COUNT && job_state_leased(state))
            job_enter(q, job, state, e->data);
        else
            job_note(q, job, e->type, e->data);
    }
    put_artifacts(q, job, r);
}

/* The job that would be this worker's next, were it free now, unless it knows. */
static void find_hint(struct queue *q, struct report *r, const struct worker *w)
{
    struct job next;
    if (r->next && w && strcmp(w->executor, "gpu") == 0 && fair_next(q, w, r->call.arena, &next) &&
        strcmp(next.id, r->next) != 0)
        r->hint = next;
}

static bool run_event(struct queue *q, struct call *call)
{
    struct report *r = (struct report *)call;
    struct job job;
    struct worker *worker;
    if (!find_leased(q, r, &job, &worker))
        return true;
    if (!job_state_leased(job.state)) {
        call->answer = ANSWER_GONE;
        return true;
    }
    if (r->events)
        enter_events(q, &job, r);
    else
        job_heard(q, &job);
    r->cancel = job.cancel;
    find_hint(q, r, worker);
    return true;
}

/* The same result twice, by a worker that missed the answer to the first, is accepted once. */
static bool run_result(struct queue *q, struct call *call)
{
    struct report *r = (struct report *)call;
    struct job job;
    struct worker *worker;
    if (!find_leased(q, r, &job, &worker) || job_state_ended(job.state))
        return true;
    enter_events(q, &job, r);
    if (r->partial)
        job.partial = r->partial;
    if (r->result) /* all of it is there */
        job.partial = NULL;
    job.result = r->result;
    if (strcmp(r->state, "released") == 0)
        job_release(q, &job);
    else if (r->ours)
        job_end(q, &job, JOB_FAILED, r->failure);
    else {
        job_charge(q, &job);
        job_end(q, &job, job_state_find(r->state), r->failure);
    }
    return true;
}

/* ---- answering ---------------------------------------------------------------------------------------------- */

static void write_leased(struct json *j, void *arg)
{
    const struct job *job = arg;
    json_open(j, '{');
    json_key(j, "job");
    json_text(j, job->id);
    json_key(j, "lease");
    json_text(j, job->lease);
    json_key(j, "spec");
    json_raw(j, job->spec, strlen(job->spec));
    json_key(j, "budget");
    json_open(j, '{');
    json_key(j, "compile_ms");
    json_int(j, job->budget.compile_ms);
    json_key(j, "run_ms");
    json_int(j, job->budget.run_ms);
    json_close(j, '}');
    json_close(j, '}');
}

static void answer_lease(struct request *rq, struct report *r)
{
    if (r->job.seq)
        respond_written(rq, 200, "application/json", write_leased, &r->job);
    else
        respond(rq, 204, NULL, "", 0);
}

static void answer_register(struct request *rq, struct report *r)
{
    const char *text = la_format(&rq->cx, "{\"worker\":\"%s\"}", r->new_id);
    respond(rq, 200, "application/json", text, strlen(text));
}

static void write_report(struct json *j, void *arg)
{
    const struct report *r = arg;
    json_open(j, '{');
    json_key(j, "cancel");
    json_bool(j, r->cancel);
    if (r->hint.seq) {
        json_key(j, "next");
        json_open(j, '{');
        json_key(j, "job");
        json_text(j, r->hint.id);
        json_key(j, "spec");
        json_raw(j, r->hint.spec, strlen(r->hint.spec));
        json_close(j, '}');
    }
    json_close(j, '}');
}

static void answer_report(struct request *rq, struct report *r)
{
    respond_written(rq, 200, "application/json", write_report, r);
}

static const struct endpoint endpoints[] = {
    {"register", lease_read_register, run_register, answer_register, false},
    {"device", lease_read_device, run_device, answer_report, false},
    {"lease", lease_read_lease, run_lease, answer_lease, false},
    {"event", lease_read_event, run_event, answer_report, false},
    {"result", lease_read_result, run_result, answer_report, true},
};

/* tail = name | "jobs/" ID "/" name */
static const struct endpoint *find_endpoint(struct request *rq, const char **id)
{
    const char *name = rq->tail;
    *id = NULL;
    if (strncmp(name, "jobs/", 5) == 0 && strchr(name + 5, '/')) {
        const size_t len = strcspn(name + 5, "/");
        *id = la_format(&rq->cx, "%.*s", (int)len, name + 5);
        name += 5 + len + 1;
    }
    for (size_t i = 0; i < sizeof endpoints / sizeof *endpoints; i++) {
        const bool of_job = endpoints[i].run == run_event || endpoints[i].run == run_result;
        if (of_job == (*id != NULL) && strcmp(endpoints[i].name, name) == 0)
            return &endpoints[i];
    }
    return NULL;
}

/* ---- tokens ------------------------------------------------------------------------------------------------- */

/* The time does not tell how much of it was right. */
static bool same_token(const char *given, const char *token)
{
    if (!token || strlen(given) != strlen(token))
        return false;
    unsigned char difference = 0;
    for (; *token; token++, given++)
        difference |= (unsigned char)(*token ^ *given);
    return difference == 0;
}

/* Of workers from elsewhere; the daemon has it in its environment or there are none. */
static const char *remote_token(void)
{
    const char *token = getenv("LAYOUTD_WORKER_TOKEN");
    return token && strlen(token) >= MIN_TOKEN ? token : NULL;
}

/* Who may speak as a worker: a child of this daemon (*local), or one with the token for workers from
 * elsewhere. */
static bool is_worker(struct request *rq, bool *local)
{
    const char *given = request_header(rq, "Authorization");
    if (!given || strncmp(given, "Bearer ", 7) != 0)
        return false;
    *local = same_token(given + 7, rq->server->worker_token);
    return *local || same_token(given + 7, remote_token()) || auth_has(rq, "worker");
}

static struct report *begin_report(struct request *rq)
{
    bool local;
    const char *id;
    if (!is_worker(rq, &local)) {
        respond_header(rq, "WWW-Authenticate", "Bearer realm=\"layoutd\", scope=\"worker\"");
        respond_problem(rq, 401, "unauthorized",
                        "workers show the token in LAYOUTD_WORKER_TOKEN, or one with the scope worker");
        return NULL;
    }
    const struct endpoint *endpoint = find_endpoint(rq, &id);
    if (!endpoint) {
        respond_problem(rq, 404, "not_found", "the lease protocol has no '%.80s'", rq->tail);
        return NULL;
    }
    struct report *r = jobs_call(rq, sizeof *r, endpoint->run);
    r->call.durable = endpoint->durable;
    r->endpoint = endpoint;
    r->local = local;
    r->id = id;
    return endpoint->read(rq, r) ? r : NULL;
}

void handle_worker(struct request *rq)
{
    struct report *r = rq->state ? rq->state : begin_report(rq);
    if (!r || !jobs_ask(rq, &r->call))
        return;
    if (r->call.answer == ANSWER_OK)
        r->endpoint->answer(rq, r);
    else if (r->call.answer == ANSWER_NONE && r->worker)
        respond_problem(rq, 404, "not_found",
                        "no worker has this id; register (again, if the daemon was restarted)");
    else
        respond_refusal(rq, &r->call);
}

/* ---- for the engine ----------------------------------------------------------------------------------------- */

struct note {
    struct call call;
    const char *name, *executor, *state, *reason;
    int64_t count;
};

static bool run_note(struct queue *q, struct call *call)
{
    const struct note *n = (const struct note *)call;
    struct worker *w = worker_named(q, n->name, true);
    if (!w || !worker_set(q, w, n->executor, NULL, n->state, n->reason))
        call->answer = ANSWER_MEMORY;
    else
        begin_anew(q, w, "its worker died while it ran");
    return true;
}

void worker_note(struct queue *q, const char *name, const char *executor, const char *state,
                 const char *reason)
{
    struct note n = {.call.run = run_note,
                     .name = name,
                     .executor = executor,
                     .state = worker_state_find(state),
                     .reason = reason};
    queue_do(q, &n.call);
}

static bool run_count(struct queue *q, struct call *call)
{
    struct note *n = (struct note *)call;
    struct job job = {0};
    while (la_arena_reset(q->scratch), store_find_leased(q->store, q->scratch, job.seq, &job))
        n->count += job.local;
    return true;
}

int64_t local_jobs(struct queue *q)
{
    struct note n = {.call.run = run_count};
    queue_do(q, &n.call);
    return n.count;
}
