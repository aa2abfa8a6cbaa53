// Surfaces laid flat: lengths kept, one piece where that is possible, cuts where it is not, and a mesh that can be
// built.

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "math/vec3.h"
#include "mesh/mesh.h"
#include "mesh/unfold.h"

enum { MOST_NODES = 2000, MOST_FACES = 4000 };
typedef struct shape {
    int32_t nodes, faces;
    tl_vec3 pos[MOST_NODES];
    int32_t face[MOST_FACES][3];
    tl_vec2 uv[3 * MOST_FACES];
    int32_t vert_node[3 * MOST_FACES], vert[MOST_FACES][3];
} shape;

// A grid of (m + 1) x (n + 1) nodes; with `closed` the last column is the first.
static void grid(shape *s, int m, int n, bool closed, tl_vec3 (*place)(double u, double v))
{
    const int columns = closed ? m : m + 1;
    s->nodes = s->faces = 0;
    for (int j = 0; j <= n; j++)
        for (int i = 0; i < columns; i++) s->pos[s->nodes++] = place((double)i / m, (double)j / n);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            const int32_t a = j * columns + i, b = j * columns + (i + 1) % columns, c = b + columns, d = a + columns;
            memcpy(s->face[s->faces++], (int32_t[3]){a, b, c}, sizeof *s->face);
            memcpy(s->face[s->faces++], (int32_t[3]){a, c, d}, sizeof *s->face);
        }
}

static tl_unfolding unfold(shape *s)
{
    tl_unfolding u = {.pos = s->pos,
                      .node_count = s->nodes,
                      .face_count = s->faces,
                      .face = (const int32_t(*)[3])s->face,
                      .uv = s->uv,
                      .vert_node = s->vert_node,
                      .vert = s->vert};
    const tl_allocator alloc = tl_allocator_default();
    tl_error err = {0};
    if (tl_unfold(&alloc, &u, &err) != TL_OK) fail_msg("%s", err.message);
    // The mesh can be built, and every face has its lengths.
    const tl_mesh_def def = {.node_count = s->nodes,
                             .vert_count = u.vert_count,
                             .face_count = s->faces,
                             .pos = s->pos,
                             .uv = s->uv,
                             .vert_node = s->vert_node,
                             .face_vert = (const int32_t(*)[3])s->vert};
    tl_mesh *mesh;
    if (tl_mesh_create(&alloc, &def, &mesh, &err) != TL_OK) fail_msg("%s", err.message);
    assert_int_equal(tl_mesh_counts(mesh).seam_edge, u.cuts);
    tl_mesh_destroy(mesh);
    double worst = 0;
    for (int32_t f = 0; f < s->faces; f++) {
        double low, high;
        tl_vec2 uv[3];
        tl_vec3 x[3];
        for (int k = 0; k < 3; k++) {
            assert_int_equal(s->vert_node[s->vert[f][k]], s->face[f][k]);
            uv[k] = s->uv[s->vert[f][k]], x[k] = s->pos[s->face[f][k]];
        }
        assert_true(tl_triangle_strain(uv, x, &low, &high));
        worst = fmax(worst, fmax(fabs(low), fabs(high)));
    }
    assert_true(worst <= TL_UNFOLD_STRAIN);
    assert_true(fabs(worst - u.strain) < 1e-12);
    return u;
}

#define PI 3.14159265358979323846
static shape s;

