// physics/strain_limit.h: limits on strain as terms of the incremental potential, by an augmented Lagrangian.
//
// Narain, Samii & O'Brien 2012, sec. 5, bound each principal stretch of a face and give each bound a multiplier. Here
// the bounds are on the stretch tensor U = sqrt(F^T F), in the order of symmetric matrices: min I <= U - I <= max I.
// That is the same set, but the multiplier of a face is ONE symmetric tensor S in material coordinates, the stress with
// which the limit pulls: it has no jump where two stretches are equal and change places, and can be carried from step
// to step and mesh to mesh. With its stiffness mu and area A the face adds
//     A mu/2 |h(U - I + S/mu)|^2,  h(Y) = Y - (Y moved to the nearest matrix within the bounds, eigenvalue by
//     eigenvalue)
// and where the sum of all potentials is smallest, the next multiplier is mu h(U - I + S/mu): Eq. 19-21 of the paper
// with the two one-sided bounds in one (Rockafellar 1974).
#pragma once
#include "base/ctx.h"
#include "physics/elements.h"
#include "toile/strain.h"

/// Isotropic: the same for [0] and [1], on the two principal strains. Aligned: warp, weft, cosine between them.
typedef struct tl_strain_bounds {
    bool aligned;
    double low[3], high[3];  ///< what is solved for
    double margin[3];        ///< how far that is within what was asked for
} tl_strain_bounds;

/// What a look ahead (tl_strain_ahead) has found of a face, along the two directions that its linear model has.
typedef struct tl_strain_seen {
    double offset[3];  ///< strains at the end of the move are by this much other than the model says; with what the
                       ///< stress has gone ahead by
    double lead[2];    ///< that alone, as a strain
    double axis[2];    ///< the first direction, if the face was within its limits
    int8_t side[2];    ///< 1, -1: is met at the upper, lower bound though it is within its limits now
} tl_strain_seen;

typedef struct tl_strain_limits {
    tl_allocator alloc;
    int32_t face_count, bounds_count;
    tl_strain_bounds *bounds;  ///< by cloth
    int32_t *cloth;            ///< of each face
    double (*multiplier)[3];   ///< S11, S22, S12 [N/m]: state, carried from step to step
    double (*trial)[3];        ///< of the step being solved
    double *stiffness;         ///< mu of each face [N/m], for the step being solved
    double *base;              ///< what it began with
    double (*next)[3];         ///< trial multipliers that go with an update of the positions (tl_strain_predict)
    tl_strain_seen *seen;      ///< if `looked`
    bool looked;
    double *give;   ///< by how much the bounds of each face are wider in this step (tl_strain_give), mostly 0
    double *widen;  ///< .. and at least, in every step (tl_strain_widen_seam), mostly 0
    double *bold;   ///< updates are sought with limits this many times as stiff as the potential has them. 1: as stiff
    double still;   ///< part of its stiffness that a face within its limits lends to the Hessian; 0: something else
                    ///< holds it
} tl_strain_limits;

/// The range and sense of every number, `what` begins the message.
tl_status tl_strain_check(const tl_strain_def *def, const char *what, tl_error *err);

/// One definition per cloth of the elements. Multipliers start at zero.
tl_status tl_strain_limits_create(const tl_allocator *alloc, const tl_elements *elements, const tl_strain_def *defs,
                                  tl_strain_limits **out, tl_error *err);
void tl_strain_limits_destroy(tl_strain_limits *limits);  ///< NULL is fine

#define TL_STRAIN_MARGIN 8e-4  ///< for a simulation, which promises 1e-3

/// Solves for limits that are narrower by `margin` on either side, where they are far enough apart: what is left beyond
/// those is then mostly within the ones asked for, which is what excess is measured against. Once, after making.
void tl_strain_tighten(tl_strain_limits *limits, double margin);

/// Two faces of one world edge whose rest lengths differ cannot both have any strain: the bounds of faces `a` and `b`
/// become as much wider as rest lengths of `ratio` to one need, with a little play. Returns by how much; 0: they were
/// wide enough, or are not isotropic. Once, after tl_strain_tighten.
double tl_strain_widen_seam(tl_strain_limits *limits, int32_t a, int32_t b, double ratio);

/// Stiffness of limits over that of the fabric. Small: multipliers carry the load, so Newton sees no contrast; larger
/// ones save rounds but cost more iterations (docs/strain-limiting.md).
#define TL_STRAIN_STIFFER 3

/// Updates are sought with limits as stiff as inertia holds motions of this size with [m], see `bold`; TL_STRAIN_BOLD
/// times mu at most.
#define TL_STRAIN_REACH 1
#define TL_STRAIN_BOLD 10

/// Starts a step: trial multipliers are those of the state; stiffness from the fabric's, from inertia (gamma as in
/// tl_step_def), and from the multipliers.
void tl_strain_begin(tl_strain_limits *limits, const tl_elements *elements, double gamma);

/// Faces that x leaves beyond `tolerance` may stay as far beyond in this step, but no further: where contact or handles
/// keep a face from its limits there is an answer all the same, and its multiplier, which goes on to pull, has no
/// reason to grow. tl_strain_begin takes it back.
void tl_strain_give(tl_strain_limits *limits, const tl_elements *elements, const tl_vec3 *x, double tolerance);
void tl_strain_take_back(tl_strain_limits *limits);

