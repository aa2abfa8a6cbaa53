// respond/push_out/push_out.h: contact at interactive rates: nodes are kept out of bodies one by one (Simnett 2012,
// sec. 4.4 and 5.3). Faces are found by a refitted tree of boxes, or by the thesis's grid, cylinders and sphere trees
// (search.h), which give the same contacts; docs/notes/realtime.md has the measurement. Solids have closed forms.
//
// Before a step every node near a body is given the half-space that the nearest point of the body leaves it, moving as
// that point does. Inside and outside are told by the surface's normals, so bodies have to be closed and turned
// outwards; what starts inside is pushed out, and what leaves is never kept. After the step the path of every fast node
// is looked at: a node that went through a face from outside to inside is put back on it. Edges and faces of the cloth
// are not looked at: this is no promise of no penetration (that is respond/barrier).
#pragma once
#include "base/ctx.h"
#include "detect/bvh/bvh.h"
#include "math/frame.h"
#include "respond/push_out/search.h"
#include "respond/push_out/solid.h"

/// A half-space that a node has to stay in: n . (x - point - t velocity) >= 0, t since the beginning of the step.
typedef struct tl_push_contact {
    int32_t node;
    double friction;
    tl_vec3 point, normal, velocity;
    int32_t body, face;  ///< where it touches: of the bodies that were given; -1: a solid or a plane
    tl_vec3 anchor;      ///< weights of the face's corners; of a solid in its axes; of a plane from its point
} tl_push_contact;

/// A solid at the beginning and at the end of a step.
typedef struct tl_push_solid {
    tl_solid shape;
    tl_frame now, then;
} tl_push_solid;

typedef struct tl_push_body {
    const tl_bvh *tree;          ///< fitted to the beginning of the step; NULL: a plane
    const tl_search *search;     ///< asked in place of the tree, fitted to the same places; NULL: the tree
    const tl_push_solid *solid;  ///< asked in place of both about what is near; NULL: none
    const tl_vec3 *now;          ///< its nodes then
    const tl_vec3 *then;         ///< at the end of the step
    const tl_vec3 *normal;       ///< of nodes, then; any length
    tl_vec3 point, to;           ///< of a plane: a point at the beginning, the same at the end
    tl_vec3 axis;                ///< of a plane: unit normal
    double friction;
    double offset;  ///< distance to keep [m]
    int32_t key;    ///< tells it from others in all steps, for links
} tl_push_body;

/// Normals of nodes, weighted by area, for tl_push_body.
void tl_push_normals(const int32_t (*face)[3], int32_t face_count, const tl_vec3 *x, int32_t node_count, tl_vec3 *out);

typedef struct tl_push_nodes {
    const double (*pos)[4], (*vel)[4];
    int32_t count;
    int32_t *hint;  ///< per node and body: faces found last, -1: none. Time, not results. NULL: none
    double depth;   ///< how far inside a body nodes are still found [m]
} tl_push_nodes;

/// Contacts of all nodes with all bodies in a step of `dt`, by node; in memory of the arena.
tl_status tl_push_find(const tl_push_body *bodies, int32_t body_count, const tl_push_nodes *nodes, double dt,
                       const tl_ctx *ctx, tl_push_contact **out, int32_t *count, tl_error *err);

/// What nodes did in a step.
typedef struct tl_push_move {
    const double (*before)[4];    ///< where they were at its beginning
    double (*pos)[4], (*vel)[4];  ///< at its end; changed
    int32_t count;
    double dt;
} tl_push_move;

/// Puts back what went through a face within the step. Counts the nodes in *caught.
tl_status tl_push_catch(const tl_push_body *bodies, int32_t body_count, const tl_push_move *move, const tl_ctx *ctx,
                        int32_t *caught, tl_error *err);

/// Moves a place that is inside a body, by no more than `depth`, onto its surface. False: it is not.
bool tl_push_place(const tl_push_body *bodies, int32_t body_count, double depth, tl_vec3 *x);
/// The same question alone.
bool tl_push_inside(const tl_push_body *bodies, int32_t body_count, double depth, tl_vec3 x);

/// Cloth against itself.
typedef struct tl_push_self {
    const double (*pos)[4], (*vel)[4];
    const tl_vec2 *uv;  ///< of nodes
    int32_t count;
    double distance;  ///< that pairs of nodes keep [m]
    double apart;     ///< nodes nearer than this in the material are no pair [m]
    double dt;
} tl_push_self;

/// Pairs of nodes that may come within the distance of each other in the step: by (a, b), a < b, in memory of the
/// arena.
tl_status tl_push_self_pairs(const tl_push_self *self, const tl_ctx *ctx, int32_t (**out)[2], int32_t *pair_count,
                             tl_error *err);
