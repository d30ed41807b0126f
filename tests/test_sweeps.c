/* test_sweeps.c: one job with many children; and lists of jobs in other forms. */
#include "daemon.h"

#define BASE "\"base\":{" COPY "}"

/* ---- a sweep ------------------------------------------------------------------------------------------------ */

static struct id submit_sweep(const char *body)
{
    struct id id;
    struct answer a = request("POST", "/jobs", body, NULL);
    assert_true(a.status == 202 || a.status == 200);
    snprintf(id.text, sizeof id.text, "%s", text_at(a.json, "id"));
    drop(&a);
    return id;
}

static int count_children(struct id id, const char *more)
{
    char query[128];
    snprintf(query, sizeof query, "&parent=%s%s", id.text, more);
    return count_jobs(query);
}

/* Two of its six children cannot be planned; the sweep says so, and is done. */
static void grid(void **state)
{
    (void)state;
    start_daemon("cpu", "127.0.0.1:0");
    const struct id id = submit_sweep(
        "{\"kind\":\"sweep\"," BASE ",\"vary\":{"
        "\"thr\":[\"(8,4):(4,1)\",\"(4,8):(8,1)\",\"(8,4\"],\"unroll\":[1,2]}}");
    struct answer a = fetch(id, END_S);
    assert_string_equal(text_at(a.json, "state"), "done");
    assert_true(number_at(a.json, "result.counts.done") == 4);
    assert_true(number_at(a.json, "result.counts.failed") == 2);
    const cJSON *ranked = at(a.json, "result.ranked"), *last = cJSON_GetArrayItem(ranked, 5);
    assert_int_equal(cJSON_GetArraySize(ranked), 6);
    for (int i = 0; i < 4; i++) {
        assert_true(number_at(cJSON_GetArrayItem(ranked, i), "rank") == i + 1);
        assert_true(cJSON_IsTrue(at(cJSON_GetArrayItem(ranked, i), "verified")));
    }
    assert_string_equal(text_at(last, "failure.kind"), "user_error");
    assert_string_equal(text_at(last, "failure.in"), "thr");
    assert_string_equal(text_at(last, "vary.thr"), "(8,4");
    drop(&a);
    assert_int_equal(count_events(id, "child"), 4);
    assert_int_equal(count_events(id, "done"), 1);
    assert_int_equal(count_children(id, ""), 6);
    assert_int_equal(count_children(id, "&state=failed"), 2);
    assert_int_equal(count_jobs(""), 1); /* children stand with their sweep alone */
    stop_daemon();
}

/* Children whose plans take a tenth of a second each: the first are planned while the client waits, all have their fields
 * read, and who is refused by a plan that was not made yet fails where it runs. */
static void long_plans(void **state)
{
    static char body[16384];
    int len = snprintf(body, sizeof body,
                       "{\"kind\":\"sweep\",\"base\":{\"kind\":\"mma\",\"atom\":\"UniversalFMA<float>\","
                       "\"problem\":{\"m\":64,\"n\":64,\"k\":224},\"atom_layout\":\"(8,8,1)\"},\"list\":[");
    (void)state;
    start_daemon("none", "127.0.0.1:0");
    for (int i = 1; i <= 250; i++)
        len += snprintf(body + len, sizeof body - (size_t)len, "{\"tile\":\"(64,64,224)\",\"seed\":%d},", i);
    snprintf(body + len, sizeof body - (size_t)len, "{\"tile\":\"(64,64,1000000)\"},{\"stages\":99}]}");
    const int64_t since = now_ms();
    const struct id id = submit_sweep(body);
    assert_in_range(now_ms() - since, 0, 10 * 1000);
    assert_int_equal(count_children(id, "&state=failed"), 1);
    stop_daemon();
}

/* What does not verify comes after what does, and failures last. */
static void list_is_ranked(void **state)
{
    (void)state;
    start_daemon("cpu", "127.0.0.1:0");
    const struct id id = submit_sweep("{\"kind\":\"sweep\"," BASE ",\"list\":[{\"plant\":\"segfault\"},"
                                      "{\"plant\":\"wrong_value\"},{\"unroll\":2}]}");
    struct answer a = fetch(id, END_S);
    const cJSON *ranked = at(a.json, "result.ranked");
    assert_string_equal(text_at(a.json, "state"), "done");
    assert_true(cJSON_IsTrue(at(cJSON_GetArrayItem(ranked, 0), "verified")));
    assert_true(number_at(cJSON_GetArrayItem(ranked, 0), "vary.unroll") == 2);
    assert_true(cJSON_IsFalse(at(cJSON_GetArrayItem(ranked, 1), "verified")));
    assert_string_equal(text_at(cJSON_GetArrayItem(ranked, 2), "failure.kind"), "kernel_fault");
    drop(&a);
    stop_daemon();
}

