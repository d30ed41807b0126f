/* test_gpu_counters.c: what the hardware is predicted to count of a kernel, and how that is held against what
 * it counted; the counting itself needs a card. */
#include "gpu_test.h"

/* What is predicted, against numbers worked out by hand: 16384^2 float are 2^18 tiles of 32 x 32 in 8 warps. */
#define TRANSPOSE(atom, thr, val, smem, dst_atom, dst_thr, dst_val) \
    STAGED("float", atom, thr, val, "(16384,16384):(16384,1)", "(16384,16384):(1,16384)", smem, dst_atom, \
           dst_thr, dst_val, "")
#define TILES (1 << 18)
static const struct prediction predictions[] = {
    {TRANSPOSE("float", "(8,32):(32,1)", "(4,1):(1,0)", "(32,32):(33,1)", "float", "(32,8):(1,32)",
               "(1,4):(0,1)"),
     "smem_load", "conflicts", 0},
    {TRANSPOSE("float", "(8,32):(32,1)", "(4,1):(1,0)", "(32,32):(33,1)", "float", "(32,8):(1,32)",
               "(1,4):(0,1)"),
     "smem_store", "wavefronts", TILES * 32.0},
    {TRANSPOSE("float", "(8,32):(32,1)", "(4,1):(1,0)", "(32,32):(33,1)", "float", "(32,8):(1,32)",
               "(1,4):(0,1)"),
     "dst", "sectors", TILES * 32.0 * 4},
    /* 32 lanes in one bank */
    {TRANSPOSE("float", "(8,32):(32,1)", "(4,1):(1,0)", "(32,32):(32,1)", "float", "(32,8):(1,32)",
               "(1,4):(0,1)"),
     "smem_load", "conflicts", TILES * 32.0 * 31},
    {TRANSPOSE("uint128_t", "(32,8):(8,1)", "(1,4):(0,1)", "Swizzle<3,2,5> o 0 o (32,32):(32,1)", "uint128_t",
               "(8,32):(1,8)", "(4,1):(1,0)"),
     "smem_load", "wavefronts", TILES * 8.0 * 4},
    {TRANSPOSE("uint128_t", "(32,8):(8,1)", "(1,4):(0,1)", "Swizzle<3,2,5> o 0 o (32,32):(32,1)", "uint128_t",
               "(8,32):(1,8)", "(4,1):(1,0)"),
     "smem_store", "conflicts", 0},
    {TRANSPOSE("uint128_t", "(32,8):(8,1)", "(1,4):(0,1)", "Swizzle<3,2,5> o 0 o (32,32):(32,1)", "uint128_t",
               "(8,32):(1,8)", "(4,1):(1,0)"),
     "src", "requests", TILES * 8.0},
    /* a row of 5 floats in accesses of 1, by 8 lanes: a warp has 4 rows of the 3 */
    {STAGED("float", "float", "(32,8):(8,1)", "(1,1):(0,0)", "(3,5):(5,1)", "(3,5):(5,1)", "(32,8):(8,1)",
            "float", "(32,8):(8,1)", "(1,1):(0,0)", ""),
     "smem_store", "requests", 1},
    {SPEC("half_t", "uint128_t", "(32,8):(8,1)", "(1,8):(0,1)", "(32768,32768):(32768,1)",
          "(32768,32768):(32768,1)", ""),
     "src", "sectors", 67108864},
};

/* What an H200 counted, and the verdict: global memory to the unit, shared memory up to what warps take from each
 * other there, which is told; nothing about what cannot be compared. */
