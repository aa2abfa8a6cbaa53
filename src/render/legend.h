// render/legend.h: what the colours mean, and captions, drawn over a picture.
#pragma once
#include "render/canvas.h"
#include "render/colour.h"

typedef struct tl_legend {
    const char *title;  ///< quantity and unit, "speed [m/s]"
    tl_scale scale;
    double factor;            ///< shown number = value * factor, 100 for percent. 0: 1.
    bool mesh_colours;        ///< the three colours of the 2012 paper instead of a scale
    double size_lo, size_hi;  ///< for mesh_colours: edge lengths [m] at the ends
} tl_legend;

/// A bar with ticks at the right edge of the picture.
tl_status tl_legend_draw(const tl_legend *legend, const tl_allocator *alloc, tl_image *image, tl_error *err);

/// The part of the picture's width that a legend needs at the right, so that a camera can leave it free.
double tl_legend_room(const tl_legend *legend, int32_t width, int32_t height);

/// Whether a caption is as wide as a picture of this size at most.
bool tl_caption_fits(const char *text, int32_t width, int32_t height);

/// A line of text at the lower left, on a faint panel so that it can be read on anything.
tl_status tl_caption_draw(const char *text, const tl_allocator *alloc, tl_image *image, tl_error *err);
