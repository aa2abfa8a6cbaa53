// render/plot.c: lays out diagrams: axes with round numbers, a light grid, legends above each diagram.

#include "render/plot.h"

#include "render/ticks.h"

enum { BATCH = 512 };
static const double CHART_HEIGHT = 150, GAP = 46, TOP = 62, BOTTOM = 48, LEFT = 76, RIGHT = 22, TEXT_SIZE = 8;
static const uint32_t INK = 0x24272d, SOFT = 0x6b7078, GRID = 0xd9dce1;
static const uint32_t COLOURS[TL_PLOT_COLOURS] = {0x2f6db3, 0xd2603a, 0x3f9468, 0xd1a024,
                                                  0x7d5ba6, 0x3a9db0, 0xb0476f, 0x7a7f87};

uint32_t tl_plot_colour(int32_t i) { return COLOURS[(uint32_t)i % TL_PLOT_COLOURS]; }

double tl_plot_height(const tl_plot *p) { return TOP + p->chart_count * (CHART_HEIGHT + GAP) - GAP + BOTTOM; }

typedef struct frame {
    double x, y, w, h;  // of the diagram's field
    double x_lo, x_hi;
    tl_ticks ticks;  // of the vertical axis
    bool log_scale;
} frame;

static double to_x(const frame *f, double v) { return f->x + f->w * (v - f->x_lo) / (f->x_hi - f->x_lo); }
static double to_y(const frame *f, double v)
{
    double t = (v - f->ticks.lo) / (f->ticks.hi - f->ticks.lo);
    if (f->log_scale) t = log(fmax(v, f->ticks.lo) / f->ticks.lo) / log(f->ticks.hi / f->ticks.lo);
    return f->y + f->h * (1 - t);
}

static double stacked(const tl_chart *c, int32_t series, int32_t i)
{
    double sum = 0;
    for (int32_t s = 0; s <= series; s++) sum += isfinite(c->series[s].y[i]) ? c->series[s].y[i] : 0;
    return sum;
}

static void choose_axis(const tl_chart *c, int32_t points, frame *f)
{
    double lo = INFINITY, hi = -INFINITY;
    for (int32_t s = 0; s < c->series_count; s++)
        for (int32_t i = 0; i < points; i++) {
            const double v = c->kind == TL_CHART_STACKED ? stacked(c, s, i) : c->series[s].y[i];
            if (isfinite(v)) lo = fmin(lo, v), hi = fmax(hi, v);
        }
    f->log_scale = c->log_scale && lo > 0 && hi > 30 * lo;
    if (f->log_scale) {
        tl_ticks_log(&f->ticks, lo, hi);
        return;
    }
    if (c->kind == TL_CHART_STACKED || c->from_zero) lo = fmin(lo, 0), hi = fmax(hi, 0);
    if (!(hi > lo)) {  // flat: a little room around it
        const double room = hi != 0 && isfinite(hi) ? 0.1 * fabs(hi) : 1;
        if (isfinite(lo)) lo -= lo == 0 && c->from_zero ? 0 : room, hi += room;
    }
    tl_ticks_init(&f->ticks, lo, hi, 5, 1);
}

static void draw_axes(const tl_pen *pen, const frame *f, const tl_ticks *x_ticks, bool last, const char *x_title)
{
    for (int32_t i = 0; i < f->ticks.count; i++) {
        const double y = to_y(f, f->ticks.at[i]);
        const tl_vec2 line[2] = {{f->x, y}, {f->x + f->w, y}};
        pen->line(pen->user, line, 2, 0.7, GRID, 1);
        pen->text(pen->user, f->x - 8, y + TEXT_SIZE / 2, f->ticks.label[i], TEXT_SIZE, TL_ANCHOR_RIGHT, false, SOFT);
    }
    for (int32_t i = 0; i < x_ticks->count; i++) {
        const double x = to_x(f, x_ticks->at[i]);
        const tl_vec2 line[2] = {{x, f->y}, {x, f->y + f->h}};
        pen->line(pen->user, line, 2, 0.7, GRID, 0.6);
        if (last)
            pen->text(pen->user, x, f->y + f->h + 8 + TEXT_SIZE, x_ticks->label[i], TEXT_SIZE, TL_ANCHOR_MIDDLE, false,
                      SOFT);
    }
    const tl_vec2 axes[3] = {{f->x, f->y}, {f->x, f->y + f->h}, {f->x + f->w, f->y + f->h}};
    pen->line(pen->user, axes, 3, 1, SOFT, 1);
    if (last)
        pen->text(pen->user, f->x + f->w / 2, f->y + f->h + 28 + TEXT_SIZE, x_title, TEXT_SIZE + 1, TL_ANCHOR_MIDDLE,
                  false, INK);
}

