/* class.c: classes of a program, for what they tell when they are compiled: constants, types, layouts.
 *
 *     template <int N, class T = half_t> struct Traits : Base<T> {
 *         static constexpr int kN = N;
 *         using SmemLayout = decltype(tile_to_shape(Atom{}, Shape<Int<kM>, Int<kN>>{}));
 *     };
 *     Traits<64>::SmemLayout{}
 *
 * A class is a name and a place in the text, as a function is. A member is looked for in the text when it is asked
 * for, evaluated where it stands, and kept: what nobody asks for need not be understood. A class as a value is data
 * to everything but "::"; what objects hold and specializations are not evaluated. */
#include "program.h"

#include <string.h>

enum { MAX_BASES = 8 };

struct la_class {
    const char *value; /* the text of the value that stands for it; its address tells classes apart */
    const struct la_definition *definition;
    struct la_binding *names; /* in sight in it: its template parameters, then those around it */
    struct la_class *base[MAX_BASES], *around; /* around: of a class in a class */
    struct la_binding *known;                  /* members that were evaluated */
    struct la_class *next;
};

static struct la_class *class_of(const struct la_execution *x, struct la_value v)
{
    struct la_class *c = x && la_is_data(v) ? x->classes : NULL;
    while (c && c->value != v.text)
        c = c->next;
    return c;
}

/* ---- definitions ---- */

/* NAME ["<" args ">"] ["final"] [":" bases] "{" members "}"; false: there is no body, or no class */
static bool class_head(struct parser *p, struct la_definition *d)
{
    struct word w;
    while (la_word(p, &w)) {
        if (la_word_is(w, "alignas") || la_word_is(w, "__align__"))
            la_skip_brackets(p);
        else if (!la_word_is(w, "final"))
            d->name = w;
    }
    if (la_next_is(p, '<')) {
        d->is_special = true;
        la_skip_angles(p);
        la_accept_word(p, "final");
    }
    if (!d->name.len || (!la_next_is(p, '{') && !la_next_is(p, ':')))
        return false;
    if (!la_skip_to(p, "{;") || p->text[p->at] != '{')
        return false;
    d->body = p->at;
    la_skip_brackets(p);
    d->end = p->at;
    return true;
}

/* Behind "struct": the definition, or a declaration that says nothing. */
static void class_rest(struct la_execution *x, size_t templates)
{
    struct parser *p = &x->parser;
    struct la_definition d = {.kind = LA_CLASS, .templates = templates, .captured = p->names};
    if (class_head(p, &d))
        la_define(x, d);
    la_skip_to(p, ";");
}

enum la_flow la_class(struct la_execution *x, struct word w)
{
    (void)w;
    class_rest(x, 0);
    la_finish(x);
    return LA_NEXT;
}

bool la_class_template(struct la_execution *x, size_t templates)
{
    struct parser *p = &x->parser;
    if (!la_accept_word(p, "struct") && !la_accept_word(p, "class"))
        return false;
    class_rest(x, templates);
    return true;
}

/* ---- a class with its arguments ---- */

/* Evaluating inside a class: what is put back afterwards. The place in the text is the caller's. */
static struct la_execution enter(struct la_execution *x, struct la_class *c)
{
    const struct la_execution outer = *x;
    la_deeper(&x->parser);
    la_charge(x, 0);
    x->inside = c;
    x->known = x->last_known = NULL;
    x->parser.names = x->block = c->names;
    x->level++;
    x->parser.in_function = true;
    x->parser.colon = x->parser.stop = 0;
    x->parser.templates = 0;
    return outer;
}

/* Nothing stays but what was read and allocated: a member is no variable and no result of the program. */
static void leave(struct la_execution *x, const struct la_execution *outer)
{
    const struct la_execution inner = *x;
    *x = *outer;
    x->work = inner.work;
    x->names = inner.names;
    x->classes = inner.classes;
    x->parser.cx->depth--;
    x->parser.last_call = NULL;
}

