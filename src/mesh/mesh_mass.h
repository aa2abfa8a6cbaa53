// mesh/mesh_mass.h: masses of the nodes.
#pragma once
#include "mesh/mesh.h"

/// How a face is shared out to its corners.
typedef enum tl_lumping { TL_LUMP_THIRDS, TL_LUMP_VORONOI } tl_lumping;

/// What of an amount (a mass, an area) goes to each corner of a face; the three sum to it. Voronoi: by the points of
/// the material that are nearest to a corner; of an obtuse face half to that corner and a quarter to each of the others
/// (mixed cells, Meyer, Desbrun, Schroeder & Barr 2003, sec. 3.3).
void tl_mesh_lump(const tl_mesh *mesh, int32_t face, double amount, tl_lumping how, double out[3]);

/// Lumped masses [kg]: every node gets a third of (material area x areal density) of each face around it,
/// over all panels. `face_density` [kg/m^2] has one entry per face slot, finite and > 0 where the face
/// lives; `out` one per node slot, dead ones get 0. `workers` may be NULL.
tl_status tl_mesh_node_masses(const tl_mesh *mesh, const double *face_density, tl_workers *workers, double *out,
                              tl_error *err);

/// The same with density 1: a third of the material area around each node [m^2].
tl_status tl_mesh_node_areas(const tl_mesh *mesh, tl_workers *workers, double *out, tl_error *err);
