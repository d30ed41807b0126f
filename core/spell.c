/* spell.c: C++ spellings of values in types: Int<3>, Shape<_2,_3>, Swizzle<3,3,3>, Copy_Atom<..., half_t>.
 *
 * A type of CuTe's that has no run-time part is its value, so Shape<_2,_3> is read as (_2,_3), and a {}
 * behind it does nothing. Sw<3,3,3> and M_8|(16&48)=24 are what CuTe prints for a swizzle and for the offset
 * of a sliced one. */
#include "parse.h"

#include <stdlib.h>
#include <string.h>

static struct la_value tuple_value(struct parser *p, uint32_t n, const struct la_value *args)
{
    const struct la_node *modes[LA_MAX_ARGS];
    for (uint32_t i = 0; i < n; i++)
        modes[i] = la_value_node(p->cx, args[i]);
    return la_value_tuple(la_tuple(p->cx, n, modes));
}

/* <...> behind a name; arguments in it are static. */
static uint32_t template_arguments(struct parser *p, struct la_value *args)
{
    struct la_span spans[LA_MAX_ARGS];
    if (!la_accept(p, '<'))
        return 0;
    p->templates++;
    const uint32_t n = la_arguments(p, '>', args, spans);
    p->templates--;
    return n;
}

static void need(struct parser *p, struct word w, uint32_t n, uint32_t least, uint32_t most, const char *form)
{
    if (n < least || n > most)
        la_syntax(p, w.at, p->at - w.at, LA_E_arity, "it is written %s", form);
}

static int64_t integer(struct parser *p, struct word w, struct la_value v)
{
    if (v.kind != LA_K_INT || v.tuple->path)
        la_syntax(p, w.at, p->at - w.at, LA_E_kind, "%.*s<...> takes integers", (int)w.len, w.text);
    return v.tuple->value;
}

static struct la_value spell_int(struct parser *p, struct word w, uint32_t n, const struct la_value *args)
{
    need(p, w, n, 1, 2, "Int<3>"); /* constant<int,3> has a type in front */
    return la_value_tuple(la_int(p->cx, integer(p, w, args[n - 1]), true));
}

static struct la_value spell_tuple(struct parser *p, struct word w, uint32_t n, const struct la_value *args)
{
    (void)w;
    return tuple_value(p, n, args);
}

static struct la_value spell_layout(struct parser *p, struct word w, uint32_t n, const struct la_value *args)
{
    need(p, w, n, 1, 2, "Layout<Shape<_2,_3>, Stride<_3,_1>>");
    for (uint32_t i = 0; i < n; i++)
        if (!(args[i].kind & (LA_K_INTTUPLE | (i == 1 ? LA_K_TYPE : 0))))
            la_syntax(p, w.at, p->at - w.at, LA_E_kind, "Layout<...> takes a shape and a stride");
    struct la_layout a;
    AT(p, w.at,
       a = n == 1                      ? la_layout_of(p->cx, args[0].tuple)
           : args[1].kind == LA_K_TYPE ? la_ordered_layout(p->cx, args[0].tuple, &args[1])
                                       : la_make_layout(p->cx, args[0].tuple, args[1].tuple));
    return la_value_layout(a);
}

static struct la_value spell_swizzle(struct parser *p, struct word w, uint32_t n, const struct la_value *args)
{
    need(p, w, n, 2, 3, "Swizzle<3,3,3>");
    const int64_t bits = integer(p, w, args[0]);
    struct la_value v = {.kind = LA_K_SWIZZLE};
    const int64_t base = integer(p, w, args[1]), shift = n == 3 ? integer(p, w, args[2]) : bits;
    AT(p, w.at, v.swizzle = la_make_swizzle(p->cx, bits, base, shift));
    return v;
}

