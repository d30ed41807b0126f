/* gemm_kernels.c: the kernels that check a GEMM on the card, as CUDA C: they know the layouts and the types, and nothing
 * of the plan. Sums are in double, or for integers modulo 2^32, where they are exact.
 *
 *   sample    rows and columns of D against the product
 *   project   y = B^T r with random signs r
 *   rows      D r against alpha*A*y + beta*C*r, row by row: Freivalds' check of all of D
 *   restore   poison where elements of D lie, so that what is not poison afterwards has strayed */
#include "gemm_card.h"
#include "kernels.h"

static const char shapes[] =
    "struct mode { i64 extent, stride; };\n"
    "struct matrix { u32 count[2]; mode modes[32]; };\n"
    "struct problem {\n"
    "    matrix a, b, c, d;\n"
    "    i64 m, n, k, rows[8], cols[8];\n"
    "    u32 row_count, col_count, step, uses_c;\n"
    "    double alpha, beta, partial, result, row;\n"
    "    u64 seed;\n"
    "};\n"
    "__device__ i64 walk(const mode *modes, u32 n, i64 c)\n"
    "{\n"
    "    i64 offset = 0;\n"
    "    for (u32 i = 0; i < n; ++i) {\n"
    "        const i64 rest = i + 1 < n ? c / modes[i].extent : 0;\n"
    "        offset += (c - rest * modes[i].extent) * modes[i].stride;\n"
    "        c = rest;\n"
    "    }\n"
    "    return offset;\n"
    "}\n"
    "__device__ i64 first_mode(const matrix &x, i64 i) { return walk(x.modes, x.count[0], i); }\n"
    "__device__ i64 second_mode(const matrix &x, i64 j) { return walk(x.modes + x.count[0], x.count[1], j); "
    "}\n"
    "template <class T> struct Sign { static __device__ T of(T x, bool minus) { return minus ? 0 - x : x; } "
    "};\n"
    "__device__ bool minus(u64 seed, i64 j) { return random_word(seed, (u64)j / 64) >> (j % 64) & 1; }\n"
    "__device__ double magnitude(double x) { return x < 0 ? -x : x; }\n"
    "__device__ double magnitude(u32) { return 0; }\n"
    "// found: how many are wrong, the least place, and the greatest error, error over bound, and bound.\n"
    "__device__ void most(u64 *at, double x) { atomicMax(at, (u64)__double_as_longlong(x)); }\n"
    "__device__ void judge(u64 *found, u64 place, double error, double bound)\n"
    "{\n"
    "    if (!(error <= bound)) {\n"
    "        report(found, place);\n"
    "        return;\n"
    "    }\n"
    "    most(found + 2, error);\n"
    "    most(found + 4, bound);\n"
    "    if (bound > 0)\n"
    "        most(found + 3, error / bound);\n"
    "}\n"
    "__device__ double difference(double x, double y) { return magnitude(x - y); }\n"
    "__device__ double difference(u32 x, u32 y) { return x != y; }\n"
    "\n";

