// physics/strain_project.c: the nearest positions within the strain limits, for starts and for comparison with other
// limiters.
//
// min 1/2 sum m |x - x^|^2 subject to the limits (Narain et al. 2012, Eq. 22-23). Where the paper minimises the
// augmented Lagrangian by nonlinear conjugate gradients, this takes Newton steps with the sparse solver, and moves on
// to the next multipliers as soon as the steps become small: both converge together.

#include <math.h>

#include "base/fail.h"
#include "math/bsr_row.h"
#include "math/pcg.h"
#include "math/vec3.h"
#include "physics/strain_limit.h"

#define ARMIJO 1e-4  // Nocedal & Wright 2006, sec. 3.1
#define LINEAR_TOLERANCE 0.1
#define SMALL_STEP 0.3     // next multipliers when a step changes strains by less than this part of the worst excess
#define STILL 0.1          // faces within their limits resist steps by this part, else the mass alone holds them
#define POOR_PROGRESS 0.5  // a round that leaves more than this of the worst excess asks for more stiffness
enum { MAX_BACKTRACKS = 20, ROUND_STEPS = 3, CHUNK = 4096 };

tl_project_def tl_project_def_default(void)
{
    return (tl_project_def){.tolerance = 5e-4, .iterations = 200, .scale = 1000};
}

typedef struct projection {
    tl_strain_limits *l;
    const tl_elements *e;
    const tl_project_def *def;
    tl_bsr *matrix;  // couples the corners of faces, no more
    int32_t (*slots)[3];
    tl_solver *solver;
    tl_arena *arena;
    tl_workers *workers;
    tl_vec3 *hat, *gradient, *right, *direction, *trial;
    double *partial;
    double energy;
} projection;

// A matrix without the far corners that bending needs is half as large.
static tl_status make_matrix(projection *s, const tl_vec3 *x, tl_error *err)
{
    const tl_elements *e = s->e;
    const int32_t m = e->face_count;
    int32_t *start = TL_SCRATCH(s->arena, int32_t, m + 1), *items = TL_SCRATCH(s->arena, int32_t, 3 * (size_t)m);
    s->slots = tl_arena_bytes(s->arena, (size_t)m, sizeof *s->slots);
    if (!start || !items || !s->slots) return tl_fail_memory(err, "the strain limits");
    for (int32_t f = 0; f < m; f++) {
        start[f] = 3 * f;
        for (int k = 0; k < 3; k++) items[3 * f + k] = e->face[f][k];
    }
    start[m] = 3 * m;
    TL_TRY(tl_bsr_create(&e->alloc, e->node_count, m, start, items, &s->matrix, err));
    for (int32_t f = 0; f < m; f++)
        for (int a = 0; a < 2; a++)
            for (int b = a + 1; b < 3; b++) {
                const int32_t i = e->face[f][a], j = e->face[f][b];
                s->slots[f][a + b - 1] = i < j ? 4 * tl_bsr_find(s->matrix, i, j) + TL_SLOT_PLAIN
                                               : 4 * tl_bsr_find(s->matrix, j, i) + TL_SLOT_TRANSPOSED;
            }
    const tl_solver_def def = tl_solver_def_default();
    TL_TRY(tl_solver_create(&e->alloc, &def, &s->solver, err));
    return tl_solver_pattern(s->solver, s->matrix, x, err);
}

static void begin(projection *s)
{
    const tl_elements *e = s->e;
    double area = 0;
    for (int32_t f = 0; f < e->face_count; f++) area += e->area[f];
    for (int32_t f = 0; f < e->face_count; f++) {
        s->l->base[f] = s->l->stiffness[f] = s->def->scale * e->materials[e->material[f]].density * area;
        s->l->bold[f] = 1;
        for (int k = 0; k < 3; k++) s->l->trial[f][k] = 0;
    }
}

static tl_status energy_at(projection *s, const tl_vec3 *x, double *out, tl_error *err)
{
    const int32_t n = s->e->node_count;
    TL_TRY(tl_strain_energy(s->l, s->e, x, &(tl_ctx){s->arena, s->workers}, out, err));
    double sum = 0;
    for (int32_t i = 0; i < n; i++) {
        const tl_vec3 d = tl_sub3(x[i], s->hat[i]);
        sum += 0.5 * s->e->mass[i] * tl_dot3(d, d);
    }
    *out += sum;
    return TL_OK;
}

// Mass on the diagonal, identity for fixed nodes; the rest comes from the limits.
static void assemble(projection *s, const tl_vec3 *x)
{
    const tl_elements *e = s->e;
    tl_bsr *m = s->matrix;
    for (int32_t i = 0; i < e->node_count; i++) {
        s->gradient[i] = e->fixed[i] ? (tl_vec3){0, 0, 0} : tl_mul3(e->mass[i], tl_sub3(x[i], s->hat[i]));
        for (int32_t k = m->row_start[i] + 1; k < m->row_start[i + 1]; k++)
            for (int j = 0; j < 9; j++) {
                if (m->single)
                    m->single[k - i - 1][j] = 0;
                else
                    m->value[k][j] = 0;
            }
        double *d = tl_bsr_diagonal(m, i);
        for (int j = 0; j < 9; j++) d[j] = j % 4 ? 0 : e->fixed[i] ? 1 : e->mass[i];
    }
    tl_strain_assemble_into(s->l, e, x, m, (const int32_t(*)[3])s->slots, s->gradient, s->workers);
}

