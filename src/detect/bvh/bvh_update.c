// detect/bvh/bvh_update.c: keep a tree when the mesh changes here and there.
//
// Faces that have the same nodes as before stay where they are. Every other face goes to the leaf of a neighbour, the
// one whose box it widens least. Leaves that are too full are cut like in a new tree, empty ones are dropped. The new
// shape is laid out beside the old one, which is freed only when all has gone well.
//
// The tree is made anew when upkeep has worn it out: as many faces placed since as half the surface has, leaves less
// than half full on average, leaves half as wide again as when the tree was made, or too many levels.

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "detect/bvh/bvh_impl.h"

static const double WIDER = 1.5;
enum { DEEP = MAX_LEVELS / 2 };

typedef struct upkeep {
    tl_bvh *next;  // the tree to be
    const tl_vec3 *x;
    tl_extent *leaf_box;
    int32_t *leaf_of_node;  // a leaf with a face that has the node, or -1
    int32_t leaves;         // of the old tree
    int32_t placed;
} upkeep;

static void put_face(upkeep *u, int32_t f, int32_t leaf)
{
    u->next->leaf_of_face[f] = leaf;
    for (int k = 0; k < 3; k++) {
        const int32_t v = u->next->surface.face[f][k];
        add_point(&u->leaf_box[leaf], u->x[v]);
        u->leaf_of_node[v] = leaf;
    }
}

// The leaf that a face widens least: of those of its neighbours, or of all if it has none.
static int32_t best_leaf(const upkeep *u, int32_t f)
{
    const int32_t *v = u->next->surface.face[f];
    int32_t best = -1;
    double least = INFINITY;
    bool alone = true;
    for (int k = 0; k < 3; k++) alone = alone && u->leaf_of_node[v[k]] < 0;
    for (int32_t i = 0; i < (alone ? u->leaves : 3); i++) {
        const int32_t leaf = alone ? i : u->leaf_of_node[v[i]];
        if (leaf < 0) continue;
        tl_extent b = u->leaf_box[leaf];
        for (int k = 0; k < 3; k++) add_point(&b, u->x[v[k]]);
        const double grows = isfinite(width(&u->leaf_box[leaf])) ? width(&b) - width(&u->leaf_box[leaf]) : 0;
        if (best < 0 || grows < least) best = leaf, least = grows;
    }
    return best;
}

static void place_faces(upkeep *u, const tl_bvh *old)
{
    const tl_surface *s = &u->next->surface;
    for (int32_t l = 0; l < u->leaves; l++) u->leaf_box[l] = empty_extent();
    for (int32_t v = 0; v < s->node_count; v++) u->leaf_of_node[v] = -1;
    for (int32_t f = 0; f < s->face_count; f++) u->next->leaf_of_face[f] = -1;
    for (int32_t i = 0; i < old->count[PRIM_FACE]; i++) {
        const int32_t f = old->id[PRIM_FACE][i];
        bool same = f < s->face_count;
        for (int k = 0; same && k < 3; k++) same = s->face[f][k] == old->id[PRIM_NODE][old->corner[k][i]];
        if (same) put_face(u, f, old->leaf_of_face[f]);
    }
    for (int32_t f = 0; f < s->face_count; f++)
        if (u->next->leaf_of_face[f] < 0) put_face(u, f, best_leaf(u, f)), u->placed++;
}

// Cuts leaves that hold too much. Faces of a leaf by id, then as tl_bvh_grow orders them.
static tl_status cut_leaves(upkeep *u, tl_error *err)
{
    tl_bvh *t = u->next;
    const tl_allocator *alloc = &t->alloc;
    const int32_t n = t->surface.face_count, slots = t->inner_count * t->def.arity, leaves = u->leaves;
    int32_t *first = TL_CALLOC(alloc, int32_t, leaves + 2), *faces = TL_ALLOC(alloc, int32_t, n);
    tl_vec3 *centre = TL_ALLOC(alloc, tl_vec3, n);
    tl_status status = first && faces && centre ? TL_OK : tl_fail_memory(err, "bvh");
    if (status == TL_OK) {
        for (int32_t f = 0; f < n; f++) first[t->leaf_of_face[f] + 2]++;
        for (int32_t l = 0; l < leaves; l++) first[l + 2] += first[l + 1];
        for (int32_t f = 0; f < n; f++) faces[first[t->leaf_of_face[f] + 1]++] = f;
    }
    for (int32_t i = 0; status == TL_OK && i < slots; i++) {
        const int32_t child = t->child[i];
        if (child >= 0 || child == NO_CHILD) continue;
        const int32_t count = first[~child + 1] - first[~child];
        if (count == 0) t->child[i] = NO_CHILD;
        if (count <= t->def.leaf_faces) continue;
        int32_t ref;
        status = tl_bvh_grow(t, u->x, centre, faces + first[~child], count, &ref, err);
        if (status == TL_OK) t->child[i] = ref;
    }
    TL_FREE(alloc, first, leaves + 2);
    TL_FREE(alloc, faces, n);
    TL_FREE(alloc, centre, n);
    return status;
}

typedef struct pruning {
    const tl_bvh *from;
    int32_t *child;  // of the nodes that stay
    int32_t inner, leaves;
    int32_t *leaf_to;  // new number of each leaf
    int depth, deepest;
} pruning;

