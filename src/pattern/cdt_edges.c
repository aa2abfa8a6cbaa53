// pattern/cdt_edges.c: edges that a triangulation must keep, and what lies inside them.

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "math/predicates.h"
#include "pattern/cdt.h"
#include "pattern/polyline.h"

typedef struct edge_pair {
    int32_t a, b;
} edge_pair;

typedef struct edge_list {  // a queue: taken at `head`, added at `count`
    edge_pair *item;
    int32_t head, count, cap;
} edge_list;

static bool list_add(tl_cdt *c, edge_list *list, int32_t a, int32_t b)
{
    if (list->head > 4096 && list->head > list->count / 2) {  // forget what was taken
        list->count -= list->head;
        memmove(list->item, list->item + list->head, (size_t)list->count * sizeof *list->item);
        list->head = 0;
    }
    if (!TL_GROW(&c->alloc, list->item, list->cap, list->count + 1)) return false;
    list->item[list->count++] = (edge_pair){a, b};
    return true;
}

// Notes the owner on the edge from a to b, which exists.
static tl_status mark_edge(tl_cdt *c, int32_t a, int32_t b, tl_cdt_owner owner, bool outline, bool fixed, tl_error *err)
{
    int32_t i, t = tl_cdt_find_edge(c, a, b, &i);
    TL_ASSERT(t >= 0, "an edge that was just made is not there");
    if (!TL_GROW(&c->alloc, c->seg, c->seg_cap, c->seg_count + 1) ||
        !TL_GROW(&c->alloc, c->owner, c->owner_cap, c->owner_count + 1))
        return tl_fail_memory(err, "segments of a triangulation");
    int32_t s = c->tri[t].s[i];
    if (s < 0) {
        s = c->seg_count++;
        c->seg[s] = (tl_cdt_segment){.a = a, .b = b, .owner = -1, .twin_region = -1, .twin = -1};
        c->tri[t].s[i] = s;
        const int32_t u = c->tri[t].n[i];
        for (int k = 0; k < 3 && u >= 0; k++)
            if (c->tri[u].n[k] == t) c->tri[u].s[k] = s;
    } else if (c->seg[s].a != a) {
        const double ta = owner.ta;
        owner.ta = owner.tb, owner.tb = ta;
    }
    int32_t *link = &c->seg[s].owner;
    while (*link >= 0) link = &c->owner[*link].next;
    owner.next = -1;
    *link = c->owner_count;
    c->owner[c->owner_count++] = owner;
    c->seg[s].outlines += outline, c->seg[s].fixed |= fixed;
    return TL_OK;
}

// Where the way from a towards b leaves the triangles around a: at a vertex on the line (*vertex), or through the edge
// opposite *corner of the triangle returned.
static int32_t first_crossed(const tl_cdt *c, int32_t a, int32_t b, int32_t *corner, int32_t *vertex)
{
    const tl_vec2 pa = c->point[a], pb = c->point[b];
    int32_t t = c->vert_tri[a];
    *vertex = -1;
    for (int32_t first = t, turns = 0; t >= 0 && (turns == 0 || t != first); turns++) {
        const tl_cdt_tri *tri = &c->tri[t];
        int32_t i = 0;
        while (tri->v[i] != a) i++;
        const int32_t q = tri->v[tl_next3(i)], r = tri->v[tl_prev3(i)];
        if (q == b || r == b) return *vertex = b, t;
        const int sq = tl_orient2d(pa, pb, c->point[q]), sr = tl_orient2d(pa, pb, c->point[r]);
        if (sq == 0 && tl_dot2(tl_sub2(pb, pa), tl_sub2(c->point[q], pa)) > 0) return *vertex = q, t;
        if (sr == 0 && tl_dot2(tl_sub2(pb, pa), tl_sub2(c->point[r], pa)) > 0) return *vertex = r, t;
        if (sq < 0 && sr > 0) return *corner = i, t;
        t = tri->n[tl_next3(i)];
    }
    return -1;  // never within the square, which is convex and has no holes
}

