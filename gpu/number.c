/* number.c: what the bits of an element mean, on the host: CuTe's types to doubles and back, exactly.
 *
 *   half_t 0x3c01 = 1 + 2^-10      float_e4m3_t 0x7e = 448      int4b_t 0xf = -1      tfloat32_t: float's upper 19 bits
 *
 * A floating-point type is its row: sign, exponent, mantissa, what stands at the top of its range. Elements of less than
 * a byte lie least significant bit first, as CuTe's subbyte_iterator has them. */
#include "number.h"

#include <math.h>
#include <string.h>

#define IEEE(type, width, e, m) \
    { \
        .name = type, .bits = width, .kind = GPU_FLOAT, .exponent = e, .mantissa = m, .top = GPU_TOP_IEEE \
    }
#define INTEGER(type, width, k) \
    { \
        .name = type, .bits = width, .kind = k \
    }
static const struct gpu_number numbers[] = {
    IEEE("half_t", 16, 5, 10),
    IEEE("bfloat16_t", 16, 8, 7),
    IEEE("float", 32, 8, 23),
    IEEE("double", 64, 11, 52),
    {.name = "tfloat32_t", .bits = 32, .exponent = 8, .mantissa = 10, .unused = 13},
    {.name = "float_e4m3_t", .bits = 8, .exponent = 4, .mantissa = 3, .top = GPU_TOP_NAN},
    IEEE("float_e5m2_t", 8, 5, 2),
    {.name = "float_e3m2_t", .bits = 6, .exponent = 3, .mantissa = 2, .top = GPU_TOP_NUMBERS},
    {.name = "float_e2m3_t", .bits = 6, .exponent = 2, .mantissa = 3, .top = GPU_TOP_NUMBERS},
    {.name = "float_e2m1_t", .bits = 4, .exponent = 2, .mantissa = 1, .top = GPU_TOP_NUMBERS},
    INTEGER("int8_t", 8, GPU_SIGNED),
    INTEGER("uint8_t", 8, GPU_UNSIGNED),
    INTEGER("int16_t", 16, GPU_SIGNED),
    INTEGER("uint16_t", 16, GPU_UNSIGNED),
    INTEGER("int32_t", 32, GPU_SIGNED),
    INTEGER("int", 32, GPU_SIGNED),
    INTEGER("uint32_t", 32, GPU_UNSIGNED),
    INTEGER("unsigned", 32, GPU_UNSIGNED),
    INTEGER("int4b_t", 4, GPU_SIGNED),
    INTEGER("uint4b_t", 4, GPU_UNSIGNED),
    INTEGER("uint1b_t", 1, GPU_UNSIGNED),
    INTEGER("complex<float>", 64, GPU_COMPLEX),
    INTEGER("complex<double>", 128, GPU_COMPLEX),
    INTEGER("GaussComplex", 192, GPU_GAUSS),
};
/* e2m1 stands in the middle of its byte. */
static const struct gpu_number in_bytes[] = {
    {.name = "float_e3m2_t", .bits = 8, .exponent = 3, .mantissa = 2, .top = GPU_TOP_NUMBERS},
    {.name = "float_e2m3_t", .bits = 8, .exponent = 2, .mantissa = 3, .top = GPU_TOP_NUMBERS},
    {.name = "float_e2m1_t", .bits = 8, .exponent = 2, .mantissa = 1, .unused = 2, .top = GPU_TOP_NUMBERS},
};
enum { NUMBERS = sizeof numbers / sizeof numbers[0], IN_BYTES = sizeof in_bytes / sizeof in_bytes[0] };

const struct gpu_number *gpu_number_find(const char *type)
{
    for (size_t i = 0; i < NUMBERS; i++)
        if (!strcmp(type, numbers[i].name))
            return &numbers[i];
    return NULL;
}

const struct gpu_number *gpu_number_in_byte(const char *type)
{
    for (size_t i = 0; i < IN_BYTES; i++)
        if (!strcmp(type, in_bytes[i].name))
            return &in_bytes[i];
    return gpu_number_find(type);
}

/* ---- floating point ---- */

static int bias_of(const struct gpu_number *n)
{
    return (1 << (n->exponent - 1)) - 1;
}

/* The exponent and mantissa of the greatest value, as one integer. */
static uint64_t greatest(const struct gpu_number *n)
{
    const uint64_t all = (UINT64_C(1) << (n->exponent + n->mantissa)) - 1;
    return n->top == GPU_TOP_NUMBERS ? all
           : n->top == GPU_TOP_NAN   ? all - 1
                                     : all - (UINT64_C(1) << n->mantissa);
}

static double decode_float(const struct gpu_number *n, uint64_t bits)
{
    const uint64_t magnitude = bits >> n->unused & ((UINT64_C(1) << (n->exponent + n->mantissa)) - 1);
    const bool negative = bits >> (n->unused + n->exponent + n->mantissa) & 1;
    const uint64_t mantissa = magnitude & ((UINT64_C(1) << n->mantissa) - 1);
    const int exponent = (int)(magnitude >> n->mantissa);
    double x;
    if (magnitude > greatest(n))
        x = n->top == GPU_TOP_IEEE && !mantissa ? INFINITY : NAN;
    else if (!exponent)
        x = ldexp((double)mantissa, 1 - bias_of(n) - (int)n->mantissa);
    else
        x = ldexp((double)(mantissa | UINT64_C(1) << n->mantissa), exponent - bias_of(n) - (int)n->mantissa);
    return negative ? -x : x;
}

