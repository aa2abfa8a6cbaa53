// pattern/delaunay_cuts.c: where edges are cut before they are triangulated.
//
// Lines inside a region may meet or cross each other and the outlines; there both are cut at one and the same point, so
// that no two edges cross any more. An end of a line that misses an edge by rounding is taken to lie on it. Outlines
// are not touched: those that cross each other are refused later, with the place.

#include <math.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "math/predicates.h"
#include "pattern/delaunay_impl.h"
#include "pattern/polyline.h"

#define TOUCH 1e-9  // of the region's size: far above rounding, far below any cloth

typedef struct cut_list {
    tl_edge_cut *item;
    int32_t count, cap;
} cut_list;

static bool list_add(const tl_allocator *alloc, cut_list *list, tl_edge_cut cut)
{
    if (!TL_GROW(alloc, list->item, list->cap, list->count + 1)) return false;
    list->item[list->count++] = cut;
    return true;
}

static bool comes_before(const tl_edge_cut *a, const tl_edge_cut *b)
{
    if (a->edge != b->edge) return a->edge < b->edge;
    if (a->t != b->t) return a->t < b->t;
    if (a->must != b->must) return a->must;
    return a->at.x != b->at.x ? a->at.x < b->at.x : a->at.y < b->at.y;
}

static void sift_down(tl_edge_cut *p, int32_t root, int32_t count)
{
    for (int32_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && comes_before(&p[child], &p[child + 1])) child++;
        if (!comes_before(&p[root], &p[child])) return;
        const tl_edge_cut t = p[root];
        p[root] = p[child], p[child] = t;
    }
}

static void sort_cuts(cut_list *list)
{
    tl_edge_cut *p = list->item;
    for (int32_t i = list->count / 2 - 1; i >= 0; i--) sift_down(p, i, list->count);
    for (int32_t n = list->count - 1; n > 0; n--) {
        const tl_edge_cut t = p[0];
        p[0] = p[n], p[n] = t;
        sift_down(p, 0, n);
    }
}

// --- lines that meet or cross --------------------------------------------------------------------------------

typedef struct pair {  // two edges of a region, by their ends
    tl_vec2 a, b, c, d;
    double touch;
} pair;

static bool same_place(tl_vec2 p, tl_vec2 q) { return p.x == q.x && p.y == q.y; }

static double place_on(tl_vec2 a, tl_vec2 b, tl_vec2 p)
{
    const tl_vec2 e = tl_sub2(b, a);
    return tl_dot2(tl_sub2(p, a), e) / tl_dot2(e, e);
}

// p lies on the inside of the edge from a to b, or misses it by next to nothing
static bool lies_on(tl_vec2 a, tl_vec2 b, tl_vec2 p, double touch)
{
    if (tl_distance2(a, p) <= touch || tl_distance2(b, p) <= touch) return false;
    const double t = place_on(a, b, p);
    return t > 0 && t < 1 && tl_distance2(tl_mix2(a, b, t), p) <= touch;
}

static bool boxes_meet(const pair *p)
{
    return fmin(p->a.x, p->b.x) - p->touch <= fmax(p->c.x, p->d.x) &&
           fmin(p->c.x, p->d.x) - p->touch <= fmax(p->a.x, p->b.x) &&
           fmin(p->a.y, p->b.y) - p->touch <= fmax(p->c.y, p->d.y) &&
           fmin(p->c.y, p->d.y) - p->touch <= fmax(p->a.y, p->b.y);
}

// Cuts of edges g (a to b) and h (c to d) where they meet.
static bool add_meeting(const tl_allocator *alloc, cut_list *list, const pair *p, int32_t g, int32_t h)
{
    bool touches = same_place(p->a, p->c) || same_place(p->a, p->d) || same_place(p->b, p->c) || same_place(p->b, p->d);
    const struct {
        int32_t edge;
        tl_vec2 from, to, end;
    } ends[4] = {{g, p->a, p->b, p->c}, {g, p->a, p->b, p->d}, {h, p->c, p->d, p->a}, {h, p->c, p->d, p->b}};
    for (int k = 0; k < 4; k++) {
        if (!lies_on(ends[k].from, ends[k].to, ends[k].end, p->touch)) continue;
        const double t = place_on(ends[k].from, ends[k].to, ends[k].end);
        if (!list_add(alloc, list, (tl_edge_cut){ends[k].edge, t, ends[k].end, true})) return false;
        touches = true;
    }
    if (touches) return true;
    const int c_side = tl_orient2d(p->a, p->b, p->c), d_side = tl_orient2d(p->a, p->b, p->d);
    const int a_side = tl_orient2d(p->c, p->d, p->a), b_side = tl_orient2d(p->c, p->d, p->b);
    if (c_side * d_side >= 0 || a_side * b_side >= 0) return true;
    const double ca = tl_cross2(tl_sub2(p->d, p->c), tl_sub2(p->a, p->c));
    const double cb = tl_cross2(tl_sub2(p->d, p->c), tl_sub2(p->b, p->c));
    if (!(ca != cb)) return true;
    const tl_vec2 at = tl_mix2(p->a, p->b, ca / (ca - cb));
    return list_add(alloc, list, (tl_edge_cut){g, ca / (ca - cb), at, true}) &&
           list_add(alloc, list, (tl_edge_cut){h, place_on(p->c, p->d, at), at, true});
}

