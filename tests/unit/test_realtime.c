// Springs on edge trees in a simulation: the same bits on any number of threads and across save and restore, nodes
// outside of bodies after every step however fast, handles, budgets, what is refused.

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdbool.h>

#include <cmocka.h>

#include "math/vec3.h"
#include "toile/body.h"
#include "toile/live.h"
#include "toile/sim.h"

static void ok(tl_status status, const tl_error *err)
{
    if (status != TL_OK) fail_msg("%s", err->message);
}

typedef struct setup {
    int32_t n, threads;  // squares along a side
    double side, height;
    tl_remeshing_kind kind;
    int32_t max_faces;
    bool pinned, ball_moves;
    double self_distance;
    tl_vec3 velocity;
    double sag;
} setup;

static tl_sim *make(const setup *s, tl_cloth_id *id)
{
    tl_error err;
    tl_sim *sim;
    tl_sim_def def = tl_sim_def_default();
    def.dynamics = TL_DYNAMICS_SPRINGS, def.dt = 1.0 / 60, def.threads = s->threads ? s->threads : 1;
    def.springs.self_distance = s->self_distance;
    ok(tl_sim_create(&def, &sim, &err), &err);
    const int32_t n = s->n, nodes = (n + 1) * (n + 1), faces = 2 * n * n;
    tl_vec3 *pos = calloc((size_t)nodes, sizeof *pos), *vel = calloc((size_t)nodes, sizeof *vel);
    tl_vec2 *uv = calloc((size_t)nodes, sizeof *uv);
    int32_t(*face)[3] = calloc((size_t)faces, sizeof *face);
    for (int32_t i = 0; i < nodes; i++) {
        uv[i] = (tl_vec2){s->side * (i % (n + 1)) / n, s->side * (i / (n + 1)) / n};
        pos[i] = (tl_vec3){uv[i].x - 0.5 * s->side, s->height, 0.5 * s->side - uv[i].y};
        vel[i] = s->velocity;
    }
    for (int32_t j = 0, f = 0; j < n; j++)
        for (int32_t i = 0; i < n; i++) {
            const int32_t a = j * (n + 1) + i, two[2][3] = {{a, a + 1, a + n + 2}, {a, a + n + 2, a + n + 1}};
            for (int k = 0; k < 2; k++, f++) memcpy(face[f], two[k], sizeof face[f]);
        }
    const tl_material cotton = tl_material_default();
    tl_cloth_def cloth = tl_cloth_def_default();
    cloth.node_count = nodes, cloth.pos = pos, cloth.vel = vel, cloth.uv = uv;
    cloth.face_count = faces, cloth.face = (const int32_t(*)[3])face;
    cloth.materials = &cotton, cloth.material_count = 1;
    cloth.remeshing.kind = s->kind, cloth.remeshing.interval = 1.0 / 30, cloth.remeshing.max_faces = s->max_faces;
    cloth.remeshing.sag = s->sag;
    ok(tl_sim_add_cloth(sim, &cloth, id, &err), &err);
    if (s->pinned) {
        tl_handle_def handle = tl_handle_def_default();
        const int32_t corners[2] = {0, n};
        handle.cloth = *id, handle.nodes = corners, handle.node_count = 2;
        ok(tl_sim_add_handle(sim, &handle, &err), &err);
    }
    tl_body_def ball = tl_body_def_default();
    tl_body_id body;
    ball.kind = TL_BODY_SPHERE, ball.radius = 0.2;
    const tl_motion_key keys[2] = {{.time = 0},
                                   {.time = 0.5, .translate = {0.3, 0, 0}, .rotate_axis = {0, 1, 0}, .rotate_deg = 90}};
    if (s->ball_moves) ball.motion = keys, ball.motion_count = 2;
    ok(tl_sim_add_body(sim, &ball, &body, &err), &err);
    free(pos), free(vel), free(uv), free(face);
    return sim;
}

static tl_step_report step(tl_sim *sim)
{
    tl_error err;
    tl_step_report report;
    ok(tl_sim_step(sim, &report, &err), &err);
    return report;
}

static tl_cloth_view view_of(tl_sim *sim, tl_cloth_id id)
{
    tl_cloth_view view;
    assert_int_equal(tl_sim_cloth_view(sim, id, &view), TL_OK);
    return view;
}

static const setup draping = {.n = 4,
                              .side = 0.8,
                              .height = 0.23,
                              .kind = TL_REMESHING_EDGE_TREES,
                              .pinned = true,
                              .ball_moves = true,
                              .self_distance = 0.004};