static void nothing_came_of_it(void **state)
{
    (void)state;
    start_daemon("cpu", "127.0.0.1:0");
    const struct id refused = submit_sweep("{\"kind\":\"sweep\"," BASE ",\"list\":[{\"thr\":\"(\"}]}");
    expect_end(refused, "failed", "user_error", 0);
    const struct id faulty = submit_sweep("{\"kind\":\"sweep\"," BASE ",\"vary\":{\"plant\":[\"trap\"]}}");
    expect_end(faulty, "failed", "kernel_fault", 0);
    stop_daemon();
}

static void sweeps_refused(void **state)
{
    (void)state;
    static const struct {
        const char *body, *in;
    } wrong[] = {
        {"{\"kind\":\"sweep\",\"vary\":{\"unroll\":[1]}}", "base"},
        {"{\"kind\":\"sweep\"," BASE "}", ""},
        {"{\"kind\":\"sweep\"," BASE ",\"vary\":{}}", "vary"},
        {"{\"kind\":\"sweep\"," BASE ",\"vary\":{\"unroll\":3}}", "vary"},
        {"{\"kind\":\"sweep\"," BASE ",\"vary\":{\"unroll\":[1]},\"list\":[{}]}", ""},
        {"{\"kind\":\"sweep\"," BASE ",\"list\":[1]}", "list"},
        {"{\"kind\":\"sweep\"," BASE ",\"list\":[]}", "list"},
        {"{\"kind\":\"sweep\"," BASE ",\"list\":[{}],\"best\":1}", "best"},
        {"{\"kind\":\"sweep\"," BASE ",\"vary\":{\"a\":[1,2,3,4,5,6,7,8,9,10],\"b\":[1,2,3,4,5,6,7,8,9,10],"
         "\"c\":[1,2,3,4,5,6,7,8,9,10],\"d\":[1,2,3,4,5,6,7,8,9,10]}}",
         "vary"},
    };
    start_daemon("none", "127.0.0.1:0");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        expect_refused(wrong[i].body, wrong[i].in);
    stop_daemon();
}

/* All of them at once: the one that runs within a second, and the queued ones. */
static void cancelled_as_one(void **state)
{
    (void)state;
    start_daemon("cpu", "127.0.0.1:0");
    const struct id id = submit_sweep("{\"kind\":\"sweep\"," BASE ",\"vary\":{\"plant\":[\"hang\"],"
                                      "\"seed\":[1,2,3,4,5,6,7,8]}}");
    expect_state(id, "running");
    const int64_t begun = now_ms();
    assert_int_equal(cancel(id), 202);
    expect_end(id, "cancelled", "", 0);
    print_message("a sweep of 8, one of them running: cancelled in %lld ms\n", (long long)(now_ms() - begun));
    assert_int_equal(count_children(id, "&state=cancelled"), 8);
    assert_int_equal(cancel(id), 200);
    expect_end(submit(""), "done", "", 1);
    stop_daemon();
}

/* A daemon that is killed in the middle of one loses nothing of it. */
static void outlives_the_daemon(void **state)
{
    (void)state;
    start_daemon("cpu", "127.0.0.1:0");
    const struct id id = submit_sweep("{\"kind\":\"sweep\"," BASE
                                      ",\"vary\":{\"unroll\":[1,2],\"seed\":[1,2,3,4,5,"
                                      "6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]}}");
    expect_state(id, "running");
    end(&daemon_pid, SIGKILL);
    start_daemon("cpu", "127.0.0.1:0");
    struct answer a = fetch(id, END_S);
    assert_string_equal(text_at(a.json, "state"), "done");
    assert_true(number_at(a.json, "result.counts.done") == 40);
    drop(&a);
    assert_int_equal(count_events(id, "child"), 40);
    stop_daemon();
}

/* ---- what is known already ----------------------------------------------------------------------------------- */

#define UNROLLED(more) "{\"kind\":\"sweep\"," BASE ",\"vary\":{\"unroll\":[1,2]}" more "}"

static void expect_done(struct id sweep)
{
    struct answer a = fetch(sweep, END_S);
    assert_string_equal(text_at(a.json, "state"), "done");
    drop(&a);
}

static int count_reused(const cJSON *sweep, const char *by)
{
    const cJSON *child;
    int count = 0;
    cJSON_ArrayForEach (child, at(sweep, "result.ranked")) {
        count += strcmp(text_at(child, "reused"), by) == 0;
    }
    return count;
}

