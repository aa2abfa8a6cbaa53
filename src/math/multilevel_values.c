// math/multilevel_values.c: numbers of the levels: prolongation, next matrix, smoother.
//
// P = (I - w D^-1 A) P0 with P0 the rigid motions of the patches (Vanek, Mandel and Brezina 1996, Eq. 3.1 and
// section 4), and A' = P^T A P. Both gather: a worker owns the node or the patch that it writes.

#include <math.h>
#include <string.h>

#include "math/bsr_row.h"
#include "math/multilevel_impl.h"
#include "math/vec3.h"

enum { NODES_PER_CHUNK = 256, PATCHES_PER_CHUNK = 16, MAX_SEEN = 96 };

// Weight of the smoothing. 4 / 3 over the largest eigenvalue of D^-1 A is usual and that is about 2 here;
// were it 3, the bound for triangles, |1 - 3 w| is still below 1. Tried 0.35 to 0.7: iterations fall all the
// way.
static const double OMEGA = 0.66;

typedef struct values_job {
    tl_level *lv, *next;
    const tl_vec3 *pos;    // of the level's nodes
    const uint8_t *fixed;  // finest level only
    double own_radius;     // scale of this level's rotations
} values_job;

// Centres of the patches.
static void centers_chunk(void *arg, int32_t begin, int32_t end)
{
    const values_job *job = arg;
    const tl_level *lv = job->lv;
    for (int32_t p = begin; p < end; p++) {
        tl_vec3 sum = {0};
        int32_t count = 0;
        for (int32_t t = lv->t_start[p]; t < lv->t_start[p + 1]; t++) {
            if (lv->patch[lv->t_node[t]] != p) continue;
            sum = tl_add3(sum, job->pos[lv->t_node[t]]);
            count++;
        }
        lv->center[p] = count ? tl_mul3(1.0 / count, sum) : (tl_vec3){0};
    }
}

// Root mean square distance of nodes from the centre of their patch, a length that suits all patches.
static double patch_radius(const tl_level *lv, const tl_vec3 *pos)
{
    double sum = 0;
    int32_t count = 0;
    for (int32_t i = 0; i < lv->nodes; i++) {
        if (lv->patch[i] < 0) continue;
        const tl_vec3 d = tl_sub3(pos[i], lv->center[lv->patch[i]]);
        sum += tl_dot3(d, d);
        count++;
    }
    const double radius = count ? sqrt(sum / count) : 0;
    return radius > 0 && isfinite(radius) ? radius : 1;
}

// Rigid motion of its patch seen by block row s of node k, 3x6. Zero for what does not move.
// Displacements at x: T + W x (x - C) / R. A node below with its own translation and rotation about c, scale
// r, has t = T + W x (c - C) / R and w = W r / R.
TL_INLINE void rigid_rows(const values_job *job, int32_t k, int32_t s, double m[3][MODES])
{
    const tl_level *lv = job->lv;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < MODES; c++) m[r][c] = 0;
    if (lv->patch[k] < 0 || (job->fixed && job->fixed[k])) return;
    if (s == 1) {
        for (int r = 0; r < 3; r++) m[r][3 + r] = job->own_radius / lv->radius;
        return;
    }
    const tl_vec3 d = tl_mul3(1 / lv->radius, tl_sub3(job->pos[k], lv->center[lv->patch[k]]));
    m[0][0] = m[1][1] = m[2][2] = 1;
    m[0][4] = d.z, m[0][5] = -d.y;
    m[1][3] = -d.z, m[1][5] = d.x;
    m[2][3] = d.y, m[2][4] = -d.x;
}

TL_INLINE int32_t entry_of(const tl_level *lv, int32_t i, int32_t patch)
{
    int32_t e = lv->p_start[i];
    while (lv->p_patch[e] != patch) e++;
    return e - lv->p_start[i];
}

static void plain_chunk(void *arg, int32_t begin, int32_t end)
{
    const values_job *job = arg;
    const tl_level *lv = job->lv;
    for (int32_t i = begin; i < end; i++)
        for (int32_t s = 0; s < lv->node_rows && lv->p_start[i] < lv->p_start[i + 1]; s++) {
            double p0[3][MODES];
            rigid_rows(job, i, s, p0);
            float *out = lv->p_value[(int64_t)lv->node_rows * lv->p_start[i] + s];
            for (int k = 0; k < 3 * MODES; k++) out[k] = (float)p0[k / MODES][k % MODES];
        }
}

