/* gemm_operand.c: an operand of a GEMM on its way to registers: how a stage of it lies in shared memory, who fills it
 * and how threads read their fragments. What a spec leaves open is chosen here.
 *
 *   A half_t (4096,4096):(4096,1), tile (128,32), SM80_16x8x16 2x2
 *   -> Swizzle<2,3,3> o 0 o (128,32):(32,1), cp.async of 16 bytes, ldmatrix.x4: no two rows of a matrix in one bank
 *
 * All that is claimed of an access is looked at, thread by thread and value by value, so that any layout may be given:
 * what does not fit falls to a narrower access, or is refused where the spec insists. Functions here leave by la_fail. */
#include "gemm.h"

#include <string.h>

enum { MATRIX_ROW = 16, /* bytes of a row of ldmatrix */ MATRIX_ROWS = 8, MOST_SHIFT = 7 };

/* ---- the TiledMMA's partition ---- */

void gpu_gemm_partition(struct la_ctx *cx, const struct la_tiled_mma *mma, enum la_matrix x,
                        struct la_layout tile, struct gpu_map *thread, struct gpu_map *value)
{
    static const uint32_t without[3] = {2, 1, 3}; /* the mode of (V,M,N,K) that A, B, C lack */
    const struct la_layout all = la_thrfrg(cx, mma, x, tile), who = la_layout_mode(cx, all, 0);
    const struct la_layout along = la_layout_mode(cx, who, 1);
    struct la_layout vmnk[4];
    for (uint32_t i = 0, next = 0; i < 4; i++) {
        if (i == 0)
            vmnk[i] = la_layout_mode(cx, who, 0);
        else if (i == without[x])
            vmnk[i] = la_make_layout(cx, la_product(cx, la_mode(cx, mma->thr_vmnk.shape, i)),
                                     la_int(cx, 0, true));
        else
            vmnk[i] = la_layout_mode(cx, along, next++);
    }
    const struct la_layout inverse = la_right_inverse(cx, mma->thr_vmnk);
    *thread = gpu_map_of(cx, la_composition(cx, la_layout_concat(cx, 4, vmnk), la_value_layout(inverse)));
    *value = gpu_map_of(cx, la_layout_mode(cx, all, 1));
}

/* ---- what is being tried ---- */

/* An operand with its partition as tables, so that layouts can be compared quickly. */
struct trying {
    const struct gpu_gemm *g;
    struct gpu_gemm_operand *o;
    const struct gpu_gemm_wish *wish;
    const char **field;
    int64_t warps; /* that are looked at */
    int64_t *thread, *value;
};

static int64_t value_count(const struct gpu_gemm *g, const struct gpu_gemm_operand *o)
{
    return o->values * o->rest * g->blocks_k;
}

static void set_tables(struct la_ctx *cx, struct trying *y, struct la_layout plain)
{
    struct gpu_gemm_operand *o = y->o;
    gpu_gemm_partition(cx, y->g->mma, o->x, plain, &o->thread, &o->value);
    const int64_t n = value_count(y->g, o);
    y->thread = la_alloc(cx, (size_t)y->g->threads * sizeof *y->thread);
    y->value = la_alloc(cx, (size_t)n * sizeof *y->value);
    for (int64_t t = 0; t < y->g->threads; t++)
        y->thread[t] = gpu_map_at(o->thread, t);
    for (int64_t v = 0; v < n; v++)
        y->value[v] = gpu_map_at(o->value, v);
}

static int64_t place(const struct trying *y, int64_t thread, int64_t value)
{
    return gpu_smem_place(y->o->smem, y->thread[thread] + y->value[value]);
}

/* ---- global -> shared ---- */

