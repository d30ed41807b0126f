/* raster.h: SVG as PNG and PDF, with librsvg and cairo where they are installed. */
#ifndef RASTER_H
#define RASTER_H

#include <stdbool.h>
#include <stddef.h>

/* Pixels of a PNG at most: 64 MiB while it is drawn. */
#define RASTER_PIXELS_MAX (16 << 20)

enum raster_type { RASTER_PNG, RASTER_PDF };

/* True when the libraries are there; else *why says what to install. Asked anew each time, so that who installs them
 * need not restart the daemon. */
bool raster_open(const char **why);

struct raster {
    enum raster_type type;
    const char *svg;
    size_t len;
    double width, height; /* of the document in its units, a 96th of an inch each */
    double scale;         /* of a PNG: pixels of a unit */
    const char *title;    /* of a PDF */
};

/* Draw after raster_open. The bytes are the caller's, to be freed; false when they could not be made. One at a time: the
 * memory of a drawing is not the arena's. */
bool raster_draw(const struct raster *what, char **data, size_t *size);

#endif
