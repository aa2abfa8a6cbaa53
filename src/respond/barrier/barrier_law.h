// respond/barrier/barrier_law.h: how hard surfaces press on each other and how they rub.
//
// Normal. With g = distance / thickness, two layers press with
//     p(g) = pressure (1 - g) / g^2            for g < 1, else nothing,
// the gradient of the energy per area  pressure thickness (1/g - 1 + ln g): convex, linear like a spring where contact
// begins, and without bound as g goes to 0.
//
// Friction. Coulomb's law as a dissipation potential  mu N f(|u|)  of the sliding distance u in this step, smooth over
// the distance e that corresponds to the slip speed (Li et al. 2020, "Incremental Potential Contact", Eq. 13-15):
//     f'(y) = y (2 - y/e) / e for y < e, else 1.
#pragma once
#include <math.h>

#include "math/elementary.h"

/// Energy per area over pressure times thickness.
static inline double tl_contact_energy(double g) { return g < 1 ? 1 / g - 1 + tl_ln(g) : 0; }

/// Pressure over the reference pressure.
static inline double tl_contact_pressure(double g) { return g < 1 ? (1 - g) / (g * g) : 0; }

/// The other way: g at which the pressure is `p` >= 0 times the reference pressure.
static inline double tl_contact_gap(double p) { return 2 / (1 + sqrt(1 + 4 * p)); }

/// - d pressure / dg
static inline double tl_contact_stiffness(double g) { return g < 1 ? (2 - g) / (g * g * g) : 0; }

/// f(y): what friction dissipates over mu N.
static inline double tl_friction_energy(double y, double e)
{
    return y < e ? y * y * (1 - y / (3 * e)) / e + e / 3 : y;
}

/// f'(y) / y
static inline double tl_friction_ratio(double y, double e) { return y < e ? (2 - y / e) / e : 1 / y; }

/// f''(y) >= 0
static inline double tl_friction_curve(double y, double e) { return y < e ? 2 * (1 - y / e) / e : 0; }