static struct la_value basis_of(struct parser *p, struct word w, const struct la_node *scale, uint32_t n,
                                const struct la_value *args)
{
    uint32_t path[LA_MAX_ARGS];
    for (uint32_t i = 0; i < n; i++) {
        const int64_t mode = integer(p, w, args[i]);
        if (mode < 0 || mode > LA_MAX_BASIS_MODE)
            la_syntax(p, w.at, p->at - w.at, LA_E_limit, "a basis of a mode beyond %d", LA_MAX_BASIS_MODE);
        path[i] = (uint32_t)mode;
    }
    return la_value_tuple(la_basis(p->cx, scale, n, path));
}

static struct la_value spell_e(struct parser *p, struct word w, uint32_t n, const struct la_value *args)
{
    return basis_of(p, w, la_one, n, args);
}

static struct la_value spell_scaled_basis(struct parser *p, struct word w, uint32_t n,
                                          const struct la_value *args)
{
    need(p, w, n, 1, LA_MAX_ARGS, "ScaledBasis<_2,0,1>");
    integer(p, w, args[0]);
    return basis_of(p, w, args[0].tuple, n - 1, args + 1);
}

static const struct la_type *need_type(struct parser *p, struct word w, struct la_value v)
{
    if (v.kind != LA_K_TYPE || v.type->bits == 0)
        la_syntax(p, w.at, p->at - w.at, LA_E_kind, "%.*s<...> takes the type of an element", (int)w.len,
                  w.text);
    return v.type;
}

static struct la_value spell_complex(struct parser *p, struct word w, uint32_t n, const struct la_value *args)
{
    need(p, w, n, 1, 1, "complex<double>");
    const struct la_type *part = need_type(p, w, args[0]);
    return (struct la_value){.kind = LA_K_TYPE, .type = la_type_complex(p->cx, part)};
}

static struct la_value spell_sparse(struct parser *p, struct word w, uint32_t n, const struct la_value *args)
{
    need(p, w, n, 2, 2, "sparse_elem<2, half_t>");
    const int64_t sparsity = integer(p, w, args[0]);
    const struct la_type *element = need_type(p, w, args[1]);
    struct la_value v = {.kind = LA_K_TYPE};
    AT(p, w.at, v.type = la_type_sparse(p->cx, sparsity, element));
    return v;
}

/* ---- atoms and what is made of them ---- */

static const struct la_atom *need_atom(struct parser *p, struct word w, struct la_value v, const char *form)
{
    if (v.kind != LA_K_ATOM)
        la_syntax(p, w.at, p->at - w.at, LA_E_kind, "it is written %s; %s is no atom", form,
                  la_kinds_text(p->cx, v.kind));
    return v.object;
}

/* MMA_Atom<X>, MMA_Traits<X>, Copy_Traits<X>: X itself */
static struct la_value spell_traits(struct parser *p, struct word w, uint32_t n, const struct la_value *args)
{
    static const char form[] = "MMA_Atom<SM80_16x8x16_F32F16F16F32_TN>";
    need(p, w, n, 1, 1, form);
    need_atom(p, w, args[0], form);
    return args[0];
}

static struct la_value spell_copy_atom(struct parser *p, struct word w, uint32_t n,
                                       const struct la_value *args)
{
    static const char form[] = "Copy_Atom<UniversalCopy<uint128_t>, half_t>";
    need(p, w, n, 2, 2, form);
    const struct la_atom *op = need_atom(p, w, args[0], form);
    const struct la_type *type = need_type(p, w, args[1]);
    struct la_value v = {.kind = LA_K_ATOM};
    AT(p, w.at, v.object = la_copy_atom(p->cx, op, type));
    return v;
}

