// io/pattern_garmentcode_write.c: a pattern as GarmentCode's JSON, NAME_specification.json.
//
// GarmentCode sews whole edges to whole edges, and an edge is one curve. Outlines are therefore cut where seams begin
// and end, where a curve of one side ends also on the other, and at darts, which become edges to their point and back,
// sewn together. Centimetres; control points relative to their edge. tl_pattern_left_out says what has no place there.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "io/pattern_io.h"
#include "math/elementary.h"
#include "math/vec3.h"
#include "pattern/panel_outline.h"

#define SAME_PLACE 1e-6  // [m]: cuts closer than this are one, as stations are

/// What becomes of a stretch of the outline.
typedef struct gc_stretch {
    int32_t first, count;  ///< its edges in the file
    int32_t link;          ///< of the outlines; -1: not sewn
} gc_stretch;

typedef struct gc_writer {
    const tl_pattern *pattern;
    tl_outlines outlines;
    tl_arena arena;
    gc_stretch *stretch;
    json_t *vertices, *edges, *stitches;  ///< of the panel at work; of all
    bool failed;                          ///< of memory
} gc_writer;

static void set(gc_writer *w, json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0) w->failed = true;
}

static void append(gc_writer *w, json_t *list, json_t *value)
{
    if (json_array_append_new(list, value) != 0) w->failed = true;
}

// Numbers to 1e-10 of the unit: what lies behind is rounding of the way to centimetres.
static json_t *rounded(double x)
{
    const double fine = 1e10, y = round(x * fine) / fine;
    return json_real(y == 0 ? 0 : y);
}

static json_t *numbers(gc_writer *w, const double *x, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++) append(w, list, rounded(x[i]));
    return list;
}

static json_t *centimetres(gc_writer *w, tl_vec2 p) { return numbers(w, (double[]){100 * p.x, 100 * p.y}, 2); }

// --- parts of curves -------------------------------------------------------------------------------------

// The point of a Bezier curve's polar form.
static tl_vec2 blossom(const tl_segment *c, const double t[3])
{
    const int degree = c->kind == TL_SEGMENT_CUBIC ? 3 : 2;
    tl_vec2 p[4] = {c->from, c->control[0], degree == 3 ? c->control[1] : c->to, c->to};
    for (int k = 0; k < degree; k++)
        for (int i = 0; i + k < degree; i++) p[i] = tl_add2(tl_mul2(1 - t[k], p[i]), tl_mul2(t[k], p[i + 1]));
    return p[0];
}

// The curve from t0 to t1, its ends as given.
static tl_segment part_of(const tl_segment *c, double t0, double t1, tl_vec2 from, tl_vec2 to)
{
    tl_segment s = {.kind = c->kind, .from = from, .to = to};
    if (c->kind == TL_SEGMENT_ARC) {
        const double half = (t1 - t0) * tl_atan(c->bulge);  // a quarter of the angle, which goes evenly with t
        s.bulge = tl_sin(half) / tl_cos(half);
    } else if (c->kind == TL_SEGMENT_QUADRATIC) {
        s.control[0] = blossom(c, (double[]){t0, t1, 0});
    } else if (c->kind == TL_SEGMENT_CUBIC) {
        s.control[0] = blossom(c, (double[]){t0, t0, t1});
        s.control[1] = blossom(c, (double[]){t0, t1, t1});
    }
    return s;
}

static json_t *curvature(gc_writer *w, const tl_segment *s)
{
    const tl_vec2 along = tl_sub2(s->to, s->from);
    json_t *curve = json_object(), *params = json_array();
    const bool arc = s->kind == TL_SEGMENT_ARC, cubic = s->kind == TL_SEGMENT_CUBIC;
    if (arc) {
        const double b = fabs(s->bulge);
        append(w, params, rounded(100 * tl_norm2(along) * (1 + b * b) / (4 * b)));
        append(w, params, json_integer(b > 1));
        append(w, params, json_integer(s->bulge > 0));
    }
    for (int k = 0; k < (arc ? 0 : cubic ? 2 : 1); k++) {
        const tl_vec2 d = tl_sub2(s->control[k], s->from);
        const double square = tl_dot2(along, along);
        append(w, params, numbers(w, (double[]){tl_dot2(along, d) / square, tl_cross2(along, d) / square}, 2));
    }
    set(w, curve, "type", json_string(arc ? "circle" : cubic ? "cubic" : "quadratic"));
    set(w, curve, "params", params);
    return curve;
}

