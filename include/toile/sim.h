// toile/sim.h: a simulation built in code: cloths, handles, air; step it, read it, save and restore it.
// SI units, right-handed, y up. One tl_sim may be used by one thread at a time; two run side by side.
#pragma once
#include "toile/base.h"
#include "toile/material.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tl_sim tl_sim;  // opaque, owns everything inside
typedef struct tl_cloth_id {
    uint32_t slot, gen;
} tl_cloth_id;  // by value, {0, 0} is no cloth
typedef struct tl_body_id {
    uint32_t slot, gen;
} tl_body_id;  // by value, {0, 0} is no body (toile/body.h)

typedef enum tl_integrator {
    TL_IMPLICIT_EULER,  ///< first order, robust, damps what it cannot resolve
    TL_BDF2,            ///< second order, little numerical damping
} tl_integrator;

typedef enum tl_bending {
    TL_BEND_SHAPE,  ///< shape operator per triangle: independent of mesh size and direction
    TL_BEND_HINGE,  ///< one spring per edge, as in older systems; depends on the mesh
} tl_bending;

typedef enum tl_linear {
    TL_LINEAR_AUTO,        ///< chosen from counts, see docs/solvers.md
    TL_LINEAR_PCG,         ///< conjugate gradients, Gauss-Seidel sweeps
    TL_LINEAR_MULTILEVEL,  ///< conjugate gradients, multilevel
    TL_LINEAR_DIRECT,      ///< Cholesky
    TL_LINEAR_STALE,       ///< conjugate gradients, older Cholesky factor
    TL_LINEAR_CHOLMOD,     ///< builds with TL_WITH_CHOLMOD only
} tl_linear;
TL_API const char *tl_linear_name(tl_linear linear);

/// Wind velocity at one time.
typedef struct tl_wind_key {
    double time;
    tl_vec3 velocity;
} tl_wind_key;

/// Air: pressure drag 1/2 density drag A |v_n| v_n n and skin drag `skin` A v_t on every face, v the wind
/// relative to the face (Wejchert & Haumann 1991, with the square law).
typedef struct tl_air_def {
    double density;           ///< [kg/m^3], >= 0. Default 1.2.
    double drag;              ///< pressure drag coefficient C_d, >= 0. Default 1.2.
    double skin;              ///< tangential drag [kg/(m^2 s)], >= 0. Default 0.02.
    tl_vec3 wind;             ///< [m/s]. Default 0.
    const tl_wind_key *keys;  ///< wind over time, smooth in between; replaces `wind` when key_count > 0. Borrowed.
    int32_t key_count;
    double gust;         ///< gusts: relative strength of the variation, >= 0. Default 0: none.
    double gust_period;  ///< [s], > 0. Default 1.5.
    double turbulence;   ///< eddies that vary in space and drift with the wind: root mean square of each component
                         ///< relative to the wind's speed, >= 0. Default 0.2; 0: none.
    double turbulence_length;  ///< size of the largest eddies [m], > 0 if there are any. Default 0.5.
    double lee;          ///< length of the lee behind bodies and cloth, in which the wind comes back [m], >= 0. Default
                         ///< 0: wind goes through everything.
    double reserved[9];  ///< room for later fields; zero
} tl_air_def;

/// What the friction of a pair is made of, where both sides have a coefficient of their own.
typedef enum tl_combine { TL_COMBINE_MIN, TL_COMBINE_MAX, TL_COMBINE_MEAN } tl_combine;

/// What to do when a simulation starts with surfaces that pass through each other.
typedef enum tl_on_intersection {
    TL_INTERSECTION_ERROR,  ///< the first step fails and says where
    TL_INTERSECTION_HEAL,   ///< pull apart before the first step, and say what was done (tl_sim_start in body.h)
    TL_INTERSECTION_PINCH,  ///< .. and where that fails between cloth and bodies, the cloth starts pinched: for bodies
                            ///< that go through themselves
} tl_on_intersection;

