// Newton's method over terms that it has never heard of: sums of wells, a barrier that clips paths, a constraint with
// multipliers. All push every node in proportion to its mass, so the sheet moves as a whole and one equation tells how
// far.

#include "check.h"
#include "sheets.h"

#include "base/alloc.h"
#include "base/workers.h"
#include "dynamics/implicit/newton.h"
#include "math/vec3.h"

#define GAMMA 100.0     // [1/s]
#define TOLERANCE 1e-7  // [m/s]

typedef struct world {
    tl_allocator alloc;
    tl_arena arena;
    tl_mesh *mesh;
    tl_elements *e;
    tl_bsr *matrix;
    tl_solver *solver;
    tl_vec3 *x0, *x;
} world;

static world make_world(void)
{
    tl_error err;
    world w = {.alloc = tl_allocator_default()};
    tl_arena_init(&w.arena, w.alloc);
    sheet s = sheet_grid(0.3, 0.2, 6, 4, true);
    const tl_mesh_def mesh = {.node_count = s.node_count,
                              .vert_count = s.node_count,
                              .face_count = s.face_count,
                              .pos = s.pos,
                              .uv = s.uv,
                              .face_vert = (const int32_t(*)[3])s.face};
    assert_ok(tl_mesh_create(&w.alloc, &mesh, &w.mesh, &err));
    sheet_free(&s);
    tl_material fabric;
    const tl_orthotropic def = {.stretch_warp = 300,
                                .stretch_weft = 150,
                                .shear = 40,
                                .bend_warp = 3e-4,
                                .bend_weft = 1e-4,
                                .bend_bias = 2e-4,
                                .density = 0.2,
                                .thickness = 5e-4};
    assert_ok(tl_material_orthotropic(&def, &fabric, &err));
    const tl_element_source source = {w.mesh, &fabric, 1};
    assert_ok(tl_elements_create(&w.alloc, &source, 1, TL_BEND_SHAPE, NULL, &w.e, &err));
    assert_ok(tl_elements_matrix(w.e, false, &w.arena, NULL, &w.matrix, &err));
    const tl_solver_def solver = tl_solver_def_default();
    assert_ok(tl_solver_create(&w.alloc, &solver, &w.solver, &err));
    w.x0 = malloc((size_t)w.e->node_count * sizeof *w.x0), w.x = malloc((size_t)w.e->node_count * sizeof *w.x);
    for (int32_t i = 0; i < w.e->node_count; i++) w.x0[i] = w.x[i] = w.mesh->pos[w.e->slot_of_node[i]];
    assert_ok(tl_solver_pattern(w.solver, w.matrix, w.x0, &err));
    return w;
}

static void free_world(world *w)
{
    tl_solver_destroy(w->solver);
    tl_bsr_destroy(&w->alloc, w->matrix);
    tl_elements_destroy(w->e);
    tl_mesh_destroy(w->mesh);
    tl_arena_free(&w->arena);
    free(w->x0), free(w->x);
}

static tl_newton_report solve_with(world *w, tl_term *terms, int32_t count, int32_t rounds, tl_workers *workers)
{
    tl_error err;
    tl_newton_report report;
    const tl_ctx ctx = {&w->arena, workers};
    const tl_step_def step = {.gamma = GAMMA, .now = 1, .x_hat = w->x0, .x_tilde = w->x0};
    tl_forces_begin(w->e, &step, w->x0, NULL, true, NULL);
    for (int32_t i = 0; i < w->e->node_count; i++) w->x[i] = w->x0[i];
    const tl_newton_problem problem = {w->e, &step, w->matrix, w->solver, terms, count};
    const tl_newton_def def = {.iterations = 60,
                               .tolerance = TOLERANCE,
                               .linear_tolerance = 1e-10,
                               .longest = 1,
                               .rounds = rounds,
                               .idle_rounds = rounds};
    assert_ok(tl_newton_solve(&problem, &def, w->x, &ctx, &report, &err));
    return report;
}

static tl_newton_report solve(world *w, tl_term *terms, int32_t count, int32_t rounds)
{
    return solve_with(w, terms, count, rounds, NULL);
}

// All nodes went straight up by `z`.
static void assert_moved(const world *w, double z, double tolerance)
{
    for (int32_t i = 0; i < w->e->node_count; i++)
        assert_true(tl_norm3(tl_sub3(w->x[i], tl_add3(w->x0[i], (tl_vec3){0, 0, z}))) < tolerance);
}

// ---- a well: 1/2 kappa m (z - rest)^2 ----

typedef struct well {
    const world *w;
    double kappa, rest;
} well;