// --- outlines --------------------------------------------------------------------------------------------

// The next edge; it starts at a vertex of its own and ends where the next one starts.
static void add_edge(gc_writer *w, const tl_segment *s, const char *label)
{
    json_t *edge = json_object(), *ends = json_array();
    const json_int_t i = (json_int_t)json_array_size(w->edges);
    append(w, w->vertices, centimetres(w, s->from));
    append(w, ends, json_integer(i));
    append(w, ends, json_integer(i + 1));  // the last one's is set right by close_loop
    set(w, edge, "endpoints", ends);
    if (s->kind != TL_SEGMENT_LINE && !(s->kind == TL_SEGMENT_ARC && s->bulge == 0))
        set(w, edge, "curvature", curvature(w, s));
    if (label[0]) set(w, edge, "label", json_string(label));
    append(w, w->edges, edge);
}

static void close_loop(gc_writer *w)
{
    const size_t count = json_array_size(w->edges);
    json_t *ends = json_object_get(json_array_get(w->edges, count - 1), "endpoints");
    if (json_array_set_new(ends, 1, json_integer(0)) != 0) w->failed = true;
}

static void stitch(gc_writer *w, int32_t panel_a, int32_t a, int32_t panel_b, int32_t b, bool reversed)
{
    json_t *pair = json_array();
    const int32_t panel[2] = {panel_a, panel_b}, edge[2] = {a, b};
    for (int k = 0; k < 2; k++) {
        json_t *side = json_object();
        set(w, side, "panel", json_string(w->pattern->panels[panel[k]].view.name));
        set(w, side, "edge", json_integer(edge[k]));
        append(w, pair, side);
    }
    if (!reversed) append(w, pair, json_string("right_wrong"));
    append(w, w->stitches, pair);
}

