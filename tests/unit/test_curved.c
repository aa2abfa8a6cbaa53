// Curved surfaces over coarse cloth: the table, single curves worked by hand, no cracks, criteria that do not see the
// bulge, seams, culling, memory.

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "ledger.h"
#include "math/vec3.h"
#include "post/curved.h"

static tl_error err;

static void ok(tl_status status)
{
    if (status != TL_OK) fail_msg("%s", err.message);
}

static void near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.17g is not %.17g within %g", a, b, tolerance);
}

enum { CELLS = 6, ROW = CELLS + 1, NODES = ROW * ROW, FACES = 2 * CELLS * CELLS };

/// A sheet of 1 m; bent over a cylinder along z if `radius` > 0.
typedef struct coarse {
    tl_vec3 pos[NODES];
    tl_vec2 uv[NODES];
    int32_t face[FACES][3];
    tl_fine_mesh mesh;
} coarse;

static void place(coarse *s, double radius, double squeeze)
{
    for (int32_t i = 0; i < NODES; i++) {
        const double x = squeeze * (s->uv[i].x - 0.5), z = s->uv[i].y - 0.5;
        s->pos[i] =
            radius > 0 ? (tl_vec3){radius * sin(x / radius), radius * cos(x / radius), -z} : (tl_vec3){x, 0, -z};
    }
}

static void make(coarse *s, double radius)
{
    for (int32_t i = 0; i < NODES; i++)
        s->uv[i] = (tl_vec2){(double)(i % ROW) / CELLS, (double)(int32_t)(i / ROW) / CELLS};
    for (int32_t j = 0, f = 0; j < CELLS; j++)
        for (int32_t i = 0; i < CELLS; i++) {
            const int32_t a = j * ROW + i, even = (i + j) % 2 == 0;
            const int32_t two[2][3] = {{a, a + 1, even ? a + ROW + 1 : a + ROW},
                                       {even ? a : a + 1, a + ROW + 1, a + ROW}};
            memcpy(s->face[f++], two[0], sizeof two[0]), memcpy(s->face[f++], two[1], sizeof two[1]);
        }
    place(s, radius, 1);
    const tl_fine_input in = {.pos = s->pos,
                              .node = (const int32_t(*)[3])s->face,
                              .vert = (const int32_t(*)[3])s->face,
                              .uv = s->uv,
                              .node_count = NODES,
                              .vert_count = NODES,
                              .face_count = FACES};
    ok(tl_fine_mesh_create(tl_allocator_default(), &in, &s->mesh, &err));
}

static tl_curved *create(const coarse *s, const tl_curved_def *def)
{
    const tl_allocator alloc = tl_allocator_default();
    tl_curved *c;
    ok(tl_curved_create(&alloc, def, &s->mesh, &c, &err));
    return c;
}

static tl_curved_view built(tl_curved *c, const coarse *s, int updates)
{
    tl_curved_follow(c, s->pos);
    for (int i = 0; i < updates; i++) ok(tl_curved_adapt(c, NULL, &err));
    ok(tl_curved_build(c, &err));
    ok(tl_curved_shade(c, &err));
    return tl_curved_look(c);
}

// ---- one curve ------------------------------------------------------------------------------------------------

static void the_table_is_the_published_one(void **state)
{
    (void)state;
    static const double rows[4][5] = {{0.125, 0.4443, 0.7998, -0.3076, 0.0635},
                                      {0.25, 0.1172, 1.0547, -0.2109, 0.0391},
                                      {0.375, -0.0342, 0.9229, 0.1318, -0.0205},
                                      {0.5, -0.0625, 0.5625, 0.5625, -0.0625}};  // Simnett 2012, Table 6.1
    double w[4], v[4];
    for (int i = 0; i < 4; i++) {
        tl_curved_weights(rows[i][0], w), tl_curved_weights(1 - rows[i][0], v);
        for (int k = 0; k < 4; k++) near(w[k], rows[i][k + 1], 5.1e-5), near(v[3 - k], w[k], 1e-15);
    }
    for (int i = 0; i < 4; i++) {  // through its control points
        tl_curved_weights(i / 3.0, w);
        for (int k = 0; k < 4; k++) near(w[k], k == i, 1e-15);
    }
}

