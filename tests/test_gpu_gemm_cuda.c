/* test_gpu_gemm_cuda.c: a GEMM's generated CUDA run as C++: what a kernel does is known before a card sees it.
 *
 * Threads of a block are fibers that take turns where they wait for each other, and where instructions of a warp need
 * all of them. What is written in PTX has a body of C++ here: accesses of shared memory, ldmatrix, cp.async, and the
 * atom, whose product is made by its published TV layouts. Every element of D is held against the plain product. So are
 * the kernels that check a GEMM on the card: what is right they let pass, one wrong element they find.
 *
 * An argument says how many of the GEMMs to step over: 1 runs all. */
#include "gemm_card.h"
#include "gpu_emulator.h"
#include "gpu_gemm_emulation.h"
#include "gpu_gemm_specs.h"

#include <math.h>

static int every = 3; /* of the small GEMMs; the rest differs in types and sizes */

/* ---- C++ in place of CUDA ---- */

static void write_table(FILE *out, const char *name, const int64_t *table, int64_t n)
{
    fprintf(out, "static const int %s[] = {", name);
    for (int64_t i = 0; i < n; i++)
        fprintf(out, "%lld,", (long long)table[i]);
    fprintf(out, "};\n");
}

/* Who holds what of an atom, and which atom a thread works at. */
static void write_atom(FILE *out, struct planned *p)
{
    const struct gpu_gemm *g = p->plan->gemm;
    const struct gpu_instruction *in = &g->instruction;
    static const char *const owners[2] = {"owner_a", "owner_b"};
    int64_t *table = calloc((size_t)g->threads * 3 + 65536, sizeof *table);
    const int64_t threads = in->threads, extent[2] = {in->m, in->n};
    fprintf(out,
            "enum { ATOM_M = %lld, ATOM_N = %lld, ATOM_K = %lld, ATOM_THREADS = %lld, VALUES_C = %lld, PER_A "
            "= %lld, "
            "PER_B = %lld, PER_C = %lld };\n",
            (long long)in->m, (long long)in->n, (long long)in->k, (long long)threads,
            (long long)in->of[LA_C].values, (long long)in->of[LA_A].per, (long long)in->of[LA_B].per,
            (long long)in->of[LA_C].per);
    for (int x = 0; x < 2; x++) {
        const struct gpu_map map = gpu_map_of(&p->cx, in->atom->mma.tv[x]);
        for (int64_t i = 0; i < threads * in->of[x].values; i++)
            table[gpu_map_at(map, i)] = i;
        write_table(out, owners[x], table, extent[x] * in->k);
    }
    const struct gpu_map c = gpu_map_of(&p->cx, in->atom->mma.tv[LA_C]),
                         who = gpu_map_of(&p->cx, g->mma->thr_vmnk);
    for (int64_t i = 0; i < threads * in->of[LA_C].values; i++)
        table[i] = gpu_map_at(c, i);
    write_table(out, "index_c", table, threads * in->of[LA_C].values);
    int64_t *lane = table + g->threads, *group = lane + g->threads;
    for (int64_t i = 0; i < g->threads; i++) {
        table[i] = gpu_map_at(who, i);
        lane[table[i]] = i % threads;
        group[table[i]] = i / threads;
    }
    write_table(out, "thread_of", table, g->threads);
    write_table(out, "lane_of", lane, g->threads);
    write_table(out, "group_of", group, g->threads);
    free(table);
}

struct writing {
    FILE *out;
    struct planned *p;
};

/* gpu_map_of leaves by la_fail. */
static void write_atom_body(struct la_ctx *cx, void *arg)
{
    struct writing *w = arg;
    (void)cx;
    write_atom(w->out, w->p);
}

/* Conversions of the epilogue, where it is written in PTX. */
static const char *epilogue_of(const struct gpu_gemm *g)
{
    return g->instruction.of[LA_D].number->bits == 16
               ? "extern ElementD encode(float x);\nextern float decode(ElementC x);\n"
               : "";
}

