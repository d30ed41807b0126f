/* routes.h: the table of endpoints. A row is all there is to say of one: routing, 405, documents come from it. */
#ifndef ROUTES_H
#define ROUTES_H

#include "http.h"

enum route_flags {
    ROUTE_GET = 1,
    ROUTE_POST = 2,
    ROUTE_DELETE = 4,
    ROUTE_PREFIX = 8, /* matches PATH/anything; rq->tail is the anything */
    ROUTE_JSON = 16,  /* a POST body is a JSON object, parsed before the handler */
    ROUTE_PURE = 32   /* deterministic: ETag, 304, Cache-Control come from http.c */
};

struct field;

struct route {
    const char *path;
    unsigned flags;
    const char *scope; /* of the token that it needs: "eval", "run", "admin", "worker", "metrics", or NULL */
    const char *doc;   /* one sentence, for /openapi.json */
    void (*handle)(struct request *rq);
    const struct field
        *fields;       /* what a request may say (fields.h), checked before the handler; NULL: unchecked */
    const char *gives; /* what an answer holds: a schema of /openapi.json, or media types */
    const char *tail;  /* of ROUTE_PREFIX: what rq->tail is called in documents */
};

/* The row for a path, or NULL. */
const struct route *route_find(const char *path);
const struct route *route_at(size_t i); /* NULL after the last */

/* How many rows there may be: the size of the counters in metrics.c. */
#define ROUTES_MAX 32
/* The place of a row in the table. */
size_t route_index(const struct route *route);

void handle_eval(struct request *rq);  /* pure.c */
void handle_fit(struct request *rq);   /* fit.c */
void handle_atoms(struct request *rq); /* atoms.c */
void handle_atom(struct request *rq);
void handle_product(struct request *rq);
void handle_divide(struct request *rq);
void handle_ops(struct request *rq);    /* pure_ops.c: /ops */
void handle_op(struct request *rq);     /* /ops/NAME */
void handle_render(struct request *rq); /* render.c */
void handle_page(struct request *rq);   /* assets.c: / and any path that is no route */
void handle_livez(struct request *rq);  /* metrics.c */
void handle_readyz(struct request *rq);
void handle_metrics(struct request *rq);
void handle_openapi(struct request *rq); /* openapi.c */
void handle_problem(struct request *rq); /* problem.c: /problems/CODE */

void handle_access(struct request *rq);  /* analysis_access.c */
void handle_copy(struct request *rq);    /* analysis_copy.c */
void handle_mma(struct request *rq);     /* analysis_mma.c */
void handle_swizzle(struct request *rq); /* analysis_swizzle.c */

/* handlers of jobs.c and lease.c, named in the table of routes.c */
void handle_jobs(struct request *rq);    /* /jobs: POST a spec, GET the list */
void handle_job(struct request *rq);     /* /jobs/ID ... */
void handle_devices(struct request *rq); /* /devices */
void handle_worker(struct request *rq);  /* /worker/... the lease protocol */

#endif
