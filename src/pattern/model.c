// pattern/model.c: a pattern in memory: panels, edges, seams and what is drawn on panels, added one by one.

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "math/vec3.h"
#include "pattern/pattern.h"

// --- texts and notes -------------------------------------------------------------------------------------

// Bytes of the UTF-8 character at p, 0 if it is none (RFC 3629: no overlong forms, no surrogates).
static int utf8_bytes(const unsigned char *p)
{
    if (p[0] < 0x80) return 1;
    const int n = p[0] >= 0xc2 && p[0] < 0xe0   ? 2
                  : p[0] >= 0xe0 && p[0] < 0xf0 ? 3
                  : p[0] >= 0xf0 && p[0] < 0xf5 ? 4
                                                : 0;
    for (int i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80) return 0;
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f)) return 0;
    if ((p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f)) return 0;
    return n;
}

// Drawings may hold anything: what is no UTF-8 becomes '?', control characters become blanks, so that every format can
// carry it.
const char *tl_pattern_text(tl_pattern *pattern, const char *text)
{
    if (!text || !text[0]) return "";
    const size_t size = strlen(text) + 1;
    char *copy = TL_SCRATCH(&pattern->texts, char, size);
    if (!copy) return NULL;
    memcpy(copy, text, size);
    for (unsigned char *p = (unsigned char *)copy; *p;) {
        const int n = utf8_bytes(p);
        if (n == 0) *p = '?';
        if (*p < 0x20 || *p == 0x7f) *p = ' ';
        p += n > 0 ? n : 1;
    }
    return copy;
}

void tl_pattern_add_note(tl_pattern *pattern, const char *format, ...)
{
    char text[600];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (int32_t i = 0; i < pattern->note_count; i++)
        if (strcmp(pattern->notes[i], text) == 0) return;
    enum { MOST = 1000 };  // more than anyone reads
    if (pattern->note_count >= MOST) return;
    if (!TL_GROW(&pattern->alloc, pattern->notes, pattern->note_cap, pattern->note_count + 1)) return;
    const char *copy = tl_pattern_text(pattern, text);
    if (copy) pattern->notes[pattern->note_count++] = copy;
}

const char *tl_pattern_edge_name(const tl_panel *panel, int32_t edge, char *out, size_t size)
{
    const char *label = edge >= 0 && edge < panel->edge_count ? panel->edges[edge].label : "";
    if (label[0])
        snprintf(out, size, "panel '%s', edge %d ('%s')", panel->name, edge, label);
    else
        snprintf(out, size, "panel '%s', edge %d", panel->name, edge);
    return out;
}

// --- life ------------------------------------------------------------------------------------------------

tl_status tl_pattern_create(const tl_allocator *alloc, tl_pattern **out, tl_error *err)
{
    if (!out) return tl_fail(err, TL_BAD_ARG, "pattern: out is NULL");
    *out = NULL;
    const tl_allocator a = alloc ? *alloc : tl_allocator_default();
    tl_pattern *pattern = TL_CALLOC(&a, tl_pattern, 1);
    if (!pattern) return tl_fail_memory(err, "a pattern");
    pattern->alloc = a;
    pattern->name = "";
    tl_arena_init(&pattern->texts, a);
    *out = pattern;
    return TL_OK;
}

void tl_pattern_destroy(tl_pattern *pattern)
{
    if (!pattern) return;
    const tl_allocator a = pattern->alloc;
    for (int32_t i = 0; i < pattern->panel_count; i++) {
        tl_panel_data *p = &pattern->panels[i];
        TL_FREE(&a, p->edges, p->edge_cap);
        TL_FREE(&a, p->curves, p->curve_cap);
        TL_FREE(&a, p->lines, p->line_cap);
        TL_FREE(&a, p->line_curves, p->line_curve_cap);
        TL_FREE(&a, p->notches, p->notch_cap);
        TL_FREE(&a, p->darts, p->dart_cap);
    }
    TL_FREE(&a, pattern->panels, pattern->panel_cap);
    TL_FREE(&a, pattern->seams, pattern->seam_cap);
    TL_FREE(&a, pattern->measures, pattern->measure_cap);
    TL_FREE(&a, pattern->notes, pattern->note_cap);
    tl_arena_free(&pattern->texts);
    TL_FREE(&a, pattern, 1);
}

