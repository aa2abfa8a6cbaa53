// math/solver.c: the front door: one interface, several ways to solve, and the choice among them.
//
// Work is lazy: a pattern is analysed and levels are built at the first solve that wants them. Factors and
// levels outlive the values they were made for as long as that pays (tl_aging).

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "math/pcg.h"
#include "math/solver_impl.h"
#include "math/vec3.h"

enum {
    REFINE_ITERATIONS = 20,    // a fresh double factor needs one; more only if the matrix is nearly singular
    JOINT_ROWS = 10,           // one block beside the matrix for so many rows, and the levels are to see them
    OLD_LEVELS_ITERATIONS = 3  // with levels of other contacts, before new ones are made
};
static const double SWITCH_GAIN = 0.8;   // auto changes its mind for a fifth, not for noise
static const double HOPELESS = 4;        // sweeps that cost so much more than levels are not tried
static const double TRIAL_FACTOR = 1.5;  // and gives up a way that has cost this much more than another would

const char *tl_solver_kind_name(tl_solver_kind kind)
{
    switch (kind) {
    case TL_SOLVER_AUTO: return "auto";
    case TL_SOLVER_PCG: return "pcg";
    case TL_SOLVER_MULTILEVEL: return "multilevel";
    case TL_SOLVER_DIRECT: return "direct";
    case TL_SOLVER_STALE: return "stale";
    case TL_SOLVER_CHOLMOD: return "cholmod";
    }
    return "unknown";
}

tl_solver_def tl_solver_def_default(void) { return (tl_solver_def){.kind = TL_SOLVER_AUTO, .max_iterations = 2000}; }

tl_status tl_solver_create(const tl_allocator *alloc, const tl_solver_def *def, tl_solver **out, tl_error *err)
{
    *out = NULL;
    if ((int)def->kind < TL_SOLVER_AUTO || (int)def->kind > TL_SOLVER_CHOLMOD)
        return tl_fail(err, TL_BAD_ARG, "solver: unknown kind %d", (int)def->kind);
    if (def->max_iterations < 1)
        return tl_fail(err, TL_BAD_ARG, "solver: max_iterations %d, must be positive", def->max_iterations);
    tl_solver *s = TL_CALLOC(alloc, tl_solver, 1);
    if (!s) return tl_fail_memory(err, "linear solver");
    s->alloc = *alloc;
    s->def = *def;
    s->experience = tl_experience_default();
    s->most = def->max_iterations;
    *out = s;
    return TL_OK;
}

static void drop_levels(tl_solver *s)
{
    tl_multilevel_destroy(s->levels);
    tl_bsr_destroy(&s->alloc, s->joint);
    s->levels = NULL, s->joint = NULL, s->levels_version = 0;
}

void solver_drop_factor(tl_solver *s)
{
    tl_cholesky_destroy(s->factor);
    tl_bsr_destroy(&s->alloc, s->whole);
    s->factor = NULL, s->whole = NULL, s->factor_version = 0;
}

// Everything that belongs to the present pattern.
static void forget(tl_solver *s)
{
    solver_drop_factor(s);
    drop_levels(s);
    tl_cholmod_destroy(s->cholmod);
    TL_FREE(&s->alloc, s->fixed, s->copied);
    s->cholmod = NULL, s->matrix = NULL, s->pos = NULL;
    s->copied = 0;
}

void tl_solver_destroy(tl_solver *s)
{
    if (!s) return;
    forget(s);
    const tl_allocator alloc = s->alloc;
    TL_FREE(&alloc, s, 1);
}

static bool wants_positions(const tl_solver *s)
{
    return s->def.kind == TL_SOLVER_AUTO || s->def.kind == TL_SOLVER_MULTILEVEL;
}

tl_status tl_solver_pattern(tl_solver *s, const tl_bsr *matrix, const tl_vec3 *pos, tl_error *err)
{
    if (s->matrix && s->solves > 0)
        s->experience.solves_per_pattern = 0.5 * (s->experience.solves_per_pattern + s->solves);
    forget(s);
    if (wants_positions(s)) {
        if (!pos && matrix->row_count)
            return tl_fail(err, TL_BAD_ARG, "solver: kind %s needs node positions", tl_solver_kind_name(s->def.kind));
        s->copied = matrix->row_count;
        s->fixed = TL_CALLOC(&s->alloc, uint8_t, s->copied);
        if (!s->fixed) {
            forget(s);
            return tl_fail_memory(err, "linear solver");
        }
        s->pos = pos;
    }
    s->matrix = matrix;
    s->version++;
    s->solves = 0;
    return TL_OK;
}

