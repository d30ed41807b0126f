/* check.c: is the answer right? Its law, looked at point by point.
 *
 * CuTe accepts compositions whose result is not A o B: composition((6,2):(8,2), 4:4) prints (2,2):(32,2), though
 * A(B(2)) is 18 and not 2. No rule finds all of them, and strict rules refuse good ones: only looking at points does.
 * So each operation with a law has a check here, made of those in laws.c; what fails is shown as a counterexample, with
 * the true function where it is a layout. */
#include "laws.h"

#include <string.h>

static struct la_layout tiler_itself(struct la_ctx *cx, struct la_layout a, struct la_layout tiler)
{
    (void)cx;
    (void)a;
    return tiler;
}

static struct la_layout tiler_and_rest(struct la_ctx *cx, struct la_layout a, struct la_layout tiler)
{
    const struct la_layout parts[2] = {tiler, la_complement(cx, tiler, la_coalesce(cx, a).shape)};
    return la_layout_concat(cx, 2, parts);
}

static struct la_layout identity_of(struct la_ctx *cx, struct la_layout a)
{
    return la_plain(la_size(cx, a), la_one);
}

static void say_path(struct la_checking *c, const struct la_node *tiler)
{
    c->out->tiler = tiler->kind == LA_TUPLE ? "a tuple: mode by mode"
                    : tiler->kind == LA_INT ? "an integer: as the layout N:1, over the whole"
                    : tiler->kind == LA_ANY ? "_: nothing is tiled"
                                            : "a layout: over the whole";
}

/* ---- which check for which operation ---- */

static void check_same(struct la_checking *c)
{
    if (!(c->call->args[0].kind & LA_K_ANYLAYOUT))
        return;
    const struct la_place place = {"", la_in_order(c, c->answer.layout)};
    la_law_composed(c, c->call->op->law, &place, c->answer.layout, &c->call->args[0].layout, NULL);
}

static void check_composition(struct la_checking *c)
{
    const struct la_value a = c->call->args[0], b = c->call->args[c->call->argc - 1];
    if (!(a.kind & LA_K_ANYLAYOUT) || c->call->argc != 2 || b.kind & (LA_K_COMPOSED | LA_K_SWIZZLE))
        return;
    const struct la_node *tiler = la_value_node(c->cx, b);
    say_path(c, tiler);
    const struct la_tiled_law law = {"composition(A, B)(c) = A(B(c))", tiler_itself, false};
    const struct la_layout result = la_inner(c->answer.layout);
    const struct la_place place = {"", la_in_order(c, result)};
    la_law_tiled(c, &law, &place, la_inner(a.layout), tiler, result);
}

static void check_divide(struct la_checking *c)
{
    const struct la_value a = c->call->args[0], b = c->call->args[1];
    const struct la_node *tiler = la_value_node(c->cx, b);
    say_path(c, tiler);
    const struct la_tiled_law law = {"divide(A, B) = composition(A, (B, complement(B, shape(A))))",
                                     tiler_and_rest, true};
    const struct la_layout divided = la_logical_divide(c->cx, la_inner(a.layout), b);
    const struct la_place place = {"", la_in_order(c, divided)};
    if (place.index.shape && strcmp(c->call->op->name, "logical_divide") != 0)
        c->arranged = la_tile_unzip(c->cx, place.index, tiler);
    la_law_tiled(c, &law, &place, la_inner(a.layout), tiler, divided);
}

static void check_product(struct la_checking *c)
{
    const struct la_value a = c->call->args[0], b = c->call->args[1];
    say_path(c, la_value_node(c->cx, b));
    const uint32_t before = c->out->n;
    const struct la_place place = {"", la_in_order(c, c->answer.layout)};
    if (!la_law_injective(c, "A maps no two coordinates to one offset", &la_nowhere, a.layout)) {
        c->out->n = before; /* a broadcast block repeats its own overlaps */
        return;
    }
    c->out->n = before;
    if (!la_law_injective(c, "the repetitions do not overlap", &place, c->answer.layout) &&
        b.kind & (LA_K_TUPLE | LA_K_TILE))
        c->out->advice =
            "a tuple repeats each mode by itself, whatever the others occupy; a layout as second argument, "
            "or blocked_product, repeats A as a whole";
}

static void check_complement_call(struct la_checking *c)
{
    la_law_complement(c, c->call->args[0].layout, c->answer.layout);
}

static void check_right_inverse(struct la_checking *c)
{
    if (!(c->call->args[0].kind & LA_K_LAYOUT) || !(c->answer.kind & LA_K_LAYOUT))
        return;
    /* A(R(i)) = i: the identity is A over R */
    const struct la_layout identity = identity_of(c->cx, c->answer.layout);
    const struct la_place place = {"", la_in_order(c, c->answer.layout)};
    la_law_composed(c, "A(R(i)) = i", &place, identity, &c->call->args[0].layout, &c->answer.layout);
}

static void check_left_inverse(struct la_checking *c)
{
    if (!(c->call->args[0].kind & LA_K_LAYOUT) || !(c->answer.kind & LA_K_LAYOUT))
        return;
    const struct la_layout a = c->call->args[0].layout;
    const uint32_t before = c->out->n;
    const struct la_place place = {"", a}; /* at i it is the element A(i) of L that is looked at */
    const bool injective = la_law_injective(c, "A is injective", &la_nowhere, a);
    c->out->n = before;
    if (injective)
        la_law_composed(c, "L(A(i)) = i", &place, identity_of(c->cx, a), &c->answer.layout, &a);
}

