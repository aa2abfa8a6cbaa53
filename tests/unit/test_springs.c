// Spring dynamics: energies against closed forms at every level of refinement, free fall, momentum, held nodes, the
// published mode of Verlet, and the same bits on any number of threads.

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "dynamics/springs/springs_impl.h"
#include "math/vec3.h"

typedef struct sheet {
    int32_t n, nodes, tris, edges;
    int32_t (*tri)[3], (*edge)[2], (*edge_tri)[2];
    tl_vec2 (*uv)[3], *at;
    uint8_t *level;
    tl_springs *s;
} sheet;

static void ok(tl_status status, const tl_error *err)
{
    if (status != TL_OK) fail_msg("%s", err->message);
}

static void near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.12g is not %.12g within %g", a, b, tolerance);
}

static void add_edge(sheet *m, int32_t a, int32_t b, int32_t left, int32_t right)
{
    const int32_t e = m->edges++;
    m->edge[e][0] = left >= 0 ? a : b, m->edge[e][1] = left >= 0 ? b : a;
    m->edge_tri[e][0] = left >= 0 ? left : right, m->edge_tri[e][1] = left >= 0 ? right : -1;
}

// n x n squares of a sheet of `width` x `height` [m], two triangles each.
static sheet make_sheet(int32_t n, double width, double height, const tl_material *fabric, const tl_springs_def *def)
{
    sheet m = {.n = n, .nodes = (n + 1) * (n + 1), .tris = 2 * n * n};
    m.tri = calloc((size_t)m.tris, sizeof *m.tri), m.uv = calloc((size_t)m.tris, sizeof *m.uv);
    m.edge = calloc(3 * (size_t)m.tris, sizeof *m.edge), m.edge_tri = calloc(3 * (size_t)m.tris, sizeof *m.edge_tri);
    m.at = calloc((size_t)m.nodes, sizeof *m.at), m.level = calloc(3 * (size_t)m.tris, 1);
    for (int32_t i = 0; i < m.nodes; i++) m.at[i] = (tl_vec2){width * (i % (n + 1)) / n, height * (i / (n + 1)) / n};
    for (int32_t j = 0, t = 0; j < n; j++)
        for (int32_t i = 0; i < n; i++) {
            const int32_t a = j * (n + 1) + i, two[2][3] = {{a, a + 1, a + n + 2}, {a, a + n + 2, a + n + 1}};
            for (int k = 0; k < 2; k++, t++)
                for (int v = 0; v < 3; v++) m.tri[t][v] = two[k][v], m.uv[t][v] = m.at[two[k][v]];
        }
    for (int32_t j = 0; j <= n; j++)
        for (int32_t i = 0; i <= n; i++) {
            const int32_t a = j * (n + 1) + i, t = 2 * (j * n + i);
            if (i < n) add_edge(&m, a, a + 1, j < n ? t : -1, j > 0 ? t - 2 * n + 1 : -1);
            if (j < n) add_edge(&m, a, a + n + 1, i > 0 ? t - 2 : -1, i < n ? t + 1 : -1);
            if (i < n && j < n) add_edge(&m, a, a + n + 2, t + 1, t);
        }
    const tl_allocator alloc = tl_allocator_default();
    const tl_springs_mesh mesh = {.node_count = m.nodes,
                                  .tri_count = m.tris,
                                  .edge_count = m.edges,
                                  .tri = (const int32_t(*)[3])m.tri,
                                  .uv = (const tl_vec2(*)[3])m.uv,
                                  .edge = (const int32_t(*)[2])m.edge,
                                  .edge_tri = (const int32_t(*)[2])m.edge_tri,
                                  .edge_level = m.level,
                                  .fabric = fabric,
                                  .fabric_count = 1};
    tl_error err;
    ok(tl_springs_create(&alloc, def, &m.s, &err), &err);
    ok(tl_springs_set_mesh(m.s, &mesh, &err), &err);
    for (int32_t i = 0; i < m.nodes; i++) {
        double *x = tl_springs_pos(m.s)[i];
        x[0] = m.at[i].x, x[1] = 0, x[2] = -m.at[i].y, x[3] = 0;
        memset(tl_springs_vel(m.s)[i], 0, 4 * sizeof(double));
    }
    return m;
}

static void free_sheet(sheet *m)
{
    tl_springs_destroy(m->s);
    free(m->tri), free(m->uv), free(m->edge), free(m->edge_tri), free(m->at), free(m->level);
}

