/* test_atoms.c: laws of the atom table, of tiled copies and of tiled MMAs.
 *
 * An atom's layouts are compared with what the hardware needs: threads and values cover each element of the
 * tile equally often, and both ends of a copy the same bits. A tiling is compared with itself by another way:
 * what a thread has of a tile (a partition: slices of divided layouts) is what its TV layout says
 * (compositions), thread by thread and value by value; and all threads together have each element of a larger
 * tensor equally often. */
#include "la.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ARENA_LIMIT = 256 << 20 };

static struct la_arena *arena;

static struct la_ctx fresh(void)
{
    la_arena_reset(arena);
    return (struct la_ctx){.arena = arena};
}

/* Run a body that may leave by la_fail; it must not. */
static void must(struct la_ctx *cx, void (*body)(struct la_ctx *cx, void *arg), void *arg, const char *what)
{
    if (!la_try(cx, body, arg))
        fail_msg("%s: %s", what, cx->error.message);
}

static int64_t number(const struct la_node *n)
{
    return n->value;
}

static int64_t extent(struct la_ctx *cx, struct la_layout a, uint32_t mode)
{
    return number(la_product(cx, la_mode(cx, a.shape, mode)));
}

/* How often each offset below `size` is hit by a (thread, value) layout; all offsets must lie there. Where
 * all threads have the same, one of them is enough. */
static int *hits(struct la_ctx *cx, struct la_layout a, int64_t size, const char *what)
{
    const struct la_node *thread = la_mode(cx, a.stride, 0);
    if (thread->kind == LA_INT && thread->value == 0)
        a = la_layout_mode(cx, a, 1);
    const int64_t n = number(la_size(cx, a));
    int64_t *offsets = la_alloc(cx, (size_t)n * sizeof *offsets);
    int *count = la_alloc(cx, (size_t)size * sizeof *count);
    memset(count, 0, (size_t)size * sizeof *count);
    la_offsets(cx, a, n, offsets);
    for (int64_t i = 0; i < n; i++) {
        if (offsets[i] < 0 || offsets[i] >= size)
            fail_msg("%s: the offset %lld is not below %lld", what, (long long)offsets[i], (long long)size);
        count[offsets[i]]++;
    }
    return count;
}

static void all_equal(const int *count, int64_t size, const char *what)
{
    for (int64_t i = 0; i < size; i++)
        if (count[i] != count[0] || count[i] == 0)
            fail_msg("%s: element %lld is there %d times and element 0 %d times", what, (long long)i,
                     count[i], count[0]);
}

/* ---- atoms ---- */

/* Threads and values cover the tile, each element equally often. */
static void check_mma(struct la_ctx *cx, const struct la_atom *atom)
{
    const uint32_t modes[3][2] = {{0, 2}, {1, 2}, {0, 1}};
    for (enum la_matrix x = LA_A; x <= LA_C; x++) {
        const int64_t size = number(la_mode(cx, atom->mma.shape_mnk, modes[x][0])) *
                             number(la_mode(cx, atom->mma.shape_mnk, modes[x][1]));
        all_equal(hits(cx, atom->mma.tv[x], size, atom->name), size, atom->name);
        assert_int_equal(extent(cx, atom->mma.tv[x], 0), number(la_size(cx, atom->thr_id)));
        assert_true(la_type_bits(atom->mma.types[x]) > 0);
    }
}

/* Source and destination have the bits of the reference, and nothing else. */
static void check_copy(struct la_ctx *cx, const struct la_atom *atom)
{
    const struct la_layout *bits = atom->copy.bits;
    if (!bits[LA_REF].shape)
        return;
    const int64_t size = number(la_cosize(cx, bits[LA_REF]));
    const int *ref = hits(cx, bits[LA_REF], size, atom->name);
    for (enum la_end end = LA_SRC; end <= LA_DST; end++) {
        const int *had = hits(cx, bits[end], size, atom->name);
        const bool multicast = strstr(atom->name, "UTCCP") != NULL; /* the source is smaller */
        for (int64_t i = 0; i < size; i++)
            if (had[i] > 0 ? !ref[i] : ref[i] && !multicast)
                fail_msg("%s: bit %lld is at one end only", atom->name, (long long)i);
        assert_int_equal(extent(cx, bits[end], 0), number(la_size(cx, atom->thr_id)));
    }
}

