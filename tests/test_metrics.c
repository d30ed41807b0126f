/* test_metrics.c: /metrics counts what happens to jobs, and docs/metrics.md lists it. */
#include "daemon.h"

/* The value of a line of the answer: NAME, or NAME{LABELS}. */
static double value_of(const char *text, const char *line)
{
    char key[256];
    snprintf(key, sizeof key, "\n%s ", line);
    const char *found = strstr(text, key);
    if (!found)
        fail_msg("there is no %s", line);
    return strtod(found + strlen(key), NULL);
}

static void expect_values(const char *const *lines, const double *values, size_t count)
{
    struct answer a = request("GET", "/metrics", NULL, NULL);
    assert_int_equal(a.status, 200);
    for (size_t i = 0; i < count; i++) {
        const double value = value_of(a.text, lines[i]);
        if (value != values[i])
            fail_msg("%s is %g, not %g", lines[i], value, values[i]);
    }
    drop(&a);
}
#define EXPECT(...) \
    do { \
        static const struct { \
            const char *line; \
            double value; \
        } rows[] = {__VA_ARGS__}; \
        const char *lines[sizeof rows / sizeof *rows]; \
        double values[sizeof rows / sizeof *rows]; \
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) { \
            lines[i] = rows[i].line; \
            values[i] = rows[i].value; \
        } \
        expect_values(lines, values, sizeof rows / sizeof *rows); \
    } while (0)

#define JOBS(state, class) "layoutd_jobs{state=\"" state "\",class=\"" class "\"}"
#define ENDED(state, kind) "layoutd_jobs_ended_total{state=\"" state "\",kind=\"" kind "\"}"
#define SWEEP "{\"kind\":\"sweep\",\"base\":{" COPY "},\"vary\":{\"unroll\":[1,2,4]}}"

static void what_waits(void **state)
{
    (void)state;
    start_daemon("none", "127.0.0.1:0");
    EXPECT({"layoutd_queue_up", 1}, {JOBS("queued", "interactive"), 0},
           {"layoutd_queue_oldest_seconds{class=\"interactive\"}", 0});
    submit(",\"fresh\":true");
    submit(",\"executor\":\"gpu\"");
    struct answer a = request("POST", "/jobs", SWEEP, NULL);
    assert_int_equal(a.status, 202);
    drop(&a);
    pause_ms(50);
    EXPECT({JOBS("queued", "interactive"), 2}, {JOBS("queued", "sweep"), 3}, {JOBS("running", "sweep"), 0},
           {"layoutd_jobs_submitted_total", 5}, {"layoutd_leases_total", 0}, {"layoutd_webhooks_due", 0});
    a = request("GET", "/metrics", NULL, NULL);
    assert_true(value_of(a.text, "layoutd_queue_oldest_seconds{class=\"interactive\"}") >= 0.05);
    assert_true(value_of(a.text, "layoutd_queue_oldest_seconds{class=\"sweep\"}") >= 0.05);
    assert_true(value_of(a.text, "layoutd_store_batch_calls_sum") == 3); /* submissions */
    assert_true(value_of(a.text, "layoutd_store_batch_calls_bucket{le=\"1\"}") == 3);
    assert_true(value_of(a.text, "layoutd_store_commits_total") >= 3);
    assert_true(value_of(a.text, "layoutd_store_bytes") > 4096);
    drop(&a);
    stop_daemon();
}

