// tests/unit/test_ccd.c: continuous collision: worked by hand, against slow oracles, degenerate, at every
// size.

#include "check.h"

#include <stdbool.h>
#include <string.h>

#include "base/rng.h"
#include "detect/distance.h"

enum { RANDOM_CASES = 20000, SAMPLES = 400 };

typedef struct query {
    tl_vec3 x0[4], x1[4];
} query;

static bool ask(bool edges, const query *q, double separation, double *time)
{
    return (edges ? tl_ccd_edge_edge : tl_ccd_vertex_face)(q->x0, q->x1, separation, time) != 0;
}

static void points_at(const query *q, double t, tl_vec3 x[4])
{
    for (int k = 0; k < 4; k++) x[k] = tl_add3(tl_mul3(1 - t, q->x0[k]), tl_mul3(t, q->x1[k]));
}

static tl_nearest nearest_at(bool edges, const query *q, double t)
{
    tl_vec3 x[4];
    points_at(q, t, x);
    return edges ? tl_nearest_edge_edge(x) : tl_nearest_vertex_face(x);
}

static query random_query(uint64_t stream)
{
    query q;
    for (uint64_t k = 0; k < 4; k++) {
        double r[6];
        for (uint64_t i = 0; i < 6; i++) r[i] = 2 * tl_random(7, stream, 6 * k + i) - 1;
        q.x0[k] = (tl_vec3){r[0], r[1], r[2]};
        q.x1[k] = (tl_vec3){r[3], r[4], r[5]};
        if (stream % 3 == 0) q.x1[k] = tl_madd3(q.x0[k], 0.2, q.x1[k]);  // small motions
        if (stream % 5 == 1) {                                           // on a coarse grid: degenerate now and then
            q.x0[k] = (tl_vec3){rint(2 * r[0]), rint(2 * r[1]), rint(2 * r[2])};
            q.x1[k] = (tl_vec3){rint(2 * r[3]), rint(2 * r[4]), rint(2 * r[5])};
        }
    }
    return q;
}

// --- by hand ----------------------------------------------------------------------------------------------

static void vertex_falls_on_face(void **state)
{
    (void)state;
    query q = {{{0.25, 1, 0.25}, {0, 0, 0}, {0, 0, 1}, {1, 0, 0}}, {{0.25, -1, 0.25}, {0, 0, 0}, {0, 0, 1}, {1, 0, 0}}};
    double t;
    assert_true(ask(false, &q, 0, &t));
    assert_true(t <= 0.5);
    assert_near(t, 0.5, 1e-12);
    assert_true(ask(false, &q, 0.5, &t));  // within half a metre at a quarter of the step
    assert_true(t <= 0.25);
    assert_near(t, 0.25, 1e-12);
    assert_true(ask(false, &q, 0, NULL));
    q.x0[0].x = q.x1[0].x = 0.8;  // beside the face: x + z > 1
    assert_false(ask(false, &q, 0, &t));
    assert_true(t == 1);
    assert_true(ask(false, &q, 0.05, &t));  // (0.8, 0.25) is 0.05 / sqrt 2 away from the edge x + z = 1
    assert_false(ask(false, &q, 0.03, &t));
}

static void edges_cross(void **state)
{
    (void)state;
    const query q = {{{-1, 1, 0}, {1, 1, 0}, {0, 0, -1}, {0, 0, 1}}, {{-1, -3, 0}, {1, -3, 0}, {0, 0, -1}, {0, 0, 1}}};
    double t;
    assert_true(ask(true, &q, 0, &t));
    assert_true(t <= 0.25);
    assert_near(t, 0.25, 1e-12);
    const query beside = {{{-1, 1, 2}, {1, 1, 2}, {0, 0, -1}, {0, 0, 1}},
                          {{-1, -3, 2}, {1, -3, 2}, {0, 0, -1}, {0, 0, 1}}};
    assert_false(ask(true, &beside, 0, &t));
    assert_false(ask(true, &beside, 0.999999, &t));
    assert_true(ask(true, &beside, 1.000001, &t));
}

