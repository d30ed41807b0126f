/* queue.h: the one thread that owns the store, the workers and the clock.
 *
 * A handler fills a call, gives it to the thread and parks its request; while it is parked, the call and
 * the request's arena belong to the thread. The thread takes all calls that came in meanwhile as one
 * batch: one transaction, one commit, then all answers. So 202 means on disk, and a hundred clients share
 * one fsync.
 *
 * call->run is the half of an operation that runs there: it reads and changes jobs, and returns true when
 * the call has its answer. One that returns false waits: it is run again when what it watches changes, and
 * for the last time, with `late` set, when its time is over. Waiting for a job's end and waiting for work
 * are nothing but that. */
#ifndef QUEUE_H
#define QUEUE_H

#include "server.h"
#include "store.h"

#include <pthread.h>
#include <stdatomic.h>

enum answer {
    ANSWER_OK,
    ANSWER_NONE,     /* there is no such job or worker */
    ANSWER_GONE,     /* the lease is no longer valid */
    ANSWER_CONFLICT, /* not in the state that it is in */
    ANSWER_STORE,    /* the store could not be written: nothing has happened */
    ANSWER_MEMORY,   /* the answer needs more memory than a request may use */
    ANSWER_CLOSED    /* the daemon is starting or ending */
};

struct queue;

/* As call->watch: a job that may be taken; a webhook that may be due; else the seq of a job. */
#define WATCH_WORK ((int64_t)-1)
#define WATCH_HOOKS ((int64_t)-2)

struct call {
    bool (*run)(struct queue *q, struct call *call);
    struct la_arena *arena; /* where the answer's texts go */
    bool durable;           /* what it changes must be on disk before it is answered */
    int64_t until;          /* monotonic milliseconds: when it is late */
    int64_t watch;          /* what it waits for; set by run */
    enum answer answer;
    bool late;
    bool wakes; /* its topic is woken when it is answered */
    /* queue.c's own */
    bool sent, ready;
    atomic_bool hurried, done;
    uint64_t batch;
    struct call *next;
};

/* Who runs jobs, as far as it is known: devices.c. */
struct worker {
    char id[17];
    char name[65];
    bool local; /* a child of this daemon */
    char executor[4];
    const char *state; /* one of worker_states */
    char reason[240];  /* of a state that is not "ready" */
    char *device;      /* JSON, or NULL */
    int64_t heard;     /* monotonic milliseconds */
    struct worker *next;
};

/* Kinds of failures: states.c. */
enum { FAILURE_KINDS = 6 };
extern const char *const failure_kinds[FAILURE_KINDS];

/* What has happened since the daemon's start, for /metrics; of a batch that is rolled back nothing has. */
enum { BATCH_SIZES = 9 }; /* up to 1, 2, 4, ... 128 calls, and more */
struct tally {
    uint64_t submitted, done, cancelled, failed[FAILURE_KINDS];
    uint64_t leases, lost, reused;
    uint64_t hooks[2];               /* calls that failed, and that were taken */
    uint64_t commits, uncommitted;   /* all, and those that failed */
    uint64_t batches[BATCH_SIZES];   /* durable ones, by how many calls they answered */
    uint64_t batch_calls, commit_us; /* of these */
};

struct queue {
    struct server *server;
    struct store *store;
    struct la_arena *scratch; /* of one call's run */
    int64_t now, today;       /* of the batch: monotonic, and milliseconds since 1970 */
    struct worker *workers;
    struct tally tally;
    struct call *waiting; /* in order of arrival */
    uint64_t batch;
    int64_t wake;  /* monotonic: when the next deadline passes */
    int64_t tidy;  /* monotonic: when old jobs are looked for */
    int64_t since; /* the wall clock less the monotonic one, at the start */
    pthread_t thread;
    pthread_mutex_t mutex; /* of what follows */
    pthread_cond_t arrived, answered;
    struct call *inbox, **inbox_end;
    bool hurried; /* some call is */
    bool stop;
};

/* ---- queue.c ---- */

