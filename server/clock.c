/* clock.c: what must happen at a time.
 *
 * libmicrohttpd's timeout is idle time: a client that sends a byte a second stays for ever, one that is suspended is not
 * watched at all, and the end of one that closes right behind its last byte goes unnoticed. So each connection has one absolute deadline, set at each turn of its life, and one thread
 * looks after all of them: a parked request is called again, any other connection is shut down.
 *
 * A parked request waits for a topic. Each wake has a number, its epoch, and leaves it in the topic's slot: so a wake
 * that comes between the handler's look at the world and its parking is seen, and the handler called again at once.
 *
 * Invariants: everything of a peer is under http->lock; a peer leaves the list before its descriptor is closed, so
 * the clock never shuts down a stranger. */
#include "exchange.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#define NEVER INT64_MAX

int64_t clock_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

int64_t clock_ms(void)
{
    return clock_us() / 1000;
}

/* ---- peers -------------------------------------------------------------------------------------------------- */

static void set_deadline(struct http *http, struct peer *peer, int milliseconds)
{
    peer->deadline = milliseconds ? clock_ms() + milliseconds : 0;
    if (peer->deadline && peer->deadline < http->planned)
        pthread_cond_signal(&http->tick);
}

struct peer *peer_open(struct http *http, int fd)
{
    struct peer *peer = calloc(1, sizeof *peer);
    if (!peer)
        return NULL;
    peer->fd = fd;
    pthread_mutex_lock(&http->lock);
    peer->next = http->peers;
    if (peer->next)
        peer->next->previous = peer;
    http->peers = peer;
    set_deadline(http, peer, HEAD_MS);
    pthread_mutex_unlock(&http->lock);
    return peer;
}

void peer_close(struct http *http, struct peer *peer)
{
    pthread_mutex_lock(&http->lock);
    if (peer->next)
        peer->next->previous = peer->previous;
    if (peer->previous)
        peer->previous->next = peer->next;
    else
        http->peers = peer->next;
    pthread_mutex_unlock(&http->lock);
    free(peer);
}

void peer_deadline(struct http *http, struct peer *peer, int milliseconds)
{
    pthread_mutex_lock(&http->lock);
    set_deadline(http, peer, milliseconds);
    pthread_mutex_unlock(&http->lock);
}

/* ---- parking ------------------------------------------------------------------------------------------------ */

static void unpark(struct peer *peer, bool expired)
{
    struct exchange *x = peer->parked;
    peer->parked = NULL;
    peer->deadline = 0;
    x->rq.resumed = true;
    x->rq.expired = expired;
    http_resume(x);
}

void request_park(struct request *rq, uint64_t topic, uint64_t epoch, int milliseconds)
{
    struct exchange *x = exchange_of(rq);
    struct http *http = x->http;
    if (rq->expired) { /* a handler that will not take "now" for an answer */
        respond_problem(rq, 503, "unavailable", "no answer in time");
        return;
    }
    pthread_mutex_lock(&http->lock);
    bool draining = http->server->draining;
    if (draining || milliseconds <= 0 || http->woken[topic % TOPICS] > epoch) {
        x->again = true;
        rq->resumed = true;
        rq->expired = draining || milliseconds <= 0;
    } else {
        x->suspended = true;
        x->peer->parked = x;
        x->peer->topic = topic;
        set_deadline(http, x->peer, milliseconds);
        http_suspend(x);
    }
    pthread_mutex_unlock(&http->lock);
}

uint64_t http_epoch(struct server *server)
{
    struct http *http = server->http;
    pthread_mutex_lock(&http->lock);
    uint64_t epoch = http->epoch;
    pthread_mutex_unlock(&http->lock);
    return epoch;
}

void http_wake(struct server *server, uint64_t topic)
{
    struct http *http = server->http;
    pthread_mutex_lock(&http->lock);
    http->woken[topic % TOPICS] = ++http->epoch;
    for (struct peer *peer = http->peers; peer; peer = peer->next)
        if (peer->parked && peer->topic == topic)
            unpark(peer, false);
    pthread_mutex_unlock(&http->lock);
}

void clock_expire_all(struct http *http)
{
    pthread_mutex_lock(&http->lock);
    for (struct peer *peer = http->peers; peer; peer = peer->next)
        if (peer->parked)
            unpark(peer, true);
    pthread_mutex_unlock(&http->lock);
}

/* ---- the thread --------------------------------------------------------------------------------------------- */

/* Act on what is due; when to look again. */
static int64_t look(struct http *http)
{
    int64_t now = clock_ms(), next = NEVER;
    for (struct peer *peer = http->peers; peer; peer = peer->next) {
        if (!peer->deadline)
            continue;
        if (peer->deadline > now) {
            next = peer->deadline < next ? peer->deadline : next;
        } else if (peer->parked) {
            unpark(peer, true);
        } else {
            peer->deadline = 0;
            shutdown(peer->fd, SHUT_RDWR); /* libmicrohttpd sees the end and closes */
        }
    }
    return next;
}

static void *clock_run(void *arg)
{
    struct http *http = arg;
    pthread_mutex_lock(&http->lock);
    while (!http->clock_stops) {
        http->planned = look(http);
        if (http->planned == NEVER) {
            pthread_cond_wait(&http->tick, &http->lock);
        } else {
            struct timespec until = {.tv_sec = http->planned / 1000,
                                     .tv_nsec = http->planned % 1000 * 1000000};
            pthread_cond_timedwait(&http->tick, &http->lock, &until);
        }
    }
    pthread_mutex_unlock(&http->lock);
    return NULL;
}

bool clock_start(struct http *http)
{
    http->clock_runs = pthread_create(&http->clock, NULL, clock_run, http) == 0;
    return http->clock_runs;
}

void clock_stop(struct http *http)
{
    if (!http->clock_runs)
        return;
    pthread_mutex_lock(&http->lock);
    http->clock_stops = true;
    pthread_cond_signal(&http->tick);
    pthread_mutex_unlock(&http->lock);
    pthread_join(http->clock, NULL);
    http->clock_runs = false;
}