static void draw_line(const tl_pen *pen, const frame *f, const double *x, const tl_series *s, int32_t points)
{
    tl_vec2 p[BATCH];
    int32_t n = 0;
    for (int32_t i = 0; i <= points; i++) {
        const bool good = i < points && isfinite(s->y[i]) && isfinite(x[i]);
        if (good) p[n++] = (tl_vec2){to_x(f, x[i]), to_y(f, s->y[i])};
        if (n > 0 && (!good || n == BATCH)) {
            if (n == 1) p[n] = p[0], n++;  // a lone point shows as a dot
            pen->line(pen->user, p, n, 1.5, s->hex, 1);
            p[0] = p[n - 1];
            n = good ? 1 : 0;
        }
    }
}

/// One coloured band of a stack, in pieces that share their sides.
static void draw_band(const tl_pen *pen, const frame *f, const double *x, const tl_chart *c, int32_t series,
                      int32_t points)
{
    enum { PIECE = BATCH / 2 };
    for (int32_t start = 0; start + 1 < points; start += PIECE - 1) {
        tl_vec2 p[BATCH];
        const int32_t end = start + PIECE < points ? start + PIECE : points;
        int32_t n = 0;
        for (int32_t i = start; i < end; i++) p[n++] = (tl_vec2){to_x(f, x[i]), to_y(f, stacked(c, series, i))};
        for (int32_t i = end - 1; i >= start; i--)
            p[n++] = (tl_vec2){to_x(f, x[i]), to_y(f, series > 0 ? stacked(c, series - 1, i) : 0)};
        pen->area(pen->user, p, n, c->series[series].hex, 0.85);
    }
}

static void draw_legend(const tl_pen *pen, const frame *f, const tl_chart *c)
{
    double x = f->x + f->w;
    for (int32_t s = c->series_count - 1; s >= 0 && c->series_count > 1; s--) {
        const double width = tl_text_width(c->series[s].name, TEXT_SIZE);
        x -= width;
        pen->text(pen->user, x, f->y - 10, c->series[s].name, TEXT_SIZE, TL_ANCHOR_LEFT, false, INK);
        const tl_vec2 dash[2] = {{x - 18, f->y - 10 - TEXT_SIZE / 2}, {x - 7, f->y - 10 - TEXT_SIZE / 2}};
        pen->line(pen->user, dash, 2, c->kind == TL_CHART_STACKED ? 6 : 2.2, c->series[s].hex, 1);
        x -= 34;
    }
}

void tl_plot_draw(const tl_plot *p, const tl_pen *pen)
{
    double lo = INFINITY, hi = -INFINITY;
    for (int32_t i = 0; i < p->point_count; i++)
        if (isfinite(p->x[i])) lo = fmin(lo, p->x[i]), hi = fmax(hi, p->x[i]);
    tl_ticks x_ticks;
    if (lo == hi) lo -= 0.5, hi += 0.5;
    tl_ticks_init(&x_ticks, lo, hi, 8, 0);
    pen->text(pen->user, LEFT, 26, p->title, TEXT_SIZE + 3, TL_ANCHOR_LEFT, false, INK);
    if (p->subtitle) pen->text(pen->user, p->width - RIGHT, 26, p->subtitle, TEXT_SIZE, TL_ANCHOR_RIGHT, false, SOFT);
    for (int32_t i = 0; i < p->chart_count; i++) {
        const tl_chart *c = &p->charts[i];
        frame f = {.x = LEFT,
                   .y = TOP + i * (CHART_HEIGHT + GAP),
                   .w = p->width - LEFT - RIGHT,
                   .h = CHART_HEIGHT,
                   .x_lo = x_ticks.lo,
                   .x_hi = x_ticks.hi};
        choose_axis(c, p->point_count, &f);
        draw_axes(pen, &f, &x_ticks, i + 1 == p->chart_count, p->x_title);
        for (int32_t s = 0; s < c->series_count; s++) {
            if (c->kind == TL_CHART_STACKED && p->point_count > 1)
                draw_band(pen, &f, p->x, c, s, p->point_count);
            else
                draw_line(pen, &f, p->x, &c->series[s], p->point_count);
        }
        pen->text(pen->user, f.x, f.y - 10, c->title, TEXT_SIZE + 0.5, TL_ANCHOR_LEFT, false, INK);
        draw_legend(pen, &f, c);
    }
}
