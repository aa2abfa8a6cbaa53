// adapt/anisotropic/obstacles.h: for every node of a cloth the tangent plane of the obstacle point nearest to it.
#pragma once
#include "base/workers.h"
#include "detect/bvh/bvh.h"
#include "mesh/mesh.h"
#include "adapt/anisotropic/sizing.h"

/// A closed or open surface, given as a tree that has been fitted to its positions, or a half space.
typedef struct tl_obstacle {
    const tl_bvh *tree;  ///< borrowed for the call; x0 of its last refit counts. NULL: a plane
    tl_vec3 point;       ///< of the plane
    tl_vec3 normal;      ///< of the plane, unit, out of the half space
} tl_obstacle;

/// Beyond this the term is below the floor that tl_sizing_field puts under everything: 1/phi^2 <= 1/size_max^2.
static inline double tl_obstacle_reach(const tl_sizing_def *def) { return def->size_max; }

/// Fills `out`, one per node slot; dead slots and nodes farther than `reach` from everything get no plane. Distances
/// below `gap` [m], what contact keeps free anyway, count as `gap` (> 0). `workers` may be NULL.
tl_status tl_obstacle_planes(const tl_mesh *mesh, const tl_obstacle *obstacles, int32_t count, double reach, double gap,
                             tl_workers *workers, tl_obstacle_plane *out, tl_error *err);
