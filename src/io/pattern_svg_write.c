// io/pattern_svg_write.c: a pattern as a drawing that a cutter can read, and so can we, to the last bit.
//
// Millimetres. Panels stand side by side in rows. Every panel has a group of its own whose coordinates are those of the
// pattern in metres, y up (data-layout="local"): reading it back ignores where the panel stands on the sheet.
// Everything else (numbers, names, arrowheads) is decoration and is left out by the reader.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/pattern_io.h"
#include "math/vec3.h"

typedef struct sheet {
    tl_buf *b;
    const tl_pattern *pattern;
    tl_vec2 *move;               ///< per panel: x' = 1000 x + move.x, y' = move.y - 1000 y
    int32_t *order;              ///< panels as they stand on the sheet
    double width, height, font;  ///< [mm]
} sheet;

#define MARGIN 40.0  // [mm] around panels

static void xml_text(tl_buf *b, const char *text)
{
    for (const char *p = text; *p; p++) {
        switch (*p) {
        case '<': tl_buf_text(b, "&lt;"); break;
        case '>': tl_buf_text(b, "&gt;"); break;
        case '&': tl_buf_text(b, "&amp;"); break;
        case '"': tl_buf_text(b, "&quot;"); break;
        default:
            if ((unsigned char)*p >= 0x20) tl_buf_add(b, p, 1);
        }
    }
}

static void attribute(tl_buf *b, const char *key, const char *text)
{
    tl_buf_printf(b, " %s=\"", key);
    xml_text(b, text);
    tl_buf_text(b, "\"");
}

static void real_attribute(tl_buf *b, const char *key, double x)
{
    tl_buf_printf(b, " %s=\"", key);
    tl_buf_double(b, x);
    tl_buf_text(b, "\"");
}

static void point(tl_buf *b, tl_vec2 p)
{
    tl_buf_double(b, p.x);
    tl_buf_text(b, " ");
    tl_buf_double(b, p.y);
}

// --- where panels stand ----------------------------------------------------------------------------------

static void panel_box(const tl_panel *p, tl_vec2 *low, tl_vec2 *high)
{
    *low = *high = p->curves[0].from;
    const tl_segment *const lists[2] = {p->curves, p->line_curves};
    const int32_t counts[2] = {p->curve_count, p->line_curve_count};
    for (int l = 0; l < 2; l++)
        for (int32_t k = 0; k < counts[l]; k++)
            for (int i = 1; i <= 16; i++) {
                const tl_vec2 q = tl_segment_point(&lists[l][k], i / 16.0);
                *low = (tl_vec2){fmin(low->x, q.x), fmin(low->y, q.y)};
                *high = (tl_vec2){fmax(high->x, q.x), fmax(high->y, q.y)};
            }
}

// Tall panels first: rows are then full.
static void sort_by_height(sheet *s)
{
    for (int32_t i = 0; i < s->pattern->panel_count; i++) {
        tl_vec2 low, high;
        panel_box(&s->pattern->panels[i].view, &low, &high);
        s->move[i].y = high.y - low.y;
        int32_t k = i;
        for (; k > 0 && s->move[s->order[k - 1]].y < s->move[i].y - 1e-9; k--) s->order[k] = s->order[k - 1];
        s->order[k] = i;
    }
}

static void lay_out(sheet *s)
{
    double sum = 0, widest = 0;
    sort_by_height(s);
    for (int32_t i = 0; i < s->pattern->panel_count; i++) {
        tl_vec2 low, high;
        panel_box(&s->pattern->panels[i].view, &low, &high);
        const double w = 1000 * (high.x - low.x) + MARGIN, h = 1000 * (high.y - low.y) + MARGIN;
        sum += w * h;
        widest = fmax(widest, w);
    }
    const double row = fmax(widest, sqrt(1.8 * sum));  // a sheet somewhat wider than high
    double x = MARGIN, y = MARGIN, tall = 0;
    s->width = 0;
    for (int32_t k = 0; k < s->pattern->panel_count; k++) {
        const int32_t i = s->order[k];
        tl_vec2 low, high;
        panel_box(&s->pattern->panels[i].view, &low, &high);
        const double w = 1000 * (high.x - low.x), h = 1000 * (high.y - low.y);
        if (x > MARGIN && x + w > row + MARGIN) x = MARGIN, y += tall + MARGIN, tall = 0;
        s->move[i] = (tl_vec2){x - 1000 * low.x, y + 1000 * high.y};
        x += w + MARGIN;
        s->width = fmax(s->width, x);
        tall = fmax(tall, h);
    }
    s->font = fmin(fmax(0.01 * s->width, 9), 24);
    s->width = fmax(s->width, 260);
    s->height = y + tall + MARGIN + 2.5 * s->font;  // room for the title and the bar
}

