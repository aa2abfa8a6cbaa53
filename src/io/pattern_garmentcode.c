// io/pattern_garmentcode.c: patterns of GarmentCode and of the older Garment-Pattern-Generator, both JSON.
//
// Panels have vertices and edges between them; stitches pair edges. The traps: units_in_meter is 100 or 300 (or
// anything); a curve is a bare pair (old), or of type quadratic, cubic or circle; control points are relative to their
// edge, or absolute; panels run either way round, which says which side is the right one; stitched edges run against
// each other unless marked "right_wrong"; and rotations are Rz Ry Rx or Rx Ry Rz, whichever brings stitched edges
// together.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "io/pattern_io.h"
#include "math/vec3.h"

typedef struct gc_reader {
    tl_pattern *pattern;
    double unit;      ///< of the file [m]
    bool absolute;    ///< control points are in the panel's frame
    int32_t **place;  ///< per panel and edge of the file: edge * 2 + 1 if it runs the other way; see chain_edges
    int32_t *place_count;
    tl_arena arena;
} gc_reader;

bool tl_garmentcode_is(const json_t *root)
{
    return json_is_object(json_object_get(json_object_get(root, "pattern"), "panels"));
}

static tl_status read_numbers(const tl_node *node, size_t count, double *out, tl_error *err)
{
    if (!json_is_array(node->value) || json_array_size(node->value) != count)
        return tl_node_fail(node, true, err, "must be a list of %zu numbers", count);
    for (size_t i = 0; i < count; i++) {
        const tl_node entry = tl_node_at(node, i);
        out[i] = json_number_value(entry.value);
        if (!json_is_number(entry.value) || !isfinite(out[i]))
            return tl_node_fail(&entry, true, err, "must be a finite number");
    }
    return TL_OK;
}

static tl_status read_index(const tl_node *node, size_t limit, const char *of, int32_t *out, tl_error *err)
{
    const double x = json_number_value(node->value);
    if (!json_is_number(node->value) || x != floor(x) || x < 0 || x >= (double)limit)
        return tl_node_fail(node, true, err, "must be a whole number in [0, %zu), a %s", limit, of);
    *out = (int32_t)x;
    return TL_OK;
}

// --- curves ----------------------------------------------------------------------------------------------

static tl_status read_control(const gc_reader *r, const tl_node *node, tl_segment *s, int k, tl_error *err)
{
    double p[2];
    TL_TRY(read_numbers(node, 2, p, err));
    const tl_vec2 along = tl_sub2(s->to, s->from), left = {-along.y, along.x};
    s->control[k] = r->absolute ? tl_mul2(r->unit, (tl_vec2){p[0], p[1]})
                                : tl_add2(s->from, tl_add2(tl_mul2(p[0], along), tl_mul2(p[1], left)));
    return TL_OK;
}

static tl_status read_circle(gc_reader *r, const tl_node *params, const char *panel, tl_segment *s, tl_error *err)
{
    if (!json_is_array(params->value) || json_array_size(params->value) != 3)
        return tl_node_fail(params, true, err, "must be [radius, large arc 0 or 1, to the right 0 or 1]");
    double v[3];
    for (size_t i = 0; i < 3; i++) {
        const tl_node entry = tl_node_at(params, i);
        v[i] = json_is_true(entry.value) ? 1 : json_number_value(entry.value);
        if ((!json_is_number(entry.value) && !json_is_boolean(entry.value)) || !isfinite(v[i]) || (i == 0 && v[i] == 0))
            return tl_node_fail(&entry, true, err, i == 0 ? "must be a radius other than 0" : "must be 0 or 1");
    }
    const double chord = tl_norm2(tl_sub2(s->to, s->from)), radius = fabs(v[0]) * r->unit;
    const double slack = 1e-6;  // rounding of whoever wrote the file
    if (2 * radius < chord * (1 - slack))
        tl_pattern_add_note(r->pattern,
                            "panel '%s': an arc of radius %.4g m cannot span %.4g m; a half circle is taken", panel,
                            radius, chord);
    *s = tl_segment_arc(s->from, s->to, radius, v[1] != 0, v[2] != 0);  // to the right of the way: it turns left
    return TL_OK;
}

