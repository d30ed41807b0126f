/* analysis_mma.c: /mma, who holds what of A, B and C in a tiled MMA, and what it does to memory; nothing is
 * run.
 *
 *     POST /mma {"atom":"SM80_16x8x16_F32F16F16F32_TN","atom_layout":"(2,2,1)","permutation":"(32,32,16)",
 *                "smem_a":"composition(Swizzle<3,3,3>{},(128,64):(64,1))","copy_a":"SM75_U32x4_LDSM_N"}
 *     ->  {"threads":128,"tile_mnk":[32,32,16],"A":{"tv":...,"values":8,...},"sides":{"smem_a_load":{...}}}
 *
 * It takes the spec of an MMA job. A and B are read from shared memory by a copy atom (make_tiled_copy_A and
 * _B), or value by value as partition_A gives them; C is stored to global memory. An operand that wgmma reads
 * through a descriptor has no lanes that address it, and no side here: of it the descriptor is told, or why
 * there is none; its owners are the instructions that read it. */
#include "analysis_side.h"
#include "exchange.h"
#include "mma.h"
#include "pure.h"

#include <string.h>

static const char *const kinds[] = {"mma", NULL};

const struct field mma_fields[] = {
    {"atom", FIELD_TEXT, true, NULL, "The MMA atom: SM80_16x8x16_F32F16F16F32_TN."},
    {"atom_layout", FIELD_NOTATION, false, NULL, "Atoms along M, N and K; (1,1,1) if absent."},
    {"permutation", FIELD_NOTATION, false, NULL,
     "Of M, N and K, as make_tiled_mma takes it; (_,_,_) if absent."},
    {"smem_a", FIELD_NOTATION, false, NULL,
     "A (M,K) in shared memory, swizzled or not; \"auto\": not looked at."},
    {"smem_b", FIELD_NOTATION, false, NULL, "B (N,K) in shared memory, likewise."},
    {"copy_a", FIELD_TEXT, false, NULL,
     "The copy atom that reads A: SM75_U32x4_LDSM_N; else value by value."},
    {"copy_b", FIELD_TEXT, false, NULL, "The copy atom that reads B."},
    {"c", FIELD_NOTATION, false, NULL, "C (M,N) in global memory."},
    FIELD_INTEGERS,
    {"kind", FIELD_CHOICE, false, kinds, "Of a job's spec."},
    {"problem", FIELD_JSON, false, NULL, "Of a job's spec, of no consequence here."},
    {"tile", FIELD_NOTATION, false, NULL, "Of a job's spec, of no consequence here."},
    {"stages", FIELD_NOTATION, false, NULL, "Of a job's spec, of no consequence here."},
    {"executor", FIELD_TEXT, false, NULL, "Of a job's spec, of no consequence here."},
    {"seed", FIELD_INT, false, NULL, "Of a job's spec, of no consequence here."},
    {"fresh", FIELD_FLAG, false, NULL, "Of a job's spec, of no consequence here."},
    {0}};

enum { OPERANDS = 3 }; /* A, B, C */

/* The modes of M, N, K that each operand has, and where it is looked for. */
static const struct {
    const char *name;
    uint32_t mode[2];
    const char *memory, *side, *copy;
    enum la_space space;
    enum la_end end;
} operands[OPERANDS] = {{"A", {0, 2}, "smem_a", "smem_a_load", "copy_a", LA_SHARED, LA_SRC},
                        {"B", {1, 2}, "smem_b", "smem_b_load", "copy_b", LA_SHARED, LA_SRC},
                        {"C", {0, 1}, "c", "c_store", NULL, LA_GLOBAL, LA_DST}};

struct mma {
    const struct la_tiled_mma *tiled;
    int64_t mnk[3];
    struct la_partition part[OPERANDS];
    struct la_coverage coverage[OPERANDS];
    struct copying copying[OPERANDS];
    uint32_t sides;
    struct side side[OPERANDS];
    bool has_wgmma[2]; /* A or B is read through a descriptor, of the given layout */
    enum la_major major[2];
    struct la_wgmma wgmma[2];
};

