// dynamics/implicit/relax.c: one step of the descent that brings cloth to rest before the simulation begins.
//
// Only the cloth's own stress acts: no gravity, no air, bodies and handles fixed, every step from rest, under contact.
// That is a descent of the stored energy with large steps.

#include <string.h>

#include "base/fail.h"
#include "dynamics/implicit/implicit.h"
#include "physics/strain_term.h"
#include "respond/contact_term.h"

#define TOLERANCE 8e-4  // of strain limits, as in a step
enum { ROUNDS = 12 };

// Contacts of a step in which bodies stand still.
static tl_status begin_still(tl_dynamics_world *w, double dt, const tl_vec3 *x, tl_error *err)
{
    tl_contacts *contacts = implicit_contacts(w);
    const size_t n = (size_t)w->node_count;
    tl_vec3 *none = TL_SCRATCH(w->ctx.arena, tl_vec3, n);
    if (!none) return tl_fail_memory(err, "relaxing");
    memset(none, 0, n * sizeof *none);
    const tl_respond_begin at = {.begin = w->time,
                                 .dt = dt,
                                 .gamma = 1 / dt,
                                 .pinch = TL_PINCH_NONE,
                                 .still = true,
                                 .x_hat = w->x,
                                 .target = w->x};
    TL_TRY(w->begin_response(w->host, &at, err));
    TL_TRY(tl_contacts_search(contacts, w->x, none, &w->ctx, err));
    TL_TRY(tl_contacts_note_start(contacts, err));
    tl_contacts_move_bodies(contacts, 1);
    return tl_contacts_settle(contacts, x, w->ctx.workers, err);
}

tl_status implicit_relax(void *self, tl_dynamics_world *w, double dt, tl_strain_limits *limits, tl_vec3 *x,
                         double *stored, tl_error *err)
{
    const tl_implicit *d = self;
    const int32_t n = w->node_count;
    const tl_step_def step = {.gamma = 1 / dt, .now = 1, .x_hat = w->x, .x_tilde = w->x};
    tl_forces_begin(w->elements, &step, w->x, NULL, true, w->ctx.workers);
    if (limits) tl_strain_begin(limits, w->elements, step.gamma);
    memcpy(x, w->x, (size_t)n * sizeof *x);
    if (implicit_contacts(w)) TL_TRY(begin_still(w, dt, x, err));
    const tl_newton_def def = {.iterations = w->set.newton_iterations,
                               .tolerance = w->set.newton_tolerance,
                               .linear_tolerance = w->set.linear_tolerance,
                               .speed = 1,
                               .longest = 0.05,
                               .rounds = ROUNDS,
                               .idle_rounds = ROUNDS,
                               .must_arrive = true,
                               .thorough = true};
    tl_term terms[2];
    int32_t count = 0;
    if (limits) TL_TRY(tl_strain_term(limits, w->elements, TOLERANCE, w->ctx.arena, &terms[count++], err));
    if (implicit_contacts(w)) TL_TRY(tl_contact_term(implicit_contacts(w), w->ctx.arena, &terms[count++], err));
    const tl_newton_problem problem = {.elements = w->elements,
                                       .step = &step,
                                       .matrix = d->matrix,
                                       .solver = d->solver,
                                       .terms = terms,
                                       .term_count = count};
    tl_newton_report r;
    TL_TRY(tl_newton_solve(&problem, &def, x, &w->ctx, &r, err));
    for (int32_t i = 0; i < n; i++)
        if (!tl_finite3(x[i])) return tl_fail(err, TL_FAILED, "relaxing: node %d is not finite", i);
    return tl_forces_stored(w->elements, x, false, &w->ctx, stored, err);
}