void tl_solver_values(tl_solver *s, const uint8_t *fixed, const tl_vec3 *pos)
{
    s->version++;
    if (!s->copied) return;
    if (pos) s->pos = pos;
    if (fixed)
        memcpy(s->fixed, fixed, (size_t)s->copied);
    else
        memset(s->fixed, 0, (size_t)s->copied);
}

// Are the blocks beside the matrix enough to matter? A few pairs of rows are as many iterations.
static bool wants_joint(const tl_solver *s)
{
    const tl_bsr *more = s->matrix->extra.blocks;
    return more && (int64_t)JOINT_ROWS * (more->block_count - more->row_count) > more->row_count;
}

static tl_system describe(const tl_solver *s)
{
    const tl_bsr *more = s->matrix->extra.blocks;
    tl_system system = {.rows = s->matrix->row_count,
                        .blocks = s->matrix->block_count + (more ? more->block_count : 0),
                        .beside = wants_joint(s),
                        .analysed = s->factor,
                        .levels_made = s->levels};
    if (s->factor) {
        const tl_cholesky_info info = tl_cholesky_describe(s->factor);
        system.factor_flops = info.flops, system.factor_entries = (double)info.entries;
    }
    // A pattern that has outlived those before it is good for as many solves again.
    const double ahead = s->experience.solves_per_pattern - s->solves, again = s->solves > 1 ? s->solves : 1;
    system.solves_ahead = ahead > again ? ahead : again;
    return system;
}

static double decades_of(const tl_solve_report *report)
{
    const double from = report->first_residual, to = report->residual;
    return from > 0 && to > 0 && from > to ? log10(from / to) : 0;
}

// What one solve asks of the ways below.
typedef struct request {
    double tolerance;
    const tl_vec3 *b;
    tl_vec3 *x;
    tl_arena *arena;
    tl_workers *workers;
    int32_t max_iterations;
    double scale;               // |b|, if it is known
    double least, least_swept;  // residuals that are small enough, in the norms of tl_pcg and tl_pcg_swept
} request;

static tl_status run_pcg(tl_solver *s, const request *q, const tl_precond *precond, tl_solve_report *report,
                         tl_error *err)
{
    return tl_pcg(s->matrix, precond, (tl_pcg_stop){q->tolerance, q->max_iterations, q->least}, q->b, q->x,
                  &(tl_ctx){q->arena, q->workers}, report, err);
}

// An energy weighs smooth errors more than the square of a residual does: at twice the tolerance Newton's method takes
// as many iterations.
#define SWEPT_TOLERANCE 2

static tl_status run_swept(tl_solver *s, const request *q, tl_solve_report *report, tl_error *err)
{
    const tl_pcg_stop stop = {SWEPT_TOLERANCE * q->tolerance, q->max_iterations, q->least_swept};
    const tl_status status = tl_pcg_swept(s->matrix, stop, q->b, q->x, &(tl_ctx){q->arena, q->workers}, report, err);
    if (s->series.part > 0 && !(s->series.left_swept > 0))
        s->series.left_swept = s->series.part * stop.tolerance * report->scale;
    report->first_residual /= SWEPT_TOLERANCE, report->residual /= SWEPT_TOLERANCE;
    return status;
}

static void apply_factor(void *self, tl_workers *workers, const tl_vec3 *r, tl_vec3 *z)
{
    const tl_solver *s = self;  // not the factor, which may be another one after a renewal
    tl_cholesky_solve(s->factor, workers, r, z);
}

// What a factor is made of: the matrix and the blocks beside it. Contacts come and go; the analysis holds until one
// comes for which there is no place, and a place costs little.
static tl_status add_up(tl_solver *s, const tl_bsr **out, tl_error *err)
{
    *out = s->matrix;
    if (!s->matrix->extra.blocks || s->def.kind == TL_SOLVER_AUTO) {  // which takes factors only where blocks are few
        if (s->whole) solver_drop_factor(s);
        return TL_OK;
    }
    bool kept;
    if (s->factor && !s->whole) solver_drop_factor(s);
    TL_TRY(tl_bsr_sum(&s->alloc, s->matrix, s->matrix->extra.blocks, &s->whole, &kept, err));
    if (!kept) tl_cholesky_destroy(s->factor), s->factor = NULL;
    *out = s->whole;
    return TL_OK;
}