tl_status tl_pattern_set_name(tl_pattern *pattern, const char *name, tl_error *err)
{
    const char *copy = tl_pattern_text(pattern, name);
    if (!copy) return tl_fail_memory(err, "a name");
    pattern->name = copy;
    return TL_OK;
}

// --- panels ----------------------------------------------------------------------------------------------

// The arrays may have moved.
static void refresh(tl_panel_data *p)
{
    p->view.edges = p->edges;
    p->view.curves = p->curves;
    p->view.lines = p->lines;
    p->view.line_curves = p->line_curves;
    p->view.notches = p->notches;
    p->view.darts = p->darts;
}

// The panel to change; NULL: there is none of that number, and `err` says so.
static tl_panel_data *panel_of(tl_pattern *pattern, int32_t panel, tl_error *err)
{
    if (panel < 0 || panel >= pattern->panel_count) {
        tl_fail(err, TL_BAD_ARG, "pattern: panel %d, must be in [0, %d)", panel, pattern->panel_count);
        return NULL;
    }
    pattern->closed = false;
    return &pattern->panels[panel];
}

tl_status tl_pattern_add_panel(tl_pattern *pattern, const char *name, const char *label, int32_t *out, tl_error *err)
{
    if (!name || !name[0])
        return tl_fail(err, TL_BAD_INPUT, "panel %d has no name (give it one)", pattern->panel_count);
    if (strlen(name) > TL_PATTERN_NAME_MAX)
        return tl_fail(err, TL_BAD_INPUT, "panel %d: its name is longer than %d bytes", pattern->panel_count,
                       TL_PATTERN_NAME_MAX);
    const char *copy = tl_pattern_text(pattern, name), *label_copy = tl_pattern_text(pattern, label);
    if (!copy || !label_copy) return tl_fail_memory(err, "a panel's name");
    const int32_t other = tl_pattern_find_panel(pattern, copy);
    if (other >= 0)
        return tl_fail(err, TL_BAD_INPUT, "panel %d: name '%s' is that of panel %d, too (names are unique)",
                       pattern->panel_count, name, other);
    if (!TL_GROW(&pattern->alloc, pattern->panels, pattern->panel_cap, pattern->panel_count + 1))
        return tl_fail_memory(err, "panels");
    pattern->panels[pattern->panel_count] = (tl_panel_data){.view = {.name = copy, .label = label_copy}};
    pattern->closed = false;
    if (out) *out = pattern->panel_count;
    pattern->panel_count++;
    return TL_OK;
}

static bool finite2(tl_vec2 p) { return isfinite(p.x) && isfinite(p.y); }

static bool in_reach(tl_vec2 p)
{
    return finite2(p) && fabs(p.x) <= TL_PATTERN_SIZE_MAX && fabs(p.y) <= TL_PATTERN_SIZE_MAX;
}

static bool curve_finite(const tl_segment *c)
{
    return in_reach(c->from) && in_reach(c->to) && in_reach(c->control[0]) && in_reach(c->control[1]) &&
           isfinite(c->bulge) && fabs(c->bulge) < 1e6;
}

