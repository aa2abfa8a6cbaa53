// tests/unit/test_delaunay.c: constrained Delaunay refinement: invariants on random regions, hand-made hard cases.

#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/rng.h"
#include "ledger.h"
#include "math/predicates.h"
#include "panel_data.h"
#include "panel_shapes.h"
#include "pattern/polyline.h"
#include "toile/delaunay.h"
#include "toile/grid.h"

enum { POINTS_MAX = 512 };

typedef struct sketch {  // a region in the making
    tl_vec2 point[POINTS_MAX];
    tl_region_edge edge[POINTS_MAX];
    int32_t points, edges;
} sketch;

static int32_t sketch_loop(sketch *s, const tl_vec2 *p, int32_t count)
{
    const int32_t first = s->points;
    for (int32_t i = 0; i < count; i++) {
        s->point[s->points++] = p[i];
        s->edge[s->edges++] = (tl_region_edge){first + i, first + (i + 1) % count, TL_EDGE_OUTLINE, false};
    }
    return first;
}

static void sketch_line(sketch *s, tl_vec2 a, tl_vec2 b)
{
    s->point[s->points] = a, s->point[s->points + 1] = b;
    s->edge[s->edges++] = (tl_region_edge){s->points, s->points + 1, TL_EDGE_LINE, false};
    s->points += 2;
}

static tl_region region_of(const sketch *s) { return (tl_region){s->point, s->points, s->edge, s->edges, "sketch"}; }

static tl_status fill(const sketch *s, const tl_delaunay_def *def, tl_delaunay_mesh *mesh, tl_error *err)
{
    const tl_allocator alloc = tl_allocator_default();
    const tl_region region = region_of(s);
    return tl_delaunay_fill(&alloc, &region, 1, NULL, 0, def, mesh, err);
}

static double twice_area(const tl_delaunay_mesh *m, int32_t t)
{
    const tl_vec2 *p = m->point;
    const int32_t *v = m->tri[t];
    return tl_cross2(tl_sub2(p[v[1]], p[v[0]]), tl_sub2(p[v[2]], p[v[0]]));
}

// --- invariants ----------------------------------------------------------------------------------------------

typedef struct half_edge {
    int32_t a, b, tri, apex;
} half_edge;

static int by_ends(const void *x, const void *y)
{
    const half_edge *a = x, *b = y;
    const int32_t la = a->a < a->b ? a->a : a->b, ha = a->a + a->b - la;
    const int32_t lb = b->a < b->b ? b->a : b->b, hb = b->a + b->b - lb;
    return la != lb ? (la > lb) - (la < lb) : ha != hb ? (ha > hb) - (ha < hb) : (a->tri > b->tri) - (a->tri < b->tri);
}

static half_edge *edges_of(const tl_delaunay_mesh *m)
{
    half_edge *e = malloc(sizeof *e * 3 * (size_t)m->tri_count);
    for (int32_t t = 0; t < m->tri_count; t++)
        for (int k = 0; k < 3; k++)
            e[3 * t + k] = (half_edge){m->tri[t][k], m->tri[t][(k + 1) % 3], t, m->tri[t][(k + 2) % 3]};
    qsort(e, 3 * (size_t)m->tri_count, sizeof *e, by_ends);
    return e;
}

static bool is_kept(const tl_delaunay_mesh *m, int32_t a, int32_t b)
{
    for (int32_t k = 0; k < m->edge_count; k++)
        if ((m->edge[k].a == a && m->edge[k].b == b) || (m->edge[k].a == b && m->edge[k].b == a)) return true;
    return false;
}

// Every edge belongs to one or two triangles that turn the same way; those that are not kept are Delaunay; those with
// one triangle are kept. Returns V - E + F.
static int32_t check_topology(const tl_delaunay_mesh *m)
{
    half_edge *e = edges_of(m);
    int32_t edges = 0;
    for (int32_t i = 0; i < 3 * m->tri_count; edges++) {
        const bool two = i + 1 < 3 * m->tri_count && e[i].a == e[i + 1].b && e[i].b == e[i + 1].a;
        if (!two) assert_true(is_kept(m, e[i].a, e[i].b));
        if (two && !is_kept(m, e[i].a, e[i].b))
            assert_true(tl_incircle(m->point[e[i].a], m->point[e[i].b], m->point[e[i].apex], m->point[e[i + 1].apex]) <=
                        0);
        const int32_t next = i + (two ? 2 : 1);
        if (next < 3 * m->tri_count) assert_true(by_ends(&e[i], &e[next]) != 0);
        i = next;
    }
    free(e);
    for (int32_t t = 0; t < m->tri_count; t++)
        assert_int_equal(tl_orient2d(m->point[m->tri[t][0]], m->point[m->tri[t][1]], m->point[m->tri[t][2]]), 1);
    return m->point_count - edges + m->tri_count;
}

