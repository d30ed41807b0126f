/* test_events.c: a job's history as a stream, and waiting for a job to change.
 *
 * The jobs are run by a worker that is this test itself, so that events come when the test wants them. */
#include "daemon.h"

#include <pthread.h>

enum {
    NOTES = 40, /* events of the job, beside those of its life */
    MAX_HEARD = 100,
    PAUSE_MS = 10,    /* between notes: the client drops in the middle of them */
    HEARTBEAT_S = 10, /* the daemon's */
    NOTICED_S = 13    /* a heartbeat, and what a busy machine takes */
};

/* ---- a client ----------------------------------------------------------------------------------------------- */

struct stream {
    int64_t ids[MAX_HEARD];
    int heard, comments;
    int stop; /* drop the connection after so many events in all */
    char line[4096];
    size_t len;
    long status;
};

static void hear_line(struct stream *s)
{
    long long id;
    if (sscanf(s->line, "id: %lld", &id) == 1 && s->heard < MAX_HEARD)
        s->ids[s->heard++] = id;
    s->comments += *s->line == ':';
}

/* What a curl gives on; 0 drops the connection. A line that is not whole yet is no event. */
static size_t hear(char *data, size_t size, size_t count, void *arg)
{
    struct stream *s = arg;
    for (size_t i = 0; i < size * count; i++) {
        if (data[i] != '\n') {
            assert_true(s->len < sizeof s->line - 1);
            s->line[s->len++] = data[i];
            continue;
        }
        s->line[s->len] = '\0';
        hear_line(s);
        s->len = 0;
        if (s->heard >= s->stop)
            return 0;
    }
    return size * count;
}

/* Follow a job from the last event that was heard; how the transfer ended. */
static CURLcode follow(struct id id, struct stream *s, long seconds)
{
    char address[256], last[64];
    CURL *curl = curl_easy_init();
    struct curl_slist *headers = curl_slist_append(NULL, "Accept: text/event-stream");
    snprintf(address, sizeof address, "%s/jobs/%s/events", url, id.text);
    snprintf(last, sizeof last, "Last-Event-ID: %lld", s->heard ? (long long)s->ids[s->heard - 1] : 0);
    headers = curl_slist_append(headers, last);
    s->len = 0;
    curl_easy_setopt(curl, CURLOPT_URL, address);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, seconds);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, hear);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, s);
    const CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &s->status);
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    return code;
}

/* ---- a worker ----------------------------------------------------------------------------------------------- */

static char lease[64];
static struct id leased_id;

static void lease_one(void)
{
    char body[128];
    cJSON *me = NULL, *leased = NULL;
    assert_int_equal(tell("/worker/register", WORKER_TOKEN, "{\"name\":\"me\",\"executor\":\"cpu\"}", &me),
                     200);
    snprintf(body, sizeof body, "{\"worker\":\"%s\"}", text_at(me, "worker"));
    assert_int_equal(tell("/worker/lease", WORKER_TOKEN, body, &leased), 200);
    snprintf(lease, sizeof lease, "%s", text_at(leased, "lease"));
    snprintf(leased_id.text, sizeof leased_id.text, "%s", text_at(leased, "job"));
    cJSON_Delete(me);
    cJSON_Delete(leased);
}

static void say(const char *type)
{
    char path[128], body[256];
    snprintf(path, sizeof path, "/worker/jobs/%s/event", leased_id.text);
    snprintf(body, sizeof body, "{\"lease\":\"%s\",\"events\":[{\"type\":\"%s\",\"n\":1}]}", lease, type);
    while (tell(path, WORKER_TOKEN, body, NULL) != 200) /* the daemon is away for a moment */
        pause_ms(PAUSE_MS);
}

static void say_done(void)
{
    char path[128], body[256];
    snprintf(path, sizeof path, "/worker/jobs/%s/result", leased_id.text);
    snprintf(body, sizeof body, "{\"lease\":\"%s\",\"state\":\"done\",\"result\":{\"verified\":true}}",
             lease);
    assert_int_equal(tell(path, WORKER_TOKEN, body, NULL), 200);
}

static void *work(void *arg)
{
    (void)arg;
    say("running");
    for (int i = 0; i < NOTES; i++) {
        pause_ms(PAUSE_MS);
        say("note");
    }
    say_done();
    return NULL;
}

/* ---- tests -------------------------------------------------------------------------------------------------- */

static void *kill_daemon(void *arg)
{
    (void)arg;
    pause_ms(5 * PAUSE_MS);
    end(&daemon_pid, SIGKILL);
    return NULL;
}

