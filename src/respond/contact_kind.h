// respond/contact_kind.h: what the kinds made of tl_contacts have in common: `barrier` and `zones`.
#pragma once
#include "respond/respond.h"

tl_status contact_kind_create(const tl_allocator *alloc, const tl_contacts_def *def, void **self, tl_error *err);
void contact_kind_destroy(void *self);
void contact_kind_forget(void *self);
tl_contacts *contact_kind_contacts(void *self);
tl_status contact_kind_term(void *self, const tl_ctx *ctx, tl_term *out, tl_error *err);
tl_status contact_kind_begin(void *self, const tl_contact_step *step, const tl_vec3 *x, const tl_ctx *ctx,
                             tl_error *err);
void contact_kind_report(const void *self, tl_contact_report *out);

/// Where every node wants to go: the inertial motion, or the way to its target. In the arena; NULL: no memory.
tl_vec3 *contact_kind_way(const tl_respond_move *move, const tl_ctx *ctx);
