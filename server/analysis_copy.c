/* analysis_copy.c: /copy, what a copy's partitions do to memory on each side; nothing is run.
 *
 *     POST /copy {"type":"half_t","atom":"UniversalCopy<uint128_t>","thr":"(32,8):(8,1)","val":"(1,8):(0,1)",
 *                 "src":"(4096,4096):(4096,1)","dst":"(4096,4096):(4096,1)"}
 *     ->  {"tv":...,"coverage":{...},"sides":{"src":{"sectors":...,"vectors":{...},...},"dst":{...}},"warnings":[...]}
 *
 * It takes the spec of a copy job. Without smem a copy is one half: from src to dst. With smem there are two, src to smem
 * and smem to dst; the second has the partition of the first unless dst_thr and dst_val say otherwise. What would be a
 * mistake that nothing reports on the card is a warning: see analysis_warn.c. */
#include "analysis_copy.h"
#include "exchange.h"
#include "pure.h"

#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = {"copy", NULL};

const struct field copy_fields[] = {
    {"type", FIELD_NOTATION, true, NULL, "The type of an element: half_t."},
    {"thr", FIELD_NOTATION, false, NULL, "Threads, as make_tiled_copy takes them."},
    {"val", FIELD_NOTATION, false, NULL, "The values of a thread, likewise."},
    {"tv", FIELD_NOTATION, false, NULL, "Instead of thr and val: (thread, value) to an index in the tile."},
    {"tile", FIELD_NOTATION, false, NULL, "With tv: the extents of the tile."},
    {"atom", FIELD_TEXT, false, NULL, "The copy atom; AutoVectorizingCopy if absent."},
    {"src", FIELD_NOTATION, false, NULL, "The source in global memory."},
    {"dst", FIELD_NOTATION, false, NULL, "The destination in global memory."},
    {"smem", FIELD_NULLABLE, false, NULL, "The shared memory between them, swizzled or not; null: none."},
    {"dst_thr", FIELD_NOTATION, false, NULL, "Threads of the second half; those of the first if absent."},
    {"dst_val", FIELD_NOTATION, false, NULL, "Values of the second half; those of the first if absent."},
    {"dst_tv", FIELD_NOTATION, false, NULL, "Instead of dst_thr and dst_val."},
    {"dst_tile", FIELD_NOTATION, false, NULL, "With dst_tv: the extents of the tile."},
    {"dst_atom", FIELD_TEXT, false, NULL, "The copy atom of the second half."},
    FIELD_INTEGERS,
    {"kind", FIELD_CHOICE, false, kinds, "Of a job's spec."},
    {"executor", FIELD_TEXT, false, NULL, "Of a job's spec: where it runs, of no consequence here."},
    {"cache", FIELD_TEXT, false, NULL, "Of a job's spec, of no consequence here."},
    {"grid", FIELD_INT, false, NULL, "Of a job's spec, of no consequence here."},
    {"unroll", FIELD_INT, false, NULL, "Of a job's spec, of no consequence here."},
    {"seed", FIELD_INT, false, NULL, "Of a job's spec, of no consequence here."},
    {"fresh", FIELD_FLAG, false, NULL, "Of a job's spec, of no consequence here."},
    {0}};

/* ---- atoms -------------------------------------------------------------------------------------------------- */

static bool named(const struct la_atom *atom, const char *part)
{
    return strstr(atom->name, part) != NULL;
}

/* The instructions that an atom is; false for one whose lanes do not address memory one by one. */
static bool classify(struct analysis *a, const char *field, const struct la_atom *atom,
                     struct copy_half *half)
{
    const bool trans = named(atom, "_T");
    half->load = LA_LOAD;
    half->store = LA_STORE;
    half->lanes = LA_LANES;
    half->most_bits = LA_VECTOR_BITS;
    if (named(atom, "AutoVectorizingCopy") || named(atom, "DefaultCopy")) {
        const char *assumed = strchr(atom->name, '<');
        half->automatic = true;
        if (named(atom, "DefaultCopy"))
            half->most_bits = 8;
        else if (assumed)
            half->most_bits = strtoll(assumed + 1, NULL, 10);
        return true;
    }
    if (named(atom, "SM75_") && named(atom, "LDSM"))
        half->load = trans ? LA_LDMATRIX_TRANS : LA_LDMATRIX;
    else if (named(atom, "SM90_") && named(atom, "STSM"))
        half->store = trans ? LA_STMATRIX_TRANS : LA_STMATRIX;
    else if (named(atom, "CP_ASYNC"))
        half->load = half->store = LA_CP_ASYNC;
    else if (!named(atom, "UniversalCopy"))
        return analysis_bad(a, field, "%s is no load or store whose lanes address memory one by one",
                            atom->name);
    return true;
}

