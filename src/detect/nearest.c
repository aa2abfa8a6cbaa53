// detect/nearest.c: depth first, the nearest child first, skipping volumes farther than the best face so far.
//
// A volume encloses its faces at x0 whatever else it encloses (a margin, the way to x1), so its distance is a lower
// bound. Of its supports the three axes and their opposites are used: rows 0 to 2 and k/2 to k/2 + 2.

#include "detect/nearest.h"

#include <float.h>

#include "detect/bvh/bvh_impl.h"
#include "detect/distance.h"
#include "math/simd.h"

enum { STACK_ITEMS = MAX_LEVELS * MAX_ARITY };

typedef struct waiting {
    float distance2;
    int32_t child;
} waiting;

/// A place or a box in single precision, rounded outwards.
typedef struct spot {
    float low[3], high[3];
} spot;

static spot spot_of(tl_vec3 lo, tl_vec3 hi)
{
    return (spot){{round_down(lo.x), round_down(lo.y), round_down(lo.z)},
                  {-round_down(-hi.x), -round_down(-hi.y), -round_down(-hi.z)}};
}

// Eight boxes at once, in rows of `stride`: lows, and the opposites of highs from row 3 on. Single precision only
// says what need not be looked at. gap2_lanes: a little less than the squared distances from a spot to `out`, and bits
// of those that are not above `most`. meet_lanes: bits of those that may meet it.
#ifdef __SSE2__
#include <emmintrin.h>

TL_INLINE __m128 gap2_four(const float *row, int stride, const spot *s)
{
    __m128 sum = _mm_setzero_ps();
    for (int d = 0; d < 3; d++) {
        const __m128 below = _mm_sub_ps(_mm_loadu_ps(row + d * stride), _mm_set1_ps(s->high[d]));
        const __m128 above = _mm_add_ps(_mm_loadu_ps(row + (3 + d) * stride), _mm_set1_ps(s->low[d]));
        const __m128 gap = _mm_max_ps(_mm_max_ps(below, above), _mm_setzero_ps());
        sum = _mm_add_ps(sum, _mm_mul_ps(gap, gap));
    }
    return _mm_mul_ps(sum, _mm_set1_ps(1 - 8 * FLT_EPSILON));
}

TL_INLINE uint32_t gap2_lanes(const float *row, int stride, const spot *s, float most, float out[LANES])
{
    const __m128 a = gap2_four(row, stride, s), b = gap2_four(row + 4, stride, s), limit = _mm_set1_ps(most);
    _mm_storeu_ps(out, a), _mm_storeu_ps(out + 4, b);
    return (uint32_t)_mm_movemask_ps(_mm_cmple_ps(a, limit)) | (uint32_t)_mm_movemask_ps(_mm_cmple_ps(b, limit)) << 4;
}

TL_INLINE uint32_t meet_four(const float *row, int stride, const spot *s)
{
    __m128 meet = _mm_cmple_ps(_mm_loadu_ps(row), _mm_set1_ps(s->high[0]));
    for (int d = 0; d < 3; d++) {
        if (d > 0) meet = _mm_and_ps(meet, _mm_cmple_ps(_mm_loadu_ps(row + d * stride), _mm_set1_ps(s->high[d])));
        meet = _mm_and_ps(meet, _mm_cmple_ps(_mm_loadu_ps(row + (3 + d) * stride), _mm_set1_ps(-s->low[d])));
    }
    return (uint32_t)_mm_movemask_ps(meet);
}

TL_INLINE uint32_t meet_lanes(const float *row, int stride, const spot *s)
{
    return meet_four(row, stride, s) | meet_four(row + 4, stride, s) << 4;
}
#else
TL_INLINE uint32_t gap2_lanes(const float *row, int stride, const spot *s, float most, float out[LANES])
{
    uint32_t near = 0;
    for (int i = 0; i < LANES; i++) {
        float sum = 0;
        for (int d = 0; d < 3; d++) {
            const float below = row[d * stride + i] - s->high[d], above = row[(3 + d) * stride + i] + s->low[d];
            const float larger = below > above ? below : above, gap = larger > 0 ? larger : 0;
            sum += gap * gap;
        }
        out[i] = sum * (1 - 8 * FLT_EPSILON);
        near |= (uint32_t)(out[i] <= most) << i;
    }
    return near;
}

TL_INLINE uint32_t meet_lanes(const float *row, int stride, const spot *s)
{
    uint32_t meet = 0;
    for (int i = 0; i < LANES; i++) {
        bool yes = true;
        for (int d = 0; d < 3; d++)
            yes = yes && row[d * stride + i] <= s->high[d] && row[(3 + d) * stride + i] <= -s->low[d];
        meet |= (uint32_t)yes << i;
    }
    return meet;
}
#endif

// Rows of a node with fewer children than LANES, in rows of LANES.
typedef struct eight {
    float row[6][LANES];
} eight;

static void widen(const float *row, int lanes, eight *out)
{
    for (int d = 0; d < 6; d++)
        for (int i = 0; i < LANES; i++) out->row[d][i] = i < lanes ? row[d * lanes + i] : (float)INFINITY;
}

