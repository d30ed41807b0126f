/* define.c: what a program defines: functions, templates, kernels, lambdas, macros, aliases, namespaces.
 *
 *     template <class L> void show(L const& layout, int n = 2) { print(layout); }
 *     auto f = [](auto x) { ... };   #define SHOW(x) print(x); print("\n")   namespace config { ... }
 *
 * A definition is a name and a place in the text. It is passed over where it stands, and read where it is
 * used: see call.c. */
#include "program.h"

#include <string.h>

void la_define(struct la_execution *x, struct la_definition d)
{
    struct parser *p = &x->parser;
    if (++x->names > LA_MAX_NAMES)
        la_syntax(p, d.name.at, d.name.len, LA_E_limit, "more than %d names", LA_MAX_NAMES);
    struct la_definition *kept = la_alloc(p->cx, sizeof *kept);
    *kept = d;
    kept->next = x->definitions;
    x->definitions = kept;
}

bool la_defines(const struct la_definition *d, struct word w)
{
    return d->name.len == w.len && memcmp(d->name.text, w.text, w.len) == 0;
}

bool la_is_defined(const struct la_execution *x, struct word name)
{
    for (const struct la_definition *d = x->definitions; d; d = d->next)
        if (la_defines(d, name))
            return true;
    return false;
}

bool la_is_namespace(const struct parser *p, struct word w)
{
    for (const struct la_definition *d = p->execution ? p->execution->definitions : NULL; d; d = d->next)
        if (d->kind == LA_NAMESPACE && la_defines(d, w))
            return true;
    return false;
}

/* ---- definitions ---- */

/* Two words side by side in these brackets, which are passed: parameters, which no call could have. */
static bool are_parameters(struct parser *p)
{
    struct word w;
    const size_t start = p->at;
    bool are = false;
    la_skip_brackets(p);
    const size_t end = p->at;
    for (p->at = start + 1; p->at < end && !are;) {
        if (la_word(p, &w))
            are = !la_word_is(w, "typename") && la_word(p, &w);
        else if (!la_skip_string(p))
            p->at++;
    }
    p->at = end;
    return are;
}

/* Behind ")": const, noexcept, -> type; then "{". */
static bool has_body(struct parser *p)
{
    struct word w;
    while (la_word(p, &w))
        ;
    if (la_next_is(p, '-') && p->text[p->at + 1] == '>')
        la_skip_to(p, "{;=");
    return la_next_is(p, '{');
}

static bool is_control(struct word w)
{
    return la_word_is(w, "if") || la_word_is(w, "for") || la_word_is(w, "while") || la_word_is(w, "switch");
}

/* head = { type words } NAME "(" parameters ")" { words } ("{" | ";") */
static bool head(struct parser *p, struct la_definition *d)
{
    struct word w = {0};
    for (;;) {
        la_skip_space(p);
        const char c = p->text[p->at];
        if (c == '(' && w.len && !is_control(w)) {
            d->name = w;
            d->parameters = la_word_is(w, "TEST") ? 0 : p->at; /* of GoogleTest */
            const bool declares = are_parameters(p);
            const size_t behind = p->at;
            if (has_body(p) || (declares && p->text[p->at] == ';'))
                return true;
            p->at = behind;
            if (!la_word_is(w, "__launch_bounds__") && !la_word_is(w, "decltype"))
                return false;
        } else if (c == '<') {
            if (!la_skip_angles(p))
                return false;
        } else if (c == '*' || c == '&' || c == ':') {
            p->at++;
        } else if (!la_word(p, &w) || la_word_is(w, "template")) {
            return false;
        }
    }
}

/* function = head ["{" ... "}"]: without a body it is declared only */
bool la_function(struct la_execution *x, size_t templates)
{
    struct parser *p = &x->parser;
    const size_t start = p->at;
    struct la_definition d = {.kind = LA_FUNCTION, .templates = templates};
    if (!head(p, &d)) {
        p->at = start;
        return false;
    }
    if (p->text[p->at] == ';')
        return true;
    d.body = p->at;
    la_skip_brackets(p);
    d.end = p->at;
    la_define(x, d);
    return true;
}

/* lambda = "=" "[" captures "]" ["(" parameters ")"] ["mutable"] ["->" type] "{" ... "}" */
bool la_lambda(struct la_execution *x, struct word name)
{
    struct parser *p = &x->parser;
    const size_t start = p->at;
    struct la_definition d = {.kind = LA_FUNCTION, .name = name, .is_lambda = true};
    la_expect(p, '=', "before a lambda");
    bool is_lambda = la_next_is(p, '[');
    if (is_lambda) {
        la_skip_brackets(p);
        if (la_next_is(p, '(')) {
            d.parameters = p->at;
            la_skip_brackets(p);
        }
        is_lambda = has_body(p);
    }
    if (!is_lambda) {
        p->at = start;
        return false;
    }
    d.body = p->at;
    la_skip_brackets(p);
    d.end = p->at;
    d.captured = p->names;
    la_define(x, d);
    return true;
}

/* template = "template" "<" ... ">" (class | function | anything up to its ";") */
enum la_flow la_template(struct la_execution *x, struct word w)
{
    struct parser *p = &x->parser;
    la_skip_space(p);
    const size_t templates = p->at;
    if (!la_skip_angles(p))
        la_syntax(p, w.at, w.len, LA_E_syntax, "'<...>' must follow 'template'");
    if (!la_class_template(x, templates) && !la_function(x, templates))
        la_skip_to(p, ";");
    return LA_NEXT;
}
