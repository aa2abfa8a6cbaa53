// respond/zones/zones_kind.c: the kind `zones`: springs within the solve, then impact zones (zones_response.c).

#include "base/fail.h"
#include "math/vec3.h"
#include "respond/contact_kind.h"

// Starts from the full inertial motion, pushed ahead by bodies; contacts are those of the start.
static tl_status guess(void *self, const tl_respond_move *move, tl_vec3 *x, const tl_ctx *ctx, tl_error *err)
{
    tl_contacts *contacts = self;
    tl_vec3 *u = contact_kind_way(move, ctx);
    if (!u) return tl_fail_memory(err, "a step");
    TL_TRY(tl_contacts_search(contacts, move->x0, u, ctx, err));
    TL_TRY(tl_contacts_push_ahead(contacts, move->x0, u, ctx, err));
    for (int32_t i = 0; i < move->node_count; i++) x[i] = move->fixed[i] ? move->target[i] : tl_add3(move->x0[i], u[i]);
    tl_contacts_freeze(contacts);
    return TL_OK;
}

// Velocities are left alone: dynamics with a potential derive them from the positions.
static tl_status after(void *self, const tl_respond_move *move, tl_vec3 *x, tl_vec3 *v, bool *clear, const tl_ctx *ctx,
                       tl_error *err)
{
    (void)v;
    return tl_contacts_zones(self, move->x0, x, ctx, clear, err);
}

const tl_responder tl_responder_zones = {
    .name = "zones",
    .promise = "springs within the solve, then impact zones until nothing meets on the way",
    .no_penetration = true,
    .in_potential = true,
    .create = contact_kind_create,
    .destroy = contact_kind_destroy,
    .forget = contact_kind_forget,
    .contacts = contact_kind_contacts,
    .term = contact_kind_term,
    .begin = contact_kind_begin,
    .guess = guess,
    .after = after,
    .fallback = &tl_responder_barrier,
    .report = contact_kind_report,
};
