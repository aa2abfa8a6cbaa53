// pattern/panel_delaunay.c: panels filled by constrained Delaunay refinement, seams cut alike on both sides.
//
// A panel becomes a region: the chords of its outline, its holes, its inner lines, and the legs of darts in place of
// their mouths. Chords that seams pair are linked, so the refinement cuts both at the same fractions, and vertices pair
// up in order.

#include <math.h>

#include "base/fail.h"
#include "math/vec3.h"
#include "pattern/check.h"
#include "pattern/panel_mesh.h"
#include "toile/delaunay.h"

typedef struct region {
    tl_vec2 *point;
    tl_region_edge *edge;
    int32_t point_count, point_cap, edge_count, edge_cap;
    int32_t *station_point;  ///< region point of each station, -1: inside a dart's mouth
    int32_t *leg_edge;       ///< first edge of each dart's first leg; the second leg follows
    int32_t *leg_parts;
} region;

typedef struct filler {
    tl_panel_mesher *m;
    region *regions;
    tl_region_link *links;
    tl_delaunay_mesh *meshes;
    int32_t count, link_count, link_cap;
} filler;

static tl_status add_point(filler *f, region *r, tl_vec2 p, int32_t *out, tl_error *err)
{
    if (!TL_GROW(&f->m->alloc, r->point, r->point_cap, r->point_count + 1)) return tl_fail_memory(err, "a region");
    *out = r->point_count;
    r->point[r->point_count++] = p;
    return TL_OK;
}

static tl_status add_edge(filler *f, region *r, int32_t a, int32_t b, tl_region_edge_kind kind, tl_error *err)
{
    if (!TL_GROW(&f->m->alloc, r->edge, r->edge_cap, r->edge_count + 1)) return tl_fail_memory(err, "a region");
    r->edge[r->edge_count++] = (tl_region_edge){a, b, kind, false};
    return TL_OK;
}

// --- outlines --------------------------------------------------------------------------------------------------

// A straight line in `parts` from the last point to `to` (a point that is there, or -1: a new one at `end`).
static tl_status add_leg(filler *f, region *r, int32_t *last, tl_vec2 end, int32_t to, int32_t parts, tl_error *err)
{
    const tl_vec2 a = r->point[*last];
    for (int32_t i = 1; i <= parts; i++) {
        int32_t next = to;
        if (i < parts || to < 0)
            TL_TRY(add_point(f, r, tl_add2(a, tl_mul2((double)i / parts, tl_sub2(end, a))), &next, err));
        TL_TRY(add_edge(f, r, *last, next, TL_EDGE_OUTLINE, err));
        *last = next;
    }
    return TL_OK;
}

static tl_status add_dart(filler *f, region *r, int32_t panel, int32_t dart, int32_t *last, int32_t to, tl_error *err)
{
    const tl_dart *d = &tl_pattern_panel(f->m->pattern, panel)->darts[dart];
    const double a = tl_norm2(tl_sub2(d->apex, r->point[*last])), b = tl_norm2(tl_sub2(d->apex, r->point[to]));
    const int32_t parts = (int32_t)fmin(fmax(round(fmax(a, b) / f->m->def->edge), 1), 100000);
    r->leg_edge[dart] = r->edge_count;
    r->leg_parts[dart] = parts;
    TL_TRY(add_leg(f, r, last, d->apex, -1, parts, err));
    return add_leg(f, r, last, r->point[to], to, parts, err);
}

// The dart whose mouth starts at a station, -1: none.
static int32_t dart_at(const filler *f, int32_t panel, int32_t station)
{
    const tl_panel *p = tl_pattern_panel(f->m->pattern, panel);
    const tl_outlines *o = &f->m->outlines;
    for (int32_t i = 0; i < p->dart_count; i++)
        if (tl_outline_station(o, panel, tl_outline_place(o, panel, p->darts[i].edge, p->darts[i].from)) == station)
            return i;
    return -1;
}

