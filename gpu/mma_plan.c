/* mma_plan.c: the check of an MMA partition resolved: who holds what of one tile.
 *
 *   SM80_16x8x16_F32F16F16F32_TN, atoms (2,2,1), permutation (_,_,_)
 *   -> tile (32,16,16), 128 threads; A: 8 values a thread, B: 4, C: 4
 *
 * Everything comes from make_tiled_mma and the TV layouts that core derives, so what runs is what CuTe would partition.
 * That each element of the tile has one owner is looked at here, element by element. */
#include "mma.h"

#include <string.h>

enum { WARP = 32, WARPGROUP = 128, REGISTERS_BESIDES = 30 /* of a thread: addresses and counters */ };

/* The modes of MNK that a matrix has. */
static const int modes_of[3][2] = {{0, 2}, {1, 2}, {0, 1}};
static const char *const names[3] = {"A", "B", "C"}, *const modes[3] = {"M", "N", "K"};

struct planning {
    const struct gpu_spec *spec;
    const struct la_atom *atom;
    struct la_layout atoms;
    const struct la_node *permutation;
    struct gpu_plan *plan;
    struct gpu_mma *mma;
    const char **field;
};

/* ---- reading ---- */

bool gpu_mma_read_atom(struct la_ctx *cx, const char *text, const struct la_atom **out)
{
    struct la_program program;
    if (!la_eval(cx, text, LA_INTEGERS_STATIC, &program))
        return false;
    if (program.value.kind != LA_K_ATOM)
        return gpu_refuse(cx, LA_E_kind, "'atom' takes an MMA atom; this is of kind %s",
                          la_kind_name(program.value.kind));
    *out = program.value.object;
    return (*out)->kind == LA_ATOM_MMA ||
           gpu_refuse(cx, LA_E_kind, "'atom' takes an MMA atom; %s is a copy", (*out)->name);
}

struct compacting {
    const struct la_node *shape;
    struct la_layout *out;
};

static void compact(struct la_ctx *cx, void *arg)
{
    const struct compacting *c = arg;
    *c->out = la_make_layout(cx, c->shape, la_compact_left(cx, c->shape));
}

bool gpu_mma_read_atoms(struct la_ctx *cx, const char *text, enum la_integers integers, struct la_layout *out)
{
    struct la_program program;
    if (!la_eval(cx, text, integers, &program))
        return false;
    if (program.value.kind == LA_K_LAYOUT) {
        *out = program.value.layout;
        return true;
    }
    struct compacting c = {program.value.tuple, out};
    if (program.value.kind & LA_K_INTTUPLE)
        return la_try(cx, compact, &c);
    return gpu_refuse(cx, LA_E_kind, "'atom_layout' takes a layout of atoms or its shape; this is of kind %s",
                      la_kind_name(program.value.kind));
}

bool gpu_mma_read_permutation(struct la_ctx *cx, const char *text, enum la_integers integers,
                              const struct la_node **out)
{
    struct la_program program;
    if (!la_eval(cx, text, integers, &program))
        return false;
    if (!(program.value.kind & (LA_K_TUPLE | LA_K_TILE)))
        return gpu_refuse(
            cx, LA_E_kind,
            "'permutation' takes a tuple of integers, layouts or _, as (_,_,_); this is of kind %s",
            la_kind_name(program.value.kind));
    *out = program.value.tuple;
    return true;
}

/* ---- threads ---- */

/* Atoms along M, N and K, of numbers that the algebra can go on with. */
static void check_atoms(struct la_ctx *cx, struct la_layout atoms)
{
    const char *text = gpu_layout_text(cx, atoms);
    if (la_rank(atoms.shape) > 3)
        la_fail(cx, LA_E_rank_mismatch, "atom_layout %s has %u modes; an MMA has M, N and K", text,
                la_rank(atoms.shape));
    for (uint32_t i = 0; i < atoms.shape->span; i++) {
        const int64_t extent = atoms.shape[i].value, stride = atoms.stride[i].value;
        if (la_is_tuple(atoms.shape + i))
            continue;
        if (extent < 1 || extent > GPU_MAX_THREADS)
            la_fail(cx, LA_E_domain, "atom_layout %s: %lld atoms along a mode; it takes 1 to %d", text,
                    (long long)extent, GPU_MAX_THREADS);
        if (stride > INT32_MAX || stride < -INT32_MAX)
            la_fail(cx, LA_E_limit, "atom_layout %s: the stride %lld is far beyond the %d threads of a block",
                    text, (long long)stride, GPU_MAX_THREADS);
    }
    if (!la_all_static(atoms.shape) || !la_all_static(atoms.stride))
        la_fail(cx, LA_E_dynamic_stride, "atom_layout %s must be static: it is part of a TiledMMA's type",
                la_print_layout(cx, atoms, LA_SPELL_CUTE));
}

