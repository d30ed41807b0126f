/* parse.c: the grammar. Text is evaluated as it is read: there is no tree. Each function is named after
 * its rule.
 *
 *     expression = operand { operator operand } ; operand = layout ["o" layout "o" operand]
 *     layout     = sum [":" sum] ; sum = unary { operator unary }          operators: see operators.c
 *     unary      = ("-"|"!"|"&"|"*") unary | postfix
 *     postfix    = primary { "(" coords ")" | "." NAME [<...>] "(" args ")" | "::" NAME | "{" args "}"
 *                          | "@" INTEGER }
 *     primary    = literal | "(" items ")" | type | NAME [<...>] "(" args ")" | NAME
 *
 * Parentheses make a tuple, but for what C++ groups by them: (a + b), (a < b). Integers are read as
 * la_integers says. Every error tells where it is. */
#include "parse.h"

#include <ctype.h>
#include <string.h>

void la_deeper(struct parser *p)
{
    if (++p->cx->depth > LA_MAX_DEPTH)
        la_syntax(p, p->at, 1, LA_E_limit, "more than %d levels of parentheses, statements and calls",
                  LA_MAX_DEPTH);
}

/* ---- values from values ---- */

void la_need_integers(struct parser *p, size_t start, struct la_value v, const char *what)
{
    if (!(v.kind & LA_K_INTTUPLE))
        la_syntax(p, start, p->at - start, LA_E_kind, "%s must be an integer or a tuple of integers, not %s",
                  what, la_kinds_text(p->cx, v.kind));
}

/* Give a call its arguments and run it; spans[0] is the call, spans[1..] its arguments. */
static struct la_value run(struct parser *p, const struct la_call *call, const struct la_span *spans)
{
    p->cx->spans = spans;
    p->cx->blame = -1;
    const struct la_value v = la_run(p->cx, call);
    p->cx->spans = NULL;
    return v;
}

/* items up to the closing character; a trailing comma is an error, as in C++. */
uint32_t la_arguments(struct parser *p, char close, struct la_value *args, struct la_span *spans)
{
    uint32_t n = 0;
    la_deeper(p);
    if (!la_accept(p, close)) {
        do {
            la_skip_space(p);
            if (n == LA_MAX_ARGS)
                la_syntax(p, p->at, 1, LA_E_limit, "more than %d arguments", LA_MAX_ARGS);
            const size_t start = p->at;
            args[n] = la_expression(p);
            spans[n++] = (struct la_span){start, p->at - start};
        } while (la_accept(p, ','));
        la_expect(p, close, close == '>' ? "after the template arguments" : "or ',' after this argument");
    }
    p->cx->depth--;
    return n;
}

/* The parentheses from `open` hold only v, which ends here: does C++ group by them? (a + b), 2 * (a), (i <
 * n), data; in the body of a function always. They make a tuple elsewhere, and in the formulas of our own. */
static bool is_grouped(struct parser *p, struct la_value v, size_t open)
{
    const bool operated = p->operated == p->at;
    if (!la_next_is(p, ')'))
        return false;
    if (v.kind == LA_K_BOOL || la_is_data(v) || p->in_function)
        return true;
    const size_t behind = p->at + 1 + strspn(p->text + p->at + 1, " ");
    const char c = p->text[behind];
    return v.kind == LA_K_INT && p->execution && (c != ':' || behind == p->colon) &&
           (operated || p->operand == open + 1 || (c && strchr("+-*/%<>=!&|^?", c)));
}

/* tuple = "(" [expression { "," expression }] ")" */
static struct la_value tuple(struct parser *p, bool may_group)
{
    const size_t open = p->at - 1;
    la_deeper(p);
    struct la_builder b;
    la_build(&b, p->cx);
    const uint32_t h = la_build_open(&b);
    if (!la_accept(p, ')')) {
        do {
            const size_t start = p->at;
            const struct la_value v = la_expression(p);
            if (may_group && b.len == 1 && is_grouped(p, v, open)) {
                p->at++;
                p->cx->depth--;
                return v;
            }
            if (v.kind & (LA_K_BOOL | LA_K_TEXT | LA_K_ATOM | LA_K_TILED_COPY | LA_K_TILED_MMA))
                la_syntax(p, start, p->at - start, LA_E_kind, "%s cannot stand in a tuple",
                          la_kinds_text(p->cx, v.kind));
            la_build_add(&b, la_value_node(p->cx, v));
        } while (la_accept(p, ','));
        la_expect(p, ')', "or ',' in this tuple");
    }
    la_build_close(&b, h);
    p->cx->depth--;
    return la_value_tuple(la_build_done(&b));
}

