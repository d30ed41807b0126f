/* job_json.c: a job as JSON.
 *
 *     {"id":"...","state":"done","kind":"copy","executor":"cpu","created":"2026-11-29T23:03:36.123Z",...,
 *      "spec":{...},"result":{...},"links":{"self":"/jobs/ID",...}}
 *
 * Specs, results and failures are JSON in the store already and are copied as they are, digit by digit. */
#include "jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void json_time(struct json *j, int64_t ms)
{
    const time_t seconds = (time_t)(ms / 1000);
    struct tm t;
    char text[40], all[48];
    gmtime_r(&seconds, &t);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &t);
    snprintf(all, sizeof all, "%s.%03dZ", text, (int)(ms % 1000));
    json_text(j, all);
}

static void member_text(struct json *j, const char *name, const char *text)
{
    if (!text)
        return;
    json_key(j, name);
    json_text(j, text);
}

static void member_raw(struct json *j, const char *name, const char *raw)
{
    if (!raw)
        return;
    json_key(j, name);
    json_raw(j, raw, strlen(raw));
}

static void member_int(struct json *j, const char *name, int64_t value)
{
    json_key(j, name);
    json_int(j, value);
}

static void member_time(struct json *j, const char *name, int64_t ms)
{
    if (!ms)
        return;
    json_key(j, name);
    json_time(j, ms);
}

static void write_budget(struct json *j, struct budget budget)
{
    json_key(j, "budget");
    json_open(j, '{');
    member_int(j, "queue_ms", budget.queue_ms);
    member_int(j, "compile_ms", budget.compile_ms);
    member_int(j, "run_ms", budget.run_ms);
    json_close(j, '}');
}

static void write_link(struct json *j, const char *id, const char *rel, const char *tail)
{
    json_key(j, rel);
    json_text(j, la_format(j->cx, "/jobs/%s%s%s", id, *tail ? "/" : "", tail));
}

/* One link an artifact; their names come with commas between them. What ran on a card has a source that PTX and SASS
 * can be made of. */
static void write_links(struct json *j, const struct job *job)
{
    json_key(j, "links");
    json_open(j, '{');
    write_link(j, job->id, "self", "");
    write_link(j, job->id, "events", "events");
    for (const char *name = job->artifacts; name && *name;) {
        const size_t len = strcspn(name, ",");
        const char *one = la_format(j->cx, "%.*s", (int)len, name);
        write_link(j, job->id, one, one);
        name += len + (name[len] == ',');
        if (job->executor && strcmp(job->executor, "gpu") == 0 && strcmp(one, "source") == 0) {
            write_link(j, job->id, "ptx", "ptx");
            write_link(j, job->id, "sass", "sass");
        }
    }
    json_close(j, '}');
}

void job_write_place(struct json *j, int64_t position, int64_t ms)
{
    member_int(j, "position", position + 1);
    member_int(j, "estimate_ms", ms);
}

void job_write(struct json *j, const struct job *job, bool brief)
{
    member_text(j, "id", job->id);
    member_text(j, "state", job_state_name(job->state));
    if (job->cancel && !job_state_ended(job->state)) {
        json_key(j, "cancelling");
        json_bool(j, true);
    }
    member_text(j, "kind", job->kind);
    member_text(j, "user", job->user);
    member_text(j, "parent", job->parent_id);
    member_raw(j, "vary", job->vary);
    member_text(j, "reused", job->reused);
    member_text(j, "wants", job->wants);
    member_text(j, "executor", job->executor);
    member_text(j, "worker", job->worker);
    member_time(j, "created", job->created);
    member_time(j, "started", job->started);
    member_time(j, "finished", job->finished);
    member_int(j, "attempts", job->attempts);
    if (job->cost)
        member_int(j, "charged_ms", job->cost);
    member_raw(j, "spec", job->spec);
    if (!brief)
        write_budget(j, job->budget);
    member_raw(j, "result", job->result);
    member_raw(j, "failure", job->failure);
    if (!brief)
        member_raw(j, "partial", job->partial);
    write_links(j, job);
}

/* ---- canonical JSON ----------------------------------------------------------------------------------------- */

static int compare_keys(const void *a, const void *b)
{
    return strcmp((*(cJSON *const *)a)->string, (*(cJSON *const *)b)->string);
}

/* Relink the members of an object in the order of their keys, of which none is there twice. */
static bool sort_members(struct la_ctx *cx, cJSON *object)
{
    const size_t n = (size_t)cJSON_GetArraySize(object);
    cJSON **members = la_arena_alloc(cx->arena, (n + 1) * sizeof *members);
    if (!members)
        return false;
    size_t i = 0;
    for (cJSON *m = object->child; m; m = m->next)
        members[i++] = m;
    qsort(members, n, sizeof *members, compare_keys);
    object->child = n ? members[0] : NULL;
    for (i = 0; i < n; i++) { /* cJSON's lists: next ends with NULL, prev is a ring */
        members[i]->prev = members[i ? i - 1 : n - 1];
        members[i]->next = i + 1 < n ? members[i + 1] : NULL;
    }
    return true;
}

/* The depth was limited when the text was read. */
static bool sort_all(struct la_ctx *cx, cJSON *value)
{
    if (cJSON_IsObject(value) && !sort_members(cx, value))
        return false;
    for (cJSON *m = value->child; m; m = m->next)
        if (!sort_all(cx, m))
            return false;
    return true;
}

const char *canonical_json(struct la_ctx *cx, cJSON *value)
{
    return sort_all(cx, value) ? cJSON_PrintUnformatted(value) : NULL;
}