/// How a time step is solved.
typedef enum tl_dynamics_kind {
    TL_DYNAMICS_IMPLICIT,  ///< an incremental potential, minimised by Newton's method
    TL_DYNAMICS_SPRINGS,   ///< springs at interactive rates; nodes are kept out of bodies, no more (docs/realtime.md)
    TL_DYNAMICS_BARAFF_WITKIN,  ///< one linear solve a step (Baraff & Witkin 1998), for comparison (docs/sqrt3.md)
} tl_dynamics_kind;

/// How contact answers (docs/notes/contact.md, "Two responses compared").
typedef enum tl_response {
    TL_RESPONSE_BARRIER,     ///< a barrier potential within the solve, every iterate free of intersections
    TL_RESPONSE_ZONES,       ///< springs within the solve, then impact zones on what still collides
    TL_RESPONSE_IMPULSE,     ///< inelastic impulses between close pairs after the solve (Kimmerle 2005)
    TL_RESPONSE_CONSTRAINT,  ///< directions that bodies bar are taken out of velocities after the solve; impulses
                             ///< within the cloth
    TL_RESPONSE_PUSH_OUT,    ///< what TL_DYNAMICS_SPRINGS do, and no others: nodes alone are kept out of bodies
    TL_RESPONSE_POTENTIAL = TL_RESPONSE_BARRIER,  ///< its former name
} tl_response;

/// How close features are found.
typedef enum tl_detection {
    TL_DETECTION_FULL,        ///< trees of boxes, everything found: our own
    TL_DETECTION_KDOP,        ///< volumes of k planes, everything found (Kimmerle 2005)
    TL_DETECTION_STOCHASTIC,  ///< random pairs that remember: may miss some (Kimmerle 2005)
    TL_DETECTION_COMBINED,    ///< random pairs from overlapping volumes: may miss some (Kimmerle 2005)
} tl_detection;

/// Contact of cloth with bodies and with itself (docs/contact.md). If the start is free of intersections, every step
/// is.
typedef struct tl_collide_def {
    uint32_t bodies;     ///< 1: cloth against bodies. Default 1.
    uint32_t self;       ///< 1: cloth against cloth. Default 1.
    tl_combine combine;  ///< Default TL_COMBINE_MIN.
    double pressure;     ///< at which contact gives way to 62 % of the thickness [Pa], in (0, 1e6]. Default 5e3.
    double slip_speed;  ///< below this speed friction sticks (and creeps in proportion to its load) [m/s], > 0. Default
                        ///< 1e-4.
    tl_on_intersection on_intersection;  ///< Default TL_INTERSECTION_ERROR.
    tl_response response;    ///< Default TL_RESPONSE_BARRIER, which means TL_RESPONSE_PUSH_OUT with springs.
    tl_detection detection;  ///< Default TL_DETECTION_FULL. What goes with what: toile/kinds.h.
    // impulse and constraint alone
    uint32_t net;            ///< 1: what detection has missed is stopped on its way by the continuous test, so that
                             ///< nothing passes through. Default 1.
    int32_t dop;             ///< planes of a k-DOP: 6, 14, 18 or 26. Default 18.
    int32_t arity;           ///< children of a volume: 2, 4 or 8. Default 4.
    int32_t leaf_faces;      ///< most faces in a leaf, 1 to 64; 0: 1 (k-dop), 8 (combined). Default 0.
    int32_t new_pairs;       ///< random pairs that are tried every step, >= 0. Default 100.
    uint32_t measure;        ///< 1: everything is looked for, too, to tell the part that was found. Default 0.
    uint32_t reserved_word;  ///< zero
    double distance;         ///< below which pairs are close [m], > 0; 0: three thicknesses. Default 0.
    double find_ratio;       ///< part of all pairs that new_pairs is steered towards, 0..1; 0: not. Default 0.
    double response_ratio;   ///< part of the pairs, by chance, that is answered, 0..1; for experiments. Default 1.
    double reserved[1];      ///< room for later fields; zero
} tl_collide_def;

