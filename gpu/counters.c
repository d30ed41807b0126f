/* counters.c: what the hardware counts while a copy runs, beside what was predicted: CUPTI's range profiler, in runs of
 * their own that nobody times. CUPTI launches the kernel again for counters that do not fit in one run; those of one set
 * are few enough to come from the same one, so that the turns of shared memory are those of the wavefronts beside them.
 *
 *   "counters": {"predicted": {"src": {"requests": 32768, "sectors": 524288}, ...},
 *                "measured":  {"src": {"requests": 32768, "sectors": 524288}, ..., "dram_read_bytes": ...},
 *                "equal":     {"src": true, "smem_load": true, ...},
 *                "arbitration": {"smem_load": 60505, "why": "..."}}
 *
 * Where counters cannot be read, "measured" is null and "why" says what is missing: never a zero. Setting up takes a
 * second once; the profiler is off whenever something is timed. */
#include "card.h"

#ifdef GPU_HAVE_CUPTI

#include <stdlib.h>

enum { WAVEFRONTS, CONFLICTS, OTHERS, SETS };

static const struct metric {
    int set;
    const char *group, *key; /* where the number stands in the result; group NULL: at the top */
    const char *name;        /* CUPTI's */
    double unit;             /* what a count is multiplied with */
} metrics[] = {
    {WAVEFRONTS, "smem_store", "wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", 1},
    {WAVEFRONTS, "smem_load", "wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", 1},
    {WAVEFRONTS, NULL, "arbitration", "l1tex__data_bank_conflicts_type_arbitration.sum", 1},
    {CONFLICTS, "smem_store", "conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", 1},
    {CONFLICTS, "smem_load", "conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", 1},
    {CONFLICTS, NULL, "arbitration_of_conflicts", "l1tex__data_bank_conflicts_type_arbitration.sum", 1},
    {OTHERS, "src", "requests", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 1},
    {OTHERS, "src", "sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 1},
    {OTHERS, "dst", "requests", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", 1},
    {OTHERS, "dst", "sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", 1},
    {OTHERS, "src", "boxes", "smsp__inst_executed_op_tma_ld_pred_on_any.sum", 1},
    {OTHERS, "dst", "boxes", "smsp__inst_executed_op_tma_st_pred_on_any.sum", 1},
    /* More than the sectors that the boxes lie in, where rows do not begin with whole ones: no rule is known. */
    {OTHERS, "src", "tma_sectors", "l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld.sum", 1},
    {OTHERS, "dst", "tma_sectors", "l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_st.sum", 1},
    /* Told, not compared: at an edge a few more issue than access anything. */
    {OTHERS, "smem_store", "instructions", "smsp__inst_executed_op_shared_st_pred_on_any.sum", 1},
    {OTHERS, "smem_store", "matrix_requests", "smsp__inst_executed_op_shared_stsm_pred_on_any.sum", 1},
    {OTHERS, "smem_load", "instructions", "smsp__inst_executed_op_shared_ld_pred_on_any.sum", 1},
    {OTHERS, "smem_load", "matrix_requests", "smsp__inst_executed_op_ldsm_pred_on_any.sum", 1},
    {OTHERS, NULL, "dram_read_bytes", "dram__bytes_read.sum", 1},
    {OTHERS, NULL, "dram_write_bytes", "dram__bytes_write.sum", 1},
    {OTHERS, NULL, "l2_bytes", "lts__t_bytes.sum", 1},
    {OTHERS, NULL, "instructions", "smsp__inst_executed.sum", 1},
    {OTHERS, NULL, "occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active", 0.01},
};
enum { METRICS = sizeof metrics / sizeof metrics[0] };

/* CUPTI's plan of which counters to read in which run. */
struct set {
    struct cupti_host *host;
    const char *names[METRICS]; /* those that this card has */
    size_t from[METRICS];       /* and their places in metrics */
    size_t count;
    uint8_t *config;
    size_t config_size;
};

/* What stays from job to job. */
static struct profiler {
    const struct gpu_cupti *cupti;
    struct set set[SETS];
    bool tried, opened;
    char why[400]; /* of the last failure */
} profiler;

/* Keeps the first reason. */
static bool ok(CUptiResult result, const char *what)
{
    const char *name = "error", *remedy = "";
    if (result == CUPTI_SUCCESS)
        return true;
    if (result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)
        remedy = ": the driver lets administrators alone read counters; run the worker as root or with "
                 "CAP_SYS_ADMIN, or "
                 "load the driver with NVreg_RestrictProfilingToAdminUsers=0";
    if (result == CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED)
        remedy = ": this virtual machine's GPU has no counters; its host can turn them on";
    profiler.cupti->cuptiGetResultString(result, &name);
    if (!*profiler.why)
        snprintf(profiler.why, sizeof profiler.why, "%s: %s%s", what, name, remedy);
    return false;
}

/* ---- once ---- */

/* A set of which the card has nothing stays empty. */
static void add_metrics(struct set *set, int number)
{
    for (size_t i = 0; i < METRICS; i++) {
        const char *name = metrics[i].name;
        struct cupti_host_metrics add = {
            .structSize = sizeof add, .pHostObject = set->host, .ppMetricNames = &name, .numMetrics = 1};
        if (metrics[i].set != number ||
            profiler.cupti->cuptiProfilerHostConfigAddMetrics(&add) != CUPTI_SUCCESS)
            continue;
        set->from[set->count] = i;
        set->names[set->count++] = name;
    }
}

/* What the card can count: 0 bytes where it does not tell. */
static uint8_t *read_availability(const struct gpu_card *card)
{
    CUpti_Profiler_GetCounterAvailability_Params p = {
        .structSize = CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE, .ctx = card->context};
    if (!ok(profiler.cupti->cuptiProfilerGetCounterAvailability(&p), "asking which counters there are"))
        return NULL;
    p.pCounterAvailabilityImage = calloc(1, p.counterAvailabilityImageSize);
    if (p.pCounterAvailabilityImage &&
        ok(profiler.cupti->cuptiProfilerGetCounterAvailability(&p), "asking which counters there are"))
        return p.pCounterAvailabilityImage;
    free(p.pCounterAvailabilityImage);
    return NULL;
}

static bool make_config(struct set *set)
{
    struct cupti_host_image image = {.structSize = offsetof(struct cupti_host_image, pConfigImage),
                                     .pHostObject = set->host};
    if (!ok(profiler.cupti->cuptiProfilerHostGetConfigImageSize(&image), "planning the passes"))
        return false;
    image.structSize = sizeof image;
    image.pConfigImage = set->config = calloc(1, image.configImageSize);
    set->config_size = image.configImageSize;
    return image.pConfigImage &&
           ok(profiler.cupti->cuptiProfilerHostGetConfigImage(&image), "planning the passes");
}

static bool make_set(int number, const char *chip, const uint8_t *availability)
{
    struct set *set = &profiler.set[number];
    struct cupti_host_initialize init = {.structSize = sizeof init,
                                         .profilerType = CUPTI_HOST_RANGE_PROFILER,
                                         .pChipName = chip,
                                         .pCounterAvailabilityImage = availability};
    if (!ok(profiler.cupti->cuptiProfilerHostInitialize(&init), "starting CUPTI"))
        return false;
    set->host = init.pHostObject; /* which may go on reading the image: it stays */
    add_metrics(set, number);
    return set->count == 0 || make_config(set);
}

static bool make_sets(const struct gpu_card *card)
{
    CUpti_Device_GetChipName_Params chip = {.structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE,
                                            .deviceIndex = (size_t)card->index};
    if (!ok(profiler.cupti->cuptiDeviceGetChipName(&chip), "asking for the chip's name"))
        return false;
    const uint8_t *availability = read_availability(card);
    bool made = availability != NULL;
    size_t count = 0;
    for (int i = 0; i < SETS && made; i++) {
        made = make_set(i, chip.pChipName, availability);
        count += profiler.set[i].count;
    }
    if (made && !count)
        snprintf(profiler.why, sizeof profiler.why, "CUPTI knows none of the counters on this card");
    return made && count;
}

static bool open_profiler(const struct gpu_card *card)
{
    const char *why;
    if (profiler.tried)
        return profiler.opened;
    profiler.tried = true;
    profiler.cupti = gpu_cupti_open(&why);
    if (!profiler.cupti) {
        snprintf(profiler.why, sizeof profiler.why, "%s; it comes with CUDA's toolkit", why);
        return false;
    }
    CUpti_Profiler_Initialize_Params init = {.structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE};
    profiler.opened = ok(profiler.cupti->cuptiProfilerInitialize(&init), "starting CUPTI") && make_sets(card);
    if (!profiler.opened && !*profiler.why)
        snprintf(profiler.why, sizeof profiler.why, "no memory for CUPTI's plan of the counters");
    return profiler.opened;
}

/* ---- each time ---- */

/* One session: between enable and disable. */
struct session {
    struct set *set;
    struct gpu_card *card;
    struct gpu_contender kernel;
    CUpti_RangeProfiler_Object *object;
    uint8_t *data;
    size_t data_size;
    double values[METRICS]; /* in the order of metrics */
    bool counted[METRICS], card_ok;
};

static bool make_data(struct session *s)
{
    CUpti_RangeProfiler_GetCounterDataSize_Params size = {
        .structSize = CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE,
        .pRangeProfilerObject = s->object,
        .pMetricNames = s->set->names,
        .numMetrics = s->set->count,
        .maxNumOfRanges = 1,
        .maxNumRangeTreeNodes = 1};
    if (!ok(profiler.cupti->cuptiRangeProfilerGetCounterDataSize(&size), "making room for counters"))
        return false;
    s->data_size = size.counterDataSize;
    s->data = calloc(1, s->data_size);
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params init = {
        .structSize = CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE,
        .pRangeProfilerObject = s->object,
        .counterDataSize = s->data_size,
        .pCounterData = s->data};
    return s->data && ok(profiler.cupti->cuptiRangeProfilerCounterDataImageInitialize(&init),
                         "making room for counters");
}

static bool configure(struct session *s)
{
    CUpti_RangeProfiler_SetConfig_Params config = {
        .structSize = CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE,
        .pRangeProfilerObject = s->object,
        .configSize = s->set->config_size,
        .pConfig = s->set->config,
        .counterDataImageSize = s->data_size,
        .pCounterDataImage = s->data,
        .range = CUPTI_AutoRange,
        .replayMode = CUPTI_KernelReplay,
        .maxRangesPerPass = 1,
        .numNestingLevels = 1,
        .minNestingLevel = 1,
        .targetNestingLevel = 1};
    return ok(profiler.cupti->cuptiRangeProfilerSetConfig(&config), "choosing counters");
}

static bool launch_counted(struct session *s)
{
    CUpti_RangeProfiler_Start_Params start = {.structSize = CUpti_RangeProfiler_Start_Params_STRUCT_SIZE,
                                              .pRangeProfilerObject = s->object};
    CUpti_RangeProfiler_Stop_Params stop = {.structSize = CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE,
                                            .pRangeProfilerObject = s->object};
    CUpti_RangeProfiler_DecodeData_Params decode = {
        .structSize = CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE, .pRangeProfilerObject = s->object};
    if (!ok(profiler.cupti->cuptiRangeProfilerStart(&start), "starting the counters"))
        return false;
    s->card_ok = s->kernel.launch(s->card, s->kernel.arg) && gpu_card_wait(s->card);
    return ok(profiler.cupti->cuptiRangeProfilerStop(&stop), "stopping the counters") && s->card_ok &&
           ok(profiler.cupti->cuptiRangeProfilerDecodeData(&decode), "reading the counters");
}

static bool evaluate(struct session *s)
{
    double values[METRICS];
    struct cupti_host_evaluate e = {.structSize = sizeof e,
                                    .pHostObject = s->set->host,
                                    .pCounterDataImage = s->data,
                                    .counterDataImageSize = s->data_size,
                                    .ppMetricNames = s->set->names,
                                    .numMetrics = s->set->count,
                                    .pMetricValues = values};
    if (!ok(profiler.cupti->cuptiProfilerHostEvaluateToGpuValues(&e), "evaluating the counters"))
        return false;
    for (size_t i = 0; i < s->set->count; i++) {
        s->values[s->set->from[i]] = values[i];
        s->counted[s->set->from[i]] = true;
    }
    return true;
}

static bool count_set(struct session *s)
{
    CUpti_RangeProfiler_Enable_Params enable = {.structSize = CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE,
                                                .ctx = s->card->context};
    if (!ok(profiler.cupti->cuptiRangeProfilerEnable(&enable), "taking hold of the counters"))
        return false;
    s->object = enable.pRangeProfilerObject;
    const bool counted = make_data(s) && configure(s) && launch_counted(s) && evaluate(s);
    CUpti_RangeProfiler_Disable_Params disable = {
        .structSize = CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE, .pRangeProfilerObject = s->object};
    profiler.cupti->cuptiRangeProfilerDisable(&disable);
    free(s->data);
    s->data = NULL;
    return counted;
}

static bool count(struct session *s)
{
    bool counted = true;
    *profiler.why = 0;
    for (int i = 0; i < SETS && counted; i++) {
        s->set = &profiler.set[i];
        counted = s->set->count == 0 || count_set(s);
    }
    return counted;
}

/* ---- as JSON ---- */

static void add_measured(const struct session *s, cJSON *counters)
{
    cJSON *measured = cJSON_AddObjectToObject(counters, "measured");
    for (size_t i = 0; i < METRICS; i++) {
        const struct metric *m = &metrics[i];
        if (!s->counted[i])
            continue;
        cJSON *group = m->group ? cJSON_GetObjectItemCaseSensitive(measured, m->group) : measured;
        if (!group)
            group = cJSON_AddObjectToObject(measured, m->group);
        cJSON_AddNumberToObject(group, m->key, s->values[i] * m->unit);
    }
}

/* False only when the card failed. */
static bool read_counters(struct gpu_card *card, struct gpu_contender kernel, cJSON *counters,
                          const char **why)
{
    struct session s = {.card = card, .kernel = kernel, .card_ok = true};
    if (open_profiler(card) && count(&s)) {
        add_measured(&s, counters);
        if (cJSON_HasObjectItem(counters, "predicted"))
            gpu_counters_compare(counters);
        return true;
    }
    *why = profiler.why;
    return s.card_ok;
}

#elif defined(GPU_HAVE_CUDA)

static bool read_counters(struct gpu_card *card, struct gpu_contender kernel, cJSON *counters,
                          const char **why)
{
    (void)card, (void)kernel, (void)counters;
    *why = "built without CUPTI's headers, which come with CUDA's toolkit";
    return true;
}

#endif

#ifdef GPU_HAVE_CUDA
bool gpu_counters_add(struct gpu_card *card, struct gpu_job *job, struct gpu_contender kernel)
{
    cJSON *counters = cJSON_GetObjectItemCaseSensitive(job->result, "counters");
    const char *why = NULL;
    if (!job->plan->counters)
        why = "not asked for: \"counters\": true reads them, which takes a second";
    else if (!read_counters(card, kernel, counters, &why))
        return gpu_card_failed(card, job);
    if (why) {
        cJSON_AddNullToObject(counters, "measured");
        cJSON_AddStringToObject(counters, "why", why);
    }
    return true;
}
#endif