static tl_vec2 on_sheet(const sheet *s, int32_t panel, tl_vec2 p)
{
    return (tl_vec2){1000 * p.x + s->move[panel].x, s->move[panel].y - 1000 * p.y};
}

// --- what is read back -----------------------------------------------------------------------------------

static void path_data(tl_buf *b, const tl_segment *s, int32_t count, bool closed)
{
    tl_buf_text(b, " d=\"M");
    point(b, s[0].from);
    for (int32_t i = 0; i < count; i++) {
        switch (s[i].kind) {
        case TL_SEGMENT_LINE: tl_buf_text(b, " L"); break;
        case TL_SEGMENT_ARC: {
            const double chord = hypot(s[i].to.x - s[i].from.x, s[i].to.y - s[i].from.y), q = fabs(s[i].bulge);
            tl_buf_text(b, " A");
            point(b, (tl_vec2){chord * (1 + q * q) / (4 * q), chord * (1 + q * q) / (4 * q)});
            tl_buf_printf(b, " 0 %d %d ", q > 1, s[i].bulge > 0);
            break;
        }
        case TL_SEGMENT_QUADRATIC:
            tl_buf_text(b, " Q");
            point(b, s[i].control[0]);
            tl_buf_text(b, " ");
            break;
        case TL_SEGMENT_CUBIC:
            tl_buf_text(b, " C");
            point(b, s[i].control[0]);
            tl_buf_text(b, " ");
            point(b, s[i].control[1]);
            tl_buf_text(b, " ");
            break;
        }
        point(b, s[i].to);
    }
    tl_buf_text(b, closed ? " Z\"" : "\"");
    bool arcs = false;
    for (int32_t i = 0; i < count; i++) arcs = arcs || s[i].kind == TL_SEGMENT_ARC;
    if (!arcs) return;
    tl_buf_text(b, " data-bulge=\"");
    for (int32_t i = 0; i < count; i++) {
        if (i > 0) tl_buf_text(b, " ");
        tl_buf_double(b, s[i].kind == TL_SEGMENT_ARC ? s[i].bulge : 0);
    }
    tl_buf_text(b, "\"");
}

static void outline(tl_buf *b, const tl_panel *p)
{
    tl_buf_text(b, "<path");
    attribute(b, "id", p->name);
    attribute(b, "data-name", p->name);
    if (p->label[0]) attribute(b, "data-label", p->label);
    if (p->layer != 0) tl_buf_printf(b, " data-layer=\"%d\"", p->layer);
    if (p->placed) {
        const tl_placement *q = &p->placement;
        const double v[] = {q->origin.x,       q->origin.y,       q->origin.z, q->rotation_deg.x,
                            q->rotation_deg.y, q->rotation_deg.z, q->bend};
        tl_buf_text(b, " data-placement=\"");
        for (int i = 0; i < (q->bend != 0 ? 7 : 6); i++) {
            if (i > 0) tl_buf_text(b, " ");
            tl_buf_double(b, v[i]);
        }
        tl_buf_text(b, "\"");
    }
    tl_buf_text(b, " data-edges=\"");
    bool labels = false;
    for (int32_t e = 0; e < p->edge_count; e++) {
        tl_buf_printf(b, e > 0 ? " %d" : "%d", p->edges[e].curve_count);
        labels = labels || p->edges[e].label[0];
    }
    tl_buf_text(b, "\"");
    if (labels) {
        tl_buf_text(b, " data-labels=\"");
        for (int32_t e = 0; e < p->edge_count; e++) {
            if (e > 0) tl_buf_text(b, "|");
            xml_text(b, p->edges[e].label);
        }
        tl_buf_text(b, "\"");
    }
    path_data(b, p->curves, p->curve_count, true);
    tl_buf_text(b, " fill=\"#f7f4ec\" stroke=\"#303030\" stroke-width=\"0.0008\" stroke-linejoin=\"round\"/>\n");
}

