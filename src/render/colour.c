// render/colour.c: colours as tables of sRGB knots, mixed in linear light.

#include "render/colour.h"

#include "render/image.h"

// Sequential: a steady climb in lightness (CIE L* 15 to 92), from deep blue over teal and green to pale
// yellow; Diverging: equal lightness on both sides of a near-white middle. Chosen by us, checked by eye in
// grey.
static const uint32_t SEQUENTIAL[] = {0x1b1a4b, 0x253f86, 0x22699b, 0x1f8f99, 0x39b183, 0x86cd63, 0xd3e05a, 0xfdf3a4};
static const uint32_t DIVERGING[] = {0x173f7a, 0x2f72b4, 0x7fb2d8, 0xd0e3ee, 0xf5f3ef,
                                     0xf6d5c0, 0xe8946f, 0xc94a3f, 0x861c2b};
static const uint32_t HEAT[] = {0xf4f1ea, 0xf9dc9c, 0xf6ae55, 0xe6703a, 0xbf3330, 0x7c1430};
static const uint32_t RAINBOW[] = {0x1f3fb4, 0x2a7fd6, 0x2fb6b8, 0x4fbf5a, 0xc9d645, 0xf2b43a, 0xe0662c, 0xb3202a};
static const uint32_t LEVELS[] = {0x2f5d9e, 0x4f97c4, 0x76c1b0, 0xa9d08a, 0xe6d36a,
                                  0xeda04f, 0xd9603f, 0xa92e4e, 0x6b2a6e};
static const uint32_t PALETTE[] = {0x4a78b5, 0xc8553d, 0x5f9e6e, 0xd9a441, 0x8a6bb1, 0x4f9aa8, 0xb5657f, 0x8c8c82};

enum { COUNT_PALETTE = sizeof PALETTE / sizeof *PALETTE };

static tl_rgb knots(const uint32_t *table, int32_t count, double t)
{
    const double x = (t < 0 ? 0 : t > 1 ? 1 : t) * (count - 1);
    int32_t i = (int32_t)x;
    if (i > count - 2) i = count - 2;
    return tl_lerpf(tl_rgb_hex(table[i]), tl_rgb_hex(table[i + 1]), (float)(x - i));
}

#define KNOTS(table, t) knots((table), (int32_t)(sizeof(table) / sizeof *(table)), (t))

tl_rgb tl_scale_colour(const tl_scale *scale, double value)
{
    if (!isfinite(value)) return tl_rgb_hex(0x9a9a9a);
    const double span = scale->hi - scale->lo;
    const double t = span != 0 ? (value - scale->lo) / span : 0.5;
    switch (scale->kind) {
    case TL_SCALE_SEQUENTIAL: return KNOTS(SEQUENTIAL, t);
    case TL_SCALE_DIVERGING: return KNOTS(DIVERGING, t);
    case TL_SCALE_HEAT: return KNOTS(HEAT, t);
    case TL_SCALE_RAINBOW: return KNOTS(RAINBOW, t);
    case TL_SCALE_LEVELS: return KNOTS(LEVELS, span != 0 ? (round(value) - scale->lo) / span : 0);
    }
    return tl_rgb_hex(0x9a9a9a);
}

tl_rgb tl_palette(int32_t i) { return tl_rgb_hex(PALETTE[(uint32_t)i % COUNT_PALETTE]); }

tl_rgb tl_mesh_colour(double size, double aspect)
{
    const tl_rgb blue = tl_rgb_hex(0x3f6fc4), red = tl_rgb_hex(0xd23b32), yellow = tl_rgb_hex(0xf2cf3a);
    // a small face is red or yellow by its shape; size then mixes towards blue
    const float round_ = tl_smoothf(0.15f, 0.5f, (float)aspect), large = tl_smoothf(0.1f, 0.9f, (float)size);
    return tl_lerpf(tl_lerpf(yellow, red, round_), blue, large);
}
