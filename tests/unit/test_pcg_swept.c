// tests/unit/test_pcg_swept.c: conjugate gradients by sweeps against the same written out, iterate by iterate.

#include "check.h"

#include <string.h>

#include "base/alloc.h"
#include "math/bsr.h"
#include "math/bsr_row.h"
#include "math/pcg.h"
#include "unit/cloth_matrix.h"

enum { CHUNK = 512, SIDE = 36, ROWS = SIDE * SIDE };  // three chunks

static tl_vec3 times(const double *a, tl_vec3 v, bool transposed)
{
    const int r = transposed ? 1 : 3, c = transposed ? 3 : 1;
    return (tl_vec3){a[0] * v.x + a[c] * v.y + a[2 * c] * v.z, a[r] * v.x + a[r + c] * v.y + a[r + 2 * c] * v.z,
                     a[2 * r] * v.x + a[2 * r + c] * v.y + a[2 * r + 2 * c] * v.z};
}

static tl_vec3 divided_by_diagonal(const tl_bsr *m, int32_t i, tl_vec3 v)
{
    double inverse[6];
    assert_true(tl_sym3_invert(tl_bsr_diagonal(m, i), inverse));
    return tl_sym3_apply(inverse, v);
}

// z = (D + L^T)^-1 D (D + L)^-1 r, L without what links chunks
static void apply_sweeps(void *self, tl_workers *workers, const tl_vec3 *r, tl_vec3 *z)
{
    const tl_bsr *m = self;
    (void)workers;
    tl_vec3 y[ROWS];
    double room[9];
    memcpy(y, r, sizeof y);
    for (int32_t i = 0; i < ROWS; i++)
        for (int32_t k = m->row_start[i] + 1; k < m->row_start[i + 1]; k++)
            if (m->col[k] / CHUNK == i / CHUNK)
                y[m->col[k]] =
                    tl_sub3(y[m->col[k]], times(tl_bsr_block(m, i, k, room), divided_by_diagonal(m, i, y[i]), true));
    for (int32_t i = ROWS - 1; i >= 0; i--) {
        for (int32_t k = m->row_start[i] + 1; k < m->row_start[i + 1]; k++)
            if (m->col[k] / CHUNK == i / CHUNK)
                y[i] = tl_sub3(y[i], times(tl_bsr_block(m, i, k, room), z[m->col[k]], false));
        z[i] = divided_by_diagonal(m, i, y[i]);
    }
}

// Springs that tie every fifth node to the one a quarter of the sheet further on.
static void add_springs(void *self, tl_workers *workers, const tl_vec3 *x, tl_vec3 *y)
{
    const double *stiff = self;
    (void)workers;
    for (int32_t i = 10; i + ROWS / 4 < ROWS - 10; i += 5) {
        const int32_t j = i + ROWS / 4;
        const tl_vec3 f = tl_mul3(*stiff, tl_sub3(x[i], x[j]));
        y[i] = tl_add3(y[i], f), y[j] = tl_sub3(y[j], f);
    }
}

// The same springs between the ends of the sheet as a matrix.
static tl_bsr *springs_beside(const tl_allocator *alloc, double stiff)
{
    tl_error err;
    int32_t start[101] = {0}, items[200];
    for (int32_t g = 0; g < 100; g++)
        items[2 * g] = 10 + 3 * g, items[2 * g + 1] = ROWS - 10 - 4 * g, start[g + 1] = 2 * g + 2;
    tl_bsr *blocks;
    assert_ok(tl_bsr_create(alloc, ROWS, 100, start, items, &blocks, &err));
    for (int32_t g = 0; g < 100; g++)
        for (int e = 0; e < 9; e += 4) {
            const int32_t i = items[2 * g], j = items[2 * g + 1];
            blocks->value[blocks->row_start[i]][e] += stiff, blocks->value[blocks->row_start[j]][e] += stiff;
            blocks->value[tl_bsr_find(blocks, i, j)][e] -= stiff;
        }
    return blocks;
}

static double distance(const tl_vec3 *a, const tl_vec3 *b)
{
    double d = 0, size = 0;
    for (int32_t i = 0; i < ROWS; i++) {
        const tl_vec3 e = tl_sub3(a[i], b[i]);
        d += tl_dot3(e, e), size += tl_dot3(b[i], b[i]);
    }
    return sqrt(d / size);
}

static void set_guess(tl_vec3 *x, bool guess)
{
    for (int32_t i = 0; i < ROWS; i++)
        x[i] = guess ? (tl_vec3){0.01 * (i % 3), 0.002 * (i % 7), -0.01} : (tl_vec3){0, 0, 0};
}

// sqrt(r M^-1 r) of what is left of the system after x
static double energy_norm(const tl_bsr *m, const tl_vec3 *b, const tl_vec3 *x)
{
    tl_vec3 r[ROWS], z[ROWS], beside[ROWS];
    double sum = 0;
    tl_bsr_multiply(m, NULL, x, r);
    memset(beside, 0, sizeof beside);
    if (m->extra.blocks) tl_bsr_multiply(m->extra.blocks, NULL, x, beside);
    if (m->extra.add) m->extra.add(m->extra.self, NULL, x, beside);
    for (int32_t i = 0; i < ROWS; i++) r[i] = tl_sub3(b[i], tl_add3(r[i], beside[i]));
    apply_sweeps((void *)m, NULL, r, z);
    for (int32_t i = 0; i < ROWS; i++) sum += tl_dot3(r[i], z[i]);
    return sqrt(sum);
}

