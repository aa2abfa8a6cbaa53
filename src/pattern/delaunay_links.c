// pattern/delaunay_links.c: edges of several regions that are cut at the same fractions.

#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "pattern/delaunay_impl.h"
#include "pattern/polyline.h"

const char *tl_region_name(const tl_region *region, int32_t index, char *out, size_t size)
{
    if (region->name)
        snprintf(out, size, "%s", region->name);
    else
        snprintf(out, size, "region %d", index);
    return out;
}

void tl_links_free(const tl_allocator *alloc, tl_links *links)
{
    TL_FREE(alloc, links->base, links->region_count + 1);
    TL_FREE(alloc, links->next, links->edge_count);
    TL_FREE(alloc, links->turned, links->edge_count);
    TL_FREE(alloc, links->cut_start, links->edge_count + 1);
    TL_FREE(alloc, links->cut, links->cut_cap);
    *links = (tl_links){0};
}

// Joins the rings of two edges.
static void join_rings(tl_links *l, int32_t a, int32_t b, bool reversed)
{
    for (int32_t k = l->next[a]; k != a; k = l->next[k])
        if (k == b) return;
    if (a == b) return;
    if ((l->turned[a] ^ l->turned[b]) != reversed)
        for (int32_t k = b, first = 1; first || k != b; k = l->next[k], first = 0) l->turned[k] ^= 1;
    const int32_t t = l->next[a];
    l->next[a] = l->next[b], l->next[b] = t;
}

tl_status tl_links_create(const tl_allocator *alloc, const tl_region *region, int32_t count, const tl_region_link *link,
                          int32_t link_count, tl_links *out, tl_error *err)
{
    *out = (tl_links){.region_count = count};
    out->base = TL_ALLOC(alloc, int32_t, count + 1);
    if (!out->base) return tl_fail_memory(err, "links of regions");
    out->base[0] = 0;
    for (int32_t r = 0; r < count; r++) out->base[r + 1] = out->base[r] + region[r].edge_count;
    out->edge_count = out->base[count];
    out->next = TL_ALLOC(alloc, int32_t, out->edge_count);
    out->turned = TL_CALLOC(alloc, uint8_t, out->edge_count);
    out->cut_start = TL_CALLOC(alloc, int32_t, out->edge_count + 1);
    if (!out->next || !out->turned || !out->cut_start) return tl_fail_memory(err, "links of regions");
    for (int32_t g = 0; g < out->edge_count; g++) out->next[g] = g;
    for (int32_t k = 0; k < link_count; k++) {
        const tl_region_link *l = &link[k];
        if (l->region_a < 0 || l->region_a >= count || l->region_b < 0 || l->region_b >= count)
            return tl_fail(err, TL_BAD_INPUT, "link %d: regions %d and %d, must be 0 to %d", k, l->region_a,
                           l->region_b, count - 1);
        if (l->edge_a < 0 || l->edge_a >= region[l->region_a].edge_count || l->edge_b < 0 ||
            l->edge_b >= region[l->region_b].edge_count)
            return tl_fail(err, TL_BAD_INPUT, "link %d: edges %d and %d, regions have %d and %d", k, l->edge_a,
                           l->edge_b, region[l->region_a].edge_count, region[l->region_b].edge_count);
        join_rings(out, out->base[l->region_a] + l->edge_a, out->base[l->region_b] + l->edge_b, l->reversed);
    }
    return TL_OK;
}

// --- pieces of linked edges ----------------------------------------------------------------------------------

typedef struct piece {
    int32_t edge, seg;  ///< number over all regions; segment of its region
    double t;           ///< middle of the piece on the edge
} piece;

static bool comes_before(const piece *a, const piece *b)
{
    return a->edge != b->edge ? a->edge < b->edge : a->t != b->t ? a->t < b->t : a->seg < b->seg;
}

static void sift_down(piece *p, int32_t root, int32_t count)
{
    for (int32_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && comes_before(&p[child], &p[child + 1])) child++;
        if (!comes_before(&p[root], &p[child])) return;
        const piece t = p[root];
        p[root] = p[child], p[child] = t;
    }
}

