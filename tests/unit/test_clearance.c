// tests/unit/test_clearance.c: room around faces, and faces near a box, against all pairs.
#include "check.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "detect/clearance.h"
#include "detect/distance.h"
#include "mesh/edges.h"
#include "detect/body_clearance.h"
#include "detect/intersect.h"
#include "detect/nearest.h"
#include "math/predicates.h"
#include "sheets.h"

// --- surfaces ---

typedef struct shape {
    tl_surface s;
    int32_t (*face)[3];
    int32_t (*edge)[2];
    tl_vec3 *x, *x1;
} shape;

static const tl_allocator *heap(void)
{
    static tl_allocator a;
    a = tl_allocator_default();
    return &a;
}

static void free_shape(shape *m)
{
    free(m->face), free(m->x), free(m->x1);
    TL_FREE(heap(), m->edge, m->s.edge_count);
}

static double noise(uint64_t seed, int32_t i, int k) { return 2 * tl_random(seed, (uint64_t)k, (uint64_t)i) - 1; }

enum { FLAT, FOLDED, TANGLED, SOUP };

// A sheet of n by n cells; SOUP: its triangles taken apart and scattered.
static shape make_shape(int n, int kind, double size, tl_vec3 at, uint64_t seed)
{
    sheet g = sheet_grid(1, 1, n, n, true);
    const bool soup = kind == SOUP;
    shape m = {.s = {soup ? 3 * g.face_count : g.node_count, g.face_count, 0, NULL, NULL}};
    m.face = malloc((size_t)g.face_count * sizeof *m.face);
    m.x = calloc((size_t)m.s.node_count, sizeof *m.x), m.x1 = calloc((size_t)m.s.node_count, sizeof *m.x1);
    for (int32_t f = 0; f < g.face_count; f++)
        for (int k = 0; k < 3; k++) m.face[f][k] = soup ? 3 * f + k : g.face[f][k];
    for (int32_t v = 0; v < m.s.node_count; v++) {
        const double u = g.pos[v % g.node_count].x, w = g.pos[v % g.node_count].y;
        tl_vec3 p = {u, w, 0};
        if (kind == FOLDED) p = (tl_vec3){0.15 * sin(12 * u), w, 0.1 * u + 0.02 * cos(12 * u)};
        if (kind == TANGLED) p = (tl_vec3){sin(9 * u + w), cos(7 * w - u), sin(5 * u * w)};
        if (soup)
            p = (tl_vec3){noise(seed, v / 3, 0) + 0.1 * noise(seed, v, 3),
                          noise(seed, v / 3, 1) + 0.1 * noise(seed, v, 4), noise(seed, v, 5)};
        const double jitter = kind == FLAT ? 0 : 0.1 / n;
        m.x[v] = (tl_vec3){at.x + size * (p.x + jitter * noise(seed, v, 6)),
                           at.y + size * (p.y + jitter * noise(seed, v, 7)),
                           at.z + size * (p.z + jitter * noise(seed, v, 8))};
        m.x1[v] =
            (tl_vec3){m.x[v].x + 0.1 * size * noise(seed, v, 9), m.x[v].y, m.x[v].z + 0.1 * size * noise(seed, v, 10)};
    }
    sheet_free(&g);
    tl_error err;
    m.s.face = (const int32_t(*)[3])m.face;
    assert_ok(tl_unique_edges(heap(), m.s.face, m.s.face_count, &m.edge, &m.s.edge_count, NULL, &err));
    for (int32_t e = 0; e < m.s.edge_count; e += 2) {  // either way round
        const int32_t t = m.edge[e][0];
        m.edge[e][0] = m.edge[e][1], m.edge[e][1] = t;
    }
    m.s.edge = (const int32_t(*)[2])m.edge;
    return m;
}

// --- all pairs ---

static bool has_node(const int32_t *v, int n, int32_t node)
{
    for (int k = 0; k < n; k++)
        if (v[k] == node) return true;
    return false;
}

static bool share(const int32_t *a, int na, const int32_t *b, int nb)
{
    for (int k = 0; k < na; k++)
        if (has_node(b, nb, a[k])) return true;
    return false;
}

