/* http.c: the life of one request; the only file that knows libmicrohttpd.
 *
 *     accept -> head (limits_admit) -> body -> serve: route, checks, handler -> finish -> send -> over: arena reset
 * Read `serve` first. libmicrohttpd calls on_request once for the head, for each piece of the body, at the end of the
 * body, and again when a parked request was resumed; in between the exchange remembers the stage.
 *
 * Invariants: an exchange begins at the request line (on_target) and is over at on_over, whatever happens between; all
 * that belongs to it lives in its arena. Exchanges are reused with their arena warm. A handler runs under la_try, on one
 * of a few threads: it must not wait; it parks (clock.c). */
#include "auth.h"
#include "exchange.h"
#include "fields.h"
#include "json.h"

#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    THREADS_MIN = 4, /* also on one core: a long answer must not hold up all others */
    THREADS_MAX = 8,
    CONNECTIONS_MAX = 4096,  /* beyond, clients hang without an answer: load is shed long before, with 503 */
    DESCRIPTORS_SPARE = 128, /* for the store, workers and files of the page */
    CONNECTION_BYTES =
        128 * 1024, /* must hold a target and headers at their limits, so that we refuse them, in JSON */
    STREAM_BLOCK_BYTES = 16 * 1024, /* of a stream that are handed over at once */
    UNUSED_MAX = 64                 /* exchanges kept warm */
};

/* ---- serving ------------------------------------------------------------------------------------------------ */

static unsigned method_flag(const char *method)
{
    return strcmp(method, "GET") == 0      ? ROUTE_GET
           : strcmp(method, "POST") == 0   ? ROUTE_POST
           : strcmp(method, "DELETE") == 0 ? ROUTE_DELETE
                                           : 0;
}

/* OPTIONS, and any method that the route does not take. */
static void respond_allowed(struct exchange *x)
{
    struct request *rq = &x->rq;
    unsigned flags = x->route ? x->route->flags : ROUTE_GET | ROUTE_POST | ROUTE_DELETE;
    snprintf(x->allow, sizeof x->allow, "%s%s%sOPTIONS", flags & ROUTE_GET ? "GET, HEAD, " : "",
             flags & ROUTE_POST ? "POST, " : "", flags & ROUTE_DELETE ? "DELETE, " : "");
    respond_header(rq, "Allow", x->allow);
    if (strcmp(rq->method, "OPTIONS") == 0)
        respond(rq, 204, NULL, "", 0);
    else
        respond_problem(rq, 405, "method_not_allowed", "%s takes %s, not %s", rq->path, x->allow, rq->method);
}

static void respond_nothing_there(struct exchange *x)
{
    if (strcmp(x->rq.method, "GET") == 0)
        handle_page(&x->rq);
    else
        respond_problem(&x->rq, 404, "not_found",
                        "there is nothing at '%s'; /openapi.json tells what there is", x->rq.path);
}

/* From a whole request to its answer. Leaves by la_fail like anything in core: the error is then the answer. */
static void serve(struct la_ctx *cx, void *arg)
{
    struct exchange *x = arg;
    struct request *rq = &x->rq;
    (void)cx;
    if (x->response.status && !x->response.stream) /* refused at the door */
        return;
    if (x->body_refused) {
        limits_refuse_body(x);
        return;
    }
    bool is_options = strcmp(rq->method, "OPTIONS") == 0;
    x->route = route_find(rq->path);
    if (!x->route && !(is_options && strcmp(rq->path, "*") == 0)) {
        respond_nothing_there(x);
        return;
    }
    if (is_options || !(x->route->flags & method_flag(rq->method))) {
        respond_allowed(x);
        return;
    }
    if (x->route->flags & ROUTE_PREFIX)
        rq->tail = rq->path + strlen(x->route->path) + 1;
    if (!auth_admit(rq, x->route->scope))
        return;
    if (x->route->flags & ROUTE_JSON && strcmp(rq->method, "POST") == 0 && !rq->json && !request_read_json(x))
        return;
    if (x->route->fields && !fields_check(rq, x->route->fields))
        return;
    x->route->handle(rq);
}

