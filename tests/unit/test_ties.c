// tests/unit/test_ties.c: cloth tied to a body that moves, slack, elastic bands, and what is refused.

#include <math.h>
#include <string.h>

#include "check.h"
#include "math/vec3.h"
#include "toile/core.h"

#define L 0.1  // [m] between the columns of the strip

// A strip of two columns and two rows; its lower nodes are 0 and 1. Next to no stiffness, no bending to speak of.
static tl_sim *make(bool gravity, tl_cloth_id *cloth)
{
    tl_error err;
    tl_sim *sim;
    tl_sim_def def = tl_sim_def_default();
    def.dt = 0.01;
    def.air.density = 0;
    if (!gravity) def.gravity = (tl_vec3){0, 0, 0};
    assert_int_equal(tl_sim_create(&def, &sim, &err), TL_OK);
    static const tl_vec3 pos[4] = {{0, 0.05, 0}, {L, 0.05, 0}, {0, 0.05, L}, {L, 0.05, L}};
    static const tl_vec2 uv[4] = {{0, 0}, {L, 0}, {0, L}, {L, L}};
    static const int32_t face[2][3] = {{0, 1, 3}, {0, 3, 2}}, label[4] = {1, 1, 0, 0};
    tl_material m;
    assert_int_equal(tl_material_isotropic(1.0, 0, 1e-3, 0.1, &m, &err), TL_OK);  // 1e-3 N/m
    tl_cloth_def c = tl_cloth_def_default();
    c.name = "strip", c.node_count = c.vert_count = 4, c.pos = pos, c.uv = uv, c.face = face, c.face_count = 2;
    c.node_label = label, c.materials = &m, c.material_count = 1, c.thickness = 1e-3;
    c.remeshing.kind = TL_REMESHING_NONE;
    assert_int_equal(tl_sim_add_cloth(sim, &c, cloth, &err), TL_OK);
    return sim;
}

// A plate that moves by 1 m along x in a second and turns by 90 degrees about y.
static tl_body_id add_plate(tl_sim *sim, bool moves)
{
    tl_error err;
    tl_body_id id;
    static const tl_vec3 pos[4] = {{-1, 0, -1}, {1, 0, -1}, {1, 0, 1}, {-1, 0, 1}};
    static const int32_t face[2][3] = {{0, 2, 1}, {0, 3, 2}};
    const tl_motion_key keys[2] = {{.time = 0, .scale = 1},
                                   {.time = 1, .translate = {1, 0, 0}, .rotate_axis = {0, 1, 0}, .rotate_deg = 90}};
    tl_body_def def = tl_body_def_default();
    def.name = "plate", def.node_count = 4, def.face_count = 2, def.pos = pos, def.face = face;
    if (moves) def.motion = keys, def.motion_count = 2;
    assert_int_equal(tl_sim_add_body(sim, &def, &id, &err), TL_OK);
    return id;
}

static tl_vec3 node(const tl_sim *sim, tl_cloth_id cloth, int32_t n)
{
    tl_cloth_view v;
    assert_int_equal(tl_sim_cloth_view(sim, cloth, &v), TL_OK);
    return v.pos[n];
}

static void run(tl_sim *sim, int steps)
{
    tl_error err;
    for (int i = 0; i < steps; i++) assert_int_equal(tl_sim_step(sim, NULL, &err), TL_OK);
}

// Glued: node 1 at (L, 0.05, 0) turns to (0, 0.05, -L) about the origin and goes on by 1 m.
static void tied_cloth_follows_a_body_that_turns(void **state)
{
    (void)state;
    tl_error err;
    tl_cloth_id cloth;
    tl_sim *sim = make(false, &cloth);
    tl_handle_def def = tl_handle_def_default();
    def.cloth = cloth, def.label = 1, def.body = add_plate(sim, true), def.stiffness = 1e4;
    assert_int_equal(tl_sim_add_handle(sim, &def, &err), TL_OK);
    run(sim, 110);
    assert_true(tl_norm3(tl_sub3(node(sim, cloth, 0), (tl_vec3){1, 0.05, 0})) < 1e-4);
    assert_true(tl_norm3(tl_sub3(node(sim, cloth, 1), (tl_vec3){1, 0.05, -L})) < 1e-4);
    tl_sim_destroy(sim);
}

// All nodes are tied: each hangs below its place by the slack and its weight over the stiffness.
static void ties_pull_beyond_their_slack_alone(void **state)
{
    (void)state;
    tl_error err;
    tl_cloth_id cloth;
    tl_sim *sim = make(true, &cloth);
    const int32_t nodes[4] = {0, 1, 2, 3};
    tl_handle_def def = tl_handle_def_default();
    def.cloth = cloth, def.nodes = nodes, def.node_count = 4, def.body = add_plate(sim, false);
    def.stiffness = 0.2, def.slack = 0.01;
    assert_int_equal(tl_sim_add_handle(sim, &def, &err), TL_OK);
    for (int i = 0; i < 300; i++) {
        run(sim, 1);
        assert_int_equal(tl_sim_slow(sim, 0.9, &err), TL_OK);
    }
    double sum = 0;
    for (int n = 0; n < 4; n++) sum += 0.05 - 0.01 - node(sim, cloth, n).y;
    assert_near(sum * 0.2, 9.81 * 0.1 * L * L, 1e-3 * 9.81 * 0.1 * L * L);
    tl_sim_destroy(sim);
}