// One block row of the prolongation: sums[e] = sum over its blocks of A P0, then P0 - w D^-1 sums.
TL_CLONES static void prolongation_chunk(void *arg, int32_t begin, int32_t end)
{
    const values_job *job = arg;
    const tl_level *lv = job->lv;
    const tl_bsr *m = lv->a;
    const int32_t rows = lv->node_rows;
    double sums[MAX_SEEN][3][MODES];
    for (int32_t i = begin; i < end; i++) {
        const int32_t seen = lv->p_start[i + 1] - lv->p_start[i];
        const bool still = job->fixed && job->fixed[i];
        for (int32_t s = 0; s < rows; s++) {
            const int32_t row = rows * i + s;
            float(*out)[18] = lv->p_value + (int64_t)rows * lv->p_start[i] + (int64_t)s * seen;
            if (still || seen > MAX_SEEN) {
                memset(out, 0, (size_t)seen * sizeof *out);
                continue;
            }
            memset(sums, 0, (size_t)seen * sizeof *sums);
            const int32_t lower = m->lower_start[row + 1] - m->lower_start[row];
            const int32_t count = lower + m->row_start[row + 1] - m->row_start[row];
            for (int32_t k = 0; k < count; k++) {
                const bool is_lower = k < lower;
                const int32_t at = is_lower ? m->lower_start[row] + k : m->row_start[row] + k - lower;
                const int32_t col = is_lower ? m->lower_row[at] : m->col[at], node = col / rows;
                if (lv->patch[node] < 0) continue;
                double room[9];
                const double *a = tl_bsr_block(m, is_lower ? col : row, is_lower ? m->lower_block[at] : at, room);
                double p0[3][MODES];
                rigid_rows(job, node, col % rows, p0);
                double(*sum)[MODES] = sums[entry_of(lv, i, lv->patch[node])];
                for (int r = 0; r < 3; r++)
                    for (int c = 0; c < 3; c++) {
                        const double v = is_lower ? a[3 * c + r] : a[3 * r + c];
                        for (int q = 0; q < MODES; q++) sum[r][q] += v * p0[c][q];
                    }
            }
            double d[6];
            (void)tl_sym3_invert(tl_bsr_diagonal(m, row), d);  // the smoother has made sure
            const double inverse[3][3] = {{d[0], d[1], d[2]}, {d[1], d[3], d[4]}, {d[2], d[4], d[5]}};
            for (int32_t e = 0; e < seen; e++) {
                double p0[3][MODES] = {{0}};
                if (lv->p_patch[lv->p_start[i] + e] == lv->patch[i]) rigid_rows(job, i, s, p0);
                for (int r = 0; r < 3; r++)
                    for (int q = 0; q < MODES; q++) {
                        double v = 0;
                        for (int c = 0; c < 3; c++) v += inverse[r][c] * sums[e][c][q];
                        out[e][MODES * r + q] = (float)(p0[r][q] - OMEGA * v);
                    }
            }
        }
    }
}

#define LOAD_P(p) TL_WIDEN8(p)  // lanes 6 and 7 hold what follows: not used

// Rows of A P of one block row: patches met and, for each, three rows of six (eight lanes).
typedef struct product_row {
    int32_t count;
    int32_t patch[MAX_SEEN];
    tl_v8 q[MAX_SEEN][3];
} product_row;