static struct la_value spell_tiled_mma(struct parser *p, struct word w, uint32_t n,
                                       const struct la_value *args)
{
    static const char form[] = "TiledMMA<MMA_Atom<...>, Layout<Shape<_2,_2,_1>>, Tile<_32,_32,_16>>";
    need(p, w, n, 2, 3, form);
    const struct la_atom *atom = need_atom(p, w, args[0], form);
    if (args[1].kind != LA_K_LAYOUT || (n > 2 && !(args[2].kind & (LA_K_TUPLE | LA_K_TILE))))
        la_syntax(p, w.at, p->at - w.at, LA_E_kind, "it is written %s", form);
    const struct la_node *permutation = n > 2 ? args[2].tuple : la_repeat(p->cx, 3, la_any);
    struct la_value v = {.kind = LA_K_TILED_MMA};
    AT(p, w.at, v.object = la_make_tiled_mma(p->cx, atom, args[1].layout, permutation));
    return v;
}

static struct la_value spell_tiled_copy(struct parser *p, struct word w, uint32_t n,
                                        const struct la_value *args)
{
    static const char form[] = "TiledCopy<Copy_Atom<...>, Layout of (thread, value), Shape of the tile>";
    need(p, w, n, 3, 3, form);
    const struct la_atom *atom = need_atom(p, w, args[0], form);
    if (args[1].kind != LA_K_LAYOUT || !(args[2].kind & (LA_K_TUPLE | LA_K_TILE)))
        la_syntax(p, w.at, p->at - w.at, LA_E_kind, "it is written %s", form);
    struct la_value v = {.kind = LA_K_TILED_COPY};
    AT(p, w.at, v.object = la_tiled_copy(p->cx, atom, args[1].layout, args[2].tuple));
    return v;
}

static const struct {
    const char *name;
    struct la_value (*make)(struct parser *p, struct word w, uint32_t n, const struct la_value *args);
} spellings[] = {
    {"Int", spell_int},
    {"C", spell_int},
    {"constant", spell_int},
    {"integral_constant", spell_int},
    {"Shape", spell_tuple},
    {"Stride", spell_tuple},
    {"Step", spell_tuple},
    {"Coord", spell_tuple},
    {"Tile", spell_tuple},
    {"tuple", spell_tuple},
    {"Layout", spell_layout},
    {"Swizzle", spell_swizzle},
    {"Sw", spell_swizzle},
    {"E", spell_e},
    {"ScaledBasis", spell_scaled_basis},
    {"complex", spell_complex},
    {"sparse_elem", spell_sparse},
    {"MMA_Atom", spell_traits},
    {"MMA_Traits", spell_traits},
    {"Copy_Traits", spell_traits},
    {"Copy_Atom", spell_copy_atom},
    {"TiledMMA", spell_tiled_mma},
    {"TiledCopy", spell_tiled_copy},
};

const char *la_spelling_at(size_t i)
{
    return i < sizeof spellings / sizeof *spellings ? spellings[i].name : NULL;
}

/* M_8|(16&48)=24: known bits, run-time bits, which they are, and the value. */
static bool mixed_bits(struct parser *p, struct word w, struct la_value *out)
{
    if (w.len < 3 || memcmp(w.text, "M_", 2) != 0 || p->text[p->at] != '|')
        return false;
    p->at = w.at + 1; /* _8 is read as a static integer */
    const struct la_node *known = la_literal(p);
    if (!known || !la_accept(p, '|'))
        la_syntax(p, w.at, w.len, LA_E_syntax, "bits are written M_8|(16&48)=24");
    la_expect(p, '(', "in M_8|(16&48)=24");
    const struct la_node *run = la_literal(p);
    la_expect(p, '&', "in M_8|(16&48)=24");
    const struct la_node *free = la_literal(p);
    la_expect(p, ')', "in M_8|(16&48)=24");
    la_expect(p, '=', "in M_8|(16&48)=24");
    const struct la_node *value = la_literal(p);
    const int64_t most = UINT32_MAX;
    if (!run || !free || !value || known->value > most || run->value > most || free->value > most ||
        (known->value & free->value) || (run->value & ~free->value) || free->value == 0 ||
        value->value != (known->value | run->value))
        la_syntax(p, w.at, p->at - w.at, LA_E_syntax, "these bits do not agree: M_known|(run&free)=value");
    struct la_bits *bits = la_alloc(p->cx, sizeof *bits);
    *bits = (struct la_bits){(uint32_t)known->value, (uint32_t)free->value, (uint32_t)run->value};
    struct la_node *n = la_alloc(p->cx, sizeof *n);
    *n = (struct la_node){.value = value->value, .bits = bits, .span = 1, .kind = LA_BITS};
    *out = la_value_tuple(n);
    return true;
}

