/* atoms.c: the table of MMA and copy atoms: lookup, enumeration, and what its families share.
 *
 * Atoms come in families: a row is a pattern of names and the function that builds any of them. Layouts are
 * formulas in the notation itself over the numbers of a name, so the 32 widths of a GMMA are one line:
 *
 *     B of SM90_64xNxK:   (128,(N,K)):(0,(1,N))        with N = 96, K = 16:   (_128,(_96,_16)):(_0,(_1,_96))
 *
 * The rows stand in atoms_warp.c, atoms_wide.c and atoms_copy.c. */
#include "atoms.h"

#include <string.h>

static const struct {
    const struct la_family *families;
    enum la_atom_kind kind; /* of all of them */
} groups[] = {
    {la_families_copy, LA_ATOM_COPY}, {la_families_warp, LA_ATOM_MMA}, {la_families_wide, LA_ATOM_MMA}};

enum { GROUPS = sizeof groups / sizeof *groups };

/* ---- formulas ---- */

void la_let(struct la_request *r, const char *name, int64_t value)
{
    struct la_binding *b = &r->parameters[r->n_parameters];
    *b = (struct la_binding){.name = name, .value = la_value_tuple(la_int(r->cx, value, true))};
    if (r->n_parameters++)
        b[-1].next = b;
}

struct la_layout la_formula(struct la_request *r, const char *text)
{
    return la_read(r->cx, text, r->n_parameters ? r->parameters : NULL).layout;
}

struct la_layout la_formula_tight(struct la_request *r, uint32_t i, const char *text)
{
    const struct la_layout a = la_formula(r, text), mode = la_coalesce(r->cx, la_layout_mode(r->cx, a, i));
    return la_plain(la_replace(r->cx, a.shape, i, mode.shape), la_replace(r->cx, a.stride, i, mode.stride));
}

/* ---- what a name and its template arguments say ---- */

bool la_choice_is(const struct la_choice *c, const char *text)
{
    return strlen(text) == c->len && memcmp(text, c->text, c->len) == 0;
}

int64_t la_choice_number(const struct la_choice *c)
{
    int64_t v = 0;
    for (size_t i = 0; i < c->len && c->text[i] >= '0' && c->text[i] <= '9'; i++)
        v = v * 10 + (c->text[i] - '0');
    return v;
}

void la_choice_shape(const struct la_choice *c, int64_t mnk[3])
{
    struct la_choice rest = *c;
    for (int i = 0; i < 3; i++) {
        mnk[i] = la_choice_number(&rest);
        const char *x = memchr(rest.text, 'x', rest.len);
        const size_t skip = x ? (size_t)(x - rest.text) + 1 : rest.len;
        rest = (struct la_choice){rest.text + skip, rest.len - skip};
    }
}

static _Noreturn void misspelled(struct la_request *r)
{
    char example[LA_MAX_ATOM_NAME];
    la_pattern_name(r->family->pattern, 0, example);
    la_fail(r->cx, LA_E_arity, "%s is written with template arguments like those of %s", r->name, example);
}

void la_need_args(struct la_request *r, uint32_t least, uint32_t most)
{
    if (r->n < least || r->n > most)
        misspelled(r);
}

const struct la_type *la_type_named(const char *name)
{
    return la_type_find(name, strlen(name));
}

const struct la_type *la_type_arg(struct la_request *r, uint32_t i, const char *otherwise)
{
    if (i >= r->n && otherwise)
        return la_type_named(otherwise);
    if (i >= r->n || r->args[i].kind != LA_K_TYPE)
        misspelled(r);
    return r->args[i].type;
}

int64_t la_integer_arg(struct la_request *r, uint32_t i)
{
    if (i >= r->n || r->args[i].kind != LA_K_INT || r->args[i].tuple->kind != LA_INT ||
        r->args[i].tuple->path)
        misspelled(r);
    return r->args[i].tuple->value;
}

/* ---- lookup ---- */

/* CuTe 4's full names: SM90::GMMA::MMA_64x8x16_F16F16F16_SS is SM90_64x8x16_F16F16F16_SS. */
static const char *short_name(struct la_ctx *cx, const char *name, size_t *len)
{
    static const char scope[] = "SM90::GMMA::MMA_";
    const size_t n = sizeof scope - 1;
    if (*len <= n || memcmp(name, scope, n) != 0)
        return name;
    name = la_format(cx, "SM90_%.*s", (int)(*len - n), name + n);
    *len = strlen(name);
    return name;
}

static const struct la_family *find(struct la_ctx *cx, const char *name, size_t len,
                                    struct la_choice choice[LA_MAX_CHOICES])
{
    name = short_name(cx, name, &len);
    for (size_t g = 0; g < GROUPS; g++)
        for (const struct la_family *f = groups[g].families; f->pattern; f++)
            if (f->pattern[0] == name[0] && la_pattern_match(f->pattern, name, len, choice))
                return f;
    return NULL;
}

bool la_is_atom_name(struct la_ctx *cx, const char *name, size_t len)
{
    struct la_choice choice[LA_MAX_CHOICES];
    return find(cx, name, len, choice) != NULL;
}

/* UniversalCopy<uint128_t>: the name with its arguments, as CuTe prints them. */
static const char *full_name(struct la_request *r)
{
    const char *text = r->name;
    for (uint32_t i = 0; i < r->n; i++) {
        const bool integer = r->args[i].kind == LA_K_INT;
        text = la_format(r->cx, "%s%s%s", text, i ? "," : "<",
                         la_print(r->cx, &r->args[i], integer ? LA_SPELL_TEXT : LA_SPELL_CUTE));
    }
    return r->n ? la_format(r->cx, "%s>", text) : text;
}

