/* render_tex.c: a picture as a TikZ document, in the manner of CuTe's print_latex.
 *
 *     \node[fill=c12] at (0,1) {8};                x goes down and y to the right, a cell a unit
 *     \node[fill=c3] at (2,0) {\shortstack{T5 \\ V0}};
 * It compiles with pdflatex and the packages standalone and TikZ. Titles stand in a comment and, word for word, above the
 * picture. */
#include "render.h"

#include <stdio.h>
#include <string.h>

/* In hundredths of a centimetre. */
enum {
    UNIT = 100,      /* the height of a cell, and its least width */
    CHAR_ONE = 19,   /* the width of a character of a label of one line */
    CHAR_TWO = 15,   /* ... of two lines, which are smaller, and of a header */
    CELL_PAD = 24,   /* of a cell, beside its text */
    BAND = 50,       /* of a header, or more where its numbers are wider */
    BAND_PAD = 20,   /* of a header beside its numbers */
    BAND_FIRST = 85, /* from the middle of a cell to that of the first band, where there is nothing wide */
    PANEL_GAP = 80,
    WORDS = 60 /* the height of a caption and a title */
};

struct tex {
    struct json *out;
    const struct picture *picture;
    int64_t width;          /* of a cell */
    int64_t row[2], col[2]; /* the first cells of the panels of each place, in cells */
};

/* ---- measures ----------------------------------------------------------------------------------------------- */

static int64_t cell_width(const struct picture *p)
{
    const int lines = label_lines(p);
    return lines ? max_of(label_chars(p) * (lines > 1 ? CHAR_TWO : CHAR_ONE) + CELL_PAD, UNIT) : UNIT;
}

/* From the edge of the cells to the middle of band b. */
static int64_t band_distance(const struct axis *axis, bool is_rows, uint32_t b)
{
    int64_t distance = BAND_FIRST - UNIT / 2;
    for (uint32_t k = 0; k <= b; k++) {
        const int64_t wide = is_rows ? max_of(BAND, band_chars(axis, k) * CHAR_TWO + BAND_PAD) : BAND;
        distance += k == 0 ? (wide - BAND) / 2 : wide / 2;
        distance += k < b ? wide / 2 : 0;
    }
    return distance;
}

/* How far the headers reach, and above them the caption. */
static int64_t heads_top(const struct panel *panel)
{
    return band_distance(&panel->cols, false, panel->cols.band_count - 1) + BAND / 2;
}

static int64_t heads_left(const struct panel *panel)
{
    return band_distance(&panel->rows, true, panel->rows.band_count - 1) + BAND / 2;
}

/* Panels lie side by side in whole cells, so that every cell has whole coordinates. */
static void plan(struct tex *t)
{
    int64_t rows = 0, cols = 0, left = 0, top = 0;
    t->width = cell_width(t->picture);
    for (uint32_t i = 0; i < t->picture->n; i++) {
        const struct panel *panel = &t->picture->panel[i];
        if (panel->down == 0)
            rows = max_of(rows, panel->rows.n);
        else
            top = max_of(top, heads_top(panel) + (panel->caption ? WORDS : 0) + PANEL_GAP);
        if (panel->across == 0)
            cols = max_of(cols, panel->cols.n);
        else
            left = max_of(left, heads_left(panel) + PANEL_GAP);
    }
    t->row[0] = t->col[0] = 0;
    t->row[1] = rows + (top + UNIT - 1) / UNIT;
    t->col[1] = cols + (left + t->width - 1) / t->width;
}

/* ---- the head of the document -------------------------------------------------------------------------------- */

/* Every line of a text behind a %. */
static void put_comment(struct json *out, const char *text)
{
    for (size_t len; *text; text += len + (text[len] == '\n')) {
        len = strcspn(text, "\n");
        put_text(out, "% ");
        json_bytes(out, text, len);
        json_bytes(out, "\n", 1);
    }
}

/* Only colours that some cell has. */
static void put_colors(const struct tex *t)
{
    bool used[PALETTE_MAX] = {false};
    const struct chrome *c = chrome_of(&t->picture->look);
    for (uint32_t i = 0; i < t->picture->n; i++)
        for (int64_t cell = 0; cell < panel_cells(&t->picture->panel[i]); cell++)
            used[t->picture->panel[i].color[cell]] |= panel_has(&t->picture->panel[i], cell);
    for (uint32_t k = 0; k < t->picture->palette.n; k++)
        if (used[k])
            put(t->out, "\\definecolor{c%u}{HTML}{%06X}\n", k, t->picture->palette.rgb[k]);
    const struct {
        const char *name, *color;
    } others[] = {{"row", c->row},   {"col", c->col},     {"muted", c->text},   {"blank", c->blank},
                  {"nest", c->nest}, {"paper", c->paper}, {"strong", c->strong}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char hex[7] = "";
        for (int k = 0; k < 6; k++) /* HTML wants capitals */
            hex[k] = (char)(others[i].color[k + 1] >= 'a' ? others[i].color[k + 1] - 'a' + 'A'
                                                          : others[i].color[k + 1]);
        put(t->out, "\\definecolor{%s}{HTML}{%s}\n", others[i].name, hex);
    }
}

