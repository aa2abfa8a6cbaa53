// render/simd4.h: four floats at a time: SSE2 where there is one, plain loops elsewhere, the same bits on
// both.
//
// min and max follow SSE: the second operand wins when the first is not a number.
#pragma once
#include <stdint.h>

#if defined(__SSE2__)
#include <emmintrin.h>

typedef __m128 tl_f4;
static inline tl_f4 tl_f4_set(float a) { return _mm_set1_ps(a); }
static inline tl_f4 tl_f4_load(const float *p) { return _mm_loadu_ps(p); }
static inline void tl_f4_store(float *p, tl_f4 a) { _mm_storeu_ps(p, a); }
static inline tl_f4 tl_f4_add(tl_f4 a, tl_f4 b) { return _mm_add_ps(a, b); }
static inline tl_f4 tl_f4_sub(tl_f4 a, tl_f4 b) { return _mm_sub_ps(a, b); }
static inline tl_f4 tl_f4_mul(tl_f4 a, tl_f4 b) { return _mm_mul_ps(a, b); }
static inline tl_f4 tl_f4_div(tl_f4 a, tl_f4 b) { return _mm_div_ps(a, b); }
static inline tl_f4 tl_f4_min(tl_f4 a, tl_f4 b) { return _mm_min_ps(a, b); }
static inline tl_f4 tl_f4_max(tl_f4 a, tl_f4 b) { return _mm_max_ps(a, b); }
/// Bit i is set where a[i] <= b[i].
static inline int tl_f4_le(tl_f4 a, tl_f4 b) { return _mm_movemask_ps(_mm_cmple_ps(a, b)); }
static inline int tl_f4_ge(tl_f4 a, tl_f4 b) { return _mm_movemask_ps(_mm_cmpge_ps(a, b)); }
#else
typedef struct tl_f4 {
    float v[4];
} tl_f4;
static inline tl_f4 tl_f4_set(float a) { return (tl_f4){{a, a, a, a}}; }
static inline tl_f4 tl_f4_load(const float *p) { return (tl_f4){{p[0], p[1], p[2], p[3]}}; }
static inline void tl_f4_store(float *p, tl_f4 a)
{
    for (int i = 0; i < 4; i++) p[i] = a.v[i];
}
#define TL_F4_LANES(expr)                                                                                              \
    do {                                                                                                               \
        tl_f4 r_;                                                                                                      \
        for (int i = 0; i < 4; i++) r_.v[i] = (expr);                                                                  \
        return r_;                                                                                                     \
    } while (0)
static inline tl_f4 tl_f4_add(tl_f4 a, tl_f4 b) { TL_F4_LANES(a.v[i] + b.v[i]); }
static inline tl_f4 tl_f4_sub(tl_f4 a, tl_f4 b) { TL_F4_LANES(a.v[i] - b.v[i]); }
static inline tl_f4 tl_f4_mul(tl_f4 a, tl_f4 b) { TL_F4_LANES(a.v[i] * b.v[i]); }
static inline tl_f4 tl_f4_div(tl_f4 a, tl_f4 b) { TL_F4_LANES(a.v[i] / b.v[i]); }
static inline tl_f4 tl_f4_min(tl_f4 a, tl_f4 b) { TL_F4_LANES(a.v[i] < b.v[i] ? a.v[i] : b.v[i]); }
static inline tl_f4 tl_f4_max(tl_f4 a, tl_f4 b) { TL_F4_LANES(a.v[i] > b.v[i] ? a.v[i] : b.v[i]); }
static inline int tl_f4_le(tl_f4 a, tl_f4 b)
{
    int m = 0;
    for (int i = 0; i < 4; i++) m |= (a.v[i] <= b.v[i]) << i;
    return m;
}
static inline int tl_f4_ge(tl_f4 a, tl_f4 b) { return tl_f4_le(b, a); }
#undef TL_F4_LANES
#endif
