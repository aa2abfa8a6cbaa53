// math/order.c: fill-reducing orders: METIS nested dissection, and a simple dissection of our own behind it.
//
// Ours halves a piece at the median level of a breadth-first search from a far node and takes that level as
// the separator (George and Liu 1978). About twice METIS's fill on cloth, but it needs no library and no
// geometry.

#include "math/order.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

#ifndef TL_NO_METIS
#include <metis.h>
#include <pthread.h>
#endif

enum { LEAF_ROWS = 12, ORDERED = INT32_MIN };  // small pieces are ordered as they come

// Neighbours of every row, both triangles, without the diagonal.
typedef struct graph {
    int32_t n, edges;
    int32_t *start, *adj;
} graph;

static void graph_free(const tl_allocator *alloc, graph *g)
{
    TL_FREE(alloc, g->start, g->n + 1);
    TL_FREE(alloc, g->adj, g->edges);
}

static bool graph_build(const tl_allocator *alloc, const tl_bsr *m, graph *g)
{
    g->n = m->row_count;
    g->edges = 2 * (m->block_count - m->row_count);
    g->start = TL_ALLOC(alloc, int32_t, g->n + 1);
    g->adj = TL_ALLOC(alloc, int32_t, g->edges);
    if (!g->start || !g->adj) {
        graph_free(alloc, g);
        return false;
    }
    int32_t at = 0;
    for (int32_t i = 0; i < g->n; i++) {
        g->start[i] = at;
        for (int32_t k = m->lower_start[i]; k < m->lower_start[i + 1]; k++) g->adj[at++] = m->lower_row[k];
        for (int32_t k = m->row_start[i] + 1; k < m->row_start[i + 1]; k++) g->adj[at++] = m->col[k];
    }
    g->start[g->n] = at;
    return true;
}

// ---- own dissection ---------------------------------------------------------------------------------------

typedef struct dissection {
    const graph *g;
    int32_t *piece;  // which open piece a row belongs to, ORDERED when in a separator
    int32_t *level;  // in the last search
    int32_t *queue;  // rows in order of discovery
} dissection;

// Breadth-first search inside one piece from `root`; returns how many rows it reaches, in d->queue.
static int32_t search(dissection *d, int32_t root, int32_t piece)
{
    int32_t count = 0;
    d->level[root] = 0;
    d->queue[count++] = root;
    d->piece[root] = ~piece;  // seen; never equal to an open piece, since those are not negative
    for (int32_t k = 0; k < count; k++) {
        const int32_t i = d->queue[k];
        for (int32_t e = d->g->start[i]; e < d->g->start[i + 1]; e++) {
            const int32_t j = d->g->adj[e];
            if (d->piece[j] != piece) continue;
            d->piece[j] = ~piece;
            d->level[j] = d->level[i] + 1;
            d->queue[count++] = j;
        }
    }
    for (int32_t k = 0; k < count; k++) d->piece[d->queue[k]] = piece;
    return count;
}

enum { SIDE_LOW, SIDE_HIGH, SIDE_CUT };

// Where a row goes when its piece is split. Of several components the one just searched is peeled off and
// needs no separator; rows that were searched are marked ~piece.
static int side_of(const dissection *d, int32_t row, int32_t piece, int32_t middle, bool connected)
{
    if (d->piece[row] != ~piece) return SIDE_HIGH;
    if (!connected || d->level[row] < middle) return SIDE_LOW;
    return d->level[row] == middle ? SIDE_CUT : SIDE_HIGH;
}

