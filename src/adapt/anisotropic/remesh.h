// adapt/anisotropic/remesh.h: make a mesh as coarse as its sizing field allows (Narain et al. 2012, sec. 4.1, algorithm
// 1).
//
// Edges longer than 1 in the metric of the field are split, then whatever can be collapsed without coming near that is,
// and flips keep the faces Delaunay in the metric all along. What a pass needs to know of vertices, faces and nodes is
// kept in attributes of the mesh, so that it follows every edit by itself.
//
// No operation lets cloth pass through anything. The material coordinates say where every point of the new surface was
// on the old one; the greatest distance between the two is what an operation moves the surface by (room.c). A face may
// be moved by as much as its room: half the distance to the nearest other part of the cloth (which may move as well),
// less what contact keeps, and the distance to bodies, where the new faces are looked at themselves if need be. What
// would go further is not done: a split then stays on the straight edge, which moves nothing, a flip or a collapse is
// left. So there is nothing to push back or to undo afterwards.
#pragma once
#include "adapt/adapt.h"
#include "adapt/anisotropic/sizing.h"
#include "adapt/anisotropic/tensor2.h"
#include "detect/body_clearance.h"
#include "mesh/mesh.h"
#include "mesh/mesh_rest.h"

enum { TL_UNREST = 8 };  ///< width of an attribute

/// Indices of the attributes.
typedef struct tl_remesh_attrs {
    int32_t size;    ///< vertices, 3 doubles: the tensor (xx, xy, yy) of the sizing field; mean at a split
    int32_t turned;  ///< edges, int32: how often it was flipped without having been content since
    int32_t unrest;  ///< nodes, TL_UNREST doubles: how often one was made here or went, and what the cloth was like
                     ///< then (unrest.c)
    int32_t room;    ///< faces, 2 doubles [m] by tl_room_kind: room left after the last pass that asked for any; not
                     ///< added by tl_remesh_attach, for tests
    tl_rest_attrs rest;  ///< TL_NONE: cloth rests flat; not added by tl_remesh_attach
    int32_t mass;        ///< nodes, 1 double [kg]: lumped mass; for the time of a pass
    int32_t
        held;  ///< nodes, int32s: bit k % 32 of word k / 32: in group k. A new node is where both ends of its edge are.
    int32_t listed;  ///< nodes, the same: in group k by name; new nodes are not, and these never go
} tl_remesh_attrs;

/// Finds the attributes, or adds them with nothing held. `groups` of held nodes are at most as many.
tl_status tl_remesh_attach(tl_mesh *mesh, int32_t groups, tl_remesh_attrs *out, tl_error *err);

typedef struct tl_remesh_def {
    double hysteresis;               ///< a collapse makes no edge with a size above 1 - hysteresis. 0.2 in the paper.
    double aspect_min;               ///< no flip or collapse makes a face with 12 sqrt(3) area / perimeter^2 below this
    int32_t max_faces;               ///< no split beyond; 0: no limit
    const double *density;           ///< [kg/m^2] by face label
    tl_lumping lumping;              ///< of masses
    const tl_sizing_fabric *fabric;  ///< by face label; NULL: energy is no matter
    double energy;                   ///< [J] that all operations together may add to the stretching energy
    const tl_guard *guard;           ///< bodies; NULL: none
    /// From now on room is between things as they are; called before the first operation that may move something, and
    /// again where much room has been used up. NULL: nothing is to be done.
    tl_status (*renew_room)(void *self, tl_error *err);
    /// Room [m] of a face as it was at the last renew_room: exact if it is below `enough`, else `enough` or more, but
    /// no more than there is. Bodies: its distance from them. NULL: as attrs.room says, else there is room for
    /// everything.
    double (*measure_room)(void *self, int32_t face, tl_room_kind what, double enough);
    void *renew_self;            ///< for both
    tl_workers *workers;         ///< NULL: the caller alone
    const int32_t *line_groups;  ///< bits as of `held`: groups that a new node joins only on outlines, seams and
                                 ///< feature lines; NULL: none
} tl_remesh_def;

/// One pass. The field must be set. On TL_NO_MEMORY the mesh is consistent, in the middle of the pass.
tl_status tl_remesh(tl_mesh *mesh, const tl_remesh_attrs *attrs, const tl_remesh_def *def, tl_remesh_report *report,
                    tl_error *err);

/// Can a pass wait? Hardly an edge is much too long, and there are hardly more faces than the field asks for. The field
/// must be set.
bool tl_remesh_serves(const tl_mesh *mesh, const tl_remesh_attrs *attrs);

/// Area of the cloth in the metric of a field, one tensor per vertex slot: what a pass makes of it are 6 to 7 faces a
/// unit.
double tl_remesh_area(const tl_mesh *mesh, const tl_sym2 *field);

/// Size of an edge (Eq. 1); on a seam the mean of both sides.
double tl_remesh_size(const tl_mesh *mesh, const tl_remesh_attrs *attrs, int32_t e);

/// Would the pass collapse node `gone` into the other end of `e`?
bool tl_remesh_collapses(tl_mesh *mesh, const tl_remesh_attrs *attrs, const tl_remesh_def *def, int32_t e,
                         int32_t gone);
