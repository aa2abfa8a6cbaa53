// The kind of dynamics `baraff-witkin`: conditions against differences, what rigid motion and momentum ask for, the
// filtered conjugate gradients, and whole simulations beside the implicit kind.

#include "unit/remeshed.h"

#include "dynamics/baraff_witkin/conditions.h"
#include "dynamics/baraff_witkin/mpcg.h"
#include "dynamics/baraff_witkin/system.h"
#include "base/alloc.h"
#include "math/bsr.h"
#include "math/vec3.h"
#include "toile/kinds.h"

/// A crumpled sheet of a fabric whose warp and weft differ.
typedef struct model {
    tl_allocator alloc;
    tl_arena arena;
    tl_mesh *mesh;
    tl_elements *e;
    tl_bsr *matrix;
    tl_vec3 *x, *v, *force, *right;
    double (*jacobian)[TL_JACOBIAN];
    double *energy;
    tl_step_def step;
    bw_system system;
} model;

static void begin(model *m) { tl_forces_begin(m->e, &m->step, m->x, NULL, true, NULL); }

static model make_model(double crumple, double damping)
{
    model m = {.alloc = tl_allocator_default()};
    tl_arena_init(&m.arena, m.alloc);
    tl_material fabric;
    const tl_orthotropic of = {.stretch_warp = 300,
                               .stretch_weft = 150,
                               .shear = 40,
                               .poisson = 0.2,
                               .bend_warp = 3e-4,
                               .bend_weft = 1e-4,
                               .bend_bias = 2e-4,
                               .density = 0.2,
                               .thickness = 5e-4};
    assert_ok(tl_material_orthotropic(&of, &fabric, &err));
    fabric.damping_stretch = damping, fabric.damping_bend = 2 * damping;
    sheet s = sheet_delaunay(0.5, 0.4, 0.12, 1, 0, 3);
    const tl_mesh_def def = {.node_count = s.node_count,
                             .vert_count = s.node_count,
                             .face_count = s.face_count,
                             .pos = s.pos,
                             .uv = s.uv,
                             .face_vert = (const int32_t(*)[3])s.face};
    assert_ok(tl_mesh_create(&m.alloc, &def, &m.mesh, &err));
    const tl_element_source source = {m.mesh, &fabric, 1};
    assert_ok(tl_elements_create(&m.alloc, &source, 1, TL_BEND_SHAPE, NULL, &m.e, &err));
    assert_ok(tl_elements_matrix(m.e, false, &m.arena, NULL, &m.matrix, &err));
    const size_t n = (size_t)m.e->node_count;
    m.x = malloc(n * sizeof *m.x), m.v = calloc(n, sizeof *m.v);
    m.force = malloc(n * sizeof *m.x), m.right = malloc(n * sizeof *m.x);
    m.jacobian = malloc((size_t)m.e->hinge_count * sizeof *m.jacobian);
    m.energy = malloc((size_t)m.e->chunk_count * sizeof *m.energy);
    for (int32_t i = 0; i < m.e->node_count; i++) {
        const tl_vec3 p = m.mesh->pos[m.e->slot_of_node[i]];
        const uint64_t id = (uint64_t)i;
        m.x[i] = (tl_vec3){p.x + 0.2 * crumple * (tl_random(7, 1, id) - 0.5),
                           p.y + 0.2 * crumple * (tl_random(7, 2, id) - 0.5),
                           crumple * (sin(9 * p.x + 2) * cos(7 * p.y) + 0.2 * tl_random(7, 3, id))};
    }
    m.step = (tl_step_def){.gamma = 100, .now = 1};
    sheet_free(&s);
    return m;
}

static bw_system *system_of(model *m)
{
    m->step.x_hat = m->step.x_tilde = m->x;
    m->system = (bw_system){.elements = m->e,
                            .def = &m->step,
                            .x = m->x,
                            .v = m->v,
                            .dt = 0.01,
                            .jacobian = m->jacobian,
                            .matrix = m->matrix,
                            .right = m->right};
    return &m->system;
}