bool la_smem_spelling(struct parser *p, struct la_value *out)
{
    const size_t start = p->at;
    if (!la_accept_word(p, "smem_ptr"))
        return false;
    la_expect(p, '[', "in smem_ptr[16b](unset)");
    char *end;
    const long bits = strtol(p->text + p->at, &end, 10);
    p->at = (size_t)(end - p->text);
    if (bits < 1 || bits > LA_MAX_SMEM_BITS || strncmp(end, "b](unset)", 9) != 0)
        la_syntax(p, start, p->at - start, LA_E_syntax, "it is written smem_ptr[16b](unset)");
    p->at += 9;
    *out = (struct la_value){.kind = LA_K_INT, .tuple = la_smem_flag(p->cx, bits)};
    return true;
}

struct word la_qualified(struct parser *p, struct word w)
{
    struct word next;
    while (strncmp(p->text + p->at, "::", 2) == 0 && !la_is_atom_name(p->cx, w.text, w.len)) {
        const size_t at = p->at;
        p->at += 2;
        if (!la_word(p, &next)) {
            p->at = at;
            return w;
        }
        w.len = p->at - w.at;
    }
    return w;
}

/* GMMA::Layout_K_SW128_Atom<half_t>, and an instruction with or without template arguments */
static bool atom_spelling(struct parser *p, struct word w, struct la_value *out)
{
    struct la_smem_atom smem;
    const bool is_smem = la_smem_atom_find(w.text, w.len, &smem);
    if (!is_smem && !la_is_atom_name(p->cx, w.text, w.len))
        return false;
    struct la_value *args = la_alloc(p->cx, LA_MAX_ARGS * sizeof *args);
    const uint32_t n = template_arguments(p, args);
    if (is_smem) {
        if (n != 1 || args[0].kind != LA_K_TYPE || args[0].type->bits == 0)
            la_syntax(p, w.at, p->at - w.at, LA_E_arity, "it is written %.*s<half_t>", (int)w.len, w.text);
        AT(p, w.at, *out = la_value_layout(la_smem_atom(p->cx, smem, args[0].type)));
        return true;
    }
    out->kind = LA_K_ATOM;
    AT(p, w.at, out->object = la_atom_build(p->cx, w.text, w.len, n, args));
    return true;
}

bool la_type_spelling(struct parser *p, struct word w, struct la_value *out)
{
    if (la_word_is(w, "_") || la_word_is(w, "X") || la_word_is(w, "Underscore")) {
        *out = la_value_tuple(la_any);
        return true;
    }
    if (la_word_is(w, "true") || la_word_is(w, "false")) {
        *out = la_truth(w.len == 4);
        return true;
    }
    if (mixed_bits(p, w, out))
        return true;
    const struct la_type *type = la_type_find(w.text, w.len);
    if (type) {
        *out = (struct la_value){.kind = LA_K_TYPE, .type = type};
        return true;
    }
    if (atom_spelling(p, w, out))
        return true;
    if (!la_next_is(p, '<'))
        return false;
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        if (!la_word_is(w, spellings[i].name))
            continue;
        struct la_value *args = la_alloc(p->cx, LA_MAX_ARGS * sizeof *args);
        const uint32_t n = template_arguments(p, args);
        *out = spellings[i].make(p, w, n, args);
        return true;
    }
    return false;
}
