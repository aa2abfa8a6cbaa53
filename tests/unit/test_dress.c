// tests/unit/test_dress.c: garments on the way from panels to cloth: threads, welding, splitting; bodies drawn in;
// panels moved out of the way; springs of the host.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "dress/clear.h"
#include "dress/garment.h"
#include "dress/raise.h"
#include "dress/thin.h"
#include "math/vec3.h"
#include "toile/core.h"

// ---- a body drawn in ------------------------------------------------------------------------------------------

enum { RINGS = 24, ROUND = 48, BALL_VERTS = (RINGS - 1) * ROUND + 2, BALL_FACES = 2 * ROUND * (RINGS - 1) };

static void make_ball(double radius, tl_vec3 *x, int32_t (*face)[3])
{
    int32_t f = 0;
    for (int i = 1; i < RINGS; i++)
        for (int k = 0; k < ROUND; k++) {
            const double a = M_PI * i / RINGS, b = 2 * M_PI * k / ROUND;
            x[(i - 1) * ROUND + k] = (tl_vec3){radius * sin(a) * cos(b), radius * cos(a), radius * sin(a) * sin(b)};
        }
    const int32_t top = (RINGS - 1) * ROUND, bottom = top + 1;
    x[top] = (tl_vec3){0, radius, 0}, x[bottom] = (tl_vec3){0, -radius, 0};
    for (int k = 0; k < ROUND; k++) {
        const int32_t n = (k + 1) % ROUND, last = (RINGS - 2) * ROUND;
        memcpy(face[f++], (int32_t[3]){top, n, k}, sizeof *face);
        memcpy(face[f++], (int32_t[3]){bottom, last + k, last + n}, sizeof *face);
        for (int i = 0; i + 2 < RINGS; i++) {
            const int32_t a = i * ROUND + k, b = i * ROUND + n;
            memcpy(face[f++], (int32_t[3]){a, b, a + ROUND}, sizeof *face);
            memcpy(face[f++], (int32_t[3]){b, b + ROUND, a + ROUND}, sizeof *face);
        }
    }
    assert_int_equal(f, BALL_FACES);
}

// On a ball the Laplacian of the position is -2 x / r^2, so the step gives x / (1 + 2 (length / r)^2).
static void ball_shrinks_as_computed(void **state)
{
    (void)state;
    static tl_vec3 x[BALL_VERTS], out[BALL_VERTS];
    static int32_t face[BALL_FACES][3];
    const double r = 0.1, length = 0.08, want = r / (1 + 2 * (length / r) * (length / r));
    make_ball(r, x, face);
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    assert_int_equal(tl_body_thin(&alloc, x, BALL_VERTS, (const int32_t(*)[3])face, BALL_FACES, length, out, &err),
                     TL_OK);
    for (int i = 0; i < BALL_VERTS; i++) assert_near(tl_norm3(out[i]), want, 0.03 * want);
    assert_int_equal(tl_body_thin(&alloc, x, BALL_VERTS, (const int32_t(*)[3])face, BALL_FACES, 0, out, &err), TL_OK);
    for (int i = 0; i < BALL_VERTS; i++) assert_near(tl_norm3(tl_sub3(out[i], x[i])), 0, 1e-9);
}

// ---- garments -------------------------------------------------------------------------------------------------

