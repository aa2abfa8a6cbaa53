// sim/internal.h: what a simulation owns. Only files of sim/ see this; stages get what they need as arguments.
#pragma once
#include "adapt/adapt.h"
#include "base/arena.h"
#include "base/hash.h"
#include "base/workers.h"
#include "body/character.h"
#include "detect/lee.h"
#include "dynamics/dynamics.h"
#include "mesh/mesh.h"
#include "physics/elements.h"
#include "physics/strain_limit.h"
#include "respond/push_out/solid.h"
#include "sim/ids.h"
#include "sim/motion.h"
#include "toile/body.h"
#include "toile/kinds.h"
#include "toile/live.h"

struct spring_cloth;  // spring_cloth.h

typedef struct sim_cloth {
    char name[64];
    tl_mesh *mesh;
    tl_material *materials;
    tl_material *materials_given;  ///< those of the definition; NULL: they are the same
    int32_t material_count;
    double thickness, friction, friction_self;
    tl_remeshing remeshing, remeshing_given;
    const tl_adapter *adapter;  ///< by remeshing.kind
    void *adapter_self;         ///< NULL: it keeps nothing
    int64_t passed;             ///< step before which its mesh was last remade, -1: never
    uint64_t built;             ///< hash of the mesh as it was given
    tl_strain_def strain;
    uint64_t version;  ///< how often the mesh was remade
    bool map_lost;     ///< the mesh is not the last one remade: it was restored
    double *spring;    ///< springs that the host set, per node slot [N/m]; NULL: none
    tl_vec3 *spring_to;
    int32_t spring_count;
    struct spring_cloth *engine;  ///< its engine where dynamics are springs, from the first step on
} sim_cloth;

#define SIM_LONGEST_STEP 1e6  // [s] beyond it the numbers of a step lose all meaning

/// A path that the host sets step by step (live.c).
typedef struct sim_live {
    tl_motion_key from, to;
    double since;  ///< when it was set [s]
} sim_live;
void sim_live_init(sim_live *live, tl_pose_key keys[2]);

typedef struct sim_handle {
    int32_t cloth;
    int32_t *nodes;  ///< slots of the cloth's mesh
    tl_vec3 *base;   ///< where they were when the handle took hold
    int32_t node_count;
    double start, end, fade, stiffness;
    tl_vec3 pivot;
    bool use_ellipse;
    tl_vec3 ellipse[3];  ///< center and axes
    tl_vec2 turns;
    tl_pose_key *keys;
    int32_t key_count;
    bool took_hold;
    double since;  ///< [s] when it did: the first step that began after `start`
    bool let_go;   ///< fades, and `base` is from where it held its nodes last
    bool by_name;  ///< nodes were listed: those that remeshing puts between them are not held
    bool on_line;  ///< .. but on outlines
    bool is_live;  ///< the host sets its target: two keys
    sim_live live;
    struct sim_ties *ties;  ///< it ties its nodes to a body, or is a band (ties.c): then it holds nothing; else NULL
} sim_handle;

/// A body as compiled from its definition (bodies.c). A plane has no nodes.
typedef struct sim_body {
    char name[64];
    tl_body_kind kind;
    tl_vec3 center, axis;  ///< of a plane, before the motion; axis of unit length
    int32_t node_count, face_count, edge_count;
    int32_t hidden;    ///< faces at the end that views do not show: those of mittens
    tl_vec3 *shape;    ///< before the motion, key_count (at least 1) times node_count
    double *key_time;  ///< NULL if there is one shape
    int32_t key_count;
    tl_character *character;  ///< its nodes at any time, in place of `shape`, which holds those at time 0; NULL: none
    tl_poser *poser;
    tl_playback play;
    struct sim_flesh *flesh;  ///< where it gives way (flesh.c); NULL: nowhere
    int32_t (*face)[3];
    int32_t (*edge)[2];  ///< unique edges of the faces
    tl_pose_key *motion;
    int32_t motion_count;
    tl_vec3 pivot;
    double friction, thickness;
    double start, end;  ///< cloth meets it for start <= t < end
    bool present;       ///< .. as it does now
    bool moves;
    bool is_live;  ///< the host sets its pose and, if it has a shape, its nodes: two keys of each
    sim_live live;
    tl_vec3 *shown;  ///< for views: nodes at shown_time, a square for a plane
    double shown_time;
    uint64_t built;  ///< hash of all of the above that shapes results
    // where it is and what finds its faces, for every stage; made when first wanted
    tl_bvh *tree;  ///< the only one; whoever asks it fits it first (sim_fit_body), contact to places of its own
    tl_vec3 *at;   ///< nodes when sim_fit_body last fitted it
    bool placed;   ///< `at` holds what it should; for ever, unless the body moves
    // for springs (springs.c): nodes at the end of the step, and normals at its beginning
    tl_vec3 *then, *normal;
    double then_time;          ///< NaN: not known
    struct tl_search *search;  ///< published structures over its faces (respond/push_out/search.h); NULL: none yet
    bool is_solid;             ///< a shape with a closed form, in axes with z along solid_axis
    tl_solid solid;
    tl_vec3 solid_center, solid_axis;
} sim_body;

