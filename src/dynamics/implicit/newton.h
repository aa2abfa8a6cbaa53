// dynamics/implicit/newton.h: minimise the incremental potential of one step by Newton's method with a line search.
#pragma once
#include "base/ctx.h"
#include "math/solver.h"
#include "physics/forces.h"
#include "physics/term.h"

typedef struct tl_newton_def {
    int32_t iterations;       ///< at most; 1: one linearised step, no test
    double tolerance;         ///< stop when an update changes speeds by no more than this, root mean square [m/s]
    double linear_tolerance;  ///< relative residual asked of the linear solver
    double speed;             ///< of the nodes at the start, root mean square [m/s]: slow motion is solved finer
    double longest;           ///< with a term that clips: no node goes further than this in one iteration [m]
    int32_t rounds;           ///< of new multipliers at most
    int32_t idle_rounds;      ///< of those, in a row without progress at most
    bool may_fail;            ///< slow progress is a reason to give up: the caller would rather take two smaller steps
    bool must_arrive;         ///< the answer is taken in any case: go on until nothing is left (tl_term_kind.left)
    bool hurry;               ///< the budget of the step is spent: a few iterations, and what they come to is taken
    bool thorough;            ///< no step follows that would make up for what this one leaves: nothing is let go early
    bool mend;                ///< the guess is the answer but for constraints that it may not meet
} tl_newton_def;

typedef struct tl_newton_report {
    int32_t iterations, linear_iterations, factorizations;
    tl_solver_kind used;
    double change;  ///< of speeds by the last update, root mean square over the nodes [m/s]
    bool converged;
    int32_t rounds;           ///< of new multipliers
    int32_t part_iterations;  ///< in which only nodes near unmet constraints moved, not among `iterations`
    double excess;            ///< over the constraints, at the end
    bool met;                 ///< they are, within their tolerance
    bool spent;               ///< ended before its time, as the budget was spent
    int32_t repaired;         ///< iterations of parts for faces that a coarse end would have left crushed or drawn out
    bool gave_up;             ///< no way down was found where the answer had to be taken: it is where the search stood
} tl_newton_report;

/// What is solved, all borrowed.
typedef struct tl_newton_problem {
    tl_elements *elements;
    const tl_step_def *step;
    tl_bsr *matrix;
    tl_solver *solver;
    tl_term *terms;  ///< beside the cloth's own potential, `term_count` of them; their seconds are added to
    int32_t term_count;
} tl_newton_problem;

/// `x` holds the first guess, with fixed nodes in place, and receives the minimiser. TL_FAILED if numbers stop being
/// finite or no descent is found; then `x` is not to be used.
tl_status tl_newton_solve(const tl_newton_problem *problem, const tl_newton_def *def, tl_vec3 *x, const tl_ctx *ctx,
                          tl_newton_report *report, tl_error *err);
