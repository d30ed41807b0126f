/* test_hooks.c: who is told of a job's end, and how long a job is remembered. */
#include "daemon.h"
#include "webhook_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sodium.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/socket.h>

/* ---- somebody who is told ----------------------------------------------------------------------------------- */

enum { MAX_CALLS = 8, CALL_BYTES = 64 * 1024 };

static struct listener {
    int fd;
    unsigned port;
    pthread_t thread;
    int statuses[MAX_CALLS]; /* what the calls are answered, one after the other */
    char calls[MAX_CALLS][CALL_BYTES];
    atomic_int count;
} listener;

/* Read one request: its head, and the body that its length says. */
static void read_call(int fd, char *text)
{
    size_t len = 0, wanted = 0;
    ssize_t n;
    while ((!wanted || len < wanted) && (n = recv(fd, text + len, CALL_BYTES - 1 - len, 0)) > 0) {
        len += (size_t)n;
        text[len] = '\0';
        const char *body = strstr(text, "\r\n\r\n"), *length = strcasestr(text, "\ncontent-length: ");
        if (body && length)
            wanted = (size_t)(body - text) + 4 + strtoul(length + strlen("\ncontent-length: "), NULL, 10);
    }
}

static void *listen_to_all(void *arg)
{
    struct listener *l = arg;
    for (int fd; (fd = accept(l->fd, NULL, NULL)) >= 0; close(fd)) {
        const int i = atomic_load(&l->count);
        char answer[128];
        if (i == MAX_CALLS)
            continue;
        read_call(fd, l->calls[i]);
        const int len = snprintf(answer, sizeof answer, "HTTP/1.1 %d X\r\nContent-Length: 0\r\n\r\n",
                                 l->statuses[i] ? l->statuses[i] : 200);
        if (send(fd, answer, (size_t)len, MSG_NOSIGNAL) == len)
            atomic_fetch_add(&l->count, 1);
    }
    return NULL;
}

static void start_listener(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    memset(&listener, 0, sizeof listener);
    listener.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener.fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listener.fd, 16), 0);
    assert_int_equal(getsockname(listener.fd, (struct sockaddr *)&address, &size), 0);
    listener.port = ntohs(address.sin_port);
    pthread_create(&listener.thread, NULL, listen_to_all, &listener);
}

static void stop_listener(void)
{
    shutdown(listener.fd, SHUT_RDWR);
    pthread_join(listener.thread, NULL);
    close(listener.fd);
}

static void expect_calls(int count)
{
    const int64_t until = now_ms() + START_MS;
    while (atomic_load(&listener.count) < count && now_ms() < until)
        pause_ms(20);
    assert_int_equal(atomic_load(&listener.count), count);
}

/* ---- webhooks ----------------------------------------------------------------------------------------------- */

static struct id submit_with_hook(const char *scheme, const char *host, const char *more)
{
    char text[256];
    snprintf(text, sizeof text, ",\"fresh\":true,\"webhook\":\"%s://%s:%u/told\"%s", scheme, host,
             listener.port, more);
    return submit(text);
}

/* The signature is right, by the key in the data folder. */
static void expect_signed(const char *call)
{
    char path[300], digits[65] = "", stamp[32] = "", signature[65] = "";
    unsigned char key[32], mac[32];
    size_t len;
    snprintf(path, sizeof path, "%s/data/webhook.key", folder);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%64s", digits), 1);
    fclose(f);
    assert_int_equal(sodium_hex2bin(key, sizeof key, digits, 64, NULL, &len, NULL), 0);
    assert_int_equal(sscanf(strstr(call, "Layoutd-Timestamp: "), "Layoutd-Timestamp: %31[0-9]", stamp), 1);
    assert_int_equal(sscanf(strstr(call, "Layoutd-Signature: "), "Layoutd-Signature: v1=%64s", signature), 1);
    const char *body = strstr(call, "\r\n\r\n") + 4;
    crypto_auth_hmacsha256_state state;
    crypto_auth_hmacsha256_init(&state, key, sizeof key);
    crypto_auth_hmacsha256_update(&state, (const unsigned char *)stamp, strlen(stamp));
    crypto_auth_hmacsha256_update(&state, (const unsigned char *)".", 1);
    crypto_auth_hmacsha256_update(&state, (const unsigned char *)body, strlen(body));
    crypto_auth_hmacsha256_final(&state, mac);
    sodium_bin2hex(digits, sizeof digits, mac, sizeof mac);
    assert_string_equal(digits, signature);
}

