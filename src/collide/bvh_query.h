// collide/bvh_query.h: what the traversal (bvh_traverse.h) and its driver (bvh_query.c) share.
#pragma once
#include <stdatomic.h>

#include "collide/bvh_impl.h"

enum { LIST_VF, LIST_EE, LIST_FV, LIST_EF, LIST_FE, LISTS };
enum { BLOCK_PAIRS = 512 };

/// Blocks of pairs that threads take one by one. Which block holds what is left to chance; the sort at the end is a
/// total order over pairs without duplicates, so nothing of that is seen.
typedef struct pair_pool {
    tl_pair *pair;          // BLOCK_PAIRS per block
    int32_t *used;          // per block
    uint8_t *list;          // per block
    int32_t block_count;
    atomic_int next;        // may run past block_count: then the query is taken again with more
} pair_pool;

/// A pair of subtrees to look at: nodes >= 0 or ~leaf. Within one surface a == b is a subtree with itself.
typedef struct work { int32_t a, b; } work;

typedef struct pair_query {
    const tl_bvh *a, *b;    // the same tree: within one surface
    int what;
    int k;                  // planes used above the leaves
    float slack;            // boxes that overlap by more do so in double
    const uint8_t *culled;  // per inner node of a: its subtree need not meet itself; NULL: none
    const work *item;
    int32_t chunk_items;
    pair_pool pool;
    int64_t (*counts)[2];   // per chunk: volume tests, face pairs
} pair_query;

/// Where a chunk writes its pairs.
typedef struct pair_writer {
    pair_pool *pool;
    tl_pair *at[LISTS], *end[LISTS];
    int32_t block[LISTS];
    int64_t volume_tests, face_pairs;
} pair_writer;

static inline void writer_open(pair_writer *w, pair_pool *pool)
{
    *w = (pair_writer){.pool = pool};
    for (int i = 0; i < LISTS; i++) w->block[i] = -1;
}

static inline void writer_close(pair_writer *w)
{
    for (int i = 0; i < LISTS; i++)
        if (w->block[i] >= 0) w->pool->used[w->block[i]] = (int32_t)(BLOCK_PAIRS - (w->end[i] - w->at[i]));
}

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

/// Room for LANES more pairs. False: pairs are lost; the pool knows, and the query starts again.
static inline bool writer_room(pair_writer *w, int list)
{
    return w->end[list] - w->at[list] >= LANES || writer_next_block(w, list);
}

static inline bool pool_is_full(pair_pool *pool)
{
    return atomic_load_explicit(&pool->next, memory_order_relaxed) > pool->block_count;
}

/// Do the boxes, in double, of nodes a[0..na) of p and b[0..nb) of q overlap? This is what defines the answer.
static inline bool boxes_overlap(const tl_bvh *p, const int32_t *a, int na, const tl_bvh *q, const int32_t *b, int nb)
{
    double lo[2][3], hi[2][3];
    for (int s = 0; s < 2; s++) {
        const tl_bvh *t = s ? q : p;
        const int32_t *node = s ? b : a;
        const int n = s ? nb : na;
        for (int i = 0; i < n; i++) {
            const int32_t v = t->id[PRIM_NODE][node[i]];
            const double *u = &t->x0[v].x, *w = t->x1 ? &t->x1[v].x : u;
            for (int k = 0; k < 3; k++) {
                const double low = u[k] < w[k] ? u[k] : w[k], high = u[k] > w[k] ? u[k] : w[k];
                lo[s][k] = i == 0 || low < lo[s][k] ? low : lo[s][k];
                hi[s][k] = i == 0 || high > hi[s][k] ? high : hi[s][k];
            }
        }
        for (int k = 0; k < 3; k++) lo[s][k] -= t->margin, hi[s][k] += t->margin;
    }
    bool meet = true;
    for (int k = 0; k < 3; k++) meet = meet && lo[0][k] <= hi[1][k] && lo[1][k] <= hi[0][k];
    return meet;
}
