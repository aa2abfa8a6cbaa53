// math/cholesky_factor.c: numbers of the multifrontal factorization.
//
// Every front: add its own matrix blocks, add its children's update matrices in a fixed order, eliminate its
// pivots, leave its own update matrix to the parent (Liu 1992). Subtrees run side by side, one worker each;
// the few large fronts at the top then share their loops among the workers. What is computed, and in which
// order each number is summed, is the same in both ways.

#include <string.h>

#include "base/fail.h"
#include "math/bsr_row.h"
#include "math/cholesky_impl.h"
#include "math/dense.h"
#include "math/simd.h"

enum {
    BLOCK_TILES = 8,     // tiles of columns eliminated together: their rows stay in cache while the others pass
    GROUP_PANELS = 3,    // panels of rows that a kernel takes at once
    COLS_PER_CHUNK = 24  // of an assembly shared among workers
};
static const double SHARE_MIN_FLOPS = 1e6;  // smaller fronts are not worth waking the others

typedef struct front_work {
    const tl_cholesky *ch;
    const tl_bsr *m;
    const tl_front *f;
    tl_dense_update update;
    double *l, *u;  // factor part and update part
    int32_t p;      // pivot columns
    int32_t pivot_panels, panels;
    int32_t block;  // first tile of the block in hand
} front_work;

