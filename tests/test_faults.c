/* test_faults.c: faults planted from outside: a clock that steps, memory that is not there, a process that cannot be
 * killed, clients that never stop trying. Each ends in the right state with the right reason, and the next job passes.
 *
 * What a job itself can plant is in test_jobs.c. */
#include "daemon.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum {
    HOUR_S = 3600,
    DAY_S = 24 * HOUR_S,
    RETRIES = 20,
    CLIENTS = 10,
    FREE_MS = 1000 /* from the cancellation of a job to the next one's turn */
};

/* ---- the clock ---------------------------------------------------------------------------------------------- */

static void step_clock(long seconds)
{
    char text[32];
    snprintf(text, sizeof text, "%ld\n", seconds);
    put_file("clock", text);
}

/* Times are written so that the later one is the greater text. */
static void expect_created_later(struct id id, struct id than, bool later)
{
    struct answer a = fetch(id, END_S), b = fetch(than, END_S);
    assert_true((strcmp(text_at(a.json, "created"), text_at(b.json, "created")) > 0) == later);
    drop(&a);
    drop(&b);
}

/* Forward by 200 days and back by one: no deadline is missed, nothing old is thrown away, ages are no nonsense. */
static void clock_steps(void **state)
{
    (void)state;
    static const long steps[] = {200L * DAY_S, -DAY_S, -HOUR_S, 0};
    in_child = use_fakes;
    start_daemon("cpu", "127.0.0.1:0");
    const struct id first = submit("");
    expect_end(first, "done", "", 1);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        const struct id runs = submit(",\"plant\":\"hang\",\"budget\":{\"run_ms\":600}"),
                        waits = submit(",\"fresh\":true");
        expect_state(runs, "running");
        step_clock(steps[i]);
        expect_end(runs, "failed", "timeout_run", 1);
        expect_end(waits, "done", "", 1);
        expect_created_later(submit(",\"fresh\":true"), first, steps[i] >= 0);
        struct answer a = request("POST", "/jobs", "{" COPY "}", NULL);
        assert_true(cJSON_IsTrue(at(a.json, "cached")));
        assert_true(cJSON_GetNumberValue(at(a.json, "age_s")) >= 0);
        drop(&a);
        expect_end(first, "done", "", 1);
    }
    stop_daemon();
}

/* ---- the disk ----------------------------------------------------------------------------------------------- */

static void put_text(const char *path, const char *text)
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        _exit(126);
    close(fd);
}

/* The data folder becomes a disk of three megabytes, for this process and its children alone. */
static void use_small_disk(void)
{
    char data[512], users[64], groups[64];
    snprintf(data, sizeof data, "%s/data", folder);
    snprintf(users, sizeof users, "0 %u 1", (unsigned)getuid());
    snprintf(groups, sizeof groups, "0 %u 1", (unsigned)getgid());
    mkdir(data, 0700);
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
        _exit(125);
    put_text("/proc/self/setgroups", "deny");
    put_text("/proc/self/uid_map", users);
    put_text("/proc/self/gid_map", groups);
    if (mount("none", data, "tmpfs", 0, "size=3m") != 0)
        _exit(125);
}

