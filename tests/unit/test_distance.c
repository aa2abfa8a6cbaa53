// tests/unit/test_distance.c: nearest points of a vertex and a face, and of two edges.

#include "check.h"

#include "base/rng.h"
#include "detect/distance.h"

enum { RANDOM_CASES = 20000, SAMPLES = 24 };

// A number in [-1, 1), often a multiple of 1/4 so that parallel, coincident and flat cases come up by
// themselves.
static double coordinate(uint64_t stream, uint64_t i)
{
    const double r = 2 * tl_random(11, stream, i) - 1;
    return stream % 3 == 0 ? floor(4 * r) / 4 : r;
}

static void random_points(uint64_t stream, tl_vec3 x[4])
{
    for (uint64_t k = 0; k < 4; k++)
        x[k] = (tl_vec3){coordinate(stream, 3 * k), coordinate(stream, 3 * k + 1), coordinate(stream, 3 * k + 2)};
    if (stream % 7 == 1) x[3] = tl_madd3(x[2], 1e-9, tl_sub3(x[3], x[1]));                 // a sliver, a short edge
    if (stream % 7 == 2) x[3] = tl_add3(x[2], tl_sub3(x[1], x[0]));                        // parallel edges
    if (stream % 7 == 3) x[3] = tl_madd3(tl_add3(x[2], tl_sub3(x[1], x[0])), 1e-9, x[3]);  // nearly parallel
    if (stream % 11 == 0) x[2] = x[1];
    if (stream % 13 == 0) x[3] = x[0];
}

static tl_vec3 between(const tl_vec3 x[4], const double w[4])
{
    tl_vec3 g = {0};
    for (int k = 0; k < 4; k++) g = tl_madd3(g, w[k], x[k]);
    return g;
}

static void check_weights(const tl_nearest *near, const tl_vec3 x[4], int first)
{
    double sum[2] = {0};
    for (int k = 0; k < 4; k++) {
        assert_true(k < first ? near->weight[k] >= 0 : near->weight[k] <= 0);
        sum[k >= first] += near->weight[k];
    }
    assert_near(sum[0], 1, 4e-16);
    assert_near(sum[1], -1, 4e-16);
    assert_near(tl_norm3(between(x, near->weight)), near->distance, 1e-15);
}

// No point of a dense set is nearer.
static void nothing_is_nearer(const tl_vec3 x[4], int first, double distance)
{
    for (int i = 0; i <= SAMPLES; i++)
        for (int j = 0; j <= SAMPLES; j++) {
            const double s = (double)i / SAMPLES, t = (double)j / SAMPLES;
            const double face[4] = {1, -(1 - s), -s * (1 - t), -s * t}, edges[4] = {1 - s, s, t - 1, -t};
            assert_true(tl_norm3(between(x, first == 1 ? face : edges)) >= distance - 1e-15);
        }
}

// A point is nearest if and only if no corner lies nearer along the connection g: min over corners of g (a -
// b) / |g| is a lower bound of the distance, and here has to reach it.
static void bound_reaches(const tl_vec3 x[4], int first, const tl_nearest *near)
{
    if (near->distance < 1e-4) return;  // g is too short to have a direction worth testing
    const tl_vec3 g = tl_mul3(1 / near->distance, between(x, near->weight));
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (int k = 0; k < first; k++) low = fmin(low, tl_dot3(g, x[k]));
    for (int k = first; k < 4; k++) high = fmax(high, tl_dot3(g, x[k]));
    assert_near(low - high, near->distance, 1e-8);  // slivers of 1e-9: which edge wins is up to rounding
}

static void random_pairs(void **state)
{
    (void)state;
    for (uint64_t stream = 0; stream < RANDOM_CASES; stream++) {
        tl_vec3 x[4];
        random_points(stream, x);
        const tl_nearest vf = tl_nearest_vertex_face(x), ee = tl_nearest_edge_edge(x);
        check_weights(&vf, x, 1);
        check_weights(&ee, x, 2);
        bound_reaches(x, 1, &vf);
        bound_reaches(x, 2, &ee);
        if (stream % 16) continue;
        nothing_is_nearer(x, 1, vf.distance);
        nothing_is_nearer(x, 2, ee.distance);
    }
}

static void vertex_face_by_hand(void **state)
{
    (void)state;
    const tl_vec3 a = {0, 0, 0}, b = {4, 0, 0}, c = {0, 4, 0};
    const struct {
        tl_vec3 v;
        double distance, weight[3];
    } cases[] = {
        {{1, 1, 3}, 3, {0.5, 0.25, 0.25}},  // above the inside
        {{1, 1, 0}, 0, {0.5, 0.25, 0.25}},  // in it
        {{-3, -4, 0}, 5, {1, 0, 0}},        // corners
        {{7, 0, 4}, 5, {0, 1, 0}},         {{0, 6, 0}, 2, {0, 0, 1}},
        {{1, -2, 0}, 2, {0.75, 0.25, 0}},  // edges
        {{-2, 3, 0}, 2, {0.25, 0, 0.75}},  {{4, 4, 0}, 2.8284271247461903, {0, 0.5, 0.5}},
        {{2, 2, 1}, 1, {0, 0.5, 0.5}},  // above an edge
        {{4, 0, 0}, 0, {0, 1, 0}},      // on a corner
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tl_vec3 x[4] = {cases[i].v, a, b, c};
        const tl_nearest near = tl_nearest_vertex_face(x);
        assert_near(near.distance, cases[i].distance, 1e-15);
        for (int k = 0; k < 3; k++) assert_near(-near.weight[1 + k], cases[i].weight[k], 1e-15);
    }
}

