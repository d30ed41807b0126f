/* types.c: the element types that CuTe code names, with their widths, and tags such as LayoutLeft. */
#include "internal.h"

#include <string.h>

const struct la_type la_layout_left[1] = {{"LayoutLeft", 0}}, la_layout_right[1] = {{"LayoutRight", 0}};

static const struct la_type element_types[] = {
    {"bool", 8},         {"char", 8},         {"int8_t", 8},         {"uint8_t", 8},
    {"int16_t", 16},     {"uint16_t", 16},    {"int", 32},           {"int32_t", 32},
    {"uint32_t", 32},    {"unsigned", 32},    {"int64_t", 64},       {"uint64_t", 64},
    {"size_t", 64},      {"uint128_t", 128},  {"half_t", 16},        {"half", 16},
    {"bfloat16_t", 16},  {"float", 32},       {"tfloat32_t", 32},    {"double", 64},
    {"float_e4m3_t", 8}, {"float_e5m2_t", 8}, {"float_ue4m3_t", 8},  {"float_ue8m0_t", 8},
    {"float_e3m2_t", 6}, {"float_e2m3_t", 6}, {"float_e2m1_t", 4},   {"int4_t", 4},
    {"uint4_t", 4},      {"int4b_t", 4},      {"uint4b_t", 4},       {"int2b_t", 2},
    {"uint2b_t", 2},     {"uint1_t", 1},      {"uint1b_t", 1},       {"int1b_t", 1},
    {"bin1_t", 1},       {"uint256_t", 256},  {"GaussComplex", 192},
};

/* Tags that stand in the template arguments of atoms. */
static const struct la_type tags[] = {
    {"GMMA::Major::K", 0},       {"GMMA::Major::MN", 0},       {"UMMA::Major::K", 0},
    {"UMMA::Major::MN", 0},      {"GMMA::ScaleIn::One", 0},    {"GMMA::ScaleIn::Neg", 0},
    {"UMMA::ScaleIn::One", 0},   {"UMMA::ScaleIn::Neg", 0},    {"UMMA::Saturate::False", 0},
    {"UMMA::Saturate::True", 0}, {"GMMA::SparseSel::Zero", 0}, {"GMMA::SparseSel::One", 0},
};

static bool is(const char *name, size_t len, const char *known)
{
    return strlen(known) == len && memcmp(name, known, len) == 0;
}

const struct la_type *la_type_find(const char *name, size_t len)
{
    if (is(name, len, "LayoutLeft") || is(name, len, "GenColMajor"))
        return la_layout_left;
    if (is(name, len, "LayoutRight") || is(name, len, "GenRowMajor"))
        return la_layout_right;
    for (size_t i = 0; i < sizeof element_types / sizeof *element_types; i++)
        if (is(name, len, element_types[i].name))
            return &element_types[i];
    if (len > 6 && memcmp(name, "SM90::", 6) == 0) /* where CuTe 4 keeps GMMA */
        name += 6, len -= 6;
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        if (is(name, len, tags[i].name))
            return &tags[i];
    return NULL;
}

static const struct la_type *made(struct la_ctx *cx, const char *name, uint32_t bits)
{
    struct la_type *type = la_alloc(cx, sizeof *type);
    *type = (struct la_type){name, bits};
    return type;
}

const struct la_type *la_type_complex(struct la_ctx *cx, const struct la_type *part)
{
    return made(cx, la_format(cx, "complex<%s>", part->name), 2 * part->bits);
}

const struct la_type *la_type_sparse(struct la_ctx *cx, int64_t sparsity, const struct la_type *element)
{
    if (sparsity < 1 || element->bits % sparsity != 0)
        la_fail(cx, LA_E_divisibility, "the %u bits of %s are not divided by %lld", element->bits,
                element->name, (long long)sparsity);
    return made(cx, la_format(cx, "sparse_elem<%lld,%s>", (long long)sparsity, element->name),
                element->bits / (uint32_t)sparsity);
}

const char *la_type_name(const struct la_type *type)
{
    return type->name;
}

uint32_t la_type_bits(const struct la_type *type)
{
    return type->bits;
}