static void free_model(model *m)
{
    tl_bsr_destroy(&m->alloc, m->matrix);
    tl_elements_destroy(m->e);
    tl_mesh_destroy(m->mesh);
    tl_arena_free(&m->arena);
    free(m->x), free(m->v), free(m->force), free(m->right), free(m->jacobian), free(m->energy);
}

static double energy_of(model *m)
{
    tl_vec3 *unused = malloc((size_t)m->e->node_count * sizeof *unused);
    bw_forces(system_of(m), unused, m->energy, NULL);
    free(unused);
    double sum = 0;
    for (int32_t c = 0; c < m->e->chunk_count; c++) sum += m->energy[c];
    return sum;
}

static double *coordinate(tl_vec3 *v, int axis) { return axis == 0 ? &v->x : axis == 1 ? &v->y : &v->z; }

static void forces_are_minus_the_gradient(void **state)
{
    (void)state;
    model m = make_model(0.05, 0);
    begin(&m);
    bw_forces(system_of(&m), m.force, NULL, NULL);
    double scale = 0;
    for (int32_t i = 0; i < m.e->node_count; i++) scale = fmax(scale, tl_norm3(m.force[i]));
    for (int32_t i = 0; i < m.e->node_count; i++)
        for (int axis = 0; axis < 3; axis++) {
            double *at = coordinate(&m.x[i], axis), value[4];
            const double keep = *at, h = 1e-6, by[4] = {h, -h, 2 * h, -2 * h};
            for (int k = 0; k < 4; k++) *at = keep + by[k], value[k] = energy_of(&m);
            *at = keep;
            assert_near(*coordinate(&m.force[i], axis), -(8 * (value[0] - value[1]) - (value[2] - value[3])) / (12 * h),
                        1e-6 * scale);
        }
    free_model(&m);
}

// The Hessian of one face over w_u and w_v; and what the solver uses instead is never indefinite.
static void face_derivatives_match_differences(void **state)
{
    (void)state;
    const bw_fabric fabric = {300, 150, 40, 0};
    for (uint64_t trial = 0; trial < 40; trial++) {
        double w[6];
        for (uint64_t k = 0; k < 6; k++) w[k] = 2 * tl_random(5, trial, k) - 1;
        bw_face at, side[2];
        const double area = 0.013, h = 1e-6;
#define FACE(whole, out)                                                                                               \
    bw_face_at(&fabric, area, (tl_vec3){w[0], w[1], w[2]}, (tl_vec3){w[3], w[4], w[5]}, (whole), (out))
        FACE(true, &at);
        for (int j = 0; j < 6; j++) {
            const double keep = w[j];
            w[j] = keep + h, FACE(true, &side[1]);
            w[j] = keep - h, FACE(true, &side[0]);
            w[j] = keep;
            const double *low[2] = {&side[0].u.x, &side[0].v.x}, *high[2] = {&side[1].u.x, &side[1].v.x};
            const double *g[2] = {&at.u.x, &at.v.x};
            assert_near(g[j / 3][j % 3], (side[1].energy - side[0].energy) / (2 * h), 1e-7);
            for (int i = 0; i < 6; i++) {
                const double of = i < 3 && j < 3     ? at.uu[3 * i + j]
                                  : i >= 3 && j >= 3 ? at.vv[3 * (i - 3) + j - 3]
                                  : i < 3            ? at.uv[3 * i + j - 3]
                                                     : at.uv[3 * j + i - 3];
                assert_near(of, (high[i / 3][i % 3] - low[i / 3][i % 3]) / (2 * h), 1e-6);
            }
        }
        FACE(false, &at);
        for (uint64_t probe = 0; probe < 20; probe++) {
            double d[6], sum = 0;
            for (uint64_t k = 0; k < 6; k++) d[k] = 2 * tl_random(6, 100 * trial + probe, k) - 1;
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    sum += d[i] * at.uu[3 * i + j] * d[j] + d[3 + i] * at.vv[3 * i + j] * d[3 + j] +
                           2 * d[i] * at.uv[3 * i + j] * d[3 + j];
            assert_true(sum > -1e-12);
        }
#undef FACE
    }
}

