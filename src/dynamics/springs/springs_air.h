// dynamics/springs/springs_air.h: drag of the air on one triangle.
#pragma once
#include "math/vec3.h"

/// What the air is to a fabric.
typedef struct tl_springs_air {
    double pressure;  ///< 1/2 air density times drag coefficient [kg/m^3]
    double skin;      ///< tangential drag [kg/(m^2 s)]
    double density;   ///< of the fabric [kg/m^2]
} tl_springs_air;

/// Acceleration of a triangle with corners x that goes at `through` relative to the air (the air's velocity less its
/// own) [m/s^2]. Implicit in the speed: within dt at most all of it is taken on.
tl_vec3 tl_springs_drag(const tl_springs_air *air, const tl_vec3 x[3], tl_vec3 through, double dt);
