// math/multilevel.c: life of the levels, and the cycle that applies them.
//
// A cycle: sweep forward from zero, send the rest down, come back, sweep backward. The sweeps are block
// Gauss-Seidel inside chunks of rows and Jacobi between chunks, so they run side by side and give the same
// bits on any number of workers; forward and backward are each other's transpose, so the whole is symmetric
// and fit for conjugate gradients whatever the coarse levels hold.

#include "math/multilevel.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "math/bsr.h"
#include "math/bsr_row.h"
#include "math/multilevel_impl.h"
#include "math/vec3.h"

// A coarsest level is small, for its factor counts in the memory of small cloths; a level that refuses to shrink is
// still factored up to MOST_FACTORED rows.
enum { COARSEST_ROWS = 60, MOST_FACTORED = 2880, PATCHES_PER_CHUNK = 64, NODES_PER_CHUNK = 512 };

// One level's vectors: right side, answer, rest; before the backward sweep the rest makes room for a copy of
// the answer, `old`.
typedef struct sweep_job {
    const tl_level *lv;
    const tl_vec3 *b, *old, *next_x;
    tl_vec3 *x, *res, *next_b;
} sweep_job;

// x = D'^-1 (b - L x) within the chunk, from zero. Every row hands its share on to the later rows of the
// chunk as soon as it is known: this reads the stored blocks in order, where gathering would jump about.
// Then res = b - A x of the rows whose links all lie in the chunk, while its blocks are in cache: b - (L + D) x is zero
// there and the right side is enough.
TL_INLINE void forward_rows(const sweep_job *job, int32_t begin, int32_t end, bool single)
{
    const tl_bsr *m = job->lv->a;
    double sum[SMOOTH_CHUNK][4];
    memset(sum, 0, (size_t)(end - begin) * sizeof *sum);
    for (int32_t i = begin; i < end; i++) {
        const double *s = sum[i - begin];
        const tl_vec3 r = {job->b[i].x - s[0], job->b[i].y - s[1], job->b[i].z - s[2]};
        const tl_vec3 x = tl_sym3_apply(job->lv->inverse[i], r);
        job->x[i] = x;
        const tl_v4 vx = TL_SPLAT4(x.x), vy = TL_SPLAT4(x.y), vz = TL_SPLAT4(x.z);
        for (int32_t k = m->row_start[i] + 1; k < m->row_start[i + 1] && m->col[k] < end; k++) {
            const int32_t at = k - TL_BLOCK_SHIFT(single, i);
            double *to = sum[m->col[k] - begin];
            *(tl_v4 *)to = TL_LOAD4(to) + ((vx * TL_BLOCK4(m, single, at, 0) + vy * TL_BLOCK4(m, single, at, 3)) +
                                           vz * TL_BLOCK4(m, single, at, 6));
        }
    }
    for (int32_t i = begin; i < end; i++) {
        if (!job->lv->inside[i]) continue;
        tl_v4 u0 = {0}, u1 = {0}, u2 = {0}, lo = {0};
        TL_ROW_UPPER(m, single, i, job->x, u0, u1, u2)
        const tl_vec3 s = TL_ROW_SUM(u0, u1, u2, lo);
        job->res[i] = (tl_vec3){-s.x, -s.y, -s.z};
    }
}

TL_CLONES static void forward_chunk(void *arg, int32_t begin, int32_t end)
{
    const sweep_job *job = arg;
    TL_EITHER_STORAGE(job->lv->a, forward_rows, job, begin, end);
}

// res = b - A x of the rows whose sweep did not see all of their links; the sweep has done the others.
TL_INLINE void rest_rows(const sweep_job *job, int32_t begin, int32_t end, bool single)
{
    const tl_level *lv = job->lv;
    for (int32_t i = begin; i < end; i++)
        if (!lv->inside[i]) job->res[i] = tl_sub3(job->b[i], tl_bsr_row(lv->a, i, job->x, single));
}

TL_CLONES static void rest_chunk(void *arg, int32_t begin, int32_t end)
{
    const sweep_job *job = arg;
    TL_EITHER_STORAGE(job->lv->a, rest_rows, job, begin, end);
}

