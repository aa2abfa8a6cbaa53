// pattern/cdt.c: points into a triangulation, by exact signs.

#include "pattern/cdt.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "math/predicates.h"

tl_status tl_cdt_init(tl_cdt *c, const tl_allocator *alloc, tl_vec2 low, tl_vec2 high, tl_error *err)
{
    *c = (tl_cdt){.alloc = *alloc};
    if (!tl_cdt_reserve(c, 8)) return tl_fail_memory(err, "triangulation");
    // far enough that no triangle with a corner of the square reaches between neighbouring points of the outline
    const double reach =
        8 * fmax(fmax(high.x - low.x, high.y - low.y), 1e-30 + 1e-9 * fmax(fabs(high.x), fabs(high.y)));
    const tl_vec2 mid = {0.5 * (low.x + high.x), 0.5 * (low.y + high.y)};
    const double sx[4] = {-1, 1, 1, -1}, sy[4] = {-1, -1, 1, 1};
    for (int k = 0; k < 4; k++) {
        c->point[k] = (tl_vec2){mid.x + sx[k] * reach, mid.y + sy[k] * reach};
        c->vert_tri[k] = k == 3 ? 1 : 0, c->vert_edge[k] = -1;
    }
    c->vert_count = 4;
    c->tri[0] = (tl_cdt_tri){{0, 1, 2}, {-1, 1, -1}, {-1, -1, -1}};
    c->tri[1] = (tl_cdt_tri){{0, 2, 3}, {-1, -1, 0}, {-1, -1, -1}};
    c->tri_count = 2;
    return TL_OK;
}

void tl_cdt_free(tl_cdt *c)
{
    if (!c->alloc.resize) return;
    TL_FREE(&c->alloc, c->point, c->vert_cap);
    TL_FREE(&c->alloc, c->vert_tri, c->vert_tri_cap);
    TL_FREE(&c->alloc, c->vert_edge, c->vert_edge_cap);
    TL_FREE(&c->alloc, c->tri, c->tri_cap);
    TL_FREE(&c->alloc, c->seg, c->seg_cap);
    TL_FREE(&c->alloc, c->owner, c->owner_cap);
    TL_FREE(&c->alloc, c->stack, c->stack_cap);
    TL_FREE(&c->alloc, c->touched, c->touched_cap);
    *c = (tl_cdt){0};
}

bool tl_cdt_reserve(tl_cdt *c, int64_t verts)
{
    // A point adds two triangles. Its flips take an edge off the stack for every two put on, and no more edges can
    // wait than there are around it.
    const int64_t v = c->vert_count + verts, t = c->tri_count + 2 * verts;
    return TL_GROW(&c->alloc, c->point, c->vert_cap, v) && TL_GROW(&c->alloc, c->vert_tri, c->vert_tri_cap, v) &&
           TL_GROW(&c->alloc, c->vert_edge, c->vert_edge_cap, v) && TL_GROW(&c->alloc, c->tri, c->tri_cap, t) &&
           TL_GROW(&c->alloc, c->stack, c->stack_cap, 3 * t + 8);
}

bool tl_cdt_reserve_cut(tl_cdt *c, int32_t s)
{
    int32_t owners = 0;
    for (int32_t o = c->seg[s].owner; o >= 0; o = c->owner[o].next) owners++;
    return TL_GROW(&c->alloc, c->seg, c->seg_cap, c->seg_count + 1) &&
           TL_GROW(&c->alloc, c->owner, c->owner_cap, c->owner_count + owners);
}

// --- walking -------------------------------------------------------------------------------------------------

static tl_cdt_found classify(int32_t t, const int side[3])
{
    const int zeros = (side[0] == 0) + (side[1] == 0) + (side[2] == 0);
    if (zeros == 0) return (tl_cdt_found){TL_PLACE_INSIDE, t, 0};
    for (int k = 0; k < 3; k++) {
        if (zeros == 1 && side[k] == 0) return (tl_cdt_found){TL_PLACE_EDGE, t, k};
        if (zeros == 2 && side[k] != 0) return (tl_cdt_found){TL_PLACE_VERTEX, t, k};
    }
    return (tl_cdt_found){TL_PLACE_INSIDE, t, 0};
}

