// pattern/grid_sides.c: from a polygon with four corners to the boundary of a grid.

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "math/elementary.h"
#include "pattern/grid_impl.h"

tl_status tl_outline_check(const tl_vec2 *outline, int32_t count, tl_error *err)
{
    if (count < 4) return tl_fail(err, TL_BAD_INPUT, "outline of %d points, a grid needs at least 4", count);
    double area = 0;
    for (int32_t i = 0; i < count; i++) {
        const tl_vec2 a = outline[i], b = outline[(i + 1) % count];
        if (!isfinite(a.x) || !isfinite(a.y))
            return tl_fail(err, TL_BAD_INPUT, "outline point %d is (%g, %g), must be finite", i, a.x, a.y);
        if (a.x == b.x && a.y == b.y)
            return tl_fail(err, TL_BAD_INPUT, "outline points %d and %d are both at (%g, %g): leave one out", i,
                           (i + 1) % count, a.x, a.y);
        area += tl_cross2(tl_sub2(a, outline[0]), tl_sub2(b, outline[0]));
    }
    if (!(area > 0))
        return tl_fail(err, TL_BAD_INPUT, "outline has area %g: it must run counter-clockwise; turn its points round",
                       0.5 * area);
    return TL_OK;
}

void tl_sides_free(const tl_allocator *alloc, tl_sides *sides)
{
    TL_FREE(alloc, sides->memory, sides->memory_count);
    *sides = (tl_sides){0};
}

tl_status tl_sides_create(const tl_allocator *alloc, const tl_vec2 *outline, int32_t count, const int32_t corner[4],
                          tl_sides *out, tl_error *err)
{
    *out = (tl_sides){0};
    int32_t around = 0, length[4];
    for (int k = 0; k < 4; k++) {
        const int32_t from = corner[k], to = corner[(k + 1) % 4];
        if (from < 0 || from >= count)
            return tl_fail(err, TL_BAD_INPUT, "corner %d is outline point %d, must be 0 to %d", k, from, count - 1);
        length[k] = ((to - from) % count + count) % count;
        around += length[k];
        if (length[k] == 0)
            return tl_fail(err, TL_BAD_INPUT, "corners %d and %d are both outline point %d, must differ", k,
                           (k + 1) % 4, from);
    }
    if (around != count)
        return tl_fail(err, TL_BAD_INPUT,
                       "corners %d, %d, %d, %d are not in the order of the outline (counter-clockwise)", corner[0],
                       corner[1], corner[2], corner[3]);
    out->memory_count = count + 4;
    out->memory = TL_ALLOC(alloc, tl_vec2, out->memory_count);
    if (!out->memory) return tl_fail_memory(err, "sides of an outline");
    tl_vec2 *next = out->memory;
    for (int k = 0; k < 4; k++) {
        const bool back = k >= TL_SIDE_TOP;  // top and left run along u and v as well
        out->line[k] = next, out->count[k] = length[k] + 1;
        for (int32_t i = 0; i <= length[k]; i++) next[back ? length[k] - i : i] = outline[(corner[k] + i) % count];
        next += length[k] + 1;
    }
    return TL_OK;
}

static double turn_at(const tl_vec2 *line, int32_t i)
{
    const tl_vec2 in = tl_sub2(line[i], line[i - 1]), out = tl_sub2(line[i + 1], line[i]);
    return fabs(tl_atan2(tl_cross2(in, out), tl_dot2(in, out)));
}

// Splits between sharp points, each of which gets the nearest free place: place[] ascends, so the order is kept.
static tl_status split_snapped(const tl_vec2 *line, int32_t count, int32_t parts, double angle, tl_vec2 *out,
                               tl_error *err)
{
    const double total = tl_polyline_length(line, count);
    int32_t sharp_count = 0, from = 0, from_place = 0;
    for (int32_t i = 1; i + 1 < count; i++) sharp_count += turn_at(line, i) > angle;
    if (sharp_count > parts - 1)
        return tl_fail(err, TL_BAD_INPUT, "a side has %d sharp points to snap to but %d cells: more cells are needed",
                       sharp_count, parts);
    double walked = 0;
    int32_t left = sharp_count;
    for (int32_t i = 1; i < count; i++) {
        walked += tl_distance2(line[i - 1], line[i]);
        const bool end = i == count - 1;
        if (!end && turn_at(line, i) <= angle) continue;
        int32_t place = end ? parts : (int32_t)lround(walked / total * parts);
        if (!end) {
            left--;
            if (place <= from_place) place = from_place + 1;
            if (place > parts - 1 - left) place = parts - 1 - left;
        }
        TL_TRY(tl_polyline_split(line + from, i - from + 1, place - from_place, out + from_place, err));
        from = i, from_place = place;
    }
    return TL_OK;
}

