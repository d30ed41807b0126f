/* artifact.c: the texts beside a result: GET /jobs/ID/source, /log, /ptx, /sass.
 *
 *     GET /jobs/ID/source               the CUDA that ran, as its worker sent it
 *     GET /jobs/ID/ptx                  made from that by this machine's NVRTC, when somebody asks
 *     GET /jobs/ID/sass?arch=sm_100a    and disassembled; for another architecture than the one that it ran on
 *
 * What is made is made by `layoutd-worker compile`, a process with limits, one at a time, started by a thread of its
 * own; the kernels' cache on disk keeps it. A request waits parked. What cannot be made is 404 with the reason.
 *
 * Invariant: an order is the thread's until it is done; then the request's, or nobody's. */
#include "gpu.h"
#include "jobs.h"
#include "routes.h"
#include "worker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    LIMIT_MS = 60 * 1000, /* of one text: NVRTC and the disassembler take 0.2 s for a usual kernel */
    MAX_ORDERS = 32,      /* of all clients: a minute's work */
    MAX_ARCH = 15
};

/* What is to be made. */
struct order {
    char *line;      /* the request to the process */
    char *text;      /* what came of it; or NULL, and */
    char why[1024];  /* not */
    bool done, left; /* nobody waits for it any more */
    struct order *next;
};

struct artifacts {
    struct server *server;
    pthread_t thread;
    int stop; /* an eventfd: readable when the thread shall end */
    pthread_mutex_t mutex;
    pthread_cond_t arrived;
    struct order *first;
    bool ends;
};

struct wanted {
    struct fetch f;
    const char *source, *arch;
    struct order *order;
};

/* ---- the thread --------------------------------------------------------------------------------------------- */

static uint64_t topic_of(const struct order *order)
{
    return (uint64_t)(uintptr_t)order / _Alignof(max_align_t);
}

static void order_free(struct order *order)
{
    free(order->line);
    free(order->text);
    free(order);
}

/* Run the process to its answer. */
static void make(struct artifacts *a, struct order *order)
{
    struct gpu_child child;
    cJSON *line = cJSON_Parse(order->line), *event = NULL;
    snprintf(order->why, sizeof order->why, "the process that compiles could not be run");
    if (gpu_child_start(&child, a->server->options.worker_path, "compile", NULL)) {
        if (gpu_child_send(&child, line) &&
            gpu_child_hear(&child, queue_clock() + LIMIT_MS, a->stop, -1, &event) == GPU_HEARD_NOTHING)
            snprintf(order->why, sizeof order->why, "the compiler did not end within %d s", LIMIT_MS / 1000);
        gpu_child_end(&child);
    }
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(event, "text"));
    const char *message = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(event, "message"));
    order->text = text ? strdup(text) : NULL;
    if (message)
        snprintf(order->why, sizeof order->why, "%s", message);
    cJSON_Delete(event);
    cJSON_Delete(line);
}

/* *wanted: it is worth while. At the end, what is left is done with nothing made. */
static struct order *next_order(struct artifacts *a, bool *wanted)
{
    pthread_mutex_lock(&a->mutex);
    while (!a->first && !a->ends)
        pthread_cond_wait(&a->arrived, &a->mutex);
    struct order *order = a->first;
    *wanted = order && !order->left && !a->ends;
    pthread_mutex_unlock(&a->mutex);
    return order;
}

/* It stays in the list until now, so that the list's length is all that is to be done. */
static void finish(struct artifacts *a, struct order *order)
{
    const uint64_t topic = topic_of(order);
    pthread_mutex_lock(&a->mutex);
    a->first = order->next;
    order->done = true;
    if (order->left)
        order_free(order);
    pthread_mutex_unlock(&a->mutex);
    http_wake(a->server, topic);
}

static void *work(void *arg)
{
    struct artifacts *a = arg;
    bool wanted;
    for (struct order *order; (order = next_order(a, &wanted)); finish(a, order))
        if (wanted)
            make(a, order);
    return NULL;
}

bool artifacts_start(struct server *server, struct artifacts **out)
{
    struct artifacts *a = calloc(1, sizeof *a);
    if (!a)
        return false;
    a->server = server;
    a->stop = eventfd(0, EFD_CLOEXEC);
    pthread_mutex_init(&a->mutex, NULL);
    pthread_cond_init(&a->arrived, NULL);
    if (a->stop >= 0 && pthread_create(&a->thread, NULL, work, a) == 0) {
        *out = a;
        return true;
    }
    if (a->stop >= 0)
        close(a->stop);
    free(a);
    return false;
}

void artifacts_stop(struct artifacts *a)
{
    const uint64_t one = 1;
    if (!a)
        return;
    pthread_mutex_lock(&a->mutex);
    a->ends = true;
    pthread_cond_signal(&a->arrived);
    pthread_mutex_unlock(&a->mutex);
    while (write(a->stop, &one, sizeof one) < 0 && errno == EINTR)
        ;
    pthread_join(a->thread, NULL);
    close(a->stop);
    pthread_cond_destroy(&a->arrived);
    pthread_mutex_destroy(&a->mutex);
    free(a);
}

/* ---- in the queue's thread ---------------------------------------------------------------------------------- */

static const char *arch_in(const char *json)
{
    const cJSON *device = cJSON_GetObjectItemCaseSensitive(json ? cJSON_Parse(json) : NULL, "device");
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(device, "arch"));
}

static bool can_be_made(const char *part)
{
    return strcmp(part, "ptx") == 0 || strcmp(part, "sass") == 0;
}

