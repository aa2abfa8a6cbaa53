// respond/impulse/impulse.h: inelastic impulses between pairs of features, on plain arrays (Kimmerle 2005, sec. 3.2).
//
// A pair acts at two points, one on each feature. With the weights of tl_nearest (those of the second feature
// negative) both vertex and face and two edges read alike: the relative velocity is sum w_k v_k, and an impulse I along
// n changes v_k by (w_k / m_k) I n. So momentum is kept, what lies at a corner moves that corner alone, and the answer
// does not jump where a contact slides over the border of a face (Eq. 3.1 to 3.3, with the sign and the weights of
// edges put right: docs/errata.md).
#pragma once
#include <stdint.h>

#include "toile/base.h"

typedef struct tl_bump {
    int32_t node[4];  ///< into the arrays of velocities; -1: no such node
    double weight[4];
    tl_vec3 normal;   ///< from the second feature to the first, of unit length
    tl_vec3 other;    ///< velocity of a second side that is no node (a plane) [m/s]
    double gap;       ///< [m]
    double keep;      ///< distance that is kept [m]
    double friction;  ///< Coulomb's coefficient, >= 0
    double push;      ///< sum of impulses along the normal so far [kg m/s], >= 0
    tl_vec3 rub;      ///< sum of impulses across it
} tl_bump;

tl_vec3 tl_bump_velocity(const tl_bump *b, const tl_vec3 *v);           ///< of the first point relative to the second
double tl_bump_mobility(const tl_bump *b, const double *inverse_mass);  ///< sum w^2 / m [1/kg]

/// The impulse that brings the normal relative velocity to `wanted` if it is less; nothing else happens to pairs that
/// part. What was given before may be taken back as far as `push` goes. Returns the change of the relative velocity.
double tl_bump_push(tl_bump *b, const double *inverse_mass, double wanted, tl_vec3 *v);
/// Slows sliding down: Coulomb, together at most friction * push (Eq. 3.4, 3.5).
void tl_bump_rub(tl_bump *b, const double *inverse_mass, tl_vec3 *v);
/// Moves the features apart along the normal by `distance`, with the same weights.
void tl_bump_part(const tl_bump *b, const double *inverse_mass, double distance, tl_vec3 *x);

typedef struct tl_bumps_report {
    int32_t sweeps, pushing;  ///< pairs with an impulse
    double left;              ///< [m/s] most that a velocity still changed in the last sweep
} tl_bumps_report;

typedef struct tl_bumps_def {
    double dt;         ///< [s]
    double restore;    ///< part of what is missing to `keep` by which pairs part within dt
    double tolerance;  ///< change of a velocity that ends the sweeps [m/s]
    int32_t sweeps;    ///< at most
} tl_bumps_def;

/// Sweeps over all pairs, forwards and backwards in turn, until velocities change by less than the tolerance: pairs
/// come no nearer than `keep` within dt, and those that are nearer part slowly. One thread, fixed order.
void tl_bumps_solve(tl_bump *bumps, int32_t count, const double *inverse_mass, const tl_bumps_def *def, tl_vec3 *v,
                    tl_bumps_report *report);
