/* gpu_counts_gen.c: whole partitions as kernels that do nothing but access memory as the analysis says they do.
 *
 *     gpu_counts_gen cu      the program: one kernel a partition, one launch each, to be run under a profiler
 *     gpu_counts_gen table   what core predicts of each: kernel, space, op, bytes, threads, instructions,
 *                            wavefronts, ideal, sectors, memory, copy; a line a partition, between tabs
 *
 * Each warp executes its instructions by inline PTX, in order, at the byte offsets of la_traffic_access: a
 * thread takes its offset from constant memory, which is neither shared nor global traffic. No loaded value is
 * stored; each is held against a key that it cannot equal, so that no load is dead. Of tiles of one kind, as
 * many are executed as there are, at offsets that agree modulo the kind's period. The counting is done
 * elsewhere: gpu_counts.sh, gpu_counts.py. */
#include "la.h"
#include "gpu_counts_cases.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ARENA_LIMIT = 64 << 20,
    TABLE = 8192,            /* offsets of one kernel: 32 KiB of the 64 KiB of constant memory */
    SHARED_BYTES = 47 << 10, /* of a kernel that asks for no more than the default, less the alignment */
    GLOBAL_BYTES = 1 << 20,
    MATRIX_ROWS = 8,
    MATRIX_BITS = 8 * 8 * 16
};

/* A partition of the table, analysed. */
struct partition {
    const struct counts_case *of;
    struct la_traffic traffic;
    int64_t rounds;   /* instructions of each warp */
    bool all_active;  /* each lane of each instruction */
    uint32_t *offset; /* [round * threads + thread], NONE: takes no part */
};
#define NONE UINT32_MAX

/* ---- from the text to the offsets ------------------------------------------------------------------------ */

static const struct la_value *value_of(struct la_ctx *cx, const char *text)
{
    struct la_program *program = la_alloc(cx, sizeof *program);
    if (!la_eval(cx, text, LA_INTEGERS_STATIC, program))
        la_fail(cx, cx->error.code, "%s", la_format(cx, "%s: %s", text, cx->error.message));
    return &program->value;
}

static bool is_load(enum la_access_op op)
{
    return op == LA_LOAD || op == LA_LDMATRIX || op == LA_LDMATRIX_TRANS;
}

/* ldmatrix and stmatrix take the addresses of 8 rows a matrix; their other end tells how many matrices: it has
 * their bits in registers. */
static int32_t lanes_of(struct la_ctx *cx, enum la_access_op op, const struct la_atom *atom)
{
    if (!la_access_is_matrix(op))
        return LA_LANES;
    const struct la_layout registers = atom->copy.bits[is_load(op) ? LA_DST : LA_SRC];
    return (int32_t)(la_size(cx, registers)->value / MATRIX_BITS) * MATRIX_ROWS;
}

static uint32_t checked_offset(struct la_ctx *cx, const struct partition *p, int64_t at)
{
    const int64_t limit = p->traffic.space == LA_SHARED ? SHARED_BYTES : GLOBAL_BYTES;
    if (at < 0 || at > limit - p->traffic.bytes)
        la_fail(cx, LA_E_limit, "%s: the offset %" PRId64 " is outside the %" PRId64 " bytes of memory",
                p->of->memory, at, limit);
    return (uint32_t)at;
}

/* The offsets of one instruction of one warp, and its cost added up. Lanes whose address is not looked at, as
 * those beyond the eighth of ldmatrix.x1, repeat the ones that are. */