/* Why accesses of n elements along a mode are not legal in global memory, or NULL. */
static const char *global_objection(struct la_ctx *cx, const struct gpu_gemm_operand *o, uint32_t major,
                                    int64_t n)
{
    const struct gpu_map along = o->tensor.mode[major];
    if (o->tile[major] % n != 0)
        return la_format(cx, "%lld elements of the tile along mode %u are no multiple of %lld",
                         (long long)o->tile[major], major, (long long)n);
    if (n > 1 && along.count && along.modes[0].stride != 1)
        return la_format(cx, "the stride of mode %u is %lld, not 1", major, (long long)along.modes[0].stride);
    if (along.count > 1 && along.modes[0].extent % n != 0)
        return la_format(cx, "mode %u is contiguous for %lld elements, no multiple of %lld", major,
                         (long long)along.modes[0].extent, (long long)n);
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t i = k == major; i < o->tensor.mode[k].count; i++)
            if (o->tensor.mode[k].modes[i].stride % n != 0)
                return la_format(cx, "the stride %lld of mode %u is no multiple of %lld",
                                 (long long)o->tensor.mode[k].modes[i].stride, k, (long long)n);
    return NULL;
}

static int64_t divisor_at_most(int64_t n, int64_t most)
{
    int64_t d = n < most ? n : most;
    while (n % d != 0)
        d--;
    return d;
}

/* A layout over (mn,k), the mode `first` fastest. */
static struct la_layout two_modes(struct la_ctx *cx, const int64_t extent[2], uint32_t first)
{
    const struct la_node *shape[2], *stride[2];
    for (uint32_t k = 0; k < 2; k++) {
        shape[k] = la_int(cx, extent[k], true);
        stride[k] = la_int(cx, k == first ? 1 : extent[first], true);
    }
    return la_make_layout(cx, la_tuple(cx, 2, shape), la_tuple(cx, 2, stride));
}

/* Threads side by side along the major mode, then along the other, as far as there are vectors for them. */
static void set_threads(struct la_ctx *cx, struct trying *y)
{
    static const char *const names[2] = {"thr", "val"};
    struct gpu_gemm_operand *o = y->o;
    struct gpu_gemm_fill *f = &o->fill;
    const uint32_t major = o->major, other = 1 - major;
    int64_t along[2], vector[2] = {1, 1};
    const char *ignored;
    along[major] = divisor_at_most(o->tile[major] / f->vector, y->g->threads);
    along[other] = divisor_at_most(o->tile[other], y->g->threads / along[major]);
    vector[major] = f->vector;
    f->part = gpu_partition_make(cx, two_modes(cx, along, major), two_modes(cx, vector, major), names,
                                 &ignored);
    for (uint32_t k = 0; k < 2; k++)
        f->passes[k] = o->tile[k] / f->part.tile[k];
    const struct la_layout plain = {.shape = o->smem->layout.shape, .stride = o->smem->layout.stride};
    const struct gpu_tensor stage = gpu_tensor_make(cx, "smem", plain, o->bits);
    f->smem = gpu_access_make(cx, &f->part, &stage);
}

int64_t gpu_gemm_pass(const struct gpu_gemm_fill *f, int64_t pass)
{
    return gpu_map_at(f->smem.rest[0], pass % f->passes[0]) +
           gpu_map_at(f->smem.rest[1], pass / f->passes[0]);
}

/* Why the vectors are none in shared memory, or NULL. */
static const char *smem_objection(struct la_ctx *cx, const struct trying *y)
{
    const struct gpu_gemm_fill *f = &y->o->fill;
    for (int64_t p = 0; p < f->passes[0] * f->passes[1]; p++)
        for (int64_t t = 0; t < f->part.threads; t++) {
            const int64_t at = gpu_map_at(f->smem.thread, t) + gpu_gemm_pass(f, p);
            const int64_t first = gpu_smem_place(y->o->smem, at);
            if (first % f->vector != 0)
                return la_format(cx, "an access of thread %lld begins at %lld of %s, no multiple of %lld",
                                 (long long)t, (long long)first, y->wish->fields[0], (long long)f->vector);
            for (int64_t e = 1; e < f->vector; e++)
                if (gpu_smem_place(y->o->smem, at + gpu_map_at(f->smem.value, e)) != first + e)
                    return la_format(
                        cx, "elements %lld and %lld of an access of thread %lld are not side by side in %s",
                        (long long)e - 1, (long long)e, (long long)t, y->wish->fields[0]);
        }
    return NULL;
}

