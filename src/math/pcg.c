// math/pcg.c: conjugate gradients with a preconditioner that the caller brings.
//
// Hestenes and Stiefel 1952; preconditioned form as in Saad 2003, algorithm 9.1. Three passes over memory per
// iteration: product with its dot, update with its dot, new direction. A row that holds an identity block
// and nothing else converges at once, so fixed nodes need no special care.

#include "math/pcg.h"

#include <stdatomic.h>
#include <string.h>

#include "base/fail.h"
#include "math/bsr_row.h"
#include "math/vec3.h"

enum { ROWS_PER_CHUNK = 512 };  // a constant: the order of sums must not depend on the worker count

typedef struct cg_state {
    const tl_bsr *m;
    const tl_vec3 *b;
    double alpha, beta;
    tl_vec3 *x, *r, *q, *z;
    double (*p)[4];         // three numbers and a zero
    tl_vec3 *p3;            // p once more, only for what is applied beside the matrix
    double *sum_a, *sum_b;  // one partial sum per chunk
} cg_state;

int32_t tl_vec_partials(int32_t n) { return tl_chunk_count(n, ROWS_PER_CHUNK); }

typedef struct dot_job {
    const tl_vec3 *a, *b;
    double *partial;
} dot_job;

TL_CLONES static void dot_chunk(void *arg, int32_t begin, int32_t end)
{
    const dot_job *job = arg;
    double sx = 0, sy = 0, sz = 0;
    for (int32_t i = begin; i < end; i++) {
        sx += job->a[i].x * job->b[i].x;
        sy += job->a[i].y * job->b[i].y;
        sz += job->a[i].z * job->b[i].z;
    }
    job->partial[begin / ROWS_PER_CHUNK] = sx + sy + sz;
}

double tl_vec_dot(tl_workers *workers, int32_t n, const tl_vec3 *a, const tl_vec3 *b, double *partial)
{
    tl_parallel_for(workers, n, ROWS_PER_CHUNK, dot_chunk, &(dot_job){a, b, partial});
    return tl_tree_sum(partial, tl_vec_partials(n));
}

typedef struct invert_job {
    const tl_bsr *m;
    double (*inverse)[6], (*columns)[12];  // one of both
    _Atomic bool failed;
} invert_job;

static void invert_chunk(void *arg, int32_t begin, int32_t end)
{
    invert_job *job = arg;
    for (int32_t i = begin; i < end; i++) {
        double v[6] = {0};
        if (!tl_sym3_invert(tl_bsr_diagonal(job->m, i), v))
            atomic_store_explicit(&job->failed, true, memory_order_relaxed);
        if (job->inverse)
            memcpy(job->inverse[i], v, sizeof v);
        else
            memcpy(job->columns[i], (double[12]){v[0], v[1], v[2], 0, v[1], v[3], v[4], 0, v[2], v[4], v[5], 0},
                   sizeof job->columns[i]);
    }
}

static bool invert(invert_job *job, tl_workers *workers)
{
    tl_parallel_for(workers, job->m->row_count, ROWS_PER_CHUNK, invert_chunk, job);
    return !atomic_load_explicit(&job->failed, memory_order_relaxed);
}

bool tl_bsr_invert_diagonal(const tl_bsr *m, tl_workers *workers, double (*inverse)[6])
{
    return invert(&(invert_job){.m = m, .inverse = inverse}, workers);
}

bool tl_bsr_invert_diagonal_columns(const tl_bsr *m, tl_workers *workers, double (*columns)[12])
{
    return invert(&(invert_job){.m = m, .columns = columns}, workers);
}

// Rows of A x with what is stored beside the matrix.
TL_INLINE void all_rows(const tl_bsr *m, int32_t begin, int32_t end, const double *x, int stride, double (*y)[4],
                        bool single)
{
    tl_bsr_rows(m, begin, end, x, stride, y, false, single);
    if (m->extra.blocks) tl_bsr_rows(m->extra.blocks, begin, end, x, stride, y, true, false);
}

// r = b - A x; sums of b b and r r
TL_INLINE void residual_rows(cg_state *s, int32_t begin, int32_t end, bool single)
{
    double bb = 0, rr = 0, ax[ROWS_PER_CHUNK][4];
    all_rows(s->m, begin, end, &s->x->x, 3, ax, single);
    for (int32_t i = begin; i < end; i++) {
        const double *row = ax[i - begin];
        const tl_vec3 r = tl_sub3(s->b[i], (tl_vec3){row[0], row[1], row[2]});
        s->r[i] = r;
        bb += tl_dot3(s->b[i], s->b[i]);
        rr += tl_dot3(r, r);
    }
    s->sum_a[begin / ROWS_PER_CHUNK] = bb;
    s->sum_b[begin / ROWS_PER_CHUNK] = rr;
}

