// io/pattern_dxf.c: pieces of DXF-AAMA and ASTM D6673 files: a block per piece, layers that say what a line is.
//
// Layers: 1 boundary, 14 sew line, 2 and 3 turn and curve points of the boundary, 4 notches (80 to 83 of other shapes),
// 6 mirror line, 7 grain, 8 internal line, 11 internal cutout, 13 drill hole. Where there is a sew line it is the
// outline and the boundary is where the piece is cut. Millimetres or inches, as a text "Units: METRIC | ENGLISH" or
// $INSUNITS says. Files of our own carry the exact curves in comments, which others skip; they count only where the
// drawn line agrees.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "io/pattern_dxf.h"
#include "io/svg_path.h"
#include "math/vec3.h"

// --- exact curves in comments ----------------------------------------------------------------------------

// The next comment as its word and what follows; false: no more.
static bool next_comment(const char **at, const char *end, char word[16], tl_slice *rest)
{
    if (*at >= end) return false;
    const char *stop = memchr(*at, '\n', (size_t)(end - *at));
    if (!stop) stop = end;
    const char *space = memchr(*at, ' ', (size_t)(stop - *at)), *cut = space ? space : stop;
    snprintf(word, 16, "%.*s", (int)(cut - *at < 15 ? cut - *at : 15), *at);
    *rest = (tl_slice){space ? space + 1 : stop, (size_t)(stop - (space ? space + 1 : stop))};
    *at = stop < end ? stop + 1 : end;
    return true;
}

static int read_reals(tl_slice text, int most, double *out)
{
    const char *at = text.text, *end = at + text.size;
    int count = 0;
    while (count < most && tl_svg_number(&at, end, &out[count])) count++;
    return count;
}

// The curves that comments give in place of the entity's pieces, if both agree. Label and kind go to `m`.
static tl_status take_exact(tl_dxf_reader *r, tl_mark *m, tl_error *err)
{
    tl_dxf_entity *e = &r->entity;
    const char *at = r->comments.size > 0 ? r->comments.data : "", *end = at + r->comments.size;
    char word[16];
    tl_slice rest;
    double v[6];
    tl_vec2 last = {0};
    bool begun = false;
    const int32_t drawn = e->count;
    while (r->comments.size > 0 && next_comment(&at, end, word, &rest)) {
        const int n = read_reals(rest, 6, v);
        if (strcmp(word, "LABEL") == 0)
            snprintf(m->label, sizeof m->label, "%.*s", (int)(rest.size < 95 ? rest.size : 95), rest.text);
        if (strcmp(word, "KIND") == 0 && n >= 2 && v[0] >= 0 && v[0] <= TL_LINE_DRILL)
            m->line = (tl_line_kind)v[0], m->angle_deg = v[1];
        if (strcmp(word, "NOTCH") == 0 && n >= 3 && v[0] >= 0 && v[0] < 1e9)
            m->exact = true, m->edge = (int32_t)v[0], m->from = v[1], m->depth = v[2];
        if (strcmp(word, "M") == 0 && n >= 2) last = (tl_vec2){v[0], v[1]}, begun = true;
        tl_segment s = {TL_SEGMENT_LINE, last, last, {{0}}, 0};
        if (strcmp(word, "L") == 0 && n >= 2)
            s.to = (tl_vec2){v[0], v[1]};
        else if (strcmp(word, "A") == 0 && n >= 3)
            s.kind = TL_SEGMENT_ARC, s.to = (tl_vec2){v[0], v[1]}, s.bulge = v[2];
        else if (strcmp(word, "Q") == 0 && n >= 4)
            s.kind = TL_SEGMENT_QUADRATIC, s.control[0] = (tl_vec2){v[0], v[1]}, s.to = (tl_vec2){v[2], v[3]};
        else if (strcmp(word, "C") == 0 && n >= 6)
            s.kind = TL_SEGMENT_CUBIC, s.control[0] = (tl_vec2){v[0], v[1]}, s.control[1] = (tl_vec2){v[2], v[3]},
            s.to = (tl_vec2){v[4], v[5]};
        else
            continue;
        if (!begun) continue;
        if (!TL_GROW(tl_dxf_alloc(r), e->pieces, e->cap, e->count + 1)) return tl_fail_memory(err, "curves");
        e->pieces[e->count++] = s;
        last = s.to;
    }
    const int32_t exact = e->count - drawn;
    e->count = drawn;
    if (exact == 0 || drawn == 0) return TL_OK;
    const tl_segment *s = e->pieces + drawn;
    const double off =
        tl_norm2(tl_sub2(s[0].from, e->pieces[0].from)) + tl_norm2(tl_sub2(s[exact - 1].to, e->pieces[drawn - 1].to));
    double length[2] = {0, 0};
    for (int32_t i = 0; i < drawn + exact; i++) length[i >= drawn] += tl_segment_length(&e->pieces[i]);
    const double agree = 0.01;  // of the length: the drawn line is made of chords
    if (off > 4 * TL_DXF_JOINT || fabs(length[0] - length[1]) > agree * length[1]) return TL_OK;
    r->own = true;
    memmove(e->pieces, s, (size_t)exact * sizeof *s);
    e->count = exact;
    return TL_OK;
}

