// render/font.h: a stroke font of our own for labels: each glyph is a few lines and curves.
#pragma once
#include "render/vecf.h"

/// Receives the strokes of a text as polylines, in units where capitals are 1 high, y up, pen starting at x =
/// 0.
typedef void (*tl_stroke_fn)(void *arg, const tl_vec2f *points, int32_t count);

/// Walks the strokes of UTF-8 `text` and returns its width. `stroke` may be NULL to measure only. Characters
/// that the font lacks show as a small box.
float tl_font_strokes(const char *text, tl_stroke_fn stroke, void *arg);
