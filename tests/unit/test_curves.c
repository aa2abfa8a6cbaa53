// tests/unit/test_curves.c: motions along cubic curves, against closed forms; handles that fade, and that hold an
// ellipse.

#include <string.h>

#include "check.h"
#include "mesh/mesh_query.h"
#include "sim/internal.h"

static const double PI = 3.14159265358979323846;

// A cubic through three keys with its own rates is that cubic.
static void cubic_with_rates_is_exact(void **state)
{
    (void)state;
    const double times[3] = {-0.5, 0.3, 2};
    tl_motion_key keys[3];
    memset(keys, 0, sizeof keys);
    for (int i = 0; i < 3; i++) {
        const double t = times[i];
        keys[i].time = t, keys[i].has_rates = 1;
        keys[i].translate = (tl_vec3){t * t * t - t, 2 - t * t, 3 * t},
        keys[i].velocity = (tl_vec3){3 * t * t - 1, -2 * t, 3};
        keys[i].scale = 2 + 0.1 * t * t * t, keys[i].growth = 0.3 * t * t;
    }
    tl_pose_key path[3];
    tl_motion_compile(keys, 3, TL_CURVE_CUBIC, path);
    for (double t = -0.5; t < 2; t += 0.0625) {
        const tl_pose p = tl_pose_at(path, 3, t);
        assert_near(p.move.x, t * t * t - t, 1e-14);
        assert_near(p.move.y, 2 - t * t, 1e-14);
        assert_near(p.move.z, 3 * t, 1e-14);
        assert_near(p.scale, 2 + 0.1 * t * t * t, 1e-14);
    }
    assert_near(tl_pose_at(path, 3, -9).move.z, -1.5, 0);  // still before the first and after the last
    assert_near(tl_pose_at(path, 3, 9).move.z, 6, 0);
}

// The slope in the middle is that of the line between its neighbours, zero at the ends.
static void missing_rates_come_from_the_neighbours(void **state)
{
    (void)state;
    const tl_motion_key keys[3] = {
        {.time = 0}, {.time = 1, .translate = {1, 0, 0}}, {.time = 3, .translate = {-2, 0, 0}}};
    tl_pose_key path[3];
    tl_motion_compile(keys, 3, TL_CURVE_CUBIC, path);
    const double slope = -2.0 / 3;
    for (double s = 0; s <= 1; s += 0.125) {
        const double h00 = 2 * s * s * s - 3 * s * s + 1, h10 = s * s * s - 2 * s * s + s,
                     h01 = 3 * s * s - 2 * s * s * s, h11 = s * s * s - s * s;
        assert_near(tl_pose_at(path, 3, s).move.x, h01 + h11 * slope, 1e-15);
        assert_near(tl_pose_at(path, 3, 1 + 2 * s).move.x, h00 + 2 * h10 * slope - 2 * h01, 1e-15);
    }
}

static void cubic_turns_by_quaternions(void **state)
{
    (void)state;
    const tl_motion_key keys[2] = {{.time = 0}, {.time = 1, .rotate_axis = {0, 0, 5}, .rotate_deg = 120}};
    tl_pose_key path[2];
    tl_motion_compile(keys, 2, TL_CURVE_CUBIC, path);
    for (double s = 0; s <= 1; s += 0.0625) {
        const double r = s * s * (3 - 2 * s), angle = 2 * atan2(r * sin(PI / 3), 1 - r + r * cos(PI / 3));
        const tl_vec3 p = tl_pose_apply(path, 2, s, (tl_vec3){0, 0, 0}, (tl_vec3){1, 0, 0});
        assert_near(p.x, cos(angle), 1e-15);
        assert_near(p.y, sin(angle), 1e-15);
        assert_near(p.z, 0, 0);
    }
}

