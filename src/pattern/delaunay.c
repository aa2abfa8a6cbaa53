// pattern/delaunay.c: regions in, meshes out.

#include "toile/delaunay.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/def.h"
#include "base/fail.h"
#include "base/sort.h"
#include "base/timer.h"
#include "math/elementary.h"
#include "pattern/delaunay_impl.h"
#include "pattern/polyline.h"

#define DEGREES (180 / 3.14159265358979323846)

void tl_delaunay_def_init(tl_delaunay_def *def, size_t size)
{
    const tl_delaunay_def defaults = {.min_angle_deg = 26, .smoothing = 4, .point_max = 20000000};
    tl_def_init(def, size, &defaults, sizeof defaults);
}

static tl_status check_def(const tl_delaunay_def *def, tl_error *err)
{
    if (!(def->edge >= 0) || !isfinite(def->edge))
        return tl_fail(err, TL_BAD_ARG, "delaunay: edge %g, must be >= 0", def->edge);
    if (!(def->min_angle_deg >= 0 && def->min_angle_deg <= 30))
        return tl_fail(err, TL_BAD_ARG, "delaunay: min_angle_deg %g, must be 0 to 30", def->min_angle_deg);
    if (def->smoothing < 0 || def->point_max < 1)
        return tl_fail(err, TL_BAD_ARG, "delaunay: smoothing %d and point_max %d, must be >= 0 and >= 1",
                       def->smoothing, def->point_max);
    return TL_OK;
}

// --- output --------------------------------------------------------------------------------------------------

// Points of triangles in a new order: input points first, in theirs.
static int32_t number_points(const tl_refine_region *region, int32_t *number)
{
    const tl_cdt *c = &region->cdt;
    int32_t count = 0;
    for (int32_t v = 0; v < c->vert_count; v++) number[v] = -1;
    for (int32_t i = 0; i < region->input->point_count; i++) {
        const int32_t v = region->at[i];
        if (c->vert_tri[v] >= 0 && number[v] < 0) number[v] = count++;
    }
    for (int32_t v = 0; v < c->vert_count; v++)
        if (c->vert_tri[v] >= 0 && number[v] < 0) number[v] = count++;
    return count;
}

static int32_t count_pieces(const tl_cdt *c)
{
    int32_t count = 0;
    for (int32_t s = 0; s < c->seg_count; s++)
        for (int32_t o = c->seg[s].a >= 0 ? c->seg[s].owner : -1; o >= 0; o = c->owner[o].next) count++;
    return count;
}

static bool edge_before(const tl_delaunay_edge *a, const tl_delaunay_edge *b)
{
    return a->edge != b->edge ? a->edge < b->edge : a->ta < b->ta;
}

static void sift_edge(tl_delaunay_edge *e, int32_t root, int32_t count)
{
    for (int32_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && edge_before(&e[child], &e[child + 1])) child++;
        if (!edge_before(&e[root], &e[child])) return;
        const tl_delaunay_edge t = e[root];
        e[root] = e[child], e[child] = t;
    }
}

static void sort_edges(tl_delaunay_edge *e, int32_t count)
{
    for (int32_t i = count / 2 - 1; i >= 0; i--) sift_edge(e, i, count);
    for (int32_t n = count - 1; n > 0; n--) {
        const tl_delaunay_edge t = e[0];
        e[0] = e[n], e[n] = t;
        sift_edge(e, 0, n);
    }
}

static void list_pieces(const tl_cdt *c, const int32_t *number, tl_delaunay_edge *out)
{
    int32_t count = 0;
    for (int32_t s = 0; s < c->seg_count; s++) {
        if (c->seg[s].a < 0) continue;
        const int32_t a = number[c->seg[s].a], b = number[c->seg[s].b];
        for (int32_t o = c->seg[s].owner; o >= 0; o = c->owner[o].next) {
            const tl_cdt_owner *w = &c->owner[o];
            const bool along = w->ta < w->tb;
            out[count++] = along ? (tl_delaunay_edge){a, b, w->edge, w->ta, w->tb}
                                 : (tl_delaunay_edge){b, a, w->edge, w->tb, w->ta};
        }
    }
    sort_edges(out, count);
}

