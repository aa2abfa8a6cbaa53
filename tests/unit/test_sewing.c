// tests/unit/test_sewing.c: two panels are sewn around a post, step by step: closed, clear of it, the same on any
// number of threads; what is saved is a cloth with a rim.

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "toile/toile.h"

enum { SIDES = 24, NODES = 2 * SIDES + 2, FACES = 4 * SIDES };
#define RADIUS 0.1
#define HEIGHT 1.0

static tl_vec3 post[NODES];
static int32_t post_face[FACES][3];

static void make_post(void)
{
    int32_t f = 0;
    for (int32_t i = 0; i < SIDES; i++) {
        const double a = 2 * M_PI * i / SIDES;
        const int32_t n = (i + 1) % SIDES, top = 2 * SIDES, bottom = top + 1;
        post[i] = (tl_vec3){RADIUS * sin(a), 0, RADIUS * cos(a)};
        post[SIDES + i] = (tl_vec3){RADIUS * sin(a), HEIGHT, RADIUS * cos(a)};
        memcpy(post_face[f++], (int32_t[3]){i, n, SIDES + n}, sizeof *post_face);
        memcpy(post_face[f++], (int32_t[3]){i, SIDES + n, SIDES + i}, sizeof *post_face);
        memcpy(post_face[f++], (int32_t[3]){top, SIDES + i, SIDES + n}, sizeof *post_face);
        memcpy(post_face[f++], (int32_t[3]){bottom, n, i}, sizeof *post_face);
    }
    post[2 * SIDES] = (tl_vec3){0, HEIGHT, 0}, post[2 * SIDES + 1] = (tl_vec3){0, 0, 0};
}

// Two panels as wide as 1.25 times half the way around, bent about the post at a distance, `up` high.
static tl_pattern *make_pattern(double up, bool placed)
{
    tl_error err;
    tl_pattern *p;
    const double w = 1.25 * M_PI * RADIUS / 2, h = 0.2;
    const tl_vec2 corner[4] = {{-w, 0}, {w, 0}, {w, h}, {-w, h}};
    assert_int_equal(tl_pattern_create(NULL, &p, &err), TL_OK);
    for (int32_t i = 0; i < 2; i++) {
        int32_t panel;
        assert_int_equal(tl_pattern_add_panel(p, i ? "back" : "front", NULL, &panel, &err), TL_OK);
        for (int k = 0; k < 4; k++) {
            const tl_segment line = {.kind = TL_SEGMENT_LINE, .from = corner[k], .to = corner[(k + 1) % 4]};
            assert_int_equal(tl_pattern_add_edge(p, panel, &line, 1, NULL, NULL, &err), TL_OK);
        }
        const tl_placement at = {.origin = {0, up, i ? -0.18 : 0.18}, .rotation_deg = {0, i ? 180 : 0, 0}, .bend = 5};
        if (placed) assert_int_equal(tl_pattern_set_placement(p, panel, &at, &err), TL_OK);
    }
    const tl_seam seams[2] = {{"", {{0, 1, 1, 0, 1}, {1, 3, 1, 1, 0}}, 0}, {"", {{0, 3, 1, 0, 1}, {1, 1, 1, 1, 0}}, 0}};
    for (int i = 0; i < 2; i++) assert_int_equal(tl_pattern_add_seam(p, &seams[i], NULL, &err), TL_OK);
    assert_int_equal(tl_pattern_check(p, &err), TL_OK);
    return p;
}

static tl_sewing_def def_of(const tl_pattern *pattern, const tl_material *material, int32_t threads)
{
    tl_sewing_def def = tl_sewing_def_default();
    def.pattern = pattern, def.material = material, def.edge = 0.05, def.threads = threads;
    def.body = post, def.body_nodes = NODES, def.body_face = (const int32_t(*)[3])post_face, def.body_faces = FACES;
    return def;
}

// Sews to the end; the hash of the last state that can be looked at.
static uint64_t sew(tl_sewing *sewing, tl_sewing_report *r)
{
    tl_error err;
    double widest = 0, last = 0;
    bool grew = false;
    int calls = 0;
    do {
        assert_int_equal(tl_sewing_step(sewing, r, &err), TL_OK);
        if (r->stage == TL_SEWING_SEW) widest = fmax(widest, r->gap), last = r->gap;
        grew = grew || r->stage == TL_SEWING_GROW;
        tl_intersection_report found;
        assert_non_null(tl_sewing_sim(sewing));
        assert_int_equal(tl_sim_intersections(tl_sewing_sim(sewing), &found, &err), TL_OK);
        assert_int_equal(found.cloth_cloth + found.cloth_body, 0);
        assert_true(++calls < 500);
    } while (r->stage != TL_SEWING_DONE);
    assert_true(grew && widest > 0.05 && last < 0.01);
    return tl_sim_hash(tl_sewing_sim(sewing));
}

