/* render.h: pictures of layouts. /render makes a picture of a value, and a format writes it.
 *
 *     render.c         the endpoint: its fields, the formats and their limits
 *     render_grid.c    a layout as a grid of cells, or as lines of memory
 *     render_modes.c   which modes are its rows and its columns
 *     render_tv.c      who has which element of a tile: TV layouts, tiled copies and MMAs
 *     render_color.c   the palettes of the page         render_label.c   what is written in a cell
 *     render_svg.c     SVG                              render_heads.c   its headers
 *     render_tex.c     TikZ       render_txt.c   text   raster.c         SVG as PNG and PDF
 *
 * A picture is one panel or more: an MMA is A, B and C, side by side as CuTe draws them. All formats draw the same
 * cells, labels, colours and borders. */
#ifndef RENDER_H
#define RENDER_H

#include "json.h"

/* What is written in a cell, and what its colour follows: the same choices as on the page. */
enum labels { LABEL_OFFSET, LABEL_INDEX, LABEL_COORD, LABEL_TV, LABEL_BANK, LABEL_NONE };
enum colors {
    COLOR_OFFSET,
    COLOR_TILE,
    COLOR_DIV,
    COLOR_MOD,
    COLOR_MODE0,
    COLOR_MODE1,
    COLOR_BANK,
    COLOR_GRAYS,
    COLOR_HUES
};
extern const char *const label_names[], *const color_names[]; /* up to NULL */

enum { BANK_BYTES = 4, SECTOR_BYTES = 32, LINE_BYTES = 128 };

struct look {
    enum labels labels;
    enum colors colors;
    int64_t n;      /* threads, of an offset that is thread + n * value; the N of COLOR_DIV and COLOR_MOD */
    int64_t bytes;  /* of an element: 1, 2, 4, 8 or 16 */
    bool is_thread; /* grays and hues follow the thread, not the offset */
    bool dark;
};

enum { PALETTE_MAX = 256 };
struct palette {
    uint32_t n;
    uint32_t rgb[PALETTE_MAX];
    bool light_ink[PALETTE_MAX]; /* text on it is white, not black */
};

/* More than one step along a mode needs an extent of 2, so 63 levels hold any mode of 2^63 cells. */
enum { AXIS_LEVELS_MAX = 64 };

/* A leaf of a mode's shape: every `step` cells its digit goes on, modulo n. Also a band of headers: */
struct level {
    int64_t n, step;  /* n = 0: not a digit but the whole index */
    int64_t factor;   /* what a step counts for */
    const char *name; /* of a band, or NULL */
};

/* The rows or the columns of a panel. Levels have borders; bands are headers, from the cells outward. */
struct axis {
    int64_t n;
    uint32_t level_count, band_count;
    struct level level[AXIS_LEVELS_MAX], band[AXIS_LEVELS_MAX];
    const int64_t *names; /* what stands in the first band instead of 0, 1, 2 ...; or NULL */
    const int64_t
        *folded; /* how many lines of memory a row without cells stands for, 0: it has cells; or NULL */
};

struct panel {
    const char *caption; /* or NULL */
    int across, down;    /* its place among the panels: 0 or 1 */
    struct axis rows, cols;
    const struct la_node *shape; /* of the indices, for coordinates */
    const int64_t *offsets;      /* row by row, as are all arrays */
    const int64_t *index;        /* NULL: row + rows * col */
    const uint32_t *times;       /* how many have the cell: 0: nobody; NULL: one each */
    uint8_t *color;              /* in the palette */
    int64_t lowest, highest;     /* of the offsets */
    int64_t last;                /* the greatest index */
    bool has_marks;              /* cells are marked with times where that is above 1 */
};

enum { PANELS_MAX = 3 };
struct picture {
    const char *title;   /* the layout in CuTe's spelling */
    const char *note;    /* what else must be known to read it, or NULL */
    const char *comment; /* the whole value in CuTe's spelling, perhaps of several lines */
    struct look look;
    struct palette palette;
    uint32_t n;
    struct panel panel[PANELS_MAX];
};

static inline int64_t panel_cells(const struct panel *p)
{
    return p->rows.n * p->cols.n;
}
static inline int64_t panel_index(const struct panel *p, int64_t row, int64_t col)
{
    return p->index ? p->index[row * p->cols.n + col] : row + p->rows.n * col;
}
/* Is there something in the cell? */
static inline bool panel_has(const struct panel *p, int64_t cell)
{
    return !p->times || p->times[cell];
}
static inline int64_t max_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}
/* Rounded down, also below 0. */
static inline int64_t floor_div(int64_t a, int64_t n)
{
    return a / n - (a % n < 0);
}
static inline int64_t floor_mod(int64_t a, int64_t n)
{
    return a % n < 0 ? a % n + n : a % n;
}