static tl_status well_energy(void *self, const tl_vec3 *x, double part, const tl_ctx *ctx, double *out, tl_error *err)
{
    const well *t = self;
    (void)part, (void)ctx, (void)err;
    *out = 0;
    for (int32_t i = 0; i < t->w->e->node_count; i++)
        *out += 0.5 * t->kappa * t->w->e->mass[i] * (x[i].z - t->rest) * (x[i].z - t->rest);
    return TL_OK;
}

// First block of a row is the one on its diagonal.
static void add_to_node(const world *w, int32_t i, double slope, double curvature, tl_bsr *matrix, tl_vec3 *gradient)
{
    gradient[i].z += w->e->mass[i] * slope;
    matrix->value[matrix->row_start[i]][8] += w->e->mass[i] * curvature;
}

static tl_status well_assemble(void *self, const tl_vec3 *x, tl_bsr *matrix, tl_vec3 *gradient, double *energy,
                               const tl_ctx *ctx, tl_error *err)
{
    const well *t = self;
    for (int32_t i = 0; i < t->w->e->node_count; i++)
        add_to_node(t->w, i, t->kappa * (x[i].z - t->rest), t->kappa, matrix, gradient);
    return well_energy(self, x, 0, ctx, energy, err);
}

static const tl_term_kind well_kind = {.name = "wells", .energy = well_energy, .assemble = well_assemble};

static void terms_add_up(void **state)
{
    (void)state;
    world w = make_world();
    well a = {&w, 5000, 0.02}, b = {&w, 20000, -0.01};
    tl_term terms[] = {{.kind = &well_kind, .self = &a}, {.kind = &well_kind, .self = &b}};
    // gamma^2 z + kappa_a (z - a) + kappa_b (z - b) = 0
    const double z = (a.kappa * a.rest + b.kappa * b.rest) / (GAMMA * GAMMA + a.kappa + b.kappa);
    assert_true(solve(&w, terms, 2, 0).converged);
    assert_moved(&w, z, 1e-9);
    assert_true(solve(&w, terms, 1, 0).converged);
    assert_moved(&w, a.kappa * a.rest / (GAMMA * GAMMA + a.kappa), 1e-9);
    assert_true(solve(&w, NULL, 0, 0).converged);
    assert_moved(&w, 0, 1e-12);
    tl_term many[9];
    for (int k = 0; k < 9; k++) many[k] = terms[0];
    tl_error err;
    tl_newton_report report;
    const tl_step_def step = {.gamma = GAMMA, .now = 1, .x_hat = w.x0, .x_tilde = w.x0};
    const tl_newton_problem problem = {w.e, &step, w.matrix, w.solver, many, 9};
    assert_int_equal(tl_newton_solve(&problem, &(tl_newton_def){.iterations = 2, .must_arrive = true}, w.x,
                                     &(tl_ctx){&w.arena, NULL}, &report, &err),
                     TL_BAD_ARG);
    free_world(&w);
}

// ---- a ceiling that pulls: -kappa m (z + mu log(ceiling - z)), and no path may reach it ----

typedef struct ceiling {
    const world *w;
    double kappa, mu, height;
    int32_t cuts, moves;
    bool passed;  // energy was asked for beyond it
} ceiling;

static void ceiling_begin(void *self) { ((ceiling *)self)->cuts = ((ceiling *)self)->moves = 0; }

static tl_status ceiling_energy(void *self, const tl_vec3 *x, double part, const tl_ctx *ctx, double *out,
                                tl_error *err)
{
    ceiling *t = self;
    (void)part, (void)ctx, (void)err;
    *out = 0;
    for (int32_t i = 0; i < t->w->e->node_count; i++) {
        t->passed = t->passed || x[i].z >= t->height;
        *out -= t->kappa * t->w->e->mass[i] * (x[i].z + t->mu * log(t->height - x[i].z));
    }
    return TL_OK;
}

static tl_status ceiling_assemble(void *self, const tl_vec3 *x, tl_bsr *matrix, tl_vec3 *gradient, double *energy,
                                  const tl_ctx *ctx, tl_error *err)
{
    const ceiling *t = self;
    for (int32_t i = 0; i < t->w->e->node_count; i++) {
        const double gap = t->height - x[i].z;
        add_to_node(t->w, i, t->kappa * (t->mu / gap - 1), t->kappa * t->mu / (gap * gap), matrix, gradient);
    }
    return ceiling_energy(self, x, 0, ctx, energy, err);
}