// A triangle with a vertex where input edges meet at less than 60 degrees.
static bool is_at_sharp_corner(const tl_cdt *c, const uint8_t *sharp, int32_t t)
{
    const int32_t *v = c->tri[t].v;
    return sharp[v[0]] || sharp[v[1]] || sharp[v[2]];
}

static void measure(const tl_refiner *f, const tl_refine_region *region, const uint8_t *sharp, tl_delaunay_report *out)
{
    const tl_cdt *c = &region->cdt;
    double edges = 0, sum = 0;
    out->min_angle_deg = out->min_free_angle_deg = 180, out->edge_min = INFINITY;
    for (int32_t t = 0; t < c->tri_count; t++) {
        const tl_cdt_tri *tri = &c->tri[t];
        bool excused;
        const bool poor = tl_refine_is_poor(f, region, t, &excused);
        double least = 180;
        for (int k = 0; k < 3; k++) {
            const tl_vec2 p = c->point[tri->v[k]], q = c->point[tri->v[tl_next3(k)]], r = c->point[tri->v[tl_prev3(k)]];
            const tl_vec2 pq = tl_sub2(q, p), pr = tl_sub2(r, p);
            least = fmin(least, tl_atan2(tl_cross2(pq, pr), tl_dot2(pq, pr)) * DEGREES);
            if (k == 0) out->area += 0.5 * tl_cross2(pq, pr);
            if (tri->n[k] > t) continue;  // each edge once
            const double length = tl_distance2(q, r);
            edges++, sum += length;
            out->edge_min = fmin(out->edge_min, length), out->edge_max = fmax(out->edge_max, length);
        }
        out->min_angle_deg = fmin(out->min_angle_deg, least);
        if (!excused && !is_at_sharp_corner(c, sharp, t))
            out->min_free_angle_deg = fmin(out->min_free_angle_deg, least);
        out->left_poor += poor;
    }
    out->edge_mean = sum / edges;
}

tl_status tl_region_output(tl_refiner *f, int32_t r, tl_delaunay_mesh *out, tl_error *err)
{
    const tl_refine_region *region = &f->region[r];
    const tl_cdt *c = &region->cdt;
    int32_t *number = TL_ALLOC(&f->alloc, int32_t, c->vert_count);
    uint8_t *sharp = TL_CALLOC(&f->alloc, uint8_t, c->vert_count);
    tl_status status = TL_OK;
    *out = (tl_delaunay_mesh){.alloc = f->alloc};
    if (number) out->point_count = number_points(region, number);
    out->input_count = region->input->point_count, out->tri_count = c->tri_count, out->edge_count = count_pieces(c);
    out->point = TL_ALLOC(&f->alloc, tl_vec2, out->point_count);
    out->at = TL_ALLOC(&f->alloc, int32_t, out->input_count);
    out->tri = tl_alloc_bytes(&f->alloc, (size_t)out->tri_count, sizeof *out->tri);
    out->edge = TL_ALLOC(&f->alloc, tl_delaunay_edge, out->edge_count);
    if (!number || !sharp || !out->point || !out->at || !out->tri || !out->edge) {
        status = tl_fail_memory(err, "mesh of a region");
    } else {
        for (int32_t v = 0; v < c->vert_count; v++)
            if (number[v] >= 0) out->point[number[v]] = c->point[v], out->report.cuts += c->vert_edge[v] >= 0;
        for (int32_t i = 0; i < out->input_count; i++) out->at[i] = number[region->at[i]];
        for (int32_t t = 0; t < c->tri_count; t++)
            for (int k = 0; k < 3; k++) out->tri[t][k] = number[c->tri[t].v[k]];
        list_pieces(c, number, out->edge);
        for (int32_t s = 0; s < c->seg_count; s++) {
            if (c->seg[s].a < 0) continue;
            if (c->seg[s].sharp_a) sharp[c->seg[s].a] = 1;
            if (c->seg[s].sharp_b) sharp[c->seg[s].b] = 1;
        }
        measure(f, region, sharp, &out->report);
    }
    TL_FREE(&f->alloc, number, c->vert_count);
    TL_FREE(&f->alloc, sharp, c->vert_count);
    return status;
}

