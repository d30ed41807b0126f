/* analysis_atom.c: copy atoms as the instructions that a warp's lanes issue.
 *
 *     UniversalCopy<uint128_t>   a load and a store of 16 bytes    SM75_U32x4_LDSM_N   ldmatrix of 4
 *     AutoVectorizingCopy        as wide as both sides allow       SM80_CP_ASYNC_...   cp.async
 *
 * Where the two ends are addressed differently, as for ldmatrix, the atom's own layouts say how
 * (tiled_copy.c). */
#include "analysis_side.h"

#include <stdlib.h>
#include <string.h>

enum { MATRIX_BITS = 8 * 8 * 16, MATRIX_ROWS = 8 };

static bool named(const struct la_atom *atom, const char *part)
{
    return strstr(atom->name, part) != NULL;
}

static void classify_automatic(const struct la_atom *atom, struct copying *c)
{
    const char *assumed = strchr(atom->name, '<');
    c->automatic = true;
    if (named(atom, "DefaultCopy"))
        c->most_bits = 1; /* one element at a time */
    else if (assumed)
        c->most_bits = strtoll(assumed + 1, NULL, 10);
}

static bool classify(struct analysis *a, const char *field, const struct la_atom *atom, struct copying *c)
{
    const bool trans = named(atom, "_T");
    *c = (struct copying){
        .atom = atom, .load = LA_LOAD, .store = LA_STORE, .most_bits = LA_VECTOR_BITS, .lanes = LA_LANES};
    if (atom->kind != LA_ATOM_COPY)
        return analysis_bad(a, field, "%s is no copy", atom->name);
    if (named(atom, "AutoVectorizingCopy") || named(atom, "DefaultCopy"))
        classify_automatic(atom, c);
    else if (named(atom, "SM75_") && named(atom, "LDSM"))
        c->load = trans ? LA_LDMATRIX_TRANS : LA_LDMATRIX;
    else if (named(atom, "SM90_") && named(atom, "STSM"))
        c->store = trans ? LA_STMATRIX_TRANS : LA_STMATRIX;
    else if (named(atom, "CP_ASYNC"))
        c->load = c->store = LA_CP_ASYNC;
    else if (!named(atom, "UniversalCopy"))
        return analysis_bad(a, field, "%s is no load or store whose lanes address memory one by one",
                            atom->name);
    return true;
}

bool copying_read(struct analysis *a, const char *field, const char *text, const struct la_type *type,
                  struct copying *out)
{
    struct la_ctx *cx = &a->rq->cx;
    a->field = field;
    const struct la_atom *atom = la_atom_named(cx, text);
    if (!classify(a, field, atom, out))
        return false;
    if (!out->automatic && !atom->copy.type)
        out->atom = la_copy_atom(cx, atom, type);
    return true;
}

static int64_t size_of(struct analysis *a, struct la_layout tv)
{
    struct la_ctx *cx = &a->rq->cx;
    return la_size(cx, la_layout_mode(cx, tv, 1))->value;
}

/* The registers' end of ldmatrix and stmatrix is stored or loaded in its own way; the other end has a row a
 * lane. */
static void use_rows(struct analysis *a, enum la_end registers, struct copying *c)
{
    const int64_t bits = size_of(a, c->atom->copy.bits[registers]) * LA_LANES;
    c->lanes = (int32_t)(bits / MATRIX_BITS) * MATRIX_ROWS;
    c->vector[registers] = 0;
}

void copying_tiled(struct analysis *a, const struct la_tiled_copy *tiled, struct copying *c)
{
    struct la_ctx *cx = &a->rq->cx;
    c->whole = la_partition_of_tv(cx, tiled->layout_tv, tiled->tiler);
    c->src = la_partition_of_tv(cx, la_tiled_copy_tv(cx, tiled, LA_SRC), tiled->tiler);
    c->dst = la_partition_of_tv(cx, la_tiled_copy_tv(cx, tiled, LA_DST), tiled->tiler);
    c->vector[LA_SRC] = size_of(a, c->atom->copy.values[LA_SRC]);
    c->vector[LA_DST] = size_of(a, c->atom->copy.values[LA_DST]);
    if (la_access_is_matrix(c->load))
        use_rows(a, LA_DST, c);
    if (la_access_is_matrix(c->store))
        use_rows(a, LA_SRC, c);
}

void copying_over(struct analysis *a, const struct la_partition *whole, struct copying *c)
{
    c->whole = c->src = c->dst = *whole;
    if (!c->automatic)
        copying_tiled(a, la_tiled_copy(&a->rq->cx, c->atom, whole->tv, whole->tiler), c);
}
