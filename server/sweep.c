/* sweep.c: one job with many children, and what has become of them.
 *
 *     {"kind":"sweep", "base":{...}, "vary":{"thr":["(8,4):(4,1)","(4,8):(8,1)"], "unroll":[1,2]}}     the grid: 4
 *     {"kind":"sweep", "base":{...}, "list":[{"unroll":1}, {"unroll":2, "cache":"streaming"}]}         these: 2
 *
 * A child is the base with some fields set otherwise: a job like any other, but of the class that waits. One that is
 * refused by its plan is a child that has failed as user_error, so that a grid may hold what cannot run; one whose spec
 * has an answer in the store is done with that, unless "fresh":true is said of it or of the sweep. The sweep
 * itself is never leased: it runs from its first child's lease and ends with its last child's end; its result is
 * read from its children, the best first, at any time. */
#include "jobs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    PLAN_MS = 2000,  /* of a thread: children beyond are planned where they run, and refused there */
    MAX_FIELDS = 16, /* of a grid: more than a spec has that are worth trying */
    MAX_SPECS_BYTES =
        4 << 20 /* of all children: as trees they take thirty times as much, of one request's memory */
};

/* ---- reading ------------------------------------------------------------------------------------------------ */

/* A grid: its fields and how many values each has. */
struct grid {
    const cJSON *fields[MAX_FIELDS];
    size_t sizes[MAX_FIELDS];
    size_t rank;
};

struct reading {
    struct request *rq;
    const cJSON *base, *item; /* item: of a list, the next child's */
    struct grid grid;
    struct la_ctx plan; /* on an arena of its own: a plan is forgotten once it is made */
    int64_t plan_until; /* of the thread's time */
    struct child_spec *children;
    size_t count;
};

static bool refuse(struct request *rq, enum la_error_code code, const char *field, const char *sentence)
{
    struct la_error error = {.code = code};
    snprintf(error.message, sizeof error.message, "%s", sentence);
    respond_bad_spec(rq, &error, field);
    return false;
}

static bool refuse_count(struct request *rq, const char *field)
{
    return refuse(rq, LA_E_limit, field, la_format(&rq->cx, "a sweep has 1 to %d children", MAX_CHILDREN));
}

static bool read_grid(struct reading *r, const cJSON *vary)
{
    const cJSON *field;
    r->count = 1;
    cJSON_ArrayForEach (field, vary) {
        const size_t size = cJSON_IsArray(field) ? (size_t)cJSON_GetArraySize(field) : 0;
        if (!size)
            return refuse(r->rq, LA_E_kind, "vary",
                          "'vary' takes an object of arrays: the values that each field takes in turn");
        if (r->grid.rank == MAX_FIELDS || size > MAX_CHILDREN || (r->count *= size) > MAX_CHILDREN)
            return refuse_count(r->rq, "vary");
        r->grid.fields[r->grid.rank] = field;
        r->grid.sizes[r->grid.rank++] = size;
    }
    return r->grid.rank || refuse_count(r->rq, "vary");
}

static bool read_list(struct reading *r, const cJSON *list)
{
    const cJSON *item;
    r->item = cJSON_IsArray(list) ? list->child : NULL;
    r->count = cJSON_IsArray(list) ? (size_t)cJSON_GetArraySize(list) : 0;
    if (r->count < 1 || r->count > MAX_CHILDREN)
        return refuse_count(r->rq, "list");
    cJSON_ArrayForEach (item, list) {
        if (!cJSON_IsObject(item))
            return refuse(r->rq, LA_E_kind, "list",
                          "'list' takes an array of objects: the fields of each child");
    }
    return true;
}

static bool fits(const struct reading *r)
{
    const char *base = cJSON_PrintUnformatted(r->base);
    return (base && (strlen(base) + 1) * r->count <= MAX_SPECS_BYTES) ||
           refuse(r->rq, LA_E_limit, "base", "the specs of all children are larger than a sweep may be");
}

/* What a sweep says; budget, fresh and webhook were taken out already. */
static bool read_sweep(struct reading *r)
{
    const cJSON *json = r->rq->json, *item;
    cJSON_ArrayForEach (item, json) {
        if (strcmp(item->string, "kind") != 0 && strcmp(item->string, "base") != 0 &&
            strcmp(item->string, "vary") != 0 && strcmp(item->string, "list") != 0)
            return refuse(r->rq, LA_E_unknown_name, item->string,
                          la_format(&r->rq->cx,
                                    "a sweep has no field '%.60s'; known: kind base vary list fresh "
                                    "budget webhook",
                                    item->string));
    }
    const cJSON *vary = cJSON_GetObjectItemCaseSensitive(json, "vary");
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(json, "list");
    r->base = cJSON_GetObjectItemCaseSensitive(json, "base");
    if (!cJSON_IsObject(r->base))
        return refuse(r->rq, LA_E_arity, "base",
                      "a sweep needs 'base': a spec, whose fields the children change");
    if (!vary == !list)
        return refuse(
            r->rq, LA_E_arity, NULL,
            "a sweep needs either 'vary', the values of each field, or 'list', the fields of each child");
    return (vary ? read_grid(r, vary) : read_list(r, list)) && fits(r);
}

