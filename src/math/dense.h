// math/dense.h: the inner loops of the Cholesky factorization, in panels of 8 rows (see cholesky_impl.h).
#pragma once
#include <stdbool.h>
#include <stdint.h>

/// c[r] -= a[r] b^T for up to three panels r of 8 rows: c[r][8 j + i] -= sum over k of a[r][8 k + i] b[8 k +
/// j], the sum over k = 0 .. depth-1 in order, then one subtraction: the same bits for every instruction set.
/// Only the first `cols` <= 8 columns are written.
typedef void (*tl_dense_update)(int32_t depth, int32_t panels, const double *const a[3], const double *b,
                                double *const c[3], int32_t cols);

/// The ones this machine can run, best first; NULL past the last. Number 0 always exists.
tl_dense_update tl_dense_update_at(int32_t number);

/// Cholesky factor of a tile of `cols` columns, in place; the diagonal is replaced by its inverse. False: a
/// pivot is not positive or not finite.
bool tl_dense_factor_tile(double *tile, int32_t cols);

/// Rows of `tile` times the inverse transpose of a factored tile.
void tl_dense_solve_tile(const double *factored, double *tile, int32_t cols);
