/* test_http.c: requests and their answers, one by one.
 *
 * All of it is data: a line of a .jsonl file in tests/http is a request and what its answer must be, and a test of its own:
 *     {"id":"arity","query":{"expr":"size()"},"status":422,"code":"arity","in":"expr","position":[0,6]}
 * A request is `method` (GET, or POST when there is a body), `path` (/eval), `query` (encoded here), `headers`, `body`
 * (an object: JSON; a text; or parts of which [text,n] is repeated); or `raw`, all its bytes. In texts of body and
 * raw a character stands for the byte of its number modulo 256, so that any byte can be written; U+0100 is NUL.
 * An answer is held to `status`, `code`, `in`, `position`, `contains` (in the body), `header`, and `json`: members that
 * the body must have. Every refusal must be well-formed problem+json, unless `html` says that libmicrohttpd answers.
 * What takes more than one request is in test_http_flows.c. */
#include "http_client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cjson/cJSON.h>
#include <glob.h>

static struct daemon daemon_under_test;

/* ---- a request from its line -------------------------------------------------------------------------------- */

static const char *text_of(const cJSON *line, const char *name)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(line, name));
}

/* One byte a character. */
static void add_latin(struct bytes *out, const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        unsigned point = *p;
        if (point >= 0xC0) { /* two bytes of UTF-8 are enough for U+0100 */
            point = (point & 0x1F) << 6 | (p[1] & 0x3F);
            p++;
        }
        char byte = (char)point;
        bytes_add(out, &byte, 1);
    }
}

/* A text, or an array of texts and of [text, times]. */
static void add_parts(struct bytes *out, const cJSON *parts)
{
    if (cJSON_IsString(parts)) {
        add_latin(out, parts->valuestring);
        return;
    }
    const cJSON *part;
    cJSON_ArrayForEach (part, parts) {
        int times = cJSON_IsArray(part) ? cJSON_GetArrayItem(part, 1)->valueint : 1;
        const cJSON *text = cJSON_IsArray(part) ? cJSON_GetArrayItem(part, 0) : part;
        while (times-- > 0)
            add_latin(out, text->valuestring);
    }
}

static void add_encoded(struct bytes *out, const char *text)
{
    for (; *text; text++) {
        char code[4];
        snprintf(code, sizeof code, "%%%02X", (unsigned)(unsigned char)*text);
        bytes_add(out, code, 3);
    }
}

static void add_query(struct bytes *out, const cJSON *query)
{
    const cJSON *parameter;
    const char *separator = "?";
    cJSON_ArrayForEach (parameter, query) {
        bytes_text(out, separator);
        bytes_text(out, parameter->string);
        bytes_text(out, "=");
        if (cJSON_IsString(parameter))
            add_encoded(out, parameter->valuestring);
        separator = "&";
    }
}

static struct bytes body_of(const cJSON *line)
{
    struct bytes body = {0};
    const cJSON *given = cJSON_GetObjectItemCaseSensitive(line, "body");
    bytes_add(&body, "", 0);
    if (cJSON_IsObject(given)) {
        char *json = cJSON_PrintUnformatted(given);
        bytes_text(&body, json);
        cJSON_free(json);
    } else if (given) {
        add_parts(&body, given);
    }
    return body;
}

