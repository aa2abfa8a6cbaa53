// scene/pattern_write.c: a pattern as our own JSON; reading it back gives the same bits.

#include <jansson.h>
#include <stdlib.h>

#include "scene/pattern_file.h"
#include "scene/pattern_keys.h"

static void text(tl_buf *b, const char *value)
{
    json_t *string = json_string(value);
    if (!string) string = json_stringn_nocheck("", 0);  // not UTF-8: readers have refused it
    if (!string) {
        b->failed = true;
        return;
    }
    char *quoted = json_dumps(string, JSON_ENCODE_ANY);
    if (quoted)
        tl_buf_text(b, quoted);
    else
        b->failed = true;
    free(quoted);
    json_decref(string);
}

static void point(tl_buf *b, tl_vec2 p)
{
    tl_buf_text(b, "[");
    tl_buf_double(b, p.x);
    tl_buf_text(b, ", ");
    tl_buf_double(b, p.y);
    tl_buf_text(b, "]");
}

static void vector(tl_buf *b, tl_vec3 v)
{
    tl_buf_text(b, "[");
    tl_buf_double(b, v.x);
    tl_buf_text(b, ", ");
    tl_buf_double(b, v.y);
    tl_buf_text(b, ", ");
    tl_buf_double(b, v.z);
    tl_buf_text(b, "]");
}

static void number(tl_buf *b, const char *before, double x)
{
    tl_buf_text(b, before);
    tl_buf_double(b, x);
}

static void segment(tl_buf *b, const tl_segment *s)
{
    tl_buf_text(b, "\"to\": ");
    point(b, s->to);
    if (s->kind == TL_SEGMENT_ARC) number(b, ", \"bulge\": ", s->bulge);
    if (s->kind == TL_SEGMENT_QUADRATIC || s->kind == TL_SEGMENT_CUBIC) {
        tl_buf_text(b, ", \"control\": [");
        point(b, s->control[0]);
        if (s->kind == TL_SEGMENT_CUBIC) {
            tl_buf_text(b, ", ");
            point(b, s->control[1]);
        }
        tl_buf_text(b, "]");
    }
}

static void path(tl_buf *b, const tl_segment *s, int32_t count)
{
    tl_buf_text(b, "\"path\": [");
    for (int32_t i = 0; i < count; i++) {
        tl_buf_text(b, i > 0 ? ",\n          {" : "{");
        segment(b, &s[i]);
        tl_buf_text(b, "}");
    }
    tl_buf_text(b, "]");
}

static void edges(tl_buf *b, const tl_panel *p)
{
    tl_buf_text(b, ",\n      \"start\": ");
    point(b, p->curves[0].from);
    tl_buf_text(b, ",\n      \"edges\": [");
    for (int32_t i = 0; i < p->edge_count; i++) {
        const tl_edge *e = &p->edges[i];
        tl_buf_text(b, i > 0 ? ",\n        {" : "\n        {");
        if (e->label[0]) {
            tl_buf_text(b, "\"label\": ");
            text(b, e->label);
            tl_buf_text(b, ", ");
        }
        if (e->curve_count == 1)
            segment(b, &p->curves[e->curve]);
        else
            path(b, &p->curves[e->curve], e->curve_count);
        tl_buf_text(b, "}");
    }
    tl_buf_text(b, "\n      ]");
}

static void lines(tl_buf *b, const tl_panel *p)
{
    static const char *const kind[] = {"internal", "fold", "hole", "cut", "drill"};
    if (p->line_count > 0) tl_buf_text(b, ",\n      \"lines\": [");
    for (int32_t i = 0; i < p->line_count; i++) {
        const tl_line *l = &p->lines[i];
        tl_buf_printf(b, "%s\n        {\"kind\": \"%s\"", i > 0 ? "," : "", kind[l->kind]);
        if (l->label[0]) {
            tl_buf_text(b, ", \"label\": ");
            text(b, l->label);
        }
        if (l->angle_deg != 0) number(b, ", \"angle\": ", l->angle_deg);
        tl_buf_text(b, ", \"start\": ");
        point(b, p->line_curves[l->curve].from);
        tl_buf_text(b, ", ");
        path(b, &p->line_curves[l->curve], l->curve_count);
        tl_buf_text(b, "}");
    }
    if (p->line_count > 0) tl_buf_text(b, "\n      ]");
}

static void marks(tl_buf *b, const tl_panel *p)
{
    if (p->notch_count > 0) tl_buf_text(b, ",\n      \"notches\": [");
    for (int32_t i = 0; i < p->notch_count; i++) {
        const tl_notch *n = &p->notches[i];
        tl_buf_printf(b, "%s\n        {\"edge\": %d", i > 0 ? "," : "", n->edge);
        number(b, ", \"at\": ", n->at);
        if (n->depth != 0) number(b, ", \"depth\": ", n->depth);
        tl_buf_text(b, "}");
    }
    if (p->notch_count > 0) tl_buf_text(b, "\n      ]");
    if (p->dart_count > 0) tl_buf_text(b, ",\n      \"darts\": [");
    for (int32_t i = 0; i < p->dart_count; i++) {
        const tl_dart *d = &p->darts[i];
        tl_buf_text(b, i > 0 ? ",\n        {" : "\n        {");
        if (d->label[0]) {
            tl_buf_text(b, "\"label\": ");
            text(b, d->label);
            tl_buf_text(b, ", ");
        }
        tl_buf_printf(b, "\"edge\": %d", d->edge);
        number(b, ", \"from\": ", d->from);
        number(b, ", \"to\": ", d->to);
        tl_buf_text(b, ", \"apex\": ");
        point(b, d->apex);
        tl_buf_text(b, "}");
    }
    if (p->dart_count > 0) tl_buf_text(b, "\n      ]");
}

