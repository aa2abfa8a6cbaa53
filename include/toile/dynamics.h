// toile/dynamics.h: how a time step is solved: the kinds of the stage and what they can be told.
#pragma once
#include "toile/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// How a time step is solved.
typedef enum tl_dynamics_kind {
    TL_DYNAMICS_IMPLICIT,  ///< an incremental potential, minimised by Newton's method
    TL_DYNAMICS_SPRINGS,   ///< springs at interactive rates; nodes are kept out of bodies, no more (docs/realtime.md)
    TL_DYNAMICS_BARAFF_WITKIN,  ///< one linear solve a step (Baraff & Witkin 1998), for comparison (docs/sqrt3.md)
} tl_dynamics_kind;

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

#ifdef __cplusplus
}
#endif
