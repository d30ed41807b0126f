/* program.c: the statements of a pasted program, one after the other.
 *
 *     program   = { function | "namespace" NAME "{" | "}" | statement }
 *     statement = "{" { statement } "}" | control | declaration | assignment | print | assertion
 *               | expression ";"
 *
 *     int main() { auto l = make_layout(make_shape(Int<8>{}, _4{})); print(l); }       prints (_8,_4):(_1,_8)
 *
 * Text is evaluated as it is read. The value of a program is that of the last expression that ran; a ';'
 * at its end may be left out. How many statements run is limited, so that every program ends. Statements
 * that move data are passed over; what no rule knows is an error with its place. */
#include "program.h"

#include <ctype.h>
#include <string.h>

bool la_at_end(struct parser *p)
{
    la_skip_space(p);
    return p->at >= p->len || p->at + 1 == p->stop;
}

/* The last statement of a text, or of a block or macro, may leave its ';' out. */
void la_finish(struct la_execution *x)
{
    struct parser *p = &x->parser;
    if (!la_at_end(p) && p->at != x->expanded && !(x->level > 0 && p->text[p->at] == '}'))
        la_expect(p, ';', "after this statement");
}

struct la_span la_result(struct la_execution *x, size_t start, struct la_value v)
{
    struct parser *p = &x->parser;
    while (start < p->at && (isspace((unsigned char)p->text[start]) || p->text[start] == '='))
        start++;
    size_t end = p->at;
    while (end > start && isspace((unsigned char)p->text[end - 1]))
        end--;
    const struct la_span span = {start, end - start};
    if (la_is_data(v))
        return span;
    const bool is_call = p->last_call && p->last_call_span.at == start &&
                         p->last_call_span.at + p->last_call_span.len == p->at;
    x->out->call = is_call ? p->last_call : NULL;
    x->last = v;
    x->any = true;
    return span;
}

void la_read_over(struct la_execution *x, size_t bytes)
{
    x->work += bytes / LA_BYTES_A_STATEMENT;
}

void la_charge(struct la_execution *x, size_t bytes)
{
    x->work++;
    la_read_over(x, bytes);
    if (x->work > LA_MAX_STATEMENTS)
        la_syntax(&x->parser, x->statement, 1, LA_E_limit, "more than %d statements ran before this one",
                  LA_MAX_STATEMENTS);
}

struct attempt {
    struct parser *p;
    struct la_value value;
};

static void attempt(struct la_ctx *cx, void *arg)
{
    struct attempt *a = arg;
    (void)cx;
    a->value = la_expression(a->p);
}

bool la_attempt(struct parser *p, struct la_value *out)
{
    struct la_execution *const x = p->execution;
    struct la_trace *const trace = p->cx->trace;
    const struct la_execution before = *x;
    struct attempt a = {.p = p};
    p->attempts = true;
    if (la_try(p->cx, attempt, &a)) {
        p->attempts = before.parser.attempts;
        *out = a.value;
        return true;
    }
    *x = before;
    p->cx->trace = trace;
    p->cx->error = (struct la_error){0};
    if (x->last_known)
        x->last_known->next = NULL;
    if (x->last_print)
        x->last_print->next = NULL;
    else
        x->out->prints = NULL;
    return false;
}

/* ---- statements ---- */

static enum la_flow skip_definition(struct la_execution *x, struct word w)
{
    (void)w;
    la_skip_to(&x->parser, ";");
    la_finish(x);
    return LA_NEXT;
}

static enum la_flow open_namespace(struct la_execution *x, struct word w)
{
    struct parser *p = &x->parser;
    struct word name;
    while (la_word(p, &name)) {
        la_define(x, (struct la_definition){.kind = LA_NAMESPACE, .name = name});
        while (la_accept(p, ':'))
            ;
    }
    if (x->level > 0 || !la_accept(p, '{'))
        return skip_definition(x, w);
    x->namespaces++;
    return LA_NEXT;
}

static _Noreturn enum la_flow refuse(struct la_execution *x, struct word w);
static enum la_flow refuse(struct la_execution *x, struct word w)
{
    la_syntax(&x->parser, w.at, w.len, LA_E_syntax,
              "'%.*s' is not evaluated: a program has declarations, if, for, while, switch, functions and "
              "print(...)",
              (int)w.len, w.text);
}

