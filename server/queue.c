/* queue.c: calls in, one transaction a batch, answers out.
 *
 * Invariants: only this thread touches the store, the workers and the waiting calls; a call is answered
 * after the commit of the batch that answered it; when that fails, every call of the batch gets
 * ANSWER_STORE and no row has changed, so the thread keeps no state of a job of its own. It sleeps until a
 * call comes or the next deadline passes.
 *
 * Not here: what the calls do (jobs.c, lease.c, devices.c), and what a state means (states.c). */
#include "queue.h"

#include "http.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

enum {
    SCRATCH_BYTES = 256 << 20, /* one job with its result, read for a change: far above any body limit */
    RETRY_MS = 500,            /* after a failed commit (a full disk), before deadlines are tried again */
    LONGEST_SLEEP_MS = 3600 * 1000
};

static int64_t clock_read(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t queue_clock(void)
{
    return clock_read(CLOCK_MONOTONIC);
}

void random_bytes(unsigned char *out, size_t size)
{
    /* It fails only where the kernel has no random numbers: no token may be guessable. */
    if (getentropy(out, size))
        abort();
}

void random_hex(char *out, size_t bytes)
{
    static const char digits[] = "0123456789abcdef";
    random_bytes((unsigned char *)out, bytes);
    for (size_t i = bytes; i-- > 0;) { /* from the end: each byte becomes two digits, in place */
        const unsigned char byte = (unsigned char)out[i];
        out[2 * i] = digits[byte >> 4];
        out[2 * i + 1] = digits[byte & 15];
    }
    out[2 * bytes] = '\0';
}

uint64_t queue_topic(const struct call *call)
{
    return (uint64_t)(uintptr_t)call / _Alignof(max_align_t); /* topics are hashed by their low digits */
}

void queue_changed(struct queue *q, int64_t watch)
{
    for (struct call *c = q->waiting; c; c = c->next)
        if (c->watch == watch)
            c->ready = true;
}

/* ---- a batch ------------------------------------------------------------------------------------------------ */

/* Run one call; true when it has its answer. */
static bool run(struct queue *q, struct call *c)
{
    la_arena_reset(q->scratch);
    c->ready = false;
    const bool answered = c->run(q, c);
    if (!store_out_of_memory(q->store))
        return answered || c->late;
    c->answer = ANSWER_MEMORY;
    return true;
}

/* Run who is new, who waits for what has changed, and who is late, until nothing changes: what one call
 * does may make another ready. What is answered moves to the list that is returned. */
static struct call *settle(struct queue *q, bool stop)
{
    struct call *answered = NULL;
    bool again = true;
    while (again) {
        again = false;
        for (struct call **at = &q->waiting; *at;) {
            struct call *c = *at;
            c->late = stop || c->until <= q->now || atomic_load(&c->hurried);
            const bool due = c->ready || c->late;
            again |= due;
            if (!due || !run(q, c)) {
                at = &c->next;
                continue;
            }
            *at = c->next;
            c->next = answered;
            answered = c;
        }
    }
    return answered;
}

/* The batch was rolled back: its calls are refused, those that came with it and would wait too. */
static struct call *refuse(struct queue *q, struct call *answered)
{
    for (struct call *c = answered; c; c = c->next)
        c->answer = ANSWER_STORE;
    for (struct call **at = &q->waiting; *at;) {
        struct call *c = *at;
        if (c->batch != q->batch) {
            at = &c->next;
            continue;
        }
        c->answer = ANSWER_STORE;
        *at = c->next;
        c->next = answered;
        answered = c;
    }
    return answered;
}

/* Let the callers see their answers. A call belongs to its request again once it is done. */
static void publish(struct queue *q, struct call *answered)
{
    while (answered) {
        struct call *next = answered->next;
        const uint64_t topic = queue_topic(answered);
        const bool wakes = answered->wakes;
        atomic_store(&answered->done, true);
        if (wakes)
            http_wake(q->server, topic);
        answered = next;
    }
    pthread_mutex_lock(&q->mutex);
    pthread_cond_broadcast(&q->answered);
    pthread_mutex_unlock(&q->mutex);
}

static void find_wake(struct queue *q)
{
    q->wake = store_next_deadline(q->store);
    if (q->tidy < q->wake)
        q->wake = q->tidy;
    for (const struct call *c = q->waiting; c; c = c->next)
        if (c->until < q->wake)
            q->wake = c->until;
}

static int64_t clock_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* Commit, and tell how that went: a durable one by the calls that share it. */
static bool commit(struct queue *q, bool durable, unsigned calls)
{
    const int64_t begun = clock_us();
    const bool ok = store_commit(q->store);
    q->tally.commits++;
    q->tally.uncommitted += !ok;
    if (!ok || !durable)
        return ok;
    int size = 0;
    while (size + 1 < BATCH_SIZES && calls > 1U << size)
        size++;
    q->tally.batches[size]++;
    q->tally.batch_calls += calls;
    q->tally.commit_us += (uint64_t)(clock_us() - begun);
    return ok;
}

static void run_batch(struct queue *q, struct call *fresh, bool stop)
{
    const struct tally before = q->tally;
    unsigned durable_calls = 0;
    q->now = queue_clock();
    q->today = clock_read(CLOCK_REALTIME);
    q->batch++;
    struct call **end = &q->waiting;
    while (*end)
        end = &(*end)->next;
    *end = fresh;
    for (struct call *c = fresh; c; c = c->next) {
        c->ready = true;
        c->batch = q->batch;
        durable_calls += c->durable;
    }
    const bool durable = durable_calls > 0;
    store_begin(q->store, durable);
    jobs_sweep(q);
    struct call *answered = settle(q, stop);
    jobs_tidy(q);
    find_wake(q);
    if (!commit(q, durable, durable_calls)) {
        const struct tally now = q->tally;
        q->tally = before;
        q->tally.commits = now.commits;
        q->tally.uncommitted = now.uncommitted;
        answered = refuse(q, answered);
        q->wake = q->now + RETRY_MS;
    }
    publish(q, answered);
}

/* ---- the thread --------------------------------------------------------------------------------------------- */

/* Sleep until there is something to do; the calls that came. */
static struct call *collect(struct queue *q, bool *stop)
{
    pthread_mutex_lock(&q->mutex);
    int64_t left;
    while (!q->inbox && !q->stop && !q->hurried && (left = q->wake - queue_clock()) > 0) {
        if (left > LONGEST_SLEEP_MS)
            left = LONGEST_SLEEP_MS;
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        t.tv_sec += left / 1000;
        t.tv_nsec += left % 1000 * 1000000;
        t.tv_sec += t.tv_nsec / 1000000000;
        t.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&q->arrived, &q->mutex, &t);
    }
    struct call *calls = q->inbox;
    q->inbox = NULL;
    q->inbox_end = &q->inbox;
    q->hurried = false;
    *stop = q->stop;
    pthread_mutex_unlock(&q->mutex);
    return calls;
}

