// dynamics/implicit/step.c: one time step: set up the integrator, solve, retry smaller if need be.

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/log.h"
#include "base/timer.h"
#include "dynamics/implicit/implicit.h"
#include "physics/strain_term.h"

// [m] in one Newton iteration with contact, or four times what inertia does: far more than updates need
#define LONGEST_UPDATE 0.02
#define LONGEST_DRIVEN 0.2

// A speed that is good enough in hundredths of a second is centimetres in a tenth of one, which are whole faces. In
// longer parts of a step than this the same length is asked for instead [s].
#define LONG_STEP 0.02

// cloth that bodies make so many times faster in one step is to be judged by the speed it is given
#define SET_GOING 2.0

// Strain limits: what is promised is 0.1 %.
#define STRAIN_PROMISED 1e-3
#define STRAIN_TOLERANCE 8e-4
enum { STRAIN_ROUNDS = 20, STRAINED_IDLE = 3, STRAIN_HALVINGS = 2, EARLY_HALVINGS = 2, PATIENT_HALVINGS = 4 };

/// x_hat = now x_n - before x_(n-1), velocity = gamma (x - x_hat). Variable-step BDF2 with the ratio w of this step to
/// the last: velocity = ((1 + 2w)/(1 + w) x - (1 + w) x_n + w^2/(1 + w) x_(n-1)) / dt. w = 0 is implicit Euler.
static tl_step_def integrator(const tl_dynamics_world *world, double dt)
{
    double w = world->set.integrator == TL_BDF2 && *world->dt_before > 0 ? dt / *world->dt_before : 0;
    if (w > 2) w = 0;  // stable below 1 + sqrt(2) only (Grigorieff 1983): after a cut step, start again
    const double lead = (1 + 2 * w) / (1 + w);
    return (tl_step_def){.gamma = lead / dt, .now = (1 + w) / lead, .before = w * w / (1 + w) / lead};
}

#define FARTHEST 1e9  // [m] beyond this squares of coordinates lose all meaning

static bool all_near(const tl_vec3 *x, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        if (!(fabs(x[i].x) < FARTHEST && fabs(x[i].y) < FARTHEST && fabs(x[i].z) < FARTHEST)) return false;
    return true;
}

static bool all_finite(const tl_vec3 *x, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        if (!tl_finite3(x[i])) return false;
    return true;
}

/// What the functions of a step hand to each other.
typedef struct stepper {
    tl_implicit *d;
    tl_dynamics_world *w;
    tl_contacts *contacts;  ///< in the potential; NULL: none
} stepper;

// Newton starts from rest or from the inertial motion, whichever has the lower potential.
static tl_status first_guess(tl_dynamics_world *w, const tl_step_def *step, const tl_vec3 *target, tl_vec3 *x,
                             tl_error *err)
{
    const tl_elements *e = w->elements;
    const int32_t n = e->node_count;
    tl_potential still, moving;
    for (int32_t i = 0; i < n; i++) x[i] = e->fixed[i] ? target[i] : w->x[i];
    double still_held = 0, moving_held = 0;
    TL_TRY(tl_forces_energy(w->elements, step, x, &w->ctx, &still, err));
    if (w->limits) TL_TRY(tl_strain_energy(w->limits, e, x, &w->ctx, &still_held, err));
    for (int32_t i = 0; i < n; i++) x[i] = e->fixed[i] ? target[i] : step->x_tilde[i];
    TL_TRY(tl_forces_energy(w->elements, step, x, &w->ctx, &moving, err));
    if (w->limits) TL_TRY(tl_strain_energy(w->limits, e, x, &w->ctx, &moving_held, err));
    if (!(tl_potential_sum(&moving) + moving_held < tl_potential_sum(&still) + still_held))
        for (int32_t i = 0; i < n; i++) x[i] = e->fixed[i] ? target[i] : w->x[i];
    return TL_OK;
}