TL_CLONES static void residual_chunk(void *arg, int32_t begin, int32_t end)
{
    cg_state *s = arg;
    TL_EITHER_STORAGE(s->m, residual_rows, s, begin, end);
}

TL_INLINE tl_vec3 direction(const cg_state *s, int32_t i) { return (tl_vec3){s->p[i][0], s->p[i][1], s->p[i][2]}; }

TL_INLINE void set_direction(cg_state *s, int32_t i, tl_vec3 p)
{
    s->p[i][0] = p.x, s->p[i][1] = p.y, s->p[i][2] = p.z, s->p[i][3] = 0;
}

// q = A p; sum of p q
TL_INLINE void product_rows(cg_state *s, int32_t begin, int32_t end, bool single)
{
    double pq = 0, ap[ROWS_PER_CHUNK][4];
    all_rows(s->m, begin, end, s->p[0], 4, ap, single);
    for (int32_t i = begin; i < end; i++) {
        const tl_vec3 q = {ap[i - begin][0], ap[i - begin][1], ap[i - begin][2]};
        s->q[i] = q;
        pq += tl_dot3(direction(s, i), q);
    }
    s->sum_a[begin / ROWS_PER_CHUNK] = pq;
}

TL_CLONES static void product_chunk(void *arg, int32_t begin, int32_t end)
{
    cg_state *s = arg;
    TL_EITHER_STORAGE(s->m, product_rows, s, begin, end);
}

// x += alpha p, r -= alpha q; sum of r r
TL_CLONES static void update_chunk(void *arg, int32_t begin, int32_t end)
{
    cg_state *s = arg;
    const double alpha = s->alpha;
    double rr = 0;
    for (int32_t i = begin; i < end; i++) {
        s->x[i] = tl_madd3(s->x[i], alpha, direction(s, i));
        const tl_vec3 r = tl_madd3(s->r[i], -alpha, s->q[i]);
        s->r[i] = r;
        rr += tl_dot3(r, r);
    }
    s->sum_a[begin / ROWS_PER_CHUNK] = rr;
}

// p = z + beta p
TL_CLONES static void direction_chunk(void *arg, int32_t begin, int32_t end)
{
    cg_state *s = arg;
    for (int32_t i = begin; i < end; i++) set_direction(s, i, tl_madd3(s->z[i], s->beta, direction(s, i)));
}

static tl_status take_scratch(cg_state *s, tl_arena *arena, tl_error *err)
{
    const int32_t n = s->m->row_count, partials = tl_vec_partials(n);
    s->x = TL_SCRATCH(arena, tl_vec3, n);
    s->r = TL_SCRATCH(arena, tl_vec3, n);
    s->p = tl_arena_bytes(arena, (size_t)n, sizeof *s->p);
    s->p3 = TL_SCRATCH(arena, tl_vec3, s->m->extra.add ? n : 0);
    s->q = TL_SCRATCH(arena, tl_vec3, n);
    s->sum_a = TL_SCRATCH(arena, double, partials);
    s->sum_b = TL_SCRATCH(arena, double, partials);
    s->z = TL_SCRATCH(arena, tl_vec3, n);
    if (!s->x || !s->r || !s->p || !s->p3 || !s->q || !s->z || !s->sum_a || !s->sum_b)
        return tl_fail_memory(err, "conjugate gradients");
    return TL_OK;
}

typedef struct extra_job {
    tl_vec3 *r;
    const tl_vec3 *extra;
    double *sum;
} extra_job;

static void less_extra_chunk(void *arg, int32_t begin, int32_t end)
{
    const extra_job *job = arg;
    double rr = 0;
    for (int32_t i = begin; i < end; i++) {
        job->r[i] = tl_sub3(job->r[i], job->extra[i]);
        rr += tl_dot3(job->r[i], job->r[i]);
    }
    job->sum[begin / ROWS_PER_CHUNK] = rr;
}

