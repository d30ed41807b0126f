/* atoms_ops.c: what an atom tells of itself, by the names that its members have in CuTe.
 *
 *     MMA_Traits<SM80_16x8x16_F32F16F16F32_TN>::ALayout       or ALayout(SM80_16x8x16_F32F16F16F32_TN{})
 *     Copy_Atom<SM75_U32x4_LDSM_N,half_t>::ValLayoutSrc
 *
 * A tiled copy or MMA has the members of its atom, too. */
#include "internal.h"

static const struct la_atom *any_atom(struct la_value v)
{
    return v.kind == LA_K_TILED_COPY  ? ((const struct la_tiled_copy *)v.object)->atom
           : v.kind == LA_K_TILED_MMA ? ((const struct la_tiled_mma *)v.object)->atom
                                      : v.object;
}

static const struct la_atom *atom_of(struct la_ctx *cx, struct la_value v, enum la_atom_kind kind)
{
    const struct la_atom *atom = any_atom(v);
    if (atom->kind != kind)
        la_fail_arg(cx, 0, LA_E_kind, "%s is %s; this is a member of %s", atom->name,
                    atom->kind == LA_ATOM_MMA ? "an MMA" : "a copy",
                    kind == LA_ATOM_MMA ? "MMA atoms" : "copy atoms");
    return atom;
}

static struct la_value layout_or_none(struct la_ctx *cx, const struct la_atom *atom, struct la_layout a,
                                      const char *why)
{
    if (!a.shape)
        la_fail_arg(cx, 0, LA_E_kind, "%s has none: %s", atom->name, why);
    return la_value_layout(a);
}

static struct la_value type_value(const struct la_type *type)
{
    return (struct la_value){.kind = LA_K_TYPE, .type = type};
}

/* ---- of MMAs ---- */

static struct la_value op_thr_id(struct la_ctx *cx, const struct la_call *call)
{
    (void)cx;
    return la_value_layout(any_atom(call->args[0])->thr_id);
}

static struct la_value op_shape_mnk(struct la_ctx *cx, const struct la_call *call)
{
    return la_value_tuple(atom_of(cx, call->args[0], LA_ATOM_MMA)->mma.shape_mnk);
}

#define OF_MMA(NAME, X) \
    static struct la_value op_layout_##NAME(struct la_ctx *cx, const struct la_call *call) { \
        return la_value_layout(atom_of(cx, call->args[0], LA_ATOM_MMA)->mma.tv[X]); \
    } static struct la_value op_type_##NAME(struct la_ctx *cx, const struct la_call *call) { \
        return type_value(atom_of(cx, call->args[0], LA_ATOM_MMA)->mma.types[X]); \
    }
OF_MMA(a, LA_A)
OF_MMA(b, LA_B)
OF_MMA(c, LA_C)

static struct la_value op_type_d(struct la_ctx *cx, const struct la_call *call)
{
    return type_value(atom_of(cx, call->args[0], LA_ATOM_MMA)->mma.types[LA_D]);
}

static struct la_value op_layout_e(struct la_ctx *cx, const struct la_call *call)
{
    const struct la_atom *atom = atom_of(cx, call->args[0], LA_ATOM_MMA);
    return layout_or_none(cx, atom, atom->mma.e, "its A is not sparse");
}

static struct la_value op_layout_sfa(struct la_ctx *cx, const struct la_call *call)
{
    const struct la_atom *atom = atom_of(cx, call->args[0], LA_ATOM_MMA);
    return layout_or_none(cx, atom, atom->mma.sfa, "it has no scales in registers");
}

static struct la_value op_layout_sfb(struct la_ctx *cx, const struct la_call *call)
{
    const struct la_atom *atom = atom_of(cx, call->args[0], LA_ATOM_MMA);
    return layout_or_none(cx, atom, atom->mma.sfb, "it has no scales in registers");
}

/* ---- of copies ---- */

