/* render_tv.c: who has which element of a tile.
 *
 *     make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{})      A (16,16) left of C (16,8), B (8,16) above, as columns of C
 *     make_tiled_copy(...)                                source and destination, side by side
 *     ((4,8),2):((16,1),8) over the tile (8,8)            one panel
 * A TV layout maps (thread, value) to an index in the tile; a cell says T and V of the first that has it, how many have
 * it, and is empty when nobody has. In a panel an "offset" is thread + threads * value. */
#include "render.h"

#include <string.h>

/* A panel in the making. */
struct part {
    struct la_layout tv;
    const struct la_node *tile;
    const int64_t *atom; /* extents of an atom in the tile, or NULL */
    bool transposed;     /* columns are mode 0 */
    const char *caption;
    int across, down;
};

/* ---- a TV layout over a tile -------------------------------------------------------------------------------- */

/* The first owner of each element, as thread + threads * value. */
static void find_owners(struct la_ctx *cx, const struct la_partition *part, int64_t *owner, uint32_t *times)
{
    memset(owner, 0, (size_t)part->elements * sizeof *owner);
    memset(times, 0, (size_t)part->elements * sizeof *times);
    for (int64_t place = 0; place < part->threads * part->values; place++) {
        const int64_t i = part->index[place];
        if (i < 0 || i >= part->elements)
            la_fail(cx, LA_E_domain,
                    "value %lld of thread %lld is element %lld, and the tile %s has only %lld",
                    (long long)(place / part->threads), (long long)(place % part->threads), (long long)i,
                    la_print_tuple(cx, part->tiler, LA_SPELL_TEXT), (long long)part->elements);
        if (times[i]++ == 0)
            owner[i] = place;
    }
}

/* Cells from elements: row by row, mode 0 along the rows or, transposed, along the columns. */
static void place_elements(struct la_ctx *cx, struct panel *panel, const int64_t *owner,
                           const uint32_t *times, bool transposed)
{
    const size_t cells = (size_t)panel_cells(panel);
    int64_t *offsets = la_alloc(cx, cells * sizeof *offsets), *index = la_alloc(cx, cells * sizeof *index);
    uint32_t *counts = la_alloc(cx, cells * sizeof *counts);
    for (int64_t row = 0, cell = 0; row < panel->rows.n; row++)
        for (int64_t col = 0; col < panel->cols.n; col++, cell++) {
            const int64_t i = transposed ? col + panel->cols.n * row : row + panel->rows.n * col;
            offsets[cell] = owner[i];
            index[cell] = i;
            counts[cell] = times[i];
        }
    panel->offsets = offsets;
    panel->index = index;
    panel->times = counts;
}

/* How many threads have an element, where all have the same number of them; else 0, and cells are marked. */
static uint32_t same_times(struct panel *panel)
{
    const uint32_t first = panel->times[0];
    for (int64_t cell = 0; cell < panel_cells(panel); cell++)
        panel->has_marks = panel->has_marks || panel->times[cell] != first;
    return panel->has_marks ? 0 : first;
}

/* Borders between atoms, where they divide the axis. */
static void border_atoms(struct axis *axis, int64_t atom)
{
    if (atom < 1 || atom >= axis->n || axis->n % atom)
        return;
    axis->level[0] = (struct level){.n = atom, .step = 1, .factor = 1};
    axis->level[1] = (struct level){.n = axis->n / atom, .step = atom, .factor = 1};
    axis->level_count = atom > 1 ? 2 : 1;
}

/* Mode 0 of a tile as one axis, and the others as the other. */
static void make_axes(struct panel *panel, const struct part *from, const struct la_partition *part)
{
    struct axis *first = from->transposed ? &panel->cols : &panel->rows;
    struct axis *second = from->transposed ? &panel->rows : &panel->cols;
    const struct la_node *tile = part->tiler;
    if (la_rank(tile) < 2) {
        axis_of(first, NULL, 1);
        axis_of(second, tile, part->elements);
        return;
    }
    const int64_t n = tile[1].value; /* of mode 0, an integer */
    axis_of(first, tile + 1, n);
    axis_of(second, NULL, part->elements / n);
    if (la_rank(tile) == 2)
        axis_of(second, tile + 2, part->elements / n);
    if (from->atom) {
        border_atoms(first, from->atom[0]);
        border_atoms(second, from->atom[1]);
    }
}

