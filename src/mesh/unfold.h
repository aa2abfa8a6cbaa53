// mesh/unfold.h: material coordinates for a surface that has none: lengths as in space, cut where it cannot be laid
// flat.
//
// Faces are laid into the plane one after another, breadth first, each beside the one that it was reached from. A
// corner falls onto a vertex that its node has there already where this costs little strain; otherwise the node gets
// another vertex, and the edge in between becomes a seam. Strain that is left is then evened out. If a length is still
// off by more than TL_UNFOLD_STRAIN, less is allowed and there are more cuts. So a sheet, a cylinder or a cone comes
// out as one piece with exact lengths; a closed or doubly curved surface is peeled, with as many cuts as its curvature
// asks for. Parts of the outline may lie over each other: material space need not be a drawing.
#pragma once
#include <stdbool.h>

#include "toile/base.h"

#define TL_UNFOLD_STRAIN 0.025  // most that a length may change [1]: a cap of a sphere 35 degrees wide needs no cut

/// A surface by its nodes, and where its material coordinates go. All arrays are the caller's.
typedef struct tl_unfolding {
    const tl_vec3 *pos;
    int32_t node_count, face_count;
    const int32_t (*face)[3];  ///< nodes; no node twice
    tl_vec2 *uv;               ///< room for 3 face_count entries, as in vert_node; vert_count are filled
    int32_t *vert_node;
    int32_t (*vert)[3];  ///< vertices of faces; may be where the nodes are
    // what came out
    int32_t vert_count;
    int32_t cuts;   ///< edges between two faces that have become seams
    double strain;  ///< largest change of a length: principal strain of a face
} tl_unfolding;

/// Warp (u) runs along x as far as it can, along z where the first face looks along x. TL_BAD_INPUT: a face has no area
/// in space.
tl_status tl_unfold(const tl_allocator *alloc, tl_unfolding *u, tl_error *err);

/// Principal strains of the map from the triangle `uv` to the triangle `x`: the lesser into *low, the greater into
/// *high. False: `uv` has no area or is clockwise.
bool tl_triangle_strain(const tl_vec2 uv[3], const tl_vec3 x[3], double *low, double *high);
