// viewer/flat.h: a sewing pattern laid out flat: outlines, seams in matching colours, the seam under the pointer.
#pragma once
#include "panel.h"
#include "toile/pattern.h"
#include "toile/show.h"

/// Draws all panels side by side into a rectangle of the window (points). Panels that have a place in space keep their
/// left-to-right and up-down order. `chosen` is drawn brighter, -1: none.
typedef struct view_flat_under {
    int32_t seam, panel;  ///< under the pointer, -1: none
} view_flat_under;
view_flat_under view_flat_draw(const tl_pattern *pattern, view_panel *panel, double x, double y, double width,
                               double height, view_pointer pointer, int32_t chosen);
