/* smem.c: layouts of shared memory whose swizzle acts on the bytes of an address, and GMMA's eight of them.
 *
 *     GMMA::Layout_K_SW128_Atom<half_t>{}      Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)
 *
 * In CuTe such a layout waits for a pointer to elements of 16 bits; the flag in the place of the offset says
 * so. Its function is that of the swizzle in units of elements, Sw<3,3,3>, and so it is evaluated, sliced and
 * enumerated here: as the tensor does it, not as the bare layout would. Tiling keeps the flag. */
#include "internal.h"

#include <string.h>

const struct la_node *la_smem_flag(struct la_ctx *cx, int64_t bits)
{
    struct la_node *n = la_alloc(cx, sizeof *n);
    *n = (struct la_node){.value = bits, .span = 1, .kind = LA_SMEM, .is_static = true};
    return n;
}

/* Law: the same offsets, with a swizzle of elements; a layout without the flag is itself. */
struct la_layout la_position_independent(struct la_ctx *cx, struct la_layout a)
{
    if (!a.outer || a.offset->kind != LA_SMEM)
        return a;
    if (a.outer->kind != LA_K_SWIZZLE)
        la_fail(cx, LA_E_kind, "only a swizzle can wait for a pointer, not %s",
                la_show_layout(cx, a.outer->layout));
    const struct la_value s = la_recast(cx, *a.outer, la_int(cx, 8, true), la_int(cx, a.offset->value, true));
    return la_compose_swizzle(cx, s.swizzle, la_zero, la_inner(a));
}

/* ---- GMMA's canonical layouts ---- */

enum {
    CORE_BITS = 128, /* a row of a core matrix: 16 bytes */
    CORE_ROWS = 8,
    BASE = 4, /* a swizzle moves 16-byte pieces, and takes its bits from the rows of 128 bytes */
    SHIFT = 3
};

const char la_smem_atoms[] = "{GMMA,UMMA}::Layout_{K,MN}_{INTER,SW32,SW64,SW128}_Atom";

static int swizzle_bits(const struct la_choice *width)
{
    static const char *const widths[] = {"INTER", "SW32", "SW64", "SW128"};
    int bits = 0;
    while (strlen(widths[bits]) != width->len || memcmp(widths[bits], width->text, width->len) != 0)
        bits++;
    return bits;
}

bool la_smem_atom_find(const char *name, size_t len, struct la_smem_atom *out)
{
    struct la_choice choice[LA_MAX_CHOICES];
    if (!la_pattern_match(la_smem_atoms, name, len, choice))
        return false;
    *out = (struct la_smem_atom){.k_major = choice[1].len == 1, .swizzle_bits = swizzle_bits(&choice[2])};
    return true;
}

/* Eight rows of 16, 32, 64 or 128 bytes, in units of the type. */
struct la_layout la_smem_atom(struct la_ctx *cx, struct la_smem_atom atom, const struct la_type *type)
{
    const int64_t width = (int64_t)CORE_BITS << atom.swizzle_bits;
    const struct la_node *row = la_int(cx, width, true), *rows = la_int(cx, CORE_ROWS, true);
    const struct la_node *shape[2] = {rows, row}, *stride[2] = {row, la_one};
    const struct la_node *turned_shape[2] = {row, rows}, *turned_stride[2] = {la_one, row};
    const struct la_layout bits = la_plain(la_tuple(cx, 2, atom.k_major ? shape : turned_shape),
                                           la_tuple(cx, 2, atom.k_major ? stride : turned_stride));
    const struct la_layout a = la_compose_swizzle(cx, la_make_swizzle(cx, atom.swizzle_bits, BASE, SHIFT),
                                                  la_smem_flag(cx, 1), bits);
    return la_upcast(cx, la_value_layout(a), la_int(cx, type->bits, true)).layout;
}

/* ---- the operations ---- */

static struct la_value op_as_position_independent(struct la_ctx *cx, const struct la_call *call)
{
    return la_value_layout(la_position_independent(cx, call->args[0].layout));
}

const struct la_op la_ops_smem[] = {
    {.name = "as_position_independent_swizzle_layout",
     .doc = "A layout of shared memory with its swizzle in units of elements instead of bytes.",
     .law = "for all i: result(i) = A(i)",
     .params = {{"layout", LA_K_ANYLAYOUT}},
     .gives = LA_K_ANYLAYOUT,
     .run = op_as_position_independent,
     .example = "as_position_independent_swizzle_layout(GMMA::Layout_K_SW128_Atom<half_t>{})",
     .result = "Sw<3,3,3> o _0 o (_8,_64):(_64,_1)"},
    {0}};
