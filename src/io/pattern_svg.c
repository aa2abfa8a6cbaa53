// io/pattern_svg.c: sewing patterns drawn as SVG: one panel per closed path.
//
// Lengths come from width, height and viewBox of the drawing (96 px to the inch where no unit is given); y points up
// in patterns and down in drawings. Groups and their transforms are followed. What a path is, it may say itself:
// data-line (internal, fold, hole, cut, drill), data-grain, data-notch, data-seam; names are data-name, inkscape:label
// or id.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "io/pattern_drawing.h"
#include "io/svg_path.h"
#include "math/vec3.h"

typedef struct svg_reader {
    tl_xml xml;
    tl_drawing drawing;
    tl_affine stack[TL_XML_MAX_DEPTH + 1];
    char panel[TL_XML_MAX_DEPTH + 1][TL_PATTERN_NAME_MAX + 1];  ///< data-panel of the groups around
    int32_t skip_depth;                                         ///< > 0: inside of something that is not drawn
    bool found_root;
    bool local;  ///< panels have coordinates of their own and may lie on each other
} svg_reader;

static tl_status svg_fail(svg_reader *r, tl_error *err, const char *what)
{
    char id[80];
    tl_xml_text(&r->xml, "id", id, sizeof id);
    return tl_fail(err, TL_BAD_INPUT, "%s:%lld: <%.*s>%s%s%s %s", r->xml.path, (long long)tl_xml_line(&r->xml),
                   (int)r->xml.name.size, r->xml.name.text, id[0] ? " '" : "", id, id[0] ? "'" : "", what);
}

// A length with its unit [m]; `px`: metres per user unit. False: it cannot be read, or is relative.
static bool read_length(tl_slice text, double px, double *out)
{
    static const struct {
        const char *unit;
        double metres;
    } units[] = {{"mm", 1e-3},       {"cm", 1e-2}, {"in", 0.0254}, {"pt", 0.0254 / 72},
                 {"pc", 0.0254 / 6}, {"m", 1},     {"Q", 2.5e-4}};
    if (!text.text) return false;
    const char *at = text.text, *end = at + text.size;
    double x;
    if (!tl_svg_number(&at, end, &x)) return false;
    const tl_slice unit = {at, (size_t)(end - at)};
    *out = x * px;
    if (unit.size == 0 || tl_slice_is(unit, "px")) return true;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (tl_slice_is(unit, units[i].unit)) {
            *out = x * units[i].metres;
            return true;
        }
    return false;
}

static tl_status read_root(svg_reader *r, tl_error *err)
{
    const double px = 0.0254 / 96;
    const tl_slice box = tl_xml_value(&r->xml, "viewBox");
    double w = 0, h = 0, v[4];
    const bool has_w = read_length(tl_xml_value(&r->xml, "width"), px, &w),
               has_h = read_length(tl_xml_value(&r->xml, "height"), px, &h);
    double scale = px;
    if (box.text) {
        const char *at = box.text, *end = at + box.size;
        for (int i = 0; i < 4; i++)
            if (!tl_svg_number(&at, end, &v[i])) return svg_fail(r, err, "viewBox must be four numbers");
        if (!(v[2] > 0 && v[3] > 0)) return svg_fail(r, err, "viewBox must have a width and a height > 0");
        if (has_w || has_h) scale = has_w && has_h ? fmin(w / v[2], h / v[3]) : has_w ? w / v[2] : h / v[3];
    }
    if (!has_w && !has_h)
        tl_pattern_add_note(r->drawing.pattern, "the drawing says no size; one unit is taken as 1/96 inch");
    if (!(scale > 0) || !isfinite(scale)) return svg_fail(r, err, "width and height must be > 0");
    r->stack[r->xml.depth] = (tl_affine){scale, 0, 0, -scale, 0, 0};
    r->found_root = true;
    return TL_OK;
}

// --- what an element says of itself ----------------------------------------------------------------------

static bool read_reals(const tl_xml *xml, const char *key, int count, double *out)
{
    const tl_slice text = tl_xml_value(xml, key);
    const char *at = text.text;
    for (int i = 0; i < count; i++)
        if (!text.text || !tl_svg_number(&at, text.text + text.size, &out[i])) return false;
    return true;
}