static void same_on_threads(double sag)
{
    uint64_t hash[3];
    for (int k = 0; k < 3; k++) {
        setup s = draping;
        tl_cloth_id id;
        s.threads = k + 1, s.sag = sag;
        tl_sim *sim = make(&s, &id);
        for (int i = 0; i < 40; i++) step(sim);
        assert_true(view_of(sim, id).face_count > 100);  // refined
        hash[k] = tl_sim_hash(sim);
        tl_sim_destroy(sim);
    }
    assert_true(hash[1] == hash[0] && hash[2] == hash[0]);
}

static void threads_change_no_bit(void **state)
{
    (void)state;
    same_on_threads(0), same_on_threads(0.001);
}

static void same_when_resumed(double sag)
{
    setup s = draping;
    s.sag = sag;
    tl_cloth_id id, other_id;
    tl_error err;
    tl_sim *sim = make(&s, &id), *other = make(&s, &other_id);
    for (int i = 0; i < 21; i++) step(sim);
    const void *data;
    size_t size;
    ok(tl_sim_save(sim, &data, &size, &err), &err);
    char *bytes = malloc(size);
    memcpy(bytes, data, size);
    for (int i = 0; i < 21; i++) step(sim);
    ok(tl_sim_restore(other, bytes, size, &err), &err);
    assert_int_equal(tl_sim_steps(other), 21);
    for (int i = 0; i < 21; i++) step(other);
    assert_true(tl_sim_hash(other) == tl_sim_hash(sim));
    // damage is noticed, and changes nothing
    const uint64_t before = tl_sim_hash(other);
    for (size_t at = 0; at < size; at += size / 61 + 1) {
        bytes[at] ^= 4;
        assert_int_equal(tl_sim_restore(other, bytes, size, &err), TL_BAD_INPUT);
        bytes[at] ^= 4;
    }
    assert_int_equal(tl_sim_restore(other, bytes, size / 2, &err), TL_BAD_INPUT);
    assert_true(tl_sim_hash(other) == before);
    free(bytes);
    tl_sim_destroy(sim), tl_sim_destroy(other);
}

static void a_saved_state_goes_on_with_the_same_bits(void **state)
{
    (void)state;
    same_when_resumed(0), same_when_resumed(0.001);
}

static void no_node_is_inside_after_any_step(void **state)
{
    (void)state;
    setup s = draping;
    s.pinned = false;
    tl_cloth_id id;
    tl_sim *sim = make(&s, &id);
    int32_t touched = 0;
    for (int i = 0; i < 60; i++) {
        touched += step(sim).contact.contacts > 0;
        const tl_cloth_view view = view_of(sim, id);
        tl_body_view ball;
        assert_int_equal(tl_sim_body_view(sim, tl_sim_body(sim, 0), &ball), TL_OK);
        tl_vec3 center = {0, 0, 0};
        for (int32_t k = 0; k < ball.node_count; k++)
            center.x += ball.pos[k].x / ball.node_count, center.y += ball.pos[k].y / ball.node_count,
                center.z += ball.pos[k].z / ball.node_count;
        for (int32_t k = 0; k < view.node_count; k++) {
            const double d = hypot(hypot(view.pos[k].x - center.x, view.pos[k].y - center.y), view.pos[k].z - center.z);
            assert_true(d > 0.2 * 0.996 + 0.004 - 0.0015);  // offset 4 mm; the mesh of the ball is inside the ball
        }
    }
    assert_true(touched > 30);
    tl_sim_destroy(sim);
}

static void nothing_goes_through_however_fast(void **state)
{
    (void)state;
    // 120 m/s: five times the ball in one step, in both directions
    for (int way = -1; way <= 1; way += 2) {
        const setup s = {.n = 8, .side = 0.1, .height = way * -0.6, .velocity = {0, way * 120.0, 0}};
        tl_cloth_id id;
        tl_sim *sim = make(&s, &id);
        for (int i = 0; i < 6; i++) {
            step(sim);
            const tl_cloth_view view = view_of(sim, id);
            for (int32_t k = 0; k < view.node_count; k++) {
                const tl_vec3 p = view.pos[k];
                assert_true(hypot(hypot(p.x, p.y), p.z) > 0.198);
                if (hypot(p.x, p.z) < 0.1) assert_true(way * p.y < 0);  // never behind it
            }
        }
        tl_sim_destroy(sim);
    }
}

