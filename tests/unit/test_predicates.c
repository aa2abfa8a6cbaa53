// tests/unit/test_predicates.c: signs against whole-number arithmetic, from easy to hopeless for rounding.

#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/timer.h"
#include "math/predicates.h"

// --- oracle: numbers as signed digits to base 2^24 over 2^-1080, nothing shared with the code under test ----

enum { DIGIT_BITS = 24, DIGITS = 280, LOWEST = -1080 };

typedef struct big {
    int64_t digit[DIGITS];
} big;

static void carry_over(big *b)
{
    for (int i = 0; i + 1 < DIGITS; i++) {
        const int64_t rest = b->digit[i] & ((1 << DIGIT_BITS) - 1);
        b->digit[i + 1] += (b->digit[i] - rest) / (1 << DIGIT_BITS);
        b->digit[i] = rest;
    }
}

static int big_sign(const big *b)  // after carry_over only the top digit may be negative
{
    if (b->digit[DIGITS - 1] < 0) return -1;
    for (int i = 0; i < DIGITS; i++)
        if (b->digit[i]) return 1;
    return 0;
}

static void add_double(big *b, double x, int sign)
{
    int exponent;
    double m = frexp(x, &exponent);
    for (int place = exponent - LOWEST; m != 0 && place > 0;) {  // the top bit of what is left stands below `place`
        const int index = (place - 1) / DIGIT_BITS;
        const double part = trunc(ldexp(m, place - index * DIGIT_BITS));
        b->digit[index] += sign * (int64_t)part;
        m = ldexp(m, place - index * DIGIT_BITS) - part;
        place = index * DIGIT_BITS;
    }
}

static int top_of(const big *b)
{
    for (int i = DIGITS - 1; i >= 0; i--)
        if (b->digit[i]) return i;
    return -1;
}

static big difference(double a, double b)
{
    big d = {{0}};
    add_double(&d, a, 1);
    add_double(&d, b, -1);
    return d;
}

static big product(const big *a, const big *b)  // of digits below 2^26 in size; no carry needed below 2^63
{
    big p = {{0}};
    const int na = top_of(a), nb = top_of(b);
    for (int i = 0; i <= na; i++)
        for (int j = 0; j <= nb; j++) p.digit[i + j] += a->digit[i] * b->digit[j];
    // keep digits small and of either sign, so that products stay short
    for (int i = 0; i + 1 < DIGITS; i++) {
        const int64_t up = p.digit[i] / (1 << DIGIT_BITS);
        p.digit[i] -= up * (1 << DIGIT_BITS);
        p.digit[i + 1] += up;
    }
    return p;
}

static void accumulate(big *sum, const big *a, int sign)
{
    for (int i = 0; i < DIGITS; i++) sum->digit[i] += sign * a->digit[i];
}

static int oracle2(tl_vec2 a, tl_vec2 b, tl_vec2 c)
{
    const big ax = difference(a.x, c.x), ay = difference(a.y, c.y), bx = difference(b.x, c.x),
              by = difference(b.y, c.y);
    big det = product(&ax, &by);
    const big other = product(&ay, &bx);
    accumulate(&det, &other, -1);
    carry_over(&det);
    return big_sign(&det);
}

static int oracle3(const tl_vec3 p[4])
{
    big m[3][3], det = {{0}};
    for (int i = 0; i < 3; i++) {
        m[i][0] = difference(p[i + 1].x, p[0].x);
        m[i][1] = difference(p[i + 1].y, p[0].y);
        m[i][2] = difference(p[i + 1].z, p[0].z);
    }
    for (int i = 0; i < 3; i++)
        for (int s = 1; s < 3; s++) {
            const int j = (i + s) % 3, k = (i + 3 - s) % 3;
            const big two = product(&m[0][i], &m[1][j]), three = product(&two, &m[2][k]);
            accumulate(&det, &three, s == 1 ? 1 : -1);
        }
    carry_over(&det);
    return big_sign(&det);
}