static void add_contact_report(const tl_dynamics_world *w, const tl_responder *how, tl_step_report *report)
{
    tl_contact_report now = {0};
    how->report(w->response, &now);
    tl_contact_report *sum = &report->contact;
    now.searches += sum->searches, now.volume_tests += sum->volume_tests, now.limited += sum->limited,
        now.held += sum->held;
    now.zones += sum->zones, now.zone_rounds += sum->zone_rounds;
    now.found += sum->found, now.there += sum->there, now.missed += sum->missed;
    now.detection_seconds += sum->detection_seconds;
    now.fit_seconds += sum->fit_seconds, now.overlap_seconds += sum->overlap_seconds;
    if (sum->zone_nodes > now.zone_nodes) now.zone_nodes = sum->zone_nodes;
    *sum = now;
}

// Forces within the cloth and between cloths sum to zero wherever the nodes are, so if nothing else acts, the momentum
// of the whole is known beforehand. A solve that stops at its tolerance misses it by a little; moving everything alike
// puts that right and changes no distance.
static void keep_momentum(const tl_dynamics_world *w, const tl_step_def *step, tl_vec3 *x)
{
    const tl_elements *e = w->elements;
    if (w->body_count > 0 || step->pressure != 0 || step->skin != 0 || step->pull) return;
    double mass = 0;
    tl_vec3 lack = {0, 0, 0};
    for (int32_t i = 0; i < e->node_count; i++) {
        if (e->fixed[i]) return;
        mass += e->mass[i];
        lack = tl_madd3(lack, e->mass[i], tl_sub3(step->x_tilde[i], x[i]));
    }
    if (!(mass > 0)) return;
    const tl_vec3 shift = tl_madd3(tl_mul3(1 / mass, lack), 1 / (step->gamma * step->gamma), step->gravity);
    for (int32_t i = 0; i < e->node_count; i++) x[i] = tl_add3(x[i], shift);
}

// What corrects positions after the solve knows nothing of strain limits. Where it has left faces beyond them, the
// potential, from there, mends that: what is cut short on the way from a state that is free stays free.
static tl_status mend_after(const stepper *s, const tl_newton_problem *problem, const tl_newton_def *def, tl_vec3 *x,
                            tl_newton_report *r, tl_error *err)
{
    tl_newton_def mend = *def;
    mend.mend = true;
    TL_TRY(tl_contacts_settle(s->contacts, x, s->w->ctx.workers, err));
    tl_newton_report more;
    TL_TRY(tl_newton_solve(problem, &mend, x, &s->w->ctx, &more, err));
    r->iterations += more.iterations, r->linear_iterations += more.linear_iterations,
        r->factorizations += more.factorizations;
    r->part_iterations += more.part_iterations, r->rounds += more.rounds;
    r->excess = more.excess, r->met = more.met;
    r->converged = r->converged && more.converged;
    return TL_OK;
}

// Begins the step for the limits. `strained`: they are not met even now, so where contact or handles keep faces from
// them they may not be met again: these may stay as they are, and the step is not cut for them. What a pass of
// remeshing leaves beyond them is another matter: that can be mended.
static tl_status begin_strain(stepper *s, const tl_step_def *step, bool *strained, tl_step_report *report,
                              tl_error *err)
{
    tl_dynamics_world *w = s->w;
    *strained = false;
    if (!w->limits) return TL_OK;
    const double start = tl_now();
    tl_strain_begin(w->limits, w->elements, step->gamma);
    tl_strain_state now;
    TL_TRY(tl_strain_measure(w->limits, w->elements, w->x, STRAIN_PROMISED, false, &w->ctx, &now, err));
    *strained = now.worst > STRAIN_PROMISED && (s->d->strained || !w->remeshed);
    if (*strained) tl_strain_give(w->limits, w->elements, w->x, STRAIN_PROMISED);
    report->seconds.strain += tl_now() - start;
    return TL_OK;
}

// What the limits came to at the accepted positions; multipliers become part of the state.
static tl_status end_strain(stepper *s, const tl_vec3 *x, tl_step_report *report, tl_error *err)
{
    tl_dynamics_world *w = s->w;
    tl_strain_take_back(w->limits);
    const double start = tl_now();
    tl_strain_state now;
    TL_TRY(tl_strain_measure(w->limits, w->elements, x, STRAIN_PROMISED, false, &w->ctx, &now, err));
    tl_strain_keep(w->limits, w->elements, x, STRAIN_PROMISED);
    tl_strain_report *r = &report->strain;
    r->active = now.active, r->violated = now.violated, r->worst = now.worst;
    s->d->strained = now.worst > STRAIN_PROMISED;
    report->seconds.strain += tl_now() - start;
    return TL_OK;
}

