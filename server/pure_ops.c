/* pure_ops.c: the table of operations over HTTP.
 *
 *     GET /ops                                        every row
 *     GET /ops/complement                             the row: what it takes, gives, its law, an example
 *     GET /ops/complement?layout=4:2&cotarget=24      the answer, as /eval gives it
 * Nothing is said of an operation here: parameters, checks and documents come from its row in core. */
#include "exchange.h"
#include "json.h"
#include "pure.h"

#include <string.h>

/* Kinds are bits below this one; above are LA_OPTIONAL and LA_VARIADIC. */
#define KIND_BITS 20

static void write_kinds(struct json *j, unsigned kinds)
{
    json_open(j, '[');
    for (unsigned i = 0; i < KIND_BITS; i++)
        if (kinds >> i & 1)
            json_text(j, la_kind_name((enum la_kind)(1u << i)));
    json_close(j, ']');
}

static void write_params(struct json *j, const struct la_op *op)
{
    json_open(j, '[');
    for (size_t i = 0; i < LA_MAX_PARAMS && op->params[i].name; i++) {
        json_open(j, '{');
        json_key(j, "name");
        json_text(j, op->params[i].name);
        json_key(j, "kinds");
        write_kinds(j, op->params[i].kinds);
        json_key(j, "optional");
        json_bool(j, op->params[i].kinds & LA_OPTIONAL);
        json_key(j, "variadic");
        json_bool(j, op->params[i].kinds & LA_VARIADIC);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void write_text(struct json *j, const char *key, const char *text)
{
    json_key(j, key);
    if (text)
        json_text(j, text);
    else
        json_null(j);
}

static void write_op(struct json *j, const struct la_op *op)
{
    json_open(j, '{');
    write_text(j, "name", op->name);
    write_text(j, "doc", op->doc);
    write_text(j, "law", op->law);
    json_key(j, "params");
    write_params(j, op);
    write_text(j, "template_params", op->template_params);
    json_key(j, "gives");
    write_kinds(j, op->gives);
    write_text(j, "example", op->example);
    write_text(j, "result", op->result);
    json_close(j, '}');
}

void handle_ops(struct request *rq)
{
    struct json j = json_new(&rq->cx, 64 * 1024);
    json_open(&j, '{');
    json_key(&j, "ops");
    json_open(&j, '[');
    const struct la_op *op;
    for (size_t i = 0; (op = la_op_at(i)); i++)
        write_op(&j, op);
    json_close(&j, ']');
    json_close(&j, '}');
    respond(rq, 200, "application/json", j.data, j.len);
}

/* ---- one operation ------------------------------------------------------------------------------------------ */

/* Its parameters, "template" when it takes template arguments, and what every answer takes. */
void op_fields(const struct la_op *op, struct field *out)
{
    static const struct field of_answers[] = {FIELDS_OF_ANSWERS, {0}};
    for (size_t i = 0; i < LA_MAX_PARAMS && op->params[i].name; i++) {
        bool variadic = op->params[i].kinds & LA_VARIADIC, optional = op->params[i].kinds & LA_OPTIONAL;
        *out++ = (struct field){op->params[i].name, variadic ? FIELD_LIST : FIELD_NOTATION,
                                !variadic && !optional, NULL,
                                variadic ? "Any number of arguments." : "An argument, in the notation."};
    }
    if (op->template_params)
        *out++ = (struct field){"template", FIELD_NOTATION, false, NULL, op->template_params};
    memcpy(out, of_answers, sizeof of_answers);
}

static bool add_argument(struct request *rq, struct la_value *args, uint32_t *count, const char *text,
                         enum la_integers integers)
{
    struct la_program program;
    if (*count == LA_MAX_ARGS)
        la_fail(&rq->cx, LA_E_limit, "an operation takes at most %d arguments", LA_MAX_ARGS);
    if (!la_eval(&rq->cx, text, integers, &program))
        return false;
    args[(*count)++] = program.value;
    return true;
}

/* A list of arguments; false when one was refused, and answered. */
static bool add_list(struct request *rq, struct la_call *call, const char *name, enum la_integers integers)
{
    const struct element *elements = NULL;
    size_t n = field_list(rq, name, &elements);
    for (size_t i = 0; i < n; i++)
        if (!add_argument(rq, call->args, &call->argc, elements[i].text, integers)) {
            respond_element_error(rq, name, elements, i);
            return false;
        }
    return true;
}

/* The end of the template argument that begins at p: a comma outside of all brackets, or the end. */
static const char *template_end(const char *p)
{
    int depth = 0;
    for (; *p && (*p != ',' || depth > 0); p++)
        depth += (strchr("(<{", *p) != NULL) - (strchr(")>}", *p) != NULL);
    return p;
}

/* "0,1" of get<0,1>; integers among template arguments are static. */
static bool add_template(struct request *rq, struct la_call *call)
{
    const char *text = field_notation(rq, "template");
    for (const char *p = text, *end; p; p = *end ? end + 1 : NULL) {
        end = template_end(p);
        const char *piece = la_format(&rq->cx, "%.*s", (int)(end - p), p);
        if (!add_argument(rq, call->targs, &call->targc, piece, LA_INTEGERS_STATIC)) {
            rq->cx.error.at += (size_t)(p - text);
            respond_error(rq, "template");
            return false;
        }
    }
    return true;
}

static enum la_integers op_integers(struct request *rq, const struct la_op *op)
{
    enum la_integers integers = LA_INTEGERS_STATIC;
    for (size_t i = 0; i < LA_MAX_PARAMS && op->params[i].name && integers != LA_INTEGERS_CUTE; i++) {
        const char *name = op->params[i].name;
        const struct element *elements = NULL;
        size_t n = op->params[i].kinds & LA_VARIADIC ? field_list(rq, name, &elements) : 0;
        const char *text = elements ? NULL : field_notation(rq, name);
        integers = integers_of(rq, &text, 1);
        for (size_t k = 0; k < n && integers == LA_INTEGERS_STATIC; k++)
            integers = integers_of(rq, &elements[k].text, 1);
    }
    return integers;
}

static void run_op(struct request *rq, const struct la_op *op)
{
    enum la_integers integers = op_integers(rq, op);
    struct la_call *call = la_alloc(&rq->cx, sizeof *call);
    call->op = op;
    call->argc = call->targc = 0;
    if (!add_template(rq, call))
        return;
    for (size_t i = 0; i < LA_MAX_PARAMS && op->params[i].name; i++) {
        const char *name = op->params[i].name;
        if (op->params[i].kinds & LA_VARIADIC) {
            if (!add_list(rq, call, name, integers))
                return;
        } else if (request_field(rq, name) &&
                   !add_argument(rq, call->args, &call->argc, field_notation(rq, name), integers)) {
            respond_error(rq, name);
            return;
        }
    }
    respond_call(rq, call, integers);
}

void handle_op(struct request *rq)
{
    const struct la_op *op = la_op_find(rq->tail, strlen(rq->tail));
    if (!op) {
        const char *near = la_op_nearest(rq->tail, strlen(rq->tail));
        respond_problem(rq, 404, "not_found", "there is no operation '%s'%s%s%s", rq->tail,
                        near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
        return;
    }
    const struct given *given;
    if (!rq->json && request_given(rq, &given) == 0) {
        struct json j = json_new(&rq->cx, 1024);
        write_op(&j, op);
        respond(rq, 200, "application/json", j.data, j.len);
        return;
    }
    struct field fields[OP_FIELDS_MAX];
    op_fields(op, fields);
    if (fields_check(rq, fields))
        run_op(rq, op);
}
