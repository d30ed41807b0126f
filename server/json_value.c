/* json_value.c: values as JSON.
 *
 *     (_3,_4):(_1,_3)  ->  "type":"layout","text":"(3,4):(1,3)","cute":"(_3,_4):(_1,_3)",
 *                          "value":{"shape":[3,4],"stride":[1,3],"rank":2,"depth":1,"size":12,"cosize":12}
 *     make_tiled_mma(...)  ->  "value":{"atom":"SM80_...","atom_layout":"(2,2,1):(1,2,0)","permutation":"(32,32,16)", ...}
 * An integer is a number, a tuple an array; what JSON has no word for (_, a scaled basis, a type) is the text that CuTe
 * prints. A size that 64 bits do not hold is null: the layout itself is still a right answer. A tiled copy or MMA has
 * the fields of a job's spec, as far as it was made of such: what it was not made of is null. */
#include "json.h"

static void write_layout(struct json *j, struct la_layout layout);

static void write_leaf(struct json *j, const struct la_value *leaf)
{
    if (leaf->kind == LA_K_LAYOUT || leaf->kind == LA_K_COMPOSED)
        write_layout(j, leaf->layout);
    else
        json_text(j, la_print(j->cx, leaf, LA_SPELL_TEXT));
}

/* Recursion is safe: the parser bounds the depth of every tuple. */
void json_tuple(struct json *j, const struct la_node *n)
{
    if (n->kind == LA_TUPLE) {
        json_open(j, '[');
        const struct la_node *mode = n + 1;
        for (int64_t i = 0; i < n->value; i++, mode = la_next(mode))
            json_tuple(j, mode);
        json_close(j, ']');
    } else if (n->kind == LA_LEAF) {
        write_leaf(j, n->leaf);
    } else if (n->kind == LA_INT && !n->path) {
        json_int(j, n->value);
    } else {
        json_text(j, la_print_tuple(j->cx, n, LA_SPELL_TEXT));
    }
}

static int64_t depth_of(const struct la_node *n)
{
    int64_t deepest = 0;
    if (n->kind != LA_TUPLE)
        return 0;
    const struct la_node *mode = n + 1;
    for (int64_t i = 0; i < n->value; i++, mode = la_next(mode)) {
        int64_t depth = depth_of(mode);
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest + 1;
}

/* size or cosize of a layout; result stays NULL when it has none in 64 bits. */
struct measure {
    struct la_layout layout;
    const struct la_node *(*of)(struct la_ctx *cx, struct la_layout layout);
    const struct la_node *result;
};

static void measure_run(struct la_ctx *cx, void *arg)
{
    struct measure *m = arg;
    m->result = m->of(cx, m->layout);
}

static void write_measure(struct json *j, const char *key, struct la_layout layout,
                          const struct la_node *(*of)(struct la_ctx *cx, struct la_layout layout))
{
    struct measure m = {.layout = layout, .of = of};
    json_key(j, key);
    if (la_try(j->cx, measure_run, &m))
        json_tuple(j, m.result);
    else
        json_null(j);
}

static void write_layout(struct json *j, struct la_layout layout)
{
    json_open(j, '{');
    if (layout.outer) {
        json_key(j, "outer");
        json_text(j, la_print(j->cx, layout.outer, LA_SPELL_TEXT));
        json_key(j, "offset");
        json_tuple(j, layout.offset);
    }
    json_key(j, "shape");
    json_tuple(j, layout.shape);
    json_key(j, "stride");
    json_tuple(j, layout.stride);
    json_key(j, "rank");
    json_int(j, la_rank(layout.shape));
    json_key(j, "depth");
    json_int(j, depth_of(layout.shape));
    write_measure(j, "size", layout, la_size);
    write_measure(j, "cosize", layout, la_cosize);
    json_close(j, '}');
}

static void write_swizzle(struct json *j, struct la_swizzle s)
{
    json_open(j, '{');
    json_key(j, "bits");
    json_int(j, s.bits);
    json_key(j, "base");
    json_int(j, s.base);
    json_key(j, "shift");
    json_int(j, s.shift);
    json_close(j, '}');
}

static void member_text(struct json *j, const char *key, const char *text)
{
    json_key(j, key);
    json_text(j, text);
}

static void member_tuple(struct json *j, const char *key, const struct la_node *n)
{
    json_key(j, key);
    if (n)
        json_text(j, la_print_tuple(j->cx, n, LA_SPELL_TEXT));
    else
        json_null(j);
}

static void member_layout(struct json *j, const char *key, struct la_layout layout)
{
    json_key(j, key);
    if (layout.shape)
        json_text(j, la_print_layout(j->cx, layout, LA_SPELL_TEXT));
    else
        json_null(j);
}

static void write_tiled_copy(struct json *j, const struct la_tiled_copy *copy)
{
    json_open(j, '{');
    member_text(j, "atom", copy->atom->name);
    member_text(j, "type", la_type_name(copy->atom->copy.type));
    member_layout(j, "thr", copy->thr);
    member_layout(j, "val", copy->val);
    member_tuple(j, "tiler", copy->tiler);
    member_layout(j, "tv", copy->layout_tv);
    member_tuple(j, "thread", copy->thread);
    json_close(j, '}');
}

static void write_tiled_mma(struct json *j, const struct la_tiled_mma *mma)
{
    json_open(j, '{');
    member_text(j, "atom", mma->atom->name);
    member_layout(j, "atom_layout", mma->atoms);
    member_tuple(j, "permutation", mma->permutation);
    member_layout(j, "thr_layout_vmnk", mma->thr_vmnk);
    member_tuple(j, "thread", mma->thread);
    json_close(j, '}');
}

void json_value(struct json *j, const struct la_value *value)
{
    const char *text = la_print(j->cx, value, LA_SPELL_TEXT);
    json_key(j, "type");
    json_text(j, la_kind_name(value->kind));
    json_key(j, "text");
    json_text(j, text);
    json_key(j, "cute");
    json_text(j, la_print(j->cx, value, LA_SPELL_CUTE));
    json_key(j, "value");
    switch ((unsigned)value->kind) {
    case LA_K_INT:
    case LA_K_TUPLE:
    case LA_K_TILE:
    case LA_K_ANY:
        json_tuple(j, value->tuple);
        break;
    case LA_K_LAYOUT:
    case LA_K_COMPOSED:
        write_layout(j, value->layout);
        break;
    case LA_K_SWIZZLE:
        write_swizzle(j, value->swizzle);
        break;
    case LA_K_TILED_COPY:
        write_tiled_copy(j, value->object);
        break;
    case LA_K_TILED_MMA:
        write_tiled_mma(j, value->object);
        break;
    case LA_K_BOOL:
        json_bool(j, value->truth);
        break;
    default:
        json_text(j, text);
    }
}

void json_table(struct json *j, const struct la_table *table)
{
    json_open(j, '{');
    json_key(j, "rows");
    json_int(j, table->rows);
    json_key(j, "cols");
    json_int(j, table->cols);
    json_key(j, "row_shape");
    json_tuple(j, table->row_shape);
    json_key(j, "col_shape");
    json_tuple(j, table->col_shape);
    json_key(j, "offsets");
    json_ints(j, table->offsets, (size_t)(table->rows * table->cols));
    json_close(j, '}');
}
