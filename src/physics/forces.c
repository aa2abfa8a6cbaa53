// physics/forces.c: energy, gradient and Hessian of a step, eight faces at a time.
//
// Stretching: St. Venant-Kirchhoff in Green strain E with the fabric's frozen stiffness. The Hessian keeps the
// tensile part of the geometric term and drops the compressive one, so it is positive semidefinite.
// Bending: energy 1/2 a^T H a in the folds a of a face (bend.h); Hessian by Gauss-Newton over the face's own hinges.
// Damping: 1/2 eta gamma (E - E_hat) C (E - E_hat), E_hat from the past, and the same for angles (Kelvin-Voigt).
// Air: with v the wind relative to the face, n its normal and A its area, both at the start of the step,
// 1/gamma (pressure A |v_n|^3 / 3 + skin A |v_t|^2 / 2), whose gradient is the drag of Wejchert & Haumann 1991
// with the square law: convex, so no step is too large for it.
//
// Chunks of one colour write disjoint nodes; the order of colours, chunks and faces fixes the order of every sum.

#include "physics/forces.h"

#include <string.h>

#include "base/fail.h"
#include "math/bsr_row.h"
#include "math/vec3.h"
#include "physics/bend.h"
#include "physics/lanes.h"
#include "physics/touched.h"

// A face squeezed to nothing has no normal; heights below this part of the rest shape count as this part.
#define THINNEST 1e-6

enum { NODES_PER_CHUNK = 1024, HINGES_PER_CHUNK = 1024, FACES_PER_CHUNK = 1024 };
_Static_assert((int)LANES == (int)TL_TOUCHED_GROUP, "loops pass over what they would take at once");
enum { FETCH_FROM = 100000 };  // blocks: a smaller matrix is in the cache anyway

typedef struct face_job {
    tl_elements *e;
    const tl_step_def *step;
    const tl_vec3 *x;
    tl_bsr *matrix;     // NULL: no Hessian
    tl_vec3 *gradient;  // NULL: energy only
    const int32_t *chunks;
    double (*energy)[4];  // per chunk: stretch, bend, damping, air
} face_job;

/// Eight faces, one per lane.
typedef struct patch {
    int count;
    int32_t face[LANES];
    vd x[TL_PATCH_NODES][3];
    vd grad[4], area, stretch[4], bend[6];      // bend: over folds for energy, over own angles for the Hessian
    vd strain_hat[3], visc_stretch, visc_bend;  // visc: damping time over step, eta gamma
    vd fold[3], fold_rate[3];                   // energy only
    vd moment[3];                               // half of each hinge's, gradient only
    vd wind[3], drift[3];                       // area normal; wind - gamma (mean x - mean x_hat)
    vd energy[4];
    vd g[TL_PATCH_NODES][3];
    vd k[TL_PATCH_BLOCKS][9];
} patch;

TL_INLINE int pair6(int a, int b) { return a * TL_PATCH_NODES - a * (a - 1) / 2 + (b - a); }

static void load_patch(const face_job *job, int32_t begin, int32_t end, patch *p)
{
    const tl_elements *e = job->e;
    const tl_step_def *step = job->step;
    const bool air = step->pressure > 0 || step->skin > 0;
    p->count = end - begin < LANES ? end - begin : LANES;
    for (int l = 0; l < LANES; l++) {
        const int32_t f = begin + (l < p->count ? l : p->count - 1);  // idle lanes repeat the last face
        p->face[l] = f;
        for (int i = 0; i < TL_PATCH_NODES; i++) {
            const tl_vec3 x = job->x[e->face[f][i]];
            p->x[i][0][l] = x.x, p->x[i][1][l] = x.y, p->x[i][2][l] = x.z;
        }
        for (int i = 0; i < 4; i++) p->grad[i][l] = e->grad[f][i], p->stretch[i][l] = e->stretch[f][i];
        const float *bend = job->gradient ? e->bend_own[f] : e->bend[f];
        for (int i = 0; i < 6; i++) p->bend[i][l] = (double)bend[i];
        p->area[l] = e->area[f];
        const tl_material *m = &e->materials[e->material[f]];
        p->visc_stretch[l] = e->damped ? m->damping_stretch * step->gamma : 0;
        p->visc_bend[l] = e->damped ? m->damping_bend * step->gamma : 0;
        for (int i = 0; i < 3; i++) {
            const int32_t h = e->face_hinge[f][i];
            p->strain_hat[i][l] = e->damped ? e->strain_hat[f][i] : 0;
            if (job->gradient) {
                p->moment[i][l] = h < 0 ? 0 : 0.5 * e->moment[h];
            } else {
                p->fold[i][l] = e->fold[f][i];
                p->fold_rate[i][l] = e->damped ? e->fold_rate[f][i] : 0;
            }
        }
        if (!air) continue;
        tl_vec3 hat = {0, 0, 0};
        for (int i = 0; i < 3; i++) hat = tl_add3(hat, step->x_hat[e->face[f][i]]);
        const double h[3] = {hat.x, hat.y, hat.z}, w[3] = {step->wind.x, step->wind.y, step->wind.z};
        for (int i = 0; i < 3; i++) {
            p->wind[i][l] = (double)e->wind[f][i];
            p->drift[i][l] = w[i] - step->gamma * ((p->x[0][i][l] + p->x[1][i][l] + p->x[2][i][l]) - h[i]) / 3;
        }
    }
}

