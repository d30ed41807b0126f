/* kinds.c: the kinds of jobs: one row a kind, with what it does at each step from a spec to a result.
 *
 *   {"kind":"copy",...} -> gpu_copy_make -> gpu_emit_copy -> gpu_copy_run_gpu
 *
 * What all kinds have is done here, once: the fields that every spec has, the plan's memory, and leaving by la_fail. */
#include "gemm.h"
#include "mma.h"

static const struct gpu_kind_row rows[] = {
    [GPU_COPY] = {.name = "copy",
                  .kernel = "copy",
                  .shared_field = "smem",
                  .make = gpu_copy_make,
                  .add_spec = gpu_copy_add_spec,
                  .add_facts = gpu_copy_add_facts,
                  .predict = gpu_predict,
                  .emit = gpu_emit_copy,
                  .run_cpu = gpu_copy_run_cpu,
                  .run_gpu = gpu_copy_run_gpu},
    [GPU_MMA] = {.name = "mma",
                 .kernel = "check",
                 .shared_field = "atom_layout",
                 .make = gpu_mma_make,
                 .add_spec = gpu_mma_add_spec,
                 .add_facts = gpu_mma_add_facts,
                 .emit = gpu_emit_mma_check,
                 .run_cpu = gpu_mma_run_cpu,
                 .run_gpu = gpu_mma_run_gpu},
    [GPU_GEMM] = {.name = "mma",
                  .kernel = "gemm",
                  .shared_field = "stages",
                  .make = gpu_gemm_make,
                  .add_spec = gpu_gemm_add_spec,
                  .add_facts = gpu_gemm_add_facts,
                  .emit = gpu_emit_gemm,
                  .run_cpu = gpu_gemm_run_cpu,
                  .run_gpu = gpu_gemm_run_gpu},
};

const struct gpu_kind_row *gpu_kind_of(const struct gpu_plan *plan)
{
    return &rows[plan->kind];
}

/* ---- spec -> plan ---- */

struct making {
    struct gpu_spec spec;
    struct gpu_plan *plan;
};

static void new_plan(struct la_ctx *cx, void *arg)
{
    struct making *m = arg;
    m->plan = la_alloc(cx, sizeof *m->plan);
    *m->plan = (struct gpu_plan){.kind = m->spec.kind,
                                 .integers = m->spec.integers,
                                 .where = m->spec.where,
                                 .plant = m->spec.plant,
                                 .counters = m->spec.counters,
                                 .seed = m->spec.seed};
}

bool gpu_plan_make(struct la_ctx *cx, const cJSON *spec, struct gpu_plan **out, const char **field)
{
    struct making m = {0};
    *out = NULL;
    if (!gpu_spec_read(cx, spec, &m.spec, field) || !la_try(cx, new_plan, &m))
        return false;
    const struct gpu_kind_row *row = gpu_kind_of(m.plan);
    *field = "kind";
    if (!row->make)
        return gpu_refuse(cx, LA_E_kind, "this daemon does not run '%s' yet", row->name);
    if (!row->make(cx, &m.spec, m.plan, field))
        return false;
    *field = NULL;
    *out = m.plan;
    return true;
}

bool gpu_spec_fields(struct la_ctx *cx, const cJSON *json, enum gpu_plant *plant, const char **field)
{
    struct gpu_spec spec = {0};
    const bool ok = gpu_spec_read(cx, json, &spec, field);
    *plant = spec.plant;
    return ok;
}

/* ---- plan -> JSON ---- */

cJSON *gpu_plan_spec(struct la_ctx *cx, const struct gpu_plan *plan)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "kind", gpu_kind_of(plan)->name);
    gpu_kind_of(plan)->add_spec(cx, plan, json);
    cJSON_AddStringToObject(json, "integers", plan->integers == LA_INTEGERS_STATIC ? "static" : "cute");
    if (plan->where != GPU_ANYWHERE)
        cJSON_AddStringToObject(json, "executor", gpu_where_name(plan->where));
    if (plan->counters)
        cJSON_AddTrueToObject(json, "counters");
    if (plan->seed)
        cJSON_AddNumberToObject(json, "seed", (double)plan->seed);
    if (plan->plant != GPU_PLANT_NONE)
        cJSON_AddStringToObject(json, "plant", gpu_plant_name(plan->plant));
    return json;
}

cJSON *gpu_plan_facts(struct la_ctx *cx, const struct gpu_plan *plan)
{
    cJSON *json = cJSON_CreateObject();
    gpu_kind_of(plan)->add_facts(cx, plan, json);
    return json;
}

/* ---- plan -> CUDA C ---- */

struct emission {
    const struct gpu_plan *plan;
    struct gpu_text text;
};

static void emit_body(struct la_ctx *cx, void *arg)
{
    struct emission *e = arg;
    e->text.cx = cx;
    gpu_kind_of(e->plan)->emit(&e->text, e->plan);
}

const char *gpu_emit(struct la_ctx *cx, const struct gpu_plan *plan)
{
    struct emission e = {.plan = plan};
    return la_try(cx, emit_body, &e) ? e.text.data : NULL;
}
