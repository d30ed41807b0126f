/* instruction.c: which instruction an MMA atom is: by the family that its name begins with, its shape and its types.
 *
 *   SM80_16x8x16_F32F16F16F32_TN -> mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 of sm_80 on, 32 threads,
 *                                   d, c: 4 float each; a: 4 registers of 2 half_t; b: 2
 *
 * Nothing is listed atom by atom: the layouts, types and shapes are core's. What is refused is refused here, by name:
 * what no instruction of PTX does, and what is not run yet. */
#include "mma.h"

#include <string.h>

enum { ANY_CARD = 9999, REGISTER_BITS = 32 };

/* ---- types ---- */

/* How PTX calls a number, and the register of CUDA C that holds one alone, or several. */
struct spelling {
    const char *name, *ptx, *type;
};

static struct spelling spelling_of(const struct gpu_number *n)
{
    static const struct spelling known[] = {
        {"half_t", "f16", "unsigned short"},
        {"bfloat16_t", "bf16", "unsigned short"},
        {"float", "f32", "float"},
        {"tfloat32_t", "tf32", "unsigned"},
        {"double", "f64", "double"},
        {"float_e4m3_t", "e4m3", "unsigned char"},
        {"float_e5m2_t", "e5m2", "unsigned char"},
        {"float_e3m2_t", "e3m2", "unsigned char"},
        {"float_e2m3_t", "e2m3", "unsigned char"},
        {"float_e2m1_t", "e2m1", "unsigned char"},
        {"int8_t", "s8", "signed char"},
        {"uint8_t", "u8", "unsigned char"},
        {"int16_t", "s16", "short"},
        {"uint16_t", "u16", "unsigned short"},
        {"int32_t", "s32", "int"},
        {"int", "s32", "int"},
        {"uint32_t", "u32", "unsigned"},
        {"unsigned", "u32", "unsigned"},
        {"int4b_t", "s4", "unsigned"},
        {"uint4b_t", "u4", "unsigned"},
        {"uint1b_t", "b1", "unsigned"},
        {"complex<float>", "", "float2"},
        {"complex<double>", "", "double2"},
        {"GaussComplex", "", "gauss"},
    };
    size_t i = 0;
    while (strcmp(known[i].name, n->name) != 0)
        i++;
    return known[i];
}

static const struct gpu_number *number_of(struct la_ctx *cx, const struct la_atom *atom, enum la_matrix x)
{
    const char *type = la_type_name(atom->mma.types[x]);
    const struct gpu_number *n = gpu_number_find(type);
    if (!n)
        la_fail(cx, LA_E_kind, "%s: values of type %s are not run here", atom->name, type);
    return n;
}

/* Values of less than a register share one, but for the instructions of C. */
static struct gpu_fragment fragment_of(struct la_ctx *cx, const struct gpu_instruction *in, enum la_matrix x,
                                       const struct gpu_number *number)
{
    const struct la_layout tv = in->atom->mma.tv[x == LA_D ? LA_C : x];
    struct gpu_fragment f = {.number = number,
                             .type = spelling_of(number).type,
                             .values = la_size(cx, la_layout_mode(cx, tv, 1))->value,
                             .per = 1};
    f.descriptor = x < LA_C && in->atom->mma.descriptor[x];
    if (in->form != GPU_FORM_FMA && number->bits < REGISTER_BITS) {
        f.type = "unsigned";
        f.per = REGISTER_BITS / number->bits;
    }
    f.registers = f.descriptor ? 1 : (f.values + f.per - 1) / f.per;
    if (f.descriptor)
        f.type = "unsigned long long";
    return f;
}

static void set_fragments(struct la_ctx *cx, struct gpu_instruction *in)
{
    for (enum la_matrix x = LA_A; x <= LA_D; x++)
        in->of[x] = fragment_of(cx, in, x, number_of(cx, in->atom, x));
}

static const char *ptx_types(struct la_ctx *cx, const struct gpu_instruction *in)
{
    return la_format(cx, "%s.%s.%s.%s", spelling_of(in->of[LA_D].number).ptx,
                     spelling_of(in->of[LA_A].number).ptx, spelling_of(in->of[LA_B].number).ptx,
                     spelling_of(in->of[LA_C].number).ptx);
}

/* ---- families ---- */

