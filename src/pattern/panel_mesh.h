// pattern/panel_mesh.h: panels as triangles: what the Delaunay and the grid mesher share.
#pragma once
#include "pattern/panel_outline.h"

typedef struct tl_panel_mesher {
    tl_allocator alloc;
    const tl_pattern *pattern;
    const tl_pattern_mesh_def *def;
    tl_outlines outlines;
    tl_pattern_mesh *out;
    double flat_x;  ///< where the next panel without a place stands [m]
} tl_panel_mesher;

/// Appends a panel's points (in its plane) and triangles (counter-clockwise there) to the mesh, with material
/// coordinates and places in space. `info` brings what the method has to say.
tl_status tl_panel_mesh_add(tl_panel_mesher *m, tl_panel_mesh info, const tl_vec2 *at, int32_t count, int32_t (*tri)[3],
                            int32_t tri_count, tl_error *err);

tl_status tl_panel_mesh_pair(tl_panel_mesher *m, int32_t seam, int32_t a, int32_t b, tl_error *err);

tl_status tl_panel_delaunay(tl_panel_mesher *m, tl_error *err);
tl_status tl_panel_grids(tl_panel_mesher *m, tl_error *err);
