// adapt/anisotropic/remesh.h: make a mesh as coarse as its sizing field allows (Narain et al. 2012, sec. 4.1, algorithm
// 1).
//
// Edges longer than 1 in the metric of the field are split, then edges are collapsed where the result stays well below
// 1, and flips keep faces Delaunay in the metric throughout. Data of vertices, faces and nodes are mesh attributes and
// follow every edit.
//
// No operation lets cloth pass through anything. Material coordinates map every point of the new surface to the old
// one; the largest distance between the two is how far an operation moves the surface (clearance_guard.c). A face may
// be moved by its clearance: half the distance to the nearest other part of the cloth (which may move as well), less
// the distance that contact keeps; and the distance to bodies, against which the new faces themselves are tested if
// need be. Operations that need more are not done: a split leaves its node on the straight edge, which moves nothing, a
// flip or collapse is skipped. So nothing has to be pushed back or undone afterwards.
#pragma once
#include "adapt/adapt.h"
#include "adapt/anisotropic/remesh_policy.h"
#include "adapt/anisotropic/sizing.h"
#include "adapt/anisotropic/tensor2.h"
#include "detect/body_clearance.h"
#include "mesh/mesh.h"
#include "mesh/mesh_rest.h"

enum { TL_CHURN_WIDTH = 8 };  ///< doubles of the attribute `churn`

/// Indices of the attributes.
typedef struct tl_remesh_attrs {
    int32_t size;    ///< vertices, 3 doubles: the tensor (xx, xy, yy) of the sizing field; mean at a split
    int32_t turned;  ///< edges, int32: number of flips since it was last Delaunay without a margin
    int32_t churn;   ///< nodes, TL_CHURN_WIDTH doubles: insertions and removals here, and the state of the cloth then
                     ///< (hysteresis.c)
    int32_t clearance;   ///< faces, 2 doubles [m] by tl_clearance_kind: left after the last pass that needed any; for
                         ///< tests, not added by tl_remesh_attach
    tl_rest_attrs rest;  ///< TL_NONE: cloth rests flat; not added by tl_remesh_attach
    int32_t mass;        ///< nodes, 1 double [kg]: lumped mass, during a pass
    int32_t held;        ///< as in tl_adapt_groups, like `listed`
    int32_t listed;
} tl_remesh_attrs;

/// Finds the attributes, or adds them with no node in any of `groups` groups.
tl_status tl_remesh_attach(tl_mesh *mesh, int32_t groups, tl_remesh_attrs *out, tl_error *err);

typedef struct tl_remesh_def {
    double hysteresis;               ///< a collapse makes no edge with a size above 1 - hysteresis. 0.2 in the paper.
    double aspect_min;               ///< no flip or collapse makes a face with 12 sqrt(3) area / perimeter^2 below this
    int32_t max_faces;               ///< no splits beyond; 0: no limit
    const double *density;           ///< [kg/m^2] by face label
    tl_lumping lumping;              ///< of masses
    const tl_sizing_fabric *fabric;  ///< by face label; NULL: energies are not bounded
    double energy;                   ///< [J] that all operations together may add to the stretching energy
    const tl_guard *guard;           ///< bodies; NULL: none
    /// As in tl_adapt_job. NULL: not needed.
    tl_status (*renew_clearance)(void *self, tl_error *err);
    /// As in tl_adapt_job. NULL: clearances are those of attrs.clearance, or unlimited without it.
    double (*measure_clearance)(void *self, int32_t face, tl_clearance_kind what, double enough);
    void *renew_self;                ///< for both
    tl_workers *workers;             ///< NULL: the caller alone
    const tl_remesh_policy *policy;  ///< tuned constants; NULL: the defaults
    const int32_t *line_groups;      ///< bits as of `held`: groups that a new node joins only on outlines, seams and
                                     ///< feature lines; NULL: none
} tl_remesh_def;

/// One pass. The field must be set. On TL_NO_MEMORY the mesh is consistent, in the middle of the pass.
tl_status tl_remesh(tl_mesh *mesh, const tl_remesh_attrs *attrs, const tl_remesh_def *def, tl_remesh_report *report,
                    tl_error *err);

/// Is a pass worth its cost? Some edges are much too long, or there are many more faces than the field asks for. The
/// field must be set.
bool tl_remesh_needs_pass(const tl_mesh *mesh, const tl_remesh_attrs *attrs);

/// Area of the cloth in the metric of a field, one tensor per vertex slot. A pass makes 6 to 7 faces per unit.
double tl_remesh_area(const tl_mesh *mesh, const tl_sym2 *field);

/// Size of an edge (Eq. 1); on a seam the mean of both sides.
double tl_remesh_size(const tl_mesh *mesh, const tl_remesh_attrs *attrs, int32_t e);

/// Would the pass collapse node `gone` into the other end of `e`?
bool tl_remesh_collapses(tl_mesh *mesh, const tl_remesh_attrs *attrs, const tl_remesh_def *def, int32_t e,
                         int32_t gone);
