// render/maps.h: numbers to colour a mesh by: strain, curvature, speed, size, nearness.
//
// Every function fills the caller's array, one entry per face or per position of the surface; entries that
// cannot be computed (degenerate or not finite) are NaN and show grey.
#pragma once
#include "render/bvh.h"
#include "render/draw.h"

/// Per face: the principal strain (stretch - 1) of larger magnitude, with its sign. Needs material
/// coordinates.
void tl_map_strain(const tl_draw_mesh *surface, float *face_value);

/// Per face: the larger principal strain if it is positive, else 0: where the cloth is in tension.
void tl_map_tension(const tl_draw_mesh *surface, float *face_value);

/// Per face: the larger principal stress where it is positive [N/m], from the stiffness at rest of a fabric: c11, c12,
/// c22, c33 of S11 = c11 E11 + c12 E22, .., S12 = c33 E12 / 2 (docs/physics.md).
void tl_map_stress(const tl_draw_mesh *surface, const double stretch[4], float *face_value);

/// Edge lengths of the equilateral triangle that a face is after undoing its stretching along two axes: the
/// larger and the smaller [m]. In material space, or in the world without material coordinates.
typedef struct tl_extent {
    double large, small;
} tl_extent;
tl_extent tl_face_extent(const tl_draw_mesh *surface, int32_t face);  ///< zeros if degenerate

/// Per face: material area (world area without material coordinates) [m^2].
double tl_face_area(const tl_draw_mesh *surface, int32_t face);

/// Per face: how often the largest face (area `largest`) has been halved to get here.
void tl_map_level(const tl_draw_mesh *surface, double largest, float *face_value);

/// Per position: largest principal curvature in magnitude [1/m].
tl_status tl_map_curvature(const tl_draw_mesh *surface, const tl_allocator *alloc, tl_workers *workers,
                           float *node_value, tl_error *err);

/// Per position: speed [m/s] from velocities.
void tl_map_speed(const tl_vec3 *vel, int32_t count, float *node_value);

/// Per position: speed from where the same material point was `dt` earlier [s]; `before` may have another
/// mesh. A corner with several material vertices takes the first.
tl_status tl_map_speed_between(const tl_draw_mesh *before, const tl_draw_mesh *now, double dt,
                               const tl_allocator *alloc, float *node_value, tl_error *err);

/// All triangles of several surfaces in one ray tree, to look for neighbours.
typedef struct tl_crowd {
    tl_allocator alloc;
    const tl_draw_mesh *surfaces;
    int32_t surface_count;
    tl_vec3 origin;
    tl_vec3f *pos;
    int32_t (*tri)[3];               ///< into pos
    int32_t *owner, *face;           ///< surface and face of a triangle
    int32_t *first_pos, *first_tri;  ///< of each surface, surface_count + 1 entries
    int32_t pos_count, tri_count;
    tl_ray_bvh *bvh;
} tl_crowd;
tl_status tl_crowd_init(tl_crowd *crowd, const tl_draw_mesh *surfaces, int32_t count, const tl_allocator *alloc,
                        tl_error *err);
void tl_crowd_free(tl_crowd *crowd);

/// Per position of surface `index`: distance along the normal, both ways, to the next surface; `reach` if
/// farther [m].
tl_status tl_map_nearness(const tl_crowd *crowd, int32_t index, double reach, tl_workers *workers, float *node_value,
                          tl_error *err);

/// Marks (sets to 1) the faces of surface `index` that cross a face of any surface: an edge of one and the other
/// face share a point, but no corner position. Exact; touching counts. `pairs` counts a pair for its face that comes
/// first: over all cloths, with the obstacles behind them in the list, every pair is counted once.
tl_status tl_mark_crossings(const tl_crowd *crowd, int32_t index, tl_workers *workers, uint8_t *face_mark,
                            int64_t *pairs, tl_error *err);