// The rate of the pose at a key is what the key says, by differences.
static void spin_is_the_rate_of_the_rotation(void **state)
{
    (void)state;
    tl_motion_key keys[3] = {
        {.time = 0},
        {.time = 1, .rotate_axis = {1, 2, -1}, .rotate_deg = 70, .translate = {1, 0, 0}, .scale = 1.5},
        {.time = 2, .rotate_axis = {1, 2, -1}, .rotate_deg = 90}};
    keys[1].has_rates = 1, keys[1].spin = (tl_vec3){0.3, -1, 0.7}, keys[1].velocity = (tl_vec3){0.1, 0.2, 0.3},
    keys[1].growth = -0.4;
    tl_pose_key path[3];
    tl_motion_compile(keys, 3, TL_CURVE_CUBIC, path);
    const tl_vec3 pivot = {0.2, 0, 0.1}, a = {1, 0.4, -0.3};
    const double h = 1e-5;  // central difference of a cubic with a kink in its second derivative: error about h
    const tl_vec3 low = tl_pose_apply(path, 3, 1 - h, pivot, a), high = tl_pose_apply(path, 3, 1 + h, pivot, a);
    const tl_vec3 arm = tl_sub3(tl_sub3(tl_pose_apply(path, 3, 1, pivot, a), pivot), keys[1].translate);
    const tl_vec3 rate = tl_madd3(tl_add3(keys[1].velocity, tl_cross3(keys[1].spin, arm)), -0.4 / 1.5, arm);
    assert_near((high.x - low.x) / (2 * h), rate.x, 1e-4);
    assert_near((high.y - low.y) / (2 * h), rate.y, 1e-4);
    assert_near((high.z - low.z) / (2 * h), rate.z, 1e-4);
    const tl_pose pose = tl_pose_at(path, 3, 1.3);
    const tl_vec3 back = tl_pose_back(&pose, pivot, tl_pose_move(&pose, pivot, a));
    assert_near(tl_norm3(tl_sub3(back, a)), 0, 1e-15);
}

static void smooth_curves_scale_too(void **state)
{
    (void)state;
    const tl_motion_key keys[2] = {{.time = 0, .scale = 1}, {.time = 1, .scale = 3}};
    tl_pose_key path[2];
    tl_motion_compile(keys, 2, TL_CURVE_SMOOTH, path);
    assert_near(tl_pose_apply(path, 2, 0.5, (tl_vec3){1, 0, 0}, (tl_vec3){2, 0, 0}).x, 3, 1e-15);
    assert_false(tl_motion_is_still(path, 2));
    assert_true(tl_motion_is_still(path, 1));
    tl_error err;
    const tl_motion_key bad = {.scale = -1};
    assert_int_equal(tl_motion_check("handle", &bad, 1, &err), TL_BAD_INPUT);
    assert_string_equal(err.message, "handle: keys[0].scale -1, must be > 0 (or 0, which counts as 1)");
}

// ---- handles ----------------------------------------------------------------------------------------------

// A square of four faces around a middle node, level at height 1; two nodes of a side have label 1.
static tl_sim *square(tl_vec3 gravity, tl_cloth_id *id)
{
    tl_error err;
    tl_sim_def def = tl_sim_def_default();
    def.dt = 0.01, def.gravity = gravity, def.air.density = 0, def.air.skin = 0;
    tl_sim *sim;
    assert_ok(tl_sim_create(&def, &sim, &err));
    static const tl_vec3 pos[5] = {{0, 1, 0}, {0.1, 1, 0}, {0.1, 1, -0.1}, {0, 1, -0.1}, {0.05, 1, -0.05}};
    static const tl_vec2 uv[5] = {{0, 0}, {0.1, 0}, {0.1, 0.1}, {0, 0.1}, {0.05, 0.05}};
    static const int32_t face[4][3] = {{0, 1, 4}, {1, 2, 4}, {2, 3, 4}, {3, 0, 4}}, label[5] = {1, 1, 0, 0, 0};
    const tl_material cotton = tl_material_default();
    tl_cloth_def cloth = tl_cloth_def_default();
    cloth.remeshing.kind = TL_REMESHING_NONE;
    cloth.node_count = 5, cloth.pos = pos, cloth.uv = uv, cloth.face_count = 4, cloth.face = face,
    cloth.node_label = label;
    cloth.materials = &cotton, cloth.material_count = 1;
    assert_ok(tl_sim_add_cloth(sim, &cloth, id, &err));
    return sim;
}

