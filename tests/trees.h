// tests/trees.h: surfaces for trees, and all pairs of them by looking at every one.
#pragma once
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "check.h"
#include "detect/bvh/bvh.h"
#include "sheets.h"

// --- surfaces ---

typedef struct shape {
    tl_surface s;
    int32_t (*face)[3];
    int32_t (*edge)[2];
    tl_vec3 *x0, *x1;
} shape;

static inline int compare_edges(const void *p, const void *q)
{
    const int32_t *a = p, *b = q;
    return a[0] != b[0] ? (a[0] > b[0]) - (a[0] < b[0]) : (a[1] > b[1]) - (a[1] < b[1]);
}

// The unique edges of the faces, by nodes.
static inline void find_edges(shape *m)
{
    free(m->edge);
    m->edge = malloc(((size_t)m->s.face_count * 3 + 1) * sizeof *m->edge);
    int32_t n = 0;
    for (int32_t f = 0; f < m->s.face_count; f++)
        for (int k = 0; k < 3; k++) {
            const int32_t a = m->face[f][k], b = m->face[f][(k + 1) % 3];
            if (a == b) continue;
            m->edge[n][0] = a < b ? a : b, m->edge[n++][1] = a < b ? b : a;
        }
    if (n > 0) qsort(m->edge, (size_t)n, sizeof *m->edge, compare_edges);
    int32_t kept = 0;
    for (int32_t i = 0; i < n; i++)
        if (kept == 0 || compare_edges(m->edge[i], m->edge[kept - 1]) != 0)
            memmove(m->edge[kept++], m->edge[i], sizeof *m->edge);
    m->s.edge_count = kept;
    m->s.face = (const int32_t(*)[3])m->face, m->s.edge = (const int32_t(*)[2])m->edge;
}

static inline shape make_shape(int32_t nodes, int32_t faces)
{
    shape m = {.s = {nodes, faces, 0, NULL, NULL}};
    m.face = calloc((size_t)faces + 1, sizeof *m.face);
    m.x0 = calloc((size_t)nodes + 1, sizeof *m.x0), m.x1 = calloc((size_t)nodes + 1, sizeof *m.x1);
    return m;
}

static inline void free_shape(shape *m)
{
    free(m->face), free(m->edge), free(m->x0), free(m->x1);
    *m = (shape){0};
}

static inline double noise(uint64_t seed, int32_t i, int k)
{
    return 2 * tl_random(seed, (uint64_t)k, (uint64_t)i) - 1;
}

// Faces anywhere: nothing but box overlap counts.
static inline shape random_soup(int32_t nodes, int32_t faces, double size, uint64_t seed)
{
    shape m = make_shape(nodes, faces);
    for (int32_t v = 0; v < nodes; v++) m.x0[v] = (tl_vec3){noise(seed, v, 0), noise(seed, v, 1), noise(seed, v, 2)};
    for (int32_t f = 0; f < faces; f++) {
        // three of the nodes, near each other if size < 1: the nearest of a few tries
        m.face[f][0] = (int32_t)(tl_random(seed, 7, (uint64_t)f) * nodes);
        for (int k = 1; k < 3; k++) {
            double best = 1e30;
            for (int t = 0; t < 1 + (int)(4 / size); t++) {
                const int32_t v = (int32_t)(tl_random(seed, 8 + (uint64_t)k, (uint64_t)(f * 64 + t)) * nodes);
                const tl_vec3 p = m.x0[v], q = m.x0[m.face[f][0]];
                const double d = hypot(hypot(p.x - q.x, p.y - q.y), p.z - q.z);
                if (d < best && v != m.face[f][0] && (k == 1 || v != m.face[f][1])) best = d, m.face[f][k] = v;
            }
        }
    }
    for (int32_t v = 0; v < nodes; v++) m.x1[v] = m.x0[v];
    find_edges(&m);
    return m;
}

enum { FLAT, FOLDED, TANGLED, CRUMPLED };

static inline shape sheet_shape(int n, int kind, uint64_t seed)
{
    sheet g = sheet_grid(1, 1, n, n, true);
    shape m = make_shape(g.node_count, g.face_count);
    memcpy(m.face, g.face, (size_t)g.face_count * sizeof *m.face);
    for (int32_t v = 0; v < g.node_count; v++) {
        const double u = g.pos[v].x, w = g.pos[v].y;
        tl_vec3 p = {u, w, 0};
        if (kind == FOLDED) p = (tl_vec3){0.15 * sin(12 * u), w, 0.1 * u + 0.02 * cos(12 * u)};
        if (kind == TANGLED) p = (tl_vec3){sin(9 * u + w), cos(7 * w - u), sin(5 * u * w)};
        if (kind == CRUMPLED)
            p = (tl_vec3){u + 0.1 * noise(seed, v, 0), w + 0.1 * noise(seed, v, 1), 0.1 * noise(seed, v, 2)};
        m.x0[v] = m.x1[v] = p;
    }
    sheet_free(&g);
    find_edges(&m);
    return m;
}

