// render/light.h: the studio: a large soft key light, a fill, a light from behind and a bright dome; how much
// of each reaches a point.
#pragma once
#include "render/stage.h"

enum { TL_LAMPS = 3, TL_CAST_ALL = 15, TL_CAST_FLOOR = 11 };  // key, fill, rim

/// A round lamp so far away that only its direction and apparent size count.
typedef struct tl_lamp {
    tl_vec3f dir;      ///< towards the lamp, unit
    tl_vec3f t, b;     ///< across, unit
    float sin_radius;  ///< apparent radius
    tl_rgb power;      ///< light on a surface that faces it
} tl_lamp;

/// Dome: radiance base + slope * (direction . up), so its light on a plane has a closed form.
typedef struct tl_studio {
    tl_lamp lamp[TL_LAMPS];
    tl_vec3f up;
    float dome_base, dome_slope;
    tl_rgb dome_tint;
} tl_studio;

/// `towards` points from the scene to the camera; the key stands to its left and above.
void tl_studio_init(tl_studio *studio, tl_vec3f towards, tl_vec3f up);

/// Light of the open dome on a plane with normal n.
tl_rgb tl_studio_dome(const tl_studio *studio, tl_vec3f n);

/// Pixels that share one set of directions, along a side and in all.
enum { TL_PATTERN_SIDE = 8, TL_PATTERNS = TL_PATTERN_SIDE * TL_PATTERN_SIDE };

/// Low-discrepancy directions shared by all pixels; see light.c.
typedef struct tl_samples {
    int32_t lamp_rays[TL_LAMPS], dome_rays;  ///< per pattern, powers of two
    tl_vec2f *disc[TL_LAMPS];                ///< TL_PATTERNS * lamp_rays points of the unit disc
    tl_vec3f *dome;                          ///< TL_PATTERNS * dome_rays cosine-weighted directions about z
} tl_samples;
tl_status tl_samples_init(tl_samples *samples, int32_t quality, const tl_allocator *alloc, tl_error *err);
void tl_samples_free(tl_samples *samples, const tl_allocator *alloc);

/// How much of each light reaches a point, 0 .. 1 (the dome by colour, as light bounces off coloured cloth).
typedef struct tl_lit {
    float lamp[TL_LAMPS];
    tl_rgb dome;
} tl_lit;

/// A point on a surface, with both normals on the side of the viewer.
typedef struct tl_spot {
    tl_vec3f pos;            ///< on the triangle
    tl_vec3f smooth_offset;  ///< to the smooth surface above it, on the viewer's side (lift_smooth of shade.c)
    tl_vec3f smooth_back;    ///< the same on the far side
    tl_vec3f ng, ns;         ///< geometric and shading normal
    tl_rgb albedo;           ///< where light bounces between near surfaces
} tl_spot;

/// Which rays to cast at a point.
typedef struct tl_cast {
    int32_t pattern;   ///< 0 .. TL_PATTERNS - 1
    int32_t patterns;  ///< how many, spread over the set
    uint32_t which;    ///< bit k: look for lamp k; bit TL_LAMPS: for the dome. What is not looked for counts as open.
    bool half_dome;    ///< half the rays into the dome: where its light varies slowly
    bool solid;        ///< no light comes through: a lamp behind the surface needs no rays
    int32_t *hint;     ///< per lamp, what blocked the last ray from near here (tl_ray_bvh_blocked); NULL: none
} tl_cast;

/// Light at `spot` from the rays of `cast`.
tl_lit tl_light_spot(const tl_stage *stage, const tl_studio *studio, const tl_samples *samples, const tl_spot *spot,
                     tl_cast cast);

/// Point i of the first two Sobol dimensions, in (0, 1)^2.
tl_vec2f tl_sobol2(uint32_t i);

/// Which pattern a pixel uses: an ordered dither matrix, so that the pixels of any small square have patterns that lie
/// far apart.
static inline int32_t tl_pattern_of(int32_t x, int32_t y)
{
    int32_t pattern = 0;
    for (int bit = 0; bit < 3; bit++) pattern = 4 * pattern + 2 * ((x ^ y) >> bit & 1) + (y >> bit & 1);
    return pattern;
}
