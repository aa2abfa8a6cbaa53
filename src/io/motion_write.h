// io/motion_write.h: a mesh that moves with fixed topology as PC2, MDD or GLB; one mesh as PLY.
#pragma once
#include "io/frame_points.h"
#include "io/text.h"

/// Borrowed. Nodes are those of the mesh; a vertex of a GLB is a vertex of the mesh, so that it has its uv.
typedef struct tl_moving_mesh {
    const char *name;
    const tl_obj *mesh;     ///< faces, uv and which node a vertex lies on
    const float (*pos)[3];  ///< frame_count times mesh->node_count
    int32_t frame_count;
    double fps;
} tl_moving_mesh;

void tl_pc2_write(tl_buf *buf, const tl_moving_mesh *moving);
void tl_mdd_write(tl_buf *buf, const tl_moving_mesh *moving);

/// The first frame and a morph target for each of the others, with a clip that goes from one to the next.
tl_status tl_glb_write(tl_buf *buf, const tl_moving_mesh *moving, tl_error *err);

/// Binary, little-endian, floats: x y z s t of every vertex, and the attributes there are.
void tl_ply_write(tl_buf *buf, const tl_frame_points *points);