static tl_status ceiling_clip(void *self, const tl_vec3 *x, tl_vec3 *u, int64_t *cut, const tl_ctx *ctx, tl_error *err)
{
    ceiling *t = self;
    (void)ctx, (void)err;
    *cut = 0;
    for (int32_t i = 0; i < t->w->e->node_count; i++) {
        const double room = 0.9 * (t->height - x[i].z);
        if (u[i].z <= room) continue;
        u[i] = tl_mul3(room / u[i].z, u[i]), *cut += 1;
    }
    t->cuts += *cut > 0;
    return TL_OK;
}

static void ceiling_moved(void *self, double part)
{
    assert_true(part > 0 && part <= 1);
    ((ceiling *)self)->moves++;
}

static const tl_term_kind ceiling_kind = {.name = "a ceiling",
                                          .begin = ceiling_begin,
                                          .energy = ceiling_energy,
                                          .assemble = ceiling_assemble,
                                          .clip = ceiling_clip,
                                          .moved = ceiling_moved};

static void a_term_clips_paths(void **state)
{
    (void)state;
    world w = make_world();
    ceiling t = {.w = &w, .kappa = 1e4, .mu = 1e-5, .height = 0.01};
    tl_term term = {.kind = &ceiling_kind, .self = &t};
    const tl_newton_report report = solve(&w, &term, 1, 0);
    assert_true(report.converged && !t.passed);
    assert_true(t.cuts > 0 && t.moves == report.iterations);
    // gamma^2 z = kappa (1 - mu / (height - z)), with q = kappa / gamma^2: z^2 - (height + q) z + q (height - mu) = 0
    const double q = t.kappa / (GAMMA * GAMMA), b = t.height + q, c = q * (t.height - t.mu);
    assert_moved(&w, 2 * c / (b + sqrt(b * b - 4 * c)), 1e-8);
    free_world(&w);
}

// ---- a constraint, z = rest, by an augmented Lagrangian that is far too soft without its multipliers ----

typedef struct constraint {
    const world *w;
    double kappa, rest, tolerance;
    double *stress, *kept;  // by node, per mass
} constraint;

static double pull_of(const constraint *t, const tl_vec3 *x, int32_t i)
{
    return t->kappa * (x[i].z - t->rest) + t->stress[i];
}

static tl_status constraint_energy(void *self, const tl_vec3 *x, double part, const tl_ctx *ctx, double *out,
                                   tl_error *err)
{
    const constraint *t = self;
    (void)part, (void)ctx, (void)err;
    *out = 0;
    for (int32_t i = 0; i < t->w->e->node_count; i++)
        *out += 0.5 / t->kappa * t->w->e->mass[i] * pull_of(t, x, i) * pull_of(t, x, i);
    return TL_OK;
}

static tl_status constraint_assemble(void *self, const tl_vec3 *x, tl_bsr *matrix, tl_vec3 *gradient, double *energy,
                                     const tl_ctx *ctx, tl_error *err)
{
    const constraint *t = self;
    (void)energy, (void)ctx, (void)err;
    for (int32_t i = 0; i < t->w->e->node_count; i++)
        add_to_node(t->w, i, pull_of(t, x, i), t->kappa, matrix, gradient);
    return TL_OK;
}

static tl_status constraint_follow(void *self, const tl_vec3 *x, const tl_vec3 *u, double *slope, double *energy,
                                   const tl_ctx *ctx, tl_error *err)
{
    const constraint *t = self;
    *slope = 0;
    for (int32_t i = 0; i < t->w->e->node_count; i++) {
        const double before = t->stress[i];
        t->stress[i] = pull_of(t, x, i) + t->kappa * u[i].z;
        *slope += t->w->e->mass[i] * (t->stress[i] - before) * u[i].z;
    }
    return constraint_energy(self, x, 0, ctx, energy, err);
}

static tl_status constraint_slope(void *self, const tl_vec3 *x, const tl_vec3 *u, double *slope, const tl_ctx *ctx,
                                  tl_error *err)
{
    (void)self, (void)x, (void)u, (void)slope, (void)ctx, (void)err;
    fail_msg("nothing is clipped");
    return TL_OK;
}

static tl_status constraint_measure(void *self, const tl_vec3 *x, double *excess, bool *met, const tl_ctx *ctx,
                                    tl_error *err)
{
    const constraint *t = self;
    (void)ctx, (void)err;
    *excess = 0;
    for (int32_t i = 0; i < t->w->e->node_count; i++) *excess = fmax(*excess, fabs(x[i].z - t->rest));
    *met = *excess <= t->tolerance;
    return TL_OK;
}

static void constraint_stiffen(void *self, const tl_vec3 *x)
{
    (void)x;
    ((constraint *)self)->kappa *= 2;
}

