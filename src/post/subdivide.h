// post/subdivide.h: finer surfaces of finished frames: Loop, modified Loop and butterfly subdivision (Kimmerle 2005,
// ch. 4).
//
// Every face becomes four. Old nodes keep their ids (even), the middle of edge e becomes node `node_count` + e (odd).
// Nodes are places in space, vertices are places in material space: a seam is two vertices on one node, so what is sewn
// stays together. Sharp corners of a panel's outline stay where they are. Reads a finished frame and never feeds back
// into a simulation.
#pragma once
#include "base/workers.h"
#include "toile/base.h"

typedef enum tl_subdivision {
    TL_SUBDIVIDE_LOOP,           ///< smooths; curvature may grow without bound at irregular nodes
    TL_SUBDIVIDE_MODIFIED_LOOP,  ///< smooths, bounded curvature (Loop 2002); looks best on cloth
    TL_SUBDIVIDE_BUTTERFLY,      ///< goes through the given nodes, keeps and amplifies their unevenness
} tl_subdivision;

typedef struct tl_subdivide_def {
    tl_subdivision scheme;
    int32_t crease_seams;      ///< 1: seams stay as sharp as they are. Default 0.
    int32_t loop_vertex_mask;  ///< 1: modified Loop with the vertex mask of Loop 1987, as the thesis prints. Default 0.
} tl_subdivide_def;

/// A surface that owns its arrays. Faces are counter-clockwise.
typedef struct tl_fine_mesh {
    tl_allocator alloc;
    tl_vec3 *pos;        ///< [node_count] [m]
    tl_vec2 *uv;         ///< [vert_count] [m]
    int32_t (*node)[3];  ///< [face_count] nodes of the corners
    int32_t (*vert)[3];  ///< [face_count] vertices of the corners
    int32_t *source;     ///< [face_count] face of the coarsest mesh
    int32_t node_count, vert_count, face_count;
} tl_fine_mesh;

/// Level 0: a copy. `vert` and `uv` may both be NULL: nodes serve as vertices, with uv 0.
typedef struct tl_fine_input {
    const tl_vec3 *pos;
    const int32_t (*node)[3];
    const int32_t (*vert)[3];
    const tl_vec2 *uv;
    int32_t node_count, vert_count, face_count;
} tl_fine_input;
tl_status tl_fine_mesh_create(tl_allocator alloc, const tl_fine_input *input, tl_fine_mesh *out, tl_error *err);
void tl_fine_mesh_free(tl_fine_mesh *mesh);

/// One level finer. `out->pos` is where the masks put the nodes. `start` (may be NULL) receives the same surface as
/// `coarse` in the nodes of `out`: even nodes where they were, odd ones in the middle of their edges; freed by the
/// caller with out->node_count entries. On failure `out` is empty.
tl_status tl_subdivide(const tl_fine_mesh *coarse, const tl_subdivide_def *def, tl_workers *workers, tl_fine_mesh *out,
                       tl_vec3 **start, tl_error *err);

/// Weights of the masks, for tests: of the edge point between a node of valence k and its neighbour 0, ring[i] for the
/// i-th node around it; the centre has 1 less their sum.
void tl_edge_mask(tl_subdivision scheme, int32_t k, double *ring);
/// Weight of each of the k nodes around a node; the node itself has 1 - k times it.
double tl_vertex_mask(const tl_subdivide_def *def, int32_t k);