static tl_status renew_factor(tl_solver *s, const request *q, tl_solve_report *report, tl_error *err)
{
    const tl_bsr *m;
    s->factor_version = 0;  // none, should this fail
    TL_TRY(add_up(s, &m, err));
    if (!s->factor) TL_TRY(tl_cholesky_create(&s->alloc, m, s->def.kind != TL_SOLVER_DIRECT, &s->factor, err));
    TL_TRY(tl_cholesky_factor(s->factor, m, q->workers, err));
    s->factor_version = s->version;
    report->factorizations++;
    const tl_system system = describe(s);
    tl_aging_renewed(&s->factor_age, tl_cost_renewal(&system, TL_SOLVER_STALE));
    tl_workers_charge(q->workers, tl_cost_renewal(&system, TL_SOLVER_STALE));
    return TL_OK;
}

static double factor_cost(const tl_solver *s)
{
    const tl_system system = describe(s);
    return tl_cost_iteration(&system, TL_SOLVER_STALE);
}

static tl_status solve_direct(tl_solver *s, request q, tl_solve_report *report, tl_error *err)
{
    if (s->factor_version != s->version) TL_TRY(renew_factor(s, &q, report, err));
    const bool exact = !s->matrix->extra.add;
    if (exact && q.max_iterations > REFINE_ITERATIONS) q.max_iterations = REFINE_ITERATIONS;
    TL_TRY(run_pcg(s, &q, &(tl_precond){apply_factor, s, factor_cost(s)}, report, err));
    if (report->iterations > 0) report->iterations--;  // the first is the solve itself
    return TL_OK;
}

// Iterations that bring a decade: solves to different tolerances must compare.
static double cost_per_decade(const tl_solver *s, tl_solver_kind kind, const tl_solve_report *report)
{
    const tl_system system = describe(s);
    const double decades = decades_of(report);
    return report->iterations * tl_cost_iteration(&system, kind) / (decades > 1 ? decades : 1);
}

static tl_status solve_stale(tl_solver *s, request q, tl_solve_report *report, tl_error *err)
{
    const int32_t max_iterations = q.max_iterations;
    if (!s->factor || !s->factor_version || (s->factor_version != s->version && tl_aging_renew(&s->factor_age))) {
        if (s->factor && s->factor_age.solves)
            s->experience.reuse[TL_SOLVER_STALE] = 0.5 * (s->experience.reuse[TL_SOLVER_STALE] + s->factor_age.solves);
        TL_TRY(renew_factor(s, &q, report, err));
    }
    // an old factor may be no good at all any more: at the price of two new ones, stop and make one
    const bool old = s->factor_version != s->version;
    const tl_system system = describe(s);
    const double patience = 2 * tl_cost_renewal(&system, TL_SOLVER_STALE) / tl_cost_iteration(&system, TL_SOLVER_STALE);
    if (old && max_iterations > 8 + patience) q.max_iterations = 8 + (int32_t)patience;
    const tl_precond precond = {apply_factor, s, factor_cost(s)};
    TL_TRY(run_pcg(s, &q, &precond, report, err));
    const int32_t first = report->iterations;
    if (!report->converged && old && first < max_iterations) {
        const double first_residual = report->first_residual;
        TL_TRY(renew_factor(s, &q, report, err));
        q.max_iterations = max_iterations - first;
        TL_TRY(run_pcg(s, &q, &precond, report, err));
        tl_aging_used(&s->factor_age, cost_per_decade(s, TL_SOLVER_STALE, report));
        report->iterations += first;
        report->first_residual = first_residual;
    } else {
        tl_aging_used(&s->factor_age, cost_per_decade(s, TL_SOLVER_STALE, report));
    }
    return TL_OK;
}

