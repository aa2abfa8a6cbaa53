// dynamics/implicit/newton_terms.c: the list of terms: each is asked for what it implements, and its time is taken.

#include <math.h>

#include "base/fail.h"
#include "dynamics/implicit/newton_impl.h"

// Leaves the function with the status of the call, which is one of a term, unless that is TL_OK.
#define TERM_TRY(term, call)                                                                                           \
    do {                                                                                                               \
        const double begin_ = tl_now();                                                                                \
        const tl_status status_ = (call);                                                                              \
        (term)->seconds += tl_now() - begin_;                                                                          \
        if (status_ != TL_OK) return status_;                                                                          \
    } while (0)

tl_status newton_begin_terms(newton *s, const tl_newton_problem *problem, tl_error *err)
{
    if (problem->term_count > NEWTON_TERMS)
        return tl_fail(err, TL_BAD_ARG, "Newton's method: %d terms, at most %d", problem->term_count, NEWTON_TERMS);
    s->terms = problem->terms, s->term_count = problem->term_count, s->constrained = -1;
    for (int32_t k = 0; k < s->term_count; k++) {
        const tl_term *t = &s->terms[k];
        if (t->kind->begin) t->kind->begin(t->self);
        if (t->kind->measure) s->constrained = k;
        s->clips = s->clips || t->kind->clip;
        if (!t->kind->expect && !t->kind->predict) continue;
        s->push[k] = TL_SCRATCH(s->arena, tl_vec3, s->e->node_count);
        if (!s->push[k]) return tl_fail_memory(err, "Newton's method");
    }
    return TL_OK;
}

// ---- the summand ----

tl_status newton_energies(newton *s, const tl_vec3 *x, double part, double out[NEWTON_TERMS], tl_error *err)
{
    for (int32_t k = 0; k < s->term_count; k++) {
        tl_term *t = &s->terms[k];
        TERM_TRY(t, t->kind->energy(t->self, x, part, s->ctx, &out[k], err));
    }
    return TL_OK;
}

double newton_sum(const newton *s, double sum, const double energy[NEWTON_TERMS])
{
    for (int32_t k = s->term_count; k-- > 0;) sum += energy[k];
    return sum;
}

double newton_sum_both(const newton *s, double sum, const double a[NEWTON_TERMS], const double b[NEWTON_TERMS])
{
    for (int32_t k = s->term_count; k-- > 0;) sum = sum + a[k] + b[k];
    return sum;
}

tl_status newton_assemble(newton *s, const tl_vec3 *x, tl_error *err)
{
    for (int32_t k = 0; k < s->term_count; k++) {
        tl_term *t = &s->terms[k];
        TERM_TRY(t, t->kind->assemble(t->self, x, s->matrix, s->gradient, &s->energy[k], s->ctx, err));
    }
    return TL_OK;
}

tl_status newton_blocks(newton *s, const tl_bsr **out, tl_error *err)
{
    *out = NULL;
    for (int32_t k = 0; k < s->term_count; k++) {
        tl_term *t = &s->terms[k];
        if (t->kind->blocks) TERM_TRY(t, t->kind->blocks(t->self, s->ctx, out, err));
    }
    return TL_OK;
}

bool newton_acts(const newton *s)
{
    for (int32_t k = 0; k < s->term_count; k++) {
        const tl_term *t = &s->terms[k];
        if (t->kind->acts && t->kind->acts(t->self, s->energy[k])) return true;
    }
    return false;
}

double newton_linear_tolerance(const newton *s)
{
    double least = 1;
    for (int32_t k = 0; k < s->term_count; k++) {
        const tl_term *t = &s->terms[k];
        if (t->kind->linear_tolerance) least = fmin(least, t->kind->linear_tolerance(t->self));
    }
    return least;
}

// ---- looking ahead ----

tl_status newton_expect(newton *s, tl_error *err)
{
    for (int32_t k = 0; k < s->term_count; k++) {
        tl_term *t = &s->terms[k];
        s->pushed[k] = false;
        if (t->kind->expect) TERM_TRY(t, t->kind->expect(t->self, s->matrix, s->push[k], &s->pushed[k], s->ctx, err));
    }
    return TL_OK;
}

tl_status newton_predict(newton *s, const tl_term_look *look, bool *changed, tl_error *err)
{
    *changed = false;
    for (int32_t k = s->term_count; k-- > 0;) {
        tl_term *t = &s->terms[k];
        bool more = false;
        if (t->kind->predict) TERM_TRY(t, t->kind->predict(t->self, look, s->matrix, s->push[k], &more, s->ctx, err));
        s->pushed[k] = s->pushed[k] || more, *changed = *changed || more;
    }
    return TL_OK;
}

