// detect/ccd.c: do two features that move straight touch within a step, and when first? See docs/ccd.md.
//
// Everything runs on differences p, a, b of positions, linear in t. A vertex and a face have p = v - f0,
// a = f1 - f0, b = f2 - f0; two edges have p = b0 - a0, a = a1 - a0, b = b1 - b0. We walk along t from 0, and
// go on only over intervals that are proved free of contact, by one of two proofs:
//
// - cubic: f(t) = p (a x b) has no root there, since its Bernstein coefficients on the interval have one sign:
//   the four points are never coplanar. With a separation d they have to exceed d |a x b|, for
//   |f| / |a x b| is the distance to the plane, or between the lines.
// - direction: along a fixed direction g all of one feature lies beyond all of the other at both ends of the
//   interval; what is linear in t then stays so in between.
//
// Each proof allows for its rounding errors, so the walk cannot step over a contact: where it stops is never
// late. A hit is where neither proof gets any further. Both steps converge like Newton's method at a simple
// contact.
//
// u = 2^-53. A rounded difference is off by u of itself. Bounds below are counted in multiples of u times the
// largest components mp, ma, mb, and taken half as large again as the count, or more.

#include "detect/ccd.h"

#include "detect/distance.h"

#define ROUND 0x1p-53
// f, at most 6 mp ma mb: products of differences, dot product and mean 72 u; three levels of interpolation
// 90 u more; and 54 u for a time that is rounded up, where f may fall by 36 mp ma mb per unit
#define CUBIC_ERROR (320 * ROUND)
// g p + g b - g a: dot products 4 u, sums 2 u, interpolation 6 u, the time itself 6 u: 18 u on
// |g|_1 (mp + ma + mb)
#define DIRECTION_ERROR (32 * ROUND)
// What underflow may lose, far below anything else: sizes are kept within TL_CCD_SMALLEST .. TL_CCD_LARGEST
#define TINY 1e-280

enum {
    STEPS_MAX = 400,  // of the walk; then the time reached so far is the answer: early, never late
    CLIPS_MAX = 40,   // of one cubic step
    NEWTONS_MAX = 12,
    FINE_MAX = 2,  // looks in twice the precision; they are slow
};
#define STALL 0x1p-48  // of the whole step: smaller progress is none

typedef struct moving {
    tl_vec3 p[2], a[2], b[2];  // at the begin and the end
    double mp, ma, mb, size;   // largest components; size = mp + ma + mb
    double d;                  // separation asked for
    double c[4];               // Bernstein coefficients of f on [0, 1]
    tl_vec3 n[3];              // and of a x b
    double error;              // of f - d |a x b|
    const tl_vec3 *x0, *x1;    // the positions themselves; NULL if these are not in the unit of the rest
} moving;

static inline tl_vec3 lerp3(tl_vec3 x, tl_vec3 y, double t) { return tl_madd3(x, t, tl_sub3(y, x)); }
static inline double lerp(double x, double y, double t) { return x + t * (y - x); }
static inline double min2(double x, double y) { return x < y ? x : y; }
static inline double max2(double x, double y) { return x > y ? x : y; }
// |v| or a little more: where squares would underflow, the sum of components
static inline double norm_above(tl_vec3 v)
{
    const double sum = fabs(v.x) + fabs(v.y) + fabs(v.z);
    return sum > 1e-140 ? tl_norm3(v) : sum;
}
static inline double largest(tl_vec3 x, tl_vec3 y)
{
    return max2(max2(max2(fabs(x.x), fabs(y.x)), max2(fabs(x.y), fabs(y.y))), max2(fabs(x.z), fabs(y.z)));
}

// --- swept boxes ------------------------------------------------------------------------------------------

// Signed gap along one axis at one end: > 0 if the first feature lies wholly above the second, or the other
// way round.
static inline double gap_above(bool edges, double p, double a, double b)
{
    return edges ? min2(p, p + b) - max2(0, a) : p - max2(0, max2(a, b));
}
static inline double gap_below(bool edges, double p, double a, double b)
{
    return edges ? min2(0, a) - max2(p, p + b) : min2(0, min2(a, b)) - p;
}

