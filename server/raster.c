/* raster.c: SVG as PNG and PDF, with librsvg and cairo.
 *
 * They are opened at run time, as gpu/ opens NVIDIA's libraries: a machine without them runs everything else. No header
 * of theirs is needed: the few functions are declared here, in one list. The SVG is ours, it links to nothing, and librsvg
 * is given no base address, so it reads no file. The same picture gives the same bytes, so a PDF is dated at a fixed
 * time. */
#include "raster.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct handle;
struct surface;
struct cairo;

/* RsvgRectangle */
struct rectangle {
    double x, y, width, height;
};

/* A cairo_write_func_t; it returns CAIRO_SUCCESS. */
#define WRITER(name) int (*name)(void *out, const unsigned char *data, unsigned len)

#define CALLS(X) \
    X(struct handle *, rsvg_handle_new_from_data, (const uint8_t *data, size_t len, void **error)) \
    X(int, rsvg_handle_render_document, \
      (struct handle * handle, struct cairo * cr, const struct rectangle *viewport, void **error)) \
    X(void, g_object_unref, (void *object)) \
    X(struct surface *, cairo_image_surface_create, (int format, int width, int height)) \
    X(struct surface *, cairo_pdf_surface_create_for_stream, \
      (WRITER(write), void *out, double width, double height)) \
    X(void, cairo_pdf_surface_set_metadata, (struct surface * surface, int metadata, const char *text)) \
    X(int, cairo_surface_write_to_png_stream, (struct surface * surface, WRITER(write), void *out)) \
    X(void, cairo_surface_finish, (struct surface * surface)) \
    X(int, cairo_surface_status, (struct surface * surface)) \
    X(void, cairo_surface_destroy, (struct surface * surface)) \
    X(struct cairo *, cairo_create, (struct surface * surface)) \
    X(int, cairo_status, (struct cairo * cr)) \
    X(void, cairo_destroy, (struct cairo * cr))

#define FIELD(type, name, args) type(*name) args;
struct api {
    CALLS(FIELD)
};

/* Values of cairo's and librsvg's enums. */
enum {
    CAIRO_SUCCESS = 0,
    CAIRO_WRITE_ERROR = 11,
    CAIRO_RGB24 = 1,
    CAIRO_PDF_TITLE = 0,
    CAIRO_PDF_CREATE_DATE = 5
};
#define FIXED_DATE "2026-01-01T00:00:00Z"
#define POINTS_OF_UNIT 0.75 /* 72 to the inch, 96 units to the inch */

static struct api api;
static bool is_open;

static bool open_api(const char **why)
{
    struct symbol {
        const char *name;
        void **slot;
    };
#define SYMBOL(type, name, args) {#name, (void **)&api.name},
    const struct symbol symbols[] = {CALLS(SYMBOL)};
    /* cairo and GLib are what librsvg is linked with: dlsym finds their functions through it. */
    void *library = dlopen("librsvg-2.so.2", RTLD_NOW | RTLD_LOCAL);
    *why = "librsvg is not on this machine: install the package librsvg2-2 (Debian, Ubuntu), or ask for svg";
    if (!library)
        return false;
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        *symbols[i].slot = dlsym(library, symbols[i].name);
        if (!*symbols[i].slot) {
            *why =
                "librsvg on this machine is older than 2.46: update the package librsvg2-2, or ask for svg";
            return false;
        }
    }
    return true;
}

bool raster_open(const char **why)
{
    is_open = is_open || open_api(why);
    return is_open;
}

static int write_to_file(void *out, const unsigned char *data, unsigned len)
{
    return fwrite(data, 1, len, out) == len ? CAIRO_SUCCESS : CAIRO_WRITE_ERROR;
}

static struct surface *make_surface(const struct raster *what, FILE *out)
{
    if (what->type == RASTER_PNG)
        return api.cairo_image_surface_create(CAIRO_RGB24, (int)(what->width * what->scale + 0.5),
                                              (int)(what->height * what->scale + 0.5));
    struct surface *surface = api.cairo_pdf_surface_create_for_stream(
        write_to_file, out, what->width * POINTS_OF_UNIT, what->height * POINTS_OF_UNIT);
    api.cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_TITLE, what->title);
    api.cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_CREATE_DATE, FIXED_DATE);
    return surface;
}

static bool draw_document(const struct raster *what, struct surface *surface)
{
    const double scale = what->type == RASTER_PNG ? what->scale : POINTS_OF_UNIT;
    const struct rectangle page = {0, 0, what->width * scale, what->height * scale};
    struct handle *handle = api.rsvg_handle_new_from_data((const uint8_t *)what->svg, what->len, NULL);
    if (!handle)
        return false;
    struct cairo *cr = api.cairo_create(surface);
    const bool ok = api.rsvg_handle_render_document(handle, cr, &page, NULL) &&
                    api.cairo_status(cr) == CAIRO_SUCCESS;
    api.cairo_destroy(cr);
    api.g_object_unref(handle);
    return ok;
}

bool raster_draw(const struct raster *what, char **data, size_t *size)
{
    *data = NULL;
    FILE *out = open_memstream(data, size);
    if (!out)
        return false;
    struct surface *surface = make_surface(what, out);
    bool ok = draw_document(what, surface);
    if (ok && what->type == RASTER_PNG)
        ok = api.cairo_surface_write_to_png_stream(surface, write_to_file, out) == CAIRO_SUCCESS;
    api.cairo_surface_finish(surface);
    ok = ok && api.cairo_surface_status(surface) == CAIRO_SUCCESS;
    api.cairo_surface_destroy(surface);
    ok = fclose(out) == 0 && ok;
    if (ok)
        return true;
    free(*data);
    *data = NULL;
    return false;
}
