// math/solver_cholmod.h: CHOLMOD behind the same interface; only with TL_WITH_CHOLMOD.
#pragma once
#include "math/solver.h"

typedef struct tl_cholmod tl_cholmod;

bool tl_solver_has_cholmod(void);  ///< is it built in?

/// TL_BAD_ARG when CHOLMOD is not built in.
tl_status tl_cholmod_create(const tl_allocator *alloc, const tl_bsr *matrix, tl_cholmod **out, tl_error *err);
void tl_cholmod_destroy(tl_cholmod *cm);  ///< NULL is fine
tl_status tl_cholmod_factor(tl_cholmod *cm, const tl_bsr *matrix, tl_error *err);
tl_status tl_cholmod_solve(tl_cholmod *cm, const tl_vec3 *b, tl_vec3 *x, tl_error *err);
