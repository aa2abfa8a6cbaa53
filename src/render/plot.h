// render/plot.h: a page of small diagrams that share their horizontal axis.
#pragma once
#include "render/pen.h"

typedef struct tl_series {
    const char *name;
    const double *y;  ///< point_count entries; NaN leaves a gap
    uint32_t hex;
} tl_series;

typedef enum tl_chart_kind { TL_CHART_LINES, TL_CHART_STACKED } tl_chart_kind;

typedef struct tl_chart {
    const char *title;  ///< quantity and unit
    tl_chart_kind kind;
    const tl_series *series;
    int32_t series_count;
    bool from_zero;  ///< the axis includes zero
    bool log_scale;  ///< if all values are positive and spread over decades
} tl_chart;

typedef struct tl_plot {
    const char *title, *subtitle;
    const char *x_title;
    const double *x;
    int32_t point_count;
    const tl_chart *charts;
    int32_t chart_count;
    double width;  ///< points; the height follows
} tl_plot;

enum { TL_PLOT_MAX_SERIES = 12, TL_PLOT_COLOURS = 8 };
uint32_t tl_plot_colour(int32_t i);  ///< distinct line colours

double tl_plot_height(const tl_plot *plot);
void tl_plot_draw(const tl_plot *plot, const tl_pen *pen);
