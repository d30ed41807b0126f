/* render_grid.c: a layout as a grid of cells, or in the order of memory.
 *
 * The grid is that of every table: mode 0 is the rows, the others are the columns. Memory is shown in lines of 128 bytes,
 * with what lies between them:
 *
 *     (2,3):(1,40), 4-byte elements      0   0 1 . . . . . .   ...
 *                                       32   . . . . . . . .  40 41 ...
 *                                       64   ... 80 81 ...
 * A cell of memory that nobody has is empty, one that several have says how many; of several the least index has it.
 * Lines without cells between others are folded to one row when they are more than one. */
#include "render.h"

#include <stdlib.h>
#include <string.h>

enum {
    SECTORS = LINE_BYTES / SECTOR_BYTES,
    FOLD_LINES = 2 /* as many empty lines are folded */
};

void picture_begin(struct la_ctx *cx, struct picture *p, const struct la_value *value,
                   const struct look *look)
{
    *p = (struct picture){.title = la_print(cx, value, LA_SPELL_CUTE), .look = *look};
    p->comment = p->title;
    palette_of(&p->palette, look);
}

/* ---- axes --------------------------------------------------------------------------------------------------- */

void axis_of(struct axis *axis, const struct la_node *shape, int64_t n)
{
    int64_t step = 1;
    axis->n = n;
    axis->level_count = 0;
    axis->names = axis->folded = NULL;
    for (uint32_t i = 0; n > 0 && shape && i < shape->span; i++) {
        if (shape[i].kind != LA_INT || shape[i].value <= 1)
            continue;
        axis->level[axis->level_count++] = (struct level){.n = shape[i].value, .step = step, .factor = 1};
        step *= shape[i].value;
    }
    axis->band[0] = (struct level){.step = 1, .factor = 1};
    axis->band_count = 1;
    if (axis->level_count < 2)
        return;
    memcpy(axis->band + 1, axis->level, axis->level_count * sizeof *axis->level);
    axis->band_count += axis->level_count;
}

/* ---- the grid ----------------------------------------------------------------------------------------------- */

/* The extent of a shape's first leaf. */
static int64_t first_extent(const struct la_node *shape)
{
    uint32_t i = 0;
    while (i < shape->span && shape[i].kind != LA_INT)
        i++;
    return i < shape->span ? max_of(shape[i].value, 1) : 1;
}

static void find_range(struct panel *panel, const int64_t *offsets, int64_t n)
{
    panel->lowest = panel->highest = n ? offsets[0] : 0;
    for (int64_t i = 1; i < n; i++) {
        panel->lowest = offsets[i] < panel->lowest ? offsets[i] : panel->lowest;
        panel->highest = offsets[i] > panel->highest ? offsets[i] : panel->highest;
    }
    panel->last = max_of(n, 1) - 1;
}

/* The cells of a layout, in colours. */
static struct panel make_grid(struct la_ctx *cx, const struct look *look, struct la_layout layout,
                              const struct arrangement *modes, int64_t max_cells)
{
    struct la_table table;
    struct panel panel = {.shape = layout.shape};
    if (!la_table_by(cx, layout, modes ? &modes->axes : NULL, max_cells, &table))
        longjmp(*cx->escape, 1); /* with the error that it has filled */
    find_range(&panel, table.offsets, table.rows * table.cols);
    if (modes)
        panel.index = arrangement_see(cx, modes, layout.shape, &table);
    axis_of(&panel.rows, table.row_shape, table.rows);
    axis_of(&panel.cols, table.col_shape, table.cols);
    panel.offsets = table.offsets;
    panel_color(cx, look, first_extent(table.row_shape), first_extent(table.col_shape), &panel);
    return panel;
}

/* What is said of a layout whose modes are arranged, before what else is to be said. */
static const char *note_of(struct la_ctx *cx, const struct arrangement *modes, const char *rest)
{
    if (!modes)
        return rest;
    return la_format(cx, "modes %s%s%s", modes->text, rest ? ", " : "", rest ? rest : "");
}

void picture_grid(struct la_ctx *cx, struct picture *p, struct la_layout layout,
                  const struct arrangement *modes, int64_t max_cells)
{
    const bool has_banks = p->look.labels == LABEL_BANK || p->look.colors == COLOR_BANK;
    p->panel[p->n++] = make_grid(cx, &p->look, layout, modes, max_cells);
    p->note = note_of(
        cx, modes,
        has_banks ? la_format(cx, "banks of %d bytes, elements of %lld", BANK_BYTES, (long long)p->look.bytes)
                  : NULL);
}

/* ---- memory ------------------------------------------------------------------------------------------------- */

struct memory {
    const struct panel *grid;
    int64_t places; /* elements of a line */
    int64_t rows;
    int64_t *line, *folded; /* of each row: its line of memory, how many are folded there */
};

static int ascending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The lines that have cells, each once, in order; returns how many. */
static int64_t find_lines(struct la_ctx *cx, const struct memory *m, int64_t n, int64_t **out)
{
    int64_t *lines = la_alloc(cx, (size_t)(n + 1) * sizeof *lines), count = 0;
    bool sorted = true;
    for (int64_t i = 0; i < n; i++) {
        lines[i] = floor_div(m->grid->offsets[i], m->places);
        sorted = sorted && (i == 0 || lines[i - 1] <= lines[i]);
    }
    if (!sorted)
        qsort(lines, (size_t)n, sizeof *lines, ascending);
    for (int64_t i = 0; i < n; i++)
        if (count == 0 || lines[count - 1] != lines[i])
            lines[count++] = lines[i];
    *out = lines;
    return count;
}

