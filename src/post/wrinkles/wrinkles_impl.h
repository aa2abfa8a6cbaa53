// post/wrinkles/wrinkles_impl.h: the object, for the files of this folder.
#pragma once
#include "post/wrinkles/wrinkles.h"

struct tl_wrinkles {
    tl_allocator alloc;
    tl_wrinkle_def def;
    int32_t (*face)[3];    ///< [face_count] vertices
    tl_vec2 *uv;           ///< [vert_count] [m]
    double *fit;           ///< [face_count * n] heights of textures over faces [m]
    double *now;           ///< [vert_count * n] the same at vertices
    double *weight;        ///< [vert_count] material area of the faces there
    tl_area_terms *terms;  ///< [face_count * n] paper mode
    int32_t face_count, vert_count;
    tl_wrinkle_report report;
};

/// Barycentric coordinates of a place in a face of material space.
void tl_wrinkles_corners(const tl_wrinkles *w, int32_t face, tl_vec2 place, double part[3]);
