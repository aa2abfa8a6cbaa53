// sim/spring_cloth.h: one cloth of edge trees and springs (docs/realtime.md). A self-contained engine: it is given a
// mesh, bodies and what acts on it, and knows no tl_sim.
#pragma once
#include "adapt/edge_trees/criteria.h"
#include "dynamics/springs/springs.h"
#include "mesh/mesh.h"
#include "physics/eddies.h"
#include "respond/push_out/links.h"

typedef struct spring_cloth_def {
    tl_springs_def springs;
    tl_trees_rules rules;
    bool adaptive;         ///< false: the mesh stays as it is given
    double self_distance;  ///< that the cloth keeps from itself [m]; 0: none
    double depth;          ///< how far inside bodies nodes are still found [m]
    bool linked;           ///< nodes that touch are held by links
    tl_push_links_def links;
} spring_cloth_def;

/// What is seen of a cloth, and how many triangles it may have.
typedef struct spring_sight {
    bool cull;    ///< what faces away from `eye` is coarse
    bool hidden;  ///< nothing is seen: no edge is split
    tl_vec3 eye;
    int32_t budget;  ///< triangles: the angles follow it; 0: none
} spring_sight;

/// The nearest held node, and the way to it in the material.
typedef struct spring_front {
    int32_t from;  ///< id; -1: none
    double way;    ///< [m]
} spring_front;

enum { SPRING_ARRAYS = 31 };

typedef struct spring_cloth {
    tl_allocator alloc;
    spring_cloth_def def;
    tl_trees *trees;
    tl_springs *springs;
    tl_material *fabric;
    int32_t fabric_count;
    int32_t *base_label, base_tris;  ///< fabric of each triangle of the base
    int32_t *base_chart;             ///< its panel (tl_trees_charts)
    bool sewn;                       ///< there are several
    int32_t base_verts;
    uint8_t *base_held;              ///< nodes of the base that were held when `front` was found
    bool fronts_valid;               ///< those of finer levels are of the present mesh
    double split_angle, join_angle;  ///< [rad] in use
    // by vertex id
    tl_vec3 *pos, *vel, *normal;
    tl_vec3 *base;  ///< where a held one was when its handle took hold
    int32_t *dense, *label;
    uint8_t *near, *visible;
    tl_push_link *link;  ///< of touching nodes
    spring_front *front;
    // the active mesh, as views show it; nodes in the order of their ids
    int32_t node_count, tri_count, edge_count, vert_count, tether_count, hint_bodies;
    int32_t *id, *node_label, *hint;
    tl_vec3 *node_pos, *node_vel, *target, *accel;
    tl_vec2 *node_uv;
    uint8_t *held;
    tl_vec2 *uv;
    int32_t *vert_node, *vert_next, *vert_chart;
    int32_t (*face)[3], (*tri)[3], *face_label, *root;
    tl_vec2 (*tri_uv)[3];
    int32_t (*edge)[2], (*edge_tri)[2];
    uint8_t *edge_level;
    int32_t (*tether)[2];
    double *tether_rest;
    int32_t cap[SPRING_ARRAYS], tri_uv_cap, root_cap;
    tl_springs_report last;
    int32_t contacts, caught, pairs;  ///< of the last step
    double cost;                      ///< of a triangle and step by the clock, smoothed [s]; for budgets of time
} spring_cloth;

/// `mesh` and `fabric` are copied; dead slots are refused.
tl_status spring_cloth_create(const tl_allocator *alloc, const tl_mesh *mesh, const tl_material *fabric,
                              int32_t fabric_count, const spring_cloth_def *def, spring_cloth **out, tl_error *err);
/// Another one of the same base, not refined, at rest at the origin: to read a state into.
tl_status spring_cloth_copy_base(const spring_cloth *like, spring_cloth **out, tl_error *err);
void spring_cloth_destroy(spring_cloth *c);  ///< NULL is fine

/// Other fabrics, as many as before, from now on; other rules and settings.
tl_status spring_cloth_set_fabric(spring_cloth *c, const tl_material *fabric, tl_error *err);
void spring_cloth_retune(spring_cloth *c, const spring_cloth_def *def);

/// One update of the hierarchy; `changed` says whether the active mesh is another.
tl_status spring_cloth_adapt(spring_cloth *c, const spring_sight *sight, const tl_push_body *bodies, int32_t body_count,
                             const tl_ctx *ctx, tl_trees_report *report, tl_error *err);

typedef struct spring_air {
    double pressure;          ///< 1/2 density drag [kg/m^3]
    double skin;              ///< [kg/(m^2 s)]
    tl_vec3 wind;             ///< [m/s]
    const tl_eddies *eddies;  ///< NULL: none
    const float *shelter;     ///< part of both that reaches each triangle; NULL: all
} spring_air;

typedef struct spring_cloth_step {
    double dt;
    int32_t substeps;  ///< 0: from the mesh
    tl_vec3 gravity;
    spring_air air;
    const tl_push_body *bodies;
    int32_t body_count;
    tl_ctx ctx;
} spring_cloth_step;

/// Held nodes (held[] by node) go to target[]. TL_FAILED leaves the state before it.
tl_status spring_cloth_advance(spring_cloth *c, const spring_cloth_step *step, double *collision_seconds,
                               tl_error *err);

/// The active mesh is made anew from the trees and the state by id; for reading a state back.
tl_status spring_cloth_rebuild(spring_cloth *c, tl_error *err);
/// State of nodes into that by id.
void spring_cloth_gather(spring_cloth *c);

/// Room for so many more vertices, and for hints of contact.
tl_status spring_cloth_reserve_ids(spring_cloth *c, int32_t more, tl_error *err);
tl_status spring_cloth_reserve_hints(spring_cloth *c, int32_t body_count, tl_error *err);

size_t spring_cloth_write(const spring_cloth *c, char *out);  ///< NULL: counts only
tl_status spring_cloth_read(spring_cloth *c, const char *data, size_t size, size_t *used, tl_error *err);

/// Leashes of nodes whose cloth is held into out->leash, in scratch memory; NULL: none is.
tl_status spring_cloth_leash(spring_cloth *c, double gravity, const tl_ctx *ctx, tl_springs_step *out, tl_error *err);

/// Unit normals of nodes, faces weighted by their area.
void spring_cloth_normals(const spring_cloth *c, tl_vec3 *out);

/// Largest and smallest principal stretch of a triangle.
void spring_cloth_stretch(const spring_cloth *c, int32_t tri, double out[2]);

/// Drag of the air as accelerations of nodes, no more than takes the wind's speed on within the step.
tl_status spring_cloth_drag(spring_cloth *c, const spring_air *air, double dt, const tl_ctx *ctx, tl_error *err);
