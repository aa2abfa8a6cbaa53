// math/solver_cost.c: the cost model behind the automatic choice, calibrated by tests/bench/bench_solver.c.

#include "math/solver_cost.h"

#include "math/elementary.h"

#include <math.h>

// Measured on one core, gcc 12, AVX-512 (docs/solvers.md); ns.
static const double BLOCK_CACHED = 3.5, BLOCK_FAR = 8;        // product, per stored block: in cache, from memory
static const double CACHE_BLOCKS = 2e5;                       // about where the matrix leaves the cache
static const double ROW_VECTORS = 12;                         // vector work of an iteration, per row
static const double SWEPT_PRODUCTS = 1.5;                     // an iteration by sweeps, in such products
static const double CYCLE_PRODUCTS = 3.6;                     // one multilevel cycle, likewise
static const double LEVELS_RENEW = 2500, LEVELS_MAKE = 4000;  // coarse levels, per row
// The same of plain aggregates, which blocks beside the matrix get; new ones for most solves.
static const double PLAIN_CYCLE_PRODUCTS = 2.4, PLAIN_RENEW = 2800;
static const double FLOP = 0.043, ENTRY = 0.8;  // factor; both sweeps of a solve with a float factor
static const double ANALYSE = 5500;             // per row, mostly METIS
// Factor of a sheet before it has been analysed: flops 1474 n^1.59, numbers 118 log2(n) - 604 per row (fitted
// from 1k and 10k rows of 18 blocks).
static const double FLOPS_SCALE = 1474, FLOPS_POWER = 1.59, ENTRIES_SLOPE = 118, ENTRIES_SHIFT = 604;
// A float factor and its working space take 5 to 10 kB a row from 1k to 10k rows. The budget of the whole
// program is 3 kB a node for large scenes, 1.2 kB of it here: small ones may go over it, large ones may not.
static const int32_t FACTOR_MAX_ROWS = 10000;
static const double FACTOR_MAX_BYTES = 1200;

static const double FORGET = 0.02;  // per solve

void tl_aging_renewed(tl_aging *a, double cost) { *a = (tl_aging){.renewal = cost}; }

void tl_aging_used(tl_aging *a, double cost)
{
    a->spent += cost;
    a->last = cost;
    a->solves++;
}

bool tl_aging_renew(const tl_aging *a) { return a->solves > 0 && a->last > (a->renewal + a->spent) / a->solves; }

tl_experience tl_experience_default(void)
{
    tl_experience e = {.solves_per_pattern = 4};
    e.rate[TL_SOLVER_PCG] = 0.25, e.rate[TL_SOLVER_MULTILEVEL] = 4, e.rate[TL_SOLVER_STALE] = 1.5;
    e.reuse[TL_SOLVER_PCG] = 1, e.reuse[TL_SOLVER_MULTILEVEL] = 4, e.reuse[TL_SOLVER_STALE] = 3;
    return e;
}

void tl_experience_add(tl_experience *e, tl_solver_kind kind, int32_t rows, double iterations, double decades)
{
    double rate = iterations / (decades > 0.3 ? decades : 0.3);
    if (kind == TL_SOLVER_PCG) rate /= sqrt((double)rows > 1 ? (double)rows : 1);
    // a solve that goes on from an answer says little of one from nothing
    e->rate[kind] += 0.5 * (decades < 1 ? decades : 1) * (rate - e->rate[kind]);
    // What was seen of the others is forgotten by and by: contact comes and goes, and a kind that was poor may serve
    // again.
    const tl_experience fresh = tl_experience_default();
    for (int k = 0; k < (int)(sizeof e->rate / sizeof e->rate[0]); k++)
        if (k != (int)kind) e->rate[k] += FORGET * (fresh.rate[k] - e->rate[k]);
}

static double product_cost(const tl_system *s)
{
    return s->blocks * (s->blocks < CACHE_BLOCKS ? BLOCK_CACHED : BLOCK_FAR) + s->rows * ROW_VECTORS;
}

static double factor_flops(const tl_system *s)
{
    return s->factor_flops > 0 ? s->factor_flops : FLOPS_SCALE * tl_exp2(FLOPS_POWER * tl_log2(s->rows));
}

static double factor_entries(const tl_system *s)
{
    if (s->factor_entries > 0) return s->factor_entries;
    const double per_row = ENTRIES_SLOPE * tl_log2((double)s->rows + 2) - ENTRIES_SHIFT;
    return s->rows * (per_row > 50 ? per_row : 50);
}

double tl_cost_iteration(const tl_system *s, tl_solver_kind kind)
{
    const double product = product_cost(s);
    switch (kind) {
    case TL_SOLVER_MULTILEVEL: return (1 + (s->beside ? PLAIN_CYCLE_PRODUCTS : CYCLE_PRODUCTS)) * product;
    case TL_SOLVER_STALE: return product + ENTRY * factor_entries(s);
    case TL_SOLVER_DIRECT: return product + 2 * ENTRY * factor_entries(s);
    default: return SWEPT_PRODUCTS * product;
    }
}

double tl_cost_renewal(const tl_system *s, tl_solver_kind kind)
{
    switch (kind) {
    case TL_SOLVER_MULTILEVEL: return (s->beside ? PLAIN_RENEW : LEVELS_RENEW) * s->rows;
    case TL_SOLVER_STALE:
    case TL_SOLVER_DIRECT: return FLOP * factor_flops(s);
    default: return 0;
    }
}

double tl_cost_making(const tl_system *s, tl_solver_kind kind)
{
    return kind == TL_SOLVER_MULTILEVEL && !s->beside ? LEVELS_MAKE * s->rows : tl_cost_renewal(s, kind);
}

static double setup_cost(const tl_system *s, tl_solver_kind kind)
{
    if (kind == TL_SOLVER_MULTILEVEL) return s->levels_made || s->beside ? 0 : tl_cost_making(s, kind);
    if (kind == TL_SOLVER_STALE || kind == TL_SOLVER_DIRECT) return s->analysed ? 0 : ANALYSE * s->rows;
    return 0;
}

double tl_cost_solve(const tl_system *s, const tl_experience *e, tl_solver_kind kind, double decades)
{
    const double rate = e->rate[kind] * (kind == TL_SOLVER_PCG ? sqrt((double)s->rows) : 1);
    const double reuse = e->reuse[kind] > 1 && !(s->beside && kind == TL_SOLVER_MULTILEVEL) ? e->reuse[kind] : 1;
    return (1 + rate * decades) * tl_cost_iteration(s, kind) + tl_cost_renewal(s, kind) / reuse +
           setup_cost(s, kind) / s->solves_ahead;
}

bool tl_cost_allowed(const tl_system *s, tl_solver_kind kind)
{
    if (kind != TL_SOLVER_STALE && kind != TL_SOLVER_DIRECT) return true;
    if (s->beside) return false;  // which a factor does not see
    return s->rows <= FACTOR_MAX_ROWS || sizeof(float) * factor_entries(s) < FACTOR_MAX_BYTES * s->rows;
}