/// Deformation gradient columns and strains of a patch.
typedef struct strain { vd f1[3], f2[3], e[3]; } strain;

TL_INLINE void measure_strain(const patch *p, strain *s)
{
    vd d1[3], d2[3];
    vd_sub(p->x[1], p->x[0], d1);
    vd_sub(p->x[2], p->x[0], d2);
    for (int i = 0; i < 3; i++) {
        s->f1[i] = d1[i] * p->grad[0] + d2[i] * p->grad[2];
        s->f2[i] = d1[i] * p->grad[1] + d2[i] * p->grad[3];
    }
    s->e[0] = 0.5 * (vd_dot(s->f1, s->f1) - 1);
    s->e[1] = 0.5 * (vd_dot(s->f2, s->f2) - 1);
    s->e[2] = 0.5 * vd_dot(s->f1, s->f2);
}

TL_INLINE vd strain_energy(const vd c[4], const vd e[3])
{
    return 0.5 * (c[0] * e[0] * e[0] + c[2] * e[1] * e[1] + 2 * c[1] * e[0] * e[1] + c[3] * e[2] * e[2]);
}

TL_INLINE void stretch_energy(patch *p)
{
    strain s;
    vd rate[3];
    measure_strain(p, &s);
    for (int i = 0; i < 3; i++) rate[i] = s.e[i] - p->strain_hat[i];
    p->energy[0] = p->area * strain_energy(p->stretch, s.e);
    p->energy[2] = p->area * p->visc_stretch * strain_energy(p->stretch, rate);
}

// Gradient of corners 1 and 2 (corner 0 is minus their sum), and blocks 11, 12, 22 of the Hessian, likewise.
TL_INLINE void stretch_derivatives(patch *p, bool hessian)
{
    strain s;
    measure_strain(p, &s);
    const vd *c = p->stretch, *g = p->grad, visc = p->visc_stretch;
    vd e[3];
    for (int i = 0; i < 3; i++) e[i] = s.e[i] + visc * (s.e[i] - p->strain_hat[i]);
    const vd s11 = c[0] * e[0] + c[1] * e[1], s22 = c[1] * e[0] + c[2] * e[1], s12 = 0.5 * c[3] * e[2];
    for (int a = 1; a <= 2; a++) {
        const vd gx = g[2 * a - 2], gy = g[2 * a - 1];
        const vd w1 = p->area * (s11 * gx + s12 * gy), w2 = p->area * (s22 * gy + s12 * gx);
        for (int i = 0; i < 3; i++) p->g[a][i] = w1 * s.f1[i] + w2 * s.f2[i];
    }
    for (int i = 0; i < 3; i++) p->g[0][i] = -(p->g[1][i] + p->g[2][i]);
    if (!hessian) return;
    // Tensile part of the stress, by its eigenvalues.
    const vd zero = vd_of(0), mean = 0.5 * (s11 + s22), half = 0.5 * (s11 - s22);
    const vd radius = vd_sqrt(half * half + s12 * s12);
    const vd high = vd_max(mean + radius, zero), low = vd_max(mean - radius, zero);
    const vd even = 0.5 * (high + low), odd = 0.5 * (high - low) / (radius + 1e-300);
    const vd t11 = even + odd * half, t22 = even - odd * half, t12 = odd * s12;
    const vd more = p->area * (1 + visc);
    const vd c11 = more * c[0], c12 = more * c[1], c22 = more * c[2], c33 = 0.25 * more * c[3];
    for (int a = 1; a <= 2; a++) {
        for (int b = a; b <= 2; b++) {
            const vd ax = g[2 * a - 2], ay = g[2 * a - 1], bx = g[2 * b - 2], by = g[2 * b - 1];
            const vd m11 = c11 * ax * bx + c33 * ay * by, m22 = c22 * ay * by + c33 * ax * bx;
            const vd m12 = c12 * ax * by + c33 * ay * bx, m21 = c12 * ay * bx + c33 * ax * by;
            const vd geo = p->area * (t11 * ax * bx + t22 * ay * by + t12 * (ax * by + ay * bx));
            vd *k = p->k[pair6(a, b)];
            for (int i = 0; i < 3; i++) {
                const vd r1 = m11 * s.f1[i] + m21 * s.f2[i], r2 = m12 * s.f1[i] + m22 * s.f2[i];
                for (int j = 0; j < 3; j++) k[3 * i + j] = r1 * s.f1[j] + r2 * s.f2[j];
                k[4 * i] += geo;
            }
        }
    }
    vd *k00 = p->k[pair6(0, 0)], *k01 = p->k[pair6(0, 1)], *k02 = p->k[pair6(0, 2)];
    const vd *k11 = p->k[pair6(1, 1)], *k12 = p->k[pair6(1, 2)], *k22 = p->k[pair6(2, 2)];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            k01[3 * i + j] = -(k11[3 * i + j] + k12[3 * j + i]);
            k02[3 * i + j] = -(k12[3 * i + j] + k22[3 * i + j]);
        }
    for (int i = 0; i < 9; i++) k00[i] = -(k01[i] + k02[i]);
}

