/* gpu_gemm_specs.h: GEMMs for tests: small ones, which the CPU twin verifies too, and those for a card. */
#ifndef GPU_GEMM_SPECS_H
#define GPU_GEMM_SPECS_H

#define GEMM(atom, m, n, k, more) \
    "{\"kind\":\"mma\",\"atom\":\"" atom "\",\"problem\":{\"m\":" #m ",\"n\":" #n ",\"k\":" #k "}" more "}"

#define F16 "SM80_16x8x16_F32F16F16F32_TN"
#define F16_SUM "SM80_16x8x16_F16F16F16F16_TN"
#define BF16 "SM80_16x8x16_F32BF16BF16F32_TN"
#define TF32 "SM80_16x8x8_F32TF32TF32F32_TN"
#define S8 "SM80_16x8x32_S32S8S8S32_TN"
#define F64 "SM80_8x8x4_F64F64F64F64_TN"
#define E4M3 "SM89_16x8x32_F32E4M3E4M3F32_TN"

static const char *const small_gemms[] = {
    /* M, N, K from {1, 7, 64, 100, 129}, in mixed triples */
    GEMM(F16, 1, 1, 1, ""),
    GEMM(F16, 1, 7, 64, ""),
    GEMM(F16, 7, 64, 100, ""),
    GEMM(F16, 64, 100, 129, ""),
    GEMM(F16, 100, 129, 1, ""),
    GEMM(F16, 129, 1, 7, ""),
    GEMM(F16, 129, 129, 129, ""),
    GEMM(F16, 64, 64, 64, ""),
    GEMM(F16, 129, 100, 64, ",\"alpha\":-1.5,\"beta\":0.75"),
    GEMM(BF16, 100, 7, 129, ""),
    GEMM(BF16, 129, 64, 100, ",\"beta\":1"),
    GEMM(TF32, 7, 129, 100, ""),
    GEMM(TF32, 100, 64, 7, ",\"alpha\":0.5"),
    GEMM(F16_SUM, 129, 7, 64, ""),
    GEMM(F16_SUM, 64, 129, 100, ",\"beta\":-1"),
    GEMM(S8, 100, 100, 129, ""),
    GEMM(S8, 129, 1, 64, ",\"alpha\":-3,\"beta\":2"),
    GEMM(F64, 64, 129, 7, ""),
    GEMM(F64, 129, 100, 100, ",\"alpha\":0.1,\"beta\":3"),
    GEMM(E4M3, 7, 100, 129, ""),
    GEMM(E4M3, 129, 129, 64, ""),
    /* other instructions of a warp, of a quad pair, of a thread */
    GEMM("SM75_16x8x8_F32F16F16F32_TN", 65, 66, 67, ""),
    GEMM("SM75_8x8x16_S32S8S8S32_TN", 100, 64, 129, ""),
    GEMM("SM80_16x8x4_F32TF32TF32F32_TN", 64, 100, 129, ""),
    GEMM("SM80_16x8x16_S32U8S8S32_TN_SATURATE", 129, 100, 64, ""),
    GEMM("SM89_16x8x32_F16E4M3E5M2F16_TN", 129, 64, 100, ""),
    GEMM("SM90_16x8x16_F64F64F64F64_TN", 100, 129, 64, ""),
    GEMM("SM70_8x8x4_F32F16F16F32_TN", 65, 66, 67, ""),
    GEMM("SM70_8x8x4_F16F16F16F16_NT", 65, 66, 64, ",\"a\":\"(65,64):(1,72)\""),
    GEMM("SM61_DP4A", 33, 66, 68, ""),
    GEMM("UniversalFMA<float>", 65, 66, 67, ""),
    GEMM("UniversalFMA<double>", 65, 66, 67, ""),
    GEMM("UniversalFMA<half_t>", 33, 66, 67, ""),
    GEMM("UniversalFMA<bfloat16_t>", 33, 66, 67, ",\"beta\":1"),
    GEMM("UniversalFMA<float,half_t>", 33, 66, 67, ""),
    GEMM("UniversalFMA<int32_t>", 33, 66, 67, ",\"alpha\":3,\"beta\":-2"),
    GEMM("UniversalFMA<uint32_t,uint16_t>", 33, 66, 67, ""),
    /* layouts: along m and n, padded, reversed, strided, broadcast, hierarchical */
    GEMM(F16, 129, 129, 64,
         ",\"a\":\"(129,64):(1,136)\",\"b\":\"(129,64):(1,136)\",\"d\":\"(129,129):(1,129)\""),
    GEMM(F16, 100, 129, 64,
         ",\"a\":\"(100,64):(72,1)\",\"b\":\"(129,64):(1,136)\",\"d\":\"(100,129):(130,1)\""),
    GEMM(TF32, 100, 100, 100, ",\"a\":\"(100,100):(1,100)\",\"b\":\"(100,100):(1,100)\""),
    GEMM(S8, 100, 100, 128, ",\"a\":\"(100,128):(1,112)\""),
    GEMM(F64, 100, 64, 100,
         ",\"a\":\"(100,100):(1,100)\",\"b\":\"(64,100):(1,66)\",\"d\":\"(100,64):(1,100)\""),
    GEMM(E4M3, 64, 100, 128, ",\"b\":\"(100,128):(1,112)\""),
    GEMM(F16, 64, 100, 64, ",\"a\":\"(64,64):(-64,1)\",\"d\":\"(64,100):(200,2)\""),
    GEMM(F16, 64, 100, 64, ",\"a\":\"(64,64):(130,2)\",\"b\":\"(100,64):(64,-1)\""),
    GEMM(F16, 100, 64, 64, ",\"a\":\"(100,64):(0,1)\",\"b\":\"(64,64):(0,0)\""),
    GEMM(F16, 64, 64, 64,
         ",\"a\":\"((8,8),(16,4)):((16,512),(1,128))\",\"d\":\"((8,8),(2,32)):((2,1024),(1,16))\""),
    GEMM(F16, 64, 64, 64, ",\"beta\":2,\"c\":\"(64,64):(0,1)\""),
    /* what a spec may say: tiles, atoms, permutations, shared layouts, copies, stages, blocks */
    GEMM(F16, 100, 129, 100, ",\"tile\":\"(64,96,48)\",\"atom_layout\":\"(2,2,1)\""),
    GEMM(F16, 100, 129, 64, ",\"tile\":\"(128,64,32)\",\"atom_layout\":\"(4,2,1):(2,1,8)\""),
    GEMM(F16, 64, 129, 64, ",\"tile\":\"(32,32,16)\",\"stages\":2,\"grid\":3,\"group\":2"),
    GEMM(F16, 129, 64, 100, ",\"tile\":\"(32,32,32)\",\"stages\":7,\"grid\":1"),
    GEMM(F16, 64, 64, 64,
         ",\"tile\":\"(64,64,64)\",\"smem_a\":\"(64,64):(72,1)\",\"smem_b\":\"Swizzle<3,3,3> o 0 o "
         "(64,64):(64,1)\""),
    GEMM(F16, 64, 64, 64,
         ",\"tile\":\"(64,64,64)\",\"smem_a\":\"tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{},(64,64))\","
         "\"smem_b\":\"(64,64):(65,1)\""),
    GEMM(F16, 64, 64, 64, ",\"tile\":\"(64,64,32)\",\"smem_a\":\"(64,32):(1,64)\""),
    GEMM(F16, 128, 64, 64,
         ",\"tile\":\"(64,64,32)\",\"atom_layout\":\"(2,2,1)\",\"permutation\":\"(32,32,16)\""),
    GEMM(F16, 128, 64, 64,
         ",\"tile\":\"(64,64,32)\",\"atom_layout\":\"(2,2,1)\",\"permutation\":\"(_,(8,2,2):(1,16,8),_)\""),
    GEMM(F16, 128, 64, 64,
         ",\"tile\":\"(64,64,32)\",\"atom_layout\":\"(2,2,1)\",\"permutation\":\"((16,2):(1,32),_,(2,8):(8,1)"
         ")\""),
    GEMM(F16, 64, 100, 64, ",\"ldmatrix\":false"),
    GEMM(F16, 64, 100, 64, ",\"smem_copy_a\":\"SM75_U32x2_LDSM_N\",\"smem_copy_b\":\"SM75_U32x1_LDSM_N\""),
    GEMM(F16, 64, 100, 64,
         ",\"copy_a\":\"UniversalCopy<uint128_t>\",\"copy_b\":\"SM80_CP_ASYNC_CACHEALWAYS<uint32_t>\""),
    GEMM(F16, 61, 99, 62,
         ",\"copy_a\":\"UniversalCopy<uint32_t>\",\"copy_b\":\"SM80_CP_ASYNC_CACHEALWAYS<uint32_t>\""),
    GEMM(F64, 64, 64, 64,
         ",\"copy_a\":\"UniversalCopy<uint128_t>\",\"copy_b\":\"SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>\""),
    GEMM(F16, 64, 100, 64, ",\"atom_layout\":\"(_2,_2,_1):(_1,_2,_0)\",\"integers\":\"cute\",\"seed\":7"),
};
enum { SMALL_GEMMS = sizeof small_gemms / sizeof small_gemms[0] };