const struct la_atom *la_atom_build(struct la_ctx *cx, const char *name, size_t len, uint32_t n,
                                    const struct la_value *args)
{
    struct la_request r = {.cx = cx, .n = n, .args = args};
    r.family = find(cx, name, len, r.choice);
    if (!r.family)
        return NULL;
    name = short_name(cx, name, &len);
    r.name = la_format(cx, "%.*s", (int)len, name);
    struct la_atom *atom = la_alloc(cx, sizeof *atom);
    *atom = (struct la_atom){.name = full_name(&r), .arch = r.family->arch, .doc = r.family->doc};
    r.family->build(&r, atom);
    return atom;
}

const struct la_atom *la_atom_named(struct la_ctx *cx, const char *text)
{
    const struct la_value v = la_read(cx, text, NULL);
    if (v.kind != LA_K_ATOM)
        la_fail(cx, LA_E_kind, "'%.80s' is %s, not an atom", text, la_kinds_text(cx, v.kind));
    return v.object;
}

/* ---- enumeration ---- */

/* The family of atom *i, which becomes its number there; NULL after the last. */
static const struct la_family *family_at(size_t *i, enum la_atom_kind *kind)
{
    for (size_t g = 0; g < GROUPS; g++)
        for (const struct la_family *f = groups[g].families; f->pattern; f++) {
            const size_t n = la_pattern_count(f->pattern);
            *kind = groups[g].kind;
            if (*i < n)
                return f;
            *i -= n;
        }
    return NULL;
}

size_t la_atom_count(void)
{
    size_t count = 0;
    for (size_t g = 0; g < GROUPS; g++)
        for (const struct la_family *f = groups[g].families; f->pattern; f++)
            count += la_pattern_count(f->pattern);
    return count;
}

const char *la_atom_name_at(struct la_ctx *cx, size_t i)
{
    char name[LA_MAX_ATOM_NAME];
    enum la_atom_kind kind;
    const struct la_family *f = family_at(&i, &kind);
    if (!f)
        return NULL;
    la_pattern_name(f->pattern, i, name);
    return la_format(cx, "%s", name);
}

enum la_atom_kind la_atom_kind_at(size_t i)
{
    enum la_atom_kind kind = LA_ATOM_MMA;
    family_at(&i, &kind);
    return kind;
}

const char *la_atom_kind_name(enum la_atom_kind kind)
{
    return kind == LA_ATOM_MMA ? "mma" : "copy";
}

const struct la_atom *la_atom_at(struct la_ctx *cx, size_t i)
{
    const char *name = la_atom_name_at(cx, i);
    return name ? la_atom_named(cx, name) : NULL;
}

/* The known name nearest to a mistyped one, or NULL. Only what begins alike is compared. */
const char *la_atom_nearest(struct la_ctx *cx, const char *name, size_t len)
{
    if (len >= LA_MAX_ATOM_NAME)
        return NULL;
    const char *nearest = la_smem_atoms;
    size_t least = memchr(name, ':', len) ? la_pattern_distance(la_smem_atoms, name, len) : SIZE_MAX;
    for (size_t g = 0; g < GROUPS; g++)
        for (const struct la_family *f = groups[g].families; f->pattern; f++) {
            const size_t d = f->pattern[0] == name[0] ? la_pattern_distance(f->pattern, name, len) : SIZE_MAX;
            if (d < least) {
                least = d;
                nearest = f->pattern;
            }
        }
    if (!la_name_is_near(len, least))
        return NULL;
    char known[LA_MAX_ATOM_NAME];
    la_pattern_nearest(nearest, name, len, known);
    return la_format(cx, "%s", known);
}

/* ---- Copy_Atom ---- */

static void need_all_threads(struct la_ctx *cx, const struct la_atom *atom, enum la_end end)
{
    static const char *const ends[] = {"source", "destination", "reference"};
    const struct la_node *has = la_size(cx, la_layout_mode(cx, atom->copy.values[end], 0)),
                         *wants = la_size(cx, atom->thr_id);
    if (!la_proven_equal(has, wants))
        la_fail(
            cx, LA_E_other,
            "%s does not suit %s, of %u bits: in its %s, %s, only %s of its %s threads are left when bits "
            "are counted in such values",
            atom->name, atom->copy.type->name, atom->copy.type->bits, ends[end],
            la_show_layout(cx, atom->copy.bits[end]), la_show(cx, has), la_show(cx, wants));
}

const struct la_atom *la_copy_atom(struct la_ctx *cx, const struct la_atom *op, const struct la_type *type)
{
    if (op->kind != LA_ATOM_COPY)
        la_fail(cx, LA_E_kind, "Copy_Atom takes a copy instruction, not the MMA %s", op->name);
    if (type->bits == 0)
        la_fail(cx, LA_E_kind, "%s is no type of a value", type->name);
    if (!op->copy.bits[LA_SRC].shape)
        la_fail(cx, LA_E_other, "%s has no layouts of its own: it is made from tensors, by make_tma_copy",
                op->name);
    struct la_atom *atom = la_alloc(cx, sizeof *atom);
    *atom = *op;
    atom->copy.type = type;
    for (enum la_end end = LA_SRC; end <= LA_REF; end++) {
        const struct la_value bits = la_value_layout(op->copy.bits[end]);
        atom->copy.values[end] = la_upcast(cx, bits, la_int(cx, type->bits, true)).layout;
        need_all_threads(cx, atom, end);
    }
    return atom;
}
