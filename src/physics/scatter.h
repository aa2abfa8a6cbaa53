// physics/scatter.h: blocks of eight elements at a time into a matrix.
//
// A Hessian of eight elements comes as blocks of eight lanes; blocks are turned in registers, so that each element can
// add its own four numbers at a time.
#pragma once
#include "math/bsr_row.h"
#include "physics/elements.h"
#include "physics/lanes.h"

// A block of eight faces, one number of all faces after the other, becomes eight blocks: entries 0 to 7 of lane l at
// 8 l, entry 8 where it was.
TL_INLINE void split_lanes(vd k[9])
{
    double *at = (double *)k;
    tl_v4 quarter[4][4];
    for (int q = 0; q < 4; q++) {  // entries from 4 (q / 2) on, lanes from 4 (q % 2) on
        for (int i = 0; i < 4; i++) quarter[q][i] = TL_LOAD4(at + LANES * (4 * (q / 2) + i) + 4 * (q % 2));
        vd_transpose4(quarter[q]);
    }
    for (int q = 0; q < 4; q++)
        for (int i = 0; i < 4; i++) *(tl_v4 *)(at + 8 * (4 * (q % 2) + i) + 4 * (q / 2)) = quarter[q][i];
}

TL_INLINE void add_double(double *out, tl_v4 low, tl_v4 high, double last)
{
    *(tl_v4 *)out += low;
    *(tl_v4 *)(out + 4) += high;
    out[8] += last;
}

// Sums are rounded once per term; a block off the diagonal gets at most a dozen.
TL_INLINE void add_single(float *out, tl_v4 low, tl_v4 high, double last)
{
    low += TL_WIDEN4(out), high += TL_WIDEN4(out + 4);
    *(tl_float4 *)out = __builtin_convertvector(low, tl_float4);
    *(tl_float4 *)(out + 4) = __builtin_convertvector(high, tl_float4);
    out[8] = (float)((double)out[8] + last);
}

// Block of patch nodes i, j into the matrix (see TL_SLOT_PLAIN).
TL_INLINE void add_pair(const tl_bsr *m, int32_t i, int32_t j, int32_t slot, const vd k[9], int lane)
{
    const int how = slot & 3;
    const double *at = (const double *)k + 8 * lane, last = k[8][lane];
    tl_v4 low = TL_LOAD4(at), high = TL_LOAD4(at + 4);
    if (how == TL_SLOT_BOTH) add_double(tl_bsr_diagonal(m, i), low, high, last);
    if (how != TL_SLOT_PLAIN) {
        const tl_v4 turned = __builtin_shufflevector(low, high, 0, 3, 6, 1);
        high = __builtin_shufflevector(low, high, 4, 7, 2, 5), low = turned;
    }
    if (how == TL_SLOT_BOTH)
        add_double(tl_bsr_diagonal(m, i), low, high, last);
    else if (m->single)
        add_single(m->single[(slot >> 2) - (i < j ? i : j) - 1], low, high, last);
    else
        add_double(m->value[slot >> 2], low, high, last);
}

/// One block, number by number.
static inline void scatter_block(const tl_bsr *m, int32_t i, int32_t j, int32_t slot, const double k[9])
{
    const bool turn = (slot & 3) == TL_SLOT_TRANSPOSED;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            const double v = turn ? k[3 * c + r] : k[3 * r + c];
            if (m->single) {
                float *at = &m->single[(slot >> 2) - (i < j ? i : j) - 1][3 * r + c];
                *at = (float)((double)*at + v);
            } else {
                m->value[slot >> 2][3 * r + c] += v;
            }
        }
}
