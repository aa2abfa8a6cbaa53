// mesh/mesh_rest.h: the shape that cloth rests in, kept in a form that survives remeshing.
//
// Rest angles belong to edges, and edges come and go. What stays is the curvature of the rest shape: a symmetric tensor
// S on every face, in material coordinates, kept as an attribute times the area of the face, so that splits and flips
// share it out and lose nothing. The rest angle of an edge follows from the S of its two faces as the angle that a
// surface of that curvature has there (physics/bend.h, Eq. 2), which gives S back when it is bent:
//     angle = sum over both sides of  1/2 S_nn h + S_nt (y - l/2) + 1/2 S_tt (y^2 - l y)/h
// A sharp fold along a seam or a feature line is no curvature: what its angle has beyond that of the surface stays with
// the line.
#pragma once
#include "mesh/mesh.h"

/// Indices of the attributes, TL_NONE if the mesh rests flat.
typedef struct tl_rest_attrs {
    int32_t curvature;  ///< faces, 3 doubles: area times S11, S22, S12 [m]
    int32_t crease;     ///< edges, 1 double [rad]
} tl_rest_attrs;

tl_rest_attrs tl_mesh_rest_find(const tl_mesh *mesh);

/// Adds the attributes, all zero.
tl_status tl_mesh_rest_attach(tl_mesh *mesh, tl_rest_attrs *out, tl_error *err);

/// Angle that the curvature of its faces makes at an edge, 0 at a border.
double tl_mesh_rest_angle(const tl_mesh *mesh, const tl_rest_attrs *attrs, int32_t e);