static inline bool boxes_apart(bool edges, const moving *m)
{
    const double limit = m->d + DIRECTION_ERROR * (m->size + m->d);
#define AXIS(c)                                                                                                        \
    (min2(gap_above(edges, m->p[0].c, m->a[0].c, m->b[0].c), gap_above(edges, m->p[1].c, m->a[1].c, m->b[1].c)) >      \
         limit ||                                                                                                      \
     min2(gap_below(edges, m->p[0].c, m->a[0].c, m->b[0].c), gap_below(edges, m->p[1].c, m->a[1].c, m->b[1].c)) >      \
         limit)
    return AXIS(x) || AXIS(y) || AXIS(z);
#undef AXIS
}

// --- the cubic --------------------------------------------------------------------------------------------

static inline void cubic_init(moving *m)
{
    m->n[0] = tl_cross3(m->a[0], m->b[0]);
    m->n[2] = tl_cross3(m->a[1], m->b[1]);
    m->n[1] = tl_mul3(0.5, tl_add3(tl_cross3(m->a[0], m->b[1]), tl_cross3(m->a[1], m->b[0])));
    m->c[0] = tl_dot3(m->p[0], m->n[0]);
    m->c[1] = (tl_dot3(m->p[1], m->n[0]) + 2 * tl_dot3(m->p[0], m->n[1])) / 3;
    m->c[2] = (tl_dot3(m->p[0], m->n[2]) + 2 * tl_dot3(m->p[1], m->n[1])) / 3;
    m->c[3] = tl_dot3(m->p[1], m->n[2]);
    m->error = CUBIC_ERROR * ((m->mp + m->d) * m->ma * m->mb) + TINY;
}

static inline double cubic_at(const moving *m, double t)
{
    const double *c = m->c;
    const double a0 = lerp(c[0], c[1], t), a1 = lerp(c[1], c[2], t), a2 = lerp(c[2], c[3], t);
    return lerp(lerp(a0, a1, t), lerp(a1, a2, t), t);
}

// Lower bounds q of the Bernstein coefficients of sign f - d |a x b| on [ta, tb] (blossoms: f(ta, ta, ta),
// f(ta, ta, tb), ...).
static inline void cubic_between(const moving *m, double sign, double ta, double tb, double q[4])
{
    const double *c = m->c;
    const double a0 = lerp(c[0], c[1], ta), a1 = lerp(c[1], c[2], ta), a2 = lerp(c[2], c[3], ta);
    const double aa0 = lerp(a0, a1, ta), aa1 = lerp(a1, a2, ta);
    const double ab0 = lerp(a0, a1, tb), ab1 = lerp(a1, a2, tb);
    const double b0 = lerp(c[0], c[1], tb), b1 = lerp(c[1], c[2], tb), b2 = lerp(c[2], c[3], tb);
    q[0] = sign * lerp(aa0, aa1, ta) - m->error;
    q[1] = sign * lerp(aa0, aa1, tb) - m->error;
    q[2] = sign * lerp(ab0, ab1, tb) - m->error;
    q[3] = sign * lerp(lerp(b0, b1, tb), lerp(b1, b2, tb), tb) - m->error;
    if (m->d > 0) {  // |a x b| is at most the same combination of the norms of its coefficients
        const tl_vec3 na0 = lerp3(m->n[0], m->n[1], ta), na1 = lerp3(m->n[1], m->n[2], ta);
        const tl_vec3 nb0 = lerp3(m->n[0], m->n[1], tb), nb1 = lerp3(m->n[1], m->n[2], tb);
        const double n0 = m->d * norm_above(lerp3(na0, na1, ta)), n1 = m->d * norm_above(lerp3(na0, na1, tb)),
                     n2 = m->d * norm_above(lerp3(nb0, nb1, tb));
        q[0] -= n0;
        q[1] -= (n0 + 2 * n1) / 3;
        q[2] -= (2 * n1 + n2) / 3;
        q[3] -= n2;
    }
}

// Where the convex hull of the points (i / 3, q[i]), q[0] > 0, first meets zero: no root lies before. 1 or
// more: nowhere.
static inline double hull_root(const double q[4])
{
    double first = 2;
    for (int i = 1; i < 4; i++) {
        if (q[i] > 0) continue;
        for (int j = 0; j < i; j++)
            if (q[j] > 0) first = min2(first, (j + (i - j) * (q[j] / (q[j] - q[i]))) / 3);
    }
    return first;
}

