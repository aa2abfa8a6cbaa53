// post/wrinkles/ridges.h: procedural textures of parallel folds, and what a strained face makes of them (Kimmerle 2005,
// ch. 5).
//
// Texture i of n is a wave along e_i = (cos(pi i / n), -sin(pi i / n)) of material space, its phase shaken by gradient
// noise, so that folds wander, end and fork. Everything is a pure function of place, strain and seed.
#pragma once
#include <stdbool.h>

#include "toile/base.h"

enum { TL_RIDGES_MAX = 16 };

typedef struct tl_ridges {
    int32_t count;       ///< n, 2 to TL_RIDGES_MAX; 6 are enough, more than 8 bring nothing (sec. 5.3)
    double wavelength;   ///< of a fold, at rest [m], > 0
    double variation;    ///< noise of the phase [rad], >= 0; 5 to 6 in the thesis
    double persistence;  ///< part of the noise that the next finer octave has, 0 to 1; .3 to .4 in the thesis
    uint64_t seed;
} tl_ridges;

tl_vec2 tl_ridge_direction(const tl_ridges *r, int32_t i);  ///< e_i, across the folds
/// sin of texture i at a place of material space, in [-1, 1]; `gradient` [1/m] may be NULL.
double tl_ridge(const tl_ridges *r, int32_t i, tl_vec2 place, tl_vec2 *gradient);
/// The same in two parts: what the noise does to the phase at a place, and a texture with it.
typedef struct tl_ridge_shift {
    double phase;   ///< [rad]
    tl_vec2 slope;  ///< its gradient [rad/m]
} tl_ridge_shift;
tl_ridge_shift tl_ridge_shift_at(const tl_ridges *r, tl_vec2 place);
double tl_ridge_at(const tl_ridges *r, int32_t i, tl_vec2 place, tl_ridge_shift shift, tl_vec2 *gradient);
/// Gradient noise in about [-1, 1], 0 on its lattice; `gradient` may be NULL.
double tl_ridge_noise(uint64_t seed, double persistence, tl_vec2 p, tl_vec2 *gradient);

/// In-plane stretch of a face, the symmetric factor U of F = R U, in material axes: [[a, b], [b, d]] (Eq. 5.1).
typedef struct tl_inplane {
    double a, b, d;
} tl_inplane;
/// False: `uv` has no area; then `out` is the identity.
bool tl_face_inplane(const tl_vec2 uv[3], const tl_vec3 x[3], tl_inplane *out);
double tl_stretch_along(tl_inplane u, tl_vec2 direction);  ///< |U e|, e of unit length

// ---- modulation as published ----------------------------------------------------------------------------------

/// Integrals over a face of a texture f of height `amplitude` (f = amplitude (ridge + 1) / 2) with
/// W = sqrt(1 + fx^2 + fy^2): W, (fx^2 + fy^2) / W, fx^2 / W - W, 2 fx fy / W, fy^2 / W - W.
typedef struct tl_area_terms {
    double c0, c1, c2, c3, c4;
} tl_area_terms;
tl_area_terms tl_ridge_area_terms(const tl_ridges *r, int32_t i, double amplitude, const tl_vec2 uv[3]);
/// Factor of the texture's height that keeps the area, to first order in the strain (Eq. 5.8); 1 at rest.
double tl_area_modulation(const tl_area_terms *c, tl_inplane u);

// ---- modulation by direction ----------------------------------------------------------------------------------

/// Height of a wave of rest length `wavelength` that keeps the arc length where cloth is compressed to `stretch` of its
/// length: (L / pi) sqrt(s (1 - s)), to 3 % at a compression of 20 %; 0 at 1 and above. [m]
double tl_fold_height(double wavelength, double stretch);

// ---- selection ------------------------------------------------------------------------------------------------

/// Weights of the textures by how well each fits (>= 0): at most two are not 0, and their sum is 1. The best alone
/// counts but in a zone where the second is nearly as good: the lead of the best over the second is less than `zone`
/// (0..1] of its lead over the third. The weights are continuous wherever the three best are not equal. Returns the
/// lead over the third [in units of `fit`].
double tl_choose_ridges(int32_t count, const double *fit, double zone, double *weight);
