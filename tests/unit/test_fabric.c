// Fabrics: importers against values worked by hand, stiffness at strain and curvature, smoothness, motion curves.

#include "check.h"

#include <string.h>

#include "base/rng.h"
#include "physics/fabric.h"
#include "sim/motion.h"

static void isotropic_sheet(void **state)
{
    (void)state;
    tl_error err;
    tl_material m;
    assert_ok(tl_material_isotropic(2e6, 0.3, 1e-3, 0.5, &m, &err));
    const tl_stretch c = tl_material_stretch(&m, 0.01, -0.02, 0.005);
    assert_near(c.c11, 2e3 / 0.91, 1e-9);
    assert_near(c.c12, 0.3 * 2e3 / 0.91, 1e-9);
    assert_near(c.c33, 4 * 2e3 / (2 * 1.3), 1e-9);  // 4 G h
    const tl_plate b = tl_material_plate(&m, 30);
    const double d = 2e6 * 1e-9 / (12 * 0.91);
    assert_near(b.b11, d, 1e-15);
    assert_near(b.b12, 0.3 * d, 1e-15);
    assert_near(b.b66, 0.35 * d, 1e-15);
    assert_false(tl_material_is_nonlinear(&m));
    tl_material auxetic;  // a negative Poisson's ratio counts
    assert_ok(tl_material_isotropic(2e6, -0.5, 1e-3, 0.5, &auxetic, &err));
    assert_near(tl_material_stretch(&auxetic, 0, 0, 0).c12, -0.5 * 2e3 / 0.75, 1e-9);
    assert_int_equal(tl_material_isotropic(-1, 0.3, 1e-3, 0.5, &m, &err), TL_BAD_INPUT);
    assert_non_null(strstr(err.message, "young -1"));
}

// Energy of a cylinder bent along 0, 45 and 90 degrees gives back the three tabulated rigidities.
static void directional_rigidities_come_back(void **state)
{
    (void)state;
    tl_error err;
    tl_material m;
    const tl_orthotropic def = {.stretch_warp = 500,
                                .stretch_weft = 300,
                                .shear = 50,
                                .poisson = 0.1,
                                .bend_warp = 5e-5,
                                .bend_weft = 2e-5,
                                .bend_bias = 3e-5,
                                .density = 0.2};
    assert_ok(tl_material_orthotropic(&def, &m, &err));
    const tl_plate b = tl_material_plate(&m, 0);
    const double want[3] = {5e-5, 3e-5, 2e-5};
    for (int k = 0; k < 3; k++) {
        const double a = k * 3.14159265358979323846 / 4, c = cos(a), s = sin(a);
        const double s11 = c * c, s22 = s * s, s12 = c * s;
        assert_near(b.b11 * s11 * s11 + b.b22 * s22 * s22 + 2 * b.b12 * s11 * s22 + 4 * b.b66 * s12 * s12, want[k],
                    1e-12);
    }
    // the hinge looks up by the axis of bending: along the warp it bends the weft
    assert_near(tl_material_rigidity(&m, 1, 0, 0), 2e-5, 1e-18);
    assert_near(tl_material_rigidity(&m, 0, -1, 0), 5e-5, 1e-18);
    assert_near(tl_material_rigidity(&m, -1, 1, 0), 3e-5, 1e-18);
}

static void kawabata_and_fast_sheets(void **state)
{
    (void)state;
    tl_error err;
    tl_material m;
    // LT = 1 and WT = 500 * EMT / 200: a linear spring; 4 % at 490.33 N/m is 12258 N/m
    const tl_kesf kes = {.lt_warp = 1,
                         .lt_weft = 1,
                         .wt_warp = 10,
                         .wt_weft = 10,
                         .emt_warp = 4,
                         .emt_weft = 4,
                         .g_warp = 1,
                         .g_weft = 1,
                         .b_warp = 0.1,
                         .b_weft = 0.05,
                         .weight = 20,
                         .thickness = 0.5,
                         .hb_warp = 0.06,
                         .hb_weft = 0.04};
    assert_ok(tl_material_kesf(&kes, &m, &err));
    assert_near(m.stretch[0][0], 500 * 9.80665e-3 / 1e-2 / 0.04, 1e-6);
    assert_near(m.bend[2][0], 9.80665e-6, 1e-12);             // warp bent: 0.1 gf cm^2/cm
    assert_near(m.friction_bend, 0.025 * 9.80665e-3, 1e-12);  // half of 0.05 gf cm/cm
    assert_near(m.density, 0.2, 1e-15);
    assert_near(m.stretch[0][3] / 4, 0.980665 * 180 / 3.14159265358979323846, 1e-9);
    const tl_fast fast = {.e5_warp = 1,
                          .e5_weft = 1,
                          .e20_warp = 2.5,
                          .e20_weft = 2.5,
                          .e100_warp = 5,
                          .e100_weft = 5,
                          .eb5 = 4,
                          .c_warp = 20,
                          .c_weft = 15,
                          .weight = 180,
                          .thickness = 0.6};
    assert_ok(tl_material_fast(&fast, &m, &err));
    assert_near(m.stretch[0][0], 15 * 0.980665 / 0.015, 1e-9);
    assert_near(m.bend[2][0], 0.18 * 9.80665 * 8e-6, 1e-15);
    assert_near(m.stretch[0][3] / 4, 123.0 / 4, 1e-12);
}

static tl_material measured(void)
{
    tl_material m = tl_material_default();
    for (int r = 0; r < 6; r++)
        for (int k = 0; k < 4; k++) m.stretch[r][k] = 100 * (1 + 0.3 * r) * (k == 1 ? 0.2 : 1 + 0.1 * k);
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 5; k++) m.bend[r][k] = 1e-5 * (1 + r) * (1 + 0.5 * k);
    return m;
}

