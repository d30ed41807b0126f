/* atoms_warp.c: MMA atoms of one thread, a quad pair and a warp: UniversalFMA, SM61, SM70, SM75 to SM120.
 *
 * From SM75 on one rule gives all layouts. A register of 32 bits holds v values that lie along K; the 4
 * threads of a group hold 4v of them in a row, the 8 groups are 8 rows, and a tile of more rows or a larger K
 * repeats that:
 *
 *     operand of R rows:   ((4,8),(v,R/8,K/4v)):((v*R,1),(R,8,4*v*R))
 *
 *     A of SM80_16x8x16_F32F16F16F32_TN (v = 2):   ((_4,_8),(_2,_2,_2)):((_32,_1),(_16,_8,_128))
 *
 * The accumulators are an operand of M rows with v = 2 and K = 8. Modes of extent 1 are left out. */
#include "atoms.h"

#include <string.h>

/* ---- value types, by their letters in the names ---- */

static const struct {
    const char *letters, *name;
} letters[] = {
    {"F16", "half_t"},      {"F32", "float"},         {"F64", "double"},        {"BF16", "bfloat16_t"},
    {"TF32", "tfloat32_t"}, {"E4M3", "float_e4m3_t"}, {"E5M2", "float_e5m2_t"}, {"S32", "int32_t"},
    {"S8", "int8_t"},       {"U8", "uint8_t"},        {"S4", "int4b_t"},        {"U4", "uint4b_t"},
    {"U1", "uint1b_t"},     {"GC64", "GaussComplex"}, /* three products instead of four */
};

static bool starts(struct la_choice *rest, const char *text)
{
    const struct la_choice head = {rest->text, strlen(text) < rest->len ? strlen(text) : rest->len};
    if (!la_choice_is(&head, text))
        return false;
    *rest = (struct la_choice){rest->text + head.len, rest->len - head.len};
    return true;
}

/* The type that the rest of a name begins with; the rest goes on behind it. */
static const struct la_type *lettered_type(struct la_ctx *cx, struct la_choice *rest)
{
    if (starts(rest, "C64"))
        return la_type_complex(cx, la_type_named("double"));
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (starts(rest, letters[i].letters))
            return la_type_named(letters[i].name);
    return NULL;
}

void la_choice_types(struct la_request *r, const struct la_choice *c, struct la_mma *mma)
{
    struct la_choice rest = *c;
    mma->types[LA_D] = lettered_type(r->cx, &rest);
    mma->types[LA_A] = lettered_type(r->cx, &rest);
    mma->types[LA_B] = lettered_type(r->cx, &rest);
    mma->types[LA_C] = rest.len ? lettered_type(r->cx, &rest) : mma->types[LA_D];
}

void la_set_shape(struct la_request *r, struct la_mma *mma, const int64_t mnk[3])
{
    const struct la_node *modes[3];
    for (int i = 0; i < 3; i++)
        modes[i] = la_int(r->cx, mnk[i], true);
    mma->shape_mnk = la_tuple(r->cx, 3, modes);
    la_let(r, "M", mnk[0]);
    la_let(r, "N", mnk[1]);
    la_let(r, "K", mnk[2]);
}

/* ---- one thread, quad pairs ---- */

static void set_types(struct la_mma *mma, const struct la_type *d, const struct la_type *a,
                      const struct la_type *b, const struct la_type *c)
{
    mma->types[LA_A] = a;
    mma->types[LA_B] = b;
    mma->types[LA_C] = c;
    mma->types[LA_D] = d;
}

/* UniversalFMA<D, A = D, B = A, C = D> */
static void build_fma(struct la_request *r, struct la_atom *atom)
{
    la_need_args(r, 1, 4);
    const struct la_type *d = la_type_arg(r, 0, NULL), *a = r->n > 1 ? la_type_arg(r, 1, NULL) : d,
                         *b = r->n > 2 ? la_type_arg(r, 2, NULL) : a,
                         *c = r->n > 3 ? la_type_arg(r, 3, NULL) : d;
    set_types(&atom->mma, d, a, b, c);
    la_set_shape(r, &atom->mma, (const int64_t[]){1, 1, 1});
    atom->thr_id = la_formula(r, "1:0");
    for (enum la_matrix x = LA_A; x <= LA_C; x++)
        atom->mma.tv[x] = la_formula(r, "(1,1):(0,0)");
}

