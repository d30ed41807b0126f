/* test_jobs.c: the queue with real processes: daemons, workers and executors that are started, killed and
 * replaced.
 *
 * Jobs run on the CPU executor. Faults are planted in the job (the executor hangs, crashes, computes
 * wrongly) or made from outside (SIGKILL, a full disk, a damaged file). A daemon that ends must end with
 * status 0, so that a leak or a race that a sanitizer saw in it fails the test. */
#include "daemon.h"

#include <sys/resource.h>

enum { WAITING = 10 };

/* ---- tests -------------------------------------------------------------------------------------------------- */

static void copy_is_verified(void **state)
{
    (void)state;
    start_daemon("cpu", "127.0.0.1:0");
    struct answer a = request("POST", "/jobs", "{" COPY "}", "Prefer: wait=30");
    assert_int_equal(a.status, 200);
    assert_string_equal(text_at(a.json, "state"), "done");
    assert_true(cJSON_IsTrue(at(a.json, "result.verified")));
    assert_string_equal(text_at(a.json, "executor"), "cpu");
    struct answer source = request("GET", text_at(a.json, "links.source"), NULL, NULL);
    assert_int_equal(source.status, 200);
    assert_non_null(strstr(source.text, "__global__"));
    drop(&source);
    struct id id;
    snprintf(id.text, sizeof id.text, "%s", text_at(a.json, "id"));
    drop(&a);
    static const char *const life[] = {"queued", "leased", "running", "done"};
    for (size_t i = 0; i < sizeof life / sizeof *life; i++)
        assert_int_equal(count_events(id, life[i]), 1);
    stop_daemon();
}

/* The check of an MMA partition, and one that is refused with its numbers. */
static void mma_is_verified(void **state)
{
    (void)state;
    start_daemon("cpu", "127.0.0.1:0");
    struct answer a = request(
        "POST", "/jobs",
        "{\"kind\":\"mma\",\"atom\":\"SM80_16x8x16_F32F16F16F32_TN\",\"atom_layout\":\"(2,2,1)\","
        "\"permutation\":\"(_,_,_)\",\"executor\":\"cpu\"}",
        "Prefer: wait=30");
    assert_int_equal(a.status, 200);
    assert_string_equal(text_at(a.json, "state"), "done");
    assert_string_equal(text_at(a.json, "kind"), "mma");
    assert_true(cJSON_IsTrue(at(a.json, "result.verified")));
    assert_int_equal(number_at(a.json, "result.checked.elements"), 32 * 16);
    assert_string_equal(text_at(a.json, "result.checked.bound"),
                        "|d - exact| <= 17 * 2^-22 * (sum |a*b| + |c|)");
    assert_int_equal(number_at(a.json, "result.plan.threads"), 128);
    drop(&a);
    expect_refused(
        "{\"kind\":\"mma\",\"atom\":\"SM80_16x8x16_F32F16F16F32_TN\",\"permutation\":\"(24,_,_)\"}",
        "permutation");
    stop_daemon();
}

static void refused_before_queued(void **state)
{
    (void)state;
    static const struct {
        const char *body, *in;
    } wrong[] = {
        {"{" COPY ",\"atom2\":1}", "atom2"},
        {"{" COPY ",\"budget\":{\"run_ms\":0}}", "budget"},
        {"{" COPY ",\"budget\":{\"walk_ms\":1}}", "budget"},
        {"{\"kind\":\"copy\",\"type\":\"half_t\",\"atom\":\"UniversalCopy<uint128_t>\",\"thr\":\"(8,4):(4,1)"
         "\","
         "\"val\":\"(8,1):(1,0)\",\"src\":\"(64,64):(64,1)\",\"dst\":\"(64,64):(64,1)\"}",
         "val"},
        {"{\"kind\":\"copy\",\"type\":\"half_t\",\"atom\":\"UniversalCopy<uint16_t>\",\"thr\":\"(8,4:(4,1)\","
         "\"val\":\"(1,8):(0,1)\",\"src\":\"(64,64):(64,1)\",\"dst\":\"(64,64):(64,1)\"}",
         "thr"},
    };
    start_daemon("none", "127.0.0.1:0");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        expect_refused(wrong[i].body, wrong[i].in);
    assert_int_equal(count_jobs(""), 0);
    stop_daemon();
}

