// mesh/edges.h: the unique edges of a list of triangles, manifold or not.
#pragma once
#include "toile/base.h"

/// Edges as (smaller node, larger node), sorted; *edge is made with `alloc` and holds *edge_count entries. `face_edge`
/// (may be NULL) gets for every face the edges from corner k to k + 1. Faces must not repeat a node.
tl_status tl_unique_edges(const tl_allocator *alloc, const int32_t (*face)[3], int32_t face_count, int32_t (**edge)[2],
                          int32_t *edge_count, int32_t (*face_edge)[3], tl_error *err);
