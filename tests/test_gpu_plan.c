/* test_gpu_plan.c: specs become plans: what is chosen, what is refused and how, and make_tiled_copy's
 * layouts. */
#include "gpu_test.h"

static const struct refusal refusals[] = {
    {SPEC("half_t", "uint128_t", "(32,8):(8,1)", "(8,1):(1,0)", "(256,256):(256,1)", "(256,256):(256,1)", ""),
     "val",
     "not_contiguous",
     {"mode 0 of src", "stride there is 256", "8 consecutive half_t"}},
    {SPEC("half_t", "uint128_t", "(32,8):(8,1)", "(1,8):(0,1)", "(256,256):(256,1)", "(256,256):(1,256)", ""),
     "val",
     "not_contiguous",
     {"mode 1 of dst", "stride there is 256", "128-bit"}},
    {SPEC("float", "uint64_t", "(8,8):(8,1)", "(2,2):(2,1)", "(64,64):(1,64)", "(64,64):(1,64)", ""),
     "val",
     "not_contiguous",
     {"mode 1 of src", "stride there is 64", "2 consecutive float"}},
    {SPEC("uint8_t", "uint64_t", "(4,8):(8,1)", "((2,2),(2,8)):((8,32),(16,1))", "(32,128):(128,1)",
          "(32,128):(128,1)", ""),
     "val",
     "not_contiguous",
     {"steps of 2", NULL}},
    {SPEC("float", "uint128_t", "(8,4):(4,1)", "(1,8):(0,1)", "(101,101):(101,1)", "(101,101):(104,1)", ""),
     "src",
     "divisibility",
     {"offset 101", "multiple of 4 float", "stride 101 of mode 0"}},
    {SPEC("float", "uint128_t", "(8,4):(4,1)", "(1,8):(0,1)", "(101,101):(104,1)", "(101,101):(102,1)", ""),
     "dst",
     "divisibility",
     {"offset 102", "stride 102 of mode 0", NULL}},
    {SPEC("half_t", "uint128_t", "(32,8):(8,1)", "(1,4):(0,1)", "(256,256):(256,1)", "(256,256):(256,1)", ""),
     "val",
     "copy_too_few_values",
     {"4 values", "8 half_t at a time", "TiledCopy uses too few values"}},
    {SPEC("float", "uint16_t", "32:1", "4:1", "128:1", "128:1", ""),
     "atom",
     "copy_too_few_values",
     {"16 bits", "32 bits", NULL}},
    {SPEC("float", "float", "(2,2):(1,3)", "1:0", "(8,8):(8,1)", "(8,8):(8,1)", ""),
     "thr",
     "non_injective",
     {"the index 3 to 4", "4 places", NULL}},
    {SPEC("float", "float", "(2,2):(1,2)", "(2,2):(1,1)", "(8,8):(8,1)", "(8,8):(8,1)", ""),
     "val",
     "non_injective",
     {"both 1 and 2 to 1", NULL}},
    {SPEC("float", "float", "4:1", "_8:_1", "96:1", "96:1", ",\"integers\":\"cute\""),
     "thr",
     "dynamic_stride",
     {"thr 4:1 must be static", NULL, NULL}},
    {SPEC("float", "float", "_4:_1", "8:_1", "96:1", "96:1", ",\"integers\":\"cute\""),
     "val",
     "dynamic_stride",
     {"val 8:_1 must be static", NULL, NULL}},
    {SPEC("float", "float", "(64,32):(32,1)", "1:0", "(64,64):(64,1)", "(64,64):(64,1)", ""),
     "thr",
     "limit",
     {"2048", "1024", NULL}},
    {SPEC("float", "float", "32:1", "4:1", "(8,8):(8,1)", "(8,9):(9,1)", ""),
     "dst",
     "rank_mismatch",
     {"mode 1 of src has 8", "dst 9", NULL}},
    {SPEC("float", "float", "32:1", "4:1", "64:1", "(8,8):(8,1)", ""),
     "dst",
     "rank_mismatch",
     {"src has 1 modes and dst 2", NULL}},
    {SPEC("float", "float", "(8,4):(4,1)", "(1,1):(0,0)", "64:1", "64:1", ""),
     "thr",
     "too_many_modes",
     {"(8,4)", "src has 1", NULL}},
    {SPEC("float", "float", "4:1", "2:1", "100:1", "((10,10)):((1,20))", ""),
     "dst",
     "tile_does_not_divide",
     {"mode 0 of dst", "8 and 10", NULL}},
    {SPEC("float", "float", "4:1", "1:0", "((7,2)):((1,20))", "14:1", ""),
     "src",
     "tile_does_not_divide",
     {"mode 0 of src", "4 and 7", NULL}},
    {SPEC("float", "float", "32:1", "4:1", "(64,64):(64,1)", "(64,64):(63,1)", ""),
     "dst",
     "non_injective",
     {"(0,63) and (1,0)", "offset 63", NULL}},
    {SPEC("float", "float", "32:1", "4:1", "(64,64):(64,1)", "(64,64):(64,0)", ""),
     "dst",
     "non_injective",
     {"(0,0) and (0,1)", "offset 0", NULL}},
    {SPEC("float", "float", "32:1", "4:1", "(3,4,5):(1,1,1)", "(3,4,5):(6,9,10)", ""),
     "dst",
     "non_injective",
     {"share the offset", NULL}},
    {SPEC("float", "float", "32:1", "4:1", "(1048576,1048576):(1048576,1)", "(1048576,1048576):(1048576,1)",
          ""),
     "src",
     "limit",
     {"1099511627776", NULL}},
    {SPEC("float", "float", "32:1", "4:1", "(4611686018427387904,4):(1,1)", "8:1", ""),
     "src",
     "overflow",
     {NULL}},
    {SPEC("float", "float", "32:1", "4:1", "(8,8):(8,1", "(8,8):(8,1)", ""), "src", "syntax", {NULL}},
    {SPEC("float", "float", "(8,4)", "4:1", "(8,8):(8,1)", "(8,8):(8,1)", ""),
     "thr",
     "kind",
     {"layout", NULL}},
    {SPEC("float", "float", "32:1", "4:1", "Swizzle<2,0,3>{} o 0 o (8,8):(8,1)", "(8,8):(8,1)", ""),
     "src",
     "kind",
     {"layout", NULL}},
    {SPEC("flaot", "float", "32:1", "4:1", "(8,8):(8,1)", "(8,8):(8,1)", ""),
     "type",
     "unknown_name",
     {"flaot", "'float'", NULL}},
    {SPEC("float", "uint96_t", "32:1", "4:1", "(8,8):(8,1)", "(8,8):(8,1)", ""),
     "atom",
     "unknown_name",
     {"uint96_t", "known:", NULL}},
    {SPEC("float", "float", "32:1", "4:1", "128:1", "128:1", ",\"thrs\":1"),
     "thrs",
     "unknown_name",
     {"'thr'", NULL}},
    {SPEC("float", "float", "32:1", "4:1", "128:1", "128:1", ",\"val\":\"4:1\""),
     "val",
     "kind",
     {"twice", NULL}},
    {SPEC("float", "float", "32:1", "4:1", "128:1", "128:1", ",\"grid\":0"),
     "grid",
     "domain",
     {"1 to", NULL}},
    {SPEC("float", "float", "32:1", "4:1", "128:1", "128:1", ",\"grid\":2"),
     "grid",
     "domain",
     {"work for 1 blocks", NULL}},
    {SPEC("float", "float", "32:1", "4:1", "128:1", "128:1", ",\"unroll\":64"),
     "unroll",
     "limit",
     {"1024", "512", NULL}},
    {SPEC("float", "float", "32:1", "4:1", "128:1", "128:1", ",\"cache\":\"stream\""),
     "cache",
     "unknown_name",
     {"'stream'", "'streaming'", NULL}},
    {SPEC("float", "float", "32:1", "4:1", "128:1", "128:1", ",\"smem\":\"(8,16):(16,1)\""),
     "smem",
     "rank_mismatch",
     {"2 modes", "the tile (128) has 1", NULL}},
    {SPEC("float", "float", "32:1", "4:1", "128:1", "128:1", ",\"dst_thr\":\"32:1\""),
     "dst_thr",
     "arity",
     {"needs 'smem'", NULL}},
    {STAGED("float", "float", "(8,32):(32,1)", "(4,1):(1,0)", "(64,64):(64,1)", "(64,64):(1,64)",
            "(32,33):(33,1)", "float", "(32,8):(1,32)", "(1,4):(0,1)", ""),
     "smem",
     "rank_mismatch",
     {"mode 1 of smem", "33 elements", "(32,32) 32"}},
    {STAGED("float", "float", "(8,32):(32,1)", "(4,1):(1,0)", "(64,64):(64,1)", "(64,64):(1,64)",
            "(32,32):(31,1)", "float", "(32,8):(1,32)", "(1,4):(0,1)", ""),
     "smem",
     "non_injective",
     {"(1,0) and (0,31)", "offset 31", NULL}},
    {STAGED("float", "float", "(8,32):(32,1)", "(4,1):(1,0)", "(64,64):(64,1)", "(64,64):(1,64)",
            "(32,32):(-33,1)", "float", "(32,8):(1,32)", "(1,4):(0,1)", ""),
     "smem",
     "domain",
     {"(1,0) lies at -33", NULL}},
    {STAGED("float", "float", "(8,32):(32,1)", "(4,1):(1,0)", "(64,64):(64,1)", "(64,64):(1,64)",
            "(32,32):(2048,1)", "float", "(32,8):(1,32)", "(1,4):(0,1)", ""),
     "smem",
     "limit",
     {"254080 bytes", "232448", NULL}},
    {STAGED("float", "float", "(8,32):(32,1)", "(4,1):(1,0)", "(64,64):(64,1)", "(64,64):(1,64)",
            "(32,32):(33,1)", "float", "(32,8):(1,32)", "(1,8):(0,1)", ""),
     "dst_thr",
     "rank_mismatch",
     {"the tile (32,64)", "(32,32)", NULL}},
    {STAGED("float", "float", "(8,32):(32,1)", "(4,1):(1,0)", "(64,64):(64,1)", "(64,64):(1,64)",
            "(32,32):(33,1)", "float", "(32,4):(1,32)", "(1,8):(0,1)", ""),
     "dst_thr",
     "rank_mismatch",
     {"128 threads", "256", NULL}},
    {STAGED("float", "float", "(8,32):(32,1)", "(4,1):(1,0)", "(64,64):(64,1)", "(64,64):(1,64)",
            "(32,32):(33,1)", "uint128_t", "(32,8):(1,32)", "(1,4):(0,1)", ""),
     "dst_val",
     "not_contiguous",
     {"mode 1 of dst", "stride there is 64", "4 consecutive float"}},
    {STAGED("float", "float", "(8,32):(32,1)", "(4,1):(1,0)", "(64,64):(64,1)", "(64,64):(1,64)",
            "(32,32):(33,1)", "float", "(32,8):(1,33)", "(1,4):(0,1)", ""),
     "dst_thr",
     "non_injective",
     {"dst_thr", NULL}},
    {STAGED("float", "float", "(8,32):(32,1)", "(4,1):(1,0)", "(64,64):(64,1)", "(64,64):(1,64)", "(32,32)",
            "float", "(32,8):(1,32)", "(1,4):(0,1)", ""),
     "smem",
     "kind",
     {"layout", NULL}},
    {STAGED("float", "float", "(8,32):(32,1)", "(4,1):(1,0)", "(64,64):(64,1)", "(64,64):(1,64)",
            "(32,32):(1500,1)", "float", "(32,8):(1,32)", "(1,4):(0,1)", ",\"unroll\":2"),
     "unroll",
     "limit",
     {"2 tiles", "232448", NULL}},
    {ASYNC("float", "GLOBAL<uint64_t>", "32:1", "4:1", "128:1", "128:1", "128:1", ""),
     "atom",
     "domain",
     {"moves 64 bits", "128 to 128", NULL}},
    {ASYNC("half_t", "ALWAYS<half_t>", "32:1", "4:1", "128:1", "128:1", "128:1", ""),
     "atom",
     "domain",
     {"moves 16 bits", "32 to 128", NULL}},
    {ASYNC("float", "ALWAYS<uint64_t>", "(8,16):(16,1)", "(4,2):(2,1)", "(64,64):(64,1)", "(64,64):(64,1)",
           "(32,32):(33,1)", ""),
     "atom",
     "not_contiguous",
     {"2 consecutive float", "value 2 of thread 0 lies at 33", NULL}},
    {ASYNC("float", "GLOBAL<uint128_t>", "(8,8):(8,1)", "(1,4):(0,1)", "(64,64):(64,1)", "(64,64):(64,1)",
           "(8,32):(1500,1)", ",\"stages\":6"),
     "stages",
     "limit",
     {"6 tiles", "232448", NULL}},
    {ASYNC("float", "GLOBAL<uint128_t>", "(8,8):(8,1)", "(1,4):(0,1)", "(64,64):(64,1)", "(64,64):(64,1)",
           "(8,32):(32,1)", ",\"unroll\":2"),
     "unroll",
     "domain",
     {"'stages'", NULL}},
    {SPEC("float", "float", "32:1", "4:1", "128:1", "128:1", ",\"smem\":\"128:1\",\"stages\":2"),
     "stages",
     "arity",
     {"cp.async", "'unroll'", NULL}},
    {SPEC("float", "float", "32:1", "4:1", "128:1", "128:1",
          ",\"smem\":\"128:1\",\"dst_atom\":\"SM80_CP_ASYNC_CACHEALWAYS<float>\""),
     "dst_atom",
     "kind",
     {"not out of it", NULL}},
    {"{\"kind\":\"copy\",\"type\":\"float\",\"atom\":\"SM80_CP_ASYNC_CACHEALWAYS<float>\",\"thr\":\"32:1\","
     "\"val\":\"4:1\",\"src\":\"128:1\",\"dst\":\"128:1\"}",
     "atom",
     "arity",
     {"needs 'smem'", NULL}},
    {SPEC("float", "float", "32:1", "4:1", "128:1", "128:1", ",\"executor\":\"tpu\""),
     "executor",
     "unknown_name",
     {"cpu gpu", NULL}},
    {"{\"kind\":\"copy\",\"type\":\"float\",\"atom\":\"SM80_CP_ASYNC\",\"thr\":\"32:1\"}",
     "atom",
     "unknown_name",
     {"SM80_CP_ASYNC", "UniversalCopy", NULL}},
    {"{\"kind\":\"copy\",\"type\":\"float\",\"atom\":\"UniversalCopy<float>\",\"thr\":\"32:1\"}",
     "val",
     "arity",
     {"'val'", NULL}},
    {"{\"kind\":\"sweep\"}", "kind", "unknown_name", {"sweep", NULL}},
    {"[1]", NULL, "kind", {"object", NULL}},
};

