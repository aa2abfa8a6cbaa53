// io/pattern_dxf_outline.c: outlines of DXF pieces: lines in any order and direction become edges around a panel.

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "io/pattern_dxf.h"
#include "math/vec3.h"

// Open lines of one layer in a row: fills `order` with chains from `start` on until they close. Returns how many; 0:
// open, and `*loose` is where.
int32_t tl_dxf_chain_up(tl_dxf_reader *r, int32_t start, int32_t *order, tl_vec2 *loose)
{
    tl_dxf_chain *c = &r->chains[start];
    int32_t count = 0;
    order[count++] = start;
    c->used = true;
    const tl_vec2 begin = r->pieces[c->first].from;
    tl_vec2 end = r->pieces[c->first + c->count - 1].to;
    while (tl_dxf_gap(end, begin) > TL_DXF_JOINT) {
        int32_t best = -1;
        bool back = false;
        double least = 1.001 * TL_DXF_JOINT;
        for (int32_t i = 0; i < r->chain_count; i++) {
            const tl_dxf_chain *k = &r->chains[i];
            if (k->used || k->closed || k->layer != c->layer) continue;
            const double a = tl_dxf_gap(end, r->pieces[k->first].from),
                         b = tl_dxf_gap(end, r->pieces[k->first + k->count - 1].to);
            if (a < least) least = a, best = i, back = false;
            if (b < least) least = b, best = i, back = true;
        }
        if (best < 0) {
            *loose = end;
            return 0;
        }
        tl_dxf_chain *k = &r->chains[best];
        if (back) tl_drawing_reverse(r->pieces + k->first, k->count);
        k->used = true;
        r->pieces[k->first].from = end;
        order[count++] = best;
        end = r->pieces[k->first + k->count - 1].to;
    }
    const tl_dxf_chain *last = &r->chains[order[count - 1]];
    r->pieces[last->first + last->count - 1].to = begin;
    return count;
}

static bool at_turn(const tl_dxf_reader *r, tl_vec2 p)
{
    for (int32_t i = 0; i < r->turn_count; i++)
        if (tl_dxf_gap(p, r->turns[i]) < TL_DXF_JOINT) return true;
    return false;
}

// The edges of a chain: between turn points where there are some; else all of it, or as drawn where it is the whole
// outline.
tl_status tl_dxf_add_edges(tl_dxf_reader *r, const tl_dxf_chain *c, bool whole, int32_t panel, tl_error *err)
{
    tl_pattern *p = r->drawing.pattern;
    const tl_segment *s = r->pieces + c->first;
    int32_t *counts = TL_ALLOC(tl_dxf_alloc(r), int32_t, c->count + 1), edges = 0;
    if (!counts) return tl_fail_memory(err, "edges");
    int32_t turns = 0;
    for (int32_t i = 0; whole && i < c->count; i++) turns += at_turn(r, s[i].to);
    if (turns > 0) {
        for (int32_t i = 0, begin = 0; i < c->count; i++)
            if (at_turn(r, s[i].to) || i + 1 == c->count) counts[edges++] = i + 1 - begin, begin = i + 1;
    } else if (whole) {
        edges = tl_drawing_edges(s, c->count, NULL, counts);
    } else {
        counts[edges++] = c->count;
    }
    tl_status status = TL_OK;
    for (int32_t e = 0, at = 0; status == TL_OK && e < edges; at += counts[e++])
        status = tl_pattern_add_edge(p, panel, s + at, counts[e], c->label, NULL, err);
    TL_FREE(tl_dxf_alloc(r), counts, c->count + 1);
    return status;
}

// Drawings of others say nothing by their direction: counter-clockwise, as pieces lie on the table with the right side
// up.
void tl_dxf_face_up(tl_dxf_reader *r, int32_t *order, int32_t count)
{
    double area = 0;
    for (int32_t i = 0; i < count; i++)
        area += tl_drawing_area(r->pieces + r->chains[order[i]].first, r->chains[order[i]].count);
    if (r->own || area >= 0) return;
    for (int32_t i = 0; i < count; i++)
        tl_drawing_reverse(r->pieces + r->chains[order[i]].first, r->chains[order[i]].count);
    for (int32_t i = 0; i < count / 2; i++) {
        const int32_t o = order[i];
        order[i] = order[count - 1 - i], order[count - 1 - i] = o;
    }
}

