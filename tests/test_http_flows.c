/* test_http_flows.c: what takes more than one request: validators and compression, GET against POST, connections that
 * are kept, slow or broken, the documents, load from many threads, random bytes, and the end of the daemon.
 *
 * Tests run in order, on one daemon; the last ones end it and start another. */
#include "http_client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cjson/cJSON.h>
#include <pthread.h>
#include <time.h>
#include <zlib.h>

enum {
    CLIENTS = 8,            /* threads of the load test */
    CLIENT_REQUESTS = 150,  /* of each */
    BROKEN_REQUESTS = 3000, /* with random bytes */
    NOISE_MS = 10,          /* that an answer to noise is waited for: there may be none */
    HEAD_SECONDS = 10       /* what the daemon gives a client for its first head */
};

static struct daemon d;

/* An answer to the formatted request; free with answer_free. */
__attribute__((format(printf, 1, 2))) static struct answer ask(const char *format, ...)
{
    static _Thread_local char request[8192];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(request, sizeof request, format, args);
    va_end(args);
    return client_ask(&d, request, (size_t)len);
}

#define END "Host: x\r\nConnection: close\r\n\r\n"
#define TABLE "/eval?expr=(64,64):(64,1)&table=1"

/* A copy of a header that must be there. */
static void copy_header(const struct answer *a, const char *name, char copy[64])
{
    const char *value = answer_header(a, name);
    assert_non_null(value);
    assert_true(strlen(value) < 64);
    memcpy(copy, value, strlen(value) + 1);
}

/* ---- validators and compression ----------------------------------------------------------------------------- */

static void test_not_modified(void **state)
{
    (void)state;
    char tag[64];
    struct answer a = ask("GET /eval?expr=4:1 HTTP/1.1\r\n" END);
    assert_int_equal(a.status, 200);
    copy_header(&a, "ETag", tag);
    assert_string_equal(answer_header(&a, "Vary"), "Accept, Accept-Encoding");
    assert_non_null(strstr(answer_header(&a, "Cache-Control"), "max-age"));
    answer_free(&a);
    const char *const matching[] = {"%s", "W/%s", "\"other\", %s", "*"};
    for (size_t i = 0; i < sizeof matching / sizeof *matching; i++) {
        char header[128];
        const char *percent = strstr(matching[i], "%s");
        snprintf(header, sizeof header, "%.*s%s", percent ? (int)(percent - matching[i]) : 1, matching[i],
                 percent ? tag : "");
        a = ask("GET /eval?expr=4:1 HTTP/1.1\r\nIf-None-Match: %s\r\n" END, header);
        assert_int_equal(a.status, 304);
        assert_int_equal(a.body_len, 0);
        assert_string_equal(answer_header(&a, "ETag"), tag);
        answer_free(&a);
    }
    a = ask("GET /eval?expr=8:1 HTTP/1.1\r\nIf-None-Match: %s\r\n" END, tag);
    assert_int_equal(a.status, 200);
    assert_string_not_equal(answer_header(&a, "ETag"), tag);
    answer_free(&a);
}

static size_t inflate_body(const struct answer *a, char *out, size_t room)
{
    z_stream z = {.next_in = (Bytef *)a->body, .avail_in = (uInt)a->body_len, .next_out = (Bytef *)out};
    z.avail_out = (uInt)room;
    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    inflateEnd(&z);
    return z.total_out;
}