static void answered_from_the_store(void **state)
{
    (void)state;
    start_daemon("cpu", "127.0.0.1:0");
    const struct id first = submit("");
    expect_end(first, "done", "", 1);
    struct answer a = request("POST", "/jobs", "{" COPY "}", NULL);
    assert_int_equal(a.status, 200);
    assert_string_equal(text_at(a.json, "id"), first.text);
    assert_true(cJSON_IsTrue(at(a.json, "cached")));
    assert_true(cJSON_IsNumber(at(a.json, "age_s")));
    drop(&a);
    const struct id again = submit(",\"fresh\":true"), other = submit(",\"seed\":7");
    assert_string_not_equal(again.text, first.text);
    assert_string_not_equal(other.text, first.text);
    expect_end(again, "done", "", 1);
    expect_end(other, "done", "", 1);
    stop_daemon();
}

static void same_key_same_job(void **state)
{
    (void)state;
    start_daemon("cpu", "127.0.0.1:0");
    struct answer a = request("POST", "/jobs", "{" COPY ",\"fresh\":true}", "Idempotency-Key: k1");
    struct answer b = request("POST", "/jobs", "{" COPY ",\"fresh\":true}", "Idempotency-Key: k1");
    struct answer c = request("POST", "/jobs", "{" COPY ",\"fresh\":true}", "Idempotency-Key: k2");
    struct answer d = request("POST", "/jobs", "{" COPY ",\"seed\":3}", "Idempotency-Key: k1");
    assert_int_equal(a.status, 202);
    assert_string_equal(text_at(a.json, "id"), text_at(b.json, "id"));
    assert_string_not_equal(text_at(a.json, "id"), text_at(c.json, "id"));
    assert_int_equal(d.status, 422);
    assert_string_equal(text_at(d.json, "code"), "idempotency_key");
    drop(&a);
    drop(&b);
    drop(&c);
    drop(&d);
    stop_daemon();
}

static void planted_faults(void **state)
{
    (void)state;
    start_daemon("cpu", "127.0.0.1:0");
    expect_end(submit(",\"plant\":\"segfault\""), "failed", "kernel_fault", 1);
    expect_end(submit(",\"fresh\":true"), "done", "", 1);
    expect_end(submit(",\"plant\":\"hang\",\"budget\":{\"run_ms\":300}"), "failed", "timeout_run", 1);
    expect_end(submit(",\"fresh\":true"), "done", "", 1);
    expect_end(submit(",\"plant\":\"trap\""), "failed", "kernel_fault", 1);
    const struct id wrong = submit(",\"plant\":\"wrong_value\"");
    struct answer a = fetch(wrong, END_S);
    assert_string_equal(text_at(a.json, "state"), "done");
    assert_true(cJSON_IsFalse(at(a.json, "result.verified")));
    assert_non_null(at(a.json, "result.mismatch.coordinate"));
    drop(&a);
    const struct id rerun = submit(",\"plant\":\"wrong_value\"");
    assert_string_not_equal(rerun.text, wrong.text); /* what did not verify is no answer */
    expect_end(submit(",\"fresh\":true"), "done", "", 1);
    stop_daemon();
}

static void signal_executor(int signal_number)
{
    const pid_t executor = find_executor();
    assert_true(executor > 0);
    assert_int_equal(kill(executor, signal_number), 0);
    while (signal_number == SIGKILL && find_executor() == executor)
        pause_ms(1); /* a signal is not at once */
}

/* One that died idle costs the next job nothing; one that does not even begin is seen too: SIGTERM does not reach
 * it, SIGKILL does. */
static void executor_dead_or_stopped(void **state)
{
    (void)state;
    start_daemon("cpu", "127.0.0.1:0");
    expect_end(submit(""), "done", "", 1);
    signal_executor(SIGKILL);
    expect_end(submit(",\"fresh\":true"), "done", "", 1);
    signal_executor(SIGSTOP);
    expect_end(submit(",\"fresh\":true,\"budget\":{\"compile_ms\":200}"), "failed", "timeout_compile", 1);
    expect_end(submit(",\"fresh\":true"), "done", "", 1);
    stop_daemon();
}

static void no_worker_in_time(void **state)
{
    (void)state;
    start_daemon("none", "127.0.0.1:0");
    expect_end(submit(",\"budget\":{\"queue_ms\":200}"), "failed", "timeout_queue", 0);
    expect_end(submit(",\"executor\":\"gpu\",\"budget\":{\"queue_ms\":100}"), "failed", "timeout_queue", 0);
    stop_daemon();
}