/* ---- reading ------------------------------------------------------------------------------------------- */

/* (2,2,1) or a layout of atoms. */
static bool read_atom_layout(struct analysis *a, struct la_layout *out)
{
    struct la_ctx *cx = &a->rq->cx;
    const char *text = field_notation(a->rq, "atom_layout");
    struct la_value value;
    if (!analysis_eval(a, "atom_layout", text ? text : "(1,1,1)", LA_INTEGERS_STATIC, &value))
        return false;
    if (value.kind == LA_K_LAYOUT)
        *out = value.layout;
    else if (value.kind & LA_K_INTTUPLE)
        *out = la_make_layout(cx, value.tuple, la_compact_left(cx, value.tuple));
    else
        return analysis_bad(a, "atom_layout", "atoms are a shape like (2,2,1) or a layout, not %s",
                            la_kinds_text(cx, value.kind));
    return true;
}

static bool by_descriptor(const struct mma *m, uint32_t x)
{
    return x < 2 && m->tiled->atom->mma.descriptor[x];
}

/* A place of every step-th thread, thread + n * value, as one of all threads. */
static int64_t spread(int64_t place, int64_t n, int64_t step)
{
    return place / n * n * step + place % n * step;
}

/* No thread holds what a descriptor reads: where the threads of an atom read the same, stride 0, their first stands
 * for all of them. Only these are counted, so the partition has no index. */
static void cover_by_descriptor(struct la_ctx *cx, struct mma *m, uint32_t x, struct la_layout tv,
                                const struct la_node *tile)
{
    const struct la_atom *atom = m->tiled->atom;
    const struct la_layout threads = la_layout_mode(cx, tv, 0);
    const bool shared = la_cosize(cx, la_layout_mode(cx, atom->mma.tv[x], 0))->value == 1;
    const int64_t step = shared ? la_size(cx, atom->thr_id)->value : 1;
    const int64_t readers = la_size(cx, threads)->value / step;
    const struct la_layout firsts = la_make_layout(cx, la_int(cx, readers, true), la_int(cx, step, true));
    const struct la_layout read[] = {la_composition(cx, threads, la_value_layout(firsts)),
                                     la_layout_mode(cx, tv, 1)};
    struct la_partition *p = &m->part[x];
    struct la_coverage *c = &m->coverage[x];
    *p = la_partition_of_tv(cx, la_layout_concat(cx, 2, read), tile);
    *c = la_coverage_of(cx, p);
    for (uint32_t i = 0; i < c->outside_told; i++)
        c->outside_at[i] = spread(c->outside_at[i], readers, step);
    for (uint32_t i = 0; i < c->doubled_told; i++)
        for (uint32_t k = 1; k <= 2; k++)
            c->doubled_at[i][k] = spread(c->doubled_at[i][k], readers, step);
    p->tv = tv;
    p->threads = readers * step;
    p->index = NULL;
}