// Lowers what the faces of `m` that have all of these nodes hold.
static void lower_faces(const shape *m, const int32_t *node, int n, double d, double *face)
{
    for (int32_t f = 0; f < m->s.face_count; f++) {
        bool all = true;
        for (int k = 0; k < n; k++) all = all && has_node(m->face[f], 3, node[k]);
        if (all && d < face[f]) face[f] = d;
    }
}

static double vf(const shape *a, int32_t v, const shape *b, int32_t f)
{
    return tl_nearest_vf(a->x[v], b->x[b->face[f][0]], b->x[b->face[f][1]], b->x[b->face[f][2]]).distance;
}

static double ee(const shape *a, int32_t e, const shape *b, int32_t g)
{
    return tl_nearest_ee(a->x[a->edge[e][0]], a->x[a->edge[e][1]], b->x[b->edge[g][0]], b->x[b->edge[g][1]]).distance;
}

// Faces of a that share no node, each with each, by their features.
static void all_faces(const shape *a, double *face)
{
    for (int32_t f = 0; f < a->s.face_count; f++)
        for (int32_t g = f + 1; g < a->s.face_count; g++) {
            if (share(a->face[f], 3, a->face[g], 3)) continue;
            double d = INFINITY;
            for (int i = 0; i < 3; i++) {
                d = fmin(d, fmin(vf(a, a->face[f][i], a, g), vf(a, a->face[g][i], a, f)));
                for (int j = 0; j < 3; j++)
                    d = fmin(d, tl_nearest_ee(a->x[a->face[f][i]], a->x[a->face[f][(i + 1) % 3]], a->x[a->face[g][j]],
                                              a->x[a->face[g][(j + 1) % 3]])
                                    .distance);
            }
            face[f] = fmin(face[f], d), face[g] = fmin(face[g], d);
        }
}

// All features of a against all of b, into the faces of a.
static void all_pairs(const shape *a, const shape *b, double reach, double *face)
{
    if (a == b) {
        all_faces(a, face);
        return;
    }
    for (int32_t v = 0; v < a->s.node_count; v++)
        for (int32_t f = 0; f < b->s.face_count; f++) {
            const double d = vf(a, v, b, f);
            if (d < reach) lower_faces(a, &v, 1, d, face);
        }
    for (int32_t v = 0; v < b->s.node_count; v++)
        for (int32_t f = 0; f < a->s.face_count; f++) face[f] = fmin(face[f], vf(b, v, a, f));
    for (int32_t e = 0; e < a->s.edge_count; e++)
        for (int32_t g = 0; g < b->s.edge_count; g++) {
            const double d = ee(a, e, b, g);
            if (d < reach) lower_faces(a, a->edge[e], 2, d, face);
        }
}

static tl_bvh *make_tree(const shape *m)
{
    tl_error err;
    tl_bvh_def def = tl_bvh_def_default();
    tl_bvh *tree;
    def.relative = 1, def.leaf_faces = 4;
    assert_ok(tl_bvh_create(heap(), &def, &m->s, m->x, &tree, &err));
    tl_bvh_refit(tree, m->x, NULL, 0, 0, NULL);
    return tree;
}

static tl_clearance_body body_of(const tl_bvh *tree)
{
    tl_clearance_body body = {.tree = tree};
    tl_bvh_extent(tree, &body.lo, &body.hi);
    return body;
}

static double *reaches(int32_t n, double reach)
{
    double *a = malloc((size_t)n * sizeof *a);
    for (int32_t i = 0; i < n; i++) a[i] = reach;
    return a;
}

static void check_faces(const double *actual, const double *expected, int32_t n, double reach)
{
    int32_t less = 0;
    for (int32_t f = 0; f < n; f++) {
        assert_near(actual[f], expected[f], 1e-14);
        assert_true(actual[f] >= 0 && actual[f] <= reach);
        less += actual[f] < reach;
    }
    assert_true(less > 0);  // or this would test nothing
}

// --- tests ---

// Of all faces; either may be NULL.
static void measure_all(const tl_clearance_def *def, double *self, double *body)
{
    for (int32_t f = 0; f < tl_bvh_surface(def->tree)->face_count; f++) {
        if (self) self[f] = tl_clearance_self(def, f, INFINITY);
        if (body) body[f] = tl_clearance_bodies(def, f, INFINITY);
    }
}

