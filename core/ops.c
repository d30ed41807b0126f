/* ops.c: the table of operations: lookup by name, checks before the run, "did you mean".
 *
 * The rows stand at the foot of the files that compute them, in groups. Adding one is a row and a function there;
 * adding a group is a line in `groups`. Nothing else knows the operations. */
#include "internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct la_op *const groups[] = {
    la_ops_tuple,  la_ops_layout,     la_ops_modes,     la_ops_algebra,    la_ops_inverse,
    la_ops_tiling, la_ops_swizzle,    la_ops_recast,    la_ops_predicates, la_ops_smem,
    la_ops_atom,   la_ops_tiled_copy, la_ops_tiled_mma, la_ops_tensor};

enum {
    GROUPS = sizeof groups / sizeof *groups,
    MAX_NAME = 48,    /* longer than any name: what is longer is near nothing */
    NEAR_PERCENT = 40 /* how much of a name may be wrong for it to be suggested */
};

const struct la_op *la_op_at(size_t i)
{
    for (size_t g = 0; g < GROUPS; g++)
        for (const struct la_op *op = groups[g]; op->name; op++)
            if (i-- == 0)
                return op;
    return NULL;
}

const struct la_op *la_op_find(const char *name, size_t len)
{
    for (size_t g = 0; g < GROUPS; g++)
        for (const struct la_op *op = groups[g]; op->name; op++)
            if (op->name[0] == name[0] && strlen(op->name) == len && memcmp(op->name, name, len) == 0)
                return op;
    return NULL;
}

/* Edit distance, with a swap of neighbours as one edit. */
static size_t distance(const char *a, size_t n, const char *b, size_t m)
{
    size_t d[3][MAX_NAME + 1];
    for (size_t j = 0; j <= m; j++)
        d[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *now = d[i % 3], *last = d[(i - 1) % 3], *before = d[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            const size_t change = last[j - 1] + (a[i - 1] != b[j - 1]);
            size_t least = last[j] + 1 < now[j - 1] + 1 ? last[j] + 1 : now[j - 1] + 1;
            least = change < least ? change : least;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < least)
                least = before[j - 2] + 1;
            now[j] = least;
        }
    }
    return d[n % 3][m];
}

bool la_name_is_near(size_t len, size_t edits)
{
    return edits <= len * NEAR_PERCENT / 100;
}

void la_name_nearer(const char *name, size_t len, const char *candidate, const char **nearest, size_t *least)
{
    const size_t n = strlen(candidate);
    const size_t d = len <= MAX_NAME && n <= MAX_NAME ? distance(name, len, candidate, n) : SIZE_MAX;
    if (d < *least && la_name_is_near(len, d)) {
        *least = d;
        *nearest = candidate;
    }
}

const char *la_op_nearest(const char *name, size_t len)
{
    const char *nearest = NULL;
    size_t least = SIZE_MAX;
    const struct la_op *op;
    for (size_t i = 0; (op = la_op_at(i)); i++)
        la_name_nearer(name, len, op->name, &nearest, &least);
    return nearest;
}

_Noreturn void la_fail_arg(struct la_ctx *cx, uint32_t i, enum la_error_code code, const char *format, ...)
{
    char message[sizeof cx->error.message];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    cx->blame = (int)i;
    la_fail(cx, code, "%s", message);
}

/* ---- checks before the run ---- */

static uint32_t params_of(const struct la_op *op, uint32_t *least, uint32_t *most)
{
    uint32_t n = 0;
    *least = *most = 0;
    while (n < LA_MAX_PARAMS && op->params[n].name) {
        const unsigned kinds = op->params[n].kinds;
        *least += !(kinds & LA_OPTIONAL) && !(kinds & LA_VARIADIC && n == 0);
        *most = kinds & LA_VARIADIC ? LA_MAX_ARGS : *most + 1;
        n++;
    }
    return n;
}

static const char *signature(struct la_ctx *cx, const struct la_op *op)
{
    const char *s = la_format(cx, "%s%s(", op->name, op->template_params ? op->template_params : "");
    for (uint32_t i = 0; i < LA_MAX_PARAMS && op->params[i].name; i++) {
        const bool optional = op->params[i].kinds & LA_OPTIONAL;
        s = la_format(cx, "%s%s%s%s%s%s", s, i ? ", " : "", optional ? "[" : "", op->params[i].name,
                      op->params[i].kinds & LA_VARIADIC ? "..." : "", optional ? "]" : "");
    }
    return la_format(cx, "%s)", s);
}

/* What would be right, for the mistakes that everyone makes. */
static const char *hint(struct la_ctx *cx, unsigned wanted, const struct la_value *got)
{
    if (wanted & LA_K_LAYOUT && got->kind & LA_K_INTTUPLE)
        return la_format(cx, "; did you mean make_layout(%s)?", la_show(cx, got->tuple));
    if (wanted & LA_K_INTTUPLE && got->kind & LA_K_ANYLAYOUT)
        return "; did you mean its shape(...)?";
    return "";
}

static void check_args(struct la_ctx *cx, const struct la_call *call)
{
    const struct la_op *op = call->op;
    uint32_t least, most;
    const uint32_t n = params_of(op, &least, &most);
    if (call->argc < least || call->argc > most)
        la_fail(cx, LA_E_arity, "%s takes %u%s argument%s, not %u: %s", op->name, least,
                most == least         ? ""
                : most >= LA_MAX_ARGS ? " or more"
                                      : la_format(cx, " to %u", most),
                most == 1 ? "" : "s", call->argc, signature(cx, op));
    if (call->targc && !op->template_params)
        la_fail(cx, LA_E_arity, "%s takes nothing in <...>: %s", op->name, signature(cx, op));
    for (uint32_t i = 0; i < call->argc; i++) {
        const struct la_param *p = &op->params[i < n ? i : n - 1];
        const struct la_value *v = &call->args[i];
        if (!(p->kinds & v->kind))
            la_fail_arg(cx, i, LA_E_kind, "%s must be %s, not %s (%s)%s", p->name,
                        la_kinds_text(cx, p->kinds), la_kinds_text(cx, v->kind),
                        la_show(cx, la_value_node(cx, *v)), hint(cx, p->kinds, v));
    }
}

struct la_value la_run(struct la_ctx *cx, const struct la_call *call)
{
    const struct la_call *const outer = cx->call;
    cx->call = call;
    check_args(cx, call);
    la_trace_indent(cx, 1);
    const struct la_value v = call->op->run(cx, call);
    la_trace_indent(cx, -1);
    if (cx->trace)
        la_trace_call(cx, call, v);
    cx->call = outer;
    return v;
}

struct application {
    struct la_call *call;
    struct la_value value;
};

static void apply(struct la_ctx *cx, void *arg)
{
    struct application *a = arg;
    a->value = la_run(cx, a->call);
}

bool la_apply(struct la_ctx *cx, struct la_call *call, struct la_value *out)
{
    struct application a = {.call = call};
    if (!la_try(cx, apply, &a))
        return false;
    *out = a.value;
    return true;
}