/* Run the handler until it has answered or is parked. */
static void process(struct exchange *x)
{
    json_use_arena(x->rq.cx.arena);
    peer_deadline(x->http, x->peer, 0);
    do {
        x->again = x->suspended = false;
        if (!la_try(&x->rq.cx, serve, x)) {
            x->response.header_count = 0;
            respond_error(&x->rq, NULL);
        }
    } while (x->again);
    if (!x->suspended && !x->response.status)
        respond_problem(&x->rq, 500, "internal", "the handler gave no answer");
    json_use_arena(NULL);
}

/* ---- sending ------------------------------------------------------------------------------------------------ */

/* The client has closed: a write would not tell before the next one. (Who closes its side alone, and still reads, is
 * taken for gone: no browser and no client library does.) */
static bool has_left(const struct exchange *x)
{
    char byte;
    return recv(x->peer->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/* Have the handler give the next piece of its stream. False when it has parked. */
static bool next_piece(struct exchange *x)
{
    x->response.len = x->response.sent = 0;
    x->rq.expired = false;
    process(x);
    return !x->suspended;
}

/* More of a stream is wanted: the rest of its piece, or the next one. To return 0 means to be called again at once,
 * unless the connection was suspended; so a handler that neither gives a piece nor parks ends the stream. */
static ssize_t read_stream(void *cls, uint64_t position, char *out, size_t room)
{
    struct exchange *x = cls;
    struct response *r = &x->response;
    (void)position;
    if (r->sent == r->len && !r->last && has_left(x))
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (r->sent == r->len && !r->last && !next_piece(x))
        return 0;
    if (r->sent == r->len)
        return MHD_CONTENT_READER_END_OF_STREAM;
    const size_t n = r->len - r->sent < room ? r->len - r->sent : room;
    memcpy(out, (const char *)r->data + r->sent, n);
    r->sent += n;
    peer_deadline(x->http, x->peer, SEND_MS);
    return (ssize_t)n;
}

/* The bytes live in the arena until on_over, and that is after the last of them was sent. */
static struct MHD_Response *make_response(struct exchange *x)
{
    const struct response *r = &x->response;
    if (r->stream)
        return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK_BYTES, read_stream, x, NULL);
    return MHD_create_response_from_buffer(r->len, (void *)(uintptr_t)r->data, MHD_RESPMEM_PERSISTENT);
}

static enum MHD_Result send_response(struct exchange *x)
{
    const struct response *r = &x->response;
    response_finish(x);
    peer_deadline(x->http, x->peer, SEND_MS);
    struct MHD_Response *response = make_response(x);
    if (!response)
        return MHD_NO;
    if (r->type)
        MHD_add_response_header(response, "Content-Type", r->type);
    for (size_t i = 0; i < r->header_count; i++)
        MHD_add_response_header(response, r->headers[i].name, r->headers[i].value);
    if (x->must_close || x->http->server->draining)
        MHD_add_response_header(response, "Connection", "close");
    enum MHD_Result queued = MHD_queue_response(x->rq.connection, (unsigned)r->status, response);
    MHD_destroy_response(response);
    return queued;
}

/* ---- an exchange's beginning and end ------------------------------------------------------------------------ */

static void free_exchange(struct exchange *x)
{
    la_arena_free(x->rq.cx.arena);
    free(x);
}

static struct exchange *new_exchange(size_t arena_limit)
{
    struct exchange *x = calloc(1, sizeof *x);
    if (x && !(x->rq.cx.arena = la_arena_new(arena_limit))) {
        free(x);
        x = NULL;
    }
    return x;
}

static struct exchange *take_exchange(struct http *http)
{
    pthread_mutex_lock(&http->lock);
    struct exchange *x = http->unused;
    if (x) {
        http->unused = x->next;
        http->unused_count--;
    } else {
        x = new_exchange(http->server->options.max_arena);
    }
    http->busy += x != NULL;
    pthread_mutex_unlock(&http->lock);
    return x;
}

static void give_exchange(struct http *http, struct exchange *x)
{
    struct la_arena *arena = x->rq.cx.arena;
    la_arena_reset(arena);
    memset(x, 0, sizeof *x);
    x->rq.cx.arena = arena;
    pthread_mutex_lock(&http->lock);
    if (http->unused_count < UNUSED_MAX) {
        http->unused_count++;
        x->next = http->unused;
        http->unused = x;
        x = NULL;
    }
    if (--http->busy == 0)
        pthread_cond_broadcast(&http->idle);
    pthread_mutex_unlock(&http->lock);
    if (x)
        free_exchange(x);
}

/* ---- what libmicrohttpd calls ------------------------------------------------------------------------------- */

static void on_connection(void *cls, struct MHD_Connection *connection, void **peer,
                          enum MHD_ConnectionNotificationCode code)
{
    struct http *http = cls;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        *peer = peer_open(http,
                          MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd);
    } else if (*peer) {
        peer_close(http, *peer);
        *peer = NULL;
    }
}

