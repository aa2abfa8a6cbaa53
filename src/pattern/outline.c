// pattern/outline.c: points along edges and seams, by length.

#include <math.h>

#include "base/fail.h"
#include "math/elementary.h"
#include "math/vec3.h"
#include "pattern/pattern.h"

// The point `length` metres along a chain of curves.
static tl_vec2 chain_point(const tl_segment *curves, int32_t count, double length)
{
    for (int32_t i = 0; i < count; i++) {
        const double own = tl_segment_length(&curves[i]);
        if (length <= own) return tl_segment_point(&curves[i], tl_segment_at(&curves[i], length));
        length -= own;
    }
    return curves[count - 1].to;
}

tl_vec2 tl_edge_point(const tl_panel *panel, int32_t edge, double fraction)
{
    const tl_edge *e = &panel->edges[edge];
    const tl_segment *curves = &panel->curves[e->curve];
    if (fraction <= 0) return curves[0].from;
    if (fraction >= 1) return curves[e->curve_count - 1].to;
    return chain_point(curves, e->curve_count, fraction * e->length);
}

void tl_edge_points(const tl_panel *panel, int32_t edge, int32_t count, tl_vec2 *out)
{
    const tl_edge *e = &panel->edges[edge];
    const tl_segment *curves = &panel->curves[e->curve];
    int32_t c = 0;
    double before = 0, own = tl_segment_length(&curves[0]);
    out[0] = curves[0].from;
    for (int32_t i = 1; i < count; i++) {
        const double want = e->length * i / count;
        while (want > before + own && c + 1 < e->curve_count) {
            before += own;
            own = tl_segment_length(&curves[++c]);
        }
        out[i] = tl_segment_point(&curves[c], tl_segment_at(&curves[c], want - before));
    }
    out[count] = curves[e->curve_count - 1].to;
}

static double range_length(const tl_panel *p, int32_t edge, int32_t count)
{
    double sum = 0;
    for (int32_t i = 0; i < count; i++) sum += p->edges[(edge + i) % p->edge_count].length;
    return sum;
}

double tl_seam_side_length(const tl_pattern *pattern, const tl_seam_side *side)
{
    const tl_panel *p = tl_pattern_panel(pattern, side->panel);
    return fabs(side->to - side->from) * range_length(p, side->edge, side->count);
}

tl_vec2 tl_seam_side_point(const tl_pattern *pattern, const tl_seam_side *side, double fraction)
{
    const tl_panel *p = tl_pattern_panel(pattern, side->panel);
    const double f = fraction <= 0   ? side->from
                     : fraction >= 1 ? side->to
                                     : side->from + fraction * (side->to - side->from);
    if (f <= 0) return tl_edge_point(p, side->edge, 0);
    if (f >= 1) return tl_edge_point(p, (side->edge + side->count - 1) % p->edge_count, 1);
    double length = f * range_length(p, side->edge, side->count);
    for (int32_t i = 0; i < side->count; i++) {
        const int32_t e = (side->edge + i) % p->edge_count;
        const double own = p->edges[e].length;
        if (length <= own || i == side->count - 1) return tl_edge_point(p, e, length / own);
        length -= own;
    }
    return (tl_vec2){0};
}

tl_vec3 tl_placement_point(const tl_placement *placement, tl_vec2 point)
{
    const double deg = 3.14159265358979323846 / 180;
    const tl_vec3 r = tl_mul3(deg, placement->rotation_deg);
    const double k = placement->bend, half = tl_sin(0.5 * k * point.x);
    const tl_vec3 p = {k != 0 ? tl_sin(k * point.x) / k : point.x, point.y, k != 0 ? -2 * half * half / k : 0};
    const tl_vec3 a = {p.x, tl_cos(r.x) * p.y - tl_sin(r.x) * p.z, tl_sin(r.x) * p.y + tl_cos(r.x) * p.z};   // about x
    const tl_vec3 b = {tl_cos(r.y) * a.x + tl_sin(r.y) * a.z, a.y, -tl_sin(r.y) * a.x + tl_cos(r.y) * a.z};  // about y
    const tl_vec3 c = {tl_cos(r.z) * b.x - tl_sin(r.z) * b.y, tl_sin(r.z) * b.x + tl_cos(r.z) * b.y, b.z};   // about z
    return tl_add3(c, placement->origin);
}

// --- the nearest point of an outline ---------------------------------------------------------------------

static double distance_at(const tl_segment *s, double t, tl_vec2 p)
{
    const tl_vec2 q = tl_segment_point(s, t);
    return tl_hypot(q.x - p.x, q.y - p.y);
}

// The nearest of evenly spaced points, then the foot of the perpendicular between its neighbours by golden section and
// Newton's method.
static double nearest_on(const tl_segment *s, tl_vec2 p, double *distance)
{
    if (s->kind == TL_SEGMENT_LINE) {
        const tl_vec2 d = tl_sub2(s->to, s->from);
        const double dd = tl_dot2(d, d);
        const double t = dd > 0 ? fmax(0, fmin(1, tl_dot2(tl_sub2(p, s->from), d) / dd)) : 0;
        *distance = distance_at(s, t, p);
        return t;
    }
    enum { SAMPLES = 32 };
    double best = 0, least = distance_at(s, 0, p);
    for (int i = 1; i <= SAMPLES; i++) {
        const double t = (double)i / SAMPLES, d = distance_at(s, t, p);
        if (d < least) least = d, best = t;
    }
    double low = fmax(0, best - 1.0 / SAMPLES), high = fmin(1, best + 1.0 / SAMPLES);
    for (int i = 0; i < 60; i++) {  // where the distance turns from falling to rising
        const double mid = 0.5 * (low + high);
        if (tl_dot2(tl_sub2(tl_segment_point(s, mid), p), tl_segment_tangent(s, mid)) > 0)
            high = mid;
        else
            low = mid;
    }
    const double t = 0.5 * (low + high), d = distance_at(s, t, p);
    if (d < least) least = d, best = t;
    *distance = least;
    return best;
}

double tl_panel_nearest(const tl_panel *panel, tl_vec2 p, int32_t *edge, double *fraction)
{
    double least = INFINITY;
    int32_t best = 0;
    double best_t = 0;
    *edge = 0;
    for (int32_t e = 0; e < panel->edge_count; e++)
        for (int32_t c = 0; c < panel->edges[e].curve_count; c++) {
            double d;
            const int32_t k = panel->edges[e].curve + c;
            const double t = nearest_on(&panel->curves[k], p, &d);
            if (d < least) least = d, best = k, best_t = t, *edge = e;
        }
    double before = 0;
    for (int32_t k = panel->edges[*edge].curve; k < best; k++) before += tl_segment_length(&panel->curves[k]);
    before += tl_segment_length_to(&panel->curves[best], best_t);
    *fraction = fmin(1, before / panel->edges[*edge].length);
    return least;
}

bool tl_panel_contains(const tl_panel *panel, tl_vec2 p)
{
    bool inside = false;
    for (int32_t k = 0; k < panel->curve_count; k++) {
        const tl_segment *s = &panel->curves[k];
        const int32_t n = s->kind == TL_SEGMENT_LINE ? 1 : 32;
        tl_vec2 a = s->from;
        for (int32_t i = 1; i <= n; i++) {
            const tl_vec2 b = tl_segment_point(s, (double)i / n);
            if ((a.y > p.y) != (b.y > p.y) && p.x < a.x + (p.y - a.y) / (b.y - a.y) * (b.x - a.x)) inside = !inside;
            a = b;
        }
    }
    return inside;
}
