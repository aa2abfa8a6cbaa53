// adapt/sqrt3/check.c: every link and rule of a hierarchy, looked at one by one.

#include "adapt/sqrt3/hierarchy_impl.h"
#include "base/fail.h"

#define FAULT(...) return tl_fail(err, TL_FAILED, __VA_ARGS__)

static bool same_nodes(const tl_sqrt3 *h, int32_t a, int32_t b) { return h->vert[a].node == h->vert[b].node; }

static tl_status check_edge(const tl_sqrt3 *h, int32_t l, int32_t i, int32_t e, tl_error *err)
{
    const tl_sqrt3_tri *t = tl_sqrt3_at(h, l, i);
    const bool half_border = tl_sqrt3_is_half(t) && tl_sqrt3_is_border(t, e);
    if (tl_sqrt3_is_seam(t, e) && !tl_sqrt3_is_border(t, e)) FAULT("layer %d: %d has a seam that is no border", l, i);
    if (tl_sqrt3_is_open(t, e)) {
        const bool twin = tl_sqrt3_is_half(t) && e == 1;
        if (half_border) FAULT("layer %d: the border of half %d is open", l, i);
        if (t->centre == TL_SQRT3_NONE) FAULT("layer %d: %d is open without a centre", l, i);
        if ((t->child[e][0] == TL_SQRT3_NONE) + (t->child[e][1] == TL_SQRT3_NONE) != (twin ? 1 : 0))
            FAULT("layer %d: %d lacks children at edge %d", l, i, e);
        for (int k = 0; k < 2; k++) {
            if (t->child[e][k] == TL_SQRT3_NONE) continue;
            const tl_sqrt3_tri *c = tl_sqrt3_at(h, l + 1, t->child[e][k]);
            if (!(c->flags & TL_SQRT3_LIVE) || c->parent[k] != i)
                FAULT("layer %d: child %d of %d is not its own", l, k, i);
        }
    } else if (t->child[e][0] != TL_SQRT3_NONE || t->child[e][1] != TL_SQRT3_NONE) {
        FAULT("layer %d: %d has children at a closed edge %d", l, i, e);
    }
    if (t->across[e] == TL_SQRT3_NONE) {
        if (l == 0 && !tl_sqrt3_is_border(t, e)) FAULT("layer 0: %d has no neighbour at edge %d", i, e);
        if (tl_sqrt3_is_open(t, e) && (!tl_sqrt3_is_border(t, e) || tl_sqrt3_is_seam(t, e)))
            FAULT("layer %d: %d is open to nothing at edge %d", l, i, e);
        return TL_OK;
    }
    const tl_sqrt3_tri *n = tl_sqrt3_at(h, l, t->across[e] / 3);
    const int32_t f = t->across[e] % 3;
    if (!(n->flags & TL_SQRT3_LIVE) || n->across[f] != 3 * i + e) FAULT("layer %d: link of %d is one-sided", l, i);
    const int32_t p = t->vert[e], q = t->vert[tl_sqrt3_next(e)], r = n->vert[f], s = n->vert[tl_sqrt3_next(f)];
    if (!same_nodes(h, p, s) || !same_nodes(h, q, r)) FAULT("layer %d: %d and its neighbour share no edge", l, i);
    if (!tl_sqrt3_is_seam(t, e) && (p != s || q != r)) FAULT("layer %d: %d is torn from its neighbour", l, i);
    if (tl_sqrt3_is_open(t, e) != tl_sqrt3_is_open(n, f)) FAULT("layer %d: an edge of %d is open on one side", l, i);
    if (tl_sqrt3_is_border(t, e) != tl_sqrt3_is_border(n, f))
        FAULT("layer %d: an edge of %d is border on one side", l, i);
    // Two neighbours beyond layer 0 share a parent, or lie on the two sides of a seam.
    if (l > 0 && !tl_sqrt3_is_seam(t, e) && t->parent[0] != n->parent[0] && t->parent[0] != n->parent[1] &&
        t->parent[1] != n->parent[0] && t->parent[1] != n->parent[1])
        FAULT("layer %d: %d and its neighbour share no parent", l, i);
    return TL_OK;
}

static tl_status check_tri(const tl_sqrt3 *h, int32_t l, int32_t i, tl_error *err)
{
    const tl_sqrt3_tri *t = tl_sqrt3_at(h, l, i);
    const bool half = tl_sqrt3_is_half(t);
    if (half != (l % 2 == 1 && t->flags & 7 * TL_SQRT3_BORDER)) FAULT("layer %d: %d breaks the rule of borders", l, i);
    if (half && (tl_sqrt3_is_border(t, 0) == tl_sqrt3_is_border(t, 2) || tl_sqrt3_is_border(t, 1)))
        FAULT("layer %d: half %d has the wrong border", l, i);
    const int parents = (t->parent[0] != TL_SQRT3_NONE) + (t->parent[1] != TL_SQRT3_NONE);
    if (parents != (l == 0 ? 0 : half ? 1 : 2)) FAULT("layer %d: %d has %d parents", l, i, parents);
    for (int k = 0; k < 2; k++) {
        if (t->parent[k] == TL_SQRT3_NONE) continue;
        const tl_sqrt3_tri *p = tl_sqrt3_at(h, l - 1, t->parent[k]);
        bool found = false;
        for (int e = 0; e < 3; e++) found = found || p->child[e][k] == i;
        if (!(p->flags & TL_SQRT3_LIVE) || !found) FAULT("layer %d: parent %d of %d does not know it", l, k, i);
    }
    for (int32_t e = 0; e < 3; e++) {
        if (h->vert[t->vert[e]].node < 0) FAULT("layer %d: %d has a dead vertex", l, i);
        TL_TRY(check_edge(h, l, i, e, err));
    }
    const tl_vec2 a = h->vert[t->vert[0]].uv, b = h->vert[t->vert[1]].uv, c = h->vert[t->vert[2]].uv;
    if (!((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x) > 0)) FAULT("layer %d: %d is folded", l, i);
    return TL_OK;
}

tl_status tl_sqrt3_check(const tl_sqrt3 *h, tl_error *err)
{
    for (int32_t l = 0; l < h->layers; l++) {
        int32_t live = 0;
        for (int32_t i = 0; i < h->layer[l].count; i++) {
            if (!(h->layer[l].tri[i].flags & TL_SQRT3_LIVE)) continue;
            live++;
            TL_TRY(check_tri(h, l, i, err));
        }
        if (live != h->layer[l].live) FAULT("layer %d: %d triangles live, %d counted", l, live, h->layer[l].live);
    }
    return TL_OK;
}
