// tests/unit/test_solver.c: every solver against a dense Cholesky, on cloth-like matrices and on odd ones.

#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "ledger.h"
#include "math/bsr.h"
#include "math/bsr_row.h"
#include "math/cholesky.h"
#include "math/multilevel.h"
#include "math/order.h"
#include "math/pcg.h"
#include "math/solver_cost.h"
#include "unit/cloth_matrix.h"

#ifdef TL_HAVE_CHOLMOD
#include <cholmod.h>
#endif

static const tl_solver_kind KINDS[] = {TL_SOLVER_AUTO, TL_SOLVER_PCG, TL_SOLVER_MULTILEVEL, TL_SOLVER_DIRECT,
                                       TL_SOLVER_STALE};
enum { KIND_COUNT = sizeof KINDS / sizeof *KINDS };

// One solve from a fresh solver, in one call.
static tl_status solve_once(const tl_allocator *alloc, tl_solver_kind kind, const tl_bsr *m, const uint8_t *fixed,
                            const tl_vec3 *pos, double tolerance, const tl_vec3 *b, tl_vec3 *x, tl_workers *workers,
                            tl_solve_report *report, tl_error *err)
{
    tl_solver_def def = tl_solver_def_default();
    def.kind = kind;
    tl_solver *s;
    tl_status status = tl_solver_create(alloc, &def, &s, err);
    if (status != TL_OK) return status;
    tl_arena arena;
    tl_arena_init(&arena, *alloc);
    status = tl_solver_pattern(s, m, pos, err);
    if (status == TL_OK) {
        tl_solver_values(s, fixed, pos);
        status = tl_solver_solve(s, tolerance, b, x, &arena, workers, report, err);
    }
    tl_arena_free(&arena);
    tl_solver_destroy(s);
    return status;
}

// The oracle: dense Cholesky, n scalars. False if not positive definite.
static bool dense_solve(const tl_bsr *m, const tl_vec3 *b, tl_vec3 *x)
{
    const int32_t n = 3 * m->row_count;
    double *a = calloc((size_t)n * (size_t)n + 1, sizeof *a), *y = (double *)x, room[9];
    for (int32_t i = 0; i < m->row_count; i++)
        for (int32_t k = m->row_start[i]; k < m->row_start[i + 1]; k++)
            for (int32_t r = 0; r < 3; r++)
                for (int32_t c = 0; c < 3; c++)
                    a[(3 * m->col[k] + c) * n + 3 * i + r] = tl_bsr_block(m, i, k, room)[3 * r + c];
    bool good = true;
    for (int32_t j = 0; j < n; j++) {
        for (int32_t i = j; i < n; i++) {
            double s = a[i * n + j];
            for (int32_t k = 0; k < j; k++) s -= a[i * n + k] * a[j * n + k];
            if (i == j) good &= s > 0;
            a[i * n + j] = i == j ? sqrt(s) : s / a[j * n + j];
        }
    }
    memcpy(y, b, (size_t)n * sizeof *y);
    for (int32_t i = 0; i < n; i++) {
        for (int32_t k = 0; k < i; k++) y[i] -= a[i * n + k] * y[k];
        y[i] /= a[i * n + i];
    }
    for (int32_t i = n - 1; i >= 0; i--) {
        for (int32_t k = i + 1; k < n; k++) y[i] -= a[k * n + i] * y[k];
        y[i] /= a[i * n + i];
    }
    free(a);
    return good;
}

static double distance(const tl_vec3 *a, const tl_vec3 *b, int32_t n)
{
    double d = 0, size = 1e-300;
    for (int32_t i = 0; i < n; i++) {
        const tl_vec3 e = tl_sub3(a[i], b[i]);
        d += tl_dot3(e, e);
        size += tl_dot3(b[i], b[i]);
    }
    return sqrt(d / size);
}

// On the values as they are, then on the same rounded to single; `m` stays so.
static void all_kinds_agree_with_dense(tl_bsr *m, const uint8_t *fixed, const tl_vec3 *pos, const tl_vec3 *b)
{
    const tl_allocator alloc = tl_allocator_default();
    const int32_t n = m->row_count;
    tl_error err;
    tl_vec3 *want = TL_CALLOC(&alloc, tl_vec3, n), *x = TL_CALLOC(&alloc, tl_vec3, n);
    for (int k = 0; k < 2 * KIND_COUNT; k++) {
        const tl_solver_kind kind = KINDS[k % KIND_COUNT];
        if (k == KIND_COUNT) assert_ok(tl_bsr_to_single(&alloc, m, &err));
        if (k % KIND_COUNT == 0) assert_true(dense_solve(m, b, want));
        for (int32_t i = 0; i < n; i++) x[i] = (tl_vec3){0.01 * (i % 3), 0, -0.01};  // a guess that is not zero
        tl_solve_report report;
        assert_ok(solve_once(&alloc, kind, m, fixed, pos, 1e-11, b, x, NULL, &report, &err));
        assert_true(report.converged);
        assert_true(report.residual <= 1e-11);
        if (kind != TL_SOLVER_AUTO) assert_int_equal(report.used, kind);
        if (kind == TL_SOLVER_DIRECT) assert_int_equal(report.factorizations, 1);
        assert_near(distance(x, want, n), 0, 1e-6);  // tolerance times condition
    }
    TL_FREE(&alloc, want, n);
    TL_FREE(&alloc, x, n);
}

static void cloth_agrees_with_dense(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    cloth_def defs[4];
    for (int k = 0; k < 4; k++) defs[k] = cloth_def_default(13, 11);
    defs[1].dt = 1.0 / 250, defs[1].bend = 1e-4;
    defs[2].wave = 0, defs[2].stretch = 1, defs[2].pinned = false;
    defs[3].shuffled = true, defs[3].weft = 100;
    for (int k = 0; k < 4; k++) {
        cloth_case c;
        assert_ok(cloth_case_make(&alloc, &defs[k], &c, &err));
        for (int32_t i = 0; k == 3 && i < c.n; i += 5) c.fixed[i] = 1;
        cloth_values(&c, &defs[k]);
        all_kinds_agree_with_dense(c.m, c.fixed, c.pos, c.b);
        cloth_case_free(&c);
    }
}

