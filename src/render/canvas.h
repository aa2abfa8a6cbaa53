// render/canvas.h: lines, boxes and text over a picture, with smooth edges, blended in linear light.
#pragma once
#include <stdbool.h>

#include "render/image.h"

typedef struct tl_canvas {
    tl_image *image;
    tl_allocator alloc;
    uint8_t *cover;  ///< one byte per pixel, zero between calls
    float linear[256];
} tl_canvas;

tl_status tl_canvas_init(tl_canvas *canvas, const tl_allocator *alloc, tl_image *image, tl_error *err);
void tl_canvas_free(tl_canvas *canvas);

typedef struct tl_ink {
    tl_rgb rgb;
    float alpha;
} tl_ink;

/// Coordinates are pixels from the top left corner, (0.5, 0.5) being the centre of the first pixel.
void tl_canvas_rect(tl_canvas *canvas, double x, double y, double width, double height, tl_ink ink);

/// A line through all points with round ends and joints.
void tl_canvas_line(tl_canvas *canvas, const tl_vec2 *points, int32_t count, double width, tl_ink ink);

/// Fills a polygon (even-odd rule) of at most TL_AREA_POINTS corners; one of more is left out.
enum { TL_AREA_POINTS = 512 };
void tl_canvas_area(tl_canvas *canvas, const tl_vec2 *points, int32_t count, tl_ink ink);

typedef enum tl_anchor { TL_ANCHOR_LEFT, TL_ANCHOR_MIDDLE, TL_ANCHOR_RIGHT } tl_anchor;

typedef struct tl_text_style {
    double size;    ///< height of capitals [pixels]
    double weight;  ///< stroke width relative to size; 0: 0.125
    tl_anchor anchor;
    bool upwards;  ///< runs from bottom to top
    tl_ink ink;
} tl_text_style;

/// (x, y) is the base line's point at the anchor.
void tl_canvas_text(tl_canvas *canvas, double x, double y, const char *text, const tl_text_style *style);

double tl_text_width(const char *text, double size);
