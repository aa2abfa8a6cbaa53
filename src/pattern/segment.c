// pattern/segment.c: lines, circular arcs and Bezier curves: points, lengths, areas.
//
// Lengths of Bezier curves are integrals of the speed by Gauss-Legendre quadrature on halves, quarters, ... until a
// split changes nothing that matters. Areas are closed forms: the integrand is a polynomial.

#include <math.h>

#include "math/elementary.h"
#include "math/vec3.h"
#include "pattern/pattern.h"

tl_segment tl_segment_arc(tl_vec2 from, tl_vec2 to, double radius, int32_t large, int32_t left)
{
    const double chord = tl_norm2(tl_sub2(to, from));
    const double sine = fabs(radius) > 0 ? fmin(chord / (2 * fabs(radius)), 1) : 1;  // of half the angle
    const double cosine = sqrt((1 - sine) * (1 + sine)) * (large ? -1 : 1);
    const double bulge = sine / (1 + cosine);  // tan(x / 2) = sin x / (1 + cos x)
    return (tl_segment){TL_SEGMENT_ARC, from, to, {{0}}, left ? bulge : -bulge};
}

static tl_vec2 arc_point(const tl_segment *c, double t)
{
    // From the chord's frame rather than from the centre: flat arcs have it far away. With the angle a from start to
    // end, the point at t is from + chord * e^(i (t - 1) a / 2) * sin(t a / 2) / sin(a / 2).
    const double half = 2 * tl_atan(c->bulge);
    const double scale = tl_sin(t * half) / tl_sin(half), turn = (t - 1) * half;
    const tl_vec2 d = tl_sub2(c->to, c->from);
    const double re = scale * tl_cos(turn), im = scale * tl_sin(turn);
    return (tl_vec2){c->from.x + re * d.x - im * d.y, c->from.y + re * d.y + im * d.x};
}

tl_vec2 tl_segment_point(const tl_segment *c, double t)
{
    if (t <= 0) return c->from;
    if (t >= 1) return c->to;
    const double s = 1 - t;
    const tl_vec2 a = c->from, b = c->to, p = c->control[0], q = c->control[1];
    switch (c->kind) {
    case TL_SEGMENT_ARC:
        if (c->bulge != 0) return arc_point(c, t);
        break;
    case TL_SEGMENT_QUADRATIC:
        return (tl_vec2){s * s * a.x + 2 * s * t * p.x + t * t * b.x, s * s * a.y + 2 * s * t * p.y + t * t * b.y};
    case TL_SEGMENT_CUBIC: {
        const double w0 = s * s * s, w1 = 3 * s * s * t, w2 = 3 * s * t * t, w3 = t * t * t;
        return (tl_vec2){w0 * a.x + w1 * p.x + w2 * q.x + w3 * b.x, w0 * a.y + w1 * p.y + w2 * q.y + w3 * b.y};
    }
    case TL_SEGMENT_LINE: break;
    }
    return (tl_vec2){s * a.x + t * b.x, s * a.y + t * b.y};
}

tl_vec2 tl_segment_tangent(const tl_segment *c, double t)
{
    const double s = 1 - t;
    const tl_vec2 a = c->from, b = c->to, p = c->control[0], q = c->control[1];
    switch (c->kind) {
    case TL_SEGMENT_ARC:
        if (c->bulge != 0) {
            const double angle = 4 * tl_atan(c->bulge), turn = (t - 0.5) * angle;
            const tl_vec2 d = tl_sub2(b, a);
            const double speed = angle / (2 * tl_sin(angle / 2)), re = speed * tl_cos(turn), im = speed * tl_sin(turn);
            return (tl_vec2){re * d.x - im * d.y, re * d.y + im * d.x};
        }
        break;
    case TL_SEGMENT_QUADRATIC: return tl_add2(tl_mul2(2 * s, tl_sub2(p, a)), tl_mul2(2 * t, tl_sub2(b, p)));
    case TL_SEGMENT_CUBIC:
        return tl_add2(tl_add2(tl_mul2(3 * s * s, tl_sub2(p, a)), tl_mul2(6 * s * t, tl_sub2(q, p))),
                       tl_mul2(3 * t * t, tl_sub2(b, q)));
    case TL_SEGMENT_LINE: break;
    }
    return tl_sub2(b, a);
}

// Speed integrated over [t0, t1] with 8 Gauss-Legendre points.
static double gauss8(const tl_segment *c, double t0, double t1)
{
    static const double x[4] = {0.18343464249564980494, 0.52553240991632898582, 0.79666647741362673959,
                                0.96028985649753623168};
    static const double w[4] = {0.36268378337836198297, 0.31370664587788728734, 0.22238103445337447054,
                                0.10122853629037625915};
    const double mid = 0.5 * (t0 + t1), half = 0.5 * (t1 - t0);
    double sum = 0;
    for (int i = 0; i < 4; i++)
        sum += w[i] * (tl_norm2(tl_segment_tangent(c, mid - half * x[i])) +
                       tl_norm2(tl_segment_tangent(c, mid + half * x[i])));
    return half * sum;
}

