/* skip.c: text that is passed over: strings, brackets, template arguments, whole statements.
 *
 * A branch that is not taken, a function that is only defined, the initial value of host data: only where
 * such a text ends matters. Brackets must balance; strings, comments and what an #if leaves out count as
 * nothing. */
#include "program.h"

#include <ctype.h>
#include <string.h>

bool la_skip_string(struct parser *p)
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

/* A word or a number: 1'000 holds no character. */
static bool skip_word(struct parser *p)
{
    const char *s = p->text + p->at;
    size_t n = 0;
    while (isalnum((unsigned char)s[n]) || s[n] == '_' ||
           (n > 0 && s[n] == '\'' && isdigit((unsigned char)s[0]) && isxdigit((unsigned char)s[n + 1])))
        n++;
    p->at += n;
    return n > 0;
}

void la_skip_brackets(struct parser *p)
{
    const size_t start = p->at;
    for (int open = 0;;) {
        if (la_skip_string(p) || skip_word(p))
            continue;
        const char c = p->text[p->at];
        if (p->at >= p->len)
            la_syntax(p, start, 1, LA_E_syntax, "this '%c' is not closed", p->text[start]);
        p->at++;
        open += (c == '(') + (c == '[') + (c == '{') - (c == ')') - (c == ']') - (c == '}');
        if (open == 0)
            return;
    }
}

bool la_skip_to(struct parser *p, const char *stops)
{
    for (;;) {
        if (la_skip_string(p) || skip_word(p))
            continue;
        const char c = p->text[p->at];
        if (p->at >= p->len)
            return false;
        if (strchr(stops, c))
            return true;
        if (strchr(")]}", c))
            return false;
        if (strchr("([{", c))
            la_skip_brackets(p);
        else
            p->at++;
    }
}

bool la_skip_angles(struct parser *p)
{
    const size_t start = p->at;
    for (int open = 0; la_skip_to(p, "<>;");) {
        const char c = p->text[p->at];
        if (c == ';')
            break;
        if (c == '<' || p->text[p->at - 1] != '-') /* not an arrow */
            open += c == '<' ? 1 : -1;
        p->at++;
        if (open == 0)
            return true;
    }
    p->at = start;
    return false;
}

bool la_skip_typed_to(struct parser *p, const char *stops)
{
    char all[8] = "<";
    strncat(all, stops, sizeof all - 2);
    while (la_skip_to(p, all)) {
        if (p->text[p->at] != '<')
            return true;
        if (!la_skip_angles(p))
            p->at++;
    }
    return false;
}

/* The pointer of make_tensor(pointer, ...), whatever it is. */
struct la_span la_skip_pointer(struct parser *p)
{
    la_skip_space(p);
    const size_t start = p->at;
    la_skip_typed_to(p, ",");
    const struct la_span span = {start, p->at - start};
    if (!la_accept(p, ',') && !la_next_is(p, ')'))
        la_expect(p, ')', "behind a pointer");
    return span;
}

/* controlled = ("if" | "for" | "while" | "switch") "(" ... ")" statement ["else" statement] */
static bool skip_controlled(struct parser *p)
{
    static const char *const heads[] = {"if", "for", "while", "switch"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        if (!la_accept_word(p, heads[i]))
            continue;
        la_accept_word(p, "constexpr");
        if (la_next_is(p, '('))
            la_skip_brackets(p);
        la_skip_statement(p);
        if (i == 0 && la_accept_word(p, "else"))
            la_skip_statement(p);
        return true;
    }
    return false;
}

void la_skip_statement(struct parser *p)
{
    la_deeper(p);
    if (la_next_is(p, '{')) {
        la_skip_brackets(p);
    } else if (!skip_controlled(p)) {
        if (la_accept_word(p, "do"))
            la_skip_statement(p);
        if (la_skip_to(p, ";"))
            p->at++;
    }
    p->cx->depth--;
}
