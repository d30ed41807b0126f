/* test_tokens.c: who is let in, and how far: the command, the file, and a daemon that reads it. */
#include "daemon.h"

#include <sys/stat.h>

enum { LOOK_MS = 1200 /* the daemon looks at the file again after a second */ };

static char tokens_path[300];

/* Run `layoutd token ...` on this test's file; what it prints, without the line's end. */
static int token(char *printed, size_t size, const char *arguments)
{
    char command[8192];
    snprintf(command, sizeof command, "%s/layoutd token %s --tokens %s 2>/dev/null", program, arguments,
             tokens_path);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    const size_t len = fread(printed, 1, size - 1, f);
    printed[len] = '\0';
    printed[strcspn(printed, "\n")] = '\0';
    const int status = pclose(f);
    return WEXITSTATUS(status);
}

static void add(const char *arguments, char secret[128])
{
    assert_int_equal(token(secret, 128, arguments), 0);
    assert_int_equal(strncmp(secret, "lt_", 3), 0);
    assert_int_equal(strlen(secret), 3 + 43);
}

static void start_with_tokens(const char *workers)
{
    more_flags[0] = "--tokens";
    more_flags[1] = tokens_path;
    more_flags[2] = NULL;
    start_daemon(workers, "127.0.0.1:0");
}

static struct answer ask(const char *method, const char *path, const char *body, const char *secret)
{
    char header[256];
    snprintf(header, sizeof header, "Authorization: Bearer %s", secret);
    return request(method, path, body, header);
}

static void expect_status(const char *method, const char *path, const char *body, const char *secret,
                          long status)
{
    struct answer a = ask(method, path, body, secret);
    assert_int_equal(a.status, status);
    if (status == 401 || status == 403) {
        assert_true(has_header(&a, "WWW-Authenticate", "Bearer realm=\"layoutd\""));
        assert_string_equal(text_at(a.json, "code"), status == 401 ? "unauthorized" : "forbidden");
    }
    drop(&a);
}

static int make_tokens(void **state)
{
    const int made = make_folder(state);
    snprintf(tokens_path, sizeof tokens_path, "%s/not/there/tokens", folder);
    return made;
}

/* ---- tests -------------------------------------------------------------------------------------------------- */

static void made_and_revoked(void **state)
{
    (void)state;
    char secret[128], printed[4096];
    struct stat file;
    assert_int_not_equal(token(printed, sizeof printed, "list"), 0); /* no file yet */
    add("add alice", secret);
    assert_int_equal(stat(tokens_path, &file), 0);
    assert_int_equal(file.st_mode & 0777, 0600);
    assert_int_equal(token(printed, sizeof printed, "add alice"), 2);
    assert_int_equal(token(printed, sizeof printed, "add 'al ice'"), 2);
    assert_int_equal(token(printed, sizeof printed, "add bob --scope walk"), 2);
    assert_int_equal(token(printed, sizeof printed, "list"), 0);
    assert_non_null(strstr(printed, "alice"));
    assert_non_null(strstr(printed, "eval,run"));
    FILE *f = fopen(tokens_path, "r");
    const size_t len = fread(printed, 1, sizeof printed - 1, f);
    fclose(f);
    printed[len] = '\0';
    assert_null(strstr(printed, secret + 3)); /* its hash is there, not the token */
    assert_int_equal(token(printed, sizeof printed, "revoke bob"), 1);
    assert_int_equal(token(printed, sizeof printed, "revoke alice"), 0);
    assert_int_equal(token(printed, sizeof printed, "list"), 0);
    assert_string_equal(printed, "");
}

