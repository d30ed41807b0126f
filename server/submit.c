/* submit.c: POST /jobs.
 *
 *     {"kind":"copy",...,"executor":"cpu","fresh":true,"budget":{"run_ms":500}}
 *
 * The spec is resolved to a plan before anything is queued, so a partition that cannot run is refused at
 * once, with the field that is at fault. What says where, when and how long to run is taken out of the
 * spec; the rest in canonical form is the question, and one that was answered by the same kind of executor
 * is answered from the store. A spec whose last runs all ended in kernel faults is stopped: it is not queued again. */
#include "gpu.h"
#include "jobs.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    MAX_WAIT_S = 60, /* of "Prefer: wait", as for GET */
    MAX_KEY = 200,   /* bytes of an Idempotency-Key */
    QUEUE_MS = 3600 * 1000,
    MAX_QUEUE_MS = 24 * 3600 * 1000,
    COMPILE_MS = 60 * 1000,
    MAX_COMPILE_MS = 600 * 1000, /* NVRTC takes 0.1 s for a usual kernel */
    RUN_MS = 60 * 1000,
    MAX_RUN_MS = 3600 * 1000,
    MAX_FAULTS = 3,               /* kernel faults of one spec in a row: the fourth would not go better */
    FAULTS_MS = 24 * 3600 * 1000, /* older ones are forgotten: drivers and cards are replaced */
    MAX_WEBHOOK = 2000            /* bytes of an address */
};

struct submit {
    struct call call;
    struct job job;
    bool fresh;          /* of a sweep: its children */
    bool cached, reused; /* answered from the store; its key was used for another spec */
    bool stopped;        /* the spec is */
    struct child_spec *children;
    size_t count;
    struct child *ranked; /* of a sweep that was waited for */
    struct admission admission;
    int64_t now; /* milliseconds since 1970, of the answer */
};

/* ---- in the queue's thread ---------------------------------------------------------------------------------- */

static bool same_question(const struct job *a, const struct job *b)
{
    return strcmp(a->spec, b->spec) == 0 && strcmp(a->wants, b->wants) == 0 &&
           a->budget.queue_ms == b->budget.queue_ms && a->budget.compile_ms == b->budget.compile_ms &&
           a->budget.run_ms == b->budget.run_ms;
}

int64_t spec_answered(struct queue *q, const char *spec, const char *wants)
{
    const bool any = strcmp(wants, "any") == 0;
    return store_find_answer(q->store, spec, !any ? wants : gpu_expected(q) ? "gpu" : "cpu");
}

/* What is there already: the job of this key, or an answer to this spec. */
static bool find_earlier(struct queue *q, struct submit *s)
{
    struct job earlier;
    if (s->job.key && store_find_key(q->store, s->call.arena, s->job.user, s->job.key, &earlier)) {
        s->reused = !same_question(&s->job, &earlier);
        s->job = earlier;
        return true;
    }
    if (s->fresh || s->children ||
        !store_get(q->store, s->call.arena, spec_answered(q, s->job.spec, s->job.wants), &earlier))
        return false;
    s->job = earlier;
    s->cached = true;
    q->tally.reused++;
    return true;
}

const char spec_stopped_failure[] =
    "{\"kind\":\"kernel_fault\",\"message\":\"not run: this spec has ended in kernel faults too often\"}";

bool spec_is_stopped(struct queue *q, const char *spec)
{
    return store_is_faulty(q->store, spec, MAX_FAULTS, q->today - FAULTS_MS);
}

/* Queue a new job; false when it may not be. */
static bool queue_job(struct queue *q, struct submit *s)
{
    const int64_t jobs = s->children ? sweep_reuse(q, s->children, s->count, s->fresh) : 1;
    s->stopped = spec_is_stopped(q, s->job.spec);
    if (jobs)
        s->admission = fair_admit(q, s->job.user, jobs);
    if (s->stopped || s->admission.verdict != ADMITTED)
        return false;
    if (jobs)
        fair_submitted(q, s->job.user);
    if (s->children)
        sweep_submit(q, &s->job, s->children, s->count);
    else
        job_submit(q, &s->job);
    return true;
}

