/* test_compile.c: kernels are compiled in a process of their own: ahead, while another job runs; or for the job that
 * waits, which may take too long. No card is needed: tests/fake.c plays its executor, the compiler is the real one. */
#include "daemon.h"
#include "../gpu/internal.h" /* core has one, too */

#define ON_GPU ",\"executor\":\"gpu\""

static int count_kernels(void)
{
    char path[300];
    int count = 0;
    snprintf(path, sizeof path, "%s/cache", folder);
    DIR *dir = opendir(path);
    for (const struct dirent *entry; dir && (entry = readdir(dir));)
        count += strstr(entry->d_name, ".cubin") && !strstr(entry->d_name, ".cubin.");
    if (dir)
        closedir(dir);
    return count;
}

static void expect_kernels(int count)
{
    const int64_t until = now_ms() + START_MS;
    while (count_kernels() < count && now_ms() < until)
        pause_ms(5);
    assert_int_equal(count_kernels(), count);
}

/* The kernel of a spec, as an executor will look for it, is there. */
static void expect_cached(const char *text)
{
    char path[300];
    struct la_ctx cx = {.arena = la_arena_new(64 << 20)};
    cJSON *spec = cJSON_Parse(text);
    const char *field;
    struct gpu_plan *plan;
    struct gpu_cubin cubin;
    snprintf(path, sizeof path, "%s/cache", folder);
    setenv("LAYOUTD_CACHE", path, 1);
    assert_true(gpu_plan_make(&cx, spec, &plan, &field));
    assert_true(gpu_compile_cached(&cx, gpu_emit(&cx, plan), "sm_90a", &cubin));
    cJSON_Delete(spec);
    la_arena_free(cx.arena);
}

/* ---- */

/* The second job is compiled before the first has ended; it stays queued, and nobody has a lease on it. */
static void next_one_compiles(void **state)
{
    (void)state;
    if (!can_compile())
        skip();
    start_card();
    const struct id first = submit(ON_GPU);
    expect_state(first, "running");
    pause_ms(700); /* a heartbeat that tells of nothing */
    assert_int_equal(count_kernels(), 0);
    const struct id second = submit(ON_GPU ",\"unroll\":2"), third = submit(ON_GPU ",\"unroll\":4");
    expect_kernels(1);
    expect_cached("{" COPY ",\"unroll\":2}");
    expect_state(first, "running");
    expect_state(second, "queued");
    assert_int_equal(count_events(second, "leased"), 0);
    put_file("go", "");
    expect_end(first, "done", "", 1);
    expect_end(second, "done", "", 1);
    expect_end(third, "done", "", 1);
    stop_all();
}

/* A hint that never comes to an end holds up nobody: the job that it was for is compiled by another process. */
static void hint_that_hangs(void **state)
{
    (void)state;
    if (!can_compile())
        skip();
    put_file("hang", "");
    start_card();
    const struct id first = submit(ON_GPU), second = submit(ON_GPU ",\"unroll\":2");
    const int64_t until = now_ms() + START_MS;
    while (!child_of(worker_pid, "compile") && now_ms() < until)
        pause_ms(5);
    assert_true(child_of(worker_pid, "compile") > 0);
    assert_int_equal(kill(child_of(worker_pid, "compile"), SIGSTOP), 0); /* and not even SIGTERM ends it */
    const struct id other = submit(ON_GPU ",\"seed\":5");
    put_file("go", "");
    expect_end(first, "done", "", 1);
    expect_end(second, "done", "", 1);
    remove_file("hang");
    expect_end(other, "done", "", 1);
    stop_all();
}

static pid_t executor_of(struct id id)
{
    struct answer a = fetch(id, END_S);
    const pid_t pid = (pid_t)cJSON_GetNumberValue(at(a.json, "result.process"));
    drop(&a);
    return pid;
}

/* The job's own compiler is killed when its budget is over, and the executor is still the same. */
static void compiles_for_ever(void **state)
{
    (void)state;
    start_card();
    put_file("go", "");
    const struct id before = submit(ON_GPU);
    expect_end(before, "done", "", 1);
    put_file("hang", "");
    const int64_t begun = now_ms();
    const struct id late = submit(ON_GPU ",\"seed\":1,\"budget\":{\"compile_ms\":300}");
    expect_end(late, "failed", "timeout_compile", 1);
    print_message("a compiler that hangs: the job failed after %lld ms\n", (long long)(now_ms() - begun));
    assert_int_equal(child_of(worker_pid, "compile"), 0);
    const struct id cancelled = submit(ON_GPU ",\"seed\":2");
    expect_state(cancelled, "compiling");
    while (!child_of(worker_pid, "compile"))
        pause_ms(5);
    assert_int_equal(cancel(cancelled), 202);
    expect_end(cancelled, "cancelled", "", 1);
    assert_int_equal(child_of(worker_pid, "compile"), 0);
    remove_file("hang");
    const struct id after = submit(ON_GPU ",\"unroll\":2");
    expect_end(after, "done", "", 1);
    assert_int_equal(executor_of(after), executor_of(before));
    stop_all();
}

