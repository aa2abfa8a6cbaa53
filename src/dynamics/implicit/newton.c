// dynamics/implicit/newton.c: Newton's method with a backtracking line search on the incremental potential.
//
// The Hessian is positive definite by construction (forces_terms.h), so every direction is one of descent even when
// conjugate gradients stop early. A step is accepted on sufficient decrease (Armijo); the test is waived where
// the expected decrease drowns in the rounding of the potential.
//
// Beside it: what earlier updates show (newton_pairs.c), strain limits (newton_strain.c), and iterations in which only
// few nodes still move (newton_part.c).

#include "dynamics/implicit/newton_impl.h"

#include <math.h>

#include "base/fail.h"
#include "math/pcg.h"

#define ARMIJO 1e-4     // Nocedal & Wright 2006, sec. 3.1
#define ROUNDING 1e-12  // relative noise of a sum of some 1e5 terms
enum {
    MAX_BACKTRACKS = 20,
    COMPACT_ITERATIONS = 10,
    FIRST_PAIR = 2,
    FORESEE_ROUNDS = 6,
    PART_LOOKS = 2,
    LAST_LOOKS = 2
};

void newton_move_chunk(void *arg, int32_t begin, int32_t end)
{
    const newton_move *job = arg;
    for (int32_t i = begin; i < end; i++) job->to[i] = tl_madd3(job->from[i], job->length, job->direction[i]);
}

static void negate_chunk(void *arg, int32_t begin, int32_t end)
{
    const newton_move *job = arg;
    for (int32_t i = begin; i < end; i++) job->to[i] = tl_mul3(-1, job->from[i]);
}

static double magnitude(const tl_potential *p)
{
    return fabs(p->inertia) + fabs(p->gravity) + fabs(p->stretch) + fabs(p->bend) + fabs(p->damping) + fabs(p->air);
}

