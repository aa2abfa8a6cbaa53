// tests/unit/test_bvh.c: candidate pairs of trees against all pairs.
#include "check.h"

#include "detect/bvh/bvh_lanes.h"
#include "trees.h"

// One tree in three of each shape is asked both ways, every two of arity and leaf still together in one of them;
// with sanitizers the others are left out.
static void check_every_def(shape *m, double margin)
{
    fixture t;
    tl_error err;
    open_fixture(&t);
    for (int relative = 0; relative < 2; relative++)
        for (int a = 0; a < 3; a++)
            for (int l = 0; l < 5; l++) {
                const bool first = a == 0 && l == 0, both = a == (relative + l) % 3;
                if (SANITIZED && !first && !both) continue;
                tl_bvh *bvh;
                const tl_bvh_def def = {.arity = ARITIES[a], .leaf_faces = LEAVES[l], .relative = relative};
                assert_ok(tl_bvh_create(&t.alloc, &def, &m->s, m->x0, &bvh, &err));
                tl_bvh_refit(bvh, m->x0, m->x1, margin, 0, NULL);
                tl_pairs *out = first ? &t.pairs : &t.other;
                assert_ok(both ? ask(&t, (question){bvh}, ALL, NULL, out, &err)
                               : tl_bvh_self(bvh, ALL, &t.arena, NULL, out, &err));
                if (first)
                    check_self_by(m, (rule){.how = relative ? RELATIVE : SWEPT}, margin, &t.pairs);
                else
                    assert_same_pairs(&t.pairs, &t.other);
                tl_bvh_destroy(bvh);
            }
    close_fixture(&t);
}

static void every_tree_finds_all_pairs(void **state)
{
    (void)state;
    shape m = random_soup(200, 300, 1, 1);
    move(&m, 0.05, 2);
    check_every_def(&m, 0.001);
    free_shape(&m);
    for (int kind = FLAT; kind <= CRUMPLED; kind++) {
        m = sheet_shape(13, kind, 3);
        if (kind != FLAT) move(&m, 0.01, 4);
        check_every_def(&m, kind == FLAT ? 0 : 0.002);
        free_shape(&m);
    }
}

// All meet all, so that first numbers have every number of partners from none to some hundred: each way to sort them,
// and pieces that are merged.
static void lists_of_every_length_are_sorted(void **state)
{
    (void)state;
    fixture t;
    tl_error err;
    open_fixture(&t);
    shape m = random_soup(SANITIZED ? 300 : 600, 200, 1, 5);
    tl_bvh *bvh;
    const tl_bvh_def def = tl_bvh_def_default();
    assert_ok(tl_bvh_create(&t.alloc, &def, &m.s, m.x0, &bvh, &err));
    tl_bvh_refit(bvh, m.x0, NULL, 10, 0, NULL);
    assert_ok(ask(&t, (question){bvh}, ALL, NULL, &t.pairs, &err));
    check_self(&m, false, 10, &t.pairs);
    int32_t most = 0, sorted = 0;
    for (int32_t i = 0, run = 1; i + 1 < t.pairs.ee_count; i++) {
        const tl_pair p = t.pairs.ee[i], q = t.pairs.ee[i + 1];
        run = p.a == q.a ? run + 1 : 1;
        most = run > most ? run : most;
        sorted += p.a < q.a || (p.a == q.a && p.b < q.b);
    }
    assert_int_equal(sorted, t.pairs.ee_count - 1);
    assert_true(most > 500);
    tl_workers *workers;
    assert_ok(tl_workers_create(&t.alloc, 3, &workers, &err));
    assert_ok(ask(&t, (question){bvh}, ALL, workers, &t.other, &err));
    assert_same_pairs(&t.pairs, &t.other);
    tl_workers_destroy(workers);
    tl_bvh_destroy(bvh);
    free_shape(&m);
    close_fixture(&t);
}

static void every_query_has_its_lists(void **state)
{
    (void)state;
    fixture t;
    tl_error err;
    open_fixture(&t);
    shape m = sheet_shape(20, TANGLED, 0);
    tl_bvh *bvh;
    const tl_bvh_def def = tl_bvh_def_default();
    assert_ok(tl_bvh_create(&t.alloc, &def, &m.s, m.x0, &bvh, &err));
    tl_bvh_refit(bvh, m.x0, NULL, 0, 0, NULL);
    assert_ok(ask(&t, (question){bvh}, ALL, NULL, &t.pairs, &err));
    assert_true(t.pairs.vf_count > 0 && t.pairs.ee_count > 0 && t.pairs.ef_count > 0);
    check_self(&m, false, 0, &t.pairs);
    for (int what = 0; what < 8; what++) {
        assert_ok(ask(&t, (question){bvh}, what, NULL, &t.other, &err));
        assert_int_equal(t.other.vf_count, what & TL_PAIR_VF ? t.pairs.vf_count : 0);
        assert_int_equal(t.other.ee_count, what & TL_PAIR_EE ? t.pairs.ee_count : 0);
        assert_int_equal(t.other.ef_count, what & TL_PAIR_EF ? t.pairs.ef_count : 0);
    }
    tl_bvh_destroy(bvh);
    free_shape(&m);
    close_fixture(&t);
}

