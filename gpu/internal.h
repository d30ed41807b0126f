/* internal.h: what the files of gpu share and nobody else sees. */
#ifndef GPU_INTERNAL_H
#define GPU_INTERNAL_H

#include "gpu.h"

#include <stdio.h>

/* ---- kinds.c ---- */

struct gpu_spec;
struct gpu_text;
struct gpu_job;
struct gpu_card;

/* What a kind of job does, step by step. */
struct gpu_kind_row {
    const char *name;         /* of the field "kind" */
    const char *kernel;       /* the entry of its source */
    const char *shared_field; /* the field to blame when a block needs too much shared memory */
    /* Resolve a spec into the plan, whose common members are set. False with cx->error, and *field at fault. */
    bool (*make)(struct la_ctx *cx, const struct gpu_spec *spec, struct gpu_plan *plan, const char **field);
    /* Add the kind's own fields of the resolved spec, and what follows from it. */
    void (*add_spec)(struct la_ctx *cx, const struct gpu_plan *plan, cJSON *json);
    void (*add_facts)(struct la_ctx *cx, const struct gpu_plan *plan, cJSON *json);
    cJSON *(*predict)(struct la_ctx *cx, const struct gpu_plan *plan); /* of the counters; NULL: nothing */
    void (*emit)(struct gpu_text *text, const struct gpu_plan *plan);  /* leaves by la_fail */
    /* Run and check, and on the card time. False with job->failure; may leave by la_fail. */
    bool (*run_cpu)(struct gpu_job *job);
    bool (*run_gpu)(struct gpu_card *card, struct gpu_job *job);
};
const struct gpu_kind_row *gpu_kind_of(const struct gpu_plan *plan);

bool gpu_copy_make(struct la_ctx *cx, const struct gpu_spec *spec, struct gpu_plan *plan, const char **field);
void gpu_copy_add_spec(struct la_ctx *cx, const struct gpu_plan *plan, cJSON *json);
void gpu_copy_add_facts(struct la_ctx *cx, const struct gpu_plan *plan, cJSON *json);
void gpu_emit_copy(struct gpu_text *text, const struct gpu_plan *plan);
bool gpu_copy_run_cpu(struct gpu_job *job);
void gpu_copy_release_cpu(void); /* its memory */
bool gpu_copy_run_gpu(struct gpu_card *card, struct gpu_job *job);

/* ---- spec.c ---- */

/* The fields of an mma, as texts; absent ones are NULL. */
struct gpu_mma_spec {
    const char *atom, *atom_layout, *permutation;
};

enum gpu_wish { GPU_WISH_AUTO, GPU_WISH_NO, GPU_WISH_YES };
/* The fields of a GEMM besides those of an mma; texts that are absent or "auto" are NULL, numbers 0. */
struct gpu_gemm_spec {
    int64_t problem[3]; /* m, n, k */
    double alpha, beta;
    const char *layout[4]; /* a, b, c, d */
    const char *tile, *smem[2], *copy[2], *smem_copy[2];
    enum gpu_wish ldmatrix;
    int64_t group;
};

