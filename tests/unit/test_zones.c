// Impact zones: worked examples, momentum, and the response as a whole under the exact test.

#include "check.h"
#include "sheets.h"

#include "respond/zones/zones.h"
#include "math/vec3.h"
#include "toile/toile.h"

enum { MOST = 8 };

typedef struct setup {
    tl_vec3 x[MOST];
    double inverse_mass[MOST];
    uint8_t moved[MOST];
    tl_zones_report report;
} setup;

static void solve(setup *s, tl_bond *bonds, int32_t count)
{
    tl_error err;
    tl_arena arena;
    tl_arena_init(&arena, tl_allocator_default());
    memset(s->moved, 0, sizeof s->moved);
    assert_ok(
        tl_zones_solve(&(tl_bonds){bonds, count, MOST, s->inverse_mass}, s->x, s->moved, &arena, &s->report, &err));
    tl_arena_free(&arena);
}

/// A node above the floor y = 0, which slid by what its x says.
static tl_bond on_floor(int32_t node, double keep, double friction)
{
    return (tl_bond){.node = {node, -1, -1, -1},
                     .weight = {1, 0, 0, 0},
                     .normal = {0, 1, 0},
                     .keep = keep,
                     .friction = friction,
                     .fresh = true};
}

static void a_node_lands_at_the_distance_to_keep(void **state)
{
    (void)state;
    setup s = {.x = {{0.02, -0.01, 0}}, .inverse_mass = {1e4}};
    tl_bond b = on_floor(0, 1e-4, 0);
    solve(&s, &b, 1);
    assert_near(s.x[0].y, 1e-4, 1e-15);
    assert_near(s.x[0].x, 0.02, 0);
    assert_near(b.push, 0.0101 / 1e4, 1e-18);
    assert_int_equal(s.report.zones, 1);
    assert_int_equal(s.moved[0], 1);
    assert_int_equal(s.moved[1], 0);
}

static void friction_takes_its_share_of_the_push(void **state)
{
    (void)state;
    setup s = {.x = {{0.02, -0.01, 0}}, .inverse_mass = {1e4}};
    tl_bond b = on_floor(0, 1e-4, 0.5);
    solve(&s, &b, 1);
    assert_near(s.x[0].y, 1e-4, 1e-15);
    assert_near(s.x[0].x, 0.02 - 0.5 * 0.0101, 1e-15);
    s.x[0] = (tl_vec3){0.002, -0.01, 0}, b = on_floor(0, 1e-4, 0.5);  // less than friction can hold: it sticks
    solve(&s, &b, 1);
    assert_near(s.x[0].x, 0, 1e-15);
}

static void head_on_keeps_momentum(void **state)
{
    (void)state;
    // a vertex that went through a face, all of different masses
    setup s = {.x = {{0.3, -0.02, 0.3}, {0, 0.01, 0}, {1, 0.02, 0}, {0, 0.015, 1}},
               .inverse_mass = {1e3, 2e3, 5e2, 3e3}};
    tl_bond b = {.node = {0, 1, 2, 3},
                 .weight = {1, -0.4, -0.3, -0.3},
                 .normal = {0, 1, 0},
                 .keep = 2e-4,
                 .friction = 0.3,
                 .slide = {0.01, 0, 0},
                 .fresh = true};
    tl_vec3 before = {0, 0, 0}, after = {0, 0, 0}, gap = {0, 0, 0};
    for (int k = 0; k < 4; k++) before = tl_madd3(before, 1 / s.inverse_mass[k], s.x[k]);
    solve(&s, &b, 1);
    for (int k = 0; k < 4; k++)
        after = tl_madd3(after, 1 / s.inverse_mass[k], s.x[k]), gap = tl_madd3(gap, b.weight[k], s.x[k]);
    assert_near(tl_norm3(tl_sub3(after, before)), 0, 1e-12 * tl_norm3(before));
    assert_near(gap.y, 2e-4, 1e-15);
    assert_int_equal(s.report.largest, 4);
}

static void a_stack_of_three_comes_apart(void **state)
{
    (void)state;
    const double keep = 1e-4;
    setup s = {.x = {{0, -0.001, 0}, {0, -0.004, 0}, {0, -0.003, 0}}, .inverse_mass = {1e3, 1e3, 1e3}};
    tl_bond b[3] = {on_floor(0, keep, 0)};
    for (int k = 1; k < 3; k++)
        b[k] = (tl_bond){
            .node = {k, k - 1, -1, -1}, .weight = {1, -1, 0, 0}, .normal = {0, 1, 0}, .keep = keep, .fresh = true};
    solve(&s, b, 3);
    for (int k = 0; k < 3; k++) assert_near(s.x[k].y, (k + 1) * keep, 0.2 * keep);
    assert_int_equal(s.report.zones, 1);
    assert_int_equal(s.report.largest, 3);
}