static void two_surfaces(void **state)
{
    (void)state;
    fixture t;
    tl_error err;
    open_fixture(&t);
    shape a = sheet_shape(16, TANGLED, 0), b = random_soup(150, 200, 0.3, 9);
    move(&a, 0.02, 1), move(&b, 0.05, 2);
    for (int i = 0; i < 24; i++) {
        const int relative = i >= 12;
        tl_bvh *p, *q;
        tl_bvh_def da = {.arity = ARITIES[i % 3], .leaf_faces = LEAVES[(i + 1) % 4], .relative = relative};
        tl_bvh_def db = {.arity = ARITIES[(i + i / 3) % 3], .leaf_faces = LEAVES[i % 4], .relative = relative};
        assert_ok(tl_bvh_create(&t.alloc, &da, &a.s, a.x0, &p, &err));
        assert_ok(tl_bvh_create(&t.alloc, &db, &b.s, b.x0, &q, &err));
        tl_bvh_refit(p, a.x0, a.x1, 0.01, 0, NULL);
        tl_bvh_refit(q, b.x0, b.x1, 0.003, 0.01, NULL);
        assert_ok(ask(&t, (question){p, q}, ALL, NULL, &t.pairs, &err));
        assert_true(t.pairs.vf_count > 0 && t.pairs.fv_count > 0 && t.pairs.ef_count > 0 && t.pairs.fe_count > 0);
        check_between(&a, &b, (rule){.how = relative ? RELATIVE : SWEPT}, 0.01, 0.003, &t.pairs);
        tl_bvh_destroy(p), tl_bvh_destroy(q);
    }
    free_shape(&a), free_shape(&b);
    close_fixture(&t);
}

// Points, needles, faces twice, nodes that no face has, nodes on top of each other, no face at all.
static void degenerate_surfaces(void **state)
{
    (void)state;
    shape m = random_soup(60, 80, 1, 5);
    for (int32_t v = 0; v < 20; v++) m.x0[v] = m.x1[v] = m.x0[v / 4];            // many nodes in one point
    for (int32_t v = 20; v < 40; v++) m.x0[v].y = m.x0[v].z = m.x1[v].z = 0.25;  // and on a line
    for (int k = 0; k < 3; k++) m.face[1][k] = m.face[0][k];
    m.face[2][1] = m.face[2][0];
    m.face[3][0] = m.face[3][1] = m.face[3][2] = 7;
    find_edges(&m);
    check_every_def(&m, 0);
    m.s.face_count = 1;
    find_edges(&m);
    check_every_def(&m, 0);
    m.s.face_count = 0;
    find_edges(&m);
    check_every_def(&m, 0);
    free_shape(&m);
}

// Boxes that touch, at sizes where floats are coarse, tiny, huge, or out of their range.
static void rounding_loses_nothing(void **state)
{
    (void)state;
    const double scale[6] = {1, 1e-30, 1e-44, 1e30, 1e39, 1e300}, offset[6] = {1e6, 0, 0, 1e37, 0, 0};
    for (int s = 0; s < 6; s++) {
        shape m = sheet_shape(9, CRUMPLED, 6);
        for (int32_t v = 0; v < m.s.node_count; v++) {
            m.x0[v] = (tl_vec3){scale[s] * round(8 * m.x0[v].x) / 8 + offset[s], scale[s] * m.x0[v].y - offset[s],
                                scale[s] * (m.x0[v].z + 1e-9 * noise(1, v, 5))};
            m.x1[v] = m.x0[v];
        }
        check_every_def(&m, s == 0 ? 1e-9 : 0);
        for (int32_t v = 0; v < m.s.node_count; v++)
            m.x1[v].y += scale[s] * (3 + 0.1 * noise(2, v, 0)), m.x1[v].x -= scale[s];
        check_every_def(&m, s == 0 ? 1e-9 : 0);
        free_shape(&m);
    }
}

static void check_threads(int relative)
{
    fixture t;
    tl_error err;
    open_fixture(&t);
    shape m = sheet_shape(60, FOLDED, 0);
    move(&m, 0.01, 1);
    tl_bvh *bvh;
    tl_bvh_def def = tl_bvh_def_default();
    def.relative = relative;
    assert_ok(tl_bvh_create(&t.alloc, &def, &m.s, m.x0, &bvh, &err));
    tl_bvh_refit(bvh, m.x0, m.x1, 0.001, 0, NULL);
    assert_ok(ask(&t, (question){bvh}, ALL, NULL, &t.pairs, &err));
    check_self_by(&m, (rule){.how = relative ? RELATIVE : SWEPT}, 0.001, &t.pairs);
    const int threads[4] = {1, 2, 3, 8};
    for (int i = 0; i < 4; i++) {
        tl_workers *workers;
        assert_ok(tl_workers_create(&t.alloc, threads[i], &workers, &err));
        for (int repeat = 0; repeat < 3; repeat++) {
            tl_bvh_refit(bvh, m.x0, m.x1, 0.001, 0, workers);
            assert_ok(ask(&t, (question){bvh}, ALL, workers, &t.other, &err));
            assert_same_pairs(&t.pairs, &t.other);
            assert_true(t.pairs.volume_tests == t.other.volume_tests && t.pairs.face_pairs == t.other.face_pairs);
        }
        tl_workers_destroy(workers);
    }
    tl_bvh_destroy(bvh);
    free_shape(&m);
    close_fixture(&t);
}

