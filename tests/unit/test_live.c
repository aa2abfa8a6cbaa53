// tests/unit/test_live.c: a simulation that is changed while it runs: stale ids, removal, targets, poses, setters, save
// and restore, queries.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "toile/core.h"

enum { N = 6, NODES = (N + 1) * (N + 1), FACES = 2 * N * N };
#define SIDE 0.3

static tl_cloth_id add_sheet(tl_sim *sim, const char *name, double y, tl_remeshing_kind kind)
{
    tl_vec3 pos[NODES];
    tl_vec2 uv[NODES];
    int32_t face[FACES][3];
    for (int v = 0; v < NODES; v++) {
        uv[v] = (tl_vec2){SIDE * (v % (N + 1)) / N, SIDE * (v / (N + 1)) / N};
        pos[v] = (tl_vec3){uv[v].x - SIDE / 2, y, SIDE / 2 - uv[v].y};
    }
    for (int c = 0; c < N * N; c++) {
        const int32_t a = c / N * (N + 1) + c % N, d = a + N + 1;
        const int32_t corner[6] = {a, a + 1, d + 1, a, d + 1, d};
        for (int k = 0; k < 6; k++) face[2 * c + k / 3][k % 3] = corner[k];
    }
    const tl_material cotton = tl_material_default();
    tl_cloth_def def = tl_cloth_def_default();
    def.name = name, def.node_count = NODES, def.pos = pos, def.uv = uv, def.face_count = FACES;
    def.face = (const int32_t(*)[3])face, def.materials = &cotton, def.material_count = 1;
    def.remeshing.kind = kind;
    tl_cloth_id id;
    tl_error err;
    assert_int_equal(tl_sim_add_cloth(sim, &def, &id, &err), TL_OK);
    return id;
}

static tl_sim *empty(void)
{
    tl_sim *sim;
    tl_error err;
    const tl_sim_def def = tl_sim_def_default();
    assert_int_equal(tl_sim_create(&def, &sim, &err), TL_OK);
    return sim;
}

static void steps(tl_sim *sim, int count)
{
    tl_error err;
    for (int i = 0; i < count; i++)
        if (tl_sim_step(sim, NULL, &err) != TL_OK) fail_msg("%s", err.message);
}

static tl_handle_id grip(tl_sim *sim, tl_cloth_id cloth, int32_t node)
{
    tl_handle_def def = tl_handle_def_default();
    def.cloth = cloth, def.nodes = &node, def.node_count = 1, def.live = 1;
    tl_handle_id id;
    tl_error err;
    assert_int_equal(tl_handle_create(sim, &def, &id, &err), TL_OK);
    return id;
}

static tl_body_id add_ball(tl_sim *sim, double y)
{
    tl_body_def def = tl_body_def_default();
    def.name = "ball", def.kind = TL_BODY_SPHERE, def.radius = 0.08, def.center.y = y, def.live = 1;
    tl_body_id id;
    tl_error err;
    assert_int_equal(tl_sim_add_body(sim, &def, &id, &err), TL_OK);
    return id;
}

static void ids_of_what_is_gone_are_refused(void **state)
{
    (void)state;
    tl_error err;
    tl_sim *sim = empty();
    const tl_cloth_id a = add_sheet(sim, "a", 0, TL_REMESHING_NONE), b = add_sheet(sim, "b", 0.5, TL_REMESHING_NONE);
    const tl_handle_id on_a = grip(sim, a, 0), on_b = grip(sim, b, 3);
    steps(sim, 3);
    tl_cloth_view before, after;
    assert_int_equal(tl_sim_cloth_view(sim, b, &before), TL_OK);
    const tl_vec3 place = before.pos[3];
    assert_int_equal(tl_cloth_remove(sim, a, &err), TL_OK);
    assert_int_equal(tl_sim_cloth_count(sim), 1);
    assert_int_equal(tl_sim_cloth_view(sim, a, &after), TL_BAD_ARG);
    assert_int_equal(tl_cloth_remove(sim, a, &err), TL_BAD_ARG);
    const tl_motion_key up = {.translate = {0, 0.01, 0}};
    assert_int_equal(tl_handle_set_target(sim, on_a, &up, &err), TL_BAD_ARG);  // went with its cloth
    assert_int_equal(tl_handle_set_target(sim, on_b, &up, &err), TL_OK);
    steps(sim, 1);
    assert_int_equal(tl_sim_cloth_view(sim, b, &after), TL_OK);
    assert_near(after.pos[3].y, place.y + 0.01, 1e-12);
    const tl_cloth_id c = add_sheet(sim, "a", 1, TL_REMESHING_NONE);  // the name and the slot are free again
    assert_int_equal(c.slot, a.slot);
    assert_int_not_equal(c.gen, a.gen);
    assert_int_equal(tl_sim_cloth_view(sim, a, &after), TL_BAD_ARG);
    assert_string_equal(tl_sim_cloth_name(sim, b), "b");
    steps(sim, 2);
    tl_sim_destroy(sim);
}

