/* test_language.c: docs/language.md says what is so: each ```cpp block, evaluated, gives the ```text block behind it: what
 * it prints, or its value where it prints nothing, or the message of its refusal. */
#include "la.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ARENA_LIMIT = 16 << 20, DOCUMENT_BYTES = 1 << 16, FEWEST_BLOCKS = 7 };

/* The text up to the next fence, which *at is moved behind. */
static const char *block(struct la_ctx *cx, const char **at)
{
    const char *end = strstr(*at, "```");
    assert_non_null(end);
    const char *text = la_format(cx, "%.*s", (int)(end - *at), *at);
    *at = end + 3;
    return text;
}

static const char *answer(struct la_ctx *cx, const char *program)
{
    struct la_program out;
    const char *text = "";
    if (!la_eval(cx, program, LA_INTEGERS_AUTO, &out))
        return la_format(cx, "%s\n", cx->error.message);
    for (const struct la_binding *b = out.prints; b; b = b->next)
        text = la_format(cx, "%s%s\n", text, la_print(cx, &b->value, LA_SPELL_CUTE));
    return out.prints ? text : la_format(cx, "%s\n", la_print(cx, &out.value, LA_SPELL_CUTE));
}

static void blocks_hold(void **state)
{
    static const char code[] = "```cpp\n", result[] = "```text\n";
    static char document[DOCUMENT_BYTES];
    (void)state;
    struct la_ctx cx = {.arena = la_arena_new(ARENA_LIMIT)};
    FILE *f = fopen("docs/language.md", "r");
    assert_non_null(f);
    document[fread(document, 1, sizeof document - 1, f)] = '\0';
    fclose(f);
    int n = 0;
    for (const char *at = document; (at = strstr(at, code)); n++) {
        at += strlen(code);
        const char *program = block(&cx, &at);
        at = strstr(at, result);
        assert_non_null(at);
        at += strlen(result);
        const char *want = block(&cx, &at);
        assert_string_equal(answer(&cx, program), want);
    }
    assert_true(n >= FEWEST_BLOCKS);
    la_arena_free(cx.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(blocks_hold)};
    const int failed = cmocka_run_group_tests_name("language", tests, NULL, NULL);
    printf("%d passed, %d failed\n", 1 - failed, failed);
    return failed != 0;
}
