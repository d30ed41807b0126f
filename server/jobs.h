/* jobs.h: what the files of the job endpoints share. */
#ifndef JOBS_H
#define JOBS_H

#include "http.h"
#include "json.h"
#include "queue.h"

struct engine;

struct webhooks;
struct artifacts;

struct jobs {
    struct queue *queue;
    struct artifacts *artifacts;
    struct engine *engine;
    struct webhooks *webhooks;
};

/* ---- jobs.c: from a handler to the queue and back ---- */

/* The state of a request that is about to ask the queue: `size` zeroed bytes that begin with a struct
 * call, kept in rq->state. */
void *jobs_call(struct request *rq, size_t size, bool (*run)(struct queue *q, struct call *call));
/* Ask, or see whether there is an answer. False: the request is parked, and the handler returns. */
bool jobs_ask(struct request *rq, struct call *call);
/* server->jobs, which stays until jobs_leave; NULL while the daemon starts or ends. */
struct jobs *jobs_enter(struct server *server);
void jobs_leave(void);
/* In the queue's thread: the job in the call's arena, once it has ended or the call is late; false, and
 * the call watches the job, until then. */
bool job_await(struct queue *q, struct call *call, int64_t seq, struct job *out);
/* Answer a request whose call came back with anything but ANSWER_OK. */
void respond_refusal(struct request *rq, const struct call *call);
/* Run body(&json, arg) and answer with what it wrote. */
void respond_written(struct request *rq, int status, const char *type,
                     void (*body)(struct json *j, void *arg), void *arg);

/* An integer of the query, left as it is when absent; false, with the answer given, when it is none. */
bool query_integer(struct request *rq, const char *name, int64_t min, int64_t max, int64_t *out);

/* ---- job.c, job_list.c: reading jobs ---- */

/* What is asked of /jobs/ID. */
struct fetch {
    struct call call;
    const char *id;
    const char *part; /* NULL, "events", or an artifact */
    int64_t seq;      /* of the job, once it is found */
    struct job job;
    int64_t known;        /* the version that the client has, or -1 */
    bool waits;           /* for a change, or else for the end */
    int64_t position, ms; /* queued jobs before it, and how long they take */
    const char *text;     /* the artifact */
    struct child *children;
    const char *owner; /* whose jobs may be cancelled; NULL: everybody's */
    bool forbidden;
    bool more;     /* events that there was no room for */
    int64_t after; /* events that the client has */
    struct event_list {
        struct event event;
        struct event_list *next;
    } * events;
};

/* In the queue's thread: the job that f names; false when there is none. */
bool fetch_find(struct queue *q, struct fetch *f, struct job *job);
/* job_events.c: GET /jobs/ID/events, as a list or as a stream. */
bool events_begin(struct request *rq, struct fetch *f);
void handle_events(struct request *rq);

/* artifact.c: GET /jobs/ID/source and its kin. NULL when it was refused, and answered. */
struct fetch *artifact_begin(struct request *rq);
void handle_artifact(struct request *rq, struct fetch *f);
bool artifacts_start(struct server *server, struct artifacts **out);
/* What is being made is given up. */
void artifacts_stop(struct artifacts *artifacts);

/* ---- submit.c: POST /jobs ---- */

/* What a spec says to the queue. */
struct spec {
    const char *text; /* canonical, without what follows */
    const char *kind, *wants;
    bool fresh;
};

void handle_submit(struct request *rq);
/* Read the fields, and have a plan made of them when it must be `planned`; take apart what is left; memory for the plan
 * is cx's. False with cx->error, and the field at fault. */
bool spec_read(struct la_ctx *cx, const struct server *server, cJSON *json, bool planned, struct spec *out,
               const char **field);
/* Answer with what is wrong with a spec. */
void respond_bad_spec(struct request *rq, const struct la_error *error, const char *field);
/* The job that has answered a spec, for who wants this executor; 0: none has. */
int64_t spec_answered(struct queue *q, const char *spec, const char *wants);
/* An id: sorts by submission, cannot be guessed. */
const char *new_id(struct la_ctx *cx);
/* Its last runs ended in kernel faults: it is not run any more. */
bool spec_is_stopped(struct queue *q, const char *spec);
extern const char spec_stopped_failure[];

/* ---- sweep.c ---- */

/* How many children a sweep may have. */
#define MAX_CHILDREN 2000

/* A child before it is queued: a spec, or why it is refused. */
struct child_spec {
    const char *id, *vary, *failure;
    struct spec spec;
    int64_t answer; /* the job that has answered it before, or 0 */
};

/* The children of {"kind":"sweep",...}; NULL when it was refused, and answered. */
struct child_spec *sweep_read(struct request *rq, size_t *count);
/* In the queue's thread: find children that were answered before, unless they are to run again; how many are to be
 * queued. */
int64_t sweep_reuse(struct queue *q, struct child_spec *children, size_t count, bool fresh);
/* In the queue's thread: queue a sweep with its children. */
void sweep_submit(struct queue *q, struct job *sweep, const struct child_spec *children, size_t count);
/* "result" of a sweep, as members of an open object. */
void sweep_write(struct json *j, const struct child *children);

/* ---- job_json.c ---- */

/* A job as members of an open object; `brief` leaves out what may be long. */
void job_write(struct json *j, const struct job *job, bool brief);
/* Where a queued job stands: jobs before it, and the milliseconds that they take. */
void job_write_place(struct json *j, int64_t position, int64_t ms);
void json_time(struct json *j, int64_t ms); /* "2026-11-29T23:03:36.123Z" */
/* The text of a JSON value with sorted members and no blanks: equal values have equal texts. NULL without
 * memory. */
const char *canonical_json(struct la_ctx *cx, cJSON *value);

/* ---- devices.c: the workers ---- */

struct worker *worker_find(struct queue *q, const char *id);
/* The worker of that name, made when there is none; NULL without memory. */
struct worker *worker_named(struct queue *q, const char *name, bool local);
/* Texts that are wrong are refused by false. */
bool worker_set(struct queue *q, struct worker *worker, const char *executor, const char *device,
                const char *state, const char *reason);
/* The name of a state that is one, as a static text; else NULL. */
const char *worker_state_find(const char *name);
enum { WORKER_STATES = 6 };
const char *worker_state_name(int state);
/* Add the workers of an executor, by their states. */
void workers_count(const struct queue *q, const char *executor, int64_t counts[WORKER_STATES]);
/* True when a GPU worker is there or soon will be: then jobs that do not say where they want to run wait
 * for it. */
bool gpu_expected(const struct queue *q);

/* ---- lease.c ---- */

/* A local worker has no process any more, or gets a new one: its lease is lost. For the engine's thread. */
void worker_note(struct queue *q, const char *name, const char *executor, const char *state,
                 const char *reason);
/* How many jobs local workers run. */
int64_t local_jobs(struct queue *q);

/* ---- webhook.c ---- */

bool webhooks_start(struct server *server, struct queue *queue, struct webhooks **out);
/* Before the queue is stopped: what is being delivered is given up, and tried again by the next daemon. */
void webhooks_end(struct webhooks *webhooks);
/* After it was stopped. */
void webhooks_free(struct webhooks *webhooks);

/* ---- engine_local.c ---- */

bool engine_start(struct server *server, struct queue *queue, struct engine **out);
void engine_stop(struct engine *engine);

#endif