// Two panels of 0.3 x 0.2 m side by side, `gap` between them, where they are sewn; edges of about `edge`.
static void make_panels(double gap, double edge, tl_garment *g)
{
    tl_error err;
    tl_pattern *p;
    assert_int_equal(tl_pattern_create(NULL, &p, &err), TL_OK);
    const tl_vec2 corner[4] = {{0, 0}, {0.3, 0}, {0.3, 0.2}, {0, 0.2}};
    for (int i = 0; i < 2; i++) {
        int32_t panel;
        assert_int_equal(tl_pattern_add_panel(p, i ? "back" : "front", NULL, &panel, &err), TL_OK);
        for (int k = 0; k < 4; k++) {
            const tl_segment line = {.kind = TL_SEGMENT_LINE, .from = corner[k], .to = corner[(k + 1) % 4]};
            assert_int_equal(tl_pattern_add_edge(p, panel, &line, 1, NULL, NULL, &err), TL_OK);
        }
        const tl_placement at = {{i ? 0.3 + gap : 0, 0, 0}, {0, 0, 0}};
        assert_int_equal(tl_pattern_set_placement(p, panel, &at, &err), TL_OK);
    }
    const tl_seam seam = {"", {{0, 1, 1, 0, 1}, {1, 3, 1, 1, 0}}, 0};
    assert_int_equal(tl_pattern_add_seam(p, &seam, NULL, &err), TL_OK);
    assert_int_equal(tl_pattern_check(p, &err), TL_OK);
    tl_pattern_mesh_def def = tl_pattern_mesh_def_default();
    def.edge = edge;
    tl_pattern_mesh mesh;
    assert_int_equal(tl_pattern_mesh_make(NULL, p, &def, &mesh, &err), TL_OK);
    const tl_allocator alloc = tl_allocator_default();
    assert_int_equal(tl_garment_make(&alloc, &mesh, g, &err), TL_OK);
    tl_pattern_mesh_free(&mesh);
    tl_pattern_destroy(p);
}

static void threads_pull_both_sides_alike(void **state)
{
    (void)state;
    tl_garment g;
    make_panels(0.1, 0.05, &g);
    const tl_gap gap = tl_garment_gap(&g, NULL, 0);
    assert_near(gap.widest, 0.1, 1e-12);
    assert_near(gap.mean, 0.1, 1e-12);
    double *k = calloc((size_t)g.vert_count, sizeof *k);
    tl_vec3 *to = calloc((size_t)g.vert_count, sizeof *to), sum = {0, 0, 0};
    double *top = calloc((size_t)g.vert_count, sizeof *top);
    int32_t *turn = calloc((size_t)g.vert_count, sizeof *turn), pulled = 0;
    tl_garment_turns(&g, turn);
    const tl_threads threads = {turn, k, to, top, 1};
    tl_garment_threads(&g, g.pos, (double[2]){7, 0}, 0.02, &threads);
    for (int32_t v = 0; v < g.vert_count; v++) {
        const tl_vec3 force = tl_mul3(k[v], tl_sub3(to[v], g.pos[v]));
        assert_int_equal(turn[v], 0);  // all on a level
        sum = tl_add3(sum, force);
        if (k[v] > 0) pulled++, assert_near(tl_norm3(force), 7 * 0.02, 1e-12);  // half of the gap, cut at the reach
    }
    assert_near(tl_norm3(sum), 0, 1e-12);
    assert_int_equal(pulled, 2 * 5);  // 0.2 m in four parts, both sides
    // a panel that hangs lower is drawn up, the other one stays in height
    for (int32_t v = 0; v < g.vert_count; v++)
        if (g.vert_panel[v] == 1) g.pos[v].y -= 0.3;
    tl_garment_turns(&g, turn);
    tl_garment_threads(&g, g.pos, (double[2]){0, 7}, 0.02, &threads);
    for (int32_t v = 0; v < g.vert_count; v++) {
        if (!(k[v] > 0)) continue;
        assert_int_equal(turn[v], 1);
        if (g.vert_panel[v] == 0)
            assert_near(to[v].y, g.pos[v].y, 1e-12);
        else
            assert_true(to[v].y > g.pos[v].y + 0.01);
    }
    free(k), free(to), free(turn), free(top);
    tl_garment_free(&g);
}

static double area_of(const tl_garment *g, bool material)
{
    double sum = 0;
    for (int32_t f = 0; f < g->face_count; f++) {
        const int32_t *c = g->face[f];
        const tl_vec3 a = g->pos[g->vert_node[c[0]]], b = g->pos[g->vert_node[c[1]]], d = g->pos[g->vert_node[c[2]]];
        sum += material ? 0.5 * tl_cross2(tl_sub2(g->uv[c[1]], g->uv[c[0]]), tl_sub2(g->uv[c[2]], g->uv[c[0]]))
                        : 0.5 * tl_norm3(tl_cross3(tl_sub3(b, a), tl_sub3(d, a)));
    }
    return sum;
}