/* NAME ["<" args ">"] {"::" NAME ...}, when that is a class of the program: a '{' may follow, which is not its. */
static struct la_class *base_class(struct la_execution *x)
{
    struct parser *p = &x->parser;
    struct word w;
    struct la_value v;
    la_accept_word(p, "typename");
    if (!la_word(p, &w))
        return NULL;
    if (!la_defined_name(p, w, &v)) {
        const struct la_binding *b = la_named(p, w);
        if (!b)
            return NULL;
        v = b->value;
    }
    while (la_next_is(p, ':') && p->text[p->at + 1] == ':')
        if (!la_class_member(p, v, &v))
            return NULL;
    return class_of(x, v);
}

/* base = ["public" | ...] TYPE; one that is no class of the program tells nothing */
static void read_bases(struct la_execution *x, struct la_class *c)
{
    static const char *const access[] = {"public", "protected", "private", "virtual"};
    struct parser *p = &x->parser;
    const struct la_definition *d = c->definition;
    uint32_t n = 0;
    p->at = d->name.at + d->name.len;
    la_accept_word(p, "final");
    if (!la_accept(p, ':'))
        return;
    do {
        for (size_t i = 0; i < sizeof access / sizeof *access; i++)
            la_accept_word(p, access[i]);
        if (n < MAX_BASES && (c->base[n] = base_class(x)))
            n++;
        la_skip_typed_to(p, ",{");
    } while (la_accept(p, ','));
}

/* around: the class that it is a member of, or NULL */
static struct la_value named(struct la_execution *x, const struct la_definition *d, struct word w,
                             struct la_class *around)
{
    struct parser *p = &x->parser;
    struct la_value *args = la_alloc(p->cx, LA_MAX_ARGS * sizeof *args);
    struct la_span spans[LA_MAX_ARGS];
    uint32_t n = 0;
    if (d->is_special)
        la_syntax(p, w.at, w.len, LA_E_syntax, "specializations of '%.*s' are not evaluated", (int)w.len,
                  w.text);
    if (d->templates && la_accept(p, '<')) {
        p->templates++;
        n = la_arguments(p, '>', args, spans);
        p->templates--;
    }
    struct la_class *c = la_alloc(p->cx, sizeof *c);
    *c = (struct la_class){.value = la_format(p->cx, "%.*s", (int)d->name.len, d->name.text),
                           .definition = d,
                           .names = d->captured,
                           .around = around,
                           .next = x->classes};
    const struct la_execution outer = enter(x, c);
    x->classes = c;
    x->inside = around;
    if (d->templates)
        la_bind_templates(x, d, n, args, (struct la_span){w.at, w.len});
    c->names = p->names;
    x->inside = c;
    read_bases(x, c);
    leave(x, &outer);
    struct la_value v = la_data();
    v.text = c->value;
    return v;
}

struct la_value la_class_named(struct la_execution *x, const struct la_definition *d, struct word w)
{
    return named(x, d, w, NULL);
}

/* ---- members ---- */

enum member_kind { MEMBER_OTHER, MEMBER_ALIAS, MEMBER_VALUE, MEMBER_OBJECT, MEMBER_FUNCTION, MEMBER_CLASS };

/* One item of a class's text, as far as a name is concerned. */
struct member {
    enum member_kind kind;
    size_t start, end;      /* of a type its text; of a value its declaration */
    struct la_definition d; /* of a class or function */
};

static bool is_name(struct word a, struct word b)
{
    return a.len == b.len && memcmp(a.text, b.text, a.len) == 0;
}

/* TYPE NAME ["=" value | "{" value "}"] { "," ... } ";" or a function. Kind: what it is to `name`; when that is NULL, to
 * the first name behind `after` that has a value. *first becomes the name. */
