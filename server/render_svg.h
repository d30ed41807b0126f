/* render_svg.h: what render_svg.c and render_heads.c share. */
#ifndef RENDER_SVG_H
#define RENDER_SVG_H

#include "render.h"

/* An SVG in the making. */
struct drawing {
    struct json *out;
    const struct picture *picture;
    const struct chrome *chrome;
    int64_t cell_w, cell_h;
    int64_t x[2], y[2]; /* where the cells of panels begin */
    int64_t width, height, title_y;
};

enum { CHAR_WIDTH_HEAD = 7, HEAD_GAP = 4 }; /* of the headers' font, rounded up; between headers and cells */
/* Room for the headers of a panel, beside its cells. */
int64_t heads_left(const struct panel *panel);
int64_t heads_top(const struct panel *panel);
void put_heads(const struct drawing *d, const struct panel *panel);

#endif