// Element (row, col) of the matrix.
static double entry(const tl_bsr *m, int32_t i, int a, int32_t j, int b)
{
    const int32_t k = i <= j ? tl_bsr_find(m, i, j) : tl_bsr_find(m, j, i);
    return k < 0 ? 0 : i <= j ? m->value[k][3 * a + b] : m->value[k][3 * b + a];
}

// Flat, stretched both ways along the yarns: nothing of the Hessian is left out there, so M - h df/dv - h^2 df/dx is
// that of differences of forces, and the right side h (f + h df/dx v).
static void system_matches_differences_of_forces(void **state)
{
    (void)state;
    model m = make_model(0, 0.01);
    const int32_t n = m.e->node_count;
    for (int32_t i = 0; i < n; i++) {
        m.x[i] = (tl_vec3){1.1 * m.x[i].x, 1.05 * m.x[i].y, 0};
        m.v[i] = (tl_vec3){sin(3 * i), cos(i), sin(5 * i)};
    }
    m.step.gravity = (tl_vec3){0, -9.81, 1}, m.step.pressure = 0.7, m.step.skin = 0.03,
    m.step.wind = (tl_vec3){1, 2, 9};
    begin(&m);
    bw_system *s = system_of(&m);
    bw_assemble(s, NULL);
    bw_forces(s, m.force, NULL, NULL);
    tl_vec3 *lo = malloc((size_t)n * sizeof *lo), *hi = malloc((size_t)n * sizeof *hi),
            *want = malloc((size_t)n * sizeof *want);
    for (int32_t i = 0; i < n; i++) want[i] = tl_mul3(s->dt, m.force[i]);
    double scale = 0, worst = 0;
    for (int32_t k = 0; k < m.matrix->block_count; k++)
        for (int r = 0; r < 9; r++) scale = fmax(scale, fabs(m.matrix->value[k][r]));
    // damping acts with the gradients at hand: d(damping)/dx is left out, so positions are moved at rest
    tl_vec3 *moving = m.v, *still = calloc((size_t)n, sizeof *still);
    for (int32_t j = 0; j < n; j++)
        for (int b = 0; b < 3; b++) {
            const double h = 1e-5;
            double *at = coordinate(&m.x[j], b), keep = *at;
            m.v = still;
            const double pressure = m.step.pressure, skin = m.step.skin;
            m.step.pressure = m.step.skin = 0;  // the air's part is by speeds alone
            *at = keep + h, bw_forces(system_of(&m), hi, NULL, NULL);
            *at = keep - h, bw_forces(system_of(&m), lo, NULL, NULL);
            *at = keep, m.v = moving, m.step.pressure = pressure, m.step.skin = skin;
            tl_vec3 *by_x = malloc((size_t)n * sizeof *by_x);
            for (int32_t i = 0; i < n; i++) by_x[i] = tl_mul3(1 / (2 * h), tl_sub3(hi[i], lo[i]));
            at = coordinate(&m.v[j], b), keep = *at;
            *at = keep + h, bw_forces(system_of(&m), hi, NULL, NULL);
            *at = keep - h, bw_forces(system_of(&m), lo, NULL, NULL);
            *at = keep;
            for (int32_t i = 0; i < n; i++)
                for (int a = 0; a < 3; a++) {
                    const double by_v = (*coordinate(&hi[i], a) - *coordinate(&lo[i], a)) / (2 * h),
                                 mass = i == j && a == b ? m.e->mass[i] : 0, x = *coordinate(&by_x[i], a);
                    assert_near(entry(m.matrix, i, a, j, b), mass - 0.01 * by_v - 1e-4 * x, 1e-5 * scale);
                    *coordinate(&want[i], a) += 1e-4 * x * *coordinate(&m.v[j], b);
                }
            free(by_x);
        }
    for (int32_t i = 0; i < n; i++) worst = fmax(worst, tl_norm3(tl_sub3(want[i], m.right[i])));
    assert_near(worst, 0, 1e-5 * scale);
    free(lo), free(hi), free(want), free(still);
    free_model(&m);
}