static tl_vec2 crossing_point(tl_vec2 a, tl_vec2 b, tl_vec2 c, tl_vec2 d)
{
    const double ca = tl_cross2(tl_sub2(d, c), tl_sub2(a, c)), cb = tl_cross2(tl_sub2(d, c), tl_sub2(b, c));
    return ca == cb ? a : tl_mix2(a, b, ca / (ca - cb));
}

// Lists the edges crossed on the way, the first opposite a corner of its triangle; *end is its end or the first vertex
// on the line.
static tl_status list_crossed(tl_cdt *c, edge_pair way, tl_cdt_found first, edge_list *list, int32_t *end,
                              tl_cdt_crossing *crossing, tl_error *err)
{
    const tl_vec2 pa = c->point[way.a], pb = c->point[way.b];
    int32_t t = first.tri, i = first.corner;
    for (;;) {
        const tl_cdt_tri *tri = &c->tri[t];
        const int32_t right = tri->v[tl_next3(i)], left = tri->v[tl_prev3(i)];
        if (tri->s[i] >= 0) {
            crossing->edge_b = c->owner[c->seg[tri->s[i]].owner].edge;
            crossing->at = crossing_point(pa, pb, c->point[right], c->point[left]);
            return TL_FAILED;
        }
        if (!list_add(c, list, right, left)) return tl_fail_memory(err, "edges of a triangulation");
        const int32_t u = tri->n[i];
        int32_t j = 0;
        while (c->tri[u].n[j] != t) j++;
        const int32_t across = c->tri[u].v[j];
        *end = across;
        if (across == way.b) return TL_OK;
        const int side = tl_orient2d(pa, pb, c->point[across]);
        if (side == 0) return TL_OK;
        // u is (across, left, right): go on through the edge on the other side of the line
        t = u, i = side > 0 ? tl_next3(j) : tl_prev3(j);
    }
}

// Flips crossed edges until the edge from a to b is there (Sloan 1993).
static tl_status flip_crossed(tl_cdt *c, int32_t a, int32_t b, edge_list *list, tl_error *err)
{
    const tl_vec2 pa = c->point[a], pb = c->point[b];
    while (list->head < list->count) {
        const edge_pair e = list->item[list->head++];
        int32_t i, t = tl_cdt_find_edge(c, e.a, e.b, &i);
        const int32_t u = c->tri[t].n[i], p = c->tri[t].v[i];
        int32_t j = 0;
        while (c->tri[u].n[j] != t) j++;
        const int32_t s = c->tri[u].v[j];
        const tl_vec2 pp = c->point[p], ps = c->point[s];
        const int one = tl_orient2d(pp, ps, c->point[e.a]), two = tl_orient2d(pp, ps, c->point[e.b]);
        bool again = one * two >= 0;  // not convex: later
        int32_t x = e.a, y = e.b;
        if (!again) {
            tl_cdt_flip(c, t, i);
            x = p, y = s;
            const bool at_end = p == a || p == b || s == a || s == b;
            again = !at_end && tl_orient2d(pa, pb, pp) * tl_orient2d(pa, pb, ps) < 0;
        }
        if (again && !list_add(c, list, x, y)) return tl_fail_memory(err, "edges of a triangulation");
    }
    return TL_OK;
}

static double place_on(tl_vec2 a, tl_vec2 b, tl_vec2 p)
{
    const tl_vec2 e = tl_sub2(b, a);
    return fabs(e.x) > fabs(e.y) ? (p.x - a.x) / e.x : (p.y - a.y) / e.y;
}