TL_INLINE void air_terms(patch *p, const tl_step_def *step, bool derivatives, bool hessian)
{
    vd area = vd_sqrt(vd_dot(p->wind, p->wind)), n[3], vn = vd_of(0), vt2;
    for (int i = 0; i < 3; i++) {
        n[i] = p->wind[i] / (area + 1e-300);
        vn += n[i] * p->drift[i];
    }
    vt2 = vd_dot(p->drift, p->drift) - vn * vn;
    const vd speed = vd_abs(vn), press = step->pressure * area, skin = step->skin * area;
    p->energy[3] = (press * speed * vn * vn * (1.0 / 3) + 0.5 * skin * vt2) / step->gamma;
    if (!derivatives) return;
    for (int i = 0; i < 3; i++) {
        const vd third = ((press * speed * vn) * n[i] + skin * (p->drift[i] - vn * n[i])) * (-1.0 / 3);
        for (int a = 0; a < 3; a++) p->g[a][i] += third;
    }
    if (!hessian) return;
    const vd along = step->gamma * (2 * press * speed - skin) * (1.0 / 9), all = step->gamma * skin * (1.0 / 9);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const vd d = along * n[i] * n[j] + (i == j ? all : vd_of(0));
            for (int a = 0; a < 3; a++)
                for (int b = a; b < 3; b++) p->k[pair6(a, b)][3 * i + j] += d;
        }
}

TL_INLINE vd quadratic(const vd h[6], const vd a[3])
{
    return 0.5 * (h[0] * a[0] * a[0] + h[1] * a[1] * a[1] + h[2] * a[2] * a[2]) + h[3] * a[1] * a[2] +
           h[4] * a[0] * a[2] + h[5] * a[0] * a[1];
}

TL_INLINE void bend_energy(patch *p)
{
    p->energy[1] = quadratic(p->bend, p->fold);
    p->energy[2] += p->visc_bend * quadratic(p->bend, p->fold_rate);
}

