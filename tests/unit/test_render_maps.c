// tests/unit/test_render_maps.c: maps with known answers, crossings, and the parts of diagrams.

#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "detect/intersect.h"
#include "math/vec3.h"
#include "render/font.h"
#include "render/legend.h"
#include "render/maps.h"
#include "render/plot.h"
#include "render/ticks.h"

static tl_allocator alloc;
static tl_error err;

static int setup(void **state)
{
    (void)state;
    alloc = tl_allocator_default();
    return 0;
}

enum { N = 24, POS = (N + 1) * (N + 1), FACES = 2 * N * N };

typedef struct grid {
    tl_vec3 pos[POS];
    tl_vec2 uv[POS];
    int32_t face[FACES][3];
    tl_draw_mesh s;
} grid;

/// A unit square in material space; `place` puts it into the world.
static void fill(grid *g, tl_vec3 (*place)(double u, double v))
{
    int32_t f = 0;
    for (int32_t j = 0; j <= N; j++)
        for (int32_t i = 0; i <= N; i++) {
            const double u = (double)i / N, v = (double)j / N;
            g->uv[j * (N + 1) + i] = (tl_vec2){u, v};
            g->pos[j * (N + 1) + i] = place(u, v);
        }
    for (int32_t j = 0; j < N; j++)
        for (int32_t i = 0; i < N; i++) {
            const int32_t a = j * (N + 1) + i, b = a + 1, c = a + N + 1, d = c + 1;
            const int32_t two[2][3] = {{a, b, c}, {b, d, c}};
            memcpy(g->face[f], two[0], sizeof two[0]);
            memcpy(g->face[f + 1], two[1], sizeof two[1]);
            f += 2;
        }
    g->s = (tl_draw_mesh){.pos = g->pos,
                          .pos_count = POS,
                          .face = (const int32_t(*)[3])g->face,
                          .face_count = FACES,
                          .uv = g->uv,
                          .uv_count = POS,
                          .face_uv = (const int32_t(*)[3])g->face,
                          .crease_deg = 40};
}

static tl_vec3 stretched(double u,
                         double v)  // 1.2 along one diagonal direction, 0.95 across, then turned in space
{
    const double c = cos(0.6), s = sin(0.6), a = c * u + s * v, b = -s * u + c * v;
    const double x = 1.2 * a, y = 0.95 * b;
    return (tl_vec3){0.8 * x, 0.6 * x, y};
}
static tl_vec3 squeezed(double u, double v) { return (tl_vec3){0.7 * u, v, 0}; }
static tl_vec3 on_cylinder(double u, double v) { return (tl_vec3){0.25 * sin(u / 0.25), v, 0.25 * cos(u / 0.25)}; }
static tl_vec3 flat(double u, double v) { return (tl_vec3){u, v, 0}; }

static void strain_of_a_known_stretch(void **state)
{
    (void)state;
    grid *g = calloc(1, sizeof *g);
    float value[FACES];
    fill(g, stretched);
    tl_map_strain(&g->s, value);
    for (int f = 0; f < FACES; f++) assert_near((double)value[f], 0.2, 1e-6);
    fill(g, squeezed);
    tl_map_strain(&g->s, value);
    for (int f = 0; f < FACES; f++) assert_near((double)value[f], -0.3, 1e-6);
    tl_map_tension(&g->s, value);
    for (int f = 0; f < FACES; f++) assert_near((double)value[f], 0, 1e-6);
    g->pos[0].x = (double)NAN;
    tl_map_strain(&g->s, value);
    assert_true(isnan(value[0]));
    assert_false(isnan(value[FACES - 1]));
    free(g);
}

static void curvature_of_a_cylinder(void **state)
{
    (void)state;
    grid *g = calloc(1, sizeof *g);
    float value[POS];
    fill(g, on_cylinder);
    assert_ok(tl_map_curvature(&g->s, &alloc, NULL, value, &err));
    // inside; at the border the normals come from one side only
    for (int j = 2; j < N - 1; j++)
        for (int i = 2; i < N - 1; i++) assert_near((double)value[j * (N + 1) + i], 4, 0.05);
    free(g);
}

