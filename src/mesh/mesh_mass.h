// mesh/mesh_mass.h: masses of the nodes.
#pragma once
#include "mesh/mesh.h"

/// Lumped masses [kg]: every node gets a third of (material area x areal density) of each face around it,
/// over all panels. `face_density` [kg/m^2] has one entry per face slot, finite and > 0 where the face
/// lives; `out` one per node slot, dead ones get 0. `workers` may be NULL.
tl_status tl_mesh_node_masses(const tl_mesh *mesh, const double *face_density, tl_workers *workers, double *out,
                              tl_error *err);

/// The same with density 1: a third of the material area around each node [m^2].
tl_status tl_mesh_node_areas(const tl_mesh *mesh, tl_workers *workers, double *out, tl_error *err);