static void iterates_are_those_of_the_method_written_out(tl_bsr *m, const tl_vec3 *b, bool guess, tl_arena *arena)
{
    tl_error err;
    tl_vec3 x[ROWS], want[ROWS], none[ROWS] = {0};
    const tl_precond sweeps = {apply_sweeps, m, 0};
    const int32_t counts[] = {0, 1, 2, 7, 30};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        tl_solve_report report, other;
        set_guess(x, guess), set_guess(want, guess);
        assert_ok(tl_pcg_swept(m, (tl_pcg_stop){1e-12, counts[k]}, b, x, &(tl_ctx){arena, NULL}, &report, &err));
        assert_ok(tl_pcg(m, &sweeps, (tl_pcg_stop){1e-12, counts[k]}, b, want, &(tl_ctx){arena, NULL}, &other, &err));
        assert_int_equal(report.iterations, counts[k]);
        if (guess || counts[k] > 0) assert_true(distance(x, want) < 1e-9);
        const double all = energy_norm(m, b, none);
        assert_near(report.residual * all / energy_norm(m, b, x), 1, 1e-6);
        set_guess(want, guess);
        assert_near(report.first_residual * all / energy_norm(m, b, want), 1, 1e-9);
    }
}

static cloth_case open_cloth(const tl_allocator *alloc, tl_arena *arena)
{
    tl_error err;
    const cloth_def d = cloth_def_default(SIDE, SIDE);
    cloth_case c;
    tl_arena_init(arena, *alloc);
    assert_ok(cloth_case_make(alloc, &d, &c, &err));
    return c;
}

static void close_cloth(cloth_case *c, tl_arena *arena)
{
    tl_arena_free(arena);
    cloth_case_free(c);
}

static void sweeps_are_the_method_written_out(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    tl_arena arena;
    cloth_case c = open_cloth(&alloc, &arena);
    double stiff = 40;
    tl_bsr *blocks = springs_beside(&alloc, 25);
    for (int k = 0; k < 16; k++) {
        if (k == 8) assert_ok(tl_bsr_to_single(&alloc, c.m, &err));
        c.m->extra = (tl_extra){.add = k & 1 ? add_springs : NULL, .self = &stiff, .blocks = k & 2 ? blocks : NULL};
        iterates_are_those_of_the_method_written_out(c.m, c.b, k & 4, &arena);
    }
    c.m->extra = (tl_extra){0};
    tl_bsr_destroy(&alloc, blocks);
    close_cloth(&c, &arena);
}

static void bits_do_not_depend_on_the_workers(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    tl_arena arena;
    cloth_case c = open_cloth(&alloc, &arena);
    tl_bsr *blocks = springs_beside(&alloc, 25);
    c.m->extra.blocks = blocks;
    tl_vec3 x[ROWS], first[ROWS];
    for (int threads = 1; threads <= 8; threads++) {
        tl_workers *workers;
        tl_solve_report report;
        assert_ok(tl_workers_create(&alloc, threads, &workers, &err));
        set_guess(x, true);
        assert_ok(tl_pcg_swept(c.m, (tl_pcg_stop){1e-6, 1000}, c.b, x, &(tl_ctx){&arena, workers}, &report, &err));
        assert_true(report.converged && report.residual <= 1e-6);
        if (threads == 1) memcpy(first, x, sizeof x);
        assert_memory_equal(first, x, sizeof x);
        tl_workers_destroy(workers);
    }
    c.m->extra.blocks = NULL;
    tl_bsr_destroy(&alloc, blocks);
    close_cloth(&c, &arena);
}

static void what_is_wrong_is_refused(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    tl_arena arena;
    cloth_case c = open_cloth(&alloc, &arena);
    tl_vec3 x[ROWS], before[ROWS];
    tl_solve_report report;
    set_guess(x, true);
    memcpy(before, x, sizeof x);
    double *block = c.m->value[c.m->row_start[700]];
    const double kept = block[0];
    block[0] = -1;
    assert_int_equal(tl_pcg_swept(c.m, (tl_pcg_stop){1e-6, 100}, c.b, x, &(tl_ctx){&arena, NULL}, &report, &err),
                     TL_FAILED);
    assert_memory_equal(before, x, sizeof x);
    assert_false(report.converged);
    block[0] = kept;
    double pull = -1e7;  // springs that push apart: the whole is indefinite
    c.m->extra = (tl_extra){.add = add_springs, .self = &pull};
    assert_int_equal(tl_pcg_swept(c.m, (tl_pcg_stop){1e-12, 1000}, c.b, x, &(tl_ctx){&arena, NULL}, &report, &err),
                     TL_FAILED);
    assert_memory_equal(before, x, sizeof x);
    c.m->extra = (tl_extra){0};
    c.b[3].y = NAN;
    assert_int_equal(tl_pcg_swept(c.m, (tl_pcg_stop){1e-6, 100}, c.b, x, &(tl_ctx){&arena, NULL}, &report, &err),
                     TL_FAILED);
    assert_memory_equal(before, x, sizeof x);
    memset(c.b, 0, ROWS * sizeof *c.b);
    assert_ok(tl_pcg_swept(c.m, (tl_pcg_stop){1e-6, 100}, c.b, x, &(tl_ctx){&arena, NULL}, &report, &err));
    assert_true(report.converged && report.iterations == 0 && x[5].z == 0);
    close_cloth(&c, &arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sweeps_are_the_method_written_out),
        cmocka_unit_test(bits_do_not_depend_on_the_workers),
        cmocka_unit_test(what_is_wrong_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