#define OF_COPY(NAME, END) \
    static struct la_value op_bits_##NAME(struct la_ctx *cx, const struct la_call *call) { \
        const struct la_atom *atom = atom_of(cx, call->args[0], LA_ATOM_COPY); \
        return layout_or_none(cx, atom, atom->copy.bits[END], "the tensors decide"); \
    } static struct la_value op_values_##NAME(struct la_ctx *cx, const struct la_call *call) { \
        const struct la_atom *atom = atom_of(cx, call->args[0], LA_ATOM_COPY); \
        return layout_or_none(cx, atom, atom->copy.values[END], "write Copy_Atom<..., type of the values>"); \
    }
OF_COPY(src, LA_SRC)
OF_COPY(dst, LA_DST)
OF_COPY(ref, LA_REF)

static struct la_value number_of_values(struct la_ctx *cx, const struct la_call *call, enum la_end end)
{
    const struct la_atom *atom = atom_of(cx, call->args[0], LA_ATOM_COPY);
    const struct la_value a = layout_or_none(cx, atom, atom->copy.values[end],
                                             "write Copy_Atom<..., type of the values>");
    return la_value_tuple(la_product(cx, la_mode(cx, a.layout.shape, 1)));
}

static struct la_value op_num_val_src(struct la_ctx *cx, const struct la_call *call)
{
    return number_of_values(cx, call, LA_SRC);
}

static struct la_value op_num_val_dst(struct la_ctx *cx, const struct la_call *call)
{
    return number_of_values(cx, call, LA_DST);
}

static struct la_value op_val_type(struct la_ctx *cx, const struct la_call *call)
{
    const struct la_atom *atom = atom_of(cx, call->args[0], LA_ATOM_COPY);
    if (!atom->copy.type)
        la_fail_arg(cx, 0, LA_E_kind, "%s has none: write Copy_Atom<%s, type of the values>", atom->name,
                    atom->name);
    return type_value(atom->copy.type);
}

/* ---- the rows ---- */

#define ATOMIC (LA_K_ATOM | LA_K_TILED_COPY | LA_K_TILED_MMA)
#define MEMBER(NAME, RUN, DOC, GIVES, OF, RESULT) \
    { \
        .name = NAME, .doc = DOC, .params = {{"atom", ATOMIC}}, .gives = GIVES, .run = RUN, \
        .example = OF "::" NAME, .result = RESULT \
    }
#define MMA "MMA_Traits<SM80_16x8x16_F32F16F16F32_TN>"
#define MMA_ATOM "MMA_Atom<SM80_16x8x16_F32F16F16F32_TN>"
#define LDMATRIX "Copy_Traits<SM75_U32x4_LDSM_N>"
#define LDMATRIX_ATOM "Copy_Atom<SM75_U32x4_LDSM_N,half_t>"
#define SCALED_MMA \
    "MMA_Traits<SM120::BLOCKSCALED::SM120_16x8x64_TN_VS<float_e2m1_t,float_e2m1_t,float,float_ue4m3_t,16>>"
#define A_TV "((_4,_8),(_2,_2,_2)):((_32,_1),(_16,_8,_128))"
#define B_TV "((_4,_8),(_2,_2)):((_16,_1),(_8,_64))"
#define C_TV "((_4,_8),(_2,_2)):((_32,_1),(_16,_8))"