/* ---- the children ------------------------------------------------------------------------------------------- */

/* What the child of this number sets: of a grid, the last field goes round the fastest. */
static cJSON *make_vary(struct reading *r, size_t number)
{
    if (r->item) {
        const cJSON *item = r->item;
        r->item = item->next;
        return cJSON_Duplicate(item, true);
    }
    cJSON *vary = cJSON_CreateObject();
    size_t rest = number;
    size_t at[MAX_FIELDS];
    for (size_t i = r->grid.rank; i-- > 0; rest /= r->grid.sizes[i])
        at[i] = rest % r->grid.sizes[i];
    for (size_t i = 0; i < r->grid.rank; i++)
        cJSON_AddItemToObject(vary, r->grid.fields[i]->string,
                              cJSON_Duplicate(cJSON_GetArrayItem(r->grid.fields[i], (int)at[i]), true));
    return vary;
}

static cJSON *make_spec(const struct reading *r, const cJSON *vary)
{
    cJSON *spec = cJSON_Duplicate(r->base, true);
    const cJSON *field;
    cJSON_ArrayForEach (field, vary) {
        cJSON_DeleteItemFromObjectCaseSensitive(spec, field->string);
        cJSON_AddItemToObject(spec, field->string, cJSON_Duplicate(field, true));
    }
    return spec;
}

static const char *write_failure(struct la_ctx *cx, const struct la_error *error, const char *field)
{
    struct json j = json_new(cx, 512);
    json_open(&j, '{');
    json_key(&j, "kind");
    json_text(&j, "user_error");
    json_key(&j, "message");
    json_text(&j, error->message);
    json_key(&j, "reason");
    json_text(&j, la_error_name(error->code));
    if (field) {
        json_key(&j, "in");
        json_text(&j, field);
    }
    json_close(&j, '}');
    json_bytes(&j, "", 1);
    return j.data;
}

static int64_t thread_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void make_child(struct la_ctx *cx, struct reading *r, size_t number, struct child_spec *out)
{
    const char *field = NULL;
    cJSON *vary = make_vary(r, number), *spec = vary ? make_spec(r, vary) : NULL;
    if (!spec)
        la_fail(cx, LA_E_limit, "no memory for the children");
    *out = (struct child_spec){.id = new_id(cx), .vary = cJSON_PrintUnformatted(vary)};
    la_arena_reset(r->plan.arena);
    if (!spec_read(&r->plan, r->rq->server, spec, thread_ms() < r->plan_until, &out->spec, &field)) {
        const char *kind = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(spec, "kind"));
        out->failure = write_failure(cx, &r->plan.error, field);
        out->spec = (struct spec){canonical_json(cx, spec), kind ? kind : "unknown", "any", false};
    }
    if (!out->vary || !out->spec.text)
        la_fail(cx, LA_E_limit, "no memory for the children");
}

/* In a la_try: the arena of the plans must be freed, whatever happens. */
static void make_children(struct la_ctx *cx, void *arg)
{
    struct reading *r = arg;
    r->children = la_alloc(cx, r->count * sizeof *r->children);
    r->plan_until = thread_ms() + PLAN_MS;
    for (size_t i = 0; i < r->count; i++)
        make_child(cx, r, i, &r->children[i]);
}

struct child_spec *sweep_read(struct request *rq, size_t *count)
{
    struct reading r = {.rq = rq};
    if (!read_sweep(&r))
        return NULL;
    r.plan.arena = la_arena_new(rq->server->options.max_arena);
    const bool ok = r.plan.arena && la_try(&rq->cx, make_children, &r);
    la_arena_free(r.plan.arena);
    if (!ok) {
        respond_problem(rq, 422, "limit", "the sweep needs more memory than one request may use");
        return NULL;
    }
    *count = r.count;
    return r.children;
}

/* ---- in the queue's thread ---------------------------------------------------------------------------------- */

/* The last child has ended: so has the sweep. It is done when any of its children is. */
static void finish(struct queue *q, struct job *sweep)
{
    const char *kind;
    const int64_t done = store_sweep_done(q->store, q->scratch, sweep->seq, &kind);
    if (sweep->cancel || (!done && !kind))
        job_end(q, sweep, JOB_CANCELLED, NULL);
    else if (done)
        job_end(q, sweep, JOB_DONE, NULL);
    else
        job_end(q, sweep, JOB_FAILED,
                queue_text(q,
                           "{\"kind\":\"%s\",\"message\":\"no child came to a result; the result tells what "
                           "each ended with, and this is what the last one did\"}",
                           kind));
}

