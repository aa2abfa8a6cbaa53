// io/pattern_drawing.c: what readers of drawings (SVG, DXF) share.

#include "io/pattern_drawing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "math/vec3.h"

void tl_drawing_free(tl_drawing *d)
{
    TL_FREE(&d->pattern->alloc, d->pieces, d->piece_cap);
    TL_FREE(&d->pattern->alloc, d->marks, d->mark_cap);
}

tl_status tl_drawing_add(tl_drawing *d, const tl_mark *mark, const tl_segment *pieces, int32_t count, tl_error *err)
{
    if (!TL_GROW(&d->pattern->alloc, d->pieces, d->piece_cap, d->piece_count + count + 1) ||
        !TL_GROW(&d->pattern->alloc, d->marks, d->mark_cap, d->mark_count + 1))
        return tl_fail_memory(err, "marks");
    if (count > 0) memcpy(d->pieces + d->piece_count, pieces, (size_t)count * sizeof *pieces);
    d->marks[d->mark_count] = *mark;
    d->marks[d->mark_count].first = d->piece_count;
    d->marks[d->mark_count++].count = count;
    d->piece_count += count;
    return TL_OK;
}

void tl_drawing_panel_name(const tl_pattern *pattern, const char *name, char *out, size_t size)
{
    snprintf(out, size, "%.190s", name);
    for (int i = 2; tl_pattern_find_panel(pattern, out) >= 0; i++) snprintf(out, size, "%.180s-%d", name, i);
}

static tl_segment turned_over(tl_segment s)
{
    const tl_vec2 from = s.from, control = s.control[0];
    s.from = s.to, s.to = from;
    if (s.kind == TL_SEGMENT_CUBIC) s.control[0] = s.control[1], s.control[1] = control;
    s.bulge = -s.bulge;
    return s;
}

void tl_drawing_reverse(tl_segment *s, int32_t count)
{
    for (int32_t i = 0; i < (count + 1) / 2; i++) {
        const tl_segment a = turned_over(s[i]), b = turned_over(s[count - 1 - i]);
        s[i] = b, s[count - 1 - i] = a;
    }
}

double tl_drawing_area(const tl_segment *s, int32_t count)
{
    double area = 0;
    for (int32_t i = 0; i < count; i++) area += tl_segment_area(&s[i]);
    return area;
}

// --- edges -----------------------------------------------------------------------------------------------

// Are these two lines part of one flattened curve: a small turn between pieces of like length?
static bool smooth_joint(const tl_segment *a, const tl_segment *b)
{
    if (a->kind != TL_SEGMENT_LINE || b->kind != TL_SEGMENT_LINE) return false;
    const tl_vec2 u = tl_sub2(a->to, a->from), v = tl_sub2(b->to, b->from);
    const double turn = fabs(atan2(tl_cross2(u, v), tl_dot2(u, v))), most = 0.35;  // [rad], 20 degrees
    const double lu = tl_norm2(u), lv = tl_norm2(v);
    return turn < most && lu < 4 * lv && lv < 4 * lu;
}

int32_t tl_drawing_edges(const tl_segment *pieces, int32_t count, const int32_t *joined, int32_t *counts)
{
    enum { RUN_MIN = 8 };  // fewer lines in a row are meant as such
    int32_t edges = 0;
    for (int32_t i = 0; i < count;) {
        int32_t end = i + 1;
        while (end < count && smooth_joint(&pieces[end - 1], &pieces[end])) end++;
        if (end - i < RUN_MIN) {
            end = i + 1;
            while (end < count && joined && joined[end] == joined[i]) end++;
        }
        counts[edges++] = end - i;
        i = end;
    }
    return edges;
}

// --- where marks belong ----------------------------------------------------------------------------------

