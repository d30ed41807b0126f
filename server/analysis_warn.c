/* analysis_warn.c: the mistakes that neither compiler nor card reports, each said aloud.
 *
 *     {"code":"run_time_stride","in":"src","detail":"the stride 1 is a run-time integer: ... write _1"}
 *
 * A warning names the field to look at. Nothing here changes a number of the answer. */
#include "analysis_side.h"

static void warn(struct json *j, const char *code, const char *field, const char *detail)
{
    json_open(j, '{');
    json_member_text(j, "code", code);
    json_member_text(j, "in", field);
    json_member_text(j, "detail", detail);
    json_close(j, '}');
}

/* ---- partitions ---------------------------------------------------------------------------------------- */

static const char *coord_text(struct json *j, const struct la_partition *p, int64_t index)
{
    if (index < 0 || index >= p->elements)
        return "outside the tile";
    return la_print_tuple(j->cx, la_partition_coord(j->cx, p, index), LA_SPELL_TEXT);
}

void warn_coverage(struct json *j, const char *field, const struct la_partition *p,
                   const struct la_coverage *c)
{
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

/* Registers go from one partition to the next by number: the same value must be the same element. */
void warn_order(struct json *j, const char *field, const struct la_partition *from,
                const struct la_partition *to)
{
    if (from->threads != to->threads || from->values != to->values || from->elements != to->elements) {
        warn(j, "value_order", field,
             la_format(j->cx, "%lld threads of %lld values meet %lld of %lld: without smem they must agree",
                       (long long)from->threads, (long long)from->values, (long long)to->threads,
                       (long long)to->values));
        return;
    }
    for (int64_t place = 0; place < from->threads * from->values; place++)
        if (from->index[place] != to->index[place]) {
            warn(j, "value_order", field,
                 la_format(
                     j->cx,
                     "value %lld of thread %lld is the element %s in the source, but %s in the destination",
                     (long long)(place / from->threads), (long long)(place % from->threads),
                     coord_text(j, from, from->index[place]), coord_text(j, to, to->index[place])));
            return;
        }
}

/* ---- memory -------------------------------------------------------------------------------------------- */

static void warn_edges(struct json *j, const struct side *s)
{
    int64_t cut = 0;
    for (uint32_t i = 0; i < s->reach.kinds; i++)
        cut += s->reach.kind[i].edges ? s->reach.kind[i].count : 0;
    if (cut)
        warn(j, "edge", s->field,
             la_format(j->cx, "the tile %s does not divide the shape: %lld of %lld tiles need a predicate",
                       la_print_tuple(j->cx, s->reach.part.tiler, LA_SPELL_TEXT), (long long)cut,
                       (long long)s->reach.tiles));
}

static void warn_outside(struct json *j, const struct side *s)
{
    const struct la_partition *p = &s->reach.part;
    int64_t idle = 0, first = -1;
    for (int64_t place = 0; place < p->threads * p->values; place++) {
        const bool in_tile = p->index[place] >= 0 && p->index[place] < p->elements;
        if (!in_tile || !(s->reach.outside[place] & LA_NEVER))
            continue;
        first = first < 0 ? place : first;
        idle++;
    }
    if (idle)
        warn(j, "outside_shape", s->field,
             la_format(
                 j->cx,
                 "the tile %s is larger than the shape: %lld values lie outside of it, first value %lld of "
                 "thread %lld",
                 la_print_tuple(j->cx, p->tiler, LA_SPELL_TEXT), (long long)idle,
                 (long long)(first / p->threads), (long long)(first % p->threads)));
    else
        warn_edges(j, s);
}

static void warn_width(struct json *j, const struct side *s)
{
    if (s->wanted > s->vectors.widest)
        warn(j, "too_wide", s->field,
             la_format(j->cx, "the atom accesses %lld bits at a time, but %lld is the widest here: %s",
                       (long long)s->wanted * s->bits, (long long)s->vectors.widest * s->bits,
                       s->vectors.text));
    if (!s->vectors.is_static)
        warn(j, "run_time_stride", s->field,
             "the stride 1 is a run-time integer: CuTe takes no two elements for neighbours and copies one "
             "by one; "
             "write _1");
}

/* ldmatrix hands out rows in pairs of 16 bits, and its transpose single 16-bit elements. */
static void warn_matrix(struct json *j, const struct side *s)
{
    const enum la_access_op op = side_op(s);
    if ((op == LA_LDMATRIX_TRANS || op == LA_STMATRIX_TRANS) && s->bits != 16)
        warn(j, "matrix_width", "type",
             la_format(j->cx, "%s transposes elements of 16 bits; of %u bits %s", la_access_op_name(op),
                       s->bits, s->bits < 16 ? "several stay together" : "each is torn"));
    else if (la_access_is_matrix(op) && s->bits > 32)
        warn(j, "matrix_width", "type",
             la_format(j->cx,
                       "%s gives each lane 32 bits of a row: an element of %u bits is split between lanes",
                       la_access_op_name(op), s->bits));
}

/* Bits that no offset of the layout has are always 0, so what they swizzle is nothing; flipped, they lead
 * beyond it. */
static void warn_swizzle(struct json *j, const struct side *s)
{
    if (!s->reach.memory.outer)
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

void warn_side(struct json *j, const struct side *s)
{
    warn_outside(j, s);
    warn_width(j, s);
    warn_matrix(j, s);
    warn_swizzle(j, s);
    if (s->end == LA_DST && s->facts.known && !s->facts.injective)
        warn(j, "not_injective", s->field,
             la_format(j->cx, "%lld elements share %lld offsets: some writes are lost",
                       (long long)s->facts.size, (long long)s->facts.distinct));
}

void warn_shapes(struct json *j, const struct side *first, const struct side *last)
{
    if (first->facts.size != last->facts.size)
        warn(j, "shapes", last->field,
             la_format(j->cx, "%s has %lld elements and %s %lld", first->field, (long long)first->facts.size,
                       last->field, (long long)last->facts.size));
}