static tl_vec3 tilted(double u, double v)  // a sheet of 2 x 1 m, turned about two axes
{
    const double c = cos(0.7), t = sin(0.7);
    const tl_vec3 p = {2 * u, c * v, t * v};
    return (tl_vec3){c * p.x - t * p.z, p.y, t * p.x + c * p.z};
}
static tl_vec3 upright(double u, double v) { return (tl_vec3){0.3, v, -2 * u}; }
static tl_vec3 rolled(double u, double v) { return (tl_vec3){cos(2 * PI * u), 3 * v, -sin(2 * PI * u)}; }
static tl_vec3 cone(double u, double v)
{
    const double r = 0.5 + v;
    return (tl_vec3){r * cos(2 * PI * u), 3 * v, -r * sin(2 * PI * u)};
}
static tl_vec3 cap(double u, double v)  // a part of a sphere: fine, so that the curvature of a vertex is small
{
    const double a = 0.6 * (u - 0.5), b = 0.6 * (v - 0.5), z = sqrt(1 - a * a - b * b);
    return (tl_vec3){a, b, z};
}

static void sheets_keep_their_lengths(void **state)
{
    (void)state;
    grid(&s, 8, 4, false, tilted);
    tl_unfolding u = unfold(&s);
    assert_int_equal(u.cuts, 0);
    assert_int_equal(u.vert_count, s.nodes);
    assert_true(u.strain < 1e-12);
    grid(&s, 8, 4, false, upright);  // in the y-z plane, where x, y would have no area
    u = unfold(&s);
    assert_int_equal(u.cuts, 0);
    assert_true(u.strain < 1e-12);
}

// A tube of 24 columns opens along one line of 5 edges: exact lengths, 5 cuts. So does a cone.
static void tubes_open_along_a_line(void **state)
{
    (void)state;
    grid(&s, 24, 5, true, rolled);
    tl_unfolding u = unfold(&s);
    assert_int_equal(u.cuts, 5);
    assert_int_equal(u.vert_count, s.nodes + 6);
    assert_true(u.strain < 1e-12);
    grid(&s, 24, 5, true, cone);
    u = unfold(&s);
    assert_true(u.cuts >= 5 && u.cuts <= 10);
    assert_true(u.strain < 1e-9);
}

static void gently_curved_sheets_are_not_cut(void **state)
{
    (void)state;
    grid(&s, 30, 30, false, cap);
    const tl_unfolding u = unfold(&s);
    assert_true(u.strain > 0);
    assert_int_equal(u.cuts, 0);
    assert_int_equal(u.vert_count, s.nodes);
}

// A cube: 12 faces, 8 corners with a quarter turn missing each, so a tree of cuts through all of them: 7 edges.
static void a_cube_is_peeled(void **state)
{
    (void)state;
    static const int32_t quads[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                        {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    s.nodes = 8, s.faces = 0;
    for (int i = 0; i < 8; i++) s.pos[i] = (tl_vec3){i & 1, i >> 1 & 1, i >> 2};
    for (int i = 0; i < 6; i++) {
        const int32_t *q = quads[i];
        memcpy(s.face[s.faces++], (int32_t[3]){q[0], q[1], q[2]}, sizeof *s.face);
        memcpy(s.face[s.faces++], (int32_t[3]){q[0], q[2], q[3]}, sizeof *s.face);
    }
    const tl_unfolding u = unfold(&s);
    assert_int_equal(u.cuts, 7);
    assert_true(u.strain < 1e-12);
}

static void faces_without_area_are_refused(void **state)
{
    (void)state;
    grid(&s, 2, 2, false, tilted);
    s.pos[0] = s.pos[1] = s.pos[4];
    tl_unfolding u = {.pos = s.pos,
                      .node_count = s.nodes,
                      .face_count = s.faces,
                      .face = (const int32_t(*)[3])s.face,
                      .uv = s.uv,
                      .vert_node = s.vert_node,
                      .vert = s.vert};
    const tl_allocator alloc = tl_allocator_default();
    tl_error err = {0};
    assert_int_equal(tl_unfold(&alloc, &u, &err), TL_BAD_INPUT);
    assert_non_null(strstr(err.message, "no area in space"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sheets_keep_their_lengths),        cmocka_unit_test(tubes_open_along_a_line),
        cmocka_unit_test(gently_curved_sheets_are_not_cut), cmocka_unit_test(a_cube_is_peeled),
        cmocka_unit_test(faces_without_area_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
