/* render.c: /render, the picture of a value.
 *
 *     GET /render?expr=(4,8):(8,1)&view=banks&bytes=2&format=png
 *     GET /render?expr=make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{})&format=tex
 * A view says what is drawn and what its cells say unless `labels` and `colors` say otherwise; a format is a row below
 * and a function that writes text. PNG and PDF are the SVG, drawn by librsvg one picture at a time: that memory is not the
 * request's, so requests wait for their turn, parked, without holding up a thread. */
#include "render.h"
#include "exchange.h"
#include "pure.h"
#include "raster.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    N_MAX = 1 << 20,        /* threads of a label T, V: the page's limit */
    SCALE_MAX = 4,          /* pixels of a unit of a PNG */
    SCALE_LIKED = 2,        /* ... where nothing is asked for and it fits in ... */
    PIXELS_LIKED = 4 << 20, /* ... a screen's worth of them */
    RASTER_LABELS_MAX =
        8192, /* librsvg lays out a line of a label in 0.1 ms: beyond, a PNG or PDF has none */
    RASTER_CELLS_MAX = 1 << 16, /* their paths take librsvg half a second */
    RASTER_SIDE_MAX = 8192,     /* cells; cairo takes the square of the lines between them: 0.8 s */
    PNG_SIDE_MAX = 32767,       /* pixels: cairo's limit */
    TEX_CELLS_MAX = 1 << 12,    /* pdflatex has memory for 8000 nodes and takes 5 ms for each */
    FONT = 13,                  /* the height of a label, in units */
    TURN_MS = 30 * 1000         /* to wait for one's turn */
};

#define LEGIBLE 6.5 /* pixels of a label, at least, as on the page */

/* ---- fields ------------------------------------------------------------------------------------------------- */

enum view { VIEW_OFFSETS, VIEW_INDEX, VIEW_COORDS, VIEW_TV, VIEW_BANKS, VIEW_MEMORY };
static const char *const view_names[] = {"offsets", "index", "coords", "tv", "banks", "memory", NULL};
static const struct {
    enum labels labels;
    enum colors colors;
} views[] = {
    [VIEW_OFFSETS] = {LABEL_OFFSET, COLOR_OFFSET}, [VIEW_INDEX] = {LABEL_INDEX, COLOR_OFFSET},
    [VIEW_COORDS] = {LABEL_COORD, COLOR_OFFSET},   [VIEW_TV] = {LABEL_TV, COLOR_HUES},
    [VIEW_BANKS] = {LABEL_BANK, COLOR_BANK},       [VIEW_MEMORY] = {LABEL_OFFSET, COLOR_OFFSET},
};

static const char *const format_names[] = {"svg", "png", "pdf", "tex", "txt", NULL};
static const struct format {
    const char *type;
    void (*write)(struct json *out, const struct picture *picture);
    int64_t max_cells;
    size_t cell_bytes,
        line_bytes; /* a guess at what a cell and a line of its label take: growing costs twice */
} formats[] = {
    {"image/svg+xml", render_svg, INT64_MAX, 32, 40},
    {"image/png", render_svg, RASTER_CELLS_MAX, 32, 40},
    {"application/pdf", render_svg, RASTER_CELLS_MAX, 32, 40},
    {"text/x-tex; charset=utf-8", render_tex, TEX_CELLS_MAX, 48, 8},
    {"text/plain; charset=utf-8", render_txt, INT64_MAX, 12, 8},
};
enum { FORMAT_PNG = 1, FORMAT_PDF = 2 };

static const char *const operand_names[] = {"S", "D", "A", "B", "C", NULL};
static const char *const theme_names[] = {"light", "dark", NULL};

