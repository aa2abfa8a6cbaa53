// physics/forces_terms.h: energy, gradient and Hessian of eight faces; formulas alone, for inlining into
// forces_faces.c.
//
// Stretching: St. Venant-Kirchhoff in Green strain E with the fabric's frozen stiffness. The Hessian keeps the
// tensile part of the geometric term and drops the compressive one, so it is positive semidefinite.
// Bending: energy 1/2 a^T H a in the folds a of a face (bend.h); Hessian by Gauss-Newton over the face's own hinges.
// Damping: 1/2 eta gamma (E - E_hat) C (E - E_hat), E_hat from the past, and the same for angles (Kelvin-Voigt).
// Dry friction of bending (bend_friction.h) adds to the latter what goes with the rate at hand; the Hessian keeps that
// as it is, a bound from above. Air: with v the wind relative to the face, n its normal and A its area, both at the
// start of the step, 1/gamma (pressure A |v_n|^3 / 3 + skin A |v_t|^2 / 2), whose gradient is the drag of Wejchert &
// Haumann 1991 with the square law: convex, so no step is too large for it.
//
// A header, because all of it must be compiled as a part of the loop, once for each instruction set (lanes.h).
#pragma once
#include "physics/forces_parts.h"
#include "physics/lanes.h"

// A face squeezed to nothing has no normal; heights below this part of the rest shape count as this part.
#define THINNEST 1e-6

/// Eight faces, one per lane.
typedef struct patch {
    int count;
    int32_t face[LANES];
    vd x[TL_PATCH_NODES][3];
    vd grad[4], area, stretch[4], bend[6];      // bend: over folds for energy, over own angles for the Hessian
    vd strain_hat[3], visc_stretch, visc_bend;  // visc: damping time over step, eta gamma
    vd fold[3], fold_rate[3], rub;              // energy only
    vd moment[3];                               // half of each hinge's, gradient only
    vd wind[3], drift[3];                       // area normal; wind - gamma (mean x - mean x_hat)
    vd energy[TL_FACE_ENERGIES];
    vd g[TL_PATCH_NODES][3];
    vd k[TL_PATCH_BLOCKS][9];
} patch;

TL_INLINE int pair6(int a, int b) { return a * TL_PATCH_NODES - a * (a - 1) / 2 + (b - a); }

// ---- stretching ----

/// Deformation gradient columns and strains of a patch.
typedef struct strain {
    vd f1[3], f2[3], e[3];
} strain;

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

// Jamming. In Green strain a face that is sheared or pushed to nothing resists less and less, F S -> 0: without more,
// single faces of cloth that is hit hard stay crushed. Yarns jam: a trellis locks at a shear of some 60 degrees, at
// half its area. Below that part j0 of the rest area, j = sqrt(det C), an energy 1/2 (c11 + c22) (j0 - j)^2 per area is
// added; above it there is none. Its stress is -k (j0 - j) j C^-1, its Hessian k grad j grad j^T (the rest, from a
// pressure, is dropped).
#define JAMMED 0.5
#define LEAST_AREA 1e-9

typedef struct jam {
    vd dip, area, stiffness;  ///< j0 - j where positive; j; k
    bool any;
} jam;

TL_INLINE void measure_jam(const patch *p, const strain *s, jam *out)
{
    const vd c11 = 2 * s->e[0] + 1, c22 = 2 * s->e[1] + 1, c12 = 2 * s->e[2], det = c11 * c22 - c12 * c12;
    out->any = false;
    for (int l = 0; l < LANES; l++) out->any = out->any || det[l] < JAMMED * JAMMED;
    if (!out->any) return;
    out->area = vd_sqrt(vd_max(det, vd_of(LEAST_AREA * LEAST_AREA)));
    out->dip = vd_max(JAMMED - out->area, vd_of(0));
    out->stiffness = p->stretch[0] + p->stretch[2];
}

// grad[a] = d j / d corner a, of corners 1 and 2.
TL_INLINE void jam_gradient(const patch *p, const strain *s, const jam *m, vd grad[3][3])
{
    const vd c11 = 2 * s->e[0] + 1, c22 = 2 * s->e[1] + 1, c12 = 2 * s->e[2], per = 1 / m->area;
    for (int a = 1; a <= 2; a++) {
        const vd gx = p->grad[2 * a - 2], gy = p->grad[2 * a - 1];
        const vd w1 = per * (c22 * gx - c12 * gy), w2 = per * (c11 * gy - c12 * gx);
        for (int i = 0; i < 3; i++) grad[a][i] = w1 * s->f1[i] + w2 * s->f2[i];
    }
}

TL_INLINE void stretch_energy(patch *p)
{
    strain s;
    jam m;
    vd rate[3];
    measure_strain(p, &s);
    for (int i = 0; i < 3; i++) rate[i] = s.e[i] - p->strain_hat[i];
    p->energy[0] = p->area * strain_energy(p->stretch, s.e);
    measure_jam(p, &s, &m);
    if (m.any) p->energy[0] += 0.5 * p->area * m.stiffness * m.dip * m.dip;
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
    jam m;
    vd jammed[3][3];
    measure_jam(p, &s, &m);
    if (m.any) {
        jam_gradient(p, &s, &m, jammed);
        for (int a = 1; a <= 2; a++)
            for (int i = 0; i < 3; i++) p->g[a][i] -= p->area * m.stiffness * m.dip * jammed[a][i];
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
            if (!m.any) continue;
            for (int l = 0; l < LANES; l++) {
                const double w = m.dip[l] > 0 ? p->area[l] * m.stiffness[l] : 0;
                for (int i = 0; i < 9; i++) k[i][l] += w * jammed[a][i / 3][l] * jammed[b][i % 3][l];
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

// ---- air ----

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

// ---- bending ----

TL_INLINE vd quadratic(const vd h[6], const vd a[3])
{
    return 0.5 * (h[0] * a[0] * a[0] + h[1] * a[1] * a[1] + h[2] * a[2] * a[2]) + h[3] * a[1] * a[2] +
           h[4] * a[0] * a[2] + h[5] * a[0] * a[1];
}

TL_INLINE void bend_energy(patch *p)
{
    p->energy[1] = quadratic(p->bend, p->fold);
    p->energy[2] += p->visc_bend * quadratic(p->bend, p->fold_rate) + p->rub;
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
                push[k][c][i] =
                    more * (full[k][0] * corner[0][c][i] + full[k][1] * corner[1][c][i] + full[k][2] * corner[2][c][i]);
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