/// Fits the tree of a body that is no plane to where it is at `time`; body->at has the places.
tl_status sim_fit_body(tl_sim *sim, sim_body *body, double time, tl_error *err);
void sim_fit_body_ahead(tl_sim *sim, sim_body *body);  ///< once it was fitted: to body->then, which changes places with
                                                       ///< body->at

/// The state is another one: where bodies are is looked at anew.
void sim_forget_places(tl_sim *sim);

/// Finds where a character gives way during its clip, frees that, and moves the skin at a time by it (flesh.c).
tl_status sim_make_flesh(tl_sim *sim, sim_body *body, tl_error *err);
void sim_free_flesh(tl_sim *sim, sim_body *body);
void sim_flesh_at(const sim_body *body, double time, tl_vec3 *x);

/// Nodes of a body at a time, into node_count entries.
void sim_body_at(const sim_body *body, double time, tl_vec3 *out);

/// A plane body at a time: a point on it and its outward unit normal.
void sim_plane_at(const sim_body *body, double time, tl_vec3 *point, tl_vec3 *normal);

void sim_free_bodies(tl_sim *sim);
void sim_free_body(tl_sim *sim, sim_body *body);
void sim_free_handle(tl_sim *sim, sim_handle *handle);
void sim_free_cloth(tl_sim *sim, sim_cloth *cloth);

const sim_cloth *sim_find_cloth(const tl_sim *sim, tl_cloth_id id);  ///< NULL: stale
sim_body *sim_find_body(const tl_sim *sim, tl_body_id id);

/// Part of the wind that reaches every face of cloths[of] at `time`, in the arena; NULL: all of it everywhere (lee.c).
tl_status sim_lee(tl_sim *sim, double time, const tl_lee_surface *cloths, int32_t cloth_count, int32_t of, tl_vec3 wind,
                  const float **out, tl_error *err);

/// Finds out which bodies are there at the present time; false: the same as before. `came`: one is new.
bool sim_find_present(tl_sim *sim, bool *came);
int32_t sim_present_count(const tl_sim *sim);  ///< 0 if cloth does not meet bodies
int32_t sim_present_count_at(const tl_sim *sim, double time);

/// Bodies come and go: contact is made anew, and the start is looked at again if one came (contacts.c).
tl_status sim_come_and_go(tl_sim *sim, tl_error *err);

/// Is a name of 1 to 63 letters, digits, '-', '_', and not taken by a cloth or a body? `what` begins the message
/// ("cloth").
tl_status sim_check_name(const tl_sim *sim, const char *what, const char *name, tl_error *err);

/// Counts what goes through the caller's allocator.
typedef struct sim_memory {
    tl_allocator base;
    size_t used, peak;
} sim_memory;

enum { SIM_EPOCH_STEPS = 8 };  // steps between two notes of the state at most (snapshot.c)

