// adapt/adapt.h: how the mesh of a cloth follows what it does, by one of several kinds (docs/architecture.md, "Adding a
// kind").
//
// Between steps sim looks at every cloth that is due. It fills in a job (the mesh with its state, what is around it,
// what may be done), asks the kind whether the mesh wants a change (look), and lets it make one (change). Kinds know
// nothing of the simulation: what they need of it is in the job. What belongs to nodes (handles, pinched nodes, the
// past of BDF2) is kept in attributes of the mesh, so it follows every edit by itself.
//
// No operation may let cloth pass through anything. `measure_room` says how far the surface may be moved at a face, and
// `guard` whether triangles are clear of bodies; an edit that needs more is not made.
#pragma once
#include "adapt/anisotropic/obstacles.h"
#include "base/ctx.h"
#include "base/hash.h"
#include "detect/body_clearance.h"
#include "mesh/mesh_mass.h"
#include "mesh/mesh_order.h"
#include "toile/sim.h"

/// Attributes that say which nodes handles hold: nodes, int32s: bit k % 32 of word k / 32 is set for group k.
typedef struct tl_adapt_groups {
    int32_t held;    ///< a new node is in the groups that both ends of its edge are in
    int32_t listed;  ///< by name: new nodes are in none, and nodes that are in one never go
} tl_adapt_groups;

/// Finds the attributes, or adds them with nothing held. `count` groups at most.
tl_status tl_adapt_attach_groups(tl_mesh *mesh, int32_t count, tl_adapt_groups *out, tl_error *err);

/// For whose sake a face may not move any further.
typedef enum tl_room_kind { TL_ROOM_CLOTH, TL_ROOM_BODIES } tl_room_kind;

/// A cloth that is due, and what is around it. Everything is borrowed for the call.
typedef struct tl_adapt_job {
    const tl_remeshing *def;
    tl_mesh *mesh;  ///< holds the state: pos and vel are those of now
    const tl_material *materials;
    int32_t material_count;
    double thickness;  ///< of the cloth [m]
    double interval;   ///< until the next look [s]
    bool overdue;      ///< a change is wanted in any case
    double energy;     ///< [J] that a change may add to the stretching energy
    int32_t group_count;
    const int32_t *line_groups;    ///< bits as of tl_adapt_groups.held: groups that a new node joins only on outlines,
                                   ///< seams and feature lines
    const tl_obstacle *obstacles;  ///< bodies as they are now
    int32_t obstacle_count;
    bool obstacles_move;
    const tl_guard *guard;  ///< the same for the test whether triangles are clear of them
    /// Puts `obstacles` where they are at `later` [s] from now; whoever does puts them back to 0.
    tl_status (*place_obstacles)(void *host, double later, tl_error *err);
    /// From now on room is between things as they are; called before the first operation that may move something, and
    /// again where much room has been used up.
    tl_status (*renew_room)(void *host, tl_error *err);
    /// Room [m] of a face as it was at the last renew_room: exact if it is below `enough`, else `enough` or more, but
    /// no more than there is. Bodies: its distance from them.
    double (*measure_room)(void *host, int32_t face, tl_room_kind what, double enough);
    void *host;  ///< for these three
    tl_ctx ctx;
} tl_adapt_job;

typedef struct tl_remesh_report {
    int32_t splits, flips, collapses;
    int32_t refused;         ///< flips and collapses left undone because something was in the way
    int32_t straight;        ///< splits that stayed on the edge for that reason
    double energy;           ///< [J] stretching energy added by operations, without what others took away
    int32_t too_long;        ///< edges left with a size above 1: the limit of faces was reached
    tl_vec3 momentum, spin;  ///< linear [kg m/s] and angular (about the mean place of the nodes) [kg m^2/s] before
    tl_vec3 momentum_drift, spin_drift;  ///< change by the pass
} tl_remesh_report;

/// One const instance per kind. Members that may be NULL say so. `self` is what the kind keeps of one cloth from look
/// to look; kinds that keep everything in attributes of the mesh have none.
typedef struct tl_adapter {
    const char *name;     ///< word of the scene key `remeshing.kind`
    const char *promise;  ///< what it does, one sentence
    bool keeps_clear;     ///< its operations let nothing pass through anything
    /// When the cloth is added. NULL: no `self`.
    tl_status (*create)(const tl_allocator *alloc, tl_mesh *mesh, const tl_remeshing *def, void **self, tl_error *err);
    void (*destroy)(void *self);  ///< NULL: no `self`
    /// Finds out what the mesh should be like, and whether it is so no longer. NULL: the mesh never changes.
    tl_status (*look)(void *self, const tl_adapt_job *job, bool *wanted, tl_error *err);
    /// Changes the mesh, after a look that wanted it. On failure the mesh is consistent, in the middle of the change.
    tl_status (*change)(void *self, const tl_adapt_job *job, tl_remesh_report *report, tl_error *err);
    /// Slots of the mesh have been renumbered after a change, for the sake of memory order. NULL: no matter.
    void (*renumber)(void *self, const tl_renumbering *map);
    /// What decides about later changes, as bytes of a saved state, beside the mesh itself. `out` NULL: counts only.
    size_t (*save)(const void *self, const tl_mesh *mesh, char *out);
    /// The reverse, for a mesh that was just read; makes `self`. Refuses what is damaged.
    tl_status (*load)(tl_mesh *mesh, const tl_remeshing *def, int32_t group_count, const char *data, size_t size,
                      size_t *used, void **self, tl_error *err);
    void (*hash)(const tl_remeshing *def, tl_hash *hash);  ///< settings that shape results; NULL: none
} tl_adapter;

extern const tl_adapter tl_adapter_none;
extern const tl_adapter tl_adapter_anisotropic;  ///< Narain et al. 2012
extern const tl_adapter tl_adapter_edge_trees;   ///< Simnett 2012
extern const tl_adapter tl_adapter_isotropic;    ///< the same with round tensors
extern const tl_adapter tl_adapter_sqrt3;        ///< Li & Volkov 2005

tl_lumping tl_lumping_of(const tl_remeshing *def);        ///< how masses of a cloth are lumped
const tl_adapter *tl_adapter_of(tl_remeshing_kind kind);  ///< NULL: no such kind
