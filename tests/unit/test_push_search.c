// What finds faces near nodes: cylinders, sphere trees and grids give what the tree of boxes gives, to the bit; closed
// forms of solids; contact links.

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdbool.h>

#include <cmocka.h>

#include "base/rng.h"
#include "body/solids.h"
#include "math/vec3.h"
#include "respond/push_out/links.h"
#include "respond/push_out/search_impl.h"

enum { AROUND = 24, ALONG = 40, NODES = AROUND * (ALONG + 1), FACES = 2 * AROUND * ALONG, ASKED = 1500 };

static void ok(tl_status status, const tl_error *err)
{
    if (status != TL_OK) fail_msg("%s", err->message);
}

static uint64_t bits(uint64_t *seed) { return tl_random_bits(27, 0, (*seed)++); }
static double number(uint64_t *seed) { return tl_random(27, 0, (*seed)++); }

// An arm of 0.8 m, its surface uneven: the first half follows one bone, the second another, with a mix at the elbow.
typedef struct arm {
    tl_vec3 rest[NODES], now[NODES];
    int32_t face[FACES][3], bone[NODES][2];
    double weight[NODES];
} arm;

static void bend_arm(arm *a, double angle)
{
    for (int32_t i = 0; i < NODES; i++) {
        const tl_vec3 p = tl_sub3(a->rest[i], (tl_vec3){0, 0.4, 0});
        const tl_vec3 turned = {p.x * cos(angle) - p.y * sin(angle), p.x * sin(angle) + p.y * cos(angle) + 0.4, p.z};
        const double second = a->bone[i][0] == 1 ? a->weight[i] : 1 - a->weight[i];
        a->now[i] = tl_madd3(a->rest[i], second, tl_sub3(turned, a->rest[i]));
    }
}

static arm *make_arm(void)
{
    arm *a = calloc(1, sizeof *a);
    uint64_t seed = 3;
    for (int32_t i = 0; i < NODES; i++) {
        const double y = 0.8 * (i / AROUND) / ALONG, turn = 6.283185307179586 * (i % AROUND) / AROUND,
                     r = 0.05 + 0.01 * number(&seed) + 0.02 * sin(8 * y);
        a->rest[i] = (tl_vec3){r * cos(turn), y, -r * sin(turn)};
        const double second = fmin(1, fmax(0, (y - 0.35) / 0.1));
        a->bone[i][0] = second > 0.5, a->bone[i][1] = second > 0 && second < 1 ? !a->bone[i][0] : -1;
        a->weight[i] = fmax(second, 1 - second);
    }
    for (int32_t j = 0, f = 0; j < ALONG; j++)
        for (int32_t i = 0; i < AROUND; i++, f += 2) {
            const int32_t p = j * AROUND + i, q = j * AROUND + (i + 1) % AROUND,
                          two[2][3] = {{p, q, q + AROUND}, {p, q + AROUND, p + AROUND}};
            memcpy(a->face[f], two, sizeof two);
        }
    bend_arm(a, 0);
    return a;
}

static tl_search *make_search(const arm *a, tl_search_kind kind, double reach)
{
    const tl_allocator alloc = tl_allocator_default();
    tl_search_def def = tl_search_def_default();
    def.kind = kind, def.node_count = NODES, def.face_count = FACES, def.face = (const int32_t(*)[3])a->face;
    def.rest = a->rest, def.bone = (const int32_t(*)[2])a->bone, def.weight = a->weight, def.reach = reach;
    tl_search *s;
    tl_error err;
    ok(tl_search_create(&alloc, &def, &s, &err), &err);
    return s;
}

// The slow oracle: all faces.
static tl_nearest_spot nearest_of_all(const tl_search *s, tl_vec3 p, double radius)
{
    const tl_search one = {.def = s->def, .now = s->now};
    tl_nearest_spot best = {-1, INFINITY, {INFINITY, 0, 0}};
    for (int32_t f = 0; f < s->def.face_count; f++) {
        const tl_nearest_spot n = tl_search_nearest(&one, p, radius, f);
        if (n.face >= 0 && tl_dot3(n.offset, n.offset) < tl_dot3(best.offset, best.offset)) best = n;
    }
    return best;
}

static void compare(const tl_search *s, uint64_t *seed)
{
    for (int k = 0; k < ASKED; k++) {
        const tl_vec3 at = s->now[bits(seed) % (uint64_t)s->def.node_count],
                      p = tl_add3(
                          at, (tl_vec3){0.2 * number(seed) - 0.1, 0.2 * number(seed) - 0.1, 0.2 * number(seed) - 0.1});
        const double radius = k % 3 == 0 ? 0.004 : k % 3 == 1 ? 0.034 : 0.15;
        const tl_nearest_spot a = nearest_of_all(s, p, radius), b = tl_search_nearest(s, p, radius, -1);
        if (a.face != b.face || (a.face >= 0 && a.distance != b.distance))
            fail_msg("(%g, %g, %g) within %g m: face %d at %g m, all say %d at %g m", p.x, p.y, p.z, radius, b.face,
                     b.distance, a.face, a.distance);
    }
}