tl_status tl_sides_split(const tl_allocator *alloc, const tl_sides *sides, double snap_angle, tl_lattice *g,
                         tl_error *err)
{
    const int32_t most = g->nu > g->nv ? g->nu : g->nv;
    tl_vec2 *row = TL_ALLOC(alloc, tl_vec2, most + 1);
    if (!row) return tl_fail_memory(err, "sides of a grid");
    tl_status status = TL_OK;
    for (int k = 0; k < 4 && status == TL_OK; k++) {
        const bool along_u = k == TL_SIDE_BOTTOM || k == TL_SIDE_TOP;
        const int32_t parts = along_u ? g->nu : g->nv;
        status = snap_angle < 3.14159 ? split_snapped(sides->line[k], sides->count[k], parts, snap_angle, row, err)
                                      : tl_polyline_split(sides->line[k], sides->count[k], parts, row, err);
        for (int32_t i = 0; i <= parts && status == TL_OK; i++) {
            const int32_t u = along_u ? i : k == TL_SIDE_RIGHT ? g->nu : 0;
            const int32_t v = along_u ? (k == TL_SIDE_TOP ? g->nv : 0) : i;
            g->point[tl_lattice_index(g, u, v)] = row[i];
        }
    }
    TL_FREE(alloc, row, most + 1);
    return status;
}

void tl_lattice_tfi(tl_lattice *g)
{
    const tl_vec2 *p = g->point;
    const tl_vec2 c00 = p[0], c10 = p[g->nu], c01 = p[tl_lattice_index(g, 0, g->nv)],
                  c11 = p[tl_lattice_index(g, g->nu, g->nv)];
    for (int32_t j = 1; j < g->nv; j++)
        for (int32_t i = 1; i < g->nu; i++) {
            const double u = (double)i / g->nu, v = (double)j / g->nv;
            const tl_vec2 l = p[tl_lattice_index(g, 0, j)], r = p[tl_lattice_index(g, g->nu, j)];
            const tl_vec2 b = p[i], t = p[tl_lattice_index(g, i, g->nv)];
            tl_vec2 *out = &g->point[tl_lattice_index(g, i, j)];
            out->x = (1 - u) * l.x + u * r.x + (1 - v) * b.x + v * t.x -
                     ((1 - u) * (1 - v) * c00.x + (1 - u) * v * c01.x + u * (1 - v) * c10.x + u * v * c11.x);
            out->y = (1 - u) * l.y + u * r.y + (1 - v) * b.y + v * t.y -
                     ((1 - u) * (1 - v) * c00.y + (1 - u) * v * c01.y + u * (1 - v) * c10.y + u * v * c11.y);
        }
}

// --- choice of corners ---------------------------------------------------------------------------------------

enum { CANDIDATES_MAX = 48, SPREAD = 16 };

typedef struct candidate {
    int32_t at;
    double arc;    ///< along the outline from point 0
    double angle;  ///< interior, over a window [rad]
} candidate;

// The point at arc length `s` of the closed outline, whose points know theirs.
static tl_vec2 outline_at(const tl_vec2 *outline, const candidate *all, int32_t count, double perimeter, double s)
{
    s -= perimeter * floor(s / perimeter);
    int32_t low = 0, high = count;
    while (high - low > 1) {
        const int32_t mid = low + (high - low) / 2;
        if (all[mid].arc <= s)
            low = mid;
        else
            high = mid;
    }
    const double end = low + 1 < count ? all[low + 1].arc : perimeter;
    return tl_mix2(outline[low], outline[(low + 1) % count], (s - all[low].arc) / (end - all[low].arc));
}

// The interior angle seen over `reach` of arc on both sides: a corner that is rounded a little still counts as one.
static double window_angle(const tl_vec2 *outline, const candidate *all, int32_t count, double perimeter, int32_t at)
{
    const double reach = 0.02 * perimeter;
    const tl_vec2 before = outline_at(outline, all, count, perimeter, all[at].arc - reach);
    const tl_vec2 after = outline_at(outline, all, count, perimeter, all[at].arc + reach);
    const tl_vec2 in = tl_sub2(before, outline[at]), out = tl_sub2(after, outline[at]);
    const double angle = tl_atan2(tl_cross2(out, in), tl_dot2(out, in));
    return angle < 0 ? angle + 2 * 3.14159265358979323846 : angle;
}

