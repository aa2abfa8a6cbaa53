// collide/nearest.c: depth first, the nearest child first, skipping volumes farther than the best face so far.
//
// A volume encloses its faces at x0 whatever else it encloses (a margin, the way to x1), so its distance is a lower bound. Of its
// supports the three axes and their opposites are used: rows 0 to 2 and k/2 to k/2 + 2.

#include "collide/nearest.h"

#include <float.h>

#include "collide/bvh_impl.h"
#include "collide/distance.h"
#include "math/simd.h"

enum { STACK_ITEMS = MAX_LEVELS * MAX_ARITY };

typedef struct waiting { double distance2; int32_t child; } waiting;

/// A place in single precision, a box around it: no less than it and no more.
typedef struct spot { float low[3], high[3]; } spot;

static spot spot_of(tl_vec3 p)
{
    const double x[3] = {p.x, p.y, p.z};
    spot s;
    for (int d = 0; d < 3; d++) s.low[d] = round_down(x[d]), s.high[d] = -round_down(-x[d]);
    return s;
}

TL_INLINE float gap2(float low, float minus_high, float p, float q)
{
    const float below = low - q, above = p + minus_high, most = below > above ? below : above, gap = most > 0 ? most : 0;
    return gap * gap;
}

// A little less than the squared distances of a place from `count` boxes in rows of `stride`: lows, and the opposites of highs
// from row `half` on. In single precision: it only says what need not be looked at.
TL_INLINE void box_distances2(const float *row, int count, int stride, int half, const spot *s, float *out)
{
    const float *x = row, *y = row + stride, *z = row + 2 * stride, *u = row + half * stride, *v = u + stride, *w = v + stride;
    for (int i = 0; i < count; i++)
        out[i] = (1 - 8 * FLT_EPSILON) * (gap2(x[i], u[i], s->low[0], s->high[0]) + gap2(y[i], v[i], s->low[1], s->high[1]) +
                                          gap2(z[i], w[i], s->low[2], s->high[2]));
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

TL_INLINE void try_leaf(const tl_bvh *bvh, int32_t leaf, tl_vec3 p, const spot *place, double *best2, tl_nearest_spot *best)
{
    const int32_t first = bvh->leaf[leaf].first[PRIM_FACE], count = leaf_size(bvh, leaf, PRIM_FACE);
    float d2[TL_BVH_MAX_LEAF];
    box_distances2(bvh->prim_box + bvh->leaf[leaf].box, pad_lanes(count), pad_lanes(count), 3, place, d2);
    for (int32_t i = 0; i < count; i++)
        if ((double)d2[i] <= *best2) try_face(bvh, bvh->id[PRIM_FACE][first + i], p, best2, best);
}

// Adds the children of a node that may hold something near, the nearest last.
TL_INLINE int push_children(const tl_bvh *bvh, int32_t node, const spot *place, double best2, waiting *stack, int depth)
{
    const int bottom = depth, arity = bvh->def.arity;
    float distance2[MAX_ARITY];
    box_distances2(bvh->volume + (size_t)node * (size_t)bvh->planes * (size_t)arity, arity, arity, bvh->def.k / 2, place, distance2);
    for (int lane = 0; lane < arity; lane++) {
        const int32_t child = bvh->child[node * arity + lane];
        if (child == NO_CHILD) continue;
        const double d2 = (double)distance2[lane];
        if (d2 > best2) continue;
        int at = depth++;
        for (; at > bottom && stack[at - 1].distance2 < d2; at--) stack[at] = stack[at - 1];
        stack[at] = (waiting){d2, child};
    }
    return depth;
}

// Looks for a face no farther than the root of *best2.
TL_CLONES static void search(const tl_bvh *bvh, tl_vec3 p, double *best2, tl_nearest_spot *best)
{
    const spot place = spot_of(p);
    waiting stack[STACK_ITEMS];
    int depth = push_children(bvh, 0, &place, *best2, stack, 0);
    while (depth > 0) {
        const waiting next = stack[--depth];
        if (next.distance2 > *best2) continue;
        if (next.child < 0) try_leaf(bvh, ~next.child, p, &place, best2, best);
        else depth = push_children(bvh, next.child, &place, *best2, stack, depth);
    }
}

tl_nearest_spot tl_bvh_nearest(const tl_bvh *bvh, tl_vec3 p, double radius, int32_t hint)
{
    tl_nearest_spot best = {-1, (double)INFINITY, {0}};
    if (bvh->surface.face_count == 0 || !(radius >= 0)) return best;
    double best2 = radius * radius;
    if (hint >= 0 && hint < bvh->surface.face_count) try_face(bvh, hint, p, &best2, &best);
    search(bvh, p, &best2, &best);
    if (best.face >= 0) best.distance = sqrt(best2);
    return best;
}

/// What is looked for in a box: faces, as many as there is room for.
typedef struct catch { int32_t *face, count, max; } catch;

// Bits of the lanes, up to LANES, whose boxes meet the one from `low` to `high`; rows as for box_distances2.
TL_INLINE uint32_t lanes_meet(const float *row, int lanes, int stride, int half, const spot *s)
{
    int32_t far[LANES];
    for (int i = 0; i < lanes; i++) {
        far[i] = 0;
        for (int d = 0; d < 3; d++) far[i] |= (row[d * stride + i] > s->high[d]) | (-row[(half + d) * stride + i] < s->low[d]);
    }
    uint32_t meet = 0;
    for (int i = 0; i < lanes; i++) meet |= (uint32_t)(far[i] == 0) << i;
    return meet;
}

TL_INLINE void catch_leaf(const tl_bvh *bvh, int32_t leaf, const spot *s, catch *out)
{
    const int32_t first = bvh->leaf[leaf].first[PRIM_FACE], count = leaf_size(bvh, leaf, PRIM_FACE), stride = pad_lanes(count);
    const float *row = bvh->prim_box + bvh->leaf[leaf].box;
    for (int32_t at = 0; at < count; at += LANES) {
        uint32_t meet = lanes_meet(row + at, LANES, stride, 3, s);
        if (count - at < LANES) meet &= (UINT32_C(1) << (count - at)) - 1;
        for (; meet; meet &= meet - 1, out->count++)
            if (out->count < out->max) out->face[out->count] = bvh->id[PRIM_FACE][first + at + __builtin_ctz(meet)];
    }
}

TL_CLONES static void catch_faces(const tl_bvh *bvh, const spot *s, catch *out)
{
    const int arity = bvh->def.arity;
    int32_t stack[STACK_ITEMS];
    int depth = 0;
    stack[depth++] = 0;
    while (depth > 0) {
        const int32_t node = stack[--depth];
        const float *row = bvh->volume + (size_t)node * (size_t)bvh->planes * (size_t)arity;
        uint32_t meet = arity == LANES ? lanes_meet(row, LANES, LANES, bvh->def.k / 2, s) : lanes_meet(row, arity, arity, bvh->def.k / 2, s);
        for (; meet; meet &= meet - 1) {
            const int32_t child = bvh->child[node * arity + __builtin_ctz(meet)];
            if (child >= 0) stack[depth++] = child;
            else if (child != NO_CHILD) catch_leaf(bvh, ~child, s, out);
        }
    }
}

int32_t tl_bvh_around(const tl_bvh *bvh, tl_vec3 lo, tl_vec3 hi, int32_t *faces, int32_t max)
{
    if (bvh->surface.face_count == 0) return 0;
    const spot low = spot_of(lo), high = spot_of(hi), s = {{low.low[0], low.low[1], low.low[2]}, {high.high[0], high.high[1], high.high[2]}};
    catch out = {faces, 0, max};
    catch_faces(bvh, &s, &out);
    return out.count;
}

void tl_bvh_extent(const tl_bvh *bvh, tl_vec3 *lo, tl_vec3 *hi)
{
    const int arity = bvh->def.arity;
    double low[3], high[3];
    for (int d = 0; d < 3; d++) {
        low[d] = INFINITY, high[d] = -INFINITY;
        for (int lane = 0; lane < arity && bvh->surface.face_count > 0; lane++) {
            if (bvh->child[lane] == NO_CHILD) continue;
            low[d] = lesser(low[d], (double)bvh->volume[d * arity + lane]);
            high[d] = greater(high[d], -(double)bvh->volume[(bvh->def.k / 2 + d) * arity + lane]);
        }
    }
    *lo = (tl_vec3){low[0], low[1], low[2]}, *hi = (tl_vec3){high[0], high[1], high[2]};
}