// Where nothing pulls from outside forces have no sum and no moment, damping included; turned as a whole cloth feels
// nothing, and moved as a whole it is not damped.
static void forces_have_no_sum_and_no_moment(void **state)
{
    (void)state;
    model m = make_model(0.08, 0.02);
    const int32_t n = m.e->node_count;
    for (int32_t i = 0; i < n; i++) m.v[i] = (tl_vec3){sin(3 * i), cos(i), sin(5 * i)};
    begin(&m);
    bw_forces(system_of(&m), m.force, NULL, NULL);
    tl_vec3 sum = {0}, moment = {0};
    double size = 0;
    for (int32_t i = 0; i < n; i++) {
        sum = tl_add3(sum, m.force[i]), moment = tl_add3(moment, tl_cross3(m.x[i], m.force[i]));
        size += tl_norm3(m.force[i]);
    }
    assert_true(tl_norm3(sum) < 1e-12 * size && tl_norm3(moment) < 1e-12 * size);
    // the rest shape, turned, and turning
    const double c = cos(0.7), s = sin(0.7);
    for (int32_t i = 0; i < n; i++) {
        const tl_vec3 p = m.mesh->pos[m.e->slot_of_node[i]];
        m.x[i] = (tl_vec3){c * p.x, p.y, s * p.x};
        m.v[i] = tl_add3((tl_vec3){1, 2, 3}, tl_cross3((tl_vec3){3, -2, 5}, m.x[i]));
    }
    begin(&m);
    bw_forces(system_of(&m), m.force, NULL, NULL);
    for (int32_t i = 0; i < n; i++) assert_true(tl_norm3(m.force[i]) < 1e-9 * size);
    free_model(&m);
}

// Filtered: what is left free has no residual, along what is barred the speed asked for comes out, to the bit of a
// projection; with every node free it is the plain solve.
static void filtered_solve_keeps_to_its_directions(void **state)
{
    (void)state;
    model m = make_model(0.05, 0.01);
    const int32_t n = m.e->node_count;
    begin(&m);
    bw_assemble(system_of(&m), NULL);
    tl_directions *barred = calloc((size_t)n, sizeof *barred);
    tl_vec3 *dv = calloc((size_t)n, sizeof *dv), *back = malloc((size_t)n * sizeof *back);
    for (int32_t i = 0; i < n; i++) {
        m.right[i] = (tl_vec3){sin(i), cos(2 * i), sin(3 * i)};
        for (int k = 0; k < i % 4; k++) {
            const tl_vec3 to = {tl_random(1, (uint64_t)i, 3 * (uint64_t)k) - 0.5,
                                tl_random(1, (uint64_t)i, 3 * (uint64_t)k + 1) - 0.5,
                                tl_random(1, (uint64_t)i, 3 * (uint64_t)k + 2) - 0.5};
            tl_directions_add(&barred[i], tl_unit3_or(to, (tl_vec3){0, 1, 0}), 0.1 * k - 0.1);
        }
    }
    bw_pcg_report r;
    const tl_ctx ctx = {&m.arena, NULL};
    assert_ok(bw_pcg(m.matrix, barred, (tl_pcg_stop){1e-12, 2000}, m.right, dv, &ctx, &r, &err));
    assert_true(r.converged && r.iterations > 5);
    tl_bsr_multiply(m.matrix, NULL, dv, back);
    double size = 0;
    int32_t held = 0;
    for (int32_t i = 0; i < n; i++) size = fmax(size, tl_norm3(m.right[i]));
    for (int32_t i = 0; i < n; i++) {
        assert_true(tl_norm3(tl_directions_project(&barred[i], tl_sub3(m.right[i], back[i]))) < 1e-9 * size);
        for (int k = 0; k < barred[i].count; k++, held++)
            assert_near(tl_dot3(barred[i].c[k], dv[i]), barred[i].speed[k], 1e-12 * (1 + fabs(barred[i].speed[k])));
    }
    assert_true(held > n / 2);
    // a matrix that is not positive definite is told, not solved
    for (int r9 = 0; r9 < 9; r9++) m.matrix->value[m.matrix->row_start[1]][r9] *= -1;
    assert_int_equal(bw_pcg(m.matrix, barred, (tl_pcg_stop){1e-6, 100}, m.right, dv, &ctx, &r, &err), TL_FAILED);
    free(barred), free(dv), free(back);
    free_model(&m);
}

