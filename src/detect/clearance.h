// detect/clearance.h: clearance of the faces of a cloth: the distance to the rest of it and to bodies.
//
// The clearance of a face is its distance, by pairs of features (vertex-face and edge-edge), from all faces that share
// no node with it; where one face passes through another, distances of features see nothing. Neighbours of neighbours
// count: on a flat grid the clearance is about an altitude, so a reach far beyond the length of edges costs time (the
// pairs go with its square) and says little more. A distance that is to be kept may be taken off: the thickness, or
// less between parts that are nearer than that when flat.
//
// Trees must be fitted to one instant, with margin 0. Faces are queried one by one, in any order, by any number of
// threads: most passes of remeshing need one face in five. No memory is allocated.
#pragma once
#include "detect/bvh/bvh.h"

/// A body to keep clear of: a surface, given by its tree, or the half space behind a plane (no tree).
typedef struct tl_clearance_body {
    const tl_bvh *tree;     ///< NULL: a plane
    tl_vec3 lo, hi;         ///< of a surface: a box around it (tl_bvh_extent)
    tl_vec3 point, normal;  ///< of a plane: any point on it [m], unit normal out of the body
} tl_clearance_body;

/// The cloth and what it must keep clear of.
typedef struct tl_clearance_def {
    const tl_bvh *tree;  ///< of the cloth, or of all cloths together; its edges are not looked at
    const tl_clearance_body *bodies;
    int32_t body_count;
    double reach;      ///< [m], > 0: nothing further away is looked for, and no clearance is more
    double keep;       ///< taken off distances within the cloth [m], >= 0, ..
    double keep_flat;  ///< .. but at most this part of the distance in material space, for nodes of one chart. Not used
                       ///< if `uv` is NULL.
    const tl_vec2 *uv;     ///< material place of every node
    const int32_t *chart;  ///< of every node; negative: none
    const uint8_t *sides;  ///< of every face: bit k, the edge opposite to corner k runs against it. For the last bits
                           ///< of distances from bodies, which others compute from the edges of the mesh. NULL: edges
                           ///< run from their lower node.
} tl_clearance_def;

/// Clearance [m] of a face of def->tree, 0 to reach: within the cloth, less what is to be kept; and from bodies
/// (distances to planes count from their front, 0 for nodes behind). Distances are capped at `most`.
double tl_clearance_self(const tl_clearance_def *def, int32_t face, double most);
double tl_clearance_bodies(const tl_clearance_def *def, int32_t face, double most);