/* A resolved spec is a spec, and resolves to itself. */
static void check_resolved(void **state)
{
    (void)state;
    for (int i = 0; i < SPECS; i++) {
        struct planned p, q;
        if (!plan_open(&p, specs[i]))
            fail_msg("%s\n  is refused: %s", specs[i], p.cx.error.message);
        cJSON *json = gpu_plan_spec(&p.cx, p.plan);
        char *text = cJSON_PrintUnformatted(json);
        if (!plan_open(&q, text))
            fail_msg("%s\n  resolved, is refused: %s", text, q.cx.error.message);
        cJSON *again = gpu_plan_spec(&q.cx, q.plan);
        assert_true(cJSON_Compare(json, again, true));
        cJSON_Delete(again);
        cJSON_Delete(json);
        free(text);
        plan_close(&q);
        plan_close(&p);
    }
}

/* What CuTe prints for get_layoutS_TV of make_tiled_copy(UniversalCopy, thr, val). */
static const struct tv {
    const char *thr, *val, *cute;
} tvs[] = {
    {"(2,32):(32,1)", "(16,1):(1,16)", "((_32,_2),(_16,_1)):((_32,_16),(_1,_0))"},
    {"(8,32):(32,1)", "(1,8):(8,1)", "((_32,_8),(_4,_2)):((_64,_1),(_8,_32))"},
    {"(32,8):(8,1)", "(1,8):(8,1)", "((_8,_32),(_8,_1)):((_256,_1),(_32,_0))"},
    {"(32,1):(1,1)", "(4,8):(8,1)", "(_32,(_8,_4)):(_4,(_128,_1))"},
    {"(16,8):(8,1)", "(4,4):(1,4)", "((_8,_16),(_4,_4)):((_256,_4),(_1,_64))"},
    {"(32,4):(4,1)", "(2,2):(1,2)", "((_4,_32),(_2,_2)):((_128,_2),(_1,_64))"},
    {"(32,16):(16,1)", "(4,8):(8,1)", "((_16,_32),(_8,_4)):((_1024,_4),(_128,_1))"},
    {"(8,8):(8,1)", "(2,2):(1,2)", "((_8,_8),(_2,_2)):((_32,_2),(_1,_16))"},
    {"(32,1):(1,1)", "(2,4):(4,1)", "(_32,(_4,_2)):(_2,(_64,_1))"},
};