/// Whether cloth is brought to equilibrium before the first step (docs/start.md).
typedef enum tl_relax {
    TL_RELAX_AUTO,  ///< if it is strained beyond tl_start_def.strain
    TL_RELAX_ON,    ///< if it is strained by more than 2 %
    TL_RELAX_OFF,   ///< cloth starts as it is given
} tl_relax;

/// How a simulation starts. Relaxing moves cloth by its own stress alone (no gravity, no air, bodies and handles where
/// they are), under contact and from coarse meshes to fine ones; then within limits.
typedef struct tl_start_def {
    tl_relax relax;               ///< Default TL_RELAX_AUTO.
    double strain;                ///< largest principal strain beyond which TL_RELAX_AUTO relaxes, > 0. Default 1.
    double limit_min, limit_max;  ///< strains that relaxing ends within where bodies leave room, -1 < min <= 0 <= max;
                                  ///< 0, 0: no strain at all, as near as can be. NAN: the cloth's own limits, or
                                  ///< +-0.15. Default NAN.
    double reserved[8];           ///< room for later fields; zero
} tl_start_def;

typedef enum tl_springs_kind { TL_SPRINGS_XPBD_METHOD, TL_SPRINGS_VERLET_METHOD } tl_springs_kind;

/// How faces of bodies near nodes are found. Both give the same bits.
typedef enum tl_springs_search {
    TL_SPRINGS_SEARCH_BOXES,      ///< a refitted tree of boxes
    TL_SPRINGS_SEARCH_PUBLISHED,  ///< as Simnett 2012: rigid bodies by a grid, characters by bone cylinders and sphere
                                  ///< trees
} tl_springs_search;

/// What holds nodes that touch a body.
typedef enum tl_springs_friction {
    TL_SPRINGS_COULOMB,  ///< friction as bodies and cloths have it
    TL_SPRINGS_LINKS,    ///< links that decay (Simnett 2012, sec. 5.4.2); friction does not count
} tl_springs_friction;

/// Bending of Verlet's method.
typedef enum tl_springs_bend_kind {
    TL_SPRINGS_BY_ELEMENTS,  ///< forces by the angle
    TL_SPRINGS_BY_SPRINGS,   ///< springs across edges
} tl_springs_bend_kind;

/// Stiffness of Verlet's springs.
typedef enum tl_springs_level_rule {
    TL_SPRINGS_BY_LEVEL,  ///< (stiffness / length) (2/3)^level, as published
    TL_SPRINGS_BY_AREA,   ///< that of the fabric: the same at every level
} tl_springs_level_rule;

/// TL_DYNAMICS_SPRINGS (docs/realtime.md).
typedef struct tl_springs_options {
    uint32_t method;   ///< tl_springs_kind: projection with small steps, or Verlet (Simnett 2012). Default the first.
    int32_t substeps;  ///< per step, 1 to 1000; 0: by the mesh. Default 0.
    double offset;     ///< distance that nodes keep from bodies, if half the thickness is less [m]. Default 0.004.
    double self_distance;  ///< distance that nodes keep from each other [m]; 0: off. Default 0.
    double compression;    ///< part of the stiffness that holds against being pushed together, 0 to 1. Default 0.05.
    // Verlet alone
    double stiffness;              ///< of a spring of 1 m [N/m], > 0. Default 80.
    double bend;                   ///< [N per rad], >= 0. Default 0.002.
    double damping;                ///< part of the velocity lost in a step, in [0, 1). Default 0.01.
    double max_stretch;            ///< edges are brought back to this, > 1. Default 1.05.
    int32_t length_rounds;         ///< sweeps of that, >= 0. Default 5.
    uint32_t search;               ///< tl_springs_search. Default the first.
    uint32_t friction;             ///< tl_springs_friction. Default the first.
    uint32_t bending;              ///< of Verlet, tl_springs_bend_kind. Default the first.
    uint32_t level_rule;           ///< of Verlet, tl_springs_level_rule. Default the first.
    int32_t link_steps;            ///< age at which a link breaks, >= 1. Default 30.
    double link_slide, link_lift;  ///< pull of a new link along and across the surface [1/s^2], >= 0. Default 300, 100.
    double link_distance;          ///< at which a link breaks [m], > 0. Default 0.03.
    double reserved[1];            ///< room for later fields; zero
} tl_springs_options;

