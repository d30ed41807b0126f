/* mma_check.c: whether a run gave the product: D against A * B^T + C of the matrices as they lie in memory, element by
 * element, by nothing but their definition.
 *
 *   fp16 with fp32 sums:  |d - exact| <= (K + 1) 2^-22 (sum |a b| + |c|)
 *
 * Integers and single bits are compared exactly, but where a sum may stop at a limit of its type on the way. Floats
 * are held against a sum of longer mantissa, within a bound that any order of adding K products keeps, each addition
 * cut off at a bit that the hardware is known to keep: tensor cores align the addends of one step to the greatest and
 * cut the rest, f16 sums are rounded every four products at worst, and sums of 8-bit floats have 14 bits on Hopper.
 * Everything besides D must be as it was before. */
#include "mma.h"

#include <math.h>
#include <string.h>

/* ---- the bound ---- */

/* steps * unit * (sum |a b| + |c|) */
struct bound {
    bool exact, stops; /* integers; which stop at the limits of their type */
    int64_t steps;
    int unit; /* a power of two */
};

static struct bound bound_of(const struct gpu_mma *m)
{
    const struct gpu_number *d = m->in.of[LA_D].number, *a = m->in.of[LA_A].number;
    const int64_t k = m->tile[2];
    if (d->kind == GPU_SIGNED || d->kind == GPU_UNSIGNED)
        return (struct bound){.exact = true, .stops = m->in.saturates};
    if (d->kind >= GPU_COMPLEX)
        return (struct bound){.steps = 2 * k + 4, .unit = d->bits == 64 ? -23 : -52};
    if (d->bits == 64)
        return (struct bound){.steps = k + 1, .unit = -52};
    if (d->bits == 16) /* of half_t and bfloat16_t; one product a step in plain C */
        return (struct bound){.steps = m->in.form == GPU_FORM_FMA ? k + 1 : k / 4 + 2,
                              .unit = -(int)d->mantissa};
    const bool narrow = a->bits <= 8 && m->in.form != GPU_FORM_FMA;
    return (struct bound){.steps = k + 1, .unit = narrow ? -13 : -22};
}

static void add_bound(struct la_ctx *cx, cJSON *checked, struct bound b)
{
    const char *text = b.stops
                           ? "integers: equal; within sum |a*b| where a sum may stop at a limit of its type"
                       : b.exact ? "integers: equal"
                                 : la_format(cx, "|d - exact| <= %lld * 2^%d * (sum |a*b| + |c|)",
                                             (long long)b.steps, b.unit);
    cJSON_AddStringToObject(checked, "bound", text);
}

/* ---- one element ---- */

struct element {
    int64_t m, n;
    long double re, im;         /* what it must be */
    long double products, size; /* sum |a b|, and with |c| */
    struct gpu_complex got;
};

static long double size_of(struct gpu_complex x)
{
    return fabsl((long double)x.re) + fabsl((long double)x.im);
}

/* The sum of the slices of D at an element. */
static struct gpu_complex result_of(const struct gpu_mma *m, const struct gpu_mma_memory *memory,
                                    int64_t index)
{
    struct gpu_complex sum = {0, 0};
    for (int64_t slice = 0; slice < m->groups[3]; slice++) {
        const struct gpu_complex d = gpu_number_at(m->in.of[LA_D].number, memory->image + memory->at[LA_D],
                                                   index + m->tile[0] * m->tile[1] * slice);
        sum.re += d.re;
        sum.im += d.im;
    }
    return sum;
}

/* Products of at most 32-bit floats, and sums of integers, are exact in doubles, and a sum of them as good as exact. */
static void add_products(const struct gpu_mma *m, const struct gpu_mma_memory *memory, struct element *e)
{
    const struct gpu_complex *a = memory->in[LA_A] + e->m, *b = memory->in[LA_B] + e->n;
    double sum = 0, size = 0;
    for (int64_t k = 0; k < m->tile[2]; k++, a += m->tile[0], b += m->tile[1]) {
        const double product = m->in.bits ? gpu_mma_product(&m->in, *a, *b).re : a->re * b->re;
        sum += product;
        size += fabs(product);
    }
    e->re += m->in.negative[0] != m->in.negative[1] ? -sum : sum;
    e->products = size;
}