/* ---- calls ---- */

struct callee {
    struct word name;
    const struct la_op *op;
    bool has_self; /* a method: the value before the dot is the first argument */
    struct la_value self;
    struct la_span self_span;
};

/* call = NAME ["<" args ">"] "(" args ")" */
static struct la_value call(struct parser *p, const struct callee *c)
{
    struct la_call *call = la_alloc(p->cx, sizeof *call);
    struct la_span *spans = la_alloc(p->cx, (LA_MAX_ARGS + 2) * sizeof *spans);
    call->op = c->op;
    call->argc = call->targc = 0;
    if (la_accept(p, '<')) {
        p->templates++;
        call->targc = la_arguments(p, '>', call->targs, spans);
        p->templates--;
    }
    const bool empty_braces = call->targc && la_next_is(p, '{');
    la_expect(p, empty_braces ? '{' : '(', "after the name of an operation");
    if (c->has_self) {
        call->args[0] = c->self;
        spans[1] = c->self_span;
        call->argc = 1;
    }
    if (!c->has_self && call->targc == 0 && c->op->params[0].kinds & LA_K_TEXT) {
        spans[1] = la_skip_pointer(p);
        call->args[0] = la_data();
        call->argc = 1;
    }
    struct la_value *rest = call->args + call->argc;
    const int templates = p->templates; /* arguments in (...) are run-time again */
    p->templates = 0;
    const uint32_t n = la_arguments(p, empty_braces ? '}' : ')', rest, spans + 1 + call->argc);
    p->templates = templates;
    call->argc += n;
    spans[0] = (struct la_span){c->name.at, p->at - c->name.at};
    if (call->argc > LA_MAX_ARGS)
        la_syntax(p, spans[0].at, spans[0].len, LA_E_limit, "more than %d arguments", LA_MAX_ARGS);
    p->last_call = call;
    p->last_call_span = (struct la_span){c->has_self ? c->self_span.at : c->name.at, 0};
    p->last_call_span.len = p->at - p->last_call_span.at;
    return run(p, call, spans);
}

/* layout(coords): one coordinate, or several as a tuple; with _ among them a slice. */
static struct la_value evaluate(struct parser *p, struct la_value f, size_t start)
{
    const int templates = p->templates;
    p->templates = 0;
    const size_t open = p->at - 1;
    p->at = open;
    la_expect(p, '(', "before the coordinates");
    struct la_value coords = tuple(p, false);
    p->templates = templates;
    if (la_rank(coords.tuple) == 1)
        coords = la_node_value(coords.tuple + 1);
    if (!(coords.kind & LA_K_COORD) || la_rank(coords.tuple) == 0)
        la_syntax(p, open, p->at - open, LA_E_kind,
                  "a coordinate is an integer, a tuple of integers, or has _ in it");
    struct la_value v = {0};
    if (f.kind == LA_K_SWIZZLE) {
        AT(p, start, const int64_t x = la_to_i64(p->cx, coords.tuple, "the offset");
           v = la_value_tuple(la_int(p->cx, la_swizzle_apply(f.swizzle, x), coords.tuple->is_static)));
        return v;
    }
    if (p->cx->trace && !la_has_any(coords.tuple))
        AT(p, start, la_trace_evaluation(p->cx, f.layout, coords.tuple));
    AT(p, start,
       v = la_has_any(coords.tuple) ? la_slice_value(p->cx, coords.tuple, f.layout)
                                    : la_value_tuple(la_layout_at(p->cx, f.layout, coords.tuple)));
    return v;
}

