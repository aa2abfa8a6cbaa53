// math/pcg.h: preconditioned conjugate gradients, same bits for any number of workers.
#pragma once
#include "base/ctx.h"
#include "math/solver.h"

/// z = M^-1 r for a fixed symmetric positive definite M. `r` and `z` never overlap.
typedef struct tl_precond {
    void (*apply)(void *self, tl_workers *workers, const tl_vec3 *r, tl_vec3 *z);
    void *self;
    double cost;  ///< of one application, by the model of tl_workers_charge [ns]
} tl_precond;

enum { TL_PCG_POLL = 16 };  // iterations between two looks at whether the work is still wanted (tl_workers_poll)

/// When to stop.
typedef struct tl_pcg_stop {
    double tolerance;  ///< of the residual, relative to |b|
    int32_t max_iterations;
    double least;  ///< a residual of this norm is small enough, too, but at most 0.3 |b|. Default 0.
} tl_pcg_stop;

/// Square of the norm to come below. However small a right side is, its answer is looked for: who reads from it how far
/// there is still to go would be misled by none.
static inline double tl_pcg_goal(tl_pcg_stop stop, double b_squared)
{
    const double loosest = 0.3 * 0.3 * b_squared, least = stop.least * stop.least;
    const double wanted = stop.tolerance * stop.tolerance * b_squared, other = least < loosest ? least : loosest;
    return wanted > other ? wanted : other;
}

/// Solves A x = b from the guess in `x` to |b - A x| <= tolerance |b| (by recurrence). TL_FAILED, `x` as it was: the
/// matrix is not positive definite or something is not finite. Running out of iterations, or
/// of what workers are allowed, is TL_OK with report->converged false. Fills iterations, residual and converged.
tl_status tl_pcg(const tl_bsr *matrix, const tl_precond *precond, tl_pcg_stop stop, const tl_vec3 *b, tl_vec3 *x,
                 const tl_ctx *ctx, tl_solve_report *report, tl_error *err);

/// The same, preconditioned by symmetric Gauss-Seidel sweeps inside chunks of rows (Eisenstat 1981). Residuals, also
/// those of the report, are measured as sqrt(r M^-1 r), M the preconditioner: an energy, which is at hand.
tl_status tl_pcg_swept(const tl_bsr *matrix, tl_pcg_stop stop, const tl_vec3 *b, tl_vec3 *x, const tl_ctx *ctx,
                       tl_solve_report *report, tl_error *err);

/// What a product and the vectors of an iteration cost, by the model of tl_workers_charge [ns].
double tl_pcg_cost(const tl_bsr *matrix);

/// Sums in fixed chunks and a fixed tree; `partial` holds tl_vec_partials(n) numbers.
int32_t tl_vec_partials(int32_t n);
double tl_vec_dot(tl_workers *workers, int32_t n, const tl_vec3 *a, const tl_vec3 *b, double *partial);

/// Inverses of the diagonal blocks as (xx, xy, xz, yy, yz, zz). False if one is not positive definite.
bool tl_bsr_invert_diagonal(const tl_bsr *matrix, tl_workers *workers, double (*inverse)[6]);
/// The same as whole blocks, each of three columns of three numbers and a zero.
bool tl_bsr_invert_diagonal_columns(const tl_bsr *matrix, tl_workers *workers, double (*columns)[12]);