static const char kernels[] =
    "extern \"C\" __global__ void input(u64 *out, u64 words, u64 seed, u64 keep, u64 set)\n"
    "{\n"
    "    for (u64 i = first(); i < words; i += step())\n"
    "        out[i] = random_word(seed, i) & keep | set;\n"
    "}\n"
    "extern \"C\" __global__ void kept(const u64 *data, u64 words, u64 seed, u64 keep, u64 set, u64 *found)\n"
    "{\n"
    "    for (u64 i = first(); i < words; i += step())\n"
    "        if (data[i] != (random_word(seed, i) & keep | set))\n"
    "            report(found, i);\n"
    "}\n"
    "__device__ void check_element(const problem &p, const A *a, const B *b, const C *c, const D *d, i64 i, "
    "i64 j, u64 *found)\n"
    "{\n"
    "    T sum = 0;\n"
    "    double greatest = 0, of_step = 0, greatest_step = 0;\n"
    "    const i64 at_a = first_mode(p.a, i), at_b = first_mode(p.b, j);\n"
    "    for (i64 k = 0; k < p.k; ++k) {\n"
    "        const T x = value_a(a[at_a + second_mode(p.a, k)]) * value_b(b[at_b + second_mode(p.b, k)]);\n"
    "        sum += x;\n"
    "        of_step = (u32)k % p.step ? of_step + magnitude(x) : magnitude(x);\n"
    "        greatest = magnitude(sum) > greatest ? magnitude(sum) : greatest;\n"
    "        greatest_step = of_step > greatest_step ? of_step : greatest_step;\n"
    "    }\n"
    "    const T old = p.uses_c ? value_c(c[first_mode(p.c, i) + second_mode(p.c, j)]) : T(0);\n"
    "    const T want = T_of(p.alpha) * sum + T_of(p.beta) * old, got = value_d(d[first_mode(p.d, i) + "
    "second_mode(p.d, j)]);\n"
    "    const double partial = magnitude(p.alpha) * (greatest + greatest_step);\n"
    "    judge(found, (u64)(i + p.m * j), difference(got, want),\n"
    "          p.partial * partial + p.result * (partial + magnitude(p.beta) * magnitude(old)));\n"
    "}\n"
    "extern \"C\" __global__ void sample(const __grid_constant__ problem p, const A *a, const B *b, const C "
    "*c, const D *d,\n"
    "                                  u64 *found)\n"
    "{\n"
    "    const i64 of_rows = p.row_count * p.n, all = of_rows + p.col_count * p.m;\n"
    "    for (i64 e = (i64)first(); e < all; e += (i64)step())\n"
    "        if (e < of_rows)\n"
    "            check_element(p, a, b, c, d, p.rows[e / p.n], e % p.n, found);\n"
    "        else\n"
    "            check_element(p, a, b, c, d, (e - of_rows) % p.m, p.cols[(e - of_rows) / p.m], found);\n"
    "}\n"
    "extern \"C\" __global__ void project(const __grid_constant__ problem p, const B *b, T *y)\n"
    "{\n"
    "    for (i64 k = (i64)first(); k < p.k; k += (i64)step()) {\n"
    "        const i64 at = second_mode(p.b, k);\n"
    "        T sum = 0;\n"
    "#pragma unroll 4\n"
    "        for (i64 j = 0; j < p.n; ++j)\n"
    "            sum += Sign<T>::of(value_b(b[at + first_mode(p.b, j)]), minus(p.seed, j));\n"
    "        y[k] = sum;\n"
    "    }\n"
    "}\n"
    "__device__ T of_warp(T x)\n"
    "{\n"
    "    for (int other = 16; other; other /= 2)\n"
    "        x += __shfl_xor_sync(0xffffffffu, x, other);\n"
    "    return x;\n"
    "}\n"
    "extern \"C\" __global__ void rows(const __grid_constant__ problem p, const A *a, const C *c, const D "
    "*d, const T *y,\n"
    "                                u64 *found)\n"
    "{\n"
    "    const i64 lane = threadIdx.x % 32;\n"
    "    for (i64 i = (i64)first() / 32; i < p.m; i += (i64)step() / 32) {\n"
    "        T product = 0, old = 0, got = 0;\n"
    "        for (i64 k = lane; k < p.k; k += 32)\n"
    "            product += value_a(a[first_mode(p.a, i) + second_mode(p.a, k)]) * y[k];\n"
    "        for (i64 j = lane; j < p.n; j += 32) {\n"
    "            got += Sign<T>::of(value_d(d[first_mode(p.d, i) + second_mode(p.d, j)]), minus(p.seed, "
    "j));\n"
    "            if (p.uses_c)\n"
    "                old += Sign<T>::of(value_c(c[first_mode(p.c, i) + second_mode(p.c, j)]), minus(p.seed, "
    "j));\n"
    "        }\n"
    "        product = of_warp(product);\n"
    "        old = of_warp(old);\n"
    "        got = of_warp(got);\n"
    "        if (lane == 0)\n"
    "            judge(found, (u64)i, difference(got, T_of(p.alpha) * product + T_of(p.beta) * old), "
    "p.row);\n"
    "    }\n"
    "}\n"
    "extern \"C\" __global__ void restore(const __grid_constant__ problem p, D *d)\n"
    "{\n"
    "    for (i64 e = (i64)first(); e < p.m * p.n; e += (i64)step())\n"
    "        d[first_mode(p.d, e / p.n) + second_mode(p.d, e % p.n)] = poison<D>();\n"
    "}\n";

/* value_a(bits): what an element means, by the rows of number.c. */
static void emit_value(struct gpu_text *t, const char *name, const char *type, const struct gpu_number *n)
{
    if (n->kind != GPU_FLOAT) {
        gpu_text_add(t, "using %s = %s%s; // %s\n__device__ T value_%s(%s x) { return T(x); }\n", type,
                     n->kind == GPU_SIGNED ? "signed " : "unsigned ",
                     n->bits == 8    ? "char"
                     : n->bits == 16 ? "short"
                                     : "int",
                     n->name, name, type);
        return;
    }
    gpu_text_add(t, "using %s = %s; // %s\n__device__ T value_%s(%s x)\n{\n", type, gpu_bits_type(n->bits),
                 n->name, name, type);
    if (n->bits == 64) {
        gpu_text_add(t, "    return __longlong_as_double((i64)x);\n}\n");
        return;
    }
    const unsigned width = n->exponent + n->mantissa;
    gpu_text_add(
        t,
        "    const u64 bits = (u64)x >> %u, mantissa = bits & %lluull, exponent = bits >> %u & %lluull;\n"
        "    const bool negative = bits >> %u & 1;\n",
        n->unused, (1ULL << n->mantissa) - 1, n->mantissa, (1ULL << n->exponent) - 1, width);
    if (n->top == GPU_TOP_IEEE)
        gpu_text_add(
            t,
            "    if (exponent == %lluull)\n        return mantissa ? nan_value() : negative ? -infinity() : "
            "infinity();\n",
            (1ULL << n->exponent) - 1);
    if (n->top == GPU_TOP_NAN)
        gpu_text_add(t, "    if (exponent == %lluull && mantissa == %lluull)\n        return nan_value();\n",
                     (1ULL << n->exponent) - 1, (1ULL << n->mantissa) - 1);
    const int bias = (1 << (n->exponent - 1)) - 1 + (int)n->mantissa;
    gpu_text_add(t,
                 "    const double y = exponent ? (double)(mantissa | %lluull) * power((int)exponent - %d) : "
                 "(double)mantissa * "
                 "power(%d);\n"
                 "    return negative ? -y : y;\n}\n",
                 1ULL << n->mantissa, bias, 1 - bias);
}