static enum member_kind declared(struct parser *p, const struct word *name, size_t after, struct word *first,
                                 struct la_definition *d)
{
    struct word last = {0};
    enum member_kind kind = MEMBER_OTHER;
    bool function = false;
    for (;;) {
        la_skip_space(p);
        const char c = p->text[p->at];
        const bool is_it = last.len && !function && (name ? is_name(last, *name) : last.at > after);
        if (c == '=' || (c == '{' && !function)) {
            if (is_it && kind == MEMBER_OTHER) {
                kind = MEMBER_VALUE;
                *first = last;
            }
            la_skip_typed_to(p, ",;");
        } else if (c == ';' || c == '\0' || c == '}') {
            if (is_it && kind == MEMBER_OTHER && name)
                kind = MEMBER_OBJECT;
            la_accept(p, ';');
            return kind;
        } else if (c == '{') {
            d->body = p->at;
            la_skip_brackets(p);
            d->end = p->at;
            la_accept(p, ';');
            return d->parameters ? MEMBER_FUNCTION : kind;
        } else if (c == '(' || c == '[') {
            if (c == '(' && is_it && name) {
                d->name = *first = last;
                d->parameters = p->at;
            }
            function = function || c == '(';
            la_skip_brackets(p);
        } else if (c == '<' && la_skip_angles(p)) {
            continue;
        } else if (c == ',') {
            if (is_it && kind == MEMBER_OTHER && name)
                kind = MEMBER_OBJECT;
            p->at++;
        } else if (c == ':' && function) { /* of a constructor */
            la_skip_to(p, "{;");
        } else if (!la_word(p, &last)) {
            p->at++;
        }
    }
}

/* typedef TYPE NAME; */
static enum member_kind typedef_of(struct parser *p, struct member *m, struct word *first)
{
    m->start = p->at;
    la_skip_to(p, ";");
    const size_t end = p->at;
    for (p->at = m->start; p->at < end;) {
        const size_t before = p->at;
        if (la_word(p, first))
            m->end = first->at;
        else
            p->at = before + 1;
    }
    p->at = end + 1;
    return MEMBER_ALIAS;
}

/* The item here, which is passed; *first is the name that it declares, or empty. `name`, `after`: see declared. */
static struct member item(struct parser *p, const struct word *name, size_t after, struct word *first)
{
    struct member m = {.start = p->at};
    *first = (struct word){0};
    bool is_template = false;
    if (la_accept_word(p, "template")) {
        is_template = true;
        la_skip_space(p);
        m.d.templates = p->at;
        la_skip_angles(p);
    }
    if (la_accept_word(p, "public") || la_accept_word(p, "private") || la_accept_word(p, "protected")) {
        la_accept(p, ':');
    } else if (la_accept_word(p, "using")) {
        const bool is_alias = la_word(p, first) && la_accept(p, '=') && !is_template;
        la_skip_space(p);
        m.start = p->at;
        la_skip_to(p, ";");
        m.end = p->at++;
        m.kind = is_alias ? MEMBER_ALIAS : MEMBER_OTHER;
    } else if (la_accept_word(p, "typedef")) {
        m.kind = typedef_of(p, &m, first);
    } else if (la_accept_word(p, "struct") || la_accept_word(p, "class")) {
        m.d.kind = LA_CLASS;
        m.kind = class_head(p, &m.d) ? MEMBER_CLASS : MEMBER_OTHER;
        *first = m.d.name;
        la_skip_to(p, ";");
        p->at++;
    } else if (la_accept_word(p, "enum") || la_accept_word(p, "union") || la_accept_word(p, "friend") ||
               la_accept_word(p, "static_assert")) {
        la_skip_to(p, ";");
        p->at++;
    } else {
        m.kind = declared(p, name, after, first, &m.d);
        if (m.kind == MEMBER_OBJECT)
            *first = *name;
    }
    return m;
}

/* The member with that name in the text of the class. */
static struct member find(struct la_execution *x, const struct la_class *c, struct word name)
{
    struct parser *p = &x->parser;
    const struct la_definition *d = c->definition;
    const size_t behind = p->at, stop = p->stop;
    struct member m = {0};
    struct word first;
    la_read_over(x, d->end - d->body);
    p->stop = 0;
    for (p->at = d->body + 1; m.kind == MEMBER_OTHER && !la_next_is(p, '}') && p->at < d->end;) {
        m = item(p, &name, 0, &first);
        if (m.kind != MEMBER_OTHER && !is_name(first, name))
            m.kind = MEMBER_OTHER;
    }
    p->at = behind;
    p->stop = stop;
    return m;
}

/* The value of a member at the place where it stands. */
static struct la_value value_of(struct la_execution *x, struct member m, struct word name)
{
    struct parser *p = &x->parser;
    p->at = m.start;
    switch (m.kind) {
    case MEMBER_ALIAS: {
        const struct la_value v = la_expression(p);
        la_skip_space(p);
        if (p->at != m.end)
            la_syntax(p, p->at, m.end - p->at, LA_E_syntax, "this does not belong to the type '%.*s'",
                      (int)name.len, name.text);
        return v;
    }
    case MEMBER_VALUE:
        la_declaration(x);
        return la_named(p, name) ? la_named(p, name)->value : la_data();
    case MEMBER_CLASS:
    case MEMBER_FUNCTION:
    case MEMBER_OBJECT:
    case MEMBER_OTHER:
        break;
    }
    return la_data();
}