static bool add_meetings(const tl_allocator *alloc, cut_list *list, const tl_region *region, int32_t base)
{
    tl_vec2 low = {INFINITY, INFINITY}, high = {-INFINITY, -INFINITY};
    for (int32_t i = 0; i < region->point_count; i++) {
        const tl_vec2 p = region->point[i];
        low = (tl_vec2){fmin(low.x, p.x), fmin(low.y, p.y)}, high = (tl_vec2){fmax(high.x, p.x), fmax(high.y, p.y)};
    }
    const double touch = TOUCH * fmax(high.x - low.x, high.y - low.y);
    for (int32_t g = 0; g < region->edge_count; g++) {
        if (region->edge[g].kind != TL_EDGE_LINE) continue;
        for (int32_t h = 0; h < region->edge_count; h++) {
            if (h == g || (h < g && region->edge[h].kind == TL_EDGE_LINE)) continue;  // two lines once
            const pair p = {region->point[region->edge[g].a], region->point[region->edge[g].b],
                            region->point[region->edge[h].a], region->point[region->edge[h].b], touch};
            if (same_place(p.a, p.b) || same_place(p.c, p.d) || !boxes_meet(&p)) continue;
            if (!add_meeting(alloc, list, &p, base + g, base + h)) return false;
        }
    }
    return true;
}

typedef struct cutter {
    const tl_allocator *alloc;
    const tl_links *links;
    const tl_region *region;
    const tl_delaunay_def *def;
    cut_list musts, ring, out;  ///< meetings of all edges; cuts of one ring, on its first edge; cuts of all edges
    int32_t *start;             ///< [edges + 1] into musts
    uint8_t *done;              ///< [edges]
} cutter;

// --- wanted lengths ------------------------------------------------------------------------------------------

enum { SAMPLES = 64 };

// Pieces that the wanted length asks for on an edge. `grown` gets the sum of 1 / length up to each sample.
static double pieces_of(const tl_region *region, int32_t e, const tl_delaunay_def *def, double grown[SAMPLES + 1])
{
    const tl_vec2 a = region->point[region->edge[e].a], b = region->point[region->edge[e].b];
    const double length = tl_distance2(a, b);
    grown[0] = 0;
    for (int k = 0; k < SAMPLES; k++) {
        const double size = def->size || k == 0 ? tl_refine_size(def, tl_mix2(a, b, (k + 0.5) / SAMPLES)) : def->edge;
        grown[k + 1] = grown[k] + length / SAMPLES / size;
    }
    return grown[SAMPLES];
}

// Where the sum reaches part k of n.
static double place_of(const double grown[SAMPLES + 1], int32_t k, int32_t n)
{
    const double goal = grown[SAMPLES] * k / n;
    int i = 0;
    while (i < SAMPLES - 1 && grown[i + 1] < goal) i++;
    const double step = grown[i + 1] - grown[i];
    return (i + (step > 0 ? (goal - grown[i]) / step : 0)) / SAMPLES;
}

// The cuts of one ring, on its first edge: those that must be, and between them as the side that needs most asks.
static bool add_pieces(cutter *c, int32_t first)
{
    enum { PIECES_MAX = 1000000 };
    const tl_links *l = c->links;
    const tl_delaunay_def *def = c->def;
    cut_list *list = &c->ring;
    double most = 0, grown[SAMPLES + 1], best[SAMPLES + 1] = {0};
    bool fixed = def->keep_edges || (def->edge == 0 && !def->size), turned = false;
    int32_t g = first;
    do {
        const int32_t r = tl_links_region(l, g), e = g - l->base[r];
        fixed |= c->region[r].edge[e].fixed;
        const double pieces = fixed ? 0 : pieces_of(&c->region[r], e, def, grown);
        if (pieces > most) {
            most = pieces, turned = l->turned[g] != l->turned[first];
            for (int k = 0; k <= SAMPLES; k++) best[k] = grown[k];
        }
        g = l->next[g];
    } while (g != first);
    const double parts = fmin(ceil(most - 0.25), PIECES_MAX);  // a little over the wanted length beats well below
    const int32_t n = fixed ? 1 : (int32_t)parts, musts = list->count;
    for (int32_t k = 1; k < n; k++) {
        const double t = turned ? 1 - place_of(best, n - k, n) : place_of(best, k, n);
        bool crowded = false;
        for (int32_t i = 0; i < musts; i++) crowded |= fabs(list->item[i].t - t) * n < 0.4;
        if (!crowded && !list_add(c->alloc, list, (tl_edge_cut){first, t, {0, 0}, false})) return false;
    }
    return true;
}

