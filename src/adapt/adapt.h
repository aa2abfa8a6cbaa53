// adapt/adapt.h: how the mesh of a cloth adapts to its motion, by one of several kinds (docs/architecture.md, "Adding a
// kind").
//
// Between steps, sim fills in a job for every cloth that is due (the mesh with its state, its surroundings, what may be
// done), asks the kind whether the mesh should change (look), and lets it change the mesh (change). Kinds see nothing
// of the simulation but the job. Data of nodes (handles, pinched nodes, past states of BDF2) are attributes of the mesh
// and follow every edit.
//
// No operation may let cloth pass through anything: `measure_clearance` bounds how far the surface may move at a face,
// `guard` tests triangles against bodies, and an edit that needs more is not made.
#pragma once
#include "adapt/anisotropic/obstacles.h"
#include "base/ctx.h"
#include "base/hash.h"
#include "detect/body_clearance.h"
#include "mesh/mesh_mass.h"
#include "mesh/mesh_order.h"
#include "toile/remeshing.h"

/// Node attributes (int32 words) for the nodes that handles hold: bit k % 32 of word k / 32 stands for group k.
typedef struct tl_adapt_groups {
    int32_t held;    ///< a new node joins the groups that both ends of its edge are in
    int32_t listed;  ///< groups whose nodes were named: new nodes join none, and these nodes are never removed
} tl_adapt_groups;

/// Finds the attributes, or adds them with no node in any of `count` groups.
tl_status tl_adapt_attach_groups(tl_mesh *mesh, int32_t count, tl_adapt_groups *out, tl_error *err);

/// Clearance of a face from other cloth, or from bodies.
typedef enum tl_clearance_kind { TL_CLEARANCE_CLOTH, TL_CLEARANCE_BODIES } tl_clearance_kind;

/// A cloth that is due, and its surroundings. Everything is borrowed for the call.
typedef struct tl_adapt_job {
    const tl_remeshing *def;
    tl_mesh *mesh;  ///< holds the present state (pos, vel)
    const tl_material *materials;
    int32_t material_count;
    double thickness;  ///< of the cloth [m]
    double interval;   ///< until the next look [s]
    bool overdue;      ///< change the mesh in any case
    double energy;     ///< [J] that a change may add to the stretching energy
    int32_t group_count;
    const int32_t *line_groups;    ///< bits as of tl_adapt_groups.held: groups that a new node joins only on outlines,
                                   ///< seams and feature lines
    const tl_obstacle *obstacles;  ///< bodies as they are now
    int32_t obstacle_count;
    bool obstacles_move;
    const tl_guard *guard;  ///< tests triangles against the same bodies
    /// Moves `obstacles` to where they will be `later` [s] from now; the caller moves them back to 0.
    tl_status (*place_obstacles)(void *host, double later, tl_error *err);
    /// Clearance is measured between surfaces as they are at this call: before the first operation that may move
    /// something, and again when much clearance has been used up.
    tl_status (*renew_clearance)(void *host, tl_error *err);
    /// Clearance [m] of a face at the last renew_clearance: exact if below `enough`, else a lower bound of at least
    /// `enough`. For bodies it is the distance from them.
    double (*measure_clearance)(void *host, int32_t face, tl_clearance_kind what, double enough);
    void *host;  ///< for these three
    tl_ctx ctx;
} tl_adapt_job;

typedef struct tl_remesh_report {
    int32_t splits, flips, collapses;
    int32_t refused;         ///< flips and collapses not done for lack of clearance
    int32_t straight;        ///< splits that left the new node on the edge for that reason
    double energy;           ///< [J] stretching energy added by operations, not counting what others removed
    int32_t too_long;        ///< edges left with a size above 1: the limit of faces was reached
    tl_vec3 momentum, spin;  ///< linear [kg m/s] and angular (about the mean place of the nodes) [kg m^2/s] before
    tl_vec3 momentum_drift, spin_drift;  ///< change by the pass
} tl_remesh_report;

/// One const instance per kind. Members that may be NULL say so. `self` is the kind's state for one cloth; kinds that
/// keep their state in mesh attributes have none.
typedef struct tl_adapter {
    const char *name;     ///< word of the scene key `remeshing.kind`
    const char *promise;  ///< what it does, one sentence
    bool keeps_clear;     ///< its operations let nothing pass through anything
    /// When the cloth is added. NULL: no `self`.
    tl_status (*create)(const tl_allocator *alloc, tl_mesh *mesh, const tl_remeshing *def, void **self, tl_error *err);
    void (*destroy)(void *self);  ///< NULL: no `self`
    /// Determines what the mesh should be like, and whether it should change. NULL: it never does.
    tl_status (*look)(void *self, const tl_adapt_job *job, bool *wanted, tl_error *err);
    /// Changes the mesh after such a look. On failure the mesh is consistent, in the middle of the change.
    tl_status (*change)(void *self, const tl_adapt_job *job, tl_remesh_report *report, tl_error *err);
    /// Slots of the mesh have been renumbered, for memory order. NULL: not needed.
    void (*renumber)(void *self, const tl_renumbering *map);
    /// Writes what later changes depend on, beside the mesh itself, as bytes of a saved state; `out` NULL: returns the
    /// size only.
    size_t (*save)(const void *self, const tl_mesh *mesh, char *out);
    /// Reads it back for a mesh that was just restored, and makes `self`. Refuses damaged data.
    tl_status (*load)(tl_mesh *mesh, const tl_remeshing *def, int32_t group_count, const char *data, size_t size,
                      size_t *used, void **self, tl_error *err);
    void (*hash)(const tl_remeshing *def, tl_hash *hash);  ///< settings that change results; NULL: none
} tl_adapter;

extern const tl_adapter tl_adapter_none;
extern const tl_adapter tl_adapter_anisotropic;  ///< Narain et al. 2012
extern const tl_adapter tl_adapter_edge_trees;   ///< Simnett 2012
extern const tl_adapter tl_adapter_isotropic;    ///< the same with round tensors
extern const tl_adapter tl_adapter_sqrt3;        ///< Li & Volkov 2005

tl_lumping tl_lumping_of(const tl_remeshing *def);        ///< how masses of a cloth are lumped
const tl_adapter *tl_adapter_of(tl_remeshing_kind kind);  ///< NULL: no such kind