/// The energy of the limits at x [J]. `scratch` is for partial sums.
tl_status tl_strain_energy(const tl_strain_limits *limits, const tl_elements *elements, const tl_vec3 *x,
                           const tl_ctx *ctx, double *out, tl_error *err);

/// Adds gradient and a positive semidefinite Hessian (`matrix` NULL: none). Rows of fixed nodes stay as they are.
void tl_strain_assemble(const tl_strain_limits *limits, const tl_elements *elements, const tl_vec3 *x, tl_bsr *matrix,
                        tl_vec3 *gradient, tl_workers *workers);

/// The same into a matrix with a pattern of its own: slots (as in tl_elements) of corners 01, 02, 12 of every face.
void tl_strain_assemble_into(const tl_strain_limits *limits, const tl_elements *elements, const tl_vec3 *x,
                             tl_bsr *matrix, const int32_t (*slots)[3], tl_vec3 *gradient, tl_workers *workers);

/// Trial multipliers take the values that go with moving all nodes by `move`, by the linear model that
/// tl_strain_assemble made at x. `slope` gets the change of the potential along it with these, less gradient . move.
/// The ones before stay in `next`.
tl_status tl_strain_predict(tl_strain_limits *limits, const tl_elements *elements, const tl_vec3 *x,
                            const tl_vec3 *move, const tl_ctx *ctx, double *slope, tl_error *err);

/// That slope, with the multipliers as foreseen, for another move.
tl_status tl_strain_slope(tl_strain_limits *limits, const tl_elements *elements, const tl_vec3 *x, const tl_vec3 *move,
                          const tl_ctx *ctx, double *slope, tl_error *err);

/// Largest excess of all faces that are not driven after a move from x, at least 0.
tl_status tl_strain_worst_after(const tl_strain_limits *limits, const tl_elements *elements, const tl_vec3 *x,
                                const tl_vec3 *move, const tl_ctx *ctx, double *worst, tl_error *err);

/// A look ahead. With the matrix and gradient of tl_strain_assemble at x an update was found, `move`: faces within
/// their isotropic limits that it would take beyond them join the matrix, and `push` gets what is to be added to the
/// gradient so that the same system, solved again, meets the limits where the move ends rather than where its linear
/// model does, with stresses gone on by what is left. tl_strain_predict then knows. May be repeated.
void tl_strain_ahead(tl_strain_limits *limits, const tl_elements *elements, const tl_vec3 *x, const tl_vec3 *move,
                     tl_bsr *matrix, tl_vec3 *push, tl_workers *workers);

/// Forgets what was seen.
void tl_strain_look_away(tl_strain_limits *limits);

/// Only a part of the move was made.
void tl_strain_back(tl_strain_limits *limits, double part);

/// How the limits are met. Excess is stretch (or shear) beyond the limit.
typedef struct tl_strain_state {
    int32_t active;    ///< faces that the limits pull or push
    int32_t violated;  ///< faces beyond `tolerance`
    int32_t driven;    ///< of those, faces whose nodes are all fixed: nothing can be done
    double worst;      ///< largest excess of all faces that are not driven, 0 if none
    int32_t face;      ///< where, TL_NONE if nowhere
} tl_strain_state;

/// The state at x. `update`: trial multipliers take their next value.
tl_status tl_strain_measure(tl_strain_limits *limits, const tl_elements *elements, const tl_vec3 *x, double tolerance,
                            bool update, const tl_ctx *ctx, tl_strain_state *out, tl_error *err);

/// Raises the stiffness of faces that x leaves beyond `tolerance`, up to a bound. False: none could be raised.
bool tl_strain_stiffen(tl_strain_limits *limits, const tl_elements *elements, const tl_vec3 *x, double tolerance);

/// Trial multipliers become the state. Those of faces beyond `tolerance` at x are bounded: where limits cannot be met
/// they would grow for ever, and snap when what holds the cloth lets go.
void tl_strain_keep(tl_strain_limits *limits, const tl_elements *elements, const tl_vec3 *x, double tolerance);

/// Excess of one face at x; negative inside its limits.
double tl_strain_excess(const tl_strain_limits *limits, const tl_elements *elements, const tl_vec3 *x, int32_t face);

/// The most that a move of all nodes changes a column of F: a bound on the change of any strain along warp or weft.
double tl_strain_change(const tl_elements *elements, const tl_vec3 *move);

// ---- projection alone ----

typedef struct tl_project_def {
    double tolerance;    ///< excess left at most. Default 5e-4.
    int32_t iterations;  ///< Newton steps at most, in all. Default 200.
    double scale;        ///< stiffness over (density times extent^2). Default 1000.
} tl_project_def;
tl_project_def tl_project_def_default(void);

typedef struct tl_project_report {
    int32_t iterations, rounds;
    tl_strain_state state;
    bool held;
} tl_project_report;

/// Moves nodes that are not fixed as little as the limits allow: min 1/2 sum m |x - x^|^2 (Eq. 22), x^ the given x.
/// Multipliers of the state are neither used nor changed.
tl_status tl_strain_project(tl_strain_limits *limits, const tl_elements *elements, const tl_project_def *def,
                            tl_vec3 *x, const tl_ctx *ctx, tl_project_report *report, tl_error *err);
