/* render_svg.c: a picture as SVG.
 *
 * Cells of one colour are one path, of which neighbours are one rectangle, and a row of labels is one text; so a cell
 * costs about 60 bytes, and writing is linear. Where a mode is nested, a thicker line stands where its next leaf
 * advances, the outer the thicker: with the row shape (2,3), below every second row.
 *
 * Everything is written from numbers and from printed layouts, whose < and & are escaped: no text of a user. */
#include "render_svg.h"

#include <string.h>

enum {
    MARGIN = 16,
    CELL = 30, /* pixels of a cell with one line of text, at least */
    CELL_TWO_LINES = 38,
    CELL_BARE = 14,  /* ... without text */
    MARK_HEIGHT = 6, /* what a cell grows by where it may be marked x2 */
    CHAR_ONE = 8,    /* width of a character of a label of one line, rounded up */
    CHAR_TWO = 7,    /* ... of two */
    CELL_PAD = 10,   /* of a cell, beside its text */
    PANEL_GAP = 28,
    CAPTION_HEIGHT = 24,
    TITLE_HEIGHT = 20, /* of each line */
    TITLE_CHAR = 9,    /* width of a character, rounded up */
    TITLE_WIDTH = 520, /* a title is broken into lines of the picture's width, but of this one at least */
    NOTE_HEIGHT = 18,
    MARK_LEFT = 3, /* of the right upper corner of a cell */
    MARK_DOWN = 10
};

/* ---- measures ----------------------------------------------------------------------------------------------- */

static void plan_cells(struct drawing *d)
{
    const struct picture *p = d->picture;
    const int lines = label_lines(p);
    int64_t heads = 0;
    bool marks = false;
    for (uint32_t i = 0; i < p->n; i++) {
        heads = max_of(heads, band_chars(&p->panel[i].cols, 0) * CHAR_WIDTH_HEAD + HEAD_GAP);
        marks = marks || p->panel[i].has_marks;
    }
    d->cell_w = d->cell_h = CELL_BARE;
    if (lines == 0)
        return;
    d->cell_h = (lines == 1 ? CELL : CELL_TWO_LINES) + (marks ? MARK_HEIGHT : 0);
    d->cell_w = label_chars(p) * (lines == 1 ? CHAR_ONE : CHAR_TWO) + CELL_PAD;
    d->cell_w = max_of(d->cell_w, max_of(heads, lines == 1 ? CELL : CELL_TWO_LINES));
}

/* The length of the title's next line, of at most `max` bytes: it ends behind a comma, a colon or a space. */
static size_t line_length(const char *text, size_t max)
{
    const size_t len = strlen(text);
    if (len <= max)
        return len;
    for (size_t i = max; i > max / 2; i--)
        if (strchr(",: ", text[i - 1]))
            return i;
    return max;
}

static int64_t title_lines(const char *text, size_t max)
{
    int64_t n = 0;
    for (; *text; text += line_length(text, max))
        n++;
    return n;
}

static size_t title_chars(const struct drawing *d)
{
    return (size_t)((d->width - 2 * MARGIN) / TITLE_CHAR);
}

static void plan(struct drawing *d)
{
    const struct picture *p = d->picture;
    int64_t left[2] = {0}, top[2] = {0}, width[2] = {0}, height[2] = {0};
    plan_cells(d);
    for (uint32_t i = 0; i < p->n; i++) {
        const struct panel *panel = &p->panel[i];
        const int a = panel->across, b = panel->down;
        left[a] = max_of(left[a], heads_left(panel));
        top[b] = max_of(top[b], heads_top(panel) + (panel->caption ? CAPTION_HEIGHT : 0));
        width[a] = max_of(width[a], panel->cols.n * d->cell_w);
        height[b] = max_of(height[b], panel->rows.n * d->cell_h);
    }
    d->x[0] = MARGIN + left[0];
    d->x[1] = d->x[0] + width[0] + (left[0] && left[1] ? PANEL_GAP : 0) + left[1];
    const int64_t title = (int64_t)strlen(p->title) * TITLE_CHAR, cells = d->x[1] + width[1] - MARGIN;
    d->width = max_of(cells, title < TITLE_WIDTH ? title : TITLE_WIDTH) + 2 * MARGIN;
    d->title_y = MARGIN + 14;
    const int64_t lines = title_lines(p->title, title_chars(d));
    d->y[0] = MARGIN + lines * TITLE_HEIGHT + (p->note ? NOTE_HEIGHT : 0) + 8 + top[0];
    d->y[1] = d->y[0] + height[0] + (top[0] && top[1] ? PANEL_GAP : 0) + top[1];
    d->height = d->y[1] + height[1] + MARGIN;
}