static void same_on_any_number_of_threads(void **state)
{
    (void)state;
    check_threads(0);
    check_threads(1);
}

// Slow and fast steps, margins that change, with a skin: answers stay those of all pairs.
static void lazy_refits_stay_sound(void **state)
{
    (void)state;
    fixture t;
    tl_error err;
    open_fixture(&t);
    shape m = sheet_shape(14, FOLDED, 0);
    tl_bvh *bvh;
    for (int a = 0; a < 6; a++) {
        const tl_bvh_def def = {.arity = ARITIES[a % 3], .leaf_faces = 4, .relative = a >= 3};
        assert_ok(tl_bvh_create(&t.alloc, &def, &m.s, m.x0, &bvh, &err));
        for (int step = 0; step < (SANITIZED ? 24 : 60); step++) {
            move(&m, step % 20 == 7 ? 0.1 : step % 3 == 0 ? 0 : 0.002, (uint64_t)(step + 100 * a));
            const bool swept = step % 5 != 4;
            const double margin = step % 4 == 3 ? 0.004 : 0.001;
            tl_bvh_refit(bvh, m.x0, swept ? m.x1 : NULL, margin, step % 11 == 10 ? 0 : 0.005, NULL);
            assert_ok(step % 3 == a % 3 ? ask(&t, (question){bvh}, ALL, NULL, &t.pairs, &err)
                                        : tl_bvh_self(bvh, ALL, &t.arena, NULL, &t.pairs, &err));
            check_self_by(&m, (rule){.how = !swept ? STILL : a < 3 ? SWEPT : RELATIVE}, margin, &t.pairs);
        }
        tl_bvh_destroy(bvh);
    }
    free_shape(&m);
    close_fixture(&t);
}

// --- distances, the slow way ---

