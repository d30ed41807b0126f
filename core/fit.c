/* fit.c: from a table of offsets to the layout that gives exactly it.
 *
 *     0 1 2 6 7 8 3 4 5 9 10 11        (3,(2,2)):(1,(6,3)) coalesced: (3,2,2):(1,6,3)
 *
 * A flat layout whose neighbours cannot be merged is unique: its first extent is how far the values go up by f(1), and
 * what is left repeats it. So one pass finds it, or the first cell that breaks it. A grid is the sum of its first row
 * and its first column. For a swizzle all that fit into the offsets' bits are tried: each is its own inverse. */
#include "internal.h"

enum {
    MAX_BITS = 31 /* of an offset that a swizzle can hold */
};

/* A list of n values at distance `step`, read through an optional swizzle. */
struct sequence {
    const int64_t *values;
    int64_t n, step;
    const struct la_swizzle *swizzle;
};

static int64_t value_at(const struct sequence *s, int64_t i)
{
    const int64_t v = s->values[i * s->step];
    return s->swizzle ? la_swizzle_apply(*s->swizzle, v) : v;
}

struct builder {
    struct la_ctx *cx;
    uint32_t n;
    const struct la_node *shape[64], *stride[64]; /* 2^63 values have at most 63 modes */
};

struct misfit {
    int64_t cell, gives, should;
    const char *reason;
};

/* Remember the first misfit; cells from there on need no look. */
static void misfit(struct misfit *m, int64_t cell, int64_t gives, int64_t should, const char *reason)
{
    if (cell < m->cell)
        *m = (struct misfit){cell, gives, should, reason};
}

/* How many values go up by f(1) each. */
static int64_t run_length(const struct sequence *s)
{
    if (s->n == 1)
        return 1;
    const int64_t d = value_at(s, 1);
    int64_t length = 2, next;
    while (length < s->n && !__builtin_mul_overflow(d, length, &next) && value_at(s, length) == next)
        length++;
    return length;
}

/* Each value but the first of its run is the first one's plus so many steps. */
static void check_runs(const struct sequence *s, int64_t length, int64_t unit, struct misfit *m)
{
    const int64_t d = value_at(s, 1);
    for (int64_t i = length; i < s->n && i * unit < m->cell; i++) {
        int64_t should;
        if (i % length != 0 &&
            (__builtin_add_overflow(value_at(s, i - i % length), d * (i % length), &should) ||
             value_at(s, i) != should))
            misfit(m, i * unit, value_at(s, i), should, "it does not repeat the first mode");
    }
}

/* Law: where m finds nothing the flat layout built gives value_at(i) for all i < n; else its cell is the first that no
 * layout can give. */
static void fit_sequence(struct builder *b, struct sequence s, struct misfit *m)
{
    if (value_at(&s, 0) != 0)
        misfit(m, 0, value_at(&s, 0), 0, "a layout gives 0 at its first coordinate");
    int64_t unit = 1; /* cells of the whole list between neighbours of this level */
    while (s.n > 1 && unit < m->cell) {
        const int64_t length = run_length(&s);
        int64_t even;
        if (s.n % length != 0) {
            if (__builtin_mul_overflow(value_at(&s, 1), length, &even))
                even = INT64_MAX;
            misfit(m, length * unit, value_at(&s, length), even,
                   "the values before it go up evenly, and their number does not divide the whole");
            return;
        }
        check_runs(&s, length, unit, m);
        b->shape[b->n] = la_int(b->cx, length, true);
        b->stride[b->n++] = la_int(b->cx, value_at(&s, 1), true);
        s.n /= length;
        s.step *= length;
        unit *= length;
    }
}

static struct la_layout built(struct builder *b)
{
    if (b->n == 0)
        return la_plain(la_one, la_zero);
    if (b->n == 1)
        return la_plain(b->shape[0], b->stride[0]);
    return la_plain(la_tuple(b->cx, b->n, b->shape), la_tuple(b->cx, b->n, b->stride));
}

struct grid {
    int64_t rows, cols;
    const int64_t *offsets;
};

static bool fit_grid(struct la_ctx *cx, const struct grid *g, const struct la_swizzle *swizzle,
                     struct la_layout *out, struct misfit *m)
{
    struct builder row = {.cx = cx}, col = {.cx = cx};
    const struct sequence all = {g->offsets, g->rows * g->cols, 1, swizzle};
    const struct sequence across = {g->offsets, g->cols, 1, swizzle},
                          down = {g->offsets, g->rows, g->cols, swizzle};
    const int64_t fits = g->rows * g->cols;
    struct misfit below = {.cell = g->rows};
    *m = (struct misfit){.cell = fits};
    fit_sequence(&col, across, m);
    fit_sequence(&row, down, &below);
    if (below.cell < g->rows)
        misfit(m, below.cell * g->cols, below.gives, below.should, below.reason);
    for (int64_t k = g->cols; k < m->cell; k++) {
        int64_t should;
        if (__builtin_add_overflow(value_at(&across, k % g->cols), value_at(&down, k / g->cols), &should) ||
            value_at(&all, k) != should)
            misfit(m, k, value_at(&all, k), should,
                   "it is not the sum of its row's and its column's first cells");
    }
    if (m->cell < fits)
        return false;
    const struct la_layout parts[2] = {built(&row), built(&col)};
    *out = g->rows == 1 ? parts[1] : la_layout_concat(cx, 2, parts);
    return true;
}

static int bits_of(const struct grid *g)
{
    int bits = 0;
    for (int64_t i = 0; i < g->rows * g->cols; i++) {
        const int64_t v = g->offsets[i];
        if (v < 0 || v >> MAX_BITS)
            return 0;
        while (v >> bits)
            bits++;
    }
    return bits;
}

/* The swizzle of the fewest bits behind which the table is a layout. */
static bool fit_swizzled(struct la_ctx *cx, const struct grid *g, struct la_layout *out)
{
    const int bits = bits_of(g);
    struct misfit m;
    for (int b = 1; 2 * b <= bits; b++)
        for (int base = 0; base + 2 * b <= bits; base++)
            for (int distance = b; base + distance + b <= bits; distance++)
                for (int sign = 1; sign >= -1; sign -= 2) {
                    const struct la_swizzle s = {b, base, sign * distance};
                    struct la_layout plain;
                    if (fit_grid(cx, g, &s, &plain, &m)) {
                        *out = la_compose_swizzle(cx, s, la_zero, plain);
                        return true;
                    }
                }
    return false;
}

struct fitting {
    struct grid grid;
    bool swizzles;
    struct la_fit *out;
};

static void fit(struct la_ctx *cx, void *arg)
{
    const struct fitting *f = arg;
    struct misfit m;
    struct la_fit *out = f->out;
    *out = (struct la_fit){0};
    if (f->grid.rows < 1 || f->grid.cols < 1)
        la_fail(cx, LA_E_domain, "a table needs at least one cell");
    out->found = fit_grid(cx, &f->grid, NULL, &out->layout, &m);
    if (out->found)
        return;
    out->cell = m.cell;
    out->gives = m.gives;
    out->should = m.should;
    out->reason = m.reason;
    out->found = f->swizzles && fit_swizzled(cx, &f->grid, &out->layout);
}

bool la_fit_table(struct la_ctx *cx, int64_t rows, int64_t cols, const int64_t *offsets, bool swizzles,
                  struct la_fit *out)
{
    struct fitting f = {{rows, cols, offsets}, swizzles, out};
    return la_try(cx, fit, &f);
}
