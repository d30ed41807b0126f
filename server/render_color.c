/* render_color.c: from a cell to a colour, the same colours as on the page (color.js of the page, whose test holds the
 * two against each other).
 *
 * All schemes but CuTe's own are safe for colour-blind eyes: the ramp rises in lightness alone, the classes are Paul
 * Tol's "light" scheme, made for black text on them. A colour is a small integer, an entry of the palette, so that a
 * million cells are one look-up each. */
#include "render.h"

#include <math.h>

const char *const color_names[] = {"offset", "tile", "div",   "mod",  "mode0",
                                   "mode1",  "bank", "grays", "hues", NULL};

enum {
    RAMP_STEPS = PALETTE_MAX,
    CLASSES = 64, /* eight hues, each in eight steps of which four are distinct shades */
    BANKS = 32,
    CUTE_COLORS = 8,
    DARK_INK_FROM = 179 /* thousandths of luminance at which both inks have the same contrast, 4.6 */
};

struct lch {
    double lightness, chroma, hue;
};

static double between(double from, double to, double t)
{
    return from + (to - from) * t;
}

static uint32_t rgb_of(double r, double g, double b)
{
    return (uint32_t)floor(r + 0.5) << 16 | (uint32_t)floor(g + 0.5) << 8 | (uint32_t)floor(b + 0.5);
}

static double channel(uint32_t rgb, int shift)
{
    return (double)(rgb >> shift & 255);
}

/* From linear light to a byte of sRGB. */
static double encoded(double u)
{
    const double v = u <= 0.0031308 ? 12.92 * u : 1.055 * pow(u, 1 / 2.4) - 0.055;
    return 255 * fmin(1, fmax(0, v));
}