static void what_starts_inside_comes_out(void **state)
{
    (void)state;
    const setup s = {.n = 6, .side = 0.1, .height = 0.19};
    tl_cloth_id id;
    tl_sim *sim = make(&s, &id);
    for (int i = 0; i < 3; i++) step(sim);
    const tl_cloth_view view = view_of(sim, id);
    for (int32_t k = 0; k < view.node_count; k++)
        assert_true(hypot(hypot(view.pos[k].x, view.pos[k].y), view.pos[k].z) > 0.2);
    tl_sim_destroy(sim);
}

static tl_body_view exchange_body(tl_sim *sim, const tl_body_def *def)
{
    tl_error err;
    tl_body_id body;
    tl_body_view view;
    ok(tl_body_remove(sim, tl_sim_body(sim, 0), &err), &err);
    ok(tl_sim_add_body(sim, def, &body, &err), &err);
    assert_int_equal(tl_sim_body_view(sim, body, &view), TL_OK);
    return view;
}

// As many bodies as before, but others: what was kept of the old one is not taken for what the new one needs.
static void a_body_takes_the_place_of_another(void **state)
{
    (void)state;
    setup s = draping;
    s.ball_moves = false, s.pinned = false;
    tl_cloth_id id;
    tl_sim *sim = make(&s, &id);
    tl_body_def box = tl_body_def_default(), ball = box;
    box.kind = TL_BODY_BOX, box.size = (tl_vec3){0.3, 0.3, 0.3};
    ball.kind = TL_BODY_SPHERE, ball.radius = 0.2, ball.center = (tl_vec3){0, -0.4, 0};
    const int32_t before = exchange_body(sim, &box).node_count;
    for (int k = 0; k < 5; k++) step(sim);
    assert_true(exchange_body(sim, &ball).node_count > before);
    double lowest = 1;
    for (int k = 0; k < 60; k++) {
        step(sim);
        const tl_cloth_view v = view_of(sim, id);
        for (int32_t i = 0; i < v.node_count; i++) {
            assert_true(tl_norm3(tl_sub3(v.pos[i], ball.center)) > 0.98 * ball.radius);
            lowest = fmin(lowest, v.pos[i].y);
        }
    }
    assert_true(lowest < -0.2);  // it fell past where the box was
    tl_sim_destroy(sim);
}

static void held_corners_stay_and_cloth_hangs(void **state)
{
    (void)state;
    setup s = draping;
    s.ball_moves = false, s.height = 1;
    tl_cloth_id id;
    tl_sim *sim = make(&s, &id);
    const tl_vec3 corner = view_of(sim, id).pos[0];
    for (int i = 0; i < 60; i++) step(sim);
    const tl_cloth_view view = view_of(sim, id);
    assert_memory_equal(&view.pos[0], &corner, sizeof corner);
    assert_true(view.pos[20].y < 0.6);  // a corner that is not held
    tl_strain_range strain;
    assert_int_equal(tl_sim_strain(sim, &strain), TL_OK);
    assert_true(strain.max_99 < 0.25 && strain.min_50 > -0.2);
    tl_energies e;
    assert_int_equal(tl_sim_energies(sim, &e), TL_OK);
    assert_true(e.kinetic >= 0 && e.stretch > 0 && e.bend > 0);
    // looking changes nothing
    const uint64_t before = tl_sim_hash(sim);
    tl_intersection_report found;
    tl_error err;
    ok(tl_sim_intersections(sim, &found, &err), &err);
    assert_true(tl_sim_hash(sim) == before);
    step(sim);
    tl_sim_destroy(sim);
}

static void a_budget_is_kept(void **state)
{
    (void)state;
    setup s = draping;
    s.pinned = false, s.self_distance = 0, s.max_faces = 400;
    tl_cloth_id id;
    tl_sim *sim = make(&s, &id);
    double deviation = 0;
    for (int i = 0; i < 120; i++) {
        step(sim);
        const int32_t faces = view_of(sim, id).face_count;
        assert_true(faces < 440);
        if (i >= 60) deviation += fabs(faces / 400.0 - 1) / 60;
    }
    assert_true(deviation < 0.06);
    tl_sim_destroy(sim);
}