const char *gpu_gemm_support(struct la_ctx *cx, const struct gpu_gemm *g)
{
    struct gpu_text t = {.cx = cx};
    const struct gpu_fragment *f = g->instruction.of;
    const bool integer = f[LA_C].number->kind != GPU_FLOAT;
    gpu_text_add(&t, "%s%susing T = %s;\n", gpu_support_common(), shapes, integer ? "u32" : "double");
    gpu_text_add(&t, "__device__ T T_of(double x) { return %s; }\n", integer ? "(u32)(i64)x" : "x");
    gpu_text_add(&t,
                 "__device__ double power(int n) { return __longlong_as_double((i64)(1023 + n) << 52); }\n"
                 "__device__ double infinity() { return __longlong_as_double(0x7ff0000000000000ll); }\n"
                 "__device__ double nan_value() { return __longlong_as_double(0x7ff8000000000000ll); }\n"
                 "template <class D> __device__ D poison() { D x; for (u32 i = 0; i < sizeof x; ++i) "
                 "reinterpret_cast<unsigned "
                 "char *>(&x)[i] = 0xff; return x; }\n");
    emit_value(&t, "a", "A", f[LA_A].number);
    emit_value(&t, "b", "B", f[LA_B].number);
    emit_value(&t, "c", "C", f[LA_C].number);
    emit_value(&t, "d", "D", f[LA_D].number);
    gpu_text_add(&t, "\n%s", kernels);
    return t.data;
}

/* ---- the problem, as the kernels take it ---- */

static struct gpu_gemm_matrix matrix_of(const struct gpu_tensor *t)
{
    struct gpu_gemm_matrix x = {.count = {t->mode[0].count, t->mode[1].count}};
    for (uint32_t k = 0, n = 0; k < 2; k++)
        for (uint32_t i = 0; i < t->mode[k].count; i++)
            x.modes[n++] = t->mode[k].modes[i];
    return x;
}

/* The first, the last, those beside the first and the last edge of a tile, and others drawn at random; each once. */
static uint32_t draw(int64_t out[GPU_GEMM_SAMPLES], int64_t extent, int64_t tile, uint64_t seed)
{
    enum { FIXED = 6, TRIES = 1000 };
    const int64_t fixed[FIXED] = {0, extent - 1, tile - 1, tile, (extent - 1) / tile * tile, extent / 3};
    uint32_t n = 0;
    for (uint64_t i = 0; n < GPU_GEMM_SAMPLES && n < extent && i < TRIES; i++) {
        const int64_t x = i < FIXED ? fixed[i] : (int64_t)(gpu_random_word(seed, i) % (uint64_t)extent);
        bool known = x >= extent;
        for (uint32_t j = 0; j < n; j++)
            known = known || out[j] == x;
        if (!known)
            out[n++] = x;
    }
    return n;
}

struct gpu_gemm_problem gpu_gemm_problem_of(const struct gpu_gemm *g, const struct gpu_gemm_bound *bound,
                                            uint64_t seed)
{
    struct gpu_gemm_problem p = {.extent = {g->m, g->n, g->k},
                                 .step = (uint32_t)g->instruction.k,
                                 .uses_c = g->beta != 0,
                                 .alpha = g->alpha,
                                 .beta = g->beta,
                                 .partial = bound->partial,
                                 .result = bound->result,
                                 .row = bound->row,
                                 .seed = seed + 4}; /* those before it made A, B and C */
    for (enum la_matrix x = LA_A; x <= LA_D; x++)
        p.of[x] = matrix_of(gpu_gemm_tensor(g, x));
    p.row_count = draw(p.rows, g->m, g->tile[0], seed + 5);
    p.col_count = draw(p.cols, g->n, g->tile[1], seed + 6);
    return p;
}
