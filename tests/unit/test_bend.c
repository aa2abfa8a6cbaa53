// Bending: the exact Hessian by operator, balance of forces and moments, seams, clamps, rest angles.

#include "check.h"
#include "sheets.h"

#include "base/alloc.h"
#include "math/vec3.h"
#include "physics/bend.h"
#include "physics/bend_operator.h"
#include "physics/forces.h"

typedef struct model {
    tl_allocator alloc;
    tl_arena arena;
    tl_mesh *mesh;
    tl_elements *e;
    tl_vec3 *x;  // in element order
} model;

static tl_material fabric(double bend)
{
    tl_error err;
    tl_material m;
    const tl_orthotropic def = {.stretch_warp = 300,
                                .stretch_weft = 150,
                                .shear = 40,
                                .poisson = 0.2,
                                .bend_warp = bend,
                                .bend_weft = bend,
                                .bend_bias = bend,
                                .density = 0.2};
    assert_ok(tl_material_orthotropic(&def, &m, &err));
    return m;
}

static model make_model(const tl_mesh_def *def, const tl_material *material)
{
    tl_error err;
    model m = {.alloc = tl_allocator_default()};
    tl_arena_init(&m.arena, m.alloc);
    assert_ok(tl_mesh_create(&m.alloc, def, &m.mesh, &err));
    const tl_element_source source = {m.mesh, material, 1};
    assert_ok(tl_elements_create(&m.alloc, &source, 1, TL_BEND_SHAPE, NULL, &m.e, &err));
    m.x = malloc((size_t)m.e->node_count * sizeof *m.x);
    for (int32_t i = 0; i < m.e->node_count; i++) m.x[i] = m.mesh->pos[m.e->slot_of_node[i]];
    return m;
}

static tl_mesh_def plain(const sheet *s)
{
    return (tl_mesh_def){.node_count = s->node_count,
                         .vert_count = s->node_count,
                         .face_count = s->face_count,
                         .pos = s->pos,
                         .uv = s->uv,
                         .face_vert = (const int32_t(*)[3])s->face};
}

static void free_model(model *m)
{
    tl_elements_destroy(m->e);
    tl_mesh_destroy(m->mesh);
    tl_arena_free(&m->arena);
    free(m->x);
}

static double bend_energy(model *m, const tl_step_def *step)
{
    tl_error err;
    tl_potential p;
    assert_ok(tl_forces_energy(m->e, step, m->x, &(tl_ctx){&m->arena, NULL}, &p, &err));
    return p.bend;
}

// On a flat sheet angles are linear in the displacement to first order, so Gauss-Newton is the Hessian. Matrix plus
// operator must match differences of the gradient, borders included; the matrix alone must not (it is compact).
static void matrix_and_operator_are_the_exact_hessian(void **state)
{
    (void)state;
    tl_error err;
    sheet s = sheet_delaunay(0.5, 0.4, 0.08, 2, 30, 3);
    const tl_material stiff = fabric(0.05);
    const tl_mesh_def def = plain(&s);
    model m = make_model(&def, &stiff);
    const int32_t n = m.e->node_count;
    tl_bsr *matrix;
    assert_ok(tl_elements_matrix(m.e, false, &m.arena, NULL, &matrix, &err));
    tl_vec3 *p = malloc((size_t)n * sizeof *p), *y = malloc((size_t)n * sizeof *p), *hi = malloc((size_t)n * sizeof *p);
    tl_vec3 *lo = malloc((size_t)n * sizeof *p), *x0 = malloc((size_t)n * sizeof *p);
    const tl_step_def step = {.now = 1};  // no inertia
    for (int32_t i = 0; i < n; i++) {
        x0[i] = m.x[i];
        p[i] = (tl_vec3){0, 0, tl_random(3, 1, (uint64_t)i) - 0.5};
    }
    tl_forces_begin(m.e, &step, x0, NULL, true, NULL);
    tl_forces_assemble(m.e, &step, x0, matrix, y, NULL);
    tl_bend_operator op;
    assert_ok(tl_bend_operator_init(&op, m.e, step.gamma, &m.arena, &err));
    tl_bend_operator_update(&op, x0, NULL);
    tl_bsr_multiply(matrix, NULL, p, y);
    double compact_error = 0, exact_error = 0, scale = 0;
    const double h = 1e-6;
    for (int32_t i = 0; i < n; i++) m.x[i] = tl_madd3(x0[i], h, p[i]);
    tl_forces_assemble(m.e, &step, m.x, NULL, hi, NULL);
    for (int32_t i = 0; i < n; i++) m.x[i] = tl_madd3(x0[i], -h, p[i]);
    tl_forces_assemble(m.e, &step, m.x, NULL, lo, NULL);
    for (int32_t i = 0; i < n; i++) {
        const double want = (hi[i].z - lo[i].z) / (2 * h);
        scale = fmax(scale, fabs(want));
        compact_error = fmax(compact_error, fabs(y[i].z - want));
    }
    tl_bend_operator_add(&op, NULL, p, y);
    for (int32_t i = 0; i < n; i++) exact_error = fmax(exact_error, fabs(y[i].z - (hi[i].z - lo[i].z) / (2 * h)));
    assert_true(compact_error > 1e-3 * scale);
    assert_true(exact_error < 2e-6 * scale);  // stiffness is kept in single precision in the matrix's share
    free(p), free(y), free(hi), free(lo), free(x0);
    tl_bsr_destroy(&m.alloc, matrix);
    free_model(&m);
    sheet_free(&s);
}

