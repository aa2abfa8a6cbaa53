// detect/distance.h: nearest points of a vertex and a face, and of two edges, inline for hot loops.
//
// Everything is computed from differences of positions, so a pair far from the origin loses nothing. The
// squared distance is a convex quadratic in the coordinates (u, v) of the two points: its minimum is either
// the stationary point, if that lies inside, or on the boundary, where it is a point against a segment.
// Determinants come from cross products: the angle between two directions is then good to rounding, where a c
// - b b would lose it below 1e-8. Pairs that are nearly degenerate all the same (slivers, nearly parallel or
// very short edges) look at every candidate and take the nearest. Inactive corners get a weight of exactly
// zero.
#pragma once
#include "math/vec3.h"
#include "toile/collide.h"

// sin^2 of an angle below which the stationary point is only one candidate among others
#define TL_NEAREST_FLAT 1e-10

/// Where on the segment from 0 to e lies the point nearest to p? In [0, 1]; 0 if the segment is a point.
static inline double tl_nearest_on_segment(tl_vec3 p, tl_vec3 e)
{
    const double ee = tl_dot3(e, e), pe = tl_dot3(p, e);
    if (!(pe > 0) || !(ee > 0)) return 0;
    return pe < ee ? pe / ee : 1;
}

/// Weights of the corners 0, e1, e2 at the point of the triangle nearest to p: all >= 0, sum 1.
static inline void tl_nearest_on_face(tl_vec3 p, tl_vec3 e1, tl_vec3 e2, double w[3])
{
    const tl_vec3 n = tl_cross3(e1, e2);
    const double nn = tl_dot3(n, n), size = tl_dot3(e1, e1) * tl_dot3(e2, e2);
    const int flat = !(nn > TL_NEAREST_FLAT * size);
    double best = HUGE_VAL, w1 = -1, w2 = -1, w0 = -1;
    w[0] = 1, w[1] = w[2] = 0;
    if (nn > 0) {
        w1 = tl_dot3(tl_cross3(p, e2), n) / nn;
        w2 = tl_dot3(tl_cross3(e1, p), n) / nn;
        w0 = 1 - w1 - w2;
        if (w0 > 0 && w1 > 0 && w2 > 0) {
            w[0] = w0, w[1] = w1, w[2] = w2;
            if (!flat) return;
            const tl_vec3 g = tl_madd3(tl_madd3(p, -w1, e1), -w2, e2);
            best = tl_dot3(g, g);
        }
    }
    // Outside: the nearest point lies on an edge that separates p's foot from the face.
    if (flat || w2 <= 0) {
        const double s = tl_nearest_on_segment(p, e1);
        const tl_vec3 g = tl_madd3(p, -s, e1);
        const double gg = tl_dot3(g, g);
        if (!(gg >= best)) best = gg, w[0] = 1 - s, w[1] = s, w[2] = 0;
    }
    if (flat || w1 <= 0) {
        const double s = tl_nearest_on_segment(p, e2);
        const tl_vec3 g = tl_madd3(p, -s, e2);
        const double gg = tl_dot3(g, g);
        if (!(gg >= best)) best = gg, w[0] = 1 - s, w[1] = 0, w[2] = s;
    }
    if (flat || w0 <= 0) {
        const tl_vec3 q = tl_sub3(p, e1), e = tl_sub3(e2, e1);
        const double s = tl_nearest_on_segment(q, e);
        const tl_vec3 g = tl_madd3(q, -s, e);
        const double gg = tl_dot3(g, g);
        if (!(gg >= best)) w[0] = 0, w[1] = 1 - s, w[2] = s;
    }
}

/// The nearest points s e1 and r + t e2 of two segments, the first from 0 to e1, the second from r to r + e2;
/// st = {s, t} in [0, 1].
static inline void tl_nearest_on_edges(tl_vec3 r, tl_vec3 e1, tl_vec3 e2, double st[2])
{
    const tl_vec3 n = tl_cross3(e1, e2);
    const double nn = tl_dot3(n, n), aa = tl_dot3(e1, e1), bb = tl_dot3(e2, e2);
    double best = HUGE_VAL;
    st[0] = st[1] = 0;
    if (nn > 0) {
        double s = tl_dot3(tl_cross3(r, e2), n) / nn, t = tl_dot3(tl_cross3(r, e1), n) / nn;
        const int inside = s >= 0 && s <= 1 && t >= 0 && t <= 1;
        if (nn > TL_NEAREST_FLAT * aa * bb) {
            if (!inside) {
                // Clamp s, take the best t for it; if t has to be clamped too, the best s for that (a
                // strictly convex bowl).
                s = s < 0 ? 0 : s > 1 ? 1 : s;
                t = tl_dot3(tl_sub3(tl_mul3(s, e1), r), e2) / bb;
                if (!(t >= 0 && t <= 1)) {
                    t = t < 0 ? 0 : 1;
                    s = tl_nearest_on_segment(tl_madd3(r, t, e2), e1);
                }
            }
            st[0] = s, st[1] = t;
            return;
        }
        if (inside) {
            const tl_vec3 g = tl_sub3(tl_madd3(r, t, e2), tl_mul3(s, e1));
            st[0] = s, st[1] = t, best = tl_dot3(g, g);
        }
    }
    for (int end = 0; end < 2; end++) {  // ends of the second against the first
        const tl_vec3 q = end ? tl_add3(r, e2) : r;
        const double s = tl_nearest_on_segment(q, e1);
        const tl_vec3 g = tl_madd3(q, -s, e1);
        const double gg = tl_dot3(g, g);
        if (!(gg >= best)) best = gg, st[0] = s, st[1] = end;
    }
    for (int end = 0; end < 2; end++) {  // ends of the first against the second
        const tl_vec3 q = tl_sub3(end ? e1 : (tl_vec3){0, 0, 0}, r);
        const double t = tl_nearest_on_segment(q, e2);
        const tl_vec3 g = tl_madd3(q, -t, e2);
        const double gg = tl_dot3(g, g);
        if (!(gg >= best)) best = gg, st[0] = end, st[1] = t;
    }
}

/// tl_nearest_vertex_face of four points. The distance is computed from the differences, not from the
/// weighted positions.
static inline tl_nearest tl_nearest_vf(tl_vec3 v, tl_vec3 f0, tl_vec3 f1, tl_vec3 f2)
{
    const tl_vec3 p = tl_sub3(v, f0), e1 = tl_sub3(f1, f0), e2 = tl_sub3(f2, f0);
    double w[3];
    tl_nearest_on_face(p, e1, e2, w);
    const tl_vec3 g = tl_madd3(tl_madd3(p, -w[1], e1), -w[2], e2);
    return (tl_nearest){tl_norm3(g), {1, -w[0], -w[1], -w[2]}};
}

/// tl_nearest_edge_edge of four points.
static inline tl_nearest tl_nearest_ee(tl_vec3 a0, tl_vec3 a1, tl_vec3 b0, tl_vec3 b1)
{
    const tl_vec3 r = tl_sub3(b0, a0), e1 = tl_sub3(a1, a0), e2 = tl_sub3(b1, b0);
    double st[2];
    tl_nearest_on_edges(r, e1, e2, st);
    const tl_vec3 g = tl_sub3(tl_madd3(r, st[1], e2), tl_mul3(st[0], e1));
    return (tl_nearest){tl_norm3(g), {1 - st[0], st[0], st[1] - 1, -st[1]}};
}
