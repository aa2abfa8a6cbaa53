// Bodies that start at many metres a second from one step to the next: cloth that has room is pushed along, never
// pinched, and nothing crosses.

#include "check.h"
#include "sheets.h"

#include "math/vec3.h"
#include "toile/toile.h"

enum { CELLS = 14 };

// A sheet that hangs from its top side, floats upright, or lies level.
typedef enum hanging { LIES, HANGS, FLOATS } hanging;

static void add_sheet(tl_sim *sim, double side, tl_vec3 corner, hanging how)
{
    const bool hangs = how != LIES;
    tl_error err;
    sheet s = sheet_grid(side, side, CELLS, CELLS, true);
    for (int32_t i = 0; i < s.node_count; i++)
        s.pos[i] =
            tl_add3(corner, hangs ? (tl_vec3){s.uv[i].x, s.uv[i].y, 0} : (tl_vec3){s.uv[i].x, 0, side - s.uv[i].y});
    const tl_material m = tl_material_default();
    tl_cloth_def cloth = tl_cloth_def_default();
    cloth.remeshing.kind = TL_REMESHING_NONE;
    tl_cloth_id id;
    cloth.node_count = s.node_count, cloth.pos = s.pos, cloth.uv = s.uv, cloth.face_count = s.face_count;
    cloth.face = (const int32_t(*)[3])s.face, cloth.materials = &m, cloth.material_count = 1;
    assert_ok(tl_sim_add_cloth(sim, &cloth, &id, &err));
    int32_t top[CELLS + 1], count = 0;
    for (int32_t i = 0; i < s.node_count; i++)
        if (how == HANGS && s.uv[i].y > side - 1e-9) top[count++] = i;
    tl_handle_def handle = tl_handle_def_default();
    handle.cloth = id, handle.nodes = top, handle.node_count = count;
    if (count > 0) assert_ok(tl_sim_add_handle(sim, &handle, &err));
    sheet_free(&s);
}

// At rest until `start`, then at a constant velocity and spin.
typedef struct jerk {
    double start, end;
    tl_vec3 velocity;
    double spin;
} jerk;

static void add_mover(tl_sim *sim, tl_body_def body, const jerk *j)
{
    enum { PARTS = 8 };
    tl_error err;
    tl_body_id id;
    tl_motion_key keys[PARTS + 3] = {{.time = 0}, {.time = j->start, .has_rates = true}};
    for (int k = 0; k <= PARTS; k++) {
        const double t = k == 0 ? 1e-4 : (j->end - j->start) * k / PARTS;
        keys[2 + k] = (tl_motion_key){.time = j->start + t,
                                      .translate = tl_mul3(t, j->velocity),
                                      .rotate_axis = {0, 1, 0},
                                      .rotate_deg = j->spin * t * 57.29577951308232,
                                      .has_rates = true,
                                      .velocity = j->velocity,
                                      .spin = {0, j->spin, 0}};
    }
    body.motion = keys, body.motion_count = PARTS + 3, body.curve = TL_CURVE_CUBIC;
    assert_ok(tl_sim_add_body(sim, &body, &id, &err));
}

static tl_sim *make_sim(int32_t threads, double effort)
{
    tl_error err;
    tl_sim_def def = tl_sim_def_default();
    if (effort > 0) def.effort = effort;
    def.dt = 1.0 / 200, def.threads = threads;
    tl_sim *sim;
    assert_ok(tl_sim_create(&def, &sim, &err));
    return sim;
}

// A sheet lies over a block on legs, which jumps aside at 10 m/s.
static tl_sim *make_table(int32_t threads)
{
    tl_sim *sim = make_sim(threads, 0);
    add_sheet(sim, 0.5, (tl_vec3){-0.23, 0.302, -0.25}, LIES);
    const jerk jump = {0.4, 0.5, {10, 0, 0}, 0};
    tl_body_def top = tl_body_def_default();
    top.name = "top", top.kind = TL_BODY_BOX, top.center = (tl_vec3){0, 0.285, 0}, top.size = (tl_vec3){0.3, 0.03, 0.3};
    add_mover(sim, top, &jump);
    for (int k = 0; k < 4; k++) {
        static const char *const names[4] = {"leg0", "leg1", "leg2", "leg3"};
        tl_body_def leg = tl_body_def_default();
        leg.name = names[k], leg.kind = TL_BODY_BOX, leg.size = (tl_vec3){0.03, 0.25, 0.03};
        leg.center = (tl_vec3){k % 2 ? 0.13 : -0.13, 0.145, k / 2 ? 0.13 : -0.13};
        add_mover(sim, leg, &jump);
    }
    return sim;
}

