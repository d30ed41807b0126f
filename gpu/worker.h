/* worker.h: the process that leases jobs and watches an executor; it never touches CUDA itself.
 *
 * Sections stand for the .c files of the same names. Nothing here uses threads: the worker is one loop
 * over the executor's pipes, a signal and the daemon's answers, each with a deadline. */
#ifndef WORKER_H
#define WORKER_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What a worker's exit status says to who started it. */
enum {
    WORKER_UNAVAILABLE = 3, /* the device cannot be used: do not start it again */
    WORKER_NOT_RUN = 127    /* the program could not be run at all */
};

/* ---- worker.c: the loop -------------------------------------------------------------------------------------- */

struct gpu_worker_options {
    const char *url;    /* of the daemon: http://HOST:PORT */
    const char *device; /* "cpu" or "gpu:N" */
    const char *name;
    const char *token;
};
/* Lease and run jobs until SIGTERM or SIGINT; the exit status. */
int gpu_worker_main(const struct gpu_worker_options *options);

/* ---- worker_run.c: one job on the executor ------------------------------------------------------------------- */

struct gpu_client;
struct gpu_child;
struct gpu_compiler;

/* Run a leased job: watch the executor, tell the daemon, keep the budget; meanwhile the job that is next is
 * compiled. What shall be told of its end ({"lease":..., "state":...}, the caller's to delete); NULL when the
 * lease was lost. The executor may be gone afterwards. */
cJSON *gpu_run_job(struct gpu_client *client, struct gpu_child *child, struct gpu_compiler *compiler,
                   const cJSON *leased, int stop);

/* ---- worker_client.c: the daemon, over HTTP ------------------------------------------------------------------ */

/* NULL without memory. */
struct gpu_client *gpu_client_new(const char *url, const char *token);
void gpu_client_free(struct gpu_client *client);
/* POST a body and wait for the answer, which is parsed into *answer when it is JSON (the caller's to
 * delete; `answer` may be NULL). `wait_s`: what is asked for with "Prefer: wait". `stop`: a descriptor;
 * when it becomes readable the request is given up; -1: none. The status, or 0 when there was no answer. */
int gpu_client_post(struct gpu_client *client, const char *path, const cJSON *body, int wait_s, int stop,
                    cJSON **answer);
/* Why the last one had no answer. */
const char *gpu_client_error(const struct gpu_client *client);

/* ---- worker_child.c: a process of this program, over pipes ---------------------------------------------------- */

enum { GPU_LAST_WORDS = 2000 };

struct gpu_child {
    pid_t pid;               /* 0: none */
    int pidfd, in, out, err; /* -1, or its end and its standard input, output and error */
    char *buffer;            /* what came of its next lines */
    size_t len, capacity;
    char last_words[GPU_LAST_WORDS + 1]; /* the end of what it said on standard error */
    size_t last_len;
    bool ending; /* it was told to end */
    int status;  /* of waitpid, once it has ended */
};

enum gpu_heard {
    GPU_HEARD_EVENT,   /* *event is the next of its events, the caller's to delete */
    GPU_HEARD_NOTHING, /* the time is over, or one of the other descriptors is readable */
    GPU_HEARD_NOISE,   /* a line that is no event */
    GPU_HEARD_END      /* it has ended, and is reaped; or child->pid is still set, and it cannot be ended */
};

/* Run a program (NULL: this one) as `layoutd-worker ROLE DEVICE`; a role may need no device: NULL. False with
 * errno. */
bool gpu_child_start(struct gpu_child *child, const char *program, const char *role, const char *device);
/* Write a line of JSON; false when it does not read. */
bool gpu_child_send(struct gpu_child *child, const cJSON *message);
/* Wait for its next event until a monotonic time in milliseconds, or until a descriptor is readable: `stop` or
 * `other`, each of which may be -1. */
enum gpu_heard gpu_child_hear(struct gpu_child *child, int64_t until, int stop, int other, cJSON **event);
/* End it: SIGTERM, then SIGKILL. False when not even that ends it: it is then still there. */
bool gpu_child_end(struct gpu_child *child);
/* Reap it if it has ended; true when there is none any more. */
bool gpu_child_gone(struct gpu_child *child);
/* "died of signal 11 (Segmentation fault)" */
void gpu_child_describe(const struct gpu_child *child, char *text, size_t size);

/* ---- worker_compile.c: kernels compiled in a process of their own ------------------------------------------- */

/* One at a time: for the job that runs, or ahead, for the one that is likely to be next. */
struct gpu_compiler {
    struct gpu_child child;
    char arch[16]; /* of the executor's device; "": it needs no compiler */
    char job[65];  /* whose kernel it is, or was the last time */
    bool done;     /* that one is in the cache */
    int64_t deadline;
};

enum gpu_compiling { GPU_COMPILING, GPU_COMPILED, GPU_NOT_COMPILED };

/* Begin with a spec that the daemon says is next, unless a compiler is at work or has seen that job. */
void gpu_compiler_ahead(struct gpu_compiler *compiler, const cJSON *next);
/* What the executor asks for: {"event":"compile","source":...}. What was begun ahead for this job is taken over;
 * other work ahead is given up for it. False with errno when no process can be started. */
bool gpu_compiler_begin(struct gpu_compiler *compiler, const char *job, const cJSON *asked, int64_t deadline);
/* What has become of it by now; `why` of a failure. */
enum gpu_compiling gpu_compiler_hear(struct gpu_compiler *compiler, char *why, size_t size);
/* Readable when there is something to hear; or -1. */
int gpu_compiler_descriptor(const struct gpu_compiler *compiler);
void gpu_compiler_end(struct gpu_compiler *compiler);

int64_t gpu_clock_ms(void); /* monotonic */
/* Sleep; false when `stop` became readable. */
bool gpu_pause(int64_t ms, int stop);

#endif