// Input points are where they were; pieces of every input edge follow each other from end to end and are edges.
static void check_input_is_kept(const sketch *s, const tl_delaunay_mesh *m)
{
    assert_int_equal(m->input_count, s->points);
    for (int32_t i = 0; i < s->points; i++)
        if (m->at[i] >= 0) assert_memory_equal(&m->point[m->at[i]], &s->point[i], sizeof(tl_vec2));
    half_edge *e = edges_of(m);
    int32_t k = 0;
    for (int32_t i = 0; i < s->edges; i++) {
        const tl_region_edge *edge = &s->edge[i];
        const tl_vec2 a = s->point[edge->a], b = s->point[edge->b];
        if (a.x == b.x && a.y == b.y) continue;
        if (k == m->edge_count || m->edge[k].edge != i) {
            assert_int_equal(edge->kind, TL_EDGE_LINE);  // outside: left out as a whole
            continue;
        }
        const bool whole = edge->kind == TL_EDGE_OUTLINE;  // of a line the parts outside are left out
        if (whole) assert_int_equal(m->edge[k].a, m->at[edge->a]);
        if (whole) assert_true(m->edge[k].ta == 0);
        for (; k < m->edge_count && m->edge[k].edge == i; k++) {
            const tl_delaunay_edge *piece = &m->edge[k];
            const half_edge key = {piece->a, piece->b, -1, 0};
            const tl_vec2 on = tl_mix2(a, b, piece->tb);
            assert_true(piece->ta < piece->tb);
            assert_true(tl_distance2(on, m->point[piece->b]) <=
                        1e-12 * (1 + fabs(a.x) + fabs(a.y) + tl_distance2(a, b)));
            size_t low = 0, high = 3 * (size_t)m->tri_count;
            while (low < high) {
                const size_t mid = (low + high) / 2;
                if (by_ends(&e[mid], &key) < 0)
                    low = mid + 1;
                else
                    high = mid;
            }
            assert_true(low < 3 * (size_t)m->tri_count);
            assert_int_equal(e[low].a + e[low].b, key.a + key.b);
            assert_true(e[low].a == key.a || e[low].a == key.b);
            if (k + 1 < m->edge_count && m->edge[k + 1].edge == i) {
                assert_true(m->edge[k + 1].ta >= piece->tb);
                if (m->edge[k + 1].ta == piece->tb) assert_int_equal(m->edge[k + 1].a, piece->b);
                if (whole) assert_true(m->edge[k + 1].ta == piece->tb);
            } else if (whole) {
                assert_true(piece->tb == 1);
                assert_int_equal(piece->b, m->at[edge->b]);
            }
        }
    }
    assert_int_equal(k, m->edge_count);
    free(e);
}

static double check_area(const tl_delaunay_mesh *m)
{
    double sum = 0;
    for (int32_t t = 0; t < m->tri_count; t++) sum += 0.5 * twice_area(m, t);
    assert_near(sum, m->report.area, 1e-12 * sum);
    return sum;
}

static double polygon_area(const tl_vec2 *p, int32_t count)
{
    double twice = 0;
    for (int32_t i = 0; i < count; i++) twice += tl_cross2(p[i], p[(i + 1) % count]);
    return 0.5 * twice;
}

// A star-shaped polygon about (cx, cy) with radii between `least` and 1 times `size`.
static int32_t random_star(uint64_t seed, double cx, double cy, double size, double least, tl_vec2 *out)
{
    const int32_t count = 3 + (int32_t)(tl_random(seed, 0, 0) * 40);
    for (int32_t i = 0; i < count; i++) {
        const double t = 6.283185307179586 * (i + 0.9 * tl_random(seed, 1, (uint64_t)i)) / count;
        const double r = size * (least + (1 - least) * tl_random(seed, 2, (uint64_t)i));
        out[i] = (tl_vec2){cx + r * cos(t), cy + r * sin(t)};
    }
    return count;
}

// --- cases ---------------------------------------------------------------------------------------------------

static void a_square_by_hand(void **state)
{
    (void)state;
    sketch s = {0};
    const tl_vec2 square[4] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    sketch_loop(&s, square, 4);
    tl_delaunay_def def = tl_delaunay_def_default();
    tl_error err = {0};
    tl_delaunay_mesh m;
    assert_ok(fill(&s, &def, &m, &err));
    assert_int_equal(m.tri_count, 2);
    assert_int_equal(m.point_count, 4);
    assert_int_equal(m.edge_count, 4);
    assert_near(m.report.min_angle_deg, 45, 1e-12);
    tl_delaunay_mesh_free(&m);
    def.edge = 0.1;
    assert_ok(fill(&s, &def, &m, &err));
    assert_in_range(m.tri_count, 200, 300);  // 231 equilateral ones would fill it
    assert_near(check_area(&m), 1, 1e-13);
    assert_near(m.report.edge_mean, 0.1, 0.01);
    assert_int_equal(check_topology(&m), 1);
    tl_delaunay_mesh_free(&m);
    tl_delaunay_mesh_free(&m);  // fine on a zero one
}

