/* check.c: whether a copy kernel did what its plan says, seen by looking at every byte on the card.
 *
 *   1. The source is filled with random bytes, fences included; the destination with poison.
 *   2. The kernel runs. A kernel that knows only the layouts compares every element and puts poison back.
 *   3. All of the destination's memory must be poison again: what is not has strayed.
 *   4. Once more with the complement as poison: an element that was never written cannot hold both by chance.
 *   5. The source must be as it was filled.
 *   6. The CPU twin runs a sample of the tiles: the same elements must lie at the same places.
 *
 * That an element was written twice with the same value does not show here; the CPU executor counts
 * writes. */
#include "card.h"

#ifdef GPU_HAVE_CUDA

#include <string.h>

#define POISON UINT64_C(0xa5a5a5a5a5a5a5a5)
enum {
    TWIN_MOVES = 1 << 16
}; /* elements that the twin compares: a millisecond of work, all of a small copy */

/* Steps of a check share this. */
struct checking {
    struct gpu_card *card;
    struct gpu_job *job;
    const struct gpu_arrays *arrays;
    bool verified;
};

static bool fill_source(struct checking *c)
{
    CUdeviceptr memory = c->arrays->src_memory;
    uint64_t words = (uint64_t)c->arrays->src.bytes / 8, seed = (uint64_t)c->job->seed;
    void *args[] = {&memory, &words, &seed};
    return gpu_card_for_each(c->card, c->card->fill, words, args);
}

bool gpu_copy_launch(struct gpu_card *card, const struct gpu_plan *plan, const struct gpu_arrays *arrays)
{
    CUdeviceptr src = arrays->src_memory + (CUdeviceptr)arrays->src.origin;
    CUdeviceptr dst = arrays->dst_memory + (CUdeviceptr)arrays->dst.origin;
    void *args[4] = {&src, &dst}; /* and the maps of those legs that TMA makes */
    int n = 2;
    if (plan->copy.in.tma)
        args[n++] = (void *)(uintptr_t)&arrays->src_map;
    if (plan->copy.out.tma)
        args[n] = (void *)(uintptr_t)&arrays->dst_map;
    return gpu_card_launch(card, arrays->copy, plan->grid, plan->block, plan->shared_bytes, args);
}

static bool poison_and_run(struct checking *c, uint64_t poison)
{
    const struct gpu_arrays *a = c->arrays;
    return gpu_card_ok(c->card,
                       c->card->cu->cuMemsetD32Async(a->dst_memory, (uint32_t)poison,
                                                     (size_t)a->dst.bytes / 4, c->card->stream),
                       "poisoning") &&
           gpu_copy_launch(c->card, c->job->plan, a) && gpu_card_wait(c->card);
}

/* ---- every element ---- */

static bool describe_mismatch(struct checking *c, uint64_t index)
{
    const struct gpu_copy *copy = &c->job->plan->copy;
    const struct gpu_arrays *a = c->arrays;
    const int64_t bytes = copy->type->bits / 8;
    struct gpu_mismatch m = {.found = true, .index = (int64_t)index};
    const int64_t from = a->src.origin + gpu_map_at(copy->src.all, m.index) * bytes;
    const int64_t to = a->dst.origin + gpu_map_at(copy->dst.all, m.index) * bytes;
    gpu_random_bytes((uint64_t)c->job->seed, (uint64_t)from, m.expected, (size_t)bytes);
    if (!gpu_card_ok(c->card,
                     c->card->cu->cuMemcpyDtoHAsync(m.got, a->dst_memory + (CUdeviceptr)to, (size_t)bytes,
                                                    c->card->stream),
                     "reading") ||
        !gpu_card_wait(c->card))
        return false;
    gpu_mismatch_add(c->job->cx, c->job->result, c->job->plan, &m);
    return true;
}

static bool check_elements(struct checking *c, uint64_t poison)
{
    const struct gpu_copy *copy = &c->job->plan->copy;
    struct gpu_check_shape shape = gpu_check_shape_of(copy);
    CUdeviceptr src = c->arrays->src_memory + (CUdeviceptr)c->arrays->src.origin;
    CUdeviceptr dst = c->arrays->dst_memory + (CUdeviceptr)c->arrays->dst.origin;
    void *args[] = {&shape, &src, &dst, &poison, &c->card->found};
    struct gpu_found found;
    int width = 0;
    while (8u << width != copy->type->bits)
        width++;
    if (!gpu_card_found_clear(c->card) ||
        !gpu_card_for_each(c->card, c->card->check[width], shape.elements, args) ||
        !gpu_card_found_read(c->card, &found))
        return false;
    if (!found.count)
        return true;
    c->verified = false;
    cJSON_AddNumberToObject(c->job->result, "mismatches", (double)found.count);
    return describe_mismatch(c, found.least);
}

/* ---- everything else ---- */

static bool look(struct checking *c, CUfunction kernel, CUdeviceptr memory, int64_t bytes, uint64_t value,
                 struct gpu_found *found)
{
    uint64_t words = (uint64_t)bytes / 8;
    void *args[] = {&memory, &words, &value, &c->card->found};
    return gpu_card_found_clear(c->card) && gpu_card_for_each(c->card, kernel, words, args) &&
           gpu_card_found_read(c->card, found);
}

static bool check_rest(struct checking *c, uint64_t poison)
{
    const struct gpu_arrays *a = c->arrays;
    struct gpu_found found;
    if (!look(c, c->card->strays, a->dst_memory, a->dst.bytes, poison, &found))
        return false;
    if (found.count) {
        c->verified = false;
        gpu_stray_add(c->job->result, c->job->plan, a->dst, (int64_t)found.least * 8);
    }
    return true;
}

