// sim/newton.c: Newton's method with a backtracking line search on the incremental potential.
//
// The Hessian is positive definite by construction (forces.c), so every direction is one of descent even when
// conjugate gradients stop early. A step is accepted on sufficient decrease (Armijo); the test is waived where
// the expected decrease drowns in the rounding of the potential.
//
// What the Hessian leaves out (compression, second derivatives of angles) makes for slow modes where cloth buckles. Steps
// already taken show how the gradient really changed along them; as in L-BFGS (Nocedal & Wright 2006, alg. 7.4, with the
// Newton solve in place of the initial scaling) the last few correct the next.
//
// Strain limits are terms of the potential too (strain_limit.h), so that contact and limits are solved for together. Their
// multipliers move along with every update, as in sequential quadratic programming with an augmented Lagrangian for merit
// (Nocedal & Wright 2006, ch. 18). Where the iteration has converged and a face is still beyond its limits, it goes on: a round.

#include "sim/newton.h"

#include <math.h>

#include "base/fail.h"
#include "base/timer.h"
#include "math/pcg.h"
#include "math/vec3.h"
#include "physics/bend_operator.h"

#define ARMIJO 1e-4        // Nocedal & Wright 2006, sec. 3.1
#define ROUNDING 1e-12     // relative noise of a sum of some 1e5 terms
#define LEAST_CURVATURE 0.02  // of what the Hessian expects: pairs that show less would send the next update far off
enum { MAX_BACKTRACKS = 20, CHUNK = 4096, COMPACT_ITERATIONS = 10, MAX_PAIRS = 2, FIRST_PAIR = 2, FORESEE_ROUNDS = 6 };

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

static double magnitude(const tl_potential *p)
{
    return fabs(p->inertia) + fabs(p->gravity) + fabs(p->stretch) + fabs(p->bend) + fabs(p->damping) + fabs(p->air);
}

/// A step taken and the change of the gradient along it.
typedef struct pair { tl_vec3 *step, *change; double expected, per_curvature; } pair;

typedef struct newton {
    tl_elements *e;
    const tl_step_def *step;
    const tl_newton_def *def;
    tl_bsr *matrix;
    tl_solver *solver;
    tl_arena *arena;
    tl_workers *workers;
    tl_contacts *contacts;   // NULL: none
    tl_strain_limits *limits;  // NULL: none
    const tl_vec3 *target;   // of fixed nodes
    tl_vec3 *gradient, *right, *direction, *trial;
    tl_vec3 *push;           // part of the gradient of contacts foreseen
    double *partial;
    tl_potential potential;  // at x
    double touch;            // energy of contact at x
    double held;             // energy of strain limits at x
    double excess;           // worst after the round before
    double least_excess;     // of all rounds
    int idle_rounds;         // since it fell
    int32_t allowed;         // iterations, more with every round
    bool limits_act;         // some face is at its limits
    double again_at, again_contact, again_strain;  // when the first round ended, and seconds by then
    tl_newton_report *report;
    tl_bend_operator bending;  // made when first wanted
    pair pairs[MAX_PAIRS];     // newest last; memory is taken when first wanted
    int pair_count;
    bool with_bending;         // the linear systems get the exact bending
    bool searched;             // contact pairs are of a path, not yet settled
    bool open;                 // the newest pair waits for the gradient at its end
} newton;

static tl_status limits_energy(newton *s, const tl_vec3 *x, double *out, tl_error *err)
{
    *out = 0;
    if (!s->limits) return TL_OK;
    const double begin = tl_now();
    TL_TRY(tl_strain_energy(s->limits, s->e, x, s->arena, s->workers, out, err));
    s->report->strain_seconds += tl_now() - begin;
    return TL_OK;
}

