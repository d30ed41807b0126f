/* webhook.c: a job with a "webhook" tells an address of its end.
 *
 *     POST https://example.org/done
 *     Layoutd-Job: 1m8mydyf7e7s41w8y1nw
 *     Layoutd-Timestamp: 1796000000
 *     Layoutd-Signature: v1=HMAC-SHA256(key, timestamp "." body), in hexadecimal
 *     {"event":"done","job":{...as in a list of jobs...}}
 *
 * The key is in DATA/webhook.key, made at the first start: who has it can tell our calls from others', and old ones
 * from new. What is due is a row of the store, so it outlives the daemon; a call that does not come back with 2xx is
 * tried again, later each time, and what became of it is in the job's history.
 *
 * An address is judged when its connection is made, by the numbers that it is made to: so a name that resolves to
 * something harmless at first, and to this network then, gains nothing. Redirects and proxies are not followed. */
#include "jobs.h"
#include "webhook_address.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    ARENA_BYTES = 64 << 20, /* a job as it stands in a list, far above any */
    MAX_TRIES = 6,
    FIRST_DELAY_MS = 2000, /* then five times as long each: the last is tried after 26 minutes */
    RETRY_MS = 500,        /* after the store could not be read */
    CONNECT_S = 5,
    ANSWER_S = 10,
    KEY_BYTES = crypto_auth_hmacsha256_KEYBYTES,
    MAC_BYTES = crypto_auth_hmacsha256_BYTES,
    MAX_PATH = 4096
};

struct webhooks {
    struct server *server;
    struct queue *queue;
    pthread_t thread;
    atomic_bool ends;
    struct la_ctx cx; /* of one delivery */
    unsigned char key[KEY_BYTES];
    bool refused; /* the last connection, because of its address */
    char error[CURL_ERROR_SIZE];
};

/* ---- in the queue's thread ---------------------------------------------------------------------------------- */

/* The next that is due; and then what became of it. */
struct delivery {
    struct call call;
    struct hook hook;
    struct job job;
    bool found, delivered;
    const char *outcome; /* JSON */
};

static bool run_next(struct queue *q, struct call *call)
{
    struct delivery *d = (struct delivery *)call;
    const bool any = store_next_hook(q->store, &d->hook);
    call->watch = WATCH_HOOKS;
    call->until = any ? q->now + d->hook.due - q->today : INT64_MAX;
    d->found = any && d->hook.due <= q->today && store_get(q->store, call->arena, d->hook.job, &d->job);
    return d->found;
}

static bool run_outcome(struct queue *q, struct call *call)
{
    const struct delivery *d = (const struct delivery *)call;
    int64_t delay = FIRST_DELAY_MS;
    for (int64_t i = 0; i < d->hook.tries; i++)
        delay *= 5;
    store_add_event(q->store, d->hook.job, q->today, "webhook", d->outcome, INT64_MAX);
    queue_changed(q, d->hook.job);
    q->tally.hooks[d->delivered]++;
    if (d->delivered || d->hook.tries + 1 >= MAX_TRIES)
        store_hook_over(q->store, d->hook.job);
    else
        store_hook_later(q->store, d->hook.job, q->today + delay);
    return true;
}

/* ---- the call ----------------------------------------------------------------------------------------------- */

