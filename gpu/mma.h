/* mma.h: one MMA instruction as it runs, and the check of a partition made of it.
 *
 * A fragment is what one thread holds of one matrix for one instruction, packed as CuTe packs it: value i, in the order
 * of the value mode of the atom's TV layout, lies in bits (i % per) * bits of register i / per. */
#ifndef GPU_MMA_H
#define GPU_MMA_H

#include "internal.h"
#include "number.h"

/* ---- instruction.c: which instruction an atom is ---- */

enum gpu_form {
    GPU_FORM_FMA,     /* one thread: d = a * b + c in d's type */
    GPU_FORM_DP4A,    /* one thread */
    GPU_FORM_MMA,     /* mma.sync of a warp */
    GPU_FORM_COMPLEX, /* four of them, of doubles */
    GPU_FORM_GAUSS,   /* three */
    GPU_FORM_WGMMA    /* of a warpgroup; B, and A with SS, from shared memory */
};

struct gpu_fragment {
    const struct gpu_number *number; /* the values */
    const char *type;                /* of a register in CUDA C */
    int64_t values, per,
        registers;   /* of a thread; in a register; in shared memory: 1 register, its descriptor */
    bool descriptor; /* the operand lies in shared memory */
};

struct gpu_instruction {
    const struct la_atom *atom;
    enum gpu_form form;
    int64_t m, n, k, threads;  /* threads of the atom: 8 of a quad pair, though its warp runs it */
    struct gpu_fragment of[4]; /* by enum la_matrix */
    const char *ptx;           /* "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"; NULL: plain C */
    int least, most;           /* compute capabilities times ten that have it: 80 to any, 90 to 90 */
    bool saturates;            /* integers stop at their limits */
    bool bits, bits_and;       /* of single bits: ones are counted after xor, or after and */
    bool negative[2];          /* A or B is multiplied by -1 */
};

/* The instruction of an MMA atom. False, with a sentence that names the atom, for one that is not run here. */
bool gpu_instruction_find(struct la_ctx *cx, const struct la_atom *atom, struct gpu_instruction *out);
/* Whether a card of this compute capability has it; else cx->error says so by name. */
bool gpu_instruction_on(struct la_ctx *cx, const struct gpu_instruction *in, int major, int minor);

/* ---- emit_mma.c: an instruction as CUDA C; leaves by la_fail ---- */

/* __device__ inline void mma(D (&d)[ND], const A (&a)[NA], const B (&b)[NB], const C (&c)[NC]): d = a * b + c. All
 * threads of the instruction's warp, or warpgroup, call it together; d and c may be the same array. */
void gpu_emit_mma(struct gpu_text *text, const struct gpu_instruction *in);

/* ---- mma_plan.c: the check of a partition ---- */

enum {
    GPU_MMA_MAX_ELEMENTS = 1 << 20,      /* of a matrix of the tile: it is made and checked on the host */
    GPU_MMA_THREADS_OF_REGISTERS = 65536 /* registers of a block, of 32 bits */
};
#define GPU_MMA_MAX_PRODUCTS (INT64_C(1) << 27) /* of the tile: a second on the host */

/* One matrix of the tile as the threads have it. In memory it is compact, its first mode the fastest. */
struct gpu_mma_part {
    int64_t extent[2];                   /* A (M,K), B (N,K), C (M,N) */
    int64_t rest[2];                     /* instructions along both modes, one after the other in a thread */
    struct la_layout tv;                 /* (thread, value) -> index in the tile */
    struct gpu_map thread, value;        /* the same; value: one instruction's, then those of the next */
    int64_t values;                      /* of a thread in all instructions */
    const int64_t *of_thread, *of_value; /* the two maps, for every thread and value */
    /* Of an operand in shared memory: the buffer of one instruction's elements, each in the order of the atom's values. */
    const struct gpu_smem *smem;
    struct gpu_map place; /* element -> offset in the buffer, before the swizzle */
    uint64_t descriptor;  /* all but the address */
    const char *layout;   /* its name in CuTe */
    int64_t buffers, at;  /* how many; the byte at which the first begins */
};

static inline int64_t gpu_mma_at(const struct gpu_mma_part *part, int64_t thread, int64_t value)
{
    return part->of_thread[thread] + part->of_value[value];
}

