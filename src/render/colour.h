// render/colour.h: palettes for cloths, colour scales for maps, the mesh colours of Narain et al. 2012.
#pragma once

#include "render/vecf.h"

typedef enum tl_scale_kind {
    TL_SCALE_SEQUENTIAL,  ///< dark blue over green to yellow, light grows steadily: magnitudes
    TL_SCALE_DIVERGING,   ///< blue, white, red: signed values about zero
    TL_SCALE_LEVELS,      ///< distinct steps: whole numbers
    TL_SCALE_HEAT,        ///< white over orange to dark red: nearness, danger
    TL_SCALE_RAINBOW,     ///< blue over green and yellow to red: tension, as Kimmerle 2005, Fig. 6.4 shows it
} tl_scale_kind;

/// From numbers to colours.
typedef struct tl_scale {
    tl_scale_kind kind;
    double lo, hi;  ///< range, lo > hi turns the colours round; values beyond get the colours of its ends
} tl_scale;

/// Linear light. `value` that is not finite gives grey.
tl_rgb tl_scale_colour(const tl_scale *scale, double value);

/// The i-th of a small set of muted colours that stay apart, also for colour-blind eyes; repeats after 8.
tl_rgb tl_palette(int32_t i);

/// Mesh colours of the 2012 paper: large faces blue, small equilateral ones red, anisotropic ones yellow.
/// `size` is sqrt(2 area) relative to the range of the animation, 0 smallest, 1 largest (log scale);
/// `aspect` is shortest over longest extent, 1 for an equilateral triangle, 0 for a needle.
tl_rgb tl_mesh_colour(double size, double aspect);