static void inner_line(tl_buf *b, const tl_panel *p, const tl_line *l)
{
    static const char *const kind[] = {"internal", "fold", "hole", "cut", "drill"};
    static const char *const look[] = {" stroke-dasharray=\"0.006 0.003\"",
                                       " stroke-dasharray=\"0.012 0.003 0.002 0.003\"", "",
                                       " stroke-dasharray=\"0.002 0.002\"", " stroke-linecap=\"round\""};
    tl_buf_printf(b, "<path data-line=\"%s\"", kind[l->kind]);
    if (l->label[0]) attribute(b, "data-label", l->label);
    if (l->angle_deg != 0) real_attribute(b, "data-angle", l->angle_deg);
    const tl_segment *s = &p->line_curves[l->curve];
    if (l->kind == TL_LINE_DRILL) {  // a line without length is not drawn and would be lost
        real_attribute(b, "data-x", s->from.x);
        real_attribute(b, "data-y", s->from.y);
    }
    path_data(b, s, l->curve_count, false);
    tl_buf_printf(b, " fill=\"%s\" stroke=\"#505050\" stroke-width=\"%s\"%s/>\n",
                  l->kind == TL_LINE_HOLE ? "#ffffff" : "none", l->kind == TL_LINE_DRILL ? "0.004" : "0.0005",
                  look[l->kind]);
}

static tl_vec2 inward(const tl_panel *p, int32_t edge, double at)
{
    const double h = 1e-4;
    const tl_vec2 a = tl_edge_point(p, edge, fmax(0, at - h)), b = tl_edge_point(p, edge, fmin(1, at + h)),
                  d = tl_sub2(b, a);
    const double n = tl_norm2(d), side = p->area > 0 ? 1 : -1;
    return n > 0 ? (tl_vec2){-side * d.y / n, side * d.x / n} : (tl_vec2){0, 1};
}

static void notch(tl_buf *b, const tl_panel *p, const tl_notch *n)
{
    const double depth = n->depth > 0 ? n->depth : 0.005;
    const tl_vec2 at = tl_edge_point(p, n->edge, n->at), in = inward(p, n->edge, n->at);
    tl_buf_printf(b, "<path data-notch=\"1\" data-edge=\"%d\"", n->edge);
    real_attribute(b, "data-at", n->at);
    real_attribute(b, "data-depth", n->depth);
    const tl_segment s = {TL_SEGMENT_LINE, at, {at.x + depth * in.x, at.y + depth * in.y}, {{0}}, 0};
    path_data(b, &s, 1, false);
    tl_buf_text(b, " fill=\"none\" stroke=\"#c00000\" stroke-width=\"0.001\"/>\n");
}

static void dart(tl_buf *b, const tl_panel *p, const tl_dart *d)
{
    const tl_vec2 a = tl_edge_point(p, d->edge, d->from), e = tl_edge_point(p, d->edge, d->to);
    tl_buf_printf(b, "<path data-edge=\"%d\" data-dart=\"", d->edge);
    tl_buf_double(b, d->from);
    tl_buf_text(b, " ");
    tl_buf_double(b, d->to);
    tl_buf_text(b, " ");
    point(b, d->apex);
    tl_buf_text(b, "\"");
    if (d->label[0]) attribute(b, "data-label", d->label);
    const tl_segment s[2] = {{TL_SEGMENT_LINE, a, d->apex, {{0}}, 0}, {TL_SEGMENT_LINE, d->apex, e, {{0}}, 0}};
    path_data(b, s, 2, false);
    tl_buf_text(b, " fill=\"none\" stroke=\"#303030\" stroke-width=\"0.0006\" stroke-dasharray=\"0.008 0.004\"/>\n");
}

