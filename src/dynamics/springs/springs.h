// dynamics/springs/springs.h: cloth at interactive rates: springs along edges and hinges across them, solved by
// constraint projection with small steps (the default) or by Verlet's method as in Simnett 2012, ch. 3.
//
// The default, TL_SPRINGS_XPBD (Macklin, Mueller & Chentanez 2016; Macklin et al. 2019, "Small Steps"): a step is cut
// into substeps of one iteration each. An edge of rest length l beside triangles of area A has the stiffness
//     k = 8/9 c (A_left + A_right) / l^2                                               [N/m]
// with c the fabric's stiffness along the edge, so that the energy under a uniform strain is the same however finely
// the cloth is cut; bending is the quadratic form of Bergou et al. 2006 with the fabric's rigidity, which does not
// depend on the mesh either. Gauss-Seidel in colours: edges (hinges) of one colour share no node, so the order within a
// colour, threads and vector width change no bit.
//
// A solver knows no hierarchy and no tl_sim: it is given flat arrays of the active mesh whenever that changes, and
// keeps positions and velocities itself.
#pragma once
#include <stdbool.h>

#include "base/workers.h"
#include "respond/push_out/push_out.h"
#include "toile/material.h"

typedef struct tl_springs tl_springs;

typedef enum tl_springs_method { TL_SPRINGS_XPBD, TL_SPRINGS_VERLET } tl_springs_method;

/// Bending of TL_SPRINGS_VERLET (Simnett 2012, sec. 3.6.3).
typedef enum tl_springs_bending {
    TL_SPRINGS_BEND_ELEMENTS,  ///< forces by the angle between neighbours
    TL_SPRINGS_BEND_SPRINGS,   ///< springs between the two vertices opposite to an edge
} tl_springs_bending;

/// Stiffness of TL_SPRINGS_VERLET.
typedef enum tl_springs_stiffness {
    TL_SPRINGS_AREA,    ///< as above: the same at every level
    TL_SPRINGS_THESIS,  ///< (stiffness / l) (2/3)^level: drifts with the level (docs/errata.md)
} tl_springs_stiffness;

typedef struct tl_springs_def {
    tl_springs_method method;
    double compression;  ///< part of the stiffness that holds against being pushed together, in [0, 1]: a triangle
                         ///< stands for cloth that buckles within it. Default 0.05.
    int32_t bend_every;  ///< substeps of the stretch solver for one of bending, >= 1; fewer where bending is stiff.
                         ///< Default 4.
    // TL_SPRINGS_VERLET
    tl_springs_bending bending;
    tl_springs_stiffness rule;
    double stiffness;       ///< of a spring of 1 m with the thesis's rule [N/m]. Default 80.
    double bend;            ///< of bending elements [N per rad], of bending springs [N/m]. Default 0.002.
    double damping;         ///< part of the velocity lost in a step, [0, 1). Default 0.01.
    double max_stretch;     ///< edges are brought back to this times their rest length, > 1. Default 1.05.
    int32_t length_rounds;  ///< sweeps of that. Default 5.
    int32_t max_substeps;   ///< a step that would take more for stability is refused. Default 200.
} tl_springs_def;
tl_springs_def tl_springs_def_default(void);

/// The active mesh. Borrowed for the call.
typedef struct tl_springs_mesh {
    int32_t node_count, tri_count, edge_count;
    const int32_t (*tri)[3];       ///< nodes, counter-clockwise
    const tl_vec2 (*uv)[3];        ///< [m] material coordinates of the corners
    const int32_t *label;          ///< fabric of each triangle; NULL: all 0
    const int32_t (*edge)[2];      ///< nodes
    const int32_t (*edge_tri)[2];  ///< triangles left and right of it; [1] is -1 at a border
    const uint8_t *edge_level;     ///< for TL_SPRINGS_THESIS; NULL: 0
    const int32_t (*tether)[2];  ///< nodes that are no farther apart than `tether_rest` [m]: the straight line between
    const double *tether_rest;   ///< them in the material. They carry loads across many edges at once
    int32_t tether_count;
    const tl_material *fabric;
    int32_t fabric_count;
} tl_springs_mesh;

tl_status tl_springs_create(const tl_allocator *alloc, const tl_springs_def *def, tl_springs **out, tl_error *err);
void tl_springs_destroy(tl_springs *s);  ///< NULL is fine

/// Takes a mesh: rest lengths, masses, colours. Positions and velocities are the caller's to fill in (tl_springs_pos,
/// tl_springs_vel); no node is held.
tl_status tl_springs_set_mesh(tl_springs *s, const tl_springs_mesh *mesh, tl_error *err);

/// Four numbers a node, the fourth zero; valid until the next tl_springs_set_mesh.
double (*tl_springs_pos(tl_springs *s))[4];
double (*tl_springs_vel(tl_springs *s))[4];
const double *tl_springs_mass(const tl_springs *s);  ///< [kg]
int32_t tl_springs_edges(const tl_springs *s);
const double *tl_springs_tri_area(const tl_springs *s);  ///< [m^2] at rest

/// Nodes that do not follow forces; held nodes go to their targets along straight lines within a step.
void tl_springs_hold(tl_springs *s, const uint8_t *held);

/// The farthest that a node may be from a held one. Of TL_SPRINGS_XPBD.
typedef struct tl_springs_leash {
    int32_t to;
    double length;  ///< [m]; INFINITY: no leash
} tl_springs_leash;

typedef struct tl_springs_step {
    double dt;                       ///< [s]
    int32_t substeps;                ///< >= 1; TL_SPRINGS_VERLET takes more if stability asks for it
    tl_vec3 gravity;                 ///< [m/s^2]
    const tl_vec3 *accel;            ///< besides, per node; NULL: none
    const tl_vec3 *target;           ///< where held nodes are at the end; read at those alone. NULL: they stay
    const tl_push_contact *contact;  ///< by node, ascending
    int32_t contact_count;
    const int32_t (*pair)[2];  ///< nodes that keep `distance` [m] from each other: the cloth against itself
    int32_t pair_count;
    double distance;
    const tl_springs_leash *leash;  ///< by node; NULL: none
    tl_workers *workers;
} tl_springs_step;

typedef struct tl_springs_report {
    int32_t substeps;
    double kinetic;  ///< [J] at the end
} tl_springs_report;

/// TL_FAILED if the result is not finite or a step of TL_SPRINGS_VERLET is too long to be cut: positions and velocities
/// are then those before it.
tl_status tl_springs_advance(tl_springs *s, const tl_springs_step *step, tl_springs_report *report, tl_error *err);

/// Where the nodes were before the last step.
double (*tl_springs_before(tl_springs *s))[4];

/// Substeps for a step of `dt` that keep cloth that hangs under its own weight from stretching by more than a few per
/// cent: from counts of the mesh alone (docs/notes/realtime.md has the measurement).
int32_t tl_springs_substeps(const tl_springs *s, double dt);

typedef struct tl_springs_measures {
    double max_stretch, min_stretch;  ///< length over rest length of edges
    double stretch_energy, bend_energy, mass;
} tl_springs_measures;
tl_springs_measures tl_springs_measure(const tl_springs *s);