// What the integrator makes of the past, and the world as it is at the end of the step. x_tilde of a node that a handle
// drives is its target.
static tl_status set_up(tl_dynamics_world *w, double begin, double dt, tl_step_def *out, tl_error *err)
{
    const tl_elements *e = w->elements;
    const int32_t n = e->node_count;
    tl_step_def step = integrator(w, dt);
    tl_vec3 *past = step.before != 0 ? TL_SCRATCH(w->ctx.arena, tl_vec3, n) : NULL;
    if (step.before != 0 && !past) return tl_fail_memory(err, "a step");
    tl_drive drive;
    TL_TRY(w->drive(w->host, begin, begin + dt, &drive, err));
    for (int32_t i = 0; i < n && past; i++)
        past[i] = tl_madd3(tl_mul3(step.now, w->x[i]), -step.before, w->x_before[i]);
    step.x_hat = past ? past : w->x;
    for (int32_t i = 0; i < n; i++) {
        if (e->fixed[i]) continue;
        const tl_vec3 v_hat = past ? tl_madd3(tl_mul3(step.now, w->v[i]), -step.before, w->v_before[i]) : w->v[i];
        drive.target[i] = tl_madd3(step.x_hat[i], 1 / step.gamma, v_hat);
    }
    step.x_tilde = drive.target, step.gravity = w->set.gravity;
    step.pressure = 0.5 * w->set.air.density * w->set.air.drag, step.skin = w->set.air.skin;
    step.wind = drive.wind, step.eddies = drive.eddies, step.shelter = drive.shelter;
    step.pull = drive.pull, step.pull_to = drive.pull_to;
    *out = step;
    return TL_OK;
}

/// A part of a step, halved `depth` times.
typedef struct part {
    double begin, dt;
    int depth;
    bool last;      ///< Newton's answer is taken even at its iteration limit
    bool may_fail;  ///< smaller parts are an answer
    bool hurry;     ///< the budget is spent
} part;

static part part_of(const stepper *s, double begin, double dt, int depth, const tl_step_report *report)
{
    // Where the smallest part of a step had to be taken as it was, to cut the rest as small again helps nobody.
    // And when the budget is spent, what is left of the step is taken as a whole.
    const bool hurry = tl_workers_exhausted(s->w->ctx.workers);
    const bool last = depth == s->w->set.max_halvings || (report->unconverged > 0 && depth >= EARLY_HALVINGS) || hurry;
    return (part){begin, dt, depth, last, depth < EARLY_HALVINGS && !last, hurry};
}

// How far Newton's method may go at a time, and when it is done.
static tl_newton_def newton_def(const stepper *s, const tl_step_def *step, const tl_vec3 *x, const part *p,
                                bool strained)
{
    const tl_dynamics_world *w = s->w;
    const double dt = p->dt;
    double most2 = 0, speed2 = 0, way2 = 0;
    for (int32_t i = 0; i < w->node_count; i++) {
        const tl_vec3 way = tl_sub3(x[i], w->x[i]);
        const double square = tl_dot3(way, way);
        most2 = square > most2 ? square : most2;
        speed2 += tl_dot3(w->v[i], w->v[i]), way2 += square;
    }
    // .. or as far as gravity and wind take cloth that was at rest
    const double driven = fmax(tl_norm3(step->gravity) * dt, tl_norm3(step->wind)) * dt,
                 longest = fmax(fmax(LONGEST_UPDATE, fmin(driven, LONGEST_DRIVEN)), 4 * sqrt(most2));
    if (s->contacts && tl_contacts_bodies_move(s->contacts) && way2 > SET_GOING * SET_GOING * dt * dt * speed2)
        speed2 = way2 / (dt * dt);
    return (tl_newton_def){.iterations = w->set.newton_iterations,
                           .tolerance = w->set.newton_tolerance * fmin(1, LONG_STEP / dt),
                           .linear_tolerance = w->set.linear_tolerance,
                           .speed = sqrt(speed2 / fmax(w->node_count, 1)),
                           .longest = longest,
                           .rounds = STRAIN_ROUNDS,
                           .idle_rounds = strained || p->depth >= STRAIN_HALVINGS ? STRAINED_IDLE : STRAIN_ROUNDS,
                           .may_fail = p->may_fail,
                           .must_arrive = p->last,
                           .hurry = p->hurry};
}

