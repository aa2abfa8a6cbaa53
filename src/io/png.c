// io/png.c: PNG through libpng; without it the functions say what is missing.

#include "io/png.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
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

// Rows as PNG has them: the more significant byte first.
static void wide_row(const tl_png16 *p, int32_t y, png_bytep row)
{
    const int32_t count = p->width * p->channels;
    for (int32_t i = 0; i < count; i++) {
        const uint16_t sample = p->samples[(size_t)y * (size_t)count + (size_t)i];
        row[2 * i] = (png_byte)(sample >> 8), row[2 * i + 1] = (png_byte)(sample & 255);
    }
}

static bool encode_wide(const tl_png16 *p, png_bytep row, tl_buf *out)
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, quiet);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info || setjmp(png_jmpbuf(png))) {
        png_destroy_write_struct(&png, &info);
        return false;
    }
    png_set_write_fn(png, out, append, no_flush);
    png_set_compression_level(png, LEVEL);
    png_set_IHDR(png, info, (png_uint_32)p->width, (png_uint_32)p->height, 16,
                 p->channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    for (int32_t y = 0; y < p->height; y++) {
        wide_row(p, y, row);
        png_write_row(png, row);
    }
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    return true;
}

tl_status tl_png16_write(const tl_allocator *alloc, const char *path, const tl_png16 *picture, tl_error *err)
{
    tl_buf buf;
    tl_buf_init(&buf, alloc);
    const int64_t bytes = (int64_t)2 * picture->width * picture->channels;
    png_bytep row = TL_ALLOC(alloc, png_byte, bytes);
    const bool encoded = row && encode_wide(picture, row, &buf) && !buf.failed;
    const tl_status status = encoded ? tl_file_write(path, buf.data, buf.size, false, err)
                                     : tl_fail(err, TL_NO_MEMORY, "%s: no memory to encode the picture", path);
    TL_FREE(alloc, row, bytes);
    tl_buf_free(&buf);
    return status;
}

static bool decode_grey(FILE *file, uint16_t *samples, int64_t capacity, int32_t *width, int32_t *height)
{
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, quiet);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info || setjmp(png_jmpbuf(png))) {
        png_destroy_read_struct(&png, &info, NULL);
        return false;
    }
    png_init_io(png, file);
    png_read_info(png, info);
    *width = (int32_t)png_get_image_width(png, info), *height = (int32_t)png_get_image_height(png, info);
    const bool fits =
        png_get_bit_depth(png, info) == 16 && png_get_channels(png, info) == 1 && (int64_t)*width * *height <= capacity;
    for (int32_t y = 0; fits && y < *height; y++) {
        uint16_t *row = samples + (size_t)y * (size_t)*width;
        png_read_row(png, (png_bytep)row, NULL);
        for (int32_t x = 0; x < *width; x++) {
            const png_byte *two = (const png_byte *)&row[x];
            row[x] = (uint16_t)(two[0] << 8 | two[1]);
        }
    }
    png_destroy_read_struct(&png, &info, NULL);
    return fits;
}

tl_status tl_png16_read_grey(const char *path, uint16_t *samples, int64_t capacity, int32_t *width, int32_t *height,
                             tl_error *err)
{
    FILE *file = fopen(path, "rb");
    if (!file) return tl_fail(err, TL_IO, "%s: cannot be read", path);
    const bool good = decode_grey(file, samples, capacity, width, height);
    fclose(file);
    return good ? TL_OK : tl_fail(err, TL_BAD_INPUT, "%s: is not a grey picture of 16 bits that fits", path);
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

tl_status tl_png16_write(const tl_allocator *alloc, const char *path, const tl_png16 *picture, tl_error *err)
{
    (void)alloc, (void)picture;
    return missing(path, err);
}

tl_status tl_png16_read_grey(const char *path, uint16_t *samples, int64_t capacity, int32_t *width, int32_t *height,
                             tl_error *err)
{
    (void)samples, (void)capacity, (void)width, (void)height;
    return missing(path, err);
}

tl_status tl_png_read(const tl_allocator *alloc, const char *path, tl_image *out, tl_error *err)
{
    (void)alloc;
    *out = (tl_image){0};
    return missing(path, err);
}
#endif