// Four corners cost what their angles are off 90 degrees and what opposite sides differ in length.
static double corners_cost(const candidate *c[4], double perimeter)
{
    const double right = 1.57079632679489661923;
    double cost = 0, side[4];
    for (int k = 0; k < 4; k++) {
        const double off = (c[k]->angle - right) / right;
        cost += off * off * (c[k]->angle > 2 * right ? 4 : 1);
        side[k] = c[(k + 1) % 4]->arc - c[k]->arc;
        if (side[k] <= 0) side[k] += perimeter;
    }
    for (int k = 0; k < 2; k++) {
        const double ratio = tl_ln(side[k] / side[k + 2]);
        cost += 0.5 * ratio * ratio;
    }
    const double shape = tl_ln((side[0] + side[2]) / (side[1] + side[3]));
    cost += 0.02 * shape * shape;  // settles it where the outline has no corners
    for (int k = 0; k < 4; k++) {  // a very short side makes slivers
        const double part = 0.05 * perimeter / side[k];
        if (part > 1) cost += part - 1;
    }
    return cost;
}

// The sharpest points, best first, one per window; and points at equal distances for outlines without corners.
static int32_t find_candidates(const tl_vec2 *outline, int32_t count, double perimeter, candidate *all, candidate *out)
{
    const double reach = 0.02 * perimeter, right = 1.57079632679489661923;
    for (int32_t i = 0; i < count; i++) all[i].angle = window_angle(outline, all, count, perimeter, i);
    int32_t found = 0;
    while (found < CANDIDATES_MAX - SPREAD) {
        int32_t best = -1;
        for (int32_t i = 0; i < count; i++) {
            if (all[i].at < 0 || all[i].angle > 1.75 * right) continue;
            if (best < 0 || all[i].angle < all[best].angle) best = i;
        }
        if (best < 0) break;
        out[found++] = all[best];
        const double here = all[best].arc;
        for (int32_t i = 0; i < count; i++) {
            double gap = fabs(all[i].arc - here);
            if (gap > 0.5 * perimeter) gap = perimeter - gap;
            if (gap < reach) all[i].at = -1;
        }
    }
    for (int32_t k = 0, i = 0; k < SPREAD; k++) {
        while (i < count && (all[i].at < 0 || all[i].arc < perimeter * k / SPREAD)) i++;
        if (i < count) out[found++] = all[i++];
    }
    return found;
}

static void sort_by_place(candidate *c, int32_t count)
{
    for (int32_t i = 1; i < count; i++) {
        const candidate moved = c[i];
        int32_t j = i;
        for (; j > 0 && c[j - 1].at > moved.at; j--) c[j] = c[j - 1];
        c[j] = moved;
    }
}

static bool cheapest(const candidate *c, int32_t count, double perimeter, int32_t corner[4])
{
    double least = INFINITY;
    for (int32_t i = 0; i < count; i++)
        for (int32_t j = i + 1; j < count; j++)
            for (int32_t k = j + 1; k < count; k++)
                for (int32_t l = k + 1; l < count; l++) {
                    const candidate *four[4] = {&c[i], &c[j], &c[k], &c[l]};
                    const double cost = corners_cost(four, perimeter);
                    if (!(cost < least)) continue;
                    least = cost;
                    for (int n = 0; n < 4; n++) corner[n] = four[n]->at;
                }
    return isfinite(least);
}

tl_status tl_grid_pick_corners(const tl_allocator *alloc, const tl_vec2 *outline, int32_t count, int32_t corner[4],
                               tl_error *err)
{
    TL_TRY(tl_outline_check(outline, count, err));
    candidate *all = TL_ALLOC(alloc, candidate, count), best[CANDIDATES_MAX];
    if (!all) return tl_fail_memory(err, "corners of an outline");
    double perimeter = 0;
    for (int32_t i = 0; i < count; i++) {
        all[i] = (candidate){i, perimeter, 0};
        perimeter += tl_distance2(outline[i], outline[(i + 1) % count]);
    }
    int32_t found = find_candidates(outline, count, perimeter, all, best);
    if (found < 4) {  // few points, close together: all of them
        found = count < CANDIDATES_MAX ? count : CANDIDATES_MAX;
        for (int32_t k = 0; k < found; k++) {
            best[k] = all[k * (int64_t)count / found];
            best[k].at = (int32_t)(k * (int64_t)count / found);
        }
    }
    TL_FREE(alloc, all, count);
    sort_by_place(best, found);
    int32_t chosen[4];
    if (!cheapest(best, found, perimeter, chosen))
        return tl_fail(err, TL_BAD_INPUT, "no four corners found on an outline of %d points: name them", count);
    int first = 0;
    for (int k = 1; k < 4; k++) {
        const tl_vec2 a = outline[chosen[k]], b = outline[chosen[first]];
        if (a.x + a.y < b.x + b.y) first = k;
    }
    for (int k = 0; k < 4; k++) corner[k] = chosen[(first + k) % 4];
    return TL_OK;
}
