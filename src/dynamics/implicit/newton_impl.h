// dynamics/implicit/newton_impl.h: what the files of Newton's method share.
#pragma once
#include "base/timer.h"
#include "math/vec3.h"
#include "physics/bend_operator.h"
#include "physics/touched.h"
#include "dynamics/implicit/newton.h"

enum { NEWTON_CHUNK = 4096, MAX_PAIRS = 2, NEWTON_TERMS = 8 };

/// A step taken and the change of the gradient along it.
typedef struct newton_pair {
    tl_vec3 *step, *change;
    double expected, per_curvature;
} newton_pair;

/// Nodes that still move when all others are done with.
typedef struct newton_part {
    int32_t *rows, *place;  ///< their numbers, ascending; and the way back, -1 for those at rest
    int32_t count;          ///< 0: all nodes move
    int32_t rings;          ///< of nodes around those of unmet constraints
    int32_t idle;           ///< iterations since the excess was halved
    double excess;          ///< then
    double energy;          ///< of the term with multipliers, over all nodes [J], when mending began
    double first;           ///< excess then
    tl_vec3 *from;          ///< positions then
    tl_touched touched;     ///< what elements they touch, for elements->touched
} newton_part;

/// Wall clock that goes to the account of the term with multipliers.
typedef struct newton_account {
    double at, own, others;  ///< when it was opened, and what terms had taken by then
} newton_account;

typedef struct newton {
    tl_elements *e;
    const tl_step_def *step;
    const tl_newton_def *def;
    tl_bsr *matrix;
    tl_solver *solver;
    const tl_ctx *ctx;
    tl_arena *arena;
    tl_workers *workers;
    // terms, in the order in which they are assembled; energies are added and updates looked at from the last to the
    // first, so that what bounds paths, which stands last, comes first there
    tl_term *terms;
    int32_t term_count;
    int32_t constrained;          // which has multipliers, -1: none
    bool clips;                   // some term bounds paths
    double energy[NEWTON_TERMS];  // of each at x
    tl_vec3 *push[NEWTON_TERMS];  // part of the gradient of what it foresees
    bool pushed[NEWTON_TERMS];    // in this iteration
    tl_vec3 *gradient, *right, *direction, *trial;
    double *partial;
    tl_potential potential;       // of the cloth at x
    double excess;                // after the round before
    double least_excess;          // of all rounds
    int idle_rounds;              // since it fell
    int32_t allowed;              // iterations, more with every round
    newton_account rounds_began;  // when the first had ended
    tl_newton_report *report;
    tl_bend_operator bending;      // made when first wanted
    newton_pair pairs[MAX_PAIRS];  // newest last; memory is taken when first wanted
    int pair_count;
    double first_decrement;  // what the first update promised
    newton_part part;
    bool with_bending;   // the linear systems get the exact bending
    int32_t unsolved;    // linear systems that did not converge
    bool solved;         // the last one did
    int64_t cut;         // nodes that terms kept from going all of their way in the last update
    double length;       // of it that was taken
    double last_change;  // of the update before
    int32_t overtime;    // iterations after the budget was spent, for the sake of terms that are under way
    double longest;      // way of a node in one update [m]
    bool shortened;      // the update was cut to it
    bool open;           // the newest pair waits for the gradient at its end
    bool repairing;      // the part is that of faces crushed or drawn out, not of unmet constraints
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

// newton_repair.c
bool newton_is_degenerate(const newton *s, const tl_vec3 *x, int32_t face);  ///< crushed or drawn out
tl_status newton_repair(newton *s, tl_vec3 *x, tl_error *err);  ///< brings such faces back, at a bounded cost

// newton.c
/// One iteration of the part that is chosen. `moved` is false if no way down was found.
tl_status newton_iterate_part(newton *s, tl_vec3 *x, bool *moved, tl_error *err);

// newton_terms.c
tl_status newton_begin_terms(newton *s, const tl_newton_problem *problem, tl_error *err);
tl_status newton_energies(newton *s, const tl_vec3 *x, double part, double out[NEWTON_TERMS], tl_error *err);
double newton_sum(const newton *s, double sum, const double energy[NEWTON_TERMS]);  ///< added to `sum`
double newton_sum_both(const newton *s, double sum, const double a[NEWTON_TERMS], const double b[NEWTON_TERMS]);
tl_status newton_assemble(newton *s, const tl_vec3 *x, tl_error *err);  ///< added to that of the cloth
tl_status newton_blocks(newton *s, const tl_bsr **out, tl_error *err);
double newton_linear_tolerance(const newton *s);
tl_status newton_expect(newton *s, tl_error *err);
tl_status newton_predict(newton *s, const tl_term_look *look, bool *changed, tl_error *err);
tl_status newton_before(newton *s, tl_vec3 *x, bool *moved, tl_error *err);
tl_status newton_cover(newton *s, const tl_vec3 *x, tl_error *err);
tl_status newton_clip(newton *s, const tl_vec3 *x, int64_t *cut, tl_error *err);
tl_status newton_follow(newton *s, const tl_vec3 *x, double *slope, tl_error *err);
tl_status newton_slope(newton *s, const tl_vec3 *x, double *slope, tl_error *err);
void newton_moved(newton *s, double part);
tl_status newton_settle(newton *s, const tl_vec3 *x, tl_error *err);
tl_status newton_relocate(newton *s, const tl_vec3 *x, tl_error *err);
bool newton_acts(const newton *s);
bool newton_incomparable(const newton *s);
bool newton_is_small(const newton *s, double least);
double newton_left(const newton *s);
void newton_force(newton *s);
newton_account newton_open_account(const newton *s);
void newton_close_account(newton *s, const newton_account *account);

// newton_rounds.c
tl_status newton_measure(newton *s, const tl_vec3 *x, tl_error *err);
tl_status newton_begin_mending(newton *s, tl_vec3 *x, bool *again, tl_error *err);
tl_status newton_end_round(newton *s, tl_vec3 *x, bool *again, tl_error *err);
tl_status newton_end_mending(newton *s, tl_vec3 *x, tl_error *err);  ///< the budget or the iterations are used up

// newton_budget.c
#define NEWTON_ASSEMBLE 700.0  // [ns] a face, by the model of tl_workers_charge
#define NEWTON_ENERGY 120.0
void newton_charge_faces(const newton *s, double each);
bool newton_is_spent(newton *s);  ///< what there is is to be taken