// A ball is shot at 20 m/s into a sheet that hangs.
static tl_sim *make_shot(int32_t threads)
{
    tl_sim *sim = make_sim(threads, 0);
    add_sheet(sim, 0.5, (tl_vec3){-0.25, 0, 0}, HANGS);
    tl_body_def ball = tl_body_def_default();
    ball.name = "ball", ball.kind = TL_BODY_SPHERE, ball.center = (tl_vec3){0.03, 0.22, -0.15}, ball.radius = 0.08;
    add_mover(sim, ball, &(jerk){0.02, 0.04, {0, 0, 20}, 0});
    return sim;
}

// A blade under a sheet begins to turn at 30 rad/s.
static tl_sim *make_paddle(int32_t threads)
{
    tl_sim *sim = make_sim(threads, 0);
    add_sheet(sim, 0.5, (tl_vec3){-0.25, 0.302, -0.25}, LIES);
    tl_body_def blade = tl_body_def_default();
    blade.name = "blade", blade.kind = TL_BODY_BOX, blade.center = (tl_vec3){0, 0.17, 0},
    blade.size = (tl_vec3){0.3, 0.26, 0.02};
    add_mover(sim, blade, &(jerk){0.35, 0.45, {0, 0, 0}, 30});
    return sim;
}

// A rod as thin as a finger flies broadside into a sheet that nothing holds, or a needle tip first.
static tl_sim *make_flight(double radius, tl_vec3 axis, double speed, double effort)
{
    tl_sim *sim = make_sim(1, effort);
    add_sheet(sim, 0.8, (tl_vec3){-0.4, 0, 0}, FLOATS);
    tl_body_def rod = tl_body_def_default();
    rod.name = "rod", rod.kind = TL_BODY_CAPSULE, rod.radius = radius, rod.axis = axis;
    rod.center = (tl_vec3){0.01, 0.42, -0.5 * axis.z - radius - 0.03};
    add_mover(sim, rod, &(jerk){0.005, 0.025, {0, 0, speed}, 0});
    return sim;
}

// A ball smaller than the faces of a free sheet, which is remeshed.
static tl_sim *make_ball(void)
{
    tl_error err;
    tl_sim *sim = make_sim(1, 0);
    sheet s = sheet_grid(1, 1, 5, 5, true);
    for (int32_t i = 0; i < s.node_count; i++) s.pos[i] = (tl_vec3){s.uv[i].x - 0.5, s.uv[i].y - 0.5, 0};
    const tl_material m = tl_material_default();
    tl_cloth_def cloth = tl_cloth_def_default();
    tl_cloth_id id;
    cloth.node_count = s.node_count, cloth.pos = s.pos, cloth.uv = s.uv, cloth.face_count = s.face_count;
    cloth.face = (const int32_t(*)[3])s.face, cloth.materials = &m, cloth.material_count = 1;
    cloth.remeshing = tl_remeshing_default();
    cloth.remeshing.kind = TL_REMESHING_ANISOTROPIC, cloth.remeshing.size_min = 0.04, cloth.remeshing.size_max = 0.2;
    assert_ok(tl_sim_add_cloth(sim, &cloth, &id, &err));
    sheet_free(&s);
    tl_body_def ball = tl_body_def_default();
    ball.name = "ball", ball.kind = TL_BODY_SPHERE, ball.center = (tl_vec3){0, 0, -0.3}, ball.radius = 0.05;
    add_mover(sim, ball, &(jerk){0.001, 0.06, {0, 0, 25}, 0});
    return sim;
}

// A box beside a sheet begins to spin so fast that it turns by more than once in a step.
static tl_sim *make_spinner(void)
{
    tl_sim *sim = make_sim(1, 0);
    add_sheet(sim, 0.5, (tl_vec3){-0.25, 0.302, -0.25}, LIES);
    tl_body_def box = tl_body_def_default();
    box.name = "box", box.kind = TL_BODY_BOX, box.center = (tl_vec3){0, 0.28, 0};
    box.size = (tl_vec3){0.14, 0.03, 0.1}, box.pivot = box.center;
    add_mover(sim, box, &(jerk){0.06, 0.09, {0, 1, 0}, 300});
    return sim;
}