// --- a piece ---------------------------------------------------------------------------------------------

static tl_status take_block_comments(tl_dxf_reader *r, int32_t panel, bool darts, tl_error *err)
{
    tl_pattern *p = r->drawing.pattern;
    const char *at = r->block_comments.size > 0 ? r->block_comments.data : "", *end = at + r->block_comments.size;
    char word[16];
    tl_slice rest;
    double v[7];
    while (r->block_comments.size > 0 && next_comment(&at, end, word, &rest)) {
        const int n = read_reals(rest, 7, v);
        if (!darts && strcmp(word, "LAYER") == 0 && n >= 1 && fabs(v[0]) < 1e6)
            TL_TRY(tl_pattern_set_layer(p, panel, (int32_t)v[0], err));
        if (!darts && strcmp(word, "PLACE") == 0 && n >= 6)
            TL_TRY(tl_pattern_set_placement(
                p, panel, &(tl_placement){{v[0], v[1], v[2]}, {v[3], v[4], v[5]}, n > 6 ? v[6] : 0}, err));
        if (darts && strcmp(word, "DART") == 0 && n >= 5 && v[0] >= 0 && v[0] < 1e9)
            TL_TRY(tl_pattern_add_dart(p, panel, &(tl_dart){"", (int32_t)v[0], v[1], v[2], {v[3], v[4]}}, err));
    }
    return TL_OK;
}

static void part_label(const tl_dxf_reader *r, char *out, size_t size)
{
    const char *at = r->block_comments.size > 0 ? r->block_comments.data : "", *end = at + r->block_comments.size;
    char word[16];
    tl_slice rest;
    out[0] = 0;
    while (r->block_comments.size > 0 && next_comment(&at, end, word, &rest))
        if (strcmp(word, "PART") == 0)
            snprintf(out, size, "%.*s", (int)(rest.size < size - 1 ? rest.size : size - 1), rest.text);
}

static tl_status finish_piece(tl_dxf_reader *r, tl_error *err)
{
    tl_pattern *p = r->drawing.pattern;
    bool outlined = false, sewn = false;
    for (int32_t i = 0; i < r->chain_count; i++) {
        outlined = outlined || r->chains[i].layer == 1;
        sewn = sewn || r->chains[i].layer == 14;
    }
    if (!outlined && !sewn) return TL_OK;  // a block of something else
    char name[TL_PATTERN_NAME_MAX + 1], label[200];
    tl_drawing_panel_name(p, r->piece[0] ? r->piece : r->block[0] ? r->block : "piece", name, sizeof name);
    part_label(r, label, sizeof label);
    int32_t panel = 0;
    TL_TRY(tl_pattern_add_panel(p, name, label, &panel, err));
    bool found = false;
    if (sewn) {
        TL_TRY(tl_dxf_add_outline(r, 14, panel, &found, err));
        if (found) TL_TRY(tl_dxf_add_other_loops(r, panel, TL_LINE_CUT, err));
    }
    if (!found) {
        TL_TRY(tl_dxf_add_outline(r, 1, panel, &found, err));
        TL_TRY(tl_dxf_add_other_loops(r, panel, TL_LINE_HOLE, err));
    }
    TL_TRY(take_block_comments(r, panel, false, err));
    for (int32_t i = 0; i < r->drawing.mark_count; i++)
        snprintf(r->drawing.marks[i].panel, sizeof r->drawing.marks[i].panel, "%s", name);
    TL_TRY(tl_drawing_finish(&r->drawing, err));
    return take_block_comments(r, panel, true, err);
}