static void targets_are_reached_and_given_up(void **state)
{
    (void)state;
    tl_error err;
    tl_sim *sim = empty();
    const tl_cloth_id cloth = add_sheet(sim, "a", 0, TL_REMESHING_NONE);
    const tl_handle_id h = grip(sim, cloth, 0);
    tl_cloth_view view;
    for (int i = 1; i <= 10; i++) {
        const tl_motion_key wrong = {.translate = {1, 1, 1}}, to = {.translate = {0.001 * i, 0, 0}};
        assert_int_equal(tl_handle_set_target(sim, h, &wrong, &err), TL_OK);
        assert_int_equal(tl_handle_set_target(sim, h, &to, &err), TL_OK);  // the last one before the step counts
        steps(sim, 1);
        tl_sim_cloth_view(sim, cloth, &view);
        assert_near(view.pos[0].x, -SIDE / 2 + 0.001 * i, 1e-12);
        assert_near(view.pos[0].y, 0, 1e-12);
    }
    const tl_motion_key bad = {.translate = {(double)NAN, 0, 0}};
    assert_int_not_equal(tl_handle_set_target(sim, h, &bad, &err), TL_OK);
    assert_int_equal(tl_handle_remove(sim, h, &err), TL_OK);
    steps(sim, 20);
    tl_sim_cloth_view(sim, cloth, &view);
    assert_true(view.pos[0].y < -0.01);
    tl_sim_destroy(sim);
}

// A script of changes; `from` to `to` of 24 steps.
static void script(tl_sim *sim, tl_handle_id h, tl_body_id ball, int from, int to)
{
    tl_error err;
    for (int i = from; i < to; i++) {
        const tl_motion_key hand = {.translate = {0, 0.0005 * i, 0}},
                            pose = {.translate = {0, 0.002 * i, 0}, .rotate_axis = {0, 1, 0}, .rotate_deg = i};
        assert_int_equal(tl_handle_set_target(sim, h, &hand, &err), TL_OK);
        assert_int_equal(tl_body_set_pose(sim, ball, &pose, &err), TL_OK);
        steps(sim, 1);
    }
}

static void saved_states_hold_what_the_host_has_set(void **state)
{
    (void)state;
    tl_error err;
    uint64_t hash[2];
    void *saved = NULL;
    size_t size = 0;
    for (int k = 0; k < 2;
         k++) {  // straight through with a save at step 11; from the saved state in another simulation
        tl_sim *sim = empty();
        const tl_cloth_id cloth = add_sheet(sim, "a", 0.1, TL_REMESHING_NONE);
        const tl_handle_id h = grip(sim, cloth, 0);
        const tl_body_id ball = add_ball(sim, 0);
        if (k == 0) {
            script(sim, h, ball, 0, 11);
            const void *data;
            assert_int_equal(tl_sim_save(sim, &data, &size, &err), TL_OK);
            saved = malloc(size);
            memcpy(saved, data, size);
        } else if (tl_sim_restore(sim, saved, size, &err) != TL_OK) {
            fail_msg("%s", err.message);
        }
        script(sim, h, ball, 11, 24);
        hash[k] = tl_sim_hash(sim);
        tl_intersection_report found;
        assert_int_equal(tl_sim_intersections(sim, &found, &err), TL_OK);
        assert_int_equal(found.cloth_body + found.cloth_cloth, 0);
        tl_sim_destroy(sim);
    }
    free(saved);
    assert_true(hash[0] == hash[1]);
}

