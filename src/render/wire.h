// render/wire.h: mesh edges as thin lines of constant width on the screen, smooth without extra rays.
#pragma once
#include "render/stage.h"

/// From the stage to pixels.
typedef struct tl_wire_view {
    tl_vec3f eye, forward, right, up;  ///< axes unit
    bool parallel;
    float scale;   ///< pixels per tangent (or per metre, in parallel projection)
    float cx, cy;  ///< pixel of the axis
} tl_wire_view;

/// `colour` (display-linear) at pixel position (x, y) inside triangle `tri`, with the triangle's edges over
/// it.
tl_rgb tl_wire_over(const tl_wire_view *view, const tl_stage *stage, int32_t tri, float x, float y, tl_rgb colour);
