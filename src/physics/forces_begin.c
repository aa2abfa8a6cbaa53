// physics/forces_begin.c: strains of faces, and what a step holds constant while it is solved.
//
// Stiffness is looked up at the strains a step begins with, the wind blows against the faces as they stand then,
// damping compares with strains and angles extrapolated from the past: so the potential of the step is a function of x
// alone.

#include "math/vec3.h"
#include "physics/bend.h"
#include "physics/columns.h"
#include "physics/forces_parts.h"

enum { FACES_PER_CHUNK = 1024 };

typedef struct begin_job {
    tl_elements *e;
    const tl_step_def *step;
    const tl_vec3 *x, *before;
} begin_job;

// E11, E22, E12.
static void green_strain(const tl_elements *e, const tl_vec3 *x, int32_t f, double out[3])
{
    const tl_columns c = tl_face_columns(e, x, f);
    out[0] = 0.5 * (tl_dot3(c.f1, c.f1) - 1);
    out[1] = 0.5 * (tl_dot3(c.f2, c.f2) - 1);
    out[2] = 0.5 * tl_dot3(c.f1, c.f2);
}

static void begin_chunk(void *arg, int32_t begin, int32_t end)
{
    const begin_job *job = arg;
    tl_elements *e = job->e;
    for (int32_t f = begin; f < end; f++) {
        double now[3], past[3] = {0};
        green_strain(e, job->x, f, now);
        if (job->step->before != 0) green_strain(e, job->before, f, past);
        if (e->damped)
            for (int i = 0; i < 3; i++) e->strain_hat[f][i] = job->step->now * now[i] - job->step->before * past[i];
        const tl_stretch c = tl_material_stretch(&e->materials[e->material[f]], now[0], now[1], now[2]);
        e->stretch[f][0] = c.c11, e->stretch[f][1] = c.c12, e->stretch[f][2] = c.c22, e->stretch[f][3] = c.c33;
        const tl_vec3 d1 = tl_sub3(job->x[e->face[f][1]], job->x[e->face[f][0]]);
        const tl_vec3 d2 = tl_sub3(job->x[e->face[f][2]], job->x[e->face[f][0]]);
        const tl_vec3 n = tl_mul3(0.5, tl_cross3(d1, d2));
        e->wind[f][0] = (float)n.x, e->wind[f][1] = (float)n.y, e->wind[f][2] = (float)n.z;
        if (!job->step->eddies) continue;
        const tl_vec3 centre = tl_madd3(job->x[e->face[f][0]], 1.0 / 3, tl_add3(d1, d2));
        const tl_vec3 u = tl_eddies_at(job->step->eddies, centre);
        e->eddy[f][0] = (float)u.x, e->eddy[f][1] = (float)u.y, e->eddy[f][2] = (float)u.z;
    }
}

void tl_forces_begin(tl_elements *e, const tl_step_def *step, const tl_vec3 *x, const tl_vec3 *before,
                     bool shape_changed, tl_workers *workers)
{
    if (shape_changed) tl_bend_update_folds(e, workers);
    if (e->damped && step->before != 0) {
        tl_forces_angles(e, before, workers);
        for (int32_t h = 0; h < e->hinge_count; h++) e->angle_hat[h] = -step->before * e->angle[h];
    } else if (e->damped) {
        for (int32_t h = 0; h < e->hinge_count; h++) e->angle_hat[h] = 0;
    }
    tl_forces_angles(e, x, workers);
    if (e->damped)
        for (int32_t h = 0; h < e->hinge_count; h++) e->angle_hat[h] += step->now * e->angle[h];
    tl_parallel_for(workers, e->face_count, FACES_PER_CHUNK, begin_chunk, &(begin_job){e, step, x, before});
    if (shape_changed || e->nonlinear) {
        tl_forces_folds(e, workers);
        tl_bend_update_stiffness(e, workers);
    }
}

void tl_forces_look(tl_elements *e, const tl_vec3 *x, bool shape_changed, tl_workers *workers)
{
    const tl_step_def still = {.gravity = {0, 0, 0}};
    if (shape_changed) tl_bend_update_folds(e, workers);
    for (int32_t h = 0; e->damped && h < e->hinge_count; h++) e->angle_hat[h] = 0;
    tl_forces_angles(e, x, workers);
    tl_forces_folds(e, workers);
    tl_parallel_for(workers, e->face_count, FACES_PER_CHUNK, begin_chunk, &(begin_job){e, &still, x, NULL});
    if (shape_changed || e->nonlinear) tl_bend_update_energy(e, workers);
}

void tl_forces_stretch(const tl_elements *e, const tl_vec3 *x, int32_t f, double out[2])
{
    double s[3];
    green_strain(e, x, f, s);
    const double mean = 0.5 * (s[0] + s[1]), half = 0.5 * (s[0] - s[1]), radius = sqrt(half * half + s[2] * s[2]);
    out[0] = sqrt(fmax(0, 1 + 2 * (mean + radius)));
    out[1] = sqrt(fmax(0, 1 + 2 * (mean - radius)));
}