// Rows 0..n-1 in the given groups, diagonally dominant random values.
static tl_bsr *odd_matrix(const tl_allocator *alloc, int32_t n, int32_t groups, const int32_t *start,
                          const int32_t *items)
{
    tl_error err;
    tl_bsr *m;
    assert_ok(tl_bsr_create(alloc, n, groups, start, items, &m, &err));
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = m->row_start[i]; k < m->row_start[i + 1]; k++)
            for (int e = 0; e < 9; e++) {
                const bool diagonal = m->col[k] == i;
                const int r = e / 3, c = e % 3, id = diagonal && r > c ? 3 * c + r : e;
                m->value[k][e] = tl_random(9, (uint64_t)k, (uint64_t)id) - 0.5 + (diagonal && r == c ? 60.0 : 0);
            }
    return m;
}

static void odd_systems_agree_with_dense(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    tl_vec3 pos[40], b[40];
    for (int32_t i = 0; i < 40; i++)
        pos[i] = (tl_vec3){i, i % 7, i % 3}, b[i] = (tl_vec3){1 + i, -i, tl_random(1, 0, (uint64_t)i)};
    const int32_t start[] = {0, 4, 8, 12}, items[] = {0, 1, 2, 3, 3, 4, 5, 6, 20, 21, 22, 39};
    const int32_t cases[][2] = {{0, 0}, {1, 0}, {2, 0}, {40, 0}, {7, 2}, {40, 3}};  // rows, groups
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        tl_bsr *m = odd_matrix(&alloc, cases[k][0], cases[k][1], start, items);
        all_kinds_agree_with_dense(m, NULL, pos, b);
        tl_bsr_destroy(&alloc, m);
    }
}

// Two sheets and loose nodes in one matrix, large enough for levels.
static void disconnected_pieces_are_solved(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    const cloth_def d = cloth_def_default(25, 20);
    cloth_case c;
    assert_ok(cloth_case_make(&alloc, &d, &c, &err));
    const int32_t n = 2 * c.n + 300;
    int32_t *start = TL_ALLOC(&alloc, int32_t, 2 * c.tri_count + 1),
            *items = TL_ALLOC(&alloc, int32_t, 12 * c.tri_count);
    int32_t at = 0, g = 0;
    for (int32_t copy = 0; copy < 2; copy++)
        for (int32_t t = 0; t < c.tri_count; t++) {
            start[g++] = at;
            for (int32_t k = c.start[t]; k < c.start[t + 1]; k++) items[at++] = c.items[k] + copy * c.n;
        }
    start[g] = at;
    tl_bsr *m;
    assert_ok(tl_bsr_create(&alloc, n, g, start, items, &m, &err));
    tl_vec3 *b = TL_CALLOC(&alloc, tl_vec3, n), *x = TL_CALLOC(&alloc, tl_vec3, n),
            *pos = TL_CALLOC(&alloc, tl_vec3, n);
    for (int32_t i = 0; i < n; i++) {
        const int32_t own = i % c.n;
        b[i] = c.b[own], pos[i] = c.pos[own];
        if (i >= 2 * c.n) {
            for (int e = 0; e < 9; e += 4) m->value[m->row_start[i]][e] = 2;
            continue;
        }
        for (int32_t k = m->row_start[i]; k < m->row_start[i + 1]; k++)
            memcpy(m->value[k], c.m->value[tl_bsr_find(c.m, own, m->col[k] % c.n)], sizeof *m->value);
    }
    for (int k = 0; k < KIND_COUNT; k++) {
        memset(x, 0, (size_t)n * sizeof *x);
        tl_solve_report report;
        assert_ok(solve_once(&alloc, KINDS[k], m, NULL, pos, 1e-8, b, x, NULL, &report, &err));
        assert_true(report.converged);
        assert_near(distance(x, x + c.n, c.n), 0, 1e-4);
        assert_near(x[n - 1].y, b[n - 1].y / 2, 1e-8);
    }
    TL_FREE(&alloc, b, n), TL_FREE(&alloc, x, n), TL_FREE(&alloc, pos, n);
    TL_FREE(&alloc, start, 2 * c.tri_count + 1), TL_FREE(&alloc, items, 12 * c.tri_count);
    tl_bsr_destroy(&alloc, m);
    cloth_case_free(&c);
}

static void same_bits_on_any_worker_count(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    const cloth_def d = cloth_def_default(53, 41);
    cloth_case c;
    assert_ok(cloth_case_make(&alloc, &d, &c, &err));
    tl_vec3 *one = TL_ALLOC(&alloc, tl_vec3, c.n), *x = TL_ALLOC(&alloc, tl_vec3, c.n);
    tl_workers *workers[4];
    const int counts[] = {1, 2, 3, 8};
    for (int w = 0; w < 4; w++) assert_ok(tl_workers_create(&alloc, counts[w], &workers[w], &err));
    for (int k = 0; k < 2 * KIND_COUNT; k++) {
        if (k == KIND_COUNT) assert_ok(tl_bsr_to_single(&alloc, c.m, &err));
        for (int w = -1; w < 4; w++) {
            tl_vec3 *to = w < 0 ? one : x;
            memset(to, 0, (size_t)c.n * sizeof *to);
            tl_solve_report report;
            assert_ok(solve_once(&alloc, KINDS[k % KIND_COUNT], c.m, c.fixed, c.pos, 0.1, c.b, to,
                                 w < 0 ? NULL : workers[w], &report, &err));
            if (w >= 0) assert_memory_equal(one, x, (size_t)c.n * sizeof *x);
        }
    }
    for (int w = 0; w < 4; w++) tl_workers_destroy(workers[w]);
    TL_FREE(&alloc, one, c.n), TL_FREE(&alloc, x, c.n);
    cloth_case_free(&c);
}

