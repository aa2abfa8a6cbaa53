// dynamics/implicit/newton_rounds.c: rounds of a term with multipliers (strain limits).
//
// When the iteration has converged and a constraint is still violated, another round begins, at first with the nodes
// around the violated constraints alone (newton_part.c): this is called mending.

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "dynamics/implicit/newton_impl.h"

// If a round leaves more than this part of the excess, violated constraints become stiffer.
#define POOR_PROGRESS 0.3
enum { POOR_ROUNDS = 5 };  // rounds before that
// Rounds that reduce the excess by less than a tenth count as idle: nodes may be driven further than the constraints
// allow.
#define PROGRESS 0.9
// Iterations of a part must halve the excess within this many.
#define PART_PROGRESS 0.5
enum { PART_IDLE = 3, FIRST_RINGS = 2, MOST_RINGS = 16, MOST_PART_ITERATIONS = 60 };

static tl_term *term_of(const newton *s) { return &s->terms[s->constrained]; }

tl_status newton_measure(newton *s, const tl_vec3 *x, tl_error *err)
{
    tl_term *t = term_of(s);
    const double begin = tl_now();
    TL_TRY(t->kind->measure(t->self, x, &s->report->excess, &s->report->met, s->ctx, err));
    t->seconds += tl_now() - begin;
    return TL_OK;
}

// Stiffens violated constraints that `rounds` have hardly improved.
static void stiffen(newton *s, const tl_vec3 *x, int32_t rounds, double before)
{
    if (rounds >= POOR_ROUNDS && s->report->excess > POOR_PROGRESS * before)
        term_of(s)->kind->stiffen(term_of(s)->self, x);
}

// Where other terms keep nodes from meeting the constraints, multipliers may grow with every update, and updates with
// them. The energy of the term shows it: more than this many times its energy when mending began plus the part's energy
// of stretching, bending and motion. From there on iterations only make it worse, and the step is halved.
#define RUN_AWAY 10.0

static bool runs_away(const newton *s)
{
    const tl_potential *p = &s->potential;
    return s->energy[s->constrained] >
           RUN_AWAY * (s->part.energy + fabs(p->stretch) + fabs(p->bend) + fabs(p->inertia));
}

// Mending starts from a solution that is good but for some constraints. That solution is kept: if mending diverges and
// the step must not be halved for it, or mending ends without an improvement, it is the result.
static tl_status note_answer(newton *s, const tl_vec3 *x, tl_error *err)
{
    newton_part *p = &s->part;
    const size_t n = (size_t)s->e->node_count;
    if (!p->from) p->from = TL_SCRATCH(s->arena, tl_vec3, n);
    if (!p->from) return tl_fail_memory(err, "Newton's method");
    memcpy(p->from, x, n * sizeof *x);
    p->first = s->report->excess;
    return term_of(s)->kind->keep(term_of(s)->self, s->arena, err);
}

static tl_status go_back_to_answer(newton *s, tl_vec3 *x, tl_error *err)
{
    memcpy(x, s->part.from, (size_t)s->e->node_count * sizeof *x);
    term_of(s)->kind->restore_kept(term_of(s)->self);
    s->part.count = 0, tl_elements_touch(s->e, NULL);
    TL_TRY(newton_relocate(s, x, err));
    return newton_measure(s, x, err);
}

tl_status newton_end_mending(newton *s, tl_vec3 *x, tl_error *err)
{
    const bool in_part = s->part.count > 0;
    tl_elements_touch(s->e, NULL);
    TL_TRY(newton_measure(s, x, err));
    return in_part && s->report->excess > s->part.first ? go_back_to_answer(s, x, err) : TL_OK;
}

// Continues with the nodes around violated constraints alone, if that is worth it, and with a larger part if the last
// one made little progress. If other terms block even the largest part, halving the step is cheaper.
static tl_status go_on_in_part(newton *s, tl_vec3 *x, bool *again, tl_error *err)
{
    newton_part *p = &s->part;
    const double excess = s->report->excess;
    if (p->count > 0) {
        p->idle = s->length == 0 ? PART_IDLE : p->idle + 1;  // once more would be the same again
        const bool gets_on = excess < PART_PROGRESS * p->excess, can_be_met = s->def->idle_rounds == s->def->rounds;
        if (!gets_on && p->idle < PART_IDLE) return TL_OK;
        if (gets_on)
            p->excess = excess;
        else
            p->rings *= 2;
        p->idle = 0;
        if (!gets_on && runs_away(s)) {
            if (!can_be_met || s->def->must_arrive) {
                *again = false;
                return go_back_to_answer(s, x, err);
            }
            return tl_fail(err, TL_FAILED, "multipliers of %s run away, they are exceeded by %g",
                           term_of(s)->kind->name, excess);
        }
        if (p->rings > MOST_RINGS && can_be_met && s->def->may_fail && s->cut > 0)
            return tl_fail(err, TL_FAILED, "other terms keep the cloth %g beyond its %s", excess,
                           term_of(s)->kind->name);
    } else {
        p->rings = FIRST_RINGS, p->idle = 0, p->excess = excess, p->energy = s->energy[s->constrained];
        TL_TRY(note_answer(s, x, err));
    }
    p->count = 0, tl_elements_touch(s->e, NULL);
    if (p->rings > MOST_RINGS || s->report->part_iterations > MOST_PART_ITERATIONS) return TL_OK;
    return newton_choose_part(s, x, err);
}

// Converged at x: decides whether the constraints are met or another round is needed.
tl_status newton_end_round(newton *s, tl_vec3 *x, bool *again, tl_error *err)
{
    tl_newton_report *r = s->report;
    const bool in_part = s->part.count > 0;
    TL_TRY(newton_measure(s, x, err));
    if (in_part && r->met) {  // for the report: there is nothing beyond the part that was not so before
        tl_elements_touch(s->e, NULL);
        TL_TRY(newton_measure(s, x, err));
    }
    const bool gained = (r->rounds == 0 && !in_part) || r->excess < PROGRESS * s->least_excess;
    if (!in_part) s->idle_rounds = gained ? 0 : s->idle_rounds + 1;
    if (gained) s->least_excess = r->excess;
    *again = !r->met && r->rounds < s->def->rounds && s->idle_rounds < s->def->idle_rounds &&
             !tl_workers_exhausted(s->workers);
    if (!*again) return TL_OK;
    if (s->rounds_began.at == 0) s->rounds_began = newton_open_account(s);
    TL_TRY(go_on_in_part(s, x, again, err));
    if (!*again) return TL_OK;
    if (s->part.count == 0) {
        stiffen(s, x, r->rounds, s->excess);
        s->excess = r->excess;
        r->rounds++;
        s->allowed = r->iterations + (s->def->iterations + 1) / 2;
    }
    s->pair_count = 0, s->open = false;
    return tl_forces_energy(s->e, s->step, x, s->ctx, &s->potential, err);
}

tl_status newton_begin_mending(newton *s, tl_vec3 *x, bool *again, tl_error *err)
{
    tl_term *t = term_of(s);
    const double begin = tl_now();
    TL_TRY(t->kind->energy(t->self, x, 0, s->ctx, &s->energy[s->constrained], err));
    t->seconds += tl_now() - begin;
    return newton_end_round(s, x, again, err);
}