/* Bits that a warp's matrices have: 1024 each. */
static int32_t rows_of(struct analysis *a, const struct la_atom *atom, enum la_end registers)
{
    struct la_ctx *cx = &a->rq->cx;
    const struct la_node *bits = la_size(cx, la_layout_mode(cx, atom->copy.bits[registers], 1));
    return (int32_t)(bits->value * LA_LANES / 1024 * 8);
}

static int64_t values_of(struct analysis *a, const struct la_atom *atom, enum la_end end)
{
    struct la_ctx *cx = &a->rq->cx;
    return la_size(cx, la_layout_mode(cx, atom->copy.values[end], 1))->value;
}

/* An atom that names its width: the partitions of both ends and the elements of an access. */
static void use_atom(struct analysis *a, const struct la_atom *atom, struct copy_half *half)
{
    struct la_ctx *cx = &a->rq->cx;
    const struct la_tiled_copy *copy = la_tiled_copy(cx, atom, half->whole.tv, half->whole.tiler);
    half->src = la_partition_of_tv(cx, la_tiled_copy_tv(cx, copy, LA_SRC), copy->tiler);
    half->dst = la_partition_of_tv(cx, la_tiled_copy_tv(cx, copy, LA_DST), copy->tiler);
    half->vector[LA_SRC] = values_of(a, atom, LA_SRC);
    half->vector[LA_DST] = values_of(a, atom, LA_DST);
    if (la_access_is_matrix(half->load)) {
        half->lanes = rows_of(a, atom, LA_DST);
        half->vector[LA_DST] = 0; /* registers: what is stored from them goes its own way */
    }
    if (la_access_is_matrix(half->store)) {
        half->lanes = rows_of(a, atom, LA_SRC);
        half->vector[LA_SRC] = 0;
    }
}

/* ---- reading ------------------------------------------------------------------------------------------------ */

static struct partition_texts texts_of(struct analysis *a, const char *prefix)
{
    struct la_ctx *cx = &a->rq->cx;
    return (struct partition_texts){.prefix = prefix,
                                    .thr = field_notation(a->rq, la_format(cx, "%sthr", prefix)),
                                    .val = field_notation(a->rq, la_format(cx, "%sval", prefix)),
                                    .tv = field_notation(a->rq, la_format(cx, "%stv", prefix)),
                                    .tile = field_notation(a->rq, la_format(cx, "%stile", prefix))};
}

static bool is_given(const struct partition_texts *texts)
{
    return texts->thr || texts->val || texts->tv || texts->tile;
}

static bool read_half(struct analysis *a, const char *prefix, const struct partition_texts *texts,
                      const char *atom, const struct la_type *type, struct copy_half *half)
{
    struct la_ctx *cx = &a->rq->cx;
    const char *field = la_format(cx, "%satom", prefix);
    half->prefix = prefix;
    if (!analysis_partition(a, texts, &half->whole))
        return false;
    half->src = half->dst = half->whole;
    a->field = field;
    half->atom = la_atom_named(cx, atom);
    if (half->atom->kind != LA_ATOM_COPY)
        return analysis_bad(a, field, "%s is no copy", half->atom->name);
    if (!classify(a, field, half->atom, half))
        return false;
    if (!half->automatic)
        use_atom(a, half->atom->copy.type ? half->atom : la_copy_atom(cx, half->atom, type), half);
    return true;
}

