/* verify.c: where tensors lie in memory so that a wrong write shows, and how one is told.
 *
 * Memory of a tensor: [fence][the elements from the least to the greatest offset][fence]. The source holds
 * random bytes, fences included; the destination poison. After the kernel each element of the destination
 * must hold its source's value, and every byte that is no element (fences, gaps of the layout) its poison. */
#include "internal.h"

#include <string.h>

enum {
    FENCE_BYTES = 4096, /* before and after: further than a vector or a row of a tile strays */
    ALIGNMENT = 256     /* of the element at offset 0: what cudaMalloc promises and vector accesses need */
};

static int64_t round_up(int64_t x, int64_t to)
{
    return (x + to - 1) / to * to;
}

struct gpu_region gpu_region_of(const struct gpu_tensor *t, unsigned bits, int64_t at_least)
{
    const int64_t bytes = bits / 8;
    struct gpu_region r = {.origin = round_up(-t->min * bytes, ALIGNMENT) + FENCE_BYTES};
    r.first = r.origin + t->min * bytes;
    r.end = r.origin + (t->max + 1) * bytes;
    r.bytes = round_up(r.end > at_least ? r.end : at_least, ALIGNMENT) + FENCE_BYTES;
    return r;
}

static const char *hex(struct la_ctx *cx, const unsigned char *bytes, unsigned count)
{
    const char *text = "0x";
    for (unsigned i = count; i-- > 0;)
        text = la_format(cx, "%s%02x", text, bytes[i]);
    return text;
}

/* Who should have written it: the thread and value of the tile that the element lies in. */
static void add_owner(cJSON *json, const struct gpu_copy *c, const int64_t *coordinate)
{
    int64_t index = 0, weight = 1, tile = 0, tiles = 1;
    for (uint32_t k = 0; k < c->out.part.rank; k++) {
        index += coordinate[k] % c->out.part.tile[k] * weight;
        weight *= c->out.part.tile[k];
    }
    for (uint32_t i = 0; i < c->src.rank; i++) {
        const uint32_t k = c->order[i];
        tile += coordinate[k] / c->out.part.tile[k] * tiles;
        tiles *= c->rest[k];
    }
    cJSON_AddNumberToObject(json, "tile", (double)tile);
    if (c->out.tma) /* no thread of its own */
        return;
    const int64_t owner = gpu_map_at(c->out.part.owner, index);
    cJSON_AddNumberToObject(json, "thread", (double)(owner % c->out.part.threads));
    cJSON_AddNumberToObject(json, "value", (double)(owner / c->out.part.threads));
}

void gpu_mismatch_add(struct la_ctx *cx, cJSON *result, const struct gpu_plan *plan,
                      const struct gpu_mismatch *m)
{
    const struct gpu_copy *c = &plan->copy;
    int64_t coordinate[GPU_MAX_RANK], rest = m->index;
    for (uint32_t k = 0; k < c->src.rank; k++) {
        coordinate[k] = rest % c->src.extent[k];
        rest /= c->src.extent[k];
    }
    cJSON *json = cJSON_AddObjectToObject(result, "mismatch");
    cJSON_AddStringToObject(json, "coordinate", gpu_coordinate_text(cx, c->src.rank, coordinate));
    cJSON_AddNumberToObject(json, "index", (double)m->index);
    cJSON_AddNumberToObject(json, "src_offset", (double)gpu_map_at(c->src.all, m->index));
    cJSON_AddNumberToObject(json, "offset", (double)gpu_map_at(c->dst.all, m->index));
    cJSON_AddStringToObject(json, "expected", hex(cx, m->expected, c->type->bits / 8));
    cJSON_AddStringToObject(json, "got", hex(cx, m->got, c->type->bits / 8));
    if (m->counted)
        cJSON_AddNumberToObject(json, "writes", m->writes);
    add_owner(json, c, coordinate);
}

void gpu_stray_add(cJSON *result, const struct gpu_plan *plan, struct gpu_region r, int64_t byte)
{
    const int64_t bytes = plan->copy.type->bits / 8, from_origin = byte - r.origin;
    const int64_t offset = from_origin >= 0 ? from_origin / bytes : -((bytes - 1 - from_origin) / bytes);
    cJSON *json = cJSON_AddObjectToObject(result, "stray_write");
    cJSON_AddStringToObject(json, "where",
                            byte < r.first  ? "before dst"
                            : byte >= r.end ? "after dst"
                                            : "a gap of dst");
    cJSON_AddNumberToObject(json, "offset", (double)offset);
}
