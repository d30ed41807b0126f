/* test_gpu_mma_cuda.c: the generated CUDA of MMA checks, without a GPU: compiled by NVRTC for every architecture that
 * has the instruction, and compiled as C++ and run thread by thread, so that what a kernel does is known before a card
 * sees it.
 *
 * There a thread that comes to mma() hands over its fragments and gives way to the others; when all are there, each
 * takes what it needs from them by the atom's own TV layouts. A descriptor of wgmma is read as PTX's manual has it: the
 * address of element (row, k) from its start, LBO, SBO and swizzle, by arithmetic that shares nothing with the plan. */
#include "gpu_emulator.h"
#include "gpu_mma_specs.h"

#include <ucontext.h>

#define MMA(atom, more) "{\"kind\":\"mma\",\"atom\":\"" atom "\"" more "}"

static struct mma_specs mma_specs;

/* Threads that share out K, threads that are apart, several instructions of a quad pair's warp. */
static const char *const more_specs[] = {
    MMA("SM80_16x8x16_F32F16F16F32_TN", ",\"atom_layout\":\"(2,2,2)\",\"permutation\":\"(64,_,64)\""),
    MMA("SM80_16x8x16_F32F16F16F32_TN", ",\"atom_layout\":\"(2,1,1):(3,0,0)\""),
    MMA("SM70_8x8x4_F32F16F16F32_TN", ""),
    MMA("SM70_8x8x4_F16F16F16F16_NT", ",\"atom_layout\":\"(2,2,2)\",\"permutation\":\"(32,_,_)\""),
    MMA("UniversalFMA<float>", ",\"atom_layout\":\"(5,3,2)\",\"permutation\":\"(10,6,4)\""),
    MMA("SM90_64x32x16_F32F16F16_SS<GMMA::Major::MN,GMMA::Major::MN>",
        ",\"atom_layout\":\"(2,1,2)\",\"permutation\":\"(256,_,64)\""),
    MMA("SM90_64x8x16_F32BF16BF16_SS<GMMA::Major::MN,GMMA::Major::MN>", ",\"permutation\":\"(_,16,_)\""),
    MMA("SM90_64x16x16_F16F16F16_SS<GMMA::Major::K,GMMA::Major::MN>", ",\"permutation\":\"(_,32,_)\""),
};
enum { MORE = sizeof more_specs / sizeof more_specs[0], MAX_CHOSEN = MAX_TESTS };

/* Once each atom: of those of warps the permuted ones of four, of the widths of GMMA a few. */
static const char *chosen[MAX_CHOSEN];
static int chosen_count;

static void choose(void)
{
    for (int i = 0; i < MORE; i++)
        chosen[chosen_count++] = more_specs[i];
    for (int i = 0; i < mma_specs.count; i++) {
        const char *text = mma_specs.text[i];
        const bool wide = strstr(text, "SM90_64x") != NULL;
        if (wide ? i % 13 == 0 : strstr(text, "(2,2,1)") && strstr(text, "):(1,")) {
            assert_true(chosen_count < MAX_CHOSEN);
            chosen[chosen_count++] = text;
        }
    }
}

/* ---- NVRTC ---- */

static const struct {
    const char *name;
    int number;
} archs[] = {{"sm_80", 80}, {"sm_90a", 90}, {"sm_100a", 100}, {"sm_120a", 120}};

/* For each architecture that has the instruction; sm_120a for what is its alone. */
static void check_compiles(void **state)
{
    const char *version, *why, *text = *state;
    struct planned p;
    if (!gpu_compiler(&version, &why))
        skip_because("no NVRTC: %s\n", why);
    assert_true(plan_open(&p, text));
    const struct gpu_instruction *in = &p.plan->mma->in;
    const char *source = gpu_emit(&p.cx, p.plan);
    assert_non_null(source);
    int compiled = 0;
    for (size_t a = 0; a < sizeof archs / sizeof archs[0]; a++) {
        struct gpu_cubin cubin;
        if (archs[a].number < in->least || archs[a].number > in->most ||
            (archs[a].number == 120 && in->least < 120))
            continue;
        if (!gpu_compile(&p.cx, source, archs[a].name, &cubin))
            fail_msg("%s\n  does not compile for %s: %s\n%s", text, archs[a].name, p.cx.error.message,
                     cubin.log);
        if (*cubin.log)
            fail_msg("%s\n  for %s the compiler says: %s", text, archs[a].name, cubin.log);
        compiled++;
    }
    assert_true(compiled > 0);
    plan_close(&p);
}

