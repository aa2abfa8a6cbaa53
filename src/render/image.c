// render/image.c: pictures, pasting, sRGB both ways.

#include "render/image.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

enum { MAX_SIDE = 16384 };

tl_status tl_image_create(const tl_allocator *alloc, int32_t width, int32_t height, tl_image *out, tl_error *err)
{
    *out = (tl_image){0};
    if (width < 1 || height < 1 || width > MAX_SIDE || height > MAX_SIDE)
        return tl_fail(err, TL_BAD_ARG, "picture of %d x %d, must be from 1 x 1 to %d x %d", width, height, MAX_SIDE,
                       MAX_SIDE);
    uint8_t *rgb = TL_ALLOC(alloc, uint8_t, (size_t)width * (size_t)height * 3);
    if (!rgb) return tl_fail_memory(err, "a picture");
    *out = (tl_image){width, height, rgb};
    return TL_OK;
}

void tl_image_free(const tl_allocator *alloc, tl_image *image)
{
    TL_FREE(alloc, image->rgb, (size_t)image->width * (size_t)image->height * 3);
    *image = (tl_image){0};
}

void tl_image_fill(tl_image *image, const uint8_t rgb[3])
{
    const size_t count = (size_t)image->width * (size_t)image->height;
    for (size_t i = 0; i < count; i++) memcpy(image->rgb + 3 * i, rgb, 3);
}

void tl_image_paste(tl_image *to, const tl_image *from, int32_t x, int32_t y)
{
    const int32_t x0 = x < 0 ? -x : 0, y0 = y < 0 ? -y : 0;
    const int32_t x1 = from->width < to->width - x ? from->width : to->width - x;
    const int32_t y1 = from->height < to->height - y ? from->height : to->height - y;
    if (x1 <= x0) return;
    for (int32_t row = y0; row < y1; row++)
        memcpy(to->rgb + ((size_t)(y + row) * (size_t)to->width + (size_t)(x + x0)) * 3,
               from->rgb + ((size_t)row * (size_t)from->width + (size_t)x0) * 3, (size_t)(x1 - x0) * 3);
}

// --- sRGB --------------------------------------------------------------------------------------------------

/// IEC 61966-2-1, byte to linear: 255 s = byte; s <= 0.04045 is the straight piece.
static double decode(double s) { return s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4); }

float tl_srgb_linear(uint8_t byte) { return (float)decode(byte / 255.0); }

uint8_t tl_srgb_byte(float linear)
{
    if (!(linear > 0)) return 0;
    if (linear >= 1) return 255;
    const double l = (double)linear;
    const double s = l <= 0.0031308 ? 12.92 * l : 1.055 * pow(l, 1 / 2.4) - 0.055;
    return (uint8_t)(255 * s + 0.5);
}

tl_rgb tl_rgb_hex(uint32_t hex)
{
    return (tl_rgb){tl_srgb_linear((uint8_t)(hex >> 16 & 255)), tl_srgb_linear((uint8_t)(hex >> 8 & 255)),
                    tl_srgb_linear((uint8_t)(hex & 255))};
}