// Exact: the energy of one hinge bent by an angle of one, all others flat. Random long faces; without the correction
// some are off by more than ten.
static void no_hinge_is_far_softer_in_the_matrix(void **state)
{
    (void)state;
    double worst = 0;
    int hinges = 0;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        sheet s = sheet_delaunay(0.5, 0.4, 0.04, 6, 30, seed);
        const tl_material stiff = fabric(0.05);
        const tl_mesh_def def = plain(&s);
        model m = make_model(&def, &stiff);
        const tl_step_def step = {.now = 1};
        tl_forces_begin(m.e, &step, m.x, NULL, true, NULL);
        double *value = calloc((size_t)m.e->hinge_count, sizeof *value),
               (*fold)[3] = calloc((size_t)m.e->face_count, sizeof *fold);
        for (int32_t h = 0; h < m.e->hinge_count; h++) {
            value[h] = 1;
            tl_bend_folds(m.e, value, fold, NULL);
            value[h] = 0;
            double exact = 0, compact = 0;
            for (int32_t f = 0; f < m.e->face_count; f++) {
                const float *b = m.e->bend[f];
                const double *a = fold[f];
                exact += (double)b[0] * a[0] * a[0] + (double)b[1] * a[1] * a[1] + (double)b[2] * a[2] * a[2] +
                         2 * ((double)b[3] * a[1] * a[2] + (double)b[4] * a[0] * a[2] + (double)b[5] * a[0] * a[1]);
            }
            for (int k = 0; k < 2; k++) compact += (double)m.e->bend_own[m.e->hinge_face[h][k]][m.e->hinge_place[h][k]];
            worst = fmax(worst, exact / compact), hinges++;
        }
        free(value), free(fold);
        free_model(&m);
        sheet_free(&s);
    }
    print_message("exact stiffness over that of the matrix: at most %.2f, %d hinges\n", worst, hinges);
    assert_true(worst < 3);
}

// Inner forces neither push nor turn the sheet as a whole.
static void forces_and_torques_sum_to_nothing(void **state)
{
    (void)state;
    sheet s = sheet_delaunay(0.5, 0.4, 0.06, 1, 0, 8);
    const tl_material m0 = fabric(1e-3);
    const tl_mesh_def def = plain(&s);
    model m = make_model(&def, &m0);
    const int32_t n = m.e->node_count;
    tl_vec3 *g = malloc((size_t)n * sizeof *g), sum = {0, 0, 0}, turn = {0, 0, 0};
    double size = 0;
    for (int32_t i = 0; i < n; i++) m.x[i].z += 0.05 * sin(11 * m.x[i].x) * cos(9 * m.x[i].y), m.x[i].x *= 1.05;
    const tl_step_def step = {.now = 1, .gamma = 100};
    tl_forces_begin(m.e, &step, m.x, NULL, true, NULL);
    tl_forces_assemble(m.e, &step, m.x, NULL, g, NULL);
    for (int32_t i = 0; i < n; i++) {
        sum = tl_add3(sum, g[i]), turn = tl_add3(turn, tl_cross3(m.x[i], g[i]));
        size += tl_norm3(g[i]);
    }
    assert_true(tl_norm3(sum) < 1e-13 * size);
    assert_true(tl_norm3(turn) < 1e-13 * size);
    free(g);
    free_model(&m);
    sheet_free(&s);
}

