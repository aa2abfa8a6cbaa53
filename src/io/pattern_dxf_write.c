// io/pattern_dxf_write.c: a pattern as DXF-AAMA: R12, millimetres, a block per piece, one polyline per edge.
//
// R12 has lines and arcs only, and many readers of pieces take no arcs: curves are drawn as chords within CHORD_ERROR.
// What DXF cannot say (exact curves, labels, seams, placement) stands in comments of the entity it belongs to.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/pattern_io.h"
#include "math/vec3.h"
#include "pattern/check.h"

#define CHORD_ERROR 2e-5  // [m]

static void group(tl_buf *b, int code, const char *value) { tl_buf_printf(b, "%3d\n%s\n", code, value); }

static void real(tl_buf *b, int code, double x)
{
    char text[TL_NUMBER_CHARS];
    tl_format_double(x, text);
    group(b, code, text);
}

static void place(tl_buf *b, tl_vec2 p)
{
    real(b, 10, 1000 * p.x);
    real(b, 20, 1000 * p.y);
}

static void comment_reals(tl_buf *b, const char *word, const double *v, int count)
{
    tl_buf_printf(b, "999\nTOILE %s", word);
    for (int i = 0; i < count; i++) {
        tl_buf_text(b, " ");
        tl_buf_double(b, v[i]);
    }
    tl_buf_text(b, "\n");
}

// Texts stay on one line.
static void comment_text(tl_buf *b, const char *word, const char *text)
{
    if (!text[0]) return;
    tl_buf_printf(b, "999\nTOILE %s ", word);
    for (const char *p = text; *p; p++) tl_buf_add(b, *p == '\n' || *p == '\r' ? " " : p, 1);
    tl_buf_text(b, "\n");
}

static void exact(tl_buf *b, const tl_segment *s, int32_t count)
{
    comment_reals(b, "M", (const double[]){s[0].from.x, s[0].from.y}, 2);
    for (int32_t i = 0; i < count; i++) {
        const tl_vec2 p = s[i].control[0], q = s[i].control[1], to = s[i].to;
        switch (s[i].kind) {
        case TL_SEGMENT_LINE: comment_reals(b, "L", (const double[]){to.x, to.y}, 2); break;
        case TL_SEGMENT_ARC: comment_reals(b, "A", (const double[]){to.x, to.y, s[i].bulge}, 3); break;
        case TL_SEGMENT_QUADRATIC: comment_reals(b, "Q", (const double[]){p.x, p.y, to.x, to.y}, 4); break;
        case TL_SEGMENT_CUBIC: comment_reals(b, "C", (const double[]){p.x, p.y, q.x, q.y, to.x, to.y}, 6); break;
        }
    }
}

static void vertex(tl_buf *b, const char *layer, tl_vec2 p)
{
    group(b, 0, "VERTEX");
    group(b, 8, layer);
    place(b, p);
}

// `kind`: of inner lines, NULL for edges.
static void polyline(tl_buf *b, const char *layer, const tl_segment *s, int32_t count, const char *label,
                     const tl_line *kind)
{
    group(b, 0, "POLYLINE");
    group(b, 8, layer);
    comment_text(b, "LABEL", label);
    if (kind) comment_reals(b, "KIND", (const double[]){kind->kind, kind->angle_deg}, 2);
    exact(b, s, count);
    group(b, 66, "1");
    group(b, 70, "0");
    vertex(b, layer, s[0].from);
    for (int32_t i = 0; i < count; i++) {
        const int32_t n = tl_segment_chords(&s[i], CHORD_ERROR);
        for (int32_t k = 1; k <= n; k++) vertex(b, layer, tl_segment_point(&s[i], (double)k / n));
    }
    group(b, 0, "SEQEND");
    group(b, 8, layer);
}

static void text(tl_buf *b, const char *layer, tl_vec2 at, const char *key, const char *value)
{
    group(b, 0, "TEXT");
    group(b, 8, layer);
    place(b, at);
    group(b, 40, "5");
    tl_buf_printf(b, "  1\n%s", key);
    for (const char *p = value; *p; p++) tl_buf_add(b, *p == '\n' || *p == '\r' ? " " : p, 1);
    tl_buf_text(b, "\n");
}

static void dot(tl_buf *b, const char *layer, tl_vec2 at)
{
    group(b, 0, "POINT");
    group(b, 8, layer);
    place(b, at);
}

static void inner_lines(tl_buf *b, const tl_panel *p)
{
    for (int32_t i = 0; i < p->line_count; i++) {
        const tl_line *l = &p->lines[i];
        const tl_segment *s = &p->line_curves[l->curve];
        if (l->kind == TL_LINE_DRILL)
            dot(b, "13", s->from);
        else
            polyline(b,
                     l->kind == TL_LINE_HOLE  ? "11"
                     : l->kind == TL_LINE_CUT ? "1"
                                              : "8",
                     s, l->curve_count, l->label, l->kind == TL_LINE_CUT ? NULL : l);
    }
}

