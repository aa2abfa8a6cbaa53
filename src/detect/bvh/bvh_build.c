// detect/bvh/bvh_build.c: which faces go together: a tree made top down, and the layout that follows from it.
//
// A range of faces is cut in two at the median of the face centres along the longest axis of their box, the cut rounded
// to whole leaves so that nearly every leaf is full; two or three such cuts make the children of a 4- or 8-ary node.
// Kimmerle 2005, sec. 2.2.1.2 cuts at the middle of the volume instead; docs/broad-phase.md compares.

#include "base/alloc.h"
#include "base/fail.h"
#include "detect/bvh/bvh_impl.h"
#include "math/vec3.h"

typedef struct split {
    tl_bvh *bvh;
    tl_vec3 *centre;  // three times the centre of each face
    int32_t *order;
} split;

static double coordinate(const tl_vec3 *p, int axis) { return axis == 0 ? p->x : axis == 1 ? p->y : p->z; }

static bool before(const split *s, int32_t a, int32_t b, int axis)
{
    const double p = coordinate(&s->centre[a], axis), q = coordinate(&s->centre[b], axis);
    return p < q || (p == q && a < b);
}

// Puts the n-th smallest of [begin, end) at n, smaller ones before it. Quickselect with the median of three.
static void select_nth(split *s, int32_t begin, int32_t end, int32_t n, int axis)
{
    int32_t *o = s->order;
    while (end - begin > 1) {
        const int32_t a = o[begin], b = o[begin + (end - begin) / 2], c = o[end - 1];
        const bool ab = before(s, a, b, axis), bc = before(s, b, c, axis), ac = before(s, a, c, axis);
        const int32_t pivot = ab == bc ? b : ab == ac ? c : a;
        int32_t i = begin, j = end - 1;
        while (i <= j) {
            while (before(s, o[i], pivot, axis)) i++;
            while (before(s, pivot, o[j], axis)) j--;
            if (i > j) break;
            const int32_t t = o[i];
            o[i++] = o[j], o[j--] = t;
        }
        if (n <= j)
            end = j + 1;
        else if (n >= i)
            begin = i;
        else
            return;
    }
}

static int longest_axis(const split *s, int32_t begin, int32_t end)
{
    tl_extent all = empty_extent();
    for (int32_t i = begin; i < end; i++) add_point(&all, s->centre[s->order[i]]);
    const tl_vec3 d = tl_sub3(all.hi, all.lo);
    return d.x >= d.y && d.x >= d.z ? 0 : d.y >= d.z ? 1 : 2;
}

typedef struct range {
    int32_t begin, end;
} range;

// Cuts [begin, end) into up to `parts` (a power of two) ranges; returns their number.
static int cut(split *s, range r, int parts, range *out)
{
    const int32_t leaf = s->bvh->def.leaf_faces, leaves = tl_chunk_count(r.end - r.begin, leaf);
    if (parts == 1 || leaves <= 1) {
        out[0] = r;
        return r.end > r.begin;
    }
    const int32_t middle = r.begin + leaves / 2 * leaf;
    select_nth(s, r.begin, r.end, middle, longest_axis(s, r.begin, r.end));
    const int n = cut(s, (range){r.begin, middle}, parts / 2, out);
    return n + cut(s, (range){middle, r.end}, parts / 2, out + n);
}

// Makes the leaf or subtree of a range that is not empty; `*ref` is where it hangs. False: no memory.
static bool grow(split *s, range r, int32_t *ref)
{
    tl_bvh *bvh = s->bvh;
    const int32_t arity = bvh->def.arity;
    if (r.end - r.begin <= bvh->def.leaf_faces) {
        *ref = ~bvh->leaf_count;
        for (int32_t j = r.begin; j < r.end; j++) bvh->leaf_of_face[s->order[j]] = bvh->leaf_count;
        bvh->leaf_count++;
        return true;
    }
    const int32_t node = bvh->inner_count++;
    if (!TL_GROW(&bvh->alloc, bvh->child, bvh->inner_cap, (int64_t)bvh->inner_count * arity)) return false;
    range part[MAX_ARITY];
    const int parts = cut(s, r, arity, part);
    for (int c = 0; c < arity; c++) {
        int32_t child = NO_CHILD;
        if (c < parts && !grow(s, part[c], &child)) return false;
        bvh->child[node * arity + c] = child;
    }
    *ref = node;
    return true;
}

tl_status tl_bvh_split(tl_bvh *bvh, const tl_vec3 *x, tl_error *err)
{
    const int32_t n = bvh->surface.face_count, arity = bvh->def.arity;
    const tl_allocator *alloc = &bvh->alloc;
    bvh->inner_count = bvh->leaf_count = 0;
    int32_t *order = TL_ALLOC(alloc, int32_t, n), root = NO_CHILD;
    tl_vec3 *centre = TL_ALLOC(alloc, tl_vec3, n);
    tl_status status = TL_OK;
    if (!order || !centre || !TL_GROW(alloc, bvh->leaf_of_face, bvh->face_cap, n) ||
        !TL_GROW(alloc, bvh->child, bvh->inner_cap, arity))
        status = tl_fail_memory(err, "bvh");
    for (int32_t f = 0; status == TL_OK && f < n; f++) {
        const int32_t *v = bvh->surface.face[f];
        order[f] = f, centre[f] = tl_add3(x[v[0]], tl_add3(x[v[1]], x[v[2]]));
    }
    if (status == TL_OK && n > 0 && !grow(&(split){bvh, centre, order}, (range){0, n}, &root))
        status = tl_fail_memory(err, "bvh");
    if (status == TL_OK && root < 0) {  // no face, or all in one leaf: the root is an inner node all the same
        for (int c = 0; c < arity; c++) bvh->child[c] = c == 0 ? root : NO_CHILD;
        bvh->inner_count = 1;
    }
    TL_FREE(alloc, order, n);
    TL_FREE(alloc, centre, n);
    return status;
}
