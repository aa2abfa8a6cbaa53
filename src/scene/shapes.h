// scene/shapes.h: meshes that a scene asks for by words: rectangles and discs in the x-y plane.
#pragma once
#include "io/obj.h"

typedef enum tl_grid {
    TL_GRID_DELAUNAY,   ///< jittered rows, Delaunay: no preferred direction
    TL_GRID_DIAGONAL,   ///< squares cut along one diagonal
    TL_GRID_CROSS,      ///< squares cut along both
    TL_GRID_ALTERNATE,  ///< squares cut along alternating diagonals
} tl_grid;

typedef struct tl_rectangle_def {
    double width, height;  ///< [m], > 0
    double edge;           ///< wanted edge length [m], > 0
    tl_grid grid;
    uint64_t seed;  ///< of the jitter
    int64_t max_faces;
} tl_rectangle_def;

/// From (0, 0) to (width, height); world x, y = material x, y, z = 0.
tl_status tl_shape_rectangle(const tl_allocator *alloc, const tl_rectangle_def *def, tl_obj *out, tl_error *err);

/// Centre at the origin.
tl_status tl_shape_disc(const tl_allocator *alloc, double radius, double edge, int64_t max_faces, tl_obj *out,
                        tl_error *err);