static void build_dot_product(struct la_request *r, struct la_atom *atom)
{
    la_need_args(r, 0, 0);
    const int64_t k = la_choice_number(&r->choice[0]); /* DP4A: 4 bytes; DP2A: 2 shorts */
    const struct la_type *in = la_type_named(k == 4 ? "int8_t" : "int16_t"), *sum = la_type_named("int32_t");
    set_types(&atom->mma, sum, in, in, sum);
    la_set_shape(r, &atom->mma, (const int64_t[]){1, 1, k});
    atom->thr_id = la_formula(r, "1:0");
    atom->mma.tv[LA_A] = atom->mma.tv[LA_B] = la_formula(r, "(1,K):(0,1)");
    atom->mma.tv[LA_C] = la_formula(r, "(1,1):(0,0)");
}

/* A quad pair: threads 0-3 and 16-19. T is A with K contiguous, and B with N contiguous: BLAS's letters. */
static void build_quad_pair(struct la_request *r, struct la_atom *atom)
{
    static const char along_k[] = "(8,4):(1,8)", across[] = "((4,2),4):((8,4),1)";
    la_need_args(r, 0, 0);
    la_choice_types(r, &r->choice[0], &atom->mma);
    la_set_shape(r, &atom->mma, (const int64_t[]){8, 8, 4});
    atom->thr_id = la_formula(r, "(4,2):(1,16)");
    atom->mma.tv[LA_A] = la_formula(r, r->choice[1].text[0] == 'T' ? along_k : across);
    atom->mma.tv[LA_B] = la_formula(r, r->choice[1].text[1] == 'N' ? along_k : across);
    const bool wide = atom->mma.types[LA_C]->bits == 32;
    atom->mma.tv[LA_C] = la_formula(r, wide ? "((2,2,2),(2,2,2)):((1,16,4),(8,2,32))" : "(8,8):(1,8)");
}

/* ---- warps ---- */

/* The operand of `rows` rows: see the head of this file. */
static struct la_layout operand(struct la_request *r, int64_t rows, int64_t values, int64_t k)
{
    r->n_parameters = 0;
    la_let(r, "R", rows);
    la_let(r, "v", values);
    la_let(r, "k", k / 4 / values);
    return la_formula_tight(r, 1, "((4,8),(v,R/8,k)):((v*R,1),(R,8,4*v*R))");
}

/* CuTe writes the values of a 4-bit operand that fit into one register as a tuple of one mode. */
static struct la_layout in_parentheses(struct la_request *r, struct la_layout a)
{
    const struct la_node *s = la_mode(r->cx, a.shape, 1), *d = la_mode(r->cx, a.stride, 1);
    return la_plain(la_replace(r->cx, a.shape, 1, la_wrap(r->cx, s)),
                    la_replace(r->cx, a.stride, 1, la_wrap(r->cx, d)));
}

static int64_t values_of_register(const struct la_type *type)
{
    const int64_t register_bits = 32;
    return type->bits < register_bits ? register_bits / type->bits : 1;
}

static void set_warp(struct la_request *r, struct la_atom *atom, const int64_t mnk[3], int64_t va, int64_t vb)
{
    la_set_shape(r, &atom->mma, mnk);
    atom->thr_id = la_formula(r, "32:1");
    atom->mma.tv[LA_A] = operand(r, mnk[0], va, mnk[2]);
    atom->mma.tv[LA_B] = operand(r, mnk[1], vb, mnk[2]);
    atom->mma.tv[LA_C] = operand(r, mnk[0], 2, mnk[1]);
}

/* SM80_{shape}_{types}... */
static void build_warp(struct la_request *r, struct la_atom *atom)
{
    int64_t mnk[3];
    la_need_args(r, 0, 0);
    la_choice_shape(&r->choice[0], mnk);
    la_choice_types(r, &r->choice[1], &atom->mma);
    const int64_t va = values_of_register(atom->mma.types[LA_A]),
                  vb = values_of_register(atom->mma.types[LA_B]);
    set_warp(r, atom, mnk, va, vb);
    for (enum la_matrix x = LA_A; x <= LA_B; x++)
        if (atom->mma.types[x]->bits == 4)
            atom->mma.tv[x] = in_parentheses(r, atom->mma.tv[x]);
}