bool queue_open(struct server *server, struct queue **out);
/* Answer every call, waiting ones as if their time were over, and take no more. */
void queue_stop(struct queue *q);
void queue_free(struct queue *q);
/* Hand a call over. False when the queue is stopped. */
bool queue_send(struct queue *q, struct call *call);
uint64_t queue_topic(const struct call *call);
/* Sleep until a call that was sent is answered; the call waits for nothing any more. */
void queue_hurry(struct queue *q, struct call *call);
/* Send and sleep until it is answered: for threads that are not a request's. */
void queue_do(struct queue *q, struct call *call);
/* The same for a call that may wait, until the queue is stopped. */
void queue_await(struct queue *q, struct call *call);
int64_t queue_clock(void); /* monotonic milliseconds */

/* Run again the calls that watch this (a job's seq, or WATCH_WORK). */
void queue_changed(struct queue *q, int64_t watch);
/* printf into the scratch arena, cut to a few hundred bytes; NULL without memory. For JSON: the arguments need no
 * escapes. */
const char *queue_text(struct queue *q, const char *format, ...) __attribute__((format(printf, 2, 3)));
void random_bytes(unsigned char *out, size_t size); /* that nobody can guess */
/* `bytes` of them as hexadecimal text. */
void random_hex(char *out, size_t bytes);

/* ---- fair.c: whose turn it is ---- */

/* What became of a wish to queue jobs. */
struct admission {
    enum admitted { ADMITTED, ADMITTED_NOT_USER, ADMITTED_NOT_HOUR, ADMITTED_NOT_ALL } verdict;
    int64_t limit, remaining; /* queued jobs of the user */
    int64_t retry_s;          /* when it may be tried again */
};
/* May this user queue so many jobs more? */
struct admission fair_admit(struct queue *q, const char *user, int64_t jobs);
/* A user has submitted jobs: known from now on, and waiting if nothing of theirs was queued. */
void fair_submitted(struct queue *q, const char *user);
/* The job that a worker runs next. */
bool fair_next(struct queue *q, const struct worker *worker, struct la_arena *arena, struct job *out);
/* A job of the user was leased: the others' turn is next. */
void fair_leased(struct queue *q, const char *user);
/* A user has used a worker for so long. */
void fair_charge(struct queue *q, const char *user, int64_t ms);
/* How many jobs run before a queued one, about, and in how many milliseconds its turn comes. */
void fair_position(struct queue *q, const struct job *job, int64_t *position, int64_t *ms);

/* ---- keep.c ---- */

/* Remove what is too old or too much, when it is time to look. */
void jobs_tidy(struct queue *q);

/* ---- sweep.c ---- */

/* A child was leased. */
void sweep_child_begins(struct queue *q, int64_t sweep);
/* A child has ended, the job `child`: its sweep's progress, and its end with the last one. */
void sweep_child_ended(struct queue *q, const struct job *child);
/* End all that is left of a sweep. */
void sweep_cancel(struct queue *q, struct job *sweep);

/* ---- states.c: what may become of a job; each writes the row and the event, and wakes who waits ---- */

void job_submit(struct queue *q, struct job *job);
void job_lease(struct queue *q, struct job *job, const struct worker *worker, const char *token);
/* The worker was heard: its lease is extended. */
void job_heard(struct queue *q, struct job *job);
/* A line of its history; "partial": what it has so far. */
void job_note(struct queue *q, struct job *job, const char *type, const char *data);
void job_enter(struct queue *q, struct job *job, enum job_state state, const char *data);
/* Its user pays for the worker's time, up to what its budget allows; not when the fault was ours. */
void job_charge(struct queue *q, struct job *job);
/* data: the failure of a failed job. */
void job_end(struct queue *q, struct job *job, enum job_state state, const char *data);
/* Queued: cancelled at once. Leased: marked, and its worker is told. */
void job_cancel(struct queue *q, struct job *job);
/* Back to the queue by a worker that ends: not the job's fault and not counted. */
void job_release(struct queue *q, struct job *job);
/* The lease is lost with its worker: back to the queue once, then failed as infra. */
void job_lose(struct queue *q, struct job *job, const char *why);
/* It ended without having run: answered by an earlier job, whose result and texts are its own now. */
void job_answer(struct queue *q, struct job *job, const struct job *earlier);
/* It ended without having run: refused by its plan, or stopped. */
void job_refuse(struct queue *q, struct job *job, const char *failure);
/* Everything whose deadline has passed. */
void jobs_sweep(struct queue *q);
/* After a start: what the last daemon left. */
void jobs_recover(struct queue *q);

#endif