static tl_status make_levels(tl_solver *s, const request *q, tl_error *err)
{
    const bool old = s->levels_version != s->version;
    if (s->joint) drop_levels(s);
    if (s->levels && !old) return TL_OK;
    bool deep = true;
    if (!s->levels) {
        TL_TRY(tl_multilevel_create(&s->alloc, s->matrix, TL_AGGREGATES_SMOOTH, s->fixed, s->pos, q->workers,
                                    &s->levels, err));
    } else {
        deep = !s->levels_version || tl_aging_renew(&s->levels_age);
        s->levels_version = 0;  // none, should this fail
        TL_TRY(tl_multilevel_update(s->levels, s->fixed, s->pos, deep, q->workers, err));
    }
    s->levels_version = s->version;
    if (deep) {
        if (s->levels_age.solves)
            s->experience.reuse[TL_SOLVER_MULTILEVEL] =
                0.5 * (s->experience.reuse[TL_SOLVER_MULTILEVEL] + s->levels_age.solves);
        const tl_system system = describe(s);
        tl_aging_renewed(&s->levels_age, tl_cost_renewal(&system, TL_SOLVER_MULTILEVEL));
        tl_workers_charge(q->workers, tl_cost_renewal(&system, TL_SOLVER_MULTILEVEL));
    }
    return TL_OK;
}

#define CYCLE_PRODUCTS 2.6  // of a cycle, beside that of the conjugate gradients themselves (solver_cost.c)

static tl_status run_levels(tl_solver *s, const request *q, tl_solve_report *report, tl_error *err)
{
    return run_pcg(s, q, &(tl_precond){tl_multilevel_apply, s->levels, CYCLE_PRODUCTS * tl_pcg_cost(s->matrix)}, report,
                   err);
}

// Levels of the matrix and the blocks beside it together.
static tl_status make_joint_levels(tl_solver *s, const request *q, tl_error *err)
{
    drop_levels(s);
    TL_TRY(tl_bsr_join(&s->alloc, s->matrix, s->matrix->extra.blocks, &s->joint, err));
    TL_TRY(
        tl_multilevel_create(&s->alloc, s->joint, TL_AGGREGATES_PLAIN, s->fixed, s->pos, q->workers, &s->levels, err));
    s->levels_version = s->version;
    const tl_system system = describe(s);
    tl_workers_charge(q->workers, tl_cost_renewal(&system, TL_SOLVER_MULTILEVEL));
    return TL_OK;
}

static bool starts_from_nothing(const tl_solver *s, const request *q)
{
    for (int32_t i = 0; i < s->matrix->row_count; i++)
        if (q->x[i].x != 0 || q->x[i].y != 0 || q->x[i].z != 0) return false;
    return true;
}

// Blocks beside the matrix have a new pattern every time. Levels of a sum that is some solves old are a definite
// preconditioner like any other, but contacts they do not know of cost some ten iterations and more, and new levels
// cost six. So a solve that starts from nothing makes new ones; one that goes on from an answer tries the old a few
// times, as that often is enough.
static tl_status solve_joint(tl_solver *s, request q, tl_solve_report *report, tl_error *err)
{
    int32_t before = 0;
    double first_residual = -1;
    const int32_t max_iterations = q.max_iterations;
    if (s->joint && s->levels_version && s->levels_version != s->version && !starts_from_nothing(s, &q)) {
        if (q.max_iterations > OLD_LEVELS_ITERATIONS) q.max_iterations = OLD_LEVELS_ITERATIONS;
        TL_TRY(run_levels(s, &q, report, err));
        if (report->converged || report->iterations >= max_iterations) return TL_OK;
        before = report->iterations, first_residual = report->first_residual;
        q.max_iterations = max_iterations - before;
    }
    if (!s->joint || s->levels_version != s->version) TL_TRY(make_joint_levels(s, &q, err));
    TL_TRY(run_levels(s, &q, report, err));
    report->iterations += before;
    if (first_residual >= 0) report->first_residual = first_residual;
    return TL_OK;
}

static tl_status solve_smooth(tl_solver *s, request q, tl_solve_report *report, tl_error *err)
{
    TL_TRY(make_levels(s, &q, err));
    TL_TRY(run_levels(s, &q, report, err));
    tl_aging_used(&s->levels_age, cost_per_decade(s, TL_SOLVER_MULTILEVEL, report));
    return TL_OK;
}

