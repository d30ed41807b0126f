/* engine_local.c: workers on this machine, as children of the daemon.
 *
 * One thread starts a worker a slot, sleeps on their pidfds, and starts a dead one again, later each time
 * it dies young.
 *     --workers auto    one slot a GPU (gpu:0, gpu:1, ...); one on the CPU when there is none that works
 * GPUs are counted as device files: the daemon itself never initialises CUDA. A worker that finds its GPU
 * unusable says why to the daemon, ends with WORKER_UNAVAILABLE and is not started again.
 *
 * Children die with the daemon, however it dies: each asks the kernel for SIGKILL at the end of the thread
 * that made it.
 *
 * Not here: what a worker does (gpu/worker.c), workers that were started elsewhere. */
#include "jobs.h"
#include "worker.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum {
    MAX_SLOTS = 64,   /* workers of one machine: more than any has GPUs */
    BACKOFF_MS = 100, /* the first wait before a restart; doubled each time */
    MAX_BACKOFF_MS = 30 * 1000,
    HEALTHY_MS = 30 * 1000, /* who lived that long did not die of its start */
    TERM_MS = 3 * 1000,     /* from SIGTERM to SIGKILL: it kills its run and hands the job back */
    KILL_MS = 2 * 1000      /* from SIGKILL to giving up: a process in the driver's hands */
};

struct slot {
    char name[32], device[16];
    const char *executor;
    pid_t pid; /* 0: none */
    int pidfd;
    int failures;
    int64_t started, next_start;
    bool retired;
};

struct engine {
    struct server *server;
    struct queue *queue;
    pthread_t thread;
    int wake;    /* an eventfd: readable when the engine shall end */
    char *token; /* "LAYOUTD_WORKER_TOKEN=..." */
    int count;
    struct slot slots[MAX_SLOTS + 1]; /* one more: the CPU where no GPU can be used */
};

/* ---- which workers ------------------------------------------------------------------------------------------ */

/* One slot: gpu:INDEX, or the CPU executor; the first CPU worker has no number. */
static void add_slot(struct engine *e, const char *executor, int index)
{
    struct slot *s = &e->slots[e->count++];
    *s = (struct slot){.executor = executor};
    const bool gpu = strcmp(executor, "gpu") == 0;
    snprintf(s->device, sizeof s->device, gpu ? "gpu:%d" : "cpu", index);
    snprintf(s->name, sizeof s->name, gpu || index ? "local-%s:%d" : "local-%s", executor, index);
}

/* NVIDIA's driver makes a file /dev/nvidiaN a card. */
static int count_gpus(void)
{
    int count = 0;
    DIR *folder = opendir("/dev");
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        const char *digits = entry->d_name + 6;
        count += strncmp(entry->d_name, "nvidia", 6) == 0 && *digits &&
                 digits[strspn(digits, "0123456789")] == '\0';
    }
    if (folder)
        closedir(folder);
    return count < MAX_SLOTS ? count : MAX_SLOTS;
}

/* auto | cpu | none | N: that many, on GPUs first. False with a message when it is none of these. */
static bool plan_slots(struct engine *e, const char *workers)
{
    const int gpus = count_gpus();
    long wanted = gpus ? gpus : 1;
    if (strcmp(workers, "cpu") == 0) {
        add_slot(e, "cpu", 0);
        return true;
    }
    if (strcmp(workers, "none") == 0)
        return true;
    if (strcmp(workers, "auto") != 0) {
        char *end;
        wanted = strtol(workers, &end, 10);
        if (!*workers || *end || wanted < 0 || wanted > MAX_SLOTS) {
            fprintf(stderr, "layoutd: --workers takes auto, cpu, none or a number up to %d, not '%s'\n",
                    MAX_SLOTS, workers);
            return false;
        }
    }
    for (int i = 0; i < wanted; i++)
        add_slot(e, i < gpus ? "gpu" : "cpu", i < gpus ? i : i - gpus);
    return true;
}

