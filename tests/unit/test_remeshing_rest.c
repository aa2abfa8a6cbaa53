// tests/unit/test_remeshing_rest.c: a pass leaves nothing to do, by brute force, and cloth that stands is left alone.

#include "unit/remeshed.h"

#include "ledger.h"
#include "math/vec3.h"
#include "mesh/mesh_edit.h"
#include "mesh/mesh_query.h"

// ---- the rules, by brute force ----------------------------------------------------------------------------

typedef struct left {
    int32_t too_long, collapses;
    double longest;
} left;

// What the rules ask for and the last pass, `done`, has left. Bodies are placed anew: a pass keeps their places only
// while it runs.
static left what_is_left(tl_sim *sim, int32_t c, const tl_remesh_counts *done)
{
    const sim_cloth *cloth = &sim->cloths[c];
    tl_mesh *mesh = cloth->mesh;
    tl_remesh_attrs attrs;
    assert_ok(tl_remesh_attach(mesh, sim->handle_count, &attrs, &err));
    double densities[4];
    tl_sizing_fabric fabrics[4];
    for (int32_t m = 0; m < cloth->material_count; m++)
        densities[m] = cloth->materials[m].density, fabrics[m] = tl_sizing_fabric_of(&cloth->materials[m]);
    tl_guard_body bodies[4];
    tl_vec3 *place[4] = {NULL};
    for (int32_t b = 0; b < sim->body_count; b++) {
        sim_body *body = &sim->bodies[b];
        bodies[b] = (tl_guard_body){.tree = body->tree, .keep = 0.9 * (0.5 * cloth->thickness + body->thickness)};
        if (body->kind == TL_BODY_PLANE) {
            sim_plane_at(body, sim->time, &bodies[b].point, &bodies[b].normal);
        } else {
            place[b] = malloc((size_t)body->node_count * sizeof *place[b]);
            sim_body_at(body, sim->time, place[b]);
            tl_bvh_refit(body->tree, place[b], NULL, 0, 0, NULL);
        }
    }
    const tl_guard guard = {bodies, sim->body_count, 1};
    const tl_remesh_def def = {.hysteresis = cloth->remeshing.hysteresis,
                               .aspect_min = fmin(0.3, cloth->remeshing.aspect_min),
                               .density = densities,
                               .guard = &guard,
                               .fabric = fabrics,
                               .energy = done->energy_left};
    left out = {0, 0, 0};
    for (int32_t e = 0; e < mesh->slots[TL_EDGES].count; e++) {
        if (!tl_alive(mesh, TL_EDGES, e)) continue;
        const double size = tl_remesh_size(mesh, &attrs, e);
        out.longest = fmax(out.longest, size);
        out.too_long += size > 1 && tl_mesh_can_split(mesh, e, 0.5) == TL_VERDICT_OK;
        for (int k = 0; k < 2; k++) out.collapses += tl_remesh_collapses(mesh, &attrs, &def, e, mesh->edge_node[e][k]);
    }
    for (int32_t b = 0; b < sim->body_count; b++) free(place[b]);
    return out;
}

static void a_pass_leaves_nothing_to_do(void **state)
{
    (void)state;
    tl_sim_def def = world(0.01);
    tl_sim *sim = draped(&def, adaptive(0.05, 0.2, def.dt), 3);
    int32_t made = 0;
    for (int k = 0; k < 40; k++) {
        const tl_remesh_counts r = step(sim);
        assert_apart(sim);
        const tl_remesh_counts more = pass_again(sim);
        made += operations(&r) + operations(&more);
        assert_apart(sim);
        assert_ok(tl_mesh_check(sim->cloths[0].mesh, &err));
        const left l = what_is_left(sim, 0, &more);
        if (l.too_long || l.collapses)
            print_message("step %d: %d too long (%g), %d collapses\n", k, l.too_long, l.longest, l.collapses);
        assert_int_equal(l.too_long, 0);
        assert_int_equal(l.collapses, 0);
    }
    assert_true(made > 500);
    tl_sim_destroy(sim);
}

// ---- rest -------------------------------------------------------------------------------------------------

// What is remembered goes through a saved state: else the node that stays at last would go once more.
static void assert_rests_when_restored(tl_sim *sim)
{
    const void *data;
    size_t size;
    assert_ok(tl_sim_save(sim, &data, &size, &err));
    void *saved = malloc(size);
    memcpy(saved, data, size);
    assert_ok(tl_sim_restore(sim, saved, size, &err));
    free(saved);
    const tl_remesh_counts r = pass_again(sim);
    assert_int_equal(operations(&r), 0);
}