static void cylinders_and_spheres_find_what_all_faces_find(void **state)
{
    (void)state;
    arm *a = make_arm();
    uint64_t seed = 11;
    for (int k = 0; k < 2; k++) {
        tl_search *s = make_search(a, TL_SEARCH_BONES, k ? 0.034 : 0.002);
        const tl_search_facts facts = tl_search_look(s);
        assert_int_equal(facts.cylinders, 2);
        assert_int_equal(facts.trees, 1);
        assert_true(facts.cylinder_faces > FACES / 2);
        assert_int_equal(facts.cylinder_faces + facts.tree_faces, FACES);
        for (int pose = 0; pose < 3; pose++) {
            tl_error err;
            bend_arm(a, 0.7 * pose);
            tl_search_fit(s, a->now);
            assert_true(tl_search_look(s).slack < 0.02);
            ok(tl_search_check(s, &err), &err);
            compare(s, &seed);
        }
        tl_search_destroy(s);
    }
    free(a);
}

static void a_part_that_is_not_rigid_is_still_found(void **state)
{
    (void)state;
    arm *a = make_arm();
    tl_search *s = make_search(a, TL_SEARCH_BONES, 0.034);
    uint64_t seed = 5;
    bend_arm(a, 0.5);
    for (int32_t i = 0; i < NODES; i++) a->now[i].x += 0.01 * sin(40 * a->rest[i].y);  // flesh gives way
    tl_search_fit(s, a->now);
    assert_true(tl_search_look(s).slack > 0.005);
    compare(s, &seed);
    tl_search_destroy(s);
    free(a);
}

static void a_grid_finds_what_all_faces_find(void **state)
{
    (void)state;
    arm *a = make_arm();
    tl_search *s = make_search(a, TL_SEARCH_GRID, 0.034);
    uint64_t seed = 7;
    tl_search_fit(s, a->now);
    compare(s, &seed);
    for (int32_t i = 0; i < NODES; i++) {  // turned and moved
        const tl_vec3 p = a->rest[i];
        a->now[i] = (tl_vec3){0.6 * p.x - 0.8 * p.y + 1, 0.8 * p.x + 0.6 * p.y - 2, p.z + 0.5};
    }
    tl_search_fit(s, a->now);
    assert_true(tl_search_look(s).slack < 1e-12);
    compare(s, &seed);
    // a path is told all faces that it goes through
    for (int k = 0; k < ASKED; k++) {
        const tl_vec3 at = a->now[bits(&seed) % NODES],
                      d = {number(&seed) - 0.5, number(&seed) - 0.5, number(&seed) - 0.5},
                      p = tl_madd3(at, 0.8 * number(&seed), d), q = tl_madd3(at, -0.8 * number(&seed), d);
        static int32_t faces[FACES];
        const int32_t n = tl_search_path(s, p, q, faces, FACES);
        assert_true(n >= 0 && n <= FACES);
        for (int32_t f = 0; f < FACES; f++) {
            const tl_vec3 o = a->now[a->face[f][0]], e1 = tl_sub3(a->now[a->face[f][1]], o),
                          e2 = tl_sub3(a->now[a->face[f][2]], o), way = tl_sub3(q, p), h = tl_cross3(way, e2);
            const double det = tl_dot3(e1, h);
            const tl_vec3 r = tl_sub3(p, o), g = tl_cross3(r, e1);
            const double u = tl_dot3(r, h) / det, v = tl_dot3(way, g) / det, t = tl_dot3(e2, g) / det;
            if (!(u > 0 && v > 0 && u + v < 1 && t > 0 && t < 1)) continue;
            bool told = false;
            for (int32_t i = 0; i < n; i++) told = told || faces[i] == f;
            assert_true(told);
        }
    }
    tl_search_destroy(s);
    free(a);
}

static void solids_agree_with_their_meshes(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    const tl_vec3 none = {0, 0, 0}, z = {0, 0, 0.6}, size = {0.4, 0.6, 0.8};
    const double radius = 0.2;
    const tl_solid solid[4] = {{TL_SOLID_SPHERE, radius, none},
                               {TL_SOLID_CAPSULE, radius, {0, 0, 0.3}},
                               {TL_SOLID_CYLINDER, radius, {0, 0, 0.3}},
                               {TL_SOLID_BOX, 0, {0.2, 0.3, 0.4}}};
    uint64_t seed = 9;
    for (int kind = 0; kind < 4; kind++) {
        tl_shape shape;
        tl_error err;
        ok(kind == 0   ? tl_shape_sphere(&alloc, none, radius, &shape, &err)
           : kind == 1 ? tl_shape_capsule(&alloc, none, z, radius, &shape, &err)
           : kind == 2 ? tl_shape_cylinder(&alloc, none, z, radius, &shape, &err)
                       : tl_shape_box(&alloc, none, size, &shape, &err),
           &err);
        tl_search_def def = tl_search_def_default();
        def.node_count = shape.node_count, def.face_count = shape.face_count;
        def.face = (const int32_t(*)[3])shape.face, def.rest = shape.pos;
        tl_search *s;
        ok(tl_search_create(&alloc, &def, &s, &err), &err);
        tl_search_fit(s, shape.pos);
        for (int k = 0; k < 2000; k++) {
            const tl_vec3 p = {1.2 * number(&seed) - 0.6, 1.2 * number(&seed) - 0.6, 1.2 * number(&seed) - 0.6};
            tl_vec3 point, normal;
            const double gap = tl_solid_nearest(&solid[kind], p, &point, &normal);
            const tl_nearest_spot near = tl_search_nearest(s, p, 2, -1);
            assert_true(fabs(fabs(gap) - near.distance) < 0.0045 * radius + 1e-9);
            assert_true(fabs(tl_norm3(normal) - 1) < 1e-12);
            // the place is its nearest point and the gap along the normal
            assert_true(tl_norm3(tl_sub3(tl_madd3(point, gap, normal), p)) < 1e-12);
            tl_vec3 again, same;
            assert_true(fabs(tl_solid_nearest(&solid[kind], point, &again, &same)) < 1e-12);
        }
        tl_search_destroy(s);
        tl_shape_free(&alloc, &shape);
    }
}

