// tests/unit/test_bsr.c: block matrix: pattern against brute force, product against a dense one.

#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "ledger.h"
#include "math/bsr.h"
#include "math/bsr_row.h"
#include "math/vec3.h"

enum { ROWS = 60, GROUPS = 90, PER_GROUP = 4 };

// Random groups; the last rows stay alone and some groups repeat an item.
static void random_groups(int32_t *start, int32_t *items, uint64_t seed)
{
    for (int32_t g = 0; g <= GROUPS; g++) start[g] = PER_GROUP * g;
    for (int32_t k = 0; k < GROUPS * PER_GROUP; k++)
        items[k] = (int32_t)(tl_random_bits(seed, 0, (uint64_t)k / 2) % (ROWS - 20) +
                             tl_random_bits(seed, 1, (uint64_t)k) % 15);
}

static void pattern_is_what_groups_say(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    for (uint64_t seed = 0; seed < 5; seed++) {
        int32_t start[GROUPS + 1], items[GROUPS * PER_GROUP];
        random_groups(start, items, seed);
        static bool want[ROWS][ROWS];
        memset(want, 0, sizeof want);
        for (int32_t i = 0; i < ROWS; i++) want[i][i] = true;
        for (int32_t g = 0; g < GROUPS; g++)
            for (int32_t a = 0; a < PER_GROUP; a++)
                for (int32_t b = 0; b < PER_GROUP; b++) want[items[start[g] + a]][items[start[g] + b]] = true;
        tl_error err;
        tl_bsr *m;
        assert_ok(tl_bsr_create(&alloc, ROWS, GROUPS, start, items, &m, &err));
        int32_t upper = 0, lower = 0;
        for (int32_t i = 0; i < ROWS; i++) {
            assert_int_equal(m->col[m->row_start[i]], i);
            for (int32_t k = m->row_start[i] + 1; k < m->row_start[i + 1]; k++) assert_true(m->col[k] > m->col[k - 1]);
            for (int32_t j = i; j < ROWS; j++) {
                const int32_t at = tl_bsr_find(m, i, j);
                assert_int_equal(at >= 0, want[i][j]);
                if (at >= 0) assert_int_equal(m->col[at], j);
                upper += at >= 0;
            }
            for (int32_t k = m->lower_start[i]; k < m->lower_start[i + 1]; k++, lower++) {
                assert_true(m->lower_row[k] < i);
                assert_int_equal(m->lower_block[k], tl_bsr_find(m, m->lower_row[k], i));
                if (k > m->lower_start[i]) assert_true(m->lower_row[k] > m->lower_row[k - 1]);
            }
        }
        assert_int_equal(upper, m->block_count);
        assert_int_equal(lower, m->block_count - ROWS);
        tl_bsr_destroy(&alloc, m);
    }
}

static void product_equals_dense_product(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    int32_t start[GROUPS + 1], items[GROUPS * PER_GROUP];
    random_groups(start, items, 7);
    tl_error err;
    tl_bsr *m;
    assert_ok(tl_bsr_create(&alloc, ROWS, GROUPS, start, items, &m, &err));
    static double dense[3 * ROWS][3 * ROWS];
    memset(dense, 0, sizeof dense);
    for (int32_t i = 0; i < ROWS; i++)
        for (int32_t k = m->row_start[i]; k < m->row_start[i + 1]; k++)
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 3; c++) {
                    const int32_t j = m->col[k];
                    if (j == i && c < r)
                        m->value[k][3 * r + c] = m->value[k][3 * c + r];
                    else
                        m->value[k][3 * r + c] = tl_random(3, (uint64_t)k, (uint64_t)(3 * r + c)) - 0.5;
                }
    tl_vec3 x[ROWS], y[ROWS];
    for (int32_t i = 0; i < 3 * ROWS; i++) ((double *)x)[i] = tl_random(4, 0, (uint64_t)i) - 0.5;
    for (int single = 0; single < 2; single++) {
        const size_t before = tl_bsr_memory(m);
        if (single) assert_ok(tl_bsr_to_single(&alloc, m, &err));
        if (single) assert_true(tl_bsr_memory(m) < before);
        for (int32_t i = 0; i < ROWS; i++)
            for (int32_t k = m->row_start[i]; k < m->row_start[i + 1]; k++)
                for (int e = 0; e < 9; e++) {
                    double room[9];
                    const int32_t p = 3 * i + e / 3, q = 3 * m->col[k] + e % 3;
                    const double value = tl_bsr_block(m, i, k, room)[e];
                    if (single) assert_near(value, dense[p][q], 6e-8 * fabs(dense[p][q]));
                    dense[p][q] = dense[q][p] = value;
                }
        tl_bsr_multiply(m, NULL, x, y);
        for (int32_t i = 0; i < 3 * ROWS; i++) {
            double sum = 0;
            for (int32_t j = 0; j < 3 * ROWS; j++) sum += dense[i][j] * ((double *)x)[j];
            assert_near(((double *)y)[i], sum, 1e-13);
        }
    }
    assert_ok(tl_bsr_to_single(&alloc, m, &err));  // once is enough
    tl_bsr_destroy(&alloc, m);
}

