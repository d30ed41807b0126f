/* declare.c: statements that give a name its value.
 *
 *     auto x = f(y);   int M = 4, N = 8;   Layout l{shape, stride};   auto [tile, rest] = t;
 *     x = f(y);   ++i;   i += 2;   using T = Layout<_4,_1>;   T x;   float *p = ...;
 *
 * What a type does to the value is what C++ does: int makes a static integer a run-time one, Layout calls
 * make_layout, a tuple type makes a tuple, a type of data makes data. Other types are not compared with
 * the value: auto would have done. A `using` whose type means nothing yet is kept, and read where it is
 * used. */
#include "program.h"

#include <ctype.h>
#include <string.h>

/* ---- names ---- */

static void tell(struct la_execution *x, const struct la_binding *b)
{
    struct la_binding *k = x->known;
    while (k && strcmp(k->name, b->name) != 0)
        k = k->next;
    if (!k) {
        k = la_alloc(x->parser.cx, sizeof *k);
        if (x->last_known)
            x->last_known->next = k;
        else
            x->known = k;
        x->last_known = k;
        k->next = NULL;
    }
    struct la_binding *const next = k->next;
    *k = *b;
    k->next = next;
}

static void give(struct la_execution *x, struct la_binding *b, struct la_span at, struct la_value v)
{
    b->at = at.at;
    b->len = at.len;
    b->value = v;
    if (!la_is_data(v))
        tell(x, b);
}

static struct la_binding *in_sight(struct la_execution *x, struct word name, const struct la_binding *end)
{
    for (struct la_binding *b = x->parser.names; b != end; b = b->next)
        if (la_word_is(name, b->name))
            return b;
    return NULL;
}

struct la_binding *la_named(const struct parser *p, struct word name)
{
    struct la_binding *b = p->names;
    while (b && !la_word_is(name, b->name))
        b = b->next;
    return b;
}

void la_change(struct la_execution *x, const struct la_binding *to)
{
    struct la_binding *b = la_named(&x->parser, (struct word){to->name, 0, strlen(to->name)});
    if (b)
        give(x, b, (struct la_span){to->at, to->len}, to->value);
}

void la_declare(struct la_execution *x, struct word name, struct la_span at, struct la_value v)
{
    struct parser *p = &x->parser;
    struct la_binding *b = in_sight(x, name, x->block);
    if (!b) {
        if (++x->names > LA_MAX_NAMES)
            la_syntax(p, name.at, name.len, LA_E_limit, "more than %d names", LA_MAX_NAMES);
        b = la_alloc(p->cx, sizeof *b);
        *b = (struct la_binding){.name = la_format(p->cx, "%.*s", (int)name.len, name.text),
                                 .next = p->names};
        p->names = b;
        if (x->level == 0)
            x->globals = b;
    }
    give(x, b, at, v);
}

/* ---- types ---- */

struct type {
    struct word word; /* the last name in it that says something */
    size_t at;        /* where it begins */
    bool pointer;
};

static bool is_qualifier(struct word w)
{
    static const char *const names[] = {
        "const",        "constexpr",        "static",      "inline",       "extern",      "volatile",
        "register",     "mutable",          "typename",    "thread_local", "__shared__",  "__device__",
        "__constant__", "CUTE_HOST_DEVICE", "CUTE_DEVICE", "CUTE_HOST",    "maybe_unused"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i][0] == w.text[0] && la_word_is(w, names[i]))
            return true;
    return false;
}

static bool is_declared_here(struct parser *p)
{
    la_skip_space(p);
    const char c = p->text[p->at];
    return c == ';' || c == ',' || c == '(' || c == '{' || c == '[' ||
           (c == '=' && p->text[p->at + 1] != '=');
}

/* Behind a name: <...>, and (...) behind alignas and decltype; ::NAME goes on. False: this is no type. */
static bool type_suffix(struct parser *p, struct word w)
{
    if ((la_word_is(w, "alignas") || la_word_is(w, "decltype") || la_word_is(w, "__align__")) &&
        la_next_is(p, '('))
        la_skip_brackets(p);
    if (la_next_is(p, '<') && !la_skip_angles(p))
        return false;
    return true;
}

