/* emit_gemm_operand.c: the functions of a GEMM's kernel that move an operand: fill_a() from global to shared memory,
 * read_a() from shared memory to a fragment, and what they are made of.
 *
 *   fill_a(stage, row, a, t, m, k, part, on)   what thread t copies of the step that begins at (m,k), or a part of it
 *   read_a(fragment, stage, row, kb)           its registers for block kb of K
 *
 * `row` is what of an address depends on the thread alone, see gpu_gemm_addressing; `stage` an address of shared
 * memory. Elements outside the shape are zeros, so that they add nothing. */
#include "emit_gemm.h"

/* ---- single accesses ---- */

/* Accesses of shared memory of all widths that a kernel has, each once: get_32(from), put_128(to, value). */
static void emit_get(struct gpu_text *t, unsigned bits)
{
    if (bits == 64)
        gpu_text_add(
            t,
            "__device__ __forceinline__ unsigned long long get_64(unsigned from)\n{\n    unsigned long long "
            "x;\n"
            "    asm volatile(\"ld.shared.u64 %%0, [%%1];\" : \"=l\"(x) : \"r\"(from));\n    return x;\n}\n");
    else
        gpu_text_add(
            t,
            "__device__ __forceinline__ %s get_%u(unsigned from)\n{\n    %s x;\n"
            "    asm volatile(\"ld.shared.u%u %%0, [%%1];\" : \"=%s\"(x) : \"r\"(from));\n    return x;\n}\n",
            bits == 16 ? "unsigned short" : "unsigned", bits, bits == 16 ? "unsigned short" : "unsigned",
            bits, bits == 16 ? "h" : "r");
}

static void emit_put(struct gpu_text *t, unsigned bits)
{
    if (bits == 128)
        gpu_text_add(t, "__device__ __forceinline__ void put_128(unsigned to, uint4 x)\n{\n"
                        "    asm volatile(\"st.shared.v4.u32 [%%0], {%%1, %%2, %%3, %%4};\"\n"
                        "                 :: \"r\"(to), \"r\"(x.x), \"r\"(x.y), \"r\"(x.z), \"r\"(x.w) : "
                        "\"memory\");\n}\n");
    else
        gpu_text_add(
            t,
            "__device__ __forceinline__ void put_%u(unsigned to, %s x)\n{\n"
            "    asm volatile(\"st.shared.u%u [%%0], %%1;\" :: \"r\"(to), \"%s\"(x) : \"memory\");\n}\n",
            bits, bits == 8 ? "unsigned" : gpu_bits_type(bits), bits,
            bits == 64   ? "l"
            : bits == 16 ? "h"
                         : "r");
}

/* "{%0, %1, %2, %3}, [%4]" and the registers' outputs */
static void emit_ldmatrix(struct gpu_text *t, int64_t n, bool trans)
{
    const char *names = "wxyz";
    gpu_text_add(t, "__device__ __forceinline__ void ldmatrix_%lld%s(", (long long)n, trans ? "_trans" : "");
    for (int64_t i = 0; i < n; i++)
        gpu_text_add(t, "unsigned &%c, ", names[i]);
    gpu_text_add(t, "unsigned from)\n{\n    asm volatile(\"ldmatrix.sync.aligned.m8n8.x%lld%s.shared.b16 {",
                 (long long)n, trans ? ".trans" : "");
    for (int64_t i = 0; i < n; i++)
        gpu_text_add(t, "%s%%%lld", i ? ", " : "", (long long)i);
    gpu_text_add(t, "}, [%%%lld];\"\n                 : ", (long long)n);
    for (int64_t i = 0; i < n; i++)
        gpu_text_add(t, "%s\"=r\"(%c)", i ? ", " : "", names[i]);
    gpu_text_add(t, " : \"r\"(from));\n}\n");
}