// Adds the largest loop of `layer` as the outline of a panel; false in *found: there is none.
tl_status tl_dxf_add_outline(tl_dxf_reader *r, int32_t layer, int32_t panel, bool *found, tl_error *err)
{
    int32_t *order = TL_ALLOC(tl_dxf_alloc(r), int32_t, r->chain_count + 1), count = 0;
    if (!order) return tl_fail_memory(err, "an outline");
    double largest = -1;
    int32_t closed = -1, open = -1;
    for (int32_t i = 0; i < r->chain_count; i++) {
        const tl_dxf_chain *c = &r->chains[i];
        if (c->layer != layer) continue;
        const double area = tl_drawing_area(r->pieces + c->first, c->count);
        if (c->closed && fabs(area) > largest) largest = fabs(area), closed = i;
        if (!c->closed && open < 0) open = i;
    }
    tl_status status = TL_OK;
    tl_vec2 loose = {0};
    *found = closed >= 0 || open >= 0;
    if (closed >= 0) {
        order[count++] = closed;
        r->chains[closed].used = true;
    } else if (open >= 0) {
        count = tl_dxf_chain_up(r, open, order, &loose);
        if (count == 0)
            status = tl_fail(err, TL_BAD_INPUT,
                             "%s:%lld: panel '%s', edge %d: open: no line goes on from (%g, %g) m on layer %d",
                             r->dxf.path, (long long)r->chains[open].line,
                             tl_pattern_panel(r->drawing.pattern, panel)->name, 0, loose.x, loose.y, layer);
    }
    tl_dxf_face_up(r, order, count);
    bool singles = count > 1;
    for (int32_t i = 0; i < count; i++)
        singles = singles && r->chains[order[i]].count == 1 && !r->chains[order[i]].label[0];
    if (status == TL_OK && singles && count >= 8) {  // lines one by one: put together first
        if (!TL_GROW(tl_dxf_alloc(r), r->pieces, r->piece_cap, r->piece_count + count))
            status = tl_fail_memory(err, "an outline");
        tl_dxf_chain all = {.first = r->piece_count, .count = count};
        for (int32_t i = 0; status == TL_OK && i < count; i++)
            r->pieces[r->piece_count + i] = r->pieces[r->chains[order[i]].first];
        if (status == TL_OK) status = tl_dxf_add_edges(r, &all, true, panel, err);
    } else {
        for (int32_t i = 0; status == TL_OK && i < count; i++)
            status = tl_dxf_add_edges(r, &r->chains[order[i]], count == 1 && !r->chains[order[i]].label[0], panel, err);
    }
    TL_FREE(tl_dxf_alloc(r), order, r->chain_count + 1);
    return status;
}

// Loops of the boundary that are not the outline: the cut line where there is a sew line, or a hole.
tl_status tl_dxf_add_other_loops(tl_dxf_reader *r, int32_t panel, tl_line_kind kind, tl_error *err)
{
    int32_t *order = TL_ALLOC(tl_dxf_alloc(r), int32_t, r->chain_count + 1);
    if (!order) return tl_fail_memory(err, "an outline");
    tl_status status = TL_OK;
    for (int32_t i = 0; status == TL_OK && i < r->chain_count; i++) {
        if (r->chains[i].used || r->chains[i].layer != 1) continue;
        tl_vec2 loose;
        const int32_t count = r->chains[i].closed ? 1 : tl_dxf_chain_up(r, i, order, &loose);
        if (r->chains[i].closed) order[0] = i, r->chains[i].used = true;
        for (int32_t k = 0; k < (count > 0 ? count : 1) && status == TL_OK; k++) {
            const tl_dxf_chain *c = &r->chains[count > 0 ? order[k] : i];
            status = tl_pattern_add_line(r->drawing.pattern, panel, count > 0 ? kind : TL_LINE_INTERNAL, 0,
                                         r->pieces + c->first, c->count, c->label, err);
        }
    }
    TL_FREE(tl_dxf_alloc(r), order, r->chain_count + 1);
    return status;
}
