// Wrinkles: coefficients against numeric areas, direction, selection, continuity, tessellation, maps, and folds that
// touch nothing.

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "detect/intersect.h"
#include "math/vec3.h"
#include "mesh/edges.h"
#include "post/wrinkles/wrinkles.h"

#define PI 3.14159265358979323846

static void ok(tl_status status, const tl_error *err)
{
    if (status != TL_OK) fail_msg("%s", err->message);
}

static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.17g is not %.17g within %g", a, b, tolerance);
}

static const tl_ridges straight = {.count = 8, .wavelength = 0.05, .variation = 0, .persistence = 0.35, .seed = 1};
static const tl_ridges noisy = {.count = 6, .wavelength = 0.05, .variation = 5, .persistence = 0.35, .seed = 7};

static tl_wrinkle_def plain_def(tl_ridges r)
{
    return (tl_wrinkle_def){.ridges = r, .zone = 0.3, .amplitude = 0.004, .strength = 1};
}

// ---- textures -------------------------------------------------------------------------------------------------

// Waves lie at angles pi i / n and repeat after a wavelength; the same seed gives the same noise, another another.
static void textures_are_waves_at_their_angles(void **state)
{
    (void)state;
    for (int32_t i = 0; i < straight.count; i++) {
        const tl_vec2 e = tl_ridge_direction(&straight, i), p = {0.013, 0.021};
        assert_near(e.x, cos(PI * i / 8), 1e-15), assert_near(e.y, -sin(PI * i / 8), 1e-15);
        assert_near(tl_ridge(&straight, i, p, NULL),
                    tl_ridge(&straight, i, tl_add2(p, tl_mul2(straight.wavelength, e)), NULL), 1e-12);
        const tl_vec2 along = {-e.y, e.x};
        assert_near(tl_ridge(&straight, i, p, NULL), tl_ridge(&straight, i, tl_add2(p, along), NULL), 1e-12);
    }
    tl_ridges other = noisy;
    other.seed = 8;
    double difference = 0, most = 0;
    for (int k = 0; k < 400; k++) {
        const tl_vec2 p = {0.0137 * k, 0.021 * (k % 19) - 0.2};
        tl_vec2 g, h = {1e-7, 0}, v = {0, 1e-7};
        const double w = tl_ridge(&noisy, k % 6, p, &g);
        assert_near(w, tl_ridge(&noisy, k % 6, p, NULL), 0);
        assert_near(
            g.x, (tl_ridge(&noisy, k % 6, tl_add2(p, h), NULL) - tl_ridge(&noisy, k % 6, tl_sub2(p, h), NULL)) / 2e-7,
            1e-4);
        assert_near(
            g.y, (tl_ridge(&noisy, k % 6, tl_add2(p, v), NULL) - tl_ridge(&noisy, k % 6, tl_sub2(p, v), NULL)) / 2e-7,
            1e-4);
        difference = fmax(difference, fabs(w - tl_ridge(&other, k % 6, p, NULL)));
        most = fmax(most, fabs(tl_ridge_noise(3, 0.35, tl_mul2(31, p), NULL)));
    }
    assert_true(difference > 0.5);
    assert_true(most <= 1 && most > 0.3);
}

// ---- strain and modulation ------------------------------------------------------------------------------------

static const tl_vec2 corner[3] = {{0.1, 0.2}, {0.19, 0.22}, {0.13, 0.3}};

// Places under the map U and a turn in space.
static void strained(tl_inplane u, double turn, tl_vec3 x[3])
{
    for (int k = 0; k < 3; k++) {
        const double a = u.a * corner[k].x + u.b * corner[k].y, b = u.b * corner[k].x + u.d * corner[k].y;
        x[k] = (tl_vec3){cos(turn) * a - sin(turn) * b, 0.3 * (sin(turn) * a + cos(turn) * b), 0};
        x[k].z = sqrt(1 - 0.09) / 0.3 * x[k].y;  // tilted: lengths kept
    }
}