/* Both forms: C++ takes the one that it needs. Predicates leave the loop in one piece, as jumps would not. */
static void emit_cp_async(struct gpu_text *t, const struct gpu_gemm_fill *f)
{
    const char *cache = f->atom.op == GPU_CP_ASYNC_GLOBAL ? "cg" : "ca";
    gpu_text_add(t,
                 "__device__ __forceinline__ void fetch_%s_%u(unsigned to, const void *from, bool on)\n{\n"
                 "    asm volatile(\"{ .reg .pred p; setp.ne.u32 p, %%2, 0; @p cp.async.%s.shared.global "
                 "[%%0], [%%1], %u; "
                 "}\"\n                 :: \"r\"(to), \"l\"(from), \"r\"((unsigned)on) : \"memory\");\n}\n",
                 cache, f->atom.bits / 8, cache, f->atom.bits / 8);
    gpu_text_add(
        t,
        "// Of %u bytes the first `inside` are copied; the rest becomes zero.\n"
        "__device__ __forceinline__ void fetch_%s_%u(unsigned to, const void *from, bool on, int inside)\n{\n"
        "    asm volatile(\"{ .reg .pred p; setp.ne.u32 p, %%2, 0; @p cp.async.%s.shared.global [%%0], "
        "[%%1], %u, "
        "%%3; }\"\n                 :: \"r\"(to), \"l\"(from), \"r\"((unsigned)on), \"r\"(inside) : "
        "\"memory\");\n}\n",
        f->atom.bits / 8, cache, f->atom.bits / 8, cache, f->atom.bits / 8);
}

static unsigned read_bits(const struct gpu_gemm_operand *o)
{
    return o->bits * (o->read.whole ? o->per : 1);
}

void gpu_emit_gemm_accesses(struct gpu_text *t, const struct gpu_gemm *g)
{
    const struct gpu_gemm_operand *a = &g->of[0], *b = &g->of[1];
    for (unsigned bits = 8; bits <= 128; bits *= 2) {
        if ((!a->read.matrices && read_bits(a) == bits) || (!b->read.matrices && read_bits(b) == bits))
            emit_get(t, bits);
        if ((a->fill.atom.op == GPU_UNIVERSAL && a->fill.atom.bits == bits) ||
            (b->fill.atom.op == GPU_UNIVERSAL && b->fill.atom.bits == bits))
            emit_put(t, bits);
    }
    for (int i = 0; i < 2; i++) {
        const struct gpu_gemm_read *r = &g->of[i].read;
        if (r->matrices && !(i && a->read.matrices == r->matrices && a->read.trans == r->trans))
            emit_ldmatrix(t, r->matrices, r->trans);
        const struct gpu_gemm_fill *f = &g->of[i].fill;
        if (f->atom.op != GPU_UNIVERSAL &&
            !(i && a->fill.atom.op == f->atom.op && a->fill.atom.bits == f->atom.bits))
            emit_cp_async(t, f);
    }
    gpu_text_add(t, "__device__ __forceinline__ void commit() { asm volatile(\"cp.async.commit_group;\" ::: "
                    "\"memory\"); }\n"
                    "// Until all but so many of the youngest groups have arrived.\n"
                    "template <int Left> __device__ __forceinline__ void wait()\n{\n"
                    "    asm volatile(\"cp.async.wait_group %%0;\" :: \"n\"(Left) : \"memory\");\n}\n"
                    "// end of PTX\n\n");
}

/* ---- addresses ---- */

/* NAME_row(): what is known of a thread's address before the loop; NAME_at(row, constant): bytes in the stage. */
static void emit_address(struct gpu_text *t, const struct gpu_gemm_operand *o, const char *name,
                         struct gpu_gemm_addressing a)
{
    const unsigned size = o->bits / 8;
    gpu_text_add(t, "__device__ __forceinline__ constexpr unsigned %s_row(unsigned x) { return ", name);
    if (a.how == GPU_ADDRESS_FULL)
        gpu_text_add(t, "x; }\n");
    else if (a.how == GPU_ADDRESS_SUM)
        gpu_text_add(t, "x * %u; }\n", size);
    else
        gpu_text_add(t, "place_%s(x) * %u; }\n", o->name, size);
    gpu_text_add(t, "__device__ __forceinline__ constexpr unsigned %s_at(unsigned row, unsigned x) { return ",
                 name);
    if (a.how == GPU_ADDRESS_FULL)
        gpu_text_add(t, "place_%s(row + x) * %u; }\n", o->name, size);
    else if (a.how == GPU_ADDRESS_SUM)
        gpu_text_add(t, "row + x * %u; }\n", size);
    else
        gpu_text_add(t, "(row ^ (place_%s(x) & %lldu) * %u) + (place_%s(x) & ~%lldu) * %u; }\n", o->name,
                     (long long)a.mask, size, o->name, (long long)a.mask, size);
}

