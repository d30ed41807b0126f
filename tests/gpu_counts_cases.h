/* gpu_counts_cases.h: partitions whose cost the hardware counts: a tiled copy, and the memory that it goes over.
 *
 * Of a load the source partition is meant, of a store the destination partition. Tiles divide the memory, or
 * the last ones are cut short and some lanes take no part. */
#ifndef GPU_COUNTS_CASES_H
#define GPU_COUNTS_CASES_H

#include "la.h"

struct counts_case {
    enum la_space space;
    enum la_access_op op;
    const char *copy, *memory;
};

#define COPY(word, type, thr, val) \
    "make_tiled_copy(Copy_Atom<UniversalCopy<" word ">," type ">{}," thr "," val ")"
/* The operands of four warps of mma.m16n8k16, two along M and two along N. */
#define MMA(kind) "make_tiled_mma(MMA_Atom<SM80_" kind "_F32F16F16F32_TN>{},(2,2,1):(1,2,0))"
#define COPY_FOR(matrix, atom, kind) "make_tiled_copy_" matrix "(Copy_Atom<" atom ",half_t>{}," MMA(kind) ")"
#define SWIZZLED(swizzle, layout) "composition(Swizzle<" swizzle ">{}," layout ")"

/* 16 bytes of half_t: rows of 64 by 8 threads each, or 32 rows one below the other. */
#define ROWS_16 COPY("uint128_t", "half_t", "(16,8):(8,1)", "(1,8):(0,1)")
#define DOWN_16 COPY("uint128_t", "half_t", "(32,8):(1,32)", "(1,8):(0,1)")
#define DOWN_16_NARROW COPY("uint128_t", "half_t", "(32,4):(1,32)", "(1,8):(0,1)")
/* 4 bytes of float: 32 threads along a row or a column, 8 warps. */
#define ROWS_4 COPY("uint32_t", "float", "(8,32):(32,1)", "(4,1):(1,0)")
#define DOWN_4 COPY("uint32_t", "float", "(32,8):(1,32)", "(1,4):(0,1)")
/* 8 bytes of double and of half_t. */
#define ROWS_8 COPY("uint64_t", "double", "(8,16):(16,1)", "(1,1):(0,0)")
#define RAKED_8 COPY("uint64_t", "double", "(8,16):(16,1)", "(1,4):(0,1)")
#define DOWN_8 COPY("uint64_t", "double", "(16,16):(1,16)", "(1,1):(0,0)")
#define DOWN_8_HALF COPY("uint64_t", "half_t", "(32,8):(1,32)", "(1,8):(0,1)")
#define BYTES_16 COPY("uint128_t", "uint8_t", "(32,4):(1,32)", "(1,16):(0,1)")