void render_size(const struct picture *picture, int64_t *width, int64_t *height)
{
    struct drawing d = {.picture = picture};
    plan(&d);
    *width = d.width;
    *height = d.height;
}

/* ---- texts -------------------------------------------------------------------------------------------------- */

static void put_escaped(struct json *out, const char *text, size_t len)
{
    for (const char *end = text + len; text < end; text++) {
        const char *name = *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : *text == '&' ? "&amp;" : NULL;
        if (name)
            put_text(out, name);
        else
            json_bytes(out, text, 1);
    }
}

static void put_style(const struct drawing *d)
{
    const struct chrome *c = d->chrome;
    const int lines = label_lines(d->picture);
    put(d->out,
        "<style>text{font:%spx ui-monospace,'SF Mono','JetBrains Mono',Menlo,Consolas,'DejaVu Sans "
        "Mono',monospace;"
        "text-anchor:middle;fill:#000}.w{fill:#fff}\n",
        lines > 1 ? "11.5" : "13");
    put(d->out,
        ".t{font-size:14px;font-weight:600;text-anchor:start;fill:%s}"
        ".n{font:12px system-ui,'DejaVu Sans',sans-serif;text-anchor:start;fill:%s}"
        ".p{font-size:12px;font-weight:600;text-anchor:start;fill:%s}\n",
        c->strong, c->text, c->strong);
    put(d->out,
        ".h{font-size:11.5px;fill:%s}.r{fill:%s;font-weight:600}.c{fill:%s;font-weight:600}.e{text-anchor:"
        "end}"
        ".x{font-size:9px;text-anchor:end}.f{fill:%s}\n",
        c->text, c->row, c->col, c->text);
    put(d->out,
        "path{fill:none;shape-rendering:crispEdges}.tick{stroke:%s}.g{fill:%s}.line{stroke:%s;stroke-opacity:"
        "%s}"
        ".nest{stroke:%s}</style>\n",
        c->gap, c->blank, c->line, c->line_opacity, c->nest);
}

static void put_title(const struct drawing *d)
{
    const struct picture *p = d->picture;
    int64_t y = d->title_y;
    const char *text = p->title;
    for (size_t len; *text; text += len, y += TITLE_HEIGHT) {
        len = line_length(text, title_chars(d));
        put(d->out, "<text class=\"t\" x=\"%d\" y=\"%lld\">", MARGIN, (long long)y);
        put_escaped(d->out, text, len);
        put_text(d->out, "</text>\n");
    }
    if (!p->note)
        return;
    put(d->out, "<text class=\"n\" x=\"%d\" y=\"%lld\">", MARGIN, (long long)y - 2);
    put_escaped(d->out, p->note, strlen(p->note));
    put_text(d->out, "</text>\n");
}

static void put_caption(const struct drawing *d, const struct panel *panel)
{
    if (!panel->caption)
        return;
    put(d->out, "<text class=\"p\" x=\"%lld\" y=\"%lld\">", (long long)d->x[panel->across],
        (long long)(d->y[panel->down] - heads_top(panel) - 8));
    put_escaped(d->out, panel->caption, strlen(panel->caption));
    put_text(d->out, "</text>\n");
}

/* ---- cells -------------------------------------------------------------------------------------------------- */

/* M x y h w v h h -w z */
static void put_rect(const struct drawing *d, int64_t x, int64_t y, int64_t width, int64_t height)
{
    char text[112], *p = text;
    *p++ = 'M';
    p = json_digits(p, x);
    *p++ = ' ';
    p = json_digits(p, y);
    *p++ = 'h';
    p = json_digits(p, width);
    *p++ = 'v';
    p = json_digits(p, height);
    memcpy(p, "h-", 2);
    p = json_digits(p + 2, width);
    *p++ = 'z';
    json_bytes(d->out, text, (size_t)(p - text));
}

/* The cells in the order of their colours; color k has order[start[k]] up to order[start[k+1]]. */
static uint32_t *sort_by_color(struct la_ctx *cx, const struct panel *panel, uint32_t start[PALETTE_MAX + 1])
{
    const int64_t n = panel_cells(panel);
    uint32_t *order = la_alloc(cx, (size_t)(n + 1) * sizeof *order), next[PALETTE_MAX];
    memset(start, 0, (PALETTE_MAX + 1) * sizeof *start);
    for (int64_t i = 0; i < n; i++)
        start[panel->color[i] + 1] += panel_has(panel, i);
    for (int k = 0; k < PALETTE_MAX; k++)
        next[k] = start[k + 1] += start[k];
    for (int64_t i = n - 1; i >= 0; i--)
        if (panel_has(panel, i))
            order[--next[panel->color[i]]] = (uint32_t)i;
    return order;
}