// Where curves join within a stretch, as fractions of its length, behind the `count` that are there.
static int32_t joints(const gc_writer *w, const tl_stretch *s, bool reversed, double *out, int32_t count)
{
    const tl_panel *p = &w->pattern->panels[s->panel].view;
    const double *reach = w->outlines.panels[s->panel].reach;
    for (int32_t c = 1; c < p->curve_count; c++) {
        const double f = (reach[c] - s->from) / s->length;
        if (f * s->length > SAME_PLACE && (1 - f) * s->length > SAME_PLACE) out[count++] = reversed ? 1 - f : f;
    }
    return count;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The fractions at which a stretch is cut, its ends among them; NULL: no memory.
static double *cuts_of(gc_writer *w, int32_t stretch, int32_t *count)
{
    const tl_outlines *o = &w->outlines;
    const tl_stretch *s = &o->stretches[stretch], *other = NULL;
    bool reversed = false;
    if (w->stretch[stretch].link >= 0) {
        const tl_stretch_link *l = &o->links[w->stretch[stretch].link];
        other = &o->stretches[l->a == stretch ? l->b : l->a], reversed = l->reversed;
    }
    const int32_t most = w->pattern->panels[s->panel].view.curve_count +
                         (other ? w->pattern->panels[other->panel].view.curve_count : 0) + 2;
    double *cut = TL_SCRATCH(&w->arena, double, most);
    if (!cut) return NULL;
    int32_t n = joints(w, s, false, cut, 0), kept = 0;
    if (other) n = joints(w, other, reversed, cut, n);
    cut[n++] = 0, cut[n++] = 1;
    qsort(cut, (size_t)n, sizeof *cut, by_size);
    for (int32_t i = 0; i < n; i++)
        if (kept == 0 || (cut[i] - cut[kept - 1]) * s->length > SAME_PLACE || cut[i] == 1) cut[kept++] = cut[i];
    *count = kept;
    return cut;
}

// The edges of a stretch that is part of the outline.
static bool add_stretch(gc_writer *w, int32_t index)
{
    const tl_stretch *s = &w->outlines.stretches[index];
    const tl_panel *p = &w->pattern->panels[s->panel].view;
    const double *reach = w->outlines.panels[s->panel].reach, whole = reach[p->curve_count];
    int32_t count, edge = 0, curve = 0;
    const double *cut = cuts_of(w, index, &count);
    if (!cut) return false;
    tl_vec2 at = tl_outline_point(&w->outlines, s->panel, s->from);
    for (int32_t i = 0; i + 1 < count; i++) {
        const double from = s->from + cut[i] * s->length, to = fmin(s->from + cut[i + 1] * s->length, whole);
        while (curve + 1 < p->curve_count && reach[curve + 1] <= 0.5 * (from + to)) curve++;
        while (p->edges[edge].curve + p->edges[edge].curve_count <= curve) edge++;
        const tl_segment *c = &p->curves[curve];
        const double t0 = from - reach[curve] < SAME_PLACE ? 0 : tl_segment_at(c, from - reach[curve]);
        const double t1 = reach[curve + 1] - to < SAME_PLACE ? 1 : tl_segment_at(c, to - reach[curve]);
        const tl_vec2 next = t1 == 1 ? c->to : tl_segment_point(c, t1);
        const tl_segment part = part_of(c, t0, t1, at, next);
        add_edge(w, &part, p->edges[edge].label);
        at = next;
    }
    return true;
}

// The legs of the dart whose mouth starts with this stretch, sewn together.
static void add_dart(gc_writer *w, const tl_stretch *s)
{
    const tl_panel *p = &w->pattern->panels[s->panel].view;
    for (int32_t d = 0; d < p->dart_count; d++) {
        const tl_dart *dart = &p->darts[d];
        const double from = tl_outline_place(&w->outlines, s->panel, dart->edge, dart->from);
        if (fabs(from - s->from) > SAME_PLACE) continue;
        const tl_vec2 a = tl_outline_point(&w->outlines, s->panel, s->from);
        const tl_vec2 b = tl_edge_point(p, dart->edge, dart->to);
        const int32_t leg = (int32_t)json_array_size(w->edges);
        add_edge(w, &(tl_segment){.kind = TL_SEGMENT_LINE, .from = a, .to = dart->apex}, "");
        add_edge(w, &(tl_segment){.kind = TL_SEGMENT_LINE, .from = dart->apex, .to = b}, "");
        stitch(w, s->panel, leg, s->panel, leg + 1, true);
    }
}

static tl_status add_panel(gc_writer *w, int32_t panel, json_t *panels, tl_error *err)
{
    const tl_panel *p = &w->pattern->panels[panel].view;
    const tl_panel_outline *q = &w->outlines.panels[panel];
    json_t *object = json_object();
    const tl_placement *at = &p->placement;
    const double move[3] = {100 * at->origin.x, 100 * at->origin.y, 100 * at->origin.z};
    const double turn[3] = {at->rotation_deg.x, at->rotation_deg.y, at->rotation_deg.z};
    w->vertices = json_array(), w->edges = json_array();
    if (p->placed) set(w, object, "translation", numbers(w, move, 3));
    if (p->placed) set(w, object, "rotation", numbers(w, turn, 3));
    set(w, object, "vertices", w->vertices);
    set(w, object, "edges", w->edges);
    if (p->label[0]) set(w, object, "label", json_string(p->label));
    set(w, panels, p->name, object);
    if (w->failed) return tl_fail_memory(err, "a panel");
    for (int32_t i = q->stretch; i < q->stretch + q->count; i++) {
        w->stretch[i].first = (int32_t)json_array_size(w->edges);
        if (w->outlines.stretches[i].removed)
            add_dart(w, &w->outlines.stretches[i]);
        else if (!add_stretch(w, i))
            return tl_fail_memory(err, "an outline");
        w->stretch[i].count = (int32_t)json_array_size(w->edges) - w->stretch[i].first;
    }
    close_loop(w);
    return TL_OK;
}

// --- the whole -------------------------------------------------------------------------------------------

static void add_seams(gc_writer *w)
{
    const tl_outlines *o = &w->outlines;
    for (int32_t i = 0; i < o->link_count; i++) {
        const tl_stretch_link *l = &o->links[i];
        const gc_stretch *a = &w->stretch[l->a], *b = &w->stretch[l->b];
        for (int32_t k = 0; k < a->count && k < b->count; k++)
            stitch(w, o->stretches[l->a].panel, a->first + k, o->stretches[l->b].panel,
                   l->reversed ? b->first + b->count - 1 - k : b->first + k, l->reversed);
    }
}

static tl_status write_all(gc_writer *w, json_t *root, tl_error *err)
{
    json_t *pattern = json_object(), *panels = json_object(), *order = json_array(), *properties = json_object();
    set(w, root, "pattern", pattern);
    set(w, pattern, "panels", panels);
    set(w, pattern, "stitches", w->stitches = json_array());
    set(w, pattern, "panel_order", order);
    set(w, root, "parameters", json_object());
    set(w, root, "parameter_order", json_array());
    set(w, root, "properties", properties);
    set(w, properties, "curvature_coords", json_string("relative"));
    set(w, properties, "normalize_panel_translation", json_false());
    set(w, properties, "normalized_edge_loops", json_true());
    set(w, properties, "units_in_meter", json_integer(100));
    const tl_outlines *o = &w->outlines;
    w->stretch = TL_SCRATCH(&w->arena, gc_stretch, o->stretch_count + 1);
    if (!w->stretch || w->failed) return tl_fail_memory(err, "a pattern");
    for (int32_t i = 0; i < o->stretch_count; i++) w->stretch[i] = (gc_stretch){0, 0, -1};
    for (int32_t i = 0; i < o->link_count; i++) w->stretch[o->links[i].a].link = w->stretch[o->links[i].b].link = i;
    for (int32_t i = 0; i < w->pattern->panel_count; i++) {
        append(w, order, json_string(w->pattern->panels[i].view.name));
        TL_TRY(add_panel(w, i, panels, err));
    }
    add_seams(w);
    return w->failed ? tl_fail_memory(err, "a pattern") : TL_OK;
}

tl_status tl_garmentcode_write(tl_buf *buf, const tl_pattern *pattern, tl_error *err)
{
    gc_writer w = {.pattern = pattern};
    json_t *root = json_object();
    tl_arena_init(&w.arena, pattern->alloc);
    const double coarse = 1e3;  // [m]: chords do not matter here
    tl_status status =
        root ? tl_outlines_make(&pattern->alloc, pattern, coarse, &w.outlines, err) : tl_fail_memory(err, "a pattern");
    if (status == TL_OK) status = write_all(&w, root, err);
    if (status == TL_OK) tl_json_write(buf, root), tl_buf_text(buf, "\n");
    if (root) tl_outlines_free(&w.outlines);
    tl_arena_free(&w.arena);
    json_decref(root);
    return status;
}

void tl_garmentcode_left_out(tl_buf *buf, const tl_pattern *pattern)
{
    int32_t count[6] = {0};
    static const char *const names[6] = {"inner line", "hole", "notch mark", "grain line", "layer", "bent placement"};
    for (int32_t i = 0; i < pattern->panel_count; i++) {
        const tl_panel *p = &pattern->panels[i].view;
        for (int32_t k = 0; k < p->line_count; k++) count[p->lines[k].kind == TL_LINE_HOLE]++;
        count[2] += p->notch_count, count[3] += p->has_grain, count[4] += p->layer != 0;
        count[5] += p->placed && p->placement.bend != 0;
    }
    const char *before = "";
    for (int k = 0; k < 6; k++) {
        if (count[k] == 0) continue;
        tl_buf_printf(buf, "%s%d %s%s", before, count[k], names[k], count[k] > 1 ? "s" : "");
        before = ", ";
    }
    if (pattern->measure_count > 0) tl_buf_printf(buf, "%smeasures", before);
}
