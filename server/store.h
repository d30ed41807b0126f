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

/* Whose turn it is, before anything else: a person waits for the first, a list for the second. */
enum job_class { CLASS_INTERACTIVE, CLASS_SWEEP, CLASS_COUNT };

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
    const char *wants; /* which executor: "any", "gpu", "cpu"; "sweep": none, its children run */
    const char *spec;  /* canonical JSON: members sorted, no blanks */
    const char *key;   /* Idempotency-Key, one a user */
    struct budget budget;
    int64_t created, started, finished; /* milliseconds since 1970 */
    int64_t deadline;           /* monotonic milliseconds: of waiting while queued, then of the lease */
    int64_t attempts;           /* leases so far */
    bool cancel;                /* its worker shall end it */
    const char *lease, *worker; /* who runs it or ran it last: the lease's token and the worker's name */
    bool local;                 /* that worker is a child of this daemon */
    int64_t parent;             /* the sweep's seq that it is a child of, or 0 */
    int64_t class;              /* enum job_class */
    int64_t version;            /* grows with every change of the row that a client can see */
    const char *parent_id;      /* only read */
    int64_t open;               /* of a sweep: children that have not ended */
    const char *vary;           /* of a child: what makes it differ from its sweep's base, JSON */
    const char *reused;         /* the job that had answered its spec before, or NULL */
    int64_t losses;             /* workers that died with it */
    int64_t leased;             /* monotonic milliseconds of the last lease */
    int64_t cost;               /* milliseconds of a worker that its user was charged */
    const char *webhook;        /* who is told of its end, or NULL */
    const char *executor;       /* what ran it: "gpu" or "cpu" */
    const char *result, *failure, *partial; /* JSON */
    const char *artifacts;                  /* names of its artifacts, with commas between them; only read */
};

struct event {
    int64_t seq, at;         /* seq counts from 1 in each job */
    const char *type, *data; /* data: a JSON object, or NULL */
};

struct store;

/* Make a folder, and those above it, where missing; false with a message on standard error. */
bool store_folder(const char *folder);
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
/* Its lease is extended; nothing that a client sees. */
void store_heard(struct store *store, int64_t seq, int64_t deadline);

/* Each of these reads at most one job; false when there is none. */
bool store_get(struct store *store, struct la_arena *arena, int64_t seq, struct job *out);
bool store_find(struct store *store, struct la_arena *arena, const char *id, struct job *out);
bool store_find_key(struct store *store, struct la_arena *arena, const char *user, const char *key,
                    struct job *out);
/* The newest job that answered a spec on an executor of this kind, or 0; one that did not verify is no answer. */
int64_t store_find_answer(struct store *store, const char *spec, const char *executor);
/* One whose deadline has passed. */
bool store_find_overdue(struct store *store, struct la_arena *arena, int64_t now, struct job *out);
/* A leased one after the job `after`. */
bool store_find_leased(struct store *store, struct la_arena *arena, int64_t after, struct job *out);
/* Which jobs a list has. */
struct job_filter {
    enum job_state state; /* JOB_STATE_COUNT: all */
    int64_t parent;       /* the children of this sweep; 0: what is no sweep's child */
    const char *user;     /* NULL: everybody's */
};
/* The newest of them before `before`; its result is cut to a summary. */
bool store_find_before(struct store *store, struct la_arena *arena, int64_t before,
                       const struct job_filter *filter, struct job *out);

/* The earliest deadline, INT64_MAX when there is none. */
int64_t store_next_deadline(struct store *store);
/* Give every queued job its whole waiting time again. */
void store_restart_waiting(struct store *store, int64_t now);
int64_t store_count(struct store *store, enum job_state state, int64_t class);
/* How many of a class are queued, and when the oldest was; *since is left as it is when there are none. */
int64_t store_queued_in(struct store *store, int64_t class, int64_t *since);
/* Did a spec end in so many kernel faults since then, and since it last went well? */
bool store_is_faulty(struct store *store, const char *spec, int64_t faults, int64_t since);