// Copies what is left of a subtree: no empty lanes before full ones, no nodes with one child. Returns its new number.
static int32_t prune(pruning *p, int32_t node, bool root)
{
    const int32_t arity = p->from->def.arity;
    int32_t kept[MAX_ARITY], n = 0;
    if (++p->depth > p->deepest) p->deepest = p->depth;
    const int32_t mine = p->inner++;
    for (int c = 0; c < arity; c++) {
        const int32_t child = p->from->child[node * arity + c];
        if (child == NO_CHILD) continue;
        if (child < 0) {
            p->leaf_to[~child] = p->leaves;
            kept[n++] = ~p->leaves++;
        } else {
            const int32_t ref = prune(p, child, false);
            if (ref != NO_CHILD) kept[n++] = ref;
        }
    }
    p->depth--;
    for (int c = 0; c < arity; c++) p->child[mine * arity + c] = c < n ? kept[c] : NO_CHILD;
    if (root || n > 1) return mine;
    return n == 1 ? kept[0] : NO_CHILD;  // nobody holds `mine` any more; the layout leaves it out
}

static tl_status prune_tree(tl_bvh *t, int *levels, tl_error *err)
{
    const tl_allocator *alloc = &t->alloc;
    const int64_t size = (int64_t)t->inner_count * t->def.arity;
    const int32_t leaves = t->leaf_count;
    pruning p = {.from = t, .child = TL_ALLOC(alloc, int32_t, size), .leaf_to = TL_ALLOC(alloc, int32_t, leaves)};
    const tl_status status = p.child && p.leaf_to ? TL_OK : tl_fail_memory(err, "bvh");
    if (status == TL_OK) {
        prune(&p, 0, true);
        memcpy(t->child, p.child, (size_t)p.inner * (size_t)t->def.arity * sizeof *p.child);
        t->inner_count = p.inner, t->leaf_count = p.leaves;
        for (int32_t f = 0; f < t->surface.face_count; f++) t->leaf_of_face[f] = p.leaf_to[t->leaf_of_face[f]];
        *levels = p.deepest;
    }
    TL_FREE(alloc, p.child, size);
    TL_FREE(alloc, p.leaf_to, leaves);
    return status;
}

// Puts the changes into the shape of `next`; *worn says that a new tree is the better one.
static tl_status change_shape(const tl_bvh *old, tl_bvh *next, const tl_vec3 *x, int32_t *placed, bool *worn,
                              tl_error *err)
{
    const tl_allocator *alloc = &next->alloc;
    const int32_t faces = next->surface.face_count, nodes = next->surface.node_count;
    const int64_t slots = (int64_t)old->inner_count * old->def.arity;
    upkeep u = {.next = next, .x = x, .leaves = old->leaf_count};
    u.leaf_box = TL_ALLOC(alloc, tl_extent, old->leaf_count);
    u.leaf_of_node = TL_ALLOC(alloc, int32_t, nodes);
    tl_status status = TL_OK;
    int levels = 0;
    if (!u.leaf_box || !u.leaf_of_node || !TL_GROW(alloc, next->child, next->inner_cap, slots) ||
        !TL_GROW(alloc, next->leaf_of_face, next->face_cap, faces))
        status = tl_fail_memory(err, "bvh");
    if (status == TL_OK) {
        memcpy(next->child, old->child, (size_t)slots * sizeof *next->child);
        next->inner_count = old->inner_count, next->leaf_count = old->leaf_count;
        place_faces(&u, old);
        status = cut_leaves(&u, err);
    }
    if (status == TL_OK) status = prune_tree(next, &levels, err);
    if (status == TL_OK) {
        *placed = u.placed;
        next->changed_since_build = old->changed_since_build + u.placed, next->build_size = old->build_size;
        const int32_t ideal = tl_chunk_count(faces, next->def.leaf_faces);
        *worn = next->changed_since_build > faces / 2 || next->leaf_count > 2 * ideal + 1 || levels > DEEP ||
                tl_bvh_leaf_size(next, x) > WIDER * next->build_size;
    }
    TL_FREE(alloc, u.leaf_box, old->leaf_count);
    TL_FREE(alloc, u.leaf_of_node, nodes);
    return status;
}

tl_status tl_bvh_update(tl_bvh *bvh, const tl_surface *surface, const tl_vec3 *x, tl_bvh_update_report *report,
                        tl_error *err)
{
    TL_TRY(tl_surface_check(surface, err));
    tl_bvh next = {.alloc = bvh->alloc, .def = bvh->def, .surface = *surface};
    int32_t placed = surface->face_count;
    bool worn = bvh->leaf_count == 0 || surface->face_count == 0;
    tl_status status = worn ? TL_OK : change_shape(bvh, &next, x, &placed, &worn, err);
    if (status == TL_OK && worn) status = tl_bvh_split(&next, x, err);
    if (status == TL_OK) status = tl_bvh_layout(&next, err);
    if (status != TL_OK) {
        tl_bvh_free_arrays(&next);
        return status;
    }
    tl_bvh_free_arrays(bvh);
    *bvh = next;
    tl_bvh_refit(bvh, x, NULL, 0, 0, NULL);
    if (report) *report = (tl_bvh_update_report){placed, worn};
    return TL_OK;
}
