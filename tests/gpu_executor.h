/* gpu_executor.h: an executor process and its pipes: a spec is said, its result is heard. */
#ifndef GPU_EXECUTOR_H
#define GPU_EXECUTOR_H

#include "gpu_test.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

enum { ANSWER_MS = 60000 }; /* an executor that says nothing for so long hangs */

static inline const char *executor_name(void)
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

static inline struct executor executor_start(const char *which)
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

static inline void executor_say(const struct executor *e, const char *spec)
{
    char line[2000];
    const int n = snprintf(line, sizeof line, "{\"job\":\"j\",\"spec\":%s,\"budget\":{\"run_ms\":400}}\n",
                           spec);
    assert_true(n < (int)sizeof line);
    assert_int_equal(write(e->in, line, (size_t)n), n);
}

/* The next event; NULL at the end of the stream or after `ms` of silence. */
static inline cJSON *executor_hear(struct executor *e, int ms)
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

static inline const char *text_of(const cJSON *json, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, name));
    return text ? text : "";
}

/* The event that ends a job; NULL when the executor ended or hangs. */
static inline cJSON *executor_ask(struct executor *e, const char *spec)
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

static inline int executor_end(struct executor *e)
{
    int status = 0;
    close(e->in);
    close(e->out);
    free(e->heard);
    waitpid(e->pid, &status, 0);
    return status;
}

static struct executor executor; /* the one that verifies; started once */

static inline int start_executor(void **state)
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

static inline int end_executor(void **state)
{
    (void)state;
    const int status = executor_end(&executor);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

/* What the executor says of a spec, which it must verify; the caller owns it. */
static inline cJSON *ask_verified(const char *text)
{
    cJSON *event = executor_ask(&executor, text);
    if (!event)
        fail_msg("%s\n  the executor is gone", text);
    const cJSON *result = cJSON_GetObjectItemCaseSensitive(event, "result");
    if (!cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(result, "verified"))) {
        char *shown = cJSON_PrintUnformatted(event);
        fail_msg("%s\n  is not verified: %.2000s", text, shown);
    }
    return event;
}

static inline void check_verified(void **state)
{
    cJSON *event = ask_verified(*(const char *const *)*state);
    const cJSON *result = cJSON_GetObjectItemCaseSensitive(event, "result");
    assert_non_null(cJSON_GetObjectItemCaseSensitive(result, "spec"));
    assert_non_null(strstr(text_of(result, "source"), "__global__"));
    cJSON_Delete(event);
}

#endif
