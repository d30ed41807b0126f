/* gpu.h: partitions that run. A spec (JSON) becomes a plan; a plan becomes CUDA C, or moves that the CPU
 * makes.
 *
 * A plan is data: which element every thread moves in every tile, how many bytes that is, how many threads
 * and blocks. plan.c resolves it from a spec or refuses the spec; everything after it (emit_copy.c,
 * reference.c, the executors) only reads it. Sections stand for the .c files of the same names.
 *
 * A plan lives in the arena of the context that it was made with. */
#ifndef GPU_H
#define GPU_H

#include "la.h"

#include <cjson/cJSON.h>

/* ---- limits of a spec ---- */

enum {
    GPU_MAX_RANK = 8,       /* modes of a tensor: CuTe code has 2 to 5 */
    GPU_MAX_MODES = 32,     /* flat modes of a tensor: they travel to the card as kernel parameters */
    GPU_MAX_THREADS = 1024, /* of a block: CUDA's own limit */
    GPU_MAX_VALUES = 4096,  /* of a thread in a tile: a register file holds 255 words of a thread */
    GPU_MAX_HELD = 512,     /* bytes that a thread loads before it stores: half of its 255 registers */
    GPU_MAX_STAGES = 16,    /* buffers of cp.async: shared memory ends before */
    GPU_MAX_SMEM =
        227 << 10,           /* bytes of shared memory of a block: Hopper's; a card with less refuses later */
    GPU_MAX_GRID = INT32_MAX /* blocks: CUDA's limit for gridDim.x */
};
/* Bytes from the first to the last element of a tensor: above a card's memory, far below 64-bit overflow in
 * bits. */
#define GPU_MAX_TENSOR_BYTES (INT64_C(1) << 40)

/* ---- spec.c, copy_spec.c, mma_spec.c: the fields of a spec ---- */

/* An element type of CuTe's: a copy moves bits, so its width is all there is to know. */
struct gpu_type {
    const char *name;
    unsigned bits;
};

/* How one thread moves consecutive elements. UniversalCopy<uintN_t> is one N-bit load and one N-bit store; cp.async goes
 * from global to shared memory past the registers, through L1 (CACHEALWAYS) or L2 alone (CACHEGLOBAL). TMA moves boxes
 * of a tensor between global and shared memory, and one thread asks for them. */
enum gpu_op { GPU_UNIVERSAL, GPU_CP_ASYNC_ALWAYS, GPU_CP_ASYNC_GLOBAL, GPU_TMA_LOAD, GPU_TMA_STORE };
struct gpu_atom {
    const char *name;
    unsigned bits; /* 0: AutoVectorizingCopy, the widest that is right; or TMA */
    enum gpu_op op;
};

/* An mma without a problem is the check of one tile; with one it is a GEMM. */
enum gpu_kind { GPU_COPY, GPU_MMA, GPU_GEMM };
enum gpu_where { GPU_ANYWHERE, GPU_ON_CPU, GPU_ON_GPU };
/* Hints to the caches: none; evict first; not into L1, and L2 may fetch 256 bytes at a time. */
enum gpu_cache { GPU_CACHE_AUTO, GPU_CACHE_DEFAULT, GPU_CACHE_STREAMING, GPU_CACHE_NO_ALLOCATE };
/* A fault planted on purpose, for tests. */
enum gpu_plant {
    GPU_PLANT_NONE,
    GPU_PLANT_ILLEGAL_ADDRESS,
    GPU_PLANT_TRAP,
    GPU_PLANT_HANG,
    GPU_PLANT_SEGFAULT,
    GPU_PLANT_WRONG_VALUE
};

/* ---- partition.c: who moves what ---- */

/* One flat mode of a layout. */
struct gpu_mode {
    int64_t extent, stride;
};

/* A function from an index to an offset: the flat modes of a layout, those of extent 1 left out, neighbours
 * merged. An index beyond the last mode's extent continues that mode, as in CuTe. */
struct gpu_map {
    uint32_t count;
    const struct gpu_mode *modes;
};
int64_t gpu_map_at(struct gpu_map map, int64_t index);

/* A layout in memory; offsets count elements from the element at offset 0. */
struct gpu_tensor {
    const char *name; /* the spec's field: "src" */
    struct la_layout layout;
    uint32_t rank;
    int64_t extent[GPU_MAX_RANK];      /* size of each mode */
    struct gpu_map mode[GPU_MAX_RANK]; /* coordinate of a mode -> offset */
    struct gpu_map all;                /* index, leftmost mode first -> offset */
    int64_t elements;
    int64_t min, max; /* the least and the greatest offset */
    int64_t distinct; /* offsets that are hit at most: below elements for a broadcast */
};

