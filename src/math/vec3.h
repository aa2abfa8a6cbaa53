// math/vec3.h: arithmetic on tl_vec3 and on 3x3 matrices stored row by row.
#pragma once
#include <math.h>
#include <stdbool.h>

#include "toile/base.h"

static inline tl_vec3 tl_add3(tl_vec3 a, tl_vec3 b) { return (tl_vec3){a.x + b.x, a.y + b.y, a.z + b.z}; }
static inline tl_vec3 tl_sub3(tl_vec3 a, tl_vec3 b) { return (tl_vec3){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline tl_vec3 tl_mul3(double s, tl_vec3 a) { return (tl_vec3){s * a.x, s * a.y, s * a.z}; }
/// a + s b
static inline tl_vec3 tl_madd3(tl_vec3 a, double s, tl_vec3 b)
{
    return (tl_vec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}
static inline double tl_dot3(tl_vec3 a, tl_vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline tl_vec3 tl_cross3(tl_vec3 a, tl_vec3 b)
{
    return (tl_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline double tl_norm3(tl_vec3 a) { return sqrt(tl_dot3(a, a)); }
/// a / |a|, or `otherwise` when a is zero or not finite.
static inline tl_vec3 tl_unit3_or(tl_vec3 a, tl_vec3 otherwise)
{
    const double n = tl_norm3(a);
    return n > 0 && isfinite(n) ? tl_mul3(1 / n, a) : otherwise;
}
static inline bool tl_finite3(tl_vec3 a) { return isfinite(a.x) && isfinite(a.y) && isfinite(a.z); }

static inline tl_vec2 tl_sub2(tl_vec2 a, tl_vec2 b) { return (tl_vec2){a.x - b.x, a.y - b.y}; }
static inline tl_vec2 tl_add2(tl_vec2 a, tl_vec2 b) { return (tl_vec2){a.x + b.x, a.y + b.y}; }
static inline tl_vec2 tl_mul2(double s, tl_vec2 a) { return (tl_vec2){s * a.x, s * a.y}; }
static inline double tl_dot2(tl_vec2 a, tl_vec2 b) { return a.x * b.x + a.y * b.y; }
static inline double tl_cross2(tl_vec2 a, tl_vec2 b) { return a.x * b.y - a.y * b.x; }
static inline double tl_norm2(tl_vec2 a) { return sqrt(tl_dot2(a, a)); }
