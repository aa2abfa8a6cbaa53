// render/legend.c: a colour bar with ticks, and captions.

#include "render/legend.h"

#include <stdio.h>

#include "render/ticks.h"

static const tl_ink TEXT = {{0.016f, 0.018f, 0.022f}, 1};
static const tl_ink PANEL = {{0.93f, 0.935f, 0.945f}, 0.62f};
static const tl_ink FRAME = {{0.05f, 0.05f, 0.06f}, 0.6f};

/// Text height that suits a picture.
static double text_size(int32_t width, int32_t height)
{
    return fmax(7, fmin(16, 0.0145 * fmin(height, width * 0.75)));
}

static bool too_small(int32_t width, int32_t height) { return height < 120 || width < 160; }  // to read anything

static void outline(tl_canvas *c, double x, double y, double w, double h)
{
    const tl_vec2 p[5] = {{x, y}, {x + w, y}, {x + w, y + h}, {x, y + h}, {x, y}};
    tl_canvas_line(c, p, 5, 1, FRAME);
}

static void draw_scale(tl_canvas *c, const tl_legend *l, double size)
{
    const tl_image *image = c->image;
    const double factor = l->factor != 0 ? l->factor : 1;
    double lo = factor * fmin(l->scale.lo, l->scale.hi), hi = factor * fmax(l->scale.lo, l->scale.hi);
    if (l->scale.kind == TL_SCALE_LEVELS) lo -= 0.5, hi += 0.5;  // a step is as high as the others
    tl_ticks ticks;
    tl_ticks_init(&ticks, lo, hi, 5, 0);
    if (l->scale.kind == TL_SCALE_LEVELS && ticks.step < 1) tl_ticks_init(&ticks, lo, hi, (int32_t)(hi - lo), 0);
    double widest = 0;
    for (int32_t i = 0; i < ticks.count; i++) widest = fmax(widest, tl_text_width(ticks.label[i], size));
    const double bar = floor(1.6 * size), h = floor(fmin(0.5 * image->height, 24 * size)), pad = size;
    const double title = tl_text_width(l->title, size);
    const double panel = ceil(fmax(bar + 0.9 * size + widest, title) + 2 * pad);
    const double px = image->width - panel - size, py = 0.5 * (image->height - h);
    const double x = floor(px + pad), y = floor(py);  // whole pixels: the bar's rows must not mix
    tl_canvas_rect(c, floor(px), floor(y - 3.6 * size), panel, ceil(h + 5 * size), PANEL);
    tl_text_style style = {.size = size, .ink = TEXT};
    tl_canvas_text(c, px + pad, y - 1.5 * size, l->title, &style);
    for (int32_t i = 0; i < (int32_t)h; i++) {
        const double t = 1 - (i + 0.5) / h;  // from the top
        const tl_ink row = {tl_scale_colour(&l->scale, (lo + t * (hi - lo)) / factor), 1};
        tl_canvas_rect(c, x, y + i, bar, 1, row);
    }
    outline(c, x + 0.5, y + 0.5, bar - 1, h - 1);
    for (int32_t i = 0; i < ticks.count; i++) {
        const double ty = y + h * (1 - (ticks.at[i] - lo) / (hi - lo));
        const tl_vec2 tick[2] = {{x + bar, ty}, {x + bar + 0.4 * size, ty}};
        tl_canvas_line(c, tick, 2, 1, FRAME);
        tl_canvas_text(c, x + bar + 0.8 * size, ty + 0.5 * size, ticks.label[i], &style);
    }
}

static void draw_mesh_colours(tl_canvas *c, const tl_legend *l, double size)
{
    char large[96], small[96];
    snprintf(large, sizeof large, "large (%.3g mm)", 1e3 * l->size_hi);
    snprintf(small, sizeof small, "small (%.3g mm)", 1e3 * l->size_lo);
    const struct {
        const char *text;
        tl_rgb rgb;
    } rows[3] = {{large, tl_mesh_colour(1, 1)}, {small, tl_mesh_colour(0, 1)}, {"anisotropic", tl_mesh_colour(0, 0)}};
    double widest = 0;
    for (int i = 0; i < 3; i++) widest = fmax(widest, tl_text_width(rows[i].text, size));
    const double panel = widest + 4.5 * size, x = c->image->width - panel - size, y = size;
    tl_canvas_rect(c, x, y, panel, 7.2 * size, PANEL);
    const tl_text_style style = {.size = size, .ink = TEXT};
    for (int i = 0; i < 3; i++) {
        const double row = y + (0.9 + 2.05 * i) * size;
        tl_canvas_rect(c, floor(x + size), floor(row), ceil(1.7 * size), ceil(1.3 * size), (tl_ink){rows[i].rgb, 1});
        tl_canvas_text(c, x + 3.5 * size, row + 1.15 * size, rows[i].text, &style);
    }
}

tl_status tl_legend_draw(const tl_legend *legend, const tl_allocator *alloc, tl_image *image, tl_error *err)
{
    if (too_small(image->width, image->height)) return TL_OK;
    tl_canvas c;
    const tl_status status = tl_canvas_init(&c, alloc, image, err);
    if (status != TL_OK) return status;
    if (legend->mesh_colours)
        draw_mesh_colours(&c, legend, text_size(image->width, image->height));
    else
        draw_scale(&c, legend, text_size(image->width, image->height));
    tl_canvas_free(&c);
    return TL_OK;
}

double tl_legend_room(const tl_legend *l, int32_t width, int32_t height)
{
    if (too_small(width, height)) return 0;
    const double size = text_size(width, height);
    // a bar with five digits beside it, or the title; the three rows of the mesh colours
    const double need = l->mesh_colours ? 17 : fmax(tl_text_width(l->title, 1), 6) + 4;
    return fmin(0.3, need * size / width);
}

static double caption_size(int32_t width, int32_t height) { return fmax(8, 0.9 * text_size(width, height)); }

bool tl_caption_fits(const char *text, int32_t width, int32_t height)
{
    const double size = caption_size(width, height);
    return tl_text_width(text, size) + 3 * size <= width;  // the panel, and as much room on its right as left
}

tl_status tl_caption_draw(const char *text, const tl_allocator *alloc, tl_image *image, tl_error *err)
{
    if (image->height < 60) return TL_OK;
    tl_canvas c;
    const tl_status status = tl_canvas_init(&c, alloc, image, err);
    if (status != TL_OK) return status;
    const double size = caption_size(image->width, image->height), width = tl_text_width(text, size);
    const double x = size, y = image->height - size;
    tl_canvas_rect(&c, x - 0.5 * size, y - 2.0 * size, width + 2 * size, 2.4 * size, PANEL);
    const tl_text_style style = {.size = size, .ink = TEXT};
    tl_canvas_text(&c, x + 0.5 * size, y - 0.4 * size, text, &style);
    tl_canvas_free(&c);
    return TL_OK;
}