static struct gpu_atom widest_atom(struct la_ctx *cx, unsigned bits)
{
    const enum gpu_op op = bits < 32 ? GPU_UNIVERSAL : bits < 128 ? GPU_CP_ASYNC_ALWAYS : GPU_CP_ASYNC_GLOBAL;
    const char *const names[] = {"UniversalCopy", "SM80_CP_ASYNC_CACHEALWAYS", "SM80_CP_ASYNC_CACHEGLOBAL"};
    const size_t name = op == GPU_UNIVERSAL ? 0 : op == GPU_CP_ASYNC_ALWAYS ? 1 : 2;
    return (struct gpu_atom){la_format(cx, "%s<uint%u_t>", names[name], bits), bits, op};
}

/* The copy atom that a spec names. */
static struct gpu_atom given_atom(struct la_ctx *cx, const struct trying *y)
{
    const struct la_atom *atom = la_atom_named(cx, y->wish->copy);
    struct gpu_atom out = {.name = atom->name};
    if (!strncmp(atom->name, "UniversalCopy<", 14))
        out.op = GPU_UNIVERSAL;
    else if (!strncmp(atom->name, "SM80_CP_ASYNC_CACHEALWAYS<", 26))
        out.op = GPU_CP_ASYNC_ALWAYS;
    else if (!strncmp(atom->name, "SM80_CP_ASYNC_CACHEGLOBAL<", 26))
        out.op = GPU_CP_ASYNC_GLOBAL;
    else
        la_fail(cx, LA_E_kind,
                "%s fills shared memory: UniversalCopy<T>, SM80_CP_ASYNC_CACHEALWAYS<T> and "
                "SM80_CP_ASYNC_CACHEGLOBAL<T> do, not %s",
                y->wish->fields[1], atom->name);
    out.bits = (unsigned)la_size(cx, atom->copy.bits[LA_SRC])->value;
    if (out.bits % y->o->bits != 0 || out.bits > 128)
        la_fail(cx, LA_E_copy_too_few_values,
                "%s: %s moves %u bits at a time, no whole elements of %u bits up to 128", y->wish->fields[1],
                atom->name, out.bits, y->o->bits);
    return out;
}

/* Which mode vectors lie along, and how long they may be in global memory. */
static void set_vector(struct la_ctx *cx, struct trying *y)
{
    struct gpu_gemm_operand *o = y->o;
    struct gpu_gemm_fill *f = &o->fill;
    *y->field = y->wish->fields[1];
    if (y->wish->copy) {
        f->atom = given_atom(cx, y);
        f->vector = f->atom.bits / o->bits;
        f->why = "as given";
        const char *along_k = global_objection(cx, o, 1, f->vector),
                   *along_mn = global_objection(cx, o, 0, f->vector);
        if (along_k && along_mn)
            la_fail(cx, LA_E_divisibility,
                    "%s moves %lld elements of %s %s at a time, but along k %s, and along %s %s",
                    f->atom.name, (long long)f->vector, o->name, gpu_layout_text(cx, o->tensor.layout),
                    along_k, o->x == LA_A ? "m" : "n", along_mn);
        o->major = along_k ? 0 : 1;
        return;
    }
    for (int64_t n = LA_VECTOR_BITS / o->bits; n >= 1; n /= 2)
        for (uint32_t tried = 0; tried < 2; tried++) {
            const char *objection = global_objection(cx, o, o->major = 1 - tried, n);
            if (!objection) {
                f->vector = n;
                f->why = f->why ? f->why : "it has 128 bits";
                f->atom = widest_atom(cx, (unsigned)n * o->bits);
                return;
            }
            if (tried == 0 || (o->tensor.mode[0].count && o->tensor.mode[0].modes[0].stride == 1))
                f->why = objection; /* of the mode that is contiguous, if one is */
        }
    la_fail(cx, LA_E_other, "%s: one element at a time is not legal", o->name);
}