typedef struct tl_sim_def {
    uint32_t struct_size;       ///< filled in by the default function, do not set
    double dt;                  ///< time step [s], > 0. Default 1/200.
    tl_integrator integrator;   ///< Default TL_IMPLICIT_EULER.
    tl_bending bending;         ///< Default TL_BEND_SHAPE.
    int32_t newton_iterations;  ///< at most, >= 1; 1 is the linearised step without a test. Default 30.
    double newton_tolerance;    ///< stop when an iteration changes speeds by less, root mean square [m/s], > 0; slow
                                ///< motion is solved finer. Default 0.03.
    int32_t max_halvings;       ///< a failed step is retried with dt/2, dt/4, .. this often, 0..16. Default 6.
    tl_linear linear;           ///< Default TL_LINEAR_AUTO.
    double linear_tolerance;  ///< relative residual of conjugate gradients, in (0, 1); down to three tenths of it below
                              ///< 4,000 nodes. Default 0.02.
    int32_t linear_iterations;  ///< at most, >= 1. Default 2000.
    double effort;              ///< work that steps may take on average, in microseconds a face by a model of counts,
                                ///< > 0; a hard one up to four times that, then it is ended coarsely and counted as
                                ///< hurried. Below 6,000 faces as for those; INFINITY: no bound. Default 60.
    tl_vec3 gravity;            ///< [m/s^2]. Default (0, -9.81, 0).
    tl_air_def air;
    tl_collide_def collide;
    uint64_t seed;       ///< the only source of randomness. Default 1.
    int32_t threads;     ///< >= 1, counting the caller; never changes a result. Default 1.
    tl_allocator alloc;  ///< Default libc.
    tl_log log;          ///< Default silent.
    tl_task_host tasks;  ///< the host's threads run our loops, `threads` at a time; Default none: threads of our own.
    tl_start_def start;
    tl_dynamics_kind dynamics;  ///< Default TL_DYNAMICS_IMPLICIT.
    tl_springs_options springs;
} tl_sim_def;
TL_API void tl_sim_def_init(tl_sim_def *def, size_t size);  ///< the defaults, as far as `size` bytes go
static inline tl_sim_def tl_sim_def_default(void)
{
    tl_sim_def def;
    tl_sim_def_init(&def, sizeof def);
    return def;
}

TL_API tl_status tl_sim_create(const tl_sim_def *def, tl_sim **out, tl_error *err);
TL_API void tl_sim_destroy(tl_sim *sim);  ///< NULL is fine

/// How a cloth's mesh follows what it does (docs/remeshing.md).
typedef enum tl_remeshing_kind {
    TL_REMESHING_NONE,         ///< the mesh stays as it is given
    TL_REMESHING_ANISOTROPIC,  ///< faces as long and as thin as wrinkles allow
    TL_REMESHING_ISOTROPIC,    ///< faces of even shape
    TL_REMESHING_SQRT3,        ///< layers of triangles, made and removed (docs/sqrt3.md)
    TL_REMESHING_EDGE_TREES,   ///< edges split in halves and joined again (docs/realtime.md)
} tl_remeshing_kind;

/// What the kind sqrt3 goes by.
typedef enum tl_sqrt3_criteria {
    TL_SQRT3_CURVATURE,  ///< the error of chords alone
    TL_SQRT3_ALL,        ///< compression, velocity and obstacles, too
} tl_sqrt3_criteria;

typedef enum tl_remeshing_blend { TL_BLEND_SUM, TL_BLEND_MAX } tl_remeshing_blend;