static void add_panel(struct la_ctx *cx, struct picture *p, const struct part *from)
{
    const struct la_partition part = la_partition_of_tv(cx, from->tv, from->tile);
    struct panel *panel = &p->panel[p->n++];
    int64_t *owner = la_alloc(cx, (size_t)part.elements * sizeof *owner);
    uint32_t *count = la_alloc(cx, (size_t)part.elements * sizeof *count);
    find_owners(cx, &part, owner, count);
    make_axes(panel, from, &part);
    place_elements(cx, panel, owner, count, from->transposed);
    const uint32_t times = same_times(panel);
    panel->caption = from->caption;
    if (times > 1)
        panel->caption = la_format(cx, "%s%seach element in %u threads", from->caption ? from->caption : "",
                                   from->caption ? ", " : "", times);
    panel->across = from->across;
    panel->down = from->down;
    panel->shape = part.tiler;
    panel->highest = part.threads * part.values - 1;
    panel->last = part.elements - 1;
    p->look.n = part.threads;
    p->look.is_thread = true;
    const int64_t *atom = from->atom, none[2] = {panel->rows.n, panel->cols.n};
    if (!atom)
        atom = none;
    panel_color(cx, &p->look, max_of(atom[from->transposed], 1), max_of(atom[!from->transposed], 1), panel);
}

/* ---- tiled copies and MMAs ---------------------------------------------------------------------------------- */

static int64_t extent_of(struct la_ctx *cx, const struct la_node *n)
{
    if (n->kind == LA_LEAF && n->leaf->kind == LA_K_LAYOUT)
        return la_size(cx, n->leaf->layout)->value;
    return la_product(cx, n)->value;
}

/* The extents of a tiler, whose modes are integers or layouts. */
static const struct la_node *tile_of(struct la_ctx *cx, const struct la_node *tiler)
{
    const uint32_t rank = la_rank(tiler);
    const struct la_node **modes = la_alloc(cx, (rank + 1) * sizeof *modes);
    for (uint32_t i = 0; i < rank; i++)
        modes[i] = la_int(cx, extent_of(cx, la_mode(cx, tiler, i)), true);
    return la_tuple(cx, rank, modes);
}

static const char *with_tile(struct la_ctx *cx, const char *name, const struct la_node *tile)
{
    return la_format(cx, "%s: %s", name, la_print_tuple(cx, tile, LA_SPELL_TEXT));
}

/* Do two panels show the same? */
static bool are_equal(const struct panel *a, const struct panel *b)
{
    const size_t n = (size_t)panel_cells(a);
    return panel_cells(b) == panel_cells(a) && memcmp(a->offsets, b->offsets, n * sizeof *a->offsets) == 0 &&
           memcmp(a->times, b->times, n * sizeof *a->times) == 0;
}

static void picture_copy(struct la_ctx *cx, struct picture *p, const struct la_tiled_copy *copy, char operand)
{
    const struct la_node *tile = tile_of(cx, copy->tiler);
    struct part part = {.tile = tile};
    p->title = la_format(cx, "TiledCopy of %s, %s", copy->atom->name, la_type_name(copy->atom->copy.type));
    if (operand != 'D') {
        part.tv = la_tiled_copy_tv(cx, copy, LA_SRC);
        part.caption = with_tile(cx, "S", tile);
        add_panel(cx, p, &part);
    }
    if (operand != 'S') {
        part.tv = la_tiled_copy_tv(cx, copy, LA_DST);
        part.caption = with_tile(cx, "D", tile);
        add_panel(cx, p, &part);
    }
    if (operand)
        return;
    struct panel *src = &p->panel[0], *dst = &p->panel[1];
    if (are_equal(src, dst)) {
        src->caption = with_tile(cx, "S and D", tile);
        p->n = 1;
    } else if (src->cols.n > src->rows.n) {
        dst->down = 1;
    } else {
        dst->across = 1;
    }
}

/* Of modes M, N or K: the size of the tile and, where atoms lie side by side, of an atom; else 0. */
struct mma_mode {
    int64_t size, atom;
};

static struct mma_mode mode_of(struct la_ctx *cx, const struct la_tiled_mma *mma, uint32_t i)
{
    const bool permuted = la_mode(cx, mma->permutation, i)->kind == LA_LEAF;
    return (struct mma_mode){
        .size = la_tiled_mma_size(cx, mma, i)->value,
        .atom = permuted ? 0 : extent_of(cx, la_mode(cx, mma->atom->mma.shape_mnk, i)),
    };
}