static void check_atom(struct la_ctx *cx, void *arg)
{
    const size_t i = *(size_t *)arg;
    const struct la_atom *atom = la_atom_at(cx, i);
    assert_non_null(atom);
    assert_string_equal(atom->name, la_atom_name_at(cx, i));
    assert_int_equal(atom->kind, la_atom_kind_at(i));
    assert_true(atom->doc[0] && atom->arch[0]);
    (atom->kind == LA_ATOM_MMA ? check_mma : check_copy)(cx, atom);
}

static void atoms(void **state)
{
    (void)state;
    const size_t n = la_atom_count();
    assert_true(n > 1800);
    for (size_t i = 0; i < n; i++) {
        struct la_ctx cx = fresh();
        must(&cx, check_atom, &i, "an atom");
    }
    struct la_ctx cx = fresh();
    assert_null(la_atom_at(&cx, n));
}

/* ---- what threads have ---- */

static struct la_layout layout_of(struct la_ctx *cx, const char *text)
{
    struct la_program program;
    if (!la_eval(cx, text, LA_INTEGERS_STATIC, &program))
        fail_msg("%s: %s", text, cx->error.message);
    assert_true(program.value.kind == LA_K_LAYOUT);
    return program.value.layout;
}

static const int64_t *offsets_of(struct la_ctx *cx, struct la_layout a, int64_t *n)
{
    *n = number(la_size(cx, a));
    int64_t *offsets = la_alloc(cx, (size_t)*n * sizeof *offsets);
    la_offsets(cx, a, *n, offsets);
    return offsets;
}

/* A thread's part of a tile is what the TV layout says of it. Threads along K repeat C, and CuTe's TV layout
 * of C counts on beyond the tile for them: hence the size. */
static void check_part(struct la_ctx *cx, struct la_part part, const int64_t *tv, int64_t threads,
                       int64_t thread, int64_t size, const char *what)
{
    int64_t n;
    const int64_t *got = offsets_of(cx, part.layout, &n), begin = number(part.offset);
    for (int64_t v = 0; v < n; v++) {
        const int64_t want = tv[thread + threads * v] % size;
        if (begin + got[v] != want)
            fail_msg("%s: value %lld of thread %lld lies at %lld, not at %lld", what, (long long)v,
                     (long long)thread, (long long)(begin + got[v]), (long long)want);
    }
}

static void count_part(struct la_ctx *cx, struct la_part part, int *count, int64_t size, const char *what)
{
    int64_t n;
    const int64_t *at = offsets_of(cx, part.layout, &n), begin = number(part.offset);
    for (int64_t v = 0; v < n; v++) {
        if (begin + at[v] < 0 || begin + at[v] >= size)
            fail_msg("%s: %lld is not below %lld", what, (long long)(begin + at[v]), (long long)size);
        count[begin + at[v]]++;
    }
}

/* What a tiling is asked: its TV layout, and a thread's part of a tensor. */
struct tiling {
    const char *what;
    int64_t rows, cols; /* of the tile */
    struct la_layout tv;
    struct la_part (*part)(struct la_ctx *cx, const struct tiling *t, struct la_layout tensor,
                           const struct la_node *thread);
    const void *object;
    int which; /* end or matrix */
};

