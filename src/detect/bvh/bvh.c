// detect/bvh/bvh.c: make and free a tree; lists of pairs.

#include "detect/bvh/bvh.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "detect/bvh/bvh_impl.h"

tl_bvh_def tl_bvh_def_default(void) { return (tl_bvh_def){.arity = 8, .leaf_faces = 24}; }

tl_status tl_surface_check(const tl_surface *s, tl_error *err)
{
    for (int32_t f = 0; f < s->face_count; f++)
        for (int k = 0; k < 3; k++)
            if (s->face[f][k] < 0 || s->face[f][k] >= s->node_count)
                return tl_fail(err, TL_BAD_ARG, "bvh: face %d has node %d of %d", f, s->face[f][k], s->node_count);
    for (int32_t e = 0; e < s->edge_count; e++)
        for (int k = 0; k < 2; k++)
            if (s->edge[e][k] < 0 || s->edge[e][k] >= s->node_count)
                return tl_fail(err, TL_BAD_ARG, "bvh: edge %d has node %d of %d", e, s->edge[e][k], s->node_count);
    return TL_OK;
}

tl_status tl_bvh_create(const tl_allocator *alloc, const tl_bvh_def *def, const tl_surface *surface, const tl_vec3 *x,
                        tl_bvh **out, tl_error *err)
{
    *out = NULL;
    if (def->arity != 2 && def->arity != 4 && def->arity != 8)
        return tl_fail(err, TL_BAD_ARG, "bvh: arity %d, must be 2, 4 or 8", def->arity);
    if (def->leaf_faces < 1 || def->leaf_faces > TL_BVH_MAX_LEAF)
        return tl_fail(err, TL_BAD_ARG, "bvh: leaf_faces %d, must be 1 to %d", def->leaf_faces, TL_BVH_MAX_LEAF);
    TL_TRY(tl_surface_check(surface, err));
    tl_bvh *bvh = TL_CALLOC(alloc, tl_bvh, 1);
    if (!bvh) return tl_fail_memory(err, "bvh");
    bvh->alloc = *alloc, bvh->def = *def, bvh->surface = *surface;
    tl_status status = tl_bvh_split(bvh, x, err);
    if (status == TL_OK) status = tl_bvh_layout(bvh, err);
    if (status != TL_OK) {
        tl_bvh_destroy(bvh);
        return status;
    }
    tl_bvh_refit(bvh, x, NULL, 0, 0, NULL);
    *out = bvh;
    return TL_OK;
}

void tl_bvh_free_arrays(tl_bvh *bvh)
{
    const tl_allocator alloc = bvh->alloc;
    TL_FREE(&alloc, bvh->child, bvh->inner_cap);
    TL_FREE(&alloc, bvh->leaf_of_face, bvh->face_cap);
    TL_FREE(&alloc, bvh->leaf, bvh->leaf_cap);
    for (int kind = 0; kind < PRIM_KINDS; kind++) TL_FREE(&alloc, bvh->id[kind], bvh->id_cap[kind]);
    for (int k = 0; k < 3; k++) TL_FREE(&alloc, bvh->corner[k], bvh->corner_cap[k]);
    for (int k = 0; k < 2; k++) TL_FREE(&alloc, bvh->end[k], bvh->end_cap[k]);
    TL_FREE(&alloc, bvh->node_box, bvh->node_box_cap);
    TL_FREE(&alloc, bvh->leaf_box, bvh->leaf_box_cap);
    TL_FREE(&alloc, bvh->moved, bvh->moved_cap);
    TL_FREE(&alloc, bvh->prim_box, bvh->prim_box_cap);
    TL_FREE(&alloc, bvh->volume, bvh->volume_cap);
    TL_FREE(&alloc, bvh->dirty, bvh->dirty_cap);
}

void tl_bvh_destroy(tl_bvh *bvh)
{
    if (!bvh) return;
    const tl_allocator alloc = bvh->alloc;
    tl_bvh_free_arrays(bvh);
    TL_FREE(&alloc, bvh, 1);
}

void tl_pairs_init(tl_pairs *pairs, tl_allocator alloc) { *pairs = (tl_pairs){.alloc = alloc}; }

void tl_pairs_free(tl_pairs *p)
{
    TL_FREE(&p->alloc, p->vf, p->vf_cap);
    TL_FREE(&p->alloc, p->ee, p->ee_cap);
    TL_FREE(&p->alloc, p->fv, p->fv_cap);
    TL_FREE(&p->alloc, p->ef, p->ef_cap);
    TL_FREE(&p->alloc, p->fe, p->fe_cap);
    tl_pairs_init(p, p->alloc);
}

const tl_surface *tl_bvh_surface(const tl_bvh *bvh) { return &bvh->surface; }
const tl_vec3 *tl_bvh_positions(const tl_bvh *bvh) { return bvh->x0; }
