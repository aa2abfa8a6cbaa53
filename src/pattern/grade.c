// pattern/grade.c: made to measure: a measure gets another value, and panels are scaled or lengthened for it.
//
// Pattern makers slash a panel across and spread the parts: a stretch along x or y gets longer, what lies beyond moves
// along. Points and control points are mapped so; that is exact for lines and for Bezier curves within a stretch. Arcs
// become cubic curves of at most 30 degrees first (off by 2e-6 of the radius), since a circle scaled one way is none.

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "math/elementary.h"
#include "math/vec3.h"
#include "pattern/pattern.h"

/// c -> base + (c - from) * factor within [from, to], straight on beyond.
typedef struct stretch {
    bool along_y;
    double from, to, factor, base;
} stretch;

static double map_one(const stretch *s, double c)
{
    if (c <= s->from) return c - s->from + s->base;
    if (c >= s->to) return c - s->to + s->base + (s->to - s->from) * s->factor;
    return s->base + (c - s->from) * s->factor;
}

static tl_vec2 map_point(const stretch *s, tl_vec2 p)
{
    return s->along_y ? (tl_vec2){p.x, map_one(s, p.y)} : (tl_vec2){map_one(s, p.x), p.y};
}

static void extent_of(const tl_panel *p, bool along_y, double out[2])
{
    out[0] = (double)INFINITY, out[1] = -(double)INFINITY;
    for (int32_t c = 0; c < p->curve_count; c++)
        for (int k = 0; k <= 16; k++) {
            const tl_vec2 q = tl_segment_point(&p->curves[c], k / 16.0);
            out[0] = fmin(out[0], along_y ? q.y : q.x), out[1] = fmax(out[1], along_y ? q.y : q.x);
        }
}

// ---- curves -------------------------------------------------------------------------------------------------

#define MOST_TURN (3.14159265358979323846 / 6)
enum { MOST_PARTS = 16 };

// Cubic curves for an arc; the count. Handles of length 4/3 tan(angle / 4) r, the usual ones.
static int arc_to_cubics(const tl_segment *arc, tl_segment *out)
{
    const double angle = 4 * tl_atan(fabs(arc->bulge));
    int n = (int)ceil(angle / MOST_TURN - 1e-9);
    n = n < 1 ? 1 : n > MOST_PARTS ? MOST_PARTS : n;
    const double chord = tl_norm2(tl_sub2(arc->to, arc->from)), sine = tl_sin(angle / 2), quarter = angle / n / 4;
    const double radius = sine > 0 ? chord / 2 / sine : 0,
                 handle = 4.0 / 3 * tl_sin(quarter) / tl_cos(quarter) * radius;
    for (int i = 0; i < n; i++) {
        const double t0 = (double)i / n, t1 = (double)(i + 1) / n;
        const tl_vec2 a = i == 0 ? arc->from : out[i - 1].to, b = i + 1 == n ? arc->to : tl_segment_point(arc, t1),
                      u = tl_segment_tangent(arc, t0), v = tl_segment_tangent(arc, t1);
        out[i] = (tl_segment){.kind = TL_SEGMENT_CUBIC, .from = a, .to = b};
        out[i].control[0] = tl_add2(a, tl_mul2(handle / fmax(tl_norm2(u), 1e-300), u));
        out[i].control[1] = tl_sub2(b, tl_mul2(handle / fmax(tl_norm2(v), 1e-300), v));
    }
    return n;
}

static bool put_curves(const tl_allocator *a, const stretch *s, const tl_segment *in, int32_t count, tl_segment **out,
                       int32_t *cap, int32_t *made)
{
    *made = 0;
    for (int32_t i = 0; i < count; i++) {
        if (!TL_GROW(a, *out, *cap, *made + MOST_PARTS)) return false;
        tl_segment *c = *out + *made;
        int n = 1;
        c[0] = in[i];
        if (s && in[i].kind == TL_SEGMENT_ARC && in[i].bulge != 0) n = arc_to_cubics(&in[i], c);
        for (int k = 0; s && k < n; k++) {
            c[k].from = map_point(s, c[k].from), c[k].to = map_point(s, c[k].to);
            if (c[k].kind == TL_SEGMENT_QUADRATIC || c[k].kind == TL_SEGMENT_CUBIC)
                c[k].control[0] = map_point(s, c[k].control[0]);
            if (c[k].kind == TL_SEGMENT_CUBIC) c[k].control[1] = map_point(s, c[k].control[1]);
        }
        *made += n;
    }
    return true;
}