static tl_status iterate(cg_state *s, const tl_precond *precond, tl_pcg_stop stop, tl_workers *workers,
                         tl_solve_report *report, tl_error *err)
{
    const int32_t n = s->m->row_count, partials = tl_vec_partials(n);
    tl_parallel_for(workers, n, ROWS_PER_CHUNK, residual_chunk, s);
    const double bb = tl_tree_sum(s->sum_a, partials);
    const tl_extra extra = s->m->extra;
    if (extra.add) {
        memset(s->q, 0, (size_t)n * sizeof *s->q);
        extra.add(extra.self, workers, s->x, s->q);
        tl_parallel_for(workers, n, ROWS_PER_CHUNK, less_extra_chunk, &(extra_job){s->r, s->q, s->sum_b});
    }
    double rr = tl_tree_sum(s->sum_b, partials);
    if (!isfinite(bb) || !isfinite(rr)) return tl_fail(err, TL_FAILED, "linear system: a number is not finite");
    if (bb == 0) {  // the answer is known, and a relative residual is not
        memset(s->x, 0, (size_t)n * sizeof *s->x);
        report->converged = true;
        return TL_OK;
    }
    report->first_residual = sqrt(rr / bb), report->scale = sqrt(bb);
    const double goal = tl_pcg_goal(stop, bb);
    double rz_old = 0;
    for (int32_t it = 0;; it++) {
        report->iterations = it;
        report->residual = sqrt(rr / bb);
        report->converged = rr <= goal;
        if (report->converged || it >= stop.max_iterations) return TL_OK;
        if (it % TL_PCG_POLL == TL_PCG_POLL - 1) {
            TL_TRY(tl_workers_poll(workers, "a linear solve", err));
            if (tl_workers_exhausted(workers)) return TL_OK;
        }
        tl_workers_charge(workers, precond->cost + tl_pcg_cost(s->m));
        precond->apply(precond->self, workers, s->r, s->z);
        const double rz = tl_vec_dot(workers, n, s->r, s->z, s->sum_b);
        if (!(rz > 0)) return tl_fail(err, TL_FAILED, "conjugate gradients: r M^-1 r is %g at iteration %d", rz, it);
        if (it == 0) memset(s->p, 0, (size_t)n * sizeof *s->p);
        s->beta = it == 0 ? 0 : rz / rz_old;
        tl_parallel_for(workers, n, ROWS_PER_CHUNK, direction_chunk, s);
        tl_parallel_for(workers, n, ROWS_PER_CHUNK, product_chunk, s);
        for (int32_t i = 0; extra.add && i < n; i++) s->p3[i] = direction(s, i);
        if (extra.add) extra.add(extra.self, workers, s->p3, s->q);
        const double pq = extra.add ? tl_vec_dot(workers, n, s->p3, s->q, s->sum_a) : tl_tree_sum(s->sum_a, partials);
        if (!(pq > 0) || !isfinite(pq))
            return tl_fail(err, TL_FAILED, "matrix is not positive definite: p A p is %g at iteration %d", pq, it);
        s->alpha = rz / pq;
        rz_old = rz;
        tl_parallel_for(workers, n, ROWS_PER_CHUNK, update_chunk, s);
        rr = tl_tree_sum(s->sum_a, partials);
        if (!isfinite(rr)) return tl_fail(err, TL_FAILED, "conjugate gradients: residual is not finite");
    }
}

// ns: products by what docs/solvers.md measured, and vectors.
#define BLOCK_COST 3.5
#define EXTRA_BLOCKS 20.0  // what the exact bending costs beside, in blocks a row
#define ROW_COST 15.0

double tl_pcg_cost(const tl_bsr *m)
{
    const double blocks = 2.0 * m->block_count - m->row_count + (m->extra.add ? EXTRA_BLOCKS * m->row_count : 0) +
                          (m->extra.blocks ? 2.0 * m->extra.blocks->block_count : 0);
    return BLOCK_COST * blocks / 2 + ROW_COST * m->row_count;
}

tl_status tl_pcg(const tl_bsr *m, const tl_precond *precond, tl_pcg_stop stop, const tl_vec3 *b, tl_vec3 *x,
                 const tl_ctx *ctx, tl_solve_report *report, tl_error *err)
{
    report->iterations = 0, report->first_residual = report->residual = report->scale = 0, report->converged = true;
    if (m->row_count == 0) return TL_OK;
    const tl_arena_mark mark = tl_arena_save(ctx->arena);
    cg_state s = {.m = m, .b = b};
    tl_status status = take_scratch(&s, ctx->arena, err);
    if (status == TL_OK) {
        memcpy(s.x, x, (size_t)m->row_count * sizeof *x);
        status = iterate(&s, precond, stop, ctx->workers, report, err);
    }
    if (status == TL_OK)
        memcpy(x, s.x, (size_t)m->row_count * sizeof *x);
    else
        report->converged = false;
    tl_arena_release(ctx->arena, mark);
    return status;
}
