// render/canvas.c: coverage from the distance to a stroke, gathered per path, then blended once.

#include "render/canvas.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "render/font.h"

static const double TEXT_WEIGHT = 0.125;

typedef struct span {
    int32_t x0, y0, x1, y1;
} span;  // pixels touched, x1 and y1 beyond the last

tl_status tl_canvas_init(tl_canvas *c, const tl_allocator *alloc, tl_image *image, tl_error *err)
{
    *c = (tl_canvas){.image = image, .alloc = *alloc};
    c->cover = TL_CALLOC(alloc, uint8_t, (size_t)image->width * (size_t)image->height);
    if (!c->cover) return tl_fail_memory(err, "a canvas");
    for (int i = 0; i < 256; i++) c->linear[i] = tl_srgb_linear((uint8_t)i);
    return TL_OK;
}

void tl_canvas_free(tl_canvas *c) { TL_FREE(&c->alloc, c->cover, (size_t)c->image->width * (size_t)c->image->height); }

static int32_t clip(double a, int32_t limit) { return !(a > 0) ? 0 : a > limit ? limit : (int32_t)a; }

static void blend(tl_canvas *c, size_t at, float alpha, tl_rgb rgb)
{
    uint8_t *p = c->image->rgb + 3 * at;
    const float from[3] = {c->linear[p[0]], c->linear[p[1]], c->linear[p[2]]}, to[3] = {rgb.x, rgb.y, rgb.z};
    for (int k = 0; k < 3; k++) p[k] = tl_srgb_byte(from[k] + alpha * (to[k] - from[k]));
}

void tl_canvas_rect(tl_canvas *c, double x, double y, double width, double height, tl_ink ink)
{
    const int32_t x0 = clip(floor(x), c->image->width), x1 = clip(ceil(x + width), c->image->width);
    const int32_t y0 = clip(floor(y), c->image->height), y1 = clip(ceil(y + height), c->image->height);
    for (int32_t j = y0; j < y1; j++) {
        const double h = fmin(y + height, j + 1.0) - fmax(y, j);
        for (int32_t i = x0; i < x1; i++) {
            const double w = fmin(x + width, i + 1.0) - fmax(x, i);
            blend(c, (size_t)j * (size_t)c->image->width + (size_t)i, ink.alpha * (float)(w * h), ink.rgb);
        }
    }
}

/// Raises the coverage around one segment; a segment of no length is a dot.
static void cover_segment(tl_canvas *c, tl_vec2 a, tl_vec2 b, double half_width, span *touched)
{
    if (!isfinite(a.x + a.y + b.x + b.y)) return;
    const double r = half_width + 1;
    const span s = {clip(floor(fmin(a.x, b.x) - r), c->image->width), clip(floor(fmin(a.y, b.y) - r), c->image->height),
                    clip(ceil(fmax(a.x, b.x) + r), c->image->width), clip(ceil(fmax(a.y, b.y) + r), c->image->height)};
    const double ex = b.x - a.x, ey = b.y - a.y, e2 = ex * ex + ey * ey;
    // a line thinner than a pixel is drawn a pixel wide and fainter
    const double thick = fmax(half_width, 0.5), faint = fmin(1, 2 * half_width);
    for (int32_t j = s.y0; j < s.y1; j++) {
        for (int32_t i = s.x0; i < s.x1; i++) {
            const double px = i + 0.5 - a.x, py = j + 0.5 - a.y;
            double t = e2 > 0 ? (px * ex + py * ey) / e2 : 0;
            t = t < 0 ? 0 : t > 1 ? 1 : t;
            const double d = hypot(px - t * ex, py - t * ey), cover = faint * fmin(1, thick + 0.5 - d);
            if (cover <= 0) continue;
            uint8_t *q = &c->cover[(size_t)j * (size_t)c->image->width + (size_t)i];
            const uint8_t level = (uint8_t)(255 * cover + 0.5);
            if (level > *q) *q = level;
        }
    }
    if (s.x0 < touched->x0) touched->x0 = s.x0;
    if (s.y0 < touched->y0) touched->y0 = s.y0;
    if (s.x1 > touched->x1) touched->x1 = s.x1;
    if (s.y1 > touched->y1) touched->y1 = s.y1;
}

static span nothing_yet(const tl_canvas *c) { return (span){c->image->width, c->image->height, 0, 0}; }