static void bulge_grows_with_compression_up_to_a_cap(void **state)
{
    (void)state;
    const tl_curved_def d = tl_curved_def_default();
    static const double percent[7] = {120, 110, 100, 90, 80, 70, 50},
                        want[7] = {0.956, 1.105, 1.300, 1.564, 1.938, 2.197, 2.592};  // spec, 1.14
    double before = 0;
    for (int i = 0; i < 7; i++) {
        const double m = tl_curved_bulge(&d, 1, percent[i] / 100);
        near(m, want[i], 6e-4);
        assert_true(m > before && m < d.cap + 1);
        before = m;
    }
}

static void presets_of_one_edge(void **state)
{
    (void)state;
    const tl_vec3 a = {0, 0, 0}, b = {3, 0, 0}, na = {-0.6, 0.8, 0}, nb = {0.6, 0.8, 0};
    tl_vec3 l[4];
    tl_curved_controls(a, b, na, nb, 0, l);  // K = 0000: straight
    for (int k = 0; k < 4; k++) near(l[k].x, k, 1e-15), near(l[k].y, 0, 0), near(l[k].z, 0, 0);
    tl_curved_controls(a, b, na, nb, 1, l);  // K = 1000: the PN curve
    // P1 = C1 - ((C1 - a) . na) na = (1, 0) + 0.6 (-0.6, 0.8), P2 its mirror image; the Bezier curve at 1/3
    const double p1x = 1 - 0.36, p1y = 0.48, p2x = 2 + 0.36, p2y = 0.48;
    near(l[1].x, (12 * p1x + 6 * p2x + 3) / 27, 1e-14), near(l[1].y, (12 * p1y + 6 * p2y) / 27, 1e-14);
    near(l[2].x, (6 * p1x + 12 * p2x + 8 * 3) / 27, 1e-14), near(l[2].y, l[1].y, 1e-14);
    tl_curved_controls(a, b, na, nb, 2, l);
    near(l[1].y, 2 * (12 * p1y + 6 * p2y) / 27, 1e-14);  // twice as far from the straight edge
}

// ---- the surface ----------------------------------------------------------------------------------------------

