// dynamics/dynamics.h: how a time step is solved, by one of several kinds (docs/architecture.md, "Adding a kind").
//
// sim fills in a world: the state of all cloths as one list of nodes, what they are made of, and how to ask for bodies
// and handles at any time within the step. The kind takes the state from `begin` to `begin + dt`, in as many parts as
// it likes. What it needs of its own from step to step (factors, springs, contacts of its own) it keeps in `self`.
#pragma once
#include "base/ctx.h"
#include "base/hash.h"
#include "base/log.h"
#include "physics/forces.h"
#include "physics/strain_limit.h"
#include "respond/respond.h"
#include "toile/air.h"
#include "toile/remeshing.h"
#include "toile/report.h"

/// What of the definition of a simulation is about solving steps; fields as in tl_sim_def.
typedef struct tl_dynamics_settings {
    double dt;
    tl_integrator integrator;
    int32_t newton_iterations;
    double newton_tolerance;
    int32_t max_halvings;
    tl_linear linear;
    double linear_tolerance;
    int32_t linear_iterations;
    double effort;
    tl_vec3 gravity;
    tl_air_def air;
    tl_springs_options springs;
} tl_dynamics_settings;

/// What handles and air do in a (sub)step; arrays are in the arena, one entry per node.
typedef struct tl_drive {
    tl_vec3 *target;          ///< where fixed nodes (elements->fixed) are at its end; other entries are free to use
    const double *pull;       ///< stiffness of springs to `pull_to` [N/m], of handles that let go; NULL: none
    const tl_vec3 *pull_to;   ///< [m]
    tl_vec3 wind;             ///< [m/s]
    const tl_eddies *eddies;  ///< turbulence on top of it; NULL: none
    const float *shelter;     ///< part of both that reaches each face, which others lie in front of; NULL: all
} tl_drive;

/// A (sub)step as contact is to see it.
typedef struct tl_respond_begin {
    double begin, dt, gamma;
    tl_pinching pinch;
    bool again;             ///< part of a step that had to be cut
    bool still;             ///< bodies stay where they are at `begin`
    const tl_vec3 *x_hat;   ///< velocity is gamma (x - x_hat)
    const tl_vec3 *target;  ///< of fixed nodes
} tl_respond_begin;

/// All that a step is about. Borrowed for the call.
typedef struct tl_dynamics_world {
    tl_dynamics_settings set;
    tl_elements *elements;     ///< masses, faces, hinges, fabrics; `fixed` says which nodes handles drive
    tl_strain_limits *limits;  ///< NULL: no cloth has any
    int64_t step;              ///< its number
    double time;               ///< at its beginning [s]
    int32_t body_count;
    bool remeshed;        ///< the meshes were changed right before this step
    int halvings;         ///< the step is cut this often at least, for the sake of bodies that turn
    bool *shape_changed;  ///< fixed nodes are new since the bending shapes were made; the kind clears it when it has
    bool *begun;          ///< the elements hold stiffness for the present state; the kind sets it
    // state: in and out
    int32_t node_count;
    tl_vec3 *x, *v;
    tl_vec3 *x_before, *v_before;  ///< of the (sub)step before, with TL_BDF2; else NULL
    double *dt_before;             ///< length of the last (sub)step [s], 0: none yet
    // contact
    const tl_responder *responder;
    void *response;  ///< its `self`; NULL: nothing to collide with
    // what sim knows of handles, air and bodies
    tl_status (*drive)(void *host, double begin, double end, tl_drive *out, tl_error *err);
    tl_status (*begin_response)(void *host, const tl_respond_begin *at, tl_error *err);  ///< calls responder->begin
    void *host;
    const tl_log *log;
    tl_ctx ctx;
} tl_dynamics_world;

/// One const instance per kind. Members that may be NULL say so.
typedef struct tl_dynamics {
    const char *name;     ///< word of the scene key `dynamics.kind`
    const char *promise;  ///< what it does, one sentence
    bool has_potential;   ///< minimises one, so responses and limits that are terms of it can be had
    bool own_contact;     ///< can answer contact itself, by a response that is `in_dynamics`
    bool (*follows)(tl_remeshing_kind adapter);  ///< .. and then follows meshes changed by this kind, else none; NULL:
                                                 ///< whatever the response, by all
    tl_status (*create)(const tl_allocator *alloc, const tl_dynamics_settings *set, void **self, tl_error *err);
    void (*destroy)(void *self);  ///< NULL is fine
    /// Elements are new: the first time, and whenever meshes, handles' cloths or fabrics are others.
    tl_status (*compile)(void *self, tl_dynamics_world *world, tl_error *err);
    /// One step. TL_FAILED: there is no answer; the state is as it was.
    tl_status (*step)(void *self, tl_dynamics_world *world, double begin, double dt, tl_step_report *report,
                      tl_error *err);
    /// A step of the descent that brings a strained start to rest: x from world->x by the cloth's own stress, bodies
    /// where they are. *stored: energy at x [J]. `limits`: held on the way, NULL: none. NULL: starts are not relaxed.
    tl_status (*relax)(void *self, tl_dynamics_world *world, double dt, tl_strain_limits *limits, tl_vec3 *x,
                       double *stored, tl_error *err);
    void (*restart)(void *self);  ///< an epoch begins: what was reused from step to step, but for what `save` saves
    /// What it goes by beside the state in `world`, as bytes of a saved state; `out` NULL: counts only.
    size_t (*save)(const void *self, char *out);
    /// The reverse; meshes and nodes are exchanged after it, so what it refuses must not have changed anything.
    tl_status (*load)(void *self, const char *data, size_t size, tl_error *err);
    void (*hash)(const tl_dynamics_settings *set, tl_hash *hash);  ///< settings that shape results
} tl_dynamics;

extern const tl_dynamics tl_dynamics_implicit;
extern const tl_dynamics tl_dynamics_springs;  ///< Simnett 2012, and better; with push-out the steps are sim's own
extern const tl_dynamics tl_dynamics_baraff_witkin;

const tl_dynamics *tl_dynamics_of(tl_dynamics_kind kind);  ///< NULL: no such kind
