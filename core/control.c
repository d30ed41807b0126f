/* control.c: blocks, branches and loops.
 *
 *     for (int m = 0; m < size<0>(layout); ++m) { ... }        if (rank(x) == _2{}) ... else ...
 *
 * There is no tree: a loop goes back to where its condition stands in the text and reads it again; a
 * branch that is not taken is passed over. A loop that does nothing but fill data is passed over, too,
 * however long it would run. Names that a block declares go out of sight at its end. A range-based for runs
 * over values that are written out: for (int n : {8, 16}). */
#include "program.h"

#include <string.h>

struct scope {
    struct la_binding *names, *block;
    struct la_definition *definitions;
    uint32_t n;
};

static struct scope enter(struct la_execution *x)
{
    const struct scope outer = {x->parser.names, x->block, x->definitions, x->names};
    la_deeper(&x->parser);
    x->block = x->parser.names;
    x->level++;
    return outer;
}

static void leave(struct la_execution *x, struct scope outer)
{
    x->parser.names = outer.names;
    x->block = outer.block;
    x->definitions = outer.definitions;
    x->names = outer.n;
    x->level--;
    x->parser.cx->depth--;
}

/* block = "{" { statement } "}" */
enum la_flow la_block(struct la_execution *x)
{
    struct parser *p = &x->parser;
    const size_t start = p->at;
    la_expect(p, '{', "before a block");
    const struct scope outer = enter(x);
    enum la_flow flow = LA_NEXT;
    while (flow == LA_NEXT && !la_accept(p, '}')) {
        if (la_at_end(p))
            la_syntax(p, start, 1, LA_E_syntax, "this block is not closed");
        flow = la_statement(x);
    }
    leave(x, outer);
    return flow;
}

/* A condition up to `close`, which is passed. False, and where it stands, when it depends on data. */
static bool condition(struct la_execution *x, char close, struct la_span *data)
{
    struct parser *p = &x->parser;
    la_skip_space(p);
    const size_t start = p->at;
    const struct la_value v = la_expression(p);
    const struct la_span at = {start, p->at - start};
    const bool is_data = la_is_data(v), truth = !is_data && la_truth_of(p, v, start);
    *data = is_data ? at : (struct la_span){0};
    la_read_over(x, at.len);
    la_expect(p, close, "after this condition");
    return truth;
}