static void check_equal(struct la_checking *c)
{
    la_law_equal(c, c->call->args[0].layout, c->call->args[1].layout);
}

static void check_injective_call(struct la_checking *c)
{
    la_law_injective(c, "a(i) != a(k) for i != k", &la_nowhere, c->call->args[0].layout);
}

static void check_bijective_call(struct la_checking *c)
{
    la_law_injective(c, "a(i) != a(k) for i != k", &la_nowhere, c->call->args[0].layout);
    la_law_surjective(c, "each of 0 .. size-1 is a value", c->call->args[0].layout);
}

static const struct {
    const char *op;
    void (*check)(struct la_checking *c);
} laws[] = {
    {"coalesce", check_same},
    {"flatten", check_same},
    {"with_shape", check_same},
    {"composition", check_composition},
    {"compose", check_composition},
    {"logical_divide", check_divide},
    {"zipped_divide", check_divide},
    {"tiled_divide", check_divide},
    {"flat_divide", check_divide},
    {"logical_product", check_product},
    {"zipped_product", check_product},
    {"tiled_product", check_product},
    {"flat_product", check_product},
    {"blocked_product", check_product},
    {"raked_product", check_product},
    {"tile_to_shape", check_product},
    {"complement", check_complement_call},
    {"right_inverse", check_right_inverse},
    {"left_inverse", check_left_inverse},
    {"equal", check_equal},
    {"injective", check_injective_call},
    {"bijective", check_bijective_call},
};

/* ---- other readings, advice ---- */

static void static_reading(struct la_checking *c, const char *text, const struct la_program *program)
{
    if (!text || program->integers != LA_INTEGERS_CUTE)
        return;
    struct la_program again;
    struct la_ctx cx = {.arena = c->cx->arena};
    if (!la_eval(&cx, text, LA_INTEGERS_STATIC, &again)) {
        if (cx.error.code != LA_E_limit)
            c->out->static_reading = la_format(c->cx, "refused (%s): %s", la_error_name(cx.error.code),
                                               cx.error.message);
        return;
    }
    const char *here = la_print(c->cx, &c->answer, LA_SPELL_TEXT);
    if (strcmp(here, la_print(c->cx, &again.value, LA_SPELL_TEXT)) != 0)
        c->out->static_reading = la_print(c->cx, &again.value, LA_SPELL_CUTE);
}

/* composition(coalesce(A), B), where that is right. */
static bool coalescing_helps(struct la_checking *c)
{
    const struct la_value a = c->call->args[0];
    if (c->call->argc != 2 || !(a.kind & LA_K_LAYOUT) || c->call->args[1].kind != LA_K_LAYOUT)
        return false;
    struct la_checks scratch = {0};
    struct la_checking trial = {.cx = c->cx, .out = &scratch, .call = c->call, .answer = c->answer};
    struct la_layout flat = la_coalesce(c->cx, a.layout);
    struct la_layout result = la_composition(c->cx, flat, c->call->args[1]);
    return la_law_composed(&trial, "", &la_nowhere, result, &a.layout, &c->call->args[1].layout);
}

struct advice {
    struct la_checking *c;
    bool helps;
};

static void try_coalescing(struct la_ctx *cx, void *arg)
{
    (void)cx;
    struct advice *a = arg;
    a->helps = coalescing_helps(a->c);
}

static void advise(struct la_checking *c)
{
    struct la_checks *out = c->out;
    if (!c->broken)
        return;
    struct advice a = {.c = c};
    struct la_ctx *cx = c->cx;
    if (out->static_reading && strncmp(out->static_reading, "refused", 7) != 0)
        out->advice = la_format(cx, "make the integers static: then it is %s", out->static_reading);
    else if (la_try(cx, try_coalescing, &a) && a.helps)
        out->advice = "coalesce A first";
    else if (out->true_function && strcmp(out->true_function, "none") != 0)
        out->advice = la_format(cx, "the function that the law asks for is %s", out->true_function);
    else if (out->true_function)
        out->advice = "no layout is A o B here: keep the two apart, as composition(A, _0, B)";
    else if (out->static_reading)
        out->advice = "with static integers CuTe would have refused this";
}

struct request {
    const char *text;
    const struct la_program *program;
    struct la_checks *out;
};

static void check(struct la_ctx *cx, void *arg)
{
    const struct request *r = arg;
    const struct la_call *call = r->program->call;
    struct la_checking c = {.cx = cx, .out = r->out, .call = call, .answer = r->program->value};
    struct la_trace *const trace = cx->trace; /* looking must not add steps to the derivation */
    cx->trace = NULL;
    static_reading(&c, r->text, r->program);
    for (size_t i = 0; call && i < sizeof laws / sizeof *laws; i++)
        if (strcmp(laws[i].op, call->op->name) == 0)
            laws[i].check(&c);
    if (call)
        advise(&c);
    cx->trace = trace;
}

bool la_check(struct la_ctx *cx, const char *text, const struct la_program *program, struct la_checks *out)
{
    *out = (struct la_checks){0};
    struct request r = {text, program, out};
    struct la_trace *const trace = cx->trace;
    const bool ok = la_try(cx, check, &r);
    cx->trace = trace;
    return ok;
}
