/* render_txt.c: a picture as text, a grid as CuTe's print_layout prints it.
 *
 *     (_2,_3):(_1,_2)
 *           0   1   2
 *         +---+---+---+
 *      0  | 0 | 2 | 4 |
 *         +---+---+---+
 *      1  | 1 | 3 | 5 |
 *         +---+---+---+
 * Of offsets it is byte for byte CuTe's while two digits hold a row's number and cosize is the widest number; beyond,
 * columns stay aligned where CuTe's do not. What several have is marked x2, what nobody has is blank. */
#include "render.h"

#include <string.h>

enum {
    ROW_DIGITS_MIN = 2, /* CuTe's width of a row's number */
    MARK_MAX = 12       /* x4294967295 */
};

struct text {
    struct json *out;
    const struct picture *picture;
    const struct panel *panel;
    size_t width, row_width; /* of a cell, of a row's number */
};

static void put_repeated(struct json *out, char c, size_t n)
{
    char piece[64];
    memset(piece, c, sizeof piece);
    for (; n > sizeof piece; n -= sizeof piece)
        json_bytes(out, piece, sizeof piece);
    json_bytes(out, piece, n);
}

static void put_right(struct json *out, const char *text, size_t len, size_t width)
{
    put_repeated(out, ' ', width > len ? width - len : 0);
    json_bytes(out, text, len);
}

static void put_number(struct json *out, int64_t value, size_t width)
{
    char digits[20];
    put_right(out, digits, (size_t)(json_digits(digits, value) - digits), width);
}

static void put_rule(const struct text *t)
{
    put_repeated(t->out, ' ', t->row_width + 2);
    for (int64_t c = 0; c < t->panel->cols.n; c++) {
        json_bytes(t->out, "+", 1);
        put_repeated(t->out, '-', t->width + 2);
    }
    json_bytes(t->out, "+\n", 2);
}

/* The label of a cell, and how many have it. */
static size_t cell_text(const struct text *t, int64_t row, int64_t col, char out[LABEL_MAX + MARK_MAX])
{
    const int64_t cell = row * t->panel->cols.n + col;
    if (!panel_has(t->panel, cell))
        return 0;
    char *end = label_text(t->picture, t->panel, row, col, out);
    if (t->panel->times && t->panel->times[cell] > 1) {
        *end++ = 'x';
        end = json_digits(end, t->panel->times[cell]);
    }
    return (size_t)(end - out);
}

static size_t widest_cell(const struct text *t)
{
    char text[LABEL_MAX + MARK_MAX];
    size_t width = 0;
    for (int64_t row = 0; row < t->panel->rows.n; row++)
        for (int64_t col = 0; col < t->panel->cols.n; col++) {
            const size_t len = cell_text(t, row, col, text);
            width = len > width ? len : width;
        }
    return width;
}

static void measure(struct text *t)
{
    const struct panel *panel = t->panel;
    const bool is_plain = t->picture->look.labels == LABEL_OFFSET && !panel->times;
    if (is_plain) { /* CuTe's: as wide as cosize */
        const int64_t cosize = panel->highest < INT64_MAX ? panel->highest + 1 : INT64_MAX;
        t->width = (size_t)max_of(digits_of(cosize), digits_of(panel->lowest));
    } else {
        t->width = widest_cell(t);
    }
    t->width = (size_t)max_of((int64_t)t->width, band_chars(&panel->cols, 0));
    t->row_width = (size_t)max_of(ROW_DIGITS_MIN, band_chars(&panel->rows, 0));
}

static void put_row(const struct text *t, int64_t row)
{
    char text[LABEL_MAX + MARK_MAX];
    put_number(t->out, band_value(&t->panel->rows, 0, row), t->row_width);
    put_text(t->out, "  ");
    for (int64_t col = 0; col < t->panel->cols.n; col++) {
        put_text(t->out, "| ");
        put_right(t->out, text, cell_text(t, row, col, text), t->width);
        json_bytes(t->out, " ", 1);
    }
    put_text(t->out, "|\n");
}

static void put_panel(const struct text *t)
{
    const struct panel *panel = t->panel;
    if (panel->caption)
        put(t->out, "\n%s\n", panel->caption);
    put_repeated(t->out, ' ', t->row_width + 2);
    for (int64_t col = 0; col < panel->cols.n; col++) {
        put_number(t->out, col, t->width + 2);
        json_bytes(t->out, " ", 1);
    }
    json_bytes(t->out, "\n", 1);
    for (int64_t row = 0; row < panel->rows.n; row++) {
        put_rule(t);
        if (panel->rows.folded && panel->rows.folded[row])
            put(t->out, "%*s  ... %lld lines without elements\n", (int)t->row_width, "",
                (long long)panel->rows.folded[row]);
        else
            put_row(t, row);
    }
    put_rule(t);
}

void render_txt(struct json *out, const struct picture *picture)
{
    put_text(out, picture->comment);
    json_bytes(out, "\n", 1);
    if (picture->note)
        put(out, "%s\n", picture->note);
    for (uint32_t i = 0; i < picture->n; i++) {
        struct text t = {.out = out, .picture = picture, .panel = &picture->panel[i]};
        measure(&t);
        put_panel(&t);
    }
}