// Steps to the given time; nothing crosses, nothing is pinched. Returns the hash of the state.
static uint64_t run(tl_sim *sim, const char *name, double until)
{
    tl_error err;
    tl_step_report r;
    int32_t pinched = 0, iterations = 0, rejected = 0;
    for (double t = 0; t < until - 1e-9; t += 1.0 / 200) {
        tl_intersection_report found;
        assert_ok(tl_sim_step(sim, &r, &err));
        assert_ok(tl_sim_intersections(sim, &found, &err));
        assert_int_equal(found.cloth_cloth + found.cloth_body, 0);
        pinched = r.contact.pinched > pinched ? r.contact.pinched : pinched;
        iterations += r.newton_iterations, rejected += r.rejected;
    }
    print_message("%s: %d nodes pinched, %d iterations, %d attempts rejected\n", name, pinched, iterations, rejected);
    assert_int_equal(pinched, 0);
    const uint64_t hash = tl_sim_hash(sim);
    tl_sim_destroy(sim);
    return hash;
}

static void a_table_that_jumps_pinches_nothing(void **state)
{
    (void)state;
    run(make_table(1), "table", 0.45);
}

static void a_ball_that_is_shot_pinches_nothing(void **state)
{
    (void)state;
    run(make_shot(1), "shot", 0.04);
}

static void a_blade_that_turns_pinches_nothing(void **state)
{
    (void)state;
    run(make_paddle(1), "paddle", 0.40);
}

static void a_rod_at_forty_metres_a_second_pinches_nothing(void **state)
{
    (void)state;
    run(make_flight(0.01, (tl_vec3){1.2, 0.12, 0}, 40, 0), "rod", 0.02);
}

static void a_ball_smaller_than_faces_pinches_nothing(void **state)
{
    (void)state;
    run(make_ball(), "ball", 0.04);
}

static void a_needle_at_fifty_metres_a_second_pinches_nothing(void **state)
{
    (void)state;
    run(make_flight(0.001, (tl_vec3){0, 0, 0.2}, 50, 0), "needle", 0.015);
}

static void a_box_that_spins_faster_than_steps_pinches_nothing(void **state)
{
    (void)state;
    run(make_spinner(), "spinner", 0.08);
}

// Steps that are ended coarsely leave no face of cloth that has room as `toile check` would flag it.
static void a_coarse_end_leaves_no_face_crushed(void **state)
{
    (void)state;
    tl_error err;
    tl_step_report r;
    for (int effort = 6; effort <= 10; effort += 4) {  // a tenth and a sixth of what is usual
        tl_strain_range now;
        double low = 0, high = 0;
        int32_t hurried = 0;
        tl_sim *sim = make_flight(0.03, (tl_vec3){0, 0, 0.02}, 25, effort);
        for (int k = 0; k < 8; k++) {
            assert_ok(tl_sim_step(sim, &r, &err));
            assert_ok(tl_sim_strain(sim, &now));
            low = fmin(low, now.min), high = fmax(high, now.max), hurried += r.hurried;
        }
        print_message("coarse: %d parts of steps hurried, strain %+.0f to %+.0f %%\n", hurried, 100 * low, 100 * high);
        assert_true(hurried > 0 && low > -0.8 && high < 1);
        tl_sim_destroy(sim);
    }
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    assert_true(run(make_shot(1), "one thread", 0.035) == run(make_shot(3), "three threads", 0.035));
}

int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_that_jumps_pinches_nothing),
        cmocka_unit_test(a_ball_that_is_shot_pinches_nothing),
        cmocka_unit_test(a_blade_that_turns_pinches_nothing),
        cmocka_unit_test(a_rod_at_forty_metres_a_second_pinches_nothing),
        cmocka_unit_test(a_ball_smaller_than_faces_pinches_nothing),
        cmocka_unit_test(a_needle_at_fifty_metres_a_second_pinches_nothing),
        cmocka_unit_test(a_box_that_spins_faster_than_steps_pinches_nothing),
        cmocka_unit_test(a_coarse_end_leaves_no_face_crushed),
        cmocka_unit_test(threads_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
