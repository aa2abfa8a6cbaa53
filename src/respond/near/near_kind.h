// respond/near/near_kind.h: what the kinds that answer close pairs after the solve have in common.
#pragma once
#include "respond/near/near.h"

typedef struct near_kind {
    tl_allocator alloc;
    tl_contacts *net;  ///< the continuous test, and what others ask of bodies between steps
    tl_near_set *near;
    bool use_net;
    tl_contact_step step;  ///< of the last begin; arrays borrowed for the (sub)step
    tl_contact_report report;
} near_kind;

tl_status near_kind_create(const tl_allocator *alloc, const tl_contacts_def *def, void **self, tl_error *err);
void near_kind_destroy(void *self);
void near_kind_forget(void *self);
tl_contacts *near_kind_contacts(void *self);
tl_status near_kind_begin(void *self, const tl_contact_step *step, const tl_vec3 *x, const tl_ctx *ctx, tl_error *err);
void near_kind_report(const void *self, tl_contact_report *out);
size_t near_kind_save(const void *self, char *out);
tl_status near_kind_load(void *self, const char *data, size_t size, tl_error *err);
void near_kind_hash(const tl_collide_def *def, tl_hash *hash);

/// Part of what pairs lack of their distance that is made up for in a step: in one they would bounce.
#define NEAR_RESTORE 0.2

/// What an answer works on: velocities of nodes of the cloth and of bodies that take the places where the step began to
/// where it ends, and 1 / mass, 0 where nothing can be changed.
typedef struct near_speeds {
    tl_vec3 *v;
    double *inverse_mass;
} near_speeds;
/// In the arena. Close pairs are found on the way.
tl_status near_kind_look(near_kind *k, const tl_respond_move *move, const tl_vec3 *x, near_speeds *out,
                         const tl_ctx *ctx, tl_error *err);
/// Impulses between the pairs `from` to the end of the list; sweeps until little changes.
void near_kind_push(near_kind *k, tl_bump *bumps, int32_t count, const near_speeds *s, const tl_respond_move *move);
/// New places (and velocities, where `v` is not NULL) by the speeds, then the net.
tl_status near_kind_finish(near_kind *k, const tl_respond_move *move, const near_speeds *s, tl_vec3 *x, tl_vec3 *v,
                           bool *clear, const tl_ctx *ctx, tl_error *err);
