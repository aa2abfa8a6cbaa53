// detect/ccd_fine.c: the last step of detect/ccd.c: directions in twice the precision.
//
// Features that pass each other at 1e-16 of their size look like a contact in doubles. Here the differences
// of positions are exact, and the directions, the corners along them and the limit are good to 2^-90 of the
// size.

#include "detect/ccd.h"

#include "math/double_double.h"

#define FINE_ERROR 0x1p-90
#define TINY 1e-250      // underflow of products of low parts; sizes are within TL_CCD_SMALLEST .. TL_CCD_LARGEST
#define FOOT_SLACK 1e-6  // of the length of an edge: only saves time, a contact beyond is one with a corner
#define WORTH 0x1p-40    // of the step: with this much gained, doubles can go on

enum { DIRECTIONS_MAX = 9, ROUNDS_MAX = 2 };

static inline double min2(double x, double y) { return x < y ? x : y; }
static inline double max2(double x, double y) { return x > y ? x : y; }

typedef struct fine {
    bool edges;
    double size, d;
    tl_dd3 p[2], a[2], b[2];
} fine;

// r, from an end of the edge e to a point, less its part along e; false if the foot lies beside the edge:
// then a corner is nearer.
static bool across(tl_dd3 r, tl_dd3 e, tl_dd3 *out)
{
    const tl_vec3 rough = tl_dd3_round(e);
    const double ee = tl_dot3(rough, rough), foot = tl_dot3(rough, tl_dd3_round(r));
    if (!(ee > 0) || foot < -FOOT_SLACK * ee || foot > (1 + FOOT_SLACK) * ee) return false;
    for (int pass = 0; pass < 3; pass++) r = tl_dd3_madd(r, -tl_dd3_dot(r, e).high / ee, e);  // each gains 50 bits
    *out = r;
    return true;
}

// To a size near 1, so that no product leaves the range; by a power of two, exactly.
static tl_dd3 normal_size(tl_dd3 g)
{
    const double s = max2(fabs(g.x.high), max2(fabs(g.y.high), fabs(g.z.high)));
    if (!(s > 0)) return g;
    const double f = ldexp(1, -ilogb(s));
    return (tl_dd3){{f * g.x.high, f * g.x.low}, {f * g.y.high, f * g.y.low}, {f * g.z.high, f * g.z.low}};
}

// Can the features be apart along g at t, and stay so until later than `best`? In doubles, and with their
// errors in its favour: most directions fail here.
static bool promising(const fine *m, tl_vec3 g, double norm1, double t, double best)
{
    double end[2][3];
    for (int k = 0; k < 2; k++) {
        end[k][0] = tl_dot3(g, tl_dd3_round(m->p[k]));
        end[k][1] = tl_dot3(g, tl_dd3_round(m->a[k]));
        end[k][2] = tl_dot3(g, tl_dd3_round(m->b[k]));
    }
    const double error = 0x1p-46 * norm1 * m->size;
    double p[2], high[2];
    for (int k = 0; k < 2; k++) {
        const double at = k == 0 ? t : best;
        const double pt = end[0][0] + at * (end[1][0] - end[0][0]), a = end[0][1] + at * (end[1][1] - end[0][1]),
                     b = end[0][2] + at * (end[1][2] - end[0][2]);
        p[k] = m->edges ? min2(pt, pt + b) : pt;
        high[k] = m->edges ? max2(0, a) : max2(0, max2(a, b));
    }
    return p[0] - high[0] > -error && p[1] - high[1] > -error;
}