// Curves in a row at the end of `items`; `what` names them in messages. On failure the array is as it was.
static tl_status add_curves(tl_pattern *pattern, tl_segment **items, int32_t *cap, int32_t used,
                            const tl_segment *curves, int32_t count, const char *what, tl_error *err)
{
    if (!curves || count < 1) return tl_fail(err, TL_BAD_INPUT, "%s: has no curves", what);
    if (count > TL_PATTERN_CURVES_MAX - used)
        return tl_fail(err, TL_BAD_INPUT, "%s: the panel has more than %d curves (simplify it)", what,
                       TL_PATTERN_CURVES_MAX);
    for (int32_t i = 0; i < count; i++) {
        const tl_segment *c = &curves[i];
        if (!curve_finite(c))
            return tl_fail(err, TL_BAD_INPUT,
                           "%s: from (%g, %g) to (%g, %g) m: a number is not finite, or beyond %g m (check the unit)",
                           what, c->from.x, c->from.y, c->to.x, c->to.y, TL_PATTERN_SIZE_MAX);
        if (i > 0 && (c->from.x != curves[i - 1].to.x || c->from.y != curves[i - 1].to.y))
            return tl_fail(err, TL_BAD_INPUT, "%s: open at (%g, %g) m: its curve %d starts at (%g, %g) m", what,
                           curves[i - 1].to.x, curves[i - 1].to.y, i, c->from.x, c->from.y);
    }
    if (!TL_GROW(&pattern->alloc, *items, *cap, used + count)) return tl_fail_memory(err, "curves");
    memcpy(*items + used, curves, (size_t)count * sizeof *curves);
    return TL_OK;
}

static double curves_length(const tl_segment *curves, int32_t count)
{
    double sum = 0;
    for (int32_t i = 0; i < count; i++) sum += tl_segment_length(&curves[i]);
    return sum;
}

// The area as seen from the first corner, where rounding does least.
static double curves_area(const tl_segment *curves, int32_t count, tl_vec2 origin)
{
    double sum = 0;
    for (int32_t i = 0; i < count; i++) {
        tl_segment c = curves[i];
        c.from = tl_sub2(c.from, origin), c.to = tl_sub2(c.to, origin);
        c.control[0] = tl_sub2(c.control[0], origin), c.control[1] = tl_sub2(c.control[1], origin);
        sum += tl_segment_area(&c);
    }
    return sum;
}

tl_status tl_pattern_add_edge(tl_pattern *pattern, int32_t panel, const tl_segment *curves, int32_t count,
                              const char *label, int32_t *out, tl_error *err)
{
    tl_panel_data *p = panel_of(pattern, panel, err);
    if (!p) return TL_BAD_ARG;
    tl_panel *v = &p->view;
    char what[320];
    snprintf(what, sizeof what, label && label[0] ? "panel '%s', edge %d ('%.60s')" : "panel '%s', edge %d", v->name,
             v->edge_count, label);
    if (v->edge_count > 0 && curves && count > 0) {
        const tl_vec2 end = p->curves[v->curve_count - 1].to;
        if (curves[0].from.x != end.x || curves[0].from.y != end.y)
            return tl_fail(err, TL_BAD_INPUT, "%s: starts at (%g, %g) m, but edge %d ends at (%g, %g) m", what,
                           curves[0].from.x, curves[0].from.y, v->edge_count - 1, end.x, end.y);
    }
    TL_TRY(add_curves(pattern, &p->curves, &p->curve_cap, v->curve_count, curves, count, what, err));
    refresh(p);
    const double length = curves_length(curves, count);
    if (!(length > 0) || !isfinite(length))
        return tl_fail(err, TL_BAD_INPUT, "%s: has length %g (remove it, or give it two different ends)", what, length);
    const char *copy = tl_pattern_text(pattern, label);
    if (!copy || !TL_GROW(&pattern->alloc, p->edges, p->edge_cap, v->edge_count + 1))
        return tl_fail_memory(err, "edges");
    refresh(p);
    p->edges[v->edge_count] = (tl_edge){copy, v->curve_count, count, length};
    if (out) *out = v->edge_count;
    v->edge_count++;
    v->curve_count += count;
    v->perimeter += length;
    v->area += curves_area(curves, count, p->curves[0].from);
    return TL_OK;
}