static const struct counts_case counts_cases[] = {
    /* shared loads, 16 bytes: plain, padded, swizzled; neighbours that share addresses */
    {LA_SHARED, LA_LOAD, ROWS_16, "(64,64):(64,1)"},
    {LA_SHARED, LA_LOAD, DOWN_16, "(128,64):(64,1)"},
    {LA_SHARED, LA_LOAD, DOWN_16, "(128,64):(72,1)"},
    {LA_SHARED, LA_LOAD, DOWN_16, SWIZZLED("3,3,3", "(128,64):(64,1)")},
    {LA_SHARED, LA_LOAD, DOWN_16, SWIZZLED("2,4,3", "(64,64):(64,1)")},
    {LA_SHARED, LA_LOAD, DOWN_16_NARROW, "(32,64):(32,1)"},
    {LA_SHARED, LA_LOAD, BYTES_16, SWIZZLED("2,4,3", "(128,64):(64,1)")},
    {LA_SHARED, LA_LOAD, DOWN_16, "((2,16),64):((0,64),1)"},
    {LA_SHARED, LA_LOAD, DOWN_16, "((2,2,8),64):((64,0,128),1)"},
    /* 8 bytes */
    {LA_SHARED, LA_LOAD, ROWS_8, "(16,16):(16,1)"},
    {LA_SHARED, LA_LOAD, RAKED_8, "(8,64):(64,1)"},
    {LA_SHARED, LA_LOAD, DOWN_8, "(32,16):(16,1)"},
    {LA_SHARED, LA_LOAD, DOWN_8, "(32,16):(17,1)"},
    {LA_SHARED, LA_LOAD, DOWN_8, SWIZZLED("4,0,4", "(32,16):(16,1)")},
    {LA_SHARED, LA_LOAD, DOWN_8_HALF, SWIZZLED("3,3,3", "(32,64):(64,1)")},
    {LA_SHARED, LA_LOAD, DOWN_8_HALF, "((2,16),64):((0,64),1)"},
    /* 4 bytes and fewer: 1, 2, 4, 8, 32 ways */
    {LA_SHARED, LA_LOAD, ROWS_4, "(32,32):(32,1)"},
    {LA_SHARED, LA_LOAD, DOWN_4, "(32,32):(32,1)"},
    {LA_SHARED, LA_LOAD, DOWN_4, "(32,32):(33,1)"},
    {LA_SHARED, LA_LOAD, DOWN_4, SWIZZLED("5,0,5", "(32,32):(32,1)")},
    {LA_SHARED, LA_LOAD, DOWN_4, SWIZZLED("3,0,5", "(32,32):(32,1)")},
    {LA_SHARED, LA_LOAD, DOWN_4, "(32,32):(34,1)"},
    {LA_SHARED, LA_LOAD, DOWN_4, "(32,32):(40,1)"},
    {LA_SHARED, LA_LOAD, COPY("uint16_t", "half_t", "(32,4):(1,32)", "(1,4):(0,1)"), "(32,32):(32,1)"},
    {LA_SHARED, LA_LOAD, COPY("uint8_t", "uint8_t", "(16,8):(8,1)", "(1,4):(0,1)"), "(60,32):(32,1)"},
    /* shared stores */
    {LA_SHARED, LA_STORE, ROWS_16, "(64,64):(64,1)"},
    {LA_SHARED, LA_STORE, DOWN_16, "(128,64):(64,1)"},
    {LA_SHARED, LA_STORE, DOWN_16, "(128,64):(72,1)"},
    {LA_SHARED, LA_STORE, DOWN_16, SWIZZLED("3,3,3", "(128,64):(64,1)")},
    {LA_SHARED, LA_STORE, BYTES_16, SWIZZLED("2,4,3", "(128,64):(64,1)")},
    {LA_SHARED, LA_STORE, DOWN_16, "((2,16),64):((0,64),1)"},
    {LA_SHARED, LA_STORE, RAKED_8, "(8,64):(64,1)"},
    {LA_SHARED, LA_STORE, DOWN_8, "(32,16):(17,1)"},
    {LA_SHARED, LA_STORE, DOWN_8_HALF, SWIZZLED("3,3,3", "(30,64):(64,1)")},
    {LA_SHARED, LA_STORE, DOWN_4, "(32,32):(32,1)"},
    {LA_SHARED, LA_STORE, DOWN_4, SWIZZLED("5,0,5", "(32,32):(32,1)")},
    {LA_SHARED, LA_STORE, ROWS_4, "(30,32):(36,1)"},
    /* ldmatrix and stmatrix: what the warps of an MMA load and store */
    {LA_SHARED, LA_LDMATRIX, COPY_FOR("A", "SM75_U32x4_LDSM_N", "16x8x16"), "(64,64):(64,1)"},
    {LA_SHARED, LA_LDMATRIX, COPY_FOR("A", "SM75_U32x4_LDSM_N", "16x8x16"),
     SWIZZLED("3,3,3", "(64,64):(64,1)")},
    {LA_SHARED, LA_LDMATRIX, COPY_FOR("A", "SM75_U32x4_LDSM_N", "16x8x16"), "(64,64):(72,1)"},
    {LA_SHARED, LA_LDMATRIX, COPY_FOR("A", "SM75_U32x4_LDSM_N", "16x8x16"),
     SWIZZLED("2,4,3", "(64,32):(32,1)")},
    {LA_SHARED, LA_LDMATRIX, COPY_FOR("A", "SM75_U32x4_LDSM_N", "16x8x16"),
     SWIZZLED("2,3,3", "(64,32):(32,1)")},
    {LA_SHARED, LA_LDMATRIX, COPY_FOR("B", "SM75_U32x2_LDSM_N", "16x8x16"), "(32,64):(64,1)"},
    {LA_SHARED, LA_LDMATRIX, COPY_FOR("B", "SM75_U32x2_LDSM_N", "16x8x16"),
     SWIZZLED("3,3,3", "(32,64):(64,1)")},
    {LA_SHARED, LA_LDMATRIX, COPY_FOR("B", "SM75_U32x1_LDSM_N", "16x8x8"), "(32,32):(32,1)"},
    {LA_SHARED, LA_LDMATRIX_TRANS, COPY_FOR("A", "SM75_U16x8_LDSM_T", "16x8x16"), "(64,64):(1,64)"},
    {LA_SHARED, LA_LDMATRIX_TRANS, COPY_FOR("A", "SM75_U16x8_LDSM_T", "16x8x16"),
     SWIZZLED("3,3,3", "(64,64):(1,64)")},
    {LA_SHARED, LA_LDMATRIX_TRANS, COPY_FOR("B", "SM75_U16x4_LDSM_T", "16x8x16"), "(32,64):(1,40)"},
    {LA_SHARED, LA_LDMATRIX_TRANS, COPY_FOR("B", "SM75_U16x2_LDSM_T", "16x8x8"), "(32,32):(1,32)"},
    {LA_SHARED, LA_STMATRIX, COPY_FOR("C", "SM90_U32x1_STSM_N", "16x8x16"), "(32,64):(64,1)"},
    {LA_SHARED, LA_STMATRIX, COPY_FOR("C", "SM90_U32x2_STSM_N", "16x8x16"), "(64,64):(64,1)"},
    {LA_SHARED, LA_STMATRIX, COPY_FOR("C", "SM90_U32x2_STSM_N", "16x8x16"),
     SWIZZLED("3,3,3", "(64,64):(64,1)")},
    {LA_SHARED, LA_STMATRIX, COPY_FOR("A", "SM90_U32x4_STSM_N", "16x8x16"), "(64,64):(64,1)"},
    {LA_SHARED, LA_STMATRIX, COPY_FOR("A", "SM90_U32x4_STSM_N", "16x8x16"),
     SWIZZLED("3,3,3", "(64,64):(64,1)")},
    {LA_SHARED, LA_STMATRIX_TRANS, COPY_FOR("A", "SM90_U16x8_STSM_T", "16x8x16"), "(64,64):(1,72)"},
    /* global loads and stores: coalesced, strided, off the sectors, cut short */
    {LA_GLOBAL, LA_LOAD, ROWS_16, "(64,128):(128,1)"},
    {LA_GLOBAL, LA_LOAD, DOWN_16, "(64,128):(128,1)"},
    {LA_GLOBAL, LA_LOAD, ROWS_16, "(60,104):(104,1)"},
    {LA_GLOBAL, LA_LOAD, RAKED_8, "(16,128):(129,1)"},
    {LA_GLOBAL, LA_LOAD, DOWN_8, "(32,32):(1,32)"},
    {LA_GLOBAL, LA_LOAD, ROWS_4, "(64,64):(100,1)"},
    {LA_GLOBAL, LA_LOAD, ROWS_4, "(61,63):(63,1)"},
    {LA_GLOBAL, LA_LOAD, DOWN_4, "(64,64):(64,1)"},
    {LA_GLOBAL, LA_STORE, ROWS_16, "(64,128):(128,1)"},
    {LA_GLOBAL, LA_STORE, DOWN_16, "(60,104):(104,1)"},
    {LA_GLOBAL, LA_STORE, RAKED_8, "(16,128):(129,1)"},
    {LA_GLOBAL, LA_STORE, DOWN_8, "(32,32):(1,32)"},
    {LA_GLOBAL, LA_STORE, ROWS_4, "(61,63):(63,1)"},
    {LA_GLOBAL, LA_STORE, DOWN_4, "(64,64):(64,1)"},
};
enum { COUNTS_CASES = sizeof counts_cases / sizeof *counts_cases };

#endif