static bool ends_in(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

/* Types that d = a * b + c is one operation of, or of complex ones four. */
static bool has_fma(const struct gpu_number *n)
{
    static const char *const known[] = {
        "half_t", "bfloat16_t", "float",    "double",         "int32_t",
        "int",    "uint32_t",   "unsigned", "complex<float>", "complex<double>"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (!strcmp(n->name, known[i]))
            return true;
    return false;
}

/* Whether every value of one type is one of the other, by a conversion that C or PTX has. */
static bool widens(const struct gpu_number *from, const struct gpu_number *to)
{
    if (from == to)
        return true;
    if (from->kind == GPU_FLOAT && to->kind == GPU_FLOAT)
        return from->bits >= 16 && to->bits >= 32 && from->bits <= to->bits;
    return from->kind < GPU_COMPLEX && to->kind < GPU_COMPLEX && from->kind != GPU_FLOAT &&
           to->kind != GPU_FLOAT && from->bits >= 8 && from->bits <= to->bits;
}

/* A and B become d's type, exactly. */
static void find_fma(struct la_ctx *cx, struct gpu_instruction *in)
{
    in->form = GPU_FORM_FMA;
    set_fragments(cx, in);
    const struct gpu_number *d = in->of[LA_D].number, *c = in->of[LA_C].number;
    if (c != d || !has_fma(d))
        la_fail(cx, LA_E_kind,
                "%s: d = a * b + c is run for d and c of one type among half_t, bfloat16_t, float, double, "
                "int32_t, "
                "uint32_t, complex<float> and complex<double>, not %s and %s",
                in->atom->name, d->name, c->name);
    for (enum la_matrix x = LA_A; x <= LA_B; x++)
        if (!widens(in->of[x].number, d))
            la_fail(cx, LA_E_kind, "%s: %s does not become %s without loss", in->atom->name,
                    in->of[x].number->name, d->name);
    in->least = strcmp(d->name, "bfloat16_t") != 0 ? 60 : 80;
}

static void find_dp4a(struct la_ctx *cx, struct gpu_instruction *in)
{
    in->form = GPU_FORM_DP4A;
    set_fragments(cx, in);
    in->ptx = "dp4a.s32.s32";
    in->least = 61;
}

/* T is A with K contiguous, and B with N contiguous: row is K contiguous for A, and N for B. */
static void find_quad_pair(struct la_ctx *cx, struct gpu_instruction *in)
{
    const char *majors = in->atom->name + strlen(in->atom->name) - 2;
    in->form = GPU_FORM_MMA;
    set_fragments(cx, in);
    in->ptx = la_format(cx, "mma.sync.aligned.m8n8k4.%s.%s.%s", majors[0] == 'T' ? "row" : "col",
                        majors[1] == 'T' ? "row" : "col", ptx_types(cx, in));
    in->least = 70;
}

static void find_warp(struct la_ctx *cx, struct gpu_instruction *in)
{
    const char *name = in->atom->name;
    in->saturates = ends_in(name, "_SATURATE");
    in->bits = ends_in(name, "POPC");
    in->bits_and = ends_in(name, "_ANDPOPC");
    const char *type = la_type_name(in->atom->mma.types[LA_D]);
    in->form = !strcmp(type, "complex<double>") ? GPU_FORM_COMPLEX
               : !strcmp(type, "GaussComplex")  ? GPU_FORM_GAUSS
                                                : GPU_FORM_MMA;
    set_fragments(cx, in);
    in->ptx = la_format(cx, "mma.sync.aligned.m%lldn%lldk%lld.row.col%s.%s%s", (long long)in->m,
                        (long long)in->n, (long long)in->k, in->saturates ? ".satfinite" : "",
                        in->form == GPU_FORM_MMA ? ptx_types(cx, in) : "f64.f64.f64.f64",
                        !in->bits      ? ""
                        : in->bits_and ? ".and.popc"
                                       : ".xor.popc");
    in->least = (name[2] - '0') * 10 + (name[3] - '0');
}

/* Template argument i of an atom's name. */
static const char *argument(struct la_ctx *cx, const char *name, uint32_t i)
{
    const char *at = strchr(name, '<');
    for (; at && i > 0; i--)
        at = strchr(at + 1, ',');
    return at ? la_format(cx, "%.*s", (int)strcspn(at + 1, ",>"), at + 1) : "";
}

/* Registers hold a byte for each value, of whatever width. */
static void find_sm120(struct la_ctx *cx, struct gpu_instruction *in)
{
    in->form = GPU_FORM_MMA;
    set_fragments(cx, in);
    for (enum la_matrix x = LA_A; x <= LA_B; x++)
        in->of[x] = fragment_of(cx, in, x, gpu_number_in_byte(argument(cx, in->atom->name, x)));
    in->ptx = la_format(cx, "mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.%s", ptx_types(cx, in));
    in->least = 120;
    in->most = 121;
}

/* GMMA::ScaleIn::Neg is a template argument of A, then one of B, behind the majors where there are any. */
static void set_negative(struct gpu_instruction *in)
{
    const char *at = in->atom->name;
    for (int x = 0; x < 2 && (at = strstr(at, "ScaleIn::")); x++) {
        at += strlen("ScaleIn::");
        in->negative[x] = !strncmp(at, "Neg", 3);
    }
}

static void find_wgmma(struct la_ctx *cx, struct gpu_instruction *in)
{
    in->form = GPU_FORM_WGMMA;
    set_fragments(cx, in);
    if (in->of[LA_A].number->bits != 16 && strstr(in->atom->name, "Major::"))
        la_fail(
            cx, LA_E_kind,
            "%s: operands of %u bits lie along K; only those of 16 bits have majors as template arguments",
            in->atom->name, in->of[LA_A].number->bits);
    in->saturates = ends_in(in->atom->name, "_SATURATE");
    set_negative(in);
    in->ptx = la_format(cx, "wgmma.mma_async.sync.aligned.m64n%lldk%lld.%s.%s.%s%s", (long long)in->n,
                        (long long)in->k, spelling_of(in->of[LA_D].number).ptx,
                        spelling_of(in->of[LA_A].number).ptx, spelling_of(in->of[LA_B].number).ptx,
                        in->saturates ? ".satfinite" : "");
    in->least = in->most = 90;
}

/* What a name begins with: how its instruction is found, or why it is not run. The longest beginnings come first. */
static const struct {
    const char *begins;
    void (*find)(struct la_ctx *cx, struct gpu_instruction *in);
    const char *why;
} families[] = {
    {"UniversalFMA", find_fma, NULL},
    {"SM61_DP4A", find_dp4a, NULL},
    {"SM61_DP2A", NULL,
     "its traits say two shorts by two shorts, but PTX has only dp2a.lo and dp2a.hi, of shorts by bytes: no "
     "instruction does what it says"},
    {"SM70_", find_quad_pair, NULL},
    {"SM75_", find_warp, NULL},
    {"SM80_", find_warp, NULL},
    {"SM89_", find_warp, NULL},
    {"SM90::GMMA::SPARSE", NULL, "half of A is left out and tensor E tells which: no such inputs are made"},
    {"SM90_64x", find_wgmma, NULL},
    {"SM90_", find_warp, NULL},
    {"SM120_", find_sm120, NULL},
    {"SM120::BLOCKSCALED::SPARSE", NULL,
     "half of A is left out, and tensors hold scales: no such inputs are made"},
    {"SM120::BLOCKSCALED", NULL, "tensors hold scales of the operands: no such inputs are made"},
    {"SM120::SPARSE", NULL, "half of A is left out and tensor E tells which: no such inputs are made"},
    {"SM100_", NULL, "its accumulators lie in tensor memory, which no thread holds"},
};
enum { FAMILIES = sizeof families / sizeof families[0] };

struct finding {
    const struct la_atom *atom;
    struct gpu_instruction *out;
};

static void find(struct la_ctx *cx, void *arg)
{
    const struct finding *f = arg;
    const struct la_atom *atom = f->atom;
    if (atom->kind != LA_ATOM_MMA)
        la_fail(cx, LA_E_kind, "%s is a copy, not an MMA", atom->name);
    size_t i = 0;
    while (i < FAMILIES && strncmp(atom->name, families[i].begins, strlen(families[i].begins)) != 0)
        i++;
    if (i == FAMILIES || !families[i].find)
        la_fail(cx, LA_E_kind, "%s is not run here: %s", atom->name,
                i < FAMILIES ? families[i].why : "its family is not known");
    int64_t mnk[3];
    for (uint32_t x = 0; x < 3; x++)
        mnk[x] = la_product(cx, la_mode(cx, atom->mma.shape_mnk, x))->value;
    *f->out = (struct gpu_instruction){.atom = atom,
                                       .m = mnk[0],
                                       .n = mnk[1],
                                       .k = mnk[2],
                                       .threads = la_product(cx, atom->thr_id.shape)->value,
                                       .most = ANY_CARD};
    families[i].find(cx, f->out);
}

bool gpu_instruction_find(struct la_ctx *cx, const struct la_atom *atom, struct gpu_instruction *out)
{
    *out = (struct gpu_instruction){.atom = atom};
    struct finding f = {atom, out};
    return la_try(cx, find, &f);
}

bool gpu_instruction_on(struct la_ctx *cx, const struct gpu_instruction *in, int major, int minor)
{
    const int has = 10 * major + minor;
    if (has >= in->least && has <= in->most)
        return true;
    return gpu_refuse(cx, LA_E_other, "%s needs compute capability %d.%d%s; this card has %d.%d",
                      in->atom->name, in->least / 10, in->least % 10,
                      in->most == ANY_CARD    ? " or more"
                      : in->most != in->least ? la_format(cx, " to %d.%d", in->most / 10, in->most % 10)
                                              : " itself: it is of that generation alone",
                      major, minor);
}