static tl_vec3 sub(tl_vec3 a, tl_vec3 b) { return (tl_vec3){a.x - b.x, a.y - b.y, a.z - b.z}; }
static tl_vec3 along(tl_vec3 a, double t, tl_vec3 d) { return (tl_vec3){a.x + t * d.x, a.y + t * d.y, a.z + t * d.z}; }
static double dot(tl_vec3 a, tl_vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static double norm(tl_vec3 a) { return sqrt(dot(a, a)); }

static double point_segment(tl_vec3 p, tl_vec3 a, tl_vec3 b)
{
    const tl_vec3 d = sub(b, a);
    const double t = dot(d, d) > 0 ? fmax(0, fmin(1, dot(sub(p, a), d) / dot(d, d))) : 0;
    return norm(sub(p, along(a, t, d)));
}

// The least of the distances of ends and, where lines come nearest within both segments, of lines.
static double segment_segment(const tl_vec3 *a, const tl_vec3 *b)
{
    double best = fmin(fmin(point_segment(a[0], b[0], b[1]), point_segment(a[1], b[0], b[1])),
                       fmin(point_segment(b[0], a[0], a[1]), point_segment(b[1], a[0], a[1])));
    const tl_vec3 u = sub(a[1], a[0]), v = sub(b[1], b[0]), w = sub(a[0], b[0]);
    const double uu = dot(u, u), uv = dot(u, v), vv = dot(v, v), det = uu * vv - uv * uv;
    if (det <= 0) return best;
    const double s = (uv * dot(v, w) - vv * dot(u, w)) / det, t = (uu * dot(v, w) - uv * dot(u, w)) / det;
    if (s >= 0 && s <= 1 && t >= 0 && t <= 1) best = fmin(best, norm(sub(along(a[0], s, u), along(b[0], t, v))));
    return best;
}

// Nearest point of the plane, if it is inside (barycentric coordinates from the normal equations), or of a side.
static double point_face(tl_vec3 p, const tl_vec3 *f)
{
    double best = fmin(point_segment(p, f[0], f[1]), fmin(point_segment(p, f[1], f[2]), point_segment(p, f[2], f[0])));
    const tl_vec3 u = sub(f[1], f[0]), v = sub(f[2], f[0]), w = sub(p, f[0]);
    const double uu = dot(u, u), uv = dot(u, v), vv = dot(v, v), det = uu * vv - uv * uv;
    if (det <= 0) return best;
    const double s = (vv * dot(u, w) - uv * dot(v, w)) / det, t = (uu * dot(v, w) - uv * dot(u, w)) / det;
    if (s >= 0 && t >= 0 && s + t <= 1) best = fmin(best, norm(sub(p, along(along(f[0], s, u), t, v))));
    return best;
}

static double segment_face(const tl_vec3 *e, const tl_vec3 *f)
{
    double best = fmin(point_face(e[0], f), point_face(e[1], f));
    for (int k = 0; k < 3; k++) best = fmin(best, segment_segment(e, (tl_vec3[2]){f[k], f[(k + 1) % 3]}));
    const tl_vec3 u = sub(f[1], f[0]), v = sub(f[2], f[0]),
                  n = {u.y * v.z - u.z * v.y, u.z * v.x - u.x * v.z, u.x * v.y - u.y * v.x};
    const double a = dot(n, sub(e[0], f[0])), b = dot(n, sub(e[1], f[0]));
    if (a * b < 0) best = fmin(best, point_face(along(e[0], a / (a - b), sub(e[1], e[0])), f));
    return best;
}

static double nearest(const shape *m, bool swept, int list, tl_pair p)
{
    double best = INFINITY;
    for (int step = 0; step <= (swept ? 8 : 0); step++) {
        tl_vec3 a[3], b[3];
        for (int k = 0; k < 3; k++) {
            const int32_t va = list == 0 ? p.a : m->edge[p.a][k % 2],
                          vb = list == 1 ? m->edge[p.b][k % 2] : m->face[p.b][k];
            a[k] = along(m->x0[va], step / 8.0, sub(m->x1[va], m->x0[va]));
            b[k] = along(m->x0[vb], step / 8.0, sub(m->x1[vb], m->x0[vb]));
        }
        best = fmin(best, list == 0 ? point_face(a[0], b) : list == 1 ? segment_segment(a, b) : segment_face(a, b));
    }
    return best;
}

// What is missing in `fewer` stays further apart than `reach`; returns how many are.
static int32_t check_missing(const shape *m, bool swept, double reach, int list, const tl_pair *all, int32_t count,
                             const tl_pair *fewer, int32_t fewer_count)
{
    int32_t j = 0;
    for (int32_t i = 0; i < count; i++) {
        if (j < fewer_count && fewer[j].a == all[i].a && fewer[j].b == all[i].b)
            j++;
        else
            assert_true(nearest(m, swept, list, all[i]) > reach);
    }
    assert_int_equal(j, fewer_count);
    return count - fewer_count;
}

// --- relative motion ---

// Common motion of many edge lengths, and some of its own for each node.
static void move_together(shape *m, double common, double own, uint64_t seed)
{
    const tl_vec3 way = {common * noise(seed, -1, 0), common * noise(seed, -1, 1), common * noise(seed, -1, 2)};
    move(m, own, seed);
    for (int32_t v = 0; v < m->s.node_count; v++) m->x1[v].x += way.x, m->x1[v].y += way.y, m->x1[v].z += way.z;
}

static void relative_motion_finds_all_pairs(void **state)
{
    (void)state;
    for (int i = 0; i < 12; i++) {
        shape m = i % 3 == 2 ? random_soup(150, 200, 0.5, (uint64_t)i) : sheet_shape(11, i % 3 ? TANGLED : FOLDED, 0);
        move_together(&m, i % 2 ? 3 : 0.1, i % 4 * 0.02, (uint64_t)i);
        if (i == 5)  // everything on a grid: boxes touch at x0 and at x1
            for (int32_t v = 0; v < m.s.node_count; v++) {
                m.x0[v] = (tl_vec3){round(8 * m.x0[v].x) / 8, round(8 * m.x0[v].y) / 8, round(8 * m.x0[v].z) / 8};
                m.x1[v] = (tl_vec3){round(8 * m.x1[v].x) / 8, round(8 * m.x1[v].y) / 8, round(8 * m.x1[v].z) / 8};
            }
        check_every_def(&m, i % 3 * 0.01);
        free_shape(&m);
    }
}

// At rest it is the answer at an instant. What changes sides makes a pair, what goes along does not.
static void relative_motion_by_hand(void **state)
{
    (void)state;
    fixture t;
    tl_error err;
    open_fixture(&t);
    shape m = sheet_shape(12, FOLDED, 0);
    tl_bvh *swept, *relative;
    tl_bvh_def def = tl_bvh_def_default();
    assert_ok(tl_bvh_create(&t.alloc, &def, &m.s, m.x0, &swept, &err));
    def.relative = 1;
    assert_ok(tl_bvh_create(&t.alloc, &def, &m.s, m.x0, &relative, &err));
    tl_bvh_refit(swept, m.x0, NULL, 0.01, 0, NULL);
    assert_ok(ask(&t, (question){swept}, ALL, NULL, &t.pairs, &err));
    tl_bvh_refit(relative, m.x0, NULL, 0.01, 0, NULL);
    assert_ok(ask(&t, (question){relative}, ALL, NULL, &t.other, &err));
    assert_same_pairs(&t.pairs, &t.other);
    assert_int_equal(ask(&t, (question){swept, relative}, ALL, NULL, &t.other, &err), TL_BAD_ARG);
    tl_bvh_destroy(swept), tl_bvh_destroy(relative);
    free_shape(&m);

    // two faces that change sides, and a third that goes along with the second, ahead of it
    m = make_shape(9, 3);
    for (int32_t v = 0; v < 9; v++) {
        m.face[v / 3][v % 3] = v;
        const double at[3] = {0, 1, 1.5}, to[3] = {3, 2, 2.5};
        m.x0[v] = (tl_vec3){at[v / 3], v % 3 == 1, v % 3 == 2};
        m.x1[v] = m.x0[v], m.x1[v].x = to[v / 3];
    }
    find_edges(&m);
    assert_ok(tl_bvh_create(&t.alloc, &def, &m.s, m.x0, &relative, &err));
    tl_bvh_refit(relative, m.x0, m.x1, 0.1, 0, NULL);
    assert_ok(ask(&t, (question){relative}, TL_PAIR_VF, NULL, &t.pairs, &err));
    assert_int_equal(t.pairs.vf_count, 12);  // first with second and with third, both ways
    for (int32_t i = 0; i < 12; i++) assert_true(t.pairs.vf[i].a < 3 || t.pairs.vf[i].b == 0);
    tl_bvh_destroy(relative);
    free_shape(&m);
    close_fixture(&t);
}

// No pair that comes within twice the margin at a common time is missing.
static void relative_motion_misses_no_contact(void **state)
{
    (void)state;
    fixture t;
    tl_error err;
    open_fixture(&t);
    int32_t missing = 0;
    for (int i = 0; i < 6; i++) {
        shape m = sheet_shape(14, i % 2 ? TANGLED : FOLDED, 0);
        move_together(&m, 1, 0.05, (uint64_t)i);
        tl_bvh_def def = tl_bvh_def_default();
        tl_bvh *bvh;
        assert_ok(tl_bvh_create(&t.alloc, &def, &m.s, m.x0, &bvh, &err));
        tl_bvh_refit(bvh, m.x0, m.x1, 0.01, 0, NULL);
        assert_ok(ask(&t, (question){bvh}, ALL, NULL, &t.pairs, &err));
        tl_bvh_destroy(bvh);
        def.relative = 1;
        assert_ok(tl_bvh_create(&t.alloc, &def, &m.s, m.x0, &bvh, &err));
        tl_bvh_refit(bvh, m.x0, m.x1, 0.01, 0, NULL);
        assert_ok(ask(&t, (question){bvh}, ALL, NULL, &t.other, &err));
        tl_bvh_destroy(bvh);
        const tl_pairs *p = &t.pairs, *q = &t.other;
        missing += check_missing(&m, true, 0.02, 0, p->vf, p->vf_count, q->vf, q->vf_count);
        missing += check_missing(&m, true, 0.02, 1, p->ee, p->ee_count, q->ee, q->ee_count);
        missing += check_missing(&m, true, 0.02, 2, p->ef, p->ef_count, q->ef, q->ef_count);
        free_shape(&m);
    }
    assert_true(missing > 10000);
    close_fixture(&t);
}

// --- nearness ---

static void check_nearness(shape *m, double margin, double path, double end)
{
    fixture t;
    tl_error err;
    open_fixture(&t);
    for (int a = 0; a < 3; a++)
        for (int l = 0; l < 5; l++) {
            const bool first = a == 0 && l == 0;
            tl_bvh *bvh;
            const tl_bvh_def def = {.arity = ARITIES[a], .leaf_faces = LEAVES[l], .relative = 1};
            assert_ok(tl_bvh_create(&t.alloc, &def, &m->s, m->x0, &bvh, &err));
            tl_bvh_refit(bvh, m->x0, m->x1, margin, 0, NULL);
            assert_ok(
                ask(&t, (question){bvh, .near = &(tl_near){path, end}}, ALL, NULL, first ? &t.pairs : &t.other, &err));
            if (first)
                check_self_by(m, (rule){NEAR, path, end}, margin, &t.pairs);
            else
                assert_same_pairs(&t.pairs, &t.other);
            tl_bvh_destroy(bvh);
        }
    close_fixture(&t);
}

static void near_pairs_are_all_found(void **state)
{
    (void)state;
    const double path[6] = {0, 0.01, 0, 0.05, 0.02, 0}, end[6] = {0, 0, 0.03, 0.03, 0.1, 0.125};
    for (int i = 0; i < 12; i++) {
        shape m = i % 3 == 2 ? random_soup(150, 200, 0.5, (uint64_t)i) : sheet_shape(11, i % 3 ? TANGLED : FOLDED, 0);
        move_together(&m, i % 2 ? 3 : 0.1, i % 4 * 0.02, (uint64_t)i);
        if (i == 5)  // everything on a grid: distances that are just the reach
            for (int32_t v = 0; v < m.s.node_count; v++) {
                m.x0[v] = (tl_vec3){round(8 * m.x0[v].x) / 8, round(8 * m.x0[v].y) / 8, round(8 * m.x0[v].z) / 8};
                m.x1[v] = (tl_vec3){round(8 * m.x1[v].x) / 8, round(8 * m.x1[v].y) / 8, round(8 * m.x1[v].z) / 8};
            }
        check_nearness(&m, i == 7 ? 0.01 : 0, path[i % 6], end[i % 6]);
        free_shape(&m);
    }
}

// Where floats are coarse, squares vanish or overflow, and nothing is left of either.
static void near_at_any_size(void **state)
{
    (void)state;
    const double scale[8] = {1, 1e-16, 1e-30, 1e-44, 1e16, 1e30, 1e39, 1e300},
                 offset[8] = {1e6, 0, 0, 0, 0, 1e37, 0, 0};
    for (int s = 0; s < 8; s++) {
        shape m = sheet_shape(7, CRUMPLED, 6);
        for (int32_t v = 0; v < m.s.node_count; v++) {
            m.x0[v] = (tl_vec3){scale[s] * round(8 * m.x0[v].x) / 8 + offset[s], scale[s] * m.x0[v].y - offset[s],
                                scale[s] * m.x0[v].z};
            m.x1[v] = m.x0[v];
            m.x1[v].y += scale[s] * (3 + 0.1 * noise(2, v, 0)), m.x1[v].x -= scale[s];
        }
        check_nearness(&m, 0, 0.125 * scale[s], 0.25 * scale[s]);
        check_nearness(&m, 0, 0, 0.125 * scale[s]);
        check_nearness(&m, 0, 0, s == 0 ? 1e300 : 0);
        free_shape(&m);
    }
}

static void near_pairs_with_threads_skin_and_another(void **state)
{
    (void)state;
    fixture t;
    tl_error err;
    open_fixture(&t);
    shape a = sheet_shape(30, TANGLED, 0), b = random_soup(150, 200, 0.3, 9);
    tl_bvh *p, *q, *swept;
    tl_bvh_def def = tl_bvh_def_default();
    assert_ok(tl_bvh_create(&t.alloc, &def, &a.s, a.x0, &swept, &err));
    def.relative = 1;
    assert_ok(tl_bvh_create(&t.alloc, &def, &a.s, a.x0, &p, &err));
    assert_ok(tl_bvh_create(&t.alloc, &def, &b.s, b.x0, &q, &err));
    const int threads[4] = {1, 2, 3, 8};
    const tl_near near = {0.01, 0.04};
    for (int i = 0; i < 4; i++) {
        tl_workers *workers;
        assert_ok(tl_workers_create(&t.alloc, threads[i], &workers, &err));
        move_together(&a, 0.3, 0.01, (uint64_t)i), move(&b, 0.05, (uint64_t)i);
        tl_bvh_refit(p, a.x0, a.x1, 0, i % 2 * 0.01, workers);
        tl_bvh_refit(q, b.x0, i == 3 ? NULL : b.x1, 0.002, 0.01, workers);
        if (i == 3) memcpy(b.x1, b.x0, (size_t)b.s.node_count * sizeof *b.x1);
        assert_ok(ask(&t, (question){p, .near = &near}, ALL, workers, &t.pairs, &err));
        check_self_by(&a, (rule){NEAR, near.path, near.end}, 0, &t.pairs);
        assert_ok(ask(&t, (question){p, q, .near = &near}, ALL, workers, &t.pairs, &err));
        check_between(&a, &b, (rule){NEAR, near.path, near.end}, 0, 0.002, &t.pairs);
        assert_true(t.pairs.vf_count > 0 && t.pairs.fv_count > 0 && t.pairs.ee_count > 0);
        assert_ok(ask(&t, (question){p}, ALL, workers, &t.pairs, &err));
        assert_ok(ask(&t, (question){p, .near = &(tl_near){0, 0}}, ALL, workers, &t.other, &err));
        assert_same_pairs(&t.pairs, &t.other);
        tl_workers_destroy(workers);
    }
    assert_int_equal(ask(&t, (question){swept, .near = &near}, ALL, NULL, &t.pairs, &err), TL_BAD_ARG);
    assert_int_equal(ask(&t, (question){swept, q, .near = &near}, ALL, NULL, &t.pairs, &err), TL_BAD_ARG);
    assert_int_equal(ask(&t, (question){p, .near = &(tl_near){-1, 0}}, ALL, NULL, &t.pairs, &err), TL_BAD_ARG);
    assert_int_equal(ask(&t, (question){p, .near = &(tl_near){0, NAN}}, ALL, NULL, &t.pairs, &err), TL_BAD_ARG);
    tl_bvh_destroy(p), tl_bvh_destroy(q), tl_bvh_destroy(swept);
    free_shape(&a), free_shape(&b);
    close_fixture(&t);
}

// --- some nodes move, and only their pairs are asked for ---

/// Does a primitive of `n` nodes have one of those?
static bool has_some(const uint8_t *some, const int32_t *nodes, int n)
{
    for (int k = 0; k < n; k++)
        if (some[nodes[k]]) return true;
    return false;
}

// Leaves in `all` what has such nodes (`between` two surfaces: of the first).
static void leave_some(const tl_surface *s, const uint8_t *some, bool between, tl_pairs *all)
{
    int32_t n = 0;
    for (int32_t i = 0; i < all->vf_count; i++)
        if (some[all->vf[i].a] || (!between && has_some(some, s->face[all->vf[i].b], 3))) all->vf[n++] = all->vf[i];
    all->vf_count = n, n = 0;
    for (int32_t i = 0; i < all->ee_count; i++)
        if (has_some(some, s->edge[all->ee[i].a], 2) || (!between && has_some(some, s->edge[all->ee[i].b], 2)))
            all->ee[n++] = all->ee[i];
    all->ee_count = n, n = 0;
    for (int32_t i = 0; i < all->ef_count; i++)
        if (has_some(some, s->edge[all->ef[i].a], 2) || (!between && has_some(some, s->face[all->ef[i].b], 3)))
            all->ef[n++] = all->ef[i];
    all->ef_count = n, n = 0;
    for (int32_t i = 0; i < all->fv_count; i++)
        if (has_some(some, s->face[all->fv[i].b], 3)) all->fv[n++] = all->fv[i];
    all->fv_count = n, n = 0;
    for (int32_t i = 0; i < all->fe_count; i++)
        if (has_some(some, s->face[all->fe[i].b], 3)) all->fe[n++] = all->fe[i];
    all->fe_count = n;
}

static void some_nodes_are_as_good_as_all(void **state)
{
    (void)state;
    fixture t;
    tl_error err;
    open_fixture(&t);
    shape b = random_soup(150, 200, 0.3, 9);
    const int part[5] = {0, 1, 10, 100, 1000};  // of a thousand nodes
    int64_t found = 0, tests[5] = {0}, full[5] = {0};
    for (int arity = 0; arity < 3; arity++)
        for (int i = 0; i < 10; i++) {
            if (SANITIZED && (i + arity) % 3) continue;
            shape a = i % 2 ? random_soup(400, 500, 0.3, (uint64_t)i) : sheet_shape(40, TANGLED, 0);
            uint8_t *some = calloc((size_t)a.s.node_count, 1);
            tl_bvh *p, *q, *fresh;
            const tl_bvh_def def = {.arity = ARITIES[arity], .leaf_faces = LEAVES[i % 5], .relative = 1};
            assert_ok(tl_bvh_create(&t.alloc, &def, &a.s, a.x0, &p, &err));
            assert_ok(tl_bvh_create(&t.alloc, &def, &b.s, b.x0, &q, &err));
            move_together(&a, 0.1, 0.01, (uint64_t)i), move(&b, 0.05, (uint64_t)i);
            tl_bvh_refit(p, a.x0, a.x1, 0, 0, NULL);
            tl_bvh_refit(q, b.x0, b.x1, 0, 0, NULL);
            for (int round = 0; round < 3; round++) {
                for (int32_t v = 0; v < a.s.node_count; v++) {
                    some[v] = 500 * (noise((uint64_t)(10 * i + round), v, 3) + 1) < part[i / 2];
                    if (!some[v]) continue;
                    a.x0[v].x += 0.02 * noise((uint64_t)round, v, 4), a.x1[v].y += 0.05 * noise((uint64_t)round, v, 5);
                }
                tl_near near = {.path = 0.01, .end = 0.02};
                assert_ok(tl_bvh_create(&t.alloc, &def, &a.s, a.x0, &fresh, &err));
                tl_bvh_refit(fresh, a.x0, a.x1, 0, 0, NULL);
                tl_bvh_refit_some(p, a.x0, a.x1, some, NULL);
                assert_ok(ask(&t, (question){fresh, .near = &near}, ALL, NULL, &t.pairs, &err));
                assert_ok(ask(&t, (question){p, .near = &near}, ALL, NULL, &t.other, &err));
                assert_same_pairs(&t.pairs, &t.other);
                full[i / 2] += t.other.volume_tests;
                tl_bvh_chosen chosen;
                assert_ok(tl_bvh_choose(p, some, &t.arena, NULL, &chosen, &err));
                near.some = &chosen;
                assert_ok(ask(&t, (question){p, .near = &near}, ALL, NULL, &t.other, &err));
                leave_some(&a.s, some, false, &t.pairs);
                assert_same_pairs(&t.pairs, &t.other);
                found += t.pairs.vf_count + t.pairs.ee_count, tests[i / 2] += t.other.volume_tests;
                near.some = NULL;
                assert_ok(ask(&t, (question){fresh, q, .near = &near}, ALL, NULL, &t.pairs, &err));
                near.some = &chosen;
                assert_ok(ask(&t, (question){p, q, .near = &near}, ALL, NULL, &t.other, &err));
                leave_some(&a.s, some, true, &t.pairs);
                assert_same_pairs(&t.pairs, &t.other);
                found += t.pairs.vf_count + t.pairs.fv_count + t.pairs.ee_count;
                tl_bvh_destroy(fresh);
            }
            tl_bvh_destroy(p), tl_bvh_destroy(q);
            free(some), free_shape(&a);
        }
    assert_true(found > 10000);
    print_message("tests of volumes for 1 of 1000 nodes: %lld, for all %lld\n", (long long)tests[1],
                  (long long)full[1]);
    assert_true(tests[0] == 0 && tests[1] < full[1] / 10);
    free_shape(&b);
    close_fixture(&t);
}

// --- lanes ---

// What x86 has instructions for and what others take instead, on all pairs of some numbers.
static void lanes_are_the_same_spelled_out(void **state)
{
    (void)state;
    const float number[12] = {0,        -0.0f,    1,         -1,     1 + FLT_EPSILON, FLT_MAX,
                              -FLT_MAX, INFINITY, -INFINITY, 1e-45f, -1e-45f,         NAN};
    for (int i = 0; i < 12 * 12; i++) {
        float a[4], b[4], out[4][4];
        for (int k = 0; k < 4; k++) a[k] = number[(i / 12 + 5 * k) % 12], b[k] = number[(i + 7 * k) % 12];
        const tl_f4 p = *(const tl_f4 *)a, q = *(const tl_f4 *)b;
        *(tl_f4 *)out[0] = LEAST4(p, q), *(tl_f4 *)out[1] = MOST4(p, q);
        *(tl_f4 *)out[2] = ANY_LEAST4(p, q), *(tl_f4 *)out[3] = ANY_MOST4(p, q);
        uint32_t bits = 0;
        for (int k = 0; k < 4; k++) {
            bits |= (uint32_t)(a[k] <= b[k]) << k;
            assert_memory_equal(&out[0][k], a[k] < b[k] ? &a[k] : &b[k], sizeof(float));
            assert_memory_equal(&out[1][k], a[k] > b[k] ? &a[k] : &b[k], sizeof(float));
        }
        assert_memory_equal(out[0], out[2], 2 * sizeof out[0]);
        assert_int_equal(BITS4(p <= q), bits);
        assert_int_equal(ANY_BITS4(p <= q), bits);
    }
}

// --- threads ---

// Every kind of query on each of `workers`, against all pairs.
static void check_queries_on_threads(const shape *m, tl_workers *const workers[4])
{
    enum { AT_REST, ON_THE_WAY, TOGETHER, CLOSE, SOME, QUERIES };
    fixture t;
    tl_error err;
    open_fixture(&t);
    uint8_t *some = calloc((size_t)m->s.node_count, 1);
    for (int32_t v = 0; v < m->s.node_count; v++) some[v] = noise(3, v, 6) > 0.8;
    for (int i = 0; i < QUERIES; i++) {
        const double margin = i >= CLOSE ? 0 : 0.002;
        tl_bvh *bvh;
        tl_bvh_def def = tl_bvh_def_default();
        def.relative = i >= TOGETHER;
        assert_ok(tl_bvh_create(&t.alloc, &def, &m->s, m->x0, &bvh, &err));
        tl_near near = {0.005, 0.01};
        const question all = {bvh, .near = i >= CLOSE ? &(tl_near){near.path, near.end} : NULL};
        const question q = {bvh, .near = i >= CLOSE ? &near : NULL};
        for (int w = 0; w < 4; w++) {
            tl_bvh_chosen chosen;
            tl_bvh_refit(bvh, m->x0, i == AT_REST ? NULL : m->x1, margin, 0, workers[w]);
            if (i == SOME) {
                assert_ok(tl_bvh_choose(bvh, some, &t.arena, workers[w], &chosen, &err));
                near.some = &chosen;
            }
            assert_ok(ask(&t, q, ALL, workers[w], w ? &t.other : &t.pairs, &err));
            if (w > 0) assert_same_pairs(&t.pairs, &t.other);
        }
        assert_ok(ask(&t, all, ALL, NULL, &t.other, &err));
        const rule by = {i == AT_REST    ? STILL
                         : i < TOGETHER  ? SWEPT
                         : i == TOGETHER ? RELATIVE
                                         : NEAR,
                         near.path, near.end};
        check_self_by(m, by, margin, &t.other);
        if (i == SOME) leave_some(&m->s, some, false, &t.other);
        assert_same_pairs(&t.other, &t.pairs);
        assert_true(t.pairs.vf_count > 0 && t.pairs.ee_count > 0 && t.pairs.ef_count > 0);
        tl_bvh_destroy(bvh);
    }
    free(some);
    close_fixture(&t);
}

static void every_query_on_any_number_of_threads(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    const int threads[4] = {1, 2, 3, 8}, n = SANITIZED ? 12 : 18;
    tl_error err;
    tl_workers *workers[4];
    for (int w = 0; w < 4; w++) assert_ok(tl_workers_create(&alloc, threads[w], &workers[w], &err));
    for (int kind = FLAT - 1; kind <= CRUMPLED; kind++) {
        shape m = kind < FLAT ? random_soup(n * n, 2 * n * n, 0.2, 5) : sheet_shape(n, kind, 3);
        move_together(&m, 0.1, 0.005, 6);
        check_queries_on_threads(&m, workers);
        free_shape(&m);
    }
    for (int w = 0; w < 4; w++) tl_workers_destroy(workers[w]);
}

int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tree_finds_all_pairs),
        cmocka_unit_test(lists_of_every_length_are_sorted),
        cmocka_unit_test(every_query_has_its_lists),
        cmocka_unit_test(two_surfaces),
        cmocka_unit_test(degenerate_surfaces),
        cmocka_unit_test(rounding_loses_nothing),
        cmocka_unit_test(same_on_any_number_of_threads),
        cmocka_unit_test(lazy_refits_stay_sound),
        cmocka_unit_test(relative_motion_finds_all_pairs),
        cmocka_unit_test(relative_motion_by_hand),
        cmocka_unit_test(relative_motion_misses_no_contact),
        cmocka_unit_test(near_pairs_are_all_found),
        cmocka_unit_test(near_at_any_size),
        cmocka_unit_test(near_pairs_with_threads_skin_and_another),
        cmocka_unit_test(some_nodes_are_as_good_as_all),
        cmocka_unit_test(lanes_are_the_same_spelled_out),
        cmocka_unit_test(every_query_on_any_number_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
