/* cublas.c: the same product by cuBLAS: the ceiling that a GEMM is held against.
 *
 * cuBLAS has columns: our D (M,N):(N,1) is its N x M matrix of leading dimension N, D^T = B * A^T. So where D is
 * contiguous along n the factors change places, and a factor that is contiguous along k is transposed in one place and
 * not in the other:
 *
 *     D along n:  left = B, right = A       left is transposed when contiguous along k, right when it is not
 *     D along m:  left = A, right = B       the same
 *
 * Types that cuBLAS does not multiply, layouts that are no such matrix, and machines without the library: the reason. */
#include "gemm_card.h"

#include <limits.h>
#include <string.h>

/* The mode that is contiguous and the stride of the other; false for a layout that is no such matrix. */
static bool leading_of(const struct gpu_tensor *t, uint32_t *contiguous, int *leading)
{
    for (uint32_t k = 2; k-- > 0;) {
        const struct gpu_map along = t->mode[k], other = t->mode[1 - k];
        const int64_t inner = t->extent[k], stride = other.count ? other.modes[0].stride : inner;
        const bool unit = along.count == 0 || (along.count == 1 && along.modes[0].stride == 1);
        if (unit && other.count <= 1 && stride >= inner && stride <= INT_MAX) {
            *contiguous = k;
            *leading = (int)stride;
            return true;
        }
    }
    return false;
}

bool gpu_cublas_shape_of(struct la_ctx *cx, const struct gpu_gemm *g, struct gpu_cublas_shape *out,
                         const char **why)
{
    uint32_t along[3];
    int leading[3];
    const struct gpu_tensor *const t[3] = {&g->of[0].tensor, &g->of[1].tensor, &g->d};
    for (int i = 0; i < 3; i++)
        if (!leading_of(t[i], &along[i], &leading[i])) {
            *why = la_format(
                cx, "%s %s is no matrix of cuBLAS: one mode contiguous, the other of a stride as long",
                t[i]->name, gpu_layout_text(cx, t[i]->layout));
            return false;
        }
    const int left = along[2] == 1 ? 1 : 0, right = 1 - left;
    const int64_t extent[2] = {g->m, g->n};
    *out = (struct gpu_cublas_shape){
        .left = left,
        .right = right,
        .rows = (int)extent[left],
        .cols = (int)extent[right],
        .depth = (int)g->k,
        .transposed = {along[left] == 1,
                       along[right] == 0}, /* columns run along rows, and along K, as they are */
        .leading = {leading[left], leading[right], leading[2]}};
    return true;
}

#ifdef GPU_HAVE_CUDA

/* Of library_types.h and cublas_api.h. */
enum {
    R_32F = 0,
    R_64F = 1,
    R_16F = 2,
    R_8I = 3,
    R_32I = 10,
    R_16BF = 14,
    R_8F_E4M3 = 28,
    R_8F_E5M2 = 29,
    NO_TYPE = -1
};
enum {
    COMPUTE_16F = 64,
    COMPUTE_32F = 68,
    COMPUTE_64F = 70,
    COMPUTE_32I = 72,
    COMPUTE_32F_FAST_TF32 = 77,
    ALGORITHM_DEFAULT = -1,
    LT_TRANSPOSE_A = 3, /* cublasLtMatmulDescAttributes_t */
    LT_TRANSPOSE_B = 4
};

