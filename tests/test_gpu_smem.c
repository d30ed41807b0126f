/* test_gpu_smem.c: ldmatrix, stmatrix and TMA in copies: what is refused and how, what a plan knows of them, the
 * instructions that are printed, and what is predicted. That they move the right values is for test_gpu_executor.c and
 * test_gpu_cuda.c to say. */
#include "gpu_test.h"

#define BAD(smem, in_part, in, out_part, out) \
    VIA_("half_t", "(64,128):(128,1)", "(64,128):(128,1)", smem, in_part, in, out_part, out)

#define FOUR_BITS(val, src, dst, more) \
    "{\"kind\":\"copy\",\"type\":\"int4b_t\",\"thr\":\"(16,4):(4,1)\",\"val\":\"" val "\",\"src\":\"" src \
    "\",\"dst\":\"" dst "\"" more "}"

static const struct refusal refusals[] = {
    /* rows that lanes point at */
    {BAD(SWIZZLED, ROWS, "", ROWS, LDSM("U32x4_LDSM_N")),
     "smem_load",
     "not_contiguous",
     {"lane 0 of warp 0 points at 8 elements", "(0,0) of the tile lies at 0 and (0,8) at 8, not at 2"}},
    {BAD("(32,64):(68,1)", ROWS, "", MATRIX_N, LDSM("U32x4_LDSM_N")),
     "smem_load",
     "divisibility",
     {"lane 8 of warp 0", "the element (1,0) of the tile, which lies at byte 136", "multiple of 16"}},
    {BAD("composition(Swizzle<3,2,3>{},(32,64):(64,1))", ROWS, "", MATRIX_N, LDSM("U32x4_LDSM_N")),
     "smem_load",
     "divisibility",
     {"lane 0 of warp 4", "at byte 72", "Sw<3,2,3>"}},
    {VIA_P("half_t", "(64,128):(1,64)", "(64,128):(128,1)", "(32,64):(1,32)", MATRIX_T, STSM("U16x8_STSM_T"),
           ROWS, ""),
     "smem_store",
     "not_contiguous",
     {"SM90_U16x8_STSM_T", "(0,0) of the tile lies at 0 and (0,1) at 32, not at 1"}},
    /* atoms that do not suit the values, the threads or the way */
    {BAD(SWIZZLED, ROWS, "", MATRIX_N, LDSM("U32x4_LDSM")),
     "smem_load",
     "unknown_name",
     {"did you mean 'SM75_U32x4_LDSM_N'", "known:"}},
    {VIA("double", "(64,128):(128,1)", "(64,128):(128,1)", "(32,16):(16,1)", "(32,8):(8,1)", "(1,2):(0,1)",
         "", "(32,8):(8,1)", "(1,2):(0,1)", LDSM("U32x4_LDSM_N")),
     "smem_load",
     "other",
     {"does not suit", "64 bits"}},
    {VIA("float", "(64,128):(128,1)", "(64,128):(128,1)", "(4,32):(32,1)", "(4,8):(1,4)", "(1,4):(0,1)", "",
         "(4,8):(1,4)", "(1,4):(0,1)", LDSM("U16x8_LDSM_T")),
     "smem_load",
     "other",
     {"SM75_U16x8_LDSM_T does not suit", "32 bits"}},
    {VIA("half_t", "(64,128):(128,1)", "(64,128):(128,1)", "(8,16):(16,1)", "(4,4):(4,1)", "(2,4):(4,1)", "",
         "(4,4):(4,1)", "(2,4):(4,1)", LDSM("U32x4_LDSM_N")),
     "smem_load",
     "copy_too_few_threads",
     {"16 threads", "32"}},
    {VIA("half_t", "(64,128):(128,1)", "(64,128):(128,1)", "(16,8):(8,1)", "(8,4):(4,1)", "(2,2):(2,1)", "",
         "(8,4):(4,1)", "(2,2):(2,1)", LDSM("U32x4_LDSM_N")),
     "smem_load",
     "copy_too_few_values",
     {"4 values", "8"}},
    {BAD(SWIZZLED, ROWS, ",\"atom\":\"SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>\"" STSM("U32x4_STSM_N"), ROWS, ""),
     "smem_store",
     "kind",
     {"SM90_U32x4_STSM_N stores registers", "SM80_CP_ASYNC_CACHEGLOBAL<uint128_t> fills"}},
    {BAD(SWIZZLED, ROWS, "", MATRIX_N, TMA_STORE LDSM("U32x4_LDSM_N")),
     "smem_load",
     "kind",
     {"SM75_U32x4_LDSM_N loads registers", "SM90_TMA_STORE empties"}},
    {BAD(SWIZZLED, ROWS, "", ROWS, ",\"dst_atom\":\"SM90_TMA_LOAD\""), "dst_atom", "kind", {"not out of it"}},
    {BAD(SWIZZLED, ROWS, ",\"atom\":\"SM90_TMA_STORE\"", ROWS, ""), "atom", "kind", {"it is a 'dst_atom'"}},
    {BAD(SWIZZLED, ROWS, ",\"atom\":\"SM90_TMA_LOD\"", ROWS, ""),
     "atom",
     "unknown_name",
     {"did you mean 'SM90_TMA_LOAD'"}},
    {SPEC("half_t", "half_t", "32:1", "8:1", "256:1", "256:1", LDSM("U32x4_LDSM_N")),
     "smem_load",
     "arity",
     {"needs 'smem'"}},
    {"{\"kind\":\"copy\",\"type\":\"half_t\",\"thr\":\"32:1\",\"val\":\"8:1\",\"src\":\"256:1\",\"dst\":"
     "\"256:1\"" TMA_LOAD "}",
     "atom",
     "arity",
     {"needs 'smem'"}},
    /* what no tensor map says */
    {VIA_P("half_t", "(64,100):(100,1)", "(64,100):(104,1)", SWIZZLED, ROWS, TMA_LOAD, ROWS, ""),
     "atom",
     "other",
     {"the stride of mode 0 is 200 bytes", "multiple of 16"}},
    {VIA("half_t", "(64,1024):(1024,1)", "(64,1024):(1024,1)", "(4,512):(512,1)", "(4,64):(64,1)",
         "(1,8):(0,1)", TMA_LOAD, "(4,64):(64,1)", "(1,8):(0,1)", ""),
     "atom",
     "other",
     {"512 elements along mode 1", "256 is the most"}},
    {VIA_P("half_t", "(64,125):(128,1)", "(64,125):(128,1)", SWIZZLED, ROWS, "", ROWS, TMA_STORE),
     "dst_atom",
     "other",
     {"ends after 250 bytes", "change 6 bytes behind it"}},
    {BAD("composition(Swizzle<2,3,4>{},(32,64):(64,1))", ROWS, "", ROWS, TMA_STORE),
     "dst_atom",
     "other",
     {"Swizzle<2,3,4> of 16 bits is none"}},
    {BAD("composition(Swizzle<3,3,3>{},((32),(32,2)):((32),(1,1024)))", ROWS, TMA_LOAD, ROWS, ""),
     "atom",
     "other",
     {"64 bytes along mode 1", "rows of 128"}},
    {VIA_P("half_t", "(64,128):(1,64)", "(64,128):(128,1)", SWIZZLED, ROWS, TMA_LOAD, ROWS, ""),
     "atom",
     "other",
     {"contiguous along mode 1", "in the tensor is 128 bytes"}},
    {VIA_P("half_t", "(32,64,2,2,2,2):(64,1,2048,4096,8192,16384)",
           "(32,64,2,2,2,2):(64,1,2048,4096,8192,16384)", SWIZZLED, ROWS, TMA_LOAD, ROWS, ""),
     "atom",
     "other",
     {"more than 5 dimensions"}},
    {VIA("uint128_t", "(64,128):(128,1)", "(64,128):(128,1)", "(8,8):(8,1)", "(8,8):(8,1)", "(1,1):(0,0)",
         TMA_LOAD, "(8,8):(8,1)", "(1,1):(0,0)", ""),
     "atom",
     "domain",
     {"8, 16, 32 or 64 bits, not of 128"}},
    {VIA("half_t", "(64,128):(128,1)", "(64,128):(128,1)", "(8,4):(4,1)", "(8,4):(4,1)", "(1,1):(0,0)",
         TMA_LOAD, "(8,4):(4,1)", "(1,1):(0,0)", ""),
     "atom",
     "other",
     {"8 bytes along mode 1", "no multiple of 16"}},
    {VIA_P("half_t", "(64,128):(-128,1)", "(64,128):(128,1)", SWIZZLED, ROWS, TMA_LOAD, ROWS, ""),
     "atom",
     "limit",
     {"from -8064 to 127"}},
    {BAD("(32,64):(72,1)", ROWS, TMA_LOAD, ROWS, ""),
     "atom",
     "other",
     {"the next one would begin 144 bytes on", "multiple of 128"}},
    /* tiles in flight */
    {VIA_P("half_t", "(640,1280):(1280,1)", "(640,1280):(1280,1)", "(32,64):(640,1)", ROWS,
           TMA_LOAD ",\"stages\":6", ROWS, ""),
     "stages",
     "limit",
     {"6 tiles of 39808 bytes", "232448"}},
    {BAD(SWIZZLED, ROWS, TMA_LOAD ",\"unroll\":2", ROWS, ""),
     "unroll",
     "domain",
     {"with TMA it is 'stages'"}},
    {BAD(SWIZZLED, ROWS, ",\"stages\":2", ROWS, TMA_STORE), "stages", "arity", {"needs cp.async or TMA"}},
    {BAD(SWIZZLED, ROWS, TMA_LOAD ",\"cache\":\"streaming\"", ROWS, TMA_STORE),
     "cache",
     "kind",
     {"'streaming' is a hint of loads and stores"}},
    /* half bytes */
    {FOUR_BITS("(1,32):(0,1)", "(64,255):(256,1)", "(64,255):(256,1)", ""),
     "src",
     "divisibility",
     {"mode 1 has 255 elements of 4 bits", "half a byte"}},
    {FOUR_BITS("(1,32):(0,1)", "(64,256):(256,1)", "(64,256):(257,1)", ""),
     "dst",
     "divisibility",
     {"stride 257 of mode 0", "middle of a byte"}},
    {FOUR_BITS("(1,32):(0,1)", "(64,256):(256,1)", "(64,256):(1,64)", ""),
     "dst",
     "not_contiguous",
     {"along mode 0, but val along mode 1", "half a byte"}},
    {FOUR_BITS("(1,32):(0,1)", "(64,(4,64)):(256,(64,1))", "(64,256):(256,1)", ""),
     "src",
     "not_contiguous",
     {"4 apart along mode 1"}},
    {FOUR_BITS("(1,1):(0,0)", "(64,256):(256,1)", "(64,256):(256,1)", ""),
     "val",
     "not_contiguous",
     {"val (1,1):(0,0)", "each would be half a byte"}},
    {FOUR_BITS("(1,32):(0,1)", "(64,256):(256,1)", "(64,256):(256,1)",
               ",\"smem\":\"Swizzle<2,0,4> o 0 o (16,128):(128,1)\""),
     "smem",
     "divisibility",
     {"half bytes"}},
    {FOUR_BITS("(1,32):(0,1)", "(64,256):(256,1)", "(64,256):(256,1)",
               ",\"atom\":\"UniversalCopy<int4b_t>\""),
     "atom",
     "domain",
     {"moves 4 bits", "8 to 128"}},
    {FOUR_BITS("(_1,_32):(_0,_1)", "(64,256):(256,1)", "(64,256):(256,_1)", ",\"integers\":\"cute\""),
     "src",
     "dynamic_stride",
     {"must be static"}},
};