// x = old + d with (D' + U) d = b - A old within the chunk: first the rest, then the sweep from below, which
// finds the chunk's blocks in cache. Rows of other chunks count as they were before.
TL_INLINE void backward_rows(const sweep_job *job, int32_t begin, int32_t end, bool single)
{
    const tl_bsr *m = job->lv->a;
    double d[SMOOTH_CHUNK][4];
    tl_bsr_rows(m, begin, end, &job->old->x, 3, d, false, single);
    for (int32_t i = begin; i < end; i++) {
        const tl_v4 b = {job->b[i].x, job->b[i].y, job->b[i].z, 0};
        *(tl_v4 *)d[i - begin] = b - TL_LOAD4(d[i - begin]);
    }
    for (int32_t i = end - 1; i >= begin; i--) {
        tl_v4 u0 = {0}, u1 = {0}, u2 = {0};
        int32_t to = m->row_start[i + 1];
        while (m->col[to - 1] >= end) to--;
        for (int32_t k = to - 1; k > m->row_start[i]; k--) {  // row i + 1 has just been made: wait for it last
            const int32_t at = k - TL_BLOCK_SHIFT(single, i);
            const tl_v4 v = TL_LOAD4(d[m->col[k] - begin]);
            u0 += TL_BLOCK4(m, single, at, 0) * v;
            u1 += TL_BLOCK4(m, single, at, 3) * v;
            u2 += TL_BLOCK4(m, single, at, 6) * v;
        }
        double *di = d[i - begin];
        const tl_vec3 r = {di[0] - ((u0[0] + u0[1]) + u0[2]), di[1] - ((u1[0] + u1[1]) + u1[2]),
                           di[2] - ((u2[0] + u2[1]) + u2[2])};
        const tl_vec3 v = tl_sym3_apply(job->lv->inverse[i], r);
        di[0] = v.x, di[1] = v.y, di[2] = v.z;
        job->x[i] = tl_add3(job->old[i], v);
    }
}

TL_CLONES static void backward_chunk(void *arg, int32_t begin, int32_t end)
{
    const sweep_job *job = arg;
    TL_EITHER_STORAGE(job->lv->a, backward_rows, job, begin, end);
}

#define LOAD_P(p) TL_WIDEN8(p)  // lanes 6 and 7 hold what follows

// next_b = P^T res, by patches
TL_CLONES static void restrict_chunk(void *arg, int32_t begin, int32_t end)
{
    const sweep_job *job = arg;
    const tl_level *lv = job->lv;
    const int32_t rows = lv->node_rows;
    for (int32_t p = begin; p < end; p++) {
        tl_v8 sum = {0};
        for (int32_t t = lv->t_start[p]; t < lv->t_start[p + 1]; t++) {
            const int32_t i = lv->t_node[t], seen = lv->p_start[i + 1] - lv->p_start[i];
            const float *v = lv->p_value[(int64_t)rows * lv->p_start[i] + lv->t_entry[t] - lv->p_start[i]];
            for (int32_t s = 0; s < rows; s++, v += 18 * seen) {
                const tl_vec3 r = job->res[rows * i + s];
                sum += LOAD_P(v) * r.x + LOAD_P(v + 6) * r.y + LOAD_P(v + 12) * r.z;
            }
        }
        job->next_b[2 * p] = (tl_vec3){sum[0], sum[1], sum[2]};
        job->next_b[2 * p + 1] = (tl_vec3){sum[3], sum[4], sum[5]};
    }
}

// x += P next_x, by nodes; also keeps a copy for the sweep's far rows
TL_CLONES static void prolong_chunk(void *arg, int32_t begin, int32_t end)
{
    const sweep_job *job = arg;
    const tl_level *lv = job->lv;
    const int32_t rows = lv->node_rows;
    for (int32_t i = begin; i < end; i++) {
        const int32_t seen = lv->p_start[i + 1] - lv->p_start[i];
        const float(*v)[18] = (const float(*)[18])lv->p_value + (int64_t)rows * lv->p_start[i];
        for (int32_t s = 0; s < rows; s++, v += seen) {
            tl_v8 s0 = {0}, s1 = {0}, s2 = {0};
            for (int32_t e = 0; e < seen; e++) {
                const tl_vec3 *c = &job->next_x[2 * lv->p_patch[lv->p_start[i] + e]];
                const tl_v8 x = {c[0].x, c[0].y, c[0].z, c[1].x, c[1].y, c[1].z, 0, 0};
                s0 += LOAD_P(v[e]) * x;
                s1 += LOAD_P(v[e] + 6) * x;
                s2 += LOAD_P(v[e] + 12) * x;
            }
            const tl_vec3 add = {((s0[0] + s0[3]) + (s0[1] + s0[4])) + (s0[2] + s0[5]),
                                 ((s1[0] + s1[3]) + (s1[1] + s1[4])) + (s1[2] + s1[5]),
                                 ((s2[0] + s2[3]) + (s2[1] + s2[4])) + (s2[2] + s2[5])};
            job->x[rows * i + s] = tl_add3(job->x[rows * i + s], add);
            job->res[rows * i + s] = job->x[rows * i + s];
        }
    }
}