static void put_fills(const struct drawing *d, const struct panel *panel)
{
    uint32_t start[PALETTE_MAX + 1];
    const uint32_t *order = sort_by_color(d->out->cx, panel, start);
    const int64_t cols = panel->cols.n, x = d->x[panel->across], y = d->y[panel->down];
    for (uint32_t k = 0; k < d->picture->palette.n; k++) {
        if (start[k] == start[k + 1])
            continue;
        put(d->out, "<path style=\"fill:#%06x\" d=\"", d->picture->palette.rgb[k]);
        for (uint32_t i = start[k], end; i < start[k + 1]; i = end) {
            const int64_t row = order[i] / cols, col = order[i] % cols;
            for (end = i + 1; end < start[k + 1] && order[end] == order[end - 1] + 1 && order[end] % cols;
                 end++)
                ;
            put_rect(d, x + col * d->cell_w, y + row * d->cell_h, (end - i) * d->cell_w, d->cell_h);
        }
        put_text(d->out, "\"/>\n");
    }
}

static bool is_folded(const struct panel *panel, int64_t row)
{
    return panel->rows.folded && panel->rows.folded[row];
}

/* Cells that nobody has. */
static void put_gaps(const struct drawing *d, const struct panel *panel)
{
    const int64_t cols = panel->cols.n;
    if (!panel->times)
        return;
    put_text(d->out, "<path class=\"g\" d=\"");
    for (int64_t row = 0; row < panel->rows.n; row++)
        for (int64_t col = 0, end; col < cols; col = end + 1) {
            for (end = col; end < cols && !panel->times[row * cols + end]; end++)
                ;
            if (end > col && !is_folded(panel, row))
                put_rect(d, d->x[panel->across] + col * d->cell_w, d->y[panel->down] + row * d->cell_h,
                         (end - col) * d->cell_w, d->cell_h);
        }
    put_text(d->out, "\"/>\n");
}

/* ---- labels ------------------------------------------------------------------------------------------------- */

/* From the middle of a cell down to the baseline of a line of its label. */
static int64_t baseline(const struct panel *panel, int lines, int line)
{
    const int64_t down = panel->has_marks ? MARK_HEIGHT / 2 : 0;
    if (lines == 1)
        return 5 + down;
    return (line == 0 ? -3 : 11) + down;
}

static void put_label_row(const struct drawing *d, const struct panel *panel, int64_t row, int line)
{
    static const char plain[] = "<tspan x=\"", light[] = "<tspan class=\"w\" x=\"";
    const int64_t cols = panel->cols.n, x = d->x[panel->across] + d->cell_w / 2;
    for (int64_t col = 0, cell = row * cols; col < cols; col++, cell++) {
        if (!panel_has(panel, cell))
            continue;
        char text[LABEL_MAX + 64];
        const bool is_light = d->picture->palette.light_ink[panel->color[cell]];
        const size_t head = is_light ? sizeof light - 1 : sizeof plain - 1;
        memcpy(text, is_light ? light : plain, head);
        char *end = json_digits(text + head, x + col * d->cell_w);
        memcpy(end, "\">", 2);
        end = label_line(d->picture, panel, row, col, line, end + 2);
        memcpy(end, "</tspan>", 8);
        json_bytes(d->out, text, (size_t)(end + 8 - text));
    }
}

static void put_labels(const struct drawing *d, const struct panel *panel)
{
    const int lines = label_lines(d->picture);
    for (int64_t row = 0; row < panel->rows.n; row++) {
        const int64_t middle = d->y[panel->down] + row * d->cell_h + d->cell_h / 2;
        for (int line = 0; line < lines && !is_folded(panel, row); line++) {
            put(d->out, "<text y=\"%lld\">", (long long)(middle + baseline(panel, lines, line)));
            put_label_row(d, panel, row, line);
            put_text(d->out, "</text>\n");
        }
    }
}

/* x2 in the corner of a cell that two have. */
static void put_marks(const struct drawing *d, const struct panel *panel)
{
    const int64_t right = d->x[panel->across] + d->cell_w - MARK_LEFT;
    if (!panel->has_marks || label_lines(d->picture) == 0)
        return;
    put_text(d->out, "<text class=\"x\">");
    for (int64_t row = 0, cell = 0; row < panel->rows.n; row++)
        for (int64_t col = 0; col < panel->cols.n; col++, cell++)
            if (panel->times[cell] > 1)
                put(d->out, "<tspan%s x=\"%lld\" y=\"%lld\">\u00d7%u</tspan>",
                    d->picture->palette.light_ink[panel->color[cell]] ? " class=\"w\"" : "",
                    (long long)(right + col * d->cell_w),
                    (long long)(d->y[panel->down] + row * d->cell_h + MARK_DOWN), panel->times[cell]);
    put_text(d->out, "</text>\n");
}

