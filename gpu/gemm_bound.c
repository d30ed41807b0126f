/* gemm_bound.c: the input of a GEMM, and how far from the exact product its result may be.
 *
 * Input: random bits, but the exponents of floating-point types are made one of four, so that values have all their bits
 * and magnitudes in [1/8, 2). Integers are any.
 *
 * Error: an accumulator takes n = K / k steps, k products each. Where a partial sum is at most P in magnitude, a step is
 * off by at most u P: u is a rounding of the accumulator, and for tensor cores, which align the products to the greatest
 * and cut them, 1 + sqrt(k) units of its last place. Roundings of either sign add up to 8 sqrt(n) u P but once in 10^13
 * (Hoeffding); cutting leans towards zero, for which n/8 u P more are granted. The result is rounded again:
 *
 *     |D - exact| <= |alpha| u P (8 sqrt(n) + n/8) + w (|alpha| P + |beta C|)
 *
 * Of a whole row, with random signs r, the N n roundings add up by their squares: |sum_j r_j (D_ij - exact_ij)| is at most
 * 8 sqrt(N) times such an error with sqrt(n) for 8 sqrt(n), and for P its root mean square: that of random products is
 * known, and how far that of N of them can be from it. Where operands are broadcast the worst P counts. Integers:
 * everything is exact modulo 2^32. */
#include "gemm.h"

#include <math.h>
#include <string.h>

enum {
    EXPONENTS = 4, /* that are drawn, from the bias's least multiple of 4 on: [2^-3, 2) */
    DEVIATIONS = 8 /* 1e-13 of what is drawn lies beyond */
};
static const double RMS = 0.775;  /* of a product of two such values */
static const double GREATEST = 4; /* of it */
static const double GREATEST_VALUE = 2;
static const double LEAN = 1.0 / 8; /* of a unit, a step */
static const int FP8_BITS = 13;     /* that Hopper and Ada keep of a sum of products of 8-bit floats */

struct gpu_gemm_bits gpu_gemm_bits_of(const struct gpu_number *n)
{
    struct gpu_gemm_bits out = {UINT64_MAX, 0};
    if (n->kind != GPU_FLOAT)
        return out;
    const uint64_t bias = (UINT64_C(1) << (n->exponent - 1)) - 1;
    const unsigned at = n->unused + n->mantissa;
    const uint64_t field = ((UINT64_C(1) << n->exponent) - 1) << at, low = (UINT64_C(1) << n->unused) - 1;
    const uint64_t keep = ~(field & ~((uint64_t)(EXPONENTS - 1) << at)) & ~low,
                   set = bias / EXPONENTS * EXPONENTS << at;
    for (unsigned i = 0; i < 64; i += n->bits) {
        const uint64_t element = n->bits < 64 ? (UINT64_C(1) << n->bits) - 1 : UINT64_MAX;
        out.keep = (out.keep & ~(element << i)) | (keep & element) << i;
        out.set |= (set & element) << i;
    }
    return out;
}

/* Units of the last place of a value of 1 that a step may be off. */
static double step_error(const struct gpu_instruction *in)
{
    const struct gpu_number *sum = in->of[LA_C].number;
    if (in->form != GPU_FORM_MMA || sum->bits == 16) /* one rounding to the nearest */
        return ldexp(1 + (sum->bits == 16 ? sqrt((double)in->k) / 4096 : 0), -(int)sum->mantissa - 1);
    const int bits = in->of[LA_A].number->bits == 8 && sum->bits == 32 ? FP8_BITS : (int)sum->mantissa;
    return ldexp(1 + sqrt((double)in->k), -bits);
}

static bool is_random(const struct gpu_tensor *t)
{
    return t->distinct == t->elements;
}

/* The root mean square of n squares whose mean is 1 is no more than this: they are spread by sqrt(2) about it. */
static double most_of_mean(double n)
{
    return sqrt(1 + DEVIATIONS * sqrt(2 / n));
}

/* Of a row's partial sums: their root mean square, at most; *greatest: the greatest magnitude of one. */
static double magnitude_of(const struct gpu_gemm *g, double *greatest)
{
    const double k = (double)g->k, worst = GREATEST * k;
    const bool random = is_random(&g->of[0].tensor) && is_random(&g->of[1].tensor);
    const double typical = RMS * sqrt(k) * most_of_mean(k) * most_of_mean((double)g->n) + GREATEST;
    *greatest = random ? fmin(DEVIATIONS * typical, worst) : worst;
    return random ? fmin(typical, worst) : worst;
}

void gpu_gemm_range_check(struct la_ctx *cx, const struct gpu_gemm *g, const char **field)
{
    const struct gpu_number *d = g->instruction.of[LA_D].number;
    double sum;
    if (d->kind != GPU_FLOAT)
        return;
    magnitude_of(g, &sum);
    const double end = ldexp(2 - ldexp(1, -(int)d->mantissa), (1 << (d->exponent - 1)) - 1);
    const double result = fabs(g->alpha) * sum + fabs(g->beta) * GREATEST_VALUE;
    *field = "problem";
    if (sum > end)
        la_fail(cx, LA_E_limit, "sums of %lld products may come to %.3g, and %s ends at %.6g",
                (long long)g->k, sum, d->name, end);
    *field = fabs(g->alpha) * sum > end ? "alpha" : "beta";
    if (result > end)
        la_fail(cx, LA_E_limit, "with alpha %g and beta %g results may come to %.3g, and %s ends at %.6g",
                g->alpha, g->beta, result, d->name, end);
}

