// detect/bvh/bvh_lanes.h: vectors of four floats for the traversal without AVX2 (bvh_query.c).
//
// BITS4: one bit per lane of a comparison; LEAST4, MOST4: minimum and maximum of two vectors, the second if they are
// equal. ANY_...: the same in portable C for processors other than x86; a query takes a quarter more time with these.
#pragma once
#include <stdint.h>

#include "detect/bvh/bvh_impl.h"

#define SELECT4(m, a, b) ((tl_f4)(((m) & (tl_i4)(a)) | (~(m) & (tl_i4)(b))))
#define ANY_LEAST4(a, b) SELECT4((tl_i4)((a) < (b)), a, b)
#define ANY_MOST4(a, b) SELECT4((tl_i4)((a) > (b)), a, b)
#define ANY_BITS4(m) any_bits4((tl_i4)(m))
TL_INLINE uint32_t any_bits4(tl_i4 m)
{
    m &= (tl_i4){1, 2, 4, 8};
    return (uint32_t)((m[0] | m[1]) | (m[2] | m[3]));
}

#ifdef __SSE2__
#include <emmintrin.h>
#define LEAST4(a, b) ((tl_f4)_mm_min_ps((__m128)(a), (__m128)(b)))
#define MOST4(a, b) ((tl_f4)_mm_max_ps((__m128)(a), (__m128)(b)))
#define BITS4(m) ((uint32_t)_mm_movemask_ps((__m128)(m)))
#else
#define LEAST4 ANY_LEAST4
#define MOST4 ANY_MOST4
#define BITS4 ANY_BITS4
#endif