tl_cdt_found tl_cdt_locate(const tl_cdt *c, tl_vec2 p, int32_t from, bool stop)
{
    int32_t t = from, entered = -1;
    // Walks in a triangulation with kept edges could go in circles: where the search in each triangle begins changes
    // from step to step, and after many steps every triangle is tried.
    for (int64_t step = 0; step < 3 * (int64_t)c->tri_count + 16; step++) {
        const tl_cdt_tri *tri = &c->tri[t];
        int side[3];
        bool moved = false;
        for (int i = 0; i < 3; i++) {
            const int k = (int)((i + step) % 3);
            if (k == entered) {
                side[k] = 1;
                continue;
            }
            side[k] = tl_orient2d(c->point[tri->v[tl_next3(k)]], c->point[tri->v[tl_prev3(k)]], p);
            if (side[k] >= 0) continue;
            if (tri->n[k] < 0 || (stop && tri->s[k] >= 0)) return (tl_cdt_found){TL_PLACE_BLOCKED, t, k};
            const int32_t next = tri->n[k];
            for (entered = 0; c->tri[next].n[entered] != t; entered++) {}
            t = next;
            moved = true;
            break;
        }
        if (!moved) return classify(t, side);
    }
    for (t = 0; t < c->tri_count; t++) {
        int side[3];
        for (int k = 0; k < 3; k++)
            side[k] = tl_orient2d(c->point[c->tri[t].v[tl_next3(k)]], c->point[c->tri[t].v[tl_prev3(k)]], p);
        if (side[0] >= 0 && side[1] >= 0 && side[2] >= 0) return classify(t, side);
    }
    return (tl_cdt_found){TL_PLACE_BLOCKED, from, 0};
}

int32_t tl_cdt_find_edge(const tl_cdt *c, int32_t a, int32_t b, int32_t *corner)
{
    const int32_t first = c->vert_tri[a];
    if (first < 0) return -1;
    for (int direction = 0; direction < 2; direction++) {  // around a one way, from a border the other way as well
        int32_t t = first;
        do {
            const tl_cdt_tri *tri = &c->tri[t];
            int32_t i = 0;
            while (tri->v[i] != a) i++;
            if (tri->v[tl_next3(i)] == b) return *corner = tl_prev3(i), t;
            if (tri->v[tl_prev3(i)] == b) return *corner = tl_next3(i), t;
            t = tri->n[direction ? tl_prev3(i) : tl_next3(i)];
        } while (t >= 0 && t != first);
        if (t == first) break;
    }
    return -1;
}

// --- splitting and flipping ----------------------------------------------------------------------------------

static void touch(tl_cdt *c, int32_t t)
{
    if (!c->note_touched) return;
    if (TL_GROW(&c->alloc, c->touched, c->touched_cap, c->touched_count + 1))
        c->touched[c->touched_count++] = t;
    else
        c->no_memory = true;
}

static void set_tri(tl_cdt *c, int32_t t, tl_cdt_tri tri)
{
    c->tri[t] = tri;
    for (int k = 0; k < 3; k++) c->vert_tri[tri.v[k]] = t;
    touch(c, t);
}

static void relink(tl_cdt *c, int32_t t, int32_t from, int32_t to)
{
    if (t < 0) return;
    for (int k = 0; k < 3; k++)
        if (c->tri[t].n[k] == from) {
            c->tri[t].n[k] = to;
            return;
        }
}

// Corner 0 of both triangles is v[i] afterwards.
void tl_cdt_flip(tl_cdt *c, int32_t t, int32_t i)
{
    const tl_cdt_tri a = c->tri[t];
    const int32_t u = a.n[i];
    const tl_cdt_tri b = c->tri[u];
    int32_t j = 0;
    while (b.n[j] != t) j++;
    const int32_t i1 = tl_next3(i), i2 = tl_prev3(i), j1 = tl_next3(j), j2 = tl_prev3(j);
    // a: (p, q, r), b: (s, r, q) with q = a.v[i1] = b.v[j2], r = a.v[i2] = b.v[j1]
    const int32_t p = a.v[i], q = a.v[i1], r = a.v[i2], s = b.v[j];
    set_tri(c, t, (tl_cdt_tri){{p, q, s}, {b.n[j1], u, a.n[i2]}, {b.s[j1], -1, a.s[i2]}});
    set_tri(c, u, (tl_cdt_tri){{p, s, r}, {b.n[j2], a.n[i1], t}, {b.s[j2], a.s[i1], -1}});
    relink(c, b.n[j1], u, t);
    relink(c, a.n[i1], t, u);
}