static void bad_matrices_fail_cleanly(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    const cloth_def d = cloth_def_default(24, 21);
    cloth_case c;
    assert_ok(cloth_case_make(&alloc, &d, &c, &err));
    tl_vec3 *x = TL_ALLOC(&alloc, tl_vec3, c.n), *guess = TL_ALLOC(&alloc, tl_vec3, c.n);
    for (int32_t i = 0; i < c.n; i++) guess[i] = (tl_vec3){0.1, 0.2, 0.3};
    const int32_t diagonal = c.m->row_start[c.n / 2], off = diagonal + 1;
    for (int how = 0; how < 12; how++) {  // from 6 on, the same in single
        const int what = how % 6;
        cloth_case_free(&c);
        assert_ok(cloth_case_make(&alloc, &d, &c, &err));
        double *to = c.m->value[what < 4 ? diagonal : off];
        if (what == 0) to[0] = -to[0];
        if (what == 1) to[4] = (double)NAN;
        if (what == 2) to[8] = 0;
        if (what == 3) to[0] = (double)INFINITY;
        if (what == 4) to[0] = (double)NAN;
        if (what == 5)
            for (int e = 0; e < 9; e++) to[e] *= 1e3;  // indefinite: an entry beats its diagonals
        if (how >= 6) assert_ok(tl_bsr_to_single(&alloc, c.m, &err));
        for (int k = 0; k < KIND_COUNT; k++) {
            memcpy(x, guess, (size_t)c.n * sizeof *x);
            tl_solve_report report;
            err.message[0] = 0;
            const tl_status status =
                solve_once(&alloc, KINDS[k], c.m, c.fixed, c.pos, 1e-8, c.b, x, NULL, &report, &err);
            assert_false(report.converged);
            assert_int_equal(status, TL_FAILED);
            assert_true(err.message[0]);
            assert_memory_equal(x, guess, (size_t)c.n * sizeof *x);
        }
    }
    cloth_case_free(&c);
    assert_ok(cloth_case_make(&alloc, &d, &c, &err));
    c.b[3].x = (double)NAN;
    for (int k = 0; k < KIND_COUNT; k++) {
        tl_solve_report report;
        memcpy(x, guess, (size_t)c.n * sizeof *x);
        assert_int_equal(solve_once(&alloc, KINDS[k], c.m, c.fixed, c.pos, 1e-8, c.b, x, NULL, &report, &err),
                         TL_FAILED);
    }
    TL_FREE(&alloc, x, c.n), TL_FREE(&alloc, guess, c.n);
    cloth_case_free(&c);
}

// A solve that is cut short goes down all the same: b x > x A x / 2 > 0 from nothing.
static void limited_solves_go_down(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    const cloth_def d = cloth_def_default(24, 21);
    cloth_case c;
    assert_ok(cloth_case_make(&alloc, &d, &c, &err));
    tl_vec3 *x = TL_ALLOC(&alloc, tl_vec3, c.n), *ax = TL_ALLOC(&alloc, tl_vec3, c.n);
    double partial[64];
    assert_true(tl_vec_partials(c.n) <= 64);
    tl_arena arena;
    tl_arena_init(&arena, alloc);
    const tl_solver_kind kinds[] = {TL_SOLVER_AUTO, TL_SOLVER_PCG, TL_SOLVER_MULTILEVEL};
    for (int k = 0; k < 3; k++) {
        tl_solver_def def = tl_solver_def_default();
        def.kind = kinds[k];
        tl_solver *s;
        assert_ok(tl_solver_create(&alloc, &def, &s, &err));
        assert_ok(tl_solver_pattern(s, c.m, c.pos, &err));
        tl_solver_values(s, c.fixed, c.pos);
        for (int32_t most = 1; most <= 3; most++) {
            tl_solve_report report;
            tl_solver_limit(s, most);
            memset(x, 0, (size_t)c.n * sizeof *x);
            assert_ok(tl_solver_solve(s, 1e-12, c.b, x, &arena, NULL, &report, &err));
            assert_false(report.converged);
            assert_int_equal(report.iterations, most);
            tl_bsr_multiply(c.m, NULL, x, ax);
            const double xax = tl_vec_dot(NULL, c.n, x, ax, partial), bx = tl_vec_dot(NULL, c.n, c.b, x, partial);
            assert_true(xax > 0 && bx > 0.5 * xax);
        }
        tl_solve_report report;
        tl_solver_limit(s, INT32_MAX);  // as the definition says
        assert_ok(tl_solver_solve(s, 1e-8, c.b, x, &arena, NULL, &report, &err));
        assert_true(report.converged && report.iterations > 3);
        tl_solver_destroy(s);
    }
    tl_arena_free(&arena);
    TL_FREE(&alloc, x, c.n), TL_FREE(&alloc, ax, c.n);
    cloth_case_free(&c);
}

static void zero_right_side_gives_zero(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    const cloth_def d = cloth_def_default(6, 5);
    cloth_case c;
    assert_ok(cloth_case_make(&alloc, &d, &c, &err));
    memset(c.b, 0, (size_t)c.n * sizeof *c.b);
    for (int k = 0; k < KIND_COUNT; k++) {
        tl_vec3 x[30];
        for (int i = 0; i < 30; i++) x[i] = (tl_vec3){1, 2, 3};
        tl_solve_report report;
        assert_ok(solve_once(&alloc, KINDS[k], c.m, c.fixed, c.pos, 1e-8, c.b, x, NULL, &report, &err));
        assert_true(report.converged);
        for (int i = 0; i < 30; i++) assert_true(x[i].x == 0 && x[i].y == 0 && x[i].z == 0);
    }
    cloth_case_free(&c);
}

