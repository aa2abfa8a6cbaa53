// render/stage.h: all surfaces of a picture as one list of triangles, ready for rays and shading.
#pragma once
#include "render/bvh.h"
#include "render/draw.h"

/// What shading needs of a triangle.
typedef struct tl_stage_tri {
    tl_vec3f normal[3];  ///< at the corners, unit
    int32_t vert[3];     ///< into pos
    int32_t surface;
    int32_t face;      ///< of the surface
    tl_vec2f bary[3];  ///< the corners within that face: weights of its second and third corner
} tl_stage_tri;

typedef struct tl_stage {
    tl_allocator alloc;
    tl_vec3 origin;  ///< world position of the float origin
    tl_vec3f *pos;
    int32_t pos_count, pos_cap;
    tl_stage_tri *tri;
    int32_t (*vert)[3];  ///< same as tri[].vert, for the tree
    int32_t tri_count, tri_cap, vert_cap;
    const tl_draw_mesh *surfaces;
    int32_t surface_count;
    tl_ray_bvh *bvh;
    float radius;     ///< of a ball around everything that counts, >= a small positive number [m]
    tl_vec3f lo, hi;  ///< box of all usable corners
    int64_t skipped;  ///< faces left out: a corner not finite, or an index out of range
} tl_stage;

tl_status tl_stage_init(tl_stage *stage, const tl_draw_def *def, tl_error *err);
void tl_stage_free(tl_stage *stage);

/// Unit normals at the three corners of every face of `surface`, 3 * face_count entries.
/// n = sum of e1 x e2 / (|e1|^2 |e2|^2) over the corners around a position (Max 1999), taken over those that
/// belong to the same piece of cloth, or turn by less than the surface's crease angle.
tl_status tl_corner_normals(const tl_draw_mesh *surface, const tl_allocator *alloc, tl_workers *workers, tl_vec3f *out,
                            tl_error *err);