// Only patches from `least` on: the matrix is symmetric.
TL_INLINE void product_of_row(const tl_level *lv, int32_t row, int32_t least, product_row *out)
{
    const tl_bsr *m = lv->a;
    const int32_t rows = lv->node_rows;
    out->count = 0;
    const int32_t lower = m->lower_start[row + 1] - m->lower_start[row];
    const int32_t count = lower + m->row_start[row + 1] - m->row_start[row];
    for (int32_t k = 0; k < count; k++) {
        const bool is_lower = k < lower;
        const int32_t at = is_lower ? m->lower_start[row] + k : m->row_start[row] + k - lower;
        const int32_t col = is_lower ? m->lower_row[at] : m->col[at], node = col / rows, s = col % rows;
        double room[9];
        const double *a = tl_bsr_block(m, is_lower ? col : row, is_lower ? m->lower_block[at] : at, room);
        const double a00 = a[0], a11 = a[4], a22 = a[8];
        const double a01 = is_lower ? a[3] : a[1], a10 = is_lower ? a[1] : a[3];
        const double a02 = is_lower ? a[6] : a[2], a20 = is_lower ? a[2] : a[6];
        const double a12 = is_lower ? a[7] : a[5], a21 = is_lower ? a[5] : a[7];
        const int32_t seen = lv->p_start[node + 1] - lv->p_start[node];
        const float(*p)[18] = (const float(*)[18])lv->p_value + (int64_t)rows * lv->p_start[node] + (int64_t)s * seen;
        for (int32_t e = 0; e < seen; e++) {
            const int32_t patch = lv->p_patch[lv->p_start[node] + e];
            if (patch < least) continue;
            int32_t slot = 0;
            while (slot < out->count && out->patch[slot] != patch) slot++;
            if (slot == out->count) {
                if (slot == MAX_SEEN) continue;
                out->patch[out->count++] = patch;
                out->q[slot][0] = out->q[slot][1] = out->q[slot][2] = (tl_v8){0};
            }
            const tl_v8 p0 = LOAD_P(p[e]), p1 = LOAD_P(p[e] + 6), p2 = LOAD_P(p[e] + 12);
            out->q[slot][0] += a00 * p0 + a01 * p1 + a02 * p2;
            out->q[slot][1] += a10 * p0 + a11 * p1 + a12 * p2;
            out->q[slot][2] += a20 * p0 + a21 * p1 + a22 * p2;
        }
    }
}

// Two block rows of the next matrix: C_IJ = sum over rows i that feel I of P_iI^T (A P)_iJ, J >= I.
TL_CLONES static void galerkin_chunk(void *arg, int32_t begin, int32_t end)
{
    const values_job *job = arg;
    const tl_level *lv = job->lv;
    tl_bsr *c = job->next->own;
    const int32_t rows = lv->node_rows;
    product_row product;
    for (int32_t I = begin; I < end; I++) {
        const int32_t top = c->row_start[2 * I], bottom = c->row_start[2 * I + 1], stop = c->row_start[2 * I + 2];
        memset(c->value[top], 0, (size_t)(stop - top) * sizeof *c->value);
        for (int32_t t = lv->t_start[I]; t < lv->t_start[I + 1]; t++) {
            const int32_t i = lv->t_node[t], seen = lv->p_start[i + 1] - lv->p_start[i];
            const int32_t e = lv->t_entry[t] - lv->p_start[i];
            for (int32_t s = 0; s < rows; s++) {
                const float *p = lv->p_value[(int64_t)rows * lv->p_start[i] + (int64_t)s * seen + e];
                product_of_row(lv, rows * i + s, I, &product);
                for (int32_t k = 0; k < product.count; k++) {
                    const int32_t J = product.patch[k];
                    const int32_t at = tl_bsr_find(c, 2 * I, 2 * J);
                    if (at < 0) continue;
                    // the row of 2 I has (2J, 2J + 1); that of 2 I + 1 lacks its own lower block
                    double *tt = c->value[at], *tw = c->value[at + 1];
                    double *wt = J == I ? NULL : c->value[bottom + (at - top) - 1];
                    double *ww = J == I ? c->value[bottom] : c->value[bottom + (at - top)];
                    for (int r = 0; r < MODES; r++) {
                        const tl_v8 v = (double)p[r] * product.q[k][0] + (double)p[6 + r] * product.q[k][1] +
                                        (double)p[12 + r] * product.q[k][2];
                        double *left = r < 3 ? tt + 3 * r : wt ? wt + 3 * (r - 3) : NULL;
                        double *right = r < 3 ? tw + 3 * r : ww + 3 * (r - 3);
                        for (int q = 0; q < 3; q++) {
                            if (left) left[q] += v[q];
                            right[q] += v[3 + q];
                        }
                    }
                }
            }
        }
        // a patch of one or two nodes cannot feel every rotation, a fixed one nothing at all: keep it
        // definite
        const double tiny = 1e-9;
        for (int s = 0; s < 2; s++) {
            double *d = c->value[s ? bottom : top];
            const double trace = d[0] + d[4] + d[8];
            for (int q = 0; q < 9; q += 4) d[q] += trace > 0 ? tiny * trace : 1;
            d[3] = d[1], d[6] = d[2], d[7] = d[5];
        }
    }
}