// d angle / dx of the three hinges: corner[k][i] for the face's corners, far[k] for the node across.
TL_INLINE void angle_gradients(const patch *p, vd corner[3][3][3], vd far[3][3])
{
    vd d1[3], d2[3], n[3];
    vd_sub(p->x[1], p->x[0], d1);
    vd_sub(p->x[2], p->x[0], d2);
    vd_cross(d1, d2, n);
    const vd thin = (4 * THINNEST * THINNEST) * p->area * p->area;
    const vd per_nn = 1 / vd_max(vd_dot(n, n), thin);
    for (int k = 0; k < 3; k++) {
        const int a = (k + 1) % 3, b = (k + 2) % 3;
        vd edge[3], to_own[3], to_far[3], from_b[3], m[3];
        vd_sub(p->x[b], p->x[a], edge);
        vd_sub(p->x[k], p->x[a], to_own);
        vd_sub(p->x[3 + k], p->x[a], to_far);
        vd_sub(p->x[3 + k], p->x[b], from_b);
        vd_cross(from_b, edge, m);  // normal of the neighbour, same side up
        const vd ll = vd_max(vd_dot(edge, edge), thin), l = vd_sqrt(ll);
        const vd own_scale = l * per_nn, far_scale = l / vd_max(vd_dot(m, m), thin);
        const vd y1 = vd_dot(to_own, edge) / ll, y2 = vd_dot(to_far, edge) / ll;
        for (int i = 0; i < 3; i++) {
            const vd own = own_scale * n[i], other = far_scale * m[i];  // n/h on either side
            corner[k][k][i] = own;
            far[k][i] = other;
            corner[k][a][i] = -((1 - y1) * own + (1 - y2) * other);
            corner[k][b][i] = -(y1 * own + y2 * other);
        }
    }
}

TL_INLINE void bend_derivatives(patch *p, bool hessian)
{
    vd corner[3][3][3], far[3][3];
    const vd *moment = p->moment, *h = p->bend;
    angle_gradients(p, corner, far);
    const vd full[3][3] = {{h[0], h[5], h[4]}, {h[5], h[1], h[3]}, {h[4], h[3], h[2]}};
    for (int i = 0; i < 3; i++) {
        for (int c = 0; c < 3; c++)
            p->g[c][i] += moment[0] * corner[0][c][i] + moment[1] * corner[1][c][i] + moment[2] * corner[2][c][i];
        for (int k = 0; k < 3; k++) p->g[3 + k][i] = moment[k] * far[k][i];
    }
    if (!hessian) return;
    const vd more = 1 + p->visc_bend;
    vd push[3][3][3];  // push[k][c]: moment of hinge k per displacement of corner c
    for (int k = 0; k < 3; k++)
        for (int c = 0; c < 3; c++)
            for (int i = 0; i < 3; i++)
                push[k][c][i] = more * (full[k][0] * corner[0][c][i] + full[k][1] * corner[1][c][i] +
                                        full[k][2] * corner[2][c][i]);
    for (int c = 0; c < 3; c++)
        for (int d = c; d < 3; d++) {
            vd *block = p->k[pair6(c, d)];
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    block[3 * i + j] += corner[0][c][i] * push[0][d][j] + corner[1][c][i] * push[1][d][j] +
                                        corner[2][c][i] * push[2][d][j];
        }
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < 3; k++) {
            vd *block = p->k[pair6(c, 3 + k)];
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) block[3 * i + j] = push[k][c][i] * far[k][j];
        }
    for (int k = 0; k < 3; k++)
        for (int m = k; m < 3; m++) {
            vd *block = p->k[pair6(3 + k, 3 + m)];
            const vd w = more * full[k][m];
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) block[3 * i + j] = w * far[k][i] * far[m][j];
        }
}

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

TL_INLINE void store_patch(const face_job *job, patch *p)
{
    const tl_elements *e = job->e;
    if (job->matrix)
        for (int k = 0; k < TL_PATCH_BLOCKS; k++) split_lanes(p->k[k]);
    for (int l = 0; l < p->count; l++) {
        const int32_t f = p->face[l], *node = e->face[f];
        for (int a = 0; a < TL_PATCH_NODES; a++) {
            if (a >= 3 && e->face_hinge[f][a - 3] < 0) continue;
            tl_vec3 *g = &job->gradient[node[a]];
            g->x += p->g[a][0][l], g->y += p->g[a][1][l], g->z += p->g[a][2][l];
            if (!job->matrix) continue;
            const vd *k = p->k[pair6(a, a)];
            const double *at = (const double *)k + 8 * l;
            add_double(tl_bsr_diagonal(job->matrix, node[a]), TL_LOAD4(at), TL_LOAD4(at + 4), k[8][l]);
            for (int b = a + 1; b < TL_PATCH_NODES; b++) {
                const int32_t slot = e->slot[f][tl_patch_pair(a, b)];
                if (slot >= 0) add_pair(job->matrix, node[a], node[b], slot, p->k[pair6(a, b)], l);
            }
        }
    }
}

