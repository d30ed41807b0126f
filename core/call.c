/* call.c: calls of what a program defines.
 *
 *     show(a);   matrix<2, 3>();   kernel<<<grid, block>>>(a);   SHOW(a)   BM
 *
 * A body is read again at each call, with the parameters bound to the arguments. A type parameter that is
 * the whole type of some parameter stands for its argument, so that T{} is that argument. A function sees
 * the names outside of all functions, a lambda those around it, a macro those of the caller. A kernel that
 * is launched runs as thread 0 of block 0. Behind the text main runs; without a main each function does
 * that needs no arguments and was never called. A parameter that is a reference and not const hands its value
 * back to the name that was its argument. Packs of parameters are refused. */
#include "program.h"

#include <string.h>

/* ---- parameters ---- */

/* One of the names in (...) or <...>: the last word of its type, its name, where its default stands. */
struct parameter {
    struct word type, name;
    size_t otherwise;
    bool is_const, refers;
};

static struct parameter parameter(struct parser *p, char close)
{
    struct parameter out = {0};
    struct word w;
    for (char c; la_skip_space(p), c = p->text[p->at], c != close && c != ',' && c != '=';) {
        if (c == '<' || c == '(' || c == '[') {
            if (c != '<')
                la_skip_brackets(p);
            else if (!la_skip_angles(p))
                la_syntax(p, p->at, 1, LA_E_syntax, "this '<' is not closed");
        } else if (la_word(p, &w)) {
            out.is_const = out.is_const || la_word_is(w, "const");
            if (la_word_is(w, "const") || la_word_is(w, "class") || la_word_is(w, "typename"))
                continue;
            out.type = out.name;
            out.name = w;
        } else if (strchr("*&:", c) && c) {
            out.refers = out.refers || c == '&';
            p->at++;
        } else {
            la_syntax(p, p->at, 1, LA_E_syntax,
                      "a parameter is a type and a name; packs of them are not evaluated");
        }
    }
    if (la_accept(p, '=')) {
        out.otherwise = p->at;
        la_skip_typed_to(p, close == '>' ? ",>" : ",");
    }
    return out;
}

/* Those in the brackets at `at`, or none. */
static uint32_t parameters(struct parser *p, size_t at, char close, struct parameter *out)
{
    uint32_t n = 0;
    const size_t behind = p->at;
    p->at = at + 1;
    if (at && !la_accept(p, close)) {
        do {
            if (n == LA_MAX_ARGS)
                la_syntax(p, at, 1, LA_E_limit, "more than %d parameters", LA_MAX_ARGS);
            out[n++] = parameter(p, close);
        } while (la_accept(p, ','));
        la_expect(p, close, "or ',' behind this parameter");
    }
    p->at = behind;
    return n;
}

/* ---- calls ---- */

struct arguments {
    uint32_t n, n_templates;
    struct la_value *at, *templates;
    struct la_span *spans; /* of the call, then of the arguments */
};

/* [<args> | <<<launch>>>] "(" args ")" */
static struct arguments arguments(struct parser *p, struct word w)
{
    struct arguments a = {.at = la_alloc(p->cx, LA_MAX_ARGS * sizeof *a.at),
                          .templates = la_alloc(p->cx, LA_MAX_ARGS * sizeof *a.templates),
                          .spans = la_alloc(p->cx, (LA_MAX_ARGS + 1) * sizeof *a.spans)};
    const int templates = p->templates;
    if (la_next_is(p, '<') && strncmp(p->text + p->at, "<<<", 3) != 0) {
        p->at++;
        p->templates++;
        a.n_templates = la_arguments(p, '>', a.templates, a.spans);
    }
    p->templates = 0; /* arguments in (...) are run-time again */
    if (la_next_is(p, '<') && strncmp(p->text + p->at, "<<<", 3) == 0) {
        while (la_skip_to(p, ">;") && p->text[p->at] == '>' && strncmp(p->text + p->at, ">>>", 3) != 0)
            p->at++;
        p->at += p->text[p->at] == '>' ? 3 : 0;
    }
    la_expect(p, '(', "after the name of a function");
    a.n = la_arguments(p, ')', a.at, a.spans + 1);
    p->templates = templates;
    a.spans[0] = (struct la_span){w.at, p->at - w.at};
    return a;
}