static void add_instruction(struct la_ctx *cx, struct partition *p, const struct la_tiles *kind, int64_t warp,
                            int64_t step, struct la_totals *sum)
{
    const struct la_access a = la_traffic_access(&p->traffic, kind, warp, step);
    const struct la_cost cost = la_access_cost(&a);
    const int64_t threads = p->traffic.reach->part.threads;
    sum->instructions += cost.requests;
    sum->wavefronts += cost.wavefronts;
    sum->sectors += cost.sectors;
    for (int64_t i = 0; i < LA_LANES && warp * LA_LANES + i < threads; i++) {
        const int64_t lane = i % a.lanes;
        const bool active = a.active >> lane & 1;
        p->offset[p->rounds * threads + warp * LA_LANES + i] = active ? checked_offset(cx, p, a.at[lane])
                                                                      : NONE;
        p->all_active = p->all_active && active;
    }
}

/* Every instruction of every tile. What is executed must be what is predicted. */
static void fill(struct la_ctx *cx, struct partition *p)
{
    const struct la_reach *r = p->traffic.reach;
    struct la_totals sum = {0};
    if (r->tiles * p->traffic.steps * r->part.threads > TABLE)
        la_fail(cx, LA_E_limit, "%s: more than %d offsets", p->of->memory, TABLE);
    p->offset = la_alloc(cx, TABLE * sizeof *p->offset);
    p->all_active = true;
    for (uint32_t k = 0; k < r->kinds; k++)
        for (int64_t i = 0; i < r->kind[k].count; i++)
            for (int64_t step = 0; step < p->traffic.steps; step++, p->rounds++)
                for (int64_t warp = 0; warp < p->traffic.warps; warp++)
                    add_instruction(cx, p, &r->kind[k], warp, step, &sum);
    const struct la_totals *all = &p->traffic.all;
    if (sum.instructions != all->instructions || sum.wavefronts != all->wavefronts ||
        sum.sectors != all->sectors)
        la_fail(cx, LA_E_other, "%s: the instructions do not add up to the total", p->of->memory);
    if (la_access_is_matrix(p->of->op) && !p->all_active)
        la_fail(cx, LA_E_domain, "%s: the edge cuts a row of a matrix off", p->of->memory);
}

static struct partition analyse(struct la_ctx *cx, const struct counts_case *c)
{
    const struct la_value *copy = value_of(cx, c->copy), *memory = value_of(cx, c->memory);
    if (copy->kind != LA_K_TILED_COPY || !(memory->kind & LA_K_ANYLAYOUT))
        la_fail(cx, LA_E_kind, "%s over %s: not a tiled copy over a layout", c->copy, c->memory);
    const struct la_tiled_copy *tiled = copy->object;
    const enum la_end end = is_load(c->op) ? LA_SRC : LA_DST;
    const struct la_partition part = la_partition_of_tv(cx, la_tiled_copy_tv(cx, tiled, end), tiled->tiler);
    const uint32_t bits = la_type_bits(tiled->atom->copy.type);
    struct la_reach *reach = la_alloc(cx, sizeof *reach);
    *reach = la_reach_make(cx, &part, memory->layout, bits, 0);
    const int64_t vector = la_size(cx, la_layout_mode(cx, tiled->atom->copy.values[end], 1))->value;
    const struct la_vectors widest = la_vectors_of(cx, reach);
    if (widest.widest < vector)
        la_fail(cx, LA_E_domain, "%s over %s: %s", c->copy, c->memory, widest.text);
    struct partition p = {.of = c};
    p.traffic = la_traffic_of(cx, reach, c->space, c->op, lanes_of(cx, c->op, tiled->atom), vector);
    fill(cx, &p);
    return p;
}

/* ---- the program ----------------------------------------------------------------------------------------- */

static const char head[] =
    "// Made by gpu_counts_gen: one kernel a partition.\n"
    "#include <cstdio>\n"
    "#define NONE 0xffffffffu\n"
    "static __constant__ unsigned table[%d];\n"
    "extern __shared__ char dynamic[];\n"
    "static __device__ unsigned shared_base() // the analysis counts from a multiple of 1024\n"
    "{\n"
    "    return ((unsigned)__cvta_generic_to_shared(dynamic) + 1023u) & ~1023u;\n"
    "}\n";

