// run/info_pattern.c: what `toile info` says of a sewing pattern: panels, edges, seams with both lengths, what is not
// sewn.

#include "run/info_pattern.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/vec3.h"
#include "pattern/check.h"

static const char *const line_kinds[] = {"internal", "fold", "hole", "cut", "drill"};

static bool add(json_t *facts, const char *name, json_t *value) { return json_object_set_new(facts, name, value) == 0; }

static const char *edge_kind(const tl_panel *p, const tl_edge *e)
{
    static const char *const words[] = {"line", "arc", "quadratic", "cubic"};
    const tl_segment_kind kind = p->curves[e->curve].kind;
    for (int32_t i = 1; i < e->curve_count; i++)
        if (p->curves[e->curve + i].kind != kind) return "mixed";
    return words[kind];
}

static double grain_deg(const tl_panel *p)
{
    const tl_vec2 d = tl_sub2(p->grain[1], p->grain[0]);
    return atan2(d.y, d.x) * 180 / 3.14159265358979323846;
}

// How much of an edge is sewn, 0 to 1.
static double sewn_part(const tl_pattern *pattern, int32_t panel, int32_t edge)
{
    double sum = 0;
    for (int32_t i = 0; i < tl_pattern_seam_count(pattern); i++)
        for (int k = 0; k < 2; k++) {
            const tl_seam_side *side = &tl_pattern_seam(pattern, i)->side[k];
            double from, to;
            if (side->panel == panel && tl_seam_side_covers(pattern, side, edge, &from, &to)) sum += to - from;
        }
    return fmin(sum, 1);
}

#define SEWN_WHOLE (1 - 1e-6)

static json_t *edge_facts(const tl_pattern *pattern, int32_t panel, int32_t edge)
{
    const tl_panel *p = tl_pattern_panel(pattern, panel);
    const tl_edge *e = &p->edges[edge];
    json_t *out = json_object(), *seams = json_array();
    bool ok = add(out, "edge", json_integer(edge)) && add(out, "label", json_string(e->label)) &&
              add(out, "kind", json_string(edge_kind(p, e))) && add(out, "length", json_real(e->length));
    for (int32_t i = 0; ok && i < tl_pattern_seam_count(pattern); i++)
        for (int k = 0; k < 2; k++) {
            const tl_seam_side *side = &tl_pattern_seam(pattern, i)->side[k];
            double from, to;
            if (side->panel == panel && tl_seam_side_covers(pattern, side, edge, &from, &to))
                ok = ok && json_array_append_new(seams, json_integer(i)) == 0;
        }
    ok = add(out, "seams", seams) && ok;
    ok = ok && add(out, "sewn", json_real(sewn_part(pattern, panel, edge)));
    if (ok) return out;
    json_decref(out);
    return NULL;
}

static json_t *panel_facts(const tl_pattern *pattern, int32_t panel)
{
    const tl_panel *p = tl_pattern_panel(pattern, panel);
    json_t *out = json_object(), *edges = json_array(), *lines = json_array();
    bool ok = add(out, "name", json_string(p->name)) && add(out, "label", json_string(p->label)) &&
              add(out, "layer", json_integer(p->layer)) && add(out, "area", json_real(fabs(p->area))) &&
              add(out, "perimeter", json_real(p->perimeter)) && add(out, "right_side_up", json_boolean(p->area > 0)) &&
              add(out, "grain_deg", p->has_grain ? json_real(grain_deg(p)) : json_null());
    if (p->placed) {
        const tl_vec3 o = p->placement.origin, d = p->placement.rotation_deg;
        ok = ok && add(out, "origin", json_pack("[f,f,f]", o.x, o.y, o.z)) &&
             add(out, "rotation_deg", json_pack("[f,f,f]", d.x, d.y, d.z)) &&
             (p->placement.bend == 0 || add(out, "bend", json_real(p->placement.bend)));
    }
    for (int32_t e = 0; ok && e < p->edge_count; e++)
        ok = json_array_append_new(edges, edge_facts(pattern, panel, e)) == 0;
    ok = add(out, "edges", edges) && ok;
    for (int32_t i = 0; ok && i < p->line_count; i++)
        ok = json_array_append_new(
                 lines, json_pack("{s:s,s:s}", "kind", line_kinds[p->lines[i].kind], "label", p->lines[i].label)) == 0;
    ok = add(out, "lines", lines) && ok;
    ok = ok && add(out, "notches", json_integer(p->notch_count)) && add(out, "darts", json_integer(p->dart_count));
    if (ok) return out;
    json_decref(out);
    return NULL;
}

