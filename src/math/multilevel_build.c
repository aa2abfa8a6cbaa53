// math/multilevel_build.c: which nodes move together, and who talks to whom one level up. Once per pattern.
//
// Patches grow greedily in node order: a node whose neighbourhood is still free takes all of it, the rest
// join the patch they are bound to most strongly (Vanek, Mandel and Brezina 1996, algorithm 5.1). A function
// of the matrix alone.

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "math/bsr_row.h"
#include "math/multilevel_impl.h"

enum { FREE = -1, LONE = -2 };  // not yet in a patch; never to be in one

// Nodes i, k are bound if |A_ik|^2 > this |A_ii| |A_kk| (Frobenius norms): any link of some weight counts,
// bending too. Larger bounds give smaller patches: 0.02^2 halves the iterations, but with 3 times the memory
// and 4 times the work of making the levels.
static const double BOUND = 1e-14;

// With plain aggregates smaller patches cost little: a quarter fewer iterations on a stack of sheets.
static const double BOUND_PLAIN = 1e-5;

// Node graph of a level with the strength of each link.
typedef struct links {
    int32_t nodes, count;
    int32_t *start, *to;
    float *weight;
    double bound;
} links;

static void links_free(const tl_allocator *alloc, links *g)
{
    TL_FREE(alloc, g->start, g->nodes + 1);
    TL_FREE(alloc, g->to, g->count);
    TL_FREE(alloc, g->weight, g->count);
}

static double block_norm2(const double *a)
{
    double s = 0;
    for (int k = 0; k < 9; k++) s += a[k] * a[k];
    return s;
}

// Sum of squares of all entries between a node's rows and another node, by walking the node's block rows in
// step. Neighbours of a node come in ascending order: lower references, then upper blocks.
static bool links_build(const tl_allocator *alloc, const tl_level *lv, links *g)
{
    const tl_bsr *m = lv->a;
    const int32_t rows = lv->node_rows;
    g->nodes = lv->nodes;
    // both block rows of a node have the same neighbours, each with all its block rows
    int64_t count = 0;
    g->start = TL_ALLOC(alloc, int32_t, g->nodes + 1);
    if (!g->start) return false;
    for (int32_t i = 0; i < g->nodes; i++) {
        g->start[i] = (int32_t)count;
        const int32_t r = rows * i;
        const int32_t blocks = m->lower_start[r + 1] - m->lower_start[r] + m->row_start[r + 1] - m->row_start[r];
        count += blocks / rows - 1;
    }
    g->start[g->nodes] = (int32_t)count;
    g->count = (int32_t)count;
    g->to = TL_ALLOC(alloc, int32_t, count);
    g->weight = TL_CALLOC(alloc, float, count);
    double *diagonal = TL_CALLOC(alloc, double, g->nodes);
    const bool good = g->to && g->weight && diagonal;
    for (int32_t r = 0; good && r < m->row_count; r++) diagonal[r / rows] += sqrt(block_norm2(tl_bsr_diagonal(m, r)));
    for (int32_t i = 0; good && i < g->nodes; i++) {
        for (int32_t s = 0; s < rows; s++) {
            const int32_t r = rows * i + s;
            int32_t at = g->start[i] - 1, last = -1;
            double room[9];
            for (int32_t k = m->lower_start[r]; k < m->lower_start[r + 1]; k++) {
                const int32_t j = m->lower_row[k] / rows;
                if (j == i) continue;
                if (j != last) g->to[++at] = last = j;
                const double *a = tl_bsr_block(m, m->lower_row[k], m->lower_block[k], room);
                g->weight[at] += (float)(block_norm2(a) / (diagonal[i] * diagonal[j]));
            }
            for (int32_t k = m->row_start[r]; k < m->row_start[r + 1]; k++) {
                const int32_t j = m->col[k] / rows;
                if (j == i) continue;
                if (j != last) g->to[++at] = last = j;
                g->weight[at] += (float)(block_norm2(tl_bsr_block(m, r, k, room)) / (diagonal[i] * diagonal[j]));
            }
        }
    }
    TL_FREE(alloc, diagonal, g->nodes);
    return good;
}

static bool bound(const links *g, int32_t e) { return (double)g->weight[e] > g->bound; }

