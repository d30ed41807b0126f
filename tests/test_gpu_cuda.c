/* test_gpu_cuda.c: the generated CUDA, without a GPU: compiled by NVRTC for three architectures, and compiled
 * as C++ and run thread by thread, so that what a kernel does is known before a card sees it. */
#include "gpu_emulated.h"
#include "gpu_emulator.h"
#include "kernels.h"

#include <sys/stat.h>

static const struct {
    const char *name;
    int number;
} archs[] = {{"sm_80", 80}, {"sm_90a", 90}, {"sm_100a", 100}};

static void need_compiler(void)
{
    const char *version, *why;
    if (!gpu_compiler(&version, &why))
        skip_because("no NVRTC: %s\n", why);
}

/* For the architectures that have its instructions. */
static void compile_one(struct la_ctx *cx, const char *source, int least, const char *what)
{
    for (size_t a = 0; a < sizeof archs / sizeof archs[0]; a++) {
        struct gpu_cubin cubin;
        if (archs[a].number < least)
            continue;
        if (!gpu_compile(cx, source, archs[a].name, &cubin))
            fail_msg("%s\n  does not compile: %s\n%s", what, cx->error.message, cubin.log);
        if (*cubin.log)
            fail_msg("%s\n  for %s the compiler says: %s", what, archs[a].name, cubin.log);
        assert_true(cubin.size > 0);
    }
}

static void check_compiles(void **state)
{
    const char *text = *state, *who, *field;
    struct planned p;
    need_compiler();
    assert_true(plan_open(&p, text));
    compile_one(&p.cx, gpu_emit(&p.cx, p.plan), gpu_copy_arch(&p.plan->copy, &who, &field), text);
    plan_close(&p);
}

/* What is compiled but not run here: offsets of 64 bits, with and without a sign, hints in PTX, planted faults. */
static const char *const compiled_only[] = {
    SPEC("float", "float", "32:1", "4:1", "(128,64):(1,128)", "(128,64):(50000000,1)", ""),
    SPEC("float", "uint128_t", "32:1", "4:1", "(1000,64):(1,-50000000)", "(1000,64):(1,50000000)", ""),
    SPEC("uint8_t", "uint8_t", "32:1", "16:1", "512:1", "512:1", ",\"cache\":\"no_allocate\""),
    SPEC("uint8_t", "uint16_t", "32:1", "16:1", "512:1", "512:1", ",\"cache\":\"no_allocate\""),
    SPEC("uint8_t", "uint32_t", "32:1", "16:1", "512:1", "512:1", ",\"cache\":\"no_allocate\""),
    SPEC("uint8_t", "uint64_t", "32:1", "16:1", "512:1", "512:1", ",\"cache\":\"no_allocate\""),
    SPEC("uint8_t", "uint128_t", "32:1", "16:1", "512:1", "512:1", ",\"cache\":\"no_allocate\""),
    SPEC("float", "float", "32:1", "4:1", "128:1", "128:1", ",\"plant\":\"illegal_address\""),
    SPEC("float", "float", "32:1", "4:1", "128:1", "128:1", ",\"plant\":\"trap\""),
    SPEC("float", "float", "32:1", "4:1", "128:1", "128:1", ",\"plant\":\"hang\""),
    SPEC("float", "float", "32:1", "4:1", "128:1", "128:1", ",\"plant\":\"wrong_value\""),
    BOXES("float", "(8,8):(8,1)", "(2,4):(4,1)", "(64,64):(64,1)", "(64,64):(64,1)", "(16,32):(32,1)",
          ",\"plant\":\"wrong_value\""),
    BOXES("float", "(8,8):(8,1)", "(2,4):(4,1)", "(64,64):(50000000,1)", "(64,64):(64,1)", "(16,32):(32,1)",
          ""),
    VIA("half_t", "(90,130):(50000000,1)", "(90,130):(-50000000,1)", "(32,64):(72,1)", "(8,(4,8)):(4,(1,32))",
        "(4,2):(2,1)", STSM("U32x4_STSM_N"), "(8,(4,8)):(4,(1,32))", "(4,2):(2,1)", LDSM("U32x4_LDSM_N")),
};

static void support_source(struct la_ctx *cx, void *out)
{
    *(const char **)out = gpu_support_source(cx);
}

static void check_support_compiles(void **state)
{
    (void)state;
    const char *source = NULL;
    struct la_ctx cx = {.arena = la_arena_new(ARENA)};
    need_compiler();
    assert_true(la_try(&cx, support_source, &source));
    compile_one(&cx, source, 0, "the support kernels");
    la_arena_free(cx.arena);
}