/// Start from tl_remeshing_default(). An infinite limit switches its term off.
/// How the mass of a face is shared out to its corners.
typedef enum tl_masses {
    TL_MASSES_AUTO,     ///< Voronoi with sqrt3, thirds with the others
    TL_MASSES_THIRDS,   ///< alike: the middle of mass is that of the face
    TL_MASSES_VORONOI,  ///< what is nearest to each in the material; obtuse faces a half, a quarter, a quarter
                        ///< (mixed cells of Meyer et al. 2003)
} tl_masses;

/// Which diagonal a triangle of edge trees gets that has two halved edges.
typedef enum tl_trees_ties {
    TL_TIES_FIRST,      ///< always the same
    TL_TIES_LENGTH,     ///< the shorter one
    TL_TIES_REST,       ///< the shorter one in the material
    TL_TIES_CURVATURE,  ///< the one that starts on the more curved edge
} tl_trees_ties;

typedef struct tl_remeshing {
    tl_remeshing_kind kind;     ///< Default TL_REMESHING_ANISOTROPIC, as in scenes.
    double size_min, size_max;  ///< lengths of edges [m], 0 < min <= max. Default 0.015, 0.2.
    double aspect_min;          ///< of the shorter length to the longer, in (0, 1]. Default 0.1.
    double curvature;           ///< change of the normal along an edge [rad], > 0. Default 0.15.
    double
        velocity;  ///< change of velocity along an edge [m/s], > 0; motion as a rigid body does not count. Default 0.7.
    double compression;        ///< the smaller, the finer where cloth is pushed together [m], > 0; NAN: as the fabric
                               ///< buckles. Default NAN.
    uint32_t edge_angles;      ///< 1: curvature is measured at edges too, which sees folds to and fro. Default 0.
    double rib_stiffening;     ///< with a number for `compression`: how much of it curvature across takes away, >= 0.
                               ///< Default 0.
    uint32_t obstacles;        ///< 1: finer near bodies. Default 1.
    tl_remeshing_blend blend;  ///< how these are put together. Default TL_BLEND_MAX.
    double hysteresis;         ///< nothing is made coarser within this of its limit, in [0, 1). Default 0.2.
    double interval;           ///< time between two looks at the mesh [s], > 0; at least one step. Default 0.04.
    int32_t patience;  ///< a mesh that still serves goes without a pass for up to so many looks, >= 1; 1: every look is
                       ///< a pass. Default 1.
    int32_t max_faces;  ///< no more by refining; the cloth is made coarser to keep to it, up to size_max. 0: no limit.
                        ///< Default 0.
    int32_t layers;     ///< sqrt3: of triangles, that of the input included, 1 to 12. Default 5.
    tl_sqrt3_criteria criteria;  ///< sqrt3: Default TL_SQRT3_ALL.
    double error;                ///< sqrt3: how far chords may be off the surface [m], > 0. Default 0.002.
    // Edge trees alone. `curvature` and `hysteresis` say when edges are split and joined, `obstacles` whether edges
    // that reach into bodies are, `max_faces` is a budget that the angles follow.
    int32_t levels;           ///< how often an edge may be halved, 0 to 8. Default 3.
    int32_t rejoin_wait;      ///< looks between two attempts to join an edge, 0 to 255. Default 10.
    double split_length;      ///< edges shorter than this times their rest length are split, > 0. Default 0.98.
    double join_length;       ///< .. and joined when longer than this, >= split_length. Default 0.99.
    double obstacle_gap;      ///< cloth nearer to a body than this is no finer for it [m], >= 0; 0: half the cloth's
                              ///< thickness. Default 0.
    tl_masses masses;         ///< lumped masses of the cloth. Default TL_MASSES_AUTO.
    int32_t obstacle_levels;  ///< the same as `levels` for edges that reach into bodies, 0 to 8; 0: as `levels`.
                              ///< Default 0.
    tl_trees_ties ties;       ///< Default TL_TIES_FIRST.
    uint32_t always_join;     ///< 1: edges are joined whenever nothing would halve them. Default 0.
    double length_per_level;  ///< split_length and join_length shrink by this with every level, in (0, 1]; 0, 1: they
                              ///< stay. Default 1.
    uint32_t locked;          ///< 1: an edge whose triangle's parent is not halved all around waits, as published.
                              ///< Default 0: the parent's other edges are halved for it.
    uint32_t unused;          ///< zero
    double reserved[6];       ///< room for later fields; zero
} tl_remeshing;
TL_API tl_remeshing tl_remeshing_default(void);
typedef enum tl_strain_kind {
    TL_STRAIN_FREE,       ///< no limits
    TL_STRAIN_ISOTROPIC,  ///< the same in every direction
    TL_STRAIN_ALIGNED,    ///< along warp and weft (material x and y), and shear between them
} tl_strain_kind;

