/* atoms_copy.c: copy atoms: vectors, cp.async, ldmatrix, stmatrix, tensor memory, and TMA as a description.
 *
 * All layouts count bits: (thread, bit) -> bit of what is copied. Ref is the side whose order of bits is
 * taken for both; a Copy_Atom counts in values of its type instead. ldmatrix x4, where thread t gives the
 * address of row t:
 *
 *     Src (32,128):(128,1)      Dst = Ref (32,(32,4)):(32,(1,1024))       for half_t  Src (_32,_8):(_8,_1)
 *
 * stmatrix is ldmatrix with the ends exchanged, and a store to tensor memory a load from it. */
#include "atoms.h"

static void set_ends(struct la_atom *atom, struct la_layout src, struct la_layout dst, struct la_layout ref)
{
    atom->kind = LA_ATOM_COPY;
    atom->copy.bits[LA_SRC] = src;
    atom->copy.bits[LA_DST] = dst;
    atom->copy.bits[LA_REF] = ref;
}

/* ---- one thread: so many bits in one go ---- */

static void set_vector(struct la_request *r, struct la_atom *atom, int64_t bits)
{
    la_let(r, "bits", bits);
    atom->thr_id = la_formula(r, "1:0");
    const struct la_layout a = la_formula(r, "(1,bits):(0,1)");
    set_ends(atom, a, a, a);
}

/* <S, D = S> */
static const struct la_type *vector_type(struct la_request *r)
{
    la_need_args(r, 1, 2);
    const struct la_type *s = la_type_arg(r, 0, NULL), *d = r->n > 1 ? la_type_arg(r, 1, NULL) : s;
    if (s->bits == 0 || s->bits != d->bits)
        la_fail(r->cx, LA_E_other, "%s copies from a type to one of the same size, not from %s to %s",
                r->name, s->name, d->name);
    return s;
}

static void build_universal(struct la_request *r, struct la_atom *atom)
{
    set_vector(r, atom, vector_type(r)->bits);
}

static void build_cp_async(struct la_request *r, struct la_atom *atom)
{
    const struct la_type *type = vector_type(r);
    if (type->bits != 32 && type->bits != 64 && type->bits != 128)
        la_fail(r->cx, LA_E_other, "%s copies 4, 8 or 16 bytes, not the %u bits of %s", r->name, type->bits,
                type->name);
    set_vector(r, atom, type->bits);
}

static void build_256_bits(struct la_request *r, struct la_atom *atom)
{
    la_need_args(r, 0, 0);
    set_vector(r, atom, 256);
}

/* Any number of values: the copy is as wide as the tensors and their alignment allow. */
static void build_automatic(struct la_request *r, struct la_atom *atom)
{
    la_need_args(r, 0, 1);
    if (r->n == 1)
        la_integer_arg(r, 0);
    atom->thr_id = la_formula(r, "1:0");
    const struct la_layout one = la_formula(r, "(1,1):(0,0)");
    set_ends(atom, one, one, one);
}

/* ---- one warp: exchanges, ldmatrix and stmatrix ---- */

static void build_warp_exchange(struct la_request *r, struct la_atom *atom)
{
    la_need_args(r, 0, 0);
    atom->thr_id = la_formula(r, "32:1");
    const struct la_layout src = la_formula(r, "(32,64):(64,1)");
    const bool by_one = r->choice[0].text[0] == '1';
    set_ends(atom, src,
             la_formula(r, by_one ? "((2,16),(32,2)):((32,128),(1,64))"
                                  : "((4,2,4),(32,2)):((64,32,512),(1,256))"),
             src);
}

static void build_movmatrix(struct la_request *r, struct la_atom *atom)
{
    la_need_args(r, 0, 0);
    atom->thr_id = la_formula(r, "32:1");
    const struct la_layout a = la_formula(r, "(32,32):(32,1)");
    set_ends(atom, a, a, a);
}

/* What the registers of a warp hold of x matrices of 8 rows of 16 bytes. */
static const char by_rows[] = "(32,(32,x)):(32,(1,1024))",     /* thread t: piece t % 4 of row t / 4 */
    by_columns[] = "((4,8),(16,2,x)):((256,16),(1,128,1024))", /* transposed, by 16 bits */
    by_byte_columns[] = "((4,8),(8,2,2,x)):((256,8),(1,128,64,1024))"; /* transposed, by 8 bits */

/* Of x matrices; the threads beyond 8x give addresses that are not used: their stride is 0. */
static void set_matrices(struct la_request *r, struct la_atom *atom, int64_t x, const char *registers,
                         bool store)
{
    la_need_args(r, 0, 0);
    la_let(r, "x", x);
    atom->thr_id = la_formula(r, "32:1");
    const struct la_layout memory = la_formula_tight(r, 0, "((8*x,4/x),128):((128,0),1)"),
                           values = la_formula_tight(r, 1, registers);
    set_ends(atom, store ? values : memory, store ? memory : values, values);
}

/* 32-bit registers: x of them */
static void build_ldmatrix(struct la_request *r, struct la_atom *atom)
{
    set_matrices(r, atom, la_choice_number(&r->choice[0]), by_rows, false);
}