static void open_local(const sheet *s, int32_t panel)
{
    tl_buf_text(s->b, "<g data-layout=\"local\"");
    attribute(s->b, "data-panel", s->pattern->panels[panel].view.name);
    tl_buf_printf(s->b, " transform=\"translate(%.6f %.6f) scale(1000 -1000)\">\n", s->move[panel].x, s->move[panel].y);
}

static void panel_group(const sheet *s, int32_t i)
{
    const tl_panel *p = &s->pattern->panels[i].view;
    open_local(s, i);
    outline(s->b, p);
    for (int32_t k = 0; k < p->line_count; k++) inner_line(s->b, p, &p->lines[k]);
    for (int32_t k = 0; k < p->notch_count; k++) notch(s->b, p, &p->notches[k]);
    for (int32_t k = 0; k < p->dart_count; k++) dart(s->b, p, &p->darts[k]);
    if (p->has_grain) {
        tl_buf_text(s->b, "<path data-grain=\"1\"");
        const tl_segment g = {TL_SEGMENT_LINE, p->grain[0], p->grain[1], {{0}}, 0};
        path_data(s->b, &g, 1, false);
        tl_buf_text(s->b, " fill=\"none\" stroke=\"#606060\" stroke-width=\"0.0006\"/>\n");
    }
    tl_buf_text(s->b, "</g>\n");
}

// --- seams -----------------------------------------------------------------------------------------------

// Colours that differ from their neighbours: hues by the golden angle, in three tones.
void tl_svg_seam_colour(int32_t seam, char out[8])
{
    const double hue = fmod(seam * 137.50776405, 360) / 60, value[3] = {0.80, 0.55, 0.70}, chroma = value[seam % 3];
    const double x = chroma * (1 - fabs(fmod(hue, 2) - 1));
    const double rgb[6][3] = {{chroma, x, 0}, {x, chroma, 0}, {0, chroma, x},
                              {0, x, chroma}, {x, 0, chroma}, {chroma, 0, x}};
    const double *c = rgb[(int)hue % 6];
    snprintf(out, 8, "#%02x%02x%02x", (unsigned)(255 * c[0]) & 255, (unsigned)(255 * c[1]) & 255,
             (unsigned)(255 * c[2]) & 255);
}

static void seam_side(const sheet *s, int32_t seam, int k)
{
    const tl_seam *q = &s->pattern->seams[seam];
    const tl_seam_side *side = &q->side[k];
    char colour[8];
    tl_svg_seam_colour(seam, colour);
    open_local(s, side->panel);
    tl_buf_printf(s->b, "<path data-seam=\"%d\"", seam);
    attribute(s->b, "data-label", q->label[0] ? q->label : "-");
    tl_buf_printf(s->b, " data-edge=\"%d\" data-count=\"%d\"", side->edge, side->count);
    real_attribute(s->b, "data-from", side->from);
    real_attribute(s->b, "data-to", side->to);
    if (q->turned) tl_buf_text(s->b, " data-turned=\"1\"");
    tl_buf_text(s->b, " d=\"M");
    const int n = 32 * side->count;
    for (int i = 0; i <= n; i++) {
        const tl_vec2 p = tl_seam_side_point(s->pattern, side, (double)i / n);
        tl_buf_printf(s->b, "%s%.6f %.6f", i > 0 ? " L" : "", p.x, p.y);
    }
    tl_buf_printf(s->b, "\" fill=\"none\" stroke=\"%s\" stroke-width=\"0.0022\"/>\n</g>\n", colour);
}

// --- decoration ------------------------------------------------------------------------------------------