// Asks for the blocks that a patch will add to, so that they arrive while the patch is computed.
TL_INLINE void fetch_blocks(const face_job *job, const patch *p)
{
    const tl_elements *e = job->e;
    const tl_bsr *m = job->matrix;
    for (int l = 0; l < p->count; l++) {
        const int32_t *node = e->face[p->face[l]], *slot = e->slot[p->face[l]];
        for (int a = 0; a < TL_PATCH_NODES; a++) {
            __builtin_prefetch(tl_bsr_diagonal(m, node[a]), 1);
            for (int b = a + 1; b < TL_PATCH_NODES; b++) {
                const int32_t k = slot[tl_patch_pair(a, b)] >> 2;  // of a pair that does not exist: asks in vain
                if (m->single)
                    __builtin_prefetch((const float *)m->single + 9 * (int64_t)(k - (node[a] < node[b] ? node[a] : node[b]) - 1), 1);
                else
                    __builtin_prefetch((const double *)m->value + 9 * (int64_t)k, 1);
            }
        }
    }
}

LANE_CLONES static void face_chunk(void *arg, int32_t first, int32_t last)
{
    const face_job *job = arg;
    const tl_elements *e = job->e;
    const bool air = job->step->pressure > 0 || job->step->skin > 0;
    const bool fetch = job->matrix && job->matrix->block_count > FETCH_FROM;
    for (int32_t c = first; c < last; c++) {
        const int32_t chunk = job->chunks ? job->chunks[c] : c;
        const int32_t begin = chunk * TL_CHUNK_FACES;
        const int32_t end = e->face_count - begin < TL_CHUNK_FACES ? e->face_count : begin + TL_CHUNK_FACES;
        double sum[4] = {0};
        for (int32_t f = begin; f < end; f += LANES) {
            if (TL_AT_REST(e, face, f)) continue;
            patch p;
            load_patch(job, f, end, &p);
            if (job->gradient) {
                const bool hessian = job->matrix != NULL;
                if (fetch) fetch_blocks(job, &p);
                stretch_derivatives(&p, hessian);
                if (air) air_terms(&p, job->step, true, hessian);
                bend_derivatives(&p, hessian);
                store_patch(job, &p);
            } else {
                stretch_energy(&p);
                bend_energy(&p);
                p.energy[3] = vd_of(0);
                if (air) air_terms(&p, job->step, false, false);
                for (int l = 0; l < p.count; l++)
                    for (int i = 0; i < 4; i++) sum[i] += p.energy[i][l];
            }
        }
        if (job->energy) memcpy(job->energy[chunk], sum, sizeof sum);
    }
}

// ---- hinges ----

typedef struct less_job { const double *a, *b; double *out; } less_job;
typedef struct angle_job { tl_elements *e; const tl_vec3 *x; double (*jacobian)[TL_JACOBIAN]; } angle_job;

LANE_CLONES static void angle_chunk(void *arg, int32_t begin, int32_t end)
{
    const angle_job *job = arg;
    const tl_elements *e = job->e;
    for (int32_t h = begin; h < end; h += LANES) {
        if (TL_AT_REST(e, angle, h)) continue;
        const int count = end - h < LANES ? end - h : LANES;
        vd x[4][3], edge[3], d1[3], d2[3], n1[3], n2[3], turn[3];
        for (int l = 0; l < LANES; l++)
            for (int i = 0; i < 4; i++) {
                const tl_vec3 p = job->x[e->hinge[h + (l < count ? l : count - 1)][i]];
                x[i][0][l] = p.x, x[i][1][l] = p.y, x[i][2][l] = p.z;
            }
        vd_sub(x[1], x[0], edge);
        vd_sub(x[2], x[0], d1);
        vd_sub(x[3], x[1], d2);
        vd_cross(edge, d1, n1);
        vd_cross(d2, edge, n2);
        vd_cross(n2, n1, turn);
        const vd s = vd_dot(turn, edge) / (vd_sqrt(vd_dot(edge, edge)) + 1e-300), c = vd_dot(n1, n2);
        double angle[LANES];
        for (int l = 0; l < LANES; l++) angle[l] = tl_angle(s[l], c[l]);
        for (int l = 0; l < count; l++) e->angle[h + l] = angle[l];
        if (!job->jacobian) continue;
        const vd tiny = vd_of(1e-300), ll = vd_max(vd_dot(edge, edge), tiny), length = vd_sqrt(ll);
        vd to_right[3];
        vd_sub(x[3], x[0], to_right);
        const vd s1 = length / vd_max(vd_dot(n1, n1), tiny), s2 = length / vd_max(vd_dot(n2, n2), tiny);
        const vd y1 = vd_dot(d1, edge) / ll, y2 = vd_dot(to_right, edge) / ll;
        for (int l = 0; l < count; l++) {
            double *j = job->jacobian[h + l];
            for (int i = 0; i < 3; i++) j[i] = s1[l] * n1[i][l], j[3 + i] = s2[l] * n2[i][l];
            j[6] = y1[l], j[7] = y2[l];
        }
    }
}

