/* internal.h: what the files of gpu share and nobody else sees. */
#ifndef GPU_INTERNAL_H
#define GPU_INTERNAL_H

#include "gpu.h"

#include <stdio.h>

/* ---- spec.c ---- */

/* A spec as it was given: texts are the JSON's own, absent ones have their defaults. */
struct gpu_spec {
    enum gpu_kind kind;
    const struct gpu_type *type;
    struct gpu_atom atom, dst_atom;
    const char *thr, *val, *dst_thr, *dst_val, *src, *dst, *smem; /* those of dst_ and smem may be NULL */
    enum la_integers integers;
    enum gpu_where where;
    enum gpu_cache cache;
    enum gpu_plant plant;
    int64_t grid, unroll, stages, seed; /* 0: to be chosen */
    bool counters;
    bool fresh; /* the daemon's own field: whether an earlier answer will do */
};
bool gpu_spec_read(struct la_ctx *cx, const cJSON *json, struct gpu_spec *out, const char **field);
/* Fill cx->error and give false: how files outside core refuse. */
bool gpu_refuse(struct la_ctx *cx, enum la_error_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The word of a list that is nearest to a wrong one, or NULL when none is near. */
const char *gpu_nearest(const char *word, const char *const *words, size_t count);
const char *gpu_plant_name(enum gpu_plant plant);
const char *gpu_cache_name(enum gpu_cache cache);
const char *gpu_where_name(enum gpu_where where);

/* ---- tensor.c, partition.c: these leave by la_fail, as core's functions do ---- */

static inline const char *gpu_layout_text(struct la_ctx *cx, struct la_layout layout)
{
    return la_print_layout(cx, layout, LA_SPELL_TEXT);
}

struct gpu_map gpu_map_of(struct la_ctx *cx, struct la_layout layout);
/* The map whose modes are those of all parts, in order. */
struct gpu_map gpu_map_join(struct la_ctx *cx, uint32_t n, const struct gpu_map *parts);
/* names: the spec's fields, for messages; *field becomes the one at fault. */
struct gpu_partition gpu_partition_make(struct la_ctx *cx, struct la_layout thr, struct la_layout val,
                                        const char *const names[2], const char **field);
struct gpu_tensor gpu_tensor_make(struct la_ctx *cx, const char *name, struct la_layout layout,
                                  unsigned bits);
struct gpu_access gpu_access_make(struct la_ctx *cx, const struct gpu_partition *part,
                                  const struct gpu_tensor *tensor);
/* Fails unless no two coordinates of the tensor share an offset. */
void gpu_tensor_injective(struct la_ctx *cx, const struct gpu_tensor *tensor);
/* Fail unless the values of every access are consecutive in the tensor, and unless every access that touches
 * an element starts at a multiple of its length. */
void gpu_access_consecutive(struct la_ctx *cx, const struct gpu_type *type, const struct gpu_leg *leg,
                            const struct gpu_tensor *tensor, const struct gpu_access *access);
void gpu_access_aligned(struct la_ctx *cx, const struct gpu_type *type, const struct gpu_leg *leg,
                        const struct gpu_tensor *tensor, const struct gpu_access *access);
/* The least and the greatest value of a map; fails with overflow. */
void gpu_map_range(struct la_ctx *cx, struct gpu_map map, int64_t *min, int64_t *max);
/* "(17,3)": the coordinate in a tensor, one integer a mode. */
const char *gpu_coordinate_text(struct la_ctx *cx, uint32_t rank, const int64_t *coordinate);

/* ---- stage.c: leaves by la_fail too ---- */

/* Lay the tile of both legs out in shared memory; fills copy->smem and what the legs know of it. */
void gpu_stage_make(struct la_ctx *cx, struct gpu_copy *copy, struct la_layout layout, const char **field);

/* ---- text.c: text that grows, in the arena ---- */

struct gpu_text {
    struct la_ctx *cx;
    char *data;
    size_t len, cap;
};
void gpu_text_add(struct gpu_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A map as a C expression of a variable: "t % 8 * 8 + t / 8 * 4096". */
void gpu_text_map(struct gpu_text *text, struct gpu_map map, const char *variable);

/* ---- emit_copy.c, emit_access.c, emit_stage.c, emit_async.c: all leave by la_fail ---- */

/* The functions and the kernel of a copy through shared memory. */
void gpu_emit_stage(struct gpu_text *text, const struct gpu_plan *plan);
/* Of one whose atom is cp.async: fetch and its kin, and the loop over the tiles. */
void gpu_emit_async(struct gpu_text *text, const struct gpu_copy *copy);
void gpu_emit_async_loop(struct gpu_text *text, const struct gpu_copy *copy);
/* Pieces that all kernels have. */
void gpu_emit_map(struct gpu_text *text, const char *name, const char *part, const char *variable,
                  struct gpu_map map);
void gpu_emit_maps(struct gpu_text *text, const char *name, struct gpu_map thread, struct gpu_map value,
                   struct gpu_map tile);
/* load() and store() of so many bits, with a hint to the caches; load_shared() and store_shared(). */
void gpu_emit_access(struct gpu_text *text, unsigned load_bits, unsigned store_bits, enum gpu_cache cache);
void gpu_emit_shared_access(struct gpu_text *text, unsigned load_bits, unsigned store_bits);
/* whole(i) and, with a prefix, within(t, v, i): the predicates of a shape that the tile does not divide. */
void gpu_emit_whole(struct gpu_text *text, const struct gpu_copy *copy);
void gpu_emit_within(struct gpu_text *text, const struct gpu_copy *copy, const struct gpu_leg *leg,
                     const char *prefix);
void gpu_emit_plant(struct gpu_text *text, enum gpu_plant plant);
const char *gpu_bits_type(unsigned bits);
const char *gpu_offset_type(const struct gpu_copy *copy);

/* ---- random.c: input that host and card make alike ---- */

/* Word i of the random input: 8 bytes, least significant first. */
uint64_t gpu_random_word(uint64_t seed, uint64_t i);
void gpu_random_bytes(uint64_t seed, uint64_t at, void *out, size_t size);
/* A seed that is not 0 and that JSON carries exactly. */
int64_t gpu_random_seed(void);

/* ---- reference.c: the CPU twin ---- */

/* Where one element comes from and goes to, in elements from offset 0. */
struct gpu_move {
    int64_t from, to;
};
/* Tables of a plan's offsets and coordinates. */
struct gpu_twin;
struct gpu_twin *gpu_twin_make(struct la_ctx *cx, const struct gpu_plan *plan);
/* All moves of a tile, in the order thread, access, value; out holds threads * values. Gives how many there
 * are. */
int64_t gpu_twin_tile(const struct gpu_twin *twin, int64_t tile, struct gpu_move *out);

/* Walks the offsets of a layout in the order of its index, without a division. */
struct gpu_walk {
    struct gpu_map map;
    int64_t at[GPU_MAX_MODES];
    int64_t offset;
};
struct gpu_walk gpu_walk_start(struct gpu_map map);
void gpu_walk_next(struct gpu_walk *walk);

/* ---- verify.c: where the two tensors lie in memory, and how a mismatch is told ---- */

/* A tensor's memory: [fence][elements min..max][fence]; every byte has a known value before the kernel
 * runs. */
struct gpu_region {
    int64_t bytes;      /* of all; a multiple of 16 */
    int64_t origin;     /* byte of the element at offset 0 */
    int64_t first, end; /* bytes of the elements: [first, end) */
};
/* at_least: bytes up to the rear fence, for other uses of the memory. */
struct gpu_region gpu_region_of(const struct gpu_tensor *tensor, unsigned bits, int64_t at_least);

/* An element that does not hold its source's value, or was not written exactly once. */
struct gpu_mismatch {
    bool found;
    int64_t index; /* of the element, leftmost mode first */
    unsigned char expected[16], got[16];
    bool counted; /* only the CPU counts writes */
    unsigned writes;
};
/* Add "mismatch" to a result: coordinate, offsets, values, and who should have written it. */
void gpu_mismatch_add(struct la_ctx *cx, cJSON *result, const struct gpu_plan *plan,
                      const struct gpu_mismatch *mismatch);
/* Add "stray_write": a byte of the destination's memory that is no element and has changed. */
void gpu_stray_add(cJSON *result, const struct gpu_plan *plan, struct gpu_region region, int64_t byte);

/* ---- cache.c: compiled kernels on disk ---- */

/* The key holds all that the machine code depends on. */
bool gpu_cache_read(struct la_ctx *cx, const char *key, struct gpu_cubin *out);
void gpu_cache_write(struct la_ctx *cx, const char *key, const struct gpu_cubin *cubin);

/* ---- executor.c: one job ---- */

enum gpu_failure_kind { GPU_USER_ERROR, GPU_KERNEL_FAULT, GPU_INFRA };

struct gpu_failure {
    enum gpu_failure_kind kind;
    const char *field; /* of the spec, or NULL */
    bool fatal;        /* the process cannot go on */
    char message[512];
};

struct gpu_job {
    struct la_ctx *cx;
    const char *id;
    const struct gpu_plan *plan;
    const char *source; /* the kernel */
    int64_t seed;
    double run_ms;  /* budget of the run; 0 when none was given */
    FILE *out;      /* where events go */
    cJSON *result;  /* filled by the backend */
    cJSON *timings; /* part of the result: where the time went, in milliseconds */
    struct gpu_failure failure;
};

struct gpu_backend {
    const char *name;
    /* Get ready; the device's description, or NULL with *why. */
    cJSON *(*open)(struct la_ctx *cx, int index, const char **why);
    /* False with job->failure; may also leave by la_fail. */
    bool (*run)(struct gpu_job *job);
    /* Give back what the run took; called after every run. */
    void (*release)(void);
};
extern const struct gpu_backend gpu_backend_cpu, gpu_backend_gpu;

void gpu_job_event(const struct gpu_job *job, const char *event);
/* Tell what the result holds so far: it is kept when the job fails, or this process. */
void gpu_job_partial(const struct gpu_job *job);
/* Fill job->failure; gives false. */
bool gpu_job_fail(struct gpu_job *job, enum gpu_failure_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
double gpu_now_ms(void);
/* Add the time since *since to the timings, and start again from now. */
void gpu_job_lap(struct gpu_job *job, const char *what, double *since);

#endif