// A root in (0, 1) of the cubic with these Bernstein coefficients, q[0] > 0, less a margin of `error` in its
// value: by Newton's method from where the control polygon first falls below zero. Nothing is proved here;
// negative if it comes to nothing.
static inline double guess_root(const double q[4], double error)
{
    const int i = q[1] > 0 ? q[2] > 0 ? 3 : 2 : 1;
    double s = (i - 1 + q[i - 1] / (q[i - 1] - q[i])) * (1.0 / 3);
    const double k1 = 3 * (q[1] - q[0]), k2 = 3 * (q[2] - 2 * q[1] + q[0]), k3 = q[3] - q[0] + 3 * (q[1] - q[2]);
    for (int newton = 0; newton < NEWTONS_MAX; newton++) {
        const double f = q[0] + s * (k1 + s * (k2 + s * k3)), slope = k1 + s * (2 * k2 + s * (3 * k3));
        if (!(slope < 0)) return -1;
        const double step = f / slope;
        s -= step;
        if (!(s > 0 && s < 1)) return -1;
        if (fabs(step) * -slope < 0.25 * error || fabs(step) < 4 * ROUND) return s + error / slope - 4 * ROUND;
    }
    return -1;
}

// The cubic proves [ta, result) free. A guess of the root that can be proved right is most often the end.
// Otherwise clips at the hull move ta; tb is put beyond Newton's guess of what is left, so that the hull is
// that of a nearly straight piece and the clips converge quadratically.
static double cubic_step(const moving *m, double ta)
{
    double q[4], tb = 1;
    const double sign = cubic_at(m, ta) < 0 ? -1 : 1;
    cubic_between(m, sign, ta, 1, q);
    if (!(q[0] > 0)) return ta;
    if (q[1] > 0 && q[2] > 0 && q[3] > 0) return 1;
    const double guess = guess_root(q, m->error);
    if (guess > 0) {
        double g[4];
        const double to = ta + guess * (1 - ta);
        cubic_between(m, sign, ta, to, g);
        if (g[0] > 0 && g[1] > 0 && g[2] > 0 && g[3] > 0) {
            ta = to;
            if (g[3] <= 4 * m->error) return ta;
            cubic_between(m, sign, ta, 1, q);
            if (!(q[0] > 0)) return ta;
        }
    }
    for (int clip = 0; clip < CLIPS_MAX; clip++) {
        const double root = hull_root(q);
        if (root > 1) {
            if (tb >= 1) return 1;
            ta = tb, tb = 1;
            cubic_between(m, sign, ta, tb, q);
            if (!(q[0] > 0)) return ta;  // rounding: the neighbour interval saw a little more
            continue;
        }
        const double width = tb - ta, shift = root * width * (1 - 8 * ROUND);
        // What is left to the root after the shift, by the tangent at the old ta; slope: downhill, per width.
        const double slope = 3 * (q[0] - q[1]), left = slope > 0 ? (q[0] / slope) * width - shift : 1;
        ta += shift;
        if (ta >= 1) return 1;
        tb = min2(1, ta + 2 * max2(max2(left, shift), 16 * ROUND));
        cubic_between(m, sign, ta, tb, q);
        if (!(q[0] > m->error) || shift < 4 * ROUND) return ta;
    }
    return ta;
}

// --- directions -------------------------------------------------------------------------------------------

// Along g the features stay apart on [ta, result).
static inline double direction_step(bool edges, const moving *m, tl_vec3 g, double ta)
{
    const double norm1 = fabs(g.x) + fabs(g.y) + fabs(g.z);
    double limit = DIRECTION_ERROR * norm1 * m->size + TINY;
    if (m->d > 0) limit += m->d * norm_above(g) * (1 + 16 * ROUND);
    const double p0 = tl_dot3(g, m->p[0]), a0 = tl_dot3(g, m->a[0]), b0 = tl_dot3(g, m->b[0]);
    const double p1 = tl_dot3(g, m->p[1]), a1 = tl_dot3(g, m->a[1]), b1 = tl_dot3(g, m->b[1]);
    const double begin[4] = {p0, p0 - a0, edges ? p0 + b0 : p0 - b0, p0 + b0 - a0};
    const double end[4] = {p1, p1 - a1, edges ? p1 + b1 : p1 - b1, p1 + b1 - a1};
    double t = 1;
    for (int k = 0; k < (edges ? 4 : 3); k++) {
        const double now = lerp(begin[k], end[k], ta);
        if (!(now > limit)) return ta;
        if (end[k] > limit) continue;
        const double fall = begin[k] - end[k];
        if (!(fall > 0)) return ta;
        t = min2(t, ta + (now - limit) / fall * (1 - 4 * ROUND));
    }
    return t;
}

