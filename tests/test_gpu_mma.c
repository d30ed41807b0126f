/* test_gpu_mma.c: the check of MMA partitions: plans, refusals, and every atom with its layouts and
 * permutations run by the executor.
 *
 * With LAYOUTD_TEST_EXECUTOR=gpu:0 the executor is a card's: all that an H200 has is then checked on it. */
#include "gpu_executor.h"
#include "gpu_mma_specs.h"

#define MMA(atom, more) "{\"kind\":\"mma\",\"atom\":\"" atom "\"" more "}"
#define F16 "SM80_16x8x16_F32F16F16F32_TN"

static struct mma_specs mma_specs; /* all that the executor takes */

/* ---- plans ---- */

static void check_facts(void **state)
{
    (void)state;
    struct planned p;
    assert_true(plan_open(&p, MMA(F16, ",\"atom_layout\":\"(2,2,1)\",\"permutation\":\"(32,32,16)\"")));
    const struct gpu_mma *m = p.plan->mma;
    assert_int_equal(p.plan->kind, GPU_MMA);
    assert_true(m->tile[0] == 32 && m->tile[1] == 32 && m->tile[2] == 16);
    assert_int_equal(m->threads, 128);
    assert_int_equal(m->part[LA_A].values, 8);
    assert_int_equal(m->part[LA_B].values, 8);
    assert_int_equal(m->part[LA_C].values, 8);
    assert_int_equal(p.plan->bytes_read, 2 * 32 * 16 + 2 * 32 * 16 + 4 * 32 * 32);
    cJSON *facts = gpu_plan_facts(&p.cx, p.plan);
    assert_string_equal(text_of(facts, "instruction"), "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
    /* what CuTe prints for get_layoutC_TV of this TiledMMA */
    assert_string_equal(text_of(cJSON_GetObjectItemCaseSensitive(facts, "C"), "tv"),
                        "((4,8,2,2),((2,2),(1,2))):((64,1,16,256),((32,8),(0,512)))");
    assert_true(cJSON_GetObjectItemCaseSensitive(facts, "flops")->valuedouble == 2.0 * 32 * 32 * 16);
    cJSON_Delete(facts);
    plan_close(&p);
}

/* A resolved spec is a spec, and resolves to itself. */
static void check_resolves(void **state)
{
    (void)state;
    for (int i = 0; i < mma_specs.count; i += 7) {
        struct planned p, q;
        assert_true(plan_open(&p, mma_specs.text[i]));
        cJSON *once = gpu_plan_spec(&p.cx, p.plan);
        char *text = cJSON_PrintUnformatted(once);
        if (!plan_open(&q, text))
            fail_msg("%s\n  is refused: %s", text, q.cx.error.message);
        cJSON *again = gpu_plan_spec(&q.cx, q.plan);
        assert_true(cJSON_Compare(once, again, true));
        cJSON_Delete(once);
        cJSON_Delete(again);
        cJSON_free(text);
        plan_close(&p);
        plan_close(&q);
    }
}

static const struct mma_refusal {
    const char *spec, *field, *says;
} refusals[] = {
    {MMA("SM80_16x8x16_F32F16F16F23_TN", ""), "atom", "did you mean '" F16 "'"},
    {MMA("UniversalCopy<uint128_t>", ""), "atom", "UniversalCopy<uint128_t> is a copy"},
    {MMA("make_tiled_mma(SM61_DP4A{})", ""), "atom", "of kind tiled_mma"},
    {MMA(F16, ",\"atom_layout\":\"(16,16,1)\""), "atom_layout",
     "256 atoms of 32 threads are 8192 threads, more than the 1024"},
    {MMA(F16, ",\"atom_layout\":\"(0,1,1)\""), "atom_layout", "0 atoms along a mode"},
    {MMA(F16, ",\"atom_layout\":\"(2,2,2,2)\""), "atom_layout", "has 4 modes"},
    {MMA(F16, ",\"atom_layout\":\"(2,1,1):(0,0,0)\""), "atom_layout",
     "two atoms have the same threads, 0 among them"},
    {MMA("SM61_DP4A", ",\"atom_layout\":\"(2,2,_1)\",\"integers\":\"cute\""), "atom_layout",
     "must be static"},
    {MMA(F16, ",\"permutation\":\"(24,_,_)\""), "permutation",
     "24 along M, no multiple of the 16 of 1 atoms of 16"},
    {MMA(F16, ",\"atom_layout\":\"(4,1,1)\",\"permutation\":\"(32,_,_)\""), "permutation",
     "32 along M, no multiple of the 64 of 4 atoms of 16"},
    {MMA(F16, ",\"permutation\":\"((16,2):(1,1),_,_)\""), "permutation", "is not injective"},
    {MMA(F16, ",\"permutation\":\"(16:2,_,_)\""), "permutation",
     "16 values a thread, but 1x1 instructions of 8"},
    {MMA(F16, ",\"permutation\":\"16\""), "permutation", "of kind int"},
    {MMA(F16, ",\"permutation\":\"(_,_,_,_)\""), "permutation", "has 4"},
    {MMA("SM61_DP4A", ",\"permutation\":\"(4096,4096,_)\""), "permutation",
     "C of the tile has 16777216 elements"},
    {MMA("SM90_64x64x16_F32F16F16_RS<GMMA::Major::MN,GMMA::Major::K>", ""), "atom", "must be GMMA::Major::K"},
    {MMA("SM90_64x64x32_F32E4M3E4M3_SS_TN<GMMA::Major::MN,GMMA::Major::K>", ""), "atom",
     "operands of 8 bits lie along K"},
    {MMA("SM90_64x256x16_F32F16F16_SS<GMMA::Major::K,GMMA::Major::K>", ",\"atom_layout\":\"(2,2,1)\""),
     "atom_layout", "512 threads have 128 registers each, but one instruction takes 159"},
    {MMA("SM61_DP2A", ""), "atom", "SM61_DP2A is not run here"},
    {MMA("SM90::GMMA::SPARSE::GMMA_64x64x32_F32F16F16_SS<GMMA::Major::K,GMMA::Major::K>", ""), "atom",
     "tensor E"},
    {MMA("SM100_MMA_F16BF16_SS<half_t,half_t,float,128,128,UMMA::Major::K,UMMA::Major::K>", ""), "atom",
     "tensor memory"},
    {MMA("SM120::BLOCKSCALED::SM120_16x8x32_TN_VS<float_e4m3_t,float_e4m3_t,float,float_ue8m0_t,32>", ""),
     "atom", "scales"},
    {MMA("UniversalFMA<half_t,float>", ""), "atom", "float does not become half_t without loss"},
    {MMA("UniversalFMA<int8_t>", ""), "atom", "not int8_t and int8_t"},
    {MMA(F16, ",\"thr\":\"(8,4)\""), "thr", "an mma has no field 'thr'"},
    {MMA(F16, ",\"atom_layuot\":\"(1,1,1)\""), "atom_layuot", "did you mean 'atom_layout'"},
    {"{\"kind\":\"mma\"}", "atom", "an mma needs the field 'atom'"},
};

static void check_refused(void **state)
{
    const struct mma_refusal *r = *state;
    struct planned p;
    if (plan_open(&p, r->spec))
        fail_msg("%s\n  is not refused", r->spec);
    if (strcmp(p.field, r->field) != 0 || !strstr(p.cx.error.message, r->says))
        fail_msg("%s\n  in '%s': %s", r->spec, p.field, p.cx.error.message);
    plan_close(&p);
}

/* Which cards have an instruction: told by name, with both capabilities. */
static void check_cards(void **state)
{
    (void)state;
    static const struct {
        const char *atom;
        int major, minor;
        const char *says; /* NULL: it has it */
    } cases[] = {
        {F16, 9, 0, NULL},
        {F16, 7, 5, F16 " needs compute capability 8.0 or more; this card has 7.5"},
        {"SM90_64x64x16_F32F16F16_SS<GMMA::Major::K,GMMA::Major::K>", 9, 0, NULL},
        {"SM90_64x64x16_F32F16F16_SS<GMMA::Major::K,GMMA::Major::K>", 10, 0, "9.0 itself"},
        {"SM90_16x8x16_F64F64F64F64_TN", 8, 0, "9.0 or more; this card has 8.0"},
        {"SM89_16x8x32_F32E4M3E4M3F32_TN", 8, 6, "8.9 or more"},
        {"SM120_16x8x32_TN<float_e4m3_t,float_e2m1_t,float>", 9, 0, "12.0 to 12.1; this card has 9.0"},
        {"SM120_16x8x32_TN<float_e4m3_t,float_e2m1_t,float>", 12, 0, NULL},
    };
    struct la_ctx cx = {.arena = la_arena_new(ARENA)};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct gpu_instruction in;
        assert_true(mma_find(&cx, cases[i].atom, &in));
        const bool has = gpu_instruction_on(&cx, &in, cases[i].major, cases[i].minor);
        if (has != !cases[i].says || (!has && !strstr(cx.error.message, cases[i].says)))
            fail_msg("%s on %d.%d: %s", cases[i].atom, cases[i].major, cases[i].minor, cx.error.message);
    }
    la_arena_free(cx.arena);
}