/* ---- the generated text run as C++ ---- */

/* What CUDA C++ has and C++ has not. The test sets the hooks. */
static const char prelude[] =
    "#include <string.h>\n"
    "#define __device__\n#define __global__\n#define __launch_bounds__(n)\n#define __shared__\n#define "
    "__align__(n)\n"
    "struct float2 { float x, y; };\nstruct double2 { double x, y; };\nstruct uint4 { unsigned x, y, z, w; "
    "};\n"
    "extern \"C\" {\n"
    "unsigned current_thread;\n"
    "void (*multiply)(void *d, const void *a, const void *b, const void *c);\n"
    "void (*wait_for_all)();\n"
    "}\n"
    "static struct { struct { operator unsigned() const { return current_thread; } } x; } threadIdx;\n"
    "static void __syncthreads() { wait_for_all(); }\n"
    "#define __cvta_generic_to_shared(p) ((p) - shared)\n"
    "struct gauss { double t0, t1, t2; };\n"
    "template <class D, int ND, class A, int NA, class B, int NB>\n"
    "static void mma(D (&d)[ND], const A (&a)[NA], const B (&b)[NB], const D (&c)[ND]) { multiply(d, a, b, "
    "c); }\n";

static void write_emulation(FILE *out, struct planned *p, int i)
{
    fprintf(out,
            "#define check check_%d\nnamespace k%d {\nalignas(1024) unsigned char shared[%lld];\n%s}\n#undef "
            "check\n"
            "extern \"C\" unsigned char *shared_%d() { return k%d::shared; }\n",
            i, i, (long long)p->plan->shared_bytes + 1, without_ptx(&p->cx, gpu_emit(&p->cx, p->plan), ""), i,
            i);
}

/* Compile all kernels at once; the emulator stays NULL where there is no C++ compiler. */
static int open_emulator(void **state)
{
    (void)state;
    FILE *out = emulator_begin();
    if (!out)
        return -1;
    fputs(prelude, out);
    for (int i = 0; i < chosen_count; i++) {
        struct planned p;
        if (!plan_open(&p, chosen[i]))
            fail_msg("%s: %s", chosen[i], p.cx.error.message);
        write_emulation(out, &p, i);
        plan_close(&p);
    }
    return emulator_end(out, "-O0");
}

enum { STACK = 65536 };

struct fragments {
    void *d;
    const void *a, *b, *c;
};

static struct block {
    const struct gpu_mma *mma;
    ucontext_t scheduler, fiber[GPU_MAX_THREADS];
    bool done[GPU_MAX_THREADS];
    struct fragments held[GPU_MAX_THREADS];
    int64_t place[GPU_MAX_THREADS]; /* (V,M,N,K) of a thread, or -1 */
    int64_t *tv[3], *owner[3];      /* of the atom: [v + V f] -> element, and back */
    unsigned *current;
    const unsigned char *shared;
    void (*kernel)(const void *, const void *, const void *, void *);
    unsigned char *matrix[4];
} block;

/* ---- an instruction ---- */

