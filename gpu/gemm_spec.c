/* gemm_spec.c: the fields of a GEMM's spec: an mma with a problem.
 *
 *   {"kind":"mma", "atom":"SM80_16x8x16_F32F16F16F32_TN", "problem":{"m":4096,"n":4096,"k":4096}}
 *
 * What is left out, or "auto", is chosen. One row a field; spec.c reads them, gemm_plan.c knows what they mean. */
#include "spec.h"

#include <math.h>
#include <string.h>

enum { MAX_EXTENT = 1 << 28 /* as GPU_GEMM_MAX_EXTENT */ };

/* {"m":4096,"n":4096,"k":4096}, each once and nothing else. */
static bool read_problem(const struct gpu_reading *r, void *member)
{
    static const char *const names[3] = {"m", "n", "k"};
    int64_t *out = member;
    unsigned seen = 0;
    if (!cJSON_IsObject(r->item))
        return gpu_refuse(r->cx, LA_E_kind,
                          "'problem' takes an object, {\"m\":4096,\"n\":4096,\"k\":4096}, not %s",
                          gpu_given(r->cx, r->item));
    for (const cJSON *item = r->item->child; item; item = item->next) {
        unsigned i = 0;
        while (i < 3 && strcmp(item->string, names[i]) != 0)
            i++;
        if (i == 3 || seen & 1u << i)
            return gpu_refuse(r->cx, LA_E_unknown_name,
                              "'problem' has m, n and k, each once; this is '%.60s'", item->string);
        const double x = cJSON_IsNumber(item) ? item->valuedouble : NAN;
        if (!(x >= 1 && x <= MAX_EXTENT) || floor(x) != x)
            return gpu_refuse(r->cx, LA_E_domain, "'problem': %s is an integer from 1 to %d, not %s",
                              names[i], MAX_EXTENT, gpu_given(r->cx, item));
        out[i] = (int64_t)x;
        seen |= 1u << i;
    }
    return seen == 7 || gpu_refuse(r->cx, LA_E_arity, "'problem' needs m, n and k");
}

static bool read_number(const struct gpu_reading *r, void *member)
{
    *(double *)member = cJSON_IsNumber(r->item) ? r->item->valuedouble : NAN;
    return isfinite(*(double *)member) || gpu_refuse(r->cx, LA_E_kind, "'%s' takes a number, not %s",
                                                     r->field->name, gpu_given(r->cx, r->item));
}

static bool is_auto(const cJSON *item)
{
    return cJSON_IsString(item) && !strcmp(item->valuestring, "auto");
}

static bool read_text(const struct gpu_reading *r, void *member)
{
    return is_auto(r->item) || gpu_read_text(r, member);
}

static bool read_integer(const struct gpu_reading *r, void *member)
{
    return is_auto(r->item) || gpu_read_integer(r, member);
}

static bool read_wish(const struct gpu_reading *r, void *member)
{
    enum gpu_wish *out = member;
    *out = cJSON_IsTrue(r->item) ? GPU_WISH_YES : cJSON_IsFalse(r->item) ? GPU_WISH_NO : GPU_WISH_AUTO;
    return cJSON_IsBool(r->item) || is_auto(r->item) ||
           gpu_refuse(r->cx, LA_E_kind, "'%s' takes true, false or \"auto\", not %s", r->field->name,
                      gpu_given(r->cx, r->item));
}

#define MMA(member) offsetof(struct gpu_spec, mma.member)
#define GEMM(member) offsetof(struct gpu_spec, gemm.member)
#define OPERAND(member, i) (GEMM(member) + (i) * sizeof(const char *))
static const struct gpu_field fields[] = {
    {.name = "atom", .read = gpu_read_text, .member = MMA(atom), .required = true},
    {.name = "atom_layout", .read = read_text, .member = MMA(atom_layout)},
    {.name = "permutation", .read = read_text, .member = MMA(permutation)},
    {.name = "problem", .read = read_problem, .member = GEMM(problem), .required = true},
    {.name = "alpha", .read = read_number, .member = GEMM(alpha)},
    {.name = "beta", .read = read_number, .member = GEMM(beta)},
    {.name = "a", .read = read_text, .member = OPERAND(layout, 0)},
    {.name = "b", .read = read_text, .member = OPERAND(layout, 1)},
    {.name = "c", .read = read_text, .member = OPERAND(layout, 2)},
    {.name = "d", .read = read_text, .member = OPERAND(layout, 3)},
    {.name = "tile", .read = read_text, .member = GEMM(tile)},
    {.name = "smem_a", .read = read_text, .member = OPERAND(smem, 0)},
    {.name = "smem_b", .read = read_text, .member = OPERAND(smem, 1)},
    {.name = "copy_a", .read = read_text, .member = OPERAND(copy, 0)},
    {.name = "copy_b", .read = read_text, .member = OPERAND(copy, 1)},
    {.name = "smem_copy_a", .read = read_text, .member = OPERAND(smem_copy, 0)},
    {.name = "smem_copy_b", .read = read_text, .member = OPERAND(smem_copy, 1)},
    {.name = "ldmatrix", .read = read_wish, .member = GEMM(ldmatrix)},
    {.name = "stages",
     .read = read_integer,
     .member = offsetof(struct gpu_spec, stages),
     .max = GPU_MAX_STAGES},
    {.name = "group", .read = read_integer, .member = GEMM(group), .max = MAX_EXTENT},
    {.name = "grid", .read = read_integer, .member = offsetof(struct gpu_spec, grid), .max = GPU_MAX_GRID},
};

/* Absent fields: 0 is no number that alpha could mean. */
static bool check_together(struct la_ctx *cx, const cJSON *json, struct gpu_spec *s, const char **field)
{
    if (!cJSON_GetObjectItemCaseSensitive(json, "alpha"))
        s->gemm.alpha = 1;
    *field = "ldmatrix";
    for (int i = 0; i < 2; i++)
        if (s->gemm.ldmatrix != GPU_WISH_AUTO && s->gemm.smem_copy[i])
            return gpu_refuse(cx, LA_E_arity,
                              "'ldmatrix' and 'smem_copy_%c' both say how shared memory is read", 'a' + i);
    return true;
}

const struct gpu_fields gpu_gemm_fields = {"a GEMM", fields, sizeof fields / sizeof fields[0],
                                           check_together};