// Moves x along the direction until the potential falls enough. Returns the length taken, 0 if none was found.
static tl_status line_search(newton *s, tl_vec3 *x, double slope, double *length, tl_error *err)
{
    const int32_t n = s->e->node_count;
    const double start = tl_potential_sum(&s->potential) + s->touch + s->held;
    double a = 1;
    *length = 0;
    for (int k = 0; k < MAX_BACKTRACKS; k++) {
        tl_parallel_for(s->workers, n, CHUNK, move_chunk, &(move_job){x, s->direction, a, s->trial});
        tl_potential p;
        TL_TRY(tl_forces_energy(s->e, s->step, s->trial, s->arena, s->workers, &p, err));
        double touch = 0, held;
        TL_TRY(limits_energy(s, s->trial, &held, err));
        if (s->contacts) {
            const double begin = tl_now();
            TL_TRY(tl_contacts_energy(s->contacts, s->trial, a, s->arena, s->workers, &touch, err));
            s->report->contact_seconds += tl_now() - begin;
        }
        const double now = tl_potential_sum(&p) + touch + held;
        const double noise = ROUNDING * (magnitude(&p) + magnitude(&s->potential) + touch + s->touch + held + s->held);
        if (isfinite(now) && now <= start + ARMIJO * a * slope + noise) {
            s->potential = p, s->touch = touch, s->held = held;
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

// The compact bending Hessian usually serves; where it is slow, the linear systems get the exact one.
static tl_status take_up_bending(newton *s, const tl_vec3 *x, tl_error *err)
{
    if (s->e->bending != TL_BEND_SHAPE || s->report->iterations < COMPACT_ITERATIONS) return TL_OK;
    if (!s->bending.elements) TL_TRY(tl_bend_operator_init(&s->bending, s->e, s->step->gamma, s->arena, err));
    tl_bend_operator_update(&s->bending, x, s->workers);
    s->with_bending = true;
    return TL_OK;
}

// Notes the step just taken and, for now, minus the gradient at its start.
static tl_status begin_pair(newton *s, double length, double slope, tl_error *err)
{
    const int32_t n = s->e->node_count;
    pair p;
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
    for (int32_t i = 0; i < n; i++) p.step[i] = tl_mul3(length, s->direction[i]), p.change[i] = tl_mul3(-1, s->gradient[i]);
    p.expected = -length * length * slope;
    s->pairs[s->pair_count++] = p;
    s->open = true;
    return TL_OK;
}

// Completes the newest pair with the gradient at hand; drops it unless the potential curves upwards along it.
static void end_pair(newton *s)
{
    if (!s->open) return;
    s->open = false;
    const int32_t n = s->e->node_count;
    pair *p = &s->pairs[s->pair_count - 1];
    for (int32_t i = 0; i < n; i++) p->change[i] = tl_add3(p->change[i], s->gradient[i]);
    const double curve = tl_vec_dot(s->workers, n, p->step, p->change, s->partial);
    if (curve > LEAST_CURVATURE * p->expected) p->per_curvature = 1 / curve;
    else s->pair_count--;
}

// First half of the two loops: from -gradient in `right` to the right side of the Newton solve.
static void before_solve(newton *s, double *weight)
{
    const int32_t n = s->e->node_count;
    for (int k = s->pair_count - 1; k >= 0; k--) {
        const pair *p = &s->pairs[k];
        weight[k] = p->per_curvature * tl_vec_dot(s->workers, n, p->step, s->right, s->partial);
        tl_parallel_for(s->workers, n, CHUNK, move_chunk, &(move_job){s->right, p->change, -weight[k], s->right});
    }
}

// Second half: from the answer of the solve to the direction.
static void after_solve(newton *s, const double *weight)
{
    const int32_t n = s->e->node_count;
    for (int k = 0; k < s->pair_count; k++) {
        const pair *p = &s->pairs[k];
        const double b = p->per_curvature * tl_vec_dot(s->workers, n, p->change, s->direction, s->partial);
        tl_parallel_for(s->workers, n, CHUNK, move_chunk, &(move_job){s->direction, p->step, weight[k] - b, s->direction});
    }
}

// An update must be small against the motion, else cloth never comes to rest; and where it presses, that of the nodes that touch must be small against
// the thickness or the motion, else layers tremble.
#define SLOW_PART 0.1      // of the speed ..
#define SLOWEST 0.002      // .. but no smaller than this [m/s]
#define THICKNESS_PART 0.1
#define SPEED_PART 0.1

static bool is_small(const newton *s, double change)
{
    if (!(change <= fmin(s->def->tolerance, fmax(SLOWEST, SLOW_PART * s->def->speed)))) return false;
    if (!s->contacts) return true;
    const double still = THICKNESS_PART * tl_contacts_thinnest(s->contacts) * s->step->gamma;
    return s->step->gamma * tl_contacts_change(s->contacts, s->direction) <= fmax(still, SPEED_PART * s->def->speed);
}

// Contacts that are pressed hard make for forces so large that all others drown in a residual relative to them.
#define LEAST_NEARNESS 0.01

static double linear_tolerance_of(const newton *s)
{
    const double near = s->contacts ? fmax(LEAST_NEARNESS, tl_contacts_nearest(s->contacts)) : 1;
    return s->def->linear_tolerance * fmin(1, near / 0.5);
}

// One solve of the linear system, with what steps before have shown.
static tl_status solve_direction(newton *s, const tl_vec3 *x, bool foreseen, tl_error *err)
{
    const int32_t n = s->e->node_count;
    double weight[MAX_PAIRS];
    tl_parallel_for(s->workers, n, CHUNK, negate_chunk, &(move_job){s->gradient, NULL, 0, s->right});
    if (foreseen) tl_parallel_for(s->workers, n, CHUNK, move_chunk, &(move_job){s->right, s->push, -1, s->right});
    before_solve(s, weight);
    for (int32_t i = 0; i < n; i++)  // what was found with fewer contacts is a good start; fixed rows must be zero
        if (!foreseen || s->e->fixed[i]) s->direction[i] = (tl_vec3){0, 0, 0};
    tl_solver_values(s->solver, s->e->fixed, x);
    tl_solve_report solve;
    TL_TRY(take_up_bending(s, x, err));
    if (s->with_bending) s->matrix->extra = (tl_extra){.add = tl_bend_operator_add, .self = &s->bending};
    if (s->contacts) s->matrix->extra.blocks = tl_contacts_blocks(s->contacts);
    const tl_status solved =
        tl_solver_solve(s->solver, linear_tolerance_of(s), s->right, s->direction, s->arena, s->workers, &solve, err);
    s->matrix->extra = (tl_extra){0};
    if (solved != TL_OK) return solved;
    after_solve(s, weight);
    s->report->linear_iterations += solve.iterations;
    s->report->factorizations += solve.factorizations;
    s->report->used = solve.used;
    return TL_OK;
}

// Where contact is tight the linear model may send nodes far away; a shorter step in the same direction is as good a descent.
static void shorten(newton *s)
{
    double most = 0;
    for (int32_t i = 0; i < s->e->node_count; i++) most = fmax(most, tl_dot3(s->direction[i], s->direction[i]));
    if (!(sqrt(most) > s->def->longest)) return;
    const double scale = s->def->longest / sqrt(most);
    for (int32_t i = 0; i < s->e->node_count; i++) s->direction[i] = tl_mul3(scale, s->direction[i]);
}

// Makes sure that the pairs at hand cover a move along the direction. Fixed nodes that contact kept from their place try again.
static tl_status look_around(newton *s, const tl_vec3 *x, tl_error *err)
{
    for (int32_t i = 0; i < s->e->node_count; i++)
        if (s->e->fixed[i]) s->direction[i] = tl_sub3(s->target[i], x[i]);
    if (tl_contacts_frozen(s->contacts) || (!s->searched && tl_contacts_reach(s->contacts, x, s->direction))) return TL_OK;
    s->searched = true;
    return tl_contacts_search(s->contacts, x, s->direction, s->arena, s->workers, err);
}

// Solves again while the update would bring further pairs into contact. In between the pairs at hand will do; the last
// update gets pairs of its own.
static tl_status foresee(newton *s, const tl_vec3 *x, tl_error *err)
{
    s->searched = false;
    for (int round = 0; round <= FORESEE_ROUNDS; round++) {
        const double begin = tl_now();
        shorten(s);
        if (round == 0) TL_TRY(look_around(s, x, err));
        bool changed = false;
        if (round < FORESEE_ROUNDS)
            TL_TRY(tl_contacts_foresee(s->contacts, x, s->direction, s->matrix, s->push, s->arena, s->workers, &changed, err));
        s->report->contact_seconds += tl_now() - begin;
        if (!changed) break;
        TL_TRY(solve_direction(s, x, true, err));
    }
    const double begin = tl_now();
    TL_TRY(look_around(s, x, err));
    s->report->contact_seconds += tl_now() - begin;
    return TL_OK;
}

// A round leaves more than this of the worst excess: the limits of faces beyond theirs become stiffer.
#define POOR_PROGRESS 0.3
enum { PATIENCE = 5 };  // rounds before that
// Rounds that bring the worst excess down by less than a tenth count as idle: nodes may be driven further than the limits allow.
#define PROGRESS 0.9

static tl_status measure_strain(newton *s, const tl_vec3 *x, tl_error *err)
{
    tl_newton_report *r = s->report;
    const double begin = tl_now();
    TL_TRY(tl_strain_measure(s->limits, s->e, x, s->def->strain_tolerance, false, s->arena, s->workers, &r->strain, err));
    r->strain_held = !(r->strain.worst > s->def->strain_tolerance);
    r->strain_seconds += tl_now() - begin;
    return TL_OK;
}

// Multipliers go with the update; what it changes the potential by is then more than the gradient says, by `slope`.
static tl_status take_multipliers(newton *s, const tl_vec3 *x, double *slope, tl_error *err)
{
    const double begin = tl_now();
    TL_TRY(tl_strain_foresee(s->limits, s->e, x, s->direction, s->arena, s->workers, slope, err));
    s->report->strain_seconds += tl_now() - begin;
    TL_TRY(limits_energy(s, x, &s->held, err));
    s->limits_act = s->held > 0;
    return TL_OK;
}

// Converged at x: are the strains within their limits, or is there to be another round?
static tl_status end_round(newton *s, const tl_vec3 *x, bool *again, tl_error *err)
{
    tl_newton_report *r = s->report;
    TL_TRY(measure_strain(s, x, err));
    const bool gained = r->strain_rounds == 0 || r->strain.worst < PROGRESS * s->least_excess;
    s->idle_rounds = gained ? 0 : s->idle_rounds + 1;
    if (gained) s->least_excess = r->strain.worst;
    *again = !r->strain_held && r->strain_rounds < s->def->strain_rounds && s->idle_rounds < s->def->strain_idle;
    if (!*again) return TL_OK;
    if (r->strain_rounds >= PATIENCE && r->strain.worst > POOR_PROGRESS * s->excess)
        tl_strain_stiffen(s->limits, s->e, x, 0);
    s->excess = r->strain.worst;
    if (r->strain_rounds++ == 0) s->again_at = tl_now(), s->again_contact = r->contact_seconds, s->again_strain = r->strain_seconds;
    s->allowed = r->iterations + (s->def->iterations + 1) / 2;
    s->pair_count = 0, s->open = false;
    return tl_forces_energy(s->e, s->step, x, s->arena, s->workers, &s->potential, err);
}

// Nodes that handles drive and contact kept from their place move in the update too. That may cost energy which the slope does not know of.
static bool handles_lag(const newton *s)
{
    for (int32_t i = 0; s->contacts && i < s->e->node_count; i++)
        if (s->e->fixed[i] && tl_norm3(s->direction[i]) > 0) return true;
    return false;
}

static tl_status iterate(newton *s, tl_vec3 *x, tl_error *err)
{
    const int32_t n = s->e->node_count;
    tl_newton_report *r = s->report;
    const bool linearised = s->def->iterations == 1;
    if (!linearised) TL_TRY(tl_forces_energy(s->e, s->step, x, s->arena, s->workers, &s->potential, err));
    s->allowed = s->def->iterations;
    while (r->iterations < s->allowed) {
        tl_forces_assemble(s->e, s->step, x, s->matrix, s->gradient, s->workers);
        if (s->limits) {
            const double begin = tl_now();
            tl_strain_assemble(s->limits, s->e, x, s->matrix, s->gradient, s->workers);
            r->strain_seconds += tl_now() - begin;
        }
        if (s->contacts) {
            const double begin = tl_now();
            TL_TRY(tl_contacts_assemble(s->contacts, x, s->matrix, s->gradient, s->arena, s->workers, err));
            TL_TRY(tl_contacts_energy(s->contacts, x, 0, s->arena, s->workers, &s->touch, err));  // with today's friction
            r->contact_seconds += tl_now() - begin;
        }
        end_pair(s);
        TL_TRY(solve_direction(s, x, false, err));
        r->iterations++;
        if (s->contacts) TL_TRY(foresee(s, x, err));
        r->change = s->step->gamma * sqrt(tl_vec_dot(s->workers, n, s->direction, s->direction, s->partial) / fmax(n, 1));
        if (!isfinite(r->change)) return tl_fail(err, TL_FAILED, "Newton iteration %d: the update is not finite", r->iterations);
        r->converged = is_small(s, r->change);
        double more = 0;  // slope of the potential with multipliers that go with the update
        if (s->limits) TL_TRY(take_multipliers(s, x, &more, err));
        int64_t limited = 0;
        if (s->contacts && !tl_contacts_frozen(s->contacts)) {
            const double begin = tl_now();
            r->converged = r->converged && tl_contacts_bodies_left(s->contacts) == 0;
            TL_TRY(tl_contacts_limit(s->contacts, x, s->direction, s->searched, s->arena, s->workers, &limited, err));
            r->contact_seconds += tl_now() - begin;
        }
        // Multipliers are those of the whole update: where contact keeps nodes from it they would take strain for lack of stress.
        if (s->limits && limited > 0) TL_TRY(tl_strain_slope(s->limits, s->e, x, s->direction, s->arena, s->workers, &more, err));
        if (linearised || r->converged) {
            // So small an update needs no search; a linearised step takes what it gets.
            tl_parallel_for(s->workers, n, CHUNK, move_chunk, &(move_job){x, s->direction, 1, x});
            if (s->contacts) tl_contacts_move_bodies(s->contacts, 1);
            r->converged = true;
            bool again = false;
            if (s->limits) TL_TRY(end_round(s, x, &again, err));
            if (!again || linearised) return TL_OK;
            if (s->contacts && s->searched) TL_TRY(tl_contacts_settle(s->contacts, x, s->workers, err));
            continue;
        }
        const double slope = tl_vec_dot(s->workers, n, s->gradient, s->direction, s->partial) + more;
        double length = 0;
        // Bodies move, or paths were cut so that the update is no descent any more: there is nothing to compare with.
        const bool blind = s->contacts && (tl_contacts_bodies_left(s->contacts) > 0 || (limited > 0 && slope >= 0));
        if (!blind) {
            TL_TRY(line_search(s, x, slope, &length, err));
            if (length == 0 && !handles_lag(s))
                return tl_fail(err, TL_FAILED, "Newton iteration %d: no descent along the update", r->iterations);
        }
        if (length == 0) {
            length = 1;
            tl_parallel_for(s->workers, n, CHUNK, move_chunk, &(move_job){x, s->direction, 1, x});
            TL_TRY(tl_forces_energy(s->e, s->step, x, s->arena, s->workers, &s->potential, err));
            s->pair_count = 0;
        } else {
            if (s->contacts && tl_contacts_count(s->contacts) > 0) s->pair_count = 0;  // contacts come and go: what one step shows does not hold for the next
            else if (s->limits_act || s->held > 0) s->pair_count = 0;  // nor does it with other multipliers
            else if (r->iterations >= FIRST_PAIR) TL_TRY(begin_pair(s, length, slope, err));
        }
        if (s->limits && length < 1) tl_strain_back(s->limits, length);
        if (s->contacts) {
            tl_contacts_move_bodies(s->contacts, length);
            if (s->searched) TL_TRY(tl_contacts_settle(s->contacts, x, s->workers, err));
        }
    }
    // At the limit what was asked for is good enough, even if layers may tremble a little.
    if (s->contacts) r->converged = r->change <= s->def->tolerance && tl_contacts_bodies_left(s->contacts) == 0;
    return s->limits ? measure_strain(s, x, err) : TL_OK;
}

tl_status tl_newton_solve(tl_elements *e, const tl_step_def *step, const tl_newton_def *def, tl_bsr *matrix,
                          tl_solver *solver, tl_contacts *contacts, tl_strain_limits *limits, const tl_vec3 *target, tl_vec3 *x,
                          tl_arena *arena, tl_workers *workers, tl_newton_report *report, tl_error *err)
{
    const tl_arena_mark mark = tl_arena_save(arena);
    *report = (tl_newton_report){.strain_held = true};
    const int32_t n = e->node_count;
    newton s = {.e = e, .step = step, .def = def, .matrix = matrix, .solver = solver, .arena = arena, .workers = workers,
                .contacts = contacts, .limits = limits, .target = target, .report = report};
    s.gradient = TL_SCRATCH(arena, tl_vec3, n);
    s.right = TL_SCRATCH(arena, tl_vec3, n);
    s.direction = TL_SCRATCH(arena, tl_vec3, n);
    s.partial = TL_SCRATCH(arena, double, tl_vec_partials(n));
    if (contacts) s.push = TL_SCRATCH(arena, tl_vec3, n);
    s.trial = s.right;  // the right side is done with when the search begins
    const tl_status status = s.gradient && s.right && s.direction && s.partial && (!contacts || s.push) ? iterate(&s, x, err)
                                                                               : tl_fail_memory(err, "Newton's method");
    if (report->strain_rounds > 0)  // all but contact since then is for the sake of the limits
        report->strain_seconds = s.again_strain + (tl_now() - s.again_at) - (report->contact_seconds - s.again_contact);
    tl_arena_release(arena, mark);
    return status;
}
