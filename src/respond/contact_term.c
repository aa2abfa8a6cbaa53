// respond/contact_term.c: contact as Newton's method sees it.
//
// What is here is a matter of one solve: when pairs are looked for, and what becomes of nodes that handles drive while
// cloth is in their way.

#include "respond/contact_term.h"

#include <math.h>

#include "base/fail.h"
#include "math/vec3.h"
#include "respond/contact_impl.h"

// Where layers press, an update of the nodes that touch must be small against the thickness, else they tremble.
#define THICKNESS_PART 0.1

// Contacts that are pressed hard make for forces so large that all others drown in a residual relative to them (not so
// springs, which are as stiff when they are pressed through).
#define LEAST_NEARNESS 0.01
#define NEAR 0.5  // of the thickness: no nearer, and the usual tolerance serves

// Nodes that handles drive and cloth keeps from their place would have Newton's method go on for ever where nothing
// gives way. When they get on no further, or after some iterations, they stay where they are, and what is left of their
// way is tried again in the next step.
#define LAG_PART 0.01  // of what is left of the way: less is none
enum { LAG_ITERATIONS = 6 };

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

// The energy is another one than before: friction is that of now.
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
    return c->frozen ? 1 : fmin(1, fmax(LEAST_NEARNESS, tl_contacts_nearest(c)) / NEAR);
}

static tl_status expect(void *self, tl_bsr *matrix, tl_vec3 *push, bool *changed, const tl_ctx *ctx, tl_error *err)
{
    tl_contacts *c = ((contact_term *)self)->c;
    *changed = false;
    return c->frozen ? TL_OK : tl_contacts_expect(c, matrix, push, ctx, changed, err);
}

static tl_status foresee(void *self, const tl_term_look *look, tl_bsr *matrix, tl_vec3 *push, bool *changed,
                         const tl_ctx *ctx, tl_error *err)
{
    *changed = false;
    if (look->last || !look->usable) return TL_OK;
    return tl_contacts_foresee(((contact_term *)self)->c, look->x, look->u, matrix, push, ctx, changed, err);
}

// Bodies that cloth has stopped, or for which there is no time left to wait, take it along, so that the potential has
// its minimum to be looked for with bodies in their places.
static tl_status before(void *self, int32_t iteration, bool hurry, tl_vec3 *x, bool *has_moved, const tl_ctx *ctx,
                        tl_error *err)
{
    contact_term *t = self;
    *has_moved = false;
    t->searched = false;
    if (t->lags && (t->stands || iteration >= LAG_ITERATIONS)) {
        t->waits = true, t->lags = false;
        tl_contacts_let_handles_wait(t->c);
    }
    if (t->c->frozen || tl_contacts_bodies_left(t->c) == 0) return TL_OK;
    if (!tl_contacts_stopped(t->c) && !hurry) return TL_OK;
    double part;
    *has_moved = true;
    return tl_contacts_take_along(t->c, x, ctx, &part, err);
}

// Fixed nodes that contact kept from their place try again. Pairs at hand are looked for anew only where the move goes
// further than they reach.
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
    if (t->c->frozen || (!t->searched && tl_contacts_reach(t->c, x, u))) return TL_OK;
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
    if (t->c->frozen) return TL_OK;
    const double way = t->lags ? handles_way(t, u) : 0;
    TL_TRY(tl_contacts_limit(t->c, x, u, t->searched, ctx, cut, err));
    t->stands = t->lags && handles_way(t, u) < LAG_PART * way;
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

static tl_status jump(void *self, const tl_vec3 *x, const tl_vec3 *still, const tl_ctx *ctx, tl_error *err)
{
    tl_contacts *c = ((contact_term *)self)->c;
    if (c->frozen) return TL_OK;
    TL_TRY(tl_contacts_search(c, x, still, ctx, err));
    return tl_contacts_settle(c, x, ctx->workers, err);
}

static void force(void *self) { tl_contacts_let_bodies_pass(((contact_term *)self)->c); }

static bool is_small(const void *self, const tl_vec3 *u, double gamma, double least)
{
    const tl_contacts *c = ((const contact_term *)self)->c;
    const double still = THICKNESS_PART * tl_contacts_thinnest(c) * gamma;
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
    .foresee = foresee,
    .before = before,
    .cover = cover,
    .clip = clip,
    .incomparable = incomparable,
    .moved = moved,
    .settle = settle,
    .jump = jump,
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
