/* predicates.c: whether two layouts are one function, whether a layout is injective or bijective: by looking at points.
 *
 * The answer is exact or an error: above MAX_POINTS points it is refused, not guessed. The counterexample is part of the
 * answer's checks (check.c). */
#include "internal.h"

#include <stdlib.h>

enum {
    MAX_POINTS = 1 << 22 /* a few tens of milliseconds */
};

static int64_t *offsets_of(struct la_ctx *cx, struct la_layout a, int64_t *n)
{
    *n = la_size(cx, a)->value;
    if (*n < 0 || *n > MAX_POINTS)
        la_fail(cx, LA_E_limit, "%lld points are more than the %d that are looked at", (long long)*n,
                MAX_POINTS);
    int64_t *v = la_alloc(cx, (size_t)(*n + 1) * sizeof *v);
    la_offsets(cx, a, *n, v);
    return v;
}

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static struct la_value op_equal(struct la_ctx *cx, const struct la_call *call)
{
    int64_t n, m;
    if (la_size(cx, call->args[0].layout)->value != la_size(cx, call->args[1].layout)->value)
        return la_truth(false);
    const int64_t *a = offsets_of(cx, call->args[0].layout, &n),
                  *b = offsets_of(cx, call->args[1].layout, &m);
    for (int64_t i = 0; i < n; i++)
        if (a[i] != b[i])
            return la_truth(false);
    return la_truth(true);
}

static int64_t *sorted(struct la_ctx *cx, struct la_layout a, int64_t *n, bool *distinct)
{
    int64_t *v = offsets_of(cx, a, n);
    qsort(v, (size_t)*n, sizeof *v, by_value);
    *distinct = true;
    for (int64_t i = 1; i < *n; i++)
        *distinct = *distinct && v[i] != v[i - 1];
    return v;
}

static struct la_value op_injective(struct la_ctx *cx, const struct la_call *call)
{
    int64_t n;
    bool distinct;
    sorted(cx, call->args[0].layout, &n, &distinct);
    return la_truth(distinct);
}

static struct la_value op_bijective(struct la_ctx *cx, const struct la_call *call)
{
    int64_t n;
    bool distinct;
    const int64_t *v = sorted(cx, call->args[0].layout, &n, &distinct);
    return la_truth(distinct && n > 0 && v[0] == 0 && v[n - 1] == n - 1);
}

const struct la_op la_ops_predicates[] = {
    {.name = "equal",
     .doc = "Whether two layouts are the same function of an integer coordinate.",
     .params = {{"a", LA_K_ANYLAYOUT}, {"b", LA_K_ANYLAYOUT}},
     .gives = LA_K_BOOL,
     .run = op_equal,
     .example = "equal((_2,_3):(_1,_2), _6:_1)",
     .result = "true"},
    {.name = "injective",
     .doc = "Whether no two coordinates have one offset.",
     .params = {{"layout", LA_K_ANYLAYOUT}},
     .gives = LA_K_BOOL,
     .run = op_injective,
     .example = "injective((_2,_3):(_0,_1))",
     .result = "false"},
    {.name = "bijective",
     .doc = "Whether the offsets are 0 .. size-1, each once.",
     .params = {{"layout", LA_K_ANYLAYOUT}},
     .gives = LA_K_BOOL,
     .run = op_bijective,
     .example = "bijective((_2,_3):(_3,_1))",
     .result = "true"},
    {0}};
