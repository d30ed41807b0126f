/* table.c: many offsets at once, for pages, kernels and analyses, without a division an element.
 *
 * The offsets of a mode of extent n and stride d behind k known ones are those k, n times, each time d further; so the
 * list grows mode by mode with plain additions that vectorise. A grid is the sum of a row's and a column's list. */
#include "internal.h"

/* Leaf modes of extent above 1, as plain numbers. */
struct modes {
    uint32_t n;
    int64_t *extent, *stride;
};

static struct modes modes_of(struct la_ctx *cx, const struct la_node *shape, const struct la_node *stride)
{
    struct modes m = {0};
    m.extent = la_alloc(cx, shape->span * sizeof *m.extent);
    m.stride = la_alloc(cx, shape->span * sizeof *m.stride);
    for (uint32_t i = 0; i < shape->span; i++) {
        if (shape[i].kind == LA_TUPLE)
            continue;
        if (shape[i].kind != LA_INT || stride[i].kind != LA_INT || stride[i].path)
            la_fail(cx, LA_E_kind, "the layout %s gives coordinates, not offsets",
                    la_show_layout(cx, la_plain(shape, stride)));
        m.extent[m.n] = shape[i].value;
        m.stride[m.n++] = stride[i].value;
    }
    return m;
}

/* Does every sum of strides fit? Also checks that extents are not negative. */
static void check_range(struct la_ctx *cx, const struct modes *m, int64_t *low, int64_t *high)
{
    for (uint32_t i = 0; i < m->n; i++) {
        int64_t reach;
        if (m->extent[i] < 0)
            la_fail(cx, LA_E_domain, "an extent of %lld has no elements", (long long)m->extent[i]);
        const int64_t steps = m->extent[i] > 0 ? m->extent[i] - 1 : 0;
        if (__builtin_mul_overflow(steps, m->stride[i], &reach) ||
            __builtin_add_overflow(reach < 0 ? *low : *high, reach, reach < 0 ? low : high))
            la_fail(cx, LA_E_overflow, "the offsets do not fit in 64 bits");
    }
}

/* The first n of the offsets base + modes(i); the last mode goes on for as long as n needs. */
static void enumerate(const struct modes *m, int64_t base, int64_t n, int64_t *out)
{
    int64_t known = 1;
    if (n <= 0)
        return;
    out[0] = base;
    for (uint32_t k = 0; k < m->n && known < n; k++) {
        const int64_t d = m->stride[k];
        for (int64_t j = 1; j < m->extent[k] && known * j < n; j++) {
            int64_t *to = out + known * j;
            const int64_t count = n - known * j < known ? n - known * j : known, shift = d * j;
            if (known == 1) {
                *to = base + shift;
                continue;
            }
            for (int64_t i = 0; i < count; i++)
                to[i] = out[i] + shift;
        }
        known *= m->extent[k];
    }
}

static int64_t product_of(struct la_ctx *cx, const struct modes *m)
{
    int64_t p = 1;
    for (uint32_t i = 0; i < m->n; i++)
        if (__builtin_mul_overflow(p, m->extent[i], &p))
            la_fail(cx, LA_E_limit, "more than 2^63 elements");
    return p;
}

/* What a composed layout adds to the offsets of its layout, which lie between low and high. */
static void check_shift(struct la_ctx *cx, struct la_layout a, int64_t low, int64_t high)
{
    int64_t sum;
    const int64_t shift = a.outer ? la_basis_value(cx, a.offset)->value : 0;
    if (__builtin_add_overflow(low, shift, &sum) || __builtin_add_overflow(high, shift, &sum))
        la_fail(cx, LA_E_overflow, "the offsets %lld to %lld do not fit in 64 bits when %lld is added",
                (long long)low, (long long)high, (long long)shift);
}

/* The swizzle of a composed layout over n offsets; a layout as the outer function is evaluated one by one. */
static void apply_outer(struct la_ctx *cx, struct la_layout a, int64_t n, int64_t *offsets)
{
    if (!a.outer)
        return;
    const int64_t shift = la_basis_value(cx, a.offset)->value;
    if (a.outer->kind != LA_K_SWIZZLE) {
        for (int64_t i = 0; i < n; i++) {
            struct la_node at = {.value = offsets[i] + shift, .span = 1, .kind = LA_INT};
            offsets[i] = la_to_i64(cx, la_layout_at(cx, a.outer->layout, &at), "an offset");
        }
        return;
    }
    const struct la_swizzle s = a.outer->swizzle;
    const int64_t mask = la_swizzle_y(s);
    if (s.shift >= 0)
        for (int64_t i = 0; i < n; i++) {
            const int64_t x = offsets[i] + shift;
            offsets[i] = x ^ ((x & mask) >> s.shift);
        }
    else
        for (int64_t i = 0; i < n; i++) {
            const int64_t x = offsets[i] + shift;
            offsets[i] = x ^ ((x & mask) << -s.shift);
        }
}