struct tl_sim {
    sim_memory memory;
    tl_allocator alloc;  ///< counts into `memory`
    tl_sim_def def;
    tl_wind_key *wind_keys;
    tl_detail detail;  ///< its keys are ours (detail.c)
    tl_workers *workers;
    tl_arena arena;
    sim_cloth *cloths;
    int32_t cloth_count, cloth_cap;
    sim_handle *handles;
    int32_t handle_count, handle_cap;
    sim_body *bodies;
    int32_t body_count, body_cap;
    sim_ids cloth_ids, handle_ids, body_ids;
    bool springs_stale;  ///< meshes of cloths are not what their engines have
    // compiled from the cloths; NULL until the first step after a change
    tl_elements *elements;
    const tl_dynamics *dynamics;
    void *dynamics_self;  ///< goes from mesh to mesh
    const tl_responder *responder;
    void *response;            ///< its `self`; NULL: nothing to collide with
    tl_contacts *contacts;     ///< those of `response`; NULL: it has none
    tl_strain_limits *limits;  ///< NULL: no cloth has any
    int32_t (*cloth_face)[3];  ///< nodes of the faces and edges of all cloths, in the order of the elements
    int32_t (*cloth_edge)[2];
    int32_t face_count, edge_count;
    bool shape_changed;  ///< fixed nodes are new since the bending shapes were made
    bool started;        ///< what the cloths and bodies start from has been seen to (start.c)
    bool begun;          ///< the elements hold stiffness for the present state
    // state, in the order of the elements
    int32_t node_count;
    tl_vec3 *x, *v;
    tl_vec3 *x_before, *v_before;  ///< of the (sub)step before, BDF2 only, else NULL
    int turn_cut;      ///< steps are halved this often at least, for bodies that turn; found anew in every step
    double dt_before;  ///< length of the last (sub)step, 0: none yet
    double time;
    int64_t step;
    int64_t remeshed;  ///< step before which the cloths were last looked at, -1: never
    // the state at the start of the present epoch, as bytes (snapshot.c)
    void *epoch;
    size_t epoch_size;
    int64_t epoch_step;  ///< step at which it began
    bool epoch_open;
    bool live_changed;  ///< the host changed something since: the steps cannot be taken again (live.c)
    double clock_time;  ///< time is this and a whole number of steps since `clock_step`
    int64_t clock_step;
    tl_cancel cancel;  ///< whom to ask whether a step is still wanted
    bool relaxing;     ///< a pass of remeshing is due at once
    bool interrupted;  ///< a step was given up on the way: the note of the epoch is what holds
    bool dead_slots;   ///< memory ran out after a pass of remeshing: a mesh is not numbered anew yet
};

/// Makes elements, matrix, solver and state arrays if cloths have changed.
tl_status sim_compile(tl_sim *sim, tl_error *err);

/// The part of sim_compile and sim_discard that is about contact (contacts.c).
tl_status sim_compile_contacts(tl_sim *sim, tl_error *err);
void sim_discard_contacts(tl_sim *sim);

/// Marks the nodes that handles hold now (start.c).
void sim_find_held(const tl_sim *sim, uint8_t *fixed);

/// The same for strain limits (strain.c); publish copies multipliers to the meshes.
bool sim_has_limits(const tl_sim *sim);
void sim_warn_of_seams(tl_sim *sim);  ///< whose sides no strain within the limits fits
tl_status sim_compile_strain(tl_sim *sim, tl_error *err);
void sim_discard_strain(tl_sim *sim);
void sim_publish_strain(tl_sim *sim);

/// The multiplier of a face (slot of the cloth's mesh): S11, S22, S12 in material coordinates [N/m].
void sim_limit_stress(const tl_sim *sim, int32_t cloth, int32_t slot, double out[3]);
void sim_set_limit_stress(tl_sim *sim, int32_t cloth, int32_t slot, const double in[3]);

/// Tells the response about a (sub)step; arrays live in the arena.
tl_status sim_begin_contacts(tl_sim *sim, const tl_respond_begin *at, tl_error *err);

/// The simulation as dynamics see it (step.c).
tl_dynamics_settings sim_dynamics_settings(const tl_sim_def *def);
tl_dynamics_world sim_world(tl_sim *sim);

const tl_detector *sim_detector_of(tl_detection kind);  ///< NULL: no such kind (kinds.c)
tl_kinds sim_kinds(const tl_sim_def *def, tl_remeshing_kind adapt);

/// Drops what sim_compile made, keeping the state in the meshes.
void sim_discard(tl_sim *sim);

/// Makes everything anew after a change of the meshes, which hold the state.
tl_status sim_recompile(tl_sim *sim, tl_error *err);

/// Remeshes the cloths that are due (remeshing.c).
tl_status sim_remesh(tl_sim *sim, tl_step_report *report, tl_error *err);

/// Numbers meshes anew where a pass could not, for want of memory.
tl_status sim_renumber_rest(tl_sim *sim, tl_error *err);
tl_status sim_check_remeshing(const tl_remeshing *def, tl_error *err);
bool sim_remeshes(const tl_sim *sim);  ///< is there a cloth whose mesh may change?

