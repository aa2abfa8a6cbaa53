// tests/unit/test_grid.c: planar grids against the checklist of docs/conformance/planar-grids.md.

#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/rng.h"
#include "base/timer.h"
#include "ledger.h"
#include "panel_shapes.h"
#include "pattern/grid_impl.h"
#include "toile/sim.h"

static tl_quad_grid make(const panel *p, const tl_grid_def *def, tl_grid_cache *cache)
{
    const tl_allocator alloc = tl_allocator_default();
    tl_error err = {0};
    tl_quad_grid g;
    assert_ok(tl_quad_grid_make(&alloc, p->point, p->count, p->corner, def, cache, &g, &err));
    return g;
}

static tl_grid_def def_of(tl_grid_method method, int32_t cells_u, int32_t cells_v)
{
    tl_grid_def def = tl_grid_def_default();
    def.method = method, def.cells_u = cells_u, def.cells_v = cells_v;
    return def;
}

static panel quadrilateral(tl_vec2 a, tl_vec2 b, tl_vec2 c, tl_vec2 d)
{
    return (panel){.name = "quadrilateral", .point = {a, b, c, d}, .count = 4, .corner = {0, 1, 2, 3}};
}

// --- sides ---------------------------------------------------------------------------------------------------

static void g01_sides_have_equal_arc_lengths(void **state)
{
    (void)state;
    enum { POINTS = 200, PARTS = 37 };
    tl_vec2 line[POINTS] = {{0, 0}}, out[PARTS + 1];
    for (int i = 1; i < POINTS; i++) {
        line[i].x = line[i - 1].x + tl_random(1, 0, (uint64_t)i) - 0.3;
        line[i].y = line[i - 1].y + pow(10, -6 * tl_random(1, 1, (uint64_t)i));
    }
    tl_error err;
    assert_ok(tl_polyline_split(line, POINTS, PARTS, out, &err));
    assert_memory_equal(&out[0], &line[0], sizeof *out);
    assert_memory_equal(&out[PARTS], &line[POINTS - 1], sizeof *out);
    // each point's place on the line, found by looking at every segment
    double walked = 0, place[PARTS + 1];
    for (int k = 0; k <= PARTS; k++) place[k] = NAN;
    for (int i = 0; i + 1 < POINTS; i++) {
        const double length = tl_distance2(line[i], line[i + 1]);
        for (int k = 0; k <= PARTS; k++) {
            const double s = tl_distance2(line[i], out[k]);
            if (fabs(s + tl_distance2(out[k], line[i + 1]) - length) < 1e-12) place[k] = walked + s;
        }
        walked += length;
    }
    for (int k = 0; k < PARTS; k++) assert_near((place[k + 1] - place[k]) * PARTS / walked, 1, 1e-9);
    assert_int_equal(tl_polyline_split(line, 1, 3, out, &err), TL_BAD_ARG);
    const tl_vec2 still[3] = {{1, 1}, {1, 1}, {1, 1}};
    assert_int_equal(tl_polyline_split(still, 3, 3, out, &err), TL_BAD_INPUT);
}

static void expect_refusal(const panel *p, tl_status status, const char *word)
{
    const tl_allocator alloc = tl_allocator_default();
    const tl_grid_def def = def_of(TL_QUADS_TFI, 4, 4);
    tl_error err = {0};
    tl_quad_grid g;
    assert_int_equal(tl_quad_grid_make(&alloc, p->point, p->count, p->corner, &def, NULL, &g, &err), status);
    assert_null(g.point);
    if (!strstr(err.message, word)) fail_msg("'%s' does not say '%s'", err.message, word);
}

static void g02_four_sides_of_an_outline(void **state)
{
    (void)state;
    const panel bodice = panel_bodice();
    const tl_grid_def def = def_of(TL_QUADS_TFI, 7, 12);
    tl_quad_grid g = make(&bodice, &def, NULL);
    const int32_t at[4] = {0, 7, 8 * 13 - 1, 8 * 12};
    for (int k = 0; k < 4; k++) assert_memory_equal(&g.point[at[k]], &bodice.point[bodice.corner[k]], sizeof(tl_vec2));
    tl_quad_grid_free(&g);
    panel bad = bodice;
    for (int i = 0; i < bad.count; i++) bad.point[i].x = -bad.point[i].x;
    expect_refusal(&bad, TL_BAD_INPUT, "counter-clockwise");
    bad = bodice, bad.corner[1] = 30, bad.corner[2] = 22;
    expect_refusal(&bad, TL_BAD_INPUT, "order");
    bad = bodice, bad.corner[1] = 0;
    expect_refusal(&bad, TL_BAD_INPUT, "differ");
    bad = bodice, bad.corner[3] = 1000;
    expect_refusal(&bad, TL_BAD_INPUT, "1000");
    bad = bodice, bad.point[5] = bad.point[4];
    expect_refusal(&bad, TL_BAD_INPUT, "leave one out");
    bad = bodice, bad.point[5].y = NAN;
    expect_refusal(&bad, TL_BAD_INPUT, "finite");
    bad = bodice, bad.count = 3;
    expect_refusal(&bad, TL_BAD_INPUT, "at least 4");
}

