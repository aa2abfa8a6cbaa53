// math/bsr_row.h: one row of a symmetric block matrix times a vector, for inlining into hot loops.
#pragma once
#include <float.h>

#include "math/simd.h"
#include "math/solver.h"

// Hot loops are written once, as always-inlined functions with a last argument `single`, and expanded for both ways to
// keep the values: TL_EITHER_STORAGE(matrix, loop, arguments..) calls the right one.
#define TL_EITHER_STORAGE(m, loop, ...) ((m)->single ? loop(__VA_ARGS__, true) : loop(__VA_ARGS__, false))

/// Index into `value` or `single` of a block of row i is its number minus this.
#define TL_BLOCK_SHIFT(single, i) ((single) ? (i) + 1 : 0)

/// Four numbers of a block off the diagonal, from its entry `e` on, as doubles. `single` is a constant here.
#define TL_BLOCK4(m, single_, at, e)                                                                                   \
    ((single_) ? TL_WIDEN4((const float *)(m)->single[at] + (e)) : TL_LOAD4((m)->value[at] + (e)))

TL_INLINE double *tl_bsr_diagonal(const tl_bsr *m, int32_t i)
{
    return m->single ? m->diagonal[i] : m->value[m->row_start[i]];
}

/// Block k of row i in double: where it is kept or, from single, in `room`.
TL_INLINE const double *tl_bsr_block(const tl_bsr *m, int32_t i, int32_t k, double room[9])
{
    if (!m->single) return m->value[k];
    if (k == m->row_start[i]) return m->diagonal[i];
    for (int e = 0; e < 9; e++) room[e] = (double)m->single[k - i - 1][e];
    return room;
}

/// Adds the blocks right of the diagonal of row i. Three dot products run in four lanes; the fourth lane multiplies
/// what follows the block by zero, which is why tl_bsr keeps one block of padding.
#define TL_ROW_UPPER(m, single_, i, vec, u0, u1, u2)                                                                   \
    for (int32_t k_ = (m)->row_start[i] + 1; k_ < (m)->row_start[(i) + 1]; k_++) {                                     \
        const int32_t at_ = k_ - TL_BLOCK_SHIFT(single_, i);                                                           \
        const tl_vec3 *v_ = &(vec)[(m)->col[k_]];                                                                      \
        const tl_v4 xv_ = {v_->x, v_->y, v_->z, 0};                                                                    \
        (u0) += TL_BLOCK4(m, single_, at_, 0) * xv_;                                                                   \
        (u1) += TL_BLOCK4(m, single_, at_, 3) * xv_;                                                                   \
        (u2) += TL_BLOCK4(m, single_, at_, 6) * xv_;                                                                   \
    }

/// Adds the blocks left of the diagonal: stored transposed, so three scaled rows.
#define TL_ROW_LOWER(m, single_, i, vec, lo)                                                                           \
    for (int32_t k_ = (m)->lower_start[i]; k_ < (m)->lower_start[(i) + 1]; k_++) {                                     \
        const int32_t row_ = (m)->lower_row[k_];                                                                       \
        const int32_t at_ = (m)->lower_block[k_] - TL_BLOCK_SHIFT(single_, row_);                                      \
        const tl_vec3 *v_ = &(vec)[row_];                                                                              \
        (lo) += TL_SPLAT4(v_->x) * TL_BLOCK4(m, single_, at_, 0);                                                      \
        (lo) += TL_SPLAT4(v_->y) * TL_BLOCK4(m, single_, at_, 3);                                                      \
        (lo) += TL_SPLAT4(v_->z) * TL_BLOCK4(m, single_, at_, 6);                                                      \
    }

#define TL_ROW_SUM(u0, u1, u2, lo)                                                                                     \
    ((tl_vec3){(((u0)[0] + (u0)[1]) + (u0)[2]) + (lo)[0], (((u1)[0] + (u1)[1]) + (u1)[2]) + (lo)[1],                   \
               (((u2)[0] + (u2)[1]) + (u2)[2]) + (lo)[2]})

/// Row i of A x.
TL_INLINE tl_vec3 tl_bsr_row(const tl_bsr *m, int32_t i, const tl_vec3 *x, bool single)
{
    const double *d = single ? m->diagonal[i] : m->value[m->row_start[i]];
    const tl_v4 xi = {x[i].x, x[i].y, x[i].z, 0};
    tl_v4 u0 = TL_LOAD4(d) * xi, u1 = TL_LOAD4(d + 3) * xi, u2 = TL_LOAD4(d + 6) * xi, lo = {0};
    TL_ROW_UPPER(m, single, i, x, u0, u1, u2)
    TL_ROW_LOWER(m, single, i, x, lo)
    return TL_ROW_SUM(u0, u1, u2, lo);
}