static void random_regions_keep_every_promise(void **state)
{
    (void)state;
    double worst = 180;
    for (uint64_t seed = 0; seed < (SANITIZED ? 60 : 400); seed++) {
        static sketch s;
        static tl_vec2 p[POINTS_MAX];
        memset(&s, 0, sizeof s);
        const int32_t outer = random_star(seed, 0, 0, 1, 0.5, p);
        sketch_loop(&s, p, outer);
        double area = polygon_area(p, outer);
        const int32_t holes = (int32_t)(3 * tl_random(seed, 3, 0));
        for (int32_t h = 0; h < holes; h++) {  // left and right of the middle, within radius 0.45
            const int32_t n = random_star(seed * 7 + (uint64_t)h, h ? 0.2 : -0.2, 0.05, 0.15, 0.3, p);
            sketch_loop(&s, p, n);
            area -= polygon_area(p, n);
        }
        if (seed % 2) sketch_line(&s, (tl_vec2){-0.3, -0.25}, (tl_vec2){0.3, -0.2 + 0.001 * (double)(seed % 30)});
        tl_delaunay_def def = tl_delaunay_def_default();
        def.edge = seed % 3 ? 0.03 + 0.2 * tl_random(seed, 4, 0) : 0;
        def.smoothing = (int32_t)(seed % 4);
        tl_error err = {0};
        tl_delaunay_mesh m;
        if (fill(&s, &def, &m, &err) != TL_OK) {
            // stars of few points may leave out the middle and so cross a hole or the line
            assert_non_null(strstr(err.message, "crosses"));
            continue;
        }
        if (m.report.area > area + 1e-9) continue;  // a hole lies outside: it is an island
        assert_near(check_area(&m), area, 1e-12);
        assert_int_equal(check_topology(&m), 1 - holes);
        check_input_is_kept(&s, &m);
        assert_true(m.report.min_free_angle_deg >= 25);
        worst = fmin(worst, m.report.min_free_angle_deg);
        tl_delaunay_mesh again;
        assert_ok(fill(&s, &def, &again, &err));
        assert_int_equal(again.tri_count, m.tri_count);
        assert_memory_equal(again.tri, m.tri, sizeof *m.tri * (size_t)m.tri_count);
        assert_memory_equal(again.point, m.point, sizeof *m.point * (size_t)m.point_count);
        tl_delaunay_mesh_free(&m);
        tl_delaunay_mesh_free(&again);
    }
    print_message("worst angle away from sharp corners %.2f degrees\n", worst);
}

// Without lines inside and on a convex outline no triangle's circle holds any point at all.
static void convex_regions_are_delaunay_by_brute_force(void **state)
{
    (void)state;
    sketch s = {0};
    tl_vec2 p[24];
    for (int k = 0; k < 24; k++) p[k] = (tl_vec2){cos(0.2617993877991494 * k), 0.6 * sin(0.2617993877991494 * k)};
    sketch_loop(&s, p, 24);
    tl_delaunay_def def = tl_delaunay_def_default();
    def.edge = 0.08;
    tl_error err = {0};
    tl_delaunay_mesh m;
    assert_ok(fill(&s, &def, &m, &err));
    for (int32_t t = 0; t < m.tri_count; t++)
        for (int32_t v = 0; v < m.point_count; v++)
            assert_true(tl_incircle(m.point[m.tri[t][0]], m.point[m.tri[t][1]], m.point[m.tri[t][2]], m.point[v]) <= 0);
    tl_delaunay_mesh_free(&m);
}

// Segments on a coarse lattice: repeated, overlapping, collinear, touching and crossing ones. No crash, and what is not
// refused holds.
static void random_segments_on_a_lattice(void **state)
{
    (void)state;
    int32_t filled = 0, refused = 0;
    for (uint64_t seed = 0; seed < (SANITIZED ? 3000 : 20000); seed++) {
        static sketch s;
        memset(&s, 0, sizeof s);
        const int32_t n = 3 + (int32_t)(6 * tl_random(seed, 5, 0)), size = 2 + (int32_t)(seed % 5);
        tl_vec2 p[16];
        for (int32_t i = 0; i < n; i++)
            p[i] =
                (tl_vec2){floor(size * tl_random(seed, 6, (uint64_t)i)), floor(size * tl_random(seed, 7, (uint64_t)i))};
        sketch_loop(&s, p, n);
        if (seed % 3 == 0) sketch_line(&s, p[0], (tl_vec2){p[1].x, p[2 % n].y});
        if (seed % 7 == 0) sketch_loop(&s, p, 3);
        if (seed % 11 == 0) s.edges--;
        tl_delaunay_def def = tl_delaunay_def_default();
        def.edge = seed % 2 ? 0.4 : 0;
        def.keep_edges = seed % 5 == 0;
        tl_error err = {0};
        tl_delaunay_mesh m;
        const tl_status status = fill(&s, &def, &m, &err);
        if (status != TL_OK) {
            assert_int_equal(status, TL_BAD_INPUT);
            assert_true(err.message[0] != 0);
            refused++;
            continue;
        }
        check_area(&m);
        check_topology(&m);
        for (int32_t i = 0; i < s.points; i++)
            if (m.at[i] >= 0) assert_memory_equal(&m.point[m.at[i]], &s.point[i], sizeof(tl_vec2));
        tl_delaunay_mesh_free(&m);
        filled++;
    }
    print_message("%d filled, %d refused\n", filled, refused);
    assert_true(filled > 100 && refused > 100);
}