const struct field render_fields[] = {
    {"expr", FIELD_NOTATION, true, NULL,
     "A program in CuTe notation whose value is a layout, a tiled copy, a tiled MMA or an MMA atom."},
    {"format", FIELD_CHOICE, false, format_names,
     "svg if absent. A png or pdf is drawn without labels where there are more than 8192, or all too small."},
    {"view", FIELD_CHOICE, false, view_names,
     "offsets if absent, and tv of what is no layout. memory: the offsets in order, with gaps and doubles."},
    {"labels", FIELD_CHOICE, false, label_names, "What is written in the cells; the view's own if absent."},
    {"colors", FIELD_CHOICE, false, color_names, "What the colours follow; the view's own if absent."},
    {"modes", FIELD_TEXT, false, NULL,
     "Of a layout, a letter or a place a mode: r,c,3 has mode 0 down, mode 1 across, mode 2 at 3."},
    {"tile", FIELD_NOTATION, false, NULL,
     "With the view tv of a TV layout: the extents of the tile; one row if absent."},
    {"operand", FIELD_CHOICE, false, operand_names,
     "With a tiled copy S or D, with an MMA A, B, C or D: only this one; all if absent."},
    {"n", FIELD_INT, false, NULL, "The N of the labels tv and the colours div and mod; 32 if absent."},
    {"bytes", FIELD_INT, false, NULL,
     "Bytes of an element, for banks and memory: 1, 2, 4 (if absent), 8, 16."},
    {"theme", FIELD_CHOICE, false, theme_names, "light if absent."},
    {"scale", FIELD_INT, false, NULL,
     "Pixels of a unit of a png, 1 to 4; 2, or less for a large one, if absent."},
    FIELD_INTEGERS,
    {0}};

/* The place of a FIELD_CHOICE among its choices; `otherwise` when absent. */
static int choice_of(struct request *rq, const char *name, const char *const *choices, int otherwise)
{
    const char *text = request_field(rq, name);
    for (int i = 0; text && choices[i]; i++)
        if (strcmp(choices[i], text) == 0)
            return i;
    return otherwise;
}

static bool read_int(struct request *rq, const char *name, int64_t otherwise, int64_t most, int64_t *out)
{
    *out = field_int(rq, name, otherwise);
    if (*out >= 1 && *out <= most)
        return true;
    respond_field_problem(rq, "bad_field", name, "'%s' must be from 1 to %lld", name, (long long)most);
    return false;
}

/* What a request asks for. */
struct rendering {
    struct request *rq;
    int format;
    enum view view;
    int64_t scale; /* 0: as it fits */
    char operand;  /* or 0 */
    struct look look;
    struct la_value value;
    const struct la_node *tile;      /* or NULL */
    const struct arrangement *modes; /* or NULL */
};

static bool read_look(struct rendering *r)
{
    struct request *rq = r->rq;
    struct look *look = &r->look;
    const bool is_layout = r->value.kind & LA_K_ANYLAYOUT;
    r->view = (enum view)choice_of(rq, "view", view_names, is_layout ? VIEW_OFFSETS : VIEW_TV);
    look->labels = (enum labels)choice_of(rq, "labels", label_names, (int)views[r->view].labels);
    look->colors = (enum colors)choice_of(rq, "colors", color_names, (int)views[r->view].colors);
    look->dark = choice_of(rq, "theme", theme_names, 0) == 1;
    if (!read_int(rq, "n", 32, N_MAX, &look->n) || !read_int(rq, "bytes", 4, 16, &look->bytes))
        return false;
    if (look->bytes & (look->bytes - 1)) {
        respond_field_problem(rq, "bad_field", "bytes", "'bytes' must be 1, 2, 4, 8 or 16");
        return false;
    }
    return true;
}

static bool read_operand(struct rendering *r)
{
    const char *text = request_field(r->rq, "operand");
    r->operand = text ? *text : 0;
    if (picture_has_operand(&r->value, r->operand))
        return true;
    respond_field_problem(r->rq, "bad_field", "operand",
                          "a tiled copy has S and D, an MMA has A, B, C and D; the value is %s",
                          la_kinds_text(&r->rq->cx, r->value.kind));
    return false;
}

static bool read_tile(struct rendering *r, enum la_integers integers)
{
    struct request *rq = r->rq;
    struct la_value tile;
    r->tile = NULL;
    if (!field_notation(rq, "tile"))
        return true;
    if (!evaluate_field(rq, "tile", integers, &tile))
        return false;
    if (r->view != VIEW_TV || !(r->value.kind & LA_K_ANYLAYOUT) || !(tile.kind & LA_K_INTTUPLE)) {
        respond_field_problem(rq, "bad_field", "tile",
                              "'tile' is the extents of a tile, like (8,16), with the view tv of a layout");
        return false;
    }
    r->tile = tile.tuple;
    return true;
}