static tl_status add_outline(filler *f, region *r, int32_t panel, tl_error *err)
{
    const tl_outlines *o = &f->m->outlines;
    const tl_panel_outline *q = &o->panels[panel];
    const tl_panel *p = tl_pattern_panel(f->m->pattern, panel);
    const double whole = q->reach[p->curve_count];
    for (int32_t i = 0; i < q->count; i++) {  // stations outside of mouths first: loops end on them
        const bool inside =
            o->stretches[q->stretch + i].removed && o->stretches[q->stretch + (i + q->count - 1) % q->count].removed;
        r->station_point[i] = -1;
        if (!inside || dart_at(f, panel, i) >= 0)
            TL_TRY(add_point(f, r, tl_outline_point(o, panel, q->station[i]), &r->station_point[i], err));
    }
    for (int32_t i = 0; i < q->count; i++) {
        tl_stretch *s = &o->stretches[q->stretch + i];
        int32_t last = r->station_point[i];
        if (s->removed) {
            const int32_t d = dart_at(f, panel, i);
            if (d < 0) continue;
            const int32_t to =
                tl_outline_station(o, panel, tl_outline_place(o, panel, p->darts[d].edge, p->darts[d].to));
            TL_TRY(add_dart(f, r, panel, d, &last, r->station_point[to], err));
            continue;
        }
        const int32_t parts = tl_stretch_parts(o, q->stretch + i);
        s->edge = r->edge_count;
        for (int32_t k = 1; k <= parts; k++) {
            int32_t next = r->station_point[(i + 1) % q->count];
            const double at = s->from + s->length * k / parts;
            if (k < parts)
                TL_TRY(add_point(f, r, tl_outline_point(o, panel, at >= whole ? at - whole : at), &next, err));
            TL_TRY(add_edge(f, r, last, next, TL_EDGE_OUTLINE, err));
            last = next;
        }
    }
    return TL_OK;
}

// --- inner lines -----------------------------------------------------------------------------------------------

// The region's point where a line ends: on the outline, or at an end of an earlier line, or a new one.
static tl_status end_point(filler *f, region *r, int32_t panel, tl_vec2 at, int32_t lines_from, int32_t *out,
                           tl_error *err)
{
    const tl_outlines *o = &f->m->outlines;
    int32_t edge;
    double fraction;
    if (tl_panel_nearest(tl_pattern_panel(f->m->pattern, panel), at, &edge, &fraction) < TL_ON_OUTLINE) {
        const int32_t station = tl_outline_station(o, panel, tl_outline_place(o, panel, edge, fraction));
        if (station >= 0 && r->station_point[station] >= 0) {
            *out = r->station_point[station];
            return TL_OK;
        }
    }
    for (int32_t i = lines_from; i < r->point_count; i++)
        if (r->point[i].x == at.x && r->point[i].y == at.y) {
            *out = i;
            return TL_OK;
        }
    return add_point(f, r, at, out, err);
}

static tl_status add_line(filler *f, region *r, int32_t panel, const tl_line *l, int32_t lines_from, tl_error *err)
{
    const tl_panel *p = tl_pattern_panel(f->m->pattern, panel);
    const tl_region_edge_kind kind = l->kind == TL_LINE_HOLE ? TL_EDGE_OUTLINE : TL_EDGE_LINE;
    const tl_segment *first = &p->line_curves[l->curve], *final = &p->line_curves[l->curve + l->curve_count - 1];
    const bool closed = first->from.x == final->to.x && first->from.y == final->to.y;
    if (l->kind == TL_LINE_HOLE && !closed)
        return tl_fail(err, TL_BAD_INPUT, "panel '%s': a hole is not closed", p->name);
    int32_t last = 0, end = -1;
    TL_TRY(end_point(f, r, panel, first->from, lines_from, &last, err));
    if (closed) end = last;
    if (!closed) TL_TRY(end_point(f, r, panel, final->to, lines_from, &end, err));
    for (int32_t c = 0; c < l->curve_count; c++) {
        const tl_segment *s = &p->line_curves[l->curve + c];
        const double length = tl_segment_length(s), edge = f->m->def->edge;
        if (!(length > 0)) continue;
        const int32_t smooth = tl_segment_chords(s, 0.03 * fmin(edge, length));
        const int32_t parts = (int32_t)fmin(fmax(fmax(round(length / edge), smooth), 1), 100000);
        for (int32_t k = 1; k <= parts; k++) {
            int32_t next = end;
            if (c + 1 < l->curve_count || k < parts)
                TL_TRY(add_point(f, r, k == parts ? s->to : tl_segment_point(s, tl_segment_at(s, length * k / parts)),
                                 &next, err));
            if (next != last) TL_TRY(add_edge(f, r, last, next, kind, err));
            last = next;
        }
    }
    return TL_OK;
}

static tl_status make_region(filler *f, int32_t panel, tl_error *err)
{
    const tl_panel *p = tl_pattern_panel(f->m->pattern, panel);
    region *r = &f->regions[panel];
    r->station_point = TL_ALLOC(&f->m->alloc, int32_t, f->m->outlines.panels[panel].count);
    r->leg_edge = TL_CALLOC(&f->m->alloc, int32_t, p->dart_count);
    r->leg_parts = TL_CALLOC(&f->m->alloc, int32_t, p->dart_count);
    if (!r->station_point || !r->leg_edge || !r->leg_parts) return tl_fail_memory(err, "a region");
    TL_TRY(add_outline(f, r, panel, err));
    const int32_t lines_from = r->point_count;
    for (int32_t i = 0; i < p->line_count; i++) {
        const tl_line *l = &p->lines[i];
        if (l->kind == TL_LINE_CUT || l->kind == TL_LINE_DRILL) continue;
        TL_TRY(add_line(f, r, panel, l, lines_from, err));
    }
    return TL_OK;
}