// g without its part along e
static inline tl_vec3 across(tl_vec3 g, tl_vec3 e)
{
    const double ee = tl_dot3(e, e);
    if (!(ee > 0)) return g;
    g = tl_madd3(g, -tl_dot3(g, e) / ee, e);
    return tl_madd3(g, -tl_dot3(g, e) / ee, e);
}

// A direction that keeps the features apart at time t, if there is one: the connection of the nearest points,
// made exactly normal to the edge or face that it ends on. Without that, rounding tilts a short connection
// and corners reach across. *sure: a plain contact of face and inside, or of the insides of two edges, as
// near as the cubic can tell.
static inline tl_vec3 direction_at(bool edges, const moving *m, double t, bool *sure)
{
    const tl_vec3 p = lerp3(m->p[0], m->p[1], t), a = lerp3(m->a[0], m->a[1], t), b = lerp3(m->b[0], m->b[1], t);
    tl_vec3 g;
    bool inside;
    *sure = false;
    if (edges) {
        double st[2];
        tl_nearest_on_edges(p, a, b, st);
        g = tl_sub3(tl_madd3(p, st[1], b), tl_mul3(st[0], a));
        const bool in_a = st[0] > 0 && st[0] < 1;
        const bool in_b = st[1] > 0 && st[1] < 1;
        inside = in_a && in_b;
        if (in_a && !in_b) g = across(g, a);
        if (in_b && !in_a) g = across(g, b);
    } else {
        double w[3];
        tl_nearest_on_face(p, a, b, w);
        g = tl_madd3(tl_madd3(p, -w[1], a), -w[2], b);
        inside = w[0] > 0 && w[1] > 0 && w[2] > 0;
        if (!inside) {
            if (w[0] > 0 && w[1] > 0) g = across(g, a);
            if (w[0] > 0 && w[2] > 0) g = across(g, b);
            if (w[1] > 0 && w[2] > 0) g = across(g, tl_sub3(b, a));
        }
    }
    if (inside) {
        const tl_vec3 n = tl_cross3(a, b);
        const double nn = tl_dot3(n, n), flat = 1e-6 * tl_dot3(a, a) * tl_dot3(b, b);
        if (nn > flat) {
            const double gn = tl_dot3(p, n);
            *sure = fabs(gn) - m->d * sqrt(nn) <= 8 * m->error;
            g = gn < 0 ? tl_mul3(-1, n) : n;
        }
    }
    return g;
}

// The last resort where g leads nowhere. Nearest points next to a corner are told apart by the square of what
// the direction depends on, so rounding may pick the wrong kind of contact; try the others, and the normal.
static double other_directions(bool edges, const moving *m, tl_vec3 g, double t)
{
    const tl_vec3 p = lerp3(m->p[0], m->p[1], t), a = lerp3(m->a[0], m->a[1], t), b = lerp3(m->b[0], m->b[1], t);
    const tl_vec3 n = tl_cross3(a, b), c = tl_sub3(b, a);
    const tl_vec3 tries[4] = {across(g, a), across(g, b), tl_dot3(p, n) < 0 ? tl_mul3(-1, n) : n, across(g, c)};
    double next = t;
    for (int k = 0; k < (edges ? 3 : 4); k++) next = max2(next, direction_step(edges, m, tries[k], t));
    return next;
}

// --- the walk ---------------------------------------------------------------------------------------------

static inline bool walk(bool edges, moving *m, double *time)
{
    *time = 1;
    if (boxes_apart(edges, m)) return false;
    cubic_init(m);
    double t = 0;
    int fine_count = 0;
    for (int step = 0; step < STEPS_MAX; step++) {
        t = cubic_step(m, t);
        if (t >= 1) return false;
        bool sure;
        const tl_vec3 g = direction_at(edges, m, t, &sure);
        if (sure) break;
        double next = direction_step(edges, m, g, t);
        if (!(next - t > STALL)) next = other_directions(edges, m, g, t);
        if (!(next - t > STALL) && m->x0 && fine_count++ < FINE_MAX)
            next = tl_ccd_fine(edges, m->x0, m->x1, m->d, m->size, t);
        if (next >= 1) return false;
        const bool stalled = !(next - t > STALL);
        t = max2(t, next);
        if (stalled) break;
    }
    *time = t;
    return true;
}

