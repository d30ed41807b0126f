/* render.h: pictures of a grid of offsets. */
#ifndef RENDER_H
#define RENDER_H

#include "json.h"

struct picture {
    const char *title; /* the layout in CuTe's spelling */
    const struct la_table *table;
    int64_t lowest, highest; /* of the offsets */
};

/* Write the picture at the end of `out`. */
void render_svg(struct json *out, const struct picture *picture);
void render_txt(struct json *out, const struct picture *picture);

#endif
