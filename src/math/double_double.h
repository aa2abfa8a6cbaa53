// math/double_double.h: numbers of twice the precision, as the sum of two doubles; for the few decisions that a
// double cannot make.
//
// Dekker 1971 and Knuth's exact sum. No fused multiply-add, so the bits are the same on every machine.
// Relative errors are below 2^-100 for sums of one sign and for products; callers allow for 2^-90 of the sum
// of absolute values.
#pragma once
#include "math/vec3.h"

typedef struct tl_twice {
    double high, low;
} tl_twice;
typedef struct tl_twice3 {
    tl_twice x, y, z;
} tl_twice3;

/// a + b without error
static inline tl_twice tl_twice_sum(double a, double b)
{
    const double s = a + b, bb = s - a;
    return (tl_twice){s, (a - (s - bb)) + (b - bb)};
}

/// a b without error, short of overflow (beyond 1e300) and underflow
static inline tl_twice tl_twice_product(double a, double b)
{
    const double split = 134217729.0;  // 2^27 + 1
    const double ca = split * a, cb = split * b;
    const double a1 = ca - (ca - a), a2 = a - a1, b1 = cb - (cb - b), b2 = b - b1;
    const double p = a * b;
    return (tl_twice){p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2};
}

static inline tl_twice tl_twice_add(tl_twice a, tl_twice b)
{
    const tl_twice s = tl_twice_sum(a.high, b.high), t = tl_twice_sum(a.low, b.low);
    const tl_twice u = tl_twice_sum(s.high, s.low + t.high);
    return tl_twice_sum(u.high, u.low + t.low);
}

static inline tl_twice tl_twice_neg(tl_twice a) { return (tl_twice){-a.high, -a.low}; }
static inline tl_twice tl_twice_sub(tl_twice a, tl_twice b) { return tl_twice_add(a, tl_twice_neg(b)); }

static inline tl_twice tl_twice_mul(tl_twice a, tl_twice b)
{
    const tl_twice p = tl_twice_product(a.high, b.high);
    return tl_twice_sum(p.high, p.low + (a.high * b.low + a.low * b.high));
}

static inline tl_twice tl_twice_scale(double s, tl_twice a)
{
    const tl_twice p = tl_twice_product(s, a.high);
    return tl_twice_sum(p.high, p.low + s * a.low);
}

/// a - b of given positions, without error
static inline tl_twice3 tl_twice3_between(tl_vec3 a, tl_vec3 b)
{
    return (tl_twice3){tl_twice_sum(a.x, -b.x), tl_twice_sum(a.y, -b.y), tl_twice_sum(a.z, -b.z)};
}

static inline tl_twice3 tl_twice3_sub(tl_twice3 a, tl_twice3 b)
{
    return (tl_twice3){tl_twice_sub(a.x, b.x), tl_twice_sub(a.y, b.y), tl_twice_sub(a.z, b.z)};
}

/// a + s b
static inline tl_twice3 tl_twice3_madd(tl_twice3 a, double s, tl_twice3 b)
{
    return (tl_twice3){tl_twice_add(a.x, tl_twice_scale(s, b.x)), tl_twice_add(a.y, tl_twice_scale(s, b.y)),
                       tl_twice_add(a.z, tl_twice_scale(s, b.z))};
}

static inline tl_twice tl_twice3_dot(tl_twice3 a, tl_twice3 b)
{
    return tl_twice_add(tl_twice_add(tl_twice_mul(a.x, b.x), tl_twice_mul(a.y, b.y)), tl_twice_mul(a.z, b.z));
}

static inline tl_twice3 tl_twice3_cross(tl_twice3 a, tl_twice3 b)
{
    return (tl_twice3){tl_twice_sub(tl_twice_mul(a.y, b.z), tl_twice_mul(a.z, b.y)),
                       tl_twice_sub(tl_twice_mul(a.z, b.x), tl_twice_mul(a.x, b.z)),
                       tl_twice_sub(tl_twice_mul(a.x, b.y), tl_twice_mul(a.y, b.x))};
}

static inline tl_vec3 tl_twice3_round(tl_twice3 a) { return (tl_vec3){a.x.high, a.y.high, a.z.high}; }