static int oracle_circle(const tl_vec2 p[4])  // for moderate exponents: products of four differences must fit
{
    big m[3][2], det = {{0}};
    for (int i = 0; i < 3; i++) m[i][0] = difference(p[i].x, p[3].x), m[i][1] = difference(p[i].y, p[3].y);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        big lift = product(&m[i][0], &m[i][0]), minor = product(&m[j][0], &m[k][1]);
        const big yy = product(&m[i][1], &m[i][1]), other = product(&m[j][1], &m[k][0]);
        accumulate(&lift, &yy, 1);
        accumulate(&minor, &other, -1);
        const big term = product(&lift, &minor);
        accumulate(&det, &term, 1);
    }
    carry_over(&det);
    return big_sign(&det);
}

// --- points ------------------------------------------------------------------------------------------------

static uint64_t stream;
static double uniform(void) { return tl_random(7, 1, stream++); }
static int below(int n) { return (int)(uniform() * n); }

static void check2(tl_vec2 a, tl_vec2 b, tl_vec2 c)
{
    const int want = oracle2(a, b, c);
    if (tl_orient2d(a, b, c) != want) print_error("%a %a  %a %a  %a %a\n", a.x, a.y, b.x, b.y, c.x, c.y);
    assert_int_equal(tl_orient2d(a, b, c), want);
    assert_int_equal(tl_orient2d(b, c, a), want);
    assert_int_equal(tl_orient2d(b, a, c), -want);
}

static void check3(const tl_vec3 p[4])
{
    const int want = oracle3(p);
    if (tl_orient3d(&p[0], &p[1], &p[2], &p[3]) != want)
        for (int i = 0; i < 4; i++) print_error("%a %a %a\n", p[i].x, p[i].y, p[i].z);
    assert_int_equal(tl_orient3d(&p[0], &p[1], &p[2], &p[3]), want);
    assert_int_equal(tl_orient3d(&p[1], &p[2], &p[0], &p[3]), want);
    assert_int_equal(tl_orient3d(&p[2], &p[3], &p[0], &p[1]), want);
    assert_int_equal(tl_orient3d(&p[1], &p[0], &p[2], &p[3]), -want);
}

static void by_hand(void **state)
{
    (void)state;
    assert_int_equal(tl_orient2d((tl_vec2){0, 0}, (tl_vec2){1, 0}, (tl_vec2){0, 1}), 1);
    assert_int_equal(tl_orient2d((tl_vec2){0, 0}, (tl_vec2){0, 1}, (tl_vec2){1, 0}), -1);
    assert_int_equal(tl_orient2d((tl_vec2){0, 0}, (tl_vec2){3, 3}, (tl_vec2){7, 7}), 0);
    const tl_vec3 p[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    assert_int_equal(tl_orient3d(&p[0], &p[1], &p[2], &p[3]), 1);
    assert_int_equal(tl_orient3d(&p[0], &p[2], &p[1], &p[3]), -1);
    assert_int_equal(tl_orient3d(&p[0], &p[2], &p[1], &p[0]), 0);
    assert_int_equal(tl_orient2d((tl_vec2){NAN, 0}, (tl_vec2){0, 1}, (tl_vec2){1, 0}), 0);
    const tl_vec3 q = {INFINITY, 0, 0};
    assert_int_equal(tl_orient3d(&p[0], &p[1], &p[2], &q), 0);
    // the smallest and the largest doubles there are
    const double tiny = 0x1p-1074, huge = 0x1.fffffffffffffp1023;
    assert_int_equal(tl_orient2d((tl_vec2){0, 0}, (tl_vec2){tiny, 0}, (tl_vec2){0, tiny}), 1);
    assert_int_equal(tl_orient2d((tl_vec2){-huge, -huge}, (tl_vec2){huge, -huge}, (tl_vec2){-huge, huge}), 1);
    const tl_vec3 far[4] = {{-huge, -huge, -huge}, {huge, 0, tiny}, {tiny, huge, 0}, {0, tiny, huge}};
    check3(far);
}

// Points next to a line: a small square of neighbouring doubles around it.
static void near_a_line(void **state)
{
    (void)state;
    const tl_vec2 b = {12, 12}, c = {24, 24};
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 64; j++) check2((tl_vec2){0.5 + i * 0x1p-53, 0.5 + j * 0x1p-53}, b, c);
    for (int n = 0; n < 20000; n++) {
        const tl_vec2 p = {uniform(), uniform()}, q = {uniform(), uniform()};
        const double t = 4 * uniform() - 2;
        check2(p, q, (tl_vec2){p.x + t * (q.x - p.x), p.y + t * (q.y - p.y)});  // on the line but for rounding
    }
}

