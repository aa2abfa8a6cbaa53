// dynamics/implicit/newton_budget.c: what Newton's method costs, and its end when the budget of the step is spent.

#include <math.h>

#include "dynamics/implicit/newton_impl.h"

// What faces cost, by the model of tl_workers_charge [ns]; in a part, those of its nodes.
void newton_charge_faces(const newton *s, double each)
{
    const double part = s->part.count > 0 ? (double)s->part.count / s->e->node_count : 1;
    double cost = 1;
    for (int32_t k = 0; k < s->term_count; k++)
        if (s->terms[k].kind->cost > 0) cost *= s->terms[k].kind->cost;
    tl_workers_charge(s->workers, cost * each * part * s->e->face_count);
}

// When the budget of the step is spent, what there is is taken: every iterate is free of intersections, and none has a
// higher potential than the one before. Terms have to be done with what they bring about (bodies where they belong),
// and if they get on no further, or have had what is granted for it, whatever keeps them from it gives way.
enum { HURRIED_ITERATIONS = 2, OVERTIME_ITERATIONS = 60 };

bool newton_is_spent(newton *s)
{
    tl_newton_report *r = s->report;
    if (!tl_workers_exhausted(s->workers)) return false;
    if (r->iterations + r->part_iterations < (s->def->hurry ? HURRIED_ITERATIONS : 1)) return false;
    if (newton_left(s) > 0) {
        if (++s->overtime >= OVERTIME_ITERATIONS || tl_workers_overdrawn(s->workers)) newton_force(s);
        return false;
    }
    // A state whose energy is beyond all numbers is no result: that step fails, whatever it has cost.
    if (!isfinite(newton_sum(s, tl_potential_sum(&s->potential), s->energy))) return false;
    r->spent = true;
    return true;
}