static int32_t row_of_block(const tl_bsr *m, int32_t k)
{
    int32_t lo = 0, hi = m->row_count;  // row_start[lo] <= k < row_start[hi]
    while (hi - lo > 1) {
        const int32_t mid = lo + (hi - lo) / 2;
        if (m->row_start[mid] <= k)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

static void add_matrix(const front_work *w, int32_t begin, int32_t end)
{
    const int32_t p = w->p, pad = tl_pad8(p) - p;
    for (int32_t e = begin; e < end; e++) {
        const tl_chol_entry *entry = &w->ch->entries[e];
        const bool transposed = entry->block < 0;
        const int32_t k = transposed ? ~entry->block : entry->block;
        double room[9];
        const double *a = tl_bsr_block(w->m, w->m->single ? row_of_block(w->m, k) : 0, k, room);
        const int32_t row0 = 3 * entry->row + (entry->row >= w->f->pivots ? pad : 0);
        for (int r = 0; r < 3; r++) {
            const int32_t i = row0 + r;
            double *to = w->l + (int64_t)(i / PANEL) * PANEL * p + i % PANEL + (int64_t)PANEL * 3 * entry->col;
            for (int c = 0; c < 3; c++) to[PANEL * c] += transposed ? a[3 * c + r] : a[3 * r + c];
        }
    }
}

// Assembly of one child: where its scalar row i lies in its own update part and in the parent's two parts.
typedef struct extend {
    const double *from;
    double *to_l, *to_u;
    int32_t rows, parent_cols;  // scalar
    const int32_t *rel;
    const int32_t *source, *in_l, *in_u;
} extend;

static void extend_columns(void *arg, int32_t begin, int32_t end)
{
    const extend *x = arg;
    for (int32_t j = begin; j < end; j++) {
        const int32_t col = 3 * x->rel[j / 3] + j % 3;
        const double *from = x->from + (int64_t)PANEL * j;
        const bool pivot = col < x->parent_cols;
        double *to = pivot ? x->to_l + (int64_t)PANEL * col : x->to_u + (int64_t)PANEL * (col - x->parent_cols);
        const int32_t *at = pivot ? x->in_l : x->in_u;
        for (int32_t i = j; i < x->rows; i++) to[at[i]] += from[x->source[i]];
    }
}

static void add_child(const front_work *w, const tl_front *child, int32_t *maps, tl_workers *workers)
{
    const int32_t n = 3 * child->updates, p = w->p, pad = tl_pad8(p) - p;
    const int32_t *rel = w->ch->rel + child->rows_at;
    int32_t *source = maps, *in_l = maps + n, *in_u = maps + 2 * n;
    for (int32_t i = 0; i < n; i++) {
        const int32_t own = i / PANEL, row = 3 * rel[i / 3] + i % 3, below = row - p;
        const int32_t padded = row + (below >= 0 ? pad : 0);
        source[i] = 32 * own * (own + 1) + i % PANEL;
        in_l[i] = padded / PANEL * PANEL * p + padded % PANEL;
        in_u[i] = below < 0 ? 0 : 32 * (below / PANEL) * (below / PANEL + 1) + below % PANEL;
    }
    extend x = {w->ch->work + child->update_at, w->l, w->u, n, p, rel, source, in_l, in_u};
    tl_parallel_for(workers, n, COLS_PER_CHUNK, extend_columns, &x);
}

static double *panel_at(const front_work *w, int32_t r) { return w->l + (int64_t)r * PANEL * w->p; }

static int32_t tile_cols(const front_work *w, int32_t tile)
{
    return w->p - PANEL * tile < PANEL ? w->p - PANEL * tile : PANEL;
}

// The rows of the block itself: after this its tiles on the diagonal are factored.
static bool factor_block(const front_work *w, int32_t tiles_end)
{
    bool good = true;
    for (int32_t j = w->block; j < tiles_end; j++) {
        const int32_t cols = tile_cols(w, j);
        for (int32_t r = j; r < tiles_end; r++) {
            const double *const a[3] = {panel_at(w, r)};
            double *const c[3] = {panel_at(w, r) + PANEL * PANEL * j};
            w->update(PANEL * j, 1, a, panel_at(w, j), c, cols);
            if (r == j)
                good &= tl_dense_factor_tile(c[0], cols);
            else
                tl_dense_solve_tile(panel_at(w, j) + PANEL * PANEL * j, c[0], cols);
        }
    }
    return good;
}

// Groups of panels below the block: each only needs the block's rows.
static void below_block(void *arg, int32_t begin, int32_t end)
{
    const front_work *w = arg;
    const int32_t tiles_end = w->block + BLOCK_TILES < w->pivot_panels ? w->block + BLOCK_TILES : w->pivot_panels;
    for (int32_t g = begin; g < end; g++) {
        const int32_t r0 = tiles_end + GROUP_PANELS * g;
        const int32_t count = w->panels - r0 < GROUP_PANELS ? w->panels - r0 : GROUP_PANELS;
        for (int32_t j = w->block; j < tiles_end; j++) {
            const double *a[3] = {0};
            double *c[3] = {0};
            for (int32_t r = 0; r < count; r++)
                a[r] = panel_at(w, r0 + r), c[r] = panel_at(w, r0 + r) + PANEL * PANEL * j;
            const int32_t cols = tile_cols(w, j);
            w->update(PANEL * j, count, a, panel_at(w, j), c, cols);
            for (int32_t r = 0; r < count; r++) tl_dense_solve_tile(panel_at(w, j) + PANEL * PANEL * j, c[r], cols);
        }
    }
}

// Groups of panels of the update part: U -= L21 L21^T, lower tiles only.
static void update_part(void *arg, int32_t begin, int32_t end)
{
    const front_work *w = arg;
    const int32_t update_panels = w->panels - w->pivot_panels;
    for (int32_t g = begin; g < end; g++) {
        const int32_t r0 = GROUP_PANELS * g;
        const int32_t count = update_panels - r0 < GROUP_PANELS ? update_panels - r0 : GROUP_PANELS;
        for (int32_t j = 0; j < r0 + count; j++) {
            const int32_t skip = j > r0 ? j - r0 : 0;  // panels that lie above the diagonal in this column
            const double *a[3] = {0};
            double *c[3] = {0};
            for (int32_t r = skip; r < count; r++) {
                const int64_t panel = r0 + r;
                a[r - skip] = panel_at(w, w->pivot_panels + r0 + r);
                c[r - skip] = w->u + 32 * panel * (panel + 1) + PANEL * PANEL * j;
            }
            w->update(w->p, count - skip, a, panel_at(w, w->pivot_panels + j), c, PANEL);
        }
    }
}

static bool eliminate(front_work *w, tl_workers *workers)
{
    bool good = true;
    for (w->block = 0; w->block < w->pivot_panels; w->block += BLOCK_TILES) {
        const int32_t tiles_end = w->block + BLOCK_TILES < w->pivot_panels ? w->block + BLOCK_TILES : w->pivot_panels;
        good &= factor_block(w, tiles_end);
        tl_parallel_for(workers, tl_chunk_count(w->panels - tiles_end, GROUP_PANELS), 1, below_block, w);
    }
    tl_parallel_for(workers, tl_chunk_count(w->panels - w->pivot_panels, GROUP_PANELS), 1, update_part, w);
    return good;
}

TL_CLONES static void round_to_single(const double *from, float *to, int64_t count)
{
    for (int64_t i = 0; i < count; i++) to[i] = (float)from[i];
}

static bool factor_front(const tl_cholesky *ch, const tl_bsr *m, tl_dense_update update, int32_t id,
                         const tl_chol_task *room, tl_workers *workers)
{
    const tl_front *f = &ch->fronts[id];
    const int64_t size = tl_front_factor_size(f);
    front_work w = {.ch = ch, .m = m, .f = f, .update = update, .p = 3 * f->pivots};
    w.l = ch->single ? ch->work + room->panel_at : (double *)ch->factor + f->factor_at;
    w.u = ch->work + f->update_at;
    w.pivot_panels = tl_pad8(w.p) / PANEL;
    w.panels = w.pivot_panels + tl_pad8(3 * f->updates) / PANEL;
    memset(w.l, 0, (size_t)size * sizeof *w.l);
    if (f->updates) memset(w.u, 0, (size_t)tl_front_update_size(f) * sizeof *w.u);
    add_matrix(&w, f->entry_begin, f[1].entry_begin);
    for (int32_t c = f->child; c >= 0; c = ch->fronts[c].sibling)
        add_child(&w, &ch->fronts[c], ch->maps + room->map_at, workers);
    const bool good = eliminate(&w, workers);
    if (ch->single) round_to_single(w.l, (float *)ch->factor + f->factor_at, size);
    return good;
}

typedef struct factor_job {
    const tl_cholesky *ch;
    const tl_bsr *m;
    tl_dense_update update;
} factor_job;

static void factor_lanes(void *arg, int32_t begin, int32_t end)
{
    const factor_job *job = arg;
    for (int32_t t = 0; t < job->ch->task_count; t++) {
        const tl_chol_task *task = &job->ch->tasks[t];
        if (task->lane < begin || task->lane >= end) continue;
        bool good = true;
        for (int32_t id = task->begin; id < task->end && good; id++)
            good = factor_front(job->ch, job->m, job->update, id, task, NULL);
        job->ch->failed[t] = !good;
    }
}

tl_status tl_cholesky_factor(tl_cholesky *ch, const tl_bsr *m, tl_workers *workers, tl_error *err)
{
    factor_job job = {ch, m, tl_dense_update_at(0)};
    tl_parallel_for(workers, TL_CHOL_LANES, 1, factor_lanes, &job);
    bool good = true;
    for (int32_t t = 0; t < ch->task_count; t++) good &= !ch->failed[t];
    for (int32_t k = 0; k < ch->top_count && good; k++) {
        const tl_front *f = &ch->fronts[ch->top[k]];
        const double p = 3.0 * f->pivots, u = 3.0 * f->updates;
        tl_workers *shared = p * (p + u) * (p + u) > SHARE_MIN_FLOPS ? workers : NULL;
        good = factor_front(ch, m, job.update, ch->top[k], &ch->tasks[ch->task_count], shared);
    }
    return good ? TL_OK : tl_fail(err, TL_FAILED, "Cholesky: the matrix is not positive definite or not finite");
}
