/* bench_jobs.c: what the queue adds to a job, on an idle machine, beside what it cannot be faster than.
 *
 *     submit to result    POST /jobs with "Prefer: wait" of a copy that takes a millisecond, less what its executor took
 *     beside              a bare HTTP round trip to the same daemon, and the two fdatasync that a job waits for
 *     submissions         POST /jobs of many clients at once, each answered when it is on disk
 *     beside              fdatasync of the same disk: one for each submission would be the limit, if commits were not shared */
#include "daemon.h"

#include <pthread.h>

enum { RUNS = 400, FSYNCS = 200, CLIENTS = 16, SUBMIT_MS = 3000, PAGE_BYTES = 4096 };

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

/* ---- samples ------------------------------------------------------------------------------------------------ */

struct samples {
    double us[RUNS];
    int count;
};

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(struct samples *s, double part)
{
    qsort(s->us, (size_t)s->count, sizeof *s->us, ascending);
    return s->us[(int)(part * (s->count - 1))];
}

static void print_row(const char *name, struct samples *s, double trip_50, double trip_99)
{
    const double p50 = quantile(s, 0.5), p99 = quantile(s, 0.99);
    printf("  %-44s %9.0f us %9.0f us %7.1fx %7.1fx\n", name, p50, p99, p50 / trip_50, p99 / trip_99);
}

/* ---- one kept connection ------------------------------------------------------------------------------------ */

static CURL *connect_to(const char *path, const char *body, struct curl_slist *headers, struct text *answer)
{
    char address[256];
    CURL *curl = curl_easy_init();
    snprintf(address, sizeof address, "%s%s", url, path);
    curl_easy_setopt(curl, CURLOPT_URL, address);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);
    if (body)
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
    return curl;
}

/* Microseconds of a request; the answer is left in its text. */
static double ask(CURL *curl, struct text *answer)
{
    answer->len = 0;
    const double begun = now_us();
    if (curl_easy_perform(curl) != CURLE_OK) {
        fprintf(stderr, "bench_jobs: the daemon does not answer\n");
        exit(1);
    }
    return now_us() - begun;
}

static struct curl_slist *json_headers(const char *more)
{
    return curl_slist_append(curl_slist_append(NULL, "Content-Type: application/json"), more);
}

static void measure_trips(struct samples *out)
{
    struct text answer = {0};
    struct curl_slist *headers = json_headers("Accept: application/json");
    CURL *curl = connect_to("/livez", NULL, headers, &answer);
    ask(curl, &answer);
    for (out->count = 0; out->count < RUNS; out->count++)
        out->us[out->count] = ask(curl, &answer);
    curl_easy_cleanup(curl);
    curl_slist_free_all(headers);
    free(answer.bytes);
}

/* What the executor says that a job took, in all of its phases. */
static double executor_us(const char *text)
{
    cJSON *job = cJSON_Parse(text);
    const cJSON *phase;
    double ms = 0;
    if (strcmp(text_at(job, "state"), "done") != 0) {
        fprintf(stderr, "bench_jobs: a job is not done: %s\n", text);
        exit(1);
    }
    cJSON_ArrayForEach (phase, at(job, "result.timings_ms")) {
        ms += cJSON_GetNumberValue(phase);
    }
    cJSON_Delete(job);
    return ms * 1000;
}

static void measure_jobs(struct samples *whole, struct samples *added)
{
    struct text answer = {0};
    struct curl_slist *headers = json_headers("Prefer: wait=30");
    CURL *curl = connect_to("/jobs", "{" COPY ",\"fresh\":true}", headers, &answer);
    ask(curl, &answer);
    for (int i = 0; i < RUNS; i++) {
        whole->us[i] = ask(curl, &answer);
        added->us[i] = whole->us[i] - executor_us(answer.bytes);
    }
    whole->count = added->count = RUNS;
    curl_easy_cleanup(curl);
    curl_slist_free_all(headers);
    free(answer.bytes);
}

/* ---- the disk ----------------------------------------------------------------------------------------------- */

