/* pure.c: /eval, /product, /divide, and the answer that they and /ops/NAME give.
 *
 *     GET /eval?expr=logical_divide(12:1,4:1)
 *     ->  {"type":"layout","integers":"static","text":"(4,3):(1,4)","cute":"(_4,_3):(_1,_4)","value":{...}, ...}
 * Handlers run under la_try (http.c): an error that belongs to no field leaves them by la_fail. */
#include "pure.h"
#include "exchange.h"
#include "json.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

const char *const integers_choices[] = {"auto", "cute", "static", NULL};
static const char *const products[] = {"logical", "zipped", "tiled", "flat", "blocked", "raked", NULL};
static const char *const divides[] = {"logical", "zipped", "tiled", "flat", NULL};

const struct field eval_fields[] = {
    {"expr", FIELD_NOTATION, false, NULL,
     "A program in CuTe notation; its value is that of the last expression."},
    {"layout", FIELD_NOTATION, false, NULL, "Instead of expr: a layout to be evaluated at coordinates."},
    {"coord", FIELD_NOTATION, false, NULL,
     "With layout: one coordinate, full, nested, partial or an integer."},
    {"coords", FIELD_LIST, false, NULL, "With layout: coordinates; the answer has \"values\", one for each."},
    FIELDS_OF_ANSWERS,
    {0}};

const struct field product_fields[] = {
    {"kind", FIELD_CHOICE, true, products, "Which product."},
    {"a", FIELD_NOTATION, true, NULL, "The layout that is repeated."},
    {"b", FIELD_NOTATION, true, NULL, "The layout of the repetitions, or a tiler."},
    FIELDS_OF_ANSWERS,
    {0}};

const struct field divide_fields[] = {
    {"kind", FIELD_CHOICE, true, divides, "Which divide."},
    {"a", FIELD_NOTATION, true, NULL, "The layout that is divided."},
    {"b", FIELD_NOTATION, true, NULL, "The tiler: a layout, or a tuple that works by mode."},
    FIELDS_OF_ANSWERS,
    {0}};

/* Leave with the error that an entry of core has just filled. */
static _Noreturn void fail_again(struct la_ctx *cx)
{
    longjmp(*cx->escape, 1);
}

/* ---- the answer --------------------------------------------------------------------------------------------- */

struct table_call {
    struct request *rq;
    const struct la_value *value;
    struct la_table *out;
};

/* The modes that a field names; leaves by la_fail when one is no mode number. */
static uint32_t read_modes(struct la_ctx *cx, struct request *rq, const char *field, uint32_t **out)
{
    const struct element *elements = NULL;
    const size_t n = field_list(rq, field, &elements);
    *out = la_alloc(cx, (n + 1) * sizeof **out);
    for (size_t i = 0; i < n; i++) {
        char *end;
        const long mode = strtol(elements[i].text, &end, 10);
        if (end == elements[i].text || *end || mode < 0 || mode > INT32_MAX)
            la_fail(cx, LA_E_kind, "%s names modes by their numbers, from 0 on, unlike '%s'", field,
                    elements[i].text);
        (*out)[i] = (uint32_t)mode;
    }
    return (uint32_t)n;
}

/* rows and cols; when only one is given, the other is the rest in order. False when neither is. */
static bool read_axes(struct la_ctx *cx, struct request *rq, struct la_layout layout, struct la_axes *axes)
{
    uint32_t *rows, *cols, *rest;
    const bool has_rows = request_field(rq, "rows"), has_cols = request_field(rq, "cols");
    *axes = (struct la_axes){.n_rows = read_modes(cx, rq, "rows", &rows),
                             .n_cols = read_modes(cx, rq, "cols", &cols)};
    axes->rows = rows;
    axes->cols = cols;
    if (has_rows == has_cols)
        return has_rows;
    const uint32_t rank = la_rank(layout.shape), n = has_rows ? axes->n_rows : axes->n_cols;
    const uint32_t *named = has_rows ? rows : cols;
    rest = la_alloc(cx, (rank + 1) * sizeof *rest);
    uint32_t count = 0;
    for (uint32_t i = 0; i < rank; i++) {
        bool is_named = false;
        for (uint32_t k = 0; k < n; k++)
            is_named = is_named || named[k] == i;
        if (!is_named)
            rest[count++] = i;
    }
    *(has_rows ? &axes->cols : &axes->rows) = rest;
    *(has_rows ? &axes->n_cols : &axes->n_rows) = count;
    return true;
}