/// How often the coming step is halved at least, so that bodies near cloth turn by little in each part (turns.c).
int sim_turn_halvings(const tl_sim *sim);

/// Copies state from the element order to the meshes.
void sim_publish(tl_sim *sim);

/// How far to go with relaxing.
typedef struct sim_relax_def {
    int32_t steps;             ///< at most
    double effort;             ///< [ns] a face, by the model of tl_workers_charge; those of 6,000 faces at least
    double strain;             ///< within it there is nothing to do
    double dt;                 ///< [s] of the first step; doubled while it goes well: what is far from rest is slow
    tl_strain_limits *limits;  ///< held on the way; NULL: none
} sim_relax_def;
sim_relax_def sim_relax_def_default(void);  ///< for what the untangler leaves

/// The cloth's own stress moves it, and nothing else: contact stays free of intersections, bodies and held nodes where
/// they are (relax.c). Changes sim->x; *steps were taken.
tl_status sim_relax(tl_sim *sim, const sim_relax_def *def, int32_t *steps, tl_error *err);

/// Brings a strained start to equilibrium, refining on the way (relax_start.c). Adds to the report.
tl_status sim_relax_start(tl_sim *sim, tl_start_report *report, tl_error *err);
tl_status sim_check_start(const tl_start_def *def, tl_error *err);

/// tl_sim_start without asking whether it is still wanted.
tl_status sim_start(tl_sim *sim, tl_start_report *out, tl_error *err);

/// After a step that was given up: back to the state before it, from the note of the epoch. All that changes a
/// simulation begins with it.
tl_status sim_go_back(tl_sim *sim, tl_error *err);

/// Cloth that crosses bodies, and no cloth, counts as pinched from now on; `left` gets what else there is (contacts.c).
tl_status sim_pinch_crossings(tl_sim *sim, tl_intersection_report *left, tl_error *err);

/// Starts an epoch if one is due at this step: the solver forgets, the state is noted.
tl_status sim_begin_epoch(tl_sim *sim, tl_error *err);

/// What hosts have set, as bytes: to `out`, from `in`, or with both NULL how many (snapshot.c).
size_t sim_live_bytes(const tl_sim *sim, char *out, const char *in);

/// Where a handle's motion takes a node (slot of its mesh) from, given where the node is at the moment.
tl_vec3 sim_handle_base(const tl_sim *sim, const sim_handle *handle, int32_t slot, tl_vec3 now);

/// What node `k` of a handle lacks to where its motion wants it at `time`, where cloth keeps it from there; else zero.
tl_vec3 sim_handle_lag(const tl_sim *sim, const sim_handle *handle, int32_t k, double time);

/// Springs of handles that let go during a step from `begin` to `end`: stiffness and target of every node. False: there
/// are none.
bool sim_fade_handles(const tl_sim *sim, double begin, double end, double *pull, tl_vec3 *pull_to);

/// Adds the springs that the host set (live.c). `any`: `pull` holds some already. False: there are none at all.
bool sim_has_springs(const tl_sim *sim);
bool sim_add_springs(const tl_sim *sim, bool any, double *pull, tl_vec3 *pull_to);
void sim_free_springs(tl_sim *sim, sim_cloth *cloth);

/// Ties and bands of a handle that was just made (ties.c).
tl_status sim_make_ties(tl_sim *sim, const tl_handle_def *def, sim_handle *handle, tl_error *err);
void sim_free_ties(tl_sim *sim, sim_handle *handle);
void sim_hash_ties(const sim_handle *handle, tl_hash *hash);
/// Adds their springs for a step from `begin` to `end`. `any`: `pull` holds some already.
bool sim_has_ties(const tl_sim *sim);
/// Where the nodes of a tie are on the skin at a time, and which way is out there; not `there`: the body is away.
tl_status sim_tie_places(tl_sim *sim, const sim_handle *h, double end, tl_vec3 *place, tl_vec3 *normal, bool *there,
                         tl_error *err);
tl_status sim_add_ties(tl_sim *sim, double begin, double end, bool any, double *pull, tl_vec3 *pull_to, tl_error *err);

/// Sets fixed flags and targets for a step from `begin` to `end`. `target` gets the place of every fixed node.
void sim_drive_handles(tl_sim *sim, double begin, double end, tl_vec3 *target);
