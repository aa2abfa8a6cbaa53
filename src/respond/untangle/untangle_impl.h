// respond/untangle/untangle_impl.h: state of untangling, shared by the search (heal.c) and the moves (heal_push.c).
#pragma once
#include "respond/untangle/untangle.h"
#include "detect/intersect.h"

typedef struct tl_healer {
    const tl_heal_def *def;
    tl_arena *scratch;
    tl_workers *workers;
    tl_vec3 *x;  ///< now
    tl_vec3 *u;  ///< how far each node is to go in this iteration
    tl_bvh *cloth, **body;
    tl_crossings self, *with;  ///< of the cloth with itself, with each body
    tl_pairs pairs;
    double edge_mean;  ///< of the cloth [m]
    double nearest;    ///< of the pairs last looked at for their distance, over the distance wanted
    double reach;      ///< beyond the other surface when a crossing is undone, a factor on the distance

    int rings;  ///< how near the border a cut counts as reaching it, 0: it has to

    int32_t *first_edge, *node_edge;  ///< edges around a node: node_edge[first_edge[n] ..]
    int32_t (*edge_face)[2];          ///< of the cloth, -1: none
    tl_vec3 **body_edge_normal;       ///< unit, outward; per body
    int32_t (*face_edge)[3];          ///< of the cloth, from corner k to k + 1
    double *node_area;

    int8_t *side;   ///< per face of cloth: where what crosses it belongs: 1 in front, -1 behind, 0 not known yet
    uint8_t *cut;   ///< per edge: passes through something
    int32_t *part;  ///< per node: piece of cloth that no crossing divides
    int32_t part_count;
    double *part_area;    ///< per part
    uint8_t *part_wrong;  ///< per part: on the wrong side of something
    uint8_t *pushed;      ///< per node: has been told where to go
} tl_healer;

/// Finds parts and sets `u` so that crossings are undone, or get shorter.
tl_status tl_heal_push_crossings(tl_healer *h, tl_error *err);
/// Sets `u` so that near pairs keep their distance; *near counts them.
tl_status tl_heal_push_near(tl_healer *h, int64_t *near, tl_error *err);
