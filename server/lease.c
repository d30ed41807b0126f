/* lease.c: /worker/..., the workers' half of the queue.
 *
 *     POST /worker/register          a worker and its device            -> {"worker":"ID"}
 *     POST /worker/lease             waits for a job                    -> a job with its lease, or 204
 *     POST /worker/jobs/ID/event     compiling, running, a heartbeat... -> {"cancel":false}
 *     POST /worker/jobs/ID/result    the end of it
 *     POST /worker/device            its executor was replaced
 *
 * A lease is a token: who shows it may speak for the job, until the job ends or the lease is lost. One
 * endpoint is a row of the table below: what to read, what to do in the queue's thread, what to answer. */
#include "auth.h"
#include "jobs.h"
#include "routes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_LEASE_WAIT_S = 30, /* of "Prefer: wait": below every proxy's patience */
    MAX_EVENT = 64 * 1024, /* bytes of an event: a line of the job's history */
    MIN_TOKEN = 16         /* bytes of a token from the environment: a shorter one is guessed */
};

/* Texts that have their own addresses: /jobs/ID/source. */
static const char *const artifact_names[] = {"source", "ptx", "sass", "log"};
enum { ARTIFACTS = sizeof artifact_names / sizeof *artifact_names };

static const char *const failure_kinds[] = {"user_error",      "kernel_fault", "timeout_queue",
                                            "timeout_compile", "timeout_run",  "infra"};

struct report {
    struct call call;
    const struct endpoint *endpoint;
    bool local;         /* with the token of this daemon's own workers */
    const char *worker; /* its id; when it registers, its name */
    const char *executor, *device, *state, *reason;
    const char *id, *lease;
    const char *type, *data; /* of an event */
    const char *result, *failure, *partial;
    bool ours; /* the failure is no fault of the job */
    const char *artifacts[ARTIFACTS];
    char new_id[17]; /* of a worker that registered */
    struct job job;  /* the answer to a lease, with its token */
    char token[33];
    bool cancel; /* the answer to an event */
};

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

/* The job that a lease speaks for. */
static bool find_leased(struct queue *q, struct report *r, struct job *job)
{
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
            w->heard = q->now;
    return true;
}

static void put_artifacts(struct queue *q, const struct job *job, const struct report *r)
{
    for (int i = 0; i < ARTIFACTS; i++)
        if (r->artifacts[i])
            store_put_artifact(q->store, job->seq, artifact_names[i], r->artifacts[i]);
}

static bool run_event(struct queue *q, struct call *call)
{
    struct report *r = (struct report *)call;
    struct job job;
    if (!find_leased(q, r, &job))
        return true;
    if (!job_state_leased(job.state)) {
        call->answer = ANSWER_GONE;
        return true;
    }
    const enum job_state state = job_state_find(r->type);
    if (state < JOB_STATE_COUNT && job_state_leased(state))
        job_enter(q, &job, state, r->data);
    else if (strcmp(r->type, "heartbeat") == 0)
        job_heard(q, &job);
    else
        job_note(q, &job, r->type, r->data);
    put_artifacts(q, &job, r);
    r->cancel = job.cancel;
    return true;
}

/* The same result twice, by a worker that missed the answer to the first, is accepted once. */
static bool run_result(struct queue *q, struct call *call)
{
    struct report *r = (struct report *)call;
    struct job job;
    if (!find_leased(q, r, &job) || job_state_ended(job.state))
        return true;
    if (r->partial)
        job.partial = r->partial;
    if (r->result) /* all of it is there */
        job.partial = NULL;
    job.result = r->result;
    put_artifacts(q, &job, r);
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

/* ---- reading ------------------------------------------------------------------------------------------------ */

static bool refuse_field(struct request *rq, const char *name, const char *what)
{
    respond_problem(rq, 400, "bad_field", "'%s' takes %s", name, what);
    return false;
}

/* A member that is a text of 1 to `max` letters, digits and ._:@- : safe in JSON, logs and SQL alike. */
static bool read_word(struct request *rq, const char *name, size_t max, const char **out)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:@-";
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(rq->json, name);
    const char *text = cJSON_IsString(item) ? item->valuestring : "";
    const size_t len = strlen(text);
    *out = text;
    return (len > 0 && len <= max && strspn(text, letters) == len) ||
           refuse_field(rq, name, "a short text of letters, digits and ._:@-");
}

/* A member that is an object, as JSON text; NULL when it is absent. */
static bool read_object(struct request *rq, const char *name, const char **out)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(rq->json, name);
    *out = NULL;
    if (!item || cJSON_IsNull(item))
        return true;
    if (!cJSON_IsObject(item))
        return refuse_field(rq, name, "an object");
    *out = cJSON_PrintUnformatted(item);
    return *out || refuse_field(rq, name, "less memory than this");
}