// --- links and pairs -------------------------------------------------------------------------------------------

static tl_status add_link(filler *f, tl_region_link link, tl_error *err)
{
    if (f->m->def->panel >= 0 && (link.region_a != f->m->def->panel || link.region_b != f->m->def->panel)) return TL_OK;
    if (f->m->def->panel >= 0) link.region_a = link.region_b = 0;
    if (!TL_GROW(&f->m->alloc, f->links, f->link_cap, f->link_count + 1)) return tl_fail_memory(err, "seams");
    f->links[f->link_count++] = link;
    return TL_OK;
}

static tl_status make_links(filler *f, tl_error *err)
{
    const tl_outlines *o = &f->m->outlines;
    for (int32_t i = 0; i < o->link_count; i++) {
        const tl_stretch_link *l = &o->links[i];
        const tl_stretch *a = &o->stretches[l->a], *b = &o->stretches[l->b];
        const int32_t parts = tl_stretch_parts(o, l->a);
        for (int32_t k = 0; k < parts; k++)
            TL_TRY(add_link(f,
                            (tl_region_link){a->panel, a->edge + k, b->panel,
                                             b->edge + (l->reversed ? parts - 1 - k : k), l->reversed},
                            err));
    }
    for (int32_t p = 0; p < f->m->pattern->panel_count; p++)
        for (int32_t d = 0; d < tl_pattern_panel(f->m->pattern, p)->dart_count; d++) {
            const region *r = &f->regions[p];
            const int32_t parts = r->leg_parts[d], first = r->leg_edge[d];
            for (int32_t k = 0; k < parts; k++)
                TL_TRY(add_link(f, (tl_region_link){p, first + k, p, first + 2 * parts - 1 - k, true}, err));
        }
    return TL_OK;
}

// First piece of each input edge of a mesh; one entry more than edges.
static int32_t *piece_index(const filler *f, const tl_delaunay_mesh *mesh, int32_t edges)
{
    int32_t *start = TL_CALLOC(&f->m->alloc, int32_t, edges + 1);
    for (int32_t i = 0; start && i < mesh->edge_count; i++) start[mesh->edge[i].edge + 1]++;
    for (int32_t i = 0; start && i < edges; i++) start[i + 1] += start[i];
    return start;
}

typedef struct pairing {
    const tl_delaunay_mesh *mesh;
    int32_t *start, base;  ///< base: first vertex of the panel in the whole mesh
} pairing;

// Pairs along `parts` chords from edge_a on and their partners, the pieces of which run alike or against each other.
static tl_status pair_chords(filler *f, int32_t seam, const pairing q[2], const int32_t edge[2], int32_t parts,
                             bool reversed, tl_error *err)
{
    for (int32_t k = 0; k < parts; k++) {
        const int32_t ea = edge[0] + k, eb = edge[1] + (reversed ? parts - 1 - k : k);
        const int32_t a0 = q[0].start[ea], n = q[0].start[ea + 1] - a0, b0 = q[1].start[eb];
        if (q[1].start[eb + 1] - b0 != n)
            return tl_fail(err, TL_FAILED, "seam %d: its sides are cut into %d and %d pieces", seam, n,
                           q[1].start[eb + 1] - b0);
        for (int32_t i = 0; i < n; i++) {
            const tl_delaunay_edge *u = &q[0].mesh->edge[a0 + i],
                                   *v = &q[1].mesh->edge[b0 + (reversed ? n - 1 - i : i)];
            TL_TRY(tl_panel_mesh_pair(f->m, seam, q[0].base + u->a, q[1].base + (reversed ? v->b : v->a), err));
            TL_TRY(tl_panel_mesh_pair(f->m, seam, q[0].base + u->b, q[1].base + (reversed ? v->a : v->b), err));
        }
    }
    return TL_OK;
}