static bool run_submit(struct queue *q, struct call *call)
{
    struct submit *s = (struct submit *)call;
    s->now = q->today;
    if (!s->job.seq) {
        if (!find_earlier(q, s) && !queue_job(q, s))
            return true;
        if (s->cached || s->reused)
            return true;
    }
    if (!job_await(q, call, s->job.seq, &s->job))
        return false;
    if (s->children)
        s->ranked = store_children(q->store, call->arena, s->job.seq);
    return true;
}

/* ---- reading a submission ----------------------------------------------------------------------------------- */

struct refusal {
    const struct la_error *error;
    const char *field;
};

static void write_refusal(struct json *j, void *arg)
{
    const struct refusal *r = arg;
    static const char head[] =
        "\"type\":\"/problems/user_error\",\"title\":\"the partition cannot run\",\"status\":422,"
        "\"code\":\"user_error\"";
    json_open(j, '{');
    json_raw(j, head, sizeof head - 1);
    json_key(j, "detail");
    json_text(j, r->error->message);
    json_key(j, "reason"); /* the algebra's own code */
    json_text(j, la_error_name(r->error->code));
    if (r->field) {
        json_key(j, "in");
        json_text(j, r->field);
    }
    if (r->field && r->error->has_position) {
        json_key(j, "position");
        json_open(j, '{');
        json_key(j, "start");
        json_int(j, (int64_t)r->error->at);
        json_key(j, "end");
        json_int(j, (int64_t)(r->error->at + r->error->len));
        json_close(j, '}');
    }
    json_close(j, '}');
}

void respond_bad_spec(struct request *rq, const struct la_error *error, const char *field)
{
    struct refusal refusal = {error, field};
    respond_written(rq, 422, "application/problem+json", write_refusal, &refusal);
}

static bool refuse_because(struct request *rq, const char *field, enum la_error_code code,
                           const char *sentence)
{
    struct la_error error = {.code = code};
    snprintf(error.message, sizeof error.message, "%s", sentence);
    respond_bad_spec(rq, &error, field);
    return false;
}

/* One row a part of a job's life. */
static const struct limit {
    const char *name;
    size_t member; /* of struct budget */
    int64_t usual, max;
} limits[] = {
    {"queue_ms", offsetof(struct budget, queue_ms), QUEUE_MS, MAX_QUEUE_MS},
    {"compile_ms", offsetof(struct budget, compile_ms), COMPILE_MS, MAX_COMPILE_MS},
    {"run_ms", offsetof(struct budget, run_ms), RUN_MS, MAX_RUN_MS},
};
enum { LIMITS = sizeof limits / sizeof *limits };

static const struct limit *limit_find(const char *name)
{
    for (size_t i = 0; i < LIMITS; i++)
        if (strcmp(name, limits[i].name) == 0)
            return &limits[i];
    return NULL;
}

/* budget = {"queue_ms":N, "compile_ms":N, "run_ms":N}, each of which may be absent; taken out of the spec. */
static bool read_budget(struct request *rq, struct budget *budget, bool is_sweep)
{
    for (size_t i = 0; i < LIMITS; i++)
        *(int64_t *)((char *)budget + limits[i].member) = limits[i].usual;
    if (is_sweep)
        budget->queue_ms = MAX_QUEUE_MS; /* nobody waits for its last child */
    cJSON *given = cJSON_DetachItemFromObjectCaseSensitive(rq->json, "budget");
    if (!given)
        return true;
    if (!cJSON_IsObject(given))
        return refuse_because(rq, "budget", LA_E_kind,
                              "'budget' takes an object: {\"queue_ms\":N,\"compile_ms\":N,\"run_ms\":N}");
    const cJSON *item;
    cJSON_ArrayForEach (item, given) {
        const struct limit *limit = limit_find(item->string);
        if (!limit)
            return refuse_because(rq, "budget", LA_E_unknown_name,
                                  "a budget has queue_ms, compile_ms and run_ms only");
        int64_t ms;
        if (!json_get_int(given, limit->name, &ms) || ms < 1 || ms > limit->max)
            return refuse_because(rq, "budget", LA_E_domain,
                                  la_format(&rq->cx, "'%s' takes milliseconds from 1 to %lld", limit->name,
                                            (long long)limit->max));
        *(int64_t *)((char *)budget + limit->member) = ms;
    }
    return true;
}