struct gpu_gemm_bound gpu_gemm_bound_of(const struct gpu_gemm *g)
{
    const struct gpu_instruction *in = &g->instruction;
    const struct gpu_number *d = in->of[LA_D].number;
    struct gpu_gemm_bound b = {.exact = d->kind != GPU_FLOAT};
    if (b.exact)
        return b;
    const double n = ceil((double)g->k / (double)in->k), k = (double)g->k, columns = (double)g->n;
    const double u = step_error(in), reference = ldexp(k + columns, -52);
    const bool random = is_random(&g->of[0].tensor) && is_random(&g->of[1].tensor);
    double greatest;
    b.partial = u * (DEVIATIONS * sqrt(n) + LEAN * n) + ldexp(k, -52);
    b.result = ldexp(1, -(int)d->mantissa - 1) +
               ldexp(1, d->bits == 64 ? -51 : -22); /* D's rounding, and the factors' */
    b.magnitude = magnitude_of(g, &greatest);
    const double of_row = u * ((random ? 1 : DEVIATIONS) * sqrt(n) + LEAN * n) + reference;
    b.row = DEVIATIONS * sqrt(columns) *
            (fabs(g->alpha) * of_row * b.magnitude +
             b.result * (fabs(g->alpha) * b.magnitude + GREATEST_VALUE * fabs(g->beta)));
    return b;
}

/* The bound of an element; partial: the greatest partial sum and the greatest sum of magnitudes of a step. */
static double error_bound(const struct gpu_gemm *g, const struct gpu_gemm_bound *b, double partial, double c)
{
    return fabs(g->alpha) * b->partial * partial + b->result * (fabs(g->alpha) * partial + fabs(g->beta * c));
}

static const char why[] = "|D - exact| <= |alpha| u P (8 sqrt(n) + n/8) + w (|alpha| P + |beta C|): n steps "
                          "of an atom along K, each off by u of "
                          "the greatest partial sum P; w rounds the result. A row with random signs: 8 "
                          "sqrt(N) such errors of the root mean square of P";

void gpu_gemm_bound_add(const struct gpu_gemm *g, const struct gpu_gemm_bound *b, cJSON *json)
{
    if (b->exact) {
        cJSON_AddStringToObject(json, "bound_why", "integers: exact modulo 2^32");
        return;
    }
    cJSON_AddNumberToObject(json, "steps", ceil((double)g->k / (double)g->instruction.k));
    cJSON_AddNumberToObject(json, "step_error", step_error(&g->instruction));
    cJSON_AddStringToObject(json, "bound_why", why);
}

/* ---- one element ---- */

static double wrapped(const struct gpu_gemm *g, uint32_t x)
{
    return g->instruction.of[LA_C].number->kind == GPU_SIGNED ? (double)(int32_t)x : (double)x;
}

static uint32_t word_of(double x)
{
    return (uint32_t)(int64_t)x;
}

double gpu_gemm_add(const struct gpu_gemm *g, double x, double a, double b)
{
    if (g->instruction.of[LA_C].number->kind == GPU_FLOAT)
        return x + a * b;
    return wrapped(g, word_of(x) + word_of(a) * word_of(b));
}

struct gpu_gemm_exact gpu_gemm_exact_of(const struct gpu_gemm *g, const struct gpu_gemm_bound *bound,
                                        struct gpu_gemm_source source, int64_t i, int64_t j)
{
    const double c = g->beta != 0 ? source.element(source.arg, LA_C, i, j) : 0;
    double sum = 0, most = 0, step = 0, most_step = 0;
    for (int64_t k = 0; k < g->k; k++) {
        const double a = source.element(source.arg, LA_A, i, k), b = source.element(source.arg, LA_B, j, k);
        sum = gpu_gemm_add(g, sum, a, b);
        step = (k % g->instruction.k == 0 ? 0 : step) + fabs(a * b);
        most = fmax(most, fabs(sum));
        most_step = fmax(most_step, step);
    }
    if (bound->exact)
        return (struct gpu_gemm_exact){gpu_gemm_add(g, gpu_gemm_add(g, 0, sum, g->alpha), c, g->beta), 0};
    return (struct gpu_gemm_exact){g->alpha * sum + g->beta * c, error_bound(g, bound, most + most_step, c)};
}

/* Who should have written it: the tile, and the thread and value that hold it there. */
static void add_owner(cJSON *json, const struct gpu_gemm *g, int64_t i, int64_t j)
{
    for (int64_t t = 0; t < g->threads; t++)
        for (int64_t v = 0; v < g->c_values * g->of[0].rest * g->of[1].rest; v++)
            if (gpu_map_at(g->c_thread[0], t) + gpu_map_at(g->c_value[0], v) == i % g->tile[0] &&
                gpu_map_at(g->c_thread[1], t) + gpu_map_at(g->c_value[1], v) == j % g->tile[1]) {
                cJSON_AddNumberToObject(json, "thread", (double)t);
                cJSON_AddNumberToObject(json, "value", (double)v);
                return;
            }
}

void gpu_gemm_mismatch_add(struct la_ctx *cx, cJSON *result, const struct gpu_gemm *g, int64_t i, int64_t j,
                           struct gpu_gemm_exact exact, double got)
{
    const int64_t at[2] = {i, j}, tile[2] = {i / g->tile[0], j / g->tile[1]};
    cJSON *json = cJSON_AddObjectToObject(result, "mismatch");
    cJSON_AddStringToObject(json, "coordinate", gpu_coordinate_text(cx, 2, at));
    cJSON_AddStringToObject(json, "expected", la_format(cx, "%.17g", exact.value));
    cJSON_AddStringToObject(json, "got", la_format(cx, "%.17g", got));
    cJSON_AddNumberToObject(json, "bound", exact.bound);
    cJSON_AddStringToObject(json, "tile", gpu_coordinate_text(cx, 2, tile));
    add_owner(json, g, i, j);
}
