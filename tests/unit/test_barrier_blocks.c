// What contacts add to the Hessian: the matrix in single precision and the blocks beside it against the same in double.

#include <math.h>
#include <string.h>

#include "check.h"
#include "respond/contact.h"

enum { NODES = 6, SIZE = 3 * NODES };

static const int32_t FACE[2][3] = {{0, 1, 2}, {3, 4, 5}};
static const int32_t EDGE[6][2] = {{0, 1}, {0, 2}, {1, 2}, {3, 4}, {3, 5}, {4, 5}};
static const double THICKNESS = 1e-3, MASS = 1e-5, GAMMA = 200, AREA = 1e-4;

/// Two faces one above the other and turned, this part of the thickness apart.
static void place(double gap, tl_vec3 x[NODES])
{
    for (int k = 0; k < 3; k++) {
        const double a = 2.1 * k + 0.2, b = 2.1 * k + 0.9;
        x[k] = (tl_vec3){0.01 * cos(a), 0, 0.01 * sin(a)};
        x[3 + k] = (tl_vec3){0.009 * cos(b), gap * THICKNESS * (1 + 0.1 * k), 0.009 * sin(b)};
    }
}

typedef struct hessian {
    double stored[SIZE][SIZE], sum[SIZE][SIZE];
    int32_t beside;
} hessian;

static void add_dense(const tl_bsr *m, double out[SIZE][SIZE])
{
    for (int32_t i = 0; i < m->row_count; i++)
        for (int32_t k = m->row_start[i]; k < m->row_start[i + 1]; k++)
            for (int e = 0; e < 9; e++) {
                const int32_t j = m->col[k], r = 3 * i + e / 3, c = 3 * j + e % 3;
                const bool diagonal = k == m->row_start[i];
                const double v = !m->single ? m->value[k][e]
                                 : diagonal ? m->diagonal[i][e]
                                            : (double)m->single[k - i - 1][e];
                out[r][c] += v;
                if (!diagonal) out[c][r] += v;
            }
}

/// Inertia and contact, assembled at x.
static void assemble(double gap, bool single, hessian *out)
{
    tl_error err;
    const tl_allocator alloc = tl_allocator_default();
    tl_arena arena;
    tl_arena_init(&arena, alloc);
    tl_vec3 x[NODES], u[NODES] = {{0, 0, 0}}, gradient[NODES] = {{0, 0, 0}};
    place(gap, x);
    const int32_t cloth[NODES] = {0, 0, 0, 1, 1, 1};
    const tl_vec2 uv[NODES] = {{0, 0}, {1, 0}, {0, 1}, {0, 0}, {1, 0}, {0, 1}};
    const double area[2] = {AREA, AREA}, thickness[2] = {THICKNESS, THICKNESS}, rub[4] = {0.3, 0.3, 0.3, 0.3};
    const double mass[NODES] = {MASS, MASS, MASS, MASS, MASS, MASS};
    const uint8_t fixed[NODES] = {0};
    const tl_contacts_def def = {.cloth = {NODES, 2, 6, FACE, EDGE},
                                 .x = x,
                                 .face_area = area,
                                 .node_cloth = cloth,
                                 .node_uv = uv,
                                 .node_panel = cloth,
                                 .cloth_count = 2,
                                 .thickness = thickness,
                                 .friction_self = rub,
                                 .pressure = 1000,
                                 .slip_speed = 1e-3,
                                 .self = true};
    tl_contacts *c;
    assert_ok(tl_contacts_create(&alloc, &def, &c, &err));
    const tl_contact_step step = {
        .x_hat = x, .fixed = fixed, .target = x, .mass = mass, .gamma = GAMMA, .dt = 1 / GAMMA, .pinch = TL_PINCH_ANY};
    assert_ok(tl_contacts_begin(c, &step, x, &(tl_ctx){&arena, NULL}, &err));
    assert_ok(tl_contacts_search(c, x, u, &(tl_ctx){&arena, NULL}, &err));
    assert_ok(tl_contacts_settle(c, x, NULL, &err));
    const int32_t start[3] = {0, 3, 6};
    tl_bsr *m;
    assert_ok(tl_bsr_create(&alloc, NODES, 2, start, &FACE[0][0], &m, &err));
    for (int32_t i = 0; i < NODES; i++)
        for (int e = 0; e < 9; e += 4) m->value[m->row_start[i]][e] = MASS * GAMMA * GAMMA;
    if (single) assert_ok(tl_bsr_to_single(&alloc, m, &err));
    assert_ok(tl_contacts_assemble(c, x, m, gradient, &(tl_ctx){&arena, NULL}, &err));
    assert_true(tl_contacts_count(c) > 0);
    *out = (hessian){.beside = 0};
    add_dense(m, out->stored);
    add_dense(m, out->sum);
    const tl_bsr *blocks;
    assert_ok(tl_contacts_blocks(c, &(tl_ctx){&arena, NULL}, &blocks, &err));
    assert_non_null(blocks);
    out->beside = blocks->block_count - NODES;
    add_dense(blocks, out->sum);
    tl_bsr_destroy(&alloc, m);
    tl_contacts_destroy(c);
    tl_arena_free(&arena);
}

/// Smallest pivot of a Cholesky factor without taking roots.
static double smallest_pivot(const double a[SIZE][SIZE])
{
    double w[SIZE][SIZE], least = INFINITY;
    memcpy(w, a, sizeof w);
    for (int k = 0; k < SIZE; k++) {
        least = fmin(least, w[k][k]);
        for (int i = k + 1; i < SIZE; i++)
            for (int j = k + 1; j < SIZE; j++) w[i][j] -= w[i][k] * w[k][j] / w[k][k];
    }
    return least;
}

static void hard_contacts_lose_nothing_to_single_precision(void **state)
{
    (void)state;
    const double gaps[] = {0.9, 0.3, 0.03, 3e-3, 3e-4};
    static hessian exact, rounded;
    for (int g = 0; g < 5; g++) {
        assemble(gaps[g], false, &exact);
        assemble(gaps[g], true, &rounded);
        const double inertia = MASS * GAMMA * GAMMA;
        double largest = 0, off = 0;
        for (int i = 0; i < SIZE; i++)
            for (int j = 0; j < SIZE; j++) {
                largest = fmax(largest, fabs(exact.sum[i][j]));
                off = fmax(off, fabs(exact.sum[i][j] - rounded.sum[i][j]));
            }
        assert_true(off < 0.01 * inertia + 1e-15 * largest);
        // what preconditioners are made of must be definite alone
        assert_true(smallest_pivot((const double(*)[SIZE])rounded.stored) > 0.5 * inertia);
        assert_true(smallest_pivot((const double(*)[SIZE])exact.sum) > 0);
        assert_true(smallest_pivot((const double(*)[SIZE])rounded.sum) > 0);
    }
}

static void a_common_move_meets_inertia_alone(void **state)
{
    (void)state;
    static hessian h;
    const double gaps[] = {0.8, 0.01};
    for (int g = 0; g < 2; g++) {
        assemble(gaps[g], true, &h);
        for (int i = 0; i < SIZE; i++) {
            double sum = 0, size = 0;
            for (int j = i % 3; j < SIZE; j += 3) sum += h.sum[i][j], size += fabs(h.sum[i][j]);
            assert_near(sum, MASS * GAMMA * GAMMA, 1e-7 * (g == 0 ? size : 0) + 1e-14 * size);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hard_contacts_lose_nothing_to_single_precision),
        cmocka_unit_test(a_common_move_meets_inertia_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