static void put_head(const struct tex *t)
{
    const int64_t width = t->width;
    put_comment(t->out, t->picture->comment);
    put_text(t->out, "\\documentclass[tikz,border=3mm]{standalone}\n");
    put_colors(t);
    put_text(t->out, t->picture->look.dark ? "\\pagecolor{paper}\n" : "");
    put_text(t->out, "\\begin{document}\n");
    put(t->out,
        "\\begin{tikzpicture}[x={(0cm,-1cm)},y={(%lld.%02lldcm,0cm)},every node/.style={minimum "
        "width=%lld.%02lldcm,"
        "minimum height=1cm,inner sep=0pt,outer sep=0pt,font=%s\\ttfamily},"
        "head/.style={minimum size=0pt,font=\\footnotesize\\ttfamily},"
        "many/.style={minimum size=0pt,anchor=north east,font=\\tiny\\ttfamily}]\n",
        (long long)(width / UNIT), (long long)(width % UNIT), (long long)(width / UNIT),
        (long long)(width % UNIT), label_lines(t->picture) > 1 ? "\\footnotesize" : "");
}

/* ---- a panel ------------------------------------------------------------------------------------------------ */

static bool is_folded(const struct panel *panel, int64_t row)
{
    return panel->rows.folded && panel->rows.folded[row];
}

static void put_node(const struct tex *t, const struct panel *panel, int64_t row, int64_t col)
{
    const unsigned color = panel->color[row * panel->cols.n + col];
    char text[LABEL_LINES][LABEL_MAX] = {"", ""};
    const int lines = label_lines(t->picture);
    for (int line = 0; line < lines; line++)
        *label_line(t->picture, panel, row, col, line, text[line]) = 0;
    put(t->out, "\\node[fill=c%u%s] at (%lld,%lld) {", color,
        t->picture->palette.light_ink[color] ? ",text=white" : "", (long long)(t->row[panel->down] + row),
        (long long)(t->col[panel->across] + col));
    if (lines > 1)
        put(t->out, "\\shortstack{%s \\\\ %s}};\n", text[0], text[1]);
    else
        put(t->out, "%s};\n", text[0]);
}

static void put_cells(const struct tex *t, const struct panel *panel)
{
    for (int64_t row = 0, cell = 0; row < panel->rows.n; row++)
        for (int64_t col = 0; col < panel->cols.n; col++, cell++)
            if (panel_has(panel, cell))
                put_node(t, panel, row, col);
            else if (!is_folded(panel, row))
                put(t->out, "\\fill[blank,shift={(%lld,%lld)}] (-0.5,-0.5) rectangle (0.5,0.5);\n",
                    (long long)(t->row[panel->down] + row), (long long)(t->col[panel->across] + col));
}

static void put_marks(const struct tex *t, const struct panel *panel)
{
    if (!panel->has_marks || label_lines(t->picture) == 0)
        return;
    for (int64_t row = 0, cell = 0; row < panel->rows.n; row++)
        for (int64_t col = 0; col < panel->cols.n; col++, cell++)
            if (panel->times[cell] > 1)
                put(t->out, "\\node[many%s] at (%lld-0.45,%lld+0.47) {$\\times$%u};\n",
                    t->picture->palette.light_ink[panel->color[cell]] ? ",text=white" : "",
                    (long long)(t->row[panel->down] + row), (long long)(t->col[panel->across] + col),
                    panel->times[cell]);
}

/* Lines at every multiple of `step`, along one axis. */
static void put_lines(const struct tex *t, const struct panel *panel, bool is_rows, int64_t step,
                      const char *style)
{
    const struct axis *axis = is_rows ? &panel->rows : &panel->cols;
    if (step >= axis->n)
        return;
    put(t->out, "\\draw[color=nest,%s]", style);
    for (int64_t i = step; i < axis->n; i += step)
        if (is_rows)
            put(t->out, " (%lld,0) -- (%lld,%lld)", (long long)i, (long long)i, (long long)panel->cols.n);
        else
            put(t->out, " (0,%lld) -- (%lld,%lld)", (long long)i, (long long)panel->rows.n, (long long)i);
    put_text(t->out, ";\n");
}

static void put_borders(const struct tex *t, const struct panel *panel)
{
    const long long row = t->row[panel->down], col = t->col[panel->across];
    put(t->out, "\\begin{scope}[shift={(%lld,%lld)},shift={(-0.5,-0.5)}]\n", row, col);
    for (int is_rows = 0; is_rows < 2; is_rows++) {
        const struct axis *axis = is_rows ? &panel->rows : &panel->cols;
        put_lines(t, panel, is_rows, 1, "thin");
        for (uint32_t k = 1; k < axis->level_count; k++)
            put_lines(t, panel, is_rows, axis->level[k].step, k == 1 ? "very thick" : "ultra thick");
    }
    for (int64_t i = 0; i < panel->rows.n; i++)
        if (is_folded(panel, i))
            put(t->out,
                "\\fill[paper] (%lld.06,0.06) rectangle (%lld.94,%lld.94);"
                "\\node[text=muted] at (%lld.5,%lld.5) {%lld lines without elements};\n",
                (long long)i, (long long)i, (long long)panel->cols.n - 1, (long long)i,
                (long long)panel->cols.n / 2, (long long)panel->rows.folded[i]);
    put(t->out, "\\draw[color=nest,line width=1pt] (0,0) rectangle (%lld,%lld);\n\\end{scope}\n",
        (long long)panel->rows.n, (long long)panel->cols.n);
}