static void sheet_text(const sheet *s, tl_vec2 at, double size, const char *colour, const char *style, const char *text)
{
    tl_buf_printf(s->b, "<text x=\"%.2f\" y=\"%.2f\" font-size=\"%.2f\" fill=\"%s\" %s>", at.x, at.y, size, colour,
                  style);
    xml_text(s->b, text);
    tl_buf_text(s->b, "</text>\n");
}

// Where a name has most room: of a few points inside, the one farthest from the outline. `room` is that distance [m].
static tl_vec2 name_place(const tl_panel *p, double *room)
{
    tl_vec2 low, high, best;
    panel_box(p, &low, &high);
    best = tl_mul2(0.5, tl_add2(low, high));
    *room = 0;
    const int n = p->curve_count > 500 ? 4 : 16;  // each asks for all curves
    for (int r = 1; r < n; r++)
        for (int c = 1; c < n; c++) {
            const tl_vec2 q = {low.x + (high.x - low.x) * c / n, low.y + (high.y - low.y) * r / n};
            int32_t edge;
            double at;
            if (!tl_panel_contains(p, q)) continue;
            const double d = tl_panel_nearest(p, q, &edge, &at);
            if (d > 1.001 * *room) *room = d, best = q;
        }
    return best;
}

static void grain_arrow(const sheet *s, int32_t panel, tl_vec2 from, tl_vec2 to, bool given)
{
    const tl_vec2 a = on_sheet(s, panel, from), b = on_sheet(s, panel, to), d = tl_sub2(b, a);
    const double n = tl_norm2(d), head = fmin(0.6 * s->font, 0.2 * n);
    if (!(n > 0)) return;
    const tl_vec2 u = tl_mul2(head / n, d), v = {-0.45 * u.y, 0.45 * u.x};
    const char *colour = given ? "#606060" : "#b0b0b0";
    tl_buf_printf(s->b, "<path d=\"M%.2f %.2f L%.2f %.2f\" stroke=\"%s\" stroke-width=\"0.6\" fill=\"none\"%s/>\n", a.x,
                  a.y, b.x, b.y, colour, given ? "" : " stroke-dasharray=\"6 4\"");
    const tl_vec2 tips[2] = {b, a};
    for (int i = 0; i < 2; i++) {
        const tl_vec2 t = tips[i], back = i == 0 ? tl_sub2(t, u) : tl_add2(t, u);
        tl_buf_printf(s->b, "<path d=\"M%.2f %.2f L%.2f %.2f L%.2f %.2f Z\" fill=\"%s\"/>\n", t.x, t.y, back.x + v.x,
                      back.y + v.y, back.x - v.x, back.y - v.y, colour);
    }
}

static void decorate_panel(const sheet *s, int32_t i)
{
    const tl_panel *p = &s->pattern->panels[i].view;
    double room;
    const tl_vec2 middle = name_place(p, &room), at = on_sheet(s, i, middle);
    const double reach = fmin(0.85 * room, 0.12);
    if (p->has_grain)
        grain_arrow(s, i, p->grain[0], p->grain[1], true);
    else
        grain_arrow(s, i, (tl_vec2){middle.x, middle.y - reach}, (tl_vec2){middle.x, middle.y + reach}, false);
    const char *halo =
        "text-anchor=\"middle\" font-weight=\"bold\" stroke=\"#f7f4ec\" stroke-width=\"3\" paint-order=\"stroke\"";
    const double size = fmin(s->font, fmax(900 * room, 4));
    sheet_text(s, (tl_vec2){at.x, at.y + 0.3 * size}, size, "#202020", halo, p->name);
    if (1000 * room < 1.8 * s->font) return;
    char line[160];
    snprintf(line, sizeof line, "%.0f cm\xc2\xb2%s", 1e4 * fabs(p->area), p->area < 0 ? ", wrong side up" : "");
    sheet_text(s, (tl_vec2){at.x, at.y + 1.2 * s->font}, 0.6 * s->font, "#606060",
               "text-anchor=\"middle\" stroke=\"#f7f4ec\" stroke-width=\"2\" paint-order=\"stroke\"", line);
}