static void two_panels_close_around_a_post(void **state)
{
    (void)state;
    tl_error err;
    tl_sewing_report r;
    const tl_material cotton = tl_material_default();
    tl_pattern *pattern = make_pattern(0.4, true);
    uint64_t hash[2];
    for (int i = 0; i < 2; i++) {
        const tl_sewing_def def = def_of(pattern, &cotton, i ? 3 : 1);
        tl_sewing *sewing;
        assert_int_equal(tl_sewing_create(&def, &sewing, &err), TL_OK);
        assert_null(tl_sewing_sim(sewing));
        assert_int_equal(tl_sewing_save(sewing, "never.obj", &err), TL_BAD_ARG);
        hash[i] = sew(sewing, &r);
        assert_true(r.rim_nodes > 4);
        assert_near(r.rim_length, 1.25 * 2 * M_PI * RADIUS, 0.1);
        const int32_t steps = r.steps;
        assert_int_equal(tl_sewing_step(sewing, &r, &err), TL_OK);  // nothing more happens
        assert_int_equal(r.steps, steps);
        if (i == 1) assert_int_equal(tl_sewing_save(sewing, "sewn.obj", &err), TL_OK);
        tl_sewing_destroy(sewing);
    }
    assert_true(hash[0] == hash[1]);
    tl_pattern_destroy(pattern);
    // it is a cloth whose rim can be tied
    FILE *to = fopen("sewn.json", "w");
    assert_non_null(to);
    fprintf(to,
            "{\"cloths\": [{\"mesh\": \"sewn.obj\", \"rest\": \"uv\", \"name\": \"g\"}], \"handles\": [{\"cloth\": "
            "\"g\", \"label\": %d}]}",
            TL_SEWING_RIM);
    assert_int_equal(fclose(to), 0);
    tl_scene *scene;
    tl_sim *sim;
    assert_int_equal(tl_scene_load("sewn.json", NULL, 0, &scene, &err), TL_OK);
    assert_int_equal(tl_scene_simulate(scene, 1, NULL, NULL, &sim, &err), TL_OK);
    tl_cloth_view v;
    assert_int_equal(tl_sim_cloth_view(sim, tl_sim_cloth(sim, 0), &v), TL_OK);
    assert_true(v.node_count < v.vert_count);  // seams are one node with a vertex on either side
    tl_sim_destroy(sim);
    tl_scene_destroy(scene);
    unlink("sewn.obj"), unlink("sewn.json");
}

static void what_reaches_the_shoulders_has_no_rim_to_hold(void **state)
{
    (void)state;
    tl_error err;
    tl_sewing_report r;
    const tl_material cotton = tl_material_default();
    tl_pattern *pattern = make_pattern(0.7, true);
    const tl_sewing_def def = def_of(pattern, &cotton, 1);
    tl_sewing *sewing;
    assert_int_equal(tl_sewing_create(&def, &sewing, &err), TL_OK);
    sew(sewing, &r);
    assert_int_equal(r.rim_nodes, 0);
    tl_sewing_destroy(sewing);
    tl_pattern_destroy(pattern);
}

static void wrong_definitions_are_refused(void **state)
{
    (void)state;
    tl_error err;
    tl_sewing *sewing;
    const tl_material cotton = tl_material_default();
    tl_pattern *pattern = make_pattern(0.4, false);
    tl_sewing_def def = def_of(pattern, &cotton, 1);
    assert_int_equal(tl_sewing_create(&def, &sewing, &err), TL_BAD_INPUT);
    assert_non_null(strstr(err.message, "panel 'front' has no place"));
    assert_null(sewing);
    tl_pattern_destroy(pattern);
    pattern = make_pattern(0.4, true);
    def = def_of(pattern, &cotton, 1), def.edge = 0;
    assert_int_equal(tl_sewing_create(&def, &sewing, &err), TL_BAD_ARG);
    def = def_of(pattern, &cotton, 1), def.body_nodes = NODES - 1;
    assert_int_equal(tl_sewing_create(&def, &sewing, &err), TL_BAD_ARG);
    assert_non_null(strstr(err.message, "names node"));
    def = def_of(pattern, NULL, 1);
    assert_int_equal(tl_sewing_create(&def, &sewing, &err), TL_BAD_ARG);
    assert_int_equal(tl_sewing_create(NULL, &sewing, &err), TL_BAD_ARG);
    tl_sewing_destroy(NULL);
    tl_pattern_destroy(pattern);
}

int main(void)
{
    make_post();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_panels_close_around_a_post),
        cmocka_unit_test(what_reaches_the_shoulders_has_no_rim_to_hold),
        cmocka_unit_test(wrong_definitions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