static void test_gzip(void **state)
{
    (void)state;
    static char inflated[1 << 16];
    char tag[64];
    struct answer plain = ask("GET " TABLE " HTTP/1.1\r\n" END);
    struct answer a = ask("GET " TABLE " HTTP/1.1\r\nAccept-Encoding: br, gzip;q=0.8\r\n" END);
    assert_string_equal(answer_header(&a, "Content-Encoding"), "gzip");
    assert_true(a.body_len < plain.body_len / 2);
    assert_int_equal(inflate_body(&a, inflated, sizeof inflated), plain.body_len);
    assert_memory_equal(inflated, plain.body, plain.body_len);
    copy_header(&a, "ETag", tag);
    assert_string_not_equal(answer_header(&plain, "ETag"), tag); /* other bytes, other validator */
    answer_free(&a);
    answer_free(&plain);
    a = ask("GET " TABLE " HTTP/1.1\r\nAccept-Encoding: gzip;q=0\r\n" END);
    assert_null(answer_header(&a, "Content-Encoding"));
    answer_free(&a);
    a = ask("GET /eval?expr=4:1 HTTP/1.1\r\nAccept-Encoding: gzip\r\n" END); /* too small to be worth it */
    assert_null(answer_header(&a, "Content-Encoding"));
    answer_free(&a);
    a = ask("GET " TABLE " HTTP/1.1\r\nAccept-Encoding: gzip\r\nIf-None-Match: %s\r\n" END, tag);
    assert_int_equal(a.status, 304);
    answer_free(&a);
}

static void test_octets(void **state)
{
    (void)state;
    struct answer text = ask("GET " TABLE " HTTP/1.1\r\n" END);
    struct answer octets = ask("GET " TABLE " HTTP/1.1\r\nAccept: application/octet-stream\r\n" END);
    cJSON *json = cJSON_Parse(text.body);
    const cJSON *offset, *offsets = cJSON_GetObjectItemCaseSensitive(
                             cJSON_GetObjectItemCaseSensitive(json, "table"), "offsets");
    assert_int_equal(octets.body_len, 64 * 64 * 8);
    size_t i = 0;
    cJSON_ArrayForEach (offset, offsets) {
        const unsigned char *p = (const unsigned char *)octets.body + 8 * i++;
        int64_t value = 0;
        for (int byte = 7; byte >= 0; byte--) /* little-endian, on any machine */
            value = value << 8 | p[byte];
        assert_int_equal(value, offset->valueint);
    }
    assert_int_equal(i, 64 * 64);
    cJSON_Delete(json);
    answer_free(&text);
    answer_free(&octets);
}