static void sizes_and_levels(void **state)
{
    (void)state;
    grid *g = calloc(1, sizeof *g);
    float value[FACES];
    fill(g, flat);
    // an equilateral triangle of edge 0.5, and one stretched by 4
    const double h = sqrt(3) / 2;
    g->uv[0] = (tl_vec2){0, 0}, g->uv[1] = (tl_vec2){0.5, 0}, g->uv[N + 1] = (tl_vec2){0.25, 0.5 * h};
    tl_extent e = tl_face_extent(&g->s, 0);
    assert_near(e.large, 0.5, 1e-12);
    assert_near(e.small, 0.5, 1e-12);
    for (int i = 0; i < POS; i++) g->uv[i].x *= 4;
    e = tl_face_extent(&g->s, 0);
    assert_near(e.large, 2, 1e-12);
    assert_near(e.small, 0.5, 1e-12);
    fill(g, flat);
    tl_map_level(&g->s, 8 * tl_face_area(&g->s, 5), value);
    assert_near((double)value[5], 3, 0);
    free(g);
}

static tl_vec3 moved(double u, double v) { return (tl_vec3){u + 0.03, v, 0.04 * u}; }

static void speed_between_two_meshes(void **state)
{
    (void)state;
    grid *a = calloc(1, sizeof *a), *b = calloc(1, sizeof *b);
    float value[POS];
    fill(a, flat);
    fill(b, moved);
    // the later mesh is another one: its inner points lie elsewhere on the cloth
    for (int j = 1; j < N; j++)
        for (int i = 1; i < N; i++) {
            tl_vec2 *q = &b->uv[j * (N + 1) + i];
            q->x += 0.01, q->y -= 0.008;
            b->pos[j * (N + 1) + i] = moved(q->x, q->y);
        }
    assert_ok(tl_map_speed_between(&a->s, &b->s, 0.5, &alloc, value, &err));
    for (int i = 0; i < POS; i++) assert_near((double)value[i], hypot(0.03, 0.04 * b->uv[i].x) / 0.5, 1e-6);
    free(a);
    free(b);
}

static bool triangles_cross(const tl_vec3 a[3], const tl_vec3 b[3])
{
    for (int i = 0; i < 3; i++)
        if (tl_segment_meets_triangle(&a[i], &a[(i + 1) % 3], &b[0], &b[1], &b[2]) ||
            tl_segment_meets_triangle(&b[i], &b[(i + 1) % 3], &a[0], &a[1], &a[2]))
            return true;
    return false;
}

static void crossings_and_nearness(void **state)
{
    (void)state;
    // a sheet with one triangle through it
    grid *g = calloc(1, sizeof *g);
    fill(g, flat);
    const int32_t one[1][3] = {{0, 1, 2}};
    const tl_vec3 spike[3] = {{0.51, 0.52, -1}, {0.52, 0.51, -1}, {0.515, 0.515, 1}};
    const tl_draw_mesh both[2] = {g->s, {.pos = spike, .pos_count = 3, .face = one, .face_count = 1, .crease_deg = 40}};
    tl_crowd crowd;
    assert_ok(tl_crowd_init(&crowd, both, 2, &alloc, &err));
    uint8_t mark[FACES] = {0};
    int64_t pairs;
    assert_ok(tl_mark_crossings(&crowd, 0, NULL, mark, &pairs, &err));
    int64_t marked = 0, expected = 0;
    for (int f = 0; f < FACES; f++) {
        const tl_vec3 t[3] = {g->pos[g->face[f][0]], g->pos[g->face[f][1]], g->pos[g->face[f][2]]};
        marked += mark[f], expected += triangles_cross(t, spike);
        assert_int_equal(mark[f], triangles_cross(t, spike));
    }
    assert_true(marked >= 1);
    assert_int_equal(pairs, expected);
    tl_crowd_free(&crowd);
    // a second sheet 4 mm above the first
    grid *h = calloc(1, sizeof *h);
    fill(h, flat);
    for (int i = 0; i < POS; i++) h->pos[i].z = 0.004 + (i == POS / 2 ? 1 : 0);
    const tl_draw_mesh two[2] = {g->s, h->s};
    assert_ok(tl_crowd_init(&crowd, two, 2, &alloc, &err));
    float value[POS];
    assert_ok(tl_map_nearness(&crowd, 0, 0.01, NULL, value, &err));
    assert_near((double)value[N + 2], 0.004, 1e-5);
    assert_near((double)value[POS / 2], 0.01, 1e-6);
    tl_crowd_free(&crowd);
    free(g);
    free(h);
}

