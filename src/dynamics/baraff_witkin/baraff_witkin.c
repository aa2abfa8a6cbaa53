// dynamics/baraff_witkin/baraff_witkin.c: the kind `baraff-witkin` (Baraff & Witkin 1998; the solver of Li & Volkov
// 2005): one linear system a step, solved by modified conjugate gradients, then the response on what it came to.
//
// A step that stretches cloth too fast is taken as two halves (sec. 6 of the paper).

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/baraff_witkin/mpcg.h"
#include "dynamics/baraff_witkin/system.h"
#include "dynamics/parts.h"
#include "math/vec3.h"

#define TOLERANCE_PART 0.05  // of linear_tolerance: here one solve is the whole step
#define MOST_GROWTH 0.25     // of a stretch of a face in one step; more is cut
#define FARTHEST 1e9         // [m]

typedef struct baraff_witkin {
    tl_allocator alloc;
    tl_bsr *matrix;  ///< NULL until elements are compiled
} baraff_witkin;

static tl_status create(const tl_allocator *alloc, const tl_dynamics_settings *set, void **self, tl_error *err)
{
    *self = NULL;
    (void)set;
    baraff_witkin *d = TL_CALLOC(alloc, baraff_witkin, 1);
    if (!d) return tl_fail_memory(err, "the dynamics");
    d->alloc = *alloc;
    *self = d;
    return TL_OK;
}

static void destroy(void *self)
{
    baraff_witkin *d = self;
    if (!d) return;
    tl_bsr_destroy(&d->alloc, d->matrix);
    const tl_allocator alloc = d->alloc;
    TL_FREE(&alloc, d, 1);
}

static tl_status compile(void *self, tl_dynamics_world *w, tl_error *err)
{
    baraff_witkin *d = self;
    tl_bsr_destroy(&d->alloc, d->matrix);
    d->matrix = NULL;
    return tl_elements_matrix(w->elements, false, w->ctx.arena, w->ctx.workers, &d->matrix, err);
}

static void restart(void *self) { (void)self; }  // nothing is carried over

static void hash(const tl_dynamics_settings *set, tl_hash *hash)
{
    const double solver[3] = {set->linear_tolerance, set->linear_iterations, set->max_halvings};
    tl_hash_add(hash, solver, sizeof solver);
}

// ---- a part of a step -----------------------------------------------------------------------------------------

/// What an attempt works on, in the arena.
typedef struct trial {
    double begin, dt;
    tl_step_def step;
    tl_drive drive;
    tl_vec3 *x, *v, *dv, *right;
    tl_directions *barred;
    double (*jacobian)[TL_JACOBIAN];
} trial;

static tl_status take(const tl_dynamics_world *w, trial *t, tl_error *err)
{
    tl_arena *arena = w->ctx.arena;
    const int32_t n = w->node_count;
    t->x = TL_SCRATCH(arena, tl_vec3, n), t->v = TL_SCRATCH(arena, tl_vec3, n);
    t->dv = TL_SCRATCH(arena, tl_vec3, n), t->right = TL_SCRATCH(arena, tl_vec3, n);
    t->barred = TL_SCRATCH(arena, tl_directions, n);
    t->jacobian = tl_arena_bytes(arena, (size_t)w->elements->hinge_count, sizeof *t->jacobian);
    const bool all = t->x && t->v && t->dv && t->right && t->barred && t->jacobian;
    return all ? TL_OK : tl_fail_memory(err, "a step");
}