static const char tail[] =
    "\nint main()\n"
    "{\n"
    "    char *memory;\n"
    "    cudaError_t error = cudaMalloc(&memory, %d);\n"
    "    for (const partition &p : partitions) {\n"
    "        if (error == cudaSuccess)\n"
    "            error = cudaMemcpyToSymbol(table, p.table, p.entries * sizeof(unsigned));\n"
    "        if (error == cudaSuccess) {\n"
    "            p.kernel<<<1, p.threads, p.shared>>>(0, memory);\n"
    "            error = cudaDeviceSynchronize();\n"
    "        }\n"
    "        if (error != cudaSuccess) {\n"
    "            fprintf(stderr, \"%%s: %%s\\n\", p.name, cudaGetErrorString(error));\n"
    "            return 1;\n"
    "        }\n"
    "    }\n"
    "    return 0;\n"
    "}\n";

/* "ld.shared.v4.u32", "stmatrix.sync.aligned.m8n8.x2.trans.shared.b16"; sets how many registers it has. */
static const char *instruction_of(struct la_ctx *cx, const struct la_traffic *t, int *registers)
{
    if (la_access_is_matrix(t->op)) {
        const bool trans = t->op == LA_LDMATRIX_TRANS || t->op == LA_STMATRIX_TRANS;
        *registers = t->lanes / MATRIX_ROWS;
        return la_format(cx, "%s.sync.aligned.m8n8.x%d%s.shared.b16",
                         is_load(t->op) ? "ldmatrix" : "stmatrix", *registers, trans ? ".trans" : "");
    }
    static const char *const types[] = {
        [1] = ".u8", [2] = ".u16", [4] = ".u32", [8] = ".v2.u32", [16] = ".v4.u32"};
    *registers = t->bytes <= 4 ? 1 : t->bytes / 4;
    return la_format(cx, "%s.%s%s", t->op == LA_LOAD ? "ld" : "st",
                     t->space == LA_SHARED ? "shared" : "global", types[t->bytes]);
}

/* The one statement that matters: %0... are what it loads or stores, the last one the address. */
static void print_instruction(struct la_ctx *cx, const struct la_traffic *t)
{
    static const char *const operands[] = {[1] = "%0", [2] = "{%0, %1}", [4] = "{%0, %1, %2, %3}"};
    static const char *const stored[] = {[1] = "%1", [2] = "{%1, %1}", [4] = "{%1, %1, %1, %1}"};
    static const char *const loaded[] = {[1] = "\"=r\"(r0)",
                                         [2] = "\"=r\"(r0), \"=r\"(r1)",
                                         [4] = "\"=r\"(r0), \"=r\"(r1), \"=r\"(r2), \"=r\"(r3)"};
    int n;
    const char *name = instruction_of(cx, t, &n), *address = t->space == LA_SHARED ? "r" : "l";
    const bool braced = la_access_is_matrix(t->op) && n == 1;
    const char *open = braced ? "{" : "", *close = braced ? "}" : "";
    if (is_load(t->op)) {
        printf("            unsigned r0 = 0, r1 = 0, r2 = 0, r3 = 0;\n");
        printf("            asm volatile(\"%s %s%s%s, [%%%d];\" : %s : \"%s\"(base + at) : \"memory\");\n",
               name, open, operands[n], close, n, loaded[n], address);
        printf("            seen |= r0 | r1 | r2 | r3;\n");
    } else {
        printf(
            "            asm volatile(\"%s [%%0], %s%s%s;\" ::\"%s\"(base + at), \"r\"(key) : \"memory\");\n",
            name, open, stored[n], close, address);
    }
}