// Weight is carried by springs that weaken: m g / k below its place, slowly, then free fall.
static void fading_handles_let_go_little_by_little(void **state)
{
    (void)state;
    tl_error err;
    tl_cloth_id id;
    tl_sim *sim = square((tl_vec3){0, -10, 0}, &id);
    tl_handle_def hold = tl_handle_def_default();
    hold.cloth = id, hold.use_box = 1, hold.box_min = (tl_vec3){-1, -1, -1}, hold.box_max = (tl_vec3){2, 2, 2};
    hold.end = 0.1, hold.fade = 1, hold.stiffness = 2;
    assert_ok(tl_sim_add_handle(sim, &hold, &err));
    double mass = 0;
    for (int k = 1; k <= 120; k++) {
        assert_ok(tl_sim_step(sim, NULL, &err));
        double lowest = 1;
        mass = 0;
        for (int32_t i = 0; i < 5; i++) lowest = fmin(lowest, sim->x[i].y), mass += sim->elements->mass[i];
        const double strength = (1.1 - 0.01 * k) / 1, sag = mass / 5 * 10 / (2 * strength);
        if (k <= 10) assert_near(lowest, 1, 0);
        if (k >= 30 && k <= 80) assert_true(1 - lowest > 0.5 * sag && 1 - lowest < 2 * sag);
    }
    assert_true(sim->v[0].y < -0.9);  // free for a tenth of a second and more
    assert_true(tl_sim_hash(sim) != 0);
    tl_sim_destroy(sim);
}

static void nodes_are_held_on_an_ellipse(void **state)
{
    (void)state;
    tl_error err;
    tl_cloth_id id;
    tl_sim *sim = square((tl_vec3){0, 0, 0}, &id);
    tl_handle_def hold = tl_handle_def_default();
    hold.cloth = id, hold.label = 1, hold.use_ellipse = 1;
    hold.ellipse_center = (tl_vec3){0, 0.2, 0}, hold.ellipse_turns = (tl_vec2){0.2, 0.05};  // nearly where they are
    hold.ellipse_axis[0] = (tl_vec3){0, 0.8, 0.01}, hold.ellipse_axis[1] = (tl_vec3){0.8, 0, -0.1};
    const tl_motion_key keys[2] = {{.time = 0}, {.time = 1, .translate = {0, 0.1, 0}}};
    hold.keys = keys, hold.key_count = 2, hold.curve = TL_CURVE_CUBIC;
    assert_ok(tl_sim_add_handle(sim, &hold, &err));
    for (int k = 0; k < 3; k++) assert_ok(tl_sim_step(sim, NULL, &err));
    const double s = sim->time, rise = 0.1 * s * s * (3 - 2 * s);
    const tl_mesh *mesh = sim->cloths[0].mesh;
    for (int32_t n = 0; n < 2; n++) {
        const double angle = 2 * PI * (0.2 * mesh->uv[n].x + 0.05 * mesh->uv[n].y);
        assert_near(mesh->pos[n].x, 0.8 * sin(angle), 1e-12);
        assert_near(mesh->pos[n].y, 0.2 + 0.8 * cos(angle) + rise, 1e-12);
        assert_near(mesh->pos[n].z, 0.01 * cos(angle) - 0.1 * sin(angle), 1e-12);
    }
    tl_sim_destroy(sim);
}

// ---- feature lines ----------------------------------------------------------------------------------------

