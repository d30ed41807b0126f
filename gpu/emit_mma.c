/* emit_mma.c: one MMA instruction as a function of CUDA C over the fragments of a thread.
 *
 *   __device__ inline void mma(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], const float (&c)[4])
 *   {
 *       asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
 *                    "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};" : ...
 *   }
 *
 * Registers stand in the order of the fragments: d, a, b, c, as PTX wants them. */
#include "mma.h"

#include <string.h>

/* ---- pieces ---- */

static const char *constraint_of(const char *type)
{
    return !strcmp(type, "float")    ? "f"
           : !strcmp(type, "double") ? "d"
           : strstr(type, "short")   ? "h"
           : strstr(type, "long")    ? "l"
                                     : "r";
}

static void emit_head(struct gpu_text *t, const struct gpu_instruction *in)
{
    const struct gpu_fragment *f = in->of;
    gpu_text_add(t, "// %s: d = %sa * %sb + c%s.\n", in->atom->name, in->negative[0] ? "-" : "",
                 in->negative[1] ? "-" : "", in->saturates ? ", within the limits of int" : "");
    gpu_text_add(t,
                 "__device__ inline void mma(%s (&d)[%lld], const %s (&a)[%lld], const %s (&b)[%lld],\n"
                 "                           const %s (&c)[%lld])\n{\n",
                 f[LA_D].type, (long long)f[LA_D].registers, f[LA_A].type, (long long)f[LA_A].registers,
                 f[LA_B].type, (long long)f[LA_B].registers, f[LA_C].type, (long long)f[LA_C].registers);
}

/* "{%4, %5}", from operand `first` on; gives the next one. */
static int64_t emit_operands(struct gpu_text *t, int64_t first, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        gpu_text_add(t, "%s%%%lld", i ? ", " : "{", (long long)(first + i));
    gpu_text_add(t, "}");
    return first + count;
}

/* "f"(c[0]), "f"(c[1]): an array as operands of asm. */
static void emit_array(struct gpu_text *t, const char *prefix, const char *type, const char *name,
                       int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        gpu_text_add(t, "%s\"%s%s\"(%s[%lld])", i ? ", " : "", prefix, constraint_of(type), name,
                     (long long)i);
}

/* An mma.sync of arrays of registers: dr = ar * br + cr. */
static void emit_sync(struct gpu_text *t, const char *ptx, const struct gpu_fragment f[4])
{
    static const enum la_matrix order[] = {LA_D, LA_A, LA_B, LA_C};
    static const char *const names[] = {"d", "a", "b", "c"};
    int64_t operand = 0;
    gpu_text_add(t, "    asm volatile(\"%s \"\n                 \"", ptx);
    for (int i = 0; i < 4; i++) {
        gpu_text_add(t, i ? ", " : "");
        operand = emit_operands(t, operand, f[order[i]].registers);
    }
    gpu_text_add(t, ";\"\n                 : ");
    for (int i = 0; i < 4; i++) {
        gpu_text_add(t, i == 0 ? "" : i == 1 ? "\n                 : " : ",\n                   ");
        emit_array(t, i ? "" : "=", f[order[i]].type, names[i], f[order[i]].registers);
    }
    gpu_text_add(t, ");\n");
}

/* ---- forms ---- */

static void emit_mma_sync(struct gpu_text *t, const struct gpu_instruction *in)
{
    emit_head(t, in);
    emit_sync(t, in->ptx, in->of);
    gpu_text_add(t, "}\n");
}

static void emit_dp4a(struct gpu_text *t, const struct gpu_instruction *in)
{
    emit_head(t, in);
    gpu_text_add(t,
                 "    asm volatile(\"%s %%0, %%1, %%2, %%3;\" : \"=r\"(d[0]) : \"r\"(a[0]), \"r\"(b[0]), "
                 "\"r\"(c[0]));\n}\n",
                 in->ptx);
}

/* The instruction of doubles that complex ones are made of. */
static void emit_real(struct gpu_text *t, const struct gpu_instruction *in)
{
    struct gpu_fragment f[4];
    memcpy(f, in->of, sizeof f);
    for (enum la_matrix x = LA_A; x <= LA_D; x++)
        f[x].type = "double";
    gpu_text_add(t,
                 "__device__ inline void mma_real(double (&d)[%lld], const double (&a)[%lld], const double "
                 "(&b)[%lld],\n                                const double (&c)[%lld])\n{\n",
                 (long long)f[LA_D].registers, (long long)f[LA_A].registers, (long long)f[LA_B].registers,
                 (long long)f[LA_C].registers);
    emit_sync(t, in->ptx, f);
    gpu_text_add(t, "}\n");
}

