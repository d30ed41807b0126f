/* gemm.h: D = alpha*A*B^T + beta*C as data: what each thread loads, computes and stores, and when.
 *
 * A block has one tile of D, (tile_m, tile_n), and walks over K in steps of tile_k. A step of A and one of B lie in a
 * stage of shared memory, and `stages` of them are in flight. Twice the data changes hands:
 *
 *     global -> shared      gpu_gemm_fill: thread t and pass p move a vector that begins at (mn,k) = thread(t) + pass(p)
 *     shared -> registers   gpu_gemm_read: thread t and access g fill registers from place(row(t) + first(g))
 *
 * and both are checked element by element when the plan is made, against the partition of the TiledMMA. emit_gemm.c
 * prints the plan, gemm_twin.c runs it on the CPU; neither decides anything. */
#ifndef GPU_GEMM_H
#define GPU_GEMM_H

#include "internal.h"
#include "mma.h"

enum {
    GPU_GEMM_MAX_EXTENT = 1 << 28, /* of M, N, K: tiles and coordinates stay well within 32 bits */
    GPU_GEMM_REGISTERS = 232,      /* words of accumulators and fragments that 255 registers leave room for */
    GPU_GEMM_MAX_ACCESSES = 1 << 12, /* of a thread to a stage of an operand: they are all written out */
    GPU_GEMM_GROUP = 8 /* rows of tiles that blocks go through together, so that L2 has B's tiles */
};
/* Multiply-adds of a problem: seconds at the speed of a card. */
#define GPU_GEMM_MAX_WORK (INT64_C(1) << 50)

/* Where an access lies: place(thread + constant), where place is the swizzle and what depends on the thread is known
 * before the loop. */
enum gpu_gemm_address {
    GPU_ADDRESS_SUM, /* no swizzle: thread + constant */
    GPU_ADDRESS_XOR, /* no bit is set in both: (place(thread) ^ (place(constant) & mask)) + (place(constant) & ~mask) */
    GPU_ADDRESS_FULL /* place(thread + constant), at each access */
};
struct gpu_gemm_addressing {
    enum gpu_gemm_address how;
    int64_t mask; /* of XOR: the bits that place(thread) has in any thread */
};

/* global -> shared of one stage of an operand */
struct gpu_gemm_fill {
    struct gpu_atom atom;
    int64_t vector;            /* elements of an access, along the major mode */
    const char *why;           /* what stops a wider one */
    struct gpu_partition part; /* of vectors: its tile is what one pass moves */
    int64_t passes[2];         /* along mn and k */
    struct gpu_access
        smem; /* thread, value of the vector, rest (a pass along mn, along k) -> before the swizzle */
    struct gpu_gemm_addressing addressing;
};

/* shared -> registers of one block of K, an atom deep */
struct gpu_gemm_read {
    const char *name; /* of the copy atom */
    int64_t matrices; /* of ldmatrix: 1, 2 or 4 registers an access; 0: loads of each thread */
    bool trans;       /* ldmatrix: rows lie along mn */
    bool whole;       /* loads of each thread: a register at a time, else an element at a time */
    const char *why;  /* what stops ldmatrix, or one that reads more */
    int64_t accesses;
    struct gpu_gemm_addressing addressing;
};

/* A (M,K) or B (N,K). */
struct gpu_gemm_operand {
    const char *name; /* "a" */
    enum la_matrix x;
    struct gpu_tensor tensor;
    uint32_t major;     /* the mode that is contiguous in global and in shared memory: 0 mn, 1 k */
    int64_t tile[2];    /* mn, k */
    unsigned bits, per; /* of an element; elements of a register */
    const struct gpu_smem *smem;
    struct gpu_gemm_fill fill;
    /* The TiledMMA's partition of a stage, before the swizzle: thread; value + values * (atom along mn + rest * block
     * of K). */
    struct gpu_map thread, value;
    int64_t values, rest; /* of an atom; atoms of a thread along mn */
    struct gpu_gemm_read read;
};

struct gpu_gemm {
    struct gpu_instruction instruction;
    const struct la_tiled_mma *mma;
    struct la_layout atom_layout;
    const struct la_node *permutation;
    int64_t m, n, k;
    double alpha, beta;
    int64_t tile[3];               /* m, n, k */
    int64_t tiles[3];              /* of the problem */
    int64_t blocks_k;              /* of a step: tile_k over the atom's */
    struct gpu_gemm_operand of[2]; /* A, B */
    struct gpu_tensor c, d;
    struct gpu_map c_thread[2],
        c_value[2];   /* accumulators: thread; value + values * (atom m + rest * atom n) -> m, n */
    int64_t c_values; /* of an atom */
    int64_t vector;   /* elements of an access to C and to D, along n */
    int64_t threads, stages, group;
    int64_t stage_bytes, b_offset;             /* of shared memory: a stage, and where B begins in it */
    int64_t accumulator_words, fragment_words; /* registers of a thread */
    bool wide;                                 /* offsets need 64 bits */
    unsigned d_bits;
};

/* A, B, C or D. */
static inline const struct gpu_tensor *gpu_gemm_tensor(const struct gpu_gemm *g, enum la_matrix x)
{
    return x < LA_C ? &g->of[x].tensor : x == LA_C ? &g->c : &g->d;
}

/* ---- gemm_plan.c ---- */

bool gpu_gemm_make(struct la_ctx *cx, const struct gpu_spec *spec, struct gpu_plan *plan, const char **field);

