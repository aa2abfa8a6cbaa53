// math/solver.h: one small interface in front of every linear solver of the engine.
//
// The matrix is symmetric positive definite in 3x3 blocks. The pattern changes when the mesh does, the
// values change every Newton iteration.
#pragma once
#include <stdbool.h>

#include "base/arena.h"
#include "base/workers.h"
#include "toile/base.h"

/// Symmetric parts of a matrix that are not stored in it; the sum with what is stored must be positive definite, and so
/// must what is stored. `add(self, workers, x, y)` does y += E x, which no preconditioner sees. `blocks` has the same
/// rows, in double and with a pattern of its own that may change from solve to solve; the multilevel preconditioner
/// sees it. NULL: none.
typedef struct tl_extra {
    void (*add)(void *self, tl_workers *workers, const tl_vec3 *x, tl_vec3 *y);
    void *self;
    const struct tl_bsr *blocks;
} tl_extra;

/// Symmetric block matrix, upper triangle by rows: row i holds its diagonal block first, then the blocks
/// (i, j), j > i, columns ascending. A block is 9 numbers, row by row.
///
/// Values are kept in one of two ways. Double: `value`. Single (tl_bsr_to_single): blocks off the diagonal in float,
/// half the memory traffic of every product; those on it in double, since they collect mass and the most terms. Vectors
/// and sums are double either way. tl_bsr_block (bsr_row.h) reads both.
typedef struct tl_bsr {
    int32_t row_count;
    int32_t block_count;
    int32_t *row_start;  ///< [row_count + 1] into col / value
    int32_t *col;        ///< [block_count]
    double (*value)[9];  ///< [block_count], NULL if single
    float (
        *single)[9];  ///< [block_count - row_count], NULL if double: block k of row i, k > row_start[i], at k - i - 1
    double (*diagonal)[9];  ///< [row_count], NULL if double
    // The strictly lower triangle as references into the upper one, for products by gathering:
    int32_t *lower_start;  ///< [row_count + 1]
    int32_t *lower_row;    ///< column j < i of entry (i, j)
    int32_t *lower_block;  ///< block (j, i), to be used transposed
    uint8_t *busy;         ///< [row_count] 0: a row of zeros alone, for matrices that are mostly so; NULL: not known
    tl_extra extra;        ///< what conjugate gradients add to the product; set and cleared by the caller
} tl_bsr;

/// Builds the pattern from groups of rows that couple with each other (an element's nodes): group g is
/// items[start[g]] .. items[start[g+1]-1]. Every row gets its diagonal. Values start at zero.
tl_status tl_bsr_create(const tl_allocator *alloc, int32_t row_count, int32_t group_count, const int32_t *start,
                        const int32_t *items, tl_bsr **out, tl_error *err);
void tl_bsr_destroy(const tl_allocator *alloc, tl_bsr *matrix);

/// Changes a matrix in double to single storage, values rounded; nothing to do if it is. On failure it stays as it was.
tl_status tl_bsr_to_single(const tl_allocator *alloc, tl_bsr *matrix, tl_error *err);

/// Index of block (i, j) with i <= j, or -1.
int32_t tl_bsr_find(const tl_bsr *matrix, int32_t i, int32_t j);

/// y = A x, parallel, same bits for any number of workers.
void tl_bsr_multiply(const tl_bsr *matrix, tl_workers *workers, const tl_vec3 *x, tl_vec3 *y);

typedef enum tl_solver_kind {
    TL_SOLVER_AUTO,        ///< picks from counts (rows, blocks, iterations seen), never from a clock
    TL_SOLVER_PCG,         ///< conjugate gradients, Gauss-Seidel sweeps
    TL_SOLVER_MULTILEVEL,  ///< conjugate gradients, multilevel preconditioner
    TL_SOLVER_DIRECT,      ///< multifrontal Cholesky, refactored at each new matrix
    TL_SOLVER_STALE,       ///< conjugate gradients, preconditioned by an older factor, renewed when it ages
    TL_SOLVER_CHOLMOD,     ///< optional build only
} tl_solver_kind;

/// "auto", "pcg", "multilevel", "direct", "stale", "cholmod"
const char *tl_solver_kind_name(tl_solver_kind kind);

typedef struct tl_solver tl_solver;

typedef struct tl_solver_def {
    tl_solver_kind kind;
    int32_t max_iterations;  ///< of conjugate gradients. Default 2000.
} tl_solver_def;
tl_solver_def tl_solver_def_default(void);

typedef struct tl_solve_report {
    tl_solver_kind used;
    int32_t iterations;      ///< conjugate-gradient iterations, 0 for a direct solve
    int32_t factorizations;  ///< of the full matrix
    double first_residual;   ///< |b - A x| / |b| of the guess
    double residual;         ///< the same reached, by recurrence
    double scale;            ///< |b|, in the norm in which residuals were measured
    bool converged;
} tl_solve_report;

tl_status tl_solver_create(const tl_allocator *alloc, const tl_solver_def *def, tl_solver **out, tl_error *err);
void tl_solver_destroy(tl_solver *solver);

/// Tells the pattern and where the nodes are (both borrowed until the next call or destroy; `pos` may be NULL for
/// other kinds than auto and multilevel). What was learnt about costs is kept. On failure the solver has
/// no pattern.
tl_status tl_solver_pattern(tl_solver *solver, const tl_bsr *matrix, const tl_vec3 *pos, tl_error *err);

/// Tells that the values of the matrix have changed; cheap, work is done lazily by tl_solver_solve.
/// `fixed` (may be NULL): rows that hold an identity block and nothing else off the diagonal. `pos`: current nodes,
/// or NULL for those told before; borrowed until told anew. `fixed` is copied if needed.
void tl_solver_values(tl_solver *solver, const uint8_t *fixed, const tl_vec3 *pos);

/// Solves A x = b to |b - A x| <= tolerance |b| (`pcg`: in an energy, to twice the tolerance, math/pcg.h); `x` holds
/// the first guess and receives the answer. Scratch comes from `arena`. TL_FAILED, `x` unchanged, if the matrix is not
/// positive definite or not finite; running out of iterations is TL_OK with `converged` false. `report` may be NULL.
/// Allocates only at the first solve of a kind after tl_solver_pattern. Same bits for any number of workers.
tl_status tl_solver_solve(tl_solver *solver, double tolerance, const tl_vec3 *b, tl_vec3 *x, tl_arena *arena,
                          tl_workers *workers, tl_solve_report *report, tl_error *err);

/// The solves from now on belong together, as those of Newton's iterations of one time step do: what is left of a later
/// one is small enough, too, if it is no more than `part` of what the first of them may leave. So the last of them,
/// whose right sides are small, are not solved to digits that the first ones did not have. 0: each goes by its own
/// right side, as at the beginning.
void tl_solver_series(tl_solver *solver, double part);

/// No solve from now on takes more iterations than this, nor more than the definition says.
void tl_solver_limit(tl_solver *solver, int32_t iterations);

/// Drops factors and levels made from earlier values, so that what follows depends on the notes alone. A simulation
/// does this at fixed steps: between two such points a run can be repeated to the bit.
void tl_solver_restart(tl_solver *solver);

/// What the solver has learned (choices of auto), as bytes to save and load again on the same pattern.
enum { TL_SOLVER_NOTES = 256 };
void tl_solver_save_notes(const tl_solver *solver, uint8_t out[TL_SOLVER_NOTES]);
tl_status tl_solver_load_notes(tl_solver *solver, const uint8_t in[TL_SOLVER_NOTES], tl_error *err);

/// Bytes held, for reports.
size_t tl_solver_memory(const tl_solver *solver);