static void emit_sizes(struct gpu_text *t, const struct gpu_instruction *in)
{
    gpu_text_add(t, "    enum { NA = %lld, NB = %lld, ND = %lld };\n", (long long)in->of[LA_A].registers,
                 (long long)in->of[LA_B].registers, (long long)in->of[LA_D].registers);
}

static void emit_complex(struct gpu_text *t, const struct gpu_instruction *in)
{
    emit_real(t, in);
    emit_head(t, in);
    emit_sizes(t, in);
    gpu_text_add(t, "    double ar[NA], ai[NA], minus_ai[NA], br[NB], bi[NB], re[ND], im[ND];\n"
                    "    for (int i = 0; i < NA; ++i)\n"
                    "        ar[i] = a[i].x, ai[i] = a[i].y, minus_ai[i] = -a[i].y;\n"
                    "    for (int i = 0; i < NB; ++i)\n"
                    "        br[i] = b[i].x, bi[i] = b[i].y;\n"
                    "    for (int i = 0; i < ND; ++i)\n"
                    "        re[i] = c[i].x, im[i] = c[i].y;\n"
                    "    mma_real(re, ar, br, re);\n"
                    "    mma_real(re, minus_ai, bi, re);\n"
                    "    mma_real(im, ar, bi, im);\n"
                    "    mma_real(im, ai, br, im);\n"
                    "    for (int i = 0; i < ND; ++i)\n"
                    "        d[i] = make_double2(re[i], im[i]);\n}\n");
}

/* Gauss's: t0 = (ar + ai) br, t1 = ai (br + bi), t2 = ar (bi - br); re = t0 - t1, im = t0 + t2. */
static void emit_gauss(struct gpu_text *t, const struct gpu_instruction *in)
{
    gpu_text_add(t, "struct gauss { double t0, t1, t2; };\n");
    emit_real(t, in);
    emit_head(t, in);
    emit_sizes(t, in);
    gpu_text_add(t, "    double a0[NA], a1[NA], a2[NA], b0[NB], b1[NB], b2[NB], t0[ND], t1[ND], t2[ND];\n"
                    "    for (int i = 0; i < NA; ++i)\n"
                    "        a0[i] = a[i].x + a[i].y, a1[i] = a[i].y, a2[i] = a[i].x;\n"
                    "    for (int i = 0; i < NB; ++i)\n"
                    "        b0[i] = b[i].x, b1[i] = b[i].x + b[i].y, b2[i] = b[i].y - b[i].x;\n"
                    "    for (int i = 0; i < ND; ++i)\n"
                    "        t0[i] = c[i].t0, t1[i] = c[i].t1, t2[i] = c[i].t2;\n"
                    "    mma_real(t0, a0, b0, t0);\n"
                    "    mma_real(t1, a1, b1, t1);\n"
                    "    mma_real(t2, a2, b2, t2);\n"
                    "    for (int i = 0; i < ND; ++i)\n"
                    "        d[i] = gauss{t0[i], t1[i], t2[i]};\n}\n");
}

/* How A's or B's register becomes d's type: an expression of x. */
static const char *widened(const struct gpu_number *from, const struct gpu_number *to)
{
    const bool half = !strcmp(from->name, "half_t"), bfloat = !strcmp(from->name, "bfloat16_t");
    if (from == to && !strcmp(to->name, "tfloat32_t"))
        return "__uint_as_float(x)";
    return from == to                          ? "x"
           : half                              ? "half_to_float(x)"
           : bfloat                            ? "__uint_as_float((unsigned)x << 16)"
           : !strcmp(from->name, "tfloat32_t") ? "__uint_as_float(x)"
                                               : "x";
}

