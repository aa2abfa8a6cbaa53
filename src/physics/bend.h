// physics/bend.h: bending that does not depend on the mesh: a shape operator per face from edge angles.
//
// Give every edge a normal of its own, somewhere between the normals of the two faces beside it. The fold of a
// face f at its edge k is the angle a_fk from the face to that normal; the folds of the two sides of an edge add up
// to its dihedral angle. By the divergence theorem the mean shape operator of the face is
//     S_f = (1/A) sum_k l_k a_fk n_k n_k^T                                                                    (1)
// (Morley 1968; Grinspun et al. 2006). Whatever the edge normals, a constant moment then does no work on inner nodes:
// the element is consistent. What is left is to place the normals. On a quadratic height field w = 1/2 S(u, u)
//     a_fk = 1/2 S_nn h + S_nt (y - l/2) + 1/2 S_tt (y^2 - l y)/h =: d_fk . S                                 (2)
// where t runs along the edge of length l, n across it, and (y, h) is the far corner's place along and height above
// the edge. The dihedral angle is the sum of (2) over both sides. So we take
//     a_fk = sum_j beta_j angle_j   over the edge itself and the four other edges of the two faces,
// beta being the share of height, corrected by the smallest change that meets (2) for every S. Constant curvature is
// then reproduced exactly on any triangulation; the plain hinge is off by up to a factor of a hundred (tests).
// On a border the fold is extrapolated the same way from the face's other edges and those of its neighbours.
//
// A face whose three nodes are all driven by handles is rigid: it stores no energy, its normal is the edge normal of
// the face beside it, which is what a clamp does.
#pragma once
#include "physics/elements.h"

/// Rows of beta for all hinges and borders, fits of all faces; call after the set of fixed nodes has changed.
void tl_bend_update_folds(tl_elements *elements, tl_workers *workers);

/// Stiffness of the folds at the curvature of `elements->fold` (which matters to nonlinear fabrics only).
void tl_bend_update_stiffness(tl_elements *elements, tl_workers *workers);

/// The same for the energy alone: what only the Hessian needs is left as it was.
void tl_bend_update_energy(tl_elements *elements, tl_workers *workers);

/// Folds of all faces from hinge values (angles, or angles less something) into `out` [face_count].
void tl_bend_folds(const tl_elements *elements, const double *hinge_value, double (*out)[3], tl_workers *workers);

/// The transpose: hinge moments from the moments of all folds, [hinge_count].
void tl_bend_moments(const tl_elements *elements, double (*fold_moment)[3], double *out, tl_workers *workers);

/// Shape operator (S11, S22, S12) of a face at the folds in `elements->fold`, in the face's material frame.
void tl_bend_curvature(const tl_elements *elements, int32_t face, double out[3]);
