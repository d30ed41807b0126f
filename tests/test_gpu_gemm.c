/* test_gpu_gemm.c: GEMMs: what is chosen, what is refused and how, CUDA for each architecture, and small ones verified
 * by the CPU twin.
 *
 * With LAYOUTD_TEST_EXECUTOR=gpu:0 the executor is a card's: then all of them run on it, large ones too, and a table of
 * their speed beside cuBLAS is printed. */
#include "gemm.h"
#include "gemm_card.h"
#include "gpu_executor.h"
#include "gpu_gemm_refusals.h"

#include <math.h>

static struct list list;

/* ---- plans ---- */

static void check_resolves(void **state)
{
    struct planned p, again;
    if (!plan_open(&p, *state))
        fail_msg("%s: %s", (const char *)*state, p.cx.error.message);
    cJSON *spec = gpu_plan_spec(&p.cx, p.plan);
    char *text = cJSON_PrintUnformatted(spec);
    if (!plan_open(&again, text))
        fail_msg("%s: %s", text, again.cx.error.message);
    cJSON *spec_again = gpu_plan_spec(&again.cx, again.plan);
    char *text_again = cJSON_PrintUnformatted(spec_again);
    assert_string_equal(text, text_again);
    free(text);
    free(text_again);
    cJSON_Delete(spec);
    cJSON_Delete(spec_again);
    plan_close(&p);
    plan_close(&again);
}

/* Of a plan: how A is copied, how A and B are read, and that no access to shared memory meets another in a bank. */
static const struct choice {
    const char *spec, *copy, *read_a, *read_b;
} choices[] = {
    {GEMM(F16, 4096, 4096, 4096, ""), "SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>", "SM75_U32x4_LDSM_N",
     "SM75_U32x4_LDSM_N"},
    {GEMM(F16, 4096, 4096, 4096, ",\"a\":\"(4096,4096):(1,4096)\""), "SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>",
     "SM75_U16x8_LDSM_T", "SM75_U32x4_LDSM_N"},
    {GEMM(TF32, 4096, 4096, 4096, ""), "SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>", "SM75_U32x4_LDSM_N",
     "SM75_U32x4_LDSM_N"},
    {GEMM(S8, 4096, 4096, 4096, ""), "SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>", "SM75_U32x4_LDSM_N",
     "SM75_U32x4_LDSM_N"},
    {GEMM(F64, 4096, 4096, 4096, ""), "SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>", "UniversalCopy<uint64_t>",
     "UniversalCopy<uint64_t>"},
    {GEMM(F16, 4096, 4096, 129, ""), "UniversalCopy<uint16_t>", "SM75_U32x4_LDSM_N", "SM75_U32x4_LDSM_N"},
    {GEMM(F16, 4096, 4096, 130, ""), "SM80_CP_ASYNC_CACHEALWAYS<uint32_t>", "SM75_U32x4_LDSM_N",
     "SM75_U32x4_LDSM_N"},
    {GEMM(F16, 4096, 4096, 132, ""), "SM80_CP_ASYNC_CACHEALWAYS<uint64_t>", "SM75_U32x4_LDSM_N",
     "SM75_U32x4_LDSM_N"},
    {GEMM(F64, 100, 100, 129, ""), "SM80_CP_ASYNC_CACHEALWAYS<uint64_t>", "UniversalCopy<uint64_t>",
     "UniversalCopy<uint64_t>"},
};

static void check_choice(void **state)
{
    const struct choice *c = *state;
    struct planned p;
    if (!plan_open(&p, c->spec))
        fail_msg("%s: %s", c->spec, p.cx.error.message);
    const struct gpu_gemm *g = p.plan->gemm;
    assert_string_equal(g->of[0].fill.atom.name, c->copy);
    assert_string_equal(g->of[0].read.name, c->read_a);
    assert_string_equal(g->of[1].read.name, c->read_b);
    for (int i = 0; i < 2; i++) {
        int64_t ideal, wavefronts = gpu_gemm_wavefronts(g, &g->of[i], &ideal);
        assert_int_equal(wavefronts, ideal);
        assert_int_not_equal(g->of[i].read.addressing.how, GPU_ADDRESS_FULL);
    }
    plan_close(&p);
}