/* Damage every file of the cache in the middle. */
static void damage_cache(void)
{
    char path[sizeof folder + 280];
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *d; (d = readdir(dir));) {
        struct stat st;
        snprintf(path, sizeof path, "%s/%s", folder, d->d_name);
        if (!strstr(d->d_name, ".cubin") || stat(path, &st) != 0)
            continue;
        const int fd = open(path, O_RDWR);
        char byte = 0;
        assert_int_equal(pread(fd, &byte, 1, st.st_size / 2), 1);
        byte = (char)~byte;
        assert_int_equal(pwrite(fd, &byte, 1, st.st_size / 2), 1);
        close(fd);
    }
    closedir(dir);
}

static void check_cache(void **state)
{
    (void)state;
    struct la_ctx cx = {.arena = la_arena_new(ARENA)};
    struct gpu_cubin fresh, cached, again;
    const char *source = "extern \"C\" __global__ void k(int *x) { *x = 42; }\n";
    need_compiler();
    assert_true(gpu_compile(&cx, source, "sm_90a", &fresh));
    assert_false(fresh.cached);
    assert_true(gpu_compile(&cx, source, "sm_90a", &cached));
    assert_true(cached.cached);
    assert_int_equal(cached.size, fresh.size);
    assert_memory_equal(cached.image, fresh.image, fresh.size);
    damage_cache();
    assert_true(gpu_compile(&cx, source, "sm_90a", &again));
    assert_false(again.cached);
    assert_false(gpu_compile(&cx, "this is not CUDA", "sm_90a", &again));
    assert_non_null(strstr(cx.error.message, "error"));
    assert_true(strlen(again.log) > 0);
    la_arena_free(cx.arena);
}

/* ---- the generated text run as C++: one thread after the other, by turns where they wait for each other ---- */

/* A load and a store of so many bits, where there are any; the prelude says what they do. */
static const char *emulated_access(struct la_ctx *cx, const char *suffix, unsigned load_bits,
                                   unsigned store_bits)
{
    return la_format(cx, "%s%s", load_bits ? la_format(cx, "LOAD(load%s, %u)\n", suffix, load_bits) : "",
                     store_bits ? la_format(cx, "STORE(store%s, %u)\n", suffix, store_bits) : "");
}

/* Bits of a leg's accesses of shared memory. */
static unsigned shared_bits(const struct gpu_copy *c, const struct gpu_leg *leg)
{
    return leg->tma || leg->matrix ? 0 : (unsigned)leg->smem_vector * c->type->bits;
}

/* The C++ that stands in for all that is written in PTX. */
static const char *instead_of_ptx(struct la_ctx *cx, const struct gpu_copy *c)
{
    const char *text = emulated_access(cx, "", c->in.atom.bits, c->out.atom.bits);
    if (c->smem)
        text = la_format(cx, "%s%s", text,
                         emulated_access(cx, "_shared", shared_bits(c, &c->out), shared_bits(c, &c->in)));
    if (c->in.matrix)
        text = la_format(cx, "%sSTORE_MATRICES(%lld, %d)\n", text, (long long)c->in.matrix->count,
                         c->in.matrix->trans);
    if (c->out.matrix)
        text = la_format(cx, "%sLOAD_MATRICES(%lld, %d)\n", text, (long long)c->out.matrix->count,
                         c->out.matrix->trans);
    return c->stages && !c->in.tma ? la_format(cx, "%sFETCH(%u)\n", text, c->in.atom.bits / 8) : text;
}

static void write_emulation(FILE *out, struct planned *p, int i)
{
    const struct gpu_copy *c = &p->plan->copy;
    const long long grid = (long long)p->plan->grid, block = (long long)p->plan->block;
    fprintf(
        out,
        "#define copy copy_%d\nnamespace k%d {\nalignas(1024) uint4 shared_memory[%lld];\n%s}\n#undef copy\n",
        i, i, (long long)p->plan->shared_bytes / 16 + 1,
        without_ptx(&p->cx, gpu_emit(&p->cx, p->plan), instead_of_ptx(&p->cx, c)));
    fprintf(out,
            "static void thread_%d() { k%d::copy_%d((const k%d::Element *)from, (k%d::Element *)to%s%s); }\n",
            i, i, i, i, i, c->in.tma ? ", maps[0]" : "", c->out.tma ? ", maps[1]" : "");
    fprintf(out,
            "extern \"C\" void run_%d(const void *s, void *d) { run(s, d, %lld, %lld, %d, thread_%d); }\n", i,
            grid, block, c->smem != NULL, i);
}

/* A tensor map as the emulation has it: its struct TensorMap. */
struct emulated_map {
    void *base;
    int rank, bytes, swizzle;
    long long extent[LA_TMA_RANK], stride[LA_TMA_RANK];
    int box[LA_TMA_RANK];
};

static struct emulated_map map_of(const struct gpu_tma *tma, unsigned bits)
{
    struct emulated_map m = {NULL, (int)tma->map.rank, (int)bits / 8, tma->map.swizzle, {0}, {0}, {0}};
    for (uint32_t d = 0; d < tma->map.rank; d++) {
        m.extent[d] = tma->map.dim[d].extent;
        m.stride[d] = tma->map.dim[d].stride;
        m.box[d] = (int)tma->map.dim[d].box;
    }
    return m;
}

