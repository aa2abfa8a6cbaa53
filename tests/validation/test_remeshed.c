// Sheets at rest that are remeshed at every step, from a coarse start: the same closed forms as for fixed meshes.
//
// Cantilever and heart loop as in test_cantilever.c and test_statics.c; a strip rolled up by its ends as in pure
// bending.

#include "strips.h"

static tl_cloth_def adaptive(double size_min, double size_max)
{
    tl_cloth_def def = tl_cloth_def_default();
    def.remeshing.kind = TL_REMESHING_ANISOTROPIC;
    def.remeshing.size_min = size_min, def.remeshing.size_max = size_max, def.remeshing.interval = 1e-9,
    def.remeshing.patience = 1;  // every step
    def.remeshing.curvature = 0.08;
    return def;
}

static strip_sim create(const sheet *s, const tl_material *material, const tl_sim_def *def, tl_cloth_def cloth)
{
    tl_error err;
    strip_sim out;
    assert_ok(tl_sim_create(def, &out.sim, &err));
    cloth.node_count = s->node_count, cloth.pos = s->pos, cloth.uv = s->uv;
    cloth.face_count = s->face_count, cloth.face = (const int32_t(*)[3])s->face;
    cloth.materials = material, cloth.material_count = 1;
    assert_ok(tl_sim_add_cloth(out.sim, &cloth, &out.cloth, &err));
    return out;
}

static void look(strip_sim *s) { (void)tl_sim_cloth_view(s->sim, s->cloth, &s->view); }

static int32_t step(strip_sim *s)
{
    tl_error err;
    tl_step_report report;
    assert_ok(tl_sim_step(s->sim, &report, &err));
    return report.remesh.splits + report.remesh.flips + report.remesh.collapses;
}

// Heavy elastica: drop over reach, reference values as in test_cantilever.c.
static void cantilever(void **state)
{
    (void)state;
    static const double table[][2] = {{0.5, 0.062444}, {10, 1.066802}, {200, 8.906770}};
    const double length = 0.2, density = 0.2, weight = density * 9.81;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        sheet flat = sheet_grid(length, 0.02, 8, 1, true);
        strip_add_clamp(&flat, length / 40);
        const tl_material fabric =
            strip_fabric(300 * weight * length, weight * length * length * length / table[i][0], density);
        tl_sim_def def = static_def();
        def.gravity = (tl_vec3){0, 0, -9.81};
        strip_sim s = create(&flat, &fabric, &def, adaptive(0.003, 0.03));
        strip_hold_behind(&s, 0);
        int32_t made = 0, last = 0;
        for (int k = 0; k < 12; k++) made += last = step(&s);
        look(&s);
        const tl_vec3 tip = strip_mean_at(&s, length);
        const double ratio = -tip.z / tip.x;
        print_message("cantilever, Gamma %g: H/W %.5f, reference %.5f, error %+.2f %%; %d faces, %d operations, %d in "
                      "the last step\n",
                      table[i][0], ratio, table[i][1], 100 * (ratio / table[i][1] - 1), s.view.face_count, made, last);
        assert_near(ratio, table[i][1], 0.01 * table[i][1]);
        tl_sim_destroy(s.sim);
        sheet_free(&flat);
    }
}

static void hold_region(strip_sim *s, double u_min, double u_max, double time, tl_vec3 move, double turn_deg,
                        tl_vec3 pivot)
{
    tl_error err;
    const tl_motion_key keys[2] = {{.time = 0, .rotate_axis = {0, 1, 0}},
                                   {.time = time, .translate = move, .rotate_axis = {0, 1, 0}, .rotate_deg = turn_deg}};
    tl_handle_def hold = tl_handle_def_default();
    hold.cloth = s->cloth, hold.use_uv_box = 1;
    hold.uv_min = (tl_vec2){u_min, -1e9}, hold.uv_max = (tl_vec2){u_max, 1e9};
    hold.keys = keys, hold.key_count = 2, hold.pivot = pivot;
    assert_ok(tl_sim_add_handle(s->sim, &hold, &err));
}