static void stretch_energy_does_not_depend_on_the_level(void **state)
{
    (void)state;
    // 2 % in every direction: a membrane with Young's modulus E stores E/(1 - nu) e^2 per area; springs have nu = 1/3.
    tl_material fabric = tl_material_default();
    const tl_springs_def def = tl_springs_def_default();
    double first = 0;
    for (int level = 0; level <= 4; level++) {
        sheet m = make_sheet(4 << level, 0.8, 0.6, &fabric, &def);
        for (int32_t i = 0; i < m.nodes; i++)
            for (int k = 0; k < 3; k++) tl_springs_pos(m.s)[i][k] *= 1.02;
        const tl_springs_measures q = tl_springs_measure(m.s);
        if (level == 0) first = q.stretch_energy;
        near(q.stretch_energy / first, 1, 1e-9);
        near(q.mass, 0.2 * 0.48, 1e-12);
        free_sheet(&m);
    }
    // every edge of length l has energy 1/2 k (0.02 l)^2 with k l^2 = 8/9 c A: in all 8/9 * 3 c e^2 / 2 per area
    const double c = fabric.stretch[0][0];
    near(first / (0.48 * 0.5 * c * 0.0004 * 3 * 8 / 9), 1, 0.02);
}

static void bending_is_that_of_a_plate(void **state)
{
    (void)state;
    // Rolled to a cylinder of radius R: 1/2 B / R^2 per area, whatever the mesh.
    tl_material fabric = tl_material_default();
    const tl_springs_def def = tl_springs_def_default();
    const double radius = 0.2, width = 0.3, height = 0.2;
    for (int32_t n = 16; n <= 64; n *= 2) {
        sheet m = make_sheet(n, width, height, &fabric, &def);
        for (int32_t i = 0; i < m.nodes; i++) {
            double *x = tl_springs_pos(m.s)[i];
            x[0] = radius * sin(m.at[i].x / radius), x[1] = radius * cos(m.at[i].x / radius);
        }
        const tl_springs_measures q = tl_springs_measure(m.s);
        // folds at the border belong to the cloth beside it, which is not there: one row of n is missing
        const double expected = 0.5 * fabric.bend[0][0] / (radius * radius) * width * height;
        near(q.bend_energy / expected, 1, 1.6 / n + 0.002);
        free_sheet(&m);
    }
}

static tl_springs_report advance(tl_springs *s, tl_springs_step step)
{
    tl_springs_report report;
    tl_error err;
    ok(tl_springs_advance(s, &step, &report, &err), &err);
    return report;
}

static void free_fall_is_one_half_g_t_squared(void **state)
{
    (void)state;
    const tl_material fabric = tl_material_default();
    for (int method = 0; method < 2; method++) {
        tl_springs_def def = tl_springs_def_default();
        def.method = method ? TL_SPRINGS_VERLET : TL_SPRINGS_XPBD, def.damping = 0;
        sheet m = make_sheet(3, 0.5, 0.5, &fabric, &def);
        for (int k = 0; k < 60; k++)
            advance(m.s, (tl_springs_step){.dt = 1.0 / 60, .substeps = 20, .gravity = {0, -9.81, 0}});
        // 1/2 g t^2 and the half of a substep that a symplectic step goes too far; half of it with the printed formula
        for (int32_t i = 0; i < m.nodes; i++) near(tl_springs_pos(m.s)[i][1], -0.5 * 9.81, 0.5 * 9.81 / 1200 + 1e-9);
        free_sheet(&m);
    }
}