static void corners_are_found(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    int32_t corner[4];
    // a rectangle with many points on its sides, turned so that no corner comes first
    panel p = {.name = "rectangle"};
    for (int side = 0; side < 4; side++)
        for (int k = 0; k < 10; k++) {
            const double t = k / 10.0, w = 3, h = 2;
            const tl_vec2 q[4] = {{w * t, 0}, {w, h * t}, {w - w * t, h}, {0, h - h * t}};
            panel_add(&p, q[side].x, q[side].y);
        }
    for (int shift = 0; shift < 40; shift += 7) {
        tl_vec2 turned[40];
        for (int i = 0; i < 40; i++) turned[i] = p.point[(i + shift) % 40];
        assert_ok(tl_grid_pick_corners(&alloc, turned, 40, corner, &err));
        for (int k = 0; k < 4; k++) assert_int_equal(corner[k], (10 * k - shift + 40) % 40);
    }
    // a circle has no corners: any four far apart will do
    panel circle = {.name = "circle"};
    for (int k = 0; k < 100; k++) panel_add(&circle, cos(0.0628318530717958 * k), sin(0.0628318530717958 * k));
    assert_ok(tl_grid_pick_corners(&alloc, circle.point, 100, circle.corner, &err));
    for (int k = 0; k < 4; k++) {
        const int32_t side = (circle.corner[(k + 1) % 4] - circle.corner[k] + 100) % 100;
        assert_in_range(side, 15, 35);
    }
    const tl_vec2 square[4] = {{1, 0}, {1, 1}, {0, 1}, {0, 0}};
    assert_ok(tl_grid_pick_corners(&alloc, square, 4, corner, &err));
    assert_int_equal(corner[0], 3);
}

static void sharp_points_get_grid_points(void **state)
{
    (void)state;
    panel house = {
        .name = "house", .point = {{0, 0}, {3, 0}, {3, 2}, {1.1, 3}, {0, 2}}, .count = 5, .corner = {0, 1, 2, 4}};
    tl_grid_def def = def_of(TL_QUADS_TFI, 10, 6);
    for (int snap = 0; snap < 2; snap++) {
        def.snap_angle_deg = snap ? 20 : 180;
        tl_quad_grid g = make(&house, &def, NULL);
        double nearest = INFINITY;
        for (int i = 0; i < 11 * 7; i++) nearest = fmin(nearest, tl_distance2(g.point[i], house.point[3]));
        if (snap)
            assert_true(nearest == 0);
        else
            assert_true(nearest > 0.01);
        tl_quad_grid_free(&g);
    }
    def.cells_u = 1;  // no room for the ridge
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    tl_quad_grid g;
    assert_int_equal(tl_quad_grid_make(&alloc, house.point, 5, house.corner, &def, NULL, &g, &err), TL_BAD_INPUT);
}

static void g03_transfinite_interpolation(void **state)
{
    (void)state;
    const panel p = quadrilateral((tl_vec2){1, 1}, (tl_vec2){7, 2}, (tl_vec2){9, 5}, (tl_vec2){3, 4});
    const tl_grid_def def = def_of(TL_QUADS_TFI, 6, 5);
    tl_quad_grid g = make(&p, &def, NULL);
    for (int v = 0; v <= 5; v++)
        for (int u = 0; u <= 6; u++) {
            assert_near(g.point[7 * v + u].x, 1 + u + 0.4 * v, 1e-12);
            assert_near(g.point[7 * v + u].y, 1 + u / 6.0 + 0.6 * v, 1e-12);
        }
    tl_quad_grid_free(&g);
    // the boundary stays bit for bit, and an inner point is Eq. 1 worked by hand
    const panel bodice = panel_bodice();
    const tl_grid_def fine = def_of(TL_QUADS_TFI, 20, 20);
    g = make(&bodice, &fine, NULL);
    tl_vec2 bottom[21];
    tl_error err;
    assert_ok(tl_polyline_split(bodice.point, 2, 20, bottom, &err));
    assert_memory_equal(g.point, bottom, sizeof bottom);
    const int u = 5, v = 15;
    const tl_vec2 l = g.point[21 * v], r = g.point[21 * v + 20], b = g.point[u], t = g.point[21 * 20 + u];
    const tl_vec2 c00 = g.point[0], c10 = g.point[20], c01 = g.point[21 * 20], c11 = g.point[21 * 20 + 20];
    assert_near(g.point[21 * v + u].y,
                0.75 * l.y + 0.25 * r.y + 0.25 * b.y + 0.75 * t.y -
                    (0.75 * 0.25 * c00.y + 0.75 * 0.75 * c01.y + 0.25 * 0.25 * c10.y + 0.25 * 0.75 * c11.y),
                1e-12);
    tl_quad_grid_free(&g);
}

