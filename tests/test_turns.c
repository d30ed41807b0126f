/* test_turns.c: whose turn it is, as people see it: in times and in the order in which jobs ran.
 *
 * Users are addresses of this machine: 127.0.0.1, 127.0.0.2. */
#include "daemon.h"

enum {
    CHILDREN = 1000,
    INTERACTIVE = 10, /* jobs of the other user, one after the other */
    EACH = 12,        /* jobs of each of two users */
    SPARE_MS = 250    /* beyond the job that runs: leases, an HTTP round trip, a busy machine */
};

#define A "127.0.0.1"
#define B "127.0.0.2"

/* A copy that takes some tens of milliseconds on the CPU. */
#define SLOW \
    "\"kind\":\"copy\",\"type\":\"half_t\",\"atom\":\"UniversalCopy<uint128_t>\",\"thr\":\"(8,4):(4,1)\"," \
    "\"val\":\"(1,8):(0,1)\",\"src\":\"(1024,2048):(2048,1)\",\"dst\":\"(1024,2048):(2048,1)\""

static struct id submit_as(const char *user, const char *more)
{
    from_address = user;
    const struct id id = submit(more);
    from_address = NULL;
    return id;
}

static long status_as(const char *user, const char *more, struct answer *a)
{
    char body[1024];
    snprintf(body, sizeof body, "{" COPY "%s}", more);
    from_address = user;
    *a = request("POST", "/jobs", body, NULL);
    from_address = NULL;
    return a->status;
}

/* ---- a sweep, and a person ---------------------------------------------------------------------------------- */

static struct id submit_slow_sweep(void)
{
    static char body[16 * 1024];
    size_t len = (size_t)snprintf(body, sizeof body,
                                  "{\"kind\":\"sweep\",\"base\":{" SLOW "},\"vary\":{\"seed\":[1");
    for (int i = 2; i <= CHILDREN; i++)
        len += (size_t)snprintf(body + len, sizeof body - len, ",%d", i);
    snprintf(body + len, sizeof body - len, "]}}");
    struct id id;
    struct answer a = request("POST", "/jobs", body, NULL);
    assert_int_equal(a.status, 202);
    snprintf(id.text, sizeof id.text, "%s", text_at(a.json, "id"));
    drop(&a);
    return id;
}

/* Milliseconds from submission to result of a job of B. */
static int64_t time_interactive(void)
{
    from_address = B;
    const int64_t begun = now_ms();
    struct answer a = request("POST", "/jobs", "{" COPY ",\"fresh\":true}", "Prefer: wait=30");
    const int64_t took = now_ms() - begun;
    from_address = NULL;
    assert_int_equal(a.status, 200);
    assert_string_equal(text_at(a.json, "state"), "done");
    drop(&a);
    return took;
}

/* The longest that any child ran so far, by what its user was charged. */
static int64_t longest_child(struct id sweep, int *done)
{
    char path[128];
    double longest = 0;
    snprintf(path, sizeof path, "/jobs?state=done&limit=500&parent=%s", sweep.text);
    struct answer a = request("GET", path, NULL, NULL);
    const cJSON *job;
    *done = 0;
    cJSON_ArrayForEach (job, at(a.json, "jobs")) {
        const double cost = cJSON_GetNumberValue(at(job, "charged_ms"));
        longest = cost > longest ? cost : longest;
        ++*done;
    }
    drop(&a);
    return (int64_t)longest;
}

static void sweep_delays_nobody(void **state)
{
    (void)state;
    int64_t worst = 0, sum = 0;
    int done;
    start_daemon("cpu", "127.0.0.1:0");
    const int64_t alone = time_interactive();
    const int64_t begun = now_ms();
    const struct id sweep = submit_slow_sweep();
    const int64_t submitted = now_ms() - begun;
    expect_state(sweep, "running");
    for (int i = 0; i < INTERACTIVE; i++) {
        const int64_t took = time_interactive();
        worst = took > worst ? took : worst;
        sum += took;
        pause_ms(20);
    }
    const int64_t longest = longest_child(sweep, &done);
    assert_true(done < CHILDREN / 2); /* the sweep was in the way all the time */
    print_message("%d children submitted in %lld ms, %d of them done, the longest in %lld ms; meanwhile %d "
                  "interactive jobs: %lld ms on average, %lld ms at most (alone: %lld ms)\n",
                  CHILDREN, (long long)submitted, done, (long long)longest, INTERACTIVE,
                  (long long)(sum / INTERACTIVE), (long long)worst, (long long)alone);
    assert_true(worst <= longest + alone + SPARE_MS);
    const int64_t cancelled = now_ms();
    cancel(sweep);
    expect_end(sweep, "cancelled", "", 0);
    print_message("the rest of the sweep cancelled in %lld ms\n", (long long)(now_ms() - cancelled));
    stop_daemon();
}

/* ---- two people --------------------------------------------------------------------------------------------- */

/* How many jobs of A had begun before this job of B did. */
static int begun_before(const struct id *ids, const char *time)
{
    int count = 0;
    for (int i = 0; i < EACH; i++) {
        struct answer a = fetch(ids[i], 0);
        count += strcmp(text_at(a.json, "started"), time) < 0;
        drop(&a);
    }
    return count;
}