// The ball's left half is seen from the left: what is on the right is coarse, and there is as much on the left as ever.
static void what_faces_away_is_coarse(void **state)
{
    (void)state;
    tl_error err;
    setup s = draping;
    s.pinned = s.ball_moves = false, s.self_distance = 0;
    int32_t faces[2], front[2] = {0, 0};
    for (int k = 0; k < 2; k++) {
        tl_cloth_id id;
        tl_sim *sim = make(&s, &id);
        const tl_detail_key key = {0, {-5, 0.5, 0}};
        tl_detail d = tl_detail_default();
        d.keys = &key, d.key_count = 1, d.cull = k == 1;
        ok(tl_sim_set_detail(sim, &d, &err), &err);
        for (int i = 0; i < 60; i++) step(sim);
        const tl_cloth_view v = view_of(sim, id);
        faces[k] = v.face_count;
        for (int32_t f = 0; f < v.face_count; f++) {
            bool left = true;
            for (int c = 0; c < 3; c++) left = left && v.pos[v.vert_node[v.face[f][c]]].x < -0.12;
            front[k] += left;
        }
        tl_sim_destroy(sim);
    }
    print_message("%d faces, culled %d; in front %d and %d\n", faces[0], faces[1], front[0], front[1]);
    assert_true(faces[1] < 0.7 * faces[0]);
    assert_true(front[1] > 0.85 * front[0] && front[0] > 100);
}

// An eye that comes and goes: the budget follows its distance, and the triangles follow the budget.
static void budgets_follow_the_distance(void **state)
{
    (void)state;
    tl_error err;
    setup s = draping;
    s.pinned = s.ball_moves = false, s.self_distance = 0, s.max_faces = 600;
    tl_cloth_id id;
    tl_sim *sim = make(&s, &id);
    const tl_detail_key keys[3] = {{0, {0, 2, 0}}, {1, {0, 2, 0}}, {3, {0, 10, 0}}};
    tl_detail d = tl_detail_default();
    d.keys = keys, d.key_count = 3, d.near = 2, d.far = 10, d.far_faces = 200;
    ok(tl_sim_set_detail(sim, &d, &err), &err);
    double deviation = 0;
    int32_t count = 0;
    for (int i = 0; i < 240; i++) {
        step(sim);
        const tl_cloth_view v = view_of(sim, id);
        double height = 0;
        for (int32_t n = 0; n < v.node_count; n++) height += v.pos[n].y / v.node_count;
        const double t = i / 60.0, u = t < 1 ? 0 : t > 3 ? 1 : (t - 1) / 2, eye = 2 + 8 * u * u * (3 - 2 * u);
        const double part = fmin(1, fmax(0, (eye - height - 2) / 8)), want = 600 - 400 * part;
        if (i >= 60) deviation += fabs(v.face_count / want - 1), count++;
    }
    print_message("budget from 600 to 200 tracked within %.2g in the mean\n", deviation / count);
    assert_true(deviation / count < 0.06);
    d.hidden = 1;
    ok(tl_sim_set_detail(sim, &d, &err), &err);
    for (int i = 0; i < 30; i++) step(sim);
    assert_int_equal(view_of(sim, id).face_count, 32);  // the base
    d.hidden = 0;
    ok(tl_sim_set_detail(sim, &d, &err), &err);
    for (int i = 0; i < 30; i++) step(sim);
    assert_true(view_of(sim, id).face_count > 100);
    tl_sim_destroy(sim);
}

// By the clock: whatever it says, the triangles come down where the time is next to none.
static void a_budget_of_no_time_leaves_little(void **state)
{
    (void)state;
    tl_error err;
    setup s = draping;
    s.pinned = s.ball_moves = false, s.self_distance = 0;
    tl_cloth_id id;
    tl_sim *sim = make(&s, &id);
    for (int i = 0; i < 50; i++) step(sim);
    const int32_t before = view_of(sim, id).face_count;
    tl_detail d = tl_detail_default();
    d.step_seconds = 1e-7;
    ok(tl_sim_set_detail(sim, &d, &err), &err);
    for (int i = 0; i < 120; i++) step(sim);
    assert_true(view_of(sim, id).face_count < 0.3 * before);
    tl_sim_destroy(sim);
}

