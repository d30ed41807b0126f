/* error.c: one type of error, one list of codes, one way out.
 *
 * la_fail fills cx->error and leaves by longjmp to the public entry that runs. That is safe because core owns nothing
 * but arena memory. A message is a sentence that names the operation and shows the values that clash. */
#include "internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *la_error_name(enum la_error_code code)
{
    static const char *const names[] = {"ok",
#define X(code, title) #code,
                                        LA_ERRORS(X)
#undef X
    };
    return (size_t)code < sizeof names / sizeof *names ? names[code] : "unknown";
}

/* Cut a message that did not fit at a whole UTF-8 character and show that it was cut. */
static void mark_cut(char *message, size_t size)
{
    size_t end = size - 4;
    while (end > 0 && ((unsigned char)message[end] & 0xC0) == 0x80)
        end--;
    memcpy(message + end, "...", 4);
}

_Noreturn void la_fail(struct la_ctx *cx, enum la_error_code code, const char *format, ...)
{
    struct la_error *e = &cx->error;
    e->code = code;
    e->has_position = cx->spans != NULL;
    if (cx->spans) {
        const struct la_span span = cx->spans[cx->blame + 1];
        e->at = span.at;
        e->len = span.len;
    }
    int n = 0;
    if (cx->call && code != LA_E_syntax)
        n = snprintf(e->message, sizeof e->message, "%s: ", cx->call->op->name);
    va_list args;
    va_start(args, format);
    int m = vsnprintf(e->message + n, sizeof e->message - (size_t)n, format, args);
    va_end(args);
    if (m < 0)
        e->message[n] = '\0';
    else if ((size_t)(n + m) >= sizeof e->message)
        mark_cut(e->message, sizeof e->message);
    longjmp(*cx->escape, 1);
}

bool la_try(struct la_ctx *cx, void (*body)(struct la_ctx *cx, void *arg), void *arg)
{
    jmp_buf here;
    jmp_buf *const outer = cx->escape;
    const struct la_ctx saved = {
        .call = cx->call, .spans = cx->spans, .blame = cx->blame, .depth = cx->depth, .trace = cx->trace};
    cx->blame = -1;
    cx->escape = &here;
    const bool ok = setjmp(here) == 0;
    if (ok) {
        cx->error = (struct la_error){0};
        body(cx, arg);
    }
    cx->escape = outer;
    cx->call = saved.call;
    cx->spans = saved.spans;
    cx->blame = saved.blame;
    cx->depth = saved.depth;
    cx->trace = saved.trace;
    return ok;
}

void *la_alloc(struct la_ctx *cx, size_t size)
{
    void *p = la_arena_alloc(cx->arena, size);
    if (!p)
        la_fail(cx, LA_E_limit, "the answer needs more memory than one request may use");
    return p;
}

const char *la_format(struct la_ctx *cx, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = la_alloc(cx, (size_t)n + 1);
    vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    return text;
}
