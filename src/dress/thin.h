// dress/thin.h: a body drawn in towards its skeleton, so that panels can be sewn around it with room to spare.
#pragma once
#include "toile/base.h"

/// The surface after a time of shrinking by its mean curvature (Desbrun, Meyer, Schroeder & Barr 1999: one implicit
/// step, (M + length^2 L) x' = M x with cotangent weights L and areas M). A tube of radius r comes to about
/// r / (1 + (length / r)^2); limbs become thin, a trunk less so. Vertices keep their numbers. `out` may be `x`.
tl_status tl_body_thin(const tl_allocator *alloc, const tl_vec3 *x, int32_t vert_count, const int32_t (*face)[3],
                       int32_t face_count, double length, tl_vec3 *out, tl_error *err);