// Names of blocks in R12: letters, digits, $, - and _.
static void block_name(int32_t index, const char *name, char out[40])
{
    snprintf(out, 40, "P%03d_%.26s", index, name);
    for (char *c = out; *c; c++) {
        const bool fine =
            (*c >= 'A' && *c <= 'Z') || (*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9') || *c == '-' || *c == '$';
        if (!fine) *c = '_';
    }
}

static void block(tl_buf *b, int32_t index, const tl_panel *p)
{
    char name[40];
    block_name(index, p->name, name);
    bool cut = false;
    for (int32_t i = 0; i < p->line_count; i++) cut = cut || p->lines[i].kind == TL_LINE_CUT;
    group(b, 0, "BLOCK");
    group(b, 8, "1");
    comment_text(b, "PART", p->label);
    if (p->layer != 0) comment_reals(b, "LAYER", (const double[]){p->layer}, 1);
    const tl_placement *q = &p->placement;
    if (p->placed)
        comment_reals(b, "PLACE",
                      (const double[]){q->origin.x, q->origin.y, q->origin.z, q->rotation_deg.x, q->rotation_deg.y,
                                       q->rotation_deg.z, q->bend},
                      q->bend != 0 ? 7 : 6);
    for (int32_t i = 0; i < p->dart_count; i++) {
        const tl_dart *d = &p->darts[i];
        comment_reals(b, "DART", (const double[]){d->edge, d->from, d->to, d->apex.x, d->apex.y}, 5);
    }
    group(b, 2, name);
    group(b, 70, "64");
    place(b, (tl_vec2){0, 0});
    for (int32_t e = 0; e < p->edge_count; e++)
        polyline(b, cut ? "14" : "1", &p->curves[p->edges[e].curve], p->edges[e].curve_count, p->edges[e].label, NULL);
    for (int32_t e = 0; e < p->edge_count; e++) dot(b, "2", tl_edge_point(p, e, 0));
    for (int32_t i = 0; i < p->notch_count; i++) {
        const tl_notch *n = &p->notches[i];
        dot(b, "4", tl_edge_point(p, n->edge, n->at));
        if (n->depth > 0) real(b, 39, 1000 * n->depth);
        comment_reals(b, "NOTCH", (const double[]){n->edge, n->at, n->depth}, 3);
    }
    if (p->has_grain) {
        const tl_segment g = {TL_SEGMENT_LINE, p->grain[0], p->grain[1], {{0}}, 0};
        polyline(b, "7", &g, 1, "", NULL);
    }
    inner_lines(b, p);
    text(b, "1", p->curves[0].from, "Piece Name: ", p->name);
    group(b, 0, "ENDBLK");
    group(b, 8, "1");
}

static void seam(tl_buf *b, const tl_seam *s)
{
    const tl_seam_side *u = &s->side[0], *v = &s->side[1];
    const double n[11] = {s->turned, u->panel, u->edge,  u->count, u->from, u->to,
                          v->panel,  v->edge,  v->count, v->from,  v->to};
    comment_reals(b, "SEAM", n, 11);
    b->size -= b->failed || b->size == 0 ? 0 : 1;  // the label follows on the same line
    tl_buf_text(b, " ");
    for (const char *p = s->label; *p; p++) tl_buf_add(b, *p == '\n' || *p == '\r' ? " " : p, 1);
    tl_buf_text(b, "\n");
}

void tl_dxf_pattern_write(tl_buf *b, const tl_pattern *pattern)
{
    group(b, 999, "a sewing pattern by Toile, DXF-AAMA layers, millimetres");
    for (int32_t i = 0; i < pattern->seam_count; i++) seam(b, &pattern->seams[i]);
    group(b, 0, "SECTION");
    group(b, 2, "HEADER");
    group(b, 9, "$ACADVER");
    group(b, 1, "AC1009");
    group(b, 0, "ENDSEC");
    group(b, 0, "SECTION");
    group(b, 2, "BLOCKS");
    for (int32_t i = 0; i < pattern->panel_count; i++) block(b, i, &pattern->panels[i].view);
    group(b, 0, "ENDSEC");
    group(b, 0, "SECTION");
    group(b, 2, "ENTITIES");
    for (int32_t i = 0; i < pattern->panel_count; i++) {
        char name[40];
        block_name(i, pattern->panels[i].view.name, name);
        group(b, 0, "INSERT");
        group(b, 8, "1");
        group(b, 2, name);
        place(b, (tl_vec2){0, 0});
    }
    text(b, "1", (tl_vec2){0, 0}, "Style Name: ", pattern->name);
    text(b, "1", (tl_vec2){0, 0}, "Units: ", "METRIC");
    group(b, 0, "ENDSEC");
    group(b, 0, "EOF");
}
