// math/cholesky.h: sparse Cholesky factor of a symmetric matrix of 3x3 blocks, multifrontal.
//
// Life: create (reads the pattern), factor (reads the values, again and again), solve. Only create allocates.
#pragma once
#include "math/solver.h"

typedef struct tl_cholesky tl_cholesky;

typedef struct tl_cholesky_info {
    double flops;     ///< multiplications and additions of one factorization
    int64_t entries;  ///< numbers stored, explicit zeros and padding included
    size_t memory;    ///< bytes held
} tl_cholesky_info;

/// Orders and analyses the pattern of `matrix`. `single`: keeps the factor in float (computed in double),
/// half the memory for an answer good to about 1e-7 times the condition number: a preconditioner.
tl_status tl_cholesky_create(const tl_allocator *alloc, const tl_bsr *matrix, bool single, tl_cholesky **out,
                             tl_error *err);
void tl_cholesky_destroy(tl_cholesky *factor);  ///< NULL is fine

/// L L^T = P A P^T. `matrix` has the pattern of create. TL_FAILED: a pivot is not positive or not finite; the
/// factor must not be used until a later call succeeds. Same bits for any number of workers; allocates
/// nothing.
tl_status tl_cholesky_factor(tl_cholesky *factor, const tl_bsr *matrix, tl_workers *workers, tl_error *err);

/// x = A^-1 b; `x` and `b` may be the same.
void tl_cholesky_solve(tl_cholesky *factor, tl_workers *workers, const tl_vec3 *b, tl_vec3 *x);

tl_cholesky_info tl_cholesky_describe(const tl_cholesky *factor);