/* "did you mean" and the numbers of a stage's bytes are the spec's own. */
static void check_facts(void **state)
{
    (void)state;
    struct planned p;
    assert_true(plan_open(&p, GEMM(F16, 4096, 4096, 4096, ",\"tile\":\"(128,256,64)\",\"stages\":3")));
    const struct gpu_gemm *g = p.plan->gemm;
    assert_int_equal(g->threads, 256);
    assert_int_equal(g->accumulator_words, 128);
    assert_int_equal(p.plan->shared_bytes, 3 * (128 + 256) * 64 * 2);
    assert_int_equal(p.plan->grid, 32 * 16);
    assert_int_equal(p.plan->bytes_read, 2 * 4096 * 4096 * 2);
    assert_int_equal(p.plan->bytes_written, 4096 * 4096 * 4);
    assert_int_equal(g->vector, 2);
    plan_close(&p);
}

/* ---- input and bounds ---- */

static void check_bits(void **state)
{
    (void)state;
    static const char *const types[] = {"half_t", "bfloat16_t",   "float",       "tfloat32_t",
                                        "double", "float_e4m3_t", "float_e5m2_t"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        const struct gpu_number *n = gpu_number_find(types[i]);
        const struct gpu_gemm_bits bits = gpu_gemm_bits_of(n);
        double least = INFINITY, most = 0, sum = 0;
        for (uint64_t w = 0; w < 4096; w++) {
            const uint64_t word = (gpu_random_word(9, w) & bits.keep) | bits.set;
            for (unsigned at = 0; at < 64; at += n->bits) {
                const double x = gpu_number_decode(
                    n, n->bits == 64 ? word : word >> at & ((UINT64_C(1) << n->bits) - 1));
                least = fmin(least, fabs(x));
                most = fmax(most, fabs(x));
                sum += x * x / (4096 * 64 / n->bits);
            }
        }
        assert_true(least >= 0.125 && least < 0.14 && most < 2 && most >= 1.75);
        assert_true(sum > 0.6 && sum < 0.8); /* the bound of a row counts on it */
    }
}

/* Integers allow no error; more products allow more; a bound is far below a value of D. */
static void check_bounds(void **state)
{
    (void)state;
    static const char *const specs_of[] = {GEMM(F16, 4096, 4096, 64, ""), GEMM(F16, 4096, 4096, 4096, ""),
                                           GEMM(F64, 4096, 4096, 4096, ""), GEMM(S8, 64, 64, 64, "")};
    struct gpu_gemm_bound b[4];
    for (int i = 0; i < 4; i++) {
        struct planned p;
        assert_true(plan_open(&p, specs_of[i]));
        b[i] = gpu_gemm_bound_of(p.plan->gemm);
        plan_close(&p);
    }
    assert_true(b[3].exact && !b[0].exact);
    assert_true(b[0].row > 0 && b[0].row < b[1].row);
    assert_true(b[1].row < 5 && b[2].row < 1e-6); /* a value of D is 50 */
}

/* ---- what the check finds: a plan with one thing wrong in it ---- */

struct trial {
    struct planned p;
    struct gpu_job job;
};

static void trial_run(struct la_ctx *cx, void *arg)
{
    struct trial *t = arg;
    (void)cx;
    assert_true(gpu_gemm_run_cpu(&t->job));
}

static bool verifies(const char *text, void (*spoil)(struct gpu_gemm *g))
{
    struct trial t = {0};
    if (!plan_open(&t.p, text))
        fail_msg("%s: %s", text, t.p.cx.error.message);
    t.job = (struct gpu_job){.cx = &t.p.cx,
                             .plan = t.p.plan,
                             .seed = 11,
                             .result = cJSON_CreateObject(),
                             .timings = cJSON_CreateObject()};
    if (spoil)
        spoil(t.p.plan->gemm);
    assert_true(la_try(&t.p.cx, trial_run, &t));
    const bool verified = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(t.job.result, "verified"));
    cJSON_Delete(t.job.result);
    cJSON_Delete(t.job.timings);
    plan_close(&t.p);
    return verified;
}

static void exchange(struct gpu_map map)
{
    struct gpu_mode *mode = (struct gpu_mode *)(uintptr_t)&map.modes[0];
    const int64_t stride = mode[0].stride;
    mode[0].stride = mode[1].stride;
    mode[1].stride = stride;
}

