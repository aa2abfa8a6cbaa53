// math/bsr.h: what the solvers need of the block matrix beyond math/solver.h.
#pragma once
#include "math/solver.h"

/// Bytes held by the matrix.
size_t tl_bsr_memory(const tl_bsr *matrix);

/// The sum of `a` and `b`, which have the same rows, in single storage. Off the diagonal entries are rounded; what that
/// changes is added to the diagonal, so that the sum of semidefinite matrices stays so.
tl_status tl_bsr_join(const tl_allocator *alloc, const tl_bsr *a, const tl_bsr *b, tl_bsr **out, tl_error *err);

/// The same in double, and exactly. If *sum (may be NULL) has a place for every block, it is filled anew and `kept`:
/// what was made of its pattern still holds. Else it is replaced; on failure it stays.
tl_status tl_bsr_sum(const tl_allocator *alloc, const tl_bsr *a, const tl_bsr *b, tl_bsr **sum, bool *kept,
                     tl_error *err);

/// A matrix with count[i] blocks right of the diagonal in row i. The caller fills `col`, ascending from the diagonal
/// on, and calls tl_bsr_refer.
tl_status tl_bsr_create_rows(const tl_allocator *alloc, int32_t row_count, const int32_t *count, bool single,
                             tl_bsr **out, tl_error *err);

/// Fills the references to the lower triangle from row_start and col; lower_start is to be zero.
void tl_bsr_refer(tl_bsr *matrix);

/// Rows `rows` (ascending) and their columns as a matrix of its own, in memory of the arena. place[j]: number of row j
/// among them, or -1.
tl_status tl_bsr_part(const tl_bsr *matrix, const int32_t *rows, int32_t count, const int32_t *place, tl_arena *arena,
                      tl_bsr *out, tl_error *err);