/* Both halves are one, unless the second has a field of its own or an atom that works in one direction only. */
static bool read_halves(struct analysis *a, struct copy *c)
{
    struct request *rq = a->rq;
    static const char automatic[] = "AutoVectorizingCopy";
    const struct partition_texts first = texts_of(a, ""), second = texts_of(a, "dst_");
    const char *atom = request_field(rq, "atom"), *dst_atom = request_field(rq, "dst_atom");
    if (!read_half(a, "", &first, atom ? atom : automatic, c->type, &c->half[0]))
        return false;
    const bool one_way = c->half[0].load == LA_CP_ASYNC || la_access_is_matrix(c->half[0].store);
    c->has_second = is_given(&second) || dst_atom || one_way;
    if (!c->has_second) {
        c->half[1] = c->half[0];
        return true;
    }
    return read_half(a, "dst_", is_given(&second) ? &second : &first,
                     dst_atom           ? dst_atom
                     : one_way || !atom ? automatic
                                        : atom,
                     c->type, &c->half[1]);
}

/* ---- sides -------------------------------------------------------------------------------------------------- */

static bool add_side(struct analysis *a, struct copy *c, struct copy_side side)
{
    struct la_ctx *cx = &a->rq->cx;
    struct copy_side *s = &c->side[c->sides];
    const struct copy_half *half = &c->half[side.half];
    if (!field_notation(a->rq, side.field))
        return true;
    *s = side;
    s->op = side.end == LA_SRC ? half->load : half->store;
    if (la_access_is_matrix(s->op) && side.space == LA_GLOBAL)
        return analysis_bad(a, la_format(cx, "%satom", half->prefix),
                            "%s reaches shared memory, and %s is in global memory", half->atom->name,
                            side.field);
    if (s->op == LA_CP_ASYNC && (side.end == LA_SRC) != (side.space == LA_GLOBAL))
        return analysis_bad(a, la_format(cx, "%satom", half->prefix), "%s goes from global to shared memory",
                            half->atom->name);
    if (!analysis_memory(a, side.field, field_notation(a->rq, side.field), &s->memory))
        return false;
    s->reach = la_reach_make(cx, side.end == LA_SRC ? &half->src : &half->dst, s->memory, c->bits, 0);
    s->vectors = la_vectors_of(cx, &s->reach);
    s->facts = la_facts_of(cx, s->memory);
    c->sides++;
    return true;
}

/* An atom of the first half that needs shared memory, without any. */
static bool refuse_global(struct analysis *a, const struct copy_half *half)
{
    return analysis_bad(a, "atom", "%s needs 'smem': it %s shared memory", half->atom->name,
                        la_access_is_matrix(half->load) ? "reads" : "writes");
}

/* What there is to access, in the order of the copy. */
static bool add_sides(struct analysis *a, struct copy *c)
{
    const bool smem = field_notation(a->rq, "smem"), src = field_notation(a->rq, "src");
    const struct copy_half *first = &c->half[0];
    const struct copy_side sides[COPY_SIDES] = {
        {.name = "src", .field = "src", .space = LA_GLOBAL, .end = LA_SRC, .half = 0},
        {.name = "smem_store", .field = "smem", .space = LA_SHARED, .end = LA_DST, .half = 0},
        {.name = "smem_load", .field = "smem", .space = LA_SHARED, .end = LA_SRC, .half = 1},
        {.name = "dst", .field = "dst", .space = LA_GLOBAL, .end = LA_DST, .half = smem || c->has_second}};
    if (!smem && (first->store != LA_STORE || la_access_is_matrix(first->load)))
        return refuse_global(a, first);
    for (uint32_t i = 0; i < COPY_SIDES; i++) {
        const bool only_read = i == 1 && !src && la_access_is_matrix(first->load);
        if (!only_read && !add_side(a, c, sides[i]))
            return false;
    }
    return true;
}

/* The widest access that both ends of a half can have, within what its atom assumes. */
static int64_t automatic_vector(const struct copy *c, uint32_t half)
{
    int64_t vector = c->half[half].most_bits > c->bits ? c->half[half].most_bits / c->bits : 1;
    for (uint32_t i = 0; i < c->sides; i++)
        if (c->side[i].half == half && c->side[i].vectors.widest < vector)
            vector = c->side[i].vectors.widest;
    return vector;
}

