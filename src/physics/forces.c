// physics/forces.c: potential, gradient and Hessian of a step: what acts on single nodes, and the sum with what faces
// add.
//
// Inertia, gravity and springs are diagonal, so they start the gradient and the rows of the matrix; faces add to those
// (forces_faces.c); rows of fixed nodes are put right last. Sums go chunk by chunk in a fixed tree.

#include "physics/forces.h"

#include <string.h>

#include "base/fail.h"
#include "math/bsr_row.h"
#include "math/vec3.h"
#include "physics/forces_parts.h"
#include "physics/touched.h"

enum { NODES_PER_CHUNK = 1024 };

// ---- nodes ----

typedef struct node_job {
    const tl_elements *e;
    const tl_step_def *step;
    const tl_vec3 *x;
    tl_vec3 *gradient;
    tl_bsr *matrix;
    double (*energy)[2];  // per chunk: inertia, gravity
} node_job;

static void node_energy_chunk(void *arg, int32_t begin, int32_t end)
{
    const node_job *job = arg;
    const double gg = job->step->gamma * job->step->gamma;
    double inertia = 0, gravity = 0;
    for (int32_t i = begin; i < end; i++) {
        const double m = job->e->mass[i];
        if (job->step->x_tilde && !job->e->fixed[i]) {
            const tl_vec3 d = tl_sub3(job->x[i], job->step->x_tilde[i]);
            inertia += 0.5 * gg * m * tl_dot3(d, d);
        }
        if (job->step->pull && !job->e->fixed[i]) {
            const tl_vec3 d = tl_sub3(job->x[i], job->step->pull_to[i]);
            inertia += 0.5 * job->step->pull[i] * tl_dot3(d, d);
        }
        gravity -= m * tl_dot3(job->step->gravity, job->x[i]);
    }
    job->energy[begin / NODES_PER_CHUNK][0] = inertia;
    job->energy[begin / NODES_PER_CHUNK][1] = gravity;
}

// Row i of the upper triangle: a multiple of the identity on the diagonal, zero right of it.
static void set_row(tl_bsr *m, int32_t i, double diagonal)
{
    const int32_t first = m->row_start[i], count = m->row_start[i + 1] - first - 1;
    double *d = tl_bsr_diagonal(m, i);
    for (int k = 0; k < 9; k++) d[k] = k % 4 ? 0 : diagonal;
    if (m->single)
        memset(m->single[first - i], 0, (size_t)count * sizeof *m->single);
    else
        memset(m->value[first + 1], 0, (size_t)count * sizeof *m->value);
}

static void node_start_chunk(void *arg, int32_t begin, int32_t end)
{
    const node_job *job = arg;
    const double gg = job->step->gamma * job->step->gamma;
    const tl_touched *touched = job->e->touched;
    for (int32_t i = begin; i < end; i++) {
        if (touched && touched->place[i] < 0) continue;
        const double m = job->e->mass[i];
        tl_vec3 g = tl_mul3(-m, job->step->gravity);
        if (job->step->x_tilde) g = tl_madd3(g, gg * m, tl_sub3(job->x[i], job->step->x_tilde[i]));
        const double pull = job->step->pull ? job->step->pull[i] : 0;
        if (pull > 0) g = tl_madd3(g, pull, tl_sub3(job->x[i], job->step->pull_to[i]));
        job->gradient[i] = g;
        if (!job->matrix) continue;
        set_row(job->matrix, i, gg * m + pull);
    }
}

static void fix_rows(const tl_elements *e, tl_bsr *matrix, tl_vec3 *gradient)
{
    for (int32_t i = 0; i < e->node_count; i++) {
        if (!e->fixed[i]) continue;
        gradient[i] = (tl_vec3){0, 0, 0};
        if (!matrix) continue;
        set_row(matrix, i, 1);
        for (int32_t k = matrix->lower_start[i]; k < matrix->lower_start[i + 1]; k++) {
            const int32_t block = matrix->lower_block[k];
            if (matrix->single)
                memset(matrix->single[block - matrix->lower_row[k] - 1], 0, sizeof *matrix->single);
            else
                memset(matrix->value[block], 0, sizeof *matrix->value);
        }
    }
}

// ---- all together ----

// At the folds of x.
static tl_status sum_energies(tl_elements *e, const tl_step_def *step, const tl_vec3 *x, const tl_ctx *ctx,
                              tl_potential *out, tl_error *err)
{
    const tl_arena_mark mark = tl_arena_save(ctx->arena);
    const int32_t node_chunks = tl_chunk_count(e->node_count, NODES_PER_CHUNK);
    double(*face)[TL_FACE_ENERGIES] = tl_arena_bytes(ctx->arena, (size_t)e->chunk_count, sizeof *face);
    double(*node)[2] = tl_arena_bytes(ctx->arena, (size_t)node_chunks, sizeof *node);
    double *column = TL_SCRATCH(ctx->arena, double, e->chunk_count > node_chunks ? e->chunk_count : node_chunks);
    if (!face || !node || !column) {
        tl_arena_release(ctx->arena, mark);
        return tl_fail_memory(err, "sums of energy");
    }
    tl_parallel_for(ctx->workers, e->node_count, NODES_PER_CHUNK, node_energy_chunk,
                    &(node_job){e, step, x, NULL, NULL, node});
    tl_forces_face_energy(e, step, x, ctx->workers, face);
    double total[2 + TL_FACE_ENERGIES];
    for (int k = 0; k < 2; k++) {
        for (int32_t i = 0; i < node_chunks; i++) column[i] = node[i][k];
        total[k] = tl_tree_sum(column, node_chunks);
    }
    for (int k = 0; k < TL_FACE_ENERGIES; k++) {
        for (int32_t i = 0; i < e->chunk_count; i++) column[i] = face[i][k];
        total[2 + k] = tl_tree_sum(column, e->chunk_count);
    }
    *out = (tl_potential){total[0], total[1], total[2], total[3], total[4], total[5]};
    tl_arena_release(ctx->arena, mark);
    return TL_OK;
}

tl_status tl_forces_energy(tl_elements *e, const tl_step_def *step, const tl_vec3 *x, const tl_ctx *ctx,
                           tl_potential *out, tl_error *err)
{
    tl_forces_angles(e, x, ctx->workers);
    tl_forces_folds(e, ctx->workers);
    return sum_energies(e, step, x, ctx, out, err);
}

tl_status tl_forces_stored(tl_elements *e, const tl_vec3 *x, bool shape_changed, const tl_ctx *ctx, double *out,
                           tl_error *err)
{
    const tl_step_def still = {.gravity = {0, 0, 0}};
    tl_potential p;
    tl_forces_look(e, x, shape_changed, ctx->workers);
    TL_TRY(sum_energies(e, &still, x, ctx, &p, err));
    *out = p.stretch + p.bend;
    return TL_OK;
}

void tl_forces_assemble(tl_elements *e, const tl_step_def *step, const tl_vec3 *x, tl_bsr *matrix, tl_vec3 *gradient,
                        tl_workers *workers)
{
    tl_forces_angles(e, x, workers);
    tl_forces_folds(e, workers);
    tl_forces_moments(e, step, workers);
    tl_parallel_for(workers, e->node_count, NODES_PER_CHUNK, node_start_chunk,
                    &(node_job){e, step, x, gradient, matrix, NULL});
    tl_forces_face_assemble(e, step, x, matrix, gradient, workers);
    fix_rows(e, matrix, gradient);
}