/* ---- a child ------------------------------------------------------------------------------------------------ */

/* The environment with this daemon's token for its workers; the texts are shared. */
static char **make_environment(const struct engine *e)
{
    static const char name[] = "LAYOUTD_WORKER_TOKEN=";
    size_t n = 0;
    while (environ[n])
        n++;
    char **copy = calloc(n + 2, sizeof *copy);
    size_t kept = 0;
    for (size_t i = 0; copy && i < n; i++)
        if (strncmp(environ[i], name, sizeof name - 1) != 0)
            copy[kept++] = environ[i];
    if (copy)
        copy[kept] = e->token;
    return copy;
}

/* Between fork and exec: only what is safe there. Its own process group keeps the terminal's Ctrl-C for
 * the daemon, which drains; standard output joins standard error, so that the daemon's own output stays
 * the daemon's. */
static _Noreturn void become_worker(char *const *argv, char *const *environment, pid_t daemon)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int null = open("/dev/null", O_RDONLY);
    if (getppid() != daemon || null < 0 || dup2(null, STDIN_FILENO) < 0 ||
        dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        _exit(EXIT_FAILURE);
    setpgid(0, 0);
    close_range(STDERR_FILENO + 1, ~0U, 0);
    execve(argv[0], argv, environment);
    _exit(WORKER_NOT_RUN);
}

static void start(struct engine *e, struct slot *s)
{
    char *argv[] = {(char *)e->server->options.worker_path,
                    "--url",
                    e->server->url,
                    "--device",
                    s->device,
                    "--name",
                    s->name,
                    NULL};
    char **environment = make_environment(e);
    const pid_t daemon = getpid();
    s->started = queue_clock();
    s->pid = environment ? fork() : -1;
    if (s->pid == 0)
        become_worker(argv, environment, daemon);
    free(environment);
    s->pidfd = s->pid > 0 ? pidfd_open(s->pid, 0) : -1;
    if (s->pid > 0 && s->pidfd >= 0)
        return;
    fprintf(stderr, "layoutd: cannot start the worker %s: %s\n", s->name, strerror(errno));
    if (s->pid > 0) {
        kill(s->pid, SIGKILL);
        waitpid(s->pid, NULL, 0);
    }
    s->pid = 0;
    s->next_start = s->started + MAX_BACKOFF_MS;
}

static void describe(int status, char *text, size_t size)
{
    if (WIFSIGNALED(status))
        snprintf(text, size, "it died of signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status) == WORKER_NOT_RUN)
        snprintf(text, size, "its program could not be run");
    else
        snprintf(text, size, "it ended with status %d", WEXITSTATUS(status));
}

/* All GPUs turned out unusable: the partitions are at least checked, on the CPU. */
static void fall_back(struct engine *e)
{
    bool any = false;
    for (int i = 0; i < e->count; i++)
        any |= !e->slots[i].retired;
    if (!any && strcmp(e->slots[0].executor, "gpu") == 0) {
        add_slot(e, "cpu", 0);
        fprintf(stderr, "layoutd: no GPU can be used; jobs run on the CPU\n");
    }
}

static void ended(struct engine *e, struct slot *s, int status)
{
    const int64_t now = queue_clock();
    char reason[160];
    describe(status, reason, sizeof reason);
    close(s->pidfd);
    s->pid = 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == WORKER_UNAVAILABLE) { /* it has told the daemon why */
        s->retired = true;
        worker_note(e->queue, s->name, s->executor, "unavailable", NULL);
        fall_back(e);
        return;
    }
    s->failures = now - s->started > HEALTHY_MS ? 0 : s->failures;
    const int64_t wait = s->failures < 10 ? BACKOFF_MS << s->failures : MAX_BACKOFF_MS;
    s->failures++;
    s->next_start = now + (wait < MAX_BACKOFF_MS ? wait : MAX_BACKOFF_MS);
    fprintf(stderr, "layoutd: worker %s: %s; started again in %lld ms\n", s->name, reason,
            (long long)(s->next_start - now));
    worker_note(e->queue, s->name, s->executor, "restarting", reason);
}

