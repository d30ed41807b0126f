/* measure.c: times that mean something.
 *
 * A round times every contender once, in turn, so that a drift of clocks meets all of them alike. The stream
 * is held by a waiting kernel while a round is queued: no launch latency of the host gets in. Before each
 * timed launch L2 is filled with other, clean lines, but for a contender that is to find it warm. Rounds go on until every mean is known to half a percent
 * (95 % confidence) or a limit is reached; there is always a result, and `stable` says which it was. All
 * samples are kept. */
#include "card.h"

#ifdef GPU_HAVE_CUDA

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    WARM_UPS = 3, /* runs of each before the first sample: module load, clocks, page tables */
    FEWEST = 20,  /* samples before the noise is judged */
    HOLD_MS = 500 /* the holding kernel gives up: what is queued may itself wait for an idle stream */
};
static const double PRECISION = 0.005; /* half width of the confidence interval over the mean */
static const double CONFIDENCE = 1.96; /* standard errors: 95 % */

struct measuring {
    struct gpu_card *card;
    int count;
    const struct gpu_contender *contenders;
    CUevent begin[GPU_MAX_CONTENDERS], end[GPU_MAX_CONTENDERS];
};

static bool flush_l2(struct gpu_card *card)
{
    CUdeviceptr from = card->flush_from, sink = card->flush_from + (CUdeviceptr)card->flush_bytes;
    uint64_t n = card->flush_bytes / 16;
    void *args[] = {&from, &n, &sink};
    return gpu_card_for_each(card, card->flush, n, args);
}

static bool hold(struct gpu_card *card, int ms)
{
    uint64_t nanoseconds = (uint64_t)ms * 1000000;
    void *args[] = {&card->go_device, &nanoseconds};
    *card->go = 0;
    return gpu_card_launch(card, card->hold, 1, 1, 0, args);
}

static bool queue_timed(struct measuring *m, int i)
{
    struct gpu_card *card = m->card;
    return (m->contenders[i].warm || flush_l2(card)) &&
           gpu_card_ok(card, card->cu->cuEventRecord(m->begin[i], card->stream), "timing") &&
           m->contenders[i].launch(card, m->contenders[i].arg) &&
           gpu_card_ok(card, card->cu->cuEventRecord(m->end[i], card->stream), "timing");
}

/* One sample of every contender. */
static bool run_round(struct measuring *m, double *us)
{
    struct gpu_card *card = m->card;
    bool ok = hold(card, HOLD_MS);
    for (int i = 0; ok && i < m->count; i++)
        ok = queue_timed(m, i);
    *card->go = 1; /* also after a failure: nothing may stay held */
    if (!ok || !gpu_card_wait(card))
        return false;
    for (int i = 0; i < m->count; i++) {
        float ms = 0;
        if (!gpu_card_ok(card, card->cu->cuEventElapsedTime(&ms, m->begin[i], m->end[i]), "timing"))
            return false;
        us[i] = round((double)ms * 1e6) / 1e3; /* nanoseconds, more digits than events have */
    }
    return true;
}

/* Also of the support kernels: a kernel is loaded at its first launch, which must not wait behind `hold`. */
static bool warm_up(struct measuring *m)
{
    if (!hold(m->card, 0) || !flush_l2(m->card))
        return false;
    for (int i = 0; i < m->count; i++)
        for (int n = 0; n < WARM_UPS; n++)
            if (!m->contenders[i].launch(m->card, m->contenders[i].arg))
                return false;
    return gpu_card_wait(m->card);
}

/* ---- statistics ---- */

static double noise_of(const double *us, int n)
{
    double sum = 0, squares = 0;
    for (int i = 0; i < n; i++)
        sum += us[i];
    const double mean = sum / n;
    for (int i = 0; i < n; i++)
        squares += (us[i] - mean) * (us[i] - mean);
    return n > 1 && mean > 0 ? sqrt(squares / (n - 1)) / mean : 0;
}

