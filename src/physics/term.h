// physics/term.h: a summand of the potential that a step minimises, beside that of the cloth itself (forces.h).
//
// Newton's method walks a list of terms and knows none of them by name (dynamics/implicit/newton.c). A term has an
// energy, a gradient and a positive semidefinite Hessian; it may cut the update short (contact), have multipliers that
// are solved for along with the positions (strain limits), or look ahead for what the update brings into play. Order of
// calls:
//
//     begin                                a solve begins
//     before                               an iteration begins; the term may change x itself
//     assemble  expect                     gradient and Hessian at x; what is known to join them
//     blocks .. solve .. cover  foresee    again while an update brings more into play
//     small  follow  clip  slope           may it be the last one; multipliers; as much of it as is allowed
//     energy ..                            line search
//     moved  settle                        x is new
//     measure  stiffen  mark  keep  bring_back    rounds of a term with multipliers
#pragma once
#include "base/ctx.h"
#include "math/solver.h"

/// An update u of all nodes that was solved for at x.
typedef struct tl_term_look {
    const tl_vec3 *x, *u;
    int round;     ///< of looks ahead in this iteration, from 0
    bool usable;   ///< the linear system was solved well enough to look at where it leads
    bool in_part;  ///< only the nodes that `mark` has named move
    bool last;     ///< it is to be the last update, unless a term finds more to do
} tl_term_look;

/// One const instance per kind of term. `energy` and `assemble` are required; others are NULL where a term has no use
/// for them.
typedef struct tl_term_kind {
    const char *name;
    double cost;  ///< evaluating the cloth's own potential costs so many times as much with this term; 0: no more
    void (*begin)(void *self);

    // ---- the summand ----
    /// At x, where that is x + `part` u of the update that was clipped last.
    tl_status (*energy)(void *self, const tl_vec3 *x, double part, const tl_ctx *ctx, double *out, tl_error *err);
    /// Adds to matrix and gradient. *energy: that at x; a term with multipliers may leave it to `follow`.
    tl_status (*assemble)(void *self, const tl_vec3 *x, tl_bsr *matrix, tl_vec3 *gradient, double *energy,
                          const tl_ctx *ctx, tl_error *err);
    /// Blocks that `matrix` has no place for; *out NULL: none. One term of a solve at most has this.
    tl_status (*blocks)(void *self, const tl_ctx *ctx, const tl_bsr **out, tl_error *err);
    /// Does the term act at x, by this energy? Then changes of the gradient along one update say little about the next.
    bool (*acts)(const void *self, double energy);
    /// A part, at most 1, of the usual tolerance that linear systems need for the sake of this term.
    double (*linear_tolerance)(const void *self);

    // ---- looking ahead ----
    /// After an assembly: what will probably act at the end of the update joins the matrix, and `push` is set to its
    /// part of the gradient. *changed: there is such.
    tl_status (*expect)(void *self, tl_bsr *matrix, tl_vec3 *push, bool *changed, const tl_ctx *ctx, tl_error *err);
    /// The same once an update is known. *changed: the system is another one and has to be solved again.
    tl_status (*predict)(void *self, const tl_term_look *look, tl_bsr *matrix, tl_vec3 *push, bool *changed,
                         const tl_ctx *ctx, tl_error *err);

    // ---- paths: a term that does not let nodes go everywhere; it bounds the length of updates ----
    /// May change x before an iteration, the `iteration`th; *moved if it has. `hurry`: there is no time left to wait.
    tl_status (*before)(void *self, int32_t iteration, bool hurry, tl_vec3 *x, bool *moved, const tl_ctx *ctx,
                        tl_error *err);
    /// Makes ready for the path from x to x + u. Sets u of fixed nodes that are not in their place.
    tl_status (*cover)(void *self, const tl_vec3 *x, tl_vec3 *u, const tl_ctx *ctx, tl_error *err);
    /// Cuts u short as far as needed; *cut: so many nodes.
    tl_status (*clip)(void *self, const tl_vec3 *x, tl_vec3 *u, int64_t *cut, const tl_ctx *ctx, tl_error *err);
    /// Is the potential before the update another one than after it, so that the two cannot be compared?
    bool (*incomparable)(const void *self);
    /// Nodes have gone `part` of the update, which was clipped last.
    void (*moved)(void *self, double part);
    /// x is where they came to, and the next iteration begins there.
    tl_status (*settle)(void *self, const tl_vec3 *x, const tl_ctx *ctx, tl_error *err);
    /// x was set without a path. `still`: a zero for every node.
    tl_status (*relocate)(void *self, const tl_vec3 *x, const tl_vec3 *still, const tl_ctx *ctx, tl_error *err);
    /// How much is left of what the term itself has to bring about (the way of bodies), 0 if nothing. The solve goes
    /// on.
    double (*left)(const void *self);
    /// It has taken too long: what keeps the term from it gives way.
    void (*force)(void *self);
    /// Is so small an update small enough for this term to be the last? gamma: velocity per position. `least`: speeds
    /// below this do not matter [m/s].
    bool (*small)(const void *self, const tl_vec3 *u, double gamma, double least);

    // ---- multipliers: one term of a solve at most has them, and then all of these ----
    /// Multipliers go along with a move by u. *slope: what that adds to the slope of the potential. *energy: at x, now.
    tl_status (*follow)(void *self, const tl_vec3 *x, const tl_vec3 *u, double *slope, double *energy,
                        const tl_ctx *ctx, tl_error *err);
    /// The slope again where u was cut after that.
    tl_status (*slope)(void *self, const tl_vec3 *x, const tl_vec3 *u, double *slope, const tl_ctx *ctx, tl_error *err);
    /// *excess: how far x is beyond the constraints at most. *met: within their tolerance.
    tl_status (*measure)(void *self, const tl_vec3 *x, double *excess, bool *met, const tl_ctx *ctx, tl_error *err);
    void (*stiffen)(void *self, const tl_vec3 *x);              ///< where x is beyond the constraints
    void (*mark)(void *self, const tl_vec3 *x, int32_t *mark);  ///< 0 for nodes that have to move for x to meet them
    tl_status (*keep)(void *self, tl_arena *arena, tl_error *err);  ///< multipliers, for ..
    void (*restore_kept)(void *self);
} tl_term_kind;

typedef struct tl_term {
    const tl_term_kind *kind;
    void *self;
    double seconds;  ///< of wall clock that it took; Newton's method adds to it
} tl_term;