static void scopes(void **state)
{
    (void)state;
    char all[128], eval[128], run[128], metrics[128];
    add("add root --scope admin", all);
    add("add reader --scope eval", eval);
    add("add alice --scope eval,run", run);
    add("add prometheus --scope metrics", metrics);
    start_with_tokens("none");
    static const char eval_path[] = "/eval?expr=size(4:1)", body[] = "{" COPY ",\"fresh\":true}";
    struct answer a = request("GET", eval_path, NULL, NULL);
    assert_int_equal(a.status, 401);
    assert_false(has_header(&a, "WWW-Authenticate", "Bearer realm=\"layoutd\", error"));
    drop(&a);
    expect_status("GET", eval_path, NULL, "lt_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", 401);
    expect_status("GET", eval_path, NULL, eval, 200);
    expect_status("POST", "/jobs", body, eval, 403);
    expect_status("POST", "/jobs", body, run, 202);
    expect_status("GET", "/metrics", NULL, run, 403);
    expect_status("GET", "/metrics", NULL, metrics, 200);
    expect_status("GET", "/devices", NULL, metrics, 403);
    expect_status("GET", "/metrics", NULL, all, 200);
    expect_status("POST", "/worker/register", "{\"name\":\"me\",\"executor\":\"cpu\"}", run, 401);
    expect_status("GET", "/livez", NULL, "no token at all", 200);
    expect_status("GET", "/openapi.json", NULL, "", 200);
    stop_daemon();
}

/* The name of the token is the user: a job is its owner's, or the administrator's. */
static void owners(void **state)
{
    (void)state;
    char alice[128], bob[128], root[128], path[64];
    add("add alice", alice);
    add("add bob", bob);
    add("add root --scope admin", root);
    start_with_tokens("none");
    for (int i = 0; i < 2; i++) {
        struct answer a = ask("POST", "/jobs", "{" COPY ",\"fresh\":true}", alice);
        assert_string_equal(text_at(a.json, "user"), "alice");
        snprintf(path, sizeof path, "/jobs/%s", text_at(a.json, "id"));
        drop(&a);
        expect_status("GET", path, NULL, bob, 200);
        struct answer refused = ask("DELETE", path, NULL, bob);
        assert_int_equal(refused.status, 403);
        drop(&refused);
        expect_status("DELETE", path, NULL, i ? root : alice, 200);
    }
    stop_daemon();
}

static int count_listed(const char *path, const char *secret, const char *user)
{
    int count = 0;
    char next[256];
    for (snprintf(next, sizeof next, "%s", path); *next;) {
        struct answer a = ask("GET", next, NULL, secret);
        assert_int_equal(a.status, 200);
        const cJSON *job;
        cJSON_ArrayForEach (job, at(a.json, "jobs")) {
            assert_string_equal(text_at(job, "user"), user);
            count++;
        }
        snprintf(next, sizeof next, "%s", text_at(a.json, "next"));
        drop(&a);
    }
    return count;
}

/* The list of one user: by name for all who may run, @me by the token that asks; page by page, and of one state. */
static void own_list(void **state)
{
    (void)state;
    char alice[128], bob[128], path[64];
    add("add alice", alice);
    add("add bob", bob);
    start_with_tokens("none");
    for (int i = 0; i < 7; i++) {
        struct answer a = ask("POST", "/jobs", "{" COPY ",\"fresh\":true}", i % 3 ? alice : bob);
        assert_int_equal(a.status, 202);
        snprintf(path, sizeof path, "/jobs/%s", text_at(a.json, "id"));
        drop(&a);
    }
    expect_status("DELETE", path, NULL, bob, 200);
    assert_int_equal(count_listed("/jobs?user=@me&limit=1", alice, "alice"), 4);
    assert_int_equal(count_listed("/jobs?user=@me&limit=2", bob, "bob"), 3);
    assert_int_equal(count_listed("/jobs?user=bob", alice, "bob"), 3);
    assert_int_equal(count_listed("/jobs?user=bob&state=queued&limit=1", alice, "bob"), 2);
    assert_int_equal(count_listed("/jobs?user=carol", alice, "carol"), 0);
    stop_daemon();
}

