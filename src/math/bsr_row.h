// math/bsr_row.h: one row of a symmetric block matrix times a vector, for inlining into hot loops.
#pragma once
#include <float.h>

#include "math/simd.h"
#include "math/solver.h"

/// Adds the blocks right of the diagonal (and the diagonal, from `k` = row_start) of one row into `out`.
/// Three dot products run in four lanes; the fourth lane multiplies what follows the block by zero, which is
/// why tl_bsr keeps one block of padding.
#define TL_ROW_UPPER(m, vec, begin, end, u0, u1, u2)                      \
    for (int32_t k_ = (begin); k_ < (end); k_++) {                      \
        const double *a_ = (m)->value[k_];                              \
        const tl_vec3 *v_ = &(vec)[(m)->col[k_]];                       \
        const tl_v4 xv_ = {v_->x, v_->y, v_->z, 0};                     \
        (u0) += TL_LOAD4(a_) * xv_;                                     \
        (u1) += TL_LOAD4(a_ + 3) * xv_;                                 \
        (u2) += TL_LOAD4(a_ + 6) * xv_;                                 \
    }

/// Adds the blocks left of the diagonal: stored transposed, so three scaled rows.
#define TL_ROW_LOWER(m, vec, begin, end, lo)                              \
    for (int32_t k_ = (begin); k_ < (end); k_++) {                      \
        const double *a_ = (m)->value[(m)->lower_block[k_]];            \
        const tl_vec3 *v_ = &(vec)[(m)->lower_row[k_]];                 \
        (lo) += TL_SPLAT4(v_->x) * TL_LOAD4(a_);                        \
        (lo) += TL_SPLAT4(v_->y) * TL_LOAD4(a_ + 3);                    \
        (lo) += TL_SPLAT4(v_->z) * TL_LOAD4(a_ + 6);                    \
    }

#define TL_ROW_SUM(u0, u1, u2, lo)                                                                      \
    ((tl_vec3){(((u0)[0] + (u0)[1]) + (u0)[2]) + (lo)[0], (((u1)[0] + (u1)[1]) + (u1)[2]) + (lo)[1],     \
               (((u2)[0] + (u2)[1]) + (u2)[2]) + (lo)[2]})

/// Row i of A x.
TL_INLINE tl_vec3 tl_bsr_row(const tl_bsr *m, int32_t i, const tl_vec3 *x)
{
    tl_v4 u0 = {0}, u1 = {0}, u2 = {0}, lo = {0};
    TL_ROW_UPPER(m, x, m->row_start[i], m->row_start[i + 1], u0, u1, u2)
    TL_ROW_LOWER(m, x, m->lower_start[i], m->lower_start[i + 1], lo)
    return TL_ROW_SUM(u0, u1, u2, lo);
}

/// Symmetric 3x3 as (xx, xy, xz, yy, yz, zz) times a vector.
TL_INLINE tl_vec3 tl_sym3_apply(const double *v, tl_vec3 r)
{
    return (tl_vec3){v[0] * r.x + v[1] * r.y + v[2] * r.z, v[1] * r.x + v[3] * r.y + v[4] * r.z,
                     v[2] * r.x + v[4] * r.y + v[5] * r.z};
}

/// Inverse of a block in that form. False, `v` not to be used: not positive definite or not finite.
TL_INLINE bool tl_sym3_invert(const double *d, double *v)
{
    const double xx = d[0], xy = d[1], xz = d[2], yy = d[4], yz = d[5], zz = d[8];
    const double c0 = yy * zz - yz * yz, c1 = xz * yz - xy * zz, c2 = xy * yz - xz * yy;
    const double det = xx * c0 + xy * c1 + xz * c2, s = 1 / det;
    v[0] = s * c0, v[1] = s * c1, v[2] = s * c2;
    v[3] = s * (xx * zz - xz * xz), v[4] = s * (xy * xz - xx * yz), v[5] = s * (xx * yy - xy * xy);
    // Sylvester: the leading minors of a positive definite block are positive; NaN fails every comparison
    return xx > 0 && xx * yy - xy * xy > 0 && det > 0 && det <= DBL_MAX && s <= DBL_MAX;
}
