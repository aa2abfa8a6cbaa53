// physics/strain_lanes.h: eight faces against their limits; for strain_energy.c, which makes the linear model of
// limits, strain_predict.c, which says what that model ends with (both must take the same directions), and
// strain_ahead.c, which corrects it.
#pragma once
#include "physics/lanes.h"
#include "physics/strain_limit.h"
#include "physics/strain_tensor.h"

typedef long long vm __attribute__((vector_size(64), aligned(8), may_alias));  ///< of a comparison: all bits or none

TL_INLINE vd vd_choose(vm which, vd a, vd b) { return (vd)(((vm)a & which) | ((vm)b & ~which)); }
TL_INLINE vm vd_more(vd a, vd b) { return (vm)(a > b); }
TL_INLINE vm vd_other(vd a, vd b) { return (vm)(a != b); }

typedef struct strain8 {
    int count;
    int32_t face[LANES];
    vd area, mu, grad[4], f1[3], f2[3];
    vd s[3];      // S/mu
    vd y[3];      // strain + S/mu: Y11, Y22, Y12
    vd value[3];  // what the bounds are on: eigenvalues of Y, or Y itself
    vd h[3];      // that, beyond the bounds
    vd low[3], high[3], aligned;
} strain8;

/// Which faces those are; idle lanes repeat the last.
TL_INLINE void strain_faces(const int32_t *faces, int32_t first, int count, strain8 *p)
{
    p->count = count;
    for (int i = 0; i < LANES; i++) {
        const int k = i < count ? i : count - 1;
        p->face[i] = faces ? faces[k] : first + k;
    }
}

/// F of all nodes at x, or its change along a move.
TL_INLINE void strain_columns(const tl_elements *e, const tl_vec3 *x, const strain8 *p, vd f1[3], vd f2[3])
{
    double side[6][LANES];
    for (int i = 0; i < LANES; i++) {
        const int32_t *node = e->face[p->face[i]];
        const tl_vec3 *o = &x[node[0]], *a = &x[node[1]], *c = &x[node[2]];
        side[0][i] = a->x - o->x, side[1][i] = a->y - o->y, side[2][i] = a->z - o->z;
        side[3][i] = c->x - o->x, side[4][i] = c->y - o->y, side[5][i] = c->z - o->z;
    }
    for (int k = 0; k < 3; k++) {
        const vd d1 = TL_LOAD8(side[k]), d2 = TL_LOAD8(side[3 + k]);
        f1[k] = d1 * p->grad[0] + d2 * p->grad[2], f2[k] = d1 * p->grad[1] + d2 * p->grad[3];
    }
}

/// Square root of the 2x2 matrix C = F^T F, less one: (C + d1 d2 I) / (d1 + d2), since C = tr(U) U - det(U) I.
TL_INLINE void strain_of(const vd f1[3], const vd f2[3], vd out[3])
{
    vd normal[3];
    vd_cross(f1, f2, normal);
    const vd c11 = vd_dot(f1, f1), c22 = vd_dot(f2, f2), c12 = vd_dot(f1, f2);
    const vd det = vd_sqrt(vd_dot(normal, normal)), trace = vd_sqrt(c11 + c22 + 2 * det), per = 1 / (trace + TINY);
    out[0] = (c11 + det) * per - 1, out[1] = (c22 + det) * per - 1, out[2] = c12 * per;
}

TL_INLINE vd strain_beyond(vd y, vd low, vd high)
{
    return vd_choose(vd_more(y, high), y - high, vd_choose(vd_more(low, y), y - low, vd_of(0)));
}