static void expect_refusal(const sketch *s, const char *words)
{
    const tl_delaunay_def def = tl_delaunay_def_default();
    tl_error err = {0};
    tl_delaunay_mesh m;
    assert_int_equal(fill(s, &def, &m, &err), TL_BAD_INPUT);
    assert_null(m.point);
    if (!strstr(err.message, words)) fail_msg("'%s' does not say '%s'", err.message, words);
}

static void wrong_regions_are_refused_with_the_place(void **state)
{
    (void)state;
    const tl_vec2 bow[4] = {{0, 0}, {1, 1}, {1, 0}, {0, 1}};
    sketch s = {0};
    sketch_loop(&s, bow, 4);
    expect_refusal(&s, "sketch: edge 2 crosses edge 0 at (0.5, 0.5)");
    const tl_vec2 square[4] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    s = (sketch){0};
    sketch_loop(&s, square, 4);
    s.edges = 3;
    expect_refusal(&s, "open at point 0 (0, 0)");
    s = (sketch){0};
    sketch_loop(&s, square, 4);
    sketch_loop(&s, (const tl_vec2[3]){{0.5, 0.5}, {1.5, 0.5}, {0.5, 0.7}}, 3);
    expect_refusal(&s, "edge 4 crosses edge 1 at (1, 0.5)");
    s = (sketch){0};
    sketch_loop(&s, (const tl_vec2[4]){{0, 0}, {1, 0}, {2, 0}, {3, 0}}, 4);
    expect_refusal(&s, "enclose no area");
    s = (sketch){0};
    sketch_loop(&s, (const tl_vec2[3]){{0, 0}, {1, 0}, {NAN, 1}}, 3);
    expect_refusal(&s, "point 2 is (nan, 1)");
    s = (sketch){0};
    sketch_loop(&s, square, 4);
    s.edge[1].b = 9;
    expect_refusal(&s, "edge 1 joins points 1 and 9");
}

static void touching_and_repeated_input_is_fine(void **state)
{
    (void)state;
    // points twice in a row, a point in the middle of a side, a hole that touches the outline in one point, a line that
    // starts in the middle of a side
    const tl_vec2 outer[7] = {{0, 0}, {2, 0}, {2, 0}, {4, 0}, {4, 4}, {2, 4}, {0, 4}};
    const tl_vec2 hole[3] = {{2, 0}, {3, 1}, {1, 1}};
    sketch s = {0};
    sketch_loop(&s, outer, 7);
    sketch_loop(&s, hole, 3);
    sketch_line(&s, (tl_vec2){2, 4}, (tl_vec2){2, 3});
    sketch_line(&s, (tl_vec2){0, 2}, (tl_vec2){1, 2});  // (0, 2) is no point of the outline but lies on it
    tl_delaunay_def def = tl_delaunay_def_default();
    def.edge = 0.5;
    tl_error err = {0};
    tl_delaunay_mesh m;
    assert_ok(fill(&s, &def, &m, &err));
    assert_near(check_area(&m), 15, 1e-12);
    check_topology(&m);
    check_input_is_kept(&s, &m);
    assert_int_equal(m.at[1], m.at[2]);
    assert_true(m.report.min_free_angle_deg >= 25);
    tl_delaunay_mesh_free(&m);
    // an island in a hole is filled again
    s = (sketch){0};
    for (int k = 0; k < 3; k++) {
        const double r = 3 - k;
        sketch_loop(&s, (const tl_vec2[4]){{-r, -r}, {r, -r}, {r, r}, {-r, r}}, 4);
    }
    assert_ok(fill(&s, &def, &m, &err));
    assert_near(check_area(&m), 36 - 16 + 4, 1e-12);
    tl_delaunay_mesh_free(&m);
}

static int32_t pieces_on(const tl_delaunay_mesh *m, int32_t edge)
{
    int32_t count = 0;
    for (int32_t k = 0; k < m->edge_count; k++) count += m->edge[k].edge == edge;
    return count;
}