/* make_tiled_copy(atom, thr, val): tv maps (thread, value) to an index in the tile. */
struct gpu_partition {
    struct la_layout thr, val, tv;
    const struct la_node *tiler;
    uint32_t rank;              /* modes of the tiler */
    int64_t tile[GPU_MAX_RANK]; /* extents of the tile, 1 beyond rank */
    int64_t threads, values;
    struct gpu_map owner; /* index in the tile -> thread + threads * value */
    struct gpu_map thread_at[GPU_MAX_RANK],
        value_at[GPU_MAX_RANK]; /* thread, value -> coordinate in the tile */
};

/* How a partition walks a tensor: offset = thread(t) + value(v) + tile(i). */
struct gpu_access {
    struct gpu_map thread, value;
    struct gpu_map rest[GPU_MAX_RANK]; /* a tile's coordinate along each mode -> offset */
    struct gpu_map tile; /* a tile's number -> offset: rest in the order that tiles are numbered */
};

/* ---- matrix.c, tma.c: other ways than loads and stores ---- */

/* ldmatrix or stmatrix: a warp moves matrices of 8 rows of 16 bytes between its registers and shared memory. Lane l
 * says where row l lies, and each lane holds 32 bits of every matrix. */
struct gpu_matrix {
    const char *name; /* of the atom: SM75_U32x4_LDSM_N */
    bool trans;
    int64_t count;  /* matrices: 1, 2 or 4 */
    int64_t values; /* that a lane holds of all of them */
};

/* TMA: the boxes of a tile. Box n begins at smem(n) in the tile's buffer and at at[k](n) along mode k of the tile;
 * dim[d] takes a coordinate along a mode of the tensor to that along dimension d of the map. */
struct gpu_tma {
    struct la_tma map;
    struct gpu_map smem, at[GPU_MAX_RANK], dim[LA_TMA_RANK];
};

/* One way of a block's threads through a tile: from src, or to dst. Through shared memory there are two of
 * them; without it, one, from src to dst. Of a leg that TMA makes only the tile and the number of threads count. */
struct gpu_leg {
    struct gpu_partition part;
    struct gpu_atom atom;            /* of the accesses to global memory */
    int64_t vector;                  /* elements of one of them */
    const struct gpu_tma *tma;       /* or NULL */
    const struct gpu_matrix *matrix; /* of shared memory; NULL: loads or stores of each thread */
    struct gpu_access
        smem; /* thread and value -> offset in shared memory, before the swizzle; of a matrix instruction:
                             * the row of a thread */
    int64_t
        smem_vector; /* elements of one access to it: the most that divide `vector` and are right; or of a row */
    const char *smem_vector_why; /* what stops a wider one */
    int64_t batch; /* accesses of a thread that are loaded before the first store, within one tile */
};

/* ---- stage.c: the way through shared memory ---- */

/* A layout over the tile: (32,32):(33,1), or Swizzle<3,2,5> o 0 o (32,32):(32,1). */
struct gpu_smem {
    struct la_layout layout;
    struct la_swizzle swizzle; /* of offsets in elements; bits 0: none */
    int64_t shift;             /* is added before the swizzle */
    int64_t alignment;         /* of a tile's buffer, in bytes */
    int64_t span;              /* elements of one tile's buffer, a multiple of the alignment */
    const int64_t *at;         /* index in the tile -> offset, the swizzle applied */
};
int64_t gpu_smem_place(const struct gpu_smem *smem, int64_t offset);

/* ---- plan.c: a spec resolved ---- */

/* What a spec said of elements of 4 bits, which are planned as pairs: packed.c. */
struct gpu_packed {
    const struct gpu_type *type;
    struct la_layout val, dst_val, src, dst, smem;
};

struct gpu_copy {
    const struct gpu_type *type;
    const struct gpu_packed *packed; /* NULL: elements are whole bytes */
    struct gpu_leg in, out;          /* of the same tile; without smem the same */
    const struct gpu_smem *smem;     /* NULL: straight from src to dst */
    struct gpu_tensor src, dst;
    struct gpu_access load, store;
    int64_t rest[GPU_MAX_RANK]; /* tiles along each mode of the tensors */
    int64_t tiles;
    uint32_t order[GPU_MAX_RANK];         /* modes in the order that tiles are numbered, the fastest first */
    struct gpu_map tile_at[GPU_MAX_RANK]; /* a tile's number -> its first coordinate in each mode */
    bool partial[GPU_MAX_RANK];           /* the tile does not divide this mode */
    bool predicated;      /* some mode is partial: elements outside the shape are not touched */
    bool wide;            /* offsets or tile numbers need 64 bits */
    bool negative;        /* offsets need a sign */
    enum gpu_cache cache; /* never auto */
    int64_t unroll;       /* tiles whose loads are in flight together */
    int64_t stages;       /* buffers of cp.async and TMA: one is read, the others are on their way; else 0 */
};

