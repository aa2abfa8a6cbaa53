// pattern/panel_grids.c: panels filled with grids of quads, cut into triangles.
//
// A grid sets its own points along the outline, at equal lengths of each of its four sides. So the two sides of a seam
// need not agree: every vertex of the side that has more goes to the nearest vertex, by the fraction of the seam,
// across.

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "math/vec3.h"
#include "pattern/panel_mesh.h"
#include "toile/grid.h"

// A vertex on the outline and how far along.
typedef struct rim {
    int32_t vert;
    double at;
} rim;

typedef struct gridder {
    tl_panel_mesher *m;
    tl_grid_cache *cache;
    rim **rims;
    int32_t *rim_count;
} gridder;

// The outline as a polygon, counter-clockwise, about `fine` metres a side; NULL: no memory.
static tl_vec2 *polygon(const gridder *g, int32_t panel, double fine, int32_t *count)
{
    const tl_outlines *o = &g->m->outlines;
    const tl_panel_outline *q = &o->panels[panel];
    const tl_panel *p = tl_pattern_panel(g->m->pattern, panel);
    const double whole = q->reach[p->curve_count];
    int32_t n = 0;
    for (int pass = 0; pass < 2; pass++) {
        tl_vec2 *out = pass ? TL_ALLOC(&g->m->alloc, tl_vec2, *count) : NULL;
        if (pass && !out) return NULL;
        n = 0;
        for (int32_t i = 0; i < q->count; i++) {
            const tl_stretch *s = &o->stretches[q->stretch + i];
            const int32_t own = tl_stretch_parts(o, q->stretch + i);
            const int32_t parts = (int32_t)fmin(fmax(ceil(s->length / fine), own), 20000);
            for (int32_t k = 0; k < parts; k++, n++) {
                const double at = s->from + s->length * k / parts;
                if (pass) out[n] = tl_outline_point(o, panel, at >= whole ? at - whole : at);
            }
        }
        *count = n;
        if (!pass) continue;
        for (int32_t i = 0; p->area < 0 && i < n / 2; i++) {
            const tl_vec2 t = out[i];
            out[i] = out[n - 1 - i], out[n - 1 - i] = t;
        }
        return out;
    }
    return NULL;
}

static double way(const tl_vec2 *p, int32_t count, int32_t from, int32_t to)
{
    double sum = 0;
    for (int32_t i = from; i != to; i = (i + 1) % count) sum += tl_norm2(tl_sub2(p[(i + 1) % count], p[i]));
    return sum;
}

static tl_status make_grid(gridder *g, int32_t panel, tl_quad_grid *out, tl_error *err)
{
    const tl_pattern_mesh_def *def = g->m->def;
    const tl_panel *p = tl_pattern_panel(g->m->pattern, panel);
    const double cell = def->cells_u > 0 ? p->perimeter / (2.0 * (def->cells_u + def->cells_v)) : def->edge;
    int32_t count = 0, corner[4];
    tl_vec2 *line = polygon(g, panel, 0.25 * cell, &count);
    if (!line) return tl_fail_memory(err, "an outline");
    tl_grid_def grid = tl_grid_def_default();
    grid.method = (tl_grid_method)(def->method - TL_PANEL_TFI);
    tl_status status = tl_grid_pick_corners(&g->m->alloc, line, count, corner, err);
    if (status == TL_OK) {
        const double u = 0.5 * (way(line, count, corner[0], corner[1]) + way(line, count, corner[2], corner[3]));
        const double v = 0.5 * (way(line, count, corner[1], corner[2]) + way(line, count, corner[3], corner[0]));
        grid.cells_u = def->cells_u > 0 ? def->cells_u : (int32_t)fmin(fmax(round(u / def->edge), 1), 10000);
        grid.cells_v = def->cells_v > 0 ? def->cells_v : (int32_t)fmin(fmax(round(v / def->edge), 1), 10000);
        status = tl_quad_grid_make(&g->m->alloc, line, count, corner, &grid, g->cache, out, err);
    }
    TL_FREE(&g->m->alloc, line, count);
    return status;
}

// The vertices around the grid with their places on the outline.
static tl_status find_rim(gridder *g, int32_t panel, const tl_quad_grid *grid, int32_t base, tl_error *err)
{
    const int32_t u = grid->cells_u, v = grid->cells_v, count = 2 * (u + v);
    const tl_panel *p = tl_pattern_panel(g->m->pattern, panel);
    rim *r = g->rims[panel] = TL_ALLOC(&g->m->alloc, rim, count);
    if (!r) return tl_fail_memory(err, "seams");
    g->rim_count[panel] = count;
    for (int32_t i = 0; i < count; i++) {
        const int32_t x = i < u ? i : i < u + v ? u : i < 2 * u + v ? 2 * u + v - i : 0;
        const int32_t y = i < u ? 0 : i < u + v ? i - u : i < 2 * u + v ? v : count - i;
        const int32_t k = y * (u + 1) + x;
        int32_t edge;
        double at;
        tl_panel_nearest(p, grid->point[k], &edge, &at);
        r[i] = (rim){base + k, tl_outline_place(&g->m->outlines, panel, edge, at)};
    }
    return TL_OK;
}