static void begin_piece(tl_dxf_reader *r)
{
    r->piece_count = r->chain_count = r->turn_count = 0;
    r->drawing.mark_count = r->drawing.piece_count = 0;
    r->block_comments.size = 0;
    r->own = false;
    r->piece[0] = r->block[0] = 0;
}

// --- entities --------------------------------------------------------------------------------------------

static void scale_entity(tl_dxf_reader *r)
{
    tl_dxf_entity *e = &r->entity;
    e->at = tl_mul2(r->unit, e->at);
    e->depth *= r->unit;
    for (int32_t i = 0; i < e->count; i++) {
        e->pieces[i].from = tl_mul2(r->unit, e->pieces[i].from);
        e->pieces[i].to = tl_mul2(r->unit, e->pieces[i].to);
    }
}

static tl_status add_chain(tl_dxf_reader *r, int32_t layer, const char *label, tl_error *err)
{
    const tl_dxf_entity *e = &r->entity;
    if (e->count == 0) return TL_OK;
    if (!TL_GROW(tl_dxf_alloc(r), r->pieces, r->piece_cap, r->piece_count + e->count) ||
        !TL_GROW(tl_dxf_alloc(r), r->chains, r->chain_cap, r->chain_count + 1))
        return tl_fail_memory(err, "lines");
    memcpy(r->pieces + r->piece_count, e->pieces, (size_t)e->count * sizeof *e->pieces);
    tl_dxf_chain c = {.first = r->piece_count, .count = e->count, .layer = layer, .closed = e->closed, .line = e->line};
    snprintf(c.label, sizeof c.label, "%s", label);
    if (!c.closed && e->count > 1 && tl_dxf_gap(e->pieces[0].from, e->pieces[e->count - 1].to) <= TL_DXF_JOINT) {
        r->pieces[c.first + c.count - 1].to = r->pieces[c.first].from;
        c.closed = true;
    }
    r->piece_count += e->count;
    r->chains[r->chain_count++] = c;
    return TL_OK;
}

static tl_status add_point(tl_dxf_reader *r, int32_t layer, tl_mark *m, tl_error *err)
{
    const tl_dxf_entity *e = &r->entity;
    const tl_segment dot = {TL_SEGMENT_LINE, e->at, e->at, {{0}}, 0};
    if (layer == 2) {
        if (!TL_GROW(tl_dxf_alloc(r), r->turns, r->turn_cap, r->turn_count + 1))
            return tl_fail_memory(err, "turn points");
        r->turns[r->turn_count++] = e->at;
        return TL_OK;
    }
    if (layer == 13) {
        m->kind = TL_MARK_LINE, m->line = TL_LINE_DRILL;
        return tl_drawing_add(&r->drawing, m, &dot, 1, err);
    }
    if (layer != 4 && !(layer >= 80 && layer <= 83)) return TL_OK;
    m->kind = TL_MARK_NOTCH;
    if (!m->exact) m->depth = fmin(fabs(e->depth), 0.5);
    return tl_drawing_add(&r->drawing, m, &dot, 1, err);
}

static tl_status add_path(tl_dxf_reader *r, int32_t layer, tl_mark *m, tl_error *err)
{
    const tl_dxf_entity *e = &r->entity;
    m->kind = TL_MARK_LINE;
    switch (r->any_layer ? 1 : layer) {
    case 1:
    case 14: return add_chain(r, layer == 14 ? 14 : 1, m->label, err);
    case 4: m->kind = TL_MARK_NOTCH; break;
    case 7: m->kind = TL_MARK_GRAIN; break;
    case 6:
        m->line = TL_LINE_FOLD;
        if (!m->label[0]) snprintf(m->label, sizeof m->label, "mirror");
        tl_pattern_add_note(r->drawing.pattern,
                            "a piece has a mirror line (layer 6): it is kept as half, unfold it where it is cut");
        break;
    case 8: break;
    case 11: m->line = TL_LINE_HOLE; break;
    case 13: m->line = TL_LINE_DRILL; break;
    default: return TL_OK;
    }
    return e->count > 0 ? tl_drawing_add(&r->drawing, m, e->pieces, e->count, err) : TL_OK;
}

