/* exchange.h: one request and its answer, as the files around http.c see it. Handlers see http.h alone.
 *
 * http.c moves bytes between libmicrohttpd and an exchange; the other files know only the exchange:
 *     http_limits.c   what is refused at the door         request.c   what a handler may ask of a request
 *     respond.c       what a handler may answer           problem.c   refusals
 *     fields.c        the fields of pure requests         clock.c     deadlines, parked requests
 *     metrics.c       counters */
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include "http.h"
#include "routes.h"
#include "server.h"

#include <pthread.h>

/* Absolute times of a connection, since libmicrohttpd only knows idle time. */
enum {
    HEAD_MS = 10 * 1000,       /* from accept to the end of the first head */
    KEEP_ALIVE_MS = 30 * 1000, /* from an answer to the end of the next head */
    BODY_MS = 30 * 1000,       /* to send a body: 1 MiB at 280 kbit/s */
    SEND_MS = 120 * 1000,      /* to take an answer: a table of a million cells at 1 Mbit/s */
    DRAIN_MS = 15 * 1000       /* for what is in flight when the daemon is told to stop */
};

enum {
    TARGET_MAX = 32 * 1024, /* bytes of a request's path and query: an 8 KiB program, percent-encoded */
    HEADERS_BYTES_MAX = 16 * 1024, /* names and values */
    HEADERS_MAX = 64,
    PARAMETERS_MAX = 64, /* of a query, or members of a body that fields.c looks at */
    ANSWER_HEADERS_MAX = 12,
    TOPICS = 1024 /* slots of wakes; topics that share one wake each other for nothing, no more */
};

struct header {
    const char *name, *value;
};

struct response {
    int status; /* 0: not answered yet */
    const char *type;
    const void *data;
    size_t len;
    bool stream, last; /* data is a piece of a stream; the last one */
    size_t sent;       /* bytes of the piece */
    size_t header_count;
    struct header headers[ANSWER_HEADERS_MAX];
};

/* A field that the client gave: a query parameter, or a member of the body. */
struct given {
    const char *name;
    const char *text;  /* of a string: its characters; else the JSON text */
    const cJSON *json; /* NULL: from a query */
};

enum stage { STAGE_HEAD, STAGE_BODY, STAGE_HANDLE };

struct exchange {
    struct request rq; /* first: a request is its exchange */
    struct response response;
    struct http *http;
    struct peer *peer;
    const struct route *route; /* NULL: a file of the page, or nothing */
    enum stage stage;
    int64_t begun_us;
    const char *target;    /* path and query as sent; NULL when too long */
    bool must_close;       /* where the next request begins is not known */
    bool suspended, again; /* parked by the handler; or to be called again at once */
    bool body_refused;     /* read and dropped: too large */
    uint64_t body_seen;    /* bytes, dropped ones included */
    size_t body_capacity;
    char *body;
    size_t header_count, parameter_count, given_count;
    struct header headers[HEADERS_MAX];
    struct header parameters[PARAMETERS_MAX];
    struct given given[PARAMETERS_MAX];
    bool given_known;
    char allow[40];
    char etag[24];
    struct exchange *next; /* in the list of unused ones */
};

/* A connection. All of it is under http->lock. */
struct peer {
    int fd;
    int64_t deadline;        /* milliseconds of the monotonic clock; 0: none */
    struct exchange *parked; /* waits for its topic, or the deadline */
    uint64_t topic;
    struct peer *previous, *next;
};

struct MHD_Daemon;
struct metrics;

struct http {
    struct server *server;
    struct MHD_Daemon *daemon;
    int listen_fd;
    struct metrics *metrics;
    pthread_t clock;
    bool clock_runs;
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t tick, idle;
    bool clock_stops;
    int64_t planned; /* when the clock looks next */
    struct peer *peers;
    unsigned busy;           /* exchanges that are not over */
    struct exchange *unused; /* over, their arenas warm */
    unsigned unused_count;
    uint64_t epoch;
    uint64_t woken[TOPICS]; /* the epoch of a topic's last wake */
};

static inline struct exchange *exchange_of(struct request *rq)
{
    return (struct exchange *)rq;
}

/* listen.c: a socket that listens at options.listen, and server->url; -1 with a message on standard error. */
int listen_open(struct server *server);

/* http.c */
void http_suspend(struct exchange *x);
void http_resume(struct exchange *x);

/* http_limits.c: false when the request was refused, and answered. */
bool limits_admit(struct exchange *x, const char *version);
/* A body of this many bytes: sets body_refused above the limit, false when no more of it should be read. */
bool limits_body(struct exchange *x, uint64_t bytes);
void limits_refuse_body(struct exchange *x);

/* request.c */
/* Split the target into rq->path and the parameters, decoded; NULL or what is wrong. */
const char *request_parse_target(struct exchange *x);
/* How often a header is there. */
unsigned request_header_count(const struct exchange *x, const char *name);
/* Parse the body as the JSON object of a route; false when it was refused, and answered. */
bool request_read_json(struct exchange *x);
/* The fields of a request, from its body or its query, in order. */
size_t request_given(struct request *rq, const struct given **out);
/* Of a header like Accept, the weight of a token in thousandths, with * and type wildcards; `absent` without the header. */
int request_weight(struct request *rq, const char *header, const char *token, int absent);

/* problem.c: what is wrong at a byte of the body. */
void respond_bad_json(struct request *rq, const char *wrong, size_t at);
/* A problem of one field, whose text is right or wrong as a whole. */
void respond_field_problem(struct request *rq, const char *code, const char *field, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* All codes, one by one, with their status; NULL after the last. */
const char *problem_code(size_t i, int *status);

/* respond.c: ETag, 304, compression. */
void response_finish(struct exchange *x);

/* clock.c */
int64_t clock_ms(void);
int64_t clock_us(void);
bool clock_start(struct http *http);
void clock_stop(struct http *http);
struct peer *peer_open(struct http *http, int fd);
void peer_close(struct http *http, struct peer *peer);
/* 0: none. */
void peer_deadline(struct http *http, struct peer *peer, int milliseconds);
/* Call every parked handler again, as expired. */
void clock_expire_all(struct http *http);

/* metrics.c */
struct metrics *metrics_new(void);
void metrics_count(struct metrics *metrics, const struct exchange *x);

#endif
