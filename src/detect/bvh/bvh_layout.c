// detect/bvh/bvh_layout.c: leaf order, owners of nodes and edges, and memory for the volumes, from the shape of a tree.
//
// Linear in the size of the surface. Leaves are renumbered in the order of the nodes that hold them; within a leaf,
// faces and edges go by id and nodes in the order of the faces: all a function of the shape alone.

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "detect/bvh/bvh_impl.h"

// Renumbers reachable nodes breadth first, and leaves in that order; records where levels begin.
static tl_status number_nodes(tl_bvh *bvh, tl_error *err)
{
    const int32_t arity = bvh->def.arity, n = bvh->inner_count;
    const tl_allocator *alloc = &bvh->alloc;
    int32_t *from = TL_ALLOC(alloc, int32_t, n), *child = TL_ALLOC(alloc, int32_t, (int64_t)n * arity);
    int32_t *leaf_to = TL_ALLOC(alloc, int32_t, bvh->leaf_count);
    tl_status status = TL_OK;
    if (!from || !child || !leaf_to || !TL_GROW(alloc, bvh->leaf, bvh->leaf_cap, (int64_t)bvh->leaf_count + 1)) {
        status = tl_fail_memory(err, "bvh");
        goto done;
    }
    int32_t inner = 1, leaves = 0, level = 0, end = 1;
    from[0] = 0, bvh->level_begin[0] = 0;
    for (int32_t i = 0; i < inner; i++) {
        if (i == end) {
            if (++level >= MAX_LEVELS) {
                status = tl_fail(err, TL_FAILED, "bvh: the tree is more than %d levels deep", MAX_LEVELS);
                goto done;
            }
            bvh->level_begin[level] = i, end = inner;
        }
        for (int32_t c = 0; c < arity; c++) {
            const int32_t old = bvh->child[from[i] * arity + c];
            int32_t *now = &child[i * arity + c];
            if (old == NO_CHILD) {
                *now = NO_CHILD;
            } else if (old >= 0) {
                from[inner] = old, *now = inner++;
            } else {
                leaf_to[~old] = leaves;
                bvh->leaf[leaves].parent = i * arity + c;
                *now = ~leaves++;
            }
        }
    }
    TL_ASSERT(inner <= n && leaves == bvh->leaf_count, "a node of the tree is held by two, or a leaf by none");
    bvh->inner_count = inner;
    bvh->level_count = level + 1, bvh->level_begin[level + 1] = inner;
    memcpy(bvh->child, child, (size_t)inner * (size_t)arity * sizeof *child);
    for (int32_t f = 0; f < bvh->surface.face_count; f++) bvh->leaf_of_face[f] = leaf_to[bvh->leaf_of_face[f]];
done:
    TL_FREE(alloc, from, n);
    TL_FREE(alloc, child, (int64_t)n * arity);
    TL_FREE(alloc, leaf_to, bvh->leaf_count);
    return status;
}

// Turns counts at [1 .. n] of first[kind] into offsets, and the ids of `kind` into leaf order by the leaf of each.
static void gather(tl_bvh *bvh, int kind, const int32_t *leaf_of, int32_t n)
{
    tl_leaf *leaf = bvh->leaf;
    for (int32_t l = 0; l <= bvh->leaf_count; l++) leaf[l].first[kind] = 0;
    for (int32_t i = 0; i < n; i++) leaf[leaf_of[i] + 1].first[kind]++;
    for (int32_t l = 0; l < bvh->leaf_count; l++) leaf[l + 1].first[kind] += leaf[l].first[kind];
    for (int32_t i = 0; i < n; i++) bvh->id[kind][leaf[leaf_of[i]].first[kind]++] = i;
    for (int32_t l = bvh->leaf_count; l > 0; l--) leaf[l].first[kind] = leaf[l - 1].first[kind];
    leaf[0].first[kind] = 0;
    bvh->count[kind] = n;
}

