// dynamics/implicit/newton_strain.c: strain limits within Newton's method: their energy, their multipliers, and rounds.
//
// Strain limits are terms of the potential too (strain_limit.h), so that contact and limits are solved for together.
// Their multipliers move along with every update, as in sequential quadratic programming with an augmented Lagrangian
// for merit (Nocedal & Wright 2006, ch. 18). Where the iteration has converged and a face is still beyond its limits,
// it goes on: a round.

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "dynamics/implicit/newton_impl.h"

tl_status newton_strain_energy(newton *s, const tl_vec3 *x, double *out, tl_error *err)
{
    *out = 0;
    if (!s->limits) return TL_OK;
    const double begin = tl_now();
    TL_TRY(tl_strain_energy(s->limits, s->e, x, s->ctx, out, err));
    s->report->strain_seconds += tl_now() - begin;
    return TL_OK;
}

// A round leaves more than this of the worst excess: the limits of faces beyond theirs become stiffer.
#define POOR_PROGRESS 0.3
enum { PATIENCE = 5 };  // rounds before that
// Rounds that bring the worst excess down by less than a tenth count as idle: nodes may be driven further than the
// limits allow.
#define PROGRESS 0.9
// Iterations of a part must halve the worst excess every now and then.
#define PART_PROGRESS 0.5
enum { PART_IDLE = 3, FIRST_RINGS = 2, MOST_RINGS = 16, MOST_PART_ITERATIONS = 60 };

tl_status newton_measure_strain(newton *s, const tl_vec3 *x, tl_error *err)
{
    tl_newton_report *r = s->report;
    const double begin = tl_now();
    TL_TRY(tl_strain_measure(s->limits, s->e, x, s->def->strain_tolerance, false, s->ctx, &r->strain, err));
    r->strain_held = !(r->strain.worst > s->def->strain_tolerance);
    r->strain_seconds += tl_now() - begin;
    return TL_OK;
}

// Multipliers go with the update; what it changes the potential by is then more than the gradient says, by `slope`.
tl_status newton_take_multipliers(newton *s, const tl_vec3 *x, double *slope, tl_error *err)
{
    const double begin = tl_now();
    TL_TRY(tl_strain_foresee(s->limits, s->e, x, s->direction, s->ctx, slope, err));
    s->report->strain_seconds += tl_now() - begin;
    TL_TRY(newton_strain_energy(s, x, &s->held, err));
    s->limits_act = s->held > 0;
    return TL_OK;
}

// Would the update leave faces beyond their limits? Then the system to be solved is another one (strain_limit.h).
tl_status newton_look_ahead(newton *s, const tl_vec3 *x, bool *changed, tl_error *err)
{
    *changed = false;
    if (!s->limits) return TL_OK;
    const double begin = tl_now();
    const int32_t n = s->e->node_count;
    double worst;
    TL_TRY(tl_strain_worst_after(s->limits, s->e, x, s->direction, s->ctx, &worst, err));
    if (worst > s->def->strain_tolerance) {
        if (!s->pull) s->pull = TL_SCRATCH(s->arena, tl_vec3, n);
        if (!s->pull) return tl_fail_memory(err, "Newton's method");
        memset(s->pull, 0, (size_t)n * sizeof *s->pull);
        tl_strain_ahead(s->limits, s->e, x, s->direction, s->matrix, s->pull, s->workers);
        *changed = s->pulled = true;
    }
    s->report->strain_seconds += tl_now() - begin;
    return TL_OK;
}

// Limits that `rounds` have hardly brought nearer become stiffer where they are not met.
static void stiffen(newton *s, const tl_vec3 *x, int32_t rounds, double before)
{
    if (rounds >= PATIENCE && s->report->strain.worst > POOR_PROGRESS * before)
        tl_strain_stiffen(s->limits, s->e, x, 0);
}

// Where contact keeps faces from their limits, multipliers may grow with every update, and the update with them. Their
// energy tells it. From there on iterations only make it worse; halves of the step begin afresh. times what all limits
// had when mending began, and what the part has of stretching, bending and motion
#define RUN_AWAY 10.0

static bool runs_away(const newton *s)
{
    const tl_potential *p = &s->potential;
    return s->held > RUN_AWAY * (s->part.held + fabs(p->stretch) + fabs(p->bend) + fabs(p->inertia));
}

// Mending is begun from an answer that is good but for some faces. It is kept: where mending runs away and the step is
// not to be cut for it, or ends before it has bettered anything, that is the answer.
static tl_status note_answer(newton *s, const tl_vec3 *x, tl_error *err)
{
    newton_part *p = &s->part;
    const size_t n = (size_t)s->e->node_count, m = (size_t)s->limits->face_count;
    if (!p->from) p->from = TL_SCRATCH(s->arena, tl_vec3, n);
    if (!p->stress) p->stress = tl_arena_bytes(s->arena, m, sizeof *p->stress);
    if (!p->from || !p->stress) return tl_fail_memory(err, "Newton's method");
    memcpy(p->from, x, n * sizeof *x);
    memcpy(p->stress, s->limits->trial, m * sizeof *p->stress);
    p->first = s->report->strain.worst;
    return TL_OK;
}