static void cycle_twice(tl_multilevel *ml, int32_t l, tl_workers *workers);

typedef struct repeat_job {
    const tl_vec3 *b;
    tl_vec3 *x, *rest, *more;
} repeat_job;

static void rest_of_b_chunk(void *arg, int32_t begin, int32_t end)
{
    const repeat_job *job = arg;
    for (int32_t i = begin; i < end; i++) job->rest[i] = tl_sub3(job->b[i], job->rest[i]);
}

static void add_more_chunk(void *arg, int32_t begin, int32_t end)
{
    const repeat_job *job = arg;
    for (int32_t i = begin; i < end; i++) job->x[i] = tl_add3(job->x[i], job->more[i]);
}

static void cycle(tl_multilevel *ml, int32_t l, tl_workers *workers, const tl_vec3 *b, tl_vec3 *x)
{
    const tl_level *lv = &ml->level[l];
    const int32_t rows = lv->a->row_count;
    const bool last = l + 1 == ml->level_count;
    if (last && ml->coarsest) {
        tl_cholesky_solve(ml->coarsest, workers, b, x);
        return;
    }
    sweep_job job = {.lv = lv, .b = b, .x = x, .res = lv->res, .old = lv->res};
    tl_parallel_for(workers, rows, SMOOTH_CHUNK, forward_chunk, &job);
    if (last) {
        memcpy(lv->res, x, (size_t)rows * sizeof *x);
    } else {
        const tl_level *next = &ml->level[l + 1];
        tl_parallel_for(workers, rows, SMOOTH_CHUNK, rest_chunk, &job);
        job.next_b = next->b, job.next_x = next->x;
        tl_parallel_for(workers, lv->patches, PATCHES_PER_CHUNK, restrict_chunk, &job);
        cycle_twice(ml, l + 1, workers);
        tl_parallel_for(workers, lv->nodes, NODES_PER_CHUNK, prolong_chunk, &job);
    }
    tl_parallel_for(workers, rows, SMOOTH_CHUNK, backward_chunk, &job);
}

// Coarse levels are cheap, so they are cycled through twice (a W cycle): 2 B - B A B, definite as long as one cycle B
// converges, which Galerkin matrices see to. The exact coarsest needs no second time.
static void cycle_twice(tl_multilevel *ml, int32_t l, tl_workers *workers)
{
    const tl_level *lv = &ml->level[l];
    cycle(ml, l, workers, lv->b, lv->x);
    if (l + 1 == ml->level_count) return;
    const int32_t rows = lv->a->row_count;
    repeat_job job = {lv->b, lv->x, lv->rest, lv->more};
    tl_bsr_multiply(lv->a, workers, lv->x, lv->rest);
    tl_parallel_for(workers, rows, SMOOTH_CHUNK, rest_of_b_chunk, &job);
    cycle(ml, l, workers, lv->rest, lv->more);
    tl_parallel_for(workers, rows, SMOOTH_CHUNK, add_more_chunk, &job);
}

void tl_multilevel_apply(void *self, tl_workers *workers, const tl_vec3 *r, tl_vec3 *z)
{
    cycle(self, 0, workers, r, z);
}

static tl_status level_vectors(tl_multilevel *ml, int32_t l, tl_error *err)
{
    tl_level *lv = &ml->level[l];
    const int32_t rows = lv->a->row_count;
    lv->inverse = tl_alloc_bytes(&ml->alloc, (size_t)rows, sizeof *lv->inverse);
    lv->inside = TL_ALLOC(&ml->alloc, uint8_t, rows);
    lv->res = TL_ALLOC(&ml->alloc, tl_vec3, rows);
    if (l > 0) {
        lv->b = TL_ALLOC(&ml->alloc, tl_vec3, rows);
        lv->x = TL_ALLOC(&ml->alloc, tl_vec3, rows);
        lv->rest = TL_ALLOC(&ml->alloc, tl_vec3, rows);
        lv->more = TL_ALLOC(&ml->alloc, tl_vec3, rows);
    }
    for (int32_t i = 0; i < rows && lv->inside; i++) {
        const tl_bsr *m = lv->a;
        const int32_t begin = i / SMOOTH_CHUNK * SMOOTH_CHUNK, lower = m->lower_start[i];
        lv->inside[i] = (lower == m->lower_start[i + 1] || m->lower_row[lower] >= begin) &&
                        m->col[m->row_start[i + 1] - 1] < begin + SMOOTH_CHUNK;
    }
    const bool all = lv->inverse && lv->inside && lv->res && (l == 0 || (lv->b && lv->x && lv->rest && lv->more));
    return all ? TL_OK : tl_fail_memory(err, "multilevel vectors");
}