const struct la_op la_ops_atom[] = {
    MEMBER("ThrID", op_thr_id, "The threads of an atom: which threads of the warp they are.", LA_K_LAYOUT,
           "MMA_Traits<SM70_8x8x4_F32F16F16F32_TN>", "(_4,_2):(_1,_16)"),
    MEMBER("Shape_MNK", op_shape_mnk, "The tile that an MMA multiplies.", LA_K_TUPLE, MMA, "(_16,_8,_16)"),
    MEMBER("ALayout", op_layout_a, "(thread, value) to the index in the tile (M,K).", LA_K_LAYOUT, MMA, A_TV),
    MEMBER("BLayout", op_layout_b, "(thread, value) to the index in the tile (N,K).", LA_K_LAYOUT, MMA, B_TV),
    MEMBER("CLayout", op_layout_c, "(thread, value) to the index in the tile (M,N).", LA_K_LAYOUT, MMA, C_TV),
    MEMBER("LayoutA_TV", op_layout_a, "(thread, value) to the index in the tile (M,K).", LA_K_LAYOUT,
           MMA_ATOM, A_TV),
    MEMBER("LayoutB_TV", op_layout_b, "(thread, value) to the index in the tile (N,K).", LA_K_LAYOUT,
           MMA_ATOM, B_TV),
    MEMBER("LayoutC_TV", op_layout_c, "(thread, value) to the index in the tile (M,N).", LA_K_LAYOUT,
           MMA_ATOM, C_TV),
    MEMBER("ELayout", op_layout_e, "Who holds which of the bits that tell where a sparse A is not zero.",
           LA_K_LAYOUT, "MMA_Traits<SM120::SPARSE::SM120_SPARSE_16x8x64_TN<float_e4m3_t,float_e4m3_t,float>>",
           "((_2,_2,_8),_32):((_8,_512,_1),_16)"),
    MEMBER("SFALayout", op_layout_sfa, "Who holds which scale of A.", LA_K_LAYOUT, SCALED_MMA,
           "((_2,_2,_8),_64):((_8,_0,_1),_16)"),
    MEMBER("SFBLayout", op_layout_sfb, "Who holds which scale of B.", LA_K_LAYOUT, SCALED_MMA,
           "((_4,_8),_64):((_0,_1),_8)"),
    MEMBER("ValTypeA", op_type_a, "The type of A's values.", LA_K_TYPE, MMA, "half_t"),
    MEMBER("ValTypeB", op_type_b, "The type of B's values.", LA_K_TYPE, MMA, "half_t"),
    MEMBER("ValTypeC", op_type_c, "The type of C's values.", LA_K_TYPE, MMA, "float"),
    MEMBER("ValTypeD", op_type_d, "The type of D's values.", LA_K_TYPE, MMA, "float"),
    MEMBER("SrcLayout", op_bits_src, "(thread, bit) of the source to the bit that is copied.", LA_K_LAYOUT,
           LDMATRIX, "(_32,_128):(_128,_1)"),
    MEMBER("DstLayout", op_bits_dst, "(thread, bit) of the destination to the bit that is copied.",
           LA_K_LAYOUT, LDMATRIX, "(_32,(_32,_4)):(_32,(_1,_1024))"),
    MEMBER("RefLayout", op_bits_ref, "(thread, bit) of the end whose order of bits both ends take.",
           LA_K_LAYOUT, LDMATRIX, "(_32,(_32,_4)):(_32,(_1,_1024))"),
    MEMBER("ValLayoutSrc", op_values_src, "(thread, value) of the source to the value that is copied.",
           LA_K_LAYOUT, LDMATRIX_ATOM, "(_32,_8):(_8,_1)"),
    MEMBER("ValLayoutDst", op_values_dst, "(thread, value) of the destination to the value that is copied.",
           LA_K_LAYOUT, LDMATRIX_ATOM, "(_32,(_2,_4)):(_2,(_1,_64))"),
    MEMBER("ValLayoutRef", op_values_ref, "(thread, value) of the end whose order of values both ends take.",
           LA_K_LAYOUT, LDMATRIX_ATOM, "(_32,(_2,_4)):(_2,(_1,_64))"),
    MEMBER("NumValSrc", op_num_val_src, "Values a thread of the source.", LA_K_INT, LDMATRIX_ATOM, "_8"),
    MEMBER("NumValDst", op_num_val_dst, "Values a thread of the destination.", LA_K_INT, LDMATRIX_ATOM, "_8"),
    MEMBER("ValType", op_val_type, "The type of the values of a Copy_Atom.", LA_K_TYPE, LDMATRIX_ATOM,
           "half_t"),
    {0}};