static tl_status search(projection *s, tl_vec3 *x, double slope, double *length, tl_error *err)
{
    const int32_t n = s->e->node_count;
    double a = 1;
    *length = 0;
    for (int k = 0; k < MAX_BACKTRACKS; k++) {
        for (int32_t i = 0; i < n; i++) s->trial[i] = tl_madd3(x[i], a, s->direction[i]);
        double now;
        TL_TRY(energy_at(s, s->trial, &now, err));
        if (isfinite(now) && now <= s->energy + ARMIJO * a * slope + 1e-12 * fabs(s->energy)) {
            for (int32_t i = 0; i < n; i++) x[i] = s->trial[i];
            s->energy = now, *length = a;
            return TL_OK;
        }
        const double fit = -0.5 * slope * a * a / (now - s->energy - slope * a);
        a = isfinite(fit) && fit > 0.1 * a ? fmin(fit, 0.5 * a) : 0.1 * a;
    }
    return TL_OK;
}

// The limits pull nodes against each other only, so the centre of mass stays; a linear solve that stops early moves it
// a little.
static void keep_centre(const projection *s, tl_vec3 *x)
{
    tl_vec3 lack = {0, 0, 0};
    double mass = 0;
    for (int32_t i = 0; i < s->e->node_count; i++) {
        if (s->e->fixed[i]) return;
        lack = tl_madd3(lack, s->e->mass[i], tl_sub3(s->hat[i], x[i])), mass += s->e->mass[i];
    }
    for (int32_t i = 0; i < s->e->node_count; i++) x[i] = tl_madd3(x[i], 1 / mass, lack);
}

static tl_status iterate(projection *s, tl_vec3 *x, tl_project_report *r, tl_error *err)
{
    const int32_t n = s->e->node_count;
    const double tolerance = s->def->tolerance;
    TL_TRY(tl_strain_measure(s->l, s->e, x, tolerance, false, &(tl_ctx){s->arena, s->workers}, &r->state, err));
    double before = r->state.worst;
    int steps = 0;
    while (r->state.worst > tolerance && r->iterations < s->def->iterations) {
        if (steps == 0) TL_TRY(energy_at(s, x, &s->energy, err));
        assemble(s, x);
        for (int32_t i = 0; i < n; i++) s->right[i] = tl_mul3(-1, s->gradient[i]), s->direction[i] = (tl_vec3){0, 0, 0};
        tl_solver_values(s->solver, s->e->fixed, x);
        tl_solve_report solve;
        TL_TRY(tl_solver_solve(s->solver, LINEAR_TOLERANCE, s->right, s->direction, s->arena, s->workers, &solve, err));
        const double slope = tl_vec_dot(s->workers, n, s->gradient, s->direction, s->partial);
        double length;
        TL_TRY(search(s, x, slope, &length, err));
        r->iterations++, steps++;
        TL_TRY(tl_strain_measure(s->l, s->e, x, tolerance, false, &(tl_ctx){s->arena, s->workers}, &r->state, err));
        const bool settled = length == 0 || tl_strain_change(s->e, s->direction) < SMALL_STEP * r->state.worst;
        if (!settled && steps < ROUND_STEPS) continue;
        TL_TRY(tl_strain_measure(s->l, s->e, x, tolerance, true, &(tl_ctx){s->arena, s->workers}, &r->state, err));
        if (r->rounds++ > 0 && r->state.worst > POOR_PROGRESS * before) tl_strain_stiffen(s->l, s->e, x, tolerance);
        before = r->state.worst, steps = 0;
    }
    keep_centre(s, x);
    r->held = !(r->state.worst > tolerance);
    return TL_OK;
}

tl_status tl_strain_project(tl_strain_limits *l, const tl_elements *e, const tl_project_def *def, tl_vec3 *x,
                            const tl_ctx *ctx, tl_project_report *report, tl_error *err)
{
    const tl_arena_mark mark = tl_arena_save(ctx->arena);
    const int32_t n = e->node_count;
    *report = (tl_project_report){0};
    projection s = {.l = l, .e = e, .def = def, .arena = ctx->arena, .workers = ctx->workers};
    s.hat = TL_SCRATCH(ctx->arena, tl_vec3, n), s.gradient = TL_SCRATCH(ctx->arena, tl_vec3, n);
    s.right = TL_SCRATCH(ctx->arena, tl_vec3, n), s.direction = TL_SCRATCH(ctx->arena, tl_vec3, n);
    s.trial = TL_SCRATCH(ctx->arena, tl_vec3, n), s.partial = TL_SCRATCH(ctx->arena, double, tl_vec_partials(n));
    tl_status status = tl_fail_memory(err, "the strain limits");
    if (s.hat && s.gradient && s.right && s.direction && s.trial && s.partial) {
        for (int32_t i = 0; i < n; i++) s.hat[i] = x[i];
        begin(&s);
        l->still = STILL;
        status = make_matrix(&s, x, err);
        if (status == TL_OK) status = iterate(&s, x, report, err);
        l->still = 0;
    }
    tl_solver_destroy(s.solver);
    tl_bsr_destroy(&e->alloc, s.matrix);
    tl_arena_release(ctx->arena, mark);
    return status;
}
