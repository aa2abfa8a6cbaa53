// pattern/grid_quality.c: figures of grids, and their triangles.

#include <math.h>

#include "math/elementary.h"
#include "pattern/grid_impl.h"

#define DEGREES (180 / 3.14159265358979323846)

double tl_lattice_area(const tl_lattice *g, int32_t u, int32_t v)
{
    const tl_vec2 *p = &g->point[tl_lattice_index(g, u, v)], *q = p + g->nu + 1;
    return 0.5 * tl_cross2(tl_sub2(q[1], p[0]), tl_sub2(q[0], p[1]));
}

double tl_lattice_strip_area(const tl_lattice *g, int32_t v)
{
    double area = 0;
    for (int32_t u = 0; u < g->nu; u++) area += tl_lattice_area(g, u, v);
    return area;
}

// Counts the corners of a quad (counter-clockwise) that turn the wrong way or not at all; angles, edges into *q.
static int quad_figures(const tl_vec2 c[4], tl_grid_quality *q)
{
    int turned = 0;
    double shortest = INFINITY, longest = 0;
    for (int k = 0; k < 4; k++) {
        const tl_vec2 out = tl_sub2(c[(k + 1) % 4], c[k]), in = tl_sub2(c[(k + 3) % 4], c[k]);
        const double cross = tl_cross2(out, in), length = tl_hypot(out.x, out.y);
        double angle = tl_atan2(cross, tl_dot2(out, in)) * DEGREES;
        if (angle < 0) angle += 360;
        turned += !(cross > 0);
        q->angle_min_deg = fmin(q->angle_min_deg, angle), q->angle_max_deg = fmax(q->angle_max_deg, angle);
        shortest = fmin(shortest, length), longest = fmax(longest, length);
    }
    q->aspect_max = fmax(q->aspect_max, longest / shortest);
    return turned;
}

bool tl_lattice_is_folded(const tl_lattice *g, int32_t u, int32_t v)
{
    const tl_vec2 *p = &g->point[tl_lattice_index(g, u, v)], c[4] = {p[0], p[1], p[g->nu + 2], p[g->nu + 1]};
    tl_grid_quality q = {0};
    return !(tl_lattice_area(g, u, v) > 0) || quad_figures(c, &q) > 1;
}

tl_grid_quality tl_grid_measure(const tl_vec2 *point, int32_t cells_u, int32_t cells_v)
{
    tl_grid_quality q = {.area_min = INFINITY, .area_max = -INFINITY, .angle_min_deg = INFINITY};
    const int32_t stride = cells_u + 1;
    const double count = (double)cells_u * cells_v;
    double squares = 0;
    for (int32_t v = 0; v < cells_v; v++)
        for (int32_t u = 0; u < cells_u; u++) {
            const tl_vec2 *p = &point[v * stride + u], c[4] = {p[0], p[1], p[stride + 1], p[stride]};
            const double area = 0.5 * tl_cross2(tl_sub2(c[2], c[0]), tl_sub2(c[3], c[1]));
            const int turned = quad_figures(c, &q);
            q.area_min = fmin(q.area_min, area), q.area_max = fmax(q.area_max, area);
            q.area_mean += area / count;
            q.folded += !(area > 0) || turned > 1;  // two corners turned: a bow tie, no diagonal makes good triangles
            q.non_convex += turned > 0;
        }
    for (int32_t v = 0; v < cells_v; v++)
        for (int32_t u = 0; u < cells_u; u++) {
            const tl_lattice g = {cells_u, cells_v, (tl_vec2 *)point};
            const double off = tl_lattice_area(&g, u, v) - q.area_mean;
            squares += off * off / count;
        }
    q.area_cv = sqrt(squares) / fabs(q.area_mean);
    q.area_ratio = q.area_min > 0 ? q.area_max / q.area_min : INFINITY;
    return q;
}

static tl_vec2 unit2(tl_vec2 a)
{
    const double length = tl_hypot(a.x, a.y);
    return length > 0 ? tl_scale2(a, 1 / length) : (tl_vec2){0, 0};
}

// Whether the diagonal from corner 0 to 2 cuts the quad into two triangles that turn the right way.
static bool cuts_well(const tl_vec2 *c0, const tl_vec2 *c1, const tl_vec2 *c2, const tl_vec2 *c3)
{
    return tl_cross2(tl_sub2(*c1, *c0), tl_sub2(*c2, *c0)) > 0 && tl_cross2(tl_sub2(*c2, *c0), tl_sub2(*c3, *c0)) > 0;
}

void tl_quad_grid_triangles(const tl_quad_grid *grid, tl_grid_diagonals diagonals, int32_t (*tri)[3], tl_vec2 *weft,
                            tl_vec2 *warp)
{
    const int32_t stride = grid->cells_u + 1;
    const tl_vec2 *p = grid->point;
    for (int32_t v = 0, t = 0; v < grid->cells_v; v++)
        for (int32_t u = 0; u < grid->cells_u; u++, t += 2) {
            const int32_t a = v * stride + u, b = a + 1, d = a + stride, c = d + 1;
            bool up = diagonals == TL_DIAGONALS_UP || (diagonals == TL_DIAGONALS_ALTERNATE && (u + v) % 2 == 0);
            if (diagonals == TL_DIAGONALS_SHORTEST) {
                const double length_up = tl_distance2(p[a], p[c]), length_down = tl_distance2(p[b], p[d]);
                up = length_up < length_down || (length_up == length_down && (u + v) % 2 == 0);
            }
            const bool up_cuts = cuts_well(&p[a], &p[b], &p[c], &p[d]),
                       down_cuts = cuts_well(&p[b], &p[c], &p[d], &p[a]);
            if (up != (up ? up_cuts : !down_cuts)) up = up_cuts;  // in a quad that is not convex only one serves
            const int32_t cut[2][2][3] = {{{a, b, d}, {b, c, d}}, {{a, b, c}, {a, c, d}}};
            const tl_vec2 along_u = unit2(tl_add2(tl_sub2(p[b], p[a]), tl_sub2(p[c], p[d])));
            const tl_vec2 along_v = unit2(tl_add2(tl_sub2(p[d], p[a]), tl_sub2(p[c], p[b])));
            for (int half = 0; half < 2; half++) {
                for (int k = 0; k < 3; k++) tri[t + half][k] = cut[up][half][k];
                if (weft) weft[t + half] = along_u;
                if (warp) warp[t + half] = along_v;
            }
        }
}
