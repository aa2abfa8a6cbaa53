// render/pen.c: diagrams on pictures and in SVG.

#include "render/pen.h"

#include <stdio.h>

// --- pictures ----------------------------------------------------------------------------------------------

static tl_ink ink_of(uint32_t hex, double alpha) { return (tl_ink){tl_rgb_hex(hex), (float)alpha}; }

enum { BATCH = 256 };

static void raster_line(void *user, const tl_vec2 *p, int32_t count, double width, uint32_t hex, double alpha)
{
    const tl_raster_pen *to = user;
    tl_vec2 q[BATCH];
    for (int32_t start = 0; start + 1 < count; start += BATCH - 1) {  // batches share their end points
        int32_t n = 0;
        for (; n < BATCH && start + n < count; n++)
            q[n] = (tl_vec2){p[start + n].x * to->scale, p[start + n].y * to->scale};
        tl_canvas_line(to->canvas, q, n, width * to->scale, ink_of(hex, alpha));
    }
}

static void raster_area(void *user, const tl_vec2 *p, int32_t count, uint32_t hex, double alpha)
{
    const tl_raster_pen *to = user;
    tl_vec2 q[TL_AREA_POINTS];
    if (count > TL_AREA_POINTS) return;
    for (int32_t i = 0; i < count; i++) q[i] = (tl_vec2){p[i].x * to->scale, p[i].y * to->scale};
    tl_canvas_area(to->canvas, q, count, ink_of(hex, alpha));
}

static void raster_text(void *user, double x, double y, const char *text, double size, tl_anchor anchor, bool upwards,
                        uint32_t hex)
{
    const tl_raster_pen *to = user;
    const tl_text_style style = {.size = size * to->scale, .anchor = anchor, .upwards = upwards, .ink = ink_of(hex, 1)};
    tl_canvas_text(to->canvas, x * to->scale, y * to->scale, text, &style);
}

tl_pen tl_pen_raster(tl_raster_pen *to) { return (tl_pen){to, raster_line, raster_area, raster_text}; }

// --- SVG ---------------------------------------------------------------------------------------------------

static const double EM_PER_CAPITAL = 1.38;  // font-size for capitals of a given height, in common sans-serif fonts

static void write_points(tl_svg_pen *to, const tl_vec2 *p, int32_t count)
{
    char text[64];
    for (int32_t i = 0; i < count; i++) {
        snprintf(text, sizeof text, "%s%.2f,%.2f", i ? " " : "", p[i].x, p[i].y);
        to->write(to->user, text);
    }
}

static void svg_line(void *user, const tl_vec2 *p, int32_t count, double width, uint32_t hex, double alpha)
{
    tl_svg_pen *to = user;
    char text[160];
    to->write(to->user, "<polyline points=\"");
    write_points(to, p, count);
    snprintf(text, sizeof text,
             "\" fill=\"none\" stroke=\"#%06x\" stroke-width=\"%.2f\" stroke-opacity=\"%.2f\" "
             "stroke-linejoin=\"round\" stroke-linecap=\"round\"/>\n",
             (unsigned)hex, width, alpha);
    to->write(to->user, text);
}

static void svg_area(void *user, const tl_vec2 *p, int32_t count, uint32_t hex, double alpha)
{
    tl_svg_pen *to = user;
    char text[96];
    to->write(to->user, "<polygon points=\"");
    write_points(to, p, count);
    snprintf(text, sizeof text, "\" fill=\"#%06x\" fill-opacity=\"%.3f\"/>\n", (unsigned)hex, alpha);
    to->write(to->user, text);
}

static void write_escaped(tl_svg_pen *to, const char *text)
{
    char one[2] = {0, 0};
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        one[0] = *text;
        to->write(to->user, c == '&'   ? "&amp;"
                            : c == '<' ? "&lt;"
                            : c == '>' ? "&gt;"
                            : c == '"' ? "&quot;"
                            : c < 32   ? " "
                                       : one);
    }
}

static void svg_text(void *user, double x, double y, const char *text, double size, tl_anchor anchor, bool upwards,
                     uint32_t hex)
{
    tl_svg_pen *to = user;
    char head[224], turn[64] = "";
    const char *where = anchor == TL_ANCHOR_LEFT ? "start" : anchor == TL_ANCHOR_MIDDLE ? "middle" : "end";
    if (upwards) snprintf(turn, sizeof turn, " transform=\"rotate(-90 %.2f %.2f)\"", x, y);
    snprintf(head, sizeof head, "<text x=\"%.2f\" y=\"%.2f\" font-size=\"%.2f\" fill=\"#%06x\" text-anchor=\"%s\"%s>",
             x, y, size * EM_PER_CAPITAL, (unsigned)hex, where, turn);
    to->write(to->user, head);
    write_escaped(to, text);
    to->write(to->user, "</text>\n");
}

tl_pen tl_pen_svg(tl_svg_pen *to) { return (tl_pen){to, svg_line, svg_area, svg_text}; }

void tl_svg_open(tl_svg_pen *to, double width, double height, const char *title)
{
    char text[320];
    snprintf(text, sizeof text,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
             "font-family=\"Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif\">\n<title>",
             width, height, width, height);
    to->write(to->user, text);
    write_escaped(to, title);
    to->write(to->user, "</title>\n");
    snprintf(text, sizeof text, "<rect width=\"%.0f\" height=\"%.0f\" fill=\"#ffffff\"/>\n", width, height);
    to->write(to->user, text);
}

void tl_svg_close(tl_svg_pen *to) { to->write(to->user, "</svg>\n"); }
