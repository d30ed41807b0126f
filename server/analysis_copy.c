/* analysis_copy.c: /copy, what a copy's partitions do to memory on each side; nothing is run.
 *
 *     POST /copy {"type":"half_t","atom":"UniversalCopy<uint128_t>","thr":"(32,8):(8,1)","val":"(1,8):(0,1)",
 *                 "src":"(4096,4096):(4096,1)","dst":"(4096,4096):(4096,1)"}
 *     ->  {"tv":...,"coverage":{...},"sides":{"src":{"sectors":...,...},"dst":{...}},"warnings":[...]}
 *
 * It takes the spec of a copy job. Without smem a copy is one half: from src to dst. With smem there are two,
 * src to smem and smem to dst; the second has the partition of the first unless dst_thr and dst_val say
 * otherwise. A matrix instruction given as smem_store or smem_load is the atom of its half, and atom or dst_atom says
 * only how wide the other end is. What would be a mistake that nothing reports on the card is a warning: see
 * analysis_warn.c. Atoms of TMA have no lanes: of them the tensor maps are told, see analysis_legal.c. */
#include "analysis_side.h"
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
    {"smem_store", FIELD_NULLABLE, false, NULL,
     "stmatrix by which the first half's registers reach shared memory: SM90_U32x4_STSM_N."},
    {"smem_load", FIELD_NULLABLE, false, NULL,
     "ldmatrix by which the second half's registers are filled: SM75_U32x4_LDSM_N."},
    FIELD_INTEGERS,
    {"kind", FIELD_CHOICE, false, kinds, "Of a job's spec."},
    {"executor", FIELD_TEXT, false, NULL, "Of a job's spec: where it runs, of no consequence here."},
    {"cache", FIELD_TEXT, false, NULL, "Of a job's spec, of no consequence here."},
    {"grid", FIELD_INT, false, NULL, "Of a job's spec, of no consequence here."},
    {"unroll", FIELD_INT, false, NULL, "Of a job's spec, of no consequence here."},
    {"stages", FIELD_INT, false, NULL, "Of a job's spec, of no consequence here."},
    {"counters", FIELD_FLAG, false, NULL, "Of a job's spec, of no consequence here."},
    {"seed", FIELD_INT, false, NULL, "Of a job's spec, of no consequence here."},
    {"fresh", FIELD_FLAG, false, NULL, "Of a job's spec, of no consequence here."},
    {0}};

#define SIDES 4

/* One tiled copy of the one or two. */
struct half {
    const char *prefix; /* of its fields: "" or "dst_" */
    struct copying copying;
    struct la_coverage coverage;
};

struct copy {
    const struct la_type *type;
    uint32_t bits;
    bool has_second; /* the second half has a partition or an atom of its own */
    struct half half[2];
    uint32_t sides;
    struct side side[SIDES];
};

/* ---- reading ------------------------------------------------------------------------------------------- */

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
                      const char *field, const char *atom, const struct la_type *type, struct half *half)
{
    struct la_partition whole;
    half->prefix = prefix;
    if (!analysis_partition(a, texts, &whole) || !copying_read(a, field, atom, type, &half->copying))
        return false;
    copying_over(a, &whole, &half->copying);
    half->coverage = la_coverage_of(&a->rq->cx, &half->copying.whole);
    return true;
}

static const char automatic[] = "AutoVectorizingCopy";

/* Whether a field names a matrix instruction, which then is the atom of its half. */
static bool is_matrix(struct analysis *a, const char *field)
{
    const char *text = field_notation(a->rq, field);
    return text && strcmp(text, automatic) != 0;
}

/* Accesses of the end in global memory, where the half's own atom is a matrix instruction. */
static bool set_global_width(struct analysis *a, const char *field, const char *atom,
                             const struct la_type *type, enum la_end end, struct half *half)
{
    struct copying global;
    if (!atom || half->copying.vector[end] != 0 || half->copying.automatic)
        return true;
    if (!copying_read(a, field, atom, type, &global))
        return false;
    if (!global.automatic && !la_access_is_matrix(global.load) && !la_access_is_matrix(global.store))
        half->copying.vector[end] =
            la_size(&a->rq->cx, la_layout_mode(&a->rq->cx, global.atom->copy.values[end], 1))->value;
    return true;
}