static bool hidden(const tl_xml *xml)
{
    const tl_slice style = tl_xml_value(xml, "style");
    return tl_slice_is(tl_xml_value(xml, "display"), "none") ||
           tl_slice_is(tl_xml_value(xml, "visibility"), "hidden") ||
           tl_slice_is(tl_xml_value(xml, "data-toile"), "decoration") ||
           (style.text && (memmem(style.text, style.size, "display:none", 12) ||
                           memmem(style.text, style.size, "display: none", 13)));
}

// Is the element no outline but a mark? Fills in what it says.
static bool read_mark(svg_reader *r, tl_mark *m)
{
    static const char *const lines[] = {"internal", "fold", "hole", "cut", "drill"};
    const tl_xml *xml = &r->xml;
    char word[96];
    double v[4];
    *m = (tl_mark){.line_number = tl_xml_line(xml), .edge_count = 1, .to = 1};
    if (!tl_xml_text(xml, "data-panel", m->panel, sizeof m->panel))
        memcpy(m->panel, r->panel[xml->depth], sizeof m->panel);
    tl_xml_text(xml, "data-label", m->label, sizeof m->label);
    if (tl_xml_text(xml, "data-line", word, sizeof word)) {
        m->kind = TL_MARK_LINE;
        for (int i = 0; i < 5; i++)
            if (strcmp(word, lines[i]) == 0) m->line = (tl_line_kind)i;
        if (read_reals(xml, "data-angle", 1, v)) m->angle_deg = v[0];
        return true;
    }
    const bool edge = read_reals(xml, "data-edge", 1, v) && v[0] >= 0 && v[0] < 1e9;
    if (edge) m->edge = (int32_t)v[0];
    if (tl_xml_value(xml, "data-grain").text) return m->kind = TL_MARK_GRAIN, true;
    if (tl_xml_value(xml, "data-notch").text) {
        m->kind = TL_MARK_NOTCH;
        m->exact = edge && read_reals(xml, "data-at", 1, &m->from);
        read_reals(xml, "data-depth", 1, &m->depth);
        return true;
    }
    double dart[4];
    if (edge && read_reals(xml, "data-dart", 4, dart)) {
        m->kind = TL_MARK_DART;
        m->from = dart[0], m->to = dart[1], m->apex = (tl_vec2){dart[2], dart[3]};
        return true;
    }
    if (!tl_xml_text(xml, "data-seam", m->seam, sizeof m->seam)) return false;
    m->kind = TL_MARK_SEAM;
    m->turned = tl_xml_value(xml, "data-turned").text != NULL;
    if (!m->label[0]) memcpy(m->label, m->seam, sizeof m->label);
    if (strcmp(m->label, "-") == 0) m->label[0] = 0;  // a number that says nothing
    m->exact = edge;
    if (read_reals(xml, "data-count", 1, v) && v[0] >= 1 && v[0] < 1e9) m->edge_count = (int32_t)v[0];
    if (read_reals(xml, "data-from", 1, v)) m->from = v[0];
    if (read_reals(xml, "data-to", 1, v)) m->to = v[0];
    return true;
}

// --- panels ----------------------------------------------------------------------------------------------

// Exact bulges, which an arc by radius cannot say near a half circle.
static void take_bulges(const svg_reader *r, tl_segment *pieces, int32_t count)
{
    const tl_slice text = tl_xml_value(&r->xml, "data-bulge");
    const char *at = text.text;
    for (int32_t i = 0; text.text && i < count; i++) {
        double b;
        if (!tl_svg_number(&at, text.text + text.size, &b)) return;
        const double near = 1e-6 * fmax(1, fabs(b));
        if (pieces[i].kind == TL_SEGMENT_ARC && fabs(pieces[i].bulge - b) < near) pieces[i].bulge = b;
    }
}

// How many pieces each edge has: as the file says (data-edges), or one each but for flattened curves.
static int32_t edge_counts(svg_reader *r, const tl_svg_path *path, int32_t first, int32_t count, int32_t *counts)
{
    const tl_slice text = tl_xml_value(&r->xml, "data-edges");
    const char *at = text.text;
    int32_t edges = 0, sum = 0;
    double n;
    while (text.text && tl_svg_number(&at, text.text + text.size, &n) && n >= 1 && n <= count - sum) {
        counts[edges++] = (int32_t)n;
        sum += (int32_t)n;
    }
    if (sum == count && edges > 0) return edges;
    return tl_drawing_edges(path->items + first, count, path->joined + first, counts);
}

