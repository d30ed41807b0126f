/* tiled_text.c: atoms, tiled copies and tiled MMAs as CuTe prints them: a title, then a line a layout. */
#include "internal.h"

struct lines {
    struct la_ctx *cx;
    const char *text;
    enum la_spelling spelling;
};

static void add(struct lines *l, const char *label, const char *value)
{
    l->text = la_format(l->cx, "%s\n  %s%s", l->text, label, value);
}

static void add_layout(struct lines *l, const char *label, struct la_layout a)
{
    add(l, label, la_print_layout(l->cx, a, l->spelling));
}

static void add_tuple(struct lines *l, const char *label, const struct la_node *n)
{
    add(l, label, la_print_tuple(l->cx, n, l->spelling));
}

static void title(struct lines *l, const char *text)
{
    l->text = la_format(l->cx, "%s%s%s", l->text, l->text[0] ? "\n" : "", text);
}

static void put_mma_atom(struct lines *l, const struct la_atom *atom)
{
    title(l, "MMA_Atom");
    add_layout(l, "ThrID:      ", atom->thr_id);
    add_tuple(l, "Shape_MNK:  ", atom->mma.shape_mnk);
    add_layout(l, "LayoutA_TV: ", atom->mma.tv[LA_A]);
    add_layout(l, "LayoutB_TV: ", atom->mma.tv[LA_B]);
    add_layout(l, "LayoutC_TV: ", atom->mma.tv[LA_C]);
}

static void put_copy_atom(struct lines *l, const struct la_atom *atom)
{
    const bool typed = atom->copy.type != NULL;
    const struct la_layout *layouts = typed ? atom->copy.values : atom->copy.bits;
    title(l, typed ? "Copy_Atom" : "Copy_Traits");
    add_layout(l, typed ? "ThrID:        " : "ThrID:     ", atom->thr_id);
    if (!layouts[LA_SRC].shape)
        return;
    add_layout(l, typed ? "ValLayoutSrc: " : "SrcLayout: ", layouts[LA_SRC]);
    add_layout(l, typed ? "ValLayoutDst: " : "DstLayout: ", layouts[LA_DST]);
    add_layout(l, typed ? "ValLayoutRef: " : "RefLayout: ", layouts[LA_REF]);
    if (typed)
        add(l, "ValueType:    ", la_format(l->cx, "%ub", atom->copy.type->bits));
}

static void put_tiled_copy(struct lines *l, const struct la_tiled_copy *copy)
{
    if (copy->thread) {
        title(l, "ThrCopy");
        add_tuple(l, "ThrIdx: ", copy->thread);
    }
    title(l, "TiledCopy");
    add_tuple(l, "Tiler_MN:       ", copy->tiler);
    add_layout(l, "TiledLayout_TV: ", copy->layout_tv);
    put_copy_atom(l, copy->atom);
}

static void put_tiled_mma(struct lines *l, const struct la_tiled_mma *mma)
{
    if (mma->thread) {
        title(l, "ThrMMA");
        add_tuple(l, "Thr VMNK: ", mma->thread);
    }
    title(l, "TiledMMA");
    add_layout(l, "ThrLayoutVMNK:  ", mma->thr_vmnk);
    add_tuple(l, "PermutationMNK: ", mma->permutation);
    put_mma_atom(l, mma->atom);
}

const char *la_tiled_text(struct la_ctx *cx, const struct la_value *v, enum la_spelling spelling)
{
    struct lines l = {.cx = cx, .text = "", .spelling = spelling};
    if (v->kind == LA_K_TILED_COPY) {
        put_tiled_copy(&l, v->object);
    } else if (v->kind == LA_K_TILED_MMA) {
        put_tiled_mma(&l, v->object);
    } else {
        const struct la_atom *atom = v->object;
        (atom->kind == LA_ATOM_MMA ? put_mma_atom : put_copy_atom)(&l, atom);
    }
    return l.text;
}

const char *la_tiled_name(struct la_ctx *cx, const struct la_value *v)
{
    if (v->kind == LA_K_TILED_COPY)
        return la_format(cx, "TiledCopy of %s", ((const struct la_tiled_copy *)v->object)->atom->name);
    if (v->kind == LA_K_TILED_MMA)
        return la_format(cx, "TiledMMA of %s", ((const struct la_tiled_mma *)v->object)->atom->name);
    return ((const struct la_atom *)v->object)->name;
}