/* All threads are those of one block. */
static void check_block(struct la_ctx *cx, const struct la_atom *atom, struct la_layout atoms)
{
    const int64_t threads = la_size(cx, atom->thr_id)->value, n = la_product(cx, atoms.shape)->value;
    if (n > GPU_MAX_THREADS || n * threads > GPU_MAX_THREADS)
        la_fail(
            cx, LA_E_limit,
            "atom_layout %s of %s: %lld atoms of %lld threads are %lld threads, more than the %d of a block",
            gpu_layout_text(cx, atoms), atom->name, (long long)n, (long long)threads,
            (long long)(n * threads), GPU_MAX_THREADS);
}

const struct la_tiled_mma *gpu_mma_tile(struct la_ctx *cx, const struct la_atom *atom, struct la_layout atoms,
                                        const struct la_node *permutation, const char **field)
{
    *field = "atom_layout";
    check_atoms(cx, atoms);
    check_block(cx, atom, atoms);
    *field = "permutation";
    return la_make_tiled_mma(cx, atom, atoms, permutation);
}

/* Where each (V,M,N,K) is, and that no thread is two of them. */
static void set_threads(struct la_ctx *cx, struct planning *p)
{
    struct gpu_mma *m = p->mma;
    const struct la_layout vmnk = m->tiled->thr_vmnk;
    *p->field = "atom_layout";
    int64_t size = 1;
    for (uint32_t i = 0; i < 4; i++) {
        m->groups[i] = la_product(cx, la_mode(cx, vmnk.shape, i))->value;
        size *= m->groups[i];
    }
    int64_t *at = la_alloc(cx, (size_t)size * sizeof *at), last = 0;
    la_offsets(cx, vmnk, size, at);
    for (int64_t i = 0; i < size; i++) {
        if (at[i] < 0 || at[i] >= GPU_MAX_THREADS)
            la_fail(cx, LA_E_limit, "atom_layout %s: thread %lld is none of the %d of a block",
                    gpu_layout_text(cx, m->atoms), (long long)at[i], GPU_MAX_THREADS);
        for (int64_t j = 0; j < i; j++)
            if (at[j] == at[i])
                la_fail(cx, LA_E_non_injective,
                        "atom_layout %s: two atoms have the same threads, %lld among them",
                        gpu_layout_text(cx, m->atoms), (long long)at[i]);
        last = at[i] > last ? at[i] : last;
    }
    m->thread_at = at;
    m->threads = last + 1;
    p->plan->block = m->in.form < GPU_FORM_MMA ? m->threads : (m->threads + WARP - 1) / WARP * WARP;
}

/* Atoms of a whole warp, or warpgroup, run in it: their threads must be one, in order. */
static void check_together(struct la_ctx *cx, struct planning *p)
{
    const struct gpu_mma *m = p->mma;
    const int64_t together = m->in.form == GPU_FORM_WGMMA ? WARPGROUP : WARP;
    if (m->in.form < GPU_FORM_MMA)
        return;
    const int64_t atoms = m->groups[1] * m->groups[2] * m->groups[3];
    for (int64_t i = 0; i < atoms; i++)
        for (int64_t v = 0; v < m->groups[0]; v++) {
            const int64_t thread = m->thread_at[i * m->groups[0] + v];
            const int64_t lane = la_layout_at(cx, m->in.atom->thr_id, la_int(cx, v, true))->value;
            const bool quad = m->groups[0] < WARP; /* four pairs share a warp, 4 threads apart */
            const int64_t first = m->thread_at[i * m->groups[0]], base = first / together * together;
            if (thread - base != lane + (quad ? (first - base) / 4 % 4 * 4 : 0))
                la_fail(
                    cx, LA_E_other,
                    "atom_layout %s: thread %lld of an atom would be thread %lld of the block, but %s runs "
                    "in %lld threads in a row",
                    gpu_layout_text(cx, m->atoms), (long long)v, (long long)thread, m->in.atom->name,
                    (long long)together);
        }
}

