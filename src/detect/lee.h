// detect/lee.h: what part of the wind reaches faces that lie behind others.
//
// From points of a face a ray goes against the wind. Where it meets a face of a body or of cloth at a distance d, what
// is left of the wind there is d / length, all of it from `length` on: a wake that fills up again.
#pragma once
#include "base/ctx.h"

/// Borrowed.
typedef struct tl_lee_surface {
    const tl_vec3 *x;
    int32_t node_count;
    const int32_t (*face)[3];
    int32_t face_count;
} tl_lee_surface;

/// Parts of the wind, 0 to 1, of the faces of surfaces[of] into `out`. `wind`: its direction, any length but 0. Faces
/// that share a node shelter each other from nothing. Same values for any number of workers.
tl_status tl_lee_parts(const tl_lee_surface *surfaces, int32_t count, int32_t of, tl_vec3 wind, double length,
                       const tl_ctx *ctx, float *out, tl_error *err);
