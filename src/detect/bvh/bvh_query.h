// detect/bvh/bvh_query.h: what the traversal (bvh_traverse.h) and its driver (bvh_query.c) share.
#pragma once
#include <stdatomic.h>

#include "base/ctx.h"
#include "detect/bvh/bvh_impl.h"

enum { LIST_VF, LIST_EE, LIST_FV, LIST_EF, LIST_FE, LISTS };
enum { BLOCK_PAIRS = 512 };
typedef enum pair_order { ONE_FIRST, ONE_LAST, LESSER_FIRST } pair_order;
#define NODES_OF_KIND(kind) ((kind) == PRIM_FACE ? 3 : (kind) == PRIM_EDGE ? 2 : 1)
enum { SWEPT, RELATIVE, NEAR };                         // what a pair is: see bvh.h
enum { GATHER_CAP = 3 * TL_BVH_MAX_LEAF + 2 * LANES };  // edges of a leaf, and vectors stored at the end of them

/// Blocks of pairs that threads take one by one. Which block holds which pairs depends on timing; the final sort is a
/// total order over distinct pairs, so the result does not.
typedef struct pair_pool {
    tl_pair *pair;  // BLOCK_PAIRS per block
    int32_t *used;  // per block
    uint8_t *list;  // per block
    int32_t block_count;
    atomic_int next;  // may run past block_count: then the query is taken again with more
} pair_pool;

/// A growing sorted list of pairs: members of a tl_pairs.
typedef struct pair_list {
    tl_allocator *alloc;
    tl_pair **items;
    int32_t *count, *cap;
} pair_list;

/// The pairs of one list in the pool into `out`, by (a, b); a < a_count. `what`: as the query.
tl_status tl_bvh_sort_list(const pair_pool *pool, int list, int32_t a_count, int what, const tl_ctx *ctx, pair_list out,
                           tl_error *err);

/// Is a query for `what` answered by the code for AVX2? Asked once per query and list.
static inline bool takes_avx2(int what)
{
#ifdef TL_X86_KERNELS
    if (what & TL_PAIR_PLAIN) return false;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("popcnt");
#else
    (void)what;
    return false;
#endif
}

/// A pair of subtrees to look at: nodes >= 0 or ~leaf. Within one surface a == b is a subtree with itself.
typedef struct work {
    int32_t a, b;
} work;

/// Pairs with gaps up to `may` are candidates, those below `does` are certain; end2: squared.
typedef struct pair_limits {
    float path_may, path_does, end2_may, end2_does;
} pair_limits;

typedef struct pair_query {
    const tl_bvh *a, *b;  // the same tree: within one surface
    int what;
    int mode;
    double path_reach, end_reach;  // of tl_bvh_self_near; 0
    float reach[2];                // likewise, for volumes at x0 and x1, not less
    pair_limits limits;
    const uint8_t *lanes;  // per inner node of a: bits of the lanes that hold a primitive to ask for; NULL: all
    const uint8_t
        *some[PRIM_KINDS];  // with `lanes`: primitives of a, in leaf order, and LANES entries more: 1 to ask for
    const work *item;
    int32_t chunk_items;
    pair_pool pool;
    int64_t (*counts)[2];  // per chunk: volume tests, face pairs
} pair_query;

/// Sides of a volume: supports below `limit` at x0, or at x1, are within. In `row` is where supports are in eight
/// boxes.
typedef struct sides {
    float limit[2][LANES];
    int32_t row[LANES];
    int32_t count;
} sides;

/// Primitives of one leaf that are near another.
typedef struct gathered {
    float row[12][GATHER_CAP];
    int32_t node[3][GATHER_CAP];  // positions in leaf order; a node is its own
    int32_t id[GATHER_CAP];
    int32_t count;
} gathered;

/// Where a chunk writes its pairs.
typedef struct pair_writer {
    gathered near;                              // scratch
    int32_t one[GATHER_CAP];                    // likewise: numbers of primitives within their leaf
    uint8_t chosen[2][GATHER_CAP / LANES + 1];  // likewise: bits, of either leaf
    pair_pool *pool;
    tl_pair *at[LISTS], *end[LISTS];
    int32_t block[LISTS];
    int64_t volume_tests, face_pairs;
} pair_writer;

