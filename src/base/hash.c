// base/hash.c: words of eight bytes are mixed into the state one after another; the tail is padded with
// zeros and the length goes in last.

#include "base/hash.h"

#define INCREMENT UINT64_C(0x9e3779b97f4a7c15)  // 2^64 / golden ratio, as in splitmix64

void tl_hash_init(tl_hash *hash) { *hash = (tl_hash){INCREMENT, 0, 0}; }

static uint64_t absorb(uint64_t state, uint64_t word) { return tl_mix64((state ^ word) + INCREMENT); }

void tl_hash_add(tl_hash *hash, const void *data, size_t size)
{
    const unsigned char *byte = data;
    while (size > 0) {
        const unsigned filled = (unsigned)(hash->length & 7);
        if (filled == 0 && size >= 8) {
            uint64_t word = 0;
            for (int i = 0; i < 8; i++) word |= (uint64_t)byte[i] << (8 * i);
            hash->state = absorb(hash->state, word);
            byte += 8, size -= 8, hash->length += 8;
            continue;
        }
        hash->tail |= (uint64_t)*byte << (8 * filled);
        byte++, size--, hash->length++;
        if (filled == 7) {
            hash->state = absorb(hash->state, hash->tail);
            hash->tail = 0;
        }
    }
}

uint64_t tl_hash_value(const tl_hash *hash)
{
    uint64_t state = hash->state;
    if (hash->length & 7) state = absorb(state, hash->tail);
    return absorb(state, hash->length);
}