static const struct {
    const char *word;
    enum la_flow (*run)(struct la_execution *x, struct word w);
    char needs; /* the character that must follow, or 0 */
} keywords[] = {
    {"if", la_if, 0},
    {"for", la_for, 0},
    {"while", la_while, 0},
    {"do", la_do, 0},
    {"switch", la_switch, 0},
    {"break", la_jump, 0},
    {"continue", la_jump, 0},
    {"return", la_return, 0},
    {"using", la_using, 0},
    {"typedef", la_typedef, 0},
    {"template", la_template, 0},
    {"namespace", open_namespace, 0},
    {"struct", la_class, 0},
    {"class", la_class, 0},
    {"union", skip_definition, 0},
    {"enum", skip_definition, 0},
    {"goto", refuse, 0},
    {"try", refuse, 0},
    {"throw", refuse, 0},
    {"else", refuse, 0},
    {"case", refuse, 0},
    {"asm", refuse, 0},
    {"print", la_print_statement, '('},
    {"printf", la_print_statement, '('},
    {"fprintf", la_print_statement, '('},
    {"print_layout", la_print_statement, '('},
    {"print_tensor", la_print_statement, '('},
    {"print_latex", la_print_statement, '('},
    {"pretty_print", la_print_statement, '('},
    {"cout", la_stream, '<'},
    {"cerr", la_stream, '<'},
    {"clog", la_stream, '<'},
    {"CUTLASS_TRACE_HOST", la_stream, '('},
    {"static_assert", la_assertion, '('},
    {"CUTE_STATIC_ASSERT", la_assertion, '('},
    {"CUTE_STATIC_ASSERT_V", la_assertion, '('},
    {"assert", la_assertion, '('},
};

/* The statement that this word begins, or NULL. */
static enum la_flow (*statement_of(struct la_execution *x, struct word w))(struct la_execution *, struct word)
{
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (keywords[i].word[0] == w.text[0] && la_word_is(w, keywords[i].word))
            return !keywords[i].needs || (la_next_is(&x->parser, keywords[i].needs) && !la_is_defined(x, w))
                       ? keywords[i].run
                       : NULL;
    return NULL;
}

bool la_begins_statement(struct la_execution *x)
{
    struct parser *p = &x->parser;
    struct word w;
    la_skip_space(p);
    const size_t start = p->at;
    const bool begins = p->text[start] == '{' || (la_word(p, &w) && statement_of(x, w));
    p->at = start;
    return begins;
}

/* expression { "," expression } */
static void expressions(struct la_execution *x)
{
    struct parser *p = &x->parser;
    do {
        la_skip_space(p);
        const size_t start = p->at;
        p->last_call = NULL;
        la_result(x, start, la_expression(p));
    } while (la_accept(p, ','));
}

static enum la_flow one_statement(struct la_execution *x)
{
    struct parser *p = &x->parser;
    struct word w;
    if (la_accept(p, ';'))
        return LA_NEXT;
    if (p->text[p->at] == '{')
        return la_block(x);
    bool may_declare = p->text[p->at] == '['; /* [[maybe_unused]] */
    const size_t start = p->at;
    if (la_word(p, &w)) {
        enum la_flow (*const run)(struct la_execution *, struct word) = statement_of(x, w);
        if (run)
            return run(x, w);
        la_skip_space(p);
        const char c = p->text[p->at]; /* behind a type */
        may_declare = isalpha((unsigned char)c) || (c && strchr("_<*&:[", c)) ||
                      (c == '(' && (la_word_is(w, "decltype") || la_word_is(w, "alignas")));
        p->at = start;
    }
    if ((may_declare && la_declaration(x)) || la_data_statement(x))
        return LA_NEXT;
    if (!la_assignment(x))
        expressions(x);
    la_finish(x);
    return LA_NEXT;
}

enum la_flow la_statement(struct la_execution *x)
{
    struct parser *p = &x->parser;
    la_skip_space(p);
    const size_t start = p->at;
    x->statement = start;
    la_charge(x, 0);
    la_deeper(p);
    const enum la_flow flow = one_statement(x);
    p->cx->depth--;
    la_read_over(x, p->at > start ? p->at - start : 0);
    return flow;
}

/* ---- the program ---- */

static void items(struct la_execution *x)
{
    struct parser *p = &x->parser;
    const bool has_blocks = strchr(p->text, '{');
    for (;;) {
        while (la_accept(p, ';') || (x->namespaces > 0 && la_accept(p, '}') && x->namespaces--))
            ;
        if (p->at >= p->len)
            return;
        x->statement = p->at;
        if (p->text[p->at] == '}')
            la_syntax(p, p->at, 1, LA_E_syntax, "this '}' closes nothing");
        if (has_blocks && la_function(x, 0))
            continue;
        if (la_statement(x) == LA_RETURN)
            return;
    }
}

