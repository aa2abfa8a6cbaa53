// math/elementary.c: Taylor series on reduced arguments.
//
// Reduction keeps what rounding takes away: constants are cut into parts so short that their products with the counter
// are exact, the rest follows as a correction. Series are evaluated by Horner's rule and end where the next term is
// below 2^-57 of the result.

#include "math/elementary.h"

#include <math.h>
#include <stdbool.h>

#define PI 3.14159265358979323846
#define PI_REST 1.2246467991473532e-16  // pi - PI

// pi / 2 and log 2 in parts: the first ones have 33 bits
#define HALF_PI_1 0x1.921fb544p+0
#define HALF_PI_2 0x1.0b4611a6p-34
#define HALF_PI_3 0x1.3198a2e037073p-69
#define LN2_1 0x1.62e42feep-1
#define LN2_2 0x1.a39ef35793c76p-33
#define LN2 0x1.62e42fefa39efp-1

// --- sine and cosine -------------------------------------------------------------------------------------

typedef struct quarter {
    double r, rest;  // angle - turns * pi / 2, |r| <= pi / 4 and a little
    int turns;       // modulo 4
} quarter;

static quarter reduce(double x)
{
    if (fabs(x) > 1e6) x = fmod(x, 2 * PI);
    const double k = rint(x * (2 / PI));
    const double a = x - k * HALF_PI_1, b = k * HALF_PI_2;  // both exact: k has 20 bits
    const double r = a - b, lost = (a - r) - b, c = k * HALF_PI_3 - lost;
    quarter q = {.r = r - c, .turns = (int)k & 3};
    q.rest = (r - q.r) - c;
    return q;
}

static double sine_near(quarter q)
{
    const double z = q.r * q.r;
    const double s =
        z * (-1.0 / 6 +
             z * (1.0 / 120 +
                  z * (-1.0 / 5040 + z * (1.0 / 362880 + z * (-1.0 / 39916800 +
                                                              z * (1.0 / 6227020800 + z * (-1.0 / 1307674368000)))))));
    return q.r + (q.r * s + q.rest * (1 - 0.5 * z));
}

static double cosine_near(quarter q)
{
    const double z = q.r * q.r, half = 0.5 * z, w = 1 - half;
    const double s =
        z * z *
        (1.0 / 24 + z * (-1.0 / 720 +
                         z * (1.0 / 40320 + z * (-1.0 / 3628800 + z * (1.0 / 479001600 + z * (-1.0 / 87178291200 +
                                                                                              z / 20922789888000))))));
    return w + (((1 - w) - half) + (s - q.r * q.rest));
}

double tl_sin(double x)
{
    if (!isfinite(x)) return NAN;
    if (x == 0) return x;
    const quarter q = reduce(x);
    const double y = q.turns & 1 ? cosine_near(q) : sine_near(q);
    return q.turns & 2 ? -y : y;
}

double tl_cos(double x)
{
    if (!isfinite(x)) return NAN;
    const quarter q = reduce(x);
    const double y = q.turns & 1 ? sine_near(q) : cosine_near(q);
    return (q.turns + 1) & 2 ? -y : y;
}

// --- arcs ------------------------------------------------------------------------------------------------

// atan(i / 8) and what its rounding left
static const double arc[9][2] = {
    {0, 0},
    {0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59},
    {0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
    {0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56},
    {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
    {0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58},
    {0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},
    {0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56},
    {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55},
};

typedef struct part {
    double high, low;
} part;

// atan t for t in [0, 1]: atan c + atan((t - c) / (1 + t c)) with c the nearest eighth.
static part arc_of(double t)
{
    const int i = (int)rint(8 * t);
    const double c = i / 8.0, d = (t - c) / (1 + t * c), z = d * d;
    const double s = z * (-1.0 / 3 + z * (1.0 / 5 + z * (-1.0 / 7 + z * (1.0 / 9 + z * (-1.0 / 11 + z / 13)))));
    return (part){arc[i][0], arc[i][1] + (d + d * s)};
}

double tl_atan2(double y, double x)
{
    if (isnan(x) || isnan(y)) return NAN;
    const double ax = fabs(x), ay = fabs(y);
    double t = 0;
    if (isinf(ax) || isinf(ay))
        t = ax == ay ? 1 : 0;
    else if (ax > 0 || ay > 0)
        t = ax > ay ? ay / ax : ax / ay;
    const part p = arc_of(t);
    double angle;
    const bool behind = signbit(x);
    if (ay > ax)  // pi / 2 -+ the angle from the y axis
        angle = behind ? PI / 2 + (p.high + (PI_REST / 2 + p.low)) : PI / 2 - (p.high - (PI_REST / 2 - p.low));
    else
        angle = behind ? PI - (p.high - (PI_REST - p.low)) : p.high + p.low;
    return copysign(angle, y);
}

double tl_atan(double x) { return tl_atan2(x, 1); }

double tl_acos(double x)
{
    if (!(fabs(x) <= 1)) return NAN;
    return 2 * tl_atan2(sqrt(1 - x), sqrt(1 + x));
}

// --- logarithms and powers -------------------------------------------------------------------------------

// log(1 + f) = 2 artanh(s), s = f / (2 + f), for 1 + f between sqrt(1/2) and sqrt(2); 2 s = f - s f
static double log_near(double f)
{
    const double s = f / (2 + f), z = s * s;
    const double series =
        z * (2.0 / 3 +
             z * (2.0 / 5 +
                  z * (2.0 / 7 +
                       z * (2.0 / 9 +
                            z * (2.0 / 11 +
                                 z * (2.0 / 13 + z * (2.0 / 15 + z * (2.0 / 17 + z * (2.0 / 19 + z * 2.0 / 21)))))))));
    return f - s * (f - series);
}

// x = m 2^e with m between sqrt(1/2) and sqrt(2)
static double split(double x, int *e)
{
    double m = frexp(x, e);
    if (m < 0.70710678118654752440) m *= 2, --*e;
    return m;
}

double tl_ln(double x)
{
    if (!(x > 0)) return x == 0 ? -INFINITY : NAN;
    if (isinf(x)) return x;
    int e;
    const double m = split(x, &e);
    return e * LN2_1 + (log_near(m - 1) + e * LN2_2);
}

double tl_log2(double x)
{
    if (!(x > 0)) return x == 0 ? -INFINITY : NAN;
    if (isinf(x)) return x;
    int e;
    const double m = split(x, &e);
    return e + log_near(m - 1) / LN2;
}

double tl_exp2(double x)
{
    if (isnan(x)) return x;
    if (x > 1100) return INFINITY;
    if (x < -1100) return 0;
    const double k = rint(x), f = (x - k) * LN2;
    double s = 0;
    for (int i = 14; i >= 1; i--) s = (s + 1) * f / i;  // f + f^2 / 2 + .. + f^14 / 14!
    return ldexp(1 + s, (int)k);
}

double tl_hypot(double x, double y) { return sqrt(x * x + y * y); }