static void clearance_is_the_least_of_all_pairs(void **state)
{
    (void)state;
    static const double reach[3] = {0.02, 0.1, INFINITY};
    for (int kind = FLAT; kind <= SOUP; kind++)
        for (int r = 0; r < 3; r++) {
            shape m = make_shape(9, kind, 1, (tl_vec3){0}, 3);
            if (kind == FLAT && r == 0) m.x[0] = (tl_vec3){0.5, 0.5, 0.015};  // a corner turned over
            shape ball = make_shape(5, TANGLED, 0.3, (tl_vec3){0.3, 0.4, 0}, 4),
                  far = make_shape(2, FLAT, 1, (tl_vec3){0, 0, 9}, 5);
            tl_bvh *tree = make_tree(&m), *tree_a = make_tree(&ball), *tree_b = make_tree(&far);
            const tl_vec3 up = {0, 0.6, 0.8}, on = {0.1, 0.2, -0.05};
            const tl_clearance_body bodies[3] = {body_of(tree_a), body_of(tree_b), {.point = on, .normal = up}};
            const int32_t n = m.s.face_count;
            double *self = reaches(n, NAN), *body = reaches(n, NAN), *want_self = reaches(n, reach[r]),
                   *want_body = reaches(n, reach[r]);
            all_pairs(&m, &m, reach[r], want_self);
            all_pairs(&m, &ball, reach[r], want_body);
            all_pairs(&m, &far, reach[r], want_body);
            for (int32_t v = 0; v < m.s.node_count; v++)
                lower_faces(&m, &v, 1, fmax(0, tl_dot3(up, tl_sub3(m.x[v], on))), want_body);
            const tl_clearance_def def = {tree, bodies, 3, reach[r]};
            measure_all(&def, self, body);
            check_faces(self, want_self, n, reach[r]);
            check_faces(body, want_body, n, reach[r]);
            // No more than is asked for.
            for (int32_t f = 0; f < n; f++) {
                const double most = 0.03 * (f % 5);
                assert_near(tl_clearance_self(&def, f, most), fmin(self[f], most), 1e-15);
                assert_near(tl_clearance_bodies(&def, f, most), fmin(body[f], most), 1e-15);
            }
            free(self), free(body), free(want_self), free(want_body);
            tl_bvh_destroy(tree), tl_bvh_destroy(tree_a), tl_bvh_destroy(tree_b);
            free_shape(&m), free_shape(&ball), free_shape(&far);
        }
}

// Two sheets a distance apart, and a plane below: by hand.
static void clearance_by_hand(void **state)
{
    (void)state;
    shape low = make_shape(4, FLAT, 1, (tl_vec3){0}, 1), high = make_shape(4, FLAT, 1, (tl_vec3){0, 0, 0.03}, 1);
    tl_bvh *tree = make_tree(&low), *other = make_tree(&high);
    double self[32], body[32];
    const tl_clearance_body bodies[2] = {body_of(other), {.point = {7, 7, -0.02}, .normal = {0, 0, 1}}};
    measure_all(&(tl_clearance_def){tree, bodies, 1, 10}, self, body);
    // Between two faces without a common node lies at least one cell's altitude, 0.25 / sqrt 2.
    double least = INFINITY;
    for (int f = 0; f < 32; f++) {
        assert_true(self[f] >= 0.25 / sqrt(2) - 1e-15);
        least = fmin(least, self[f]);
        assert_near(body[f], 0.03, 1e-15);
    }
    assert_near(least, 0.25 / sqrt(2), 1e-15);
    // The thickness is taken off, but not more than a part of what is there when flat.
    tl_vec2 uv[25];
    int32_t chart[25] = {0};
    double kept[32];
    for (int v = 0; v < 25; v++) uv[v] = (tl_vec2){low.x[v].x, low.x[v].y};
    tl_clearance_def keep = {.tree = tree, .reach = 10, .keep = 0.01, .keep_flat = 0.5, .uv = uv, .chart = chart};
    measure_all(&keep, kept, NULL);
    for (int f = 0; f < 32; f++) assert_near(kept[f], self[f] - 0.01, 1e-15);
    keep.keep = 1;
    measure_all(&keep, kept, NULL);
    for (int f = 0; f < 32; f++) assert_near(kept[f], 0.5 * self[f], 1e-15);
    keep.uv = NULL;
    measure_all(&keep, kept, NULL);
    least = INFINITY;
    for (int f = 0; f < 32; f++) least = fmin(least, kept[f]);
    assert_true(least == 0);
    measure_all(&(tl_clearance_def){tree, bodies, 2, 10}, NULL, body);
    for (int f = 0; f < 32; f++) assert_near(body[f], 0.02, 1e-15);
    measure_all(&(tl_clearance_def){tree, bodies, 2, 0.01}, self, body);
    for (int f = 0; f < 32; f++) assert_true(self[f] == 0.01 && body[f] == 0.01);
    const tl_clearance_body above = {.point = {0, 0, 1}, .normal = {0, 0, 1}};
    measure_all(&(tl_clearance_def){tree, &above, 1, 0.01}, NULL, body);
    for (int f = 0; f < 32; f++) assert_true(body[f] == 0);
    tl_bvh_destroy(tree), tl_bvh_destroy(other);
    free_shape(&low), free_shape(&high);
}