/* In M * N and M & N the first is a value, and nothing is declared. */
static bool is_value(struct parser *p, struct word w)
{
    const struct la_binding *b = la_named(p, w);
    return b && b->value.kind != LA_K_TYPE;
}

/* type = { qualifier | NAME [<...>] { "::" NAME [<...>] } | "*" | "&" }, then the declared name. */
static bool type_and_name(struct parser *p, struct type *type, struct word *name)
{
    struct word w;
    int words = 0;
    *type = (struct type){.at = p->at};
    while (la_accept(p, '[') && la_skip_to(p, "]")) /* [[maybe_unused]] */
        while (la_accept(p, ']'))
            ;
    for (la_skip_space(p);; la_skip_space(p)) {
        const char c = p->text[p->at];
        if (c == '*' || c == '&') {
            if (words == 0 || is_value(p, type->word))
                return false;
            type->pointer = type->pointer || c == '*';
            p->at++;
            continue;
        }
        if (c == ':' && p->text[p->at + 1] == ':' && words > 0) {
            p->at += 2;
            words--;
            continue;
        }
        if (!la_word(p, &w) || (words > 0 && la_word_is(w, "o"))) /* swizzle o offset o layout */
            return false;
        if (words > 0 && is_declared_here(p)) {
            *name = w;
            return true;
        }
        if (!type_suffix(p, w))
            return false;
        if (!is_qualifier(w)) {
            type->word = w;
            words++;
        } else if (words == 0)
            type->at = p->at;
    }
}

/* ---- declarations ---- */

/* The type itself as a value: Layout<Shape<_2,_3>> x; */
static struct la_value value_of_type(struct parser *p, struct type type, struct word name)
{
    struct la_value v;
    if (la_zero_of_type(p, type.word, &v))
        return v;
    const size_t behind = p->at;
    p->at = type.at;
    v = la_expression(p);
    la_skip_space(p);
    if (p->at != name.at)
        la_syntax(p, type.at, name.at - type.at, LA_E_syntax, "this is no type that '%.*s' could have",
                  (int)name.len, name.text);
    p->at = behind;
    return v;
}

/* initial = "=" expression | "(" args ")" | "{" args "}" | nothing */
static struct la_value initial(struct parser *p, struct type type, struct word name)
{
    if (la_accept(p, '=')) {
        la_skip_space(p);
        const size_t start = p->at;
        if (la_zero_of_type(p, type.word, &(struct la_value){0}))
            p->operand = start + 1; /* int n = (a); */
        return la_converted(p, type.word, la_expression(p), start);
    }
    const bool braces = la_next_is(p, '{');
    if (!braces && !la_next_is(p, '('))
        return value_of_type(p, type, name);
    p->at++;
    struct la_value *args = la_alloc(p->cx, LA_MAX_ARGS * sizeof *args);
    struct la_span spans[LA_MAX_ARGS];
    const uint32_t n = la_arguments(p, braces ? '}' : ')', args, spans);
    if (n == 0)
        return value_of_type(p, type, name);
    return la_constructed(p, la_kind_of_type(p, type.word), type.word, n, args,
                          (struct la_span){type.at, p->at - type.at});
}

/* Data is read no further than to the next declared name. */
static bool is_data(struct parser *p, struct type type)
{
    return type.pointer || la_is_data_type(la_resolved(p, type.word)) || la_next_is(p, '[');
}

/* NAME initial */
static void declarator(struct la_execution *x, struct type type, struct word name)
{
    struct parser *p = &x->parser;
    struct la_value v = la_data();
    la_skip_space(p);
    if (p->text[p->at] == '=' && la_lambda(x, name))
        return;
    const bool assigns = p->text[p->at] == '=';
    p->last_call = NULL;
    if (is_data(p, type))
        la_skip_typed_to(p, ",;");
    else
        v = initial(p, type, name);
    const size_t start = assigns ? name.at + name.len : type.at;
    la_declare(x, name, la_result(x, start, v), v);
}

