/* worker_child.c: a child process, spoken to in lines of JSON.
 *
 *     -> {"job":"17","spec":{...},"budget":{...}}        <- {"event":"running","job":"17"}
 *
 * It is this program run again as `layoutd-worker executor DEVICE` or `layoutd-worker compile`. It dies with
 * the thread that started it. Its standard error goes to this one's, and the end of it is kept: when it
 * crashes, these are its last words. A pidfd tells of its end, so one that leaves a process of its own behind
 * is still seen to end. */
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_LINE = 64 << 20, /* bytes of an event: a result with its samples and sources is far smaller */
    READ_BYTES = 64 * 1024,
    SEND_MS = 5000, /* to take a job: an idle executor reads at once */
    EXIT_MS =
        1000, /* from the end of its output to its own: the driver lets go of a context that has failed */
    TERM_MS = 100, /* from SIGTERM to SIGKILL: an executor has nothing to save */
    KILL_MS = 5000 /* from SIGKILL to its end: the driver takes 0.06 s to stop an endless kernel */
};

int64_t gpu_clock_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int left_until(int64_t until)
{
    const int64_t left = until - gpu_clock_ms();
    return left < 0 ? 0 : left > 60 * 1000 ? 60 * 1000 : (int)left;
}

bool gpu_pause(int64_t ms, int stop)
{
    struct pollfd fd = {.fd = stop, .events = POLLIN};
    const int64_t until = gpu_clock_ms() + ms;
    do
        poll(&fd, 1, left_until(until));
    while (!fd.revents && gpu_clock_ms() < until);
    return !fd.revents;
}

/* ---- its beginning and its end ------------------------------------------------------------------------------ */

static void close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void close_all(struct gpu_child *c)
{
    close_one(&c->in);
    close_one(&c->out);
    close_one(&c->err);
    close_one(&c->pidfd);
    free(c->buffer);
    c->buffer = NULL;
    c->len = c->capacity = 0;
    c->pid = 0;
}

/* Between fork and exec: only what is safe there. */
static _Noreturn void become(const int in[2], const int out[2], const int err[2], const char *const argv[3],
                             pid_t parent)
{
    const struct rlimit none = {0};
    sigset_t empty;
    sigemptyset(&empty);
    sigprocmask(SIG_SETMASK, &empty, NULL);
    signal(SIGPIPE, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &none); /* a crash is an answer here, and its core would be gigabytes */
    if (getppid() != parent || dup2(in[0], STDIN_FILENO) < 0 || dup2(out[1], STDOUT_FILENO) < 0 ||
        dup2(err[1], STDERR_FILENO) < 0)
        _exit(EXIT_FAILURE);
    close_range(STDERR_FILENO + 1, ~0U, 0);
    execl(argv[0], "layoutd-worker", argv[1], argv[2], (char *)NULL);
    _exit(WORKER_NOT_RUN);
}

static void close_pipes(int in[2], int out[2], int err[2])
{
    for (int i = 0; i < 2; i++) {
        close_one(&in[i]);
        close_one(&out[i]);
        close_one(&err[i]);
    }
}

bool gpu_child_start(struct gpu_child *c, const char *program, const char *role, const char *device)
{
    int in[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1};
    const char *const argv[] = {program ? program : "/proc/self/exe", role, device};
    const pid_t parent = getpid();
    *c = (struct gpu_child){.pidfd = -1, .in = -1, .out = -1, .err = -1};
    if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC) || (c->pid = fork()) < 0) {
        const int why = errno;
        close_pipes(in, out, err);
        c->pid = 0;
        errno = why;
        return false;
    }
    if (c->pid == 0)
        become(in, out, err, argv, parent);
    c->in = in[1];
    c->out = out[0];
    c->err = err[0];
    in[1] = out[0] = err[0] = -1;
    close_pipes(in, out, err);
    fcntl(c->in, F_SETFL, O_NONBLOCK);
    fcntl(c->out, F_SETFL, O_NONBLOCK);
    fcntl(c->err, F_SETFL, O_NONBLOCK);
    c->pidfd = pidfd_open(c->pid, 0);
    if (c->pidfd >= 0)
        return true;
    const int why = errno;
    kill(c->pid, SIGKILL);
    waitpid(c->pid, NULL, 0);
    close_all(c);
    errno = why;
    return false;
}

/* Reap it if it ends in time. */
static bool reaped(struct gpu_child *c, int64_t ms)
{
    struct pollfd fd = {.fd = c->pidfd, .events = POLLIN};
    const int64_t until = gpu_clock_ms() + ms;
    do
        poll(&fd, 1, left_until(until));
    while (!fd.revents && gpu_clock_ms() < until);
    return gpu_child_gone(c);
}

bool gpu_child_gone(struct gpu_child *c)
{
    if (!c->pid)
        return true;
    if (waitpid(c->pid, &c->status, WNOHANG) == 0)
        return false;
    close_all(c);
    return true;
}

bool gpu_child_end(struct gpu_child *c)
{
    if (!c->pid)
        return true;
    c->ending = true;
    kill(c->pid, SIGTERM);
    if (reaped(c, TERM_MS))
        return true;
    kill(c->pid, SIGKILL);
    return reaped(c, KILL_MS);
}

