// respond/push_out/solid.h: the nearest point of a sphere, capsule, cylinder or box in closed form.
#pragma once
#include <stdbool.h>

#include "toile/base.h"

typedef enum tl_solid_kind { TL_SOLID_SPHERE, TL_SOLID_CAPSULE, TL_SOLID_CYLINDER, TL_SOLID_BOX } tl_solid_kind;

/// In its own axes: a sphere about the origin, the axis of capsule and cylinder along z, a box along the axes.
typedef struct tl_solid {
    tl_solid_kind kind;
    double radius;  ///< [m]
    tl_vec3 half;   ///< [m] of a box; z: half the core of a capsule, half the height of a cylinder
} tl_solid;

/// The nearest point of the surface and the unit vector out of it there; returns the distance, negative inside.
double tl_solid_nearest(const tl_solid *s, tl_vec3 p, tl_vec3 *point, tl_vec3 *normal);