// "Piece Name: FRONT" -> FRONT, if the text starts so.
static bool after(const char *text, const char *key, char *out, size_t size)
{
    if (strncasecmp(text, key, strlen(key)) != 0) return false;
    const char *p = text + strlen(key);
    while (*p == ' ' || *p == ':') p++;
    if (*p) snprintf(out, size, "%.190s", p);
    return *p != 0;
}

static tl_status take_entity(tl_dxf_reader *r, tl_error *err)
{
    tl_dxf_entity *e = &r->entity;
    r->comments.size = 0;
    TL_TRY(tl_dxf_entity_read(&r->dxf, tl_dxf_alloc(r), e, err));
    scale_entity(r);
    char *behind;
    const long layer = strtol(e->layer, &behind, 10);
    const int32_t number = behind != e->layer && *behind == 0 && layer >= 0 && layer < 1000 ? (int32_t)layer : -1;
    tl_mark m = {.line_number = e->line, .edge_count = 1, .to = 1};
    TL_TRY(take_exact(r, &m, err));
    if (e->kind == TL_DXF_TEXT) after(e->text, "Piece Name", r->piece, sizeof r->piece);
    if (e->kind == TL_DXF_POINT) return add_point(r, number, &m, err);
    if (e->kind == TL_DXF_PATH) return add_path(r, number, &m, err);
    if (e->kind == TL_DXF_INSERT && (fabs(e->scale.x - 1) > 1e-9 || fabs(e->scale.y - 1) > 1e-9))
        tl_pattern_add_note(r->drawing.pattern,
                            "block '%.60s' is inserted with a scale; pieces are taken as drawn in their blocks",
                            e->text);
    const bool curve = strcmp(e->name, "SPLINE") == 0 || strcmp(e->name, "ELLIPSE") == 0;
    if (curve && (number == 1 || number == 14 || r->any_layer))
        return tl_fail(err, TL_BAD_INPUT,
                       "%s:%lld: piece '%.60s': a boundary made of %s (save as R12 with lines and polylines)",
                       r->dxf.path, (long long)e->line, r->piece[0] ? r->piece : r->block, e->name);
    return TL_OK;
}

static tl_status read_block(tl_dxf_reader *r, tl_error *err)
{
    begin_piece(r);
    r->dxf.comments = &r->block_comments;
    TL_TRY(tl_dxf_next(&r->dxf, err));
    while (!r->dxf.done && r->dxf.code != 0) {
        if (r->dxf.code == 2)
            snprintf(r->block, sizeof r->block, "%.*s",
                     (int)(r->dxf.size < TL_PATTERN_NAME_MAX ? r->dxf.size : TL_PATTERN_NAME_MAX), r->dxf.value);
        TL_TRY(tl_dxf_next(&r->dxf, err));
    }
    r->dxf.comments = &r->comments;
    while (!r->dxf.done && !tl_dxf_is(&r->dxf, "ENDBLK") && !tl_dxf_is(&r->dxf, "ENDSEC") && !tl_dxf_is(&r->dxf, "EOF"))
        TL_TRY(take_entity(r, err));
    if (tl_dxf_is(&r->dxf, "ENDBLK")) {
        TL_TRY(tl_dxf_next(&r->dxf, err));
        while (!r->dxf.done && r->dxf.code != 0) TL_TRY(tl_dxf_next(&r->dxf, err));
    }
    return finish_piece(r, err);
}