static void check_tv(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof tvs / sizeof tvs[0]; i++) {
        char text[512];
        struct planned p;
        struct la_program cute;
        snprintf(text, sizeof text,
                 SPEC("float", "float", "%s", "%s", "(512,512):(512,1)", "(512,512):(512,1)", ""), tvs[i].thr,
                 tvs[i].val);
        assert_true(plan_open(&p, text));
        assert_true(la_eval(&p.cx, tvs[i].cute, LA_INTEGERS_CUTE, &cute));
        const struct gpu_partition *part = &p.plan->copy.in.part;
        const int64_t n = part->threads * part->values;
        int64_t *ours = calloc((size_t)n, sizeof *ours), *theirs = calloc((size_t)n, sizeof *theirs);
        la_offsets(&p.cx, part->tv, n, ours);
        la_offsets(&p.cx, cute.value.layout, n, theirs);
        assert_memory_equal(ours, theirs, (size_t)n * sizeof *ours);
        free(ours);
        free(theirs);
        plan_close(&p);
    }
}

static void check_choices(void **state)
{
    (void)state;
    struct planned p;
    assert_true(plan_open(&p, SPEC("half_t", "uint128_t", "(32,8):(8,1)", "(1,8):(0,1)",
                                   "(4096,4096):(4096,1)", "(4096,4096):(4096,1)", "")));
    const struct gpu_copy *c = &p.plan->copy;
    assert_int_equal(c->tiles, 128 * 64);
    assert_int_equal(c->in.vector, 8);
    assert_int_equal(p.plan->block, 256);
    assert_int_equal(p.plan->grid * c->unroll, c->tiles);
    assert_int_equal(p.plan->bytes_read + p.plan->bytes_written, 2 * 32 << 20);
    assert_true(c->cache == GPU_CACHE_DEFAULT && !c->wide && !c->negative && !c->predicated);
    assert_int_equal(c->order[0], 1); /* neighbouring tiles lie side by side in a row */
    plan_close(&p);
    assert_true(
        plan_open(&p, SPEC("float", "float", "32:1", "4:1", "(128,64):(0,1)", "(128,64):(50000000,1)", "")));
    assert_true(p.plan->copy.wide && p.plan->copy.cache == GPU_CACHE_DEFAULT);
    assert_int_equal(p.plan->bytes_read, 64 * 4);
    plan_close(&p);
}