static void cost_sides(struct analysis *a, struct copy *c)
{
    for (uint32_t i = 0; i < c->sides; i++) {
        struct copy_side *s = &c->side[i];
        const struct copy_half *half = &c->half[s->half];
        const int64_t wanted = half->automatic ? automatic_vector(c, s->half) : half->vector[s->end];
        const int64_t widest = s->vectors.widest;
        s->wanted = wanted ? wanted : widest;
        a->field = s->field;
        if (la_access_is_matrix(s->op) && s->wanted > widest)
            la_fail(&a->rq->cx, LA_E_not_contiguous,
                    "a row of %s needs 16 contiguous bytes: %s (thr and val say who holds what in registers)",
                    la_access_op_name(s->op), s->vectors.text);
        if (s->op == LA_CP_ASYNC && s->wanted > widest && widest * c->bits < 32)
            la_fail(&a->rq->cx, LA_E_not_contiguous, "cp.async moves 4 bytes at least: %s", s->vectors.text);
        const int64_t vector = s->wanted < widest ? s->wanted : widest;
        s->traffic = la_traffic_of(&a->rq->cx, &s->reach, s->space, s->op,
                                   la_access_is_matrix(s->op) ? half->lanes : LA_LANES, vector);
    }
}

/* ---- the answer --------------------------------------------------------------------------------------------- */

static void write_half(struct json *j, const struct copy_half *half, const struct la_coverage *coverage)
{
    struct la_ctx *cx = j->cx;
    const struct la_partition *p = &half->whole;
    json_member_text(j, la_format(cx, "%satom", half->prefix), half->atom->name);
    json_member_text(j, la_format(cx, "%stv", half->prefix), la_print_layout(cx, p->tv, LA_SPELL_TEXT));
    json_key(j, la_format(cx, "%stile", half->prefix));
    json_tuple(j, p->tiler);
    json_member_int(j, la_format(cx, "%sthreads", half->prefix), p->threads);
    json_member_int(j, la_format(cx, "%svalues", half->prefix), p->values);
    json_key(j, la_format(cx, "%scoverage", half->prefix));
    json_coverage(j, p, coverage);
}

static void write_side(struct json *j, const struct copy *c, const struct copy_side *s)
{
    json_open_member(j, s->name, '{');
    json_traffic(j, &s->traffic);
    json_key(j, "vectors");
    json_vectors(j, &s->vectors, c->bits);
    json_key(j, "memory");
    json_facts(j, s->memory, &s->facts);
    json_key(j, "swizzle");
    if (s->memory.outer && s->memory.outer->kind == LA_K_SWIZZLE) {
        json_open(j, '{');
        json_swizzle_units(j, s->reach.memory.outer->swizzle, c->bits);
        json_close(j, '}');
    } else {
        json_null(j);
    }
    json_close(j, '}');
}

static void answer_copy(struct analysis *a, const struct copy *c)
{
    struct json j = json_new(&a->rq->cx, 16 * 1024);
    json_open(&j, '{');
    json_member_int(&j, "element_bits", c->bits);
    json_member_text(&j, "integers", a->integers == LA_INTEGERS_CUTE ? "cute" : "static");
    write_half(&j, &c->half[0], &c->coverage[0]);
    if (c->has_second)
        write_half(&j, &c->half[1], &c->coverage[1]);
    json_open_member(&j, "sides", '{');
    for (uint32_t i = 0; i < c->sides; i++)
        write_side(&j, c, &c->side[i]);
    json_close(&j, '}');
    json_copy_warnings(&j, c);
    json_close(&j, '}');
    respond(a->rq, 200, "application/json", j.data, j.len);
}

static void run_copy(struct analysis *a)
{
    struct copy c = {0};
    struct request *rq = a->rq;
    if (!analysis_type(a, "type", field_notation(rq, "type"), &c.type, &c.bits))
        return;
    if (!c.type) {
        analysis_bad(a, "type", "a copy atom needs the name of a type, like half_t");
        return;
    }
    if (!read_halves(a, &c) || !add_sides(a, &c))
        return;
    cost_sides(a, &c);
    c.coverage[0] = la_coverage_of(&rq->cx, &c.half[0].whole);
    c.coverage[1] = c.has_second ? la_coverage_of(&rq->cx, &c.half[1].whole) : c.coverage[0];
    answer_copy(a, &c);
}

void handle_copy(struct request *rq)
{
    const char *texts[] = {field_notation(rq, "src"), field_notation(rq, "dst"), field_notation(rq, "smem")};
    struct analysis a = {.rq = rq, .body = run_copy, .integers = integers_of(rq, texts, 3)};
    analysis_run(&a);
}