/* ---- SM120: element types are template arguments, and registers hold containers of 8 or 4 bits ---- */

static void set_sm120_types(struct la_request *r, struct la_atom *atom, const char *container)
{
    for (uint32_t i = 0; i < 2; i++) {
        const struct la_type *element = la_type_arg(r, i, NULL);
        if (element->bits < 4 || element->bits > 8)
            la_fail(r->cx, LA_E_other, "%s multiplies values of 4 to 8 bits, not %s", r->name, element->name);
    }
    const struct la_type *in = la_type_named(container), *sum = la_type_arg(r, 2, NULL);
    set_types(&atom->mma, sum, in, in, sum);
}

static void set_scales(struct la_request *r, struct la_atom *atom)
{
    r->n_parameters = 0;
    la_let(r, "K", la_to_i64(r->cx, la_mode(r->cx, atom->mma.shape_mnk, 2), "K"));
    atom->mma.sfa = la_formula(r, "((2,2,8),K):((8,0,1),16)");
    atom->mma.sfb = la_formula(r, "((4,8),K):((0,1),8)");
}

/* <A, B, C> or, block-scaled, <A, B, C, type of the scales, values a scale> */
static void build_sm120(struct la_request *r, struct la_atom *atom)
{
    const bool scaled = r->family->detail != NULL;
    la_need_args(r, scaled ? 5 : 3, scaled ? 5 : 3);
    const int64_t k = la_choice_number(&r->choice[0]), values = k / 8; /* two registers of A a row */
    set_sm120_types(r, atom, values == 8 ? "uint4b_t" : "uint8_t");
    set_warp(r, atom, (const int64_t[]){16, 8, k}, values, values);
    if (scaled) {
        la_type_arg(r, 3, NULL);
        la_integer_arg(r, 4);
        set_scales(r, atom);
    }
}

/* Half of A is zero and left out: a register holds what stands for twice as many values. */
static void build_sm120_sparse(struct la_request *r, struct la_atom *atom)
{
    const bool scaled = r->family->detail != NULL;
    la_need_args(r, scaled ? 5 : 3, scaled ? 5 : 3);
    const int64_t k = la_choice_number(&r->choice[0]), values = k / 16;
    set_sm120_types(r, atom, values == 8 ? "uint4b_t" : "uint8_t");
    atom->mma.types[LA_A] = values == 8 ? la_type_sparse(r->cx, 4, la_type_named("uint8_t"))
                                        : la_type_sparse(r->cx, 2, r->args[0].type);
    set_warp(r, atom, (const int64_t[]){16, 8, k}, 2 * values, values);
    if (scaled)
        set_scales(r, atom);
    r->n_parameters = 0;
    la_let(r, "K", k);
    atom->mma.e = la_formula(r, values == 8 ? "((2,2,8),(K/2)):((8,8*K,1),(16))"
                                            : "((2,2,8),K/2):((8,8*K,1),16)");
}

/* ---- the rows ---- */

#define F8F6F4 "{float_e4m3_t,float_e5m2_t,float_e2m3_t,float_e3m2_t,float_e2m1_t}"
#define S8 "{S32S8S8S32,S32S8U8S32,S32U8S8S32,S32U8U8S32}"
#define S4 "{S32S4S4S32,S32S4U4S32,S32U4S4S32,S32U4U4S32}"
#define E4M3_E5M2 \
    "{F32E4M3E4M3F32,F32E4M3E5M2F32,F32E5M2E5M2F32,F32E5M2E4M3F32," \
    "F16E4M3E4M3F16,F16E4M3E5M2F16,F16E5M2E5M2F16,F16E5M2E4M3F16}"
#define SCALED "scaled"