/* ["const"] "auto" ["const"] {"&"} "[" */
static bool accept_bindings(struct parser *p)
{
    la_accept_word(p, "const");
    if (!la_accept_word(p, "auto"))
        return false;
    la_accept_word(p, "const");
    while (la_accept(p, '&'))
        ;
    return la_accept(p, '[');
}

/* bindings = "auto" "[" NAME { "," NAME } "]" "=" expression: the modes of a tuple */
static bool bindings(struct la_execution *x)
{
    struct parser *p = &x->parser;
    const size_t start = p->at;
    if (!accept_bindings(p)) {
        p->at = start;
        return false;
    }
    struct word names[LA_MAX_ARGS];
    uint32_t n = 0;
    do
        if (n == LA_MAX_ARGS || !la_word(p, &names[n++]))
            la_syntax(p, p->at, 1, LA_E_syntax, "names stand in auto [a, b]");
    while (la_accept(p, ','));
    la_expect(p, ']', "after the names in auto [a, b]");
    la_expect(p, '=', "after auto [a, b]");
    la_skip_space(p);
    const size_t at = p->at;
    const struct la_value v = la_expression(p);
    const struct la_span span = {at, p->at - at};
    if (!(v.kind & (LA_K_TUPLE | LA_K_TILE)) || la_rank(v.tuple) != n)
        la_syntax(p, at, p->at - at, LA_E_rank_mismatch, "%u names need a tuple of as many modes; this is %s",
                  n, la_show(p->cx, la_value_node(p->cx, v)));
    const struct la_node *mode = v.tuple + 1;
    for (uint32_t i = 0; i < n; i++, mode = la_next(mode))
        la_declare(x, names[i], span, la_node_value(mode));
    la_result(x, at, v);
    la_finish(x);
    return true;
}

/* declaration = type NAME initial { "," NAME initial } ";" */
bool la_declaration(struct la_execution *x)
{
    struct parser *p = &x->parser;
    struct type type;
    struct word name;
    const size_t start = p->at;
    if (bindings(x))
        return true;
    if (!type_and_name(p, &type, &name)) {
        p->at = start;
        return false;
    }
    for (;;) {
        declarator(x, type, name);
        if (!la_accept(p, ','))
            break;
        while (la_accept(p, '*') || la_accept(p, '&'))
            type.pointer = true;
        if (!la_word(p, &name))
            la_syntax(p, p->at, 1, LA_E_syntax, "a name must follow ',' in a declaration");
    }
    la_finish(x);
    return true;
}

/* ---- assignments ---- */

enum { NONE, PLAIN = '=', UP = 'u', DOWN = 'd' }; /* how a name is assigned to; for += it is '+', and so on */

/* The operator of an assignment that stands here, passed; or NONE. */
static char update(struct parser *p)
{
    la_skip_space(p);
    const char *s = p->text + p->at;
    const bool counts = (s[0] == '+' || s[0] == '-') && s[1] == s[0];
    const bool plain = s[0] == '=' && s[1] != '=', other = s[0] && strchr("+-*/%", s[0]) && s[1] == '=';
    p->at += counts || other ? 2 : plain ? 1 : 0;
    if (counts)
        return s[0] == '+' ? UP : DOWN;
    return plain || other ? s[0] : NONE;
}

static struct la_value updated(struct parser *p, struct la_value old, char how, size_t start)
{
    struct la_value by = la_value_tuple(la_one);
    if (how != UP && how != DOWN) {
        la_skip_space(p);
        p->operand = p->at + 1;
        by = la_expression(p);
    }
    const struct la_value v = la_arithmetic(p, how == UP ? '+' : how == DOWN ? '-' : how, old, by, start);
    return v.kind == LA_K_INT && !v.tuple->path
               ? la_value_tuple(la_int(p->cx, v.tuple->value, old.tuple->is_static))
               : v;
}

/* NAME "=" expression: a new name is declared; an integer of run time stays one, as a variable of C++
 * does. */