static void write_kernel(FILE *out, struct planned *p, int i)
{
    const struct gpu_gemm *g = p->plan->gemm;
    struct writing w = {out, p};
    fprintf(out, "#define gemm gemm_%d\n#define uint4 uint4\nnamespace k%d {\n", i, i);
    assert_true(la_try(&p->cx, write_atom_body, &w));
    const char *text = without_ptx(&p->cx, gpu_emit(&p->cx, p->plan),
                                   la_format(&p->cx, "%s%s", atom_body, epilogue_of(g)));
    /* dynamic shared memory is the prelude's */
    const char *declared = strstr(text, "    extern __shared__ uint4 shared_memory[];\n");
    assert_non_null(declared);
    fprintf(out, "%.*s    void *shared_memory = shared_bytes;\n%s", (int)(declared - text), text,
            strchr(declared, '\n') + 1);
    if (*epilogue_of(g))
        fprintf(out, "ElementD encode(float x) { return (ElementD)encode_element(x); }\n"
                     "float decode(ElementC x) { return (float)decode_element(2, x); }\n");
    fprintf(out,
            "}\n#undef gemm\nstatic void thread_%d() { k%d::gemm_%d((const k%d::ElementA *)a_, (const "
            "k%d::ElementB *)b_, "
            "(const k%d::ElementC *)c_, (k%d::ElementD *)d_); }\n",
            i, i, i, i, i, i, i);
    fprintf(out,
            "extern \"C\" void run_%d(const void *a, const void *b, const void *c, void *d)\n"
            "{ a_ = a; b_ = b; c_ = c; d_ = d; run(%lld, %lld, thread_%d); }\n",
            i, (long long)p->plan->grid, (long long)p->plan->block, i);
}

static void support_source(struct la_ctx *cx, void *arg)
{
    struct planned *p = arg;
    p->field = gpu_gemm_support(cx, p->plan->gemm);
}

/* check_I(problem, a, b, c, d, y, found): the sampled rows and columns, then all rows by signs into found + 8; then ones
 * where D lies. */
static void write_checks(FILE *out, struct planned *p, int i)
{
    assert_true(la_try(&p->cx, support_source, p));
    const char *text = p->field;
    fprintf(out, "namespace c%d {\n", i);
    for (const char *c; (c = strstr(text, "extern \"C\" ")); text = c + 11) /* names that do not meet */
        fprintf(out, "%.*s", (int)(c - text), text);
    fprintf(out,
            "%s\n"
            "static void rows_of() { rows(*(const problem *)p_, (const A *)a_, (const C *)c_, (const D *)d_, "
            "(const T *)y_, "
            "found_ + 8); }\n"
            "}\n"
            "extern \"C\" void check_%d(const void *p, const void *a, const void *b, const void *c, void *d, "
            "void *y,\n"
            "                           unsigned long long *found)\n{\n"
            "    p_ = p, a_ = a, b_ = b, c_ = c, d_ = d, y_ = y, found_ = found;\n"
            "    threadIdx.x = blockIdx.x = 0, blockDim.x = gridDim.x = 1;\n"
            "    const c%d::problem &of = *(const c%d::problem *)p;\n"
            "    c%d::sample(of, (const c%d::A *)a, (const c%d::B *)b, (const c%d::C *)c, (const c%d::D *)d, "
            "found);\n"
            "    c%d::project(of, (const c%d::B *)b, (c%d::T *)y);\n"
            "    blockDim.x = 32;\n"
            "    run(1, 32, c%d::rows_of);\n"
            "    threadIdx.x = blockIdx.x = 0, blockDim.x = gridDim.x = 1;\n"
            "    c%d::restore(of, (c%d::D *)d);\n}\n"
            "static_assert(sizeof(c%d::problem) == %zu, \"struct gpu_gemm_problem\");\n",
            text, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, sizeof(struct gpu_gemm_problem));
}

/* Compile all kernels at once; the emulator stays NULL where there is no C++ compiler. */
static int open_emulator(void **state)
{
    (void)state;
    FILE *out = emulator_begin();
    if (!out)
        return -1;
    fprintf(out, "%s%s%s%s%s", prelude, emulated_threads, prelude_run, prelude_memory, prelude_checks);
    for (int i = 0; i < SMALL_GEMMS; i += every) {
        struct planned p;
        if (plan_open(&p, small_gemms[i])) {
            write_kernel(out, &p, i);
            write_checks(out, &p, i);
        }
        plan_close(&p);
    }
    return emulator_end(out, "-O1");
}

/* ---- one of them ---- */

static const struct gpu_gemm *running; /* what the numbers of the emulation mean */

static double decode_element(int matrix, unsigned long long bits)
{
    return gpu_number_decode(running->instruction.of[matrix].number, bits);
}

static unsigned long long encode_element(double x)
{
    unsigned char bytes[8] = {0};
    unsigned long long bits;
    gpu_number_put(running->instruction.of[LA_C].number, bytes, 0, (struct gpu_complex){x, 0});
    memcpy(&bits, bytes, sizeof bits);
    return bits;
}

static double add_product(double x, double a, double b)
{
    return gpu_gemm_add(running, x, a, b);
}