/* Compile all kernels at once; the emulator stays NULL where there is no C++ compiler. */
static int open_emulator(void **state)
{
    (void)state;
    FILE *out = emulator_begin();
    if (!out)
        return -1;
    fprintf(out, "%s%s%s%s%s%s", emulated_cuda, emulated_threads, emulated_async, emulated_matrices,
            emulated_tma, emulated_run);
    for (int i = 0; i < SPECS; i++) {
        struct planned p;
        if (plan_open(&p, specs[i]))
            write_emulation(out, &p, i);
        plan_close(&p);
    }
    return emulator_end(out, "-O0");
}

struct memory {
    unsigned char *bytes, *origin; /* origin: where offset 0 lies */
    size_t size;
};

static struct memory memory_open(const struct gpu_tensor *t, size_t element)
{
    enum { FENCE = 1024 };
    struct memory m = {.size = (size_t)(t->max - t->min + 1) * element + 2 * FENCE + 32};
    m.bytes = aligned_alloc(16, (m.size + 15) / 16 * 16);
    assert_non_null(m.bytes);
    m.origin = m.bytes + (FENCE + (size_t)(-t->min) * element + 15) / 16 * 16;
    return m;
}

static void set_maps(const struct gpu_copy *c, const struct memory *src, const struct memory *dst)
{
    struct emulated_map *maps = dlsym(emulator, "maps");
    assert_non_null(maps);
    if (c->in.tma) {
        maps[0] = map_of(c->in.tma, c->type->bits);
        maps[0].base = src->origin;
    }
    if (c->out.tma) {
        maps[1] = map_of(c->out.tma, c->type->bits);
        maps[1].base = dst->origin;
    }
}

/* dst(i) holds src(i) for every index, by core's own evaluation of the layouts; everything else is
 * untouched. */
static void compare(struct planned *p, const struct memory *src, const struct memory *dst, const char *text)
{
    const struct gpu_copy *c = &p->plan->copy;
    const size_t element = c->type->bits / 8, n = (size_t)c->src.elements;
    int64_t *from = calloc(n, sizeof *from), *to = calloc(n, sizeof *to);
    la_offsets(&p->cx, c->src.layout, (int64_t)n, from);
    la_offsets(&p->cx, c->dst.layout, (int64_t)n, to);
    for (size_t i = 0; i < n; i++) {
        unsigned char *got = dst->origin + to[i] * (int64_t)element;
        if (memcmp(src->origin + from[i] * (int64_t)element, got, element) != 0)
            fail_msg("%s\n  element %zu is wrong", text, i);
        memset(got, 0xee, element);
    }
    for (size_t i = 0; i < dst->size; i++)
        if (dst->bytes[i] != 0xee)
            fail_msg("%s\n  byte %zu of %zu was touched", text, i, dst->size);
    free(from);
    free(to);
}

static void check_emulated(void **state)
{
    const int i = (int)((const char *const *)*state - specs);
    char name[32];
    struct planned p;
    uint64_t word = 7;
    if (!emulator)
        skip_because("no C++ compiler\n");
    assert_true(plan_open(&p, specs[i]));
    snprintf(name, sizeof name, "run_%d", i);
    void (*run)(const void *, void *) = NULL;
    *(void **)&run = dlsym(emulator, name);
    assert_non_null(run);
    const size_t element = p.plan->copy.type->bits / 8;
    struct memory src = memory_open(&p.plan->copy.src, element),
                  dst = memory_open(&p.plan->copy.dst, element);
    for (size_t b = 0; b < src.size; b++)
        src.bytes[b] = (unsigned char)draw_word(&word);
    memset(dst.bytes, 0xee, dst.size);
    set_maps(&p.plan->copy, &src, &dst);
    run(src.origin, dst.origin);
    compare(&p, &src, &dst, specs[i]);
    free(src.bytes);
    free(dst.bytes);
    plan_close(&p);
}

int main(int argc, char **argv)
{
    static struct list list;
    draw_specs(argc, argv);
    if (!folder_make())
        return 1;
    add(&list, "the cache of compiled kernels", check_cache, NULL);
    add(&list, "support kernels compile", check_support_compiles, NULL);
    for (int i = 0; i < SPECS; i++)
        add(&list, specs[i], check_compiles, specs[i]);
    for (size_t i = 0; i < sizeof compiled_only / sizeof compiled_only[0]; i++)
        add(&list, compiled_only[i], check_compiles, compiled_only[i]);
    run_group("CUDA for sm_80, sm_90a, sm_100a", &list, NULL, NULL);
    for (int i = 0; i < SPECS; i++)
        add(&list, specs[i], check_emulated, &specs[i]);
    run_group("CUDA run as C++", &list, open_emulator, NULL);
    folder_remove(folder);
    return report(&list);
}