tl_status tl_pattern_add_line(tl_pattern *pattern, int32_t panel, tl_line_kind kind, double angle_deg,
                              const tl_segment *curves, int32_t count, const char *label, tl_error *err)
{
    tl_panel_data *p = panel_of(pattern, panel, err);
    if (!p) return TL_BAD_ARG;
    tl_panel *v = &p->view;
    char what[320];
    snprintf(what, sizeof what, "panel '%s', line %d", v->name, v->line_count);
    if (!(fabs(angle_deg) <= 180))
        return tl_fail(err, TL_BAD_INPUT, "%s: fold angle %g degrees, must be in [-180, 180]", what, angle_deg);
    TL_TRY(add_curves(pattern, &p->line_curves, &p->line_curve_cap, v->line_curve_count, curves, count, what, err));
    refresh(p);
    const char *copy = tl_pattern_text(pattern, label);
    if (!copy || !TL_GROW(&pattern->alloc, p->lines, p->line_cap, v->line_count + 1))
        return tl_fail_memory(err, "lines");
    refresh(p);
    p->lines[v->line_count++] = (tl_line){kind, copy, v->line_curve_count, count, angle_deg};
    v->line_curve_count += count;
    return TL_OK;
}

static tl_status check_on_edge(const tl_panel *v, const char *what, int32_t index, int32_t edge, double at,
                               tl_error *err)
{
    if (edge < 0 || edge >= v->edge_count)
        return tl_fail(err, TL_BAD_INPUT, "panel '%s', %s %d: edge %d, must be in [0, %d)", v->name, what, index, edge,
                       v->edge_count);
    if (!(at >= 0 && at <= 1))
        return tl_fail(err, TL_BAD_INPUT, "panel '%s', %s %d: at %g of edge %d, must be in [0, 1]", v->name, what,
                       index, at, edge);
    return TL_OK;
}

tl_status tl_pattern_add_notch(tl_pattern *pattern, int32_t panel, const tl_notch *notch, tl_error *err)
{
    tl_panel_data *p = panel_of(pattern, panel, err);
    if (!p) return TL_BAD_ARG;
    tl_panel *v = &p->view;
    TL_TRY(check_on_edge(v, "notch", v->notch_count, notch->edge, notch->at, err));
    if (!(notch->depth >= 0 && notch->depth < 1))
        return tl_fail(err, TL_BAD_INPUT, "panel '%s', notch %d: depth %g m, must be in [0, 1)", v->name,
                       v->notch_count, notch->depth);
    if (!TL_GROW(&pattern->alloc, p->notches, p->notch_cap, v->notch_count + 1)) return tl_fail_memory(err, "notches");
    refresh(p);
    p->notches[v->notch_count++] = *notch;
    return TL_OK;
}

tl_status tl_pattern_add_dart(tl_pattern *pattern, int32_t panel, const tl_dart *dart, tl_error *err)
{
    tl_panel_data *p = panel_of(pattern, panel, err);
    if (!p) return TL_BAD_ARG;
    tl_panel *v = &p->view;
    TL_TRY(check_on_edge(v, "dart", v->dart_count, dart->edge, dart->from, err));
    TL_TRY(check_on_edge(v, "dart", v->dart_count, dart->edge, dart->to, err));
    if (!(dart->from < dart->to) || !finite2(dart->apex))
        return tl_fail(err, TL_BAD_INPUT,
                       "panel '%s', dart %d: from %g to %g of edge %d with its apex at (%g, %g) m, %s", v->name,
                       v->dart_count, dart->from, dart->to, dart->edge, dart->apex.x, dart->apex.y,
                       "must have from < to and finite numbers");
    const char *copy = tl_pattern_text(pattern, dart->label);
    if (!copy || !TL_GROW(&pattern->alloc, p->darts, p->dart_cap, v->dart_count + 1))
        return tl_fail_memory(err, "darts");
    refresh(p);
    p->darts[v->dart_count] = *dart;
    p->darts[v->dart_count++].label = copy;
    return TL_OK;
}

