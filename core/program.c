/* program.c: statements: what is between the expressions of a pasted program.
 *
 *     program   = { statement ";" | function head | "}" }
 *     statement = [type words] NAME "=" expression | TYPE NAME ["{}"] | "print(" expression ")" | "cout" << ...
 *               | "using namespace cute" | "static_assert(...)" | "return" expression | expression
 *
 * Type words are not checked: `auto const& x = ...` and `Layout<Shape<_2>> x = ...` declare x. The value of a program is
 * that of its last expression. */
#include "parse.h"

#include <ctype.h>
#include <string.h>

static struct la_binding *bind(struct parser *p, const char *text, size_t len, struct la_span at,
                               struct la_value v)
{
    struct la_binding *b = la_alloc(p->cx, sizeof *b);
    *b = (struct la_binding){
        .name = la_format(p->cx, "%.*s", (int)len, text), .at = at.at, .len = at.len, .value = v};
    return b;
}

static void assign(struct parser *p, struct word w, struct la_span at, struct la_value v)
{
    for (struct la_binding *b = p->names; b; b = b->next)
        if (la_word_is(w, b->name)) {
            b->value = v;
            b->at = at.at;
            b->len = at.len;
            return;
        }
    struct la_binding *b = bind(p, w.text, w.len, at, v);
    *(p->last_name ? &p->last_name->next : &p->names) = b;
    p->last_name = b;
}

/* Skip a string literal or a character; true when it was one. */
static bool skip_string(struct parser *p)
{
    la_skip_space(p);
    const char quote = p->text[p->at];
    if (quote != '"' && quote != '\'')
        return false;
    const size_t start = p->at++;
    while (p->text[p->at] != quote) {
        if (p->text[p->at] == '\\')
            p->at++;
        if (p->at >= p->len || p->text[p->at] == '\n')
            la_syntax(p, start, 1, LA_E_syntax, "this string is not closed");
        p->at++;
    }
    p->at++;
    return true;
}

static void show(struct parser *p)
{
    la_skip_space(p);
    const size_t at = p->at;
    const struct la_value v = la_expression(p);
    size_t end = p->at;
    while (end > at && isspace((unsigned char)p->text[end - 1]))
        end--;
    struct la_binding *b = bind(p, p->text + at, end - at, (struct la_span){at, end - at}, v);
    *(p->last_print ? &p->last_print->next : &p->prints) = b;
    p->last_print = b;
}

/* stream = "cout" { "<<" (string | "endl" | expression) } */
static bool stream(struct parser *p)
{
    if (!la_accept_word(p, "std::cout") && !la_accept_word(p, "cout"))
        return false;
    while (la_accept(p, '<')) {
        la_expect(p, '<', "between what is printed");
        if (!skip_string(p) && !la_accept_word(p, "std::endl") && !la_accept_word(p, "endl"))
            show(p);
    }
    return true;
}

/* print = ("print" | "print_layout" | ...) "(" [string ","] { expression } ")" : each value is shown; strings are not */
static bool print(struct parser *p)
{
    static const char *const names[] = {"print", "print_layout", "print_tensor", "printf"};
    const size_t start = p->at;
    struct word w;
    bool is_print = false;
    if (la_word(p, &w))
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            is_print = is_print || la_word_is(w, names[i]);
    if (!is_print || !la_accept(p, '(')) {
        p->at = start;
        return false;
    }
    if (la_accept(p, ')'))
        return true;
    do {
        if (!skip_string(p))
            show(p);
    } while (la_accept(p, ','));
    la_expect(p, ')', "after what is printed");
    return true;
}

