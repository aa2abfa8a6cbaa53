// physics/strain_seen.h: the linear model of limits with what looks ahead have found; for strain_predict.c and
// strain_ahead.c.
#pragma once
#include "physics/strain_lanes.h"

/// tl_strain_seen of eight faces. side: of the bound that acts, 0 none; joined: it does since it was foreseen.
typedef struct seen8 {
    vd offset[3], lead[2], side[2], bold;
    vm joined[2];
} seen8;

/// Faces within their limits have the directions in which they were seen to leave them.
TL_INLINE void strain_recall(const tl_strain_limits *l, const strain8 *p, axes8 *a, seen8 *out)
{
    const vd zero = vd_of(0), one = vd_of(1);
    double bold[LANES];
    for (int i = 0; i < LANES; i++) bold[i] = l->bold[p->face[i]];
    out->bold = TL_LOAD8(bold);
    for (int k = 0; k < 3; k++) out->offset[k] = zero;
    for (int k = 0; k < 2; k++) {
        out->side[k] = vd_choose(vd_more(p->h[k], zero), one, vd_choose(vd_more(zero, p->h[k]), -one, zero));
        out->lead[k] = zero, out->joined[k] = vd_other(zero, zero);
    }
    if (!l->looked) return;
    double offset[3][LANES], lead[2][LANES], axis[2][LANES], side[2][LANES];
    for (int i = 0; i < LANES; i++) {
        const tl_strain_seen *seen = &l->seen[p->face[i]];
        for (int k = 0; k < 3; k++) offset[k][i] = seen->offset[k];
        for (int k = 0; k < 2; k++) lead[k][i] = seen->lead[k], axis[k][i] = seen->axis[k], side[k][i] = seen->side[k];
    }
    for (int k = 0; k < 3; k++) out->offset[k] = TL_LOAD8(offset[k]);
    const vm idle = ~(vd_other(p->h[0], zero) | vd_other(p->h[1], zero)) &
                    (vd_other(TL_LOAD8(side[0]), zero) | vd_other(TL_LOAD8(side[1]), zero));
    for (int k = 0; k < 2; k++) {
        out->lead[k] = TL_LOAD8(lead[k]);
        a->w[k] = vd_choose(idle, TL_LOAD8(axis[k]), a->w[k]);
        out->joined[k] = ~vd_other(p->h[k], zero) & vd_other(TL_LOAD8(side[k]), zero);
        out->side[k] = vd_choose(out->joined[k], TL_LOAD8(side[k]), out->side[k]);
    }
}

/// Bound that acts on the k-th direction, given its side.
TL_INLINE vd strain_bound(const strain8 *p, const seen8 *seen, int k)
{
    return vd_choose(vd_more(seen->side[k], vd_of(0)), p->high[k], p->low[k]);
}

/// Keeps a pull from becoming a push.
TL_INLINE vd strain_same_side(vd t, vd side)
{
    const vd zero = vd_of(0);
    return vd_choose(vd_more(side, zero), vd_max(t, zero), vd_choose(vd_more(zero, side), -vd_max(-t, zero), zero));
}

/// Stress over mu, along w, after strains have changed by g (along w) from `strain` (in material coordinates), each
/// held to its side.
TL_INLINE void strain_sought(const strain8 *p, const axes8 *a, const model8 *m, const seen8 *seen, const vd strain[3],
                             const vd g[3], vd out[3])
{
    vd at[3];
    strain_turned(a->w, strain, at);
    for (int k = 0; k < 2; k++) {
        const vd b = vd_choose(seen->joined[k], m->s[k] + seen->bold * (at[k] - strain_bound(p, seen, k)), m->b[k]);
        out[k] = strain_same_side(b + seen->bold * (g[k] + seen->offset[k]), seen->side[k]);
    }
    out[2] = m->b[2] + m->stiff[2] * (g[2] + seen->offset[2]);
}
