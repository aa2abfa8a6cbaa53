// math/solver_cost.h: what each way of solving is expected to cost, from counts alone.
//
// Nanoseconds of one core of the machine of docs/solvers.md; only ratios matter. No clock is read and the
// number of workers does not enter, so that every run decides alike.
#pragma once
#include "math/solver.h"

enum { TL_SOLVER_KINDS = TL_SOLVER_CHOLMOD + 1 };

/// When to renew something that ages (a factor, coarse levels): as soon as the next solve with the old one
/// costs more than the average solve since the renewal did, the renewal included (the classical replacement
/// rule).
typedef struct tl_aging {
    double renewal, spent, last;
    int32_t solves;
} tl_aging;

void tl_aging_renewed(tl_aging *aging, double cost);
void tl_aging_used(tl_aging *aging, double cost);
bool tl_aging_renew(const tl_aging *aging);

/// Experience, kept across patterns.
typedef struct tl_experience {
    double rate[TL_SOLVER_KINDS];   ///< iterations per decade; for PCG over sqrt(rows)
    double reuse[TL_SOLVER_KINDS];  ///< solves per factor or per set of levels
    double solves_per_pattern;
} tl_experience;
tl_experience tl_experience_default(void);
void tl_experience_add(tl_experience *experience, tl_solver_kind kind, int32_t rows, double iterations, double decades);

/// What is known of the system at hand. `factor_flops` and `factor_entries` are 0 before the analysis.
typedef struct tl_system {
    int32_t rows, blocks;
    double factor_flops, factor_entries;
    bool beside;  ///< some of the blocks are beside the matrix: levels are of another kind
    bool analysed, levels_made;
    double solves_ahead;  ///< on this pattern, at least 1
} tl_system;

double tl_cost_iteration(const tl_system *system, tl_solver_kind kind);
double tl_cost_renewal(const tl_system *system, tl_solver_kind kind);
double
tl_cost_making(const tl_system *system,
               tl_solver_kind kind);  ///< of levels or a factor where there are none; the pattern of a factor is known
double tl_cost_solve(const tl_system *system, const tl_experience *experience, tl_solver_kind kind, double decades);

/// May auto use it at all? A factor takes kilobytes per row: not for large systems. Nor does it see blocks beside the
/// matrix.
bool tl_cost_allowed(const tl_system *system, tl_solver_kind kind);