/// Limits on strain, held in every face at the end of every step (docs/strain-limiting.md). Strain is stretch - 1.
/// Limits of zero are allowed; -INFINITY and INFINITY: no limit that way.
typedef struct tl_strain_def {
    tl_strain_kind kind;        ///< Default TL_STRAIN_FREE.
    double min, max;            ///< in every direction, or along the warp; -1 < min <= 0 <= max. Default none.
    double weft_min, weft_max;  ///< aligned only. Default none.
    double shear;               ///< aligned only: sine of the shear angle at most, >= 0. Default none.
    double reserved[6];         ///< room for later fields; zero
} tl_strain_def;

/// A cloth as plain arrays, all borrowed for the call. Start from tl_cloth_def_default().
typedef struct tl_cloth_def {
    uint32_t struct_size;      ///< filled in by the default function, do not set
    const char *name;          ///< letters, digits, '-', '_'; at most 63; NULL: "cloth". Unique in the simulation.
    int32_t node_count;        ///< world nodes
    const tl_vec3 *pos;        ///< [m]
    const tl_vec3 *vel;        ///< [m/s]; NULL: at rest
    int32_t vert_count;        ///< material vertices; 0: as many as nodes, one on each
    const tl_vec2 *uv;         ///< material coordinates [m], vert_count (or node_count) entries
    const int32_t *vert_node;  ///< node under each vertex; NULL: vertex i lies on node i
    int32_t face_count;
    const int32_t (*face)[3];   ///< vertices, counter-clockwise
    const int32_t *face_label;  ///< which of `materials` a face is made of; NULL: all 0
    const int32_t *node_label;  ///< user labels for handles; NULL: all 0
    int32_t edge_count;  ///< edges that are feature lines: remeshing does not flip them, and takes nodes away only
                         ///< along them
    const int32_t (*edge)[2];      ///< their nodes; pairs that are no edge of the mesh do not count
    const int32_t *edge_label;     ///< > 0: lines of different labels do not join
    const tl_material *materials;  ///< at least one
    int32_t material_count;
    double thickness;        ///< distance that two layers keep [m], > 0; to a body: half of it. Default 1e-3.
    double friction;         ///< against bodies, >= 0; NAN: as the body says. Default NAN.
    double friction_self;    ///< against cloth, >= 0. Default 0.3.
    tl_remeshing remeshing;  ///< Default: tl_remeshing_default, anisotropic.
    tl_strain_def strain;    ///< Default free.
    uint32_t
        rest_from_shape;  ///< 1: the given shape is unstressed in bending (rest angles from `pos`). Default 0: flat.
} tl_cloth_def;
TL_API void tl_cloth_def_init(tl_cloth_def *def, size_t size);  ///< the defaults, as far as `size` bytes go
static inline tl_cloth_def tl_cloth_def_default(void)
{
    tl_cloth_def def;
    tl_cloth_def_init(&def, sizeof def);
    return def;
}