/* ---- matrices ---- */

static void set_tile(struct la_ctx *cx, struct planning *p)
{
    struct gpu_mma *m = p->mma;
    const int64_t atom[3] = {m->in.m, m->in.n, m->in.k};
    *p->field = "permutation";
    for (uint32_t x = 0; x < 3; x++) {
        const int64_t whole = atom[x] * m->groups[x + 1];
        m->tile[x] = la_tiled_mma_size(cx, m->tiled, x)->value;
        if (m->tile[x] < 1 || m->tile[x] % whole != 0)
            la_fail(
                cx, LA_E_tile_does_not_divide,
                "the permutation makes the tile %lld along %s, no multiple of the %lld of %lld atoms of %lld",
                (long long)m->tile[x], modes[x], (long long)whole, (long long)m->groups[x + 1],
                (long long)atom[x]);
        if (m->tile[x] > GPU_MMA_MAX_ELEMENTS)
            la_fail(cx, LA_E_limit, "a tile of %lld along %s; %d is the most", (long long)m->tile[x],
                    modes[x], GPU_MMA_MAX_ELEMENTS);
    }
    if (m->tile[0] * m->tile[1] > GPU_MMA_MAX_PRODUCTS / m->tile[2])
        la_fail(cx, LA_E_limit, "a tile of %lldx%lldx%lld has more products than the %lld that a check makes",
                (long long)m->tile[0], (long long)m->tile[1], (long long)m->tile[2],
                (long long)GPU_MMA_MAX_PRODUCTS);
}

static const int64_t *table(struct la_ctx *cx, struct gpu_map map, int64_t n)
{
    if (n > GPU_MMA_MAX_ELEMENTS)
        la_fail(cx, LA_E_limit, "%lld values a thread; %d is the most", (long long)n, GPU_MMA_MAX_ELEMENTS);
    int64_t *values = la_alloc(cx, (size_t)n * sizeof *values);
    for (int64_t i = 0; i < n; i++)
        values[i] = gpu_map_at(map, i);
    return values;
}

static void set_part(struct la_ctx *cx, struct planning *p, enum la_matrix x)
{
    struct gpu_mma *m = p->mma;
    struct gpu_mma_part *part = &m->part[x];
    const int64_t atom[3] = {m->in.m, m->in.n, m->in.k};
    int64_t elements = 1;
    for (int i = 0; i < 2; i++) {
        const int mode = modes_of[x][i];
        part->extent[i] = m->tile[mode];
        part->rest[i] = m->tile[mode] / (atom[mode] * m->groups[mode + 1]);
        elements *= part->extent[i];
    }
    if (elements > GPU_MMA_MAX_ELEMENTS)
        la_fail(cx, LA_E_limit, "%s of the tile has %lld elements; %d is the most", names[x],
                (long long)elements, GPU_MMA_MAX_ELEMENTS);
    part->tv = la_tiled_mma_tv(cx, m->tiled, x);
    part->thread = gpu_map_of(cx, la_layout_mode(cx, part->tv, 0));
    part->value = gpu_map_of(cx, la_layout_mode(cx, part->tv, 1));
    part->values = la_size(cx, la_layout_mode(cx, part->tv, 1))->value;
    part->of_thread = table(cx, part->thread, m->threads);
    part->of_value = table(cx, part->value, part->values);
    if (part->values != m->in.of[x].values * part->rest[0] * part->rest[1])
        la_fail(cx, LA_E_other,
                "permutation %s does not fit: %s of the tile has %lld values a thread, but %lldx%lld "
                "instructions of "
                "%lld",
                la_print_tuple(cx, m->tiled->permutation, LA_SPELL_TEXT), names[x], (long long)part->values,
                (long long)part->rest[0], (long long)part->rest[1], (long long)m->in.of[x].values);
}

