// pattern/panel_outline.c: outlines cut into stretches that seams pair.

#include "pattern/panel_outline.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "math/elementary.h"
#include "math/vec3.h"

#define SAME_PLACE 1e-6  // [m]: stations closer than this are one
enum { ROUNDS_MAX = 30, STATIONS_MAX = 200000, PARTS_MAX = 100000 };

void tl_outlines_free(tl_outlines *o)
{
    for (int32_t i = 0; o->panels && i < o->panel_count; i++) {
        TL_FREE(&o->alloc, o->panels[i].station, o->panels[i].cap);
        if (o->panels[i].reach) TL_FREE(&o->alloc, o->panels[i].reach, o->pattern->panels[i].view.curve_count + 1);
    }
    if (o->panels) TL_FREE(&o->alloc, o->panels, o->panel_count);
    TL_FREE(&o->alloc, o->stretches, o->stretch_cap);
    TL_FREE(&o->alloc, o->links, o->link_cap);
    *o = (tl_outlines){0};
}

static const tl_panel *view(const tl_outlines *o, int32_t panel) { return &o->pattern->panels[panel].view; }

static double perimeter(const tl_outlines *o, int32_t panel)
{
    return o->panels[panel].reach[view(o, panel)->curve_count];
}

static double edge_start(const tl_outlines *o, int32_t panel, int32_t edge)
{
    return o->panels[panel].reach[view(o, panel)->edges[edge].curve];
}

static double edge_length(const tl_outlines *o, int32_t panel, int32_t edge)
{
    const tl_edge *e = &view(o, panel)->edges[edge];
    return o->panels[panel].reach[e->curve + e->curve_count] - o->panels[panel].reach[e->curve];
}

double tl_outline_place(const tl_outlines *o, int32_t panel, int32_t edge, double fraction)
{
    const double s = edge_start(o, panel, edge) + fraction * edge_length(o, panel, edge), whole = perimeter(o, panel);
    return s >= whole ? s - whole : s;
}

tl_vec2 tl_outline_point(const tl_outlines *o, int32_t panel, double s)
{
    const tl_panel *p = view(o, panel);
    const double *reach = o->panels[panel].reach;
    int32_t low = 0, high = p->curve_count;  // reach[low] <= s < reach[high]
    while (high - low > 1) {
        const int32_t mid = (low + high) / 2;
        if (reach[mid] <= s)
            low = mid;
        else
            high = mid;
    }
    const double rounding = 1e-12;  // [m]: corners come out to the bit
    if (s - reach[low] < rounding) return p->curves[low].from;
    if (reach[high] - s < rounding) return p->curves[low].to;
    return tl_segment_point(&p->curves[low], tl_segment_at(&p->curves[low], s - reach[low]));
}

// --- stations --------------------------------------------------------------------------------------------------

