// Gathers, pleats and rings: spacing, lengths, no folds through each other, and what is wrong in a scene.

#include "check.h"

#include "scene/gather.h"
#include "test_io_help.h"
#include "toile/toile.h"

static double apart(tl_vec2 a, tl_vec2 b) { return hypot(a.x - b.x, a.y - b.y); }

static double side(tl_vec2 a, tl_vec2 b, tl_vec2 p) { return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x); }

static bool cross(const tl_vec2 *p, int32_t i, int32_t j)
{
    return side(p[i], p[i + 1], p[j]) * side(p[i], p[i + 1], p[j + 1]) < 0 &&
           side(p[j], p[j + 1], p[i]) * side(p[j], p[j + 1], p[i + 1]) < 0;
}

static void lines_keep_their_length_and_never_cross(void **state)
{
    (void)state;
    enum { POINTS = 121 };
    double length[POINTS];
    tl_vec2 p[POINTS];
    for (int32_t i = 0; i < POINTS; i++) length[i] = i % 2 ? 0.015 : 0.0184;
    double total = 0;
    for (int32_t i = 0; i + 1 < POINTS; i++) total += length[i];
    for (double ratio = 1; ratio <= 3.5; ratio += 0.5) {
        for (int uneven = 0; uneven < 2; uneven++) {
            assert_true(tl_gather_line(length, POINTS, 10, ratio, uneven ? 0.8 : 0, 5, p));
            assert_near(p[POINTS - 1].x, total / ratio, 1e-9);
            for (int32_t i = 0; i + 1 < POINTS; i++) assert_near(apart(p[i], p[i + 1]), length[i], 1e-12);
            for (int32_t i = 0; i + 1 < POINTS; i++)
                for (int32_t j = i + 2; j + 1 < POINTS; j++) assert_false(cross(p, i, j));
        }
    }
    assert_false(tl_gather_line(length, POINTS, 40, 2, 0, 5, p));  // three pieces for a fold
}

static tl_scene *read_scene(const char *gather, const char *rest, tl_status expect, tl_error *err)
{
    char text[1024];
    snprintf(
        text, sizeof text,
        "{\"frames\": 4, \"fps\": 25, \"cloths\": [{\"mesh\": {\"rectangle\": {\"size\": [2, 1], \"edge\": %s}}}],\n"
        "\"handles\": [{%s}]}",
        rest, gather);
    help_write("s.json", text);
    tl_scene *scene = NULL;
    assert_int_equal(tl_scene_load("s.json", NULL, 0, &scene, err), expect);
    return scene;
}

static void rings_are_evenly_spaced_and_alone_hold(void **state)
{
    (void)state;
    tl_error err;
    tl_scene *scene = read_scene("\"sides\": \"top\", \"gather\": {\"ratio\": 2.5, \"kind\": \"rings\", \"count\": 9}",
                                 "0.025, \"pattern\": \"diagonal\"", TL_OK, &err);
    const tl_scene_handle *h = &scene->handles[0];
    const tl_obj *mesh = &scene->cloths[0].mesh;
    assert_int_equal(h->node_count, 9);
    assert_int_equal(h->sides, 0);
    for (int32_t k = 0; k < 9; k++) {
        const tl_vec3 x = mesh->pos[h->nodes[k]];
        assert_near(x.x, 1 + 0.8 * (k / 8.0 - 0.5), 1e-9);  // 2 m gathered to 0.8 m, about the middle
        assert_near(x.y, 1, 0);
        assert_near(x.z, mesh->pos[h->nodes[0]].z, 1e-9);  // on a straight pole
    }
    // nothing is stretched: all edges of all faces have their material length
    for (int32_t f = 0; f < mesh->face_count; f++)
        for (int c = 0; c < 3; c++) {
            const int32_t a = mesh->face[f][c], b = mesh->face[f][(c + 1) % 3];
            const tl_vec3 p = mesh->pos[mesh->vert_node[a]], q = mesh->pos[mesh->vert_node[b]];
            const double far_ = sqrt((p.x - q.x) * (p.x - q.x) + (p.y - q.y) * (p.y - q.y) + (p.z - q.z) * (p.z - q.z));
            assert_near(far_, apart(mesh->uv[a], mesh->uv[b]), 1e-9);
        }
    // and it starts free of intersections: the first step would be refused
    tl_sim *sim = NULL;
    assert_ok(tl_scene_simulate(scene, 1, NULL, NULL, &sim, &err));
    assert_ok(tl_sim_step(sim, NULL, &err));
    tl_sim_destroy(sim);
    tl_scene_destroy(scene);
}

static void gathers_hold_the_whole_side(void **state)
{
    (void)state;
    tl_error err;
    tl_scene *scene = read_scene("\"sides\": \"left\", \"gather\": {\"count\": 4}", "0.02", TL_OK, &err);
    const tl_scene_handle *h = &scene->handles[0];
    const tl_obj *mesh = &scene->cloths[0].mesh;
    assert_true(h->node_count >= 50);
    assert_int_equal(h->sides, 2);
    double lo = INFINITY, hi = -INFINITY;
    for (int32_t i = 0; i < h->node_count; i++)
        lo = fmin(lo, mesh->pos[h->nodes[i]].y), hi = fmax(hi, mesh->pos[h->nodes[i]].y);
    assert_near(hi - lo, 0.5, 0.02);  // 1 m to half of it; within a fold it may reach beyond the ends
    for (int32_t f = 0; f < mesh->face_count;
         f++)  // any mesh: pushed together a little where folds turn, never stretched
        for (int c = 0; c < 3; c++) {
            const int32_t a = mesh->face[f][c], b = mesh->face[f][(c + 1) % 3];
            const tl_vec3 p = mesh->pos[mesh->vert_node[a]], q = mesh->pos[mesh->vert_node[b]];
            const double far_ = sqrt((p.x - q.x) * (p.x - q.x) + (p.y - q.y) * (p.y - q.y) + (p.z - q.z) * (p.z - q.z));
            const double rest = apart(mesh->uv[a], mesh->uv[b]);
            assert_true(far_ <= rest * (1 + 1e-9) && far_ >= 0.94 * rest);
        }
    tl_scene_destroy(scene);
}

static void mistakes_are_named(void **state)
{
    (void)state;
    tl_error err;
    read_scene("\"corners\": \"all\", \"gather\": {}", "0.1", TL_BAD_INPUT, &err);
    assert_non_null(strstr(err.message, "s.json:2: handles[0].gather needs a handle with one side of a rectangle"));
    read_scene("\"sides\": \"top\", \"gather\": {\"count\": 12}", "0.1", TL_BAD_INPUT, &err);
    assert_non_null(strstr(err.message, "mesh.rectangle.edge"));
    read_scene("\"sides\": \"top\", \"gather\": {\"kind\": \"rings\", \"count\": 1}", "0.1", TL_BAD_INPUT, &err);
    assert_non_null(strstr(err.message, "must be 2 rings or more"));
    read_scene("\"sides\": \"top\", \"gather\": {\"ratio\": 0.5}", "0.1", TL_BAD_INPUT, &err);
    assert_non_null(strstr(err.message, "ratio 0.5"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_keep_their_length_and_never_cross),
        cmocka_unit_test_setup_teardown(rings_are_evenly_spaced_and_alone_hold, help_setup, help_teardown),
        cmocka_unit_test_setup_teardown(gathers_hold_the_whole_side, help_setup, help_teardown),
        cmocka_unit_test_setup_teardown(mistakes_are_named, help_setup, help_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
