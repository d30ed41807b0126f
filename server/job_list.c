/* job_list.c: GET /jobs: what was submitted, the newest first, a page at a time.
 *
 *     GET /jobs?state=done&limit=50                 JSON; "next" is the address of the next page
 *     GET /jobs?user=ana                            this user's alone; user=@me: those of who asks
 *     GET /jobs?parent=ID                           the children of a sweep, which are nowhere else
 *     GET /jobs?format=csv    Accept: text/csv      a line a job, for spreadsheets; the next page is in Link
 *     GET /jobs?format=jsonl                        a JSON object a line */
#include "exchange.h"
#include "jobs.h"
#include "routes.h"

#include <string.h>

enum {
    MAX_LIST = 500, /* jobs of one page */
    USUAL_LIST = 50,
    MAX_EXPORT = 5000 /* the queue's thread reads so many in a tenth of a second */
};

enum format { FORMAT_JSON, FORMAT_CSV, FORMAT_JSONL, FORMATS };

static const struct {
    const char *name, *type;
    int64_t usual, max;
} formats[FORMATS] = {
    [FORMAT_JSON] = {"json", "application/json", USUAL_LIST, MAX_LIST},
    [FORMAT_CSV] = {"csv", "text/csv", MAX_EXPORT, MAX_EXPORT},
    [FORMAT_JSONL] = {"jsonl", "application/jsonl", MAX_EXPORT, MAX_EXPORT},
};

struct list {
    struct call call;
    enum format format;
    struct job_filter filter;
    const char *parent, *user; /* as asked for */
    int64_t limit, before;
    int64_t count;
    struct job *jobs; /* one more than the limit, when there are more */
    const char *next; /* the address of the next page */
};

static bool run_list(struct queue *q, struct call *call)
{
    struct list *l = (struct list *)call;
    int64_t before = l->before;
    struct job parent = {0};
    if (l->parent && !store_find(q->store, q->scratch, l->parent, &parent)) {
        call->answer = ANSWER_NONE;
        return true;
    }
    l->filter.parent = parent.seq;
    while (l->count <= l->limit &&
           store_find_before(q->store, call->arena, before, &l->filter, &l->jobs[l->count]))
        before = l->jobs[l->count++].seq;
    return true;
}

/* ---- writing ------------------------------------------------------------------------------------------------ */

static int64_t shown(const struct list *l)
{
    return l->count < l->limit ? l->count : l->limit;
}

static void write_json(struct json *j, void *arg)
{
    const struct list *l = arg;
    json_open(j, '{');
    json_key(j, "jobs");
    json_open(j, '[');
    for (int64_t i = 0; i < shown(l); i++) {
        json_open(j, '{');
        job_write(j, &l->jobs[i], true);
        json_close(j, '}');
    }
    json_close(j, ']');
    if (l->next) {
        json_key(j, "next");
        json_text(j, l->next);
    }
    json_close(j, '}');
}

static void write_jsonl(struct json *j, void *arg)
{
    const struct list *l = arg;
    for (int64_t i = 0; i < shown(l); i++) {
        struct json line = json_new(j->cx,
                                    1024); /* a writer of its own: commas come from what stands before */
        json_open(&line, '{');
        job_write(&line, &l->jobs[i], true);
        json_close(&line, '}');
        json_bytes(j, line.data, line.len);
        json_bytes(j, "\n", 1);
    }
}

/* RFC 4180: in quotes, which are doubled. A text that a spreadsheet would take for a formula gets a quote before it. */
static void write_cell(struct json *j, const char *text)
{
    json_bytes(j, "\"", 1);
    if (text && *text && strchr("=+-@\t\r", *text))
        json_bytes(j, "'", 1);
    for (; text && *text; text++) {
        json_bytes(j, text, 1);
        if (*text == '"')
            json_bytes(j, text, 1);
    }
    json_bytes(j, "\"", 1);
}

static void end_cell(struct json *j)
{
    json_bytes(j, ",", 1);
}

static void write_time_cell(struct json *j, int64_t ms)
{
    struct json time = json_new(j->cx, 64);
    if (ms)
        json_time(&time, ms);
    json_bytes(j, time.data, time.len); /* as JSON writes it: in quotes, with nothing that needs an escape */
}

/* A member of a job's result or failure as a cell: numbers and truths as they are. */
static void write_member_cell(struct json *j, const char *json, const char *name)
{
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(json ? cJSON_Parse(json) : NULL, name);
    if (cJSON_IsString(member)) {
        write_cell(j, member->valuestring);
    } else if (member && !cJSON_IsNull(member)) {
        const char *text = cJSON_PrintUnformatted(member);
        if (text)
            json_bytes(j, text, strlen(text));
    }
}

static void write_row(struct json *j, const struct job *job)
{
    const char *const texts[] = {job->id, job_state_name(job->state), job->kind, job->user, job->executor};
    const int64_t times[] = {job->created, job->started, job->finished};
    static const char *const results[] = {"verified", "gbps", "tflops"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++, end_cell(j))
        write_cell(j, texts[i]);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++, end_cell(j))
        write_time_cell(j, times[i]);
    for (size_t i = 0; i < sizeof results / sizeof *results; i++, end_cell(j))
        write_member_cell(j, job->result, results[i]);
    write_member_cell(j, job->failure, "kind");
    end_cell(j);
    write_cell(j, job->vary);
    end_cell(j);
    write_cell(j, job->spec);
    json_bytes(j, "\r\n", 2);
}