/* One of the statements that only tell how a run went, passed over. */
static bool report(struct parser *p)
{
    static const char *const words[] = {"std::cout", "std::cerr", "cout",  "cerr",    "printf",
                                        "fprintf",   "return",    "break", "continue"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (la_accept_word(p, words[i])) {
            la_skip_to(p, ";");
            return la_accept(p, ';');
        }
    return false;
}

/* True, and the statement passed over, when it moves data and does nothing else; with `reports` it may
 * tell of it. */
static bool only_data(struct la_execution *x, bool reports)
{
    struct parser *p = &x->parser;
    bool only = true;
    la_deeper(p);
    if (la_accept(p, '{')) {
        while (only && !la_accept(p, '}'))
            only = only_data(x, reports);
    } else if (la_accept_word(p, "for") || la_accept_word(p, "if")) {
        la_skip_space(p);
        la_skip_brackets(p);
        only = only_data(x, reports) && (!la_accept_word(p, "else") || only_data(x, reports));
    } else {
        only = la_accept(p, ';') || (reports && report(p)) || la_host_statement(x);
    }
    p->cx->depth--;
    return only;
}

/* What a condition on data decides must be about data alone, as the checks of a result are: it is passed
 * over. */
static void pass_over_data(struct la_execution *x, struct la_span data)
{
    struct parser *p = &x->parser;
    if (!only_data(x, true) || (la_accept_word(p, "else") && !only_data(x, true)))
        la_syntax(p, data.at, data.len, LA_E_kind,
                  "this depends on data, which only the running program has: write true or false");
}

/* if = "if" ["constexpr"] "(" condition ")" statement ["else" statement] */
enum la_flow la_if(struct la_execution *x, struct word w)
{
    (void)w;
    struct parser *p = &x->parser;
    struct la_span data;
    la_accept_word(p, "constexpr");
    la_expect(p, '(', "after 'if'");
    const bool truth = condition(x, ')', &data);
    if (data.len) {
        pass_over_data(x, data);
        return LA_NEXT;
    }
    if (truth) {
        const enum la_flow flow = la_statement(x);
        if (flow != LA_NEXT)
            return flow;
    } else {
        la_skip_statement(p);
    }
    if (!la_accept_word(p, "else"))
        return LA_NEXT;
    if (!truth)
        return la_statement(x);
    la_skip_statement(p);
    return LA_NEXT;
}

/* ---- switch ---- */

/* label = ("case" expression | "default") ":", passed; whether it is one. NULL for value: whatever it says. */
static bool label(struct la_execution *x, const int64_t *value, bool *fits)
{
    struct parser *p = &x->parser;
    la_skip_space(p);
    const size_t start = p->at, outer = p->colon;
    const bool is_case = la_accept_word(p, "case"), is_label = is_case || la_accept_word(p, "default");
    *fits = is_label && !is_case && !value;
    if (!is_label)
        return false;
    la_skip_space(p);
    const size_t text = p->at;
    if (!la_skip_to(p, ":"))
        la_syntax(p, start, p->at - start, LA_E_syntax, "':' must follow a label");
    p->colon = p->at;
    if (is_case && value) {
        p->at = text;
        const struct la_value v = la_expression(p);
        if (v.kind != LA_K_INT)
            la_syntax(p, text, p->at - text, LA_E_kind, "a case is an integer");
        *fits = v.tuple->value == *value;
    }
    p->at = p->colon;
    p->colon = outer;
    la_expect(p, ':', "after a label");
    return true;
}

/* Go behind the label of a value, or with NULL behind default; else to the '}' of the block at `body`. */
static bool find_label(struct la_execution *x, size_t body, const int64_t *value)
{
    struct parser *p = &x->parser;
    bool fits;
    p->at = body + 1;
    while (!la_next_is(p, '}')) {
        if (la_at_end(p))
            la_syntax(p, body, 1, LA_E_syntax, "this block is not closed");
        if (!label(x, value, &fits))
            la_skip_statement(p);
        else if (fits)
            return true;
        la_charge(x, 0);
    }
    return false;
}

/* switch = "switch" "(" expression ")" "{" { label | statement } "}" */
enum la_flow la_switch(struct la_execution *x, struct word w)
{
    struct parser *p = &x->parser;
    bool fits;
    la_expect(p, '(', "after 'switch'");
    la_skip_space(p);
    const size_t start = p->at;
    const struct la_value v = la_expression(p);
    if (v.kind != LA_K_INT || v.tuple->path)
        la_syntax(p, start, p->at - start, LA_E_kind, "a switch is over an integer; this is %s",
                  la_show(p->cx, la_value_node(p->cx, v)));
    la_expect(p, ')', "after this expression");
    if (!la_next_is(p, '{'))
        la_syntax(p, w.at, w.len, LA_E_syntax, "'{' must follow switch (...)");
    const size_t body = p->at;
    const struct scope outer = enter(x);
    enum la_flow flow = LA_NEXT;
    x->loops++; /* which break ends */
    if (find_label(x, body, &v.tuple->value) || find_label(x, body, NULL))
        while (flow == LA_NEXT && !la_next_is(p, '}')) {
            if (la_at_end(p))
                la_syntax(p, body, 1, LA_E_syntax, "this block is not closed");
            if (!label(x, NULL, &fits))
                flow = la_statement(x);
        }
    x->loops--;
    leave(x, outer);
    if (flow != LA_RETURN) {
        p->at = body;
        la_skip_brackets(p);
    }
    return flow == LA_BREAK ? LA_NEXT : flow;
}

/* ---- loops ---- */

/* Run the body at `body` once; false when the loop ends. */
static bool iterate(struct la_execution *x, size_t body, enum la_flow *flow)
{
    x->parser.at = body;
    *flow = la_statement(x);
    return *flow == LA_NEXT || *flow == LA_CONTINUE;
}

/* Behind a loop: where its body ends, unless it returns. */
static enum la_flow end_loop(struct la_execution *x, size_t body, enum la_flow flow)
{
    x->loops--;
    if (flow == LA_RETURN)
        return flow;
    x->parser.at = body;
    la_skip_statement(&x->parser);
    return LA_NEXT;
}

/* The parts of for (...; condition; step) body, from behind the first ';'. */
struct loop {
    size_t condition, step, body;
};

static struct loop loop_parts(struct parser *p, size_t start)
{
    struct loop at = {.condition = p->at};
    if (!la_skip_to(p, ";"))
        la_syntax(p, start, 3, LA_E_syntax, "a for is written for (int i = 0; i < n; ++i)");
    at.step = ++p->at;
    la_skip_to(p, ")");
    la_expect(p, ')', "after for (...");
    at.body = p->at;
    return at;
}

/* What counts through a loop is not the value of the program. */
struct result {
    struct la_value last;
    bool any;
    const struct la_call *call;
};

static struct result result(const struct la_execution *x)
{
    return (struct result){x->last, x->any, x->out->call};
}

static void restore(struct la_execution *x, struct result before)
{
    x->last = before.last;
    x->any = before.any;
    x->out->call = before.call;
}

static void step(struct la_execution *x, size_t at)
{
    struct parser *p = &x->parser;
    const struct result before = result(x);
    p->at = at;
    if (la_next_is(p, ')'))
        return;
    do {
        if (!la_assignment(x))
            la_expression(p);
    } while (la_accept(p, ','));
    la_read_over(x, p->at - at);
    restore(x, before);
}

static bool for_goes_on(struct la_execution *x, struct loop at)
{
    struct la_span data = {0};
    x->parser.at = at.condition;
    const bool goes_on = la_next_is(&x->parser, ';') || condition(x, ';', &data);
    x->parser.at = at.body;
    if (data.len)
        pass_over_data(x, data);
    return goes_on;
}

/* type NAME ":" "{", all but the '{' passed; NAME is the last word before the ':'. */
static struct word element(struct parser *p, struct word loop)
{
    struct word name = {0};
    for (la_skip_space(p); p->text[p->at] != ':'; la_skip_space(p))
        if (!la_word(p, &name) && !la_accept(p, '&') && !la_accept(p, '*') && !la_accept(p, '['))
            break;
    if (!name.len || !la_accept(p, ':') || !la_next_is(p, '{')) {
        la_skip_to(p, "{");
        la_syntax(p, loop.at, p->at - loop.at, LA_E_syntax,
                  "a for over a range is evaluated where its values are written out, for (int n : {8, 16}); "
                  "else write for (int i = 0; i < n; ++i)");
    }
    return name;
}

/* for = "for" "(" type NAME ":" "{" args "}" ")" statement */
static enum la_flow for_each(struct la_execution *x, struct word loop)
{
    struct parser *p = &x->parser;
    const struct word name = element(p, loop);
    struct la_value *values = la_alloc(p->cx, LA_MAX_ARGS * sizeof *values);
    struct la_span spans[LA_MAX_ARGS];
    la_expect(p, '{', "after ':'");
    const uint32_t n = la_arguments(p, '}', values, spans);
    la_expect(p, ')', "after for (...");
    const size_t body = p->at;
    enum la_flow flow = LA_NEXT;
    bool goes_on = true;
    x->loops++;
    for (uint32_t i = 0; i < n && goes_on; i++) {
        const struct scope outer = enter(x);
        la_declare(x, name, spans[i], values[i]);
        goes_on = iterate(x, body, &flow);
        leave(x, outer);
    }
    return end_loop(x, body, flow);
}

/* for = "for" "(" statement condition ";" {step} ")" statement */
enum la_flow la_for(struct la_execution *x, struct word w)
{
    struct parser *p = &x->parser;
    la_expect(p, '(', "after 'for'");
    const size_t open = p->at;
    const bool counts = la_skip_to(p, ";");
    p->at = open;
    if (!counts)
        return for_each(x, w);
    const struct scope outer = enter(x);
    const struct result before = result(x);
    if (!la_accept(p, ';'))
        la_statement(x);
    restore(x, before);
    const struct loop at = loop_parts(p, w.at);
    enum la_flow flow = LA_NEXT;
    x->loops++;
    if (!only_data(x, false))
        while (for_goes_on(x, at) && iterate(x, at.body, &flow))
            step(x, at.step);
    flow = end_loop(x, at.body, flow);
    leave(x, outer);
    return flow;
}

/* while = "while" "(" condition ")" statement */
enum la_flow la_while(struct la_execution *x, struct word w)
{
    (void)w;
    struct parser *p = &x->parser;
    la_expect(p, '(', "after 'while'");
    const size_t test = p->at;
    enum la_flow flow = LA_NEXT;
    struct la_span data;
    size_t body;
    bool goes_on;
    x->loops++;
    do {
        p->at = test;
        goes_on = condition(x, ')', &data);
        body = p->at;
        if (data.len)
            pass_over_data(x, data);
    } while (goes_on && iterate(x, body, &flow));
    return end_loop(x, body, flow);
}

/* do = "do" statement "while" "(" condition ")" ";" */
enum la_flow la_do(struct la_execution *x, struct word w)
{
    struct parser *p = &x->parser;
    const size_t body = p->at;
    enum la_flow flow = LA_NEXT;
    struct la_span data;
    bool goes_on;
    x->loops++;
    do {
        goes_on = iterate(x, body, &flow);
        if (flow == LA_RETURN)
            break;
        p->at = body;
        la_skip_statement(p);
        if (!la_accept_word(p, "while") || !la_next_is(p, '('))
            la_syntax(p, w.at, w.len, LA_E_syntax, "'while (...)' must follow the body of 'do'");
        if (!goes_on) {
            la_skip_brackets(p);
            break;
        }
        p->at++;
        goes_on = condition(x, ')', &data); /* of data: once */
    } while (goes_on);
    x->loops--;
    if (flow == LA_RETURN)
        return flow;
    la_finish(x);
    return LA_NEXT;
}

/* jump = ("break" | "continue") ";" */
enum la_flow la_jump(struct la_execution *x, struct word w)
{
    if (x->loops == 0)
        la_syntax(&x->parser, w.at, w.len, LA_E_syntax, "'%.*s' stands in no loop", (int)w.len, w.text);
    la_finish(x);
    return la_word_is(w, "break") ? LA_BREAK : LA_CONTINUE;
}

/* return = "return" [expression] ";" ; outside functions its value is not the program's: `return 0;` */
enum la_flow la_return(struct la_execution *x, struct word w)
{
    (void)w;
    struct parser *p = &x->parser;
    x->returned = la_data();
    if (!la_next_is(p, ';') && !la_at_end(p)) {
        la_skip_space(p);
        const size_t start = p->at;
        p->last_call = NULL;
        x->returned = la_expression(p);
        if (!x->any && x->level == 0)
            la_result(x, start, x->returned);
    }
    la_finish(x);
    return LA_RETURN;
}