/* The first call is answered 500: there is a second, and no third. */
static void told_until_heard(void **state)
{
    (void)state;
    more_flags[0] = "--allow-private-webhooks";
    more_flags[1] = NULL;
    start_listener();
    listener.statuses[0] = 500;
    start_daemon("cpu", "127.0.0.1:0");
    const struct id id = submit_with_hook("http", "127.0.0.1", "");
    expect_end(id, "done", "", 1);
    expect_calls(2);
    for (int i = 0; i < 2; i++) {
        expect_signed(listener.calls[i]);
        cJSON *body = cJSON_Parse(strstr(listener.calls[i], "\r\n\r\n") + 4);
        assert_string_equal(text_at(body, "event"), "done");
        assert_string_equal(text_at(body, "job.id"), id.text);
        assert_true(cJSON_IsTrue(at(body, "job.result.verified")));
        cJSON_Delete(body);
    }
    while (count_events(id, "webhook") < 2)
        pause_ms(20);
    stop_daemon();
    assert_int_equal(atomic_load(&listener.count), 2);
    stop_listener();
}

/* What is due outlives the daemon. */
static void told_by_the_next_daemon(void **state)
{
    (void)state;
    more_flags[0] = "--allow-private-webhooks";
    more_flags[1] = NULL;
    start_listener();
    listener.statuses[0] = 503;
    start_daemon("cpu", "127.0.0.1:0");
    const struct id id = submit_with_hook("http", "127.0.0.1", ",\"plant\":\"trap\"");
    expect_end(id, "failed", "kernel_fault", 1);
    expect_calls(1);
    end(&daemon_pid, SIGKILL);
    start_daemon("none", "127.0.0.1:0");
    expect_calls(2);
    assert_non_null(strstr(listener.calls[1], "\"event\":\"failed\""));
    stop_daemon();
    stop_listener();
}

/* Neither by number nor by name, and not without TLS. */
static void never_to_private_addresses(void **state)
{
    (void)state;
    struct answer a;
    start_listener();
    start_daemon("cpu", "127.0.0.1:0");
    a = request("POST", "/jobs", "{" COPY ",\"webhook\":\"http://example.org/\"}", NULL);
    assert_int_equal(a.status, 422);
    assert_string_equal(text_at(a.json, "in"), "webhook");
    drop(&a);
    static const char *const hosts[] = {"127.0.0.1", "localhost", "[::ffff:127.0.0.1]"};
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        const struct id id = submit_with_hook("https", hosts[i], "");
        expect_end(id, "done", "", 1);
        const int64_t until = now_ms() + START_MS;
        while (count_events(id, "webhook") == 0 && now_ms() < until)
            pause_ms(20);
        char path[64];
        snprintf(path, sizeof path, "/jobs/%s/events", id.text);
        a = request("GET", path, NULL, NULL);
        assert_non_null(strstr(a.text, "the address is private"));
        drop(&a);
    }
    assert_int_equal(atomic_load(&listener.count), 0);
    stop_daemon();
    stop_listener();
}