static struct bytes request_of(const cJSON *line)
{
    struct bytes out = {0};
    const cJSON *raw = cJSON_GetObjectItemCaseSensitive(line, "raw"), *header;
    if (raw) {
        add_parts(&out, raw);
        return out;
    }
    const bool has_body = cJSON_HasObjectItem(line, "body");
    const char *method = text_of(line, "method"), *path = text_of(line, "path");
    struct bytes body = body_of(line);
    char length[64];
    bytes_text(&out, method ? method : has_body ? "POST" : "GET");
    bytes_text(&out, " ");
    bytes_text(&out, path ? path : "/eval");
    add_query(&out, cJSON_GetObjectItemCaseSensitive(line, "query"));
    bytes_text(&out, " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
    cJSON_ArrayForEach (header, cJSON_GetObjectItemCaseSensitive(line, "headers")) {
        bytes_text(&out, header->string);
        bytes_text(&out, ": ");
        add_latin(&out, header->valuestring);
        bytes_text(&out, "\r\n");
    }
    if (has_body) {
        snprintf(length, sizeof length, "Content-Length: %zu\r\n", body.len);
        bytes_text(&out, length);
    }
    bytes_text(&out, "\r\n");
    bytes_add(&out, body.data, body.len);
    free(body.data);
    return out;
}

/* ---- what its answer must be -------------------------------------------------------------------------------- */

static void expect_text(const cJSON *got, const char *name, const char *wanted)
{
    const char *text = text_of(got, name);
    if (!text || strcmp(text, wanted) != 0)
        fail_msg("%s is %s, not %s", name, text ? text : "absent", wanted);
}

/* Every problem has these, and they agree. */
static void check_problem(const struct answer *a, const cJSON *json)
{
    char type[128];
    const char *code = text_of(json, "code"), *media_type = answer_header(a, "Content-Type");
    assert_non_null(media_type);
    assert_string_equal(media_type, "application/problem+json");
    assert_non_null(code);
    assert_non_null(text_of(json, "title"));
    assert_non_null(text_of(json, "detail"));
    snprintf(type, sizeof type, "/problems/%s", code);
    expect_text(json, "type", type);
    assert_int_equal(cJSON_GetObjectItemCaseSensitive(json, "status")->valueint, a->status);
}

static void check_position(const cJSON *json, const cJSON *wanted)
{
    const cJSON *got = cJSON_GetObjectItemCaseSensitive(json, "position");
    if (!wanted)
        return;
    if (cJSON_IsNull(wanted)) {
        assert_null(got);
        return;
    }
    assert_non_null(got);
    int start = cJSON_GetObjectItemCaseSensitive(got, "start")->valueint;
    int end = cJSON_GetObjectItemCaseSensitive(got, "end")->valueint;
    if (start != cJSON_GetArrayItem(wanted, 0)->valueint || end != cJSON_GetArrayItem(wanted, 1)->valueint)
        fail_msg("position is [%d,%d]: %s", start, end, text_of(json, "detail"));
}

static void check_contains(const struct answer *a, const cJSON *wanted)
{
    const cJSON *part;
    if (cJSON_IsString(wanted) && !strstr(a->body, wanted->valuestring))
        fail_msg("'%s' is not in %.300s", wanted->valuestring, a->body);
    cJSON_ArrayForEach (part, wanted) /* of a text there are none */
    {
        check_contains(a, part);
    }
}

static void check_members(const cJSON *json, const cJSON *wanted)
{
    const cJSON *member;
    cJSON_ArrayForEach (member, wanted) {
        const cJSON *got = cJSON_GetObjectItemCaseSensitive(json, member->string);
        if (!cJSON_Compare(got, member, true)) {
            char *text = cJSON_PrintUnformatted(got);
            fail_msg("%s is %s", member->string, text ? text : "absent");
        }
    }
}

static void check_headers(const struct answer *a, const cJSON *wanted)
{
    const cJSON *header;
    cJSON_ArrayForEach (header, wanted) {
        const char *got = answer_header(a, header->string);
        if (!got || strcmp(got, header->valuestring) != 0)
            fail_msg("the header %s is %s", header->string, got ? got : "absent");
    }
}

static void check_answer(const struct answer *a, const cJSON *line)
{
    const int wanted = cJSON_GetObjectItemCaseSensitive(line, "status")->valueint;
    if (a->status != wanted)
        fail_msg("the status is %d, not %d: %.300s", a->status, wanted, a->body ? a->body : "");
    cJSON *json = cJSON_ParseWithLength(a->body, a->body_len);
    if (a->status >= 400 && !cJSON_HasObjectItem(line, "html")) {
        assert_non_null(json);
        check_problem(a, json);
    }
    if (text_of(line, "code"))
        expect_text(json, "code", text_of(line, "code"));
    if (text_of(line, "in"))
        expect_text(json, "in", text_of(line, "in"));
    check_position(json, cJSON_GetObjectItemCaseSensitive(line, "position"));
    check_contains(a, cJSON_GetObjectItemCaseSensitive(line, "contains"));
    check_headers(a, cJSON_GetObjectItemCaseSensitive(line, "header"));
    check_members(json, cJSON_GetObjectItemCaseSensitive(line, "json"));
    cJSON_Delete(json);
}

static void test_line(void **state)
{
    const cJSON *line = *state;
    struct bytes request = request_of(line);
    struct answer a = client_ask(&daemon_under_test, request.data, request.len);
    check_answer(&a, line);
    answer_free(&a);
    free(request.data);
}

/* ---- the lines ---------------------------------------------------------------------------------------------- */

struct lines {
    struct CMUnitTest *tests;
    size_t count, capacity;
};

static void add_line(struct lines *lines, const char *file, int number, const char *text)
{
    cJSON *line = cJSON_Parse(text);
    if (!line || !text_of(line, "id")) {
        fprintf(stderr, "%s:%d: not a line of a test\n", file, number);
        exit(1);
    }
    if (lines->count == lines->capacity) {
        lines->capacity = 2 * lines->capacity + 64;
        lines->tests = realloc(lines->tests, lines->capacity * sizeof *lines->tests);
        if (!lines->tests)
            abort();
    }
    lines->tests[lines->count++] = (struct CMUnitTest){
        .name = text_of(line, "id"), .test_func = test_line, .initial_state = line};
}

static void read_file(struct lines *lines, const char *file)
{
    FILE *in = fopen(file, "r");
    char *text = NULL;
    size_t capacity = 0;
    for (int number = 1; in && getline(&text, &capacity, in) > 0; number++)
        if (*text == '{')
            add_line(lines, file, number, text);
    free(text);
    if (in)
        fclose(in);
}

int main(void)
{
    struct lines lines = {0};
    glob_t files;
    if (glob("tests/http/*.jsonl", 0, NULL, &files) != 0) {
        fputs("there is no tests/http/*.jsonl here\n", stderr);
        return 1;
    }
    for (size_t i = 0; i < files.gl_pathc; i++)
        read_file(&lines, files.gl_pathv[i]);
    globfree(&files);
    if (!daemon_start(&daemon_under_test, NULL))
        return 1;

    int failed = _cmocka_run_group_tests("http", lines.tests, lines.count, NULL, NULL);
    size_t count = lines.count + 1; /* the end of the daemon is a test, too */
    struct bytes log = {0};
    kill(daemon_under_test.pid, SIGTERM);
    int status = daemon_wait(&daemon_under_test, &log);
    if (status != 0) {
        failed++;
        printf("the daemon ended with status %d: %s\n", status, log.data ? log.data : "");
    }
    for (size_t i = 0; i < lines.count; i++)
        cJSON_Delete(lines.tests[i].initial_state);
    free(lines.tests);
    free(log.data);
    printf("%zu passed, %d failed\n", count - (size_t)failed, failed);
    return failed ? 1 : 0;
}
