/* plan_json.c: a plan told as JSON: the spec with everything that was left open filled in, and what follows from it.
 *
 *   {"kind":"copy", ..., "grid":2048, "unroll":4, "cache":"streaming"}    resolves to itself
 *
 * Nothing is decided here. */
#include "internal.h"

cJSON *gpu_plan_spec(struct la_ctx *cx, const struct gpu_plan *plan)
{
    const struct gpu_copy *c = &plan->copy;
    const bool is_static = plan->integers == LA_INTEGERS_STATIC;
    const enum la_spelling spelling = is_static ? LA_SPELL_TEXT : LA_SPELL_CUTE;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "kind", "copy");
    cJSON_AddStringToObject(json, "type", c->type->name);
    cJSON_AddStringToObject(json, "atom", c->in.atom.name);
    cJSON_AddStringToObject(json, "thr", la_print_layout(cx, c->in.part.thr, spelling));
    cJSON_AddStringToObject(json, "val", la_print_layout(cx, c->in.part.val, spelling));
    cJSON_AddStringToObject(json, "src", la_print_layout(cx, c->src.layout, spelling));
    cJSON_AddStringToObject(json, "dst", la_print_layout(cx, c->dst.layout, spelling));
    if (c->smem) {
        cJSON_AddStringToObject(json, "smem", la_print_layout(cx, c->smem->layout, spelling));
        cJSON_AddStringToObject(json, "dst_atom", c->out.atom.name);
        cJSON_AddStringToObject(json, "dst_thr", la_print_layout(cx, c->out.part.thr, spelling));
        cJSON_AddStringToObject(json, "dst_val", la_print_layout(cx, c->out.part.val, spelling));
    } else {
        cJSON_AddNullToObject(json, "smem");
    }
    cJSON_AddStringToObject(json, "integers", is_static ? "static" : "cute");
    cJSON_AddNumberToObject(json, "grid", (double)plan->grid);
    cJSON_AddNumberToObject(json, "unroll", (double)c->unroll);
    if (c->stages)
        cJSON_AddNumberToObject(json, "stages", (double)c->stages);
    cJSON_AddStringToObject(json, "cache", gpu_cache_name(c->cache));
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

/* How a leg reaches shared memory. */
static void add_smem_side(cJSON *json, const char *name, const struct gpu_leg *leg)
{
    cJSON *side = cJSON_AddObjectToObject(json, name);
    cJSON_AddNumberToObject(side, "values_per_access", (double)leg->smem_vector);
    cJSON_AddStringToObject(side, "why", leg->smem_vector_why);
}

static void add_stage(struct la_ctx *cx, cJSON *json, const struct gpu_plan *plan)
{
    const struct gpu_copy *c = &plan->copy;
    cJSON_AddStringToObject(json, "dst_tv", gpu_layout_text(cx, c->out.part.tv));
    cJSON_AddNumberToObject(json, "dst_values_per_access", (double)c->out.vector);
    cJSON_AddNumberToObject(json, "shared_bytes", (double)plan->shared_bytes);
    add_smem_side(json, "smem_store", &c->in);
    add_smem_side(json, "smem_load", &c->out);
}

cJSON *gpu_plan_facts(struct la_ctx *cx, const struct gpu_plan *plan)
{
    const struct gpu_copy *c = &plan->copy;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "tiler", la_print_tuple(cx, c->in.part.tiler, LA_SPELL_TEXT));
    cJSON_AddStringToObject(json, "tv", gpu_layout_text(cx, c->in.part.tv));
    cJSON_AddNumberToObject(json, "threads", (double)c->in.part.threads);
    cJSON_AddNumberToObject(json, "values", (double)c->in.part.values);
    cJSON_AddNumberToObject(json, "values_per_access", (double)c->in.vector);
    cJSON_AddNumberToObject(json, "accesses_in_flight",
                            (double)(c->in.batch * (c->stages ? c->stages - 1 : c->unroll)));
    cJSON_AddNumberToObject(json, "elements", (double)c->src.elements);
    cJSON_AddNumberToObject(json, "tiles", (double)c->tiles);
    cJSON *order = cJSON_AddArrayToObject(json, "tile_order"),
          *partial = cJSON_AddArrayToObject(json, "partial_modes");
    for (uint32_t k = 0; k < c->src.rank; k++) {
        cJSON_AddItemToArray(order, cJSON_CreateNumber(c->order[k]));
        if (c->partial[k])
            cJSON_AddItemToArray(partial, cJSON_CreateNumber(k));
    }
    cJSON_AddBoolToObject(json, "predicated", c->predicated);
    if (c->predicated)
        cJSON_AddStringToObject(json, "edge", "value by value where an access straddles it");
    cJSON_AddNumberToObject(json, "offset_bits", c->wide ? 64 : 32);
    cJSON_AddNumberToObject(json, "block", (double)plan->block);
    if (c->smem)
        add_stage(cx, json, plan);
    cJSON_AddNumberToObject(json, "bytes_read", (double)plan->bytes_read);
    cJSON_AddNumberToObject(json, "bytes_written", (double)plan->bytes_written);
    return json;
}