/* d = a * b + c of one value of d's type; fused where the type has that. */
static const char *fma_of(const struct gpu_number *d)
{
    static const struct {
        const char *name, *code;
    } known[] = {
        {"half_t", "asm(\"fma.rn.f16 %0, %1, %2, %3;\" : \"=h\"(d[0]) : \"h\"(x), \"h\"(y), \"h\"(c[0]))"},
        {"bfloat16_t",
         "asm(\"fma.rn.bf16 %0, %1, %2, %3;\" : \"=h\"(d[0]) : \"h\"(x), \"h\"(y), \"h\"(c[0]))"},
        {"float", "d[0] = fmaf(x, y, c[0])"},
        {"double", "d[0] = fma(x, y, c[0])"},
        {"complex<float>",
         "d[0] = make_float2(fmaf(x.x, y.x, fmaf(-x.y, y.y, c[0].x)), fmaf(x.x, y.y, fmaf(x.y, y.x, "
         "c[0].y)))"},
        {"complex<double>",
         "d[0] = make_double2(fma(x.x, y.x, fma(-x.y, y.y, c[0].x)), fma(x.x, y.y, fma(x.y, y.x, "
         "c[0].y)))"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (!strcmp(d->name, known[i].name))
            return known[i].code;
    return "d[0] = (unsigned)x * (unsigned)y + (unsigned)c[0]"; /* modulo 2^32, signed or not */
}

static void emit_fma(struct gpu_text *t, const struct gpu_instruction *in)
{
    const struct gpu_fragment *f = in->of;
    gpu_text_add(t, "__device__ inline float half_to_float(unsigned short x)\n{\n    float y;\n"
                    "    asm(\"cvt.f32.f16 %%0, %%1;\" : \"=f\"(y) : \"h\"(x));\n    return y;\n}\n");
    for (enum la_matrix x = LA_A; x <= LA_B; x++)
        gpu_text_add(t, "__device__ inline %s widen_%s(%s x) { return %s; }\n", f[LA_D].type,
                     x == LA_A ? "a" : "b", f[x].type, widened(f[x].number, f[LA_D].number));
    emit_head(t, in);
    gpu_text_add(t, "    const %s x = widen_a(a[0]), y = widen_b(b[0]);\n    %s;\n}\n", f[LA_D].type,
                 fma_of(f[LA_D].number));
}

/* Majors of 16-bit operands in shared memory: 1 is transposed, along M or N. */
static int transposed(const struct gpu_instruction *in, int x)
{
    return strstr(la_type_name(in->atom->mma.major[x]), "MN") != NULL;
}

/* Sums in place, and waits: what a thread holds is not touched before the instruction is done. */
static void emit_wgmma(struct gpu_text *t, const struct gpu_instruction *in)
{
    const struct gpu_fragment *d = &in->of[LA_D], *a = &in->of[LA_A];
    const bool half = a->number->bits == 16, integer = a->number->kind != GPU_FLOAT;
    emit_head(t, in);
    gpu_text_add(t,
                 "    for (int i = 0; i < %lld; ++i)\n        d[i] = c[i];\n"
                 "    asm volatile(\"wgmma.fence.sync.aligned;\" ::: \"memory\");\n"
                 "    asm volatile(\"{\\n.reg .pred p;\\nsetp.ne.b32 p, 1, 0;\\n%s \"\n                 \"",
                 (long long)d->registers, in->ptx);
    int64_t operand = emit_operands(t, 0, d->registers);
    gpu_text_add(t, ", ");
    if (a->descriptor)
        gpu_text_add(t, "%%%lld", (long long)operand++);
    else
        operand = emit_operands(t, operand, a->registers);
    gpu_text_add(t, ", %%%lld, p", (long long)operand);
    if (!integer)
        gpu_text_add(t, ", %d, %d", in->negative[0] ? -1 : 1, in->negative[1] ? -1 : 1);
    if (half && a->descriptor)
        gpu_text_add(t, ", %d", transposed(in, 0));
    if (half)
        gpu_text_add(t, ", %d", transposed(in, 1));
    gpu_text_add(t, ";\\n}\"\n                 : ");
    emit_array(t, "+", d->type, "d", d->registers);
    gpu_text_add(t, "\n                 : ");
    emit_array(t, "", a->type, "a", a->registers);
    gpu_text_add(
        t, ", \"l\"(b[0]));\n"
           "    asm volatile(\"wgmma.commit_group.sync.aligned;\\nwgmma.wait_group.sync.aligned 0;\" ::: "
           "\"memory\");\n}\n");
}

void gpu_emit_mma(struct gpu_text *t, const struct gpu_instruction *in)
{
    static void (*const emit[])(struct gpu_text *, const struct gpu_instruction *) = {
        [GPU_FORM_FMA] = emit_fma,         [GPU_FORM_DP4A] = emit_dp4a,   [GPU_FORM_MMA] = emit_mma_sync,
        [GPU_FORM_COMPLEX] = emit_complex, [GPU_FORM_GAUSS] = emit_gauss, [GPU_FORM_WGMMA] = emit_wgmma,
    };
    emit[in->form](t, in);
}
