// physics/forces.h: energy, gradient and Hessian of one implicit time step.
//
// A step minimises the incremental potential
//     P(x) = 1/2 gamma^2 |x - x_tilde|_M^2 - M g . x + stretch(x) + bend(x) + damping(x) + air(x)
// in which velocity is gamma (x - x_hat): gamma = 1/dt, x_hat = x_n, x_tilde = x_n + dt v_n for implicit Euler.
// Internal damping and air drag enter as dissipation potentials of that velocity, so every force is a gradient,
// the line search has a true merit function, and rigid motion is neither resisted nor damped.
#pragma once
#include "base/ctx.h"
#include "physics/eddies.h"
#include "physics/elements.h"

/// What is held while one step is solved.
typedef struct tl_step_def {
    double gamma;            ///< d velocity / d position [1/s]
    double now, before;      ///< x_hat = now x_n - before x_(n-1); now - before = 1
    const tl_vec3 *x_tilde;  ///< inertial target
    const tl_vec3 *x_hat;
    tl_vec3 gravity;          ///< [m/s^2]
    double pressure;          ///< 1/2 air density times drag coefficient [kg/m^3]
    double skin;              ///< tangential drag [kg/(m^2 s)]
    tl_vec3 wind;             ///< [m/s]
    const tl_eddies *eddies;  ///< turbulence on top of it; NULL: none
    const float *shelter;     ///< part of both that reaches each face; NULL: all
    const double *pull;       ///< stiffness of springs from nodes to `pull_to` [N/m]; NULL: none
    const tl_vec3 *pull_to;
} tl_step_def;

typedef struct tl_potential {
    double inertia, gravity, stretch, bend, damping, air;
} tl_potential;
static inline double tl_potential_sum(const tl_potential *p)
{
    return ((p->inertia + p->gravity) + (p->stretch + p->bend)) + (p->damping + p->air);
}

/// Freezes what a step holds constant: stiffness at the strains of `x`, wind normals, strains and angles of the
/// past. `x_before` is used when step->before is not zero. `shape_changed`: fixed nodes are new.
void tl_forces_begin(tl_elements *elements, const tl_step_def *step, const tl_vec3 *x, const tl_vec3 *x_before,
                     bool shape_changed, tl_workers *workers);

/// The potential at x. `scratch` gives memory for partial sums; TL_NO_MEMORY otherwise.
tl_status tl_forces_energy(tl_elements *elements, const tl_step_def *step, const tl_vec3 *x, const tl_ctx *ctx,
                           tl_potential *out, tl_error *err);

/// Energy stored in the fabric at x [J], stretching and bending, with the stiffness at the strains of x. What
/// tl_forces_begin froze is lost; `shape_changed` as there, and still so for the next step.
tl_status tl_forces_stored(tl_elements *elements, const tl_vec3 *x, bool shape_changed, const tl_ctx *ctx, double *out,
                           tl_error *err);

/// Gradient and positive definite Hessian at x. Rows of fixed nodes: gradient zero, identity block.
/// `matrix` NULL: gradient only. With gamma 0 and x_tilde NULL: elastic forces alone (tests).
void tl_forces_assemble(tl_elements *elements, const tl_step_def *step, const tl_vec3 *x, tl_bsr *matrix,
                        tl_vec3 *gradient, tl_workers *workers);

/// Angles of all hinges at x into elements->angle.
void tl_forces_angles(tl_elements *elements, const tl_vec3 *x, tl_workers *workers);

/// Angles as above, and d angle / dx of each hinge: (normal / height) of the left and the right face, and where
/// their far corners lie along the edge, as a part of its length. Nodes a, b, left, right then have the derivatives
/// (y1 - 1) left + (y2 - 1) right, -y1 left - y2 right, left, right.
enum { TL_JACOBIAN = 8 };
void tl_forces_angle_jacobian(tl_elements *elements, const tl_vec3 *x, double (*out)[TL_JACOBIAN], tl_workers *workers);

/// Principal stretches of a face at x, larger first.
void tl_forces_stretch(const tl_elements *elements, const tl_vec3 *x, int32_t face, double out[2]);