/* Where a statement assigns: the '=' outside all brackets, before its end; 0 when it does not. */
static size_t assignment(struct parser *p)
{
    int open = 0;
    for (size_t i = p->at; i < p->len; i++) {
        const char c = p->text[i];
        if (c == '(' || c == '{' || c == '[')
            open++;
        else if (c == ')' || c == '}' || c == ']')
            open--;
        else if (c == '"' || c == '\'' || (c == ';' && open <= 0))
            return 0;
        else if (c == '=' && open == 0 && p->text[i + 1] != '=' && i > p->at &&
                 !strchr("=!<>", p->text[i - 1]))
            return i;
    }
    return 0;
}

/* The NAME before '='; false when what stands before it is no declaration (the '=' belongs to an expression). */
static bool declared(struct parser *p, size_t equals, struct word *name)
{
    size_t end = equals;
    while (end > p->at && isspace((unsigned char)p->text[end - 1]))
        end--;
    size_t start = end;
    while (start > p->at && (isalnum((unsigned char)p->text[start - 1]) || p->text[start - 1] == '_'))
        start--;
    if (start == end || isdigit((unsigned char)p->text[start]))
        return false;
    *name = (struct word){p->text + start, start, end - start};
    for (size_t i = p->at; i < start; i++) /* type words: const auto&, cute::Layout<Shape<_2,_3>> */
        if (!isalnum((unsigned char)p->text[i]) && !isspace((unsigned char)p->text[i]) &&
            !strchr("_:<>,&*", p->text[i]))
            return false;
    return true;
}

/* using_directive = "using" "namespace" NAME */
static bool using_directive(struct parser *p)
{
    const size_t start = p->at;
    struct word w;
    if (la_accept_word(p, "using") && la_accept_word(p, "namespace") &&
        (la_accept_word(p, "cute") || la_word(p, &w)))
        return true;
    p->at = start;
    return false;
}

/* assertion = ("static_assert" | "CUTE_STATIC_ASSERT" | "assert" | ...) "(" ... ")": skipped, it changes no value */
static bool assertion(struct parser *p)
{
    static const char *const names[] = {"static_assert", "CUTE_STATIC_ASSERT", "CUTE_STATIC_ASSERT_V",
                                        "assert"};
    const size_t start = p->at;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (la_accept_word(p, names[i]) && la_next_is(p, '(')) {
            int open = 0;
            do {
                if (skip_string(p))
                    continue;
                if (p->at >= p->len)
                    la_syntax(p, start, strlen(names[i]), LA_E_syntax, "the parentheses of %s are not closed",
                              names[i]);
                open += p->text[p->at] == '(';
                open -= p->text[p->at] == ')';
                p->at++;
            } while (open > 0);
            return true;
        }
    p->at = start;
    return false;
}

/* function = type words NAME "(" parameters ")" "{": its body is read as statements of the program */
static bool function_head(struct parser *p)
{
    const size_t start = p->at;
    struct word w;
    int words = 0;
    while (la_word(p, &w)) {
        words++;
        while (la_accept(p, '*') || la_accept(p, '&'))
            ;
    }
    if (words >= 2 && la_accept(p, '(')) {
        while (p->at < p->len && !strchr("(){};", p->text[p->at]))
            p->at++;
        if (la_accept(p, ')') && la_accept(p, '{'))
            return true;
    }
    p->at = start;
    return false;
}

static void refuse_statements(struct parser *p)
{
    static const char *const words[] = {"for",      "while",  "if",    "do",  "switch",
                                        "template", "struct", "class", "goto"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t start = p->at;
        if (la_accept_word(p, words[i]))
            la_syntax(p, start, strlen(words[i]), LA_E_syntax,
                      "'%s' is not evaluated: a program is declarations, expressions and print(...)",
                      words[i]);
    }
}

struct evaluation {
    struct parser parser;
    struct la_program *out;
    struct la_value last;
    bool any;   /* there is a value */
    int blocks; /* open function bodies */
};