/* The request line is there: an exchange begins. What is returned comes back as *context; NULL closes. */
static void *on_target(void *cls, const char *target, struct MHD_Connection *connection)
{
    struct http *http = cls;
    struct peer *peer =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    struct exchange *x = peer ? take_exchange(http) : NULL;
    if (!x)
        return NULL;
    x->http = http;
    x->peer = peer;
    x->begun_us = clock_us();
    x->rq.server = http->server;
    x->rq.connection = connection;
    x->rq.response = &x->response;
    x->rq.path = x->rq.body = x->rq.client = x->rq.user = x->rq.tail = "";
    size_t len = strlen(target);
    char *copy = len <= TARGET_MAX ? la_arena_alloc(x->rq.cx.arena, len + 1) : NULL;
    if (copy)
        x->target = strcpy(copy, target); /* libmicrohttpd decodes the original in place */
    return x;
}

static void on_over(void *cls, struct MHD_Connection *connection, void **context,
                    enum MHD_RequestTerminationCode code)
{
    struct http *http = cls;
    struct exchange *x = *context;
    (void)connection, (void)code;
    if (!x)
        return;
    *context = NULL;
    if (x->rq.abandon)
        x->rq.abandon(&x->rq);
    metrics_count(http->metrics, x);
    peer_deadline(http, x->peer, KEEP_ALIVE_MS);
    give_exchange(http, x);
}

/* Leave the decoding to request.c: here %00 would end the text. */
static size_t on_unescape(void *cls, struct MHD_Connection *connection, char *text)
{
    (void)cls, (void)connection;
    return strlen(text);
}

static enum MHD_Result on_header(void *cls, enum MHD_ValueKind kind, const char *name, const char *value)
{
    struct exchange *x = cls;
    (void)kind;
    if (x->header_count == HEADERS_MAX)
        return MHD_NO;
    x->headers[x->header_count++] = (struct header){name, value ? value : ""};
    return MHD_YES;
}