// ---- paths ----

tl_status newton_before(newton *s, tl_vec3 *x, bool *moved, tl_error *err)
{
    *moved = false;
    for (int32_t k = 0; k < s->term_count; k++) {
        tl_term *t = &s->terms[k];
        bool more = false;
        if (t->kind->before)
            TERM_TRY(t, t->kind->before(t->self, s->report->iterations, s->overtime > 0, x, &more, s->ctx, err));
        *moved = *moved || more;
    }
    return TL_OK;
}

tl_status newton_cover(newton *s, const tl_vec3 *x, tl_error *err)
{
    for (int32_t k = 0; k < s->term_count; k++) {
        tl_term *t = &s->terms[k];
        if (t->kind->cover) TERM_TRY(t, t->kind->cover(t->self, x, s->direction, s->ctx, err));
    }
    return TL_OK;
}

tl_status newton_clip(newton *s, const tl_vec3 *x, int64_t *cut, tl_error *err)
{
    for (int32_t k = 0; k < s->term_count; k++) {
        tl_term *t = &s->terms[k];
        int64_t more = 0;
        if (t->kind->clip) TERM_TRY(t, t->kind->clip(t->self, x, s->direction, &more, s->ctx, err));
        *cut += more;
    }
    return TL_OK;
}

bool newton_incomparable(const newton *s)
{
    for (int32_t k = 0; k < s->term_count; k++) {
        const tl_term *t = &s->terms[k];
        if (t->kind->incomparable && t->kind->incomparable(t->self)) return true;
    }
    return false;
}

void newton_moved(newton *s, double part)
{
    for (int32_t k = 0; k < s->term_count; k++)
        if (s->terms[k].kind->moved) s->terms[k].kind->moved(s->terms[k].self, part);
}

tl_status newton_settle(newton *s, const tl_vec3 *x, tl_error *err)
{
    for (int32_t k = 0; k < s->term_count; k++) {
        const tl_term *t = &s->terms[k];
        if (t->kind->settle) TL_TRY(t->kind->settle(t->self, x, s->ctx, err));
    }
    return TL_OK;
}

tl_status newton_relocate(newton *s, const tl_vec3 *x, tl_error *err)
{
    for (int32_t i = 0; i < s->e->node_count; i++) s->direction[i] = (tl_vec3){0, 0, 0};
    for (int32_t k = 0; k < s->term_count; k++) {
        tl_term *t = &s->terms[k];
        if (t->kind->relocate) TERM_TRY(t, t->kind->relocate(t->self, x, s->direction, s->ctx, err));
    }
    return TL_OK;
}

double newton_left(const newton *s)
{
    double most = 0;
    for (int32_t k = 0; k < s->term_count; k++) {
        const tl_term *t = &s->terms[k];
        if (t->kind->left) most = fmax(most, t->kind->left(t->self));
    }
    return most;
}

void newton_force(newton *s)
{
    for (int32_t k = 0; k < s->term_count; k++)
        if (s->terms[k].kind->force) s->terms[k].kind->force(s->terms[k].self);
}

bool newton_is_small(const newton *s, double least)
{
    for (int32_t k = 0; k < s->term_count; k++) {
        const tl_term *t = &s->terms[k];
        if (t->kind->small && !t->kind->small(t->self, s->direction, s->step->gamma, least)) return false;
    }
    return true;
}

// ---- multipliers ----

tl_status newton_follow(newton *s, const tl_vec3 *x, double *slope, tl_error *err)
{
    tl_term *t = &s->terms[s->constrained];
    TERM_TRY(t, t->kind->follow(t->self, x, s->direction, slope, &s->energy[s->constrained], s->ctx, err));
    return TL_OK;
}

tl_status newton_slope(newton *s, const tl_vec3 *x, double *slope, tl_error *err)
{
    tl_term *t = &s->terms[s->constrained];
    TERM_TRY(t, t->kind->slope(t->self, x, s->direction, slope, s->ctx, err));
    return TL_OK;
}

// What others than the term with multipliers have taken.
static double others_seconds(const newton *s)
{
    double sum = 0;
    for (int32_t k = 0; k < s->term_count; k++)
        if (k != s->constrained) sum += s->terms[k].seconds;
    return sum;
}

newton_account newton_open_account(const newton *s)
{
    return (newton_account){tl_now(), s->terms[s->constrained].seconds, others_seconds(s)};
}

// All but what others took since it was opened.
void newton_close_account(newton *s, const newton_account *a)
{
    s->terms[s->constrained].seconds = a->own + (tl_now() - a->at) - (others_seconds(s) - a->others);
}