static void check_tiling(struct la_ctx *cx, const struct tiling *t)
{
    const int64_t threads = extent(cx, t->tv, 0), size = 6 * t->rows * t->cols;
    int64_t n;
    const int64_t *tv = offsets_of(cx, t->tv, &n);
    const struct la_layout tile = layout_of(
        cx, la_format(cx, "make_layout((%lld,%lld))", (long long)t->rows, (long long)t->cols));
    const struct la_layout tensor = layout_of(cx,
                                              la_format(cx, "(%lld,%lld):(%lld,1)", (long long)(2 * t->rows),
                                                        (long long)(3 * t->cols), (long long)(3 * t->cols)));
    int *count = la_alloc(cx, (size_t)size * sizeof *count);
    memset(count, 0, (size_t)size * sizeof *count);
    for (int64_t i = 0; i < threads; i++) {
        const struct la_node *thread = la_int(cx, i, false);
        check_part(cx, t->part(cx, t, tile, thread), tv, threads, i, t->rows * t->cols, t->what);
        count_part(cx, t->part(cx, t, tensor, thread), count, size, t->what);
    }
    all_equal(count, size, t->what);
}

/* ---- tiled copies ---- */

struct pieces {
    const char *atom, *threads, *values;
};

static struct la_part copy_part(struct la_ctx *cx, const struct tiling *t, struct la_layout tensor,
                                const struct la_node *thread)
{
    return la_copy_partition(cx, t->object, (enum la_end)t->which, tensor, thread);
}

static void check_tiled_copy(struct la_ctx *cx, void *arg)
{
    const struct pieces *p = arg;
    const struct la_tiled_copy *copy = la_make_tiled_copy(
        cx, la_atom_named(cx, p->atom), layout_of(cx, p->threads), layout_of(cx, p->values));
    for (enum la_end end = LA_SRC; end <= LA_DST; end++) {
        const struct tiling t = {.what = la_format(cx, "%s %s %s", p->atom, p->threads, p->values),
                                 .rows = number(la_mode(cx, copy->tiler, 0)),
                                 .cols = number(la_mode(cx, copy->tiler, 1)),
                                 .tv = la_tiled_copy_tv(cx, copy, end),
                                 .part = copy_part,
                                 .object = copy,
                                 .which = (int)end};
        check_tiling(cx, &t);
    }
}

static void tiled_copies(void **state)
{
    static const char *const atoms_of_copies[] = {"Copy_Atom<UniversalCopy<uint128_t>,half_t>{}",
                                                  "Copy_Atom<UniversalCopy<uint32_t>,float>{}",
                                                  "Copy_Atom<AutoVectorizingCopy,double>{}",
                                                  "Copy_Atom<SM80_CP_ASYNC_CACHEALWAYS<uint64_t>,int8_t>{}",
                                                  "Copy_Atom<SM75_U32x4_LDSM_N,half_t>{}",
                                                  "Copy_Atom<SM75_U16x8_LDSM_T,half_t>{}",
                                                  "Copy_Atom<SM75_U32x1_LDSM_N,float>{}",
                                                  "Copy_Atom<SM90_U32x2_STSM_N,bfloat16_t>{}",
                                                  "Copy_Atom<SM90_U16x4_STSM_T,half_t>{}",
                                                  "Copy_Atom<SM75_U16x4_LDSM_T,int8_t>{}"};
    static const char *const threads[] = {"(32,1):(1,0)", "(8,8):(8,1)", "(16,4):(1,16)", "(4,32):(32,1)"};
    static const char *const values[] = {"(1,16):(0,1)", "(8,2):(1,8)", "(8,2):(2,1)", "(2,8):(8,1)",
                                         "(4,4):(1,4)"};
    (void)state;
    int made = 0;
    for (size_t i = 0; i < 10 * 4 * 5; i++) {
        struct pieces p = {atoms_of_copies[i % 10], threads[i / 10 % 4], values[i / 40]};
        struct la_ctx cx = fresh();
        if (la_try(&cx, check_tiled_copy, &p))
            made++;
        else if (cx.error.code != LA_E_stride_divisibility && cx.error.code != LA_E_shape_divisibility)
            fail_msg("%s %s %s: %s", p.atom, p.threads, p.values, cx.error.message);
    }
    assert_true(made > 150);
}

/* ---- tiled MMAs ---- */

static struct la_part mma_part(struct la_ctx *cx, const struct tiling *t, struct la_layout tensor,
                               const struct la_node *thread)
{
    return la_mma_partition(cx, t->object, (enum la_matrix)t->which, tensor, thread);
}

