// pattern/delaunay_input.c: from points and edges of a region to its constrained Delaunay triangulation.

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/sort.h"
#include "pattern/delaunay_impl.h"
#include "pattern/polyline.h"

enum { HILBERT_BITS = 16 };

// Place of (x, y), both of HILBERT_BITS bits, along a Hilbert curve: neighbours in the order are neighbours in the
// plane.
static uint64_t hilbert(uint32_t x, uint32_t y)
{
    uint64_t d = 0;
    for (uint32_t s = 1u << (HILBERT_BITS - 1); s > 0; s /= 2) {
        const uint32_t rx = (x & s) > 0, ry = (y & s) > 0;
        d += (uint64_t)s * s * ((3 * rx) ^ ry);
        if (ry == 0) {
            if (rx == 1) x = (1u << HILBERT_BITS) - 1 - x, y = (1u << HILBERT_BITS) - 1 - y;
            const uint32_t t = x;
            x = y, y = t;
        }
    }
    return d;
}

// Points come in rounds, half of them drawn for the last, a quarter for the one before: a curve put in from end to end
// would flip most of what it made (Amenta, Choi & Rote 2003).
static int round_of(int32_t id)
{
    const uint64_t bits = tl_mix64((uint64_t)id + UINT64_C(0x9e3779b97f4a7c15));
    return bits == 0 ? 0 : 63 - __builtin_ctzll(bits);
}

typedef struct input {  // points of a region: its own, then the first cuts of its edges, edge by edge
    tl_vec2 *point;
    int32_t *vert;           ///< vertex of each
    const tl_edge_cut *cut;  ///< of the region's edges
    const int32_t *start;    ///< [edges + 1] of each edge, counted from start[0]
    int32_t count;
    tl_vec2 low, high;
} input;

static void input_free(const tl_allocator *alloc, input *in)
{
    TL_FREE(alloc, in->point, in->count);
    TL_FREE(alloc, in->vert, in->count);
}

tl_status tl_region_check(const tl_region *region, int32_t r, tl_error *err)
{
    char name[64];
    tl_region_name(region, r, name, sizeof name);
    for (int32_t i = 0; i < region->point_count; i++)
        if (!isfinite(region->point[i].x) || !isfinite(region->point[i].y))
            return tl_fail(err, TL_BAD_INPUT, "%s, point %d is (%g, %g), must be finite", name, i, region->point[i].x,
                           region->point[i].y);
    for (int32_t e = 0; e < region->edge_count; e++) {
        const tl_region_edge *edge = &region->edge[e];
        if (edge->a < 0 || edge->b < 0 || edge->a >= region->point_count || edge->b >= region->point_count)
            return tl_fail(err, TL_BAD_INPUT, "%s, edge %d joins points %d and %d, must be 0 to %d", name, e, edge->a,
                           edge->b, region->point_count - 1);
    }
    if (region->point_count < 3 || region->edge_count < 3)
        return tl_fail(err, TL_BAD_INPUT, "%s has %d points and %d edges, an outline needs at least 3", name,
                       region->point_count, region->edge_count);
    return TL_OK;
}

static tl_status input_create(const tl_allocator *alloc, const tl_region *region, const tl_links *links, int32_t base,
                              input *in, tl_error *err)
{
    const tl_edge_cut *cut = links->cut ? links->cut + links->cut_start[base] : NULL;
    const int32_t cuts = links->cut_start[base + region->edge_count] - links->cut_start[base];
    *in = (input){.cut = cut, .start = links->cut_start + base};
    if ((int64_t)region->point_count + cuts > INT32_MAX / 8)
        return tl_fail(err, TL_BAD_INPUT, "edges would be cut into more than %d pieces", INT32_MAX / 8);
    in->count = region->point_count + cuts;
    in->point = TL_ALLOC(alloc, tl_vec2, in->count);
    in->vert = TL_ALLOC(alloc, int32_t, in->count);
    if (!in->point || !in->vert) return tl_fail_memory(err, "points of a region");
    memcpy(in->point, region->point, (size_t)region->point_count * sizeof *in->point);
    for (int32_t k = 0; k < cuts; k++) in->point[region->point_count + k] = cut[k].at;
    in->low = in->high = region->point[0];
    for (int32_t i = 0; i < region->point_count; i++) {
        const tl_vec2 p = region->point[i];
        in->low = (tl_vec2){fmin(in->low.x, p.x), fmin(in->low.y, p.y)};
        in->high = (tl_vec2){fmax(in->high.x, p.x), fmax(in->high.y, p.y)};
    }
    return TL_OK;
}