static void push_edge(tl_cdt *c, int32_t t, int32_t corner) { c->stack[c->stack_count++] = 3 * t + corner; }

static bool needs_flip(const tl_cdt *c, int32_t t, int32_t i)
{
    const tl_cdt_tri *a = &c->tri[t];
    const int32_t u = a->n[i];
    if (u < 0 || a->s[i] >= 0) return false;
    const tl_cdt_tri *b = &c->tri[u];
    const int32_t j = b->n[0] == t ? 0 : b->n[1] == t ? 1 : 2;
    return tl_incircle(c->point[a->v[0]], c->point[a->v[1]], c->point[a->v[2]], c->point[b->v[j]]) > 0;
}

// Corner `corner` of each triangle on the stack is the new vertex; flips what is not Delaunay across from it.
static void legalise_around(tl_cdt *c)
{
    while (c->stack_count > 0) {
        const int32_t item = c->stack[--c->stack_count], t = item / 3, i = item % 3;
        if (!needs_flip(c, t, i)) continue;
        const int32_t u = c->tri[t].n[i];
        tl_cdt_flip(c, t, i);
        push_edge(c, u, 0);  // flip puts the vertex first
        push_edge(c, t, 0);
    }
}

static int32_t new_vertex(tl_cdt *c, tl_vec2 p)
{
    c->point[c->vert_count] = p;
    c->vert_edge[c->vert_count] = -1;
    return c->vert_count++;
}

static void split_triangle(tl_cdt *c, int32_t t, int32_t p)
{
    const tl_cdt_tri a = c->tri[t];
    const int32_t u = c->tri_count++, w = c->tri_count++;
    set_tri(c, t, (tl_cdt_tri){{p, a.v[0], a.v[1]}, {a.n[2], u, w}, {a.s[2], -1, -1}});
    set_tri(c, u, (tl_cdt_tri){{p, a.v[1], a.v[2]}, {a.n[0], w, t}, {a.s[0], -1, -1}});
    set_tri(c, w, (tl_cdt_tri){{p, a.v[2], a.v[0]}, {a.n[1], t, u}, {a.s[1], -1, -1}});
    relink(c, a.n[0], t, u);
    relink(c, a.n[1], t, w);
    push_edge(c, t, 0), push_edge(c, u, 0), push_edge(c, w, 0);
}

// Cuts the edge opposite corner i of t at vertex p. seg_b is the segment from p to v[i2], -1 as the edge itself is
// none.
static void split_edge(tl_cdt *c, int32_t t, int32_t i, int32_t p, int32_t seg_q, int32_t seg_r)
{
    const tl_cdt_tri a = c->tri[t];
    const int32_t other = a.n[i], i1 = tl_next3(i), i2 = tl_prev3(i);
    const int32_t apex = a.v[i], q = a.v[i1], r = a.v[i2], u = c->tri_count++;
    int32_t x = -1;
    tl_cdt_tri b = {0};
    int32_t j = 0;
    if (other >= 0) {
        b = c->tri[other];
        while (b.n[j] != t) j++;
        x = c->tri_count++;
    }
    set_tri(c, t, (tl_cdt_tri){{p, apex, q}, {a.n[i2], other, u}, {a.s[i2], seg_q, -1}});
    set_tri(c, u, (tl_cdt_tri){{p, r, apex}, {a.n[i1], t, x}, {a.s[i1], -1, seg_r}});
    relink(c, a.n[i1], t, u);
    push_edge(c, t, 0), push_edge(c, u, 0);
    if (other < 0) return;
    const int32_t j1 = tl_next3(j), j2 = tl_prev3(j), far = b.v[j];  // b: (far, r, q)
    set_tri(c, other, (tl_cdt_tri){{p, q, far}, {b.n[j1], x, t}, {b.s[j1], -1, seg_q}});
    set_tri(c, x, (tl_cdt_tri){{p, far, r}, {b.n[j2], u, other}, {b.s[j2], seg_r, -1}});
    relink(c, b.n[j2], other, x);
    push_edge(c, other, 0), push_edge(c, x, 0);
}

