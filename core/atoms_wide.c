/* atoms_wide.c: MMA atoms of more than a warp: GMMA of Hopper (a warpgroup), UMMA of Blackwell (SMs).
 *
 * Both read matrices from shared memory through descriptors: no thread holds them, so all threads of an SM
 * have the whole of it and their stride is 0. K is always 256 bits of A, twice that where A is sparse.
 *
 *     GMMA 64xNxK   A of shared memory  (128,(64,K)):(0,(1,64))    B  (128,(N,K)):(0,(1,N))
 *                   A of registers      ((4,8,4),(K/8,2,2)):((8*K,1,16),(64,8,32*K))
 *                   C                   ((4,8,4),(2,2,N/8)):((128,1,16),(64,8,512))
 *     UMMA MxNxK    of S SMs            (S,(M/S,K)):(M/S,(1,M)) and likewise B, C */
#include "atoms.h"

static const char *tag_arg(struct la_request *r, uint32_t i)
{
    if (i >= r->n)
        return NULL;
    const struct la_type *type = la_type_arg(r, i, NULL);
    if (type->bits != 0)
        la_fail(r->cx, LA_E_kind, "%s takes GMMA::Major::K or GMMA::Major::MN there, not the type %s",
                r->name, type->name);
    return type->name;
}

/* The two majors from template argument i on; K is the only one of what is not written with majors. */
static void set_majors(struct la_request *r, struct la_mma *mma, uint32_t i)
{
    for (uint32_t x = 0; x < 2; x++) {
        const char *tag = tag_arg(r, i + x);
        mma->major[x] = la_type_named(tag ? tag : "GMMA::Major::K");
    }
}

/* ---- GMMA ---- */

enum { DENSE_BITS = 256 /* of A along K */ };

/* "SS" or "RS": the A operand's place. */
static void build_gmma(struct la_request *r, struct la_atom *atom)
{
    struct la_mma *mma = &atom->mma;
    la_choice_types(r, &r->choice[1], mma);
    const bool sparse = r->family->detail != NULL, registers = r->choice[2].text[0] == 'R';
    const int64_t k = (int64_t)(sparse ? 2 : 1) * DENSE_BITS / mma->types[LA_A]->bits;
    la_set_shape(r, mma, (const int64_t[]){64, la_choice_number(&r->choice[0]), k});
    const bool half = mma->types[LA_A]->bits == 16; /* only 16-bit types may lie along M or N */
    la_need_args(r, half ? 2 : 0, half ? 5 : 3);
    set_majors(r, mma, half ? 0 : UINT32_MAX - 1);
    if (registers && mma->major[LA_A] != la_type_named("GMMA::Major::K"))
        la_fail(r->cx, LA_E_other, "%s takes A from registers, so A's major must be GMMA::Major::K, not %s",
                r->name, mma->major[LA_A]->name);
    mma->descriptor[LA_A] = !registers;
    mma->descriptor[LA_B] = true;
    atom->thr_id = la_formula(r, "128:1");
    mma->tv[LA_A] = registers ? la_formula_tight(r, 1, "((4,8,4),(K/8,2,2)):((8*K,1,16),(64,8,32*K))")
                              : la_formula(r, "(128,(64,K)):(0,(1,64))");
    mma->tv[LA_B] = la_formula(r, "(128,(N,K)):(0,(1,N))");
    mma->tv[LA_C] = la_formula(r, "((4,8,4),(2,2,N/8)):((128,1,16),(64,8,512))");
    if (!sparse)
        return;
    mma->e = la_formula(r, k == 64 ? "((2,2,8,4),(32)):((8,2048,1,16),(64))"
                                   : "((2,2,8,4),(K/2,2)):((32*K,0,1,16),(64,8))");
    mma->types[LA_A] = la_type_sparse(r->cx, 2, mma->types[LA_A]);
}

/* ---- UMMA: <A, B, C[, scales], M, N[, values a scale], majors...> ---- */

/* The tile sizes that the tensor cores take; scaled ones only the larger M. */
static void check_tile(struct la_request *r, int64_t sms, bool scaled, int64_t m, int64_t n)
{
    const bool any_n = scaled || m == 64 || la_choice_is(&r->choice[0], "TF32");
    const int64_t step = sms == 1 && any_n ? 8 : 16, largest = 128 * sms;
    if (m != largest && (scaled || m != largest / 2))
        la_fail(r->cx, LA_E_other, "%s takes M = %s%lld, not %lld", r->name,
                scaled ? "" : la_format(r->cx, "%lld or ", (long long)(largest / 2)), (long long)largest,
                (long long)m);
    if (n < step || n > 256 || n % step != 0)
        la_fail(r->cx, LA_E_other, "%s takes N from %lld to 256 in steps of %lld when M is %lld, not %lld",
                r->name, (long long)step, (long long)step, (long long)m, (long long)n);
}

