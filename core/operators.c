/* operators.c: the operators of C++ between two operands, and ?:.
 *
 *     2 * M + 1    i < size(x) && !(i % 2 == 0)    a == b    x ^ ((x & 448) >> 3)    rank(x) == 2 ? 1 : 0
 *
 * Arithmetic is part of a shape or a stride, so a layout's ':' binds weaker than it, and stronger than all
 * others. == asks for the same numbers in the same places, static or not, as CuTe does. What && and ?: do
 * not need is not evaluated. In <...> no > compares, in a stream no << shifts. Whatever meets data of the
 * host is data again. */
#include "parse.h"

#include <inttypes.h>
#include <string.h>

/* The higher, the stronger. */
enum binding { OR, AND, BITS_OR, BITS_XOR, BITS_AND, EQUAL, ORDER, SHIFT, SUM, PRODUCT };

/* A text stands before those that it begins with. */
static const struct operation {
    const char *text;
    enum binding binds;
} operations[] = {
    {"||", OR},    {"or", OR},    {"&&", AND},    {"and", AND},    {"==", EQUAL},
    {"!=", EQUAL}, {"<<", SHIFT}, {">>", SHIFT},  {"<=", ORDER},   {">=", ORDER},
    {"<", ORDER},  {">", ORDER},  {"|", BITS_OR}, {"^", BITS_XOR}, {"&", BITS_AND},
    {"+", SUM},    {"-", SUM},    {"*", PRODUCT}, {"/", PRODUCT},  {"%", PRODUCT},
};

/* The operator here that binds at least so strongly, passed; or NULL. */
static const struct operation *operation(struct parser *p, enum binding least)
{
    la_skip_space(p);
    const char *s = p->text + p->at;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        const struct operation *o = &operations[i];
        const size_t n = strlen(o->text);
        if (strncmp(s, o->text, n) != 0)
            continue;
        const bool angle = s[0] == '<' || s[0] == '>', word = o->text[0] == 'o' || o->text[0] == 'a';
        if (o->binds < least || (angle && p->templates > 0) || (p->streams && strcmp(o->text, "<<") == 0) ||
            (word ? !la_accept_word(p, o->text) : strchr("|^&<>+-*/%", s[0]) && s[n] == '='))
            return NULL;
        p->at += word ? 0 : n;
        return o;
    }
    return NULL;
}

bool la_truth_of(struct parser *p, struct la_value v, size_t start)
{
    if (la_is_data(v))
        la_syntax(p, start, p->at - start, LA_E_kind,
                  "this depends on data, which only the running program has: write true or false");
    if (v.kind != LA_K_BOOL && v.kind != LA_K_INT)
        la_syntax(p, start, p->at - start, LA_E_kind, "a condition is true or false, not %s",
                  la_kinds_text(p->cx, v.kind));
    return v.kind == LA_K_BOOL ? v.truth : v.tuple->value != 0;
}

static int64_t number(struct parser *p, struct la_value v, size_t start, const char *op)
{
    if (v.kind == LA_K_BOOL)
        return v.truth;
    if (v.kind != LA_K_INT || v.tuple->path)
        la_syntax(p, start, p->at - start, LA_E_kind, "%s takes integers, not %s", op,
                  la_kinds_text(p->cx, v.kind));
    return v.tuple->value;
}

static struct la_value equal(struct parser *p, const char *op, struct la_value a, struct la_value b,
                             size_t start)
{
    const unsigned numbers = LA_K_BOOL | LA_K_INT;
    p->compared[0] = a;
    p->compared[1] = b;
    bool same;
    if (a.kind & numbers && b.kind & numbers &&
        !((a.kind | b.kind) == LA_K_INT && (a.tuple->path || b.tuple->path)))
        same = number(p, a, start, op) == number(p, b, start, op);
    else
        same = strcmp(la_print(p->cx, &a, LA_SPELL_TEXT), la_print(p->cx, &b, LA_SPELL_TEXT)) == 0;
    return la_truth(same == (op[0] == '='));
}

static struct la_value ordered(struct parser *p, const char *op, struct la_value a, struct la_value b,
                               size_t start)
{
    const int64_t m = number(p, a, start, op), n = number(p, b, start, op);
    p->compared[0] = a;
    p->compared[1] = b;
    return la_truth(op[0] == '<' ? (op[1] ? m <= n : m < n) : (op[1] ? m >= n : m > n));
}

struct la_value la_arithmetic(struct parser *p, char op, struct la_value a, struct la_value b, size_t start)
{
    if (la_is_data(a) || la_is_data(b))
        return la_data();
    la_need_integers(p, start, a, "an operand");
    la_need_integers(p, start, b, "an operand");
    struct la_ctx *const cx = p->cx;
    AT(p, start,
       a = la_value_tuple(op == '+'   ? la_add(cx, a.tuple, b.tuple)
                          : op == '-' ? la_sub(cx, a.tuple, b.tuple)
                          : op == '*' ? la_mul(cx, a.tuple, b.tuple)
                          : op == '/' ? la_div(cx, a.tuple, b.tuple)
                                      : la_mod(cx, a.tuple, b.tuple)));
    return a;
}

