// A strip clamped at one end bends under its own weight like the heavy elastica, whatever the mesh.
//
// theta'' = -Gamma (1 - s) cos theta, Gamma = rho g L^3 / B; reference values of drop over reach were computed from
// that equation (docs/validation.md). Within 1 % for Gamma from 0.5 to 200. TL_LONG=1 runs every Gamma on every mesh.

#include "strips.h"

typedef struct reference {
    double gamma, ratio;
} reference;
static const reference table[] = {{0.5, 0.062444}, {1, 0.124562},  {2, 0.246673},   {5, 0.585721},  {10, 1.066802},
                                  {20, 1.863930},  {50, 3.705561}, {100, 5.888105}, {200, 8.906770}};

static double drop_over_reach(const sheet *s, double length, double gamma)
{
    tl_error err;
    // The stretch of a sheet this stiff changes H/W by less than 0.2 %.
    const double density = 0.2, weight = density * 9.81;
    const tl_material fabric = strip_fabric(300 * weight * length, weight * length * length * length / gamma, density);
    tl_sim_def def = static_def();
    def.gravity = (tl_vec3){0, 0, -9.81};
    strip_sim strip = strip_create(s, &fabric, &def);
    strip_hold_behind(&strip, 0);
    tl_step_report report;
    assert_ok(tl_sim_step(strip.sim, &report, &err));
    assert_int_equal(report.unconverged, 0);
    const tl_vec3 tip = strip_mean_at(&strip, length);
    tl_sim_destroy(strip.sim);
    return -tip.z / tip.x;
}

static void check_mesh(const char *name, sheet s, double length)
{
    strip_add_clamp(&s, length / 40);
    const bool all = getenv("TL_LONG") != NULL;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (!all && i % 4 != 0) continue;
        const double ratio = drop_over_reach(&s, length, table[i].gamma);
        print_message("%s, %d faces, Gamma %g: H/W %.5f, reference %.5f, error %+.2f %%\n", name, s.face_count,
                      table[i].gamma, ratio, table[i].ratio, 100 * (ratio / table[i].ratio - 1));
        assert_near(ratio, table[i].ratio, 0.01 * table[i].ratio);
    }
    sheet_free(&s);
}

static void structured(void **state)
{
    (void)state;
    check_mesh("alternating diagonals", sheet_grid(0.2, 0.02, 40, 4, true), 0.2);
    check_mesh("equal diagonals", sheet_grid(0.2, 0.02, 40, 4, false), 0.2);
}

static void scattered(void **state)
{
    (void)state;
    check_mesh("delaunay", sheet_delaunay(0.2, 0.03, 0.005, 1, 0, 1), 0.2);
    check_mesh("delaunay", sheet_delaunay(0.2, 0.03, 0.004, 1, 0, 2), 0.2);
}

// Long edges along the strip meet the sharp bend at the clamp with few faces: that case needs a finer mesh.
static void stretched(void **state)
{
    (void)state;
    check_mesh("5:1 along", sheet_delaunay(0.2, 0.005, 0.0007, 5, 0, 1), 0.2);
    check_mesh("5:1 at 45 degrees", sheet_delaunay(0.2, 0.012, 0.0015, 5, 45, 2), 0.2);
    check_mesh("5:1 across", sheet_delaunay(0.2, 0.03, 0.003, 5, 90, 3), 0.2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(structured), cmocka_unit_test(scattered),
                                       cmocka_unit_test(stretched)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
