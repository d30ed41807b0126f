/* test_gpu_executor.c: the executor process over its pipes: every spec verified, faults planted, lines that
 * are no jobs.
 *
 * With LAYOUTD_TEST_EXECUTOR=gpu:0 the executor is a card's: the same specs are then verified on it. */
#include "gpu_executor.h"

static const char plant_base[] = SPEC("float", "float", "(8,8):(8,1)", "(1,4):(0,1)", "(64,64):(64,1)",
                                      "(64,64):(1,64)", ",\"plant\":\"%s\"");

static cJSON *ask_planted(struct executor *e, const char *plant)
{
    char spec[500];
    snprintf(spec, sizeof spec, plant_base, plant);
    return executor_ask(e, spec);
}

static void check_wrong_value(void **state)
{
    (void)state;
    cJSON *event = ask_planted(&executor, "wrong_value");
    const cJSON *result = cJSON_GetObjectItemCaseSensitive(event, "result");
    assert_true(cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(result, "verified")));
    const cJSON *mismatch = cJSON_GetObjectItemCaseSensitive(result, "mismatch");
    assert_string_equal(text_of(mismatch, "coordinate"), "(0,0)");
    assert_string_not_equal(text_of(mismatch, "expected"), text_of(mismatch, "got"));
    cJSON_Delete(event);
}

static const char refused[] = SPEC("half_t", "uint128_t", "(32,8):(8,1)", "(8,1):(1,0)", "(256,256):(256,1)",
                                   "(256,256):(256,1)", "");

static void check_user_error(void **state)
{
    (void)state;
    cJSON *event = executor_ask(&executor, refused);
    const cJSON *failure = cJSON_GetObjectItemCaseSensitive(event, "failure");
    assert_string_equal(text_of(event, "event"), "failed");
    assert_string_equal(text_of(failure, "kind"), "user_error");
    assert_string_equal(text_of(failure, "field"), "val");
    assert_non_null(strstr(text_of(failure, "message"), "stride there is 256"));
    assert_true(cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(event, "fatal")));
    cJSON_Delete(event);
}

/* A fault ends the executor, one way or the other; a new one is well. */
static void check_fault(void **state)
{
    struct executor e = executor_start(executor_name());
    cJSON_Delete(executor_hear(&e, ANSWER_MS));
    cJSON *event = ask_planted(&e, *state);
    if (event) { /* a kernel's fault, told by CUDA */
        assert_string_equal(text_of(event, "event"), "failed");
        assert_string_equal(text_of(cJSON_GetObjectItemCaseSensitive(event, "failure"), "kind"),
                            "kernel_fault");
        assert_true(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(event, "fatal")));
    }
    cJSON_Delete(event);
    const int status = executor_end(&e);
    assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) != 0);
}

static void check_hang(void **state)
{
    (void)state;
    struct executor e = executor_start(executor_name());
    char spec[500];
    cJSON_Delete(executor_hear(&e, ANSWER_MS));
    snprintf(spec, sizeof spec, plant_base, "hang");
    executor_say(&e, spec);
    cJSON *event = executor_hear(&e, ANSWER_MS);
    while (event) {
        assert_string_not_equal(text_of(event, "event"), "result");
        cJSON_Delete(event);
        event = executor_hear(&e, 1000);
    }
    kill(e.pid, SIGKILL);
    assert_true(WIFSIGNALED(executor_end(&e)));
}

/* A machine without a GPU says why; one with a GPU is ready. */
static void check_gpu_opens(void **state)
{
    (void)state;
    struct executor e = executor_start("gpu:0");
    cJSON *event = executor_hear(&e, ANSWER_MS);
    assert_non_null(event);
    const bool ready = !strcmp(text_of(event, "event"), "ready");
    if (!ready)
        assert_true(strlen(text_of(event, "reason")) > 0);
    cJSON_Delete(event);
    const int status = executor_end(&e);
    assert_int_equal(WEXITSTATUS(status), ready ? 0 : 3);
}

static void check_bad_lines(void **state)
{
    (void)state;
    static const char bad[] = "this is not JSON\n{\"job\":\"1\"}\n[]\n";
    assert_int_equal(write(executor.in, bad, sizeof bad - 1), sizeof bad - 1);
    for (int i = 0; i < 3; i++) {
        cJSON *event = executor_hear(&executor, ANSWER_MS);
        assert_string_equal(text_of(event, "event"), "failed");
        assert_string_equal(text_of(cJSON_GetObjectItemCaseSensitive(event, "failure"), "kind"), "infra");
        cJSON_Delete(event);
    }
}

/* --specs: print the specs, a line each, for other ways of running them. */
int main(int argc, char **argv)
{
    static struct list list;
    const bool print = argc > 1 && !strcmp(argv[1], "--specs");
    draw_specs(argc - print, argv + print);
    for (int i = 0; print && i < SPECS; i++)
        puts(specs[i]);
    if (print)
        return 0;
    for (int i = 0; i < SPECS; i++)
        add(&list, specs[i], check_verified, &specs[i]);
    add(&list, "a wrong value is found", check_wrong_value, NULL);
    add(&list, "a refusal", check_user_error, NULL);
    add(&list, "lines that are no jobs", check_bad_lines, NULL);
    add(&list, "plant: segfault", check_fault, "segfault");
    add(&list, "plant: trap", check_fault, "trap");
    add(&list, "plant: illegal_address", check_fault, "illegal_address");
    add(&list, "plant: hang", check_hang, NULL);
    add(&list, "the GPU executor opens or says why not", check_gpu_opens, NULL);
    add(&list, "a job after all these", check_verified, &specs[0]);
    run_group("executor", &list, start_executor, end_executor);
    return report(&list);
}
