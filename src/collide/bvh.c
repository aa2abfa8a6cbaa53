// collide/bvh.c: make and free a tree; lists of pairs.

#include "collide/bvh.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "collide/bvh_impl.h"

tl_bvh_def tl_bvh_def_default(void) { return (tl_bvh_def){.k = 6, .arity = 8, .leaf_faces = 8}; }

static tl_status check_surface(const tl_surface *s, tl_error *err)
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
    if (def->k != 6 && def->k != 14 && def->k != 18 && def->k != 26)
        return tl_fail(err, TL_BAD_ARG, "bvh: k %d, must be 6, 14, 18 or 26", def->k);
    if (def->arity != 2 && def->arity != 4 && def->arity != 8)
        return tl_fail(err, TL_BAD_ARG, "bvh: arity %d, must be 2, 4 or 8", def->arity);
    if (def->leaf_faces < 1 || def->leaf_faces > TL_BVH_MAX_LEAF)
        return tl_fail(err, TL_BAD_ARG, "bvh: leaf_faces %d, must be 1 to %d", def->leaf_faces, TL_BVH_MAX_LEAF);
    TL_TRY(check_surface(surface, err));
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

void tl_bvh_destroy(tl_bvh *bvh)
{
    if (!bvh) return;
    const tl_allocator alloc = bvh->alloc;
    TL_FREE(&alloc, bvh->child, bvh->inner_cap);
    TL_FREE(&alloc, bvh->leaf_of_face, bvh->face_cap);
    TL_FREE(&alloc, bvh->leaf, bvh->leaf_cap);
    for (int kind = 0; kind < PRIM_KINDS; kind++) TL_FREE(&alloc, bvh->id[kind], bvh->id_cap[kind]);
    TL_FREE(&alloc, bvh->corner, bvh->corner_cap);
    TL_FREE(&alloc, bvh->end, bvh->end_cap);
    TL_FREE(&alloc, bvh->node_box, bvh->node_box_cap);
    TL_FREE(&alloc, bvh->moved, bvh->moved_cap);
    TL_FREE(&alloc, bvh->prim_box, bvh->prim_box_cap);
    TL_FREE(&alloc, bvh->volume, bvh->volume_cap);
    TL_FREE(&alloc, bvh->dirty, bvh->dirty_cap);
    TL_FREE(&alloc, bvh, 1);
}

size_t tl_bvh_memory(const tl_bvh *bvh)
{
    size_t bytes = sizeof *bvh + (size_t)bvh->inner_cap * sizeof *bvh->child +
                   (size_t)bvh->face_cap * sizeof *bvh->leaf_of_face + (size_t)bvh->leaf_cap * sizeof *bvh->leaf +
                   (size_t)bvh->corner_cap * sizeof *bvh->corner + (size_t)bvh->end_cap * sizeof *bvh->end +
                   (size_t)bvh->node_box_cap * sizeof *bvh->node_box + (size_t)bvh->moved_cap +
                   (size_t)bvh->prim_box_cap * sizeof *bvh->prim_box + (size_t)bvh->volume_cap * sizeof *bvh->volume +
                   (size_t)bvh->dirty_cap;
    for (int kind = 0; kind < PRIM_KINDS; kind++) bytes += (size_t)bvh->id_cap[kind] * sizeof *bvh->id[kind];
    return bytes;
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
<<<<<<< HEAD

static box make_box(const tl_bvh *bvh, const int32_t *node, int count, int32_t id, int32_t set)
{
    box b = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}, {-1, -1, -1}, id, set};
    for (int k = 0; k < count; k++) {
        b.node[k] = node[k];
        const tl_vec3 p = bvh->x0[node[k]], q = bvh->x1 ? bvh->x1[node[k]] : p;
        b.lo = (tl_vec3){fmin(b.lo.x, fmin(p.x, q.x)), fmin(b.lo.y, fmin(p.y, q.y)), fmin(b.lo.z, fmin(p.z, q.z))};
        b.hi = (tl_vec3){fmax(b.hi.x, fmax(p.x, q.x)), fmax(b.hi.y, fmax(p.y, q.y)), fmax(b.hi.z, fmax(p.z, q.z))};
    }
    const double m = bvh->margin;
    b.lo.x -= m, b.lo.y -= m, b.lo.z -= m, b.hi.x += m, b.hi.y += m, b.hi.z += m;
    return b;
}

enum { NODES, EDGES, FACES };

static int32_t boxes_of(const tl_bvh *bvh, int kind, int32_t set, tl_arena *scratch, box *out)
{
    const tl_surface *s = &bvh->surface;
    int32_t n = 0;
    if (kind == NODES) {
        char *used = TL_SCRATCH(scratch, char, s->node_count);
        if (!used) return -1;
        for (int32_t v = 0; v < s->node_count; v++) used[v] = 0;
        for (int32_t f = 0; f < s->face_count; f++)
            for (int k = 0; k < 3; k++) used[s->face[f][k]] = 1;
        for (int32_t v = 0; v < s->node_count; v++)
            if (used[v]) out[n++] = make_box(bvh, &v, 1, v, set);
    }
    if (kind == EDGES)
        for (int32_t e = 0; e < s->edge_count; e++) out[n++] = make_box(bvh, s->edge[e], 2, e, set);
    if (kind == FACES)
        for (int32_t f = 0; f < s->face_count; f++) out[n++] = make_box(bvh, s->face[f], 3, f, set);
    return n;
}

static uint64_t key_of(double x)
{
    union { double d; uint64_t u; } c = {x + 0.0};
    return c.u >> 63 ? ~c.u : c.u | UINT64_C(1) << 63;
}