void gpu_child_describe(const struct gpu_child *c, char *text, size_t size)
{
    if (WIFSIGNALED(c->status))
        snprintf(text, size, "died of signal %d (%s)", WTERMSIG(c->status), strsignal(WTERMSIG(c->status)));
    else if (WEXITSTATUS(c->status) == WORKER_NOT_RUN)
        snprintf(text, size, "could not be run");
    else
        snprintf(text, size, "ended with status %d", WEXITSTATUS(c->status));
}

/* ---- what it is told and what it says ----------------------------------------------------------------------- */

bool gpu_child_send(struct gpu_child *c, const cJSON *message)
{
    char *text = cJSON_PrintUnformatted(message);
    if (!text)
        return false;
    const size_t len = strlen(text);
    text[len] = '\n'; /* in the place of its NUL: the line is written by its length */
    const int64_t until = gpu_clock_ms() + SEND_MS;
    size_t sent = 0;
    bool ok = true;
    while (ok && sent <= len) {
        const ssize_t n = write(c->in, text + sent, len + 1 - sent);
        struct pollfd fd = {.fd = c->in, .events = POLLOUT};
        if (n > 0)
            sent += (size_t)n;
        else
            ok = n < 0 && (errno == EINTR || (errno == EAGAIN && poll(&fd, 1, left_until(until)) > 0));
    }
    cJSON_free(text);
    return ok;
}

/* Pass on what it says on standard error, and keep the end of it as plain text. */
static void hear_words(struct gpu_child *c)
{
    char said[4096];
    const ssize_t n = read(c->err, said, sizeof said);
    if (n <= 0) {
        if (n == 0 || (errno != EAGAIN && errno != EINTR))
            close_one(&c->err);
        return;
    }
    fwrite(said, 1, (size_t)n, stderr);
    for (ssize_t i = 0; i < n; i++) {
        if (c->last_len == GPU_LAST_WORDS) {
            memmove(c->last_words, c->last_words + GPU_LAST_WORDS / 2, GPU_LAST_WORDS / 2);
            c->last_len = GPU_LAST_WORDS / 2;
        }
        const bool plain = said[i] == '\n' || (said[i] >= ' ' && said[i] <= '~');
        c->last_words[c->last_len++] = plain ? said[i] : '?';
    }
    c->last_words[c->last_len] = '\0';
}

/* Read what is there of its output; false at the end of it, or when a line is too long. */
static bool hear_more(struct gpu_child *c)
{
    if (c->capacity - c->len < READ_BYTES) {
        const size_t larger = c->capacity * 2 + READ_BYTES;
        char *buffer = larger <= MAX_LINE ? realloc(c->buffer, larger) : NULL;
        if (!buffer)
            return false;
        c->buffer = buffer;
        c->capacity = larger;
    }
    const ssize_t n = read(c->out, c->buffer + c->len, c->capacity - c->len);
    if (n > 0)
        c->len += (size_t)n;
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/* The first whole line as an event; GPU_HEARD_NOTHING when there is no whole line. */
static enum gpu_heard next_event(struct gpu_child *c, cJSON **event)
{
    char *end = c->len ? memchr(c->buffer, '\n', c->len) : NULL;
    if (!end)
        return GPU_HEARD_NOTHING;
    const size_t line = (size_t)(end - c->buffer);
    *event = cJSON_ParseWithLength(c->buffer, line);
    c->len -= line + 1;
    memmove(c->buffer, end + 1, c->len);
    if (cJSON_IsString(cJSON_GetObjectItemCaseSensitive(*event, "event")))
        return GPU_HEARD_EVENT;
    cJSON_Delete(*event);
    *event = NULL;
    return GPU_HEARD_NOISE;
}

/* Its output ended, or it did: what it still said comes first, then its end. */
static enum gpu_heard hear_end(struct gpu_child *c)
{
    while (c->err >= 0) {
        struct pollfd fd = {.fd = c->err, .events = POLLIN};
        if (poll(&fd, 1, 0) <= 0)
            break;
        hear_words(c);
    }
    if (!reaped(c, EXIT_MS))
        gpu_child_end(c);
    return GPU_HEARD_END;
}

enum gpu_heard gpu_child_hear(struct gpu_child *c, int64_t until, int stop, int other, cJSON **event)
{
    bool open = true;
    for (;;) {
        const enum gpu_heard heard = next_event(c, event);
        if (heard != GPU_HEARD_NOTHING)
            return heard;
        if (!open)
            return hear_end(c);
        struct pollfd fds[] = {{.fd = c->out, .events = POLLIN},
                               {.fd = c->err, .events = POLLIN}, /* poll skips a descriptor of -1 */
                               {.fd = c->pidfd, .events = POLLIN},
                               {.fd = stop, .events = POLLIN},
                               {.fd = other, .events = POLLIN}};
        const int ready = poll(fds, sizeof fds / sizeof *fds, left_until(until));
        if (ready > 0 && fds[1].revents)
            hear_words(c);
        if (ready > 0 && fds[0].revents)
            open = hear_more(c);
        else if (ready > 0 && fds[2].revents)
            open = false;
        else if (ready > 0 && (fds[3].revents || fds[4].revents))
            return GPU_HEARD_NOTHING;
        if (open && gpu_clock_ms() >= until && !(c->len && memchr(c->buffer, '\n', c->len)))
            return GPU_HEARD_NOTHING;
    }
}
