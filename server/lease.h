/* lease.h: what the files of the lease protocol share. */
#ifndef LEASE_H
#define LEASE_H

#include "jobs.h"

struct endpoint;

/* Texts that have their own addresses: /jobs/ID/source. */
enum { ARTIFACTS = 4 };
extern const char *const artifact_names[ARTIFACTS];

/* What a worker says in one request, and what it is answered. */
struct report {
    struct call call;
    const struct endpoint *endpoint;
    bool local;         /* with the token of this daemon's own workers */
    const char *worker; /* its id; when it registers, its name */
    const char *executor, *device, *state, *reason;
    const char *id, *lease;
    struct line_of_history {
        const char *type, *data;
        struct line_of_history *following;
    } * events;
    const char *next; /* the job that the worker knows to be next, or NULL: it has no use for that */
    const char *result, *failure, *partial;
    bool ours; /* the failure is no fault of the job */
    const char *artifacts[ARTIFACTS];
    char new_id[17]; /* of a worker that registered */
    struct job job;  /* the answer to a lease, with its token */
    char token[33];
    bool cancel;     /* the answer to an event */
    struct job hint; /* and another job that is next */
};

/* lease_read.c: the body of each endpoint. False when it was refused, and answered. */
bool lease_read_register(struct request *rq, struct report *r);
bool lease_read_device(struct request *rq, struct report *r);
bool lease_read_lease(struct request *rq, struct report *r);
bool lease_read_event(struct request *rq, struct report *r);
bool lease_read_result(struct request *rq, struct report *r);

#endif