/* method = "." ["template"] NAME ["<" args ">"] "(" args ")" */
static struct la_value method(struct parser *p, struct la_value self, size_t start, size_t end)
{
    struct callee c = {.has_self = true, .self = self, .self_span = {start, end - start}};
    la_accept_word(p, "template");
    la_skip_space(p);
    const size_t at = p->at;
    if (!la_word(p, &c.name))
        la_syntax(p, at, 1, LA_E_syntax, "the name of a method must follow the dot");
    if (la_word_is(c.name, "tile"))
        c.op = la_op_find("tiled_divide", strlen("tiled_divide"));
    else
        c.op = la_op_find(c.name.text, c.name.len);
    if (la_word_is(c.name, "data") && la_next_is(p, '(')) { /* the pointer of a tensor */
        la_skip_brackets(p);
        return la_data();
    }
    if (!c.op)
        la_unknown(p, c.name);
    return call(p, &c);
}

/* member = "::" NAME: what an atom or a tiled copy tells of itself: Copy_Atom<...>::ValLayoutSrc */
static struct la_value member(struct parser *p, struct la_value self, size_t start, size_t end)
{
    struct word w;
    p->at += 2;
    const size_t at = p->at;
    if (!la_word(p, &w))
        la_syntax(p, at, 1, LA_E_syntax, "the name of a member must follow '::'");
    struct la_call *ask = la_alloc(p->cx, sizeof *ask);
    ask->op = la_op_find(w.text, w.len);
    if (!ask->op)
        la_unknown(p, w);
    ask->argc = 1;
    ask->targc = 0;
    ask->args[0] = self;
    p->last_call = ask;
    p->last_call_span = (struct la_span){start, p->at - start};
    const struct la_span spans[2] = {p->last_call_span, {start, end - start}};
    return run(p, ask, spans);
}

/* ---- expressions ---- */

/* The value of a name: the last one that it was given. */
static bool variable(struct parser *p, struct word w, struct la_value *out)
{
    for (const struct la_binding *b = p->names; b; b = b->next)
        if (la_word_is(w, b->name)) {
            *out = b->value;
            return true;
        }
    return false;
}

/* A variable may have the name of an operation: `layout(1,2)` and `size < 3` ask the variable,
 * `shape<0>(x)` the operation. */
static bool is_call_of_operation(struct parser *p, struct la_value variable)
{
    if (!la_next_is(p, '<'))
        return la_next_is(p, '(') && !(variable.kind & (LA_K_ANYLAYOUT | LA_K_SWIZZLE));
    const size_t at = p->at;
    const bool calls = p->text[at + 1] != '<' && la_skip_angles(p) && la_next_is(p, '(');
    p->at = at;
    return calls;
}

/* ::value of a static integer: an int, which is static again in <...>. */
static struct la_value of_run_time(struct parser *p, struct la_value v)
{
    if (v.kind != LA_K_INT)
        return v;
    return la_value_tuple(la_int(p->cx, v.tuple->value, p->static_integers || p->templates > 0));
}

static struct la_value name(struct parser *p)
{
    struct word w;
    la_skip_space(p);
    const size_t at = p->at;
    if (!la_word(p, &w)) {
        la_expect(p, '(', "or a number or a name"); /* cannot succeed: says what was found */
        la_syntax(p, at, 1, LA_E_syntax, "expected an expression");
    }
    struct la_value v;
    if (la_word_is(w, "typename"))
        return name(p);
    if (w.text[0] == '_' && isdigit((unsigned char)w.text[1])) { /* cute::_4 */
        p->at = w.at;
        return la_value_tuple(la_literal(p));
    }
    if (la_word_is(w, "decltype")) { /* decltype(x){} is x */
        la_expect(p, '(', "after decltype");
        v = la_expression(p);
        la_expect(p, ')', "after decltype(...");
        return v;
    }
    if (la_word_is(w, "CUTE_STATIC_V")) { /* decltype(x)::value */
        la_expect(p, '(', "after CUTE_STATIC_V");
        v = of_run_time(p, la_expression(p));
        la_expect(p, ')', "after CUTE_STATIC_V(...");
        return v;
    }
    if (la_defined_name(p, w, &v))
        return v;
    const struct callee c = {.name = w, .op = la_op_find(w.text, w.len)};
    if (variable(p, w, &v) && !(c.op && is_call_of_operation(p, v)))
        return v;
    return c.op ? call(p, &c) : la_named_type(p, w);
}