static void write_csv(struct json *j, void *arg)
{
    static const char head[] =
        "id,state,kind,user,executor,created,started,finished,verified,gbps,tflops,failure,vary,spec\r\n";
    const struct list *l = arg;
    json_bytes(j, head, sizeof head - 1);
    for (int64_t i = 0; i < shown(l); i++)
        write_row(j, &l->jobs[i]);
}

/* ---- the handler -------------------------------------------------------------------------------------------- */

/* What is asked for by name, or else accepted best. False when the name is none, with the answer given. */
static bool read_format(struct request *rq, enum format *out)
{
    const char *name = request_query(rq, "format");
    int best = request_weight(rq, "Accept", formats[FORMAT_JSON].type, 1000);
    for (int i = 0; i < FORMATS; i++) {
        const int weight = request_weight(rq, "Accept", formats[i].type, 0);
        const bool named = name && strcmp(name, formats[i].name) == 0;
        if (named || (!name && weight > best)) {
            best = weight;
            *out = (enum format)i;
        }
        if (named)
            return true;
    }
    if (name)
        respond_problem(rq, 400, "bad_field", "'format' takes json, csv or jsonl, not '%.40s'", name);
    return !name;
}

static bool read_state(struct request *rq, enum job_state *out)
{
    const char *state = request_query(rq, "state");
    *out = state ? job_state_find(state) : JOB_STATE_COUNT;
    if (!state || *out != JOB_STATE_COUNT)
        return true;
    respond_problem(
        rq, 400, "bad_field",
        "no job is ever '%.40s'; the states are queued, compiling, running, done, failed, cancelled", state);
    return false;
}

/* A token's name, an address, or who asks: by the token that is shown, or the address. */
static bool read_user(struct request *rq, struct list *l)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:-";
    l->filter.user = l->user = request_query(rq, "user");
    if (!l->user || (*l->user && !l->user[strspn(l->user, letters)]))
        return true;
    l->filter.user = rq->user ? rq->user : "";
    if (strcmp(l->user, "@me") == 0)
        return true;
    respond_problem(rq, 400, "bad_field", "'user' takes the name of a token, an address, or @me, not '%.80s'",
                    l->user);
    return false;
}

static struct list *begin_list(struct request *rq)
{
    struct list *l = jobs_call(rq, sizeof *l, run_list);
    l->before = INT64_MAX;
    l->parent = request_query(rq, "parent");
    if (!read_format(rq, &l->format) || !read_state(rq, &l->filter.state) || !read_user(rq, l))
        return NULL;
    l->limit = formats[l->format].usual;
    if (!query_integer(rq, "limit", 1, formats[l->format].max, &l->limit) ||
        !query_integer(rq, "cursor", 1, INT64_MAX, &l->before))
        return NULL;
    l->jobs = la_alloc(&rq->cx, (size_t)(l->limit + 1) * sizeof *l->jobs);
    return l;
}

/* The parent was found, so its text is an id and needs no encoding; nor has a user letters that do. */
static const char *next_page(struct request *rq, const struct list *l)
{
    const bool all = l->filter.state == JOB_STATE_COUNT;
    return la_format(
        &rq->cx, "/jobs?cursor=%lld&limit=%lld%s%s%s%s%s%s%s%s", (long long)l->jobs[l->limit - 1].seq,
        (long long)l->limit, all ? "" : "&state=", all ? "" : job_state_name(l->filter.state),
        l->user ? "&user=" : "", l->user ? l->user : "", l->parent ? "&parent=" : "",
        l->parent ? l->parent : "",
        l->format == FORMAT_JSON ? "" : "&format=", l->format == FORMAT_JSON ? "" : formats[l->format].name);
}

void handle_jobs(struct request *rq)
{
    static void (*const writers[FORMATS])(struct json * j, void *arg) = {
        [FORMAT_JSON] = write_json, [FORMAT_CSV] = write_csv, [FORMAT_JSONL] = write_jsonl};
    if (strcmp(rq->method, "POST") == 0) {
        handle_submit(rq);
        return;
    }
    struct list *l = rq->state ? rq->state : begin_list(rq);
    if (!l || !jobs_ask(rq, &l->call))
        return;
    if (l->call.answer == ANSWER_NONE) {
        respond_problem(rq, 404, "not_found", "there is no sweep '%.80s'", l->parent);
    } else if (l->call.answer != ANSWER_OK) {
        respond_refusal(rq, &l->call);
    } else {
        if (l->count > l->limit) {
            l->next = next_page(rq, l);
            respond_header(rq, "Link", la_format(&rq->cx, "<%s>; rel=\"next\"", l->next));
        }
        respond_written(rq, 200, formats[l->format].type, writers[l->format], l);
    }
}