// Cuts of edge g of a ring, from those on the ring's first edge.
static bool copy_cuts(cutter *c, int32_t first, int32_t g)
{
    const tl_links *l = c->links;
    const cut_list *ring = &c->ring;
    const tl_region *region = &c->region[tl_links_region(l, g)];
    const tl_region_edge *edge = &region->edge[g - l->base[tl_links_region(l, g)]];
    const tl_vec2 a = region->point[edge->a], b = region->point[edge->b];
    double before = -1;
    for (int32_t k = 0; k < ring->count; k++) {
        const bool turned = l->turned[g] != l->turned[first];
        const tl_edge_cut *from = &ring->item[turned ? ring->count - 1 - k : k];
        tl_edge_cut cut = {g, turned ? 1 - from->t : from->t, from->at, from->must};
        if (cut.t - before < TOUCH || cut.t < TOUCH || cut.t > 1 - TOUCH) continue;  // twice the same
        before = cut.t;
        if (from->edge != g || !from->must) cut.at = cut.t < 0.5 ? tl_mix2(a, b, cut.t) : tl_mix2(b, a, 1 - cut.t);
        if (!list_add(c->alloc, &c->out, cut)) return false;
    }
    return true;
}

// --- all of it -----------------------------------------------------------------------------------------------

static bool cut_ring(cutter *c, int32_t first)
{
    const tl_links *l = c->links;
    cut_list *ring = &c->ring;
    int32_t g = first;
    ring->count = 0;
    do {
        for (int32_t k = c->start[g]; k < c->start[g + 1]; k++) {
            tl_edge_cut cut = c->musts.item[k];
            if (l->turned[g] != l->turned[first]) cut.t = 1 - cut.t;
            if (!list_add(c->alloc, ring, cut)) return false;
        }
        c->done[g] = 1;
        g = l->next[g];
    } while (g != first);
    if (!add_pieces(c, first)) return false;
    // by place alone: cuts of all edges of the ring are in one list, where each keeps the edge it comes from
    for (int32_t i = 1; i < ring->count; i++) {
        const tl_edge_cut moved = ring->item[i];
        int32_t j = i;
        for (; j > 0 && ring->item[j - 1].t > moved.t; j--) ring->item[j] = ring->item[j - 1];
        ring->item[j] = moved;
    }
    do {
        if (!copy_cuts(c, first, g)) return false;
        g = l->next[g];
    } while (g != first);
    return true;
}

static bool cut_all(cutter *c)
{
    const tl_links *l = c->links;
    for (int32_t r = 0; r < l->region_count; r++)
        if (!add_meetings(c->alloc, &c->musts, &c->region[r], l->base[r])) return false;
    sort_cuts(&c->musts);
    for (int32_t k = 0; k < c->musts.count; k++) c->start[c->musts.item[k].edge + 1]++;
    for (int32_t g = 0; g < l->edge_count; g++) c->start[g + 1] += c->start[g];
    for (int32_t first = 0; first < l->edge_count; first++)
        if (!c->done[first] && !cut_ring(c, first)) return false;
    sort_cuts(&c->out);
    return true;
}

tl_status tl_links_cut(const tl_allocator *alloc, tl_links *l, const tl_region *region, const tl_delaunay_def *def,
                       tl_error *err)
{
    cutter c = {.alloc = alloc, .links = l, .region = region, .def = def};
    c.start = TL_CALLOC(alloc, int32_t, l->edge_count + 1);
    c.done = TL_CALLOC(alloc, uint8_t, l->edge_count);
    const bool memory = c.start && c.done && cut_all(&c);
    if (memory) {
        for (int32_t k = 0; k < c.out.count; k++) l->cut_start[c.out.item[k].edge + 1]++;
        for (int32_t g = 0; g < l->edge_count; g++) l->cut_start[g + 1] += l->cut_start[g];
        l->cut = c.out.item, l->cut_cap = c.out.cap;
        c.out = (cut_list){0};
    }
    TL_FREE(alloc, c.musts.item, c.musts.cap);
    TL_FREE(alloc, c.ring.item, c.ring.cap);
    TL_FREE(alloc, c.out.item, c.out.cap);
    TL_FREE(alloc, c.start, l->edge_count + 1);
    TL_FREE(alloc, c.done, l->edge_count);
    return memory ? TL_OK : tl_fail_memory(err, "cuts of edges");
}
