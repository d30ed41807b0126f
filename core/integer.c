/* integer.c: static and run-time integers and scaled bases: CuTe's arithmetic on all three.
 *
 * An integer is static when its value is part of its type (_3) and run-time otherwise (3). static op static is static,
 * anything with a run-time integer is run-time, but for what CuTe proves: _0 * n, _0 / n, _0 % n and n % _1 are _0.
 * A scaled basis _2@1 is the tuple (_0,_2): it multiplies like an integer and adds up to tuples.
 * Every result is checked: beyond 64 bits is the error `overflow`, never a wrong number. */
#include "internal.h"

#include <string.h>

const struct la_node la_zero[1] = {{.value = 0, .span = 1, .kind = LA_INT, .is_static = true}};
const struct la_node la_one[1] = {{.value = 1, .span = 1, .kind = LA_INT, .is_static = true}};
const struct la_node la_any[1] = {{.value = 0, .span = 1, .kind = LA_ANY, .is_static = true}};

const struct la_node *la_int(struct la_ctx *cx, int64_t value, bool is_static)
{
    if (is_static && value == 0)
        return la_zero;
    if (is_static && value == 1)
        return la_one;
    struct la_node *n = la_alloc(cx, sizeof *n);
    *n = (struct la_node){.value = value, .span = 1, .kind = LA_INT, .is_static = is_static};
    return n;
}

const struct la_node *la_basis(struct la_ctx *cx, const struct la_node *scale, uint32_t len,
                               const uint32_t *path)
{
    if (len == 0)
        return scale;
    const uint32_t inner = scale->path ? scale->path->len : 0; /* a basis of a basis: the paths join */
    struct la_path *p = la_alloc(cx, sizeof *p + (len + inner) * sizeof p->at[0]);
    p->len = len + inner;
    memcpy(p->at, path, len * sizeof *path);
    if (inner)
        memcpy(p->at + len, scale->path->at, inner * sizeof *path);
    struct la_node *n = la_alloc(cx, sizeof *n);
    *n = *scale;
    n->path = p;
    return n;
}

static const struct la_node *with_path(struct la_ctx *cx, const struct la_node *value,
                                       const struct la_node *basis)
{
    struct la_node *n = la_alloc(cx, sizeof *n);
    *n = *value;
    n->path = basis->path;
    return n;
}

const struct la_node *la_basis_value(struct la_ctx *cx, const struct la_node *a)
{
    return la_is_basis(a) ? la_int(cx, a->value, a->is_static) : a;
}

static bool same_path(const struct la_node *a, const struct la_node *b)
{
    if (!a->path || !b->path)
        return a->path == b->path;
    return a->path->len == b->path->len &&
           memcmp(a->path->at, b->path->at, a->path->len * sizeof a->path->at[0]) == 0;
}

bool la_proven_equal(const struct la_node *a, const struct la_node *b)
{
    return a->kind == LA_INT && b->kind == LA_INT && a->is_static && b->is_static && a->value == b->value &&
           same_path(a, b);
}

int64_t la_to_i64(struct la_ctx *cx, const struct la_node *a, const char *what)
{
    if (a->kind != LA_INT || a->path)
        la_fail(cx, LA_E_kind, "%s must be an integer, not %s", what, la_show(cx, a));
    return a->value;
}

/* Both are plain integers, or the operation has no meaning in CuTe. */
static void need_integers(struct la_ctx *cx, const char *op, const struct la_node *a, const struct la_node *b)
{
    if (a->kind != LA_INT || b->kind != LA_INT || a->path || b->path)
        la_fail(cx, LA_E_kind, "%s %s %s has no meaning in CuTe", la_show(cx, a), op, la_show(cx, b));
}

static _Noreturn void overflow(struct la_ctx *cx, const char *op, const struct la_node *a,
                               const struct la_node *b)
{
    la_fail(cx, LA_E_overflow, "%s %s %s does not fit in 64 bits", la_show(cx, a), op, la_show(cx, b));
}

static const struct la_node *binary(struct la_ctx *cx, int64_t value, const struct la_node *a,
                                    const struct la_node *b)
{
    return la_int(cx, value, a->is_static && b->is_static);
}