static void fill_random(tl_bsr *m, uint64_t seed, double scale)
{
    for (int32_t i = 0; i < m->row_count; i++)
        for (int32_t k = m->row_start[i]; k < m->row_start[i + 1]; k++)
            for (int e = 0; e < 9; e++)
                m->value[k][e] = m->col[k] == i && e % 3 < e / 3
                                     ? m->value[k][3 * (e % 3) + e / 3]
                                     : scale * (tl_random(seed, (uint64_t)k, (uint64_t)e) - 0.5);
}

// A vector that is zero outside a part has the same product with the part as with the whole, as far as the rows of the
// part go.
static void a_part_is_the_matrix_of_its_rows(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    int32_t start[GROUPS + 1], items[GROUPS * PER_GROUP], rows[ROWS], place[ROWS];
    tl_error err;
    tl_bsr *m, part;
    tl_arena arena;
    tl_arena_init(&arena, alloc);
    random_groups(start, items, 9);
    assert_ok(tl_bsr_create(&alloc, ROWS, GROUPS, start, items, &m, &err));
    fill_random(m, 1, 1);
    for (int round = 0; round < 6; round++) {
        if (round == 3) assert_ok(tl_bsr_to_single(&alloc, m, &err));
        tl_vec3 x[ROWS], y[ROWS], z[ROWS], u[ROWS];
        int32_t count = 0;
        memset(x, 0, sizeof x);
        for (int32_t i = 0; i < ROWS; i++) {
            place[i] = tl_random(5, (uint64_t)round, (uint64_t)i) < 0.2 * (1 + round % 3) ? count : -1;
            if (place[i] < 0) continue;
            x[i] = (tl_vec3){tl_random(6, 0, (uint64_t)i), tl_random(6, 1, (uint64_t)i), tl_random(6, 2, (uint64_t)i)};
            rows[count] = i, u[count++] = x[i];
        }
        assert_ok(tl_bsr_part(m, rows, count, place, &arena, &part, &err));
        assert_int_equal(part.row_count, count);
        tl_bsr_multiply(m, NULL, x, y);
        tl_bsr_multiply(&part, NULL, u, z);
        for (int32_t k = 0; k < count; k++) assert_near(tl_norm3(tl_sub3(z[k], y[rows[k]])), 0, 1e-13);
    }
    tl_arena_free(&arena);
    tl_bsr_destroy(&alloc, m);
}

static void a_joint_matrix_is_the_sum(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    int32_t start[GROUPS + 1], items[GROUPS * PER_GROUP];
    tl_error err;
    tl_bsr *a, *b, *sum;
    random_groups(start, items, 7);
    assert_ok(tl_bsr_create(&alloc, ROWS, GROUPS, start, items, &a, &err));
    random_groups(start, items, 8);
    assert_ok(tl_bsr_create(&alloc, ROWS, GROUPS, start, items, &b, &err));
    fill_random(a, 1, 1);
    fill_random(b, 2, 1000);
    assert_ok(tl_bsr_join(&alloc, a, b, &sum, &err));
    for (int32_t i = 0; i < ROWS; i++)
        for (int32_t j = i; j < ROWS; j++) {
            const int32_t k = tl_bsr_find(a, i, j), l = tl_bsr_find(b, i, j), at = tl_bsr_find(sum, i, j);
            assert_int_equal(at >= 0, k >= 0 || l >= 0);
            double room[9];
            for (int e = 0; e < 9 && at >= 0; e++) {
                const double want = (k >= 0 ? a->value[k][e] : 0) + (l >= 0 ? b->value[l][e] : 0),
                             got = tl_bsr_block(sum, i, at, room)[e];
                assert_near(got, want, i == j ? ROWS * 3 * 6e-8 * 500 : 6e-8 * fabs(want));
                if (i == j && e % 4 == 0) assert_true(got >= want);  // only ever more definite
            }
        }
    tl_vec3 x[ROWS], y[ROWS], z[ROWS], w[ROWS];
    for (int32_t i = 0; i < 3 * ROWS; i++) ((double *)x)[i] = tl_random(4, 0, (uint64_t)i) - 0.5;
    tl_bsr_multiply(sum, NULL, x, y);
    tl_bsr_multiply(a, NULL, x, z);
    tl_bsr_multiply(b, NULL, x, w);
    for (int32_t i = 0; i < 3 * ROWS; i++) assert_near(((double *)y)[i], ((double *)z)[i] + ((double *)w)[i], 1e-2);
    tl_bsr_destroy(&alloc, a);
    tl_bsr_destroy(&alloc, b);
    tl_bsr_destroy(&alloc, sum);
}