/* Every MMA atom of the table is run, or refused by its name with a reason. */
static void check_all_atoms(void **state)
{
    (void)state;
    int run = 0, refused = 0;
    struct la_ctx cx = {.arena = la_arena_new((size_t)1 << 30)};
    for (size_t i = 0; i < la_atom_count(); i++) {
        const char *name = la_atom_name_at(&cx, i);
        const struct la_atom *atom;
        struct gpu_instruction in;
        if (!gpu_mma_read_atom(&cx, name, &atom))
            continue; /* a copy */
        if (gpu_instruction_find(&cx, atom, &in)) {
            run++;
            assert_true(in.of[LA_D].type == in.of[LA_C].type); /* sums are kept in the registers of D */
        } else {
            refused++;
            if (!strstr(cx.error.message, name) || !strstr(cx.error.message, "is not run here: "))
                fail_msg("%s: %s", name, cx.error.message);
        }
    }
    print_message("%d atoms are run, %d refused\n", run, refused);
    assert_true(run > 1000);
    la_arena_free(cx.arena);
}

/* ---- what the check finds ---- */

struct trial {
    struct planned p;
    struct gpu_job job;
    struct gpu_mma_memory memory;
};

static void trial_run(struct la_ctx *cx, void *arg)
{
    struct trial *t = arg;
    t->memory = gpu_mma_memory_make(cx, t->p.plan->mma, 17);
    gpu_mma_twin(cx, t->p.plan->mma, &t->memory);
}