// A face that turns half around under a vertex: the cubic has its root in the middle of the motion of the
// corners.
static void face_turns(void **state)
{
    (void)state;
    const query q = {{{0, 0.5, 0}, {-1, 0, -1}, {-1, 0, 1}, {2, 0, 0}},
                     {{0, 0.5, 0}, {-1, 2, -1}, {-1, 2, 1}, {2, 2, 0}}};
    double t;
    assert_true(ask(false, &q, 0, &t));
    assert_true(t <= 0.25);
    assert_near(t, 0.25, 1e-12);
}

static void touching_at_begin_and_end(void **state)
{
    (void)state;
    double t;
    const query begin = {{{0.25, 0, 0.25}, {0, 0, 0}, {0, 0, 1}, {1, 0, 0}},
                         {{0.25, 1, 0.25}, {0, 0, 0}, {0, 0, 1}, {1, 0, 0}}};
    assert_true(ask(false, &begin, 0, &t));
    assert_true(t == 0);
    query end = begin;
    memcpy(end.x0, begin.x1, sizeof end.x0);
    memcpy(end.x1, begin.x0, sizeof end.x1);
    assert_true(ask(false, &end, 0, &t));
    assert_near(t, 1, 1e-12);
    query rest = begin;
    memcpy(rest.x1, rest.x0, sizeof rest.x1);
    assert_true(ask(false, &rest, 0, &t));
    assert_true(t == 0);
    query still = end;
    memcpy(still.x1, still.x0, sizeof still.x1);
    assert_false(ask(false, &still, 0, &t));
    const query point = {{{1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {1, 2, 3}}, {{1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {1, 2, 3}}};
    assert_true(ask(false, &point, 0, &t) && t == 0);
    assert_true(ask(true, &point, 0, &t) && t == 0);
}

// The cases that cubic solvers with tolerances are known to lose.
static void killers(void **state)
{
    (void)state;
    double t;
    // edges at an angle of 1e-9 that pass through each other
    const query parallel = {{{-1, 1, -1e-9}, {1, 1, 1e-9}, {-1, 0, 1e-9}, {1, 0, -1e-9}},
                            {{-1, -1, -1e-9}, {1, -1, 1e-9}, {-1, 0, 1e-9}, {1, 0, -1e-9}}};
    assert_true(ask(true, &parallel, 0, &t));
    assert_true(t <= 0.5);
    assert_near(t, 0.5, 1e-6);
    // exactly parallel, overlapping in part
    const query along = {{{0, 1, 0}, {2, 1, 0}, {1, 0, 0}, {3, 0, 0}}, {{0, -1, 0}, {2, -1, 0}, {1, 0, 0}, {3, 0, 0}}};
    assert_true(ask(true, &along, 0, &t));
    assert_near(t, 0.5, 1e-12);
    // parallel and sliding side by side at 1e-9
    const query slide = {{{0, 1e-9, 0}, {2, 1e-9, 0}, {1, 0, 0}, {3, 0, 0}},
                         {{5, 1e-9, 0}, {7, 1e-9, 0}, {1, 0, 0}, {3, 0, 0}}};
    assert_false(ask(true, &slide, 0, &t));
    assert_true(ask(true, &slide, 2e-9, &t) && t == 0);
    // a vertex that falls exactly on the edge of a face, on its corner, and 1e-12 beside both
    query graze = {{{0.5, 1, 0.5}, {0, 0, 0}, {0, 0, 1}, {1, 0, 0}}, {{0.5, -1, 0.5}, {0, 0, 0}, {0, 0, 1}, {1, 0, 0}}};
    assert_true(ask(false, &graze, 0, &t));
    assert_near(t, 0.5, 1e-12);
    graze.x0[0].x = graze.x1[0].x = 0.5 + 1e-12;
    assert_false(ask(false, &graze, 0, &t));
    graze.x0[0].x = graze.x1[0].x = 0.5 - 1e-12;
    assert_true(ask(false, &graze, 0, &t));
    graze.x0[0] = (tl_vec3){0, 1, 1}, graze.x1[0] = (tl_vec3){0, -1, 1};
    assert_true(ask(false, &graze, 0, &t));
    graze.x0[0].z = graze.x1[0].z = 1 + 1e-12;
    assert_false(ask(false, &graze, 0, &t));
    // a double root: the vertex only just reaches the plane, as the face comes and goes
    const query kiss = {{{0, 0, 0}, {-1, 1, -1}, {-1, 1, 1}, {2, -1, 0}},
                        {{0, 0, 0}, {-1, -1, -1}, {-1, -1, 1}, {2, 1, 0}}};
    assert_true(ask(false, &kiss, 0, &t));
    // a layer that follows a turning face at a millionth of its size: the gap turns along
    const query follow = {{{0, 1e-6, 0}, {-1, 0, -1}, {-1, 0, 1}, {1, 0, 0}},
                          {{0, 1 + 1e-6, 0}, {-1, 0, -1}, {-1, 0, 1}, {1, 2, 0}}};
    assert_false(ask(false, &follow, 0, &t));
    assert_true(ask(false, &follow, 2e-6, &t) && t == 0);
    // all in one plane, a segment that turns next to another
    const query planar = {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 2, 0}}, {{0, 0, 0}, {1, 1, 0}, {0, 1, 0}, {1, 2, 0}}};
    assert_false(ask(true, &planar, 0, &t));
}