static void lines_may_cross_and_leave(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    sketch s = {0};
    sketch_loop(&s, (const tl_vec2[4]){{0, 0}, {3, 0}, {3, 1}, {0, 1}}, 4);
    sketch_line(&s, (tl_vec2){0.5, 0.3}, (tl_vec2){2.5, 0.7});  // 4 and 5 cross at (1.5, 0.5)
    sketch_line(&s, (tl_vec2){0.5, 0.7}, (tl_vec2){2.5, 0.3});
    sketch_line(&s, (tl_vec2){2.9, 0.5}, (tl_vec2){3.5, 0.5});        // 6 leaves the outline at (3, 0.5)
    sketch_line(&s, (tl_vec2){0.1, 0.9}, (tl_vec2){0.1, 1 + 1e-13});  // 7 ends on it but for rounding
    sketch_line(&s, (tl_vec2){5, 5}, (tl_vec2){6, 5});                // 8 lies outside
    tl_delaunay_def def = tl_delaunay_def_default();
    tl_error err = {0};
    tl_delaunay_mesh m;
    assert_ok(fill(&s, &def, &m, &err));
    assert_near(check_area(&m), 3, 1e-12);
    check_topology(&m);
    check_input_is_kept(&s, &m);
    assert_true(m.report.min_free_angle_deg >= 25);
    bool crossed = false, left = false;
    for (int32_t i = 0; i < m.point_count; i++) {
        crossed |= tl_distance2(m.point[i], (tl_vec2){1.5, 0.5}) < 1e-15;
        left |= tl_distance2(m.point[i], (tl_vec2){3, 0.5}) < 1e-15;
    }
    assert_true(crossed && left);
    assert_true(pieces_on(&m, 4) >= 2 && pieces_on(&m, 6) >= 1 && pieces_on(&m, 7) >= 1);
    assert_int_equal(pieces_on(&m, 8), 0);
    assert_int_equal(m.at[s.points - 1], -1);
    tl_delaunay_mesh_free(&m);
    // a line that ends on one side of a seam cuts the other side at the same place
    sketch a = {0}, b = {0};
    sketch_loop(&a, (const tl_vec2[4]){{0, 0}, {2, 0}, {2, 1}, {0, 1}}, 4);
    sketch_line(&a, (tl_vec2){0.7, 0}, (tl_vec2){0.7, 0.5});
    sketch_loop(&b, (const tl_vec2[4]){{0, 0}, {1, 0}, {1, 4}, {0, 4}}, 4);
    const tl_region regions[2] = {region_of(&a), region_of(&b)};
    const tl_region_link link = {0, 0, 1, 1, true};
    tl_delaunay_mesh two[2];
    for (int kept = 0; kept < 2; kept++) {
        def.edge = 0.9, def.keep_edges = kept;
        assert_ok(tl_delaunay_fill(&alloc, regions, 2, &link, 1, &def, two, &err));
        assert_int_equal(pieces_on(&two[0], 0), pieces_on(&two[1], 1));
        bool cut = false;
        for (int32_t i = 0; i < two[1].point_count; i++)
            cut |= tl_distance2(two[1].point[i], (tl_vec2){1, 2.6}) < 1e-14;
        assert_true(cut);
        if (kept) assert_int_equal(pieces_on(&two[0], 0), 2);
        tl_delaunay_mesh_free(&two[0]);
        tl_delaunay_mesh_free(&two[1]);
    }
}

static void sharp_corners_end(void **state)
{
    (void)state;
    for (int spikes = 3; spikes <= 40; spikes += 37) {  // angles down to 2 degrees
        sketch s = {0};
        tl_vec2 p[80];
        for (int k = 0; k < 2 * spikes; k++) {
            const double t = 3.14159265358979323846 * k / spikes, r = k % 2 ? 0.3 : 1;
            p[k] = (tl_vec2){r * cos(t), r * sin(t)};
        }
        sketch_loop(&s, p, 2 * spikes);
        tl_delaunay_def def = tl_delaunay_def_default();
        def.edge = 0.05;
        tl_error err = {0};
        tl_delaunay_mesh m;
        assert_ok(fill(&s, &def, &m, &err));
        assert_near(check_area(&m), polygon_area(p, 2 * spikes), 1e-12);
        assert_true(m.report.min_free_angle_deg >= 25);
        assert_true(m.point_count < 30000);
        tl_delaunay_mesh_free(&m);
    }
    // lines that meet in one point at 3 degrees
    sketch s = {0};
    sketch_loop(&s, (const tl_vec2[4]){{-1, -1}, {1, -1}, {1, 1}, {-1, 1}}, 4);
    for (int k = 0; k < 5; k++)
        sketch_line(&s, (tl_vec2){-0.7, -0.2}, (tl_vec2){-0.7 + 1.3 * cos(0.052 * k), -0.2 + 1.3 * sin(0.052 * k)});
    tl_delaunay_def def = tl_delaunay_def_default();
    tl_error err = {0};
    tl_delaunay_mesh m;
    assert_ok(fill(&s, &def, &m, &err));
    check_topology(&m);
    check_input_is_kept(&s, &m);
    assert_true(m.report.min_free_angle_deg >= 25);
    tl_delaunay_mesh_free(&m);
}

// Two arcs that meet at `degrees` at both ends, n chords each.
static void sketch_crescent(sketch *s, int32_t n, double degrees)
{
    tl_vec2 p[POINTS_MAX];
    const double pi = 3.14159265358979323846, upper = tan(atan(0.1 * pi) - degrees * pi / 180) / pi;
    for (int32_t i = 0; i < n; i++) {
        const double t = (double)i / n;
        p[i] = (tl_vec2){t, -0.1 * sin(pi * t)};
        p[n + i] = (tl_vec2){1 - t, -upper * sin(pi * (1 - t))};
    }
    sketch_loop(s, p, 2 * n);
}

