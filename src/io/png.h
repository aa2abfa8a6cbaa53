// io/png.h: pictures as PNG files.
#pragma once
#include "io/file.h"
#include "render/image.h"

/// Writes an 8-bit sRGB PNG, whole or not at all. The same picture gives the same bytes.
tl_status tl_png_write(const tl_allocator *alloc, const char *path, const tl_image *image, tl_error *err);

/// Samples of 16 bits, row by row, 1 (grey) or 3 (red, green, blue) to a texel: values, not colours.
typedef struct tl_png16 {
    int32_t width, height, channels;
    const uint16_t *samples;
} tl_png16;
tl_status tl_png16_write(const tl_allocator *alloc, const char *path, const tl_png16 *picture, tl_error *err);
/// One grey sample per texel into `samples`, which has room for `capacity`. For tests.
tl_status tl_png16_read_grey(const char *path, uint16_t *samples, int64_t capacity, int32_t *width, int32_t *height,
                             tl_error *err);

/// Reads an 8-bit PNG of any kind as RGB. For tests.
tl_status tl_png_read(const tl_allocator *alloc, const char *path, tl_image *out, tl_error *err);