static const struct comparison {
    const char *counters, *verdict;
} comparisons[] = {
    {"{\"predicted\":{\"src\":{\"requests\":64,\"sectors\":512},\"exact\":true},"
     "\"measured\":{\"src\":{\"requests\":64,\"sectors\":512},\"instructions\":9}}",
     "\"equal\":{\"src\":true}}"},
    {"{\"predicted\":{\"dst\":{\"requests\":4194304,\"sectors\":67108864}},"
     "\"measured\":{\"dst\":{\"requests\":16777216,\"sectors\":268435456}}}",
     "\"equal\":{\"dst\":false}}"},
    {"{\"predicted\":{\"smem_store\":{\"requests\":8388608,\"wavefronts\":8388608,\"conflicts\":0}},"
     "\"measured\":{\"smem_store\":{\"requests\":8388608,\"wavefronts\":8449113,\"conflicts\":61162},"
     "\"arbitration\":3492010,\"arbitration_of_conflicts\":3492010}}",
     "\"equal\":{\"smem_store\":true},\"arbitration\":{\"smem_store\":60505,"},
    {"{\"predicted\":{\"smem_load\":{\"requests\":100,\"wavefronts\":1000,\"conflicts\":0}},"
     "\"measured\":{\"smem_load\":{\"requests\":100,\"wavefronts\":1081,\"conflicts\":0},\"arbitration\":80}"
     "}",
     "\"equal\":{\"smem_load\":false}}"},
    {"{\"predicted\":{\"smem_load\":{\"requests\":100,\"wavefronts\":1000,\"conflicts\":0}},"
     "\"measured\":{\"smem_load\":{\"requests\":100,\"wavefronts\":1001,\"conflicts\":0}}}",
     "\"equal\":{\"smem_load\":false}}"},
    {"{\"predicted\":{\"smem_load\":{\"requests\":100,\"wavefronts\":1000,\"conflicts\":0}},"
     "\"measured\":{\"smem_load\":{\"requests\":101,\"wavefronts\":1000,\"conflicts\":0}}}",
     "\"equal\":{\"smem_load\":false}}"},
    {"{\"predicted\":{\"smem_load\":{\"requests\":100,\"wavefronts\":1000,\"conflicts\":0}},"
     "\"measured\":{\"smem_load\":{\"requests\":100,\"wavefronts\":999,\"conflicts\":0}}}",
     "\"equal\":{\"smem_load\":false}}"},
    {"{\"predicted\":{\"smem_store\":{\"requests\":8},\"not_compared\":{\"smem_store\":\"why\"}},"
     "\"measured\":{\"smem_store\":{\"requests\":0}}}",
     "\"equal\":{}}"},
};

static void check_comparison(void **state)
{
    const struct comparison *c = *state;
    cJSON *json = cJSON_Parse(c->counters);
    assert_non_null(json);
    gpu_counters_compare(json);
    char *text = cJSON_PrintUnformatted(json);
    if (!strstr(text, c->verdict))
        fail_msg("%s\n  has no %s", text, c->verdict);
    free(text);
    cJSON_Delete(json);
}

/* Eight modes that the tile does not divide: 256 kinds of tiles, whose lanes would be looked at for seconds. */
static void check_limit(void **state)
{
    struct planned p;
    assert_true(plan_open(&p, *state));
    cJSON *json = gpu_predict(&p.cx, p.plan);
    const char *why = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "why"));
    assert_non_null(why);
    if (!strstr(why, "256 kinds of tiles") || !strstr(why, "67108864 is the most"))
        fail_msg("%s", why);
    assert_null(cJSON_GetObjectItemCaseSensitive(json, "src"));
    cJSON_Delete(json);
    plan_close(&p);
}

static const char many_edges[] = SPEC(
    "uint8_t", "uint128_t", "(2,2,2,2,2,2,2,4):(256,128,64,32,16,8,4,1)",
    "(1,1,1,1,1,1,1,256):(0,0,0,0,0,0,0,1)",
    "(3,3,3,3,3,3,7,1008):(5143824,1714608,571536,190512,63504,21168,1008,1)",
    "(3,3,3,3,3,3,7,1008):(5143824,1714608,571536,190512,63504,21168,1008,1)", "");

int main(int argc, char **argv)
{
    static struct list list;
    draw_specs(argc, argv);
    for (size_t i = 0; i < sizeof predictions / sizeof predictions[0]; i++)
        add(&list, predictions[i].spec, check_prediction, &predictions[i]);
    for (size_t i = 0; i < sizeof comparisons / sizeof comparisons[0]; i++)
        add(&list, comparisons[i].counters, check_comparison, &comparisons[i]);
    add(&list, many_edges, check_limit, many_edges);
    run_group("counters", &list, NULL, NULL);
    return report(&list);
}
