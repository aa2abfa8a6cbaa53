// physics/bend_operator.h: the part of the bending Hessian that the matrix does not hold.
//
// The Gauss-Newton Hessian of bending couples hinges two faces apart and would double the matrix. The matrix holds the
// compact stiffness of each face over its own hinges (bend.c); conjugate gradients add the difference as an operator:
//     y += J^T (B^T H B - H_own) J x,   J = d angle / dx,  B = folds per angle
// so the linear systems are solved for the exact Gauss-Newton Hessian, preconditioned by the compact one.
#pragma once
#include "physics/elements.h"

typedef struct tl_bend_operator {
    tl_elements *elements;  ///< with `jacobian` of the last assembly
    double gamma;           ///< of the step, for damping
} tl_bend_operator;

/// y += (exact - compact) x on free nodes; rows of fixed nodes are left alone. `self` is a tl_bend_operator.
void tl_bend_operator_add(void *self, tl_workers *workers, const tl_vec3 *x, tl_vec3 *y);

/// Numbers of d angle / dx of a hinge from its nodes a, b, left, right:
/// (normal / height) of the left and right face, and where their far corners lie along the edge.
enum { TL_JACOBIAN = 8 };