/* A text member, taken out of the spec. */
static const char *take_text(cJSON *spec, const char *name, const char *otherwise)
{
    const cJSON *item = cJSON_DetachItemFromObjectCaseSensitive(spec, name);
    return cJSON_IsString(item) ? item->valuestring : otherwise;
}

/* 9 digits of time and 11 of chance, in Crockford's alphabet: sorts by submission, cannot be guessed. */
const char *new_id(struct la_ctx *cx)
{
    static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";
    enum { TIME_DIGITS = 9, CHANCE_DIGITS = 11 };
    unsigned char chance[CHANCE_DIGITS];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    char *id = la_alloc(cx, TIME_DIGITS + CHANCE_DIGITS + 1);
    for (int i = TIME_DIGITS - 1; i >= 0; i--, ms /= 32)
        id[i] = digits[ms % 32];
    random_bytes(chance, sizeof chance);
    for (int i = 0; i < CHANCE_DIGITS; i++)
        id[TIME_DIGITS + i] = digits[chance[i] % 32];
    id[TIME_DIGITS + CHANCE_DIGITS] = '\0';
    return id;
}

bool spec_read(struct la_ctx *cx, const struct server *server, cJSON *json, bool planned, struct spec *out,
               const char **field)
{
    struct gpu_plan *plan;
    enum gpu_plant plant;
    if (!gpu_spec_fields(cx, json, &plant, field) || (planned && !gpu_plan_make(cx, json, &plan, field)))
        return false;
    if (plant != GPU_PLANT_NONE && !server->options.allow_planted_faults) {
        static const char message[] =
            "this daemon plants no faults: start it with --allow-planted-faults, for tests";
        *field = "plant";
        cx->error = (struct la_error){.code = LA_E_domain};
        memcpy(cx->error.message, message, sizeof message);
        return false;
    }
    out->fresh = cJSON_IsTrue(cJSON_DetachItemFromObjectCaseSensitive(json, "fresh"));
    out->wants = take_text(json, "executor", "any");
    out->kind = cJSON_GetObjectItemCaseSensitive(json, "kind")->valuestring;
    out->text = canonical_json(cx, json);
    return true;
}

/* An address that is told of the job's end; what it resolves to is looked at when it is called. */
static bool read_webhook(struct request *rq, struct submit *s)
{
    const bool given = cJSON_HasObjectItem(rq->json, "webhook"),
               plain = rq->server->options.allow_private_webhooks;
    const char *url = take_text(rq->json, "webhook", "");
    const size_t len = strlen(url);
    const bool right = strncmp(url, "https://", 8) == 0 || (plain && strncmp(url, "http://", 7) == 0);
    if (given && (!right || len > MAX_WEBHOOK || strpbrk(url, " \r\n\t")))
        return refuse_because(rq, "webhook", LA_E_domain,
                              "'webhook' takes an address that begins with https://");
    s->job.webhook = given ? url : NULL;
    return true;
}

/* The children, and the sweep's own row: the question as it was asked. */
static bool read_sweep(struct request *rq, struct submit *s)
{
    s->fresh = cJSON_IsTrue(cJSON_DetachItemFromObjectCaseSensitive(rq->json, "fresh"));
    s->children = sweep_read(rq, &s->count);
    s->job.kind = s->job.wants = "sweep";
    if (s->children)
        s->job.spec = canonical_json(&rq->cx, rq->json);
    return s->children != NULL;
}

static bool read_one(struct request *rq, struct submit *s)
{
    struct spec spec;
    const char *field = NULL;
    if (!spec_read(&rq->cx, rq->server, rq->json, true, &spec, &field)) {
        const struct la_error error = rq->cx.error; /* writing resets it */
        respond_bad_spec(rq, &error, field);
        return false;
    }
    s->fresh = spec.fresh;
    s->job.wants = spec.wants;
    s->job.kind = spec.kind;
    s->job.spec = spec.text;
    return true;
}

