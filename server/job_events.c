/* job_events.c: GET /jobs/ID/events, a job's history.
 *
 * A list, or for "Accept: text/event-stream" a stream (SSE) that goes on until the job has ended:
 *
 *     id: 3
 *     event: running
 *     data: {"seq":3,"at":"2026-11-29T23:03:36.123Z","type":"running"}
 *
 * Events are numbered in the store, so a client that comes back with Last-Event-ID gets what it has missed, once, also
 * from a daemon that was restarted meanwhile. One that has all of an ended job is told so by 204, which ends an
 * EventSource. A round of the stream is one call of the queue, which watches the job; a round without news is a
 * comment, which also finds out that the client has left. */
#include "exchange.h"
#include "jobs.h"
#include "routes.h"

#include <stdlib.h>
#include <string.h>

enum {
    HEARTBEAT_MS = 10 * 1000,   /* below every proxy's patience; a client that left is noticed then */
    STREAM_MS = 60 * 60 * 1000, /* of one answer: its memory grows with every round. The client comes back */
    ROUND_EVENTS = 500          /* of one piece */
};

/* A stream between two of its rounds; f->call is of the round. */
struct follow {
    struct fetch f;
    int64_t until; /* monotonic milliseconds */
    bool begun;    /* a round was sent */
};

/* ---- in the queue's thread ---------------------------------------------------------------------------------- */

/* The events after f->after, up to `most`. */
static void read_events(struct queue *q, struct fetch *f, int most)
{
    struct event event = {.seq = f->after};
    struct event_list **end = &f->events;
    while (most-- > 0 && store_next_event(q->store, f->call.arena, f->seq, event.seq, &event)) {
        *end = la_arena_alloc(f->call.arena, sizeof **end);
        if (!*end) {
            f->call.answer = ANSWER_MEMORY;
            return;
        }
        **end = (struct event_list){.event = event};
        end = &(*end)->next;
    }
    f->more = most < 0;
}

static bool run_events(struct queue *q, struct call *call)
{
    struct fetch *f = (struct fetch *)call;
    struct job job;
    if (fetch_find(q, f, &job))
        read_events(q, f, INT32_MAX);
    return true;
}

static bool run_follow(struct queue *q, struct call *call)
{
    struct fetch *f = (struct fetch *)call;
    struct job job;
    if (!fetch_find(q, f, &job))
        return true;
    call->watch = f->seq;
    read_events(q, f, ROUND_EVENTS);
    f->job.state = job.state;
    return f->events || job_state_ended(job.state) || call->late;
}

/* ---- the list ----------------------------------------------------------------------------------------------- */

static void write_event(struct json *j, const struct event *event)
{
    json_open(j, '{');
    json_key(j, "seq");
    json_int(j, event->seq);
    json_key(j, "at");
    json_time(j, event->at);
    json_key(j, "type");
    json_text(j, event->type);
    if (event->data) {
        json_key(j, "data");
        json_raw(j, event->data, strlen(event->data));
    }
    json_close(j, '}');
}

static void write_list(struct json *j, void *arg)
{
    const struct fetch *f = arg;
    json_open(j, '{');
    json_key(j, "events");
    json_open(j, '[');
    for (const struct event_list *e = f->events; e; e = e->next)
        write_event(j, &e->event);
    json_close(j, ']');
    json_close(j, '}');
}

/* ---- the stream --------------------------------------------------------------------------------------------- */

static void put(struct json *out, const char *text)
{
    json_bytes(out, text, strlen(text));
}

/* The type comes from a worker: a line break in it would begin another field. */
static const char *one_line(const char *text)
{
    return text[strcspn(text, "\r\n")] ? "event" : text;
}

static struct json write_round(struct request *rq, struct follow *s)
{
    struct json out = json_new(&rq->cx, 512);
    for (const struct event_list *e = s->f.events; e; e = e->next) {
        struct json event = json_new(&rq->cx, 256); /* commas are written by what stands before */
        write_event(&event, &e->event);
        put(&out, la_format(&rq->cx, "id: %lld\nevent: %s\ndata: ", (long long)e->event.seq,
                            one_line(e->event.type)));
        json_bytes(&out, event.data, event.len);
        put(&out, "\n\n");
        s->f.after = e->event.seq;
    }
    if (!s->f.events)
        put(&out, ": the job goes on\n\n");
    return out;
}

static void next_round(struct request *rq, const struct fetch *f, int64_t until, bool begun)
{
    struct follow *s = jobs_call(rq, sizeof *s, run_follow);
    s->f.id = f->id;
    s->f.part = f->part;
    s->f.seq = f->seq;
    s->f.after = f->after;
    s->f.call.until = queue_clock() + HEARTBEAT_MS;
    s->until = until;
    s->begun = begun;
}

static void respond_round(struct request *rq, struct follow *s)
{
    const bool ended = job_state_ended(s->f.job.state) && !s->f.more;
    if (ended && !s->f.events && !s->begun) {
        respond(rq, 204, NULL, "", 0);
        return;
    }
    const struct json out = write_round(rq, s);
    const bool last = ended || rq->server->draining || queue_clock() >= s->until;
    if (!last)
        next_round(rq, &s->f, s->until, true);
    respond_piece(rq, "text/event-stream", out.data, out.len, last);
}

/* ---- the handler -------------------------------------------------------------------------------------------- */

/* Events that the client has: as EventSource says it when it comes back, or as its address does. */
static bool read_after(struct request *rq, int64_t *after)
{
    const char *id = request_header(rq, "Last-Event-ID");
    char *end = NULL;
    const long long n = id ? strtoll(id, &end, 10) : -1;
    if (id && *id && !*end && n >= 0) {
        *after = n;
        return true;
    }
    return query_integer(rq, "after", 0, INT64_MAX, after);
}

bool events_begin(struct request *rq, struct fetch *f)
{
    f->call.run = run_events;
    if (!read_after(rq, &f->after))
        return false;
    if (request_weight(rq, "Accept", "text/event-stream", 0) >
        request_weight(rq, "Accept", "application/json", 1))
        next_round(rq, f, queue_clock() + STREAM_MS, false);
    return true;
}

void handle_events(struct request *rq)
{
    struct call *call = rq->state; /* of the stream's round, where there is one */
    if (!jobs_ask(rq, call))
        return;
    if (call->answer != ANSWER_OK)
        respond_refusal(rq, call);
    else if (call->run == run_follow)
        respond_round(rq, (struct follow *)call);
    else
        respond_written(rq, 200, "application/json", write_list, call);
}