/* Threads and passes for the vector; one that the layout of shared memory does not take is made shorter unless given. */
static void set_fill(struct la_ctx *cx, struct trying *y)
{
    struct gpu_gemm_fill *f = &y->o->fill;
    for (;;) {
        set_threads(cx, y);
        const char *objection = smem_objection(cx, y);
        if (!objection)
            break;
        *y->field = y->wish->fields[1];
        if (y->wish->copy || f->vector == 1)
            la_fail(cx, LA_E_not_contiguous, "%s: %s moves %lld elements at a time, but %s",
                    y->wish->fields[1], f->atom.name, (long long)f->vector, objection);
        f->why = objection;
        f->vector /= 2;
        f->atom = widest_atom(cx, (unsigned)f->vector * y->o->bits);
    }
    const int64_t passes = f->passes[0] * f->passes[1];
    if (passes > GPU_GEMM_MAX_ACCESSES)
        la_fail(cx, LA_E_limit, "%s: a thread makes %lld accesses to a stage of %s; %d is the most",
                y->wish->fields[1], (long long)passes, y->o->name, GPU_GEMM_MAX_ACCESSES);
}

/* ---- shared -> registers ---- */

/* Registers of a fragment, an atom deep. */
static int64_t registers_of(const struct gpu_gemm_operand *o)
{
    return o->values / o->per * o->rest;
}

/* The values of register r in all of a fragment, of block kb of K. */
static int64_t register_value(const struct gpu_gemm_operand *o, int64_t kb, int64_t r)
{
    return kb * o->values * o->rest + r * o->per;
}

/* Lane l of a warp gets bytes 4*(l%4) to 4*(l%4)+3 of row l/4 of a matrix; rows begin at multiples of 16 bytes. */
static bool rows_fit(const struct trying *y, int64_t warp, int64_t value)
{
    const struct gpu_gemm_operand *o = y->o;
    for (int64_t row = 0; row < MATRIX_ROWS; row++) {
        const int64_t first = place(y, warp * LA_LANES + row * 4, value);
        if (first * o->bits % (MATRIX_ROW * 8) != 0)
            return false;
        for (int64_t q = 0; q < 4; q++)
            for (int64_t e = 0; e < o->per; e++)
                if (place(y, warp * LA_LANES + row * 4 + q, value + e) != first + q * o->per + e)
                    return false;
    }
    return true;
}

/* Transposed, it gets the element l/4 of the rows 2*(l%4) and 2*(l%4)+1, of two bytes each. */
static bool columns_fit(const struct trying *y, int64_t warp, int64_t value)
{
    const struct gpu_gemm_operand *o = y->o;
    for (int64_t row = 0; row < MATRIX_ROWS; row++) {
        const int64_t first = place(y, warp * LA_LANES + row / 2, value + row % 2);
        if (first * o->bits % (MATRIX_ROW * 8) != 0)
            return false;
        for (int64_t q = 0; q < MATRIX_ROWS; q++)
            if (place(y, warp * LA_LANES + row / 2 + q * 4, value + row % 2) != first + q)
                return false;
    }
    return true;
}

/* Why no ldmatrix of n matrices does it, or NULL. */
static const char *matrix_objection(struct la_ctx *cx, const struct trying *y, int64_t n, bool trans)
{
    const struct gpu_gemm_operand *o = y->o;
    const int64_t registers = registers_of(o);
    if (o->bits * o->per != 32 || y->g->threads % LA_LANES != 0)
        return la_format(cx, "it fills registers of 32 bits, and these have %u", o->bits * o->per);
    if (trans && o->bits != 16)
        return la_format(cx, "transposing it moves elements of 16 bits, and these have %u", o->bits);
    if (registers % n != 0)
        return la_format(cx, "a thread has %lld registers of an atom's depth, no multiple of %lld",
                         (long long)registers, (long long)n);
    for (int64_t kb = 0; kb < y->g->blocks_k; kb++)
        for (int64_t r = 0; r < registers; r++) {
            const int64_t v = register_value(o, kb, r), base = register_value(o, kb, r - r % n);
            for (int64_t w = 0; w < y->warps; w++)
                if (!(trans ? columns_fit(y, w, v) : rows_fit(y, w, v)))
                    return la_format(
                        cx, "register %lld of warp %lld does not hold %s of 16 bytes in shared memory",
                        (long long)r, (long long)w, trans ? "columns of rows" : "rows");
            for (int64_t e = 0; e < o->per; e++) /* one lane's row for all matrices of an access */
                if (y->value[v + e] - y->value[base] != y->value[r % n * o->per + e] - y->value[0])
                    return la_format(cx,
                                     "the matrices of register %lld lie otherwise than those of register 0",
                                     (long long)(r - r % n));
        }
    return NULL;
}