static void wrong_values_of_a(struct gpu_gemm *g)
{
    g->of[0].read.matrices = 0; /* values and rows of ldmatrix would be exchanged alike */
    g->of[0].read.whole = false;
    g->of[0].read.accesses = g->of[0].values * g->of[0].rest;
    exchange(g->of[0].value);
}

static void wrong_threads_of_b(struct gpu_gemm *g)
{
    exchange(g->of[1].thread);
}

static void wrong_rows(struct gpu_gemm *g)
{
    g->of[0].read.trans = true;
}

static void wrong_swizzle_of_reads(struct gpu_gemm *g)
{
    struct gpu_smem *smem = (struct gpu_smem *)(uintptr_t)g->of[0].smem;
    smem->swizzle.shift++; /* the reads of ldmatrix count on rows of 16 bytes, which it still keeps */
    smem->swizzle.base--;
}

static void wrong_pass(struct gpu_gemm *g)
{
    g->of[1].fill.passes[0]--; /* a part of the stage is never filled */
}

static void wrong_accumulators(struct gpu_gemm *g)
{
    exchange(g->c_value[1]);
}

static void wrong_edge(struct gpu_gemm *g)
{
    g->of[0].tensor.extent[1] -= 1; /* the last k is taken for one outside */
}

static void check_wrong_plans(void **state)
{
    (void)state;
    static void (*const spoils[])(struct gpu_gemm * g) = {
        wrong_values_of_a, wrong_threads_of_b, wrong_rows, wrong_swizzle_of_reads,
        wrong_pass,        wrong_accumulators, wrong_edge};
    static const char text[] = GEMM(F16, 100, 100, 100, ",\"tile\":\"(64,64,32)\"");
    assert_true(verifies(text, NULL));
    for (size_t i = 0; i < sizeof spoils / sizeof spoils[0]; i++)
        if (verifies(text, spoils[i]))
            fail_msg("the spoiled plan %zu is verified", i);
}

/* ---- CUDA ---- */

static void support_source(struct la_ctx *cx, void *arg)
{
    struct planned *p = arg;
    p->field = gpu_gemm_support(cx, p->plan->gemm);
}

static void compile(struct la_ctx *cx, const char *source, const char *arch, const char *text)
{
    struct gpu_cubin cubin;
    if (!gpu_compile(cx, source, arch, &cubin))
        fail_msg("%s\n  does not compile for %s: %s\n%s", text, arch, cx->error.message, cubin.log);
    if (*cubin.log)
        fail_msg("%s\n  for %s the compiler says: %s", text, arch, cubin.log);
}

/* What is compiled but not run here: offsets of 64 bits, planted faults, the instructions of large tiles. */
static const char *const compiled_only[] = {
    GEMM(F16, 64, 64, 64, ",\"a\":\"(64,64):(100000000,1)\",\"d\":\"(64,64):(1,100000000)\""),
    GEMM(F16, 100, 99, 98, ",\"beta\":1,\"c\":\"(100,99):(-100000000,1)\""),
    GEMM(F16, 64, 64, 64, ",\"plant\":\"illegal_address\""),
    GEMM(F16, 64, 64, 64, ",\"plant\":\"trap\""),
    GEMM(S8, 64, 64, 64, ",\"plant\":\"hang\""),
    GEMM(S8, 64, 64, 64, ",\"plant\":\"wrong_value\""),
    GEMM(F16, 4096, 4096, 4096, ""),
    GEMM(E4M3, 4097, 1000, 4097, ",\"beta\":1"),
};
enum { COMPILED_ONLY = sizeof compiled_only / sizeof compiled_only[0] };

static void check_compiles(void **state)
{
    static const struct {
        const char *name;
        int major, minor;
    } archs[] = {{"sm_90a", 9, 0}, {"sm_80", 8, 0}, {"sm_100a", 10, 0}};
    const char *text = *(const char *const *)*state, *version, *why;
    const bool small = (uintptr_t)*state - (uintptr_t)small_gemms < sizeof small_gemms;
    const ptrdiff_t index = (const char *const *)*state - (small ? small_gemms : compiled_only);
    struct planned p;
    if (!gpu_compiler(&version, &why))
        skip_because("no NVRTC: %s\n", why);
    assert_true(plan_open(&p, text));
    const char *source = gpu_emit(&p.cx, p.plan);
    assert_non_null(source);
    /* Each for one of the three, in turn; those that lack its instruction leave it to Hopper. */
    const size_t arch = (size_t)index % 3;
    const bool has = gpu_instruction_on(&p.cx, &p.plan->gemm->instruction, archs[arch].major,
                                        archs[arch].minor);
    compile(&p.cx, source, archs[has ? arch : 0].name, text);
    plan_close(&p);
}

