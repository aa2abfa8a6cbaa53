// math/solver_cholmod.c: optional backend. CHOLMOD's supernodal part is GPL, so it is never built in by
// default.
//
// CHOLMOD brings its own memory (malloc), threads and order; its bits may depend on the BLAS. Use it to
// compare.

#include "math/solver_cholmod.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "math/bsr_row.h"

bool tl_solver_has_cholmod(void)
{
#ifdef TL_WITH_CHOLMOD
    return true;
#else
    return false;
#endif
}

#ifdef TL_WITH_CHOLMOD
#include <cholmod.h>

// Debian's CHOLMOD 5.12 asks OpenMP for 4 threads in its assembly loops whatever the environment says, which
// costs up to a hundredfold on few cores. Without active levels it gets one. Declared weak: absent without
// OpenMP.
extern void omp_set_max_active_levels(int levels) __attribute__((weak));

struct tl_cholmod {
    tl_allocator alloc;
    cholmod_common common;
    cholmod_sparse *a;  // upper triangle by columns
    cholmod_factor *l;
};

void tl_cholmod_destroy(tl_cholmod *cm)
{
    if (!cm) return;
    const tl_allocator alloc = cm->alloc;
    cholmod_free_factor(&cm->l, &cm->common);
    cholmod_free_sparse(&cm->a, &cm->common);
    cholmod_finish(&cm->common);
    TL_FREE(&alloc, cm, 1);
}

// Column 3 j + c of the upper triangle: blocks (i, j), i < j, through the lower references, then the
// diagonal.
static void fill_pattern(tl_cholmod *cm, const tl_bsr *m)
{
    int *start = cm->a->p, *row = cm->a->i, at = 0;
    for (int32_t j = 0; j < m->row_count; j++)
        for (int32_t c = 0; c < 3; c++) {
            start[3 * j + c] = at;
            for (int32_t k = m->lower_start[j]; k < m->lower_start[j + 1]; k++)
                for (int32_t r = 0; r < 3; r++) row[at++] = 3 * m->lower_row[k] + r;
            for (int32_t r = 0; r <= c; r++) row[at++] = 3 * j + r;
        }
    start[3 * m->row_count] = at;
}

tl_status tl_cholmod_create(const tl_allocator *alloc, const tl_bsr *m, tl_cholmod **out, tl_error *err)
{
    *out = NULL;
    if (m->block_count > INT32_MAX / 9) return tl_fail(err, TL_BAD_ARG, "matrix is too large for CHOLMOD");
    tl_cholmod *cm = TL_CALLOC(alloc, tl_cholmod, 1);
    if (!cm) return tl_fail_memory(err, "CHOLMOD");
    cm->alloc = *alloc;
    cholmod_start(&cm->common);
    cm->common.print = 0;
    cm->common.quick_return_if_not_posdef = 1;
    if (omp_set_max_active_levels) omp_set_max_active_levels(0);
    const size_t n = 3 * (size_t)m->row_count;
    const size_t count = 9 * (size_t)m->block_count - 3 * (size_t)m->row_count;
    cm->a = cholmod_allocate_sparse(n, n, count, 1, 1, 1, CHOLMOD_REAL, &cm->common);
    if (cm->a) {
        fill_pattern(cm, m);
        cm->l = cholmod_analyze(cm->a, &cm->common);
    }
    if (!cm->l) {
        tl_cholmod_destroy(cm);
        return tl_fail_memory(err, "CHOLMOD");
    }
    *out = cm;
    return TL_OK;
}

tl_status tl_cholmod_factor(tl_cholmod *cm, const tl_bsr *m, tl_error *err)
{
    double *x = cm->a->x;
    int64_t at = 0;  // the order of fill_pattern
    for (int32_t j = 0; j < m->row_count; j++)
        for (int32_t c = 0; c < 3; c++) {
            double room[9];
            for (int32_t k = m->lower_start[j]; k < m->lower_start[j + 1]; k++) {
                const double *a = tl_bsr_block(m, m->lower_row[k], m->lower_block[k], room);
                for (int32_t r = 0; r < 3; r++) x[at++] = a[3 * r + c];
            }
            for (int32_t r = 0; r <= c; r++) x[at++] = tl_bsr_diagonal(m, j)[3 * r + c];
        }
    if (!cholmod_factorize(cm->a, cm->l, &cm->common) || cm->common.status != CHOLMOD_OK || cm->l->minor < cm->l->n)
        return tl_fail(err, TL_FAILED, "CHOLMOD: the matrix is not positive definite or not finite (%d)",
                       cm->common.status);
    return TL_OK;
}

tl_status tl_cholmod_solve(tl_cholmod *cm, const tl_vec3 *b, tl_vec3 *x, tl_error *err)
{
    const size_t n = cm->l->n;
    cholmod_dense *rhs = cholmod_allocate_dense(n, 1, n, CHOLMOD_REAL, &cm->common);
    cholmod_dense *answer = NULL;
    if (rhs) {
        double *to = rhs->x;
        for (size_t i = 0; i < n / 3; i++) to[3 * i] = b[i].x, to[3 * i + 1] = b[i].y, to[3 * i + 2] = b[i].z;
        answer = cholmod_solve(CHOLMOD_A, cm->l, rhs, &cm->common);
    }
    const double *from = answer ? answer->x : NULL;
    for (size_t i = 0; from && i < n / 3; i++) x[i] = (tl_vec3){from[3 * i], from[3 * i + 1], from[3 * i + 2]};
    cholmod_free_dense(&rhs, &cm->common);
    cholmod_free_dense(&answer, &cm->common);
    return from ? TL_OK : tl_fail_memory(err, "CHOLMOD solve");
}
#else
tl_status tl_cholmod_create(const tl_allocator *alloc, const tl_bsr *matrix, tl_cholmod **out, tl_error *err)
{
    (void)alloc, (void)matrix;
    *out = NULL;
    return tl_fail(err, TL_BAD_ARG, "linear solver cholmod is not part of this build (take another, docs/solvers.md)");
}

void tl_cholmod_destroy(tl_cholmod *cm) { (void)cm; }

tl_status tl_cholmod_factor(tl_cholmod *cm, const tl_bsr *matrix, tl_error *err)
{
    (void)cm, (void)matrix;
    return tl_fail(err, TL_BAD_ARG, "solver: CHOLMOD is not part of this build");
}

tl_status tl_cholmod_solve(tl_cholmod *cm, const tl_vec3 *b, tl_vec3 *x, tl_error *err)
{
    (void)cm, (void)b, (void)x;
    return tl_fail(err, TL_BAD_ARG, "solver: CHOLMOD is not part of this build");
}
#endif