// Fills lv->patch; returns the number of patches. `joined` is scratch.
static int32_t grow_patches(tl_level *lv, const links *g, const uint8_t *fixed, int32_t *joined)
{
    int32_t *patch = lv->patch, count = 0;
    for (int32_t i = 0; i < g->nodes; i++) {
        bool alone = true;
        for (int32_t e = g->start[i]; e < g->start[i + 1]; e++) alone &= !bound(g, e);
        patch[i] = alone ? LONE : FREE;
    }
    for (int32_t i = 0; i < g->nodes; i++) {  // free neighbourhoods
        if (patch[i] != FREE) continue;
        bool open = true;
        for (int32_t e = g->start[i]; e < g->start[i + 1] && open; e++) open = !bound(g, e) || patch[g->to[e]] == FREE;
        if (!open) continue;
        patch[i] = count;
        for (int32_t e = g->start[i]; e < g->start[i + 1]; e++)
            if (bound(g, e)) patch[g->to[e]] = count;
        count++;
    }
    for (int32_t i = 0; i < g->nodes; i++) {  // the rest joins the strongest
        joined[i] = patch[i];
        if (patch[i] != FREE) continue;
        double best = 0;
        for (int32_t e = g->start[i]; e < g->start[i + 1]; e++)
            if (bound(g, e) && patch[g->to[e]] >= 0 && (double)g->weight[e] > best)
                best = (double)g->weight[e], joined[i] = patch[g->to[e]];
    }
    for (int32_t i = 0; i < g->nodes; i++) patch[i] = joined[i];
    for (int32_t i = 0; i < g->nodes; i++) {  // what is left makes small patches
        if (patch[i] != FREE) continue;
        patch[i] = count;
        for (int32_t e = g->start[i]; e < g->start[i + 1]; e++)
            if (bound(g, e) && patch[g->to[e]] == FREE) patch[g->to[e]] = count;
        count++;
    }
    // a fixed node has lost its links; it goes with a neighbour, for the day it is set free
    for (int32_t i = 0; i < g->nodes; i++) {
        joined[i] = patch[i] == LONE ? FREE : patch[i];
        if (patch[i] != LONE || !fixed || !fixed[i]) continue;
        for (int32_t e = g->start[i]; e < g->start[i + 1] && joined[i] == FREE; e++)
            if (patch[g->to[e]] >= 0) joined[i] = patch[g->to[e]];
    }
    for (int32_t i = 0; i < g->nodes; i++) patch[i] = joined[i];
    return count;
}

// Patches that node i sees: its own and, with smooth aggregates, those of its neighbours; each once, in order of
// meeting.
static int32_t seen_patches(const tl_level *lv, const links *g, tl_aggregates aggregates, int32_t i, int32_t *mark,
                            int32_t *out)
{
    int32_t n = 0;
    if (lv->patch[i] >= 0) {
        mark[lv->patch[i]] = i;
        if (out) out[n] = lv->patch[i];
        n++;
    }
    for (int32_t e = g->start[i]; e < g->start[i + 1] && aggregates == TL_AGGREGATES_SMOOTH; e++) {
        const int32_t p = lv->patch[g->to[e]];
        if (p < 0 || mark[p] == i) continue;
        mark[p] = i;
        if (out) out[n] = p;
        n++;
    }
    return n;
}

static tl_status build_prolongation(const tl_allocator *alloc, tl_level *lv, const links *g, tl_aggregates aggregates,
                                    int32_t *mark, tl_error *err)
{
    int64_t total = 0;
    lv->p_start = TL_ALLOC(alloc, int32_t, lv->nodes + 1);
    lv->t_start = TL_CALLOC(alloc, int32_t, lv->patches + 1);
    if (!lv->p_start || !lv->t_start) return tl_fail_memory(err, "multilevel prolongation");
    for (int32_t p = 0; p < lv->patches; p++) mark[p] = -1;
    for (int32_t i = 0; i < lv->nodes; i++) {
        lv->p_start[i] = (int32_t)total;
        total += seen_patches(lv, g, aggregates, i, mark, NULL);
        if (total > INT32_MAX / 4) return tl_fail(err, TL_NO_MEMORY, "multilevel: too many couplings");
    }
    lv->p_start[lv->nodes] = lv->entries = (int32_t)total;
    lv->p_patch = TL_ALLOC(alloc, int32_t, total);
    lv->p_value = tl_calloc_bytes(alloc, (size_t)lv->node_rows * (size_t)total + 1, sizeof *lv->p_value);
    lv->t_node = TL_ALLOC(alloc, int32_t, total);
    lv->t_entry = TL_ALLOC(alloc, int32_t, total);
    if (!lv->p_patch || !lv->p_value || !lv->t_node || !lv->t_entry)
        return tl_fail_memory(err, "multilevel prolongation");
    for (int32_t p = 0; p < lv->patches; p++) mark[p] = -1;
    for (int32_t i = 0; i < lv->nodes; i++) {
        seen_patches(lv, g, aggregates, i, mark, lv->p_patch + lv->p_start[i]);
        for (int32_t e = lv->p_start[i]; e < lv->p_start[i + 1]; e++) lv->t_start[lv->p_patch[e] + 1]++;
    }
    for (int32_t p = 0; p < lv->patches; p++) lv->t_start[p + 1] += lv->t_start[p];
    for (int32_t i = 0; i < lv->nodes; i++)
        for (int32_t e = lv->p_start[i]; e < lv->p_start[i + 1]; e++) {
            const int32_t at = lv->t_start[lv->p_patch[e]]++;
            lv->t_node[at] = i;
            lv->t_entry[at] = e;
        }
    memmove(lv->t_start + 1, lv->t_start, (size_t)lv->patches * sizeof *lv->t_start);
    lv->t_start[0] = 0;
    return TL_OK;
}