static void add_newton_report(const tl_newton_report *r, tl_step_report *report)
{
    report->newton_iterations += r->iterations;
    report->linear_iterations += r->linear_iterations;
    report->factorizations += r->factorizations;
    report->linear_used = (tl_linear)r->used;
    report->newton_change = r->change;
    report->strain.rounds += r->rounds;
    report->strain.mended += r->part_iterations;
}

static void accept(tl_dynamics_world *w, const tl_step_def *step, double dt, const tl_vec3 *x)
{
    for (int32_t i = 0; i < w->node_count; i++) {
        const tl_vec3 v = tl_mul3(step->gamma, tl_sub3(x[i], step->x_hat[i]));
        if (w->x_before) w->x_before[i] = w->x[i], w->v_before[i] = w->v[i];
        w->x[i] = x[i], w->v[i] = v;
    }
    *w->dt_before = dt;
}

// Cloth that a fast body meets needs time to give way. Where it has room, a step that is cut once more lets it.
static tl_pinching pinching_at(int depth, bool last)
{
    if (last || depth >= PATIENT_HALVINGS) return TL_PINCH_ANY;
    return depth < EARLY_HALVINGS ? TL_PINCH_NONE : TL_PINCH_ENCLOSED;
}

// Is the answer to be taken?
static tl_status judge(const tl_dynamics_world *w, const part *p, const tl_newton_report *r, bool strained,
                       const tl_vec3 *x, tl_error *err)
{
    if (!all_finite(x, w->node_count)) return tl_fail(err, TL_FAILED, "positions are not finite");
    const bool taken = p->last || r->spent;  // converged or not
    if (!r->converged && !taken)
        return tl_fail(err, TL_FAILED, "Newton's method stopped after %d iterations at a change of %g m/s",
                       r->iterations, r->change);
    if (!r->met && !strained && p->depth < STRAIN_HALVINGS && !taken)
        return tl_fail(err, TL_FAILED, "a strain is %g beyond its limits after %d rounds", r->excess, r->rounds);
    return TL_OK;
}

/// One attempt at a part of a step.
typedef struct trial {
    const part *p;
    const tl_responder *how;  ///< NULL: nothing to collide with
    tl_step_def step;
    tl_respond_move move;
    bool strained;                        ///< begins beyond strain limits
    tl_term terms[2], *limits, *contact;  ///< the latter two among them; NULL: there is none
    int32_t term_count;
    tl_vec3 *x;
    tl_newton_report r;
    bool stuck;  ///< the response has no answer
} trial;

// Everything before the solve: what holds for the step, and a first guess.
static tl_status prepare(stepper *s, trial *t, tl_step_report *report, tl_error *err)
{
    tl_dynamics_world *w = s->w;
    const part *p = t->p;
    TL_TRY(set_up(w, p->begin, p->dt, &t->step, err));
    const tl_vec3 *target = t->step.x_tilde;
    if (!all_near(target, w->node_count))
        return tl_fail(err, TL_FAILED, "a handle or a speed sends cloth further than %g m away", FARTHEST);
    tl_forces_begin(w->elements, &t->step, w->x, w->x_before, *w->shape_changed, w->ctx.workers);
    *w->shape_changed = false, *w->begun = true;
    TL_TRY(begin_strain(s, &t->step, &t->strained, report, err));
    t->move = (tl_respond_move){w->node_count, w->elements->fixed, target, w->x, t->step.x_tilde, p->dt, p->may_fail};
    if (!t->how) return first_guess(w, &t->step, target, t->x, err);
    const double start = tl_now();
    const tl_respond_begin at = {.begin = p->begin,
                                 .dt = p->dt,
                                 .gamma = t->step.gamma,
                                 .pinch = pinching_at(p->depth, p->last),
                                 .again = p->depth > 0,
                                 .x_hat = t->step.x_hat,
                                 .target = target};
    TL_TRY(w->begin_response(w->host, &at, err));
    TL_TRY(t->how->guess ? t->how->guess(w->response, &t->move, t->x, &w->ctx, err)
                         : first_guess(w, &t->step, target, t->x, err));
    report->seconds.collision += tl_now() - start;
    return TL_OK;
}