int64_t sweep_reuse(struct queue *q, struct child_spec *children, size_t count, bool fresh)
{
    int64_t jobs = 0;
    for (size_t i = 0; i < count; i++) {
        struct child_spec *c = &children[i];
        if (!c->failure && !fresh && !c->spec.fresh)
            c->answer = spec_answered(q, c->spec.text, c->spec.wants);
        jobs += !c->failure && !c->answer;
    }
    return jobs;
}

static void submit_child(struct queue *q, const struct job *sweep, const struct child_spec *c)
{
    struct job child = {.id = c->id,
                        .user = sweep->user,
                        .kind = c->spec.kind,
                        .wants = c->spec.wants,
                        .spec = c->spec.text,
                        .budget = sweep->budget,
                        .parent = sweep->seq,
                        .class = CLASS_SWEEP,
                        .vary = c->vary},
               earlier;
    la_arena_reset(q->scratch); /* results are long */
    if (c->failure)
        job_refuse(q, &child, c->failure);
    else if (c->answer && store_get(q->store, q->scratch, c->answer, &earlier))
        job_answer(q, &child, &earlier);
    else
        job_submit(q, &child);
}

void sweep_submit(struct queue *q, struct job *sweep, const struct child_spec *children, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sweep->open += !children[i].failure && !children[i].answer;
    job_submit(q, sweep);
    for (size_t i = 0; i < count; i++)
        submit_child(q, sweep, &children[i]);
    if (!sweep->open)
        finish(q, sweep);
}

void sweep_child_begins(struct queue *q, int64_t sweep)
{
    if (!store_start_sweep(q->store, sweep, q->today))
        return;
    store_add_event(q->store, sweep, q->today, "running", NULL, INT64_MAX);
    queue_changed(q, sweep);
}

void sweep_child_ended(struct queue *q, const struct job *child)
{
    const int64_t open = store_close_child(q->store, child->parent);
    struct job sweep;
    store_add_event(q->store, child->parent, q->today, "child",
                    queue_text(q, "{\"job\":\"%s\",\"state\":\"%s\",\"open\":%lld}", child->id,
                               job_state_name(child->state), (long long)open),
                    INT64_MAX);
    queue_changed(q, child->parent);
    if (open == 0 && store_get(q->store, q->scratch, child->parent, &sweep))
        finish(q, &sweep);
}

void sweep_cancel(struct queue *q, struct job *sweep)
{
    struct job child = {0};
    if (!sweep->cancel) {
        sweep->cancel = true;
        store_save(q->store, sweep);
        store_add_event(q->store, sweep->seq, q->today, "cancelling", NULL, INT64_MAX);
        queue_changed(q, sweep->seq);
    }
    while (la_arena_reset(q->scratch),
           store_find_open_child(q->store, q->scratch, sweep->seq, child.seq, &child))
        job_cancel(q, &child);
}

/* ---- the result --------------------------------------------------------------------------------------------- */

static void write_number(struct json *j, const char *name, double value)
{
    char text[32];
    if (!isfinite(value))
        return;
    json_key(j, name);
    json_raw(j, text, (size_t)snprintf(text, sizeof text, "%.9g", value));
}

static void write_raw(struct json *j, const char *name, const char *raw)
{
    if (!raw)
        return;
    json_key(j, name);
    json_raw(j, raw, strlen(raw));
}

static void write_child(struct json *j, const struct child *c, int64_t rank)
{
    json_open(j, '{');
    if (strcmp(c->state, "done") == 0) {
        json_key(j, "rank");
        json_int(j, rank);
    }
    json_key(j, "job");
    json_text(j, c->id);
    json_key(j, "state");
    json_text(j, c->state);
    write_raw(j, "vary", c->vary);
    if (c->verified >= 0) {
        json_key(j, "verified");
        json_bool(j, c->verified == 1);
    }
    write_number(j, strcmp(c->kind, "mma") == 0 ? "tflops" : "gbps", c->speed);
    write_number(j, "median_us", c->micros);
    write_raw(j, "failure", c->failure);
    if (c->reused) {
        json_key(j, "reused");
        json_text(j, c->reused);
    }
    json_close(j, '}');
}

static int64_t count_state(const struct child *c, enum job_state state)
{
    int64_t count = 0;
    for (; c; c = c->next)
        count += strcmp(c->state, job_state_name(state)) == 0;
    return count;
}

void sweep_write(struct json *j, const struct child *children)
{
    int64_t rank = 0;
    json_key(j, "result");
    json_open(j, '{');
    json_key(j, "counts");
    json_open(j, '{');
    for (int state = 0; state < JOB_STATE_COUNT; state++) {
        json_key(j, job_state_name((enum job_state)state));
        json_int(j, count_state(children, (enum job_state)state));
    }
    json_close(j, '}');
    json_key(j, "ranked");
    json_open(j, '[');
    for (const struct child *c = children; c; c = c->next)
        write_child(j, c, ++rank);
    json_close(j, ']');
    json_close(j, '}');
}
