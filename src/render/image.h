// render/image.h: an 8-bit sRGB picture in memory.
#pragma once

#include "render/vecf.h"

typedef struct tl_image {
    int32_t width, height;
    uint8_t *rgb;  ///< rows from the top, 3 bytes a pixel, no padding
} tl_image;

/// At most 16384 on a side. Not initialised.
tl_status tl_image_create(const tl_allocator *alloc, int32_t width, int32_t height, tl_image *out, tl_error *err);
void tl_image_free(const tl_allocator *alloc, tl_image *image);

void tl_image_fill(tl_image *image, const uint8_t rgb[3]);

/// Copies `from` to (x, y) of `to`; what lies outside is cut off.
void tl_image_paste(tl_image *to, const tl_image *from, int32_t x, int32_t y);

/// Linear light in 0 .. 1 to an sRGB byte, correctly rounded (IEC 61966-2-1); and back.
uint8_t tl_srgb_byte(float linear);
float tl_srgb_linear(uint8_t byte);
/// The same for three: 0xrrggbb to linear light.
tl_rgb tl_rgb_hex(uint32_t hex);
