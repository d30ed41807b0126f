/* worker.c: register, lease, run, report; the executor always ready, or the daemon told why not.
 *
 * Every wait ends at SIGTERM or SIGINT, which arrive as a readable descriptor: the run is killed and its
 * job handed back to the queue. A daemon that is away is asked again, later each time; one that has
 * forgotten the worker (it was restarted) gets a new registration. A result that cannot be delivered is
 * kept and tried again for minutes, since a daemon that comes back still knows the lease. */
#include "worker.h"

#include <curl/curl.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum {
    LEASE_WAIT_S = 5,     /* asking is the heartbeat of an idle worker */
    READY_MS = 60 * 1000, /* for an executor to start: cuInit, a context, a canary through NVRTC */
    BACKOFF_MS = 100,     /* the first wait before something is tried again; doubled each time */
    MAX_BACKOFF_MS = 5000,
    SHORT_WAIT_MS = 200,        /* an empty answer that comes sooner is no wait: not again at once */
    MAX_RESTART_MS = 30 * 1000, /* for an executor that does not get ready */
    KEEP_RESULT_MS = 10 * 60 * 1000,
    HURRIED_RESULT_MS = 2000 /* when the worker shall end: whoever stops it waits three seconds */
};

struct worker {
    const struct gpu_worker_options *options;
    struct gpu_client *client;
    struct gpu_child child;
    struct gpu_compiler compiler;
    int stop;      /* readable once the worker shall end */
    char id[64];   /* "": not registered */
    cJSON *device; /* as the executor told it */
    const char *state;
    char reason[240];
    int failures;   /* executors in a row that did not get ready */
    int unanswered; /* requests in a row for a job */
    bool was_ready, unavailable;
};

static void say(const struct worker *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(const struct worker *w, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "layoutd-worker %s: %s\n", w->options->name, text);
}

static bool stopped(const struct worker *w)
{
    struct pollfd fd = {.fd = w->stop, .events = POLLIN};
    return poll(&fd, 1, 0) > 0;
}

static int64_t backoff(int failures, int64_t most)
{
    const int64_t ms = failures < 12 ? (int64_t)BACKOFF_MS << failures : most;
    return ms < most ? ms : most;
}

/* ---- telling the daemon ------------------------------------------------------------------------------------- */

/* Say once what is known of this worker: as a registration, or as news of a registered one. The status. */
static int announce_once(struct worker *w)
{
    const bool registered = *w->id;
    cJSON *body = cJSON_CreateObject(), *answer = NULL;
    if (registered) {
        cJSON_AddStringToObject(body, "worker", w->id);
    } else {
        cJSON_AddStringToObject(body, "name", w->options->name);
        cJSON_AddStringToObject(body, "executor", strcmp(w->options->device, "cpu") == 0 ? "cpu" : "gpu");
    }
    cJSON_AddStringToObject(body, "state", w->state);
    if (*w->reason)
        cJSON_AddStringToObject(body, "reason", w->reason);
    if (w->device)
        cJSON_AddItemReferenceToObject(body, "device", w->device);
    const int status = gpu_client_post(w->client, registered ? "/worker/device" : "/worker/register", body, 0,
                                       w->stop, &answer);
    const char *id = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(answer, "worker"));
    if (registered && status == 404)
        w->id[0] = '\0';
    else if (status == 200 && id)
        snprintf(w->id, sizeof w->id, "%s", id);
    cJSON_Delete(answer);
    cJSON_Delete(body);
    return status;
}

/* Say it until it is heard, or the worker shall end. */
static void announce(struct worker *w, const char *state, const char *reason)
{
    w->state = state;
    snprintf(w->reason, sizeof w->reason, "%s", reason);
    for (int failures = 0; !stopped(w); failures++) {
        const int status = announce_once(w);
        if (status == 200)
            return;
        if (failures == 0)
            say(w, "the daemon at %s does not take me: %s (status %d); trying again", w->options->url,
                status ? "it answered" : gpu_client_error(w->client), status);
        if (status != 404)
            gpu_pause(backoff(failures, MAX_BACKOFF_MS), w->stop);
    }
}