static void print_kernel(struct la_ctx *cx, const struct partition *p, size_t number)
{
    const int64_t threads = p->traffic.reach->part.threads;
    printf("\n// %s\n// over %s\nstatic const unsigned at%zu[] = {", p->of->copy, p->of->memory, number);
    for (int64_t i = 0; i < p->rounds * threads; i++)
        printf("%s%" PRIu32 "u,", i % 16 == 0 ? "\n    " : " ", p->offset[i]);
    printf("};\nextern \"C\" __global__ void p%zu(unsigned key, char *memory)\n{\n", number);
    printf("    const %s base = %s;\n", p->traffic.space == LA_SHARED ? "unsigned" : "size_t",
           p->traffic.space == LA_SHARED ? "shared_base()" : "(size_t)memory");
    printf("    unsigned seen = 1; // never the key, which is 0\n");
    printf("#pragma unroll 1\n    for (unsigned i = 0; i < %" PRId64 "; i++) {\n", p->rounds);
    printf("        const unsigned at = table[i * %" PRId64 " + threadIdx.x];\n", threads);
    printf("        %s{\n", p->all_active ? "" : "if (at != NONE) ");
    print_instruction(cx, &p->traffic);
    printf("        }\n    }\n    if (seen == key)\n        __trap();\n}\n");
}

static void print_launch(const struct partition *p, size_t number)
{
    const int64_t threads = p->traffic.reach->part.threads;
    printf("    {\"p%zu\", p%zu, %" PRId64 ", %d, at%zu, %" PRId64 "},\n", number, number, threads,
           p->traffic.space == LA_SHARED ? SHARED_BYTES + 1024 : 0, number, p->rounds * threads);
}

static void print_program(struct la_ctx *cx, size_t n, const struct partition *p)
{
    printf(head, TABLE);
    for (size_t i = 0; i < n; i++)
        print_kernel(cx, &p[i], i);
    printf("\nstruct partition {\n    const char *name;\n    void (*kernel)(unsigned, char *);\n"
           "    unsigned threads, shared;\n    const unsigned *table;\n    size_t entries;\n};\n"
           "static const partition partitions[] = {\n");
    for (size_t i = 0; i < n; i++)
        print_launch(&p[i], i);
    printf("};\n");
    printf(tail, GLOBAL_BYTES);
}

/* ---- the predictions ------------------------------------------------------------------------------------- */

static void print_row(const struct partition *p, size_t number)
{
    const struct la_traffic *t = &p->traffic;
    const struct la_totals *all = &t->all;
    printf("p%zu\t%s\t%s", number, t->space == LA_SHARED ? "shared" : "global", la_access_op_name(t->op));
    if (la_access_is_matrix(t->op))
        printf(".x%d", t->lanes / MATRIX_ROWS);
    printf("\t%d\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%s\t%s\n", t->bytes,
           t->reach->part.threads, all->instructions, all->wavefronts, all->wavefronts_ideal, all->sectors,
           p->of->memory, p->of->copy);
}

static void generate(struct la_ctx *cx, void *arg)
{
    const bool *program = arg;
    struct partition *p = la_alloc(cx, COUNTS_CASES * sizeof *p);
    for (size_t i = 0; i < COUNTS_CASES; i++)
        p[i] = analyse(cx, &counts_cases[i]);
    if (*program)
        print_program(cx, COUNTS_CASES, p);
    for (size_t i = 0; i < COUNTS_CASES && !*program; i++)
        print_row(&p[i], i);
}

int main(int argc, char **argv)
{
    bool program = argc == 2 && strcmp(argv[1], "cu") == 0;
    if (argc != 2 || (!program && strcmp(argv[1], "table") != 0)) {
        fprintf(stderr, "usage: gpu_counts_gen cu|table\n");
        return 2;
    }
    struct la_ctx cx = {.arena = la_arena_new(ARENA_LIMIT)};
    const bool done = la_try(&cx, generate, &program);
    if (!done)
        fprintf(stderr, "gpu_counts_gen: %s\n", cx.error.message);
    la_arena_free(cx.arena);
    return done && fflush(stdout) == 0 ? 0 : 1;
}