// Entry `index` of a list "a|b|c".
static void list_entry(const tl_xml *xml, const char *key, const char *separators, int32_t index, char *out,
                       size_t size)
{
    char text[4096];
    out[0] = 0;
    if (!tl_xml_text(xml, key, text, sizeof text)) return;
    const char *p = text;
    for (; index > 0 && *p; index--) {
        p += strcspn(p, separators);
        if (*p) p++;
    }
    if (index == 0) snprintf(out, size, "%.*s", (int)strcspn(p, separators), p);
}

static tl_status add_outline(svg_reader *r, tl_svg_path *path, int32_t first, int32_t count, int32_t panel,
                             tl_error *err)
{
    tl_pattern *pattern = r->drawing.pattern;
    int32_t *counts = TL_ALLOC(&pattern->alloc, int32_t, count);
    if (!counts) return tl_fail_memory(err, "edges");
    // Drawings of others say nothing by their direction: counter-clockwise, the right side up. Lists keep the file's
    // order.
    const bool turn = !tl_xml_value(&r->xml, "data-edges").text && tl_drawing_area(path->items + first, count) < 0;
    if (turn) {
        tl_drawing_reverse(path->items + first, count);
        for (int32_t i = 0; i < count / 2; i++) {
            const int32_t j = path->joined[first + i];
            path->joined[first + i] = path->joined[first + count - 1 - i], path->joined[first + count - 1 - i] = j;
        }
    }
    const int32_t edges = edge_counts(r, path, first, count, counts);
    tl_status status = TL_OK;
    for (int32_t e = 0, at = first; status == TL_OK && e < edges; at += counts[e++]) {
        char label[96], seam[96];
        list_entry(&r->xml, "data-labels", "|", turn ? edges - 1 - e : e, label, sizeof label);
        list_entry(&r->xml, "data-seams", " ,\t\n", turn ? edges - 1 - e : e, seam, sizeof seam);
        status = tl_pattern_add_edge(pattern, panel, path->items + at, counts[e], label, NULL, err);
        if (status != TL_OK || !seam[0] || strcmp(seam, "-") == 0) continue;
        tl_mark m = {TL_MARK_SEAM, .exact = true, .edge = e, .edge_count = 1, .line_number = tl_xml_line(&r->xml)};
        // The second edge of a name runs against the first, unless it is written "+name".
        bool second = false;
        const char *name = seam[0] == '+' ? seam + 1 : seam;
        for (int32_t i = 0; i < r->drawing.mark_count; i++)
            second =
                second || (r->drawing.marks[i].kind == TL_MARK_SEAM && strcmp(r->drawing.marks[i].seam, name) == 0);
        const bool back = second && seam[0] != '+';
        m.from = back, m.to = !back;
        snprintf(m.seam, sizeof m.seam, "%s", name);
        memcpy(m.label, m.seam, sizeof m.label);
        snprintf(m.panel, sizeof m.panel, "%s", tl_pattern_panel(pattern, panel)->name);
        status = tl_drawing_add(&r->drawing, &m, NULL, 0, err);
    }
    TL_FREE(&pattern->alloc, counts, count);
    return status;
}

static tl_status add_panel(svg_reader *r, tl_svg_path *path, int32_t first, int32_t count, int32_t *out, tl_error *err)
{
    tl_pattern *pattern = r->drawing.pattern;
    char name[TL_PATTERN_NAME_MAX + 1], unique[TL_PATTERN_NAME_MAX + 1], label[200];
    if ((!tl_xml_text(&r->xml, "data-name", name, sizeof name) || !name[0]) &&
        (!tl_xml_text(&r->xml, "inkscape:label", name, sizeof name) || !name[0]) &&
        (!tl_xml_text(&r->xml, "id", name, sizeof name) || !name[0]))
        snprintf(name, sizeof name, "panel-%d", pattern->panel_count);
    tl_drawing_panel_name(pattern, name, unique, sizeof unique);
    tl_xml_text(&r->xml, "data-label", label, sizeof label);
    TL_TRY(tl_pattern_add_panel(pattern, unique, label, out, err));
    TL_TRY(add_outline(r, path, first, count, *out, err));
    double v[7];
    if (read_reals(&r->xml, "data-layer", 1, v) && fabs(v[0]) < 1e6)
        TL_TRY(tl_pattern_set_layer(pattern, *out, (int32_t)v[0], err));
    v[6] = 0;  // flat, unless there is a seventh
    if (read_reals(&r->xml, "data-placement", 7, v) || read_reals(&r->xml, "data-placement", 6, v))
        TL_TRY(tl_pattern_set_placement(pattern, *out, &(tl_placement){{v[0], v[1], v[2]}, {v[3], v[4], v[5]}, v[6]},
                                        err));
    return TL_OK;
}

