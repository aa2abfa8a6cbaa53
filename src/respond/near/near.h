// respond/near/near.h: close pairs of cloth and bodies by the detection that the scene asks for, as bumps.
//
// For the responses that take whatever pairs they are given: impulse and constraint. Pairs are looked for where a step
// begins; what comes near only on the way is the continuous net's business (tl_contacts_zones).
#pragma once
#include "respond/impulse/impulse.h"
#include "respond/respond.h"

typedef struct tl_near_set tl_near_set;
tl_status tl_near_set_create(const tl_allocator *alloc, const tl_contacts_def *def, tl_near_set **out, tl_error *err);
void tl_near_set_destroy(tl_near_set *s);  ///< NULL is fine
void tl_near_set_forget(tl_near_set *s);   ///< an epoch begins

/// Nodes of the cloth at x, those of bodies where `step` begins. Bumps number nodes of the cloth first, then those of
/// bodies, and lie sorted. `step` is borrowed for the call.
tl_status tl_near_set_find(tl_near_set *s, const tl_contact_step *step, const tl_vec3 *x, const tl_ctx *ctx,
                           tl_error *err);

typedef struct tl_near_list {
    tl_bump *items;
    int32_t *body;  ///< of each: -1: within the cloth
    int32_t count, cap;
} tl_near_list;
tl_near_list *tl_near_set_list(tl_near_set *s);  ///< of the last find
int32_t tl_near_set_body_nodes(const tl_near_set *s);
void tl_near_set_report(const tl_near_set *s, tl_contact_report *out);  ///< adds what detection took, and its ratio

/// What is remembered from step to step, for a saved state.
size_t tl_near_set_save(const tl_near_set *s, char *out);
tl_status tl_near_set_load(tl_near_set *s, const char *data, size_t size, tl_error *err);
/// Will they be loaded, by a set of so many nodes of cloth and bodies?
tl_status tl_near_check(int32_t node_count, int32_t body_count, const char *data, size_t size, tl_error *err);