static void which_addresses_are_public(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_public;
    } addresses[] = {
        {"127.0.0.1", false},
        {"10.1.2.3", false},
        {"172.16.0.1", false},
        {"172.32.0.1", true},
        {"192.168.1.1", false},
        {"169.254.169.254", false},
        {"100.64.0.1", false},
        {"100.128.0.1", true},
        {"0.0.0.0", false},
        {"224.0.0.1", false},
        {"255.255.255.255", false},
        {"8.8.8.8", true},
        {"198.17.255.255", true},
        {"198.19.0.1", false},
        {"223.255.255.255", true},
        {"::1", false},
        {"::", false},
        {"fe80::1", false},
        {"fd00::1", false},
        {"ff02::1", false},
        {"64:ff9b::7f00:1", false},
        {"2002:7f00:1::", false},
        {"2001:db8::1", false},
        {"2001::1", false},
        {"::ffff:10.0.0.1", false},
        {"::ffff:8.8.8.8", true},
        {"2606:4700:4700::1111", true},
        {"3fff::1", false},
    };
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        struct sockaddr_in v4 = {.sin_family = AF_INET};
        struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
        const bool is_v4 = inet_pton(AF_INET, addresses[i].text, &v4.sin_addr) == 1;
        assert_true(is_v4 || inet_pton(AF_INET6, addresses[i].text, &v6.sin6_addr) == 1);
        const bool got = address_is_public(is_v4 ? (struct sockaddr *)&v4 : (struct sockaddr *)&v6);
        if (got != addresses[i].is_public)
            fail_msg("%s", addresses[i].text);
    }
}

/* ---- what is kept ------------------------------------------------------------------------------------------- */

/* Change the store behind the daemon's back, while there is none. */
static void change_store(const char *sql)
{
    char path[300];
    sqlite3 *db;
    snprintf(path, sizeof path, "%s/data/layoutd.db", folder);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* Of four jobs the two that ended long ago go; one of them is a sweep, and its children go with it. */
static void old_ones_go(void **state)
{
    (void)state;
    struct id ids[3];
    start_daemon("cpu", "127.0.0.1:0");
    struct answer a = request("POST", "/jobs",
                              "{\"kind\":\"sweep\",\"base\":{" COPY "},\"vary\":{\"unroll\":[1,2]}}",
                              "Prefer: wait=30");
    assert_string_equal(text_at(a.json, "state"), "done");
    char children[64];
    snprintf(children, sizeof children, "/jobs?parent=%s", text_at(a.json, "id"));
    drop(&a);
    for (int i = 0; i < 3; i++) {
        ids[i] = submit(",\"fresh\":true");
        expect_end(ids[i], "done", "", 1);
    }
    assert_int_equal(count_jobs(""), 4);
    stop_daemon();
    change_store("UPDATE jobs SET finished=finished-91*86400000 WHERE seq<=4");
    start_daemon("cpu", "127.0.0.1:0");
    const int64_t until = now_ms() + START_MS;
    while (count_jobs("") > 2 && now_ms() < until)
        pause_ms(50);
    assert_int_equal(count_jobs(""), 2);
    a = request("GET", children, NULL, NULL);
    assert_int_equal(a.status, 404);
    drop(&a);
    expect_end(ids[1], "done", "", 1);
    expect_end(ids[2], "done", "", 1);
    stop_daemon();
}

/* A store that is too large loses the ones that ended first, and no more than it must. */
static void too_much_goes(void **state)
{
    (void)state;
    enum { ALL = 20 };
    start_daemon("cpu", "127.0.0.1:0");
    struct id last = {""};
    for (int i = 0; i < ALL; i++)
        last = submit(",\"fresh\":true");
    expect_end(last, "done", "", 1);
    stop_daemon();
    change_store("UPDATE artifacts SET text=printf('%.200000c','x') WHERE name='source'"); /* 4 MB */
    more_flags[0] = "--keep-mib";
    more_flags[1] = "2";
    more_flags[2] = NULL;
    start_daemon("none", "127.0.0.1:0");
    const int64_t until = now_ms() + START_MS;
    while (count_jobs("") == ALL && now_ms() < until)
        pause_ms(50);
    const int left = count_jobs("");
    assert_in_range(left, 5, 11);
    expect_end(last, "done", "", 1);
    stop_daemon();
}

/* ---- */

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(told_until_heard),
                                       TEST(told_by_the_next_daemon),
                                       TEST(never_to_private_addresses),
                                       cmocka_unit_test(which_addresses_are_public),
                                       TEST(old_ones_go),
                                       TEST(too_much_goes)};
    assert_true(sodium_init() >= 0);
    return run_suite(tests);
}
