// render/filter.h: brings the sample patterns of neighbouring pixels together without crossing edges.
#pragma once
#include "render/light.h"

/// What the filter knows of a pixel's centre.
typedef struct tl_gpixel {
    tl_vec3f pos, normal;
    float footprint;  ///< [m]; 0: its light is settled, the filter leaves it alone
    int32_t surface;  ///< -1: background, which takes no part; -2: floor
} tl_gpixel;

/// How much pixel `b` may lend its light to `a`, 0 .. 1.
static inline float tl_kinship(const tl_gpixel *a, const tl_gpixel *b)
{
    if (a->surface != b->surface) return 0;
    if (a->surface < 0) return 1;  // the floor is one plane
    const float turn = tl_dotf(a->normal, b->normal);
    if (turn <= 0.5f) return 0;
    const float t2 = turn * turn, t4 = t2 * t2;
    // distance from the tangent plane of a, in pixels
    const float off = tl_dotf(a->normal, tl_subf(b->pos, a->pos)) / a->footprint;
    return t4 * t4 / (1 + off * off * 0.25f);
}

/// Filters `lit` (width * height) in place, using `scratch` of the same size.
void tl_filter_light(const tl_gpixel *g, tl_lit *lit, tl_lit *scratch, int32_t width, int32_t height,
                     tl_workers *workers);