// --- length functionals --------------------------------------------------------------------------------------

// Largest residual of Eq. 3 (cross 0) or Eq. 4, written out as the paper prints them.
static double residual(const tl_quad_grid *g, double lu, double lv, bool diagonals)
{
    const double c = diagonals ? 1 / (lu * lu + lv * lv) : 0;
    const int32_t n = g->cells_u + 1;
    double worst = 0;
    for (int32_t v = 1; v < g->cells_v; v++)
        for (int32_t u = 1; u < g->cells_u; u++)
            for (int axis = 0; axis < 2; axis++) {
#define R(du, dv) (axis ? g->point[(v + (dv)) * n + u + (du)].y : g->point[(v + (dv)) * n + u + (du)].x)
                const double sum = R(0, 0) * (2 / (lv * lv) + 2 / (lu * lu) + 4 * c) -
                                   (R(-1, 0) + R(1, 0)) / (lu * lu) - (R(0, -1) + R(0, 1)) / (lv * lv) -
                                   (R(-1, -1) + R(1, -1) + R(1, 1) + R(-1, 1)) * c;
#undef R
                worst = fmax(worst, fabs(sum));
            }
    return worst;
}

static void g04_length_functional(void **state)
{
    (void)state;
    const panel bodice = panel_bodice();
    const double weights[4][2] = {{1, 1}, {4, 1}, {1, 2.5}, {0.5, 0.7}};
    const int32_t cells[4][2] = {{20, 20}, {31, 8}, {2, 9}, {74, 3}};  // 74: a prime factor that needs the chirp
    for (int k = 0; k < 4; k++)
        for (int solver = 0; solver < 2; solver++) {
            tl_grid_def def = def_of(TL_QUADS_LENGTH, cells[k][0], cells[k][1]);
            def.weight_u = weights[k][0], def.weight_v = weights[k][1], def.solver = (tl_grid_solver)solver;
            const tl_allocator alloc = tl_allocator_default();
            tl_error err = {0};
            tl_quad_grid g;
            assert_ok(tl_quad_grid_make(&alloc, bodice.point, bodice.count, bodice.corner, &def, NULL, &g, &err));
            if (!g.report.repaired) assert_true(residual(&g, def.weight_u, def.weight_v, false) < 1e-10);
            tl_quad_grid_free(&g);
        }
}

// The matrix of Lu = Lv, column by column: b = A x is found by asking the solver for the x that gives unit vectors.
static void g04_matrix_has_no_wrapped_entries(void **state)
{
    (void)state;
    enum { NU = 5, NV = 4, N = (NU - 1) * (NV - 1) };
    const tl_allocator alloc = tl_allocator_default();
    const tl_grid_key key = {NU, NV, tl_stencil_of(1, 1, false), TL_QUADS_SINES};
    tl_grid_factor *factor;
    bool cached;
    tl_error err;
    assert_ok(tl_grid_factor_get(&alloc, NULL, &key, &factor, &cached, &err));
    double a[N][N], inverse[N][N];
    for (int j = 0; j < N; j++) {
        tl_vec2 x[N] = {{0}};
        x[j].x = 1, x[j].y = 1;
        tl_grid_factor_solve(factor, x);
        for (int i = 0; i < N; i++) inverse[i][j] = x[i].x, assert_near(x[i].y, x[i].x, 1e-15);
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            const int du = i % (NU - 1) - j % (NU - 1), dv = i / (NU - 1) - j / (NU - 1);
            a[i][j] = i == j ? 4 : abs(du) + abs(dv) == 1 ? -1 : 0;
        }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < N; k++) sum += a[i][k] * inverse[k][j];
            assert_near(sum, i == j, 1e-13);
        }
    tl_grid_factor_release(NULL, factor);
}