// Rewrites rows[0..n) into elimination order: first half, second half, separator last. Works off a stack of
// ranges kept in `todo` (begin, end pairs), so depth costs no call stack.
static void dissect(dissection *d, int32_t *rows, int32_t n, int32_t *todo, int32_t *spare)
{
    int32_t top = 0, pieces = 1;
    todo[top++] = 0, todo[top++] = n;
    for (int32_t i = 0; i < n; i++) d->piece[i] = 0;
    while (top > 0) {
        const int32_t end = todo[--top], begin = todo[--top], count = end - begin;
        if (count <= LEAF_ROWS) continue;
        int32_t *r = rows + begin;
        const int32_t piece = d->piece[r[0]];
        int32_t reached = search(d, r[0], piece);
        reached = search(d, d->queue[reached - 1], piece);  // from the farthest row: long and thin levels
        const int32_t middle = d->level[d->queue[reached / 2]];
        for (int32_t k = 0; k < reached; k++) d->piece[d->queue[k]] = ~piece;
        int32_t size[3] = {0}, at[3];
        for (int32_t k = 0; k < count; k++) size[side_of(d, r[k], piece, middle, reached == count)]++;
        at[SIDE_LOW] = 0, at[SIDE_HIGH] = size[SIDE_LOW], at[SIDE_CUT] = size[SIDE_LOW] + size[SIDE_HIGH];
        const int32_t cut_begin = at[SIDE_CUT];
        for (int32_t k = 0; k < count; k++) spare[at[side_of(d, r[k], piece, middle, reached == count)]++] = r[k];
        memcpy(r, spare, (size_t)count * sizeof *r);
        for (int32_t k = 0; k < count; k++)
            d->piece[r[k]] = k < size[SIDE_LOW] ? pieces : k < cut_begin ? pieces + 1 : ORDERED;
        pieces += 2;
        todo[top++] = begin, todo[top++] = begin + size[SIDE_LOW];
        todo[top++] = begin + size[SIDE_LOW], todo[top++] = begin + cut_begin;
    }
}

static tl_status order_levels(const tl_allocator *alloc, const graph *g, int32_t *order, tl_error *err)
{
    const size_t n = (size_t)g->n;
    int32_t *work = tl_alloc_bytes(alloc, n, 6 * sizeof(int32_t));
    if (!work) return tl_fail_memory(err, "elimination order");
    dissection d = {g, work, work + n, work + 2 * n};
    for (int32_t i = 0; i < g->n; i++) order[i] = i;
    // ranges on the stack are disjoint, and at most one pair of them is empty or a leaf at each split
    if (n > LEAF_ROWS) dissect(&d, order, g->n, work + 3 * n, work + 5 * n);
    tl_free_bytes(alloc, work, n, 6 * sizeof(int32_t));
    return TL_OK;
}

tl_status tl_order_levels(const tl_allocator *alloc, const tl_bsr *m, int32_t *order, tl_error *err)
{
    graph g;
    if (!graph_build(alloc, m, &g)) return tl_fail_memory(err, "elimination order");
    const tl_status status = order_levels(alloc, &g, order, err);
    graph_free(alloc, &g);
    return status;
}

// ---- METIS ------------------------------------------------------------------------------------------------

#ifndef TL_NO_METIS
// METIS seeds and reads the C library's rand() and traps signals while it runs. The lock keeps two
// simulations of one process from disturbing each other's order; it guards that hidden state and none of
// ours.
static pthread_mutex_t metis_lock = PTHREAD_MUTEX_INITIALIZER;

// `perm` is scratch of n entries. False: METIS refused, the order is not filled.
static bool order_metis(const graph *g, int32_t *order, int32_t *perm)
{
    _Static_assert(sizeof(idx_t) == sizeof(int32_t), "METIS is built with wide indices: define TL_NO_METIS");
    if (g->n < LEAF_ROWS || g->edges == 0) return false;  // it has been seen to stumble over graphs without edges
    idx_t options[METIS_NOPTIONS], n = g->n;
    pthread_mutex_lock(&metis_lock);
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    options[METIS_OPTION_NUMBERING] = 0;
    const int status = METIS_NodeND(&n, g->start, g->adj, NULL, options, order, perm);
    pthread_mutex_unlock(&metis_lock);
    if (status != METIS_OK) return false;
    // trust, but check that it is a permutation: everything later indexes by it
    memset(perm, 0, (size_t)g->n * sizeof *perm);
    for (int32_t k = 0; k < g->n; k++) {
        if (order[k] < 0 || order[k] >= g->n || perm[order[k]]++) return false;
    }
    return true;
}
#endif

tl_status tl_order_nested(const tl_allocator *alloc, const tl_bsr *m, int32_t *order, tl_error *err)
{
    graph g;
    if (!graph_build(alloc, m, &g)) return tl_fail_memory(err, "elimination order");
    bool done = false;
#ifndef TL_NO_METIS
    int32_t *perm = TL_ALLOC(alloc, int32_t, g.n);
    if (!perm) {
        graph_free(alloc, &g);
        return tl_fail_memory(err, "elimination order");
    }
    done = order_metis(&g, order, perm);
    TL_FREE(alloc, perm, g.n);
#endif
    const tl_status status = done ? TL_OK : order_levels(alloc, &g, order, err);
    graph_free(alloc, &g);
    return status;
}