/* Of doubles, complex or not: with a longer mantissa. */
static void add_long_products(const struct gpu_mma *m, const struct gpu_mma_memory *memory, struct element *e)
{
    const struct gpu_complex *a = memory->in[LA_A] + e->m, *b = memory->in[LA_B] + e->n;
    for (int64_t k = 0; k < m->tile[2]; k++, a += m->tile[0], b += m->tile[1]) {
        e->re += (long double)a->re * b->re - (long double)a->im * b->im;
        e->im += (long double)a->re * b->im + (long double)a->im * b->re;
        e->products += size_of(*a) * size_of(*b);
    }
}

static struct element element_of(const struct gpu_mma *m, const struct gpu_mma_memory *memory, int64_t i,
                                 int64_t j)
{
    const struct gpu_complex c = memory->in[LA_C][i + m->tile[0] * j];
    struct element e = {.m = i, .n = j, .re = c.re, .im = c.im};
    const struct gpu_number *d = m->in.of[LA_D].number;
    (d->bits < 64 && d->kind < GPU_COMPLEX ? add_products : add_long_products)(m, memory, &e);
    e.size = e.products + size_of(c);
    e.got = result_of(m, memory, i + m->tile[0] * j);
    return e;
}

/* Whether some order of adding the products comes to a limit: then what it stops at depends on the order, by no more
 * than the products that follow. */
static bool may_stop(const struct gpu_mma *m, const struct element *e)
{
    const struct gpu_number *d = m->in.of[LA_D].number;
    return m->in.saturates && e->size >= ldexp(1, (int)d->bits - 1);
}

/* How far off, as a part of what is allowed: above 1 is wrong. */
static double error_of(const struct gpu_mma *m, struct bound b, struct element *e, double *error)
{
    if (b.exact) {
        e->re = gpu_mma_wrap(&m->in, (double)e->re);
        e->got.re = m->groups[3] > 1 ? gpu_mma_wrap(&m->in, e->got.re) : e->got.re;
        *error = fabs(e->got.re - (double)e->re);
        return *error == 0 || (may_stop(m, e) && *error <= (double)e->products) ? 0 : INFINITY;
    }
    *error = (double)fmaxl(fabsl(e->got.re - e->re), fabsl(e->got.im - e->im));
    if (isnan(e->got.re) || isnan(e->got.im))
        return INFINITY;
    const double allowed = (double)(e->size * (long double)b.steps) * ldexp(1, b.unit);
    return *error == 0 ? 0 : *error / allowed;
}

/* ---- what is wrong ---- */

static const char *value_text(struct la_ctx *cx, bool complex, double re, double im)
{
    return complex ? la_format(cx, "(%.17g,%.17g)", re, im) : la_format(cx, "%.17g", re);
}

/* The thread and value that hold the element: the first that do. */
static void add_owner(cJSON *json, const struct gpu_mma *m, int64_t index)
{
    const struct gpu_mma_part *part = &m->part[LA_C];
    const int64_t places = m->groups[0] * m->groups[1] * m->groups[2];
    for (int64_t i = 0; i < places; i++)
        for (int64_t v = 0; v < part->values; v++)
            if (gpu_mma_at(part, m->thread_at[i], v) == index) {
                cJSON_AddNumberToObject(json, "thread", (double)m->thread_at[i]);
                cJSON_AddNumberToObject(json, "value", (double)v);
                return;
            }
}

