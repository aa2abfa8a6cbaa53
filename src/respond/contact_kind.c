// respond/contact_kind.c: tl_contacts as seen through tl_responder.

#include "respond/contact_kind.h"

#include "math/vec3.h"
#include "respond/contact_term.h"

tl_status contact_kind_create(const tl_allocator *alloc, const tl_contacts_def *def, void **self, tl_error *err)
{
    tl_contacts *contacts = NULL;
    const tl_status status = tl_contacts_create(alloc, def, &contacts, err);
    *self = contacts;
    return status;
}

void contact_kind_destroy(void *self) { tl_contacts_destroy(self); }

void contact_kind_forget(void *self) { tl_contacts_forget(self); }

tl_contacts *contact_kind_contacts(void *self) { return self; }

tl_status contact_kind_term(void *self, const tl_ctx *ctx, tl_term *out, tl_error *err)
{
    return tl_contact_term(self, ctx->arena, out, err);
}

tl_status contact_kind_begin(void *self, const tl_contact_step *step, const tl_vec3 *x, const tl_ctx *ctx,
                             tl_error *err)
{
    return tl_contacts_begin(self, step, x, ctx, err);
}

void contact_kind_report(const void *self, tl_contact_report *out) { tl_contacts_report(self, out); }

tl_vec3 *contact_kind_way(const tl_respond_move *move, const tl_ctx *ctx)
{
    tl_vec3 *u = TL_SCRATCH(ctx->arena, tl_vec3, move->node_count);
    for (int32_t i = 0; u && i < move->node_count; i++)
        u[i] = tl_sub3(move->fixed[i] ? move->target[i] : move->x_tilde[i], move->x0[i]);
    return u;
}
