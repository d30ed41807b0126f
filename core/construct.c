/* construct.c: what a type makes of values.
 *
 *     int(size(x))   int{2}   Layout{shape, stride}   Shape<int,_4>{2, _4{}}   bool b = rank(x);   float(3)
 *
 * An integer type makes a static integer a run-time one; Layout is make_layout, a tuple type make_tuple; a
 * type of data makes data. Any other type takes one value and leaves it as it is. */
#include "program.h"

#include <inttypes.h>
#include <string.h>

static bool is_one_of(struct word w, const char *const *names)
{
    for (; *names; names++)
        if ((*names)[0] == w.text[0] && la_word_is(w, *names))
            return true;
    return false;
}

static bool is_integer_type(struct word w)
{
    static const char *const names[] = {"int",     "unsigned", "long",      "short",    "signed",  "size_t",
                                        "int8_t",  "uint8_t",  "int16_t",   "uint16_t", "int32_t", "uint32_t",
                                        "int64_t", "uint64_t", "ptrdiff_t", NULL};
    return is_one_of(w, names);
}

static const struct la_binding *in_sight(struct parser *p, struct word w)
{
    const struct la_binding *b = p->names;
    while (b && !la_word_is(w, b->name))
        b = b->next;
    return b;
}

unsigned la_kind_of_type(struct parser *p, struct word type)
{
    static const char *const tuples[] = {"Shape", "Stride", "Coord",    "Step",
                                         "Tile",  "tuple",  "IntTuple", NULL};
    if (la_word_is(type, "Layout"))
        return LA_K_LAYOUT;
    if (is_one_of(type, tuples))
        return LA_K_TUPLE;
    const struct la_binding *b = in_sight(p, type);
    return b ? b->value.kind : 0;
}

struct word la_resolved(struct parser *p, struct word type)
{
    const struct la_binding *b = in_sight(p, type);
    if (b && b->value.kind == LA_K_TYPE)
        return (struct word){b->value.type->name, type.at, strlen(b->value.type->name)};
    return type;
}

bool la_zero_of_type(struct parser *p, struct word type, struct la_value *out)
{
    type = la_resolved(p, type);
    if (is_integer_type(type))
        *out = la_value_tuple(la_int(p->cx, 0, p->static_integers));
    else if (la_word_is(type, "bool"))
        *out = la_truth(false);
    else
        return false;
    return true;
}

struct la_value la_converted(struct parser *p, struct word type, struct la_value v, size_t start)
{
    type = la_resolved(p, type);
    if (la_is_data(v))
        return v;
    if (la_is_data_type(type))
        return la_data();
    if (la_word_is(type, "bool"))
        return la_truth(la_truth_of(p, v, start));
    if (!is_integer_type(type))
        return v;
    if (v.kind == LA_K_BOOL)
        return la_value_tuple(la_int(p->cx, v.truth, p->static_integers));
    if (v.kind != LA_K_INT || v.tuple->path)
        la_syntax(p, start, p->at - start, LA_E_kind, "only an integer can be converted to %.*s, not %s",
                  (int)type.len, type.text, la_kinds_text(p->cx, v.kind));
    return la_value_tuple(la_int(p->cx, v.tuple->value, p->static_integers));
}

static struct la_value call(struct parser *p, const char *op, uint32_t argc, const struct la_value *args,
                            struct la_span at)
{
    struct la_call *call = la_alloc(p->cx, sizeof *call);
    call->op = la_op_find(op, strlen(op));
    call->argc = argc;
    call->targc = 0;
    memcpy(call->args, args, argc * sizeof *args);
    struct la_span *spans = la_alloc(p->cx, (argc + 1) * sizeof *spans);
    for (uint32_t i = 0; i <= argc; i++)
        spans[i] = at;
    p->cx->spans = spans;
    p->cx->blame = -1;
    const struct la_value v = la_run(p->cx, call);
    p->cx->spans = NULL;
    return v;
}

struct la_value la_constructed(struct parser *p, unsigned kind, struct word type, uint32_t argc,
                               const struct la_value *args, struct la_span at)
{
    const unsigned tuples = LA_K_TUPLE | LA_K_TILE;
    struct la_value v;
    if (argc == 0 && la_zero_of_type(p, type, &v))
        return v;
    if (la_is_data_type(la_resolved(p, type)))
        return la_data();
    if (kind == LA_K_LAYOUT && !(argc == 1 && args[0].kind & LA_K_ANYLAYOUT))
        return call(p, "make_layout", argc, args, at);
    if (kind & tuples && !(argc == 1 && args[0].kind & tuples))
        return call(p, "make_tuple", argc, args, at);
    if (argc != 1)
        la_syntax(p, at.at, at.len, LA_E_arity, "%.*s is made from one value, not %u", (int)type.len,
                  type.text, argc);
    return la_converted(p, type, args[0], at.at);
}

