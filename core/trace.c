/* trace.c: the derivation of an answer, as data: each step names its rule, shows its operands and its result.
 *
 *     logical_product(3:2, 4:1)
 *       complement       3:2, 12            (2,2):(1,6)     what 3:2 leaves out below 12
 *       composition      (2,2):(1,6), 4:1   (2,2):(1,6)
 *       logical_product  3:2, 4:1           (3,(2,2)):(2,(1,6))
 *
 * The algebra adds steps only where cx->trace is set, which costs the others one test. */
#include "internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    LA_MAX_STEPS = 2000, /* more than a person reads */
    TEXT_BYTES = 400     /* of a step's sentence */
};

void la_trace_indent(struct la_ctx *cx, int by)
{
    if (cx->trace)
        cx->trace->depth += by;
}

void la_step(struct la_ctx *cx, const char *rule, struct la_value result, uint32_t n,
             const struct la_operand *operands, const char *format, ...)
{
    struct la_trace *t = cx->trace;
    char text[TEXT_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    struct la_operand *copy = la_alloc(cx, (n + 1) * sizeof *copy);
    if (n)
        memcpy(copy, operands, n * sizeof *copy);
    struct la_step *step = t->last;
    if (t->n < LA_MAX_STEPS) {
        step = la_alloc(cx, sizeof *step);
        *(t->last ? &t->last->next : &t->first) = step;
        t->last = step;
        t->n++;
    }
    *step = (struct la_step){.rule = rule,
                             .text = la_format(cx, "%s", text),
                             .depth = t->depth,
                             .n = n,
                             .operands = copy,
                             .result = result};
}

void la_trace_call(struct la_ctx *cx, const struct la_call *call, struct la_value result)
{
    struct la_step *last = cx->trace->last; /* the algebra may have told this step already */
    if (last && strcmp(last->rule, call->op->name) == 0 && last->depth == cx->trace->depth + 1 &&
        strcmp(la_print(cx, &last->result, LA_SPELL_CUTE), la_print(cx, &result, LA_SPELL_CUTE)) == 0) {
        last->depth--;
        return;
    }
    struct la_operand operands[LA_MAX_ARGS];
    uint32_t p = 0;
    for (uint32_t i = 0; i < call->argc; i++) {
        operands[i] = (struct la_operand){call->op->params[p].name, call->args[i]};
        if (p + 1 < LA_MAX_PARAMS && call->op->params[p + 1].name)
            p++;
    }
    la_step(cx, call->op->name, result, call->argc, operands, "%s",
            call->op->law ? call->op->law : call->op->doc);
}

/* ---- evaluation ---- */

/* An integer coordinate of a tuple of modes becomes a coordinate of each: c mod s, c / s, ...; the last is the rest. */
static const struct la_node *split(struct la_ctx *cx, const struct la_node *coord,
                                   const struct la_node *shape)
{
    if (shape->kind != LA_TUPLE || la_rank(shape) == 0)
        return coord;
    struct la_builder b;
    la_build(&b, cx);
    const uint32_t h = la_build_open(&b);
    const struct la_node *rest = coord, *end = shape + shape->span;
    const char *text = "";
    for (const struct la_node *s = shape + 1; s < end; s = la_next(s)) {
        const struct la_node *extent = la_product(cx, s);
        const bool last = la_next(s) == end;
        const struct la_node *here = last ? rest : la_mod(cx, rest, extent);
        la_build_add(&b, here);
        if (last)
            break;
        text = la_format(cx, "%s%s%lld mod %lld = %lld, %lld / %lld = %lld", text, *text ? "; " : "",
                         (long long)rest->value, (long long)extent->value, (long long)here->value,
                         (long long)rest->value, (long long)extent->value,
                         (long long)la_div(cx, rest, extent)->value);
        rest = la_div(cx, rest, extent);
    }
    la_build_close(&b, h);
    const struct la_node *parts = la_build_done(&b);
    const struct la_operand operands[] = {{"coord", la_value_tuple(coord)}, {"shape", la_value_tuple(shape)}};
    la_step(cx, "split", la_value_tuple(parts), 2, operands, "%s",
            *text ? text : "one mode: the coordinate is that of the mode");
    return parts;
}

/* The full coordinate, one integer a leaf. */
static const struct la_node *full(struct la_ctx *cx, const struct la_node *coord, const struct la_node *shape)
{
    if (shape->kind != LA_TUPLE)
        return coord;
    if (coord->kind != LA_TUPLE)
        coord = split(cx, coord, shape);
    if (la_rank(coord) != la_rank(shape))
        return coord;
    struct la_builder b;
    la_build(&b, cx);
    const uint32_t h = la_build_open(&b);
    const struct la_node *s = shape + 1;
    for (const struct la_node *c = coord + 1; c < coord + coord->span; c = la_next(c), s = la_next(s))
        la_build_add(&b, full(cx, c, s));
    la_build_close(&b, h);
    return la_build_done(&b);
}

/* "1*3 + 0*6 + 2*1" */
static const char *products(struct la_ctx *cx, const struct la_node *coord, const struct la_node *stride)
{
    const char *text = "";
    for (uint32_t i = 0; i < coord->span && i < stride->span; i++)
        if (coord[i].kind == LA_INT && stride[i].kind == LA_INT && strlen(text) < TEXT_BYTES / 2)
            text = la_format(cx, "%s%s%lld*%s", text, *text ? " + " : "", (long long)coord[i].value,
                             la_print_tuple(cx, stride + i, LA_SPELL_TEXT));
    return text;
}

void la_trace_evaluation(struct la_ctx *cx, struct la_layout a, const struct la_node *coord)
{
    la_trace_indent(cx, 1);
    a = la_position_independent(cx, a);
    const struct la_node *at = full(cx, coord, a.shape);
    const struct la_node *inner = la_crd2idx(cx, coord, a.shape, a.stride);
    const struct la_operand strides[] = {{"coord", la_value_tuple(at)}, {"stride", la_value_tuple(a.stride)}};
    la_step(cx, "stride", la_value_tuple(inner), 2, strides, "%s", products(cx, at, a.stride));
    if (a.outer) {
        const struct la_operand outer[] = {
            {"function", *a.outer}, {"offset", la_value_tuple(a.offset)}, {"inner", la_value_tuple(inner)}};
        la_step(cx, "outer", la_value_tuple(la_layout_at(cx, a, coord)), 3, outer,
                "the outer function of offset + inner");
    }
    la_trace_indent(cx, -1);
    const struct la_operand whole[] = {{"layout", la_value_layout(a)}, {"coord", la_value_tuple(coord)}};
    la_step(cx, "evaluate", la_value_tuple(la_layout_at(cx, a, coord)), 2, whole, "layout(coord)");
}