static void trial_open(struct trial *t, const char *text)
{
    *t = (struct trial){0};
    if (!plan_open(&t->p, text))
        fail_msg("%s: %s", text, t->p.cx.error.message);
    t->job = (struct gpu_job){.cx = &t->p.cx, .plan = t->p.plan, .result = cJSON_CreateObject()};
}

static void trial_verify(struct la_ctx *cx, void *arg)
{
    (void)cx;
    struct trial *t = arg;
    gpu_mma_verify(&t->job, &t->memory);
}

static bool trial_verified(struct trial *t)
{
    assert_true(la_try(&t->p.cx, trial_verify, t));
    return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(t->job.result, "verified"));
}

static void trial_close(struct trial *t)
{
    cJSON_Delete(t->job.result);
    plan_close(&t->p);
}

/* A plan with one thing wrong in it must not verify: who holds what, in each matrix, and what is computed. */
static void wrong_value_map(struct gpu_mma *m, enum la_matrix x)
{
    int64_t *values = (int64_t *)(uintptr_t)m->part[x].of_value, first = values[0];
    values[0] = values[1]; /* the first two values of every thread, exchanged */
    values[1] = first;
}

static void check_wrong_plans(void **state)
{
    (void)state;
    static const char *const atoms[] = {
        MMA(F16, ",\"atom_layout\":\"(2,2,1)\""),
        MMA("SM80_16x8x32_S32S8U8S32_TN", ",\"permutation\":\"(32,16,64)\""),
        MMA("SM89_16x8x32_F32E4M3E5M2F32_TN", ""),
        MMA("SM90_16x8x16_F64F64F64F64_TN", ""),
        MMA("SM80_16x8x16_F16F16F16F16_TN", ",\"permutation\":\"(_,_,64)\""),
    };
    for (size_t i = 0; i < sizeof atoms / sizeof atoms[0]; i++)
        for (int fault = -1; fault <= LA_C; fault++) {
            struct trial t;
            trial_open(&t, atoms[i]);
            if (fault >= 0)
                wrong_value_map(t.p.plan->mma, (enum la_matrix)fault);
            assert_true(la_try(&t.p.cx, trial_run, &t));
            if (trial_verified(&t) != (fault < 0))
                fail_msg("%s with %c wrong: not found", atoms[i], fault < 0 ? '-' : "ABC"[fault]);
            trial_close(&t);
        }
}