static tl_status not_definite(tl_error *err)
{
    return tl_fail(err, TL_FAILED, "matrix: a diagonal block is not positive definite");
}

tl_status tl_multilevel_create(const tl_allocator *alloc, const tl_bsr *matrix, tl_aggregates aggregates,
                               const uint8_t *fixed, const tl_vec3 *pos, tl_workers *workers, tl_multilevel **out,
                               tl_error *err)
{
    *out = NULL;
    tl_multilevel *ml = TL_CALLOC(alloc, tl_multilevel, 1);
    if (!ml) return tl_fail_memory(err, "multilevel solver");
    ml->alloc = *alloc;
    ml->fixed = fixed;
    ml->aggregates = aggregates;
    ml->level[0].a = matrix;
    ml->level[0].nodes = matrix->row_count;
    ml->level[0].node_rows = 1;
    ml->level_count = 1;
    tl_status status = level_vectors(ml, 0, err);
    // patches of a level are chosen by its values, so building and filling go together
    for (int32_t l = 0; status == TL_OK; l++) {
        if (!tl_level_smoother(ml, l, workers)) {
            status = not_definite(err);
            break;
        }
        if (ml->level[l].a->row_count <= COARSEST_ROWS || l + 1 == MAX_LEVELS) break;
        bool more = false;
        status = tl_level_build(ml, l, l == 0 ? fixed : NULL, &more, err);
        if (status != TL_OK || !more) break;
        ml->level_count++;
        status = level_vectors(ml, l + 1, err);
        if (status == TL_OK) tl_level_coarsen(ml, l, pos, workers);
    }
    const tl_bsr *last = ml->level[ml->level_count - 1].a;
    // a level that would not coarsen further is factored too if it is not large
    if (status == TL_OK && last->row_count <= MOST_FACTORED) {
        status = tl_cholesky_create(alloc, last, false, &ml->coarsest, err);
        if (status == TL_OK) status = tl_cholesky_factor(ml->coarsest, last, workers, err);
    }
    ml->fixed = NULL;
    if (status != TL_OK) {
        tl_multilevel_destroy(ml);
        return status;
    }
    *out = ml;
    return TL_OK;
}

tl_status tl_multilevel_update(tl_multilevel *ml, const uint8_t *fixed, const tl_vec3 *pos, bool deep,
                               tl_workers *workers, tl_error *err)
{
    if (!tl_level_smoother(ml, 0, workers)) return not_definite(err);
    if (!deep && ml->level_count > 1) return TL_OK;
    ml->fixed = fixed;
    for (int32_t l = 0; l + 1 < ml->level_count; l++) {
        tl_level_coarsen(ml, l, pos, workers);
        if (!tl_level_smoother(ml, l + 1, workers)) {
            ml->fixed = NULL;
            return not_definite(err);
        }
    }
    ml->fixed = NULL;
    return ml->coarsest ? tl_cholesky_factor(ml->coarsest, ml->level[ml->level_count - 1].a, workers, err) : TL_OK;
}

void tl_multilevel_destroy(tl_multilevel *ml)
{
    if (!ml) return;
    const tl_allocator alloc = ml->alloc;
    for (int32_t l = 0; l < MAX_LEVELS; l++) tl_level_free(&alloc, &ml->level[l]);
    tl_cholesky_destroy(ml->coarsest);
    TL_FREE(&alloc, ml, 1);
}

size_t tl_multilevel_memory(const tl_multilevel *ml)
{
    size_t sum = sizeof *ml + (ml->coarsest ? tl_cholesky_describe(ml->coarsest).memory : 0);
    for (int32_t l = 0; l < ml->level_count; l++) {
        const tl_level *lv = &ml->level[l];
        const size_t rows = (size_t)lv->a->row_count, entries = (size_t)lv->entries;
        sum +=
            rows * (sizeof *lv->inverse + sizeof *lv->inside + sizeof(tl_vec3) * (l ? 5 : 1)) + tl_bsr_memory(lv->own);
        if (!lv->p_start) continue;
        sum += (size_t)lv->nodes * 2 * sizeof(int32_t) + (size_t)lv->patches * (sizeof(tl_vec3) + sizeof(int32_t)) +
               entries * (3 * sizeof(int32_t) + (size_t)lv->node_rows * sizeof *lv->p_value);
    }
    return sum;
}

int32_t tl_multilevel_levels(const tl_multilevel *ml) { return ml->level_count; }
