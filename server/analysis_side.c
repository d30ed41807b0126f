/* analysis_side.c: one side of a copy or an MMA: a partition laid over a memory, costed, and told as JSON.
 *
 *     {"space":"shared","op":"ldmatrix","wavefronts":64,"ideal":64,"vectors":{...},"memory":{...},...}
 *
 * An atom that is wider than the layout allows is costed at the widest access that is possible;
 * analysis_warn.c says so. */
#include "analysis_side.h"

enum { CP_ASYNC_BITS = 32 }; /* the narrowest */

static const struct la_partition *partition_of(const struct side *s)
{
    return s->end == LA_SRC ? &s->copying->src : &s->copying->dst;
}

enum la_access_op side_op(const struct side *s)
{
    return s->end == LA_SRC ? s->copying->load : s->copying->store;
}

bool side_open(struct analysis *a, struct side *s)
{
    struct la_ctx *cx = &a->rq->cx;
    if (!analysis_memory(a, s->field, field_notation(a->rq, s->field), &s->memory))
        return false;
    s->reach = la_reach_make(cx, partition_of(s), s->memory, s->bits, 0);
    s->vectors = la_vectors_of(cx, &s->reach);
    s->facts = la_facts_of(cx, s->memory);
    return true;
}

void side_cost(struct analysis *a, struct side *s, int64_t automatic)
{
    struct la_ctx *cx = &a->rq->cx;
    const struct copying *c = s->copying;
    const enum la_access_op op = side_op(s);
    const int64_t widest = s->vectors.widest, own = c->automatic ? automatic : c->vector[s->end];
    s->wanted = own ? own : widest;
    a->field = s->field;
    if (la_access_is_matrix(op) && s->wanted > widest)
        la_fail(cx, LA_E_not_contiguous,
                "a row of %s needs 16 contiguous bytes: %s (thr and val say who holds what in registers)",
                la_access_op_name(op), s->vectors.text);
    if (op == LA_CP_ASYNC && s->wanted > widest && widest * s->bits < CP_ASYNC_BITS)
        la_fail(cx, LA_E_not_contiguous, "cp.async moves 4 bytes at least: %s", s->vectors.text);
    s->traffic = la_traffic_of(cx, &s->reach, s->space, op, la_access_is_matrix(op) ? c->lanes : LA_LANES,
                               s->wanted < widest ? s->wanted : widest);
}

void json_side(struct json *j, const struct side *s)
{
    json_open_member(j, s->name, '{');
    json_traffic(j, &s->traffic);
    json_key(j, "vectors");
    json_vectors(j, &s->vectors, s->bits);
    json_key(j, "memory");
    json_facts(j, s->memory, &s->facts);
    json_key(j, "swizzle");
    if (s->reach.memory.outer) {
        json_open(j, '{');
        json_swizzle_units(j, s->reach.memory.outer->swizzle, s->bits);
        json_close(j, '}');
    } else {
        json_null(j);
    }
    json_close(j, '}');
}