static struct la_value construct(struct parser *p, unsigned kind, struct word type, size_t start)
{
    const bool braces = la_next_is(p, '{');
    p->at++;
    struct la_value *args = la_alloc(p->cx, LA_MAX_ARGS * sizeof *args);
    struct la_span spans[LA_MAX_ARGS];
    const int templates = p->templates; /* arguments are run-time again */
    p->templates = 0;
    const uint32_t n = la_arguments(p, braces ? '}' : ')', args, spans);
    p->templates = templates;
    return la_constructed(p, kind, type, n, args, (struct la_span){start, p->at - start});
}

/* cast = "static_cast" "<" TYPE ">" "(" expression ")" */
static struct la_value cast(struct parser *p)
{
    struct word w;
    la_expect(p, '<', "after static_cast");
    la_skip_space(p);
    const size_t start = p->at;
    if (!la_word(p, &w) || (p->at = start - 1, !la_skip_angles(p)))
        la_syntax(p, start, 1, LA_E_syntax, "it is written static_cast<int>(...)");
    const bool pointer = memchr(p->text + start, '*', p->at - start);
    if (!la_next_is(p, '('))
        la_expect(p, '(', "before what is converted");
    const struct la_value v = construct(p, LA_K_TYPE, w, w.at);
    return pointer ? la_data() : v;
}

/* {args} or (args) behind a type or behind what stands for one */
struct la_value la_made(struct parser *p, struct la_value v, size_t start, size_t end)
{
    const char *name = v.kind == LA_K_TYPE ? v.type->name : p->text + start;
    const struct word type = {name, start, v.kind == LA_K_TYPE ? strlen(name) : end - start};
    if (!(v.kind & (LA_K_TYPE | LA_K_LAYOUT | LA_K_TUPLE | LA_K_TILE)))
        la_syntax(p, p->at, 1, LA_E_syntax, "nothing can stand in {}: the value stands in the type");
    return construct(p, v.kind, type, start);
}

/* {} behind a type that holds its value */
bool la_empty_braces(struct parser *p, struct la_value v)
{
    const size_t at = p->at;
    if (!(v.kind == LA_K_TYPE && v.type->bits) && la_accept(p, '{') && la_accept(p, '}'))
        return true;
    p->at = at;
    return false;
}

/* ---- what a type tells of itself ---- */

static struct la_value integer(struct parser *p, int64_t n)
{
    return la_value_tuple(la_int(p->cx, n, p->static_integers || p->templates > 0));
}

static struct la_value trait_bits(struct parser *p, struct word w, const struct la_value *args)
{
    if (args[0].kind != LA_K_TYPE || args[0].type->bits == 0)
        la_syntax(p, w.at, p->at - w.at, LA_E_kind, "%.*s is asked of a type like half_t, not of %s",
                  (int)w.len, w.text, la_kinds_text(p->cx, args[0].kind));
    return integer(p, args[0].type->bits);
}

/* uint_byte_t<16>, uint_bit_t<128>: uint128_t */
static struct la_value trait_unsigned(struct parser *p, struct word w, const struct la_value *args)
{
    enum { MOST = 1024 }; /* bits of a type: more than any has */
    const int64_t unit = la_word_is(w, "uint_byte_t") ? 8 : 1,
                  n = args[0].kind == LA_K_INT ? args[0].tuple->value : 0;
    const char *name = la_format(p->cx, "uint%" PRId64 "_t", n > 0 && n <= MOST ? n * unit : 0);
    const struct la_type *type = la_type_find(name, strlen(name));
    if (!type)
        la_syntax(p, w.at, p->at - w.at, LA_E_kind, "there is no unsigned integer of so many bits");
    return (struct la_value){.kind = LA_K_TYPE, .type = type};
}

/* Known when the program is compiled: its type is empty. */
static struct la_value trait_static(struct parser *p, struct word w, const struct la_value *args)
{
    (void)p, (void)w;
    const struct la_value v = args[0];
    if (v.kind & LA_K_ANYLAYOUT)
        return la_truth(v.layout.shape->is_static && v.layout.stride->is_static &&
                        (!v.layout.offset || v.layout.offset->is_static));
    return la_truth(!(v.kind & (LA_K_INTTUPLE | LA_K_TILE)) || v.tuple->is_static);
}