struct operands {
    struct gpu_region region[4];
    unsigned char *memory[4];
    struct gpu_gemm_data data;
};

enum { POISON = 0xff };

static struct operands operands_open(const struct gpu_gemm *g)
{
    struct operands m = {.data = {.g = g}};
    const struct gpu_tensor *const tensors[4] = {&g->of[0].tensor, &g->of[1].tensor, &g->c, &g->d};
    for (int i = 0; i < 4; i++) {
        const struct gpu_number *n = g->instruction.of[i].number;
        const struct gpu_gemm_bits bits = gpu_gemm_bits_of(n);
        m.region[i] = gpu_region_of(tensors[i], n->bits, 0);
        m.memory[i] = aligned_alloc(256, (size_t)(m.region[i].bytes + 255) / 256 * 256);
        assert_non_null(m.memory[i]);
        for (int64_t w = 0; w < m.region[i].bytes / 8; w++) {
            const uint64_t word = i == 3 ? UINT64_MAX
                                         : (gpu_random_word(3 + (uint64_t)i, (uint64_t)w) & bits.keep) |
                                               bits.set;
            memcpy(m.memory[i] + 8 * w, &word, sizeof word);
        }
        if (i < 3)
            m.data.of[i] = m.memory[i] + m.region[i].origin;
    }
    m.data.d = m.memory[3] + m.region[3].origin;
    return m;
}

static void operands_close(struct operands *m)
{
    for (int i = 0; i < 4; i++)
        free(m->memory[i]);
}

static double element_of(const void *arg, enum la_matrix x, int64_t i, int64_t j)
{
    return gpu_gemm_element(arg, x, i, j);
}

/* Every element of D is the product's, and nothing else was written. */
static void compare(const struct gpu_gemm *g, const struct operands *m, const char *text)
{
    const struct gpu_number *n = g->instruction.of[LA_D].number;
    const struct gpu_gemm_bound bound = gpu_gemm_bound_of(g);
    for (int64_t j = 0; j < g->n; j++)
        for (int64_t i = 0; i < g->m; i++) {
            const int64_t offset = gpu_map_at(g->d.mode[0], i) + gpu_map_at(g->d.mode[1], j);
            unsigned char *at = m->data.d + offset * (n->bits / 8);
            const struct gpu_gemm_exact exact = gpu_gemm_exact_of(
                g, &bound, (struct gpu_gemm_source){element_of, &m->data}, i, j);
            const double got = gpu_number_at(n, at, 0).re;
            if (!(fabs(got - exact.value) <= exact.bound))
                fail_msg("%s\n  (%lld,%lld) is %.17g, not %.17g", text, (long long)i, (long long)j, got,
                         exact.value);
            memset(at, POISON, n->bits / 8);
        }
    for (int64_t b = 0; b < m->region[3].bytes; b++)
        if (m->memory[3][b] != POISON)
            fail_msg("%s\n  byte %lld of %lld was touched", text, (long long)b,
                     (long long)m->region[3].bytes);
}

static void check_emulated(void **state)
{
    const char *text = *(const char *const *)*state;
    struct planned p;
    char name[32];
    void (*run)(const void *a, const void *b, const void *c, void *d) = NULL;
    if (!emulator)
        skip_because("no C++ compiler\n");
    assert_true(plan_open(&p, text));
    running = p.plan->gemm;
    snprintf(name, sizeof name, "run_%d", (int)((const char *const *)*state - small_gemms));
    *(void **)&run = dlsym(emulator, name);
    assert_non_null(run);
    *(double (**)(int, unsigned long long))dlsym(emulator, "decode_element") = decode_element;
    *(unsigned long long (**)(double))dlsym(emulator, "encode_element") = encode_element;
    *(double (**)(double, double, double))dlsym(emulator, "add_product") = add_product;
    for (int early = 0; early < 2; early++) {
        struct operands m = operands_open(running);
        *(int *)dlsym(emulator, "early") = early;
        run(m.data.of[0], m.data.of[1], m.data.of[2], m.data.d);
        compare(running, &m, text);
        operands_close(&m);
    }
    plan_close(&p);
}

/* ---- the checking kernels ---- */

static void put_product(const struct gpu_gemm *g, const struct operands *m)
{
    const struct gpu_gemm_bound bound = gpu_gemm_bound_of(g);
    const struct gpu_number *n = g->instruction.of[LA_D].number;
    for (int64_t j = 0; j < g->n; j++)
        for (int64_t i = 0; i < g->m; i++) {
            const int64_t offset = gpu_map_at(g->d.mode[0], i) + gpu_map_at(g->d.mode[1], j);
            const struct gpu_gemm_exact exact = gpu_gemm_exact_of(
                g, &bound, (struct gpu_gemm_source){element_of, &m->data}, i, j);
            gpu_number_put(n, m->data.d + offset * (n->bits / 8), 0, (struct gpu_complex){exact.value, 0});
        }
}

