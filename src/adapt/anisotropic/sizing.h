// adapt/anisotropic/sizing.h: how long edges may be, at every vertex and in every direction: the sizing field.
//
// A tensor M per vertex, in the material coordinates of its panel side: an edge u may stay as it is while u^T M u <= 1
// (Narain, Samii & O'Brien 2012, Sec. 4). docs/remeshing.md says where each term comes from and where we depart.
#pragma once
#include "base/ctx.h"
#include <stdbool.h>

#include "mesh/mesh.h"
#include "adapt/anisotropic/tensor2.h"
#include "toile/material.h"

/// How the terms are put together.
typedef enum tl_sizing_blend {
    TL_SIZING_SUM,  ///< their sum, Eq. 10: over-refines where terms agree
    TL_SIZING_MAX,  ///< a tensor that is at least each of them in every direction
} tl_sizing_blend;

/// Start from tl_sizing_def_default(). A limit of INFINITY switches its term off.
typedef struct tl_sizing_def {
    double curvature;    ///< change of the unit normal along an edge, > 0. Default 0.15.
    double velocity;     ///< change of the velocity along an edge [m/s], > 0. Default 0.7.
    double compression;  ///< c_max [m] of Eq. 8, > 0; NAN: from the stiffness of the fabrics instead. Default NAN.
    double size_min, size_max;  ///< bounds on edge lengths [m], 0 < min <= max. Default 0.015, 0.2.
    double
        aspect_min;  ///< the shorter allowed length over the longer at one place, in (0, 1]; 1: isotropic. Default 0.1.
    bool edge_angles;       ///< curvature from the angles at edges too: normals miss folds to and fro. Default false.
    bool narrowing;         ///< with a number for `compression`: what contracts because it is pulled across counts as
                            ///< well; false: only what has compressive stress, by the fabrics. Default true.
    double rib_stiffening;  ///< with a number for `compression`: curvature across it takes this much away. Default 0.
    bool obstacles;         ///< refine near obstacles. Default true.
    tl_sizing_blend blend;  ///< Default TL_SIZING_MAX.
} tl_sizing_def;
tl_sizing_def tl_sizing_def_default(void);

/// Tangent plane of the obstacle point nearest to a node (tl_obstacle_planes fills them).
typedef struct tl_obstacle_plane {
    tl_vec3 normal;   ///< unit, from the obstacle to the node; zero: none near
    double distance;  ///< of the node [m], > 0; INFINITY: none near
} tl_obstacle_plane;

/// What the compression term needs of a fabric (tl_sizing_fabric_of).
typedef struct tl_sizing_fabric {
    double c11, c12, c22, c33;  ///< membrane coefficients at rest [N/m], as in tl_material
    double wrinkle;             ///< compressive force per width times this is 1 / edge length^2 [1/(N m)]; 0: term off
    const tl_material *material;  ///< borrowed
} tl_sizing_fabric;

/// The compression term then asks for a quarter of the wavelength at which a strip of the fabric buckles under the
/// compressive stress that it has (docs/remeshing.md): 1 / edge^2 = 4 / (pi^2 B) times the compressive force per width.
tl_sizing_fabric tl_sizing_fabric_of(const tl_material *material);

/// What compressive stress there is at F^T F = c, as the 1 - F^T F that it makes in a strip free to widen: without what
/// contracts because it is pulled across.
tl_sym2 tl_sizing_pressed(const tl_material *material, tl_sym2 c);

/// The same as a limit c_max [m] of Eq. 8, the mean over directions of pi sqrt(B / (2 k)): for comparison with other
/// systems.
double tl_material_compression(const tl_material *material);

/// Tensors of the vertices [1/m^2], one per vertex slot, each in the coordinates of its own panel side; dead slots get
/// zero. All are positive definite, with eigenvalues in [size_max^-2, size_min^-2] and a ratio of at least
/// aspect_min^2. `fabrics` has an entry for every face label from 0 to `label_count` - 1; it is read only if
/// def->compression is NAN or def->narrowing false, else it may be NULL. `nodes`, one per node slot, may be NULL: no
/// obstacle term. `workers` may be NULL.
tl_status tl_sizing_field(const tl_mesh *mesh, const tl_sizing_def *def, const tl_sizing_fabric *fabrics,
                          int32_t label_count, const tl_obstacle_plane *nodes, const tl_ctx *ctx, tl_sym2 *out,
                          tl_error *err);

/// Square of the size of an edge u between two vertices of one side, Eq. 1. A seam edge: the mean of both sides.
static inline double tl_size2(tl_sym2 a, tl_sym2 b, tl_vec2 u)
{
    return 0.5 * (tl_sym2_form(a, u) + tl_sym2_form(b, u));
}

/// Eigenvalues within the bounds of `def` (Eq. 11 to 13); what is not finite becomes the finest isotropic size.
tl_sym2 tl_sizing_clamp(const tl_sizing_def *def, tl_sym2 m);