static void add_matrix(struct la_ctx *cx, struct picture *p, const struct la_tiled_mma *mma, enum la_matrix x,
                       bool alone)
{
    static const struct {
        uint32_t modes[2];
        const char *name;
        int across, down;
    } places[] = {{{0, 2}, "A (M,K)", 0, 1}, {{1, 2}, "B (N,K)", 1, 0}, {{0, 1}, "C (M,N)", 1, 1}};
    const struct mma_mode a = mode_of(cx, mma, places[x].modes[0]), b = mode_of(cx, mma, places[x].modes[1]);
    const struct la_node *sizes[2] = {la_int(cx, a.size, true), la_int(cx, b.size, true)};
    const struct la_node *tile = la_tuple(cx, 2, sizes);
    const int64_t atom[2] = {a.atom, b.atom};
    add_panel(cx, p,
              &(struct part){.tv = la_tiled_mma_tv(cx, mma, x),
                             .tile = tile,
                             .atom = atom,
                             .transposed = x == LA_B && !alone,
                             .caption = with_tile(cx, places[x].name, tile),
                             .across = alone ? 0 : places[x].across,
                             .down = alone ? 0 : places[x].down});
}

static void picture_mma(struct la_ctx *cx, struct picture *p, const struct la_tiled_mma *mma, char operand)
{
    const struct la_layout atoms = {.shape = mma->thr_vmnk.shape, .stride = mma->thr_vmnk.stride};
    p->title = la_format(cx, "TiledMMA of %s, threads (V,M,N,K) = %s", mma->atom->name,
                         la_print_tuple(cx, atoms.shape, LA_SPELL_TEXT));
    static const enum la_matrix matrices[] = {LA_A, LA_B, LA_C};
    const char wanted = operand == 'D' ? 'C' : operand;
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++)
        if (!wanted || wanted == "ABC"[i])
            add_matrix(cx, p, mma, matrices[i], wanted);
}

/* ---- values ------------------------------------------------------------------------------------------------- */

static const struct la_atom *mma_atom(const struct la_value *value)
{
    const struct la_atom *atom = value->kind == LA_K_ATOM ? value->object : NULL;
    return atom && atom->kind == LA_ATOM_MMA ? atom : NULL;
}

bool picture_has_operand(const struct la_value *value, char operand)
{
    const char *operands = value->kind == LA_K_TILED_COPY                     ? "SD"
                           : value->kind == LA_K_TILED_MMA || mma_atom(value) ? "ABCD"
                                                                              : "";
    return !operand || strchr(operands, operand);
}

/* An atom by itself, as make_tiled_mma(atom). */
static const struct la_tiled_mma *tiled_mma_of(struct la_ctx *cx, const struct la_atom *atom)
{
    const struct la_layout one = {.shape = la_int(cx, 1, true), .stride = la_int(cx, 0, true)};
    const struct la_node any = {.span = 1, .kind = LA_ANY, .is_static = true};
    const struct la_node *modes[3] = {&any, &any, &any};
    return la_make_tiled_mma(cx, atom, one, la_tuple(cx, 3, modes));
}

void picture_tv(struct la_ctx *cx, struct picture *p, const struct la_value *value,
                const struct la_node *tile, char operand)
{
    if (value->kind == LA_K_TILED_COPY) {
        picture_copy(cx, p, value->object, operand);
    } else if (value->kind == LA_K_TILED_MMA) {
        picture_mma(cx, p, value->object, operand);
    } else if (mma_atom(value)) {
        picture_mma(cx, p, tiled_mma_of(cx, mma_atom(value)), operand);
    } else if (value->kind & LA_K_ANYLAYOUT) {
        if (la_size(cx, value->layout)->value == 0)
            la_fail(cx, LA_E_domain, "%s has no threads or no values", p->title);
        if (!tile)
            tile = la_cosize(cx, value->layout);
        add_panel(cx, p, &(struct part){.tv = value->layout, .tile = tile});
        p->note = la_format(cx, "(thread, value) to an element of the tile %s",
                            la_print_tuple(cx, tile, LA_SPELL_TEXT));
    } else {
        la_fail(cx, LA_E_kind,
                "the view 'tv' needs a TV layout, a tiled copy, a tiled MMA or an MMA atom; the value is %s",
                la_kinds_text(cx, value->kind));
    }
}
