// physics/elements_matrix.c: the pattern of the matrix, and where in it elements put their blocks.
//
// Every face acts on a patch: its corners and the nodes across its edges. Rows gather their columns from the patches
// around their node, in parallel and without a sort of all pairs; then every pair of nodes of a patch looks up its
// block once and for all.

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "math/bsr.h"
#include "physics/elements.h"

enum { ITEMS_PER_CHUNK = 512 };  // a constant: results must not depend on the worker count

/// Rows of the matrix from the patches of their nodes. `patch`: 6 f + k of the patches with node n at place k, from
/// first[n] to first[n + 1]. Columns of row n, ascending and without itself, begin at 5 first[n] of `col`: other nodes
/// of its patches are no more than that.
typedef struct pattern_job {
    tl_elements *e;
    tl_bsr *matrix;
    const int32_t *first, *patch;
    int32_t *col, *count;
} pattern_job;

// The patches of every node, but for places where there is no far node.
static void list_patches(const tl_elements *e, int32_t *first, int32_t *patch)
{
    for (int32_t n = 0; n < e->node_count + 2; n++) first[n] = 0;
    for (int32_t f = 0; f < e->face_count; f++)
        for (int32_t k = 0; k < TL_PATCH_NODES; k++)
            if (k < 3 || e->face_hinge[f][k - 3] >= 0) first[e->face[f][k] + 2]++;
    for (int32_t n = 0; n < e->node_count; n++) first[n + 2] += first[n + 1];
    for (int32_t f = 0; f < e->face_count; f++)
        for (int32_t k = 0; k < TL_PATCH_NODES; k++)
            if (k < 3 || e->face_hinge[f][k - 3] >= 0) patch[first[e->face[f][k] + 1]++] = TL_PATCH_NODES * f + k;
}

// Adds a number to an ascending list, unless it is there.
static int32_t insert(int32_t *list, int32_t count, int32_t value)
{
    int32_t at = count;
    while (at > 0 && list[at - 1] > value) at--;
    if (at > 0 && list[at - 1] == value) return count;
    for (int32_t i = count; i > at; i--) list[i] = list[i - 1];
    list[at] = value;
    return count + 1;
}

// A patch that has n for a corner adds the other corners and the node across from n: beyond the edges at n are faces
// around n, too. One that has n for a far node adds its other far nodes: the face between is around n and has seen the
// corners.
static void columns_chunk(void *arg, int32_t begin, int32_t end)
{
    static const int8_t add[TL_PATCH_NODES][3] = {{1, 2, 3}, {0, 2, 4}, {0, 1, 5}, {4, 5, -1}, {3, 5, -1}, {3, 4, -1}};
    const pattern_job *job = arg;
    const tl_elements *e = job->e;
    for (int32_t n = begin; n < end; n++) {
        int32_t *col = job->col + (TL_PATCH_NODES - 1) * (size_t)job->first[n], count = 0;
        for (int32_t i = job->first[n]; i < job->first[n + 1]; i++) {
            const int32_t f = job->patch[i] / TL_PATCH_NODES, a = job->patch[i] % TL_PATCH_NODES;
            for (int k = 0; k < 3 && add[a][k] >= 0; k++) {
                const int b = add[a][k];
                if (e->face[f][b] > n && (b < 3 || e->face_hinge[f][b - 3] >= 0))
                    count = insert(col, count, e->face[f][b]);
            }
        }
        job->count[n] = count;
    }
}

static void fill_chunk(void *arg, int32_t begin, int32_t end)
{
    const pattern_job *job = arg;
    for (int32_t n = begin; n < end; n++) {
        int32_t *to = job->matrix->col + job->matrix->row_start[n];
        to[0] = n;
        memcpy(to + 1, job->col + (TL_PATCH_NODES - 1) * (size_t)job->first[n], (size_t)job->count[n] * sizeof *to);
    }
}

// Halving without branches: the column is there, and which half has it nobody can foretell.
static int32_t block_of(const tl_bsr *m, int32_t row, int32_t col)
{
    int32_t block = m->row_start[row];
    for (int32_t left = m->row_start[row + 1] - block; left > 1;) {
        const int32_t half = left / 2;
        block += m->col[block + half] <= col ? half : 0;
        left -= half;
    }
    return block;
}

// Every pair of patch nodes finds its block in the row of the lower one.
static void slots_chunk(void *arg, int32_t begin, int32_t end)
{
    const pattern_job *job = arg;
    const tl_bsr *m = job->matrix;
    tl_elements *e = job->e;
    for (int32_t f = begin; f < end; f++) {
        int32_t *slot = e->slot[f];
        const int32_t *node = e->face[f];
        for (int a = 0; a < TL_PATCH_NODES; a++)
            for (int b = a + 1; b < TL_PATCH_NODES; b++, slot++) {
                *slot = -1;
                if ((a >= 3 && e->face_hinge[f][a - 3] < 0) || (b >= 3 && e->face_hinge[f][b - 3] < 0)) continue;
                const int32_t low = node[a] < node[b] ? node[a] : node[b], high = node[a] < node[b] ? node[b] : node[a];
                const int32_t how = low == high ? TL_SLOT_BOTH : node[a] == low ? TL_SLOT_PLAIN : TL_SLOT_TRANSPOSED;
                *slot = 4 * block_of(m, low, high) + how;
            }
    }
}

tl_status tl_elements_matrix(tl_elements *e, bool single, tl_arena *scratch, tl_workers *workers, tl_bsr **out,
                             tl_error *err)
{
    *out = NULL;
    const int64_t items = (int64_t)e->face_count * TL_PATCH_NODES;
    if (!e->slot) e->slot = TL_CALLOC_FOR(&e->alloc, e->slot, e->face_count);
    const tl_arena_mark mark = tl_arena_save(scratch);
    int32_t *first = TL_SCRATCH(scratch, int32_t, (int64_t)e->node_count + 2),
            *count = TL_SCRATCH(scratch, int32_t, e->node_count);
    int32_t *patch = TL_SCRATCH(scratch, int32_t, items),
            *col = TL_SCRATCH(scratch, int32_t, (TL_PATCH_NODES - 1) * items);
    tl_status status = e->slot && first && count && patch && col ? TL_OK : tl_fail_memory(err, "the matrix");
    if (status == TL_OK) {
        list_patches(e, first, patch);
        pattern_job job = {e, NULL, first, patch, col, count};
        tl_parallel_for(workers, e->node_count, ITEMS_PER_CHUNK, columns_chunk, &job);
        status = tl_bsr_create_rows(&e->alloc, e->node_count, count, single, &job.matrix, err);
        if (status == TL_OK) {
            tl_parallel_for(workers, e->node_count, ITEMS_PER_CHUNK, fill_chunk, &job);
            tl_parallel_for(workers, e->face_count, ITEMS_PER_CHUNK, slots_chunk, &job);
            tl_bsr_refer(job.matrix);
            *out = job.matrix;
        }
    }
    tl_arena_release(scratch, mark);
    return status;
}
