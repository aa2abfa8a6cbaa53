// scene/pattern_read.c: our own pattern files, by the tables of keys.

#include <math.h>
#include <stdio.h>

#include "base/fail.h"
#include "math/elementary.h"
#include "scene/pattern_file.h"
#include "scene/pattern_keys.h"

// One piece by its keys; `from` is where the last one ended.
static tl_status make_segment(const tl_node *node, const tl_segment_file *f, tl_vec2 from, tl_segment *out,
                              tl_error *err)
{
    const tl_node control = tl_node_key(node, "control");
    *out = (tl_segment){TL_SEGMENT_LINE, from, f->to, {{0}}, 0};
    if (isfinite(f->bulge) + isfinite(f->radius) + (control.value != NULL) > 1)
        return tl_node_fail(node, false, err, "has more than one of bulge, radius and control (keep one)");
    if (isfinite(f->bulge)) {
        out->kind = TL_SEGMENT_ARC;
        out->bulge = f->bulge;
    } else if (isfinite(f->radius)) {
        const double chord = tl_hypot(f->to.x - from.x, f->to.y - from.y), slack = 1e-9;
        if (2 * f->radius < chord * (1 - slack))
            return tl_node_fail(node, false, err, "radius %g m cannot span %g m (at least half of that is needed)",
                                f->radius, chord);
        *out = tl_segment_arc(from, f->to, f->radius, f->large, !f->clockwise);
    } else if (control.value) {
        const size_t n = json_array_size(control.value);
        if (n > 2) return tl_node_fail(&control, true, err, "must be one point or two");
        out->kind = n == 1 ? TL_SEGMENT_QUADRATIC : TL_SEGMENT_CUBIC;
        const tl_key_def point = {.type = TL_KEY_VEC2, .min = -1000, .max = 1000, .doc = "a point"};
        for (size_t i = 0; i < n; i++) {
            const tl_node entry = tl_node_at(&control, i);
            TL_TRY(tl_key_read(&entry, &point, &out->control[i], err));
        }
    }
    return TL_OK;
}

static tl_status read_path(const tl_node *path, tl_vec2 from, tl_pattern_reader *r, tl_error *err)
{
    const size_t count = json_array_size(path->value);
    r->count = 0;
    if (count > TL_PATTERN_CURVES_MAX || !TL_GROW(&r->pattern->alloc, r->segments, r->cap, count))
        return tl_fail_memory(err, "pieces of a path");
    for (size_t i = 0; i < count; i++) {
        const tl_node entry = tl_node_at(path, i);
        tl_segment_file f = {0};
        TL_TRY(tl_table_read(&entry, &tl_segment_table, &f, err));
        TL_TRY(make_segment(&entry, &f, from, &r->segments[i], err));
        from = f.to;
        r->count++;
    }
    return TL_OK;
}

static tl_status read_edge(const tl_node *node, int32_t panel, tl_vec2 *from, tl_pattern_reader *r, tl_error *err)
{
    tl_edge_file f = {0};
    TL_TRY(tl_table_read(node, &tl_edge_table, &f, err));
    const tl_node to = tl_node_key(node, "to"), path = tl_node_key(node, "path");
    if (!to.value == !path.value)
        return tl_node_fail(node, false, err,
                            to.value ? "has both to and path (keep one)" : "lacks 'to' (where it ends) or 'path'");
    if (to.value) {
        if (!TL_GROW(&r->pattern->alloc, r->segments, r->cap, 1)) return tl_fail_memory(err, "an edge");
        TL_TRY(make_segment(node, &f.segment, *from, &r->segments[0], err));
        r->count = 1;
    } else {
        TL_TRY(read_path(&path, *from, r, err));
    }
    if (tl_pattern_add_edge(r->pattern, panel, r->segments, r->count, f.label, NULL, err) != TL_OK)
        return tl_node_prefix(node, err);
    *from = r->segments[r->count - 1].to;
    return TL_OK;
}

