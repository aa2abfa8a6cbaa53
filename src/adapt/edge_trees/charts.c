// adapt/edge_trees/charts.c: which faces of a base belong together in the material: those that share vertices. Panels
// may lie on each other there, so places alone do not tell the two sides of a seam apart.

#include "adapt/edge_trees/trees.h"
#include "base/alloc.h"
#include "base/fail.h"

static int32_t find(int32_t *parent, int32_t v)
{
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
}

tl_status tl_trees_charts(const tl_allocator *alloc, const int32_t (*vert)[3], int32_t face_count, int32_t vert_count,
                          int32_t *out, tl_error *err)
{
    int32_t *parent = TL_ALLOC(alloc, int32_t, vert_count);
    if (!parent) return tl_fail_memory(err, "panels");
    for (int32_t v = 0; v < vert_count; v++) parent[v] = v;
    for (int32_t f = 0; f < face_count; f++)
        for (int k = 1; k < 3; k++) {
            const int32_t a = find(parent, vert[f][0]), b = find(parent, vert[f][k]);
            if (a < b)
                parent[b] = a;
            else
                parent[a] = b;
        }
    for (int32_t f = 0; f < face_count; f++) out[f] = find(parent, vert[f][0]);
    TL_FREE(alloc, parent, vert_count);
    return TL_OK;
}
