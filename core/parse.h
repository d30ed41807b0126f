/* parse.h: what parse.c (the grammar) and spell.c (C++ spellings of types and literals) share. */
#ifndef LA_PARSE_H
#define LA_PARSE_H

#include "internal.h"

struct parser {
    struct la_ctx *cx;
    const char *text;
    size_t at, len;
    bool static_integers; /* how a bare 3 is read */
    int templates;        /* how many <...> are open: integers in there are static */
    struct la_binding *names, *last_name;
    struct la_binding *prints, *last_print;
    const struct la_call *last_call; /* and where it stands */
    struct la_span last_call_span;
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
    if (c <= ' ' || c == '/' || c == '#')
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
bool la_word_is(struct word w, const char *s);
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

/* parse.c */
struct la_value la_expression(struct parser *p);
uint32_t la_arguments(struct parser *p, char close, struct la_value *args, struct la_span *spans);

/* spell.c: GMMA::Major::K as one word, when the scope in front is no value */
struct word la_qualified(struct parser *p, struct word w);
/* smem_ptr[16b](unset) */
bool la_smem_spelling(struct parser *p, struct la_value *out);
/* Int<3>, Shape<...>, Layout<...>, Swizzle<...>, LayoutLeft, half_t ...; false when w is none of them */
bool la_type_spelling(struct parser *p, struct word w, struct la_value *out);

#endif
