// tests/close_pairs.h: detectors on shapes, and all close pairs by looking at every one.
#pragma once
#include "base/arena.h"
#include "detect/close_test.h"
#include "detect/detect.h"
#include "trees.h"

typedef struct detecting {
    tl_allocator alloc;
    tl_arena arena;
    tl_detect_report report;
    tl_detect_ctx ctx;
} detecting;

static inline void open_detecting(detecting *d)
{
    *d = (detecting){.alloc = tl_allocator_default()};
    tl_arena_init(&d->arena, d->alloc);
    d->ctx = (tl_detect_ctx){&d->arena, NULL, &d->report};
}

static inline void close_detecting(detecting *d) { tl_arena_free(&d->arena); }

/// Every pair of features, one by one; `paths`: from x0 to x1.
static inline void all_close(const shape *a, const shape *b, double reach, bool paths, tl_close_list *out)
{
    tl_error err;
    const shape *o = b ? b : a;
    const close_test t = {&a->s, &o->s, a->x0, paths ? a->x1 : NULL, o->x0, paths ? o->x1 : NULL, reach};
    out->count = 0;
    for (int32_t kind = TL_CLOSE_VF; kind <= TL_CLOSE_EE; kind++) {
        if (kind == TL_CLOSE_FV && !b) continue;
        const shape *nodes = kind == TL_CLOSE_FV ? o : a, *faces = kind == TL_CLOSE_FV ? a : o;
        const int32_t n = kind == TL_CLOSE_EE ? a->s.edge_count : nodes->s.node_count,
                      m = kind == TL_CLOSE_EE ? o->s.edge_count : faces->s.face_count;
        for (int32_t i = 0; i < n; i++)
            for (int32_t j = kind == TL_CLOSE_EE && !b ? i + 1 : 0; j < m; j++) {
                int32_t node[4];
                tl_close_nodes(&a->s, &o->s, kind, i, j, node);
                if (!b && close_shares_node(node, kind)) continue;
                assert_ok(close_try(&t, kind, i, j, out, &err));
            }
    }
}

static inline void assert_same_close(const tl_close_list *a, const tl_close_list *b)
{
    assert_int_equal(a->count, b->count);
    for (int32_t i = 0; i < a->count; i++) {
        assert_int_equal(tl_close_order(&a->items[i], &b->items[i]), 0);
        assert_true(a->items[i].near.distance == b->items[i].near.distance);
    }
}

/// A torus (minor radius > 0) or an ellipsoid (minor 0) with u times v faces pairs, about `center`.
static inline shape ring_shape(double major, double minor, int u, int v, tl_vec3 center)
{
    const bool torus = minor > 0;
    shape m = make_shape(u * (torus ? v : v + 1), 2 * u * v);
    const int rows = torus ? v : v + 1;
    for (int i = 0; i < u; i++)
        for (int j = 0; j < rows; j++) {
            const double a = 6.283185307179586 * i / u,
                         b = (torus ? 6.283185307179586 : 3.141592653589793) * (torus ? j : 0.02 + 0.96 * j) / v;
            const double r = torus ? major + minor * cos(b) : major * sin(b),
                         h = torus ? minor * sin(b) : 0.6 * major * cos(b);
            m.x0[i * rows + j] = (tl_vec3){center.x + r * cos(a), center.y + h, center.z + r * sin(a)};
        }
    int32_t f = 0;
    for (int i = 0; i < u; i++)
        for (int j = 0; j < v; j++) {
            const int32_t p = i * rows + j, q = (i + 1) % u * rows + j, r = i * rows + (j + 1) % rows,
                          s = (i + 1) % u * rows + (j + 1) % rows;
            m.face[f][0] = p, m.face[f][1] = q, m.face[f++][2] = s;
            m.face[f][0] = p, m.face[f][1] = s, m.face[f++][2] = r;
        }
    for (int32_t i = 0; i < m.s.node_count; i++) m.x1[i] = m.x0[i];
    find_edges(&m);
    return m;
}
