// dress/garment.h: cloth on its way from flat panels to a sewn garment: plain arrays, refined and welded as it goes.
#pragma once
#include "toile/pattern.h"

/// Nodes in space, vertices in the material, as tl_cloth_def wants them. Owns its arrays.
typedef struct tl_garment {
    tl_allocator alloc;
    tl_vec3 *pos;        ///< of nodes [m]
    tl_vec2 *uv;         ///< of vertices [m]
    int32_t *node_mark;  ///< of nodes: what holds them to the body (dress/mark.h), 0: nothing
    int32_t *vert_node;  ///< node under each vertex
    int32_t *vert_panel;
    int32_t *sewn;  ///< per vertex: those of one number belong on one node (once sewn); the smallest vertex of them
    int32_t (*face)[3];
    int32_t *face_panel;
    int32_t node_count, vert_count, face_count;
    int32_t node_cap, mark_cap, vert_cap, face_cap;  ///< of the arrays, for freeing
} tl_garment;

/// Panels as the pattern's mesh has them: a node per vertex. `*out` is zero on failure.
tl_status tl_garment_make(const tl_allocator *alloc, const tl_pattern_mesh *mesh, tl_garment *out, tl_error *err);
/// Arrays of these sizes, not filled in.
tl_status tl_garment_alloc(const tl_allocator *alloc, int32_t nodes, int32_t verts, int32_t faces, tl_garment *out,
                           tl_error *err);
void tl_garment_free(tl_garment *g);

/// Of a welded garment: vertices on one node are sewn.
tl_status tl_garment_find_sewn(tl_garment *g, tl_error *err);

/// A copy on the same allocator.
tl_status tl_garment_copy(const tl_garment *g, tl_garment *out, tl_error *err);

/// Groups of an unwelded garment with a gap beyond `limit` [m] are not to be sewn any more; how many vertices that
/// were.
int32_t tl_garment_leave_open(tl_garment *g, double limit, tl_error *err);

/// Vertices that are sewn together come to lie on one node, at their mean place. `*moved` (may be NULL) gets the
/// furthest that a node went.
tl_status tl_garment_weld(tl_garment *g, double *moved, tl_error *err);

/// The widest gap between vertices that belong on one node, and the mean over those that are sewn [m].
typedef struct tl_gap {
    double widest, mean;
    int32_t vert;  ///< one of the widest gap, -1: nothing is sewn
} tl_gap;

/// Of groups whose turn is at most `turn` (NULL: all of them).
tl_gap tl_garment_gap(const tl_garment *g, const int32_t *turns, int32_t turn);

/// When a group is to be sewn, for each of its vertices: 0 first: darts, and what is to come together more or less on a
/// level, so that a garment is closed around the body where it is; 1 then: panels that are drawn up or down to others.
void tl_garment_turns(const tl_garment *g, int32_t *turns);

/// Edges longer than `limit` [m, in the material, of either side of a seam] are halved until none is left, at most
/// `rounds` times. The surface in space stays exactly what it was, so what touched nothing touches nothing.
tl_status tl_garment_split(tl_garment *g, double limit, int32_t rounds, tl_error *err);

/// Arrays of a garment's threads, one entry per vertex.
typedef struct tl_threads {
    int32_t *turn;      ///< of tl_garment_turns
    double *stiffness;  ///< [N/m]
    tl_vec3 *to;        ///< [m]
    double *top;        ///< scratch
    double shoulders;   ///< height above which seams meet half-way, as shoulders carry what is there [m]
} tl_threads;

/// Springs that sew, into `t`: every node is drawn towards the centre of those it is sewn to, by no more than `reach`
/// [m] at a time, with the stiffness of its turn [N/m]. Below the shoulders it is drawn to the height of the highest of
/// them: clothes hang from above, and a light waistband is not to come down to heavy legs. For unwelded garments. Nodes
/// that are not sewn, or not yet, get stiffness 0. On a level the forces on a group sum to zero.
void tl_garment_threads(const tl_garment *g, const tl_vec3 *pos, const double stiffness[2], double reach,
                        const tl_threads *t);