static struct la_value primary(struct parser *p)
{
    const struct la_node *n = la_literal(p);
    if (n)
        return la_value_tuple(n);
    if (la_accept(p, '('))
        return tuple(p, true);
    struct la_value data;
    return la_data_literal(p, &data) ? data : name(p);
}

/* basis = integer "@" INTEGER { "@" INTEGER }: innermost first */
static struct la_value basis(struct parser *p, struct la_value scale, size_t start)
{
    uint32_t path[LA_MAX_ARGS], n = LA_MAX_ARGS;
    if (scale.kind != LA_K_INT)
        la_syntax(p, start, p->at - start, LA_E_kind, "only an integer can have a basis: 2@1");
    do {
        const int templates = p->templates;
        la_skip_space(p);
        const size_t at = p->at;
        const struct la_node *mode = la_literal(p);
        p->templates = templates;
        if (!mode || mode->value < 0 || mode->value > LA_MAX_BASIS_MODE || n == 0)
            la_syntax(p, at, p->at - at + !mode, LA_E_syntax,
                      "the number of a mode (0 to %d) must follow '@'", LA_MAX_BASIS_MODE);
        path[--n] = (uint32_t)mode->value;
    } while (la_accept(p, '@'));
    return la_value_tuple(la_basis(p->cx, scale.tuple, LA_MAX_ARGS - n, path + n));
}

static struct la_value postfix(struct parser *p)
{
    la_skip_space(p);
    const size_t start = p->at;
    struct la_value v = primary(p);
    for (;;) {
        const size_t end = p->at;
        if (la_next_is(p, '(') && v.kind & (LA_K_ANYLAYOUT | LA_K_SWIZZLE)) {
            p->at++;
            v = evaluate(p, v, start);
        } else if (la_next_is(p, '(') && p->text[p->at + 1] == ')') { /* Int<3>() is Int<3>{} */
            p->at += 2;
        } else if (la_next_is(p, ':') && strncmp(p->text + p->at, "::value", 7) == 0) {
            p->at += 7;
            v = of_run_time(p, v);
        } else if (la_next_is(p, ':') && strncmp(p->text + p->at, "::type", 6) == 0) { /* of a trait */
            p->at += 6;
        } else if (la_next_is(p, ':') && p->text[p->at + 1] == ':') {
            if (!la_class_member(p, v, &v))
                v = member(p, v, start, end);
        } else if (la_is_data(v) && la_data_member(p)) {
            continue;
        } else if (la_next_is(p, '[') && v.kind & LA_K_ANYLAYOUT) { /* an element of a tensor */
            la_skip_brackets(p);
            v = la_data();
        } else if (la_next_is(p, '{') && la_empty_braces(p, v)) {
            continue;
        } else if (la_next_is(p, '{') || (v.kind == LA_K_TYPE && v.type->bits && la_next_is(p, '('))) {
            v = la_made(p, v, start, end);
        } else if (la_accept(p, '@')) {
            v = basis(p, v, start);
        } else if (la_next_is(p, '.') && !isdigit((unsigned char)p->text[p->at + 1])) {
            p->at++;
            v = method(p, v, start, end);
        } else {
            p->at = end;
            return v;
        }
    }
}

static struct la_value negated(struct parser *p, size_t start, struct la_value v)
{
    if (la_is_data(v))
        return v;
    la_need_integers(p, start, v, "what follows '-'");
    if (v.kind != LA_K_INT)
        la_syntax(p, start, p->at - start, LA_E_kind, "a tuple cannot be negated");
    AT(p, start, v = la_value_tuple(la_neg(p->cx, v.tuple)));
    return v;
}

/* unary = ("-" | "!" | "not" | "&" | "*") unary | ("++" | "--") NAME | postfix: the address of anything is
 * data */