static void add_mismatch(struct gpu_job *job, const struct element *e, double error)
{
    const struct gpu_mma *m = job->plan->mma;
    const int64_t at[2] = {e->m, e->n};
    const bool complex = m->in.of[LA_D].number->kind >= GPU_COMPLEX;
    cJSON *json = cJSON_AddObjectToObject(job->result, "mismatch");
    cJSON_AddStringToObject(json, "coordinate", gpu_coordinate_text(job->cx, 2, at));
    cJSON_AddStringToObject(json, "expected", value_text(job->cx, complex, (double)e->re, (double)e->im));
    cJSON_AddStringToObject(json, "got", value_text(job->cx, complex, e->got.re, e->got.im));
    if (!isnan(error) && !isinf(error))
        cJSON_AddNumberToObject(json, "error", error);
    add_owner(json, m, e->m + m->tile[0] * e->n);
}

/* A byte besides D that has changed; false when there is one. */
static bool check_rest(struct gpu_job *job, const struct gpu_mma_memory *memory)
{
    static const char *const names[] = {"A", "B", "C", "D"};
    for (int64_t i = 0; i < memory->bytes; i++) {
        const bool is_d = i >= memory->at[LA_D] && i < memory->at[LA_D] + memory->size[LA_D];
        if (is_d || memory->image[i] == memory->before[i])
            continue;
        int x = LA_D;
        while (x > LA_A && i < memory->at[x])
            x--;
        cJSON *json = cJSON_AddObjectToObject(job->result, "stray_write");
        const bool inside = i >= memory->at[x] && i < memory->at[x] + memory->size[x];
        cJSON_AddStringToObject(json, "where",
                                la_format(job->cx, "%s %s",
                                          inside              ? "in"
                                          : i < memory->at[x] ? "before"
                                                              : "after",
                                          names[x]));
        cJSON_AddNumberToObject(json, "offset_bytes", (double)(i - memory->at[x]));
        return false;
    }
    return true;
}

bool gpu_mma_verify(struct gpu_job *job, const struct gpu_mma_memory *memory)
{
    const struct gpu_mma *m = job->plan->mma;
    const struct bound bound = bound_of(m);
    int64_t wrong = 0;
    double worst = 0, greatest = 0;
    for (int64_t j = 0; j < m->tile[1]; j++)
        for (int64_t i = 0; i < m->tile[0]; i++) {
            struct element e = element_of(m, memory, i, j);
            double error;
            const double part = error_of(m, bound, &e, &error);
            if (!(part <= 1) && wrong++ == 0)
                add_mismatch(job, &e, error);
            worst = part > worst ? part : worst;
            greatest = error > greatest ? error : greatest;
        }
    const bool rest = check_rest(job, memory);
    cJSON_AddBoolToObject(job->result, "verified", wrong == 0 && rest);
    cJSON *checked = cJSON_AddObjectToObject(job->result, "checked");
    cJSON_AddNumberToObject(checked, "elements", (double)(m->tile[0] * m->tile[1]));
    cJSON_AddNumberToObject(checked, "other_bytes", (double)(memory->bytes - memory->size[LA_D]));
    add_bound(job->cx, checked, bound);
    if (wrong)
        cJSON_AddNumberToObject(job->result, "mismatches", (double)wrong);
    if (!bound.exact && !isinf(worst)) {
        cJSON_AddNumberToObject(checked, "greatest_error", greatest);
        cJSON_AddNumberToObject(checked, "of_bound", worst);
    }
    return wrong == 0 && rest;
}

bool gpu_mma_run_cpu(struct gpu_job *job)
{
    const struct gpu_mma *m = job->plan->mma;
    double since = gpu_now_ms();
    struct gpu_mma_memory memory = gpu_mma_memory_make(job->cx, m, job->seed);
    gpu_job_lap(job, "fill", &since);
    gpu_mma_twin(job->cx, m, &memory);
    if (job->plan->plant == GPU_PLANT_WRONG_VALUE) /* the sign and exponent of thread 0's first value */
        memory.image[memory.at[LA_D] +
                     (gpu_mma_at(&m->part[LA_C], 0, 0) + 1) * m->in.of[LA_D].number->bits / 8 - 1] ^= 0x40;
    gpu_job_lap(job, "run", &since);
    gpu_mma_verify(job, &memory);
    gpu_job_lap(job, "check", &since);
    return true;
}
