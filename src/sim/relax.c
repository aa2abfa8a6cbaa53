// sim/relax.c: relaxation of cloth after untangling, before the simulation begins.
//
// Untangling moves nodes one by one without regard to the fabric, so it leaves a few faces stretched many times over.
// Relaxation takes time steps in which only the cloth's own stress acts: no gravity, no air, bodies and handles fixed,
// every step from rest, under contact. That is a descent of the stored energy with large steps; it ends when the gain
// becomes small.

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "sim/internal.h"

#define FIRST_DT 0.002  // [s]
#define LAST_DT 0.1
#define LITTLE 0.01     // of the energy, in a step
#define WELL 0.02       // the largest strain with which there is nothing to do
#define TOLERANCE 8e-4  // of strain limits, as in a step
enum { LEAST_FACES = 6000, IDLE = 3 };

sim_relax_def sim_relax_def_default(void)
{
    return (sim_relax_def){.steps = 60, .effort = 2e5, .strain = WELL, .dt = FIRST_DT};
}

tl_status sim_relax(tl_sim *sim, const sim_relax_def *def, int32_t *steps, tl_error *err)
{
    *steps = 0;
    if (!sim->dynamics->relax) return TL_OK;
    const tl_arena_mark mark = tl_arena_save(&sim->arena);
    tl_vec3 *x = TL_SCRATCH(&sim->arena, tl_vec3, sim->node_count);
    if (!x) return tl_fail_memory(err, "relaxing");
    uint8_t *fixed = sim->elements->fixed;
    sim_find_held(sim, fixed);
    const double faces = sim->face_count > LEAST_FACES ? sim->face_count : LEAST_FACES;
    tl_workers_allow(sim->workers, def->effort * faces);
    tl_strain_range strain;
    double stored, dt = def->dt;
    tl_status status =
        tl_forces_stored(sim->elements, sim->x, true, &(tl_ctx){&sim->arena, sim->workers}, &stored, err);
    for (int idle = 0; status == TL_OK && idle < IDLE && *steps < def->steps && !tl_workers_exhausted(sim->workers);) {
        sim->begun = false;
        status = tl_sim_strain(sim, &strain);
        if (status != TL_OK || (strain.max <= def->strain && strain.min >= -def->strain)) break;
        const tl_arena_mark here = tl_arena_save(&sim->arena);
        double now = stored;
        tl_dynamics_world world = sim_world(sim);
        status = sim->dynamics->relax(sim->dynamics_self, &world, dt, def->limits, x, &now, err);
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