static tl_status read_line(const tl_node *node, int32_t panel, tl_pattern_reader *r, tl_error *err)
{
    tl_line_file f = {0};
    TL_TRY(tl_table_read(node, &tl_line_table, &f, err));
    const tl_node path = tl_node_key(node, "path");
    if (path.value) {
        TL_TRY(read_path(&path, f.start, r, err));
    } else {
        if (f.kind != TL_LINE_DRILL) return tl_node_fail(node, false, err, "lacks 'path' (its pieces in a row)");
        if (!TL_GROW(&r->pattern->alloc, r->segments, r->cap, 1)) return tl_fail_memory(err, "a mark");
        r->segments[0] = (tl_segment){TL_SEGMENT_LINE, f.start, f.start, {{0}}, 0};
        r->count = 1;
    }
    const tl_line_kind kind = (tl_line_kind)f.kind;
    if (tl_pattern_add_line(r->pattern, panel, kind, f.angle, r->segments, r->count, f.label, err) != TL_OK)
        return tl_node_prefix(node, err);
    return TL_OK;
}

static tl_status read_notch(const tl_node *node, int32_t panel, tl_pattern_reader *r, tl_error *err)
{
    tl_notch_file f = {0};
    TL_TRY(tl_table_read(node, &tl_notch_table, &f, err));
    if (tl_pattern_add_notch(r->pattern, panel, &(tl_notch){(int32_t)f.edge, f.at, f.depth}, err) != TL_OK)
        return tl_node_prefix(node, err);
    return TL_OK;
}

static tl_status read_dart(const tl_node *node, int32_t panel, tl_pattern_reader *r, tl_error *err)
{
    tl_dart_file f = {0};
    TL_TRY(tl_table_read(node, &tl_dart_table, &f, err));
    if (tl_pattern_add_dart(r->pattern, panel, &(tl_dart){f.label, (int32_t)f.edge, f.from, f.to, f.apex}, err) !=
        TL_OK)
        return tl_node_prefix(node, err);
    return TL_OK;
}

// Every entry of the list at `key`, which may be absent.
static tl_status read_each(const tl_node *node, const char *key, int32_t panel, tl_pattern_reader *r,
                           tl_status (*read)(const tl_node *, int32_t, tl_pattern_reader *, tl_error *), tl_error *err)
{
    const tl_node list = tl_node_key(node, key);
    for (size_t i = 0; i < json_array_size(list.value); i++) {
        const tl_node entry = tl_node_at(&list, i);
        TL_TRY(read(&entry, panel, r, err));
    }
    return TL_OK;
}

static tl_status read_grain(const tl_node *node, int32_t panel, tl_pattern_reader *r, tl_error *err)
{
    const tl_node grain = tl_node_key(node, "grain");
    if (!grain.value) return TL_OK;
    if (json_array_size(grain.value) != 2) return tl_node_fail(&grain, true, err, "must be two points, [from, to]");
    tl_vec2 at[2];
    const tl_key_def point = {.type = TL_KEY_VEC2, .min = -1000, .max = 1000, .doc = "a point"};
    for (size_t i = 0; i < 2; i++) {
        const tl_node entry = tl_node_at(&grain, i);
        TL_TRY(tl_key_read(&entry, &point, &at[i], err));
    }
    if (tl_pattern_set_grain(r->pattern, panel, at[0], at[1], err) != TL_OK) return tl_node_prefix(&grain, err);
    return TL_OK;
}

static tl_status read_panel(const tl_node *node, int32_t unused, tl_pattern_reader *r, tl_error *err)
{
    (void)unused;
    tl_panel_file f = {0};
    int32_t panel = 0;
    TL_TRY(tl_table_read(node, &tl_panel_table, &f, err));
    if (tl_pattern_add_panel(r->pattern, f.name, f.label, &panel, err) != TL_OK) return tl_node_prefix(node, err);
    TL_TRY(tl_pattern_set_layer(r->pattern, panel, (int32_t)f.layer, err));
    const tl_node placement = tl_node_key(node, "placement"), edges = tl_node_key(node, "edges");
    if (placement.value) {
        const tl_placement p = {f.placement.origin, f.placement.rotation, f.placement.bend};
        TL_TRY(tl_pattern_set_placement(r->pattern, panel, &p, err));
    }
    TL_TRY(read_grain(node, panel, r, err));
    tl_vec2 from = f.start;
    for (size_t i = 0; i < json_array_size(edges.value); i++) {
        const tl_node edge = tl_node_at(&edges, i);
        TL_TRY(read_edge(&edge, panel, &from, r, err));
    }
    TL_TRY(read_each(node, "lines", panel, r, read_line, err));
    TL_TRY(read_each(node, "notches", panel, r, read_notch, err));
    return read_each(node, "darts", panel, r, read_dart, err);
}

