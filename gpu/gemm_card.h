/* gemm_card.h: a GEMM on the card: what its run, its check and cuBLAS share. */
#ifndef GPU_GEMM_CARD_H
#define GPU_GEMM_CARD_H

#include "card.h"
#include "gemm.h"

/* ---- gemm_kernels.c ---- */

enum { GPU_GEMM_SAMPLES = 8 /* rows, and columns */ };

/* What the checking kernels know: layouts, factors, bounds. */
struct gpu_gemm_matrix {
    uint32_t count[2];
    struct gpu_mode modes[GPU_MAX_MODES]; /* of both modes, one after the other */
};
struct gpu_gemm_problem {
    struct gpu_gemm_matrix of[4];
    int64_t extent[3], rows[GPU_GEMM_SAMPLES], cols[GPU_GEMM_SAMPLES];
    uint32_t row_count, col_count, step, uses_c;
    double alpha, beta, partial, result, row;
    uint64_t seed; /* of the signs */
};
struct gpu_gemm_found {
    uint64_t count, least;
    double error, of_bound, bound; /* the greatest */
};
_Static_assert(GPU_MAX_MODES == 32 && GPU_GEMM_SAMPLES == 8, "the sizes in the kernels' structs");

/* The checking kernels for the types of a GEMM; leaves by la_fail. */
const char *gpu_gemm_support(struct la_ctx *cx, const struct gpu_gemm *g);
/* seed: of A; those of B and C follow it. */
struct gpu_gemm_problem gpu_gemm_problem_of(const struct gpu_gemm *g, const struct gpu_gemm_bound *bound,
                                            uint64_t seed);

/* ---- cublas.c ---- */

/* The product as cuBLAS has it, in columns: (rows,cols) = left (rows,depth) * right (depth,cols). */
struct gpu_cublas_shape {
    int left, right; /* which of A and B they are: 0 or 1 */
    int rows, cols, depth;
    int transposed[2], leading[3]; /* of left and right; of all three */
};
/* False, with why, for layouts that are no such matrices. */
bool gpu_cublas_shape_of(struct la_ctx *cx, const struct gpu_gemm *g, struct gpu_cublas_shape *out,
                         const char **why);

#ifdef GPU_HAVE_CUDA

/* A, B, C and D on the card, each between fences. */
struct gpu_gemm_arrays {
    struct gpu_region region[4];
    CUdeviceptr memory[4];
    CUfunction kernel;
};
static inline CUdeviceptr gpu_gemm_origin(const struct gpu_gemm_arrays *arrays, int i)
{
    return arrays->memory[i] + (CUdeviceptr)arrays->region[i].origin;
}
bool gpu_gemm_launch(struct gpu_card *card, const struct gpu_plan *plan,
                     const struct gpu_gemm_arrays *arrays);

/* ---- gemm_check.c ---- */

/* Run the GEMM on fresh input and check all of D; adds "verified" and what was checked to the result. False with
 * job->failure, when the card or the compiler failed. */
bool gpu_gemm_check(struct gpu_card *card, struct gpu_job *job, const struct gpu_gemm_arrays *arrays,
                    bool *verified);

/* The same product by cuBLAS, into memory of its own. */
struct gpu_cublas {
    bool narrow; /* 8-bit floats, which only cublasLt has */
    void *handle;
    struct gpu_cublas_shape shape;
    int type[3], compute;
    CUdeviceptr of[3]; /* the left and the right factor as cuBLAS sees them, and the product */
    union gpu_scalar {
        float f;
        double d;
        int32_t i;
        uint16_t h;
    } alpha, beta;
    void *matmul, *layout[3]; /* of cublasLt */
};
/* False, with why there is none, or with job->failure. */
bool gpu_cublas_make(struct gpu_card *card, struct gpu_job *job, const struct gpu_gemm_arrays *arrays,
                     struct gpu_cublas *out, const char **why);
bool gpu_cublas_launch(struct gpu_card *card, const void *cublas);
void gpu_cublas_release(struct gpu_cublas *cublas);

#endif
#endif