static curl_socket_t open_checked(void *arg, curlsocktype purpose, struct curl_sockaddr *to)
{
    struct webhooks *w = arg;
    (void)purpose;
    w->refused = !w->server->options.allow_private_webhooks && !address_is_public(&to->addr);
    return w->refused ? CURL_SOCKET_BAD : socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

static size_t ignore(char *data, size_t size, size_t count, void *arg)
{
    (void)data, (void)arg;
    return size * count;
}

static int is_over(void *arg, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    struct webhooks *w = arg;
    (void)a, (void)b, (void)c, (void)d;
    return atomic_load(&w->ends);
}

static struct curl_slist *make_headers(struct webhooks *w, const struct job *job, const struct json *body)
{
    crypto_auth_hmacsha256_state state;
    unsigned char mac[MAC_BYTES];
    char digits[2 * MAC_BYTES + 1], stamp[32];
    snprintf(stamp, sizeof stamp, "%lld", (long long)time(NULL));
    crypto_auth_hmacsha256_init(&state, w->key, sizeof w->key);
    crypto_auth_hmacsha256_update(&state, (const unsigned char *)stamp, strlen(stamp));
    crypto_auth_hmacsha256_update(&state, (const unsigned char *)".", 1);
    crypto_auth_hmacsha256_update(&state, (const unsigned char *)body->data, body->len);
    crypto_auth_hmacsha256_final(&state, mac);
    sodium_bin2hex(digits, sizeof digits, mac, sizeof mac);
    struct curl_slist *list = curl_slist_append(NULL, "Content-Type: application/json");
    list = curl_slist_append(list, la_format(&w->cx, "Layoutd-Job: %s", job->id));
    list = curl_slist_append(list, la_format(&w->cx, "Layoutd-Timestamp: %s", stamp));
    return curl_slist_append(list, la_format(&w->cx, "Layoutd-Signature: v1=%s", digits));
}

static void set_options(CURL *curl, struct webhooks *w, const struct job *job, const struct json *body)
{
    const bool plain = w->server->options.allow_private_webhooks;
    curl_easy_setopt(curl, CURLOPT_URL, job->webhook);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, plain ? "http,https" : "https");
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*"); /* a proxy would resolve the name again */
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)ANSWER_S);
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, open_checked);
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, w);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, ignore);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, is_over);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, w);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, w->error);
    if (w->server->options.webhook_ca) /* the system's folder of authorities stays */
        curl_easy_setopt(curl, CURLOPT_CAINFO, w->server->options.webhook_ca);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "layoutd/" LAYOUTD_VERSION);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body->data);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body->len);
}

/* The status; 0 when there was no answer, with why. */
static long call_address(struct webhooks *w, const struct job *job, const struct json *body, const char **why)
{
    struct curl_slist *headers = make_headers(w, job, body);
    CURL *curl = curl_easy_init();
    long status = 0;
    *why = "no memory";
    w->refused = false;
    *w->error = '\0';
    if (curl && headers) {
        set_options(curl, w, job, body);
        curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
        const CURLcode code = curl_easy_perform(curl);
        *why = w->refused  ? "the address is private: the daemon calls none of those"
               : *w->error ? w->error
                           : curl_easy_strerror(code);
        if (code == CURLE_OK)
            curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    }
    curl_easy_cleanup(curl);
    curl_slist_free_all(headers);
    return status;
}

static const char *write_outcome(struct webhooks *w, const struct delivery *d, long status, const char *why)
{
    struct json j = json_new(&w->cx, 256);
    json_open(&j, '{');
    json_key(&j, "try");
    json_int(&j, d->hook.tries + 1);
    json_key(&j, "delivered");
    json_bool(&j, d->delivered);
    if (status) {
        json_key(&j, "status");
        json_int(&j, status);
    } else {
        json_key(&j, "reason");
        json_text(&j, why);
    }
    json_close(&j, '}');
    json_bytes(&j, "", 1);
    return j.data;
}

/* In a la_try: the arena of a delivery may be full. */
static void deliver(struct la_ctx *cx, void *arg)
{
    struct delivery *d = arg;
    struct webhooks *w = (struct webhooks *)((char *)cx - offsetof(struct webhooks, cx));
    struct json body = json_new(cx, 2048);
    const char *why;
    json_open(&body, '{');
    json_key(&body, "event");
    json_text(&body, job_state_name(d->job.state));
    json_key(&body, "job");
    json_open(&body, '{');
    job_write(&body, &d->job, true);
    json_close(&body, '}');
    json_close(&body, '}');
    const long status = call_address(w, &d->job, &body, &why);
    d->delivered = status >= 200 && status < 300;
    d->outcome = write_outcome(w, d, status, why);
}

