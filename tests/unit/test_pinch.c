// Cloth between parts of bodies that overlap: held without a tremor while they do, free soon after, the same whether
// the parts are two bodies or one mesh that passes through itself, as bodies of people do under the arms.

#include "check.h"
#include "sheets.h"

#include "base/alloc.h"
#include "body/solids.h"
#include "math/vec3.h"
#include "toile/toile.h"

enum { CELLS = 18, KEYS = 4 };
static const double SIDE = 0.3, OVERLAP = 0.01, APART = 0.035;
static const double TIME[KEYS] = {0, 0.15, 0.6, 0.75};  // the arm arrives, stays, leaves

static tl_sim *make_world(int32_t threads)
{
    tl_error err;
    tl_sim_def def = tl_sim_def_default();
    tl_sim *sim;
    def.threads = threads;
    assert_ok(tl_sim_create(&def, &sim, &err));
    sheet s = sheet_grid(SIDE, SIDE, CELLS, CELLS, true);
    int32_t top[CELLS + 1], count = 0;
    for (int32_t i = 0; i < s.node_count; i++) {
        s.pos[i] = (tl_vec3){0, s.uv[i].y - SIDE / 2, SIDE / 2 - s.uv[i].x};
        if (s.uv[i].y > SIDE - 1e-9) top[count++] = i;
    }
    const tl_material m = tl_material_default();
    tl_cloth_def c = tl_cloth_def_default();
    c.remeshing.kind = TL_REMESHING_NONE;
    c.node_count = s.node_count, c.pos = s.pos, c.uv = s.uv, c.face_count = s.face_count,
    c.face = (const int32_t(*)[3])s.face;
    c.materials = &m, c.material_count = 1;
    tl_handle_def hold = tl_handle_def_default();
    assert_ok(tl_sim_add_cloth(sim, &c, &hold.cloth, &err));
    hold.nodes = top, hold.node_count = count;
    assert_ok(tl_sim_add_handle(sim, &hold, &err));
    sheet_free(&s);
    return sim;
}

/// Parts from first to last of: a trunk that stands still, an arm that comes and sinks into it.
static void add_parts(tl_sim *sim, const char *name, int first, int last)
{
    tl_error err;
    const tl_allocator heap = tl_allocator_default();
    const double trunk = 0.08, arm = 0.05, to_trunk = -0.004;
    tl_shape shape[2];
    assert_ok(
        tl_shape_capsule(&heap, (tl_vec3){to_trunk - trunk, -0.02, 0}, (tl_vec3){0, 0.3, 0}, trunk, &shape[0], &err));
    assert_ok(tl_shape_capsule(&heap, (tl_vec3){to_trunk - OVERLAP + arm, -0.03, 0.02}, (tl_vec3){0, 0.2, 0.05}, arm,
                               &shape[1], &err));
    int32_t nodes = 0, faces = 0;
    for (int k = first; k <= last; k++) nodes += shape[k].node_count, faces += shape[k].face_count;
    tl_vec3 *pos = calloc((size_t)(KEYS * nodes), sizeof *pos);
    int32_t(*face)[3] = calloc((size_t)faces, sizeof *face), n = 0, f = 0;
    for (int k = first; k <= last; k++) {
        for (int32_t i = 0; i < shape[k].face_count; i++, f++)
            for (int j = 0; j < 3; j++) face[f][j] = shape[k].face[i][j] + n;
        for (int32_t i = 0; i < shape[k].node_count; i++, n++)
            for (int t = 0; t < KEYS; t++) {
                const double away = k == 1 && (t == 0 || t == KEYS - 1) ? APART : 0;
                pos[t * nodes + n] = tl_add3(shape[k].pos[i], (tl_vec3){away, 0, 0});
            }
        TL_FREE(&heap, shape[k].pos, shape[k].node_count), TL_FREE(&heap, shape[k].face, shape[k].face_count);
    }
    for (int k = 0; k < 2; k++)
        if (k < first || k > last)
            TL_FREE(&heap, shape[k].pos, shape[k].node_count), TL_FREE(&heap, shape[k].face, shape[k].face_count);
    tl_body_def def = tl_body_def_default();
    tl_body_id id;
    def.name = name, def.node_count = nodes, def.face_count = faces, def.face = (const int32_t(*)[3])face;
    def.key_count = KEYS, def.key_time = TIME, def.key_pos = pos;
    assert_ok(tl_sim_add_body(sim, &def, &id, &err));
    free(pos), free(face);
}

/// Of all nodes, or of those that are pinched.
static double fastest(const tl_sim *sim, bool pinched)
{
    enum { MOST = (CELLS + 1) * (CELLS + 1) };
    int32_t nodes[MOST];
    tl_cloth_view view;
    double most = 0;
    assert_int_equal(tl_sim_cloth_view(sim, tl_sim_cloth(sim, 0), &view), TL_OK);
    const int32_t count = pinched ? tl_sim_pinched(sim, tl_sim_cloth(sim, 0), nodes, MOST) : view.node_count;
    for (int32_t i = 0; i < count; i++) most = fmax(most, tl_norm3(view.vel[pinched ? nodes[i] : i]));
    return most;
}

static uint64_t squeeze(tl_sim *sim, const char *name)
{
    tl_error err;
    int32_t most = 0, left = 0;
    double tremor = 0, wildest = 0;
    for (int k = 1; k <= 200; k++) {
        tl_step_report report;
        tl_intersection_report found;
        assert_ok(tl_sim_step(sim, &report, &err));
        assert_ok(tl_sim_intersections(sim, &found, &err));
        assert_int_equal(found.cloth_cloth + found.cloth_body, 0);
        left = report.contact.pinched, most = left > most ? left : most;
        wildest = fmax(wildest, fastest(sim, false));
        if (report.time > 0.5 && report.time < 0.6)
            tremor = fmax(tremor, fastest(sim, true));  // bodies have been at rest for 0.35 s
    }
    print_message(
        "%s: %d nodes pinched, %d left, speeds up to %.2f m/s, pinched ones at up to %.4f m/s while bodies rest\n",
        name, most, left, wildest, tremor);
    assert_true(most >= 10 && left == 0);
    assert_true(wildest < 3);
    assert_true(tremor < 0.05);
    const uint64_t hash = tl_sim_hash(sim);
    tl_sim_destroy(sim);
    return hash;
}

static void two_bodies_that_overlap_hold_cloth_calmly(void **state)
{
    (void)state;
    tl_sim *sim = make_world(1);
    add_parts(sim, "trunk", 0, 0);
    add_parts(sim, "arm", 1, 1);
    squeeze(sim, "two bodies");
}

static void a_body_that_overlaps_itself_holds_cloth_calmly(void **state)
{
    (void)state;
    uint64_t hash[2];
    for (int k = 0; k < 2; k++) {
        tl_sim *sim = make_world(k ? 3 : 1);
        add_parts(sim, "body", 0, 1);
        hash[k] = squeeze(sim, "one body");
    }
    assert_true(hash[0] == hash[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_bodies_that_overlap_hold_cloth_calmly),
        cmocka_unit_test(a_body_that_overlaps_itself_holds_cloth_calmly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
