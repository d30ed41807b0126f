/* mma_memory.c: the matrices of a check in memory, and what their elements mean.
 *
 *   [fence][A, K the slower][fence][B][fence][C][fence][D, slice by slice][fence]
 *
 * Inputs are random values that their types hold: floats between -1 and 1 with all bits of the mantissa, 8-bit ones
 * between -2 and 2, all integers of up to 16 bits; C of sums that stop at the limits of int is often next to one. D is
 * poison, which is NaN for every float. Host and card see the same bytes. */
#include "mma.h"

#include <math.h>
#include <string.h>

enum {
    FENCE_BYTES = 4096,
    ALIGNMENT = 256, /* what cudaMalloc promises */
    POISON = 0xff,
    FENCE = 0xa5,
    PRODUCT_BITS = 21, /* of factors of 32 bits: sums of their products are exact in doubles */
    NEAR_BITS = 8      /* of how near: less than products of 4 bits add up to */
};
#define SMALL_FLOAT 2.0 /* of 8 bits: the range that inputs have; of 4 and 6 bits all they have */
#define TINY_FLOAT 6.0

static int64_t elements_of(const struct gpu_mma *m, enum la_matrix x)
{
    const struct gpu_mma_part *part = &m->part[x == LA_D ? LA_C : x];
    return part->extent[0] * part->extent[1] * (x == LA_D ? m->groups[3] : 1);
}

/* ---- random values ---- */

static double unit(uint64_t word)
{
    return ldexp((double)(word >> 11), -52) - 1; /* from -1 on, below 1 */
}

static double draw_float(const struct gpu_number *n, uint64_t word)
{
    return unit(word) * (n->bits > 8 ? 1 : n->top == GPU_TOP_NUMBERS ? TINY_FLOAT : SMALL_FLOAT);
}

/* A sum that stops at the limits of its type is made to come to them in one case of four: C is so near. */
static double draw_near_limit(const struct gpu_number *n, uint64_t word)
{
    const double limit = ldexp(1, (int)n->bits - 1), from = (double)(word >> 32 & ((1 << NEAR_BITS) - 1));
    return word & 4 ? limit - 1 - from : from - limit;
}

static double draw_integer(const struct gpu_mma *m, enum la_matrix x, uint64_t word)
{
    const struct gpu_number *n = m->in.of[x].number;
    if (x == LA_C && m->in.saturates && (word & 3) == 0)
        return draw_near_limit(n, word);
    const unsigned bits = x != LA_C && n->bits > 16 ? PRODUCT_BITS : n->bits;
    const double drawn = (double)(word >> (64 - bits));
    return n->kind == GPU_SIGNED ? drawn - ldexp(1, (int)bits - 1) : drawn;
}

static struct gpu_complex draw(const struct gpu_mma *m, enum la_matrix x, int64_t seed, int64_t i)
{
    const struct gpu_number *n = m->in.of[x].number;
    const uint64_t stream = (uint64_t)seed * 4 + x;
    const uint64_t word = gpu_random_word(stream, 2 * (uint64_t)i);
    if (n->kind == GPU_FLOAT)
        return (struct gpu_complex){draw_float(n, word), 0};
    if (n->kind < GPU_COMPLEX)
        return (struct gpu_complex){draw_integer(m, x, word), 0};
    return (struct gpu_complex){unit(word), unit(gpu_random_word(stream, 2 * (uint64_t)i + 1))};
}

/* Writes random elements; gives their values. */
static const struct gpu_complex *fill(struct la_ctx *cx, const struct gpu_mma *m, enum la_matrix x,
                                      int64_t seed, unsigned char *to)
{
    const struct gpu_number *n = m->in.of[x].number;
    struct gpu_complex *values = la_alloc(cx, (size_t)elements_of(m, x) * sizeof *values);
    for (int64_t i = 0; i < elements_of(m, x); i++) {
        gpu_number_put(n, to, i, draw(m, x, seed, i));
        values[i] = gpu_number_at(n, to, i);
    }
    return values;
}

struct gpu_mma_memory gpu_mma_memory_make(struct la_ctx *cx, const struct gpu_mma *m, int64_t seed)
{
    struct gpu_mma_memory memory = {.bytes = FENCE_BYTES};
    for (enum la_matrix x = LA_A; x <= LA_D; x++) {
        memory.at[x] = memory.bytes;
        memory.size[x] = (elements_of(m, x) * m->in.of[x].number->bits + 7) / 8;
        memory.bytes += (memory.size[x] + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + FENCE_BYTES;
    }
    memory.image = la_alloc(cx, (size_t)memory.bytes);
    memory.before = la_alloc(cx, (size_t)memory.bytes);
    memset(memory.image, FENCE, (size_t)memory.bytes);
    for (enum la_matrix x = LA_A; x <= LA_C; x++)
        memory.in[x] = fill(cx, m, x, seed, memory.image + memory.at[x]);
    memset(memory.image + memory.at[LA_D], POISON, (size_t)memory.size[LA_D]);
    memcpy(memory.before, memory.image, (size_t)memory.bytes);
    return memory;
}

/* ---- what an instruction does with them ---- */

struct gpu_complex gpu_mma_product(const struct gpu_instruction *in, struct gpu_complex a,
                                   struct gpu_complex b)
{
    if (in->bits)
        return (struct gpu_complex){in->bits_and ? a.re * b.re : a.re != b.re, 0};
    const double sign = in->negative[0] != in->negative[1] ? -1 : 1;
    if (in->of[LA_D].number->kind < GPU_COMPLEX)
        return (struct gpu_complex){sign * a.re * b.re, 0};
    return (struct gpu_complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

double gpu_mma_wrap(const struct gpu_instruction *in, double x)
{
    const struct gpu_number *d = in->of[LA_D].number;
    if (d->kind != GPU_SIGNED && d->kind != GPU_UNSIGNED)
        return x;
    const double all = ldexp(1, (int)d->bits), below = d->kind == GPU_SIGNED ? -all / 2 : 0;
    if (in->saturates)
        return fmin(fmax(x, below), below + all - 1);
    return x - floor((x - below) / all) * all;
}
