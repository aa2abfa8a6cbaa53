// mesh/mesh_mass.h: the parts of a face that its corners get.
#pragma once
#include "mesh/mesh.h"

/// How a face is shared out to its corners.
typedef enum tl_lumping { TL_LUMP_THIRDS, TL_LUMP_VORONOI } tl_lumping;

/// What of an amount (a mass, an area) goes to each corner of a face; the three sum to it. Voronoi: by the points of
/// the material that are nearest to a corner; of an obtuse face half to that corner and a quarter to each of the others
/// (mixed cells, Meyer, Desbrun, Schroeder & Barr 2003, sec. 3.3).
void tl_mesh_lump(const tl_mesh *mesh, int32_t face, double amount, tl_lumping how, double out[3]);
