// io/bytes.h: little-endian numbers in byte arrays.
#pragma once
#include <stdint.h>
#include <string.h>

static inline void tl_put_u32(uint8_t *p, uint32_t x)
{
    for (int i = 0; i < 4; i++) p[i] = (uint8_t)(x >> (8 * i));
}
static inline void tl_put_u64(uint8_t *p, uint64_t x)
{
    for (int i = 0; i < 8; i++) p[i] = (uint8_t)(x >> (8 * i));
}
static inline void tl_put_f64(uint8_t *p, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    tl_put_u64(p, bits);
}
static inline uint32_t tl_get_u32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static inline uint64_t tl_get_u64(const uint8_t *p) { return tl_get_u32(p) | (uint64_t)tl_get_u32(p + 4) << 32; }
static inline double tl_get_f64(const uint8_t *p)
{
    const uint64_t bits = tl_get_u64(p);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