// ---- panels -------------------------------------------------------------------------------------------------

/// Curves on their way from one pattern to the other.
typedef struct copier {
    tl_pattern *to;
    tl_segment *curves;
    int32_t cap;
} copier;

static tl_status copy_marks(const copier *c, int32_t index, const tl_panel *p, const stretch *s, tl_error *err)
{
    for (int32_t i = 0; i < p->notch_count; i++) TL_TRY(tl_pattern_add_notch(c->to, index, &p->notches[i], err));
    for (int32_t i = 0; i < p->dart_count; i++) {
        tl_dart dart = p->darts[i];
        if (s) dart.apex = map_point(s, dart.apex);
        TL_TRY(tl_pattern_add_dart(c->to, index, &dart, err));
    }
    if (p->has_grain) TL_TRY(tl_pattern_set_grain(c->to, index, p->grain[0], p->grain[1], err));
    TL_TRY(tl_pattern_set_layer(c->to, index, p->layer, err));
    return p->placed ? tl_pattern_set_placement(c->to, index, &p->placement, err) : TL_OK;
}

// `s` NULL: as it is.
static tl_status copy_panel(copier *c, const tl_panel *p, const stretch *s, tl_error *err)
{
    int32_t index, made;
    TL_TRY(tl_pattern_add_panel(c->to, p->name, p->label, &index, err));
    for (int32_t e = 0; e < p->edge_count; e++) {
        const tl_edge *edge = &p->edges[e];
        if (!put_curves(&c->to->alloc, s, p->curves + edge->curve, edge->curve_count, &c->curves, &c->cap, &made))
            return tl_fail_memory(err, "panels");
        TL_TRY(tl_pattern_add_edge(c->to, index, c->curves, made, edge->label, NULL, err));
    }
    for (int32_t i = 0; i < p->line_count; i++) {
        const tl_line *l = &p->lines[i];
        if (!put_curves(&c->to->alloc, s, p->line_curves + l->curve, l->curve_count, &c->curves, &c->cap, &made))
            return tl_fail_memory(err, "panels");
        TL_TRY(tl_pattern_add_line(c->to, index, l->kind, l->angle_deg, c->curves, made, l->label, err));
    }
    return copy_marks(c, index, p, s, err);
}

// `change`: one entry per panel, factor 0: as it is.
static tl_status copy_pattern(const tl_pattern *from, const stretch *change, const char *measure, double value,
                              tl_pattern *to, tl_error *err)
{
    copier c = {.to = to};
    tl_status status = tl_pattern_set_name(to, from->name, err);
    for (int32_t i = 0; status == TL_OK && i < from->panel_count; i++)
        status = copy_panel(&c, &from->panels[i].view, change[i].factor > 0 ? &change[i] : NULL, err);
    TL_FREE(&to->alloc, c.curves, c.cap);
    for (int32_t i = 0; status == TL_OK && i < from->seam_count; i++)
        status = tl_pattern_add_seam(to, &from->seams[i], NULL, err);
    for (int32_t i = 0; status == TL_OK && i < from->measure_count; i++) {
        const tl_measure *m = &from->measures[i];
        status = tl_pattern_add_measure(to, m->name, strcmp(m->name, measure) == 0 ? value : m->value, m->unit, err);
        for (int32_t k = 0; status == TL_OK && k < m->grade_count; k++)
            status = tl_pattern_add_grade(to, i, &m->grades[k], err);
    }
    return status == TL_OK ? tl_pattern_check(to, err) : status;
}

// ---- measures -----------------------------------------------------------------------------------------------

static bool holds(const char *name, const char *word, size_t n)
{
    for (; *name; name++) {
        size_t i = 0;
        while (i < n && name[i] && tolower((unsigned char)name[i]) == tolower((unsigned char)word[i])) i++;
        if (i == n) return true;
    }
    return n == 0;
}

static tl_status set_stretch(const tl_panel *p, const tl_grade *g, double was, double value, stretch *out,
                             tl_error *err)
{
    double range[2];
    extent_of(p, g->along_y != 0, range);
    const bool part = g->to > g->from;
    *out = (stretch){.along_y = g->along_y != 0, .from = part ? g->from : range[0], .to = part ? g->to : range[1]};
    const double length = out->to - out->from;
    out->factor = g->share != 0 ? 1 + g->share * (value - was) / length : value / was;
    if (!(length > 0) || !(out->factor > 0.05) || !(out->factor < 20))
        return tl_fail(err, TL_BAD_INPUT, "panel '%.60s' would be %.3g times as long from %.3g to %.3g m", p->name,
                       out->factor, out->from, out->to);
    const double more = length * (out->factor - 1);
    out->base = out->from - (g->keep > 0 ? more : g->keep == 0 ? more / 2 : 0);
    return TL_OK;
}