static void test_get_equals_post(void **state)
{
    (void)state;
    const char *const pairs[][3] = {
        {"/eval", "expr=(3,4):(1,3)&table=1", "{\"expr\":\"(3,4):(1,3)\",\"table\":true}"},
        {"/eval", "layout=(3,4):(1,3)&coords=1;(1,2)", "{\"layout\":\"(3,4):(1,3)\",\"coords\":[1,[1,2]]}"},
        {"/product", "kind=raked&a=(2,3):(3,1)&b=2:1",
         "{\"kind\":\"raked\",\"a\":\"(2,3):(3,1)\",\"b\":\"2:1\"}"},
        {"/divide", "kind=flat&a=(4,6)&b=(2,3)", "{\"kind\":\"flat\",\"a\":[4,6],\"b\":[2,3]}"},
        {"/render", "expr=(3,4):(1,3)", "{\"expr\":\"(3,4):(1,3)\"}"},
        {"/eval", "expr=(3", "{\"expr\":\"(3\"}"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct answer get = ask("GET %s?%s HTTP/1.1\r\n" END, pairs[i][0], pairs[i][1]);
        struct answer post = ask("POST %s HTTP/1.1\r\nContent-Length: %zu\r\n" END "%s", pairs[i][0],
                                 strlen(pairs[i][2]), pairs[i][2]);
        assert_int_equal(get.status, post.status);
        assert_string_equal(get.body, post.body);
        answer_free(&get);
        answer_free(&post);
    }
}

/* ---- connections -------------------------------------------------------------------------------------------- */

static void test_pipeline(void **state)
{
    (void)state;
    const char *three = "GET /eval?expr=1:1 HTTP/1.1\r\nHost: x\r\n\r\n"
                        "POST /eval HTTP/1.1\r\nHost: x\r\nContent-Length: 14\r\n\r\n{\"expr\":\"2:1\"}"
                        "GET /eval?expr=3:1 HTTP/1.1\r\n" END;
    int fd = client_connect(&d);
    client_send(fd, three, strlen(three));
    struct bytes all = {0};
    char piece[4096];
    for (ssize_t n; (n = recv(fd, piece, sizeof piece, 0)) > 0;)
        bytes_add(&all, piece, (size_t)n);
    close(fd);
    const char *first = strstr(all.data, "\"_1:_1\""), *second = strstr(all.data, "\"_2:_1\"");
    const char *third = strstr(all.data, "\"_3:_1\"");
    assert_true(first && second && third && first < second && second < third);
    free(all.data);
}

/* A client that sends a byte now and then is not idle, but it is late. */
static void test_slow_head(void **state)
{
    (void)state;
    const char *head = "GET /livez HTTP/1.1\r\nHost: x\r\nX: ";
    const struct timespec pause = {.tv_nsec = 250 * 1000000};
    int fd = client_connect(&d);
    char byte;
    client_send(fd, head, strlen(head));
    time_t begun = time(NULL);
    ssize_t n = -1;
    while (n < 0 && time(NULL) - begun < 3 * HEAD_SECONDS) {
        client_send(fd, "a", 1);
        nanosleep(&pause, NULL);
        n = recv(fd, &byte, 1, MSG_DONTWAIT);
        if (n < 0 && errno != EAGAIN)
            n = 0; /* reset: closed as well */
    }
    close(fd);
    assert_int_equal(n, 0);
    assert_in_range(time(NULL) - begun, HEAD_SECONDS - 1, 2 * HEAD_SECONDS);
}

static void test_vanishing_clients(void **state)
{
    (void)state;
    const char *const starts[] = {"", "GET",
                                  "GET /eval?expr=(64,64):(1,64)&table=1 HTTP/1.1\r\nHost: x\r\n\r\n",
                                  "POST /eval HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{\"expr\"",
                                  "GET /jobs HTTP/1.1\r\nHost: x\r\nPrefer: wait=5\r\n\r\n"};
    for (size_t i = 0; i < 200; i++) {
        const char *start = starts[i % 5];
        int fd = client_connect(&d);
        client_send(fd, start, strlen(start));
        struct linger reset = {.l_onoff = 1};
        if (i % 2)
            setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        close(fd);
    }
    struct answer a = ask("GET /livez HTTP/1.1\r\n" END);
    assert_int_equal(a.status, 200);
    answer_free(&a);
}

/* ---- requests that wait ------------------------------------------------------------------------------------- */

static const char job[] =
    "{\"kind\":\"copy\",\"type\":\"float\",\"atom\":\"UniversalCopy<uint32_t>\",\"thr\":\"(8,4):(4,1)\","
    "\"val\":\"(1,1):(0,1)\",\"src\":\"(64,64):(64,1)\",\"dst\":\"(64,64):(64,1)\",\"fresh\":true}";

/* Submit a job, which nobody runs here: the path of it. */
static void submit(char path[64])
{
    struct answer a = ask("POST /jobs HTTP/1.1\r\nContent-Length: %zu\r\n" END "%s", sizeof job - 1, job);
    assert_int_equal(a.status, 202);
    copy_header(&a, "Location", path);
    answer_free(&a);
}

static void *wait_for_job(void *path)
{
    struct answer *a = malloc(sizeof *a);
    if (a)
        *a = ask("GET %s HTTP/1.1\r\nPrefer: wait=20\r\n" END, (const char *)path);
    return a;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void test_wait_expires(void **state)
{
    (void)state;
    char path[64];
    submit(path);
    int64_t begun = now_ms();
    struct answer a = ask("GET %s HTTP/1.1\r\nPrefer: wait=1\r\n" END, path);
    assert_int_equal(a.status, 200);
    assert_non_null(strstr(a.body, "\"queued\""));
    assert_in_range(now_ms() - begun, 900, 5000);
    answer_free(&a);
}

static void test_wait_wakes(void **state)
{
    (void)state;
    char path[64];
    pthread_t waiter;
    void *waited;
    submit(path);
    int64_t begun = now_ms();
    assert_int_equal(pthread_create(&waiter, NULL, wait_for_job, path), 0);
    nanosleep(&(struct timespec){.tv_nsec = 300 * 1000000}, NULL);
    struct answer a = ask("DELETE %s HTTP/1.1\r\n" END, path);
    assert_int_equal(a.status, 200);
    answer_free(&a);
    pthread_join(waiter, &waited);
    assert_non_null(waited);
    struct answer *first = waited;
    assert_int_equal(first->status, 200);
    assert_non_null(strstr(first->body, "\"cancelled\""));
    assert_in_range(now_ms() - begun, 0, 10000);
    answer_free(first);
    free(first);
}

/* ---- documents ---------------------------------------------------------------------------------------------- */

/* Every $ref in the document names something that is in it. */
static void check_refs(const cJSON *document, const cJSON *item)
{
    if (cJSON_IsString(item) && item->string && strcmp(item->string, "$ref") == 0) {
        char path[256];
        snprintf(path, sizeof path, "%s", item->valuestring + 2); /* behind "#/" */
        const cJSON *found = document;
        for (char *name = strtok(path, "/"); name; name = strtok(NULL, "/"))
            found = cJSON_GetObjectItemCaseSensitive(found, name);
        if (!found)
            fail_msg("%s leads nowhere", item->valuestring);
    }
    for (const cJSON *child = item->child; child; child = child->next)
        check_refs(document, child);
}

static void test_openapi(void **state)
{
    (void)state;
    struct answer a = ask("GET /openapi.json HTTP/1.1\r\n" END), ops = ask("GET /ops HTTP/1.1\r\n" END);
    cJSON *document = cJSON_Parse(a.body), *list = cJSON_Parse(ops.body);
    assert_non_null(document);
    check_refs(document, document);
    const cJSON *op, *paths = cJSON_GetObjectItemCaseSensitive(document, "paths");
    cJSON_ArrayForEach (op, cJSON_GetObjectItemCaseSensitive(list, "ops")) {
        char path[128];
        snprintf(path, sizeof path, "/ops/%s", cJSON_GetObjectItemCaseSensitive(op, "name")->valuestring);
        assert_non_null(cJSON_GetObjectItemCaseSensitive(paths, path));
    }
    const char *const known[] = {"/eval",   "/product",   "/divide", "/ops/{name}",
                                 "/render", "/jobs/{id}", "/livez"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_non_null(cJSON_GetObjectItemCaseSensitive(paths, known[i]));
    cJSON_Delete(document);
    cJSON_Delete(list);
    answer_free(&a);
    answer_free(&ops);
}

/* What a problem's type points to is there, for every code. */
static void test_problem_pages(void **state)
{
    (void)state;
    struct answer a = ask("GET /openapi.json HTTP/1.1\r\n" END);
    cJSON *document = cJSON_Parse(a.body);
    const cJSON *code, *at = document;
    const char *const way[] = {"components", "schemas", "problem", "properties", "code", "examples"};
    for (size_t i = 0; i < sizeof way / sizeof *way; i++)
        at = cJSON_GetObjectItemCaseSensitive(at, way[i]);
    assert_true(cJSON_GetArraySize(at) > 20);
    cJSON_ArrayForEach (code, at) {
        struct answer page = ask("GET /problems/%s HTTP/1.1\r\n" END, code->valuestring);
        assert_int_equal(page.status, 200);
        answer_free(&page);
    }
    cJSON_Delete(document);
    answer_free(&a);
}

static void test_page_policy(void **state)
{
    (void)state;
    struct answer a = ask("GET / HTTP/1.1\r\n" END);
    assert_int_equal(a.status, 200);
    const char *policy = answer_header(&a, "Content-Security-Policy");
    assert_non_null(policy);
    assert_non_null(strstr(policy, "default-src 'none'; script-src 'self'"));
    assert_non_null(strstr(policy, "frame-ancestors 'none'"));
    assert_non_null(answer_header(&a, "ETag"));
    assert_string_equal(answer_header(&a, "Cache-Control"), "no-cache");
    answer_free(&a);
}

/* ---- load and noise ----------------------------------------------------------------------------------------- */

static void *run_client(void *arg)
{
    const unsigned me = (unsigned)(size_t)arg;
    size_t bad = 0;
    for (unsigned i = 0; i < CLIENT_REQUESTS; i++) {
        const unsigned size = 1 + (me * 31 + i * 7) % 50;
        struct answer a = i % 3 == 0 ? ask("GET /render?expr=(%u,4):(4,1) HTTP/1.1\r\n" END, size)
                                     : ask("GET /eval?expr=size((%u,4):(4,1)) HTTP/1.1\r\n" END, size);
        char wanted[64];
        snprintf(wanted, sizeof wanted, i % 3 == 0 ? "<title>(_%u,_4)" : "\"cute\":\"_%u\"",
                 i % 3 ? 4 * size : size);
        bad += a.status != 200 || !strstr(a.body, wanted);
        answer_free(&a);
    }
    return (void *)bad;
}

static void test_load(void **state)
{
    (void)state;
    pthread_t clients[CLIENTS];
    for (size_t i = 0; i < CLIENTS; i++)
        assert_int_equal(pthread_create(&clients[i], NULL, run_client, (void *)i), 0);
    for (size_t i = 0; i < CLIENTS; i++) {
        void *bad;
        pthread_join(clients[i], &bad);
        assert_int_equal((size_t)bad, 0);
    }
}

/* xorshift: the same noise in every run. */
static uint64_t noise(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Right requests with a few bytes changed; many of them leave the daemon waiting for more. */
static void test_noise(void **state)
{
    (void)state;
    const char *const requests[] = {
        "GET /eval?expr=logical_divide((4,6):(1,4),(2,3))&table=1 HTTP/1.1\r\nHost: x\r\nAccept: "
        "*/*;q=0.5\r\n\r\n",
        "POST /eval HTTP/1.1\r\nHost: x\r\nContent-Length: "
        "46\r\n\r\n{\"layout\":\"(2,3):(3,1)\",\"coords\":[1,[0,2],\"3\"]}",
        "POST /divide HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
        "chunked\r\n\r\n1f\r\n{\"kind\":\"flat\",\"a\":4,\"b\":[2]}\r\n0\r\n\r\n",
        "GET /ops/get?template=1,0&of=(3,(4,5)) HTTP/1.1\r\nHost: x\r\nIf-None-Match: \"a\", W/\"b\"\r\n\r\n",
    };
    uint64_t seed = 20261129;
    for (int i = 0; i < BROKEN_REQUESTS; i++) {
        char request[512];
        const size_t len = strlen(requests[i % 4]);
        memcpy(request, requests[i % 4], len);
        for (uint64_t n = 1 + noise(&seed) % 4; n > 0; n--)
            request[noise(&seed) % len] = (char)noise(&seed);
        struct pollfd answer = {.fd = client_connect(&d), .events = POLLIN};
        client_send(answer.fd, request, len);
        poll(&answer, 1, NOISE_MS);
        close(answer.fd);
    }
    struct answer a = ask("GET /livez HTTP/1.1\r\n" END);
    assert_int_equal(a.status, 200);
    answer_free(&a);
}

/* ---- the end ------------------------------------------------------------------------------------------------ */

static void end_daemon(int wanted)
{
    struct bytes log = {0};
    int status = daemon_wait(&d, &log);
    if (status != wanted)
        fail_msg("it ended with status %d: %s", status, log.data ? log.data : "");
    free(log.data);
}

/* A request that has begun and one that waits are answered, one that comes too late is not accepted, and the status
 * is 0. */
static void test_drain(void **state)
{
    (void)state;
    const char *begin = "POST /eval HTTP/1.1\r\nHost: x\r\nContent-Length: 14\r\n\r\n{\"expr\":";
    const struct timespec pause = {.tv_nsec = 300 * 1000000};
    char path[64];
    pthread_t waiter;
    void *waited;
    submit(path);
    assert_int_equal(pthread_create(&waiter, NULL, wait_for_job, path), 0);
    int fd = client_connect(&d), late = -1;
    struct answer a = {0};
    client_send(fd, begin, strlen(begin));
    nanosleep(&pause, NULL);
    kill(d.pid, SIGTERM);
    nanosleep(&pause, NULL);
    client_send(fd, "\"4:1\"}", 6);
    client_read(fd, false, &a);
    close(fd);
    assert_int_equal(a.status, 200);
    assert_string_equal(answer_header(&a, "Connection"), "close");
    answer_free(&a);
    pthread_join(waiter, &waited);
    assert_non_null(waited);
    assert_int_not_equal(((struct answer *)waited)->status, 0);
    answer_free(waited);
    free(waited);
    end_daemon(0);
    late = client_connect(&d);
    assert_int_equal(late, -1);
}

/* Small limits are kept: of a body, of memory, of cells. */
static void test_small_limits(void **state)
{
    (void)state;
    char *const flags[] = {"--max-body", "100", "--max-arena", "200000", "--max-cells", "20", NULL};
    assert_true(daemon_start(&d, flags));
    struct answer a = ask("POST /eval HTTP/1.1\r\nContent-Length: 150\r\n" END "%150s", "x");
    assert_int_equal(a.status, 413);
    answer_free(&a);
    a = ask("GET /eval?expr=(4,6):(1,4)&table=1 HTTP/1.1\r\n" END);
    assert_int_equal(a.status, 422);
    assert_non_null(strstr(a.body, "limit of 20"));
    answer_free(&a);
    a = ask("GET /openapi.json HTTP/1.1\r\n" END); /* larger than a request's memory */
    assert_int_equal(a.status, 422);
    assert_non_null(strstr(a.body, "/problems/limit"));
    answer_free(&a);
    a = ask("GET /eval?expr=(4,5):(1,4)&table=1 HTTP/1.1\r\n" END);
    assert_int_equal(a.status, 200);
    answer_free(&a);
    kill(d.pid, SIGINT);
    end_daemon(0);
}

static void test_no_open_door(void **state)
{
    (void)state;
    char *const flags[] = {"--listen", "0.0.0.0:0", NULL};
    assert_false(daemon_start(&d, flags));
    end_daemon(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_not_modified), cmocka_unit_test(test_gzip),
        cmocka_unit_test(test_octets),       cmocka_unit_test(test_get_equals_post),
        cmocka_unit_test(test_pipeline),     cmocka_unit_test(test_slow_head),
        cmocka_unit_test(test_openapi),      cmocka_unit_test(test_problem_pages),
        cmocka_unit_test(test_page_policy),  cmocka_unit_test(test_load),
        cmocka_unit_test(test_noise),        cmocka_unit_test(test_vanishing_clients),
        cmocka_unit_test(test_wait_expires), cmocka_unit_test(test_wait_wakes),
        cmocka_unit_test(test_drain),        cmocka_unit_test(test_small_limits),
        cmocka_unit_test(test_no_open_door),
    };
    const int count = sizeof tests / sizeof *tests;
    if (!daemon_start(&d, NULL))
        return 1;
    int failed = cmocka_run_group_tests_name("http flows", tests, NULL, NULL);
    printf("%d passed, %d failed\n", count - failed, failed);
    return failed ? 1 : 0;
}
