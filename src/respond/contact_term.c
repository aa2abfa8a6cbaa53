// respond/contact_term.c: contact as Newton's method sees it.
//
// This file holds what concerns one solve: when pairs are searched, and what happens to nodes that handles drive while
// cloth is in their way.

#include "respond/contact_term.h"

#include <math.h>

#include "base/fail.h"
#include "math/vec3.h"
#include "respond/contact_impl.h"

typedef struct contact_term {
    tl_contacts *c;
    bool lags;      // cloth kept nodes that handles drive from their place in the last update
    bool stands;    // so much that they hardly moved
    bool waits;     // they stay where they are
    bool searched;  // pairs are of a path, not yet settled
} contact_term;

static void begin(void *self)
{
    contact_term *t = self;
    *t = (contact_term){.c = t->c};
}

static tl_status energy(void *self, const tl_vec3 *x, double part, const tl_ctx *ctx, double *out, tl_error *err)
{
    return tl_contacts_energy(((contact_term *)self)->c, x, part, ctx, out, err);
}

// The energy has changed, since friction is that of the present state.
static tl_status assemble(void *self, const tl_vec3 *x, tl_bsr *matrix, tl_vec3 *gradient, double *energy_out,
                          const tl_ctx *ctx, tl_error *err)
{
    tl_contacts *c = ((contact_term *)self)->c;
    TL_TRY(tl_contacts_assemble(c, x, matrix, gradient, ctx, err));
    return tl_contacts_energy(c, x, 0, ctx, energy_out, err);
}

static tl_status blocks(void *self, const tl_ctx *ctx, const tl_bsr **out, tl_error *err)
{
    return tl_contacts_blocks(((contact_term *)self)->c, ctx, out, err);
}

static bool acts(const void *self, double energy_at)
{
    (void)energy_at;
    return tl_contacts_count(((const contact_term *)self)->c) > 0;
}

static double linear_tolerance(const void *self)
{
    const tl_contacts *c = ((const contact_term *)self)->c;
    return c->zones.frozen
               ? 1
               : fmin(1, fmax(c->policy.barrier.near_min, tl_contacts_nearest(c)) / c->policy.barrier.near_part);
}

static tl_status expect(void *self, tl_bsr *matrix, tl_vec3 *push, bool *changed, const tl_ctx *ctx, tl_error *err)
{
    tl_contacts *c = ((contact_term *)self)->c;
    *changed = false;
    return c->zones.frozen ? TL_OK : tl_contacts_predict_expected(c, matrix, push, ctx, changed, err);
}

static tl_status predict(void *self, const tl_term_look *look, tl_bsr *matrix, tl_vec3 *push, bool *changed,
                         const tl_ctx *ctx, tl_error *err)
{
    *changed = false;
    if (look->last || !look->usable) return TL_OK;
    return tl_contacts_predict(((contact_term *)self)->c, look->x, look->u, matrix, push, ctx, changed, err);
}

// Bodies that cloth has stopped, or that have no iterations left to wait, carry the cloth along, so that the potential
// can be minimised with bodies in their final positions.
static tl_status before(void *self, int32_t iteration, bool hurry, tl_vec3 *x, bool *has_moved, const tl_ctx *ctx,
                        tl_error *err)
{
    contact_term *t = self;
    *has_moved = false;
    t->searched = false;
    if (t->lags && (t->stands || iteration >= t->c->policy.barrier.handle_iterations)) {
        t->waits = true, t->lags = false;
        tl_contacts_let_handles_wait(t->c);
    }
    if (t->c->zones.frozen || tl_contacts_bodies_left(t->c) == 0) return TL_OK;
    if (!tl_contacts_bodies_stopped(t->c) && !hurry) return TL_OK;
    double part;
    *has_moved = true;
    return tl_contacts_carry(t->c, x, ctx, &part, err);
}