// Like direction_step of detect/ccd.c: along g the features stay apart on [t, result).
static double step_along(const fine *m, tl_dd3 g, double t, double best)
{
    g = normal_size(g);
    const tl_vec3 rough = tl_dd3_round(g);
    const double norm1 = fabs(rough.x) + fabs(rough.y) + fabs(rough.z);
    if (!(norm1 > 0 && norm1 < 8) || !promising(m, rough, norm1, t, best)) return t;
    const double limit = 2 * (FINE_ERROR * norm1 * m->size + TINY) + m->d * tl_norm3(rough) * (1 + 0x1p-48);
    tl_dd gap[2][4];
    for (int k = 0; k < 2; k++) {
        const tl_dd p = tl_dd3_dot(g, m->p[k]), a = tl_dd3_dot(g, m->a[k]), b = tl_dd3_dot(g, m->b[k]);
        gap[k][0] = p;
        gap[k][1] = tl_dd_sub(p, a);
        gap[k][2] = m->edges ? tl_dd_add(p, b) : tl_dd_sub(p, b);
        gap[k][3] = tl_dd_sub(gap[k][2], a);
    }
    double result = 1;
    for (int k = 0; k < (m->edges ? 4 : 3); k++) {
        const tl_dd rise = tl_dd_sub(gap[1][k], gap[0][k]);
        const tl_dd exact = tl_dd_add(gap[0][k], tl_dd_scale(t, rise));
        const double now = exact.high;  // good to an ulp of itself, or to the limit
        if (!(now > limit)) return t;
        if (gap[1][k].high > limit) continue;
        if (!(rise.high < 0)) return t;
        const double gain = (now - limit) / -rise.high * (1 - 0x1p-50);
        result = min2(result, max2(t, (t + gain) * (1 - 0x1p-52)));  // the sum may have been rounded up
    }
    return result;
}

static int negate(tl_dd3 *g)
{
    const tl_dd3 zero = {{0, 0}, {0, 0}, {0, 0}};
    *g = tl_dd3_sub(zero, *g);
    return 1;
}

// The furthest that any direction leads from t. One of the connections from corner to corner and from corner
// to edge, or the normal, is that of the nearest points.
static double best_step(const fine *m, double t)
{
    const tl_dd3 p = tl_dd3_madd(m->p[0], t, tl_dd3_sub(m->p[1], m->p[0])),
                 a = tl_dd3_madd(m->a[0], t, tl_dd3_sub(m->a[1], m->a[0])),
                 b = tl_dd3_madd(m->b[0], t, tl_dd3_sub(m->b[1], m->b[0]));
    const tl_dd3 pa = tl_dd3_sub(p, a), n = tl_dd3_cross(a, b), zero = {{0, 0}, {0, 0}, {0, 0}};
    tl_dd3 g[DIRECTIONS_MAX];
    int count = 0;
    g[count++] = p;
    g[count++] = pa;
    count += across(p, a, &g[count]);
    if (m->edges) {
        const tl_dd3 pb = tl_dd3_madd(p, 1, b);
        g[count++] = pb;
        g[count++] = tl_dd3_sub(pb, a);
        count += across(pb, a, &g[count]);
        count += across(tl_dd3_sub(zero, p), b, &g[count]) ? negate(&g[count]) : 0;
        count += across(tl_dd3_sub(a, p), b, &g[count]) ? negate(&g[count]) : 0;
    } else {
        g[count++] = tl_dd3_sub(p, b);
        count += across(p, b, &g[count]);
        count += across(pa, tl_dd3_sub(b, a), &g[count]);
    }
    g[count++] = tl_dd3_dot(p, n).high < 0 ? tl_dd3_sub(zero, n) : n;
    double next = t;
    for (int k = 0; k < count && next < 1; k++) next = max2(next, step_along(m, g[k], t, next));
    return next;
}

double tl_ccd_fine(bool edges, const tl_vec3 x0[4], const tl_vec3 x1[4], double separation, double size, double t)
{
    const tl_vec3 *x[2] = {x0, x1};
    fine m = {.edges = edges, .size = size, .d = separation};
    for (int k = 0; k < 2; k++) {
        m.p[k] = edges ? tl_dd3_between(x[k][2], x[k][0]) : tl_dd3_between(x[k][0], x[k][1]);
        m.a[k] = edges ? tl_dd3_between(x[k][1], x[k][0]) : tl_dd3_between(x[k][2], x[k][1]);
        m.b[k] = edges ? tl_dd3_between(x[k][3], x[k][2]) : tl_dd3_between(x[k][3], x[k][1]);
    }
    // Down to the last bit of the time: only there do features that pass very closely open up sideways.
    for (int round = 0; round < ROUNDS_MAX; round++) {
        const double next = best_step(&m, t), gain = next - t;
        t = next;
        if (gain > WORTH || !(gain > 0x1p-51 * t)) break;
    }
    return t;
}
