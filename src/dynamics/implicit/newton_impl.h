// dynamics/implicit/newton_impl.h: what the files of Newton's method share.
#pragma once
#include "base/timer.h"
#include "math/vec3.h"
#include "physics/bend_operator.h"
#include "physics/touched.h"
#include "dynamics/implicit/newton.h"

enum { NEWTON_CHUNK = 4096, MAX_PAIRS = 2 };

/// A step taken and the change of the gradient along it.
typedef struct newton_pair {
    tl_vec3 *step, *change;
    double expected, per_curvature;
} newton_pair;

/// Nodes that still move when all others are done with.
typedef struct newton_part {
    int32_t *rows, *place;  ///< their numbers, ascending; and the way back, -1 for those at rest
    int32_t count;          ///< 0: all nodes move
    int32_t rings;          ///< of nodes around the faces concerned
    int32_t idle;           ///< iterations since the excess was halved
    double excess;          ///< then
    double held;            ///< energy of the limits of all faces [J] when mending began
    double first;           ///< worst excess then
    tl_vec3 *from;          ///< positions then, ..
    double (*stress)[3];    ///< .. and multipliers
    tl_touched touched;     ///< what elements they touch, for elements->touched
} newton_part;

typedef struct newton {
    tl_elements *e;
    const tl_step_def *step;
    const tl_newton_def *def;
    tl_bsr *matrix;
    tl_solver *solver;
    const tl_ctx *ctx;
    tl_arena *arena;
    tl_workers *workers;
    tl_contacts *contacts;     // NULL: none
    tl_strain_limits *limits;  // NULL: none
    const tl_vec3 *target;     // of fixed nodes
    tl_vec3 *gradient, *right, *direction, *trial;
    tl_vec3 *push;        // part of the gradient of contacts foreseen
    tl_vec3 *pull;        // the same of strain limits; made when first wanted
    bool pushed, pulled;  // by either in this iteration
    double *partial;
    tl_potential potential;                        // at x
    double touch;                                  // energy of contact at x
    double held;                                   // energy of strain limits at x
    double excess;                                 // worst after the round before
    double least_excess;                           // of all rounds
    int idle_rounds;                               // since it fell
    int32_t allowed;                               // iterations, more with every round
    bool limits_act;                               // some face is at its limits
    double again_at, again_contact, again_strain;  // when the first round ended, and seconds by then
    tl_newton_report *report;
    tl_bend_operator bending;      // made when first wanted
    newton_pair pairs[MAX_PAIRS];  // newest last; memory is taken when first wanted
    int pair_count;
    double first_decrement;  // what the first update promised
    newton_part part;
    bool with_bending;  // the linear systems get the exact bending
    int32_t unsolved;   // linear systems that did not converge
    bool solved;        // the last one did
    int64_t limited;    // nodes that contact kept from going all of their way in the last update
    double length;      // of it that was taken
    bool lags;          // cloth kept nodes that handles drive from their place in the last update
    bool stands;        // so much that they hardly moved
    bool waits;         // they stay where they are
    int32_t overtime;   // iterations after the budget was spent, for the sake of bodies that have to arrive
    double longest;     // way of a node in one update [m]
    bool shortened;     // the update was cut to it
    bool searched;      // contact pairs are of a path, not yet settled
    bool open;          // the newest pair waits for the gradient at its end
} newton;

typedef struct newton_move {
    const tl_vec3 *from, *direction;
    double length;
    tl_vec3 *to;
} newton_move;
void newton_move_chunk(void *arg, int32_t begin, int32_t end);  ///< to = from + length direction

// newton_pairs.c
tl_status newton_begin_pair(newton *s, double length, double slope, tl_error *err);
void newton_end_pair(newton *s);
void newton_before_solve(newton *s, double *weight);
void newton_after_solve(newton *s, const double *weight);

// newton_part.c
tl_status newton_choose_part(newton *s, const tl_vec3 *x, tl_error *err);
tl_status newton_solve_part(newton *s, double tolerance, tl_error *err);

// newton_strain.c
tl_status newton_strain_energy(newton *s, const tl_vec3 *x, double *out, tl_error *err);
tl_status newton_measure_strain(newton *s, const tl_vec3 *x, tl_error *err);
tl_status newton_take_multipliers(newton *s, const tl_vec3 *x, double *slope, tl_error *err);
tl_status newton_look_ahead(newton *s, const tl_vec3 *x, bool *changed, tl_error *err);
tl_status newton_end_round(newton *s, tl_vec3 *x, bool *again, tl_error *err);
tl_status newton_end_mending(newton *s, tl_vec3 *x, tl_error *err);  ///< the budget or the iterations are used up

// newton_budget.c
#define NEWTON_ASSEMBLE 700.0  // [ns] a face, by the model of tl_workers_charge
#define NEWTON_ENERGY 120.0
void newton_charge_faces(const newton *s, double each);
bool newton_is_spent(newton *s);  ///< what there is is to be taken