int32_t tl_cdt_insert(tl_cdt *c, tl_vec2 p, tl_cdt_found at)
{
    if (at.place == TL_PLACE_VERTEX) return c->tri[at.tri].v[at.corner];
    const int32_t v = new_vertex(c, p);
    c->stack_count = 0;
    if (at.place == TL_PLACE_EDGE)
        split_edge(c, at.tri, at.corner, v, -1, -1);
    else
        split_triangle(c, at.tri, v);
    legalise_around(c);
    c->last = c->vert_tri[v];
    return v;
}

bool tl_cdt_can_split(const tl_cdt *c, int32_t t, int32_t i, tl_vec2 p)
{
    for (int side = 0; side < 2; side++) {
        const tl_cdt_tri *a = &c->tri[t];
        const tl_vec2 apex = c->point[a->v[i]], q = c->point[a->v[tl_next3(i)]], r = c->point[a->v[tl_prev3(i)]];
        if (tl_orient2d(p, apex, q) <= 0 || tl_orient2d(p, r, apex) <= 0) return false;
        const int32_t other = a->n[i];
        if (other < 0) break;
        i = 0;
        while (c->tri[other].n[i] != t) i++;
        t = other;
    }
    return true;
}

// The owners of segment s are cut; those of the second piece become a list of their own, whose first is returned.
static int32_t split_owners(tl_cdt *c, int32_t s, double fraction)
{
    int32_t first = -1, *link = &first;
    for (int32_t o = c->seg[s].owner; o >= 0; o = c->owner[o].next) {
        const int32_t made = c->owner_count++;
        const double middle = c->owner[o].ta + fraction * (c->owner[o].tb - c->owner[o].ta);
        c->owner[made] = (tl_cdt_owner){c->owner[o].edge, -1, middle, c->owner[o].tb};
        c->owner[o].tb = middle;
        *link = made;
        link = &c->owner[made].next;
    }
    return first;
}

int32_t tl_cdt_split(tl_cdt *c, int32_t t, int32_t i, tl_vec2 p, double fraction)
{
    const int32_t s = c->tri[t].s[i], second = c->seg_count++;
    const int32_t v = new_vertex(c, p), owners = split_owners(c, s, fraction);
    c->vert_edge[v] = c->owner[c->seg[s].owner].edge;
    c->seg[second] = c->seg[s];
    c->seg[second].owner = owners, c->seg[second].a = v, c->seg[second].sharp_a = false;
    c->seg[s].b = v, c->seg[s].sharp_b = false;
    const bool q_is_a = c->tri[t].v[tl_next3(i)] == c->seg[s].a;
    c->stack_count = 0;
    split_edge(c, t, i, v, q_is_a ? s : second, q_is_a ? second : s);
    legalise_around(c);
    c->last = c->vert_tri[v];
    return v;
}

bool tl_cdt_legalise_all(tl_cdt *c)
{
    if (!TL_GROW(&c->alloc, c->stack, c->stack_cap, 3 * (int64_t)c->tri_count + 8)) return false;
    c->stack_count = 0;
    for (int32_t t = 0; t < c->tri_count; t++)
        for (int i = 0; i < 3; i++)
            if (c->tri[t].n[i] > t) push_edge(c, t, i);
    while (c->stack_count > 0) {
        const int32_t item = c->stack[--c->stack_count], t = item / 3, i = item % 3;
        if (!needs_flip(c, t, i)) continue;
        const int32_t u = c->tri[t].n[i];
        tl_cdt_flip(c, t, i);
        if (!TL_GROW(&c->alloc, c->stack, c->stack_cap, c->stack_count + 6)) return false;
        push_edge(c, t, 0), push_edge(c, t, 2), push_edge(c, u, 0), push_edge(c, u, 1);
    }
    return true;
}
