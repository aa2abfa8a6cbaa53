// A strip clamped at one end bends under its own weight like the heavy elastica, whatever the mesh.
//
// theta'' = -Gamma (1 - s) cos theta; drop over reach H/W from docs/validation.md, 1 % for Gamma in [0.5, 200].

#include "strips.h"

typedef struct reference { double gamma, ratio; } reference;
static const reference table[] = {{0.5, 0.062444}, {1, 0.124562}, {5, 0.585721}, {10, 1.066802},
                                  {30, 2.547214}, {100, 5.888105}, {200, 8.906770}};

static double drop_over_reach(const sheet *s, double length, double gamma)
{
    tl_error err;
    const double density = 0.2, weight = density * 9.81, bend = weight * length * length * length / gamma;
    const tl_material fabric = strip_fabric((getenv("KK")?atof(getenv("KK")):600) * weight * length, bend, density);
    tl_sim_def def = static_def();
    def.gravity = (tl_vec3){0, 0, -9.81};
    strip_sim strip = strip_create(s, &fabric, &def);
    strip_hold_behind(&strip, 0);
    tl_step_report report = {0};
    int its=0;
    for (int k = 0; k < 1; k++) { assert_ok(tl_sim_step(strip.sim, &report, &err)); its+=report.newton_iterations; }
    if(getenv("SHOW"))print_message("newton %d change %g rej %d unconv %d\n",its,report.newton_change,report.rejected,report.unconverged);
    const tl_vec3 tip = strip_mean_at(&strip, length);
    tl_sim_destroy(strip.sim);
    return -tip.z / tip.x;
}

static void check_mesh(const char *name, sheet s, double length)
{
    strip_add_clamp(&s, length / 40);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const double ratio = drop_over_reach(&s, length, table[i].gamma);
        print_message("%s: %d faces, Gamma %g: H/W %.5f, reference %.5f, error %+.2f %%\n", name, s.face_count,
                      table[i].gamma, ratio, table[i].ratio, 100 * (ratio / table[i].ratio - 1));
    }
    sheet_free(&s);
}

static void structured(void **state)
{
    (void)state;
    if(!getenv("ED"))check_mesh("structured", sheet_grid(0.2, 0.02, 40, 4, true), 0.2);
    if(!getenv("ED"))check_mesh("structured, one diagonal", sheet_grid(0.2, 0.02, 40, 4, false), 0.2);
}

static void scattered(void **state)
{
    (void)state;
    if(!getenv("ED"))check_mesh("delaunay", sheet_delaunay(0.2, 0.03, 0.005, 1, 0, 1), 0.2);
    if(!getenv("ED"))check_mesh("delaunay", sheet_delaunay(0.2, 0.03, 0.005, 1, 0, 2), 0.2);
}

static void stretched(void **state)
{
    (void)state;
    double ed=getenv("ED")?atof(getenv("ED")):0.0015;
    check_mesh("5:1 at 0", sheet_delaunay(0.2, 0.012, ed, 5, 0, 1), 0.2);
    check_mesh("5:1 at 45", sheet_delaunay(0.2, 0.012, ed, 5, 45, 2), 0.2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(structured), cmocka_unit_test(scattered), cmocka_unit_test(stretched)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