static void emit_place(struct gpu_text *t, const struct gpu_gemm_operand *o)
{
    const struct la_swizzle s = o->smem->swizzle;
    gpu_text_add(t, "// %s\n__device__ __forceinline__ constexpr unsigned place_%s(unsigned x) { ",
                 gpu_layout_text(t->cx, o->smem->layout), o->name);
    if (o->smem->shift)
        gpu_text_add(t, "x += %lld; ", (long long)o->smem->shift);
    if (s.bits)
        gpu_text_add(t, "return x ^ (x >> %d & %lld) << %d; }\n", s.base + (s.shift > 0 ? s.shift : 0),
                     (1LL << s.bits) - 1, s.base + (s.shift < 0 ? -s.shift : 0));
    else
        gpu_text_add(t, "return x; }\n");
}

/* ---- global -> shared ---- */

static bool is_cut(const struct gpu_gemm_operand *o)
{
    return o->tensor.extent[0] % o->tile[0] != 0 || o->tensor.extent[1] % o->tile[1] != 0;
}

/* How many elements of the vector of pass (p,q) lie in the shape: a C expression. */
static const char *inside_of(struct la_ctx *cx, const struct gpu_gemm_operand *o)
{
    const char *const at[2] = {la_format(cx, "thread_mn + p * %lld", (long long)o->fill.part.tile[0]),
                               la_format(cx, "thread_k + q * %lld", (long long)o->fill.part.tile[1])};
    const uint32_t major = o->major, other = 1 - major;
    const int64_t *extent = o->tensor.extent, vector = o->fill.vector;
    const char *along = la_format(cx, "%lld", (long long)vector);
    if (extent[major] % o->tile[major] != 0)
        along = la_format(cx, "clamp(%lld - (%s), %lld)", (long long)extent[major], at[major],
                          (long long)vector);
    return extent[other] % o->tile[other] == 0
               ? along
               : la_format(cx, "%s < %lld ? %s : 0", at[other], (long long)extent[other], along);
}

/* copy_a(to, from, on, inside): one vector. cp.async of no bytes reads nothing, wherever `from` points. */
static void emit_copy(struct gpu_text *t, const struct gpu_gemm_operand *o)
{
    const struct gpu_gemm_fill *f = &o->fill;
    const char *upper = o->x == LA_A ? "A" : "B", *cache = f->atom.op == GPU_CP_ASYNC_GLOBAL ? "cg" : "ca";
    gpu_text_add(t,
                 "__device__ __forceinline__ void copy_%s(unsigned to, const Element%s *from, bool on, int "
                 "inside)\n{\n",
                 o->name, upper);
    if (f->atom.op != GPU_UNIVERSAL && is_cut(o))
        gpu_text_add(t, "    fetch_%s_%u(to, from, on, inside * %u);\n}\n", cache, f->atom.bits / 8,
                     o->bits / 8);
    else if (f->atom.op != GPU_UNIVERSAL)
        gpu_text_add(t, "    fetch_%s_%u(to, from, on);\n}\n", cache, f->atom.bits / 8);
    else
        gpu_text_add(t,
                     "    union { %s whole; Element%s part[%lld]; } x;\n"
                     "    if (!on)\n        return;\n"
                     "    if (inside == %lld) {\n        x.whole = *reinterpret_cast<const %s *>(from);\n    "
                     "} else {\n"
                     "#pragma unroll\n"
                     "        for (int e = 0; e < %lld; ++e)\n"
                     "            x.part[e] = e < inside ? from[e] : Element%s(0);\n    }\n"
                     "    put_%u(to, x.whole);\n}\n",
                     gpu_bits_type(f->atom.bits), upper, (long long)f->vector, (long long)f->vector,
                     gpu_bits_type(f->atom.bits), (long long)f->vector, upper, f->atom.bits);
}