const struct la_node *la_as_tuple(struct la_ctx *cx, const struct la_node *a)
{
    if (!la_is_basis(a))
        return a;
    struct la_builder b;
    la_build(&b, cx);
    uint32_t handles[LA_MAX_DEPTH];
    const uint32_t len = a->path->len;
    if (len >= LA_MAX_DEPTH)
        la_fail(cx, LA_E_limit, "a basis deeper than %d levels", LA_MAX_DEPTH);
    for (uint32_t i = 0; i < len; i++) {
        handles[i] = la_build_open(&b);
        for (uint32_t k = 0; k < a->path->at[i]; k++)
            la_build_add(&b, la_zero);
    }
    la_build_add(&b, la_basis_value(cx, a));
    for (uint32_t i = len; i-- > 0;)
        la_build_close(&b, handles[i]);
    return la_build_done(&b);
}

static const struct la_node *add_tuples(struct la_ctx *cx, const struct la_node *a, const struct la_node *b);

const struct la_node *la_add(struct la_ctx *cx, const struct la_node *a, const struct la_node *b)
{
    if (a->kind == LA_TUPLE || b->kind == LA_TUPLE || a->path || b->path) {
        if (la_is(a, 0))
            return b;
        if (la_is(b, 0))
            return a;
        return add_tuples(cx, la_as_tuple(cx, a), la_as_tuple(cx, b));
    }
    need_integers(cx, "+", a, b);
    int64_t r;
    if (__builtin_add_overflow(a->value, b->value, &r))
        overflow(cx, "+", a, b);
    return binary(cx, r, a, b);
}

/* Arithmetic tuples: mode by mode, the shorter one continued with _0. */
static const struct la_node *add_tuples(struct la_ctx *cx, const struct la_node *a, const struct la_node *b)
{
    if (a->kind != LA_TUPLE || b->kind != LA_TUPLE)
        la_fail(cx, LA_E_kind, "%s + %s has no meaning in CuTe", la_show(cx, a), la_show(cx, b));
    const uint32_t ra = la_rank(a), rb = la_rank(b), r = ra > rb ? ra : rb;
    struct la_builder out;
    la_build(&out, cx);
    const uint32_t h = la_build_open(&out);
    const struct la_node *x = a + 1, *y = b + 1;
    for (uint32_t i = 0; i < r; i++) {
        la_build_add(&out, la_add(cx, i < ra ? x : la_zero, i < rb ? y : la_zero));
        if (i < ra)
            x = la_next(x);
        if (i < rb)
            y = la_next(y);
    }
    la_build_close(&out, h);
    return la_build_done(&out);
}

const struct la_node *la_sub(struct la_ctx *cx, const struct la_node *a, const struct la_node *b)
{
    need_integers(cx, "-", a, b);
    int64_t r;
    if (__builtin_sub_overflow(a->value, b->value, &r))
        overflow(cx, "-", a, b);
    return binary(cx, r, a, b);
}

const struct la_node *la_mul(struct la_ctx *cx, const struct la_node *a, const struct la_node *b)
{
    if (a->kind == LA_INT && b->kind == LA_INT && (a->path || b->path)) {
        if (a->path && b->path)
            la_fail(cx, LA_E_kind, "%s * %s has no meaning in CuTe", la_show(cx, a), la_show(cx, b));
        return with_path(cx, la_mul(cx, la_basis_value(cx, a), la_basis_value(cx, b)), a->path ? a : b);
    }
    need_integers(cx, "*", a, b);
    if (la_is(a, 0) || la_is(b, 0))
        return la_zero;
    int64_t r;
    if (__builtin_mul_overflow(a->value, b->value, &r))
        overflow(cx, "*", a, b);
    return binary(cx, r, a, b);
}

static void need_divisor(struct la_ctx *cx, const char *op, const struct la_node *a, const struct la_node *b)
{
    need_integers(cx, op, a, b);
    if (b->value == 0)
        la_fail(cx, LA_E_domain, "%s %s %s divides by zero", la_show(cx, a), op, la_show(cx, b));
    if (b->value == -1 && a->value == INT64_MIN)
        overflow(cx, op, a, b);
}

const struct la_node *la_div(struct la_ctx *cx, const struct la_node *a, const struct la_node *b)
{
    if (a->kind == LA_INT && a->path && a->path->len == 1)
        return with_path(cx, la_div(cx, la_basis_value(cx, a), b), a);
    need_divisor(cx, "/", a, b);
    if (la_is(a, 0))
        return la_zero;
    return binary(cx, a->value / b->value, a, b);
}

const struct la_node *la_mod(struct la_ctx *cx, const struct la_node *a, const struct la_node *b)
{
    need_divisor(cx, "%", a, b);
    if (la_is(a, 0) || la_is(b, 1) || la_is(b, -1))
        return la_zero;
    return binary(cx, a->value % b->value, a, b);
}

