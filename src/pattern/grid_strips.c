// pattern/grid_strips.c: rows one after the other, each strip with its share of the area (Kostadinov & Vassilev, Fig. 2
// and 3).
//
// The paper leaves open: the target is what is left of the area over the strips left, so errors do not add up; the ends
// of a row go the same fraction of what is left of the two side curves. A row is evened out to segments of one length
// before its strip is measured, since that changes its area.

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "math/elementary.h"
#include "pattern/grid_impl.h"

typedef struct strips {
    const tl_grid_def *def;
    const tl_sides *sides;
    tl_lattice *g;
    tl_vec2 *row, *scratch;  ///< nu + 1 points each
    double side_length[2];   ///< left, right
    double walked[2];        ///< ends of the row before, along the sides
} strips;

static double quad_area(tl_vec2 a, tl_vec2 b, tl_vec2 c, tl_vec2 d)
{
    return 0.5 * tl_cross2(tl_sub2(c, a), tl_sub2(d, b));
}

int32_t tl_strip_row_exact(const tl_vec2 *base, int32_t nu, double area, tl_vec2 first, tl_vec2 last, tl_vec2 *next)
{
    int32_t impossible = 0;
    next[0] = first;
    for (int32_t u = 1; u <= nu; u++) {
        const double length = tl_distance2(base[u - 1], base[u]);
        const tl_vec2 e = tl_scale2(tl_sub2(base[u], base[u - 1]), 1 / length);
        // The quad is a trapezoid: area = (length + s) d / 2, d the height of R(u-1, v) over the segment.
        const double d = tl_cross2(e, tl_sub2(next[u - 1], base[u - 1]));
        double s = d > 0 ? 2 * area / d - length : -1;
        const double least = 0.05 * length, most = 4 * length;  // beyond these the row would turn back or run away
        if (!(s >= least && s <= most)) {
            s = s > most ? most : least;
            impossible += u < nu;
        }
        next[u] = tl_add2(next[u - 1], tl_scale2(e, s));
    }
    next[nu] = last;
    return impossible;
}

// Point u on the bisector of the row before, so that both segments keep the distance d (a mitre).
static tl_vec2 mitre(const tl_vec2 *base, int32_t u, double d)
{
    const tl_vec2 in = tl_sub2(base[u], base[u - 1]), out = tl_sub2(base[u + 1], base[u]);
    const double in_length = tl_hypot(in.x, in.y), out_length = tl_hypot(out.x, out.y);
    const tl_vec2 n = {-in.y / in_length, in.x / in_length}, m = {-out.y / out_length, out.x / out_length};
    const double spread = 1 + tl_dot2(n, m);
    const double least = 0.2;  // a point that turns back by more would fly off along its bisector
    return tl_add2(base[u], tl_scale2(tl_add2(n, m), d / (spread > least ? spread : least)));
}

// Row v from row v - 1 with `step`, the fraction of the way that is left. The ends stand already.
static void propose_row(strips *s, int32_t v, double step)
{
    const tl_lattice *g = s->g;
    const int32_t nu = g->nu;
    const tl_vec2 *base = &g->point[tl_lattice_index(g, 0, v - 1)], *top = &g->point[tl_lattice_index(g, 0, g->nv)];
    tl_vec2 *row = s->row;
    for (int end = 0; end < 2; end++) {
        const int side = end ? TL_SIDE_RIGHT : TL_SIDE_LEFT;
        const double at = s->walked[end] + step * (s->side_length[end] - s->walked[end]);
        row[end ? nu : 0] = tl_polyline_at(s->sides->line[side], s->sides->count[side], at);
    }
    double height = 0;
    for (int32_t u = 0; u <= nu; u++) height += tl_distance2(base[u], top[u]) / (nu + 1);
    for (int32_t u = 1; u < nu && s->def->rows != TL_ROWS_EXACT; u++)
        row[u] = s->def->rows == TL_ROWS_OFFSET ? mitre(base, u, step * height) : tl_mix2(base[u], top[u], step);
}

