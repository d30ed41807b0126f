/* parse.h: what the files share that read expressions: parse.c (the grammar), scan.c, spell.c,
 * operators.c, construct.c ... */
#ifndef LA_PARSE_H
#define LA_PARSE_H

#include "internal.h"

#include <string.h>

struct parser {
    struct la_ctx *cx;
    const char *text;
    size_t at, len;
    bool static_integers;            /* how a bare 3 is read */
    int templates;                   /* how many <...> are open: integers in there are static */
    struct la_binding *names;        /* in sight, the newest first */
    const struct la_call *last_call; /* and where it stands */
    struct la_span last_call_span;
    size_t operated;                /* where the last operation on two operands ended */
    size_t operand;                 /* behind an operator, where a ( groups: its place + 1 */
    size_t colon;                   /* the ':' of a ?: that is open, which is no layout's */
    size_t stop;                    /* behind the end of a macro's line, or 0: the text goes on */
    bool in_function;               /* the text is C++: (x) is x */
    bool streams;                   /* << stands between what is printed, it shifts nothing */
    bool attempts;                  /* an error will be caught: nobody reads its message */
    struct la_value compared[2];    /* by the last == or <, for messages */
    struct la_execution *execution; /* the program that the text is */
};

/* A name in the text. */
struct word {
    const char *text;
    size_t at, len;
};

_Noreturn void la_syntax(struct parser *p, size_t at, size_t len, enum la_error_code code, const char *format,
                         ...) __attribute__((format(printf, 5, 6)));

/* scan.c: characters and words */
void la_skip_blanks(struct parser *p); /* blanks, comments, preprocessor lines */

/* The same, most often with nothing to skip. */
static inline void la_skip_space(struct parser *p)
{
    const char c = p->text[p->at];
    if (c <= ' ' || c == '/' || c == '#' || c == '\\')
        la_skip_blanks(p);
}
static inline bool la_next_is(struct parser *p, char c)
{
    la_skip_space(p);
    return p->text[p->at] == c;
}
/* Skip c if it is next. */
static inline bool la_accept(struct parser *p, char c)
{
    if (!la_next_is(p, c))
        return false;
    p->at++;
    return true;
}

void la_expect(struct parser *p, char c, const char *where);
bool la_accept_word(struct parser *p, const char *word);
bool la_word(struct parser *p, struct word *out); /* an identifier, without cute:: */
static inline bool la_word_is(struct word w, const char *s)
{
    return strlen(s) == w.len && memcmp(w.text, s, w.len) == 0;
}
const struct la_node *la_literal(struct parser *p); /* an integer in any spelling, or NULL */

/* Run f with errors shown at [start, here). */
#define AT(p, start, EXPRESSION) \
    do { \
        const struct la_span span_ = {(start), (p)->at - (start)}; \
        (p)->cx->spans = &span_; \
        (p)->cx->blame = -1; \
        EXPRESSION; \
        (p)->cx->spans = NULL; \
    } while (0)

_Noreturn void la_unknown(struct parser *p, struct word w); /* "did you mean" */

/* directive.c: a line that begins with #, and what an #if leaves out */
void la_directive(struct parser *p);

/* skip.c: text that is not evaluated */
bool la_skip_string(struct parser *p); /* a string or a character; true when it was one */
/* To the first of `stops` outside all brackets; false: there is none. */
bool la_skip_to(struct parser *p, const char *stops);
/* The same, with <...> as brackets where it can be template arguments. */
bool la_skip_typed_to(struct parser *p, const char *stops);
void la_skip_brackets(struct parser *p);          /* from an opening one to behind its closing one */
bool la_skip_angles(struct parser *p);            /* <...>; false: these are no template arguments */
struct la_span la_skip_pointer(struct parser *p); /* of make_tensor(pointer, ...) */

/* operators.c: arithmetic, and what stands behind a layout: == < && ?: and the bits */
struct la_value la_sum(struct parser *p);
struct la_value la_arithmetic(struct parser *p, char op, struct la_value a, struct la_value b, size_t start);
struct la_value la_operators(struct parser *p, struct la_value a, size_t start);
bool la_truth_of(struct parser *p, struct la_value v, size_t start);

/* construct.c: what types make of values, and what they tell of themselves */
struct word la_resolved(struct parser *p, struct word type);  /* `using Element = float;` is float */
unsigned la_kind_of_type(struct parser *p, struct word type); /* LAYOUT, TUPLE, ... or 0 */
bool la_zero_of_type(struct parser *p, struct word type, struct la_value *out); /* int{} */
struct la_value la_converted(struct parser *p, struct word type, struct la_value v, size_t start);
struct la_value la_constructed(struct parser *p, unsigned kind, struct word type, uint32_t argc,
                               const struct la_value *args, struct la_span at);
/* {args} or (args) here, behind v, which begins at `start`. */
struct la_value la_made(struct parser *p, struct la_value v, size_t start, size_t end);
/* Skip the {} behind a type that holds its value; false: there are none. */
bool la_empty_braces(struct parser *p, struct la_value v);
/* A type, what is made by one, or a name of the host; fails with unknown_name. */
struct la_value la_named_type(struct parser *p, struct word w);

/* host.c: data of the host has no layout; whatever is done with it gives data again */
struct la_value la_data(void);
static inline bool la_is_data(struct la_value v)
{
    return v.kind == LA_K_TEXT;
}
bool la_is_data_type(struct word type);
bool la_data_member(struct parser *p); /* skip .x ->x [x] (x) behind data; false: there is none */
bool la_data_literal(struct parser *p, struct la_value *out);             /* "text" 'c' 1.5f */
bool la_host_name(struct parser *p, struct word w, struct la_value *out); /* nullptr, threadIdx.x, rand() */

/* call.c: functions, macros and aliases of the program; false when the name is none */
bool la_defined_name(struct parser *p, struct word w, struct la_value *out);

/* class.c: "::" NAME behind a class of the program; false when v is none */
bool la_class_member(struct parser *p, struct la_value v, struct la_value *out);

/* define.c */
bool la_is_namespace(const struct parser *p, struct word w); /* of the program's own */

/* declare.c: ++NAME, which changes it */
struct la_value la_counted(struct parser *p);

/* parse.c */
void la_deeper(struct parser *p); /* one more level; the caller takes it back from cx->depth */
struct la_value la_expression(struct parser *p);
struct la_value la_unary(struct parser *p);
void la_need_integers(struct parser *p, size_t start, struct la_value v, const char *what);
struct la_value la_operand(struct parser *p); /* an expression without the operators behind a layout */
uint32_t la_arguments(struct parser *p, char close, struct la_value *args, struct la_span *spans);

/* spell.c: GMMA::Major::K as one word, when the scope in front is no value */
struct word la_qualified(struct parser *p, struct word w);
/* smem_ptr[16b](unset) */
bool la_smem_spelling(struct parser *p, struct la_value *out);
/* Int<3>, Shape<...>, Layout<...>, Swizzle<...>, LayoutLeft, half_t ...; false when w is none of them */
const char *la_spelling_at(size_t i); /* the i-th of these names, NULL behind the last */
bool la_type_spelling(struct parser *p, struct word w, struct la_value *out);

#endif