static tl_status grid_panel(gridder *g, int32_t panel, tl_error *err)
{
    const tl_panel *p = tl_pattern_panel(g->m->pattern, panel);
    const char *why = p->dart_count > 0 ? "a drawn dart" : NULL;
    for (int32_t i = 0; i < p->line_count; i++)
        if (p->lines[i].kind == TL_LINE_HOLE) why = "a hole";
    if (why)
        return tl_fail(err, TL_BAD_INPUT, "panel '%s': has %s, which grids cannot follow (take delaunay)", p->name,
                       why);
    tl_quad_grid grid = {0};
    tl_status status = make_grid(g, panel, &grid, err);
    if (status != TL_OK) {
        if (err && (status == TL_FAILED || status == TL_BAD_INPUT)) {
            const tl_error inner = *err;
            tl_fail(err, status, "panel '%s': %s (method %s; delaunay fills any panel)", p->name, inner.message,
                    tl_panel_method_name(g->m->def->method));
        }
        return status;
    }
    const int32_t points = (grid.cells_u + 1) * (grid.cells_v + 1), faces = 2 * grid.cells_u * grid.cells_v,
                  base = g->m->out->vert_count;
    int32_t(*tri)[3] = tl_alloc_bytes(&g->m->alloc, (size_t)faces, sizeof *tri);
    if (!tri) status = tl_fail_memory(err, "triangles");
    if (status == TL_OK) {
        tl_quad_grid_triangles(&grid, TL_DIAGONALS_SHORTEST, tri, NULL, NULL);
        const tl_grid_quality *q = &grid.report.quality;
        const tl_panel_mesh info = {
            .panel = panel, .area_ratio = q->area_ratio, .area_cv = q->area_cv, .repaired = grid.report.repaired};
        status = tl_panel_mesh_add(g->m, info, grid.point, points, tri, faces, err);
    }
    if (status == TL_OK) status = find_rim(g, panel, &grid, base, err);
    if (tri) TL_FREE(&g->m->alloc, tri, faces);
    tl_quad_grid_free(&grid);
    return status;
}

// Vertices on a seam's side with their fractions, sorted; NULL: no memory.
static rim *side_rim(const gridder *g, const tl_seam_side *side, int32_t *count)
{
    const int32_t capacity = g->rim_count[side->panel];
    rim *out = TL_ALLOC(&g->m->alloc, rim, capacity);
    *count = 0;
    for (int32_t i = 0; out && i < capacity; i++) {
        rim r = g->rims[side->panel][i];
        double f;
        if (!tl_outline_on_side(&g->m->outlines, side, r.at, &f)) continue;
        int32_t k = (*count)++;
        for (; k > 0 && out[k - 1].at > f; k--) out[k] = out[k - 1];
        out[k] = (rim){r.vert, f};
    }
    return out;
}

static tl_status pair_seam(gridder *g, int32_t seam, tl_error *err)
{
    const tl_seam *s = &g->m->pattern->seams[seam];
    if (!g->rims[s->side[0].panel] || !g->rims[s->side[1].panel]) return TL_OK;  // a panel that is left out
    int32_t count[2];
    rim *r[2];
    for (int k = 0; k < 2; k++) r[k] = side_rim(g, &s->side[k], &count[k]);
    tl_status status = r[0] && r[1] ? TL_OK : tl_fail_memory(err, "seams");
    const int more = count[1] > count[0], less = 1 - more;
    for (int32_t i = 0, j = 0; status == TL_OK && i < count[more] && count[less] > 0; i++) {
        while (j + 1 < count[less] && fabs(r[less][j + 1].at - r[more][i].at) <= fabs(r[less][j].at - r[more][i].at))
            j++;
        const int32_t a = r[more][i].vert, b = r[less][j].vert;
        status = tl_panel_mesh_pair(g->m, seam, more ? b : a, more ? a : b, err);
    }
    for (int k = 0; k < 2; k++)
        if (r[k]) TL_FREE(&g->m->alloc, r[k], g->rim_count[s->side[k].panel]);
    return status;
}

static tl_status fill(gridder *g, tl_error *err)
{
    const int32_t only = g->m->def->panel;
    for (int32_t p = 0; p < g->m->pattern->panel_count; p++)
        if (only < 0 || p == only) TL_TRY(grid_panel(g, p, err));
    for (int32_t i = 0; i < g->m->pattern->seam_count; i++) TL_TRY(pair_seam(g, i, err));
    return TL_OK;
}

tl_status tl_panel_grids(tl_panel_mesher *m, tl_error *err)
{
    const int32_t panels = m->pattern->panel_count;
    gridder g = {
        .m = m, .rims = TL_CALLOC(&m->alloc, rim *, panels), .rim_count = TL_CALLOC(&m->alloc, int32_t, panels)};
    tl_status status = g.rims && g.rim_count ? TL_OK : tl_fail_memory(err, "grids");
    if (status == TL_OK) status = tl_grid_cache_create(&m->alloc, &g.cache, err);
    if (status == TL_OK) status = fill(&g, err);
    tl_grid_cache_destroy(g.cache);
    for (int32_t p = 0; g.rims && p < panels; p++)
        if (g.rims[p]) TL_FREE(&m->alloc, g.rims[p], g.rim_count[p]);
    if (g.rims) TL_FREE(&m->alloc, g.rims, panels);
    if (g.rim_count) TL_FREE(&m->alloc, g.rim_count, panels);
    return status;
}