static bool takes(struct parser *p, const struct la_definition *d, uint32_t n)
{
    uint32_t least = 0, most = 0;
    const size_t behind = p->at;
    p->at = d->parameters + 1;
    if (d->parameters && !la_next_is(p, ')'))
        do {
            const bool has_default = parameter(p, ')').otherwise;
            most++;
            least = has_default ? least : most;
        } while (la_accept(p, ','));
    p->at = behind;
    return n >= least && n <= most;
}

/* How many arguments stand in the (...) here. */
static uint32_t count(struct parser *p)
{
    const size_t start = p->at;
    uint32_t n = 0;
    if (la_next_is(p, '<'))
        la_skip_angles(p);
    if (la_accept(p, '(') && !la_next_is(p, ')'))
        for (n = 1; la_skip_to(p, ","); n++)
            p->at++;
    p->at = start;
    return n;
}

bool la_is_call(struct la_execution *x, struct word w)
{
    const uint32_t n = la_is_defined(x, w) ? count(&x->parser) : 0;
    for (const struct la_definition *d = x->definitions; d; d = d->next)
        if (la_defines(d, w) && takes(&x->parser, d, n))
            return true;
    return false;
}

/* The definition that takes the arguments; NULL when there is none but CuTe has such a call of its own:
 * gemm(a, b, c). */
static const struct la_definition *fitting(struct la_execution *x, struct word w, struct arguments a)
{
    const struct la_definition *first = NULL;
    for (struct la_definition *d = x->definitions; d; d = d->next) {
        if (!la_defines(d, w) || d->kind == LA_ALIAS || d->kind == LA_NAMESPACE || d->kind == LA_CLASS)
            continue;
        d->used = true;
        if (takes(&x->parser, d, a.n))
            return d;
        first = first ? first : d;
    }
    if (la_is_data_call(w))
        return NULL;
    la_syntax(&x->parser, a.spans[0].at, a.spans[0].len, LA_E_arity, "no '%.*s' takes %u argument%s",
              (int)w.len, w.text, a.n, a.n == 1 ? "" : "s");
}

static struct la_value default_of(struct parser *p, struct parameter parameter, bool in_template)
{
    const size_t behind = p->at;
    p->at = parameter.otherwise;
    p->templates += in_template;
    const struct la_value v = la_expression(p);
    p->templates -= in_template;
    p->at = behind;
    return v;
}

/* Template parameters: given ones, then defaults; a type that is deduced is bound with the argument that
 * has it. */
static uint32_t bind_templates(struct la_execution *x, const struct la_definition *d, uint32_t given,
                               const struct la_value *args, struct la_span at, struct parameter *list)
{
    struct parser *p = &x->parser;
    const uint32_t n = parameters(p, d->templates, '>', list);
    for (uint32_t i = 0; i < n; i++)
        if (i < given)
            la_declare(x, list[i].name, at, args[i]);
        else if (list[i].otherwise)
            la_declare(x, list[i].name, at, default_of(p, list[i], true));
    return n;
}

void la_bind_templates(struct la_execution *x, const struct la_definition *d, uint32_t given,
                       const struct la_value *args, struct la_span at)
{
    struct parser *p = &x->parser;
    struct parameter *list = la_alloc(p->cx, LA_MAX_ARGS * sizeof *list);
    const uint32_t n = parameters(p, d->templates, '>', list);
    if (given > n || (given < n && !list[given].otherwise))
        la_syntax(p, at.at, at.len, LA_E_arity, "%.*s has %u template parameter%s; %u are given",
                  (int)d->name.len, d->name.text, n, n == 1 ? "" : "s", given);
    bind_templates(x, d, given, args, at, list);
}

static void bind(struct la_execution *x, const struct la_definition *d, struct arguments a,
                 struct parameter *list)
{
    struct parser *p = &x->parser;
    struct parameter *types = la_alloc(p->cx, LA_MAX_ARGS * sizeof *types);
    const uint32_t n_types = bind_templates(x, d, a.n_templates, a.templates, a.spans[0], types),
                   n = parameters(p, d->parameters, ')', list);
    for (uint32_t i = 0; i < n; i++) {
        const struct word type = list[i].type.len ? list[i].type : list[i].name;
        struct la_value v = i < a.n ? a.at[i] : default_of(p, list[i], false);
        if (d->kind == LA_FUNCTION)
            v = la_converted(p, type, v, a.spans[i < a.n ? i + 1 : 0].at);
        for (uint32_t t = a.n_templates; t < n_types; t++)
            if (types[t].name.len == type.len && memcmp(types[t].name.text, type.text, type.len) == 0)
                la_declare(x, type, a.spans[0], v);
        if (list[i].type.len || d->kind == LA_MACRO)
            la_declare(x, list[i].name, a.spans[i < a.n ? i + 1 : 0], v);
    }
}