/* Whether the elements of every register lie side by side, so that it is loaded at once. */
static bool registers_whole(const struct trying *y)
{
    const struct gpu_gemm_operand *o = y->o;
    for (int64_t t = 0; t < y->warps * LA_LANES && t < y->g->threads; t++)
        for (int64_t v = 0; v < value_count(y->g, o); v += o->per) {
            const int64_t first = place(y, t, v);
            if (first % o->per != 0)
                return false;
            for (int64_t e = 1; e < o->per; e++)
                if (place(y, t, v + e) != first + e)
                    return false;
        }
    return true;
}

static const char *matrix_name(struct la_ctx *cx, int64_t n, bool trans)
{
    return trans ? la_format(cx, "SM75_U16x%lld_LDSM_T", (long long)(2 * n))
                 : la_format(cx, "SM75_U32x%lld_LDSM_N", (long long)n);
}

static void set_plain(struct la_ctx *cx, struct trying *y)
{
    struct gpu_gemm_operand *o = y->o;
    o->read.matrices = 0;
    o->read.whole = registers_whole(y);
    const unsigned bits = o->bits * (o->read.whole ? o->per : 1);
    o->read.accesses = registers_of(o) * (o->read.whole ? 1 : o->per);
    o->read.name = la_format(cx, "UniversalCopy<uint%u_t>", bits);
}

static bool set_matrix(struct la_ctx *cx, struct trying *y, int64_t n, bool trans)
{
    struct gpu_gemm_read *r = &y->o->read;
    const char *objection = matrix_objection(cx, y, n, trans);
    if (objection) {
        r->why = r->why ? r->why : la_format(cx, "%s: %s", matrix_name(cx, n, trans), objection);
        return false;
    }
    r->matrices = n;
    r->trans = trans;
    r->accesses = registers_of(y->o) / n;
    r->name = matrix_name(cx, n, trans);
    return true;
}

/* What a spec says, or the widest ldmatrix, or loads. */
static void set_read(struct la_ctx *cx, struct trying *y)
{
    struct gpu_gemm_read *r = &y->o->read;
    const char *wish = y->wish->smem_copy;
    *r = (struct gpu_gemm_read){0};
    const bool trans = y->o->major == 0; /* rows of shared memory lie along the major mode */
    for (int64_t n = 4; n >= 1 && y->wish->matrices; n /= 2)
        if ((!wish || !strcmp(wish, matrix_name(cx, n, trans))) && set_matrix(cx, y, n, trans)) {
            r->why = n == 4 ? "four matrices at a time" : r->why;
            return;
        }
    const char *why = r->why;
    set_plain(cx, y);
    r->why = y->wish->matrices ? why : "ldmatrix was not asked for";
    if (!wish || !strcmp(wish, r->name))
        return;
    *y->field = y->wish->fields[2];
    la_fail(cx, LA_E_not_contiguous, "%s: %s does not read %s from %s%s%s; %s does", y->wish->fields[2], wish,
            y->o->name, gpu_layout_text(cx, y->o->smem->layout), why ? ": " : "", why ? why : "", r->name);
}

/* ---- shared memory ---- */

