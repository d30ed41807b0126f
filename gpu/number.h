/* number.h: what the bits of an element mean, on the host. */
#ifndef GPU_NUMBER_H
#define GPU_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

enum gpu_number_kind { GPU_FLOAT, GPU_SIGNED, GPU_UNSIGNED, GPU_COMPLEX, GPU_GAUSS };
/* What a floating-point type has at the top of its range: infinities and NaNs as IEEE 754; one NaN for each sign and
 * no infinity; numbers only. */
enum gpu_top { GPU_TOP_IEEE, GPU_TOP_NAN, GPU_TOP_NUMBERS };

struct gpu_number {
    const char *name; /* CuTe's type */
    unsigned bits;    /* of an element in memory, where elements follow each other without a gap */
    enum gpu_number_kind kind;
    unsigned exponent, mantissa; /* of GPU_FLOAT: bits */
    unsigned unused; /* bits below the mantissa, which are no part of the value: tfloat32_t has 13 */
    enum gpu_top top;
};

/* The number of CuTe's type, or NULL. */
const struct gpu_number *gpu_number_find(const char *type);
/* A type of 4 or 6 bits in a byte of its own, as SM120's f8f6f4 instructions take it; others as they are. */
const struct gpu_number *gpu_number_in_byte(const char *type);

/* A value: exact for every type but those of integers beyond 2^53. */
struct gpu_complex {
    double re, im;
};
double gpu_number_decode(const struct gpu_number *number, uint64_t bits);
/* The nearest value, of two the even one. Beyond the range: infinity where there is one, else the greatest value. */
uint64_t gpu_number_encode(const struct gpu_number *number, double x);

/* Element i of an array. */
struct gpu_complex gpu_number_at(const struct gpu_number *number, const void *array, int64_t i);
void gpu_number_put(const struct gpu_number *number, void *array, int64_t i, struct gpu_complex x);
enum { GPU_NUMBER_BYTES = 24 }; /* that an element takes at the most */

#endif