// Loose outlines outside of blocks: each closed line on layer 1, or on any layer if there are no layers by number, is a
// piece.
static tl_status finish_loose(tl_dxf_reader *r, tl_error *err)
{
    tl_pattern *p = r->drawing.pattern;
    int32_t *order = TL_ALLOC(tl_dxf_alloc(r), int32_t, r->chain_count + 1);
    if (!order) return tl_fail_memory(err, "outlines");
    tl_status status = TL_OK;
    for (int32_t i = 0; status == TL_OK && i < r->chain_count; i++) {
        if (r->chains[i].used) continue;
        tl_vec2 loose = {0};
        int32_t count = 1, panel = 0;
        order[0] = i;
        if (!r->chains[i].closed) count = tl_dxf_chain_up(r, i, order, &loose);
        r->chains[i].used = true;
        char name[TL_PATTERN_NAME_MAX + 1];
        tl_drawing_panel_name(p, "piece", name, sizeof name);
        if (count == 0) {
            status = tl_fail(err, TL_BAD_INPUT, "%s:%lld: panel '%s', edge 0: open: no line goes on from (%g, %g) m",
                             r->dxf.path, (long long)r->chains[i].line, name, loose.x, loose.y);
            break;
        }
        tl_dxf_face_up(r, order, count);
        status = tl_pattern_add_panel(p, name, "", &panel, err);
        for (int32_t k = 0; status == TL_OK && k < count; k++)
            status = tl_dxf_add_edges(r, &r->chains[order[k]], count == 1, panel, err);
    }
    TL_FREE(tl_dxf_alloc(r), order, r->chain_count + 1);
    return status == TL_OK ? tl_drawing_finish(&r->drawing, err) : status;
}

// --- the file --------------------------------------------------------------------------------------------

static tl_status read_seams(tl_dxf_reader *r, tl_error *err)
{
    const char *at = r->file_comments.size > 0 ? r->file_comments.data : "", *end = at + r->file_comments.size;
    char word[16], label[96];
    tl_slice rest;
    while (r->file_comments.size > 0 && next_comment(&at, end, word, &rest)) {
        if (strcmp(word, "SEAM") != 0) continue;
        double v[11];
        const char *p = rest.text, *stop = p + rest.size;
        int n = 0;
        while (n < 11 && tl_svg_number(&p, stop, &v[n])) n++;
        if (n < 11) continue;
        for (int i = 0; i < 11; i++) v[i] = fmin(fmax(v[i], -1), 1e9);
        tl_seam seam = {.label = label, .turned = v[0] != 0};
        if (p < stop) p++;
        snprintf(label, sizeof label, "%.*s", (int)(stop - p < 95 ? stop - p : 95), p);
        for (int k = 0; k < 2; k++)
            seam.side[k] = (tl_seam_side){(int32_t)v[1 + 5 * k], (int32_t)v[2 + 5 * k], (int32_t)v[3 + 5 * k],
                                          v[4 + 5 * k], v[5 + 5 * k]};
        TL_TRY(tl_pattern_add_seam(r->drawing.pattern, &seam, NULL, err));
    }
    return TL_OK;
}

static tl_status read_section(tl_dxf_reader *r, tl_error *err)
{
    bool blocks = false, entities = false;
    if (r->dxf.code == 0 && tl_dxf_is(&r->dxf, "SECTION")) {
        TL_TRY(tl_dxf_next(&r->dxf, err));
        blocks = r->dxf.code == 2 && tl_dxf_is(&r->dxf, "BLOCKS");
        entities = r->dxf.code == 2 && tl_dxf_is(&r->dxf, "ENTITIES");
    }
    TL_TRY(tl_dxf_next(&r->dxf, err));
    if (!blocks && !entities) return TL_OK;
    r->dxf.comments = &r->comments;
    if (entities) begin_piece(r);
    while (!r->dxf.done && !(r->dxf.code == 0 && (tl_dxf_is(&r->dxf, "ENDSEC") || tl_dxf_is(&r->dxf, "EOF")))) {
        if (r->dxf.code != 0)
            TL_TRY(tl_dxf_next(&r->dxf, err));
        else if (blocks && tl_dxf_is(&r->dxf, "BLOCK"))
            TL_TRY(read_block(r, err));
        else
            TL_TRY(take_entity(r, err));
    }
    r->dxf.comments = &r->file_comments;
    // With pieces in blocks, what stands outside of them is a marker's plan or a remark.
    return entities && r->drawing.pattern->panel_count == 0 ? finish_loose(r, err) : TL_OK;
}

