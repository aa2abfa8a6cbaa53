// dynamics/baraff_witkin/conditions.h: the conditions of Baraff & Witkin 1998 on single faces and hinges; arrays alone.
//
// A condition C(x) is zero at rest; its energy is k/2 C^2, its force -k C dC/dx, and damping acts along dC/dx alone
// (sec. 4). Over a face with material area A and columns w_u, w_v of the map from the material:
//     stretch  C_u = sqrt(A) (|w_u| - 1), and v likewise      (sec. 4.2; the paper has A for sqrt(A), with which
//     shear    C = sqrt(A) w_u . w_v                           stiffness would depend on the mesh)
//     bend     C = angle - rest, over an inner edge            (sec. 4.3)
#pragma once
#include "physics/elements.h"

/// Stiffness of the conditions of a face [N/m] and its internal damping [s].
typedef struct bw_fabric {
    double u, v, shear, damping;
} bw_fabric;

/// Stiffness as stretch along one direction alone meets it, the other free to contract: there is no condition that
/// couples the two. From what tl_forces_begin has looked up.
bw_fabric bw_fabric_of(const tl_elements *elements, int32_t face);

/// Derivatives by w_u and w_v; those by corners follow, as w_u and w_v are linear in them.
typedef struct bw_face {
    double energy;                              ///< [J]
    tl_vec3 u, v;                               ///< gradient of the energy
    double uu[9], uv[9], vv[9];                 ///< Hessian, rows of `uv` by w_u
    double damp_uu[9], damp_uv[9], damp_vv[9];  ///< k dC dC^T summed over the conditions
} bw_face;

/// `whole`: the exact Hessian. Else what may make it indefinite is left out: second derivatives of C where a stretch is
/// a compression, and of shear.
void bw_face_at(const bw_fabric *fabric, double area, tl_vec3 wu, tl_vec3 wv, bool whole, bw_face *out);

/// Rigidity of a hinge per squared angle [N m / rad^2]: B l^2 / (A0 + A1), B that of the softer side.
double bw_hinge_stiffness(const tl_elements *elements, int32_t hinge);

/// d angle / d (edge node a, b, far node left, far node right) from a row of tl_forces_angle_jacobian.
void bw_hinge_gradient(const double jacobian[], tl_vec3 out[4]);
