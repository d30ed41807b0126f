/* gemm_planning.h: what the files that make a GEMM's plan share. */
#ifndef GPU_GEMM_PLANNING_H
#define GPU_GEMM_PLANNING_H

#include "gemm.h"

struct gpu_gemm_planning {
    const struct gpu_spec *spec;
    struct gpu_plan *plan;
    struct gpu_gemm *g;
    const char **field;
    int64_t layer[3]; /* extents of the TiledMMA; 0: its atom layout is not chosen yet */
    int64_t atoms[2]; /* of an atom layout that is chosen, along M and N; 0: not yet */
    int64_t along[2]; /* atoms side by side along M and N */
};

/* ---- gemm_choose.c ---- */

/* Registers of a thread: accumulators, and fragments for two blocks of K. */
struct gpu_gemm_words {
    int64_t accumulators, fragments;
};
struct gpu_gemm_words gpu_gemm_words_of(const struct gpu_instruction *in, const int64_t tile[2],
                                        int64_t along_m, int64_t along_n);

void gpu_gemm_choose_tile(struct gpu_gemm_planning *p);
/* Atoms for a tile that was given. */
void gpu_gemm_choose_atoms(struct gpu_gemm_planning *p);
int64_t gpu_gemm_choose_stages(const struct gpu_gemm *g);

#endif