// Each panel takes the first grade that means it.
static tl_status apply_grades(const tl_pattern *p, const tl_measure *m, double value, stretch *out, tl_error *err)
{
    bool any = false;
    for (int32_t k = 0; k < m->grade_count; k++)
        for (int32_t i = 0; i < p->panel_count; i++) {
            const tl_panel *panel = &p->panels[i].view;
            if (out[i].factor > 0 || !holds(panel->name, m->grades[k].panel, strlen(m->grades[k].panel))) continue;
            TL_TRY(set_stretch(panel, &m->grades[k], m->value, value, &out[i], err));
            any = true;
        }
    if (any) return TL_OK;
    return tl_fail(err, TL_BAD_INPUT,
                   "measure '%.60s' has no grade that says what it does to panels (docs/patterns.md)", m->name);
}

// PANEL.width, PANEL.length.
static tl_status apply_extent(const tl_pattern *p, const char *measure, double value, stretch *out, bool *known,
                              tl_error *err)
{
    const char *dot = strrchr(measure, '.');
    const bool along_y = dot && strcmp(dot, ".length") == 0;
    double widest = 0;
    *known = dot && dot > measure && (along_y || strcmp(dot, ".width") == 0);
    for (int32_t i = 0; *known && i < p->panel_count; i++) {
        double range[2];
        if (!holds(p->panels[i].view.name, measure, (size_t)(dot - measure))) continue;
        extent_of(&p->panels[i].view, along_y, range);
        widest = fmax(widest, range[1] - range[0]);
    }
    *known = *known && widest > 0;
    const tl_grade all = {.panel = "", .along_y = along_y, .keep = along_y ? 1 : 0};
    for (int32_t i = 0; *known && i < p->panel_count; i++)
        if (holds(p->panels[i].view.name, measure, (size_t)(dot - measure)))
            TL_TRY(set_stretch(&p->panels[i].view, &all, widest, value, &out[i], err));
    return TL_OK;
}

static tl_status no_measure(const tl_pattern *p, const char *measure, tl_error *err)
{
    char list[400] = "";
    size_t n = 0;
    for (int32_t i = 0; i < p->measure_count && n + 80 < sizeof list; i++)
        n += (size_t)snprintf(list + n, sizeof list - n, "%s'%.60s'", i ? ", " : "", p->measures[i].name);
    return tl_fail(err, TL_BAD_INPUT,
                   "no measure '%.60s': there is %s%sPANEL.width and PANEL.length with a word of a panel's name, as in "
                   "%.60s.width",
                   measure, list, n > 0 ? ", and " : "", p->panel_count > 0 ? p->panels[0].view.name : "front");
}

static tl_status find_change(const tl_pattern *p, const char *measure, double value, stretch *out, tl_error *err)
{
    for (int32_t i = 0; i < p->measure_count; i++) {
        const tl_measure *m = &p->measures[i];
        if (strcmp(m->name, measure) != 0) continue;
        if (!(m->value > 0)) return tl_fail(err, TL_BAD_INPUT, "measure '%.60s' is %g, must be > 0", measure, m->value);
        return apply_grades(p, m, value, out, err);
    }
    bool known;
    TL_TRY(apply_extent(p, measure, value, out, &known, err));
    return known ? TL_OK : no_measure(p, measure, err);
}

tl_status tl_pattern_grade(const tl_pattern *p, const char *measure, double value, tl_pattern **out, tl_error *err)
{
    *out = NULL;
    if (!(value > 0 && isfinite(value)))
        return tl_fail(err, TL_BAD_INPUT, "measure '%.60s': %g, must be > 0", measure, value);
    stretch *change = TL_CALLOC(&p->alloc, stretch, p->panel_count);
    if (!change) return tl_fail_memory(err, "measures");
    tl_pattern *to = NULL;
    tl_status status = find_change(p, measure, value, change, err);
    if (status == TL_OK) status = tl_pattern_create(&p->alloc, &to, err);
    if (status == TL_OK) status = copy_pattern(p, change, measure, value, to, err);
    TL_FREE(&p->alloc, change, p->panel_count);
    if (status == TL_OK)
        *out = to;
    else
        tl_pattern_destroy(to);
    return status;
}