/* A row for each line with cells and, between them, one for a line or several without. */
static void find_rows(struct la_ctx *cx, struct memory *m, int64_t cells, int64_t max_cells)
{
    int64_t *lines, count = find_lines(cx, m, cells, &lines);
    m->line = la_alloc(cx, (size_t)(2 * count + 1) * sizeof *m->line);
    m->folded = la_alloc(cx, (size_t)(2 * count + 1) * sizeof *m->folded);
    m->rows = 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t skipped = i ? lines[i] - lines[i - 1] - 1 : 0;
        if (skipped) {
            m->line[m->rows] = lines[i - 1] + 1;
            m->folded[m->rows++] = skipped < FOLD_LINES ? 0 : skipped;
        }
        m->line[m->rows] = lines[i];
        m->folded[m->rows++] = 0;
    }
    if (m->rows * m->places > max_cells)
        la_fail(cx, LA_E_limit,
                "%lld lines of memory with %lld places each are above the limit of %lld cells",
                (long long)m->rows, (long long)m->places, (long long)max_cells);
}

/* The row of a line; it is there. */
static int64_t row_of(const struct memory *m, int64_t line)
{
    int64_t low = 0, high = m->rows - 1;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (m->line[middle] < line)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Put each cell of the grid where it lies in memory; in the order of indices, so that the least is there first. */
static void place_cells(struct la_ctx *cx, const struct memory *m, struct panel *panel)
{
    const struct panel *grid = m->grid;
    const size_t places = (size_t)(m->rows * m->places) + 1;
    int64_t *offsets = la_alloc(cx, places * sizeof *offsets), *index = la_alloc(cx, places * sizeof *index);
    uint32_t *times = la_alloc(cx, places * sizeof *times);
    panel->color = la_alloc(cx, places);
    memset(times, 0, places * sizeof *times);
    for (int64_t col = 0, line = 0, r = -1; col < grid->cols.n; col++)
        for (int64_t row = 0, cell = col; row < grid->rows.n; row++, cell += grid->cols.n) {
            const int64_t offset = grid->offsets[cell];
            line = floor_div(offset, m->places);
            if (r < 0 || m->line[r] != line)
                r = row_of(m, line);
            const int64_t place = r * m->places + floor_mod(offset, m->places);
            if (times[place]++) {
                panel->has_marks = true;
                continue;
            }
            offsets[place] = offset;
            index[place] = panel_index(grid, row, col);
            panel->color[place] = grid->color[cell];
        }
    panel->offsets = offsets;
    panel->index = index;
    panel->times = times;
}

static int64_t line_offset(struct la_ctx *cx, int64_t line, int64_t places)
{
    int64_t offset;
    if (__builtin_mul_overflow(line, places, &offset))
        la_fail(cx, LA_E_overflow, "the line of memory %lld begins beyond 64 bits", (long long)line);
    return offset;
}

/* Rows are named by their first offset; columns by the place in the line, the bank and the sector. */
static void name_axes(struct la_ctx *cx, const struct memory *m, struct panel *panel, int64_t bytes)
{
    struct axis *rows = &panel->rows, *cols = &panel->cols;
    const int64_t sector = m->places / SECTORS;
    int64_t *names = la_alloc(cx, (size_t)(m->rows + 1) * sizeof *names);
    for (int64_t r = 0; r < m->rows; r++)
        names[r] = line_offset(cx, m->line[r], m->places);
    axis_of(rows, NULL, m->rows);
    rows->names = names;
    rows->folded = m->folded;
    axis_of(cols, NULL, m->places);
    cols->level[cols->level_count++] = (struct level){.n = sector, .step = 1, .factor = 1};
    cols->level[cols->level_count++] = (struct level){.n = SECTORS, .step = sector, .factor = 1};
    cols->band[0].name = bytes == BANK_BYTES ? "bank" : "element";
    if (bytes != BANK_BYTES)
        cols->band[cols->band_count++] = (struct level){.step = max_of(BANK_BYTES / bytes, 1),
                                                        .factor = max_of(bytes / BANK_BYTES, 1),
                                                        .n = m->places,
                                                        .name = "bank"};
    cols->band[cols->band_count++] = (struct level){
        .n = SECTORS, .step = sector, .factor = 1, .name = "sector"};
}

void picture_memory(struct la_ctx *cx, struct picture *p, struct la_layout layout,
                    const struct arrangement *modes, int64_t max_cells)
{
    const struct panel grid = make_grid(cx, &p->look, layout, modes, max_cells);
    struct memory m = {.grid = &grid, .places = LINE_BYTES / p->look.bytes};
    struct panel *panel = &p->panel[p->n++];
    *panel = (struct panel){
        .shape = grid.shape, .lowest = grid.lowest, .highest = grid.highest, .last = grid.last};
    find_rows(cx, &m, panel_cells(&grid), max_cells);
    place_cells(cx, &m, panel);
    name_axes(cx, &m, panel, p->look.bytes);
    p->note = note_of(
        cx, modes,
        la_format(cx, "memory in lines of %d bytes, elements of %lld", LINE_BYTES, (long long)p->look.bytes));
}