// Ends that meet to within a millionth of the path's size are one: many programs close paths by going back.
static void close_by_ends(tl_svg_path *path, int32_t sub)
{
    const int32_t first = path->start[sub], last = (sub + 1 < path->sub_count ? path->start[sub + 1] : path->count) - 1;
    tl_vec2 a = path->items[first].from, low = a, high = a, b = path->items[last].to;
    for (int32_t i = first; i <= last; i++) {
        const tl_vec2 p = path->items[i].to;
        low = (tl_vec2){fmin(low.x, p.x), fmin(low.y, p.y)}, high = (tl_vec2){fmax(high.x, p.x), fmax(high.y, p.y)};
    }
    const double size = fmax(high.x - low.x, high.y - low.y);
    if (last == first || !(hypot(a.x - b.x, a.y - b.y) <= 1e-6 * size)) return;
    path->items[last].to = a;
    path->closed[sub] = 1;
}

static tl_status add_shape(svg_reader *r, tl_svg_path *path, tl_error *err)
{
    tl_mark m;
    const bool marked = read_mark(r, &m);
    take_bulges(r, path->items, path->count);
    int32_t outline = -1;  // of this element, for its holes
    for (int32_t s = 0; s < path->sub_count; s++) {
        close_by_ends(path, s);
        const int32_t first = path->start[s], end = s + 1 < path->sub_count ? path->start[s + 1] : path->count;
        if (marked) {
            TL_TRY(tl_drawing_add(&r->drawing, &m, path->items + first, end - first, err));
            continue;
        }
        tl_mark line = {TL_MARK_LINE, .line_number = m.line_number};
        tl_xml_text(&r->xml, "id", line.label, sizeof line.label);
        if (path->closed[s] && outline >= 0 &&
            tl_panel_contains(tl_pattern_panel(r->drawing.pattern, outline), path->items[first].from)) {
            snprintf(line.panel, sizeof line.panel, "%s", tl_pattern_panel(r->drawing.pattern, outline)->name);
            line.line = TL_LINE_HOLE;
            TL_TRY(tl_drawing_add(&r->drawing, &line, path->items + first, end - first, err));
        } else if (path->closed[s]) {
            int32_t panel = -1;
            if (add_panel(r, path, first, end - first, &panel, err) != TL_OK) {
                const tl_error inner = err ? *err : (tl_error){TL_BAD_INPUT, ""};
                return inner.status == TL_BAD_INPUT ? svg_fail(r, err, inner.message) : inner.status;
            }
            if (outline < 0) outline = panel;
        } else {
            TL_TRY(tl_drawing_add(&r->drawing, &line, path->items + first, end - first, err));
        }
    }
    return TL_OK;
}

// --- shapes ----------------------------------------------------------------------------------------------

static double real_or(const tl_xml *xml, const char *key, double otherwise)
{
    double x;
    return read_reals(xml, key, 1, &x) ? x : otherwise;
}

static bool draw_rect(const tl_xml *xml, tl_path_pen *pen)
{
    const double x = real_or(xml, "x", 0), y = real_or(xml, "y", 0), w = real_or(xml, "width", 0),
                 h = real_or(xml, "height", 0);
    double rx = real_or(xml, "rx", -1), ry = real_or(xml, "ry", -1);
    if (rx < 0) rx = ry < 0 ? 0 : ry;
    if (ry < 0) ry = rx;
    rx = fmin(rx, w / 2), ry = fmin(ry, h / 2);
    const double r[3] = {rx, ry, 0};
    const tl_vec2 p[8] = {{x + rx, y},         {x + w - rx, y}, {x + w, y + ry}, {x + w, y + h - ry},
                          {x + w - rx, y + h}, {x + rx, y + h}, {x, y + h - ry}, {x, y + ry}};
    bool ok = tl_path_pen_move(pen, p[0]);
    for (int i = 0; i < 4; i++) {
        ok = ok && tl_path_pen_line(pen, p[2 * i + 1]);
        if (rx > 0 && ry > 0) ok = ok && tl_path_pen_arc(pen, r, false, true, p[(2 * i + 2) % 8]);
    }
    return ok && tl_path_pen_close(pen);
}