/* ---- gemm_operand.c: leave by la_fail ---- */

/* What a spec says of an operand; NULL: to be chosen. */
struct gpu_gemm_wish {
    const char *smem, *copy, *smem_copy;
    const char *fields[3]; /* their names */
    bool matrices;         /* ldmatrix may be used */
};
/* Everything about an operand whose tensor and tile are set. *field becomes the field at fault. */
void gpu_gemm_operand_make(struct la_ctx *cx, const struct gpu_gemm *g, struct gpu_gemm_operand *o,
                           const struct gpu_gemm_wish *wish, enum la_integers integers, const char **field);
/* The thread layout of a matrix's partition of a tile, and that of its values. */
void gpu_gemm_partition(struct la_ctx *cx, const struct la_tiled_mma *mma, enum la_matrix x,
                        struct la_layout tile, struct gpu_map *thread, struct gpu_map *value);

/* The offset before the swizzle of a pass, those along mn first. */
int64_t gpu_gemm_pass(const struct gpu_gemm_fill *fill, int64_t pass);

/* ---- gemm_address.c ---- */

/* How the kernel computes the addresses of an operand whose accesses are set. */
void gpu_gemm_set_addressing(struct la_ctx *cx, const struct gpu_gemm *g, struct gpu_gemm_operand *o);
/* The offset before the swizzle of what thread t names in an access whose first value is `first`: its register, its
 * element, or a row of a matrix. */
int64_t gpu_gemm_row(const struct gpu_gemm_operand *o, int64_t thread);
int64_t gpu_gemm_first(const struct gpu_gemm_operand *o, int64_t access);
/* Values that an access fills. */
int64_t gpu_gemm_access_values(const struct gpu_gemm_operand *o);
/* Wavefronts of shared memory that a stage takes, filling and reading, by the first warp. */
int64_t gpu_gemm_wavefronts(const struct gpu_gemm *g, const struct gpu_gemm_operand *o, int64_t *ideal);

/* ---- gemm_json.c ---- */

void gpu_gemm_add_spec(struct la_ctx *cx, const struct gpu_plan *plan, cJSON *json);
void gpu_gemm_add_facts(struct la_ctx *cx, const struct gpu_plan *plan, cJSON *json);

/* ---- gemm_bound.c ---- */

/* What of the random words is kept, and what is set, so that they are values of a type. */
struct gpu_gemm_bits {
    uint64_t keep, set;
};
struct gpu_gemm_bits gpu_gemm_bits_of(const struct gpu_number *number);

/* How far a result may be from the exact one; `exact`: not at all, modulo 2^32. */
struct gpu_gemm_bound {
    bool exact;
    double partial;   /* of the greatest partial sum of an element */
    double result;    /* of |alpha| times that and |beta c| */
    double magnitude; /* of a row's partial sums: their root mean square, at most */
    double row;       /* of a row's sum with random signs */
};
struct gpu_gemm_bound gpu_gemm_bound_of(const struct gpu_gemm *g);
/* Fails where a sum or a result may be beyond D's type: it would be infinite, and prove nothing. *field: at fault. */
void gpu_gemm_range_check(struct la_ctx *cx, const struct gpu_gemm *g, const char **field);
void gpu_gemm_bound_add(const struct gpu_gemm *g, const struct gpu_gemm_bound *bound, cJSON *json);
/* x + a * b, as the accumulators have it: integers modulo 2^32. */
double gpu_gemm_add(const struct gpu_gemm *g, double x, double a, double b);

/* Where elements of A, B and C come from. */
struct gpu_gemm_source {
    double (*element)(const void *arg, enum la_matrix x, int64_t i, int64_t j);
    const void *arg;
};
/* What D(i,j) must be, and how far from it it may be. */
struct gpu_gemm_exact {
    double value, bound;
};
struct gpu_gemm_exact gpu_gemm_exact_of(const struct gpu_gemm *g, const struct gpu_gemm_bound *bound,
                                        struct gpu_gemm_source source, int64_t i, int64_t j);
/* Adds "mismatch" to a result. */
void gpu_gemm_mismatch_add(struct la_ctx *cx, cJSON *result, const struct gpu_gemm *g, int64_t i, int64_t j,
                           struct gpu_gemm_exact exact, double got);

/* ---- gemm_twin.c ---- */

/* Reads an element of A, B or C, in the twin and in the reference; integers are exact. */
struct gpu_gemm_data {
    const struct gpu_gemm *g;
    const unsigned char *of[3]; /* A, B, C: the element at offset 0 */
    unsigned char *d;
};
double gpu_gemm_element(const struct gpu_gemm_data *data, enum la_matrix x, int64_t i, int64_t j);
struct gpu_gemm_twin;
struct gpu_gemm_twin *gpu_gemm_twin_make(struct la_ctx *cx, const struct gpu_plan *plan);
/* Everything that the block of a tile does, in its order, and D of it; writes: a counter for each offset of D from its
 * least on, or NULL. */
void gpu_gemm_twin_tile(struct gpu_gemm_twin *twin, const struct gpu_gemm_data *data, int64_t tile,
                        unsigned char *writes);

/* ---- emit_gemm.c ---- */

void gpu_emit_gemm(struct gpu_text *text, const struct gpu_plan *plan);

/* ---- gemm_cpu.c, gemm_gpu.c ---- */

bool gpu_gemm_run_cpu(struct gpu_job *job);
bool gpu_gemm_run_gpu(struct gpu_card *card, struct gpu_job *job);

#endif