/* TYPE NAME; or TYPE NAME{};  where the type is a value: the name is given it. */
static void declare_of_type(struct parser *p, struct la_span at, struct la_value v)
{
    struct word name;
    la_skip_space(p);
    if (!isalpha((unsigned char)p->text[p->at]) || !la_word(p, &name))
        return;
    if (la_accept(p, '{'))
        la_expect(p, '}', "after '{': values stand in the type");
    assign(p, name, at, v);
}

/* statement, after all that is no value: evaluate, and give the value its name */
static void valued(struct evaluation *e)
{
    struct parser *p = &e->parser;
    struct word name;
    const size_t equals = assignment(p);
    const bool declares = equals && declared(p, equals, &name);
    if (declares)
        p->at = equals + 1;
    la_skip_space(p);
    const size_t start = p->at;
    p->last_call = NULL;
    e->last = la_expression(p);
    e->any = true;
    const struct la_span span = {start, p->at - start};
    const bool is_call = p->last_call && p->last_call_span.at == start && p->last_call_span.len == span.len;
    e->out->call = is_call ? p->last_call : NULL;
    if (declares)
        assign(p, name, span, e->last);
    else
        declare_of_type(p, span, e->last);
}

static void statement(struct evaluation *e)
{
    struct parser *p = &e->parser;
    refuse_statements(p);
    if (print(p) || stream(p)) {
        if (p->last_print)
            e->last = p->last_print->value;
        e->any = e->any || p->last_print;
        e->out->call = NULL;
    } else if (!using_directive(p) && !assertion(p)) {
        const struct la_value before = e->last;
        const bool any = e->any, returns = la_accept_word(p, "return");
        if (!returns || !la_next_is(p, ';'))
            valued(e);
        if (returns && any) /* `return 0;` is not the value of what was pasted */
            e->last = before;
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
    struct evaluation *e = arg;
    struct parser *p = &e->parser;
    cx->depth = 0;
    cx->spans = NULL;
    cx->call = NULL;
    for (;;) {
        while (la_accept(p, ';'))
            ;
        if (e->blocks > 0 && la_accept(p, '}')) {
            e->blocks--;
            continue;
        }
        if (p->at >= p->len)
            break;
        if (function_head(p)) {
            e->blocks++;
            continue;
        }
        statement(e);
        la_skip_space(p);
        if (p->at < p->len)
            la_expect(p, ';', "after this statement");
    }
    if (!e->any)
        la_syntax(p, 0, 0, LA_E_syntax, "there is nothing to evaluate");
    if (cx->trace && !ends_with(cx, e->last))
        la_step(cx, "value", e->last, 0, NULL, "the value of the last expression");
    e->out->value = e->last;
    e->out->names = p->names;
    e->out->prints = p->prints;
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

bool la_eval(struct la_ctx *cx, const char *text, enum la_integers integers, struct la_program *out)
{
    if (integers == LA_INTEGERS_AUTO)
        integers = la_has_static(text) ? LA_INTEGERS_CUTE : LA_INTEGERS_STATIC;
    *out = (struct la_program){.integers = integers};
    struct evaluation e = {.parser = {.cx = cx,
                                      .text = text,
                                      .len = strlen(text),
                                      .static_integers = integers == LA_INTEGERS_STATIC},
                           .out = out};
    return la_try(cx, program, &e);
}

struct la_value la_read(struct la_ctx *cx, const char *text, struct la_binding *names)
{
    const struct la_ctx outer = *cx;
    struct parser p = {.cx = cx, .text = text, .len = strlen(text), .static_integers = true, .names = names};
    cx->trace = NULL; /* what the program reads for itself is no step of a derivation */
    const struct la_value v = la_expression(&p);
    la_skip_space(&p);
    if (p.at < p.len)
        la_syntax(&p, p.at, p.len - p.at, LA_E_syntax, "this does not belong to %.80s", text);
    cx->call = outer.call;
    cx->spans = outer.spans;
    cx->blame = outer.blame;
    cx->depth = outer.depth;
    cx->trace = outer.trace;
    return v;
}