static void weld_and_split_keep_the_surface(void **state)
{
    (void)state;
    tl_garment g;
    tl_error err;
    make_panels(0.01, 0.06, &g);
    const int32_t before = g.node_count;
    double moved;
    assert_int_equal(tl_garment_weld(&g, &moved, &err), TL_OK);
    assert_near(moved, 0.005, 1e-12);
    assert_near(tl_garment_gap(&g, NULL, 0).widest, 0, 0);
    int32_t sewn = 0;
    for (int32_t v = 0; v < g.vert_count; v++) sewn += g.sewn[v] != v;
    assert_int_equal(g.node_count, before - sewn);
    const double space = area_of(&g, false), material = area_of(&g, true);
    assert_near(material, 2 * 0.3 * 0.2, 1e-12);
    assert_int_equal(tl_garment_split(&g, 0.02, 8, &err), TL_OK);
    assert_near(area_of(&g, false), space, 1e-12);
    assert_near(area_of(&g, true), material, 1e-12);
    for (int32_t f = 0; f < g.face_count; f++)
        for (int k = 0; k < 3; k++) {
            const int32_t a = g.face[f][k], b = g.face[f][(k + 1) % 3];
            assert_true(tl_norm2(tl_sub2(g.uv[a], g.uv[b])) <= 0.02);
            assert_int_equal(g.vert_panel[a], g.face_panel[f]);
        }
    // sewn as before: one open outline, and what simulates cloth takes it
    const tl_material cotton = tl_material_default();
    tl_sim *sim;
    const tl_sim_def def = tl_sim_def_default();
    assert_int_equal(tl_sim_create(&def, &sim, &err), TL_OK);
    tl_cloth_def cloth = tl_cloth_def_default();
    cloth.node_count = g.node_count, cloth.pos = g.pos, cloth.vert_count = g.vert_count, cloth.uv = g.uv;
    cloth.vert_node = g.vert_node, cloth.face_count = g.face_count, cloth.face = (const int32_t(*)[3])g.face;
    cloth.materials = &cotton, cloth.material_count = 1;
    tl_cloth_id id;
    assert_int_equal(tl_sim_add_cloth(sim, &cloth, &id, &err), TL_OK);
    tl_sim_destroy(sim);
    tl_garment_free(&g);
}

static void panels_that_share_a_place_part(void **state)
{
    (void)state;
    static tl_vec3 x[BALL_VERTS];
    static int32_t face[BALL_FACES][3];
    make_ball(0.05, x, face);
    tl_garment g;
    tl_error err;
    make_panels(-0.3, 0.06, &g);  // one upon the other, and through the ball
    tl_workers *workers;
    const tl_allocator alloc = tl_allocator_default();
    assert_int_equal(tl_workers_create(&alloc, 1, &workers, &err), TL_OK);
    const tl_clear_def def = {x, BALL_VERTS, (const int32_t(*)[3])face, BALL_FACES, workers};
    tl_clear_report r;
    assert_int_equal(tl_panels_clear(&def, &g, &r, &err), TL_OK);
    assert_true(r.crossings_before > 0);
    assert_int_equal(r.crossings_after, 0);
    assert_true(r.largest_move > 0.04 && r.largest_move < 0.1);
    tl_workers_destroy(workers);
    tl_garment_free(&g);
}

// ---- springs of the host ----------------------------------------------------------------------------------------

