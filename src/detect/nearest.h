// detect/nearest.h: the point of a surface nearest to a place, faces around a box, through its tree.
#pragma once
#include "detect/bvh/bvh.h"

typedef struct tl_nearest_spot {
    int32_t face;     ///< -1: none within the radius
    double distance;  ///< [m]; INFINITY without a face
    tl_vec3 offset;   ///< from the point of the face to the place
} tl_nearest_spot;

/// On the surface at x0 of the last refit, no farther than `radius` [m] from p. Of equally near faces the lowest: the
/// answer depends neither on the tree nor on `hint`, a face that may be near (that of a place nearby), or -1: it saves
/// time.
tl_nearest_spot tl_bvh_nearest(const tl_bvh *bvh, tl_vec3 p, double radius, int32_t hint);

/// Faces that may meet the box from `lo` to `hi` at x0 of the last refit: all that do and some beside, in no order.
/// Writes up to `max` and returns how many there are.
int32_t tl_bvh_around(const tl_bvh *bvh, tl_vec3 lo, tl_vec3 hi, int32_t *faces, int32_t max);

/// A box around the surface at x0 of the last refit, from the top of the tree; not the tightest. Without faces lo > hi.
void tl_bvh_extent(const tl_bvh *bvh, tl_vec3 *lo, tl_vec3 *hi);
