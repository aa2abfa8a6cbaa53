// tests/unit/test_fidelity.c: figures of shape (bench/bench_fidelity_stats.c) against closed forms.

#include "check.h"

#include <stdlib.h>

#include "bench_fidelity_stats.h"

static const double PI = 3.14159265358979323846;

typedef tl_vec3 (*placing)(double u, double v);

/// nx x ny squares over width x height of material, each cut in two, placed by `place`.
typedef struct sheet {
    tl_vec3 *pos;
    tl_vec2 *uv;
    int32_t *node, (*face)[3];
    tl_cloth_view view;
} sheet;

static sheet make_sheet(int32_t nx, int32_t ny, double width, double height, placing place)
{
    const int32_t nodes = (nx + 1) * (ny + 1), faces = 2 * nx * ny;
    sheet s = {malloc((size_t)nodes * sizeof *s.pos),
               malloc((size_t)nodes * sizeof *s.uv),
               malloc((size_t)nodes * sizeof *s.node),
               malloc((size_t)faces * sizeof *s.face),
               {0}};
    for (int32_t j = 0, i = 0; j <= ny; j++)
        for (int32_t k = 0; k <= nx; k++, i++) {
            s.uv[i] = (tl_vec2){width * k / nx, height * j / ny};
            s.pos[i] = place(s.uv[i].x, s.uv[i].y);
            s.node[i] = i;
        }
    for (int32_t j = 0, f = 0; j < ny; j++)
        for (int32_t k = 0; k < nx; k++) {
            const int32_t a = j * (nx + 1) + k, b = a + 1, c = a + nx + 1, d = c + 1;
            s.face[f][0] = a, s.face[f][1] = b, s.face[f++][2] = d;
            s.face[f][0] = a, s.face[f][1] = d, s.face[f++][2] = c;
        }
    s.view = (tl_cloth_view){.pos = s.pos,
                             .node_count = nodes,
                             .uv = s.uv,
                             .vert_node = s.node,
                             .vert_count = nodes,
                             .face = (const int32_t(*)[3])s.face,
                             .face_count = faces};
    return s;
}

static void free_sheet(sheet *s)
{
    free(s->pos);
    free(s->uv);
    free(s->node);
    free(s->face);
}

static shape_grid sampled(const sheet *s, double step)
{
    shape_grid g;
    int32_t missed;
    assert_true(shape_sample(&s->view, step, &g, &missed));
    assert_int_equal(missed, 0);
    return g;
}

/// The grid itself placed, without a mesh in between.
static shape_grid placed(int32_t nu, int32_t nv, double step, placing place)
{
    shape_grid g;
    assert_true(shape_grid_make(nu, nv, step, &g));
    for (int32_t j = 0; j < nv; j++)
        for (int32_t i = 0; i < nu; i++) g.pos[j * nu + i] = place((i + 0.5) * step, (j + 0.5) * step);
    return g;
}

// --- shapes -----------------------------------------------------------------------------------------------

#define RADIUS 0.15
#define WAVE 0.1        // length of a wave [m]
#define AMPLITUDE 0.01  // [m]

static tl_vec3 tilted(double u, double v) { return (tl_vec3){0.6 * u + 0.3, v - 1, 0.8 * u}; }
// axis along v: the centre is on the side of du x dv
static tl_vec3 cylinder(double u, double v)
{
    return (tl_vec3){RADIUS * sin(u / RADIUS), v, -RADIUS * cos(u / RADIUS)};
}
static tl_vec3 hollow(double u, double v) { return (tl_vec3){RADIUS * sin(u / RADIUS), v, RADIUS * cos(u / RADIUS)}; }
// crosses zero at u = 0.0025, the first sample of a grid of 5 mm, and every half wave after it
static tl_vec3 wavy(double u, double v) { return (tl_vec3){u, v, AMPLITUDE * sin(2 * PI * (u - 0.0025) / WAVE)}; }
static tl_vec3 flat(double u, double v) { return (tl_vec3){u - 0.25, v + 0.75, 0.1}; }
static tl_vec3 moved(double u, double v) { return (tl_vec3){u - 0.25 + 0.04, v + 0.75, 0.1}; }
static tl_vec3 lying(double u, double v) { return (tl_vec3){u - 0.25, 3, v - 0.25}; }
static tl_vec3 turned(double u, double v) { return (tl_vec3){(u - v) * sqrt(0.5), (u + v) * sqrt(0.5), 0}; }

// --- samples ----------------------------------------------------------------------------------------------

