/* text.c: text that grows in the arena, and maps as C expressions. What generated code is printed with. */
#include "internal.h"

#include <stdarg.h>
#include <string.h>

enum { FIRST_BYTES = 4096 }; /* a kernel is 2 to 5 KB */

static void text_room(struct gpu_text *text, size_t more)
{
    if (text->len + more < text->cap)
        return;
    size_t cap = text->cap ? text->cap * 2 : FIRST_BYTES;
    while (cap <= text->len + more)
        cap *= 2;
    char *data = la_alloc(text->cx, cap);
    if (text->len)
        memcpy(data, text->data, text->len);
    text->data = data;
    text->cap = cap;
}

void gpu_text_add(struct gpu_text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0)
        la_fail(text->cx, LA_E_limit, "a line of generated code could not be printed");
    text_room(text, (size_t)n + 1);
    va_start(args, format);
    vsnprintf(text->data + text->len, (size_t)n + 1, format, args);
    va_end(args);
    text->len += (size_t)n;
}

void gpu_text_map(struct gpu_text *text, struct gpu_map map, const char *variable)
{
    const char *plus = "";
    int64_t divisor = 1;
    for (uint32_t i = 0; i < map.count; divisor *= map.modes[i].extent, i++) {
        const struct gpu_mode *m = &map.modes[i];
        if (!m->stride)
            continue;
        gpu_text_add(text, "%s%s", plus, variable);
        if (divisor > 1)
            gpu_text_add(text, " / %lld", (long long)divisor);
        if (i + 1 < map.count)
            gpu_text_add(text, " %% %lld", (long long)m->extent);
        if (m->stride != 1)
            gpu_text_add(text, " * %lld", (long long)m->stride);
        plus = " + ";
    }
    if (!*plus)
        gpu_text_add(text, "0");
}
