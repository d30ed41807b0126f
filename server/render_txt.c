/* render_txt.c: a grid of offsets as CuTe's print_layout prints it.
 *
 *     (_2,_3):(_1,_2)
 *           0   1   2
 *         +---+---+---+
 *      0  | 0 | 2 | 4 |
 *         +---+---+---+
 *      1  | 1 | 3 | 5 |
 *         +---+---+---+
 * Byte for byte CuTe's while two digits hold a row's number and cosize is the widest number; beyond, columns stay
 * aligned where CuTe's do not. */
#include "render.h"

#include <string.h>

/* CuTe's width of a row's number. */
#define ROW_DIGITS_MIN 2

static size_t digits_of(int64_t value)
{
    char digits[20];
    return (size_t)(json_digits(digits, value) - digits);
}

static void put_spaces(struct json *out, size_t n)
{
    static const char spaces[] = "                    ";
    for (; n > sizeof spaces - 1; n -= sizeof spaces - 1)
        json_bytes(out, spaces, sizeof spaces - 1);
    json_bytes(out, spaces, n);
}

static void put_number(struct json *out, int64_t value, size_t width)
{
    char digits[20];
    size_t len = (size_t)(json_digits(digits, value) - digits);
    put_spaces(out, width > len ? width - len : 0);
    json_bytes(out, digits, len);
}

static void put_rule(struct json *out, size_t margin, int64_t cols, size_t width)
{
    static const char dashes[] = "+----------------------";
    put_spaces(out, margin);
    for (int64_t c = 0; c < cols; c++)
        json_bytes(out, dashes, width + 3);
    json_bytes(out, "+\n", 2);
}

void render_txt(struct json *out, const struct picture *picture)
{
    const struct la_table *t = picture->table;
    size_t width = digits_of(picture->highest < INT64_MAX ? picture->highest + 1 : INT64_MAX); /* cosize */
    size_t low = digits_of(picture->lowest), col = digits_of(t->cols - 1), row = digits_of(t->rows - 1);
    width = low > width ? low : width;
    width = col > width ? col : width;
    row = row > ROW_DIGITS_MIN ? row : ROW_DIGITS_MIN;

    json_bytes(out, picture->title, strlen(picture->title));
    json_bytes(out, "\n", 1);
    put_spaces(out, row + 2);
    for (int64_t c = 0; c < t->cols; c++) {
        put_number(out, c, width + 2);
        json_bytes(out, " ", 1);
    }
    json_bytes(out, "\n", 1);
    for (int64_t r = 0; r < t->rows; r++) {
        put_rule(out, row + 2, t->cols, width);
        put_number(out, r, row);
        put_spaces(out, 2);
        for (int64_t c = 0; c < t->cols; c++) {
            json_bytes(out, "| ", 2);
            put_number(out, t->offsets[r * t->cols + c], width);
            json_bytes(out, " ", 1);
        }
        json_bytes(out, "|\n", 2);
    }
    put_rule(out, row + 2, t->cols, width);
}