static tl_status read_curvature(gc_reader *r, const tl_node *node, const char *panel, tl_segment *s, tl_error *err)
{
    if (!node->value || json_is_null(node->value)) return TL_OK;
    if (json_is_array(node->value)) {
        if (json_array_size(node->value) == 0) return TL_OK;
        s->kind = TL_SEGMENT_QUADRATIC;
        return read_control(r, node, s, 0, err);
    }
    if (!json_is_object(node->value))
        return tl_node_fail(node, true, err, "must be a pair of numbers or an object with type and params");
    const tl_node type = tl_node_key(node, "type"), params = tl_node_key(node, "params");
    const char *word = json_string_value(type.value);
    if (word && strcmp(word, "circle") == 0) return read_circle(r, &params, panel, s, err);
    const size_t need = !word ? 0 : strcmp(word, "quadratic") == 0 ? 1 : strcmp(word, "cubic") == 0 ? 2 : 0;
    if (need == 0) return tl_node_fail(&type, true, err, "must be \"quadratic\", \"cubic\" or \"circle\"");
    if (!json_is_array(params.value) || json_array_size(params.value) != need)
        return tl_node_fail(&params, true, err, "must be a list of %zu point%s", need, need > 1 ? "s" : "");
    s->kind = need == 1 ? TL_SEGMENT_QUADRATIC : TL_SEGMENT_CUBIC;
    for (size_t i = 0; i < need; i++) {
        const tl_node point = tl_node_at(&params, i);
        TL_TRY(read_control(r, &point, s, (int)i, err));
    }
    return TL_OK;
}

// --- panels ----------------------------------------------------------------------------------------------

// The edges of a panel in the order of the outline. Files list them so; where not, they are followed by their ends.
static tl_status chain_edges(gc_reader *r, const tl_node *edges, const char *panel, int32_t (*end)[2], int32_t count,
                             int32_t *place, tl_error *err)
{
    bool in_order = true;
    for (int32_t i = 0; i < count && in_order; i++) in_order = end[i][1] == end[(i + 1) % count][0];
    for (int32_t i = 0; i < count; i++) place[i] = 2 * i;
    if (in_order) return TL_OK;
    enum { MOST = 5000 };  // followed by looking at all for each
    if (count > MOST)
        return tl_node_fail(edges, false, err, "panel '%s': %d edges that are not in order", panel, count);
    for (int32_t i = 0; i < count; i++) place[i] = -1;
    int32_t at = end[0][1], last = 0;
    place[0] = 0;
    for (int32_t k = 1; k < count; k++) {
        int32_t next = -1;
        for (int32_t pass = 0; pass < 2 && next < 0; pass++)  // those that run our way come first
            for (int32_t i = 1; i < count && next < 0; i++)
                if (place[i] < 0 && end[i][pass] == at) next = i, place[i] = 2 * k + pass;
        if (next < 0) {
            const tl_node bad = tl_node_at(edges, (size_t)last);
            return tl_node_fail(&bad, false, err, "panel '%s', edge %d: open: no edge goes on from its end, vertex %d",
                                panel, last, at);
        }
        at = end[next][place[next] & 1 ? 0 : 1];
        last = next;
    }
    if (at != end[0][0]) {
        const tl_node bad = tl_node_at(edges, (size_t)last);
        return tl_node_fail(&bad, false, err,
                            "panel '%s', edge %d: open: it ends at vertex %d, edge 0 starts at vertex %d", panel, last,
                            at, end[0][0]);
    }
    tl_pattern_add_note(r->pattern,
                        "panel '%s': its edges are not in the order of the outline; they are followed by their ends",
                        panel);
    return TL_OK;
}

static tl_segment turned_over(tl_segment s)
{
    const tl_vec2 from = s.from, control = s.control[0];
    s.from = s.to, s.to = from;
    if (s.kind == TL_SEGMENT_CUBIC) s.control[0] = s.control[1], s.control[1] = control;
    s.bulge = -s.bulge;
    return s;
}