/* ---- the thread --------------------------------------------------------------------------------------------- */

static void reap(struct engine *e)
{
    for (int i = 0; i < e->count; i++) {
        struct slot *s = &e->slots[i];
        int status;
        if (s->pid && waitpid(s->pid, &status, WNOHANG) == s->pid)
            ended(e, s, status);
    }
}

/* Start what is due; milliseconds until the next is, -1 when none waits. */
static int start_due(struct engine *e)
{
    int64_t next = INT64_MAX;
    for (int i = 0; i < e->count; i++) {
        struct slot *s = &e->slots[i];
        if (!s->pid && !s->retired && s->next_start <= queue_clock())
            start(e, s);
        if (!s->pid && !s->retired && s->next_start < next)
            next = s->next_start;
    }
    const int64_t left = next - queue_clock();
    return next == INT64_MAX ? -1 : left > 0 ? (int)left : 0;
}

/* Sleep until a child ends, the time is over, or the engine shall end: then false. */
static bool watch(const struct engine *e, int timeout)
{
    struct pollfd fds[MAX_SLOTS + 2] = {{.fd = e->wake, .events = POLLIN}};
    nfds_t n = 1;
    for (int i = 0; i < e->count; i++)
        if (e->slots[i].pid)
            fds[n++] = (struct pollfd){.fd = e->slots[i].pidfd, .events = POLLIN};
    poll(fds, n, timeout);
    return !(fds[0].revents & POLLIN);
}

static bool any_left(const struct engine *e)
{
    for (int i = 0; i < e->count; i++)
        if (e->slots[i].pid)
            return true;
    return false;
}

/* Send a signal to who is left, and wait until all have ended or the time is over. */
static void end_all(struct engine *e, int signal_number, int64_t ms)
{
    const int64_t until = queue_clock() + ms;
    for (int i = 0; i < e->count; i++)
        if (e->slots[i].pid)
            kill(e->slots[i].pid, signal_number);
    while (any_left(e) && queue_clock() < until) {
        poll(NULL, 0, 10);
        for (int i = 0; i < e->count; i++)
            if (e->slots[i].pid && waitpid(e->slots[i].pid, NULL, WNOHANG) != 0) {
                close(e->slots[i].pidfd);
                e->slots[i].pid = 0;
            }
    }
}

static void *work(void *arg)
{
    struct engine *e = arg;
    for (int i = 0; i < e->count; i++)
        worker_note(e->queue, e->slots[i].name, e->slots[i].executor, "starting", NULL);
    do
        reap(e);
    while (watch(e, start_due(e)));
    end_all(e, SIGTERM, TERM_MS);
    end_all(e, SIGKILL, KILL_MS);
    if (any_left(e))
        fprintf(stderr, "layoutd: a worker does not end, even killed; it is left behind\n");
    return NULL;
}

static void engine_free(struct engine *e)
{
    if (e->wake >= 0)
        close(e->wake);
    free(e->token);
    free(e);
}

bool engine_start(struct server *server, struct queue *queue, struct engine **out)
{
    struct engine *e = calloc(1, sizeof *e);
    if (!e)
        return false;
    e->server = server;
    e->queue = queue;
    e->wake = eventfd(0, EFD_CLOEXEC);
    const bool ok = e->wake >= 0 && plan_slots(e, server->options.workers) &&
                    asprintf(&e->token, "LAYOUTD_WORKER_TOKEN=%s", server->worker_token) > 0;
    if (!ok || pthread_create(&e->thread, NULL, work, e)) {
        engine_free(e);
        return false;
    }
    *out = e;
    return true;
}

void engine_stop(struct engine *e)
{
    const uint64_t one = 1;
    while (write(e->wake, &one, sizeof one) < 0 && errno == EINTR)
        ;
    pthread_join(e->thread, NULL);
    engine_free(e);
}
