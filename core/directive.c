/* directive.c: the lines that begin with #, as far as layouts depend on them: #if 0 leaves text out,
 * #define gives names.
 *
 *     #if 0 / #ifdef NAME / #if defined(NAME) ... #else ... #endif
 *     #define BM 128
 *     #define SHOW(x) print(x)
 *
 * A NAME counts as defined when the text defines it or when it is CUDA's or CUTLASS's own (CUTE_...,
 * __CUDACC__). Any other condition than 0 counts as true. A taken #if is passed over, so an #else that is
 * met ends a taken one, and what is skipped depends on nothing but the text. */
#include "program.h"

#include <ctype.h>
#include <string.h>

/* To the end of the line, a \ at its end goes on; the newline itself is left. */
static void skip_line(struct parser *p)
{
    while (p->at < p->len && p->text[p->at] != '\n')
        p->at += p->text[p->at] == '\\' && p->at + 1 < p->len ? 2 : 1;
}

static void skip_spaces(struct parser *p)
{
    while (p->text[p->at] == ' ' || p->text[p->at] == '\t')
        p->at++;
}

static struct word word_here(struct parser *p)
{
    skip_spaces(p);
    struct word w = {p->text + p->at, p->at, 0};
    while (isalnum((unsigned char)w.text[w.len]) || w.text[w.len] == '_')
        w.len++;
    p->at += w.len;
    return w;
}

static bool is_defined(struct parser *p, struct word name)
{
    static const char *const own[] = {"CUTE_", "CUTLASS_", "__CUDA", "__NVCC__", "__cplusplus"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (name.len >= strlen(own[i]) && memcmp(name.text, own[i], strlen(own[i])) == 0)
            return true;
    return p->execution && la_is_defined(p->execution, name);
}

/* condition = ["!"] "defined" ["("] NAME [")"] | "0" | "false" | anything else */
static bool condition(struct parser *p)
{
    skip_spaces(p);
    const bool negated = p->text[p->at] == '!';
    p->at += negated;
    struct word w = word_here(p);
    if (!la_word_is(w, "defined"))
        return (la_word_is(w, "0") || la_word_is(w, "false")) == negated;
    skip_spaces(p);
    p->at += p->text[p->at] == '(';
    return is_defined(p, word_here(p)) != negated;
}

/* The word of the directive that begins here, or an empty one. */
static struct word directive(struct parser *p)
{
    skip_spaces(p);
    if (p->text[p->at] != '#')
        return (struct word){0};
    p->at++;
    return word_here(p);
}

static bool begins_group(struct word w)
{
    return la_word_is(w, "if") || la_word_is(w, "ifdef") || la_word_is(w, "ifndef");
}

/* Skip lines to behind the #endif of this group; with `branches` an #else or a true #elif ends it, too. */
static void skip_group(struct parser *p, bool branches)
{
    for (int open = 0;;) {
        skip_line(p);
        if (p->at >= p->len)
            return;
        p->at++;
        const struct word w = directive(p);
        if (begins_group(w))
            open++;
        else if (la_word_is(w, "endif") && open-- == 0)
            break;
        else if (open == 0 && branches && (la_word_is(w, "else") || (la_word_is(w, "elif") && condition(p))))
            break;
    }
    skip_line(p);
}

void la_directive(struct parser *p)
{
    const struct word w = directive(p);
    bool taken = true;
    if (la_word_is(w, "if"))
        taken = condition(p);
    else if (la_word_is(w, "ifdef"))
        taken = is_defined(p, word_here(p));
    else if (la_word_is(w, "ifndef"))
        taken = !is_defined(p, word_here(p));
    else if (la_word_is(w, "else") || la_word_is(w, "elif"))
        skip_group(p, false); /* what came before was taken */
    if (!taken)
        skip_group(p, true);
    skip_line(p);
}

/* define = "#define" NAME ["(" parameters ")"] text */
static void define(struct la_execution *x)
{
    struct parser *p = &x->parser;
    struct la_definition d = {.kind = LA_MACRO, .name = word_here(p)};
    if (p->text[p->at] == '(') {
        d.parameters = p->at;
        la_skip_brackets(p);
    }
    skip_spaces(p);
    d.body = p->at;
    skip_line(p);
    d.end = p->at;
    if (d.name.len)
        la_define(x, d);
}

void la_collect_macros(struct la_execution *x)
{
    struct parser *p = &x->parser;
    for (p->at = 0; p->at < p->len; p->at += p->at < p->len) {
        const size_t start = p->at;
        if (la_word_is(directive(p), "define")) {
            define(x);
        } else {
            p->at = start;
            skip_spaces(p);
            if (p->text[p->at] == '#')
                la_directive(p);
        }
        skip_line(p);
    }
    p->at = 0;
}