// Every pair of everything: more partners than are sorted in one piece, at any number of threads.
static void crowded_lists_are_sorted(void **state)
{
    (void)state;
    tl_error err;
    shape m = make_shape(16, SOUP, 1, (tl_vec3){0}, 3);  // 512 faces that share no node
    tl_bvh *tree = make_tree(&m);
    tl_arena arena;
    tl_arena_init(&arena, *heap());
    for (int threads = 1; threads <= 3; threads += 2) {
        tl_workers *workers;
        tl_pairs pairs;
        tl_pairs_init(&pairs, *heap());
        assert_ok(tl_workers_create(heap(), threads, &workers, &err));
        assert_ok(
            tl_bvh_self_near(tree, TL_PAIR_VF | TL_PAIR_EE, (tl_near){0, INFINITY}, &arena, workers, &pairs, &err));
        int32_t at = 0;
        for (int32_t v = 0; v < m.s.node_count; v++)
            for (int32_t f = 0; f < m.s.face_count; f++)
                if (f != v / 3) assert_true(at < pairs.vf_count && pairs.vf[at].a == v && pairs.vf[at].b == f), at++;
        assert_int_equal(at, pairs.vf_count);
        at = 0;
        for (int32_t e = 0; e < m.s.edge_count; e++)
            for (int32_t g = e + 1; g < m.s.edge_count; g++)
                if (!share(m.edge[e], 2, m.edge[g], 2))
                    assert_true(at < pairs.ee_count && pairs.ee[at].a == e && pairs.ee[at].b == g), at++;
        assert_int_equal(at, pairs.ee_count);
        tl_workers_destroy(workers);
        tl_pairs_free(&pairs);
    }
    tl_bvh_destroy(tree);
    tl_arena_free(&arena);
    free_shape(&m);
}

static bool box_meets(const shape *m, int32_t f, double margin, tl_vec3 lo, tl_vec3 hi)
{
    const double *l = &lo.x, *h = &hi.x;
    for (int d = 0; d < 3; d++) {
        double low = INFINITY, high = -INFINITY;
        for (int k = 0; k < 3; k++) {
            const double p = (&m->x[m->face[f][k]].x)[d];
            low = fmin(low, p), high = fmax(high, p);
        }
        if (low - margin > h[d] || high + margin < l[d]) return false;
    }
    return true;
}

// Everything that meets the box at x0 is found; with a tight tree, nothing that is further away than floats can tell.
static void check_around(const shape *m, const tl_bvh *tree, tl_vec3 lo, tl_vec3 hi, bool tight)
{
    enum { MOST = 512 };
    int32_t found[MOST];
    bool there[MOST] = {false};
    const int32_t n = m->s.face_count, count = tl_bvh_around(tree, lo, hi, found, MOST);
    assert_true(n <= MOST && count <= n);
    for (int32_t i = 0; i < count; i++) {
        assert_true(!there[found[i]]);
        there[found[i]] = true;
        if (tight) assert_true(box_meets(m, found[i], 1e-6, lo, hi));
    }
    for (int32_t f = 0; f < n; f++)
        if (box_meets(m, f, 0, lo, hi)) assert_true(there[f]);
    int32_t one = -7;
    assert_int_equal(tl_bvh_around(tree, lo, hi, &one, 0), count);
    assert_int_equal(one, -7);
}

