// detect/body_clearance.h: are some faces clear of bodies? For edits of a mesh that move its surface.
#pragma once

#include "detect/bvh/bvh.h"

/// A body as it stands: a tree fitted to one instant, or a plane.
typedef struct tl_guard_body {
    const tl_bvh *tree;     ///< NULL: a plane
    tl_vec3 point, normal;  ///< of a plane
    double keep;            ///< distance that contact keeps from it [m]
} tl_guard_body;

typedef struct tl_guard {
    const tl_guard_body *bodies;
    int32_t count;
    double reach;  ///< no distance above this is looked for [m]
} tl_guard;

/// Smallest distance of the triangles to bodies, at most guard->reach. Negative if that is below min(`before`, what
/// contact keeps), if a triangle meets a body, or if part of a body lies within one of the tetrahedra that the surface
/// sweeps.
double tl_guard_clear(const tl_guard *guard, const tl_vec3 (*triangle)[3], int32_t count, const tl_vec3 (*swept)[4],
                      int32_t swept_count, double before);
