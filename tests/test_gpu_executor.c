/* test_gpu_executor.c: the executor process over its pipes: every spec verified, faults planted, lines that
 * are no jobs.
 *
 * With LAYOUTD_TEST_EXECUTOR=gpu:0 the executor is a card's: the same specs are then verified on it. */
#include "gpu_test.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

enum { ANSWER_MS = 60000 }; /* an executor that says nothing for so long hangs */

static const char *executor_name(void)
{
    const char *name = getenv("LAYOUTD_TEST_EXECUTOR");
    return name ? name : "cpu";
}

enum { MAX_LINE = 1 << 20 }; /* a result is 20 to 40 KB */

struct executor {
    pid_t pid;
    int in, out;
    char *heard; /* bytes of its next lines */
    size_t count;
};

static struct executor executor_start(const char *which)
{
    int in[2], out[2];
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    fflush(NULL);
    struct executor e = {.pid = fork(), .in = in[1], .out = out[0], .heard = malloc(MAX_LINE)};
    assert_true(e.pid >= 0 && e.heard);
    if (e.pid == 0) {
        close(in[1]); /* or the child would never see the end of its input */
        close(out[0]);
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        static const int caught[] = {SIGSEGV, SIGABRT, SIGILL, SIGFPE, SIGBUS}; /* by cmocka and sanitizers */
        for (size_t i = 0; i < sizeof caught / sizeof caught[0]; i++)
            signal(caught[i], SIG_DFL);
        _exit(gpu_executor_main(which));
    }
    close(in[0]);
    close(out[1]);
    return e;
}

static void executor_say(const struct executor *e, const char *spec)
{
    char line[2000];
    const int n = snprintf(line, sizeof line, "{\"job\":\"j\",\"spec\":%s,\"budget\":{\"run_ms\":400}}\n",
                           spec);
    assert_true(n < (int)sizeof line);
    assert_int_equal(write(e->in, line, (size_t)n), n);
}

/* The next event; NULL at the end of the stream or after `ms` of silence. */
static cJSON *executor_hear(struct executor *e, int ms)
{
    char *end;
    while (!(end = memchr(e->heard, '\n', e->count))) {
        struct pollfd ready = {.fd = e->out, .events = POLLIN};
        const ssize_t n = poll(&ready, 1, ms) > 0 ? read(e->out, e->heard + e->count, MAX_LINE - e->count)
                                                  : 0;
        if (n <= 0)
            return NULL;
        e->count += (size_t)n;
    }
    cJSON *event = cJSON_ParseWithLength(e->heard, (size_t)(end - e->heard));
    assert_non_null(event);
    e->count -= (size_t)(end + 1 - e->heard);
    memmove(e->heard, end + 1, e->count);
    return event;
}

static const char *text_of(const cJSON *json, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, name));
    return text ? text : "";
}

/* The event that ends a job; NULL when the executor ended or hangs. */
static cJSON *executor_ask(struct executor *e, const char *spec)
{
    executor_say(e, spec);
    cJSON *event = executor_hear(e, ANSWER_MS);
    while (event && strcmp(text_of(event, "event"), "result") != 0 &&
           strcmp(text_of(event, "event"), "failed") != 0) {
        assert_string_equal(text_of(event, "job"), "j");
        cJSON_Delete(event);
        event = executor_hear(e, ANSWER_MS);
    }
    return event;
}

static int executor_end(struct executor *e)
{
    int status = 0;
    close(e->in);
    close(e->out);
    free(e->heard);
    waitpid(e->pid, &status, 0);
    return status;
}

static struct executor executor; /* the one that verifies; started once */

static int start_executor(void **state)
{
    (void)state;
    executor = executor_start(executor_name());
    cJSON *event = executor_hear(&executor, ANSWER_MS);
    const bool ready = event && !strcmp(text_of(event, "event"), "ready");
    if (!ready && event)
        print_message("executor %s: %s\n", executor_name(), text_of(event, "reason"));
    cJSON_Delete(event);
    return ready ? 0 : -1;
}

static int end_executor(void **state)
{
    (void)state;
    const int status = executor_end(&executor);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

static void check_verified(void **state)
{
    const char *text = *(const char *const *)*state;
    cJSON *event = executor_ask(&executor, text);
    if (!event)
        fail_msg("%s\n  the executor is gone", text);
    const cJSON *result = cJSON_GetObjectItemCaseSensitive(event, "result");
    if (!cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(result, "verified"))) {
        char *shown = cJSON_PrintUnformatted(event);
        fail_msg("%s\n  is not verified: %.2000s", text, shown);
    }
    assert_non_null(cJSON_GetObjectItemCaseSensitive(result, "spec"));
    assert_non_null(strstr(text_of(result, "source"), "__global__"));
    cJSON_Delete(event);
}

static const char plant_base[] = SPEC("float", "float", "(8,8):(8,1)", "(1,4):(0,1)", "(64,64):(64,1)",
                                      "(64,64):(1,64)", ",\"plant\":\"%s\"");

