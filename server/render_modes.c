/* render_modes.c: which modes of a layout are its rows, which its columns, and which stand still.
 *
 * A letter or a number a mode, as the page writes it:
 *     r,c,c      mode 0 down, modes 1 and 2 across: what a picture is unless somebody says otherwise
 *     c,r        transposed
 *     r,c,3      the fourth of the matrices that mode 2 counts
 * The table is that of all modes, with those that stand still as the last columns, and what is seen is cut from it: so
 * offsets have the colours that they have in any other of its matrices. */
#include "render.h"

#include <stdlib.h>
#include <string.h>

static const struct la_node *mode_at(const struct la_node *shape, uint32_t i)
{
    const struct la_node *mode = la_is_tuple(shape) ? shape + 1 : shape;
    while (i--)
        mode = la_next(mode);
    return mode;
}

static int64_t size_at(struct la_ctx *cx, const struct la_node *shape, uint32_t i)
{
    return la_product(cx, mode_at(shape, i))->value;
}

/* ---- reading ------------------------------------------------------------------------------------------------ */

/* A place along a mode; -1 when the text is none. */
static int64_t read_place(const char *text, size_t len, int64_t size)
{
    char *end;
    const long long at = strtoll(text, &end, 10);
    return len && *text >= '0' && *text <= '9' && end == text + len && at < size ? at : -1;
}

bool arrangement_read(struct la_ctx *cx, const char *text, const struct la_node *shape,
                      struct arrangement *out, const char **wrong)
{
    const uint32_t rank = la_rank(shape);
    const size_t room = (rank + 1) * sizeof(uint32_t);
    uint32_t *rows = la_alloc(cx, room), *cols = la_alloc(cx, room), *still = la_alloc(cx, room), n = 0;
    int64_t *at = la_alloc(cx, (rank + 1) * sizeof *at);
    *out = (struct arrangement){.text = text, .axes = {.rows = rows, .cols = cols}, .at = at};
    for (const char *piece = text; piece; n++) {
        const size_t len = strcspn(piece, ",");
        if (n == rank)
            break;
        if (len == 1 && *piece == 'r') {
            rows[out->axes.n_rows++] = n;
        } else if (len == 1 && *piece == 'c') {
            cols[out->axes.n_cols++] = n;
        } else {
            still[out->n_steps] = n;
            at[out->n_steps] = read_place(piece, len, size_at(cx, shape, n));
            *wrong = la_format(cx, "mode %u is r, c or a place from 0 to %lld", n,
                               (long long)size_at(cx, shape, n) - 1);
            if (at[out->n_steps++] < 0)
                return false;
        }
        piece = piece[len] ? piece + len + 1 : NULL;
        if (!piece && n + 1 == rank) {
            memcpy(cols + out->axes.n_cols, still, out->n_steps * sizeof *still);
            out->axes.n_cols += out->n_steps;
            return true;
        }
    }
    *wrong = la_format(cx, "there are %u modes, each is r, c or a place: r,c,0", rank);
    return false;
}

/* ---- seeing ------------------------------------------------------------------------------------------------- */

/* What a step of a mode adds to the index. */
static int64_t weight_of(struct la_ctx *cx, const struct la_node *shape, uint32_t mode)
{
    int64_t weight = 1;
    for (uint32_t i = 0; i < mode; i++)
        weight *= size_at(cx, shape, i);
    return weight;
}

/* The modes of a list as one shape: 1 when there is none. */
static const struct la_node *shape_of(struct la_ctx *cx, const struct la_node *shape, const uint32_t *list,
                                      uint32_t n)
{
    const struct la_node **modes = la_alloc(cx, (n + 1) * sizeof *modes);
    for (uint32_t i = 0; i < n; i++)
        modes[i] = mode_at(shape, list[i]);
    return n == 0 ? la_int(cx, 1, true) : n == 1 ? modes[0] : la_tuple(cx, n, modes);
}

/* What each of `count` places along the modes of a list adds to the index. */
static int64_t *indices_of(struct la_ctx *cx, const struct la_node *shape, const uint32_t *list, uint32_t n,
                           int64_t count)
{
    int64_t *out = la_alloc(cx, (size_t)(count + 1) * sizeof *out), known = 1;
    out[0] = 0;
    for (uint32_t i = 0; i < n && count > 0; i++) {
        const int64_t size = size_at(cx, shape, list[i]), weight = weight_of(cx, shape, list[i]);
        for (int64_t k = known; k < known * size; k++)
            out[k] = out[k % known] + k / known * weight;
        known *= size;
    }
    return out;
}

const int64_t *arrangement_see(struct la_ctx *cx, const struct arrangement *modes,
                               const struct la_node *shape, struct la_table *t)
{
    const struct la_axes *axes = &modes->axes;
    const uint32_t across = axes->n_cols - modes->n_steps;
    int64_t wide = t->cols, from = 0, base = 0;
    for (uint32_t i = modes->n_steps; i-- > 0;) {
        const uint32_t mode = axes->cols[across + i];
        wide /= max_of(size_at(cx, shape, mode), 1);
        from = from * size_at(cx, shape, mode) + modes->at[i];
        base += modes->at[i] * weight_of(cx, shape, mode);
    }
    const int64_t *down = indices_of(cx, shape, axes->rows, axes->n_rows, t->rows);
    const int64_t *along = indices_of(cx, shape, axes->cols, across, wide);
    int64_t *index = la_alloc(cx, (size_t)(t->rows * wide + 1) * sizeof *index);
    for (int64_t row = 0; row < t->rows; row++) {
        memmove(t->offsets + row * wide, t->offsets + row * t->cols + from * wide,
                (size_t)wide * sizeof *t->offsets);
        for (int64_t col = 0; col < wide; col++)
            index[row * wide + col] = base + down[row] + along[col];
    }
    t->cols = wide;
    t->row_shape = shape_of(cx, shape, axes->rows, axes->n_rows);
    t->col_shape = shape_of(cx, shape, axes->cols, across);
    return index;
}