static void what_has_ended(void **state)
{
    (void)state;
    start_daemon("cpu", "127.0.0.1:0");
    expect_end(submit(""), "done", "", 1);
    expect_end(submit(""), "done", "", 1); /* from the store */
    expect_end(submit(",\"plant\":\"trap\""), "failed", "kernel_fault", 1);
    expect_end(submit(",\"executor\":\"gpu\",\"budget\":{\"queue_ms\":50}"), "failed", "timeout_queue", 0);
    const struct id hangs = submit(",\"plant\":\"hang\"");
    expect_state(hangs, "running");
    EXPECT({JOBS("running", "interactive"), 1}, {JOBS("queued", "interactive"), 0});
    assert_int_equal(cancel(hangs), 202);
    expect_end(hangs, "cancelled", "", 1);
    struct answer a = request("POST", "/jobs", SWEEP, "Prefer: wait=30");
    assert_string_equal(text_at(a.json, "state"), "done");
    drop(&a);
    EXPECT({ENDED("done", ""), 4}, {ENDED("cancelled", ""), 1}, {ENDED("failed", "kernel_fault"), 1},
           {ENDED("failed", "timeout_queue"), 1}, {ENDED("failed", "infra"), 0}, {"layoutd_leases_total", 6},
           {"layoutd_answers_reused_total", 1}, {"layoutd_leases_lost_total", 0},
           {"layoutd_workers{executor=\"cpu\",state=\"ready\"}", 1},
           {"layoutd_workers{executor=\"gpu\",state=\"ready\"}", 0});
    const struct id lost = submit(",\"plant\":\"hang\",\"seed\":2,\"budget\":{\"run_ms\":300}");
    expect_state(lost, "running");
    kill_worker();
    expect_end(lost, "failed", "timeout_run", 2);
    EXPECT({"layoutd_leases_lost_total", 1}, {ENDED("failed", "timeout_run"), 1});
    stop_daemon();
}

/* A short job is a lease and a result: what happens in between is told with the end. */
static void requests_of_a_short_job(void **state)
{
    (void)state;
    enum { SHORT_JOBS = 30, MOST = SHORT_JOBS * 3 }; /* on a busy machine one of them may take longer */
    static const char requests[] = "layoutd_http_requests_total{route=\"/worker/{action}\",status=\"200\"}";
    start_daemon("cpu", "127.0.0.1:0");
    expect_end(submit(""), "done", "", 1);
    struct answer a = request("GET", "/metrics", NULL, NULL);
    const double before = value_of(a.text, requests);
    drop(&a);
    for (int i = 0; i < SHORT_JOBS; i++)
        expect_end(submit(",\"fresh\":true"), "done", "", 1);
    a = request("GET", "/metrics", NULL, NULL);
    const double count = value_of(a.text, requests) - before;
    drop(&a);
    print_message("%d short jobs: %.0f requests of their worker\n", SHORT_JOBS, count);
    if (!SANITIZED)
        assert_true(count < MOST);
    stop_daemon();
}

/* ---- the document ------------------------------------------------------------------------------------------- */

static char *read_document(void)
{
    char *text = calloc(1, 1 << 20);
    FILE *f = fopen("docs/metrics.md", "r");
    assert_non_null(f);
    text[fread(text, 1, (1 << 20) - 1, f)] = '\0';
    fclose(f);
    return text;
}

static int count_text(const char *text, const char *what)
{
    int count = 0;
    while ((text = strstr(text, what))) {
        count++;
        text += strlen(what);
    }
    return count;
}

/* Each name that is answered has a row with its type, and there are as many rows as names. */
static void is_documented(void **state)
{
    (void)state;
    start_daemon("none", "127.0.0.1:0");
    struct answer a = request("GET", "/metrics", NULL, NULL);
    char *text = read_document();
    int names = 0;
    for (const char *head = a.text; (head = strstr(head, "# TYPE ")); names++) {
        char name[100], type[20], row[160];
        assert_int_equal(sscanf(head, "# TYPE %99s %19s", name, type), 2);
        snprintf(row, sizeof row, "\n| `%s` | %s |", name, type);
        if (count_text(text, row) != 1)
            fail_msg("docs/metrics.md has no row%s", row);
        head++;
    }
    assert_int_equal(count_text(text, "\n| `"), names);
    assert_int_equal(count_text(a.text, "# HELP "), names);
    free(text);
    drop(&a);
    stop_daemon();
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(what_waits), TEST(what_has_ended), TEST(requests_of_a_short_job),
                                       TEST(is_documented)};
    return run_suite(tests);
}
