// dynamics/implicit/newton.c: Newton's method with a backtracking line search on the incremental potential.
//
// The Hessian is positive definite by construction (forces_terms.h), so every direction is one of descent even when
// conjugate gradients stop early. A step is accepted on sufficient decrease (Armijo); the test is waived where
// the expected decrease drowns in the rounding of the potential.
//
// Beside it: the list of terms (newton_terms.c), what earlier updates show (newton_pairs.c), constraints with
// multipliers (newton_rounds.c), and iterations in which only few nodes still move (newton_part.c).

#include "dynamics/implicit/newton_impl.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "math/pcg.h"

#define ARMIJO 1e-4     // Nocedal & Wright 2006, sec. 3.1
#define ROUNDING 1e-12  // relative noise of a sum of some 1e5 terms
enum { MAX_BACKTRACKS = 20, COMPACT_ITERATIONS = 10, FIRST_PAIR = 2, PREDICT_ROUNDS = 6, LAST_LOOKS = 2 };

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
    const double start = newton_sum(s, tl_potential_sum(&s->potential), s->energy);
    double a = 1;
    *length = 0;
    for (int k = 0; k < MAX_BACKTRACKS; k++) {
        tl_parallel_for(s->workers, n, NEWTON_CHUNK, newton_move_chunk, &(newton_move){x, s->direction, a, s->trial});
        tl_potential p;
        newton_charge_faces(s, NEWTON_ENERGY);
        TL_TRY(tl_forces_energy(s->e, s->step, s->trial, s->ctx, &p, err));
        double energy[NEWTON_TERMS];
        TL_TRY(newton_energies(s, s->trial, a, energy, err));
        const double now = newton_sum(s, tl_potential_sum(&p), energy);
        const double noise = ROUNDING * newton_sum_both(s, magnitude(&p) + magnitude(&s->potential), energy, s->energy);
        if (isfinite(now) && now <= start + ARMIJO * a * slope + noise) {
            s->potential = p;
            memcpy(s->energy, energy, sizeof energy);
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

// An update must be small against the motion, else cloth never comes to rest; and small enough for every term.
#define SLOW_PART 0.1  // of the speed ..
#define SLOWEST 0.002  // .. but no smaller than this [m/s]
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
    return newton_is_small(s, SPEED_PART * s->def->speed);
}

// Fast cloth that crumples has slow modes which nobody sees. An update that leads to a thousandth of the descent that
// the first one promised, and is small against the motion, is the last one; what is left of it is made up for in the
// next step.
#define ENOUGH 1e-3
#define USUAL_TOLERANCE 0.03  // [m/s]
#define SMALL_NODES 1000

// Who asks for more gets it: part of what is left by default.
static double part_of_usual(const tl_newton_def *def) { return fmin(1, def->tolerance / USUAL_TOLERANCE); }

// What may be left for the next step to make up for: nothing where none follows, and less by small cloth, which costs
// so little (linear_tolerance_of).
static double part_left(const newton *s)
{
    const double size = fmin(1, (double)s->e->node_count / SMALL_NODES);
    return s->def->thorough ? 0 : part_of_usual(s->def) * size * size;
}

static bool is_enough(const newton *s, double decrement)
{
    if (s->part.count > 0 || s->report->iterations < 2) return false;
    const double finer = part_of_usual(s->def);
    if (!(decrement <= ENOUGH * finer * finer * s->first_decrement) ||
        !(s->report->change <= SPEED_PART * s->def->speed))
        return false;
    return newton_left(s) == 0;
}

// .. and so is one after which what is left will be small: updates that shrink go on to do so, by the same part each.
// Only where nothing stood in their way, since then the part says something.
#define SHRINKING 0.5

static bool is_settling(const newton *s)
{
    const double change = s->report->change, ratio = change / s->last_change;
    if (s->part.count > 0 || s->report->iterations < 2 || s->length < 1 || s->cut > 0 || newton_left(s) > 0)
        return false;
    if (!(ratio < SHRINKING)) return false;
    const double rest = ratio / (1 - ratio);  // of a geometric series, in its last term
    return rest * change <= part_left(s) * change_allowed(s) && newton_is_small(s, SPEED_PART * s->def->speed / rest);
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

// What conjugate gradients leave undone is the motion of the whole, which goes slower by about that part; small systems
// cost so little that they are solved finer.
#define FINEST 0.3        // of the tolerance ..
#define LARGE_NODES 4000  // .. which holds from so many nodes on

static double linear_tolerance_of(const newton *s)
{
    const double size = fmin(1, fmax(FINEST, sqrt((double)s->e->node_count / LARGE_NODES)));
    return s->def->linear_tolerance * newton_linear_tolerance(s) * size;
}

// Of what the first linear solve of a step may leave, this part may be left by later ones. They have small right sides,
// and two digits more of those take most of the iterations of a garment and change nothing that the first had right.
#define SERIES_PART 0.3

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

// One solve of the linear system, with what steps before have shown and what terms foresee. `again`: what was found
// with less of that is a good start.
static tl_status solve_direction(newton *s, const tl_vec3 *x, bool again, tl_error *err)
{
    const int32_t n = s->e->node_count;
    double weight[MAX_PAIRS];
    tl_parallel_for(s->workers, n, NEWTON_CHUNK, negate_chunk, &(newton_move){s->gradient, NULL, 0, s->right});
    for (int32_t k = s->term_count; k-- > 0;)
        if (s->pushed[k])
            tl_parallel_for(s->workers, n, NEWTON_CHUNK, newton_move_chunk,
                            &(newton_move){s->right, s->push[k], -1, s->right});
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
    TL_TRY(newton_blocks(s, &extra.blocks, err));
    s->matrix->extra = extra;  // for this solve alone: it points to what does not outlive it
    const tl_status solved =
        tl_solver_solve(s->solver, linear_tolerance_of(s), s->right, s->direction, s->arena, s->workers, &solve, err);
    s->matrix->extra = (tl_extra){0};
    if (solved != TL_OK) return solved;
    newton_after_solve(s, weight);
    note_solve(s, &solve);
    return TL_OK;
}

// Where paths are tight the linear model may send nodes far away; a shorter step in the same direction is as good a
// descent. The bound is a trust region that only grows: where an update as long as it may be went well, the next may be
// longer.
#define LONGER 2.0

static void shorten(newton *s)
{
    if (!s->clips) return;
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

// Solves again while the update would bring more of the terms into play.
static tl_status predict(newton *s, const tl_vec3 *x, tl_error *err)
{
    for (int round = 0; round < PREDICT_ROUNDS; round++) {
        if (round > 0 && tl_workers_exhausted(s->workers)) break;
        const bool usable = s->solved || s->unsolved < MAX_UNSOLVED;
        bool changed;
        shorten(s);
        if (round == 0) TL_TRY(newton_cover(s, x, err));
        TL_TRY(newton_predict(s, &(tl_term_look){x, s->direction, round, usable, s->part.count > 0, false}, &changed,
                              err));
        if (!changed) break;
        TL_TRY(solve_direction(s, x, true, err));
    }
    shorten(s);
    return newton_cover(s, x, err);
}

// The update is to be the last one if constraints stay met: better it takes account of them than iterations after it.
// That is for their sake, and so is the time.
static tl_status meet_constraints(newton *s, const tl_vec3 *x, tl_error *err)
{
    const newton_account account = newton_open_account(s);
    bool changed = true;
    for (int look = 0; look < LAST_LOOKS && changed; look++) {
        TL_TRY(newton_predict(s, &(tl_term_look){x, s->direction, look, true, false, true}, &changed, err));
        if (!changed) break;
        TL_TRY(solve_direction(s, x, true, err));
        shorten(s);
    }
    if (s->pushed[s->constrained]) {
        shorten(s);
        TL_TRY(newton_cover(s, x, err));
    }
    newton_close_account(s, &account);
    return TL_OK;
}

// Gradient and matrix of all terms at x.
static tl_status assemble(newton *s, const tl_vec3 *x, tl_error *err)
{
    newton_charge_faces(s, NEWTON_ASSEMBLE);
    tl_forces_assemble(s->e, s->step, x, s->matrix, s->gradient, s->workers);
    return newton_assemble(s, x, err);
}

/// An update on its way to being taken.
typedef struct update {
    bool in_part;  ///< of few nodes
    bool enough;   ///< the last one, unless constraints want more
    int64_t cut;   ///< nodes that terms keep from going all of their way
    double slope;  ///< of the potential, from multipliers that go with it
} update;

static tl_status find_update(newton *s, const tl_vec3 *x, update *out, tl_error *err)
{
    const int32_t n = s->e->node_count;
    tl_newton_report *r = s->report;
    *out = (update){.in_part = s->part.count > 0};
    s->last_change = r->change;
    newton_end_pair(s);
    TL_TRY(newton_expect(s, err));
    TL_TRY(solve_direction(s, x, false, err));
    if (out->in_part)
        r->part_iterations++;
    else
        r->iterations++;
    TL_TRY(predict(s, x, err));
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
    out->enough = !r->converged && (is_enough(s, decrement) || is_settling(s));
    const bool last = !out->in_part && (r->converged || out->enough);
    return s->constrained >= 0 && last ? meet_constraints(s, x, err) : TL_OK;
}

// Multipliers go along with the update, and terms cut it short where it must not go.
static tl_status bound_update(newton *s, const tl_vec3 *x, update *u, tl_error *err)
{
    if (s->constrained >= 0) TL_TRY(newton_follow(s, x, &u->slope, err));
    s->report->converged = s->report->converged && newton_left(s) == 0;
    TL_TRY(newton_clip(s, x, &u->cut, err));
    // Multipliers are those of the whole update: where nodes are kept from it they would take strain for lack of
    // stress.
    return s->constrained >= 0 && u->cut > 0 ? newton_slope(s, x, &u->slope, err) : TL_OK;
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
    newton_moved(s, 1);
    s->report->converged = true;
    if (s->constrained >= 0) TL_TRY(newton_end_round(s, x, again, err));
    return *again ? newton_settle(s, x, err) : TL_OK;
}

// Pairs of updates and changes of the gradient serve the next iteration unless terms act in another way there.
static tl_status learn(newton *s, const update *u, double length, double slope, tl_error *err)
{
    if (newton_acts(s))
        s->pair_count = 0;
    else if (s->report->iterations >= FIRST_PAIR && !u->in_part)
        TL_TRY(newton_begin_pair(s, length, slope, err));
    return TL_OK;
}

// As much of the update as the line search allows.
static tl_status take_update(newton *s, tl_vec3 *x, const update *u, tl_error *err)
{
    const double slope = tl_vec_dot(s->workers, s->e->node_count, s->gradient, s->direction, s->partial) + u->slope;
    double length = 0;
    // Where a term itself is on the move, or paths were cut so that the update is no descent any more, there is nothing
    // to compare with.
    const bool blind = newton_incomparable(s) || (u->cut > 0 && slope >= 0);
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
    s->cut = u->cut, s->length = length;
    if (s->shortened && length == 1) s->longest *= LONGER;
    newton_moved(s, length);
    return newton_settle(s, x, err);
}

// In the smallest parts of a step what bodies take to arrive is not counted: cloth that gives way little by little gets
// the time for it.
enum { WAY_ITERATIONS = 200 };

static bool is_under_way(const newton *s)
{
    if (newton_left(s) == 0) return false;
    if (s->overtime > 0) return true;
    return !s->def->may_fail && (s->def->must_arrive || s->report->iterations < WAY_ITERATIONS);
}

// Terms may move nodes themselves; then past updates say nothing.
static tl_status before(newton *s, tl_vec3 *x, tl_error *err)
{
    bool moved;
    TL_TRY(newton_before(s, x, &moved, err));
    if (!moved) return TL_OK;
    s->pair_count = 0;
    return tl_forces_energy(s->e, s->step, x, s->ctx, &s->potential, err);
}

tl_status newton_iterate_part(newton *s, tl_vec3 *x, bool *moved, tl_error *err)
{
    update u;
    TL_TRY(assemble(s, x, err));
    TL_TRY(find_update(s, x, &u, err));
    TL_TRY(bound_update(s, x, &u, err));
    TL_TRY(take_update(s, x, &u, err));
    *moved = s->length > 0;
    return TL_OK;
}

static tl_status iterate(newton *s, tl_vec3 *x, tl_error *err)
{
    tl_newton_report *r = s->report;
    const bool linearised = s->def->iterations == 1;
    if (!linearised) TL_TRY(tl_forces_energy(s->e, s->step, x, s->ctx, &s->potential, err));
    s->allowed = s->def->iterations;
    if (s->def->mend && s->constrained >= 0) {
        bool again;
        TL_TRY(newton_begin_mending(s, x, &again, err));
        r->converged = !again;
        if (!again) return TL_OK;
    }
    while (r->iterations < s->allowed) {
        update u;
        bool again = false;
        TL_TRY(tl_workers_poll(s->workers, "Newton's method", err));
        if (newton_is_spent(s)) break;
        if (is_under_way(s)) s->allowed++;
        TL_TRY(before(s, x, err));
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
        if (s->constrained >= 0) TL_TRY(newton_end_round(s, x, &again, err));
        r->converged = !again;
        if (!again) return TL_OK;
    }
    // At the limit what was asked for is good enough, even if layers may tremble a little.
    if (s->clips) r->converged = r->change <= fmax(s->def->tolerance, change_allowed(s)) && newton_left(s) == 0;
    if (!r->converged && (r->spent || s->def->must_arrive) && !linearised) TL_TRY(newton_repair(s, x, err));
    return s->constrained >= 0 ? newton_end_mending(s, x, err) : TL_OK;
}

tl_status tl_newton_solve(const tl_newton_problem *problem, const tl_newton_def *def, tl_vec3 *x, const tl_ctx *ctx,
                          tl_newton_report *report, tl_error *err)
{
    tl_elements *e = problem->elements;
    tl_arena *arena = ctx->arena;
    const tl_arena_mark mark = tl_arena_save(arena);
    *report = (tl_newton_report){.met = true};
    const int32_t n = e->node_count;
    newton s = {.e = e,
                .step = problem->step,
                .def = def,
                .matrix = problem->matrix,
                .solver = problem->solver,
                .ctx = ctx,
                .arena = arena,
                .workers = ctx->workers,
                .longest = def->longest,
                .report = report};
    s.gradient = TL_SCRATCH(arena, tl_vec3, n);
    s.right = TL_SCRATCH(arena, tl_vec3, n);
    s.direction = TL_SCRATCH(arena, tl_vec3, n);
    s.partial = TL_SCRATCH(arena, double, tl_vec_partials(n));
    tl_solver_limit(s.solver, INT32_MAX);
    tl_solver_series(s.solver, SERIES_PART * part_left(&s));
    s.trial = s.right;  // the right side is done with when the search begins
    tl_status status = s.gradient && s.right && s.direction && s.partial ? newton_begin_terms(&s, problem, err)
                                                                         : tl_fail_memory(err, "Newton's method");
    if (status == TL_OK) status = iterate(&s, x, err);
    // Where the answer is taken in any case, that is where the search stood: updates that fail are not taken.
    if (status == TL_FAILED && def->must_arrive && newton_left(&s) == 0) {
        status = TL_OK;
        report->gave_up = true, report->converged = false;
        tl_elements_touch(e, NULL);
        if (s.constrained >= 0) status = newton_measure(&s, x, err);
    }
    tl_solver_series(s.solver, 0);
    if (s.rounds_began.at > 0) newton_close_account(&s, &s.rounds_began);
    tl_elements_touch(e, NULL);
    tl_arena_release(arena, mark);
    return status;
}