static const float *rows_of(const tl_bvh *bvh, int32_t node)
{
    return bvh->volume + (size_t)node * (size_t)bvh->rows * (size_t)bvh->def.arity;
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

static void try_leaf(const tl_bvh *bvh, int32_t leaf, tl_vec3 p, const spot *place, double *best2,
                     tl_nearest_spot *best)
{
    const int32_t first = bvh->leaf[leaf].first[PRIM_FACE], count = leaf_size(bvh, leaf, PRIM_FACE);
    for (int32_t at = 0; at < count; at += LANES) {
        float d2[LANES];
        uint32_t near =
            gap2_lanes(bvh->prim_box + bvh->leaf[leaf].box + at * bvh->rows, LANES, place, -round_down(-*best2), d2);
        if (count - at < LANES) near &= (UINT32_C(1) << (count - at)) - 1;
        for (; near; near &= near - 1) {
            const int i = __builtin_ctz(near);
            if ((double)d2[i] <= *best2) try_face(bvh, bvh->id[PRIM_FACE][first + at + i], p, best2, best);
        }
    }
}

// Adds the children of a node that may hold something near, the nearest last.
static int push_children(const tl_bvh *bvh, int32_t node, const spot *place, double best2, waiting *stack, int depth)
{
    const int bottom = depth, arity = bvh->def.arity;
    const float most = -round_down(-best2);
    float distance2[LANES];
    uint32_t near;
    if (arity == LANES) {
        near = gap2_lanes(rows_of(bvh, node), LANES, place, most, distance2);
    } else {
        eight wide;
        widen(rows_of(bvh, node), arity, &wide);
        near = gap2_lanes(&wide.row[0][0], LANES, place, most, distance2);
    }
    for (; near; near &= near - 1) {
        const int lane = __builtin_ctz(near);
        const int32_t child = lane < arity ? bvh->child[node * arity + lane] : NO_CHILD;
        if (child == NO_CHILD) continue;
        int at = depth++;
        for (; at > bottom && stack[at - 1].distance2 < distance2[lane]; at--) stack[at] = stack[at - 1];
        stack[at] = (waiting){distance2[lane], child};
    }
    return depth;
}

// Looks for a face no farther than the root of *best2.
static void search(const tl_bvh *bvh, tl_vec3 p, double *best2, tl_nearest_spot *best)
{
    const spot place = spot_of(p, p);
    waiting stack[STACK_ITEMS];
    int depth = push_children(bvh, 0, &place, *best2, stack, 0);
    while (depth > 0) {
        const waiting next = stack[--depth];
        if ((double)next.distance2 > *best2) continue;
        if (next.child < 0)
            try_leaf(bvh, ~next.child, p, &place, best2, best);
        else
            depth = push_children(bvh, next.child, &place, *best2, stack, depth);
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
typedef struct faces_found {
    int32_t *face, count, max;
} faces_found;

static void find_in_leaf(const tl_bvh *bvh, int32_t leaf, const spot *s, faces_found *out)
{
    const int32_t first = bvh->leaf[leaf].first[PRIM_FACE], count = leaf_size(bvh, leaf, PRIM_FACE);
    for (int32_t at = 0; at < count; at += LANES) {
        uint32_t meet = meet_lanes(bvh->prim_box + bvh->leaf[leaf].box + at * bvh->rows, LANES, s);
        if (count - at < LANES) meet &= (UINT32_C(1) << (count - at)) - 1;
        for (; meet; meet &= meet - 1, out->count++)
            if (out->count < out->max) out->face[out->count] = bvh->id[PRIM_FACE][first + at + __builtin_ctz(meet)];
    }
}

static uint32_t children_meeting(const tl_bvh *bvh, int32_t node, const spot *s)
{
    if (bvh->def.arity == LANES) return meet_lanes(rows_of(bvh, node), LANES, s);
    eight wide;
    widen(rows_of(bvh, node), bvh->def.arity, &wide);
    return meet_lanes(&wide.row[0][0], LANES, s) & ((UINT32_C(1) << bvh->def.arity) - 1);
}

int32_t tl_bvh_around(const tl_bvh *bvh, tl_vec3 lo, tl_vec3 hi, int32_t *faces, int32_t max)
{
    faces_found out = {faces, 0, max};
    if (bvh->surface.face_count == 0) return 0;
    const spot s = spot_of(lo, hi);
    int32_t stack[STACK_ITEMS];
    int depth = 0;
    stack[depth++] = 0;
    while (depth > 0) {
        const int32_t node = stack[--depth];
        for (uint32_t meet = children_meeting(bvh, node, &s); meet; meet &= meet - 1) {
            const int32_t child = bvh->child[node * bvh->def.arity + __builtin_ctz(meet)];
            if (child >= 0)
                stack[depth++] = child;
            else if (child != NO_CHILD)
                find_in_leaf(bvh, ~child, &s, &out);
        }
    }
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
            high[d] = greater(high[d], -(double)bvh->volume[(3 + d) * arity + lane]);
        }
    }
    *lo = (tl_vec3){low[0], low[1], low[2]}, *hi = (tl_vec3){high[0], high[1], high[2]};
}