static void constraint_mark(void *self, const tl_vec3 *x, int32_t *mark)
{
    const constraint *t = self;
    for (int32_t i = 0; i < t->w->e->node_count; i++)
        if (fabs(x[i].z - t->rest) > t->tolerance) mark[i] = 0;
}

static tl_status constraint_keep(void *self, tl_arena *arena, tl_error *err)
{
    const constraint *t = self;
    (void)arena, (void)err;
    memcpy(t->kept, t->stress, (size_t)t->w->e->node_count * sizeof *t->kept);
    return TL_OK;
}

static void constraint_bring_back(void *self)
{
    const constraint *t = self;
    memcpy(t->stress, t->kept, (size_t)t->w->e->node_count * sizeof *t->kept);
}

static const tl_term_kind constraint_kind = {.name = "a constraint",
                                             .energy = constraint_energy,
                                             .assemble = constraint_assemble,
                                             .follow = constraint_follow,
                                             .slope = constraint_slope,
                                             .measure = constraint_measure,
                                             .stiffen = constraint_stiffen,
                                             .mark = constraint_mark,
                                             .keep = constraint_keep,
                                             .restore_kept = constraint_bring_back};

static void multipliers_meet_a_constraint(void **state)
{
    (void)state;
    world w = make_world();
    const size_t n = (size_t)w.e->node_count;
    constraint t = {.w = &w,
                    .kappa = 0.5 * GAMMA * GAMMA,
                    .rest = 0.03,
                    .tolerance = 1e-8,
                    .stress = calloc(n, sizeof(double)),
                    .kept = calloc(n, sizeof(double))};
    tl_term term = {.kind = &constraint_kind, .self = &t};
    const double alone = t.kappa * t.rest / (GAMMA * GAMMA + t.kappa);
    const tl_newton_report report = solve(&w, &term, 1, 40);
    assert_true(alone < 0.5 * t.rest);  // what the penalty comes to without multipliers
    assert_true(report.met && report.excess <= t.tolerance);
    assert_moved(&w, t.rest, 1e-7);
    for (size_t i = 0; i < n; i++) assert_near(t.stress[i], -GAMMA * GAMMA * t.rest, 1e-3 * GAMMA * GAMMA * t.rest);
    free(t.stress), free(t.kept);
    free_world(&w);
}

// ---- a body that gets nowhere until whatever is in its way is forced to give way ----

typedef struct stuck {
    well well;
    tl_workers *workers;
    int32_t waits;  // iterations until then
    bool forced;
} stuck;

static tl_status stuck_before(void *self, int32_t iteration, bool hurry, tl_vec3 *x, bool *moved, const tl_ctx *ctx,
                              tl_error *err)
{
    stuck *t = self;
    (void)iteration, (void)x, (void)ctx, (void)err;
    *moved = false;
    t->waits += hurry && !t->forced;
    tl_workers_charge(t->workers, 1e6);  // a millisecond each
    return TL_OK;
}

static double stuck_left(const void *self) { return ((const stuck *)self)->forced ? 0 : 1; }
static void stuck_force(void *self) { ((stuck *)self)->forced = true; }

static const tl_term_kind stuck_kind = {.name = "a body that is stuck",
                                        .energy = well_energy,
                                        .assemble = well_assemble,
                                        .before = stuck_before,
                                        .left = stuck_left,
                                        .force = stuck_force};

// 60 iterations once the budget is spent, or as many as what is granted for them pays for.
static void what_is_stuck_is_forced_at_a_bounded_cost(void **state)
{
    (void)state;
    tl_error err;
    world w = make_world();
    const tl_allocator alloc = tl_allocator_default();
    tl_workers *workers;
    assert_ok(tl_workers_create(&alloc, 1, &workers, &err));
    int32_t waits[2];
    for (int k = 0; k < 2; k++) {
        stuck t = {.well = {&w, 5000, 0.02}, .workers = workers};
        tl_term term = {.kind = &stuck_kind, .self = &t};
        tl_workers_allow(workers, 0);
        tl_workers_grant(workers, k == 0 ? (double)INFINITY : 10e6);
        assert_true(solve_with(&w, &term, 1, 0, workers).converged && t.forced);
        waits[k] = t.waits;
    }
    print_message("forced after %d iterations, and after %d\n", waits[0], waits[1]);
    assert_true(waits[0] >= 50 && waits[1] >= 2 && waits[1] <= 12);
    tl_workers_destroy(workers);
    free_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(terms_add_up), cmocka_unit_test(a_term_clips_paths),
                                       cmocka_unit_test(multipliers_meet_a_constraint),
                                       cmocka_unit_test(what_is_stuck_is_forced_at_a_bounded_cost)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
