// base/rng.h: random numbers as a pure function of (seed, stream, index): no state, no order.
#pragma once
#include <stdint.h>

#include "base/hash.h"

static inline uint64_t tl_random_bits(uint64_t seed, uint64_t stream, uint64_t index)
{
    const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
    return tl_mix64(tl_mix64(tl_mix64(seed + golden) + stream + golden) + index + golden);
}

/// Uniform in [0, 1), a multiple of 2^-53.
static inline double tl_random(uint64_t seed, uint64_t stream, uint64_t index)
{
    return (double)(tl_random_bits(seed, stream, index) >> 11) * 0x1p-53;
}