static void bodies_are_where_they_are_put(void **state)
{
    (void)state;
    tl_error err;
    tl_sim *sim = empty();
    add_sheet(sim, "a", 0.3, TL_REMESHING_NONE);
    const tl_body_id ball = add_ball(sim, 0);
    tl_body_view view;
    steps(sim, 1);
    tl_sim_body_view(sim, ball, &view);
    const int32_t n = view.node_count;
    tl_vec3 *pos = malloc((size_t)n * sizeof *pos);
    for (int32_t i = 0; i < n; i++) pos[i] = (tl_vec3){1.1 * view.pos[i].x, view.pos[i].y, view.pos[i].z};
    assert_int_equal(tl_body_set_positions(sim, ball, pos, n - 1, &err), TL_BAD_ARG);
    assert_int_equal(tl_body_set_positions(sim, ball, pos, n, &err), TL_OK);
    const tl_motion_key pose = {.translate = {0, 0.01, 0}};
    assert_int_equal(tl_body_set_pose(sim, ball, &pose, &err), TL_OK);
    steps(sim, 1);
    tl_sim_body_view(sim, ball, &view);
    for (int32_t i = 0; i < n; i++) {
        assert_near(view.pos[i].x, pos[i].x, 1e-12);
        assert_near(view.pos[i].y, pos[i].y + 0.01, 1e-12);
    }
    free(pos);
    assert_int_equal(tl_body_remove(sim, ball, &err), TL_OK);
    assert_int_equal(tl_sim_body_count(sim), 0);
    assert_int_equal(tl_body_set_pose(sim, ball, &pose, &err), TL_BAD_ARG);
    steps(sim, 2);
    tl_sim_destroy(sim);
}

static void gravity_wind_and_step_can_be_set(void **state)
{
    (void)state;
    tl_error err;
    tl_sim *sim = empty();
    const tl_cloth_id cloth = add_sheet(sim, "a", 0, TL_REMESHING_NONE);
    assert_int_equal(tl_sim_set_gravity(sim, (tl_vec3){0, 0, 0}, &err), TL_OK);
    steps(sim, 4);
    tl_cloth_view view;
    tl_sim_cloth_view(sim, cloth, &view);
    assert_near(view.pos[10].y, 0, 1e-12);
    assert_int_equal(tl_sim_set_dt(sim, 0.01, &err), TL_OK);
    steps(sim, 2);
    assert_near(tl_sim_time(sim), 4 * 0.005 + 2 * 0.01, 1e-15);
    assert_int_equal(tl_sim_set_wind(sim, (tl_vec3){0, 5, 0}, &err), TL_OK);
    steps(sim, 4);
    tl_sim_cloth_view(sim, cloth, &view);
    assert_true(view.pos[10].y > 1e-4);
    assert_int_equal(tl_sim_set_dt(sim, 0, &err), TL_BAD_ARG);
    tl_sim_destroy(sim);
}

static void rays_and_nearest_points(void **state)
{
    (void)state;
    tl_sim *sim = empty();
    const tl_cloth_id cloth = add_sheet(sim, "a", 0.3, TL_REMESHING_NONE);
    const tl_body_id ball = add_ball(sim, 0);
    tl_hit hit;
    const tl_vec3 eye = {0.012, 1, 0.034}, down = {0, -2, 0}, up = {0, 1, 0};  // any length will do
    assert_int_equal(tl_sim_ray(sim, eye, down, 10, TL_QUERY_ALL, &hit), 1);
    assert_true(hit.cloth.gen == cloth.gen && hit.body.gen == 0);
    assert_near(hit.distance, 0.7, 1e-12);
    assert_near(hit.point.x, 0.012, 1e-12);
    assert_near(hit.point.z, 0.034, 1e-12);
    assert_near(hit.barycentric[0] + hit.barycentric[1] + hit.barycentric[2], 1, 1e-12);
    assert_int_equal(tl_sim_ray(sim, eye, down, 10, TL_QUERY_BODIES, &hit), 1);
    assert_true(hit.body.gen == ball.gen && hit.cloth.gen == 0);
    assert_near(hit.point.y, sqrt(0.08 * 0.08 - 0.012 * 0.012 - 0.034 * 0.034), 1e-3);
    assert_int_equal(tl_sim_ray(sim, eye, down, 0.5, TL_QUERY_ALL, &hit), 0);
    assert_int_equal(tl_sim_ray(sim, eye, up, 10, TL_QUERY_ALL, &hit), 0);
    const tl_vec3 beside = {SIDE / 2 + 0.03, 0.3 + 0.04, 0};
    assert_int_equal(tl_sim_nearest(sim, beside, 1, TL_QUERY_ALL, &hit), 1);
    assert_near(hit.distance, 0.05, 1e-12);  // 3-4-5
    assert_near(hit.point.x, SIDE / 2, 1e-12);
    assert_int_equal(tl_sim_nearest(sim, beside, 0.049, TL_QUERY_ALL, &hit), 0);
    tl_sim_destroy(sim);
}