static tl_status insert_points(const tl_allocator *alloc, tl_cdt *c, input *in, tl_error *err)
{
    tl_key *keys = TL_ALLOC(alloc, tl_key, in->count), *scratch = TL_ALLOC(alloc, tl_key, in->count);
    tl_status status =
        keys && scratch && tl_cdt_reserve(c, in->count) ? TL_OK : tl_fail_memory(err, "points of a region");
    if (status == TL_OK) {
        const double reach = fmax(in->high.x - in->low.x, in->high.y - in->low.y);
        const double scale = reach > 0 ? ((1 << HILBERT_BITS) - 1) / reach : 0;
        for (int32_t i = 0; i < in->count; i++) {
            const double x = (in->point[i].x - in->low.x) * scale, y = (in->point[i].y - in->low.y) * scale;
            keys[i].key = hilbert((uint32_t)fmax(x, 0) & 0xffff, (uint32_t)fmax(y, 0) & 0xffff);
            keys[i].key |= (uint64_t)round_of(i) << 2 * HILBERT_BITS;
            keys[i].id = i;
        }
        tl_sort_keys(keys, scratch, in->count);
        for (int32_t k = 0; k < in->count; k++) {
            const tl_vec2 p = in->point[keys[k].id];
            in->vert[keys[k].id] = tl_cdt_insert(c, p, tl_cdt_locate(c, p, c->last, false));
        }
    }
    TL_FREE(alloc, keys, in->count);
    TL_FREE(alloc, scratch, in->count);
    return status;
}

// Outlines close when every vertex has an even number of their edges.
static tl_status check_closed(const tl_allocator *alloc, const tl_region *region, const input *in, int32_t vert_count,
                              const char *name, tl_error *err)
{
    uint8_t *odd = TL_CALLOC(alloc, uint8_t, vert_count);
    if (!odd) return tl_fail_memory(err, "ends of outlines");
    for (int32_t e = 0; e < region->edge_count; e++)
        if (region->edge[e].kind == TL_EDGE_OUTLINE)
            odd[in->vert[region->edge[e].a]] ^= 1, odd[in->vert[region->edge[e].b]] ^= 1;
    tl_status status = TL_OK;
    for (int32_t e = 0; e < region->edge_count && status == TL_OK; e++)
        for (int end = 0; end < 2 && status == TL_OK; end++) {
            const int32_t i = end ? region->edge[e].b : region->edge[e].a;
            if (region->edge[e].kind == TL_EDGE_OUTLINE && odd[in->vert[i]])
                status = tl_fail(err, TL_BAD_INPUT, "%s: the outline is open at point %d (%g, %g), an end of edge %d",
                                 name, i, region->point[i].x, region->point[i].y, e);
        }
    TL_FREE(alloc, odd, vert_count);
    return status;
}

// The pieces of edge e, from cut to cut.
static tl_status add_edge(tl_cdt *c, const tl_region *region, const input *in, int32_t e, tl_cdt_crossing *x,
                          tl_error *err)
{
    const tl_region_edge *edge = &region->edge[e];
    const int32_t first = in->start[e] - in->start[0], count = in->start[e + 1] - in->start[e];
    int32_t a = in->vert[edge->a];
    double ta = 0;
    for (int32_t k = 0; k <= count; k++) {
        const int32_t b = k == count ? in->vert[edge->b] : in->vert[region->point_count + first + k];
        const double tb = k == count ? 1 : in->cut[first + k].t;
        const tl_cdt_owner owner = {e, -1, ta, tb};
        if (a != b) TL_TRY(tl_cdt_add_segment(c, a, b, &owner, edge->kind == TL_EDGE_OUTLINE, edge->fixed, x, err));
        if (k < count) c->vert_edge[b] = e;
        a = b, ta = tb;
    }
    return TL_OK;
}

static tl_status add_edges(tl_cdt *c, const tl_region *region, const input *in, const char *name, tl_error *err)
{
    for (int32_t e = 0; e < region->edge_count; e++) {
        tl_cdt_crossing x = {0};
        const tl_status status = add_edge(c, region, in, e, &x, err);
        if (status == TL_FAILED)
            return tl_fail(err, TL_BAD_INPUT, "%s: edge %d crosses edge %d at (%.9g, %.9g)", name, x.edge_a, x.edge_b,
                           x.at.x, x.at.y);
        if (status != TL_OK) return status;
    }
    return TL_OK;
}

static bool corner_before(const tl_sharp_corner *a, const tl_sharp_corner *b)
{
    return a->a != b->a ? a->a < b->a : a->b != b->b ? a->b < b->b : a->z < b->z;
}

static void sift_corner(tl_sharp_corner *p, int32_t root, int32_t count)
{
    for (int32_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && corner_before(&p[child], &p[child + 1])) child++;
        if (!corner_before(&p[root], &p[child])) return;
        const tl_sharp_corner t = p[root];
        p[root] = p[child], p[child] = t;
    }
}

static void sort_corners(tl_sharp_corner *p, int32_t count)
{
    for (int32_t i = count / 2 - 1; i >= 0; i--) sift_corner(p, i, count);
    for (int32_t n = count - 1; n > 0; n--) {
        const tl_sharp_corner t = p[0];
        p[0] = p[n], p[n] = t;
        sift_corner(p, 0, n);
    }
}