// Sharp ends of curves cut into many chords; then the lower curve of one is a seam with the upper of another.
static void crescents_end(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    for (int32_t n = 4; n <= 64; n *= 4)
        for (int k = 0; k < 4; k++) {
            const double degrees[4] = {30, 10, 3, 0.5};
            sketch s = {0};
            sketch_crescent(&s, n, degrees[k]);
            const tl_region two[2] = {region_of(&s), region_of(&s)};
            tl_region_link links[64];
            for (int32_t i = 0; i < n; i++) links[i] = (tl_region_link){0, i, 1, 2 * n - 1 - i, true};
            tl_delaunay_def def = tl_delaunay_def_default();
            def.edge = 0.02;
            tl_error err = {0};
            tl_delaunay_mesh m[2];
            assert_ok(tl_delaunay_fill(&alloc, two, 2, links, n, &def, m, &err));
            for (int side = 0; side < 2; side++) {
                assert_true(m[side].report.min_free_angle_deg >= 25);
                assert_in_range(m[side].tri_count, 100, 5000);
                check_topology(&m[side]);
                check_input_is_kept(&s, &m[side]);
            }
            for (int32_t i = 0; i < n; i++) assert_int_equal(pieces_on(&m[0], i), pieces_on(&m[1], 2 * n - 1 - i));
            tl_delaunay_mesh_free(&m[0]);
            tl_delaunay_mesh_free(&m[1]);
        }
}

// The two sides of a seam, one a third longer: as many pieces, at the same fractions, whatever each side needs.
static void linked_edges_are_cut_alike(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    sketch a = {0}, b = {0};
    // b is narrow at the far end of its seam, so that refinement has to cut there
    sketch_loop(&a, (const tl_vec2[4]){{0, 0}, {3, 0}, {3, 3}, {0, 3}}, 4);
    sketch_loop(&b, (const tl_vec2[4]){{0, 0}, {4, 0}, {4, 0.05}, {0, 1}}, 4);
    const tl_region regions[2] = {region_of(&a), region_of(&b)};
    const tl_region_link links[1] = {{0, 1, 1, 0, true}};
    tl_delaunay_def def = tl_delaunay_def_default();
    def.edge = 0.3;
    tl_error err = {0};
    tl_delaunay_mesh m[2];
    assert_ok(tl_delaunay_fill(&alloc, regions, 2, links, 1, &def, m, &err));
    double t[2][512];
    int32_t count[2] = {0, 0};
    for (int side = 0; side < 2; side++) {
        for (int32_t k = 0; k < m[side].edge_count; k++)
            if (m[side].edge[k].edge == (side ? 0 : 1)) t[side][count[side]++] = m[side].edge[k].ta;
        check_area(&m[side]);
        check_topology(&m[side]);
        assert_true(m[side].report.min_free_angle_deg >= 25);
    }
    assert_int_equal(count[0], count[1]);
    print_message("%d pieces, narrow side from %.1f degrees, %d poor\n", count[0], m[1].report.min_free_angle_deg,
                  m[1].report.left_poor);
    assert_true(count[0] > 14);  // more than the wanted length asks for
    for (int32_t k = 1; k < count[0]; k++) assert_near(t[0][k], 1 - t[1][count[0] - k], 1e-12);
    tl_delaunay_mesh_free(&m[0]);
    tl_delaunay_mesh_free(&m[1]);
    // within one region, too: the legs of a dart
    sketch dart = {0};
    sketch_loop(&dart, (const tl_vec2[7]){{0, 0}, {4, 0}, {4, 3}, {2.4, 3}, {2, 1}, {1.6, 3}, {0, 3}}, 7);
    const tl_region one = region_of(&dart);
    const tl_region_link legs = {0, 3, 0, 4, true};
    assert_ok(tl_delaunay_fill(&alloc, &one, 1, &legs, 1, &def, m, &err));
    int32_t pieces[2] = {0, 0};
    for (int32_t k = 0; k < m[0].edge_count; k++)
        if (m[0].edge[k].edge == 3 || m[0].edge[k].edge == 4) pieces[m[0].edge[k].edge - 3]++;
    assert_int_equal(pieces[0], pieces[1]);
    tl_delaunay_mesh_free(&m[0]);
    const tl_region_link wrong = {0, 3, 1, 4, true};
    assert_int_equal(tl_delaunay_fill(&alloc, &one, 1, &wrong, 1, &def, m, &err), TL_BAD_INPUT);
}