static void heart_loop(void **state)
{
    (void)state;
    static const double table[][2] = {{10, 0.139540}, {400, 0.275445}};
    const double length = 0.3, cell = length / 20, density = 0.2, weight = density * 9.81;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        sheet flat = sheet_grid(length + 2 * cell, 0.02, 22, 1, true);
        const double gamma = table[i][0];
        const tl_material fabric = strip_fabric(3000 * weight * length * fmax(1, 30 / gamma),
                                                weight * length * length * length / gamma, density);
        tl_sim_def def = static_def();
        def.gravity = (tl_vec3){0, 0, -9.81};
        def.newton_tolerance = 1e-9;
        strip_sim s = create(&flat, &fabric, &def, adaptive(0.004, 0.03));
        const int steps = 24;
        hold_region(&s, -1e9, cell + 1e-9, steps * def.dt, (tl_vec3){length / 2, 0, 0}, 270, (tl_vec3){cell, 0, 0});
        hold_region(&s, cell + length - 1e-9, 1e9, steps * def.dt, (tl_vec3){-length / 2, 0, 0}, -270,
                    (tl_vec3){cell + length, 0, 0});
        int32_t made = 0;
        for (int k = 0; k < steps + 8; k++) made += step(&s);
        look(&s);
        double lowest = 0;
        for (int32_t n = 0; n < s.view.node_count; n++) lowest = fmin(lowest, s.view.pos[n].z);
        const double depth = -lowest / length;
        print_message("heart loop, Gamma %g: depth %.5f L, reference %.5f, error %+.2f %%; %d faces, %d operations\n",
                      gamma, depth, table[i][1], 100 * (depth / table[i][1] - 1), s.view.face_count, made);
        assert_near(depth, table[i][1], 0.01 * table[i][1]);
        tl_sim_destroy(s.sim);
        sheet_free(&flat);
    }
}

// A strip without weight whose ends are turned by 120 degrees each, with the chord of the circle between them, is an
// arc of that circle.
static void rolled(void **state)
{
    (void)state;
    const double pi = 3.14159265358979323846, length = 0.3, cell = length / 20, turn = 2 * pi / 3;
    sheet flat = sheet_grid(length + 2 * cell, 0.02, 22, 1, true);
    const tl_material fabric = strip_fabric(2000, 1e-4, 0.2);
    tl_sim_def def = static_def();
    def.gravity = (tl_vec3){0, 0, 0};
    def.newton_tolerance = 1e-9;
    strip_sim s = create(&flat, &fabric, &def, adaptive(0.004, 0.03));
    const double radius = length / (2 * turn), chord = 2 * radius * sin(turn);
    const int steps = 16;
    hold_region(&s, -1e9, cell + 1e-9, steps * def.dt, (tl_vec3){(length - chord) / 2, 0, 0}, 180 / pi * turn,
                (tl_vec3){cell, 0, 0});
    hold_region(&s, cell + length - 1e-9, 1e9, steps * def.dt, (tl_vec3){-(length - chord) / 2, 0, 0}, -180 / pi * turn,
                (tl_vec3){cell + length, 0, 0});
    int32_t made = 0;
    for (int k = 0; k < steps + 8; k++) made += step(&s);
    look(&s);
    // the circle through the two grips, as high as it is on one side of them
    double top = 0, low = 0;
    for (int32_t n = 0; n < s.view.node_count; n++) top = fmax(top, s.view.pos[n].z), low = fmin(low, s.view.pos[n].z);
    const double height = radius * (1 - cos(turn));
    const double measured = fmax(top, -low);
    print_message("rolled: height %.5f, circle %.5f, error %+.2f %%; %d faces, %d operations\n", measured, height,
                  100 * (measured / height - 1), s.view.face_count, made);
    assert_near(measured, height, 0.01 * height);
    tl_sim_destroy(s.sim);
    sheet_free(&flat);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cantilever), cmocka_unit_test(heart_loop),
                                       cmocka_unit_test(rolled)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
