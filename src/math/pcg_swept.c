// math/pcg_swept.c: conjugate gradients preconditioned by symmetric Gauss-Seidel, at the price of plain ones.
//
// Inside chunks of rows A is L + D + L^T, the rest of it (links between chunks, what is stored beside the matrix) is R.
// The preconditioner is M = (D + L) D^-1 (D + L^T), definite whatever R is, and chunks are swept side by side.
// Eisenstat 1981: in the unknowns of (D + L)^-1 A (D + L^T)^-1 the product is two sweeps and R,
//
//   t = (D + L^T)^-1 p,   (D + L)^-1 A t = t + v,   v = (D + L)^-1 (p + (R - D) t),
//
// so that every block is read twice an iteration and never a third time by the preconditioner. With sigma = L^T t,
// which the backward sweep has at hand, D t = p - sigma and p + (R - D) t = sigma + R t: of the diagonal only its
// inverse is wanted. Kept are s = D (D + L)^-1 r, p and the true direction t; r M^-1 r = s D^-1 s.

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "math/bsr_row.h"
#include "math/pcg.h"

enum { ROWS_PER_CHUNK = 512 };  // a constant: bits must not depend on the worker count

// Rows of four hold three numbers and one that says nothing, which in t is zero.
typedef struct swept {
    const tl_bsr *m;
    const tl_vec3 *b;
    double (*inverse)[12];  // columns of D^-1, four numbers each
    double alpha, beta;
    bool guess;  // x is not zero at the start
    double (*x)[4], (*s)[4], (*p)[4], (*t)[4];
    double (*q)[4];  // sigma after the backward sweep, D (D + L)^-1 A t after the product; at the start b
    // a vector once more and E times it, only for what is applied beside the matrix
    tl_vec3 *v3, *extra;
    double *sum_a, *sum_b;  // one partial sum per chunk
} swept;

// Vectors must not cross the boundary of a function: small ones that return some are macros.
#define LANE(v, k) __builtin_shufflevector(v, v, k, k, k, k)
/// D^-1 y, from the columns of D^-1
#define INVERSE_TIMES(d, y)                                                                                            \
    ((TL_LOAD4(d) * LANE(y, 0) + TL_LOAD4((d) + 4) * LANE(y, 1)) + TL_LOAD4((d) + 8) * LANE(y, 2))
#define DOT(a, b) ((a)[0] * (b)[0] + (a)[1] * (b)[1] + (a)[2] * (b)[2])

/// (u0[0] + u0[1]) + u0[2], the same of u1 and u2, and zero
#define SUMS(out, u0, u1, u2)                                                                                          \
    do {                                                                                                               \
        const tl_v4 even_ = __builtin_shufflevector(u0, u1, 0, 4, 2, 6),                                               \
                    odd_ = __builtin_shufflevector(u0, u1, 1, 5, 3, 7);                                                \
        const tl_v4 none_ = {0}, even2_ = __builtin_shufflevector(u2, none_, 0, 4, 2, 6);                              \
        const tl_v4 odd2_ = __builtin_shufflevector(u2, none_, 1, 5, 3, 7);                                            \
        (out) =                                                                                                        \
            (__builtin_shufflevector(even_, even2_, 0, 1, 4, 5) + __builtin_shufflevector(odd_, odd2_, 0, 1, 4, 5)) +  \
            __builtin_shufflevector(even_, even2_, 2, 3, 6, 7);                                                        \
    } while (0)

// v = D^-1 y goes to the rows behind i in its chunk: y_j -= L_ji v
TL_INLINE void send_on(const tl_bsr *m, int32_t i, int32_t begin, int32_t end, const tl_v4 *v, double (*y)[4],
                       bool single)
{
    const tl_v4 vx = LANE(*v, 0), vy = LANE(*v, 1), vz = LANE(*v, 2);
    for (int32_t k = m->row_start[i] + 1; k < m->row_start[i + 1] && m->col[k] < end; k++) {
        const int32_t at = k - TL_BLOCK_SHIFT(single, i);
        *(tl_v4 *)y[m->col[k] - begin] -=
            (vx * TL_BLOCK4(m, single, at, 0) + vy * TL_BLOCK4(m, single, at, 3)) + vz * TL_BLOCK4(m, single, at, 6);
    }
}

