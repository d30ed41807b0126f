/* picture_read.h: pictures read back, to be held against what they should show.
 *
 * The SVG reader knows what render_svg.c writes and no more: paths of M x y h w v h h -w z, texts of tspans. PNG is read as
 * cairo writes it (8 bits, RGB or RGBA), PPM as pdftoppm writes it. */
#ifndef PICTURE_READ_H
#define PICTURE_READ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* ---- SVG ---------------------------------------------------------------------------------------------------- */

enum { SEEN_PANELS = 3, SEEN_TEXT = 136 };

struct seen_rect {
    long x, y, w, h;
    unsigned rgb;
};
struct seen_text {
    long x, y;
    char class[8], text[SEEN_TEXT];
};
struct seen {
    unsigned frames;
    struct seen_rect frame[SEEN_PANELS]; /* of the panels, in order */
    size_t rects, texts;
    struct seen_rect *rect;
    struct seen_text *text;
};

static inline void *seen_grow(void *items, size_t count, size_t size)
{
    if (count & (count - 1)) /* it doubles at powers of two */
        return items;
    void *more = realloc(items, (count ? 2 * count : 1) * size);
    if (!more)
        abort();
    return more;
}

/* The rectangles of a path, up to the quote that ends it. */
static inline const char *seen_path(struct seen *s, const char *d, unsigned rgb, bool is_frame)
{
    struct seen_rect r = {.rgb = rgb};
    int n = 0;
    while (sscanf(d, "M%ld %ldh%ldv%ldh%*dz%n", &r.x, &r.y, &r.w, &r.h, &n) == 4 && n) {
        if (is_frame && s->frames < SEEN_PANELS)
            s->frame[s->frames++] = r;
        if (!is_frame) {
            s->rect = seen_grow(s->rect, s->rects, sizeof *s->rect);
            s->rect[s->rects++] = r;
        }
        d += n;
        n = 0;
    }
    return d;
}

static inline void seen_attributes(const char *tag, const char *end, struct seen_text *out)
{
    const char *at;
    if ((at = strstr(tag, " x=\"")) && at < end)
        out->x = atol(at + 4);
    if ((at = strstr(tag, " y=\"")) && at < end)
        out->y = atol(at + 4);
    if (!out->class[0] && (at = strstr(tag, "class=\"")) && at < end) /* of a span within a class, the ink */
        sscanf(at + 7, "%7[^\"]", out->class);
}

static inline struct seen svg_read(const char *svg)
{
    struct seen s = {0};
    struct seen_text outer = {0};
    static const char fill[] = "<path style=\"fill:#",
                      frame[] = "<path class=\"nest\" stroke-width=\"1.25\" d=\"";
    for (const char *p = strchr(svg, '<'); p; p = strchr(p + 1, '<')) {
        const char *end = strchr(p, '>');
        if (strncmp(p, fill, sizeof fill - 1) == 0) {
            seen_path(&s, strstr(p, " d=\"") + 4, (unsigned)strtoul(p + sizeof fill - 1, NULL, 16), false);
        } else if (strncmp(p, frame, sizeof frame - 1) == 0) {
            seen_path(&s, p + sizeof frame - 1, 0, true);
        } else if (strncmp(p, "<text", 5) == 0 || strncmp(p, "<tspan", 6) == 0) {
            const bool is_span = p[2] == 's';
            struct seen_text inner = is_span ? outer : (struct seen_text){0};
            seen_attributes(p, end, &inner);
            if (!is_span)
                outer = inner;
            const size_t len = strcspn(end + 1, "<");
            if (len && end[1] != '\n') {
                snprintf(inner.text, sizeof inner.text, "%.*s", (int)len, end + 1);
                s.text = seen_grow(s.text, s.texts, sizeof *s.text);
                s.text[s.texts++] = inner;
            }
        }
    }
    return s;
}

static inline void seen_free(struct seen *s)
{
    free(s->rect);
    free(s->text);
}

/* The cell of a panel that has rows x cols of them. */
static inline struct seen_rect seen_cell(const struct seen *s, unsigned panel, long rows, long cols, long row,
                                         long col)
{
    const struct seen_rect f = s->frame[panel];
    const long w = f.w / cols, h = f.h / rows;
    return (struct seen_rect){f.x + col * w, f.y + row * h, w, h, 0};
}

/* The colour of a cell; -1: it has none. */
static inline long seen_color(const struct seen *s, struct seen_rect cell)
{
    for (size_t i = 0; i < s->rects; i++) {
        const struct seen_rect *r = &s->rect[i];
        if (r->x <= cell.x && cell.x + cell.w <= r->x + r->w && r->y <= cell.y &&
            cell.y + cell.h <= r->y + r->h)
            return (long)r->rgb;
    }
    return -1;
}