// ---- whole simulations ------------------------------------------------------------------------------------

static tl_sim_def published(double dt)
{
    tl_sim_def def = world(dt);
    def.dynamics = TL_DYNAMICS_BARAFF_WITKIN, def.collide.response = TL_RESPONSE_IMPULSE;
    return def;
}

static tl_cloth_def plain(void)
{
    tl_cloth_def def = tl_cloth_def_default();
    def.remeshing.kind = TL_REMESHING_NONE;
    return def;
}

static tl_vec3 momentum(const tl_sim *sim)
{
    tl_vec3 sum = {0};
    for (int32_t i = 0; i < sim->node_count; i++) sum = tl_madd3(sum, sim->elements->mass[i], sim->v[i]);
    return sum;
}

// Thrown, crumpling cloth in a vacuum keeps its momentum but for what gravity adds.
static void momentum_grows_by_gravity_alone(void **state)
{
    (void)state;
    tl_sim_def def = published(0.01);
    def.air.density = 0, def.air.skin = 0, def.linear_tolerance = 1e-9, def.collide.self = 0;
    tl_sim *sim = create(&def);
    sheet s = sheet_grid(0.5, 0.5, 6, 6, true);
    for (int32_t i = 0; i < s.node_count; i++) s.pos[i].z = 0.02 * sin(20 * s.pos[i].x) * sin(15 * s.pos[i].y);
    add_cloth(sim, &s, plain(), "cloth");
    assert_ok(sim_compile(sim, &err));
    for (int32_t i = 0; i < sim->node_count; i++) sim->v[i] = (tl_vec3){sin(3 * i), cos(i), 1};
    const tl_vec3 at_first = momentum(sim);
    double mass = 0;
    for (int32_t i = 0; i < sim->node_count; i++) mass += sim->elements->mass[i];
    for (int k = 0; k < 40; k++) step(sim);
    const tl_vec3 want = tl_madd3(at_first, 0.4 * mass, sim->def.gravity);
    assert_near(tl_norm3(tl_sub3(momentum(sim), want)), 0, 1e-9);
    tl_sim_destroy(sim);
    sheet_free(&s);
}

// A sheet that hangs by two corners comes to rest where the implicit kind has it.
static void hangs_where_the_implicit_kind_hangs(void **state)
{
    (void)state;
    double lowest[2];
    for (int kind = 0; kind < 2; kind++) {
        tl_sim_def def = kind ? published(0.02) : world(0.02);
        def.bending = TL_BEND_HINGE;  // the same bending
        tl_sim *sim = hanging(&def, plain(), 8);
        for (int k = 0; k < 150; k++) step(sim);
        lowest[kind] = 0;
        for (int32_t i = 0; i < sim->node_count; i++) lowest[kind] = fmin(lowest[kind], sim->x[i].y);
        tl_sim_destroy(sim);
    }
    print_message("lowest node %.5f m, implicit %.5f m\n", lowest[1], lowest[0]);
    assert_true(lowest[0] < -0.003);  // stretched by its weight
    assert_near(lowest[1], lowest[0], 0.0005);
}

