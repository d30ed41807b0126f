/* scan.c: the characters of a text: blanks and comments, words, integers in their many spellings.
 *
 *     3  0x10  0b11  1'000  3u     run-time (or static, see la_integers)        _3  _-3  _m3  3_c     static */
#include "parse.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

_Noreturn void la_syntax(struct parser *p, size_t at, size_t len, enum la_error_code code, const char *format,
                         ...)
{
    char message[sizeof p->cx->error.message];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    at = at < p->len ? at : p->len; /* an error at the end of the text points there */
    const struct la_span span = {at, len < p->len - at ? len : p->len - at};
    p->cx->call = NULL;
    p->cx->spans = &span;
    p->cx->blame = -1;
    la_fail(p->cx, code, "%s", message);
}

static bool is_word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool begins_line(struct parser *p)
{
    size_t i = p->at;
    while (i > 0 && (p->text[i - 1] == ' ' || p->text[i - 1] == '\t'))
        i--;
    return i == 0 || p->text[i - 1] == '\n';
}

void la_skip_blanks(struct parser *p)
{
    while (p->at + 1 != p->stop) {
        const char c = p->text[p->at], next = c ? p->text[p->at + 1] : '\0';
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
            p->at++;
        } else if (c == '\\' && (next == '\n' || next == '\r')) { /* the line goes on */
            p->at += 2;
        } else if (c == '/' && next == '/') {
            while (p->at < p->len && p->text[p->at] != '\n')
                p->at++;
        } else if (c == '#' && begins_line(p)) {
            la_directive(p);
        } else if (c == '/' && next == '*') {
            const char *end = strstr(p->text + p->at + 2, "*/");
            if (!end)
                la_syntax(p, p->at, 2, LA_E_syntax, "this comment is not closed");
            p->at = (size_t)(end - p->text) + 2;
        } else {
            return;
        }
    }
}

/* What stands here, for a message: a word, a character or the end. */
static const char *found(struct parser *p, size_t *len)
{
    *len = p->at < p->len;
    if (p->at >= p->len)
        return "the end of the text";
    size_t n = 0;
    while (is_word_char(p->text[p->at + n]))
        n++;
    const unsigned char c = (unsigned char)p->text[p->at];
    if (n == 0 && c >= 0x80) { /* show a whole UTF-8 character */
        for (n = 1; ((unsigned char)p->text[p->at + n] & 0xC0) == 0x80; n++)
            ;
    }
    *len = n ? n : 1;
    if (n == 0 && c < 0x20)
        return la_format(p->cx, "the control character 0x%02x", c);
    return la_format(p->cx, "'%.*s'", (int)(*len > 40 ? 40 : *len), p->text + p->at);
}

void la_expect(struct parser *p, char c, const char *where)
{
    if (la_accept(p, c))
        return;
    size_t len;
    const char *what = found(p, &len);
    la_syntax(p, p->at, len, LA_E_syntax, "expected '%c' %s, found %s", c, where, what);
}

bool la_accept_word(struct parser *p, const char *word)
{
    la_skip_space(p);
    if (p->text[p->at] != word[0])
        return false;
    const size_t n = strlen(word);
    if (strncmp(p->text + p->at, word, n) != 0 || is_word_char(p->text[p->at + n]))
        return false;
    p->at += n;
    return true;
}

static bool is_namespace(struct parser *p, struct word w)
{
    return la_word_is(w, "cute") || la_word_is(w, "std") || la_word_is(w, "cutlass") || la_is_namespace(p, w);
}

bool la_word(struct parser *p, struct word *out)
{
    la_skip_space(p);
    for (;;) {
        size_t n = 0;
        const char *s = p->text + p->at;
        if (isalpha((unsigned char)s[0]) || s[0] == '_')
            while (is_word_char(s[n]))
                n++;
        if (n == 0)
            return false;
        *out = (struct word){s, p->at, n};
        if (s[n] != ':' || s[n + 1] != ':' || !is_namespace(p, *out)) {
            p->at += n;
            return true;
        }
        p->at += n + 2;
    }
}

