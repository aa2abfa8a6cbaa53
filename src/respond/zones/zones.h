// respond/zones/zones.h: impact zones: the least change of positions, weighted by mass, that meets linear conditions on
// gaps.
//
// Conditions ("bonds") that share movable nodes make a zone; each zone is solved by itself (Harmon, Vouga, Tamstorf,
// Grinspun 2008, "Robust treatment of simultaneous collisions", sec. 4, with inequalities and friction).
#pragma once
#include <stdbool.h>

#include "base/arena.h"
#include "toile/base.h"

/// Keeps  normal . (sum weight x) + gap  at least `keep`. What does not move is part of the constants.
typedef struct tl_bond {
    int32_t node[4];  ///< -1: not one that moves
    double weight[4];
    tl_vec3 normal;    ///< from the second feature to the first, unit length
    double gap, keep;  ///< [m]
    double friction;   ///< coefficient
    tl_vec3 slide;     ///< sum weight x + slide is how far the features slid
    // result
    double push;  ///< multiplier, >= 0 [kg m]
    tl_vec3 rub;  ///< of friction, across the normal, at most friction * push
    bool fresh;   ///< not solved for yet; zones without one are left as they are
} tl_bond;

typedef struct tl_zones_report {
    int32_t zones, largest, sweeps;
    int32_t immovable;  ///< bonds that none of their nodes can do anything about
} tl_zones_report;

/// Bonds between nodes.
typedef struct tl_bonds {
    tl_bond *bond;
    int32_t count, node_count;
    const double *inverse_mass;  ///< [1/kg], zero where a node does not move
} tl_bonds;

/// Adds to x what the bonds need beyond the `push` and `rub` they have; those change along. `moved` (node_count) is set
/// to 1 for nodes of the zones solved. One thread, fixed order.
tl_status tl_zones_solve(const tl_bonds *all, tl_vec3 *x, uint8_t *moved, tl_arena *arena, tl_zones_report *report,
                         tl_error *err);
