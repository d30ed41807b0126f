/* render_heads.c: the headers of a panel in SVG, a band a leaf of the shape, the innermost nearest to the cells:
 *
 *        q          0     |     1         the columns of ((2,2),(3,2)): n steps with each column, q with every third
 *        n      0   1   2 | 0   1   2
 *        index  0   1   2   3   4   5     shown where there is more than one leaf: the mode as one integer
 * Where cells are narrower than the numbers, only every tenth (or second, fifth ...) index is written, and digits of
 * leaves, which repeat, are not. */
#include "render_svg.h"

#include <string.h>

enum {
    BAND = 19, /* pixels across a band */
    BAND_PAD = 9,
    TEXT_HEIGHT = 12,
    BASELINE = 4, /* from the middle of a text down to its baseline */
    TICK_INSET = 3
};

/* One side of a panel: `across` is the distance from the cells, `along` runs with them. */
struct side {
    const struct drawing *d;
    const struct axis *axis;
    bool is_rows;
    int64_t edge, begin, pitch; /* where the cells begin, across and along; of a cell, along */
};

/* Row bands are as wide as their numbers. */
static int64_t thickness(const struct axis *axis, uint32_t b, bool is_rows)
{
    return is_rows ? max_of(BAND, band_chars(axis, b) * CHAR_WIDTH_HEAD + BAND_PAD) : BAND;
}

int64_t heads_left(const struct panel *panel)
{
    int64_t width = HEAD_GAP, names = 0;
    for (uint32_t b = 0; b < panel->rows.band_count; b++)
        width += thickness(&panel->rows, b, true);
    for (uint32_t b = 0; b < panel->cols.band_count; b++)
        if (panel->cols.band[b].name)
            names = max_of(names, (int64_t)strlen(panel->cols.band[b].name) * CHAR_WIDTH_HEAD + 2 * HEAD_GAP);
    return max_of(width, names);
}

int64_t heads_top(const struct panel *panel)
{
    return HEAD_GAP + BAND * (int64_t)panel->cols.band_count;
}

/* 1, 2, 5, 10, 20 ...: the least of them that is not below n. */
static int64_t nice_step(int64_t n)
{
    for (int64_t unit = 1;; unit *= 10) {
        static const int64_t steps[] = {1, 2, 5};
        for (int i = 0; i < 3; i++)
            if (steps[i] * unit >= n)
                return steps[i] * unit;
    }
}

/* How many steps of a band lie between two numbers. */
static int64_t every(const struct side *s, uint32_t b)
{
    const int64_t need = s->is_rows ? TEXT_HEIGHT : band_chars(s->axis, b) * CHAR_WIDTH_HEAD + HEAD_GAP;
    const int64_t pitch = s->pitch * s->axis->band[b].step;
    return nice_step((need + pitch - 1) / pitch);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void put_numbers(const struct side *s, uint32_t b, int64_t middle)
{
    const struct level *band = &s->axis->band[b];
    const bool is_index = !band->n && s->axis->band_count > 1 && !s->axis->names;
    const int64_t steps = (s->axis->n + band->step - 1) / band->step, stride = every(s, b);
    if (band->n && stride > 1)
        return;
    put(s->d->out, "<text class=\"h%s\"", is_index ? "" : s->is_rows ? " r" : " c");
    if (!s->is_rows)
        put(s->d->out, " y=\"%lld\"", (long long)(middle + BASELINE));
    put_text(s->d->out, ">");
    for (int64_t k = 0; k < steps; k += stride) {
        if (s->axis->folded && s->axis->folded[k])
            continue;
        const int64_t to = least((k + 1) * band->step, s->axis->n);
        const int64_t along = s->begin + (k * band->step + to) * s->pitch / 2;
        if (s->is_rows)
            put(s->d->out, "<tspan x=\"%lld\" y=\"%lld\">%lld</tspan>", (long long)middle,
                (long long)(along + BASELINE), (long long)band_value(s->axis, b, k));
        else
            put(s->d->out, "<tspan x=\"%lld\">%lld</tspan>", (long long)along,
                (long long)band_value(s->axis, b, k));
    }
    put_text(s->d->out, "</text>\n");
}

/* Short lines between the steps of an outer band. */
static void put_ticks(const struct side *s, uint32_t b, int64_t outer, int64_t inner)
{
    const struct level *band = &s->axis->band[b];
    if (band->step < 2 || band->step >= s->axis->n)
        return;
    put_text(s->d->out, "<path class=\"tick\" d=\"");
    for (int64_t i = band->step; i < s->axis->n; i += band->step) {
        const long long along = s->begin + i * s->pitch, from = outer + TICK_INSET, to = inner - TICK_INSET;
        if (s->is_rows)
            put(s->d->out, "M%lld %lldH%lld", from, along, to);
        else
            put(s->d->out, "M%lld %lldV%lld", along, from, to);
    }
    put_text(s->d->out, "\"/>\n");
}

static void put_side(const struct side *s)
{
    int64_t inner = s->edge - HEAD_GAP;
    for (uint32_t b = 0; b < s->axis->band_count; b++) {
        const int64_t outer = inner - thickness(s->axis, b, s->is_rows);
        put_numbers(s, b, (inner + outer) / 2);
        put_ticks(s, b, outer, inner);
        inner = outer;
    }
}

/* What the bands above the columns are, left of them. */
static void put_names(const struct drawing *d, const struct panel *panel)
{
    for (uint32_t b = 0; b < panel->cols.band_count; b++)
        if (panel->cols.band[b].name)
            put(d->out, "<text class=\"h e\" x=\"%lld\" y=\"%lld\">%s</text>\n",
                (long long)(d->x[panel->across] - 2 * HEAD_GAP),
                (long long)(d->y[panel->down] - HEAD_GAP - BAND * b - BAND / 2 + BASELINE),
                panel->cols.band[b].name);
}

void put_heads(const struct drawing *d, const struct panel *panel)
{
    const int64_t x = d->x[panel->across], y = d->y[panel->down];
    put_side(&(struct side){d, &panel->cols, false, y, x, d->cell_w});
    put_side(&(struct side){d, &panel->rows, true, x, y, d->cell_h});
    put_names(d, panel);
}
