/* gemm_json.c: a GEMM's plan told as JSON: the spec with everything that was left open filled in, and what follows from
 * it. Nothing is decided here. */
#include "gemm.h"

static enum la_spelling spelling_of(const struct gpu_plan *plan)
{
    return plan->integers == LA_INTEGERS_STATIC ? LA_SPELL_TEXT : LA_SPELL_CUTE;
}

static void add_layout(struct la_ctx *cx, const struct gpu_plan *plan, cJSON *json, const char *name,
                       struct la_layout layout)
{
    cJSON_AddStringToObject(json, name, la_print_layout(cx, layout, spelling_of(plan)));
}

static const char *tile_text(struct la_ctx *cx, const struct gpu_gemm *g)
{
    return la_format(cx, "(%lld,%lld,%lld)", (long long)g->tile[0], (long long)g->tile[1],
                     (long long)g->tile[2]);
}

void gpu_gemm_add_spec(struct la_ctx *cx, const struct gpu_plan *plan, cJSON *json)
{
    const struct gpu_gemm *g = plan->gemm;
    cJSON_AddStringToObject(json, "atom", g->instruction.atom->name);
    add_layout(cx, plan, json, "atom_layout", g->atom_layout);
    cJSON_AddStringToObject(json, "permutation", la_print_tuple(cx, g->permutation, spelling_of(plan)));
    cJSON *problem = cJSON_AddObjectToObject(json, "problem");
    cJSON_AddNumberToObject(problem, "m", (double)g->m);
    cJSON_AddNumberToObject(problem, "n", (double)g->n);
    cJSON_AddNumberToObject(problem, "k", (double)g->k);
    cJSON_AddNumberToObject(json, "alpha", g->alpha);
    cJSON_AddNumberToObject(json, "beta", g->beta);
    add_layout(cx, plan, json, "a", g->of[0].tensor.layout);
    add_layout(cx, plan, json, "b", g->of[1].tensor.layout);
    add_layout(cx, plan, json, "c", g->c.layout);
    add_layout(cx, plan, json, "d", g->d.layout);
    cJSON_AddStringToObject(json, "tile", tile_text(cx, g));
    add_layout(cx, plan, json, "smem_a", g->of[0].smem->layout);
    add_layout(cx, plan, json, "smem_b", g->of[1].smem->layout);
    cJSON_AddStringToObject(json, "copy_a", g->of[0].fill.atom.name);
    cJSON_AddStringToObject(json, "copy_b", g->of[1].fill.atom.name);
    cJSON_AddStringToObject(json, "smem_copy_a", g->of[0].read.name);
    cJSON_AddStringToObject(json, "smem_copy_b", g->of[1].read.name);
    cJSON_AddNumberToObject(json, "stages", (double)g->stages);
    cJSON_AddNumberToObject(json, "group", (double)g->group);
    cJSON_AddNumberToObject(json, "grid", (double)plan->grid);
}

static void add_operand(struct la_ctx *cx, const struct gpu_gemm *g, const struct gpu_gemm_operand *o,
                        cJSON *json)
{
    int64_t ideal;
    const int64_t wavefronts = gpu_gemm_wavefronts(g, o, &ideal);
    const struct gpu_gemm_fill *f = &o->fill;
    cJSON *operand = cJSON_AddObjectToObject(json, o->name);
    cJSON_AddStringToObject(operand, "type", g->instruction.of[o->x].number->name);
    cJSON_AddStringToObject(operand, "contiguous", o->major ? "k" : o->x == LA_A ? "m" : "n");
    cJSON *fill = cJSON_AddObjectToObject(operand, "fill");
    cJSON_AddStringToObject(fill, "thr", gpu_layout_text(cx, f->part.thr));
    cJSON_AddStringToObject(fill, "val", gpu_layout_text(cx, f->part.val));
    cJSON_AddNumberToObject(fill, "values_per_access", (double)f->vector);
    cJSON_AddStringToObject(fill, "why", f->why);
    cJSON_AddNumberToObject(fill, "accesses", (double)(f->passes[0] * f->passes[1]));
    cJSON *read = cJSON_AddObjectToObject(operand, "read");
    cJSON_AddNumberToObject(read, "values_per_access", (double)gpu_gemm_access_values(o));
    cJSON_AddNumberToObject(read, "accesses", (double)(o->read.accesses * g->blocks_k));
    cJSON_AddStringToObject(read, "why", o->read.why);
    cJSON *shared = cJSON_AddObjectToObject(operand, "smem");
    cJSON_AddNumberToObject(shared, "wavefronts", (double)wavefronts);
    cJSON_AddNumberToObject(shared, "conflicts", (double)(wavefronts - ideal));
    cJSON_AddStringToObject(shared, "address",
                            o->read.addressing.how == GPU_ADDRESS_SUM   ? "a sum"
                            : o->read.addressing.how == GPU_ADDRESS_XOR ? "xor of constants"
                                                                        : "swizzled at each access");
}

void gpu_gemm_add_facts(struct la_ctx *cx, const struct gpu_plan *plan, cJSON *json)
{
    const struct gpu_gemm *g = plan->gemm;
    cJSON_AddStringToObject(json, "tile", tile_text(cx, g));
    cJSON *tiles = cJSON_AddArrayToObject(json, "tiles");
    for (int i = 0; i < 3; i++)
        cJSON_AddItemToArray(tiles, cJSON_CreateNumber((double)g->tiles[i]));
    cJSON_AddStringToObject(json, "thr_vmnk", gpu_layout_text(cx, g->mma->thr_vmnk));
    cJSON_AddNumberToObject(json, "block", (double)plan->block);
    add_operand(cx, g, &g->of[0], json);
    add_operand(cx, g, &g->of[1], json);
    cJSON *d = cJSON_AddObjectToObject(json, "d");
    cJSON_AddStringToObject(d, "type", g->instruction.of[LA_D].number->name);
    cJSON_AddNumberToObject(d, "values", (double)(g->c_values * g->of[0].rest * g->of[1].rest));
    cJSON_AddNumberToObject(d, "values_per_access", (double)g->vector);
    cJSON_AddNumberToObject(json, "accumulator_registers", (double)g->accumulator_words);
    cJSON_AddNumberToObject(json, "fragment_registers", (double)g->fragment_words);
    cJSON_AddNumberToObject(json, "shared_bytes", (double)plan->shared_bytes);
    cJSON_AddNumberToObject(json, "offset_bits", g->wide ? 64 : 32);
    cJSON_AddNumberToObject(json, "flops", 2.0 * (double)g->m * (double)g->n * (double)g->k);
    cJSON_AddNumberToObject(json, "bytes_read", (double)plan->bytes_read);
    cJSON_AddNumberToObject(json, "bytes_written", (double)plan->bytes_written);
}
