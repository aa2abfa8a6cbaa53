// physics/fabric.h: stiffness of a fabric at a given strain and curvature.
//
// The measured tables of Wang, O'Brien & Ramamoorthi 2011 give stress = C(E) E with C depending on the strain.
// We evaluate C at the start of a step and hold it while the step is solved, so that within a step the
// elastic force is the exact gradient of a quadratic-in-strain energy; derivative tests run on that frozen form.
#pragma once
#include <stdbool.h>

#include "toile/material.h"

/// Membrane coefficients c11, c12, c22, c33 [N/m].
typedef struct tl_stretch {
    double c11, c12, c22, c33;
} tl_stretch;

/// Plate coefficients [N m] of energy 1/2 (b11 S11^2 + b22 S22^2 + 2 b12 S11 S22 + 4 b66 S12^2) per area,
/// S the shape operator in the material frame.
typedef struct tl_plate {
    double b11, b22, b12, b66;
} tl_plate;

/// True if stiffness depends on strain or curvature.
bool tl_material_is_nonlinear(const tl_material *material);

/// At Green strain (e11, e22, e12).
tl_stretch tl_material_stretch(const tl_material *material, double e11, double e22, double e12);

/// At a shape operator whose largest principal curvature (absolute) is `curvature` [1/m].
tl_plate tl_material_plate(const tl_material *material, double curvature);

/// Rigidity [N m] for bending about an axis (x, y) in the material frame, at `curvature`: rows of the table, linear in
/// the angle in between. Used by the plain hinge.
double tl_material_rigidity(const tl_material *material, double axis_x, double axis_y, double curvature);