static uint64_t encode_float(const struct gpu_number *n, double x)
{
    const uint64_t sign = (uint64_t)(signbit(x) != 0) << (n->unused + n->exponent + n->mantissa);
    const uint64_t all = (UINT64_C(1) << (n->exponent + n->mantissa)) - 1;
    if (isnan(x))
        return n->top == GPU_TOP_NUMBERS ? 0 : sign | all << n->unused;
    int exponent = 0;
    frexp(x, &exponent);
    exponent -= 1; /* |x| in [2^exponent, 2^(exponent+1)) */
    if (exponent < 1 - bias_of(n) || x == 0)
        exponent = 1 - bias_of(n); /* subnormal */
    uint64_t magnitude = greatest(n) + 1;
    if (!isinf(x) && exponent <= bias_of(n) + 1) {
        /* In units of the last place: nearest, to even, by the default rounding of this thread. */
        const double units = nearbyint(ldexp(fabs(x), (int)n->mantissa - exponent));
        magnitude = ((uint64_t)(exponent + bias_of(n) - 1) << n->mantissa) + (uint64_t)units;
    }
    if (magnitude > greatest(n))
        magnitude = n->top == GPU_TOP_IEEE ? greatest(n) + 1 : greatest(n);
    return sign | magnitude << n->unused;
}

/* ---- any number ---- */

double gpu_number_decode(const struct gpu_number *n, uint64_t bits)
{
    if (n->kind == GPU_FLOAT)
        return decode_float(n, bits);
    const uint64_t mask = (UINT64_C(1) << n->bits) - 1;
    bits &= mask;
    if (n->kind == GPU_SIGNED && bits >> (n->bits - 1))
        return (double)bits - (double)mask - 1;
    return (double)bits;
}

uint64_t gpu_number_encode(const struct gpu_number *n, double x)
{
    if (n->kind == GPU_FLOAT)
        return encode_float(n, x);
    const double below = n->kind == GPU_SIGNED ? -ldexp(1, (int)n->bits - 1) : 0,
                 above = ldexp(1, (int)n->bits - (n->kind == GPU_SIGNED)) - 1;
    const double nearest = nearbyint(x), held = nearest < below ? below : nearest > above ? above : nearest;
    return (uint64_t)(int64_t)held & ((UINT64_C(1) << n->bits) - 1);
}

/* ---- in memory ---- */

static uint64_t bits_at(const unsigned char *bytes, unsigned width, int64_t i)
{
    uint64_t bits = 0;
    if (width < 8)
        return (uint64_t)(bytes[i * width / 8] >> (i * width % 8)) & ((1u << width) - 1);
    memcpy(&bits, bytes + i * (width / 8), width / 8); /* little-endian, as the card is */
    return bits;
}

static double double_at(const unsigned char *bytes, int64_t i)
{
    double x;
    memcpy(&x, bytes + i * (int64_t)sizeof x, sizeof x);
    return x;
}

struct gpu_complex gpu_number_at(const struct gpu_number *n, const void *array, int64_t i)
{
    const unsigned char *bytes = array;
    if (n->kind ==
        GPU_GAUSS) { /* of the products t0, t1, t2 is t0 - t1 the real part, t0 + t2 the imaginary one */
        const double t = double_at(bytes, 3 * i);
        return (struct gpu_complex){t - double_at(bytes, 3 * i + 1), t + double_at(bytes, 3 * i + 2)};
    }
    if (n->kind == GPU_COMPLEX && n->bits == 128)
        return (struct gpu_complex){double_at(bytes, 2 * i), double_at(bytes, 2 * i + 1)};
    if (n->kind == GPU_COMPLEX) {
        float x[2];
        memcpy(x, bytes + i * (int64_t)sizeof x, sizeof x);
        return (struct gpu_complex){x[0], x[1]};
    }
    return (struct gpu_complex){gpu_number_decode(n, bits_at(bytes, n->bits, i)), 0};
}

void gpu_number_put(const struct gpu_number *n, void *array, int64_t i, struct gpu_complex x)
{
    unsigned char *bytes = array;
    if (n->kind == GPU_GAUSS) {
        const double t[3] = {x.re, 0, x.im - x.re};
        memcpy(bytes + i * (int64_t)sizeof t, t, sizeof t);
    } else if (n->kind == GPU_COMPLEX && n->bits == 128) {
        memcpy(bytes + i * (int64_t)sizeof x, &x, sizeof x);
    } else if (n->kind == GPU_COMPLEX) {
        const float pair[2] = {(float)x.re, (float)x.im};
        memcpy(bytes + i * (int64_t)sizeof pair, pair, sizeof pair);
    } else if (n->bits < 8) {
        const unsigned shift = (unsigned)(i * n->bits % 8), mask = (1u << n->bits) - 1;
        unsigned char *byte = bytes + i * n->bits / 8;
        *byte = (unsigned char)((*byte & ~(mask << shift)) | (unsigned)gpu_number_encode(n, x.re) << shift);
    } else {
        const uint64_t bits = gpu_number_encode(n, x.re);
        memcpy(bytes + i * (n->bits / 8), &bits, n->bits / 8);
    }
}