struct la_value la_unary(struct parser *p)
{
    la_skip_space(p);
    const size_t start = p->at;
    const char c = p->text[start], *s = p->text + start;
    if ((c == '+' || c == '-') && s[1] == c && isalpha((unsigned char)s[2]) && p->execution)
        return la_counted(p);
    if (c == 'n' ? !la_accept_word(p, "not") : !c || !strchr("-!&*", c))
        return postfix(p);
    p->at += c != 'n';
    la_deeper(p);
    la_skip_space(p);
    p->operand = p->at + 1;
    const struct la_value v = la_unary(p);
    p->cx->depth--;
    if (c == '-')
        return negated(p, start, v);
    return c == '&' || c == '*' || la_is_data(v) ? la_data() : la_truth(!la_truth_of(p, v, start));
}

/* layout = shape ":" stride */
static struct la_value layout(struct parser *p)
{
    la_skip_space(p);
    const size_t start = p->at;
    struct la_value v = la_sum(p);
    if (!la_next_is(p, ':') || p->text[p->at + 1] == ':' || p->at == p->colon)
        return v;
    la_need_integers(p, start, v, "the shape before ':'");
    p->at++;
    la_skip_space(p);
    const size_t stride_at = p->at;
    const struct la_value stride = la_sum(p);
    la_need_integers(p, stride_at, stride, "the stride after ':'");
    struct la_layout a;
    AT(p, start, a = la_make_layout(p->cx, v.tuple, stride.tuple));
    return la_value_layout(a);
}

static bool is_composed_operator(struct parser *p)
{
    la_skip_space(p);
    return p->text[p->at] == 'o' && !isalnum((unsigned char)p->text[p->at + 1]) && p->text[p->at + 1] != '_';
}

/* composed = outer "o" offset "o" layout, as CuTe prints it */
static struct la_value composed(struct parser *p, struct la_value outer, size_t start)
{
    la_accept(p, 'o');
    struct la_value offset;
    if (!la_smem_spelling(p, &offset))
        offset = layout(p);
    if (!is_composed_operator(p))
        la_syntax(p, start, p->at - start, LA_E_syntax,
                  "a composed layout is written outer o offset o layout, for example Sw<3,3,3> o _0 o "
                  "(_8,_64):(_64,_1)");
    la_accept(p, 'o');
    la_skip_space(p);
    const size_t inner_at = p->at;
    const struct la_value inner = la_expression(p);
    if (!(outer.kind & (LA_K_SWIZZLE | LA_K_LAYOUT)) || !(offset.kind & LA_K_INTTUPLE))
        la_syntax(p, start, inner_at - start, LA_E_kind,
                  "what stands before the layout must be a swizzle or a layout, "
                  "and an offset");
    if (inner.kind != LA_K_LAYOUT)
        la_syntax(p, inner_at, p->at - inner_at, LA_E_kind,
                  "the inner part of a composed layout must be a layout");
    struct la_value *a = la_alloc(p->cx, sizeof *a);
    *a = outer;
    return la_value_layout((struct la_layout){inner.layout.shape, inner.layout.stride, a, offset.tuple});
}

struct la_value la_operand(struct parser *p)
{
    la_skip_space(p);
    const size_t start = p->at;
    const struct la_value v = layout(p);
    return is_composed_operator(p) ? composed(p, v, start) : v;
}

/* Most items of a tuple are plain integers: they need not climb down the rules. */
static const struct la_node *plain_literal(struct parser *p)
{
    la_skip_space(p);
    const size_t start = p->at;
    const struct la_node *n = la_literal(p);
    if (n && (p->text[p->at] == ',' || p->text[p->at] == ')' || p->text[p->at] == '>'))
        return n;
    p->at = start;
    return NULL;
}

/* expression = operand [operators of operators.c] */
struct la_value la_expression(struct parser *p)
{
    const struct la_node *n = plain_literal(p);
    if (n)
        return la_value_tuple(n);
    la_skip_space(p);
    const size_t start = p->at;
    const struct la_value a = la_operand(p);
    la_skip_space(p);
    const char c = p->text[p->at];
    return c && strchr("=!<>&|^?oa", c) ? la_operators(p, a, start) : a;
}
