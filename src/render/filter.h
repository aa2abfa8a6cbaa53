// render/filter.h: brings the sixteen sample patterns of neighbouring pixels together without crossing edges.
#pragma once
#include "render/light.h"

/// What the filter knows of a pixel's centre.
typedef struct tl_gpixel {
    tl_vec3f pos, normal;
    float footprint; ///< [m]
    int32_t surface; ///< -1: background, which takes no part; -2: floor
} tl_gpixel;

/// How much pixel `b` may lend its light to `a`, 0 .. 1.
float tl_kinship(const tl_gpixel *a, const tl_gpixel *b);

/// Filters `lit` (width * height) in place, using `scratch` of the same size.
void tl_filter_light(const tl_gpixel *g, tl_lit *lit, tl_lit *scratch, int32_t width, int32_t height,
                     tl_workers *workers);