static bool read_mma(struct analysis *a, struct mma *m)
{
    struct la_ctx *cx = &a->rq->cx;
    const char *text = field_notation(a->rq, "permutation");
    struct la_layout atoms;
    struct la_value permutation;
    a->field = "atom";
    const struct la_atom *atom = la_atom_named(cx, request_field(a->rq, "atom"));
    if (atom->kind != LA_ATOM_MMA)
        return analysis_bad(a, "atom", "%s is no MMA", atom->name);
    if (!read_atom_layout(a, &atoms) ||
        !analysis_eval(a, "permutation", text ? text : "(_,_,_)", LA_INTEGERS_STATIC, &permutation))
        return false;
    if (!(permutation.kind & (LA_K_INTTUPLE | LA_K_TILE | LA_K_ANY)))
        return analysis_bad(a, "permutation", "a permutation is a tile like (32,32,16) or (_,_,_), not %s",
                            la_kinds_text(cx, permutation.kind));
    m->tiled = gpu_mma_tile(cx, atom, atoms, permutation.tuple, &a->field);
    for (uint32_t k = 0; k < 3; k++)
        m->mnk[k] = la_tiled_mma_size(cx, m->tiled, k)->value;
    for (uint32_t x = 0; x < OPERANDS; x++) {
        const struct la_node *extents[] = {la_int(cx, m->mnk[operands[x].mode[0]], true),
                                           la_int(cx, m->mnk[operands[x].mode[1]], true)};
        const struct la_node *tile = la_tuple(cx, 2, extents);
        const struct la_layout tv = la_tiled_mma_tv(cx, m->tiled, (enum la_matrix)x);
        if (by_descriptor(m, x)) {
            cover_by_descriptor(cx, m, x, tv, tile);
        } else {
            m->part[x] = la_partition_of_tv(cx, tv, tile);
            m->coverage[x] = la_coverage_of(cx, &m->part[x]);
        }
    }
    return true;
}

/* ---- sides --------------------------------------------------------------------------------------------- */

/* How the operand is read or stored: by a copy atom, or as the MMA's own partition has it. */
static bool read_copying(struct analysis *a, struct mma *m, uint32_t x)
{
    const struct la_type *type = m->tiled->atom->mma.types[x];
    const char *text = operands[x].copy ? request_field(a->rq, operands[x].copy) : NULL;
    struct copying *c = &m->copying[x];
    if (!copying_read(a, text ? operands[x].copy : "atom", text ? text : "AutoVectorizingCopy", type, c))
        return false;
    if (c->automatic || !operands[x].copy) {
        copying_over(a, &m->part[x], c);
        return true;
    }
    if (side_op(&(struct side){.copying = c, .end = operands[x].end}) == LA_CP_ASYNC)
        return analysis_bad(a, operands[x].copy, "%s goes from global to shared memory", c->atom->name);
    copying_tiled(a, la_tiled_copy_for(&a->rq->cx, c->atom, m->tiled, (enum la_matrix)x), c);
    return true;
}

/* An operand that wgmma reads for itself: 64 rows of A, or all N of B, and 256 bits along K. */
static bool read_descriptor(struct analysis *a, struct mma *m, uint32_t x)
{
    const struct la_mma *mma = &m->tiled->atom->mma;
    struct la_layout smem;
    if (operands[x].copy && request_field(a->rq, operands[x].copy))
        return analysis_bad(a, operands[x].copy, "%s reads %s through a descriptor, without a copy",
                            m->tiled->atom->name, operands[x].name);
    if (!analysis_memory(a, operands[x].memory, field_notation(a->rq, operands[x].memory), &smem))
        return false;
    const bool is_mn = mma->major[x] && strstr(la_type_name(mma->major[x]), "MN");
    const struct la_node *mn = la_mode(&a->rq->cx, mma->shape_mnk, operands[x].mode[0]);
    m->has_wgmma[x] = true;
    m->major[x] = is_mn ? LA_MAJOR_MN : LA_MAJOR_K;
    m->wgmma[x] = la_wgmma_of(&a->rq->cx, smem, la_type_bits(mma->types[x]), m->major[x], mn->value);
    return true;
}

static bool add_side(struct analysis *a, struct mma *m, uint32_t x)
{
    const char *text = field_notation(a->rq, operands[x].memory);
    const struct la_type *type = m->tiled->atom->mma.types[x];
    struct side *s = &m->side[m->sides];
    const bool is_auto = text && strcmp(text, "auto") == 0;
    if (operands[x].copy && request_field(a->rq, operands[x].copy) && (!text || is_auto))
        return analysis_bad(a, operands[x].copy, "'%s' needs the layout '%s'", operands[x].copy,
                            operands[x].memory);
    if (!text || is_auto)
        return true;
    if (by_descriptor(m, x))
        return read_descriptor(a, m, x);
    if (!read_copying(a, m, x))
        return false;
    *s = (struct side){.name = operands[x].side,
                       .field = operands[x].memory,
                       .space = operands[x].space,
                       .end = operands[x].end,
                       .copying = &m->copying[x],
                       .bits = la_type_bits(type)};
    if (!side_open(a, s))
        return false;
    side_cost(a, s, s->vectors.widest);
    m->sides++;
    return true;
}