static bool may_mount(void)
{
    int status = 0;
    const pid_t pid = fork();
    if (pid == 0) {
        use_small_disk();
        _exit(0);
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Fill the daemon's disk to the last byte, as it is seen by the daemon; the file that does it. */
static void fill_disk(char path[600])
{
    static const char block[4096] = {1};
    size_t size = sizeof block;
    snprintf(path, 600, "/proc/%d/root%s/data/filler", (int)daemon_pid, folder);
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    while (size > 0)
        if (write(fd, block, size) <= 0)
            size /= 2;
    close(fd);
}

/* A submission is refused and leaves nothing, what is there can still be read; with room again, all goes on. */
static void disk_is_full(void **state)
{
    (void)state;
    char filler[600];
    if (!may_mount())
        skip();
    in_child = use_small_disk;
    start_daemon("cpu", "127.0.0.1:0");
    const struct id first = submit("");
    expect_end(first, "done", "", 1);
    fill_disk(filler);
    int refused = 0;
    for (int i = 0; i < 2000 && !refused; i++) { /* a log of the store may have room of its own */
        struct answer a = request("POST", "/jobs", "{" COPY ",\"fresh\":true}", NULL);
        refused = a.status == 503;
        drop(&a);
    }
    assert_true(refused);
    expect_end(first, "done", "", 1);
    assert_int_equal(unlink(filler), 0);
    const struct id next = submit(",\"fresh\":true");
    expect_end(next, "done", "", 1);
    stop_daemon();
}

/* ---- memory ------------------------------------------------------------------------------------------------- */

#define LARGE \
    "{\"kind\":\"copy\",\"type\":\"half_t\",\"atom\":\"UniversalCopy<uint128_t>\",\"thr\":\"(8,4):(4,1)\"," \
    "\"val\":\"(1,8):(0,1)\",\"src\":\"(%d,2048):(2048,1)\",\"dst\":\"(%d,2048):(2048,1)\"}"

static struct answer run_large(int rows)
{
    char body[512];
    snprintf(body, sizeof body, LARGE, rows, rows);
    struct answer a = request("POST", "/jobs", body, "Prefer: wait=30");
    assert_int_equal(a.status, 200);
    assert_string_equal(text_at(a.json, "state"), "failed");
    return a;
}

/* A sanitizer's shadow is most of the address space, so there its own allocator has the limit. */
static void allow_no_large_block(void)
{
    static const char *const names[] = {"ASAN_OPTIONS", "TSAN_OPTIONS"};
    for (size_t i = 0; i < 2; i++) {
        char options[1024];
        const char *before = getenv(names[i]);
        snprintf(options, sizeof options, "%s:allocator_may_return_null=1:max_allocation_size_mb=300",
                 before ? before : "");
        setenv(names[i], options, 1);
    }
}

/* More than the machine gives is our fault, more than a job may have is the job's. */
static void out_of_memory(void **state)
{
    (void)state;
    in_child = SANITIZED ? allow_no_large_block : NULL;
    start_daemon("cpu", "127.0.0.1:0");
    expect_end(submit(""), "done", "", 1);
    const struct rlimit small = {64 << 20, RLIM_INFINITY}, large = {RLIM_INFINITY, RLIM_INFINITY};
    if (!SANITIZED)
        assert_int_equal(prlimit(find_executor(), RLIMIT_AS, &small, NULL), 0);
    struct answer a = run_large(SANITIZED ? 100 * 1024 : 64 * 1024);
    assert_string_equal(text_at(a.json, "failure.kind"), "infra");
    assert_non_null(strstr(text_at(a.json, "failure.message"), "memory"));
    drop(&a);
    assert_int_equal(prlimit(find_executor(), RLIMIT_AS, &large, NULL), 0);
    a = run_large(1024 * 1024);
    assert_string_equal(text_at(a.json, "failure.kind"), "user_error");
    drop(&a);
    expect_end(submit(",\"fresh\":true"), "done", "", 1);
    stop_daemon();
}

/* As the kernel does it when memory is short. */
static void executor_killed_in_a_run(void **state)
{
    (void)state;
    start_daemon("cpu", "127.0.0.1:0");
    const struct id id = submit(",\"plant\":\"hang\"");
    expect_state(id, "running");
    assert_int_equal(kill(find_executor(), SIGKILL), 0);
    expect_end(id, "failed", "kernel_fault", 1);
    struct answer a = fetch(id, 0);
    assert_non_null(strstr(text_at(a.json, "failure.message"), "signal 9"));
    drop(&a);
    expect_end(submit(""), "done", "", 1);
    stop_daemon();
}

/* ---- what cannot be killed ---------------------------------------------------------------------------------- */

static void device_state(char out[32], char reason[300])
{
    struct answer a = request("GET", "/devices", NULL, NULL);
    const cJSON *device = cJSON_GetArrayItem(at(a.json, "devices"), 0);
    snprintf(out, 32, "%s", text_at(device, "state"));
    snprintf(reason, 300, "%s", text_at(device, "reason"));
    drop(&a);
}

static void quarantine(void **state)
{
    (void)state;
    char shown[32] = "", reason[300] = "";
    in_child = use_fakes;
    start_daemon("cpu", "127.0.0.1:0");
    const struct id id = submit(",\"plant\":\"hang\",\"budget\":{\"run_ms\":200}");
    expect_state(id, "running");
    put_file("unkillable", "");
    expect_end(id, "failed", "timeout_run", 1);
    const struct id waits = submit("");
    const int64_t until = now_ms() + START_MS;
    while (strcmp(shown, "quarantined") != 0 && now_ms() < until) {
        pause_ms(50);
        device_state(shown, reason);
    }
    assert_string_equal(shown, "quarantined");
    assert_non_null(strstr(reason, "cannot be killed"));
    expect_state(waits, "queued");  /* nothing runs beside it */
    kill(find_executor(), SIGKILL); /* what held it lets go */
    remove_file("unkillable");
    expect_end(waits, "done", "", 1);
    device_state(shown, reason);
    assert_string_equal(shown, "ready");
    stop_daemon();
}

/* ---- cancelling --------------------------------------------------------------------------------------------- */

/* Cancel it, and have the next job run: milliseconds until that one has begun. */
static int64_t cancel_and_run_next(struct id id)
{
    const struct id next = submit(",\"fresh\":true");
    const int64_t begun = now_ms();
    assert_int_equal(cancel(id), 202);
    expect_end(id, "cancelled", "", 1);
    const int64_t cancelled = now_ms() - begun;
    expect_end(next, "done", "", 1);
    return cancelled;
}

/* Compiling: the executor has the job and does not come back. */
static void cancel_in_each_leased_state(void **state)
{
    (void)state;
    start_daemon("cpu", "127.0.0.1:0");
    expect_end(submit(""), "done", "", 1);
    assert_int_equal(kill(find_executor(), SIGSTOP), 0);
    const struct id compiling = submit(",\"fresh\":true");
    expect_state(compiling, "compiling");
    const int64_t first = cancel_and_run_next(compiling);
    const struct id running = submit(",\"plant\":\"hang\"");
    expect_state(running, "running");
    const int64_t second = cancel_and_run_next(running);
    print_message("cancelled while compiling in %lld ms, while running in %lld ms\n", (long long)first,
                  (long long)second);
    if (!SANITIZED)
        assert_true(first < FREE_MS && second < FREE_MS);
    stop_daemon();
}

/* ---- idempotence -------------------------------------------------------------------------------------------- */

static struct id storm_ids[CLIENTS];

/* One client that does not believe any answer. */
static void *insist(void *arg)
{
    const int client = *(const int *)arg;
    int answered = 0;
    for (int64_t until = now_ms() + START_MS; answered < RETRIES && now_ms() < until;) {
        const struct id id = try_submit(",\"fresh\":true", "Idempotency-Key: the same for all");
        if (!*id.text) {
            pause_ms(20);
            continue;
        }
        answered++;
        if (*storm_ids[client].text && strcmp(storm_ids[client].text, id.text) != 0)
            return NULL;
        storm_ids[client] = id;
    }
    return answered == RETRIES ? arg : NULL;
}

static void retries_make_one_job(void **state)
{
    (void)state;
    pthread_t threads[CLIENTS];
    int numbers[CLIENTS];
    start_daemon("cpu", "127.0.0.1:0");
    for (int i = 0; i < CLIENTS; i++) {
        numbers[i] = i;
        storm_ids[i] = (struct id){""};
        pthread_create(&threads[i], NULL, insist, &numbers[i]);
    }
    pause_ms(30);
    end(&daemon_pid, SIGKILL);
    start_daemon("cpu", url + strlen("http://"));
    for (int i = 0; i < CLIENTS; i++) {
        void *right;
        pthread_join(threads[i], &right);
        assert_non_null(right);
        assert_string_equal(storm_ids[i].text, storm_ids[0].text);
    }
    struct answer job = fetch(storm_ids[0], END_S);
    assert_string_equal(text_at(job.json, "state"), "done");
    drop(&job);
    assert_int_equal(count_events(storm_ids[0], "done"), 1);
    struct answer list = request("GET", "/jobs", NULL, NULL);
    assert_int_equal(cJSON_GetArraySize(at(list.json, "jobs")), 1);
    drop(&list);
    print_message("%d submissions with one key, the daemon killed among them: one job\n", CLIENTS * RETRIES);
    stop_daemon();
}

/* ---- */

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(clock_steps),         TEST(disk_is_full),
                                       TEST(out_of_memory),       TEST(executor_killed_in_a_run),
                                       TEST(quarantine),          TEST(cancel_in_each_leased_state),
                                       TEST(retries_make_one_job)};
    return run_suite(tests);
}