/* ---- the thread --------------------------------------------------------------------------------------------- */

static void *work(void *arg)
{
    struct webhooks *w = arg;
    while (!atomic_load(&w->ends)) {
        la_arena_reset(w->cx.arena);
        struct delivery d = {.call = {.run = run_next, .arena = w->cx.arena, .until = INT64_MAX}};
        queue_await(w->queue, &d.call);
        if (d.call.answer != ANSWER_OK) /* a full disk, or the end */
            nanosleep(&(struct timespec){.tv_nsec = RETRY_MS * 1000000L}, NULL);
        if (d.call.answer != ANSWER_OK || !d.found)
            continue;
        if (!la_try(&w->cx, deliver, &d))
            d.outcome = "{\"delivered\":false,\"reason\":\"no memory\"}";
        struct delivery told = {.call = {.run = run_outcome, .durable = true, .until = INT64_MAX},
                                .hook = d.hook,
                                .delivered = d.delivered,
                                .outcome = d.outcome};
        if (!atomic_load(&w->ends)) /* given up by us: it is tried again */
            queue_do(w->queue, &told.call);
    }
    return NULL;
}

/* ---- the key ------------------------------------------------------------------------------------------------ */

static bool read_key(const char *path, unsigned char key[KEY_BYTES])
{
    char digits[2 * KEY_BYTES + 1] = "";
    size_t len = 0;
    FILE *f = fopen(path, "re");
    const bool ok = f && fscanf(f, "%64s", digits) == 1 &&
                    sodium_hex2bin(key, KEY_BYTES, digits, strlen(digits), NULL, &len, NULL) == 0;
    if (f)
        fclose(f);
    return ok && len == KEY_BYTES;
}

static bool make_key(const char *path, unsigned char key[KEY_BYTES])
{
    char digits[2 * KEY_BYTES + 2];
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    randombytes_buf(key, KEY_BYTES);
    sodium_bin2hex(digits, sizeof digits, key, KEY_BYTES);
    digits[2 * KEY_BYTES] = '\n';
    const bool ok = write(fd, digits, 2 * KEY_BYTES + 1) == 2 * KEY_BYTES + 1 && fsync(fd) == 0;
    return close(fd) == 0 && ok;
}

static bool open_key(struct webhooks *w)
{
    char path[MAX_PATH + 16];
    snprintf(path, sizeof path, "%.*s/webhook.key", MAX_PATH, w->server->options.data);
    const bool there = access(path, F_OK) == 0;
    if (there ? read_key(path, w->key) : make_key(path, w->key))
        return true;
    fprintf(stderr, "layoutd: cannot %s the key of webhooks, %s: %s\n", there ? "read" : "make", path,
            there ? "it is not 64 hexadecimal digits" : strerror(errno));
    return false;
}

/* ---- */

static bool authorities_are_there(const struct server *server)
{
    const char *path = server->options.webhook_ca;
    if (!path || access(path, R_OK) == 0)
        return true;
    fprintf(stderr, "layoutd: cannot read the authorities for webhooks, %s: %s\n", path, strerror(errno));
    return false;
}

bool webhooks_start(struct server *server, struct queue *queue, struct webhooks **out)
{
    struct webhooks *w = calloc(1, sizeof *w);
    if (!w)
        return false;
    w->server = server;
    w->queue = queue;
    w->cx.arena = la_arena_new(ARENA_BYTES);
    if (w->cx.arena && sodium_init() >= 0 && authorities_are_there(server) && open_key(w) &&
        pthread_create(&w->thread, NULL, work, w) == 0) {
        *out = w;
        return true;
    }
    la_arena_free(w->cx.arena);
    free(w);
    return false;
}

void webhooks_end(struct webhooks *w)
{
    if (w)
        atomic_store(&w->ends, true);
}

void webhooks_free(struct webhooks *w)
{
    if (!w)
        return;
    pthread_join(w->thread, NULL);
    la_arena_free(w->cx.arena);
    free(w);
}
