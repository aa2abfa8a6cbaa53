// tests/unit/test_render_cloth.c: maps that pictures of garments show: tension in N/m, where panels are sewn.

#include <math.h>

#include "base/alloc.h"
#include "check.h"
#include "render/maps.h"
#include "run/render_seams.h"

// Two squares of 1 m side by side; the second has vertices of its own.
static const tl_vec2 uv[8] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}, {5, 0}, {6, 0}, {6, 1}, {5, 1}};
static const int32_t face_uv[4][3] = {{0, 1, 2}, {0, 2, 3}, {4, 5, 6}, {4, 6, 7}};
static const int32_t face[4][3] = {{0, 1, 2}, {0, 2, 3}, {1, 4, 5}, {1, 5, 2}};

static tl_draw_mesh make(tl_vec3 pos[6], double stretch, double shear)
{
    const tl_vec2 at[6] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}, {2, 0}, {2, 1}};
    for (int i = 0; i < 6; i++) pos[i] = (tl_vec3){stretch * at[i].x + shear * at[i].y, at[i].y, 0.3};
    return (tl_draw_mesh){
        .pos = pos, .pos_count = 6, .face = face, .face_count = 4, .uv = uv, .uv_count = 8, .face_uv = face_uv};
}

// E11 = (s^2 - 1) / 2, S11 = c11 E11, S22 = c12 E11; a shear g has E12 = g / 2, E22 = g^2 / 2, S12 = c33 E12 / 2.
static void stress_is_that_of_the_energy(void **state)
{
    (void)state;
    tl_vec3 pos[6];
    float out[4];
    const double k[4] = {1000, 200, 800, 400};
    tl_draw_mesh m = make(pos, 1.1, 0);
    tl_map_stress(&m, k, out);
    for (int f = 0; f < 4; f++) assert_near((double)out[f], 1000 * 0.105, 1e-3);
    m = make(pos, 0.9, 0);
    tl_map_stress(&m, k, out);
    for (int f = 0; f < 4; f++) assert_near((double)out[f], 0, 1e-9);
    m = make(pos, 1, 0.2);
    tl_map_stress(&m, k, out);
    const double e22 = 0.02, s11 = 200 * e22, s22 = 800 * e22, s12 = 400 * 0.1 / 2;
    const double want = (s11 + s22) / 2 + hypot((s11 - s22) / 2, s12);
    for (int f = 0; f < 4; f++) assert_near((double)out[f], want, 1e-3);
}

static void seams_are_where_vertices_differ(void **state)
{
    (void)state;
    tl_vec3 pos[6];
    tl_error err;
    uint8_t *seams;
    const tl_allocator alloc = tl_allocator_default();
    const tl_draw_mesh m = make(pos, 1, 0);
    assert_int_equal(tl_find_seams(&alloc, &m, &seams, &err), TL_OK);
    assert_non_null(seams);
    const uint8_t want[4] = {1, 0, 0, 2};  // the edge of nodes 1 and 2: across from corner 0, and from corner 1
    for (int f = 0; f < 4; f++) assert_int_equal(seams[f], want[f]);
    TL_FREE(&alloc, seams, 4);
    tl_draw_mesh one = m;
    one.face_count = 2;
    assert_int_equal(tl_find_seams(&alloc, &one, &seams, &err), TL_OK);
    assert_null(seams);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stress_is_that_of_the_energy),
        cmocka_unit_test(seams_are_where_vertices_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