/* ---- headers ------------------------------------------------------------------------------------------------ */

/* Hundredths of a unit of cells, from the middle of the first cell outward, of what lies `distance` from the edge. */
static int64_t outward(int64_t distance, int64_t cell)
{
    return (cell / 2 + distance) * 100 / cell;
}

static void put_number(const struct tex *t, const char *color, const char *at, int64_t value)
{
    put(t->out, "\\node[head,text=%s] at (%s) {%lld};\n", color, at, (long long)value);
}

/* A band of numbers, each in the middle of what it is of. */
static void put_band(const struct tex *t, const struct panel *panel, bool is_rows, uint32_t b)
{
    const struct axis *axis = is_rows ? &panel->rows : &panel->cols;
    const struct level *band = &axis->band[b];
    const bool is_index = !band->n && axis->band_count > 1 && !axis->names;
    const long long row = t->row[panel->down], col = t->col[panel->across];
    const char *color = is_index ? "muted" : is_rows ? "row" : "col";
    const long long away = outward(band_distance(axis, is_rows, b), is_rows ? t->width : UNIT);
    char at[96];
    for (int64_t k = 0; k * band->step < axis->n; k++) {
        const int64_t from = k * band->step, to = from + band->step < axis->n ? from + band->step : axis->n;
        const long long twice = from + to - 1; /* the middle, as cells stand at whole numbers */
        if (is_rows && axis->folded && axis->folded[k])
            continue;
        if (is_rows)
            snprintf(at, sizeof at, "%lld%s,%lld-%lld.%02lld", row + twice / 2, twice % 2 ? ".5" : "", col,
                     away / 100, away % 100);
        else
            snprintf(at, sizeof at, "%lld-%lld.%02lld,%lld%s", row, away / 100, away % 100, col + twice / 2,
                     twice % 2 ? ".5" : "");
        put_number(t, color, at, band_value(axis, b, k));
    }
    if (band->name)
        put(t->out, "\\node[head,text=muted,anchor=east] at (%lld-%lld.%02lld,%lld-0.6) {%s};\n", row,
            away / 100, away % 100, col, band->name);
}

static void put_heads(const struct tex *t, const struct panel *panel)
{
    for (uint32_t b = 0; b < panel->cols.band_count; b++)
        put_band(t, panel, false, b);
    for (uint32_t b = 0; b < panel->rows.band_count; b++)
        put_band(t, panel, true, b);
}

/* ---- the whole ---------------------------------------------------------------------------------------------- */

/* Left-aligned with the cells, `above` their edge. */
static void put_words(const struct tex *t, int64_t row, int64_t col, int64_t above, const char *style,
                      const char *words)
{
    const long long away = outward(above, UNIT);
    put(t->out, "\\node[head,anchor=west,%s] at (%lld-%lld.%02lld,%lld-0.5) {\\detokenize{", style,
        (long long)row, away / 100, away % 100, (long long)col);
    put_text(t->out, words);
    put_text(t->out, "}};\n");
}

static void put_panel(const struct tex *t, const struct panel *panel)
{
    put_cells(t, panel);
    put_borders(t, panel);
    put_marks(t, panel);
    put_heads(t, panel);
    if (panel->caption)
        put_words(t, t->row[panel->down], t->col[panel->across], heads_top(panel) + WORDS / 2, "text=strong",
                  panel->caption);
}

/* Title and note, above the upper panels. */
static void put_title(const struct tex *t)
{
    const struct picture *p = t->picture;
    int64_t above = 0;
    for (uint32_t i = 0; i < p->n; i++)
        if (p->panel[i].down == 0)
            above = max_of(above, heads_top(&p->panel[i]) + (p->panel[i].caption ? WORDS : 0));
    if (p->note)
        put_words(t, 0, 0, above + WORDS / 2, "text=muted", p->note);
    put_words(t, 0, 0, above + (p->note ? WORDS : 0) + WORDS / 2, "text=strong,font=\\bfseries\\ttfamily",
              p->title);
}

void render_tex(struct json *out, const struct picture *picture)
{
    struct tex t = {.out = out, .picture = picture};
    plan(&t);
    put_head(&t);
    for (uint32_t i = 0; i < picture->n; i++)
        put_panel(&t, &picture->panel[i]);
    put_title(&t);
    put_text(out, "\\end{tikzpicture}\n\\end{document}\n");
}
