// post/curved_impl.h: what a curved surface holds, for its own files alone.
#pragma once
#include "adapt/edge_trees/criteria.h"
#include "post/curved.h"

enum { TL_CURVED_MOST_LEVELS = 6, TL_CURVED_TABLE = (1 << TL_CURVED_MOST_LEVELS) + 1 };

/// A curve and the vertices on it.
typedef struct tl_curve {
    int32_t a, b, edge;    ///< vertices at its ends, and the edge of the trees
    int32_t first, count;  ///< of the array of points
} tl_curve;
typedef struct tl_curve_point {
    int32_t vert, index;  ///< into the table
} tl_curve_point;

struct tl_curved {
    tl_allocator alloc;
    tl_curved_def def;
    tl_trees *trees;
    const tl_vec3 *coarse;  ///< borrowed
    int32_t base_nodes, base_faces;
    int32_t (*base_node)[3], (*base_vert)[3];  ///< faces of the coarse cloth
    tl_vec2 *base_uv;
    int32_t base_verts, *base_chart;  ///< panel of each face
    double table[TL_CURVED_TABLE][4];
    // by vertex id of the trees
    tl_vec3 *flat, *pos, *smooth;
    uint8_t *visible;
    int32_t *dense, *order, id_cap[6], order_count;  ///< ids of vertices, coarse levels first
    // what is rebuilt when the mesh changes
    tl_curve *curve;
    tl_curve_point *point;
    int32_t curve_count, curve_cap, point_count, point_cap;
    int32_t (*face)[3], *source, *leaf, face_count, face_cap[4];
    uint8_t *level;
    // the surface, dense
    tl_vec3 *out_pos, *out_flat, *out_smooth, *out_normal;
    int32_t node_count, out_cap[4];
    bool stale;  ///< lists are not those of the trees
};

/// Lists of curves, points and faces, after a change of the trees.
tl_status tl_curved_plan(tl_curved *c, tl_error *err);