/* ---- the answer ---------------------------------------------------------------------------------------- */

static void write_operand(struct json *j, const struct mma *m, uint32_t x)
{
    const struct la_partition *p = &m->part[x];
    const struct la_type *type = m->tiled->atom->mma.types[x];
    json_open_member(j, operands[x].name, '{');
    json_member_text(j, "type", la_type_name(type));
    json_member_text(j, "tv", la_print_layout(j->cx, p->tv, LA_SPELL_TEXT));
    json_key(j, "tile");
    json_tuple(j, p->tiler);
    json_member_int(j, "values", p->values);
    json_member_int(j, "bits", p->values * la_type_bits(type));
    json_member_bool(j, "descriptor", by_descriptor(m, x));
    json_key(j, "coverage");
    json_coverage(j, p, &m->coverage[x]);
    if (x < 2 && m->has_wgmma[x]) {
        json_key(j, "wgmma");
        json_wgmma(j, &m->wgmma[x], m->major[x]);
    }
    json_close(j, '}');
}

/* An element of A or B may have as many owners as it likes, one of C only one. */
static void write_warnings(struct json *j, const struct mma *m)
{
    json_open_member(j, "warnings", '[');
    for (uint32_t x = 0; x < OPERANDS; x++) {
        struct la_coverage c = m->coverage[x];
        c.doubled = x < 2 ? 0 : c.doubled;
        warn_coverage(j, "permutation", &m->part[x], &c);
    }
    for (uint32_t i = 0; i < m->sides; i++)
        warn_side(j, &m->side[i]);
    json_close(j, ']');
}

static void answer_mma(struct analysis *a, const struct mma *m)
{
    struct json j = json_new(&a->rq->cx, 16 * 1024);
    json_open(&j, '{');
    json_member_text(&j, "atom", m->tiled->atom->name);
    json_member_text(&j, "integers", a->integers == LA_INTEGERS_CUTE ? "cute" : "static");
    json_member_int(&j, "threads", m->part[2].threads);
    json_member_text(&j, "thr_layout_vmnk", la_print_layout(&a->rq->cx, m->tiled->thr_vmnk, LA_SPELL_TEXT));
    json_key(&j, "tile_mnk");
    json_ints(&j, m->mnk, 3);
    for (uint32_t x = 0; x < OPERANDS; x++)
        write_operand(&j, m, x);
    json_open_member(&j, "sides", '{');
    for (uint32_t i = 0; i < m->sides; i++)
        json_side(&j, &m->side[i]);
    json_close(&j, '}');
    write_warnings(&j, m);
    json_close(&j, '}');
    respond(a->rq, 200, "application/json", j.data, j.len);
}

static void run_mma(struct analysis *a)
{
    struct mma *m = la_alloc(&a->rq->cx, sizeof *m);
    *m = (struct mma){0};
    if (!read_mma(a, m))
        return;
    for (uint32_t x = 0; x < OPERANDS; x++)
        if (!add_side(a, m, x))
            return;
    answer_mma(a, m);
}

void handle_mma(struct request *rq)
{
    const char *texts[] = {field_notation(rq, "smem_a"), field_notation(rq, "smem_b"),
                           field_notation(rq, "c")};
    struct analysis a = {.rq = rq, .body = run_mma, .integers = integers_of(rq, texts, 3)};
    analysis_run(&a);
}