/* Types are the same when CuTe prints them the same; of data nobody knows. */
static struct la_value trait_same(struct parser *p, struct word w, const struct la_value *args)
{
    (void)w;
    if (la_is_data(args[0]) || la_is_data(args[1]))
        return la_data();
    return la_truth(
        strcmp(la_print(p->cx, &args[0], LA_SPELL_CUTE), la_print(p->cx, &args[1], LA_SPELL_CUTE)) == 0);
}

static struct la_value trait_itself(struct parser *p, struct word w, const struct la_value *args)
{
    (void)p, (void)w;
    return args[0];
}

/* conditional_t<truth, A, B> */
static struct la_value trait_choice(struct parser *p, struct word w, const struct la_value *args)
{
    return args[la_truth_of(p, args[0], w.at) ? 1 : 2];
}

static const struct trait {
    const char *name;
    uint32_t argc;
    struct la_value (*ask)(struct parser *p, struct word w, const struct la_value *args);
} traits[] = {
    {"sizeof_bits", 1, trait_bits},      {"sizeof_bits_v", 1, trait_bits},
    {"uint_byte_t", 1, trait_unsigned},  {"uint_bit_t", 1, trait_unsigned},
    {"is_static", 1, trait_static},      {"is_static_v", 1, trait_static},
    {"is_same", 2, trait_same},          {"is_same_v", 2, trait_same},
    {"conditional_t", 3, trait_choice},  {"conditional", 3, trait_choice},
    {"remove_cvref_t", 1, trait_itself}, {"remove_reference_t", 1, trait_itself},
    {"remove_const_t", 1, trait_itself}, {"decay_t", 1, trait_itself},
};

/* rank_v<T> is rank(T), as an integer of run time. */
static struct la_value ask_operation(struct parser *p, struct word w, const struct la_op *op,
                                     const struct la_value *args)
{
    const struct la_value v = call(p, op->name, 1, args, (struct la_span){w.at, p->at - w.at});
    return v.kind == LA_K_INT ? integer(p, v.tuple->value) : v;
}

/* trait = NAME "<" types ">", as a value: ::value behind it changes nothing */
static bool trait(struct parser *p, struct word w, struct la_value *out)
{
    const bool is_v = w.len > 2 && memcmp(w.text + w.len - 2, "_v", 2) == 0;
    const struct la_op *op = is_v ? la_op_find(w.text, w.len - 2) : NULL;
    const struct trait *t = NULL;
    for (size_t i = 0; i < sizeof traits / sizeof *traits && !t; i++)
        t = la_word_is(w, traits[i].name) ? &traits[i] : NULL;
    if ((!op && !t) || !la_accept(p, '<'))
        return false;
    struct la_value *args = la_alloc(p->cx, LA_MAX_ARGS * sizeof *args);
    struct la_span spans[LA_MAX_ARGS];
    p->templates++;
    const uint32_t n = la_arguments(p, '>', args, spans);
    p->templates--;
    if (n != (t ? t->argc : 1))
        la_syntax(p, w.at, p->at - w.at, LA_E_arity, "%.*s takes %u in <...>, not %u", (int)w.len, w.text,
                  t ? t->argc : 1, n);
    *out = t ? t->ask(p, w, args) : ask_operation(p, w, op, args);
    return true;
}

/* sizeof(half_t) is 2; of what is no element only the running program knows it. */
static struct la_value size_of(struct parser *p)
{
    enum { BYTE = 8 };
    struct la_value v;
    const size_t open = p->at++;
    const bool is_known = p->execution && la_attempt(p, &v) && v.kind == LA_K_TYPE && v.type->bits;
    p->at = open;
    la_skip_brackets(p);
    return is_known ? integer(p, (v.type->bits + BYTE - 1) / BYTE) : la_data();
}

/* A type, what is made by one, or a name of the host. */
struct la_value la_named_type(struct parser *p, struct word w)
{
    struct la_value v;
    if (la_word_is(w, "static_cast"))
        return cast(p);
    if (la_word_is(w, "sizeof") && la_next_is(p, '('))
        return size_of(p);
    if (trait(p, w, &v))
        return v;
    w = la_qualified(p, w);
    const unsigned kind = la_kind_of_type(p, w);
    if (la_type_spelling(p, w, &v))
        return kind && la_next_is(p, '(') ? construct(p, kind, w, w.at) : v;
    if (kind && (la_next_is(p, '(') || la_next_is(p, '{')))
        return construct(p, kind, w, w.at);
    if (!la_host_name(p, w, &v))
        la_unknown(p, w);
    return v;
}