// What s holds becomes D (D + L)^-1 of it, sum of s D^-1 s; likewise, if there is a guess, the right side in q: two
// sweeps wait for each other less.
TL_INLINE void forward_rows(swept *c, int32_t begin, int32_t end, bool single)
{
    double sum_s = 0, sum_q = 0;
    for (int32_t i = begin; i < end; i++) {
        const tl_v4 s = TL_LOAD4(c->s[i]), v = INVERSE_TIMES(c->inverse[i], s);
        sum_s += DOT(s, v);
        send_on(c->m, i, begin, end, &v, c->s + begin, single);
        if (!c->guess) continue;
        const tl_v4 q = TL_LOAD4(c->q[i]), w = INVERSE_TIMES(c->inverse[i], q);
        sum_q += DOT(q, w);
        send_on(c->m, i, begin, end, &w, c->q + begin, single);
    }
    c->sum_a[begin / ROWS_PER_CHUNK] = sum_s;
    c->sum_b[begin / ROWS_PER_CHUNK] = sum_q;
}

TL_CLONES static void forward_chunk(void *arg, int32_t begin, int32_t end)
{
    swept *c = arg;
    TL_EITHER_STORAGE(c->m, forward_rows, c, begin, end);
}

// p = s + beta p; t = (D + L^T)^-1 p and sigma = L^T t. The row just done comes last: everything else is there already.
TL_INLINE void backward_rows(swept *c, int32_t begin, int32_t end, bool single)
{
    const tl_bsr *m = c->m;
    const tl_v4 beta = TL_SPLAT4(c->beta);
    for (int32_t i = end - 1; i >= begin; i--) {
        tl_v4 u0 = {0}, u1 = {0}, u2 = {0};
        int32_t k = m->row_start[i + 1] - 1;
        while (k > m->row_start[i] && m->col[k] >= end) k--;
        for (; k > m->row_start[i]; k--) {
            const int32_t at = k - TL_BLOCK_SHIFT(single, i);
            const tl_v4 tj = TL_LOAD4(c->t[m->col[k]]);
            u0 += TL_BLOCK4(m, single, at, 0) * tj, u1 += TL_BLOCK4(m, single, at, 3) * tj,
                u2 += TL_BLOCK4(m, single, at, 6) * tj;
        }
        tl_v4 sigma;
        SUMS(sigma, u0, u1, u2);
        const tl_v4 p = TL_LOAD4(c->s[i]) + beta * TL_LOAD4(c->p[i]);
        const tl_v4 d = p - sigma;
        *(tl_v4 *)c->p[i] = p;
        *(tl_v4 *)c->q[i] = sigma;
        *(tl_v4 *)c->t[i] = INVERSE_TIMES(c->inverse[i], d);
    }
}

TL_CLONES static void backward_chunk(void *arg, int32_t begin, int32_t end)
{
    swept *c = arg;
    TL_EITHER_STORAGE(c->m, backward_rows, c, begin, end);
}

// Row i of the links to other chunks times t.
TL_INLINE void links_row(const swept *c, int32_t i, int32_t begin, int32_t end, tl_v4 *out, bool single)
{
    const tl_bsr *m = c->m;
    tl_v4 u0 = {0}, u1 = {0}, u2 = {0}, lo = {0};
    for (int32_t k = m->row_start[i + 1] - 1; k > m->row_start[i] && m->col[k] >= end; k--) {
        const int32_t at = k - TL_BLOCK_SHIFT(single, i);
        const tl_v4 tj = TL_LOAD4(c->t[m->col[k]]);
        u0 += TL_BLOCK4(m, single, at, 0) * tj, u1 += TL_BLOCK4(m, single, at, 3) * tj,
            u2 += TL_BLOCK4(m, single, at, 6) * tj;
    }
    for (int32_t k = m->lower_start[i]; k < m->lower_start[i + 1] && m->lower_row[k] < begin; k++) {
        const int32_t j = m->lower_row[k], at = m->lower_block[k] - TL_BLOCK_SHIFT(single, j);
        const double *tj = c->t[j];
        lo += (TL_SPLAT4(tj[0]) * TL_BLOCK4(m, single, at, 0) + TL_SPLAT4(tj[1]) * TL_BLOCK4(m, single, at, 3)) +
              TL_SPLAT4(tj[2]) * TL_BLOCK4(m, single, at, 6);
    }
    tl_v4 sums;
    SUMS(sums, u0, u1, u2);
    *out = sums + lo;
}