static tl_status make_pairs(filler *f, const pairing *q, tl_error *err)
{
    const tl_outlines *o = &f->m->outlines;
    for (int32_t i = 0; i < o->link_count; i++) {
        const tl_stretch_link *l = &o->links[i];
        const tl_stretch *a = &o->stretches[l->a], *b = &o->stretches[l->b];
        if (!q[a->panel].start || !q[b->panel].start) continue;  // a panel that is left out
        const pairing two[2] = {q[a->panel], q[b->panel]};
        TL_TRY(pair_chords(f, l->seam, two, (const int32_t[2]){a->edge, b->edge}, tl_stretch_parts(o, l->a),
                           l->reversed, err));
    }
    int32_t seam = f->m->pattern->seam_count;
    for (int32_t p = 0; p < f->m->pattern->panel_count; p++)
        for (int32_t d = 0; d < tl_pattern_panel(f->m->pattern, p)->dart_count; d++, seam++) {
            const region *r = &f->regions[p];
            if (!q[p].start) continue;
            const pairing two[2] = {q[p], q[p]};
            const int32_t edge[2] = {r->leg_edge[d], r->leg_edge[d] + r->leg_parts[d]};
            TL_TRY(pair_chords(f, seam, two, edge, r->leg_parts[d], true, err));
        }
    return TL_OK;
}

// --- the whole -------------------------------------------------------------------------------------------------

static tl_status take_meshes(filler *f, tl_error *err)
{
    const int32_t panels = f->m->pattern->panel_count, only = f->m->def->panel;
    pairing *q = TL_CALLOC(&f->m->alloc, pairing, panels);
    tl_status status = q ? TL_OK : tl_fail_memory(err, "meshes");
    for (int32_t i = 0; status == TL_OK && i < f->count; i++) {
        const int32_t p = only >= 0 ? only : i;
        const tl_delaunay_mesh *mesh = &f->meshes[i];
        q[p] = (pairing){mesh, piece_index(f, mesh, f->regions[p].edge_count), f->m->out->vert_count};
        if (!q[p].start) status = tl_fail_memory(err, "meshes");
        if (status == TL_OK)
            status = tl_panel_mesh_add(f->m, (tl_panel_mesh){.panel = p}, mesh->point, mesh->point_count, mesh->tri,
                                       mesh->tri_count, err);
    }
    if (status == TL_OK) status = make_pairs(f, q, err);
    for (int32_t p = 0; q && p < panels; p++)
        if (q[p].start) TL_FREE(&f->m->alloc, q[p].start, f->regions[p].edge_count + 1);
    if (q) TL_FREE(&f->m->alloc, q, panels);
    return status;
}

static tl_status fill(filler *f, tl_error *err)
{
    const int32_t panels = f->m->pattern->panel_count, only = f->m->def->panel;
    for (int32_t p = 0; p < panels; p++) TL_TRY(make_region(f, p, err));
    TL_TRY(make_links(f, err));
    f->count = only >= 0 ? 1 : panels;
    tl_region *list = TL_CALLOC(&f->m->alloc, tl_region, f->count);
    f->meshes = TL_CALLOC(&f->m->alloc, tl_delaunay_mesh, f->count);
    tl_status status = list && f->meshes ? TL_OK : tl_fail_memory(err, "regions");
    for (int32_t i = 0; status == TL_OK && i < f->count; i++) {
        const region *r = &f->regions[only >= 0 ? only : i];
        list[i] = (tl_region){r->point, r->point_count, r->edge, r->edge_count,
                              tl_pattern_panel(f->m->pattern, only >= 0 ? only : i)->name};
    }
    tl_delaunay_def def = tl_delaunay_def_default();
    def.edge = f->m->def->edge;
    if (status == TL_OK)
        status = tl_delaunay_fill(&f->m->alloc, list, f->count, f->links, f->link_count, &def, f->meshes, err);
    if (list) TL_FREE(&f->m->alloc, list, f->count);
    if (status == TL_OK) status = take_meshes(f, err);
    for (int32_t i = 0; f->meshes && i < f->count; i++) tl_delaunay_mesh_free(&f->meshes[i]);
    if (f->meshes) TL_FREE(&f->m->alloc, f->meshes, f->count);
    return status;
}

tl_status tl_panel_delaunay(tl_panel_mesher *m, tl_error *err)
{
    const int32_t panels = m->pattern->panel_count;
    filler f = {.m = m, .regions = TL_CALLOC(&m->alloc, region, panels)};
    if (!f.regions) return tl_fail_memory(err, "regions");
    const tl_status status = fill(&f, err);
    for (int32_t p = 0; p < panels; p++) {
        region *r = &f.regions[p];
        TL_FREE(&m->alloc, r->point, r->point_cap);
        TL_FREE(&m->alloc, r->edge, r->edge_cap);
        if (r->station_point) TL_FREE(&m->alloc, r->station_point, m->outlines.panels[p].count);
        if (r->leg_edge) TL_FREE(&m->alloc, r->leg_edge, tl_pattern_panel(m->pattern, p)->dart_count);
        if (r->leg_parts) TL_FREE(&m->alloc, r->leg_parts, tl_pattern_panel(m->pattern, p)->dart_count);
    }
    TL_FREE(&m->alloc, f.regions, panels);
    TL_FREE(&m->alloc, f.links, f.link_cap);
    return status;
}