/* Both halves are one, unless the second has a field of its own or an atom that works in one direction only.
 * */
static bool read_halves(struct analysis *a, struct copy *c)
{
    struct request *rq = a->rq;
    const struct partition_texts first = texts_of(a, ""), second = texts_of(a, "dst_");
    const char *atom = request_field(rq, "atom"), *dst_atom = request_field(rq, "dst_atom");
    const char *in = is_matrix(a, "smem_store") ? "smem_store" : "atom";
    const char *out = is_matrix(a, "smem_load") ? "smem_load" : "dst_atom";
    const char *in_atom = request_field(rq, in), *out_atom = request_field(rq, out);
    const struct copying *copying = &c->half[0].copying;
    if (!read_half(a, "", &first, in, in_atom ? in_atom : automatic, c->type, &c->half[0]) ||
        !set_global_width(a, "atom", atom, c->type, LA_SRC, &c->half[0]))
        return false;
    const bool one_way = copying->load == LA_CP_ASYNC || la_access_is_matrix(copying->store);
    c->has_second = is_given(&second) || out_atom || one_way;
    if (!c->has_second) {
        c->half[1] = c->half[0];
        return true;
    }
    if (!out_atom)
        out_atom = one_way || !atom ? automatic : atom;
    return read_half(a, "dst_", is_given(&second) ? &second : &first, out, out_atom, c->type, &c->half[1]) &&
           set_global_width(a, "dst_atom", dst_atom, c->type, LA_DST, &c->half[1]);
}

/* ---- sides --------------------------------------------------------------------------------------------- */

static bool add_side(struct analysis *a, struct copy *c, struct side side, uint32_t half)
{
    struct side *s = &c->side[c->sides];
    if (!field_notation(a->rq, side.field))
        return true;
    *s = side;
    s->copying = &c->half[half].copying;
    s->bits = c->bits;
    const char *atom = la_format(&a->rq->cx, "%satom", c->half[half].prefix);
    const enum la_access_op op = side_op(s);
    if (la_access_is_matrix(op) && s->space == LA_GLOBAL)
        return analysis_bad(a, atom, "%s reaches shared memory, and %s is in global memory",
                            s->copying->atom->name, s->field);
    if (op == LA_CP_ASYNC && (s->end == LA_SRC) != (s->space == LA_GLOBAL))
        return analysis_bad(a, atom, "%s goes from global to shared memory", s->copying->atom->name);
    c->sides++;
    return side_open(a, s);
}

/* An atom of the first half that needs shared memory, without any. */
static bool refuse_global(struct analysis *a, const struct copying *c)
{
    return analysis_bad(a, "atom", "%s needs 'smem': it %s shared memory", c->atom->name,
                        la_access_is_matrix(c->load) ? "reads" : "writes");
}

/* What there is to access, in the order of the copy. */
static bool add_sides(struct analysis *a, struct copy *c)
{
    const bool smem = field_notation(a->rq, "smem"), src = field_notation(a->rq, "src");
    const struct copying *first = &c->half[0].copying;
    const bool reads_matrices = la_access_is_matrix(first->load);
    const uint32_t last_half = smem || c->has_second;
    if (!smem && (first->store != LA_STORE || reads_matrices))
        return refuse_global(a, first);
    return add_side(a, c, (struct side){.name = "src", .field = "src", .space = LA_GLOBAL, .end = LA_SRC},
                    0) &&
           ((reads_matrices && !src) ||
            add_side(a, c,
                     (struct side){.name = "smem_store", .field = "smem", .space = LA_SHARED, .end = LA_DST},
                     0)) &&
           add_side(a, c,
                    (struct side){.name = "smem_load", .field = "smem", .space = LA_SHARED, .end = LA_SRC},
                    1) &&
           add_side(a, c, (struct side){.name = "dst", .field = "dst", .space = LA_GLOBAL, .end = LA_DST},
                    last_half);
}