/* ---- what a plan knows ---- */

/* The number at a path of names in the plan's facts. */
static double fact(struct planned *p, const char *side, const char *key)
{
    cJSON *facts = gpu_plan_facts(&p->cx, p->plan);
    const cJSON *group = side ? cJSON_GetObjectItemCaseSensitive(facts, side) : facts;
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(group, key);
    const double value = cJSON_IsNumber(item) ? item->valuedouble : -1;
    cJSON_Delete(facts);
    return value;
}

static void check_map(void **state)
{
    (void)state;
    struct planned p;
    assert_true(plan_open(
        &p, BOXES("half_t", "(16,16):(16,1)", "(4,8):(8,1)", "(256,512):(512,1)", "(256,512):(520,1)",
                  "tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{},(64,128))", ",\"stages\":3")));
    assert_int_equal(fact(&p, "smem_store", "boxes"), 2);
    assert_int_equal(fact(&p, "smem_store", "box_bytes"), 64 * 64 * 2);
    assert_int_equal(fact(&p, "smem_store", "swizzle_bytes"), 128);
    assert_int_equal(fact(&p, "smem_load", "alignment"), 1024);
    assert_int_equal(fact(&p, NULL, "shared_bytes"), 3 * 64 * 128 * 2 + 32); /* and three barriers */
    const struct gpu_tma *tma = p.plan->copy.in.tma;
    assert_int_equal(gpu_map_at(tma->smem, 1), 64 * 64);
    assert_int_equal(gpu_map_at(tma->at[1], 1), 64);
    assert_int_equal(gpu_map_at(tma->at[0], 1), 0);
    plan_close(&p);
}