// What a host may get wrong: every call is refused, and the simulation goes on as one that was never asked.
static void misuse_is_refused_and_changes_nothing(void **state)
{
    (void)state;
    uint64_t hash[2];
    for (int wrong = 0; wrong < 2; wrong++) {
        tl_error err;
        tl_sim *sim = empty();
        const tl_cloth_id cloth = add_sheet(sim, "a", 0.1, TL_REMESHING_NONE);
        const tl_handle_id h = grip(sim, cloth, 0), spare = grip(sim, cloth, 5);
        const tl_body_id ball = add_ball(sim, 0);
        tl_body_def plane = tl_body_def_default();
        plane.name = "floor", plane.kind = TL_BODY_PLANE, plane.center.y = -0.2;
        tl_body_id floor;
        assert_int_equal(tl_sim_add_body(sim, &plane, &floor, &err), TL_OK);
        tl_handle_def keyed = tl_handle_def_default();
        const int32_t node = 3;
        keyed.cloth = cloth, keyed.nodes = &node, keyed.node_count = 1;
        tl_handle_id fixed;
        assert_int_equal(tl_handle_create(sim, &keyed, &fixed, &err), TL_OK);
        steps(sim, 4);
        assert_int_equal(tl_handle_remove(sim, spare, &err), TL_OK);
        if (wrong) {
            const tl_motion_key pose = {.translate = {0, 0.01, 0}}, far = {.translate = {(double)INFINITY, 0, 0}},
                                turned = {.rotate_deg = 30};  // about no axis
            const tl_handle_id no_handle = {0, 0}, other_handle = {7, 1};
            const tl_body_id no_body = {0, 0}, other_body = {ball.slot, ball.gen + 1};
            const tl_cloth_id no_cloth = {0, 0};
            tl_cloth_view view;
            tl_hit hit;
            int32_t map[NODES];
            assert_int_equal(tl_handle_remove(sim, spare, &err), TL_BAD_ARG);  // once was enough
            assert_non_null(strstr(err.message, "was removed"));
            assert_int_equal(tl_handle_remove(sim, no_handle, &err), TL_BAD_ARG);
            assert_int_equal(tl_handle_set_target(sim, spare, &pose, &err), TL_BAD_ARG);
            assert_int_equal(tl_handle_set_target(sim, other_handle, &pose, &err), TL_BAD_ARG);
            assert_int_equal(tl_handle_set_target(sim, fixed, &pose, &err), TL_BAD_ARG);  // it has no live target
            assert_non_null(strstr(err.message, "live"));
            assert_int_equal(tl_handle_set_target(sim, h, NULL, &err), TL_BAD_ARG);
            assert_int_not_equal(tl_handle_set_target(sim, h, &far, &err), TL_OK);
            assert_int_not_equal(tl_handle_set_target(sim, h, &turned, &err), TL_OK);
            assert_int_equal(tl_body_set_pose(sim, no_body, &pose, &err), TL_BAD_ARG);
            assert_int_equal(tl_body_set_pose(sim, other_body, &pose, &err), TL_BAD_ARG);
            assert_int_equal(tl_body_set_pose(sim, floor, &pose, &err), TL_BAD_ARG);  // defined without live
            assert_int_not_equal(tl_body_set_pose(sim, ball, &far, &err), TL_OK);
            assert_int_equal(tl_body_set_positions(sim, ball, NULL, 3, &err), TL_BAD_ARG);
            assert_int_equal(tl_body_set_positions(sim, floor, &far.translate, 1, &err), TL_BAD_ARG);
            assert_int_equal(tl_body_remove(sim, no_body, &err), TL_BAD_ARG);
            assert_int_equal(tl_cloth_remove(sim, no_cloth, &err), TL_BAD_ARG);
            assert_int_equal(tl_sim_cloth_view(sim, no_cloth, &view), TL_BAD_ARG);
            assert_null(view.pos);
            assert_int_equal(tl_cloth_version(sim, no_cloth), 0);
            assert_int_equal(tl_cloth_map(sim, no_cloth, 1, map, NODES, &err), TL_BAD_ARG);
            assert_int_equal(tl_cloth_map(sim, cloth, 1, NULL, NODES, &err), TL_BAD_ARG);
            assert_int_equal(tl_sim_set_gravity(sim, (tl_vec3){0, (double)NAN, 0}, &err), TL_BAD_ARG);
            assert_int_equal(tl_sim_set_wind(sim, (tl_vec3){(double)INFINITY, 0, 0}, &err), TL_BAD_ARG);
            assert_int_equal(tl_sim_set_dt(sim, (double)NAN, &err), TL_BAD_ARG);
            const tl_vec3 origin = {0}, nowhere = {0}, odd = {(double)NAN, 1, 0};
            assert_int_equal(tl_sim_ray(sim, origin, nowhere, 1, TL_QUERY_ALL, &hit), 0);
            assert_int_equal(tl_sim_ray(sim, origin, odd, 1, TL_QUERY_ALL, &hit), 0);
            assert_int_equal(tl_sim_nearest(sim, odd, 1, TL_QUERY_ALL, &hit), 0);
            assert_int_equal(tl_sim_nearest(sim, origin, 1, 0, &hit), 0);  // of nothing
            assert_true(hit.cloth.gen == 0 && hit.body.gen == 0);
            assert_true(tl_sim_contact_points(sim, NULL, 0) >= 0);
            tl_handle_def nothing = tl_handle_def_default();
            nothing.cloth = cloth;
            tl_handle_id made = {1, 1};
            assert_int_equal(tl_handle_create(sim, &nothing, &made, &err), TL_BAD_INPUT);
            assert_int_equal(made.gen, 0);
        }
        steps(sim, 6);
        hash[wrong] = tl_sim_hash(sim);
        tl_sim_destroy(sim);
    }
    assert_true(hash[0] == hash[1]);
}

