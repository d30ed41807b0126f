/* jobs.h: what the files of the job endpoints share. */
#ifndef JOBS_H
#define JOBS_H

#include "http.h"
#include "json.h"
#include "queue.h"

struct engine;

struct jobs {
    struct queue *queue;
    struct engine *engine;
};

/* ---- jobs.c: from a handler to the queue and back ---- */

/* The state of a request that is about to ask the queue: `size` zeroed bytes that begin with a struct
 * call, kept in rq->state. */
void *jobs_call(struct request *rq, size_t size, bool (*run)(struct queue *q, struct call *call));
/* Ask, or see whether there is an answer. False: the request is parked, and the handler returns. */
bool jobs_ask(struct request *rq, struct call *call);
/* In the queue's thread: the job in the call's arena, once it has ended or the call is late; false, and
 * the call watches the job, until then. */
bool job_await(struct queue *q, struct call *call, int64_t seq, struct job *out);
/* Answer a request whose call came back with anything but ANSWER_OK. */
void respond_refusal(struct request *rq, const struct call *call);
/* Run body(&json, arg) and answer with what it wrote. */
void respond_written(struct request *rq, int status, const char *type,
                     void (*body)(struct json *j, void *arg), void *arg);

/* ---- job_json.c ---- */

/* A job as members of an open object; `brief` leaves out what may be long. */
void job_write(struct json *j, const struct job *job, bool brief);
void json_time(struct json *j, int64_t ms); /* "2026-11-29T23:03:36.123Z" */
/* The text of a JSON value with sorted members and no blanks: equal values have equal texts. NULL without
 * memory. */
const char *canonical_json(struct la_ctx *cx, cJSON *value);

/* ---- submit.c: POST /jobs ---- */

void handle_submit(struct request *rq);

/* ---- devices.c: the workers ---- */

struct worker *worker_find(struct queue *q, const char *id);
/* The worker of that name, made when there is none; NULL without memory. */
struct worker *worker_named(struct queue *q, const char *name, bool local);
/* Texts that are wrong are refused by false. */
bool worker_set(struct queue *q, struct worker *worker, const char *executor, const char *device,
                const char *state, const char *reason);
/* The name of a state that is one, as a static text; else NULL. */
const char *worker_state_find(const char *name);
/* True when a GPU worker is there or soon will be: then jobs that do not say where they want to run wait
 * for it. */
bool gpu_expected(const struct queue *q);

/* ---- lease.c ---- */

/* A local worker has no process any more, or gets a new one: its lease is lost. For the engine's thread. */
void worker_note(struct queue *q, const char *name, const char *executor, const char *state,
                 const char *reason);
/* How many jobs local workers run. */
int64_t local_jobs(struct queue *q);

/* ---- engine_local.c ---- */

bool engine_start(struct server *server, struct queue *queue, struct engine **out);
void engine_stop(struct engine *engine);

#endif
