// sim/relax.c: cloth that was pulled apart by hand of the untangler finds its shape again before the simulation begins.
//
// Untangling moves nodes out of the way one by one and knows nothing of what cloth is made of, so it leaves a few faces
// that are stretched many times over. Here time steps are taken in which nothing but the cloth's own stress acts: no
// gravity, no air, bodies and handles where they are, every step from rest. Contact sees to it that what is apart stays
// apart. That is a descent of the stored energy with steps as large as it likes; it ends when it gains little.

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "sim/internal.h"
#include "dynamics/implicit/newton.h"

#define FIRST_DT 0.002  // [s]
#define LAST_DT 0.1
#define LITTLE 0.01     // of the energy, in a step
#define WELL 0.02       // the largest strain with which there is nothing to do
#define TOLERANCE 8e-4  // of strain limits, as in a step
enum { ROUNDS = 12 };
enum { LEAST_FACES = 6000, IDLE = 3 };

sim_relax_def sim_relax_def_default(void)
{
    return (sim_relax_def){.steps = 60, .effort = 2e5, .strain = WELL, .dt = FIRST_DT};
}

// Contacts of a step in which bodies stand still and cloth is where it is.
static tl_status begin_still(tl_sim *sim, double dt, const tl_vec3 *x, tl_error *err)
{
    const int32_t n = sim->node_count;
    tl_vec3 *none = TL_SCRATCH(&sim->arena, tl_vec3, n);
    if (!none) return tl_fail_memory(err, "relaxing");
    memset(none, 0, (size_t)n * sizeof *none);
    sim->still = true;  // bodies
    const tl_status status = sim_begin_contacts(sim, sim->time, dt, 1 / dt, TL_PINCH_NONE, false, sim->x, sim->x, err);
    sim->still = false;
    TL_TRY(status);
    TL_TRY(tl_contacts_search(sim->contacts, sim->x, none, &sim->arena, sim->workers, err));
    TL_TRY(tl_contacts_note_start(sim->contacts, err));
    tl_contacts_move_bodies(sim->contacts, 1);
    return tl_contacts_settle(sim->contacts, x, sim->workers, err);
}

// One such step. Velocities are left alone.
static tl_status relax_once(tl_sim *sim, double dt, tl_strain_limits *limits, tl_vec3 *x, double *stored, tl_error *err)
{
    const int32_t n = sim->node_count;
    const tl_step_def step = {.gamma = 1 / dt, .now = 1, .x_hat = sim->x, .x_tilde = sim->x};
    tl_forces_begin(sim->elements, &step, sim->x, NULL, true, sim->workers);
    if (limits) tl_strain_begin(limits, sim->elements, step.gamma);
    memcpy(x, sim->x, (size_t)n * sizeof *x);
    if (sim->contacts) TL_TRY(begin_still(sim, dt, x, err));
    const tl_newton_def def = {.iterations = sim->def.newton_iterations,
                               .tolerance = sim->def.newton_tolerance,
                               .linear_tolerance = sim->def.linear_tolerance,
                               .speed = 1,
                               .longest = 0.05,
                               .strain_tolerance = TOLERANCE,
                               .strain_rounds = ROUNDS,
                               .strain_idle = ROUNDS,
                               .must_arrive = true};
    tl_newton_report r;
    TL_TRY(tl_newton_solve(sim->elements, &step, &def, sim->matrix, sim->solver, sim->contacts, limits, sim->x, x,
                           &sim->arena, sim->workers, &r, err));
    for (int32_t i = 0; i < n; i++)
        if (!tl_finite3(x[i])) return tl_fail(err, TL_FAILED, "relaxing: node %d is not finite", i);
    return tl_forces_stored(sim->elements, x, false, &sim->arena, sim->workers, stored, err);
}

tl_status sim_relax(tl_sim *sim, const sim_relax_def *def, int32_t *steps, tl_error *err)
{
    const tl_arena_mark mark = tl_arena_save(&sim->arena);
    tl_vec3 *x = TL_SCRATCH(&sim->arena, tl_vec3, sim->node_count);
    *steps = 0;
    if (!x) return tl_fail_memory(err, "relaxing");
    uint8_t *fixed = sim->elements->fixed;
    sim_find_held(sim, fixed);
    const double faces = sim->face_count > LEAST_FACES ? sim->face_count : LEAST_FACES;
    tl_workers_allow(sim->workers, def->effort * faces);
    tl_strain_range strain;
    double stored, dt = def->dt;
    tl_status status = tl_forces_stored(sim->elements, sim->x, true, &sim->arena, sim->workers, &stored, err);
    for (int idle = 0; status == TL_OK && idle < IDLE && *steps < def->steps && !tl_workers_exhausted(sim->workers);) {
        sim->begun = false;
        status = tl_sim_strain(sim, &strain);
        if (status != TL_OK || (strain.max <= def->strain && strain.min >= -def->strain)) break;
        const tl_arena_mark here = tl_arena_save(&sim->arena);
        double now = stored;
        status = relax_once(sim, dt, def->limits, x, &now, err);
        tl_arena_release(&sim->arena, here);
        if (status != TL_OK) break;
        ++*steps;
        if (def->limits) {  // which may cost energy
            tl_strain_keep(def->limits, sim->elements, x, TOLERANCE);
            stored = fmax(stored, now);
        }
        if (now <= stored) memcpy(sim->x, x, (size_t)sim->node_count * sizeof *x);
        idle = def->limits || now < (1 - LITTLE) * stored ? 0 : idle + 1;
        dt = now <= stored ? fmin(2 * dt, LAST_DT) : 0.25 * dt;
        stored = fmin(now, stored);
    }
    tl_workers_allow(sim->workers, (double)INFINITY);
    tl_arena_release(&sim->arena, mark);
    sim->begun = false, sim->shape_changed = true;
    return status;
}
