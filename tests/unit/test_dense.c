// tests/unit/test_dense.c: dense kernels: against plain loops, and the same bits from every instruction set.

#include "check.h"

#include <string.h>

#include "base/rng.h"
#include "math/dense.h"

enum { DEPTH = 37 };

static void fill(double *a, int32_t n, uint64_t seed)
{
    for (int32_t i = 0; i < n; i++) a[i] = tl_random(seed, 0, (uint64_t)i) - 0.5;
}

static void updates_agree_to_the_bit(void **state)
{
    (void)state;
    double a[3][8 * DEPTH], b[8 * DEPTH], c[3][64], want[3][64], got[3][64];
    for (int p = 0; p < 3; p++) fill(a[p], 8 * DEPTH, 1 + (uint64_t)p), fill(c[p], 64, 11 + (uint64_t)p);
    fill(b, 8 * DEPTH, 20);
    for (int32_t panels = 1; panels <= 3; panels++)
        for (int32_t cols = 1; cols <= 8; cols++)
            for (int32_t depth = 0; depth <= DEPTH; depth += 5) {
                memcpy(want, c, sizeof c);
                for (int32_t p = 0; p < panels; p++)
                    for (int32_t j = 0; j < cols; j++)
                        for (int32_t i = 0; i < 8; i++) {
                            double sum = 0;
                            for (int32_t k = 0; k < depth; k++) sum += a[p][8 * k + i] * b[8 * k + j];
                            want[p][8 * j + i] -= sum;
                        }
                for (int32_t number = 0; tl_dense_update_at(number); number++) {
                    memcpy(got, c, sizeof c);
                    const double *const from[3] = {a[0], a[1], a[2]};
                    double *const to[3] = {got[0], got[1], got[2]};
                    tl_dense_update_at(number)(depth, panels, from, b, to, cols);
                    assert_memory_equal(got, want, sizeof got);
                }
            }
}

static void tiles_factor_and_solve(void **state)
{
    (void)state;
    for (int32_t cols = 1; cols <= 8; cols++) {
        double g[64], s[64] = {0}, l[64], x[64], b[64];
        fill(g, 64, 3), fill(x, 64, 4);
        for (int i = 0; i < cols; i++)
            for (int j = 0; j < cols; j++) {
                for (int k = 0; k < 8; k++) s[8 * j + i] += g[8 * k + i] * g[8 * k + j];
                s[8 * j + i] += i == j ? 0.5 : 0;
            }
        memcpy(l, s, sizeof l);
        assert_true(tl_dense_factor_tile(l, cols));
        for (int i = 0; i < cols; i++)
            for (int j = 0; j <= i; j++) {
                double sum = 0;
                for (int k = 0; k <= j; k++)
                    sum += (k == i ? 1 / l[8 * k + i] : l[8 * k + i]) * (k == j ? 1 / l[8 * k + j] : l[8 * k + j]);
                assert_near(sum, s[8 * j + i], 1e-12);
            }
        memset(b, 0, sizeof b);  // b = x L^T row by row, to be undone
        for (int i = 0; i < 8; i++)
            for (int j = 0; j < cols; j++)
                for (int k = 0; k <= j; k++) b[8 * j + i] += x[8 * k + i] * (k == j ? 1 / l[8 * k + j] : l[8 * k + j]);
        tl_dense_solve_tile(l, b, cols);
        for (int j = 0; j < cols; j++)
            for (int i = 0; i < 8; i++) assert_near(b[8 * j + i], x[8 * j + i], 1e-12);
    }
    double bad[64] = {0};
    assert_false(tl_dense_factor_tile(bad, 1));
    bad[0] = (double)NAN;
    assert_false(tl_dense_factor_tile(bad, 1));
    bad[0] = (double)INFINITY;
    assert_false(tl_dense_factor_tile(bad, 1));
    bad[0] = -1;
    assert_false(tl_dense_factor_tile(bad, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(updates_agree_to_the_bit),
        cmocka_unit_test(tiles_factor_and_solve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