// A vertex moves sideways at the height c over a face that rises about one side, or an edge over an edge that rises at
// one end: the gap is c - b t (1 - t), with a double root at 1/2 if b = 4 c. A little more b and they meet for a
// moment, a little less and they do not. `thin` is the size across.
static query graze_by(bool edges, double c, double more, double thin)
{
    const double b = 4 * c * (1 + more);
    const query face = {{{0, c, 0}, {-1, 0, -thin}, {-1, 0, thin}, {2, 0, 0}},
                        {{-1, c, 0}, {-1, 0, -thin}, {-1, 0, thin}, {2, 3 * b, 0}}};
    const query edge = {{{-thin, c, 0}, {thin, c, 0}, {0, 0, -1}, {0, 0, 1}},
                        {{-thin, c, -1}, {thin, c, -1}, {0, 0, -1}, {0, 2 * b, 1}}};
    return edges ? edge : face;
}

static void double_roots(void **state)
{
    (void)state;
    static const double c[2] = {0.125, 0x1p-10}, thin[2] = {1, 0x1p-12};
    for (int edges = 0; edges < 2; edges++)
        for (int k = 0; k < 4; k++) {
            double t;
            for (double more = 1e-2; more > 1e-13; more *= 0.1) {
                const query hit = graze_by(edges, c[k % 2], more, thin[k / 2]);
                const query miss = graze_by(edges, c[k % 2], -more, thin[k / 2]);
                const double first = 0.5 * (1 - sqrt(more / (1 + more)));
                assert_true(ask(edges, &hit, 0, &t));
                assert_true(t <= first * (1 + 1e-15));
                assert_true(nearest_at(edges, &hit, t).distance < 1e-10);  // the gap is flat there: times say less
                // the least distance is about c more; a miss may only be called a hit if it is lost in rounding
                if (ask(edges, &miss, 0, &t)) assert_true(c[k % 2] * more < 1e-13);
            }
            const query kiss = graze_by(edges, c[k % 2], 0, thin[k / 2]);
            assert_true(ask(edges, &kiss, 0, &t));
            assert_true(t <= 0.5 && nearest_at(edges, &kiss, t).distance < 1e-10);
        }
}

