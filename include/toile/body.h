// toile/body.h: what cloth collides with: meshes that stand, move rigidly or deform, and simple shapes.
// SI units, right-handed, y up. Bodies move as told; cloth does not push them.
#pragma once
#include "toile/character.h"
#include "toile/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tl_body_kind {
    TL_BODY_MESH,      ///< pos, face; may deform by keys or be a character
    TL_BODY_PLANE,     ///< everything behind a plane through `center` with outward `axis`; has no mesh
    TL_BODY_SPHERE,    ///< center, radius
    TL_BODY_CAPSULE,   ///< center, axis from one end of the core to the other (full length), radius
    TL_BODY_CYLINDER,  ///< center, axis (full length), radius
    TL_BODY_BOX,       ///< center, size (full)
} tl_body_kind;

/// Start from tl_body_def_default(). Shapes other than the plane become meshes whose flats stay within four thousandths
/// of the radius and whose corners lie on the true surface, so the mesh is inside it.
typedef struct tl_body_def {
    uint32_t struct_size;        ///< filled in by the default function, do not set
    const char *name;            ///< as for cloths; NULL: "body". Unique among cloths and bodies.
    tl_body_kind kind;           ///< Default TL_BODY_MESH.
    tl_vec3 center, axis, size;  ///< of shapes [m]
    double radius;               ///< of shapes [m]
    int32_t node_count;          ///< of a mesh; all arrays are borrowed for the call
    const tl_vec3 *pos;          ///< [m]
    int32_t face_count;
    const int32_t (*face)[3];  ///< nodes, counter-clockwise from outside
    // Deforming: key_count >= 1 shapes, straight paths between them, still before the first and after the last.
    // Replaces pos.
    int32_t key_count;
    const double *key_time;  ///< [s], strictly increasing
    const tl_vec3 *key_pos;  ///< key_count times node_count
    // A character and how its clip runs. Replaces pos, face and keys; copied, so it may be destroyed afterwards.
    const tl_character *character;
    tl_playback playback;
    // Rigid motion on top of that, as for handles: turned about `pivot`, then moved; smooth between keys.
    const tl_motion_key *motion;
    int32_t motion_count;
    tl_curve curve;  ///< between its keys. Default TL_CURVE_SMOOTH.
    tl_vec3 pivot;
    double start, end;  ///< cloth meets it for start <= t < end [s]. Default 0, infinity.
    double friction;    ///< >= 0. Default 0.3.
    double thickness;   ///< extra distance kept from the surface [m], >= 0. Default 0.
    uint32_t
        mittens;     ///< 1: of a character, cloth meets hands and toes as closed by the convex hulls of their vertices
                     ///< at rest, so that it does not get between fingers; views show them as they are. Default 0.
    uint32_t flesh;  ///< 1: of a character with a clip, skin gives way where its parts come nearer to each other than
                     ///< 12 mm or overlap by up to 30 mm, so that cloth between them has room. Default 0.
    uint32_t live;   ///< 1: moved by tl_body_set_pose and tl_body_set_positions (toile/live.h), by no keys. Default 0.
} tl_body_def;
TL_API void tl_body_def_init(tl_body_def *def, size_t size);  ///< the defaults, as far as `size` bytes go
static inline tl_body_def tl_body_def_default(void)
{
    tl_body_def def;
    tl_body_def_init(&def, sizeof def);
    return def;
}

TL_API tl_status tl_sim_add_body(tl_sim *sim, const tl_body_def *def, tl_body_id *out, tl_error *err);

TL_API int32_t tl_sim_body_count(const tl_sim *sim);
TL_API tl_body_id tl_sim_body(const tl_sim *sim, int32_t index);
TL_API const char *tl_sim_body_name(const tl_sim *sim, tl_body_id body);

