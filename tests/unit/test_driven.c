// Handles against cloth: what they drive pushes cloth that can give way, waits where nothing does, and catches up at a
// bounded speed.

#include "check.h"
#include "sheets.h"

#include "math/vec3.h"
#include "toile/toile.h"

#define DT 0.01
#define THICKNESS 1e-3
#define CATCH_UP 1.0  // [m/s] beyond their own speed, as docs/contact.md says

static tl_sim *still_air(void)
{
    tl_error err;
    tl_sim_def def = tl_sim_def_default();
    def.dt = DT, def.threads = 1, def.gravity = (tl_vec3){0, 0, 0}, def.air = (tl_air_def){.gust_period = 1};
    tl_sim *sim;
    assert_ok(tl_sim_create(&def, &sim, &err));
    return sim;
}

static tl_remeshing remeshed;  // of cloths to come

static tl_cloth_id add_level(tl_sim *sim, const char *name, double side, int cells, double height)
{
    tl_error err;
    sheet s = sheet_grid(side, side, cells, cells, true);
    for (int32_t i = 0; i < s.node_count; i++)
        s.pos[i] = (tl_vec3){s.uv[i].x - 0.5 * side, height, 0.5 * side - s.uv[i].y};
    const tl_material m = tl_material_default();
    tl_cloth_def cloth = tl_cloth_def_default();
    cloth.remeshing.kind = TL_REMESHING_NONE;
    tl_cloth_id id;
    cloth.name = name, cloth.thickness = THICKNESS, cloth.node_count = s.node_count, cloth.pos = s.pos, cloth.uv = s.uv;
    cloth.face_count = s.face_count, cloth.face = (const int32_t(*)[3])s.face, cloth.materials = &m,
    cloth.material_count = 1;
    if (remeshed.kind != TL_REMESHING_NONE) cloth.remeshing = remeshed;
    assert_ok(tl_sim_add_cloth(sim, &cloth, &id, &err));
    sheet_free(&s);
    return id;
}

// All nodes of a cloth go down at the same speed, until `end`; then springs fade.
static void drive_down_until(tl_sim *sim, tl_cloth_id cloth, double speed, double end, double fade)
{
    tl_error err;
    const tl_motion_key keys[] = {{.time = 0, .has_rates = 1, .velocity = {0, -speed, 0}},
                                  {.time = 1, .translate = {0, -speed, 0}, .has_rates = 1, .velocity = {0, -speed, 0}}};
    tl_handle_def h = tl_handle_def_default();
    h.cloth = cloth, h.use_box = 1, h.box_min = (tl_vec3){-1, -1, -1}, h.box_max = (tl_vec3){1, 1, 1};
    h.keys = keys, h.key_count = 2, h.curve = TL_CURVE_CUBIC, h.end = end, h.fade = fade;
    assert_ok(tl_sim_add_handle(sim, &h, &err));
}

static void drive_down(tl_sim *sim, tl_cloth_id cloth, double speed)
{
    drive_down_until(sim, cloth, speed, (double)INFINITY, 0);
}

static void add_floor(tl_sim *sim, double gone)
{
    tl_error err;
    tl_body_def floor = tl_body_def_default();
    tl_body_id id;
    floor.kind = TL_BODY_PLANE, floor.axis = (tl_vec3){0, 1, 0}, floor.end = gone;
    assert_ok(tl_sim_add_body(sim, &floor, &id, &err));
}

typedef struct heights {
    double low, high;
} heights;

static heights heights_of(const tl_sim *sim, tl_cloth_id cloth)
{
    tl_error err = {TL_OK, ""};
    tl_cloth_view v;
    assert_ok(tl_sim_cloth_view(sim, cloth, &v));
    heights h = {(double)INFINITY, -(double)INFINITY};
    for (int32_t i = 0; i < v.node_count; i++) h.low = fmin(h.low, v.pos[i].y), h.high = fmax(h.high, v.pos[i].y);
    return h;
}

static void check_no_crossing(tl_sim *sim)
{
    tl_error err;
    tl_intersection_report r;
    assert_ok(tl_sim_intersections(sim, &r, &err));
    assert_int_equal(r.listed, 0);
}

// A step is ten thicknesses. Without knowing of it the free sheet stays where it is, and the driven one is stopped by
// it for good.
static void what_is_driven_pushes_what_is_free(void **state)
{
    (void)state;
    tl_error err;
    const double speed = 1, height = 1.5e-3;
    tl_sim *sim = still_air();
    const tl_cloth_id driven = add_level(sim, "driven", 0.06, 3, height), loose = add_level(sim, "loose", 0.1, 7, 0);
    drive_down(sim, driven, speed);
    for (int k = 1; k <= 20; k++) {
        tl_step_report r;
        assert_ok(tl_sim_step(sim, &r, &err));
        const heights d = heights_of(sim, driven), l = heights_of(sim, loose);
        assert_near(d.low, height - k * speed * DT, 1e-6);
        assert_near(d.high, d.low, 1e-6);
        assert_true(l.low < d.low);
        assert_int_equal(r.unconverged, 0);
        check_no_crossing(sim);
    }
    tl_sim_destroy(sim);
}