// Area between row v - 1 and the top.
static double area_left(const strips *s, int32_t v)
{
    const tl_lattice *g = s->g;
    const tl_vec2 *base = &g->point[tl_lattice_index(g, 0, v - 1)], *top = &g->point[tl_lattice_index(g, 0, g->nv)];
    double area2 = tl_polyline_shoelace(base, g->nu + 1) - tl_polyline_shoelace(top, g->nu + 1);
    for (int end = 0; end < 2; end++) {  // from the row's end along the side to the top
        const int side = end ? TL_SIDE_RIGHT : TL_SIDE_LEFT;
        const tl_vec2 *line = s->sides->line[side];
        const int32_t count = s->sides->count[side];
        double walked = 0, sum = 0;
        tl_vec2 from = base[end ? g->nu : 0];
        for (int32_t i = 1; i < count; i++) {
            walked += tl_distance2(line[i - 1], line[i]);
            if (walked <= s->walked[end]) continue;
            sum += tl_cross2(from, line[i]);
            from = line[i];
        }
        area2 += end ? sum : -sum;
    }
    return 0.5 * area2;
}

static double row_area(const strips *s, int32_t v)
{
    const tl_vec2 *base = &s->g->point[tl_lattice_index(s->g, 0, v - 1)];
    double area = 0;
    for (int32_t u = 0; u < s->g->nu; u++) area += quad_area(base[u], base[u + 1], s->row[u + 1], s->row[u]);
    return area;
}

// One row: the step is scaled by target / area until the strip has its area. Scaling alone can swing about the target
// where the area is far from linear in the step; then the bracket it has found is cut.
static void make_row(strips *s, int32_t v, int32_t *tries)
{
    const tl_lattice *g = s->g;
    enum { WILD_MAX = 3 };  // rows that cross themselves: no step helps, the fold check will speak
    const int32_t strips_left = g->nv - v + 1;
    int32_t wild = 0;
    const double target = area_left(s, v) / strips_left;
    const tl_vec2 *base = &g->point[tl_lattice_index(g, 0, v - 1)];
    double step = 1.0 / strips_left, low = 0, high = 1;
    for (*tries = 1;; ++*tries) {
        propose_row(s, v, step);
        if (s->def->rows == TL_ROWS_EXACT)
            tl_strip_row_exact(base, g->nu, target / g->nu, s->row[0], s->row[g->nu], s->row);
        wild += !tl_polyline_even(s->row, g->nu + 1, s->scratch);
        const double area = row_area(s, v);
        if (fabs(area - target) <= s->def->strip_threshold * fabs(target) || *tries >= s->def->strip_tries ||
            wild > WILD_MAX)
            break;
        if (area < target)
            low = step;
        else
            high = step;
        const double scaled = area > 0 ? step * target / area : 2 * step;
        step = scaled > low && scaled < high ? scaled : 0.5 * (low + high);
    }
    for (int end = 0; end < 2; end++) s->walked[end] += step * (s->side_length[end] - s->walked[end]);
    memcpy(&g->point[tl_lattice_index(g, 0, v)], s->row, (size_t)(g->nu + 1) * sizeof *s->row);
}

tl_status tl_lattice_strips(const tl_allocator *alloc, const tl_sides *sides, const tl_grid_def *def, tl_lattice *g,
                            int32_t *row_tries, tl_error *err)
{
    strips s = {def, sides, g, NULL, NULL, {0}, {0}};
    s.row = TL_ALLOC(alloc, tl_vec2, g->nu + 1), s.scratch = TL_ALLOC(alloc, tl_vec2, g->nu + 1);
    s.side_length[0] = tl_polyline_length(sides->line[TL_SIDE_LEFT], sides->count[TL_SIDE_LEFT]);
    s.side_length[1] = tl_polyline_length(sides->line[TL_SIDE_RIGHT], sides->count[TL_SIDE_RIGHT]);
    const bool memory = s.row && s.scratch;
    if (memory) {
        memset(row_tries, 0, (size_t)g->nv * sizeof *row_tries);
        for (int32_t v = 1; v < g->nv; v++) make_row(&s, v, &row_tries[v - 1]);
    }
    TL_FREE(alloc, s.row, g->nu + 1);
    TL_FREE(alloc, s.scratch, g->nu + 1);
    return memory ? TL_OK : tl_fail_memory(err, "rows of a grid");
}