static bool check_source(struct checking *c)
{
    const struct gpu_arrays *a = c->arrays;
    struct gpu_found found;
    if (!look(c, c->card->intact, a->src_memory, a->src.bytes, (uint64_t)c->job->seed, &found))
        return false;
    if (found.count) {
        c->verified = false;
        cJSON_AddTrueToObject(c->job->result, "source_changed");
    }
    return true;
}

/* ---- the twin ---- */

/* The moves of as many tiles as fit: all, or the first, the last and random ones. */
static int64_t sample_moves(const struct gpu_job *job, struct gpu_move *moves, int64_t most, int64_t *tiles)
{
    const struct gpu_copy *c = &job->plan->copy;
    const struct gpu_twin *twin = gpu_twin_make(job->cx, job->plan);
    const int64_t per_tile = c->in.part.threads * c->in.part.values;
    const int64_t count = most / per_tile < c->tiles ? most / per_tile : c->tiles;
    int64_t n = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t tile = i;
        if (count < c->tiles)
            tile = i == 0   ? 0
                   : i == 1 ? c->tiles - 1
                            : (int64_t)(gpu_random_word((uint64_t)job->seed + 1, (uint64_t)i) %
                                        (uint64_t)c->tiles);
        n += gpu_twin_tile(twin, tile, moves + n);
    }
    *tiles = count;
    return n;
}

/* What lies on the card at the offsets that the twin writes. */
static bool gather(struct checking *c, const int64_t *offsets, int64_t n, int64_t bytes, unsigned char *out)
{
    struct gpu_card *card = c->card;
    CUdeviceptr where, values, dst = c->arrays->dst_memory + (CUdeviceptr)c->arrays->dst.origin;
    uint64_t count = (uint64_t)n;
    uint32_t width = (uint32_t)bytes;
    if (!gpu_card_take(card, n * 8, &where) || !gpu_card_take(card, n * bytes, &values) ||
        !gpu_card_ok(card, card->cu->cuMemcpyHtoDAsync(where, offsets, (size_t)n * 8, card->stream),
                     "gathering"))
        return false;
    void *args[] = {&dst, &where, &count, &width, &values};
    return gpu_card_for_each(card, card->gather, count, args) &&
           gpu_card_ok(card, card->cu->cuMemcpyDtoHAsync(out, values, (size_t)(n * bytes), card->stream),
                       "gathering") &&
           gpu_card_wait(card);
}

/* Compare a sample with what the CPU twin moves; between the kernel and check_elements. */
static bool check_twin(struct checking *c, cJSON *checked)
{
    const struct gpu_copy *copy = &c->job->plan->copy;
    const int64_t per_tile = copy->in.part.threads * copy->in.part.values, bytes = copy->type->bits / 8;
    const int64_t most = per_tile > TWIN_MOVES ? per_tile : TWIN_MOVES;
    struct gpu_move *moves = la_alloc(c->job->cx, (size_t)most * sizeof *moves);
    int64_t tiles, *offsets = la_alloc(c->job->cx, (size_t)most * sizeof *offsets), equal = 0;
    const int64_t n = sample_moves(c->job, moves, most, &tiles);
    unsigned char *got = la_alloc(c->job->cx, (size_t)(n * bytes));
    for (int64_t i = 0; i < n; i++)
        offsets[i] = moves[i].to;
    if (!gather(c, offsets, n, bytes, got))
        return false;
    for (int64_t i = 0; i < n; i++) {
        unsigned char expected[16];
        const int64_t from = c->arrays->src.origin + moves[i].from * bytes;
        gpu_random_bytes((uint64_t)c->job->seed, (uint64_t)from, expected, (size_t)bytes);
        equal += memcmp(expected, got + i * bytes, (size_t)bytes) == 0;
    }
    cJSON *twin = cJSON_AddObjectToObject(checked, "twin");
    cJSON_AddNumberToObject(twin, "tiles", (double)tiles);
    cJSON_AddNumberToObject(twin, "of_tiles", (double)copy->tiles);
    cJSON_AddNumberToObject(twin, "elements", (double)n);
    cJSON_AddNumberToObject(twin, "equal", (double)equal);
    c->verified = c->verified && equal == n;
    return true;
}

bool gpu_check_copy(struct gpu_card *card, struct gpu_job *job, const struct gpu_arrays *arrays,
                    bool *verified)
{
    const struct gpu_copy *copy = &job->plan->copy;
    struct checking c = {card, job, arrays, true};
    cJSON *checked = cJSON_AddObjectToObject(job->result, "checked");
    cJSON_AddNumberToObject(checked, "elements", (double)copy->dst.elements);
    cJSON_AddNumberToObject(checked, "other_bytes",
                            (double)(arrays->dst.bytes - copy->dst.elements * (copy->type->bits / 8)));
    cJSON_AddNumberToObject(checked, "runs", 2);
    cJSON_AddFalseToObject(checked, "writes_counted");
    bool ok = fill_source(&c);
    for (int run = 0; ok && c.verified && run < 2; run++) {
        const uint64_t poison = run == 0 ? POISON : ~POISON;
        ok = poison_and_run(&c, poison) && (run > 0 || check_twin(&c, checked)) && check_elements(&c, poison);
        if (ok && c.verified)
            ok = check_rest(&c, poison);
    }
    ok = ok && check_source(&c);
    cJSON_AddBoolToObject(job->result, "verified", ok && c.verified);
    *verified = c.verified;
    return ok;
}

#endif
