/* store.h: jobs on disk. One thread owns a store (queue.c); nothing here locks.
 *
 * Every function but open and close runs between store_begin and store_commit. A statement that fails
 * marks the transaction: what follows does nothing, store_commit answers false, and nothing of the
 * transaction has happened. So callers check once, at the end. Texts that are read live in the arena that
 * the caller gives. */
#ifndef STORE_H
#define STORE_H

#include "la.h"

/* The states of a job, in the order of its life; the last three end it. */
enum job_state {
    JOB_QUEUED,
    JOB_COMPILING,
    JOB_RUNNING,
    JOB_DONE,
    JOB_FAILED,
    JOB_CANCELLED,
    JOB_STATE_COUNT
};

const char *job_state_name(enum job_state state);
/* JOB_STATE_COUNT when nothing is called that. */
enum job_state job_state_find(const char *name);

static inline bool job_state_ended(enum job_state state)
{
    return state >= JOB_DONE;
}
static inline bool job_state_leased(enum job_state state)
{
    return state == JOB_COMPILING || state == JOB_RUNNING;
}

/* How long a job may stay in each part of its life. */
struct budget {
    int64_t queue_ms, compile_ms, run_ms;
};

/* A row of the table of jobs. Texts that a job does not have are NULL, times that have not come are 0. */
struct job {
    int64_t seq; /* the order of submission */
    const char *id, *user;
    enum job_state state;
    const char *kind;  /* of its spec: "copy" */
    const char *wants; /* which executor: "any", "gpu", "cpu" */
    const char *spec;  /* canonical JSON: members sorted, no blanks */
    const char *key;   /* Idempotency-Key, one a user */
    struct budget budget;
    int64_t created, started, finished; /* milliseconds since 1970 */
    int64_t deadline;           /* monotonic milliseconds: of waiting while queued, then of the lease */
    int64_t attempts;           /* leases so far */
    bool cancel;                /* its worker shall end it */
    const char *lease, *worker; /* who runs it or ran it last: the lease's token and the worker's name */
    bool local;                 /* that worker is a child of this daemon */
    const char *executor;       /* what ran it: "gpu" or "cpu" */
    const char *result, *failure, *partial; /* JSON */
    const char *artifacts;                  /* names of its artifacts, with commas between them; only read */
};

struct event {
    int64_t seq, at;         /* seq counts from 1 in each job */
    const char *type, *data; /* data: a JSON object, or NULL */
};

struct store;

/* Open FOLDER/layoutd.db, which is made where missing. A file that is no sound database is moved aside and
 * a new one started. False, with a message on standard error, when that fails too or another daemon has it
 * open. */
bool store_open(const char *folder, struct store **out);
void store_close(struct store *store);

/* A durable transaction is on the disk when store_commit returns; another one survives a crash of the
 * daemon, but perhaps not of the machine. */
void store_begin(struct store *store, bool durable);
bool store_commit(struct store *store);

/* True when a text did not fit in its reader's arena since the last time this was asked; the reading
 * function then answered false, and the transaction goes on. */
bool store_out_of_memory(struct store *store);

/* Add a job, and give it its seq. */
void store_add(struct store *store, struct job *job);
/* Write what can change in a job: all but what it was submitted with. */
void store_save(struct store *store, const struct job *job);

/* Each of these reads at most one job; false when there is none. */
bool store_get(struct store *store, struct la_arena *arena, int64_t seq, struct job *out);
bool store_find(struct store *store, struct la_arena *arena, const char *id, struct job *out);
bool store_find_key(struct store *store, struct la_arena *arena, const char *user, const char *key,
                    struct job *out);
/* The newest answer to a spec by an executor of this kind; one that did not verify is no answer. */
bool store_find_answer(struct store *store, struct la_arena *arena, const char *spec, const char *executor,
                       struct job *out);
/* The first in the queue of those that want one or the other. */
bool store_find_next(struct store *store, struct la_arena *arena, const char *wants, const char *or_wants,
                     struct job *out);
/* One whose deadline has passed. */
bool store_find_overdue(struct store *store, struct la_arena *arena, int64_t now, struct job *out);
/* A leased one after the job `after`. */
bool store_find_leased(struct store *store, struct la_arena *arena, int64_t after, struct job *out);
/* The newest before `before`, of one state or of all (JOB_STATE_COUNT); its result is cut to a summary. */
bool store_find_before(struct store *store, struct la_arena *arena, int64_t before, enum job_state state,
                       struct job *out);

/* The earliest deadline, INT64_MAX when there is none. */
int64_t store_next_deadline(struct store *store);
/* Give every queued job its whole waiting time again. */
void store_restart_waiting(struct store *store, int64_t now);
/* How many are queued before this one. */
int64_t store_position(struct store *store, int64_t seq);
int64_t store_count(struct store *store, enum job_state state);

/* Append to a job's history; what is above a job's limit of events is dropped. */
void store_add_event(struct store *store, int64_t seq, int64_t at, const char *type, const char *data);
/* The next event of a job after number `after`. */
bool store_next_event(struct store *store, struct la_arena *arena, int64_t seq, int64_t after,
                      struct event *out);

/* Texts beside a result, for example "source". */
void store_put_artifact(struct store *store, int64_t seq, const char *name, const char *text);
const char *store_artifact(struct store *store, struct la_arena *arena, int64_t seq, const char *name);

#endif