static bool draw_ellipse(const tl_xml *xml, tl_path_pen *pen, bool circle)
{
    const double x = real_or(xml, "cx", 0), y = real_or(xml, "cy", 0);
    const double rx = real_or(xml, circle ? "r" : "rx", 0), ry = circle ? rx : real_or(xml, "ry", 0),
                 r[3] = {rx, ry, 0};
    if (!(rx > 0 && ry > 0)) return true;
    const tl_vec2 p[4] = {{x + rx, y}, {x, y + ry}, {x - rx, y}, {x, y - ry}};  // quarters, clockwise on the screen
    bool ok = tl_path_pen_move(pen, p[0]);
    for (int i = 0; i < 4; i++) ok = ok && tl_path_pen_arc(pen, r, false, true, p[(i + 1) % 4]);
    return ok && tl_path_pen_close(pen);
}

static bool draw_points(const tl_xml *xml, tl_path_pen *pen, bool closed)
{
    const tl_slice text = tl_xml_value(xml, "points");
    const char *at = text.text, *end = text.text ? at + text.size : NULL;
    tl_vec2 p;
    bool ok = true, first = true;
    while (ok && text.text && tl_svg_number(&at, end, &p.x) && tl_svg_number(&at, end, &p.y)) {
        ok = first ? tl_path_pen_move(pen, p) : tl_path_pen_line(pen, p);
        first = false;
    }
    return ok && (!closed || tl_path_pen_close(pen));
}

static tl_status read_shape(svg_reader *r, const tl_affine *m, tl_error *err)
{
    const tl_slice name = r->xml.name, d = tl_xml_value(&r->xml, "d");
    tl_svg_path path = {.alloc = r->drawing.pattern->alloc};
    tl_path_pen pen = {.path = &path, .m = m};
    tl_status status = TL_OK;
    bool ok = true;
    if (tl_slice_is(name, "path")) {
        char what[120], id[80];
        tl_xml_text(&r->xml, "id", id, sizeof id);
        snprintf(what, sizeof what, "line %lld: path '%s'", (long long)tl_xml_line(&r->xml), id);
        if (d.text) status = tl_svg_path_read(&path, d, m, what, err);
        if (status == TL_BAD_INPUT && err) {
            const tl_error inner = *err;
            tl_fail(err, status, "%s: %s", r->xml.path, inner.message);
        }
    } else if (tl_slice_is(name, "polygon") || tl_slice_is(name, "polyline")) {
        ok = draw_points(&r->xml, &pen, tl_slice_is(name, "polygon"));
    } else if (tl_slice_is(name, "rect")) {
        ok = draw_rect(&r->xml, &pen);
    } else if (tl_slice_is(name, "circle") || tl_slice_is(name, "ellipse")) {
        ok = draw_ellipse(&r->xml, &pen, tl_slice_is(name, "circle"));
    } else if (tl_slice_is(name, "line")) {
        ok = tl_path_pen_move(&pen, (tl_vec2){real_or(&r->xml, "x1", 0), real_or(&r->xml, "y1", 0)}) &&
             tl_path_pen_line(&pen, (tl_vec2){real_or(&r->xml, "x2", 0), real_or(&r->xml, "y2", 0)});
    }
    if (!ok) status = tl_fail_memory(err, "a shape");
    tl_vec2 drill;
    if (status == TL_OK && tl_slice_is(tl_xml_value(&r->xml, "data-line"), "drill") &&
        read_reals(&r->xml, "data-x", 1, &drill.x) && read_reals(&r->xml, "data-y", 1, &drill.y)) {
        const tl_segment dot = {TL_SEGMENT_LINE, drill, drill, {{0}}, 0};
        tl_mark mark;
        read_mark(r, &mark);
        status = tl_drawing_add(&r->drawing, &mark, &dot, 1, err);
    } else if (status == TL_OK && path.sub_count > 0) {
        status = add_shape(r, &path, err);
    }
    tl_svg_path_free(&path);
    return status;
}

