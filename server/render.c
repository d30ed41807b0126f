/* render.c: /render, the picture of a layout as a grid of offsets.
 *
 *     GET /render?expr=(4,8):(8,1)&format=txt
 * Mode 0 is the rows and the others are the columns, as in every table (la_table). A format is a row below and a
 * function that writes text; what it draws with is struct picture. */
#include "render.h"
#include "exchange.h"
#include "pure.h"

#include <string.h>

const struct field render_fields[] = {
    {"expr", FIELD_NOTATION, true, NULL, "A program in CuTe notation whose value is a layout."},
    {"format", FIELD_TEXT, false, NULL, "svg (the default) or txt."},
    FIELD_INTEGERS,
    {0}};

static const struct format {
    const char *name, *type;
    void (*write)(struct json *out, const struct picture *picture);
    size_t cell_bytes,
        header_bytes; /* a guess at what a picture takes: a text that grows costs twice its size */
} formats[] = {
    {"svg", "image/svg+xml", render_svg, 64, 48},
    {"txt", "text/plain; charset=utf-8", render_txt, 20, 12},
};
#define FORMATS (sizeof formats / sizeof *formats)

static const struct format *find_format(struct request *rq)
{
    const char *name = request_field(rq, "format");
    char known[64] = "";
    for (size_t i = 0; i < FORMATS; i++) {
        if (!name || strcmp(formats[i].name, name) == 0)
            return &formats[i];
        strcat(strcat(known, i ? ", " : ""), formats[i].name);
    }
    respond_field_problem(rq, "unknown_name", "format", "there is no format '%s'; there are: %s", name,
                          known);
    return NULL;
}

static void find_range(struct picture *picture)
{
    const struct la_table *t = picture->table;
    for (int64_t i = 0; i < t->rows * t->cols; i++) {
        int64_t offset = t->offsets[i];
        picture->lowest = offset < picture->lowest ? offset : picture->lowest;
        picture->highest = offset > picture->highest ? offset : picture->highest;
    }
}

void handle_render(struct request *rq)
{
    struct la_value value;
    struct la_table table;
    const struct format *format = find_format(rq);
    if (!format || !evaluate_field(rq, "expr", field_integers(rq), &value))
        return;
    if (!make_table(rq, &value, &table)) {
        respond_error(rq, "expr");
        return;
    }
    struct picture picture = {la_print(&rq->cx, &value, LA_SPELL_CUTE), &table, 0, 0};
    find_range(&picture);
    const size_t headers = (size_t)(table.rows + table.cols), cells = (size_t)(table.rows * table.cols);
    struct json out = json_new(&rq->cx, 4096 + cells * format->cell_bytes + headers * format->header_bytes);
    format->write(&out, &picture);
    /* A picture is opened by itself, too: then it may style itself and do nothing else. */
    respond_header(rq, "Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox");
    respond(rq, 200, format->type, out.data, out.len);
}