// Coarse levels and factors in float can fail where the matrix itself is fine (entries at the end of float's range, a
// hub node, contact pressed very hard): sweeps then have the last word on whether the matrix is definite.
static tl_status or_swept(tl_solver *s, const request *q, tl_status status, tl_solve_report *report, tl_error *err)
{
    if (status != TL_FAILED) return status;
    report->used = TL_SOLVER_PCG;
    return run_swept(s, q, report, err);
}

static tl_status solve_multilevel(tl_solver *s, request q, tl_solve_report *report, tl_error *err)
{
    return or_swept(s, &q, wants_joint(s) ? solve_joint(s, q, report, err) : solve_smooth(s, q, report, err), report,
                    err);
}

static tl_status solve_cholmod(tl_solver *s, request q, tl_solve_report *report, tl_error *err)
{
    if (s->matrix->row_count == 0) {
        report->converged = true;
        return TL_OK;
    }
    if (!s->cholmod) {
        TL_TRY(tl_cholmod_create(&s->alloc, s->matrix, &s->cholmod, err));
        s->factor_version = 0;
    }
    if (s->factor_version != s->version) {
        s->factor_version = 0;
        TL_TRY(tl_cholmod_factor(s->cholmod, s->matrix, err));
        s->factor_version = s->version;
        report->factorizations++;
    }
    const tl_arena_mark mark = tl_arena_save(q.arena);
    tl_vec3 *answer = TL_SCRATCH(q.arena, tl_vec3, s->matrix->row_count);
    tl_status status = answer ? tl_cholmod_solve(s->cholmod, q.b, answer, err) : tl_fail_memory(err, "CHOLMOD solve");
    q.max_iterations = 0;  // only measures the residual
    if (status == TL_OK) {
        memcpy(q.x, answer, (size_t)s->matrix->row_count * sizeof *answer);
        status = run_swept(s, &q, report, err);
    }
    tl_arena_release(q.arena, mark);
    return status;
}

static tl_status solve_as(tl_solver *s, tl_solver_kind kind, const request *q, tl_solve_report *report, tl_error *err)
{
    report->used = kind;
    switch (kind) {
    case TL_SOLVER_MULTILEVEL: return solve_multilevel(s, *q, report, err);
    case TL_SOLVER_DIRECT: return solve_direct(s, *q, report, err);
    case TL_SOLVER_STALE: return or_swept(s, q, solve_stale(s, *q, report, err), report, err);
    case TL_SOLVER_CHOLMOD: return solve_cholmod(s, *q, report, err);
    default: return run_swept(s, q, report, err);
    }
}

// ---- auto -------------------------------------------------------------------------------------------------

static const tl_solver_kind CANDIDATES[] = {TL_SOLVER_PCG, TL_SOLVER_MULTILEVEL, TL_SOLVER_STALE};
enum { CANDIDATE_COUNT = 3 };

// The cheapest way not in `tried` (a bit per kind); its cost in *cost, TL_SOLVER_AUTO if none is left.
static tl_solver_kind cheapest(const tl_solver *s, double decades, unsigned tried, double *cost)
{
    const tl_system system = describe(s);
    tl_solver_kind best = TL_SOLVER_AUTO;
    for (int k = 0; k < CANDIDATE_COUNT; k++) {
        const tl_solver_kind kind = CANDIDATES[k];
        if (tried >> kind & 1 || !tl_cost_allowed(&system, kind)) continue;
        double c = tl_cost_solve(&system, &s->experience, kind, decades);
        if (kind == s->current) c *= SWITCH_GAIN;
        if (best != TL_SOLVER_AUTO && c >= *cost) continue;
        best = kind;
        *cost = c;
    }
    return best;
}

static bool is_guess(const tl_solver *s, const tl_vec3 *x)
{
    for (int32_t i = 0; i < s->matrix->row_count; i++)
        if (x[i].x != 0 || x[i].y != 0 || x[i].z != 0) return true;
    return false;
}

// Levels of blocks beside the matrix are made anew for nearly every solve, others at the start of an epoch and for a
// new pattern. For their price sweeps may well be done with it, above all where they go on from an answer, so they get
// that many iterations first, unless they are known to need many times more. That is also how a solver that has left
// sweeps finds out that they would serve again. 0: no trial.
static int32_t sweeps_for_levels(const tl_solver *s, const request *q, double decades)
{
    const tl_system system = describe(s);
    const double levels = tl_cost_making(&system, TL_SOLVER_MULTILEVEL);
    const double sweeps = tl_cost_solve(&system, &s->experience, TL_SOLVER_PCG, decades);
    if (!system.beside && s->levels) return 0;  // there are some
    if (sweeps > HOPELESS * levels && !is_guess(s, q->x)) return 0;
    return (int32_t)(levels / tl_cost_iteration(&system, TL_SOLVER_PCG));
}