// Metres per unit: by the words of AAMA, by $INSUNITS, or by the size of what is drawn.
static tl_status find_unit(tl_dxf_reader *r, const char *text, size_t size, tl_error *err)
{
    static const double insunits[] = {0, 0.0254, 0.3048, 0, 0.001, 0.01, 1};
    tl_dxf scan;
    tl_dxf_init(&scan, r->dxf.path, text, size);
    double low = INFINITY, high = -INFINITY, x;
    bool insunits_next = false, measure_next = false, metric_header = false, inch_header = false;
    for (;;) {
        TL_TRY(tl_dxf_next(&scan, err));
        if (scan.done) break;
        char word[64];
        snprintf(word, sizeof word, "%.*s", (int)(scan.size < 63 ? scan.size : 63), scan.value);
        char value[64];
        if (scan.code == 1 && after(word, "Units", value, sizeof value)) {
            r->unit = strncasecmp(value, "ENGLISH", 7) == 0 || strncasecmp(value, "INCH", 4) == 0 ? 0.0254 : 0.001;
            if (strncasecmp(value, "CM", 2) == 0) r->unit = 0.01;
            return TL_OK;
        }
        if (insunits_next && scan.code == 70) {
            int32_t unit = 0;
            TL_TRY(tl_dxf_int(&scan, &unit, err));
            if (unit > 0 && unit < 7 && insunits[unit] > 0) r->unit = insunits[unit];
        }
        if (measure_next && scan.code == 70) metric_header = tl_dxf_is(&scan, "1"), inch_header = tl_dxf_is(&scan, "0");
        insunits_next = scan.code == 9 && tl_dxf_is(&scan, "$INSUNITS");
        measure_next = scan.code == 9 && tl_dxf_is(&scan, "$MEASUREMENT");
        if (scan.code == 10 && tl_dxf_real(&scan, &x, NULL) == TL_OK && fabs(x) < 1e15)
            low = fmin(low, x), high = fmax(high, x);
    }
    if (r->unit > 0) return TL_OK;
    const bool small = high - low < 100;  // a garment of less than 100 mm is none
    r->unit = metric_header ? 0.001 : inch_header || small ? 0.0254 : 0.001;
    tl_pattern_add_note(r->drawing.pattern, "the file does not say its unit; %s are taken%s",
                        r->unit == 0.001 ? "millimetres" : "inches",
                        metric_header || inch_header ? " ($MEASUREMENT)" : " by its size");
    return TL_OK;
}

static tl_status read_all(tl_dxf_reader *r, const char *text, size_t size, tl_error *err)
{
    if (size >= 18 && memcmp(text, "AutoCAD Binary DXF", 18) == 0)
        return tl_fail(err, TL_BAD_INPUT, "%s: is a binary DXF (save it in text form)", r->dxf.path);
    TL_TRY(find_unit(r, text, size, err));
    for (int pass = 0; pass < 2 && r->drawing.pattern->panel_count == 0; pass++) {
        r->any_layer = pass == 1;
        r->file_comments.size = 0;
        tl_dxf_init(&r->dxf, r->dxf.path, text, size);
        r->dxf.comments = &r->file_comments;
        TL_TRY(tl_dxf_next(&r->dxf, err));
        while (!r->dxf.done && !(r->dxf.code == 0 && tl_dxf_is(&r->dxf, "EOF"))) TL_TRY(read_section(r, err));
    }
    if (r->any_layer)
        tl_pattern_add_note(r->drawing.pattern, "no line on layer 1 or 14; every closed line is taken for a piece");
    if (r->drawing.pattern->panel_count == 0)
        return tl_fail(err, TL_BAD_INPUT, "%s: no piece: no block and no closed line on layer 1 or 14", r->dxf.path);
    return read_seams(r, err);
}

tl_status tl_dxf_pattern_read(const char *path, const char *text, size_t size, tl_pattern *out, tl_error *err)
{
    tl_dxf_reader r = {.drawing = {.pattern = out, .path = path}};
    tl_dxf_init(&r.dxf, path, text, size);
    tl_buf_init(&r.comments, &out->alloc);
    tl_buf_init(&r.block_comments, &out->alloc);
    tl_buf_init(&r.file_comments, &out->alloc);
    const tl_status status = read_all(&r, text, size, err);
    TL_FREE(&out->alloc, r.pieces, r.piece_cap);
    TL_FREE(&out->alloc, r.chains, r.chain_cap);
    TL_FREE(&out->alloc, r.turns, r.turn_cap);
    TL_FREE(&out->alloc, r.entity.pieces, r.entity.cap);
    tl_drawing_free(&r.drawing);
    tl_buf_free(&r.comments);
    tl_buf_free(&r.block_comments);
    tl_buf_free(&r.file_comments);
    return status;
}