/* Of the threads that differ in what a matrix lacks, the first ones only: A is shared along N, B along M, C along K. */
static bool has_own(const struct gpu_mma *m, enum la_matrix x, int64_t index)
{
    const int64_t k = m->groups[0] * m->groups[1] * m->groups[2], n = m->groups[0] * m->groups[1];
    const int64_t along[3] = {index / m->groups[0] % m->groups[1], index / n % m->groups[2], index / k};
    return along[x == LA_A ? 1 : x == LA_B ? 0 : 2] == 0;
}

static int64_t places_of(const struct gpu_mma *m)
{
    return m->groups[0] * m->groups[1] * m->groups[2] * m->groups[3];
}

/* Every element of the tile is held once. With an operand in shared memory all threads of an instruction have it. */
static void check_owners(struct la_ctx *cx, struct planning *p, enum la_matrix x)
{
    const struct gpu_mma *m = p->mma;
    const struct gpu_mma_part *part = &m->part[x];
    const int64_t elements = part->extent[0] * part->extent[1];
    uint32_t *owners = la_alloc(cx, (size_t)elements * sizeof *owners);
    memset(owners, 0, (size_t)elements * sizeof *owners);
    for (int64_t i = 0; i < places_of(m); i++) {
        if (!has_own(m, x, i) || (m->in.of[x].descriptor && i % m->groups[0] != 0))
            continue;
        for (int64_t v = 0; v < part->values; v++) {
            const int64_t e = gpu_mma_at(part, m->thread_at[i], v);
            if (e < 0 || e >= elements)
                la_fail(cx, LA_E_domain, "value %lld of thread %lld is element %lld of %s, which has %lld",
                        (long long)v, (long long)m->thread_at[i], (long long)e, names[x],
                        (long long)elements);
            owners[e]++;
        }
    }
    for (int64_t e = 0; e < elements; e++)
        if (owners[e] != 1)
            la_fail(cx, LA_E_non_injective,
                    "the element (%lld,%lld) of %s has %u owners: the permutation must reach each element of "
                    "a mode "
                    "once",
                    (long long)(e % part->extent[0]), (long long)(e / part->extent[0]), names[x], owners[e]);
}

/* ---- shared memory ---- */

/* The canonical layout with the widest swizzle that an instruction's operand has room for. */
static const char *smem_text(struct la_ctx *cx, const struct gpu_instruction *in, enum la_matrix x,
                             int64_t mn, bool along_mn)
{
    static const int bytes[] = {128, 64, 32};
    const int64_t run = (along_mn ? mn : in->k) * in->of[x].number->bits / 8;
    const char *swizzle = "INTER";
    for (int i = 2; i >= 0; i--)
        if (run % bytes[i] == 0)
            swizzle = la_format(cx, "SW%d", bytes[i]);
    return la_format(cx, "tile_to_shape(GMMA::Layout_%s_%s_Atom<%s>{}, (_%lld,_%lld))", along_mn ? "MN" : "K",
                     swizzle, la_type_name(in->atom->mma.types[x]), (long long)mn, (long long)in->k);
}

static struct la_layout smem_layout(struct la_ctx *cx, const char *text)
{
    struct la_program program;
    if (!la_eval(cx, text, LA_INTEGERS_CUTE, &program))
        la_fail(cx, LA_E_other, "%s: %s", text, cx->error.message);
    return program.value.layout;
}

/* One buffer an instruction's operand. Gives the byte behind the last. */
static int64_t set_smem(struct la_ctx *cx, struct gpu_mma *m, enum la_matrix x, int64_t at)
{
    struct gpu_mma_part *part = &m->part[x];
    const int64_t mn = x == LA_A ? m->in.m : m->in.n, bits = m->in.of[x].number->bits;
    const bool along_mn = strstr(la_type_name(m->in.atom->mma.major[x]), "MN") != NULL;
    const struct gpu_partition whole = {.rank = 2,
                                        .tile = {mn, m->in.k},
                                        .threads = 1,
                                        .values = mn * m->in.k,
                                        .tiler = m->in.atom->mma.shape_mnk};
    part->layout = smem_text(cx, &m->in, x, mn, along_mn);
    const struct la_layout layout = smem_layout(cx, part->layout);
    const struct la_wgmma w = la_wgmma_of(cx, layout, (uint32_t)bits, along_mn ? LA_MAJOR_MN : LA_MAJOR_K,
                                          mn);
    if (!w.legal)
        la_fail(cx, LA_E_other, "%s: %s", part->layout, w.why);
    part->smem = gpu_smem_make(cx, &whole, layout, bits / 8);
    part->place = gpu_map_of(
        cx, (struct la_layout){.shape = part->smem->layout.shape, .stride = part->smem->layout.stride});
    part->descriptor = w.descriptor;
    part->buffers = part->rest[0] * part->rest[1] * m->groups[x == LA_A ? 1 : 2] * m->groups[3];
    const int64_t bytes = part->smem->span * bits / 8;
    if (bytes % w.alignment != 0)
        la_fail(cx, LA_E_other, "%s has %lld bytes, no multiple of the %lld that wgmma aligns it to",
                part->layout, (long long)bytes, (long long)w.alignment);
    part->at = at;
    return at + part->buffers * bytes;
}

