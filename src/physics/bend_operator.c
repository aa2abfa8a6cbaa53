// physics/bend_operator.c: the part of the bending Hessian that the matrix does not hold.

#include "physics/bend_operator.h"

#include <string.h>

#include "base/fail.h"
#include "math/vec3.h"
#include "physics/bend.h"
#include "physics/bend_friction.h"
#include "physics/forces.h"

enum { HINGES_PER_CHUNK = 2048, FACES_PER_CHUNK = 2048, NODES_PER_CHUNK = 1024 };

typedef struct operator_job {
    tl_elements *e;
    const tl_bend_operator *op;
    const tl_vec3 *x;
    tl_vec3 *y;
} operator_job;

// The same in every product of a solve, and dear.
static void viscous_chunk(void *arg, int32_t begin, int32_t end)
{
    const operator_job *job = arg;
    const tl_elements *e = job->e;
    for (int32_t f = begin; f < end; f++)
        job->op->viscous[f] = !e->damped ? 1
                                         : 1 + e->materials[e->material[f]].damping_bend * job->op->gamma +
                                               tl_bend_friction_of(e, f, job->op->gamma).weight;
}

// Change of every angle when the nodes move by x.
static void angle_change_chunk(void *arg, int32_t begin, int32_t end)
{
    const operator_job *job = arg;
    const tl_elements *e = job->e;
    for (int32_t h = begin; h < end; h++) {
        const int32_t *n = e->hinge[h];
        const double *j = job->op->jacobian[h];
        const tl_vec3 a = job->x[n[0]], b = job->x[n[1]], edge = tl_sub3(b, a);
        const tl_vec3 left = tl_sub3(tl_sub3(job->x[n[2]], a), tl_mul3(j[6], edge));
        const tl_vec3 right = tl_sub3(tl_sub3(job->x[n[3]], a), tl_mul3(j[7], edge));
        job->op->change[h] =
            (j[0] * left.x + j[1] * left.y + j[2] * left.z) + (j[3] * right.x + j[4] * right.y + j[5] * right.z);
    }
}

static void fold_moment_chunk(void *arg, int32_t begin, int32_t end)
{
    const operator_job *job = arg;
    const tl_elements *e = job->e;
    for (int32_t f = begin; f < end; f++) {
        const double more = job->op->viscous[f];
        const float *single = e->bend[f];
        double h[6];
        for (int k = 0; k < 6; k++) h[k] = (double)single[k];
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
            const double more = job->op->viscous[f];
            double sum = 0;
            for (int k = 0; k < 3; k++)
                if (e->face_hinge[f][k] >= 0)
                    sum += (double)e->bend_own[f][ROW[e->hinge_place[h][s]][k]] * job->op->change[e->face_hinge[f][k]];
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
        for (int32_t k = job->op->node_hinge_start[i]; k < job->op->node_hinge_start[i + 1]; k++) {
            const int32_t h = job->op->node_hinge[k] >> 2;
            const int role = job->op->node_hinge[k] & 3;
            const double *j = job->op->jacobian[h];
            const double left = role == 0 ? j[6] - 1 : role == 1 ? -j[6] : role == 2;
            const double right = role == 0 ? j[7] - 1 : role == 1 ? -j[7] : role == 3;
            const double m1 = e->moment[h] * left, m2 = e->moment[h] * right;
            sum.x += m1 * j[0] + m2 * j[3], sum.y += m1 * j[1] + m2 * j[4], sum.z += m1 * j[2] + m2 * j[5];
        }
        job->y[i] = tl_add3(job->y[i], sum);
    }
}

tl_status tl_bend_operator_init(tl_bend_operator *op, tl_elements *e, double gamma, tl_arena *arena, tl_error *err)
{
    *op = (tl_bend_operator){.elements = e, .gamma = gamma};
    op->jacobian = tl_arena_bytes(arena, (size_t)e->hinge_count, sizeof *op->jacobian);
    op->change = TL_SCRATCH(arena, double, e->hinge_count);
    op->viscous = TL_SCRATCH(arena, double, e->face_count);
    op->node_hinge_start = TL_SCRATCH(arena, int32_t, e->node_count + 1);
    op->node_hinge = TL_SCRATCH(arena, int32_t, 4 * (size_t)e->hinge_count);
    if (!op->jacobian || !op->change || !op->viscous || !op->node_hinge_start || !op->node_hinge)
        return tl_fail_memory(err, "the bending operator");
    int32_t *end = op->node_hinge_start + 1;  // counts, then ends, then beginnings
    memset(op->node_hinge_start, 0, ((size_t)e->node_count + 1) * sizeof *op->node_hinge_start);
    for (int32_t h = 0; h < e->hinge_count; h++)
        for (int role = 0; role < 4; role++) end[e->hinge[h][role]]++;
    for (int32_t i = 1; i < e->node_count; i++) end[i] += end[i - 1];
    for (int32_t h = e->hinge_count - 1; h >= 0; h--)
        for (int role = 3; role >= 0; role--) op->node_hinge[--end[e->hinge[h][role]]] = 4 * h + role;
    memmove(op->node_hinge_start, end, (size_t)e->node_count * sizeof *end);
    op->node_hinge_start[e->node_count] = 4 * e->hinge_count;
    return TL_OK;
}

void tl_bend_operator_update(tl_bend_operator *op, const tl_vec3 *x, tl_workers *workers)
{
    tl_forces_angle_jacobian(op->elements, x, op->jacobian, workers);
    tl_parallel_for(workers, op->elements->face_count, FACES_PER_CHUNK, viscous_chunk,
                    &(operator_job){op->elements, op, x, NULL});
}

void tl_bend_operator_add(void *self, tl_workers *workers, const tl_vec3 *x, tl_vec3 *y)
{
    const tl_bend_operator *op = self;
    tl_elements *e = op->elements;
    operator_job job = {e, op, x, y};
    tl_parallel_for(workers, e->hinge_count, HINGES_PER_CHUNK, angle_change_chunk, &job);
    tl_bend_folds(e, op->change, e->fold, workers);
    tl_parallel_for(workers, e->face_count, FACES_PER_CHUNK, fold_moment_chunk, &job);
    tl_bend_moments(e, e->fold, e->moment, workers);
    tl_parallel_for(workers, e->hinge_count, HINGES_PER_CHUNK, less_own_chunk, &job);
    tl_parallel_for(workers, e->node_count, NODES_PER_CHUNK, node_force_chunk, &job);
}