static void warm_solves_do_not_allocate(void **state)
{
    (void)state;
    const tl_allocator plain = tl_allocator_default();
    tl_error err;
    const cloth_def d = cloth_def_default(30, 28);
    cloth_case c;
    assert_ok(cloth_case_make(&plain, &d, &c, &err));
    tl_vec3 *x = TL_CALLOC(&plain, tl_vec3, c.n);
    for (int k = 1; k < KIND_COUNT; k++) {
        books b = {0};
        const tl_allocator alloc = books_allocator(&b);
        tl_solver_def def = tl_solver_def_default();
        def.kind = KINDS[k];
        tl_solver *s;
        assert_ok(tl_solver_create(&alloc, &def, &s, &err));
        assert_ok(tl_solver_pattern(s, c.m, c.pos, &err));
        tl_arena arena;
        tl_arena_init(&arena, alloc);
        int64_t before = 0;
        for (int step = 0; step < 6; step++) {
            if (step == 2) before = b.requests;
            cloth_shape(&c, &d, 0.3 * step);
            cloth_values(&c, &d);
            tl_solver_values(s, c.fixed, c.pos);
            memset(x, 0, (size_t)c.n * sizeof *x);
            tl_solve_report report;
            assert_ok(tl_solver_solve(s, 1e-6, c.b, x, &arena, NULL, &report, &err));
            assert_true(report.converged);
            tl_arena_reset(&arena);
        }
        assert_int_equal(b.requests, before);
        assert_true(tl_solver_memory(s) > 0);
        tl_solver_destroy(s);
        tl_arena_free(&arena);
        assert_int_equal(b.blocks, 0);
    }
    TL_FREE(&plain, x, c.n);
    cloth_case_free(&c);
}

static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    const tl_allocator plain = tl_allocator_default();
    tl_error err;
    const cloth_def d = cloth_def_default(29, 28);
    cloth_case c;
    assert_ok(cloth_case_make(&plain, &d, &c, &err));
    tl_vec3 *x = TL_ALLOC(&plain, tl_vec3, c.n);
    for (int k = 0; k < KIND_COUNT; k++) {
        for (int64_t n = 1;; n++) {
            books b = {.fail_at = n};
            const tl_allocator alloc = books_allocator(&b);
            memset(x, 0, (size_t)c.n * sizeof *x);
            tl_solve_report report;
            const tl_status status =
                solve_once(&alloc, KINDS[k], c.m, c.fixed, c.pos, 1e-2, c.b, x, NULL, &report, &err);
            assert_int_equal(b.blocks, 0);
            if (status == TL_OK) break;
            assert_int_equal(status, TL_NO_MEMORY);
            assert_true(n < 500);
        }
    }
    TL_FREE(&plain, x, c.n);
    cloth_case_free(&c);
}

static void multilevel_iterations_hardly_grow(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    int32_t iterations[3];
    const int32_t side[3] = {30, 60, 120};
    for (int k = 0; k < 3; k++) {
        const cloth_def d = cloth_def_default(side[k], side[k]);
        cloth_case c;
        assert_ok(cloth_case_make(&alloc, &d, &c, &err));
        tl_vec3 *x = TL_CALLOC(&alloc, tl_vec3, c.n);
        tl_solve_report report;
        assert_ok(solve_once(&alloc, TL_SOLVER_MULTILEVEL, c.m, c.fixed, c.pos, 1e-6, c.b, x, NULL, &report, &err));
        assert_true(report.converged);
        iterations[k] = report.iterations;
        TL_FREE(&alloc, x, c.n);
        cloth_case_free(&c);
    }
    // measured 18, 29, 33; block Jacobi doubles at each step, to 1700
    assert_true(iterations[2] <= 45);
    assert_true(iterations[2] <= iterations[1] + 10);
}

static void multilevel_memory_is_bounded(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    const cloth_def d = cloth_def_default(100, 100);
    cloth_case c;
    assert_ok(cloth_case_make(&alloc, &d, &c, &err));
    tl_multilevel *ml;
    assert_ok(tl_multilevel_create(&alloc, c.m, TL_AGGREGATES_SMOOTH, c.fixed, c.pos, NULL, &ml, &err));
    assert_true((double)tl_multilevel_memory(ml) / c.n < 600);  // bytes a row
    assert_int_equal(tl_multilevel_levels(ml), 4);              // 10,000 rows down to at most 60
    tl_multilevel_destroy(ml);
    cloth_case_free(&c);
}

// Springs between nodes i and n - 1 - i, as if the sheet were folded: on the diagonal of the matrix, and across in
// *blocks.
static tl_bsr *fold(const tl_allocator *alloc, cloth_case *c, double stiff)
{
    tl_error err;
    int32_t *start = TL_ALLOC(alloc, int32_t, c->n / 2 + 1), *items = TL_ALLOC(alloc, int32_t, c->n);
    tl_bsr *blocks;
    start[0] = 0;
    for (int32_t i = 0; i < c->n / 2; i++) items[2 * i] = i, items[2 * i + 1] = c->n - 1 - i, start[i + 1] = 2 * i + 2;
    assert_ok(tl_bsr_create(alloc, c->n, c->n / 2, start, items, &blocks, &err));
    for (int32_t i = 0; i < c->n / 2; i++) {
        const int32_t j = c->n - 1 - i;
        if (c->fixed[i] || c->fixed[j]) continue;
        for (int e = 0; e < 9; e += 4) {
            c->m->value[c->m->row_start[i]][e] += stiff, c->m->value[c->m->row_start[j]][e] += stiff;
            blocks->value[tl_bsr_find(blocks, i, j)][e] = -stiff;
        }
    }
    TL_FREE(alloc, start, c->n / 2 + 1);
    TL_FREE(alloc, items, c->n);
    return blocks;
}