static tl_status read_vertices(gc_reader *r, const tl_node *panel, tl_vec2 **out, size_t *count, tl_error *err)
{
    const tl_node list = tl_node_key(panel, "vertices");
    *count = json_array_size(list.value);
    if (*count < 1)
        return tl_node_fail(list.value ? &list : panel, false, err, "must have a list of vertices [[x, y], ..]");
    *out = TL_SCRATCH(&r->arena, tl_vec2, *count);
    if (!*out) return tl_fail_memory(err, "vertices");
    for (size_t i = 0; i < *count; i++) {
        const tl_node entry = tl_node_at(&list, i);
        double p[2];
        TL_TRY(read_numbers(&entry, 2, p, err));
        (*out)[i] = tl_mul2(r->unit, (tl_vec2){p[0], p[1]});
    }
    return TL_OK;
}

static tl_status add_edges(gc_reader *r, const tl_node *list, int32_t panel, const tl_vec2 *at, int32_t (*end)[2],
                           tl_error *err)
{
    const char *name = tl_pattern_panel(r->pattern, panel)->name;
    const int32_t count = r->place_count[panel], *place = r->place[panel];
    int32_t *order = TL_SCRATCH(&r->arena, int32_t, count);
    if (!order) return tl_fail_memory(err, "edges");
    for (int32_t i = 0; i < count; i++) order[place[i] / 2] = i;
    for (int32_t k = 0; k < count; k++) {
        const int32_t i = order[k];
        const tl_node edge = tl_node_at(list, (size_t)i), curve = tl_node_key(&edge, "curvature"),
                      label = tl_node_key(&edge, "label");
        tl_segment s = {TL_SEGMENT_LINE, at[end[i][0]], at[end[i][1]], {{0}}, 0};
        if (s.from.x == s.to.x && s.from.y == s.to.y) {
            char what[280];
            snprintf(what, sizeof what, "panel '%s', edge %d", name, i);
            return tl_node_fail(&edge, false, err, "%s: has length 0: vertices %d and %d are both at (%g, %g) m", what,
                                end[i][0], end[i][1], s.from.x, s.from.y);
        }
        TL_TRY(read_curvature(r, &curve, name, &s, err));
        if (place[i] & 1) s = turned_over(s);
        const char *text = json_string_value(label.value);
        if (tl_pattern_add_edge(r->pattern, panel, &s, 1, text ? text : "", NULL, err) != TL_OK)
            return tl_node_prefix(&edge, err);
    }
    return TL_OK;
}

static tl_status read_edges(gc_reader *r, const tl_node *node, int32_t panel, tl_error *err)
{
    tl_vec2 *at = NULL;
    size_t vertices = 0;
    TL_TRY(read_vertices(r, node, &at, &vertices, err));
    const tl_node list = tl_node_key(node, "edges");
    const size_t count = json_array_size(list.value);
    const char *name = tl_pattern_panel(r->pattern, panel)->name;
    if (count < 1 || count > TL_PATTERN_CURVES_MAX)
        return tl_node_fail(list.value ? &list : node, false, err, "panel '%s' must have a list of edges", name);
    int32_t(*end)[2] = tl_arena_bytes(&r->arena, count, sizeof *end);
    r->place[panel] = TL_SCRATCH(&r->arena, int32_t, count);
    r->place_count[panel] = (int32_t)count;
    if (!end || !r->place[panel]) return tl_fail_memory(err, "edges");
    for (size_t i = 0; i < count; i++) {
        const tl_node edge = tl_node_at(&list, i), ends = tl_node_key(&edge, "endpoints");
        if (!json_is_array(ends.value) || json_array_size(ends.value) != 2)
            return tl_node_fail(ends.value ? &ends : &edge, false, err,
                                "panel '%s', edge %zu: must have endpoints [a, b]", name, i);
        for (size_t k = 0; k < 2; k++) {
            const tl_node index = tl_node_at(&ends, k);
            TL_TRY(read_index(&index, vertices, "vertex of the panel", &end[i][k], err));
        }
    }
    TL_TRY(chain_edges(r, &list, name, end, (int32_t)count, r->place[panel], err));
    return add_edges(r, &list, panel, at, end, err);
}