static void set_umma_layouts(struct la_request *r, struct la_atom *atom, int64_t sms)
{
    la_let(r, "S", sms);
    atom->thr_id = la_formula(r, sms == 1 ? "1:0" : "2:1");
    atom->mma.tv[LA_A] = la_formula(r, sms == 1 ? "(1,(M,K)):(0,(1,M))" : "(S,(M/S,K)):(M/S,(1,M))");
    atom->mma.tv[LA_B] = la_formula(r, sms == 1 ? "(1,(N,K)):(0,(1,N))" : "(S,(N/S,K)):(N/S,(1,N))");
    atom->mma.tv[LA_C] = la_formula(r, sms == 1 ? "(1,(M,N)):(0,(1,M))" : "(S,(M/S,N)):(M/S,(1,M))");
}

/* Of 256 bits: tfloat32_t 8, 16-bit floats 16, bytes (also floats of 4 and 6 bits in them) 32, 4 bits 64. */
static int64_t umma_k(const struct la_choice *kind)
{
    static const struct {
        const char *kind;
        int64_t k;
    } ks[] = {{"TF32", 8}, {"F16BF16", 16}, {"S8", 32}, {"F8F6F4", 32}, {"MXF8F6F4", 32}};
    for (size_t i = 0; i < sizeof ks / sizeof *ks; i++)
        if (la_choice_is(kind, ks[i].kind))
            return ks[i].k;
    return 64;
}

static void build_umma(struct la_request *r, struct la_atom *atom)
{
    const int64_t sms = r->choice[1].len ? 2 : 1;
    const bool scaled = r->choice[0].text[0] == 'M', scales_of_4 = scaled && r->choice[0].text[3] == '4';
    const uint32_t types = scaled ? 4 : 3, numbers = scales_of_4 ? 3 : 2;
    la_need_args(r, types + numbers + 2, types + numbers + 6);
    const int64_t m = la_integer_arg(r, types), n = la_integer_arg(r, types + 1);
    const bool sparse = la_choice_is(&r->choice[2], "SS_SPARSE");
    check_tile(r, sms, scaled, m, n);
    for (enum la_matrix x = LA_A; x <= LA_C; x++)
        atom->mma.types[x] = la_type_arg(r, x, NULL);
    atom->mma.types[LA_D] = atom->mma.types[LA_C];
    set_majors(r, &atom->mma, types + numbers);
    atom->mma.descriptor[LA_A] = r->choice[2].text[0] == 'S'; /* T: A lies in tensor memory */
    atom->mma.descriptor[LA_B] = true;
    la_set_shape(r, &atom->mma, (const int64_t[]){m, n, (sparse ? 2 : 1) * umma_k(&r->choice[0])});
    set_umma_layouts(r, atom, sms);
}

/* ---- the rows ---- */

#define N8 "{8..256..8}"
#define N_OF_BYTES "{8,16,24,32,48,64,80,96,112,128,144,160,176,192,208,224,240,256}"
#define HALVES "{F16F16F16,F32F16F16,F32BF16BF16}"
#define FLOATS_OF_8 \
    "{F16E4M3E4M3,F32E4M3E4M3,F16E4M3E5M2,F32E4M3E5M2,F16E5M2E4M3,F32E5M2E4M3,F16E5M2E5M2,F32E5M2E5M2}"
#define BYTES "{S32S8S8,S32S8U8,S32U8S8,S32U8U8}"
#define GMMA_K "<GMMA::Major::K,GMMA::Major::K>"
#define UMMA_K ",UMMA::Major::K,UMMA::Major::K>"
#define SPARSE_GMMA "SM90::GMMA::SPARSE::GMMA_64x"
#define SPARSE "sparse"
#define WARPGROUP "A warpgroup: 64 rows, B from shared memory, A from shared memory (SS) or registers (RS); "
#define HALF_ZERO "half of A is zero and left out."
#define ONE_SM "{64,128},{64,128,256}"
#define TWO_SMS "{128,256},{64,128,256}"
#define ONE_SM_SCALED "128,{64,128,256}"
#define TWO_SMS_SCALED "256,{64,128,256}"
#define SM "An SM: A and B through descriptors, or A from tensor memory (TS); C lies in tensor memory."
#define SMS "Two SMs that share the tile: A and B through descriptors, C lies in both tensor memories."