/* What the daemon refuses as too large or malformed is told as a failure instead; false when it was one
 * already. */
static bool replace_result(cJSON *end, int status)
{
    char message[128];
    if (!cJSON_HasObjectItem(end, "result"))
        return false;
    snprintf(message, sizeof message, "the daemon refused the result with status %d", status);
    cJSON_DeleteItemFromObjectCaseSensitive(end, "result");
    cJSON_DeleteItemFromObjectCaseSensitive(end, "events");
    cJSON_ReplaceItemInObjectCaseSensitive(end, "state", cJSON_CreateString("failed"));
    cJSON *failure = cJSON_AddObjectToObject(end, "failure");
    cJSON_AddStringToObject(failure, "kind", "infra");
    cJSON_AddStringToObject(failure, "message", message);
    return true;
}

/* Deliver the end of a job. */
static void deliver(struct worker *w, const char *id, cJSON *end)
{
    char path[128];
    int64_t until = gpu_clock_ms() + KEEP_RESULT_MS;
    snprintf(path, sizeof path, "/worker/jobs/%.64s/result", id);
    for (int failures = 0;; failures++) {
        const int status = gpu_client_post(w->client, path, end, 0, -1, NULL);
        if (status == 200 || status == 404 || status == 409)
            return;
        if ((status == 400 || status == 413 || status == 422) && replace_result(end, status))
            continue;
        if (stopped(w) && until > gpu_clock_ms() + HURRIED_RESULT_MS)
            until = gpu_clock_ms() + HURRIED_RESULT_MS;
        if (gpu_clock_ms() >= until) {
            say(w, "the end of job %s could not be delivered (status %d)", id, status);
            return;
        }
        gpu_pause(backoff(failures, MAX_BACKOFF_MS), stopped(w) ? -1 : w->stop);
    }
}

/* ---- the executor ------------------------------------------------------------------------------------------- */

/* Wait until a new executor is ready; else false with why. */
static bool hear_ready(struct worker *w, char *why, size_t size)
{
    char how[128];
    cJSON *event = NULL;
    const enum gpu_heard heard = gpu_child_hear(&w->child, gpu_clock_ms() + READY_MS, w->stop, -1, &event);
    const char *what = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(event, "event"));
    const char *reason = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(event, "reason"));
    const bool ready = what && strcmp(what, "ready") == 0;
    w->unavailable = what && strcmp(what, "unavailable") == 0;
    if (ready) {
        cJSON_Delete(w->device);
        w->device = cJSON_DetachItemFromObjectCaseSensitive(event, "device");
        const char *arch = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(w->device, "arch"));
        snprintf(w->compiler.arch, sizeof w->compiler.arch, "%s", arch ? arch : "");
    } else if (w->unavailable) {
        snprintf(why, size, "%s", reason ? reason : "no reason given");
    } else if (heard == GPU_HEARD_END) {
        gpu_child_describe(&w->child, how, sizeof how);
        snprintf(why, size, "the executor %s before it was ready", how);
    } else {
        snprintf(why, size, "the executor did not get ready within %d s", READY_MS / 1000);
    }
    cJSON_Delete(event);
    if (!ready)
        gpu_child_end(&w->child);
    return ready;
}

/* A process that even SIGKILL does not end keeps its card: nothing runs there until it is gone. */
static void wait_until_gone(struct worker *w)
{
    char reason[160];
    snprintf(reason, sizeof reason,
             "the executor (process %d) cannot be killed; the device waits for its end", (int)w->child.pid);
    say(w, "%s", reason);
    announce(w, "quarantined", reason);
    while (!gpu_child_gone(&w->child) && gpu_pause(1000, w->stop))
        ;
}

/* Have an executor that is ready; one attempt. The first that says "unavailable" ends the worker; a card
 * that worked before may come back. */