tl_status tl_pattern_set_grain(tl_pattern *pattern, int32_t panel, tl_vec2 from, tl_vec2 to, tl_error *err)
{
    tl_panel_data *p = panel_of(pattern, panel, err);
    if (!p) return TL_BAD_ARG;
    if (!finite2(from) || !finite2(to) || (from.x == to.x && from.y == to.y))
        return tl_fail(err, TL_BAD_INPUT,
                       "panel '%s': grain from (%g, %g) to (%g, %g) m, must be an arrow with a length", p->view.name,
                       from.x, from.y, to.x, to.y);
    p->view.grain[0] = from, p->view.grain[1] = to;
    p->view.has_grain = 1;
    return TL_OK;
}

tl_status tl_pattern_set_layer(tl_pattern *pattern, int32_t panel, int32_t layer, tl_error *err)
{
    tl_panel_data *p = panel_of(pattern, panel, err);
    if (!p) return TL_BAD_ARG;
    p->view.layer = layer;
    return TL_OK;
}

tl_status tl_pattern_set_placement(tl_pattern *pattern, int32_t panel, const tl_placement *placement, tl_error *err)
{
    tl_panel_data *p = panel_of(pattern, panel, err);
    if (!p) return TL_BAD_ARG;
    const tl_vec3 o = placement->origin, r = placement->rotation_deg;
    if (!tl_finite3(o) || !tl_finite3(r))
        return tl_fail(err, TL_BAD_INPUT,
                       "panel '%s': placed at (%g, %g, %g) m, turned (%g, %g, %g) degrees: must be finite",
                       p->view.name, o.x, o.y, o.z, r.x, r.y, r.z);
    if (!isfinite(placement->bend))
        return tl_fail(err, TL_BAD_INPUT, "panel '%s': bent by %g 1/m, must be finite", p->view.name, placement->bend);
    p->view.placement = (tl_placement){
        {o.x + 0.0, o.y + 0.0, o.z + 0.0}, {r.x + 0.0, r.y + 0.0, r.z + 0.0}, placement->bend + 0.0};  // no -0
    p->view.placed = 1;
    return TL_OK;
}

// --- seams and measures ----------------------------------------------------------------------------------

static tl_status check_side(const tl_pattern *pattern, const tl_seam *seam, int k, tl_error *err)
{
    const tl_seam_side *s = &seam->side[k];
    const int32_t index = pattern->seam_count;
    if (s->panel < 0 || s->panel >= pattern->panel_count)
        return tl_fail(err, TL_BAD_INPUT, "seam %d: panel %d, must be in [0, %d)", index, s->panel,
                       pattern->panel_count);
    const tl_panel *p = &pattern->panels[s->panel].view;
    if (s->edge < 0 || s->edge >= p->edge_count || s->count < 1 || s->count > p->edge_count)
        return tl_fail(err, TL_BAD_INPUT, "seam %d: %d edge%s from edge %d of panel '%s', which has %d edges", index,
                       s->count, s->count == 1 ? "" : "s", s->edge, p->name, p->edge_count);
    if (!(s->from >= 0 && s->from <= 1 && s->to >= 0 && s->to <= 1 && s->from != s->to))
        return tl_fail(err, TL_BAD_INPUT,
                       "seam %d: from %g to %g of edge %d of panel '%s', must be different and in [0, 1]", index,
                       s->from, s->to, s->edge, p->name);
    return TL_OK;
}

tl_status tl_pattern_add_seam(tl_pattern *pattern, const tl_seam *seam, int32_t *out, tl_error *err)
{
    TL_TRY(check_side(pattern, seam, 0, err));
    TL_TRY(check_side(pattern, seam, 1, err));
    const char *copy = tl_pattern_text(pattern, seam->label);
    if (!copy || !TL_GROW(&pattern->alloc, pattern->seams, pattern->seam_cap, pattern->seam_count + 1))
        return tl_fail_memory(err, "seams");
    pattern->seams[pattern->seam_count] = *seam;
    pattern->seams[pattern->seam_count].label = copy;
    pattern->closed = false;
    if (out) *out = pattern->seam_count;
    pattern->seam_count++;
    return TL_OK;
}

