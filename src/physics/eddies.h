// physics/eddies.h: turbulence: a wind that varies in space and time and neither gathers nor thins out anywhere.
#pragma once
#include "toile/base.h"

enum { TL_EDDIES = 32 };

/// u(x) = sum of swing_k cos(wave_k . x + phase_k) with swing_k across wave_k: every term is free of divergence, so the
/// sum is (Kraichnan 1970, "Diffusion by a random velocity field").
typedef struct tl_eddies {
    tl_vec3 wave[TL_EDDIES];   ///< [1/m]
    tl_vec3 swing[TL_EDDIES];  ///< [m/s]
    double phase[TL_EDDIES];
} tl_eddies;

/// What the eddies are at one moment. They drift along with the wind (Taylor's hypothesis) and turn over as they go.
typedef struct tl_eddies_def {
    double speed;   ///< root mean square of each component [m/s]
    double length;  ///< size of the largest eddies: half their wave length [m]
    tl_vec3 drift;  ///< how far the wind has carried them since time 0 [m]
    double turned;  ///< how far an eddy has turned over since time 0, as a length [m]
    uint64_t seed;
} tl_eddies_def;
void tl_eddies_init(tl_eddies *eddies, const tl_eddies_def *def);

/// The velocity at x [m/s].
tl_vec3 tl_eddies_at(const tl_eddies *eddies, tl_vec3 x);