// Nodes in the order in which the faces name them; `slot` per node of the surface, -1 if no face has it.
static void number_corners(tl_bvh *bvh, int32_t *slot)
{
    for (int32_t v = 0; v < bvh->surface.node_count; v++) slot[v] = -1;
    int32_t n = 0, l = 0;
    for (int32_t i = 0; i < bvh->count[PRIM_FACE]; i++) {
        for (; l < bvh->leaf_count && bvh->leaf[l].first[PRIM_FACE] <= i; l++) bvh->leaf[l].first[PRIM_NODE] = n;
        for (int k = 0; k < 3; k++) {
            const int32_t v = bvh->surface.face[bvh->id[PRIM_FACE][i]][k];
            if (slot[v] < 0) bvh->id[PRIM_NODE][n] = v, slot[v] = n++;
            bvh->corner[k][i] = slot[v];
        }
    }
    for (; l <= bvh->leaf_count; l++) bvh->leaf[l].first[PRIM_NODE] = n;
    bvh->count[PRIM_NODE] = n;
}

// The first leaf that has a face with both ends of each edge. `around`: faces (leaf order) around each node slot.
static tl_status own_edges(const tl_bvh *bvh, const int32_t *slot, const int32_t *first, const int32_t *around,
                           int32_t *leaf_of_edge, tl_error *err)
{
    for (int32_t e = 0; e < bvh->surface.edge_count; e++) {
        int32_t a = slot[bvh->surface.edge[e][0]], b = slot[bvh->surface.edge[e][1]], found = -1;
        if (a >= 0 && b >= 0) {
            if (first[a + 1] - first[a] > first[b + 1] - first[b]) {
                const int32_t t = a;
                a = b, b = t;
            }
            for (int32_t i = first[a]; i < first[a + 1] && found < 0; i++) {
                const int32_t f = around[i];
                if (bvh->corner[0][f] == b || bvh->corner[1][f] == b || bvh->corner[2][f] == b)
                    found = bvh->leaf_of_face[bvh->id[PRIM_FACE][f]];
            }
        }
        if (found < 0)
            return tl_fail(err, TL_BAD_ARG, "bvh: edge %d (%d, %d) is no side of a face", e, bvh->surface.edge[e][0],
                           bvh->surface.edge[e][1]);
        leaf_of_edge[e] = found;
    }
    return TL_OK;
}

static tl_status number_edges(tl_bvh *bvh, const int32_t *slot, tl_error *err)
{
    const tl_allocator *alloc = &bvh->alloc;
    const int32_t n = bvh->count[PRIM_NODE], faces = bvh->count[PRIM_FACE], edges = bvh->surface.edge_count;
    int32_t *first = TL_CALLOC(alloc, int32_t, n + 2), *around = TL_ALLOC(alloc, int32_t, 3 * (int64_t)faces);
    int32_t *leaf_of_edge = TL_ALLOC(alloc, int32_t, edges);
    tl_status status = TL_NO_MEMORY;
    if (first && around && leaf_of_edge) {
        for (int32_t i = 0; i < faces; i++)
            for (int k = 0; k < 3; k++) first[bvh->corner[k][i] + 2]++;
        for (int32_t v = 0; v < n; v++) first[v + 2] += first[v + 1];
        for (int32_t i = 0; i < faces; i++)
            for (int k = 0; k < 3; k++) around[first[bvh->corner[k][i] + 1]++] = i;
        status = own_edges(bvh, slot, first, around, leaf_of_edge, err);
    } else {
        tl_fail_memory(err, "bvh");
    }
    if (status == TL_OK) {
        gather(bvh, PRIM_EDGE, leaf_of_edge, edges);
        for (int32_t i = 0; i < edges; i++)
            for (int k = 0; k < 2; k++) bvh->end[k][i] = slot[bvh->surface.edge[bvh->id[PRIM_EDGE][i]][k]];
    }
    TL_FREE(alloc, first, n + 2);
    TL_FREE(alloc, around, 3 * (int64_t)faces);
    TL_FREE(alloc, leaf_of_edge, edges);
    return status;
}