static struct la_value bits(struct parser *p, const char *op, struct la_value a, struct la_value b,
                            size_t start)
{
    const int64_t m = number(p, a, start, op), n = number(p, b, start, op);
    const bool is_static = a.kind == LA_K_INT && b.kind == LA_K_INT && a.tuple->is_static &&
                           b.tuple->is_static;
    int64_t r = op[0] == '|' ? m | n : op[0] == '^' ? m ^ n : m & n;
    if (op[0] == '<' || op[0] == '>') {
        if (n < 0 || n > 62 || m < 0 || (op[0] == '<' && m > INT64_MAX >> n))
            la_syntax(p, start, p->at - start, LA_E_overflow, "%" PRId64 " %s %" PRId64 " leaves 64 bits", m,
                      op, n);
        r = op[0] == '<' ? m << n : m >> n;
    }
    return la_value_tuple(la_int(p->cx, r, is_static));
}

/* What && or || leaves out. */
static void skip_operand(struct parser *p, bool of_and)
{
    while (la_skip_to(p, ",;?:|")) {
        const char *s = p->text + p->at;
        const bool scope = s[0] == ':' && s[1] == ':', or = s[0] == '|' && (!of_and || s[1] != '|');
        if (!scope && ! or)
            return;
        p->at += scope ? 2 : 1;
    }
}

static struct la_value climb(struct parser *p, struct la_value a, size_t start, enum binding least);

/* Data gives data again, but for two characters: 'N' == 'T' is known. */
static struct la_value with_data(const char *op, struct la_value a, struct la_value b)
{
    const bool characters = la_is_data(a) && la_is_data(b) && a.text[0] == '\'' && b.text[0] == '\'';
    if (!characters || op[1] != '=')
        return la_data();
    return la_truth((strcmp(a.text, b.text) == 0) == (op[0] == '='));
}

static struct la_value apply(struct parser *p, const struct operation *o, struct la_value a, size_t start)
{
    if (o->binds <= AND && !la_is_data(a) && la_truth_of(p, a, start) != (o->binds == AND)) {
        skip_operand(p, o->binds == AND);
        return la_truth(o->binds == OR);
    }
    la_skip_space(p);
    const size_t at = p->at;
    p->operand = at + 1;
    const struct la_value first = o->binds >= SUM ? la_unary(p) : la_operand(p);
    const struct la_value b = climb(p, first, at, o->binds + 1);
    if (la_is_data(a) || la_is_data(b))
        return with_data(o->text, a, b);
    if (o->binds >= SUM)
        return la_arithmetic(p, o->text[0], a, b, start);
    if (o->binds <= AND)
        return la_truth(la_truth_of(p, b, at));
    return o->binds == EQUAL   ? equal(p, o->text, a, b, start)
           : o->binds == ORDER ? ordered(p, o->text, a, b, start)
                               : bits(p, o->text, a, b, start);
}

static struct la_value climb(struct parser *p, struct la_value a, size_t start, enum binding least)
{
    const struct operation *o;
    while ((o = operation(p, least))) {
        a = apply(p, o, a, start);
        p->operated = p->at;
    }
    return a;
}

/* sum = unary { ("+" | "-" | "*" | "/" | "%") unary } */
struct la_value la_sum(struct parser *p)
{
    la_skip_space(p);
    const size_t start = p->at;
    const struct la_value v = la_unary(p);
    const size_t end = p->at;
    la_skip_space(p);
    const char c = p->text[p->at];
    if (c && strchr("+-*/%", c))
        return climb(p, v, start, SUM);
    p->at = end;
    return v;
}

/* To the ':' of the '?' in front; false: there is none. */
static bool skip_to_colon(struct parser *p)
{
    while (la_skip_to(p, ":;") && p->text[p->at] == ':')
        if (p->text[p->at + 1] != ':')
            return true;
        else
            p->at += 2;
    return false;
}

/* choice = condition "?" expression ":" expression */
static struct la_value choice(struct parser *p, struct la_value condition, size_t start)
{
    const size_t outer = p->colon, question = p->at - 1;
    const bool truth = !la_is_data(condition) && la_truth_of(p, condition, start);
    la_skip_space(p);
    const size_t first = p->at;
    if (!skip_to_colon(p))
        la_syntax(p, question, 1, LA_E_syntax, "a '?' needs a ':'");
    const size_t colon = p->at++;
    la_skip_space(p);
    const size_t second = p->at;
    struct la_value v = la_data();
    if (!la_is_data(condition)) {
        p->at = truth ? first : second;
        p->operand = p->at + 1;
        p->colon = truth ? colon : outer;
        v = la_expression(p);
        p->colon = outer;
        if (truth && p->at != colon)
            la_expect(p, ':', "between what ?: chooses from");
    }
    if (truth || la_is_data(condition)) {
        p->at = second;
        la_skip_to(p, ",;");
    }
    return v;
}

struct la_value la_operators(struct parser *p, struct la_value a, size_t start)
{
    a = climb(p, a, start, OR);
    if (la_accept(p, '?')) {
        a = choice(p, a, start);
        p->operated = p->at;
    }
    return a;
}