// q = D (D + L)^-1 A t = (p - sigma) + y, y = D v; sum of p (t + v)
TL_INLINE void product_rows(swept *c, int32_t begin, int32_t end, bool single)
{
    double pq = 0, y[ROWS_PER_CHUNK][4];
    for (int32_t i = begin; i < end; i++)
        *(tl_v4 *)y[i - begin] = c->m->extra.add ? (tl_v4){c->extra[i].x, c->extra[i].y, c->extra[i].z, 0} : (tl_v4){0};
    if (c->m->extra.blocks) tl_bsr_rows(c->m->extra.blocks, begin, end, c->t[0], 4, y, true, false);
    for (int32_t i = begin; i < end; i++) {
        const tl_v4 sigma = TL_LOAD4(c->q[i]), p = TL_LOAD4(c->p[i]);
        tl_v4 links;
        links_row(c, i, begin, end, &links, single);
        const tl_v4 dv = (sigma + links) + TL_LOAD4(y[i - begin]);
        const tl_v4 v = INVERSE_TIMES(c->inverse[i], dv);
        *(tl_v4 *)c->q[i] = (p - sigma) + dv;
        const tl_v4 tv = TL_LOAD4(c->t[i]) + v;
        pq += DOT(p, tv);
        send_on(c->m, i, begin, end, &v, y, single);
    }
    c->sum_a[begin / ROWS_PER_CHUNK] = pq;
}

TL_CLONES static void product_chunk(void *arg, int32_t begin, int32_t end)
{
    swept *c = arg;
    TL_EITHER_STORAGE(c->m, product_rows, c, begin, end);
}

// x += alpha t, s -= alpha q; sum of s D^-1 s
TL_CLONES static void update_chunk(void *arg, int32_t begin, int32_t end)
{
    swept *c = arg;
    const tl_v4 alpha = TL_SPLAT4(c->alpha);
    double sum = 0;
    for (int32_t i = begin; i < end; i++) {
        const tl_v4 s = TL_LOAD4(c->s[i]) - alpha * TL_LOAD4(c->q[i]);
        *(tl_v4 *)c->x[i] += alpha * TL_LOAD4(c->t[i]);
        *(tl_v4 *)c->s[i] = s;
        const tl_v4 z = INVERSE_TIMES(c->inverse[i], s);
        sum += DOT(s, z);
    }
    c->sum_a[begin / ROWS_PER_CHUNK] = sum;
}

static tl_status take_scratch(swept *c, const tl_ctx *ctx, tl_error *err)
{
    const int32_t n = c->m->row_count, partials = tl_vec_partials(n), beside = c->m->extra.add ? n : 0;
    double(**rows[])[4] = {&c->x, &c->s, &c->p, &c->t, &c->q};
    bool all = true;
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        *rows[k] = tl_arena_bytes(ctx->arena, (size_t)n, sizeof **rows[k]);
        all = all && *rows[k];
    }
    c->v3 = TL_SCRATCH(ctx->arena, tl_vec3, beside);
    c->extra = TL_SCRATCH(ctx->arena, tl_vec3, beside);
    c->inverse = tl_arena_bytes(ctx->arena, (size_t)n, sizeof *c->inverse);
    c->sum_a = TL_SCRATCH(ctx->arena, double, partials);
    c->sum_b = TL_SCRATCH(ctx->arena, double, partials);
    if (!all || !c->v3 || !c->extra || !c->inverse || !c->sum_a || !c->sum_b)
        return tl_fail_memory(err, "conjugate gradients");
    if (!tl_bsr_invert_diagonal_columns(c->m, ctx->workers, c->inverse))
        return tl_fail(err, TL_FAILED, "matrix: a diagonal block is not positive definite");
    return TL_OK;
}

// E v, of what is applied beside the matrix
static void apply_beside(swept *c, double (*v)[4], tl_workers *workers)
{
    const tl_extra extra = c->m->extra;
    const int32_t n = c->m->row_count;
    if (!extra.add) return;
    for (int32_t i = 0; i < n; i++) c->v3[i] = (tl_vec3){v[i][0], v[i][1], v[i][2]};
    memset(c->extra, 0, (size_t)n * sizeof *c->extra);
    extra.add(extra.self, workers, c->v3, c->extra);
}

// s = b - A x, q = b; without a guess s = b
TL_INLINE void residual_rows(swept *c, int32_t begin, int32_t end, bool single)
{
    double ax[ROWS_PER_CHUNK][4];
    if (c->guess) tl_bsr_rows(c->m, begin, end, c->x[0], 4, ax, false, single);
    if (c->guess && c->m->extra.blocks) tl_bsr_rows(c->m->extra.blocks, begin, end, c->x[0], 4, ax, true, false);
    for (int32_t i = begin; i < end; i++) {
        const tl_v4 b = {c->b[i].x, c->b[i].y, c->b[i].z, 0};
        *(tl_v4 *)c->q[i] = *(tl_v4 *)c->s[i] = b;
        if (c->guess) *(tl_v4 *)c->s[i] -= TL_LOAD4(ax[i - begin]);
        if (c->guess && c->m->extra.add) *(tl_v4 *)c->s[i] -= (tl_v4){c->extra[i].x, c->extra[i].y, c->extra[i].z, 0};
    }
}

