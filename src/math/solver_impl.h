// math/solver_impl.h: what the files of the solver share.
#pragma once
#include "base/alloc.h"
#include "math/bsr.h"
#include "math/cholesky.h"
#include "math/multilevel.h"
#include "math/solver.h"
#include "math/solver_cholmod.h"
#include "math/solver_cost.h"

struct tl_solver {
    tl_allocator alloc;
    tl_solver_def def;
    const tl_bsr *matrix;
    uint8_t *fixed;      // a copy, for the levels; NULL if the kind needs none
    int32_t copied;      // its rows
    const tl_vec3 *pos;  // the caller's
    uint64_t version;    // of the values; that of what was made from them:
    uint64_t factor_version, levels_version;
    tl_cholesky *factor;  // float except for kind direct
    tl_bsr *whole;        // what it is made of where the matrix has had blocks beside it: their sum
    tl_multilevel *levels;
    tl_bsr *joint;  // what the levels are made of while the matrix has blocks beside it: their sum then
    tl_cholmod *cholmod;
    tl_aging factor_age, levels_age;
    tl_experience experience;
    tl_solver_kind current;  // auto's last choice
    int32_t solves;          // on this pattern
    int32_t most;            // iterations of a solve
    struct {
        double part;  // of what the first solve may leave, that others may; 0: each goes by its own right side
        double left, left_swept;  // what others may leave, in the norms of tl_pcg and tl_pcg_swept; 0: not known yet
    } series;
};

void solver_drop_factor(tl_solver *s);  ///< with its analysis