/* The job without what is about it and not about the partition; false when it was refused, and answered. */
static bool read_job(struct request *rq, struct submit *s)
{
    const char *kind = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(rq->json, "kind"));
    const bool is_sweep = kind && strcmp(kind, "sweep") == 0;
    if (!read_budget(rq, &s->job.budget, is_sweep) || !read_webhook(rq, s) ||
        !(is_sweep ? read_sweep(rq, s) : read_one(rq, s)))
        return false;
    if (s->job.spec)
        return true;
    respond_problem(rq, 422, "limit", "the spec needs more memory than one request may use");
    return false;
}

static struct submit *begin_submit(struct request *rq)
{
    if (rq->server->draining) {
        respond_header(rq, "Retry-After", "10");
        respond_problem(rq, 503, "unavailable", "the daemon is ending and takes no new jobs");
        return NULL;
    }
    struct submit *s = jobs_call(rq, sizeof *s, run_submit);
    s->call.durable = true;
    s->call.until = queue_clock() + INT64_C(1000) * request_wait_seconds(rq, MAX_WAIT_S);
    s->job.key = request_header(rq, "Idempotency-Key");
    if (s->job.key && (!*s->job.key || strlen(s->job.key) > MAX_KEY)) {
        respond_problem(rq, 400, "bad_request", "an Idempotency-Key has 1 to %d bytes", MAX_KEY);
        return NULL;
    }
    s->job.user = rq->user;
    s->job.id = new_id(&rq->cx);
    return read_job(rq, s) ? s : NULL;
}

/* ---- the answer --------------------------------------------------------------------------------------------- */

static void write_submitted(struct json *j, void *arg)
{
    const struct submit *s = arg;
    json_open(j, '{');
    job_write(j, &s->job, false);
    if (s->ranked)
        sweep_write(j, s->ranked);
    if (s->cached) {
        json_key(j, "cached");
        json_bool(j, true);
        json_key(j, "age_s");
        const int64_t age = s->now - s->job.finished; /* negative after a step of the clock */
        json_int(j, age > 0 ? age / 1000 : 0);
    }
    json_close(j, '}');
}

/* How much more the user may queue. */
static void tell_limits(struct request *rq, const struct admission *a)
{
    if (!a->limit)
        return;
    respond_header(rq, "RateLimit-Limit", la_format(&rq->cx, "%lld", (long long)a->limit));
    respond_header(rq, "RateLimit-Remaining", la_format(&rq->cx, "%lld", (long long)a->remaining));
    respond_header(rq, "RateLimit-Reset", la_format(&rq->cx, "%lld", (long long)a->retry_s));
    if (a->verdict != ADMITTED)
        respond_header(rq, "Retry-After", la_format(&rq->cx, "%lld", (long long)a->retry_s));
}

static void respond_not_admitted(struct request *rq, const struct submit *s)
{
    const struct admission *a = &s->admission;
    if (a->verdict == ADMITTED_NOT_ALL)
        respond_problem(rq, 503, "unavailable", "the queue is full, with the jobs of all users");
    else if (a->verdict == ADMITTED_NOT_HOUR)
        respond_problem(rq, 429, "too_many_requests",
                        "%.80s has used workers for as long as one user may in an hour", rq->user);
    else
        respond_problem(rq, 429, "too_many_requests",
                        "%.80s may have %lld jobs in the queue, and %lld more are left", rq->user,
                        (long long)a->limit, (long long)a->remaining);
}

static void respond_submitted(struct request *rq, struct submit *s)
{
    respond_header(rq, "Location", la_format(&rq->cx, "/jobs/%s", s->job.id));
    respond_written(rq, job_state_ended(s->job.state) ? 200 : 202, "application/json", write_submitted, s);
}

void handle_submit(struct request *rq)
{
    struct submit *s = rq->state ? rq->state : begin_submit(rq);
    if (!s || !jobs_ask(rq, &s->call))
        return;
    tell_limits(rq, &s->admission);
    if (s->call.answer != ANSWER_OK)
        respond_refusal(rq, &s->call);
    else if (s->reused)
        respond_problem(rq, 422, "idempotency_key", "this Idempotency-Key was used for another job, %s",
                        s->job.id);
    else if (s->stopped)
        respond_problem(
            rq, 422, "kernel_faults",
            "this spec has ended in kernel faults %d times in a row; it is not run again for a day",
            MAX_FAULTS);
    else if (s->admission.verdict != ADMITTED)
        respond_not_admitted(rq, s);
    else
        respond_submitted(rq, s);
}