enum { QUADRATURE_DEPTH = 40 };  // a cusp needs one split per halving of what is left; the rest is far below rounding

static double bezier_part(const tl_segment *c, double t0, double t1, double whole, double tolerance, int depth)
{
    const double mid = 0.5 * (t0 + t1), left = gauss8(c, t0, mid), right = gauss8(c, mid, t1);
    if (depth == 0 || fabs(left + right - whole) <= tolerance) return left + right;
    return bezier_part(c, t0, mid, left, tolerance, depth - 1) + bezier_part(c, mid, t1, right, tolerance, depth - 1);
}

// Length from t0 to t1.
static double part_length(const tl_segment *c, double t0, double t1)
{
    const double chord = tl_norm2(tl_sub2(c->to, c->from));
    if (c->kind == TL_SEGMENT_LINE || (c->kind == TL_SEGMENT_ARC && c->bulge == 0)) return chord * (t1 - t0);
    if (c->kind == TL_SEGMENT_ARC) {
        const double half = 2 * tl_atan(c->bulge);
        return chord * half / tl_sin(half) * (t1 - t0);
    }
    const double whole = gauss8(c, t0, t1);
    // Errors of halves add up to no more than a few times this; Gauss gains 16 orders per split where it is smooth.
    return isfinite(whole) ? bezier_part(c, t0, t1, whole, 1e-14 * whole, QUADRATURE_DEPTH) : whole;
}

double tl_segment_length(const tl_segment *curve) { return part_length(curve, 0, 1); }

double tl_segment_length_to(const tl_segment *segment, double t)
{
    return t > 0 ? part_length(segment, 0, fmin(t, 1)) : 0;
}

double tl_segment_area(const tl_segment *c)
{
    const tl_vec2 a = c->from, b = c->to, p = c->control[0], q = c->control[1];
    const double chord = 0.5 * tl_cross2(a, b);
    switch (c->kind) {
    case TL_SEGMENT_LINE: return chord;
    case TL_SEGMENT_ARC: {
        if (c->bulge == 0) return chord;
        // The segment between chord and arc: r^2 (x - sin x) / 2 with x the whole angle, r = chord / (2 sin(x / 2)).
        const double x = 4 * tl_atan(c->bulge), half = tl_sin(0.5 * x), d2 = tl_dot2(tl_sub2(b, a), tl_sub2(b, a));
        // x - sin x by its series where the difference would lose digits
        const double x2 = x * x;
        const double gap = fabs(x) < 0.1 ? x * x2 / 6 * (1 - x2 / 20 * (1 - x2 / 42 * (1 - x2 / 72))) : x - tl_sin(x);
        return chord + d2 * gap / (8 * half * half);
    }
    case TL_SEGMENT_QUADRATIC: return chord + tl_cross2(tl_sub2(p, a), tl_sub2(b, a)) / 3;
    case TL_SEGMENT_CUBIC: {
        // With everything seen from `from`: (3 u x v + 3 u x w + 6 v x w) / 20
        const tl_vec2 u = tl_sub2(p, a), v = tl_sub2(q, a), w = tl_sub2(b, a);
        return chord + (3 * tl_cross2(u, v) + 3 * tl_cross2(u, w) + 6 * tl_cross2(v, w)) / 20;
    }
    }
    return chord;
}

double tl_segment_at(const tl_segment *c, double length)
{
    const double whole = tl_segment_length(c);
    if (!(length > 0)) return 0;
    if (length >= whole) return 1;
    if (c->kind == TL_SEGMENT_LINE || c->kind == TL_SEGMENT_ARC) return length / whole;
    double low = 0, high = 1, t = length / whole, done = 0, t_done = 0;  // `done`: length up to t_done
    for (int i = 0; i < 60; i++) {
        done += t >= t_done ? part_length(c, t_done, t) : -part_length(c, t, t_done);
        t_done = t;
        const double miss = done - length;
        if (fabs(miss) <= 1e-15 * whole) break;
        if (miss > 0)
            high = t;
        else
            low = t;
        const double speed = tl_norm2(tl_segment_tangent(c, t));
        double next = speed > 0 ? t - miss / speed : low;
        if (!(next > low && next < high)) next = 0.5 * (low + high);  // Newton left the bracket (a cusp)
        if (next == t) break;
        t = next;
    }
    return t;
}
