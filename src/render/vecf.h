// render/vecf.h: single-precision vectors for drawing; nothing here feeds back into a simulation.
#pragma once
#include <math.h>
#include <stdint.h>

#include "toile/base.h"

typedef struct tl_vec3f {
    float x, y, z;
} tl_vec3f;
typedef struct tl_vec2f {
    float x, y;
} tl_vec2f;
typedef tl_vec3f tl_rgb;  // linear light, Rec. 709 primaries: x red, y green, z blue

static inline tl_vec3f tl_addf(tl_vec3f a, tl_vec3f b) { return (tl_vec3f){a.x + b.x, a.y + b.y, a.z + b.z}; }
static inline tl_vec3f tl_subf(tl_vec3f a, tl_vec3f b) { return (tl_vec3f){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline tl_vec3f tl_mulf(float s, tl_vec3f a) { return (tl_vec3f){s * a.x, s * a.y, s * a.z}; }
static inline tl_vec3f tl_maddf(tl_vec3f a, float s, tl_vec3f b)
{
    return (tl_vec3f){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}
static inline tl_vec3f tl_scalef(tl_vec3f a, tl_vec3f b) { return (tl_vec3f){a.x * b.x, a.y * b.y, a.z * b.z}; }
static inline float tl_dotf(tl_vec3f a, tl_vec3f b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline tl_vec3f tl_crossf(tl_vec3f a, tl_vec3f b)
{
    return (tl_vec3f){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline float tl_lenf(tl_vec3f a) { return sqrtf(tl_dotf(a, a)); }
static inline tl_vec3f tl_unitf(tl_vec3f a)
{
    const float n = tl_lenf(a);
    return n > 0 ? tl_mulf(1 / n, a) : (tl_vec3f){0, 1, 0};
}
static inline tl_vec3f tl_lerpf(tl_vec3f a, tl_vec3f b, float t)
{
    return (tl_vec3f){a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), a.z + t * (b.z - a.z)};
}
static inline float tl_minf(float a, float b) { return a < b ? a : b; }
static inline float tl_maxf(float a, float b) { return a > b ? a : b; }
static inline float tl_clampf(float a, float lo, float hi) { return a < lo ? lo : a > hi ? hi : a; }
/// 0 below a, 1 above b, a smooth cubic in between.
static inline float tl_smoothf(float a, float b, float x)
{
    const float t = tl_clampf((x - a) / (b - a), 0, 1);
    return t * t * (3 - 2 * t);
}
/// v0 + u (v1 - v0) + v (v2 - v0) with barycentric weights.
static inline tl_vec3f tl_baryf(const tl_vec3f *p, float u, float v)
{
    const float w = 1 - u - v;
    return (tl_vec3f){w * p[0].x + u * p[1].x + v * p[2].x, w * p[0].y + u * p[1].y + v * p[2].y,
                      w * p[0].z + u * p[1].z + v * p[2].z};
}
static inline tl_vec3f tl_to_f(tl_vec3 a, tl_vec3 origin)
{
    return (tl_vec3f){(float)(a.x - origin.x), (float)(a.y - origin.y), (float)(a.z - origin.z)};
}

/// Two unit vectors that complete `n` to a right-handed frame (Duff et al. 2017, "Building an orthonormal
/// basis, revisited").
static inline void tl_frame(tl_vec3f n, tl_vec3f *t, tl_vec3f *b)
{
    const float sign = n.z >= 0 ? 1.0f : -1.0f;
    const float a = -1 / (sign + n.z), c = n.x * n.y * a;
    *t = (tl_vec3f){1 + sign * n.x * n.x * a, sign * c, -sign * n.x};
    *b = (tl_vec3f){c, sign + n.y * n.y * a, -n.y};
}