/* The texts in a cell, lines joined by '|'; `marks`: those of class x instead of the label. */
static inline void seen_label(const struct seen *s, struct seen_rect cell, bool marks, char out[SEEN_TEXT])
{
    size_t len = 0;
    *out = 0;
    for (size_t i = 0; i < s->texts; i++) {
        const struct seen_text *t = &s->text[i];
        if ((t->class[0] == 'x') != marks || t->x <= cell.x || t->x >= cell.x + cell.w || t->y <= cell.y ||
            t->y >= cell.y + cell.h || len + strlen(t->text) + 2 > SEEN_TEXT)
            continue;
        len += (size_t)snprintf(out + len, SEEN_TEXT - len, "%s%s", len ? "|" : "", t->text);
    }
}

/* ---- pixels ------------------------------------------------------------------------------------------------- */

struct pixels {
    unsigned width, height;
    unsigned char *rgb; /* NULL: not a picture */
};

static inline unsigned big_endian(const unsigned char *p)
{
    return (unsigned)p[0] << 24 | (unsigned)p[1] << 16 | (unsigned)p[2] << 8 | p[3];
}

/* Undo the filter of a row of a PNG. */
static inline void png_unfilter(unsigned char *row, const unsigned char *above, size_t len, size_t depth,
                                int filter)
{
    for (size_t i = 0; i < len; i++) {
        const int a = i >= depth ? row[i - depth] : 0, b = above ? above[i] : 0;
        const int c = i >= depth && above ? above[i - depth] : 0;
        const int pa = abs(b - c), pb = abs(a - c), pc = abs(a + b - 2 * c);
        const int paeth = pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
        const int guess[] = {0, a, b, (a + b) / 2, paeth};
        row[i] = (unsigned char)(row[i] + guess[filter]);
    }
}

/* The compressed rows of a PNG, all of them. */
static inline unsigned char *png_inflate(const unsigned char *png, size_t len, size_t room)
{
    unsigned char *rows = malloc(room);
    z_stream z = {.next_out = rows, .avail_out = (uInt)room};
    bool ok = rows && inflateInit(&z) == Z_OK;
    for (size_t at = 8; ok && at + 12 <= len; at += 12 + big_endian(png + at)) {
        if (memcmp(png + at + 4, "IDAT", 4) != 0)
            continue;
        z.next_in = (z_const Bytef *)png + at + 8;
        z.avail_in = big_endian(png + at);
        const int status = inflate(&z, Z_NO_FLUSH);
        ok = status == Z_OK || status == Z_STREAM_END;
    }
    inflateEnd(&z);
    if (ok && z.avail_out == 0)
        return rows;
    free(rows);
    return NULL;
}

static inline struct pixels png_read(const unsigned char *png, size_t len)
{
    struct pixels p = {0};
    if (len < 33 || memcmp(png, "\x89PNG\r\n\x1a\n", 8) != 0 || png[24] != 8 ||
        (png[25] != 2 && png[25] != 6))
        return p;
    const size_t depth = png[25] == 2 ? 3 : 4;
    p.width = big_endian(png + 16);
    p.height = big_endian(png + 20);
    const size_t row = p.width * depth;
    unsigned char *rows = png_inflate(png, len, (row + 1) * p.height), *above = NULL;
    p.rgb = rows ? malloc((size_t)p.width * p.height * 3) : NULL;
    for (unsigned y = 0; p.rgb && y < p.height; y++) {
        unsigned char *at = rows + y * (row + 1);
        png_unfilter(at + 1, above, row, depth, at[0] < 5 ? at[0] : 0);
        above = at + 1;
        for (unsigned x = 0; x < p.width; x++)
            memcpy(p.rgb + ((size_t)y * p.width + x) * 3, above + x * depth, 3);
    }
    free(rows);
    return p;
}

static inline struct pixels ppm_read(const char *path)
{
    struct pixels p = {0};
    FILE *f = fopen(path, "rb");
    if (f && fscanf(f, "P6 %u %u 255", &p.width, &p.height) == 2 && fgetc(f) != EOF) {
        const size_t n = (size_t)p.width * p.height * 3;
        p.rgb = malloc(n);
        if (p.rgb && fread(p.rgb, 1, n, f) != n) {
            free(p.rgb);
            p.rgb = NULL;
        }
    }
    if (f)
        fclose(f);
    return p;
}

/* How far the colour at a place is from another, in its worst channel; 256 outside. */
static inline int pixel_distance(const struct pixels *p, long x, long y, unsigned rgb)
{
    int worst = 0;
    if (x < 0 || y < 0 || x >= (long)p->width || y >= (long)p->height)
        return 256;
    const unsigned char *at = p->rgb + ((size_t)y * p->width + (size_t)x) * 3;
    for (int i = 0; i < 3; i++) {
        const int d = abs((int)at[i] - (int)(rgb >> (16 - 8 * i) & 255));
        worst = d > worst ? d : worst;
    }
    return worst;
}

#endif