/* One element off by a few times what roundings of its row may add up to. */
static void spoil(const struct gpu_gemm *g, const struct operands *m, int64_t i, int64_t j)
{
    const struct gpu_number *n = g->instruction.of[LA_D].number;
    const struct gpu_gemm_bound bound = gpu_gemm_bound_of(g);
    const int64_t offset = gpu_map_at(g->d.mode[0], i) + gpu_map_at(g->d.mode[1], j);
    unsigned char *at = m->data.d + offset * (n->bits / 8);
    const double x = gpu_number_at(n, at, 0).re;
    gpu_number_put(n, at, 0,
                   (struct gpu_complex){bound.exact ? gpu_gemm_add(g, x, 1, 1) : x + 3 * bound.row, 0});
}

/* found[0]: of samples, found[1]: of rows. */
static void run_checks(const char *name, const struct gpu_gemm *g, const struct operands *m,
                       struct gpu_gemm_found found[2])
{
    void (*check)(const void *p, const void *a, const void *b, const void *c, void *d, void *y,
                  unsigned long long *found);
    const struct gpu_gemm_bound bound = gpu_gemm_bound_of(g);
    const struct gpu_gemm_problem problem = gpu_gemm_problem_of(g, &bound, 3);
    unsigned long long words[16] = {0, UINT64_MAX, 0, 0, 0, 0, 0, 0, 0, UINT64_MAX};
    double *y = calloc((size_t)g->k, sizeof *y);
    *(void **)&check = dlsym(emulator, name);
    assert_non_null(check);
    check(&problem, m->data.of[0], m->data.of[1], m->data.of[2], m->data.d, y, words);
    memcpy(&found[0], words, sizeof found[0]);
    memcpy(&found[1], words + 8, sizeof found[1]);
    free(y);
}

/* The product passes, well within the bounds; a wrong element that no sample meets is found by its row; one that a sample
 * meets is found where it is; and afterwards D's memory is poison everywhere. */
static void check_checks(void **state)
{
    const char *text = *(const char *const *)*state;
    struct gpu_gemm_found found[2];
    struct planned p;
    char name[32];
    if (!emulator)
        skip_because("no C++ compiler\n");
    assert_true(plan_open(&p, text));
    const struct gpu_gemm *g = p.plan->gemm;
    snprintf(name, sizeof name, "check_%d", (int)((const char *const *)*state - small_gemms));
    struct operands m = operands_open(g);
    put_product(g, &m);
    run_checks(name, g, &m, found);
    if (found[0].count || found[1].count)
        fail_msg("%s\n  %d samples and %d rows of the product are wrong", text, (int)found[0].count,
                 (int)found[1].count);
    assert_true(found[0].of_bound <= 0.5 && found[1].of_bound <= 0.5);
    for (int64_t b = 0; b < m.region[3].bytes; b++)
        assert_int_equal(m.memory[3][b], POISON);
    put_product(g, &m);
    spoil(g, &m, g->m / 2, g->n / 2);
    run_checks(name, g, &m, found);
    if (found[1].count != 1 || (int64_t)found[1].least != g->m / 2)
        fail_msg("%s\n  the wrong element of row %d is not found: %d, %d", text, (int)g->m / 2,
                 (int)found[1].count, (int)found[1].least);
    put_product(g, &m);
    spoil(g, &m, g->m - 1, 0);
    run_checks(name, g, &m, found);
    assert_true(found[0].count >= 1 && (int64_t)found[0].least == g->m - 1 && found[1].count == 1);
    operands_close(&m);
    plan_close(&p);
}

int main(int argc, char **argv)
{
    static struct list list;
    if (argc > 1)
        every = atoi(argv[1]) > 0 ? atoi(argv[1]) : 1;
    if (!folder_make())
        return 1;
    for (int i = 0; i < SMALL_GEMMS; i += every)
        add(&list, small_gemms[i], check_emulated, &small_gemms[i]);
    run_group("CUDA run as C++", &list, open_emulator, NULL);
    for (int i = 0; i < SMALL_GEMMS; i += every)
        add(&list, small_gemms[i], check_checks, &small_gemms[i]);
    run_group("the checking kernels", &list, NULL, NULL);
    folder_remove(folder);
    return report(&list);
}