static void blend_cover(tl_canvas *c, const span *s, tl_ink ink)
{
    for (int32_t j = s->y0; j < s->y1; j++) {
        for (int32_t i = s->x0; i < s->x1; i++) {
            const size_t at = (size_t)j * (size_t)c->image->width + (size_t)i;
            if (!c->cover[at]) continue;
            blend(c, at, ink.alpha * (float)c->cover[at] / 255, ink.rgb);
            c->cover[at] = 0;
        }
    }
}

void tl_canvas_line(tl_canvas *c, const tl_vec2 *points, int32_t count, double width, tl_ink ink)
{
    span s = nothing_yet(c);
    for (int32_t i = 0; i + 1 < count; i++) cover_segment(c, points[i], points[i + 1], width / 2, &s);
    blend_cover(c, &s, ink);
}

/// Adds the coverage of [from, to] on one of `lines` scan lines of row `y`.
static void cover_run(tl_canvas *c, int32_t y, double from, double to, int lines)
{
    const int32_t x0 = clip(floor(from), c->image->width), x1 = clip(ceil(to), c->image->width);
    for (int32_t x = x0; x < x1; x++) {
        const double w = fmin(to, x + 1.0) - fmax(from, x);
        uint8_t *q = &c->cover[(size_t)y * (size_t)c->image->width + (size_t)x];
        const int level = *q + (int)(255 * w / lines + 0.5);
        *q = (uint8_t)(level > 255 ? 255 : level);
    }
}

void tl_canvas_area(tl_canvas *c, const tl_vec2 *p, int32_t count, tl_ink ink)
{
    enum { LINES = 5 };  // divides 255
    double lo = INFINITY, hi = -INFINITY;
    for (int32_t i = 0; i < count; i++) lo = fmin(lo, p[i].y), hi = fmax(hi, p[i].y);
    if (!isfinite(lo + hi) || count > TL_AREA_POINTS) return;
    const span s = {0, clip(floor(lo), c->image->height), c->image->width, clip(ceil(hi), c->image->height)};
    for (int32_t row = s.y0; row < s.y1; row++) {
        for (int line = 0; line < LINES; line++) {
            const double y = row + (line + 0.5) / LINES;
            double cut[TL_AREA_POINTS];  // a side is crossed once at most
            int32_t cuts = 0;
            for (int32_t i = 0; i < count; i++) {
                const tl_vec2 a = p[i], b = p[(i + 1) % count];
                if ((a.y <= y) == (b.y <= y)) continue;
                const double x = a.x + (y - a.y) / (b.y - a.y) * (b.x - a.x);
                int32_t k = cuts++;
                for (; k > 0 && cut[k - 1] > x; k--) cut[k] = cut[k - 1];
                cut[k] = x;
            }
            for (int32_t k = 0; k + 1 < cuts; k += 2) cover_run(c, row, cut[k], cut[k + 1], LINES);
        }
    }
    blend_cover(c, &s, ink);
}

typedef struct text_job {
    tl_canvas *canvas;
    double x, y, size, half_width;
    bool upwards;
    span touched;
} text_job;

static void draw_stroke(void *arg, const tl_vec2f *p, int32_t count)
{
    text_job *job = arg;
    tl_vec2 last = {0, 0};
    for (int32_t i = 0; i < count; i++) {
        const double u = (double)p[i].x * job->size, v = (double)p[i].y * job->size;
        const tl_vec2 q = job->upwards ? (tl_vec2){job->x - v, job->y - u} : (tl_vec2){job->x + u, job->y - v};
        if (i > 0) cover_segment(job->canvas, last, q, job->half_width, &job->touched);
        last = q;
    }
}

double tl_text_width(const char *text, double size) { return size * (double)tl_font_strokes(text, NULL, NULL); }

void tl_canvas_text(tl_canvas *c, double x, double y, const char *text, const tl_text_style *style)
{
    const double width = tl_text_width(text, style->size);
    const double shift = style->anchor == TL_ANCHOR_LEFT ? 0 : style->anchor == TL_ANCHOR_MIDDLE ? width / 2 : width;
    text_job job = {.canvas = c,
                    .x = style->upwards ? x : x - shift,
                    .y = style->upwards ? y + shift : y,
                    .size = style->size,
                    .upwards = style->upwards,
                    .touched = nothing_yet(c)};
    job.half_width = style->size * (style->weight > 0 ? style->weight : TEXT_WEIGHT) / 2;
    tl_font_strokes(text, draw_stroke, &job);
    blend_cover(c, &job.touched, style->ink);
}
