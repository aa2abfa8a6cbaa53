// Every step comes to an end at a bounded cost, by counts: what takes more than its budget is ended coarsely, free of
// intersections, finite, counted, and with the same bits on any number of threads and after a restart.

#include "check.h"
#include "sheets.h"

#include "base/workers.h"
#include "toile/toile.h"

enum { CELLS = 10 };

typedef struct ask {
    double effort;  ///< us a face; 0: the default
    double gravity;
    tl_vec3 wind;
    int32_t threads;
    bool hang, ball, limits;
    double pull;  ///< of the lower edge [m/s]
} ask;

static tl_sim *make_sim(ask a)
{
    tl_error err;
    tl_sim_def def = tl_sim_def_default();
    tl_sim *sim;
    def.gravity = (tl_vec3){0, -a.gravity, 0}, def.air.wind = a.wind, def.threads = a.threads > 0 ? a.threads : 1;
    if (a.effort > 0) def.effort = a.effort;
    assert_ok(tl_sim_create(&def, &sim, &err));
    sheet s = sheet_grid(0.5, 0.5, CELLS, CELLS, true);
    for (int32_t i = 0; i < s.node_count; i++)
        s.pos[i] = a.hang ? (tl_vec3){s.uv[i].x - 0.25, s.uv[i].y, 1e-4 * sin(17 * s.uv[i].x)}
                          : (tl_vec3){s.uv[i].x - 0.25, 0.11 + 0.01 * s.uv[i].x, 0.25 - s.uv[i].y};
    const tl_material m = tl_material_default();
    tl_cloth_def cloth = tl_cloth_def_default();
    tl_cloth_id id;
    cloth.node_count = s.node_count, cloth.pos = s.pos, cloth.uv = s.uv;
    cloth.face_count = s.face_count, cloth.face = (const int32_t(*)[3])s.face;
    cloth.materials = &m, cloth.material_count = 1;
    if (a.limits) cloth.strain = (tl_strain_def){.kind = TL_STRAIN_ISOTROPIC, .min = -0.05, .max = 0.05};
    assert_ok(tl_sim_add_cloth(sim, &cloth, &id, &err));
    sheet_free(&s);
    tl_handle_def h = tl_handle_def_default();
    const tl_motion_key keys[2] = {
        {.time = 0}, {.time = 1, .translate = {0, -a.pull, 0}, .rotate_axis = {0, 1, 0}, .rotate_deg = 1440}};
    h.cloth = id, h.use_uv_box = 1, h.uv_min = (tl_vec2){-1, 0.499}, h.uv_max = (tl_vec2){1, 1};
    if (a.hang) assert_ok(tl_sim_add_handle(sim, &h, &err));
    h.uv_min = (tl_vec2){-1, -1}, h.uv_max = (tl_vec2){1, 1e-3}, h.keys = keys, h.key_count = 2;
    if (a.pull > 0) assert_ok(tl_sim_add_handle(sim, &h, &err));
    tl_body_def body = tl_body_def_default();
    tl_body_id ball;
    body.kind = TL_BODY_SPHERE, body.radius = 0.1;
    if (a.ball) assert_ok(tl_sim_add_body(sim, &body, &ball, &err));
    return sim;
}

static void assert_sound(tl_sim *sim)
{
    tl_error err;
    tl_cloth_view view;
    assert_ok(tl_sim_cloth_view(sim, tl_sim_cloth(sim, 0), &view));
    for (int32_t i = 0; i < view.node_count; i++)
        assert_true(isfinite(view.pos[i].x) && isfinite(view.pos[i].y) && isfinite(view.pos[i].z));
    tl_intersection_report found;
    assert_ok(tl_sim_intersections(sim, &found, &err));
    assert_int_equal(found.cloth_cloth + found.cloth_body, 0);
}

// What may be charged in one step: its allowance, and what it takes to end it (an iteration under way and two for each
// of the pieces left).
static double most_effort(double effort) { return 1e-6 * effort * 6000 * 4 + 1; }

