// math/cholesky_solve.c: solve with a factor, up the tree and down again.
//
// Every front has its own short vector, so subtrees never write to a common one and the sums keep their
// order. Bound by memory: the factor is read twice.

#include "math/cholesky_impl.h"
#include "math/simd.h"

#define REAL double
#define LOAD8(p) TL_LOAD8(p)
#define NAME(x) x##_double
#include "math/cholesky_sweep.h"

#define REAL float
#define LOAD8(p) TL_WIDEN8(p)
#define NAME(x) x##_float
#include "math/cholesky_sweep.h"

typedef struct solve_job {
    const tl_cholesky *ch;
    const tl_vec3 *b;
    tl_vec3 *x;
} solve_job;

static void front_up(const solve_job *job, const tl_front *f)
{
    const tl_cholesky *ch = job->ch;
    const int32_t p = 3 * f->pivots, p8 = tl_pad8(p), u8 = tl_pad8(3 * f->updates);
    double *w = ch->vectors + f->vector_at;
    for (int32_t k = 0; k < f->pivots; k++) {
        const tl_vec3 b = job->b[ch->order[f->first + k]];
        w[3 * k] = b.x, w[3 * k + 1] = b.y, w[3 * k + 2] = b.z;
    }
    for (int32_t k = p; k < p8 + u8; k++) w[k] = 0;
    for (int32_t c = f->child; c >= 0; c = ch->fronts[c].sibling) {
        const tl_front *child = &ch->fronts[c];
        const double *from = ch->vectors + child->vector_at + tl_pad8(3 * child->pivots);
        const int32_t *rel = ch->rel + child->rows_at;
        for (int32_t k = 0; k < child->updates; k++) {
            double *to = w + 3 * rel[k] + (rel[k] >= f->pivots ? p8 - p : 0);
            for (int d = 0; d < 3; d++) to[d] += from[3 * k + d];
        }
    }
    if (ch->single)
        forward_float((const float *)ch->factor + f->factor_at, p, p8 / PANEL, (p8 + u8) / PANEL, w);
    else
        forward_double((const double *)ch->factor + f->factor_at, p, p8 / PANEL, (p8 + u8) / PANEL, w);
}

static void front_down(const solve_job *job, const tl_front *f)
{
    const tl_cholesky *ch = job->ch;
    const int32_t p = 3 * f->pivots, p8 = tl_pad8(p), u8 = tl_pad8(3 * f->updates);
    double *w = ch->vectors + f->vector_at;
    for (int32_t k = 0; k < f->updates; k++) {
        const tl_vec3 x = ch->solution[ch->rows[f->rows_at + k]];
        double *to = w + p8 + 3 * k;
        to[0] = x.x, to[1] = x.y, to[2] = x.z;
    }
    for (int32_t k = p; k < p8; k++) w[k] = 0;
    for (int32_t k = p8 + 3 * f->updates; k < p8 + u8; k++) w[k] = 0;
    if (ch->single)
        backward_float((const float *)ch->factor + f->factor_at, p, p8 / PANEL, (p8 + u8) / PANEL, w);
    else
        backward_double((const double *)ch->factor + f->factor_at, p, p8 / PANEL, (p8 + u8) / PANEL, w);
    for (int32_t k = 0; k < f->pivots; k++) {
        const tl_vec3 x = {w[3 * k], w[3 * k + 1], w[3 * k + 2]};
        ch->solution[f->first + k] = x;
        job->x[ch->order[f->first + k]] = x;
    }
}

static void tasks_up(void *arg, int32_t begin, int32_t end)
{
    const solve_job *job = arg;
    for (int32_t t = begin; t < end; t++)
        for (int32_t id = job->ch->tasks[t].begin; id < job->ch->tasks[t].end; id++)
            front_up(job, &job->ch->fronts[id]);
}

static void tasks_down(void *arg, int32_t begin, int32_t end)
{
    const solve_job *job = arg;
    for (int32_t t = begin; t < end; t++)
        for (int32_t id = job->ch->tasks[t].end - 1; id >= job->ch->tasks[t].begin; id--)
            front_down(job, &job->ch->fronts[id]);
}

void tl_cholesky_solve(tl_cholesky *ch, tl_workers *workers, const tl_vec3 *b, tl_vec3 *x)
{
    solve_job job = {ch, b, x};
    tl_parallel_for(workers, ch->task_count, 1, tasks_up, &job);
    for (int32_t k = 0; k < ch->top_count; k++) front_up(&job, &ch->fronts[ch->top[k]]);
    for (int32_t k = ch->top_count - 1; k >= 0; k--) front_down(&job, &ch->fronts[ch->top[k]]);
    tl_parallel_for(workers, ch->task_count, 1, tasks_down, &job);
}