static void assign(struct la_execution *x, struct word name, struct la_binding *b)
{
    struct parser *p = &x->parser;
    la_skip_space(p);
    const size_t start = p->at;
    p->last_call = NULL;
    struct la_value v = la_expression(p);
    if (b && b->value.kind == LA_K_INT && v.kind == LA_K_INT && !b->value.tuple->is_static)
        v = la_converted(p, (struct word){"int", name.at, 3}, v, start);
    const struct la_span span = la_result(x, start, v);
    if (b)
        give(x, b, span, v);
    else
        la_declare(x, name, span, v);
}

static struct la_value change(struct la_execution *x, struct word name, char how, size_t start)
{
    struct parser *p = &x->parser;
    struct la_binding *b = la_named(p, name);
    if (!b)
        la_syntax(p, name.at, name.len, LA_E_unknown_name, "'%.*s' has no value yet", (int)name.len,
                  name.text);
    const struct la_value v = updated(p, b->value, how, start);
    give(x, b, (struct la_span){start, p->at - start}, v);
    return v;
}

struct la_value la_counted(struct parser *p)
{
    struct word name;
    const size_t start = p->at;
    const char how = update(p);
    if (!la_word(p, &name))
        la_syntax(p, p->at, 1, LA_E_syntax, "a name must follow '++'");
    return change(p->execution, name, how, start);
}

/* assignment = NAME "=" expression | NAME "+=" expression | "++" NAME | NAME "++" */
bool la_assignment(struct la_execution *x)
{
    struct parser *p = &x->parser;
    struct word name;
    const size_t start = p->at;
    char how = update(p);
    const bool before = how == UP || how == DOWN;
    if ((how && !before) || !la_word(p, &name) || (!before && !(how = update(p)))) {
        p->at = start;
        return false;
    }
    if (how == PLAIN)
        assign(x, name, la_named(p, name));
    else
        change(x, name, how, start);
    return true;
}

/* ---- types with names ---- */

/* A type that means something is a value; another is kept as text, for where it is used. */
static void alias(struct la_execution *x, struct word name, size_t start, size_t end)
{
    struct parser *p = &x->parser;
    struct la_value v;
    p->at = start;
    if (la_attempt(p, &v) && (la_skip_space(p), p->at == end)) {
        la_declare(x, name, (struct la_span){start, end - start}, v);
        if (v.kind != LA_K_TYPE)
            la_result(x, start, v);
    } else {
        la_define(x, (struct la_definition){.kind = LA_ALIAS, .name = name, .body = start, .end = end});
    }
    p->at = end;
}

/* using = "using" ("namespace" NAME | NAME "=" type | NAME "::" NAME) ";" */
enum la_flow la_using(struct la_execution *x, struct word w)
{
    (void)w;
    struct parser *p = &x->parser;
    struct word name;
    if (!la_accept_word(p, "namespace") && la_word(p, &name) && la_accept(p, '=')) {
        la_skip_space(p);
        const size_t start = p->at;
        la_skip_to(p, ";");
        alias(x, name, start, p->at);
    } else {
        la_skip_to(p, ";");
    }
    la_finish(x);
    return LA_NEXT;
}

/* typedef = "typedef" type NAME ";" */
enum la_flow la_typedef(struct la_execution *x, struct word w)
{
    struct parser *p = &x->parser;
    la_skip_space(p);
    const size_t start = p->at;
    la_skip_to(p, ";");
    size_t end = p->at;
    while (end > start && isspace((unsigned char)p->text[end - 1]))
        end--;
    size_t name = end;
    while (name > start && (isalnum((unsigned char)p->text[name - 1]) || p->text[name - 1] == '_'))
        name--;
    if (name == end || name == start)
        la_syntax(p, w.at, p->at - w.at, LA_E_syntax, "it is written typedef TYPE NAME;");
    const size_t behind = p->at;
    alias(x, (struct word){p->text + name, name, end - name}, start, name);
    p->at = behind;
    la_finish(x);
    return LA_NEXT;
}