const struct la_node *la_neg(struct la_ctx *cx, const struct la_node *a)
{
    return la_is_basis(a) ? with_path(cx, la_neg(cx, la_basis_value(cx, a)), a) : la_sub(cx, la_zero, a);
}

const struct la_node *la_abs(struct la_ctx *cx, const struct la_node *a)
{
    if (a->kind == LA_INT && a->value >= 0)
        return a;
    return la_neg(cx, a);
}

const struct la_node *la_signum(struct la_ctx *cx, const struct la_node *a)
{
    need_integers(cx, "signum", a, la_zero);
    return la_int(cx, (a->value > 0) - (a->value < 0), a->is_static);
}

const struct la_node *la_min(struct la_ctx *cx, const struct la_node *a, const struct la_node *b)
{
    need_integers(cx, "min", a, b);
    return binary(cx, a->value < b->value ? a->value : b->value, a, b);
}

const struct la_node *la_max(struct la_ctx *cx, const struct la_node *a, const struct la_node *b)
{
    need_integers(cx, "max", a, b);
    return binary(cx, a->value > b->value ? a->value : b->value, a, b);
}

const struct la_node *la_gcd(struct la_ctx *cx, const struct la_node *a, const struct la_node *b)
{
    need_integers(cx, "gcd", a, b);
    int64_t x = a->value, y = b->value;
    if (x == INT64_MIN || y == INT64_MIN)
        overflow(cx, "gcd", a, b);
    x = x < 0 ? -x : x;
    y = y < 0 ? -y : y;
    while (y) {
        const int64_t t = x % y;
        x = y;
        y = t;
    }
    return binary(cx, x, a, b);
}

/* (a + b - 1) / b, as CuTe writes it, so that staticness comes out as CuTe's. */
static const struct la_node *ceil_div_integers(struct la_ctx *cx, const struct la_node *a,
                                               const struct la_node *b)
{
    if (la_is_basis(a))
        return with_path(cx, ceil_div_integers(cx, la_basis_value(cx, a), b), a);
    return la_div(cx, la_sub(cx, la_add(cx, a, b), la_one), b);
}

/* Rounded up, after CuTe's check: of static integers one must divide the other. */
static const struct la_node *shape_div_integers(struct la_ctx *cx, const struct la_node *a,
                                                const struct la_node *b)
{
    need_divisor(cx, "/", a, b);
    if (a->is_static && b->is_static && a->value % b->value != 0 &&
        (a->value == 0 || b->value % a->value != 0))
        la_fail(cx, LA_E_divisibility, "neither %s nor %s divides the other", la_show(cx, a), la_show(cx, b));
    return ceil_div_integers(cx, a, b);
}

/* CuTe's four cases, shared by ceil_div and shape_div:
 *   tuple tuple: mode by mode;  tuple int: the divisor is used up from left to right;  int tuple: by the product. */
static const struct la_node *
divide_shape(struct la_ctx *cx, const struct la_node *a, const struct la_node *b, bool pad,
             const struct la_node *(*op)(struct la_ctx *cx, const struct la_node *x, const struct la_node *y))
{
    if (a->kind != LA_TUPLE)
        return op(cx, a, b->kind == LA_TUPLE ? la_product(cx, b) : b);
    struct la_builder out;
    la_build(&out, cx);
    const uint32_t h = la_build_open(&out);
    const uint32_t ra = la_rank(a), rb = la_rank(b);
    const bool each = b->kind == LA_TUPLE;
    if (each && (rb > ra || (!pad && rb != ra)))
        la_fail(cx, LA_E_rank_mismatch, "the ranks of %s and %s differ", la_show(cx, a), la_show(cx, b));
    const struct la_node *x = a + 1, *y = each ? b + 1 : b;
    for (uint32_t i = 0; i < ra; i++, x = la_next(x)) {
        la_build_add(&out, divide_shape(cx, x, each && i >= rb ? la_one : y, pad, op));
        if (!each)
            y = divide_shape(cx, y, x, pad, op);
        else if (i < rb)
            y = la_next(y);
    }
    la_build_close(&out, h);
    return la_build_done(&out);
}

const struct la_node *la_ceil_div(struct la_ctx *cx, const struct la_node *a, const struct la_node *b)
{
    return divide_shape(cx, a, b, true, ceil_div_integers);
}

const struct la_node *la_shape_div(struct la_ctx *cx, const struct la_node *a, const struct la_node *b)
{
    return divide_shape(cx, a, b, false, shape_div_integers);
}