/* The third time it is the daemon that goes, killed: what was heard is replayed from the disk and not from memory. */
static void dropped_three_times(void **state)
{
    (void)state;
    static struct stream s;
    pthread_t thread, killer;
    s = (struct stream){0};
    start_daemon("none", "127.0.0.1:0");
    const struct id id = submit("");
    lease_one();
    pthread_create(&thread, NULL, work, NULL);
    for (s.stop = 5; s.stop <= 15; s.stop += 10)
        assert_int_equal(follow(id, &s, END_S), CURLE_WRITE_ERROR);
    s.stop = MAX_HEARD;
    pthread_create(&killer, NULL, kill_daemon, NULL);
    assert_int_not_equal(follow(id, &s, END_S), CURLE_OK);
    pthread_join(killer, NULL);
    start_daemon("none", url + strlen("http://"));
    assert_int_equal(follow(id, &s, END_S), CURLE_OK);
    pthread_join(thread, NULL);
    /* queued, leased, running, the notes, done; the new daemon's; a note that was taken, but whose answer was lost */
    assert_in_range(s.heard, NOTES + 5, NOTES + 6);
    for (int i = 0; i < s.heard; i++)
        assert_int_equal(s.ids[i], i + 1);
    assert_int_equal(follow(id, &s, END_S), CURLE_OK);
    assert_int_equal(s.status, 204);
    print_message("%d events, each heard once\n", s.heard);
    stop_daemon();
}

static int in_flight(void)
{
    struct answer a = request("GET", "/metrics", NULL, NULL);
    const char *line = strstr(a.text, "\nlayoutd_http_in_flight ");
    const int n = line ? atoi(line + strlen("\nlayoutd_http_in_flight ")) : -1;
    drop(&a);
    return n;
}

/* A quiet job's stream says now and then that it is there, and so notices a client that is not. */
static void heartbeat(void **state)
{
    (void)state;
    static struct stream gone, stays;
    start_daemon("none", "127.0.0.1:0");
    const struct id id = submit("");
    gone = (struct stream){.stop = 1};
    stays = (struct stream){.stop = MAX_HEARD};
    assert_int_equal(follow(id, &gone, END_S), CURLE_WRITE_ERROR);
    assert_int_equal(follow(id, &stays, NOTICED_S), CURLE_OPERATION_TIMEDOUT);
    assert_int_equal(stays.comments, NOTICED_S / HEARTBEAT_S);
    const int64_t until = now_ms() + NOTICED_S * 1000;
    int left;
    while ((left = in_flight()) > 1 && now_ms() < until)
        pause_ms(100);
    assert_int_equal(left, 1);
    stop_daemon();
}

static void *follow_to_the_end(void *arg)
{
    struct stream *s = arg;
    follow(leased_id, s, END_S);
    return NULL;
}

/* A daemon that ends ends its streams, and soon. */
static void ends_with_the_daemon(void **state)
{
    (void)state;
    static struct stream s;
    pthread_t thread;
    s = (struct stream){.stop = MAX_HEARD};
    start_daemon("none", "127.0.0.1:0");
    leased_id = submit("");
    pthread_create(&thread, NULL, follow_to_the_end, &s);
    pause_ms(300);
    const int64_t begun = now_ms();
    stop_daemon();
    assert_true(now_ms() - begun < 5000);
    pthread_join(thread, NULL);
    assert_int_equal(s.heard, 1);
}

/* ---- long polls --------------------------------------------------------------------------------------------- */

static struct answer poll_job(struct id id, const char *version, int wait_s)
{
    char path[64], header[128];
    snprintf(path, sizeof path, "/jobs/%s", id.text);
    snprintf(header, sizeof header, "If-None-Match: W/\"%s\"\r\nPrefer: wait=%d", version, wait_s);
    return request("GET", path, NULL, header);
}

static void *say_running_soon(void *arg)
{
    (void)arg;
    pause_ms(300);
    say("running");
    return NULL;
}

static void version_of(const struct answer *a, char version[32])
{
    const char *tag = strcasestr(a->head.bytes, "\netag: W/\"");
    assert_non_null(tag);
    assert_int_equal(sscanf(tag + strlen("\netag: W/\""), "%31[0-9]", version), 1);
}

static void waits_for_a_change(void **state)
{
    (void)state;
    char version[32], next[32];
    pthread_t thread;
    start_daemon("none", "127.0.0.1:0");
    const struct id id = submit("");
    lease_one();
    struct answer a = fetch(id, 0);
    version_of(&a, version);
    drop(&a);
    a = poll_job(id, version, 0);
    assert_int_equal(a.status, 304);
    drop(&a);
    pthread_create(&thread, NULL, say_running_soon, NULL);
    const int64_t begun = now_ms();
    a = poll_job(id, version, 20);
    assert_true(now_ms() - begun < 10000);
    assert_int_equal(a.status, 200);
    assert_string_equal(text_at(a.json, "state"), "running");
    version_of(&a, next);
    assert_string_not_equal(version, next);
    drop(&a);
    pthread_join(thread, NULL);
    a = poll_job(id, next, 1);
    assert_int_equal(a.status, 304);
    drop(&a);
    say_done();
    a = poll_job(id, next, 0);
    assert_int_equal(a.status, 200);
    assert_string_equal(text_at(a.json, "state"), "done");
    version_of(&a, next);
    drop(&a);
    a = poll_job(id, next, 20); /* nothing will change any more */
    assert_int_equal(a.status, 304);
    drop(&a);
    stop_daemon();
}

/* ---- */

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(dropped_three_times), TEST(heartbeat), TEST(ends_with_the_daemon),
                                       TEST(waits_for_a_change)};
    return run_suite(tests);
}