// Passes on one and the same state, `most` of them, until nothing changes, and so it stays, with nothing left to do.
static void assert_comes_to_rest(tl_sim *sim, const char *name, int most)
{
    int32_t done = 1, all = 0, k = 0;
    tl_remesh_counts r = {0};
    for (; done > 0 && k < most; k++, all += done) {
        r = pass_again(sim);
        done = operations(&r);
        assert_apart(sim);
    }
    print_message("%s: %d passes, %d operations, %d faces; the last: %d splits, %d flips, %d collapses\n", name, k, all,
                  sim->face_count, r.splits, r.flips, r.collapses);
    assert_int_equal(done, 0);
    for (k = 0; k < 3; k++) {
        r = pass_again(sim);
        assert_int_equal(operations(&r), 0);
    }
    const left l = what_is_left(sim, 0, &r);
    assert_int_equal(l.too_long + l.collapses, 0);
    if (all > 0) assert_rests_when_restored(sim);
}

// A cloth in the wind, held by a side.
static tl_sim *flying(tl_sim_def def, tl_cloth_def like)
{
    def.air.wind = (tl_vec3){3, 0, 1};
    tl_sim *sim = create(&def);
    sheet s = sheet_grid(1, 1, 3, 3, true);
    tl_handle_def hold = tl_handle_def_default();
    hold.cloth = add_cloth(sim, &s, like, "cloth");
    hold.nodes = (const int32_t[4]){0, 4, 8, 12}, hold.node_count = 4, hold.along_outline = 1;
    assert_ok(tl_sim_add_handle(sim, &hold, &err));
    sheet_free(&s);
    return sim;
}

static tl_sim *lying(const tl_sim_def *def, tl_cloth_def like)
{
    tl_sim *sim = create(def);
    sheet s = sheet_grid(0.8, 0.8, 8, 8, true);
    lay_level(&s, 0.8, 0.8, 0.02);
    add_cloth(sim, &s, like, "cloth");
    sheet_free(&s);
    add_floor(sim, 0);
    return sim;
}

// One pose and several wishes, after which the cloth is as it was. With little hysteresis, what an operation does to
// the curvature is enough to undo it: without memory the drape at the end changes by 10 to 17 operations a pass for
// ever, as given by 2 or 3.
static void pose_comes_to_rest(tl_sim *sim, const char *pose)
{
    tl_remeshing *wish = &sim->cloths[0].remeshing;
    const tl_remeshing given = *wish;
    const void *data;
    size_t size;
    assert_ok(tl_sim_save(sim, &data, &size, &err));
    void *saved = malloc(size);
    memcpy(saved, data, size);
    for (int w = 0; w < 4; w++) {
        char name[64];
        *wish = given;
        if (w == 1) wish->hysteresis = 0.05;
        if (w == 2) wish->hysteresis = 0;
        if (w == 3) wish->kind = TL_REMESHING_ISOTROPIC;
        snprintf(name, sizeof name, "%s, step %d, %s", pose, (int)sim->step,
                 (const char *[]){"as given", "hysteresis 0.05", "none", "isotropic"}[w]);
        assert_comes_to_rest(sim, name, w == 0 ? 8 : 20);
    }
    *wish = given;
    assert_ok(tl_sim_restore(sim, saved, size, &err));
    free(saved);
}

static void a_pose_that_stands_does_not_flicker(void **state)
{
    (void)state;
    const tl_sim_def def = world(0.01);
    const char *pose[] = {"hanging", "draped", "lying", "flying"};
    for (int k = 0; k < 4; k++) {
        const tl_cloth_def like = adaptive(k == 3 ? 0.07 : 0.05, 0.2, 0.04);
        tl_sim *sim = k == 0   ? hanging(&def, like, 4)
                      : k == 1 ? draped(&def, like, 4)
                      : k == 2 ? lying(&def, like)
                               : flying(def, like);
        for (int i = 1; i <= 100; i++) {
            step(sim);
            if (i == 100 || (i == 60 && k % 2 == 1)) pose_comes_to_rest(sim, pose[k]);
        }
        tl_sim_destroy(sim);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pass_leaves_nothing_to_do),
        cmocka_unit_test(a_pose_that_stands_does_not_flicker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