tl_status tl_cdt_add_segment(tl_cdt *c, int32_t a, int32_t b, const tl_cdt_owner *owner, bool outline, bool fixed,
                             tl_cdt_crossing *crossing, tl_error *err)
{
    const tl_vec2 pa = c->point[a], pb = c->point[b];
    edge_list list = {0};
    tl_status status = TL_OK;
    double from_t = owner->ta;
    crossing->edge_a = owner->edge;
    for (int32_t from = a; from != b && status == TL_OK;) {
        int32_t corner = 0, to, t = first_crossed(c, from, b, &corner, &to);
        TL_ASSERT(t >= 0, "no triangle around a vertex looks along a segment");
        if (to < 0) {
            list.head = list.count = 0;
            status = list_crossed(c, (edge_pair){from, b}, (tl_cdt_found){TL_PLACE_BLOCKED, t, corner}, &list, &to,
                                  crossing, err);
            if (status == TL_OK) status = flip_crossed(c, from, to, &list, err);
        }
        if (status != TL_OK) break;
        const double to_t = to == b ? owner->tb : owner->ta + (owner->tb - owner->ta) * place_on(pa, pb, c->point[to]);
        status = mark_edge(c, from, to, (tl_cdt_owner){owner->edge, -1, from_t, to_t}, outline, fixed, err);
        from = to, from_t = to_t;
    }
    TL_FREE(&c->alloc, list.item, list.cap);
    return status;
}

// --- inside and outside --------------------------------------------------------------------------------------

// parity[t]: how many outlines lie between t and the border, 0 or 1. False: it depends on the way, so one is open.
static bool find_parity(tl_cdt *c, int8_t *parity)
{
    memset(parity, -1, (size_t)c->tri_count);
    c->stack_count = 0;
    parity[c->vert_tri[0]] = 0;
    c->stack[c->stack_count++] = c->vert_tri[0];
    while (c->stack_count > 0) {
        const int32_t t = c->stack[--c->stack_count];
        for (int k = 0; k < 3; k++) {
            const int32_t u = c->tri[t].n[k], s = c->tri[t].s[k];
            if (u < 0) continue;
            const int8_t there = (int8_t)((parity[t] + (s >= 0 ? c->seg[s].outlines : 0)) % 2);
            if (parity[u] >= 0 && parity[u] != there) return false;
            if (parity[u] >= 0) continue;
            parity[u] = there;
            c->stack[c->stack_count++] = u;
        }
    }
    return true;
}

// Triangles with parity 1 move down; place[] says where to.
static void keep_inside(tl_cdt *c, const int8_t *parity, int32_t *place)
{
    int32_t kept = 0;
    for (int32_t t = 0; t < c->tri_count; t++) place[t] = parity[t] == 1 ? kept++ : -1;
    for (int32_t v = 0; v < c->vert_count; v++) c->vert_tri[v] = -1;
    for (int32_t s = 0; s < c->seg_count; s++) c->seg[s].outlines = -1 - c->seg[s].outlines;  // not seen yet
    for (int32_t t = 0; t < c->tri_count; t++) {
        if (place[t] < 0) continue;
        tl_cdt_tri tri = c->tri[t];
        for (int k = 0; k < 3; k++) {
            if (tri.n[k] >= 0) tri.n[k] = place[tri.n[k]];
            c->vert_tri[tri.v[k]] = place[t];
            if (tri.s[k] >= 0 && c->seg[tri.s[k]].outlines < 0)
                c->seg[tri.s[k]].outlines = -1 - c->seg[tri.s[k]].outlines;
        }
        c->tri[place[t]] = tri;
    }
    c->tri_count = kept, c->last = 0;
    for (int32_t s = 0; s < c->seg_count; s++)
        if (c->seg[s].outlines < 0) c->seg[s].a = c->seg[s].b = -1;  // outside: in no triangle
}

tl_status tl_cdt_carve(tl_cdt *c, tl_error *err)
{
    const int32_t count = c->tri_count;
    int8_t *parity = TL_ALLOC(&c->alloc, int8_t, count);
    int32_t *place = TL_ALLOC(&c->alloc, int32_t, count);
    tl_status status = parity && place && tl_cdt_reserve(c, 0) ? TL_OK : tl_fail_memory(err, "inside of outlines");
    if (status == TL_OK && !find_parity(c, parity)) status = TL_FAILED;
    if (status == TL_OK) {
        keep_inside(c, parity, place);
        if (c->tri_count == 0) status = TL_BAD_INPUT;
    }
    TL_FREE(&c->alloc, parity, count);
    TL_FREE(&c->alloc, place, count);
    return status;
}