// a I + s n n^T with its inverse (I - s / (a + s) n n^T) / a: a node pressed hard along a direction oblique to the
// axes.
static void stiff_blocks_are_inverted(void **state)
{
    (void)state;
    const double n[3] = {0.48, 0.6, 0.64}, a = 0.7;
    for (double s = 0; s < 2e10; s = 100 * s + 1) {
        double d[9], v[6];
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) d[3 * r + c] = (r == c ? a : 0) + s * n[r] * n[c];
        assert_true(tl_sym3_invert(d, v));
        const int place[6][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}};
        for (int k = 0; k < 6; k++) {
            const int r = place[k][0], c = place[k][1];
            assert_near(v[k], ((r == c) - s / (a + s) * n[r] * n[c]) / a, 1e-14 + 1e-15 * s);
        }
        d[8] -= 2 * (a + 0.64 * 0.64 * s);
        assert_false(tl_sym3_invert(d, v));
    }
}

static void product_has_same_bits_on_any_worker_count(void **state)
{
    (void)state;
    enum { N = 3000 };
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    int32_t *start = TL_ALLOC(&alloc, int32_t, N), *items = TL_ALLOC(&alloc, int32_t, 3 * N);
    for (int32_t g = 0; g < N - 1; g++) {
        start[g] = 3 * g;
        items[3 * g] = g, items[3 * g + 1] = g + 1, items[3 * g + 2] = (g * 7 + 3) % N;
    }
    start[N - 1] = 3 * (N - 1);
    tl_bsr *m;
    assert_ok(tl_bsr_create(&alloc, N, N - 1, start, items, &m, &err));
    for (int32_t k = 0; k < 9 * m->block_count; k++) m->value[k / 9][k % 9] = tl_random(1, 0, (uint64_t)k);
    tl_vec3 *x = TL_ALLOC(&alloc, tl_vec3, N), *y = TL_ALLOC(&alloc, tl_vec3, N), *z = TL_ALLOC(&alloc, tl_vec3, N);
    for (int32_t i = 0; i < N; i++) x[i] = (tl_vec3){tl_random(2, 0, (uint64_t)i), tl_random(2, 1, (uint64_t)i), -1};
    const int counts[] = {1, 2, 3, 8, 1, 2, 3, 8};
    for (int c = 0; c < 8; c++) {
        tl_workers *w;
        if (c == 4) assert_ok(tl_bsr_to_single(&alloc, m, &err));
        if (c % 4 == 0) tl_bsr_multiply(m, NULL, x, y);
        assert_ok(tl_workers_create(&alloc, counts[c], &w, &err));
        tl_bsr_multiply(m, w, x, z);
        assert_memory_equal(y, z, N * sizeof *y);
        tl_workers_destroy(w);
    }
    TL_FREE(&alloc, x, N), TL_FREE(&alloc, y, N), TL_FREE(&alloc, z, N);
    TL_FREE(&alloc, start, N), TL_FREE(&alloc, items, 3 * N);
    tl_bsr_destroy(&alloc, m);
}

static void empty_and_bad_input(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    tl_bsr *m;
    assert_ok(tl_bsr_create(&alloc, 0, 0, NULL, NULL, &m, &err));
    assert_int_equal(m->block_count, 0);
    tl_bsr_multiply(m, NULL, NULL, NULL);
    tl_bsr_destroy(&alloc, m);
    assert_ok(tl_bsr_create(&alloc, 3, 0, NULL, NULL, &m, &err));
    assert_int_equal(m->block_count, 3);
    tl_bsr_destroy(&alloc, m);
    const int32_t start[] = {0, 2}, bad[] = {0, 3}, down[] = {0, -1};
    assert_int_equal(tl_bsr_create(&alloc, 3, 1, start, bad, &m, &err), TL_BAD_ARG);
    assert_null(m);
    assert_int_equal(tl_bsr_create(&alloc, 3, 1, down, bad, &m, &err), TL_BAD_ARG);
    assert_int_equal(tl_bsr_create(&alloc, -1, 0, NULL, NULL, &m, NULL), TL_BAD_ARG);
}

static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    int32_t start[GROUPS + 1], items[GROUPS * PER_GROUP];
    random_groups(start, items, 1);
    for (int64_t n = 1;; n++) {
        books b = {.fail_at = n};
        const tl_allocator alloc = books_allocator(&b);
        tl_error err;
        tl_bsr *m;
        tl_status status = tl_bsr_create(&alloc, ROWS, GROUPS, start, items, &m, &err);
        if (status == TL_OK) {
            status = tl_bsr_to_single(&alloc, m, &err);
            assert_true(status == TL_OK ? m->single && !m->value : m->value && !m->single);
        }
        tl_bsr_destroy(&alloc, m);
        assert_int_equal(b.blocks, 0);
        if (status == TL_OK) break;
        assert_int_equal(status, TL_NO_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pattern_is_what_groups_say), cmocka_unit_test(product_equals_dense_product),
        cmocka_unit_test(a_joint_matrix_is_the_sum),  cmocka_unit_test(a_part_is_the_matrix_of_its_rows),
        cmocka_unit_test(stiff_blocks_are_inverted),  cmocka_unit_test(product_has_same_bits_on_any_worker_count),
        cmocka_unit_test(empty_and_bad_input),        cmocka_unit_test(every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