/* A mode of the tensor with several extents is as many dimensions of the map. */
static void check_dimensions(void **state)
{
    (void)state;
    struct planned p;
    assert_true(
        plan_open(&p, BOXES("half_t", "(8,8):(8,1)", "(4,8):(8,1)", "((16,7),(64,3)):((64,3072),(1,1024))",
                            "(112,192):(192,1)", "composition(Swizzle<3,3,3>{},(32,64):(64,1))", "")));
    const struct gpu_tma *tma = p.plan->copy.in.tma;
    assert_int_equal(tma->map.rank, 4);
    assert_int_equal(gpu_map_at(tma->dim[0], 130), 2); /* column 130: the third of the third part */
    assert_int_equal(gpu_map_at(tma->dim[1], 130), 2);
    assert_int_equal(gpu_map_at(tma->dim[1], 64 * 3), 3); /* beyond the edge, so that TMA sees it */
    assert_int_equal(tma->map.dim[2].mode, 0);
    plan_close(&p);
}

/* The least card that has a copy's instructions, and for the sake of which atom. */
static const struct needed {
    const char *spec, *who, *field;
    int arch;
} needed[] = {
    {SPEC("float", "float", "32:1", "4:1", "128:1", "128:1", ""), "UniversalCopy<float>", "atom", 0},
    {BAD(SWIZZLED, ROWS, "", MATRIX_N, LDSM("U32x4_LDSM_N")), "SM75_U32x4_LDSM_N", "smem_load", 75},
    {BAD(SWIZZLED, MATRIX_N, STSM("U32x4_STSM_N"), MATRIX_N, LDSM("U32x4_LDSM_N")), "SM90_U32x4_STSM_N",
     "smem_store", 90},
    {BAD(SWIZZLED, ROWS, ",\"atom\":\"SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>\"", MATRIX_N,
         LDSM("U32x4_LDSM_N")),
     "SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>", "atom", 80},
    {BAD(SWIZZLED, ROWS, ",\"atom\":\"SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>\"", ROWS, TMA_STORE),
     "SM90_TMA_STORE", "dst_atom", 90},
    {BAD(SWIZZLED, ROWS, TMA_LOAD, MATRIX_N, LDSM("U32x4_LDSM_N")), "SM90_TMA_LOAD", "atom", 90},
};