// Edges at the angle 2 a that pass each other: in the middle, or where one ends beside the other at the distance 2 a.
static void nearly_parallel(void **state)
{
    (void)state;
    for (int power = -8; power > -50; power--) {
        const double a = ldexp(1, power);
        double t;
        query q = {{{-1, 1, -a}, {1, 1, a}, {-1, 0, a}, {1, 0, -a}},
                   {{-1, -3, -a}, {1, -3, a}, {-1, 0, a}, {1, 0, -a}}};
        assert_true(ask(true, &q, 0, &t));
        assert_true(t <= 0.25);
        assert_near(t, 0.25, 1e-9);
        for (int k = 2; k < 4; k++) q.x0[k].z += 4 * a, q.x1[k].z += 4 * a;  // the lines cross at x = 2
        if (power > -40) assert_false(ask(true, &q, 0, &t));
        assert_true(ask(true, &q, 3 * a, &t));
        assert_true(t <= 0.25);
        assert_near(t, 0.25, a);
        // drawn apart along themselves until only the ends overlap, by a
        query ends = {{{-1, 1, 0}, {a, 1, 0}, {0, 0, 0}, {1, 0, 0}}, {{-1, -1, 0}, {a, -1, 0}, {0, 0, 0}, {1, 0, 0}}};
        assert_true(ask(true, &ends, 0, &t));
        assert_near(t, 0.5, 1e-12);
        ends.x0[1].x = ends.x1[1].x = -a;
        assert_false(ask(true, &ends, 0, &t));
    }
}

// All in one plane, whatever way it lies: the cubic vanishes altogether. Coordinates are integers, so nothing is
// rounded.
static void in_one_plane(void **state)
{
    (void)state;
    static const double turn[2][3][3] = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                                         {{1, 2, 2}, {2, 1, -2}, {2, -2, 1}}};  // 3 times a rotation
    // a vertex that comes into a side of a face at (12, 4), t = 20/32; and one that passes its corner by 1; edges end
    // to side
    static const query cases[4] = {
        {{{32, 0, 4}, {0, 0, 0}, {0, 0, 16}, {16, 0, 0}}, {{0, 0, 4}, {0, 0, 0}, {0, 0, 16}, {16, 0, 0}}},
        {{{32, 0, 17}, {0, 0, 0}, {0, 0, 16}, {16, 0, 0}}, {{-32, 0, 17}, {0, 0, 0}, {0, 0, 16}, {16, 0, 0}}},
        {{{24, 0, 5}, {40, 0, 7}, {0, 0, 0}, {0, 0, 16}}, {{-8, 0, 5}, {8, 0, 7}, {0, 0, 0}, {0, 0, 16}}},
        {{{24, 0, 17}, {40, 0, 18}, {0, 0, 0}, {0, 0, 16}}, {{-40, 0, 17}, {-24, 0, 18}, {0, 0, 0}, {0, 0, 16}}}};
    static const double when[4] = {20.0 / 32, -1, 24.0 / 32, -1};
    for (int way = 0; way < 2; way++)
        for (int k = 0; k < 4; k++) {
            query q;
            for (int i = 0; i < 8; i++) {
                const tl_vec3 p = i < 4 ? cases[k].x0[i] : cases[k].x1[i - 4];
                const double(*m)[3] = turn[way];
                (i < 4 ? q.x0 : q.x1)[i % 4] = (tl_vec3){m[0][0] * p.x + m[0][2] * p.z, m[1][0] * p.x + m[1][2] * p.z,
                                                         m[2][0] * p.x + m[2][2] * p.z};
            }
            double t;
            assert_int_equal(ask(k >= 2, &q, 0, &t), when[k] > 0);
            if (when[k] > 0) assert_true(t <= when[k]);
            if (when[k] > 0) assert_near(t, when[k], 1e-9);
        }
}