static tl_status read_side(const tl_node *node, tl_pattern_reader *r, tl_seam_side *out, tl_error *err)
{
    tl_seam_side_file f = {0};
    TL_TRY(tl_table_read(node, &tl_seam_side_table, &f, err));
    const int32_t panel = tl_pattern_find_panel(r->pattern, f.panel);
    const tl_node name = tl_node_key(node, "panel"), edge = tl_node_key(node, "edge");
    if (panel < 0) return tl_node_fail(&name, true, err, "must name a panel of the pattern");
    const int32_t edges = tl_pattern_panel(r->pattern, panel)->edge_count;
    if (f.edge >= edges)
        return tl_node_fail(&edge, true, err, "is no edge of panel '%s', which has edges 0 to %d", f.panel, edges - 1);
    *out = (tl_seam_side){panel, (int32_t)f.edge, (int32_t)f.count, f.from, f.to};
    return TL_OK;
}

static tl_status read_seam(const tl_node *node, int32_t unused, tl_pattern_reader *r, tl_error *err)
{
    (void)unused;
    tl_seam_file f = {0};
    TL_TRY(tl_table_read(node, &tl_seam_table, &f, err));
    const tl_node sides = tl_node_key(node, "sides");
    if (json_array_size(sides.value) != 2) return tl_node_fail(&sides, true, err, "must be two");
    tl_seam seam = {.label = f.label, .turned = f.turned};
    for (size_t k = 0; k < 2; k++) {
        const tl_node side = tl_node_at(&sides, k);
        TL_TRY(read_side(&side, r, &seam.side[k], err));
    }
    if (tl_pattern_add_seam(r->pattern, &seam, NULL, err) != TL_OK) return tl_node_prefix(node, err);
    return TL_OK;
}

static tl_status read_grade(const tl_node *node, int32_t measure, tl_pattern_reader *r, tl_error *err)
{
    tl_grade_file f = {0};
    TL_TRY(tl_table_read(node, &tl_grade_table, &f, err));
    const tl_node from = tl_node_key(node, "from"), to = tl_node_key(node, "to");
    if (!from.value != !to.value)
        return tl_node_fail(from.value ? &from : &to, false, err, "give both from and to, or neither");
    const tl_grade grade = {f.panels, f.along, from.value ? f.from : 0, to.value ? f.to : 0, f.share, f.keep - 1};
    if (from.value && !(f.to > f.from)) return tl_node_fail(&to, true, err, "must be above from %g", f.from);
    return tl_pattern_add_grade(r->pattern, measure, &grade, err);
}

static tl_status read_measure(const tl_node *node, int32_t unused, tl_pattern_reader *r, tl_error *err)
{
    (void)unused;
    tl_measure_file f = {0};
    TL_TRY(tl_table_read(node, &tl_measure_table, &f, err));
    TL_TRY(tl_pattern_add_measure(r->pattern, f.name, f.value, f.unit, err));
    return read_each(node, "grade", tl_pattern_measure_count(r->pattern) - 1, r, read_grade, err);
}

static tl_status read_all(const tl_node *root, tl_pattern_reader *r, tl_error *err)
{
    tl_pattern_file f = {0};
    TL_TRY(tl_table_read(root, &tl_pattern_table, &f, err));
    TL_TRY(tl_pattern_set_name(r->pattern, f.name, err));
    TL_TRY(read_each(root, "measures", 0, r, read_measure, err));
    TL_TRY(read_each(root, "panels", 0, r, read_panel, err));
    return read_each(root, "seams", 0, r, read_seam, err);
}

tl_status tl_pattern_json_read(const tl_node *root, tl_pattern *out, tl_error *err)
{
    tl_pattern_reader r = {.pattern = out};
    const tl_status status = read_all(root, &r, err);
    TL_FREE(&out->alloc, r.segments, r.cap);
    return status;
}

tl_status tl_pattern_seams_read(const tl_node *root, tl_pattern *out, tl_error *err)
{
    tl_pattern_reader r = {.pattern = out};
    char none = 0;
    TL_TRY(tl_table_read(root, &tl_seams_table, &none, err));
    return read_each(root, "seams", 0, &r, read_seam, err);
}
