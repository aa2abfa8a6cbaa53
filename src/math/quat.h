// math/quat.h: rotations as unit quaternions x, y, z, w.
#pragma once
#include "math/elementary.h"
#include "math/vec3.h"

typedef struct tl_quat {
    double x, y, z, w;
} tl_quat;

static inline tl_quat tl_quat_identity(void) { return (tl_quat){0, 0, 0, 1}; }
static inline tl_quat tl_quat_conjugate(tl_quat q) { return (tl_quat){-q.x, -q.y, -q.z, q.w}; }
static inline double tl_quat_dot(tl_quat a, tl_quat b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }

/// First b, then a.
static inline tl_quat tl_quat_mul(tl_quat a, tl_quat b)
{
    return (tl_quat){a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                     a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
}

/// q / |q|; no rotation when q is zero or not finite.
static inline tl_quat tl_quat_unit(tl_quat q)
{
    const double n = sqrt(tl_quat_dot(q, q));
    if (!(n > 0) || !isfinite(n)) return tl_quat_identity();
    return (tl_quat){q.x / n, q.y / n, q.z / n, q.w / n};
}

static inline tl_vec3 tl_quat_rotate(tl_quat q, tl_vec3 a)
{
    const tl_vec3 u = {q.x, q.y, q.z}, t = tl_mul3(2, tl_cross3(u, a));
    return tl_add3(tl_madd3(a, q.w, t), tl_cross3(u, t));
}

/// About an axis of unit length by an angle [rad].
static inline tl_quat tl_quat_turn(tl_vec3 axis, double angle)
{
    const double s = tl_sin(angle / 2);
    return (tl_quat){s * axis.x, s * axis.y, s * axis.z, tl_cos(angle / 2)};
}

/// The shortest rotation that takes the direction a to the direction b.
static inline tl_quat tl_quat_between(tl_vec3 a, tl_vec3 b)
{
    const tl_vec3 u = tl_unit3_or(a, (tl_vec3){0, 1, 0}), v = tl_unit3_or(b, (tl_vec3){0, 1, 0});
    const double c = tl_dot3(u, v);
    if (c < -1 + 1e-12) {  // opposite: about any axis across
        const tl_vec3 other = fabs(u.x) < 0.6 ? (tl_vec3){1, 0, 0} : (tl_vec3){0, 0, 1};
        const tl_vec3 across = tl_unit3_or(tl_cross3(u, other), other);
        return (tl_quat){across.x, across.y, across.z, 0};
    }
    const tl_vec3 n = tl_cross3(u, v);
    return tl_quat_unit((tl_quat){n.x, n.y, n.z, 1 + c});
}

/// Along the shorter arc at constant speed; linear where the arc is too short for its sine.
static inline tl_quat tl_quat_slerp(tl_quat a, tl_quat b, double s)
{
    double c = tl_quat_dot(a, b);
    if (c < 0) b = (tl_quat){-b.x, -b.y, -b.z, -b.w}, c = -c;
    double wa = 1 - s, wb = s;
    if (c < 1 - 1e-10) {
        const double angle = tl_acos(c), across = tl_sin(angle);
        wa = tl_sin((1 - s) * angle) / across, wb = tl_sin(s * angle) / across;
    }
    return tl_quat_unit((tl_quat){wa * a.x + wb * b.x, wa * a.y + wb * b.y, wa * a.z + wb * b.z, wa * a.w + wb * b.w});
}