static void check_tiled_mma(struct la_ctx *cx, void *arg)
{
    struct la_program program;
    if (!la_eval(cx, arg, LA_INTEGERS_STATIC, &program))
        fail_msg("%s: %s", (const char *)arg, cx->error.message);
    const struct la_tiled_mma *mma = program.value.object;
    const uint32_t modes[3][2] = {{0, 2}, {1, 2}, {0, 1}};
    for (enum la_matrix x = LA_A; x <= LA_C; x++) {
        const struct tiling t = {.what = la_format(cx, "%c of %s", "ABC"[x], (const char *)arg),
                                 .rows = number(la_tiled_mma_size(cx, mma, modes[x][0])),
                                 .cols = number(la_tiled_mma_size(cx, mma, modes[x][1])),
                                 .tv = la_tiled_mma_tv(cx, mma, x),
                                 .part = mma_part,
                                 .object = mma,
                                 .which = (int)x};
        check_tiling(cx, &t);
    }
}

static void tiled_mmas(void **state)
{
    static char *const programs[] = {
        "make_tiled_mma(UniversalFMA<float>{}, (4,8,1):(8,1,0))",
        "make_tiled_mma(SM70_8x8x4_F32F16F16F32_NT{}, (2,2):(2,1), Tile<_32,_32,_4>{})",
        "make_tiled_mma(SM70_8x8x4_F16F16F16F16_TT{})",
        "make_tiled_mma(SM75_8x8x16_S32S8S8S32_TN{}, (2,1,2):(1,2,2))",
        "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1):(1,2,4), Tile<_32,_32,_16>{})",
        "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,4):(4,1), (_,(8,4,2):(1,16,8),_))",
        "make_tiled_mma(SM80_16x8x4_F32TF32TF32F32_TN{}, (1,2,2):(0,1,2), Tile<_32,_16,_16>{})",
        "make_tiled_mma(SM80_16x8x256_S32U1U1S32_TN_XORPOPC{}, (2,2):(1,2))",
        "make_tiled_mma(SM89_16x8x32_F32E4M3E5M2F32_TN{}, (2,2,2):(4,2,1))",
        "make_tiled_mma(SM90_16x8x16_F64F64F64F64_TN{}, (4,1,1):(1,0,0))",
        "make_tiled_mma(SM90_64x24x16_F32BF16BF16_RS<GMMA::Major::K,GMMA::Major::MN>{}, (2,1,1):(1,0,0))",
        "make_tiled_mma(SM90_64x96x32_F32E4M3E4M3_SS_TN<>{}, (1,2,1):(0,1,0))",
        "make_tiled_mma(SM120_16x8x32_TN<float_e2m1_t,float_e5m2_t,float>{}, (2,2):(1,2))"};
    (void)state;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        struct la_ctx cx = fresh();
        must(&cx, check_tiled_mma, programs[i], programs[i]);
    }
}

/* ---- retile ---- */

struct retiling {
    const char *mma, *atom;
    enum la_matrix x;
    enum la_end end; /* the one that has the order of Ref */
};

static struct la_value value_of(struct la_ctx *cx, const char *text)
{
    struct la_program program;
    if (!la_eval(cx, text, LA_INTEGERS_STATIC, &program))
        fail_msg("%s: %s", text, cx->error.message);
    return program.value;
}

