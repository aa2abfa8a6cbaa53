// physics/lanes.h: arithmetic on eight elements at a time.
//
// Every lane does the same operations as scalar code would, so the bits do not depend on the instruction set.
// LANE_CLONES compiles a function for several instruction sets and picks one at load time.
#pragma once
#include <math.h>

#include "math/simd.h"

enum { LANES = 8 };

#pragma GCC diagnostic ignored "-Wpsabi"  // vectors stay inside always_inline functions

// clang refuses vectors in the signatures of inlined functions when it makes clones; it gets the plain build.
#if defined(__clang__)
#define LANE_CLONES
#else
#define LANE_CLONES TL_CLONES
#endif

typedef tl_v8 vd;  ///< one number of eight elements

TL_INLINE vd vd_of(double s) { return (vd){s, s, s, s, s, s, s, s}; }
TL_INLINE vd vd_sqrt(vd a)
{
    vd r;
    for (int l = 0; l < LANES; l++) r[l] = sqrt(a[l]);
    return r;
}
TL_INLINE vd vd_max(vd a, vd b)
{
    vd r;
    for (int l = 0; l < LANES; l++) r[l] = a[l] > b[l] ? a[l] : b[l];
    return r;
}
TL_INLINE vd vd_abs(vd a)
{
    vd r;
    for (int l = 0; l < LANES; l++) r[l] = fabs(a[l]);
    return r;
}
TL_INLINE vd vd_dot(const vd a[3], const vd b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
TL_INLINE void vd_cross(const vd a[3], const vd b[3], vd out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}
TL_INLINE void vd_sub(const vd a[3], const vd b[3], vd out[3])
{
    for (int i = 0; i < 3; i++) out[i] = a[i] - b[i];
}

/// Rows of a 4x4 to its columns.
TL_INLINE void vd_transpose4(tl_v4 r[4])
{
    const tl_v4 a = __builtin_shufflevector(r[0], r[1], 0, 4, 2, 6),
                b = __builtin_shufflevector(r[0], r[1], 1, 5, 3, 7);
    const tl_v4 c = __builtin_shufflevector(r[2], r[3], 0, 4, 2, 6),
                d = __builtin_shufflevector(r[2], r[3], 1, 5, 3, 7);
    r[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5), r[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    r[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7), r[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

/// Angle between two vectors from s = r sin, c = r cos, any r >= 0; zero when both are. In (-pi, pi].
/// Two half-angle steps bring the tangent below 0.2, then the series of atan.
TL_INLINE double tl_angle(double s, double c)
{
    const double pi = 3.14159265358979323846;
    const double as = fabs(s), ac = fabs(c);
    const double q = as / (sqrt(s * s + c * c) + ac + 1e-300);  // tan of half the acute angle, in [0, 1]
    const double q1 = q / (1 + sqrt(1 + q * q));
    const double q2 = q1 / (1 + sqrt(1 + q1 * q1));
    const double z = q2 * q2;
    double sum = 1.0 / 25;
    sum = 1.0 / 23 - z * sum;
    sum = 1.0 / 21 - z * sum;
    sum = 1.0 / 19 - z * sum;
    sum = 1.0 / 17 - z * sum;
    sum = 1.0 / 15 - z * sum;
    sum = 1.0 / 13 - z * sum;
    sum = 1.0 / 11 - z * sum;
    sum = 1.0 / 9 - z * sum;
    sum = 1.0 / 7 - z * sum;
    sum = 1.0 / 5 - z * sum;
    sum = 1.0 / 3 - z * sum;
    sum = 1.0 - z * sum;
    const double acute = 8 * q2 * sum;
    const double a = c < 0 ? pi - acute : acute;
    return s < 0 ? -a : a;
}