static uint64_t run(tl_sim *sim, int steps, bool look)
{
    for (int k = 0; k < steps; k++) {
        step(sim);
        if (look) assert_apart(sim);
    }
    return tl_sim_hash(sim);
}

// Over a ball onto a floor, by both responses, on a mesh that changes: nothing passes; the same bits on threads, and
// after saving and restoring.
static void a_drape_touches_nothing_and_repeats(void **state)
{
    (void)state;
    for (int response = 0; response < 2; response++) {
        tl_sim_def def = published(0.01);
        def.collide.response = response ? TL_RESPONSE_CONSTRAINT : TL_RESPONSE_IMPULSE;
        tl_cloth_def like = adaptive(0.06, 0.3, 0.02);
        if (response) like.remeshing.kind = TL_REMESHING_SQRT3, like.remeshing.error = 0.004;
        const int steps = SANITIZED ? 24 : 48;
        uint64_t hash[3];
        for (int threads = 1; threads <= 3; threads++) {
            def.threads = threads;
            tl_sim *sim = draped(&def, like, 6);
            hash[threads - 1] = run(sim, steps, threads == 1);
            tl_sim_destroy(sim);
        }
        assert_true(hash[0] == hash[1] && hash[0] == hash[2]);
        def.threads = 1;
        tl_sim *a = draped(&def, like, 6), *b = draped(&def, like, 6);
        const void *data;
        size_t size;
        run(a, steps / 2 + 3, false);
        assert_ok(tl_sim_save(a, &data, &size, &err));
        assert_ok(tl_sim_restore(b, data, size, &err));
        assert_true(run(b, steps - steps / 2 - 3, false) == hash[0]);
        tl_sim_destroy(a), tl_sim_destroy(b);
    }
}

static void what_it_cannot_do_is_refused(void **state)
{
    (void)state;
    tl_sim *sim = NULL;
    tl_sim_def def = published(0.01);
    def.collide.response = TL_RESPONSE_BARRIER;
    assert_int_equal(tl_sim_create(&def, &sim, &err), TL_BAD_ARG);
    assert_non_null(strstr(err.message, "'impulse' or 'constraint'"));
    def = published(0.01), def.start.relax = TL_RELAX_ON;
    assert_int_equal(tl_sim_create(&def, &sim, &err), TL_BAD_ARG);
    assert_non_null(strstr(err.message, "start.relax"));
    def = published(0.01), def.integrator = TL_BDF2;
    assert_int_equal(tl_sim_create(&def, &sim, &err), TL_BAD_ARG);
    assert_non_null(strstr(err.message, "bdf2"));
    def = published(0.01);
    sim = create(&def);
    tl_cloth_def like = plain();
    like.strain.kind = TL_STRAIN_ISOTROPIC;
    sheet s = sheet_grid(0.5, 0.5, 2, 2, true);
    static tl_material fabric;
    fabric = tl_material_default();
    tl_cloth_id id;
    like.name = "cloth", like.node_count = s.node_count, like.pos = s.pos, like.uv = s.uv;
    like.face_count = s.face_count, like.face = (const int32_t(*)[3])s.face;
    like.materials = &fabric, like.material_count = 1;
    like.strain.max = 0.1;
    assert_int_equal(tl_sim_add_cloth(sim, &like, &id, &err), TL_BAD_INPUT);
    assert_non_null(strstr(err.message, "strain limits do not go with dynamics.kind 'baraff-witkin'"));
    tl_sim_destroy(sim);
    sheet_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_are_minus_the_gradient),          cmocka_unit_test(face_derivatives_match_differences),
        cmocka_unit_test(system_matches_differences_of_forces),   cmocka_unit_test(forces_have_no_sum_and_no_moment),
        cmocka_unit_test(filtered_solve_keeps_to_its_directions), cmocka_unit_test(momentum_grows_by_gravity_alone),
        cmocka_unit_test(hangs_where_the_implicit_kind_hangs),    cmocka_unit_test(a_drape_touches_nothing_and_repeats),
        cmocka_unit_test(what_it_cannot_do_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
