/* test_gpu_number.c: what the bits of an element mean: known patterns, all patterns of short types, rounding, packing. */
#include "gpu_test.h"
#include "number.h"

#include <math.h>

static void known_patterns(void **state)
{
    (void)state;
    static const struct {
        const char *type;
        uint64_t bits;
        double value;
    } known[] = {
        {"half_t", 0x3c01, 1 + 0x1p-10},
        {"half_t", 0x0001, 0x1p-24},
        {"half_t", 0x7bff, 65504},
        {"half_t", 0xfc00, -INFINITY},
        {"bfloat16_t", 0x3f81, 1 + 0x1p-7},
        {"bfloat16_t", 0xff80, -INFINITY},
        {"float", 0x40490fdb, 0x1.921fb6p+1},
        {"double", 0x400921fb54442d18, 0x1.921fb54442d18p+1},
        {"double", 1, 0x1p-1074},
        {"tfloat32_t", 0x3f802000, 1 + 0x1p-10},
        {"float_e4m3_t", 0x7e, 448},
        {"float_e4m3_t", 0x01, 0x1p-9},
        {"float_e4m3_t", 0xb8, -1},
        {"float_e5m2_t", 0x7b, 57344},
        {"float_e5m2_t", 0x7c, INFINITY},
        {"float_e5m2_t", 0x01, 0x1p-16},
        {"float_e3m2_t", 0x1f, 28},
        {"float_e2m3_t", 0x1f, 7.5},
        {"float_e2m1_t", 0x7, 6},
        {"float_e2m1_t", 0x9, -0.5},
        {"int8_t", 0x80, -128},
        {"uint8_t", 0xff, 255},
        {"int32_t", 0x80000000, -2147483648.0},
        {"int4b_t", 0xf, -1},
        {"int4b_t", 0x8, -8},
        {"uint4b_t", 0xf, 15},
        {"uint1b_t", 1, 1},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const struct gpu_number *n = gpu_number_find(known[i].type);
        assert_non_null(n);
        if (gpu_number_decode(n, known[i].bits) != known[i].value ||
            gpu_number_encode(n, known[i].value) != known[i].bits)
            fail_msg("%s 0x%llx is %a, not %a", known[i].type, (unsigned long long)known[i].bits,
                     known[i].value, gpu_number_decode(n, known[i].bits));
    }
    assert_true(isnan(gpu_number_decode(gpu_number_find("float_e4m3_t"), 0x7f)));
    assert_true(isnan(gpu_number_decode(gpu_number_find("half_t"), 0x7c01)));
    /* the 13 bits below tfloat32_t's mantissa say nothing; e2m1 stands in the middle of its byte */
    assert_true(gpu_number_decode(gpu_number_find("tfloat32_t"), 0x3f801fff) == 1);
    assert_true(gpu_number_decode(gpu_number_in_byte("float_e2m1_t"), 0xff & 7 << 2) == 6);
    assert_null(gpu_number_find("half"));
}

/* Every pattern of up to 16 bits comes back, and halves of units go to the even neighbour. */
static void all_patterns(void **state)
{
    (void)state;
    static const char *const types[] = {"half_t",       "bfloat16_t",   "float_e4m3_t", "float_e5m2_t",
                                        "float_e3m2_t", "float_e2m3_t", "float_e2m1_t", "int8_t",
                                        "uint8_t",      "int16_t",      "uint16_t",     "int4b_t",
                                        "uint4b_t",     "uint1b_t"};
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        const struct gpu_number *n = gpu_number_find(types[t]);
        for (uint64_t bits = 0; bits < UINT64_C(1) << n->bits; bits++) {
            const double x = gpu_number_decode(n, bits);
            if (isnan(x))
                continue;
            assert_int_equal(gpu_number_encode(n, x), bits);
            const double next = gpu_number_decode(n, bits + 1);
            const bool same_sign = bits + 1 < UINT64_C(1) << (n->bits - 1);
            if (same_sign && isfinite(next)) {
                assert_int_equal(gpu_number_encode(n, (x + next) / 2), bits + (bits & 1));
                assert_int_equal(gpu_number_encode(n, x + (next - x) * 0.501), bits + 1);
            }
        }
    }
}

/* The host's own conversions are right, too: float to _Float16 and back where the compiler has it, else double to float. */
static void as_the_host(void **state)
{
    (void)state;
    uint64_t word = 5;
    const struct gpu_number *single = gpu_number_find("float");
    for (int i = 0; i < 100000; i++) {
        double x;
        uint64_t bits = draw_word(&word);
        memcpy(&x, &bits, sizeof x);
        x = i % 2 ? x : ldexp((double)(int64_t)bits, -63 - i % 160);
        if (isnan(x))
            continue;
        const float nearest = (float)x;
        uint32_t expected;
        memcpy(&expected, &nearest, sizeof expected);
        assert_int_equal(gpu_number_encode(single, x), expected);
        assert_true(gpu_number_decode(single, expected) == (double)nearest);
    }
}

static void packed_elements(void **state)
{
    (void)state;
    static const char *const types[] = {"uint1b_t", "int4b_t",        "uint4b_t",
                                        "half_t",   "complex<float>", "GaussComplex"};
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        const struct gpu_number *n = gpu_number_find(types[t]);
        unsigned char bytes[20 * GPU_NUMBER_BYTES];
        memset(bytes, 0xff, sizeof bytes);
        for (int i = 0; i < 19; i++)
            gpu_number_put(n, bytes, i, (struct gpu_complex){i % 2, n->kind >= GPU_COMPLEX ? i : 0});
        for (int i = 0; i < 19; i++) {
            const struct gpu_complex x = gpu_number_at(n, bytes, i);
            assert_true(x.re == i % 2 && x.im == (n->kind >= GPU_COMPLEX ? i : 0));
        }
        assert_int_equal(bytes[(19 * n->bits + 7) / 8], 0xff);
    }
    const unsigned char ones[] = {0x21, 0x43}; /* the low half of a byte comes first */
    for (int i = 0; i < 4; i++)
        assert_true(gpu_number_at(gpu_number_find("int4b_t"), ones, i).re == i + 1);
}

int main(void)
{
    static struct list list;
    add(&list, "known patterns", known_patterns, NULL);
    add(&list, "all patterns", all_patterns, NULL);
    add(&list, "floats as the host has them", as_the_host, NULL);
    add(&list, "packed elements", packed_elements, NULL);
    run_group("numbers", &list, NULL, NULL);
    return report(&list);
}