// Handles, air, and which directions are barred: all of a node that a handle drives.
static tl_status set_up(tl_dynamics_world *w, trial *t, tl_error *err)
{
    const tl_elements *e = w->elements;
    TL_TRY(w->drive(w->host, t->begin, t->begin + t->dt, &t->drive, err));
    t->step = (tl_step_def){.gamma = 1 / t->dt,
                            .now = 1,
                            .x_hat = w->x,
                            .x_tilde = t->drive.target,
                            .gravity = w->set.gravity,
                            .pressure = 0.5 * w->set.air.density * w->set.air.drag,
                            .skin = w->set.air.skin,
                            .wind = t->drive.wind,
                            .eddies = t->drive.eddies,
                            .shelter = t->drive.shelter,
                            .pull = t->drive.pull,
                            .pull_to = t->drive.pull_to};
    for (int32_t i = 0; i < w->node_count; i++) {
        t->dv[i] = (tl_vec3){0, 0, 0};
        t->barred[i] = (tl_directions){.count = 0};
        if (!e->fixed[i]) {
            t->drive.target[i] = tl_madd3(w->x[i], t->dt, w->v[i]);
            continue;
        }
        const tl_vec3 to = t->drive.target[i], give = tl_madd3(w->v[i], -1 / t->dt, tl_sub3(to, w->x[i]));
        if (!(fabs(to.x) < FARTHEST && fabs(to.y) < FARTHEST && fabs(to.z) < FARTHEST))
            return tl_fail(err, TL_FAILED, "a handle sends cloth further than %g m away", FARTHEST);
        t->barred[i] =
            (tl_directions){.c = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, .speed = {-give.x, -give.y, -give.z}, .count = 3};
    }
    tl_forces_begin(w->elements, &t->step, w->x, NULL, *w->shape_changed, w->ctx.workers);
    *w->shape_changed = false, *w->begun = true;
    return TL_OK;
}

// The linear system; x and v at the end.
static tl_status solve(baraff_witkin *d, tl_dynamics_world *w, trial *t, tl_step_report *report, tl_error *err)
{
    bw_system system = {.elements = w->elements,
                        .def = &t->step,
                        .x = w->x,
                        .v = w->v,
                        .dt = t->dt,
                        .jacobian = t->jacobian,
                        .matrix = d->matrix,
                        .right = t->right};
    bw_assemble(&system, w->ctx.workers);
    bw_pcg_report r;
    const tl_pcg_stop stop = {TOLERANCE_PART * w->set.linear_tolerance, w->set.linear_iterations};
    TL_TRY(bw_pcg(d->matrix, t->barred, stop, t->right, t->dv, &w->ctx, &r, err));
    report->newton_iterations++, report->linear_iterations += r.iterations;
    report->linear_used = TL_LINEAR_PCG;
    report->unconverged += !r.converged;
    for (int32_t i = 0; i < w->node_count; i++) {
        t->v[i] = tl_add3(w->v[i], t->dv[i]);
        t->x[i] = w->elements->fixed[i] ? t->drive.target[i] : tl_madd3(w->x[i], t->dt, t->v[i]);
        if (!tl_finite3(t->x[i]) || !tl_finite3(t->v[i])) return tl_fail(err, TL_FAILED, "positions are not finite");
    }
    return TL_OK;
}

static double longest_stretch(const tl_elements *e, const tl_vec3 *before, const tl_vec3 *after)
{
    double most = 0;
    for (int32_t f = 0; f < e->face_count; f++) {
        double was[2], is[2];
        tl_forces_stretch(e, before, f, was), tl_forces_stretch(e, after, f, is);
        most = fmax(most, is[0] - fmax(was[0], 1));
    }
    return most;
}

static tl_status attempt(void *self, tl_dynamics_world *w, const tl_part *part, tl_step_report *report, tl_error *err)
{
    trial t = {.begin = part->begin, .dt = part->dt};
    TL_TRY(take(w, &t, err));
    TL_TRY(set_up(w, &t, err));
    TL_TRY(solve(self, w, &t, report, err));
    if (!part->last && longest_stretch(w->elements, w->x, t.x) > MOST_GROWTH)
        return tl_fail(err, TL_FAILED, "cloth is stretched by more than %g of its length in a step", MOST_GROWTH);
    const tl_part_end end = {t.drive.target, t.x, t.v};
    TL_TRY(tl_part_respond(w, part, &end, report, err));
    memcpy(w->x, t.x, (size_t)w->node_count * sizeof *w->x);
    memcpy(w->v, t.v, (size_t)w->node_count * sizeof *w->v);
    return TL_OK;
}

static tl_status step(void *self, tl_dynamics_world *w, double begin, double dt, tl_step_report *report, tl_error *err)
{
    return tl_step_in_parts(self, attempt, w, begin, dt, report, err);
}

const tl_dynamics tl_dynamics_baraff_witkin = {
    .name = "baraff-witkin",
    .promise = "conditions and one linear system a step by modified conjugate gradients, as published; for comparison",
    .create = create,
    .destroy = destroy,
    .compile = compile,
    .step = step,
    .restart = restart,
    .hash = hash,
};
