/* test_storm.c: many clients at once, and processes killed in the middle of it.
 *
 * What must hold after any of it: every submission became one job, every job ended once, with the right
 * result. Clients that lose the daemon try again with the same Idempotency-Key, as real ones do. */
#include "daemon.h"

#include <pthread.h>

enum {
    CLIENTS = 20,
    EACH = 100, /* jobs of a client */
    DAEMON_KILLS = 5,
    WORKER_KILLS = 10, /* 2 in each life of a daemon */
    KILL_MS = 300,     /* at least, between kills */
    PACE_MS = 60,      /* between the jobs of a client while there is killing: about as long as that takes */
    GIVE_UP_MS = 60 * 1000
};

static struct id ids[CLIENTS][EACH];
static int pace_ms; /* between the jobs of a client */

/* One client: submits its jobs one after the other, each until it is taken. */
static void *submit_all(void *arg)
{
    const int client = *(const int *)arg;
    const int64_t until = now_ms() + GIVE_UP_MS;
    for (int i = 0; i < EACH; i++) {
        char key[64];
        snprintf(key, sizeof key, "Idempotency-Key: client-%d-job-%d", client, i);
        while (!*(ids[client][i] = try_submit(",\"fresh\":true", key)).text && now_ms() < until)
            pause_ms(50);
        pause_ms(pace_ms);
    }
    return NULL;
}

static void start_clients(pthread_t threads[CLIENTS], int numbers[CLIENTS])
{
    for (int i = 0; i < CLIENTS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, submit_all, &numbers[i]), 0);
    }
}

/* Every submission is one job, which was done once. The most attempts that any took. */
static double check_all(void)
{
    double most = 0;
    for (int i = 0; i < CLIENTS * EACH; i++) {
        const struct id id = ids[i / EACH][i % EACH];
        assert_true(*id.text);
        struct answer a = fetch(id, END_S);
        assert_string_equal(text_at(a.json, "state"), "done");
        assert_true(cJSON_IsTrue(at(a.json, "result.verified")));
        const double attempts = cJSON_GetNumberValue(at(a.json, "attempts"));
        most = attempts > most ? attempts : most;
        drop(&a);
        assert_int_equal(count_events(id, "done"), 1);
    }
    assert_int_equal(count_jobs(""), CLIENTS * EACH);
    return most;
}

static void many_clients(void **state)
{
    (void)state;
    pthread_t threads[CLIENTS];
    int numbers[CLIENTS];
    start_daemon("2", "127.0.0.1:0");
    const int64_t begun = now_ms();
    start_clients(threads, numbers);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(threads[i], NULL);
    const int64_t submitted = now_ms() - begun;
    assert_true(check_all() == 1);
    print_message("%d jobs of %d clients: submitted in %lld ms, done and checked after %lld ms\n",
                  CLIENTS * EACH, CLIENTS, (long long)submitted, (long long)(now_ms() - begun));
    stop_daemon();
}

/* No job is queued again or runs for the second time, so that a worker may be killed: a job that loses two workers
 * has failed, rightly, and that is not the subject here. A daemon may be killed at any time. */
static bool is_calm(void)
{
    static const struct {
        const char *state;
        double attempts; /* fewer than that are calm */
    } rules[] = {{"queued", 1}, {"compiling", 2}, {"running", 2}};
    bool calm = true;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        char path[64];
        snprintf(path, sizeof path, "/jobs?limit=500&state=%s", rules[i].state);
        struct answer a = request("GET", path, NULL, NULL);
        const cJSON *job;
        cJSON_ArrayForEach (job, at(a.json, "jobs")) {
            calm &= cJSON_GetNumberValue(at(job, "attempts")) < rules[i].attempts;
        }
        drop(&a);
    }
    return calm;
}

static void wait_until_calm(void)
{
    pause_ms(KILL_MS);
    while (!is_calm())
        pause_ms(10);
}

/* Kill workers, then the daemon, and start it again where it was; how many workers were killed. */
static int kill_some(void)
{
    int killed = 0;
    for (int k = 0; k < WORKER_KILLS / DAEMON_KILLS; k++) {
        wait_until_calm();
        const pid_t worker = child_of(daemon_pid, "--device");
        killed += worker > 0 && kill(worker, SIGKILL) == 0;
    }
    pause_ms(KILL_MS);
    end(&daemon_pid, SIGKILL);
    start_daemon("2", url + strlen("http://"));
    return killed;
}

static void killed_meanwhile(void **state)
{
    (void)state;
    pthread_t threads[CLIENTS];
    int numbers[CLIENTS], killed = 0;
    pace_ms = PACE_MS;
    start_daemon("2", "127.0.0.1:0");
    const int64_t begun = now_ms();
    start_clients(threads, numbers);
    for (int i = 0; i < DAEMON_KILLS; i++)
        killed += kill_some();
    const int64_t calm = now_ms() - begun;
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(threads[i], NULL);
    const int64_t submitted = now_ms() - begun;
    const double attempts = check_all();
    print_message(
        "%d jobs of %d clients, submitted in %lld ms; in the first %lld ms of them the daemon was killed "
        "%d times and workers %d times: all done once, with the right result, and checked after %lld ms; "
        "at most %.0f attempts\n",
        CLIENTS * EACH, CLIENTS, (long long)submitted, (long long)calm, DAEMON_KILLS, killed,
        (long long)(now_ms() - begun), attempts);
    stop_daemon();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(many_clients),
        TEST(killed_meanwhile),
    };
    return run_suite(tests);
}