static tl_status go_back_to_answer(newton *s, tl_vec3 *x, tl_error *err)
{
    const newton_part *p = &s->part;
    memcpy(x, p->from, (size_t)s->e->node_count * sizeof *x);
    memcpy(s->limits->trial, p->stress, (size_t)s->limits->face_count * sizeof *p->stress);
    s->part.count = 0, s->e->touched = NULL;
    if (s->contacts && !tl_contacts_frozen(s->contacts)) {
        memset(s->direction, 0, (size_t)s->e->node_count * sizeof *s->direction);
        TL_TRY(tl_contacts_search(s->contacts, x, s->direction, s->ctx, err));
        TL_TRY(tl_contacts_settle(s->contacts, x, s->workers, err));
    }
    return newton_measure_strain(s, x, err);
}

tl_status newton_end_mending(newton *s, tl_vec3 *x, tl_error *err)
{
    const bool in_part = s->part.count > 0;
    s->e->touched = NULL;
    TL_TRY(newton_measure_strain(s, x, err));
    return in_part && s->report->strain.worst > s->part.first ? go_back_to_answer(s, x, err) : TL_OK;
}

// Goes on with the nodes around faces beyond their limits alone, if that is worth it; a larger part where the last one
// did not get far. Where contact is what keeps even the largest from getting far, halves of the step are cheaper.
static tl_status go_on_in_part(newton *s, tl_vec3 *x, bool *again, tl_error *err)
{
    newton_part *p = &s->part;
    const double worst = s->report->strain.worst;
    if (p->count > 0) {
        p->idle = s->length == 0 ? PART_IDLE : p->idle + 1;  // once more would be the same again
        const bool gets_on = worst < PART_PROGRESS * p->excess,
                   can_be_met = s->def->strain_idle == s->def->strain_rounds;
        if (!gets_on && p->idle < PART_IDLE) return TL_OK;
        if (gets_on)
            p->excess = worst;
        else
            p->rings *= 2;
        p->idle = 0;
        if (!gets_on && runs_away(s)) {
            if (!can_be_met || s->def->must_arrive) {
                *again = false;
                return go_back_to_answer(s, x, err);
            }
            return tl_fail(err, TL_FAILED, "multipliers of strain limits run away, faces are %g beyond", worst);
        }
        if (p->rings > MOST_RINGS && can_be_met && s->def->may_fail && s->limited > 0)
            return tl_fail(err, TL_FAILED, "contact keeps faces %g beyond their strain limits", worst);
    } else {
        p->rings = FIRST_RINGS, p->idle = 0, p->excess = worst, p->held = s->held;
        TL_TRY(note_answer(s, x, err));
    }
    p->count = 0, s->e->touched = NULL;
    if (p->rings > MOST_RINGS || s->report->part_iterations > MOST_PART_ITERATIONS) return TL_OK;
    return newton_choose_part(s, x, err);
}

// Converged at x: are the strains within their limits, or is there to be another round?
tl_status newton_end_round(newton *s, tl_vec3 *x, bool *again, tl_error *err)
{
    tl_newton_report *r = s->report;
    const bool in_part = s->part.count > 0;
    TL_TRY(newton_measure_strain(s, x, err));
    if (in_part && r->strain_held) {  // for the report: there is nothing beyond the part that was not so before
        s->e->touched = NULL;
        TL_TRY(newton_measure_strain(s, x, err));
    }
    const bool gained = (r->strain_rounds == 0 && !in_part) || r->strain.worst < PROGRESS * s->least_excess;
    if (!in_part) s->idle_rounds = gained ? 0 : s->idle_rounds + 1;
    if (gained) s->least_excess = r->strain.worst;
    *again = !r->strain_held && r->strain_rounds < s->def->strain_rounds && s->idle_rounds < s->def->strain_idle &&
             !tl_workers_exhausted(s->workers);
    if (!*again) return TL_OK;
    if (s->again_at == 0)
        s->again_at = tl_now(), s->again_contact = r->contact_seconds, s->again_strain = r->strain_seconds;
    TL_TRY(go_on_in_part(s, x, again, err));
    if (!*again) return TL_OK;
    if (s->part.count == 0) {
        stiffen(s, x, r->strain_rounds, s->excess);
        s->excess = r->strain.worst;
        r->strain_rounds++;
        s->allowed = r->iterations + (s->def->iterations + 1) / 2;
    }
    s->pair_count = 0, s->open = false;
    return tl_forces_energy(s->e, s->step, x, s->ctx, &s->potential, err);
}