static void hard_scenes_keep_to_the_budget(void **state)
{
    (void)state;
    tl_error err;
    const ask scenes[] = {
        {.gravity = 1e5, .ball = true},
        {.gravity = 9.81, .wind = {30, 0, 300}, .hang = true},
        {.gravity = 9.81, .hang = true, .pull = 3},
        {.gravity = 9.81, .hang = true, .pull = 0.1, .limits = true},
    };
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes; k++) {
        ask a = scenes[k];
        a.effort = 5;  // a twelfth of what is usual: the test is about the end, not about how it comes to it
        tl_sim *sim = make_sim(a);
        int32_t hurried = 0;
        double worst = 0;
        for (int i = 0; i < (SANITIZED ? 4 : 16); i++) {
            tl_step_report report;
            assert_ok(tl_sim_step(sim, &report, &err));
            hurried += report.hurried;
            worst = fmax(worst, report.effort);
            assert_true(report.hurried == 0 || report.unconverged > 0);
        }
        print_message("scene %zu: %d hurried, worst step %.3f s of the model\n", k, hurried, worst);
        assert_true(worst <= most_effort(a.effort));
        if (k == 0) assert_true(hurried > 0);
        assert_sound(sim);
        tl_sim_destroy(sim);
    }
}

// A budget of next to nothing: every step is ended at once, and cloth still falls, rests and is free of intersections.
static void a_starved_simulation_goes_on(void **state)
{
    (void)state;
    tl_error err;
    tl_sim *sim = make_sim((ask){.effort = 1e-3, .gravity = 9.81, .ball = true});
    for (int i = 0; i < 60; i++) {
        tl_step_report report;
        assert_ok(tl_sim_step(sim, &report, &err));
        assert_true(report.newton_iterations <= 3 && report.linear_iterations <= 3 * 6 * 16);
        assert_sound(sim);
    }
    tl_energies e;
    assert_ok(tl_sim_energies(sim, &e));
    assert_true(e.kinetic < 0.25 * 0.5 * 0.2 * 9);  // slower than free fall of 0.45 m
    tl_sim_destroy(sim);
}

static void ordinary_cloth_is_never_hurried(void **state)
{
    (void)state;
    tl_error err;
    tl_sim *sim = make_sim((ask){.gravity = 9.81, .ball = true});
    for (int i = 0; i < 40; i++) {
        tl_step_report report;
        assert_ok(tl_sim_step(sim, &report, &err));
        assert_int_equal(report.hurried, 0);
        assert_true(report.effort > 0 && report.effort < 0.05);
    }
    tl_sim_destroy(sim);
}

static void hurried_steps_have_the_same_bits(void **state)
{
    (void)state;
    tl_error err;
    const ask a = {.effort = 1, .gravity = 1e4, .ball = true};
    uint64_t hash[3];
    for (int k = 0; k < 3; k++) {
        ask b = a;
        b.threads = k == 1 ? 3 : 1;
        tl_sim *sim = make_sim(b);
        int32_t hurried = 0;
        for (int i = 0; i < 13; i++) {
            tl_step_report report;
            if (k == 2 && i == 5) {  // goes on from a saved state
                const void *data;
                size_t size;
                assert_ok(tl_sim_save(sim, &data, &size, &err));
                tl_sim *other = make_sim(b);
                assert_ok(tl_sim_restore(other, data, size, &err));
                tl_sim_destroy(sim);
                sim = other;
            }
            assert_ok(tl_sim_step(sim, &report, &err));
            hurried += report.hurried;
        }
        assert_true(hurried > 0);
        hash[k] = tl_sim_hash(sim);
        tl_sim_destroy(sim);
    }
    assert_true(hash[0] == hash[1]);
    assert_true(hash[0] == hash[2]);
}

static void work_is_counted(void **state)
{
    (void)state;
    tl_error err;
    const tl_allocator alloc = tl_allocator_default();
    tl_workers *w;
    assert_ok(tl_workers_create(&alloc, 1, &w, &err));
    assert_false(tl_workers_exhausted(NULL));
    tl_workers_charge(w, 10);
    assert_false(tl_workers_exhausted(w));
    tl_workers_allow(w, 5);
    tl_workers_charge(w, 4);
    assert_false(tl_workers_exhausted(w));
    tl_workers_charge(w, 1);
    assert_true(tl_workers_exhausted(w) && !tl_workers_overdrawn(w));
    tl_workers_grant(w, 3);
    tl_workers_charge(w, 2);
    assert_false(tl_workers_overdrawn(w) || tl_workers_overdrawn(NULL));
    tl_workers_charge(w, 1);
    assert_true(tl_workers_overdrawn(w));
    assert_near(tl_workers_spent(w), 18, 0);
    tl_workers_forget(w);
    assert_near(tl_workers_spent(w), 0, 0);
    tl_workers_destroy(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hard_scenes_keep_to_the_budget),
        cmocka_unit_test(a_starved_simulation_goes_on),
        cmocka_unit_test(ordinary_cloth_is_never_hurried),
        cmocka_unit_test(hurried_steps_have_the_same_bits),
        cmocka_unit_test(work_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