static void given_boundary_points_stay(void **state)
{
    (void)state;
    // an outline with points every 3 cm, as a seam would have them
    const panel p = panel_skirt_quarter();
    sketch s = {0};
    for (int k = 0; k < 4; k++) {
        const int32_t from = p.corner[k], to = p.corner[(k + 1) % 4], n = (to - from + p.count) % p.count;
        tl_vec2 side[PANEL_MAX], even[PANEL_MAX];
        for (int32_t i = 0; i <= n; i++) side[i] = p.point[(from + i) % p.count];
        const int32_t parts = (int32_t)ceil(tl_polyline_length(side, n + 1) / 0.03);
        tl_error err;
        assert_ok(tl_polyline_split(side, n + 1, parts, even, &err));
        memcpy(s.point + s.points, even, (size_t)parts * sizeof *even);
        s.points += parts;
    }
    for (int32_t i = 0; i < s.points; i++)
        s.edge[s.edges++] = (tl_region_edge){i, (i + 1) % s.points, TL_EDGE_OUTLINE, false};
    tl_delaunay_def def = tl_delaunay_def_default();
    def.edge = 0.03, def.keep_edges = true;
    tl_error err = {0};
    tl_delaunay_mesh m;
    assert_ok(fill(&s, &def, &m, &err));
    assert_int_equal(m.report.cuts, 0);
    assert_int_equal(m.edge_count, s.edges);
    for (int32_t i = 0; i < s.points; i++) assert_int_equal(m.at[i], i);
    check_topology(&m);
    check_input_is_kept(&s, &m);
    assert_true(m.report.min_free_angle_deg >= 25);
    tl_delaunay_mesh_free(&m);
    // one edge fixed by itself
    s.edge[3].fixed = true;
    def.keep_edges = false, def.edge = 0.01;
    assert_ok(fill(&s, &def, &m, &err));
    int32_t pieces[2] = {0, 0};
    for (int32_t k = 0; k < m.edge_count; k++)
        if (m.edge[k].edge == 3 || m.edge[k].edge == 4) pieces[m.edge[k].edge - 3]++;
    assert_int_equal(pieces[0], 1);
    assert_true(pieces[1] >= 2);
    tl_delaunay_mesh_free(&m);
}

static double fine_in_the_middle(void *user, tl_vec2 at)
{
    return *(double *)user * (0.1 + hypot(at.x - 0.5, at.y - 0.5));
}

static void size_field_is_followed(void **state)
{
    (void)state;
    sketch s = {0};
    sketch_loop(&s, (const tl_vec2[4]){{0, 0}, {1, 0}, {1, 1}, {0, 1}}, 4);
    double scale = 0.15;
    tl_delaunay_def def = tl_delaunay_def_default();
    def.size = fine_in_the_middle, def.user = &scale;
    tl_error err = {0};
    tl_delaunay_mesh m;
    assert_ok(fill(&s, &def, &m, &err));
    double worst = 0, sum = 0;
    for (int32_t t = 0; t < m.tri_count; t++)
        for (int k = 0; k < 3; k++) {
            const tl_vec2 a = m.point[m.tri[t][k]], b = m.point[m.tri[t][(k + 1) % 3]];
            const double ratio = tl_distance2(a, b) / fine_in_the_middle(&scale, tl_mix2(a, b, 0.5));
            worst = fmax(worst, ratio), sum += ratio / (3 * m.tri_count);
        }
    assert_true(worst < 1.8);
    assert_true(sum > 0.75 && sum < 1.1);
    assert_true(m.report.min_free_angle_deg >= 25);
    check_topology(&m);
    tl_delaunay_mesh_free(&m);
}

static void real_panels_are_well_shaped(void **state)
{
    (void)state;
    const struct {
        const char *name;
        const tl_vec2 *point;
        size_t count;
    } panels[] = {{"sleeve", panel_sleeve, sizeof panel_sleeve / sizeof(tl_vec2)},
                  {"trouser leg", panel_trouser_leg, sizeof panel_trouser_leg / sizeof(tl_vec2)},
                  {"trouser back", panel_trouser_back_with_dart, sizeof panel_trouser_back_with_dart / sizeof(tl_vec2)},
                  {"hood", panel_hood, sizeof panel_hood / sizeof(tl_vec2)}};
    for (size_t k = 0; k < sizeof panels / sizeof *panels; k++) {
        sketch s = {0};
        sketch_loop(&s, panels[k].point, (int32_t)panels[k].count);
        tl_delaunay_def def = tl_delaunay_def_default();
        def.edge = 0.02;
        tl_error err = {0};
        tl_delaunay_mesh m;
        assert_ok(fill(&s, &def, &m, &err));
        const double ideal = m.report.area / (0.4330127 * 0.02 * 0.02);  // equilateral triangles of the wanted edge
        print_message("%s: %d triangles (%.2f of the least), angles from %.1f, mean edge %.4f\n", panels[k].name,
                      m.tri_count, m.tri_count / ideal, m.report.min_free_angle_deg, m.report.edge_mean);
        assert_true(m.report.min_free_angle_deg >= 25);
        assert_true(m.tri_count < 2 * ideal);
        check_topology(&m);
        check_input_is_kept(&s, &m);
        tl_delaunay_mesh_free(&m);
    }
}

