// dynamics/baraff_witkin/mpcg.c: conjugate gradients whose every vector is filtered (Baraff & Witkin 1998, sec. 5.3;
// the guess as Ascher & Boxerman 2003 have it).

#include "dynamics/baraff_witkin/mpcg.h"

#include <math.h>

#include "base/fail.h"
#include "math/bsr_row.h"
#include "math/vec3.h"

enum { ROWS_PER_CHUNK = 512 };

typedef struct cg {
    const tl_bsr *m;
    const tl_directions *barred;
    const tl_ctx *ctx;
    double (*inverse)[6];
    double *partial;
    tl_vec3 *r, *c, *q, *s;
    const tl_vec3 *b;
    tl_vec3 *x;
    double alpha, beta;
} cg;

static tl_status take(cg *k, tl_error *err)
{
    tl_arena *arena = k->ctx->arena;
    const int32_t n = k->m->row_count;
    k->inverse = tl_arena_bytes(arena, (size_t)n, sizeof *k->inverse);
    k->partial = TL_SCRATCH(arena, double, tl_vec_partials(n));
    k->r = TL_SCRATCH(arena, tl_vec3, n), k->c = TL_SCRATCH(arena, tl_vec3, n);
    k->q = TL_SCRATCH(arena, tl_vec3, n), k->s = TL_SCRATCH(arena, tl_vec3, n);
    const bool all = k->inverse && k->partial && k->r && k->c && k->q && k->s;
    return all ? TL_OK : tl_fail_memory(err, "conjugate gradients");
}

// The guess, with what is given along barred directions.
static void begin_chunk(void *arg, int32_t begin, int32_t end)
{
    const cg *k = arg;
    for (int32_t i = begin; i < end; i++) k->x[i] = tl_directions_filter(&k->barred[i], k->x[i]);
}

// r = filter(b - A x), q holding A x
static void residual_chunk(void *arg, int32_t begin, int32_t end)
{
    const cg *k = arg;
    for (int32_t i = begin; i < end; i++) {
        k->r[i] = tl_directions_project(&k->barred[i], tl_sub3(k->b[i], k->q[i]));
        k->s[i] = tl_directions_project(&k->barred[i], k->b[i]);
    }
}

// c = filter(P^-1 r)
static void precondition_chunk(void *arg, int32_t begin, int32_t end)
{
    const cg *k = arg;
    for (int32_t i = begin; i < end; i++)
        k->s[i] = tl_directions_project(&k->barred[i], tl_sym3_apply(k->inverse[i], k->r[i]));
}

static void direction_chunk(void *arg, int32_t begin, int32_t end)
{
    const cg *k = arg;
    for (int32_t i = begin; i < end; i++) k->c[i] = tl_madd3(k->s[i], k->beta, k->c[i]);
}

static void filter_product_chunk(void *arg, int32_t begin, int32_t end)
{
    const cg *k = arg;
    for (int32_t i = begin; i < end; i++) k->q[i] = tl_directions_project(&k->barred[i], k->q[i]);
}

static void update_chunk(void *arg, int32_t begin, int32_t end)
{
    const cg *k = arg;
    for (int32_t i = begin; i < end; i++) {
        k->x[i] = tl_madd3(k->x[i], k->alpha, k->c[i]);
        k->r[i] = tl_madd3(k->r[i], -k->alpha, k->q[i]);
    }
}

static void all(cg *k, void (*run)(void *, int32_t, int32_t))
{
    tl_parallel_for(k->ctx->workers, k->m->row_count, ROWS_PER_CHUNK, run, k);
}

static double dot(const cg *k, const tl_vec3 *a, const tl_vec3 *b)
{
    return tl_vec_dot(k->ctx->workers, k->m->row_count, a, b, k->partial);
}

// Size of the filtered right side in the norm of the preconditioner; uses `c`.
static double size_of_b(cg *k)
{
    const int32_t n = k->m->row_count;
    for (int32_t i = 0; i < n; i++)
        k->c[i] = tl_directions_project(&k->barred[i], tl_sym3_apply(k->inverse[i], k->s[i]));
    return dot(k, k->s, k->c);
}

static tl_status iterate(cg *k, tl_pcg_stop stop, bw_pcg_report *report, tl_error *err)
{
    tl_workers *workers = k->ctx->workers;
    all(k, begin_chunk);
    tl_bsr_multiply(k->m, workers, k->x, k->q);
    all(k, residual_chunk);
    const double size = size_of_b(k), goal = stop.tolerance * stop.tolerance * size;
    all(k, precondition_chunk);
    double now = dot(k, k->r, k->s);
    for (int32_t i = 0; i < k->m->row_count; i++) k->c[i] = k->s[i];
    for (int32_t it = 0;; it++) {
        if (!isfinite(now) || !isfinite(size)) return tl_fail(err, TL_FAILED, "the linear system is not finite");
        *report = (bw_pcg_report){it, size > 0 ? sqrt(fmax(now, 0) / size) : 0, now <= goal};
        if (report->converged || it >= stop.max_iterations) return TL_OK;
        if (it % TL_PCG_POLL == TL_PCG_POLL - 1) {
            TL_TRY(tl_workers_poll(workers, "a linear solve", err));
            if (tl_workers_exhausted(workers)) return TL_OK;
        }
        tl_workers_charge(workers, tl_pcg_cost(k->m));
        tl_bsr_multiply(k->m, workers, k->c, k->q);
        all(k, filter_product_chunk);
        const double along = dot(k, k->c, k->q);
        if (!(along > 0)) return tl_fail(err, TL_FAILED, "the matrix is not positive definite: %g", along);
        k->alpha = now / along;
        all(k, update_chunk);
        all(k, precondition_chunk);
        const double before = now;
        now = dot(k, k->r, k->s);
        k->beta = now / before;
        all(k, direction_chunk);
    }
}

tl_status bw_pcg(const tl_bsr *matrix, const tl_directions *barred, tl_pcg_stop stop, const tl_vec3 *b, tl_vec3 *dv,
                 const tl_ctx *ctx, bw_pcg_report *report, tl_error *err)
{
    const tl_arena_mark mark = tl_arena_save(ctx->arena);
    cg k = {.m = matrix, .barred = barred, .ctx = ctx, .b = b, .x = dv};
    *report = (bw_pcg_report){0, 0, false};
    tl_status status = take(&k, err);
    if (status == TL_OK && !tl_bsr_invert_diagonal(matrix, ctx->workers, k.inverse))
        status = tl_fail(err, TL_FAILED, "a diagonal block is not positive definite");
    if (status == TL_OK) status = iterate(&k, stop, report, err);
    tl_arena_release(ctx->arena, mark);
    return status;
}