/* ---- borders ------------------------------------------------------------------------------------------------ */

/* Lines at every multiple of `step`, along one axis. */
static void put_lines(const struct drawing *d, const struct panel *panel, bool is_rows, int64_t step)
{
    const long long x = d->x[panel->across], y = d->y[panel->down];
    const long long right = x + panel->cols.n * d->cell_w, bottom = y + panel->rows.n * d->cell_h;
    const struct axis *axis = is_rows ? &panel->rows : &panel->cols;
    for (int64_t i = step; i < axis->n; i += step)
        if (is_rows)
            put(d->out, "M%lld %lldH%lld", x, (long long)(y + i * d->cell_h), right);
        else
            put(d->out, "M%lld %lldV%lld", (long long)(x + i * d->cell_w), y, bottom);
}

/* Thicker with each level, but no thicker than a twentieth of what it borders. */
static void put_nest(const struct drawing *d, const struct panel *panel, bool is_rows)
{
    const struct axis *axis = is_rows ? &panel->rows : &panel->cols;
    for (uint32_t k = 1; k < axis->level_count; k++) {
        const int64_t gap = axis->level[k].step * (is_rows ? d->cell_h : d->cell_w);
        const int64_t wanted = 100 + 75 * (int64_t)k, width = wanted < 5 * gap ? wanted : 5 * gap;
        put(d->out, "<path class=\"nest\" stroke-width=\"%lld.%02lld\" d=\"", (long long)(width / 100),
            (long long)(width % 100));
        put_lines(d, panel, is_rows, axis->level[k].step);
        put_text(d->out, "\"/>\n");
    }
}

static void put_borders(const struct drawing *d, const struct panel *panel)
{
    put_text(d->out, "<path class=\"line\" d=\"");
    put_lines(d, panel, false, 1);
    put_lines(d, panel, true, 1);
    put_text(d->out, "\"/>\n");
    put_nest(d, panel, false);
    put_nest(d, panel, true);
}

/* A row that stands for many lines of memory. */
static void put_folds(const struct drawing *d, const struct panel *panel)
{
    const int64_t x = d->x[panel->across], width = panel->cols.n * d->cell_w;
    for (int64_t row = 0; row < panel->rows.n; row++) {
        const int64_t y = d->y[panel->down] + row * d->cell_h;
        if (!is_folded(panel, row))
            continue;
        put(d->out,
            "<rect x=\"%lld\" y=\"%lld\" width=\"%lld\" height=\"%lld\" fill=\"%s\"/>"
            "<text class=\"f\" x=\"%lld\" y=\"%lld\">%lld lines without elements</text>\n",
            (long long)x, (long long)y + 1, (long long)width, (long long)d->cell_h - 2, d->chrome->paper,
            (long long)(x + width / 2), (long long)(y + d->cell_h / 2 + 5),
            (long long)panel->rows.folded[row]);
    }
}

static void put_frame(const struct drawing *d, const struct panel *panel)
{
    put_text(d->out, "<path class=\"nest\" stroke-width=\"1.25\" d=\"");
    put_rect(d, d->x[panel->across], d->y[panel->down], panel->cols.n * d->cell_w, panel->rows.n * d->cell_h);
    put_text(d->out, "\"/>\n");
}

/* ---- the whole ---------------------------------------------------------------------------------------------- */

static void put_panel(const struct drawing *d, const struct panel *panel)
{
    put_caption(d, panel);
    put_heads(d, panel);
    put_fills(d, panel);
    put_gaps(d, panel);
    put_borders(d, panel);
    put_folds(d, panel);
    put_frame(d, panel);
    put_labels(d, panel);
    put_marks(d, panel);
}

void render_svg(struct json *out, const struct picture *picture)
{
    struct drawing d = {.out = out, .picture = picture, .chrome = chrome_of(&picture->look)};
    plan(&d);
    const long long width = d.width, height = d.height;
    put(out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%lld\" height=\"%lld\" viewBox=\"0 0 %lld %lld\" "
        "role=\"img\">\n<title>",
        width, height, width, height);
    put_escaped(out, picture->title, strlen(picture->title));
    put_text(out, "</title>\n");
    put_style(&d);
    put(out, "<rect width=\"100%%\" height=\"100%%\" fill=\"%s\"/>\n", d.chrome->paper);
    put_title(&d);
    for (uint32_t i = 0; i < picture->n; i++)
        put_panel(&d, &picture->panel[i]);
    put_text(out, "</svg>\n");
}