/* What a worker says of itself: its state (ready when it is silent about it), why, and its device. */
static bool read_state(struct request *rq, struct report *r)
{
    const cJSON *state = cJSON_GetObjectItemCaseSensitive(rq->json, "state");
    const cJSON *reason = cJSON_GetObjectItemCaseSensitive(rq->json, "reason");
    r->state = worker_state_find(cJSON_IsString(state) ? state->valuestring : "ready");
    r->reason = cJSON_IsString(reason) ? reason->valuestring : NULL;
    return (r->state ||
            refuse_field(rq, "state", "starting, ready, restarting, quarantined or unavailable")) &&
           read_object(rq, "device", &r->device);
}

/* Texts of a result, or of what there is of one, that are kept beside it: taken out of it. */
static void take_artifacts(cJSON *result, struct report *r)
{
    for (int i = 0; i < ARTIFACTS; i++) {
        const cJSON *text = cJSON_DetachItemFromObjectCaseSensitive(result, artifact_names[i]);
        if (cJSON_IsString(text))
            r->artifacts[i] = text->valuestring;
    }
}

static bool read_register(struct request *rq, struct report *r)
{
    if (!read_word(rq, "name", sizeof((struct worker *)0)->name - 1, &r->worker) ||
        !read_word(rq, "executor", 3, &r->executor))
        return false;
    if (strcmp(r->executor, "gpu") != 0 && strcmp(r->executor, "cpu") != 0)
        return refuse_field(rq, "executor", "gpu or cpu");
    return read_state(rq, r);
}

static bool read_device(struct request *rq, struct report *r)
{
    return read_word(rq, "worker", 64, &r->worker) && read_state(rq, r);
}

static bool read_lease(struct request *rq, struct report *r)
{
    r->call.until = queue_clock() + INT64_C(1000) * request_wait_seconds(rq, MAX_LEASE_WAIT_S);
    return read_word(rq, "worker", 64, &r->worker);
}

static bool read_event(struct request *rq, struct report *r)
{
    cJSON *event = cJSON_GetObjectItemCaseSensitive(rq->json, "event");
    const cJSON *type = cJSON_DetachItemFromObjectCaseSensitive(event, "type");
    if (!read_word(rq, "lease", 64, &r->lease))
        return false;
    if (!cJSON_IsString(type) || !*type->valuestring || strlen(type->valuestring) > 32)
        return refuse_field(rq, "event", "an object with a short text as its type");
    r->type = type->valuestring;
    const bool partial = strcmp(r->type, "partial") == 0;
    if (partial)
        take_artifacts(event, r);
    if (event->child && !read_object(rq, "event", &r->data))
        return false;
    return !r->data || partial || strlen(r->data) <= MAX_EVENT ||
           refuse_field(rq, "event", "64 KiB at the most");
}

static bool is_failure(const cJSON *failure)
{
    const cJSON *kind = cJSON_GetObjectItemCaseSensitive(failure, "kind");
    for (size_t i = 0; cJSON_IsString(kind) && i < sizeof failure_kinds / sizeof *failure_kinds; i++)
        if (strcmp(kind->valuestring, failure_kinds[i]) == 0)
            return true;
    return false;
}

static bool read_result(struct request *rq, struct report *r)
{
    if (!read_word(rq, "lease", 64, &r->lease) || !read_word(rq, "state", 16, &r->state))
        return false;
    cJSON *result = cJSON_GetObjectItemCaseSensitive(rq->json, "result");
    const bool done = strcmp(r->state, "done") == 0, failed = strcmp(r->state, "failed") == 0;
    if (!done && !failed && strcmp(r->state, "cancelled") != 0 && strcmp(r->state, "released") != 0)
        return refuse_field(rq, "state", "done, failed, cancelled or released");
    if (done && !cJSON_IsObject(result))
        return refuse_field(rq, "result", "an object, when the state is done");
    const cJSON *failure = cJSON_GetObjectItemCaseSensitive(rq->json, "failure");
    if (failed && !is_failure(failure))
        return refuse_field(rq, "failure", "an object with the kind of the failure");
    r->ours = failed && strcmp(cJSON_GetObjectItemCaseSensitive(failure, "kind")->valuestring, "infra") == 0;
    take_artifacts(cJSON_GetObjectItemCaseSensitive(rq->json, "partial"), r);
    take_artifacts(result, r);
    return read_object(rq, "result", &r->result) && read_object(rq, "failure", &r->failure) &&
           read_object(rq, "partial", &r->partial);
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

static void answer_report(struct request *rq, struct report *r)
{
    const char *text = r->cancel ? "{\"cancel\":true}" : "{\"cancel\":false}";
    respond(rq, 200, "application/json", text, strlen(text));
}

static const struct endpoint endpoints[] = {
    {"register", read_register, run_register, answer_register, false},
    {"device", read_device, run_device, answer_report, false},
    {"lease", read_lease, run_lease, answer_lease, false},
    {"event", read_event, run_event, answer_report, false},
    {"result", read_result, run_result, answer_report, true},
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