static void check_extent(const shape *m, const tl_bvh *tree, bool tight)
{
    tl_vec3 lo, hi, low = m->x[0], high = m->x[0];
    tl_bvh_extent(tree, &lo, &hi);
    for (int32_t v = 0; v < m->s.node_count; v++) {
        const tl_vec3 p = m->x[v];
        low = (tl_vec3){fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z)},
        high = (tl_vec3){fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z)};
    }
    assert_true(lo.x <= low.x && lo.y <= low.y && lo.z <= low.z && hi.x >= high.x && hi.y >= high.y && hi.z >= high.z);
    const double far = fmax(fmax(low.x - lo.x, low.y - lo.y), low.z - lo.z),
                 high_far = fmax(fmax(hi.x - high.x, hi.y - high.y), hi.z - high.z);
    if (tight) assert_true(far < 1e-6 && high_far < 1e-6);
}

static void boxes_find_all_faces(void **state)
{
    (void)state;
    static const tl_bvh_def defs[5] = {{.arity = 8, .leaf_faces = 16},
                                       {.arity = 8, .leaf_faces = 4, .relative = 1},
                                       {.arity = 4, .leaf_faces = 9},
                                       {.arity = 2, .leaf_faces = 1},
                                       {.arity = 2, .leaf_faces = 3, .relative = 1}};
    for (int kind = FLAT; kind <= SOUP; kind++)
        for (int t = 0; t < 5; t++) {
            tl_error err;
            shape m = make_shape(10, kind, 1, (tl_vec3){0}, 3);
            tl_bvh *tree;
            const int32_t n = m.s.face_count;
            const bool moving = t % 2;
            const double margin = 0.01 * t;
            assert_ok(tl_bvh_create(heap(), &defs[t], &m.s, m.x, &tree, &err));
            tl_bvh_refit(tree, m.x, moving ? m.x1 : NULL, margin, 0.02 * (kind == TANGLED), NULL);
            int32_t some = 0;
            for (int i = 0; i < 60; i++) {
                const double size = 0.8 * tl_random(1, 2, (uint64_t)i);
                tl_vec3 lo = {noise(5, i, 0), noise(5, i, 1), 0.3 * noise(5, i, 2)};
                if (i % 3 == 0) lo = m.x[i];  // touches, with no size at all
                const tl_vec3 hi = i % 3 == 0 ? lo : (tl_vec3){lo.x + size, lo.y + size, lo.z + size};
                int32_t want = 0;
                for (int32_t f = 0; f < n; f++) want += box_meets(&m, f, 0, lo, hi);
                some += want > 0;
                check_around(&m, tree, lo, hi, margin == 0 && !moving && kind != TANGLED);
            }
            assert_true(some > 20);
            check_extent(&m, tree, margin == 0 && !moving && kind != TANGLED);
            check_around(&m, tree, (tl_vec3){-1e300, -1e300, -1e300}, (tl_vec3){1e300, 1e300, 1e300}, false);
            tl_bvh_destroy(tree);
            free_shape(&m);
        }
}

// --- the guard ---

static double distance_of(const tl_vec3 a[3], const tl_vec3 b[3])
{
    double least = INFINITY;
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3;
        if (tl_segment_meets_triangle(&a[i], &a[j], &b[0], &b[1], &b[2]) ||
            tl_segment_meets_triangle(&b[i], &b[j], &a[0], &a[1], &a[2]))
            return 0;
        least = fmin(least, fmin(tl_nearest_vf(a[i], b[0], b[1], b[2]).distance,
                                 tl_nearest_vf(b[i], a[0], a[1], a[2]).distance));
        for (int k = 0; k < 3; k++) least = fmin(least, tl_nearest_ee(a[i], a[j], b[k], b[(k + 1) % 3]).distance);
    }
    return least;
}

