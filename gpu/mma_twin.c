/* mma_twin.c: the CPU twin of a check: the partition's threads gather their fragments, each instruction puts those of
 * its threads together by the atom's own TV layouts, multiplies, and hands the results back.
 *
 *   thread (v; m,n,k), instruction (i,j): value f of A is element A_thread(t) + A_value(f + F*(i + I*j)) of the tile
 *                                         and element tv(v,f) of the instruction's 16x16
 *
 * So a partition that is wrong, or a published layout that does not fit it, is wrong here as on the card. Between
 * instructions a sum is rounded to D's type. */
#include "mma.h"

struct twin {
    const struct gpu_mma *mma;
    struct gpu_mma_memory *memory;
    int64_t *tv[3];              /* [v + V * f] -> element of an instruction's matrix */
    struct gpu_complex *held[3]; /* [element]: the matrices of one instruction */
};

/* A group of threads, and one of its instructions. */
struct at {
    int64_t group[3], rest[3]; /* along M, N, K */
};

static const int modes_of[3][2] = {{0, 2}, {1, 2}, {0, 1}};

/* Thread v of the group, and the first of its values of the instruction. What groups along K have of C is told of the
 * first of them: CuTe's TV layout goes on beyond the tile for the others. */
static int64_t thread_of(const struct gpu_mma *m, enum la_matrix x, const struct at *at, int64_t v)
{
    const int64_t k = x == LA_C ? 0 : at->group[2];
    return m->thread_at[v + m->groups[0] * (at->group[0] + m->groups[1] * (at->group[1] + m->groups[2] * k))];
}

static int64_t first_of(const struct gpu_mma *m, enum la_matrix x, const struct at *at)
{
    const int64_t i = at->rest[modes_of[x][0]], j = at->rest[modes_of[x][1]];
    return m->in.of[x].values * (i + m->part[x].rest[0] * j);
}

/* Where value f of thread v of an instruction lies in the tile. */
static int64_t tile_index(const struct gpu_mma *m, enum la_matrix x, const struct at *at, int64_t v,
                          int64_t f)
{
    return gpu_mma_at(&m->part[x], thread_of(m, x, at, v), first_of(m, x, at) + f);
}

/* An operand in shared memory is held by all threads of the instruction: the first will do. */
static void gather(const struct twin *t, enum la_matrix x, const struct at *at)
{
    const struct gpu_mma *m = t->mma;
    const int64_t threads = m->in.of[x].descriptor ? 1 : m->groups[0];
    for (int64_t f = 0; f < m->in.of[x].values; f++)
        for (int64_t v = 0; v < threads; v++)
            t->held[x][t->tv[x][v + m->groups[0] * f]] = t->memory->in[x][tile_index(m, x, at, v, f)];
}

static void scatter(const struct twin *t, const struct at *at)
{
    const struct gpu_mma *m = t->mma;
    const int64_t slice = at->group[2] * m->tile[0] * m->tile[1];
    for (int64_t f = 0; f < m->in.of[LA_C].values; f++)
        for (int64_t v = 0; v < m->groups[0]; v++)
            gpu_number_put(m->in.of[LA_D].number, t->memory->image + t->memory->at[LA_D],
                           slice + tile_index(m, LA_C, at, v, f),
                           t->held[LA_C][t->tv[LA_C][v + m->groups[0] * f]]);
}

/* D's type and back. */
static struct gpu_complex rounded(const struct gpu_instruction *in, struct gpu_complex x)
{
    unsigned char bytes[GPU_NUMBER_BYTES];
    x.re = gpu_mma_wrap(in, x.re);
    gpu_number_put(in->of[LA_D].number, bytes, 0, x);
    return gpu_number_at(in->of[LA_D].number, bytes, 0);
}

static void add_product(const struct gpu_instruction *in, struct gpu_complex *sum, struct gpu_complex a,
                        struct gpu_complex b)
{
    const struct gpu_complex product = gpu_mma_product(in, a, b);
    sum->re += product.re;
    sum->im += product.im;
}

/* Sums of plain numbers, which most are, column by column. */
static void multiply_real(const struct twin *t)
{
    const struct gpu_instruction *in = &t->mma->in;
    const double sign = in->negative[0] != in->negative[1] ? -1 : 1;
    for (int64_t n = 0; n < in->n; n++)
        for (int64_t k = 0; k < in->k; k++) {
            const struct gpu_complex *a = t->held[LA_A] + in->m * k;
            struct gpu_complex *sum = t->held[LA_C] + in->m * n;
            const double b = sign * t->held[LA_B][n + in->n * k].re;
            for (int64_t m = 0; m < in->m; m++)
                sum[m].re += a[m].re * b;
        }
}

static void multiply(const struct twin *t)
{
    const struct gpu_instruction *in = &t->mma->in;
    const bool real = !in->bits && in->of[LA_D].number->kind < GPU_COMPLEX;
    if (real)
        multiply_real(t);
    for (int64_t i = 0; i < in->m * in->n; i++) {
        for (int64_t k = 0; !real && k < in->k; k++)
            add_product(in, &t->held[LA_C][i], t->held[LA_A][i % in->m + in->m * k],
                        t->held[LA_B][i / in->m + in->n * k]);
        t->held[LA_C][i] = rounded(in, t->held[LA_C][i]);
    }
}

static void run_group(const struct twin *t, struct at at)
{
    const struct gpu_mma *m = t->mma;
    const int64_t rest[3] = {m->part[LA_A].rest[0], m->part[LA_B].rest[0], m->part[LA_A].rest[1]};
    for (at.rest[1] = 0; at.rest[1] < rest[1]; at.rest[1]++)
        for (at.rest[0] = 0; at.rest[0] < rest[0]; at.rest[0]++) {
            gather(t, LA_C, &at);
            for (int64_t i = 0; at.group[2] > 0 && i < m->in.m * m->in.n; i++)
                t->held[LA_C][i] = (struct gpu_complex){0, 0};
            for (at.rest[2] = 0; at.rest[2] < rest[2]; at.rest[2]++) {
                gather(t, LA_A, &at);
                gather(t, LA_B, &at);
                multiply(t);
            }
            at.rest[2] = 0;
            scatter(t, &at);
        }
}

void gpu_mma_twin(struct la_ctx *cx, const struct gpu_mma *m, struct gpu_mma_memory *memory)
{
    struct twin t = {.mma = m, .memory = memory};
    const int64_t size[3] = {m->in.m * m->in.k, m->in.n * m->in.k, m->in.m * m->in.n};
    for (enum la_matrix x = LA_A; x <= LA_C; x++) {
        const int64_t values = m->groups[0] * m->in.of[x].values;
        t.tv[x] = la_alloc(cx, (size_t)values * sizeof *t.tv[x]);
        t.held[x] = la_alloc(cx, (size_t)size[x] * sizeof *t.held[x]);
        la_offsets(cx, m->in.atom->mma.tv[x], values, t.tv[x]);
    }
    struct at at = {0};
    for (at.group[2] = 0; at.group[2] < m->groups[3]; at.group[2]++)
        for (at.group[1] = 0; at.group[1] < m->groups[2]; at.group[1]++)
            for (at.group[0] = 0; at.group[0] < m->groups[1]; at.group[0]++)
                run_group(&t, at);
}