// Nodes tied to a ball that flies and turns go exactly where its skin goes, those made between them stay on it.
static void what_is_fixed_to_the_skin_follows_it(void **state)
{
    (void)state;
    tl_error err;
    setup s = draping;
    s.pinned = false, s.self_distance = 0, s.height = 0.205, s.side = 0.3;
    tl_cloth_id id;
    tl_sim *sim = make(&s, &id);
    tl_body_def ball = tl_body_def_default();
    tl_body_id body;
    ball.name = "other", ball.kind = TL_BODY_SPHERE, ball.radius = 0.2;
    const tl_motion_key fly[2] = {
        {.time = 0}, {.time = 0.5, .translate = {0.3, 0.1, 0}, .rotate_axis = {0, 1, 0}, .rotate_deg = 180}};
    ball.motion = fly, ball.motion_count = 2;
    ok(tl_sim_add_body(sim, &ball, &body, &err), &err);
    tl_handle_def tie = tl_handle_def_default();
    tie.cloth = id, tie.body = body, tie.use_sphere = 1, tie.sphere_center = (tl_vec3){0, 0.2, 0},
    tie.sphere_radius = 0.12;
    tie.slack = 0.01;
    assert_int_equal(tl_sim_add_handle(sim, &tie, &err), TL_BAD_INPUT);
    assert_non_null(strstr(err.message, "slack"));
    tie.slack = 0;
    ok(tl_sim_add_handle(sim, &tie, &err), &err);
    tl_vec3 at[25];
    for (int32_t n = 0; n < 25; n++) at[n] = view_of(sim, id).pos[n];
    int32_t held = 0, between = 0;
    for (int i = 0; i < 40; i++) {
        step(sim);
        const double t = fmin(1, (i + 1) / 30.0), u = t * t * (3 - 2 * t), a = 3.14159265358979323846 * u;
        const tl_vec3 move = {0.3 * u, 0.1 * u, 0};
        const tl_cloth_view v = view_of(sim, id);
        for (int32_t n = 0; n < 25; n++) {
            if (tl_norm3(tl_sub3(at[n], (tl_vec3){0, 0.2, 0})) > 0.12) continue;
            const tl_vec3 want = {cos(a) * at[n].x + sin(a) * at[n].z + move.x, at[n].y + move.y,
                                  cos(a) * at[n].z - sin(a) * at[n].x + move.z};
            assert_true(tl_norm3(tl_sub3(v.pos[n], want)) < 1e-9);
            held++;
        }
        for (int32_t n = 25; n < v.node_count; n++)  // near the top of the ball
            if (tl_norm3(tl_sub3(v.pos[n], tl_add3(move, (tl_vec3){0, 0.2, 0}))) < 0.05) between++;
    }
    assert_true(held > 100 && between > 0);
    tl_sim_destroy(sim);
}

// Two panels that are drawn side by side and sewn there: each keeps vertices of its own.
static void panels_on_the_same_place_stay_apart(void **state)
{
    (void)state;
    tl_error err;
    tl_sim *sim;
    tl_sim_def def = tl_sim_def_default();
    def.dynamics = TL_DYNAMICS_SPRINGS, def.dt = 1.0 / 60;
    ok(tl_sim_create(&def, &sim, &err), &err);
    const tl_vec3 pos[6] = {{0, 0, 0}, {0, 0, 1}, {-1, 0.4, 0}, {-1, 0.4, 1}, {1, 0.4, 0}, {1, 0.4, 1}};
    const tl_vec2 uv[8] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {0, 0}, {0, 1}, {-1, 0}, {-1, 1}};
    const int32_t node[8] = {0, 1, 2, 3, 0, 1, 4, 5};
    const int32_t face[4][3] = {{0, 2, 3}, {0, 3, 1}, {4, 7, 6}, {4, 5, 7}};
    const tl_material cotton = tl_material_default();
    tl_cloth_def cloth = tl_cloth_def_default();
    cloth.node_count = 6, cloth.pos = pos, cloth.uv = uv, cloth.vert_count = 8, cloth.vert_node = node;
    cloth.face_count = 4, cloth.face = face, cloth.materials = &cotton, cloth.material_count = 1;
    cloth.remeshing.kind = TL_REMESHING_EDGE_TREES;
    tl_cloth_id id;
    ok(tl_sim_add_cloth(sim, &cloth, &id, &err), &err);
    for (int i = 0; i < 10; i++) {
        step(sim);
        const tl_cloth_view v = view_of(sim, id);
        assert_true(v.vert_count - v.node_count >= 2);
        tl_strain_range strain;
        assert_int_equal(tl_sim_strain(sim, &strain), TL_OK);  // a mesh can be made of it
        assert_true(strain.max < 1);
    }
    assert_true(view_of(sim, id).face_count > 4);
    tl_sim_destroy(sim);
}

