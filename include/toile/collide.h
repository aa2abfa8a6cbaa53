// toile/collide.h: distance and continuous collision of small features, for those who build on them.
//
// Four points make a pair: a vertex and a face (v, f0, f1, f2) or two edges (a0, a1, b0, b1). SI units.
#pragma once
#include "toile/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Where two features are nearest. The vector from the second feature to the first is sum over i of weight[i] x[i]:
/// weights of the first feature are >= 0 and sum to 1, of the second <= 0 and sum to -1.
typedef struct tl_nearest {
    double distance;  ///< [m]
    double weight[4];
} tl_nearest;
TL_API tl_nearest tl_nearest_vertex_face(const tl_vec3 x[4]);
TL_API tl_nearest tl_nearest_edge_edge(const tl_vec3 x[4]);

/// Do features that move straight from x0 to x1 come within `separation` >= 0 [m] of each other at a time in [0, 1]?
/// Never misses; false alarms are rare and mean a pass within rounding. *time (may be NULL) gets a time not later than
/// the first contact; 1 if there is none. Positions that are not finite count as a contact at 0. Any unit and any place
/// will do: nothing is compared with a fixed length. docs/ccd.md has the method and its figures.
TL_API uint32_t tl_ccd_vertex_face(const tl_vec3 x0[4], const tl_vec3 x1[4], double separation, double *time);
TL_API uint32_t tl_ccd_edge_edge(const tl_vec3 x0[4], const tl_vec3 x1[4], double separation, double *time);

#ifdef __cplusplus
}
#endif