/* Append to a job's history, unless it has `most` events already. */
void store_add_event(struct store *store, int64_t seq, int64_t at, const char *type, const char *data,
                     int64_t most);
/* The next event of a job after number `after`. */
bool store_next_event(struct store *store, struct la_arena *arena, int64_t seq, int64_t after,
                      struct event *out);

/* Texts beside a result, for example "source". */
void store_put_artifact(struct store *store, int64_t seq, const char *name, const char *text);
void store_copy_artifacts(struct store *store, int64_t from, int64_t to);
const char *store_artifact(struct store *store, struct la_arena *arena, int64_t seq, const char *name);

/* ---- store_sweep.c: sweeps and their children ---- */

/* A line of a sweep's result. Numbers that a child does not have are NaN. */
struct child {
    const char *id, *state, *kind, *vary, *executor, *failure, *reused;
    int verified; /* 1, 0, or -1: not known */
    double speed, micros;
    struct child *next;
};

/* The first child runs: true when the sweep was queued until now. */
bool store_start_sweep(struct store *store, int64_t parent, int64_t today);
/* How many children are done, and what kind of failure the last one had that failed, or NULL. */
int64_t store_sweep_done(struct store *store, struct la_arena *arena, int64_t parent, const char **kind);
/* A child has ended: how many have not. */
int64_t store_close_child(struct store *store, int64_t parent);
/* The children of a sweep, the best first; NULL when there are none. */
struct child *store_children(struct store *store, struct la_arena *arena, int64_t parent);
/* The first child that has not ended, after the job `after`. */
bool store_find_open_child(struct store *store, struct la_arena *arena, int64_t parent, int64_t after,
                           struct job *out);

/* ---- store_turns.c: who has used how much, and who waits ---- */

/* A user of the queue. Times are milliseconds since 1970. */
struct usage {
    const char *user;
    double used; /* worker milliseconds, decayed to the time `at` */
    int64_t at;
    int64_t since;           /* the user waits for a worker since then */
    int64_t hour, hour_used; /* worker milliseconds of the hour that began then */
    /* only of store_turns: */
    int64_t running, running_ms; /* jobs that are leased now, and for how long in all */
    int64_t head[2];             /* the first queued job of each class that the worker can run, or 0 */
    struct usage *next;
};

/* Every user, with what a worker could run that takes jobs that want one or the other; `now` is monotonic. */
struct usage *store_turns(struct store *store, struct la_arena *arena, const char *wants,
                          const char *or_wants, int64_t now);
/* Zeros for a user that is not known. */
struct usage store_usage(struct store *store, const char *user);
void store_put_usage(struct store *store, const struct usage *usage);
int64_t store_user_queued(struct store *store, const char *user);
int64_t store_queued(struct store *store);

/* Queued jobs of a user in a class. */
struct line {
    const char *user;
    int64_t class, count;
    struct line *next;
};
struct line *store_lines(struct store *store, struct la_arena *arena);
/* How many of its user's, in its class, were submitted before a job. */
int64_t store_count_before(struct store *store, const struct job *job);
/* What jobs have cost lately, in milliseconds, on average. */
int64_t store_recent_cost(struct store *store, int64_t otherwise);

/* ---- store_keep.c: webhooks that are due, and what is kept how long ---- */

struct hook {
    int64_t job, tries, due;
};
void store_add_hook(struct store *store, int64_t job, int64_t due);
int64_t store_hooks(struct store *store); /* how many */
bool store_next_hook(struct store *store, struct hook *out);
void store_hook_later(struct store *store, int64_t job, int64_t due);
void store_hook_over(struct store *store, int64_t job);

/* The job that ended first, before a time, with its children; 0 when there is none. */
int64_t store_find_old(struct store *store, int64_t before);
void store_remove(struct store *store, int64_t seq);
/* Users who have used nothing since then, and wait for nothing. */
void store_forget_users(struct store *store, int64_t before);
int64_t store_bytes(struct store *store);

#endif
