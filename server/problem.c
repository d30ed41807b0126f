/* problem.c: refusals, as application/problem+json (RFC 9457).
 *
 *     {"type":"/problems/syntax","title":"the text is not in the notation","status":422,"code":"syntax",
 *      "detail":"...","in":"expr","position":{"start":3,"end":4}}
 * A refused expression is 422: the request was understood, its content was not. A request that is not even that (bad
 * JSON, a field missing or of the wrong type) is 400. `in` and `position` are there when one field, and bytes of its
 * text, are at fault. Codes of the algebra are core's; codes of HTTP stand in the table below. */
#include "exchange.h"
#include "json.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define REFUSED_STATUS 422

static const struct problem_kind {
    int status;
    const char *code, *title;
} http_problems[] = {
    {400, "bad_request", "the request is malformed"},
    {400, "bad_json", "the body is not the JSON that is expected"},
    {400, "missing_field", "a field is missing"},
    {400, "unknown_field", "a field that this endpoint does not have"},
    {400, "duplicate_field", "a field is there twice"},
    {400, "bad_field", "a field has a value that it cannot have"},
    {401, "unauthorized", "a token is needed"},
    {403, "forbidden", "the token does not reach this far"},
    {404, "not_found", "there is nothing at this address"},
    {405, "method_not_allowed", "the address does not take this method"},
    {406, "not_acceptable", "there is no answer of a type that Accept names"},
    {409, "conflict", "the state of things has moved on"},
    {413, "too_large", "the body is larger than this server reads"},
    {414, "uri_too_long", "the address is longer than this server reads"},
    {415, "unsupported_media_type", "the body is of a type that is not read here"},
    {417, "expectation_failed", "an expectation that is not met here"},
    {422, "user_error", "the partition cannot run"},
    {422, "kernel_faults", "a spec that faults whenever it runs"},
    {422, "idempotency_key", "a key that was used for something else"},
    {429, "too_many_requests", "more than one client may ask for"},
    {431, "headers_too_large", "the headers are larger than this server reads"},
    {500, "internal", "a fault of the server"},
    {501, "not_implemented", "not done by this server"},
    {503, "unavailable", "not now"},
};

static const struct problem_kind *find_kind(const char *code)
{
    for (size_t i = 0; i < sizeof http_problems / sizeof *http_problems; i++)
        if (strcmp(http_problems[i].code, code) == 0)
            return &http_problems[i];
    return NULL;
}

static const struct {
    const char *code, *title;
} algebra_problems[] = {
#define X(code, title) {#code, title},
    LA_ERRORS(X)
#undef X
};

static const char *algebra_title(const char *code)
{
    for (size_t i = 0; i < sizeof algebra_problems / sizeof *algebra_problems; i++)
        if (strcmp(algebra_problems[i].code, code) == 0)
            return algebra_problems[i].title;
    return NULL;
}

static const char *title_of(const char *code)
{
    const struct problem_kind *kind = find_kind(code);
    const char *title = kind ? kind->title : algebra_title(code);
    return title ? title : "the request was refused";
}

struct problem {
    struct request *rq;
    int status;
    const char *code, *detail;
    const char *field;
    bool has_position;
    size_t start, end;
};

static void write_problem(struct la_ctx *cx, void *arg)
{
    const struct problem *p = arg;
    struct json j = json_new(cx, 1024);
    char type[80];
    snprintf(type, sizeof type, "/problems/%s", p->code);
    json_open(&j, '{');
    json_key(&j, "type");
    json_text(&j, type);
    json_key(&j, "title");
    json_text(&j, title_of(p->code));
    json_key(&j, "status");
    json_int(&j, p->status);
    json_key(&j, "code");
    json_text(&j, p->code);
    json_key(&j, "detail");
    json_text(&j, p->detail);
    if (p->field) {
        json_key(&j, "in");
        json_text(&j, p->field);
    }
    if (p->has_position) {
        json_key(&j, "position");
        json_open(&j, '{');
        json_key(&j, "start");
        json_int(&j, (int64_t)p->start);
        json_key(&j, "end");
        json_int(&j, (int64_t)p->end);
        json_close(&j, '}');
    }
    json_close(&j, '}');
    respond(p->rq, p->status, "application/problem+json", j.data, j.len);
}