static void forces_sum_to_zero(void **state)
{
    (void)state;
    const tl_material fabric = tl_material_default();
    for (int method = 0; method < 3; method++) {
        tl_springs_def def = tl_springs_def_default();
        def.method = method ? TL_SPRINGS_VERLET : TL_SPRINGS_XPBD, def.damping = 0;
        def.bending = method == 1 ? TL_SPRINGS_BEND_ELEMENTS : TL_SPRINGS_BEND_SPRINGS, def.length_rounds = 2;
        sheet m = make_sheet(5, 0.5, 0.5, &fabric, &def);
        const double *mass = tl_springs_mass(m.s);
        double before[3] = {0, 0, 0}, after[3] = {0, 0, 0};
        for (int32_t i = 0; i < m.nodes; i++)
            for (int k = 0; k < 3; k++) {  // crumpled, stretched by up to a fifth, and on the move
                const double noise = sin(12.9898 * i + 78.233 * k) * 0.01;
                tl_springs_pos(m.s)[i][k] = 1.05 * tl_springs_pos(m.s)[i][k] + noise;
                tl_springs_vel(m.s)[i][k] = 20 * noise;
                before[k] += mass[i] * 20 * noise;
            }
        advance(m.s, (tl_springs_step){.dt = 1.0 / 60, .substeps = 8});
        for (int32_t i = 0; i < m.nodes; i++)
            for (int k = 0; k < 3; k++) after[k] += mass[i] * tl_springs_vel(m.s)[i][k];
        for (int k = 0; k < 3; k++) near(after[k], before[k], 1e-12);
        free_sheet(&m);
    }
}

static void a_flat_cloth_stays_and_a_fold_opens_either_way(void **state)
{
    (void)state;
    tl_material fabric = tl_material_default();
    for (int method = 0; method < 3; method++)
        for (int way = -1; way <= 1; way++) {
            tl_springs_def def = tl_springs_def_default();
            def.method = method ? TL_SPRINGS_VERLET : TL_SPRINGS_XPBD;
            def.bending = method == 1 ? TL_SPRINGS_BEND_ELEMENTS : TL_SPRINGS_BEND_SPRINGS;
            def.bend = method == 2 ? 20 : 0.002;
            sheet m = make_sheet(2, 0.1, 0.1, &fabric, &def);
            for (int32_t i = 0; i < m.nodes; i++)  // the middle line is a fold of 2 * 17 degrees
                if (i % 3 != 1)
                    tl_springs_pos(m.s)[i][1] = way * 0.05 * sin(0.3),
                    tl_springs_pos(m.s)[i][0] = 0.05 + (i % 3 - 1) * 0.05 * cos(0.3);
            advance(m.s, (tl_springs_step){.dt = 1.0 / 60, .substeps = 20});
            const double middle = tl_springs_pos(m.s)[4][1],
                         side = 0.5 * (tl_springs_pos(m.s)[3][1] + tl_springs_pos(m.s)[5][1]);
            if (way == 0)
                near(side - middle, 0, 1e-12);
            else
                assert_true(way * (side - middle) < 0.05 * sin(0.3) - 1e-7);
            free_sheet(&m);
        }
}

static void held_nodes_go_where_they_are_sent(void **state)
{
    (void)state;
    const tl_material fabric = tl_material_default();
    const tl_springs_def def = tl_springs_def_default();
    sheet m = make_sheet(6, 0.5, 0.5, &fabric, &def);
    uint8_t held[49] = {1, 0, 0, 0, 0, 0, 1};
    tl_vec3 target[49] = {{0.1, 0.2, 0.3}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0.5, 0, 0.01}};
    tl_springs_hold(m.s, held);
    // .. though a contact and gravity would have them elsewhere
    const tl_push_contact wall = {.node = 0, .point = {0, 1, 0}, .normal = {0, 1, 0}};
    advance(m.s, (tl_springs_step){.dt = 1.0 / 60,
                                   .substeps = 8,
                                   .gravity = {0, -9.81, 0},
                                   .target = target,
                                   .contact = &wall,
                                   .contact_count = 1});
    assert_memory_equal(tl_springs_pos(m.s)[0], &target[0], sizeof(tl_vec3));
    assert_memory_equal(tl_springs_pos(m.s)[6], &target[6], sizeof(tl_vec3));
    free_sheet(&m);
}

