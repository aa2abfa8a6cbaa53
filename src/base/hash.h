// base/hash.h: a 64-bit hash of a byte stream, for state hashes and file checks. Not cryptographic.
//
// The value depends on the bytes alone, not on how they were cut into calls.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef struct tl_hash {
    uint64_t state, tail;
    uint64_t length;
} tl_hash;

void tl_hash_init(tl_hash *hash);
void tl_hash_add(tl_hash *hash, const void *data, size_t size);
uint64_t tl_hash_value(const tl_hash *hash);

/// The finaliser of splitmix64: a bijection that spreads every bit.
static inline uint64_t tl_mix64(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}