/* One tile of D = A * B^T + C. Where threads share out K, each of their groups along it has its own sums: D has a slice
 * a group, and C is added in the first. */
struct gpu_mma {
    struct gpu_instruction in;
    const struct la_tiled_mma *tiled;
    struct la_layout atoms;
    int64_t tile[3];      /* M, N, K */
    int64_t groups[4];    /* of thr_vmnk: threads of an instruction, and groups of them along M, N and K */
    int64_t threads;      /* of the MMA; those of a block are as many whole warps */
    struct gpu_map place; /* thread -> index in (V,M,N,K); only of the threads that have one */
    const int64_t *thread_at;    /* [index in (V,M,N,K)] -> thread */
    struct gpu_mma_part part[3]; /* by enum la_matrix */
};

bool gpu_mma_make(struct la_ctx *cx, const struct gpu_spec *spec, struct gpu_plan *plan, const char **field);
void gpu_mma_add_spec(struct la_ctx *cx, const struct gpu_plan *plan, cJSON *json);
void gpu_mma_add_facts(struct la_ctx *cx, const struct gpu_plan *plan, cJSON *json);
/* The layout that a text means: a layout, or the compact one of a shape. False with cx->error. */
bool gpu_mma_read_atoms(struct la_ctx *cx, const char *text, enum la_integers integers,
                        struct la_layout *out);
/* Permutations of M, N and K: integers, layouts or _. */
bool gpu_mma_read_permutation(struct la_ctx *cx, const char *text, enum la_integers integers,
                              const struct la_node **out);
/* make_tiled_mma, its arguments looked at; leaves by la_fail, *field the one at fault. */
const struct la_tiled_mma *gpu_mma_tile(struct la_ctx *cx, const struct la_atom *atom, struct la_layout atoms,
                                        const struct la_node *permutation, const char **field);
/* The MMA atom of that name, or a refusal with the nearest one. */
bool gpu_mma_read_atom(struct la_ctx *cx, const char *text, const struct la_atom **out);

/* ---- emit_mma_check.c ---- */

/* extern "C" __global__ void check(const void *a, const void *b, const void *c, void *d) */
void gpu_emit_mma_check(struct gpu_text *text, const struct gpu_plan *plan);

/* ---- mma_memory.c: the matrices ---- */

/* A, B, C and D, which has all slices, each between fences, in one piece of memory. */
struct gpu_mma_memory {
    unsigned char *image, *before; /* before: a copy from before the run */
    int64_t bytes;
    int64_t at[4], size[4];          /* bytes of the elements, by enum la_matrix */
    const struct gpu_complex *in[3]; /* the elements of A, B and C, decoded */
};
/* Random inputs; D and the fences poisoned. Leaves by la_fail. */
struct gpu_mma_memory gpu_mma_memory_make(struct la_ctx *cx, const struct gpu_mma *mma, int64_t seed);
/* Element (i,j) of a matrix; of D in a slice. */
struct gpu_complex gpu_mma_element(const struct gpu_mma *mma, const struct gpu_mma_memory *memory,
                                   enum la_matrix x, int64_t slice, int64_t i, int64_t j);
/* a * b as the instruction has it: signed, or a bit of xor or and. */
struct gpu_complex gpu_mma_product(const struct gpu_instruction *in, struct gpu_complex a,
                                   struct gpu_complex b);
/* A sum as D's type holds it: integers modulo 2^32, or kept within their limits. */
double gpu_mma_wrap(const struct gpu_instruction *in, double x);

/* ---- mma_twin.c, mma_check.c, mma_gpu.c ---- */

/* The CPU twin: the same partition, thread by thread and instruction by instruction. Leaves by la_fail. */
void gpu_mma_twin(struct la_ctx *cx, const struct gpu_mma *mma, struct gpu_mma_memory *memory);
/* Hold D against the plain product of the inputs; adds "verified", the bound and what was seen to the job's result. */
bool gpu_mma_verify(struct gpu_job *job, const struct gpu_mma_memory *memory);
bool gpu_mma_run_cpu(struct gpu_job *job);
bool gpu_mma_run_gpu(struct gpu_card *card, struct gpu_job *job);

#endif
