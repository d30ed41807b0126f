/* analysis_warn.c: the mistakes of a copy that neither compiler nor card reports, each said aloud.
 *
 *     {"code":"run_time_stride","in":"src","detail":"the stride 1 is a run-time integer: ... write _1"}
 *
 * A warning names the field to look at. Nothing here changes a number of the answer. */
#include "analysis_copy.h"

static void warn(struct json *j, const char *code, const char *field, const char *detail)
{
    json_open(j, '{');
    json_member_text(j, "code", code);
    json_member_text(j, "in", field);
    json_member_text(j, "detail", detail);
    json_close(j, '}');
}

/* ---- the partition ------------------------------------------------------------------------------------------ */

static const char *coord_text(struct json *j, const struct la_partition *p, int64_t index)
{
    return la_print_tuple(j->cx, la_partition_coord(j->cx, p, index), LA_SPELL_TEXT);
}

static void warn_coverage(struct json *j, const struct copy_half *half, const struct la_coverage *c)
{
    const struct la_partition *p = &half->whole;
    const char *field = la_format(j->cx, "%sthr", half->prefix);
    if (c->missed)
        warn(j, "missed", field,
             la_format(j->cx, "%lld of %lld elements of the tile have no thread, first %s",
                       (long long)c->missed, (long long)p->elements, coord_text(j, p, c->missed_at[0])));
    if (c->doubled)
        warn(j, "doubled", field,
             la_format(j->cx, "%lld elements of the tile have several owners, first %s",
                       (long long)c->doubled, coord_text(j, p, c->doubled_at[0][0])));
    if (c->outside)
        warn(j, "outside_tile", field,
             la_format(j->cx, "%lld values lie outside the tile, first value %lld of thread %lld",
                       (long long)c->outside, (long long)(c->outside_at[0] / p->threads),
                       (long long)(c->outside_at[0] % p->threads)));
}

/* Registers go from the first half to the second by number: the same value must be the same element. */
static void warn_order(struct json *j, const struct copy *c)
{
    const struct la_partition *from = &c->half[0].dst, *to = &c->half[1].src;
    if (from->threads != to->threads || from->values != to->values || from->elements != to->elements) {
        warn(j, "value_order", "dst_thr",
             la_format(
                 j->cx,
                 "the halves have %lld threads of %lld values and %lld of %lld: without smem they must agree",
                 (long long)from->threads, (long long)from->values, (long long)to->threads,
                 (long long)to->values));
        return;
    }
    for (int64_t place = 0; place < from->threads * from->values; place++)
        if (from->index[place] != to->index[place]) {
            warn(j, "value_order", "dst_thr",
                 la_format(
                     j->cx,
                     "value %lld of thread %lld is the element %s in the source, but %s in the destination",
                     (long long)(place / from->threads), (long long)(place % from->threads),
                     coord_text(j, from, from->index[place]), coord_text(j, to, to->index[place])));
            return;
        }
}

/* ---- memory ------------------------------------------------------------------------------------------------- */

static void warn_outside(struct json *j, const struct copy_side *s)
{
    const struct la_partition *p = &s->reach.part;
    int64_t idle = 0, first = -1, cut = 0;
    for (int64_t place = 0; place < p->threads * p->values; place++) {
        const bool inside = p->index[place] >= 0 && p->index[place] < p->elements;
        if (!inside || !(s->reach.outside[place] & LA_NEVER))
            continue;
        first = first < 0 ? place : first;
        idle++;
    }
    for (uint32_t i = 0; i < s->reach.kinds; i++)
        cut += s->reach.kind[i].edges ? s->reach.kind[i].count : 0;
    if (idle)
        warn(j, "outside_shape", s->field,
             la_format(
                 j->cx,
                 "the tile %s is larger than the shape: %lld values lie outside of it, first value %lld of "
                 "thread %lld",
                 la_print_tuple(j->cx, p->tiler, LA_SPELL_TEXT), (long long)idle,
                 (long long)(first / p->threads), (long long)(first % p->threads)));
    else if (cut)
        warn(j, "edge", s->field,
             la_format(j->cx, "the tile %s does not divide the shape: %lld of %lld tiles need a predicate",
                       la_print_tuple(j->cx, p->tiler, LA_SPELL_TEXT), (long long)cut,
                       (long long)s->reach.tiles));
}

