/* gpu_mma_specs.h: specs of MMA checks for tests: every atom that runs, with three layouts of atoms and three
 * permutations each where threads and registers allow; of the hundreds of widths of GMMA a sample that has each width
 * and each combination of types. */
#ifndef GPU_MMA_SPECS_H
#define GPU_MMA_SPECS_H

#include "gpu_test.h"
#include "mma.h"

enum { MAX_MMA_SPECS = 4000, MAX_MMA_TEXT = 400, MMA_ATOM_NAME = 160 };

struct mma_specs {
    struct la_ctx cx;
    char (*text)[MAX_MMA_TEXT];
    int count;
};

/* Groups of atoms along M and N. */
static const int mma_groups[3][2] = {{1, 1}, {2, 2}, {4, 2}};

/* Atoms of UniversalFMA besides those of the table: types that widen, complex ones. */
static const char *const mma_more_atoms[] = {
    "UniversalFMA<bfloat16_t>",
    "UniversalFMA<float,half_t>",
    "UniversalFMA<float,bfloat16_t,half_t>",
    "UniversalFMA<double,float,half_t>",
    "UniversalFMA<int32_t,int8_t,uint8_t>",
    "UniversalFMA<uint32_t,uint16_t>",
    "UniversalFMA<complex<float>>",
    "UniversalFMA<complex<double>>",
};

static inline bool mma_find(struct la_ctx *cx, const char *name, struct gpu_instruction *out)
{
    const struct la_atom *atom;
    return gpu_mma_read_atom(cx, name, &atom) && gpu_instruction_find(cx, atom, out);
}

/* The permutation of a kind: none; twice the tile; atoms of a thread side by side along M and N. */
static inline const char *mma_permutation(struct la_ctx *cx, const struct gpu_instruction *in,
                                          const int groups[2], int kind)
{
    const long long m = in->m, n = in->n, gm = groups[0], gn = groups[1];
    if (kind == 0)
        return "(_,_,_)";
    if (kind == 1)
        return la_format(cx, "(%lld,%lld,%lld)", 2 * m * gm, 2 * n * gn, 2 * (long long)in->k);
    return la_format(cx, "((%lld,%lld,2):(1,%lld,%lld),(%lld,%lld,2):(1,%lld,%lld),_)", m, gm, 2 * m, m, n,
                     gn, 2 * n, n);
}

static inline bool mma_fits(const struct gpu_instruction *in, const int groups[2])
{
    const int64_t threads = in->threads * groups[0] * groups[1];
    const int64_t held = in->of[LA_D].registers + in->of[LA_A].registers + 30;
    return threads <= GPU_MAX_THREADS &&
           (in->form != GPU_FORM_WGMMA || held <= GPU_MMA_THREADS_OF_REGISTERS / threads);
}

static inline void mma_add(struct mma_specs *s, const char *name, const struct gpu_instruction *in,
                           int groups, int kind)
{
    assert_true(s->count < MAX_MMA_SPECS);
    snprintf(s->text[s->count++], MAX_MMA_TEXT,
             "{\"kind\":\"mma\",\"atom\":\"%s\",\"atom_layout\":\"(%d,%d,1)\",\"permutation\":\"%s\"}", name,
             mma_groups[groups][0], mma_groups[groups][1],
             mma_permutation(&s->cx, in, mma_groups[groups], kind));
}

static inline void mma_add_all(struct mma_specs *s, const char *name, const struct gpu_instruction *in)
{
    for (int g = 0; g < 3; g++)
        for (int kind = 0; kind < 3; kind++)
            if (mma_fits(in, mma_groups[g]))
                mma_add(s, name, in, g, kind);
}

/* GMMA's name without its width: all atoms of one have the same types and places of operands. */
static inline const char *mma_variant(const char *name)
{
    const char *x = strchr(name + strlen("SM90_64x"), 'x');
    return x + 1;
}

/* The members of GMMA's family behind i that differ in N alone: their names, in order. */
static inline void mma_add_wide(struct mma_specs *s, const char *variant, int place)
{
    static int turn;
    int index = 0;
    for (int groups = 0; groups < 3;
         groups++) { /* all layouts and permutations, each at the next width that fits */
        struct gpu_instruction in = {0};
        const char *name;
        do
            name = la_format(&s->cx, "SM90_64x%dx%s", 8 * (1 + turn++ * 5 % 32), variant);
        while (!mma_find(&s->cx, name, &in) || !mma_fits(&in, mma_groups[groups]));
        for (int kind = 0; kind < 3; kind++)
            mma_add(s, name, &in, groups, kind);
    }
    for (int n = 8; n <= 256; n += 8) { /* and every eighth width alone */
        struct gpu_instruction in = {0};
        const char *name = la_format(&s->cx, "SM90_64x%dx%s", n, variant);
        if (mma_find(&s->cx, name, &in) && (index++ + place) % 8 == 0)
            mma_add(s, name, &in, 0, 0);
    }
}

/* 16-bit operands in shared memory may lie along M or N, and operands may be subtracted. */
static inline void mma_add_majors(struct mma_specs *s, const char *variant, int *place)
{
    static const char *const ss[] = {"<GMMA::Major::K,GMMA::Major::K>", "<GMMA::Major::MN,GMMA::Major::K>",
                                     "<GMMA::Major::K,GMMA::Major::MN>", "<GMMA::Major::MN,GMMA::Major::MN>",
                                     "<GMMA::Major::K,GMMA::Major::K,GMMA::ScaleIn::Neg,GMMA::ScaleIn::One>"};
    const char *end = strchr(variant, '<');
    const bool registers = end && end[-2] == 'R';
    for (size_t i = 0; i < sizeof ss / sizeof ss[0]; i++)
        if (!end ? i == 0 : !registers || !strstr(ss[i], "<GMMA::Major::MN"))
            mma_add_wide(s, end ? la_format(&s->cx, "%.*s%s", (int)(end - variant), variant, ss[i]) : variant,
                         (*place)++);
}

/* All of them, for cards of at most this compute capability times ten. */
static inline void mma_specs_make(struct mma_specs *s, int most)
{
    *s = (struct mma_specs){.cx = {.arena = la_arena_new((size_t)512 << 20)},
                            .text = calloc(MAX_MMA_SPECS, sizeof *s->text)};
    const char *variants[256];
    int n = 0, place = 0;
    for (size_t i = 0; i < la_atom_count(); i++) {
        struct gpu_instruction in;
        const char *name = la_atom_name_at(&s->cx, i);
        if (!mma_find(&s->cx, name, &in) || in.least > most)
            continue;
        if (in.form != GPU_FORM_WGMMA) {
            mma_add_all(s, name, &in);
            continue;
        }
        int at = 0;
        while (at < n && strcmp(variants[at], mma_variant(name)) != 0)
            at++;
        if (at == n)
            variants[n++] = mma_variant(name);
    }
    for (int i = 0; i < n; i++)
        mma_add_majors(s, variants[i], &place);
    for (size_t i = 0; i < sizeof mma_more_atoms / sizeof mma_more_atoms[0]; i++) {
        struct gpu_instruction in;
        assert_true(mma_find(&s->cx, mma_more_atoms[i], &in));
        mma_add_all(s, mma_more_atoms[i], &in);
    }
}

static inline void mma_specs_free(struct mma_specs *s)
{
    la_arena_free(s->cx.arena);
    free(s->text);
}

#endif
