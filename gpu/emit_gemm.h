/* emit_gemm.h: what the files that print a GEMM share. */
#ifndef GPU_EMIT_GEMM_H
#define GPU_EMIT_GEMM_H

#include "gemm.h"

/* ---- emit_gemm_operand.c ---- */

/* Accesses of memory of the widths that the kernel has, and the mark that ends what is written in PTX. */
void gpu_emit_gemm_accesses(struct gpu_text *text, const struct gpu_gemm *gemm);
/* place_x(), fill_x() and read_x(). */
void gpu_emit_gemm_operand(struct gpu_text *text, const struct gpu_gemm *gemm,
                           const struct gpu_gemm_operand *operand);

#endif