/* Added, revoked, damaged and repaired while the daemon runs. */
static void reloaded(void **state)
{
    (void)state;
    char alice[128], bob[128], printed[256];
    add("add alice", alice);
    start_with_tokens("cpu"); /* its own worker gets in by other means */
    struct answer a = ask("POST", "/jobs", "{" COPY "}", alice);
    drop(&a);
    add("add bob", bob);
    pause_ms(LOOK_MS);
    expect_status("GET", "/devices", NULL, bob, 200);
    assert_int_equal(token(printed, sizeof printed, "revoke alice"), 0);
    pause_ms(LOOK_MS);
    expect_status("GET", "/devices", NULL, alice, 401);
    expect_status("GET", "/devices", NULL, bob, 200);
    FILE *f = fopen(tokens_path, "a");
    fputs("nonsense\n", f);
    fclose(f);
    pause_ms(LOOK_MS);
    expect_status("GET", "/devices", NULL, bob, 401);
    char repair[512];
    snprintf(repair, sizeof repair, "sed -i /nonsense/d %s", tokens_path);
    assert_int_equal(system(repair), 0);
    pause_ms(LOOK_MS);
    a = ask("GET", "/jobs", NULL, bob);
    assert_string_equal(text_at(cJSON_GetArrayItem(at(a.json, "jobs"), 0), "state"), "done");
    drop(&a);
    stop_daemon();
}

/* A worker from elsewhere may have a token of its own. */
static void worker_with_a_token(void **state)
{
    (void)state;
    char worker[128], alice[128], path[64];
    add("add box --scope worker", worker);
    add("add alice", alice);
    start_with_tokens("none");
    setenv("LAYOUTD_WORKER_TOKEN", worker, 1);
    start_worker("cpu");
    setenv("LAYOUTD_WORKER_TOKEN", WORKER_TOKEN, 1);
    struct answer a = ask("POST", "/jobs", "{" COPY "}", alice);
    snprintf(path, sizeof path, "/jobs/%s", text_at(a.json, "id"));
    drop(&a);
    const int64_t until = now_ms() + START_MS;
    bool done = false;
    while (!done && now_ms() < until) {
        a = ask("GET", path, NULL, alice);
        done = strcmp(text_at(a.json, "state"), "done") == 0;
        drop(&a);
        pause_ms(20);
    }
    assert_true(done);
    stop_worker();
    stop_daemon();
}

/* Other machines are let in by tokens or on purpose only. */
static int ends_at_once(const char *flag, const char *value)
{
    char data[512];
    char *argv[] = {"layoutd",   "--listen", "0.0.0.0:0",  "--data",      data,
                    "--workers", "none",     (char *)flag, (char *)value, NULL};
    int status = 0;
    snprintf(data, sizeof data, "%s/data", folder);
    const pid_t pid = spawn("layoutd", "open.log", argv);
    const int64_t until = now_ms() + 1500;
    pid_t ended;
    while (!(ended = waitpid(pid, &status, WNOHANG)) && now_ms() < until)
        pause_ms(10);
    if (!ended) {
        kill(pid, SIGTERM);
        waitpid(pid, &status, 0);
    }
    return ended == pid;
}

static void open_to_others(void **state)
{
    (void)state;
    char secret[128];
    assert_true(ends_at_once(NULL, NULL));
    assert_false(ends_at_once("--no-auth", NULL));
    assert_true(ends_at_once("--tokens", tokens_path)); /* which is not there */
    add("add alice", secret);
    assert_false(ends_at_once("--tokens", tokens_path));
}

/* ---- */

#define TEST_OF_TOKENS(name) cmocka_unit_test_setup_teardown(name, make_tokens, end_all)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST_OF_TOKENS(made_and_revoked), TEST_OF_TOKENS(scopes),
                                       TEST_OF_TOKENS(owners),           TEST_OF_TOKENS(own_list),
                                       TEST_OF_TOKENS(reloaded),         TEST_OF_TOKENS(worker_with_a_token),
                                       TEST_OF_TOKENS(open_to_others)};
    return run_suite(tests);
}
