// physics/strain_tensor.h: 2x2 symmetric tensors and the stress that updates are sought with; for strain_energy.c, which makes the
// linear model of limits, and strain_multiplier.c, which says what that model ends with: both must take the same directions.
#pragma once
#include <math.h>

#define TINY 1e-300  // keeps divisions finite
#define FLAT 1e-6    // stretches below this count as this: what is squeezed to nothing has no direction

/// Angle of the larger eigenvalue of a symmetric matrix: (cos, sin), half its difference and radius known.
static inline void eigenbasis(double half, double off, double n[2])
{
    const double radius = sqrt(half * half + off * off);
    n[0] = 1, n[1] = 0;
    if (!(radius > TINY)) return;
    const double turn = fmin(1, fmax(-1, half / radius));
    n[0] = sqrt(0.5 * (1 + turn));
    n[1] = off < 0 ? -sqrt(0.5 * (1 - turn)) : sqrt(0.5 * (1 - turn));
}

// A symmetric matrix (11, 22, 12) in the direction (x, y), and between the direction w and the one a quarter turn on.
static inline double along(double x, double y, double s11, double s22, double s12)
{
    return x * x * s11 + y * y * s22 + 2 * x * y * s12;
}
static inline double between(const double w[2], double s11, double s22, double s12)
{
    return w[0] * w[1] * (s22 - s11) + (w[0] * w[0] - w[1] * w[1]) * s12;
}

// With h = strain - bound + S/mu, what limits `bold` times as stiff pull with, over mu: bold (strain - bound) + S/mu.
static inline double stress_sought(double h, double s, double bold) { return h != 0 ? bold * h - (bold - 1) * s : 0; }
