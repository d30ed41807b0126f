/* test_gpu_others.c: other processes on the card, with an NVML that is played here. */
#include "others.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static unsigned pids[400];
static unsigned count;
static int status;

static int list_pids(struct nvmlDevice *device, unsigned *n, struct gpu_nvml_process *out)
{
    const unsigned room = *n;
    (void)device;
    *n = count;
    if (status)
        return status;
    if (count > room)
        return 7;
    for (unsigned i = 0; i < count; i++)
        out[i] = (struct gpu_nvml_process){.pid = pids[i]};
    return 0;
}

static void set(unsigned n, const unsigned *list)
{
    count = n;
    status = 0;
    memcpy(pids, list, n * sizeof *list);
}
#define SET(...) set(sizeof((unsigned[]){__VA_ARGS__}) / sizeof(unsigned), (unsigned[]){__VA_ARGS__})

static const struct gpu_nvml nvml = {.processes = list_pids};

/* By its own number, as it is without a container. */
static void by_its_number(void **state)
{
    (void)state;
    struct gpu_others o;
    SET(900, 901);
    gpu_others_begin(&o, &nvml, NULL);
    SET(900, 901, 4711, 902);
    gpu_others_find_self(&o, 4711);
    assert_int_equal(gpu_others_count(&o), 3);
    SET(4711);
    assert_int_equal(gpu_others_count(&o), 0);
    SET(4711, 5);
    assert_int_equal(gpu_others_count(&o), 1);
}

/* In a container its number there is another: who came with the context is this process. */
static void by_its_coming(void **state)
{
    (void)state;
    struct gpu_others o;
    SET(900);
    gpu_others_begin(&o, &nvml, NULL);
    SET(31337, 900);
    gpu_others_find_self(&o, 17);
    assert_int_equal(gpu_others_count(&o), 1);
    SET(31337);
    assert_int_equal(gpu_others_count(&o), 0);
}

/* Another has this process's number in its own container, and was there before. */
static void number_of_another(void **state)
{
    (void)state;
    struct gpu_others o;
    SET(17);
    gpu_others_begin(&o, &nvml, NULL);
    SET(17, 500);
    gpu_others_find_self(&o, 17);
    assert_int_equal(o.self, 500);
    assert_int_equal(gpu_others_count(&o), 1);
}

static void expect_unknown(struct gpu_others *o, const char *words)
{
    assert_int_equal(gpu_others_count(o), -1);
    if (!strstr(o->why, words))
        fail_msg("%s", o->why);
}

/* Nothing is claimed where NVML shows not even this process, or two that came at the same time. */
static void not_known(void **state)
{
    (void)state;
    struct gpu_others o;
    count = 0;
    status = 0;
    gpu_others_begin(&o, &nvml, NULL);
    gpu_others_find_self(&o, 17);
    expect_unknown(&o, "does not show this process");
    SET(5, 6);
    gpu_others_find_self(&o, 17);
    expect_unknown(&o, "does not show this process");
    status = 3;
    expect_unknown(&o, "error 3");
    gpu_others_begin(&o, &(struct gpu_nvml){.processes = NULL}, NULL);
    expect_unknown(&o, "too old");
    gpu_others_begin(&o, NULL, NULL);
    gpu_others_find_self(&o, 17);
    expect_unknown(&o, "not on this machine");
}

/* More than there is room for: none is lost in the count, and none is written beyond it. */
static void too_many(void **state)
{
    (void)state;
    struct gpu_others o;
    SET(900);
    gpu_others_begin(&o, &nvml, NULL);
    SET(900, 17);
    gpu_others_find_self(&o, 17);
    count = 400;
    assert_int_equal(gpu_others_count(&o), 399);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_its_number), cmocka_unit_test(by_its_coming),
                                       cmocka_unit_test(number_of_another), cmocka_unit_test(not_known),
                                       cmocka_unit_test(too_many)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL), all = (int)(sizeof tests / sizeof *tests);
    printf("%d passed, %d failed\n", all - failed, failed);
    return failed != 0;
}
