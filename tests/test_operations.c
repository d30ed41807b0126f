/* test_operations.c: docs/operations.md is the table of operations, and nothing else.
 *
 * `test_operations --write > docs/operations.md` makes it anew (make docs); as a test it compares. */
#include "la.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ARENA_LIMIT = 64 << 20 /* the text is copied as it grows */ };

static const char *signature(struct la_ctx *cx, const struct la_op *op)
{
    const char *s = la_format(cx, "%s%s(", op->name, op->template_params ? op->template_params : "");
    for (int i = 0; i < LA_MAX_PARAMS && op->params[i].name; i++) {
        const unsigned kinds = op->params[i].kinds;
        s = la_format(cx, "%s%s%s%s%s", s, i ? ", " : "", op->params[i].name,
                      kinds & LA_VARIADIC ? "..." : "", kinds & LA_OPTIONAL ? "?" : "");
    }
    return la_format(cx, "%s)", s);
}

/* A bar ends a cell of the table. */
static const char *cell(struct la_ctx *cx, const char *text)
{
    const char *out = "";
    for (const char *bar; (bar = strchr(text, '|')); text = bar + 1)
        out = la_format(cx, "%s%.*s\\|", out, (int)(bar - text), text);
    return la_format(cx, "%s%s", out, text);
}

static const char *document(struct la_ctx *cx)
{
    const char *text =
        "# The operations\n\n"
        "Each is a function of the notation, a method (`a.compose(b)`), and an address (`/ops/NAME`). "
        "`?` may be left out. Made by `make docs` from the table in core.\n\n"
        "| operation | what it gives | example | answer |\n|---|---|---|---|\n";
    const struct la_op *op;
    for (size_t i = 0; (op = la_op_at(i)); i++)
        text = la_format(cx, "%s| `%s` | %s%s%s%s | `%s` | `%s` |\n", text, signature(cx, op),
                         cell(cx, op->doc), op->law ? " *" : "", op->law ? cell(cx, op->law) : "",
                         op->law ? "*" : "", cell(cx, op->example), cell(cx, op->result));
    return text;
}

static void is_the_document(void **state)
{
    (void)state;
    struct la_arena *arena = la_arena_new(ARENA_LIMIT);
    struct la_ctx cx = {.arena = arena};
    const char *want = document(&cx);
    char *got = calloc(1, ARENA_LIMIT);
    FILE *f = fopen("docs/operations.md", "r");
    assert_non_null(f);
    got[fread(got, 1, ARENA_LIMIT - 1, f)] = '\0';
    fclose(f);
    if (strcmp(got, want) != 0)
        fail_msg("docs/operations.md is not the table of operations: run make docs");
    free(got);
    la_arena_free(arena);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--write") == 0) {
        struct la_arena *arena = la_arena_new(ARENA_LIMIT);
        struct la_ctx cx = {.arena = arena};
        fputs(document(&cx), stdout);
        la_arena_free(arena);
        return 0;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(is_the_document)};
    const int failed = cmocka_run_group_tests_name("operations", tests, NULL, NULL);
    printf("%d passed, %d failed\n", 1 - failed, failed);
    return failed != 0;
}
