/* compare.c: what the hardware counted held against what was predicted, group by group.
 *
 *   predicted {"requests": 8388608, "wavefronts": 8388608}
 *   measured  {"requests": 8388608, "wavefronts": 8449113}, and 3492010 turns of "arbitration"
 *   -> "equal": {"smem_store": true}, "arbitration": {"smem_store": 60505, "why": "..."}
 *
 * Numbers of global memory are exact. Those of shared memory may lie above the prediction by named rules;
 * what they took is told beside the verdict, never swallowed. Groups under "not_compared" of the prediction
 * get no verdict. */
#include "gpu.h"

#include <string.h>

/* Shared memory's counters hold, besides the wavefronts of each access, the turns that warps and the other users of the
 * data pipe take from each other: few where few warps run, 0.5 to 5.3 % on a full H200. The hardware counts these turns,
 * too, those of global memory's accesses among them; where there are none of these, what is left is the prediction to the
 * unit (tests/gpu_counts.sh). */
static const char arbitration_why[] =
    "wavefronts (and conflicts) counted beyond the prediction while all requests are as predicted: warps "
    "that reach the data pipe in one cycle take turns, and who waits is counted once more, which no layout "
    "causes; equal means that it is no more than the hardware's own count of turns, \"arbitration\" in "
    "\"measured\"";

static double number_of(const cJSON *group, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(group, key);
    return item ? item->valuedouble : 0;
}

static const char off_why[] =
    "instructions counted beyond the prediction: at the edge of the shape the compiler makes accesses "
    "conditional, and "
    "the counter also counts those that issue with no lane on, which access nothing";

/* By how much a number may lie above its prediction. */
static double allowance(const cJSON *predicted, double turns, const char *key)
{
    if (strcmp(key, "requests") == 0)
        return number_of(predicted, "requests_off");
    const bool pipe = strcmp(key, "wavefronts") == 0 || strcmp(key, "conflicts") == 0;
    return pipe ? turns : 0;
}

/* Whether every number that both have is the same, but for what may lie above. */
static bool same_numbers(const cJSON *predicted, const cJSON *measured, double turns)
{
    for (const cJSON *item = predicted->child; item; item = item->next) {
        const cJSON *other = cJSON_GetObjectItemCaseSensitive(measured, item->string);
        const double excess = other ? other->valuedouble - item->valuedouble : 0;
        if (excess < 0 || excess > allowance(predicted, turns, item->string))
            return false;
    }
    return true;
}

/* Tell what a rule took: how much of a number each group has beyond its prediction; nothing where none has. */
static void add_rule(cJSON *counters, const char *rule, const char *key, const char *why)
{
    const cJSON *measured = cJSON_GetObjectItemCaseSensitive(counters, "measured");
    const cJSON *predicted = cJSON_GetObjectItemCaseSensitive(counters, "predicted");
    const cJSON *equal = cJSON_GetObjectItemCaseSensitive(counters, "equal");
    cJSON *json = cJSON_CreateObject();
    for (const cJSON *verdict = equal->child; verdict; verdict = verdict->next) {
        const cJSON *group = cJSON_GetObjectItemCaseSensitive(predicted, verdict->string);
        const cJSON *other = cJSON_GetObjectItemCaseSensitive(measured, verdict->string);
        const double excess = number_of(other, key) - number_of(group, key);
        if (cJSON_IsTrue(verdict) && excess > 0)
            cJSON_AddNumberToObject(json, verdict->string, excess);
    }
    if (!json->child) {
        cJSON_Delete(json);
        return;
    }
    cJSON_AddStringToObject(json, "why", why);
    cJSON_AddItemToObject(counters, rule, json);
}

/* A group is equal when its numbers are but for two rules of shared memory; what they took is told. */
void gpu_counters_compare(cJSON *counters)
{
    const cJSON *measured = cJSON_GetObjectItemCaseSensitive(counters, "measured");
    const cJSON *predicted = cJSON_GetObjectItemCaseSensitive(counters, "predicted");
    const cJSON *apart = cJSON_GetObjectItemCaseSensitive(predicted, "not_compared");
    cJSON *equal = cJSON_AddObjectToObject(counters, "equal");
    const double turns = number_of(measured, "arbitration");
    for (const cJSON *group = predicted->child; group; group = group->next) {
        const cJSON *other = cJSON_GetObjectItemCaseSensitive(measured, group->string);
        if (other && !cJSON_GetObjectItemCaseSensitive(apart, group->string))
            cJSON_AddBoolToObject(equal, group->string, same_numbers(group, other, turns));
    }
    add_rule(counters, "arbitration", "wavefronts", arbitration_why);
    add_rule(counters, "predicated_off", "requests", off_why);
}