/* A, whose buffers are all of 2 KiB, comes first, so that both are aligned to the 1 KiB of the widest swizzle. */
static void set_shared(struct la_ctx *cx, struct planning *p)
{
    struct gpu_mma *m = p->mma;
    int64_t bytes = 0;
    for (enum la_matrix x = LA_A; x <= LA_B; x++)
        if (m->in.of[x].descriptor)
            bytes = set_smem(cx, m, x, bytes);
    *p->field = "atom_layout";
    if (bytes > GPU_MAX_SMEM)
        la_fail(cx, LA_E_limit,
                "the operands of the tile take %lld bytes of shared memory; a block has %d at most",
                (long long)bytes, GPU_MAX_SMEM);
    p->plan->shared_bytes = bytes;
}

/* What a thread of a warpgroup holds of one instruction must fit beside the others' in the register file. */
static void check_registers(struct la_ctx *cx, struct planning *p)
{
    const struct gpu_mma *m = p->mma;
    const int64_t held = m->in.of[LA_D].registers + m->in.of[LA_A].registers + REGISTERS_BESIDES,
                  most = GPU_MMA_THREADS_OF_REGISTERS / p->plan->block;
    if (m->in.form == GPU_FORM_WGMMA && held > most)
        la_fail(cx, LA_E_limit,
                "atom_layout %s of %s: %lld threads have %lld registers each, but one instruction takes "
                "%lld: %lld of D, "
                "%lld of A and %d besides",
                gpu_layout_text(cx, m->atoms), m->in.atom->name, (long long)p->plan->block, (long long)most,
                (long long)held, (long long)m->in.of[LA_D].registers, (long long)m->in.of[LA_A].registers,
                REGISTERS_BESIDES);
}

/* ---- the plan ---- */

/* thread -> index in (V,M,N,K); threads between those of the MMA, as beside a quad pair, have others' indices. */
static struct gpu_map place_of(struct la_ctx *cx, const struct gpu_mma *m)
{
    const struct la_layout parts[2] = {m->tiled->thr_vmnk, la_complement(cx, m->tiled->thr_vmnk, NULL)};
    return gpu_map_of(cx, la_right_inverse(cx, la_layout_concat(cx, 2, parts)));
}

static int64_t bytes_of(const struct gpu_mma *m, enum la_matrix x)
{
    const struct gpu_mma_part *part = &m->part[x == LA_D ? LA_C : x];
    return (part->extent[0] * part->extent[1] * m->in.of[x].number->bits + 7) / 8;
}

static void plan_body(struct la_ctx *cx, void *arg)
{
    struct planning *p = arg;
    struct gpu_mma *m = p->mma = p->plan->mma = la_alloc(cx, sizeof *m);
    *m = (struct gpu_mma){.atoms = p->atoms};
    *p->field = "atom";
    if (!gpu_instruction_find(cx, p->atom, &m->in))
        la_fail(cx, cx->error.code, "%s", la_format(cx, "%s", cx->error.message));
    m->tiled = gpu_mma_tile(cx, p->atom, p->atoms, p->permutation, p->field);
    set_threads(cx, p);
    check_together(cx, p);
    set_tile(cx, p);
    for (enum la_matrix x = LA_A; x <= LA_C; x++) {
        set_part(cx, p, x);
        check_owners(cx, p, x);
    }
    m->place = place_of(cx, m);
    set_shared(cx, p);
    check_registers(cx, p);
    p->plan->grid = 1;
    p->plan->bytes_read = bytes_of(m, LA_A) + bytes_of(m, LA_B) + bytes_of(m, LA_C);
    p->plan->bytes_written = bytes_of(m, LA_D) * m->groups[3];
}