// Between a removal and the next step there are no contacts, and rays meet what is left.
static void queries_after_a_removal(void **state)
{
    (void)state;
    tl_error err;
    tl_sim *sim = empty();
    const tl_cloth_id cloth = add_sheet(sim, "a", 0.0815, TL_REMESHING_NONE);
    const tl_body_id ball = add_ball(sim, 0);
    steps(sim, 40);
    tl_contact_point points[NODES];
    assert_true(tl_sim_contact_points(sim, points, NODES) > 0);
    assert_true(points[0].body.slot == ball.slot && points[0].body.gen == ball.gen);
    assert_int_equal(tl_body_remove(sim, ball, &err), TL_OK);
    assert_int_equal(tl_body_remove(sim, ball, &err), TL_BAD_ARG);
    assert_int_equal(tl_sim_contact_points(sim, points, NODES), 0);
    tl_hit hit;
    assert_int_equal(tl_sim_ray(sim, (tl_vec3){0, 1, 0}, (tl_vec3){0, -1, 0}, 10, TL_QUERY_ALL, &hit), 1);
    assert_true(hit.cloth.gen == cloth.gen && hit.body.gen == 0);
    steps(sim, 2);
    assert_int_equal(tl_cloth_remove(sim, cloth, &err), TL_OK);
    assert_int_equal(tl_sim_ray(sim, (tl_vec3){0, 1, 0}, (tl_vec3){0, -1, 0}, 10, TL_QUERY_ALL, &hit), 0);
    assert_int_equal(tl_sim_step(sim, NULL, &err), TL_BAD_ARG);  // no cloth is left
    add_sheet(sim, "a", 0, TL_REMESHING_NONE);
    steps(sim, 2);
    tl_sim_destroy(sim);
}