static void blocks_beside_the_matrix_count_and_are_preconditioned(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    const cloth_def d = cloth_def_default(50, 50);
    cloth_case c;
    assert_ok(cloth_case_make(&alloc, &d, &c, &err));
    tl_bsr *blocks = fold(&alloc, &c, 30);
    c.m->extra.blocks = blocks;
    tl_vec3 *x = TL_CALLOC(&alloc, tl_vec3, c.n), *first = TL_ALLOC(&alloc, tl_vec3, c.n),
            *y = TL_ALLOC(&alloc, tl_vec3, c.n);
    int32_t iterations[TL_SOLVER_CHOLMOD] = {0};
    for (int k = TL_SOLVER_PCG; k <= TL_SOLVER_STALE; k++) {
        memset(x, 0, (size_t)c.n * sizeof *x);
        tl_solve_report report;
        assert_ok(solve_once(&alloc, (tl_solver_kind)k, c.m, c.fixed, c.pos, 1e-8, c.b, x, NULL, &report, &err));
        assert_true(report.converged);
        iterations[k] = report.iterations;
        double rest = 0, size = 0;
        tl_bsr_multiply(c.m, NULL, x, y);
        tl_bsr_multiply(blocks, NULL, x, first);
        for (int32_t i = 0; i < c.n; i++) {
            const tl_vec3 r = tl_sub3(c.b[i], tl_add3(y[i], first[i]));
            rest += tl_dot3(r, r), size += tl_dot3(c.b[i], c.b[i]);
        }
        assert_true(sqrt(rest / size) < 1e-7);
        if (k == TL_SOLVER_DIRECT) assert_true(report.iterations <= 1 && report.factorizations == 1);
    }
    print_message("iterations: sweeps %d, multilevel %d\n", iterations[TL_SOLVER_PCG],
                  iterations[TL_SOLVER_MULTILEVEL]);
    assert_true(4 * iterations[TL_SOLVER_MULTILEVEL] < iterations[TL_SOLVER_PCG]);
    // same bits for any number of workers
    for (int threads = 1; threads <= 3; threads++) {
        tl_workers *workers;
        assert_ok(tl_workers_create(&alloc, threads, &workers, &err));
        memset(x, 0, (size_t)c.n * sizeof *x);
        assert_ok(solve_once(&alloc, TL_SOLVER_MULTILEVEL, c.m, c.fixed, c.pos, 1e-8, c.b, x, workers, NULL, &err));
        if (threads == 1) memcpy(first, x, (size_t)c.n * sizeof *x);
        assert_memory_equal(first, x, (size_t)c.n * sizeof *x);
        tl_workers_destroy(workers);
    }
    TL_FREE(&alloc, x, c.n);
    TL_FREE(&alloc, y, c.n);
    TL_FREE(&alloc, first, c.n);
    c.m->extra.blocks = NULL;
    tl_bsr_destroy(&alloc, blocks);
    cloth_case_free(&c);
}

// A factor is made of the matrix and what is beside it, and keeps its analysis while nothing new comes: as many numbers
// as before.
static void factors_know_the_blocks(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    const cloth_def d = cloth_def_default(50, 50);
    cloth_case c;
    assert_ok(cloth_case_make(&alloc, &d, &c, &err));
    tl_bsr *all = fold(&alloc, &c, 30), *none = NULL;
    tl_solver_def def = tl_solver_def_default();
    def.kind = TL_SOLVER_DIRECT;
    tl_solver *s;
    assert_ok(tl_solver_create(&alloc, &def, &s, &err));
    assert_ok(tl_solver_pattern(s, c.m, c.pos, &err));
    tl_arena arena;
    tl_arena_init(&arena, alloc);
    tl_vec3 *x = TL_CALLOC(&alloc, tl_vec3, c.n);
    tl_bsr *beside[] = {none, all, all, none, all};
    size_t memory[5];
    for (int k = 0; k < 5; k++) {
        tl_solve_report report;
        c.m->extra.blocks = beside[k];
        if (k == 2)  // other numbers in the same places
            for (int32_t b = 0; b < all->block_count; b++)
                for (int e = 0; e < 9; e++) all->value[b][e] *= 0.5;
        memset(x, 0, (size_t)c.n * sizeof *x);
        tl_solver_values(s, c.fixed, c.pos);
        assert_ok(tl_solver_solve(s, 1e-10, c.b, x, &arena, NULL, &report, &err));
        assert_true(report.converged && report.iterations <= 1 && report.factorizations == 1);
        memory[k] = tl_solver_memory(s);
    }
    assert_true(memory[1] > memory[0] && memory[2] == memory[1] && memory[3] == memory[0] && memory[4] == memory[1]);
    c.m->extra.blocks = NULL;
    TL_FREE(&alloc, x, c.n);
    tl_arena_free(&arena);
    tl_solver_destroy(s);
    tl_bsr_destroy(&alloc, all);
    cloth_case_free(&c);
}

// The later solves of a series end where the first one may; a new series, or none, begins afresh.
static void series_end_alike(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    const cloth_def d = cloth_def_default(40, 40);
    cloth_case c;
    assert_ok(cloth_case_make(&alloc, &d, &c, &err));
    tl_vec3 *x = TL_ALLOC(&alloc, tl_vec3, c.n), *b = TL_ALLOC(&alloc, tl_vec3, c.n);
    tl_arena arena;
    tl_arena_init(&arena, alloc);
    for (int k = TL_SOLVER_AUTO; k <= TL_SOLVER_STALE; k++) {
        tl_solver_def def = tl_solver_def_default();
        def.kind = (tl_solver_kind)k;
        tl_solver *s;
        assert_ok(tl_solver_create(&alloc, &def, &s, &err));
        assert_ok(tl_solver_pattern(s, c.m, c.pos, &err));
        tl_solver_values(s, c.fixed, c.pos);
        int32_t iterations[4];
        for (int solve = 0; solve < 4; solve++) {
            tl_solve_report report;
            if (solve == 0) tl_solver_series(s, 0.5);
            if (solve == 3) tl_solver_series(s, 0);
            const double size = solve == 1 ? 0.1 : solve == 2 ? 0.001 : 1;  // of the right side
            for (int32_t i = 0; i < c.n; i++) b[i] = tl_mul3(size, c.b[i]), x[i] = (tl_vec3){0, 0, 0};
            assert_ok(tl_solver_solve(s, 0.01, b, x, &arena, NULL, &report, &err));
            assert_true(report.converged);
            if (solve == 1) assert_true(report.residual <= 0.0501);  // half of 0.01 of ten times as much
            if (solve == 2) assert_true(report.residual <= 0.3);
            iterations[solve] = report.iterations;
        }
        assert_true(iterations[1] <= iterations[0] && iterations[3] >= iterations[1]);
        if (k == TL_SOLVER_PCG) assert_true(iterations[1] < iterations[0] && iterations[3] == iterations[0]);
        assert_true(iterations[2] <= iterations[1]);  // and is looked for all the same: to 0.3
        tl_solver_destroy(s);
    }
    TL_FREE(&alloc, x, c.n), TL_FREE(&alloc, b, c.n);
    tl_arena_free(&arena);
    cloth_case_free(&c);
}