/* A has submitted everything before B comes, and still they take turns. */
static void users_take_turns(void **state)
{
    (void)state;
    struct id a[EACH], b[EACH];
    start_daemon("none", "127.0.0.1:0");
    for (int i = 0; i < EACH; i++)
        a[i] = submit_as(A, ",\"plant\":\"hang\",\"budget\":{\"run_ms\":40}");
    for (int i = 0; i < EACH; i++)
        b[i] = submit_as(B, ",\"plant\":\"hang\",\"budget\":{\"run_ms\":40}");
    struct answer place = fetch(b[2], 0);
    assert_true(cJSON_GetNumberValue(at(place.json, "position")) == 6); /* two of B's own, and three of A's */
    assert_true(cJSON_GetNumberValue(at(place.json, "estimate_ms")) > 0);
    drop(&place);
    start_worker("cpu");
    expect_end(a[EACH - 1], "failed", "timeout_run", 1);
    expect_end(b[EACH - 1], "failed", "timeout_run", 1);
    for (int i = 0; i < EACH; i++) {
        struct answer job = fetch(b[i], 0);
        assert_in_range(begun_before(a, text_at(job.json, "started")), i > 0 ? i - 1 : 0, i + 2);
        drop(&job);
    }
    stop_worker();
    stop_daemon();
}

/* ---- the door ----------------------------------------------------------------------------------------------- */

static void too_many_queued(void **state)
{
    (void)state;
    struct answer a;
    more_flags[0] = "--user-queued";
    more_flags[1] = "3";
    more_flags[2] = NULL;
    start_daemon("none", "127.0.0.1:0");
    for (int i = 0; i < 3; i++) {
        char left[16];
        snprintf(left, sizeof left, "%d", 2 - i);
        assert_int_equal(status_as(A, ",\"fresh\":true", &a), 202);
        assert_true(has_header(&a, "RateLimit-Limit", "3"));
        assert_true(has_header(&a, "RateLimit-Remaining", left));
        drop(&a);
    }
    assert_int_equal(status_as(A, ",\"fresh\":true", &a), 429);
    assert_string_equal(text_at(a.json, "code"), "too_many_requests");
    assert_true(has_header(&a, "Retry-After", NULL));
    assert_true(has_header(&a, "RateLimit-Remaining", "0"));
    drop(&a);
    assert_int_equal(status_as(B, ",\"fresh\":true", &a), 202);
    drop(&a);
    stop_daemon();
}

/* One of A's two hangs at a time, so the second worker is there for B. */
static void one_running_each(void **state)
{
    (void)state;
    more_flags[0] = "--user-running";
    more_flags[1] = "1";
    more_flags[2] = NULL;
    start_daemon("2", "127.0.0.1:0");
    const struct id first = submit_as(A, ",\"plant\":\"hang\",\"budget\":{\"run_ms\":1500}"),
                    second = submit_as(A, ",\"plant\":\"hang\",\"budget\":{\"run_ms\":300}");
    expect_state(first, "running");
    expect_end(submit_as(B, ""), "done", "", 1);
    expect_state(second, "queued");
    expect_end(first, "failed", "timeout_run", 1);
    expect_end(second, "failed", "timeout_run", 1);
    stop_daemon();
}

static void hour_is_used_up(void **state)
{
    (void)state;
    struct answer a;
    more_flags[0] = "--user-seconds";
    more_flags[1] = "1";
    more_flags[2] = NULL;
    start_daemon("cpu", "127.0.0.1:0");
    expect_end(submit_as(A, ",\"plant\":\"hang\",\"budget\":{\"run_ms\":1100}"), "failed", "timeout_run", 1);
    assert_int_equal(status_as(A, "", &a), 429);
    assert_true(has_header(&a, "Retry-After", NULL));
    drop(&a);
    expect_end(submit_as(B, ""), "done", "", 1);
    stop_daemon();
}

/* What was lost with its workers is not charged. */
static void lost_is_refunded(void **state)
{
    (void)state;
    start_daemon("cpu", "127.0.0.1:0");
    const struct id id = submit(",\"plant\":\"hang\"");
    expect_state(id, "running");
    for (int i = 1; i <= 2; i++) {
        while (count_events(id, "running") < i)
            pause_ms(20);
        kill_worker();
    }
    expect_end(id, "failed", "infra", 2);
    struct answer a = fetch(id, 0);
    assert_null(at(a.json, "charged_ms"));
    drop(&a);
    const struct id good = submit("");
    expect_end(good, "done", "", 1);
    a = fetch(good, 0);
    assert_true(cJSON_GetNumberValue(at(a.json, "charged_ms")) >= 1);
    drop(&a);
    stop_daemon();
}

/* Three faults of one spec stop that spec: also what is queued of it, and nothing else. */
static void faulty_spec_is_stopped(void **state)
{
    (void)state;
    struct answer a;
    struct id ids[5];
    start_daemon("none", "127.0.0.1:0");
    for (int i = 0; i < 5; i++)
        ids[i] = submit(",\"plant\":\"segfault\"");
    start_worker("cpu");
    for (int i = 0; i < 5; i++)
        expect_end(ids[i], "failed", "kernel_fault", i < 3 ? 1 : 0);
    assert_int_equal(status_as(A, ",\"plant\":\"segfault\"", &a), 422);
    assert_string_equal(text_at(a.json, "code"), "kernel_faults");
    drop(&a);
    expect_end(submit(",\"plant\":\"trap\""), "failed", "kernel_fault", 1);
    expect_end(submit(""), "done", "", 1);
    stop_worker();
    stop_daemon();
}

/* ---- */

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(sweep_delays_nobody),   TEST(users_take_turns),
                                       TEST(too_many_queued),       TEST(one_running_each),
                                       TEST(hour_is_used_up),       TEST(lost_is_refunded),
                                       TEST(faulty_spec_is_stopped)};
    return run_suite(tests);
}
