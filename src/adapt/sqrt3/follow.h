// adapt/sqrt3/follow.h: the mesh of a cloth follows its hierarchy, edit by edit, and nothing passes through anything.
//
// Every edit of the hierarchy (hierarchy.h) is one of the mesh: a face is cut in three or joined, an edge is cut or
// joined, an edge is flipped. What would come too near to something, or strain the cloth too much, is refused; the
// hierarchy then stays as it is there and asks again at the next update. Cuts move nothing and are never refused.
#pragma once
#include "adapt/anisotropic/remesh_impl.h"
#include "toile/sqrt3.h"

/// What the kind keeps of a cloth from look to look.
typedef struct sqrt3_state {
    tl_allocator alloc;
    tl_sqrt3 *h;
    int32_t *vert;  ///< vertex of the mesh for each vertex slot of the hierarchy; TL_NONE: not in the mesh now
    double *bend;   ///< curvature [1/m] at each of these, of the last look
    int32_t vert_cap;
    int32_t bend_cap;
} sqrt3_state;

/// Room for the vertices of the hierarchy and `extra` more.
tl_status sqrt3_keep_up(sqrt3_state *s, int32_t extra, tl_error *err);

/// For the time of an update.
typedef struct sqrt3_follower {
    sqrt3_state *s;
    remesher *r;
    int32_t max_faces;  ///< 0: no limit
} sqrt3_follower;

/// To be the editor of the hierarchy: `user` is a sqrt3_follower.
tl_status sqrt3_apply(void *user, const tl_sqrt3_edit *edit, bool *refused, tl_error *err);

// ---- criterion.c: which triangles are too large -----------------------------------------------------------

/// Fills s->bend: the larger principal curvature of a surface of one curvature, 2 |H|, at every vertex of the mesh.
tl_status sqrt3_measure_bend(sqrt3_state *s, const tl_mesh *mesh, tl_arena *arena, tl_error *err);

typedef struct sqrt3_criterion {
    double error;               ///< [m] that a chord may be off the surface
    double size_min, size_max;  ///< [m] of edges
    int32_t field;              ///< attribute of vertices, 3 doubles: tensor of other criteria; TL_NONE: there are none
} sqrt3_criterion;

/// How much too large a triangle is: 1 is just right, in proportion to its edges.
double sqrt3_size(const sqrt3_state *s, const tl_mesh *mesh, const sqrt3_criterion *c, int32_t layer, int32_t tri);

/// Longest edge of a triangle in material space [m].
double sqrt3_longest(const sqrt3_state *s, int32_t layer, int32_t tri);

// ---- bytes.c: the state as bytes --------------------------------------------------------------------------

size_t sqrt3_save(const void *self, const tl_mesh *mesh, char *out);
tl_status sqrt3_load(const tl_allocator *alloc, tl_mesh *mesh, int32_t layers, const char *data, size_t size,
                     size_t *used, void **self, tl_error *err);