static void set_client(struct request *rq)
{
    const struct sockaddr *address =
        MHD_get_connection_info(rq->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr;
    socklen_t len = address && address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                                              : sizeof(struct sockaddr_in);
    char *text = la_arena_alloc(rq->cx.arena, NI_MAXHOST);
    if (address && text && getnameinfo(address, len, text, NI_MAXHOST, NULL, 0, NI_NUMERICHOST) == 0)
        rq->client = rq->user = text;
}

static enum MHD_Result take_head(struct exchange *x, const char *method, const char *version)
{
    x->stage = STAGE_BODY;
    x->rq.method = strcmp(method, "HEAD") == 0 ? "GET" : method;
    set_client(&x->rq);
    MHD_get_connection_values(x->rq.connection, MHD_HEADER_KIND, on_header, x);
    peer_deadline(x->http, x->peer, BODY_MS);
    if (!limits_admit(x, version) && x->must_close)
        return send_response(x);
    return MHD_YES;
}

/* MHD_NO closes the connection: a body beyond all reason. */
static enum MHD_Result take_body(struct exchange *x, const char *data, size_t len)
{
    x->body_seen += len;
    if (!limits_body(x, x->body_seen))
        return MHD_NO;
    if (x->body_refused || x->response.status)
        return MHD_YES;
    size_t used = x->rq.body_len;
    if (x->body_capacity - used <= len) {
        const char *length = request_header(&x->rq, "Content-Length");
        size_t capacity = length ? strtoull(length, NULL, 10) + 1 : 2 * (used + len) + 1;
        char *body = la_arena_alloc(x->rq.cx.arena, capacity);
        if (!body) {
            x->body_refused = true;
            return MHD_YES;
        }
        memcpy(body, x->rq.body, used);
        x->rq.body = x->body = body;
        x->body_capacity = capacity;
    }
    memcpy(x->body + used, data, len);
    x->rq.body_len = used + len;
    x->body[x->rq.body_len] = 0;
    return MHD_YES;
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *data, size_t *len,
                                  void **context)
{
    struct exchange *x = *context;
    (void)cls, (void)connection, (void)url;
    if (!x)
        return MHD_NO;
    if (x->stage == STAGE_HEAD)
        return take_head(x, method, version);
    if (*len) {
        enum MHD_Result result = take_body(x, data, *len);
        *len = 0;
        return result;
    }
    process(x);
    return x->suspended ? MHD_YES : send_response(x);
}

void http_suspend(struct exchange *x)
{
    MHD_suspend_connection(x->rq.connection);
}

void http_resume(struct exchange *x)
{
    MHD_resume_connection(x->rq.connection);
}

/* ---- start and stop ----------------------------------------------------------------------------------------- */

bool http_bind(struct server *server)
{
    struct http *http = calloc(1, sizeof *http);
    pthread_condattr_t monotonic;
    if (!http || !(http->metrics = metrics_new())) {
        free(http);
        return false;
    }
    http->server = server;
    pthread_mutex_init(&http->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&http->tick, &monotonic);
    pthread_cond_init(&http->idle, &monotonic);
    pthread_condattr_destroy(&monotonic);
    server->http = http;
    http->listen_fd = listen_open(server);
    return http->listen_fd >= 0;
}

/* As many connections as there are descriptors for. */
static unsigned connection_limit(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return CONNECTIONS_MAX / 8;
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    if (files.rlim_cur < 2 * DESCRIPTORS_SPARE)
        return DESCRIPTORS_SPARE;
    return files.rlim_cur - DESCRIPTORS_SPARE < CONNECTIONS_MAX ? (unsigned)files.rlim_cur - DESCRIPTORS_SPARE
                                                                : CONNECTIONS_MAX;
}

static unsigned thread_count(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < THREADS_MIN ? THREADS_MIN : cores > THREADS_MAX ? THREADS_MAX : (unsigned)cores;
}

bool http_start(struct server *server)
{
    struct http *http = server->http;
    const unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC;
    http->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, on_request, http, MHD_OPTION_LISTEN_SOCKET, http->listen_fd,
        MHD_OPTION_THREAD_POOL_SIZE, thread_count(), MHD_OPTION_CONNECTION_LIMIT, connection_limit(),
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES, MHD_OPTION_URI_LOG_CALLBACK, on_target,
        http, MHD_OPTION_UNESCAPE_CALLBACK, on_unescape, http, MHD_OPTION_NOTIFY_COMPLETED, on_over, http,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, http, MHD_OPTION_END);
    return http->daemon && clock_start(http);
}

/* Wait until every exchange is over, or the time for it is. */
static void drain(struct http *http)
{
    int64_t end = clock_ms() + DRAIN_MS;
    struct timespec until = {.tv_sec = end / 1000, .tv_nsec = end % 1000 * 1000000};
    pthread_mutex_lock(&http->lock);
    while (http->busy && pthread_cond_timedwait(&http->idle, &http->lock, &until) == 0)
        ;
    pthread_mutex_unlock(&http->lock);
}

void http_stop(struct server *server)
{
    struct http *http = server->http;
    server->draining = true;
    if (http->daemon) {
        MHD_quiesce_daemon(http->daemon);
        clock_expire_all(http); /* nothing may be suspended when the daemon stops */
        drain(http);
        MHD_stop_daemon(http->daemon);
        http->daemon = NULL;
    }
    clock_stop(http);
}

void http_free(struct server *server)
{
    struct http *http = server->http;
    if (!http)
        return;
    if (http->listen_fd >= 0)
        close(http->listen_fd);
    for (struct exchange *x; (x = http->unused);) {
        http->unused = x->next;
        free_exchange(x);
    }
    pthread_cond_destroy(&http->idle);
    pthread_cond_destroy(&http->tick);
    pthread_mutex_destroy(&http->lock);
    free(http->metrics);
    free(http);
    server->http = NULL;
}
