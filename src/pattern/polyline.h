// pattern/polyline.h: lengths and points along open polylines.
#pragma once
#include <stdbool.h>

#include "toile/base.h"

static inline double tl_cross2(tl_vec2 a, tl_vec2 b) { return a.x * b.y - a.y * b.x; }
static inline double tl_dot2(tl_vec2 a, tl_vec2 b) { return a.x * b.x + a.y * b.y; }
static inline tl_vec2 tl_sub2(tl_vec2 a, tl_vec2 b) { return (tl_vec2){a.x - b.x, a.y - b.y}; }
static inline tl_vec2 tl_add2(tl_vec2 a, tl_vec2 b) { return (tl_vec2){a.x + b.x, a.y + b.y}; }
static inline tl_vec2 tl_scale2(tl_vec2 a, double s) { return (tl_vec2){a.x * s, a.y * s}; }
static inline tl_vec2 tl_mix2(tl_vec2 a, tl_vec2 b, double t)
{
    return (tl_vec2){a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)};
}
double tl_distance2(tl_vec2 a, tl_vec2 b);

double tl_polyline_length(const tl_vec2 *line, int32_t count);

/// The point at arc length `s`, kept within the line.
tl_vec2 tl_polyline_at(const tl_vec2 *line, int32_t count, double s);

/// Evens out `line` in place until its segments have the same length to 1e-11 of it; the ends stay. `scratch` holds
/// count points. False: they did not within 1000 rounds, or the line has no length.
bool tl_polyline_even(tl_vec2 *line, int32_t count, tl_vec2 *scratch);

/// Twice the signed area between a polyline and the origin; closed polygons add up to twice their area.
double tl_polyline_shoelace(const tl_vec2 *line, int32_t count);
