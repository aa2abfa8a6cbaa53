// respond/near/near_kind.c: pairs, speeds, and the net.

#include "respond/near/near_kind.h"

#include <math.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "math/vec3.h"

#define SETTLED 1e-3  // [thicknesses per step] change of a velocity that ends the sweeps
enum { MOST_SWEEPS = 40 };

tl_status near_kind_create(const tl_allocator *alloc, const tl_contacts_def *def, void **self, tl_error *err)
{
    *self = NULL;
    near_kind *k = TL_CALLOC(alloc, near_kind, 1);
    if (!k) return tl_fail_memory(err, "the response");
    k->alloc = *alloc, k->use_net = def->collide->net != 0;
    tl_status status = tl_contacts_create(alloc, def, &k->net, err);
    if (status == TL_OK) status = tl_near_set_create(alloc, def, &k->near, err);
    if (status != TL_OK) near_kind_destroy(k), k = NULL;
    *self = k;
    return status;
}

void near_kind_destroy(void *self)
{
    near_kind *k = self;
    if (!k) return;
    tl_contacts_destroy(k->net);
    tl_near_set_destroy(k->near);
    const tl_allocator alloc = k->alloc;
    tl_free_bytes(&alloc, k, 1, sizeof *k);
}

void near_kind_forget(void *self)
{
    near_kind *k = self;
    tl_contacts_forget(k->net);
    tl_near_set_forget(k->near);
}

tl_contacts *near_kind_contacts(void *self) { return ((near_kind *)self)->net; }

tl_status near_kind_begin(void *self, const tl_contact_step *step, const tl_vec3 *x, const tl_ctx *ctx, tl_error *err)
{
    near_kind *k = self;
    k->step = *step, k->report = (tl_contact_report){.nearest = 1};
    return tl_contacts_begin(k->net, step, x, ctx, err);
}

void near_kind_report(const void *self, tl_contact_report *out) { *out = ((const near_kind *)self)->report; }

size_t near_kind_save(const void *self, char *out) { return tl_near_set_save(((const near_kind *)self)->near, out); }

tl_status near_kind_load(void *self, const char *data, size_t size, tl_error *err)
{
    return tl_near_set_load(((near_kind *)self)->near, data, size, err);
}

void near_kind_hash(const tl_collide_def *c, tl_hash *hash)
{
    const double numbers[11] = {(int)c->detection, c->net,     c->dop,      c->arity,      c->leaf_faces,
                                c->new_pairs,      c->measure, c->distance, c->find_ratio, c->response_ratio,
                                c->most_tests};
    tl_hash_add(hash, numbers, sizeof numbers);
}

// ---- a step ---------------------------------------------------------------------------------------------------

tl_status near_kind_look(near_kind *k, const tl_respond_move *move, const tl_vec3 *x, near_speeds *out,
                         const tl_ctx *ctx, tl_error *err)
{
    const int32_t n = move->node_count, bodies = tl_near_set_body_nodes(k->near);
    out->v = TL_SCRATCH(ctx->arena, tl_vec3, n + bodies);
    out->inverse_mass = TL_SCRATCH(ctx->arena, double, n + bodies);
    if (!out->v || !out->inverse_mass) return tl_fail_memory(err, "the response");
    for (int32_t i = 0; i < n; i++) {
        out->v[i] = tl_mul3(1 / move->dt, tl_sub3(x[i], move->x0[i]));
        out->inverse_mass[i] = move->fixed[i] ? 0 : 1 / k->step.mass[i];
    }
    for (int32_t i = 0; i < bodies; i++) {
        out->v[n + i] = tl_mul3(1 / move->dt, tl_sub3(k->step.body_end[i], k->step.body_begin[i]));
        out->inverse_mass[n + i] = 0;
    }
    return tl_near_set_find(k->near, &k->step, move->x0, ctx, err);
}

void near_kind_push(near_kind *k, tl_bump *bumps, int32_t count, const near_speeds *s, const tl_respond_move *move)
{
    double keep = 0;
    for (int32_t i = 0; i < count; i++) keep = fmax(keep, bumps[i].keep);
    tl_bumps_report report;
    const tl_bumps_def def = {move->dt, NEAR_RESTORE, SETTLED * keep / move->dt, MOST_SWEEPS};
    tl_bumps_solve(bumps, count, s->inverse_mass, &def, s->v, &report);
    k->report.contacts += report.pushing;
}

static void note_pairs(near_kind *k)
{
    const tl_near_list *list = tl_near_set_list(k->near);
    k->report.candidates = list->count;
    for (int32_t i = 0; i < list->count; i++)
        if (list->items[i].keep > 0)
            k->report.nearest = fmin(k->report.nearest, list->items[i].gap / list->items[i].keep);
    tl_near_set_report(k->near, &k->report);
}

tl_status near_kind_finish(near_kind *k, const tl_respond_move *move, const near_speeds *s, tl_vec3 *x, tl_vec3 *v,
                           bool *clear, const tl_ctx *ctx, tl_error *err)
{
    const int32_t n = move->node_count;
    tl_vec3 *before = TL_SCRATCH(ctx->arena, tl_vec3, n);
    if (!before) return tl_fail_memory(err, "the response");
    for (int32_t i = 0; i < n; i++) {
        before[i] = x[i];
        if (!move->fixed[i]) x[i] = tl_madd3(move->x0[i], move->dt, s->v[i]);
    }
    *clear = true;
    note_pairs(k);
    if (k->use_net) {
        TL_TRY(tl_contacts_zones(k->net, move->x0, x, ctx, clear, err));
        tl_contact_report net;
        tl_contacts_report(k->net, &net);
        k->report.zones = net.zones, k->report.zone_nodes = net.zone_nodes, k->report.zone_rounds = net.zone_rounds;
        k->report.searches = net.searches, k->report.volume_tests = net.volume_tests, k->report.held = net.held;
    }
    for (int32_t i = 0; i < n && v; i++) v[i] = tl_madd3(v[i], 1 / move->dt, tl_sub3(x[i], before[i]));
    return TL_OK;
}