/* OKLCH to sRGB: Ottosson's matrices. */
static uint32_t rgb_of_lch(struct lch c)
{
    const double radians = c.hue * M_PI / 180, a = c.chroma * cos(radians), b = c.chroma * sin(radians);
    const double x = pow(c.lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
    const double y = pow(c.lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
    const double z = pow(c.lightness - 0.0894841775 * a - 1.291485548 * b, 3);
    return rgb_of(encoded(4.0767416621 * x - 3.3077115913 * y + 0.2309699292 * z),
                  encoded(-1.2684380046 * x + 2.6097574011 * y - 0.3413193965 * z),
                  encoded(-0.0041960863 * x - 0.7034186147 * y + 1.707614701 * z));
}

static double linear(double byte)
{
    const double u = byte / 255;
    return u <= 0.04045 ? u / 12.92 : pow((u + 0.055) / 1.055, 2.4);
}

static bool needs_light_ink(uint32_t rgb)
{
    const double luminance = 0.2126 * linear(channel(rgb, 16)) + 0.7152 * linear(channel(rgb, 8)) +
                             0.0722 * linear(channel(rgb, 0));
    return luminance * 1000 <= DARK_INK_FROM;
}

/* ---- palettes ----------------------------------------------------------------------------------------------- */

/* Low offsets are near the paper, in either theme. */
static void make_ramp(struct palette *p, bool dark)
{
    static const struct lch ends[2][2] = {{{0.972, 0.035, 108}, {0.52, 0.125, 252}},
                                          {{0.29, 0.06, 268}, {0.86, 0.11, 108}}};
    const struct lch low = ends[dark][0], high = ends[dark][1];
    p->n = RAMP_STEPS;
    for (uint32_t i = 0; i < p->n; i++) {
        const double t = (double)i / (RAMP_STEPS - 1);
        p->rgb[i] = rgb_of_lch((struct lch){between(low.lightness, high.lightness, t),
                                            between(low.chroma, high.chroma, t),
                                            between(low.hue, high.hue, t)});
    }
}

/* For banks, which wrap around: hue turns once, lightness rises and falls once. */
static void make_wheel(struct palette *p, bool dark)
{
    p->n = BANKS;
    for (uint32_t i = 0; i < p->n; i++) {
        const double turn = (double)i / BANKS, swing = 1 - fabs(2 * turn - 1);
        p->rgb[i] = rgb_of_lch(dark ? (struct lch){0.34 + 0.3 * swing, 0.08, 260 + 360 * turn}
                                    : (struct lch){0.93 - 0.27 * swing, 0.085, 80 + 360 * turn});
    }
}

/* Eight hues, then the same a shade nearer to the paper, four shades in all. */
static void make_classes(struct palette *p, bool dark)
{
    static const uint32_t tol[] = {0x77aadd, 0xee8866, 0xeedd88, 0xffaabb,
                                   0x99ddff, 0x44bb99, 0xbbcc33, 0xaaaa00};
    const uint32_t paper = dark ? 0x12161c : 0xffffff;
    p->n = CLASSES;
    for (uint32_t k = 0; k < p->n; k++) {
        const uint32_t hue = tol[k % 8];
        const double shade = (dark ? 0.46 : 0.28) + 0.12 * (k / 8 % 4);
        p->rgb[k] = rgb_of(between(channel(hue, 16), channel(paper, 16), shade),
                           between(channel(hue, 8), channel(paper, 8), shade),
                           between(channel(hue, 0), channel(paper, 0), shade));
    }
}

/* CuTe's print_latex: TikzColor_BWx8 and TikzColor_TV. */
static void make_cute(struct palette *p, bool hues)
{
    static const uint32_t grays[] = {0xffffff, 0x999999, 0xcccccc, 0x666666,
                                     0xe6e6e6, 0x808080, 0xb3b3b3, 0x4d4d4d};
    static const uint32_t colors[] = {0xafafff, 0xafffaf, 0xffffaf, 0xffafaf,
                                      0xd2d2ff, 0xd2ffd2, 0xffffd2, 0xffd2d2};
    p->n = CUTE_COLORS;
    for (uint32_t i = 0; i < p->n; i++)
        p->rgb[i] = hues ? colors[i] : grays[i];
}

void palette_of(struct palette *p, const struct look *look)
{
    switch (look->colors) {
    case COLOR_OFFSET:
        make_ramp(p, look->dark);
        break;
    case COLOR_BANK:
        make_wheel(p, look->dark);
        break;
    case COLOR_GRAYS:
    case COLOR_HUES:
        make_cute(p, look->colors == COLOR_HUES);
        break;
    case COLOR_TILE:
    case COLOR_DIV:
    case COLOR_MOD:
    case COLOR_MODE0:
    case COLOR_MODE1:
        make_classes(p, look->dark);
    }
    for (uint32_t i = 0; i < p->n; i++)
        p->light_ink[i] = needs_light_ink(p->rgb[i]);
}

const struct chrome *chrome_of(const struct look *look)
{
    static const struct chrome light = {.paper = "#ffffff",
                                        .line = "#141e2d",
                                        .line_opacity = ".2",
                                        .nest = "#39434f",
                                        .text = "#5b6672",
                                        .strong = "#14181d",
                                        .row = "#a14a00",
                                        .col = "#0b5fa5",
                                        .gap = "#d9dde2",
                                        .blank = "#f4f5f7"};
    static const struct chrome dark = {.paper = "#12161c",
                                       .line = "#ffffff",
                                       .line_opacity = ".16",
                                       .nest = "#aab4c0",
                                       .text = "#94a0ad",
                                       .strong = "#f4f6f8",
                                       .row = "#f2a766",
                                       .col = "#7cc0ff",
                                       .gap = "#2a323c",
                                       .blank = "#191f27"};
    return look->dark ? &dark : &light;
}

/* ---- cells -------------------------------------------------------------------------------------------------- */

int64_t bank_of(int64_t offset, int64_t bytes)
{
    if (bytes < BANK_BYTES)
        return floor_mod(floor_div(offset, BANK_BYTES / bytes), BANKS);
    return floor_mod(offset, BANKS) * (bytes / BANK_BYTES) % BANKS;
}

struct scheme {
    const struct look *look;
    double lowest, scale;         /* of the ramp */
    int64_t first_row, first_col; /* of a tile */
    int64_t tiles_down;
};

static int64_t class_of(const struct scheme *s, int64_t offset, int64_t row, int64_t col)
{
    const struct look *look = s->look;
    switch (look->colors) {
    case COLOR_OFFSET:
        return (int64_t)(((double)offset - s->lowest) * s->scale + 0.5);
    case COLOR_TILE:
        return (row / s->first_row + s->tiles_down * (col / s->first_col)) % CLASSES;
    case COLOR_DIV:
        return floor_mod(floor_div(offset, look->n), CLASSES);
    case COLOR_MOD:
        return floor_mod(offset, look->n) % CLASSES;
    case COLOR_MODE0:
        return row % CLASSES;
    case COLOR_MODE1:
        return col % CLASSES;
    case COLOR_BANK:
        return bank_of(offset, look->bytes);
    case COLOR_GRAYS:
    case COLOR_HUES:
        return floor_mod(look->is_thread ? floor_mod(offset, look->n) : offset, CUTE_COLORS);
    }
    return 0;
}

void panel_color(struct la_ctx *cx, const struct look *look, int64_t first_row, int64_t first_col,
                 struct panel *p)
{
    const double span = (double)p->highest - (double)p->lowest;
    const struct scheme s = {.look = look,
                             .lowest = (double)p->lowest,
                             .scale = span > 0 ? (RAMP_STEPS - 1) / span : 0,
                             .first_row = first_row,
                             .first_col = first_col,
                             .tiles_down = p->rows.n / first_row};
    p->color = la_alloc(cx, (size_t)panel_cells(p) + 1);
    for (int64_t row = 0, cell = 0; row < p->rows.n; row++)
        for (int64_t col = 0; col < p->cols.n; col++, cell++)
            p->color[cell] = panel_has(p, cell) ? (uint8_t)class_of(&s, p->offsets[cell], row, col) : 0;
}