// Where the solve ended is corrected, if the response does so.
static tl_status correct(stepper *s, trial *t, const tl_newton_problem *problem, const tl_newton_def *def,
                         tl_step_report *report, tl_error *err)
{
    if (!t->how || !t->how->after || !(t->r.converged || t->p->last || t->r.spent)) return TL_OK;
    const double start = tl_now();
    bool clear;
    TL_TRY(t->how->after(s->w->response, &t->move, t->x, NULL, &clear, &s->w->ctx, err));
    report->seconds.collision += tl_now() - start;
    t->stuck = !clear;
    return clear && s->contacts && s->w->limits ? mend_after(s, problem, def, t->x, &t->r, err) : TL_OK;
}

// What the potential has beside the cloth's own.
static tl_status list_terms(const stepper *s, trial *t, tl_error *err)
{
    const tl_dynamics_world *w = s->w;
    if (w->limits) {
        t->limits = &t->terms[t->term_count++];
        TL_TRY(tl_strain_term(w->limits, w->elements, STRAIN_TOLERANCE, w->ctx.arena, t->limits, err));
    }
    if (t->how && t->how->term) {
        t->contact = &t->terms[t->term_count++];
        TL_TRY(t->how->term(w->response, &w->ctx, t->contact, err));
    }
    return TL_OK;
}

// The state changes only on success.
static tl_status attempt(stepper *s, trial *t, tl_step_report *report, tl_error *err)
{
    tl_dynamics_world *w = s->w;
    t->x = TL_SCRATCH(w->ctx.arena, tl_vec3, w->node_count);
    if (!t->x) return tl_fail_memory(err, "a step");
    TL_TRY(prepare(s, t, report, err));
    TL_TRY(list_terms(s, t, err));
    const tl_newton_def newton = newton_def(s, &t->step, t->x, t->p, t->strained);
    const tl_newton_problem problem = {.elements = w->elements,
                                       .step = &t->step,
                                       .matrix = s->d->matrix,
                                       .solver = s->d->solver,
                                       .terms = t->terms,
                                       .term_count = t->term_count};
    tl_status status = tl_newton_solve(&problem, &newton, t->x, &w->ctx, &t->r, err);
    if (status == TL_OK) status = correct(s, t, &problem, &newton, report, err);
    add_newton_report(&t->r, report);
    if (t->limits) report->seconds.strain += t->limits->seconds;
    if (t->contact) report->seconds.collision += t->contact->seconds;
    if (t->how && t->how->report) add_contact_report(w, t->how, report);
    if (status != TL_OK) return status;
    if (t->stuck) return tl_fail(err, TL_FAILED, "%s between moving bodies were not resolved", t->how->name);
    TL_TRY(judge(w, t->p, &t->r, t->strained, t->x, err));
    report->unconverged += !t->r.converged;
    report->hurried += t->p->hurry || t->r.spent;
    keep_momentum(w, &t->step, t->x);
    if (w->limits) TL_TRY(end_strain(s, t->x, report, err));
    accept(w, &t->step, t->p->dt, t->x);
    return TL_OK;
}

/// The state before a step that had to be cut, should its parts fail as well.
typedef struct keep {
    tl_vec3 *arrays[4];
    double (*stress)[3];
    double dt_before;
    bool strained;
} keep;

static void state_arrays(const tl_dynamics_world *w, tl_vec3 *out[4])
{
    out[0] = w->x, out[1] = w->v, out[2] = w->x_before, out[3] = w->v_before;
}

static tl_status keep_state(const stepper *s, keep *kept, tl_error *err)
{
    tl_dynamics_world *w = s->w;
    tl_vec3 *arrays[4];
    state_arrays(w, arrays);
    kept->dt_before = *w->dt_before, kept->strained = s->d->strained;
    for (int k = 0; k < 4; k++) {
        kept->arrays[k] = arrays[k] ? TL_SCRATCH(w->ctx.arena, tl_vec3, w->node_count) : NULL;
        if (!arrays[k]) continue;
        if (!kept->arrays[k]) return tl_fail_memory(err, "a step");
        memcpy(kept->arrays[k], arrays[k], (size_t)w->node_count * sizeof(tl_vec3));
    }
    if (!w->limits) return TL_OK;
    const size_t faces = (size_t)w->limits->face_count;
    kept->stress = tl_arena_bytes(w->ctx.arena, faces, sizeof *kept->stress);
    if (!kept->stress) return tl_fail_memory(err, "a step");
    memcpy(kept->stress, w->limits->multiplier, faces * sizeof *kept->stress);
    return TL_OK;
}