static void cancel_in_each_state(void **state)
{
    (void)state;
    start_daemon("cpu", "127.0.0.1:0");
    const struct id hangs = submit(",\"plant\":\"hang\"");
    expect_state(hangs, "running");
    const struct id queued = submit("");
    assert_int_equal(cancel(queued), 200);
    expect_end(queued, "cancelled", "", 0);
    const int64_t begun = now_ms();
    assert_int_equal(cancel(hangs), 202);
    expect_end(hangs, "cancelled", "", 1);
    print_message("running job cancelled in %lld ms\n", (long long)(now_ms() - begun));
    assert_int_equal(cancel(hangs), 200);
    const struct id done = submit("");
    expect_end(done, "done", "", 1);
    assert_int_equal(cancel(done), 409);
    stop_daemon();
}

/* The first loss gives the job back to the queue, the second is enough. */
static void worker_killed_twice(void **state)
{
    (void)state;
    start_daemon("cpu", "127.0.0.1:0");
    const struct id id = submit(",\"plant\":\"hang\"");
    expect_state(id, "running");
    kill_worker();
    while (count_events(id, "running") < 2)
        pause_ms(20);
    kill_worker();
    expect_end(id, "failed", "infra", 2);
    expect_end(submit(""), "done", "", 1);
    stop_daemon();
}

static void daemon_killed(void **state)
{
    (void)state;
    struct id ids[WAITING];
    start_daemon("cpu", "127.0.0.1:0");
    const struct id finished = submit("");
    expect_end(finished, "done", "", 1);
    struct answer before = fetch(finished, 0);
    const struct id hangs = submit(",\"plant\":\"hang\",\"budget\":{\"run_ms\":1000}");
    for (int i = 0; i < WAITING; i++)
        ids[i] = submit(",\"fresh\":true");
    expect_state(hangs, "running");
    const pid_t worker = child_of(daemon_pid, "--device");
    end(&daemon_pid, SIGKILL);
    for (int i = 0; i < 100 && kill(worker, 0) == 0; i++)
        pause_ms(20);
    assert_int_not_equal(kill(worker, 0), 0); /* it died with its daemon */
    start_daemon("cpu", "127.0.0.1:0");
    struct answer after = fetch(finished, 0);
    assert_string_equal(before.text, after.text);
    drop(&before);
    drop(&after);
    expect_end(hangs, "failed", "timeout_run", 2);
    for (int i = 0; i < WAITING; i++)
        expect_end(ids[i], "done", "", 1);
    stop_daemon();
}

/* Its job and its lease outlive the daemon, too. */
static void worker_outlives_daemon(void **state)
{
    (void)state;
    start_daemon("none", "127.0.0.1:0");
    start_worker("cpu");
    expect_end(submit(""), "done", "", 1);
    const struct id id = submit(",\"plant\":\"hang\",\"budget\":{\"run_ms\":2500}");
    expect_state(id, "running");
    end(&daemon_pid, SIGKILL);
    start_daemon("none", url + strlen("http://"));
    expect_end(id, "failed", "timeout_run", 1);
    expect_end(submit(",\"fresh\":true"), "done", "", 1);
    stop_worker();
    stop_daemon();
}

/* A worker that is told to end hands its job back, and that is no attempt. */
static void worker_ends(void **state)
{
    (void)state;
    start_daemon("none", "127.0.0.1:0");
    start_worker("cpu");
    const struct id id = submit(",\"plant\":\"hang\",\"budget\":{\"run_ms\":1000}");
    expect_state(id, "running");
    stop_worker();
    expect_state(id, "queued");
    start_worker("cpu");
    expect_end(id, "failed", "timeout_run", 1);
    stop_worker();
    stop_daemon();
}

static void daemon_drains(void **state)
{
    (void)state;
    start_daemon("cpu", "127.0.0.1:0");
    const struct id runs = submit(",\"plant\":\"hang\",\"budget\":{\"run_ms\":800}");
    expect_state(runs, "running");
    const struct id waits = submit("");
    stop_daemon();
    start_daemon("none", "127.0.0.1:0");
    expect_end(runs, "failed", "timeout_run", 1);
    expect_state(waits, "queued");
    stop_daemon();
    start_daemon("cpu", "127.0.0.1:0");
    expect_end(waits, "done", "", 1);
    stop_daemon();
}

static void damaged_store(void **state)
{
    (void)state;
    char path[512];
    start_daemon("cpu", "127.0.0.1:0");
    expect_end(submit(""), "done", "", 1);
    stop_daemon();
    snprintf(path, sizeof path, "%s/data/layoutd.db", folder);
    const int fd = open(path, O_WRONLY);
    char noise[8192];
    memset(noise, 0x5a, sizeof noise);
    assert_int_equal(pwrite(fd, noise, sizeof noise, 4096 * 2 + 100), sizeof noise);
    close(fd);
    start_daemon("cpu", "127.0.0.1:0");
    expect_end(submit(""), "done", "", 1);
    snprintf(path, sizeof path, "ls %s/data/layoutd.db.corrupt-* > /dev/null", folder);
    assert_int_equal(system(path), 0);
    stop_daemon();
}

