// viewer/flat.h: a sewing pattern laid out flat: outlines, seams in matching colours, the seam under the pointer.
#pragma once
#include "panel.h"
#include "toile/pattern.h"
#include "toile/show.h"

/// Draws all panels side by side into a rectangle of the window (points). Panels that have a place in space keep their
/// left-to-right and up-down order. Returns the seam under the pointer, -1: none.
int32_t view_flat_draw(const tl_pattern *pattern, view_panel *panel, double x, double y, double width, double height,
                       view_pointer pointer);
