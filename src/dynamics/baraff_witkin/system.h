// dynamics/baraff_witkin/system.h: the linear system of an implicit Euler step (Baraff & Witkin 1998, Eq. 6).
//
//     (M - h df/dv - h^2 df/dx) dv = h (f + h df/dx v)
//
// with f at the state the step begins with: the conditions and their damping (conditions.h), weight, air and springs of
// handles. What df/dx keeps makes the matrix positive definite.
#pragma once
#include "base/ctx.h"
#include "physics/forces.h"

typedef struct bw_system {
    tl_elements *elements;   ///< tl_forces_begin must have been called for this state
    const tl_step_def *def;  ///< gravity, air, springs of handles
    const tl_vec3 *x, *v;
    double dt;
    bool whole;                       ///< see bw_face_at
    double (*jacobian)[TL_JACOBIAN];  ///< room for one row a hinge
    tl_bsr *matrix;                   ///< in double
    tl_vec3 *right;
} bw_system;

/// Fills matrix and right side.
void bw_assemble(bw_system *system, tl_workers *workers);

/// Forces alone at x and v [N], those of air and weight included as far as `def` has them. `energy` (may be NULL) gets
/// that of the conditions of every chunk of faces [J].
void bw_forces(bw_system *system, tl_vec3 *force, double *energy, tl_workers *workers);