static void samples_do_not_depend_on_the_mesh(void **state)
{
    (void)state;
    sheet coarse = make_sheet(1, 2, 0.8, 0.5, tilted), fine = make_sheet(37, 23, 0.8, 0.5, tilted);
    shape_grid a = sampled(&coarse, 0.01), b = sampled(&fine, 0.01);
    assert_int_equal(a.nu, 80);
    assert_int_equal(a.nv, 50);
    for (int32_t j = 0; j < a.nv; j++)
        for (int32_t i = 0; i < a.nu; i++) {
            const tl_vec3 x = tilted((i + 0.5) * 0.01, (j + 0.5) * 0.01), p = a.pos[j * a.nu + i],
                          q = b.pos[j * a.nu + i];
            assert_near(hypot(hypot(p.x - x.x, p.y - x.y), p.z - x.z), 0, 1e-14);
            assert_near(hypot(hypot(q.x - x.x, q.y - x.y), q.z - x.z), 0, 1e-14);
        }
    shape_grid_free(&a);
    shape_grid_free(&b);
    free_sheet(&coarse);
    free_sheet(&fine);
}

static void a_hole_is_counted(void **state)
{
    (void)state;
    sheet s = make_sheet(2, 2, 1, 1, flat);
    s.view.face_count = 6;  // the last square, a quarter, is not there
    shape_grid g;
    int32_t missed;
    assert_true(shape_sample(&s.view, 0.1, &g, &missed));
    assert_int_equal(missed, 25);
    shape_grid_free(&g);
    free_sheet(&s);
}

// --- smoothing --------------------------------------------------------------------------------------------

static void flat_cloth_stays_flat_to_its_borders(void **state)
{
    (void)state;
    shape_grid g = placed(60, 40, 0.01, tilted), s;
    assert_true(shape_smooth(&g, 0.05, &s));
    for (int32_t i = 0; i < g.nu * g.nv; i++)
        assert_near(hypot(hypot(g.pos[i].x - s.pos[i].x, g.pos[i].y - s.pos[i].y), g.pos[i].z - s.pos[i].z), 0, 1e-14);
    assert_near(shape_out_of_plane(&g, &s), 0, 1e-14);
    shape_grid_free(&g);
    shape_grid_free(&s);
}

// A Gaussian takes exp(-k^2 sigma^2 / 2) of a wave of number k.
static void waves_fade_by_their_length(void **state)
{
    (void)state;
    shape_grid g = placed(201, 20, 0.005, wavy), s;
    assert_true(shape_smooth(&g, 0.02, &s));
    const double k = 2 * PI / WAVE, left = exp(-k * k * 0.02 * 0.02 / 2);
    for (int32_t i = 0; i < g.nu; i++)
        assert_near(s.pos[10 * g.nu + i].z, left * g.pos[10 * g.nu + i].z, 1e-4 * AMPLITUDE);
    shape_grid_free(&g);
    shape_grid_free(&s);
}

// --- curvature --------------------------------------------------------------------------------------------

static void mean_curvature_of(const shape_grid *g, double expected, double tolerance)
{
    double *h = malloc((size_t)g->nu * (size_t)g->nv * sizeof *h);
    const int32_t count = shape_mean_curvature(g, 3, h);
    assert_int_equal(count, (g->nu - 6) * (g->nv - 6));
    for (int32_t i = 0; i < count; i++) assert_near(h[i], expected, tolerance);
    free(h);
}

static void a_cylinder_has_half_its_inverse_radius(void **state)
{
    (void)state;
    shape_grid out = placed(80, 40, 0.005, cylinder), in = placed(80, 40, 0.005, hollow),
               even = placed(30, 30, 0.01, tilted);
    mean_curvature_of(&out, 1 / (2 * RADIUS), 2e-3 / RADIUS);  // differences: h^2 / R^2 of it
    mean_curvature_of(&in, -1 / (2 * RADIUS), 2e-3 / RADIUS);
    mean_curvature_of(&even, 0, 1e-9);
    shape_grid_free(&out);
    shape_grid_free(&in);
    shape_grid_free(&even);
}

// From a mesh of 2 cm: smoothed, its radius is exp(-sigma^2 / 2 R^2) of what it was, and corners on edges are gone.
static void a_cylinder_of_faces_has_it_too(void **state)
{
    (void)state;
    sheet s = make_sheet(30, 15, 0.6, 0.3, cylinder);
    shape_grid g = sampled(&s, 0.005), soft;
    assert_true(shape_smooth(&g, 0.02, &soft));
    double *h = malloc((size_t)g.nu * (size_t)g.nv * sizeof *h);
    const int32_t count = shape_mean_curvature(&soft, 16, h);
    const double radius = RADIUS * exp(-0.02 * 0.02 / (2 * RADIUS * RADIUS));
    for (int32_t i = 0; i < count; i++) assert_near(h[i] * 2 * radius, 1, 0.01);
    free(h);
    shape_grid_free(&g);
    shape_grid_free(&soft);
    free_sheet(&s);
}

