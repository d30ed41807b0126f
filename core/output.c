/* output.c: what a program shows, and what it asserts.
 *
 *     print(x); print_layout(x); printf("%d\n", int(size(x))); std::cout << x << "\n";
 *     CUTLASS_TRACE_HOST("x = " << x); static_assert(size(x) == 8);
 *
 * Each value that is shown is one of the answer's prints, in order, with the text of its expression. Texts
 * and data of the host show nothing of a layout and are left out. An assertion that is false is an error,
 * as it is for the compiler; one that asks what cannot be known here (is_trivially_copyable<T>) is passed
 * over. */
#include "program.h"

#include <ctype.h>
#include <string.h>

static void show(struct la_execution *x, struct la_span at, struct la_value v)
{
    struct parser *p = &x->parser;
    if (la_is_data(v))
        return;
    struct la_binding *b = la_alloc(p->cx, sizeof *b);
    *b = (struct la_binding){.name = la_format(p->cx, "%.*s", (int)at.len, p->text + at.at),
                             .at = at.at,
                             .len = at.len,
                             .value = v};
    if (x->last_print)
        x->last_print->next = b;
    else
        x->out->prints = b;
    x->last_print = b;
    x->parser.last_call = NULL;
    la_result(x, at.at, v);
}

/* Evaluate an expression and show it; in_cpp: (a) is a, no tuple. */
static void show_next(struct la_execution *x, bool in_cpp)
{
    struct parser *p = &x->parser;
    la_skip_space(p);
    const size_t at = p->at;
    if (in_cpp)
        p->operand = at + 1;
    const struct la_value v = la_expression(p);
    size_t end = p->at;
    while (end > at && isspace((unsigned char)p->text[end - 1]))
        end--;
    show(x, (struct la_span){at, end - at}, v);
}

/* print = ("print" | "printf" | ...) "(" { expression } ")" ("," statement | ";") */
enum la_flow la_print_statement(struct la_execution *x, struct word w)
{
    struct parser *p = &x->parser;
    const bool in_cpp = la_word_is(w, "printf") || la_word_is(w, "fprintf");
    la_expect(p, '(', "before what is printed");
    if (!la_accept(p, ')')) {
        do
            show_next(x, in_cpp);
        while (la_accept(p, ','));
        la_expect(p, ')', "after what is printed");
    }
    if (la_accept(p, ',')) /* print(a), print(b); */
        return la_statement(x);
    la_finish(x);
    return LA_NEXT;
}

static void stream_items(struct la_execution *x)
{
    struct parser *p = &x->parser;
    p->streams = true;
    while (la_accept(p, '<')) {
        la_expect(p, '<', "between what is printed");
        show_next(x, true);
    }
    p->streams = false;
}

/* stream = "cout" { "<<" expression } ";" | "CUTLASS_TRACE_HOST" "(" expression { "<<" expression } ")"
 * ";" */
enum la_flow la_stream(struct la_execution *x, struct word w)
{
    struct parser *p = &x->parser;
    if (la_word_is(w, "CUTLASS_TRACE_HOST")) {
        la_expect(p, '(', "before what is printed");
        p->streams = true;
        show_next(x, true);
        stream_items(x);
        la_expect(p, ')', "after what is printed");
    } else {
        stream_items(x);
    }
    la_finish(x);
    return LA_NEXT;
}

/* assertion = ("static_assert" | "CUTE_STATIC_ASSERT_V" | "assert" | ...) "(" condition [, string] ")" ";" */
enum la_flow la_assertion(struct la_execution *x, struct word w)
{
    struct parser *p = &x->parser;
    if (!la_next_is(p, '('))
        la_expect(p, '(', "before what is asserted");
    const size_t open = p->at++;
    la_skip_space(p);
    const size_t start = p->at;
    struct la_value v;
    p->compared[0] = p->compared[1] = la_data();
    if (la_attempt(p, &v) && v.kind & (LA_K_BOOL | LA_K_INT) && !la_truth_of(p, v, start)) {
        const struct la_value *c = p->compared;
        const char *sides = la_is_data(c[0]) ? ""
                                             : la_format(p->cx, ": it compares %s with %s",
                                                         la_show(p->cx, la_value_node(p->cx, c[0])),
                                                         la_show(p->cx, la_value_node(p->cx, c[1])));
        la_syntax(p, start, p->at - start, LA_E_other, "%.*s: this is false%s", (int)w.len, w.text, sides);
    }
    p->at = open;
    la_skip_brackets(p);
    la_finish(x);
    return LA_NEXT;
}
