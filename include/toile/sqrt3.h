// toile/sqrt3.h: layers of triangles by the sqrt(3) rule, made and removed locally (Li & Volkov 2005, sec.
// 3).
//
// Layer 0 is the input. Layer i+1 comes from layer i: a vertex is put into the centre of each triangle, and the centres
// of two neighbours and one of their common vertices make a child (Kobbelt 2000). So an edge (a, b) between T and N
// gives the children (a, cN, cT) and (b, cT, cN), and each child has two parents. Children exist only where asked for.
//
// Borders alternate. On an even layer a border edge (a, b) of T gets a vertex m at the foot of T's centre, which gives
// two right-angled halves (a, m, cT) and (b, cT, m). Each half is one half of the child that a mirror image of T would
// give. Its centre therefore lies on the border at (a + 2 m) / 3, and on the next layer m goes: over two layers the
// border edge is cut in three, and the triangle is split 1-to-9. A seam is a border of both panels, opened alike.
//
// What exists is said edge by edge: an edge is open when its children exist. Each change of the conforming mesh is one
// edit (split or join a face, split or join an edge, flip), offered to the caller first, who may refuse it. A refused
// edit leaves the edge as it is: the hierarchy stays valid and the caller asks again at the next update.
#pragma once
#include <stdbool.h>

#include "toile/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TL_SQRT3_NONE = -1, TL_SQRT3_MAX_LAYERS = 12 };

enum {
    TL_SQRT3_LIVE = 1,
    TL_SQRT3_HALF = 2,     ///< a border triangle of an odd layer
    TL_SQRT3_REFINED = 4,  ///< the criterion, or a finer neighbour, asked for its children
    TL_SQRT3_OPEN = 8,     ///< << edge: the children across this edge exist
    TL_SQRT3_BORDER = 64,  ///< << edge: outline or seam
    TL_SQRT3_SEAM = 512,   ///< << edge: sewn to another border
};

/// Edge k runs from vert[k] to vert[k + 1]; vertices are counter-clockwise in material space.
typedef struct tl_sqrt3_tri {
    int32_t vert[3];
    int32_t across[3];  ///< 3 * triangle + edge beyond each edge, on a seam too; TL_SQRT3_NONE: none yet, or an outline
    int32_t child[3][2];  ///< across each edge, at its first and at its second vertex
    int32_t parent[2];    ///< holds edge 2, holds edge 0; TL_SQRT3_NONE in layer 0 and beyond the border of halves
    int32_t centre;       ///< vertex inside, of halves on their border; TL_SQRT3_NONE: not made
    uint32_t flags;
} tl_sqrt3_tri;

typedef struct tl_sqrt3_vert {
    tl_vec2 uv;    ///< [m] in material space
    int32_t node;  ///< two vertices of a seam share one; in the free list: the next free vertex
} tl_sqrt3_vert;

typedef enum tl_sqrt3_edit_kind {
    TL_SQRT3_SPLIT_FACE,  ///< face (0, 1, 2) gets `vert` at its centroid
    TL_SQRT3_JOIN_FACE,   ///< and back
    TL_SQRT3_SPLIT_EDGE,  ///< border edge (0, 1) of the face with 2 gets `vert` at `t` from 0 to 1
    TL_SQRT3_JOIN_EDGE,   ///< and back
    TL_SQRT3_FLIP,        ///< edge (0, 1) of faces (0, 1, 2) and (1, 0, 3) becomes (3, 2)
} tl_sqrt3_edit_kind;

/// One change of the conforming mesh. On a seam both sides change at once: `corner[1]` is the other side, whose edge
/// runs from its corner 0 to 1 in the same direction of nodes.
typedef struct tl_sqrt3_edit {
    tl_sqrt3_edit_kind kind;
    int32_t corner[2][4];
    int32_t vert[2];  ///< the vertex that comes or goes, on each side; [1] TL_SQRT3_NONE without a seam
    double t;
} tl_sqrt3_edit;

/// Asked before every change. May do the edit on a mesh, or refuse it by *refused = true; a status ends the update.
typedef struct tl_sqrt3_editor {
    tl_status (*apply)(void *user, const tl_sqrt3_edit *edit, bool *refused, tl_error *err);  ///< NULL: all are welcome
    void *user;
} tl_sqrt3_editor;

typedef struct tl_sqrt3 tl_sqrt3;

typedef struct tl_sqrt3_input {
    const int32_t (*tri)[3];  ///< vertices of triangles, counter-clockwise in material space
    const int32_t *node;      ///< of each vertex; NULL: every vertex is a node of its own
    const tl_vec2 *uv;        ///< [m] of each vertex in material space
    int32_t tri_count, vert_count, node_count;
    int32_t layers;  ///< at most, layer 0 included; 1 to TL_SQRT3_MAX_LAYERS
} tl_sqrt3_input;

/// Everything in `input` is copied. Refuses edges of three or more faces and neighbours of opposite orientation.
TL_API tl_status tl_sqrt3_create(const tl_allocator *alloc, const tl_sqrt3_input *input, tl_sqrt3 **out, tl_error *err);
TL_API void tl_sqrt3_destroy(tl_sqrt3 *h);  ///< `h` may be NULL
TL_API void tl_sqrt3_set_editor(tl_sqrt3 *h, tl_sqrt3_editor editor);

/// Makes all children of the triangle, and before that whatever neighbours are missing on coarser layers.
TL_API tl_status tl_sqrt3_refine(tl_sqrt3 *h, int32_t layer, int32_t tri, tl_error *err);

/// Removes the children that no other parent asks for. Does nothing while one of these has children of its own.
TL_API tl_status tl_sqrt3_coarsen(tl_sqrt3 *h, int32_t layer, int32_t tri, tl_error *err);

/// One layer: slots of triangles, living or not (flags), valid until the next change.
typedef struct tl_sqrt3_layer_view {
    const tl_sqrt3_tri *tri;
    int32_t slot_count, live_count;
} tl_sqrt3_layer_view;
TL_API int32_t tl_sqrt3_layers(const tl_sqrt3 *h);  ///< that may exist
TL_API tl_sqrt3_layer_view tl_sqrt3_layer(const tl_sqrt3 *h, int32_t layer);
TL_API const tl_sqrt3_vert *tl_sqrt3_verts(const tl_sqrt3 *h);
TL_API int32_t tl_sqrt3_vert_slots(const tl_sqrt3 *h);
TL_API int32_t tl_sqrt3_node_slots(const tl_sqrt3 *h);

/// A face of the conforming mesh and the hierarchy triangle that it comes from.
typedef struct tl_sqrt3_face {
    int32_t vert[3];
    int32_t layer, tri;
} tl_sqrt3_face;

/// The conforming mesh: triangles without a centre as they are, of the others the parts at edges that are not open.
/// Writes at most `capacity` faces and returns how many there are.
TL_API int32_t tl_sqrt3_extract(const tl_sqrt3 *h, tl_sqrt3_face *out, int32_t capacity);

/// Looks at every link and rule; the first fault is named. For tests.
TL_API tl_status tl_sqrt3_check(const tl_sqrt3 *h, tl_error *err);

#ifdef __cplusplus
}
#endif