static void measured_tables_are_looked_up(void **state)
{
    (void)state;
    const tl_material m = measured();
    assert_true(tl_material_is_nonlinear(&m));
    // at rest: row 0; stretched by 1/6 along the warp: row 1; along the weft: row 5; half way: the mean
    assert_near(tl_material_stretch(&m, 0, 0, 0).c11, m.stretch[0][0], 1e-12);
    const double w = 7.0 / 6, full = 0.5 * (w * w - 1), h = 13.0 / 12, half = 0.5 * (h * h - 1);
    assert_near(tl_material_stretch(&m, full, 0, 0).c22, m.stretch[1][2], 1e-9);
    assert_near(tl_material_stretch(&m, 0, full, 0).c22, m.stretch[5][2], 1e-9);
    assert_near(tl_material_stretch(&m, half, 0, 0).c22, 0.5 * (m.stretch[0][2] + m.stretch[1][2]), 1e-9);
    assert_near(tl_material_stretch(&m, 10, 0, 0).c22, m.stretch[1][2], 1e-9);  // constant beyond
    const tl_plate b = tl_material_plate(&m, 15);
    assert_near(b.b22, 1e-5 * 1.75, 1e-15);
    assert_near(tl_material_plate(&m, 1e9).b11, 3e-5 * 3, 1e-15);
}

// No jump anywhere, in particular not where both stretches agree and the direction of the larger is undefined.
static void stiffness_is_continuous_in_strain(void **state)
{
    (void)state;
    const tl_material m = measured();
    double worst = 0;
    for (uint64_t i = 0; i < 20000; i++) {
        double e[3];
        for (uint64_t k = 0; k < 3; k++) e[k] = 0.4 * (tl_random(1, k, i) - 0.4);
        if (i % 2) e[1] = e[0] + 1e-5 * (tl_random(2, 1, i) - 0.5), e[2] = 1e-5 * (tl_random(2, 2, i) - 0.5);
        const tl_stretch a = tl_material_stretch(&m, e[0], e[1], e[2]);
        const tl_stretch b = tl_material_stretch(&m, e[0] + 1e-6, e[1] - 1e-6, e[2] + 1e-6);
        worst = fmax(worst, fabs(a.c11 - b.c11) + fabs(a.c33 - b.c33));
        assert_true(a.c11 >= 0 && a.c33 >= 0 && a.c12 * a.c12 <= a.c11 * a.c22 * (1 + 1e-12));
    }
    assert_true(worst < 0.1);  // coefficients of some 300 N/m: no jump
}

typedef struct path_key {
    double time;
    tl_vec3 p;
} path_key;

static void curves_pass_their_keys_smoothly(void **state)
{
    (void)state;
    const path_key keys[5] = {{0, {0, 0, 0}}, {1, {1, 2, 0}}, {2, {1, 3, 0}}, {3, {1, -1, 0}}, {5, {4, 0, 0}}};
    for (int k = 0; k < 5; k++) {
        const tl_vec3 p = tl_curve_at(keys, 5, sizeof *keys, offsetof(path_key, p), keys[k].time);
        assert_near(p.x, keys[k].p.x, 1e-14);
        assert_near(p.y, keys[k].p.y, 1e-14);
    }
    // x holds still between equal keys and never overshoots; velocity has no jump and is zero at the ends
    double last = 0, last_v = 0;
    for (double t = 0; t <= 5; t += 1e-3) {
        const tl_vec3 p = tl_curve_at(keys, 5, sizeof *keys, offsetof(path_key, p), t);
        if (t >= 1 && t <= 3) assert_near(p.x, 1, 1e-14);
        assert_true(p.y <= 3 + 1e-12 && p.y >= -1 - 1e-12);
        const double v = (p.y - last) / 1e-3;
        if (t > 0) assert_true(fabs(v - last_v) < 0.05);
        last = p.y, last_v = v;
    }
    assert_near(last_v, 0, 0.01);
}

static void turns_are_kept_and_gusts_repeat(void **state)
{
    (void)state;
    const double pi = 3.14159265358979323846;
    const tl_pose_key keys[2] = {{.time = 0, .value = {.scale = 1}},
                                 {.time = 1, .value = {.turn = {0, 0, 4 * pi}, .scale = 1}}};
    int crossings = 0;
    double last = 1;
    for (double t = 0; t <= 1; t += 1e-3) {
        const tl_vec3 p = tl_pose_apply(keys, 2, t, (tl_vec3){0, 0, 0}, (tl_vec3){1, 0, 0});
        assert_near(tl_norm3(p), 1, 1e-14);
        crossings += last < 0 && p.x >= 0;
        last = p.x;
    }
    assert_int_equal(crossings, 2);
    const tl_air_def air = {.wind = {3, 0, 0}, .gust = 0.5, .gust_period = 1};
    double mean = 0, most = 0;
    for (int i = 0; i < 2000; i++) {
        const tl_vec3 a = tl_wind_at(&air, 9, 0.05 * i), b = tl_wind_at(&air, 9, 0.05 * i);
        assert_true(a.x == b.x && a.y == b.y && a.z == b.z);
        mean += a.x / 2000, most = fmax(most, fabs(a.x - 3));
    }
    assert_near(mean, 3, 0.3);
    assert_true(most > 0.3 && most <= 1.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(isotropic_sheet),
        cmocka_unit_test(directional_rigidities_come_back),
        cmocka_unit_test(kawabata_and_fast_sheets),
        cmocka_unit_test(measured_tables_are_looked_up),
        cmocka_unit_test(stiffness_is_continuous_in_strain),
        cmocka_unit_test(curves_pass_their_keys_smoothly),
        cmocka_unit_test(turns_are_kept_and_gusts_repeat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