void tl_forces_angles(tl_elements *e, const tl_vec3 *x, tl_workers *workers)
{
    tl_parallel_for(workers, e->hinge_count, HINGES_PER_CHUNK, angle_chunk, &(angle_job){e, x, NULL});
}

void tl_forces_angle_jacobian(tl_elements *e, const tl_vec3 *x, double (*out)[TL_JACOBIAN], tl_workers *workers)
{
    tl_parallel_for(workers, e->hinge_count, HINGES_PER_CHUNK, angle_chunk, &(angle_job){e, x, out});
}

// ---- folds ----

static void less_chunk(void *arg, int32_t begin, int32_t end)
{
    const less_job *job = arg;
    for (int32_t i = begin; i < end; i++) job->out[i] = job->a[i] - job->b[i];
}

// Folds at the current angles, relative to rest and (with damping) to the past.
static void update_folds(tl_elements *e, tl_workers *workers)
{
    if (e->damped) {
        tl_parallel_for(workers, e->hinge_count, HINGES_PER_CHUNK, less_chunk, &(less_job){e->angle, e->angle_hat, e->moment});
        tl_bend_folds(e, e->moment, e->fold_rate, workers);
    }
    tl_parallel_for(workers, e->hinge_count, HINGES_PER_CHUNK, less_chunk, &(less_job){e->angle, e->rest, e->moment});
    tl_bend_folds(e, e->moment, e->fold, workers);
}

typedef struct moment_job { tl_elements *e; double gamma; } moment_job;

// Replaces folds by their moments.
static void fold_moment_chunk(void *arg, int32_t begin, int32_t end)
{
    const moment_job *job = arg;
    const tl_elements *e = job->e;
    for (int32_t f = begin; f < end; f++) {
        if (TL_AT_REST(e, face, f)) continue;
        double a[3] = {e->fold[f][0], e->fold[f][1], e->fold[f][2]};
        if (e->damped) {
            const double visc = e->materials[e->material[f]].damping_bend * job->gamma;
            for (int k = 0; k < 3; k++) a[k] += visc * e->fold_rate[f][k];
        }
        double h[6];
        for (int k = 0; k < 6; k++) h[k] = (double)e->bend[f][k];
        e->fold[f][0] = h[0] * a[0] + h[5] * a[1] + h[4] * a[2];
        e->fold[f][1] = h[5] * a[0] + h[1] * a[1] + h[3] * a[2];
        e->fold[f][2] = h[4] * a[0] + h[3] * a[1] + h[2] * a[2];
    }
}

// ---- nodes ----

typedef struct node_job {
    const tl_elements *e;
    const tl_step_def *step;
    const tl_vec3 *x;
    tl_vec3 *gradient;
    tl_bsr *matrix;
    double (*energy)[2];  // per chunk: inertia, gravity
} node_job;

static void node_energy_chunk(void *arg, int32_t begin, int32_t end)
{
    const node_job *job = arg;
    const double gg = job->step->gamma * job->step->gamma;
    double inertia = 0, gravity = 0;
    for (int32_t i = begin; i < end; i++) {
        const double m = job->e->mass[i];
        if (job->step->x_tilde && !job->e->fixed[i]) {
            const tl_vec3 d = tl_sub3(job->x[i], job->step->x_tilde[i]);
            inertia += 0.5 * gg * m * tl_dot3(d, d);
        }
        if (job->step->pull && !job->e->fixed[i]) {
            const tl_vec3 d = tl_sub3(job->x[i], job->step->pull_to[i]);
            inertia += 0.5 * job->step->pull[i] * tl_dot3(d, d);
        }
        gravity -= m * tl_dot3(job->step->gravity, job->x[i]);
    }
    job->energy[begin / NODES_PER_CHUNK][0] = inertia;
    job->energy[begin / NODES_PER_CHUNK][1] = gravity;
}