static void stretch_is_the_symmetric_factor(void **state)
{
    (void)state;
    const tl_inplane u = {0.9, 0.03, 1.05};
    for (int k = 0; k < 5; k++) {
        tl_vec3 x[3];
        tl_inplane got;
        strained(u, 0.7 * k, x);
        assert_true(tl_face_inplane(corner, x, &got));
        assert_near(got.a, u.a, 1e-13), assert_near(got.b, u.b, 1e-13), assert_near(got.d, u.d, 1e-13);
    }
    const tl_vec2 flat[3] = {{0, 0}, {1, 1}, {2, 2}};
    const tl_vec3 x[3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    tl_inplane got;
    assert_false(tl_face_inplane(flat, x, &got));
}

// Area of the deformed, modulated surface over the face, Eq. 5.4, by many small triangles.
static double area_of(const tl_ridges *r, int32_t i, double amplitude, double h, tl_inplane u)
{
    const double det = u.a * u.d - u.b * u.b, a = u.d / det, b = -u.b / det, d = u.a / det;
    const int n = 60;
    double sum = 0;
    for (int row = 0; row < n; row++)
        for (int k = 0; k < 2 * (n - row) - 1; k++) {
            const double s = (k / 2 + (1 + k % 2) / 3.0) / n, t = (row + (1 + k % 2) / 3.0) / n;
            const tl_vec2 p = tl_sub2(corner[1], corner[0]), q = tl_sub2(corner[2], corner[0]);
            tl_vec2 g;
            tl_ridge(r, i, tl_add2(corner[0], tl_add2(tl_mul2(s, p), tl_mul2(t, q))), &g);
            g = tl_mul2(0.5 * amplitude * h, g);
            const double fx = a * g.x + b * g.y, fy = b * g.x + d * g.y;
            sum += sqrt(1 + fx * fx + fy * fy) * det;
        }
    return sum / (n * n) * 0.5 * tl_cross2(tl_sub2(corner[1], corner[0]), tl_sub2(corner[2], corner[0]));
}

static void published_modulation_keeps_the_area(void **state)
{
    (void)state;
    const double amplitude = 0.03;
    for (int32_t i = 0; i < 8; i++) {
        const tl_area_terms c = tl_ridge_area_terms(&straight, i, amplitude, corner);
        const tl_inplane rest = {1, 0, 1}, small = {0.9985, 0.0004, 1.0005};
        assert_near(tl_area_modulation(&c, rest), 1, 0);
        assert_near(c.c0, area_of(&straight, i, amplitude, 1, rest), 2e-3 * c.c0);
        const double h = tl_area_modulation(&c, small), whole = area_of(&straight, i, amplitude, 1, rest);
        const double lost = whole - area_of(&straight, i, amplitude, 1, small);
        const double left = whole - area_of(&straight, i, amplitude, h, small);
        assert_true(fabs(lost) > 1e-4 * whole);
        assert_true(fabs(left) < 0.03 * fabs(lost));  // what is left is of second order
        // turned as a whole: the same stretch, the same factor
        tl_vec3 x[3];
        tl_inplane turned;
        strained(small, 1.1, x);
        assert_true(tl_face_inplane(corner, x, &turned));
        assert_near(tl_area_modulation(&c, turned), h, 1e-9);
    }
    tl_area_terms none = {1, 0, -1, 0, -1};
    assert_near(tl_area_modulation(&none, (tl_inplane){0.9, 0, 1}), 1, 0);  // C1 = 0
}

// Arc length of a sine of the height that is asked for, by summing chords.
static void fold_height_keeps_the_length(void **state)
{
    (void)state;
    const double compression[3] = {0.05, 0.1, 0.2}, allowed[3] = {0.002, 0.0075, 0.028};
    for (int c = 0; c < 3; c++) {
        const double s = 1 - compression[c], rest = 0.06, high = tl_fold_height(rest, s);
        double length = 0;
        for (int k = 0; k < 20000; k++) {
            const double dx = rest * s / 20000,
                         dy = high * (sin(2 * PI * (k + 1) / 20000.0) - sin(2 * PI * k / 20000.0));
            length += hypot(dx, dy);
        }
        assert_near(length / rest, 1, allowed[c]);
    }
    assert_near(tl_fold_height(0.06, 1), 0, 0), assert_near(tl_fold_height(0.06, 1.1), 0, 0);
    // a thick stiff sheet folds in longer waves, a tight one in shorter ones
    assert_near(tl_wrinkle_wavelength(16e-6, 1, 0.1) / tl_wrinkle_wavelength(1e-6, 1, 0.1), 2, 1e-12);
    assert_near(tl_wrinkle_wavelength(1e-6, 16, 0.1) / tl_wrinkle_wavelength(1e-6, 1, 0.1), 0.5, 1e-12);
}

// ---- selection ------------------------------------------------------------------------------------------------

static void at_most_two_are_chosen(void **state)
{
    (void)state;
    double before[6] = {0}, most_jump = 0;
    int blended = 0;
    for (int k = 0; k <= 20000; k++) {
        const double angle = PI * k / 20000;
        double fit[6], weight[6], sum = 0;
        int used = 0;
        for (int i = 0; i < 6; i++) {
            const double c = cos(angle - PI * i / 6);
            fit[i] = 0.1 * c * c;
        }
        tl_choose_ridges(6, fit, 0.3, weight);
        for (int i = 0; i < 6; i++) {
            used += weight[i] > 0, sum += weight[i];
            if (k > 0) most_jump = fmax(most_jump, fabs(weight[i] - before[i]));
            before[i] = weight[i];
        }
        assert_true(used == 1 || used == 2), assert_near(sum, 1, 1e-15);
        blended += used == 2;
    }
    assert_true(most_jump < 0.01);                         // no jump while the compression turns around
    assert_true(blended > 100 && blended < 0.55 * 20000);  // only where two are nearly as good
    const double equal[4] = {0.1, 0.1, 0.1, 0.1};
    double weight[4];
    assert_near(tl_choose_ridges(4, equal, 0.3, weight), 0, 0);
}

// ---- a sheet --------------------------------------------------------------------------------------------------

enum { SIDE = 8, NODES = (SIDE + 1) * (SIDE + 1), FACES = 2 * SIDE * SIDE };

typedef struct sheet {
    tl_vec3 pos[NODES];
    tl_vec2 uv[NODES];
    int32_t face[FACES][3];
} sheet;

// 0.4 m square, compressed to `s` along the direction at `angle`.
static void make_sheet(sheet *m, double s, double angle)
{
    const double c = cos(angle), d = sin(angle), a = 1 + (s - 1) * c * c, b = (s - 1) * c * d, e = 1 + (s - 1) * d * d;
    for (int i = 0; i < NODES; i++) {
        const double u = 0.4 * (i % (SIDE + 1)) / SIDE, v = 0.4 * (i / (SIDE + 1)) / SIDE;  // 1 + (s - 1) e e^T
        m->uv[i] = (tl_vec2){u, v}, m->pos[i] = (tl_vec3){a * u + b * v, b * u + e * v, 0};
    }
    for (int j = 0; j < SIDE; j++)
        for (int i = 0; i < SIDE; i++) {
            const int32_t p = j * (SIDE + 1) + i,
                          two[2][3] = {{p, p + 1, p + SIDE + 2}, {p, p + SIDE + 2, p + SIDE + 1}};
            memcpy(m->face[2 * (j * SIDE + i)], two, sizeof two);
        }
}

static tl_fine_mesh mesh_of(const sheet *m)
{
    const tl_fine_input in = {m->pos, (const int32_t(*)[3])m->face, (const int32_t(*)[3])m->face, m->uv, NODES, NODES,
                              FACES};
    tl_fine_mesh out;
    tl_error err;
    ok(tl_fine_mesh_create(tl_allocator_default(), &in, &out, &err), &err);
    return out;
}

static tl_wrinkles *wrinkles_of(tl_wrinkle_def def)
{
    const tl_allocator alloc = tl_allocator_default();
    tl_wrinkles *w;
    tl_error err;
    ok(tl_wrinkles_create(&alloc, &def, &w, &err), &err);
    return w;
}

static void look(tl_wrinkles *w, const sheet *m)
{
    tl_fine_mesh mesh = mesh_of(m);
    tl_error err;
    ok(tl_wrinkles_frame(w, &mesh, "sheet", NULL, &err), &err);
    tl_fine_mesh_free(&mesh);
}

// For compression along each of eight directions heights vary along it, not across.
static void folds_lie_across_the_compression(void **state)
{
    (void)state;
    static sheet m;
    for (int32_t i = 0; i < 8; i++) {
        tl_wrinkles *w = wrinkles_of(plain_def(straight));
        const tl_vec2 e = tl_ridge_direction(&straight, i);
        make_sheet(&m, 0.9, atan2(e.y, e.x));
        look(w, &m);
        double along = 0, across = 0;
        for (int32_t f = 0; f < FACES; f++) {
            const int32_t *c = m.face[f];
            const tl_vec2 at = tl_mul2(1.0 / 3, tl_add2(m.uv[c[0]], tl_add2(m.uv[c[1]], m.uv[c[2]])));
            const tl_vec2 g = tl_wrinkles_slope(w, f, at);
            along += fabs(tl_dot2(g, e)), across += fabs(tl_cross2(g, e));
        }
        assert_true(along > 0.1 * FACES);
        assert_true(across < 1e-9 * along);
        assert_near(tl_wrinkles_report(w)->highest, tl_fold_height(0.05, 0.9), 1e-12);
        tl_wrinkles_destroy(w);
    }
}

static void flat_at_rest_and_under_tension(void **state)
{
    (void)state;
    static sheet m;
    tl_wrinkle_def def = plain_def(noisy);
    def.onset = 0.002;
    tl_wrinkles *w = wrinkles_of(def);
    for (int k = 0; k < 3; k++) {
        make_sheet(&m, 1 + 0.05 * k, 0.3);
        look(w, &m);
        for (int32_t f = 0; f < FACES; f++) assert_near(tl_wrinkles_height(w, f, m.uv[m.face[f][0]]), 0, 0);
    }
    assert_near(tl_wrinkles_report(w)->folded, 0, 0);
    tl_wrinkles_destroy(w);
    tl_wrinkle_def paper = plain_def(noisy);  // as published: folds at rest
    paper.kind = TL_WRINKLES_PAPER;
    w = wrinkles_of(paper);
    make_sheet(&m, 1, 0);
    look(w, &m);
    assert_near(tl_wrinkles_report(w)->highest, 0.004, 1e-12);
    tl_wrinkles_destroy(w);
}

// Uneven compression: the height is the same from both sides of every edge.
static void heights_are_continuous_over_edges(void **state)
{
    (void)state;
    static sheet m;
    make_sheet(&m, 0.93, 0.4);
    for (int i = 0; i < NODES; i++)
        m.pos[i].x += 0.006 * sin(40 * m.uv[i].y), m.pos[i].y += 0.006 * sin(55 * m.uv[i].x);
    for (int kind = 0; kind < 2; kind++) {
        tl_wrinkle_def def = plain_def(noisy);
        def.kind = (tl_wrinkle_kind)kind;
        tl_wrinkles *w = wrinkles_of(def);
        look(w, &m);
        int shared = 0;
        double most = 0;
        for (int32_t f = 0; f < FACES; f++)
            for (int32_t g = f + 1; g < FACES; g++) {
                tl_vec2 both[3];
                int n = 0;
                for (int a = 0; a < 3; a++)
                    for (int b = 0; b < 3; b++)
                        if (m.face[f][a] == m.face[g][b]) both[n++] = m.uv[m.face[f][a]];
                if (n < 2) continue;
                shared++;
                for (int k = 0; k <= 10; k++) {
                    const tl_vec2 at = tl_add2(tl_mul2(k / 10.0, both[0]), tl_mul2(1 - k / 10.0, both[1]));
                    const double h = tl_wrinkles_height(w, f, at);
                    assert_near(h, tl_wrinkles_height(w, g, at), 1e-12);
                    most = fmax(most, fabs(h));
                }
            }
        assert_true(shared > FACES && most > 1e-3);
        tl_wrinkles_destroy(w);
    }
}

// A sheet that is compressed at once folds in steps of the rate, and the same again backwards.
static void heights_do_not_pop(void **state)
{
    (void)state;
    static sheet m;
    tl_wrinkle_def def = plain_def(noisy);
    def.rate = 0.001;
    tl_wrinkles *w = wrinkles_of(def);
    make_sheet(&m, 1, 0);
    look(w, &m);
    for (int frame = 1; frame <= 12; frame++) {
        make_sheet(&m, frame <= 8 ? 0.9 : 1, 0);
        look(w, &m);
        const tl_wrinkle_report *r = tl_wrinkles_report(w);
        assert_true(r->change <= 0.001 * (1 + 1e-12));
        if (frame <= 4) assert_near(r->highest, 0.001 * frame, 1e-12), assert_true(r->held_back > 0);
    }
    tl_wrinkles_destroy(w);
}

static void wrong_coordinates_are_told(void **state)
{
    (void)state;
    static sheet m;
    tl_wrinkles *w = wrinkles_of(plain_def(noisy));
    tl_error err;
    make_sheet(&m, 1, 0);
    for (int i = 0; i < NODES; i++) m.uv[i] = tl_mul2(10, m.uv[i]);
    tl_fine_mesh mesh = mesh_of(&m);
    assert_int_equal(tl_wrinkles_frame(w, &mesh, "sheet", NULL, &err), TL_BAD_INPUT);
    assert_non_null(strstr(err.message, "metres"));
    for (int i = 0; i < NODES; i++) mesh.uv[i] = (tl_vec2){0, 0};
    assert_int_equal(tl_wrinkles_frame(w, &mesh, "sheet", NULL, &err), TL_BAD_INPUT);
    assert_non_null(strstr(err.message, "no material coordinates"));
    tl_fine_mesh_free(&mesh);
    tl_wrinkles_destroy(w);
    const tl_allocator alloc = tl_allocator_default();
    tl_wrinkle_def def = plain_def(noisy);
    def.ridges.count = 1;
    assert_int_equal(tl_wrinkles_create(&alloc, &def, &w, &err), TL_BAD_INPUT);
}

// ---- adaptive faces -------------------------------------------------------------------------------------------

static void tessellation_is_whole_and_near(void **state)
{
    (void)state;
    static sheet m;
    make_sheet(&m, 0.9, 0.2);
    for (int i = 0; i < NODES; i++)  // the right half at rest
        if (m.uv[i].x > 0.2) m.pos[i] = (tl_vec3){m.uv[i].x + 0.1, m.uv[i].y, 0};
    for (int i = 0; i < NODES; i++)
        if (m.uv[i].x > 0.19 && m.uv[i].x < 0.21) m.pos[i] = (tl_vec3){m.uv[i].x + 0.1, m.uv[i].y, 0};
    tl_wrinkles *w = wrinkles_of(plain_def(noisy));
    tl_fine_mesh mesh = mesh_of(&m);
    tl_error err;
    ok(tl_wrinkles_frame(w, &mesh, "sheet", NULL, &err), &err);
    const double tolerance = 3e-4;
    ok(tl_wrinkles_tessellate(w, tolerance, 6, &mesh, &err), &err);
    assert_true(mesh.face_count > 4 * FACES);
    // Euler: no node on an edge, no hole; every inner edge has two faces, the outline is as it was
    int32_t(*edge)[2], edge_count;
    int32_t(*side)[3] = malloc((size_t)mesh.face_count * sizeof *side);
    const tl_allocator alloc = tl_allocator_default();
    ok(tl_unique_edges(&alloc, (const int32_t(*)[3])mesh.node, mesh.face_count, &edge, &edge_count, side, &err), &err);
    assert_int_equal(mesh.node_count - edge_count + mesh.face_count, 1);
    int32_t *count = calloc((size_t)edge_count, sizeof *count);
    for (int32_t f = 0; f < mesh.face_count; f++)
        for (int k = 0; k < 3; k++) count[side[f][k]]++;
    double outline = 0, area = 0, worst = 0;
    int32_t at_rest = 0;
    for (int32_t e = 0; e < edge_count; e++) {
        assert_in_range(count[e], 1, 2);
        if (count[e] == 1) outline += tl_norm2(tl_sub2(mesh.uv[edge[e][0]], mesh.uv[edge[e][1]]));
    }
    for (int32_t f = 0; f < mesh.face_count; f++) {
        tl_vec2 c[3];
        double h[3];
        for (int k = 0; k < 3; k++) {
            c[k] = mesh.uv[mesh.vert[f][k]], h[k] = tl_wrinkles_height(w, mesh.source[f], c[k]);
            assert_int_equal(mesh.vert[f][k], mesh.node[f][k]);  // without seams: alike
        }
        const double twice = tl_cross2(tl_sub2(c[1], c[0]), tl_sub2(c[2], c[0]));
        assert_true(twice > 0);
        area += 0.5 * twice;
        at_rest += c[0].x > 0.26 && c[1].x > 0.26 && c[2].x > 0.26;
        for (int k = 0; k < 20; k++) {  // between the corners the height is met
            const double s = (k % 5 + 0.5) / 5.5, t = (1 - s) * (k / 5 + 0.5) / 4.5, b[3] = {1 - s - t, s, t};
            const tl_vec2 at = tl_add2(tl_mul2(b[0], c[0]), tl_add2(tl_mul2(b[1], c[1]), tl_mul2(b[2], c[2])));
            worst =
                fmax(worst, fabs(tl_wrinkles_height(w, mesh.source[f], at) - b[0] * h[0] - b[1] * h[1] - b[2] * h[2]));
        }
    }
    assert_near(outline, 1.6, 1e-12), assert_near(area, 0.16, 1e-12);
    assert_true(worst < 1.2 * tolerance);
    assert_int_equal(at_rest, 2 * SIDE * 2);  // two columns and a half are flat: they keep their faces
    free(count), free(side);
    tl_free_bytes(&alloc, edge, (size_t)edge_count, sizeof *edge);
    tl_fine_mesh_free(&mesh);
    tl_wrinkles_destroy(w);
}

// Two panels sewn together: folds come to the same height on both sides, and no edge along the seam opens.
static void seams_stay_closed(void **state)
{
    (void)state;
    static sheet m;
    make_sheet(&m, 0.9, PI / 2);
    int32_t vert[FACES][3];
    tl_vec2 uv[NODES + SIDE + 1];
    memcpy(vert, m.face, sizeof vert);
    memcpy(uv, m.uv, sizeof m.uv);
    for (int j = 0; j <= SIDE; j++) uv[NODES + j] = (tl_vec2){0.2 + 3, m.uv[j * (SIDE + 1)].y + 1};
    for (int i = 0; i < NODES; i++)  // the right half is another panel, elsewhere in material space
        if (m.uv[i].x > 0.201) uv[i] = tl_add2(uv[i], (tl_vec2){3, 1});
    for (int f = 0; f < FACES; f++) {
        const bool right = m.uv[m.face[f][0]].x + m.uv[m.face[f][1]].x + m.uv[m.face[f][2]].x > 0.6;
        for (int k = 0; k < 3 && right; k++)
            if (fabs(m.uv[m.face[f][k]].x - 0.2) < 1e-9) vert[f][k] = NODES + m.face[f][k] / (SIDE + 1);
    }
    const tl_fine_input in = {
        m.pos, (const int32_t(*)[3])m.face, (const int32_t(*)[3])vert, uv, NODES, NODES + SIDE + 1, FACES};
    tl_fine_mesh mesh;
    tl_error err;
    ok(tl_fine_mesh_create(tl_allocator_default(), &in, &mesh, &err), &err);
    tl_wrinkles *w = wrinkles_of(plain_def(noisy));
    ok(tl_wrinkles_frame(w, &mesh, "panels", NULL, &err), &err);
    ok(tl_wrinkles_tessellate(w, 2e-4, 4, &mesh, &err), &err);
    assert_true(mesh.vert_count > mesh.node_count + SIDE + 1);  // the seam was split, too, both sides at one node
    double *height = malloc((size_t)mesh.node_count * sizeof *height);
    ok(tl_wrinkles_sample(w, &mesh, 3, NULL, height, &err), &err);
    double seam = 0, elsewhere = 0;  // steepest edge there and elsewhere
    for (int32_t f = 0; f < mesh.face_count; f++)
        for (int k = 0; k < 3; k++) {
            const int32_t a = mesh.node[f][k], b = mesh.node[f][(k + 1) % 3];
            const double slope = fabs(height[a] - height[b]) / tl_norm3(tl_sub3(mesh.pos[a], mesh.pos[b]));
            const bool near = fabs(mesh.pos[a].x - 0.2) < 0.012 || fabs(mesh.pos[b].x - 0.2) < 0.012;
            *(near ? &seam : &elsewhere) = fmax(near ? seam : elsewhere, slope);
        }
    assert_true(elsewhere > 0.1 && seam < 1.05 * elsewhere);
    free(height);
    tl_fine_mesh_free(&mesh);
    tl_wrinkles_destroy(w);
}

// ---- the move, and maps ---------------------------------------------------------------------------------------

// Two folded layers half a millimetre apart: the folds would go through each other, and do not.
static void folds_touch_nothing(void **state)
{
    (void)state;
    static sheet m;
    tl_error err;
    tl_fine_mesh cloth[2];
    tl_wrinkles *w[2];
    for (int i = 0; i < 2; i++) {
        make_sheet(&m, 0.9, 1.2 * i);
        for (int k = 0; k < NODES; k++) m.pos[k].z = 0.0005 * i;
        cloth[i] = mesh_of(&m);
        w[i] = wrinkles_of(plain_def(noisy));
        ok(tl_wrinkles_frame(w[i], &cloth[i], "layer", NULL, &err), &err);
        ok(tl_wrinkles_tessellate(w[i], 1e-3, 2, &cloth[i], &err), &err);
    }
    tl_arena arena;
    tl_arena_init(&arena, tl_allocator_default());
    const tl_finish f = {.alloc = tl_allocator_default(), .arena = &arena, .gap = 1e-4};
    tl_clear_report report;
    ok(tl_wrinkles_displace(&f, w, cloth, 2, &report, &err), &err);
    assert_true(report.corrected > 50 && report.longest > 2e-3);
    int crossings = 0;
    double highest = 0;
    for (int32_t a = 0; a < cloth[0].face_count; a++)
        for (int32_t b = 0; b < cloth[1].face_count; b++)
            for (int k = 0; k < 3; k++) {
                const int32_t *p = cloth[0].node[a], *q = cloth[1].node[b], n = (k + 1) % 3;
                const tl_vec3 *x = cloth[0].pos, *y = cloth[1].pos;
                crossings += tl_segment_meets_triangle(&x[p[k]], &x[p[n]], &y[q[0]], &y[q[1]], &y[q[2]]);
                crossings += tl_segment_meets_triangle(&y[q[k]], &y[q[n]], &x[p[0]], &x[p[1]], &x[p[2]]);
            }
    for (int32_t i = 0; i < cloth[0].node_count; i++) highest = fmax(highest, -cloth[0].pos[i].z);
    assert_int_equal(crossings, 0);
    assert_true(highest > 1e-3);  // away from the other layer they are as high as they want
    for (int i = 0; i < 2; i++) tl_wrinkles_destroy(w[i]), tl_fine_mesh_free(&cloth[i]);
    tl_arena_free(&arena);
}

static void maps_hold_the_heights(void **state)
{
    (void)state;
    static sheet m;
    make_sheet(&m, 0.85, 0.7);
    tl_wrinkles *w = wrinkles_of(plain_def(noisy));
    look(w, &m);
    tl_wrinkle_maps maps;
    tl_error err;
    ok(tl_wrinkles_maps(w, 64, &maps, &err), &err);
    assert_int_equal(maps.overlaps, 0);
    int32_t some = 0;
    for (int y = 0; y < 64; y++)
        for (int x = 0; x < 64; x++) {
            const tl_vec2 at = {maps.lowest.x + (x + 0.5) * maps.step.x, maps.lowest.y + (63 - y + 0.5) * maps.step.y};
            const int i = (int)(at.x / 0.05), j = (int)(at.y / 0.05);
            const int32_t f = 2 * (j * SIDE + i) + (at.x - 0.05 * i < at.y - 0.05 * j);
            const double h = (maps.height[64 * y + x] - 32768) / 32767.0 * maps.range;
            assert_near(h, tl_wrinkles_height(w, f, at), maps.range / 32767);
            const uint16_t *n = &maps.normal[3 * (64 * y + x)];
            const tl_vec2 slope = tl_wrinkles_slope(w, f, at);
            const double normal[3] = {(n[0] - 32768) / 32767.0, (n[1] - 32768) / 32767.0, (n[2] - 32768) / 32767.0};
            assert_near(-normal[0] / normal[2], slope.x, 1e-3), assert_near(-normal[1] / normal[2], slope.y, 1e-3);
            some += fabs(h) > 1e-3;
        }
    assert_true(some > 500);
    tl_wrinkle_maps_free(w, &maps);
    assert_int_equal(tl_wrinkles_maps(w, 2, &maps, &err), TL_BAD_ARG);
    tl_wrinkles_destroy(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(textures_are_waves_at_their_angles),
                                       cmocka_unit_test(stretch_is_the_symmetric_factor),
                                       cmocka_unit_test(published_modulation_keeps_the_area),
                                       cmocka_unit_test(fold_height_keeps_the_length),
                                       cmocka_unit_test(at_most_two_are_chosen),
                                       cmocka_unit_test(folds_lie_across_the_compression),
                                       cmocka_unit_test(flat_at_rest_and_under_tension),
                                       cmocka_unit_test(heights_are_continuous_over_edges),
                                       cmocka_unit_test(heights_do_not_pop),
                                       cmocka_unit_test(wrong_coordinates_are_told),
                                       cmocka_unit_test(tessellation_is_whole_and_near),
                                       cmocka_unit_test(seams_stay_closed),
                                       cmocka_unit_test(folds_touch_nothing),
                                       cmocka_unit_test(maps_hold_the_heights)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
