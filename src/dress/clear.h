// dress/clear.h: panels are moved until they touch neither the body nor each other, before they are sewn.
#pragma once
#include "base/arena.h"
#include "base/workers.h"
#include "dress/garment.h"

typedef struct tl_clear_def {
    const tl_vec3 *body;  ///< where it is [m]
    int32_t body_verts;
    const int32_t (*body_face)[3];
    int32_t body_faces;
    tl_workers *workers;
} tl_clear_def;

typedef struct tl_clear_report {
    int64_t crossings_before, crossings_after;
    int32_t rounds;
    double largest_move;  ///< of a panel [m]
} tl_clear_report;

/// Every panel is drawn in a little, so that neighbours in one plane part, then panels that cross something are moved
/// outwards along their normals, a little in every round, until nothing crosses or that does not help. For unwelded
/// garments. TL_OK also when crossings are left.
tl_status tl_panels_clear(const tl_clear_def *def, tl_garment *g, tl_clear_report *out, tl_error *err);
