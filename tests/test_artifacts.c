/* test_artifacts.c: the texts beside a result: the CUDA that ran, and what is made of it when somebody asks. */
#include "daemon.h"

#include <pthread.h>
#include <sys/stat.h>

static struct answer get_part(struct id id, const char *part)
{
    char path[128];
    snprintf(path, sizeof path, "/jobs/%s/%s", id.text, part);
    return request("GET", path, NULL, NULL);
}

/* 404, with a reason that holds these words. */
static void expect_none(struct id id, const char *part, const char *words)
{
    struct answer a = get_part(id, part);
    assert_int_equal(a.status, 404);
    assert_string_equal(text_at(a.json, "code"), "not_found");
    if (!strstr(text_at(a.json, "detail"), words))
        fail_msg("%s: %s", part, text_at(a.json, "detail"));
    drop(&a);
}

static void expect_text(struct id id, const char *part, const char *words)
{
    struct answer a = get_part(id, part);
    if (a.status != 200 || !strstr(a.text, words))
        fail_msg("%s: %ld %.300s", part, a.status, a.text);
    assert_true(has_header(&a, "Content-Type", "text/plain"));
    drop(&a);
}

/* A disassembler that counts its runs, before all others. */
static void use_disassembler(void)
{
    char path[600], search[5000];
    snprintf(path, sizeof path, "%s/cache", folder);
    setenv("LAYOUTD_CACHE", path, 1);
    snprintf(search, sizeof search, "%s:%s", folder, getenv("PATH"));
    setenv("PATH", search, 1);
}

static void put_disassembler(void)
{
    char text[700], path[300];
    snprintf(text, sizeof text,
             "#!/bin/sh\necho run >>%s/runs\nhead -c 4 \"$2\" | tail -c 3\necho \" is read by $1\"\n",
             folder);
    put_file("nvdisasm", text);
    snprintf(path, sizeof path, "%s/nvdisasm", folder);
    assert_int_equal(chmod(path, 0700), 0);
}

/* What ran on no card is of no architecture until one is named. */
static void of_a_job_on_the_cpu(void **state)
{
    (void)state;
    put_disassembler();
    in_child = use_disassembler;
    start_daemon("cpu", "127.0.0.1:0");
    const struct id id = submit("");
    expect_end(id, "done", "", 1);
    struct answer a = fetch(id, 0);
    assert_null(at(a.json, "result.source")); /* it is at its own address */
    assert_true(*text_at(a.json, "links.source"));
    assert_null(at(a.json, "links.ptx"));
    drop(&a);
    expect_text(id, "source", "__global__");
    expect_none(id, "ptx", "?arch=sm_90a");
    expect_none(id, "log", "nothing to say");
    expect_none(id, "secret", "source, ptx, sass, log and events");
    a = get_part(id, "ptx?arch=x86");
    assert_int_equal(a.status, 400);
    drop(&a);
    expect_none((struct id){"nobody"}, "ptx", "nothing called");
    if (can_compile()) {
        expect_text(id, "ptx?arch=sm_90a", ".target sm_90a");
        expect_text(id, "ptx?arch=sm_80", ".target sm_80");
        expect_text(id, "sass?arch=sm_90a", "ELF is read by --print-code");
        expect_text(id, "sass?arch=sm_90a", "ELF is read by --print-code");
        assert_int_equal(count_file_lines("runs"), 1); /* the second is out of the cache */
        expect_none(id, "ptx?arch=sm_1", "NVRTC for sm_1");
    } else {
        expect_none(id, "ptx?arch=sm_90a", "no compiler");
    }
    stop_daemon();
}

/* What ran on a card is of that card's architecture, and says where its texts are. */
static void of_a_job_on_a_card(void **state)
{
    (void)state;
    put_file("go", "");
    start_card();
    const struct id id = submit(",\"executor\":\"gpu\"");
    expect_end(id, "done", "", 1);
    struct answer a = fetch(id, 0);
    const char *links[] = {"links.source", "links.ptx", "links.sass"};
    for (size_t i = 0; i < 3; i++)
        assert_true(*text_at(a.json, links[i]));
    drop(&a);
    if (can_compile())
        expect_text(id, "ptx", ".target sm_90a");
    else
        expect_none(id, "ptx", "no compiler");
    stop_all();
}

static void kernel_that_is_not_there_yet(void **state)
{
    (void)state;
    start_daemon("none", "127.0.0.1:0");
    expect_none(submit(""), "ptx", "no kernel yet");
    stop_daemon();
}

static void *ask_for_ptx(void *arg)
{
    struct answer a = get_part(*(const struct id *)arg, "ptx?arch=sm_90a");
    const long status = a.status;
    drop(&a);
    return (void *)status;
}

/* A compiler that hangs holds up neither the daemon's answers nor its end, and is not left behind. */
static void compiler_hangs(void **state)
{
    (void)state;
    pthread_t threads[3];
    in_child = use_fakes;
    put_file("hang", "");
    start_daemon("cpu", "127.0.0.1:0");
    struct id id = submit("");
    expect_end(id, "done", "", 1);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, ask_for_ptx, &id);
    pid_t compiler = 0;
    for (const int64_t until = now_ms() + START_MS; !compiler && now_ms() < until; pause_ms(5))
        compiler = child_of(daemon_pid, "compile");
    assert_true(compiler > 0);
    for (int i = 0; i < 20; i++)
        expect_text(id, "source", "__global__");
    stop_daemon();
    assert_int_not_equal(kill(compiler, 0), 0);
    for (int i = 0; i < 3; i++) {
        void *status;
        pthread_join(threads[i], &status);
        assert_true((long)status == 404 || (long)status == 503 || (long)status == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(of_a_job_on_the_cpu), TEST(of_a_job_on_a_card),
                                       TEST(kernel_that_is_not_there_yet), TEST(compiler_hangs)};
    return run_suite(tests);
}