/* A register that the MMA reads as an element of the matrix is the one where the copy puts this element. */
static void check_retile(struct la_ctx *cx, void *arg)
{
    const struct retiling *r = arg;
    const struct la_tiled_mma *mma = value_of(cx, r->mma).object;
    const struct la_tiled_copy *copy = la_tiled_copy_for(cx, la_atom_named(cx, r->atom), mma, r->x);
    const uint32_t modes[3][2] = {{0, 2}, {1, 2}, {0, 1}};
    const int64_t rows = 2 * number(la_tiled_mma_size(cx, mma, modes[r->x][0])),
                  cols = 2 * number(la_tiled_mma_size(cx, mma, modes[r->x][1])), size = rows * cols;
    const struct la_layout tensor = layout_of(
        cx, la_format(cx, "make_layout((%lld,%lld))", (long long)rows, (long long)cols));
    const struct la_node *thread = la_int(cx, 37, false);
    const struct la_part read = la_mma_partition(cx, mma, r->x, tensor, thread),
                         put = la_copy_partition(cx, copy, r->end, tensor, thread);
    const char *registers = la_format(cx, "make_layout(%s)",
                                      la_print_tuple(cx, read.layout.shape, LA_SPELL_TEXT));
    const struct la_value view = value_of(cx, la_format(cx, "make_tiled_copy_%c(%s, %s).retile(%s)",
                                                        "ABC"[r->x], r -> atom, r -> mma, registers));
    int64_t n, m, k;
    const int64_t *from = offsets_of(cx, read.layout, &n), *to = offsets_of(cx, put.layout, &m),
                  *at = offsets_of(cx, view.layout, &k);
    assert_true(n == m && n == k);
    int64_t *register_of = la_alloc(cx, (size_t)size * sizeof *register_of);
    for (int64_t i = 0; i < n; i++) /* the fragment is compact: register i holds value i */
        register_of[from[i] + number(read.offset)] = i;
    for (int64_t i = 0; i < n; i++)
        if (at[i] != register_of[to[i] + number(put.offset)])
            fail_msg("%s: value %lld goes into register %lld, not %lld", r->mma, (long long)i,
                     (long long)at[i], (long long)register_of[to[i] + number(put.offset)]);
}

static void retiled(void **state)
{
    static const char
        f16[] = "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2):(1,2), Tile<_32,_32,_16>{})",
        f16_k32[] = "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2):(1,2), Tile<_64,_32,_32>{})",
        warpgroup[] = "make_tiled_mma(SM90_64x64x16_F32F16F16_RS<GMMA::Major::K,GMMA::Major::K>{})",
        s8[] = "make_tiled_mma(SM80_16x8x32_S32S8S8S32_TN{}, (4,1):(1,0), Tile<_64,_32,_32>{})";
    static struct retiling cases[] = {{f16, "Copy_Atom<SM75_U32x4_LDSM_N,half_t>{}", LA_A, LA_DST},
                                      {f16, "Copy_Atom<SM75_U32x4_LDSM_N,half_t>{}", LA_B, LA_DST},
                                      {f16, "Copy_Atom<SM75_U32x2_LDSM_N,half_t>{}", LA_B, LA_DST},
                                      {f16, "Copy_Atom<UniversalCopy<uint32_t>,half_t>{}", LA_C, LA_DST},
                                      {f16_k32, "Copy_Atom<SM75_U32x4_LDSM_N,half_t>{}", LA_A, LA_DST},
                                      {f16_k32, "Copy_Atom<SM75_U32x4_LDSM_N,half_t>{}", LA_B, LA_DST},
                                      {f16_k32, "Copy_Atom<SM90_U32x4_STSM_N,half_t>{}", LA_C, LA_SRC},
                                      {warpgroup, "Copy_Atom<SM75_U32x4_LDSM_N,half_t>{}", LA_A, LA_DST},
                                      {warpgroup, "Copy_Atom<SM90_U32x2_STSM_N,half_t>{}", LA_C, LA_SRC},
                                      {s8, "Copy_Atom<SM75_U32x4_LDSM_N,int8_t>{}", LA_B, LA_DST}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct la_ctx cx = fresh();
        must(&cx, check_retile, &cases[i], cases[i].atom);
    }
}

int main(void)
{
    arena = la_arena_new(ARENA_LIMIT);
    const struct CMUnitTest tests[] = {cmocka_unit_test(atoms), cmocka_unit_test(tiled_copies),
                                       cmocka_unit_test(tiled_mmas), cmocka_unit_test(retiled)};
    const int failed = cmocka_run_group_tests_name("atoms", tests, NULL, NULL);
    printf("%zu passed, %d failed\n", sizeof tests / sizeof *tests - (size_t)failed, failed);
    la_arena_free(arena);
    return failed != 0;
}
