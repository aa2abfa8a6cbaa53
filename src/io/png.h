// io/png.h: pictures as PNG files.
#pragma once
#include "io/file.h"
#include "render/image.h"

/// Writes an 8-bit sRGB PNG, whole or not at all. The same picture gives the same bytes.
tl_status tl_png_write(const tl_allocator *alloc, const char *path, const tl_image *image, tl_error *err);

/// Reads an 8-bit PNG of any kind as RGB. For tests.
tl_status tl_png_read(const tl_allocator *alloc, const char *path, tl_image *out, tl_error *err);