/* A compiler that dies fails its job alone. */
static void compiler_dies(void **state)
{
    (void)state;
    start_card();
    put_file("go", "");
    put_file("hang", "");
    const struct id id = submit(ON_GPU ",\"seed\":1");
    pid_t compiler = 0;
    for (const int64_t until = now_ms() + START_MS; !compiler && now_ms() < until;)
        compiler = child_of(worker_pid, "compile");
    assert_true(compiler > 0);
    assert_int_equal(kill(compiler, SIGKILL), 0);
    expect_end(id, "failed", "infra", 1);
    remove_file("hang");
    expect_end(submit(ON_GPU), "done", "", 1);
    stop_all();
}

/* The executor waits for a kernel that it asked for, and goes on with it. */
static void compiled_on_demand(void **state)
{
    (void)state;
    if (!can_compile())
        skip();
    start_card();
    put_file("go", "");
    const struct id id = submit(ON_GPU ",\"seed\":1");
    expect_end(id, "done", "", 1);
    assert_int_equal(count_kernels(), 1);
    char path[64];
    snprintf(path, sizeof path, "/jobs/%s/source", id.text);
    struct answer a = request("GET", path, NULL, NULL);
    assert_string_equal(a.text, "extern \"C\" __global__ void copy() {}");
    drop(&a);
    a = fetch(id, 0);
    assert_null(at(a.json, "result.source"));
    drop(&a);
    stop_all();
}

/* What happens while the daemon is away is told to the next one, once: the kernel's text, too. */
static void daemon_away_meanwhile(void **state)
{
    (void)state;
    if (!can_compile())
        skip();
    start_card();
    expect_end((put_file("go", ""), submit(ON_GPU)), "done", "", 1); /* the worker is there */
    remove_file("go");
    put_file("hang", "");
    const struct id id = submit(ON_GPU ",\"seed\":1");
    while (!child_of(worker_pid, "compile"))
        pause_ms(5);
    end(&daemon_pid, SIGKILL);
    remove_file("hang");
    expect_kernels(1);
    pause_ms(300); /* it runs by now, and nobody listens */
    start_daemon("none", url + strlen("http://"));
    expect_state(id, "running");
    put_file("go", "");
    expect_end(id, "done", "", 1);
    assert_int_equal(count_events(id, "running"), 1);
    assert_int_equal(count_events(id, "done"), 1);
    char path[64];
    snprintf(path, sizeof path, "/jobs/%s/source", id.text);
    struct answer a = request("GET", path, NULL, NULL);
    assert_string_equal(a.text, "extern \"C\" __global__ void copy() {}");
    drop(&a);
    stop_all();
}

/* A kernel of four million templates does not keep a processor for longer than its job may compile. */
static void processor_time_is_limited(void **state)
{
    (void)state;
    static const char request_line[] = "{\"arch\":\"sm_90a\",\"limit_ms\":1,\"source\":\"template <int A, "
                                       "int B> struct F { enum { v = F<A - 1, "
                                       "2 * B>::v + F<A - 1, 2 * B + 1>::v }; }; template <int B> struct "
                                       "F<0, B> { enum { v = B & 1 }; }; extern "
                                       "\\\"C\\\" __global__ void copy(int *a) { *a = F<22, 1>::v; }\"}\n";
    char *argv[] = {"layoutd-worker", "compile", NULL};
    int in[2], status;
    if (!can_compile())
        skip();
    assert_int_equal(pipe(in), 0);
    assert_int_equal(write(in[1], request_line, strlen(request_line)), strlen(request_line));
    const int own = dup(STDIN_FILENO);
    dup2(in[0], STDIN_FILENO);
    const pid_t pid = spawn("layoutd-worker", "compile.log", argv);
    dup2(own, STDIN_FILENO);
    close(own);
    close(in[0]);
    close(in[1]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGXCPU);
}

/* ---- the executor's half ------------------------------------------------------------------------------------ */