tl_status tl_pattern_turn_seam(tl_pattern *pattern, int32_t seam, tl_error *err)
{
    if (seam < 0 || seam >= pattern->seam_count)
        return tl_fail(err, TL_BAD_ARG, "pattern: seam %d, must be in [0, %d)", seam, pattern->seam_count);
    tl_seam_side *side = &pattern->seams[seam].side[1];
    const double from = side->from;
    side->from = side->to, side->to = from;
    return TL_OK;
}

tl_status tl_pattern_add_measure(tl_pattern *pattern, const char *name, double value, const char *unit, tl_error *err)
{
    if (!isfinite(value))
        return tl_fail(err, TL_BAD_INPUT, "measure '%s': %g, must be finite", name ? name : "", value);
    const char *n = tl_pattern_text(pattern, name), *u = tl_pattern_text(pattern, unit);
    if (!n || !u || !TL_GROW(&pattern->alloc, pattern->measures, pattern->measure_cap, pattern->measure_count + 1))
        return tl_fail_memory(err, "measures");
    pattern->measures[pattern->measure_count++] = (tl_measure){n, u, value, NULL, 0};
    return TL_OK;
}

tl_status tl_pattern_add_grade(tl_pattern *pattern, int32_t measure, const tl_grade *grade, tl_error *err)
{
    if (measure < 0 || measure >= pattern->measure_count)
        return tl_fail(err, TL_BAD_ARG, "grade: measure %d, there are %d", measure, pattern->measure_count);
    tl_measure *m = &pattern->measures[measure];
    if (!(isfinite(grade->from) && isfinite(grade->to) && grade->to >= grade->from && isfinite(grade->share)))
        return tl_fail(err, TL_BAD_INPUT, "measure '%s': grade from %g to %g m, share %g, must be finite and in order",
                       m->name, grade->from, grade->to, grade->share);
    const size_t n = (size_t)m->grade_count;
    tl_grade *all = tl_arena_bytes(&pattern->texts, n + 1, sizeof *all);
    const char *panel = tl_pattern_text(pattern, grade->panel);
    if (!all || !panel) return tl_fail_memory(err, "measures");
    if (n > 0) memcpy(all, m->grades, n * sizeof *all);
    all[n] = *grade, all[n].panel = panel;
    m->grades = all, m->grade_count++;
    return TL_OK;
}

// --- views -----------------------------------------------------------------------------------------------

const char *tl_pattern_name(const tl_pattern *pattern) { return pattern->name; }
int32_t tl_pattern_panel_count(const tl_pattern *pattern) { return pattern->panel_count; }
int32_t tl_pattern_seam_count(const tl_pattern *pattern) { return pattern->seam_count; }
int32_t tl_pattern_measure_count(const tl_pattern *pattern) { return pattern->measure_count; }
int32_t tl_pattern_note_count(const tl_pattern *pattern) { return pattern->note_count; }

const tl_panel *tl_pattern_panel(const tl_pattern *pattern, int32_t panel)
{
    return panel >= 0 && panel < pattern->panel_count ? &pattern->panels[panel].view : NULL;
}

int32_t tl_pattern_find_panel(const tl_pattern *pattern, const char *name)
{
    for (int32_t i = 0; i < pattern->panel_count; i++)
        if (strcmp(pattern->panels[i].view.name, name) == 0) return i;
    return -1;
}

const tl_seam *tl_pattern_seam(const tl_pattern *pattern, int32_t seam)
{
    return seam >= 0 && seam < pattern->seam_count ? &pattern->seams[seam] : NULL;
}

const tl_measure *tl_pattern_measure(const tl_pattern *pattern, int32_t measure)
{
    return measure >= 0 && measure < pattern->measure_count ? &pattern->measures[measure] : NULL;
}

const char *tl_pattern_note(const tl_pattern *pattern, int32_t note)
{
    return note >= 0 && note < pattern->note_count ? pattern->notes[note] : NULL;
}