static void zones_grow_and_finished_ones_rest(void **state)
{
    (void)state;
    setup s = {.x = {{0, -1e-3, 0}, {1, -1e-3, 0}, {0, 5e-5, 0}}, .inverse_mass = {1e3, 1e3, 1e3}};
    tl_bond b[3] = {on_floor(0, 1e-4, 0), on_floor(1, 1e-4, 0)};
    solve(&s, b, 2);
    assert_int_equal(s.report.zones, 2);
    b[2] = (tl_bond){.node = {2, 0, -1, -1}, .weight = {1, -1, 0, 0}, .normal = {0, 1, 0}, .keep = 1e-4, .fresh = true};
    s.x[1].y = 0.7;  // would fall back to the floor if it were looked at
    solve(&s, b, 3);
    assert_int_equal(s.report.zones, 2);
    assert_int_equal(s.report.largest, 2);
    assert_int_equal(s.moved[1], 0);
    assert_near(s.x[1].y, 0.7, 0);
    assert_near(s.x[2].y - s.x[0].y, 1e-4, 1e-5);
    assert_near(s.x[0].y, 1e-4, 1e-5);
}

static void what_cannot_move_is_left(void **state)
{
    (void)state;
    setup s = {.x = {{0, -1, 0}}, .inverse_mass = {0}};
    tl_bond b = on_floor(0, 1e-4, 0.5);
    solve(&s, &b, 1);
    assert_near(s.x[0].y, -1, 0);
    assert_int_equal(s.report.zones, 0);
    assert_int_equal(s.report.immovable, 1);
}

static void add_level_sheet(tl_sim *sim, const char *name, double height, double speed, double limit)
{
    tl_error err;
    sheet s = sheet_grid(0.3, 0.3, 10, 10, true);
    tl_vec3 *vel = calloc((size_t)s.node_count, sizeof *vel);
    for (int32_t i = 0; i < s.node_count; i++) {
        s.pos[i] = (tl_vec3){s.uv[i].x - 0.15, height, 0.15 - s.uv[i].y};
        vel[i] = (tl_vec3){0, -speed, 0};
    }
    const tl_material m = tl_material_default();
    tl_cloth_def cloth = tl_cloth_def_default();
    cloth.remeshing.kind = TL_REMESHING_NONE;
    tl_cloth_id id;
    cloth.name = name, cloth.node_count = s.node_count, cloth.pos = s.pos, cloth.vel = vel, cloth.uv = s.uv;
    cloth.face_count = s.face_count, cloth.face = (const int32_t(*)[3])s.face, cloth.materials = &m,
    cloth.material_count = 1;
    if (limit > 0) cloth.strain = (tl_strain_def){.kind = TL_STRAIN_ISOTROPIC, .min = -limit, .max = limit};
    assert_ok(tl_sim_add_cloth(sim, &cloth, &id, &err));
    free(vel), sheet_free(&s);
}

// Two sheets thrown onto a ball (that may rise against them) over a floor. `limit`: on their strain, none if 0.
static uint64_t drop(int32_t threads, bool moving, double limit, int32_t *zones)
{
    tl_error err;
    tl_sim_def def = tl_sim_def_default();
    def.dt = 0.01, def.threads = threads, def.collide.response = TL_RESPONSE_ZONES;
    tl_sim *sim;
    assert_ok(tl_sim_create(&def, &sim, &err));
    add_level_sheet(sim, "lower", 0.11, 2, limit);
    add_level_sheet(sim, "upper", 0.13, 4, limit);
    tl_body_def ball = tl_body_def_default();
    tl_body_id id;
    const tl_motion_key rise[2] = {{.time = 0, .rotate_axis = {0, 1, 0}},
                                   {.time = 0.2, .translate = {0, 0.1, 0}, .rotate_axis = {0, 1, 0}, .rotate_deg = 30}};
    ball.name = "ball", ball.kind = TL_BODY_SPHERE, ball.radius = 0.08, ball.center = (tl_vec3){0, 0, 0};
    if (moving) ball.motion = rise, ball.motion_count = 2;
    assert_ok(tl_sim_add_body(sim, &ball, &id, &err));
    tl_body_def floor = tl_body_def_default();
    floor.name = "floor", floor.kind = TL_BODY_PLANE, floor.center = (tl_vec3){0, -0.1, 0};
    assert_ok(tl_sim_add_body(sim, &floor, &id, &err));
    *zones = 0;
    for (int k = 0; k < 20; k++) {
        tl_step_report report;
        tl_intersection_report crossed;
        assert_ok(tl_sim_step(sim, &report, &err));
        assert_ok(tl_sim_intersections(sim, &crossed, &err));
        assert_int_equal(crossed.cloth_cloth + crossed.cloth_body, 0);
        assert_true(report.contact.nearest > 0);
        *zones += report.contact.zones;
        tl_strain_range strain;  // by itself, not what the limits say of themselves
        assert_ok(tl_sim_strain(sim, &strain));
        if (limit > 0) assert_true(strain.min >= -limit - 1e-3 && strain.max <= limit + 1e-3);
    }
    const uint64_t hash = tl_sim_hash(sim);
    tl_sim_destroy(sim);
    return hash;
}