/* AutoVectorizingCopy takes the widest atom that is right, and says so in the resolved spec. */
static void check_widest(void **state)
{
    (void)state;
    static const struct {
        const char *src, *dst, *atom;
    } cases[] = {{"(64,64):(64,1)", "(64,64):(64,1)", "UniversalCopy<uint128_t>"},
                 {"(64,64):(68,1)", "(64,64):(64,1)", "UniversalCopy<uint64_t>"},
                 {"(64,64):(64,1)", "(64,64):(66,1)", "UniversalCopy<uint32_t>"},
                 {"(64,64):(64,1)", "(64,64):(1,64)", "UniversalCopy<uint16_t>"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[400];
        struct planned p;
        snprintf(text, sizeof text,
                 "{\"kind\":\"copy\",\"type\":\"half_t\",\"thr\":\"(8,8):(8,1)\",\"val\":\"(1,8):(0,1)\","
                 "\"src\":\"%s\",\"dst\":\"%s\"}",
                 cases[i].src, cases[i].dst);
        assert_true(plan_open(&p, text));
        assert_string_equal(p.plan->copy.in.atom.name, cases[i].atom);
        plan_close(&p);
    }
}

/* Every access of a kernel is one instruction of the width that the plan says, whatever the hint to the caches. */
static void check_instructions(void **state)
{
    (void)state;
    static const char *const types[] = {"u8", "u16", "u32", "u64", "v4.u32"};
    static const struct {
        const char *name, *load, *store;
    } caches[] = {{"default", "ld.global.nc", "st.global"},
                  {"streaming", "ld.global.cs", "st.global.cs"},
                  {"no_allocate", "ld.global.L1::no_allocate.L2::256B", "st.global.L1::no_allocate"}};
    for (unsigned i = 0; i < 5; i++)
        for (size_t c = 0; c < sizeof caches / sizeof caches[0]; c++) {
            char text[500], load[80], store[80], into[80], out[80];
            struct planned p;
            snprintf(
                text, sizeof text,
                SPEC("uint8_t", "uint%u_t", "32:1", "16:1", "512:1", "512:1",
                     ",\"dst_thr\":\"32:1\",\"dst_val\":\"16:1\",\"dst_atom\":\"UniversalCopy<uint%u_t>\","
                     "\"smem\":\"512:1\",\"cache\":\"%s\""),
                8U << i, 8U << i, caches[c].name);
            snprintf(load, sizeof load, "(\"%s.%s ", caches[c].load, types[i]);
            snprintf(store, sizeof store, "(\"%s.%s ", caches[c].store, types[i]);
            snprintf(into, sizeof into, "(\"st.shared.%s ", types[i]);
            snprintf(out, sizeof out, "(\"ld.shared.%s ", types[i]);
            assert_true(plan_open(&p, text));
            const char *source = gpu_emit(&p.cx, p.plan);
            assert_true(strstr(source, load) && strstr(source, store) && strstr(source, into) &&
                        strstr(source, out));
            assert_null(strstr(source, "reinterpret_cast<const"));
            plan_close(&p);
        }
}

int main(int argc, char **argv)
{
    static struct list list;
    draw_specs(argc, argv);
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
        add(&list, refusals[i].spec, check_refusal, &refusals[i]);
    add(&list, "resolved specs", check_resolved, NULL);
    add(&list, "TV layouts as CuTe prints them", check_tv, NULL);
    add(&list, "choices", check_choices, NULL);
    add(&list, "AutoVectorizingCopy", check_widest, NULL);
    add(&list, "instructions as wide as the plan says", check_instructions, NULL);
    run_group("plans", &list, NULL, NULL);
    return report(&list);
}
