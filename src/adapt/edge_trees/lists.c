// adapt/edge_trees/lists.c: the active mesh as flat lists (Simnett 2012, sec. 3.6.8).

#include "adapt/edge_trees/trees_impl.h"
#include "base/alloc.h"
#include "base/fail.h"

// The leaf beside an edge that is not split: the triangle that owns it, or that one's child which holds it.
static int32_t leaf_beside(const tl_trees *m, int32_t e, int side)
{
    const int32_t owner = tl_trees_e(m, e)->tri[side];
    if (owner == TL_TREES_NONE) return TL_TREES_NONE;
    const tl_trees_tri *t = tl_trees_t(m, owner);
    if (t->config == 0) return owner;
    for (int k = 0; k < 3; k++)
        if (t->edge[k] == 2 * e + side) return t->inner_tri[m->tables.holder[t->config][k]];
    return TL_TREES_NONE;
}

static int32_t third_vert(const tl_trees_tri *t, int32_t a, int32_t b)
{
    for (int k = 0; k < 3; k++)
        if (t->vert[k] != a && t->vert[k] != b) return t->vert[k];
    return TL_TREES_NONE;
}

static tl_status reserve(tl_trees *m, tl_trees_counts n, tl_error *err)
{
    if (!TL_GROW(&m->alloc, m->leaf_tri, m->leaf_tri_cap, n.tris) ||
        !TL_GROW(&m->alloc, m->leaf_vert, m->leaf_vert_cap, n.verts) ||
        !TL_GROW(&m->alloc, m->leaf_edge, m->leaf_edge_cap, n.edges) ||
        !TL_GROW(&m->alloc, m->leaf_index, m->leaf_index_cap, n.tri_slots))
        return tl_fail_memory(err, "lists of the active mesh");
    return TL_OK;
}

tl_status tl_trees_build_lists(tl_trees *m, tl_trees_lists *out, tl_error *err)
{
    const tl_trees_counts n = tl_trees_count(m);
    *out = (tl_trees_lists){0};
    TL_TRY(reserve(m, n, err));
    int32_t tris = 0, verts = 0, edges = 0;
    for (int32_t i = tl_trees_pool_next(&m->tri, 0, n.tri_slots); i < n.tri_slots;
         i = tl_trees_pool_next(&m->tri, i + 1, n.tri_slots)) {
        if (tl_trees_t(m, i)->config != 0) continue;
        m->leaf_index[i] = tris;
        m->leaf_tri[tris++] = i;
    }
    for (int32_t i = tl_trees_pool_next(&m->vert, 0, n.vert_slots); i < n.vert_slots;
         i = tl_trees_pool_next(&m->vert, i + 1, n.vert_slots))
        m->leaf_vert[verts++] = i;
    for (int32_t i = tl_trees_next_edge(m, 0); i < n.edge_slots; i = tl_trees_next_edge(m, i + 1)) {
        const tl_trees_edge *e = tl_trees_e(m, i);
        if (tl_trees_is_split(e)) continue;
        tl_trees_leaf_edge *leaf = &m->leaf_edge[edges++];
        *leaf = (tl_trees_leaf_edge){i, e->a, e->b, {TL_TREES_NONE, TL_TREES_NONE}, {TL_TREES_NONE, TL_TREES_NONE}};
        for (int s = 0; s < 2; s++) {
            const int32_t t = leaf_beside(m, i, s);
            if (t == TL_TREES_NONE) continue;
            leaf->tri[s] = m->leaf_index[t];
            leaf->opposite[s] = third_vert(tl_trees_t(m, t), e->a, e->b);
        }
    }
    *out = (tl_trees_lists){m->leaf_tri, m->leaf_vert, m->leaf_edge, tris, verts, edges};
    return TL_OK;
}