// Driven nodes that contact kept from their targets try again. Pairs are searched anew only if the move exceeds what
// the present pairs cover.
static tl_status cover(void *self, const tl_vec3 *x, tl_vec3 *u, const tl_ctx *ctx, tl_error *err)
{
    contact_term *t = self;
    const tl_contact_step *step = &t->c->step;
    t->lags = false;
    for (int32_t i = 0; i < t->c->node_count; i++) {
        if (!step->fixed[i]) continue;
        u[i] = t->waits ? (tl_vec3){0, 0, 0} : tl_sub3(step->target[i], x[i]);
        t->lags = t->lags || tl_norm3(u[i]) > TL_LAG;
    }
    if (t->c->zones.frozen || (!t->searched && tl_contacts_covers(t->c, x, u))) return TL_OK;
    t->searched = true;
    return tl_contacts_search(t->c, x, u, ctx, err);
}

static double handles_way(const contact_term *t, const tl_vec3 *u)
{
    double sum = 0;
    for (int32_t i = 0; i < t->c->node_count; i++)
        if (t->c->step.fixed[i]) sum += tl_norm3(u[i]);
    return sum;
}

static tl_status clip(void *self, const tl_vec3 *x, tl_vec3 *u, int64_t *cut, const tl_ctx *ctx, tl_error *err)
{
    contact_term *t = self;
    *cut = 0;
    if (t->c->zones.frozen) return TL_OK;
    const double way = t->lags ? handles_way(t, u) : 0;
    TL_TRY(tl_contacts_clip(t->c, x, u, t->searched, ctx, cut, err));
    t->stands = t->lags && handles_way(t, u) < t->c->policy.barrier.handle_part * way;
    if (tl_contacts_stuck(t->c))
        return tl_fail(err, TL_FAILED, "cloth is in the way of bodies and cannot give way fast enough");
    return TL_OK;
}

static double left(const void *self) { return tl_contacts_bodies_left(((const contact_term *)self)->c); }

static bool incomparable(const void *self) { return ((const contact_term *)self)->lags || left(self) > 0; }

static void moved(void *self, double part) { tl_contacts_move_bodies(((contact_term *)self)->c, part); }

static tl_status settle(void *self, const tl_vec3 *x, const tl_ctx *ctx, tl_error *err)
{
    const contact_term *t = self;
    return t->searched ? tl_contacts_settle(t->c, x, ctx->workers, err) : TL_OK;
}

static tl_status relocate(void *self, const tl_vec3 *x, const tl_vec3 *still, const tl_ctx *ctx, tl_error *err)
{
    tl_contacts *c = ((contact_term *)self)->c;
    if (c->zones.frozen) return TL_OK;
    TL_TRY(tl_contacts_search(c, x, still, ctx, err));
    return tl_contacts_settle(c, x, ctx->workers, err);
}

static void force(void *self) { tl_contacts_force_bodies(((contact_term *)self)->c); }

static bool is_small(const void *self, const tl_vec3 *u, double gamma, double least)
{
    const tl_contacts *c = ((const contact_term *)self)->c;
    const double still = c->policy.barrier.settled_part * tl_contacts_thinnest(c) * gamma;
    return gamma * tl_contacts_change(c, u) <= fmax(still, least);
}

static const tl_term_kind contact_kind = {
    .name = "contact",
    .begin = begin,
    .energy = energy,
    .assemble = assemble,
    .blocks = blocks,
    .acts = acts,
    .linear_tolerance = linear_tolerance,
    .expect = expect,
    .predict = predict,
    .before = before,
    .cover = cover,
    .clip = clip,
    .incomparable = incomparable,
    .moved = moved,
    .settle = settle,
    .relocate = relocate,
    .left = left,
    .force = force,
    .small = is_small,
};

tl_status tl_contact_term(tl_contacts *contacts, tl_arena *arena, tl_term *out, tl_error *err)
{
    contact_term *t = TL_SCRATCH(arena, contact_term, 1);
    if (!t) return tl_fail_memory(err, "the contacts");
    *t = (contact_term){.c = contacts};
    *out = (tl_term){.kind = &contact_kind, .self = t};
    return TL_OK;
}