static void ticks_are_round(void **state)
{
    (void)state;
    tl_ticks t;
    tl_ticks_init(&t, 0, 9400, 5, 1);
    assert_near(t.hi, 10000, 1e-9);
    assert_string_equal(t.label[1], "2,000");
    tl_ticks_init(&t, -0.05, 0.08, 5, 1);
    assert_near(t.lo, -0.05, 1e-12);
    assert_near(t.hi, 0.1, 1e-12);
    tl_ticks_init(&t, 3, 3, 5, 0);  // empty range
    assert_true(t.count >= 2);
    tl_ticks_init(&t, (double)NAN, 1, 5, 0);
    assert_true(t.count >= 2);
    char label[TL_TICK_CHARS];
    tl_tick_label(1234567, 1, label);
    assert_string_equal(label, "1,234,567");
    tl_tick_label(-1234.5, 0.5, label);
    assert_string_equal(label, "-1,234.5");
    tl_tick_label(2e-7, 1e-7, label);
    assert_string_equal(label, "2e-7");
    tl_ticks_log(&t, 0.004, 300);
    assert_near(t.lo, 0.001, 1e-15);
    assert_near(t.hi, 1000, 1e-9);
}

typedef struct ink_box {
    float lo_x, hi_x, lo_y, hi_y;
    int strokes;
} ink_box;

static void grow(void *arg, const tl_vec2f *p, int32_t count)
{
    ink_box *b = arg;
    b->strokes++;
    for (int32_t i = 0; i < count; i++) {
        b->lo_x = p[i].x < b->lo_x ? p[i].x : b->lo_x, b->hi_x = p[i].x > b->hi_x ? p[i].x : b->hi_x;
        b->lo_y = p[i].y < b->lo_y ? p[i].y : b->lo_y, b->hi_y = p[i].y > b->hi_y ? p[i].y : b->hi_y;
    }
}

static void every_letter_stays_in_its_box(void **state)
{
    (void)state;
    for (int c = 33; c < 127; c++) {
        const char text[2] = {(char)c, 0};
        ink_box b = {9, -9, 9, -9, 0};
        const float width = tl_font_strokes(text, grow, &b);
        assert_true(b.strokes > 0 && width > 0);
        assert_true(b.lo_x >= -0.1f && b.hi_x <= width + 0.1f);
        assert_true(b.lo_y >= -0.35f && b.hi_y <= 1.2f);
    }
    assert_near((double)tl_font_strokes("", NULL, NULL), 0, 0);
    assert_true(tl_font_strokes("\xff\xc3", NULL, NULL) > 0);  // not UTF-8: something is drawn, nothing is read beyond
}

static void plots_survive_odd_data(void **state)
{
    (void)state;
    const double nan = (double)NAN;
    double x[700], flat_[700], holes[700], zero[700];
    for (int i = 0; i < 700; i++)
        x[i] = i * 0.01, flat_[i] = 5, holes[i] = i % 9 == 0 ? nan : sin(i * 0.05) * 1e-7, zero[i] = 0;
    const tl_series series[3] = {{"flat", flat_, 0x2f6db3}, {"holes", holes, 0xd2603a}, {"zero", zero, 0x3f9468}};
    const tl_chart charts[3] = {{"lines", TL_CHART_LINES, series, 3, false, false},
                                {"stack", TL_CHART_STACKED, series, 3, true, false},
                                {"log", TL_CHART_LINES, series, 1, false, true}};
    for (int32_t points = 0; points <= 700; points += points < 2 ? 1 : 349) {
        const tl_plot plot = {.title = "<odd> & data",
                              .x_title = "x",
                              .x = x,
                              .point_count = points,
                              .charts = charts,
                              .chart_count = 3,
                              .width = 400};
        tl_image image;
        tl_canvas canvas;
        assert_ok(tl_image_create(&alloc, 400, (int32_t)tl_plot_height(&plot), &image, &err));
        assert_ok(tl_canvas_init(&canvas, &alloc, &image, &err));
        const uint8_t white[3] = {255, 255, 255};
        tl_image_fill(&image, white);
        tl_raster_pen to = {&canvas, 1};
        const tl_pen pen = tl_pen_raster(&to);
        tl_plot_draw(&plot, &pen);
        tl_canvas_free(&canvas);
        tl_image_free(&alloc, &image);
    }
}

