// tests/cli/picture_diff.c A.png B.png: how many pixels differ by more than rounding. Exit code 1 if that is none, 2 if
// a picture cannot be read or their sizes differ.

#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDING = 12 };  // of 255, summed over the colours

static unsigned char *read_picture(const char *path, png_image *image)
{
    memset(image, 0, sizeof *image);
    image->version = PNG_IMAGE_VERSION;
    if (!png_image_begin_read_from_file(image, path)) return NULL;
    image->format = PNG_FORMAT_RGB;
    unsigned char *pixels = malloc(PNG_IMAGE_SIZE(*image));
    if (pixels && png_image_finish_read(image, NULL, pixels, 0, NULL)) return pixels;
    free(pixels);
    return NULL;
}

int main(int argc, char **argv)
{
    png_image image[2];
    unsigned char *pixels[2] = {NULL, NULL};
    for (int k = 0; k < 2 && argc == 3; k++) pixels[k] = read_picture(argv[1 + k], &image[k]);
    long differ = 0;
    int code = 2;
    if (pixels[0] && pixels[1] && image[0].width == image[1].width && image[0].height == image[1].height) {
        const size_t count = (size_t)image[0].width * image[0].height;
        for (size_t i = 0; i < count; i++) {
            int sum = 0;
            for (size_t c = 0; c < 3; c++) sum += abs(pixels[0][3 * i + c] - pixels[1][3 * i + c]);
            differ += sum > ROUNDING;
        }
        printf("%ld\n", differ);
        code = differ == 0;
    }
    free(pixels[0]), free(pixels[1]);
    return code;
}
