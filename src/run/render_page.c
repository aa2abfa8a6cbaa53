// run/render_page.c: a page of diagrams into a file, and pages of any numbers.

#include "run/render_page.h"

#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/def.h"
#include "base/fail.h"
#include "io/png.h"
#include "io/file.h"
#include "io/text.h"
#include "toile/render.h"

enum { MOST_DIAGRAMS = 8 };

static void append(void *user, const char *text) { tl_buf_text(user, text); }

static tl_status write_svg(const tl_plot *plot, const char *out, const tl_allocator *alloc, tl_error *err)
{
    tl_buf buf;
    tl_buf_init(&buf, alloc);
    tl_svg_pen to = {&buf, append};
    tl_svg_open(&to, plot->width, tl_plot_height(plot), plot->title);
    const tl_pen pen = tl_pen_svg(&to);
    tl_plot_draw(plot, &pen);
    tl_svg_close(&to);
    tl_status status = tl_buf_end(&buf, "the diagram", err);
    if (status == TL_OK) status = tl_file_write(out, buf.data, buf.size, false, err);
    tl_buf_free(&buf);
    return status;
}

static tl_status write_png(const tl_plot *plot, double scale, const char *out, const tl_allocator *alloc, tl_error *err)
{
    tl_image image;
    tl_canvas canvas;
    TL_TRY(tl_image_create(alloc, (int32_t)(plot->width * scale + 0.5), (int32_t)(tl_plot_height(plot) * scale + 0.5),
                           &image, err));
    const uint8_t paper[3] = {255, 255, 255};
    tl_image_fill(&image, paper);
    tl_status status = tl_canvas_init(&canvas, alloc, &image, err);
    if (status == TL_OK) {
        tl_raster_pen to = {&canvas, scale};
        const tl_pen pen = tl_pen_raster(&to);
        tl_plot_draw(plot, &pen);
        tl_canvas_free(&canvas);
        status = tl_png_write(alloc, out, &image, err);
    }
    tl_image_free(alloc, &image);
    return status;
}

// 0: .svg, 1: .png, -1: neither.
static int kind_of(const char *out)
{
    static const char *const ends[] = {".svg", ".png"};
    const size_t n = strlen(out);
    for (int k = 0; k < 2; k++)
        if (n > 4 && strcasecmp(out + n - 4, ends[k]) == 0) return k;
    return -1;
}

tl_status tl_plot_check(const char *out, int32_t width, double scale, tl_error *err)
{
    if (kind_of(out) < 0) return tl_fail(err, TL_BAD_ARG, "%s: must end in .svg or .png", out);
    if (width < 200 || width > 8000 || !(scale > 0 && scale <= 8))
        return tl_fail(err, TL_BAD_ARG,
                       "plot: page of %d points at %g pixels per point, must be 200 to 8000 at up to 8", width, scale);
    return TL_OK;
}

tl_status tl_plot_write(const tl_plot *plot, double scale, const char *out, const tl_allocator *alloc, tl_error *err)
{
    return kind_of(out) == 0 ? write_svg(plot, out, alloc, err) : write_png(plot, scale, out, alloc, err);
}

void tl_plot_page_def_init(tl_plot_page_def *def, size_t size)
{
    const tl_plot_page_def defaults = {.width = 860, .scale = 2};
    tl_def_init(def, size, &defaults, sizeof defaults);
}

static tl_status check_page(const tl_plot_page_def *def, tl_error *err)
{
    if (!def->out || !def->x || !def->diagrams)
        return tl_fail(err, TL_BAD_ARG, "plot page: out, x and diagrams are required");
    if (def->point_count < 1 || def->diagram_count < 1 || def->diagram_count > MOST_DIAGRAMS)
        return tl_fail(err, TL_BAD_ARG, "plot page: %d points, %d diagrams: must be at least 1, 1 to %d",
                       def->point_count, def->diagram_count, (int)MOST_DIAGRAMS);
    for (int32_t i = 0; i < def->diagram_count; i++) {
        const tl_plot_diagram *d = &def->diagrams[i];
        if (!d->title || !d->lines || d->line_count < 1 || d->line_count > TL_PLOT_COLOURS)
            return tl_fail(err, TL_BAD_ARG, "plot page: diagram %d of %d lines: needs a title and 1 to %d of them", i,
                           d->line_count, (int)TL_PLOT_COLOURS);
        for (int32_t k = 0; k < d->line_count; k++)
            if (!d->lines[k].name || !d->lines[k].y)
                return tl_fail(err, TL_BAD_ARG, "plot page: line %d of diagram %d: needs a name and y", k, i);
    }
    return tl_plot_check(def->out, def->width, def->scale, err);
}

tl_status tl_plot_page(const tl_plot_page_def *given, tl_error *err)
{
    TL_DEF_COMPLETE(tl_plot_page_def, def, given, err);
    TL_TRY(check_page(&def, err));
    tl_chart chart[MOST_DIAGRAMS];
    tl_series series[MOST_DIAGRAMS][TL_PLOT_COLOURS];
    for (int32_t i = 0; i < def.diagram_count; i++) {
        const tl_plot_diagram *d = &def.diagrams[i];
        for (int32_t k = 0; k < d->line_count; k++)
            series[i][k] = (tl_series){d->lines[k].name, d->lines[k].y, tl_plot_colour(k)};
        chart[i] = (tl_chart){d->title, TL_CHART_LINES, series[i], d->line_count, true, false};
    }
    const tl_plot plot = {.title = def.title ? def.title : "",
                          .subtitle = def.subtitle ? def.subtitle : "",
                          .x_title = def.x_title ? def.x_title : "",
                          .x = def.x,
                          .point_count = def.point_count,
                          .charts = chart,
                          .chart_count = def.diagram_count,
                          .width = def.width};
    const tl_allocator alloc = tl_allocator_default();
    return tl_plot_write(&plot, def.scale, def.out, &alloc, err);
}