// The dense LU decomposition of the paper with row exchanges; two right-hand sides.
static void dense_lu_solve(double *a, int n, double *x, double *y)
{
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(a[i * n + k]) > fabs(a[pivot * n + k])) pivot = i;
        for (int j = 0; j < n && pivot != k; j++) {
            const double t = a[k * n + j];
            a[k * n + j] = a[pivot * n + j], a[pivot * n + j] = t;
        }
        const double tx = x[k], ty = y[k];
        x[k] = x[pivot], y[k] = y[pivot], x[pivot] = tx, y[pivot] = ty;
        if (pivot == k) x[k] = tx, y[k] = ty;
        for (int i = k + 1; i < n; i++) {
            const double m = a[i * n + k] / a[k * n + k];
            for (int j = k; j < n; j++) a[i * n + j] -= m * a[k * n + j];
            x[i] -= m * x[k], y[i] -= m * y[k];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) x[i] -= a[i * n + j] * x[j], y[i] -= a[i * n + j] * y[j];
        x[i] /= a[i * n + i], y[i] /= a[i * n + i];
    }
}

static double weight_between(int du, int dv, double lu, double lv, bool diagonals)
{
    const double cross = diagonals ? 1 / (lu * lu + lv * lv) : 0;
    if (abs(du) > 1 || abs(dv) > 1) return 0;
    if (du == 0 && dv == 0) return 2 / (lu * lu) + 2 / (lv * lv) + 4 * cross;
    return dv == 0 ? -1 / (lu * lu) : du == 0 ? -1 / (lv * lv) : -cross;
}

static void g05_lu_cholesky_and_sines_agree(void **state)
{
    (void)state;
    enum { NU = 13, NV = 9, MU = NU - 1, N = MU * (NV - 1) };
    const panel bodice = panel_bodice();
    double *a = malloc(sizeof(double) * N * N);
    for (int diagonals = 0; diagonals < 2; diagonals++) {
        tl_grid_def def = def_of(diagonals ? TL_QUADS_DIAGONAL : TL_QUADS_LENGTH, NU, NV);
        def.weight_u = 1.5, def.weight_v = 0.8;
        tl_quad_grid sines = make(&bodice, &def, NULL);
        def.solver = TL_QUADS_CHOLESKY;
        tl_quad_grid cholesky = make(&bodice, &def, NULL);
        double x[N] = {0}, y[N] = {0};
        for (int i = 0; i < N; i++) {
            const int u = i % MU + 1, v = i / MU + 1;
            for (int j = 0; j < N; j++)
                a[i * N + j] = weight_between(j % MU + 1 - u, j / MU + 1 - v, 1.5, 0.8, diagonals);
            for (int dv = -1; dv <= 1; dv++)
                for (int du = -1; du <= 1; du++) {
                    if (u + du > 0 && u + du < NU && v + dv > 0 && v + dv < NV) continue;
                    const double w = -weight_between(du, dv, 1.5, 0.8, diagonals);
                    const tl_vec2 p = sines.point[(v + dv) * (NU + 1) + u + du];
                    x[i] += w * p.x, y[i] += w * p.y;
                }
        }
        dense_lu_solve(a, N, x, y);
        for (int i = 0; i < N; i++) {
            const int at = (i / MU + 1) * (NU + 1) + i % MU + 1;
            assert_near(sines.point[at].x, x[i], 1e-9);
            assert_near(sines.point[at].y, y[i], 1e-9);
            assert_near(cholesky.point[at].x, x[i], 1e-9);
            assert_near(cholesky.point[at].y, y[i], 1e-9);
        }
        tl_quad_grid_free(&sines);
        tl_quad_grid_free(&cholesky);
    }
    free(a);
}

static double best_solve(const panel *p, const tl_grid_def *def, tl_grid_cache *cache, int runs, bool expect_cached)
{
    double best = INFINITY;
    for (int k = 0; k < runs; k++) {
        tl_quad_grid g = make(p, def, cache);
        assert_int_equal(g.report.cached, expect_cached);
        best = fmin(best, g.report.solve_seconds);
        tl_quad_grid_free(&g);
    }
    return best;
}

static void g05_cached_factor_is_faster(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    const panel bodice = panel_bodice();
    tl_grid_def def = def_of(TL_QUADS_LENGTH, 60, 60);
    def.solver = TL_QUADS_CHOLESKY;
    tl_error err;
    tl_grid_cache *cache;
    const double cold = best_solve(&bodice, &def, NULL, 3, false);
    assert_ok(tl_grid_cache_create(&alloc, &cache, &err));
    best_solve(&bodice, &def, cache, 1, false);
    const size_t memory = tl_grid_cache_memory(cache);
    const double warm = best_solve(&bodice, &def, cache, 5, true);
    assert_true(memory > 0 && tl_grid_cache_memory(cache) == memory);
    assert_true(warm < 0.5 * cold);
    def.weight_u = 2;  // other weights are another matrix
    best_solve(&bodice, &def, cache, 1, false);
    assert_true(tl_grid_cache_memory(cache) > memory);
    tl_grid_cache_destroy(cache);
    tl_grid_cache_destroy(NULL);
}