const struct la_family la_families_wide[] = {
    {"SM90_64x" N8 "x16_" HALVES "_{SS,RS}" GMMA_K, "SM90", WARPGROUP "16-bit floats.", build_gmma, NULL},
    {"SM90_64x" N8 "x8_{F32TF32TF32}_{SS,RS}_TN", "SM90", WARPGROUP "tfloat32_t.", build_gmma, NULL},
    {"SM90_64x" N8 "x32_" FLOATS_OF_8 "_{SS,RS}_TN", "SM90", WARPGROUP "8-bit floats.", build_gmma, NULL},
    {"SM90_64x" N_OF_BYTES "x32_" BYTES "_{SS,RS}_TN{,_SATURATE}", "SM90", WARPGROUP "bytes.", build_gmma,
     NULL},
    {SPARSE_GMMA N8 "x32_" HALVES "_{SS,RS}" GMMA_K, "SM90", WARPGROUP HALF_ZERO, build_gmma, SPARSE},
    {SPARSE_GMMA N8 "x16_{F32TF32TF32}_{SS,RS}_TN", "SM90", WARPGROUP HALF_ZERO, build_gmma, SPARSE},
    {SPARSE_GMMA N8 "x64_" FLOATS_OF_8 "_{SS,RS}_TN", "SM90", WARPGROUP HALF_ZERO, build_gmma, SPARSE},
    {SPARSE_GMMA N_OF_BYTES "x64_" BYTES "_{SS,RS}_TN{,_SATURATE}", "SM90", WARPGROUP HALF_ZERO, build_gmma,
     SPARSE},
    {"SM100_MMA_{TF32}{}_{SS,TS,SS_SCALED,TS_SCALED,SS_SPARSE}<tfloat32_t,tfloat32_t,float," ONE_SM UMMA_K,
     "SM100", SM, build_umma, NULL},
    {"SM100_MMA_{F16BF16}{}_{SS,TS,SS_SCALED,TS_SCALED,SS_SPARSE}<half_t,half_t,float," ONE_SM UMMA_K,
     "SM100", SM, build_umma, NULL},
    {"SM100_MMA_{S8}{}_{SS,TS,SS_SPARSE}<int8_t,int8_t,int32_t," ONE_SM UMMA_K, "SM100", SM, build_umma,
     NULL},
    {"SM100_MMA_{F8F6F4}{}_{SS,TS,SS_SPARSE}<float_e4m3_t,float_e4m3_t,float," ONE_SM UMMA_K, "SM100", SM,
     build_umma, NULL},
    {"SM100_MMA_{MXF8F6F4}{}_{SS,SS_SPARSE}<float_e4m3_t,float_e4m3_t,float,float_ue8m0_t," ONE_SM_SCALED
         UMMA_K,
     "SM100", SM, build_umma, NULL},
    {"SM100_MMA_{MXF4}{}_{SS}<float_e2m1_t,float_e2m1_t,float,float_ue4m3_t," ONE_SM_SCALED ",16" UMMA_K,
     "SM100", SM, build_umma, NULL},
    {"SM100_MMA_{TF32}{_2x1SM}_{SS,TS,SS_SCALED,TS_SCALED,SS_SPARSE}<tfloat32_t,tfloat32_t,float," TWO_SMS
         UMMA_K,
     "SM100", SMS, build_umma, NULL},
    {"SM100_MMA_{F16BF16}{_2x1SM}_{SS,TS,SS_SCALED,TS_SCALED,SS_SPARSE}<half_t,half_t,float," TWO_SMS UMMA_K,
     "SM100", SMS, build_umma, NULL},
    {"SM100_MMA_{S8}{_2x1SM}_{SS,TS,SS_SPARSE}<int8_t,int8_t,int32_t," TWO_SMS UMMA_K, "SM100", SMS,
     build_umma, NULL},
    {"SM100_MMA_{F8F6F4}{_2x1SM}_{SS,TS,SS_SPARSE}<float_e4m3_t,float_e4m3_t,float," TWO_SMS UMMA_K, "SM100",
     SMS, build_umma, NULL},
    {"SM100_MMA_{MXF8F6F4}{_2x1SM}_{SS,SS_SPARSE}<float_e4m3_t,float_e4m3_t,float,float_ue8m0_"
     "t," TWO_SMS_SCALED UMMA_K,
     "SM100", SMS, build_umma, NULL},
    {"SM100_MMA_{MXF4}{_2x1SM}_{SS}<float_e2m1_t,float_e2m1_t,float,float_ue4m3_t," TWO_SMS_SCALED
     ",16" UMMA_K,
     "SM100", SMS, build_umma, NULL},
    {0}};
