/* plan_json.c: a copy's plan told as JSON: the spec with everything that was left open filled in, and what follows from it.
 *
 *   {"kind":"copy", ..., "grid":2048, "unroll":4, "cache":"streaming"}    resolves to itself
 *
 * Nothing is decided here. */
#include "internal.h"

/* The layouts in the elements of the spec. */
static struct gpu_packed given_of(const struct gpu_copy *c)
{
    if (c->packed)
        return *c->packed;
    return (struct gpu_packed){c->type,       c->in.part.val, c->out.part.val,
                               c->src.layout, c->dst.layout,  c->smem ? c->smem->layout : c->src.layout};
}

void gpu_copy_add_spec(struct la_ctx *cx, const struct gpu_plan *plan, cJSON *json)
{
    const struct gpu_copy *c = &plan->copy;
    const bool is_static = plan->integers == LA_INTEGERS_STATIC;
    const enum la_spelling spelling = is_static ? LA_SPELL_TEXT : LA_SPELL_CUTE;
    const struct gpu_packed given = given_of(c);
    cJSON_AddStringToObject(json, "type", given.type->name);
    cJSON_AddStringToObject(json, "atom", c->in.atom.name);
    cJSON_AddStringToObject(json, "thr", la_print_layout(cx, c->in.part.thr, spelling));
    cJSON_AddStringToObject(json, "val", la_print_layout(cx, given.val, spelling));
    cJSON_AddStringToObject(json, "src", la_print_layout(cx, given.src, spelling));
    cJSON_AddStringToObject(json, "dst", la_print_layout(cx, given.dst, spelling));
    if (c->smem) {
        cJSON_AddStringToObject(json, "smem", la_print_layout(cx, given.smem, spelling));
        if (c->in.matrix)
            cJSON_AddStringToObject(json, "smem_store", c->in.matrix->name);
        if (c->out.matrix)
            cJSON_AddStringToObject(json, "smem_load", c->out.matrix->name);
        cJSON_AddStringToObject(json, "dst_atom", c->out.atom.name);
        cJSON_AddStringToObject(json, "dst_thr", la_print_layout(cx, c->out.part.thr, spelling));
        cJSON_AddStringToObject(json, "dst_val", la_print_layout(cx, given.dst_val, spelling));
    } else {
        cJSON_AddNullToObject(json, "smem");
    }
    cJSON_AddNumberToObject(json, "grid", (double)plan->grid);
    cJSON_AddNumberToObject(json, "unroll", (double)c->unroll);
    if (c->stages)
        cJSON_AddNumberToObject(json, "stages", (double)c->stages);
    cJSON_AddStringToObject(json, "cache", gpu_cache_name(c->cache));
}

/* The tensor map of a leg that TMA makes, and its boxes. */
static void add_tma(cJSON *side, const struct la_tma *map)
{
    cJSON *dims = cJSON_AddArrayToObject(side, "dimensions");
    for (uint32_t d = 0; d < map->rank; d++) {
        cJSON *dim = cJSON_CreateObject();
        cJSON_AddItemToArray(dims, dim);
        cJSON_AddNumberToObject(dim, "mode", map->dim[d].mode);
        cJSON_AddNumberToObject(dim, "extent", (double)map->dim[d].extent);
        cJSON_AddNumberToObject(dim, "stride_bytes", (double)map->dim[d].stride);
        cJSON_AddNumberToObject(dim, "box", (double)map->dim[d].box);
    }
    cJSON_AddNumberToObject(side, "swizzle_bytes", map->swizzle);
    cJSON_AddNumberToObject(side, "box_bytes", (double)map->box_bytes);
    cJSON_AddNumberToObject(side, "boxes", (double)map->instructions);
    cJSON_AddNumberToObject(side, "alignment", (double)map->alignment);
}

/* How a leg reaches shared memory. */
static void add_smem_side(cJSON *json, const char *name, const struct gpu_leg *leg)
{
    cJSON *side = cJSON_AddObjectToObject(json, name);
    if (leg->tma) {
        cJSON_AddStringToObject(side, "atom", leg->atom.name);
        add_tma(side, &leg->tma->map);
        return;
    }
    if (leg->matrix) {
        cJSON_AddStringToObject(side, "atom", leg->matrix->name);
        cJSON_AddNumberToObject(side, "values", (double)leg->matrix->values);
    }
    cJSON_AddNumberToObject(side, "values_per_access", (double)leg->smem_vector);
    cJSON_AddStringToObject(side, "why", leg->smem_vector_why);
}

static void add_stage(struct la_ctx *cx, cJSON *json, const struct gpu_plan *plan)
{
    const struct gpu_copy *c = &plan->copy;
    cJSON_AddStringToObject(json, "dst_tv", gpu_layout_text(cx, c->out.part.tv));
    if (!c->out.tma)
        cJSON_AddNumberToObject(json, "dst_values_per_access", (double)c->out.vector);
    cJSON_AddNumberToObject(json, "shared_bytes", (double)plan->shared_bytes);
    add_smem_side(json, "smem_store", &c->in);
    add_smem_side(json, "smem_load", &c->out);
}

void gpu_copy_add_facts(struct la_ctx *cx, const struct gpu_plan *plan, cJSON *json)
{
    const struct gpu_copy *c = &plan->copy;
    cJSON_AddStringToObject(json, "tiler", la_print_tuple(cx, c->in.part.tiler, LA_SPELL_TEXT));
    cJSON_AddStringToObject(json, "tv", gpu_layout_text(cx, c->in.part.tv));
    cJSON_AddNumberToObject(json, "threads", (double)c->in.part.threads);
    cJSON_AddNumberToObject(json, "values", (double)c->in.part.values);
    const double ahead = (double)(c->stages ? c->stages - 1 : c->unroll); /* tiles */
    if (c->in.tma) {
        cJSON_AddNumberToObject(json, "boxes_in_flight", (double)c->in.tma->map.instructions * ahead);
    } else {
        cJSON_AddNumberToObject(json, "values_per_access", (double)c->in.vector);
        cJSON_AddNumberToObject(json, "accesses_in_flight", (double)c->in.batch * ahead);
    }
    if (c->packed) /* of all that is counted in values and elements */
        cJSON_AddStringToObject(json, "unit", c->type->name);
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
        cJSON_AddStringToObject(json, "edge",
                                c->in.tma && c->out.tma ? "TMA reads zeros and writes nothing beyond it"
                                                        : "value by value where an access straddles it");
    cJSON_AddNumberToObject(json, "offset_bits", c->wide ? 64 : 32);
    cJSON_AddNumberToObject(json, "block", (double)plan->block);
    if (c->smem)
        add_stage(cx, json, plan);
    cJSON_AddNumberToObject(json, "bytes_read", (double)plan->bytes_read);
    cJSON_AddNumberToObject(json, "bytes_written", (double)plan->bytes_written);
}