static void check_needed(void **state)
{
    const struct needed *want = *state;
    const char *who, *field;
    struct planned p;
    assert_true(plan_open(&p, want->spec));
    assert_int_equal(gpu_copy_arch(&p.plan->copy, &who, &field), want->arch);
    assert_string_equal(who, want->who);
    assert_string_equal(field, want->field);
    plan_close(&p);
}

/* ---- what is printed ---- */

static void expect_text(const char *source, const char *text)
{
    if (!strstr(source, text))
        fail_msg("'%s' is not in:\n%s", text, source);
}

/* Every atom is its instruction, on rows of a tile that is as tall as it wants. */
static void check_matrix_instructions(void **state)
{
    (void)state;
    for (int i = 0; i < 12; i++) {
        const bool store = i < 6, trans = i / 3 % 2;
        const int count = 1 << i % 3;
        const struct matrices m = {
            .trans = trans, .bits = 16, .count = count, .warps = {1, 1}, .repeat = 1, .tile = {8 * count, 8}};
        const struct way way = matrix_way(&m, store);
        char text[900], name[60];
        struct planned p;
        snprintf(
            text, sizeof text,
            "{\"kind\":\"copy\",\"type\":\"half_t\",\"src\":\"(64,64):(64,1)\",\"dst\":\"(64,64):(64,1)\","
            "\"smem\":\"(%d,8):(8,1)\",\"thr\":\"%s\",\"val\":\"%s\"%s}",
            m.tile[0], way.thr.text, way.val.text, way.atoms);
        snprintf(name, sizeof name, "%smatrix.sync.aligned.m8n8.x%d%s.shared.b16", store ? "st" : "ld", count,
                 trans ? ".trans" : "");
        if (!plan_open(&p, text))
            fail_msg("%s\n  is refused: %s", text, p.cx.error.message);
        const char *source = gpu_emit(&p.cx, p.plan);
        expect_text(source, name);
        assert_null(strstr(source, store ? "st.shared" : "ld.shared")); /* no other way into the registers */
        plan_close(&p);
    }
}

