/* worker_client.c: the lease protocol's HTTP, with libcurl.
 *
 * One request at a time over one kept connection. curl_multi is used for a single transfer because its
 * poll can watch one more descriptor: a worker that waits for a job ends at once when it is told to. */
#include "worker.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CONNECT_MS = 3000,
    ANSWER_MS = 5000,     /* beyond what "Prefer: wait" asked for: while it lasts, nobody watches the run */
    BYTES_PER_MS = 100,   /* a large result may take longer: 100 kB/s is a bad network */
    MAX_ANSWER = 64 << 20 /* bytes: a spec, far above any daemon's body limit */
};

struct gpu_client {
    CURLM *multi;
    CURL *easy;
    const char *url;
    char *authorization;
    char *answer;
    size_t len, capacity;
    char error[CURL_ERROR_SIZE];
};

static size_t take(char *data, size_t size, size_t count, void *arg)
{
    struct gpu_client *c = arg;
    const size_t n = size * count, need = c->len + n + 1;
    if (need > MAX_ANSWER)
        return 0;
    if (need > c->capacity) {
        char *larger = realloc(c->answer, need * 2);
        if (!larger)
            return 0;
        c->answer = larger;
        c->capacity = need * 2;
    }
    memcpy(c->answer + c->len, data, n);
    c->len += n;
    c->answer[c->len] = '\0';
    return n;
}

struct gpu_client *gpu_client_new(const char *url, const char *token)
{
    struct gpu_client *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->url = url;
    c->multi = curl_multi_init();
    c->easy = curl_easy_init();
    if (!c->multi || !c->easy || asprintf(&c->authorization, "Authorization: Bearer %s", token) < 0) {
        c->authorization = NULL;
        gpu_client_free(c);
        return NULL;
    }
    curl_easy_setopt(c->easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(c->easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c->easy, CURLOPT_POST, 1L);
    curl_easy_setopt(c->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl_easy_setopt(c->easy, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(c->easy, CURLOPT_WRITEDATA, c);
    curl_easy_setopt(c->easy, CURLOPT_ERRORBUFFER, c->error);
    curl_easy_setopt(c->easy, CURLOPT_USERAGENT, "layoutd-worker");
    return c;
}

void gpu_client_free(struct gpu_client *c)
{
    if (!c)
        return;
    curl_easy_cleanup(c->easy);
    curl_multi_cleanup(c->multi);
    free(c->authorization);
    free(c->answer);
    free(c);
}

const char *gpu_client_error(const struct gpu_client *c)
{
    return c->error;
}

/* Run the transfer to its end; false when it failed or was given up. */
static bool transfer(struct gpu_client *c, int stop)
{
    struct curl_waitfd extra = {.fd = stop, .events = CURL_WAIT_POLLIN};
    int running = 1;
    while (running) {
        if (curl_multi_perform(c->multi, &running) != CURLM_OK)
            return false;
        if (running && curl_multi_poll(c->multi, &extra, stop >= 0, ANSWER_MS, NULL) != CURLM_OK)
            return false;
        if (extra.revents) {
            snprintf(c->error, sizeof c->error, "given up");
            return false;
        }
    }
    int left;
    const CURLMsg *message = curl_multi_info_read(c->multi, &left);
    if (!message || message->msg != CURLMSG_DONE || message->data.result == CURLE_OK)
        return message != NULL;
    if (!*c->error)
        snprintf(c->error, sizeof c->error, "%s", curl_easy_strerror(message->data.result));
    return false;
}

static struct curl_slist *make_headers(const struct gpu_client *c, int wait_s)
{
    char prefer[40];
    snprintf(prefer, sizeof prefer, "Prefer: wait=%d", wait_s);
    const char *const lines[] = {"Content-Type: application/json", c->authorization,
                                 "Expect:", /* no 100-continue: a round trip before every body */
                                 wait_s ? prefer : NULL};
    struct curl_slist *list = NULL;
    for (size_t i = 0; i < sizeof lines / sizeof *lines && lines[i]; i++) {
        struct curl_slist *longer = curl_slist_append(list, lines[i]);
        if (!longer) {
            curl_slist_free_all(list);
            return NULL;
        }
        list = longer;
    }
    return list;
}

/* The status of one request; 0 when there was no answer. */
static int request(struct gpu_client *c, const char *url, const char *text, int wait_s, int stop)
{
    struct curl_slist *headers = make_headers(c, wait_s);
    const size_t size = strlen(text);
    long status = 0;
    c->len = 0;
    *c->error = '\0';
    if (!headers)
        return 0;
    curl_easy_setopt(c->easy, CURLOPT_URL, url);
    curl_easy_setopt(c->easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(c->easy, CURLOPT_POSTFIELDS, text);
    curl_easy_setopt(c->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
    curl_easy_setopt(c->easy, CURLOPT_TIMEOUT_MS, wait_s * 1000L + ANSWER_MS + (long)(size / BYTES_PER_MS));
    if (curl_multi_add_handle(c->multi, c->easy) == CURLM_OK) {
        if (transfer(c, stop))
            curl_easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &status);
        curl_multi_remove_handle(c->multi, c->easy);
    }
    curl_slist_free_all(headers);
    return (int)status;
}

int gpu_client_post(struct gpu_client *c, const char *path, const cJSON *body, int wait_s, int stop,
                    cJSON **answer)
{
    char *url = NULL, *text = cJSON_PrintUnformatted(body);
    int status = 0;
    if (answer)
        *answer = NULL;
    if (text && asprintf(&url, "%s%s", c->url, path) > 0) {
        status = request(c, url, text, wait_s, stop);
        free(url);
    }
    cJSON_free(text);
    if (status && answer && c->len)
        *answer = cJSON_ParseWithLength(c->answer, c->len);
    return status;
}