static void start_executor(struct worker *w)
{
    char why[240] = "";
    if (w->failures && !gpu_pause(backoff(w->failures - 1, MAX_RESTART_MS), w->stop))
        return;
    if (w->was_ready && !w->failures) {
        char how[128];
        gpu_child_describe(&w->child, how, sizeof how);
        say(w, "the executor %s; it is replaced", how);
        announce(w, "restarting", "the executor is replaced");
    }
    if (!gpu_child_start(&w->child, NULL, "executor", w->options->device))
        snprintf(why, sizeof why, "the executor could not be started: %s", strerror(errno));
    else if (hear_ready(w, why, sizeof why)) {
        w->failures = 0;
        w->was_ready = true;
        announce(w, "ready", "");
        return;
    }
    if (stopped(w))
        return;
    w->failures++;
    say(w, "%s", why);
    announce(w, !w->unavailable ? "restarting" : w->was_ready ? "quarantined" : "unavailable", why);
}

/* ---- the loop ----------------------------------------------------------------------------------------------- */

static void run_leased(struct worker *w, const cJSON *leased)
{
    const char *id = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(leased, "job"));
    cJSON *end = gpu_run_job(w->client, &w->child, &w->compiler, leased, w->stop);
    if (end && id)
        deliver(w, id, end);
    cJSON_Delete(end);
}

/* Ask for a job, and run it. */
static void lease_once(struct worker *w)
{
    cJSON *body = cJSON_CreateObject(), *leased = NULL;
    const int64_t begun = gpu_clock_ms();
    cJSON_AddStringToObject(body, "worker", w->id);
    const int status = gpu_client_post(w->client, "/worker/lease", body, LEASE_WAIT_S, w->stop, &leased);
    w->unanswered = status ? 0 : w->unanswered + 1;
    if (status == 200 && leased) {
        run_leased(w, leased);
    } else if (status == 404) { /* a daemon that was restarted */
        w->id[0] = '\0';
        announce(w, w->state, w->reason);
    } else if (status != 204 || gpu_clock_ms() - begun < SHORT_WAIT_MS) {
        /* away, or ending: it answers at once then */
        gpu_pause(backoff(w->unanswered, MAX_BACKOFF_MS) + SHORT_WAIT_MS, w->stop);
    }
    cJSON_Delete(leased);
    cJSON_Delete(body);
}

static int serve(struct worker *w)
{
    char why[256];
    while (!stopped(w)) {
        gpu_compiler_hear(&w->compiler, why, sizeof why); /* what was begun ahead, and nobody came for */
        if (w->unavailable && !w->was_ready)
            return WORKER_UNAVAILABLE;
        if (gpu_child_gone(&w->child))
            start_executor(w);
        else if (w->child.ending)
            wait_until_gone(w);
        else
            lease_once(w);
    }
    return EXIT_SUCCESS;
}

/* SIGTERM and SIGINT as a descriptor that becomes readable, and stays so. */
static int signals_as_descriptor(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    signal(SIGPIPE, SIG_IGN); /* an executor that died is seen by its pipe's EPIPE */
    return sigprocmask(SIG_BLOCK, &set, NULL) ? -1 : signalfd(-1, &set, SFD_CLOEXEC);
}

int gpu_worker_main(const struct gpu_worker_options *options)
{
    struct worker w = {.options = options, .state = "starting", .stop = signals_as_descriptor()};
    int status = EXIT_FAILURE;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    w.client = gpu_client_new(options->url, options->token);
    if (w.stop >= 0 && w.client)
        status = serve(&w);
    else
        say(&w, "cannot start: %s", strerror(errno));
    gpu_compiler_end(&w.compiler);
    gpu_child_end(&w.child);
    gpu_client_free(w.client);
    cJSON_Delete(w.device);
    curl_global_cleanup();
    if (w.stop >= 0)
        close(w.stop);
    return status;
}
