// tests/unit/panel_shapes.h: outlines of garment pieces for grids and meshes.
#pragma once
#include <math.h>
#include <string.h>

#include "toile/base.h"

enum { PANEL_MAX = 512 };

typedef struct panel {
    const char *name;
    tl_vec2 point[PANEL_MAX];
    int32_t count, corner[4];
} panel;

static inline void panel_add(panel *p, double x, double y) { p->point[p->count++] = (tl_vec2){x, y}; }

/// The bodice of the reference table, in cm: bottom, right side with arm hole, top with neck, left side.
static inline panel panel_bodice(void)
{
    panel p = {.name = "bodice"};
    const double pi = 3.14159265358979323846;
    panel_add(&p, 0, 0);
    p.corner[1] = p.count;
    panel_add(&p, 50, 0);
    for (int k = 0; k <= 20; k++) {
        if (k == 20) p.corner[2] = p.count;
        const double t = 0.5 * pi * k / 20;
        panel_add(&p, 50 - 8 * sin(t), 44 + 22 * (1 - cos(t)));
    }
    for (int k = 0; k <= 24; k++) {  // the neck from right to left
        const double t = pi * k / 24;
        panel_add(&p, 25 + 10 * cos(t), 70 - 10 * sin(t));
    }
    for (int k = 20; k >= 0; k--) {
        if (k == 20) p.corner[3] = p.count;
        const double t = 0.5 * pi * k / 20;
        panel_add(&p, 8 * sin(t), 44 + 22 * (1 - cos(t)));
    }
    return p;
}

/// A turned-down collar: two arcs about one point above, joined by slanted ends.
static inline panel panel_collar(void)
{
    panel p = {.name = "collar"};
    const int n = 24;
    for (int k = 0; k <= n; k++) {  // neck edge, hollow upwards
        const double t = -0.5 + (double)k / n;
        if (k == 0) p.corner[0] = p.count;
        if (k == n) p.corner[1] = p.count;
        panel_add(&p, 0.42 * t, 0.16 * t * t);
    }
    for (int k = 0; k <= n; k++) {  // fall, with points that stand out
        const double t = 0.5 - (double)k / n;
        if (k == 0) p.corner[2] = p.count;
        if (k == n) p.corner[3] = p.count;
        panel_add(&p, 0.47 * t, 0.075 + 0.10 * t * t - 0.02 * cos(6.283185307179586 * t));
    }
    return p;
}

/// A quarter of a circle skirt: a quarter ring of radii 0.11 and 0.71 m.
static inline panel panel_skirt_quarter(void)
{
    panel p = {.name = "circle skirt quarter"};
    const int n = 32;
    for (int k = 0; k <= n; k++) {
        const double t = 1.57079632679489661923 * k / n;
        if (k == 0) p.corner[0] = p.count;
        if (k == n) p.corner[1] = p.count;
        panel_add(&p, 0.71 * cos(t), 0.71 * sin(t));
    }
    for (int k = n; k >= 0; k--) {
        const double t = 1.57079632679489661923 * k / n;
        if (k == n) p.corner[2] = p.count;
        if (k == 0) p.corner[3] = p.count;
        panel_add(&p, 0.11 * cos(t), 0.11 * sin(t));
    }
    return p;
}
