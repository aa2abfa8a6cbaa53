// math/double_double.h: numbers of twice the precision, as the sum of two doubles; for the few decisions that a
// double cannot make.
//
// Dekker 1971 and Knuth's exact sum. No fused multiply-add, so the bits are the same on every machine.
// Relative errors are below 2^-100 for sums of one sign and for products; callers allow for 2^-90 of the sum
// of absolute values.
#pragma once
#include "math/vec3.h"

typedef struct tl_dd {
    double high, low;
} tl_dd;
typedef struct tl_dd3 {
    tl_dd x, y, z;
} tl_dd3;

/// a + b without error
static inline tl_dd tl_dd_sum(double a, double b)
{
    const double s = a + b, bb = s - a;
    return (tl_dd){s, (a - (s - bb)) + (b - bb)};
}

/// a b without error, short of overflow (beyond 1e300) and underflow
static inline tl_dd tl_dd_product(double a, double b)
{
    const double split = 134217729.0;  // 2^27 + 1
    const double ca = split * a, cb = split * b;
    const double a1 = ca - (ca - a), a2 = a - a1, b1 = cb - (cb - b), b2 = b - b1;
    const double p = a * b;
    return (tl_dd){p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2};
}

static inline tl_dd tl_dd_add(tl_dd a, tl_dd b)
{
    const tl_dd s = tl_dd_sum(a.high, b.high), t = tl_dd_sum(a.low, b.low);
    const tl_dd u = tl_dd_sum(s.high, s.low + t.high);
    return tl_dd_sum(u.high, u.low + t.low);
}

static inline tl_dd tl_dd_neg(tl_dd a) { return (tl_dd){-a.high, -a.low}; }
static inline tl_dd tl_dd_sub(tl_dd a, tl_dd b) { return tl_dd_add(a, tl_dd_neg(b)); }

static inline tl_dd tl_dd_mul(tl_dd a, tl_dd b)
{
    const tl_dd p = tl_dd_product(a.high, b.high);
    return tl_dd_sum(p.high, p.low + (a.high * b.low + a.low * b.high));
}

static inline tl_dd tl_dd_scale(double s, tl_dd a)
{
    const tl_dd p = tl_dd_product(s, a.high);
    return tl_dd_sum(p.high, p.low + s * a.low);
}

/// a - b of given positions, without error
static inline tl_dd3 tl_dd3_between(tl_vec3 a, tl_vec3 b)
{
    return (tl_dd3){tl_dd_sum(a.x, -b.x), tl_dd_sum(a.y, -b.y), tl_dd_sum(a.z, -b.z)};
}

static inline tl_dd3 tl_dd3_sub(tl_dd3 a, tl_dd3 b)
{
    return (tl_dd3){tl_dd_sub(a.x, b.x), tl_dd_sub(a.y, b.y), tl_dd_sub(a.z, b.z)};
}

/// a + s b
static inline tl_dd3 tl_dd3_madd(tl_dd3 a, double s, tl_dd3 b)
{
    return (tl_dd3){tl_dd_add(a.x, tl_dd_scale(s, b.x)), tl_dd_add(a.y, tl_dd_scale(s, b.y)),
                    tl_dd_add(a.z, tl_dd_scale(s, b.z))};
}

static inline tl_dd tl_dd3_dot(tl_dd3 a, tl_dd3 b)
{
    return tl_dd_add(tl_dd_add(tl_dd_mul(a.x, b.x), tl_dd_mul(a.y, b.y)), tl_dd_mul(a.z, b.z));
}

static inline tl_dd3 tl_dd3_cross(tl_dd3 a, tl_dd3 b)
{
    return (tl_dd3){tl_dd_sub(tl_dd_mul(a.y, b.z), tl_dd_mul(a.z, b.y)),
                    tl_dd_sub(tl_dd_mul(a.z, b.x), tl_dd_mul(a.x, b.z)),
                    tl_dd_sub(tl_dd_mul(a.x, b.y), tl_dd_mul(a.y, b.x))};
}

static inline tl_vec3 tl_dd3_round(tl_dd3 a) { return (tl_vec3){a.x.high, a.y.high, a.z.high}; }