static void g06_diagonal_functional(void **state)
{
    (void)state;
    const panel bodice = panel_bodice();
    double seconds[2];
    for (int diagonals = 0; diagonals < 2; diagonals++) {
        tl_grid_def def = def_of(diagonals ? TL_QUADS_DIAGONAL : TL_QUADS_LENGTH, 50, 50);
        def.weight_u = 2;
        tl_quad_grid g = make(&bodice, &def, NULL);
        assert_false(g.report.repaired);
        assert_true(residual(&g, 2, 1, diagonals) < 1e-10);
        tl_quad_grid_free(&g);
        seconds[diagonals] = best_solve(&bodice, &def, NULL, 30, false);
    }
    if (!SANITIZED) assert_true(seconds[1] < 1.3 * seconds[0]);  // equal but for noise: the same operations
}

// The reference table of an independent prototype: 20 x 20 quads, to 3 digits.
static void g07_bodice_table(void **state)
{
    (void)state;
    const struct {
        tl_grid_method method;
        double lu, lv, least, most, ratio, cv;
    } rows[] = {
        {TL_QUADS_TFI, 1, 1, 2.369, 9.694, 4.09, .210},       {TL_QUADS_LENGTH, 1, 1, 3.894, 10.545, 2.71, .177},
        {TL_QUADS_DIAGONAL, 1, 1, 3.837, 10.549, 2.75, .178}, {TL_QUADS_LENGTH, 4, 1, 3.132, 16.369, 5.23, .251},
        {TL_QUADS_DIAGONAL, 4, 1, 3.528, 14.051, 3.98, .209}, {TL_QUADS_DIAGONAL, 1, 4, 0.778, 10.271, 13.2, .208},
    };
    const panel bodice = panel_bodice();
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        tl_grid_def def = def_of(rows[k].method, 20, 20);
        def.weight_u = rows[k].lu, def.weight_v = rows[k].lv;
        tl_quad_grid g = make(&bodice, &def, NULL);
        const tl_grid_quality *q = &g.report.quality;
        assert_false(g.report.repaired);
        assert_int_equal(q->folded, 0);
        assert_near(q->area_mean, 7.440, 5e-4);
        assert_near(q->area_min, rows[k].least, 5.1e-4);
        assert_near(q->area_max, rows[k].most, 5.1e-4);
        assert_near(q->area_ratio, rows[k].ratio, rows[k].ratio > 10 ? 0.05 : 0.0051);
        assert_near(q->area_cv, rows[k].cv, 5.1e-4);
        tl_quad_grid_free(&g);
    }
}

// --- folds ---------------------------------------------------------------------------------------------------

static void g13_folds_are_refused_or_repaired(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    const panel bodice = panel_bodice();
    tl_grid_def def = def_of(TL_QUADS_LENGTH, 20, 20);
    def.weight_v = 4, def.folds = TL_FOLDS_REFUSE;
    tl_error err = {0};
    tl_quad_grid g;
    assert_int_equal(tl_quad_grid_make(&alloc, bodice.point, bodice.count, bodice.corner, &def, NULL, &g, &err),
                     TL_FAILED);
    assert_null(g.point);
    assert_non_null(strstr(err.message, "folds in 4 quads"));  // as in the reference table
    assert_non_null(strstr(err.message, "-0.81"));
    def.folds = TL_FOLDS_REPAIR;
    g = make(&bodice, &def, NULL);
    assert_true(g.report.repaired);
    assert_int_equal(g.report.folded_before, 4);
    assert_int_equal(g.report.quality.folded, 0);
    assert_true(g.report.quality.area_min > 0.1 * g.report.quality.area_mean);
    tl_quad_grid_free(&g);
    // an outline whose quads must fold: equal arc lengths cut straight through the walls of a deep, narrow slit
    panel slit = {.name = "slit",
                  .point = {{0, 0}, {1, 0}, {1, 1}, {0.501, 1}, {0.5005, -0.5}, {0.5, 1}, {0, 1}},
                  .count = 7,
                  .corner = {0, 1, 2, 6}};
    def = def_of(TL_QUADS_TFI, 6, 6);
    assert_int_equal(tl_quad_grid_make(&alloc, slit.point, slit.count, slit.corner, &def, NULL, &g, &err), TL_FAILED);
    assert_non_null(strstr(err.message, "even after repair"));
}

