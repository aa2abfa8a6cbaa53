// run/render_page.h: a page of diagrams into a file.
#pragma once
#include "render/plot.h"
#include "toile/base.h"

/// TL_BAD_ARG: `out` ends in neither .svg nor .png, or the page is too small or too large.
tl_status tl_plot_check(const char *out, int32_t width, double scale, tl_error *err);

/// `out` ends in .svg or .png; `scale`: pixels per point of a .png.
tl_status tl_plot_write(const tl_plot *plot, double scale, const char *out, const tl_allocator *alloc, tl_error *err);