/* Does the derivation end with v? */
static bool ends_with(struct la_ctx *cx, struct la_value v)
{
    return cx->trace->last && strcmp(la_print(cx, &cx->trace->last->result, LA_SPELL_CUTE),
                                     la_print(cx, &v, LA_SPELL_CUTE)) == 0;
}

static void program(struct la_ctx *cx, void *arg)
{
    struct la_execution *x = arg;
    cx->depth = 0;
    cx->spans = NULL;
    cx->call = NULL;
    if (strchr(x->parser.text, '#'))
        la_collect_macros(x);
    items(x);
    if (x->definitions)
        la_run_functions(x);
    if (!x->any)
        la_show_classes(x);
    if (!x->any)
        la_syntax(&x->parser, 0, 0, LA_E_syntax, "there is nothing to evaluate");
    if (cx->trace && !ends_with(cx, x->last))
        la_step(cx, "value", x->last, 0, NULL, "the value of the last expression");
    x->out->value = x->last;
    x->out->names = x->known;
}

/* Static spellings: _3, _-3, _m3, 3_c, Int<3>, C<3>. */
bool la_has_static(const char *text)
{
    for (const char *s = text; *s; s++) {
        if (s[0] == '/' && s[1] == '/') {
            while (s[1] && s[1] != '\n')
                s++;
            continue;
        }
        if (s[0] == '/' && s[1] == '*') {
            const char *end = strstr(s + 2, "*/");
            if (!end)
                return false;
            s = end + 1;
            continue;
        }
        const bool fresh = s == text || !(isalnum((unsigned char)s[-1]) || s[-1] == '_');
        if (!fresh)
            continue;
        const bool sign = s[0] == '_' && (s[1] == '-' || s[1] == 'm');
        if (s[0] == '_' && isdigit((unsigned char)s[1 + sign]))
            return true;
        if (strncmp(s, "Int<", 4) == 0 || strncmp(s, "C<", 2) == 0)
            return true;
        if (isdigit((unsigned char)s[0])) {
            while (isdigit((unsigned char)s[1]))
                s++;
            if (s[1] == '_' && s[2] == 'c')
                return true;
        }
    }
    return false;
}

/* An error that nobody gave a place is shown at the statement that was running. */
static void place(struct la_execution *x)
{
    const struct parser *p = &x->parser;
    struct la_error *e = &p->cx->error;
    if (e->has_position)
        return;
    e->has_position = true;
    e->at = x->statement < p->len ? x->statement : p->len;
    e->len = p->at > e->at && p->at <= p->len ? p->at - e->at : 0;
}

bool la_eval(struct la_ctx *cx, const char *text, enum la_integers integers, struct la_program *out)
{
    if (integers == LA_INTEGERS_AUTO)
        integers = la_has_static(text) ? LA_INTEGERS_CUTE : LA_INTEGERS_STATIC;
    *out = (struct la_program){.integers = integers};
    struct la_execution x = {.parser = {.cx = cx,
                                        .text = text,
                                        .len = strlen(text),
                                        .static_integers = integers == LA_INTEGERS_STATIC,
                                        .execution = &x},
                             .out = out};
    if (la_try(cx, program, &x))
        return true;
    place(&x);
    return false;
}

struct reading {
    struct parser parser;
    struct la_value value;
};

static void read_all(struct la_ctx *cx, void *arg)
{
    struct reading *r = arg;
    struct parser *p = &r->parser;
    (void)cx;
    r->value = la_expression(p);
    la_skip_space(p);
    if (p->at < p->len)
        la_syntax(p, p->at, p->len - p->at, LA_E_syntax, "this does not belong to %.80s", p->text);
}

struct la_value la_read(struct la_ctx *cx, const char *text, struct la_binding *names)
{
    struct la_trace *const trace = cx->trace;
    struct reading r = {
        .parser = {.cx = cx, .text = text, .len = strlen(text), .static_integers = true, .names = names}};
    cx->trace = NULL; /* what the program reads for itself is no step of a derivation */
    const bool ok = la_try(cx, read_all, &r);
    cx->trace = trace;
    if (!ok) { /* its place is that of what asked for it, in the user's text */
        const struct la_error inner = cx->error;
        cx->error = (struct la_error){0};
        la_fail(cx, inner.code, "%s", inner.message);
    }
    return r.value;
}
