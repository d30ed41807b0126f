/* fuzz_eval.c: any text is an answer or an error with a position inside it; what is printed parses to the same. */
#include "la.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_LIMIT = 4 << 20, MAX_CELLS = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Printing may pass the arena's limit: it runs inside an entry. */
static void check_answer(struct la_ctx *cx, void *arg)
{
    const struct la_program *answer = arg;
    const char *printed = la_print(cx, &answer->value, LA_SPELL_CUTE);
    struct la_table table;
    if (answer->value.kind & LA_K_ANYLAYOUT)
        la_table(cx, answer->value.layout, MAX_CELLS, &table);
    if (answer->value.kind & (LA_K_TYPE | LA_K_ATOM | LA_K_TILED_COPY | LA_K_TILED_MMA))
        return;
    struct la_program again;
    if (!la_eval(cx, printed, LA_INTEGERS_CUTE, &again)) {
        if (cx->error.code != LA_E_limit)
            abort();
    } else if (strcmp(la_print(cx, &again.value, LA_SPELL_CUTE), printed) != 0) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    for (int mode = LA_INTEGERS_AUTO; mode <= LA_INTEGERS_STATIC; mode++) {
        struct la_arena *arena = la_arena_new(ARENA_LIMIT);
        struct la_ctx cx = {.arena = arena};
        struct la_program answer;
        if (la_eval(&cx, text, (enum la_integers)mode, &answer))
            la_try(&cx, check_answer, &answer);
        else if (!cx.error.message[0] || (cx.error.has_position && cx.error.at + cx.error.len > strlen(text)))
            abort();
        la_arena_free(arena);
    }
    free(text);
    return 0;
}
