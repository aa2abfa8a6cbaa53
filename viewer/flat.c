// viewer/flat.c: see flat.h.

#include "flat.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { POINTS = 24 };  // along an edge
#define NEAR 7.0       // [points] from a seam
#define SPACE 0.06     // [m] between panels

static uint32_t seam_colour(int32_t seam)
{
    // hues a golden angle apart stay apart however many seams there are
    const double h = fmod(seam * 0.61803398875, 1) * 6, f = h - floor(h);
    const double v = 0.92, s = 0.62, p = v * (1 - s), q = v * (1 - s * f), t = v * (1 - s * (1 - f));
    const double rgb[6][3] = {{v, t, p}, {q, v, p}, {p, v, t}, {p, q, v}, {t, p, v}, {v, p, q}};
    const double *c = rgb[(int)h % 6];
    return (uint32_t)(255 * c[0]) << 24 | (uint32_t)(255 * c[1]) << 16 | (uint32_t)(255 * c[2]) << 8 | 0xff;
}

typedef struct layout {
    double lo[2], hi[2];  ///< of the panel [m]
    double at[2];         ///< where its lower left corner goes [m]
} layout;

static void measure(const tl_panel *panel, layout *l)
{
    l->lo[0] = l->lo[1] = INFINITY, l->hi[0] = l->hi[1] = -INFINITY;
    for (int32_t e = 0; e < panel->edge_count; e++)
        for (int i = 0; i <= POINTS; i++) {
            const tl_vec2 p = tl_edge_point(panel, e, (double)i / POINTS);
            l->lo[0] = fmin(l->lo[0], p.x), l->hi[0] = fmax(l->hi[0], p.x);
            l->lo[1] = fmin(l->lo[1], p.y), l->hi[1] = fmax(l->hi[1], p.y);
        }
    if (!(l->lo[0] <= l->hi[0])) l->lo[0] = l->lo[1] = l->hi[0] = l->hi[1] = 0;
}

// Rows of panels about as wide as the window is for its height.
static void arrange(layout *l, int32_t count, double aspect, double *width, double *height)
{
    double area = 0, widest = 0;
    for (int32_t i = 0; i < count; i++) {
        const double w = l[i].hi[0] - l[i].lo[0] + SPACE, h = l[i].hi[1] - l[i].lo[1] + SPACE;
        area += w * h, widest = fmax(widest, w);
    }
    const double row_width = fmax(widest, 1.15 * sqrt(area * aspect));
    double x = 0, y = 0, row = 0;
    *width = 0;
    for (int32_t i = 0; i < count; i++) {
        const double w = l[i].hi[0] - l[i].lo[0] + SPACE, h = l[i].hi[1] - l[i].lo[1] + SPACE;
        if (x > 0 && x + w > row_width) x = 0, y += row, row = 0;
        l[i].at[0] = x, l[i].at[1] = y;
        x += w, row = fmax(row, h), *width = fmax(*width, x);
    }
    *height = y + row;
}

typedef struct paper {
    double x, y, scale;  ///< of the window, points to a metre
    double height;       ///< [m]
} paper;

static void to_window(const paper *to, const layout *l, tl_vec2 p, double *x, double *y)
{
    *x = to->x + to->scale * (l->at[0] + p.x - l->lo[0]);
    *y = to->y + to->scale * (l->at[1] + l->hi[1] - p.y);  // each row hangs from its top
}

static double distance_to(double px, double py, double x0, double y0, double x1, double y1)
{
    const double dx = x1 - x0, dy = y1 - y0, l = dx * dx + dy * dy;
    const double t = l > 0 ? fmin(1, fmax(0, ((px - x0) * dx + (py - y0) * dy) / l)) : 0;
    return hypot(px - x0 - t * dx, py - y0 - t * dy);
}

// Draws (width > 0) one side of a seam, or tells how far the pointer is from it.
static double seam_side(const tl_pattern *pattern, const tl_seam_side *side, const layout *l, const paper *to,
                        view_panel *panel, double width, uint32_t rgba, view_pointer pointer)
{
    double nearest = INFINITY, x0 = 0, y0 = 0;
    for (int i = 0; i <= POINTS; i++) {
        double x, y;
        to_window(to, &l[side->panel], tl_seam_side_point(pattern, side, (double)i / POINTS), &x, &y);
        if (i > 0 && width > 0) view_panel_line(panel, x0, y0, x, y, width, rgba);
        if (i > 0) nearest = fmin(nearest, distance_to(pointer.x, pointer.y, x0, y0, x, y));
        x0 = x, y0 = y;
    }
    return nearest;
}

// Draws a panel's outline; true: the pointer is inside of it.
static bool draw_panel(const tl_panel *p, const layout *l, const paper *to, view_panel *panel, view_pointer pointer,
                       bool chosen)
{
    bool inside = false;
    for (int32_t e = 0; e < p->edge_count; e++) {
        double x0 = 0, y0 = 0;
        for (int i = 0; i <= POINTS; i++) {
            double x, y;
            to_window(to, l, tl_edge_point(p, e, (double)i / POINTS), &x, &y);
            if (i > 0) view_panel_line(panel, x0, y0, x, y, chosen ? 3 : 1.2, chosen ? 0xffb020ff : 0xd8dce2ff);
            if (i > 0 && (y0 > pointer.y) != (y > pointer.y) && pointer.x < x0 + (x - x0) * (pointer.y - y0) / (y - y0))
                inside = !inside;
            x0 = x, y0 = y;
        }
    }
    double x, y;
    to_window(to, l, (tl_vec2){(l->lo[0] + l->hi[0]) / 2, (l->lo[1] + l->hi[1]) / 2}, &x, &y);
    view_panel_text(panel, x - 3.2 * (double)tl_show_text(p->name, NULL, NULL) - 4, y, 8, p->name, 0xa8adb6ff);
    return inside;
}

view_flat_under view_flat_draw(const tl_pattern *pattern, view_panel *panel, double x, double y, double width,
                               double height, view_pointer pointer, int32_t chosen)
{
    view_flat_under found = {-1, -1};
    const int32_t panels = tl_pattern_panel_count(pattern), seams = tl_pattern_seam_count(pattern);
    layout *l = calloc((size_t)(panels > 0 ? panels : 1), sizeof *l);
    if (!l) return found;
    for (int32_t i = 0; i < panels; i++) measure(tl_pattern_panel(pattern, i), &l[i]);
    double wide, high;
    arrange(l, panels, width / height, &wide, &high);
    const double scale = fmin(width / fmax(wide, 1e-6), height / fmax(high, 1e-6));
    const paper to = {x, y, scale, high};
    for (int32_t i = 0; i < panels; i++)
        if (draw_panel(tl_pattern_panel(pattern, i), &l[i], &to, panel, pointer, i == chosen)) found.panel = i;
    double best = NEAR;
    for (int32_t s = 0; s < seams; s++) {
        const tl_seam *seam = tl_pattern_seam(pattern, s);
        for (int k = 0; k < 2; k++) {
            const double d = seam_side(pattern, &seam->side[k], l, &to, panel, 3, seam_colour(s), pointer);
            if (d < best) best = d, found.seam = s;
        }
    }
    for (int k = 0; found.seam >= 0 && k < 2; k++)
        seam_side(pattern, &tl_pattern_seam(pattern, found.seam)->side[k], l, &to, panel, 7, 0xffffffff, pointer);
    free(l);
    return found;
}
