/* test_hooks_tls.c: webhooks over real TLS: who is called must be who it says, by the system's authorities or by the one
 * that the daemon was given. The certificates are made here, by openssl; the server is tests/tls_listener.py. */
#include "daemon.h"

static pid_t listener_pid;
static int port;

/* Run a command in the test's folder. */
static void shell(const char *format, ...)
{
    char command[2000], all[2600];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    snprintf(all, sizeof all, "cd %s && { %s; } >openssl.log 2>&1", folder, command);
    if (system(all))
        fail_msg("%s", command);
}

/* An authority, and a server's certificate by it. */
static void make_certificates(const char *name, const char *host)
{
    shell("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj '/CN=%s "
          "authority' "
          "-keyout %s-ca.key -out %s-ca.pem",
          name, name, name);
    shell("openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj '/CN=%s' -keyout %s.key -out "
          "%s.csr",
          host, name, name);
    shell("printf 'subjectAltName=DNS:%s\\n' >%s.ext && openssl x509 -req -in %s.csr -CA %s-ca.pem -CAkey "
          "%s-ca.key "
          "-CAcreateserial -days 2 -extfile %s.ext -out %s.pem",
          host, name, name, name, name, name, name);
}

static void read_port(void)
{
    char path[300];
    snprintf(path, sizeof path, "%s/port", folder);
    port = 0;
    for (const int64_t until = now_ms() + START_MS; !port && now_ms() < until; pause_ms(10)) {
        FILE *f = fopen(path, "r");
        if (f && fscanf(f, "%d", &port) != 1)
            port = 0;
        if (f)
            fclose(f);
    }
    assert_true(port > 0);
    remove_file("port");
}

/* On the port of the last one; on a free one, when there was none. */
static void start_tls(const char *name)
{
    char certificate[300], key[300], number[16];
    snprintf(certificate, sizeof certificate, "%s/%s.pem", folder, name);
    snprintf(key, sizeof key, "%s/%s.key", folder, name);
    snprintf(number, sizeof number, "%d", port);
    listener_pid = fork();
    assert_true(listener_pid >= 0);
    if (listener_pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execlp("python3", "python3", "tests/tls_listener.py", certificate, key, number, folder, (char *)NULL);
        _exit(127);
    }
    read_port();
}

static void stop_tls(void)
{
    end(&listener_pid, SIGKILL);
}

static struct id submit_with_hook(const char *host)
{
    char more[200];
    snprintf(more, sizeof more, ",\"fresh\":true,\"webhook\":\"https://%s:%d/told\"", host, port);
    const struct id id = submit(more);
    expect_end(id, "done", "", 1);
    return id;
}

/* What became of the job's nth call. */
static void expect_call(struct id id, int n, bool delivered, const char *reason)
{
    char path[64];
    snprintf(path, sizeof path, "/jobs/%s/events", id.text);
    for (const int64_t until = now_ms() + START_MS; count_events(id, "webhook") < n && now_ms() < until;)
        pause_ms(20);
    struct answer a = request("GET", path, NULL, NULL);
    const cJSON *event, *call = NULL;
    int seen = 0;
    cJSON_ArrayForEach (event, at(a.json, "events")) {
        if (strcmp(text_at(event, "type"), "webhook") == 0 && ++seen == n)
            call = event;
    }
    assert_non_null(call);
    assert_int_equal(cJSON_IsTrue(at(call, "data.delivered")), delivered);
    if (!strstr(text_at(call, "data.reason"), reason))
        fail_msg("%s", text_at(call, "data.reason"));
    drop(&a);
}

static int begin(void **state)
{
    port = 0;
    return make_folder(state);
}

static int finish(void **state)
{
    if (listener_pid)
        stop_tls();
    return end_all(state);
}

static void give_authority(char path[300])
{
    snprintf(path, 300, "%s/right-ca.pem", folder);
    more_flags[0] = "--allow-private-webhooks";
    more_flags[1] = "--webhook-ca";
    more_flags[2] = path;
    more_flags[3] = NULL;
}

/* By the authority that the daemon was given; a name that the certificate does not have is refused. */
static void by_an_own_authority(void **state)
{
    (void)state;
    char authority[300];
    make_certificates("right", "localhost");
    start_tls("right");
    give_authority(authority);
    start_daemon("cpu", "127.0.0.1:0");
    expect_call(submit_with_hook("localhost"), 1, true, "");
    assert_int_equal(count_file_lines("calls"), 1);
    expect_call(submit_with_hook("127.0.0.1"), 1, false, "SSL");
    assert_int_equal(count_file_lines("calls"), 1);
    stop_daemon();
}

/* A stranger at the address hears nothing; when the right one is back, it is told. */
static void stranger_first(void **state)
{
    (void)state;
    char authority[300];
    make_certificates("right", "localhost");
    make_certificates("wrong", "localhost");
    start_tls("wrong");
    give_authority(authority);
    start_daemon("cpu", "127.0.0.1:0");
    const struct id id = submit_with_hook("localhost");
    expect_call(id, 1, false, "certificate");
    assert_int_equal(count_file_lines("calls"), 0);
    stop_tls();
    start_tls("right");
    expect_call(id, 2, true, "");
    assert_int_equal(count_file_lines("calls"), 1);
    stop_daemon();
}

/* An authority that the system does not know is none, until it is given; and a file that is none is told at once. */
static void without_the_authority(void **state)
{
    (void)state;
    int status;
    char *argv[] = {"layoutd", "--listen",     "127.0.0.1:0",     "--data",
                    folder,    "--webhook-ca", "/nowhere/ca.pem", NULL};
    make_certificates("right", "localhost");
    start_tls("right");
    more_flags[0] = "--allow-private-webhooks";
    more_flags[1] = NULL;
    start_daemon("cpu", "127.0.0.1:0");
    expect_call(submit_with_hook("localhost"), 1, false, "certificate");
    assert_int_equal(count_file_lines("calls"), 0);
    stop_daemon();
    const pid_t pid = spawn("layoutd", "second.log", argv);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) != 0);
}

#define TLS_TEST(name) cmocka_unit_test_setup_teardown(name, begin, finish)

int main(void)
{
    const struct CMUnitTest tests[] = {TLS_TEST(by_an_own_authority), TLS_TEST(stranger_first),
                                       TLS_TEST(without_the_authority)};
    return run_suite(tests);
}