/* Have a kernel compiled with a parent that gives this answer (NULL: that compiles nothing); what was asked of it. */
static cJSON *ask_parent(const char *source, const char *answer, bool *ok, struct gpu_job *job,
                         struct gpu_cubin *cubin)
{
    char *asked = NULL;
    size_t size;
    struct la_ctx cx = {.arena = la_arena_new(64 << 20)};
    *job = (struct gpu_job){.cx = &cx, .id = "17", .source = source, .out = open_memstream(&asked, &size)};
    job->compiler = answer ? fmemopen((char *)answer, strlen(answer) + 1, "r") : NULL;
    *ok = gpu_job_compile(job, "sm_90a", cubin);
    fclose(job->out);
    if (job->compiler)
        fclose(job->compiler);
    la_arena_free(cx.arena);
    cJSON *line = cJSON_Parse(asked);
    free(asked);
    return line;
}

/* What is in the cache asks nobody; what is not waits for the answer, and a refusal is the job's failure. */
static void executor_asks(void **state)
{
    (void)state;
    static const char source[] = "extern \"C\" __global__ void copy(int *to) { *to = 1; }";
    static const char compiled[] = "{\"event\":\"compiled\"}\n";
    struct gpu_job job;
    struct gpu_cubin cubin;
    char cache[300];
    bool ok;
    snprintf(cache, sizeof cache, "%s/cache", folder);
    setenv("LAYOUTD_CACHE", cache, 1);
    cJSON *asked = ask_parent(source, "{\"event\":\"failed\",\"message\":\"too slow\"}\n", &ok, &job, &cubin);
    assert_string_equal(text_at(asked, "event"), "compile");
    assert_string_equal(text_at(asked, "job"), "17");
    assert_string_equal(text_at(asked, "source"), source);
    assert_false(ok);
    assert_int_equal(job.failure.kind, GPU_INFRA);
    assert_string_equal(job.failure.message, "too slow");
    cJSON_Delete(asked);
    cJSON_Delete(ask_parent(source, "", &ok, &job, &cubin)); /* the parent is gone */
    assert_false(ok);
    if (!can_compile())
        skip();
    asked = ask_parent(source, compiled, &ok, &job, &cubin); /* where its cache is not this one */
    assert_non_null(asked);
    assert_true(ok && !cubin.cached);
    cJSON_Delete(asked);
    asked = ask_parent(source, "{\"event\":\"failed\"}\n", &ok, &job, &cubin);
    assert_null(asked);
    assert_true(ok && cubin.cached);
}

/* ---- the daemon's half -------------------------------------------------------------------------------------- */

/* Workers on the CPU have nothing to compile, and are told of nothing. */
static void no_hint_for_cpus(void **state)
{
    (void)state;
    cJSON *me, *leased, *heard;
    char body[256], path[128];
    static const char *const kinds[] = {"cpu", "gpu"};
    start_daemon("none", "127.0.0.1:0");
    for (int gpu = 0; gpu < 2; gpu++) {
        snprintf(body, sizeof body, "{\"name\":\"me-%s\",\"executor\":\"%s\"}", kinds[gpu], kinds[gpu]);
        assert_int_equal(tell("/worker/register", WORKER_TOKEN, body, &me), 200);
        snprintf(path, sizeof path, ",\"executor\":\"%s\",\"fresh\":true", kinds[gpu]);
        const struct id first = submit(path), second = submit(path);
        snprintf(body, sizeof body, "{\"worker\":\"%s\"}", text_at(me, "worker"));
        assert_int_equal(tell("/worker/lease", WORKER_TOKEN, body, &leased), 200);
        assert_string_equal(text_at(leased, "job"), first.text);
        snprintf(path, sizeof path, "/worker/jobs/%s/event", first.text);
        snprintf(body, sizeof body, "{\"lease\":\"%s\",\"next\":\"\"}", text_at(leased, "lease"));
        assert_int_equal(tell(path, WORKER_TOKEN, body, &heard), 200);
        assert_string_equal(text_at(heard, "next.job"), gpu ? second.text : "");
        assert_int_equal(cJSON_IsObject(at(heard, "next.spec")), gpu);
        cJSON_Delete(heard);
        snprintf(body, sizeof body, "{\"lease\":\"%s\",\"next\":\"%s\"}", text_at(leased, "lease"),
                 second.text);
        assert_int_equal(tell(path, WORKER_TOKEN, body, &heard), 200);
        assert_null(at(heard, "next")); /* it knows that one */
        cJSON_Delete(heard);
        cJSON_Delete(leased);
        cJSON_Delete(me);
    }
    stop_daemon();
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(next_one_compiles),         TEST(hint_that_hangs),
                                       TEST(compiles_for_ever),         TEST(compiler_dies),
                                       TEST(compiled_on_demand),        TEST(daemon_away_meanwhile),
                                       TEST(processor_time_is_limited), TEST(executor_asks),
                                       TEST(no_hint_for_cpus)};
    return run_suite(tests);
}