// A grid that is far too fine: a labelled line across it keeps its place while everything is made coarser.
static void labelled_edges_stay(void **state)
{
    (void)state;
    enum { N = 8, NODES = (N + 1) * (N + 1) };
    tl_error err;
    tl_vec3 pos[NODES];
    tl_vec2 uv[NODES];
    int32_t face[2 * N * N][3], edge[N + 1][2], label[N + 1], count = 0;
    for (int32_t i = 0; i < NODES; i++) {
        uv[i] = (tl_vec2){(double)(i % (N + 1)) / N, (double)(i / (N + 1)) / N};
        pos[i] = (tl_vec3){uv[i].x, 0, -uv[i].y};
    }
    for (int32_t j = 0; j < N; j++)
        for (int32_t i = 0; i < N; i++) {
            const int32_t a = j * (N + 1) + i, b = a + 1, d = a + N + 1, c = d + 1;
            const int32_t two[2][3] = {{a, b, c}, {a, c, d}};
            memcpy(face[count], two, sizeof two), count += 2;
        }
    for (int32_t i = 0; i < N; i++) edge[i][0] = 3 * (N + 1) + i + 1, edge[i][1] = 3 * (N + 1) + i, label[i] = 7;
    edge[N][0] = 0, edge[N][1] = NODES - 1, label[N] = 1;  // no edge of the mesh
    tl_sim_def def = tl_sim_def_default();
    def.gravity = (tl_vec3){0, 0, 0};
    tl_sim *sim;
    assert_ok(tl_sim_create(&def, &sim, &err));
    const tl_material cotton = tl_material_default();
    tl_cloth_def cloth = tl_cloth_def_default();
    cloth.remeshing.kind = TL_REMESHING_NONE;
    cloth.node_count = NODES, cloth.pos = pos, cloth.uv = uv, cloth.face_count = count,
    cloth.face = (const int32_t(*)[3])face;
    cloth.materials = &cotton, cloth.material_count = 1;
    cloth.edge_count = N + 1, cloth.edge = (const int32_t(*)[2])edge, cloth.edge_label = label;
    cloth.remeshing.kind = TL_REMESHING_ANISOTROPIC, cloth.remeshing.size_max = 0.6, cloth.remeshing.interval = 0.005,
    cloth.remeshing.patience = 1;
    tl_cloth_id id;
    assert_ok(tl_sim_add_cloth(sim, &cloth, &id, &err));
    for (int k = 0; k < 10; k++) assert_ok(tl_sim_step(sim, NULL, &err));
    const tl_mesh *mesh = sim->cloths[0].mesh;
    assert_true(mesh->slots[TL_FACES].live < count / 4);
    double length = 0;
    for (int32_t e = 0; e < mesh->slots[TL_EDGES].count; e++) {
        if (!tl_alive(mesh, TL_EDGES, e) || mesh->edge_label[e] == 0) continue;
        const tl_vec2 a = mesh->uv[mesh->node_vert[mesh->edge_node[e][0]]],
                      b = mesh->uv[mesh->node_vert[mesh->edge_node[e][1]]];
        assert_int_equal(mesh->edge_label[e], 7);
        assert_near(a.y, 3.0 / N, 0);
        assert_near(b.y, 3.0 / N, 0);
        length += fabs(b.x - a.x);
    }
    assert_near(length, 1, 1e-15);
    tl_sim_destroy(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cubic_with_rates_is_exact),    cmocka_unit_test(missing_rates_come_from_the_neighbours),
        cmocka_unit_test(cubic_turns_by_quaternions),   cmocka_unit_test(spin_is_the_rate_of_the_rotation),
        cmocka_unit_test(smooth_curves_scale_too),      cmocka_unit_test(fading_handles_let_go_little_by_little),
        cmocka_unit_test(nodes_are_held_on_an_ellipse), cmocka_unit_test(labelled_edges_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
