// tests/unit/test_pattern.c: curves and the pattern in memory.
#include <math.h>
#include <string.h>

#include "check.h"
#include "toile/pattern.h"

static const double PI = 3.14159265358979323846;

static tl_segment line(double x0, double y0, double x1, double y1)
{
    return (tl_segment){TL_SEGMENT_LINE, {x0, y0}, {x1, y1}, {{0}}, 0};
}

// Length by chords, extrapolated twice; area by the shoelace formula on the chords, likewise.
static double chords(const tl_segment *c, int n, double *area)
{
    double length = 0;
    *area = 0;
    tl_vec2 last = tl_segment_point(c, 0);
    for (int i = 1; i <= n; i++) {
        const tl_vec2 p = tl_segment_point(c, (double)i / n);
        length += hypot(p.x - last.x, p.y - last.y);
        *area += 0.5 * (last.x * p.y - last.y * p.x);
        last = p;
    }
    return length;
}

static void check_curve(const tl_segment *c)
{
    double a0, a1, a2;
    const double l0 = chords(c, 4000, &a0), l1 = chords(c, 8000, &a1), l2 = chords(c, 16000, &a2);
    const double l = (64 * l2 - 20 * l1 + l0) / 45, a = (64 * a2 - 20 * a1 + a0) / 45;  // errors in h^2 and h^4 removed
    assert_near(tl_segment_length(c), l, 1e-11);
    assert_near(tl_segment_area(c), a, 1e-11);
    for (int i = 0; i <= 8; i++) {  // point at a length: its own length by quadrature of the part is what was asked
        const double want = l * i / 8, t = tl_segment_at(c, want);
        if (i == 0 || i == 8) continue;
        double sum = 0;
        const int n = 4000;  // midpoint rule on the speed
        for (int k = 0; k < n; k++) {
            const tl_vec2 d = tl_segment_tangent(c, t * (k + 0.5) / n);
            sum += hypot(d.x, d.y) * t / n;
        }
        assert_near(sum, want, 1e-6);
    }
    const double h = 1e-5;
    for (double t = 0.1; t < 1; t += 0.2) {
        const tl_vec2 d = tl_segment_tangent(c, t), hi = tl_segment_point(c, t + h), lo = tl_segment_point(c, t - h);
        assert_near(d.x, (hi.x - lo.x) / (2 * h), 1e-8);
        assert_near(d.y, (hi.y - lo.y) / (2 * h), 1e-8);
    }
}

static void curves_agree_with_chords(void **state)
{
    (void)state;
    const tl_segment c[] = {
        {TL_SEGMENT_QUADRATIC, {0.1, 0.2}, {0.5, 0.1}, {{0.3, 0.6}}, 0},
        {TL_SEGMENT_CUBIC, {0.1, 0.2}, {0.5, 0.1}, {{0.3, 0.6}, {-0.2, -0.3}}, 0},
        {TL_SEGMENT_ARC, {0.3, 0.2}, {0.5, -0.1}, {{0}}, 0.4},
        {TL_SEGMENT_ARC, {0.3, 0.2}, {0.5, -0.1}, {{0}}, -1.7},
        {TL_SEGMENT_ARC, {0.3, 0.2}, {0.5, -0.1}, {{0}}, 1e-4},
        line(0.3, -0.1, 0.7, 0.9),
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) check_curve(&c[i]);
}

static void arcs_from_radius_and_flags(void **state)
{
    (void)state;
    // Quarter circle of radius 1 about the origin, from (1, 0) to (0, 1): turns left.
    tl_segment c = tl_segment_arc((tl_vec2){1, 0}, (tl_vec2){0, 1}, 1, 0, 1);
    assert_near(tl_segment_length(&c), PI / 2, 1e-15);
    assert_near(tl_segment_area(&c), PI / 4, 1e-15);
    tl_vec2 m = tl_segment_point(&c, 0.5);
    assert_near(m.x, sqrt(0.5), 1e-15);
    assert_near(m.y, sqrt(0.5), 1e-15);
    // The other three quarters turn right.
    c = tl_segment_arc((tl_vec2){1, 0}, (tl_vec2){0, 1}, 1, 1, 0);
    assert_near(tl_segment_length(&c), 3 * PI / 2, 1e-14);
    m = tl_segment_point(&c, 0.5);
    assert_near(m.x, -sqrt(0.5), 1e-14);
    // Large and left goes about (1, 1).
    c = tl_segment_arc((tl_vec2){1, 0}, (tl_vec2){0, 1}, 1, 1, 1);
    m = tl_segment_point(&c, 0.5);
    assert_near(m.x, 1 + sqrt(0.5), 1e-14);
    // Too small a radius: a half circle.
    c = tl_segment_arc((tl_vec2){0, 0}, (tl_vec2){2, 0}, 0.1, 0, 1);
    assert_near(tl_segment_length(&c), PI, 1e-14);
    assert_near(tl_segment_point(&c, 0.5).y, -1, 1e-14);
}