/* What a descriptor says of the byte at (row, byte along k) or, MN-major, of 16-bit element (row, k). */
static int64_t described(uint64_t descriptor, bool along_mn, int64_t row, int64_t k, int64_t bytes)
{
    static const int swizzles[] = {0, 3, 2, 1}; /* bits, by layout type: none, 128, 64, 32 bytes */
    const int bits = swizzles[descriptor >> 62];
    const int64_t start = (int64_t)(descriptor & 0x3fff) * 16,
                  lbo = (int64_t)(descriptor >> 16 & 0x3fff) * 16,
                  sbo = (int64_t)(descriptor >> 32 & 0x3fff) * 16, pitch = INT64_C(16) << bits;
    int64_t at = start;
    if (!along_mn) /* 8 rows, a pitch apart, are a group; 16 bytes along k are a piece */
        at += row / 8 * sbo + row % 8 * pitch + k * bytes / 16 * (bits ? 16 : lbo) + k * bytes % 16;
    else if (bits) /* a pitch of elements along mn; 8 of them along k are a group */
        at += row * bytes / pitch * lbo + row * bytes % pitch + k % 8 * pitch + k / 8 * sbo;
    else
        at += row / 8 * sbo + row % 8 * bytes + k % 8 * 16 + k / 8 * lbo;
    return at ^ (at >> 7 & ((1 << bits) - 1)) << 4;
}

/* Element (i,k) of A or B of the instruction whose first thread is at `first`. */
static struct gpu_complex operand_at(enum la_matrix x, int64_t first, const void *mine, int64_t i, int64_t k)
{
    const struct gpu_mma *m = block.mma;
    const struct gpu_number *n = m->in.of[x].number;
    const int64_t rows = x == LA_A ? m->in.m : m->in.n;
    if (m->in.of[x].descriptor) {
        uint64_t descriptor;
        memcpy(&descriptor, mine, sizeof descriptor);
        const bool along_mn = strstr(la_type_name(m->in.atom->mma.major[x]), "MN") != NULL;
        return gpu_number_at(n, block.shared + described(descriptor, along_mn, i, k, n->bits / 8), 0);
    }
    const int64_t owner = block.owner[x][i + rows * k];
    const struct fragments *f = &block.held[m->thread_at[first + owner % m->groups[0]]];
    return gpu_number_at(n, x == LA_A ? f->a : f->b, owner / m->groups[0]);
}

static void put_sum(const struct gpu_instruction *in, void *d, int64_t f, struct gpu_complex sum)
{
    sum.re = gpu_mma_wrap(in, sum.re);
    gpu_number_put(in->of[LA_D].number, d, f, sum);
}

/* d of one thread. */
static void multiply_thread(unsigned t)
{
    const struct gpu_mma *m = block.mma;
    const struct fragments *mine = &block.held[t];
    unsigned char result[4096] = {0};
    const int64_t place = block.place[t], v = place % m->groups[0];
    const size_t bytes = (size_t)(m->in.of[LA_D].values * m->in.of[LA_D].number->bits / 8);
    assert_true(bytes <= sizeof result);
    for (int64_t f = 0; f < m->in.of[LA_D].values; f++) {
        const int64_t e = block.tv[LA_C][v + m->groups[0] * f];
        struct gpu_complex sum = gpu_number_at(m->in.of[LA_C].number, mine->c, f);
        for (int64_t k = 0; k < m->in.k; k++) {
            const struct gpu_complex p = gpu_mma_product(
                &m->in, operand_at(LA_A, place - v, mine->a, e % m->in.m, k),
                operand_at(LA_B, place - v, mine->b, e / m->in.m, k));
            sum.re += p.re;
            sum.im += p.im;
        }
        put_sum(&m->in, result, f, sum);
    }
    memcpy(mine->d, result, bytes);
}

/* ---- a block of threads, each with a stack: by turns ---- */

static void give_way(void)
{
    swapcontext(&block.fiber[*block.current], &block.scheduler);
}

/* mma() of one thread: it hands over; when all have, the scheduler multiplies. */
static void multiply(void *d, const void *a, const void *b, const void *c)
{
    block.held[*block.current] = (struct fragments){d, a, b, c};
    give_way();
}

static void start_thread(void)
{
    const unsigned t = *block.current;
    block.kernel(block.matrix[LA_A], block.matrix[LA_B], block.matrix[LA_C], block.matrix[LA_D]);
    block.done[t] = true;
}

static void make_fiber(ucontext_t *fiber, char *stack)
{
    getcontext(fiber);
    fiber->uc_stack.ss_sp = stack;
    fiber->uc_stack.ss_size = STACK;
    fiber->uc_link = &block.scheduler;
    makecontext(fiber, start_thread, 0);
}