void tl_level_coarsen(tl_multilevel *ml, int32_t l, const tl_vec3 *pos, tl_workers *workers)
{
    tl_level *lv = &ml->level[l];
    values_job job = {.lv = lv, .next = &ml->level[l + 1], .fixed = l == 0 ? ml->fixed : NULL};
    job.pos = l == 0 ? pos : ml->level[l - 1].center;
    job.own_radius = l == 0 ? 1 : ml->level[l - 1].radius;
    tl_parallel_for(workers, lv->patches, PATCHES_PER_CHUNK, centers_chunk, &job);
    lv->radius = patch_radius(lv, job.pos);
    const bool plain = ml->aggregates == TL_AGGREGATES_PLAIN;
    tl_parallel_for(workers, lv->nodes, NODES_PER_CHUNK, plain ? plain_chunk : prolongation_chunk, &job);
    tl_parallel_for(workers, lv->patches, PATCHES_PER_CHUNK, galerkin_chunk, &job);
}

// Norm of D_i^-1/2 A_ij D_j^-1/2 (Frobenius), squared: trace of D_i^-1 A D_j^-1 A^T.
TL_INLINE double scaled_norm2(const double *a, const double *di, const double *dj)
{
    const double p[9] = {di[0], di[1], di[2], di[1], di[3], di[4], di[2], di[4], di[5]};
    const double q[9] = {dj[0], dj[1], dj[2], dj[1], dj[3], dj[4], dj[2], dj[4], dj[5]};
    double sum = 0;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            double left = 0, right = 0;  // (D_i^-1 A)_rc and (A D_j^-1)_rc
            for (int k = 0; k < 3; k++) left += p[3 * r + k] * a[3 * k + c], right += a[3 * r + k] * q[3 * k + c];
            sum += left * right;
        }
    return sum;
}

// The sweep leaves out what links a row to other chunks, as a block Jacobi method does. It converges if
// 2 D' - D - A_out is positive (Baker, Falgout, Kolev and Yang 2011, theorem 2.1, for scaled rather than
// shifted diagonals). With rho the sum of the scaled norms of those links, A_out <= rho D, so D' = D (1 +
// rho) / 2 serves.
static double outside_strength(const tl_level *lv, int32_t i)
{
    const tl_bsr *m = lv->a;
    const int32_t begin = i / SMOOTH_CHUNK * SMOOTH_CHUNK, end = begin + SMOOTH_CHUNK;
    const double(*d)[6] = (const double(*)[6])lv->inverse;
    double rho = 0, room[9];
    for (int32_t k = m->row_start[i + 1] - 1; m->col[k] >= end; k--)
        rho += sqrt(scaled_norm2(tl_bsr_block(m, i, k, room), d[i], d[m->col[k]]));
    for (int32_t k = m->lower_start[i]; k < m->lower_start[i + 1] && m->lower_row[k] < begin; k++) {
        const int32_t j = m->lower_row[k];
        rho += sqrt(scaled_norm2(tl_bsr_block(m, j, m->lower_block[k], room), d[j], d[i]));
    }
    return rho;
}

TL_CLONES static void strength_chunk(void *arg, int32_t begin, int32_t end)
{
    const tl_level *lv = arg;
    for (int32_t i = begin; i < end; i++) lv->res[i].x = outside_strength(lv, i);
}

static void damp_chunk(void *arg, int32_t begin, int32_t end)
{
    const tl_level *lv = arg;
    for (int32_t i = begin; i < end; i++) {
        const double rho = lv->res[i].x;
        if (rho <= 1) continue;
        const double scale = 2 / (1 + rho);
        for (int k = 0; k < 6; k++) lv->inverse[i][k] *= scale;
    }
}

bool tl_level_smoother(tl_multilevel *ml, int32_t l, tl_workers *workers)
{
    tl_level *lv = &ml->level[l];
    if (!tl_bsr_invert_diagonal(lv->a, workers, lv->inverse)) return false;
    tl_parallel_for(workers, lv->a->row_count, SMOOTH_CHUNK, strength_chunk, lv);
    tl_parallel_for(workers, lv->a->row_count, SMOOTH_CHUNK, damp_chunk, lv);
    return true;
}