// A sheet cut in two panels, one of them turned and moved in material space, and sewn together again bends like the
// whole one (the fabric is the same in every direction here).
static void a_seam_bends_like_the_whole_cloth(void **state)
{
    (void)state;
    sheet s = sheet_grid(1, 0.4, 20, 8, true);
    const tl_material m0 = fabric(1e-3);
    const tl_mesh_def whole_def = plain(&s);
    model whole = make_model(&whole_def, &m0);
    // right half: vertices of its own, turned by 35 degrees
    int32_t *right = malloc((size_t)s.node_count * sizeof *right), count = s.node_count;
    tl_vec2 *uv = malloc(2 * (size_t)s.node_count * sizeof *uv);
    int32_t *node = malloc(2 * (size_t)s.node_count * sizeof *node);
    memcpy(uv, s.uv, (size_t)s.node_count * sizeof *uv);
    for (int32_t i = 0; i < s.node_count; i++) node[i] = i, right[i] = -1;
    for (int32_t i = 0; i < s.node_count; i++) {
        if (s.uv[i].x < 0.5 - 1e-9) continue;
        const double c = cos(0.61), d = sin(0.61);
        const tl_vec2 turned = {c * s.uv[i].x - d * s.uv[i].y + 3, d * s.uv[i].x + c * s.uv[i].y - 1};
        if (s.uv[i].x > 0.5 + 1e-9) {
            uv[i] = turned, right[i] = i;
        } else {
            uv[count] = turned, node[count] = i, right[i] = count++;
        }
    }
    int32_t(*face)[3] = malloc((size_t)s.face_count * sizeof *face);
    for (int32_t f = 0; f < s.face_count; f++) {
        const double mid = (s.uv[s.face[f][0]].x + s.uv[s.face[f][1]].x + s.uv[s.face[f][2]].x) / 3;
        for (int k = 0; k < 3; k++) face[f][k] = mid > 0.5 ? right[s.face[f][k]] : s.face[f][k];
    }
    const tl_mesh_def cut_def = {.node_count = s.node_count,
                                 .vert_count = count,
                                 .face_count = s.face_count,
                                 .pos = s.pos,
                                 .uv = uv,
                                 .vert_node = node,
                                 .face_vert = (const int32_t(*)[3])face};
    model cut = make_model(&cut_def, &m0);
    assert_int_equal(cut.mesh->panel_count, 2);
    const tl_step_def step = {.now = 1};
    double energy[2];
    for (int k = 0; k < 2; k++) {
        model *m = k ? &cut : &whole;
        for (int32_t i = 0; i < m->e->node_count; i++) {
            const tl_vec3 p = m->mesh->pos[m->e->slot_of_node[i]];
            m->x[i] = (tl_vec3){p.x, p.y, 0.3 * p.x * p.x - 0.2 * p.x * p.y + 0.1 * p.y * p.y * p.x};
        }
        tl_forces_begin(m->e, &step, m->x, NULL, true, NULL);
        energy[k] = bend_energy(m, &step);
    }
    assert_near(energy[1] / energy[0], 1, 1e-6);
    free(right), free(uv), free(node), free(face);
    free_model(&whole), free_model(&cut);
    sheet_free(&s);
}

// Rest angles taken from a cylinder: no energy there, and that of the cylinder when laid flat.
static void rest_angles_move_the_zero(void **state)
{
    (void)state;
    sheet s = sheet_grid(0.4, 0.4, 16, 16, false);
    const tl_material m0 = fabric(1e-3);
    const tl_mesh_def def = plain(&s);
    model m = make_model(&def, &m0);
    const double radius = 0.3;
    for (int32_t i = 0; i < m.e->node_count; i++) {
        const tl_vec3 p = m.x[i];
        m.x[i] = (tl_vec3){radius * sin(p.x / radius), p.y, radius * (1 - cos(p.x / radius))};
    }
    tl_forces_angles(m.e, m.x, NULL);
    memcpy(m.e->rest, m.e->angle, (size_t)m.e->hinge_count * sizeof *m.e->rest);
    const tl_step_def step = {.now = 1};
    tl_forces_begin(m.e, &step, m.x, NULL, true, NULL);
    assert_near(bend_energy(&m, &step), 0, 1e-20);
    double s3[3];
    tl_bend_curvature(m.e, m.e->face_count / 2, s3);
    assert_near(s3[0], 0, 1e-9);
    for (int32_t i = 0; i < m.e->node_count; i++) m.x[i] = m.mesh->pos[m.e->slot_of_node[i]];
    const double flat = bend_energy(&m, &step), want = 1e-3 * 0.16 / (2 * radius * radius);
    assert_near(flat, want, 0.01 * want);
    free_model(&m);
    sheet_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrix_and_operator_are_the_exact_hessian),
        cmocka_unit_test(no_hinge_is_far_softer_in_the_matrix),
        cmocka_unit_test(forces_and_torques_sum_to_nothing),
        cmocka_unit_test(a_seam_bends_like_the_whole_cloth),
        cmocka_unit_test(rest_angles_move_the_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
