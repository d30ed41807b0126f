/* metrics.c: counters of requests for Prometheus (those of jobs: metrics_jobs.c), and the two questions of a supervisor: alive? ready?
 *
 *     layoutd_http_requests_total{route="/eval",status="200"} 42
 *     layoutd_http_request_seconds_bucket{route="/eval",le="0.001"} 40
 * Counters are atomic and only grow; a route is a row of the table, so that no client can make new series. A request
 * whose client went away before its answer is counted with status 499. */
#include "metrics.h"

#include "exchange.h"
#include "jobs.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATUS_FIRST = 100, STATUSES = 500, CLIENT_GONE = 499 };

/* Upper bounds of the histogram, in seconds: from a small answer out of a warm arena to a long poll. */
static const double bounds[] = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                0.1,    0.25,    0.5,    1,     2.5,    5,     10,   30};
#define BOUNDS (sizeof bounds / sizeof *bounds)

struct route_metrics {
    atomic_ullong by_status[STATUSES];
    atomic_ullong by_time[BOUNDS + 1]; /* not cumulative; the last is everything above */
    atomic_ullong microseconds;
};

struct metrics {
    struct route_metrics routes[ROUTES_MAX + 1]; /* the last: files of the page, and addresses with nothing */
};

struct metrics *metrics_new(void)
{
    return calloc(1, sizeof(struct metrics));
}

static void add(atomic_ullong *counter, unsigned long long n)
{
    atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

static unsigned long long read_counter(atomic_ullong *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

void metrics_count(struct metrics *metrics, const struct exchange *x)
{
    struct route_metrics *m = &metrics->routes[x->route ? route_index(x->route) : ROUTES_MAX];
    int status = x->response.status ? x->response.status : CLIENT_GONE;
    int64_t us = clock_us() - x->begun_us;
    size_t bucket = 0;
    while (bucket < BOUNDS && (double)us > bounds[bucket] * 1e6)
        bucket++;
    if (status >= STATUS_FIRST && status < STATUS_FIRST + STATUSES)
        add(&m->by_status[status - STATUS_FIRST], 1);
    add(&m->by_time[bucket], 1);
    add(&m->microseconds, (unsigned long long)us);
}

/* ---- /metrics ----------------------------------------------------------------------------------------------- */

void metrics_put(struct json *out, const char *format, ...)
{
    char line[256];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    json_bytes(out, line, (size_t)len < sizeof line ? (size_t)len : sizeof line - 1);
}

void metrics_head(struct json *out, const char *name, const char *type, const char *help)
{
    metrics_put(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* "/jobs/{id}" for a row that takes more than its path. */
static const char *route_label(size_t i, char label[80])
{
    const struct route *route = i < ROUTES_MAX ? route_at(i) : NULL;
    if (!route)
        snprintf(label, 80, "(page)");
    else if (route->flags & ROUTE_PREFIX)
        snprintf(label, 80, "%s/{%s}", route->path, route->tail);
    else
        snprintf(label, 80, "%s", route->path);
    return label;
}

static void put_requests(struct json *out, struct metrics *metrics, size_t i)
{
    char label[80];
    for (int s = 0; s < STATUSES; s++) {
        unsigned long long n = read_counter(&metrics->routes[i].by_status[s]);
        if (n)
            metrics_put(out, "layoutd_http_requests_total{route=\"%s\",status=\"%d\"} %llu\n",
                        route_label(i, label), STATUS_FIRST + s, n);
    }
}

static void put_histogram(struct json *out, struct metrics *metrics, size_t i)
{
    struct route_metrics *m = &metrics->routes[i];
    unsigned long long total = 0;
    char label[80];
    route_label(i, label);
    for (size_t b = 0; b <= BOUNDS; b++)
        total += read_counter(&m->by_time[b]);
    if (!total)
        return;
    unsigned long long below = 0;
    for (size_t b = 0; b < BOUNDS; b++) {
        below += read_counter(&m->by_time[b]);
        metrics_put(out, "layoutd_http_request_seconds_bucket{route=\"%s\",le=\"%g\"} %llu\n", label,
                    bounds[b], below < total ? below : total);
    }
    metrics_put(out, "layoutd_http_request_seconds_bucket{route=\"%s\",le=\"+Inf\"} %llu\n", label, total);
    metrics_put(out, "layoutd_http_request_seconds_sum{route=\"%s\"} %.6f\n", label,
                (double)read_counter(&m->microseconds) / 1e6);
    metrics_put(out, "layoutd_http_request_seconds_count{route=\"%s\"} %llu\n", label, total);
}

static void write_http(struct json *out, struct http *http)
{
    pthread_mutex_lock(&http->lock);
    unsigned busy = http->busy, connections = 0;
    for (const struct peer *peer = http->peers; peer; peer = peer->next)
        connections++;
    pthread_mutex_unlock(&http->lock);
    metrics_head(out, "layoutd_info", "gauge", "The version that answers.");
    metrics_put(out, "layoutd_info{version=\"" LAYOUTD_VERSION "\"} 1\n");
    metrics_head(out, "layoutd_http_in_flight", "gauge",
                 "Requests that have no full answer yet, this one included.");
    metrics_put(out, "layoutd_http_in_flight %u\n", busy);
    metrics_head(out, "layoutd_http_connections", "gauge", "Open connections.");
    metrics_put(out, "layoutd_http_connections %u\n", connections);
    metrics_head(out, "layoutd_http_requests_total", "counter", "Requests by route and status.");
    for (size_t i = 0; i <= ROUTES_MAX; i++)
        put_requests(out, http->metrics, i);
    metrics_head(out, "layoutd_http_request_seconds", "histogram",
                 "From the request line to the last byte of the answer.");
    for (size_t i = 0; i <= ROUTES_MAX; i++)
        put_histogram(out, http->metrics, i);
}

void handle_metrics(struct request *rq)
{
    struct call *call = rq->state ? rq->state : metrics_jobs_begin(rq);
    if (!jobs_ask(rq, call))
        return;
    struct json out = json_new(&rq->cx, 16 * 1024);
    write_http(&out, rq->server->http);
    metrics_jobs_write(&out, call);
    respond_header(rq, "Cache-Control", "no-store");
    respond(rq, 200, "text/plain; version=0.0.4; charset=utf-8", out.data, out.len);
}

/* ---- /livez and /readyz ------------------------------------------------------------------------------------- */

static void respond_state(struct request *rq, int status, const char *json)
{
    respond_header(rq, "Cache-Control", "no-store");
    respond(rq, status, "application/json", json, strlen(json));
}

/* Touches neither the store nor a worker: a busy card is no reason to restart the daemon. */
void handle_livez(struct request *rq)
{
    respond_state(rq, 200, "{\"status\":\"ok\"}");
}

void handle_readyz(struct request *rq)
{
    if (rq->server->draining)
        respond_state(rq, 503, "{\"status\":\"draining\"}");
    else
        respond_state(rq, 200, "{\"status\":\"ready\"}");
}