static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    sketch s = {0};
    sketch_loop(&s, (const tl_vec2[7]){{0, 0}, {4, 0}, {4, 3}, {2.4, 3}, {2, 1}, {1.6, 3}, {0, 3}}, 7);
    const tl_region region = region_of(&s);
    const tl_region_link legs = {0, 3, 0, 4, true};
    tl_delaunay_def def = tl_delaunay_def_default();
    def.edge = 0.6;
    for (int64_t n = 1;; n++) {
        books b = {.fail_at = n};
        const tl_allocator alloc = books_allocator(&b);
        tl_error err;
        tl_delaunay_mesh m;
        const tl_status status = tl_delaunay_fill(&alloc, &region, 1, &legs, 1, &def, &m, &err);
        assert_true(status == TL_NO_MEMORY || (status == TL_OK && b.requests < n));
        tl_delaunay_mesh_free(&m);
        assert_int_equal(b.bytes, 0);
        if (status == TL_OK) break;
    }
}

static double processor_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void a_hundred_thousand_triangles(void **state)
{
    (void)state;
    if (SANITIZED) return;
    const panel p = panel_skirt_quarter();
    sketch s = {0};
    sketch_loop(&s, p.point, p.count);
    tl_delaunay_def def = tl_delaunay_def_default();
    def.edge = 0.0028;
    tl_error err = {0};
    tl_delaunay_mesh m;
    const double begin = processor_time();
    assert_ok(fill(&s, &def, &m, &err));
    const double seconds = processor_time() - begin;
    print_message("%d triangles in %.2f s, angles from %.1f degrees\n", m.tri_count, seconds, m.report.min_angle_deg);
    assert_true(m.tri_count > 100000);
    assert_true(seconds < 1);
    assert_true(m.report.min_angle_deg >= 25);
    assert_near(check_area(&m), polygon_area(p.point, p.count), 1e-12);
    tl_delaunay_mesh_free(&m);
}

// A closed curve of very many points, as a scanner writes it.
static void outlines_of_many_points(void **state)
{
    (void)state;
    const int32_t count = getenv("TL_LONG") ? 1000000 : SANITIZED ? 5000 : 100000;
    tl_vec2 *point = malloc(sizeof *point * (size_t)count);
    tl_region_edge *edge = malloc(sizeof *edge * (size_t)count);
    for (int32_t i = 0; i < count; i++) {
        const double t = 6.283185307179586 * i / count, r = 1 + 0.2 * cos(5 * t);
        point[i] = (tl_vec2){r * cos(t), r * sin(t)};
        edge[i] = (tl_region_edge){i, (i + 1) % count, TL_EDGE_OUTLINE, false};
    }
    const tl_allocator alloc = tl_allocator_default();
    const tl_region region = {point, count, edge, count, "curve"};
    tl_delaunay_def def = tl_delaunay_def_default();
    def.edge = 0.05;
    tl_error err = {0};
    tl_delaunay_mesh m;
    const double begin = processor_time();
    assert_ok(tl_delaunay_fill(&alloc, &region, 1, NULL, 0, &def, &m, &err));
    print_message("%d points of outline: %d triangles in %.2f s, angles from %.1f degrees\n", count, m.tri_count,
                  processor_time() - begin, m.report.min_angle_deg);
    assert_near(m.report.area, polygon_area(point, count), 1e-9);
    assert_true(m.report.min_free_angle_deg >= 25);
    tl_delaunay_mesh_free(&m);
    free(point);
    free(edge);
}

static void definitions_are_checked(void **state)
{
    (void)state;
    sketch s = {0};
    sketch_loop(&s, (const tl_vec2[3]){{0, 0}, {1, 0}, {0, 1}}, 3);
    tl_error err;
    tl_delaunay_mesh m;
    for (int k = 0; k < 4; k++) {
        tl_delaunay_def def = tl_delaunay_def_default();
        if (k == 0) def.edge = -1;
        if (k == 1) def.min_angle_deg = 60;
        if (k == 2) def.smoothing = -1;
        if (k == 3) def.edge = NAN;
        assert_int_equal(fill(&s, &def, &m, &err), TL_BAD_ARG);
    }
    tl_delaunay_def def = tl_delaunay_def_default();
    def.edge = 0.001, def.point_max = 500;  // runs out of points: still a mesh
    assert_ok(fill(&s, &def, &m, &err));
    assert_near(check_area(&m), 0.5, 1e-12);
    tl_delaunay_mesh_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_square_by_hand),
        cmocka_unit_test(random_regions_keep_every_promise),
        cmocka_unit_test(convex_regions_are_delaunay_by_brute_force),
        cmocka_unit_test(random_segments_on_a_lattice),
        cmocka_unit_test(wrong_regions_are_refused_with_the_place),
        cmocka_unit_test(touching_and_repeated_input_is_fine),
        cmocka_unit_test(lines_may_cross_and_leave),
        cmocka_unit_test(sharp_corners_end),
        cmocka_unit_test(crescents_end),
        cmocka_unit_test(linked_edges_are_cut_alike),
        cmocka_unit_test(given_boundary_points_stay),
        cmocka_unit_test(size_field_is_followed),
        cmocka_unit_test(real_panels_are_well_shaped),
        cmocka_unit_test(every_failed_allocation_is_survived),
        cmocka_unit_test(a_hundred_thousand_triangles),
        cmocka_unit_test(outlines_of_many_points),
        cmocka_unit_test(definitions_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
