/* http.h: what a handler sees of a request, and how it answers. http.c is the only file that knows microhttpd.
 *
 * A handler runs to its end on the arena of its request and has no cleanup code: the arena is freed when the
 * library says that the request is over. It answers exactly once, or parks the request (see request_park). */
#ifndef HTTP_H
#define HTTP_H

#include "la.h"

#include <cjson/cJSON.h>

struct server; /* the daemon's state: server.h */

struct request {
    struct server *server;
    struct la_ctx cx;   /* the request's arena */
    const char *method; /* "GET" (HEAD is shown as GET), "POST", "DELETE" */
    const char *path;   /* decoded, without the query */
    const char *tail; /* what follows the route's prefix: "17" of /jobs/17, "17/events" of /jobs/17/events */
    const char *client; /* the peer's address, as text */
    const char *user;   /* whose token it shows; the address, where there are no tokens */
    bool admin;         /* may do everything */
    const char *body;   /* NUL-terminated; "" when there was none */
    size_t body_len;
    cJSON *json;                         /* the body as an object, when the route takes JSON; else NULL */
    bool resumed;                        /* the handler parked before and is called again */
    bool expired;                        /* resumed by the deadline, not by http_wake */
    void *state;                         /* the handler's own, kept while it is parked; NULL at first */
    void (*abandon)(struct request *rq); /* the handler's: called when the request is over, before its memory
                                            goes: what it gave to other threads must come back now; or NULL */
    void *connection;                    /* http.c's own */
    void *response;                      /* http.c's own */
};

/* A query parameter, decoded; NULL when absent. */
const char *request_query(struct request *rq, const char *name);
/* A header's value, by its name in any case; NULL when absent. */
const char *request_header(struct request *rq, const char *name);
/* The value of a field: from the JSON body of a POST, or from the query of a GET. Text as it is, numbers and truths
 * as their JSON text. NULL when absent. */
const char *request_field(struct request *rq, const char *name);
/* Seconds of "Prefer: wait=N", 0 when absent, at most max. */
int request_wait_seconds(struct request *rq, int max);

/* Answer. `data` must live in the request's arena or be static. */
void respond(struct request *rq, int status, const char *type, const void *data, size_t len);
/* Answer with a stream: the first piece sends the status 200, and after each one that is not the last the handler is
 * called again, to give the next or to park until there is one. The bytes live as those of respond. */
void respond_piece(struct request *rq, const char *type, const void *data, size_t len, bool last);
/* Add a header to the answer; call before respond. */
void respond_header(struct request *rq, const char *name, const char *value);
/* problem+json of cx->error, which happened in the text of `field` (or NULL). */
void respond_error(struct request *rq, const char *field);
/* problem+json of anything else: code is the tail of its type. */
void respond_problem(struct request *rq, int status, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Set the request aside until http_wake(topic) or the deadline; then its handler is called again from the start, with
 * rq->resumed. Call it as the last thing of a handler, instead of an answer. Topics are numbers of the caller's choice.
 * A wake that comes between the handler's look at the world and its parking is not lost: pass the http_epoch() that was
 * read before looking; when a wake of this topic has come since, the handler is called again at once. */
void request_park(struct request *rq, uint64_t topic, uint64_t epoch, int milliseconds);
uint64_t http_epoch(struct server *server);
void http_wake(struct server *server, uint64_t topic);

#endif
