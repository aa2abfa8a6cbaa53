// physics/bend_operator.c: the part of the bending Hessian that the matrix does not hold.

#include "physics/bend_operator.h"

#include "math/vec3.h"
#include "physics/bend.h"

enum { HINGES_PER_CHUNK = 2048, FACES_PER_CHUNK = 2048, NODES_PER_CHUNK = 1024 };

typedef struct operator_job {
    tl_elements *e;
    double gamma;
    const tl_vec3 *x;
    tl_vec3 *y;
} operator_job;

// Change of every angle when the nodes move by x.
static void angle_change_chunk(void *arg, int32_t begin, int32_t end)
{
    const operator_job *job = arg;
    const tl_elements *e = job->e;
    for (int32_t h = begin; h < end; h++) {
        const int32_t *n = e->hinge[h];
        const double *j = e->jacobian[h];
        const tl_vec3 a = job->x[n[0]], b = job->x[n[1]], edge = tl_sub3(b, a);
        const tl_vec3 left = tl_sub3(tl_sub3(job->x[n[2]], a), tl_mul3(j[6], edge));
        const tl_vec3 right = tl_sub3(tl_sub3(job->x[n[3]], a), tl_mul3(j[7], edge));
        e->probe[h] = (j[0] * left.x + j[1] * left.y + j[2] * left.z) + (j[3] * right.x + j[4] * right.y + j[5] * right.z);
    }
}

static void fold_moment_chunk(void *arg, int32_t begin, int32_t end)
{
    const operator_job *job = arg;
    const tl_elements *e = job->e;
    for (int32_t f = begin; f < end; f++) {
        const double more = e->damped ? 1 + e->materials[e->material[f]].damping_bend * job->gamma : 1;
        const double *h = e->bend[f];
        const double a[3] = {more * e->fold[f][0], more * e->fold[f][1], more * e->fold[f][2]};
        e->fold[f][0] = h[0] * a[0] + h[5] * a[1] + h[4] * a[2];
        e->fold[f][1] = h[5] * a[0] + h[1] * a[1] + h[3] * a[2];
        e->fold[f][2] = h[4] * a[0] + h[3] * a[1] + h[2] * a[2];
    }
}

static const int8_t ROW[3][3] = {{0, 5, 4}, {5, 1, 3}, {4, 3, 2}};

// Takes away what the matrix does already.
static void less_own_chunk(void *arg, int32_t begin, int32_t end)
{
    const operator_job *job = arg;
    const tl_elements *e = job->e;
    for (int32_t h = begin; h < end; h++)
        for (int s = 0; s < 2; s++) {
            const int32_t f = e->hinge_face[h][s];
            const double more = e->damped ? 1 + e->materials[e->material[f]].damping_bend * job->gamma : 1;
            double sum = 0;
            for (int k = 0; k < 3; k++)
                if (e->face_hinge[f][k] >= 0) sum += e->bend_own[f][ROW[e->hinge_place[h][s]][k]] * e->probe[e->face_hinge[f][k]];
            e->moment[h] -= more * sum;
        }
}

static void node_force_chunk(void *arg, int32_t begin, int32_t end)
{
    const operator_job *job = arg;
    const tl_elements *e = job->e;
    for (int32_t i = begin; i < end; i++) {
        if (e->fixed[i]) continue;
        tl_vec3 sum = {0, 0, 0};
        for (int32_t k = e->node_hinge_start[i]; k < e->node_hinge_start[i + 1]; k++) {
            const int32_t h = e->node_hinge[k] >> 2;
            const int role = e->node_hinge[k] & 3;
            const double *j = e->jacobian[h];
            const double left = role == 0 ? j[6] - 1 : role == 1 ? -j[6] : role == 2, right = role == 0 ? j[7] - 1 : role == 1 ? -j[7] : role == 3;
            const double m1 = e->moment[h] * left, m2 = e->moment[h] * right;
            sum.x += m1 * j[0] + m2 * j[3], sum.y += m1 * j[1] + m2 * j[4], sum.z += m1 * j[2] + m2 * j[5];
        }
        job->y[i] = tl_add3(job->y[i], sum);
    }
}

void tl_bend_operator_add(void *self, tl_workers *workers, const tl_vec3 *x, tl_vec3 *y)
{
    const tl_bend_operator *op = self;
    tl_elements *e = op->elements;
    operator_job job = {e, op->gamma, x, y};
    tl_parallel_for(workers, e->hinge_count, HINGES_PER_CHUNK, angle_change_chunk, &job);
    tl_bend_folds(e, e->probe, e->fold, workers);
    tl_parallel_for(workers, e->face_count, FACES_PER_CHUNK, fold_moment_chunk, &job);
    tl_bend_moments(e, e->fold, e->moment, workers);
    tl_parallel_for(workers, e->hinge_count, HINGES_PER_CHUNK, less_own_chunk, &job);
    tl_parallel_for(workers, e->node_count, NODES_PER_CHUNK, node_force_chunk, &job);
}