static void degenerate_faces(void **state)
{
    (void)state;
    const tl_vec3 needle[4] = {{1, 1, 0}, {0, 0, 0}, {2, 0, 0}, {3, 0, 0}};  // all on a line
    assert_near(tl_nearest_vertex_face(needle).distance, 1, 0);
    const tl_vec3 point[4] = {{1, 2, 2}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    assert_near(tl_nearest_vertex_face(point).distance, 3, 0);
    const tl_vec3 all[4] = {{1, 2, 2}, {1, 2, 2}, {1, 2, 2}, {1, 2, 2}};
    assert_near(tl_nearest_vertex_face(all).distance, 0, 0);
    assert_near(tl_nearest_edge_edge(all).distance, 0, 0);
    const tl_vec3 sliver[4] = {{0.5, 1e-12, 1}, {0, 0, 0}, {1, 0, 0}, {0.5, 1e-11, 0}};
    assert_near(tl_nearest_vertex_face(sliver).distance, 1, 1e-15);
}

static void edge_edge_by_hand(void **state)
{
    (void)state;
    const struct {
        tl_vec3 x[4];
        double distance, s, t;
    } cases[] = {
        {{{-1, 0, 0}, {1, 0, 0}, {0, -1, 2}, {0, 3, 2}}, 2, 0.5, 0.25},  // inside both
        {{{-1, 0, 0}, {1, 0, 0}, {0, 0, 0}, {0, 3, 0}}, 0, 0.5, 0},      // an end on the other
        {{{0, 0, 0}, {1, 0, 0}, {4, 4, 0}, {4, 8, 0}}, 5, 1, 0},         // two ends
        {{{0, 0, 0}, {4, 0, 0}, {1, 1, 0}, {1, 3, 5}}, 1, 0.25, 0},      // inside and end
        {{{0, 0, 0}, {1, 0, 0}, {3, 0, 0}, {9, 0, 0}}, 2, 1, 0},         // on one line
        {{{0, 0, 0}, {0, 0, 0}, {-1, 2, 0}, {1, 2, 0}}, 2, 0, 0.5},      // a point
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tl_nearest near = tl_nearest_edge_edge(cases[i].x);
        assert_near(near.distance, cases[i].distance, 1e-15);
        if (cases[i].s > 0 || i == 3) assert_near(near.weight[1], cases[i].s, 1e-15);
        assert_near(-near.weight[3], cases[i].t, 1e-15);
    }
    const tl_vec3 parallel[4] = {{0, 0, 0}, {4, 0, 0}, {3, 1, 0}, {9, 1, 0}};
    assert_near(tl_nearest_edge_edge(parallel).distance, 1, 0);
    const tl_vec3 crossing[4] = {{-1, -1e-9, 0}, {1, 1e-9, 0}, {-1, 1e-9, 1e-3}, {1, -1e-9, 1e-3}};  // at 2e-9 rad
    assert_near(tl_nearest_edge_edge(crossing).distance, 1e-3, 1e-18);
}

// The order of corners and ends does not matter; sizes from microns to thousands of kilometres do not either.
static void swaps_and_scales(void **state)
{
    (void)state;
    for (uint64_t stream = 0; stream < 2000; stream++) {
        tl_vec3 x[4];
        random_points(stream, x);
        const double vf = tl_nearest_vertex_face(x).distance, ee = tl_nearest_edge_edge(x).distance;
        const tl_vec3 turned[4] = {x[0], x[2], x[3], x[1]}, mirrored[4] = {x[0], x[2], x[1], x[3]};
        assert_near(tl_nearest_vertex_face(turned).distance, vf, 4e-15);
        assert_near(tl_nearest_vertex_face(mirrored).distance, vf, 4e-15);
        const tl_vec3 other[4] = {x[2], x[3], x[0], x[1]}, ends[4] = {x[1], x[0], x[3], x[2]};
        assert_near(tl_nearest_edge_edge(other).distance, ee, 4e-15);
        assert_near(tl_nearest_edge_edge(ends).distance, ee, 4e-15);
        for (int power = -20; power <= 20; power += 10) {
            tl_vec3 y[4];
            for (int k = 0; k < 4; k++) y[k] = tl_mul3(ldexp(1, power), x[k]);
            assert_true(tl_nearest_vertex_face(y).distance == ldexp(vf, power));
            assert_true(tl_nearest_edge_edge(y).distance == ldexp(ee, power));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vertex_face_by_hand), cmocka_unit_test(edge_edge_by_hand), cmocka_unit_test(degenerate_faces),
        cmocka_unit_test(random_pairs),        cmocka_unit_test(swaps_and_scales),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