/* Offsets of a tensor whose modes are flat are sums: what a pass adds is a constant. */
static bool is_flat(const struct gpu_tensor *t)
{
    return t->mode[0].count <= 1 && t->mode[1].count <= 1;
}

static void emit_passes(struct gpu_text *t, const struct gpu_gemm *g, const struct gpu_gemm_operand *o,
                        const char *name)
{
    struct la_ctx *cx = t->cx;
    const struct gpu_gemm_fill *f = &o->fill;
    const char *x = o->name, *from;
    if (f->part.threads < g->threads)
        gpu_text_add(t, "    on = on && t < %lld;\n", (long long)f->part.threads);
    gpu_text_add(t, "    const Offset thread_mn = first_mn + %s_mn(t), thread_k = first_k + %s_k(t);\n", name,
                 name);
    if (is_flat(&o->tensor))
        gpu_text_add(t, "    %s += %s_mn(thread_mn) + %s_k(thread_k);\n", x, x, x);
    from = is_flat(&o->tensor) ? la_format(cx, "%s_mn(p * %lld) + %s_k(q * %lld)", x,
                                           (long long)f->part.tile[0], x, (long long)f->part.tile[1])
                               : la_format(cx, "%s_mn(thread_mn + p * %lld) + %s_k(thread_k + q * %lld)", x,
                                           (long long)f->part.tile[0], x, (long long)f->part.tile[1]);
    gpu_text_add(t,
                 "#pragma unroll\n"
                 "    for (int p = 0; p < %lld; ++p)\n"
                 "#pragma unroll\n"
                 "        for (int q = 0; q < %lld; ++q) {\n",
                 (long long)f->passes[0], (long long)f->passes[1]);
    gpu_text_add(t,
                 "            if ((p * %lld + q) %% PARTS == part)\n"
                 "                copy_%s(stage + %s_at(row, %s_pass_mn(p) + %s_pass_k(q)), %s + (%s),\n"
                 "                       on, %s);\n"
                 "        }\n}\n\n",
                 (long long)f->passes[1], x, name, name, name, x, from, inside_of(cx, o));
}

static void emit_fill(struct gpu_text *t, const struct gpu_gemm *g, const struct gpu_gemm_operand *o)
{
    const struct gpu_gemm_fill *f = &o->fill;
    const char *name = la_format(t->cx, "fill_%s", o->name);
    gpu_emit_map(t, o->name, "mn", "i", o->tensor.mode[0]);
    gpu_emit_map(t, o->name, "k", "i", o->tensor.mode[1]);
    gpu_emit_map(t, name, "mn", "t", f->part.thread_at[0]);
    gpu_emit_map(t, name, "k", "t", f->part.thread_at[1]);
    gpu_emit_map(t, name, "thread", "t", f->smem.thread);
    gpu_emit_map(t, name, "pass_mn", "p", f->smem.rest[0]);
    gpu_emit_map(t, name, "pass_k", "p", f->smem.rest[1]);
    emit_address(t, o, name, f->addressing);
    emit_copy(t, o);
    gpu_text_add(
        t,
        "// %s: thr %s, val %s\n"
        "__device__ __forceinline__ void %s(unsigned stage, unsigned row, const Element%s *%s, int t, Offset "
        "first_mn, Offset first_k,\n                                       int part, bool on)\n{\n",
        f->atom.name, gpu_layout_text(t->cx, f->part.thr), gpu_layout_text(t->cx, f->part.val), name,
        o->x == LA_A ? "A" : "B", o->name);
    emit_passes(t, g, o, name);
}

/* ---- shared -> registers ---- */