/* An answer that needs no memory, for when there is none. */
static void respond_no_memory(struct request *rq)
{
    static const char text[] = "{\"type\":\"/problems/limit\",\"title\":\"larger than this server "
                               "answers\",\"status\":422,\"code\":\"limit\","
                               "\"detail\":\"the answer needs more memory than one request may use\"}";
    respond(rq, REFUSED_STATUS, "application/problem+json", text, sizeof text - 1);
}

static void respond_with(struct problem p)
{
    if (!la_try(&p.rq->cx, write_problem, &p))
        respond_no_memory(p.rq);
}

void respond_error(struct request *rq, const char *field)
{
    const struct la_error error = rq->cx.error; /* writing resets it */
    respond_with((struct problem){.rq = rq,
                                  .status = REFUSED_STATUS,
                                  .code = la_error_name(error.code),
                                  .detail = error.message,
                                  .field = field,
                                  .has_position = field && error.has_position,
                                  .start = error.at,
                                  .end = error.at + error.len});
}

void respond_bad_json(struct request *rq, const char *wrong, size_t at)
{
    respond_with((struct problem){.rq = rq,
                                  .status = 400,
                                  .code = "bad_json",
                                  .detail = wrong,
                                  .field = "body",
                                  .has_position = true,
                                  .start = at,
                                  .end = at < rq->body_len ? at + 1 : at});
}

static void respond_formatted(struct problem p, const char *format, va_list args)
{
    char detail[600]; /* a sentence; what is longer is cut */
    vsnprintf(detail, sizeof detail, format, args);
    p.detail = detail;
    respond_with(p);
}

void respond_problem(struct request *rq, int status, const char *code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    respond_formatted((struct problem){.rq = rq, .status = status, .code = code}, format, args);
    va_end(args);
}

void respond_field_problem(struct request *rq, const char *code, const char *field, const char *format, ...)
{
    const struct problem_kind *kind = find_kind(code);
    int status = kind ? kind->status : REFUSED_STATUS;
    va_list args;
    va_start(args, format);
    respond_formatted((struct problem){.rq = rq, .status = status, .code = code, .field = field}, format,
                      args);
    va_end(args);
}

/* ---- /problems/CODE: what the type of a problem points to ----------------------------------------------------- */

const char *problem_code(size_t i, int *status)
{
    const size_t algebra = sizeof algebra_problems / sizeof *algebra_problems;
    if (i < algebra) {
        *status = REFUSED_STATUS;
        return algebra_problems[i].code;
    }
    i -= algebra;
    if (i >= sizeof http_problems / sizeof *http_problems)
        return NULL;
    *status = http_problems[i].status;
    return http_problems[i].code;
}

void handle_problem(struct request *rq)
{
    const struct problem_kind *kind = find_kind(rq->tail);
    const char *title = kind ? kind->title : algebra_title(rq->tail);
    if (!title) {
        respond_problem(rq, 404, "not_found", "no problem is called '%s'", rq->tail);
        return;
    }
    const char *text = la_format(
        &rq->cx, "%s (status %d)\n\n%s.\n\n%s\n", rq->tail, kind ? kind->status : REFUSED_STATUS, title,
        kind ? "The request itself was refused; its `detail` says what to change."
             : "The request was understood; the expression, or the operation on its values, was "
               "refused.\n`detail` shows the values that clash, `in` names the field and "
               "`position` the bytes of its text.");
    respond(rq, 200, "text/plain; charset=utf-8", text, strlen(text));
}