static bool read_modes(struct rendering *r)
{
    struct request *rq = r->rq;
    const char *text = request_field(rq, "modes"), *wrong = "they go with a layout, and with any view but tv";
    struct arrangement *modes = la_alloc(&rq->cx, sizeof *modes);
    r->modes = text ? modes : NULL;
    if (!text || (r->view != VIEW_TV && r->value.kind & LA_K_ANYLAYOUT &&
                  arrangement_read(&rq->cx, text, r->value.layout.shape, modes, &wrong)))
        return true;
    respond_field_problem(rq, "bad_field", "modes", "'modes' does not fit: %s", wrong);
    return false;
}

static bool read_fields(struct rendering *r)
{
    struct request *rq = r->rq;
    const char *texts[] = {field_notation(rq, "expr"), field_notation(rq, "tile")};
    const enum la_integers integers = integers_of(rq, texts, 2);
    r->format = choice_of(rq, "format", format_names, 0);
    r->scale = 0;
    if (request_field(rq, "scale") && !read_int(rq, "scale", 1, SCALE_MAX, &r->scale))
        return false;
    return evaluate_field(rq, "expr", integers, &r->value) && read_look(r) && read_operand(r) &&
           read_tile(r, integers) && read_modes(r);
}

/* ---- the picture -------------------------------------------------------------------------------------------- */

static int64_t picture_cells(const struct picture *p)
{
    int64_t cells = 0;
    for (uint32_t i = 0; i < p->n; i++)
        cells += panel_cells(&p->panel[i]);
    return cells;
}

static bool is_raster(const struct rendering *r)
{
    return r->format == FORMAT_PNG || r->format == FORMAT_PDF;
}

static void make_panels(const struct rendering *r, struct picture *p)
{
    struct la_ctx *cx = &r->rq->cx;
    const int64_t max_cells = r->rq->server->options.max_cells;
    if (r->view == VIEW_TV)
        picture_tv(cx, p, &r->value, r->tile, r->operand);
    else if (!(r->value.kind & LA_K_ANYLAYOUT))
        la_fail(cx, LA_E_kind, "the view '%s' needs a layout; the value is %s", view_names[r->view],
                la_kinds_text(cx, r->value.kind));
    else if (r->view == VIEW_MEMORY)
        picture_memory(cx, p, r->value.layout, r->modes, max_cells);
    else
        picture_grid(cx, p, r->value.layout, r->modes, max_cells);
}

/* Pixels of a unit of a PNG: 2, 1 of a large picture, and as many as can be of a larger one. */
static double liked_scale(const struct picture *p)
{
    int64_t width, height;
    render_size(p, &width, &height);
    const double units = (double)width * (double)height, side = (double)max_of(width, height);
    if (units * SCALE_LIKED * SCALE_LIKED <= PIXELS_LIKED && side * SCALE_LIKED <= PNG_SIDE_MAX)
        return SCALE_LIKED;
    return fmin(1, fmin(sqrt(RASTER_PIXELS_MAX / units), PNG_SIDE_MAX / side));
}

static void check_size(const struct rendering *r, const struct picture *p)
{
    const long long cells = picture_cells(p), limit = formats[r->format].max_cells;
    long long side = 0;
    for (uint32_t i = 0; i < p->n; i++)
        side = max_of(side, max_of(p->panel[i].rows.n, p->panel[i].cols.n));
    if (cells > limit)
        la_fail(&r->rq->cx, LA_E_limit,
                "a picture of %lld cells is above the limit of %lld for %s; ask for svg or txt", cells, limit,
                format_names[r->format]);
    if (is_raster(r) && side > RASTER_SIDE_MAX)
        la_fail(&r->rq->cx, LA_E_limit,
                "a picture with a side of %lld cells is above the limit of %d for %s; ask for svg or txt",
                side, RASTER_SIDE_MAX, format_names[r->format]);
}

static void make_picture(const struct rendering *r, struct picture *p)
{
    picture_begin(&r->rq->cx, p, &r->value, &r->look);
    make_panels(r, p);
    check_size(r, p);
    const bool is_small = r->format == FORMAT_PNG && !r->scale && liked_scale(p) * FONT < LEGIBLE;
    if (is_raster(r) && (is_small || picture_cells(p) * label_lines(p) > RASTER_LABELS_MAX))
        p->look.labels = LABEL_NONE;
}