static tl_status make_room(tl_bvh *bvh, tl_error *err)
{
    const tl_allocator *alloc = &bvh->alloc;
    int64_t boxes = 0;
    for (int32_t l = 0; l < bvh->leaf_count; l++) {
        bvh->leaf[l].box = boxes;
        for (int kind = 0; kind < PRIM_KINDS; kind++) boxes += bvh->rows * (int64_t)pad_lanes(leaf_size(bvh, l, kind));
    }
    const int64_t volumes = (int64_t)bvh->inner_count * bvh->rows * bvh->def.arity;
    if (!TL_GROW(alloc, bvh->node_box, bvh->node_box_cap, bvh->count[PRIM_NODE] * (int64_t)(bvh->rows / 6)) ||
        !TL_GROW(alloc, bvh->leaf_box, bvh->leaf_box_cap, bvh->leaf_count * (int64_t)(bvh->rows / 6)) ||
        !TL_GROW(alloc, bvh->moved, bvh->moved_cap, bvh->count[PRIM_NODE]) ||
        !TL_GROW(alloc, bvh->dirty, bvh->dirty_cap, bvh->inner_count) ||
        !TL_GROW(alloc, bvh->volume, bvh->volume_cap, volumes) ||
        !TL_GROW(alloc, bvh->prim_box, bvh->prim_box_cap, boxes))
        return tl_fail_memory(err, "bvh");
    for (int64_t i = 0; i < volumes; i++) bvh->volume[i] = INFINITY;
    for (int64_t i = 0; i < boxes; i++) bvh->prim_box[i] = INFINITY;
    return TL_OK;
}

tl_status tl_bvh_layout(tl_bvh *bvh, tl_error *err)
{
    const tl_allocator *alloc = &bvh->alloc;
    const tl_surface *s = &bvh->surface;
    bvh->fitted = false;
    bvh->rows = bvh->def.relative ? 12 : 6;
    if (!TL_GROW(alloc, bvh->id[PRIM_FACE], bvh->id_cap[PRIM_FACE], (int64_t)s->face_count + LANES) ||
        !TL_GROW(alloc, bvh->id[PRIM_EDGE], bvh->id_cap[PRIM_EDGE], (int64_t)s->edge_count + LANES) ||
        !TL_GROW(alloc, bvh->id[PRIM_NODE], bvh->id_cap[PRIM_NODE], (int64_t)s->node_count + LANES))
        return tl_fail_memory(err, "bvh");
    for (int k = 0; k < 3; k++)
        if (!TL_GROW(alloc, bvh->corner[k], bvh->corner_cap[k], (int64_t)s->face_count + LANES) ||
            (k < 2 && !TL_GROW(alloc, bvh->end[k], bvh->end_cap[k], (int64_t)s->edge_count + LANES)))
            return tl_fail_memory(err, "bvh");
    for (int i = 0; i < LANES; i++) {  // read past the last leaf, but never used
        for (int k = 0; k < 3; k++) bvh->corner[k][s->face_count + i] = -1;
        for (int k = 0; k < 2; k++) bvh->end[k][s->edge_count + i] = -1;
        bvh->id[PRIM_FACE][s->face_count + i] = bvh->id[PRIM_EDGE][s->edge_count + i] =
            bvh->id[PRIM_NODE][s->node_count + i] = -1;
    }
    TL_TRY(number_nodes(bvh, err));
    gather(bvh, PRIM_FACE, bvh->leaf_of_face, s->face_count);
    int32_t *slot = TL_ALLOC(alloc, int32_t, s->node_count);
    if (!slot) return tl_fail_memory(err, "bvh");
    number_corners(bvh, slot);
    const tl_status status = number_edges(bvh, slot, err);
    TL_FREE(alloc, slot, s->node_count);
    TL_TRY(status);
    TL_TRY(make_room(bvh, err));
    return TL_OK;
}