// A solve that goes on from an answer is right whether the levels at hand serve or not, with blocks and without.
static void levels_follow_the_blocks(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    const cloth_def d = cloth_def_default(30, 30);
    cloth_case c;
    assert_ok(cloth_case_make(&alloc, &d, &c, &err));
    tl_solver_def def = tl_solver_def_default();
    def.kind = TL_SOLVER_MULTILEVEL;
    tl_solver *s;
    assert_ok(tl_solver_create(&alloc, &def, &s, &err));
    assert_ok(tl_solver_pattern(s, c.m, c.pos, &err));
    tl_arena arena;
    tl_arena_init(&arena, alloc);
    tl_vec3 *x = TL_CALLOC(&alloc, tl_vec3, c.n);
    const double stiff[] = {0, 10, 10.1, 300, 0, 5};
    for (int k = 0; k < 6; k++) {
        cloth_values(&c, &d);
        tl_bsr *blocks = fold(&alloc, &c, stiff[k]);
        c.m->extra.blocks = stiff[k] > 0 ? blocks : NULL;
        tl_solver_values(s, c.fixed, c.pos);
        tl_solve_report report;
        assert_ok(tl_solver_solve(s, 1e-6, c.b, x, &arena, NULL, &report, &err));
        assert_true(report.converged);
        assert_true(report.iterations < 100);
        c.m->extra.blocks = NULL;
        tl_bsr_destroy(&alloc, blocks);
    }
    assert_true(tl_solver_memory(s) > 0);
    TL_FREE(&alloc, x, c.n);
    tl_arena_free(&arena);
    tl_solver_destroy(s);
    cloth_case_free(&c);
}

static void stale_factor_is_renewed_now_and_then(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    const cloth_def d = cloth_def_default(40, 40);
    cloth_case c;
    assert_ok(cloth_case_make(&alloc, &d, &c, &err));
    tl_solver_def def = tl_solver_def_default();
    def.kind = TL_SOLVER_STALE;
    tl_solver *s;
    assert_ok(tl_solver_create(&alloc, &def, &s, &err));
    assert_ok(tl_solver_pattern(s, c.m, c.pos, &err));
    tl_arena arena;
    tl_arena_init(&arena, alloc);
    tl_vec3 *x = TL_CALLOC(&alloc, tl_vec3, c.n);
    int32_t factorizations = 0;
    enum { STEPS = 20 };
    for (int step = 0; step < STEPS; step++) {
        cloth_shape(&c, &d, 0.01 * step);
        cloth_values(&c, &d);
        tl_solver_values(s, c.fixed, c.pos);
        memset(x, 0, (size_t)c.n * sizeof *x);
        tl_solve_report report;
        assert_ok(tl_solver_solve(s, 1e-6, c.b, x, &arena, NULL, &report, &err));
        assert_true(report.converged);
        factorizations += report.factorizations;
    }
    assert_in_range(factorizations, 2, STEPS - 4);
    // a leap: the old factor is useless, the solve still ends well
    cloth_shape(&c, &d, 3);
    cloth_values(&c, &d);
    tl_solver_values(s, c.fixed, c.pos);
    tl_solve_report report;
    assert_ok(tl_solver_solve(s, 1e-6, c.b, x, &arena, NULL, &report, &err));
    assert_true(report.converged);
    TL_FREE(&alloc, x, c.n);
    tl_arena_free(&arena);
    tl_solver_destroy(s);
    cloth_case_free(&c);
}

static void aging_follows_the_replacement_rule(void **state)
{
    (void)state;
    tl_aging a = {0};
    tl_aging_renewed(&a, 10);
    assert_false(tl_aging_renew(&a));
    tl_aging_used(&a, 2);  // average 12
    assert_false(tl_aging_renew(&a));
    tl_aging_used(&a, 4);  // average 8
    tl_aging_used(&a, 6);  // average 22 / 3
    assert_false(tl_aging_renew(&a));
    tl_aging_used(&a, 8);  // average 7.5: the next such solve costs more than that
    assert_true(tl_aging_renew(&a));
}

static void auto_keeps_to_its_rules(void **state)
{
    (void)state;
    tl_experience e = tl_experience_default();
    tl_system large = {.rows = 100000, .blocks = 1000000, .solves_ahead = 4},
              small = {.rows = 2000, .blocks = 19000, .solves_ahead = 4};
    assert_false(tl_cost_allowed(&large, TL_SOLVER_STALE));
    assert_true(tl_cost_allowed(&large, TL_SOLVER_MULTILEVEL));
    assert_true(tl_cost_allowed(&small, TL_SOLVER_STALE));
    assert_true(tl_cost_solve(&large, &e, TL_SOLVER_MULTILEVEL, 3) < 0.5 * tl_cost_solve(&large, &e, TL_SOLVER_PCG, 3));
    for (int k = 0; k < 20; k++)
        tl_experience_add(&e, TL_SOLVER_PCG, 100000, 6, 3);  // a matrix that is nearly its diagonal
    assert_true(tl_cost_solve(&large, &e, TL_SOLVER_PCG, 3) < tl_cost_solve(&large, &e, TL_SOLVER_MULTILEVEL, 3));
}