static void descent_gradient_lowers_a_folded_grid(void **state)
{
    (void)state;
    // a square whose middle node was thrown far out: the minimum of the shapes is the regular grid
    panel square = quadrilateral((tl_vec2){0, 0}, (tl_vec2){4, 0}, (tl_vec2){4, 4}, (tl_vec2){0, 4});
    const tl_allocator alloc = tl_allocator_default();
    const tl_grid_def def = def_of(TL_QUADS_TFI, 4, 4);
    tl_quad_grid g = make(&square, &def, NULL);
    tl_lattice lattice = {4, 4, g.point};
    g.point[12] = (tl_vec2){3.7, 3.9}, g.point[6] = (tl_vec2){2.6, 2.7};
    assert_true(tl_lattice_bad_corners(&lattice) > 0);
    const tl_descent_def descent = {.quads = 1, .ratio = 1 + 1e-9, .steps = 500};
    int32_t steps;
    tl_error err;
    assert_ok(tl_lattice_descend(&alloc, NULL, &descent, &lattice, &steps, &err));
    assert_int_equal(tl_lattice_bad_corners(&lattice), 0);
    for (int i = 0; i < 25; i++) {
        assert_near(g.point[i].x, i % 5, 5e-3);  // ends when a step gains less than 1e-5
        assert_near(g.point[i].y, i / 5, 5e-3);
    }
    tl_quad_grid_free(&g);
}

static void equal_area_on_the_bodice(void **state)
{
    (void)state;
    const panel bodice = panel_bodice();
    for (int n = 20; n <= 40; n *= 2) {
        const tl_grid_def def = def_of(TL_QUADS_EQUAL_AREA, n, n);
        tl_quad_grid g = make(&bodice, &def, NULL);
        assert_int_equal(g.report.quality.folded, 0);
        assert_int_equal(g.report.quality.non_convex, 0);
        assert_true(g.report.quality.area_ratio <= 1.2);
        assert_near(g.report.quality.area_mean * n * n, 2976, 3);  // as much cloth as before
        tl_quad_grid_free(&g);
    }
}

// --- report and triangles ------------------------------------------------------------------------------------

static void g12_quality_by_hand(void **state)
{
    (void)state;
    // a unit square and, beside it, a kite with a corner pushed in past the diagonal
    const tl_vec2 p[6] = {{0, 0}, {1, 0}, {3, 0}, {0, 1}, {1, 1}, {1.5, 0.5}};
    const tl_grid_quality q = tl_grid_measure(p, 2, 1);
    assert_near(q.area_min, 0.75, 1e-15);  // triangle (1,0) (3,0) (1,1), less the triangle that is cut off
    assert_near(q.area_max, 1, 1e-15);
    assert_near(q.area_mean, 0.875, 1e-15);
    assert_near(q.area_ratio, 4.0 / 3, 1e-14);
    assert_near(q.area_cv, 0.125 / 0.875, 1e-14);
    assert_int_equal(q.folded, 0);
    assert_int_equal(q.non_convex, 1);
    assert_near(q.angle_min_deg, atan2(0.5, 1.5) * 180 / 3.14159265358979323846, 1e-12);
    assert_true(q.angle_max_deg > 180);
    assert_near(q.aspect_max, 2 / hypot(0.5, 0.5), 1e-12);
    const tl_vec2 bow[4] = {{0, 0}, {1, 0}, {1.2, 1}, {1.5, 1.5}};  // crossed: positive area, no good diagonal
    assert_int_equal(tl_grid_measure(bow, 1, 1).folded + tl_grid_measure(bow, 1, 1).non_convex > 0, 1);
    const tl_vec2 turned[4] = {{0, 0}, {-1, 0}, {0, 1}, {-1, 1}};
    const tl_grid_quality bad = tl_grid_measure(turned, 1, 1);
    assert_int_equal(bad.folded, 1);
    assert_true(isinf(bad.area_ratio));
    tl_grid_def def = def_of(TL_QUADS_DIAGONAL, 30, 30);
    const panel bodice = panel_bodice();
    tl_quad_grid g = make(&bodice, &def, NULL);
    assert_true(g.report.seconds > 0 && g.report.solve_seconds > 0 && g.report.solve_seconds <= g.report.seconds);
    tl_quad_grid_free(&g);
}

