// respond/untangle/untangle.h: untangle input that intersects itself or bodies, before a simulation starts.
//
// Cloth nodes are moved little by little until the exact test finds no crossing, then apart until the wanted distance
// is kept, as far as that goes. What was meant is guessed: of a cloth cut by another, the smaller part is on the wrong
// side (so the history-free part of Baraff, Witkin, Kass 2003); where crossings cut nothing off, they are made shorter
// (Volino and Magnenat-Thalmann 2006); what is inside a body goes out along its normal. The guess can be wrong, the
// answer cannot: the report counts what is left.
#pragma once
#include "base/ctx.h"
#include <stdbool.h>

#include "detect/bvh/bvh.h"

/// A body that stays where it is; faces counter-clockwise from outside.
typedef struct tl_heal_body {
    tl_surface surface;
    const tl_vec3 *x;
    double distance;  ///< to be kept by cloth [m], >= 0
} tl_heal_body;

/// All arrays are borrowed for the call.
typedef struct tl_heal_def {
    tl_surface cloth;      ///< all cloths in one numbering
    const uint8_t *fixed;  ///< per cloth node: nonzero stays where it is; NULL: none
    const tl_heal_body *bodies;
    int32_t body_count;
    double distance;         ///< between cloths, to be kept [m], >= 0. Cut at half the mean edge length. Default 0.
    int32_t max_iterations;  ///< >= 1. Default 200.
    bool bodies_only;        ///< cloth may pass through cloth. Default false.
    double leave;  ///< nothing is moved if nothing crosses and no pair is nearer than this part of its distance.
                   ///< Default 1.
} tl_heal_def;
tl_heal_def tl_heal_def_default(void);

typedef struct tl_heal_report {
    int64_t crossings_before, crossings_after;  ///< edges that meet faces, by the exact test
    int64_t near_after;                         ///< pairs that are left nearer than wanted
    int32_t iterations;
    int32_t nodes_moved;
    double largest_move;  ///< [m]
} tl_heal_report;

/// Changes `x`, one place per cloth node. TL_OK also when crossings are left (then x is the best that was found): see
/// the report. A function of its arguments alone, not of the number of workers.
tl_status tl_heal(const tl_heal_def *def, tl_vec3 *x, const tl_ctx *ctx, tl_heal_report *report, tl_error *err);
