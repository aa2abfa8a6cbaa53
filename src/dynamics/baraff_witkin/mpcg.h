// dynamics/baraff_witkin/mpcg.h: the modified conjugate gradients of Baraff & Witkin 1998, sec. 5.3.
//
// Unknowns are changes of velocity. A node may be barred from moving along up to three directions; along these its
// change is given. Instead of eliminating it, every vector of the iteration is filtered, so the matrix keeps its
// pattern and its symmetry (mass modification without touching masses).
#pragma once
#include "base/ctx.h"
#include "math/pcg.h"
#include "respond/constraint/directions.h"

typedef struct bw_pcg_report {
    int32_t iterations;
    double residual;  ///< reached, relative, in the norm of the preconditioner
    bool converged;
} bw_pcg_report;

/// Solves A dv = b in what `barred` (one per row) leaves free; along barred directions dv is their speed. `dv` holds a
/// first guess. TL_FAILED: the matrix is not positive definite or a number not finite. Same bits for any number of
/// workers.
tl_status bw_pcg(const tl_bsr *matrix, const tl_directions *barred, tl_pcg_stop stop, const tl_vec3 *b, tl_vec3 *dv,
                 const tl_ctx *ctx, bw_pcg_report *report, tl_error *err);