void la_offsets(struct la_ctx *cx, struct la_layout a, int64_t n, int64_t *out)
{
    const struct modes m = modes_of(cx, a.shape, a.stride);
    int64_t low = 0, high = 0;
    check_range(cx, &m, &low, &high);
    if (n > product_of(cx, &m))
        la_fail(cx, LA_E_domain, "the layout has fewer than %lld elements", (long long)n);
    const struct la_layout layout = la_position_independent(cx, a);
    check_shift(cx, layout, low, high);
    enumerate(&m, 0, n, out);
    apply_outer(cx, layout, n, out);
}

struct grid {
    struct la_layout layout;
    const struct la_axes *axes;
    int64_t max_cells;
    struct la_table *out;
};

/* Mode 0 as rows and the others as columns; of rank 1 a row. */
static void split(struct la_ctx *cx, struct la_layout a, struct la_layout *rows, struct la_layout *cols)
{
    const uint32_t rank = la_rank(a.shape);
    if (rank <= 1) {
        *rows = la_plain(la_one, la_zero);
        *cols = rank == 0 ? *rows : la_plain(la_mode(cx, a.shape, 0), la_mode(cx, a.stride, 0));
        return;
    }
    *rows = la_plain(la_mode(cx, a.shape, 0), la_mode(cx, a.stride, 0));
    *cols = rank == 2 ? la_plain(la_mode(cx, a.shape, 1), la_mode(cx, a.stride, 1))
                      : la_plain(la_take(cx, a.shape, 1, rank), la_take(cx, a.stride, 1, rank));
}

/* The named modes as one layout; one mode alone stays what it is. */
static struct la_layout chosen(struct la_ctx *cx, struct la_layout a, uint32_t n, const uint32_t *modes)
{
    if (n == 0)
        return la_plain(la_one, la_zero);
    if (n == 1)
        return la_plain(la_mode(cx, a.shape, modes[0]), la_mode(cx, a.stride, modes[0]));
    return la_plain(la_select(cx, a.shape, n, modes), la_select(cx, a.stride, n, modes));
}

static void split_by(struct la_ctx *cx, struct la_layout a, const struct la_axes *axes,
                     struct la_layout *rows, struct la_layout *cols)
{
    const uint32_t rank = la_rank(a.shape);
    unsigned char *seen = la_alloc(cx, rank + 1);
    for (uint32_t i = 0; i < rank; i++)
        seen[i] = 0;
    for (uint32_t i = 0; i < axes->n_rows + axes->n_cols; i++) {
        const uint32_t mode = i < axes->n_rows ? axes->rows[i] : axes->cols[i - axes->n_rows];
        if (mode >= rank)
            la_fail(cx, LA_E_rank_mismatch, "there is no mode %u in %s, whose rank is %u", mode,
                    la_show_layout(cx, a), rank);
        if (seen[mode]++)
            la_fail(cx, LA_E_domain, "mode %u is named twice among the rows and columns", mode);
    }
    for (uint32_t i = 0; i < rank; i++)
        if (!seen[i])
            la_fail(cx, LA_E_domain, "mode %u is neither among the rows nor among the columns", i);
    *rows = chosen(cx, a, axes->n_rows, axes->rows);
    *cols = chosen(cx, a, axes->n_cols, axes->cols);
}

static void fill_grid(struct la_ctx *cx, void *arg)
{
    const struct grid *g = arg;
    struct la_layout rows, cols;
    if (g->axes)
        split_by(cx, g->layout, g->axes, &rows, &cols);
    else
        split(cx, g->layout, &rows, &cols);
    const struct modes r = modes_of(cx, rows.shape, rows.stride), c = modes_of(cx, cols.shape, cols.stride);
    int64_t low = 0, high = 0;
    check_range(cx, &r, &low, &high);
    check_range(cx, &c, &low, &high);
    const int64_t nr = product_of(cx, &r), nc = product_of(cx, &c);
    if (nr > g->max_cells || nc > g->max_cells || (nr > 0 && nc > g->max_cells / nr))
        la_fail(cx, LA_E_limit, "a table of %lld x %lld cells is above the limit of %lld", (long long)nr,
                (long long)nc, (long long)g->max_cells);
    int64_t *row = la_alloc(cx, (size_t)(nr + 1) * sizeof *row),
            *col = la_alloc(cx, (size_t)(nc + 1) * sizeof *col);
    int64_t *cells = la_alloc(cx, (size_t)(nr * nc + 1) * sizeof *cells);
    enumerate(&r, 0, nr, row);
    enumerate(&c, 0, nc, col);
    const struct la_layout layout = la_position_independent(cx, g->layout);
    check_shift(cx, layout, low, high);
    for (int64_t i = 0; i < nr; i++) {
        const int64_t base = row[i];
        int64_t *to = cells + i * nc;
        for (int64_t j = 0; j < nc; j++)
            to[j] = base + col[j];
        apply_outer(cx, layout, nc, to); /* row by row, while it is in the cache */
    }
    *g->out = (struct la_table){nr, nc, rows.shape, cols.shape, cells};
}

bool la_table_by(struct la_ctx *cx, struct la_layout layout, const struct la_axes *axes, int64_t max_cells,
                 struct la_table *out)
{
    struct grid g = {layout, axes, max_cells, out};
    return la_try(cx, fill_grid, &g);
}

bool la_table(struct la_ctx *cx, struct la_layout layout, int64_t max_cells, struct la_table *out)
{
    return la_table_by(cx, layout, NULL, max_cells, out);
}