static void springs_bring_cloth_to_its_place(void **state)
{
    (void)state;
    tl_garment g;
    tl_error err;
    make_panels(0.1, 0.1, &g);
    const tl_material cotton = tl_material_default();
    tl_sim *sim;
    tl_sim_def def = tl_sim_def_default();
    def.air.density = def.air.skin = 0, def.gravity = (tl_vec3){0, 0, 0}, def.dt = 0.01;
    assert_int_equal(tl_sim_create(&def, &sim, &err), TL_OK);
    tl_cloth_def cloth = tl_cloth_def_default();
    cloth.node_count = g.node_count, cloth.pos = g.pos, cloth.uv = g.uv;
    cloth.face_count = g.face_count, cloth.face = (const int32_t(*)[3])g.face;
    cloth.materials = &cotton, cloth.material_count = 1;
    tl_cloth_id id;
    cloth.remeshing.kind = TL_REMESHING_NONE;
    assert_int_equal(tl_sim_add_cloth(sim, &cloth, &id, &err), TL_OK);
    double *k = malloc((size_t)g.node_count * sizeof *k);
    tl_vec3 *to = malloc((size_t)g.node_count * sizeof *to);
    for (int32_t i = 0; i < g.node_count; i++) k[i] = 10, to[i] = tl_add3(g.pos[i], (tl_vec3){0.03, 0.02, 0.01});
    assert_int_equal(tl_cloth_set_springs(sim, id, k, to, g.node_count - 1, &err), TL_BAD_ARG);
    assert_int_equal(tl_cloth_set_springs(sim, id, k, to, g.node_count, &err), TL_OK);
    for (int i = 0; i < 60; i++) {
        assert_int_equal(tl_sim_step(sim, NULL, &err), TL_OK);
        assert_int_equal(tl_sim_slow(sim, 0.3, &err), TL_OK);
    }
    tl_cloth_view v;
    assert_int_equal(tl_sim_cloth_view(sim, id, &v), TL_OK);
    for (int32_t i = 0; i < v.node_count; i++) assert_near(tl_norm3(tl_sub3(v.pos[i], to[i])), 0, 1e-4);
    assert_int_equal(tl_cloth_set_springs(sim, id, NULL, NULL, 0, &err), TL_OK);
    assert_int_equal(tl_sim_slow(sim, 1.5, &err), TL_BAD_ARG);
    free(k), free(to);
    tl_sim_destroy(sim);
    tl_garment_free(&g);
}

// ---- sleeves --------------------------------------------------------------------------------------------------

// A corner of a wide top lies near the arm, but below it; the upper side of a sleeve is above its line.
static void only_what_covers_an_arm_is_a_sleeve(void **state)
{
    (void)state;
    tl_error err;
    const tl_allocator alloc = tl_allocator_default();
    tl_pattern *none;
    assert_int_equal(tl_pattern_create(NULL, &none, &err), TL_OK);
    tl_garment g;
    assert_int_equal(tl_garment_alloc(&alloc, 2, 2, 0, &g, &err), TL_OK);
    for (int side = -1; side <= 1; side += 2) {
        tl_figure figure = {.has_arms = true};
        figure.limb[side > 0 ? TL_LIMB_LEFT_ARM : TL_LIMB_RIGHT_ARM] =
            (tl_limb_line){.count = 2, .at = {{side * 0.16, 1.32, 0}, {side * 0.61, 0.94, 0}}, .radius = 0.05};
        g.pos[0] = (tl_vec3){0, 1.3, 0.3};
        g.pos[1] = (tl_vec3){side * 0.287, 1.089, 0.3};
        assert_false(tl_garment_has_sleeves(&g, none, &figure));
        g.pos[1] = (tl_vec3){side * 0.42, 1.17, 0.3};
        assert_true(tl_garment_has_sleeves(&g, none, &figure));
    }
    tl_garment_free(&g);
    tl_pattern_destroy(none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ball_shrinks_as_computed),         cmocka_unit_test(threads_pull_both_sides_alike),
        cmocka_unit_test(weld_and_split_keep_the_surface),  cmocka_unit_test(panels_that_share_a_place_part),
        cmocka_unit_test(springs_bring_cloth_to_its_place), cmocka_unit_test(only_what_covers_an_arm_is_a_sleeve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