static void check_support_compiles(void **state)
{
    const char *text = *state, *version, *why;
    struct planned p;
    if (!gpu_compiler(&version, &why))
        skip_because("no NVRTC: %s\n", why);
    assert_true(plan_open(&p, text));
    assert_true(la_try(&p.cx, support_source, &p));
    compile(&p.cx, p.field, "sm_90a", text);
    compile(&p.cx, p.field, "sm_80", text);
    plan_close(&p);
}

/* ---- by the executor ---- */

static double number_of(const cJSON *json, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, name);
    return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

/* On a card, a row of the table. */
static void show_speed(const cJSON *event)
{
    const cJSON *result = cJSON_GetObjectItemCaseSensitive(event, "result");
    const cJSON *spec = cJSON_GetObjectItemCaseSensitive(result, "spec");
    const cJSON *problem = cJSON_GetObjectItemCaseSensitive(spec, "problem");
    const cJSON *ceiling = cJSON_GetObjectItemCaseSensitive(result, "ceiling");
    const cJSON *checked = cJSON_GetObjectItemCaseSensitive(result, "checked");
    const cJSON *rows = cJSON_GetObjectItemCaseSensitive(checked, "freivalds");
    if (!cJSON_GetObjectItemCaseSensitive(result, "tflops"))
        return;
    printf("gemm %-38s %5.0f %5.0f %5.0f %-14s %d stages %4.0f regs %2.0f local %8.2f TFLOP/s of %8.2f = "
           "%.3f  error %.2g of bound, rows %.2g%s %s\n",
           text_of(spec, "atom"), number_of(problem, "m"), number_of(problem, "n"), number_of(problem, "k"),
           text_of(spec, "tile"), (int)number_of(spec, "stages"), number_of(result, "registers"),
           number_of(result, "local_bytes"), number_of(result, "tflops"), number_of(ceiling, "cublas_tflops"),
           number_of(result, "fraction"), number_of(checked, "of_bound"),
           number_of(rows, "greatest_error") / fmax(number_of(rows, "bound"), 1e-300),
           cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(result, "implausible")) ? "  IMPLAUSIBLE" : "",
           text_of(ceiling, "why"));
    fflush(stdout);
}

static void check_gemm(void **state)
{
    const char *text = *(const char *const *)*state;
    cJSON *event = ask_verified(text);
    const cJSON *result = cJSON_GetObjectItemCaseSensitive(event, "result");
    assert_non_null(strstr(text_of(result, "source"), "__global__"));
    assert_true(number_of(cJSON_GetObjectItemCaseSensitive(result, "checked"), "of_bound") <= 1);
    assert_false(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(result, "implausible")));
    show_speed(event);
    cJSON_Delete(event);
}

static void check_planted(void **state)
{
    (void)state;
    static const char *const planted[] = {
        GEMM(F16, 129, 100, 129, ",\"plant\":\"wrong_value\""),
        GEMM(S8, 64, 64, 64, ",\"plant\":\"wrong_value\""),
        GEMM(F64, 64, 100, 64, ",\"plant\":\"wrong_value\",\"beta\":1"),
        GEMM(F16_SUM, 100, 64, 64, ",\"plant\":\"wrong_value\""),
    };
    for (size_t i = 0; i < sizeof planted / sizeof planted[0]; i++) {
        cJSON *event = executor_ask(&executor, planted[i]);
        const cJSON *result = cJSON_GetObjectItemCaseSensitive(event, "result");
        if (!cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(result, "verified")))
            fail_msg("%s: the planted value is not found", planted[i]);
        const cJSON *mismatch = cJSON_GetObjectItemCaseSensitive(result, "mismatch");
        const cJSON *problem = cJSON_GetObjectItemCaseSensitive(
            cJSON_GetObjectItemCaseSensitive(result, "spec"), "problem");
        char where[64];
        snprintf(where, sizeof where, "(%d,%d)", (int)number_of(problem, "m") / 2,
                 (int)number_of(problem, "n") / 2);
        assert_string_equal(text_of(mismatch, "coordinate"), where);
        assert_string_not_equal(text_of(mismatch, "expected"), text_of(mismatch, "got"));
        cJSON_Delete(event);
    }
}

