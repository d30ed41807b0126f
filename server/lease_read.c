/* lease_read.c: what workers say, read with care: words that are safe everywhere, objects that stay JSON.
 *
 *     {"lease":"0f3c...","events":[{"type":"running"}],"state":"done","result":{"verified":true,"source":"..."}}
 *
 * Texts beside a result ("source") are taken out of it, to be kept at their own addresses. */
#include "lease.h"

#include <string.h>

enum {
    MAX_LEASE_WAIT_S = 30, /* of "Prefer: wait": below every proxy's patience */
    MAX_EVENT = 64 * 1024  /* bytes of an event: a line of the job's history */
};

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

bool lease_read_register(struct request *rq, struct report *r)
{
    if (!read_word(rq, "name", sizeof((struct worker *)0)->name - 1, &r->worker) ||
        !read_word(rq, "executor", 3, &r->executor))
        return false;
    if (strcmp(r->executor, "gpu") != 0 && strcmp(r->executor, "cpu") != 0)
        return refuse_field(rq, "executor", "gpu or cpu");
    return read_state(rq, r);
}

bool lease_read_device(struct request *rq, struct report *r)
{
    return read_word(rq, "worker", 64, &r->worker) && read_state(rq, r);
}

bool lease_read_lease(struct request *rq, struct report *r)
{
    r->call.until = queue_clock() + INT64_C(1000) * request_wait_seconds(rq, MAX_LEASE_WAIT_S);
    return read_word(rq, "worker", 64, &r->worker);
}

/* One event: {"type":"running",...}. */
static bool read_line(struct request *rq, cJSON *event, struct report *r, struct line_of_history *out)
{
    const cJSON *type = cJSON_DetachItemFromObjectCaseSensitive(event, "type");
    if (!cJSON_IsString(type) || !*type->valuestring || strlen(type->valuestring) > 32)
        return refuse_field(rq, "events", "objects with a short text as their type");
    *out = (struct line_of_history){.type = type->valuestring};
    const bool partial = strcmp(out->type, "partial") == 0;
    if (partial)
        take_artifacts(event, r);
    if (event->child && !(out->data = cJSON_PrintUnformatted(event)))
        return refuse_field(rq, "events", "less memory than this");
    return !out->data || partial || strlen(out->data) <= MAX_EVENT ||
           refuse_field(rq, "events", "64 KiB each at the most");
}

static bool read_events(struct request *rq, struct report *r)
{
    cJSON *list = cJSON_GetObjectItemCaseSensitive(rq->json, "events"), *event;
    struct line_of_history **end = &r->events;
    if (list && !cJSON_IsArray(list))
        return refuse_field(rq, "events", "an array of objects");
    cJSON_ArrayForEach (event, list) {
        *end = la_alloc(&rq->cx, sizeof **end);
        if (!read_line(rq, event, r, *end))
            return false;
        end = &(*end)->following;
    }
    return true;
}

bool lease_read_event(struct request *rq, struct report *r)
{
    r->next = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(rq->json, "next"));
    return read_word(rq, "lease", 64, &r->lease) && read_events(rq, r);
}

static bool is_failure(const cJSON *failure)
{
    const cJSON *kind = cJSON_GetObjectItemCaseSensitive(failure, "kind");
    for (int i = 0; cJSON_IsString(kind) && i < FAILURE_KINDS; i++)
        if (strcmp(kind->valuestring, failure_kinds[i]) == 0)
            return true;
    return false;
}

bool lease_read_result(struct request *rq, struct report *r)
{
    if (!read_word(rq, "lease", 64, &r->lease) || !read_word(rq, "state", 16, &r->state) ||
        !read_events(rq, r))
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