static tl_status read_panel(gc_reader *r, const tl_node *node, tl_error *err)
{
    const tl_node label = tl_node_key(node, "label");
    int32_t panel = 0;
    if (!json_is_object(node->value)) return tl_node_fail(node, true, err, "must be a panel { .. }");
    const char *text = json_string_value(label.value);
    if (tl_pattern_add_panel(r->pattern, node->key, text ? text : "", &panel, err) != TL_OK)
        return tl_node_prefix(node, err);
    TL_TRY(read_edges(r, node, panel, err));
    const tl_node move = tl_node_key(node, "translation"), turn = tl_node_key(node, "rotation");
    if (!move.value && !turn.value) return TL_OK;
    double t[3] = {0}, d[3] = {0};
    if (move.value) TL_TRY(read_numbers(&move, 3, t, err));
    if (turn.value) TL_TRY(read_numbers(&turn, 3, d, err));
    const tl_placement place = {tl_mul3(r->unit, (tl_vec3){t[0], t[1], t[2]}), {d[0], d[1], d[2]}, 0};
    return tl_pattern_set_placement(r->pattern, panel, &place, err);
}

// Panels in the order of panel_order, those that it leaves out after them as they come.
static tl_status read_panels(gc_reader *r, const tl_node *pattern, tl_error *err)
{
    const tl_node panels = tl_node_key(pattern, "panels"), order = tl_node_key(pattern, "panel_order");
    const size_t count = json_object_size(panels.value);
    r->place = TL_SCRATCH(&r->arena, int32_t *, count + 1);
    r->place_count = TL_SCRATCH(&r->arena, int32_t, count + 1);
    if (!r->place || !r->place_count) return tl_fail_memory(err, "panels");
    for (size_t i = 0; i < json_array_size(order.value); i++) {
        const char *name = json_string_value(json_array_get(order.value, i));
        if (!name || tl_pattern_find_panel(r->pattern, name) >= 0) continue;
        const tl_node panel = tl_node_key(&panels, name);
        if (panel.value)
            TL_TRY(read_panel(r, &panel, err));
        else
            tl_pattern_add_note(r->pattern, "panel_order names '%.60s', which is no panel", name);
    }
    const char *name;
    json_t *value;
    json_object_foreach(panels.value, name, value)
    {
        if (tl_pattern_find_panel(r->pattern, name) >= 0) continue;
        const tl_node panel = tl_node_key(&panels, name);
        TL_TRY(read_panel(r, &panel, err));
    }
    return TL_OK;
}

// --- stitches --------------------------------------------------------------------------------------------

static tl_status read_side(gc_reader *r, const tl_node *node, tl_seam_side *out, tl_error *err)
{
    if (!json_is_object(node->value))
        return tl_node_fail(node, true, err, "must be {\"panel\": NAME, \"edge\": NUMBER}");
    const tl_node panel = tl_node_key(node, "panel"), edge = tl_node_key(node, "edge");
    const char *name = json_string_value(panel.value);
    const int32_t p = name ? tl_pattern_find_panel(r->pattern, name) : -1;
    if (p < 0)
        return tl_node_fail(panel.value ? &panel : node, panel.value != NULL, err, "must name a panel of the pattern");
    const double x = json_number_value(edge.value);
    if (!json_is_number(edge.value) || x != floor(x) || x < 0 || x >= r->place_count[p])
        return tl_node_fail(edge.value ? &edge : node, edge.value != NULL, err,
                            "is no edge of panel '%s', which has edges 0 to %d", name, r->place_count[p] - 1);
    const int32_t place = r->place[p][(int32_t)x];
    *out = (tl_seam_side){p, place / 2, 1, place & 1, !(place & 1)};
    return TL_OK;
}