static void decorate_seams(const sheet *s)
{
    for (int32_t i = 0; i < s->pattern->seam_count; i++)
        for (int k = 0; k < 2; k++) {
            const tl_seam_side *side = &s->pattern->seams[i].side[k];
            const tl_panel *p = tl_pattern_panel(s->pattern, side->panel);
            const tl_vec2 m = tl_seam_side_point(s->pattern, side, 0.5);
            int32_t edge;
            double at;
            tl_panel_nearest(p, m, &edge, &at);
            const tl_vec2 in = inward(p, edge, at),
                          q = on_sheet(s, side->panel,
                                       (tl_vec2){m.x + 0.0009 * s->font * in.x, m.y + 0.0009 * s->font * in.y});
            char colour[8], number[16];
            tl_svg_seam_colour(i, colour);
            snprintf(number, sizeof number, "%d", i);
            sheet_text(s, (tl_vec2){q.x, q.y + 0.25 * s->font}, 0.7 * s->font, colour,
                       "text-anchor=\"middle\" font-weight=\"bold\" stroke=\"#f7f4ec\" stroke-width=\"2\" "
                       "paint-order=\"stroke\"",
                       number);
        }
}

static void decorate(const sheet *s)
{
    tl_buf_text(s->b, "<g data-toile=\"decoration\" font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\">\n");
    for (int32_t i = 0; i < s->pattern->panel_count; i++) decorate_panel(s, i);
    decorate_seams(s);
    const double y = s->height - s->font;
    tl_buf_printf(
        s->b,
        "<path d=\"M%.1f %.2f h100 m0 -3 v6 m-100 0 v-6\" stroke=\"#202020\" stroke-width=\"0.8\" fill=\"none\"/>\n",
        MARGIN, y);
    sheet_text(s, (tl_vec2){MARGIN + 106, y + 0.3 * s->font}, 0.7 * s->font, "#202020", "", "10 cm");
    sheet_text(s, (tl_vec2){s->width - MARGIN, y + 0.3 * s->font}, s->font, "#202020", "text-anchor=\"end\"",
               s->pattern->name);
    tl_buf_text(s->b, "</g>\n");
}

bool tl_svg_layout(const tl_pattern *pattern, tl_vec2 *move, double *width, double *height, double *font)
{
    sheet s = {.pattern = pattern, .move = move, .order = TL_ALLOC(&pattern->alloc, int32_t, pattern->panel_count)};
    if (!s.order) return false;
    lay_out(&s);
    *width = s.width, *height = s.height, *font = s.font;
    TL_FREE(&pattern->alloc, s.order, pattern->panel_count);
    return true;
}

void tl_svg_pattern_write(tl_buf *b, const tl_pattern *pattern)
{
    sheet s = {.b = b,
               .pattern = pattern,
               .move = TL_ALLOC(&pattern->alloc, tl_vec2, pattern->panel_count),
               .order = TL_ALLOC(&pattern->alloc, int32_t, pattern->panel_count)};
    if (!s.move || !s.order) {
        TL_FREE(&pattern->alloc, s.move, pattern->panel_count);
        TL_FREE(&pattern->alloc, s.order, pattern->panel_count);
        b->failed = true;
        return;
    }
    lay_out(&s);
    tl_buf_text(b,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- A sewing pattern by Toile (docs/patterns.md) -->\n");
    tl_buf_printf(
        b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.3fmm\" height=\"%.3fmm\" viewBox=\"0 0 %.3f %.3f\">\n",
        s.width, s.height, s.width, s.height);
    tl_buf_text(b, "<rect data-toile=\"decoration\" width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
    for (int32_t i = 0; i < pattern->panel_count; i++) panel_group(&s, i);
    for (int32_t i = 0; i < pattern->seam_count; i++)
        for (int k = 0; k < 2; k++) seam_side(&s, i, k);
    decorate(&s);
    tl_buf_text(b, "</svg>\n");
    TL_FREE(&pattern->alloc, s.move, pattern->panel_count);
    TL_FREE(&pattern->alloc, s.order, pattern->panel_count);
}