// With blocks beside the matrix levels are made for every solve: not for one that goes on from an answer and is nearly
// there.
static void auto_goes_on_from_an_answer_by_sweeps(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    const cloth_def d = cloth_def_default(110, 100);
    cloth_case c;
    assert_ok(cloth_case_make(&alloc, &d, &c, &err));
    const tl_solver_def def = tl_solver_def_default();
    tl_solver *s;
    assert_ok(tl_solver_create(&alloc, &def, &s, &err));
    assert_ok(tl_solver_pattern(s, c.m, c.pos, &err));
    tl_arena arena;
    tl_arena_init(&arena, alloc);
    tl_vec3 *x = TL_CALLOC(&alloc, tl_vec3, c.n);
    for (int k = 0; k < 2; k++) {
        cloth_values(&c, &d);
        tl_bsr *blocks = fold(&alloc, &c, 30);
        if (k == 1) c.b[c.n / 2].x *= 1.0001;
        c.m->extra.blocks = blocks;
        tl_solver_values(s, c.fixed, c.pos);
        tl_solve_report report;
        assert_ok(tl_solver_solve(s, 1e-5, c.b, x, &arena, NULL, &report, &err));
        assert_true(report.converged);
        assert_int_equal(report.used, k == 0 ? TL_SOLVER_MULTILEVEL : TL_SOLVER_PCG);
        c.m->extra.blocks = NULL;
        tl_bsr_destroy(&alloc, blocks);
    }
    tl_solver_destroy(s);
    tl_arena_free(&arena);
    TL_FREE(&alloc, x, c.n);
    cloth_case_free(&c);
}

// Before levels are made, sweeps get as many iterations as that costs: enough where steps are so short that the matrix
// is nearly its diagonal, which nobody knew.
static void auto_tries_sweeps_before_levels(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    for (int k = 0; k < 2; k++) {
        cloth_def d = cloth_def_default(200, 190);
        d.dt = k == 0 ? 1.0 / 60 : 1.0 / 5000;
        cloth_case c;
        assert_ok(cloth_case_make(&alloc, &d, &c, &err));
        tl_vec3 *x = TL_CALLOC(&alloc, tl_vec3, c.n);
        tl_solve_report report;
        assert_ok(solve_once(&alloc, TL_SOLVER_AUTO, c.m, c.fixed, c.pos, 1e-2, c.b, x, NULL, &report, &err));
        assert_true(report.converged);
        assert_int_equal(report.factorizations, 0);  // too many rows for a factor
        assert_int_equal(report.used, k == 0 ? TL_SOLVER_MULTILEVEL : TL_SOLVER_PCG);
        TL_FREE(&alloc, x, c.n);
        cloth_case_free(&c);
    }
}

static void orders_are_permutations(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    const cloth_def d = cloth_def_default(23, 19);
    cloth_case c;
    assert_ok(cloth_case_make(&alloc, &d, &c, &err));
    // the sheet, the sheet and loose rows, only loose rows
    tl_bsr *m[3];
    assert_ok(tl_bsr_create(&alloc, c.n, c.tri_count, c.start, c.items, &m[0], &err));
    assert_ok(tl_bsr_create(&alloc, c.n + 50, c.tri_count / 2, c.start, c.items, &m[1], &err));
    assert_ok(tl_bsr_create(&alloc, 100, 0, NULL, NULL, &m[2], &err));
    for (int k = 0; k < 3; k++) {
        const int32_t n = m[k]->row_count;
        int32_t *order = TL_ALLOC(&alloc, int32_t, n), *seen = TL_ALLOC(&alloc, int32_t, n);
        for (int how = 0; how < 2; how++) {
            assert_ok((how ? tl_order_nested : tl_order_levels)(&alloc, m[k], order, &err));
            memset(seen, 0, (size_t)n * sizeof *seen);
            for (int32_t i = 0; i < n; i++) assert_int_equal(seen[order[i]]++, 0);
        }
        TL_FREE(&alloc, order, n), TL_FREE(&alloc, seen, n);
        tl_bsr_destroy(&alloc, m[k]);
    }
    cloth_case_free(&c);
}

static void float_factor_is_a_good_preconditioner(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    const cloth_def d = cloth_def_default(30, 30);
    cloth_case c;
    assert_ok(cloth_case_make(&alloc, &d, &c, &err));
    tl_cholesky *ch[2];
    tl_vec3 *x[2];
    for (int k = 0; k < 2; k++) {
        x[k] = TL_CALLOC(&alloc, tl_vec3, c.n);
        assert_ok(tl_cholesky_create(&alloc, c.m, k == 1, &ch[k], &err));
        assert_ok(tl_cholesky_factor(ch[k], c.m, NULL, &err));
        tl_cholesky_solve(ch[k], NULL, c.b, x[k]);
    }
    assert_true(tl_cholesky_describe(ch[1]).memory < tl_cholesky_describe(ch[0]).memory);
    assert_near(distance(x[1], x[0], c.n), 0, 1e-2);
    for (int k = 0; k < 2; k++) {
        tl_cholesky_destroy(ch[k]);
        TL_FREE(&alloc, x[k], c.n);
    }
    cloth_case_free(&c);
}