// The middle of a sheet is driven through a ball, or the ball through it: zones have no answer to that.
static void the_fail_safe_holds_what_zones_cannot(void **state)
{
    (void)state;
    for (int moving = 0; moving < 2; moving++) {
        tl_error err;
        tl_sim_def def = tl_sim_def_default();
        def.dt = 0.01, def.collide.response = TL_RESPONSE_ZONES;
        tl_sim *sim;
        assert_ok(tl_sim_create(&def, &sim, &err));
        add_level_sheet(sim, "sheet", 0.1, 0, 0);
        const tl_motion_key down[2] = {{.time = 0}, {.time = 0.1, .translate = {0, -0.05, 0}}},
                            up[2] = {{.time = 0}, {.time = 0.1, .translate = {0, 0.05, 0}}};
        tl_handle_def hold = tl_handle_def_default();
        hold.cloth = tl_sim_cloth(sim, 0), hold.use_box = 1;
        hold.box_min = (tl_vec3){-0.02, 0, -0.02}, hold.box_max = (tl_vec3){0.02, 1, 0.02};
        if (!moving) hold.keys = down, hold.key_count = 2;
        assert_ok(tl_sim_add_handle(sim, &hold, &err));
        tl_body_def ball = tl_body_def_default();
        tl_body_id id;
        ball.name = "ball", ball.kind = TL_BODY_SPHERE, ball.radius = 0.08;
        if (moving) ball.motion = up, ball.motion_count = 2;
        assert_ok(tl_sim_add_body(sim, &ball, &id, &err));
        int32_t held = 0;
        for (int k = 0; k < 12; k++) {
            tl_step_report report;
            tl_intersection_report crossed;
            assert_ok(tl_sim_step(sim, &report, &err));
            assert_ok(tl_sim_intersections(sim, &crossed, &err));
            assert_int_equal(crossed.cloth_cloth + crossed.cloth_body, 0);
            held += report.contact.held;
        }
        assert_true(held > 0);
        tl_sim_destroy(sim);
    }
}

static void nothing_passes_through_on_any_number_of_threads(void **state)
{
    (void)state;
    for (int moving = 0; moving < 2; moving++) {
        int32_t zones, again;
        const uint64_t hash = drop(1, moving, 0, &zones);
        assert_true(zones > 0);
        assert_true(drop(3, moving, 0, &again) == hash);
        assert_int_equal(again, zones);
    }
}

static void strain_limits_hold_after_zones(void **state)
{
    (void)state;
    for (int moving = 0; moving < 2; moving++) {
        int32_t zones, again;
        const uint64_t hash = drop(1, moving, 0.02, &zones);
        assert_true(zones > 0);
        assert_true(drop(3, moving, 0.02, &again) == hash);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node_lands_at_the_distance_to_keep),
        cmocka_unit_test(friction_takes_its_share_of_the_push),
        cmocka_unit_test(head_on_keeps_momentum),
        cmocka_unit_test(a_stack_of_three_comes_apart),
        cmocka_unit_test(zones_grow_and_finished_ones_rest),
        cmocka_unit_test(what_cannot_move_is_left),
        cmocka_unit_test(the_fail_safe_holds_what_zones_cannot),
        cmocka_unit_test(nothing_passes_through_on_any_number_of_threads),
        cmocka_unit_test(strain_limits_hold_after_zones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