static void sort_pieces(piece *p, int32_t count)
{
    for (int32_t i = count / 2 - 1; i >= 0; i--) sift_down(p, i, count);
    for (int32_t n = count - 1; n > 0; n--) {
        const piece t = p[0];
        p[0] = p[n], p[n] = t;
        sift_down(p, 0, n);
    }
}

int32_t tl_links_region(const tl_links *l, int32_t g)
{
    int32_t low = 0, high = l->region_count;
    while (high - low > 1) {
        const int32_t mid = (low + high) / 2;
        if (l->base[mid] <= g)
            low = mid;
        else
            high = mid;
    }
    return low;
}

// Links the pieces of edge g with those of the next of its ring, in order. False: there are not as many.
static bool pair_edges(tl_refiner *f, const tl_links *l, const piece *p, const int32_t *start, int32_t g)
{
    const int32_t h = l->next[g], count = start[g + 1] - start[g];
    if (start[h + 1] - start[h] != count || count == 0) return false;
    const bool turned = l->turned[g] != l->turned[h];
    const int32_t rg = tl_links_region(l, g), rh = tl_links_region(l, h);
    for (int32_t k = 0; k < count; k++) {
        const int32_t other = p[start[h] + (turned ? count - 1 - k : k)].seg;
        tl_cdt_segment *s = &f->region[rg].cdt.seg[p[start[g] + k].seg];
        const tl_cdt_segment *o = &f->region[rh].cdt.seg[other];
        const tl_cdt_owner *os = &f->region[rg].cdt.owner[s->owner], *oo = &f->region[rh].cdt.owner[o->owner];
        if (os->edge != g - l->base[rg] || oo->edge != h - l->base[rh]) return false;  // lies on another edge
        // segments may run against their edges
        s->twin_region = rh, s->twin = other, s->twin_reversed = turned ^ (os->ta > os->tb) ^ (oo->ta > oo->tb);
    }
    return true;
}

static int32_t gather_pieces(const tl_refiner *f, const tl_links *l, piece *out)
{
    int32_t count = 0;
    for (int32_t r = 0; r < f->count; r++) {
        const tl_cdt *c = &f->region[r].cdt;
        for (int32_t s = 0; s < c->seg_count; s++)
            for (int32_t o = c->seg[s].a >= 0 ? c->seg[s].owner : -1; o >= 0; o = c->owner[o].next) {
                const int32_t g = l->base[r] + c->owner[o].edge;
                if (l->next[g] == g) continue;
                if (out) out[count] = (piece){g, s, 0.5 * (c->owner[o].ta + c->owner[o].tb)};
                count++;
            }
    }
    return count;
}

tl_status tl_links_pair(tl_refiner *f, const tl_links *l, tl_error *err)
{
    const int32_t count = gather_pieces(f, l, NULL);
    if (count == 0) return TL_OK;
    piece *pieces = TL_ALLOC(&f->alloc, piece, count);
    int32_t *start = TL_CALLOC(&f->alloc, int32_t, l->edge_count + 1);
    tl_status status = pieces && start ? TL_OK : tl_fail_memory(err, "links of regions");
    if (status == TL_OK) {
        gather_pieces(f, l, pieces);
        sort_pieces(pieces, count);
        for (int32_t k = 0; k < count; k++) start[pieces[k].edge + 1]++;
        for (int32_t g = 0; g < l->edge_count; g++) start[g + 1] += start[g];
    }
    for (int32_t g = 0; g < l->edge_count && status == TL_OK; g++)
        if (l->next[g] != g && !pair_edges(f, l, pieces, start, g)) {
            char a[64], b[64];
            const int32_t h = l->next[g], rg = tl_links_region(l, g), rh = tl_links_region(l, h);
            status = tl_fail(err, TL_BAD_INPUT,
                             "%s, edge %d and %s, edge %d are linked but have %d and %d pieces: points or edges of the "
                             "input lie on one of them; cut both there",
                             tl_region_name(f->region[rg].input, rg, a, sizeof a), g - l->base[rg],
                             tl_region_name(f->region[rh].input, rh, b, sizeof b), h - l->base[rh],
                             start[g + 1] - start[g], start[h + 1] - start[h]);
        }
    TL_FREE(&f->alloc, pieces, count);
    TL_FREE(&f->alloc, start, l->edge_count + 1);
    return status;
}