static int type_of(const struct gpu_number *n)
{
    static const struct {
        const char *name;
        int type;
    } known[] = {{"half_t", R_16F},          {"bfloat16_t", R_16BF}, {"float", R_32F},
                 {"tfloat32_t", R_32F},      {"double", R_64F},      {"int8_t", R_8I},
                 {"int32_t", R_32I},         {"int", R_32I},         {"float_e4m3_t", R_8F_E4M3},
                 {"float_e5m2_t", R_8F_E5M2}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (!strcmp(n->name, known[i].name))
            return known[i].type;
    return NO_TYPE;
}

/* What sums are kept in, and the factors' type. */
static bool set_compute(struct la_ctx *cx, const struct gpu_gemm *g, struct gpu_cublas *c, const char **why)
{
    const struct gpu_fragment *f = g->instruction.of;
    const int a = type_of(f[LA_A].number), b = type_of(f[LA_B].number), sum = type_of(f[LA_C].number);
    const bool fp8 = a >= R_8F_E4M3 && b >= R_8F_E4M3;
    const bool fine = fp8 ? sum == R_32F && !(a == R_8F_E5M2 && b == R_8F_E5M2)
                          : a == b && ((sum == R_16F && a == R_16F) ||
                                       (sum == R_32F && (a == R_16F || a == R_16BF || a == R_32F)) ||
                                       (sum == R_64F && a == R_64F) || (sum == R_32I && a == R_8I));
    if (!fine) {
        *why = la_format(cx, "cuBLAS does not multiply %s by %s into %s", f[LA_A].number->name,
                         f[LA_B].number->name, f[LA_C].number->name);
        return false;
    }
    const bool tf32 = !strcmp(f[LA_A].number->name, "tfloat32_t");
    c->narrow = fp8;
    c->compute = sum == R_16F   ? COMPUTE_16F
                 : sum == R_64F ? COMPUTE_64F
                 : sum == R_32I ? COMPUTE_32I
                 : tf32         ? COMPUTE_32F_FAST_TF32
                                : COMPUTE_32F;
    if (sum == R_32F) {
        c->alpha.f = (float)g->alpha;
        c->beta.f = (float)g->beta;
    } else if (sum == R_64F) {
        c->alpha.d = g->alpha;
        c->beta.d = g->beta;
    } else if (sum == R_32I) {
        c->alpha.i = (int32_t)g->alpha;
        c->beta.i = (int32_t)g->beta;
    } else {
        c->alpha.h = (uint16_t)gpu_number_encode(gpu_number_find("half_t"), g->alpha);
        c->beta.h = (uint16_t)gpu_number_encode(gpu_number_find("half_t"), g->beta);
    }
    c->type[2] = sum;
    return true;
}

/* ---- handles: made once, they take a second ---- */

/* NULL with *why. */
static void *handle_of(struct gpu_card *card, bool narrow, const char **why)
{
    static void *plain, *lt;
    const struct gpu_cublaslt_calls *lt_calls = gpu_cublaslt_open(why); /* cuBLAS needs it beside */
    const struct gpu_cublas_calls *calls = narrow || !lt_calls ? NULL : gpu_cublas_open(why);
    if (narrow ? !lt_calls : !calls)
        return NULL;
    *why = "cuBLAS is on this machine, but does not start";
    if (narrow)
        return lt || lt_calls->cublasLtCreate(&lt) == 0 ? lt : NULL;
    if (!plain && calls->cublasCreate_v2(&plain) != 0)
        plain = NULL;
    return plain && calls->cublasSetStream_v2(plain, card->stream) == 0 ? plain : NULL;
}

static bool make_descriptors(struct gpu_cublas *c)
{
    const char *why;
    const struct gpu_cublaslt_calls *lt = gpu_cublaslt_open(&why);
    const uint64_t rows[3] = {(uint64_t)(c->shape.transposed[0] ? c->shape.depth : c->shape.rows),
                              (uint64_t)(c->shape.transposed[1] ? c->shape.cols : c->shape.depth),
                              (uint64_t)c->shape.rows};
    const uint64_t cols[3] = {(uint64_t)(c->shape.transposed[0] ? c->shape.rows : c->shape.depth),
                              (uint64_t)(c->shape.transposed[1] ? c->shape.depth : c->shape.cols),
                              (uint64_t)c->shape.cols};
    const int32_t left = c->shape.transposed[0], right = c->shape.transposed[1];
    bool ok = lt->cublasLtMatmulDescCreate(&c->matmul, c->compute, R_32F) == 0 &&
              lt->cublasLtMatmulDescSetAttribute(c->matmul, LT_TRANSPOSE_A, &left, sizeof left) == 0 &&
              lt->cublasLtMatmulDescSetAttribute(c->matmul, LT_TRANSPOSE_B, &right, sizeof right) == 0;
    for (int i = 0; ok && i < 3; i++)
        ok = lt->cublasLtMatrixLayoutCreate(&c->layout[i], c->type[i], rows[i], cols[i],
                                            c->shape.leading[i]) == 0;
    return ok;
}

static int multiply(struct gpu_card *card, const struct gpu_cublas *c)
{
    const char *why;
    void *const at[3] = {(void *)(uintptr_t)c->of[0], (void *)(uintptr_t)c->of[1],
                         (void *)(uintptr_t)c->of[2]};
    if (c->narrow)
        return gpu_cublaslt_open(&why)->cublasLtMatmul(c->handle, c->matmul, &c->alpha, at[0], c->layout[0],
                                                       at[1], c->layout[1], &c->beta, at[2], c->layout[2],
                                                       at[2], c->layout[2], NULL, NULL, 0, card->stream);
    return gpu_cublas_open(&why)->cublasGemmEx(
        c->handle, c->shape.transposed[0], c->shape.transposed[1], c->shape.rows, c->shape.cols,
        c->shape.depth, &c->alpha, at[0], c->type[0], c->shape.leading[0], at[1], c->type[1],
        c->shape.leading[1], &c->beta, at[2], c->type[2], c->shape.leading[2], c->compute, ALGORITHM_DEFAULT);
}

bool gpu_cublas_launch(struct gpu_card *card, const void *cublas)
{
    const int status = multiply(card, cublas);
    if (status == 0)
        return true;
    card->failure = (struct gpu_failure){.kind = GPU_INFRA};
    snprintf(card->failure.message, sizeof card->failure.message,
             "cuBLAS, which had multiplied before, gives status %d", status);
    return false;
}

void gpu_cublas_release(struct gpu_cublas *c)
{
    const char *why;
    const struct gpu_cublaslt_calls *lt = c->narrow ? gpu_cublaslt_open(&why) : NULL;
    if (lt && c->matmul)
        lt->cublasLtMatmulDescDestroy(c->matmul);
    for (int i = 0; lt && i < 3; i++)
        if (c->layout[i])
            lt->cublasLtMatrixLayoutDestroy(c->layout[i]);
    c->matmul = NULL;
}

bool gpu_cublas_make(struct gpu_card *card, struct gpu_job *job, const struct gpu_gemm_arrays *arrays,
                     struct gpu_cublas *c, const char **why)
{
    const struct gpu_gemm *g = job->plan->gemm;
    const int64_t bytes = arrays->region[3].bytes;
    *c = (struct gpu_cublas){0};
    if (!set_compute(job->cx, g, c, why) || !gpu_cublas_shape_of(job->cx, g, &c->shape, why))
        return false;
    const int factor[2] = {c->shape.left, c->shape.right};
    for (int i = 0; i < 2; i++) {
        c->type[i] = type_of(g->instruction.of[factor[i]].number);
        c->of[i] = gpu_gemm_origin(arrays, factor[i]);
    }
    c->handle = handle_of(card, c->narrow, why);
    if (!c->handle)
        return false;
    *why = NULL;
    if (!gpu_card_take(card, bytes, &c->of[2]) ||
        !gpu_card_ok(card, card->cu->cuMemsetD32Async(c->of[2], 0, (size_t)bytes / 4, card->stream),
                     "clearing"))
        return gpu_card_failed(card, job);
    c->of[2] += (CUdeviceptr)arrays->region[3].origin;
    if (c->narrow && !make_descriptors(c)) {
        *why = "cublasLt does not describe these matrices";
        return false;
    }
    const int status = multiply(card, c);
    if (!gpu_card_wait(card))
        return gpu_card_failed(card, job);
    if (status != 0)
        *why = la_format(job->cx, "cuBLAS does not multiply these matrices: status %d", status);
    return status == 0;
}

#endif