static void check_tma_instructions(void **state)
{
    (void)state;
    struct planned p;
    assert_true(plan_open(&p, BOXES("float", "(8,8):(8,1)", "(2,4):(4,1)", "(40,68,3,2):(72,1,2880,8640)",
                                    "(40,68,3):(72,1,2880)", "(16,32):(32,1)", "")) == false);
    plan_close(&p); /* not of one shape */
    assert_true(plan_open(&p, BOXES("float", "(8,8):(8,1)", "(2,4):(4,1)", "(40,68,3,2):(72,1,2880,8640)",
                                    "(40,68,3,2):(72,1,2880,8640)", "(16,32):(32,1)", ",\"stages\":4")));
    const char *source = gpu_emit(&p.cx, p.plan);
    expect_text(source, "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes");
    expect_text(source, "cp.async.bulk.tensor.4d.global.shared::cta.bulk_group");
    expect_text(source, "mbarrier.arrive.expect_tx");
    expect_text(source,
                "const __grid_constant__ TensorMap src_map, const __grid_constant__ TensorMap dst_map");
    expect_text(source, "__align__(128)");
    assert_null(strstr(source, "ld.global"));
    assert_null(strstr(source, "st.global"));
    plan_close(&p);
    assert_true(plan_open(&p, BAD(SWIZZLED, ROWS, "", ROWS, TMA_STORE)));
    source = gpu_emit(&p.cx, p.plan);
    expect_text(source, "fence.proxy.async.shared::cta"); /* what threads wrote, TMA reads */
    expect_text(source, "cp.async.bulk.wait_group.read 0");
    assert_null(strstr(source, "mbarrier"));
    plan_close(&p);
}

