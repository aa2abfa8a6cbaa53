// Turbulence: free of divergence, as strong as asked, carried by the wind, the same on every run; and cloth feels it.

#include "check.h"

#include "base/rng.h"
#include "physics/eddies.h"
#include "sheets.h"
#include "sim/motion.h"
#include "toile/toile.h"

static tl_vec3 somewhere(uint64_t i)
{
    return (tl_vec3){20 * tl_random(5, 0, i), 20 * tl_random(5, 1, i), 20 * tl_random(5, 2, i)};
}

static double along(const tl_eddies *e, tl_vec3 x, int axis, double h)
{
    double at[3] = {x.x, x.y, x.z};
    at[axis] += h;
    const tl_vec3 u = tl_eddies_at(e, (tl_vec3){at[0], at[1], at[2]});
    return axis == 0 ? u.x : axis == 1 ? u.y : u.z;
}

static void divergence_is_zero_and_gradients_are_not(void **state)
{
    (void)state;
    tl_eddies e;
    tl_eddies_init(&e, &(tl_eddies_def){.speed = 1, .length = 0.5, .seed = 3});
    const double h = 1e-4;
    double steepest = 0;
    for (uint64_t i = 0; i < 200; i++) {
        double sum = 0;
        for (int axis = 0; axis < 3; axis++) {
            const double d = (along(&e, somewhere(i), axis, h) - along(&e, somewhere(i), axis, -h)) / (2 * h);
            sum += d, steepest = fmax(steepest, fabs(d));
        }
        assert_near(sum, 0, 1e-4);  // central differences: h^2 k^3 / 6 with k up to 50
    }
    assert_true(steepest > 1);
}

static void strength_is_as_asked(void **state)
{
    (void)state;
    enum { POINTS = 20000, SEEDS = 8 };
    double square[3] = {0};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        tl_eddies e;
        tl_eddies_init(&e, &(tl_eddies_def){.speed = 0.7, .length = 0.5, .seed = seed});
        for (uint64_t i = 0; i < POINTS; i++) {
            const tl_vec3 u = tl_eddies_at(&e, somewhere(i));
            square[0] += u.x * u.x, square[1] += u.y * u.y, square[2] += u.z * u.z;
        }
    }
    const double all = (square[0] + square[1] + square[2]) / (3.0 * POINTS * SEEDS);
    assert_near(sqrt(all), 0.7, 0.02);
    for (int k = 0; k < 3; k++) assert_near(sqrt(square[k] / (POINTS * SEEDS)), 0.7, 0.12);  // no direction is favoured
}

static void eddies_drift_with_the_wind(void **state)
{
    (void)state;
    const tl_air_def air = {.wind = {3, 0, 1}, .turbulence = 0.1, .turbulence_length = 1};
    tl_eddies a, b, again;
    assert_true(tl_wind_eddies(&air, 7, 2.0, &a));
    assert_true(tl_wind_eddies(&air, 7, 2.1, &b));
    assert_true(tl_wind_eddies(&air, 7, 2.0, &again));
    assert_memory_equal(&a, &again, sizeof a);
    double carried = 0, stayed = 0;
    for (uint64_t i = 0; i < 500; i++) {
        const tl_vec3 x = somewhere(i), u = tl_eddies_at(&a, x);
        const tl_vec3 c = tl_sub3(tl_eddies_at(&b, tl_madd3(x, 0.1, air.wind)), u), s = tl_sub3(tl_eddies_at(&b, x), u);
        carried += tl_dot3(c, c), stayed += tl_dot3(s, s);
    }
    assert_true(carried < 0.1 * stayed);
    assert_true(carried > 0);  // and turn over on the way
    tl_air_def off = air;
    off.turbulence = 0;
    assert_false(tl_wind_eddies(&off, 7, 1, &a));
    off = air, off.wind = (tl_vec3){0, 0, 0};
    assert_false(tl_wind_eddies(&off, 7, 1, &a));
    // keys that say the same as a constant wind give the same eddies, to the rounding of the way so far
    const tl_wind_key keys[2] = {{0, {3, 0, 1}}, {5, {3, 0, 1}}};
    tl_air_def keyed = air;
    keyed.keys = keys, keyed.key_count = 2;
    assert_true(tl_wind_eddies(&keyed, 7, 2.1, &again));
    const tl_vec3 u = tl_eddies_at(&b, somewhere(1)), v = tl_eddies_at(&again, somewhere(1));
    assert_near(tl_norm3(tl_sub3(u, v)), 0, 1e-9);
}

// A free sheet across the wind: a uniform wind pushes it along as it is, eddies bend it.
static double bulge(double turbulence, int threads, uint64_t *hash)
{
    tl_error err;
    sheet s = sheet_grid(1, 1, 12, 12, true);
    tl_sim_def def = tl_sim_def_default();
    def.gravity = (tl_vec3){0, 0, 0}, def.threads = threads, def.collide.self = 0;
    def.air.wind = (tl_vec3){0, 0, 4}, def.air.turbulence = turbulence;
    tl_sim *sim = NULL;
    assert_ok(tl_sim_create(&def, &sim, &err));
    tl_cloth_def cloth = tl_cloth_def_default();
    const tl_material m = tl_material_default();
    cloth.node_count = s.node_count, cloth.pos = s.pos, cloth.uv = s.uv;
    cloth.face_count = s.face_count, cloth.face = (const int32_t(*)[3])s.face;
    cloth.materials = &m, cloth.material_count = 1;
    tl_cloth_id id;
    assert_ok(tl_sim_add_cloth(sim, &cloth, &id, &err));
    for (int i = 0; i < 20; i++) assert_ok(tl_sim_step(sim, NULL, &err));
    tl_cloth_view view;
    assert_ok(tl_sim_cloth_view(sim, id, &view));
    double lo = INFINITY, hi = -INFINITY;
    for (int32_t i = 0; i < view.node_count; i++) lo = fmin(lo, view.pos[i].z), hi = fmax(hi, view.pos[i].z);
    *hash = tl_sim_hash(sim);
    tl_sim_destroy(sim);
    sheet_free(&s);
    return hi - lo;
}

static void cloth_feels_it(void **state)
{
    (void)state;
    uint64_t one, three, uniform;
    const double flat = bulge(0, 1, &uniform), bent = bulge(0.3, 1, &one);
    assert_true(flat < 1e-3);
    assert_true(bent > 0.01);
    bulge(0.3, 3, &three);
    assert_true(one == three);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(divergence_is_zero_and_gradients_are_not),
        cmocka_unit_test(strength_is_as_asked),
        cmocka_unit_test(eddies_drift_with_the_wind),
        cmocka_unit_test(cloth_feels_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