static void build_stmatrix(struct la_request *r, struct la_atom *atom)
{
    set_matrices(r, atom, la_choice_number(&r->choice[0]), by_rows, true);
}

static void build_ldmatrix_wide(struct la_request *r, struct la_atom *atom)
{
    set_matrices(r, atom, la_choice_number(&r->choice[1]), by_rows, false);
}

/* values of 16 bits: 2x of them */
static void build_ldmatrix_trans(struct la_request *r, struct la_atom *atom)
{
    set_matrices(r, atom, la_choice_number(&r->choice[0]) / 2, by_columns, false);
}

static void build_stmatrix_trans(struct la_request *r, struct la_atom *atom)
{
    set_matrices(r, atom, la_choice_number(&r->choice[0]) / 2, by_columns, true);
}

static void build_stmatrix_bytes(struct la_request *r, struct la_atom *atom)
{
    set_matrices(r, atom, la_choice_number(&r->choice[0]) / 4, by_byte_columns, true);
}

/* Matrices of 16x16 bytes: two at a time lie side by side, so the rows' order is another. */
static void build_ldmatrix_bytes(struct la_request *r, struct la_atom *atom)
{
    const int64_t x = la_choice_number(&r->choice[0]) / 4;
    la_need_args(r, 0, 0);
    la_let(r, "x", x);
    atom->thr_id = la_formula(r, "32:1");
    const struct la_layout values = la_formula(r, by_byte_columns);
    set_ends(atom,
             la_formula(r, x == 2 ? "((2,2,4,2),128):((128,1024,256,0),1)"
                                  : "((2,2,4,2),128):((128,1024,256,2048),1)"),
             values, values);
}

/* ---- tensor memory ---- */

/* The family's detail is what the registers hold of R repetitions; all threads name the same memory. */
static void build_tensor_memory(struct la_request *r, struct la_atom *atom)
{
    la_need_args(r, 0, 0);
    la_let(r, "R", la_choice_number(&r->choice[1]));
    atom->thr_id = la_formula(r, "32:1");
    const struct la_layout registers = la_formula_tight(r, 1, r->family->detail);
    la_let(r, "bits", la_to_i64(r->cx, la_size(r->cx, registers), "the bits of a copy"));
    const struct la_layout memory = la_formula(r, "(32,bits):(0,1)");
    const bool store = la_choice_is(&r->choice[0], "STORE");
    set_ends(atom, store ? registers : memory, store ? memory : registers, memory);
}

/* From shared to tensor memory, of one or two thread blocks; the detail is the source. */
static struct la_layout utccp_source(struct la_request *r, struct la_atom *atom)
{
    la_need_args(r, 0, 0);
    const int64_t blocks = la_choice_number(&r->choice[1]);
    la_let(r, "c", blocks);
    la_let(r, "bits", la_choice_number(&r->choice[0]));
    atom->thr_id = la_formula(r, blocks == 1 ? "1:0" : "2:1");
    return la_formula(r, r->family->detail);
}

static void build_utccp(struct la_request *r, struct la_atom *atom)
{
    const struct la_layout a = utccp_source(r, atom);
    set_ends(atom, a, a, a);
}

static void build_utccp_multicast(struct la_request *r, struct la_atom *atom)
{
    const struct la_layout src = utccp_source(r, atom), dst = la_formula(r, "(c,128*128):(0,1)");
    set_ends(atom, src, dst, dst);
}

/* ---- TMA: one thread starts it, and the tensors decide the layouts ---- */

static void build_described(struct la_request *r, struct la_atom *atom)
{
    la_need_args(r, 0, 0);
    atom->kind = LA_ATOM_COPY;
    atom->thr_id = la_formula(r, "1:0");
}

/* ---- the rows ---- */

#define REPEATED "SM100_TMEM_{LOAD,STORE}_"
#define FROM_TMEM "A warp: between registers and tensor memory, repeated along the columns."
#define LDMATRIX "A warp: ldmatrix, 8x8 matrices of 16-bit values from shared memory."
#define STMATRIX "A warp: stmatrix, 8x8 matrices of 16-bit values to shared memory."
#define UTCCP "One thread: from shared to tensor memory."
#define TMA "One thread: a box of a tensor, by a TMA descriptor; the tensors decide its layouts."