static tl_vec3 mix(tl_vec3 p, tl_vec3 q, tl_vec3 r, double u, double v)
{
    return (tl_vec3){p.x + u * (q.x - p.x) + v * (r.x - p.x), p.y + u * (q.y - p.y) + v * (r.y - p.y),
                     p.z + u * (q.z - p.z) + v * (r.z - p.z)};
}

static void near_a_plane(void **state)
{
    (void)state;
    for (int n = 0; n < 20000; n++) {
        tl_vec3 p[4];
        for (int i = 0; i < 3; i++) p[i] = (tl_vec3){uniform() + n % 3 * 1000, uniform(), uniform()};
        p[3] = mix(p[0], p[1], p[2], 2 * uniform() - 0.5, 2 * uniform() - 0.5);
        check3(p);
        for (int i = 0; i < 4; i++) p[i].z = 0.1 * (n % 10);  // in one plane exactly
        assert_int_equal(tl_orient3d(&p[0], &p[1], &p[2], &p[3]), 0);
    }
}

// Whole coordinates: __int128 holds the determinant.
static void whole_coordinates(void **state)
{
    (void)state;
    for (int n = 0; n < 20000; n++) {
        const int64_t size = (int64_t)1 << (2 + n % 38);
        int64_t c[4][3];
        tl_vec3 p[4];
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < 3; k++) c[i][k] = (int64_t)(uniform() * (double)size) - size / 2;
        if (n % 2)
            for (int k = 0; k < 3; k++) c[3][k] = c[0][k] + (c[1][k] - c[0][k]) / 2 + (c[2][k] - c[0][k]) / 4;
        for (int i = 0; i < 4; i++) p[i] = (tl_vec3){(double)c[i][0], (double)c[i][1], (double)c[i][2]};
        __extension__ typedef __int128 wide;
        wide m[3][3], det = 0;
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) m[i][k] = c[i + 1][k] - c[0][k];
        for (int i = 0; i < 3; i++)
            det += m[0][i] * (m[1][(i + 1) % 3] * m[2][(i + 2) % 3] - m[1][(i + 2) % 3] * m[2][(i + 1) % 3]);
        assert_int_equal(tl_orient3d(&p[0], &p[1], &p[2], &p[3]), (det > 0) - (det < 0));
        assert_int_equal(oracle3(p), (det > 0) - (det < 0));  // the oracle itself
    }
}

// Scales from 1e-150 to 1e150, alone and mixed in one determinant; denormals; nearly flat ones among them.
static void all_scales(void **state)
{
    (void)state;
    for (int n = 0; n < 6000; n++) {
        const int mode = n % 4, common = below(996) - 498;
        tl_vec3 p[4];
        for (int i = 0; i < 4; i++) {
            double *x = &p[i].x;
            for (int k = 0; k < 3; k++) {
                const int e = mode == 0   ? common
                              : mode == 1 ? below(996) - 498
                              : mode == 2 ? -below(60)
                                          : -1074 + below(80);
                x[k] = ldexp(uniform() - 0.5, e);
            }
        }
        if (mode == 0 || below(2)) p[3] = mix(p[0], p[1], p[2], below(5) * 0.25, uniform());
        check3(p);
        check2((tl_vec2){p[0].x, p[0].y}, (tl_vec2){p[1].x, p[1].y}, (tl_vec2){p[2].x, p[2].y});
        const tl_vec2 a = {p[0].x, p[0].y}, b = {p[1].x, p[1].y};
        check2(a, b, (tl_vec2){0.5 * (a.x + b.x), 0.5 * (a.y + b.y)});
    }
}

