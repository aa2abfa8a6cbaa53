// respond/barrier/barrier.c: the kind `barrier`: everything happens within the solve (contact.h).

#include "base/fail.h"
#include "math/vec3.h"
#include "respond/contact_impl.h"
#include "respond/contact_kind.h"

// Starts the solve as far along the inertial motion as nothing meets.
static tl_status guess(void *self, const tl_respond_move *move, tl_vec3 *x, const tl_ctx *ctx, tl_error *err)
{
    tl_contacts *contacts = self;
    const int32_t n = move->node_count;
    tl_vec3 *u = contact_kind_way(move, ctx);
    if (!u) return tl_fail_memory(err, "a step");
    TL_TRY(tl_contacts_search(contacts, move->x0, u, ctx, err));
    TL_TRY(tl_contacts_note_start(contacts, err));
    if (tl_contacts_bodies_left(contacts) > 0) {
        TL_TRY(tl_contacts_push_ahead(contacts, move->x0, u, ctx, err));
        TL_TRY(tl_contacts_search(contacts, move->x0, u, ctx, err));
    }
    int64_t limited;
    TL_TRY(tl_contacts_clip(contacts, move->x0, u, true, ctx, &limited, err));
    for (int32_t i = 0; i < n; i++) x[i] = tl_add3(move->x0[i], u[i]);
    tl_contacts_move_bodies(contacts, 1);
    if (move->may_fail && (double)limited > contacts->policy.barrier.jammed_part * n &&
        tl_contacts_bodies_left(contacts) > 0)
        return tl_fail(err, TL_FAILED, "cloth is jammed in front of moving bodies: %lld of %d nodes",
                       (long long)limited, n);
    return tl_contacts_settle(contacts, x, ctx->workers, err);
}

const tl_responder tl_responder_barrier = {
    .name = "barrier",
    .promise = "a barrier potential within the solve, paths cut short before anything meets",
    .no_penetration = true,
    .in_potential = true,
    .create = contact_kind_create,
    .destroy = contact_kind_destroy,
    .forget = contact_kind_forget,
    .contacts = contact_kind_contacts,
    .term = contact_kind_term,
    .begin = contact_kind_begin,
    .guess = guess,
    .report = contact_kind_report,
};
