/* render_label.c: what is written in the cells and in the headers.
 *
 * A cell of ((2,2),(3,2)) at row 3, column 4 is, by LABEL_COORD, two lines on a picture and one in a text:
 *     (1,1)
 *     (1,1)                  ((1,1),(1,1))
 * CuTe writes thread and value in two lines, T5 above V0, and so do we. */
#include "render.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const label_names[] = {"offset", "index", "coord", "tv", "bank", "none", NULL};

void put(struct json *out, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    const int len = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    json_bytes(out, text, len < (int)sizeof text ? (size_t)len : sizeof text - 1);
}

int64_t digits_of(int64_t value)
{
    char digits[20];
    return json_digits(digits, value) - digits;
}

/* ---- coordinates -------------------------------------------------------------------------------------------- */

/* The natural coordinate of *index, leftmost mode first; NULL when it does not fit. */
static char *put_coord(char *at, const char *end, const struct la_node *shape, int64_t *index)
{
    if (end - at < 24) /* 20 digits and what may stand around them */
        return NULL;
    if (!la_is_tuple(shape)) {
        const int64_t extent = max_of(shape->value, 1); /* an empty mode has no coordinate */
        at = json_digits(at, *index % extent);
        *index /= extent;
        return at;
    }
    *at++ = '(';
    const struct la_node *mode = shape + 1;
    for (int64_t i = 0; i < shape->value; i++, mode = la_next(mode)) {
        if (i)
            *at++ = ',';
        at = put_coord(at, end - 1, mode, index); /* leaves room for our ) */
        if (!at)
            return NULL;
    }
    *at++ = ')';
    return at;
}

/* Modes [from, to) of the coordinate, separated by commas. */
static char *put_modes(char out[LABEL_MAX], const struct la_node *shape, int64_t index, uint32_t from,
                       uint32_t to)
{
    const struct la_node *mode = la_is_tuple(shape) ? shape + 1 : shape;
    const uint32_t rank = la_rank(shape);
    char *at = out;
    for (uint32_t i = 0; i < rank && i < to; i++, mode = la_next(mode)) {
        if (i == from)
            at = out; /* what was written before only moved the index on */
        else if (i > from)
            *at++ = ',';
        at = put_coord(at, out + LABEL_MAX, mode, &index);
        if (!at)
            return out;
    }
    return from < rank ? at : out;
}

/* ---- labels ------------------------------------------------------------------------------------------------- */

/* T5, V0 */
static char *put_letter(char *out, char letter, int64_t value)
{
    *out = letter;
    return json_digits(out + 1, value);
}

static char *put_line(const struct picture *p, const struct la_node *shape, int64_t offset, int64_t index,
                      int line, char out[LABEL_MAX])
{
    const struct look *look = &p->look;
    switch (look->labels) {
    case LABEL_OFFSET:
        return json_digits(out, offset);
    case LABEL_INDEX:
        return json_digits(out, index);
    case LABEL_COORD:
        return line == 0 ? put_modes(out, shape, index, 0, 1)
                         : put_modes(out, shape, index, 1, la_rank(shape));
    case LABEL_TV:
        return line == 0 ? put_letter(out, 'T', floor_mod(offset, look->n))
                         : put_letter(out, 'V', floor_div(offset, look->n));
    case LABEL_BANK:
        return json_digits(out, bank_of(offset, look->bytes));
    case LABEL_NONE:
        break;
    }
    return out;
}

char *label_line(const struct picture *p, const struct panel *panel, int64_t row, int64_t col, int line,
                 char out[LABEL_MAX])
{
    return put_line(p, panel->shape, panel->offsets[row * panel->cols.n + col], panel_index(panel, row, col),
                    line, out);
}

char *label_text(const struct picture *p, const struct panel *panel, int64_t row, int64_t col,
                 char out[LABEL_MAX])
{
    if (p->look.labels == LABEL_COORD) {
        int64_t index = panel_index(panel, row, col);
        char *end = put_coord(out, out + LABEL_MAX, panel->shape, &index);
        return end ? end : out;
    }
    char *end = label_line(p, panel, row, col, 0, out);
    return p->look.labels == LABEL_TV ? label_line(p, panel, row, col, 1, end) : end;
}

int label_lines(const struct picture *p)
{
    uint32_t rank = 1;
    for (uint32_t i = 0; i < p->n; i++)
        rank = la_rank(p->panel[i].shape) > rank ? la_rank(p->panel[i].shape) : rank;
    switch (p->look.labels) {
    case LABEL_NONE:
        return 0;
    case LABEL_TV:
        return LABEL_LINES;
    case LABEL_COORD:
        return rank > 1 ? LABEL_LINES : 1;
    case LABEL_OFFSET:
    case LABEL_INDEX:
    case LABEL_BANK:
        break;
    }
    return 1;
}

/* The labels at the ends of their range are the longest. */
static int64_t panel_chars(const struct picture *p, const struct panel *panel)
{
    char text[LABEL_MAX];
    int64_t chars = 1;
    if (p->look.labels == LABEL_BANK)
        return 2;
    if (p->look.labels == LABEL_TV) {
        const int64_t low = floor_div(panel->lowest, p->look.n), high = floor_div(panel->highest, p->look.n);
        return 1 + max_of(digits_of(p->look.n - 1), max_of(digits_of(low), digits_of(high)));
    }
    for (int line = 0; line < label_lines(p); line++) {
        chars = max_of(chars, put_line(p, panel->shape, panel->lowest, panel->last, line, text) - text);
        chars = max_of(chars, put_line(p, panel->shape, panel->highest, panel->last, line, text) - text);
    }
    return chars;
}

int64_t label_chars(const struct picture *p)
{
    int64_t chars = 1;
    for (uint32_t i = 0; i < p->n; i++)
        chars = max_of(chars, panel_chars(p, &p->panel[i]));
    return chars;
}

/* ---- headers ------------------------------------------------------------------------------------------------ */

int64_t band_value(const struct axis *axis, uint32_t b, int64_t k)
{
    const struct level *band = &axis->band[b];
    if (b == 0 && axis->names)
        return axis->names[k];
    return (band->n ? k % band->n : k) * band->factor;
}

int64_t band_chars(const struct axis *axis, uint32_t b)
{
    const struct level *band = &axis->band[b];
    if (axis->n == 0)
        return 1;
    if (b == 0 && axis->names)
        return max_of(digits_of(axis->names[0]), digits_of(axis->names[axis->n - 1]));
    return digits_of(((band->n ? band->n : axis->n) - 1) * band->factor);
}