const struct la_family la_families_copy[] = {
    {"UniversalCopy<{uint8_t,uint16_t,uint32_t,uint64_t,uint128_t}>", "any",
     "One thread: a load and a store of the type.", build_universal, NULL},
    {"AutoVectorizingCopy", "any", "One thread: vectors of up to 128 bits, as wide as the layouts allow.",
     build_automatic, NULL},
    {"AutoVectorizingCopyWithAssumedAlignment<{8,16,32,64,128}>", "any",
     "One thread: vectors as wide as the layouts and the assumed alignment in bits allow.", build_automatic,
     NULL},
    {"DefaultCopy", "any", "One thread: value by value.", build_automatic, NULL},
    {"SM50_Shuffle_U32_2x2Trans_XOR{1,4}", "SM50", "A warp: 2x2 transposes by a shuffle.",
     build_warp_exchange, NULL},
    {"SM75_U32x{1,2,4}_LDSM_N", "SM75", LDMATRIX, build_ldmatrix, NULL},
    {"SM75_U16x{2,4,8}_LDSM_T", "SM75", LDMATRIX " Transposed.", build_ldmatrix_trans, NULL},
    {"SM75_U32x1_MOVM_T", "SM75", "A warp: movmatrix, an 8x8 matrix transposed in registers.",
     build_movmatrix, NULL},
    {"SM80_CP_ASYNC_CACHEALWAYS{,_ZFILL}<{uint32_t,uint64_t,uint128_t}>", "SM80",
     "One thread: cp.async.ca, from global to shared memory.", build_cp_async, NULL},
    {"SM80_CP_ASYNC_CACHEGLOBAL{,_ZFILL}<uint128_t>", "SM80",
     "One thread: cp.async.cg, from global to shared memory, past L1.", build_cp_async, NULL},
    {"SM90_U32x{1,2,4}_STSM_N", "SM90", STMATRIX, build_stmatrix, NULL},
    {"SM90_U16x{2,4,8}_STSM_T", "SM90", STMATRIX " Transposed.", build_stmatrix_trans, NULL},
    {"SM90_TMA_{LOAD,STORE}{,_IM2COL}", "SM90", TMA, build_described, NULL},
    {"SM90_TMA_LOAD_{MULTICAST,IM2COL_MULTICAST}", "SM90", TMA, build_described, NULL},
    {"SM90_TMA_REDUCE_{ADD,MAX,MIN}", "SM90", TMA, build_described, NULL},
    {"SM90_BULK_COPY_{G2S,S2G}", "SM90", "One thread: contiguous bytes, a multiple of 16.", build_described,
     NULL},
    {"SM90_BULK_COPY_AUTO", "SM90", "One thread: contiguous bytes, in the direction that the tensors say.",
     build_automatic, NULL},
    {"SM100_{LOAD,STORE}_256bit_CACHE_NOALLOCATION", "SM100", "One thread: 256 bits, past L1.",
     build_256_bits, NULL},
    {"SM100_U8x{8,16}_LDSM_T", "SM100", "A warp: ldmatrix, 16x16 matrices of bytes, transposed.",
     build_ldmatrix_bytes, NULL},
    {"SM100_{SU4,SU6}_DU8x16_x{1,2,4}_LDSM_N", "SM100",
     "A warp: ldmatrix that widens values of 4 or 6 bits to bytes.", build_ldmatrix_wide, NULL},
    {"SM100_U8x{4,8,16}_STSM_T", "SM100", "A warp: stmatrix, matrices of bytes, transposed.",
     build_stmatrix_bytes, NULL},
    {REPEATED "16dp256b{1,2,4,8,16,32}x{,_16b}", "SM100", FROM_TMEM, build_tensor_memory,
     "((4,8),(64,2,R)):((64,256*R),(1,2048*R,256))"},
    {REPEATED "16dp128b{1,2,4,8,16,32,64}x{,_16b}", "SM100", FROM_TMEM, build_tensor_memory,
     "((4,8),(32,2,R)):((32,128*R),(1,1024*R,128))"},
    {REPEATED "16dp64b{1,2,4,8,16,32,64,128}x{,_16b}", "SM100", FROM_TMEM, build_tensor_memory,
     "((2,2,8),(32,R)):((512*R,32,64*R),(1,64))"},
    {REPEATED "16dp32b{1,2,4,8,16,32,64,128}x{,_16b}", "SM100", FROM_TMEM, build_tensor_memory,
     "((16,2),32*R):((64*R,32*R),1)"},
    {REPEATED "32dp32b{1,2,4,8,16,32,64,128}x{,_16b}", "SM100", FROM_TMEM, build_tensor_memory,
     "(32,32*R):(32*R,1)"},
    {"SM100_TMEM_{LOAD}_STAT_32dp32b{32,128}x", "SM100", FROM_TMEM " With the least or the largest value.",
     build_tensor_memory, "(32,32*R):(32*R,1)"},
    {"SM100_UTCCP_128dp{128,256}bit_{1cta,2cta}", "SM100", UTCCP, build_utccp, "(c,128*bits):(0,1)"},
    {"SM100_UTCCP_{4dp256bit}_{1cta,2cta}", "SM100", UTCCP, build_utccp, "(c,(4,256)):(0,(32,128))"},
    {"SM100_UTCCP_{4x32dp128bit}_{1cta,2cta}", "SM100", UTCCP " Each piece goes to 4 places.",
     build_utccp_multicast, "(c,(32,128,4)):(0,(1,32,0))"},
    {"SM100_UTCCP_{2x64dp128bitlw0213}_{1cta,2cta}", "SM100", UTCCP " Each piece goes to 2 places.",
     build_utccp_multicast, "(c,(64,128,2)):(0,(1,64,0))"},
    {"SM100_UTCCP_{2x64dp128bitlw0123}_{1cta,2cta}", "SM100", UTCCP " Each piece goes to 2 places.",
     build_utccp_multicast, "(c,(32,128,2,2)):(0,(1,32,4096,0))"},
    {0}};