// Moves x along the direction until the potential falls enough. Returns the length taken, 0 if none was found.
static tl_status line_search(newton *s, tl_vec3 *x, double slope, double *length, tl_error *err)
{
    const int32_t n = s->e->node_count;
    const double start = tl_potential_sum(&s->potential) + s->touch + s->held;
    double a = 1;
    *length = 0;
    for (int k = 0; k < MAX_BACKTRACKS; k++) {
        tl_parallel_for(s->workers, n, NEWTON_CHUNK, newton_move_chunk, &(newton_move){x, s->direction, a, s->trial});
        tl_potential p;
        newton_charge_faces(s, NEWTON_ENERGY);
        TL_TRY(tl_forces_energy(s->e, s->step, s->trial, s->ctx, &p, err));
        double touch = 0, held;
        TL_TRY(newton_strain_energy(s, s->trial, &held, err));
        if (s->contacts) {
            const double begin = tl_now();
            TL_TRY(tl_contacts_energy(s->contacts, s->trial, a, s->ctx, &touch, err));
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

// An update must be small against the motion, else cloth never comes to rest; and where it presses, that of the nodes
// that touch must be small against the thickness or the motion, else layers tremble.
#define SLOW_PART 0.1  // of the speed ..
#define SLOWEST 0.002  // .. but no smaller than this [m/s]
#define THICKNESS_PART 0.1
#define SPEED_PART 0.1

// Cloth faster than this is solved to a part of its speed: what is blown or thrown about at 100 m/s has no use for
// centimetres per second.
#define FAST 10.0            // [m/s]
#define FAST_PART (1 / 1.5)  // of the tolerance, per m/s beyond

static double change_allowed(const newton *s)
{
    const double fast = 1 + FAST_PART * fmax(0, s->def->speed - FAST);
    return fmin(s->def->tolerance * fast, fmax(SLOWEST, SLOW_PART * s->def->speed));
}

static bool is_small(const newton *s, double change)
{
    if (!(change <= change_allowed(s))) return false;
    if (!s->contacts) return true;
    const double still = THICKNESS_PART * tl_contacts_thinnest(s->contacts) * s->step->gamma;
    return s->step->gamma * tl_contacts_change(s->contacts, s->direction) <= fmax(still, SPEED_PART * s->def->speed);
}

// Fast cloth that crumples has slow modes which nobody sees. An update that leads to a thousandth of the descent that
// the first one promised, and is small against the motion, is the last one; what is left of it is made up for in the
// next step.
#define ENOUGH 1e-3
#define USUAL_TOLERANCE 0.03  // [m/s]

static bool is_enough(const newton *s, double decrement)
{
    if (s->part.count > 0 || s->report->iterations < 2) return false;
    const double finer = fmin(1, s->def->tolerance / USUAL_TOLERANCE);  // who asks for more gets it
    if (!(decrement <= ENOUGH * finer * finer * s->first_decrement) ||
        !(s->report->change <= SPEED_PART * s->def->speed))
        return false;
    return !s->contacts || tl_contacts_bodies_left(s->contacts) == 0;
}

// Where layers get into each other's way, halves of a step often take six iterations each when the whole takes thirty
// or fails.
#define HOPELESS 0.01
enum { HOPE_ITERATIONS = 8 };

static bool is_hopeless(const newton *s, double decrement)
{
    return s->def->may_fail && s->part.count == 0 && s->report->iterations == HOPE_ITERATIONS &&
           decrement > HOPELESS * s->first_decrement;
}

// Contacts that are pressed hard make for forces so large that all others drown in a residual relative to them (not so
// springs, which are as stiff when they are pressed through). And what conjugate gradients leave undone is the motion
// of the whole, which goes slower by about that part; small systems cost so little that they are solved finer.
#define LEAST_NEARNESS 0.01
#define FINEST 0.3        // of the tolerance ..
#define LARGE_NODES 4000  // .. which holds from so many nodes on

static double linear_tolerance_of(const newton *s)
{
    const double near =
        s->contacts && !tl_contacts_frozen(s->contacts) ? fmax(LEAST_NEARNESS, tl_contacts_nearest(s->contacts)) : 1;
    const double size = fmin(1, fmax(FINEST, sqrt((double)s->e->node_count / LARGE_NODES)));
    return s->def->linear_tolerance * fmin(1, near / 0.5) * size;
}

// Systems that do not converge come in rows, and an update that goes down is all that is wanted of them: after a few of
// them the others get less time.
enum { MAX_UNSOLVED = 3, UNSOLVED_ITERATIONS = 200 };

static void note_solve(newton *s, const tl_solve_report *solve)
{
    s->report->linear_iterations += solve->iterations;
    s->report->factorizations += solve->factorizations;
    s->report->used = solve->used;
    s->solved = solve->converged || solve->iterations < UNSOLVED_ITERATIONS;  // the latter: so few were asked for
    if (s->solved) return;
    if (++s->unsolved == MAX_UNSOLVED) tl_solver_limit(s->solver, UNSOLVED_ITERATIONS);
}

// One solve of the linear system, with what steps before have shown, contacts that do not press yet and limits that are
// not met yet. `again`: what was found with fewer of them is a good start.
static tl_status solve_direction(newton *s, const tl_vec3 *x, bool again, tl_error *err)
{
    const int32_t n = s->e->node_count;
    double weight[MAX_PAIRS];
    tl_parallel_for(s->workers, n, NEWTON_CHUNK, negate_chunk, &(newton_move){s->gradient, NULL, 0, s->right});
    if (s->pushed)
        tl_parallel_for(s->workers, n, NEWTON_CHUNK, newton_move_chunk,
                        &(newton_move){s->right, s->push, -1, s->right});
    if (s->pulled)
        tl_parallel_for(s->workers, n, NEWTON_CHUNK, newton_move_chunk,
                        &(newton_move){s->right, s->pull, -1, s->right});
    newton_before_solve(s, weight);
    for (int32_t i = 0; i < n; i++)
        if (!again || s->e->fixed[i]) s->direction[i] = (tl_vec3){0, 0, 0};
    s->solved = true;
    if (s->part.count > 0) return newton_solve_part(s, linear_tolerance_of(s), err);
    tl_solver_values(s->solver, s->e->fixed, x);
    tl_solve_report solve;
    TL_TRY(take_up_bending(s, x, err));
    tl_extra extra = {0};
    if (s->with_bending) extra = (tl_extra){.add = tl_bend_operator_add, .self = &s->bending};
    if (s->contacts) {
        const double begin = tl_now();
        TL_TRY(tl_contacts_blocks(s->contacts, s->ctx, &extra.blocks, err));
        s->report->contact_seconds += tl_now() - begin;
    }
    s->matrix->extra = extra;  // for this solve alone: it points to what does not outlive it
    const tl_status solved =
        tl_solver_solve(s->solver, linear_tolerance_of(s), s->right, s->direction, s->arena, s->workers, &solve, err);
    s->matrix->extra = (tl_extra){0};
    if (solved != TL_OK) return solved;
    newton_after_solve(s, weight);
    note_solve(s, &solve);
    return TL_OK;
}

// Where contact is tight the linear model may send nodes far away; a shorter step in the same direction is as good a
// descent. The bound is a trust region that only grows: where an update as long as it may be went well, the next may be
// longer.
#define LONGER 2.0

static void shorten(newton *s)
{
    double most = 0;
    for (int32_t i = 0; i < s->e->node_count; i++) {
        const double square = tl_dot3(s->direction[i], s->direction[i]);
        most = square > most ? square : most;  // not fmax, which is a call: this is asked after every solve
    }
    s->shortened = sqrt(most) > s->longest;
    if (!s->shortened) return;
    const double scale = s->longest / sqrt(most);
    for (int32_t i = 0; i < s->e->node_count; i++) s->direction[i] = tl_mul3(scale, s->direction[i]);
}

// Nodes that handles drive and cloth keeps from their place would have Newton's method go on for ever where nothing
// gives way. When they get on no further, or after some iterations, they stay where they are, and what is left of their
// way is tried again in the next step.
#define LAG_PART 0.01  // of what is left of the way: less is none
enum { LAG_ITERATIONS = 6 };

static double handles_way(const newton *s)
{
    double sum = 0;
    for (int32_t i = 0; i < s->e->node_count; i++)
        if (s->e->fixed[i]) sum += tl_norm3(s->direction[i]);
    return sum;
}

static void let_handles_wait(newton *s)
{
    s->waits = true, s->lags = false;
    tl_contacts_let_handles_wait(s->contacts);
}

// Makes sure that the pairs at hand cover a move along the direction. Fixed nodes that contact kept from their place
// try again.
static tl_status look_around(newton *s, const tl_vec3 *x, tl_error *err)
{
    s->lags = false;
    for (int32_t i = 0; i < s->e->node_count; i++) {
        if (!s->e->fixed[i]) continue;
        s->direction[i] = s->waits ? (tl_vec3){0, 0, 0} : tl_sub3(s->target[i], x[i]);
        s->lags = s->lags || tl_norm3(s->direction[i]) > TL_LAG;
    }
    if (tl_contacts_frozen(s->contacts) || (!s->searched && tl_contacts_reach(s->contacts, x, s->direction)))
        return TL_OK;
    s->searched = true;
    return tl_contacts_search(s->contacts, x, s->direction, s->ctx, err);
}

// Are there pairs that the update would bring into contact? Pairs at hand will do, but for the first look.
static tl_status foresee_contacts(newton *s, const tl_vec3 *x, bool first, bool *changed, tl_error *err)
{
    *changed = false;
    if (!s->contacts) return TL_OK;
    const double begin = tl_now();
    shorten(s);
    if (first) TL_TRY(look_around(s, x, err));
    if (s->solved || s->unsolved < MAX_UNSOLVED)
        TL_TRY(tl_contacts_foresee(s->contacts, x, s->direction, s->matrix, s->push, s->ctx, changed, err));
    s->pushed = s->pushed || *changed;
    s->report->contact_seconds += tl_now() - begin;
    return TL_OK;
}

// The last update gets pairs of its own.
static tl_status cover(newton *s, const tl_vec3 *x, tl_error *err)
{
    if (!s->contacts) return TL_OK;
    const double begin = tl_now();
    shorten(s);
    TL_TRY(look_around(s, x, err));
    s->report->contact_seconds += tl_now() - begin;
    return TL_OK;
}

// Solves again while the update would bring further pairs into contact or, in a part, faces beyond their limits.
static tl_status foresee(newton *s, const tl_vec3 *x, tl_error *err)
{
    const int looks = s->part.count > 0 ? PART_LOOKS : 0;
    s->searched = false;
    for (int round = 0; round < FORESEE_ROUNDS; round++) {
        if (round > 0 && tl_workers_exhausted(s->workers)) break;
        bool contacts, limits = false;
        TL_TRY(foresee_contacts(s, x, round == 0, &contacts, err));
        if (round < looks) TL_TRY(newton_look_ahead(s, x, &limits, err));
        if (!contacts && !limits) break;
        TL_TRY(solve_direction(s, x, true, err));
    }
    return cover(s, x, err);
}

// The update is to be the last one if faces do not leave their limits: better it takes account of them than iterations
// after it. That is for their sake, and so is the time.
static tl_status meet_limits(newton *s, const tl_vec3 *x, tl_error *err)
{
    const double begin = tl_now(), contact = s->report->contact_seconds, strain = s->report->strain_seconds;
    bool changed = true;
    for (int look = 0; look < LAST_LOOKS && changed; look++) {
        TL_TRY(newton_look_ahead(s, x, &changed, err));
        if (!changed) break;
        TL_TRY(solve_direction(s, x, true, err));
        if (s->contacts) shorten(s);
    }
    if (s->pulled) TL_TRY(cover(s, x, err));
    s->report->strain_seconds = strain + (tl_now() - begin) - (s->report->contact_seconds - contact);
    return TL_OK;
}

// Gradient and matrix of all terms at x.
static tl_status assemble(newton *s, const tl_vec3 *x, tl_error *err)
{
    tl_newton_report *r = s->report;
    newton_charge_faces(s, NEWTON_ASSEMBLE);
    tl_forces_assemble(s->e, s->step, x, s->matrix, s->gradient, s->workers);
    double begin = tl_now();
    if (s->limits) {
        tl_strain_assemble(s->limits, s->e, x, s->matrix, s->gradient, s->workers);
        r->strain_seconds += tl_now() - begin;
    }
    if (!s->contacts) return TL_OK;
    begin = tl_now();
    TL_TRY(tl_contacts_assemble(s->contacts, x, s->matrix, s->gradient, s->ctx, err));
    TL_TRY(tl_contacts_energy(s->contacts, x, 0, s->ctx, &s->touch, err));  // with today's friction
    r->contact_seconds += tl_now() - begin;
    return TL_OK;
}

/// An update on its way to being taken.
typedef struct update {
    bool in_part;     ///< of few nodes
    bool enough;      ///< the last one, unless strain limits want more
    int64_t limited;  ///< nodes that contact keeps from going all of their way
    double more;      ///< slope of the potential with multipliers that go with it
} update;

static tl_status find_update(newton *s, const tl_vec3 *x, update *out, tl_error *err)
{
    const int32_t n = s->e->node_count;
    tl_newton_report *r = s->report;
    *out = (update){.in_part = s->part.count > 0};
    newton_end_pair(s);
    s->pushed = s->pulled = false;
    if (s->limits) tl_strain_look_away(s->limits);
    if (s->contacts && !tl_contacts_frozen(s->contacts)) {
        const double begin = tl_now();
        TL_TRY(tl_contacts_expect(s->contacts, s->matrix, s->push, s->ctx, &s->pushed, err));
        r->contact_seconds += tl_now() - begin;
    }
    TL_TRY(solve_direction(s, x, false, err));
    if (out->in_part)
        r->part_iterations++;
    else
        r->iterations++;
    TL_TRY(foresee(s, x, err));
    const int32_t moving = out->in_part ? s->part.count : n;
    r->change =
        s->step->gamma * sqrt(tl_vec_dot(s->workers, n, s->direction, s->direction, s->partial) / fmax(moving, 1));
    if (!isfinite(r->change))
        return tl_fail(err, TL_FAILED, "Newton iteration %d: the update is not finite", r->iterations);
    r->converged = is_small(s, r->change);
    const double decrement = -tl_vec_dot(s->workers, n, s->gradient, s->direction, s->partial);
    if (!out->in_part && r->iterations == 1) s->first_decrement = decrement;
    if (is_hopeless(s, decrement))
        return tl_fail(err, TL_FAILED,
                       "Newton's method gets on too slowly, %g of what its first update promised is left after %d",
                       decrement / s->first_decrement, r->iterations);
    out->enough = !r->converged && is_enough(s, decrement);
    return s->limits && !out->in_part && (r->converged || out->enough) ? meet_limits(s, x, err) : TL_OK;
}

// Multipliers go along with the update, and contact cuts it short where something would meet.
static tl_status bound_update(newton *s, const tl_vec3 *x, update *u, tl_error *err)
{
    tl_newton_report *r = s->report;
    if (s->limits) TL_TRY(newton_take_multipliers(s, x, &u->more, err));
    if (s->contacts && !tl_contacts_frozen(s->contacts)) {
        const double begin = tl_now();
        r->converged = r->converged && tl_contacts_bodies_left(s->contacts) == 0;
        const double way = s->lags ? handles_way(s) : 0;
        TL_TRY(tl_contacts_limit(s->contacts, x, s->direction, s->searched, s->ctx, &u->limited, err));
        s->stands = s->lags && handles_way(s) < LAG_PART * way;
        r->contact_seconds += tl_now() - begin;
        if (tl_contacts_stuck(s->contacts))
            return tl_fail(err, TL_FAILED, "cloth is in the way of bodies and cannot give way fast enough");
    }
    // Multipliers are those of the whole update: where contact keeps nodes from it they would take strain for lack of
    // stress.
    if (s->limits && u->limited > 0) TL_TRY(tl_strain_slope(s->limits, s->e, x, s->direction, s->ctx, &u->more, err));
    return TL_OK;
}

static void go_all_the_way(newton *s, tl_vec3 *x)
{
    tl_parallel_for(s->workers, s->e->node_count, NEWTON_CHUNK, newton_move_chunk,
                    &(newton_move){x, s->direction, 1, x});
}

// So small an update needs no search; a linearised step takes what it gets.
static tl_status take_whole(newton *s, tl_vec3 *x, bool *again, tl_error *err)
{
    go_all_the_way(s, x);
    if (s->contacts) tl_contacts_move_bodies(s->contacts, 1);
    s->report->converged = true;
    if (s->limits) TL_TRY(newton_end_round(s, x, again, err));
    if (*again && s->contacts && s->searched) return tl_contacts_settle(s->contacts, x, s->workers, err);
    return TL_OK;
}

// Pairs of updates and changes of the gradient serve the next iteration unless contacts or multipliers are others
// there.
static tl_status learn(newton *s, const update *u, double length, double slope, tl_error *err)
{
    if (s->contacts && tl_contacts_count(s->contacts) > 0)
        s->pair_count = 0;
    else if (s->limits_act || s->held > 0)
        s->pair_count = 0;
    else if (s->report->iterations >= FIRST_PAIR && !u->in_part)
        TL_TRY(newton_begin_pair(s, length, slope, err));
    return TL_OK;
}

// As much of the update as the line search allows.
static tl_status take_update(newton *s, tl_vec3 *x, const update *u, tl_error *err)
{
    const double slope = tl_vec_dot(s->workers, s->e->node_count, s->gradient, s->direction, s->partial) + u->more;
    double length = 0;
    // Bodies or handles move, or paths were cut so that the update is no descent any more: there is nothing to compare
    // with.
    const bool blind =
        s->contacts && (tl_contacts_bodies_left(s->contacts) > 0 || s->lags || (u->limited > 0 && slope >= 0));
    if (!blind) {
        TL_TRY(line_search(s, x, slope, &length, err));
        if (length == 0 && !u->in_part)
            return tl_fail(err, TL_FAILED, "Newton iteration %d: no descent along the update", s->report->iterations);
    }
    if (length == 0 && !u->in_part) {
        length = 1;
        go_all_the_way(s, x);
        TL_TRY(tl_forces_energy(s->e, s->step, x, s->ctx, &s->potential, err));
        s->pair_count = 0;
    } else {
        TL_TRY(learn(s, u, length, slope, err));
    }
    s->limited = u->limited, s->length = length;
    if (s->shortened && length == 1) s->longest *= LONGER;
    if (s->limits && length < 1) tl_strain_back(s->limits, length);
    if (!s->contacts) return TL_OK;
    tl_contacts_move_bodies(s->contacts, length);
    return s->searched ? tl_contacts_settle(s->contacts, x, s->workers, err) : TL_OK;
}

// In the smallest parts of a step what bodies take to arrive is not counted: cloth that gives way little by little gets
// the time for it.
enum { WAY_ITERATIONS = 200 };

static bool are_bodies_under_way(const newton *s)
{
    if (s->overtime > 0) return tl_contacts_bodies_left(s->contacts) > 0;
    if (!s->contacts || s->def->may_fail || tl_contacts_frozen(s->contacts) ||
        tl_contacts_bodies_left(s->contacts) == 0)
        return false;
    return s->def->must_arrive || s->report->iterations < WAY_ITERATIONS;
}

// Bodies that cloth has stopped, or for which there is no time left to wait, take it along, so that the potential has
// its minimum to be looked for with bodies in their places.
static tl_status take_along(newton *s, tl_vec3 *x, tl_error *err)
{
    if (!s->contacts || tl_contacts_frozen(s->contacts) || tl_contacts_bodies_left(s->contacts) == 0) return TL_OK;
    if (!tl_contacts_stopped(s->contacts) && s->overtime == 0) return TL_OK;
    const double begin = tl_now();
    double part;
    TL_TRY(tl_contacts_take_along(s->contacts, x, s->ctx, &part, err));
    s->report->contact_seconds += tl_now() - begin;
    s->pair_count = 0;
    return tl_forces_energy(s->e, s->step, x, s->ctx, &s->potential, err);
}

static tl_status iterate(newton *s, tl_vec3 *x, tl_error *err)
{
    tl_newton_report *r = s->report;
    const bool linearised = s->def->iterations == 1;
    if (!linearised) TL_TRY(tl_forces_energy(s->e, s->step, x, s->ctx, &s->potential, err));
    s->allowed = s->def->iterations;
    if (s->def->mend) {
        bool again;
        TL_TRY(newton_strain_energy(s, x, &s->held, err));
        TL_TRY(newton_end_round(s, x, &again, err));
        r->converged = !again;
        if (!again) return TL_OK;
    }
    while (r->iterations < s->allowed) {
        update u;
        bool again = false;
        TL_TRY(tl_workers_poll(s->workers, "Newton's method", err));
        if (newton_is_spent(s)) break;
        if (are_bodies_under_way(s)) s->allowed++;
        if (s->lags && (s->stands || r->iterations >= LAG_ITERATIONS)) let_handles_wait(s);
        TL_TRY(take_along(s, x, err));
        TL_TRY(assemble(s, x, err));
        TL_TRY(find_update(s, x, &u, err));
        TL_TRY(bound_update(s, x, &u, err));
        if (linearised || (r->converged && !u.in_part)) {
            TL_TRY(take_whole(s, x, &again, err));
            if (!again || linearised) return TL_OK;
            continue;
        }
        TL_TRY(take_update(s, x, &u, err));
        if (!u.enough && !u.in_part) continue;
        if (s->limits) TL_TRY(newton_end_round(s, x, &again, err));
        r->converged = !again;
        if (!again) return TL_OK;
    }
    // At the limit what was asked for is good enough, even if layers may tremble a little.
    if (s->contacts)
        r->converged =
            r->change <= fmax(s->def->tolerance, change_allowed(s)) && tl_contacts_bodies_left(s->contacts) == 0;
    return s->limits ? newton_end_mending(s, x, err) : TL_OK;
}

tl_status tl_newton_solve(const tl_newton_problem *problem, const tl_newton_def *def, tl_vec3 *x, const tl_ctx *ctx,
                          tl_newton_report *report, tl_error *err)
{
    tl_elements *e = problem->elements;
    tl_contacts *contacts = problem->contacts;
    tl_arena *arena = ctx->arena;
    const tl_arena_mark mark = tl_arena_save(arena);
    *report = (tl_newton_report){.strain_held = true};
    const int32_t n = e->node_count;
    newton s = {.e = e,
                .step = problem->step,
                .def = def,
                .matrix = problem->matrix,
                .solver = problem->solver,
                .ctx = ctx,
                .arena = arena,
                .workers = ctx->workers,
                .contacts = contacts,
                .limits = problem->limits,
                .target = problem->target,
                .report = report};
    s.gradient = TL_SCRATCH(arena, tl_vec3, n);
    s.right = TL_SCRATCH(arena, tl_vec3, n);
    s.direction = TL_SCRATCH(arena, tl_vec3, n);
    s.partial = TL_SCRATCH(arena, double, tl_vec_partials(n));
    if (contacts) s.push = TL_SCRATCH(arena, tl_vec3, n);
    s.longest = def->longest;
    tl_solver_limit(s.solver, INT32_MAX);
    s.trial = s.right;  // the right side is done with when the search begins
    tl_status status = s.gradient && s.right && s.direction && s.partial && (!contacts || s.push)
                           ? iterate(&s, x, err)
                           : tl_fail_memory(err, "Newton's method");
    // Where the answer is taken in any case, that is where the search stood: updates that fail are not taken.
    const bool arrived = !contacts || tl_contacts_frozen(contacts) || tl_contacts_bodies_left(contacts) == 0;
    if (status == TL_FAILED && def->must_arrive && arrived) {
        status = TL_OK;
        report->gave_up = true, report->converged = false;
        e->touched = NULL;
        if (s.limits) status = newton_measure_strain(&s, x, err);
    }
    if (s.again_at > 0)  // all but contact since then is for the sake of the limits
        report->strain_seconds = s.again_strain + (tl_now() - s.again_at) - (report->contact_seconds - s.again_contact);
    e->touched = NULL;
    tl_arena_release(arena, mark);
    return status;
}