static tl_status read_stitch(gc_reader *r, const tl_node *node, tl_error *err)
{
    const size_t count = json_array_size(node->value);
    if (count < 2) return tl_node_fail(node, true, err, "must be a pair of edges");
    tl_seam seam = {.label = ""};
    for (size_t k = 0; k < 2; k++) {
        const tl_node side = tl_node_at(node, k);
        TL_TRY(read_side(r, &side, &seam.side[k], err));
    }
    for (size_t k = 2; k < count; k++) {
        const tl_node more = tl_node_at(node, k);
        const char *word = json_string_value(more.value);
        if (json_is_object(more.value))
            return tl_node_fail(node, false, err, "sews %zu edges together, must be two (split it into pairs)", count);
        if (word && strcmp(word, "right_wrong") == 0)
            seam.turned = 1;
        else if (word)
            tl_pattern_add_note(r->pattern, "seam %d: '%.60s' has no meaning here", r->pattern->seam_count, word);
    }
    if (!seam.turned) {  // right sides together: the second edge runs against the first
        const double from = seam.side[1].from;
        seam.side[1].from = seam.side[1].to, seam.side[1].to = from;
    }
    if (tl_pattern_add_seam(r->pattern, &seam, NULL, err) != TL_OK) return tl_node_prefix(node, err);
    return TL_OK;
}

// --- which rotation --------------------------------------------------------------------------------------

// The angles of Rz Ry Rx that make the same rotation as Rx Ry Rz of the given ones.
static tl_vec3 other_order(tl_vec3 deg)
{
    const double rad = 3.14159265358979323846 / 180;
    const double cx = cos(rad * deg.x), sx = sin(rad * deg.x), cy = cos(rad * deg.y), sy = sin(rad * deg.y),
                 cz = cos(rad * deg.z), sz = sin(rad * deg.z);
    // Rx Ry Rz = [cy cz, -cy sz, sy; cx sz + sx sy cz, cx cz - sx sy sz, -sx cy; sx sz - cx sy cz, sx cz + cx sy sz, cx
    // cy]
    const double m00 = cy * cz, m10 = cx * sz + sx * sy * cz, m20 = sx * sz - cx * sy * cz;
    const double m21 = sx * cz + cx * sy * sz, m22 = cx * cy, m11 = cx * cz - sx * sy * sz, m12 = -sx * cy;
    const double y = asin(fmax(-1, fmin(1, -m20)));
    const double tight = 1e-9;  // cos y: below this x and z turn about one axis
    if (hypot(m00, m10) < tight) return (tl_vec3){atan2(-m12, m11) / rad, y / rad, 0};
    return (tl_vec3){atan2(m21, m22) / rad, y / rad, atan2(m10, m00) / rad};
}

// Sum over seams of the distances between the ends that are sewn together.
static double seam_gaps(const gc_reader *r, const tl_placement *place)
{
    double sum = 0;
    for (int32_t i = 0; i < r->pattern->seam_count; i++)
        for (int end = 0; end < 2; end++) {
            tl_vec3 at[2];
            for (int k = 0; k < 2; k++) {
                const tl_seam_side *side = &r->pattern->seams[i].side[k];
                at[k] = tl_placement_point(&place[side->panel], tl_seam_side_point(r->pattern, side, end));
            }
            sum += tl_norm3(tl_sub3(at[0], at[1]));
        }
    return sum;
}

// Seams whose ends lie much nearer the other way round: a panel may be mirrored, or the stitch is meant so.
static void note_mirrored(const gc_reader *r)
{
    tl_pattern *p = r->pattern;
    for (int32_t i = 0; i < p->seam_count; i++) {
        const tl_seam_side *side = p->seams[i].side;
        if (!p->panels[side[0].panel].view.placed || !p->panels[side[1].panel].view.placed) continue;
        tl_vec3 at[2][2];
        for (int k = 0; k < 4; k++)
            at[k >> 1][k & 1] = tl_placement_point(&p->panels[side[k >> 1].panel].view.placement,
                                                   tl_seam_side_point(p, &side[k >> 1], k & 1));
        const double sewn = tl_norm3(tl_sub3(at[0][0], at[1][0])) + tl_norm3(tl_sub3(at[0][1], at[1][1]));
        const double other = tl_norm3(tl_sub3(at[0][0], at[1][1])) + tl_norm3(tl_sub3(at[0][1], at[1][0]));
        const double clear = 0.5;
        if (other >= clear * sewn) continue;
        tl_pattern_add_note(
            p,
            "seam %d: panel '%s', edge %d and panel '%s', edge %d lie %.3g m apart as sewn, and %.3g m the other "
            "way round (is a panel mirrored? toile convert --turn-seam %d turns it)",
            i, p->panels[side[0].panel].view.name, side[0].edge, p->panels[side[1].panel].view.name, side[1].edge, sewn,
            other, i);
    }
}

