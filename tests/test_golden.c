/* test_golden.c: each line of the files of tests/golden is a test of its own, named after its id.
 *
 *     {"id":"product-0048","expr":"...","value":"(_2,_3):(_1,_2)"}     CuTe's spelling of the answer
 *     {"id":"edges-0001","expr":"...","text":"(2,3):(1,2)","integers":"static"}   without underscores
 *     {"id":"divide-0008","expr":"...","error":"rank_mismatch"}        the code of the refusal; "*": any
 *
 *     {"id":"programs-0001","expr":"...","prints":[["x","_8:_1"],...]}  each print of a program, in order
 *     {..., "names":{"x":"_8:_1"}}                                     what variables hold at its end
 *     {"id":"programs-0050","expr":"...","error":"...","position":[9,20]}  the bytes that the refusal points at
 *     {..., "true_function":false}                                     the answer is CuTe's, and breaks its own law
 *
 * Integers are read as "cute" unless the line says otherwise. Each value that is printed is also parsed again and must
 * print the same: parse(print(v)) = v. And each documented example of the operation table gives its result.
 * `test_golden FILE...` runs other files, `-v` names each test. */
#include "la.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    ARENA_LIMIT = 64 << 20,
    MAX_FILES = 64,
    MAX_FIT = 1 << 14, /* cells of a layout that is fitted again */
};

struct line {
    char *id, *expr, *value, *text, *error;
    cJSON *prints, *names, *position; /* or NULL */
    bool flagged, true_function;      /* the line says whether the answer is the true function */
    enum la_integers integers;
};

struct lines {
    struct line *at;
    size_t n, cap;
};

static char *copy_of(const cJSON *object, const char *key)
{
    const cJSON *s = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsString(s) ? strdup(s->valuestring) : NULL;
}

static void add_line(struct lines *lines, const char *file, size_t number, const char *json)
{
    cJSON *object = cJSON_Parse(json);
    if (lines->n == lines->cap) {
        lines->cap = lines->cap ? lines->cap * 2 : 1024;
        lines->at = realloc(lines->at, lines->cap * sizeof *lines->at);
    }
    struct line *line = &lines->at[lines->n++];
    *line = (struct line){.id = copy_of(object, "id"),
                          .expr = copy_of(object, "expr"),
                          .value = copy_of(object, "value"),
                          .text = copy_of(object, "text"),
                          .error = copy_of(object, "error"),
                          .prints = cJSON_DetachItemFromObjectCaseSensitive(object, "prints"),
                          .names = cJSON_DetachItemFromObjectCaseSensitive(object, "names"),
                          .position = cJSON_DetachItemFromObjectCaseSensitive(object, "position"),
                          .integers = LA_INTEGERS_CUTE};
    const cJSON *truth = cJSON_GetObjectItemCaseSensitive(object, "true_function");
    line->flagged = cJSON_IsBool(truth);
    line->true_function = cJSON_IsTrue(truth);
    const cJSON *integers = cJSON_GetObjectItemCaseSensitive(object, "integers");
    if (cJSON_IsString(integers))
        line->integers = strcmp(integers->valuestring, "static") == 0 ? LA_INTEGERS_STATIC
                         : strcmp(integers->valuestring, "auto") == 0 ? LA_INTEGERS_AUTO
                                                                      : LA_INTEGERS_CUTE;
    if (!line->id || !line->expr || !(line->value || line->text || line->error || line->prints)) {
        fprintf(stderr, "%s:%zu: not a golden line: %s\n", file, number, json);
        exit(2);
    }
    cJSON_Delete(object);
}