/* ---- what is predicted ---- */

/* Of 4 x 4 tiles: 8 instructions of 4 matrices, whose 8 rows lie 4 rows of the buffer apart. */
static const struct prediction predictions[] = {
    {VIA_P("half_t", "(128,256):(256,1)", "(128,256):(256,1)", "(32,64):(64,1)", ROWS, "", MATRIX_N,
           LDSM("U32x4_LDSM_N")),
     "smem_load", "matrix_requests", 16 * 8},
    {VIA_P("half_t", "(128,256):(256,1)", "(128,256):(256,1)", "(32,64):(64,1)", ROWS, "", MATRIX_N,
           LDSM("U32x4_LDSM_N")),
     "smem_load", "wavefronts", 16 * 8 * 4 * 8}, /* all in the same banks */
    {VIA_P("half_t", "(128,256):(256,1)", "(128,256):(256,1)", SWIZZLED, ROWS, "", MATRIX_N,
           LDSM("U32x4_LDSM_N")),
     "smem_load", "wavefronts",
     16 * 8 * 4 * 4}, /* the swizzle tells two of the 8 rows apart: 0 and 4 modulo 8 */
    {VIA_P("half_t", "(128,256):(1,128)", "(128,256):(256,1)", "(32,64):(66,1)", MATRIX_T, "", ROWS, ""),
     "smem_store", "requests", 16 * 8 * 8}, /* without stmatrix: each value for itself */
    {VIA_P("half_t", "(128,256):(1,128)", "(128,256):(256,1)", "(32,64):(64,1)", MATRIX_T,
           STSM("U16x8_STSM_T"), ROWS, ""),
     "smem_store", "matrix_requests", 16 * 8},
    {VIA_P("half_t", "(101,203):(203,1)", "(101,203):(204,1)", "(32,64):(72,1)", ROWS, "", MATRIX_N,
           LDSM("U32x1_LDSM_N")),
     "smem_load", "matrix_requests", 16 * 8 * 4}, /* tiles at the edge are moved whole */
    {BOXES("half_t", "(16,16):(16,1)", "(4,8):(8,1)", "(250,496):(504,1)", "(250,496):(512,1)",
           "tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{},(64,128))", ""),
     "src", "boxes", 4 * 4 * 2},
    {BOXES("half_t", "(16,16):(16,1)", "(4,8):(8,1)", "(250,496):(504,1)", "(250,496):(512,1)",
           "tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{},(64,128))", ""),
     "dst", "box_sectors", 250 * (7 * 4 + 3)}, /* 7 boxes of 128 bytes and one of 96 */
    {BOXES("half_t", "(16,16):(16,1)", "(4,8):(8,1)", "(250,496):(504,1)", "(250,496):(512,1)",
           "tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{},(64,128))", ""),
     "src", "box_sectors",
     125 * (7 * 4 + 3) + 125 * (7 * 5 + 4)}, /* every other row begins in the middle of one */
};

int main(void)
{
    static struct list list;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
        add(&list, refusals[i].spec, check_refusal, &refusals[i]);
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        add(&list, needed[i].spec, check_needed, &needed[i]);
    for (size_t i = 0; i < sizeof predictions / sizeof predictions[0]; i++)
        add(&list, predictions[i].spec, check_prediction, &predictions[i]);
    add(&list, "a tensor map", check_map, NULL);
    add(&list, "dimensions of a mode", check_dimensions, NULL);
    add(&list, "matrix instructions", check_matrix_instructions, NULL);
    add(&list, "TMA's instructions", check_tma_instructions, NULL);
    run_group("ldmatrix, stmatrix, TMA", &list, NULL, NULL);
    return report(&list);
}