/// On failure `sim` is unchanged, *out is {0} and the message says which element and value was wrong.
TL_API tl_status tl_sim_add_cloth(tl_sim *sim, const tl_cloth_def *def, tl_cloth_id *out, tl_error *err);

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

typedef struct tl_energies {
    double kinetic, stretch, bend, gravity;  ///< [J]; gravity is zero at the origin
} tl_energies;

/// Seconds of wall clock per stage.
typedef struct tl_stage_seconds {
    double physics, strain, collision, remesh, other, total;
} tl_stage_seconds;

/// What contact came to in a step; counts are of the last substep unless said otherwise.
typedef struct tl_contact_report {
    int64_t candidates;    ///< pairs near enough to look at
    int64_t contacts;      ///< pairs that press on each other at the end
    int32_t searches;      ///< broad-phase searches, over all substeps
    int64_t volume_tests;  ///< of those
    int64_t limited;       ///< nodes whose path had to be cut short, over all iterations
    int32_t held;          ///< fail-safe: iterations in which nodes were held in place to keep the promise
    int32_t pinched;       ///< nodes between bodies that leave no room: exempt until they are free again
    int32_t zones;         ///< impact zones, over all substeps
    int32_t zone_nodes;    ///< of the largest one
    int32_t zone_rounds;   ///< of solving and testing again, over all substeps
    double nearest;        ///< smallest distance over thickness of all contacts, 1 if there are none
    // impulse and constraint alone, over all substeps
    int64_t found;             ///< close pairs that detection found
    int64_t there;             ///< .. and those there were, of those found and not; 0: not measured
    int64_t missed;            ///< 0 where it was not measured
    double detection_seconds;  ///< processor time in detection, without the measurement
} tl_contact_report;

/// What remeshing did in a step, over all cloths.
typedef struct tl_remesh_counts {
    int32_t passes;  ///< cloths that were looked at
    int32_t splits, flips, collapses;
    int32_t refused;     ///< operations left undone because something was in the way
    int32_t too_long;    ///< edges longer than asked for: max_faces was reached
    double energy;       ///< [J] stretching energy that operations added, without what others took away
    double energy_left;  ///< [J] what they might still have added, of next to nothing for cloth at rest
    double momentum_drift,
        spin_drift;  ///< largest change of a cloth's linear and angular momentum over its size, relative
} tl_remesh_counts;

/// How strain limits were met in a step: the worst and the most over its substeps.
typedef struct tl_strain_report {
    int32_t active;    ///< faces that limits hold
    int32_t rounds;    ///< of iterations of all nodes for the sake of limits, over all substeps
    int32_t mended;    ///< iterations in which only the surroundings of faces beyond their limits moved, likewise
    int32_t violated;  ///< faces left more than the tolerance (0.1 %) beyond their limits
    double worst;  ///< largest excess over a limit, as strain; 0: none. Faces whose nodes are all driven do not count.
} tl_strain_report;

typedef struct tl_step_report {
    double time;                ///< at the end of the step [s]
    int64_t step;               ///< steps done since the start
    int32_t substeps;           ///< 1 unless the step had to be cut
    int32_t rejected;           ///< attempts thrown away
    int32_t unconverged;        ///< substeps accepted before Newton's method had converged, those hurried included
    int32_t hurried;            ///< substeps ended early, as the step's budget of work was spent (tl_sim_def.effort)
    double effort;              ///< work by the cost model, about seconds of one core; a function of counts alone
    int32_t newton_iterations;  ///< over all substeps
    int32_t linear_iterations;
    int32_t factorizations;
    tl_linear linear_used;
    double newton_change;  ///< of speeds by the last Newton update, root mean square [m/s]
    tl_contact_report contact;
    tl_remesh_counts remesh;
    tl_strain_report strain;
    tl_stage_seconds seconds;
} tl_step_report;

/// From now on `cancel` (copied; NULL: nobody) is asked within steps and at the start, a few times per linear solve and
/// search. A step that is cancelled leaves the state of the last good step, its meshes maybe already remade; saving
/// then gives that state, and the next step goes back to it (up to eight steps are taken again) with the same bits.
TL_API void tl_sim_set_cancel(tl_sim *sim, const tl_cancel *cancel);