static bool overlap(const box *a, const box *b, bool same)
{
    if (a->lo.x > b->hi.x || b->lo.x > a->hi.x || a->lo.y > b->hi.y || b->lo.y > a->hi.y || a->lo.z > b->hi.z ||
        b->lo.z > a->hi.z)
        return false;
    for (int i = 0; same && i < 3; i++)
        for (int j = 0; j < 3; j++)
            if (a->node[i] >= 0 && a->node[i] == b->node[j]) return false;
    return true;
}

// Pairs of kind `ka` of first and `kb` of second. first == second: within one surface.
static tl_status sweep(const tl_bvh *first, const tl_bvh *second, int ka, int kb, tl_arena *scratch, tl_pairs *out,
                       tl_pair **list, int32_t *count, int32_t *cap, tl_error *err)
{
    const tl_arena_mark mark = tl_arena_save(scratch);
    const bool same = first == second, one = same && ka == kb;
    const int64_t most = (int64_t)first->surface.node_count + first->surface.edge_count + first->surface.face_count +
                         second->surface.node_count + second->surface.edge_count + second->surface.face_count + 1;
    box *b = TL_SCRATCH(scratch, box, most);
    tl_key *keys = TL_SCRATCH(scratch, tl_key, most), *spare = TL_SCRATCH(scratch, tl_key, most);
    if (!b || !keys || !spare) return tl_fail_memory(err, "boxes");
    int32_t n = boxes_of(first, ka, 0, scratch, b);
    const int32_t m = n < 0 || one ? 0 : boxes_of(second, kb, 1, scratch, b + n);
    if (n < 0 || m < 0) return tl_fail_memory(err, "boxes");
    n += m;
    for (int32_t i = 0; i < n; i++) keys[i] = (tl_key){key_of(b[i].lo.x), i};
    tl_sort_keys(keys, spare, n);
    int64_t found = 0;
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = i + 1; j < n && b[keys[j].id].lo.x <= b[keys[i].id].hi.x; j++) {
            const box *p = &b[keys[i].id], *q = &b[keys[j].id];
            out->volume_tests++;
            if ((!one && p->set == q->set) || !overlap(p, q, same)) continue;
            if (!TL_GROW(&out->alloc, *list, *cap, found + 1)) return tl_fail_memory(err, "pairs");
            const bool turn = one ? p->id > q->id : p->set == 1;
            (*list)[found++] = turn ? (tl_pair){q->id, p->id} : (tl_pair){p->id, q->id};
        }
    tl_arena_release(scratch, mark);
    tl_key *k = TL_SCRATCH(scratch, tl_key, found + 1), *s = TL_SCRATCH(scratch, tl_key, found + 1);
    if (!k || !s) return tl_fail_memory(err, "pairs");
    for (int64_t i = 0; i < found; i++)
        k[i] = (tl_key){(uint64_t)(*list)[i].a << 32 | (uint64_t)(*list)[i].b, (int32_t)i};
    tl_sort_keys(k, s, (int32_t)found);
    for (int64_t i = 0; i < found; i++) (*list)[i] = (tl_pair){(int32_t)(k[i].key >> 32), (int32_t)k[i].key};
    *count = (int32_t)found;
    tl_arena_release(scratch, mark);
    return TL_OK;
}

static void clear(tl_pairs *p)
{
    p->vf_count = p->ee_count = p->fv_count = p->ef_count = p->fe_count = 0;
    p->volume_tests = p->face_pairs = 0;
}

tl_status tl_bvh_self(const tl_bvh *b, int what, tl_arena *scratch, tl_workers *workers, tl_pairs *p, tl_error *err)
{
    (void)workers;
    clear(p);
    if (what & TL_PAIR_VF) TL_TRY(sweep(b, b, NODES, FACES, scratch, p, &p->vf, &p->vf_count, &p->vf_cap, err));
    if (what & TL_PAIR_EE) TL_TRY(sweep(b, b, EDGES, EDGES, scratch, p, &p->ee, &p->ee_count, &p->ee_cap, err));
    if (what & TL_PAIR_EF) TL_TRY(sweep(b, b, EDGES, FACES, scratch, p, &p->ef, &p->ef_count, &p->ef_cap, err));
    return TL_OK;
}

tl_status tl_bvh_between(const tl_bvh *a, const tl_bvh *b, int what, tl_arena *scratch, tl_workers *workers, tl_pairs *p,
                         tl_error *err)
{
    (void)workers;
    clear(p);
    if (what & TL_PAIR_VF) TL_TRY(sweep(a, b, NODES, FACES, scratch, p, &p->vf, &p->vf_count, &p->vf_cap, err));
    if (what & TL_PAIR_VF) TL_TRY(sweep(b, a, NODES, FACES, scratch, p, &p->fv, &p->fv_count, &p->fv_cap, err));
    if (what & TL_PAIR_EE) TL_TRY(sweep(a, b, EDGES, EDGES, scratch, p, &p->ee, &p->ee_count, &p->ee_cap, err));
    if (what & TL_PAIR_EF) TL_TRY(sweep(a, b, EDGES, FACES, scratch, p, &p->ef, &p->ef_count, &p->ef_cap, err));
    if (what & TL_PAIR_EF) TL_TRY(sweep(b, a, EDGES, FACES, scratch, p, &p->fe, &p->fe_count, &p->fe_cap, err));
    return TL_OK;
}

const tl_surface *tl_bvh_surface(const tl_bvh *bvh) { return &bvh->surface; }
const tl_vec3 *tl_bvh_positions(const tl_bvh *bvh) { return bvh->x0; }
=======
>>>>>>> h/bvh