static bool in_tetrahedron(const tl_vec3 t[4], const tl_vec3 *p)
{
    const int whole = tl_orient3d(&t[0], &t[1], &t[2], &t[3]);
    for (int k = 0; k < 4; k++) {
        const tl_vec3 *c[4] = {&t[0], &t[1], &t[2], &t[3]};
        c[k] = p;
        if (whole == 0 || tl_orient3d(c[0], c[1], c[2], c[3]) == -whole) return false;
    }
    return true;
}

// All faces of the body, all triangles, all nodes and tetrahedra: to the last bit.
static void the_guard_sees_all_faces(void **state)
{
    (void)state;
    enum { TRIANGLES = 20, TRIALS = 100 };
    int met = 0, swept_over = 0, near = 0, far = 0;
    for (int kind = FLAT; kind <= SOUP; kind++) {
        shape m = make_shape(12, kind, 1, (tl_vec3){0, 0, 0}, 5);
        tl_error err;
        tl_bvh_def def = tl_bvh_def_default();
        tl_bvh *tree;
        def.relative = 1;
        assert_ok(tl_bvh_create(heap(), &def, &m.s, m.x, &tree, &err));
        tl_bvh_refit(tree, m.x, NULL, 0, 0, NULL);
        for (int trial = 0; trial < TRIALS; trial++) {
            const uint64_t seed = 1000 + 17 * (uint64_t)kind + 1009 * (uint64_t)trial;
            const double keep = 0.001 * pow(60, tl_random(seed, 50, 0)), size = 0.2 * tl_random(seed, 51, 0);
            tl_vec3 at = m.x[(int32_t)(tl_random(seed, 52, 0) * m.s.node_count)], triangle[TRIANGLES][3], swept[2][4];
            const double away = keep * (0.5 + 2 * tl_random(seed, 53, 0));
            at = (tl_vec3){at.x + away * noise(seed, 0, 20), at.y + away * noise(seed, 0, 21),
                           at.z + away * noise(seed, 0, 22)};
            const int count = 1 + trial % TRIANGLES;
            for (int i = 0; i < count; i++)
                for (int k = 0; k < 3; k++)
                    triangle[i][k] =
                        (tl_vec3){at.x + size * noise(seed, 3 * i + k, 23), at.y + size * noise(seed, 3 * i + k, 24),
                                  at.z + 0.1 * size * noise(seed, 3 * i + k, 25)};
            for (int i = 0; i < 8; i++)
                swept[i / 4][i % 4] = (tl_vec3){at.x + size * noise(seed, i, 26), at.y + size * noise(seed, i, 27),
                                                at.z + size * noise(seed, i, 28)};
            double least = keep;
            bool over = false;
            for (int32_t f = 0; f < m.s.face_count; f++) {
                const tl_vec3 b[3] = {m.x[m.face[f][0]], m.x[m.face[f][1]], m.x[m.face[f][2]]};
                for (int i = 0; i < count; i++) least = fmin(least, distance_of(triangle[i], b));
                for (int i = 0; i < 6; i++) over |= in_tetrahedron(swept[i / 3], &b[i % 3]);
            }
            const double before = keep * tl_random(seed, 54, 0);
            const tl_guard_body body = {.tree = tree, .keep = keep};
            const tl_guard guard = {&body, 1, 1};
            const double wanted = over || !(least > 0) || least < before ? -1 : least;
            assert_true(tl_guard_clear(&guard, (const tl_vec3(*)[3])triangle, count, (const tl_vec3(*)[4])swept, 2,
                                       before) == wanted);
            met += !(least > 0), swept_over += over, near += wanted > 0 && wanted < keep, far += wanted == keep;
        }
        tl_bvh_destroy(tree);
        free_shape(&m);
    }
    assert_true(met > 10 && swept_over > 10 && near > 10 && far > 10);
}

int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clearance_is_the_least_of_all_pairs),
        cmocka_unit_test(clearance_by_hand),
        cmocka_unit_test(crowded_lists_are_sorted),
        cmocka_unit_test(boxes_find_all_faces),
        cmocka_unit_test(the_guard_sees_all_faces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
