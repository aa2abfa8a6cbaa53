// math/predicates.h: on which side of a line or plane a point lies, decided exactly.
//
// The sign of a determinant of differences of the given doubles, without rounding: a quick evaluation with an error
// bound answers nearly always, expansions (Shewchuk 1997) where it cannot, and whole-number arithmetic where exponents
// are too far apart for expansions. Right for all finite doubles, denormals and 1e308 included; 0 when a coordinate is
// not finite. Needs round-to-nearest without contraction or fast-math, which the whole build keeps.
#pragma once
#include "toile/base.h"

/// 1: a, b, c turn counter-clockwise; -1: clockwise; 0: on one line.
int tl_orient2d(tl_vec2 a, tl_vec2 b, tl_vec2 c);

/// Sign of dot(b - a, cross(c - a, d - a)): 1 when d sees a, b, c counter-clockwise; 0: in one plane.
int tl_orient3d(const tl_vec3 *a, const tl_vec3 *b, const tl_vec3 *c, const tl_vec3 *d);

/// Where d lies to the circle through a, b, c, which turn counter-clockwise: 1 inside, -1 outside, 0 on it. Signs are
/// the other way round when they turn clockwise.
int tl_incircle(tl_vec2 a, tl_vec2 b, tl_vec2 c, tl_vec2 d);
