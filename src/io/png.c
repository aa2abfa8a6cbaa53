// io/png.c: PNG through libpng; without it the functions say what is missing.

#include "io/png.h"

#include <string.h>

#include "base/fail.h"
#include "io/text.h"

#ifdef TL_WITH_PNG
#include <png.h>

enum { LEVEL = 6 };  // zlib: 720p in about 60 ms; 9 takes three times as long for 2 % less

static void append(png_structp png, png_bytep data, size_t size) { tl_buf_add(png_get_io_ptr(png), data, size); }
static void no_flush(png_structp png) { (void)png; }
static void quiet(png_structp png, png_const_charp text) { (void)png, (void)text; }

/// libpng leaves by longjmp, so what lives across it is kept apart from what it may change.
static bool encode(const tl_image *image, tl_buf *out)
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, quiet);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info || setjmp(png_jmpbuf(png))) {
        png_destroy_write_struct(&png, &info);
        return false;
    }
    png_set_write_fn(png, out, append, no_flush);
    png_set_compression_level(png, LEVEL);
    png_set_IHDR(png, info, (png_uint_32)image->width, (png_uint_32)image->height, 8, PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
    png_write_info(png, info);
    for (int32_t y = 0; y < image->height; y++) png_write_row(png, image->rgb + (size_t)y * (size_t)image->width * 3);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    return true;
}

tl_status tl_png_write(const tl_allocator *alloc, const char *path, const tl_image *image, tl_error *err)
{
    tl_buf buf;
    tl_buf_init(&buf, alloc);
    const bool encoded = encode(image, &buf) && !buf.failed;
    const tl_status status = encoded ? tl_file_write(path, buf.data, buf.size, false, err)
                                     : tl_fail(err, TL_NO_MEMORY, "%s: no memory to encode the picture", path);
    tl_buf_free(&buf);
    return status;
}

tl_status tl_png_read(const tl_allocator *alloc, const char *path, tl_image *out, tl_error *err)
{
    png_image png = {.version = PNG_IMAGE_VERSION};
    *out = (tl_image){0};
    if (!png_image_begin_read_from_file(&png, path)) return tl_fail(err, TL_IO, "%s: %s", path, png.message);
    png.format = PNG_FORMAT_RGB;
    const tl_status status = tl_image_create(alloc, (int32_t)png.width, (int32_t)png.height, out, err);
    if (status == TL_OK && png_image_finish_read(&png, NULL, out->rgb, 0, NULL)) return TL_OK;
    png_image_free(&png);
    if (status == TL_OK) tl_image_free(alloc, out);
    return status != TL_OK ? status : tl_fail(err, TL_BAD_INPUT, "%s: %s", path, png.message);
}

#else

static tl_status missing(const char *path, tl_error *err)
{
    return tl_fail(err, TL_IO, "%s: this build has no PNG; install libpng-dev and build again (tools/setup.sh does)",
                   path);
}

tl_status tl_png_write(const tl_allocator *alloc, const char *path, const tl_image *image, tl_error *err)
{
    (void)alloc, (void)image;
    return missing(path, err);
}

tl_status tl_png_read(const tl_allocator *alloc, const char *path, tl_image *out, tl_error *err)
{
    (void)alloc;
    *out = (tl_image){0};
    return missing(path, err);
}
#endif
