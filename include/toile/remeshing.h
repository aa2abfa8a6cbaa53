// toile/remeshing.h: how a cloth's mesh follows what the cloth does: the kinds of the stage and their limits.
#pragma once
#include "toile/base.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/// Start from tl_remeshing_default(). An infinite limit switches its term off.
typedef struct tl_remeshing {
    tl_remeshing_kind kind;     ///< Default TL_REMESHING_ANISOTROPIC, as in scenes.
    double size_min, size_max;  ///< lengths of edges [m], 0 < min <= max. Default 0.015, 0.2.
    double aspect_min;          ///< of the shorter length to the longer, in (0, 1]. Default 0.1.
    double curvature;           ///< change of the normal along an edge [rad], > 0. Default 0.15.
    double
        velocity;  ///< change of velocity along an edge [m/s], > 0; motion as a rigid body does not count. Default 0.7.
    double compression;        ///< the smaller, the finer where cloth is pushed together [m], > 0; NAN: as the fabric
                               ///< buckles. Default NAN.
    uint32_t narrowing;        ///< with a number for `compression`: 1: cloth that gets narrower because it is pulled
                               ///< across counts as pushed together; 0: it does not. Default 1.
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
    double sag;  ///< how far the cloth may stand off an edge [m], >= 0, in place of curvature and lengths; 0: by those.
                 ///< Default 0.
    double reserved[5];  ///< room for later fields; zero
} tl_remeshing;
TL_API tl_remeshing tl_remeshing_default(void);

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

#ifdef __cplusplus
}
#endif