static cJSON *ask_planted(struct executor *e, const char *plant)
{
    char spec[500];
    snprintf(spec, sizeof spec, plant_base, plant);
    return executor_ask(e, spec);
}

static void check_wrong_value(void **state)
{
    (void)state;
    cJSON *event = ask_planted(&executor, "wrong_value");
    const cJSON *result = cJSON_GetObjectItemCaseSensitive(event, "result");
    assert_true(cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(result, "verified")));
    const cJSON *mismatch = cJSON_GetObjectItemCaseSensitive(result, "mismatch");
    assert_string_equal(text_of(mismatch, "coordinate"), "(0,0)");
    assert_string_not_equal(text_of(mismatch, "expected"), text_of(mismatch, "got"));
    cJSON_Delete(event);
}

static const char refused[] = SPEC("half_t", "uint128_t", "(32,8):(8,1)", "(8,1):(1,0)", "(256,256):(256,1)",
                                   "(256,256):(256,1)", "");

static void check_user_error(void **state)
{
    (void)state;
    cJSON *event = executor_ask(&executor, refused);
    const cJSON *failure = cJSON_GetObjectItemCaseSensitive(event, "failure");
    assert_string_equal(text_of(event, "event"), "failed");
    assert_string_equal(text_of(failure, "kind"), "user_error");
    assert_string_equal(text_of(failure, "field"), "val");
    assert_non_null(strstr(text_of(failure, "message"), "stride there is 256"));
    assert_true(cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(event, "fatal")));
    cJSON_Delete(event);
}

/* A fault ends the executor, one way or the other; a new one is well. */
static void check_fault(void **state)
{
    struct executor e = executor_start(executor_name());
    cJSON_Delete(executor_hear(&e, ANSWER_MS));
    cJSON *event = ask_planted(&e, *state);
    if (event) { /* a kernel's fault, told by CUDA */
        assert_string_equal(text_of(event, "event"), "failed");
        assert_string_equal(text_of(cJSON_GetObjectItemCaseSensitive(event, "failure"), "kind"),
                            "kernel_fault");
        assert_true(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(event, "fatal")));
    }
    cJSON_Delete(event);
    const int status = executor_end(&e);
    assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) != 0);
}

static void check_hang(void **state)
{
    (void)state;
    struct executor e = executor_start(executor_name());
    char spec[500];
    cJSON_Delete(executor_hear(&e, ANSWER_MS));
    snprintf(spec, sizeof spec, plant_base, "hang");
    executor_say(&e, spec);
    cJSON *event = executor_hear(&e, ANSWER_MS);
    while (event) {
        assert_string_not_equal(text_of(event, "event"), "result");
        cJSON_Delete(event);
        event = executor_hear(&e, 1000);
    }
    kill(e.pid, SIGKILL);
    assert_true(WIFSIGNALED(executor_end(&e)));
}

/* A machine without a GPU says why; one with a GPU is ready. */
static void check_gpu_opens(void **state)
{
    (void)state;
    struct executor e = executor_start("gpu:0");
    cJSON *event = executor_hear(&e, ANSWER_MS);
    assert_non_null(event);
    const bool ready = !strcmp(text_of(event, "event"), "ready");
    if (!ready)
        assert_true(strlen(text_of(event, "reason")) > 0);
    cJSON_Delete(event);
    const int status = executor_end(&e);
    assert_int_equal(WEXITSTATUS(status), ready ? 0 : 3);
}

static void check_bad_lines(void **state)
{
    (void)state;
    static const char bad[] = "this is not JSON\n{\"job\":\"1\"}\n[]\n";
    assert_int_equal(write(executor.in, bad, sizeof bad - 1), sizeof bad - 1);
    for (int i = 0; i < 3; i++) {
        cJSON *event = executor_hear(&executor, ANSWER_MS);
        assert_string_equal(text_of(event, "event"), "failed");
        assert_string_equal(text_of(cJSON_GetObjectItemCaseSensitive(event, "failure"), "kind"), "infra");
        cJSON_Delete(event);
    }
}

/* --specs: print the specs, a line each, for other ways of running them. */
int main(int argc, char **argv)
{
    static struct list list;
    const bool print = argc > 1 && !strcmp(argv[1], "--specs");
    draw_specs(argc - print, argv + print);
    for (int i = 0; print && i < SPECS; i++)
        puts(specs[i]);
    if (print)
        return 0;
    for (int i = 0; i < SPECS; i++)
        add(&list, specs[i], check_verified, &specs[i]);
    add(&list, "a wrong value is found", check_wrong_value, NULL);
    add(&list, "a refusal", check_user_error, NULL);
    add(&list, "lines that are no jobs", check_bad_lines, NULL);
    add(&list, "plant: segfault", check_fault, "segfault");
    add(&list, "plant: trap", check_fault, "trap");
    add(&list, "plant: illegal_address", check_fault, "illegal_address");
    add(&list, "plant: hang", check_hang, NULL);
    add(&list, "the GPU executor opens or says why not", check_gpu_opens, NULL);
    add(&list, "a job after all these", check_verified, &specs[0]);
    run_group("executor", &list, start_executor, end_executor);
    return report(&list);
}