/// The body at the present time. Borrowed; valid until the next call that takes a non-const `sim`. A plane shows as a
/// large square.
typedef struct tl_body_view {
    const tl_vec3 *pos;
    int32_t node_count;
    const int32_t (*face)[3];
    int32_t face_count;
    uint32_t moves;    ///< 0: the same at all times
    uint32_t present;  ///< 0: cloth did not meet it in the last step (nor will in the first, before that): outside
                       ///< start and end
} tl_body_view;
TL_API tl_status tl_sim_body_view(const tl_sim *sim, tl_body_id body, tl_body_view *out);

/// Edges that pass through faces, by the exact test, and where the first ones are. Pairs of pinched nodes are not
/// counted.
typedef struct tl_intersection {
    char first[64], second[64];
    int32_t edge_nodes[2], face;
    tl_vec3 place;
} tl_intersection;
typedef struct tl_intersection_report {
    int64_t cloth_cloth, cloth_body, pinched;
    int32_t listed;            ///< entries of `list` filled
    tl_intersection list[16];  ///< `first` owns the edge, `second` the face
} tl_intersection_report;
TL_API tl_status tl_sim_intersections(tl_sim *sim, tl_intersection_report *out, tl_error *err);

/// What relaxing a strained start came to (docs/start.md); all 0 if there was none.
typedef struct tl_relax_report {
    int32_t rounds;                      ///< of relaxing, from coarse meshes to fine ones
    int32_t limit_rounds;                ///< of bringing faces within limits
    int32_t steps;                       ///< over all rounds
    int32_t faces_before, faces;         ///< of all cloths
    int32_t moved;                       ///< nodes of the final mesh that are not where their cloth was
    double mean_move, largest_move;      ///< how far [m]; the mean is by mass
    double strain_before[2], strain[2];  ///< smallest and largest principal strain of any face
    double excess;                       ///< of a face over the limits that were asked for; 0: none
} tl_relax_report;

/// What was wrong with a start, and what was done about it (docs/contact.md).
typedef struct tl_start_report {
    int64_t crossings_before;  ///< edges through faces, and edges that reach behind a plane
    int64_t crossings_after;
    int32_t nodes_moved;
    double largest_move;  ///< [m]
    int32_t iterations;
    int32_t relaxed;        ///< steps in which the cloth's own stress smoothed what was pulled apart
    double strain, energy;  ///< afterwards: the strain that all but a hundredth of the area keep to, and what
                            ///< stretching stores beyond before [J]; 0 if nothing crossed
    tl_relax_report relax;
} tl_start_report;

/// Contact keeps free of intersections what is free of them, so this is seen to before the first step, and again after
/// a cloth or a body was added or the time of a body has come: if surfaces cross, as collide.on_intersection says; what
/// is nearer than a hundredth of its thickness is moved apart in any case. TL_BAD_INPUT with the places if they do and
/// may not, could not be pulled apart, or only to something absurd (docs/contact.md); then the state is unchanged.
/// Then cloth that is strained is relaxed, before the first step alone (tl_sim_def.start).
/// tl_sim_step does it by itself; call it to have the report, or to see the state that a run begins with. Does nothing
/// when it has been done. `out` may be NULL.
TL_API tl_status tl_sim_start(tl_sim *sim, tl_start_report *out, tl_error *err);

/// Pulls apart what crosses, and what is nearer than its thickness as far as that goes, whatever
/// collide.on_intersection says; velocities stay. Nodes that handles hold do not move. TL_OK also if crossings are
/// left: see the report. `out` may be NULL.
TL_API tl_status tl_sim_heal(tl_sim *sim, tl_start_report *out, tl_error *err);

/// Nodes of a cloth that are pinched: between bodies that leave no room, exempt from the promise until they are free
/// again (docs/contact.md). Returns how many; fills `nodes` (may be NULL) up to `capacity`.
TL_API int32_t tl_sim_pinched(const tl_sim *sim, tl_cloth_id cloth, int32_t *nodes, int32_t capacity);

#ifdef __cplusplus
}
#endif
