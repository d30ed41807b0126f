/* fuzz_access.c: any layouts, threads and widths are analysed or refused with a sentence; sums and bounds
 * hold.
 *
 * A text is lines: memory, threads, values, then numbers: bits of an element, elements of an access, which
 * analysis. What is missing has a default, so that a single expression, as the golden ones are, is a memory.
 * */
#include "la.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_LIMIT = 64 << 20, LINES = 6 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    const char *line[LINES];
};

static struct la_layout layout_of(struct la_ctx *cx, const char *text)
{
    struct la_program program;
    if (!la_eval(cx, text, LA_INTEGERS_AUTO, &program))
        longjmp(*cx->escape, 1);
    if (!(program.value.kind & LA_K_ANYLAYOUT))
        la_fail(cx, LA_E_kind, "not a layout");
    return program.value.layout;
}

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void check_traffic(struct la_ctx *cx, const struct la_reach *r, int64_t vector, int selector)
{
    const enum la_access_op op = (enum la_access_op)(selector % 7);
    const struct la_traffic t = la_traffic_of(cx, r, selector & 8 ? LA_GLOBAL : LA_SHARED, op,
                                              la_access_is_matrix(op) ? 8 << selector % 3 : LA_LANES, vector);
    check(t.all.wavefronts >= t.all.wavefronts_ideal && t.all.sectors >= t.all.sectors_ideal);
    check(t.all.lines >= t.all.lines_ideal && t.all.instructions >= 0);
    struct la_hit hits[LA_ACCESS_HITS];
    if (t.worst_kind) {
        const struct la_access a = la_traffic_access(&t, t.worst_kind, t.worst_warp, t.worst_step);
        check(la_access_hits(&a, hits) <= LA_ACCESS_HITS);
    }
}

static void analyse(struct la_ctx *cx, void *arg)
{
    const struct input *in = arg;
    const struct la_layout memory = layout_of(cx, in->line[0]);
    const struct la_partition p = la_partition_make(cx, layout_of(cx, in->line[1]),
                                                    layout_of(cx, in->line[2]));
    const uint32_t bits = (uint32_t)(strtoul(in->line[3], NULL, 10) & 255);
    const int64_t vector = (int64_t)(strtoul(in->line[4], NULL, 10) & 255);
    const int selector = (int)(strtoul(in->line[5], NULL, 10) & 63);
    const struct la_coverage c = la_coverage_of(cx, &p);
    check(c.missed <= p.elements && c.outside <= p.threads * p.values);
    const struct la_reach r = la_reach_make(cx, &p, memory, bits, 0);
    const struct la_vectors v = la_vectors_of(cx, &r);
    check(v.text && v.widest >= 1 && v.widest * bits <= LA_VECTOR_BITS);
    check_traffic(cx, &r, vector, selector);
    if (selector & 16) {
        const struct la_search_access access = {p, LA_LOAD, LA_LANES, v.widest};
        const struct la_search s = la_swizzle_search(cx, memory, bits, 1, &access);
        check(s.n == 0 || s.best[0].wavefronts >= s.ideal);
    }
}

static void look(struct la_ctx *cx, void *arg)
{
    const struct input *in = arg;
    const struct la_layout memory = layout_of(cx, in->line[0]), other = layout_of(cx, in->line[1]);
    const uint32_t bits = (uint32_t)(strtoul(in->line[3], NULL, 10) & 255);
    const struct la_facts f = la_facts_of(cx, memory);
    check(!f.known || f.distinct <= f.size);
    const struct la_wgmma w = la_wgmma_of(cx, memory, bits, bits & 1 ? LA_MAJOR_MN : LA_MAJOR_K, 64);
    check(w.legal || (w.why && *w.why));
    const struct la_tma t = la_tma_of(cx, other, memory, bits);
    check(t.legal ? t.rank >= 1 && t.instructions >= 1 : t.why && *t.why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    struct input in = {{"(64,64):(64,1)", "(8,8):(8,1)", "(1,8):(0,1)", "16", "8", "0"}};
    size_t n = 0;
    for (char *rest = text, *line; n < LINES && (line = strsep(&rest, "\n"));)
        in.line[n++] = line;
    void (*const bodies[])(struct la_ctx * cx, void *arg) = {analyse, look};
    for (int i = 0; i < 2; i++) {
        struct la_ctx cx = {.arena = la_arena_new(ARENA_LIMIT)};
        if (!la_try(&cx, bodies[i], &in))
            check(cx.error.message[0]);
        la_arena_free(cx.arena);
    }
    free(text);
    return 0;
}