// A sheet at rest on a plane: the plane carries its weight.
static void check_weight(tl_response response)
{
    tl_error err;
    tl_sim *sim;
    tl_sim_def sim_def = tl_sim_def_default();
    sim_def.collide.response = response;
    assert_int_equal(tl_sim_create(&sim_def, &sim, &err), TL_OK);
    const tl_cloth_id cloth = add_sheet(sim, "a", 0.001, TL_REMESHING_NONE);
    tl_body_def floor = tl_body_def_default();
    floor.kind = TL_BODY_PLANE;
    tl_body_id ground;
    assert_int_equal(tl_sim_add_body(sim, &floor, &ground, &err), TL_OK);
    steps(sim, 200);
    tl_contact_point points[NODES];
    const int32_t count = tl_sim_contact_points(sim, points, NODES);
    assert_in_range(count, 1, NODES);
    double force = 0;
    for (int32_t i = 0; i < count; i++) {
        assert_true(points[i].cloth.gen == cloth.gen && points[i].body.gen == ground.gen &&
                    points[i].other_cloth.gen == 0);
        assert_near(points[i].normal.y, 1, 1e-12);
        assert_true(points[i].gap > 0 && points[i].gap < points[i].thickness);
        assert_near(points[i].point.y, points[i].gap, 1e-4);
        force += points[i].force.y;
    }
    const double weight = SIDE * SIDE * tl_material_default().density * 9.81;
    assert_near(force, weight, 0.02 * weight);
    tl_sim_destroy(sim);
}

static void contact_forces_carry_the_weight(void **state)
{
    (void)state;
    check_weight(TL_RESPONSE_BARRIER);
    check_weight(TL_RESPONSE_ZONES);
}

static void remade_meshes_have_versions_and_maps(void **state)
{
    (void)state;
    tl_error err;
    tl_sim *sim = empty();
    const tl_cloth_id cloth = add_sheet(sim, "a", 0, TL_REMESHING_ANISOTROPIC);
    grip(sim, cloth, 0);
    uint64_t version = tl_cloth_version(sim, cloth);
    int maps = 0;
    for (int i = 0; i < 60; i++) {
        tl_cloth_view old, now;
        tl_sim_cloth_view(sim, cloth, &old);
        const int32_t count = old.node_count;
        tl_vec2 *uv = malloc((size_t)count * sizeof *uv);
        int32_t *map = malloc((size_t)count * sizeof *map);
        for (int32_t v = old.vert_count - 1; v >= 0; v--) uv[old.vert_node[v]] = old.uv[v];
        steps(sim, 1);
        const uint64_t after = tl_cloth_version(sim, cloth);
        if (after != version) {
            assert_true(after == version + 1);
            assert_int_equal(tl_cloth_map(sim, cloth, after, map, count, &err), TL_BAD_ARG);
            assert_int_equal(tl_cloth_map(sim, cloth, version, map, count, &err), TL_OK);
            tl_sim_cloth_view(sim, cloth, &now);
            int32_t kept = 0;
            for (int32_t v = 0; v < now.vert_count; v++)
                for (int32_t n = 0; n < count; n++) {
                    if (map[n] != now.vert_node[v]) continue;
                    kept++;
                    assert_near(now.uv[v].x, uv[n].x, 1e-12);  // a node that stays keeps its place in the material
                    assert_near(now.uv[v].y, uv[n].y, 1e-12);
                }
            assert_true(kept > 0);
            maps++;
        }
        version = after;
        free(uv), free(map);
    }
    assert_true(maps > 0);
    tl_sim_destroy(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_of_what_is_gone_are_refused),
        cmocka_unit_test(targets_are_reached_and_given_up),
        cmocka_unit_test(saved_states_hold_what_the_host_has_set),
        cmocka_unit_test(bodies_are_where_they_are_put),
        cmocka_unit_test(gravity_wind_and_step_can_be_set),
        cmocka_unit_test(rays_and_nearest_points),
        cmocka_unit_test(misuse_is_refused_and_changes_nothing),
        cmocka_unit_test(queries_after_a_removal),
        cmocka_unit_test(contact_forces_carry_the_weight),
        cmocka_unit_test(remade_meshes_have_versions_and_maps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