static bool not_drawn(tl_slice name)
{
    static const char *const words[] = {"defs",  "symbol", "clipPath", "mask",   "marker",        "pattern",
                                        "title", "desc",   "metadata", "style",  "script",        "text",
                                        "image", "filter", "use",      "switch", "foreignObject", "sodipodi:namedview"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (tl_slice_is(name, words[i])) return true;
    return false;
}

static tl_status open_element(svg_reader *r, tl_error *err)
{
    const int32_t depth = r->xml.depth;
    if (r->skip_depth > 0) return TL_OK;
    if (!r->found_root) {
        if (!tl_slice_is(r->xml.name, "svg")) return svg_fail(r, err, "is no drawing: the first element must be <svg>");
        r->panel[depth][0] = 0;
        return read_root(r, err);
    }
    if (not_drawn(r->xml.name) || hidden(&r->xml)) {
        if (tl_slice_is(r->xml.name, "use"))
            tl_pattern_add_note(r->drawing.pattern, "<use> is not followed (turn clones into paths of their own)");
        r->skip_depth = depth;
        return TL_OK;
    }
    tl_affine own = {1, 0, 0, 1, 0, 0};
    const tl_slice transform = tl_xml_value(&r->xml, "transform");
    if (transform.text && !tl_svg_transform(transform, &own))
        return svg_fail(r, err, "has a transform that cannot be read");
    r->stack[depth] = tl_affine_times(r->stack[depth - 1], own);
    if (tl_slice_is(tl_xml_value(&r->xml, "data-layout"), "local")) {
        r->stack[depth] = (tl_affine){1, 0, 0, 1, 0, 0};
        r->local = true;
    }
    memcpy(r->panel[depth], r->panel[depth - 1], sizeof r->panel[depth]);
    if (tl_slice_is(r->xml.name, "g")) {
        char name[TL_PATTERN_NAME_MAX + 1];
        if (tl_xml_text(&r->xml, "data-panel", name, sizeof name)) memcpy(r->panel[depth], name, sizeof name);
        return TL_OK;
    }
    return read_shape(r, &r->stack[depth], err);
}

// `inner` lies in `outer`, by the middles of at most 17 of its edges.
static bool lies_in(const tl_panel *inner, const tl_panel *outer)
{
    const int32_t step = 1 + inner->edge_count / 16;
    if (!(fabs(inner->area) < fabs(outer->area))) return false;
    const double drawn = 1e-4;  // [m]: lines that coincide on paper
    for (int32_t e = 0; e < inner->edge_count; e += step) {
        const tl_vec2 at = tl_segment_point(&inner->curves[inner->edges[e].curve], 0.5);
        int32_t edge;
        double where;
        if (!tl_panel_contains(outer, at) && tl_panel_nearest(outer, at, &edge, &where) > drawn) return false;
    }
    return true;
}

// Cutting lines drawn around seam lines look like panels of their own.
static void note_nested(tl_pattern *pattern)
{
    enum { PANELS_MAX = 300 };  // more are a sheet of samples, and the search is quadratic
    if (pattern->panel_count > PANELS_MAX) return;
    for (int32_t i = 0; i < pattern->panel_count; i++)
        for (int32_t j = 0; j < pattern->panel_count; j++) {
            const tl_panel *in = tl_pattern_panel(pattern, i), *out = tl_pattern_panel(pattern, j);
            if (i == j || !lies_in(in, out)) continue;
            tl_pattern_add_note(pattern,
                                "panel '%s' lies in panel '%s': both are read as panels (of a cutting line around "
                                "a seam line say data-line=\"cut\", of a hole data-line=\"hole\")",
                                in->name, out->name);
            break;
        }
}

static tl_status read_all(svg_reader *r, tl_error *err)
{
    for (;;) {
        tl_xml_kind kind = TL_XML_END_OF_FILE;
        TL_TRY(tl_xml_next(&r->xml, &kind, err));
        if (kind == TL_XML_END_OF_FILE) break;
        if (kind == TL_XML_OPEN) TL_TRY(open_element(r, err));
        if (kind == TL_XML_CLOSE && r->skip_depth > r->xml.depth) r->skip_depth = 0;
    }
    if (r->drawing.pattern->panel_count == 0 && r->drawing.mark_count == 0)
        return tl_fail(err, TL_BAD_INPUT, "%s: no closed path, so no panel (is it a drawing of outlines?)",
                       r->xml.path);
    if (!r->local) note_nested(r->drawing.pattern);
    return tl_drawing_finish(&r->drawing, err);
}

tl_status tl_svg_pattern_read(const char *path, const char *text, size_t size, tl_pattern *out, tl_error *err)
{
    svg_reader *r = TL_CALLOC(&out->alloc, svg_reader, 1);
    if (!r) return tl_fail_memory(err, "a drawing");
    tl_xml_init(&r->xml, path, text, size);
    r->drawing = (tl_drawing){.pattern = out, .path = path};
    const tl_status status = read_all(r, err);
    tl_drawing_free(&r->drawing);
    TL_FREE(&out->alloc, r, 1);
    return status;
}