// Row i of the upper triangle: a multiple of the identity on the diagonal, zero right of it.
static void set_row(tl_bsr *m, int32_t i, double diagonal)
{
    const int32_t first = m->row_start[i], count = m->row_start[i + 1] - first - 1;
    double *d = tl_bsr_diagonal(m, i);
    for (int k = 0; k < 9; k++) d[k] = k % 4 ? 0 : diagonal;
    if (m->single)
        memset(m->single[first - i], 0, (size_t)count * sizeof *m->single);
    else
        memset(m->value[first + 1], 0, (size_t)count * sizeof *m->value);
}

static void node_start_chunk(void *arg, int32_t begin, int32_t end)
{
    const node_job *job = arg;
    const double gg = job->step->gamma * job->step->gamma;
    const tl_touched *touched = job->e->touched;
    for (int32_t i = begin; i < end; i++) {
        if (touched && touched->place[i] < 0) continue;
        const double m = job->e->mass[i];
        tl_vec3 g = tl_mul3(-m, job->step->gravity);
        if (job->step->x_tilde) g = tl_madd3(g, gg * m, tl_sub3(job->x[i], job->step->x_tilde[i]));
        const double pull = job->step->pull ? job->step->pull[i] : 0;
        if (pull > 0) g = tl_madd3(g, pull, tl_sub3(job->x[i], job->step->pull_to[i]));
        job->gradient[i] = g;
        if (!job->matrix) continue;
        set_row(job->matrix, i, gg * m + pull);
    }
}

static void fix_rows(const tl_elements *e, tl_bsr *matrix, tl_vec3 *gradient)
{
    for (int32_t i = 0; i < e->node_count; i++) {
        if (!e->fixed[i]) continue;
        gradient[i] = (tl_vec3){0, 0, 0};
        if (!matrix) continue;
        set_row(matrix, i, 1);
        for (int32_t k = matrix->lower_start[i]; k < matrix->lower_start[i + 1]; k++) {
            const int32_t block = matrix->lower_block[k];
            if (matrix->single)
                memset(matrix->single[block - matrix->lower_row[k] - 1], 0, sizeof *matrix->single);
            else
                memset(matrix->value[block], 0, sizeof *matrix->value);
        }
    }
}

tl_status tl_forces_energy(tl_elements *e, const tl_step_def *step, const tl_vec3 *x, tl_arena *scratch,
                           tl_workers *workers, tl_potential *out, tl_error *err)
{
    const tl_arena_mark mark = tl_arena_save(scratch);
    const int32_t node_chunks = tl_chunk_count(e->node_count, NODES_PER_CHUNK);
    double(*face)[4] = tl_arena_bytes(scratch, (size_t)e->chunk_count, sizeof *face);
    double(*node)[2] = tl_arena_bytes(scratch, (size_t)node_chunks, sizeof *node);
    double *column = TL_SCRATCH(scratch, double, e->chunk_count > node_chunks ? e->chunk_count : node_chunks);
    if (!face || !node || !column) {
        tl_arena_release(scratch, mark);
        return tl_fail_memory(err, "sums of energy");
    }
    tl_forces_angles(e, x, workers);
    update_folds(e, workers);
    tl_parallel_for(workers, e->node_count, NODES_PER_CHUNK, node_energy_chunk,
                    &(node_job){e, step, x, NULL, NULL, node});
    tl_parallel_for(workers, e->chunk_count, 1, face_chunk, &(face_job){e, step, x, NULL, NULL, NULL, face});
    double total[6];
    for (int k = 0; k < 2; k++) {
        for (int32_t i = 0; i < node_chunks; i++) column[i] = node[i][k];
        total[k] = tl_tree_sum(column, node_chunks);
    }
    for (int k = 0; k < 4; k++) {
        for (int32_t i = 0; i < e->chunk_count; i++) column[i] = face[i][k];
        total[2 + k] = tl_tree_sum(column, e->chunk_count);
    }
    *out = (tl_potential){total[0], total[1], total[2], total[3], total[4], total[5]};
    tl_arena_release(scratch, mark);
    return TL_OK;
}