const struct la_family la_families_warp[] = {
    {"UniversalFMA<{float,double,half_t,int32_t}>", "any", "One thread: d = a * b + c.", build_fma, NULL},
    {"SM61_DP{4A,2A}", "SM61", "One thread: a dot product of bytes or shorts, added to an int.",
     build_dot_product, NULL},
    {"SM70_8x8x4_{F16F16F16F16,F32F16F16F32}_{TN,NT,NN,TT}", "SM70",
     "A quad pair, threads 0-3 and 16-19: half_t, in all four majors.", build_quad_pair, NULL},
    {"SM75_{16x8x8}_{F32F16F16F32,F16F16F16F16}_TN", "SM75", "A warp: half_t.", build_warp, NULL},
    {"SM75_{8x8x16}_{S32S8S8S32}_TN", "SM75", "A warp: bytes.", build_warp, NULL},
    {"SM80_{16x8x8,16x8x16}_{F16F16F16F16,F32F16F16F32,F32BF16BF16F32}_TN", "SM80",
     "A warp: half_t and bfloat16_t.", build_warp, NULL},
    {"SM80_{16x8x4,16x8x8}_{F32TF32TF32F32}_TN", "SM80", "A warp: tfloat32_t.", build_warp, NULL},
    {"SM80_{8x8x4}_{F64F64F64F64,C64C64C64C64,GC64C64C64GC64}_TN", "SM80",
     "A warp: double and complex<double>; GC64 with Gauss's three products.", build_warp, NULL},
    {"SM80_{8x8x16,16x8x16,16x8x32}_" S8 "_TN{,_SATURATE}", "SM80", "A warp: bytes.", build_warp, NULL},
    {"SM80_{8x8x32,16x8x32,16x8x64}_" S4 "_TN{,_SATURATE}", "SM80", "A warp: 4-bit integers.", build_warp,
     NULL},
    {"SM80_{8x8x128,16x8x128,16x8x256}_{S32U1U1S32}_TN_{XORPOPC,ANDPOPC}", "SM80",
     "A warp: single bits, counted after xor or and.", build_warp, NULL},
    {"SM89_{16x8x32}_" E4M3_E5M2 "_TN", "SM89", "A warp: 8-bit floats.", build_warp, NULL},
    {"SM90_{16x8x4,16x8x8,16x8x16}_{F64F64F64F64,C64C64C64C64}_TN", "SM90",
     "A warp: double and complex<double>.", build_warp, NULL},
    {"SM120_16x8x{32}_TN<" F8F6F4 "," F8F6F4 ",{float,half_t}>", "SM120",
     "A warp: floats of 4, 6 and 8 bits, each in a byte.", build_sm120, NULL},
    {"SM120::BLOCKSCALED::SM120_16x8x{32}_TN_VS<" F8F6F4 "," F8F6F4 ",float,float_ue8m0_t,32>", "SM120",
     "A warp: floats of 4, 6 and 8 bits, with a scale for 32 values along K.", build_sm120, SCALED},
    {"SM120::BLOCKSCALED::SM120_16x8x{64}_TN_VS<float_e2m1_t,float_e2m1_t,float,float_ue8m0_t,32>", "SM120",
     "A warp: floats of 4 bits, with a scale for 16 or 32 values along K.", build_sm120, SCALED},
    {"SM120::BLOCKSCALED::SM120_16x8x{64}_TN_VS<float_e2m1_t,float_e2m1_t,float,float_ue4m3_t,16>", "SM120",
     "A warp: floats of 4 bits, with a scale for 16 or 32 values along K.", build_sm120, SCALED},
    {"SM120::SPARSE::SM120_SPARSE_16x8x{64}_TN<" F8F6F4 "," F8F6F4 ",float>", "SM120",
     "A warp: half of A is zero and left out; E tells which.", build_sm120_sparse, NULL},
    {"SM120::BLOCKSCALED::SPARSE::SM120_SPARSE_16x8x{64}_TN_VS<" F8F6F4 "," F8F6F4 ",float,float_ue8m0_t,32>",
     "SM120", "A warp: sparse and block-scaled, floats of 4, 6 and 8 bits.", build_sm120_sparse, SCALED},
    {"SM120::BLOCKSCALED::SPARSE::SM120_SPARSE_16x8x{128}_TN_VS<float_e2m1_t,float_e2m1_t,float,"
     "float_ue8m0_t,32>",
     "SM120", "A warp: sparse and block-scaled, floats of 4 bits.", build_sm120_sparse, SCALED},
    {0}};
