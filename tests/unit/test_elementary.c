// test_elementary.c: our own sine, logarithm and the like against libm, special values, and a hash of their bits.

#include "math/elementary.h"

#include <float.h>
#include <math.h>

#include "base/hash.h"
#include "check.h"

// Distance from the value in extended precision, in units of the last place of a double.
static double ulps(double got, long double want)
{
    int e;
    if (got == (double)want) return 0;
    frexp((double)want, &e);
    return (double)fabsl(((long double)got - want) / ldexpl(1, e - DBL_MANT_DIG));
}

static uint64_t state = 88172645463325252u;
static double random_in(double low, double high)  // xorshift
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return low + (high - low) * (double)(state >> 11) / 9007199254740992.0;
}

static void errors_are_a_few_units(void **unused)
{
    (void)unused;
    double worst[8] = {0};
    for (int i = 0; i < 200000; i++) {
        const double angle = random_in(-40, 40) * (i % 3 ? 1 : 1e4), x = random_in(-3, 3), y = random_in(-3, 3);
        const double size = ldexp(random_in(1, 2), (int)random_in(-60, 60)), near = 1 + x * 1e-3, c = x / 3;
        const double errors[] = {
            // of sin and cos against 1, which a sine near its zero may be off by with long double's own pi
            fabs(tl_sin(angle) - (double)sinl(angle)) / DBL_EPSILON,
            fabs(tl_cos(angle) - (double)cosl(angle)) / DBL_EPSILON,
            ulps(tl_atan2(y, x), atan2l(y, x)),
            ulps(tl_acos(c), acosl(c)),
            ulps(tl_ln(size), logl(size)),
            ulps(tl_ln(near), logl(near)),
            ulps(tl_exp2(x * 20), exp2l(x * 20)),
            ulps(tl_hypot(x, y), hypotl(x, y)),
        };
        for (int k = 0; k < 8; k++) worst[k] = fmax(worst[k], errors[k]);
    }
    for (int k = 0; k < 8; k++)
        if (!(worst[k] <= (k == 3 ? 3 : 2))) fail_msg("function %d is off by %g units in the last place", k, worst[k]);
}

static void small_angles_keep_their_digits(void **unused)
{
    (void)unused;
    for (int i = 0; i < 20000; i++) {
        const double x = ldexp(random_in(-1, 1), -i % 40);
        assert_true(ulps(tl_sin(x), sinl(x)) <= 2 && ulps(tl_atan(x), atanl(x)) <= 2);
        const int k = (int)random_in(1, 5000);  // next to multiples of pi
        const double z = k * 3.14159265358979323846;
        assert_true(fabs(tl_sin(z) - (double)sinl(z)) <= 1e-19 * k);
    }
}

static void special_values_are_exact(void **unused)
{
    (void)unused;
    const double pi = 3.14159265358979323846;
    assert_true(tl_sin(0) == 0 && tl_cos(0) == 1 && signbit(tl_sin(-0.0)));
    assert_true(tl_sin(pi / 2) == 1 && tl_cos(pi) == -1 && isnan(tl_sin(INFINITY)) && isnan(tl_cos(NAN)));
    assert_true(tl_ln(1) == 0 && tl_ln(0) == -INFINITY && isnan(tl_ln(-1)) && tl_ln(INFINITY) == INFINITY);
    assert_true(tl_log2(8) == 3 && tl_log2(0x1p-1060) == -1060 && tl_exp2(10) == 1024 && tl_exp2(-1074) == 0x1p-1074);
    assert_true(tl_exp2(2000) == INFINITY && tl_exp2(-2000) == 0 && tl_exp2(0) == 1);
    assert_true(tl_acos(1) == 0 && tl_acos(-1) == pi && isnan(tl_acos(1.5)) && tl_acos(0) == pi / 2);
    const double v[] = {0.0, -0.0, 1, -1, INFINITY, -INFINITY};
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 6; k++) {
            const double got = tl_atan2(v[i], v[k]), want = atan2(v[i], v[k]);
            assert_true(got == want && signbit(got) == signbit(want));
        }
}

// The bits are part of what recorded results rest on: whoever changes them on purpose changes this number too.
static void bits_are_these(void **unused)
{
    (void)unused;
    tl_hash hash;
    tl_hash_init(&hash);
    for (int i = 1; i <= 4000; i++) {
        const double x = 0.00173 * i;
        const double y[] = {tl_sin(x), tl_cos(x), tl_ln(x), tl_exp2(x), tl_atan2(x, 1.1), tl_acos(x / 8), tl_log2(x)};
        tl_hash_add(&hash, y, sizeof y);
    }
    assert_int_equal(tl_hash_value(&hash), UINT64_C(0x56df343980d1771e));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_a_few_units),
        cmocka_unit_test(small_angles_keep_their_digits),
        cmocka_unit_test(special_values_are_exact),
        cmocka_unit_test(bits_are_these),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