static void triangles_fill_the_grid(void **state)
{
    (void)state;
    const panel bodice = panel_bodice();
    const tl_grid_def def = def_of(TL_QUADS_STRIPS, 20, 20);  // has quads that are not convex
    tl_quad_grid g = make(&bodice, &def, NULL);
    assert_true(g.report.quality.non_convex > 0);
    int32_t tri[800][3];
    tl_vec2 weft[800], warp[800];
    for (int mode = TL_DIAGONALS_SHORTEST; mode <= TL_DIAGONALS_UP; mode++) {
        tl_quad_grid_triangles(&g, (tl_grid_diagonals)mode, tri, weft, warp);
        double area = 0;
        for (int t = 0; t < 800; t++) {
            const tl_vec2 *p = g.point;
            const double twice = tl_cross2(tl_sub2(p[tri[t][1]], p[tri[t][0]]), tl_sub2(p[tri[t][2]], p[tri[t][0]]));
            assert_true(twice > 0);
            area += 0.5 * twice;
            assert_near(hypot(weft[t].x, weft[t].y), 1, 1e-12);
            assert_true(tl_cross2(weft[t], warp[t]) > 0);
        }
        assert_near(area, 400 * g.report.quality.area_mean, 1e-9);
    }
    assert_near(weft[0].x, 1, 1e-3);  // lower left: weft along x, warp along y
    assert_near(warp[0].y, 1, 1e-3);
    tl_quad_grid_free(&g);
}

static void g15_grid_feeds_the_simulation(void **state)
{
    (void)state;
    panel p = panel_bodice();
    for (int i = 0; i < p.count; i++) p.point[i] = tl_scale2(p.point[i], 0.01);
    const tl_grid_def grid_def = def_of(TL_QUADS_EQUAL_AREA, 10, 12);
    tl_quad_grid g = make(&p, &grid_def, NULL);
    enum { NODES = 11 * 13, FACES = 240 };
    int32_t tri[FACES][3];
    tl_vec2 weft[FACES], warp[FACES];
    tl_vec3 pos[NODES];
    tl_quad_grid_triangles(&g, TL_DIAGONALS_ALTERNATE, tri, weft, warp);
    for (int i = 0; i < NODES; i++) pos[i] = (tl_vec3){g.point[i].x, 0, -g.point[i].y};
    tl_error err;
    tl_sim *sim;
    const tl_sim_def def = tl_sim_def_default();
    const tl_material cotton = tl_material_default();
    tl_cloth_def cloth = tl_cloth_def_default();
    cloth.remeshing.kind = TL_REMESHING_NONE;
    cloth.node_count = NODES, cloth.pos = pos, cloth.uv = g.point, cloth.face_count = FACES;
    cloth.face = (const int32_t(*)[3])tri, cloth.materials = &cotton, cloth.material_count = 1;
    tl_handle_def held = tl_handle_def_default();
    const int32_t nodes[2] = {NODES - 11, NODES - 1};
    held.nodes = nodes, held.node_count = 2;
    assert_ok(tl_sim_create(&def, &sim, &err));
    assert_ok(tl_sim_add_cloth(sim, &cloth, &held.cloth, &err));
    assert_ok(tl_sim_add_handle(sim, &held, &err));
    for (int k = 0; k < 5; k++) assert_ok(tl_sim_step(sim, NULL, &err));
    tl_cloth_view view;
    assert_ok(tl_sim_cloth_view(sim, held.cloth, &view));
    double lowest = 0;
    for (int i = 0; i < NODES; i++) lowest = fmin(lowest, view.pos[i].y);
    assert_true(lowest < -1e-4 && lowest > -0.1);                                     // it has begun to fall
    for (int t = 0; t < FACES; t++) assert_true(weft[t].x > 0.5 && warp[t].y > 0.5);  // directions are kept
    tl_sim_destroy(sim);
    tl_quad_grid_free(&g);
}

// --- robustness ----------------------------------------------------------------------------------------------

static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    const panel bodice = panel_bodice();
    for (int method = 0; method < TL_QUADS_METHODS; method++)
        for (int64_t n = 1;; n++) {
            books b = {.fail_at = n};
            const tl_allocator alloc = books_allocator(&b);
            tl_grid_def def = def_of((tl_grid_method)method, 8, 8);
            def.strip_smoothing = 3, def.weight_v = method == TL_QUADS_LENGTH ? 6 : 1;
            if (method == TL_QUADS_DIAGONAL) def.solver = TL_QUADS_CHOLESKY;
            tl_error err;
            tl_quad_grid g;
            const tl_status status = tl_quad_grid_make(&alloc, bodice.point, bodice.count, NULL, &def, NULL, &g, &err);
            assert_true(status == TL_OK || status == TL_NO_MEMORY);
            tl_quad_grid_free(&g);
            assert_int_equal(b.bytes, 0);
            if (b.requests < n) break;
        }
}