static void set_smem(struct la_ctx *cx, struct trying *y, struct la_layout layout)
{
    struct gpu_gemm_operand *o = y->o;
    struct gpu_partition tile = {.rank = 2, .threads = o->tile[0] * o->tile[1], .values = 1};
    const struct la_node *tiler[2] = {la_int(cx, o->tile[0], true), la_int(cx, o->tile[1], true)};
    tile.tile[0] = o->tile[0];
    tile.tile[1] = o->tile[1];
    tile.tiler = la_tuple(cx, 2, tiler);
    *y->field = y->wish->fields[0];
    o->smem = gpu_smem_make(cx, &tile, layout, o->bits / 8);
    const struct la_layout plain = {.shape = o->smem->layout.shape, .stride = o->smem->layout.stride};
    set_tables(cx, y, plain);
    set_fill(cx, y);
    set_read(cx, y);
}

static int64_t log_of(int64_t n)
{
    int64_t log = 0;
    while (INT64_C(2) << log <= n)
        log++;
    return log;
}

/* Rows along the major mode, behind the swizzle that costs the fewest wavefronts to fill and to read. */
static void choose_smem(struct la_ctx *cx, struct trying *y)
{
    struct gpu_gemm_operand *o = y->o;
    const struct la_layout plain = two_modes(cx, o->tile, o->major);
    struct la_swizzle best = {0}, s;
    int64_t fewest, ideal;
    const int64_t warps = y->warps, top = log_of(o->tile[0] * o->tile[1]);
    struct gpu_smem
        tried; /* a swizzle does not change who meets whom, so the buffer's checks are made once */
    y->warps = 1;
    set_smem(cx, y, plain);
    fewest = gpu_gemm_wavefronts(y->g, o, &ideal);
    const struct gpu_gemm_fill fill = o->fill;
    tried = *o->smem;
    o->smem = &tried;
    for (s.bits = 1; s.bits <= 3 && fewest > ideal; s.bits++)
        for (s.base = (int32_t)log_of(o->fill.vector); s.base <= log_of(128); s.base++)
            for (s.shift = s.bits; s.shift <= MOST_SHIFT && s.base + s.shift + s.bits <= top; s.shift++) {
                tried.swizzle = s;
                o->fill = fill;
                set_read(cx, y);
                const int64_t cost = gpu_gemm_wavefronts(y->g, o, &ideal);
                if (cost < fewest) {
                    fewest = cost;
                    best = s;
                }
            }
    y->warps = warps;
    struct la_layout layout = plain;
    if (best.bits) {
        struct la_value *outer = la_alloc(cx, sizeof *outer);
        *outer = (struct la_value){.kind = LA_K_SWIZZLE, .swizzle = best};
        layout.outer = outer;
        layout.offset = la_int(cx, 0, true);
    }
    set_smem(cx, y, layout);
}

static struct la_layout read_smem(struct la_ctx *cx, const struct trying *y, enum la_integers integers)
{
    struct la_program program;
    *y->field = y->wish->fields[0];
    if (!la_eval(cx, y->wish->smem, integers, &program))
        la_fail(cx, cx->error.code, "%s", la_format(cx, "%s: %s", y->wish->fields[0], cx->error.message));
    if (!(program.value.kind & LA_K_ANYLAYOUT))
        la_fail(cx, LA_E_kind, "'%s' takes a layout; this is %s", y->wish->fields[0],
                la_kinds_text(cx, program.value.kind));
    return program.value.layout;
}

void gpu_gemm_operand_make(struct la_ctx *cx, const struct gpu_gemm *g, struct gpu_gemm_operand *o,
                           const struct gpu_gemm_wish *wish, enum la_integers integers, const char **field)
{
    struct trying y = {
        .g = g, .o = o, .wish = wish, .field = field, .warps = (g->threads + LA_LANES - 1) / LA_LANES};
    set_vector(cx, &y);
    if (wish->smem)
        set_smem(cx, &y, read_smem(cx, &y, integers));
    else
        choose_smem(cx, &y);
    gpu_gemm_set_addressing(cx, g, o);
}
