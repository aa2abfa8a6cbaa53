// collide/nearest.c: depth first, the nearest child first, skipping volumes farther than the best face so far.
//
// A volume encloses its faces at x0 whatever else it encloses (a margin, the way to x1), so its distance is a lower bound. Of its
// supports the three axes and their opposites are used: rows 0 to 2 and k/2 to k/2 + 2.

#include "collide/nearest.h"

#include "collide/bvh_impl.h"
#include "collide/distance.h"

#define ROUNDING 1e-12  // a face may seem nearer than its own box by this part: ties must not depend on the tree

enum { STACK_ITEMS = MAX_LEVELS * MAX_ARITY };

typedef struct waiting { double distance2; int32_t child; } waiting;

// A little less than the squared distances of p from `count` boxes in rows of `stride`: lows, and the opposites of highs from
// row `half` on.
static void box_distances2(const float *row, int count, int stride, int half, const double p[3], double *out)
{
    for (int i = 0; i < count; i++) out[i] = 0;
    for (int d = 0; d < 3; d++) {
        const float *low = row + d * stride, *minus_high = row + (half + d) * stride;
        for (int i = 0; i < count; i++) {
            const double below = (double)low[i] - p[d], above = p[d] + (double)minus_high[i];
            const double most = below > above ? below : above, gap = most > 0 ? most : 0;
            out[i] += (1 - ROUNDING) * gap * gap;
        }
    }
}

static void try_face(const tl_bvh *bvh, int32_t f, tl_vec3 p, double *best2, tl_nearest_spot *best)
{
    const int32_t *n = bvh->surface.face[f];
    const tl_vec3 a = bvh->x0[n[0]], q = tl_sub3(p, a), e1 = tl_sub3(bvh->x0[n[1]], a), e2 = tl_sub3(bvh->x0[n[2]], a);
    double w[3];
    tl_nearest_on_face(q, e1, e2, w);
    const tl_vec3 offset = tl_madd3(tl_madd3(q, -w[1], e1), -w[2], e2);
    const double d2 = tl_dot3(offset, offset);
    if (d2 > *best2 || (d2 == *best2 && best->face >= 0 && best->face < f)) return;
    *best2 = d2;
    best->face = f, best->offset = offset;
}

static void try_leaf(const tl_bvh *bvh, int32_t leaf, tl_vec3 p, const double place[3], double *best2, tl_nearest_spot *best)
{
    const int32_t first = bvh->leaf[leaf].first[PRIM_FACE], count = leaf_size(bvh, leaf, PRIM_FACE);
    double d2[TL_BVH_MAX_LEAF];
    box_distances2(bvh->prim_box + bvh->leaf[leaf].box, count, pad_lanes(count), 3, place, d2);
    for (int32_t i = 0; i < count; i++)
        if (d2[i] <= *best2) try_face(bvh, bvh->id[PRIM_FACE][first + i], p, best2, best);
}

// Adds the children of a node that may hold something near, the nearest last.
static int push_children(const tl_bvh *bvh, int32_t node, const double p[3], double best2, waiting *stack, int depth)
{
    const int bottom = depth, arity = bvh->def.arity;
    double distance2[MAX_ARITY];
    box_distances2(bvh->volume + (size_t)node * (size_t)bvh->planes * (size_t)arity, arity, arity, bvh->def.k / 2, p, distance2);
    for (int lane = 0; lane < arity; lane++) {
        const int32_t child = bvh->child[node * arity + lane];
        if (child == NO_CHILD) continue;
        const double d2 = distance2[lane];
        if (d2 > best2) continue;
        int at = depth++;
        for (; at > bottom && stack[at - 1].distance2 < d2; at--) stack[at] = stack[at - 1];
        stack[at] = (waiting){d2, child};
    }
    return depth;
}

tl_nearest_spot tl_bvh_nearest(const tl_bvh *bvh, tl_vec3 p, double radius, int32_t hint)
{
    tl_nearest_spot best = {-1, (double)INFINITY, {0}};
    if (bvh->surface.face_count == 0 || !(radius >= 0)) return best;
    double best2 = radius * radius;
    const double place[3] = {p.x, p.y, p.z};
    if (hint >= 0 && hint < bvh->surface.face_count) try_face(bvh, hint, p, &best2, &best);
    waiting stack[STACK_ITEMS];
    int depth = push_children(bvh, 0, place, best2, stack, 0);
    while (depth > 0) {
        const waiting next = stack[--depth];
        if (next.distance2 > best2) continue;
        if (next.child < 0) try_leaf(bvh, ~next.child, p, place, &best2, &best);
        else depth = push_children(bvh, next.child, place, best2, stack, depth);
    }
    if (best.face >= 0) best.distance = sqrt(best2);
    return best;
}