/* The widest access that both ends of a half can have, within what its atom assumes. */
static int64_t automatic_vector(const struct copy *c, const struct copying *copying)
{
    int64_t vector = copying->most_bits > c->bits ? copying->most_bits / c->bits : 1;
    for (uint32_t i = 0; i < c->sides; i++)
        if (c->side[i].copying == copying && c->side[i].vectors.widest < vector)
            vector = c->side[i].vectors.widest;
    return vector;
}

/* ---- the answer ---------------------------------------------------------------------------------------- */

static void write_half(struct json *j, const struct half *half)
{
    struct la_ctx *cx = j->cx;
    const struct la_partition *p = &half->copying.whole;
    json_member_text(j, la_format(cx, "%satom", half->prefix), half->copying.atom->name);
    json_member_text(j, la_format(cx, "%stv", half->prefix), la_print_layout(cx, p->tv, LA_SPELL_TEXT));
    json_key(j, la_format(cx, "%stile", half->prefix));
    json_tuple(j, p->tiler);
    json_member_int(j, la_format(cx, "%sthreads", half->prefix), p->threads);
    json_member_int(j, la_format(cx, "%svalues", half->prefix), p->values);
    json_key(j, la_format(cx, "%scoverage", half->prefix));
    json_coverage(j, p, &half->coverage);
}

static void write_warnings(struct json *j, const struct copy *c)
{
    const struct side *last = c->sides ? &c->side[c->sides - 1] : NULL;
    bool has_smem = false;
    json_open_member(j, "warnings", '[');
    for (uint32_t i = 0; i < (c->has_second ? 2 : 1); i++)
        warn_coverage(j, la_format(j->cx, "%sthr", c->half[i].prefix), &c->half[i].copying.whole,
                      &c->half[i].coverage);
    for (uint32_t i = 0; i < c->sides; i++) {
        has_smem = has_smem || c->side[i].space == LA_SHARED;
        warn_side(j, &c->side[i]);
    }
    if (c->has_second && !has_smem)
        warn_order(j, "dst_thr", &c->half[0].copying.dst, &c->half[1].copying.src);
    if (c->sides > 1 && c->side[0].space == LA_GLOBAL && last->space == LA_GLOBAL)
        warn_shapes(j, &c->side[0], last);
    json_close(j, ']');
}

static void answer_copy(struct analysis *a, const struct copy *c)
{
    struct json j = json_new(&a->rq->cx, 16 * 1024);
    json_open(&j, '{');
    json_member_int(&j, "element_bits", c->bits);
    json_member_text(&j, "integers", a->integers == LA_INTEGERS_CUTE ? "cute" : "static");
    write_half(&j, &c->half[0]);
    if (c->has_second)
        write_half(&j, &c->half[1]);
    json_open_member(&j, "sides", '{');
    for (uint32_t i = 0; i < c->sides; i++)
        json_side(&j, &c->side[i]);
    json_close(&j, '}');
    write_warnings(&j, c);
    json_close(&j, '}');
    respond(a->rq, 200, "application/json", j.data, j.len);
}

static void run_copy(struct analysis *a)
{
    struct request *rq = a->rq;
    struct copy *c = la_alloc(&rq->cx, sizeof *c);
    *c = (struct copy){0};
    if (!analysis_type(a, "type", field_notation(rq, "type"), &c->type, &c->bits))
        return;
    if (is_tma(request_field(rq, "atom")) || is_tma(request_field(rq, "dst_atom"))) {
        answer_tma(a, c->bits);
        return;
    }
    if (!c->type) {
        analysis_bad(a, "type", "a copy atom needs the name of a type, like half_t");
        return;
    }
    if (!read_halves(a, c) || !add_sides(a, c))
        return;
    for (uint32_t i = 0; i < c->sides; i++)
        side_cost(a, &c->side[i], automatic_vector(c, c->side[i].copying));
    answer_copy(a, c);
}

void handle_copy(struct request *rq)
{
    const char *texts[] = {field_notation(rq, "src"), field_notation(rq, "dst"), field_notation(rq, "smem")};
    struct analysis a = {.rq = rq, .body = run_copy, .integers = integers_of(rq, texts, 3)};
    analysis_run(&a);
}