static inline void writer_open(pair_writer *w, pair_pool *pool)
{
    w->pool = pool, w->volume_tests = w->face_pairs = 0;
    for (int i = 0; i < LISTS; i++) w->block[i] = -1, w->at[i] = w->end[i] = NULL;
}

static inline void writer_close(pair_writer *w)
{
    for (int i = 0; i < LISTS; i++)
        if (w->block[i] >= 0) w->pool->used[w->block[i]] = (int32_t)(BLOCK_PAIRS - (w->end[i] - w->at[i]));
}

/// False: pairs were lost; the pool records that, and the query is repeated.
static inline bool writer_next_block(pair_writer *w, int list)
{
    if (w->block[list] >= 0) w->pool->used[w->block[list]] = (int32_t)(BLOCK_PAIRS - (w->end[list] - w->at[list]));
    w->block[list] = -1, w->at[list] = w->end[list] = NULL;
    if (atomic_load_explicit(&w->pool->next, memory_order_relaxed) >= w->pool->block_count) {
        atomic_store_explicit(&w->pool->next, w->pool->block_count + 1, memory_order_relaxed);
        return false;
    }
    const int32_t block = atomic_fetch_add_explicit(&w->pool->next, 1, memory_order_relaxed);
    if (block >= w->pool->block_count) return false;
    w->pool->list[block] = (uint8_t)list;
    w->block[list] = block;
    w->at[list] = w->pool->pair + (int64_t)block * BLOCK_PAIRS;
    w->end[list] = w->at[list] + BLOCK_PAIRS;
    return true;
}

static inline bool pool_is_full(pair_pool *pool)
{
    return atomic_load_explicit(&pool->next, memory_order_relaxed) > pool->block_count;
}

/// The box, in double, at x0 and at x1 of nodes a[0..n) of t.
typedef struct two_boxes {
    double lo[2][3], hi[2][3];
} two_boxes;

static inline void find_boxes(const tl_bvh *t, const int32_t *a, int n, two_boxes *b)
{
    for (int s = 0; s < 2; s++)
        for (int k = 0; k < 3; k++) b->lo[s][k] = INFINITY, b->hi[s][k] = -INFINITY;
    for (int i = 0; i < n; i++) {
        const int32_t v = t->id[PRIM_NODE][a[i]];
        for (int s = 0; s < 2; s++) {
            const double *x = s && t->x1 ? &t->x1[v].x : &t->x0[v].x;
            for (int k = 0; k < 3; k++)
                b->lo[s][k] = lesser(b->lo[s][k], x[k]), b->hi[s][k] = greater(b->hi[s][k], x[k]);
        }
    }
}

/// Do nodes a[0..na) of p and b[0..nb) of q make a pair? This is what defines the answer; see bvh.h.
static inline bool is_pair(const pair_query *query, int mode, const tl_bvh *p, const int32_t *a, int na,
                           const tl_bvh *q, const int32_t *b, int nb)
{
    two_boxes u, v;
    find_boxes(p, a, na, &u), find_boxes(q, b, nb, &v);
    bool meet = true;
    double apart = 0;
    for (int k = 0; k < 3; k++) {
        if (mode == SWEPT) {
            const double lo_u = lesser(u.lo[0][k], u.lo[1][k]) - p->margin,
                         hi_u = greater(u.hi[0][k], u.hi[1][k]) + p->margin;
            const double lo_v = lesser(v.lo[0][k], v.lo[1][k]) - q->margin,
                         hi_v = greater(v.hi[0][k], v.hi[1][k]) + q->margin;
            meet = meet && lo_u <= hi_v && lo_v <= hi_u;
            continue;
        }
        double gap[2], back[2];
        for (int s = 0; s < 2; s++) {
            gap[s] = (u.lo[s][k] - p->margin) - (v.hi[s][k] + q->margin);
            back[s] = (v.lo[s][k] - q->margin) - (u.hi[s][k] + p->margin);
        }
        meet = meet && lesser(gap[0], gap[1]) <= query->path_reach && lesser(back[0], back[1]) <= query->path_reach;
        const double out = greater(0, greater(gap[1], back[1]));
        apart += out * out;
    }
    return meet || (mode == NEAR && apart <= query->end_reach * query->end_reach);
}