/// The faces of `p` (strain_faces) at x with their multipliers, against their bounds.
TL_INLINE void strain_project(const tl_strain_limits *l, const tl_elements *e, const tl_vec3 *x,
                              const double (*multiplier)[3], strain8 *p)
{
    vd strain[3];
    double grad[4][LANES], s[3][LANES], low[3][LANES], high[3][LANES], area[LANES], mu[LANES], is_aligned[LANES];
    bool any_aligned = false;
    for (int i = 0; i < LANES; i++) {
        const int32_t f = p->face[i];
        const tl_strain_bounds *b = &l->bounds[l->cloth[f]];
        const double give = l->give[f];
        for (int k = 0; k < 4; k++) grad[k][i] = e->grad[f][k];
        for (int k = 0; k < 3; k++)
            s[k][i] = multiplier[f][k], low[k][i] = b->low[k] - give, high[k][i] = b->high[k] + give;
        area[i] = e->area[f], mu[i] = l->stiffness[f], is_aligned[i] = b->aligned;
        any_aligned = any_aligned || b->aligned;
    }
    for (int k = 0; k < 4; k++) p->grad[k] = TL_LOAD8(grad[k]);
    for (int k = 0; k < 3; k++) p->low[k] = TL_LOAD8(low[k]), p->high[k] = TL_LOAD8(high[k]);
    p->area = TL_LOAD8(area), p->mu = TL_LOAD8(mu), p->aligned = TL_LOAD8(is_aligned);
    strain_columns(e, x, p, p->f1, p->f2);
    strain_of(p->f1, p->f2, strain);
    const vd per_mu = 1 / p->mu;
    const vm aligned = vd_other(p->aligned, vd_of(0));
    if (any_aligned) {
        const vd along1 = vd_sqrt(vd_dot(p->f1, p->f1)), along2 = vd_sqrt(vd_dot(p->f2, p->f2)),
                 c12 = vd_dot(p->f1, p->f2);
        const vd own[3] = {along1 - 1, along2 - 1, c12 / (along1 * along2 + TINY)};
        for (int k = 0; k < 3; k++) strain[k] = vd_choose(aligned, own[k], strain[k]);
    }
    for (int k = 0; k < 3; k++) p->s[k] = TL_LOAD8(s[k]) * per_mu, p->y[k] = strain[k] + p->s[k];
    const vd mean = 0.5 * (p->y[0] + p->y[1]), half = 0.5 * (p->y[0] - p->y[1]),
             radius = vd_sqrt(half * half + p->y[2] * p->y[2]);
    p->value[0] = vd_choose(aligned, p->y[0], mean + radius);
    p->value[1] = vd_choose(aligned, p->y[1], mean - radius);
    p->value[2] = vd_choose(aligned, p->y[2], vd_of(0));
    for (int k = 0; k < 3; k++) p->h[k] = strain_beyond(p->value[k], p->low[k], p->high[k]);
}

// ---- directions of isotropic limits ----

TL_INLINE void strain_basis(vd half, vd off, vd n[2])
{
    const vd one = vd_of(1), radius = vd_sqrt(half * half + off * off);
    const vm some = vd_more(radius, vd_of(TINY));
    vd turn = half / vd_choose(some, radius, one);
    turn = vd_choose(vd_more(turn, one), one, vd_choose(vd_more(-one, turn), -one, turn));
    const vd second = vd_sqrt(0.5 * (1 - turn));
    n[0] = vd_choose(some, vd_sqrt(0.5 * (1 + turn)), one);
    n[1] = vd_choose(some, vd_choose(vd_more(vd_of(0), off), -second, second), vd_of(0));
}

/// A symmetric matrix (11, 22, 12) along the direction n, along the one a quarter turn on, and between the two.
TL_INLINE void strain_turned(const vd n[2], const vd t[3], vd out[3])
{
    const vd xx = n[0] * n[0], yy = n[1] * n[1], xy = n[0] * n[1];
    out[0] = xx * t[0] + yy * t[1] + 2 * xy * t[2];
    out[1] = yy * t[0] + xx * t[1] - 2 * xy * t[2];
    out[2] = xy * (t[1] - t[0]) + (xx - yy) * t[2];
}

/// The way back.
TL_INLINE void strain_turned_back(const vd n[2], const vd t[3], vd out[3])
{
    const vd back[2] = {n[0], -n[1]};
    strain_turned(back, t, out);
}

/// v_k: eigenvectors of U, d_k its eigenvalues, u_k = F v_k / d_k, s_ka = grad(basis a) . v_k for corners 1 and 2; w:
/// eigenvectors of Y.
typedef struct axes8 {
    vd v[2], w[2], d1, d2, u1[3], u2[3], s1[2], s2[2];
    vd gap;  // between the eigenvalues of Y
} axes8;