// Tries the cheapest way with a limit on its iterations, then the next from where it stopped. The last one
// left has no limit but the caller's.
static tl_status solve_auto(tl_solver *s, const request *q, tl_solve_report *report, tl_error *err)
{
    const double tolerance = fmax(q->tolerance, q->least / q->scale);  // NaN, of nothing: by the tolerance
    const double decades = tolerance > 0 && tolerance < 1 ? -log10(tolerance) : tolerance > 0 ? 0.3 : 16;
    const int32_t rows = s->matrix->row_count;
    unsigned tried = 0;
    int32_t iterations = 0;
    double first_residual = -1;
    for (;;) {
        double cost = 0, other = 0;
        tl_solver_kind kind = cheapest(s, decades, tried, &cost);
        const int32_t trial = kind == TL_SOLVER_MULTILEVEL && tried == 0 ? sweeps_for_levels(s, q, decades) : 0;
        if (trial > 0) kind = TL_SOLVER_PCG;
        tried |= 1u << kind;
        request limited = *q;
        limited.max_iterations = q->max_iterations - iterations;
        if (trial > 0 && trial < limited.max_iterations) limited.max_iterations = trial;
        const bool more = cheapest(s, decades, tried, &other) != TL_SOLVER_AUTO;
        if (more) {
            const tl_system system = describe(s);
            const double limit = TRIAL_FACTOR * (cost > other ? cost : other) / tl_cost_iteration(&system, kind);
            if (limit + 50 < limited.max_iterations) limited.max_iterations = 50 + (int32_t)limit;
        }
        TL_TRY(solve_as(s, kind, &limited, report, err));
        tl_experience_add(&s->experience, report->used, rows, report->iterations, decades_of(report));
        s->current = kind;
        iterations += report->iterations;
        if (first_residual < 0) first_residual = report->first_residual;
        report->iterations = iterations;
        report->first_residual = first_residual;
        if (report->converged || !more || iterations >= q->max_iterations) return TL_OK;
    }
}

// What the first solve of a series may leave is enough for the others.
static void note_series(tl_solver *s, request *q)
{
    double sum = 0;
    for (int32_t i = 0; i < s->matrix->row_count; i++) sum += tl_dot3(q->b[i], q->b[i]);
    q->scale = sqrt(sum);
    q->least = s->series.left, q->least_swept = s->series.left_swept;
    if (!(s->series.left > 0)) s->series.left = s->series.part * q->tolerance * q->scale;
}

tl_status tl_solver_solve(tl_solver *s, double tolerance, const tl_vec3 *b, tl_vec3 *x, tl_arena *arena,
                          tl_workers *workers, tl_solve_report *report, tl_error *err)
{
    tl_solve_report unused;
    if (!report) report = &unused;
    *report = (tl_solve_report){.used = s->def.kind};
    if (!s->matrix) return tl_fail(err, TL_BAD_ARG, "solver: no pattern was told");
    if (!(tolerance >= 0)) return tl_fail(err, TL_BAD_ARG, "solver: tolerance %g, must not be negative", tolerance);
    request q = {tolerance, b, x, arena, workers, s->most};
    if (s->series.part > 0) note_series(s, &q);
    const tl_status status =
        s->def.kind == TL_SOLVER_AUTO ? solve_auto(s, &q, report, err) : solve_as(s, s->def.kind, &q, report, err);
    s->solves++;
    return status;
}

void tl_solver_series(tl_solver *s, double part) { s->series.part = part, s->series.left = s->series.left_swept = 0; }

void tl_solver_limit(tl_solver *s, int32_t iterations)
{
    s->most = iterations < s->def.max_iterations ? iterations : s->def.max_iterations;
}

void tl_solver_restart(tl_solver *s)
{
    drop_levels(s);
    s->factor_version =
        0;  // the analysis of the pattern stays, but where it depends on what was beside the matrix before
    if (s->whole) solver_drop_factor(s);
    s->factor_age = s->levels_age = (tl_aging){0};
}
