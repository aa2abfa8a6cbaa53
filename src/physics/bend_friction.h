// physics/bend_friction.h: dry friction between yarns when a cloth is bent.
//
// Bending slides yarns over each other: a moment HB per width acts against every change of curvature, half of the width
// 2HB of the loop that a bending tester draws (Kawabata 1980; Lahey & Heppler 2004). Per area the dissipation potential
// is
//     HB f(y),    y = sqrt(dS : B : dS / b),  dS the change of the shape operator in this step, b = sqrt(b11 b22),
// so y is the change of curvature where warp and weft are alike. f is |y|, smooth over the change e that the creep rate
// makes in a step:
//     f'(y) = y (2 - y/e) / e for y < e, else 1,                              as for contact (Li et al. 2020, Eq.
//     13-15).
// In folds a of a face dS : B : dS is a^T H a / area, and the moments are HB/b f'(y)/y H a: like those of viscosity, of
// a damping time that falls as bending goes faster.
#pragma once
#include <math.h>

#include "physics/elements.h"

/// Rate of curvature below which yarns stick and creep [1/(m s)]: a flap of 25 cm creeps by about a millimetre a second
/// at most.
#define TL_BEND_CREEP 0.5

/// A face's friction at the folds of the past in e->fold_rate.
typedef struct tl_bend_friction {
    double weight;  ///< moments over H fold_rate
    double energy;  ///< [J]
} tl_bend_friction;

static inline tl_bend_friction tl_bend_friction_of(const tl_elements *e, int32_t f, double gamma)
{
    const tl_material *m = &e->materials[e->material[f]];
    const double bb = m->bend[0][0] * m->bend[2][0];
    if (!(m->friction_bend > 0) || !(bb > 0)) return (tl_bend_friction){0, 0};
    const double *a = e->fold_rate[f], b = sqrt(bb), slip = TL_BEND_CREEP / gamma;
    double h[6];
    for (int k = 0; k < 6; k++) h[k] = (double)e->bend[f][k];
    const double quadratic = h[0] * a[0] * a[0] + h[1] * a[1] * a[1] + h[2] * a[2] * a[2] +
                             2 * (h[3] * a[1] * a[2] + h[4] * a[0] * a[2] + h[5] * a[0] * a[1]);
    const double y = sqrt(fmax(0, quadratic) / (e->area[f] * b));
    const double sticking = fmin(y, slip);
    const double f_y = sticking * sticking * (1 - sticking / (3 * slip)) / slip + y - sticking;
    return (tl_bend_friction){m->friction_bend / b * (2 - sticking / slip) / fmax(y, slip),
                              m->friction_bend * e->area[f] * f_y};
}
