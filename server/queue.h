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

#define WATCH_WORK ((int64_t)-1) /* as call->watch: a job that may be taken; else the seq of a job */

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

struct queue {
    struct server *server;
    struct store *store;
    struct la_arena *scratch; /* of one call's run */
    int64_t now, today;       /* of the batch: monotonic, and milliseconds since 1970 */
    struct worker *workers;
    struct call *waiting; /* in order of arrival */
    uint64_t batch;
    int64_t wake; /* monotonic: when the next deadline passes */
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
int64_t queue_clock(void); /* monotonic milliseconds */

/* Run again the calls that watch this (a job's seq, or WATCH_WORK). */
void queue_changed(struct queue *q, int64_t watch);
void random_bytes(unsigned char *out, size_t size); /* that nobody can guess */
/* `bytes` of them as hexadecimal text. */
void random_hex(char *out, size_t bytes);

/* ---- states.c: what may become of a job; each writes the row and the event, and wakes who waits ---- */

void job_submit(struct queue *q, struct job *job);
void job_lease(struct queue *q, struct job *job, const struct worker *worker, const char *token);
/* The worker was heard: its lease is extended. */
void job_heard(struct queue *q, struct job *job);
/* A line of its history; "partial": what it has so far. */
void job_note(struct queue *q, struct job *job, const char *type, const char *data);
void job_enter(struct queue *q, struct job *job, enum job_state state, const char *data);
/* data: the failure of a failed job. */
void job_end(struct queue *q, struct job *job, enum job_state state, const char *data);
/* Queued: cancelled at once. Leased: marked, and its worker is told. */
void job_cancel(struct queue *q, struct job *job);
/* Back to the queue by a worker that ends: not the job's fault and not counted. */
void job_release(struct queue *q, struct job *job);
/* The lease is lost: back to the queue once, then failed as infra. */
void job_lose(struct queue *q, struct job *job, const char *why);
/* Everything whose deadline has passed. */
void jobs_sweep(struct queue *q);
/* After a start: what the last daemon left. */
void jobs_recover(struct queue *q);

#endif
