// dynamics/implicit/newton_repair.c: repairs faces that are crushed or drawn out when a step ends before it has
// converged.
//
// When a step ends early, the remaining error is mostly in a few faces where bodies have just arrived; everything else
// is close to its place. Iterations in which only the nodes around these faces move (newton_part.c) cost a fraction of
// full ones, so the same potential is minimised there a little longer. The bounds are within those of `toile check`
// (-80 %, +100 %): woven cloth does not reach them by itself, whatever hits it.

#include <math.h>

#include "base/fail.h"
#include "dynamics/implicit/newton_impl.h"
#include "physics/columns.h"

#define SQUASHED 0.45  // principal stretches beyond which a face is eased
#define DRAWN 1.6
#define OVERTIME 2000.0  // [ns] a face, by the model of tl_workers_charge; small cloth counts as LEAST_FACES faces
enum { EASE_ITERATIONS = 24, EASE_AROUND = 3, EASE_LOOK = 4, LEAST_FACES = 6000 };

bool newton_is_degenerate(const newton *s, const tl_vec3 *x, int32_t f)
{
    const tl_columns c = tl_face_columns(s->e, x, f);
    const double c11 = tl_dot3(c.f1, c.f1), c22 = tl_dot3(c.f2, c.f2), c12 = tl_dot3(c.f1, c.f2);
    const double mean = 0.5 * (c11 + c22), half = 0.5 * (c11 - c22), radius = sqrt(half * half + c12 * c12);
    return mean + radius > DRAWN * DRAWN || mean - radius < SQUASHED * SQUASHED;
}

// Iterates on the part until none of its faces is beyond the bounds, or there is no more progress.
static tl_status ease(newton *s, tl_vec3 *x, tl_error *err)
{
    s->part.rings = EASE_AROUND;
    for (int k = 0; k < EASE_ITERATIONS; k++) {
        if (k % EASE_LOOK == 0) {
            TL_TRY(newton_choose_part(s, x, err));
            if (s->part.count == 0) return TL_OK;
            TL_TRY(tl_forces_energy(s->e, s->step, x, s->ctx, &s->potential, err));
            TL_TRY(newton_energies(s, x, 0, s->energy, err));
        }
        bool moved;
        TL_TRY(tl_workers_poll(s->workers, "Newton's method", err));
        TL_TRY(newton_iterate_part(s, x, &moved, err));
        if (!moved || tl_workers_exhausted(s->workers)) return TL_OK;
    }
    return TL_OK;
}

tl_status newton_repair(newton *s, tl_vec3 *x, tl_error *err)
{
    tl_newton_report *r = s->report;
    const tl_newton_report before = *r;
    tl_workers_allow(s->workers, OVERTIME * fmax(s->e->face_count, LEAST_FACES));
    s->repairing = true, s->pair_count = 0, s->open = false;
    const tl_status status = ease(s, x, err);
    s->repairing = false, s->part.count = 0, tl_elements_touch(s->e, NULL);
    tl_workers_allow(s->workers, 0);
    r->repaired = r->part_iterations - before.part_iterations;
    r->part_iterations = before.part_iterations;
    r->change = before.change, r->converged = before.converged;
    return status;
}