static void check_circle(const tl_vec2 p[4], int want)
{
    if (tl_incircle(p[0], p[1], p[2], p[3]) != want)
        for (int i = 0; i < 4; i++) print_error("%a %a\n", p[i].x, p[i].y);
    assert_int_equal(tl_incircle(p[0], p[1], p[2], p[3]), want);
    assert_int_equal(tl_incircle(p[1], p[2], p[0], p[3]), want);
    assert_int_equal(tl_incircle(p[1], p[0], p[2], p[3]), -want);
    assert_int_equal(tl_incircle(p[0], p[1], p[3], p[2]), -want);  // four rows exchanged: one transposition
}

static void near_a_circle(void **state)
{
    (void)state;
    const tl_vec2 unit[4] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    check_circle(unit, 0);
    check_circle((const tl_vec2[4]){{1, 0}, {0, 1}, {-1, 0}, {0, 0}}, 1);
    check_circle((const tl_vec2[4]){{1, 0}, {0, 1}, {-1, 0}, {0, -1.5}}, -1);
    for (int n = 0; n < (SANITIZED ? 2000 : 20000); n++) {
        tl_vec2 p[4];
        const tl_vec2 on[12] = {{5, 0},  {4, 3},   {3, 4},   {0, 5},  {-3, 4}, {-4, 3},
                                {-5, 0}, {-4, -3}, {-3, -4}, {0, -5}, {3, -4}, {4, -3}};
        const tl_vec2 shift = {uniform() * (n % 3), uniform() * (n % 2)};
        for (int i = 0; i < 4; i++) {  // on a circle but for rounding, or a bit beside it
            p[i] = on[below(12)];
            p[i].x = p[i].x * 0.1 + shift.x, p[i].y = p[i].y * 0.1 + shift.y;
            if (below(4) == 0 && p[i].x != 0) p[i].x = nextafter(p[i].x, uniform() - 0.5);
            if (below(8) == 0) p[i] = (tl_vec2){uniform(), ldexp(uniform(), below(80) - 40)};
        }
        const int want = oracle_circle(p);
        check_circle(p, want);
        tl_vec2 scaled[4];
        const int powers[3] = {-300, 255, 480};  // exponents that expansions do not hold
        for (int k = 0; k < 3 && n % 50 == 0; k++) {
            for (int i = 0; i < 4; i++) scaled[i] = (tl_vec2){ldexp(p[i].x, powers[k]), ldexp(p[i].y, powers[k])};
            check_circle(scaled, want);
        }
    }
    assert_int_equal(tl_incircle((tl_vec2){NAN, 0}, unit[1], unit[2], unit[3]), 0);
}

static void cost(void **state)
{
    (void)state;
    enum { N = 200000 };
    tl_vec3 p[4] = {{0}};
    const struct {
        const char *what;
        double tilt;
    } kinds[] = {{"clear", 1}, {"flat", 0}};
    for (int kind = 0; kind < 2; kind++) {
        for (int i = 0; i < 4; i++) p[i] = (tl_vec3){uniform(), uniform(), 0.3 + kinds[kind].tilt * uniform()};
        int sum = 0;
        const double start = tl_now();
        for (int n = 0; n < N; n++) {
            p[0].x += 1e-9;
            sum += tl_orient3d(&p[0], &p[1], &p[2], &p[3]);
        }
        print_message("orient3d, %s: %.0f ns\n", kinds[kind].what, 1e9 * (tl_now() - start) / N);
        assert_int_equal(abs(sum), kind == 0 ? N : 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),       cmocka_unit_test(near_a_line),       cmocka_unit_test(near_a_plane),
        cmocka_unit_test(near_a_circle), cmocka_unit_test(whole_coordinates), cmocka_unit_test(all_scales),
        cmocka_unit_test(cost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