/// Rows begin .. end - 1 of A x into `y` (three numbers and one of no meaning a row). A block between two rows of the
/// range is read once and used for both; the others through the references, as above. Numbers of x are 3 or, with a
/// zero behind them, 4 a row: those are read at once. `add`: to what is in `y`.
TL_INLINE void tl_bsr_rows(const tl_bsr *m, int32_t begin, int32_t end, const double *x, int stride, double (*y)[4],
                           bool add, bool single)
{
    for (int32_t i = 0; i < end - begin && !add; i++) *(tl_v4 *)y[i] = (tl_v4){0};
    for (int32_t i = begin; i < end; i++) {
        if (add && m->busy && !m->busy[i]) continue;
        const double *d = single ? m->diagonal[i] : m->value[m->row_start[i]];
        const double *at_i = x + (size_t)stride * (size_t)i;
        const tl_v4 xi = {at_i[0], at_i[1], at_i[2], 0}, vx = TL_SPLAT4(at_i[0]), vy = TL_SPLAT4(at_i[1]),
                    vz = TL_SPLAT4(at_i[2]);
        tl_v4 u0 = TL_LOAD4(d) * xi, u1 = TL_LOAD4(d + 3) * xi, u2 = TL_LOAD4(d + 6) * xi, lo = TL_LOAD4(y[i - begin]);
        for (int32_t k = m->row_start[i] + 1; k < m->row_start[i + 1]; k++) {
            const int32_t at = k - TL_BLOCK_SHIFT(single, i), j = m->col[k];
            const tl_v4 a0 = TL_BLOCK4(m, single, at, 0), a1 = TL_BLOCK4(m, single, at, 3),
                        a2 = TL_BLOCK4(m, single, at, 6);
            const double *at_j = x + (size_t)stride * (size_t)j;
            const tl_v4 xj = stride == 4 ? TL_LOAD4(at_j) : (tl_v4){at_j[0], at_j[1], at_j[2], 0};
            u0 += a0 * xj, u1 += a1 * xj, u2 += a2 * xj;
            if (j < end) *(tl_v4 *)y[j - begin] += (vx * a0 + vy * a1) + vz * a2;
        }
        for (int32_t k = m->lower_start[i]; k < m->lower_start[i + 1] && m->lower_row[k] < begin; k++) {
            const int32_t j = m->lower_row[k], at = m->lower_block[k] - TL_BLOCK_SHIFT(single, j);
            const double *at_j = x + (size_t)stride * (size_t)j;
            lo += TL_SPLAT4(at_j[0]) * TL_BLOCK4(m, single, at, 0);
            lo += TL_SPLAT4(at_j[1]) * TL_BLOCK4(m, single, at, 3);
            lo += TL_SPLAT4(at_j[2]) * TL_BLOCK4(m, single, at, 6);
        }
        const tl_vec3 sum = TL_ROW_SUM(u0, u1, u2, lo);
        *(tl_v4 *)y[i - begin] = (tl_v4){sum.x, sum.y, sum.z, 0};
    }
}

/// Symmetric 3x3 as (xx, xy, xz, yy, yz, zz) times a vector.
TL_INLINE tl_vec3 tl_sym3_apply(const double *v, tl_vec3 r)
{
    return (tl_vec3){v[0] * r.x + v[1] * r.y + v[2] * r.z, v[1] * r.x + v[3] * r.y + v[4] * r.z,
                     v[2] * r.x + v[4] * r.y + v[5] * r.z};
}

/// Inverse of a block in that form, by a factor L D L^T: with determinants a stiffness 1e8 times the rest in a
/// direction oblique to the axes would be lost to rounding. False, `v` not to be used: not positive definite or not
/// finite.
TL_INLINE bool tl_sym3_invert(const double *d, double *v)
{
    const double a = 1 / d[0], l10 = d[1] * a, l20 = d[2] * a;
    const double p1 = d[4] - l10 * d[1], r = d[5] - l10 * d[2], b = 1 / p1, l21 = r * b;
    const double p2 = d[8] - l20 * d[2] - l21 * r, c = 1 / p2, m20 = l10 * l21 - l20;
    v[5] = c, v[4] = -l21 * c, v[2] = m20 * c;
    v[3] = b - l21 * v[4], v[1] = -l10 * b - l21 * v[2];
    v[0] = a + l10 * l10 * b + m20 * v[2];
    // NaN fails every comparison
    return d[0] > 0 && p1 > 0 && p2 > 0 && a <= DBL_MAX && b <= DBL_MAX && c <= DBL_MAX && v[0] <= DBL_MAX &&
           v[3] <= DBL_MAX;
}