static void run_block(int64_t threads)
{
    static char *stacks;
    stacks = stacks ? stacks : malloc((size_t)GPU_MAX_THREADS * STACK);
    for (int64_t t = 0; t < threads; t++) {
        make_fiber(&block.fiber[t], stacks + t * STACK);
        block.done[t] = false;
    }
    for (bool any = true; any;) {
        any = false;
        for (int64_t t = 0; t < threads; t++)
            if (!block.done[t]) {
                any = true;
                *block.current = (unsigned)t;
                swapcontext(&block.scheduler, &block.fiber[t]);
            }
        for (int64_t t = 0; t < threads; t++)
            if (block.held[t].d && block.place[t] >= 0)
                multiply_thread((unsigned)t);
        memset(block.held, 0, sizeof block.held);
    }
}

static void prepare(struct la_ctx *cx, void *arg)
{
    const struct gpu_mma *m = block.mma = arg;
    const int64_t size[3] = {m->in.m * m->in.k, m->in.n * m->in.k, m->in.m * m->in.n};
    for (enum la_matrix x = LA_A; x <= LA_C; x++) {
        const int64_t values = m->groups[0] * m->in.of[x].values;
        block.tv[x] = la_alloc(cx, (size_t)values * sizeof *block.tv[x]);
        block.owner[x] = la_alloc(cx, (size_t)size[x] * sizeof *block.owner[x]);
        la_offsets(cx, m->in.atom->mma.tv[x], values, block.tv[x]);
        for (int64_t i = 0; i < values; i++)
            block.owner[x][block.tv[x][i]] = i;
    }
    memset(block.place, 0xff, sizeof block.place);
    for (int64_t i = 0; i < m->groups[0] * m->groups[1] * m->groups[2] * m->groups[3]; i++)
        block.place[m->thread_at[i]] = i;
}

static void find(void *out, const char *name)
{
    *(void **)out = dlsym(emulator, name);
    assert_non_null(*(void **)out);
}

static void check_emulated(void **state)
{
    const int i = (int)((const char *const *)*state - chosen);
    char name[32];
    struct planned p;
    if (!emulator)
        skip_because("no C++ compiler\n");
    assert_true(plan_open(&p, chosen[i]));
    void (**hook)(void *, const void *, const void *, const void *), (**waits)(void);
    unsigned char *(*shared)(void);
    find(&block.current, "current_thread");
    find(&hook, "multiply");
    find(&waits, "wait_for_all");
    *hook = multiply;
    *waits = give_way;
    snprintf(name, sizeof name, "check_%d", i);
    find(&block.kernel, name);
    snprintf(name, sizeof name, "shared_%d", i);
    find(&shared, name);
    block.shared = shared();
    assert_true(la_try(&p.cx, prepare, p.plan->mma));
    struct gpu_mma_memory memory = gpu_mma_memory_make(&p.cx, p.plan->mma, 23);
    for (enum la_matrix x = LA_A; x <= LA_D; x++)
        block.matrix[x] = memory.image + memory.at[x];
    run_block(p.plan->block);
    struct gpu_job job = {.cx = &p.cx, .plan = p.plan, .result = cJSON_CreateObject()};
    const bool verified = gpu_mma_verify(&job, &memory);
    char *shown = cJSON_PrintUnformatted(job.result);
    if (!verified)
        fail_msg("%s\n  %s", chosen[i], shown);
    cJSON_free(shown);
    cJSON_Delete(job.result);
    plan_close(&p);
}

int main(void)
{
    static struct list list;
    if (!folder_make())
        return 1;
    mma_specs_make(&mma_specs, 121);
    choose();
    for (int i = 0; i < chosen_count; i++)
        add(&list, chosen[i], check_compiles, chosen[i]);
    run_group("CUDA for each architecture that has it", &list, NULL, NULL);
    for (int i = 0; i < chosen_count; i++)
        add(&list, chosen[i], check_emulated, &chosen[i]);
    run_group("CUDA run as C++", &list, open_emulator, NULL);
    mma_specs_free(&mma_specs);
    folder_remove(folder);
    return report(&list);
}