static inline void move(shape *m, double step, uint64_t seed)
{
    for (int32_t v = 0; v < m->s.node_count; v++) {
        m->x0[v] = m->x1[v];
        m->x1[v].x += step * noise(seed, v, 0), m->x1[v].y += step * noise(seed, v, 1),
            m->x1[v].z += step * noise(seed, v, 2);
    }
}

// --- all pairs ---

// What makes a pair. STILL: boxes at x0 overlap; SWEPT: boxes about x0 and x1 do; RELATIVE, NEAR: as bvh.h says.
typedef struct rule {
    enum { STILL, SWEPT, RELATIVE, NEAR } how;
    double path, end;
} rule;

// At x0 and x1, or about both of them twice.
typedef struct box {
    double lo[2][3], hi[2][3];
} box;

static inline box box_of(const shape *m, rule by, double margin, const int32_t *node, int n)
{
    box b;
    for (int s = 0; s < 2; s++)
        for (int k = 0; k < 3; k++) b.lo[s][k] = INFINITY, b.hi[s][k] = -INFINITY;
    for (int i = 0; i < n; i++)
        for (int s = 0; s < 2; s++) {
            const tl_vec3 p = s && by.how != STILL ? m->x1[node[i]] : m->x0[node[i]];
            const double c[3] = {p.x, p.y, p.z};
            for (int k = 0; k < 3; k++)
                for (int to = 0; to < 2; to++) {
                    if (to != s && by.how != SWEPT) continue;
                    b.lo[to][k] = fmin(b.lo[to][k], c[k]), b.hi[to][k] = fmax(b.hi[to][k], c[k]);
                }
        }
    for (int s = 0; s < 2; s++)
        for (int k = 0; k < 3; k++) b.lo[s][k] -= margin, b.hi[s][k] += margin;
    return b;
}

static inline bool boxes_pair(rule by, const box *p, const box *q)
{
    bool meet = true;
    double apart = 0;
    for (int k = 0; k < 3; k++) {
        if (by.how != NEAR) {
            meet = meet && (p->lo[0][k] <= q->hi[0][k] || p->lo[1][k] <= q->hi[1][k]);
            meet = meet && (q->lo[0][k] <= p->hi[0][k] || q->lo[1][k] <= p->hi[1][k]);
            continue;
        }
        meet = meet && (p->lo[0][k] - q->hi[0][k] <= by.path || p->lo[1][k] - q->hi[1][k] <= by.path);
        meet = meet && (q->lo[0][k] - p->hi[0][k] <= by.path || q->lo[1][k] - p->hi[1][k] <= by.path);
        const double gap = fmax(0, fmax(p->lo[1][k] - q->hi[1][k], q->lo[1][k] - p->hi[1][k]));
        apart += gap * gap;
    }
    return meet || (by.how == NEAR && apart <= by.end * by.end);
}

enum { NODES, EDGES, FACES };
typedef struct prims {
    int32_t count;
    box *box;
    int32_t (*node)[3];
    bool *used;
} prims;

static inline prims prims_of(const shape *m, rule by, double margin, int kind)
{
    const int32_t n = kind == NODES ? m->s.node_count : kind == EDGES ? m->s.edge_count : m->s.face_count;
    prims p = {n, malloc(((size_t)n + 1) * sizeof *p.box), malloc(((size_t)n + 1) * sizeof *p.node),
               calloc((size_t)n + 1, 1)};
    for (int32_t i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++)
            p.node[i][k] = kind == NODES ? i : kind == EDGES ? m->edge[i][k % 2] : m->face[i][k];
        p.box[i] = box_of(m, by, margin, p.node[i], 3);
        p.used[i] = kind != NODES;
    }
    for (int32_t f = 0; kind == NODES && f < m->s.face_count; f++)
        for (int k = 0; k < 3; k++) p.used[m->face[f][k]] = true;
    return p;
}

static inline void free_prims(prims *p) { free(p->box), free(p->node), free(p->used); }

static inline void check_list(const shape *a, int ka, const shape *b, int kb, rule by, double margin_a, double margin_b,
                              const tl_pair *pair, int32_t count)
{
    prims p = prims_of(a, by, margin_a, ka), q = prims_of(b, by, margin_b, kb);
    int32_t at = 0;
    for (int32_t i = 0; i < p.count; i++)
        for (int32_t j = a == b && ka == kb ? i + 1 : 0; j < q.count; j++) {
            bool meet = p.used[i] && q.used[j] && boxes_pair(by, &p.box[i], &q.box[j]);
            for (int s = 0; a == b && meet && s < 9; s++) meet = p.node[i][s / 3] != q.node[j][s % 3];
            if (!meet) continue;
            if (at >= count || pair[at].a != i || pair[at].b != j) {
                print_error("pair %d of %d: expected (%d, %d), kinds %d %d\n", at, count, i, j, ka, kb);
                if (at < count) print_error("found (%d, %d)\n", pair[at].a, pair[at].b);
                fail();
            }
            at++;
        }
    assert_int_equal(at, count);
    free_prims(&p), free_prims(&q);
}