static json_t *seam_facts(const tl_pattern *pattern, int32_t seam)
{
    const tl_seam *s = tl_pattern_seam(pattern, seam);
    json_t *out = json_object(), *sides = json_array();
    bool ok = add(out, "seam", json_integer(seam)) && add(out, "label", json_string(s->label)) &&
              add(out, "dart", json_boolean(tl_seam_is_dart(pattern, s))) &&
              add(out, "turned", json_boolean(s->turned)) &&
              add(out, "mismatch_percent", json_real(100 * tl_seam_mismatch(pattern, s)));
    for (int k = 0; ok && k < 2; k++) {
        const tl_seam_side *side = &s->side[k];
        json_t *one = json_object();
        ok = json_array_append_new(sides, one) == 0 &&
             add(one, "panel", json_string(tl_pattern_panel(pattern, side->panel)->name)) &&
             add(one, "edge", json_integer(side->edge)) && add(one, "count", json_integer(side->count)) &&
             add(one, "from", json_real(side->from)) && add(one, "to", json_real(side->to)) &&
             add(one, "length", json_real(tl_seam_side_length(pattern, side)));
    }
    ok = add(out, "sides", sides) && ok;
    if (ok) return out;
    json_decref(out);
    return NULL;
}

bool tl_pattern_facts(const tl_pattern *pattern, json_t *facts)
{
    double area = 0;
    json_t *panels = json_array(), *seams = json_array(), *open = json_array(), *warnings = json_array(),
           *measures = json_object();
    bool ok = add(facts, "kind", json_string("pattern")) && add(facts, "name", json_string(tl_pattern_name(pattern)));
    for (int32_t i = 0; i < tl_pattern_panel_count(pattern); i++) {
        const tl_panel *p = tl_pattern_panel(pattern, i);
        area += fabs(p->area);
        ok = ok && json_array_append_new(panels, panel_facts(pattern, i)) == 0;
        for (int32_t e = 0; e < p->edge_count; e++) {
            const double sewn = sewn_part(pattern, i, e);
            if (sewn >= SEWN_WHOLE) continue;
            ok = ok && json_array_append_new(open, json_pack("{s:s,s:i,s:s,s:f}", "panel", p->name, "edge", (int)e,
                                                             "label", p->edges[e].label, "length",
                                                             (1 - sewn) * p->edges[e].length)) == 0;
        }
    }
    for (int32_t i = 0; i < tl_pattern_seam_count(pattern); i++)
        ok = ok && json_array_append_new(seams, seam_facts(pattern, i)) == 0;
    for (int32_t i = 0; i < tl_pattern_note_count(pattern); i++)
        ok = ok && json_array_append_new(warnings, json_string(tl_pattern_note(pattern, i))) == 0;
    for (int32_t i = 0; i < tl_pattern_measure_count(pattern); i++) {
        const tl_measure *m = tl_pattern_measure(pattern, i);
        ok = ok && add(measures, m->name, json_pack("{s:f,s:s}", "value", m->value, "unit", m->unit));
    }
    ok = ok && add(facts, "area", json_real(area));
    ok = add(facts, "measures", measures) && ok;
    ok = add(facts, "panels", panels) && ok;
    ok = add(facts, "seams", seams) && ok;
    ok = add(facts, "not_sewn", open) && ok;
    return add(facts, "warnings", warnings) && ok;
}

// --- lines -----------------------------------------------------------------------------------------------

static void panel_lines(const tl_pattern *pattern, int32_t panel, tl_buf *b)
{
    const tl_panel *p = tl_pattern_panel(pattern, panel);
    tl_buf_printf(b, "\npanel %s%s%s%s: %.1f cm^2, perimeter %.2f cm", p->name, p->label[0] ? " (" : "", p->label,
                  p->label[0] ? ")" : "", 1e4 * fabs(p->area), 100 * p->perimeter);
    if (p->layer != 0) tl_buf_printf(b, ", layer %d", p->layer);
    if (p->has_grain)
        tl_buf_printf(b, ", grain at %.1f degrees", grain_deg(p));
    else
        tl_buf_text(b, ", grain not given (along y)");
    tl_buf_text(b, p->area > 0 ? "\n" : ", wrong side up\n");
    for (int32_t e = 0; e < p->edge_count; e++) {
        tl_buf_printf(b, "  edge %-3d %8.2f cm  %-9s", e, 100 * p->edges[e].length, edge_kind(p, &p->edges[e]));
        const char *before = " seam ";
        for (int32_t i = 0; i < tl_pattern_seam_count(pattern); i++)
            for (int k = 0; k < 2; k++) {
                const tl_seam_side *side = &tl_pattern_seam(pattern, i)->side[k];
                double from, to;
                if (side->panel != panel || !tl_seam_side_covers(pattern, side, e, &from, &to)) continue;
                tl_buf_printf(b, "%s%d", before, i);
                before = ", ";
            }
        if (sewn_part(pattern, panel, e) < SEWN_WHOLE) tl_buf_text(b, before[0] == ',' ? ", in part" : " not sewn");
        if (p->edges[e].label[0]) tl_buf_printf(b, "  %s", p->edges[e].label);
        tl_buf_text(b, "\n");
    }
    if (p->notch_count > 0) tl_buf_printf(b, "  notches: %d\n", p->notch_count);
    for (int32_t i = 0; i < p->line_count; i++)
        tl_buf_printf(b, "  line %d: %s%s%s\n", i, line_kinds[p->lines[i].kind], p->lines[i].label[0] ? " " : "",
                      p->lines[i].label);
    for (int32_t i = 0; i < p->dart_count; i++)
        tl_buf_printf(b, "  dart on edge %d, from %.4g to %.4g%s%s\n", p->darts[i].edge, p->darts[i].from,
                      p->darts[i].to, p->darts[i].label[0] ? " " : "", p->darts[i].label);
}

