/* render_svg.c: a grid of offsets as SVG.
 *
 * Cells that share a colour are one path and a row of numbers is one text, so a cell costs about 40 bytes. The colour
 * follows the offset modulo 8, as in CuTe's own pictures; the palette is Paul Tol's "light" one, made to be told apart by
 * colour-blind eyes under dark text. Where a mode is nested, a thicker line stands where its next mode advances: with
 * the row shape (2,3), below every second row. Headers show the integer coordinate and, for nested modes, the natural one.
 *
 * Everything is written from numbers and from the printed layout, whose < and & are escaped: no text of a user. */
#include "render.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    COLOURS = 8,
    LEVELS = 3, /* of border thickness: cell, inner mode, outer mode */
    CELL_HEIGHT = 28,
    DIGIT_WIDTH = 8, /* of the 13 px monospaced font, rounded up */
    SMALL_WIDTH = 6, /* of the 10 px one */
    MARGIN = 12,
    TITLE_HEIGHT = 34,
    COORD_MAX = 96 /* bytes of a natural coordinate; a longer one is left out */
};

struct grid {
    struct json *out;
    const struct la_table *table;
    int64_t x, y;          /* the top left corner of the cells */
    int64_t width, height; /* of a cell */
    bool nested_rows, nested_cols;
};

__attribute__((format(printf, 2, 3))) static void put(struct json *out, const char *format, ...)
{
    char text[512]; /* longer than any line below */
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    json_bytes(out, text, (size_t)len);
}

static void put_escaped(struct json *out, const char *text)
{
    for (; *text; text++) {
        const char *name = *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : *text == '&' ? "&amp;" : NULL;
        if (name)
            json_bytes(out, name, strlen(name));
        else
            json_bytes(out, text, 1);
    }
}

static void put_style(struct json *out)
{
    static const char *const fills[COLOURS] = {"#77aadd", "#ee8866", "#eedd88", "#ffaabb",
                                               "#99ddff", "#44bb99", "#bbcc33", "#dddddd"};
    static const char style[] = "<style>"
                                "text{font:13px ui-monospace,'DejaVu Sans "
                                "Mono',Menlo,Consolas,monospace;text-anchor:middle;fill:#1b1f24}"
                                ".t{font-weight:600;text-anchor:start}.h{fill:#57606a}.s{font-size:10px;fill:"
                                "#57606a}.r{text-anchor:end}"
                                "path{fill:none;stroke:#1b1f24}.l0{stroke-width:.5;stroke:#6e7781}.l1{stroke-"
                                "width:1.75}.l2{stroke-width:3}";
    json_bytes(out, style, sizeof style - 1);
    for (int i = 0; i < COLOURS; i++)
        put(out, ".c%d{fill:%s;stroke:none}", i, fills[i]);
    put(out, "</style>\n");
}

/* ---- coordinates -------------------------------------------------------------------------------------------- */

/* The natural coordinate of *index, leftmost mode first; false when it does not fit. */
static bool put_coord(char **at, const char *end, const struct la_node *shape, int64_t *index)
{
    if (end - *at < 24)
        return false;
    if (!la_is_tuple(shape)) {
        const int64_t extent = shape->value > 0 ? shape->value : 1; /* an empty mode has no coordinate */
        *at = json_digits(*at, *index % extent);
        *index /= extent;
        return true;
    }
    *(*at)++ = '(';
    const struct la_node *mode = shape + 1;
    for (int64_t i = 0; i < shape->value; i++, mode = la_next(mode)) {
        if (i)
            *(*at)++ = ',';
        if (!put_coord(at, end, mode, index))
            return false;
    }
    *(*at)++ = ')';
    return true;
}

static const char *coord_text(char text[COORD_MAX], const struct la_node *shape, int64_t index)
{
    char *at = text;
    bool fits = put_coord(&at, text + COORD_MAX, shape, &index);
    *(fits ? at : text) = 0;
    return text;
}

static bool is_nested(const struct la_node *shape)
{
    return la_is_tuple(shape) && shape->value > 1;
}

/* ---- parts of the picture ----------------------------------------------------------------------------------- */

static void put_cells(const struct grid *g)
{
    const struct la_table *t = g->table;
    for (int colour = 0; colour < COLOURS; colour++) {
        put(g->out, "<path class=\"c%d\" d=\"", colour);
        for (int64_t r = 0; r < t->rows; r++)
            for (int64_t c = 0; c < t->cols; c++) {
                if (((uint64_t)t->offsets[r * t->cols + c] & (COLOURS - 1)) != (unsigned)colour)
                    continue;
                char text[96], *p = text;
                *p++ = 'M';
                p = json_digits(p, g->x + c * g->width);
                *p++ = ' ';
                p = json_digits(p, g->y + r * g->height);
                *p++ = 'h';
                p = json_digits(p, g->width);
                *p++ = 'v';
                p = json_digits(p, g->height);
                memcpy(p, "h-", 2);
                p = json_digits(p + 2, g->width);
                *p++ = 'z';
                json_bytes(g->out, text, (size_t)(p - text));
            }
        put(g->out, "\"/>\n");
    }
}

static void put_numbers(const struct grid *g)
{
    const struct la_table *t = g->table;
    for (int64_t r = 0; r < t->rows; r++) {
        put(g->out, "<text y=\"%lld\">", (long long)(g->y + r * g->height + g->height / 2 + 5));
        for (int64_t c = 0; c < t->cols; c++) {
            char text[96] = "<tspan x=\"", *p = text + 10;
            p = json_digits(p, g->x + c * g->width + g->width / 2);
            *p++ = '"';
            *p++ = '>';
            p = json_digits(p, t->offsets[r * t->cols + c]);
            memcpy(p, "</tspan>", 8);
            json_bytes(g->out, text, (size_t)(p + 8 - text));
        }
        put(g->out, "</text>\n");
    }
}

