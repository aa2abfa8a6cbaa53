// physics/forces_parts.h: what the files of forces.h need of each other; for forces*.c alone.
//
// forces_begin.c freezes what a step holds constant, forces_angles.c turns positions into folds and folds into moments,
// forces_faces.c sums over faces (formulas: forces_terms.h), forces.c adds nodes and puts all together.
#pragma once
#include "physics/forces.h"

enum { TL_FACE_ENERGIES = 4 };  ///< stretch, bend, damping, air

/// Folds at the current angles (tl_forces_angles), relative to rest and (with damping) to the past. Overwrites moments.
void tl_forces_folds(tl_elements *elements, tl_workers *workers);

/// Folds and angles at x, and the stiffness that energies of faces need there.
void tl_forces_look(tl_elements *elements, const tl_vec3 *x, bool shape_changed, tl_workers *workers);

/// Moments of hinges at those folds. Replaces folds by their moments.
void tl_forces_moments(tl_elements *elements, const tl_step_def *step, tl_workers *workers);

/// Energies of the faces of each chunk at x and the folds of x, [chunk_count].
void tl_forces_face_energy(tl_elements *elements, const tl_step_def *step, const tl_vec3 *x, tl_workers *workers,
                           double (*out)[TL_FACE_ENERGIES]);

/// Adds gradient and Hessian (`matrix` NULL: none) of all faces at x and the moments of x, fixed nodes or not.
void tl_forces_face_assemble(tl_elements *elements, const tl_step_def *step, const tl_vec3 *x, tl_bsr *matrix,
                             tl_vec3 *gradient, tl_workers *workers);