// Patches I <= J meet on the next level if a node that feels I is linked to one that feels J.
static int64_t next_pairs(const tl_level *lv, const links *g, int32_t *mark, int32_t *items)
{
    int64_t count = 0;
    for (int32_t p = 0; p < lv->patches; p++) mark[p] = -1;
    for (int32_t I = 0; I < lv->patches; I++) {
        mark[I] = I;
        for (int32_t t = lv->t_start[I]; t < lv->t_start[I + 1]; t++) {
            const int32_t i = lv->t_node[t];
            for (int32_t e = g->start[i] - 1; e < g->start[i + 1]; e++) {
                const int32_t k = e < g->start[i] ? i : g->to[e];
                for (int32_t q = lv->p_start[k]; q < lv->p_start[k + 1]; q++) {
                    const int32_t J = lv->p_patch[q];
                    if (J <= I || mark[J] == I) continue;
                    mark[J] = I;
                    if (items) {
                        int32_t *to = items + 4 * count;
                        to[0] = 2 * I, to[1] = 2 * I + 1, to[2] = 2 * J, to[3] = 2 * J + 1;
                    }
                    count++;
                }
            }
        }
    }
    return count;
}

static tl_status build_next_matrix(const tl_allocator *alloc, const tl_level *lv, tl_level *next, const links *g,
                                   int32_t *mark, tl_error *err)
{
    // groups: all pairs, and every patch with itself so that its two rows meet
    const int64_t pairs = next_pairs(lv, g, mark, NULL), groups = pairs + lv->patches,
                  size = 4 * pairs + 2 * lv->patches;
    if (size > INT32_MAX) return tl_fail(err, TL_NO_MEMORY, "multilevel: too many couplings");
    int32_t *items = TL_ALLOC(alloc, int32_t, size), *start = TL_ALLOC(alloc, int32_t, groups + 1);
    tl_status status = TL_NO_MEMORY;
    if (!items || !start) {
        tl_fail_memory(err, "multilevel matrix");
    } else {
        next_pairs(lv, g, mark, items);
        for (int32_t k = 0; k <= pairs; k++) start[k] = 4 * k;
        for (int32_t p = 0; p < lv->patches; p++) {
            start[pairs + p + 1] = start[pairs + p] + 2;
            items[start[pairs + p]] = 2 * p, items[start[pairs + p] + 1] = 2 * p + 1;
        }
        status = tl_bsr_create(alloc, 2 * lv->patches, (int32_t)groups, start, items, &next->own, err);
    }
    TL_FREE(alloc, items, size);
    TL_FREE(alloc, start, groups + 1);
    next->a = next->own;
    next->nodes = lv->patches;
    next->node_rows = 2;
    return status;
}

tl_status tl_level_build(tl_multilevel *ml, int32_t l, const uint8_t *fixed, bool *more, tl_error *err)
{
    const tl_allocator *alloc = &ml->alloc;
    tl_level *lv = &ml->level[l];
    *more = false;
    links g = {.bound = ml->aggregates == TL_AGGREGATES_PLAIN ? BOUND_PLAIN : BOUND};
    int32_t *mark = TL_ALLOC(alloc, int32_t, lv->nodes);
    lv->patch = TL_ALLOC(alloc, int32_t, lv->nodes);
    tl_status status =
        mark && lv->patch && links_build(alloc, lv, &g) ? TL_OK : tl_fail_memory(err, "multilevel patches");
    if (status == TL_OK) {
        lv->patches = grow_patches(lv, &g, fixed, mark);
        *more = lv->patches > 0 && 3 * lv->patches <= lv->nodes;
    }
    if (status == TL_OK && *more) {
        lv->center = TL_ALLOC(alloc, tl_vec3, lv->patches);
        status = lv->center ? build_prolongation(alloc, lv, &g, ml->aggregates, mark, err)
                            : tl_fail_memory(err, "multilevel patches");
        if (status == TL_OK) status = build_next_matrix(alloc, lv, &ml->level[l + 1], &g, mark, err);
    }
    links_free(alloc, &g);
    TL_FREE(alloc, mark, lv->nodes);
    return status;
}

void tl_level_free(const tl_allocator *alloc, tl_level *lv)
{
    const int32_t rows = lv->a ? lv->a->row_count : 0;
    TL_FREE(alloc, lv->patch, lv->nodes);
    TL_FREE(alloc, lv->center, lv->patches);
    TL_FREE(alloc, lv->p_start, lv->nodes + 1);
    TL_FREE(alloc, lv->p_patch, lv->entries);
    TL_FREE(alloc, lv->p_value, (size_t)lv->node_rows * (size_t)lv->entries + 1);
    TL_FREE(alloc, lv->t_start, lv->patches + 1);
    TL_FREE(alloc, lv->t_node, lv->entries);
    TL_FREE(alloc, lv->t_entry, lv->entries);
    TL_FREE(alloc, lv->inverse, rows);
    TL_FREE(alloc, lv->inside, rows);
    TL_FREE(alloc, lv->b, rows);
    TL_FREE(alloc, lv->x, rows);
    TL_FREE(alloc, lv->res, rows);
    TL_FREE(alloc, lv->rest, rows);
    TL_FREE(alloc, lv->more, rows);
    tl_bsr_destroy(alloc, lv->own);
    lv->own = NULL, lv->a = NULL;
}