/* What of its address a thread knows before the loop: see gpu_gemm_row. */
static const char *row_of(struct la_ctx *cx, const struct gpu_gemm_operand *o)
{
    const struct gpu_gemm_read *r = &o->read;
    const char *x = o->name;
    if (!r->matrices)
        return la_format(cx, "read_%s_thread(t)", x);
    if (r->trans)
        return la_format(
            cx, "read_%s_thread((t & ~31) + (t & 7) / 2) + read_%s_value((t >> 3 & %lld) * %u + (t & 1))", x,
            x, (long long)r->matrices - 1, o->per);
    return la_format(cx, "read_%s_thread((t & ~31) + (t & 7) * 4) + read_%s_value((t >> 3 & %lld) * %u)", x,
                     x, (long long)r->matrices - 1, o->per);
}

static void emit_matrices(struct gpu_text *t, const struct gpu_gemm_operand *o, int64_t registers)
{
    const struct gpu_gemm_read *r = &o->read;
    gpu_text_add(t, "        ldmatrix_%lld%s(", (long long)r->matrices, r->trans ? "_trans" : "");
    for (int64_t i = 0; i < r->matrices; i++)
        gpu_text_add(t, "x[(g * %lld + %lld) / %lld][(g * %lld + %lld) %% %lld], ", (long long)r->matrices,
                     (long long)i, (long long)registers, (long long)r->matrices, (long long)i,
                     (long long)registers);
    gpu_text_add(t, "stage + read_%s_at(row, read_%s_value((kb * %lld + g) * %lld)));\n", o->name, o->name,
                 (long long)r->accesses, (long long)gpu_gemm_access_values(o));
}

static void emit_loads(struct gpu_text *t, const struct gpu_gemm_operand *o, int64_t registers)
{
    const char *type = o->x == LA_A ? "RegisterA" : "RegisterB";
    if (o->read.whole) {
        gpu_text_add(t,
                     "        x[g / %lld][g %% %lld] = as<%s>(get_%u(stage + read_%s_at(row, "
                     "read_%s_value((kb * %lld + g) "
                     "* %u))));\n",
                     (long long)registers, (long long)registers, type, read_bits(o), o->name, o->name,
                     (long long)o->read.accesses, o->per);
        return;
    }
    gpu_text_add(
        t,
        "        const unsigned value = get_%u(stage + read_%s_at(row, read_%s_value(kb * %lld + g)));\n"
        "        %s &to = x[g / %u / %lld][g / %u %% %lld];\n"
        "        to = %s((g %% %u ? to : %s(0)) | %s(value) << g %% %u * %u);\n",
        o->bits, o->name, o->name, (long long)o->read.accesses, type, o->per, (long long)registers, o->per,
        (long long)registers, type, o->per, type, type, o->per, o->bits);
}

static void emit_read(struct gpu_text *t, const struct gpu_gemm *g, const struct gpu_gemm_operand *o)
{
    struct la_ctx *cx = t->cx;
    const char *name = la_format(cx, "read_%s", o->name), *type = o->x == LA_A ? "RegisterA" : "RegisterB";
    const int64_t registers = g->instruction.of[o->x].registers;
    gpu_emit_map(t, name, "thread", "t", o->thread);
    gpu_emit_map(t, name, "value", "v", o->value);
    emit_address(t, o, name, o->read.addressing);
    gpu_text_add(t, "__device__ __forceinline__ unsigned %s_first(int t) { return %s_row(%s); }\n", name,
                 name, row_of(cx, o));
    gpu_text_add(
        t,
        "// %s\n"
        "__device__ __forceinline__ void %s(%s (&x)[%lld][%lld], unsigned stage, unsigned row, int kb)\n{\n"
        "#pragma unroll\n"
        "    for (int g = 0; g < %lld; ++g) {\n",
        o->read.name, name, type, (long long)o->rest, (long long)registers, (long long)o->read.accesses);
    if (o->read.matrices)
        emit_matrices(t, o, registers);
    else
        emit_loads(t, o, registers);
    gpu_text_add(t, "    }\n}\n\n");
}

void gpu_emit_gemm_operand(struct gpu_text *t, const struct gpu_gemm *g, const struct gpu_gemm_operand *o)
{
    emit_place(t, o);
    emit_fill(t, g, o);
    emit_read(t, g, o);
}
