/* daemon_client.h: the part of daemon.h that asks the daemon: HTTP, jobs, and the lease protocol spoken by hand. */
#ifndef TEST_DAEMON_CLIENT_H
#define TEST_DAEMON_CLIENT_H

/* ---- HTTP --------------------------------------------------------------------------------------------------- */

struct text {
    char *bytes;
    size_t len;
};

struct answer {
    long status;
    cJSON *json;
    char *text;
    struct text body, head;
};

/* Whose requests these are, where addresses are the users: any address of 127.0.0.0/8. */
static _Thread_local const char *from_address;

static inline size_t take(char *data, size_t size, size_t count, void *arg)
{
    struct text *t = arg;
    t->bytes = realloc(t->bytes, t->len + size * count + 1);
    memcpy(t->bytes + t->len, data, size * count);
    t->len += size * count;
    t->bytes[t->len] = '\0';
    return size * count;
}

/* status 0: no answer, the daemon is away. `header` may be NULL. */
static inline struct answer request(const char *method, const char *path, const char *body,
                                    const char *header)
{
    struct answer a = {0};
    char address[512];
    CURL *curl = curl_easy_init();
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    if (header)
        headers = curl_slist_append(headers, header);
    snprintf(address, sizeof address, "%s%s", url, path);
    curl_easy_setopt(curl, CURLOPT_URL, address);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, 60L);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &a.body);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, &a.head);
    if (from_address)
        curl_easy_setopt(curl, CURLOPT_INTERFACE, from_address);
    if (body)
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
    if (curl_easy_perform(curl) == CURLE_OK)
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &a.status);
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    a.text = a.body.bytes;
    a.json = a.text ? cJSON_Parse(a.text) : NULL;
    return a;
}

/* A header of an answer is there with this value; NULL: with any. */
static inline bool has_header(const struct answer *a, const char *name, const char *value)
{
    char line[256];
    snprintf(line, sizeof line, "\n%s: %s", name, value ? value : "");
    return a->head.bytes && strcasestr(a->head.bytes, line);
}

static inline void drop(struct answer *a)
{
    cJSON_Delete(a->json);
    free(a->body.bytes);
    free(a->head.bytes);
    *a = (struct answer){0};
}

/* A member by a path: "result.verified". */
static inline const cJSON *at(const cJSON *json, const char *path)
{
    char name[64];
    while (json && *path) {
        const size_t len = strcspn(path, ".");
        snprintf(name, sizeof name, "%.*s", (int)len, path);
        json = cJSON_GetObjectItemCaseSensitive(json, name);
        path += len + (path[len] == '.');
    }
    return json;
}

static inline const char *text_at(const cJSON *json, const char *path)
{
    const char *text = cJSON_GetStringValue(at(json, path));
    return text ? text : "";
}

static inline double number_at(const cJSON *json, const char *path)
{
    return cJSON_GetNumberValue(at(json, path));
}

struct id {
    char text[32];
};

/* Submit a copy with more members; its id, "" when it was refused. Safe in any thread. */
static inline struct id try_submit(const char *more, const char *header)
{
    char body[1024];
    struct id id = {""};
    snprintf(body, sizeof body, "{" COPY "%s}", more);
    struct answer a = request("POST", "/jobs", body, header);
    if (a.status == 202 || a.status == 200)
        snprintf(id.text, sizeof id.text, "%s", text_at(a.json, "id"));
    drop(&a);
    return id;
}

static inline struct id submit(const char *more)
{
    const struct id id = try_submit(more, NULL);
    assert_true(*id.text);
    return id;
}

/* A submission is refused because of one of its fields ("": of none), and tells why. */
static inline void expect_refused(const char *body, const char *field)
{
    struct answer a = request("POST", "/jobs", body, NULL);
    assert_int_equal(a.status, 422);
    assert_string_equal(text_at(a.json, "code"), "user_error");
    assert_string_equal(text_at(a.json, "in"), field);
    assert_true(*text_at(a.json, "detail"));
    drop(&a);
}

/* How many jobs there are, by paging through all of them. */
static inline int count_jobs(const char *query)
{
    char path[256];
    int count = 0;
    snprintf(path, sizeof path, "/jobs?limit=100%s", query);
    while (*path) {
        struct answer a = request("GET", path, NULL, NULL);
        assert_int_equal(a.status, 200);
        count += cJSON_GetArraySize(at(a.json, "jobs"));
        snprintf(path, sizeof path, "%s", text_at(a.json, "next"));
        drop(&a);
    }
    return count;
}

static inline struct answer fetch(struct id id, int wait_s)
{
    char path[64], header[64];
    snprintf(path, sizeof path, "/jobs/%s", id.text);
    snprintf(header, sizeof header, "Prefer: wait=%d", wait_s);
    return request("GET", path, NULL, header);
}

/* The job once it has ended: its state, failure kind and attempts must be these. */
static inline void expect_end(struct id id, const char *state, const char *kind, double attempts)
{
    struct answer a = fetch(id, END_S);
    assert_int_equal(a.status, 200);
    assert_string_equal(text_at(a.json, "state"), state);
    assert_string_equal(text_at(a.json, "failure.kind"), kind);
    assert_true(number_at(a.json, "attempts") == attempts);
    if (strcmp(state, "done") == 0)
        assert_true(cJSON_IsTrue(at(a.json, "result.verified")));
    drop(&a);
}

static inline void expect_state(struct id id, const char *state)
{
    const int64_t until = now_ms() + START_MS;
    bool reached = false;
    while (!reached && now_ms() < until) {
        struct answer a = fetch(id, 0);
        reached = strcmp(text_at(a.json, "state"), state) == 0;
        drop(&a);
        pause_ms(reached ? 0 : 10);
    }
    assert_true(reached);
}

static inline long cancel(struct id id)
{
    char path[64];
    snprintf(path, sizeof path, "/jobs/%s", id.text);
    struct answer a = request("DELETE", path, NULL, NULL);
    const long status = a.status;
    drop(&a);
    return status;
}

/* How many events of a type a job has. */
static inline int count_events(struct id id, const char *type)
{
    char path[64];
    int count = 0;
    snprintf(path, sizeof path, "/jobs/%s/events", id.text);
    struct answer a = request("GET", path, NULL, NULL);
    const cJSON *event;
    cJSON_ArrayForEach (event, at(a.json, "events")) {
        count += strcmp(text_at(event, "type"), type) == 0;
    }
    drop(&a);
    return count;
}

/* ---- the lease protocol, spoken by hand --------------------------------------------------------------------- */

#define WORKER_TOKEN "a-token-for-the-workers-of-this-test"

static inline long tell(const char *path, const char *token, const char *body, cJSON **json)
{
    char header[128];
    snprintf(header, sizeof header, "Authorization: Bearer %s", token);
    struct answer a = request("POST", path, body, header);
    const long status = a.status;
    if (json) {
        *json = a.json;
        a.json = NULL;
    }
    drop(&a);
    return status;
}

#endif