static void bad_detail_is_refused(void **state)
{
    (void)state;
    tl_error err;
    tl_cloth_id id;
    tl_sim *sim = make(&draping, &id);
    tl_detail d = tl_detail_default();
    d.cull = 1;
    assert_int_equal(tl_sim_set_detail(sim, &d, &err), TL_BAD_INPUT);
    assert_non_null(strstr(err.message, "need an eye"));
    d.cull = 0, d.near = 3, d.far = 2;
    assert_int_equal(tl_sim_set_detail(sim, &d, &err), TL_BAD_INPUT);
    const tl_detail_key keys[2] = {{1, {0, 0, 0}}, {1, {0, 1, 0}}};
    d = tl_detail_default(), d.keys = keys, d.key_count = 2;
    assert_int_equal(tl_sim_set_detail(sim, &d, &err), TL_BAD_INPUT);
    assert_non_null(strstr(err.message, "key 1 at 1 s"));
    tl_sim_destroy(sim);
    tl_sim_def def = tl_sim_def_default();
    ok(tl_sim_create(&def, &sim, &err), &err);
    d = tl_detail_default();
    assert_int_equal(tl_sim_set_detail(sim, &d, &err), TL_BAD_INPUT);
    assert_non_null(strstr(err.message, "springs"));
    tl_sim_destroy(sim);
}

static void what_does_not_go_together_is_refused(void **state)
{
    (void)state;
    tl_error err;
    tl_sim *sim;
    tl_sim_def def = tl_sim_def_default();
    const tl_vec3 pos[3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    const tl_vec2 uv[3] = {{0, 0}, {1, 0}, {0, 1}};
    const int32_t face[1][3] = {{0, 1, 2}};
    const tl_material cotton = tl_material_default();
    tl_cloth_def cloth = tl_cloth_def_default();
    cloth.node_count = 3, cloth.pos = pos, cloth.uv = uv, cloth.face_count = 1, cloth.face = face;
    cloth.materials = &cotton, cloth.material_count = 1;
    tl_cloth_id id;
    cloth.remeshing.kind = TL_REMESHING_EDGE_TREES;
    ok(tl_sim_create(&def, &sim, &err), &err);
    ok(tl_sim_add_cloth(sim, &cloth, &id, &err), &err);  // with the guarantee: test_edge_trees_cloth.c
    tl_sim_destroy(sim);
    def.dynamics = TL_DYNAMICS_SPRINGS;
    ok(tl_sim_create(&def, &sim, &err), &err);
    cloth.remeshing.kind = TL_REMESHING_ANISOTROPIC;
    assert_int_equal(tl_sim_add_cloth(sim, &cloth, &id, &err), TL_BAD_ARG);
    assert_non_null(strstr(err.message, "edge-trees"));
    cloth.remeshing.kind = TL_REMESHING_NONE, cloth.rest_from_shape = 1;
    assert_int_equal(tl_sim_add_cloth(sim, &cloth, &id, &err), TL_BAD_INPUT);
    cloth.rest_from_shape = 0, cloth.remeshing.kind = TL_REMESHING_EDGE_TREES, cloth.remeshing.levels = 9;
    assert_int_equal(tl_sim_add_cloth(sim, &cloth, &id, &err), TL_BAD_INPUT);
    tl_sim_destroy(sim);
    def.springs.compression = 2;
    assert_int_equal(tl_sim_create(&def, &sim, &err), TL_BAD_INPUT);
    assert_non_null(strstr(err.message, "compression"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(a_saved_state_goes_on_with_the_same_bits),
        cmocka_unit_test(no_node_is_inside_after_any_step),
        cmocka_unit_test(nothing_goes_through_however_fast),
        cmocka_unit_test(what_starts_inside_comes_out),
        cmocka_unit_test(a_body_takes_the_place_of_another),
        cmocka_unit_test(held_corners_stay_and_cloth_hangs),
        cmocka_unit_test(a_budget_is_kept),
        cmocka_unit_test(what_faces_away_is_coarse),
        cmocka_unit_test(budgets_follow_the_distance),
        cmocka_unit_test(a_budget_of_no_time_leaves_little),
        cmocka_unit_test(what_is_fixed_to_the_skin_follows_it),
        cmocka_unit_test(panels_on_the_same_place_stay_apart),
        cmocka_unit_test(bad_detail_is_refused),
        cmocka_unit_test(what_does_not_go_together_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