static void friction_holds_below_its_angle(void **state)
{
    (void)state;
    // A sheet on a slope of 20 degrees: it stays for a coefficient above tan 20 = 0.364, else it slides by
    // 1/2 g (sin - mu cos) t^2.
    const tl_material fabric = tl_material_default();
    const tl_springs_def def = tl_springs_def_default();
    const double angle = 20 * 3.14159265358979 / 180, g = 9.81;
    const tl_vec3 normal = {-sin(angle), cos(angle), 0};
    for (int slides = 0; slides < 2; slides++) {
        sheet m = make_sheet(3, 0.2, 0.2, &fabric, &def);
        tl_push_contact contact[16];
        for (int32_t i = 0; i < m.nodes; i++) {
            double *x = tl_springs_pos(m.s)[i];
            x[1] = x[0] * sin(angle), x[0] *= cos(angle);
            contact[i] = (tl_push_contact){.node = i, .normal = normal, .friction = slides ? 0.2 : 0.5};
        }
        const double from = tl_springs_pos(m.s)[0][0];
        for (int k = 0; k < 30; k++)
            advance(
                m.s,
                (tl_springs_step){
                    .dt = 1.0 / 60, .substeps = 20, .gravity = {0, -g, 0}, .contact = contact, .contact_count = 16});
        const double way = (from - tl_springs_pos(m.s)[0][0]) / cos(angle);
        near(way, slides ? 0.5 * g * (sin(angle) - 0.2 * cos(angle)) * 0.25 : 0, slides ? 0.01 : 1e-6);
        free_sheet(&m);
    }
}

static void length_constraints_hold_and_keep_the_centre(void **state)
{
    (void)state;
    const tl_material fabric = tl_material_default();
    tl_springs_def def = tl_springs_def_default();
    def.method = TL_SPRINGS_VERLET, def.rule = TL_SPRINGS_THESIS, def.length_rounds = 400;
    sheet m = make_sheet(4, 0.4, 0.4, &fabric, &def);
    for (int32_t i = 0; i < m.nodes; i++) tl_springs_pos(m.s)[i][0] *= 1.2;
    double centre = 0, after = 0;
    for (int32_t i = 0; i < m.nodes; i++) centre += tl_springs_mass(m.s)[i] * tl_springs_pos(m.s)[i][0];
    advance(m.s, (tl_springs_step){.dt = 1e-3, .substeps = 1});
    for (int32_t i = 0; i < m.nodes; i++) after += tl_springs_mass(m.s)[i] * tl_springs_pos(m.s)[i][0];
    near(after, centre, 1e-15);
    assert_true(tl_springs_measure(m.s).max_stretch < 1.0501);
    free_sheet(&m);
}

static void a_step_too_long_is_cut_or_refused(void **state)
{
    (void)state;
    const tl_material fabric = tl_material_default();  // 1000 N/m: stable below a millisecond
    tl_springs_def def = tl_springs_def_default();
    def.method = TL_SPRINGS_VERLET, def.length_rounds = 0;
    sheet m = make_sheet(16, 0.5, 0.5, &fabric, &def);
    tl_springs_pos(m.s)[5][1] = 0.01;
    assert_true(advance(m.s, (tl_springs_step){.dt = 1.0 / 60, .substeps = 1}).substeps > 10);
    for (int k = 0; k < 20; k++) advance(m.s, (tl_springs_step){.dt = 1.0 / 60, .substeps = 1});
    assert_true(tl_springs_measure(m.s).max_stretch < 1.2);
    tl_error err;
    const tl_springs_step step = {.dt = 1, .substeps = 1};
    assert_int_equal(tl_springs_advance(m.s, &step, NULL, &err), TL_FAILED);
    assert_non_null(strstr(err.message, "smaller dt"));
    free_sheet(&m);
}

static uint64_t drape(int threads)
{
    const tl_material fabric = tl_material_default();
    const tl_springs_def def = tl_springs_def_default();
    sheet m = make_sheet(80, 1, 1, &fabric, &def);  // colours of several chunks
    uint8_t *held = calloc((size_t)m.nodes, 1);
    held[0] = held[80] = 1;
    tl_springs_hold(m.s, held);
    tl_workers *workers;
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    ok(tl_workers_create(&alloc, threads, &workers, &err), &err);
    for (int k = 0; k < 4; k++)
        advance(m.s, (tl_springs_step){.dt = 1.0 / 60, .substeps = 20, .gravity = {0, -9.81, 0}, .workers = workers});
    uint64_t hash = 0;
    for (int32_t i = 0; i < m.nodes; i++)
        for (int k = 0; k < 3; k++) {
            uint64_t bits;
            memcpy(&bits, &tl_springs_pos(m.s)[i][k], sizeof bits);
            hash = (hash ^ bits) * UINT64_C(1099511628211);
        }
    tl_workers_destroy(workers);
    free(held);
    free_sheet(&m);
    return hash;
}

static void threads_change_no_bit(void **state)
{
    (void)state;
    const uint64_t one = drape(1);
    assert_true(drape(2) == one);
    assert_true(drape(3) == one);
}