/* The level of the line before index i: how many leaf modes have come to their end there. */
static int level_of(const struct la_node *shape, int64_t i)
{
    int64_t period = 1;
    int level = 0;
    for (uint32_t k = 0; k < shape->span && level < LEVELS - 1; k++) {
        if (shape[k].kind != LA_INT || shape[k].value <= 1)
            continue;
        period *= shape[k].value;
        if (i % period)
            break;
        level++;
    }
    return level;
}

static void put_lines(const struct grid *g)
{
    const struct la_table *t = g->table;
    const long long x = g->x, y = g->y, right = x + t->cols * g->width, bottom = y + t->rows * g->height;
    for (int level = 0; level < LEVELS; level++) {
        put(g->out, "<path class=\"l%d\" d=\"", level);
        for (int64_t r = 1; r < t->rows; r++)
            if (level_of(t->row_shape, r) == level)
                put(g->out, "M%lld %lldH%lld", x, (long long)(y + r * g->height), right);
        for (int64_t c = 1; c < t->cols; c++)
            if (level_of(t->col_shape, c) == level)
                put(g->out, "M%lld %lldV%lld", (long long)(x + c * g->width), y, bottom);
        if (level == 1) /* the frame */
            put(g->out, "M%lld %lldH%lldV%lldH%lldz", x, y, right, bottom, x);
        put(g->out, "\"/>\n");
    }
}

static void put_column_headers(const struct grid *g)
{
    const struct la_table *t = g->table;
    const int64_t left = g->x + g->width / 2, y = g->y - 8;
    char coord[COORD_MAX];
    put(g->out, "<text class=\"h\" y=\"%lld\">", (long long)(y - (g->nested_cols ? 13 : 0)));
    for (int64_t c = 0; c < t->cols; c++)
        put(g->out, "<tspan x=\"%lld\">%lld</tspan>", (long long)(left + c * g->width), (long long)c);
    put(g->out, "</text>\n");
    if (!g->nested_cols)
        return;
    put(g->out, "<text class=\"s\" y=\"%lld\">", (long long)y);
    for (int64_t c = 0; c < t->cols; c++)
        put(g->out, "<tspan x=\"%lld\">%s</tspan>", (long long)(left + c * g->width),
            coord_text(coord, t->col_shape, c));
    put(g->out, "</text>\n");
}

static void put_row_headers(const struct grid *g)
{
    const struct la_table *t = g->table;
    const long long right = g->x - 8;
    char coord[COORD_MAX];
    put(g->out, "<text class=\"h r\">");
    for (int64_t r = 0; r < t->rows; r++) {
        const long long y = g->y + r * g->height + g->height / 2 + 5;
        put(g->out, "<tspan x=\"%lld\" y=\"%lld\">%lld", right, y, (long long)r);
        if (g->nested_rows)
            put(g->out, " <tspan class=\"s\">%s</tspan>", coord_text(coord, t->row_shape, r));
        put(g->out, "</tspan>");
    }
    put(g->out, "</text>\n");
}

/* ---- the whole ---------------------------------------------------------------------------------------------- */

static int64_t digits_width(int64_t value)
{
    char digits[20];
    return (json_digits(digits, value) - digits) * DIGIT_WIDTH;
}

static int64_t coord_width(const struct la_node *shape, int64_t last)
{
    char text[COORD_MAX];
    return is_nested(shape) ? (int64_t)strlen(coord_text(text, shape, last)) * SMALL_WIDTH : 0;
}

static int64_t largest(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static struct grid plan(struct json *out, const struct picture *picture)
{
    const struct la_table *t = picture->table;
    struct grid g = {.out = out, .table = t, .height = CELL_HEIGHT};
    g.nested_rows = is_nested(t->row_shape);
    g.nested_cols = is_nested(t->col_shape);
    int64_t widest = largest(digits_width(picture->highest), digits_width(picture->lowest));
    widest = largest(widest, largest(digits_width(t->cols - 1), coord_width(t->col_shape, t->cols - 1)));
    g.width = largest(widest + 10, 34);
    g.x = MARGIN + digits_width(t->rows - 1) + coord_width(t->row_shape, t->rows - 1) + 8 +
          (g.nested_rows ? 8 : 0);
    g.y = MARGIN + TITLE_HEIGHT + (g.nested_cols ? 30 : 18);
    return g;
}

void render_svg(struct json *out, const struct picture *picture)
{
    struct grid g = plan(out, picture);
    int64_t title = (int64_t)strlen(picture->title) * DIGIT_WIDTH + 2 * MARGIN;
    long long width = largest(g.x + g.table->cols * g.width + MARGIN, title);
    long long height = g.y + g.table->rows * g.height + MARGIN;
    put(out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%lld\" height=\"%lld\" viewBox=\"0 0 %lld %lld\" "
        "role=\"img\">\n<title>",
        width, height, width, height);
    put_escaped(out, picture->title);
    put(out, "</title>\n");
    put_style(out);
    put(out, "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n<text class=\"t\" x=\"%d\" y=\"%d\">",
        MARGIN, MARGIN + 14);
    put_escaped(out, picture->title);
    put(out, "</text>\n");
    put_cells(&g);
    put_numbers(&g);
    put_lines(&g);
    put_column_headers(&g);
    put_row_headers(&g);
    put(out, "</svg>\n");
}
