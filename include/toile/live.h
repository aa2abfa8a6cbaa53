// toile/live.h: change a simulation while it runs: grab cloth and drag it, move bodies, take things away, give cloth
// another fabric, turn gravity and wind.
//
// What is set here holds from the next step on and keeps the solver's state. Results depend on the calls alone, not on
// threads or clocks. Handles are dragged by tl_handle_set_target (toile/handle.h).
#pragma once
#include "toile/body.h"
#include "toile/handle.h"
#include "toile/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Where a live body is to be at the end of the next step: its shape as defined, turned about its pivot and moved. It
/// goes there smoothly, and cloth is pushed aside, not jumped over.
TL_API tl_status tl_body_set_pose(tl_sim *sim, tl_body_id body, const tl_motion_key *pose, tl_error *err);

/// The shape of a live body at the end of the next step, `count` nodes in the order of its view, before the pose is
/// applied. Nodes go there in straight lines. Not for planes and characters.
TL_API tl_status tl_body_set_positions(tl_sim *sim, tl_body_id body, const tl_vec3 *pos, int32_t count, tl_error *err);

/// Takes a body away: cloth is no longer held up by it. The solver starts afresh.
TL_API tl_status tl_body_remove(tl_sim *sim, tl_body_id body, tl_error *err);

/// Springs from nodes of a cloth to places, in every step from the next one on, until others are set: `stiffness`
/// [N/m], 0: none, and `to` [m] for each of its nodes in the order of its view; both NULL: no more springs. For cloth
/// whose mesh stays as it is (TL_REMESHING_NONE). Not part of a saved state.
TL_API tl_status tl_cloth_set_springs(tl_sim *sim, tl_cloth_id cloth, const double *stiffness, const tl_vec3 *to,
                                      int32_t node_count, tl_error *err);

/// What a cloth is made of, borrowed until the next call that takes a non-const `sim`; and other fabrics in its place,
/// as many as it has; NULL: those of its definition. Its shape stays; a saved state then goes with a simulation of the
/// new fabrics.
TL_API tl_status tl_cloth_materials(const tl_sim *sim, tl_cloth_id cloth, const tl_material **out, int32_t *count,
                                    tl_error *err);
TL_API tl_status tl_cloth_set_materials(tl_sim *sim, tl_cloth_id cloth, const tl_material *materials, int32_t count,
                                        tl_error *err);

/// How its mesh follows what a cloth does; and other limits, or another kind, from the next step on; NULL: as it was
/// defined. The mesh there is stays. Between none, anisotropic and isotropic, with springs between none and edge-trees:
/// TL_BAD_ARG for a kind that needs the mesh as it was given, for cloth whose ties or springs need one that stays, and
/// for other `masses`.
TL_API tl_status tl_cloth_remeshing(const tl_sim *sim, tl_cloth_id cloth, tl_remeshing *out, tl_error *err);
TL_API tl_status tl_cloth_set_remeshing(tl_sim *sim, tl_cloth_id cloth, const tl_remeshing *remeshing, tl_error *err);

/// Speeds of all cloth become `keep` times what they are, 0 to 1: for cloth that is being arranged.
TL_API tl_status tl_sim_slow(tl_sim *sim, double keep, tl_error *err);

TL_API tl_status tl_sim_set_gravity(tl_sim *sim, tl_vec3 gravity, tl_error *err);  ///< [m/s^2]
TL_API tl_status tl_sim_set_wind(tl_sim *sim, tl_vec3 wind,
                                 tl_error *err);  ///< [m/s]; in place of the wind and keys there were, gusts stay
TL_API tl_status tl_sim_set_dt(tl_sim *sim, double dt, tl_error *err);  ///< [s], > 0; time goes on from where it is

/// Where somebody looks from, and how much may be spent on what is seen (docs/realtime.md, "What is seen"). For cloth
/// of springs on edge trees.
typedef struct tl_detail_key {
    double time;  ///< [s], strictly increasing
    tl_vec3 eye;  ///< [m]
} tl_detail_key;
typedef struct tl_detail {
    uint32_t struct_size;       ///< filled in by the default function, do not set
    const tl_detail_key *keys;  ///< the eye over time, smooth in between; copied. NULL: nobody looks from anywhere
    int32_t key_count;
    uint32_t cull;        ///< 1: what faces away from the eye is coarse, up to what is seen. Default 0.
    uint32_t hidden;      ///< 1: off the screen: no edge is split. Default 0.
    int32_t far_faces;    ///< budget of a cloth `far` from the eye and beyond; between, and up to `near`, where it is
                          ///< tl_remeshing.max_faces, in proportion to the distance. 0: no. Default 0.
    double near, far;     ///< [m], 0 <= near < far. Default 1, 10.
    double step_seconds;  ///< budget of time of all cloths in a step [s]: triangles are what that was enough for
                          ///< before. By a clock: results then depend on the machine. 0: none. Default 0.
} tl_detail;
TL_API void tl_detail_init(tl_detail *detail, size_t size);
static inline tl_detail tl_detail_default(void)
{
    tl_detail detail;
    tl_detail_init(&detail, sizeof detail);
    return detail;
}
/// From the next step on, in place of what was set before. Not part of a saved state.
TL_API tl_status tl_sim_set_detail(tl_sim *sim, const tl_detail *detail, tl_error *err);

#ifdef __cplusplus
}
#endif