// --- smoothing -----------------------------------------------------------------------------------------------

void tl_lattice_areas_below(const tl_lattice *g, double *below)
{
    below[0] = 0;
    for (int32_t v = 0; v < g->nv; v++) below[v + 1] = below[v] + tl_lattice_strip_area(g, v);
}

// The area below a row depends on that row alone once its ends stand, and is quadratic in a shift along its normals:
// Newton's method on one number per row.
void tl_lattice_restore_rows(tl_lattice *g, const double *below)
{
    enum { NEWTON_STEPS = 8 };
    double sides = 0;  // twice the area swept by the two side curves up to the row
    for (int32_t v = 1; v < g->nv; v++) {
        tl_vec2 *row = &g->point[tl_lattice_index(g, 0, v)];
        const tl_vec2 *before = row - (g->nu + 1);
        sides += tl_cross2(before[g->nu], row[g->nu]) - tl_cross2(before[0], row[0]);
        for (int32_t round = 0; round < NEWTON_STEPS; round++) {
            const double area2 =
                tl_polyline_shoelace(g->point, g->nu + 1) + sides - tl_polyline_shoelace(row, g->nu + 1);
            const double lack = below[v] - 0.5 * area2;
            double slope = 0;
            for (int32_t u = 1; u < g->nu; u++) {
                const tl_vec2 along = tl_scale2(tl_sub2(row[u + 1], row[u - 1]), 0.5);
                slope += tl_dot2(along, along);
            }
            if (!(slope > 0) || fabs(lack) <= 1e-14 * fabs(below[v])) break;
            tl_vec2 last = row[0];
            for (int32_t u = 1; u < g->nu; u++) {
                const tl_vec2 along = tl_scale2(tl_sub2(row[u + 1], last), 0.5);
                last = row[u];
                row[u] = tl_add2(row[u], tl_scale2((tl_vec2){-along.y, along.x}, lack / slope));
            }
        }
    }
}

static void laplace_step(const tl_lattice *g, double share, tl_vec2 *out)
{
    memcpy(out, g->point, (size_t)tl_lattice_count(g) * sizeof *out);
    const int32_t stride = g->nu + 1;
    for (int32_t v = 1; v < g->nv; v++)
        for (int32_t u = 1; u < g->nu; u++) {
            const tl_vec2 *p = &g->point[tl_lattice_index(g, u, v)];
            const tl_vec2 sum = tl_add2(tl_add2(p[-1], p[1]), tl_add2(p[-stride], p[stride]));
            out[tl_lattice_index(g, u, v)] = tl_mix2(*p, tl_scale2(sum, 0.25), share);
        }
}

int32_t tl_lattice_smooth_strips(const tl_allocator *alloc, tl_lattice *g, int32_t steps)
{
    const int32_t count = tl_lattice_count(g);
    double *below = TL_ALLOC(alloc, double, g->nv + 1);
    tl_lattice trial = {g->nu, g->nv, TL_ALLOC(alloc, tl_vec2, count)};
    int32_t taken = below && trial.point ? 0 : -1;
    if (taken == 0) {
        tl_lattice_areas_below(g, below);
        double share = 0.5;
        while (taken < steps && share > 0.01) {
            laplace_step(g, share, trial.point);
            tl_lattice_restore_rows(&trial, below);
            const tl_grid_quality now = tl_grid_measure(g->point, g->nu, g->nv);
            const tl_grid_quality next = tl_grid_measure(trial.point, g->nu, g->nv);
            if (next.folded > 0 || next.non_convex > now.non_convex) {
                share *= 0.5;
                continue;
            }
            memcpy(g->point, trial.point, (size_t)count * sizeof *g->point);
            taken++;
        }
    }
    TL_FREE(alloc, below, g->nv + 1);
    TL_FREE(alloc, trial.point, count);
    return taken;
}