// The panel that a mark names, or that its first point lies in or, failing that, on (within `reach` metres). -1: none.
static int32_t panel_of(const tl_drawing *d, const tl_mark *m, double reach)
{
    if (m->panel[0]) return tl_pattern_find_panel(d->pattern, m->panel);
    if (m->count == 0) return -1;
    const tl_segment *s = &d->pieces[m->first];
    const tl_vec2 mid = tl_segment_point(s, 0.5);
    int32_t nearest = -1;
    double least = reach, area = INFINITY;
    for (int32_t i = 0; i < d->pattern->panel_count; i++) {  // the smallest that holds it
        const tl_panel *p = tl_pattern_panel(d->pattern, i);
        if (fabs(p->area) < area && tl_panel_contains(p, mid)) area = fabs(p->area), nearest = i;
    }
    if (nearest >= 0) return nearest;
    for (int32_t i = 0; i < d->pattern->panel_count; i++) {
        int32_t edge;
        double at;
        const double gap = tl_panel_nearest(tl_pattern_panel(d->pattern, i), s->from, &edge, &at);
        if (gap < least) least = gap, nearest = i;
    }
    return nearest;
}

static tl_status mark_fail(const tl_drawing *d, const tl_mark *m, tl_error *err, const char *what)
{
    const char *name = m->kind == TL_MARK_SEAM ? m->seam : m->label;
    return tl_fail(err, TL_BAD_INPUT, "%s:%lld: %s%s%s%s", d->path, (long long)m->line_number, name[0] ? "'" : "", name,
                   name[0] ? "' " : "", what);
}

static tl_status place_line(tl_drawing *d, const tl_mark *m, int32_t panel, tl_error *err)
{
    const tl_segment *s = &d->pieces[m->first];
    if (m->kind == TL_MARK_GRAIN)
        return tl_pattern_set_grain(d->pattern, panel, s->from, d->pieces[m->first + m->count - 1].to, err);
    return tl_pattern_add_line(d->pattern, panel, m->line, m->angle_deg, s, m->count, m->label, err);
}

static tl_status place_notch(tl_drawing *d, const tl_mark *m, int32_t panel, tl_error *err)
{
    tl_notch notch = {m->edge, m->from, m->depth};
    if (!m->exact) {
        const tl_segment *s = &d->pieces[m->first];
        const tl_panel *p = tl_pattern_panel(d->pattern, panel);
        tl_panel_nearest(p, s->from, &notch.edge, &notch.at);
        const double length = hypot(s->to.x - s->from.x, s->to.y - s->from.y);
        if (m->depth == 0 && length < 0.1) notch.depth = length;
    }
    return tl_pattern_add_notch(d->pattern, panel, &notch, err);
}

// The stretch of an outline between two points of it, forward.
static tl_seam_side stretch(const tl_panel *p, int32_t panel, const int32_t edge[2], const double at[2])
{
    const int32_t count = (edge[1] - edge[0] + p->edge_count) % p->edge_count + 1;
    double whole = 0, last = 0;
    for (int32_t i = 0; i < count; i++) {
        last = whole;
        whole += p->edges[(edge[0] + i) % p->edge_count].length;
    }
    return (tl_seam_side){panel, edge[0], count, at[0] * p->edges[edge[0]].length / whole,
                          (last + at[1] * p->edges[edge[1]].length) / whole};
}

// A point on a corner belongs to the edge that the stretch goes along.
static void settle_corner(const tl_panel *p, bool start, int32_t *edge, double *at)
{
    const double tight = 1e-6;  // of the edge
    if (*at < tight) *at = 0;
    if (*at > 1 - tight) *at = 1;
    if (start && *at == 1) *edge = (*edge + 1) % p->edge_count, *at = 0;
    if (!start && *at == 0) *edge = (*edge + p->edge_count - 1) % p->edge_count, *at = 1;
}