/* The nearest of the operations, the types, the names in sight and the atoms. */
static const char *nearest_name(struct parser *p, struct word w)
{
    const char *nearest = NULL, *spelling, *const op = la_op_nearest(w.text, w.len);
    size_t least = SIZE_MAX;
    if (op)
        la_name_nearer(w.text, w.len, op, &nearest, &least);
    for (size_t i = 0; (spelling = la_spelling_at(i)); i++)
        la_name_nearer(w.text, w.len, spelling, &nearest, &least);
    for (const struct la_binding *b = p->names; b; b = b->next)
        la_name_nearer(w.text, w.len, b->name, &nearest, &least);
    return nearest ? nearest : la_atom_nearest(p->cx, w.text, w.len);
}

_Noreturn void la_unknown(struct parser *p, struct word w)
{
    const char *nearest = p->attempts ? NULL : nearest_name(p, w);
    la_syntax(p, w.at, w.len, LA_E_unknown_name, "unknown name '%.*s'%s", (int)(w.len > 80 ? 80 : w.len),
              w.text, nearest ? la_format(p->cx, "; did you mean '%s'?", nearest) : "");
}

/* Digits in base 2, 10 or 16 with ' between them; false when they pass 64 bits. */
static bool digits(struct parser *p, int64_t *value)
{
    int base = 10;
    const char *s = p->text + p->at;
    if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X' || s[1] == 'b' || s[1] == 'B')) {
        base = s[1] == 'x' || s[1] == 'X' ? 16 : 2;
        p->at += 2;
    }
    bool fits = true;
    *value = 0;
    const size_t start = p->at;
    for (;; p->at++) {
        const char c = p->text[p->at];
        if (c == '\'' && isxdigit((unsigned char)p->text[p->at + 1]))
            continue;
        const int d = isdigit((unsigned char)c)    ? c - '0'
                      : isxdigit((unsigned char)c) ? tolower(c) - 'a' + 10
                                                   : 99;
        if (d >= base)
            break;
        fits = fits && !__builtin_mul_overflow(*value, base, value) &&
               !__builtin_add_overflow(*value, d, value);
    }
    if (p->at == start)
        la_syntax(p, start - 2, 2, LA_E_syntax, "digits must follow '%.2s'", p->text + start - 2);
    return fits;
}

/* Behind the digits of 1.5 1.f 1e-9: a float, which is data. */
static bool is_fraction(const char *s, char first)
{
    if (!isdigit((unsigned char)first))
        return false;
    const char then = s[0] ? s[1] : '\0';
    return (s[0] == '.' && (then == 'f' || !isalpha((unsigned char)then))) ||
           ((s[0] == 'e' || s[0] == 'E') && (isdigit((unsigned char)then) || then == '-' || then == '+'));
}

const struct la_node *la_literal(struct parser *p)
{
    la_skip_space(p);
    const size_t start = p->at;
    const char *s = p->text + start;
    bool is_static = p->static_integers || p->templates > 0, negative = false;
    if (s[0] == '_') {
        negative = s[1] == '-' || (s[1] == 'm' && isdigit((unsigned char)s[2]));
        if (!isdigit((unsigned char)s[1 + negative]))
            return NULL;
        is_static = true;
        p->at += 1 + (size_t)negative;
    } else if (!isdigit((unsigned char)s[0])) {
        return NULL;
    }
    int64_t value;
    const bool fits = digits(p, &value);
    if (is_fraction(p->text + p->at, s[0])) {
        p->at = start;
        return NULL;
    }
    if (strncmp(p->text + p->at, "_c", 2) == 0 && !is_word_char(p->text[p->at + 2])) {
        is_static = true;
        p->at += 2;
    }
    while (strchr("uUlLzZ", p->text[p->at]) && p->text[p->at])
        p->at++;
    if (is_word_char(p->text[p->at])) {
        size_t len;
        const char *what = found(p, &len);
        la_syntax(p, p->at, len, LA_E_syntax, "%s cannot follow a number", what);
    }
    if (!fits)
        la_syntax(p, start, p->at - start, LA_E_overflow, "the number %.*s does not fit in 64 bits",
                  (int)(p->at - start > 60 ? 60 : p->at - start), s);
    return la_int(p->cx, negative ? -value : value, is_static);
}