/* A value that is one unit of the last kept place off, one that was not written, a byte beyond the end. */
static void check_wrong_memory(void **state)
{
    (void)state;
    struct trial t;
    for (int fault = 0; fault < 4; fault++) {
        trial_open(&t, MMA("SM80_16x8x16_S32S8S8S32_TN", ""));
        assert_true(la_try(&t.p.cx, trial_run, &t));
        unsigned char *d = t.memory.image + t.memory.at[LA_D];
        const int64_t at[] = {0, 4 * (3 + 16 * 5), t.memory.size[LA_D], -1};
        d[at[fault]] ^= 1;
        assert_false(trial_verified(&t));
        const cJSON *mismatch = cJSON_GetObjectItemCaseSensitive(t.job.result, "mismatch");
        const cJSON *stray = cJSON_GetObjectItemCaseSensitive(t.job.result, "stray_write");
        assert_true((fault < 2) == (mismatch != NULL) && (fault >= 2) == (stray != NULL));
        if (fault == 1) { /* (3,5): thread 4 * 3 + 2 has it as its second value */
            assert_string_equal(text_of(mismatch, "coordinate"), "(3,5)");
            assert_int_equal(cJSON_GetObjectItemCaseSensitive(mismatch, "thread")->valueint, 14);
            assert_int_equal(cJSON_GetObjectItemCaseSensitive(mismatch, "value")->valueint, 1);
        }
        trial_close(&t);
    }
    trial_open(&t, MMA(F16, ""));
    assert_true(la_try(&t.p.cx, trial_run, &t));
    memset(t.memory.image + t.memory.at[LA_D] + 8, 0xff, 4); /* never written */
    assert_false(trial_verified(&t));
    trial_close(&t);
    trial_open(&t, MMA(F16, ""));
    assert_true(la_try(&t.p.cx, trial_run, &t));
    t.memory.image[t.memory.at[LA_A]] ^= 1; /* an input changed */
    assert_false(trial_verified(&t));
    assert_string_equal(text_of(cJSON_GetObjectItemCaseSensitive(t.job.result, "stray_write"), "where"),
                        "in A");
    trial_close(&t);
}

static int64_t count_limits(const struct trial *t)
{
    const struct gpu_number *d = t->p.plan->mma->in.of[LA_D].number;
    int64_t n = 0;
    for (int64_t i = 0; i < t->memory.size[LA_D] / 4; i++) {
        const double x = gpu_number_at(d, t->memory.image + t->memory.at[LA_D], i).re;
        n += x == 2147483647.0 || x == -2147483648.0;
    }
    return n;
}

static void trial_twin(struct la_ctx *cx, void *arg)
{
    struct trial *t = arg;
    gpu_mma_twin(cx, t->p.plan->mma, &t->memory);
}

/* Inputs come to the limits of int; an instruction that goes around them instead of stopping is found. */
static void check_limits(void **state)
{
    (void)state;
    static const char *const specs_of_limits[] = {
        MMA("SM80_16x8x32_S32S8S8S32_TN_SATURATE", ",\"atom_layout\":\"(2,2,1)\""),
        MMA("SM80_8x8x32_S32S4U4S32_TN_SATURATE", ",\"permutation\":\"(32,32,64)\""),
        MMA("SM90_64x32x32_S32U8S8_SS_TN_SATURATE", ""),
    };
    for (size_t i = 0; i < sizeof specs_of_limits / sizeof specs_of_limits[0]; i++) {
        struct trial t;
        trial_open(&t, specs_of_limits[i]);
        assert_true(la_try(&t.p.cx, trial_run, &t));
        assert_true(count_limits(&t) > 0);
        assert_true(trial_verified(&t));
        cJSON_Delete(t.job.result);
        t.job.result = cJSON_CreateObject();
        t.p.plan->mma->in.saturates = false;
        assert_true(la_try(&t.p.cx, trial_twin, &t));
        t.p.plan->mma->in.saturates = true;
        assert_false(trial_verified(&t));
        trial_close(&t);
    }
}

/* ---- by the executor ---- */