/* Two of the three children have answers, by a job and by a child of another sweep: only one is run. */
static void answered_from_the_store(void **state)
{
    (void)state;
    start_daemon("cpu", "127.0.0.1:0");
    const struct id first = submit(",\"unroll\":1"), other = submit_sweep(UNROLLED(""));
    expect_end(first, "done", "", 1);
    expect_done(other);
    const struct id id = submit_sweep("{\"kind\":\"sweep\"," BASE ",\"vary\":{\"unroll\":[1,2,4]}}");
    struct answer a = fetch(id, END_S);
    assert_string_equal(text_at(a.json, "state"), "done");
    assert_true(number_at(a.json, "result.counts.done") == 3);
    assert_int_equal(count_reused(a.json, ""), 1);
    assert_int_equal(count_events(id, "child"), 1);
    const cJSON *child;
    cJSON_ArrayForEach (child, at(a.json, "result.ranked")) {
        struct id one;
        snprintf(one.text, sizeof one.text, "%s", text_at(child, "job"));
        const bool reused = *text_at(child, "reused");
        assert_true(cJSON_IsTrue(at(child, "verified")));
        assert_int_equal(count_events(one, "leased"), reused ? 0 : 1);
        assert_int_equal(count_events(one, "done"), 1);
        struct answer job = fetch(one, 0),
                      source = request("GET", text_at(job.json, "links.source"), NULL, NULL);
        assert_true(cJSON_IsTrue(at(job.json, "result.verified")));
        assert_non_null(strstr(source.text, "__global__")); /* its texts are there, too */
        drop(&job);
        drop(&source);
    }
    drop(&a);
    stop_daemon();
}

/* All of it is known: nothing is queued, and a user who may queue no more is answered; unless it shall run again. */
static void all_of_it_is_known(void **state)
{
    (void)state;
    start_daemon("cpu", "127.0.0.1:0");
    expect_done(submit_sweep(UNROLLED("")));
    stop_daemon();
    more_flags[0] = "--user-queued";
    more_flags[1] = "1";
    more_flags[2] = NULL;
    start_daemon("none", "127.0.0.1:0");
    struct answer a = request("POST", "/jobs", UNROLLED(""), NULL);
    assert_int_equal(a.status, 200);
    assert_string_equal(text_at(a.json, "state"), "done");
    drop(&a);
    a = request("POST", "/jobs", UNROLLED(",\"fresh\":true"), NULL);
    assert_int_equal(a.status, 429);
    drop(&a);
    a = request("POST", "/jobs",
                "{\"kind\":\"sweep\"," BASE ",\"list\":[{\"unroll\":1},{\"unroll\":2,\"fresh\":true}]}",
                NULL);
    assert_int_equal(a.status, 202);
    assert_true(number_at(a.json, "result.counts.done") == 1 &&
                number_at(a.json, "result.counts.queued") == 1);
    drop(&a);
    stop_daemon();
}

/* ---- lists -------------------------------------------------------------------------------------------------- */

static int count_lines(const char *text)
{
    int lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

static void csv_and_jsonl(void **state)
{
    (void)state;
    start_daemon("cpu", "127.0.0.1:0");
    for (int i = 0; i < 5; i++)
        expect_end(submit(i ? ",\"fresh\":true" : ",\"plant\":\"trap\""), i ? "done" : "failed",
                   i ? "" : "kernel_fault", 1);
    struct answer a = request("GET", "/jobs?format=csv&limit=3", NULL, NULL);
    assert_int_equal(a.status, 200);
    assert_true(has_header(&a, "Content-Type", "text/csv"));
    assert_true(has_header(&a, "Link", "</jobs?cursor="));
    assert_int_equal(count_lines(a.text), 1 + 3);
    assert_non_null(strstr(a.text, ",true,"));
    assert_non_null(strstr(a.text, "\"{\"\"atom\"\":"));
    drop(&a);
    a = request("GET", "/jobs", NULL, "Accept: application/jsonl");
    assert_int_equal(count_lines(a.text), 5);
    cJSON *first = cJSON_ParseWithLength(a.text, (size_t)(strchr(a.text, '\n') - a.text));
    assert_string_equal(text_at(first, "state"), "done");
    cJSON_Delete(first);
    drop(&a);
    a = request("GET", "/jobs?format=xml", NULL, NULL);
    assert_int_equal(a.status, 400);
    drop(&a);
    a = request("GET", "/jobs?parent=nobody", NULL, NULL);
    assert_int_equal(a.status, 404);
    drop(&a);
    stop_daemon();
}

/* ---- */

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(grid),
                                       TEST(long_plans),
                                       TEST(list_is_ranked),
                                       TEST(nothing_came_of_it),
                                       TEST(sweeps_refused),
                                       TEST(cancelled_as_one),
                                       TEST(outlives_the_daemon),
                                       TEST(answered_from_the_store),
                                       TEST(all_of_it_is_known),
                                       TEST(csv_and_jsonl)};
    return run_suite(tests);
}