// Flags the ends of segments that leave their vertex within 60 degrees of another, with the inside between them.
static bool flag_sharp(const tl_allocator *alloc, tl_refine_region *region)
{
    tl_cdt *c = &region->cdt;
    for (int32_t t = 0; t < c->tri_count; t++)
        for (int i = 0; i < 3; i++) {  // turn from the edge (v[i], v[i+1]) to the next segment at v[i]
            const int32_t s = c->tri[t].s[tl_prev3(i)], v = c->tri[t].v[i];
            if (s < 0) continue;
            const tl_vec2 from = tl_sub2(c->point[c->tri[t].v[tl_next3(i)]], c->point[v]);
            int32_t u = t, k = i;
            while (c->tri[u].s[tl_next3(k)] < 0) {
                u = c->tri[u].n[tl_next3(k)];
                k = 0;
                while (c->tri[u].v[k] != v) k++;
                if (u == t) break;
            }
            const int32_t other = c->tri[u].s[tl_next3(k)];
            if (other < 0 || other == s) continue;
            const tl_vec2 to = tl_sub2(c->point[c->tri[u].v[tl_prev3(k)]], c->point[v]);
            const double dot = tl_dot2(from, to);
            if (!(tl_cross2(from, to) > 0 && dot > 0 && dot * dot > 0.25 * tl_dot2(from, from) * tl_dot2(to, to)))
                continue;
            tl_cdt_segment *both[2] = {&c->seg[s], &c->seg[other]};
            for (int n = 0; n < 2; n++) {
                if (both[n]->a == v) both[n]->sharp_a = true;
                if (both[n]->b == v) both[n]->sharp_b = true;
            }
            const int32_t e = c->owner[c->seg[s].owner].edge, g = c->owner[c->seg[other].owner].edge;
            if (!TL_GROW(alloc, region->sharp, region->sharp_cap, region->sharp_count + 1)) return false;
            region->sharp[region->sharp_count++] = (tl_sharp_corner){e < g ? e : g, e < g ? g : e, v};
        }
    sort_corners(region->sharp, region->sharp_count);
    return true;
}

// Bounds on what refinement may make: none of its edges is below `part` of the shortest piece or wanted length.
static void set_bounds(tl_refine_region *region, const tl_delaunay_def *def)
{
    const double part = 1e-3;  // corners down to half a degree get well-shaped triangles behind them
    tl_cdt *c = &region->cdt;
    region->shortest = def->edge > 0 ? part * def->edge : INFINITY;
    for (int32_t s = 0; s < c->seg_count; s++) {
        if (c->seg[s].a < 0) continue;
        const double length = tl_distance2(c->point[c->seg[s].a], c->point[c->seg[s].b]);
        c->seg[s].least = 2e-4 * length;  // room to grade towards points that are close together
        c->seg[s].fixed |= def->keep_edges;
        region->shortest = fmin(region->shortest, part * length);
    }
}

tl_status tl_region_triangulate(tl_refiner *f, int32_t r, const tl_links *links, tl_error *err)
{
    tl_refine_region *region = &f->region[r];
    const tl_region *from = region->input;
    char name[64];
    tl_region_name(from, r, name, sizeof name);
    region->at = TL_ALLOC(&f->alloc, int32_t, from->point_count);
    if (!region->at) return tl_fail_memory(err, "points of a region");
    input in;
    tl_cdt *c = &region->cdt;
    tl_status status = input_create(&f->alloc, from, links, links->base[r], &in, err);
    if (status == TL_OK) status = tl_cdt_init(c, &f->alloc, in.low, in.high, err);
    if (status == TL_OK) status = insert_points(&f->alloc, c, &in, err);
    if (status == TL_OK) status = check_closed(&f->alloc, from, &in, c->vert_count, name, err);
    if (status == TL_OK) status = add_edges(c, from, &in, name, err);
    if (status == TL_OK) {
        memcpy(region->at, in.vert, (size_t)from->point_count * sizeof *region->at);
        for (int32_t i = 0; i < from->point_count; i++) c->vert_edge[in.vert[i]] = -1;
        status = tl_cdt_carve(c, err);
        if (status == TL_FAILED) status = tl_fail(err, TL_BAD_INPUT, "%s: the outline does not close", name);
        if (status == TL_BAD_INPUT && c->tri_count == 0)
            status = tl_fail(err, TL_BAD_INPUT, "%s: its %d edges enclose no area", name, from->edge_count);
    }
    if (status == TL_OK && !tl_cdt_legalise_all(c)) status = tl_fail_memory(err, "triangulation");
    if (status == TL_OK && !flag_sharp(&f->alloc, region)) status = tl_fail_memory(err, "corners of a region");
    if (status == TL_OK) set_bounds(region, f->def);
    input_free(&f->alloc, &in);
    return status;
}
