/* types.c: the element types that CuTe code names, with their widths, and the tags LayoutLeft and LayoutRight. */
#include "internal.h"

#include <string.h>

const struct la_type la_layout_left[1] = {{"LayoutLeft", 0}}, la_layout_right[1] = {{"LayoutRight", 0}};

static const struct la_type element_types[] = {
    {"bool", 8},         {"char", 8},         {"int8_t", 8},        {"uint8_t", 8},       {"int16_t", 16},
    {"uint16_t", 16},    {"int", 32},         {"int32_t", 32},      {"uint32_t", 32},     {"unsigned", 32},
    {"int64_t", 64},     {"uint64_t", 64},    {"size_t", 64},       {"uint128_t", 128},   {"half_t", 16},
    {"half", 16},        {"bfloat16_t", 16},  {"float", 32},        {"tfloat32_t", 32},   {"double", 64},
    {"float_e4m3_t", 8}, {"float_e5m2_t", 8}, {"float_ue4m3_t", 8}, {"float_ue8m0_t", 8}, {"float_e3m2_t", 6},
    {"float_e2m3_t", 6}, {"float_e2m1_t", 4}, {"int4_t", 4},        {"uint4_t", 4},       {"int4b_t", 4},
    {"uint4b_t", 4},     {"int2b_t", 2},      {"uint2b_t", 2},      {"uint1_t", 1},       {"uint1b_t", 1},
    {"int1b_t", 1},      {"bin1_t", 1},
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
    return NULL;
}