/* A spec as it was given: texts are the JSON's own, absent ones have their defaults. */
struct gpu_spec {
    enum gpu_kind kind;
    const struct gpu_type *type;
    struct gpu_atom atom, dst_atom;
    const char *thr, *val, *dst_thr, *dst_val, *src, *dst, *smem; /* those of dst_ and smem may be NULL */
    const char *smem_store, *smem_load; /* atoms of stmatrix and ldmatrix; NULL: as each thread does it */
    enum la_integers integers;
    enum gpu_where where;
    enum gpu_cache cache;
    enum gpu_plant plant;
    int64_t grid, unroll, stages, seed; /* 0: to be chosen */
    bool counters;
    bool fresh; /* the daemon's own field: whether an earlier answer will do */
    struct gpu_mma_spec mma;
    struct gpu_gemm_spec gemm;
};
bool gpu_spec_read(struct la_ctx *cx, const cJSON *json, struct gpu_spec *out, const char **field);
/* Fill cx->error and give false: how files outside core refuse. */
bool gpu_refuse(struct la_ctx *cx, enum la_error_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
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
/* Fails unless the layout, called `name`, takes each of 0..size-1 once: every thread, or value, has one place. */
void gpu_bijection_check(struct la_ctx *cx, const char *name, struct la_layout layout, int64_t limit);
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

/* A layout over the partition's tile as a buffer of shared memory; bytes: of an element. Fails where two elements meet. */
struct gpu_smem *gpu_smem_make(struct la_ctx *cx, const struct gpu_partition *part, struct la_layout layout,
                               int64_t bytes);
/* Lay the tile of both legs out in shared memory; fills copy->smem and what the legs know of it. */
void gpu_stage_make(struct la_ctx *cx, struct gpu_copy *copy, const struct gpu_spec *spec,
                    struct la_layout layout, const char **field);
/* The layout as it is for a pointer: swizzles of bytes become swizzles of elements. */
struct la_layout gpu_smem_elements(struct la_ctx *cx, struct la_layout layout);
/* "(17,3)": the coordinate of an index in the tile. */
const char *gpu_tile_place(struct la_ctx *cx, const struct gpu_partition *part, int64_t index);

/* ---- matrix.c, tma.c: these too ---- */

/* The leg's way through shared memory by ldmatrix (its registers are the atom's Dst) or stmatrix (Src). */
void gpu_matrix_make(struct la_ctx *cx, const struct gpu_type *type, const struct gpu_smem *smem,
                     const char *name, enum la_end registers, struct gpu_leg *leg);
/* The offset in shared memory that such an instruction moves value v of a thread from, or to. */
int64_t gpu_matrix_place(const struct gpu_leg *leg, const struct gpu_smem *smem, int64_t thread, int64_t v);
/* The whole leg by TMA. */
void gpu_tma_make(struct la_ctx *cx, const struct gpu_type *type, const struct gpu_tensor *tensor,
                  struct la_layout smem, struct gpu_leg *leg);

/* ---- packed.c: likewise ---- */

/* A layout of elements of 4 bits as one of pairs of them; mode: the one that pairs lie along, -1 before the first. */
struct la_layout gpu_pack(struct la_ctx *cx, const char *name, struct la_layout layout, int32_t *mode);

/* ---- flight.c: likewise ---- */

static inline bool gpu_is_tma(const struct gpu_leg *leg)
{
    return leg->atom.op == GPU_TMA_LOAD || leg->atom.op == GPU_TMA_STORE;
}
static inline bool gpu_is_cp_async(const struct gpu_leg *leg)
{
    return leg->atom.op == GPU_CP_ASYNC_ALWAYS || leg->atom.op == GPU_CP_ASYNC_GLOBAL;
}
/* Choose what a spec left open of unroll, stages, batches and grid; sets shared_bytes. */
void gpu_flight_set(struct la_ctx *cx, const struct gpu_spec *spec, struct gpu_plan *plan,
                    const char **field);
/* Accesses to global memory that go through shared memory together: those of a matrix instruction, else one. */
int64_t gpu_unit_of(const struct gpu_leg *leg);

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
/* Of one whose atom is cp.async: fetch and its kin; and the loop over the tiles, also of TMA. */
void gpu_emit_async(struct gpu_text *text, const struct gpu_copy *copy);
void gpu_emit_ring(struct gpu_text *text, const struct gpu_copy *copy);
/* emit_matrix.c: put and get by stmatrix and ldmatrix, and both at the edge of the shape. */
void gpu_emit_matrix_put(struct gpu_text *text, const struct gpu_leg *leg);
void gpu_emit_matrix_get(struct gpu_text *text, const struct gpu_leg *leg);
void gpu_emit_matrix_put_edge(struct gpu_text *text);
void gpu_emit_matrix_get_edge(struct gpu_text *text);
/* emit_tma.c: the instructions, and fetch_tile and store_tile. */
void gpu_emit_tma_ptx(struct gpu_text *text, const struct gpu_copy *copy);
void gpu_emit_tma_load(struct gpu_text *text, const struct gpu_copy *copy);
void gpu_emit_tma_store(struct gpu_text *text, const struct gpu_copy *copy);
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
/* What TMA moves of the tile whose first coordinates these are: offsets in the tensor and in the tile's buffer; out
 * holds a tile. Gives how many there are: nothing beyond the edges of the tensor. */
int64_t gpu_tma_moves(const struct gpu_tma *tma, const int64_t *tile_at, int64_t bytes, struct gpu_move *out);
/* Sectors of global memory that the rows of its boxes lie in. */
int64_t gpu_tma_sectors(const struct gpu_tma *tma, const int64_t *tile_at, int64_t bytes);
/* Tables of a plan's offsets and coordinates. */
struct gpu_twin;
struct gpu_twin *gpu_twin_make(struct la_ctx *cx, const struct gpu_plan *plan);
/* All moves of a tile, in the order thread, access, value, or box by box; out holds threads * values. Gives how many
 * there are. */
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

/* ---- compile.c ---- */

/* All that the outcome of a compilation depends on, after a word for what is made of it; NULL without a compiler. */
const char *gpu_compile_key(struct la_ctx *cx, const char *what, const char *source, const char *arch);

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
    double run_ms; /* budget of the run; 0 when none was given */
    FILE *out;     /* where events go */
    FILE *
        compiler; /* where answers come from to the event "compile"; NULL: nobody compiles for this process */
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

/* One line; takes the object. */
void gpu_send_line(FILE *out, cJSON *line);
void gpu_job_event(const struct gpu_job *job, const char *event);
/* Tell what the result holds so far: it is kept when the job fails, or this process. */
void gpu_job_partial(const struct gpu_job *job);
/* executor_compile.c: the kernel's machine code: out of the cache, by whoever compiles for this process, or here. False
 * with job->failure. */
bool gpu_job_compile(struct gpu_job *job, const char *arch, struct gpu_cubin *out);
/* Fill job->failure; gives false. */
bool gpu_job_fail(struct gpu_job *job, enum gpu_failure_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
double gpu_now_ms(void);
/* Add the time since *since to the timings, and start again from now. */
void gpu_job_lap(struct gpu_job *job, const char *what, double *since);

#endif