// --- wrinkles ---------------------------------------------------------------------------------------------

static void a_wave_is_its_amplitude_over_root_two(void **state)
{
    (void)state;
    shape_grid g = placed(201, 20, 0.005, wavy), s;
    assert_true(shape_smooth(&g, 0.05, &s));
    const double k = 2 * PI / WAVE, gone = 1 - exp(-k * k * 0.05 * 0.05 / 2);
    // 200 steps are ten whole waves; one sample more, of height 0, is in the mean
    assert_near(shape_out_of_plane(&g, &s), gone * AMPLITUDE / sqrt(2) * sqrt(200.0 / 201), 2e-3 * AMPLITUDE);
    shape_grid_free(&g);
    shape_grid_free(&s);
}

// --- histograms -------------------------------------------------------------------------------------------

static void a_shift_is_the_distance(void **state)
{
    (void)state;
    enum { N = 500 };
    double x[N], y[N], z[N];
    for (int i = 0; i < N; i++) {
        x[i] = -20 + 0.05 * i;
        y[i] = x[i] + 7;
        z[i] = i < N / 4 ? x[i] + 12 : x[i];  // a quarter goes 12 far
    }
    static shape_histogram a, b, c;
    shape_histogram_fill(x, N, 100, &a);
    shape_histogram_fill(y, N, 100, &b);
    shape_histogram_fill(z, N, 100, &c);
    assert_near(shape_histogram_distance(&a, &a), 0, 1e-15);
    assert_near(shape_histogram_distance(&a, &b), 7, 1e-9);
    assert_near(shape_histogram_distance(&b, &a), 7, 1e-9);
    assert_near(shape_histogram_distance(&a, &c), 3, 1e-9);  // all moves go one way, so their mean is the distance
}

static void what_is_beyond_the_ends_is_kept_there(void **state)
{
    (void)state;
    const double far_off[] = {-1e9, 1e9, 1e300, -INFINITY};
    static shape_histogram h;
    shape_histogram_fill(far_off, 4, 10, &h);
    assert_near(h.share[0], 0.5, 1e-15);
    assert_near(h.share[SHAPE_BINS - 1], 0.5, 1e-15);
    assert_near(shape_histogram_mean_size(&h), 10 - h.width / 2, 1e-12);
}

// --- outlines ---------------------------------------------------------------------------------------------

static shape_mask drawn(placing place, shape_view view, int32_t outside)
{
    static const double middle[2] = {0.0003, 0.5003};  // no side of the squares goes through middles of pixels
    sheet s = make_sheet(7, 5, 0.5, 0.5, place);
    shape_mask m;
    assert_true(shape_mask_make(1001, 0.002, middle, &m));
    assert_int_equal(shape_mask_draw(&m, &s.view, view), outside);
    free_sheet(&s);
    return m;
}

static void a_square_covers_its_area(void **state)
{
    (void)state;
    shape_mask a = drawn(flat, SHAPE_FRONT, 0), b = drawn(moved, SHAPE_FRONT, 0), c = drawn(turned, SHAPE_FRONT, 0);
    assert_near(shape_mask_area(&a), 0.25, 1e-9);
    assert_near(shape_mask_area(&b), 0.25, 1e-9);
    assert_near(shape_mask_area(&c), 0.25, 0.25 * 0.002);  // slanted sides: by chance
    assert_near(shape_mask_difference(&a, &b), 2 * 0.04 * 0.5, 1e-9);
    assert_near(shape_mask_difference(&a, &a), 0, 0);
    shape_mask_free(&a);
    shape_mask_free(&b);
    shape_mask_free(&c);
}

static void views_look_along_their_axes(void **state)
{
    (void)state;
    shape_mask above = drawn(lying, SHAPE_ABOVE, 0), edge_on = drawn(lying, SHAPE_FRONT, 48);
    assert_near(shape_mask_area(&above), 0.25, 1e-9);
    assert_near(shape_mask_area(&edge_on), 0, 0);  // 3 m up: beyond the raster
    shape_mask_free(&above);
    shape_mask_free(&edge_on);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_do_not_depend_on_the_mesh),
        cmocka_unit_test(a_hole_is_counted),
        cmocka_unit_test(flat_cloth_stays_flat_to_its_borders),
        cmocka_unit_test(waves_fade_by_their_length),
        cmocka_unit_test(a_cylinder_has_half_its_inverse_radius),
        cmocka_unit_test(a_cylinder_of_faces_has_it_too),
        cmocka_unit_test(a_wave_is_its_amplitude_over_root_two),
        cmocka_unit_test(a_shift_is_the_distance),
        cmocka_unit_test(what_is_beyond_the_ends_is_kept_there),
        cmocka_unit_test(a_square_covers_its_area),
        cmocka_unit_test(views_look_along_their_axes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
