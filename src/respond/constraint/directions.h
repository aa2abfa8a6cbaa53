// respond/constraint/directions.h: directions in which nodes may not move, on plain arrays (Kimmerle 2005, sec. 3.2.2).
//
// The allowed velocities of a node are those without a component along its directions: P = I - sum c c^T. Directions of
// a node are made orthonormal first, else P is no projector; three of them hold the node.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "toile/base.h"

typedef struct tl_directions {
    tl_vec3 c[3];     ///< orthonormal
    double speed[3];  ///< along each of them [m/s]: that of the body, and what moves the node out
    int32_t count;
} tl_directions;

/// Adds `normal` (unit length), along which the node has to have `speed`. A direction of which those there are leave
/// less than a quarter is no new one; if it is nearly one of them, the greater speed counts. Returns whether it is new.
bool tl_directions_add(tl_directions *d, tl_vec3 normal, double speed);

tl_vec3 tl_directions_project(const tl_directions *d, tl_vec3 v);  ///< P v
/// P v, and `speed` along every direction.
tl_vec3 tl_directions_filter(const tl_directions *d, tl_vec3 v);