static inline void differences(bool edges, const tl_vec3 x0[4], const tl_vec3 x1[4], double separation, moving *m)
{
    const tl_vec3 *x[2] = {x0, x1};
    for (int k = 0; k < 2; k++) {
        if (edges) {
            m->p[k] = tl_sub3(x[k][2], x[k][0]);
            m->a[k] = tl_sub3(x[k][1], x[k][0]);
            m->b[k] = tl_sub3(x[k][3], x[k][2]);
        } else {
            m->p[k] = tl_sub3(x[k][0], x[k][1]);
            m->a[k] = tl_sub3(x[k][2], x[k][1]);
            m->b[k] = tl_sub3(x[k][3], x[k][1]);
        }
    }
    m->mp = largest(m->p[0], m->p[1]);
    m->ma = largest(m->a[0], m->a[1]);
    m->mb = largest(m->b[0], m->b[1]);
    m->size = m->mp + m->ma + m->mb;
    m->d = separation > 0 ? separation : 0;
    m->x0 = x0, m->x1 = x1;
}

// Not a number if one of the differences is none (comparisons would overlook it); else 0, or not a number for
// infinity.
static inline double nan_check(const moving *m)
{
    const tl_vec3 sum =
        tl_add3(tl_add3(tl_add3(m->p[0], m->p[1]), tl_add3(m->a[0], m->a[1])), tl_add3(m->b[0], m->b[1]));
    return (sum.x + sum.y + sum.z) * 0;
}

static tl_vec3 scale3(tl_vec3 x, int power)
{
    return (tl_vec3){ldexp(x.x, power), ldexp(x.y, power), ldexp(x.z, power)};
}

// Sizes at which products would leave the range of a double: measure in another unit, a power of two.
static bool ccd_rescaled(bool edges, const tl_vec3 x0[4], const tl_vec3 x1[4], double separation, double *time)
{
    const int shrink = -8;  // so that no difference of numbers overflows
    tl_vec3 y[2][4];
    *time = 0;
    for (int k = 0; k < 4; k++) {
        if (!tl_finite3(x0[k]) || !tl_finite3(x1[k])) return true;  // who knows
        y[0][k] = scale3(x0[k], shrink), y[1][k] = scale3(x1[k], shrink);
    }
    moving m;
    int power = 0;
    differences(edges, x0, x1, separation, &m);
    if (!isfinite(m.size)) {
        differences(edges, y[0], y[1], ldexp(separation, shrink), &m);
        power = shrink;
    }
    if (m.size == 0 || m.d > 4 * m.size) return true;  // in contact from the start: |p| <= 2 mp
    const int more = -ilogb(m.size);
    for (int k = 0; k < 2; k++)
        m.p[k] = scale3(m.p[k], more), m.a[k] = scale3(m.a[k], more), m.b[k] = scale3(m.b[k], more);
    m.mp = ldexp(m.mp, more), m.ma = ldexp(m.ma, more), m.mb = ldexp(m.mb, more), m.size = ldexp(m.size, more);
    m.d = ldexp(m.d, more);
    bool whole = true;  // positions far away from the origin may overflow where their differences do not
    for (int k = 0; k < 4; k++) {
        y[0][k] = scale3(x0[k], power + more), y[1][k] = scale3(x1[k], power + more);
        whole = whole && tl_finite3(y[0][k]) && tl_finite3(y[1][k]);
    }
    m.x0 = whole ? y[0] : NULL, m.x1 = whole ? y[1] : NULL;
    return walk(edges, &m, time);
}

static inline uint32_t ccd(bool edges, const tl_vec3 x0[4], const tl_vec3 x1[4], double separation, double *time)
{
    moving m;
    double t;
    differences(edges, x0, x1, separation, &m);
    const bool plain =
        m.size > TL_CCD_SMALLEST && m.size < TL_CCD_LARGEST && m.d < TL_CCD_LARGEST && nan_check(&m) == 0;
    const bool hit = plain ? walk(edges, &m, &t) : ccd_rescaled(edges, x0, x1, separation, &t);
    if (time) *time = t;
    return hit;
}

uint32_t tl_ccd_vertex_face(const tl_vec3 x0[4], const tl_vec3 x1[4], double separation, double *time)
{
    return ccd(false, x0, x1, separation, time);
}

uint32_t tl_ccd_edge_edge(const tl_vec3 x0[4], const tl_vec3 x1[4], double separation, double *time)
{
    return ccd(true, x0, x1, separation, time);
}
