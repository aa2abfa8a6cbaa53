// physics/bend_operator.h: the part of the bending Hessian that the matrix does not hold.
//
// The Gauss-Newton Hessian of bending couples hinges two faces apart and would double the matrix. The matrix holds the
// compact stiffness of each face over its own hinges (bend.c); conjugate gradients add the difference as an operator:
//     y += J^T (B^T H B - H_own) J x,   J = d angle / dx,  B = folds per angle
// so the linear systems are solved for the exact Gauss-Newton Hessian, preconditioned by the compact one. The operator
// costs several products with the matrix; Newton's method takes it up only where the compact Hessian is slow.
#pragma once
#include "base/arena.h"
#include "physics/elements.h"

typedef struct tl_bend_operator {
    tl_elements *elements;
    double gamma;               ///< of the step, for damping
    double (*jacobian)[8];      ///< d angle / dx at the last assembly
    double *change;             ///< of the angles, work array
    double *viscous;            ///< per face: the factor of viscosity and friction between yarns at the last assembly
    int32_t *node_hinge_start;  ///< [node_count + 1] into node_hinge
    int32_t *node_hinge;        ///< 4 * hinge + role (a, b, left, right) of every hinge that a node takes part in
} tl_bend_operator;

/// Takes memory from `arena` until the caller releases it.
tl_status tl_bend_operator_init(tl_bend_operator *op, tl_elements *elements, double gamma, tl_arena *arena,
                                tl_error *err);

/// Linearises at x; call after the assembly at x.
void tl_bend_operator_update(tl_bend_operator *op, const tl_vec3 *x, tl_workers *workers);

/// y += (exact - compact) x on free nodes; rows of fixed nodes are left alone. `self` is a tl_bend_operator.
void tl_bend_operator_add(void *self, tl_workers *workers, const tl_vec3 *x, tl_vec3 *y);