static struct json write_picture(const struct rendering *r, const struct picture *p)
{
    const struct format *format = &formats[r->format];
    const size_t cells = (size_t)picture_cells(p), lines = (size_t)label_lines(p);
    const size_t label = lines * (format->line_bytes + (size_t)label_chars(p));
    struct json out = json_new(&r->rq->cx, 4096 + cells * (format->cell_bytes + label));
    format->write(&out, p);
    return out;
}

/* Pixels of a unit, as was asked for where that is possible. */
static double scale_of(const struct rendering *r, const struct picture *p)
{
    int64_t width, height;
    render_size(p, &width, &height);
    const int64_t w = width * r->scale, h = height * r->scale;
    if (max_of(w, h) > PNG_SIDE_MAX || w * h > RASTER_PIXELS_MAX)
        la_fail(
            &r->rq->cx, LA_E_limit,
            "a PNG of %lld x %lld pixels is above the limits of %d in all and %d a side; ask for a smaller "
            "scale, or for svg",
            (long long)w, (long long)h, RASTER_PIXELS_MAX, PNG_SIDE_MAX);
    return r->scale ? (double)r->scale : liked_scale(p);
}

static void answer_raster(const struct rendering *r, const struct picture *p, const struct json *svg)
{
    int64_t width, height;
    char *data;
    size_t size;
    render_size(p, &width, &height);
    const bool is_png = r->format == FORMAT_PNG;
    const struct raster what = {.type = is_png ? RASTER_PNG : RASTER_PDF,
                                .svg = svg->data,
                                .len = svg->len,
                                .width = (double)width,
                                .height = (double)height,
                                .scale = is_png ? scale_of(r, p) : 1,
                                .title = p->title};
    if (!raster_draw(&what, &data, &size)) {
        respond_problem(r->rq, 500, "internal", "librsvg could not draw the picture; ask for svg");
        return;
    }
    void *copy = la_arena_alloc(r->rq->cx.arena, size);
    if (copy)
        memcpy(copy, data, size);
    free(data);
    if (!copy)
        la_fail(&r->rq->cx, LA_E_limit, "the picture needs more memory than one request may use");
    respond(r->rq, 200, formats[r->format].type, copy, size);
}

struct drawn {
    const struct rendering *r;
    struct picture *picture;
};

static void draw(struct la_ctx *cx, void *arg)
{
    const struct drawn *drawn = arg;
    (void)cx;
    make_picture(drawn->r, drawn->picture);
    const struct json out = write_picture(drawn->r, drawn->picture);
    /* A picture is opened by itself, too: then it may style itself and do nothing else. */
    respond_header(drawn->r->rq, "Content-Security-Policy",
                   "default-src 'none'; style-src 'unsafe-inline'; sandbox");
    if (is_raster(drawn->r))
        answer_raster(drawn->r, drawn->picture, &out);
    else
        respond(drawn->r->rq, 200, formats[drawn->r->format].type, out.data, out.len);
}

static void answer_picture(struct rendering *r)
{
    struct picture *picture = la_alloc(&r->rq->cx, sizeof *picture);
    if (!la_try(&r->rq->cx, draw, &(struct drawn){r, picture}))
        respond_error(r->rq, "expr");
}

/* ---- turns -------------------------------------------------------------------------------------------------- */

static atomic_flag is_drawing = ATOMIC_FLAG_INIT;

static uint64_t turn_topic(void)
{
    return (uint64_t)(uintptr_t)&is_drawing;
}

/* A picture that librsvg draws; waits for the one before it. */
static void answer_in_turn(struct rendering *r)
{
    struct request *rq = r->rq;
    const uint64_t epoch = http_epoch(rq->server);
    const char *why;
    if (atomic_flag_test_and_set(&is_drawing)) {
        request_park(rq, turn_topic(), epoch, TURN_MS);
        return;
    }
    if (raster_open(&why))
        answer_picture(r);
    else
        respond_field_problem(rq, "not_implemented", "format", "%s", why);
    atomic_flag_clear(&is_drawing);
    http_wake(rq->server, turn_topic());
}

void handle_render(struct request *rq)
{
    struct rendering r = {.rq = rq};
    if (!read_fields(&r))
        return;
    if (is_raster(&r))
        answer_in_turn(&r);
    else
        answer_picture(&r);
}