static void warn_width(struct json *j, const struct copy *c, const struct copy_side *s)
{
    if (s->wanted > s->vectors.widest)
        warn(j, "too_wide", s->field,
             la_format(j->cx, "the atom accesses %lld bits at a time, but %lld is the widest here: %s",
                       (long long)s->wanted * c->bits, (long long)s->vectors.widest * c->bits,
                       s->vectors.text));
    if (!s->vectors.is_static)
        warn(j, "run_time_stride", s->field,
             "the stride 1 is a run-time integer: CuTe takes no two elements for neighbours and copies one "
             "by one; write _1");
    if ((s->op == LA_LDMATRIX_TRANS || s->op == LA_STMATRIX_TRANS) && c->bits != 16)
        warn(
            j, "matrix_width", "type",
            la_format(
                j->cx,
                "%s transposes matrices of 16-bit elements; these have %u bits and are torn or kept in pairs",
                la_access_op_name(s->op), c->bits));
    else if (la_access_is_matrix(s->op) && c->bits > 32)
        warn(j, "matrix_width", "type",
             la_format(j->cx,
                       "%s gives each lane 32 bits of a row: an element of %u bits is split between lanes",
                       la_access_op_name(s->op), c->bits));
}

/* Bits that no offset of the layout has are always 0, so what they swizzle is nothing; flipped, they lead beyond it. */
static void warn_swizzle(struct json *j, const struct copy_side *s)
{
    if (!s->memory.outer || s->memory.outer->kind != LA_K_SWIZZLE)
        return;
    const struct la_swizzle w = s->reach.memory.outer->swizzle;
    const struct la_layout plain = {.shape = s->memory.shape, .stride = s->memory.stride};
    const int64_t cosize = la_cosize(j->cx, plain)->value;
    const int32_t distance = w.shift < 0 ? -w.shift : w.shift, top = w.base + distance + w.bits;
    if (w.bits > 0 && cosize <= INT64_C(1) << (top - 1))
        warn(j, "swizzle_reach", s->field,
             la_format(j->cx,
                       "%s looks at the bits %d to %d of an offset, but the layout has only %lld offsets",
                       swizzle_text(j->cx, w), w.base, top - 1, (long long)cosize));
    if (s->facts.counted && s->facts.high >= cosize)
        warn(j, "swizzle_beyond", s->field,
             la_format(j->cx, "the swizzle reaches the offset %lld, beyond the %lld elements of the layout",
                       (long long)s->facts.high, (long long)cosize));
}

static void warn_side(struct json *j, const struct copy *c, const struct copy_side *s)
{
    warn_outside(j, s);
    warn_width(j, c, s);
    warn_swizzle(j, s);
    if (s->end == LA_DST && s->facts.known && !s->facts.injective)
        warn(j, "not_injective", s->field,
             la_format(j->cx, "%lld elements share %lld offsets: some writes are lost",
                       (long long)s->facts.size, (long long)s->facts.distinct));
}

/* ---- all of it ---------------------------------------------------------------------------------------------- */

static void warn_shapes(struct json *j, const struct copy *c)
{
    const struct copy_side *first = &c->side[0], *last = c->sides ? &c->side[c->sides - 1] : first;
    if (c->sides < 2 || first->space != LA_GLOBAL || last->space != LA_GLOBAL || first == last)
        return;
    if (first->facts.size != last->facts.size)
        warn(j, "shapes", last->field,
             la_format(j->cx, "%s has %lld elements and %s %lld", first->field, (long long)first->facts.size,
                       last->field, (long long)last->facts.size));
}

void json_copy_warnings(struct json *j, const struct copy *c)
{
    bool has_smem = false;
    for (uint32_t i = 0; i < c->sides; i++)
        has_smem = has_smem || c->side[i].space == LA_SHARED;
    json_open_member(j, "warnings", '[');
    warn_coverage(j, &c->half[0], &c->coverage[0]);
    if (c->has_second)
        warn_coverage(j, &c->half[1], &c->coverage[1]);
    if (c->has_second && !has_smem)
        warn_order(j, c);
    for (uint32_t i = 0; i < c->sides; i++)
        warn_side(j, c, &c->side[i]);
    warn_shapes(j, c);
    json_close(j, ']');
}