void tl_forces_assemble(tl_elements *e, const tl_step_def *step, const tl_vec3 *x, tl_bsr *matrix, tl_vec3 *gradient,
                        tl_workers *workers)
{
    tl_forces_angles(e, x, workers);
    update_folds(e, workers);
    tl_parallel_for(workers, e->face_count, FACES_PER_CHUNK, fold_moment_chunk, &(moment_job){e, step->gamma});
    tl_bend_moments(e, e->fold, e->moment, workers);
    tl_parallel_for(workers, e->node_count, NODES_PER_CHUNK, node_start_chunk,
                    &(node_job){e, step, x, gradient, matrix, NULL});
    for (int32_t c = 0; c < e->color_count; c++) {
        face_job job = {e, step, x, matrix, gradient, e->color_chunk + e->color_start[c], NULL};
        tl_parallel_for(workers, e->color_start[c + 1] - e->color_start[c], 1, face_chunk, &job);
    }
    fix_rows(e, matrix, gradient);
}

// ---- what a step holds constant ----

typedef struct begin_job {
    tl_elements *e;
    const tl_step_def *step;
    const tl_vec3 *x, *before;
} begin_job;

static void face_strain(const tl_elements *e, const tl_vec3 *x, int32_t f, double out[3])
{
    const double *g = e->grad[f];
    const tl_vec3 d1 = tl_sub3(x[e->face[f][1]], x[e->face[f][0]]), d2 = tl_sub3(x[e->face[f][2]], x[e->face[f][0]]);
    const tl_vec3 f1 = tl_madd3(tl_mul3(g[0], d1), g[2], d2), f2 = tl_madd3(tl_mul3(g[1], d1), g[3], d2);
    out[0] = 0.5 * (tl_dot3(f1, f1) - 1);
    out[1] = 0.5 * (tl_dot3(f2, f2) - 1);
    out[2] = 0.5 * tl_dot3(f1, f2);
}

static void begin_chunk(void *arg, int32_t begin, int32_t end)
{
    const begin_job *job = arg;
    tl_elements *e = job->e;
    for (int32_t f = begin; f < end; f++) {
        double now[3], past[3] = {0};
        face_strain(e, job->x, f, now);
        if (job->step->before != 0) face_strain(e, job->before, f, past);
        if (e->damped)
            for (int i = 0; i < 3; i++) e->strain_hat[f][i] = job->step->now * now[i] - job->step->before * past[i];
        const tl_stretch c = tl_material_stretch(&e->materials[e->material[f]], now[0], now[1], now[2]);
        e->stretch[f][0] = c.c11, e->stretch[f][1] = c.c12, e->stretch[f][2] = c.c22, e->stretch[f][3] = c.c33;
        const tl_vec3 d1 = tl_sub3(job->x[e->face[f][1]], job->x[e->face[f][0]]);
        const tl_vec3 d2 = tl_sub3(job->x[e->face[f][2]], job->x[e->face[f][0]]);
        const tl_vec3 n = tl_mul3(0.5, tl_cross3(d1, d2));
        e->wind[f][0] = (float)n.x, e->wind[f][1] = (float)n.y, e->wind[f][2] = (float)n.z;
    }
}

void tl_forces_begin(tl_elements *e, const tl_step_def *step, const tl_vec3 *x, const tl_vec3 *before,
                     bool shape_changed, tl_workers *workers)
{
    if (shape_changed) tl_bend_update_folds(e);
    if (e->damped && step->before != 0) {
        tl_forces_angles(e, before, workers);
        for (int32_t h = 0; h < e->hinge_count; h++) e->angle_hat[h] = -step->before * e->angle[h];
    } else if (e->damped) {
        for (int32_t h = 0; h < e->hinge_count; h++) e->angle_hat[h] = 0;
    }
    tl_forces_angles(e, x, workers);
    if (e->damped)
        for (int32_t h = 0; h < e->hinge_count; h++) e->angle_hat[h] += step->now * e->angle[h];
    tl_parallel_for(workers, e->face_count, FACES_PER_CHUNK, begin_chunk, &(begin_job){e, step, x, before});
    if (shape_changed || e->nonlinear) {
        update_folds(e, workers);
        tl_bend_update_stiffness(e, workers);
    }
}

void tl_forces_stretch(const tl_elements *e, const tl_vec3 *x, int32_t f, double out[2])
{
    double s[3];
    face_strain(e, x, f, s);
    const double mean = 0.5 * (s[0] + s[1]), half = 0.5 * (s[0] - s[1]), radius = sqrt(half * half + s[2] * s[2]);
    out[0] = sqrt(fmax(0, 1 + 2 * (mean + radius)));
    out[1] = sqrt(fmax(0, 1 + 2 * (mean - radius)));
}