static void side_text(const tl_pattern *pattern, const tl_seam_side *s, char *out, size_t size)
{
    const tl_panel *p = tl_pattern_panel(pattern, s->panel);
    char last[32] = "", part[64] = "";
    if (s->count > 1) snprintf(last, sizeof last, "-%d", (s->edge + s->count - 1) % p->edge_count);
    if (fabs(s->to - s->from) < SEWN_WHOLE) snprintf(part, sizeof part, " [%.4g, %.4g]", s->from, s->to);
    snprintf(out, size, "%s %d%s%s%s", p->name, s->edge, last, part, s->from > s->to ? " back" : "");
}

static void seam_lines(const tl_pattern *pattern, tl_buf *b)
{
    int32_t darts = 0;
    double open = 0;
    for (int32_t i = 0; i < tl_pattern_seam_count(pattern); i++)
        darts += tl_seam_is_dart(pattern, tl_pattern_seam(pattern, i));
    tl_buf_printf(b, "\nseams: %d, of these %d darts", tl_pattern_seam_count(pattern), darts);
    int32_t drawn = 0;
    for (int32_t i = 0; i < tl_pattern_panel_count(pattern); i++) drawn += tl_pattern_panel(pattern, i)->dart_count;
    if (drawn > 0) tl_buf_printf(b, "; %d darts drawn on panels", drawn);
    tl_buf_text(b, "\n");
    for (int32_t i = 0; i < tl_pattern_seam_count(pattern); i++) {
        const tl_seam *s = tl_pattern_seam(pattern, i);
        char one[300], two[300];
        side_text(pattern, &s->side[0], one, sizeof one);
        side_text(pattern, &s->side[1], two, sizeof two);
        tl_buf_printf(b, "  %s %-3d %8.2f + %8.2f cm  %6.2f %%  %s  %s%s%s%s\n",
                      tl_seam_is_dart(pattern, s) ? "dart" : "seam", i, 100 * tl_seam_side_length(pattern, &s->side[0]),
                      100 * tl_seam_side_length(pattern, &s->side[1]), 100 * tl_seam_mismatch(pattern, s), one, two,
                      s->turned ? "  right on wrong side" : "", s->label[0] ? "  " : "", s->label);
    }
    tl_buf_text(b, "\nnot sewn:\n");
    for (int32_t i = 0; i < tl_pattern_panel_count(pattern); i++) {
        const tl_panel *p = tl_pattern_panel(pattern, i);
        for (int32_t e = 0; e < p->edge_count; e++) {
            const double rest = (1 - sewn_part(pattern, i, e)) * p->edges[e].length;
            if (rest <= (1 - SEWN_WHOLE) * p->edges[e].length) continue;
            open += rest;
            tl_buf_printf(b, "  %s edge %d: %.2f cm%s%s\n", p->name, e, 100 * rest, p->edges[e].label[0] ? "  " : "",
                          p->edges[e].label);
        }
    }
    tl_buf_printf(b, "  in all %.2f cm\n", 100 * open);
}

void tl_pattern_lines(const tl_pattern *pattern, tl_buf *b)
{
    double area = 0;
    for (int32_t i = 0; i < tl_pattern_panel_count(pattern); i++) area += fabs(tl_pattern_panel(pattern, i)->area);
    tl_buf_printf(b, "pattern %s: %d panels, %.1f cm^2\n", tl_pattern_name(pattern), tl_pattern_panel_count(pattern),
                  1e4 * area);
    for (int32_t i = 0; i < tl_pattern_measure_count(pattern); i++) {
        const tl_measure *m = tl_pattern_measure(pattern, i);
        tl_buf_printf(b, "  %s: %g %s\n", m->name, m->value, m->unit);
    }
    for (int32_t i = 0; i < tl_pattern_panel_count(pattern); i++) panel_lines(pattern, i, b);
    seam_lines(pattern, b);
    for (int32_t i = 0; i < tl_pattern_note_count(pattern); i++)
        tl_buf_printf(b, "warning: %s\n", tl_pattern_note(pattern, i));
}