// First station not before s - SAME_PLACE.
static int32_t lower_bound(const tl_panel_outline *p, double s)
{
    int32_t low = 0, high = p->count;
    while (low < high) {
        const int32_t mid = (low + high) / 2;
        if (p->station[mid] < s - SAME_PLACE)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

int32_t tl_outline_station(const tl_outlines *o, int32_t panel, double s)
{
    const tl_panel_outline *p = &o->panels[panel];
    const double whole = perimeter(o, panel);
    const int32_t i = lower_bound(p, s);
    if (i < p->count && fabs(p->station[i] - s) <= SAME_PLACE) return i;
    if (p->count > 0 && whole - s <= SAME_PLACE && p->station[0] <= SAME_PLACE) return 0;
    return -1;
}

// True in *added: it was not there.
static tl_status add_station(tl_outlines *o, int32_t panel, double s, bool *added, tl_error *err)
{
    tl_panel_outline *p = &o->panels[panel];
    const double whole = perimeter(o, panel);
    if (s >= whole) s -= whole;
    if (s < 0) s += whole;
    *added = false;
    if (tl_outline_station(o, panel, s) >= 0) return TL_OK;
    if (p->count >= STATIONS_MAX)
        return tl_fail(err, TL_FAILED, "panel '%s': its seams cut each other into more than %d stretches",
                       view(o, panel)->name, STATIONS_MAX);
    if (!TL_GROW(&o->alloc, p->station, p->cap, p->count + 1)) return tl_fail_memory(err, "an outline");
    const int32_t i = lower_bound(p, s);
    memmove(p->station + i + 1, p->station + i, (size_t)(p->count - i) * sizeof *p->station);
    p->station[i] = s;
    p->count++;
    *added = true;
    return TL_OK;
}

static double side_length(const tl_outlines *o, const tl_seam_side *side)
{
    double sum = 0;
    for (int32_t i = 0; i < side->count; i++)
        sum += edge_length(o, side->panel, (side->edge + i) % view(o, side->panel)->edge_count);
    return sum;
}

static double side_place(const tl_outlines *o, const tl_seam_side *side, double fraction)
{
    const double g = fraction <= 0   ? side->from
                     : fraction >= 1 ? side->to
                                     : side->from + fraction * (side->to - side->from);
    const double s = edge_start(o, side->panel, side->edge) + g * side_length(o, side),
                 whole = perimeter(o, side->panel);
    return s >= whole ? s - whole : s;
}

bool tl_outline_on_side(const tl_outlines *o, const tl_seam_side *side, double s, double *fraction)
{
    const double whole = perimeter(o, side->panel), length = side_length(o, side);
    const double low = fmin(side->from, side->to) * length, high = fmax(side->from, side->to) * length;
    double d = s - edge_start(o, side->panel, side->edge);
    if (d < -SAME_PLACE) d += whole;
    // The start of a side that goes all the way round is its end as well; the start counts.
    if (d > whole - SAME_PLACE && low <= SAME_PLACE) d -= whole;
    if (d < low - SAME_PLACE || d > high + SAME_PLACE) return false;
    *fraction = fmin(fmax((d / length - side->from) / (side->to - side->from), 0), 1);
    return true;
}

// The stations of a seam's side carried over to the other.
static tl_status carry_over(tl_outlines *o, const tl_seam *seam, int from, bool *any, tl_error *err)
{
    const tl_seam_side *a = &seam->side[from], *b = &seam->side[1 - from];
    for (int32_t i = 0; i < o->panels[a->panel].count; i++) {
        double f;
        bool added = false;
        if (!tl_outline_on_side(o, a, o->panels[a->panel].station[i], &f)) continue;
        TL_TRY(add_station(o, b->panel, side_place(o, b, f), &added, err));
        if (added && a->panel == b->panel) i = -1;  // the list has moved
        *any = *any || added;
    }
    return TL_OK;
}

static bool sharp_joint(const tl_segment *a, const tl_segment *b)
{
    const tl_vec2 u = tl_segment_tangent(a, 1), v = tl_segment_tangent(b, 0);
    return fabs(tl_atan2(tl_cross2(u, v), tl_dot2(u, v))) > 0.35;  // [rad], 20 degrees
}

static tl_status own_stations(tl_outlines *o, int32_t panel, tl_error *err)
{
    const tl_panel *p = view(o, panel);
    bool added;
    for (int32_t e = 0; e < p->edge_count; e++) {
        TL_TRY(add_station(o, panel, edge_start(o, panel, e), &added, err));
        for (int32_t k = 1; k < p->edges[e].curve_count; k++) {
            const int32_t c = p->edges[e].curve + k;
            if (sharp_joint(&p->curves[c - 1], &p->curves[c]))
                TL_TRY(add_station(o, panel, o->panels[panel].reach[c], &added, err));
        }
    }
    for (int32_t i = 0; i < p->dart_count; i++) {
        TL_TRY(add_station(o, panel, tl_outline_place(o, panel, p->darts[i].edge, p->darts[i].from), &added, err));
        TL_TRY(add_station(o, panel, tl_outline_place(o, panel, p->darts[i].edge, p->darts[i].to), &added, err));
    }
    for (int32_t i = 0; i < p->line_count; i++) {  // where inner lines end on the outline
        const tl_line *l = &p->lines[i];
        if (l->kind != TL_LINE_INTERNAL && l->kind != TL_LINE_FOLD) continue;
        const tl_vec2 end[2] = {p->line_curves[l->curve].from, p->line_curves[l->curve + l->curve_count - 1].to};
        for (int k = 0; k < 2; k++) {
            int32_t edge;
            double at;
            if (tl_panel_nearest(p, end[k], &edge, &at) < TL_ON_OUTLINE)
                TL_TRY(add_station(o, panel, tl_outline_place(o, panel, edge, at), &added, err));
        }
    }
    return TL_OK;
}

// --- stretches -------------------------------------------------------------------------------------------------

int32_t tl_stretch_root(const tl_outlines *o, int32_t i)
{
    while (o->stretches[i].parent != i) i = o->stretches[i].parent;
    return i;
}

// Chords of a stretch by itself: by its length, and fine enough for its turns. Remeshing cuts outlines without moving
// them, so this is how near to the true curve they are at any refinement: a chord of an arc of `turn` over `length` in
// n parts is off by length turn / (8 n^2).
#define TURN_MAX 0.27     // a chord [rad], 15 degrees
#define SAGITTA_MAX 5e-4  // [m]: half of what a cloth of 1 mm keeps from a body
static int32_t own_parts(const tl_outlines *o, const tl_stretch *s, double edge)
{
    enum { SAMPLES = 24 };
    double turn = 0;
    tl_vec2 last = {0}, point = tl_outline_point(o, s->panel, s->from);
    const double whole = perimeter(o, s->panel);
    for (int i = 1; i <= SAMPLES; i++) {
        double at = s->from + s->length * i / SAMPLES;
        if (at > whole) at -= whole;
        const tl_vec2 next = tl_outline_point(o, s->panel, at), d = tl_sub2(next, point);
        if (i > 1) turn += fabs(tl_atan2(tl_cross2(last, d), tl_dot2(last, d)));
        last = d, point = next;
    }
    const double by_turn = fmax(turn / TURN_MAX, sqrt(s->length * turn / (8 * SAGITTA_MAX)));
    const double by_length = s->length / edge;
    return (int32_t)fmin(fmax(fmax(round(by_length), ceil(by_turn - 0.05)), 1), PARTS_MAX);
}

static tl_status make_stretches(tl_outlines *o, double edge, tl_error *err)
{
    for (int32_t p = 0; p < o->panel_count; p++) {
        tl_panel_outline *q = &o->panels[p];
        q->stretch = o->stretch_count;
        if (!TL_GROW(&o->alloc, o->stretches, o->stretch_cap, o->stretch_count + q->count))
            return tl_fail_memory(err, "stretches");
        for (int32_t i = 0; i < q->count; i++) {
            const double next = i + 1 < q->count ? q->station[i + 1] : q->station[0] + perimeter(o, p);
            tl_stretch s = {
                .panel = p, .from = q->station[i], .length = next - q->station[i], .parent = o->stretch_count};
            s.parts = own_parts(o, &s, edge);
            o->stretches[o->stretch_count++] = s;
        }
    }
    return TL_OK;
}

// The stretches of a seam's side from its start to its end into `out`; how many.
static int32_t side_stretches(const tl_outlines *o, const tl_seam_side *side, int32_t *out)
{
    const tl_panel_outline *p = &o->panels[side->panel];
    const int32_t first = tl_outline_station(o, side->panel, side_place(o, side, 0)),
                  last = tl_outline_station(o, side->panel, side_place(o, side, 1));
    const bool back = side->to < side->from;
    int32_t count = 0;
    for (int32_t i = first; count < p->count;) {
        const int32_t k = back ? (i + p->count - 1) % p->count : i;
        out[count++] = p->stretch + k;
        i = back ? k : (i + 1) % p->count;
        if (i == last) break;
    }
    return count;
}

static tl_status link_seam(tl_outlines *o, int32_t seam, int32_t *lists[2], tl_error *err)
{
    const tl_seam *s = &o->pattern->seams[seam];
    int32_t count[2];
    for (int k = 0; k < 2; k++) count[k] = side_stretches(o, &s->side[k], lists[k]);
    if (count[0] != count[1])
        return tl_fail(err, TL_FAILED, "seam %d between panel '%s', edge %d and panel '%s', edge %d: %s", seam,
                       view(o, s->side[0].panel)->name, s->side[0].edge, view(o, s->side[1].panel)->name,
                       s->side[1].edge,
                       "its corners lie within a micrometre of each other (move them together or apart)");
    const bool back[2] = {s->side[0].to < s->side[0].from, s->side[1].to < s->side[1].from};
    for (int32_t i = 0; i < count[0]; i++) {
        if (!TL_GROW(&o->alloc, o->links, o->link_cap, o->link_count + 1)) return tl_fail_memory(err, "seams");
        o->links[o->link_count++] = (tl_stretch_link){lists[0][i], lists[1][i], seam, back[0] != back[1], back[0]};
        const int32_t a = tl_stretch_root(o, lists[0][i]), b = tl_stretch_root(o, lists[1][i]);
        const int32_t parts =
            o->stretches[a].parts > o->stretches[b].parts ? o->stretches[a].parts : o->stretches[b].parts;
        const int32_t low = a < b ? a : b, high = a < b ? b : a;
        o->stretches[high].parent = low;
        o->stretches[low].parts = parts;
    }
    return TL_OK;
}

// Mouths of darts are no part of the outline that is filled.
static tl_status remove_mouths(tl_outlines *o, int32_t panel, tl_error *err)
{
    const tl_panel *p = view(o, panel);
    tl_panel_outline *q = &o->panels[panel];
    for (int32_t d = 0; d < p->dart_count; d++) {
        const int32_t first =
            tl_outline_station(o, panel, tl_outline_place(o, panel, p->darts[d].edge, p->darts[d].from));
        const int32_t last = tl_outline_station(o, panel, tl_outline_place(o, panel, p->darts[d].edge, p->darts[d].to));
        if (first < 0 || first == last)
            return tl_fail(err, TL_BAD_INPUT, "panel '%s', dart %d: its mouth is closed", p->name, d);
        for (int32_t i = first; i != last; i = (i + 1) % q->count) o->stretches[q->stretch + i].removed = true;
    }
    return TL_OK;
}

static tl_status make_links(tl_outlines *o, tl_error *err)
{
    int32_t most = 1;
    for (int32_t p = 0; p < o->panel_count; p++) {
        TL_TRY(remove_mouths(o, p, err));
        if (o->panels[p].count > most) most = o->panels[p].count;
    }
    int32_t *lists[2] = {TL_ALLOC(&o->alloc, int32_t, most), TL_ALLOC(&o->alloc, int32_t, most)};
    tl_status status = lists[0] && lists[1] ? TL_OK : tl_fail_memory(err, "seams");
    for (int32_t i = 0; status == TL_OK && i < o->pattern->seam_count; i++) status = link_seam(o, i, lists, err);
    for (int k = 0; k < 2; k++) TL_FREE(&o->alloc, lists[k], most);
    for (int32_t i = 0; status == TL_OK && i < o->link_count; i++) {
        const tl_stretch_link *l = &o->links[i];
        const tl_stretch *s = &o->stretches[o->stretches[l->a].removed ? l->a : l->b];
        if (s->removed)
            status = tl_fail(err, TL_BAD_INPUT,
                             "panel '%s': seam %d goes over the mouth of a dart (end the seam there, or draw the dart "
                             "into the outline)",
                             view(o, s->panel)->name, l->seam);
    }
    return status;
}

static tl_status make_all(tl_outlines *o, double edge, tl_error *err)
{
    for (int32_t i = 0; i < o->panel_count; i++) {
        const tl_panel *p = view(o, i);
        double *reach = o->panels[i].reach = TL_ALLOC(&o->alloc, double, p->curve_count + 1);
        if (!reach) return tl_fail_memory(err, "an outline");
        reach[0] = 0;
        for (int32_t k = 0; k < p->curve_count; k++) reach[k + 1] = reach[k] + tl_segment_length(&p->curves[k]);
    }
    bool added;
    for (int32_t i = 0; i < o->panel_count; i++) TL_TRY(own_stations(o, i, err));
    for (int32_t i = 0; i < o->pattern->seam_count; i++)
        for (int k = 0; k < 4; k++) {
            const tl_seam_side *side = &o->pattern->seams[i].side[k >> 1];
            TL_TRY(add_station(o, side->panel, side_place(o, side, k & 1), &added, err));
        }
    bool any = true;
    for (int round = 0; any; round++) {
        if (round == ROUNDS_MAX)
            return tl_fail(err, TL_FAILED, "the seams of the pattern cut each other without an end");
        any = false;
        for (int32_t i = 0; i < o->pattern->seam_count; i++)
            for (int k = 0; k < 2; k++) TL_TRY(carry_over(o, &o->pattern->seams[i], k, &any, err));
    }
    TL_TRY(make_stretches(o, edge, err));
    return make_links(o, err);
}

tl_status tl_outlines_make(const tl_allocator *alloc, const tl_pattern *pattern, double edge, tl_outlines *out,
                           tl_error *err)
{
    *out = (tl_outlines){.alloc = *alloc, .pattern = pattern, .panel_count = pattern->panel_count};
    out->panels = TL_CALLOC(alloc, tl_panel_outline, pattern->panel_count);
    if (!out->panels) return tl_fail_memory(err, "outlines");
    return make_all(out, edge, err);
}