static void one_daemon_a_folder(void **state)
{
    (void)state;
    char data[512];
    char *argv[] = {"layoutd", "--listen", "127.0.0.1:0", "--data", data, "--workers", "none", NULL};
    int status;
    snprintf(data, sizeof data, "%s/data", folder);
    start_daemon("none", "127.0.0.1:0");
    const pid_t second = spawn("layoutd", "second.log", argv);
    assert_int_equal(waitpid(second, &status, 0), second);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) != 0);
    submit("");
    stop_daemon();
}

/* A file that may not grow stands for a full disk. */
static void disk_full(void **state)
{
    (void)state;
    const struct rlimit small = {.rlim_cur = 1, .rlim_max = RLIM_INFINITY},
                        large = {RLIM_INFINITY, RLIM_INFINITY};
    start_daemon("cpu", "127.0.0.1:0");
    expect_end(submit(""), "done", "", 1);
    assert_int_equal(prlimit(daemon_pid, RLIMIT_FSIZE, &small, NULL), 0);
    struct answer a = request("POST", "/jobs", "{" COPY ",\"fresh\":true}", NULL);
    assert_int_equal(a.status, 503);
    drop(&a);
    assert_int_equal(prlimit(daemon_pid, RLIMIT_FSIZE, &large, NULL), 0);
    expect_end(submit(",\"fresh\":true"), "done", "", 1);
    assert_int_equal(count_jobs(""), 2); /* the refused one left nothing */
    stop_daemon();
}

static void pages_of_jobs(void **state)
{
    (void)state;
    enum { ALL = 7, PAGE = 3 };
    struct id ids[ALL];
    char path[256] = "/jobs?state=queued&limit=3";
    int seen = 0;
    start_daemon("none", "127.0.0.1:0");
    for (int i = 0; i < ALL; i++)
        ids[i] = submit(",\"fresh\":true");
    while (*path) {
        struct answer a = request("GET", path, NULL, NULL);
        assert_int_equal(a.status, 200);
        const cJSON *job;
        cJSON_ArrayForEach (job, at(a.json, "jobs")) {
            assert_string_equal(text_at(job, "id"), ids[ALL - 1 - seen++].text);
        }
        snprintf(path, sizeof path, "%s", text_at(a.json, "next"));
        drop(&a);
    }
    assert_int_equal(seen, ALL);
    static const char *const bad_paths[] = {"/jobs?state=lost", "/jobs?user=", "/jobs?user=a%26b",
                                            "/jobs?user=@you"};
    for (size_t i = 0; i < sizeof bad_paths / sizeof *bad_paths; i++) {
        struct answer bad = request("GET", bad_paths[i], NULL, NULL);
        assert_int_equal(bad.status, 400);
        drop(&bad);
    }
    stop_daemon();
}

/* ---- the lease protocol, spoken by hand --------------------------------------------------------------------- */

static void lease_by_hand(void **state)
{
    (void)state;
    cJSON *me, *leased, *heard;
    char body[512], path[128], lease[64];
    start_daemon("none", "127.0.0.1:0");
    assert_int_equal(tell("/worker/register", "guess", "{\"name\":\"me\",\"executor\":\"cpu\"}", NULL), 401);
    assert_int_equal(tell("/worker/register", WORKER_TOKEN, "{\"name\":\"me\",\"executor\":\"cpu\"}", &me),
                     200);
    snprintf(body, sizeof body, "{\"worker\":\"%s\"}", text_at(me, "worker"));
    assert_int_equal(tell("/worker/lease", WORKER_TOKEN, body, NULL), 204);
    const struct id id = submit("");
    assert_int_equal(tell("/worker/lease", WORKER_TOKEN, body, &leased), 200);
    assert_string_equal(text_at(leased, "job"), id.text);
    snprintf(lease, sizeof lease, "%s", text_at(leased, "lease"));

    snprintf(path, sizeof path, "/worker/jobs/%s/event", id.text);
    assert_int_equal(
        tell(path, WORKER_TOKEN, "{\"lease\":\"0123\",\"events\":[{\"type\":\"running\"}]}", NULL), 409);
    snprintf(body, sizeof body, "{\"lease\":\"%s\",\"events\":[{\"type\":\"running\"}]}", lease);
    assert_int_equal(tell(path, WORKER_TOKEN, body, &heard), 200);
    assert_true(cJSON_IsFalse(at(heard, "cancel")));
    cJSON_Delete(heard);
    assert_int_equal(cancel(id), 202);
    assert_int_equal(tell(path, WORKER_TOKEN, body, &heard), 200);
    assert_true(cJSON_IsTrue(at(heard, "cancel")));

    snprintf(path, sizeof path, "/worker/jobs/%s/result", id.text);
    snprintf(body, sizeof body, "{\"lease\":\"%s\",\"state\":\"done\",\"result\":{\"verified\":true}}",
             lease);
    /* It was done before it heard of the cancellation; the second time it has missed the answer. */
    assert_int_equal(tell(path, WORKER_TOKEN, body, NULL), 200);
    assert_int_equal(tell(path, WORKER_TOKEN, body, NULL), 200);
    expect_end(id, "done", "", 1);
    assert_int_equal(count_events(id, "done"), 1);
    snprintf(path, sizeof path, "/worker/jobs/%s/event", id.text);
    snprintf(body, sizeof body, "{\"lease\":\"%s\",\"events\":[{\"type\":\"running\"}]}", lease);
    assert_int_equal(tell(path, WORKER_TOKEN, body, NULL), 409);
    cJSON_Delete(me);
    cJSON_Delete(leased);
    cJSON_Delete(heard);
    stop_daemon();
}