TL_INLINE void strain_axes(const strain8 *p, axes8 *a)
{
    strain_basis(0.5 * (vd_dot(p->f1, p->f1) - vd_dot(p->f2, p->f2)), vd_dot(p->f1, p->f2), a->v);
    strain_basis(0.5 * (p->y[0] - p->y[1]), p->y[2], a->w);
    vd p1[3], p2[3];
    for (int k = 0; k < 3; k++)
        p1[k] = a->v[0] * p->f1[k] + a->v[1] * p->f2[k], p2[k] = a->v[0] * p->f2[k] - a->v[1] * p->f1[k];
    a->d1 = vd_max(vd_sqrt(vd_dot(p1, p1)), vd_of(FLAT)), a->d2 = vd_max(vd_sqrt(vd_dot(p2, p2)), vd_of(FLAT));
    for (int k = 0; k < 3; k++) a->u1[k] = p1[k] / a->d1, a->u2[k] = p2[k] / a->d2;
    for (int k = 0; k < 2; k++) {
        a->s1[k] = a->v[0] * p->grad[2 * k] + a->v[1] * p->grad[2 * k + 1];
        a->s2[k] = a->v[0] * p->grad[2 * k + 1] - a->v[1] * p->grad[2 * k];
    }
    a->gap = p->value[0] - p->value[1];
}

/// How U changes, to first order, where the columns of F change by m1 and m2; in material coordinates.
TL_INLINE void strain_change(const axes8 *a, const vd m1[3], const vd m2[3], vd out[3])
{
    vd q1[3], q2[3], t[3];
    for (int k = 0; k < 3; k++) q1[k] = a->v[0] * m1[k] + a->v[1] * m2[k], q2[k] = a->v[0] * m2[k] - a->v[1] * m1[k];
    t[0] = vd_dot(a->u1, q1), t[1] = vd_dot(a->u2, q2);
    t[2] = (a->d1 * vd_dot(a->u1, q2) + a->d2 * vd_dot(a->u2, q1)) / (a->d1 + a->d2);
    strain_turned_back(a->v, t, out);
}

/// Forces on corners 1 and 2 (0 has what is left of none) of a stress in material coordinates, times the area.
TL_INLINE void strain_force(const strain8 *p, const axes8 *a, const vd stress[3], vd out[2][3])
{
    vd t[3];
    strain_turned(a->v, stress, t);
    const vd per = 2 * t[2] / (a->d1 + a->d2);
    for (int c = 0; c < 2; c++) {
        const vd g1 = p->area * (t[0] * a->s1[c] + per * a->s2[c] * a->d1),
                 g2 = p->area * (t[1] * a->s2[c] + per * a->s1[c] * a->d2);
        for (int k = 0; k < 3; k++) out[c][k] = g1 * a->u1[k] + g2 * a->u2[k];
    }
}

/// What the linear model of a face at its limits says, along w: stress over mu is b at x and grows by `stiff` times the
/// change of strain.
typedef struct model8 {
    vd b[3], stiff[3], s[3];
    vm both;
} model8;

TL_INLINE void strain_model(const strain8 *p, const axes8 *a, vd bold, model8 *m)
{
    const vd zero = vd_of(0), one = vd_of(1);
    strain_turned(a->w, p->s, m->s);
    m->both = vd_more(p->h[0] * p->h[1], zero);
    for (int k = 0; k < 2; k++) {
        const vm acts = vd_other(p->h[k], zero);
        m->b[k] = vd_choose(acts, bold * p->h[k] - (bold - 1) * m->s[k], zero);
        m->stiff[k] = vd_choose(acts, bold, zero);
    }
    m->b[2] = vd_choose(m->both, (1 - bold) * m->s[2], zero);
    const vm some = vd_more(a->gap, vd_of(TINY));
    vd turn = (p->h[0] - p->h[1]) / vd_choose(some, a->gap, one);
    turn = vd_choose(vd_more(turn, one), one, vd_max(turn, zero));
    turn = vd_choose(some, turn, vd_choose(vd_other(p->h[0], zero), one, zero));
    m->stiff[2] = vd_choose(m->both, bold, one) * turn;
}