// Where a line drawn along an outline lies on it: of the two ways between its ends, that of its own length.
static tl_status find_side(tl_drawing *d, const tl_mark *m, int32_t panel, tl_seam_side *out, tl_error *err)
{
    const tl_panel *p = tl_pattern_panel(d->pattern, panel);
    const tl_vec2 end[2] = {d->pieces[m->first].from, d->pieces[m->first + m->count - 1].to};
    double length = 0, miss = INFINITY;
    for (int32_t i = 0; i < m->count; i++) length += tl_segment_length(&d->pieces[m->first + i]);
    int32_t found[2];
    double along[2];
    for (int i = 0; i < 2; i++)
        if (tl_panel_nearest(p, end[i], &found[i], &along[i]) > 0.005)
            return mark_fail(d, m, err, "is a seam, but does not end on the outline of its panel");
    for (int k = 0; k < 2; k++) {  // along the outline, against it
        int32_t edge[2] = {found[k], found[1 - k]};
        double at[2] = {along[k], along[1 - k]};
        settle_corner(p, true, &edge[0], &at[0]);
        settle_corner(p, false, &edge[1], &at[1]);
        if (edge[0] == edge[1] && at[0] >= at[1]) continue;
        tl_seam_side side = stretch(p, panel, edge, at);
        const double gap = fabs(tl_seam_side_length(d->pattern, &side) - length);
        if (gap >= miss) continue;
        miss = gap;
        if (k == 1) {
            const double from = side.from;
            side.from = side.to, side.to = from;
        }
        *out = side;
    }
    return isfinite(miss) ? TL_OK : mark_fail(d, m, err, "is a seam without length");
}

static tl_status side_of(tl_drawing *d, const tl_mark *m, tl_seam_side *out, tl_error *err)
{
    const double reach = 0.005;  // [m]
    const int32_t panel = panel_of(d, m, reach);
    if (panel < 0) return mark_fail(d, m, err, "is a seam, but lies on no panel");
    if (!m->exact) return find_side(d, m, panel, out, err);
    *out = (tl_seam_side){panel, m->edge, m->edge_count, m->from, m->to};
    return TL_OK;
}

// Marks of one name are the two sides of a seam, in the order in which the first of them come.
static tl_status make_seams(tl_drawing *d, tl_error *err)
{
    for (int32_t i = 0; i < d->mark_count; i++) {
        const tl_mark *m = &d->marks[i];
        if (m->kind != TL_MARK_SEAM) continue;
        int32_t other = -1, count = 0;
        bool first = true;
        for (int32_t j = 0; j < d->mark_count; j++) {
            if (d->marks[j].kind != TL_MARK_SEAM || strcmp(d->marks[j].seam, m->seam) != 0) continue;
            if (j < i) first = false;
            if (j > i && other < 0) other = j;
            count++;
        }
        if (!first) continue;
        if (count != 2) {
            char what[64];
            snprintf(what, sizeof what, "is a seam with %d side%s, must have two", count, count == 1 ? "" : "s");
            return mark_fail(d, m, err, what);
        }
        tl_seam seam = {.label = m->label, .turned = m->turned};
        TL_TRY(side_of(d, m, &seam.side[0], err));
        TL_TRY(side_of(d, &d->marks[other], &seam.side[1], err));
        TL_TRY(tl_pattern_add_seam(d->pattern, &seam, NULL, err));
    }
    return TL_OK;
}

tl_status tl_drawing_finish(tl_drawing *d, tl_error *err)
{
    const double reach = 0.02;  // [m]: marks are drawn on the panel or just beside it
    for (int32_t i = 0; i < d->mark_count; i++) {
        const tl_mark *m = &d->marks[i];
        if (m->kind == TL_MARK_SEAM) continue;
        const int32_t panel = panel_of(d, m, reach);
        if (panel < 0 && m->kind == TL_MARK_LINE && m->line == TL_LINE_INTERNAL && !m->panel[0])
            return mark_fail(d, m, err, "is open and lies in no panel (close the outline, or remove it)");
        if (panel < 0) return mark_fail(d, m, err, "belongs to no panel");
        if (m->kind == TL_MARK_DART)
            TL_TRY(tl_pattern_add_dart(d->pattern, panel, &(tl_dart){m->label, m->edge, m->from, m->to, m->apex}, err));
        else
            TL_TRY(m->kind == TL_MARK_NOTCH ? place_notch(d, m, panel, err) : place_line(d, m, panel, err));
    }
    return make_seams(d, err);
}
