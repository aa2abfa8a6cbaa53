// respond/respond.h: what keeps cloth out of bodies and of itself, by one of several kinds (docs/architecture.md,
// "Adding a kind").
//
// A kind may act at two places of a (sub)step: as a term of the potential that implicit dynamics minimise (`term`),
// and on the positions that the dynamics came to (`after`). Order of calls:
//
//     create   whenever meshes or bodies are others
//     begin    places of bodies, what handles drive
//     guess    where the solve starts              (dynamics that solve from a guess)
//     ..       the solve, with `term` in it
//     after    positions that the solve ended with (and velocities, where those do not follow)
#pragma once
#include "base/ctx.h"
#include "base/hash.h"
#include "detect/detect.h"
#include "physics/term.h"
#include "respond/contact.h"

/// A (sub)step as the dynamics see it. Arrays have one entry per node, in the order of the elements.
typedef struct tl_respond_move {
    int32_t node_count;
    const uint8_t *fixed;    ///< nodes that handles drive ..
    const tl_vec3 *target;   ///< .. and where to
    const tl_vec3 *x0;       ///< where nodes were at the beginning
    const tl_vec3 *x_tilde;  ///< where they would go without forces
    double dt;
    bool may_fail;  ///< the caller can take two smaller steps: TL_FAILED is an answer
} tl_respond_move;

/// One const instance per kind. Members that may be NULL say so.
typedef struct tl_responder {
    const char *name;     ///< word of the scene key `collisions.response`
    const char *promise;  ///< what it does, one sentence
    bool no_penetration;  ///< what begins free of intersections stays so; needs detection that misses nothing
    bool detects;         ///< asks the detector of its definition for pairs; others have a search of their own
    bool in_potential;    ///< presses within the solve; needs dynamics that minimise a potential
    bool in_dynamics;  ///< part of dynamics that answer contact themselves (tl_dynamics.own_contact), and of no others
    tl_status (*create)(const tl_allocator *alloc, const tl_contacts_def *def, void **self, tl_error *err);
    void (*destroy)(void *self);  ///< NULL is fine
    void (*forget)(void *self);   ///< an epoch begins: what was reused from step to step, but for what `save` saves
    /// What knows of bodies between steps. NULL: there is none.
    tl_contacts *(*contacts)(void *self);
    /// The term of the potential, after `guess`; in the arena. NULL: there is none, as `in_potential` says.
    tl_status (*term)(void *self, const tl_ctx *ctx, tl_term *out, tl_error *err);
    tl_status (*begin)(void *self, const tl_contact_step *step, const tl_vec3 *x, const tl_ctx *ctx, tl_error *err);
    /// A first guess into x. NULL: the solve starts where it likes.
    tl_status (*guess)(void *self, const tl_respond_move *move, tl_vec3 *x, const tl_ctx *ctx, tl_error *err);
    /// Corrects where nodes ended, and, where `v` is not NULL, velocities. *clear: false if it could not keep its
    /// promise; then x is not to be used. NULL: nothing is left to do.
    tl_status (*after)(void *self, const tl_respond_move *move, tl_vec3 *x, tl_vec3 *v, bool *clear, const tl_ctx *ctx,
                       tl_error *err);
    /// A kind on the same `self` that has an answer where this one has none. NULL: the step is cut.
    const struct tl_responder *fallback;
    void (*report)(const void *self, tl_contact_report *out);  ///< of the last step
    /// What it remembers from step to step, as bytes of a saved state; `out` NULL: counts only. NULL: nothing.
    size_t (*save)(const void *self, char *out);
    tl_status (*load)(void *self, const char *data, size_t size, tl_error *err);
    /// Are these bytes that `load` takes, for so many nodes of cloth and bodies? Asked before anything is changed.
    /// NULL: if `save` is.
    tl_status (*check)(int32_t node_count, int32_t body_count, const char *data, size_t size, tl_error *err);
    void (*hash)(const tl_collide_def *def, tl_hash *hash);  ///< settings of its own; NULL: none
} tl_responder;

extern const tl_responder tl_responder_barrier;     ///< a potential without bound, every iterate free of intersections
extern const tl_responder tl_responder_zones;       ///< springs within the solve, then impact zones
extern const tl_responder tl_responder_impulse;     ///< impulses between close pairs, then the continuous net
extern const tl_responder tl_responder_constraint;  ///< barred directions, then the continuous net

extern const tl_responder tl_responder_push_out;  ///< what springs do themselves (respond/push_out)

const tl_responder *tl_responder_of(tl_response kind);  ///< NULL: no such kind