static bool look_up(struct la_execution *x, struct la_class *c, struct word name, struct la_value *out)
{
    for (const struct la_binding *b = c->known; b; b = b->next)
        if (la_word_is(name, b->name)) {
            *out = b->value;
            return true;
        }
    const struct member m = find(x, c, name);
    if (m.kind == MEMBER_OTHER) {
        bool found = false;
        for (uint32_t i = 0; i < MAX_BASES && c->base[i] && !found; i++)
            found = look_up(x, c->base[i], name, out);
        return found;
    }
    if (m.kind == MEMBER_CLASS || m.kind == MEMBER_FUNCTION) { /* its arguments stand behind the name, here */
        struct la_definition *d = la_alloc(x->parser.cx, sizeof *d);
        *d = m.d;
        d->captured = c->names;
        d->inside = c;
        *out = m.kind == MEMBER_CLASS ? named(x, d, name, c) : la_called(x, d, name);
        return true;
    }
    const struct la_execution outer = enter(x, c);
    *out = value_of(x, m, name);
    leave(x, &outer);
    struct la_binding *b = la_alloc(x->parser.cx, sizeof *b);
    *b = (struct la_binding){
        .name = la_format(x->parser.cx, "%.*s", (int)name.len, name.text), .value = *out, .next = c->known};
    c->known = b;
    return true;
}

bool la_member_inside(struct la_execution *x, struct word w, struct la_value *out)
{
    for (struct la_class *c = x->inside; c; c = c->around)
        if (look_up(x, c, w, out))
            return true;
    return false;
}

bool la_class_member(struct parser *p, struct la_value v, struct la_value *out)
{
    struct la_class *c = class_of(p->execution, v);
    struct word w;
    if (!c)
        return false;
    p->at += 2;
    la_accept_word(p, "template");
    la_skip_space(p);
    const size_t at = p->at;
    if (!la_word(p, &w))
        la_syntax(p, at, 1, LA_E_syntax, "the name of a member must follow '::'");
    if (!look_up(p->execution, c, w, out))
        la_syntax(p, w.at, w.len, LA_E_unknown_name, "'%s' has no constant or type '%.*s'", c->value,
                  (int)w.len, w.text);
    return true;
}

/* ---- a program of classes alone ---- */

/* One member becomes a name; of a type and of data there is nothing to see. */
static void show_member(struct la_execution *x, struct la_class *c, struct word name, struct la_span span)
{
    struct la_value v;
    if (!look_up(x, c, name, &v) || la_is_data(v))
        return;
    la_declare(x, name, span, v);
    if (v.kind == LA_K_TYPE)
        return;
    x->last = v;
    x->any = true;
}

static void show(struct la_execution *x, const struct la_definition *d)
{
    struct parser *p = &x->parser;
    struct la_class *c = class_of(x, la_class_named(x, d, d->name));
    struct word name = {0};
    for (size_t at = d->body + 1, next; p->at = at, !la_next_is(p, '}');) {
        const struct member m = item(p, NULL, name.len ? name.at : 0, &name);
        next = p->at;
        if (m.kind == MEMBER_ALIAS || m.kind == MEMBER_VALUE)
            show_member(x, c, name,
                        (struct la_span){m.start, (m.kind == MEMBER_ALIAS ? m.end : next) - m.start});
        if (m.kind != MEMBER_VALUE) { /* of which there may be another one in the same item */
            at = next;
            name.len = 0;
        }
    }
}

void la_show_classes(struct la_execution *x)
{
    const struct la_definition **list = la_alloc(x->parser.cx, LA_MAX_NAMES * sizeof *list);
    uint32_t n = 0;
    for (const struct la_definition *d = x->definitions; d; d = d->next)
        if (d->kind == LA_CLASS && !d->templates && !d->is_special)
            list[n++] = d;
    while (n > 0)
        show(x, list[--n]);
}