static bool known_well(const struct gpu_measurement *out, int count)
{
    for (int i = 0; i < count; i++)
        if (CONFIDENCE * noise_of(out->of[i].us, out->samples) / sqrt(out->samples) > PRECISION)
            return false;
    return true;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void summarize(struct gpu_samples *s, int n)
{
    double sorted[GPU_MAX_SAMPLES];
    memcpy(sorted, s->us, (size_t)n * sizeof sorted[0]);
    qsort(sorted, (size_t)n, sizeof sorted[0], ascending);
    s->min = sorted[0];
    s->median = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
    s->p95 = sorted[(int)ceil(0.95 * n) - 1];
    s->noise = noise_of(s->us, n);
}

/* ---- the card's own word ---- */

static struct gpu_reading read_card(struct gpu_card *card)
{
    struct gpu_reading r = {.others = gpu_others_count(&card->others), .why = card->others.why};
    if (!card->nvml)
        return r;
    card->nvml->nvmlDeviceGetClockInfo(card->nvml_device, GPU_NVML_CLOCK_SM, &r.sm_mhz);
    card->nvml->nvmlDeviceGetClockInfo(card->nvml_device, GPU_NVML_CLOCK_MEMORY, &r.memory_mhz);
    card->nvml->nvmlDeviceGetTemperature(card->nvml_device, GPU_NVML_SENSOR_GPU, &r.celsius);
    card->nvml->nvmlDeviceGetPowerUsage(card->nvml_device, &r.milliwatts);
    card->nvml->nvmlDeviceGetCurrentClocksThrottleReasons(card->nvml_device, &r.throttle);
    return r;
}

static void add_pair(cJSON *json, const char *name, double before, double after)
{
    const double pair[] = {before, after};
    cJSON_AddItemToObject(json, name, cJSON_CreateDoubleArray(pair, 2));
}

/* Whether the card was this process's alone, before and after; who came and went in between was not seen. */
static void add_exclusive(cJSON *result, const struct gpu_measurement *m)
{
    const int most = m->before.others > m->after.others ? m->before.others : m->after.others;
    if (m->before.others < 0 || m->after.others < 0) {
        cJSON_AddNullToObject(result, "exclusive");
        cJSON_AddStringToObject(result, "exclusive_why", m->before.others < 0 ? m->before.why : m->after.why);
        return;
    }
    cJSON_AddBoolToObject(result, "exclusive", most == 0);
    cJSON_AddNumberToObject(result, "other_processes", most);
}

void gpu_readings_add(cJSON *result, const struct gpu_measurement *m)
{
    static const struct {
        unsigned long long bit;
        const char *name;
    } reasons[] = {{0x2, "applications_clocks"}, {0x4, "sw_power_cap"},         {0x8, "hw_slowdown"},
                   {0x10, "sync_boost"},         {0x20, "sw_thermal_slowdown"}, {0x40, "hw_thermal_slowdown"},
                   {0x80, "hw_power_brake"},     {0x100, "display_clocks"}};
    add_exclusive(result, m);
    cJSON *json = cJSON_AddObjectToObject(result, "readings");
    add_pair(json, "sm_mhz", m->before.sm_mhz, m->after.sm_mhz);
    add_pair(json, "memory_mhz", m->before.memory_mhz, m->after.memory_mhz);
    add_pair(json, "celsius", m->before.celsius, m->after.celsius);
    add_pair(json, "watts", m->before.milliwatts / 1e3, m->after.milliwatts / 1e3);
    cJSON *throttle = cJSON_AddArrayToObject(json, "throttle");
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if ((m->before.throttle | m->after.throttle) & reasons[i].bit)
            cJSON_AddItemToArray(throttle, cJSON_CreateString(reasons[i].name));
}

/* ---- */

static bool make_events(struct measuring *m)
{
    /* Made once and kept: they are the process's, as the stream is. */
    static CUevent begin[GPU_MAX_CONTENDERS], end[GPU_MAX_CONTENDERS];
    for (int i = 0; i < m->count; i++) {
        if (!begin[i] &&
            !gpu_card_ok(m->card, m->card->cu->cuEventCreate(&begin[i], CU_EVENT_DEFAULT), "timing"))
            return false;
        if (!end[i] && !gpu_card_ok(m->card, m->card->cu->cuEventCreate(&end[i], CU_EVENT_DEFAULT), "timing"))
            return false;
        m->begin[i] = begin[i];
        m->end[i] = end[i];
    }
    return true;
}

bool gpu_measure(struct gpu_card *card, int count, const struct gpu_contender *contenders, double limit_ms,
                 struct gpu_measurement *out)
{
    struct measuring m = {.card = card, .count = count, .contenders = contenders};
    double us[GPU_MAX_CONTENDERS];
    out->samples = 0;
    out->stable = false;
    if (!make_events(&m) || !warm_up(&m))
        return false;
    out->before = read_card(card);
    const double start = gpu_now_ms();
    while (out->samples < GPU_MAX_SAMPLES && !out->stable) {
        if (!run_round(&m, us))
            return false;
        for (int i = 0; i < count; i++)
            out->of[i].us[out->samples] = us[i];
        out->samples++;
        out->stable = out->samples >= FEWEST && known_well(out, count);
        if (gpu_now_ms() - start > limit_ms)
            break;
    }
    out->after = read_card(card);
    for (int i = 0; i < count; i++)
        summarize(&out->of[i], out->samples);
    return true;
}

#endif
