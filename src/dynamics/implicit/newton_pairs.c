// dynamics/implicit/newton_pairs.c: corrections of the Hessian by the last updates (L-BFGS).
//
// The terms that the Hessian leaves out (compression, second derivatives of angles) cause slow modes where cloth
// buckles. Past updates show how the gradient really changed along them; as in L-BFGS (Nocedal & Wright 2006, alg. 7.4,
// with the Newton solve in place of the initial scaling) the last few correct the next one.

#include "base/fail.h"
#include "math/pcg.h"
#include "dynamics/implicit/newton_impl.h"

#define LEAST_CURVATURE 0.02  // of what the Hessian expects: pairs that show less would send the next update far off

// Records the update just taken and, for now, minus the gradient at its start.
tl_status newton_begin_pair(newton *s, double length, double slope, tl_error *err)
{
    const int32_t n = s->e->node_count;
    newton_pair p;
    if (s->pair_count == MAX_PAIRS) {
        p = s->pairs[0];
        for (int i = 1; i < MAX_PAIRS; i++) s->pairs[i - 1] = s->pairs[i];
        s->pair_count--;
    } else {
        p = s->pairs[s->pair_count];
        if (!p.step) p.step = TL_SCRATCH(s->arena, tl_vec3, n);
        if (!p.change) p.change = TL_SCRATCH(s->arena, tl_vec3, n);
        if (!p.step || !p.change) return tl_fail_memory(err, "Newton's method");
    }
    for (int32_t i = 0; i < n; i++)
        p.step[i] = tl_mul3(length, s->direction[i]), p.change[i] = tl_mul3(-1, s->gradient[i]);
    p.expected = -length * length * slope;
    s->pairs[s->pair_count++] = p;
    s->open = true;
    return TL_OK;
}

// Completes the newest pair with the gradient at hand; drops it unless the potential curves upwards along it.
void newton_end_pair(newton *s)
{
    if (!s->open) return;
    s->open = false;
    const int32_t n = s->e->node_count;
    newton_pair *p = &s->pairs[s->pair_count - 1];
    for (int32_t i = 0; i < n; i++) p->change[i] = tl_add3(p->change[i], s->gradient[i]);
    const double curve = tl_vec_dot(s->workers, n, p->step, p->change, s->partial);
    if (curve > LEAST_CURVATURE * p->expected)
        p->per_curvature = 1 / curve;
    else
        s->pair_count--;
}

// First half of the two loops: from -gradient in `right` to the right side of the Newton solve.
void newton_before_solve(newton *s, double *weight)
{
    const int32_t n = s->e->node_count;
    for (int k = s->pair_count - 1; k >= 0; k--) {
        const newton_pair *p = &s->pairs[k];
        weight[k] = p->per_curvature * tl_vec_dot(s->workers, n, p->step, s->right, s->partial);
        tl_parallel_for(s->workers, n, NEWTON_CHUNK, newton_move_chunk,
                        &(newton_move){s->right, p->change, -weight[k], s->right});
    }
}

// Second half: from the answer of the solve to the direction.
void newton_after_solve(newton *s, const double *weight)
{
    const int32_t n = s->e->node_count;
    for (int k = 0; k < s->pair_count; k++) {
        const newton_pair *p = &s->pairs[k];
        const double b = p->per_curvature * tl_vec_dot(s->workers, n, p->change, s->direction, s->partial);
        tl_parallel_for(s->workers, n, NEWTON_CHUNK, newton_move_chunk,
                        &(newton_move){s->direction, p->step, weight[k] - b, s->direction});
    }
}
