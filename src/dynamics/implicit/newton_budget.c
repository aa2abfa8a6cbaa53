// dynamics/implicit/newton_budget.c: what Newton's method costs, and its end when the budget of the step is spent.

#include <math.h>

#include "dynamics/implicit/newton_impl.h"

// What faces cost, by the model of tl_workers_charge [ns]; in a part, those of its nodes.
#define LIMITS_COST 2.0  // with strain limits all of it costs so many times as much

void newton_charge_faces(const newton *s, double each)
{
    const double part = s->part.count > 0 ? (double)s->part.count / s->e->node_count : 1;
    tl_workers_charge(s->workers, (s->limits ? LIMITS_COST : 1) * each * part * s->e->face_count);
}

// When the budget of the step is spent, what there is is taken: every iterate is free of intersections, and none has a
// higher potential than the one before. Bodies have to be where they belong, and if they get on no further, whatever is
// in their way is pinched.
enum { HURRIED_ITERATIONS = 2, OVERTIME_ITERATIONS = 60 };

bool newton_is_spent(newton *s)
{
    tl_newton_report *r = s->report;
    if (!tl_workers_exhausted(s->workers)) return false;
    if (r->iterations + r->part_iterations < (s->def->hurry ? HURRIED_ITERATIONS : 1)) return false;
    if (s->contacts && !tl_contacts_frozen(s->contacts) && tl_contacts_bodies_left(s->contacts) > 0) {
        if (++s->overtime == OVERTIME_ITERATIONS) tl_contacts_let_bodies_pass(s->contacts);
        return false;
    }
    // A state whose energy is beyond all numbers is no result: that step fails, whatever it has cost.
    if (!isfinite(tl_potential_sum(&s->potential) + s->touch + s->held)) return false;
    r->spent = true;
    return true;
}
