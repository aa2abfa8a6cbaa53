// sim/remeshing_impl.h: what the files of remeshing share.
#pragma once
#include "detect/clearance.h"
#include "sim/internal.h"

#define KEPT 0.9  // part of the thickness that operations leave between surfaces, unless they were closer

/// Attributes of a cloth's mesh for the time of a pass.
typedef struct carried {
    tl_adapt_groups groups;
    int32_t origin, free, lag;
    bool wanted;  // its adapter wants a pass
} carried;

typedef struct clearance_job clearance_job;

/// The world as the remesher sees it.
typedef struct surroundings {
    tl_guard_body *guard;  ///< per body; `keep` is set for each cloth
    tl_obstacle *obstacle;
    tl_clearance_body *clearance;
    double *thickness;
    int32_t body_count;  ///< those that are there now
    carried *carry;      ///< per cloth
    double thickest;
    tl_guard all;  ///< `guard` and how far to look
    clearance_job *job;
    bool measured;  ///< `job` has been prepared
    double energy;  ///< [J] that the pass may still add to the stretching energy
} surroundings;

// remeshing_nodes.c

/// What a cloth's nodes have beside the mesh becomes attributes of it.
tl_status remeshing_load_nodes(tl_sim *sim, int32_t cloth, carried *out, tl_error *err);

/// After a pass, also after one that was broken off: handles hold nodes that are there, and the mesh has no gaps.
tl_status remeshing_settle(tl_sim *sim, int32_t cloth, const carried *carry, tl_error *err);

/// From the attributes to the simulation, when that has been made anew. `dt_before`: length of the step before the pass
/// [s].
void remeshing_restore_nodes(tl_sim *sim, double dt_before);

// remeshing_clearance.c

/// For one cloth, to tl_adapt_job.host.
typedef struct renewal {
    tl_sim *sim;
    surroundings *s;
    int32_t cloth;
    bool again;
} renewal;

tl_status remeshing_renew_clearance(void *renewal, tl_error *err);
double remeshing_measure_clearance(void *renewal, int32_t face, tl_clearance_kind what, double enough);
void remeshing_free_clearance(surroundings *s);  ///< after the pass over all cloths