bool gpu_mma_make(struct la_ctx *cx, const struct gpu_spec *spec, struct gpu_plan *plan, const char **field)
{
    struct planning p = {.spec = spec, .plan = plan, .field = field};
    *field = "atom";
    if (!gpu_mma_read_atom(cx, spec->mma.atom, &p.atom))
        return false;
    *field = "atom_layout";
    if (!gpu_mma_read_atoms(cx, spec->mma.atom_layout ? spec->mma.atom_layout : "(1,1,1)", spec->integers,
                            &p.atoms))
        return false;
    *field = "permutation";
    if (!gpu_mma_read_permutation(cx, spec->mma.permutation ? spec->mma.permutation : "(_,_,_)",
                                  spec->integers, &p.permutation))
        return false;
    return la_try(cx, plan_body, &p);
}

/* ---- as JSON ---- */

void gpu_mma_add_spec(struct la_ctx *cx, const struct gpu_plan *plan, cJSON *json)
{
    const struct gpu_mma *m = plan->mma;
    const bool is_static = plan->integers == LA_INTEGERS_STATIC;
    const enum la_spelling spelling = is_static ? LA_SPELL_TEXT : LA_SPELL_CUTE;
    cJSON_AddStringToObject(json, "atom", m->in.atom->name);
    cJSON_AddStringToObject(json, "atom_layout", la_print_layout(cx, m->atoms, spelling));
    cJSON_AddStringToObject(json, "permutation", la_print_tuple(cx, m->tiled->permutation, spelling));
}

static void add_part(struct la_ctx *cx, cJSON *json, const struct gpu_mma *m, enum la_matrix x)
{
    const struct gpu_mma_part *part = &m->part[x];
    const struct gpu_fragment *f = &m->in.of[x];
    cJSON *one = cJSON_AddObjectToObject(json, names[x]);
    cJSON_AddStringToObject(one, "type", f->number->name);
    cJSON_AddStringToObject(one, "tv", gpu_layout_text(cx, part->tv));
    cJSON_AddNumberToObject(one, "values", (double)part->values);
    cJSON_AddNumberToObject(one, "instructions", (double)(part->rest[0] * part->rest[1]));
    cJSON_AddNumberToObject(one, "registers", (double)(f->descriptor ? 0 : f->registers));
    cJSON_AddNumberToObject(one, "bytes", (double)bytes_of(m, x));
    if (f->descriptor)
        cJSON_AddStringToObject(one, "smem", part->layout);
}

void gpu_mma_add_facts(struct la_ctx *cx, const struct gpu_plan *plan, cJSON *json)
{
    const struct gpu_mma *m = plan->mma;
    cJSON *tile = cJSON_AddArrayToObject(json, "tile_size_mnk");
    for (int x = 0; x < 3; x++)
        cJSON_AddItemToArray(tile, cJSON_CreateNumber((double)m->tile[x]));
    cJSON_AddNumberToObject(json, "threads", (double)m->threads);
    cJSON_AddNumberToObject(json, "block", (double)plan->block);
    if (m->in.ptx)
        cJSON_AddStringToObject(json, "instruction", m->in.ptx);
    for (enum la_matrix x = LA_A; x <= LA_C; x++)
        add_part(cx, json, m, x);
    cJSON_AddNumberToObject(json, "slices", (double)m->groups[3]);
    cJSON_AddNumberToObject(json, "shared_bytes", (double)plan->shared_bytes);
    cJSON_AddNumberToObject(json, "bytes_read", (double)plan->bytes_read);
    cJSON_AddNumberToObject(json, "bytes_written", (double)plan->bytes_written);
    cJSON_AddNumberToObject(json, "flops",
                            2.0 * (double)m->tile[0] * (double)m->tile[1] * (double)m->tile[2] *
                                (m->in.of[LA_D].number->kind >= GPU_COMPLEX ? 4 : 1));
}