/* The twin goes lane by lane: a large problem is refused with the number, before it is run. */
static void check_too_large(void **state)
{
    (void)state;
    static const char spec[] = GEMM(F16, 4096, 4096, 4096, "");
    if (strcmp(executor_name(), "cpu") != 0)
        skip_because("a card runs it\n");
    cJSON *event = executor_ask(&executor, spec);
    const cJSON *failure = cJSON_GetObjectItemCaseSensitive(event, "failure");
    assert_string_equal(text_of(failure, "kind"), "user_error");
    assert_string_equal(text_of(failure, "field"), "problem");
    assert_non_null(strstr(text_of(failure, "message"), "68719476736 multiply-adds"));
    assert_non_null(strstr(text_of(failure, "message"), "134217728 at most"));
    cJSON_Delete(event);
}

/* ---- all of them ---- */

static void add_plan_tests(void)
{
    add(&list, "facts of a plan", check_facts, NULL);
    add(&list, "random bits are values of a type", check_bits, NULL);
    add(&list, "bounds", check_bounds, NULL);
    add(&list, "a wrong plan is found", check_wrong_plans, NULL);
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++)
        add(&list, choices[i].spec, check_choice, &choices[i]);
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
        add(&list, refusals[i].spec, check_refusal, &refusals[i]);
    for (int i = 0; i < SMALL_GEMMS; i++)
        add(&list, small_gemms[i], check_resolves, small_gemms[i]);
    for (int i = 0; i < LARGE_GEMMS; i++)
        add(&list, large_gemms[i], check_resolves, large_gemms[i]);
    run_group("plans", &list, NULL, NULL);
    for (int i = 0; i < SMALL_GEMMS; i++)
        add(&list, small_gemms[i], check_compiles, &small_gemms[i]);
    for (int i = 0; i < COMPILED_ONLY; i++)
        add(&list, compiled_only[i], check_compiles, &compiled_only[i]);
    add(&list, "checking kernels, " F16, check_support_compiles, small_gemms[0]);
    add(&list, "checking kernels, " S8, check_support_compiles, GEMM(S8, 1, 1, 1, ""));
    add(&list, "checking kernels, " F64, check_support_compiles, GEMM(F64, 1, 1, 1, ""));
    add(&list, "checking kernels, " E4M3, check_support_compiles, GEMM(E4M3, 1, 1, 1, ""));
    add(&list, "checking kernels, " F16_SUM, check_support_compiles, GEMM(F16_SUM, 1, 1, 1, ""));
    run_group("CUDA", &list, NULL, NULL);
}

/* A cache of its own, unless one is given: what the compiler says is heard. */
static char folder[] = "/tmp/layoutd-test-gemm-XXXXXX";

static bool own_cache(void)
{
    if (!getenv("LAYOUTD_CACHE"))
        return mkdtemp(folder) && setenv("LAYOUTD_CACHE", folder, 1) == 0;
    folder[0] = 0;
    return true;
}

/* --specs: print the specs, a line each, for other ways of running them. */
int main(int argc, char **argv)
{
    const bool card = strcmp(executor_name(), "cpu") != 0, print = argc > 1 && !strcmp(argv[1], "--specs");
    for (int i = 0; print && i < SMALL_GEMMS; i++)
        puts(small_gemms[i]);
    if (print)
        return 0;
    if (!own_cache())
        return 1;
    if (!card)
        add_plan_tests();
    for (int i = 0; i < SMALL_GEMMS; i++)
        add(&list, small_gemms[i], check_gemm, &small_gemms[i]);
    for (int i = 0; card && i < LARGE_GEMMS; i++)
        add(&list, large_gemms[i], check_gemm, &large_gemms[i]);
    add(&list, "a planted wrong value is found", check_planted, NULL);
    add(&list, "a problem too large for the CPU", check_too_large, NULL);
    run_group("executor", &list, start_executor, end_executor);
    folder_remove(folder);
    return report(&list);
}
