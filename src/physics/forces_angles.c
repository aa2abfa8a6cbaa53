// physics/forces_angles.c: the way of bending from positions to angles of hinges, to folds of faces, and to moments of
// hinges.
//
// Folds are linear in angles (bend.h), so moments of hinges are the transpose of that applied to moments of folds. Both
// are computed once for each hinge here; what a face adds to the gradient (forces_terms.h) then takes its own three
// alone.

#include "physics/bend.h"
#include "physics/bend_friction.h"
#include "physics/forces_parts.h"
#include "physics/lanes.h"
#include "physics/touched.h"

enum { HINGES_PER_CHUNK = 1024, FACES_PER_CHUNK = 1024 };

// ---- hinges ----

typedef struct angle_job {
    tl_elements *e;
    const tl_vec3 *x;
    double (*jacobian)[TL_JACOBIAN];
} angle_job;

LANE_CLONES static void angle_chunk(void *arg, int32_t begin, int32_t end)
{
    const angle_job *job = arg;
    const tl_elements *e = job->e;
    for (int32_t h = begin; h < end; h += LANES) {
        if (TL_AT_REST(e, angle, h)) continue;
        const int count = end - h < LANES ? end - h : LANES;
        vd x[4][3], edge[3], d1[3], d2[3], n1[3], n2[3], turn[3];
        for (int l = 0; l < LANES; l++)
            for (int i = 0; i < 4; i++) {
                const tl_vec3 p = job->x[e->hinge[h + (l < count ? l : count - 1)][i]];
                x[i][0][l] = p.x, x[i][1][l] = p.y, x[i][2][l] = p.z;
            }
        vd_sub(x[1], x[0], edge);
        vd_sub(x[2], x[0], d1);
        vd_sub(x[3], x[1], d2);
        vd_cross(edge, d1, n1);
        vd_cross(d2, edge, n2);
        vd_cross(n2, n1, turn);
        const vd s = vd_dot(turn, edge) / (vd_sqrt(vd_dot(edge, edge)) + 1e-300), c = vd_dot(n1, n2);
        double angle[LANES];
        for (int l = 0; l < LANES; l++) angle[l] = tl_angle(s[l], c[l]);
        for (int l = 0; l < count; l++) e->angle[h + l] = angle[l];
        if (!job->jacobian) continue;
        const vd tiny = vd_of(1e-300), ll = vd_max(vd_dot(edge, edge), tiny), length = vd_sqrt(ll);
        vd to_right[3];
        vd_sub(x[3], x[0], to_right);
        const vd s1 = length / vd_max(vd_dot(n1, n1), tiny), s2 = length / vd_max(vd_dot(n2, n2), tiny);
        const vd y1 = vd_dot(d1, edge) / ll, y2 = vd_dot(to_right, edge) / ll;
        for (int l = 0; l < count; l++) {
            double *j = job->jacobian[h + l];
            for (int i = 0; i < 3; i++) j[i] = s1[l] * n1[i][l], j[3 + i] = s2[l] * n2[i][l];
            j[6] = y1[l], j[7] = y2[l];
        }
    }
}

void tl_forces_angles(tl_elements *e, const tl_vec3 *x, tl_workers *workers)
{
    tl_parallel_for(workers, e->hinge_count, HINGES_PER_CHUNK, angle_chunk, &(angle_job){e, x, NULL});
}

void tl_forces_angle_jacobian(tl_elements *e, const tl_vec3 *x, double (*out)[TL_JACOBIAN], tl_workers *workers)
{
    tl_parallel_for(workers, e->hinge_count, HINGES_PER_CHUNK, angle_chunk, &(angle_job){e, x, out});
}

// ---- folds ----

typedef struct less_job {
    const double *a, *b;
    double *out;
} less_job;

static void less_chunk(void *arg, int32_t begin, int32_t end)
{
    const less_job *job = arg;
    for (int32_t i = begin; i < end; i++) job->out[i] = job->a[i] - job->b[i];
}

void tl_forces_folds(tl_elements *e, tl_workers *workers)
{
    if (e->damped) {
        tl_parallel_for(workers, e->hinge_count, HINGES_PER_CHUNK, less_chunk,
                        &(less_job){e->angle, e->angle_hat, e->moment});
        tl_bend_folds(e, e->moment, e->fold_rate, workers);
    }
    tl_parallel_for(workers, e->hinge_count, HINGES_PER_CHUNK, less_chunk, &(less_job){e->angle, e->rest, e->moment});
    tl_bend_folds(e, e->moment, e->fold, workers);
}

// ---- moments ----

typedef struct moment_job {
    const tl_elements *e;
    double gamma;
} moment_job;

static void fold_moment_chunk(void *arg, int32_t begin, int32_t end)
{
    const moment_job *job = arg;
    const tl_elements *e = job->e;
    for (int32_t f = begin; f < end; f++) {
        if (TL_AT_REST(e, face, f)) continue;
        double a[3] = {e->fold[f][0], e->fold[f][1], e->fold[f][2]};
        if (e->damped) {
            const double visc =
                e->materials[e->material[f]].damping_bend * job->gamma + tl_bend_friction_of(e, f, job->gamma).weight;
            for (int k = 0; k < 3; k++) a[k] += visc * e->fold_rate[f][k];
        }
        double h[6];
        for (int k = 0; k < 6; k++) h[k] = (double)e->bend[f][k];
        e->fold[f][0] = h[0] * a[0] + h[5] * a[1] + h[4] * a[2];
        e->fold[f][1] = h[5] * a[0] + h[1] * a[1] + h[3] * a[2];
        e->fold[f][2] = h[4] * a[0] + h[3] * a[1] + h[2] * a[2];
    }
}

void tl_forces_moments(tl_elements *e, const tl_step_def *step, tl_workers *workers)
{
    tl_parallel_for(workers, e->face_count, FACES_PER_CHUNK, fold_moment_chunk, &(moment_job){e, step->gamma});
    tl_bend_moments(e, e->fold, e->moment, workers);
}
