// physics/strain_face.h: one face against its limits, for what does not go eight at a time.
#pragma once
#include <math.h>

#include "physics/columns.h"
#include "physics/strain_limit.h"
#include "physics/strain_tensor.h"

static inline double outside(double y, double low, double high) { return y > high ? y - high : y < low ? y - low : 0; }

// What the bounds are on: U - I, or for aligned limits the strains of warp and weft and the cosine between them.
static inline void limited_strain(const tl_elements *e, const tl_vec3 *x, int32_t f, bool aligned, double out[3])
{
    const tl_columns c = tl_face_columns(e, x, f);
    const double c11 = tl_dot3(c.f1, c.f1), c22 = tl_dot3(c.f2, c.f2), c12 = tl_dot3(c.f1, c.f2);
    if (aligned) {
        out[0] = sqrt(c11) - 1, out[1] = sqrt(c22) - 1, out[2] = c12 / (sqrt(c11) * sqrt(c22) + TINY);
        return;
    }
    const double det = tl_norm3(tl_cross3(c.f1, c.f2)), per = 1 / (sqrt(c11 + c22 + 2 * det) + TINY);
    out[0] = (c11 + det) * per - 1, out[1] = (c22 + det) * per - 1, out[2] = c12 * per;
}

// Of one face in the step being solved.
static inline tl_strain_bounds bounds_of_face(const tl_strain_limits *l, int32_t f)
{
    tl_strain_bounds b = l->bounds[l->cloth[f]];
    for (int k = 0; k < 3; k++) b.low[k] -= l->give[f], b.high[k] += l->give[f];
    return b;
}

// mu h(strain + S/mu): the next multiplier.
static inline void next_multiplier(const tl_strain_bounds *b, const double e[3], const double s[3], double mu,
                                   double out[3])
{
    const double y[3] = {e[0] + s[0] / mu, e[1] + s[1] / mu, e[2] + s[2] / mu};
    if (b->aligned) {
        for (int k = 0; k < 3; k++) out[k] = mu * outside(y[k], b->low[k], b->high[k]);
        return;
    }
    const double mean = 0.5 * (y[0] + y[1]), half = 0.5 * (y[0] - y[1]), radius = sqrt(half * half + y[2] * y[2]);
    const double h1 = outside(mean + radius, b->low[0], b->high[0]), h2 = outside(mean - radius, b->low[1], b->high[1]);
    const double even = 0.5 * (h1 + h2), odd = radius > TINY ? 0.5 * (h1 - h2) / radius : 0;
    out[0] = mu * (even + odd * half), out[1] = mu * (even - odd * half), out[2] = mu * odd * y[2];
}