static void run_table(struct la_ctx *cx, void *arg)
{
    struct table_call *call = arg;
    if (!(call->value->kind & LA_K_ANYLAYOUT))
        la_fail(cx, LA_E_kind, "a table needs a layout; the value is %s",
                la_kinds_text(cx, call->value->kind));
    const int64_t max_cells = call->rq->server->options.max_cells;
    struct la_axes axes;
    const bool chosen = read_axes(cx, call->rq, call->value->layout, &axes);
    if (!la_table_by(cx, call->value->layout, chosen ? &axes : NULL, max_cells, call->out))
        fail_again(cx);
}

/* The grid of offsets of a layout, within the server's limit of cells; false with rq->cx.error. */
static bool make_table(struct request *rq, const struct la_value *value, struct la_table *out)
{
    struct table_call call = {rq, value, out};
    return la_try(&rq->cx, run_table, &call);
}

static void write_names(struct json *j, const struct la_program *program)
{
    json_key(j, "names");
    json_open(j, '{');
    for (const struct la_binding *b = program->names; b; b = b->next) {
        json_key(j, b->name);
        json_open(j, '{');
        json_value(j, &b->value);
        json_close(j, '}');
    }
    json_close(j, '}');
}

static void write_prints(struct json *j, const struct la_program *program)
{
    json_key(j, "prints");
    json_open(j, '[');
    for (const struct la_binding *b = program->prints; b; b = b->next) {
        json_open(j, '{');
        json_key(j, "expr");
        json_text(j, b->name);
        json_value(j, &b->value);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void respond_answer_json(struct request *rq, const struct answer *answer, const struct la_table *table)
{
    struct json j = json_new(&rq->cx, 1024);
    json_open(&j, '{');
    json_value(&j, &answer->value);
    json_key(&j, "integers");
    json_text(&j, answer->integers == LA_INTEGERS_CUTE ? "cute" : "static");
    if (answer->program) {
        write_names(&j, answer->program);
        write_prints(&j, answer->program);
    }
    if (answer->values) {
        json_key(&j, "values");
        json_open(&j, '[');
        for (size_t i = 0; i < answer->value_count; i++)
            json_tuple(&j, answer->values[i]);
        json_close(&j, ']');
    }
    if (table) {
        json_key(&j, "table");
        json_table(&j, table);
    }
    if (answer->trace)
        json_trace(&j, answer->trace);
    if (answer->checks)
        json_checks(&j, answer->checks);
    json_close(&j, '}');
    respond(rq, 200, "application/json", j.data, j.len);
}

static void respond_octets(struct request *rq, const struct la_table *table)
{
    size_t n = (size_t)(table->rows * table->cols);
    for (size_t i = 0; i < n; i++)
        table->offsets[i] = (int64_t)htole64((uint64_t)table->offsets[i]);
    respond_header(rq, "X-Layoutd-Rows", la_format(&rq->cx, "%lld", (long long)table->rows));
    respond_header(rq, "X-Layoutd-Cols", la_format(&rq->cx, "%lld", (long long)table->cols));
    respond(rq, 200, "application/octet-stream", table->offsets, n * sizeof *table->offsets);
}

/* The value as JSON, or its table as octets when Accept asks for them. */
static void respond_answer(struct request *rq, const struct answer *answer)
{
    int json = request_weight(rq, "Accept", "application/json", 1);
    int octets = request_weight(rq, "Accept", "application/octet-stream", 0);
    if (json == 0 && octets == 0) {
        respond_problem(rq, 406, "not_acceptable",
                        "there is application/json and, of a table, application/octet-stream");
        return;
    }
    bool wants_octets = octets > json, wants_table = wants_octets || field_flag(rq, "table");
    struct la_table table;
    if (wants_table && !make_table(rq, &answer->value, &table))
        fail_again(&rq->cx);
    if (wants_octets)
        respond_octets(rq, &table);
    else
        respond_answer_json(rq, answer, wants_table ? &table : NULL);
}

/* ---- fields of expressions ---------------------------------------------------------------------------------- */

enum la_integers integers_of(struct request *rq, const char *const *texts, size_t n)
{
    enum la_integers integers = field_integers(rq);
    for (size_t i = 0; integers == LA_INTEGERS_AUTO && i < n; i++)
        if (texts[i] && la_has_static(texts[i]))
            integers = LA_INTEGERS_CUTE;
    return integers == LA_INTEGERS_AUTO ? LA_INTEGERS_STATIC : integers;
}

bool evaluate_field(struct request *rq, const char *name, enum la_integers integers, struct la_value *out)
{
    struct la_program program;
    if (!la_eval(&rq->cx, field_notation(rq, name), integers, &program)) {
        respond_error(rq, name);
        return false;
    }
    *out = program.value;
    return true;
}

/* ---- /eval -------------------------------------------------------------------------------------------------- */

/* Answer with what was asked for beside the value. The text is NULL where the program was not one text. */
static void respond_explained(struct request *rq, const char *text, const struct la_program *program,
                              const struct la_trace *trace)
{
    struct la_checks checks;
    const bool checked = field_flag(rq, "checks");
    if (checked && !la_check(&rq->cx, text, program, &checks))
        fail_again(&rq->cx);
    respond_answer(rq, &(struct answer){.integers = program->integers,
                                        .value = program->value,
                                        .program = text ? program : NULL,
                                        .trace = field_flag(rq, "trace") ? trace : NULL,
                                        .checks = checked ? &checks : NULL});
}

void respond_call(struct request *rq, struct la_call *call, enum la_integers integers)
{
    struct la_program program = {.integers = integers, .call = call};
    struct la_trace trace = {0};
    rq->cx.trace = field_flag(rq, "trace") ? &trace : NULL;
    const bool ok = la_apply(&rq->cx, call, &program.value);
    rq->cx.trace = NULL;
    if (!ok)
        fail_again(&rq->cx);
    respond_explained(rq, NULL, &program, &trace);
}

static void eval_program(struct request *rq)
{
    struct la_program program;
    struct la_trace trace = {0};
    const char *text = field_notation(rq, "expr");
    rq->cx.trace = field_flag(rq, "trace") ? &trace : NULL;
    const bool ok = la_eval(&rq->cx, text, field_integers(rq), &program);
    rq->cx.trace = NULL;
    if (ok)
        respond_explained(rq, text, &program, &trace);
    else
        respond_error(rq, "expr");
}

struct at {
    struct la_value layout, coord, value;
};

/* layout(coord); a coordinate with _ slices. */
static void run_at(struct la_ctx *cx, void *arg)
{
    struct at *at = arg;
    if (at->coord.kind & LA_K_INTTUPLE) {
        at->value = la_value_tuple(la_layout_at(cx, at->layout.layout, at->coord.tuple));
        return;
    }
    struct la_call call = {
        .op = la_op_find("slice", strlen("slice")), .argc = 2, .args = {at->coord, at->layout}};
    if (!call.op || !(at->coord.kind & LA_K_COORD))
        la_fail(cx, LA_E_kind, "a coordinate is an integer or a tuple, not %s",
                la_kinds_text(cx, at->coord.kind));
    if (!la_apply(cx, &call, &at->value))
        fail_again(cx);
}

static void eval_coord(struct request *rq, enum la_integers integers, struct la_value layout)
{
    struct at at = {.layout = layout};
    if (!evaluate_field(rq, "coord", integers, &at.coord))
        return;
    if (la_try(&rq->cx, run_at, &at))
        respond_answer(rq, &(struct answer){.integers = integers, .value = at.value});
    else
        respond_error(rq, "coord");
}

/* The offset of one coordinate, or NULL with cx->error. */
static const struct la_node *offset_at(struct la_ctx *cx, enum la_integers integers, struct la_value layout,
                                       const char *text)
{
    struct la_program program;
    if (!la_eval(cx, text, integers, &program))
        return NULL;
    struct at at = {.layout = layout, .coord = program.value};
    if (!la_try(cx, run_at, &at))
        return NULL;
    if (at.value.kind & LA_K_INTTUPLE)
        return at.value.tuple;
    cx->error = (struct la_error){.code = LA_E_kind,
                                  .message = "coordinates with _ are for \"coord\", one at a time"};
    return NULL;
}

static void eval_coords(struct request *rq, enum la_integers integers, struct la_value layout,
                        const struct element *elements, size_t n)
{
    const struct la_node **values = la_alloc(&rq->cx, n * sizeof(const struct la_node *));
    for (size_t i = 0; i < n; i++) {
        values[i] = offset_at(&rq->cx, integers, layout, elements[i].text);
        if (!values[i]) {
            respond_element_error(rq, "coords", elements, i);
            return;
        }
    }
    respond_answer(
        rq, &(struct answer){.integers = integers, .value = layout, .values = values, .value_count = n});
}

static void eval_layout(struct request *rq, bool one)
{
    const struct element *elements = NULL;
    size_t n = field_list(rq, "coords", &elements);
    const char *texts[] = {field_notation(rq, "layout"), one ? field_notation(rq, "coord") : NULL};
    enum la_integers integers = integers_of(rq, texts, 2);
    for (size_t i = 0; i < n && field_integers(rq) == LA_INTEGERS_AUTO; i++)
        if (la_has_static(elements[i].text))
            integers = LA_INTEGERS_CUTE;
    struct la_value layout;
    if (!evaluate_field(rq, "layout", integers, &layout))
        return;
    if (!(layout.kind & LA_K_ANYLAYOUT)) {
        respond_field_problem(rq, "kind", "layout", "a layout is needed, not %s",
                              la_kinds_text(&rq->cx, layout.kind));
        return;
    }
    if (one)
        eval_coord(rq, integers, layout);
    else
        eval_coords(rq, integers, layout, elements, n);
}

void handle_eval(struct request *rq)
{
    bool expr = request_field(rq, "expr"), layout = request_field(rq, "layout");
    bool coord = request_field(rq, "coord"), coords = request_field(rq, "coords");
    if (expr && !layout && !coord && !coords)
        eval_program(rq);
    else if (expr)
        respond_field_problem(rq, "bad_field", "expr", "either 'expr', or 'layout' with 'coord' or 'coords'");
    else if (!layout)
        respond_field_problem(rq, "missing_field", coord || coords ? "layout" : "expr",
                              "the field '%s' is missing", coord || coords ? "layout" : "expr");
    else if (coord == coords)
        respond_field_problem(rq, coord ? "bad_field" : "missing_field", "coord",
                              "with 'layout' goes either 'coord' or 'coords'");
    else
        eval_layout(rq, coord);
}

/* ---- /product and /divide ----------------------------------------------------------------------------------- */

static void apply_named(struct request *rq, const char *family)
{
    const char *name = la_format(&rq->cx, "%s_%s", request_field(rq, "kind"), family);
    const char *texts[] = {field_notation(rq, "a"), field_notation(rq, "b")};
    enum la_integers integers = integers_of(rq, texts, 2);
    struct la_call call = {.op = la_op_find(name, strlen(name)), .argc = 2};
    if (!call.op)
        la_fail(&rq->cx, LA_E_unknown_name, "there is no operation '%s'", name);
    if (!evaluate_field(rq, "a", integers, &call.args[0]) ||
        !evaluate_field(rq, "b", integers, &call.args[1]))
        return;
    respond_call(rq, &call, integers);
}

void handle_product(struct request *rq)
{
    apply_named(rq, "product");
}

void handle_divide(struct request *rq)
{
    apply_named(rq, "divide");
}