// A comb of 120 teeth: one line of the picture crosses 240 sides, and what lies between teeth stays white.
static void areas_of_many_teeth_are_filled_between_their_sides(void **state)
{
    (void)state;
    enum { TEETH = 120, WIDTH = 4 * TEETH };
    tl_image image;
    tl_canvas canvas;
    assert_ok(tl_image_create(&alloc, WIDTH, 40, &image, &err));
    assert_ok(tl_canvas_init(&canvas, &alloc, &image, &err));
    const uint8_t white[3] = {255, 255, 255};
    tl_image_fill(&image, white);
    tl_vec2 p[4 * TEETH];
    for (int i = 0; i < TEETH; i++) {  // teeth of 2 pixels, 2 apart, on a back of 4
        p[4 * i] = (tl_vec2){4 * i, 32}, p[4 * i + 1] = (tl_vec2){4 * i, 4};
        p[4 * i + 2] = (tl_vec2){4 * i + 2, 4}, p[4 * i + 3] = (tl_vec2){4 * i + 2, 32};
    }
    p[4 * TEETH - 1].y = 36, p[0].y = 36;  // the back
    tl_canvas_area(&canvas, p, 4 * TEETH, (tl_ink){{0, 0, 0}, 1});
    for (int32_t x = 0; x < WIDTH; x++) assert_int_equal(image.rgb[3 * (20 * WIDTH + x)], x % 4 < 2 ? 0 : 255);
    tl_canvas_free(&canvas);
    tl_image_free(&alloc, &image);
}

static void legends_fit_small_and_large_pictures(void **state)
{
    (void)state;
    const int32_t sizes[][2] = {{1, 1}, {40, 500}, {160, 120}, {1280, 720}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        tl_image image;
        assert_ok(tl_image_create(&alloc, sizes[i][0], sizes[i][1], &image, &err));
        const uint8_t grey[3] = {200, 200, 200};
        tl_image_fill(&image, grey);
        for (int kind = 0; kind < 4; kind++) {
            tl_legend l = {.title = "speed [m/s]", .scale = {(tl_scale_kind)kind, 0, 3}, .factor = 1};
            assert_ok(tl_legend_draw(&l, &alloc, &image, &err));
            l.scale.lo = 3, l.scale.hi = 0;
            assert_ok(tl_legend_draw(&l, &alloc, &image, &err));
        }
        const tl_legend mesh = {.mesh_colours = true, .size_lo = 0.004, .size_hi = 0.2};
        assert_ok(tl_legend_draw(&mesh, &alloc, &image, &err));
        assert_ok(tl_caption_draw("a caption that is longer than the picture is wide", &alloc, &image, &err));
        tl_image_free(&alloc, &image);
    }
}

static void mesh_colours_are_those_of_the_paper(void **state)
{
    (void)state;
    const tl_rgb large = tl_mesh_colour(1, 1), small = tl_mesh_colour(0, 1), thin = tl_mesh_colour(0, 0.1);
    assert_true(large.z > large.x && large.z > large.y);
    assert_true(small.x > 3 * small.y && small.x > 3 * small.z);
    assert_true(thin.x > 3 * thin.z && thin.y > 3 * thin.z);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strain_of_a_known_stretch),
        cmocka_unit_test(curvature_of_a_cylinder),
        cmocka_unit_test(sizes_and_levels),
        cmocka_unit_test(speed_between_two_meshes),
        cmocka_unit_test(crossings_and_nearness),
        cmocka_unit_test(ticks_are_round),
        cmocka_unit_test(every_letter_stays_in_its_box),
        cmocka_unit_test(plots_survive_odd_data),
        cmocka_unit_test(areas_of_many_teeth_are_filled_between_their_sides),
        cmocka_unit_test(legends_fit_small_and_large_pictures),
        cmocka_unit_test(mesh_colours_are_those_of_the_paper),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