// Everything shrinks to one point and comes out on the other side: a triple root. And a vertex that passes the side of
// a face at a height h: within s of it from x = sqrt(s^2 - h^2) on.
static void triple_roots_and_near_passes(void **state)
{
    (void)state;
    double t;
    const query burst[2] = {
        {{{1, 1, 1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {{-1, -1, -1}, {-1, 0, 0}, {0, -1, 0}, {0, 0, -1}}},
        {{{1, 1, 0}, {-1, 1, 0}, {0, -1, 1}, {0, -1, -1}}, {{-1, -1, 0}, {1, -1, 0}, {0, 1, -1}, {0, 1, 1}}}};
    for (int edges = 0; edges < 2; edges++) {
        assert_true(ask(edges, &burst[edges], 0, &t));
        assert_true(t <= 0.5);
        assert_near(t, 0.5, 1e-4);  // early: directions are lost as everything shrinks
    }
    for (int power = -4; power > -40; power -= 3) {
        const double h = ldexp(1, power), s = 2 * h, when = 0.5 * (1 - sqrt(3) * h);
        const query pass = {{{1, h, 0}, {0, 0, -10}, {0, 0, 10}, {-10, 0, 0}},
                            {{-1, h, 0}, {0, 0, -10}, {0, 0, 10}, {-10, 0, 0}}};
        assert_false(ask(false, &pass, 0.999 * h, &t));
        assert_true(ask(false, &pass, s, &t));
        assert_true(t <= when * (1 + 1e-15));
        assert_near(t, when, 1e-9);
        // a face of the size h, a way a million million times as long
        const query shot = {{{0, 1, 0}, {-h, 0, -h}, {-h, 0, h}, {h, 0, 0}},
                            {{0, -3, 0}, {-h, 0, -h}, {-h, 0, h}, {h, 0, 0}}};
        assert_true(ask(false, &shot, 0, &t));
        assert_true(t <= 0.25);
        assert_near(t, 0.25, 1e-9);
    }
}

static void not_a_number_is_a_contact(void **state)
{
    (void)state;
    query q = {{{5, 1, 5}, {0, 0, 0}, {0, 0, 1}, {1, 0, 0}}, {{5, 2, 5}, {0, 0, 0}, {0, 0, 1}, {1, 0, 0}}};
    double t;
    assert_false(ask(false, &q, 0, &t));
    for (int k = 0; k < 4; k++) {
        query bad = q;
        bad.x1[k].y = (double)NAN;
        assert_true(ask(false, &bad, 0, &t) && t == 0);
        bad.x1[k].y = HUGE_VAL;
        assert_true(ask(true, &bad, 0, &t) && t == 0);
    }
}

// --- oracles ----------------------------------------------------------------------------------------------

static long double triple(const query *q, bool edges, long double t)
{
    const int from = edges ? 0 : 1, to[3] = {edges ? 2 : 0, edges ? 1 : 2, 3};
    long double e[3][3];
    for (int k = 0; k < 3; k++) {
        const int base = edges && k == 2 ? 2 : from;
        const tl_vec3 a0 = q->x0[base], a1 = q->x1[base], b0 = q->x0[to[k]], b1 = q->x1[to[k]];
        e[k][0] = (1 - t) * ((long double)b0.x - a0.x) + t * ((long double)b1.x - a1.x);
        e[k][1] = (1 - t) * ((long double)b0.y - a0.y) + t * ((long double)b1.y - a1.y);
        e[k][2] = (1 - t) * ((long double)b0.z - a0.z) + t * ((long double)b1.z - a1.z);
    }
    return e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) - e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
           e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
}

// First sampled sign change of the cubic at which the features plainly touch; -1: none seen.
static long double oracle_root(bool edges, const query *q)
{
    for (int i = 0; i < SAMPLES; i++) {
        long double low = (long double)i / SAMPLES, high = (long double)(i + 1) / SAMPLES;
        const long double f = triple(q, edges, low);
        if ((f < 0) == (triple(q, edges, high) < 0)) continue;
        for (int k = 0; k < 70; k++) {
            const long double mid = (low + high) / 2;
            if ((triple(q, edges, mid) < 0) == (f < 0))
                low = mid;
            else
                high = mid;
        }
        const tl_nearest near = nearest_at(edges, q, (double)low);
        double margin = 1;
        for (int k = 0; k < 4; k++) margin = fmin(margin, fabs(near.weight[k]));
        if (near.distance < 1e-12 && margin > 1e-6) return high;
    }
    return -1;
}

static void random_against_roots(void **state)
{
    (void)state;
    int hits = 0, contacts = 0;
    for (uint64_t stream = 0; stream < RANDOM_CASES; stream++) {
        const query q = random_query(stream);
        for (int edges = 0; edges < 2; edges++) {
            double t;
            const bool hit = ask(edges, &q, 0, &t);
            const long double root = oracle_root(edges, &q);
            if (root >= 0) {
                contacts++;
                assert_true(hit);
                assert_true(t <= root);
            }
            if (!hit) {
                assert_true(t == 1);
                continue;
            }
            hits++;
            assert_true(t >= 0 && t <= 1);
            assert_true(nearest_at(edges, &q, t).distance < 1e-9);  // not early without a reason
        }
    }
    assert_true(contacts > 2000);
    assert_true(hits - contacts <
                RANDOM_CASES / 10);  // contacts at corners and borders, where the oracle does not judge
}

static void separation_against_sampling(void **state)
{
    (void)state;
    const double separations[] = {1e-6, 1e-3, 0.05, 0.5};
    for (uint64_t stream = 0; stream < RANDOM_CASES / 8; stream++) {
        const query q = random_query(stream);
        const double d = separations[stream % 4];
        for (int edges = 0; edges < 2; edges++) {
            double t;
            const bool hit = ask(edges, &q, d, &t);
            double first = 2;
            for (int i = 0; i <= SAMPLES && first > 1; i++)
                if (nearest_at(edges, &q, (double)i / SAMPLES).distance <= d * (1 - 1e-9)) first = (double)i / SAMPLES;
            if (first <= 1) assert_true(hit && t <= first);
            if (hit) assert_true(nearest_at(edges, &q, t).distance <= d + 1e-8);
        }
    }
}

// --- invariances ------------------------------------------------------------------------------------------

static void swaps(void **state)
{
    (void)state;
    for (uint64_t stream = 0; stream < RANDOM_CASES / 4; stream++) {
        const query q = random_query(stream);
        static const int orders[2][3][4] = {{{0, 2, 3, 1}, {0, 3, 1, 2}, {0, 2, 1, 3}},
                                            {{1, 0, 2, 3}, {0, 1, 3, 2}, {2, 3, 0, 1}}};
        for (int edges = 0; edges < 2; edges++) {
            double t, other_t;
            const bool hit = ask(edges, &q, 0, &t);
            for (int o = 0; o < 3; o++) {
                query other;
                for (int k = 0; k < 4; k++)
                    other.x0[k] = q.x0[orders[edges][o][k]], other.x1[k] = q.x1[orders[edges][o][k]];
                assert_int_equal(ask(edges, &other, 0, &other_t), hit);
                assert_near(other_t, t, 1e-5);
            }
        }
    }
}

static void scales_and_places(void **state)
{
    (void)state;
    const double scales[] = {1e-6, 1e-3, 0.1, 3, 1e3, 1e6, 1e-150, 1e150};
    const int powers[] = {-600, -40, -3, 5, 40, 600};
    for (uint64_t stream = 0; stream < RANDOM_CASES / 8; stream++) {
        const query q = random_query(stream);
        for (int edges = 0; edges < 2; edges++) {
            double t, scaled_t;
            const bool hit = ask(edges, &q, 0, &t);
            for (size_t s = 0; s < sizeof powers / sizeof *powers; s++) {  // exact: the same bits
                query scaled;
                for (int k = 0; k < 4; k++)
                    scaled.x0[k] = tl_mul3(ldexp(1, powers[s]), q.x0[k]),
                    scaled.x1[k] = tl_mul3(ldexp(1, powers[s]), q.x1[k]);
                assert_int_equal(ask(edges, &scaled, 0, &scaled_t), hit);
                assert_true(scaled_t == t);
            }
            if (stream % 5 == 1) continue;  // degenerate: rounding of the data decides
            for (size_t s = 0; s < sizeof scales / sizeof *scales; s++) {
                query scaled;
                for (int k = 0; k < 4; k++)
                    scaled.x0[k] = tl_mul3(scales[s], q.x0[k]), scaled.x1[k] = tl_mul3(scales[s], q.x1[k]);
                assert_int_equal(ask(edges, &scaled, 0, &scaled_t), hit);
                assert_near(scaled_t, t, 1e-6);
            }
            query moved;  // far away, on a grid so that moving rounds nothing
            query grid;
            for (int k = 0; k < 4; k++) {
                const tl_vec3 far = {1 << 20, -(1 << 21), 1 << 19}, a = tl_mul3(0x1p20, q.x0[k]),
                              b = tl_mul3(0x1p20, q.x1[k]);
                grid.x0[k] = tl_mul3(0x1p-20, (tl_vec3){rint(a.x), rint(a.y), rint(a.z)});
                grid.x1[k] = tl_mul3(0x1p-20, (tl_vec3){rint(b.x), rint(b.y), rint(b.z)});
                moved.x0[k] = tl_add3(grid.x0[k], far), moved.x1[k] = tl_add3(grid.x1[k], far);
            }
            assert_int_equal(ask(edges, &moved, 0, &scaled_t), ask(edges, &grid, 0, &t));
            assert_true(scaled_t == t);
        }
    }
    double t;  // differences that overflow
    const query huge = {{{1e308, 1e308, 0}, {-1e308, 0, -1e308}, {-1e308, 0, 1e308}, {1.5e308, 0, 0}},
                        {{1e308, -1e308, 0}, {-1e308, 0, -1e308}, {-1e308, 0, 1e308}, {1.5e308, 0, 0}}};
    assert_true(ask(false, &huge, 0, &t));
    assert_near(t, 0.5, 1e-12);
    assert_true(ask(false, &huge, 1e300, &t));
}

// --- published queries ------------------------------------------------------------------------------------

static void published(const char *name, bool edges, int32_t expected, int32_t alarms_max)
{
    char path[512];
    snprintf(path, sizeof path, TL_TEST_DATA "/ccd/%s/%s/data_0_0.csv", name, edges ? "edge-edge" : "vertex-face");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    long double a[6];
    int truth, row = 0, alarms = 0;
    query q;
    while (fscanf(file, "%Lf,%Lf,%Lf,%Lf,%Lf,%Lf,%d", &a[0], &a[1], &a[2], &a[3], &a[4], &a[5], &truth) == 7) {
        const tl_vec3 x = {(double)(a[0] / a[1]), (double)(a[2] / a[3]), (double)(a[4] / a[5])};
        (row % 8 < 4 ? q.x0 : q.x1)[row % 4] = x;
        if (++row % 8) continue;
        double t;
        const bool hit = ask(edges, &q, 0, &t);
        if (truth && !hit) print_error("%s: query %d missed\n", path, row / 8 - 1);
        assert_true(hit || !truth);
        if (hit) assert_true(nearest_at(edges, &q, t).distance < 1e-9);
        alarms += hit && !truth;
    }
    fclose(file);
    assert_int_equal(row, 8 * expected);
    if (alarms > alarms_max) print_error("%s: %d false alarms\n", path, alarms);
    assert_true(alarms <= alarms_max);
}

static void published_queries(void **state)
{
    (void)state;
    published("unit-tests", true, 54, 0);
    published("unit-tests", false, 125, 0);
    published("erleben-cube-cliff-edges", true, 125, 2);
    published("erleben-cube-cliff-edges", false, 125, 3);
    published("erleben-cube-internal-edges", true, 125, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vertex_falls_on_face),
        cmocka_unit_test(edges_cross),
        cmocka_unit_test(face_turns),
        cmocka_unit_test(touching_at_begin_and_end),
        cmocka_unit_test(killers),
        cmocka_unit_test(double_roots),
        cmocka_unit_test(nearly_parallel),
        cmocka_unit_test(in_one_plane),
        cmocka_unit_test(triple_roots_and_near_passes),
        cmocka_unit_test(not_a_number_is_a_contact),
        cmocka_unit_test(random_against_roots),
        cmocka_unit_test(separation_against_sampling),
        cmocka_unit_test(swaps),
        cmocka_unit_test(scales_and_places),
        cmocka_unit_test(published_queries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
