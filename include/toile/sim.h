// toile/sim.h: a simulation built in code: create it, step it, ask for its state, save and restore it.
// SI units, right-handed, y up. One tl_sim may be used by one thread at a time, also for reading; two run side by side.
#pragma once
#include "toile/air.h"
#include "toile/cloth.h"
#include "toile/contact.h"
#include "toile/dynamics.h"
#include "toile/handle.h"
#include "toile/report.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Whether cloth is brought to equilibrium before the first step (docs/start.md).
typedef enum tl_relax {
    TL_RELAX_AUTO,  ///< if it is strained beyond tl_start_def.strain
    TL_RELAX_ON,    ///< if it is strained by more than 2 %
    TL_RELAX_OFF,   ///< cloth starts as it is given
} tl_relax;

/// How a simulation starts. Relaxing moves cloth by its own stress alone (no gravity, no air, bodies and handles where
/// they are), under contact and from coarse meshes to fine ones; then within limits.
typedef struct tl_start_def {
    tl_relax relax;               ///< Default TL_RELAX_AUTO.
    double strain;                ///< largest principal strain beyond which TL_RELAX_AUTO relaxes, > 0. Default 1.
    double limit_min, limit_max;  ///< strains that relaxing ends within where bodies leave room, -1 < min <= 0 <= max;
                                  ///< 0, 0: no strain at all, as near as can be. NAN: the cloth's own limits, or
                                  ///< +-0.15. Default NAN.
    double reserved[8];           ///< room for later fields; zero
} tl_start_def;

typedef struct tl_sim_def {
    uint32_t struct_size;       ///< filled in by the default function, do not set
    double dt;                  ///< time step [s], > 0. Default 1/200.
    tl_integrator integrator;   ///< Default TL_IMPLICIT_EULER.
    tl_bending bending;         ///< Default TL_BEND_SHAPE.
    int32_t newton_iterations;  ///< at most, >= 1; 1 is the linearised step without a test. Default 30.
    double newton_tolerance;    ///< stop when an iteration changes speeds by less, root mean square [m/s], > 0; slow
                                ///< motion is solved finer. Default 0.03.
    int32_t max_halvings;       ///< a failed step is retried with dt/2, dt/4, .. this often, 0..16. Default 6.
    tl_linear linear;           ///< Default TL_LINEAR_AUTO.
    double linear_tolerance;  ///< relative residual of conjugate gradients, in (0, 1); down to three tenths of it below
                              ///< 4,000 nodes. Default 0.02.
    int32_t linear_iterations;  ///< at most, >= 1. Default 2000.
    double effort;              ///< work that steps may take on average, in microseconds a face by a model of counts,
                                ///< > 0; a hard one up to four times that, then it is ended coarsely and counted as
                                ///< hurried. Below 6,000 faces as for those; INFINITY: no bound. Default 60.
    tl_vec3 gravity;            ///< [m/s^2]. Default (0, -9.81, 0).
    tl_air_def air;
    tl_collide_def collide;
    uint64_t seed;       ///< the only source of randomness. Default 1.
    int32_t threads;     ///< >= 1, counting the caller; never changes a result. Default 1.
    tl_allocator alloc;  ///< Default libc.
    tl_log log;          ///< Default silent.
    tl_task_host tasks;  ///< the host's threads run our loops, `threads` at a time; Default none: threads of our own.
    tl_start_def start;
    tl_dynamics_kind dynamics;  ///< Default TL_DYNAMICS_IMPLICIT.
    tl_springs_options springs;
} tl_sim_def;
TL_API void tl_sim_def_init(tl_sim_def *def, size_t size);  ///< the defaults, as far as `size` bytes go
static inline tl_sim_def tl_sim_def_default(void)
{
    tl_sim_def def;
    tl_sim_def_init(&def, sizeof def);
    return def;
}

TL_API tl_status tl_sim_create(const tl_sim_def *def, tl_sim **out, tl_error *err);
TL_API void tl_sim_destroy(tl_sim *sim);  ///< NULL is fine

typedef struct tl_energies {
    double kinetic, stretch, bend, gravity;  ///< [J]; gravity is zero at the origin
} tl_energies;

/// From now on `cancel` (copied; NULL: nobody) is asked within steps and at the start, a few times per linear solve and
/// search. A step that is cancelled leaves the state of the last good step, its meshes maybe already remade; saving
/// then gives that state, and the next call that changes anything goes back to it first (up to eight steps are taken
/// again) with the same bits.
TL_API void tl_sim_set_cancel(tl_sim *sim, const tl_cancel *cancel);

/// One step of `dt`. TL_FAILED, TL_CANCELLED and TL_NO_MEMORY leave the state of the last good step, and the step can
/// be taken again (where memory runs out in the first step, or the first after a change, a mesh may be half remade).
/// TL_BAD_ARG: there is no cloth. `report` may be NULL.
TL_API tl_status tl_sim_step(tl_sim *sim, tl_step_report *report, tl_error *err);

/// Moves the nodes into their strain limits by as little as can be (mass-weighted; nodes that handles hold now stay):
/// for a cloth that was stretched around a body to dress it. Velocities stay; contact is not looked at, so do this
/// before the start is (tl_sim_start, or the first step). `excess` (may be NULL) gets the worst that is left, 0 if
/// within limits.
TL_API tl_status tl_sim_limit_strain(tl_sim *sim, double *excess, tl_error *err);

TL_API double tl_sim_time(const tl_sim *sim);
TL_API int64_t tl_sim_steps(const tl_sim *sim);

/// Kinetic and potential energies of everything, now. Like tl_sim_strain it makes ready what the first step would, so
/// `sim` is not const; views stay valid.
TL_API tl_status tl_sim_energies(tl_sim *sim, tl_energies *out);

/// Smallest and largest principal strain (stretch - 1) over all faces, and where.
typedef struct tl_strain_range {
    double min, max;
    tl_cloth_id min_cloth, max_cloth;
    int32_t min_face, max_face;
    double min_99, max_99;  ///< all but a hundredth of the area keep to these, by material area
    double min_50, max_50;  ///< half of the area does
} tl_strain_range;
TL_API tl_status tl_sim_strain(tl_sim *sim, tl_strain_range *out);

/// A hash of the whole state: equal states, equal hashes, on any number of threads.
TL_API uint64_t tl_sim_hash(const tl_sim *sim);

/// Bytes of memory in use and the most there has been.
typedef struct tl_memory_report {
    size_t used, peak;
} tl_memory_report;
TL_API tl_memory_report tl_sim_memory(const tl_sim *sim);

/// Steps that restoring the present state would take again, 0 to 7: a good time to save is when it is 0.
TL_API int64_t tl_sim_replay_steps(const tl_sim *sim);
/// The state as bytes. *data is owned by `sim` and valid until the next call that takes a non-const `sim`.
TL_API tl_status tl_sim_save(tl_sim *sim, const void **data, size_t *size, tl_error *err);

/// Back to a saved state of a simulation built the same way, with the same gravity, wind and dt; continues with the
/// same bits. May take a few steps (at most eight) again. TL_BAD_INPUT if the bytes are damaged or of another
/// simulation; then `sim` is unchanged.
TL_API tl_status tl_sim_restore(tl_sim *sim, const void *data, size_t size, tl_error *err);

#ifdef __cplusplus
}
#endif