struct gpu_plan {
    enum gpu_kind kind;
    enum la_integers integers;
    enum gpu_where where;
    enum gpu_plant plant;
    bool counters; /* read the hardware's counters, in a run of their own */
    int64_t seed;  /* of the random input; 0: drawn for each run */
    int64_t grid, block;
    int64_t shared_bytes;              /* of a block: a buffer for each tile in flight */
    int64_t bytes_read, bytes_written; /* what the copy must move at least */
    struct gpu_copy copy;
    struct gpu_mma *mma;   /* see mma.h */
    struct gpu_gemm *gemm; /* see gemm.h */
};

/* Resolve a spec. False when it is refused: cx->error says why, *field which field of the spec is at fault
 * (or NULL). A position in the error counts bytes of that field's text. */
bool gpu_plan_make(struct la_ctx *cx, const cJSON *spec, struct gpu_plan **out, const char **field);
/* Read a spec's fields and resolve nothing, which may take a tenth of a second. False as above. */
bool gpu_spec_fields(struct la_ctx *cx, const cJSON *spec, enum gpu_plant *plant, const char **field);
/* The spec with everything that was left open filled in: a valid spec again. The caller owns it. */
cJSON *gpu_plan_spec(struct la_ctx *cx, const struct gpu_plan *plan);
/* What follows from the spec: tiler, layouts, counts, bytes. The caller owns it. */
cJSON *gpu_plan_facts(struct la_ctx *cx, const struct gpu_plan *plan);

/* The least architecture that has a copy's instructions (90: sm_90; 0: all have them), for the sake of which atom and
 * field. */
int gpu_copy_arch(const struct gpu_copy *copy, const char **who, const char **field);

/* ---- predict.c: what the hardware will count ---- */

/* {"src":{"requests":..,"sectors":..},"dst":{..},"smem_store":{"requests":..,"wavefronts":..,"conflicts":..},
 * "smem_load":{..}} of one launch; "not_compared" names those that no counter shows. The caller owns it. */
cJSON *gpu_predict(struct la_ctx *cx, const struct gpu_plan *plan);

/* ---- compare.c: the prediction held against the counters ---- */

/* counters: has "predicted" and "measured"; gets "equal", and "arbitration" where that played a part. */
void gpu_counters_compare(cJSON *counters);

/* ---- kinds.c: what each kind of job does ---- */

/* The plan's kernel as CUDA C; NULL with cx->error. */
const char *gpu_emit(struct la_ctx *cx, const struct gpu_plan *plan);

/* ---- compile.c: CUDA C to machine code ---- */

struct gpu_cubin {
    const void *image;
    size_t size;
    const char *log; /* the compiler's, "" when it had nothing to say */
    bool cached;     /* found on disk */
};
/* Whether NVRTC can be used here; else *why says why not. */
bool gpu_compiler(const char **version, const char **why);
/* Compile for "sm_90a" and the like; needs no GPU. False with cx->error, the compiler's log in out->log. */
bool gpu_compile(struct la_ctx *cx, const char *source, const char *arch, struct gpu_cubin *out);
/* The same, when it is on disk already. */
bool gpu_compile_cached(struct la_ctx *cx, const char *source, const char *arch, struct gpu_cubin *out);
bool gpu_compile_ptx(struct la_ctx *cx, const char *source, const char *arch, const char **text);

/* ---- disassemble.c: machine code as text ---- */

/* SASS, by the toolkit's nvdisasm or cuobjdump. False with cx->error: also where neither is installed. */
bool gpu_disassemble(struct la_ctx *cx, const char *source, const char *arch, const char **text);

/* ---- compile_main.c: the process that compiles ---- */

/* One request from standard input, its answer to standard output. The process's exit status. */
int gpu_compile_main(void);

/* ---- executor.c: the process that runs jobs ---- */

/* Run as an executor over standard input and output: `which` is "cpu", "gpu" or "gpu:N". The process's exit
 * status. */
int gpu_executor_main(const char *which);

#endif
