// sim/newton.c: Newton's method with a backtracking line search on the incremental potential.
//
// The Hessian is positive definite by construction (forces.c), so every direction is one of descent even when
// conjugate gradients stop early. A step is accepted on sufficient decrease (Armijo); the test is waived where
// the expected decrease drowns in the rounding of the potential.

#include "sim/newton.h"

#include <math.h>

#include "base/fail.h"
#include "math/pcg.h"
#include "math/vec3.h"
#include "physics/bend_operator.h"

#define ARMIJO 1e-4        // Nocedal & Wright 2006, sec. 3.1
#define ROUNDING 1e-12     // relative noise of a sum of some 1e5 terms
enum { MAX_BACKTRACKS = 20, CHUNK = 4096 };

typedef struct move_job { const tl_vec3 *from, *direction; double length; tl_vec3 *to; } move_job;

static void move_chunk(void *arg, int32_t begin, int32_t end)
{
    const move_job *job = arg;
    for (int32_t i = begin; i < end; i++) job->to[i] = tl_madd3(job->from[i], job->length, job->direction[i]);
}

static void negate_chunk(void *arg, int32_t begin, int32_t end)
{
    const move_job *job = arg;
    for (int32_t i = begin; i < end; i++) job->to[i] = tl_mul3(-1, job->from[i]);
}

static double largest(const tl_vec3 *d, int32_t n)
{
    double most = 0;
    for (int32_t i = 0; i < n; i++) {
        const double s = tl_dot3(d[i], d[i]);
        if (!(s <= most)) most = s;  // also catches NaN
    }
    return sqrt(most);
}

static double magnitude(const tl_potential *p)
{
    return fabs(p->inertia) + fabs(p->gravity) + fabs(p->stretch) + fabs(p->bend) + fabs(p->damping) + fabs(p->air);
}

typedef struct newton {
    tl_elements *e;
    const tl_step_def *step;
    const tl_newton_def *def;
    tl_bsr *matrix;
    tl_solver *solver;
    tl_arena *arena;
    tl_workers *workers;
    tl_vec3 *gradient, *right, *direction, *trial;
    double *partial;
    tl_potential potential;  // at x
    tl_newton_report *report;
} newton;

// Moves x along the direction until the potential falls enough. Returns the length taken, 0 if none was found.
static tl_status line_search(newton *s, tl_vec3 *x, double slope, double *length, tl_error *err)
{
    const int32_t n = s->e->node_count;
    const double start = tl_potential_sum(&s->potential);
    double a = 1;
    *length = 0;
    for (int k = 0; k < MAX_BACKTRACKS; k++) {
        tl_parallel_for(s->workers, n, CHUNK, move_chunk, &(move_job){x, s->direction, a, s->trial});
        tl_potential p;
        TL_TRY(tl_forces_energy(s->e, s->step, s->trial, s->arena, s->workers, &p, err));
        const double now = tl_potential_sum(&p), noise = ROUNDING * (magnitude(&p) + magnitude(&s->potential));
        if (isfinite(now) && now <= start + ARMIJO * a * slope + noise) {
            s->potential = p;
            *length = a;
            for (int32_t i = 0; i < n; i++) x[i] = s->trial[i];
            return TL_OK;
        }
        // Minimum of the parabola through start, slope and now, kept within [0.1, 0.5] of the last length.
        const double fit = -0.5 * slope * a * a / (now - start - slope * a);
        a = isfinite(fit) && fit > 0.1 * a ? fmin(fit, 0.5 * a) : 0.1 * a;
    }
    return TL_OK;
}

static tl_status iterate(newton *s, tl_vec3 *x, tl_error *err)
{
    const int32_t n = s->e->node_count;
    tl_newton_report *r = s->report;
    const bool linearised = s->def->iterations == 1;
    if (!linearised) TL_TRY(tl_forces_energy(s->e, s->step, x, s->arena, s->workers, &s->potential, err));
    while (r->iterations < s->def->iterations) {
        tl_forces_assemble(s->e, s->step, x, s->matrix, s->gradient, s->workers);
        tl_parallel_for(s->workers, n, CHUNK, negate_chunk, &(move_job){s->gradient, NULL, 0, s->right});
        for (int32_t i = 0; i < n; i++) s->direction[i] = (tl_vec3){0, 0, 0};
        tl_solver_values(s->solver, s->e->fixed, x);
        tl_solve_report solve;
        tl_bend_operator rest_of_bending = {s->e, s->step->gamma};
        if (s->e->bending == TL_BEND_SHAPE) s->matrix->extra = (tl_extra){tl_bend_operator_add, &rest_of_bending};
        const tl_status solved = tl_solver_solve(s->solver, s->def->linear_tolerance, s->right, s->direction, s->arena, s->workers, &solve, err);
        s->matrix->extra = (tl_extra){NULL, NULL};
        if (solved != TL_OK) return solved;
        r->iterations++;
        r->linear_iterations += solve.iterations;
        r->factorizations += solve.factorizations;
        r->used = solve.used;
        r->change = s->step->gamma * largest(s->direction, n);
        if (!isfinite(r->change)) return tl_fail(err, TL_FAILED, "Newton iteration %d: the update is not finite", r->iterations);
        r->converged = r->change <= s->def->tolerance;
        if (linearised || r->converged) {
            // So small an update needs no search; a linearised step takes what it gets.
            tl_parallel_for(s->workers, n, CHUNK, move_chunk, &(move_job){x, s->direction, 1, x});
            r->converged = true;
            return TL_OK;
        }
        const double slope = tl_vec_dot(s->workers, n, s->gradient, s->direction, s->partial);
        double length;
        TL_TRY(line_search(s, x, slope, &length, err));
        if (length == 0) return tl_fail(err, TL_FAILED, "Newton iteration %d: no descent along the update", r->iterations);
    }
    return TL_OK;
}

tl_status tl_newton_solve(tl_elements *e, const tl_step_def *step, const tl_newton_def *def, tl_bsr *matrix,
                          tl_solver *solver, tl_vec3 *x, tl_arena *arena, tl_workers *workers,
                          tl_newton_report *report, tl_error *err)
{
    const tl_arena_mark mark = tl_arena_save(arena);
    *report = (tl_newton_report){0};
    const int32_t n = e->node_count;
    newton s = {.e = e, .step = step, .def = def, .matrix = matrix, .solver = solver, .arena = arena, .workers = workers,
                .report = report};
    s.gradient = TL_SCRATCH(arena, tl_vec3, n);
    s.right = TL_SCRATCH(arena, tl_vec3, n);
    s.direction = TL_SCRATCH(arena, tl_vec3, n);
    s.partial = TL_SCRATCH(arena, double, tl_vec_partials(n));
    s.trial = s.right;  // the right side is done with when the search begins
    const tl_status status = s.gradient && s.right && s.direction && s.partial ? iterate(&s, x, err)
                                                                               : tl_fail_memory(err, "Newton's method");
    tl_arena_release(arena, mark);
    return status;
}