void tl_delaunay_mesh_free(tl_delaunay_mesh *mesh)
{
    if (mesh->alloc.resize) {
        TL_FREE(&mesh->alloc, mesh->point, mesh->point_count);
        TL_FREE(&mesh->alloc, mesh->at, mesh->input_count);
        TL_FREE(&mesh->alloc, mesh->tri, mesh->tri_count);
        TL_FREE(&mesh->alloc, mesh->edge, mesh->edge_count);
    }
    *mesh = (tl_delaunay_mesh){0};
}

// --- all regions ---------------------------------------------------------------------------------------------

static void region_free(const tl_allocator *alloc, tl_refine_region *region)
{
    tl_cdt_free(&region->cdt);
    TL_FREE(alloc, region->at, region->input->point_count);
    TL_FREE(alloc, region->queue, region->queue_cap);
    TL_FREE(alloc, region->cuts, region->cut_cap);
    TL_FREE(alloc, region->mark, region->mark_cap);
    TL_FREE(alloc, region->sharp, region->sharp_cap);
}

static tl_status fill_all(tl_refiner *f, tl_links *links, tl_delaunay_mesh *mesh, tl_error *err)
{
    for (int32_t r = 0; r < f->count; r++) {
        const double begin = tl_now();
        TL_TRY(tl_region_triangulate(f, r, links, err));
        mesh[r].report.seconds = tl_now() - begin;
    }
    TL_TRY(tl_links_pair(f, links, err));
    const double begin = tl_now();
    TL_TRY(tl_refine_run(f, err));
    const double refined = (tl_now() - begin) / f->count;
    for (int32_t r = 0; r < f->count; r++) {
        const double from = tl_now(), before = mesh[r].report.seconds + refined;
        if (f->def->smoothing > 0) TL_TRY(tl_refine_smooth(f, r, err));
        TL_TRY(tl_region_output(f, r, &mesh[r], err));
        mesh[r].report.seconds = before + tl_now() - from;
    }
    return TL_OK;
}

tl_status tl_delaunay_fill(const tl_allocator *alloc, const tl_region *region, int32_t count,
                           const tl_region_link *link, int32_t link_count, const tl_delaunay_def *given,
                           tl_delaunay_mesh *mesh, tl_error *err)
{
    if (count < 1) return tl_fail(err, TL_BAD_ARG, "delaunay: %d regions, must be at least 1", count);
    memset(mesh, 0, (size_t)count * sizeof *mesh);
    TL_DEF_COMPLETE(tl_delaunay_def, full, given, err);
    const tl_delaunay_def *def = &full;
    TL_TRY(check_def(def, err));
    for (int32_t r = 0; r < count; r++) TL_TRY(tl_region_check(&region[r], r, err));
    tl_refiner f = {.alloc = *alloc, .def = def, .count = count, .sine = tl_sin(def->min_angle_deg / DEGREES)};
    tl_links links;
    tl_status status = tl_links_create(alloc, region, count, link, link ? link_count : 0, &links, err);
    if (status == TL_OK) {
        f.region = TL_CALLOC(alloc, tl_refine_region, count);
        if (!f.region) status = tl_fail_memory(err, "regions");
    }
    if (status == TL_OK) {
        for (int32_t r = 0; r < count; r++) f.region[r].input = &region[r];
        status = tl_links_cut(alloc, &links, region, def, err);
        if (status == TL_OK) status = fill_all(&f, &links, mesh, err);
        for (int32_t r = 0; r < count; r++) region_free(alloc, &f.region[r]);
    }
    TL_FREE(alloc, f.region, count);
    tl_links_free(alloc, &links);
    if (status != TL_OK)
        for (int32_t r = 0; r < count; r++) tl_delaunay_mesh_free(&mesh[r]);
    return status;
}