static void restore_kept(stepper *s, const keep *kept)
{
    tl_dynamics_world *w = s->w;
    tl_vec3 *arrays[4];
    state_arrays(w, arrays);
    *w->dt_before = kept->dt_before, s->d->strained = kept->strained;
    for (int k = 0; k < 4; k++)
        if (arrays[k]) memcpy(arrays[k], kept->arrays[k], (size_t)w->node_count * sizeof(tl_vec3));
    if (kept->stress) memcpy(w->limits->multiplier, kept->stress, (size_t)w->limits->face_count * sizeof *kept->stress);
}

static tl_status halves(stepper *s, double begin, double dt, int depth, tl_step_report *report, tl_error *err);

// One part from `begin` by dt as a whole.
static tl_status try_whole(stepper *s, double begin, double dt, int depth, tl_step_report *report, tl_error *err)
{
    const tl_dynamics_world *w = s->w;
    const tl_arena_mark mark = tl_arena_save(w->ctx.arena);
    const size_t n = s->contacts ? (size_t)w->node_count : 0;
    uint8_t *pinched = TL_SCRATCH(w->ctx.arena, uint8_t, n);
    if (!pinched) return tl_fail_memory(err, "a step");
    if (n > 0) memcpy(pinched, tl_contacts_pinched(s->contacts), n);
    const tl_responder *how = w->response ? w->responder : NULL;
    tl_status status;
    for (;;) {
        const part p = part_of(s, begin, dt, depth, report);
        trial t = {.p = &p, .how = how};
        status = attempt(s, &t, report, err);
        if (status != TL_OK && n > 0) {
            memcpy(tl_contacts_pinched(s->contacts), pinched, n);
            tl_contacts_count_pinched(s->contacts);
        }
        if (!t.stuck || !how->fallback) break;
        how = how->fallback;
        report->contact.held++;
    }
    tl_arena_release(w->ctx.arena, mark);
    return status;
}

// Tries dt, then two halves, each of which may be halved again. Substeps already done stay done. What failed of late is
// not tried again until the next epoch: cloth that crumples goes on to do so.
static tl_status advance(stepper *s, double begin, double dt, int depth, tl_step_report *report, tl_error *err)
{
    tl_dynamics_world *w = s->w;
    if (depth >= s->d->cut && depth >= w->halvings) {
        const tl_status status = try_whole(s, begin, dt, depth, report, err);
        report->substeps += status == TL_OK;
        if (status != TL_FAILED) return status;
        report->rejected++;
        if (depth == w->set.max_halvings) return status;
        if (depth < EARLY_HALVINGS) s->d->cut = depth + 1;
        tl_log_write(w->log, TL_LOG_DEBUG, "step %lld at %.6f s: dt %g s halved: %s", (long long)w->step, begin, dt,
                     err ? err->message : "");
    }
    if (depth > 0) return halves(s, begin, dt, depth, report, err);
    const tl_arena_mark mark = tl_arena_save(w->ctx.arena);
    keep kept = {{NULL, NULL, NULL, NULL}, NULL, 0, false};
    tl_status status = keep_state(s, &kept, err);
    if (status == TL_OK) {
        status = halves(s, begin, dt, depth, report, err);
        if (status != TL_OK) restore_kept(s, &kept);
    }
    tl_arena_release(w->ctx.arena, mark);
    return status;
}

static tl_status halves(stepper *s, double begin, double dt, int depth, tl_step_report *report, tl_error *err)
{
    TL_TRY(advance(s, begin, dt / 2, depth + 1, report, err));
    return advance(s, begin + dt / 2, dt / 2, depth + 1, report, err);
}

tl_status implicit_step(void *self, tl_dynamics_world *w, double begin, double dt, tl_step_report *report,
                        tl_error *err)
{
    stepper s = {self, w, w->responder && w->responder->in_potential ? implicit_contacts(w) : NULL};
    return advance(&s, begin, dt, 0, report, err);
}