static bool run_artifact(struct queue *q, struct call *call)
{
    struct wanted *w = (struct wanted *)call;
    struct job job;
    if (!fetch_find(q, &w->f, &job))
        return true;
    w->f.text = store_artifact(q->store, call->arena, job.seq, w->f.part);
    if (!w->f.text && can_be_made(w->f.part)) {
        w->source = store_artifact(q->store, call->arena, job.seq, "source");
        store_get(q->store, call->arena, job.seq, &w->f.job);
    }
    return true;
}

/* ---- the handler -------------------------------------------------------------------------------------------- */

static bool is_arch(const char *text)
{
    const size_t digits = strncmp(text, "sm_", 3) == 0 ? strspn(text + 3, "0123456789") : 0;
    const char *end = text + 3 + digits;
    return digits > 0 && strlen(text) <= MAX_ARCH && (!*end || (strchr("af", *end) && !end[1]));
}

struct fetch *artifact_begin(struct request *rq)
{
    struct wanted *w = jobs_call(rq, sizeof *w, run_artifact);
    w->arch = request_query(rq, "arch");
    if (!w->arch || is_arch(w->arch))
        return &w->f;
    respond_problem(rq, 400, "bad_field", "'arch' takes an architecture like sm_90a, not '%.40s'", w->arch);
    return NULL;
}

/* The request is over before its text was made: whoever is last frees the order. */
static void leave(struct request *rq)
{
    struct wanted *w = rq->state;
    struct jobs *jobs = jobs_enter(rq->server);
    if (jobs)
        pthread_mutex_lock(&jobs->artifacts->mutex);
    w->order->left = true;
    if (w->order->done)
        order_free(w->order);
    if (jobs)
        pthread_mutex_unlock(&jobs->artifacts->mutex);
    jobs_leave();
}

/* False when there are too many already. */
static bool place(struct request *rq, struct artifacts *a, struct wanted *w)
{
    cJSON *line = cJSON_CreateObject();
    cJSON_AddStringToObject(line, "arch", w->arch);
    cJSON_AddStringToObject(line, "want", w->f.part);
    cJSON_AddStringToObject(line, "source", w->source);
    cJSON_AddNumberToObject(line, "limit_ms", LIMIT_MS);
    const char *text = cJSON_PrintUnformatted(line);
    struct order *order = text ? calloc(1, sizeof *order) : NULL; /* it may outlive the request */
    if (!order || !(order->line = strdup(text))) {
        free(order);
        return false;
    }
    int count = 0;
    pthread_mutex_lock(&a->mutex);
    struct order **end = &a->first;
    for (; *end; end = &(*end)->next)
        count++;
    if (count < MAX_ORDERS)
        *end = order;
    pthread_cond_signal(&a->arrived);
    pthread_mutex_unlock(&a->mutex);
    if (count >= MAX_ORDERS) {
        order_free(order);
        return false;
    }
    w->order = order;
    rq->abandon = leave;
    return true;
}

enum stand { NOT_TAKEN, BEING_MADE, MADE };

/* Ask for what is not there yet; how it stands. */
static enum stand look(struct request *rq, struct wanted *w)
{
    struct jobs *jobs = jobs_enter(rq->server);
    enum stand stand = NOT_TAKEN;
    if (jobs && (w->order || place(rq, jobs->artifacts, w))) {
        pthread_mutex_lock(&jobs->artifacts->mutex);
        stand = w->order->done ? MADE : BEING_MADE;
        pthread_mutex_unlock(&jobs->artifacts->mutex);
    }
    jobs_leave();
    return stand;
}

static void respond_text(struct request *rq, const char *text)
{
    respond(rq, 200, "text/plain; charset=utf-8", text, strlen(text));
}

static void respond_made(struct request *rq, struct wanted *w)
{
    const uint64_t epoch = http_epoch(rq->server);
    const enum stand stand = look(rq, w);
    if (stand == BEING_MADE && !rq->expired) {
        request_park(rq, topic_of(w->order), epoch, 2 * LIMIT_MS);
    } else if (stand == MADE && w->order->text) {
        respond_text(rq, la_format(&rq->cx, "%s", w->order->text));
    } else if (stand == MADE) {
        respond_problem(rq, 404, "not_found", "there is no %s of this job here: %s", w->f.part,
                        w->order->why);
    } else {
        respond_header(rq, "Retry-After", "2");
        respond_problem(rq, 503, "unavailable",
                        stand == NOT_TAKEN ? "too many texts are being made, or the daemon ends"
                                           : "the text is still being made");
    }
}

static void respond_none(struct request *rq, const struct wanted *w)
{
    if (strcmp(w->f.part, "log") == 0)
        respond_problem(rq, 404, "not_found", "the compiler had nothing to say about this job");
    else if (!can_be_made(w->f.part))
        respond_problem(rq, 404, "not_found",
                        "there is no '%.80s' of a job: source, ptx, sass, log and events are", w->f.part);
    else if (!w->source)
        respond_problem(rq, 404, "not_found", "the job has no kernel%s",
                        job_state_ended(w->f.job.state) ? "" : " yet");
    else
        respond_problem(
            rq, 404, "not_found",
            "the job ran on no card, so its %s is of no architecture: name one, /jobs/%s/%s?arch=sm_90a",
            w->f.part, w->f.id, w->f.part);
}

void handle_artifact(struct request *rq, struct fetch *f)
{
    struct wanted *w = (struct wanted *)f;
    if (!w->order && !jobs_ask(rq, &f->call))
        return;
    if (f->call.answer != ANSWER_OK) {
        respond_refusal(rq, &f->call);
        return;
    }
    if (f->text) {
        respond_text(rq, f->text);
        return;
    }
    if (!w->arch && !(w->arch = arch_in(f->job.result)))
        w->arch = arch_in(f->job.partial);
    if (w->source && w->arch)
        respond_made(rq, w);
    else
        respond_none(rq, w);
}
