// tests/bench/bench_solver.c: linear solvers on cloth matrices: parts, then whole series of slowly changing
// matrices.
//
//   bench_solver [threads [most rows [least rows]]]        default: 1 and 2 threads, 1k to 100k rows
//
// Looks inside the library (src/ on the include path). Times are the best of a few for the parts and the mean
// for the series; with one thread they are processor time, which other work on the machine disturbs less.
// Compare within one run only.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/timer.h"
#include "math/bsr.h"
#include "math/cholesky.h"
#include "math/multilevel.h"
#include "math/pcg.h"
#include "unit/cloth_matrix.h"

static const tl_solver_kind KINDS[] = {TL_SOLVER_PCG, TL_SOLVER_MULTILEVEL, TL_SOLVER_STALE, TL_SOLVER_DIRECT,
                                       TL_SOLVER_AUTO};
static const int SIDES[] = {32, 71, 182, 317};  // 1k, 5k, 33k, 100k nodes
enum { KIND_COUNT = sizeof KINDS / sizeof *KINDS, SIDE_COUNT = sizeof SIDES / sizeof *SIDES, DIRECT_MAX = 40000 };

static double now(const tl_workers *w)
{
    if (tl_workers_count(w) > 1) return tl_now();
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void stop(const tl_error *err)
{
    fprintf(stderr, "bench_solver: %s\n", err->message);
    exit(1);
}

static void keep_least(double *least, double value)
{
    if (value < *least) *least = value;
}

static void bench_parts(const cloth_case *c, tl_workers *w)
{
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    tl_vec3 *x = TL_CALLOC(&alloc, tl_vec3, c->n);
    double product = 1e9, factor = 1e9, solve = 1e9, renew = 1e9, shallow = 1e9, apply = 1e9;
    for (int k = 0; k < 7; k++) {
        const double t = now(w);
        tl_bsr_multiply(c->m, w, c->b, x);
        keep_least(&product, now(w) - t);
    }
    printf("  product %.3f ms, matrix %.0f B/row, %.1f blocks/row\n", 1e3 * product, (double)tl_bsr_memory(c->m) / c->n,
           2.0 * c->m->block_count / c->n - 1);
    for (int single = 0; single < 2 && c->n < DIRECT_MAX; single++) {
        tl_cholesky *ch;
        const double t0 = now(w);
        if (tl_cholesky_create(&alloc, c->m, single, &ch, &err)) stop(&err);
        const double analysis = now(w) - t0;
        factor = solve = 1e9;
        for (int k = 0; k < 4; k++) {
            const double t1 = now(w);
            if (tl_cholesky_factor(ch, c->m, w, &err)) stop(&err);
            const double t2 = now(w);
            tl_cholesky_solve(ch, w, c->b, x);
            keep_least(&factor, t2 - t1);
            keep_least(&solve, now(w) - t2);
        }
        const tl_cholesky_info info = tl_cholesky_describe(ch);
        printf("  cholesky %s: analysis %.1f, factor %.1f (%.2f Gflop, %.1f Gflop/s), solve %.2f ms; %.0f "
               "B/row\n",
               single ? "float " : "double", 1e3 * analysis, 1e3 * factor, 1e-9 * info.flops,
               1e-9 * info.flops / factor, 1e3 * solve, (double)info.memory / c->n);
        tl_cholesky_destroy(ch);
    }
    tl_multilevel *ml;
    const double t0 = now(w);
    if (tl_multilevel_create(&alloc, c->m, TL_AGGREGATES_SMOOTH, c->fixed, c->pos, w, &ml, &err)) stop(&err);
    const double make = now(w) - t0;
    for (int k = 0; k < 4; k++) {
        const double t1 = now(w);
        if (tl_multilevel_update(ml, c->fixed, c->pos, true, w, &err)) stop(&err);
        const double t2 = now(w);
        if (tl_multilevel_update(ml, c->fixed, c->pos, false, w, &err)) stop(&err);
        const double t3 = now(w);
        tl_multilevel_apply(ml, w, c->b, x);
        keep_least(&renew, t2 - t1), keep_least(&shallow, t3 - t2), keep_least(&apply, now(w) - t3);
    }
    printf("  multilevel: make %.1f, renew %.1f, smoother %.1f, cycle %.2f ms (%.1f products); %.0f B/row, "
           "%d levels\n",
           1e3 * make, 1e3 * renew, 1e3 * shallow, 1e3 * apply, apply / product,
           (double)tl_multilevel_memory(ml) / c->n, tl_multilevel_levels(ml));
    tl_multilevel_destroy(ml);
    TL_FREE(&alloc, x, c->n);
}

// A series of solves on a sheet that moves a little between them; the time of assembling is not counted.
static void bench_series(cloth_case *c, const cloth_def *d, tl_solver_kind kind, double tolerance, tl_workers *w)
{
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    tl_solver_def def = tl_solver_def_default();
    def.kind = kind;
    def.max_iterations = 10000;
    tl_solver *s;
    tl_arena arena;
    tl_arena_init(&arena, alloc);
    cloth_shape(c, d, 0);
    cloth_values(c, d);
    if (tl_solver_create(&alloc, &def, &s, &err) || tl_solver_pattern(s, c->m, c->pos, &err)) stop(&err);
    tl_vec3 *x = TL_CALLOC(&alloc, tl_vec3, c->n);
    const int steps = kind == TL_SOLVER_PCG && c->n > 20000 ? 2 : 10;
    double first = 0, rest = 0;
    int64_t iterations = 0;
    int32_t factors = 0;
    bool converged = true;
    tl_solver_kind used = kind;
    for (int step = 0; step < steps; step++) {
        cloth_shape(c, d, 0.01 * step);  // millimetres a step
        cloth_values(c, d);
        memset(x, 0, (size_t)c->n * sizeof *x);
        tl_solve_report report;
        const double t = now(w);
        tl_solver_values(s, c->fixed, c->pos);
        if (tl_solver_solve(s, tolerance, c->b, x, &arena, w, &report, &err)) stop(&err);
        *(step ? &rest : &first) += now(w) - t;
        iterations += report.iterations, factors += report.factorizations;
        converged &= report.converged, used = report.used;
        tl_arena_reset(&arena);
    }
    printf("  %-10s %6.0e | first %8.1f ms, then %8.1f ms | %7.1f iterations, %2d factors | %6.0f B/row%s%s%s\n",
           tl_solver_kind_name(kind), tolerance, 1e3 * first, 1e3 * rest / (steps - 1), (double)iterations / steps,
           factors, (double)(tl_solver_memory(s) + arena.high_water) / c->n, converged ? "" : " NOT CONVERGED",
           used != kind ? " with " : "", used != kind ? tl_solver_kind_name(used) : "");
    fflush(stdout);
    TL_FREE(&alloc, x, c->n);
    tl_solver_destroy(s);
    tl_arena_free(&arena);
}

int main(int argc, char **argv)
{
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    const int threads_begin = argc > 1 ? atoi(argv[1]) : 1, threads_end = argc > 1 ? threads_begin : 2;
    const int most = argc > 2 ? atoi(argv[2]) : 101000, least = argc > 3 ? atoi(argv[3]) : 0;
    for (int k = 0; k < SIDE_COUNT; k++) {
        for (int fast = 0; fast < 2; fast++) {
            cloth_def d = cloth_def_default(SIDES[k], SIDES[k]);
            if (d.nx * d.ny > most || d.nx * d.ny < least) continue;
            d.dt = fast ? 1.0 / 250 : 1.0 / 60;
            cloth_case c;
            if (cloth_case_make(&alloc, &d, &c, &err)) stop(&err);
            for (int threads = threads_begin; threads <= threads_end; threads++) {
                tl_workers *w;
                if (tl_workers_create(&alloc, threads, &w, &err)) stop(&err);
                printf("%d rows, dt 1/%d s, %d thread%s\n", c.n, fast ? 250 : 60, threads, threads > 1 ? "s" : "");
                if (!fast) bench_parts(&c, w);
                for (int i = 0; i < KIND_COUNT; i++)
                    for (int fine = 0; fine < 2; fine++) {
                        if (fine && c.n >= DIRECT_MAX && KINDS[i] == TL_SOLVER_PCG) continue;  // minutes
                        if (c.n >= DIRECT_MAX && (KINDS[i] == TL_SOLVER_DIRECT || KINDS[i] == TL_SOLVER_STALE))
                            continue;
                        bench_series(&c, &d, KINDS[i], fine ? 1e-6 : 1e-3, w);
                    }
                tl_workers_destroy(w);
            }
            cloth_case_free(&c);
        }
    }
    return 0;
}