TL_CLONES static void residual_chunk(void *arg, int32_t begin, int32_t end)
{
    swept *c = arg;
    TL_EITHER_STORAGE(c->m, residual_rows, c, begin, end);
}

// What is left at the start, swept forward: b M^-1 b and r M^-1 r.
static void begin_from(swept *c, const tl_vec3 *x, tl_workers *workers, double *bb, double *rr)
{
    const int32_t n = c->m->row_count, partials = tl_vec_partials(n);
    for (int32_t i = 0; i < n; i++) {
        *(tl_v4 *)c->x[i] = (tl_v4){x[i].x, x[i].y, x[i].z, 0};
        c->guess = c->guess || x[i].x != 0 || x[i].y != 0 || x[i].z != 0;
    }
    if (c->guess) apply_beside(c, c->x, workers);
    tl_parallel_for(workers, n, ROWS_PER_CHUNK, residual_chunk, c);
    tl_parallel_for(workers, n, ROWS_PER_CHUNK, forward_chunk, c);
    *rr = tl_tree_sum(c->sum_a, partials);
    *bb = c->guess ? tl_tree_sum(c->sum_b, partials) : *rr;
    memset(c->p, 0, (size_t)n * sizeof *c->p);
}

#define SWEPT_PRODUCTS 1.5  // an iteration, in products

static tl_status iterate(swept *c, const tl_vec3 *x, tl_pcg_stop stop, tl_workers *workers, tl_solve_report *report,
                         tl_error *err)
{
    const int32_t n = c->m->row_count, partials = tl_vec_partials(n);
    double bb, rr, rr_old = 0;
    begin_from(c, x, workers, &bb, &rr);
    if (!isfinite(bb) || !isfinite(rr)) return tl_fail(err, TL_FAILED, "linear system: a number is not finite");
    if (bb == 0) {  // the answer is known, and a relative residual is not
        memset(c->x, 0, (size_t)n * sizeof *c->x);
        return TL_OK;
    }
    report->first_residual = sqrt(rr / bb), report->scale = sqrt(bb);
    const double goal = tl_pcg_goal(stop, bb);
    for (int32_t it = 0;; it++) {
        report->iterations = it;
        report->residual = sqrt(rr / bb);
        report->converged = rr <= goal;
        if (report->converged || it >= stop.max_iterations) return TL_OK;
        if (it % TL_PCG_POLL == TL_PCG_POLL - 1) {
            TL_TRY(tl_workers_poll(workers, "a linear solve", err));
            if (tl_workers_exhausted(workers)) return TL_OK;
        }
        tl_workers_charge(workers, SWEPT_PRODUCTS * tl_pcg_cost(c->m));
        if (!(rr > 0)) return tl_fail(err, TL_FAILED, "conjugate gradients: r M^-1 r is %g at iteration %d", rr, it);
        c->beta = it == 0 ? 0 : rr / rr_old;
        tl_parallel_for(workers, n, ROWS_PER_CHUNK, backward_chunk, c);
        apply_beside(c, c->t, workers);
        tl_parallel_for(workers, n, ROWS_PER_CHUNK, product_chunk, c);
        const double pq = tl_tree_sum(c->sum_a, partials);
        if (!(pq > 0) || !isfinite(pq))
            return tl_fail(err, TL_FAILED, "matrix is not positive definite: p A p is %g at iteration %d", pq, it);
        c->alpha = rr / pq;
        rr_old = rr;
        tl_parallel_for(workers, n, ROWS_PER_CHUNK, update_chunk, c);
        rr = tl_tree_sum(c->sum_a, partials);
        if (!isfinite(rr)) return tl_fail(err, TL_FAILED, "conjugate gradients: residual is not finite");
    }
}

tl_status tl_pcg_swept(const tl_bsr *m, tl_pcg_stop stop, const tl_vec3 *b, tl_vec3 *x, const tl_ctx *ctx,
                       tl_solve_report *report, tl_error *err)
{
    report->iterations = 0, report->first_residual = report->residual = report->scale = 0, report->converged = true;
    if (m->row_count == 0) return TL_OK;
    const tl_arena_mark mark = tl_arena_save(ctx->arena);
    swept c = {.m = m, .b = b};
    tl_status status = take_scratch(&c, ctx, err);
    if (status == TL_OK) status = iterate(&c, x, stop, ctx->workers, report, err);
    for (int32_t i = 0; i < m->row_count && status == TL_OK; i++) x[i] = (tl_vec3){c.x[i][0], c.x[i][1], c.x[i][2]};
    if (status != TL_OK) report->converged = false;
    tl_arena_release(ctx->arena, mark);
    return status;
}