static void read_file(struct lines *lines, const char *path)
{
    FILE *f = fopen(path, "r");
    if (!f) {
        perror(path);
        exit(2);
    }
    char *text = NULL;
    size_t cap = 0, number = 0;
    while (getline(&text, &cap, f) > 0) {
        number++;
        if (strspn(text, " \t\r\n") != strlen(text))
            add_line(lines, path, number, text);
    }
    free(text);
    fclose(f);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void read_folder(struct lines *lines, const char *folder)
{
    DIR *dir = opendir(folder);
    if (!dir) {
        perror(folder);
        exit(2);
    }
    char *names[MAX_FILES] = {0};
    size_t n = 0;
    struct dirent *entry;
    while ((entry = readdir(dir)) && n < MAX_FILES) {
        const size_t len = strlen(entry->d_name);
        if (len > 6 && strcmp(entry->d_name + len - 6, ".jsonl") == 0)
            names[n++] = strdup(entry->d_name);
    }
    closedir(dir);
    qsort(names, n, sizeof *names, by_name);
    for (size_t i = 0; i < n; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        read_file(lines, path);
        free(names[i]);
    }
}

/* ---- one line ---- */

static void check_reparse(struct la_arena *arena, const char *printed)
{
    struct la_ctx cx = {.arena = arena};
    struct la_program again;
    if (!la_eval(&cx, printed, LA_INTEGERS_CUTE, &again))
        fail_msg("what was printed is refused: %s: %s", printed, cx.error.message);
    assert_string_equal(la_print(&cx, &again.value, LA_SPELL_CUTE), printed);
}

/* The law of fit: from the offsets of a layout comes the layout again, coalesced. */
static void check_fit(struct la_arena *arena, const struct la_value *v)
{
    struct la_ctx cx = {.arena = arena};
    struct la_table t;
    struct la_fit fit;
    struct la_program coalesced;
    if (v->kind != LA_K_LAYOUT || la_rank(v->layout.shape) == 0 || !la_table(&cx, v->layout, MAX_FIT, &t) ||
        t.rows < 1 || t.cols < 1)
        return;
    int64_t *flat = malloc((size_t)(t.rows * t.cols) *
                           sizeof *flat); /* in the order of the integer coordinate */
    for (int64_t r = 0; r < t.rows; r++)
        for (int64_t c = 0; c < t.cols; c++)
            flat[c * t.rows + r] = t.offsets[r * t.cols + c];
    assert_true(la_fit_table(&cx, 1, t.rows * t.cols, flat, false, &fit));
    free(flat);
    const char *text = la_print(&cx, v, LA_SPELL_TEXT);
    if (!fit.found)
        fail_msg("no layout fits the table of %s: cell %lld", text, (long long)fit.cell);
    assert_true(la_eval(&cx, la_format(&cx, "coalesce(%s)", text), LA_INTEGERS_STATIC, &coalesced));
    assert_string_equal(la_print_layout(&cx, fit.layout, LA_SPELL_CUTE),
                        la_print(&cx, &coalesced.value, LA_SPELL_CUTE));
}

/* The law of derivations: the last step is the answer. */
static void check_trace(struct la_arena *arena, const struct line *line, const char *cute)
{
    struct la_trace trace = {0};
    struct la_ctx cx = {.arena = arena, .trace = &trace};
    struct la_program out;
    assert_true(la_eval(&cx, line->expr, line->integers, &out));
    assert_non_null(trace.last);
    assert_string_equal(la_print(&cx, &trace.last->result, LA_SPELL_CUTE), cute);
}

/* The index of a counterexample is that of an element of the answer, which is what the law says that it gives. */
static void check_counterexample(struct la_ctx *cx, const struct la_check *check,
                                 const struct la_value *answer)
{
    if (check->index < 0 || answer->kind != LA_K_LAYOUT)
        return;
    char *end;
    const struct la_node index = {.value = check->index, .span = 1, .kind = LA_INT};
    const long long gives = strtoll(check->gives, &end, 10);
    assert_true(!check->holds && check->index < la_size(cx, answer->layout)->value);
    if (*end == '\0')
        assert_int_equal(la_layout_at(cx, answer->layout, &index)->value, gives);
}

/* A line that says whether the answer is the true function: the checks must find out. */
static void check_truth(struct la_arena *arena, const struct line *line, const struct la_program *program)
{
    struct la_ctx cx = {.arena = arena};
    struct la_checks checks;
    if (!la_check(&cx, line->expr, program, &checks))
        fail_msg("%s cannot be checked: %s", line->expr, cx.error.message);
    for (uint32_t i = 0; i < checks.n; i++)
        check_counterexample(&cx, &checks.at[i], &program->value);
    if (!line->flagged)
        return;
    bool holds = true;
    assert_true(checks.n > 0);
    for (uint32_t i = 0; i < checks.n; i++) {
        holds = holds && checks.at[i].holds;
        assert_true(checks.at[i].holds || (checks.at[i].at && checks.at[i].gives && checks.at[i].should));
    }
    assert_int_equal(holds, line->true_function);
    assert_true(holds || checks.advice);
}

static void check_refusal(const struct line *line, const struct la_error *error)
{
    if (strcmp(line->error, "*") != 0 && strcmp(line->error, la_error_name(error->code)) != 0)
        fail_msg("%s\n  must be refused as %s, but as %s: %s", line->expr, line->error,
                 la_error_name(error->code), error->message);
    assert_true(error->message[0] != '\0');
    assert_true(error->has_position);
    assert_true(error->at + error->len <= strlen(line->expr));
    if (!line->position)
        return;
    const int start = cJSON_GetArrayItem(line->position, 0)->valueint;
    const int end = cJSON_GetArrayItem(line->position, 1)->valueint;
    if ((int)error->at != start || (int)(error->at + error->len) != end)
        fail_msg("%s\n  must be refused at [%d,%d), but at [%zu,%zu): %s", line->expr, start, end, error->at,
                 error->at + error->len, error->message);
}

/* The prints of a program, in order, each with the text of its expression. */
static void check_prints(struct la_ctx *cx, const struct line *line, const struct la_program *out)
{
    const struct la_binding *b = out->prints;
    const cJSON *want;
    cJSON_ArrayForEach (want, line->prints) {
        if (!b)
            fail_msg("%s\n  does not print %s", line->expr, cJSON_GetArrayItem(want, 0)->valuestring);
        assert_string_equal(b->name, cJSON_GetArrayItem(want, 0)->valuestring);
        assert_string_equal(la_print(cx, &b->value, LA_SPELL_CUTE), cJSON_GetArrayItem(want, 1)->valuestring);
        b = b->next;
    }
    if (line->prints && b)
        fail_msg("%s\n  prints %s, too", line->expr, b->name);
}

static void check_names(struct la_ctx *cx, const struct line *line, const struct la_program *out)
{
    const cJSON *want;
    cJSON_ArrayForEach (want, line->names) {
        const struct la_binding *b = out->names;
        while (b && strcmp(b->name, want->string) != 0)
            b = b->next;
        assert_non_null(b);
        assert_string_equal(la_print(cx, &b->value, LA_SPELL_CUTE), want->valuestring);
    }
}

static void check_line(void **state)
{
    const struct line *line = *state;
    struct la_arena *arena = la_arena_new(ARENA_LIMIT);
    struct la_ctx cx = {.arena = arena};
    struct la_program out;
    const bool ok = la_eval(&cx, line->expr, line->integers, &out);
    if (line->error) {
        if (ok)
            fail_msg("%s\n  must be refused (%s), but is %s", line->expr, line->error,
                     la_print(&cx, &out.value, LA_SPELL_CUTE));
        check_refusal(line, &cx.error);
    } else {
        if (!ok)
            fail_msg("%s\n  is refused: %s: %s", line->expr, la_error_name(cx.error.code), cx.error.message);
        const char *cute = la_print(&cx, &out.value, LA_SPELL_CUTE);
        const char *got = line->text ? la_print(&cx, &out.value, LA_SPELL_TEXT) : cute;
        const char *want = line->text ? line->text : line->value;
        if (want && strcmp(got, want) != 0)
            fail_msg("%s\n  want %s\n  got  %s", line->expr, want, got);
        if (!(out.value.kind & (LA_K_TYPE | LA_K_TILED_COPY | LA_K_TILED_MMA | LA_K_ATOM)))
            check_reparse(arena, cute);
        check_prints(&cx, line, &out);
        check_names(&cx, line, &out);
        check_fit(arena, &out.value);
        check_trace(arena, line, cute);
        check_truth(arena, line, &out);
    }
    la_arena_free(arena);
}

/* ---- the operation table ---- */

static void add_example(struct lines *lines, const struct la_op *op)
{
    if (lines->n == lines->cap) {
        lines->cap *= 2;
        lines->at = realloc(lines->at, lines->cap * sizeof *lines->at);
    }
    char id[128];
    snprintf(id, sizeof id, "example of %s", op->name);
    lines->at[lines->n++] = (struct line){.id = strdup(id),
                                          .expr = strdup(op->example),
                                          .value = strdup(op->result),
                                          .integers = LA_INTEGERS_CUTE};
}

static void check_table(void **state)
{
    (void)state;
    const struct la_op *op;
    size_t i = 0;
    for (; (op = la_op_at(i)); i++) {
        assert_non_null(op->doc);
        assert_non_null(op->run);
        assert_non_null(op->example);
        assert_non_null(op->result);
        assert_ptr_equal(la_op_find(op->name, strlen(op->name)), op);
    }
    assert_true(i > 50);
}

int main(int argc, char **argv)
{
    struct lines lines = {0};
    const char *root = getenv("GOLDEN") ? getenv("GOLDEN") : "tests/golden";
    for (int i = 1; i < argc; i++)
        read_file(&lines, argv[i]);
    if (argc == 1) {
        read_folder(&lines, root);
        const struct la_op *op;
        for (size_t i = 0; (op = la_op_at(i)); i++)
            add_example(&lines, op);
    }
    struct CMUnitTest *tests = calloc(lines.n + 1, sizeof *tests);
    for (size_t i = 0; i < lines.n; i++)
        tests[i] = (struct CMUnitTest){
            .name = lines.at[i].id, .test_func = check_line, .initial_state = &lines.at[i]};
    tests[lines.n] = (struct CMUnitTest){.name = "the operation table", .test_func = check_table};
    const int failed = _cmocka_run_group_tests("golden", tests, lines.n + 1, NULL, NULL);
    printf("%zu passed, %d failed\n", lines.n + 1 - (size_t)failed, failed);
    for (size_t i = 0; i < lines.n; i++) {
        free(lines.at[i].id);
        free(lines.at[i].expr);
        free(lines.at[i].value);
        free(lines.at[i].text);
        free(lines.at[i].error);
        cJSON_Delete(lines.at[i].prints);
        cJSON_Delete(lines.at[i].names);
        cJSON_Delete(lines.at[i].position);
    }
    free(lines.at);
    free(tests);
    return failed != 0;
}