/* Of a card: M, N, K from {1, 7, 64, 100, 129, 1000, 4097}, and the speed of large ones. */
static const char *const large_gemms[] = {
    GEMM(F16, 4096, 4096, 4096, ""),
    GEMM(F16, 4096, 4096, 4096, ",\"stages\":4"),
    GEMM(F16, 4096, 4096, 4096, ",\"group\":16"),
    GEMM(F16, 4096, 4096, 4096, ",\"tile\":\"(128,256,32)\",\"atom_layout\":\"(2,4,1)\""),
    GEMM(F16, 4096, 4096, 4096, ",\"tile\":\"(128,128,32)\",\"atom_layout\":\"(2,2,1)\""),
    GEMM(F16, 4096, 4096, 4096, ",\"tile\":\"(128,128,64)\",\"atom_layout\":\"(2,2,1)\",\"stages\":3"),
    GEMM(F16, 4096, 4096, 4096, ",\"tile\":\"(256,128,64)\",\"atom_layout\":\"(4,2,1)\""),
    GEMM(F16, 4096, 4096, 4096, ",\"tile\":\"(256,128,32)\",\"atom_layout\":\"(4,2,1)\""),
    GEMM(F16, 4096, 4096, 4096, ",\"a\":\"(4096,4096):(1,4096)\",\"b\":\"(4096,4096):(1,4096)\""),
    GEMM(F16, 8192, 8192, 8192, ""),
    GEMM(F16, 4096, 4096, 4096, ",\"alpha\":0.5,\"beta\":0.25"),
    GEMM(F16_SUM, 4096, 4096, 4096, ""),
    GEMM(BF16, 4096, 4096, 4096, ""),
    GEMM(TF32, 4096, 4096, 4096, ""),
    GEMM(S8, 4096, 4096, 4096, ""),
    GEMM(E4M3, 4096, 4096, 4096, ""),
    GEMM(F64, 4096, 4096, 4096, ""),
    GEMM("SM90_16x8x16_F64F64F64F64_TN", 4096, 4096, 4096, ""),
    GEMM("UniversalFMA<float>", 2048, 2048, 2048, ""),
    GEMM(F16, 1000, 4097, 1000, ""),
    GEMM(F16, 4097, 1000, 4097, ""),
    GEMM(F16, 4097, 4097, 4097, ""),
    GEMM(F16, 1, 4097, 1000, ""),
    GEMM(F16, 4097, 1, 100, ""),
    GEMM(F16, 7, 1000, 4097, ""),
    GEMM(F16, 4097, 64, 7, ""),
    GEMM(F16, 1000, 129, 64, ""),
    GEMM(F16, 100, 4097, 129, ""),
    GEMM(BF16, 4097, 1000, 129, ",\"alpha\":2,\"beta\":-1"),
    GEMM(TF32, 1000, 4097, 1000, ""),
    GEMM(TF32, 4097, 129, 7, ""),
    GEMM(S8, 4097, 1000, 4097, ""),
    GEMM(S8, 1000, 1000, 100, ",\"alpha\":-3,\"beta\":2"),
    GEMM(E4M3, 1000, 4097, 129, ""),
    GEMM(F64, 1000, 4097, 129, ",\"beta\":3"),
    GEMM(F16_SUM, 1000, 129, 4097, ""),
    GEMM("UniversalFMA<int32_t>", 1000, 1000, 129, ",\"alpha\":7"),
    GEMM("SM70_8x8x4_F32F16F16F32_TN", 1000, 4097, 129, ""),
};
enum { LARGE_GEMMS = sizeof large_gemms / sizeof large_gemms[0] };

#endif