static void cusp_has_its_length(void **state)
{
    (void)state;
    // There and back on one line: a parabola folded flat. x = 2 t (1 - t), turns at 1/2: length 2 * 0.5.
    const tl_segment c = {TL_SEGMENT_QUADRATIC, {0, 0}, {0, 0}, {{1, 0}}, 0};
    assert_near(tl_segment_length(&c), 1, 1e-12);
    assert_near(tl_segment_point(&c, tl_segment_at(&c, 0.25)).x, 0.25, 1e-9);
}

static tl_pattern *square(void)
{
    tl_pattern *p;
    tl_error err;
    int32_t panel;
    assert_ok(tl_pattern_create(NULL, &p, &err));
    assert_ok(tl_pattern_add_panel(p, "front", "body", &panel, &err));
    const tl_segment side[4] = {line(0, 0, 0.5, 0), line(0.5, 0, 0.5, 0.4), line(0.5, 0.4, 0, 0.4), line(0, 0.4, 0, 0)};
    for (int i = 0; i < 4; i++)
        assert_ok(tl_pattern_add_edge(p, panel, &side[i], 1, i == 0 ? "hem" : NULL, NULL, &err));
    return p;
}

static void panels_know_their_sizes(void **state)
{
    (void)state;
    tl_pattern *p = square();
    const tl_panel *v = tl_pattern_panel(p, 0);
    assert_near(v->area, 0.2, 1e-15);
    assert_near(v->perimeter, 1.8, 1e-15);
    assert_string_equal(v->edges[0].label, "hem");
    tl_vec2 at[6];
    tl_edge_points(v, 1, 5, at);
    for (int i = 0; i <= 5; i++) assert_near(at[i].y, 0.08 * i, 1e-15);
    tl_pattern_destroy(p);
}

static void seams_run_their_way(void **state)
{
    (void)state;
    tl_pattern *p = square();
    const tl_seam_side two = {0, 3, 2, 1, 0.25};  // edges 3 and 0, backwards from the end of edge 0
    assert_near(tl_seam_side_length(p, &two), 0.75 * 0.9, 1e-15);
    assert_near(tl_seam_side_point(p, &two, 0).x, 0.5, 0);
    assert_near(tl_seam_side_point(p, &two, 1).y, 0.4 - 0.225, 1e-15);
    tl_seam s = {"side", {{0, 1, 1, 0, 1}, {0, 4, 1, 1, 0}}, 0};
    tl_error err;
    assert_int_equal(tl_pattern_add_seam(p, &s, NULL, &err), TL_BAD_INPUT);
    assert_non_null(strstr(err.message, "edge 4 of panel 'front', which has 4 edges"));
    s.side[1].edge = 3;
    assert_ok(tl_pattern_add_seam(p, &s, NULL, &err));
    tl_pattern_destroy(p);
}

static void broken_edges_are_named(void **state)
{
    (void)state;
    tl_pattern *p = square();
    tl_error err;
    tl_segment c = line(0.1, 0, 1, 1);
    assert_int_equal(tl_pattern_add_edge(p, 0, &c, 1, NULL, NULL, &err), TL_BAD_INPUT);
    assert_non_null(strstr(err.message, "panel 'front', edge 4: starts at (0.1, 0) m, but edge 3 ends at (0, 0) m"));
    c = line(0, 0, 0, 0);
    assert_int_equal(tl_pattern_add_edge(p, 0, &c, 1, "x", NULL, &err), TL_BAD_INPUT);
    assert_non_null(strstr(err.message, "panel 'front', edge 4 ('x'): has length 0"));
    c = line(0, 0, (double)NAN, 0);
    assert_int_equal(tl_pattern_add_edge(p, 0, &c, 1, NULL, NULL, &err), TL_BAD_INPUT);
    assert_non_null(strstr(err.message, "not finite"));
    assert_int_equal(tl_pattern_panel(p, 0)->edge_count, 4);
    tl_pattern_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(curves_agree_with_chords), cmocka_unit_test(arcs_from_radius_and_flags),
        cmocka_unit_test(cusp_has_its_length),      cmocka_unit_test(panels_know_their_sizes),
        cmocka_unit_test(seams_run_their_way),      cmocka_unit_test(broken_edges_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