/* A page over an old one and on the disk, as a commit in a log is that has been filled before; in the store's folder. */
static void measure_fsyncs(struct samples *out)
{
    static const char page[PAGE_BYTES];
    char path[300];
    snprintf(path, sizeof path, "%s/fsync", folder);
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    bool ok = fd >= 0;
    for (int i = 0; i < FSYNCS; i++)
        ok = ok && pwrite(fd, page, sizeof page, (off_t)i * PAGE_BYTES) == PAGE_BYTES;
    ok = ok && fsync(fd) == 0;
    for (out->count = 0; ok && out->count < FSYNCS; out->count++) {
        const double begun = now_us();
        ok = pwrite(fd, page, sizeof page, (off_t)out->count * PAGE_BYTES) == PAGE_BYTES &&
             fdatasync(fd) == 0;
        out->us[out->count] = now_us() - begun;
    }
    if (!ok) {
        perror("bench_jobs: fdatasync");
        exit(1);
    }
    close(fd);
}

/* ---- submissions -------------------------------------------------------------------------------------------- */

static int64_t submit_until;

static void *submit_many(void *arg)
{
    int64_t *count = arg;
    struct text answer = {0};
    struct curl_slist *headers = json_headers("Accept: application/json");
    CURL *curl = connect_to("/jobs", "{" COPY ",\"fresh\":true}", headers, &answer);
    long status = 202;
    while (now_ms() < submit_until && status == 202) {
        ask(curl, &answer);
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
        *count += status == 202;
    }
    curl_easy_cleanup(curl);
    curl_slist_free_all(headers);
    free(answer.bytes);
    return NULL;
}

static double submissions_a_second(int clients)
{
    pthread_t threads[CLIENTS];
    int64_t counts[CLIENTS] = {0}, all = 0;
    const double begun = now_us();
    submit_until = now_ms() + SUBMIT_MS;
    for (int i = 0; i < clients; i++)
        pthread_create(&threads[i], NULL, submit_many, &counts[i]);
    for (int i = 0; i < clients; i++) {
        pthread_join(threads[i], NULL);
        all += counts[i];
    }
    return (double)all / (now_us() - begun) * 1e6;
}

/* ---- */

static void bench_latency(void)
{
    static struct samples trips, whole, added, fsyncs;
    start_daemon("cpu", "127.0.0.1:0");
    expect_end(submit(""), "done", "", 1); /* the worker is there */
    measure_fsyncs(&fsyncs);
    measure_trips(&trips);
    measure_jobs(&whole, &added);
    const double trip_50 = quantile(&trips, 0.5), trip_99 = quantile(&trips, 0.99);
    printf("  %-44s %12s %12s %8s %8s\n", "one client, an idle daemon", "p50", "p99", "of trip", "of trip");
    print_row("a bare round trip (GET /livez)", &trips, trip_50, trip_99);
    print_row("fdatasync of a page, of which a job takes two", &fsyncs, trip_50, trip_99);
    print_row("a job, from submission to result", &whole, trip_50, trip_99);
    print_row("a job, less what its executor took", &added, trip_50, trip_99);
    stop_daemon();
}

static void bench_submissions(void)
{
    static struct samples fsyncs;
    more_flags[0] = "--user-queued";
    more_flags[1] = "1000000";
    more_flags[2] = NULL;
    start_daemon("none", "127.0.0.1:0");
    measure_fsyncs(&fsyncs);
    const double syncs = 1e6 / quantile(&fsyncs, 0.5);
    printf("  fdatasync of a page: %.0f a second\n", syncs);
    for (int clients = 1; clients <= CLIENTS; clients *= 4) {
        const double rate = submissions_a_second(clients);
        printf("  submissions on disk, %2d clients: %6.0f a second, %5.2f of fdatasync\n", clients, rate,
               rate / syncs);
    }
    stop_daemon();
}

int main(void)
{
    void *none = NULL;
    prepare_tests();
    if (make_folder(&none))
        return 1;
    bench_latency();
    bench_submissions();
    return end_all(&none);
}