static tl_status choose_rotation(gc_reader *r, tl_error *err)
{
    tl_pattern *p = r->pattern;
    tl_placement *own = TL_SCRATCH(&r->arena, tl_placement, p->panel_count + 1);
    tl_placement *other = TL_SCRATCH(&r->arena, tl_placement, p->panel_count + 1);
    if (!own || !other) return tl_fail_memory(err, "placements");
    bool differ = false;
    for (int32_t i = 0; i < p->panel_count; i++) {
        own[i] = other[i] = p->panels[i].view.placement;
        const tl_vec3 d = own[i].rotation_deg;
        other[i].rotation_deg = other_order(d);
        for (int k = 0; k < 2; k++) {
            const tl_vec2 unit = {k == 0, k == 1};
            const tl_vec3 gap = tl_sub3(tl_placement_point(&own[i], unit), tl_placement_point(&other[i], unit));
            if (tl_norm3(gap) > 1e-9) differ = true;
        }
    }
    if (!differ) return TL_OK;  // turns about one axis at most
    const double a = seam_gaps(r, own), b = seam_gaps(r, other);
    const double clear = 0.01;  // the usual reading stays unless the other is better by this much
    const bool swap = b < (1 - clear) * a;
    tl_pattern_add_note(p, "rotations are read as %s: seams are then %.3g m apart in all, and %.3g m with %s",
                        swap ? "Rx Ry Rz" : "Rz Ry Rx", swap ? b : a, swap ? a : b, swap ? "Rz Ry Rx" : "Rx Ry Rz");
    for (int32_t i = 0; swap && i < p->panel_count; i++)
        if (p->panels[i].view.placed) p->panels[i].view.placement = other[i];
    return TL_OK;
}

// --- the whole -------------------------------------------------------------------------------------------

static tl_status read_properties(gc_reader *r, const tl_node *root, tl_error *err)
{
    const tl_node properties = tl_node_key(root, "properties"), unit = tl_node_key(&properties, "units_in_meter"),
                  coords = tl_node_key(&properties, "curvature_coords");
    r->unit = 0.01;
    if (unit.value) {
        const double per_metre = json_number_value(unit.value);
        if (!json_is_number(unit.value) || !(per_metre > 0) || !isfinite(per_metre))
            return tl_node_fail(&unit, true, err, "must be a number > 0, e.g. 100 for centimetres");
        r->unit = 1 / per_metre;
    } else {
        tl_pattern_add_note(r->pattern, "units_in_meter is not given; centimetres are taken");
    }
    const char *word = json_string_value(coords.value);
    if (word && strcmp(word, "absolute") == 0)
        r->absolute = true;
    else if (coords.value && !(word && strcmp(word, "relative") == 0))
        return tl_node_fail(&coords, true, err, "must be \"relative\" or \"absolute\"");
    return TL_OK;
}

static tl_status read_all(gc_reader *r, const tl_node *root, tl_error *err)
{
    TL_TRY(read_properties(r, root, err));
    const tl_node pattern = tl_node_key(root, "pattern"), stitches = tl_node_key(&pattern, "stitches");
    TL_TRY(read_panels(r, &pattern, err));
    if (stitches.value && !json_is_array(stitches.value))
        return tl_node_fail(&stitches, true, err, "must be a list of pairs of edges");
    for (size_t i = 0; i < json_array_size(stitches.value); i++) {
        const tl_node stitch = tl_node_at(&stitches, i);
        TL_TRY(read_stitch(r, &stitch, err));
    }
    TL_TRY(choose_rotation(r, err));
    note_mirrored(r);
    return TL_OK;
}

tl_status tl_garmentcode_read(const tl_node *root, tl_pattern *out, tl_error *err)
{
    gc_reader r = {.pattern = out};
    tl_arena_init(&r.arena, out->alloc);
    const tl_status status = read_all(&r, root, err);
    tl_arena_free(&r.arena);
    return status;
}