// A floor in the way of what is driven, for half of the time: nothing can give way, every step is as cheap as any, and
// what has been missed is not made good with a jump. Speeds bound the way of a step whether it was cut or not.
static void what_is_driven_waits_and_catches_up(void **state)
{
    (void)state;
    tl_error err;
    const double speed = 0.3, height = 5e-3, gone = 0.3;
    tl_sim *sim = still_air();
    const tl_cloth_id driven = add_level(sim, "driven", 0.06, 3, height + 3e-3),
                      loose = add_level(sim, "loose", 0.1, 7, height);
    drive_down(sim, driven, speed);
    add_floor(sim, gone);
    double before = heights_of(sim, driven).low, lag = 0;
    for (int k = 1; k <= 60; k++) {
        tl_step_report r;
        assert_ok(tl_sim_step(sim, &r, &err));
        const heights d = heights_of(sim, driven), l = heights_of(sim, loose);
        const double wanted = height + 3e-3 - k * speed * DT;
        if (k * DT < gone) {
            assert_true(l.low > 0 && d.low > 0 && r.contact.nearest > 0.1);
            lag = d.low - wanted;
        }
        assert_true(before - d.low <= (speed + CATCH_UP) * DT + 1e-9);
        assert_true(r.newton_iterations <= 40);
        assert_int_equal(r.unconverged, 0);
        check_no_crossing(sim);
        before = d.low;
    }
    assert_true(lag > 0.05);
    assert_near(before, height + 3e-3 - 60 * speed * DT, 1e-6);
    tl_sim_destroy(sim);
}

// The floor keeps a handle from its place and goes when the handle lets go. Its springs are strong enough to pull 10
// nodes of 0.1 g each through the lag within a step; they begin where the nodes are, and all that moves the sheet is
// what the handle's own speed does.
static void what_lags_is_let_go_where_it_is(void **state)
{
    (void)state;
    tl_error err;
    const double speed = 0.3, height = 5e-3, gone = 0.3;
    tl_sim *sim = still_air();
    const tl_cloth_id driven = add_level(sim, "driven", 0.06, 3, height);
    drive_down_until(sim, driven, speed, gone, 0.2);
    add_floor(sim, gone);
    double before = height;
    for (int k = 1; k <= 40; k++) {
        assert_ok(tl_sim_step(sim, NULL, &err));
        const double low = heights_of(sim, driven).low;
        assert_true(before - low <= 2 * speed * DT);
        before = low;
    }
    assert_true(before < 0);
    tl_sim_destroy(sim);
}

// A ball bends the cloth, which so gets more nodes. They lack as much as those of the handle that they come to lie
// between: when the ball has gone all arrive where the motion has them.
static void nodes_that_come_while_a_handle_lags_catch_up_too(void **state)
{
    (void)state;
    tl_error err;
    const double speed = 0.3, height = 5e-3, gone = 0.2;
    tl_sim *sim = still_air();
    remeshed = tl_remeshing_default();
    remeshed.kind = TL_REMESHING_ANISOTROPIC, remeshed.size_min = 0.005;
    const tl_cloth_id driven = add_level(sim, "driven", 0.12, 6, height);
    remeshed = (tl_remeshing){0};
    drive_down(sim, driven, speed);
    tl_body_def ball = tl_body_def_default();
    tl_body_id id;
    ball.kind = TL_BODY_SPHERE, ball.radius = 0.04, ball.center = (tl_vec3){0, -0.04, 0}, ball.end = gone;
    assert_ok(tl_sim_add_body(sim, &ball, &id, &err));
    int32_t splits = 0;
    for (int k = 1; k <= 50; k++) {
        tl_step_report r;
        assert_ok(tl_sim_step(sim, &r, &err));
        if (k * DT > height / speed && k * DT < gone) splits += r.remesh.splits;
    }
    assert_true(splits > 0);
    const heights end = heights_of(sim, driven);
    assert_near(end.low, height - 50 * speed * DT, 1e-6);
    assert_near(end.high, end.low, 1e-6);
    tl_sim_destroy(sim);
}

// A handle may begin with a jump, whether its start is that of a step or not.
static void a_handle_may_jump_when_it_takes_hold(void **state)
{
    (void)state;
    tl_error err;
    const double starts[] = {0, DT, 1.3 * DT};
    for (int i = 0; i < 3; i++) {
        tl_sim *sim = still_air();
        const tl_cloth_id cloth = add_level(sim, "cloth", 0.06, 3, 0);
        const tl_motion_key key = {.time = 0, .translate = {0, 0.1, 0}};
        tl_handle_def h = tl_handle_def_default();
        h.cloth = cloth, h.use_box = 1, h.box_min = (tl_vec3){-1, -1, -1}, h.box_max = (tl_vec3){1, 1, 1};
        h.keys = &key, h.key_count = 1, h.start = starts[i];
        assert_ok(tl_sim_add_handle(sim, &h, &err));
        for (int k = 0; k < 3; k++) assert_ok(tl_sim_step(sim, NULL, &err));
        assert_near(heights_of(sim, cloth).low, 0.1, 1e-9);
        tl_sim_destroy(sim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_driven_pushes_what_is_free),
        cmocka_unit_test(what_is_driven_waits_and_catches_up),
        cmocka_unit_test(what_lags_is_let_go_where_it_is),
        cmocka_unit_test(a_handle_may_jump_when_it_takes_hold),
        cmocka_unit_test(nodes_that_come_while_a_handle_lags_catch_up_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