static void check_planted(void **state)
{
    (void)state;
    static const char *const planted[] = {
        MMA(F16, ",\"plant\":\"wrong_value\""),
        MMA("SM80_16x8x32_S32S8S8S32_TN", ",\"plant\":\"wrong_value\",\"atom_layout\":\"(2,2,1)\""),
        MMA("SM80_8x8x4_GC64C64C64GC64_TN", ",\"plant\":\"wrong_value\""),
        MMA("UniversalFMA<half_t>", ",\"plant\":\"wrong_value\",\"atom_layout\":\"(8,8,1)\""),
    };
    for (size_t i = 0; i < sizeof planted / sizeof planted[0]; i++) {
        cJSON *event = executor_ask(&executor, planted[i]);
        const cJSON *result = cJSON_GetObjectItemCaseSensitive(event, "result");
        assert_true(cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(result, "verified")));
        const cJSON *mismatch = cJSON_GetObjectItemCaseSensitive(result, "mismatch");
        assert_string_equal(text_of(mismatch, "coordinate"), "(0,0)");
        assert_int_equal(cJSON_GetObjectItemCaseSensitive(mismatch, "thread")->valueint, 0);
        assert_string_not_equal(text_of(mismatch, "expected"), text_of(mismatch, "got"));
        assert_int_equal(cJSON_GetObjectItemCaseSensitive(result, "mismatches")->valueint, 1);
        cJSON_Delete(event);
    }
}

/* What a card lacks is refused by name before it is compiled; the CPU runs it. */
static void check_lacking(void **state)
{
    (void)state;
    static const char spec[] = MMA("SM120_16x8x32_TN<float_e4m3_t,float_e5m2_t,float>", "");
    cJSON *event = executor_ask(&executor, spec);
    const bool cpu = !strcmp(executor_name(), "cpu");
    if (cpu) {
        const cJSON *result = cJSON_GetObjectItemCaseSensitive(event, "result");
        assert_true(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(result, "verified")));
    } else {
        const cJSON *failure = cJSON_GetObjectItemCaseSensitive(event, "failure");
        assert_string_equal(text_of(failure, "kind"), "user_error");
        assert_string_equal(text_of(failure, "field"), "atom");
        assert_non_null(
            strstr(text_of(failure, "message"), "SM120_16x8x32_TN<float_e4m3_t,float_e5m2_t,float> needs"));
    }
    cJSON_Delete(event);
}

/* ---- all of them ---- */

static struct list list;

static void add_part(const char *name, CMFixtureFunction start, CMFixtureFunction end)
{
    run_group(name, &list, start, end);
}

/* Of `shares` processes that share the specs out, the one of this number. */
static void add_executor_tests(int share, int shares)
{
    static char names[MAX_MMA_SPECS][MAX_MMA_TEXT];
    static const char *texts[MAX_MMA_SPECS];
    for (int i = share; i < mma_specs.count; i += shares) {
        texts[i] = mma_specs.text[i];
        snprintf(names[i], MAX_MMA_TEXT, "%s", texts[i]);
        add(&list, names[i], check_verified, &texts[i]);
        if (list.count == MAX_TESTS)
            add_part("executor", start_executor, end_executor);
    }
    add(&list, "a planted wrong value is found", check_planted, NULL);
    add(&list, "an atom that a card lacks", check_lacking, NULL);
    add_part("executor", start_executor, end_executor);
}

static void add_plan_tests(void)
{
    add(&list, "facts of a plan", check_facts, NULL);
    add(&list, "a resolved spec resolves to itself", check_resolves, NULL);
    add(&list, "which cards have an instruction", check_cards, NULL);
    add(&list, "every atom is run, or refused by name", check_all_atoms, NULL);
    add(&list, "a wrong partition is found", check_wrong_plans, NULL);
    add(&list, "wrong memory is found", check_wrong_memory, NULL);
    add(&list, "sums that do not stop at the limits are found", check_limits, NULL);
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
        add(&list, refusals[i].spec, check_refused, &refusals[i]);
    add_part("plans, refusals", NULL, NULL);
}

/* --specs: print what an H200 must verify, a line each. --share 1/4: the second of four processes. */
int main(int argc, char **argv)
{
    const bool card = strcmp(executor_name(), "cpu") != 0, print = argc > 1 && !strcmp(argv[1], "--specs");
    int share = 0, shares = 1;
    if (argc > 2 && !strcmp(argv[1], "--share") &&
        (sscanf(argv[2], "%d/%d", &share, &shares) != 2 || share < 0 || share >= shares))
        return 2;
    mma_specs_make(&mma_specs, card || print ? 90 : 121);
    for (int i = 0; print && i < mma_specs.count; i++)
        puts(mma_specs.text[i]);
    if (!print && !card)
        add_plan_tests();
    if (!print)
        add_executor_tests(share, shares);
    mma_specs_free(&mma_specs);
    return print ? 0 : report(&list);
}