// A band between two ties: tension (l - r) / r = k (L - l) / 2 with r = L / 2.
static void a_band_pulls_its_ends_together(void **state)
{
    (void)state;
    tl_error err;
    tl_cloth_id cloth;
    tl_sim *sim = make(false, &cloth);
    tl_handle_def tie = tl_handle_def_default(), band = tie;
    tie.cloth = band.cloth = cloth, tie.label = band.label = 1;
    tie.body = add_plate(sim, false), tie.stiffness = 30;
    band.elastic = 0.5, band.tension = 2;
    assert_int_equal(tl_sim_add_handle(sim, &tie, &err), TL_OK);
    assert_int_equal(tl_sim_add_handle(sim, &band, &err), TL_OK);
    for (int i = 0; i < 200; i++) {
        run(sim, 1);
        assert_int_equal(tl_sim_slow(sim, 0.9, &err), TL_OK);
    }
    const double r = 0.5 * L, k = 30, t = 2, d = t * (L - r) / (r * k + 2 * t);
    const double length = tl_norm3(tl_sub3(node(sim, cloth, 1), node(sim, cloth, 0)));
    assert_near(length, L - 2 * d, 2e-3 * L);
    tl_sim_destroy(sim);
}

// Half of the steps, then the state in another simulation: the same bits. Another stiffness: refused.
static void ties_survive_a_checkpoint(void **state)
{
    (void)state;
    tl_error err;
    tl_cloth_id cloth[3];
    tl_sim *sim[3];
    for (int i = 0; i < 3; i++) {
        sim[i] = make(true, &cloth[i]);
        tl_handle_def def = tl_handle_def_default();
        def.cloth = cloth[i], def.label = 1, def.body = add_plate(sim[i], true), def.stiffness = i < 2 ? 5 : 6;
        def.slack = 0.002;
        assert_int_equal(tl_sim_add_handle(sim[i], &def, &err), TL_OK);
    }
    run(sim[0], 13);
    const void *data;
    size_t size;
    assert_int_equal(tl_sim_save(sim[0], &data, &size, &err), TL_OK);
    assert_int_equal(tl_sim_restore(sim[1], data, size, &err), TL_OK);
    assert_int_not_equal(tl_sim_restore(sim[2], data, size, &err), TL_OK);
    run(sim[0], 20), run(sim[1], 20);
    assert_true(tl_sim_hash(sim[0]) == tl_sim_hash(sim[1]));
    for (int i = 0; i < 3; i++) tl_sim_destroy(sim[i]);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    tl_error err;
    tl_cloth_id cloth;
    tl_sim *sim = make(false, &cloth);
    const tl_body_id plate = add_plate(sim, false);
    tl_handle_def good = tl_handle_def_default(), def;
    good.cloth = cloth, good.label = 1;
    def = good, def.body = plate, def.slack = -1;
    assert_int_equal(tl_sim_add_handle(sim, &def, &err), TL_BAD_INPUT);
    assert_non_null(strstr(err.message, "slack"));
    def = good, def.body = plate, def.elastic = 0.5;
    assert_int_equal(tl_sim_add_handle(sim, &def, &err), TL_BAD_INPUT);
    def = good, def.elastic = -0.5;
    assert_int_equal(tl_sim_add_handle(sim, &def, &err), TL_BAD_INPUT);
    def = good, def.body = plate, def.live = 1;
    assert_int_equal(tl_sim_add_handle(sim, &def, &err), TL_BAD_INPUT);
    def = good, def.body = plate, def.body.gen += 7;
    assert_int_equal(tl_sim_add_handle(sim, &def, &err), TL_BAD_ARG);
    const int32_t alone = 2;
    def = good, def.label = 0, def.nodes = &alone, def.node_count = 1, def.elastic = 0.5;
    assert_int_equal(tl_sim_add_handle(sim, &def, &err), TL_BAD_INPUT);
    assert_non_null(strstr(err.message, "band"));
    def = good, def.body = plate;
    assert_int_equal(tl_sim_add_handle(sim, &def, &err), TL_OK);
    tl_sim_destroy(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tied_cloth_follows_a_body_that_turns),
        cmocka_unit_test(ties_pull_beyond_their_slack_alone),
        cmocka_unit_test(a_band_pulls_its_ends_together),
        cmocka_unit_test(ties_survive_a_checkpoint),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
