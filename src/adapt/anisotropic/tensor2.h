// adapt/anisotropic/tensor2.h: symmetric 2x2 tensors in material space, and functions of them.
//
// A function of a symmetric matrix with eigenvalues a >= b is alpha 1 + beta M, where alpha + beta a = f(a) and
// alpha + beta b = f(b): no eigenvectors, and nothing is divided by a - b unless f treats the two differently.
#pragma once
#include "math/vec3.h"

typedef struct tl_sym2 {
    double xx, xy, yy;
} tl_sym2;

static inline tl_sym2 tl_sym2_scale(double s, tl_sym2 a) { return (tl_sym2){s * a.xx, s * a.xy, s * a.yy}; }
static inline tl_sym2 tl_sym2_add(tl_sym2 a, tl_sym2 b) { return (tl_sym2){a.xx + b.xx, a.xy + b.xy, a.yy + b.yy}; }
/// a + s b
static inline tl_sym2 tl_sym2_madd(tl_sym2 a, double s, tl_sym2 b)
{
    return (tl_sym2){a.xx + s * b.xx, a.xy + s * b.xy, a.yy + s * b.yy};
}
static inline double tl_sym2_det(tl_sym2 a) { return a.xx * a.yy - a.xy * a.xy; }
/// u^T a u
static inline double tl_sym2_form(tl_sym2 a, tl_vec2 u)
{
    return a.xx * u.x * u.x + 2 * a.xy * u.x * u.y + a.yy * u.y * u.y;
}

/// Eigenvalues, the larger first.
static inline void tl_sym2_eigen(tl_sym2 a, double out[2])
{
    const double mean = 0.5 * (a.xx + a.yy), half = 0.5 * (a.xx - a.yy);
    const double radius = sqrt(half * half + a.xy * a.xy);
    out[0] = mean + radius, out[1] = mean - radius;
}

/// The tensor with the eigenvectors of `a`, whose eigenvalues are `from`, and the eigenvalues `to` instead.
static inline tl_sym2 tl_sym2_with(tl_sym2 a, const double from[2], const double to[2])
{
    const double gap = from[0] - from[1];
    const double beta = gap > 0 ? (to[0] - to[1]) / gap : 0, alpha = gap > 0 ? to[0] - beta * from[0] : to[0];
    return (tl_sym2){alpha + beta * a.xx, beta * a.xy, alpha + beta * a.yy};
}

/// Turned counter-clockwise by the angle with this cosine and sine: R a R^T.
static inline tl_sym2 tl_sym2_turn(tl_sym2 a, double c, double s)
{
    const double cc = c * c, ss = s * s, cs = c * s;
    return (tl_sym2){cc * a.xx - 2 * cs * a.xy + ss * a.yy, cs * (a.xx - a.yy) + (cc - ss) * a.xy,
                     ss * a.xx + 2 * cs * a.xy + cc * a.yy};
}

/// Positive part, eigenvalue by eigenvalue.
static inline tl_sym2 tl_sym2_positive(tl_sym2 a)
{
    double l[2];
    tl_sym2_eigen(a, l);
    if (l[1] >= 0) return a;
    if (!(l[0] > 0)) return (tl_sym2){0};
    return tl_sym2_with(a, l, (double[2]){l[0], 0});
}

/// The least tensor, in the frame that makes both diagonal, that is at least `a` and at least `b` in every direction.
/// `a` must be positive definite. With m1 >= m2 the eigenvalues of a^-1 b it is a max(1, a^-1 b) = alpha a + beta b.
static inline tl_sym2 tl_sym2_max(tl_sym2 a, tl_sym2 b)
{
    const double det = tl_sym2_det(a), half = 0.5 * (a.xx * b.yy + a.yy * b.xx - 2 * a.xy * b.xy) / det;
    // From the entries of a^-1 b, not from its determinant: good to rounding where both eigenvalues are nearly the
    // same.
    const double off = 0.5 * (a.yy * b.xx - a.xx * b.yy);
    const double under = off * off + (a.yy * b.xy - a.xy * b.yy) * (a.xx * b.xy - a.xy * b.xx);
    const double root = under > 0 ? sqrt(under) / det : 0;
    const double m1 = half + root, m2 = half - root;
    if (m1 <= 1) return a;
    if (m2 >= 1) return b;
    const double beta = (m1 - 1) / (m1 - m2);
    return tl_sym2_madd(tl_sym2_scale(m1 * (1 - beta), a), beta, b);
}
