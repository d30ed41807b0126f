/* print.c: values to text, in CuTe's spelling or without its underscores. Law: parse(print(v)) = v.
 *
 *     (_2,(_2,3)):(_3,(_6,_1))        a layout             Sw<3,4,3> o _0 o _8:_1     composed: outer o offset o inner
 *     _2@1@0                          a basis, innermost first */
#include "internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    SHOWN = 72 /* characters of a value in a message: three of them fit with their sentence */
};

/* Text that grows in the arena. */
struct writer {
    struct la_ctx *cx;
    char *text;
    size_t len, cap;
    enum la_spelling spelling;
};

static char *room(struct writer *w, size_t n)
{
    if (w->len + n + 1 > w->cap) {
        size_t cap = w->cap ? w->cap : 64;
        while (cap < w->len + n + 1)
            cap *= 2;
        char *text = la_alloc(w->cx, cap);
        if (w->len)
            memcpy(text, w->text, w->len);
        w->text = text;
        w->cap = cap;
    }
    char *p = w->text + w->len;
    w->len += n;
    return p;
}

static void put(struct writer *w, const char *s)
{
    const size_t n = strlen(s);
    memcpy(room(w, n), s, n);
}

static void put_char(struct writer *w, char c)
{
    *room(w, 1) = c;
}

static void put_int(struct writer *w, int64_t v)
{
    char digits[24], *end = digits + sizeof digits, *p = end;
    uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    do
        *--p = (char)('0' + u % 10);
    while (u /= 10);
    if (v < 0)
        *--p = '-';
    memcpy(room(w, (size_t)(end - p)), p, (size_t)(end - p));
}

static const char *done(struct writer *w)
{
    *room(w, 1) = '\0';
    return w->text;
}

static void put_value(struct writer *w, const struct la_value *v);

static void put_leaf(struct writer *w, const struct la_node *n)
{
    if (n->kind == LA_ANY) {
        put_char(w, '_');
    } else if (n->kind == LA_LEAF && n->leaf->kind & (LA_K_ATOM | LA_K_TILED_COPY | LA_K_TILED_MMA)) {
        put(w, la_tiled_name(w->cx, n->leaf)); /* in a message: one line */
    } else if (n->kind == LA_LEAF) {
        put_value(w, n->leaf);
    } else if (n->kind == LA_SMEM) {
        put(w, "smem_ptr[");
        put_int(w, n->value);
        put(w, "b](unset)");
    } else if (n->kind == LA_BITS) {
        char text[64];
        snprintf(text, sizeof text, "M_%" PRIu32 "|(%" PRIu32 "&%" PRIu32 ")=%" PRId64, n->bits->known,
                 n->bits->run, n->bits->free, n->value);
        put(w, text);
    } else {
        if (n->is_static && w->spelling == LA_SPELL_CUTE)
            put_char(w, '_');
        put_int(w, n->value);
        for (uint32_t i = n->path ? n->path->len : 0; i-- > 0;) {
            put_char(w, '@');
            put_int(w, n->path->at[i]);
        }
    }
}

static void put_tuple(struct writer *w, const struct la_node *n)
{
    if (n->kind != LA_TUPLE) {
        put_leaf(w, n);
        return;
    }
    put_char(w, '(');
    for (const struct la_node *m = n + 1; m < n + n->span; m = la_next(m)) {
        if (m > n + 1)
            put_char(w, ',');
        put_tuple(w, m);
    }
    put_char(w, ')');
}

static void put_layout(struct writer *w, struct la_layout a)
{
    if (a.outer) {
        put_value(w, a.outer);
        put(w, " o ");
        put_tuple(w, a.offset);
        put(w, " o ");
    }
    put_tuple(w, a.shape);
    put_char(w, ':');
    put_tuple(w, a.stride);
}

static void put_value(struct writer *w, const struct la_value *v)
{
    switch (v->kind) {
    case LA_K_LAYOUT:
    case LA_K_COMPOSED:
        put_layout(w, v->layout);
        break;
    case LA_K_SWIZZLE: {
        char text[64];
        snprintf(text, sizeof text, "Sw<%d,%d,%d>", v->swizzle.bits, v->swizzle.base, v->swizzle.shift);
        put(w, text);
        break;
    }
    case LA_K_BOOL:
        put(w, v->truth ? "true" : "false");
        break;
    case LA_K_TYPE:
        put(w, v->type->name);
        break;
    case LA_K_TEXT:
        put(w, v->text);
        break;
    case LA_K_ATOM:
    case LA_K_TILED_COPY:
    case LA_K_TILED_MMA:
        put(w, la_tiled_text(w->cx, v, w->spelling));
        break;
    default:
        put_tuple(w, v->tuple);
    }
}

const char *la_print(struct la_ctx *cx, const struct la_value *value, enum la_spelling spelling)
{
    struct writer w = {.cx = cx, .spelling = spelling};
    put_value(&w, value);
    return done(&w);
}

const char *la_print_tuple(struct la_ctx *cx, const struct la_node *n, enum la_spelling spelling)
{
    struct writer w = {.cx = cx, .spelling = spelling};
    put_tuple(&w, n);
    return done(&w);
}

const char *la_print_layout(struct la_ctx *cx, struct la_layout layout, enum la_spelling spelling)
{
    struct writer w = {.cx = cx, .spelling = spelling};
    put_layout(&w, layout);
    return done(&w);
}

static const char *shortened(const char *text)
{
    const size_t n = strlen(text);
    if (n > SHOWN)
        memcpy((char *)text + SHOWN - 3, "...", 4); /* it was printed just now, into the arena */
    return text;
}

const char *la_show(struct la_ctx *cx, const struct la_node *n)
{
    return shortened(la_print_tuple(cx, n, LA_SPELL_CUTE));
}

const char *la_show_layout(struct la_ctx *cx, struct la_layout a)
{
    return shortened(la_print_layout(cx, a, LA_SPELL_CUTE));
}

/* ---- kinds ---- */

static const struct {
    enum la_kind kind;
    const char *name, *phrase;
} kinds[] = {
    {LA_K_INT, "int", "an integer"},
    {LA_K_TUPLE, "tuple", "a tuple"},
    {LA_K_TILE, "tiler", "a tiler"},
    {LA_K_LAYOUT, "layout", "a layout"},
    {LA_K_COMPOSED, "composed", "a composed layout"},
    {LA_K_SWIZZLE, "swizzle", "a swizzle"},
    {LA_K_BOOL, "bool", "a truth"},
    {LA_K_ANY, "underscore", "_"},
    {LA_K_TYPE, "type", "a type or tag"},
    {LA_K_TILED_COPY, "tiled_copy", "a tiled copy"},
    {LA_K_TILED_MMA, "tiled_mma", "a tiled MMA"},
    {LA_K_ATOM, "atom", "an atom"},
    {LA_K_TEXT, "data", "data of the host"},
};

const char *la_kind_name(enum la_kind kind)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].kind == kind)
            return kinds[i].name;
    return "unknown";
}

const char *la_kinds_text(struct la_ctx *cx, unsigned set)
{
    struct writer w = {.cx = cx};
    unsigned left = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        left += (set & kinds[i].kind) != 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!(set & kinds[i].kind))
            continue;
        if (w.len)
            put(&w, left == 1 ? " or " : ", ");
        put(&w, kinds[i].phrase);
        left--;
    }
    return done(&w);
}