static void links_decay_and_break(void **state)
{
    (void)state;
    const tl_push_links_def def = {.slide = 300, .lift = 100, .distance = 0.03, .steps = 10};
    tl_push_body floor = {.axis = {0, 1, 0}, .offset = 0.004, .key = 5};
    const int32_t slot[1] = {0};
    double pos[1][4] = {{0.1, 0.004, 0.2, 0}};
    const tl_push_nodes nodes = {.pos = (const double(*)[4])pos, .count = 1};
    const tl_push_contact touch = {
        .point = {0.1, 0.004, 0.2}, .normal = {0, 1, 0}, .face = -1, .anchor = {0.1, 0, 0.2}};
    tl_push_link link = {.body = -1};
    tl_push_links_update(&link, &def, &(tl_push_links_step){&floor, 1, &touch, 1, &nodes, slot, 1e-4});
    assert_int_equal(link.body, 5);
    // pulled back along the surface and across it, each by its own constant, less and less, then not at all
    pos[0][0] += 0.01, pos[0][1] += 0.005;
    for (int k = 0; k <= 10; k++) {
        const tl_vec3 pull = tl_push_link_pull(&link, &def, &floor, 1, (tl_vec3){pos[0][0], pos[0][1], pos[0][2]});
        const double left = 1 - k / 10.0;
        assert_true(fabs(pull.x + left * 300 * 0.01) < 1e-9 && fabs(pull.y + left * 100 * 0.005) < 1e-9);
        tl_push_links_update(&link, &def, &(tl_push_links_step){&floor, 1, NULL, 0, &nodes, slot, 1e-4});
    }
    assert_int_equal(link.body, -1);
    // by distance, and when its body goes; it moves with its body
    pos[0][0] = 0.1, pos[0][1] = 0.004;
    tl_push_links_update(&link, &def, &(tl_push_links_step){&floor, 1, &touch, 1, &nodes, slot, 1e-4});
    floor.point.x = 0.02;
    assert_true(tl_push_link_pull(&link, &def, &floor, 1, (tl_vec3){0.1, 0.004, 0.2}).x > 5.9);
    tl_push_links_update(&link, &def, &(tl_push_links_step){&floor, 1, NULL, 0, &nodes, slot, 1e-4});
    assert_int_equal(link.body, 5);
    floor.point.x = 0.031;
    tl_push_links_update(&link, &def, &(tl_push_links_step){&floor, 1, NULL, 0, &nodes, slot, 1e-4});
    assert_int_equal(link.body, -1);
    tl_push_links_update(&link, &def, &(tl_push_links_step){&floor, 1, &touch, 1, &nodes, slot, 1e-4});
    tl_push_links_update(&link, &def, &(tl_push_links_step){NULL, 0, NULL, 0, &nodes, slot, 1e-4});
    assert_int_equal(link.body, -1);
}

static void bad_settings_are_refused(void **state)
{
    (void)state;
    arm *a = make_arm();
    const tl_allocator alloc = tl_allocator_default();
    tl_search_def def = tl_search_def_default();
    tl_search *s;
    tl_error err;
    assert_int_equal(tl_search_create(&alloc, &def, &s, &err), TL_BAD_ARG);
    def.node_count = NODES, def.face_count = FACES, def.face = (const int32_t(*)[3])a->face, def.rest = a->rest;
    def.cells = 0;
    assert_int_equal(tl_search_create(&alloc, &def, &s, &err), TL_BAD_ARG);
    assert_null(s);
    free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cylinders_and_spheres_find_what_all_faces_find),
        cmocka_unit_test(a_part_that_is_not_rigid_is_still_found),
        cmocka_unit_test(a_grid_finds_what_all_faces_find),
        cmocka_unit_test(solids_agree_with_their_meshes),
        cmocka_unit_test(links_decay_and_break),
        cmocka_unit_test(bad_settings_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
