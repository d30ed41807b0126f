/* test_gpu_cublas.c: the layouts of a GEMM as cuBLAS has them, without the library: what it is asked for is the product. */
#include "gemm_card.h"
#include "gpu_gemm_specs.h"
#include "gpu_test.h"

static int64_t offset_of(const struct gpu_tensor *t, int64_t i, int64_t j)
{
    return gpu_map_at(t->mode[0], i) + gpu_map_at(t->mode[1], j);
}

/* Where cuBLAS finds the elements of one product is where the layouts have them; by its rule: column-major, element (i,l)
 * of a factor that is not transposed at i + leading * l. */
static void check_cublas(void **state)
{
    struct gpu_cublas_shape c;
    struct planned p;
    const char *why = NULL;
    if (!plan_open(&p, *state))
        fail_msg("%s: %s", (const char *)*state, p.cx.error.message);
    const struct gpu_gemm *g = p.plan->gemm;
    if (!gpu_cublas_shape_of(&p.cx, g, &c, &why))
        fail_msg("%s: %s", (const char *)*state, why);
    assert_int_equal(c.rows * (int64_t)c.cols, g->m * g->n);
    for (int64_t i = 0; i < c.rows; i++)
        for (int64_t j = 0; j < c.cols; j++) {
            assert_int_equal(i + c.leading[2] * j,
                             c.left == 0 ? offset_of(&g->d, i, j) : offset_of(&g->d, j, i));
            for (int64_t l = 0; l < c.depth; l++) {
                assert_int_equal(c.transposed[0] ? l + c.leading[0] * i : i + c.leading[0] * l,
                                 offset_of(&g->of[c.left].tensor, i, l));
                assert_int_equal(c.transposed[1] ? j + c.leading[1] * l : l + c.leading[1] * j,
                                 offset_of(&g->of[c.right].tensor, j, l));
            }
        }
    plan_close(&p);
}

static const char *const cublas_gemms[] = {
    GEMM(F16, 5, 7, 9, ""),
    GEMM(F16, 5, 7, 9, ",\"a\":\"(5,9):(1,6)\""),
    GEMM(F16, 5, 7, 9, ",\"b\":\"(7,9):(1,8)\",\"d\":\"(5,7):(8,1)\""),
    GEMM(F16, 5, 7, 9, ",\"d\":\"(5,7):(1,5)\""),
    GEMM(F16, 5, 7, 9, ",\"a\":\"(5,9):(1,5)\",\"b\":\"(7,9):(1,7)\",\"d\":\"(5,7):(1,6)\""),
    GEMM(F16, 5, 1, 1, ""),
    GEMM(F16, 1, 7, 9, ",\"b\":\"(7,9):(1,7)\""),
};

static void check_no_cublas(void **state)
{
    (void)state;
    static const char *const none[] = {GEMM(F16, 5, 7, 9, ",\"a\":\"(5,9):(18,2)\""),
                                       GEMM(F16, 5, 7, 9, ",\"b\":\"(7,9):(0,1)\""),
                                       GEMM(F16, 4, 7, 9, ",\"d\":\"((2,2),7):((7,28),1)\"")};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        struct gpu_cublas_shape c;
        struct planned p;
        const char *why = NULL;
        assert_true(plan_open(&p, none[i]));
        if (gpu_cublas_shape_of(&p.cx, p.plan->gemm, &c, &why) || !strstr(why, "no matrix of cuBLAS"))
            fail_msg("%s: %s", none[i], why ? why : "has a shape");
        plan_close(&p);
    }
}

int main(void)
{
    static struct list list;
    add(&list, "layouts that cuBLAS has not", check_no_cublas, NULL);
    for (size_t i = 0; i < sizeof cublas_gemms / sizeof cublas_gemms[0]; i++)
        add(&list, cublas_gemms[i], check_cublas, cublas_gemms[i]);
    run_group("cuBLAS", &list, NULL, NULL);
    return report(&list);
}
