// toile/handle.h: hold nodes of a cloth, move them along a path, drag them.
#pragma once
#include "toile/ids.h"

#ifdef __cplusplus
extern "C" {
#endif

/// How the way goes from one pose to the next. Still before the first and after the last.
typedef enum tl_curve {
    TL_CURVE_SMOOTH,  ///< never beyond a key, at rest at both ends; turns beyond 360 degrees are kept (Fritsch &
                      ///< Butland 1984)
    TL_CURVE_CUBIC,  ///< cubic Hermite: rates where a key gives them, else from its neighbours, zero at the ends; turns
                     ///< by quaternions
} tl_curve;

/// A pose on the path of a handle or body. Scale and rotation are about `pivot`, then `translate` moves; all are
/// relative to where the nodes were when the handle took hold.
typedef struct tl_motion_key {
    double time;             ///< [s], strictly increasing
    tl_vec3 translate;       ///< [m]
    tl_vec3 rotate_axis;     ///< any length; with rotate_deg 0 it may be zero
    double rotate_deg;       ///< angle about the axis
    uint32_t release;        ///< 1: the handle lets go at this key
    uint32_t has_rates;      ///< 1: a cubic curve has the rates below here
    double scale;            ///< factor, > 0; 0 counts as 1
    tl_vec3 velocity, spin;  ///< of translate [m/s], of the rotation [rad/s]
    double growth;           ///< of scale [1/s]
} tl_motion_key;

/// Nodes held in place or moved along a smooth path. Every selector given must hold for a node to be chosen.
typedef struct tl_handle_def {
    uint32_t struct_size;  ///< filled in by the default function, do not set
    tl_cloth_id cloth;
    const int32_t *nodes;  ///< indices of the cloth's nodes, node_count entries; NULL: not by index
    int32_t node_count;
    uint32_t
        along_outline;  ///< 1: nodes that remeshing puts on an outline between two listed ones are held too. Default 0.
    int32_t label;      ///< nodes with this label; 0: not by label
    uint32_t use_box, use_sphere, use_uv_box;  ///< regions, at the start of the simulation
    tl_vec3 box_min, box_max;                  ///< world box [m]
    tl_vec3 sphere_center;
    double sphere_radius;
    tl_vec2 uv_min, uv_max;  ///< box in material space [m]
    double start, end;       ///< holds for start <= t < end [s]. Default 0, infinity.
    double fade;             ///< after `end`, springs that weaken to nothing in this time [s], >= 0. Default 0.
    double stiffness;        ///< of those springs, per node, at first [N/m], > 0. Default 1e3.
    uint32_t use_ellipse;    ///< 1: nodes are held on an ellipse instead of where they were: center + axis[0] cos +
                             ///< axis[1] sin of the angle
    tl_vec3 ellipse_center, ellipse_axis[2];  ///< [m]
    tl_vec2 ellipse_turns;                    ///< the angle is this times the material place, in whole turns per metre
    tl_vec3 pivot;                            ///< centre of rotation [m]
    const tl_motion_key *keys;                ///< borrowed for the call; NULL: held still
    int32_t key_count;
    tl_curve curve;  ///< Default TL_CURVE_SMOOTH.
    uint32_t live;   ///< 1: its target is set by tl_handle_set_target (toile/live.h), not by keys. Default 0.
    // Ties and bands (docs/scene.md#ties): springs in place of a hold, for cloth with TL_REMESHING_NONE and dynamics
    // implicit; with dynamics springs a tie holds nodes on the skin exactly, whatever the remeshing. A tie has a body:
    // each node is drawn to the place on the body's skin where it is when the handle is made, by `stiffness`, once it
    // is farther from there than `slack`. A band has `elastic`: edges between chosen nodes want to be no longer than
    // this fraction of their length in the material.
    tl_body_id body;  ///< {0, 0}: no tie. The body is there before the handle.
    double slack;     ///< of a tie [m], >= 0. Default 0.
    double elastic;   ///< of a band, > 0; 0: no band. Default 0.
    double tension;   ///< of a band, per strain [N], > 0. Default 20.
} tl_handle_def;
TL_API void tl_handle_def_init(tl_handle_def *def, size_t size);  ///< the defaults, as far as `size` bytes go
static inline tl_handle_def tl_handle_def_default(void)
{
    tl_handle_def def;
    tl_handle_def_init(&def, sizeof def);
    return def;
}

/// TL_BAD_INPUT if nothing is selected or a number is out of range.
TL_API tl_status tl_sim_add_handle(tl_sim *sim, const tl_handle_def *def, tl_error *err);

/// As tl_sim_add_handle, with an id. With `live` in the definition its target is set by tl_handle_set_target.
TL_API tl_status tl_handle_create(tl_sim *sim, const tl_handle_def *def, tl_handle_id *out, tl_error *err);

/// Where the handle's nodes are to be at the end of the next step, relative to where they were when it took hold:
/// `pose` is turned about the handle's pivot and moved; its time and rates are not looked at. They stay there until
/// another target is set. Cloth in the way holds them up.
TL_API tl_status tl_handle_set_target(tl_sim *sim, tl_handle_id handle, const tl_motion_key *pose, tl_error *err);

/// Lets go.
TL_API tl_status tl_handle_remove(tl_sim *sim, tl_handle_id handle, tl_error *err);

#ifdef __cplusplus
}
#endif