/// One step of `dt`. TL_FAILED and TL_CANCELLED leave the state of the last good step. `report` may be NULL.
TL_API tl_status tl_sim_step(tl_sim *sim, tl_step_report *report, tl_error *err);

/// Moves the nodes into their strain limits by as little as can be (mass-weighted; nodes that handles hold now stay):
/// for a cloth that was stretched around a body to dress it. Velocities stay; contact is not looked at, so do this
/// before the start is (tl_sim_start, or the first step). `excess` (may be NULL) gets the worst that is left, 0 if
/// within limits.
TL_API tl_status tl_sim_limit_strain(tl_sim *sim, double *excess, tl_error *err);

TL_API double tl_sim_time(const tl_sim *sim);
TL_API int64_t tl_sim_steps(const tl_sim *sim);
TL_API int32_t tl_sim_cloth_count(const tl_sim *sim);
TL_API tl_cloth_id tl_sim_cloth(const tl_sim *sim, int32_t index);           ///< {0} if out of range
TL_API const char *tl_sim_cloth_name(const tl_sim *sim, tl_cloth_id cloth);  ///< NULL if no such cloth

/// Borrowed; valid until the next call that takes a non-const `sim`. Order is that of the definition, until the cloth
/// is remeshed.
typedef struct tl_cloth_view {
    const tl_vec3 *pos, *vel;  ///< node_count entries
    const int32_t *node_label;
    int32_t node_count;
    const tl_vec2 *uv;  ///< vert_count entries
    const int32_t *vert_node;
    int32_t vert_count;
    const int32_t (*face)[3];  ///< vertices; face_count entries
    const int32_t *face_label;
    int32_t face_count;
} tl_cloth_view;
TL_API tl_status tl_sim_cloth_view(const tl_sim *sim, tl_cloth_id cloth, tl_cloth_view *out);

/// Unit normals of the nodes into the caller's array of node_count entries.
TL_API tl_status tl_sim_cloth_normals(const tl_sim *sim, tl_cloth_id cloth, tl_vec3 *out);

/// Kinetic and potential energies of everything, now.
TL_API tl_status tl_sim_energies(const tl_sim *sim, tl_energies *out);

/// Smallest and largest principal strain (stretch - 1) over all faces, and where.
typedef struct tl_strain_range {
    double min, max;
    tl_cloth_id min_cloth, max_cloth;
    int32_t min_face, max_face;
    double min_99, max_99;  ///< all but a hundredth of the area keep to these, by material area
    double min_50, max_50;  ///< half of the area does
} tl_strain_range;
TL_API tl_status tl_sim_strain(const tl_sim *sim, tl_strain_range *out);

/// A hash of the whole state: equal states, equal hashes, on any number of threads.
TL_API uint64_t tl_sim_hash(const tl_sim *sim);

/// Bytes of memory in use and the most there has been.
typedef struct tl_memory_report {
    size_t used, peak;
} tl_memory_report;
TL_API tl_memory_report tl_sim_memory(const tl_sim *sim);

/// The state as bytes. *data is owned by `sim` and valid until the next call that takes a non-const `sim`.
/// Steps that restoring the present state would take again, 0 to 7: a good time to save is when it is 0.
TL_API int64_t tl_sim_replay_steps(const tl_sim *sim);
TL_API tl_status tl_sim_save(tl_sim *sim, const void **data, size_t *size, tl_error *err);

/// Back to a saved state of a simulation built the same way; continues with the same bits. May take a few steps (at
/// most eight) again. TL_BAD_INPUT if the bytes are damaged or of another simulation; then `sim` is unchanged.
TL_API tl_status tl_sim_restore(tl_sim *sim, const void *data, size_t size, tl_error *err);

#ifdef __cplusplus
}
#endif
