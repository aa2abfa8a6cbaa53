// sim/step.c: one time step: the order of the stages, and the budget of work. How a step is solved is up to the kind of
// dynamics (dynamics/dynamics.h); here is what it asks of handles, air and bodies.

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/timer.h"
#include "sim/internal.h"
#include "sim/springs.h"

// ---- the world of a step ----------------------------------------------------------------------------------

static tl_status drive(void *host, double begin, double end, tl_drive *out, tl_error *err)
{
    tl_sim *sim = host;
    const int32_t n = sim->node_count;
    *out = (tl_drive){.target = TL_SCRATCH(&sim->arena, tl_vec3, n)};
    tl_eddies *eddies = TL_SCRATCH(&sim->arena, tl_eddies, 1);
    if (!out->target || !eddies) return tl_fail_memory(err, "a step");
    sim_drive_handles(sim, begin, end, out->target);
    out->wind = tl_wind_at(&sim->def.air, sim->def.seed, end);
    if (tl_wind_eddies(&sim->def.air, sim->def.seed, end, eddies)) out->eddies = eddies;
    const tl_lee_surface cloth = {sim->x, n, (const int32_t(*)[3])sim->cloth_face, sim->face_count};
    TL_TRY(sim_lee(sim, begin, &cloth, 1, 0, out->wind, &out->shelter, err));
    bool fading = false;
    for (int32_t i = 0; i < sim->handle_count; i++) fading = fading || sim->handles[i].fade > 0;
    const bool springs = sim_has_springs(sim), ties = sim_has_ties(sim);
    if (!fading && !springs && !ties) return TL_OK;
    double *pull = TL_SCRATCH(&sim->arena, double, n);
    tl_vec3 *pull_to = TL_SCRATCH(&sim->arena, tl_vec3, n);
    if (!pull || !pull_to) return tl_fail_memory(err, "a step");
    fading = fading && sim_fade_handles(sim, begin, end, pull, pull_to);
    if (springs) sim_add_springs(sim, fading, pull, pull_to);
    if (fading || springs || ties) out->pull = pull, out->pull_to = pull_to;
    return ties ? sim_add_ties(sim, begin, end, fading || springs, pull, pull_to, err) : TL_OK;
}

static tl_status begin_response(void *host, const tl_respond_begin *at, tl_error *err)
{
    return sim_begin_contacts(host, at, err);
}

tl_dynamics_settings sim_dynamics_settings(const tl_sim_def *def)
{
    return (tl_dynamics_settings){.dt = def->dt,
                                  .integrator = def->integrator,
                                  .newton_iterations = def->newton_iterations,
                                  .newton_tolerance = def->newton_tolerance,
                                  .max_halvings = def->max_halvings,
                                  .linear = def->linear,
                                  .linear_tolerance = def->linear_tolerance,
                                  .linear_iterations = def->linear_iterations,
                                  .effort = def->effort,
                                  .gravity = def->gravity,
                                  .air = def->air,
                                  .springs = def->springs};
}

tl_dynamics_world sim_world(tl_sim *sim)
{
    return (tl_dynamics_world){.set = sim_dynamics_settings(&sim->def),
                               .log = &sim->def.log,
                               .elements = sim->elements,
                               .limits = sim->limits,
                               .step = sim->step,
                               .time = sim->time,
                               .body_count = sim->body_count,
                               .remeshed = sim->remeshed == sim->step,
                               .halvings = sim->turn_cut,
                               .shape_changed = &sim->shape_changed,
                               .begun = &sim->begun,
                               .node_count = sim->node_count,
                               .x = sim->x,
                               .v = sim->v,
                               .x_before = sim->x_before,
                               .v_before = sim->v_before,
                               .dt_before = &sim->dt_before,
                               .responder = sim->responder,
                               .response = sim->response,
                               .drive = drive,
                               .begin_response = begin_response,
                               .host = sim,
                               .ctx = {&sim->arena, sim->workers}};
}

// ---- a step -----------------------------------------------------------------------------------------------

void tl_sim_set_cancel(tl_sim *sim, const tl_cancel *cancel)
{
    sim->cancel = cancel ? *cancel : (tl_cancel){NULL, NULL};
}

// The budget, in nanoseconds of the cost model. The steps of an epoch share one: a single step may take half of what is
// left, so that hard moments get the time, and never less than half of its even share. Over an epoch that comes to no
// more than 1.2 times the budget and what it takes to end a step. Small cloth counts as LEAST_FACES faces.
enum { LEAST_FACES = 6000 };

static double work_of_epoch(const tl_sim *sim, double each)
{
    return each * SIM_EPOCH_STEPS * (sim->face_count > LEAST_FACES ? sim->face_count : LEAST_FACES);
}

static double allowance(const tl_sim *sim)
{
    if (!(sim->def.effort < (double)INFINITY)) return (double)INFINITY;
    const double whole = work_of_epoch(sim, 1e3 * sim->def.effort),
                 left = whole - tl_workers_spent(sim->workers);  // in this epoch
    return fmax(0.5 * left, 0.5 * whole / SIM_EPOCH_STEPS);
}

// What bodies on their way may take beyond the budget, until whatever is in their way has to give way: as much a face
// and step for everybody, however small the budget [ns]. It is shared in the same way.
#define GRACE 90e3
#define OVERDRAFT 1.2  // what an epoch may come to, in budgets

static double grace(const tl_sim *sim)
{
    if (!(sim->def.effort < (double)INFINITY)) return (double)INFINITY;
    const double whole = work_of_epoch(sim, GRACE), end = OVERDRAFT * work_of_epoch(sim, 1e3 * sim->def.effort) + whole,
                 left = end - tl_workers_spent(sim->workers) - allowance(sim);
    return fmax(0.5 * left, 0.25 * whole / SIM_EPOCH_STEPS);
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
    tl_workers_grant(sim->workers, grace(sim));
    tl_arena_reset(&sim->arena);
    sim->turn_cut = sim_turn_halvings(sim);
    const double before = tl_workers_spent(sim->workers);
    tl_dynamics_world world = sim_world(sim);
    const tl_status status = sim->dynamics->step(sim->dynamics_self, &world, sim->time, sim->def.dt, report, why);
    report->effort = 1e-9 * (tl_workers_spent(sim->workers) - before);
    return status;
}

tl_status tl_sim_step(tl_sim *sim, tl_step_report *out, tl_error *err)
{
    if (sim_by_springs(sim)) return sim_springs_step(sim, out, err);
    const double start = tl_now();
    TL_TRY(sim_go_back(sim, err));
    const bool noted = sim->epoch_open && !sim->live_changed;  // the note leads to the state before this step
    tl_step_report report = {0};
    tl_error why = {TL_OK, ""}, other = {TL_OK, ""};
    const tl_status status = prepare_and_advance(sim, &report, &why, &other);
    tl_workers_watch(sim->workers, NULL);
    tl_workers_allow(sim->workers, (double)INFINITY);
    tl_workers_grant(sim->workers, (double)INFINITY);
    if (status == TL_NO_MEMORY && (noted || (sim->epoch_open && !sim->live_changed)))
        sim->interrupted = true;  // meshes may have been changed half-way
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