/* ---- making a picture; they fail with la_fail ---- */

/* A picture without panels yet, in the colours of its look. */
void picture_begin(struct la_ctx *cx, struct picture *p, const struct la_value *value,
                   const struct look *look);
/* A layout as a grid of cells, or in the order of memory; NULL: mode 0 down and the others across. */
struct arrangement;
void picture_grid(struct la_ctx *cx, struct picture *p, struct la_layout layout,
                  const struct arrangement *modes, int64_t max_cells);
void picture_memory(struct la_ctx *cx, struct picture *p, struct la_layout layout,
                    const struct arrangement *modes, int64_t max_cells);
/* Threads and values: of a TV layout over a tile (NULL: one row), or of a tiled copy or MMA. An operand is one of
 * S, D, A, B, C; 0: all that the value has. */
bool picture_has_operand(const struct la_value *value, char operand);
void picture_tv(struct la_ctx *cx, struct picture *p, const struct la_value *value,
                const struct la_node *tile, char operand);

/* The levels of an axis along a shape, and its bands: index and digits, or only the index. */
void axis_of(struct axis *axis, const struct la_node *shape, int64_t n);

/* ---- render_modes.c ---- */

/* Which modes are rows, which columns, and where the others stand still. */
struct arrangement {
    const char *text;
    struct la_axes axes; /* all modes: rows; columns, then those that stand still */
    uint32_t n_steps;
    const int64_t *at; /* of each that stands still */
};
/* Read "r,c,3", a letter or a number a mode; false with *wrong, a sentence. */
bool arrangement_read(struct la_ctx *cx, const char *text, const struct la_node *shape,
                      struct arrangement *out, const char **wrong);
/* Cut from a table along `axes` what is seen, in place; gives the index of each cell. */
const int64_t *arrangement_see(struct la_ctx *cx, const struct arrangement *modes,
                               const struct la_node *shape, struct la_table *table);

/* ---- render_color.c ---- */

void palette_of(struct palette *palette, const struct look *look);

/* Fill the colours of a panel; a tile, for COLOR_TILE, has first_row x first_col cells. */
void panel_color(struct la_ctx *cx, const struct look *look, int64_t first_row, int64_t first_col,
                 struct panel *p);

/* The bank of an offset. */
int64_t bank_of(int64_t offset, int64_t bytes);

/* The colours around the cells. */
struct chrome {
    const char *paper, *line, *line_opacity, *nest, *text, *strong, *row, *col, *gap,
        *blank; /* of a cell that nobody has */
};
const struct chrome *chrome_of(const struct look *look);

/* ---- render_label.c ---- */

enum {
    LABEL_LINES = 2,
    LABEL_MAX = 128 /* bytes of a line; a longer coordinate is left out */
};
/* Line `line` of a cell's label; returns the end. */
char *label_line(const struct picture *p, const struct panel *panel, int64_t row, int64_t col, int line,
                 char out[LABEL_MAX]);
/* The whole label in one line, for text. */
char *label_text(const struct picture *p, const struct panel *panel, int64_t row, int64_t col,
                 char out[LABEL_MAX]);
/* Lines of the labels, and characters of the longest. */
int label_lines(const struct picture *p);
int64_t label_chars(const struct picture *p);
/* What stands in band b at its k-th step. */
int64_t band_value(const struct axis *axis, uint32_t b, int64_t k);
/* Characters of the longest of them. */
int64_t band_chars(const struct axis *axis, uint32_t b);
int64_t digits_of(int64_t value);

/* ---- writing ---- */

/* A printf, for what is written a few times in a picture; at most 511 bytes. */
void put(struct json *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline void put_text(struct json *out, const char *text)
{
    json_bytes(out, text, __builtin_strlen(text));
}

/* Write the picture at the end of `out`. */
void render_svg(struct json *out, const struct picture *picture);
void render_tex(struct json *out, const struct picture *picture);
void render_txt(struct json *out, const struct picture *picture);
/* The size of the SVG in its units, pixels of a screen. */
void render_size(const struct picture *picture, int64_t *width, int64_t *height);

#endif
