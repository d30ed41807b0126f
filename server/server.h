/* server.h: the daemon's state, made by main.c and passed to all. */
#ifndef SERVER_H
#define SERVER_H

#include <stdbool.h>
#include <stddef.h>

#define LAYOUTD_VERSION "0.1.0"

struct auth;
struct http;
struct jobs;

struct options {
    const char *listen;          /* HOST:PORT */
    const char *data;            /* folder of the store and caches */
    const char *web;             /* folder of the page's files */
    const char *workers;         /* auto | cpu | none | N */
    const char *worker_path;     /* the layoutd-worker binary */
    size_t max_body;             /* bytes of a request body */
    size_t max_arena;            /* bytes of memory of one request */
    long max_cells;              /* cells of a table or a picture */
    const char *tokens;          /* the file of tokens; NULL: everybody may do everything */
    bool no_auth;                /* answer on addresses other than loopback without tokens */
    long user_queued;            /* jobs that one user may have in the queue */
    long user_running;           /* jobs of one user that run at a time; 0: as many as there are workers */
    long user_seconds;           /* seconds of workers that one user may use in an hour; 0: all */
    long keep_days, keep_mib;    /* ended jobs are kept so long, and in so much */
    bool allow_private_webhooks; /* webhooks may call this machine and its network, in plain http too */
    const char *webhook_ca;      /* a file of authorities besides the system's; NULL: none */
    bool allow_planted_faults;   /* for tests: a job's spec may ask for a fault */
};

struct server {
    struct options options;
    char url[256];         /* http://HOST:PORT as bound */
    char worker_token[65]; /* random; local workers get it in their environment */
    _Atomic bool draining; /* no new work: set once, by the signal to stop */
    struct auth *auth;     /* NULL: there are no tokens */
    struct http *http;
    struct jobs *jobs;
};

/* jobs.c: open the store and start the local workers; stop them. False with a message on standard error. */
bool jobs_open(struct server *server);
void jobs_close(struct server *server);

/* http.c: bind and fill server->url; answer; drain and answer no more; free. jobs_open comes after the first, so that
 * workers know the URL (what they ask before http_start waits in the socket), jobs_close before the last, so that its
 * threads may call http_wake until they end. */
bool http_bind(struct server *server);
bool http_start(struct server *server);
void http_stop(struct server *server);
void http_free(struct server *server);

#endif