// A strip is clamped over a quarter of its length; its end comes down as far at every level.
static void a_cantilever_droops_alike_at_every_level(void **state)
{
    (void)state;
    const tl_material fabric = tl_material_default();
    const tl_springs_def def = tl_springs_def_default();
    double droop[4];
    for (int level = 0; level < 4; level++) {
        sheet m = make_sheet(4 << level, 0.08, 0.04, &fabric, &def);
        uint8_t *held = calloc((size_t)m.nodes, 1);
        for (int32_t i = 0; i < m.nodes; i++) held[i] = m.at[i].x <= 0.02 + 1e-9;
        tl_springs_hold(m.s, held);
        for (int k = 0; k < 150; k++) {
            advance(m.s, (tl_springs_step){.dt = 1.0 / 60, .substeps = 48, .gravity = {0, -9.81, 0}});
            for (int32_t i = 0; i < m.nodes; i++)
                for (int c = 0; c < 3; c++) tl_springs_vel(m.s)[i][c] *= 0.8;
        }
        droop[level] = 0;
        for (int32_t j = 0; j <= m.n; j++) droop[level] -= tl_springs_pos(m.s)[j * (m.n + 1) + m.n][1] / (m.n + 1);
        free(held), free_sheet(&m);
    }
    print_message("droop %.3f, %.3f, %.3f, %.3f mm\n", 1e3 * droop[0], 1e3 * droop[1], 1e3 * droop[2], 1e3 * droop[3]);
    assert_true(droop[0] > 0.002);
    for (int k = 1; k < 4; k++) near(droop[k] / droop[k - 1], 1, 0.05);
}

// A spring across a seam is as long as its two sides laid out flat with their middles on each other (Simnett 2012,
// Fig. 4.6), each side in its own panel, lengths unlike.
static void across_a_seam_sides_are_laid_out_flat(void **state)
{
    (void)state;
    const tl_material fabric = tl_material_default();
    const tl_springs_def def = tl_springs_def_default();
    const tl_allocator alloc = tl_allocator_default();
    // 0-1 is sewn: 1 m long in the first panel, tip 0.8 m off it and 0.2 m behind its middle; 1.2 m in the second,
    // which is turned and far away, tip 0.6 m off and 0.2 m beyond
    const int32_t tri[2][3] = {{0, 1, 2}, {1, 0, 3}};
    const tl_vec2 uv[2][3] = {{{0, 0}, {1, 0}, {0.3, 0.8}}, {{5, 5}, {5, 6.2}, {4.4, 5.4}}};
    const int32_t edge[5][2] = {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {3, 1}},
                  side[5][2] = {{0, 1}, {0, -1}, {0, -1}, {1, -1}, {1, -1}};
    const tl_springs_mesh mesh = {.node_count = 4,
                                  .tri_count = 2,
                                  .edge_count = 5,
                                  .tri = tri,
                                  .uv = uv,
                                  .edge = edge,
                                  .edge_tri = side,
                                  .fabric = &fabric,
                                  .fabric_count = 1};
    tl_springs *s;
    tl_error err;
    ok(tl_springs_create(&alloc, &def, &s, &err), &err);
    ok(tl_springs_set_mesh(s, &mesh, &err), &err);
    near(s->span[0], hypot(0.4, 1.4), 1e-12);
    for (int32_t e = 0; e < 5; e++)  // the seam's own length: the mean of both sides
        if (s->edge[e][0] == 0 && s->edge[e][1] == 1) near(s->rest[e], 1.1, 1e-12);
    tl_springs_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stretch_energy_does_not_depend_on_the_level),
        cmocka_unit_test(bending_is_that_of_a_plate),
        cmocka_unit_test(a_cantilever_droops_alike_at_every_level),
        cmocka_unit_test(across_a_seam_sides_are_laid_out_flat),
        cmocka_unit_test(free_fall_is_one_half_g_t_squared),
        cmocka_unit_test(forces_sum_to_zero),
        cmocka_unit_test(a_flat_cloth_stays_and_a_fold_opens_either_way),
        cmocka_unit_test(held_nodes_go_where_they_are_sent),
        cmocka_unit_test(friction_holds_below_its_angle),
        cmocka_unit_test(length_constraints_hold_and_keep_the_centre),
        cmocka_unit_test(a_step_too_long_is_cut_or_refused),
        cmocka_unit_test(threads_change_no_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