static void panel(tl_buf *b, const tl_panel *p)
{
    tl_buf_text(b, "    {\n      \"name\": ");
    text(b, p->name);
    if (p->label[0]) {
        tl_buf_text(b, ",\n      \"label\": ");
        text(b, p->label);
    }
    if (p->layer != 0) tl_buf_printf(b, ",\n      \"layer\": %d", p->layer);
    if (p->placed) {
        tl_buf_text(b, ",\n      \"placement\": {\"origin\": ");
        vector(b, p->placement.origin);
        tl_buf_text(b, ", \"rotation\": ");
        vector(b, p->placement.rotation_deg);
        if (p->placement.bend != 0) number(b, ", \"bend\": ", p->placement.bend);
        tl_buf_text(b, "}");
    }
    if (p->has_grain) {
        tl_buf_text(b, ",\n      \"grain\": [");
        point(b, p->grain[0]);
        tl_buf_text(b, ", ");
        point(b, p->grain[1]);
        tl_buf_text(b, "]");
    }
    edges(b, p);
    lines(b, p);
    marks(b, p);
    tl_buf_text(b, "\n    }");
}

static void seam(tl_buf *b, const tl_pattern *pattern, const tl_seam *s)
{
    tl_buf_text(b, "    {");
    if (s->label[0]) {
        tl_buf_text(b, "\"label\": ");
        text(b, s->label);
        tl_buf_text(b, ", ");
    }
    tl_buf_text(b, "\"sides\": [");
    for (int k = 0; k < 2; k++) {
        const tl_seam_side *side = &s->side[k];
        tl_buf_text(b, k > 0 ? ", {\"panel\": " : "{\"panel\": ");
        text(b, tl_pattern_panel(pattern, side->panel)->name);
        tl_buf_printf(b, ", \"edge\": %d", side->edge);
        if (side->count != 1) tl_buf_printf(b, ", \"count\": %d", side->count);
        if (side->from != 0) number(b, ", \"from\": ", side->from);
        if (side->to != 1) number(b, ", \"to\": ", side->to);
        tl_buf_text(b, "}");
    }
    tl_buf_text(b, s->turned ? "], \"turned\": true}" : "]}");
}

static void grades(tl_buf *b, const tl_measure *m)
{
    static const char *const keeps[] = {"low", "middle", "high"};
    for (int32_t i = 0; i < m->grade_count; i++) {
        const tl_grade *g = &m->grades[i];
        tl_buf_text(b, i > 0 ? ", {\"panels\": " : ", \"grade\": [{\"panels\": ");
        text(b, g->panel);
        tl_buf_printf(b, ", \"along\": \"%s\", \"keep\": \"%s\"", g->along_y ? "y" : "x", keeps[g->keep + 1]);
        if (g->to > g->from) number(b, ", \"from\": ", g->from), number(b, ", \"to\": ", g->to);
        if (g->share != 0) number(b, ", \"share\": ", g->share);
        tl_buf_text(b, "}");
    }
    if (m->grade_count > 0) tl_buf_text(b, "]");
}

void tl_pattern_json_write(tl_buf *b, const tl_pattern *pattern)
{
    tl_buf_text(b, "{\n  \"format\": \"" TL_PATTERN_FORMAT "\"");
    if (pattern->name[0]) {
        tl_buf_text(b, ",\n  \"name\": ");
        text(b, pattern->name);
    }
    if (pattern->measure_count > 0) tl_buf_text(b, ",\n  \"measures\": [");
    for (int32_t i = 0; i < pattern->measure_count; i++) {
        tl_buf_text(b, i > 0 ? ",\n    {\"name\": " : "\n    {\"name\": ");
        text(b, pattern->measures[i].name);
        number(b, ", \"value\": ", pattern->measures[i].value);
        tl_buf_text(b, ", \"unit\": ");
        text(b, pattern->measures[i].unit);
        grades(b, &pattern->measures[i]);
        tl_buf_text(b, "}");
    }
    if (pattern->measure_count > 0) tl_buf_text(b, "\n  ]");
    tl_buf_text(b, ",\n  \"panels\": [\n");
    for (int32_t i = 0; i < pattern->panel_count; i++) {
        if (i > 0) tl_buf_text(b, ",\n");
        panel(b, &pattern->panels[i].view);
    }
    tl_buf_text(b, "\n  ]");
    if (pattern->seam_count > 0) tl_buf_text(b, ",\n  \"seams\": [\n");
    for (int32_t i = 0; i < pattern->seam_count; i++) {
        if (i > 0) tl_buf_text(b, ",\n");
        seam(b, pattern, &pattern->seams[i]);
    }
    tl_buf_text(b, pattern->seam_count > 0 ? "\n  ]\n}\n" : "\n}\n");
}
