// dynamics/implicit/implicit.c: the kind `implicit`: an incremental potential, minimised by Newton's method.

#include "dynamics/implicit/implicit.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "physics/bend.h"
#include "physics/bend_friction.h"

static tl_status create(const tl_allocator *alloc, const tl_dynamics_settings *set, void **self, tl_error *err)
{
    *self = NULL;
    tl_implicit *d = TL_CALLOC(alloc, tl_implicit, 1);
    if (!d) return tl_fail_memory(err, "the dynamics");
    d->alloc = *alloc;
    tl_solver_def solver = tl_solver_def_default();
    solver.kind = (tl_solver_kind)set->linear;
    solver.max_iterations = set->linear_iterations;
    const tl_status status = tl_solver_create(alloc, &solver, &d->solver, err);
    if (status != TL_OK) {
        TL_FREE(alloc, d, 1);
        return status;
    }
    *self = d;
    return TL_OK;
}

static void destroy(void *self)
{
    tl_implicit *d = self;
    if (!d) return;
    tl_solver_destroy(d->solver);
    tl_bsr_destroy(&d->alloc, d->matrix);
    const tl_allocator alloc = d->alloc;
    TL_FREE(&alloc, d, 1);
}

// May the matrix be kept in single precision? Rounding changes a row by some 6e-8 of the membrane stiffness for each of
// its entries; what holds the softest modes, mass over dt^2, must be well above that. Also no saving where factors in
// double are asked for.
#define SINGLE_MARGIN 1e-6

static bool single_is_safe(const tl_dynamics_world *w)
{
    const tl_elements *e = w->elements;
    const double dt = w->set.dt;
    if (w->set.linear == TL_LINEAR_DIRECT || w->set.linear == TL_LINEAR_CHOLMOD) return false;
    double stiffest = 0, lightest = INFINITY;
    for (int32_t i = 0; i < e->node_count; i++) lightest = fmin(lightest, e->mass[i]);
    for (int32_t m = 0; m < e->material_count; m++) {
        const tl_material *fabric = &e->materials[m];
        const double limits = w->limits ? TL_STRAIN_STIFFER : 0;
        const double viscous = 1 + limits + 1.5 * fabric->damping_stretch / dt;  // 1.5: BDF2
        for (int r = 0; r < 6; r++)
            for (int k = 0; k < 4; k++) stiffest = fmax(stiffest, viscous * fabs(fabric->stretch[r][k]));
        // yarns that stick: a moment per curvature, over the area of the smallest node
        const double sticking = 2 * 1.5 * fabric->friction_bend / (TL_BEND_CREEP * dt);
        if (sticking > 0) stiffest = fmax(stiffest, sticking * fabric->density / lightest);
    }
    return lightest > SINGLE_MARGIN * stiffest * dt * dt;
}

static tl_status compile(void *self, tl_dynamics_world *w, tl_error *err)
{
    tl_implicit *d = self;
    tl_bsr *old = d->matrix;  // the solver lets go of it when it is told the new one
    d->matrix = NULL;
    tl_status status =
        tl_elements_matrix(w->elements, single_is_safe(w), w->ctx.arena, w->ctx.workers, &d->matrix, err);
    if (status == TL_OK) status = tl_solver_pattern(d->solver, d->matrix, w->x, err);
    tl_bsr_destroy(&d->alloc, old);
    return status;
}

static void restart(void *self)
{
    tl_implicit *d = self;
    tl_solver_restart(d->solver);
    d->cut = 0;
}

static size_t save(const void *self, char *out)
{
    const tl_implicit *d = self;
    uint8_t notes[TL_SOLVER_NOTES];
    if (!out) return sizeof notes + 1;
    tl_solver_save_notes(d->solver, notes);
    memcpy(out, notes, sizeof notes);
    out[sizeof notes] = d->strained;
    return sizeof notes + 1;
}

static tl_status load(void *self, const char *data, size_t size, tl_error *err)
{
    tl_implicit *d = self;
    uint8_t notes[TL_SOLVER_NOTES];
    if (size != sizeof notes + 1) return tl_fail(err, TL_BAD_INPUT, "saved state: %zu bytes of the solver", size);
    memcpy(notes, data, sizeof notes);
    d->strained = data[sizeof notes] != 0;
    return tl_solver_load_notes(d->solver, notes, err);
}

static void hash(const tl_dynamics_settings *set, tl_hash *hash)
{
    const double solver[7] = {set->newton_iterations, set->newton_tolerance,  set->max_halvings, (int)set->linear,
                              set->linear_tolerance,  set->linear_iterations, set->effort};
    tl_hash_add(hash, &set->integrator, sizeof set->integrator);
    tl_hash_add(hash, solver, sizeof solver);
}

const tl_dynamics tl_dynamics_implicit = {
    .name = "implicit",
    .promise = "implicit Euler or BDF2 by Newton's method on a potential, stable at any step",
    .has_potential = true,
    .create = create,
    .destroy = destroy,
    .compile = compile,
    .step = implicit_step,
    .relax = implicit_relax,
    .restart = restart,
    .save = save,
    .load = load,
    .hash = hash,
};
