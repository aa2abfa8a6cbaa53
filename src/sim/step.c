// sim/step.c: one time step: drive the handles, set up the integrator, solve, retry smaller if need be.

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/log.h"
#include "base/timer.h"
#include "physics/forces.h"
#include "sim/internal.h"
#include "dynamics/implicit/newton.h"

// [m] in one Newton iteration with contact, or four times what inertia does: far more than updates need
#define LONGEST_UPDATE 0.02
#define LONGEST_DRIVEN 0.2

// cloth that bodies make so many times faster in one step is to be judged by the speed it is given
#define SET_GOING 2.0

// Strain limits: what is promised is 0.1 %.
#define STRAIN_PROMISED 1e-3
#define STRAIN_TOLERANCE 8e-4
enum { STRAIN_ROUNDS = 20, STRAINED_IDLE = 3, STRAIN_HALVINGS = 2, EARLY_HALVINGS = 2, PATIENT_HALVINGS = 4 };

/// x_hat = now x_n - before x_(n-1), velocity = gamma (x - x_hat). Variable-step BDF2 with the ratio w of this step to
/// the last: velocity = ((1 + 2w)/(1 + w) x - (1 + w) x_n + w^2/(1 + w) x_(n-1)) / dt. w = 0 is implicit Euler.
static tl_step_def integrator(const tl_sim *sim, double dt)
{
    double w = sim->def.integrator == TL_BDF2 && sim->dt_before > 0 ? dt / sim->dt_before : 0;
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

// Where cloth that is cut short this often (part of its nodes) stops bodies on the move before anything is solved,
// layers start out jammed. Halves of the step take as many iterations between them, each with a third of the contacts.
#define JAMMED 0.03

// With contact the inertial motion is followed as far as nothing meets.
static tl_status touching_guess(tl_sim *sim, const tl_step_def *step, const tl_vec3 *target, bool may_fail, tl_vec3 *x,
                                tl_error *err)
{
    const tl_elements *e = sim->elements;
    const int32_t n = e->node_count;
    tl_contacts *contacts = sim->contacts;
    tl_vec3 *u = TL_SCRATCH(&sim->arena, tl_vec3, n);
    if (!u) return tl_fail_memory(err, "a step");
    for (int32_t i = 0; i < n; i++) u[i] = tl_sub3(e->fixed[i] ? target[i] : step->x_tilde[i], sim->x[i]);
    TL_TRY(tl_contacts_search(contacts, sim->x, u, &sim->arena, sim->workers, err));
    TL_TRY(tl_contacts_note_start(contacts, err));
    if (tl_contacts_bodies_left(contacts) > 0) {
        TL_TRY(tl_contacts_carry(contacts, sim->x, u, &sim->arena, sim->workers, err));
        TL_TRY(tl_contacts_search(contacts, sim->x, u, &sim->arena, sim->workers, err));
    }
    int64_t limited;
    TL_TRY(tl_contacts_limit(contacts, sim->x, u, true, &sim->arena, sim->workers, &limited, err));
    for (int32_t i = 0; i < n; i++) x[i] = tl_add3(sim->x[i], u[i]);
    tl_contacts_move_bodies(contacts, 1);
    if (may_fail && (double)limited > JAMMED * n && tl_contacts_bodies_left(contacts) > 0)
        return tl_fail(err, TL_FAILED, "cloth is jammed before bodies on the move: %lld of %d nodes",
                       (long long)limited, n);
    return tl_contacts_settle(contacts, x, sim->workers, err);
}

// For impact zones: all of the inertial motion, pushed along by bodies; contacts as they are at the start.
static tl_status free_guess(tl_sim *sim, const tl_step_def *step, const tl_vec3 *target, tl_vec3 *x, tl_error *err)
{
    const tl_elements *e = sim->elements;
    const int32_t n = e->node_count;
    tl_vec3 *u = TL_SCRATCH(&sim->arena, tl_vec3, n);
    if (!u) return tl_fail_memory(err, "a step");
    for (int32_t i = 0; i < n; i++) u[i] = tl_sub3(e->fixed[i] ? target[i] : step->x_tilde[i], sim->x[i]);
    TL_TRY(tl_contacts_search(sim->contacts, sim->x, u, &sim->arena, sim->workers, err));
    TL_TRY(tl_contacts_carry(sim->contacts, sim->x, u, &sim->arena, sim->workers, err));
    for (int32_t i = 0; i < n; i++) x[i] = e->fixed[i] ? target[i] : tl_add3(sim->x[i], u[i]);
    tl_contacts_freeze(sim->contacts);
    return TL_OK;
}

// Newton starts from rest or from the inertial motion, whichever has the lower potential.
static tl_status first_guess(tl_sim *sim, const tl_step_def *step, const tl_vec3 *target, tl_vec3 *x, tl_error *err)
{
    const tl_elements *e = sim->elements;
    const int32_t n = e->node_count;
    tl_potential still, moving;
    for (int32_t i = 0; i < n; i++) x[i] = e->fixed[i] ? target[i] : sim->x[i];
    double still_held = 0, moving_held = 0;
    TL_TRY(tl_forces_energy(sim->elements, step, x, &sim->arena, sim->workers, &still, err));
    if (sim->limits) TL_TRY(tl_strain_energy(sim->limits, e, x, &sim->arena, sim->workers, &still_held, err));
    for (int32_t i = 0; i < n; i++) x[i] = e->fixed[i] ? target[i] : step->x_tilde[i];
    TL_TRY(tl_forces_energy(sim->elements, step, x, &sim->arena, sim->workers, &moving, err));
    if (sim->limits) TL_TRY(tl_strain_energy(sim->limits, e, x, &sim->arena, sim->workers, &moving_held, err));
    if (!(tl_potential_sum(&moving) + moving_held < tl_potential_sum(&still) + still_held))
        for (int32_t i = 0; i < n; i++) x[i] = e->fixed[i] ? target[i] : sim->x[i];
    return TL_OK;
}

static void add_contact_report(const tl_sim *sim, tl_step_report *report)
{
    tl_contact_report now;
    tl_contacts_report(sim->contacts, &now);
    tl_contact_report *sum = &report->contact;
    now.searches += sum->searches, now.volume_tests += sum->volume_tests, now.limited += sum->limited,
        now.held += sum->held;
    now.zones += sum->zones, now.zone_rounds += sum->zone_rounds;
    if (sum->zone_nodes > now.zone_nodes) now.zone_nodes = sum->zone_nodes;
    *sum = now;
}

// Forces within the cloth and between cloths sum to zero wherever the nodes are, so if nothing else acts, the momentum
// of the whole is known beforehand. A solve that stops at its tolerance misses it by a little; moving everything alike
// puts that right and changes no distance.
static void keep_momentum(const tl_sim *sim, const tl_step_def *step, tl_vec3 *x)
{
    const tl_elements *e = sim->elements;
    if (sim->body_count > 0 || step->pressure != 0 || step->skin != 0 || step->pull) return;
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

static tl_status resolve_zones(tl_sim *sim, tl_vec3 *x, bool *stuck, tl_newton_report *r, tl_error *err)
{
    const double start = tl_now();
    bool clear;
    TL_TRY(tl_contacts_zones(sim->contacts, sim->x, x, &sim->arena, sim->workers, &clear, err));
    r->contact_seconds += tl_now() - start;
    *stuck = !clear;
    return TL_OK;
}

// Zones know nothing of strain limits. Where they have left faces beyond them, the potential, from where the zones
// ended, mends that: what is cut short on the way from a state that is free stays free.
static tl_status mend_after_zones(tl_sim *sim, const tl_step_def *step, const tl_newton_def *def, const tl_vec3 *target,
                                  tl_vec3 *x, tl_newton_report *r, tl_error *err)
{
    tl_newton_def mend = *def;
    mend.mend = true;
    TL_TRY(tl_contacts_settle(sim->contacts, x, sim->workers, err));
    tl_newton_report more;
    TL_TRY(tl_newton_solve(sim->elements, step, &mend, sim->matrix, sim->solver, sim->contacts, sim->limits, target, x,
                           &sim->arena, sim->workers, &more, err));
    r->iterations += more.iterations, r->linear_iterations += more.linear_iterations,
        r->factorizations += more.factorizations;
    r->part_iterations += more.part_iterations, r->strain_rounds += more.strain_rounds;
    r->contact_seconds += more.contact_seconds, r->strain_seconds += more.strain_seconds;
    r->strain = more.strain, r->strain_held = more.strain_held;
    r->converged = r->converged && more.converged;
    return TL_OK;
}

// Begins the step for the limits. `strained`: they are not met even now, so where nodes are driven they may not be met
// again, and the step is not cut for it. What a pass of remeshing leaves beyond them is another matter: that can be
// mended.
static tl_status begin_strain(tl_sim *sim, const tl_step_def *step, bool *strained, tl_step_report *report,
                              tl_error *err)
{
    *strained = false;
    if (!sim->limits) return TL_OK;
    const double start = tl_now();
    tl_strain_begin(sim->limits, sim->elements, step->gamma);
    tl_strain_state now;
    TL_TRY(tl_strain_measure(sim->limits, sim->elements, sim->x, STRAIN_PROMISED, false, &sim->arena, sim->workers,
                             &now, err));
    *strained =
        now.worst > STRAIN_PROMISED && sim->remeshed != sim->step;  // not by the report: a step taken again has no pass
    report->seconds.strain += tl_now() - start;
    return TL_OK;
}

// What the limits came to at the accepted positions; multipliers become part of the state.
static tl_status end_strain(tl_sim *sim, const tl_vec3 *x, tl_step_report *report, tl_error *err)
{
    const double start = tl_now();
    tl_strain_state now;
    TL_TRY(
        tl_strain_measure(sim->limits, sim->elements, x, STRAIN_PROMISED, false, &sim->arena, sim->workers, &now, err));
    tl_strain_keep(sim->limits, sim->elements, x, STRAIN_PROMISED);
    tl_strain_report *r = &report->strain;
    r->active = now.active, r->violated = now.violated, r->worst = now.worst;
    report->seconds.strain += tl_now() - start;
    return TL_OK;
}

// What the integrator makes of the past, and the world as it is at the end of the step. x_tilde of a node that a handle
// drives is its target.
static tl_status set_up(tl_sim *sim, double begin, double dt, tl_step_def *out, tl_error *err)
{
    const tl_elements *e = sim->elements;
    const int32_t n = e->node_count;
    tl_step_def step = integrator(sim, dt);
    tl_vec3 *x_tilde = TL_SCRATCH(&sim->arena, tl_vec3, n);
    tl_vec3 *past = step.before != 0 ? TL_SCRATCH(&sim->arena, tl_vec3, n) : NULL;
    if (!x_tilde || (step.before != 0 && !past)) return tl_fail_memory(err, "a step");
    sim_drive_handles(sim, begin, begin + dt, x_tilde);
    for (int32_t i = 0; i < n && past; i++)
        past[i] = tl_madd3(tl_mul3(step.now, sim->x[i]), -step.before, sim->x_before[i]);
    step.x_hat = past ? past : sim->x;
    for (int32_t i = 0; i < n; i++) {
        if (e->fixed[i]) continue;
        const tl_vec3 v_hat = past ? tl_madd3(tl_mul3(step.now, sim->v[i]), -step.before, sim->v_before[i]) : sim->v[i];
        x_tilde[i] = tl_madd3(step.x_hat[i], 1 / step.gamma, v_hat);
    }
    step.x_tilde = x_tilde, step.gravity = sim->def.gravity;
    step.pressure = 0.5 * sim->def.air.density * sim->def.air.drag, step.skin = sim->def.air.skin;
    step.wind = tl_wind_at(&sim->def.air, sim->def.seed, begin + dt);
    tl_eddies *eddies = TL_SCRATCH(&sim->arena, tl_eddies, 1);
    if (!eddies) return tl_fail_memory(err, "a step");
    if (tl_wind_eddies(&sim->def.air, sim->def.seed, begin + dt, eddies)) step.eddies = eddies;
    bool fading = false;
    for (int32_t i = 0; i < sim->handle_count; i++) fading = fading || sim->handles[i].fade > 0;
    double *pull = TL_SCRATCH(&sim->arena, double, fading ? n : 0);
    tl_vec3 *pull_to = TL_SCRATCH(&sim->arena, tl_vec3, fading ? n : 0);
    if (!pull || !pull_to) return tl_fail_memory(err, "a step");
    if (fading && sim_fade_handles(sim, begin, begin + dt, pull, pull_to)) step.pull = pull, step.pull_to = pull_to;
    *out = step;
    return TL_OK;
}

// How far Newton's method may go at a time, and when it is done.
static tl_newton_def newton_def(const tl_sim *sim, const tl_step_def *step, const tl_vec3 *x, double dt, bool strained,
                                bool may_fail, bool last)
{
    double most2 = 0, speed2 = 0, way2 = 0;
    for (int32_t i = 0; i < sim->node_count; i++) {
        const tl_vec3 way = tl_sub3(x[i], sim->x[i]);
        const double square = tl_dot3(way, way);
        most2 = square > most2 ? square : most2;
        speed2 += tl_dot3(sim->v[i], sim->v[i]), way2 += square;
    }
    // .. or as far as gravity and wind take cloth that was at rest
    const double driven = fmax(tl_norm3(step->gravity) * dt, tl_norm3(step->wind)) * dt,
                 longest = fmax(fmax(LONGEST_UPDATE, fmin(driven, LONGEST_DRIVEN)), 4 * sqrt(most2));
    if (sim->contacts && tl_contacts_bodies_move(sim->contacts) && way2 > SET_GOING * SET_GOING * dt * dt * speed2)
        speed2 = way2 / (dt * dt);
    return (tl_newton_def){sim->def.newton_iterations,
                           sim->def.newton_tolerance,
                           sim->def.linear_tolerance,
                           sqrt(speed2 / fmax(sim->node_count, 1)),
                           longest,
                           STRAIN_TOLERANCE,
                           STRAIN_ROUNDS,
                           strained ? STRAINED_IDLE : STRAIN_ROUNDS,
                           may_fail,
                           last,
                           false,
                           false};
}

static void add_newton_report(const tl_sim *sim, const tl_newton_report *r, tl_step_report *report)
{
    report->newton_iterations += r->iterations;
    report->linear_iterations += r->linear_iterations;
    report->factorizations += r->factorizations;
    report->linear_used = (tl_linear)r->used;
    report->newton_change = r->change;
    if (sim->contacts) add_contact_report(sim, report);
    report->strain.rounds += r->strain_rounds;
    report->strain.mended += r->part_iterations;
    report->seconds.collision += r->contact_seconds;
    report->seconds.strain += r->strain_seconds;
}

static void accept(tl_sim *sim, const tl_step_def *step, double dt, const tl_vec3 *x)
{
    for (int32_t i = 0; i < sim->node_count; i++) {
        const tl_vec3 v = tl_mul3(step->gamma, tl_sub3(x[i], step->x_hat[i]));
        if (sim->x_before) sim->x_before[i] = sim->x[i], sim->v_before[i] = sim->v[i];
        sim->x[i] = x[i], sim->v[i] = v;
    }
    sim->dt_before = dt;
}

// Cloth that a fast body meets needs time to give way. Where it has room, a step that is cut once more lets it.
static tl_pinching pinching_at(int depth, bool last)
{
    if (last || depth >= PATIENT_HALVINGS) return TL_PINCH_ANY;
    return depth < EARLY_HALVINGS ? TL_PINCH_NONE : TL_PINCH_NO_ROOM;
}

/// One attempt from `begin` to `begin + dt`; the state changes only on success. After the last halving Newton's answer
/// is accepted even at its iteration limit; strain beyond its limits is accepted earlier. `stuck` (may be NULL) asks
/// for impact zones, and is told if they failed.
static tl_status attempt(tl_sim *sim, double begin, double dt, int depth, bool *stuck, tl_step_report *report,
                         tl_error *err)
{
    // Where the smallest part of a step had to be taken as it was, to cut the rest as small again helps nobody.
    // And when the budget is spent, what is left of the step is taken as a whole.
    const bool hurry = tl_workers_exhausted(sim->workers);
    const bool last = depth == sim->def.max_halvings || (report->unconverged > 0 && depth >= EARLY_HALVINGS) || hurry;
    const bool may_fail = depth < EARLY_HALVINGS && !last;
    tl_vec3 *x = TL_SCRATCH(&sim->arena, tl_vec3, sim->node_count);
    if (!x) return tl_fail_memory(err, "a step");
    tl_step_def step;
    TL_TRY(set_up(sim, begin, dt, &step, err));
    const tl_vec3 *target = step.x_tilde;
    if (!all_near(target, sim->node_count))
        return tl_fail(err, TL_FAILED, "a handle or a speed sends cloth further than %g m away", FARTHEST);
    tl_forces_begin(sim->elements, &step, sim->x, sim->x_before, sim->shape_changed, sim->workers);
    sim->shape_changed = false, sim->begun = true;
    bool strained;
    TL_TRY(begin_strain(sim, &step, &strained, report, err));
    const double start = tl_now();
    if (sim->contacts)
        TL_TRY(sim_begin_contacts(sim, begin, dt, step.gamma, pinching_at(depth, last), depth > 0, step.x_hat, target,
                                  err));
    if (sim->contacts && stuck)
        TL_TRY(free_guess(sim, &step, target, x, err));
    else
        TL_TRY(sim->contacts ? touching_guess(sim, &step, target, may_fail, x, err)
                             : first_guess(sim, &step, target, x, err));
    if (sim->contacts) report->seconds.collision += tl_now() - start;
    tl_newton_def newton = newton_def(sim, &step, x, dt, strained, may_fail, last);
    newton.hurry = hurry;
    tl_newton_report r;
    tl_status status = tl_newton_solve(sim->elements, &step, &newton, sim->matrix, sim->solver, sim->contacts,
                                       sim->limits, target, x, &sim->arena, sim->workers, &r, err);
    if (status == TL_OK && sim->contacts && stuck && (r.converged || last || r.spent)) {
        TL_TRY(resolve_zones(sim, x, stuck, &r, err));
        if (!*stuck && sim->limits) status = mend_after_zones(sim, &step, &newton, target, x, &r, err);
    }
    add_newton_report(sim, &r, report);
    if (status != TL_OK) return status;
    if (stuck && *stuck) return tl_fail(err, TL_FAILED, "impact zones between moving bodies were not resolved");
    if (!all_finite(x, sim->node_count)) return tl_fail(err, TL_FAILED, "positions are not finite");
    const bool taken = last || r.spent;  // converged or not
    if (!r.converged && !taken)
        return tl_fail(err, TL_FAILED, "Newton's method stopped after %d iterations at a change of %g m/s",
                       r.iterations, r.change);
    if (!r.strain_held && !strained && depth < STRAIN_HALVINGS && !taken)
        return tl_fail(err, TL_FAILED, "a strain is %g beyond its limits after %d rounds", r.strain.worst,
                       r.strain_rounds);
    report->unconverged += !r.converged;
    report->hurried += hurry || r.spent;
    keep_momentum(sim, &step, x);
    if (sim->limits) TL_TRY(end_strain(sim, x, report, err));
    accept(sim, &step, dt, x);
    return TL_OK;
}

/// The state before a step that had to be cut, should its parts fail as well.
typedef struct keep {
    tl_vec3 *arrays[4];
    double (*stress)[3];
    double dt_before;
} keep;

static void state_arrays(const tl_sim *sim, tl_vec3 *out[4])
{
    out[0] = sim->x, out[1] = sim->v, out[2] = sim->x_before, out[3] = sim->v_before;
}

static tl_status keep_state(tl_sim *sim, keep *kept, tl_error *err)
{
    tl_vec3 *arrays[4];
    state_arrays(sim, arrays);
    kept->dt_before = sim->dt_before;
    for (int k = 0; k < 4; k++) {
        kept->arrays[k] = arrays[k] ? TL_SCRATCH(&sim->arena, tl_vec3, sim->node_count) : NULL;
        if (!arrays[k]) continue;
        if (!kept->arrays[k]) return tl_fail_memory(err, "a step");
        memcpy(kept->arrays[k], arrays[k], (size_t)sim->node_count * sizeof(tl_vec3));
    }
    if (!sim->limits) return TL_OK;
    const size_t faces = (size_t)sim->limits->face_count;
    kept->stress = tl_arena_bytes(&sim->arena, faces, sizeof *kept->stress);
    if (!kept->stress) return tl_fail_memory(err, "a step");
    memcpy(kept->stress, sim->limits->multiplier, faces * sizeof *kept->stress);
    return TL_OK;
}

static void bring_back(tl_sim *sim, const keep *kept)
{
    tl_vec3 *arrays[4];
    state_arrays(sim, arrays);
    sim->dt_before = kept->dt_before;
    for (int k = 0; k < 4; k++)
        if (arrays[k]) memcpy(arrays[k], kept->arrays[k], (size_t)sim->node_count * sizeof(tl_vec3));
    if (kept->stress)
        memcpy(sim->limits->multiplier, kept->stress, (size_t)sim->limits->face_count * sizeof *kept->stress);
}

static tl_status halves(tl_sim *sim, double begin, double dt, int depth, tl_step_report *report, tl_error *err);

// One step from `begin` by dt as a whole.
static tl_status try_whole(tl_sim *sim, double begin, double dt, int depth, tl_step_report *report, tl_error *err)
{
    const tl_arena_mark mark = tl_arena_save(&sim->arena);
    const size_t n = sim->contacts ? (size_t)sim->node_count : 0;
    uint8_t *pinched = TL_SCRATCH(&sim->arena, uint8_t, n);
    if (!pinched) return tl_fail_memory(err, "a step");
    if (n > 0) memcpy(pinched, tl_contacts_pinched(sim->contacts), n);
    bool stuck = false, zones = sim->def.collide.response == TL_RESPONSE_ZONES;
    tl_status status;
    for (;;) {
        status = attempt(sim, begin, dt, depth, zones ? &stuck : NULL, report, err);
        if (status != TL_OK && n > 0) {
            memcpy(tl_contacts_pinched(sim->contacts), pinched, n);
            tl_contacts_count_pinched(sim->contacts);
        }
        if (!zones || !stuck) break;
        zones = false;  // the other response always has an answer
        report->contact.held++;
    }
    tl_arena_release(&sim->arena, mark);
    return status;
}

// Tries dt, then two halves, each of which may be halved again. Substeps already done stay done. What failed of late is
// not tried again until the next epoch: cloth that crumples goes on to do so.
static tl_status advance(tl_sim *sim, double begin, double dt, int depth, tl_step_report *report, tl_error *err)
{
    if (depth >= sim->cut && depth >= sim->turn_cut) {
        const tl_status status = try_whole(sim, begin, dt, depth, report, err);
        report->substeps += status == TL_OK;
        if (status != TL_FAILED) return status;
        report->rejected++;
        if (depth == sim->def.max_halvings) return status;
        if (depth < EARLY_HALVINGS) sim->cut = depth + 1;
        tl_log_write(&sim->def.log, TL_LOG_DEBUG, "step %lld at %.6f s: dt %g s halved: %s", (long long)sim->step,
                     begin, dt, err ? err->message : "");
    }
    if (depth > 0) return halves(sim, begin, dt, depth, report, err);
    const tl_arena_mark mark = tl_arena_save(&sim->arena);
    keep kept = {{NULL, NULL, NULL, NULL}, NULL, 0};
    tl_status status = keep_state(sim, &kept, err);
    if (status == TL_OK) {
        status = halves(sim, begin, dt, depth, report, err);
        if (status != TL_OK) bring_back(sim, &kept);
    }
    tl_arena_release(&sim->arena, mark);
    return status;
}

static tl_status halves(tl_sim *sim, double begin, double dt, int depth, tl_step_report *report, tl_error *err)
{
    TL_TRY(advance(sim, begin, dt / 2, depth + 1, report, err));
    return advance(sim, begin + dt / 2, dt / 2, depth + 1, report, err);
}

void tl_sim_set_cancel(tl_sim *sim, const tl_cancel *cancel)
{
    sim->cancel = cancel ? *cancel : (tl_cancel){NULL, NULL};
}

// The budget, in nanoseconds of the cost model. The steps of an epoch share one: a single step may take half of what is
// left, so that hard moments get the time, and never less than half of its even share. Over an epoch that comes to no
// more than 1.2 times the budget and what it takes to end a step. Small cloth counts as LEAST_FACES faces.
enum { LEAST_FACES = 6000 };

static double allowance(const tl_sim *sim)
{
    if (!(sim->def.effort < (double)INFINITY)) return (double)INFINITY;
    const double faces = sim->face_count > LEAST_FACES ? sim->face_count : LEAST_FACES,
                 whole = 1e3 * sim->def.effort * faces * SIM_EPOCH_STEPS,
                 left = whole - tl_workers_spent(sim->workers);  // in this epoch
    return fmax(0.5 * left, 0.5 * whole / SIM_EPOCH_STEPS);
}

// All that changes the state. It can be given up where there is a note to go back to: from the start in an epoch that
// is open, else from where one begins.
static tl_status prepare_and_advance(tl_sim *sim, tl_step_report *report, tl_error *why, tl_error *err)
{
    TL_TRY(sim_compile(sim, err));
    if (sim->epoch_open) tl_workers_watch(sim->workers, &sim->cancel);
    TL_TRY(sim_come_and_go(sim, err));
    TL_TRY(sim_start(sim, NULL, err));
    TL_TRY(sim_remesh(sim, report, err));
    TL_TRY(sim_begin_epoch(sim, err));
    tl_workers_watch(sim->workers, &sim->cancel);
    tl_workers_allow(sim->workers, allowance(sim));
    tl_arena_reset(&sim->arena);
    sim->turn_cut = sim_turn_halvings(sim);
    const double before = tl_workers_spent(sim->workers);
    const tl_status status = advance(sim, sim->time, sim->def.dt, 0, report, why);
    report->effort = 1e-9 * (tl_workers_spent(sim->workers) - before);
    return status;
}

tl_status tl_sim_step(tl_sim *sim, tl_step_report *out, tl_error *err)
{
    const double start = tl_now();
    if (sim->interrupted) TL_TRY(sim_take_up_again(sim, err));
    tl_step_report report = {0};
    tl_error why = {TL_OK, ""}, other = {TL_OK, ""};
    const tl_status status = prepare_and_advance(sim, &report, &why, &other);
    tl_workers_watch(sim->workers, NULL);
    tl_workers_allow(sim->workers, (double)INFINITY);
    if (status == TL_CANCELLED) {
        sim->interrupted = true;
        return tl_fail(err, status, "step %lld at %.6f s was stopped on the way; the state is that before it",
                       (long long)sim->step, sim->time);
    }
    if (status != TL_OK && other.status != TL_OK) return tl_fail(err, status, "%s", other.message);
    if (status == TL_FAILED)
        return tl_fail(err, TL_FAILED,
                       "step %lld at %.6f s failed after %d attempts, the last with dt %g s: %s (try a smaller dt, or "
                       "damping)",
                       (long long)sim->step, sim->time, report.rejected,
                       sim->def.dt / (double)(1 << sim->def.max_halvings), why.message);
    if (status != TL_OK) return tl_fail(err, status, "%s", why.message);
    sim->step++;
    sim->time =
        sim->clock_time + (double)(sim->step - sim->clock_step) * sim->def.dt;  // a product, not a sum: no drift
    sim_publish(sim);
    report.time = sim->time, report.step = sim->step;
    report.seconds.total = tl_now() - start;
    report.seconds.physics =
        report.seconds.total - report.seconds.collision - report.seconds.remesh - report.seconds.strain;
    if (out) *out = report;
    return TL_OK;
}