/* What a call did to the names that it was given by reference. */
struct changes {
    uint32_t n;
    struct la_binding *at;
};

/* Those of the parameters in sight whose argument is a name and whose value is not the argument's any more. */
static struct changes changes(struct la_execution *x, struct arguments a, const struct parameter *list)
{
    struct parser *p = &x->parser;
    struct changes out = {.at = la_alloc(p->cx, LA_MAX_ARGS * sizeof *out.at)};
    for (uint32_t i = 0; i < a.n; i++) {
        const struct la_span span = a.spans[i + 1];
        const bool refers = list[i].refers && !list[i].is_const && list[i].type.len;
        const struct la_binding *b = refers ? la_named(p, list[i].name) : NULL;
        struct word w;
        if (!b || (b->at == span.at && b->len == span.len))
            continue;
        p->at = span.at;
        if (la_word(p, &w) && (la_skip_space(p), p->at >= span.at + span.len)) {
            out.at[out.n] = *b;
            out.at[out.n++].name = la_format(p->cx, "%.*s", (int)w.len, w.text);
        }
    }
    return out;
}

/* Does a macro stand for statements, and not for an expression? */
static bool has_statements(struct la_execution *x, const struct la_definition *d)
{
    struct parser *p = &x->parser;
    p->at = d->body;
    const bool has = la_begins_statement(x) || (la_skip_to(p, ";") && p->at < d->end);
    p->at = d->body;
    return has;
}

static struct la_value expand(struct la_execution *x, const struct la_definition *d)
{
    struct parser *p = &x->parser;
    p->stop = d->end + 1;
    if (!has_statements(x, d)) {
        const struct la_value v = la_expression(p);
        if (!la_at_end(p))
            la_syntax(p, p->at, 1, LA_E_syntax, "this ends the expression of the macro '%.*s'",
                      (int)d->name.len, d->name.text);
        return v;
    }
    while (!la_at_end(p))
        la_statement(x);
    return la_data();
}

/* In a call the text is C++, and a function sees neither its caller's names nor its loops. */
static void enter(struct la_execution *x, const struct la_definition *d)
{
    struct parser *p = &x->parser;
    la_deeper(p);
    la_charge(x, d->kind == LA_MACRO ? d->end - d->body : 0);
    if (d->kind == LA_FUNCTION)
        p->names = d->is_lambda || d->inside ? d->captured : x->globals;
    x->block = p->names;
    x->level++;
    x->loops = 0;
    x->inside = d->kind == LA_MACRO ? x->inside : d->inside;
    p->templates = 0;
    p->streams = false;
    p->in_function = true;
    p->colon = 0;
    p->stop = 0;
}

static void leave(struct la_execution *x, const struct la_execution *outer)
{
    struct parser *p = &x->parser;
    const struct parser *before = &outer->parser;
    p->cx->depth--;
    p->at = before->at;
    p->names = before->names;
    x->block = outer->block;
    x->definitions = outer->definitions;
    x->names = outer->names;
    x->level = outer->level;
    x->loops = outer->loops;
    x->inside = outer->inside;
    p->templates = before->templates;
    p->streams = before->streams;
    p->in_function = before->in_function;
    p->colon = before->colon;
    p->stop = before->stop;
    p->last_call = NULL;
}

static struct la_value run(struct la_execution *x, const struct la_definition *d, struct arguments a)
{
    const struct la_execution outer = *x;
    struct parameter *list = la_alloc(x->parser.cx, LA_MAX_ARGS * sizeof *list);
    struct changes back = {0};
    struct la_value v = la_data();
    enter(x, d);
    bind(x, d, a, list);
    if (d->kind == LA_MACRO) {
        v = expand(x, d);
    } else {
        x->parser.at = d->body;
        if (la_block(x) == LA_RETURN)
            v = x->returned;
        back = changes(x, a, list);
    }
    leave(x, &outer);
    for (uint32_t i = 0; i < back.n; i++)
        la_change(x, &back.at[i]);
    return v;
}