static int by_pair(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

// Every directed edge once, inner ones both ways: two faces that meet share the very same nodes.
static void assert_without_cracks(const tl_curved_view *v, int32_t border_edges)
{
    uint64_t *edge = malloc((size_t)v->face_count * 3 * sizeof *edge);
    int32_t border = 0;
    for (int32_t i = 0; i < 3 * v->face_count; i++)
        edge[i] = (uint64_t)v->face[i / 3][i % 3] << 32 | (uint32_t)v->face[i / 3][(i + 1) % 3];
    qsort(edge, (size_t)v->face_count * 3, sizeof *edge, by_pair);
    for (int32_t i = 0; i < 3 * v->face_count; i++) {
        assert_true(i == 0 || edge[i] != edge[i - 1]);
        const uint64_t back = edge[i] << 32 | edge[i] >> 32;
        border += !bsearch(&back, edge, (size_t)v->face_count * 3, sizeof *edge, by_pair);
    }
    if (border_edges > 0) assert_int_equal(border, border_edges);
    free(edge);
}

static void a_cylinder_is_round_again(void **state)
{
    (void)state;
    static coarse s;
    const double radius = 0.25;  // edges span 38 degrees
    make(&s, radius);
    tl_curved_def def = tl_curved_def_default();
    def.uniform = 1;
    def.bulge[0] = 1, def.bulge[1] = def.bulge[2] = def.bulge[3] = 0;
    tl_curved *c = create(&s, &def);
    const tl_curved_view v = built(c, &s, 1);
    assert_int_equal(v.face_count, 64 * FACES);
    assert_without_cracks(&v, 4 * CELLS * 8);
    double sunk = 0, off = 0, turned = 0, plain = 0;
    for (int32_t n = 0; n < NODES; n++) assert_memory_equal(&v.pos[n], &s.pos[n], sizeof(tl_vec3));
    for (int32_t n = 0; n < v.node_count; n++) {
        const double r = hypot(v.pos[n].x, v.pos[n].y);
        // normals at the border are those of one side alone
        const bool inner = fabs(v.flat[n].z) < 0.32 && fabs(atan2(v.pos[n].x, v.pos[n].y)) < 1.3;
        if (!inner) continue;
        sunk = fmax(sunk, radius - hypot(v.flat[n].x, v.flat[n].y)), off = fmax(off, fabs(r - radius));
        const tl_vec3 radial = {v.pos[n].x / r, v.pos[n].y / r, 0};
        turned = fmax(turned, acos(fmin(1, tl_dot3(v.normal[n], radial))));
        plain = fmax(plain, acos(fmin(1, tl_dot3(v.smooth[n], radial))));
    }
    print_message("sunk by %.3g mm, off by %.3g mm; normals off by %.2g rad, interpolated ones by %.2g\n", 1e3 * sunk,
                  1e3 * off, turned, plain);
    assert_true(sunk > 0.013 && off < 0.25 * sunk);
    assert_true(turned < 0.2);
    tl_curved_destroy(c);
    tl_fine_mesh_free(&s.mesh);
}

// Criteria go by the coarse cloth: the mesh is the same whatever the bulge.
static void the_mesh_does_not_depend_on_the_bulge(void **state)
{
    (void)state;
    static coarse s;
    make(&s, 0.4);
    tl_curved_def flat = tl_curved_def_default(), high = tl_curved_def_default();
    for (int k = 0; k < 4; k++) flat.bulge[k] = 0, high.bulge[k] = 0.8;
    tl_curved *a = create(&s, &flat), *b = create(&s, &high);
    for (int frame = 0; frame < 12; frame++) {
        place(&s, frame < 6 ? 0.3 : 3, frame % 3 ? 0.95 : 1);
        const tl_curved_view v = built(a, &s, 1), w = built(b, &s, 1);
        assert_int_equal(v.face_count, w.face_count);
        assert_memory_equal(v.face, w.face, (size_t)v.face_count * sizeof *v.face);
        assert_without_cracks(&v, 0);
        assert_memory_equal(v.pos, v.flat, 0);
        for (int32_t n = 0; n < v.node_count; n++)  // K = 0000: on the coarse faces
            assert_true(tl_norm3(tl_sub3(v.pos[n], v.flat[n])) < 1e-12);
    }
    tl_curved_destroy(a), tl_curved_destroy(b);
    tl_fine_mesh_free(&s.mesh);
}

static void it_refines_where_it_bends_and_goes_back(void **state)
{
    (void)state;
    static coarse s;
    make(&s, 0.3);
    const tl_curved_def def = tl_curved_def_default();
    tl_curved *c = create(&s, &def);
    const int32_t most = built(c, &s, 6).face_count;
    assert_true(most > 4 * FACES);
    place(&s, 0, 1);
    for (int k = 0; k < 30; k++) built(c, &s, 1);
    assert_int_equal(tl_curved_look(c).face_count, FACES);
    place(&s, 0, 0.9);  // flat, and pushed together by a tenth
    assert_true(built(c, &s, 4).face_count > 2 * FACES);
    place(&s, 0, 1.1);
    for (int k = 0; k < 30; k++) built(c, &s, 1);
    assert_int_equal(tl_curved_look(c).face_count, FACES);
    tl_curved_destroy(c);
    tl_fine_mesh_free(&s.mesh);
}

static void what_faces_away_is_coarse(void **state)
{
    (void)state;
    static coarse s;
    make(&s, 0.2);  // more than half round
    tl_curved_def def = tl_curved_def_default();
    tl_curved *all = create(&s, &def);
    def.cull = 1, def.eye = (tl_vec3){3, 0, 0};
    tl_curved *seen = create(&s, &def);
    const tl_curved_view v = built(all, &s, 6), w = built(seen, &s, 6);
    assert_true(w.face_count < 0.75 * v.face_count);
    int32_t front[2] = {0, 0};
    const tl_curved_view both[2] = {v, w};
    for (int k = 0; k < 2; k++)
        for (int32_t f = 0; f < both[k].face_count; f++) {
            const int32_t *n = both[k].face[f];
            front[k] += both[k].flat[n[0]].x > 0.03 && both[k].flat[n[1]].x > 0.03 && both[k].flat[n[2]].x > 0.03;
        }
    assert_int_equal(front[0], front[1]);  // up to the silhouette nothing is missing
    assert_without_cracks(&w, 0);
    tl_curved_destroy(all), tl_curved_destroy(seen);
    tl_fine_mesh_free(&s.mesh);
}

static void seams_keep_both_sides(void **state)
{
    (void)state;
    const tl_vec3 pos[4] = {{0, 0, 0}, {1, 0.2, 0}, {0, 0, 1}, {-1, 0.2, 0}};
    const tl_vec2 uv[6] = {{0, 0}, {1, 0}, {0, 1}, {5, 5}, {5, 6}, {4, 5}};
    const int32_t node[2][3] = {{0, 1, 2}, {0, 2, 3}}, vert[2][3] = {{0, 1, 2}, {3, 4, 5}};
    const tl_fine_input in = {pos, node, vert, uv, 4, 6, 2};
    const tl_allocator alloc = tl_allocator_default();
    tl_fine_mesh m, fine;
    ok(tl_fine_mesh_create(alloc, &in, &m, &err));
    tl_curved_def def = tl_curved_def_default();
    def.uniform = 1, def.levels = 2;
    tl_curved *c;
    ok(tl_curved_create(&alloc, &def, &m, &c, &err));
    tl_curved_follow(c, m.pos);
    ok(tl_curved_adapt(c, NULL, &err));
    ok(tl_curved_build(c, &err));
    tl_vec3 *start;
    ok(tl_curved_mesh(c, &fine, &start, &err));
    assert_int_equal(fine.face_count, 32);
    assert_int_equal(fine.node_count, 25);
    assert_int_equal(fine.vert_count, 30);
    for (int i = 0; i < 6; i++) assert_memory_equal(&fine.uv[i], &uv[i], sizeof *uv);
    double area = 0;
    for (int32_t f = 0; f < 32; f++) {
        const int32_t *v = fine.vert[f];
        area += 0.5 * fabs(tl_cross2(tl_sub2(fine.uv[v[1]], fine.uv[v[0]]), tl_sub2(fine.uv[v[2]], fine.uv[v[0]])));
        assert_int_equal(fine.source[f], f / 16);
    }
    near(area, 1, 1e-14);
    free(start);
    tl_fine_mesh_free(&fine), tl_fine_mesh_free(&m);
    tl_curved_destroy(c);
}

// ---- bad input, memory ----------------------------------------------------------------------------------------

static void bad_input_is_refused(void **state)
{
    (void)state;
    static coarse s;
    make(&s, 0);
    const tl_allocator alloc = tl_allocator_default();
    tl_curved *c;
    tl_curved_def def = tl_curved_def_default();
    def.levels = 7;
    assert_int_equal(tl_curved_create(&alloc, &def, &s.mesh, &c, &err), TL_BAD_ARG);
    assert_non_null(strstr(err.message, "7 levels, must be 0 to 6"));
    def.levels = 3;
    memset(s.mesh.uv, 0, sizeof s.uv);
    assert_int_equal(tl_curved_create(&alloc, &def, &s.mesh, &c, &err), TL_BAD_INPUT);
    assert_non_null(strstr(err.message, "needs material coordinates"));
    tl_fine_mesh_free(&s.mesh);
}

static tl_status short_life(ledger *l, const coarse *s)
{
    const tl_allocator alloc = {ledger_resize, l};
    const tl_curved_def def = tl_curved_def_default();
    tl_curved *c = NULL;
    tl_status status = tl_curved_create(&alloc, &def, &s->mesh, &c, &err);
    if (status != TL_OK) return status;
    tl_curved_follow(c, s->pos);
    for (int k = 0; k < 3 && status == TL_OK; k++) status = tl_curved_adapt(c, NULL, &err);
    if (status == TL_OK) status = tl_curved_build(c, &err);
    tl_fine_mesh fine;
    tl_vec3 *start;
    if (status == TL_OK) {
        status = tl_curved_mesh(c, &fine, &start, &err);
        if (status == TL_OK) tl_free_bytes(&alloc, start, (size_t)fine.node_count, sizeof *start);
        tl_fine_mesh_free(&fine);
    }
    tl_curved_destroy(c);
    return status;
}

static void every_failing_request_is_survived(void **state)
{
    (void)state;
    static coarse s;
    make(&s, 0.3);
    ledger all = {.fail_at = INT64_MAX};
    assert_int_equal(short_life(&all, &s), TL_OK);
    assert_int_equal(all.live, 0);
    for (int64_t n = 1; n <= all.requests; n++) {
        ledger l = {.fail_at = n};
        assert_int_equal(short_life(&l, &s), TL_NO_MEMORY);
        if (l.live != 0) fail_msg("request %lld failed: %lld bytes leaked", (long long)n, (long long)l.live);
    }
    tl_fine_mesh_free(&s.mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_the_published_one),
        cmocka_unit_test(bulge_grows_with_compression_up_to_a_cap),
        cmocka_unit_test(presets_of_one_edge),
        cmocka_unit_test(a_cylinder_is_round_again),
        cmocka_unit_test(the_mesh_does_not_depend_on_the_bulge),
        cmocka_unit_test(it_refines_where_it_bends_and_goes_back),
        cmocka_unit_test(what_faces_away_is_coarse),
        cmocka_unit_test(seams_keep_both_sides),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(every_failing_request_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