enum { ALL = TL_PAIR_VF | TL_PAIR_EE | TL_PAIR_EF };

static inline void check_self_by(const shape *m, rule by, double margin, const tl_pairs *found)
{
    check_list(m, NODES, m, FACES, by, margin, margin, found->vf, found->vf_count);
    check_list(m, EDGES, m, EDGES, by, margin, margin, found->ee, found->ee_count);
    check_list(m, EDGES, m, FACES, by, margin, margin, found->ef, found->ef_count);
    assert_int_equal(found->fv_count, 0);
    assert_int_equal(found->fe_count, 0);
}

static inline void check_self(const shape *m, bool swept, double margin, const tl_pairs *found)
{
    check_self_by(m, (rule){.how = swept ? SWEPT : STILL}, margin, found);
}

static inline void check_between(const shape *a, const shape *b, rule by, double margin_a, double margin_b,
                                 const tl_pairs *found)
{
    check_list(a, NODES, b, FACES, by, margin_a, margin_b, found->vf, found->vf_count);
    check_list(b, NODES, a, FACES, by, margin_b, margin_a, found->fv, found->fv_count);
    check_list(a, EDGES, b, EDGES, by, margin_a, margin_b, found->ee, found->ee_count);
    check_list(a, EDGES, b, FACES, by, margin_a, margin_b, found->ef, found->ef_count);
    check_list(b, EDGES, a, FACES, by, margin_b, margin_a, found->fe, found->fe_count);
}

static inline bool same_list(const tl_pair *p, int32_t n, const tl_pair *q, int32_t m)
{
    return n == m && (n == 0 || memcmp(p, q, (size_t)n * sizeof *p) == 0);
}

static inline void assert_same_pairs(const tl_pairs *p, const tl_pairs *q)
{
    assert_true(same_list(p->vf, p->vf_count, q->vf, q->vf_count));
    assert_true(same_list(p->ee, p->ee_count, q->ee, q->ee_count));
    assert_true(same_list(p->fv, p->fv_count, q->fv, q->fv_count));
    assert_true(same_list(p->ef, p->ef_count, q->ef, q->ef_count));
    assert_true(same_list(p->fe, p->fe_count, q->fe, q->fe_count));
}

// --- queries ---

/// Pairs within `a`, or between `a` and `b`.
typedef struct question {
    const tl_bvh *a, *b;
    const tl_near *near;
} question;

static inline tl_status ask_once(question q, int what, tl_arena *arena, tl_workers *workers, tl_pairs *out,
                                 tl_error *err)
{
    if (q.near && q.b) return tl_bvh_between_near(q.a, q.b, what, *q.near, arena, workers, out, err);
    if (q.near) return tl_bvh_self_near(q.a, what, *q.near, arena, workers, out, err);
    if (q.b) return tl_bvh_between(q.a, q.b, what, arena, workers, out, err);
    return tl_bvh_self(q.a, what, arena, workers, out, err);
}

// --- a test ---

typedef struct fixture {
    tl_allocator alloc;
    tl_arena arena;
    tl_pairs pairs, other;
    tl_pairs plain;  // of ask
} fixture;

static inline void open_fixture(fixture *t)
{
    t->alloc = tl_allocator_default();
    tl_arena_init(&t->arena, t->alloc);
    tl_pairs_init(&t->pairs, t->alloc), tl_pairs_init(&t->other, t->alloc), tl_pairs_init(&t->plain, t->alloc);
}

static inline void close_fixture(fixture *t)
{
    tl_arena_free(&t->arena);
    tl_pairs_free(&t->pairs), tl_pairs_free(&t->other), tl_pairs_free(&t->plain);
}

// Asks twice, of the code for this processor and of that for any: both do the same work and give the same answer.
static inline tl_status ask(fixture *t, question q, int what, tl_workers *workers, tl_pairs *out, tl_error *err)
{
    const tl_status status = ask_once(q, what | TL_PAIR_PLAIN, &t->arena, workers, &t->plain, err);
    assert_int_equal(ask_once(q, what, &t->arena, workers, out, err), status);
    if (status != TL_OK) return status;
    assert_same_pairs(&t->plain, out);
    assert_true(t->plain.volume_tests == out->volume_tests && t->plain.face_pairs == out->face_pairs);
    return TL_OK;
}

static const int ARITIES[3] = {2, 4, 8}, LEAVES[5] = {1, 3, 8, 20, TL_BVH_MAX_LEAF};