static void definitions_are_checked(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    const panel bodice = panel_bodice();
    tl_error err;
    tl_quad_grid g;
    for (int k = 0; k < 8; k++) {
        tl_grid_def def = tl_grid_def_default();
        if (k == 0) def.cells_u = 0;
        if (k == 1) def.weight_v = -1;
        if (k == 2) def.strip_threshold = NAN;
        if (k == 3) def.area_ratio = 1;
        if (k == 4) def.method = (tl_grid_method)17;
        if (k == 5) def.strip_tries = 0;
        if (k == 6) def.cells_v = 1000000;
        if (k == 7) def.weight_u = INFINITY;
        assert_int_equal(tl_quad_grid_make(&alloc, bodice.point, bodice.count, bodice.corner, &def, NULL, &g, &err),
                         TL_BAD_ARG);
    }
    assert_string_equal(tl_grid_method_name(TL_QUADS_EQUAL_AREA), "equal-area");
    for (int n = 1; n <= 3; n++)  // grids without or with one inner node
        for (int method = 0; method < TL_QUADS_METHODS; method++) {
            const panel square = quadrilateral((tl_vec2){0, 0}, (tl_vec2){1, 0}, (tl_vec2){1, 1}, (tl_vec2){0, 1});
            const tl_grid_def def = def_of((tl_grid_method)method, n, n);
            tl_quad_grid small = make(&square, &def, NULL);
            assert_near(small.report.quality.area_ratio, 1, 0.03);
            tl_quad_grid_free(&small);
        }
}

// Processor time of one grid: other work on the machine does not count.
static double cost_of(const panel *p, const tl_grid_def *def, tl_grid_cache *cache)
{
    struct timespec begin, end;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    tl_quad_grid g = make(p, def, cache);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    tl_quad_grid_free(&g);
    return (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
}

static void large_grids_are_fast(void **state)
{
    (void)state;
    if (SANITIZED) return;
    const tl_allocator alloc = tl_allocator_default();
    const panel bodice = panel_bodice();
    tl_error err;
    tl_grid_cache *cache;
    assert_ok(tl_grid_cache_create(&alloc, &cache, &err));
    for (int method = TL_QUADS_LENGTH; method <= TL_QUADS_DIAGONAL; method++) {
        const tl_grid_def def = def_of((tl_grid_method)method, 500, 500),
                          small = def_of((tl_grid_method)method, 50, 50);
        double cold = INFINITY, warm = INFINITY, fifty = INFINITY;
        best_solve(&bodice, &def, cache, 1, false);
        for (int k = 0; k < 3; k++) {
            cold = fmin(cold, cost_of(&bodice, &def, NULL));
            warm = fmin(warm, cost_of(&bodice, &def, cache));
            fifty = fmin(fifty, cost_of(&bodice, &small, NULL));
        }
        print_message("%s: 500 x 500 %.0f ms cold, %.0f ms cached; 50 x 50 %.2f ms\n",
                      tl_grid_method_name((tl_grid_method)method), 1e3 * cold, 1e3 * warm, 1e3 * fifty);
        assert_true(cold < 1 && warm < 0.2 && fifty < 0.01);
    }
    tl_grid_cache_destroy(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(g01_sides_have_equal_arc_lengths),
        cmocka_unit_test(g02_four_sides_of_an_outline),
        cmocka_unit_test(corners_are_found),
        cmocka_unit_test(sharp_points_get_grid_points),
        cmocka_unit_test(g03_transfinite_interpolation),
        cmocka_unit_test(g04_length_functional),
        cmocka_unit_test(g04_matrix_has_no_wrapped_entries),
        cmocka_unit_test(g05_lu_cholesky_and_sines_agree),
        cmocka_unit_test(g05_cached_factor_is_faster),
        cmocka_unit_test(g06_diagonal_functional),
        cmocka_unit_test(g07_bodice_table),
        cmocka_unit_test(g13_folds_are_refused_or_repaired),
        cmocka_unit_test(descent_gradient_lowers_a_folded_grid),
        cmocka_unit_test(equal_area_on_the_bodice),
        cmocka_unit_test(g12_quality_by_hand),
        cmocka_unit_test(triangles_fill_the_grid),
        cmocka_unit_test(g15_grid_feeds_the_simulation),
        cmocka_unit_test(every_failed_allocation_is_survived),
        cmocka_unit_test(definitions_are_checked),
        cmocka_unit_test(large_grids_are_fast),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