/* What led to the end may come with it, in its order; what is no event is refused, and changes nothing. */
static void events_with_the_end(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "{}",
        "[1]",
        "[{}]",
        "[{\"type\":7}]",
        "[{\"type\":\"\"}]",
        "[{\"type\":\"a type that is too long to be the type of anything\"}]"};
    static const char *const right[] = {"queued", "leased", "running", "note", "done"};
    cJSON *me, *leased;
    char body[512], path[128], lease[64];
    start_daemon("none", "127.0.0.1:0");
    assert_int_equal(tell("/worker/register", WORKER_TOKEN, "{\"name\":\"me\",\"executor\":\"cpu\"}", &me),
                     200);
    const struct id id = submit("");
    snprintf(body, sizeof body, "{\"worker\":\"%s\"}", text_at(me, "worker"));
    assert_int_equal(tell("/worker/lease", WORKER_TOKEN, body, &leased), 200);
    snprintf(lease, sizeof lease, "%s", text_at(leased, "lease"));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(path, sizeof path, "/worker/jobs/%s/event", id.text);
        snprintf(body, sizeof body, "{\"lease\":\"%s\",\"events\":%s}", lease, wrong[i]);
        assert_int_equal(tell(path, WORKER_TOKEN, body, NULL), 400);
    }
    snprintf(path, sizeof path, "/worker/jobs/%s/result", id.text);
    snprintf(body, sizeof body,
             "{\"lease\":\"%s\",\"events\":[{\"type\":\"running\"},{\"type\":\"note\",\"n\":7}],\"state\":"
             "\"done\","
             "\"result\":{\"verified\":true}}",
             lease);
    assert_int_equal(tell(path, WORKER_TOKEN, body, NULL), 200);
    assert_int_equal(tell(path, WORKER_TOKEN, body, NULL), 200); /* a repeat adds nothing */
    expect_end(id, "done", "", 1);
    snprintf(path, sizeof path, "/jobs/%s/events", id.text);
    struct answer a = request("GET", path, NULL, NULL);
    assert_int_equal(cJSON_GetArraySize(at(a.json, "events")), sizeof right / sizeof *right);
    for (int i = 0; i < (int)(sizeof right / sizeof *right); i++)
        assert_string_equal(text_at(cJSON_GetArrayItem(at(a.json, "events"), i), "type"), right[i]);
    assert_true(number_at(cJSON_GetArrayItem(at(a.json, "events"), 3), "data.n") == 7);
    drop(&a);
    cJSON_Delete(me);
    cJSON_Delete(leased);
    stop_daemon();
}

/* ---- */

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(copy_is_verified),
        TEST(mma_is_verified),
        TEST(refused_before_queued),
        TEST(answered_from_the_store),
        TEST(same_key_same_job),
        TEST(planted_faults),
        TEST(executor_dead_or_stopped),
        TEST(no_worker_in_time),
        TEST(cancel_in_each_state),
        TEST(worker_killed_twice),
        TEST(daemon_killed),
        TEST(worker_outlives_daemon),
        TEST(worker_ends),
        TEST(daemon_drains),
        TEST(damaged_store),
        TEST(one_daemon_a_folder),
        TEST(disk_full),
        TEST(pages_of_jobs),
        TEST(lease_by_hand),
        TEST(events_with_the_end),
    };
    return run_suite(tests);
}
