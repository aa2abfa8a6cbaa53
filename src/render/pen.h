// render/pen.h: one way to draw a diagram, onto a picture or into SVG text.
#pragma once
#include "render/canvas.h"

/// Coordinates in points from the top left; a pen scales them as it likes.
typedef struct tl_pen {
    void *user;
    void (*line)(void *user, const tl_vec2 *points, int32_t count, double width, uint32_t hex, double alpha);
    /// At most 512 points.
    void (*area)(void *user, const tl_vec2 *points, int32_t count, uint32_t hex, double alpha);
    void (*text)(void *user, double x, double y, const char *text, double size, tl_anchor anchor, bool upwards,
                 uint32_t hex);
} tl_pen;

/// A pen that draws on `canvas`, `scale` pixels to a point.
typedef struct tl_raster_pen {
    tl_canvas *canvas;
    double scale;
} tl_raster_pen;
tl_pen tl_pen_raster(tl_raster_pen *to);

/// A pen that appends SVG elements through `write`. The caller writes tl_svg_open before and "</svg>\n"
/// after.
typedef struct tl_svg_pen {
    void *user;
    void (*write)(void *user, const char *text);
} tl_svg_pen;
tl_pen tl_pen_svg(tl_svg_pen *to);
void tl_svg_open(tl_svg_pen *to, double width, double height, const char *title);
void tl_svg_close(tl_svg_pen *to);