static void bad_arguments_are_refused(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    tl_solver *s;
    tl_solver_def def = tl_solver_def_default();
    def.kind = (tl_solver_kind)99;
    assert_int_equal(tl_solver_create(&alloc, &def, &s, &err), TL_BAD_ARG);
    assert_null(s);
    def = tl_solver_def_default();
    def.max_iterations = 0;
    assert_int_equal(tl_solver_create(&alloc, &def, &s, &err), TL_BAD_ARG);
    def = tl_solver_def_default();
    assert_ok(tl_solver_create(&alloc, &def, &s, &err));
    tl_arena arena;
    tl_arena_init(&arena, alloc);
    tl_vec3 x = {0};
    assert_int_equal(tl_solver_solve(s, 1e-3, &x, &x, &arena, NULL, NULL, &err), TL_BAD_ARG);
    tl_solver_destroy(s);
    tl_arena_free(&arena);
    tl_solver_destroy(NULL);
    for (int k = 0; k <= TL_SOLVER_CHOLMOD; k++)
        assert_string_not_equal(tl_solver_kind_name((tl_solver_kind)k), "unknown");
}

// The backend is optional: it is refused with a clear word or gives the right answer.
static void cholmod_is_refused_or_right(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    const cloth_def d = cloth_def_default(9, 8);
    cloth_case c;
    assert_ok(cloth_case_make(&alloc, &d, &c, &err));
    tl_vec3 x[72] = {{0}}, want[72];
    assert_true(dense_solve(c.m, c.b, want));
    tl_solve_report report;
    const tl_status status =
        solve_once(&alloc, TL_SOLVER_CHOLMOD, c.m, c.fixed, c.pos, 1e-9, c.b, x, NULL, &report, &err);
    if (status == TL_OK) {
        assert_true(report.converged);
        assert_near(distance(x, want, c.n), 0, 1e-9);
        c.m->value[0][0] = -1;
        assert_int_equal(solve_once(&alloc, TL_SOLVER_CHOLMOD, c.m, c.fixed, c.pos, 1e-9, c.b, x, NULL, &report, &err),
                         TL_FAILED);
    } else {
        assert_int_equal(status, TL_BAD_ARG);
        assert_non_null(strstr(err.message, "cholmod"));
    }
    cloth_case_free(&c);
}

#ifdef TL_HAVE_CHOLMOD
static void direct_agrees_with_cholmod(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    const cloth_def d = cloth_def_default(40, 30);
    cloth_case c;
    assert_ok(cloth_case_make(&alloc, &d, &c, &err));
    const tl_bsr *m = c.m;
    cholmod_common common;
    cholmod_start(&common);
    common.supernodal = CHOLMOD_SIMPLICIAL;  // the part without OpenMP
    const size_t n = 3 * (size_t)c.n;
    cholmod_triplet *t = cholmod_allocate_triplet(n, n, 9 * (size_t)m->block_count, 1, CHOLMOD_REAL, &common);
    for (int32_t i = 0; i < c.n; i++)
        for (int32_t k = m->row_start[i]; k < m->row_start[i + 1]; k++)
            for (int e = 0; e < 9; e++) {
                const int row = 3 * i + e / 3, col = 3 * m->col[k] + e % 3;
                if (row > col) continue;
                ((int *)t->i)[t->nnz] = row, ((int *)t->j)[t->nnz] = col;
                ((double *)t->x)[t->nnz++] = m->value[k][e];
            }
    cholmod_sparse *a = cholmod_triplet_to_sparse(t, 0, &common);
    cholmod_factor *l = cholmod_analyze(a, &common);
    assert_true(cholmod_factorize(a, l, &common));
    cholmod_dense *b = cholmod_allocate_dense(n, 1, n, CHOLMOD_REAL, &common);
    memcpy(b->x, c.b, n * sizeof(double));
    cholmod_dense *want = cholmod_solve(CHOLMOD_A, l, b, &common);
    tl_vec3 *x = TL_CALLOC(&alloc, tl_vec3, c.n);
    for (int k = 0; k < KIND_COUNT; k++) {
        memset(x, 0, (size_t)c.n * sizeof *x);
        tl_solve_report report;
        assert_ok(solve_once(&alloc, KINDS[k], m, c.fixed, c.pos, 1e-10, c.b, x, NULL, &report, &err));
        assert_near(distance(x, want->x, c.n), 0, KINDS[k] == TL_SOLVER_DIRECT ? 1e-9 : 1e-6);
    }
    TL_FREE(&alloc, x, c.n);
    cholmod_free_dense(&want, &common);
    cholmod_free_dense(&b, &common);
    cholmod_free_factor(&l, &common);
    cholmod_free_sparse(&a, &common);
    cholmod_free_triplet(&t, &common);
    cholmod_finish(&common);
    cloth_case_free(&c);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cloth_agrees_with_dense),
        cmocka_unit_test(odd_systems_agree_with_dense),
        cmocka_unit_test(disconnected_pieces_are_solved),
        cmocka_unit_test(same_bits_on_any_worker_count),
        cmocka_unit_test(bad_matrices_fail_cleanly),
        cmocka_unit_test(limited_solves_go_down),
        cmocka_unit_test(zero_right_side_gives_zero),
        cmocka_unit_test(warm_solves_do_not_allocate),
        cmocka_unit_test(every_failed_allocation_is_survived),
        cmocka_unit_test(multilevel_iterations_hardly_grow),
        cmocka_unit_test(multilevel_memory_is_bounded),
        cmocka_unit_test(blocks_beside_the_matrix_count_and_are_preconditioned),
        cmocka_unit_test(factors_know_the_blocks),
        cmocka_unit_test(series_end_alike),
        cmocka_unit_test(levels_follow_the_blocks),
        cmocka_unit_test(stale_factor_is_renewed_now_and_then),
        cmocka_unit_test(aging_follows_the_replacement_rule),
        cmocka_unit_test(auto_keeps_to_its_rules),
        cmocka_unit_test(auto_goes_on_from_an_answer_by_sweeps),
        cmocka_unit_test(auto_tries_sweeps_before_levels),
        cmocka_unit_test(orders_are_permutations),
        cmocka_unit_test(float_factor_is_a_good_preconditioner),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(cholmod_is_refused_or_right),
#ifdef TL_HAVE_CHOLMOD
        cmocka_unit_test(direct_agrees_with_cholmod),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
