// respond/impulse/impulse_kind.c: the response `impulse` (Kimmerle 2005, sec. 3.2.3).
//
// Pairs that are close where the step begins answer with inelastic impulses and friction, as far as they would come
// nearer than their distance within the step; the thesis stops whatever approaches within the range of detection, which
// leaves cloth hovering at it. Then the net, if the scene does not do without.

#include "base/fail.h"
#include "respond/near/near_kind.h"

static tl_status after(void *self, const tl_respond_move *move, tl_vec3 *x, tl_vec3 *v, bool *clear, const tl_ctx *ctx,
                       tl_error *err)
{
    near_kind *k = self;
    const tl_arena_mark mark = tl_arena_save(ctx->arena);
    near_speeds s;
    tl_status status = near_kind_look(k, move, x, &s, ctx, err);
    if (status == TL_OK) {
        tl_near_list *list = tl_near_set_list(k->near);
        near_kind_push(k, list->items, list->count, &s, move);
        status = near_kind_finish(k, move, &s, x, v, clear, ctx, err);
    }
    tl_arena_release(ctx->arena, mark);
    return status;
}

const tl_responder tl_responder_impulse = {
    .name = "impulse",
    .promise = "inelastic impulses between close pairs after the solve; with the net nothing passes through",
    .detects = true,
    .create = near_kind_create,
    .destroy = near_kind_destroy,
    .forget = near_kind_forget,
    .contacts = near_kind_contacts,
    .begin = near_kind_begin,
    .after = after,
    .report = near_kind_report,
    .save = near_kind_save,
    .load = near_kind_load,
    .check = tl_near_check,
    .hash = near_kind_hash,
};