static void *work(void *arg)
{
    struct queue *q = arg;
    bool stop = false;
    while (!stop) {
        struct call *calls = collect(q, &stop);
        run_batch(q, calls, stop);
    }
    return NULL;
}

bool queue_send(struct queue *q, struct call *call)
{
    pthread_mutex_lock(&q->mutex);
    const bool open = !q->stop;
    if (open) {
        call->next = NULL;
        *q->inbox_end = call;
        q->inbox_end = &call->next;
        pthread_cond_signal(&q->arrived);
    }
    pthread_mutex_unlock(&q->mutex);
    return open;
}

void queue_hurry(struct queue *q, struct call *call)
{
    atomic_store(&call->hurried, true);
    pthread_mutex_lock(&q->mutex);
    q->hurried = true;
    pthread_cond_signal(&q->arrived);
    while (!atomic_load(&call->done))
        pthread_cond_wait(&q->answered, &q->mutex);
    pthread_mutex_unlock(&q->mutex);
}

void queue_do(struct queue *q, struct call *call)
{
    if (queue_send(q, call))
        queue_hurry(q, call);
    else
        call->answer = ANSWER_CLOSED;
}

void queue_await(struct queue *q, struct call *call)
{
    if (!queue_send(q, call)) {
        call->answer = ANSWER_CLOSED;
        return;
    }
    pthread_mutex_lock(&q->mutex);
    while (!atomic_load(&call->done))
        pthread_cond_wait(&q->answered, &q->mutex);
    pthread_mutex_unlock(&q->mutex);
}

void queue_free(struct queue *q)
{
    store_close(q->store);
    la_arena_free(q->scratch);
    while (q->workers) {
        struct worker *w = q->workers;
        q->workers = w->next;
        free(w->device);
        free(w);
    }
    pthread_cond_destroy(&q->arrived);
    pthread_cond_destroy(&q->answered);
    pthread_mutex_destroy(&q->mutex);
    free(q);
}

bool queue_open(struct server *server, struct queue **out)
{
    struct queue *q = calloc(1, sizeof *q);
    if (!q)
        return false;
    q->server = server;
    q->inbox_end = &q->inbox;
    pthread_mutex_init(&q->mutex, NULL);
    pthread_condattr_t attributes; /* waits must not jump with the wall clock */
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&q->arrived, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_cond_init(&q->answered, NULL);
    q->scratch = la_arena_new(SCRATCH_BYTES);
    bool ok = q->scratch && store_open(server->options.data, &q->store);
    if (ok) {
        q->now = queue_clock();
        q->today = clock_read(CLOCK_REALTIME);
        q->since = q->today - q->now;
        store_begin(q->store, true);
        jobs_recover(q);
        ok = store_commit(q->store);
    }
    if (!ok || pthread_create(&q->thread, NULL, work, q)) {
        queue_free(q);
        return false;
    }
    *out = q;
    return true;
}

void queue_stop(struct queue *q)
{
    pthread_mutex_lock(&q->mutex);
    q->stop = true;
    pthread_cond_signal(&q->arrived);
    pthread_mutex_unlock(&q->mutex);
    pthread_join(q->thread, NULL);
}