struct la_value la_called(struct la_execution *x, const struct la_definition *d, struct word w)
{
    struct parser *p = &x->parser;
    if (!la_next_is(p, '(') && !la_next_is(p, '<'))
        return la_data();
    const struct arguments a = arguments(p, w);
    if (!takes(p, d, a.n))
        la_syntax(p, a.spans[0].at, a.spans[0].len, LA_E_arity, "'%.*s' does not take %u argument%s",
                  (int)w.len, w.text, a.n, a.n == 1 ? "" : "s");
    return run(x, d, a);
}

/* The value of a text that stands for itself: an alias, a macro without parameters. */
static struct la_value read_text(struct la_execution *x, const struct la_definition *d)
{
    struct parser *p = &x->parser;
    const size_t behind = p->at, stop = p->stop;
    la_deeper(p);
    la_charge(x, d->end - d->body);
    p->at = d->body;
    p->stop = d->kind == LA_MACRO ? d->end + 1 : stop;
    const struct la_value v = la_expression(p);
    p->at = behind;
    p->stop = stop;
    p->cx->depth--;
    p->last_call = NULL;
    return v;
}

bool la_defined_name(struct parser *p, struct word w, struct la_value *out)
{
    struct la_execution *x = p->execution;
    if (x && x->inside && la_member_inside(x, w, out))
        return true;
    const struct la_definition *d = x ? x->definitions : NULL;
    while (d && !(la_defines(d, w) && (d->kind == LA_FUNCTION || d->parameters || d->body < d->end)))
        d = d->next;
    if (!d)
        return false;
    if (d->kind == LA_CLASS) {
        *out = la_class_named(x, d, w);
        return true;
    }
    if (d->kind != LA_FUNCTION && !d->parameters) {
        *out = read_text(x, d);
        return true;
    }
    *out = la_data(); /* a function that is not called: its address */
    if (la_next_is(p, '(') || la_next_is(p, '<')) {
        const struct arguments a = arguments(p, w);
        d = fitting(x, w, a);
        if (!d)
            return true;
        *out = run(x, d, a);
        la_skip_space(p);
        x->expanded = d->kind == LA_MACRO ? p->at : 0;
    }
    return true;
}

/* ---- behind the text ---- */

static void run_alone(struct la_execution *x, struct la_definition *d)
{
    struct la_value args[2] = {la_value_tuple(la_int(x->parser.cx, 1, x->parser.static_integers)), la_data()};
    const struct la_span at = {d->name.at, d->name.len};
    struct la_span spans[3] = {at, at, at};
    struct arguments a = {.at = args, .spans = spans};
    a.n = takes(&x->parser, d, 0) ? 0 : 2; /* main(argc, argv) */
    d->used = true;
    run(x, d, a);
}

/* Those that are functions, in the order of the text. */
static struct la_definition **functions(struct la_execution *x, uint32_t *n)
{
    struct la_definition **list = la_alloc(x->parser.cx, LA_MAX_NAMES * sizeof *list);
    uint32_t at = LA_MAX_NAMES;
    for (struct la_definition *d = x->definitions; d; d = d->next)
        if (d->kind == LA_FUNCTION && !d->is_lambda)
            list[--at] = d;
    *n = LA_MAX_NAMES - at;
    return list + at;
}

void la_run_functions(struct la_execution *x)
{
    uint32_t n;
    struct la_definition **list = functions(x, &n), *main = NULL;
    for (uint32_t i = 0; i < n; i++)
        main = la_word_is(list[i]->name, "main") ? list[i] : main;
    if (main)
        run_alone(x, main);
    for (uint32_t i = 0; i < n && !main; i++)
        if (!list[i]->used && takes(&x->parser, list[i], 0))
            run_alone(x, list[i]);
    if (n > 0 && !x->any)
        la_syntax(&x->parser, list[n - 1]->name.at, list[n - 1]->name.len, LA_E_syntax,
                  "nothing calls '%.*s' with arguments, so nothing is evaluated", (int)list[n - 1]->name.len,
                  list[n - 1]->name.text);
}
