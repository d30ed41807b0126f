/* compare.c: what the hardware counted held against what was predicted, group by group.
 *
 *   predicted {"requests": 8388608, "wavefronts": 8388608}
 *   measured  {"requests": 8388608, "wavefronts": 8449113}, and 3492010 turns of "arbitration"
 *   -> "equal": {"smem_store": true}, "arbitration": {"smem_store": 60505, "why": "..."}
 *
 * Numbers of global memory are exact. Those of shared memory may lie above the prediction by no more than the turns that
 * the hardware counted in the same run; what they took is told beside the verdict. Groups under "not_compared" of the
 * prediction get no verdict. */
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

/* By how much a number may lie above its prediction: the turns of the run in which it was counted. */
static double allowance(const cJSON *measured, const char *key)
{
    const char *turns = strcmp(key, "wavefronts") == 0  ? "arbitration"
                        : strcmp(key, "conflicts") == 0 ? "arbitration_of_conflicts"
                                                        : "";
    return number_of(measured, turns);
}

/* Whether every number that both have is the same, but for what may lie above. */
static bool same_numbers(const cJSON *predicted, const cJSON *group, const cJSON *measured)
{
    for (const cJSON *item = predicted->child; item; item = item->next) {
        const cJSON *other = cJSON_GetObjectItemCaseSensitive(group, item->string);
        const double excess = other ? other->valuedouble - item->valuedouble : 0;
        if (excess < 0 || excess > allowance(measured, item->string))
            return false;
    }
    return true;
}

/* Tell how many wavefronts of each equal group are turns; nothing where none are. */
static void add_arbitration(cJSON *counters, const cJSON *predicted, const cJSON *measured,
                            const cJSON *equal)
{
    cJSON *json = cJSON_CreateObject();
    for (const cJSON *verdict = equal->child; verdict; verdict = verdict->next) {
        const cJSON *group = cJSON_GetObjectItemCaseSensitive(predicted, verdict->string);
        const cJSON *other = cJSON_GetObjectItemCaseSensitive(measured, verdict->string);
        const double excess = number_of(other, "wavefronts") - number_of(group, "wavefronts");
        if (cJSON_IsTrue(verdict) && excess > 0)
            cJSON_AddNumberToObject(json, verdict->string, excess);
    }
    if (!json->child) {
        cJSON_Delete(json);
        return;
    }
    cJSON_AddStringToObject(json, "why", arbitration_why);
    cJSON_AddItemToObject(counters, "arbitration", json);
}

void gpu_counters_compare(cJSON *counters)
{
    const cJSON *measured = cJSON_GetObjectItemCaseSensitive(counters, "measured");
    const cJSON *predicted = cJSON_GetObjectItemCaseSensitive(counters, "predicted");
    const cJSON *apart = cJSON_GetObjectItemCaseSensitive(predicted, "not_compared");
    cJSON *equal = cJSON_AddObjectToObject(counters, "equal");
    for (const cJSON *group = predicted->child; group; group = group->next) {
        const cJSON *other = cJSON_GetObjectItemCaseSensitive(measured, group->string);
        if (other && !cJSON_GetObjectItemCaseSensitive(apart, group->string))
            cJSON_AddBoolToObject(equal, group->string, same_numbers(group, other, measured));
    }
    add_arbitration(counters, predicted, measured, equal);
}
